"""Which sentences can be shown at all."""

import re

from chatbot.verification.marks import without_marks

# Links, images, HTML and mentions of people do not belong in an answer: the citations carry the addresses.
_ACTIVE = re.compile(
    r"https?:|\b\w{2,}://|\bwww\.|\b(?:javascript|mailto):|\bdata:\w+/|!\[|\]\(|<[!@#/a-z]|&#?\w+;|(?<!\w)@\w|(?<![\w.+-])[\w.+-]++@[\w-]+\.\w"
    r"|(?<![\w-])[\w-]++\.(?:com|net|org|io|dev|ai|app|example|xyz|ru|cn|co|info|link)\b",
    re.IGNORECASE,
)
_HALF = re.compile(r"\[\s*\d|\[\W*\Z")


def is_fit(sentence: str) -> bool:
    """Whether a sentence can be shown at all: it has nothing to click, load or notify, and no unfinished mark."""
    return not _ACTIVE.search(sentence) and not _HALF.search(without_marks(sentence))
