"""Figures that no source has because they are computed: as they are written, with the arithmetic that gives them."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import product

from chatbot.sizing.arithmetic import evaluate

# A figure is written with three significant digits, and so are some of those that it is computed from.
_TOLERANCE = 0.006
# Prose rounds more.
_PROSE = 0.02
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?:e[+-]?\d{1,2})?")
_SCALE = re.compile(r"\s?(?P<scale>[KMBT](?![a-z/])|(?:billion|million|trillion)\b|[KMGT]i?B\b)", re.IGNORECASE)
_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SCALES |= {"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


@dataclass(frozen=True, slots=True)
class Computed:
    """A figure as it stands in a draft ("68 GB"), and its arithmetic: numbers, with words between ("34e9 parameters × 2 bytes").

    `unit` is what one of the written unit is in that of the arithmetic: 1e9 for GB of bytes. `constants` are numbers that
    belong to the formula or follow from what it is said of; all others must be known.
    """

    text: str
    formula: str
    unit: float = 1.0
    constants: tuple[float, ...] = ()

    @property
    def value(self) -> float | None:
        """What the arithmetic gives, in the unit of the arithmetic; None where it is none."""
        try:
            return evaluate(self.formula)
        except (ValueError, OverflowError, RecursionError):
            return None

    def holds(self, known: Collection[float]) -> bool:
        """Whether the arithmetic gives the written figure, out of numbers that are known."""
        written, value = numbers(self.text), self.value
        return (
            bool(written)
            and value is not None
            and is_near(written[0], value / self.unit)
            and all(any(is_near(n, other) for other in (*self.constants, *known)) for n in numbers(self.formula))
        )


def numbers(text: str) -> list[float]:
    """The numbers of a text, and of those with a scale behind them ("70.6B", "44 GiB") what they come to too."""
    found: list[float] = []
    for match in _NUMBER.finditer(text):
        found.append(float(match.group().replace(",", "")))
        if scale := _SCALE.match(text, match.end()):
            found.append(found[-1] * _SCALES[scale["scale"].lower()])
    return found


def is_near(one: float, other: float) -> bool:
    """Whether two numbers are the same as far as three significant digits tell."""
    return abs(one - other) <= _TOLERANCE * max(abs(one), abs(other))


def follows(value: float, known: Collection[float]) -> bool:
    """Whether a number is the sum, difference, product, quotient or percentage of two that are known, or of one and a thousand (kilo), as nearly as prose says it."""
    return any(
        abs(value - result) <= _PROSE * abs(result)
        for a, b in product({*known, 1000.0}, repeat=2)
        for result in (a + b, a - b, a * b, *((a / b, 100 * a / b) if b else ()))
    )
