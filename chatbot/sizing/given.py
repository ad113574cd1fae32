"""Figures of the user's own: each number of a conversation read once, with the unit behind it and the role that the words beside it give it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from chatbot.quantities import WORD_NUMBERS
from chatbot.sizing.reading import MONTH_HOURS, Known, Reading, number_of, read_question
from chatbot.sizing.spelled import as_read


@dataclass(frozen=True, slots=True)
class Figure:
    """A number in the unit of its role, and the words beside it."""

    role: str
    value: float
    beside: str


@dataclass(frozen=True, slots=True)
class Given:
    """What the turns of a conversation give: figures in the order of the text, and the slots that a sizing reads (region, hours, model)."""

    text: str
    figures: tuple[Figure, ...]
    slots: Mapping[str, Any]
    regions: tuple[str, ...]
    new: frozenset[str]
    """The roles and slots of the last turn."""

    def all(self, role: str) -> list[float]:
        return list(dict.fromkeys(figure.value for figure in self.figures if figure.role == role))

    def one(self, role: str) -> float | None:
        """The figure of a role; None where there is none, or more than one."""
        found = self.all(role)
        return found[0] if len(found) == 1 else None

    @property
    def is_read_whole(self) -> bool:
        """Whether each percentage has a role, and none has two."""
        shares = [figure.role for figure in self.figures if figure.role in _SHARES]
        return len(shares) == len(set(shares)) == self.text.count("%")

    def then(self, other: "Given") -> "Given":
        """With another turn behind, whose figures stand in the place of those of the same role."""
        kept = tuple(figure for figure in self.figures if figure.role not in other.new)
        always = {"hours": self.slots["hours"]} if other.slots.get("hours") == MONTH_HOURS and "hours" in self.slots else {}  # what a schedule is held against
        return Given(other.text, kept + other.figures, {**self.slots, **other.slots, **always}, other.regions or self.regions, other.new)


_N = r"(?P<n>\d{1,15}(?:[.,]\d{1,15}){0,3}(?!\d)|\.\d{1,15})(?P<k>k(?![a-z]))?\s?"
_USD = r"(?:\$|usd|us dollars?|dollars?|bucks|€|eur(?:os?)?)"
_MONEY = rf"{_USD}?\s?{_N}(?:{_USD}\s?)?"
_PER = r"(?:/|per |an? |each |every |the |for an? )\s?"
_SECOND = r"\s?(?:/|p|per |an? |each |every )\s?s(?:ec(?:ond)?s?)?"
_CARD = r"(?:nvidia )?(?:gpus?|cards?|accelerators?|chips?|(?!p\d)[abhlvt]\d{1,3}[a-z]?s?)"
_MACHINE = r"(?:[a-z]+[ -])?(?:nodes?|servers?|boxe?s?|machines|hosts?|instances?|notebooks?|vms?|workstations?)"
_ITEM = r"(?:im(?:age|g)s?|photos?|pictures?|frames?|doc(?:ument)?s?|pages?|articles?|rows?|records?|samples?|sequences?|sentences?|items?|files?|clips?|videos?|embeddings?|reviews?|listings?|tickets?|proteins?)"
_TIMES = {"s": 1 / 3600, "m": 1 / 60, "h": 1.0, "d": 24.0, "w": 168.0}
_SPAN = r"(?P<u>s(?:ec(?:ond)?s?)?|min(?:ute)?s?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)"
_SCALES = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "b": 1e9}
# Role, how it is written, and by what the first letter of its unit multiplies it: the first that takes a number has it.
_ROLES: tuple[tuple[str, str, Mapping[str, float]], ...] = (
    ("term", rf"{_N}[ -]?(?:years?|yrs?|y|months?)(?=[ ,-]+(?:\w+[ -]){{0,2}}(?:savings?|reserv\w+|commit\w*|ri|plans?|no upfront|all upfront|one\b|gives)|\W*$)", {}),
    ("grid", rf"{_N}(?P<u>k?g(?:rams?)?)[ -]?(?:of )?(?:co2\w*\s?)?(?:{_PER})kwh", {"k": 1e3}),
    ("power price", rf"{_MONEY}(?P<u>cents?|ct)?\s?{_PER}kwh", {"c": 0.01}),
    ("storage price", rf"{_MONEY}(?P<u>cents?|ct)?\s?{_PER}gi?b(?!\s?/\s?s|ps)", {"c": 0.01}),
    ("API price", rf"{_MONEY}(?P<u>cents?|ct)?\s?{_PER}(?:1\s?)?m(?:illion|io|tok)?\b", {"c": 0.01}),
    ("price", rf"{_MONEY}(?:{_PER}(?:\w+[- ])?(?:h|hr|hour)|hourly)", {}),
    ("monthly price", rf"{_MONEY}(?:{_PER}(?:mo|month)|monthly)", {}),
    ("money", rf"(?:{_USD}\s?{_N}|{_N.replace('<n>', '<m>').replace('<k>', '<l>')}{_USD})", {}),
    ("link", rf"{_N}(?P<u>[gtm])(?:bits?(?:\s?(?:/|per |a )\s?s(?:ec(?:ond)?s?)?|ps)?|bps|ig)", _SCALES),
    ("item rate", rf"{_N}(?P<u>m)?\s?(?:\w+ )?{_ITEM}{_SECOND}", {"m": 1e6}),
    ("items", rf"{_N}(?P<u>m|b)?(?:illion|io)?\s?(?:\w+ )?{_ITEM}(?!\s?(?:/|per |a |each )\s?(?:s|min|h))", {"m": 1e6, "b": 1e9}),
    ("write rate", rf"{_N}(?P<u>[gtm])i?b(?:ytes?)?\s?(?:/|per |an? )\s?s(?:ec(?:ond)?s?)?", _SCALES),
    ("requests", rf"{_N}(?:r|q)ps", {}),
    ("requests", rf"{_N}(?:\w+ )?(?:req(?:uest)?s?|queries|calls|messages)\s?(?:/|per |an? |each |every )\s?(?P<u>s|m|h)[a-z]*", {"s": 1.0, "m": 1 / 60, "h": 1 / 3600}),
    ("pace", rf"{_N}(?:\w+ )?(?:tokens?|toks?|t){_SECOND}", {}),
    ("output", rf"(?:output|answer|completion|response|reply)s?(?: length| size)?(?: of| is| about| around| ~|:)*\s{_N}(?:tok\w*)?", {}),
    ("prompt", rf"{_N}(?:input |prompt )tok\w*|(?:prompt|input)s?(?: length| size)?(?: of| is| about| around| ~|:)*\s{_N.replace('<n>', '<m>').replace('<k>', '<l>')}(?:tok\w*)?", {}),
    ("output", rf"{_N}(?:(?:output|answer|generated|completion) )?(?:tokens?|tok)(?: out| output| each)?", {}),
    ("bytes", rf"{_N}bytes?(?:\s?{_PER}\s?param\w*)?", {}),
    ("size", rf"{_N}(?P<u>[gt])i?b", _SCALES),
    ("kwh", rf"{_N}(?P<u>[km])wh", {"m": 1e3}),
    ("watts", rf"{_N}(?P<u>k)?w(?:att)?s?", {"k": 1e3}),
    ("PUE", rf"pue(?: of| is| at|:|=| around| about)*\s?{_N}", {}),
    ("card hours", rf"{_N}{_CARD}[- ]?(?:hours?|hrs?|h)", {}),
    ("parameters", rf"{_N}(?P<u>b|m(?=(?:illion)?\s?param))(?:n|illion)?(?!\s?\w*\s?tok)(?:\s?param\w*)?", _SCALES),
    ("between failures", rf"(?:(?:dies?|fails?|failures?|crash\w*|interrupt\w*|reclaim\w*|preempt\w*|killed)[^.;?\d]{{0,25}}(?:every|each|per)|mtbf(?: of| is|:)?)\s{_N}{_SPAN}", _TIMES),
    ("interval", rf"(?:every|each|per)\s{_N}{_SPAN}", _TIMES),
    ("share of day", rf"{_N}(?:h|hrs?|hours?)\s?{_PER}day", {}),
    ("hours", rf"{_N}{_SPAN}", _TIMES),
    ("kept", rf"(?:keep|kept|keeps|keeping|retain\w*|last|newest|latest|store)\s(?:only |the |about )*(?:last |newest |latest )?{_N}(?:of them|checkpoints?|copies)?", {}),
    ("kept", rf"{_N}(?:checkpoints|copies|ckpts|snapshots)", {}),
    ("cards", rf"{_N}[x×]?\s?{_CARD}", {}),
    ("machines", rf"{_N}[x×]?\s?(?:{_MACHINE}|of (?:them|those|these))", {}),
)
# A share is of what the words beside it say; the nearer ones first.
_SHARES = {
    "discount": r"off\b|\bminus\b|discount|less\b|cheaper|saving|saves|rebate|reduc|lower|below|plan\b|\bri\b|year|reserv",
    "headroom": r"headroom|spare|buffer|reserve\b|margin|safety|contingency|padd?(?:ing)?\b|\btax|\bvat\b|mark-?up|uplift|surcharge|on top|overhead|for re(?:runs|tries)",
    "lost": r"\blost\b|\blose\b|interrupt|preempt|wasted",
    "MFU": r"\bmfu\b",
    "part of power": r"\A ?of(?: the| their| its| a| max\w*| full)* ?\Z|\btdp\b",
    "efficiency": r"effic|eff?ecti|of (?:it|that|line|the link)\b|real(?:ly|istic)|usable|goodput|\bsee\b",
    "busy": r"busy|utili|load|\bused?\b|usage|of the (?:day|time|hours?)|duty|occup|active",
}
_SHARE = re.compile(rf"(?<![\w.,]){_N}%")
# "Eight GPUs"; one is no count, as in "one may fail".
_COUNTED = re.compile(rf"\b(?:{'|'.join(word for word, number in WORD_NUMBERS.items() if word.isalpha() and number > 1)})\b(?= )")
_ALWAYS = re.compile(r"24 ?[/x] ?7")


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str], Mapping[str, float]], ...]:
    return tuple((role, re.compile(rf"(?<![\w.,$]){written}(?!\w)"), factors) for role, written, factors in _ROLES)


@lru_cache(maxsize=256)
def read_given(question: str, known: Known) -> Given:
    """The figures of one turn."""
    text = _COUNTED.sub(lambda word: f"{WORD_NUMBERS[word.group()]:g}", as_read(question))
    slots, several = (said := read_question(question, known)).slots, said.several
    reading, found = Reading(text), list[tuple[int, Figure]]()
    reading.take(_ALWAYS)
    for match in reading.take(_SHARE):
        if role := _share(text, match.start(), match.end()):
            found.append((match.start(), Figure(role, _value(match, {}) / 100, "")))
    for role, pattern, factors in _patterns():
        found += [(m.start(), Figure(role, _value(m, factors), _beside(text, m.start(), m.end()))) for m in reading.take(pattern)]
    if re.search(r"\b(?:every|each|per|once an?) hour\b", reading.text) and "interval" not in {figure.role for _, figure in found}:
        found.append((len(text), Figure("interval", 1.0, "")))
    figures = tuple(figure for _, figure in sorted(found, key=lambda one: one[0]))
    regions = [slots["region"], *(str(other["region"]) for other in several.get("region", []))] if "region" in slots else []
    return Given(text, figures, slots, tuple(regions), frozenset({*(figure.role for figure in figures), *slots}))


def read_turns(turns: Sequence[str], known: Known) -> list[Given]:
    """What is given up to each turn."""
    found: list[Given] = []
    for turn in turns:
        given = read_given(turn, known)
        found.append(found[-1].then(given) if found else given)
    return found


def _value(match: re.Match[str], factors: Mapping[str, float]) -> float:
    groups = match.groupdict()
    number = groups.get("n") or groups.get("m") or ""
    value = float(number) if number.startswith(".") else number_of(number)
    return value * (1e3 if groups.get("k") or groups.get("l") else 1.0) * factors.get((groups.get("u") or " ")[0], 1.0)


def _beside(text: str, start: int, end: int) -> str:
    """The words of the same clause, nearest last before it and first behind it."""
    return f"{_CLAUSE.split(text[max(0, start - 40) : start])[-1]} | {_CLAUSE.split(text[end : end + 30])[0]}"


_CLAUSE = re.compile(r"[,.;?!+](?:\s|$)|\band\b")


def _share(text: str, start: int, end: int) -> str:
    """The role of a share: of the words behind it, then of those before it, the nearest."""
    near: list[tuple[int, str]] = []
    for role, words in _SHARES.items():
        near += [(match.start(), role) for match in re.finditer(words, re.split(r"[,;?!]|\.\s|\d", text[end : end + 40])[0])]
        near += [(start - before - match.end() + 8, role) for before in [max(0, start - 40)] for match in re.finditer(words, text[before:start])]
    return min(near, default=(0, ""))[1]
