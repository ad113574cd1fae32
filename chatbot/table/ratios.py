"""Ratios of two columns: the price per GB of accelerator memory, the TFLOPS for a dollar."""

import re
from dataclasses import dataclass, replace

from chatbot.table.bounds import NUMBER, Reading
from chatbot.table.columns import DEVICE, HOURLY, WORDS, Column
from chatbot.table.entities import vocabulary
from chatbot.table.instances import Row
from chatbot.working import rounded

_GIB = 1.0737
_UNITS: dict[str, str] = {
    "total": "GiB of accelerator memory", "gb": "GB of accelerator memory", "any": "GB of memory", "memory": "GiB of memory", "vcpus": "vCPU", "network": "Gbps of network bandwidth",
    "storage": "GB of local storage", "Memory bandwidth": "GB/s of memory bandwidth", "Maximum power": "W of accelerator power",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Amount:
    """What a row has in a column: the number, how it is written with its arithmetic ("8 × 80 GB"), and the rows that say so."""

    value: float
    formula: str
    unit: str
    rows: tuple[Row, ...]

    @property
    def written(self) -> str:
        return f"${self.formula}" if self.unit == "$" else f"{self.formula} {self.unit}".rstrip()


@dataclass(frozen=True, slots=True)
class Ratio:
    """One column divided by another: `over` each unit `of`. Each is a column of the table, a column of the accelerators'
    data sheets, "gb" for decimal GB of accelerator memory, or "any" for GB of whatever memory a type has for models. `listed` wants all rows, not the first of them. `device` is
    what the question calls an accelerator."""

    over: str
    of: str
    most: bool = False
    listed: bool = False
    device: str = "accelerator"

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple("total" if name == "gb" else column for name in (self.over, self.of) for column, _ in WORDS if column == name or (name, column) == ("gb", "total"))

    def amounts(self, row: Row) -> tuple[Amount, Amount] | None:
        """Return both amounts of a row; None if the data lacks one of them."""
        over, of = _amount(self.over, row), _amount(self.of, row)
        return (over, of) if over and of else None

    def value(self, row: Row) -> float | None:
        found = self.amounts(row)
        return found[0].value / found[1].value if found else None

    @property
    def title(self) -> str:
        """What comes first: "Cheapest per vCPU", "Most GB of accelerator memory for a dollar"."""
        if self.over == "price":
            return f"{'Most expensive' if self.most else 'Cheapest'} per {self._unit(self.of)}"
        return f"{'Most' if self.most else 'Least'} {self._units(self.over)} {'for a dollar an hour' if self.of == 'price' else f'per {self._unit(self.of)}'}"

    def said(self, value: float, *, whole: bool = False) -> str:
        """Say a ratio: "$0.0329 an hour per GB", or the `whole`: "per GB of accelerator memory"."""
        over, of = (name if whole else name.partition(" ")[0] for name in (self._units(self.over), self._unit(self.of)))
        number = f"{value:,.0f}" if value >= 1000 else rounded(value)
        return f"${rounded(value, money=True)} an hour per {of}" if self.over == "price" else f"{number} {over} {'for a dollar an hour' if self.of == 'price' else f'per {of}'}"

    def written(self, over: Amount, of: Amount) -> str:
        """Write the arithmetic: "$0.526 / 16 GB", "$55.04 / 8 GPUs"."""
        one, two = (f"{amount.written}{f' {self._units(name)}' if not amount.unit else ''}" for name, amount in ((self.over, over), (self.of, of)))
        two = two.removesuffix("s") if of.value == 1 and not of.unit else two
        return f"{one} / {f'({two})' if ' × ' in of.formula else two}"

    def _unit(self, name: str) -> str:
        return self.device if name == "accelerators" else _UNITS.get(name) or f"{'TOPS' if name == 'INT8' else 'TFLOPS'} in {name}"

    def _units(self, name: str) -> str:
        return f"{self._unit(name)}s" if name in ("vcpus", "accelerators") else self._unit(name)


def _amount(name: str, row: Row) -> Amount | None:
    count = row.number("accelerators") or 0.0
    sheet = row.beside.get("Memory bandwidth")
    column: Column | None = next((column for column, _ in WORDS if column == name), None)
    if name == "any":
        name, column = ("gb", None) if count else ("memory", "memory")
    if name == "gb" and count and not sheet:
        column = "total"
    if column is None:
        return _of_sheet("Memory" if name == "gb" else name, count, row, sheet) if count and sheet else None
    number = row.number(column)
    unit = "$" if column == "price" else "" if column in ("vcpus", "accelerators") else "GiB" if column in ("total", "memory") else _UNITS[column].partition(" ")[0]
    return Amount(number, f"{number:.10g}", unit, row.borne_out((column,))) if number else None


def _of_sheet(header: str, count: float, row: Row, sheet: Row) -> Amount | None:
    """Return what all accelerators of a machine have together by their data sheet."""
    cell = sheet.cells.get(header, "")
    match = re.fullmatch(r"([\d.]+) (GiB(?:/s)?|\S+)", cell)
    if not match:
        return None
    binary = match[2].startswith("GiB")
    factors = [*([count] if count != 1 else []), float(match[1]), *([_GIB] if binary else [])]
    value = 1.0
    for factor in factors:
        value *= factor
    return Amount(value, " × ".join(f"{factor:.10g}" for factor in factors), match[2].replace("GiB", "GB"), (row, sheet))


# --- reading --------------------------------------------------------------------------------------------------------------

_MONEY = r"(?:\$|us\$|usd|dollars?|bucks?)(?! ?\d)"
_PRICE = rf"(?:(?:hourly|on[- ]demand|list|current|total) )*(?:prices?|pricing|costs?|rates?|values?|deals?|pay)(?: {HOURLY})?|{_MONEY}(?: {HOURLY})?"
_FILLER = r"(?: (?:instances?|types?|sizes?|machines?|ones?|of|those|them|these|the|an?|aws|ec2|gpu|accelerated|i can get|to rent|\|)){0,6}"
_CHEAP = rf"(?:cheap(?:est|er)|(?:least|less|more|most) expensive|most (?:cost[- ](?:efficient|effective)|economical|affordable)|priciest|dearest|lowest|highest|best){_FILLER}"
_GB = r"gi?bs?|gigs?|gigabytes?|gibibytes?"
_TFLOPS = r"(?:tera|t)?flops?(?:/s)?|tops"
_FORMATS = r"(?P<format>fp32|tf32|bf16|fp16|fp8|fp4|int8)"
_PER = r"(?: ?/ ?|(?:^| )per | for (?:each|every|one) | (?:an?|each|every) (?=(?:gi?b|gigabyte)\b))(?:single |one |each )?"
_COLUMNS: tuple[Column, ...] = ("total", "memory", "vcpus", "network", "accelerators", "storage")


def _measures() -> list[tuple[str, str]]:
    """The columns that can be divided or divide, with their words, in the order in which they are tried."""
    sheet = vocabulary()["Accelerator"]["Memory bandwidth"]["words"]
    words = {column: pattern for column, pattern in WORDS if column in _COLUMNS}
    size = rf"(?:{_GB})(?: of)? "
    return [
        ("price", _PRICE),
        ("format", rf"(?:(?:dense|peak) )*(?:{_FORMATS} )?(?:{_TFLOPS})(?: (?:in|at|of) {_FORMATS.replace('format', 'after')})?"),
        ("Memory bandwidth", rf"(?:[gt]b/s(?: of)?(?: (?:memory|hbm|vram))?(?: bandwidth)?)|(?!bandwidth)(?:{sheet})"),
        ("total", rf"(?:(?P<size>{size}))?(?:{words['total']}|(?:gpu|accelerator|device|chip) ram)"),
        ("network", rf"(?:[gt]bps|gbit/s)(?: of)?(?: (?:network(?:ing)?|efa)(?: bandwidth)?)?|{words['network']}"),
        ("storage", rf"(?:{size})?(?:{words['storage']})"),
        ("memory", rf"(?:{size})?(?:{words['memory']})"),
        ("gb", _GB),
        ("vcpus", rf"{words['vcpus']}|(?:cpu )?cores?"),
        ("accelerators", rf"(?:nvidia |aws )?(?P<device>{DEVICE})s?"),
    ]


_MEASURES = [(name, re.compile(rf"(?:{pattern})(?![\w/]|-(?!hours?\b))"), re.compile(rf"(?:^|(?<=[\s(]))(?:{pattern})(?: {HOURLY})?$")) for name, pattern in _measures()]
# The table itself has them.
_COLUMNS_OF_THEIR_OWN = (("total", "accelerators"), ("memory", "vcpus"))
_HOURS = re.compile(r"[ -](?:hours?|hr)\b")
_CHEAPEST = re.compile(rf"(?<!\w)(?P<word>{_CHEAP})$")
_HIGH = re.compile(r"\b(?:most expensive|more expensive|priciest|dearest|highest|worst)\b")
_LOW = re.compile(r"\b(?:least|lowest|fewest|worst|less|fewer)\b")
_LISTS = re.compile(r"\b(?:rank\w*|sort\w*|order\w*|list|table|compare|compared|all|every|across|side by side|top)\b")
_RANKS = re.compile(rf"\b(?:rank\w*|sort\w*|order\w*|list|compare|top(?: {NUMBER})?|best|cheap(?:est|er)|lowest|highest|worst|most|least|fewest|expensive|which|what|who(?:se)?|give|table)\b")
_FIRST = re.compile(r"\b(?:best|better|cheap(?:est|er)|lowest|highest|worst|most|more|least|less|fewest)\b")
# Words that order rows, which a ratio makes superfluous.
_ORDERING = rf"\b(?:rank(?:ed|ing)?|sort(?:ed)?|order(?:ed)?|top(?: {NUMBER})?|the best|best|(?:most|least|more|less) expensive|cheap(?:est|er)|lowest|highest|worst|most|least|versus|vs\.?|across|better|deal|come out|work out|by)(?!\w)"


def take_ratio(reading: Reading, *, named: bool) -> Ratio | None:
    """Take a ratio of columns and the order by it; without names (of types or families), None unless the question ranks."""
    text = reading.text
    for separator in re.finditer(_PER, text):
        before, after = text[: separator.start()].rstrip(), text[separator.end() :]
        right = next(((name, match) for name, pattern, _ in _MEASURES if (match := pattern.match(after))), None)
        cheapest = _CHEAPEST.search(before)
        left = ("price", cheapest) if cheapest else next(((name, match) for name, _, pattern in _MEASURES if (match := pattern.search(before))), None)
        if not right or not left:
            continue
        end = (_HOURS.match(after, right[1].end()) or right[1]).end()
        over, of = (_named(name, match, text) for name, match in (left, right))
        if over == of or ("price" not in (over, of) and (of not in ("accelerators", "vcpus") or over in ("gb", "any", "accelerators") or (over, of) in _COLUMNS_OF_THEIR_OWN)):
            continue
        if of == "accelerators" and over in vocabulary()["Accelerator"] and not (named or _FIRST.search(text)):
            continue  # what an accelerator has by itself is in its data sheet
        if "gb" in (left[0], right[0]) and not (named or re.search(rf"\b(?:{DEVICE}s?|instances?|types?|machines?|sizes?)\b", text)):
            continue
        if not named and not _RANKS.search(text):
            continue
        reading.text = f"{before[: left[1].start()]} | {after[end:]}"
        most = bool(_HIGH.search(text)) if over == "price" else not _LOW.search(text)
        listed = bool(_LISTS.search(text)) or (named and not _FIRST.search(text))
        reading.take(_ORDERING)
        device = next((match["device"] for _, match in (left, right) if match.groupdict().get("device")), "accelerator")
        return Ratio(over, of, most, listed, device.replace("gpu", "GPU").replace("fpga", "FPGA"))
    return None


_AGAIN = re.compile(r"\W*(?:(?:and|or|but|now|then|what about|how about|same|rank(?:ed)?|sort(?:ed)?|them|by|the) )*")


def next_ratio(question: str, before: Ratio) -> Ratio | None:
    """Return the ratio that a turn asks for in place of the one before it: "and per vCPU?". None if it says anything else."""
    text = _AGAIN.sub("", question.lower(), count=1)
    for said in (text, f"price {text}"):
        reading = Reading(said)
        if (ratio := take_ratio(reading, named=True)) and not re.search(r"[a-z]", reading.text):
            return replace(ratio, listed=before.listed)
    return None


def _named(name: str, match: re.Match[str], text: str) -> str:
    """Return the column that is meant: which number format, and whether accelerator memory in GB or GiB."""
    if name == "format":
        said = match.groupdict()
        found = said["format"] or said["after"] or next((m["format"] for m in re.finditer(_FORMATS, text)), "int8" if "tops" in match.group() else "bf16")
        return found.upper()
    if name == "total" and not re.search(r"\bgib", match.group()) and re.search(rf"\b(?:{_GB})\b", match.group()):
        return "gb"
    if name == "gb":
        return "any" if not re.search(rf"\b(?:v?ram|hbm|{DEVICE}s?)\b", text) else "total" if re.search(r"\bgib", match.group()) else "gb"
    if name == "memory" and not re.search(r"\b(?:host|system|main|cpu|instance)\b", match.group()) and re.search(rf"\b(?:vram|{DEVICE}s?)\b", text):
        return "total"
    return name
