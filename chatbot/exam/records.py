"""Files of records: JSON, JSON Lines and CSV."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from chatbot.answer import ReaderError
from chatbot.exam.golden import GoldenQuestion, is_golden, read_golden
from chatbot.exam.keys import short
from chatbot.exam.objects import Object, answer_of, index_base, is_question, read_object
from chatbot.exam.settling import Written

Read = Written | GoldenQuestion
_LISTED = re.compile(r"\s*(?:\||;|\n)\s*")


def read_json_lines(text: str) -> list[Read]:
    """One object a line; a line that is none has a flaw."""
    parsed = [(number, _parsed(line)) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    base = index_base([value for _, value in parsed if isinstance(value, Mapping)])
    return [_read(value, number, base) for number, value in parsed]


def read_json(text: str, file: str) -> list[Read]:
    """A list of objects, or objects somewhere within others. ReaderError where it is no JSON."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise ReaderError(f"{file} is no JSON ({error.args[0].split(':')[0]}{where}): mend it there.") from error
    found = list(_objects(value))
    base = index_base(found)
    return [_read(o, line, base) for o, line in zip(found, _lines(found, text), strict=True)]


def read_table(text: str, file: str) -> list[Written]:
    """A header and one question a row; columns are found by their names. ReaderError where it is no table."""
    try:
        dialect: Any = csv.Sniffer().sniff(text.split("\n", 1)[0], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=dialect.delimiter, strict=False)
    try:
        rows = list(_rows(reader))
    except csv.Error as error:
        raise ReaderError(f"{file} is no table ({error}): save it as CSV again.") from error
    # Where one index is 0 all count from 0; else nothing tells, and numbered columns go by their numbers.
    base = 0 if any(str(answer_of(row)).strip() == "0" for _, row in rows) else None
    return [read_object(row, line, counted_from=base) for line, row in rows]


def _rows(reader: "csv.DictReader[str]") -> Iterator[tuple[int, Object]]:
    """Each row with the line it begins in; a cell may go over several."""
    before = reader.line_num if reader.fieldnames else 0
    for row in reader:
        yield before + 1, _row(row)
        before = reader.line_num


def _parsed(line: str) -> object:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return value


def _read(value: object, line: int, base: int | None) -> Read:
    if is_golden(value):
        try:
            return read_golden(value, line)
        except (TypeError, KeyError, ValueError):
            return Written(line, short(value["turns"][-1], 160), flaw="one of its golden fields is malformed")
    if is_question(value) and isinstance(value, Mapping):
        return read_object(value, line, counted_from=base)
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return Written(line, short(said, 160), flaw="it is no JSON object with a question, its options and its answer")


def _objects(value: object) -> Iterator[Object]:
    """Every object within a value that is a question, in order; in a list of questions the others too."""
    if isinstance(value, Mapping):
        if is_question(value) or is_golden(value):
            yield value
            return
        for inner in value.values():
            yield from _objects(inner)
    elif isinstance(value, list):
        questions = any(is_question(v) or is_golden(v) for v in value)
        for inner in value:
            if questions and isinstance(inner, Mapping):
                yield inner
            else:
                yield from _objects(inner)


def _lines(objects: list[Object], text: str) -> Iterator[int]:
    """The line of each object: of its first string that is found behind those of the object before."""
    position = 0
    for value in objects:
        strings = [v for v in value.values() if isinstance(v, str) and len(v) > 8]
        written = (json.dumps(said, ensure_ascii=ascii_only) for said in strings for ascii_only in (False, True))
        position = next((place for one in written if (place := text.find(one, position)) >= 0), position)
        yield text.count("\n", 0, position) + 1


def _row(row: Mapping[str | None, Any]) -> Object:
    """A row as an object; options in one cell are separated by | or ; or stand there as a JSON list."""
    fields = {name.lstrip("\ufeff"): (value or "").strip() for name, value in row.items() if isinstance(name, str)}
    for name, value in fields.items():
        if name.strip().lower() in ("options", "choices") and value:
            parsed = _parsed(value)
            fields = {**fields, name: parsed if isinstance(parsed, list | dict) else _LISTED.split(value)}
    return fields
