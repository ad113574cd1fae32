"""Table rows as evidence: each cell with its column's header, and the caption above them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from chatbot.evidence.unit import Unit
from chatbot.language.quantities import is_bare_number
from chatbot.language.wording import plain
from ingest import Chunk

RULE = re.compile(r"^\s*(?:\|\s*)?:?-+:?\s*(?:\|\s*:?-+:?\s*)*(?:\|\s*)?$")
_TABLE = re.compile(
    r"^(?P<header>[^\n]*)\n(?P<rule>(?=[^\n]*\|)(?=[^\n]*-)[ \t|:-]+)\n(?P<rows>(?:[^\n]*\|[^\n]*(?:\n|\Z))*)", re.M
)
_LONGEST_CAPTION = 90
_UNIT_HEADER = re.compile(r"units?(?: of measure(?:ment)?)?", re.IGNORECASE)


def is_row(chunk: Chunk, start: int, line: str) -> bool:
    return (line.count("|") >= 2 and line.strip().startswith("|")) or (
        line.count("|") >= 1 and bool(_header(chunk, start))
    )


def row_of(chunk: Chunk, start: int, line: str) -> Iterator[Unit]:
    header = _header(chunk, start)
    if header is None or RULE.match(line):
        return
    cells = _measured(tuple(zip(_padded(header, _cells(line)), _cells(line), strict=False)))
    body = line.rstrip()
    first = len(body) - len(body.lstrip())
    yield Unit(chunk, start + first, start + len(body), body[first:], "row", chunk.headings, cells)


def _measured(cells: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return the cells with units, for a row that has the unit of its numbers in a separate column."""
    unit = next((cell for header, cell in cells[1:] if _UNIT_HEADER.fullmatch(header)), "")
    if not unit:
        return cells
    kept = (pair for pair in cells if not _UNIT_HEADER.fullmatch(pair[0]))
    return tuple((header, f"{cell} {unit}" if is_bare_number(cell) else cell) for header, cell in kept)


def _padded(header: list[str], cells: list[str]) -> list[str]:
    return header + [""] * max(0, len(cells) - len(header))


def _header(chunk: Chunk, start: int) -> list[str] | None:
    """Return the header cells for the table row at an offset; None for the header itself and outside tables."""
    return next((_cells(header) for header, rows, end in _tables(chunk.document.text) if rows <= start < end), None)


@lru_cache(maxsize=64)
def _tables(text: str) -> tuple[tuple[str, int, int], ...]:
    """Return the tables of a text as (header line, start of the rows, end of the rows)."""
    found = (m for m in _TABLE.finditer(text) if "|" in m["rule"] and RULE.match(m["rule"]))
    return tuple((m["header"], m.start("rows"), m.end("rows")) for m in found)


def _cells(line: str) -> list[str]:
    return [plain(cell.replace("\\|", "|")) for cell in re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))]


def with_captions(found: Iterable[Unit]) -> Iterator[Unit]:
    """Move the caption of a table into `above` of its rows, instead of a unit before them."""
    caption: Unit | None = None
    headed: tuple[str, ...] = ()
    for unit in found:
        if unit.kind == "row":
            headed = (caption.plain,) if caption else headed
            caption = None
            yield replace(unit, above=(*unit.above, *headed)) if headed else unit
            continue
        if caption:
            yield caption
        caption, headed = (unit if _is_caption(unit) else None), ()
        if not caption:
            yield unit
    if caption:
        yield caption


def _is_caption(unit: Unit) -> bool:
    return unit.kind == "sentence" and unit.text.rstrip()[-1:].isalnum() and len(unit.text) <= _LONGEST_CAPTION
