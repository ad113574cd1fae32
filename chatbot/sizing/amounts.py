"""Large numbers as people write them: 70b parameters, 16k tokens."""

import math
import re

from chatbot.answer import ReaderError

_SCALES = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?(?:e\d+)?)\s*([kmbt]?)", re.IGNORECASE)


def read_amount(text: str) -> float:
    """A count: "70b", "7e9", "1,500". ReaderError for anything else."""
    found = _AMOUNT.fullmatch(text.replace(",", "").strip())
    amount = float(found[1]) * _SCALES[found[2].lower()] if found else math.inf
    if not math.isfinite(amount):
        raise ReaderError(f"{text!r} is not a number: write 70b or 7e9.")
    return amount


def read_tokens(text: str) -> int:
    """16k is 16 x 1,024 tokens, as the models' context windows are counted."""
    amount = read_amount(text)
    return round(amount * 1.024) if text.strip().lower().endswith("k") else round(amount)
