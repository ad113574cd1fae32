"""Conditions with a number: "at least 96 GB of GPU memory", "between 8 and 16 vCPUs", "memory >= 64"."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from math import inf

from chatbot.language.quantities import WORD_NUMBERS
from chatbot.table.columns import DEVICE, WORDS, Column

_SPELT = [word for word, n in WORD_NUMBERS.items() if 1 <= n <= 12]
NUMBER = rf"(?:\d+(?:,\d{{3}})*(?:\.\d+)?|(?:{'|'.join(_SPELT)}|single|sixteen)\b)"
_LEAST = r"at ?least|no(?:t)? (?:less|fewer) than|(?:with )?a minimum of|minimum(?: of)?|>=|≥"
_MOST = r"at most|up to|no(?:t)? more than|(?:with )?a maximum of|maximum(?: of)?|<=|≤"
_MORE = r"more than|over|greater than|larger than|bigger than|above|exceeding|>"
_LESS = r"less than|fewer than|smaller than|under|below|<"
_BEFORE = rf"(?:(?:(?P<least>{_LEAST})|(?P<most>{_MOST})|(?P<more>{_MORE})|(?P<less>{_LESS})|exactly|only|just|=)\s*)?"
_AFTER = r"(?:\s?(?:(?P<up{0}>\+|or (?:more|above|higher|greater|larger|better)|and (?:up|above))|(?P<down{0}>or (?:less|fewer|below|smaller))))?"
_UNIT = r"(?:[\s-]?(?P<unit>gi?b|gigs?|gigabytes?|ti?b|terabytes?|gbps|gbit/s|gigabits?(?: per second)?|tbps|dollars?|bucks?|usd)(?![\w/]))?"
_AMOUNT = rf"(?<![\w.]){_BEFORE}(?P<low>{NUMBER}){_AFTER.format(1)}\s?[x×]?{_UNIT}{_AFTER.format(2)}"
# "Between 8 and 16 vCPUs", "8 to 16 vCPUs", "from 8 GB to 16 GB", "8-16 vCPUs".
_RANGE = (
    rf"(?:(?P<between>between)\s|from\s)?(?<![\w.-])(?P<low>{NUMBER})(?:\s?(?:[gt]i?b(?:ps)?|dollars?|bucks?))?(?:\sto\s|[-–]|(?(between)\sand\s|(?!)))"
    rf"(?P<high>{NUMBER}){_UNIT}"
)
_IS = r"(?: (?:of|is|are|being|that is))?:?\s?"
# The memory of a device is the memory of each: "one GPU with at least 40 GB", "80 GB on one chip", "24 GB cards". RAM
# is the host's.
_SIZE = rf"(?P<size>(?:between {NUMBER}(?:\s?[gt]i?b)? and |(?:from )?(?<![\w.-]){NUMBER}(?:\s?[gt]i?b)?(?: to |[-–]))?(?:(?:{_LEAST}|{_MOST}|{_MORE}|{_LESS}|exactly|only|just)\s*)?(?<![\w.]){NUMBER}\+?[\s-]?(?:[gt]i?b|gigs?|gigabytes?)\b\+?(?: or (?:more|less|better))?)"
_OF_DEVICE = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?P<device>{DEVICE}s?)(?:,? (?:with|of|having|has|have|at|(?:that|which) (?:has|have))(?: an?)?)? {_SIZE}(?: (?:of )?(?:memory|mem|hbm)\b)?(?! ?(?:of )?(?:v?ram|system|host|main|total|gpu|accelerator|network|local|nvme|ssd))",
        rf"{_SIZE} (?:of )?(?:memory |hbm |v?ram )?(?:on|in|per|for) (?:(?:one|an?|each|every|single|the|that|this|its) )*(?P<device>){DEVICE}\b",
        rf"{_SIZE} (?:nvidia |amd )?(?P<device>{DEVICE}s?)\b(?! ?(?:memory|mem|v?ram))",
        rf"{_SIZE} (?:(?:of )?(?:{DEVICE} )?(?:memory|vram|hbm) )?(?:on )?(?P<device>each|apiece)\b",
        rf"\b(?P<device>each)(?: of (?:them|which))? (?:with|of|having|has|have) {_SIZE}(?: (?:of )?(?:{DEVICE} )?(?:memory|vram|hbm)\b)?",
    )
)
# "A single GPU has 100 GB" does not say how many there are.
_ONE_HAS = re.compile(rf"\b(?:an?|one|each|every)(?: single)? (?:nvidia |amd )?{DEVICE} (?:has|holds?|offers?|comes with) {_SIZE}(?: of)?(?: memory)?")
_OF_ALL = re.compile(rf"{_SIZE} (?:in total|in all|altogether|combined|together|total)\b(?! (?:of )?(?:host |system |main )?(?:memory|ram|storage|disk))")
# Accelerators are sold by decimal GB and described in GiB, so "40 GB" is anything from 40 GB to 40 GiB. 1 GB is 0.931
# GiB, less rounding.
DECIMAL = 0.93


@dataclass(frozen=True, slots=True)
class Bound:
    """A range for the number in a column, in GiB, GB of disk, or Gbps.

    The number must lie inside it or, if it is `denied`, outside. The ends are included unless it is `open`.
    """

    column: Column
    low: float = -inf
    high: float = inf
    open: bool = False
    denied: bool = False

    def holds(self, value: float) -> bool:
        """Whether a value meets the condition."""
        return (self.low < value < self.high if self.open else self.low <= value <= self.high) != self.denied


@dataclass
class Reading:
    """The text of a question, out of which everything understood is taken."""

    text: str

    def take(self, pattern: str) -> list[re.Match[str]]:
        """Return the matches in order and replace each with a bar, which no other pattern crosses."""
        found = [match for match in re.finditer(pattern, self.text) if match.group().strip()]
        for match in reversed(found):
            self.text = f"{self.text[: match.start()]} | {self.text[match.end() :]}"
        return found


def take_columns(reading: Reading) -> tuple[Column, ...]:
    """Take the columns that a text mentions."""
    return tuple(column for column, words in WORDS if reading.take(rf"\b(?:{words})(?!\w)"))


_MONEY = r"\s(?P<unit>dollars?|bucks?|usd)"
_SUMS = tuple(pattern.replace(_UNIT, _MONEY) for pattern in (_RANGE, _AMOUNT))


def take_bounds(reading: Reading, accelerators: Collection[str]) -> tuple[tuple[Bound, ...], tuple[str, ...]]:
    """Take the conditions with a number, and the names of accelerators, with or without a number before them."""
    # A sum of money is a price, whatever stands beside it: "local disk under 10 dollars".
    bounds = [_bound("price", match) for pattern in _SUMS for match in reading.take(pattern)]
    counted, names = _accelerator_bounds(reading, accelerators)
    bounds += counted + _column_bounds(reading)
    for pattern in (_RANGE, rf"{_AMOUNT}(?!\w)"):
        for match in reading.take(pattern) if all(found["unit"] for found in re.finditer(pattern, reading.text)) else ():
            bounds.append(_bound(_of_unit(match["unit"] or ""), match))
    return tuple(bounds), names


def take_amounts(reading: Reading) -> tuple[Bound, ...]:
    """Take the amounts without a word for a column. The unit decides: memory, network for a rate, price for money."""
    amount = rf"{_AMOUNT}(?!\w)".replace(_UNIT, _UNIT.removesuffix("?"))
    return tuple(_bound(_of_unit(match["unit"]), match) for match in reading.take(amount))


def in_dollars(text: str) -> str:
    """Rewrite sums of money as amounts: "$1.50" becomes "1.50 dollars", "a dollar" becomes "1 dollar"."""
    text = re.sub(r"\b(?:a|one) (?=dollar\b|buck\b)", "1 ", text, flags=re.IGNORECASE)
    text = re.sub(r"\ba quarter (?=an hour\b)", "0.25 dollars ", text)
    text = re.sub(r"(\$\s?\d[\d,]*(?:\.\d+)?(?:-|–| to )|\bbetween \$\s?\d[\d,]*(?:\.\d+)? and )(?=\d)", r"\1$", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(\d+) ?(?:cents?|¢)(?:/hr?\b)?", lambda match: f"{int(match[1]) / 100:g} dollars", text)
    return re.sub(r"\$\s?(\d[\d,]*(?:\.\d+)?)(?:\s?/\s?h(?:r|our)?\b)?", r"\1 dollars", text)


_ABOVE_TWELVE = {word: int(n) for word, n in WORD_NUMBERS.items() if n > 12 and n != 100}
_SPELT_OUT = re.compile(rf"\b(?:{'|'.join(sorted(_ABOVE_TWELVE, key=len, reverse=True)).replace('-', '[ -]')})\b")
_HUNDRED = re.compile(rf"\b(?:(?P<times>an?|{'|'.join(_SPELT)}) )?hundred\b(?: (?:and )?(?P<rest>\d{{1,2}}|{'|'.join(_SPELT)})\b)?")


def in_figures(text: str) -> str:
    """Write numbers in digits: "a hundred and twenty-eight" becomes "128". Single words up to "twelve" stay."""
    text = _SPELT_OUT.sub(lambda match: str(_ABOVE_TWELVE[match.group().replace(" ", "-")]), text)
    return _HUNDRED.sub(lambda match: f"{100 * value_of((match['times'] or 'a').replace('an', 'a')) + value_of(match['rest'] or '0'):.0f}", text)


def of_each_device(text: str) -> str:
    """Rewrite a device's memory as that of each: "one GPU with 40 GB" becomes "one GPU | 40 GB of memory per GPU"."""
    text = _ONE_HAS.sub(r" | \g<size> of memory per gpu", text)
    text = _OF_ALL.sub(r"\g<size> of gpu memory", text) if re.search(rf"\b{DEVICE}s?\b", text) else text
    for pattern in _OF_DEVICE:
        text = pattern.sub(r"\g<device> | \g<size> of memory per gpu", text)
    return text


def _accelerator_bounds(reading: Reading, accelerators: Collection[str]) -> tuple[list[Bound], tuple[str, ...]]:
    """Take conditions on accelerators: "8 H100" is how many, "80 GB A100" the memory of each. Also return their names."""
    written = "|".join(sorted(map(re.escape, accelerators), key=len, reverse=True)) or r"(?!)"
    name = rf"(?:nvidia |amd |aws |habana |intel )?(?P<name>{written})(?:['’]?s)?(?: (?:tensor core )?(?:gpu|accelerator|chip|card|fpga)s?)?(?![\w-])"
    sized = reading.take(rf"{name} (?:with|of|at) {_AMOUNT}(?= each| per| *$|[?.]| of memory (?:each|per))")
    counted = [*sized, *reading.take(rf"{_AMOUNT}\s?(?:of )?{name}")]
    bounds = [_bound("each" if match["unit"] else "accelerators", match) for match in counted]
    found = [match["name"] for match in (*counted, *reading.take(rf"(?<![\w-]){name}"))]
    # "Trainium" means all its generations.
    lines = [other for said in found for other in ([said, *sorted(a for a in accelerators if a.rstrip("0123456789") == said != a)] if said.isalpha() else [said])]
    return bounds, tuple(dict.fromkeys(lines))


def _column_bounds(reading: Reading) -> list[Bound]:
    """Take conditions on columns: "96 GB of GPU memory" and "GPU memory of 96 GB"."""
    found: list[Bound] = []
    for column, words in WORDS:
        if not re.search(words, reading.text):
            continue  # without a match, each of the four patterns takes far longer
        for pattern in (
            rf"{_RANGE}(?: of)? (?:{words})(?!\w)",
            rf"{_AMOUNT}[\s-]?(?:of )?(?:{words})(?!\w){_AFTER.format(3)}",
            rf"\b(?:{words}){_IS}{_RANGE}",
            rf"\b(?:{words}){_IS}{_AMOUNT}(?!\w)",
        ):
            found += [_bound(column, match) for match in reading.take(pattern)]
    return found


def _bound(column: Column, match: re.Match[str]) -> Bound:
    """Return the condition in a match.

    GB of memory count as GiB, as most people write them. GB of accelerator memory may be decimal GB, too.
    """
    unit = match["unit"] or ""
    said = {name.rstrip("123") for name, text in match.groupdict().items() if text}
    factor = 1.0 if not unit.startswith("t") else 1000.0 if column == "storage" or unit == "tbps" else 1024.0
    column = "network" if column == "efa" else column  # an adapter is as fast as its network
    value = value_of(match["low"]) * factor
    least = value * (DECIMAL if column in ("each", "total") and "ib" not in unit else 1.0)
    if "high" in said:
        return Bound(column, least, value_of(match["high"]) * factor)
    if said & {"least", "up"}:
        return Bound(column, least)
    if said & {"most", "down"}:
        return Bound(column, high=value)
    if said & {"more", "less"}:
        return Bound(column, value, open=True) if "more" in said else Bound(column, high=least, open=True)
    return Bound(column, least, value)


def _of_unit(unit: str) -> Column:
    return "network" if unit in ("gbps", "tbps", "gbit/s") or unit.startswith("gigabit") else "price" if unit in ("dollar", "dollars", "buck", "bucks", "usd") else "memory"


def value_of(written: str) -> float:
    return 1.0 if written in ("a", "single") else float(WORD_NUMBERS[written] if written in WORD_NUMBERS else written.replace(",", ""))
