"""Names that a question writes shortly or describes, in full: "the C, G and Trn families", "the 32xlarge of Trn1", "the
smallest Trn1", "AWS's training chip", "the bigger Trainium box"."""

import re
from collections.abc import Callable, Sequence
from functools import cache

from chatbot.names import makers, names
from chatbot.tasks import tasks
from chatbot.words import vocabulary

Sizes = Callable[[str], Sequence[str]]

_JOINT = r"(?:\s*,\s*(?:and\s+|or\s+)?|\s*/\s*|\s+(?:and|or|vs\.?|versus)\s+)"
_NOUN = r"(?:series|famil(?:y|ies)|instances?|lines?)"
# "P-type instances", "C machines".
_MACHINES = r"(?:[\s-](?:type|class|style))?\s+(?:machines?|boxes|box|instances?|servers?)"
_SIZE = re.compile(r"(?<![\w.])(?P<size>\d{1,3}xl(?:arge)?)(?:\s+(?:size|instance|type|one))?(?:\s+of(?:\s+the)?\s+(?P<of>[a-z]{1,5}\d[a-z]*))?\b", re.IGNORECASE)  # fmt: skip
_EXTREME = re.compile(
    r"\b(?:the\s+)?(?P<which>smallest|largest|biggest)\s+(?P<family>[a-z]{1,5}\d[a-z]*)\b(?!\.)(?:\s+(?:size|instance|type|one)\b(?:\s+type\b)?)?(?!\s+(?:size|instance|type|one)|\s+(?:where|with|that|which|having|on which|to)\b)",
    re.IGNORECASE,
)
# "The small trn1", "the bigger of the two Trn1 boxes": one of two.
_ONE_OF_TWO = re.compile(
    r"\b(?:the\s+)?(?:(?P<small>small(?:er)?|little|entry-level|baby)|(?P<large>large|larger|big|bigger))\s+(?:of\s+the\s+(?:two\s+)?)?(?P<family>[a-z]{1,5}\d[a-z]*)\b(?!\.)(?:\s+(?:sizes?|types?|ones?|instances?)\b)?(?=\s*(?:$|[^\w\s])|\s+(?:and|or|vs|versus|against|compared|has|have|had|is|does|do|come|comes|with|to|than|get|in)\b)",
    re.IGNORECASE,
)
_SMALL_AND_LARGE = re.compile(
    r"\b(?P<one>small(?:er|est)?|little|large(?:r|st)?|big(?:ger|gest)?)\s+(?P<and>vs\.?|versus|and|or|against)\s+(?:the\s+)?(?P<other>small(?:er|est)?|little|large(?:r|st)?|big(?:ger|gest)?)\s+(?P<family>[a-z]{1,5}\d[a-z]*)\b(?!\.)",
    re.IGNORECASE,
)
_CHIPS = r"(?:chips?|processors?|accelerators?|silicon)"
_DESCRIBED = re.compile(
    rf"\b(?:(?<=how many )of\s+)?(?:the\s+)?(?:(?P<maker>\w+)(?:['’]s)?\s+|(?<=\bthe )(?<!\bis the )(?<!\bare the )(?<!\bwas the )(?<!\bas the ))(?:own\s+|custom\s+|home-?grown\s+|in-house\s+|dedicated\s+|purpose-built\s+)*(?P<task>training|inference|serving|prediction)[\s-]+{_CHIPS}\b"
    rf"|\b(?:the\s+)?{_CHIPS}\s+(?:that\s+|which\s+)?(?P<by>\w+)\s+(?:made|makes|built|builds|designed|designs)\s+(?:for|to)\s+(?:do\s+)?(?P<use>\w+)\b",
    re.IGNORECASE,
)
_BOX = re.compile(r"\b(?P<chip>[A-Za-z]+\d?)(?:[\s-](?:powered|based))?\s+(?P<box>box(?:es)?|machines?(?! learning))\b", re.IGNORECASE)  # fmt: skip
_LETTER_ALONE = re.compile(
    r"^\W*+(?:and|or|what about|how about)?\s*+(?:for|with|of)?\s*+(?:the\s+)?(?P<letter>[A-Z]|Trn|Inf)\W*$"
)
_FAMILY = re.compile(r"^[a-z]{1,5}\d[a-z]*$", re.IGNORECASE)


# What people write in a hurry.
_HURRIED = {
    r"\bw/o\b\s?": "without ",
    r"\bw/\s?(?=\w)": "with ",
    r"\bb4\b": "before",
    r",?\s*\b(?:pls|plz|thx|thanx)\b": "",
    r"(?<=\w )hrs?\b": "hours",
    r"\b[Ww]all clock\b": "wall-clock",
    # Not "the letter n", nor "what does n stand for".
    r"(?<=\w )(?<!letter )(?<!suffix )(?<!the )(?<!an )(?<!a )(?<!does )(?<!is )(?<!of )n(?= \w)": "and",
    r"\bvirtual (?:cpu|CPU|processor|core)s?\b": "vCPUs",
}


def unhurried(text: str) -> str:
    """A question with the abbreviations of chats in full: "w/ its 2 chips", "trn1 n trn2"."""
    for pattern, word in _HURRIED.items():
        text = re.sub(pattern, word, text)
    return text


def in_full(text: str, sizes: Sizes) -> str:
    """A question with its short names in full; `sizes` gives the instance types of a family, smallest first."""
    return _with_extremes(_with_sizes(_with_series(_with_described(text))), sizes)


def letter_in_full(text: str, before: str) -> str:
    """ "And P?" after a question on the G series is a question on the P series."""
    alone = _LETTER_ALONE.match(text)
    is_series = alone and alone["letter"].lower() in _letters() and re.search(_NOUN, before, re.IGNORECASE)
    return f"{text.rstrip(' ?.!')} series?" if is_series else text


def _with_series(text: str) -> str:
    """Each letter of a list gets the noun that stands behind the last: "C, G and Trn families"."""
    letter = rf"(?:{'|'.join(sorted((x if len(x) == 1 else x.capitalize() for x in _letters(upper=True)), key=len, reverse=True))})"
    listed = re.compile(rf"(?<![\w.-])(?P<list>{letter}(?:{_JOINT}{letter})+)(?!\w)(?P<noun>\s+{_NOUN}\b)?")
    text = re.sub(rf"(?<![\w.'’-])({letter}){_MACHINES}(?![\w-])", r"\1 series", text)
    text = listed.sub(lambda m: re.sub(rf"(?<!\w){letter}(?!\w)", lambda one: f"{one.group()} series", m["list"]), text)
    # One letter with its noun tells what another alone stands for: "the G family, and what is P meant for?" So does "Trn".
    lone = rf"{letter}(?![\w'’.-]|\s+{_NOUN}\b)"
    several = len(set(re.findall(rf"(?<![\w.-]){lone}", text))) > 1 and re.search(
        r"(?<![\w.-])(?:Trn|Inf)(?![\w.-])", text
    )
    if not (several or re.search(rf"(?<![\w.-]){letter}\s+{_NOUN}\b", text)):
        return text
    alone = re.compile(rf"\b(?P<before>is|are|of|for|and|or|with|about|to|in|on|vs) (?P<one>{lone})")
    return alone.sub(lambda m: f"{m['before']} {m['one']} series", text)


@cache
def _letters(*, upper: bool = False) -> tuple[str, ...]:
    """What stands before "series" in the vocabulary's names: c, g, p, trn, inf."""
    found = (a.removesuffix(" series") for e in vocabulary()["hardware"] for a in e["aliases"] if a.endswith(" series"))
    return tuple(x.upper() if upper and len(x) == 1 else x for x in found)


def _with_sizes(text: str) -> str:
    """A size alone belongs to the only family that the question names."""
    families = {n.text.lower() for n in names(text) if _FAMILY.match(n.text) and n.kind == "hardware"}
    families |= {n.name.split(".")[0] for n in names(text) if n.kind == "instance"}
    if len(families) != 1:
        return text
    family = families.pop()
    return _SIZE.sub(lambda m: f"{family}.{re.sub('xl$', 'xlarge', m['size'].lower())}" if (m["of"] or family).lower() == family else m.group(), text)  # fmt: skip


def _with_extremes(text: str, sizes: Sizes) -> str:
    """The smallest or the largest of a family is one of its types."""

    def named(match: re.Match[str]) -> str:
        known = sizes(match["family"].lower())
        return (known[0] if match["which"].lower() == "smallest" else known[-1]) if len(known) > 1 else match.group()

    def one_of_two(match: re.Match[str]) -> str:
        known = sizes(match["family"].lower())
        return known[0 if match["small"] else 1] if len(known) == 2 else match.group()

    text = _SMALL_AND_LARGE.sub(r"\g<one> \g<family> \g<and> \g<other> \g<family>", text)
    return _ONE_OF_TWO.sub(one_of_two, _EXTREME.sub(named, text))


def _with_described(text: str) -> str:
    """What a maker builds for a task, by its name, and the machine with a chip by that of its family."""

    def chip(match: re.Match[str]) -> str:
        by, task = match["maker"] or match["by"], tasks(match["task"] or match["use"])
        found = [
            e["name"]
            for e in vocabulary()["hardware"]
            if e.get("role") in task and (by is None or e["maker"] in makers(by)) and "part" not in e
        ]
        return f"{found[0]} chips" if len(found) == 1 else match.group()

    def family(match: re.Match[str]) -> str:
        held = [
            e["name"]
            for e in vocabulary()["hardware"]
            if e.get("part", "").lower().startswith(match["chip"].lower()) and _FAMILY.match(e["name"]) and "role" in e
        ]
        return (
            f"{held[0]} {'instances' if match['box'].lower().endswith('s') else 'instance'}"
            if len(held) == 1
            else match.group()
        )

    return _BOX.sub(family, _DESCRIBED.sub(chip, text))
