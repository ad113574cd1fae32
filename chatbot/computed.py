"""Figures that no source has because they are computed: as they are written, with the arithmetic that gives them."""

import ast
import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

# A figure is written with three significant digits, and so are the figures that it is computed from.
_TOLERANCE = 0.006
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?:e\d+)?")
_TOKEN = re.compile(rf"(?P<number>{_NUMBER.pattern})|(?P<bracket>[()])|(?<=\s)(?P<operator>[×*/+−-])(?=\s)")
_SCALE = re.compile(r"\s?(?P<scale>[KMBT](?![a-z])|(?:billion|million|trillion)\b|[GTM]i?B\b)", re.IGNORECASE)
_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SCALES |= {"mb": 1e6, "gb": 1e9, "tb": 1e12, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_LONGEST = 500
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True, slots=True)
class Computed:
    """A figure as it stands in a draft ("68 GB"), and its arithmetic in numbers with words between ("34e9 parameters × 2 bytes").

    `unit` is what one of the written unit is in that of the arithmetic: 1e9 for GB of bytes.
    """

    text: str
    formula: str
    unit: float = 1.0

    def holds(self, known: Iterable[float]) -> bool:
        """Whether the arithmetic gives the written figure, and all its numbers are known ones."""
        written, value = numbers(self.text), evaluate(self.formula)
        inputs = [float(m.group().replace(",", "")) for m in _NUMBER.finditer(self.formula)]
        known = list(known)
        return (
            bool(written)
            and value is not None
            and is_near(written[0], value / self.unit)
            and all(any(is_near(number, other) for other in known) for number in inputs)
        )


def evaluate(formula: str) -> float | None:
    """The value of sums and products of numbers, words left out; None where it is no such thing."""
    if len(formula) > _LONGEST:
        return None
    symbols = {"×": "*", "−": "-"}
    terms = (m.group().replace(",", "") for m in _TOKEN.finditer(formula))
    try:
        return _value(ast.parse(" ".join(symbols.get(term, term) for term in terms), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError):
        return None


def numbers(text: str) -> list[float]:
    """The numbers of a text, and those with a scale behind them ("70.6B", "44 GiB") as what they come to too."""
    found: list[float] = []
    for match in re.finditer(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?:e\d+)?", text):
        try:
            number = float(match.group().replace(",", ""))
        except ValueError:
            continue
        found.append(number)
        if scale := _SCALE.match(text, match.end()):
            found.append(number * _SCALES[scale["scale"].lower()])
    return found


def is_near(one: float, other: float) -> bool:
    """Whether two numbers are the same when they are written with three significant digits."""
    return abs(one - other) <= _TOLERANCE * max(abs(one), abs(other))


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError("no arithmetic")
