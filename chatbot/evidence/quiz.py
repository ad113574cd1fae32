"""The options of an exam question in a document: only those that its answer line names are evidence."""

import re
from collections.abc import Iterator

from chatbot.evidence.unit import Unit
from chatbot.options import is_negated

_ANSWER_LINE = re.compile(
    r"(?:the )?(?:correct |right )?(?:answers?|keys?|solutions?)(?: is| are)?\W+(?P<keys>[A-H1-8](?:\W+(?:and\W+)?[A-H1-8])*)\W*",
    re.IGNORECASE,
)
_OPTION_MARK = re.compile(r"^\W*(?P<key>[A-Ha-h1-8])[.)\]]\W*$")
_ASKS = re.compile(r"\?\W*$|\b(?:choose|select|pick)\b.{0,30}$", re.IGNORECASE)
_FEWEST_OPTIONS = 3


def without_wrong_options(found: list[Unit]) -> Iterator[Unit]:
    """The evidence without the options of an exam question in the document, but for those that its answer line names.

    A wrong option asserts nothing; the answer line says nothing by itself.
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
        # The answer to "which is NOT" is the one that is false.
        negated = bool(answer) and any(is_negated(f.plain) for f in found[max(0, position - len(run) - 2) : position])
        yield from (unit for place, unit in enumerate(run) if (place in keys) != negated)
        position += bool(answer)


def _options_at(found: list[Unit], position: int) -> list[Unit]:
    """The run of list items, lettered or numbered from the first on, below a question or a "Choose two"."""
    if not position or not _ASKS.search(found[position - 1].plain):
        return []
    run: list[Unit] = []
    for unit in found[position:]:
        if unit.kind != "item" or unit.above != found[position].above or _option_place(unit) != len(run):
            break
        run.append(unit)
    return run if len(run) >= _FEWEST_OPTIONS else []


def _option_place(unit: Unit) -> int | None:
    """The place that the mark before a list item counts, None where there is no letter and no number."""
    text = unit.chunk.document.text
    mark = _OPTION_MARK.search(text[text.rfind("\n", 0, unit.start) + 1 : unit.start])
    return _place_of(mark["key"]) if mark else None


def _place_of(key: str) -> int:
    return int(key) - 1 if key.isdigit() else ord(key.upper()) - ord("A")
