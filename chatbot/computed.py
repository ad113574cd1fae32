"""Computed figures, which no source contains: each as it is written, with the arithmetic behind it."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import product

from chatbot.sizing.arithmetic import evaluate

# Relative tolerance: figures, and some of the numbers they are computed from, are written with three significant digits.
_TOLERANCE = 0.006
# Relative tolerance for prose, which rounds more.
_PROSE = 0.02
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?:e[+-]?\d{1,2})?")
_SCALE = re.compile(r"\s?(?P<scale>[KMBT](?![a-z/])|(?:billion|million|trillion)\b|[KMGT]i?B\b)", re.IGNORECASE)
_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SCALES |= {"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


@dataclass(frozen=True, slots=True)
class Computed:
    """A figure as written in a draft ("68 GB"), and its arithmetic: numbers with words in between ("34e9 parameters × 2
    bytes").

    `unit` converts the written unit to that of the arithmetic: 1e9 for GB if the arithmetic is in bytes. `constants`
    are numbers that belong to the formula or follow from its subject; all others must be known.
    """

    text: str
    formula: str
    unit: float = 1.0
    constants: tuple[float, ...] = ()

    @property
    def value(self) -> float | None:
        """The result of the arithmetic, in its own unit; None if it cannot be evaluated."""
        try:
            return evaluate(self.formula)
        except (ValueError, OverflowError, RecursionError):
            return None

    def holds(self, known: Collection[float]) -> bool:
        """Whether the arithmetic gives the written figure, using only known numbers and constants."""
        written, value = numbers(self.text), self.value
        return (
            bool(written)
            and value is not None
            and is_near(written[0], value / self.unit)
            and all(any(is_near(n, other) for other in (*self.constants, *known)) for n in numbers(self.formula))
        )


def numbers(text: str) -> list[float]:
    """The numbers of a text. One with a scale ("70.6B", "44 GiB") is followed by its scaled value."""
    found: list[float] = []
    for match in _NUMBER.finditer(text):
        found.append(float(match.group().replace(",", "")))
        if scale := _SCALE.match(text, match.end()):
            found.append(found[-1] * _SCALES[scale["scale"].lower()])
    return found


def is_near(one: float, other: float) -> bool:
    """Whether two numbers are equal within the rounding to three significant digits."""
    return abs(one - other) <= _TOLERANCE * max(abs(one), abs(other))


def follows(value: float, known: Collection[float]) -> bool:
    """Whether a number is the sum, difference, product, quotient or percentage of two known numbers, or of one and a
    thousand (kilo), within the rounding of prose."""
    return any(
        abs(value - result) <= _PROSE * abs(result)
        for a, b in product({*known, 1000.0}, repeat=2)
        for result in (a + b, a - b, a * b, *((a / b, 100 * a / b) if b else ()))
    )
