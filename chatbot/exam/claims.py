"""Sentences, citation marks and quantities of an answer's text; apart from the reader's own code, so as to check it."""

import re
from collections.abc import Sequence

from chatbot.answer import REFUSAL

TOLERANCE = 0.001
SCALES = {"thousand": 1e3, "k": 1e3, "million": 1e6, "m": 1e6, "billion": 1e9, "bn": 1e9, "b": 1e9}
MEASURES = {
    "memory": {"mb": 1e6, "gb": 1e9, "gib": 2.0**30, "tb": 1e12},
    "memory speed": {"gb/s": 1e9, "tb/s": 1e12},
    "network": {"mbps": 1e6, "gbps": 1e9, "gbit/s": 1e9, "tbps": 1e12},
    "power": {"w": 1.0, "watt": 1.0, "watts": 1.0, "kw": 1e3},
    "compute": {"gflops": 1e9, "tflops": 1e12, "pflops": 1e15, "petaflops": 1e15},
    "efficiency": {"tflops/watt": 1e12, "tflops/w": 1e12, "tflops per watt": 1e12, "gflops per watt": 1e9},
    "share": {"%": 1.0, "percent": 1.0, "per cent": 1.0},
    "ratio": {"x": 1.0, "\u00d7": 1.0, "times": 1.0, "fold": 1.0},
    "money": {"usd": 1.0, "$": 1.0, "dollar": 1.0, "dollars": 1.0},
    "mass": {"t": 1.0, "tons": 1.0, "tonnes": 1.0, "metric tons": 1.0},
    "time": {"h": 1.0, "hour": 1.0, "hours": 1.0},
}
# A unit that is not here is a counted noun ("vCPUs", "cores").
UNITS = {unit: (kind, factor) for kind, factors in MEASURES.items() for unit, factor in factors.items()}
NUMBER_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]

MARK = re.compile(r"\[(\d{1,3}(?:\s*[,\u2013-]\s*\d{1,3})*)\]")
TABLE_HEAD_OR_HEADING = re.compile(r"(?m)^\|.*\|\s*\n(?=\|[\s:|-]+\|\s*$)|^\|[\s:|-]+\|\s*$|^#+ .*$")
SENTENCE_END = re.compile(r"(?<!\bvs\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<=[.!?])\s+(?=[^a-z\s])")
# A figure that is part of a name (trn1.32xlarge, GPT-3, Inf2) is no quantity.
QUANTITY = re.compile(
    r"(?<![\w.,])(?<![A-Za-z]-)(?P<before>USD\s*|\$\s*)?(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:[\s-]*(?P<scale>thousand|million|billion|bn|[kmb])(?!\w))?"
    rf"(?:[\s-]*(?P<unit>{'|'.join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))})(?!/))?(?!\w)",
    re.IGNORECASE,
)


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


def quantities(text: str) -> list[tuple[float, str]]:
    """Each figure in the base unit of what it measures; counted things measure "count"."""
    spelled = rf"\b(?:{'|'.join(NUMBER_WORDS)})\b"
    text = re.sub(spelled, lambda word: str(NUMBER_WORDS.index(word[0].lower())), MARK.sub(" ", text), flags=re.IGNORECASE)
    return [_quantity(match) for match in QUANTITY.finditer(text)]


def states_value(text: str, number: float, unit: str) -> bool:
    """True when the first sentence that has a figure of this kind has this one, within 0.1 % and in a unit of its kind.

    Later sentences do not count: a text that recites every figure it has found has not answered.
    """
    kind, factor = UNITS.get(unit.lower(), ("count", SCALES.get(unit.lower(), 1.0)))
    for sentence in _naming(sentences(text), unit):
        if figures := [figure for figure, measures in quantities(sentence) if measures == kind]:
            return any(abs(figure - number * factor) <= TOLERANCE * abs(number * factor) for figure in figures)
    return False


def _quantity(match: re.Match[str]) -> tuple[float, str]:
    number = float(match["number"].replace(",", "")) * SCALES.get((match["scale"] or "").lower(), 1.0)
    if match["before"]:
        return number, "money"
    kind, factor = UNITS.get((match["unit"] or "").lower(), ("count", 1.0))
    return number * factor, kind


def _naming(pieces: Sequence[str], unit: str) -> Sequence[str]:
    """For a counted noun, the sentences that name it; the noun may stand apart from its figure, as in a table row."""
    if unit.lower() in UNITS or unit.lower() in SCALES:
        return pieces
    noun = unit.lower().rstrip("s")
    return [piece for piece in pieces if noun in piece.lower()] or pieces
