"""Read numbers with their units from text, and compare them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf, isclose

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
WORD_NUMBERS: dict[str, float] = {
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

# unit as it is written, in lower case -> (dimension, factor to the dimension's own unit)
UNITS: dict[str, tuple[str, float]] = {
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
    "weights": ("parameters", 1), "parameters": ("parameters", 1), "parameter": ("parameters", 1), "params": ("parameters", 1), "param": ("parameters", 1),
}  # fmt: skip
# In a header, these mean something else or only repeat what the number says.
_UNITS_OF_NO_HEADER = frozenset({"x", "×", "times", "t", "m", "fold", "-fold", "parameter", "param", "weights"})
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
WRITTEN_UNIT = "|".join(sorted((re.escape(u) for u in UNITS if u not in "$€"), key=len, reverse=True))
_QUANTITY = re.compile(
    rf"""(?P<day>(?<![\w.-])(?:19|20)\d\d-[01]\d(?:-[0-3]\d)?(?![\w-]))|(?<![\w.])(?:(?P<bound>up\ to|over|more\ than|at\ least|under|less\ than|below|above|about|roughly|approximately|around|[<>~≥≤])\s*)?
    (?P<money>USD\s?|US\$\s?|\$\s?|€\s?|-\s?)?
    (?P<low>{_NUMBER}|\b(?a:{"|".join(sorted(WORD_NUMBERS, key=len, reverse=True)).replace(" ", "[ ]")})\b|\ba(?=[ ](?:b|tr)illion\b))
    (?:\s?(?P<scale1>(?a:thousand|million|billion|trillion|bn|mn|[kmb])(?![\w]))?\s*(?P<sep>-|–|—|\bto\b|\band\b)\s*(?:USD\s?|\$\s?|€\s?)?(?P<high>{_NUMBER})(?![\d]))?
    (?P<plus>\+)?(?:[\s-]?(?P<scale>(?a:thousand|million|billion|trillion|bn|mn|[kmb])(?![\w/])))?(?P<plus2>\+)?
    (?:[\s-]?(?P<unit>(?a:{WRITTEN_UNIT}))(?![\w/]|-[a-z]))?
    (?:(?=(?P<noun>(?:[\s-]?[A-Za-z][\w-]*){{1,4}})))?""",
    re.IGNORECASE | re.VERBOSE,
)


_YEAR = re.compile(r"(?:19|20)\d\d")
# In a rate, a lower-case b means bits, an upper-case one bytes. Without "/s" both mean bytes: people type "80 Gb" for memory.
_BITS = re.compile(r"[KMGT]b(?:/s| per second)")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number or range as written at `[start:end)` of a text. `low` and `high` are in the dimension's own unit.

    `dimension` is "count" for a bare number, and `noun` then has the words after it. A size band is an open range:
    "70B+" and "over 10 billion" have no upper end, "<1B" and "under 1B" begin at 0. "Up to 50%" is just 50%.
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
    """Return each number in a text with its unit, in order. Digits in names ("trn1", "H100", "GPT-3") are not numbers."""
    return list(_quantities(text))


@lru_cache(maxsize=8_192)
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
    """Yield two quantities for an ISO date: its year, and its exact day (or month)."""
    start, written = match.start(), match["day"]
    for dimension, text in (("date", written[:4]), ("day", written)):
        number = float(text.replace("-", ""))
        yield Quantity(number, number, dimension, "", start, start + len(text), text)


def _is_pair(match: re.Match[str]) -> bool:
    """Whether "and" joins two separate numbers, instead of the ends of a range ("between 16 and 32")."""
    joined = (match["sep"] or "").strip().lower() == "and" and not (match["bound"] or match["plus"] or match["plus2"])
    return joined and not match.string[: match.start()].rstrip().lower().endswith("between")


def _pair(found: Quantity, match: re.Match[str]) -> Iterator[Quantity]:
    """Split "16 and 32 GB" into two numbers with the same unit."""
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
    dimension, factor = UNITS[unit] if unit else ("count", 1.0)
    if match["unit"] and _BITS.fullmatch(match["unit"]):
        dimension = "bits/s"
    if (not unit and scale_name in ("b", "bn")) or (
        not unit
        and scale_name in ("billion", "trillion")
        and (match["noun"] or "").lower().startswith(("param", "model", "weight"))
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
    if text.lower() == "a":
        return 1.0  # "a billion"; "a million" is more often the unit of a price
    return float(WORD_NUMBERS[text.lower()]) if text.lower() in WORD_NUMBERS else float(text.replace(",", ""))


_BARE = re.compile(rf"[<>~≈≤≥]?\s?{_NUMBER}(?:\s?[-–]\s?{_NUMBER})?\+?")
_HEADER_UNIT = re.compile(
    r"[(\[](?:in )?(?P<enclosed>[^()\[\]]{1,20})[)\]]\s*$|(?<!\bper)[\s,](?P<last>%|[A-Za-z/]*[A-Z][A-Za-z/]*)\s*$"
)


def header_unit(header: str) -> str:
    """Return the unit at the end of a column's header ("Memory (GB)", "TDP in W", "Network Gbps"), or ""."""
    match = _HEADER_UNIT.search(header)
    unit = (match["enclosed"] or match["last"] or "").strip() if match else ""
    return unit if unit.lower() in UNITS and unit.lower() not in _UNITS_OF_NO_HEADER else ""


def without_unit(header: str) -> str:
    """Return a column's header without the unit at its end."""
    return re.sub(r"(?:,|\s+in)$", "", _HEADER_UNIT.sub("", header).rstrip()) if header_unit(header) else header


def is_bare_number(cell: str) -> bool:
    """Whether a table cell is only a number or a range of numbers."""
    return bool(_BARE.fullmatch(cell.strip()))


def with_unit(header: str, cell: str) -> str:
    """Return a table cell. If it is a bare number, append the unit from its column's header."""
    unit = header_unit(header)
    return f"{cell} {unit}" if unit and is_bare_number(cell) else cell


def same(one: Quantity, other: Quantity, *, tolerance: float = 1e-9) -> bool:
    """Whether two quantities have the same value and dimension. The relative tolerance only covers unit conversions."""
    return (
        one.dimension == other.dimension
        and _close(one.low, other.low, tolerance)
        and _close(one.high, other.high, tolerance)
    )


def _close(one: float, other: float, tolerance: float) -> bool:
    return one == other or isclose(one, other, rel_tol=tolerance)


_VAGUE = {
    "time": re.compile(r"\b(?:seconds|minutes|hours|days|weeks|months|years)\b", re.IGNORECASE),
    "count": re.compile(r"\b(?:dozens|hundreds|thousands|millions|billions)\b|\b1000['’]s\b", re.IGNORECASE),
}


def vague(text: str, dimensions: frozenset[str]) -> bool:
    """Whether a text gives a quantity of one of the dimensions without a number: "months", "thousands of"."""
    return any(pattern.search(text) for dimension, pattern in _VAGUE.items() if dimension in dimensions)
