"""Make true sentences false, or rephrase them, by program: practice for the judge before it reads what people wrote.

Each corruption changes one thing that a careless writer gets wrong: a number, a unit, a name, a negation, a direction,
a modality, "up to", a scope, a condition, two sides swapped. The original sentence is the evidence, so it no longer
supports what was changed.
"""

import random
import re
from collections.abc import Callable, Sequence

from chatbot.language.names import names

_ANTONYMS = ["increase/decrease", "increases/decreases", "increased/decreased", "increasing/decreasing", "higher/lower", "highest/lowest", "more/less", "more/fewer", "most/least", "faster/slower", "fastest/slowest", "cheaper/dearer", "larger/smaller", "largest/smallest", "bigger/smaller", "longer/shorter", "better/worse", "best/worst", "enable/disable", "enables/disables", "enabled/disabled", "allow/prevent", "allows/prevents", "allowed/forbidden", "start/stop", "starts/stops", "started/stopped", "before/after", "first/last", "earlier/later", "above/below", "over/under", "maximum/minimum", "max/min", "upper/lower", "inside/outside", "within/outside", "include/exclude", "includes/excludes", "included/excluded", "add/remove", "adds/removes", "added/removed", "create/delete", "creates/deletes", "created/deleted", "public/private", "internal/external", "automatic/manual", "automatically/manually", "synchronous/asynchronous", "temporary/permanent", "encrypted/unencrypted", "dedicated/shared", "single/multiple", "same/different", "required/optional", "supported/unsupported", "available/unavailable", "training/inference", "train/serve", "read/write", "reads/writes", "input/output", "inbound/outbound", "source/destination", "primary/secondary", "local/remote", "success/failure", "successful/failed", "succeeds/fails", "pass/fail", "hot/cold", "new/old", "newest/oldest", "early/late", "high/low", "fast/slow", "large/small", "long/short", "cheap/expensive", "easy/hard", "simple/complex", "strong/weak", "full/empty", "open/closed", "active/inactive", "attach/detach", "attached/detached", "raise/lower", "raises/lowers", "raised/lowered", "reduce/increase", "reduces/increases", "reduced/increased", "improve/worsen", "improves/worsens", "gain/lose", "gains/loses", "save/waste", "saves/wastes", "rise/fall", "rises/falls", "with/without", "cpu/gpu", "always/never", "often/rarely", "usually/rarely", "both/neither", "everyone/nobody", "hourly/monthly", "daily/weekly", "vertical/horizontal", "horizontally/vertically", "forward/backward", "up/down", "scale-in/scale-out", "persistent/ephemeral", "stateful/stateless", "managed/self-managed", "on-demand/spot", "regional/zonal", "buyer/seller"]
_PAIRS: dict[str, list[str]] = {}
for _pair in _ANTONYMS:
    _one, _, _other = _pair.partition("/")
    _PAIRS.setdefault(_one, []).append(_other)
    _PAIRS.setdefault(_other, []).append(_one)
_UNITS = [
    ["GB", "TB", "MB"], ["GiB", "TiB", "MiB"], ["Gbps", "Tbps", "Mbps"], ["GB/s", "TB/s", "MB/s"], ["seconds", "minutes", "hours", "days"],
    ["second", "minute", "hour", "day"], ["days", "weeks", "months", "years"], ["week", "month", "year"], ["percent", "percentage points", "times"], ["W", "kW"],
    ["kWh", "MWh"], ["TFLOPS", "PFLOPS"], ["million", "billion"], ["one-year", "three-year"], ["KB", "MB", "GB"], ["ms", "s"],
]  # fmt: skip
_SAID_OTHERWISE = [
    ("use", "make use of"), ("uses", "relies on"), ("using", "by means of"), ("can", "is able to"), ("requires", "needs"), ("require", "need"),
    ("must", "has to"), ("supports", "works with"), ("provides", "offers"), ("provide", "offer"), ("by default", "unless you change it"),
    ("however", "yet"), ("because", "since"), ("cannot", "is unable to"), ("does not", "doesn't"), ("is not", "isn't"), ("do not", "don't"),
    ("you can", "it is possible to"), ("for example", "for instance"), ("such as", "like"), ("about", "roughly"), ("more than", "over"),
    ("less than", "under"), ("up to", "as much as"), ("at least", "no fewer than"), ("purchase", "buy"), ("additional", "extra"),
    ("automatically", "on its own"), ("create", "set up"), ("specify", "state"), ("contains", "holds"), ("allows", "lets"), ("choose", "pick"),
    ("begin", "start"), ("entire", "whole"), ("multiple", "several"), ("large", "big"), ("quickly", "fast"), ("recommend", "advise"),
    ("delivers", "gives"), ("designed for", "made for"), ("built for", "meant for"), ("reduces", "cuts"), ("lower", "smaller"), ("run", "execute"),
]  # fmt: skip
_NUMBER = re.compile(r"(?<![\w.,-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w.-]*\w)")
_VERB = re.compile(r"\b(is|are|was|were|can|must|should|will|may|does|do|has)\b(?! not\b|n't)", re.IGNORECASE)
_SMALL = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]

Draw = random.Random


def _swap_word(text: str, old: str, new: str) -> str | None:
    def put(match: re.Match[str]) -> str:
        return new[0].upper() + new[1:] if match.group()[0].isupper() else new

    changed, count = re.subn(rf"(?<![\w-]){re.escape(old)}(?![\w-])", put, text, count=1, flags=re.IGNORECASE)
    return changed if count else None


def number(text: str, draw: Draw, _: Sequence[str]) -> str | None:
    found = list(_NUMBER.finditer(text))
    if not found:
        return None
    match = draw.choice(found)
    digits = match.group().replace(",", "")
    value = float(digits)
    others = [value * 2, value / 2, value * 10, value + draw.randint(1, 9), max(value - draw.randint(1, 9), 1), value * 1.5]
    new = draw.choice([o for o in others if o != value] or [value + 1])
    shown = f"{new:,.0f}" if "," in match.group() else f"{new:.{len(digits.partition('.')[2])}f}"
    return None if shown == match.group() else text[: match.start()] + shown + text[match.end() :]


def unit(text: str, draw: Draw, _: Sequence[str]) -> str | None:
    groups = [(u, g) for g in _UNITS for u in g if re.search(rf"\d[ -]?{re.escape(u)}\b", text)]
    if not groups:
        return None
    old, group = draw.choice(groups)
    return re.sub(rf"(?<=\d)([ -]?){re.escape(old)}\b", lambda m: m[1] + draw.choice([u for u in group if u != old]), text, count=1)


def sibling(text: str, draw: Draw, others: Sequence[str]) -> str | None:
    found = [name.text for name in names(text)]
    if not found:
        return None
    old = draw.choice(found)
    near = [o for o in others if o.lower() not in text.lower() and o.lower() != old.lower()]
    return text.replace(old, draw.choice(near), 1) if near else None


def swapped(text: str, draw: Draw, _: Sequence[str]) -> str | None:
    found = [name.text for name in names(text)]
    if len(found) < 2 or not re.search(r"\b(?:than|over|to|from|while|whereas|but|not|for|into|instead)\b", text):
        return None
    one, other = draw.sample(found, 2)
    if one in other or other in one:
        return None
    return text.replace(one, "\0").replace(other, one).replace("\0", other)


def negation(text: str, draw: Draw, _: Sequence[str]) -> str | None:
    for old, new in (
        (r"\bcannot\b|\bcan't\b", "can"), (r"\b(is|are|was|were|must|should|will|may|has)(?: not|n't)\b", r"\1"),
        (r"\b(?:does|do|did)(?: not|n't)\b ", ""), (r"\bnever\b", "always"), (r"\bno longer\b", "still"), (r"\bno\b(?! one)", "a"), (r"\bnot only\b", "not"),
    ):  # fmt: skip
        if re.search(old, text):
            return re.sub(old, new, text, count=1)
    match = _VERB.search(text)
    if not match:
        return None
    word = match.group()
    return text[: match.start()] + ("cannot" if word == "can" else f"{word} not") + text[match.end() :]


def antonym(text: str, draw: Draw, _: Sequence[str]) -> str | None:
    found = [w for w in re.findall(r"[A-Za-z-]+", text) if w.lower() in _PAIRS]
    if not found:
        return None
    old = draw.choice(found)
    return _swap_word(text, old, draw.choice(_PAIRS[old.lower()]))


def modality(text: str, draw: Draw, _: Sequence[str]) -> str | None:
    pairs = [
        ("may", "must"), ("can", "must"), ("might", "will"), ("should", "must"), ("must", "may"), ("usually", "always"), ("often", "always"), ("recommended", "required"),
        ("required", "recommended"), ("by default", "always"), ("typically", "invariably"), ("could", "will"), ("sometimes", "always"), ("optional", "mandatory"), ("only", "mainly"),
    ]  # fmt: skip
    there = [(a, b) for a, b in pairs if re.search(rf"\b{a}\b", text, re.IGNORECASE)]
    return _swap_word(text, *draw.choice(there)) if there else None


def up_to(text: str, draw: Draw, _: Sequence[str]) -> str | None:
    pairs = [
        (r"\bup to (?=\$?\d)", ""), (r"\bup to (?=\$?\d)", "at least "), (r"\bat least (?=\$?\d)", "at most "), (r"\bat most (?=\$?\d)", "at least "), (r"\bat least (?=\$?\d)", "exactly "),
        (r"\bmore than (?=\$?\d)", "less than "), (r"\bless than (?=\$?\d)", "more than "), (r"\bup to (?=\$?\d)", "more than "), (r"\bover (?=\$?\d)", "under "),
    ]  # fmt: skip
    there = [(a, b) for a, b in pairs if re.search(a, text)]
    return re.sub(*draw.choice(there), text, count=1) if there else None


def scope(text: str, draw: Draw, _: Sequence[str]) -> str | None:
    pairs = [
        ("some", "all"), ("many", "all"), ("most", "all"), ("all", "some"), ("each", "one"), ("every", "some"), ("any", "one"), ("several", "all"), ("few", "most"),
        ("in the same region", "in any region"), ("one", "every"), ("either", "both"), ("and", "or"), ("only", "also"),
    ]  # fmt: skip
    there = [(a, b) for a, b in pairs if re.search(rf"\b{a}\b", text, re.IGNORECASE)]
    return _swap_word(text, *draw.choice(there)) if there else None


def condition(text: str, draw: Draw, _: Sequence[str]) -> str | None:
    match = re.match(r"(?:If|When|Unless|Once|After|Before) [^,]{8,80}, (?=\w)", text)
    if match:
        rest = text[match.end() :]
        if draw.random() < 0.5:
            return rest[0].upper() + rest[1:]
        turned = {"If": "Unless", "Unless": "If", "When": "Unless", "After": "Before", "Before": "After", "Once": "Before"}
        first = text.split(" ", 1)[0]
        return turned[first] + text[len(first) :]
    match = re.search(r" (?:only if|only when|unless|if|when|until) ([^,.]{8,90})\.?$", text)
    return text[: match.start()] + "." if match else None


CORRUPTIONS: tuple[Callable[[str, Draw, Sequence[str]], str | None], ...] = (
    number, number, unit, sibling, sibling, swapped, negation, antonym, antonym, modality, up_to, scope, condition,
)  # fmt: skip


def corrupted(text: str, draw: Draw, others: Sequence[str] = ()) -> tuple[str, str] | None:
    """Return the sentence with one thing changed, and the name of that change; None if nothing in it can be changed.

    `others` are names to put in place of those in the sentence.
    """
    for corrupt in draw.sample(CORRUPTIONS, len(CORRUPTIONS)):
        changed = corrupt(text, draw, others)
        if changed and changed.lower() != text.lower():
            return changed, corrupt.__name__
    return None


def said_otherwise(text: str, draw: Draw) -> str:
    """Rephrase a sentence in part: synonyms, spelled-out numbers, a clause moved to the end."""
    for old, new in draw.sample(_SAID_OTHERWISE, len(_SAID_OTHERWISE)):
        if draw.random() < 0.5:
            text = _swap_word(text, old, new) or text
    if draw.random() < 0.3:
        text = re.sub(r"(?<![\w.,$-])([2-9]|1[0-2])(?= [a-z])", lambda m: _SMALL[int(m[1])], text, count=1)
    match = re.match(r"((?:If|When|Because|After|Before|For|To|With|In) [^,]{8,80}), (\w)(.*?)\.?$", text, re.DOTALL)
    if match and draw.random() < 0.5:
        text = f"{match[2].upper()}{match[3]} {match[1][0].lower()}{match[1][1:]}."
    return text
