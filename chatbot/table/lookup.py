"""Read questions about fact tables, and put cells into words: the layers of a model, the cleanest grid."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from chatbot.sizing.model_names import find_model
from chatbot.table.bounds import Reading
from chatbot.table.entities import take_names, vocabulary
from chatbot.table.instances import Row
from chatbot.table.row_phrases import listed
from chatbot.table.writing import Writing

_SHOWN = 8
# More names than this are those of a whole family.
_FAMILY = 3
_LONGEST = 200
# Columns that only say where a row comes from, or are part of its name.
_APART = frozenset({"Source", "As of", "Note", "Place", "Vendor", "Load"})
GREATER = re.compile(r"\b(?:longer|longest|larger|bigger|more|higher|deeper|wider|greater|faster|dirtier|most|highest|largest|biggest|greatest)\b")
LESSER = re.compile(r"\b(?:shorter|smaller|fewer|less|lower|shallower|cleaner|slower|least|lowest|smallest|fewest|shortest)\b")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about things of one kind: which columns of which things, or which thing comes first by a column."""

    key: str
    names: tuple[str, ...]
    columns: tuple[str, ...]
    most: bool | None = None
    greater_first: bool | None = None


def take_things(reading: Reading, key: str, rows: Sequence[Row]) -> tuple[str, ...]:
    return take_names(reading, key, _names(rows)) or _take_models(reading, key, rows)


def _take_models(reading: Reading, key: str, rows: Iterable[Row]) -> tuple[str, ...]:
    """Take models with loosely written names ("qwen 3 32 b", "llama3.1-70b-instruct")."""
    if key != "Model":
        return ()
    known = tuple(dict.fromkeys(_names(rows)))
    named = find_model(reading.text, known)
    if named is None or not named.models or named.end - named.start >= _LONGEST:
        return ()
    reading.text = f"{reading.text[: named.start]} | {reading.text[named.end :]}"
    return named.models


def _names(rows: Iterable[Row]) -> list[str]:
    return [next(iter(row.cells.values())) for row in rows]


_HIGH = re.compile(r"\b(?:most|highest|largest|biggest|greatest|max(?:imum)?|longest|deepest|widest|fastest|dirtiest|filthiest|top|tallest|hungriest|thirstiest|höchste[nrs]?|größte[nrs]?|meisten|schmutzigste[nrs]?|plus (?:haute?|grande?|élevée?|sale)|más (?:alt[oa]|grande|suci[oa])|mayor|maggiore|più (?:alt[oa]|grande|sporc[oa]))\b")
_LOW = re.compile(r"\b(?:least|lowest|smallest|fewest|min(?:imum)?|shortest|shallowest|slowest|cleanest|greenest|thriftiest|niedrigste[nrs]?|kleinste[nrs]?|sauberste[nrs]?|wenigsten|plus (?:basse?|petite?|faible|propre)|menor|más (?:baj[oa]|pequeñ[oa]|limpi[oa])|minore|più (?:bass[oa]|piccol[oa]|pulit[oa]))\b")
_BEST, _WORST = re.compile(r"\b(?:best|beste[nrs]?|meilleure?|mejor|migliore)\b"), re.compile(r"\b(?:worst|schlechteste[nrs]?|schlimmste[nrs]?|pire|peor|peggiore)\b")


def direction(reading: Reading, key: str) -> bool | None:
    """Whether the greatest (True) or the least (False) of a kind is asked for, or neither (None).

    For regions, the best is the least.
    """
    for pattern, most in ((_LOW, False), (_HIGH, True), (_BEST, key != "Region"), (_WORST, key == "Region")):
        if reading.take(pattern.pattern):
            return most
    return None


def take_columns_of(reading: Reading, key: str, rows: Iterable[Row]) -> tuple[str, ...]:
    """Take the columns that a text mentions, in the order of `_words`."""
    known = _words(key, rows)
    groups = [headers for words, headers in vocabulary()["groups"].items() if key == "Accelerator" and reading.take(rf"\b(?:{words})\b")]
    found = [header for header, words in known if reading.take(rf"(?a:(?<![\w-]))(?:{words})(?a:(?![\w-]))")]
    return tuple(dict.fromkeys([*(header for headers in groups for header in headers), *found]))


def _words(key: str, rows: Iterable[Row]) -> list[tuple[str, str]]:
    """The columns of a kind of thing with their patterns: the vocabulary first, then others by their headers."""
    known: Mapping[str, Mapping[str, str]] = vocabulary().get(key, {})
    there = dict.fromkeys(h for row in rows for h in row.cells if h not in _APART and h != key)
    named = [(header, column["words"]) for header, column in known.items() if header in there]
    return [*named, *((header, re.escape(header.lower())) for header in there if header not in known)]


def lines_of(asked: Asked, rows: Sequence[Row]) -> list[tuple[str, str, Row]]:
    """Return column, text and row: for the named things, or for those that come first by the column."""
    if asked.most is not None:
        return _ranked(asked, rows)
    names = list(asked.names)
    if asked.greater_first is not None and len(names) > 1:
        newest = {row.name: row for row in reversed(rows)}
        names.sort(key=lambda name: value_of(newest[name.lower()], asked.columns[0]) or 0.0, reverse=asked.greater_first)
    lines = [(column, text, row) for name in names for column in asked.columns for text, row in _cells(asked.key, name, column, rows)]
    # For a whole family, each figure is reported once.
    return list({(column, row.cells[column]): (column, text, row) for column, text, row in reversed(lines)}.values())[::-1] if asked.key == "Model" and len(names) > _FAMILY else lines


def tell(asked: Asked, lines: Sequence[tuple[str, str, Row]], writing: Writing, lead: str = "") -> None:
    """Write a line for each thing; `lead` opens the first."""
    ranked, own = asked.most is not None, _by_row(asked.key, lines)[:_SHOWN]
    for place, (parts, row) in enumerate(own):
        writing.line(f"{lead if not place else ''}{listed(parts)}", row, opening="- " if (place or not ranked) and len(own) > 1 else "")


def _by_row(key: str, lines: Sequence[tuple[str, str, Row]]) -> list[tuple[list[str], Row]]:
    """Group what is said by row, with one part per column; only the first part names the thing."""
    told: list[tuple[list[str], Row]] = []
    for column, text, row in lines:
        parts = next((parts for parts, other in told if other is row), None)
        if parts is None:
            told.append(([text], row))
        else:
            said = text.removeprefix(_subject(key, column, row)).removeprefix(",").strip()
            verb = said.partition(" ")[0]
            parts.append(said.removeprefix(f"{verb} ") if f" {verb} " in parts[0] else said)
    return told


def _ranked(asked: Asked, rows: Sequence[Row]) -> list[tuple[str, str, Row]]:
    """The first thing by a column, and the next ones for comparison."""
    column = asked.columns[0]
    newest = {row.name: row for row in reversed(rows) if value_of(row, column) is not None and "*" not in row.name}
    found = sorted(newest.values(), key=lambda row: (value_of(row, column) or 0.0, row.name), reverse=bool(asked.most))
    return [(column, _said(asked.key, column, row), row) for row in found[:4]]


def _cells(key: str, name: str, column: str, rows: Sequence[Row]) -> list[tuple[str, Row]]:
    """What the newest rows of a thing say in a column, each once.

    For a region without a figure, it is what its part of the world has.
    """
    own = [row for row in rows if row.name == name.lower() and row.cells.get(column, "")]
    if key == "Region" and not any(value_of(row, column) is not None for row in own):
        own = [row for row in rows if "*" in row.name and name.startswith(row.name.rstrip("*")) and row.cells.get(column)] or own
    dated = [row for row in own if row.as_of == own[0].as_of]
    return list({_said(key, column, row): row for row in dated}.items())


def _said(key: str, column: str, row: Row) -> str:
    cell = row.cells[column]
    says = vocabulary().get(key, {}).get(column, {}).get("says")
    name = _subject(key, column, row)
    if says is None or not any(c.isdigit() for c in cell):
        return f"{name}, {column if column[:2].isupper() else column[0].lower() + column[1:]}: {cell}"
    return f"{name} {says.replace('{}', cell)}"


def _subject(key: str, column: str, row: Row) -> str:
    """The thing, with what tells it apart from others of its name: the place of a region, the memory of an A100."""
    name = next(iter(row.cells.values()))
    told = row.cells.get("Place" if key == "Region" else "Memory" if key == "Accelerator" and column != "Memory" else "", "")
    return f"{name} ({told})" if told else name


def value_of(row: Row, column: str) -> float | None:
    match = _NUMBER.search(row.cells.get(column, "").replace(",", ""))
    return float(match.group()) if match else None
