"""Exam questions inside a document: only the options that the answer line names are evidence."""

import re
from collections.abc import Iterator

from chatbot.evidence.unit import Unit
from chatbot.question.options import is_negated

_ANSWER_LINE = re.compile(
    r"(?:the )?(?:correct |right )?(?:answers?|keys?|solutions?)(?: is| are)?\W+(?P<keys>[A-H1-8](?:\W+(?:and\W+)?[A-H1-8])*)\W*",
    re.IGNORECASE,
)
_OPTION_MARK = re.compile(r"^\W*(?P<key>[A-Ha-h1-8])[.)\]]\W*$")
_ASKS = re.compile(r"\?\W*$|\b(?:choose|select|pick)\b.{0,30}$", re.IGNORECASE)
_FEWEST_OPTIONS = 3


def without_wrong_options(found: list[Unit]) -> Iterator[Unit]:
    """Drop the options of exam questions from the evidence, except those that the answer line names.

    A wrong option asserts nothing. The answer line is dropped as well, because it says nothing by itself.
    """
    position = 0
    while position < len(found):
        run = _options_at(found, position)
        if not run:
            yield found[position]
            position += 1
            continue
        position += len(run)
        answer = _ANSWER_LINE.fullmatch(found[position].plain) if position < len(found) else None
        keys = {_place_of(key) for key in re.findall(r"\b\w\b", answer["keys"])} if answer else set()
        # The answer to "which is NOT" is the false option, so the other options are kept.
        negated = bool(answer) and any(is_negated(f.plain) for f in found[max(0, position - len(run) - 2) : position])
        yield from (unit for place, unit in enumerate(run) if (place in keys) != negated)
        position += bool(answer)


def _options_at(found: list[Unit], position: int) -> list[Unit]:
    """Return the list items, lettered or numbered from the first on, below a question or a "Choose two"."""
    if not position or not _ASKS.search(found[position - 1].plain):
        return []
    run: list[Unit] = []
    for unit in found[position:]:
        if unit.kind != "item" or unit.above != found[position].above or _option_place(unit) != len(run):
            break
        run.append(unit)
    return run if len(run) >= _FEWEST_OPTIONS else []


def _option_place(unit: Unit) -> int | None:
    """Return the position given by the letter or number before a list item, or None if it has neither."""
    text = unit.chunk.document.text
    mark = _OPTION_MARK.search(text[text.rfind("\n", 0, unit.start) + 1 : unit.start])
    return _place_of(mark["key"]) if mark else None


def _place_of(key: str) -> int:
    return int(key) - 1 if key.isdigit() else ord(key.upper()) - ord("A")
