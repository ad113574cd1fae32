"""Read files of records: JSON, JSON Lines and CSV.

They may be the project's own, those of data sets, or Inspect AI samples; fields are found under many names.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from chatbot.answer import ReaderError
from chatbot.exam.golden import is_golden, read_golden
from chatbot.exam.keys import KeyProblem, plain, read_key, short
from chatbot.exam.question import ExamQuestion, Skipped
from chatbot.exam.settling import Found, settle, skipped, without_letters

Object = Mapping[str, Any]
# The accepted field names, in lower case, with "_" for spaces and hyphens.
_TEXT = ("question", "question_text", "questiontext", "text", "prompt", "stem", "input", "query", "q", "title")
_OPTIONS = ("options", "choices", "answers", "answer_options", "answer_choices", "alternatives", "possible_answers")
# One field per option: A, B, …; option_a, "Option A"; option1, "choice 1".
_OPTION = (r"(?:(?:option|choice|answer)_?)?([a-h])", r"(?:option|choice|answer)_?([1-9])")
_ANSWER = (
    "answer", "correct_answer", "correct_answers", "correctanswer", "correctanswers", "correct", "correct_option",
    "correct_options", "correct_choice", "answer_key", "answerkey", "answer_index", "correct_index", "answer_idx", "key",
    "target", "label", "solution", "answers",
)  # fmt: skip
_TOPIC = ("topic", "domain", "category", "subject", "section", "tag")
_DIFFICULTY = ("difficulty", "level")
_EXPLANATION = ("explanation", "rationale", "reason", "feedback", "overall_explanation")
_ID = ("id", "uid", "question_id", "questionid", "number", "no")
_KIND = ("type", "question_type", "kind")
_NAME = ("letter", "id", "key", "label", "identifier", "option")
_SAID = ("text", "value", "option", "content", "answer", "body", "title", "label")
_FLAG = ("correct", "is_correct", "iscorrect", "right", "is_right", "isright", "is_answer", "isanswer")
_OTHER_KINDS = ("hotspot", "order", "sequence", "match", "drag", "fill", "short", "essay", "numer", "open", "cloze", "simulation")  # fmt: skip


def read_json_lines(text: str) -> list[Found]:
    """Read one object per line; a line that is not a question object is reported as skipped."""
    parsed = [(number, _parsed(line)) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    base = _index_base(value for _, value in parsed)
    return [_read(value, number, base) for number, value in parsed]


def read_json(text: str, file: str) -> list[Found]:
    """Read a list of objects, or objects nested within others; raises ReaderError for invalid JSON."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise ReaderError(f"{file} is no JSON ({error.args[0].split(':')[0]}{where}): mend it there.") from error
    found = list(_objects(value))
    base = _index_base(found)
    return [_read(o, line, base) for o, line in zip(found, _lines(found, text), strict=True)]


def read_table(text: str, file: str) -> list[Found]:
    """Read a header and one question per row; columns are found by name. Raises ReaderError for an invalid table."""
    try:
        delimiter = csv.Sniffer().sniff(text.split("\n", 1)[0], delimiters=",;\t|").delimiter
    except csv.Error:
        delimiter = ","
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        rows = list(_rows(reader))
    except csv.Error as error:
        raise ReaderError(f"{file} is no table ({error}): save it as CSV again.") from error
    # An index of 0 means that all count from 0. Otherwise the base is unknown, and a number can only name a numbered column.
    base = 0 if any(str(_given(_lowered(row))).strip() == "0" for _, row in rows) else None
    return [_question(row, line, base) for line, row in rows]


def _parsed(line: str) -> object:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return value


def _objects(value: object) -> Iterator[object]:
    """Yield every question object within a value, in order; of a list with questions, all of its objects."""
    if _is_question(value):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _objects(inner)
    elif isinstance(value, list):
        among_questions = any(map(_is_question, value))
        for inner in value:
            yield from [inner] if among_questions and isinstance(inner, Mapping) else _objects(inner)


def _lines(objects: Sequence[object], text: str) -> Iterator[int]:
    """Yield the line of each object: where its first longer string is found, from the place of the object before on."""
    position = 0
    for value in objects:
        strings = [v for v in value.values() if isinstance(v, str) and len(v) > 8] if isinstance(value, Mapping) else []
        written = (json.dumps(said, ensure_ascii=ascii_only) for said in strings for ascii_only in (False, True))
        # One character on, so that an object that begins alike is found after this one.
        position = next((place + 1 for one in written if (place := text.find(one, position)) >= 0), position)
        yield text.count("\n", 0, position) + 1


def _rows(reader: "csv.DictReader[str]") -> Iterator[tuple[int, Object]]:
    """Yield each row with its first line; options in one cell are a JSON list or separated by |, ; or line breaks."""
    before = reader.line_num if reader.fieldnames else 0
    for row in reader:
        fields: dict[str, Any] = {n: (value or "").strip() for n, value in row.items() if isinstance(n, str)}
        for name in fields:
            if name.strip().lower() in ("options", "choices") and fields[name]:
                parsed = _parsed(fields[name])
                fields[name] = parsed if isinstance(parsed, list | dict) else re.split(r"\s*[|;\n]\s*", fields[name])
        yield before + 1, fields
        before = reader.line_num


def _is_question(value: object) -> bool:
    """Whether an object has a question text and either options or a key, or is a golden question."""
    if not isinstance(value, Mapping):
        return False
    fields = _lowered(value)
    asks = _first(fields, _TEXT) is not None and (_offered(fields) is not None or _first(fields, _ANSWER) is not None)
    return asks or is_golden(value)


def _read(value: object, line: int, base: int | None) -> Found:
    if is_golden(value):
        try:
            return read_golden(value, line)
        except (TypeError, KeyError, ValueError):
            return Skipped("", line, "one of its golden fields is malformed", short(value["turns"][-1], 160))
    if _is_question(value) and isinstance(value, Mapping):
        return _question(value, line, base)
    reason = "it is no JSON object with a question, its options and its answer"
    return Skipped("", line, reason, short(_string(value), 160))


def _question(value: Object, line: int, base: int | None) -> Found:
    """Read the question in an object. Indexes count from `base`, which is None if unknown."""
    fields = _lowered(value)
    metadata = _lowered(fields["metadata"]) if isinstance(fields.get("metadata"), Mapping) else {}
    every = {**metadata, **{name: said for name, said in fields.items() if said not in (None, "")}}
    options = _options(_offered(fields))
    texts = without_letters([text for _, text, _ in options])
    question = ExamQuestion(
        id=_string(_first(fields, _ID)),
        text=_text(_first(fields, _TEXT)),
        options=tuple(texts),
        topic=_string(_first(every, _TOPIC)),
        difficulty=_string(_first(every, _DIFFICULTY)),
        explanation=_string(_first(every, _EXPLANATION)),
        covered=fields["covered"] if isinstance(fields.get("covered"), bool) else None,
        line=line,
    )
    kind = _string(_first(fields, _KIND)).lower()
    if kind.startswith(_OTHER_KINDS):
        return skipped(question, f"it is of the type {kind!r}, which has no options to choose from")
    return settle(question, filter(None, _answers(fields, options, texts, base)))


def _answers(
    fields: Object, options: Sequence[tuple[str, str, bool]], texts: Sequence[str], base: int | None
) -> Iterator[tuple[int, ...]]:
    """Yield the indexes of the options that are marked as right, then of those that are stated as the answer."""
    yield tuple(place for place, (_, _, right) in enumerate(options) if right)
    yield _places(_given(fields), [name.casefold() for name, _, _ in options], texts, base)


def _text(value: object) -> str:
    """Return the question text; of a conversation, as in Inspect samples, the user's messages, which may be in parts."""
    if isinstance(value, list):
        said = [_text(_first(m, ("content", "text"))) for m in value if isinstance(m, Mapping) and m.get("role", "user") == "user"]
        return "\n\n".join(filter(None, said))
    return _string(value)


def _offered(fields: Object) -> object | None:
    """Return the options, from one field or from one field per option; None if there are none."""
    for name in _OPTIONS:
        value = fields.get(name)
        if isinstance(value, dict) or (isinstance(value, list) and (name != "answers" or len(value) > 1)):
            return value
    for pattern in _OPTION:
        matches = {m[1].upper(): _string(fields[name]) for name in sorted(fields) if (m := re.fullmatch(pattern, name))}
        filled = {key: text for key, text in matches.items() if text.strip()}
        if len(filled) > 1:
            return filled
    return None


def _options(offered: object) -> list[tuple[str, str, bool]]:
    """Return name, text and right mark of each option.

    Options are strings, `{A: …}`, `{letter, text}`, `{text, correct}`, or parallel lists of labels and texts.
    """
    if isinstance(offered, Mapping):
        fields = _lowered(offered)
        if isinstance(texts := fields.get("text"), list):
            labels = fields.get("label") or fields.get("labels")
            names = labels if isinstance(labels, list | str) and labels else [""] * len(texts)
            return [(_string(name), _string(text), False) for name, text in zip(names, texts, strict=False)]
        return [(str(name), *_option(value)[1:]) for name, value in offered.items()]
    return [_option(value) for value in offered] if isinstance(offered, list) else []


def _option(value: object) -> tuple[str, str, bool]:
    if not isinstance(value, Mapping):
        return "", _string(value), False
    fields = _lowered(value)
    said = _first(fields, _SAID)
    name = _first({k: v for k, v in fields.items() if v is not said}, _NAME)
    return _string(name), _string(said), _first(fields, _FLAG) in (True, "true", "True", "1", "yes")


# --- which options are the answer


def _given(fields: Object) -> Any:
    """Return the value that is stated as the answer, None if there is none."""
    offered = _offered(fields)
    values = (fields.get(name) for name in _ANSWER)
    return next((v for v in values if v not in (None, "") and v is not offered and not isinstance(v, Mapping)), None)


def _index_base(values: Iterable[object]) -> int:
    """Return the base of a file's indexes: 1 if an index equals the number of its options and none is 0, else 0."""
    found: list[tuple[int, int]] = []
    for fields in (_lowered(value) for value in values if isinstance(value, Mapping) and _is_question(value)):
        options, given = _options(_offered(fields)), _given(fields)
        if not any(name for name, _, _ in options):
            found += [(i, len(options)) for i in (given if isinstance(given, list) else [given]) if type(i) is int]
    return int(any(index == count for index, count in found) and not any(index == 0 for index, _ in found))


def _places(given: Any, names: Sequence[str], texts: Sequence[str], base: int | None) -> tuple[int, ...]:
    """Return the indexes of the right options, from one answer or a list; () if none is given.

    Raises KeyProblem if the answer is ambiguous or unknown.
    """
    if given is None:
        return ()
    values = given if isinstance(given, list) else [given]
    several = re.split(r"\s*[,;|]\s*", given.strip()) if isinstance(given, str) else []
    if several and all(name.casefold() in names for name in several):
        values = several
    found = [_place(value, names, texts, base) for value in values]
    known = [place for place in found if place is not None]
    if known and len(known) < len(found):
        raise KeyProblem("its answer mixes indexes and texts")
    places = known or [place for value in values for place in read_key(_string(value), texts)]
    if len(set(places)) < len(places):
        raise KeyProblem("its answer names an option twice")
    return tuple(sorted(places))


def _place(value: object, names: Sequence[str], texts: Sequence[str], base: int | None) -> int | None:
    """Return the option that an index or an option's id names; None for anything else, such as a letter or a text."""
    said = _string(value)
    same = [i for i, text in enumerate(texts) if plain(text) == plain(said)]
    if said and said.casefold() in names and same in ([], [names.index(said.casefold())]):
        return names.index(said.casefold())
    if isinstance(value, bool) or not re.fullmatch(r"\d{1,2}", said):
        return None
    if isinstance(value, str) and same:
        # A numeric option text may also be another option's index.
        if int(said) < len(texts) and int(said) not in same:
            raise KeyProblem(f"the answer {said!r} may be an option's number or its text")
        return None
    if base is None:
        raise KeyProblem(f"the answer {said!r} may count from 0 or from 1: write letters")
    if not 0 <= int(said) - base < len(texts):
        raise KeyProblem(f"the answer {said!r} names an option that is not there")
    return int(said) - base


def _lowered(value: Object) -> dict[str, Any]:
    return {re.sub(r"[\s-]", "_", str(key).strip().lower()): said for key, said in value.items()}


def _first(fields: Object, names: Sequence[str]) -> Any:
    return next((fields[name] for name in names if fields.get(name) not in (None, "")), None)


def _string(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
