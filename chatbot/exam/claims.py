"""Sentences, citation marks and values of an answer's text."""

import re
from collections.abc import Sequence
from math import isclose

from chatbot.answer import REFUSAL
from chatbot.quantities import UNITS, Quantity, quantities

TOLERANCE = 0.001
MARK = re.compile(r"\[(\d{1,3}(?:\s*[,\u2013-]\s*\d{1,3})*)\]")
TABLE_HEAD_OR_HEADING = re.compile(r"(?m)^\|.*\|\s*\n(?=\|[\s:|-]+\|\s*$)|^\|[\s:|-]+\|\s*$|^#+ .*$")
SENTENCE_END = re.compile(r"(?<!\bvs\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<=[.!?])\s+(?=[^a-z\s])")


def marks(text: str) -> set[int]:
    """The numbers of all citation marks: `[1]`, `[1, 7]` and `[2-4]` alike; `[0]` is 0 and leads nowhere."""
    found: set[int] = set()
    for inside in MARK.findall(text):
        for part in inside.split(","):
            ends = [int(end) for end in re.split(r"[\u2013-]", part)]
            found.update(range(ends[0], ends[-1] + 1))
    return found


def sentences(text: str) -> list[str]:
    """Sentences, list items and table rows, without headings and heads of tables.

    A mark that stands after the full stop belongs to the sentence before it.
    """
    text = TABLE_HEAD_OR_HEADING.sub("", text)
    text = re.sub(rf"([.!?])((?:\s*{MARK.pattern.replace('(', '(?:', 1)})+)", r"\2\1", text)
    pieces = [piece.strip() for line in text.splitlines() for piece in SENTENCE_END.split(line)]
    return [piece for piece in pieces if piece]


def claims(text: str) -> list[str]:
    """The sentences that need a citation: no bare letter or name, no lead-in that ends in a colon, no "the sources do not say"."""
    said = [piece for piece in sentences(text) if len(re.findall(r"\w{2,}", piece)) > 2 and piece[-1] != ":"]
    return [piece for piece in said if not piece.rstrip(" *_").endswith(REFUSAL)]


def states_value(text: str, number: float, unit: str) -> bool:
    """True when the first sentence that has a figure of this kind has this one, within 0.1 % and in a unit of its kind.

    Later sentences do not count: a text that recites every figure it has found has not answered.
    """
    (wanted,) = quantities(f"{number:.12g} {unit}")
    for sentence in _naming(sentences(MARK.sub(" ", text)), unit):
        if figures := [figure for figure in quantities(sentence) if _kind(figure) == _kind(wanted)]:
            return any(isclose(figure.low, wanted.low, rel_tol=TOLERANCE) for figure in figures)
    return False


def _kind(figure: Quantity) -> str:
    """What a figure measures; bare numbers count, even where they may be years or parameters."""
    return "count" if figure.dimension in ("date", "parameters") else figure.dimension


def _naming(pieces: Sequence[str], unit: str) -> Sequence[str]:
    """For a counted noun, the sentences that name it; the noun may stand apart from its figure, as in a table row."""
    if unit.lower() in UNITS:
        return pieces
    noun = unit.lower().rstrip("s")
    return [piece for piece in pieces if noun in piece.lower()] or pieces
