"""A comparison's answer as a table and, where the sides' numbers are of one kind, as bars."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, takewhile

from chatbot.answer import REFUSAL, Answer
from chatbot.marks import marked_sentences
from chatbot.quantities import Quantity, quantities
from chatbot.words import content_words, stem

# "- L4: …", and as a row of the instance table is told: "- p4d.24xlarge (as of …) has …".
_LINE = re.compile(
    r"- (?:(?P<name>[^:\n]{1,80}): (?P<value>\S.*)|(?P<type>\w[\w-]*\.[\w-]+)(?: \([^)\n]*\))? (?P<says>(?:has|is) \S.*))"
)
_MARK = re.compile(r"\s*\[(\d+)\]")
_ASIDE = re.compile(r"\([^()]*\)")
_LEADING_NUMBER = re.compile(r"[\d,.]*\d")
# Sentences about the same measure share at least this part of their words.
_SAME_MEASURE = 0.5
# How many words behind a bare number say what it counts ("16 Trainium chips").
_NOUN = 2


@dataclass(frozen=True, slots=True)
class Row:
    """One side; `value` has its marks, `numbers` are the citations they lead to."""

    name: str
    value: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A side's number as its source writes it, and the citations behind it."""

    name: str
    value: float
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bars:
    """Numbers that may stand side by side: all in `unit`, all of one measure."""

    unit: str
    bars: tuple[Bar, ...]


def comparison_rows(answer: Answer) -> tuple[Row, ...]:
    """A row for each side that an answer compares; none where it compares nothing."""
    if answer.refused or answer.choices:
        return ()
    # A name may have a colon itself ("Trn1: memory"): the statements say where it ends.
    named = sorted({statement.about for statement in answer.statements if statement.about}, key=len, reverse=True)
    found = [row for line in answer.text.splitlines() if (row := _row(line, named))]
    return tuple(found) if len(found) > 1 else ()


def bars(rows: Sequence[Row]) -> Bars | None:
    """The numbers of the rows' first sentences where each has exactly one of the same unit, and they speak of the same measure.

    What comes after its first sentence adds to a row, and is no answer to what was compared.
    """
    if len(rows) < 2 or any(row.value.startswith(REFUSAL) for row in rows):
        return None
    rows = [_first_sentence(row) for row in rows]
    texts = [_MARK.sub("", row.value) for row in rows]
    if not all(_alike(one, other) for one, other in pairwise(texts)):
        return None
    # What stands in brackets is beside the point: "320 GiB (40 GiB each)".
    found = [_by_unit(_ASIDE.sub(" ", text)) for text in texts]
    for unit in found[0]:
        values = [_only(units.get(unit, [])) for units in found]
        if all(value is not None for value in values):
            pairs = zip(rows, values, strict=True)
            return Bars(unit, tuple(Bar(row.name, value, row.numbers) for row, value in pairs if value is not None))
    return None


def _row(line: str, named: Sequence[str]) -> Row | None:
    for name in named:
        if line.startswith(start := f"- {name}: ") and (value := line[len(start) :].strip()):
            return _of(name, value)
    match = _LINE.fullmatch(line)
    return _of(match["name"] or match["type"], match["value"] or match["says"]) if match else None


def _of(name: str, value: str) -> Row:
    return Row(name, value, tuple(dict.fromkeys(int(number) for number in _MARK.findall(value))))


def _first_sentence(row: Row) -> Row:
    return _of(row.name, marked_sentences(row.value)[0])


def _alike(one: str, other: str) -> bool:
    first, second = _words(one), _words(other)
    return bool(first and second) and len(first & second) / min(len(first), len(second)) >= _SAME_MEASURE


def _words(text: str) -> set[str]:
    return {stem(word) for word in content_words(text) if not any(c.isdigit() for c in word)}


def _by_unit(text: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for quantity in quantities(text):
        unit, number = _unit(quantity), _LEADING_NUMBER.search(quantity.text)
        if unit and number and quantity.low == quantity.high:
            found.setdefault(unit, []).append(float(number.group().replace(",", "")))
    return found


def _unit(quantity: Quantity) -> str:
    """The unit as it is written, or the words that are counted."""
    if quantity.dimension == "count":
        words = takewhile(lambda word: word not in _STOPS, quantity.noun.split())
        return " ".join(islice(words, _NOUN))
    if quantity.dimension in ("date", "day"):
        return ""
    return _LEADING_NUMBER.sub("", quantity.text, count=1).strip(" -~<>≥≤")


_STOPS = frozenset(("and", "or", "of", "with", "in", "on", "for", "per", "to", "each", "at", "by", "while", "than"))


def _only(values: list[float]) -> float | None:
    return values[0] if len(set(values)) == 1 else None
