"""The rows of an index's fact tables, read once per generation of the index, and the merged rows of instance types."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from chatbot.per_index import per_index
from chatbot.table.columns import ACCELERATOR, AS_OF, FAMILY, HEADERS, REQUIRED, TYPE, Column
from chatbot.table.entities import accelerator_names, vocabulary
from ingest import Chunk, Document, Index, read_rows

_FIRST_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
# Default region and purchase option of a price; the corpus has prices for this region.
REGION, PURCHASE = "us-east-1", "on demand"


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One thing in one table; its text is `[start:end)` of the document of `chunk`.

    `beside` holds rows of other tables about the same thing, by the headers that only they have.
    """

    cells: Mapping[str, str]
    chunk: Chunk
    start: int
    end: int
    beside: Mapping[str, "Row"] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return next(iter(self.cells.values())).lower()

    @property
    def family(self) -> str:
        return self.cells[FAMILY].lower()

    @property
    def dated(self) -> str:
        """The date in the row, or ""."""
        return self.cells.get(AS_OF, "")

    @property
    def as_of(self) -> str:
        """The date of the row or, if it has none, of its document; "" if neither has one."""
        return self.dated or self.chunk.document.source.published or ""

    @property
    def listed(self) -> bool:
        """Whether EC2 still lists the type, as far as the table says."""
        return "absent" not in self.cells.get("Generation", "")

    @property
    def runs_models(self) -> bool:
        """Whether its accelerators, if it has any, are made for models: no FPGAs, and none for video."""
        return not re.search(r"FPGA|media accelerator", self.cells.get(ACCELERATOR, ""))

    def says(self, column: Column) -> str:
        """The cell of a column; "" if it is empty or no table has the column."""
        return self.source(column).cells.get(HEADERS[column], "")

    def source(self, column: Column) -> "Row":
        """The row that has a column: this one, or one beside it."""
        return self.beside.get(HEADERS[column], self)

    def borne_out(self, columns: Sequence[Column]) -> tuple["Row", ...]:
        """The rows that support what the columns say; this row is left out if the ones beside it cover everything."""
        told = dict.fromkeys(self.source(column) for column in columns if self.says(column))
        return tuple(dict.fromkeys((self, *told) if self in told or not told else told))

    def number(self, column: Column) -> float | None:
        """The first number in the cell of a column; 0 for "none", None if there is no number."""
        cell = self.says(column)
        match = _FIRST_NUMBER.search(cell)
        return float(match.group()) if match else 0.0 if cell == "none" else None

    @property
    def accelerator_names(self) -> frozenset[str]:
        """What its accelerator is called, in lower case, without maker and kind ("h100"), and its architecture ("hopper")."""
        cell = self.cells[ACCELERATOR]
        return accelerator_names(cell) | {name for name, cells in vocabulary()["architectures"].items() if cell in cells}


@dataclass(frozen=True, slots=True, eq=False)
class Instances:
    """All tables of instance types of an index merged: the rows of each instance type, newest first.

    `others` are rows of tables with something else about instance types, such as prices or power; `sheets` are the data
    sheets of each accelerator, by its name.
    """

    rows: Mapping[str, tuple[Row, ...]]
    others: Mapping[str, tuple[Row, ...]]
    families: frozenset[str]
    accelerators: frozenset[str]
    documents: frozenset[str]
    sheets: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)

    @property
    def newest(self) -> list[Row]:
        """The newest row of every instance type, in the order of the tables."""
        return [rows[0] for rows in self.rows.values()]

    @lru_cache(maxsize=32)  # noqa: B019, there is one of these for each generation of an index
    def at(self, region: str = "", purchase: str = "") -> "Instances":
        """Return the same with the rows of other tables beside each type.

        Prices are those of a region and a way to buy, on demand by default. The default region is us-east-1 or, if the
        tables do not have it, the first by name that they have.
        """
        known = {row.cells["Region"] for rows in self.others.values() for row in rows if "Region" in row.cells}
        region = region or (REGION if REGION in known or not known else min(known))
        return replace(self, rows={name: self._joined(rows, region, purchase or PURCHASE) for name, rows in self.rows.items()})

    def _joined(self, rows: tuple[Row, ...], region: str, purchase: str) -> tuple[Row, ...]:
        newest, *older = rows
        wanted = {"Region": region, "Purchase": purchase}
        beside: dict[str, Row] = {}
        for other in self.others.get(newest.name, ()):
            if all(other.cells.get(header, value) == value for header, value in wanted.items()):
                beside |= {header: other for header in other.cells if header not in newest.cells and header not in beside}
        # Of several memory sizes of an accelerator, the sheet of the one that is nearest to its own.
        each = newest.number("each") or 0.0
        if sheet := min(self.sheets.get(newest.cells[ACCELERATOR].lower(), ()), key=lambda sheet: abs((sheet.number("memory") or 0.0) - each), default=None):
            beside |= {header: sheet for header in sheet.cells if header not in newest.cells and header not in beside}
        return (replace(newest, beside=beside), *older)


Tables = Mapping[str, tuple[Row, ...]]
"""The rows of all fact tables by the header of their first column, newest first."""


@per_index
def load_tables(index: Index) -> Tables:
    """Load the rows of every fact table of an index."""
    found: dict[str, list[Row]] = {}
    for document in index.tables():
        for row in _rows(document, index):
            found.setdefault(next(iter(row.cells)), []).append(row)
    return {key: tuple(sorted(rows, key=lambda row: row.as_of, reverse=True)) for key, rows in found.items()}


@per_index
def load_instances(index: Index) -> Instances:
    """Load the instance types of an index."""
    rows = load_tables(index).get(TYPE, ())
    described, others = (_by_name(r for r in rows if (r.cells.keys() >= REQUIRED) == whole) for whole in (True, False))
    return Instances(
        rows=described,
        others=others,
        families=frozenset(of_type[0].family for of_type in described.values()),
        accelerators=frozenset(name for of_type in described.values() for name in of_type[0].accelerator_names),
        documents=frozenset(row.chunk.document.id for row in rows),
        sheets=_by_name(iter(load_tables(index).get(ACCELERATOR, ()))),
    )


def _by_name(rows: Iterator[Row]) -> dict[str, tuple[Row, ...]]:
    found: dict[str, tuple[Row, ...]] = {}
    for row in rows:
        found[row.name] = (*found.get(row.name, ()), row)
    return found


def _rows(document: Document, index: Index) -> Iterator[Row]:
    rows = list(read_rows(document))
    chunks = index.document_chunks(document.id) if rows else []
    starts = [chunk.start for chunk in chunks]
    for row in rows:
        chunk = chunks[max(0, bisect_right(starts, row.start) - 1)]
        if chunk.start <= row.start and row.end <= chunk.end:
            yield Row(row.cells, chunk, row.start, row.end)
