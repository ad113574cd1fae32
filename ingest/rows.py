"""Fact tables: one row per thing, with its source, looked up by the names in a question instead of searched."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ingest.document import Document
from ingest.fetching.items import Item
from ingest.fetching.sources import find_items
from ingest.formats.loaders import load

# Headers of the first column of a fact table: the kinds of things that questions name.
KEYS = ("Instance type", "Model", "Accelerator", "Region")
# Columns that give the source or the date of each row.
_PROVENANCE = frozenset({"Source", "As of"})

_TABLE_LINES = 0.9
_TABLE = re.compile(
    rf"^(?P<header>\|\s*(?:{'|'.join(KEYS)})\s*\|[^\n]*)\n\|[ :|-]+\n(?P<rows>(?:\|[^\n]*(?:\n|\Z))+)", re.MULTILINE
)
_CELL = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a fact table: its text, at `[start:end)` of the document with this id, and its cells by their headers."""

    document: str
    start: int
    end: int
    text: str
    cells: Mapping[str, str] = field(compare=False, repr=False)


def is_fact_table(text: str) -> bool:
    """Whether a document is a table of facts and little else.

    Its first column names things, and another one gives the source or the date of each row. A search over such rows
    would find a thousand near-copies of one line, and words that are rare in prose would count as common.
    """
    tables = [table for table in _TABLE.finditer(text) if _PROVENANCE & set(_cells(table["header"]))]
    return sum(len(table.group()) for table in tables) >= _TABLE_LINES * len(text)


def read_rows(document: Document) -> Iterator[Row]:
    """Yield the rows of the fact tables in a document, in order."""
    for table in _TABLE.finditer(document.text):
        header = _cells(table["header"])
        start = table.start("rows")
        for line in table["rows"].splitlines() if _PROVENANCE & set(header) else ():
            cells = dict(zip(header, _cells(line), strict=False))
            if cells[header[0]]:  # a row without a name is about nothing that a question could name
                yield Row(document.id, start, start + len(line), line, cells)
            start += len(line) + 1


def load_tables(folder: Path) -> Iterator[Document]:
    """Yield the fact tables among the CSV files of a folder, as `sync` would index them."""
    for item in find_items(folder):
        if isinstance(item, Item) and item.name.endswith(".csv"):
            document = load(item, item.fetch())
            if is_fact_table(document.text):
                yield document


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(line.strip().removeprefix("|").removesuffix("|"))]
