"""Questions as JSON objects: the project's own, data sets' and Inspect AI's samples, by whatever names their fields have."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from chatbot.exam.keys import KeyProblem, plain, short
from chatbot.exam.question import Proof, letter
from chatbot.exam.settling import Written, without_letters

Object = Mapping[str, Any]
_TEXT = ("question", "question_text", "questiontext", "text", "prompt", "stem", "input", "query", "q", "title")
_OPTIONS = ("options", "choices", "answers", "answer_options", "answer_choices", "alternatives", "possible_answers")
_ANSWER = (
    "answer", "correct_answer", "correct_answers", "correctanswer", "correctanswers", "correct", "correct_option",
    "correct_options", "correct_choice", "answer_key", "answerkey", "answer_index", "correct_index", "answer_idx", "key",
    "target", "label", "solution", "answers",
)  # fmt: skip
_TOPIC = ("topic", "domain", "category", "subject", "section", "tag")
_DIFFICULTY = ("difficulty", "level")
_EXPLANATION = ("explanation", "rationale", "reason", "feedback", "overall_explanation")
_ID = ("id", "uid", "question_id", "questionid", "number", "no")
_NAME = ("letter", "id", "key", "label", "identifier", "option")
_SAID = ("text", "value", "option", "content", "answer", "body", "title", "label")
_FLAG = ("correct", "is_correct", "iscorrect", "right", "is_right", "isright", "is_answer", "isanswer")
_OTHER_KINDS = ("hotspot", "order", "sequence", "match", "drag", "fill", "short", "essay", "numer", "open", "cloze", "simulation")  # fmt: skip


def is_question(value: object) -> bool:
    """Whether an object asks something and offers options, or has a key for it."""
    if not isinstance(value, Mapping):
        return False
    fields = _lowered(value)
    return _first(fields, _TEXT) is not None and (_offered(fields) is not None or _first(fields, _ANSWER) is not None)


def read_object(value: Object, line: int, *, counted_from: int | None = 0) -> Written:
    """The question in an object. Indexes count from `counted_from`; None where that is not known."""
    fields = _lowered(value)
    metadata = _lowered(fields["metadata"]) if isinstance(fields.get("metadata"), Mapping) else {}
    written = Written(
        line=line,
        text=_text(_first(fields, _TEXT)),
        id=_string(_first(fields, _ID)),
        topic=_string(_first(fields, _TOPIC) or _first(metadata, _TOPIC)),
        difficulty=_string(_first(fields, _DIFFICULTY) or _first(metadata, _DIFFICULTY)),
        explanation=_string(_first(fields, _EXPLANATION) or _first(metadata, _EXPLANATION)),
        proof=_proof(fields.get("proof")),
        covered=fields["covered"] if isinstance(fields.get("covered"), bool) else None,
    )
    kind = _string(fields.get("type") or fields.get("question_type") or fields.get("kind")).lower()
    if any(kind.startswith(other) for other in _OTHER_KINDS):
        return replace(written, flaw=f"it is of the type {kind!r}, which has no options to choose from")
    try:
        return _with_options(written, fields, counted_from)
    except KeyProblem as problem:
        return replace(written, flaw=str(problem))


def index_base(objects: Sequence[Object]) -> int:
    """From where the indexes of a file count: 1 where one of them is past the last option and none is 0, else 0."""
    found = [pair for o in objects if is_question(o) for pair in _indexes(_lowered(o))]
    return int(any(index == count for index, count in found) and not any(index == 0 for index, _ in found))


def answer_of(value: Object) -> Any:
    """What an object states as its answer, None for nothing."""
    return _given(_lowered(value))


def _indexes(fields: Object) -> list[tuple[int, int]]:
    """Each index that an object gives as its answer, with the number of its options; none where these have ids."""
    options = _options(_offered(fields))
    given = _given(fields)
    values = given if isinstance(given, list) else [given]
    has_ids = any(name for name, _, _ in options)
    return [] if has_ids else [(v, len(options)) for v in values if isinstance(v, int) and not isinstance(v, bool)]


def _with_options(written: Written, fields: Object, counted_from: int | None) -> Written:
    options = _options(_offered(fields))
    texts = without_letters([text for _, text, _ in options])
    names = [name for name, _, _ in options]
    marked = tuple(i for i, (_, _, right) in enumerate(options) if right)
    written = replace(written, options=tuple(texts), marked=marked)
    given = _given(fields)
    if given is None:
        return written
    found = [_place(value, names, texts, counted_from) for value in _listed(given, names)]
    places = [place for places in found if not isinstance(places, str) for place in places]
    keys = [key for key in found if isinstance(key, str)]
    if len(set(places)) < len(places):
        raise KeyProblem("its answer names an option twice")
    if places and keys:
        raise KeyProblem("its answer mixes indexes and texts")
    if places:
        if marked not in ((), tuple(sorted(places))):
            raise KeyProblem("two answers are given and they differ")
        return replace(written, marked=tuple(sorted(places)))
    # Several texts or letters are one key together.
    return replace(written, keys=tuple(keys) if len(keys) < 2 else (_joined(keys, texts),))


def _listed(given: object, names: Sequence[str]) -> list[object]:
    """The answers one by one: a string of several ids is several."""
    if isinstance(given, list):
        return given
    parts = [part.strip() for part in re.split(r"[,;|]", given)] if isinstance(given, str) else []
    ids = {name.casefold() for name in names if name}
    return [*parts] if parts and all(part.casefold() in ids for part in parts) else [given]


def _place(value: object, names: Sequence[str], texts: Sequence[str], counted_from: int | None) -> tuple[int, ...] | str:
    """The place that an index or an id names; a string that is neither stays a key to be read."""
    said = _string(value)
    by_id = [i for i, name in enumerate(names) if name and name.casefold() == said.casefold()]
    if by_id and not any(plain(said) == plain(text) and [i] != by_id for i, text in enumerate(texts)):
        return tuple(by_id)
    if isinstance(value, bool) or not re.fullmatch(r"\d{1,2}", said):
        return said
    if isinstance(value, str) and any(plain(said) == plain(text) for text in texts):
        # A text that is a number may be another option's index.
        if int(said) < len(texts) and plain(texts[int(said)]) != plain(said):
            raise KeyProblem(f"the answer {said!r} may be an option's number or its text")
        return said
    if counted_from is None:
        raise KeyProblem(f"the answer {said!r} may count from 0 or from 1: write letters")
    place = int(said) - counted_from
    if not 0 <= place < len(texts):
        raise KeyProblem(f"the answer {said!r} names an option that is not there")
    return (place,)


def _joined(keys: Sequence[str], texts: Sequence[str]) -> str:
    """A list of letters or of whole texts as one key."""
    places = []
    for key in keys:
        found = [i for i, text in enumerate(texts) if plain(text) == plain(key)]
        is_letter = re.fullmatch(r"\s*([A-Ha-h])\s*\.?\s*", key)
        places += found or ([ord(is_letter[1].upper()) - ord("A")] if is_letter else [-1])
    if -1 in places or len(places) != len(keys):
        raise KeyProblem(f"the answer {short(', '.join(keys))!r} is none of the options")
    return ", ".join(letter(place) for place in places)


def _options(offered: object) -> list[tuple[str, str, bool]]:
    """Name, text and mark of each option: from strings, `{A: …}`, `{letter, text}`, `{text, correct}` or two lists side by side."""
    if isinstance(offered, Mapping):
        fields = _lowered(offered)
        if isinstance(fields.get("text"), list):
            labels = fields.get("label") or fields.get("labels")
            names = labels if isinstance(labels, (list, str)) and labels else [""] * len(fields["text"])
            return [(_string(n), _string(t), False) for n, t in zip(names, fields["text"], strict=False)]
        return [(str(name), *_option(value)[1:]) for name, value in offered.items()]
    return [_option(value) for value in offered] if isinstance(offered, list) else []


def _option(value: object) -> tuple[str, str, bool]:
    if not isinstance(value, Mapping):
        return "", _string(value), False
    fields = _lowered(value)
    said = _first(fields, _SAID)
    name = _first({k: v for k, v in fields.items() if v is not said}, _NAME)
    return _string(name), _string(said), _first(fields, _FLAG) in (True, "true", "True", 1, "1", "yes")


def _offered(fields: Object) -> object | None:
    """The options, or None: a field of them, or fields of their own: A, B, …; option_a, "Option A"; option1, "choice 1"."""
    for name in _OPTIONS:
        value = fields.get(name)
        if isinstance(value, dict) or (isinstance(value, list) and (name != "answers" or len(value) > 1)):
            return value
    for pattern in (r"([a-h])", r"(?:option|choice|answer)[\s_-]*([a-h])", r"(?:option|choice|answer)[\s_-]*([1-9])"):
        matches = {m[1]: fields[name] for name in fields if (m := re.fullmatch(pattern, name))}
        filled = {key.upper(): _string(value) for key, value in sorted(matches.items()) if _string(value).strip()}
        if len(filled) > 1:
            return filled
    return None


def _given(fields: Object) -> Any:
    offered = _offered(fields)
    for name in _ANSWER:
        value = fields.get(name)
        if value is not None and value is not offered and not isinstance(value, Mapping) and value != "":
            return value
    return None


def _text(value: object) -> str:
    """The question; of a conversation, as in Inspect samples, what the user says."""
    if isinstance(value, list):
        said = [_string(m.get("content")) for m in value if isinstance(m, Mapping) and m.get("role", "user") == "user"]
        return "\n\n".join(filter(None, said))
    return _string(value)


def _proof(value: object) -> Proof | None:
    if isinstance(value, Mapping) and isinstance(value.get("document"), str) and isinstance(value.get("quote"), str):
        return Proof(value["document"], value["quote"])
    return None


def _lowered(value: Object) -> dict[str, Any]:
    return {str(key).strip().lower().replace(" ", "_").replace("-", "_"): v for key, v in value.items()}


def _first(fields: Object, names: Sequence[str]) -> Any:
    return next((fields[name] for name in names if fields.get(name) not in (None, "")), None)


def _string(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
