"""Evaluate a formula from its text, so that displayed arithmetic can be checked."""

import ast
import math
import operator
import re

# A word may contain slashes and digits ("key/value", "bf16"). The e of 70.6e9 follows a digit and is not a word.
_WORDS = re.compile(r"(?<![\w.])[^\W\d_][\w/]*")
_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def evaluate(formula: str) -> float:
    """Return the value of a `Term` or `Figure` formula: "70.6e9 parameters × 2 bytes" is 141.2e9. Words are units.

    Raise ValueError if the rest is not plain arithmetic on numbers. The only power allowed
    is a square root: "(2 × 8) ** 0.5".
    """
    bare = _WORDS.sub(" ", formula).replace("×", "*").replace(",", "").strip()
    try:
        return _value(ast.parse(bare, mode="eval").body)
    except (SyntaxError, ZeroDivisionError) as error:
        raise ValueError(f"no arithmetic: {formula!r}") from error


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        value: float = _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
        return value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant) and node.right.value == 0.5:
        return math.sqrt(_value(node.left))
    raise ValueError(f"no arithmetic: {ast.unparse(node)!r}")
