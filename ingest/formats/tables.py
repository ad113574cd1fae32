"""Convert CSV and JSON to Markdown tables, lists and sections."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ingest.document import CorpusError
from ingest.fetching.items import Extracted
from ingest.formats.model_config import COLUMNS, is_model_config, model_name, model_row
from ingest.formats.plain import decode

_SAMPLE = 64 * 1024
_DELIMITERS = ",;\t|"
_MOST_ROWS = 1 << 20  # the row limit of an Excel sheet
_MOST_CELLS = 5_000_000
_LONGEST_VALUE = 200
# A table of more than _FEW_CELLS cells is sparse if it has more than _SPARSE times as many cells as its rows hold
# values.
_SPARSE = 4
_FEW_CELLS = 10_000
_DEEPEST_HEADING = 6
_TITLES = ("title", "name", "heading", "question", "id")
_FEWEST_WORDS = 4
_TEXTS = ("text", "content", "body")


def markdown_table(rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table whose header is the first row.

    Empty rows are left out. Short rows are padded unless that would make most cells empty. Raises CorpusError if there
    are more rows or cells than can be read.
    """
    lines: list[tuple[str, int]] = []
    count = width = 0
    for row in rows:
        cells = [" ".join(value.split()).replace("|", "\\|") for value in row]
        count += len(cells)
        check_size(len(lines), count)
        if any(cells):
            lines.append((f"| {' | '.join(cells)} |", len(cells)))
            width = max(width, len(cells))
    if not lines:
        return ""
    missing = 0 if _is_sparse(len(lines) * width, count) else width
    filled = [line + "  |" * (missing - length) for line, length in lines]
    filled.insert(1, "|" + " --- |" * width)
    return "\n".join(filled)


def _is_sparse(cells: int, filled: int) -> bool:
    """Whether a table is large and mostly empty."""
    return cells > max(_FEW_CELLS, _SPARSE * filled)


def check_size(rows: int, cells: int) -> None:
    """Raise CorpusError for a table that is too large to be read."""
    if rows > _MOST_ROWS:
        raise CorpusError(f"it has a table of more than {_MOST_ROWS:,} rows: split it or keep the rows that matter")
    if cells > _MOST_CELLS:
        raise CorpusError(f"it has a table of more than {_MOST_CELLS:,} cells: split it or keep the columns that matter")


def load_csv(data: bytes) -> Extracted:
    """Load a CSV file. The delimiter is the one that occurs most often in the header line."""
    text = decode(data)
    header = text[:_SAMPLE].lstrip("\n").partition("\n")[0]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=max(_DELIMITERS, key=header.count))
    try:
        return Extracted(markdown_table(rows))
    except csv.Error as error:
        raise CorpusError(f"it is not a readable CSV file ({error}): export it again") from error


def load_json(data: bytes, place: str = "") -> Extracted:
    """Load a JSON file.

    A model's configuration, wherever it is, becomes the row of a table of models, named after the model or its `place`.
    """
    try:
        text = decode(data)
        if is_model_config(config := json.loads(text)):
            row = model_row(config, model_name(config, place))
            return Extracted(
                markdown_table([COLUMNS, [row[header] for header in COLUMNS]]), f"Architecture of {row['Model']}"
            )
        value = _parse(text)
        return Extracted("\n\n".join(_blocks(value, level=2)), _own_title(value))
    except json.JSONDecodeError as error:
        raise CorpusError(f"it is not valid JSON (line {error.lineno}: {error.msg}): mend that line") from error
    except RecursionError as error:
        raise CorpusError("its JSON is nested too deeply: flatten it") from error


def _own_title(value: object) -> str | None:
    title = value.get("title") if isinstance(value, dict) else None
    return title if isinstance(title, str) and _is_short(title) and title.strip() else None


def load_json_lines(data: bytes) -> Extracted:
    records = []
    for number, line in enumerate(decode(data).split("\n"), start=1):
        try:
            records += [_parse(line)] if line.strip() else []
        except (json.JSONDecodeError, RecursionError) as error:
            raise CorpusError(f"line {number} is not valid JSON: mend or remove it") from error
    return Extracted("\n\n".join(_blocks(records, level=2)))


def _parse(text: str) -> object:
    # Numbers stay as written, so that a figure is quoted with the digits of its source.
    return json.loads(text, parse_float=str, parse_int=str, parse_constant=str)


def _blocks(value: object, level: int) -> Iterator[str]:
    """Yield the Markdown blocks of a JSON value; headings inside it begin at `level`."""
    if isinstance(value, dict):
        yield from _mapping_blocks(value, level)
    elif not isinstance(value, list):
        yield _scalar(value)
    elif all(map(_is_scalar, value)):
        yield "\n".join(f"- {_one_line(part)}" for part in value)
    elif all(map(_is_flat, value)) and not any(map(_text_key, value)) and (table := _records_table(value)):
        yield table
    else:
        for number, part in enumerate(value, start=1):
            yield from _record_blocks(part, number, level)


def _mapping_blocks(mapping: Mapping[str, object], level: int) -> Iterator[str]:
    plain = [(key, value) for key, value in mapping.items() if _is_short(value)]
    if plain:
        yield "\n".join(f"- {_one_line(key)}: {_one_line(value)}" for key, value in plain)
    for key, value in mapping.items():
        if not _is_short(value) and value not in ([], {}):
            yield _heading(key, level)
            yield from _blocks(value, level + 1)


def _record_blocks(record: object, number: int, level: int) -> Iterator[str]:
    """Yield one object of an array as a section headed by its own title, with its text before its other fields."""
    if not isinstance(record, dict):
        yield from _blocks(record, level)
        return
    title = next((key for key in _TITLES if _is_short(record.get(key, [])) and record[key]), None)
    text = _text_key(record)
    yield _heading(_scalar(record[title]) if title else f"Item {number}", level)
    if text:
        yield str(record[text])
    yield from _mapping_blocks({key: value for key, value in record.items() if key not in (title, text)}, level + 1)


def _records_table(records: Sequence[Mapping[str, object]]) -> str:
    """Return the table of the records; "" if they have too little in common for one."""
    columns = list(dict.fromkeys(key for record in records for key in record))
    if _is_sparse(len(columns) * len(records), sum(map(len, records))):
        return ""
    return markdown_table([columns, *([_scalar(record.get(column)) for column in columns] for record in records)])


def _text_key(record: object) -> str | None:
    """Return the name of the field that holds a record's running text, if any."""
    if not isinstance(record, dict):
        return None
    found = next((key for key in _TEXTS if isinstance(record.get(key), str) and record[key].strip()), None)
    # An answer in an FAQ is running text; "C" or "42" is not.
    said = record.get("answer")
    return found or ("answer" if isinstance(said, str) and len(said.split()) >= _FEWEST_WORDS else None)


def _heading(words: str, level: int) -> str:
    return f"{'#' * min(level, _DEEPEST_HEADING)} {' '.join(words.split())}"


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _one_line(value: object) -> str:
    return " ".join(_scalar(value).split())


def _is_scalar(value: object) -> bool:
    return not isinstance(value, dict | list)


def _is_short(value: object) -> bool:
    return _is_scalar(value) and len(text := _scalar(value)) <= _LONGEST_VALUE and "\n" not in text


def _is_flat(value: object) -> bool:
    return isinstance(value, dict) and bool(value) and all(map(_is_short, value.values()))
