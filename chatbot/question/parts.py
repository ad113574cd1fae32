"""Split a question that asks for several things: "How long at most, and how far ahead can I book one?" asks for two."""

import re

_BETWEEN = re.compile(
    r"(?<=[?.!;])\s+|,?\s+(?:and|und|et|y|plus)\s+(?=(?:(?:then|also|roughly|about|approximately)\s+)*(?:how|what|which|why|at (?:what|which)|whe(?:n|re) (?:do|is|are|can|should)|does|do (?:i|we|you|they)|is|are|will|can|should|with|wie|was|combien|quel|cu[aá]nto)\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\W*(?:(?:and|also|so|but|then|plus|ok|roughly|about|approximately)\W+)*(?:how|what|what's|which|when|where|why|who|is|are|does|do|can|could|should|will|would)\b.*\w", re.IGNORECASE | re.DOTALL
)
_FEWEST_WORDS = 3


def pieces(question: str) -> list[str]:
    """Split a question at the end of each sentence and wherever another question may begin."""
    return [piece.strip() for piece in _BETWEEN.split(question) if piece and piece.strip()]


def questions(text: str) -> list[str]:
    """Return the questions in a text one by one, or nothing if it asks for only one thing.

    Each includes the statements before it. Statements after the last question belong to that one.
    """
    found: list[str] = []
    told = ""
    for piece in pieces(text):
        if _ASKS.match(piece) and not piece.endswith(".") and len(piece.split()) >= _FEWEST_WORDS:
            found.append(f"{told} {piece}".strip())
            told = ""
        else:
            told = f"{told} {piece}".strip()
    if told and found:
        found[-1] = f"{found[-1]} {told}"
    return found if len(found) > 1 else []
