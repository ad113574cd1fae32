"""Pieces of hardware with their rows: which are meant by a name, and what the tables say about each."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from chatbot.language.names import names
from chatbot.presentation.comparison_table import Comparison, property_of
from chatbot.sizing.facts import Accelerator, Facts, Instance, Price, number, short
from chatbot.table.entities import accelerator_names
from chatbot.table.row_phrases import listed
from chatbot.working import Working, rounded
from ingest import Row


@dataclass(frozen=True, slots=True)
class _Measure:
    """A figure to compare by: `cell` is its column, `table` is the kind of row that has it, and `ahead` is what is said
    of the best side. `less` means that less is better."""

    noun: str
    cell: str
    table: Literal["sheet", "instance", "price"]
    ahead: str = "has {times} the {noun} ({best} against {other})"
    less: bool = False


MEASURES = {
    "value": _Measure("memory bandwidth for the price of an hour", "", "price", "can generate up to {times} the tokens per dollar in bf16 ({best} against {other})"),
    "bandwidth": _Measure("memory bandwidth", "Memory bandwidth", "sheet"),
    "bf16": _Measure("compute in BF16 for prompts and training", "BF16", "sheet"),
    "fp8": _Measure("compute in FP8", "FP8", "sheet"),
    "memory": _Measure("accelerator memory", "Memory", "sheet"),
    "power": _Measure("power at most", "Maximum power", "sheet", "draws {best} at most against {other}", less=True),
    "network": _Measure("network bandwidth", "Network", "instance"),
    "price": _Measure("price an hour", "Price per hour", "price", "is cheaper ({best} an hour against {other}, {times} as much)", less=True),
    "vcpus": _Measure("number of vCPUs", "vCPUs", "instance"),
    "host": _Measure("host memory", "Memory", "instance"),
}
_MOST_BESIDE = 3
_OF_MACHINES = ("vCPUs", "Memory", "Network")
_OF_SHEETS = ("Memory", "Memory bandwidth", "BF16", "FP8", "Maximum power")


@dataclass(frozen=True, slots=True)
class Side:
    """A piece of hardware with its rows. An accelerator by itself has no instance; an instance type may have no accelerator."""

    name: str
    sheet: Accelerator | None
    instance: Instance | None = None
    price: Price | None = None

    @property
    def number(self) -> float:
        return self.instance.accelerators if self.instance else 1.0

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(held.row for held in (self.instance, self.sheet, self.price) if held)

    def row(self, measure: str) -> Row | None:
        held = {"sheet": self.sheet, "instance": self.instance, "price": self.price}[MEASURES[measure].table]
        return held.row if held else None

    def says(self, measure: str) -> str:
        """The cell of a measure: that of one accelerator, or of the machine."""
        row = self.row(measure)
        if measure == "memory" and self.instance:
            return self.instance.row.cells.get("Accelerator memory each", "")
        return row.cells.get(MEASURES[measure].cell, "") if row else ""

    def figure(self, measure: str) -> float | None:
        """The value of a measure, in one unit for all sides. Figures from a data sheet are multiplied by the number of
        accelerators."""
        if measure == "value":
            bandwidth = self.figure("bandwidth")
            return bandwidth / self.price.usd_per_hour if bandwidth and self.price else None
        if measure == "memory":
            of_card = self.sheet.memory_gib if self.sheet else None
            each = self.instance.accelerator_memory_gib_each if self.instance else of_card
        else:
            row = self.row(measure)
            each = number(row, MEASURES[measure].cell) if row else None
        return each * self.number if each and MEASURES[measure].table == "sheet" else each


def candidates(name: str, text: str, facts: Facts) -> list[Side] | None:
    """The candidates for a name: an accelerator, an instance type, or the types of a family, smallest first; None if no
    table has it."""
    known = [facts.instances[name]] if name in facts.instances else [i for i in facts.instances.values() if i.family == name]
    if known:
        known.sort(key=lambda i: (i.accelerators, i.vcpus))
        return [Side(i.name, facts.accelerator(i), i, facts.price(i.name)) for i in known]
    sheets = [sheet for full, found in facts.accelerators.items() if name in accelerator_names(full) for sheet in found]

    def is_named(sheet: Accelerator) -> bool:
        size = sheet.row.cells["Memory"].split()[0]
        return bool(re.search(rf"\b{size}\s?gb", text, re.IGNORECASE))

    # Of the A100s with 40 and with 80 GB take the one whose size is named, else the larger.
    sheet = max(reversed(sheets), key=lambda sheet: (is_named(sheet), sheet.memory_gib or 0.0), default=None)
    return [Side(short(sheet.name), sheet)] if sheet else None


def of_one_kind(found: Sequence[Sequence[Side]]) -> list[Side]:
    """One side of each of the candidates: machines without the accelerators in them, or only accelerators."""
    within = {side.sheet.name for kin in found for side in kin if side.sheet and side.instance}
    kept = [kin for kin in found if any(s.instance for s in kin) or not within & {s.sheet.name for s in kin if s.sheet}]
    if any(kin[0].instance is None for kin in kept):
        # A machine has more than a bare accelerator, so only accelerators are compared.
        largest = [kin[-1] for kin in kept]
        kept = [[replace(s, name=short(s.sheet.name), instance=None)] if s.sheet else [] for s in largest]
    return list({side.name: side for side in _alike(kept)}.values())


def _alike(kept: Sequence[Sequence[Side]]) -> Iterator[Side]:
    """One type of each family: with one accelerator if each family has such a type with an on-demand price, else the largest."""
    singles = [next((side for side in kin if side.number == 1 and (side.price or not side.instance)), None) for kin in kept]
    for kin, single in zip(kept, singles, strict=True):
        if kin:
            yield single if single and all(singles) else kin[-1]


def rented(sides: Sequence[Side], facts: Facts) -> list[Side]:
    """Accelerators as they are rented: each on the cheapest type with one of it, if all have such a type, else on the largest."""

    def sold(side: Side) -> list[tuple[Instance, Price]]:
        if side.instance or not side.sheet:
            return []
        having = (i for i in facts.instances.values() if facts.accelerator(i) is side.sheet)
        priced = [(i, price) for i in having if (price := facts.price(i.name))]
        return sorted(priced, key=lambda one: (one[0].accelerators, -one[1].usd_per_hour))

    types = [sold(side) for side in sides]
    singles = [min((one for one in some if one[0].accelerators == 1), key=lambda one: one[1].usd_per_hour, default=None) for some in types]
    chosen = singles if all(singles) else [some[-1] if some else None for some in types]
    pairs = zip(sides, chosen, strict=True)
    return [replace(side, name=one[0].name, instance=one[0], price=one[1]) if one else side for side, one in pairs]


def line(side: Side, working: Working) -> str:
    """What the rows say about a side, in their own words."""
    of_sheet = sheet_of(side)
    if not side.instance:
        return f"{of_sheet} {working.cite(*side.rows)}."
    each = f"; {'each accelerator: ' if side.number > 1 else ''}{of_sheet}" if of_sheet else ""
    return f"{cells_of(side)}{each} {working.cite(*side.rows)}."


def sheet_of(side: Side) -> str:
    """What the data sheet of a side's accelerator says, with its memory if no machine has it."""
    cells = side.sheet.row.cells if side.sheet else {}
    parts = [
        f"{cells['Memory']} of memory" if cells and not side.instance else "",
        f"{cells['Memory bandwidth']} of memory bandwidth" if _has(cells, "Memory bandwidth") else "",
        f"{cells['BF16']} in BF16" if _has(cells, "BF16") else "",
        f"{cells['FP8']} in FP8" if _has(cells, "FP8") else "no FP8" if cells.get("FP8") == "no" else "",
        f"{cells['Maximum power']} at most" if _has(cells, "Maximum power") else "",
    ]
    return listed([part for part in parts if part])


def cells_of(side: Side) -> str:
    """What the row of a machine says, and its price."""
    assert side.instance
    cells, accelerator = side.instance.row.cells, side.instance.accelerator
    parts = [
        f"{cells['Accelerators']} × {accelerator}, {cells['Accelerator memory total']} of accelerator memory" if accelerator else "",
        f"{cells['vCPUs']} vCPUs",
        f"{cells['Memory']} of memory",
        f"{cells['Network']} of network",
        f"EFA: {cells['EFA']}" if cells.get("EFA") else "",
    ]
    priced = f"; {side.says('price')} an hour on demand in {side.price.region}" if side.price else ""
    return f"{', '.join(part for part in parts if part)}{priced}"


def figures_beside(question: str, facts: Facts) -> tuple[Comparison, tuple[str, ...]] | None:
    """What the tables say about the two or three pieces of hardware that a question names, with the ids of these tables."""
    named = [candidates(name.name.lower(), question, facts) for name in names(question) if name.kind != "region"]
    sides = of_one_kind([kin for kin in named if kin])
    # "Trainium" may be its first generation or all of them.
    lines = {f"{side.name}{generation}" for side in sides for generation in (2, 3)}
    if not 1 < len(sides) <= _MOST_BESIDE or lines & set(map(short, facts.accelerators)):
        return None
    told = [_cells(side) for side in sides]
    headers = dict.fromkeys(name for cells in told for name in cells)
    found = [property_of(name, [[(cells[name], 0)] if name in cells else [] for cells in told]) for name in headers]
    equal = [one for one in found if len({cell.text for cell in one.cells}) == 1]
    differing = [one for one in found if one not in equal]
    if not differing:
        return None
    apart = tuple(replace(one, cells=tuple(replace(cell, numbers=()) for cell in one.cells)) for one in differing)
    common = tuple(f"{one.name} {one.cells[0].text} {one.unit}".rstrip() for one in equal)
    tables = dict.fromkeys(row.document for side in sides for row in side.rows[: None if side.instance else 1])
    return Comparison("", tuple(side.name for side in sides), apart, common, ()), tuple(tables)


def _cells(side: Side) -> dict[str, str]:
    """The figures of a side by their names, its machine's before its accelerator's."""
    sheet = side.sheet.row.cells if side.sheet else {}
    if (instance := side.instance) and side.sheet:
        row = instance.row.cells
        cells = {
            "Accelerators": f"{side.number:g} × {instance.accelerator}",
            "Accelerator memory": row.get("Accelerator memory total", ""),
            "Memory bandwidth of each": sheet.get("Memory bandwidth", ""),
            "BF16 of each": sheet.get("BF16", ""),
            "Network": row.get("Network", ""),
        }
    elif instance:
        cells = {header: instance.row.cells.get(header, "") for header in _OF_MACHINES}
    else:
        cells = {header: sheet.get(header, "") for header in _OF_SHEETS}
    if instance and side.price:
        cells[f"Price per hour {side.price.terms}"] = f"${rounded(side.price.usd_per_hour, money=True)}"
    return {name: cell for name, cell in cells.items() if any(c.isdigit() for c in cell) or cell == "no"}


def _has(cells: Mapping[str, str], header: str) -> bool:
    return any(c.isdigit() for c in cells.get(header, ""))
