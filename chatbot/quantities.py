"""Numbers with their units, read from text and compared."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf, isclose

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORD_NUMBERS: dict[str, float] = {
    "half a": 0.5, "half an": 0.5, "half": 0.5, "zero": 0, "hundred": 100,
    **{word: n for n, word in enumerate(_ONES, 1)}, **{word: n for n, word in enumerate(_TEENS, 10)}, **{word: 10 * n for n, word in enumerate(_TENS, 2)},
    **{f"{ten}-{one}": 10 * t + o for t, ten in enumerate(_TENS, 2) for o, one in enumerate(_ONES, 1)},
}  # fmt: skip
_SCALES = {
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
    "k": 1e3,
    "m": 1e6,
    "mn": 1e6,
    "bn": 1e9,
    "b": 1e9,
}

# unit as it is written -> (dimension, factor to the dimension's own unit)
_UNITS: dict[str, tuple[str, float]] = {
    "%": ("percent", 1), "percent": ("percent", 1), "per cent": ("percent", 1), "pct": ("percent", 1),
    "kb": ("bytes", 1e3), "mb": ("bytes", 1e6), "gb": ("bytes", 1e9), "gib": ("bytes", 1.073741824e9), "tb": ("bytes", 1e12),
    "tib": ("bytes", 1.099511627776e12), "pb": ("bytes", 1e15), "gigabytes": ("bytes", 1e9), "terabytes": ("bytes", 1e12),
    "gigabyte": ("bytes", 1e9), "terabyte": ("bytes", 1e12),
    "gb/s": ("bytes/s", 1e9), "tb/s": ("bytes/s", 1e12), "mb/s": ("bytes/s", 1e6), "gbps": ("bits/s", 1e9), "tbps": ("bits/s", 1e12),
    "mbps": ("bits/s", 1e6), "gbit/s": ("bits/s", 1e9), "gb per second": ("bytes/s", 1e9), "tb per second": ("bytes/s", 1e12),
    "gib/s": ("bytes/s", 1.073741824e9), "tib/s": ("bytes/s", 1.099511627776e12), "mib/s": ("bytes/s", 1.048576e6), "pb/s": ("bytes/s", 1e15), "eb/s": ("bytes/s", 1e18),
    "gigabits per second": ("bits/s", 1e9), "terabytes per second": ("bytes/s", 1e12),
    "w": ("watts", 1), "watt": ("watts", 1), "watts": ("watts", 1), "kw": ("watts", 1e3), "mw": ("watts", 1e6), "kilowatts": ("watts", 1e3),
    "kwh": ("watt-hours", 1e3), "mwh": ("watt-hours", 1e6), "wh": ("watt-hours", 1), "kilowatt-hours": ("watt-hours", 1e3), "megawatt-hours": ("watt-hours", 1e6),
    "tflops": ("flops", 1e12), "teraflops": ("flops", 1e12), "pflops": ("flops", 1e15), "petaflops": ("flops", 1e15), "petaflop": ("flops", 1e15),
    "gflops": ("flops", 1e9), "tops": ("ops", 1e12),
    "tflops/watt": ("flops/watt", 1e12), "tflops/w": ("flops/watt", 1e12), "tflops per watt": ("flops/watt", 1e12), "gflops/w": ("flops/watt", 1e9),
    "gflops per watt": ("flops/watt", 1e9), "gflops/watt": ("flops/watt", 1e9),
    "usd": ("money", 1), "$": ("money", 1), "dollars": ("money", 1), "dollar": ("money", 1), "us dollars": ("money", 1), "eur": ("euros", 1), "€": ("euros", 1), "euros": ("euros", 1),
    "x": ("times", 1), "×": ("times", 1), "times": ("times", 1), "-fold": ("times", 1),
    "instances greater": ("times", 1), "instances higher": ("times", 1), "instances quicker": ("times", 1), "occasions greater": ("times", 1), "fold": ("times", 1),
    "second": ("time", 1), "seconds": ("time", 1), "s": ("time", 1), "ms": ("time", 1e-3), "milliseconds": ("time", 1e-3), "microseconds": ("time", 1e-6), "minute": ("time", 60),
    "minutes": ("time", 60), "min": ("time", 60), "hour": ("time", 3600), "hours": ("time", 3600), "h": ("time", 3600), "hrs": ("time", 3600),
    "day": ("time", 86400), "days": ("time", 86400), "week": ("time", 604800), "weeks": ("time", 604800), "month": ("time", 2.63e6),
    "months": ("time", 2.63e6), "year": ("time", 3.156e7), "years": ("time", 3.156e7),
    "tons": ("mass", 1e3), "tonnes": ("mass", 1e3), "ton": ("mass", 1e3), "tonne": ("mass", 1e3), "metric tons": ("mass", 1e3), "kg": ("mass", 1),
    "t": ("mass", 1e3), "°c": ("temperature", 1), "celsius": ("temperature", 1), "mhz": ("frequency", 1e6), "ghz": ("frequency", 1e9),
    "parameters": ("parameters", 1), "parameter": ("parameters", 1), "params": ("parameters", 1), "param": ("parameters", 1),
}  # fmt: skip
# In a header these are words or symbols of something else, or say what the number says already.
_UNITS_OF_NO_HEADER = frozenset({"x", "×", "times", "t", "m", "fold", "-fold", "parameter", "param"})
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_UNIT = "|".join(sorted((re.escape(u) for u in _UNITS if u not in "$€"), key=len, reverse=True))
_QUANTITY = re.compile(
    rf"""(?P<day>(?<![\w.-])(?:19|20)\d\d-[01]\d(?:-[0-3]\d)?(?![\w-]))|(?<![\w.])(?:(?P<bound>up\ to|over|more\ than|at\ least|under|less\ than|below|above|about|roughly|approximately|around|[<>~≥≤])\s*)?
    (?P<money>USD\s?|US\$\s?|\$\s?|€\s?|-\s?)?
    (?P<low>{_NUMBER}|\b(?a:{"|".join(sorted(_WORD_NUMBERS, key=len, reverse=True)).replace(" ", "[ ]")})\b)
    (?:\s?(?P<scale1>(?a:thousand|million|billion|trillion|bn|mn|[kmb])(?![\w]))?\s*(?P<sep>-|–|—|\bto\b|\band\b)\s*(?:USD\s?|\$\s?|€\s?)?(?P<high>{_NUMBER})(?![\d]))?
    (?P<plus>\+)?(?:[\s-]?(?P<scale>(?a:thousand|million|billion|trillion|bn|mn|[kmb])(?![\w/])))?(?P<plus2>\+)?
    (?:[\s-]?(?P<unit>(?a:{_UNIT}))(?![\w/]|-[a-z]))?
    (?:(?=(?P<noun>(?:[\s-]?[A-Za-z][\w-]*){{1,4}})))?""",
    re.IGNORECASE | re.VERBOSE,
)


_YEAR = re.compile(r"(?:19|20)\d\d")
# A small b is a bit, a capital one a byte.
_BITS = re.compile(r"[KMGT]b(?:/s| per second)")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number or range as written at `[start:end)` of a text; `low` and `high` are in the dimension's own unit.

    `dimension` is "count" for a bare number, whose `noun` is the words after it. An open range ("70B+", "over 10 billion",
    "<1B", "up to 50%") has an infinite end only when it is a size band ("+", "<", "over", "under"), not for "up to".
    """

    low: float
    high: float
    dimension: str
    noun: str
    start: int
    end: int
    text: str

    def holds(self, other: "Quantity") -> bool:
        """Whether the other quantity lies within this one."""
        return self.dimension == other.dimension and self.low <= other.low and other.high <= self.high


def quantities(text: str) -> list[Quantity]:
    """Every number of a text with its unit, in order. Digits inside names ("trn1", "H100", "GPT-3") are not numbers."""
    return list(_quantities(text))


@lru_cache(maxsize=16_384)
def _quantities(text: str) -> tuple[Quantity, ...]:
    return tuple(_find(text))


def _find(text: str) -> Iterator[Quantity]:
    for match in _QUANTITY.finditer(text):
        if match["day"]:
            yield from _date(match)
            continue
        before = text[match.start("low") - 1 : match.start("low")]
        if before and (
            before.isalnum() or (before == "-" and match.start("low") > 1 and text[match.start("low") - 2].isalnum())
        ):
            continue
        if (found := _quantity(match)) is not None:
            yield from _pair(found, match) if _is_pair(match) else (found,)


def _date(match: re.Match[str]) -> Iterator[Quantity]:
    """An ISO date is a year and, apart, a day (or month) that no other date is."""
    start, written = match.start(), match["day"]
    for dimension, text in (("date", written[:4]), ("day", written)):
        number = float(text.replace("-", ""))
        yield Quantity(number, number, dimension, "", start, start + len(text), text)


def _is_pair(match: re.Match[str]) -> bool:
    """Whether "and" stands between two numbers that "between" does not make a range."""
    joined = (match["sep"] or "").strip().lower() == "and" and not (match["bound"] or match["plus"] or match["plus2"])
    return joined and not match.string[: match.start()].rstrip().lower().endswith("between")


def _pair(found: Quantity, match: re.Match[str]) -> Iterator[Quantity]:
    """ "16 and 32 GB" are two numbers of one unit."""
    for number, written, start, end in (
        (found.low, match["low"], found.start, match.end("low")),
        (found.high, match["high"], match.start("high"), found.end),
    ):
        bare = "date" if _YEAR.fullmatch(written) and not match["scale"] else "count"
        dimension = bare if found.dimension in ("count", "date") else found.dimension
        yield replace(
            found, low=number, high=number, dimension=dimension, start=start, end=end, text=match.string[start:end]
        )


def _quantity(match: re.Match[str]) -> Quantity | None:
    unit = (match["unit"] or "").lower()
    money = (match["money"] or "").strip(" -")
    word_number = not match["low"][0].isdigit()
    if word_number and not (unit or match["scale"] or match["noun"]):
        return None
    scale_name = (match["scale"] or "").lower()
    scale = _SCALES.get(scale_name, 1.0)
    if unit == "s" and _YEAR.fullmatch(match["low"]):
        unit = ""  # "the 1990s"
    dimension, factor = _UNITS[unit] if unit else ("count", 1.0)
    if match["unit"] and _BITS.fullmatch(match["unit"]):
        dimension = "bits/s"
    if (not unit and scale_name in ("b", "bn")) or (
        not unit and scale_name == "billion" and (match["noun"] or "").lower().startswith(("param", "model"))
    ):
        dimension = "parameters"
    if money and unit != "%":
        dimension, factor = "euros" if money == "€" else "money", 1.0
    low = _number(match["low"]) * scale * factor
    high = _number(match["high"]) * scale * factor if match["high"] else low
    if match["scale1"]:
        low = _number(match["low"]) * _SCALES[match["scale1"].lower()] * factor
    low, high = _open(low, high, (match["bound"] or "").lower(), bool(match["plus"] or match["plus2"]))
    if dimension == "count" and _YEAR.fullmatch(match["low"]) and not match["scale"]:
        dimension = "date"
    if dimension == "times" and unit in ("x", "×") and re.match(r"\s*[A-Za-z][\w-]*\d", match["noun"] or ""):
        dimension, unit = "count", ""  # "8x H100" counts
    noun = "" if unit or money else (match["noun"] or "").lower().strip()
    last = max(match.end(group) for group in ("low", "high", "plus", "scale", "plus2", "unit"))
    start = match.start("money") if money else match.start("low")
    return Quantity(low, high, dimension, noun, start, last, match.string[start:last])


def _open(low: float, high: float, bound: str, plus: bool) -> tuple[float, float]:
    if plus or bound in ("over", "more than", "at least", "above", ">", "≥"):
        return low, inf
    if bound in ("under", "less than", "below", "<", "≤"):
        return 0.0, high
    return low, high


def _number(text: str) -> float:
    return float(_WORD_NUMBERS[text.lower()]) if text.lower() in _WORD_NUMBERS else float(text.replace(",", ""))


_BARE = re.compile(rf"[<>~≈≤≥]?\s?{_NUMBER}(?:\s?[-–]\s?{_NUMBER})?\+?")
_HEADER_UNIT = re.compile(
    r"[(\[](?:in )?(?P<enclosed>[^()\[\]]{1,20})[)\]]\s*$|(?<!\bper)[\s,](?P<last>%|[A-Za-z/]*[A-Z][A-Za-z/]*)\s*$"
)


def header_unit(header: str) -> str:
    """The unit at the end of a column's header ("Memory (GB)", "TDP in W", "Network Gbps"); "" where there is none."""
    match = _HEADER_UNIT.search(header)
    unit = (match["enclosed"] or match["last"] or "").strip() if match else ""
    return unit if unit.lower() in _UNITS and unit.lower() not in _UNITS_OF_NO_HEADER else ""


def without_unit(header: str) -> str:
    """A column's header without the unit at its end."""
    return re.sub(r"(?:,|\s+in)$", "", _HEADER_UNIT.sub("", header).rstrip()) if header_unit(header) else header


def is_bare_number(cell: str) -> bool:
    """Whether a table's cell holds nothing but a number or a range of numbers."""
    return bool(_BARE.fullmatch(cell.strip()))


def with_unit(header: str, cell: str) -> str:
    """A table's cell with the unit that its column's header gives to bare numbers."""
    unit = header_unit(header)
    return f"{cell} {unit}" if unit and is_bare_number(cell) else cell


def same(one: Quantity, other: Quantity, *, tolerance: float = 1e-9) -> bool:
    """Whether two quantities are the same number of the same unit; the relative tolerance is for conversions alone."""
    return (
        one.dimension == other.dimension
        and _close(one.low, other.low, tolerance)
        and _close(one.high, other.high, tolerance)
    )


def _close(one: float, other: float, tolerance: float) -> bool:
    return one == other or isclose(one, other, rel_tol=tolerance)


# What a question asks for -> the dimensions that answer it. The first group asks for one thing and nothing else will do.
_ASKED_STRICTLY = (
    # No unit of weight is read but that of emissions: what a card weighs is not said by its watts.
    (r"\bhow (?:much|many (?:kilos?|kilograms?|kg|pounds?|grams?))\b.{0,40}\bweighs?\b|\bhow heavy\b|\bweight of (?:a|an|the|one)\b(?! (?:model|network|layer))", ("weight",)),
    (r"\b(?:in percent|in %|percentage|what percent)\b", ("percent",)),
    (r"\b(?:what|which|as a) (?:factor|multiple)\b", ("times",)),
    (r"\bhow many (?:\w+ )?weights\b", ("parameters",)),
    (r"\b(?:memory|hbm) bandwidth\b", ("bytes/s", "bits/s")),
    (r"\bhow much (?:\w+ ){0,3}?(?:memory|hbm|vram|ram|storage|disk)\b|\b(?:memory|vram|ram|hbm|storage|disk) (?:size|capacity)\b|\bwhat\b.{0,40}\b(?:accelerator|gpu|host|device|hbm|local) (?:memory|storage|disk|ram)\b", ("bytes",)),
    (r"\b(?:network\w*|interconnect|efa)\b.{0,20}\b(?:bandwidth|speed|gbps)\b|\bgbps\b|\bhow fast\b.{0,30}\bnetwork", ("bits/s", "bytes/s")),
    (r"\b(?:tdp|thermal design power|wattage|board power|power (?:draw|envelope|rating|feed))\b|\bhow many (?:kilo)?watts?\b(?!-)|\bwhat (?:does|do|did|will|would|can) .{2,40}\bdraw\b", ("watts",)),
    (r"\b(?:hourly (?:price|cost|(?:rental )?rate(?! .{0,60}\b(?:hit|reach|meet|achieve|sustain|keep)))|rental (?:rate|price|cost)|(?:price|cost|costs|(?<!\w )rate|(?:rental|spot|list|usage|on-demand) rate|charged?|pay|dollars|monthly)\b.{0,40}\b(?:per|an|each|a|every) (?:hour|month|gpu|card|chip|instance|unit|(?:thousand |million )?tokens?|year|[gt]i?b|vcpu|request)\b|how much (?:does|do|is|are|would|will) (?!.{0,60}\b(?:sav|reduc|cut|lower|less|cheap)).{2,60} cost\b|what (?:does|do|did|would) (?!.{0,60}\b(?:sav|reduc|cut|lower|less|cheap)).{2,60} (?:cost|pay)\b|(?:list|unit|spot|on-demand|current|exact) price|price (?:of|for|tag)|how (?:expensive|pricey)|in (?:us )?(?:usd|dollars|euros?)|dollars per (?:hour|month|year))\b", ("money", "euros")),
    (r"\b(?:what|which) year\b|\bwhen (?:was|were|did|will)\b|\bwhen is .{2,40}\b(?:released|available|launched|due|coming|out)\b|\b(?:release|launch|announcement|availability) date\b", ("date",)),
    (r"\bin (?:kilo)?watts?\b|\bin kw\b", ("watts",)),
    (r"\bhow much (?:power|energy|electricity) (?:does|do|is|will)\b", ("watts", "watt-hours", "percent")),
    (r"\bclock (?:speed|rate|frequency)\b|\bhow many [mg]hz\b", ("frequency",)),
    (r"\b(?:flops per watt|flops/w\w*)\b", ("flops/watt",)),
    (r"\bhow many \w*flops\b(?!.{0,6}per watt|/w)", ("flops",)),
    (r"\bhow (?:long|many (?:hours|days|weeks|months|minutes|seconds|years)|often)\b|\bhow much time\b", ("time",)),
    (r"\b(?:what|which) (?:percent\w*|share|fraction)|\bhow many percent\b", ("percent",)),
    (r"\b(?:how (?:much|many).{0,30}|tons? of|tonnes? of) (?:co2|carbon dioxide)\b|\bhow many (?:metric )?(?:tons?|tonnes?)\b", ("mass",)),
)  # fmt: skip
_ASKED_LOOSELY = (
    (r"\b(?:memory|hbm|vram|ram|storage|disk|nvme|gigabytes)\b", ("bytes",)),
    (r"\b(?:network\w*|bandwidth|efa)\b", ("bits/s", "bytes/s")),
    (r"\b(?:watts?|power consumption|power|draws?)\b", ("watts",)),
    (r"\b(?:tflops|petaflops|flops|compute power|teraflops|pflops)\b", ("flops",)),
    (r"\b(?:per watt|/watt)\b", ("flops/watt", "times")),
    (r"\b(?:emit\w*|emissions|tons?|tonnes?)\b", ("mass",)),
    (r"\b(?:cost|price|costs|pay(?! off)|spend|bill|dollars?|usd)\b", ("money", "euros", "percent")),
    (r"\b(?:time|duration|days|hours|weeks)\b", ("time", "percent")),
    (r"\b(?:parameters?|model sizes?|how (?:big|large) .{0,20}models?|size)\b", ("parameters",)),
    (r"\b(?:percent\w*|per cent|%|sav\w+|reduc\w+|discount|cut|cheaper|lower|less)\b", ("percent", "money")),
    (r"\b(?:times|throughput|faster|speed\w*|factor|multiple|fold|better|higher|greener|quicker|more)\b", ("times", "percent")),
)  # fmt: skip
_COUNTED = re.compile(
    r"\b(?:how many|number of|count of)\s+(?P<after>[\w-]+(?:\s(?!(?:is|are|was|were|do|does|did|has|have|can|could|will|would|should|for|in|of|on|at|to|per|with|from|by|the|an?|i|we|you|they|it)\b)[\w-]+)?)|(?P<before>[\w-]+) count\b",
    re.IGNORECASE,
)
# Speaks of a quantity, but asks what belongs to it, what decides, or how it stands to another.
_OF_SOMETHING_ELSE = re.compile(
    r"\b(?:includ\w+|contain\w*|consists?|counts? when|matters?|relative to|in proportion to|should (?:i|we|they|one))\b",
    re.IGNORECASE,
)
_INSTANCE = re.compile(r"\b(?:machines?|box(?:es)?|servers?|vms?|nodes?|hosts?)\b")
_SAME_PHRASE = r"(?!(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|must|per|a|an|the|each|every|in|of|on|for|at|to|by|with|from|and|or)\b)"
_COUNT = re.compile(
    rf"\b(?:how many|number of|(?<!\w )count of)\s+(?P<what>[\w/-]+(?:\s+{_SAME_PHRASE}[\w/-]+){{0,2}})|^\W*(?P<head>[\w-]+) count\b",
    re.IGNORECASE,
)
# A difference is told in percent and as a factor, too, whatever it is a difference of.
_DIFFERENCE = re.compile(
    r"\b(?:by how much|how (?:much|many) (?:more|less|fewer|lower|higher|bigger|larger|smaller)\b)", re.IGNORECASE
)
_RATIOS = frozenset({"percent", "times"})
# "Which counter gives the power in watts?" asks for the counter.
_INSTRUMENT = re.compile(
    r"\b(?:which|what)(?: [\w-]+){1,3} (?:gives|measures|reports|shows|reads|tells|counts|limits|caps)\b",
    re.IGNORECASE,
)
_SIZED = re.compile(
    r"\b(?:how (?:many|much|long|big|large|fast|expensive|often|high|far)|(?:what|which) (?:model )?sizes?|what (?:percent\w*|share|fraction|number|size|amount|bandwidth|factor)|percent\w*|by what(?! (?:names?|means|way|methods?|tools?|terms?)\b)|number of"
    r"|what (?:does|do|can|will|would) .{2,50} (?:save|cost|draw|reduce|cut)\b|what (?:\w+[ -]){0,3}(?:savings?|reduction|speed-?up|discount|improvement|increase|decrease)"
    r"|how\b.{0,12}\b(?:cheap|quick|efficient)\w*)\b",
    re.IGNORECASE,
)


_HEADED = re.compile(
    r"\W*(?:the\s+)?(?:[\w-]+\s+){0,4}?(?:time|costs?|price|memory|bandwidth|throughput|savings?|tdp)(?:\s+per\s+\w+)?(?:\s*:|\s+(?:for|of|in|with)\b)(?!.*\b(?:is|are|was|were|why)\b)",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|do|does|did|can|should|why|which|who|where|compare\w*|vs|versus|or|best|use)\b",
    re.IGNORECASE,
)


_HEADLESS = 12
_ASKING_WORD = re.compile(
    r"\b(?:i|we|you|they|it|what|whats|how|hows|whose|any|name|list|tell|give)\b|^\W*when\b", re.IGNORECASE
)
# "Megawatt-hours of electricity for one run?", "tokens per second on an L4".
_UNIT_FIRST = re.compile(rf"^\W*(?:the\s+)?(?P<unit>{_UNIT})\s+(?:of|for|per)\b", re.IGNORECASE)
_RATE = re.compile(
    r"^\W*(?:the\s+)?(?:[a-z][\w-]*\s+){0,2}?(?P<noun>tokens?|samples?|sequences?|images?|requests?|inferences?|queries|frames?)\s*(?:/|\s+per\s+)\s*(?:s|sec|seconds?|min|minutes?|hours?|h|day)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=1_024)
def asked_dimensions(question: str) -> tuple[frozenset[str], bool]:
    """The dimensions of the quantity that a question asks for, and whether nothing else can answer it.

    "How many X" asks for a count, or for X itself where X is a unit; no dimensions where no quantity is asked for.
    """
    count = _COUNT.search(question)
    if count and (units := [_UNITS[w] for w in (count["what"] or "").lower().split() if w in _UNITS]):
        return frozenset({units[-1][0]}), True
    if is_headless(question) and (first := _UNIT_FIRST.match(question)):
        return frozenset({_UNITS[first["unit"].lower()][0]}), True
    if is_headless(question) and _RATE.match(question):
        return frozenset({"count"}), True
    named = re.search(r"\bin ([a-z]{2,}(?: per [a-z]+|/[a-z]+)?)(?![\w/])(?! \w+ (?:region|series))", question.lower())
    is_instrument = bool(_INSTRUMENT.search(question))
    if named and named[1] in _UNITS and not is_instrument:
        return frozenset({_UNITS[named[1]][0]}), True
    difference = _RATIOS if _DIFFERENCE.search(question) else frozenset[str]()
    strict = [d for pattern, found in _ASKED_STRICTLY if re.search(pattern, question, re.IGNORECASE) for d in found]
    if strict:
        return frozenset(strict) | difference, not is_instrument and not _OF_SOMETHING_ELSE.search(question)
    if count:
        return frozenset({"count"}) | difference, not difference
    loose = [d for pattern, found in _ASKED_LOOSELY if re.search(pattern, question, re.IGNORECASE) for d in found]
    return frozenset(loose) | difference, False


def counted(question: str) -> tuple[str, ...]:
    """The words after "how many", at most two: what is to be counted; a machine or box is an instance."""
    if is_headless(question) and (rate := _RATE.match(question)):
        return (rate["noun"].lower(),)
    match = _COUNTED.search(question)
    return tuple(_INSTANCE.sub("instances", (match["before"] or match["after"]).lower()).split()) if match else ()


def is_headless(question: str) -> bool:
    """Whether a question has no verb of its own: "EFA latency between two nodes"."""
    return len(question.split()) <= _HEADLESS and not _VERB.search(question) and not _ASKING_WORD.search(question)


def is_terse(question: str) -> bool:
    """Whether a question is only a property of something: "memory of the MI300X?"."""
    return len(question.split()) <= 7 and not _VERB.search(question) and bool(asked_dimensions(question)[0])


@lru_cache(maxsize=1_024)
def asks_quantity(question: str) -> bool:
    """Whether the question wants a number for an answer."""
    return bool(_SIZED.search(question) or _HEADED.match(question)) or asked_dimensions(question)[1]


_VAGUE = {
    "time": re.compile(r"\b(?:seconds|minutes|hours|days|weeks|months|years)\b", re.IGNORECASE),
    "count": re.compile(r"\b(?:dozens|hundreds|thousands|millions|billions)\b|\b1000['’]s\b", re.IGNORECASE),
}


def vague(text: str, dimensions: frozenset[str]) -> bool:
    """Whether a text gives a quantity of one of the dimensions without a number: "months", "thousands of"."""
    return any(pattern.search(text) for dimension, pattern in _VAGUE.items() if dimension in dimensions)
