"""Read the user's own figures: each number once, with its unit and the role that the words beside it give."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from chatbot.language.quantities import WORD_NUMBERS
from chatbot.sizing.fleet import Part, filled_up, parts_of
from chatbot.sizing.reading import read_question
from chatbot.sizing.reading.numerals import number_of
from chatbot.sizing.reading.schedule import MONTH_HOURS
from chatbot.sizing.reading.text import Known, Reading
from chatbot.sizing.spelled import as_read


@dataclass(frozen=True, slots=True)
class Figure:
    """A number in the unit of its role, and the words beside it.

    `unit` is the factor from the written unit to that of the role. The role is "" if the number was not understood.
    """

    role: str
    value: float
    beside: str
    unit: float = 1.0

    @property
    def before(self) -> str:
        return self.beside.partition("|")[0]

    @property
    def is_input(self) -> bool:
        """Whether this number is an input that changes a computed result.

        Numbers in names, single things, units of price, and limits to compare a result with are not inputs.
        """
        named = self.role in ("term", "parameters", "MFU", "slot") or (self.role, self.value) == ("tokens", 1e6)
        return not (named or self.value == 1 or _LIMIT.search(self.before))

    @property
    def is_bar(self) -> bool:
        """Whether this number is what something is held against: "under $22 an hour"."""
        return bool(_BAR.search(self.before))


@dataclass(frozen=True, slots=True)
class Given:
    """What turns of a conversation give: figures in text order, and slots that a sizing reads (region, hours, model)."""

    text: str
    figures: tuple[Figure, ...]
    slots: Mapping[str, Any]
    regions: tuple[str, ...]
    new: frozenset[str]
    """The roles and slots of the last turn, plus "parts" if it has any."""
    sides: tuple["Given", ...] = ()
    """If two things are compared, what is given of each."""
    parts: tuple[Part, ...] = ()
    """If a fleet is paid for in several ways, the number of machines in each."""

    def all(self, role: str) -> list[float]:
        return list(dict.fromkeys(figure.value for figure in self.figures if figure.role == role))

    def one(self, role: str) -> float | None:
        """The figure of a role; None if there is none, or more than one."""
        found = self.all(role)
        return found[0] if len(found) == 1 else None

    def then(self, other: "Given") -> "Given":
        """Add a later turn, whose figures replace those of the same role.

        If the turn names one side of a comparison, they replace that side's alone: "and if the second takes 5 hours?".
        """
        figures = _in_roles(other.figures, self.figures)
        figures = _as_lost(figures, "fails" if self.all("lost time") else other.text)
        roles = {figure.role for figure in figures}
        lost = "lost time" in roles and "hours" not in roles
        new = frozenset({*roles, *(slot for slot in other.slots if not lost or slot != "hours"), *(other.new & {"parts"})})
        counted = [f for f in self.figures if f.role in _SCALED]
        scales = "efficiency" in roles | {f.role for f in self.figures}
        if scales and len(counted) == 2 and sum(f.role in _SCALED for f in figures) == 1:
            # "And on 64 GPUs?": the machines that the work was measured on stay.
            figures, new = [counted[0], *figures], new.union(_SCALED)
        which = _WHICH.search(other.text)

        def changed(side: Given) -> Given:
            return side.then(other) if not which or bool(which["first"]) == (side is self.sides[0]) else side

        fleet = sum(part.count for part in self.parts) or self.one("machines") or self.one("cards")
        return Given(
            other.text,
            (*self._kept(figures, new), *figures),
            {**self.slots, **other.slots, **self._hours_kept(other)},
            other.regions or self.regions,
            new,
            sides=other.sides or tuple(map(changed, self.sides)),
            parts=filled_up(other.parts, fleet or self.slots.get("instances") or 0),
        )

    def _kept(self, later: Sequence[Figure], new: frozenset[str]) -> list[Figure]:
        """The figures that stay beside those of a later turn, whose roles and slots are `new`."""
        rates = {(f.role, bool(OF_ONE.search(f.beside))) for f in later}
        # If there is a rate per machine as well as a required rate, only the one that is stated again changes.
        two_rates = rates and (len(self.all("pace")) > 1 or len(self.all("requests")) > 1)
        # Prices stated in several turns, without a question, stay side by side.
        told = self.new & _PRICES if "?" not in self.text else frozenset[str]()
        apart = _named_apart(self.figures, later)

        def stays(f: Figure) -> bool:
            other_rate = two_rates and f.role in _RATES and (f.role, bool(OF_ONE.search(f.beside))) not in rates
            return f.role not in new or f in apart or f.role in told or bool(other_rate)

        return [f for f in self.figures if stays(f)]

    def _hours_kept(self, other: "Given") -> dict[str, float]:
        """The schedule given before, if a later turn compares it with all of a month or year."""
        mine, span = self.slots.get("hours"), other.slots.get("hours")
        if mine and span == MONTH_HOURS:
            return {"hours": mine}
        if mine and span == 12 * MONTH_HOURS and mine < MONTH_HOURS and not self.all("hours"):
            return {"hours": mine * 12}
        return {}

    def against(self, other: "Given") -> "Given":
        """Complete a side of a comparison from the other side.

        It takes no shares, no second price and, if it is a single thing, no counts.
        """
        own = _in_roles(self.figures, other.figures)
        there = {"", "share", *(figure.role for figure in own), *_SHARES, *(_COUNTS if _ALONE.search(self.text) else ())}
        there |= _PRICES if there & _PRICES or "instance_type" in self.slots else set()
        return replace(self, figures=(*own, *(f for f in other.figures if f.role not in there)), slots={**other.slots, **self.slots}, sides=())


_LIMIT = re.compile(r"(?:\b(?:under|below|within|less than|no more than|at most|max(?:imum)?(?: of)?|up to)|<=?) \W*$")
_BAR = re.compile(rf"{_LIMIT.pattern}|\b(?:over|above|beyond|exceed(?:s|ing)?|at least|(?:more|cheaper|dearer|pricier|lower|higher|(?:more|less) expensive) than)(?: about| around)? \W*$")
_WHICH = re.compile(r"\b(?P<first>first|former|old)\b|\b(?:second|latter|other|new)\b")
_RATES = ("requests", "pace")
_SCALED = ("cards", "machines", "")
_COUNTS = frozenset({"machines", "cards", "items", "calls", "things"})
_PRICES = frozenset({"price", "API price", "monthly price"})
_N = r"(?P<n>\d{1,15}(?:[.,]\d{1,15}){0,3}(?!\d)|\.\d{1,15})(?P<k>k(?![a-z]))?\s?"
_USD = r"(?:\$|usd|us dollars?|dollars?|bucks|€|eur(?:os?)?)"
_MONEY = rf"{_USD}?\s?{_N}(?:{_USD}\s?)?"
_PER = r"(?:/|per |an? |each |every |the |for an? )\s?"
_SECOND = r"\s?(?:/|p|per |an? |each |every )\s?s(?:ec(?:ond)?s?)?"
_CARD = r"(?:nvidia )?(?:gpus?|cards?|accelerators?|chips?|(?!p\d)[abhlvt]\d{1,3}[a-z]?s?)"
ONE_MACHINE = r"(?:node|server|box|machine|host|instance|notebook|vm|workstation|endpoint|replica|pod|worker|container)"
_MACHINE = rf"(?:(?!(?:per|an?|each|on|of|for|in|at|and|or|with)\s)[a-z]+\d*[ -]){{0,2}}?{ONE_MACHINE}(?:e?s)?"
_ALONE = re.compile(rf"\bone (?:for|at)\b|\b(?:one|an?|single) (?:\S+ ){{0,2}}?(?:gpu|card|chip|{ONE_MACHINE})(?!\w)")
# Marks the rate of a single machine, as opposed to the rate that all must reach.
OF_ONE = re.compile(rf"\b(?:one|each|every|per|single|apiece)\b|\ban? (?:gpu|card|chip|{ONE_MACHINE}|\S+\.\w+) ")
ITEM = r"(?:im(?:age|g)s?|photos?|pictures?|frames?|doc(?:ument)?s?|pages?|articles?|rows?|records?|samples?|sequences?|sentences?|items?|files?|clips?|videos?|embeddings?|reviews?|listings?|tickets?|proteins?)"
# Anything that is counted, except times, money and verbs.
_THING = r"(?!(?:hours|(?:week)?days|weeks|weekends|nights|months|years|minutes|seconds|times|cents|dollars|euros|watts|tokens|does|costs|takes|makes|gives|serves|handles|needs|always)\b)[a-z]{2,}[^\W\daisu_]s"
_NOT_A_RATE = r"(?!\s?(?:/|per |an? |each )\s?(?:s|min|h))"
_TIMES = {"s": 1 / 3600, "m": 1 / 60, "h": 1.0, "d": 24.0, "w": 168.0}
_SPAN = r"(?P<u>s(?:ec(?:ond)?s?)?|min(?:ute)?s?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)"
_FAILS = r"(?:dies?|fails?|failures?|crash\w*|interrupt\w*|reclaim\w*|preempt\w*|killed)"
# Words beside the time that each failure costs.
_LOSES = re.compile(r"\blos[et]|\bcosts?\b|restart|resum|re-?do|again|recover|reload|get(?:ting)? (?:going|back)|\bboot|back up|each time|every time|\bplus \W*\||interrupt|re-?warm")
_BINARY = {"mi": 1.024**2, "gi": 1.024**3, "ti": 1.024**4}
_SCALES = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "b": 1e9}
# Role, pattern, and the factor for the first letter of the unit. The first pattern that matches a number claims it.
_ROLES: tuple[tuple[str, str, Mapping[str, float]], ...] = (
    ("term", rf"{_N}[ -]?(?:years?|yrs?|y|months?)(?=[ ,-]+(?:\w+[ -]){{0,2}}(?:savings?|reserv\w+|commit\w*|ri|plans?|no upfront|all upfront|one\b|gives)|\W*$)", {}),
    ("grid", rf"{_N}(?P<u>k?g(?:rams?)?)[ -]?(?:of )?(?:co2\w*\s?)?(?:{_PER})kwh", {"k": 1e3}),
    ("power price", rf"{_MONEY}(?P<u>cents?|ct)?\s?{_PER}kwh", {"c": 0.01}),
    ("storage price", rf"{_MONEY}(?P<u>cents?|ct)?\s?{_PER}gi?b(?!\s?/\s?s|ps)", {"c": 0.01}),
    ("API price", rf"{_MONEY}(?P<u>cents?|ct)?\s?{_PER}(?:1\s?)?m(?:illion|io|tok)?\b", {"c": 0.01}),
    ("exchange rate", rf"{_MONEY}{_PER}{_USD}", {}),
    ("price", rf"{_MONEY}(?:{_PER}(?:\w+[- ])?(?:h|hr|hour)|hourly)", {}),
    ("monthly price", rf"{_MONEY}(?:{_PER}(?:mo|month)|monthly)", {}),
    ("monthly price", rf"monthly \w+ (?:of |is |at |around |about |: ?)*{_MONEY}", {}),
    ("money", rf"(?:{_USD}\s?{_N}|{_N.replace('<n>', '<m>').replace('<k>', '<l>')}{_USD})", {}),
    ("money", rf"{_N}(?:\w+ ){{0,2}}credits", {}),
    ("money", rf"(?:costs?|spend(?:ing)?|takes|effort|invest\w*|one[- ](?:off|time))(?: (?:us|about|around|roughly|of|is|a|an|one[- ]off|once))*\s{_N.replace('(?P<k>k(?![a-z]))?', '(?P<k>k(?![a-z]))')}(?!\s?tok)", {}),
    ("link", rf"{_N}(?P<u>[gtm])(?:bits?(?:\s?(?:/|per |a )\s?s(?:ec(?:ond)?s?)?|ps)?|bps|ig)", _SCALES),
    ("item rate", rf"{_N}(?P<u>m)?\s?(?:\w+ )?{ITEM}{_SECOND}", {"m": 1e6}),
    ("items", rf"{_N}(?P<u>m|b)?(?:illion|io)?\s?(?:\w+ )?{ITEM}{_NOT_A_RATE}", {"m": 1e6, "b": 1e9}),
    ("write rate", rf"{_N}(?P<u>[gtm]i?)b(?:ytes?)?\s?(?:/|per |an? )\s?s(?:ec(?:ond)?s?)?", _SCALES),
    ("requests", rf"{_N}(?:r|q)ps", {}),
    ("requests", rf"{_N}(?:(?!million)\w+ )?(?:req(?:uest)?s?|queries|calls|messages)\s?(?:/|per |an? |each |every )\s?(?P<u>s|m|h)[a-z]*", {"s": 1.0, "m": 1 / 60, "h": 1 / 3600}),
    ("pace", rf"{_N}(?:\w+ )?(?:tokens?|toks?|t){_SECOND}", {}),
    ("output", rf"(?:output|answer|completion|response|reply)s?(?: length| size)?(?: of| is| about| around| ~|:)*\s{_N}(?:tok\w*)?", {}),
    ("prompt", rf"{_N}(?:input|prompt)(?: tok\w*|(?= and \d))|(?:prompt|input)s?(?: length| size)?(?: of| is| about| around| ~|:)*\s{_N.replace('<n>', '<m>').replace('<k>', '<l>')}(?:tok\w*)?", {}),
    ("tokens", rf"{_N}(?P<u>m|b|t)(?:illion|rillion|n|io)?\s?(?:\w+ )?tok(?:en)?s?", {"m": 1e6, "b": 1e9, "t": 1e12}),
    ("output", rf"{_N}(?:(?:output|answer|generated|completion) )?(?:tokens?|tok)(?: out| output| each)?", {}),
    ("bytes", rf"{_N}bytes?(?:\s?{_PER}\s?param\w*)?", {}),
    ("size", rf"{_N}(?P<u>[gt]i?)b", _SCALES),
    ("kwh", rf"{_N}(?P<u>[km])wh", {"m": 1e3}),
    ("watts", rf"{_N}(?P<u>k)?w(?:att)?s?", {"k": 1e3}),
    ("PUE", rf"pue(?: of| is| at|:|=| around| about)*\s?{_N}", {}),
    ("card hours", rf"{_N}{_CARD}[- ]?(?:hours?|hrs?|h)", {}),
    ("parameters", rf"{_N}(?P<u>b(?!illion \w)|b(?=illion (?:param|weight))|m(?=(?:illion)?\s?param))(?:n|illion)?(?!\s?\w*\s?tok)(?:\s?param\w*)?", _SCALES),
    ("slot", rf"(?:under|below|less than|faster than|<)\s?{_N}(?:{_SPAN}|ms)", {}),
    ("between failures", rf"(?:{_FAILS}[^.;?\d]{{0,25}}(?:every|each|per)|mtbf(?: of| is|:)?)\s{_N}{_SPAN}", _TIMES),
    ("interval", rf"(?:every|each|per)\s{_N}{_SPAN}", _TIMES),
    ("share of day", rf"{_N}(?:h|hrs?|hours?)\s?{_PER}day", {}),
    ("hours", rf"{_N}{_SPAN}", _TIMES),
    ("kept", rf"(?:keep|kept|keeps|keeping|retain\w*|last|newest|latest|store)\s(?:only |the |about )*(?:last |newest |latest )?{_N}(?:of them|checkpoints?|copies)?(?!\s?{_MACHINE})", {}),
    ("kept", rf"{_N}(?:checkpoints|copies|ckpts|snapshots)", {}),
    ("vCPUs", rf"{_N}v?cpus?", {}),
    ("cards", rf"{_N}[x×]?\s?{_CARD}(?!\s{ONE_MACHINE})", {}),
    ("machines", rf"{_N}[x×]?\s?(?:{_MACHINE}|of (?:them|those|these))", {}),
    ("slot", rf"{_N}(?:figures|numbers|options|answers|questions|prices|cases)", {}),
    ("times", rf"{_N}(?:x|×|times|-?fold)", {}),
    ("calls", rf"{_N}(?P<u>m|b)?(?:illion|io)?\s(?:[a-z-]+ )?(?:requests|queries|calls|messages|prompts){_NOT_A_RATE}", {"m": 1e6, "b": 1e9}),
    ("things", rf"{_N}(?P<u>m|b)?(?:illion|io)?\s(?:[a-z-]+ )?{_THING}{_NOT_A_RATE}", {"m": 1e6, "b": 1e9}),
)
# Roles of a percentage and the words that indicate them; the nearest words decide.
_SHARES = {
    "discount": r"off\b|\bspot\b|\bminus\b|discount|less\b|cheaper|saving|saves|rebate|reduc|lower|below|\bcuts?\b|\bdrops?\b|\bsaves?\b|plan\b|\bri\b|year|reserv",
    "headroom": r"headroom|spare|buffer|reserve\b|margin|safety|contingency|padd?(?:ing)?\b|\btax|\bvat\b|mark-?up|uplift|surcharge|on top|overhead|for re(?:runs|tries)",
    "again": r"\bre-?(?:do|doing|done|run|runs|running)\b|\bretr(?:y|ies|ied)\b|\bredone\b",
    "lost": r"\bfail|\blost\b|\blose\b|interrupt|preempt|wasted",
    "likelihood": r"\A ?(?:sure|certain|confident|likely)\b|chance|probab|likelihood",
    "MFU": r"\bmfu\b",
    "part of power": r"\bdraw|\A ?of(?: the| their| its| a| max\w*| full)* ?\Z|\btdp\b",
    "efficiency": r"effic|eff?ecti|of (?:it|that|line|the link)\b|\breal(?:ly|istic\w*)?\b|usable|goodput|\bsee\b",
    "busy": r"busy|utili|load|\bused?\b|usage|of (?:the |its |all )?(?:day|time|hours?)|duty|occup|active",
}
_SHARE = re.compile(rf"(?<![\w.,]){_N}%(?! (?:sure|certain|likely)\b)")
# Spelled-out counts ("eight GPUs"). "One" is mostly no count, as in "one may fail", but it is in "one on demand".
_SEVERAL = "|".join(word for word, number in WORD_NUMBERS.items() if word.isalpha() and number > 1)
_COUNTED = re.compile(rf"\b(?:{_SEVERAL})\b(?= |\W*$)|\bone(?= (?:stays? |is )?(?:on[ -](?:demand|spot)|reserved)\b)")
_HYPHENED = re.compile(r"(?<=\d)-(?=(?:hour|minute)s?\b)")
_HOURS = re.compile(r"\b(?:stunden|heures|horas)\b")
_ALWAYS = re.compile(r"24 ?[/x] ?7")
_BARE = re.compile(r"(?<![\w.,$/-])(?P<n>\d{1,15}(?:[.,]\d{1,15}){0,3})(?P<k>k)?(?![\w%]|[.,]\d|-\w)")
_HOURLY = re.compile(r"\b(?:every|each|once an?|once per|(?<=checkpoint )per) hour\b")
_YEAR = re.compile(r"20[2-4]\d")
_WAY_TO_PAY = r"(?:on[ -]demand|ri|sp|list(?: price)?|spot|reserved|commit(?:ted|ment)|savings?[ -]plan|without)\b"
_PAID = rf"\|\s*{_WAY_TO_PAY}|\b{_WAY_TO_PAY}(?: [^\W_]+){{0,3}}:?\s+\|"
# A number without a unit takes the unit of the figure that it is compared with: "12 req/s, one card does 35", "18 hours
# or in 50", "1.5 an hour vs 1.2", "21.50 on demand".
_GAPS = (
    (("requests", "pace", "item rate"), re.compile(r"\b(?:does|do|handles?|manages?|serves?|gives?|sustains?|takes|out at|(?:replica|card|pod|box|node))\s(?:about |around |~)*\s*\|")),
    (("hours",), re.compile(r"\b(?:in|within|takes)\s+\|")),
    (("price",), re.compile(rf"(?:\b(?:at|zu|à|for)|@)\s+\||{_PAID}")),
    (("monthly price",), re.compile(r"\bfrom\s+\|\s*to\b")),
    (("price", "pace", "requests", "item rate", "hours", "watts"), re.compile(r"\b(?:vs\.?|versus|against|or)\s+\|")),
)
# Figures that are compared differ by less than this factor.
_LIKE = 50
_OFF = re.compile(r"\boff (?:the |a |an |our )?(?:list |on[ -]demand )?(?:price |rate )?(?:of )?\W*$")
# Whole dollars beside "on demand" are the price of an hour up to this.
_MOST_HOURLY = 50
_EACH_AT = re.compile(r"(?:\b(?:at|zu|à)|@)\s+$")
# Where the first of two compared things may end, the most reliable patterns first.
_CUTS = tuple(map(re.compile, (r"\b(?:vs\.?|versus|than|against|instead of|rather than|compared (?:to|with)|or|oder|ou)\b", r"[.;?!:]\s", r",\s|\b(?:and|to|und)\b")))
_AGAIN = (_PRICES, {"hours"}, {"share of day"}, {"pace"}, {"item rate"}, {"watts"}, {"machines"})


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str], Mapping[str, float]], ...]:
    return tuple((role, re.compile(rf"(?<![\w.,$]){written}(?!\w)"), factors) for role, written, factors in _ROLES)


@lru_cache(maxsize=256)
def read_given(question: str, known: Known) -> Given:
    """Read the figures of one turn."""
    text = _COUNTED.sub(lambda word: f"{WORD_NUMBERS[word.group()]:g}", _HYPHENED.sub(" ", as_read(question)))
    text = _HOURS.sub("hours", text)
    said = read_question(question, known)
    slots, several = said.slots, said.several
    found = sorted(_figures(text, {number_of(number) for number in said.left}), key=lambda one: one[0])
    figures = [figure for _, figure in found]
    figures = _as_lost(_in_roles(figures, figures), text)
    placed = [(at, figure) for (at, _), figure in zip(found, figures, strict=True)]
    end = _end_of_first(text, [(at, figure.role) for at, figure in placed])
    one, other = (read_given(part, known) for part in (text[:end], text[end:])) if end else (None, None)
    regions = [slots["region"], *(str(other["region"]) for other in several.get("region", []))] if "region" in slots else []
    parts = parts_of(text, [(at, figure.role, figure.value) for at, figure in placed])
    new = frozenset({*(figure.role for figure in figures), *slots, *(["parts"] if parts else [])})
    return Given(text, tuple(figures), slots, tuple(regions), new, (one.against(other), other.against(one)) if one and other else (), parts)


def _figures(text: str, left: set[float]) -> list[tuple[int, Figure]]:
    """The figures of a text, each with its place. A number has no role if no slot of a sizing took it either: it is `left`."""
    reading = Reading(text)
    reading.take(_ALWAYS)
    found = [(m.start(), Figure(share_of(text, m.start(), m.end()), _value(m) / 100, "")) for m in reading.take(_SHARE)]
    for role, pattern, factors in _patterns():
        # Storage that is sold by the GB is sold by the GiB.
        binary = {} if any(figure.role == "storage price" for _, figure in found) else _BINARY
        for match in reading.take(pattern):
            written = match.groupdict().get("u") or " "
            unit = factors.get(written[0], 1.0) * binary.get(written, 1.0)
            found.append((match.start(), Figure(role, _value(match) * unit, _beside(text, *match.span()), unit)))
    if hourly := _HOURLY.search(reading.text):
        role = "between failures" if re.search(rf"{_FAILS}[^.;?]{{0,12}}$", reading.text[: hourly.start()]) else "interval"
        if role not in {figure.role for _, figure in found}:
            found.append((len(text), Figure(role, 1.0, "")))
    for match in _BARE.finditer(reading.text):
        if not _YEAR.fullmatch(match.group()):
            role = "" if _value(match) in left else "slot"
            found.append((match.start(), Figure(role, _value(match), _beside(text, *match.span()))))
    return found


def _in_roles(figures: Sequence[Figure], among: Sequence[Figure]) -> list[Figure]:
    """Give numbers without a unit, and sums of money, the role of the figure that they are compared with."""
    found: list[Figure] = []
    for figure in figures:
        shares = {f.role for f in among if f.role in _SHARES}
        if figure.role == "share" and len(shares) == 1:
            figure = replace(figure, role=shares.pop())  # "same at 27 %?"
        if like := _compared_with(figure, among):
            figure = replace(figure, role=like.role, value=figure.value * (1.0 if figure.role == "money" else like.unit))
        elif _is_hourly_price(figure, {f.role for f in among}):
            figure = replace(figure, role="price")
        found.append(figure)
    return found


def _compared_with(figure: Figure, among: Sequence[Figure]) -> Figure | None:
    """The figure that a number without a unit, or a sum of money, is compared with, as the words beside it tell."""
    if figure.role not in ("", "slot", "money"):
        return None
    roles = next((roles for roles, beside in _GAPS if beside.search(figure.beside)), ())
    near = (f for f in among if f.role in roles and f.value / _LIKE < figure.value < f.value * _LIKE)
    # An hourly price has cents, or a sign of money.
    return next((f for f in near if f.role != "price" or figure.role == "money" or figure.value % 1), None)


def _is_hourly_price(figure: Figure, roles: set[str]) -> bool:
    """Whether a number, or a sum of money, is the price of an hour, given the roles of the figures beside it."""
    if figure.role not in ("", "money"):
        return False
    if figure.role == "money" and _EACH_AT.search(figure.before) and "hours" in roles:
        return True
    small = figure.role == "money" and figure.value < _MOST_HOURLY and {"price", "busy", "between failures"} & roles
    return bool(figure.value % 1 or small) and bool(re.search(_PAID, figure.beside) or _OFF.search(figure.before))


def _as_lost(figures: Sequence[Figure], text: str) -> list[Figure]:
    """Tell the time that an interruption costs ("we lose 25 minutes plus 10 to restart") from other times."""
    apart = next((f.value for f in figures if f.role == "between failures"), 0.0)
    if not re.search(_FAILS, text):
        return list(figures)
    found: list[Figure] = []
    for figure in figures:
        if figure.role == "hours" and figure.value <= (apart or 4.0) and _LOSES.search(figure.beside):
            figure = replace(figure, role="lost time")
        elif figure.role == "" and found and found[-1].role == "lost time" and _LOSES.search(figure.beside):
            figure = replace(figure, role="lost time", value=figure.value * found[-1].unit, unit=found[-1].unit)
        found.append(figure)
    return found


def _end_of_first(text: str, placed: Sequence[tuple[int, str]]) -> int:
    """Where the first of two compared things ends.

    It is 0 if no words separate them, or if a role would occur twice on one side.
    """
    for kind in _AGAIN:
        places = [at for at, role in placed if role in kind]
        if len(places) == 2:
            for end in (match.start() for cut in _CUTS for match in cut.finditer(text, *places)):
                parts = [[role for at, role in placed if (at < end) is first and role not in _COUNTS] for first in (True, False)]
                if all(len(part) == len(set(part)) for part in parts):
                    return end
    return 0


def _named_apart(old: Sequence[Figure], new: Sequence[Figure]) -> set[Figure]:
    """The figures that stay although a later turn has one of their role, which names another: "and if we need only 150 hours?"."""
    stays: set[Figure] = set()
    for role in {"hours"} & {figure.role for figure in new}:
        words = {word for figure in new if figure.role == role for word in re.findall(r"[a-z]{4,}", figure.before)}
        alike = [f for f in old if f.role == role]
        named = [f for f in alike if words & set(re.findall(r"[a-z]{4,}", f.before))]
        stays |= set(alike) - set(named) if len(named) == 1 < len(alike) else set()
    return stays


def read_turns(turns: Sequence[str], known: Known) -> list[Given]:
    """Return what is given up to and including each turn."""
    found: list[Given] = []
    for turn in turns:
        given = read_given(turn, known)
        found.append(found[-1].then(given) if found else given)
    return found


def _value(match: re.Match[str]) -> float:
    groups = match.groupdict()
    number = groups.get("n") or groups.get("m") or ""
    value = float(number) if number.startswith(".") else number_of(number)
    return value * (1e3 if groups.get("k") or groups.get("l") else 1.0)


def _beside(text: str, start: int, end: int) -> str:
    """The words before and after a number in its clause, separated by a bar."""
    return f"{_CLAUSE.split(text[max(0, start - 40) : start])[-1]} | {_CLAUSE.split(text[end : end + 30])[0]}"


_CLAUSE = re.compile(r"[,.;?!+](?:\s|$)|\||\band\b")


def share_of(text: str, start: int, end: int) -> str:
    """The role of a percentage, from the nearest words; words after it count as nearer than words before it.

    Words that belong to an earlier percentage do not count.
    """
    near: list[tuple[int, str]] = []
    before = re.split(r"%[^%]*\band\b", text[max(0, start - 40) : start])[-1]
    if re.search(rf"(?:{_SHARES['again']}|\b(?:add|adds|adding))(?: about| around)? $", before):
        return "again"
    of_money = re.match(rf" ?of (?:our |the |a |that )?{_USD}?\s?[\d.,]+k?\s?(?:{_USD}|/|an? |per |month)", text[end:])
    for role, words in _SHARES.items():
        if of_money and role == "part of power":
            continue
        near += [(match.start(), role) for match in re.finditer(words, re.split(r"[,;?!]|\.\s|\d|\band (?!\d)", text[end : end + 40])[0])]
        near += [(len(before) - match.end() + 8, role) for match in re.finditer(words, before)]
    return min(near, default=(0, "share"))[1]
