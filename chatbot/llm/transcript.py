"""What a model has written: what of its text is read at all, and what of that may be shown."""

import re
import unicodedata
from dataclasses import dataclass

from chatbot.marks import without_marks

# No answer is longer; what a model writes beyond this is not read.
LONGEST = 16_000
_BRACKETS = str.maketrans({"【": "[", "】": "]", "\t": " ", "\xa0": " ", "\u202f": " "})
LINE_ENDS = "\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_THOUGHT, _THOUGHT_OUT = "<think>", "</think>"
# Links, pictures, HTML and mentions of people have no place in an answer: the citations carry the addresses.
_ACTIVE = re.compile(
    r"https?:|\b\w{2,}://|\bwww\.|\b(?:javascript|mailto):|\bdata:\w+/|!\[|\]\(|<[!@#/a-z]|&#?\w+;|(?<!\w)@\w|(?<![\w.+-])[\w.+-]++@[\w-]+\.\w"
    r"|(?<![\w-])[\w-]++\.(?:com|net|org|io|dev|ai|app|example|xyz|ru|cn|co|info|link)\b",
    re.IGNORECASE,
)
_HALF = re.compile(r"\[\s*\d|\[\W*\Z")


def is_fit(sentence: str) -> bool:
    """Whether a sentence can be shown at all: nothing in it to click, load or notify, and no unfinished mark."""
    return not _ACTIVE.search(sentence) and not _HALF.search(without_marks(sentence))


def cleaned(text: str) -> str:
    """A model's text without what does not show: control and format characters; odd brackets and spaces as plain ones.

    Works character by character, so that pieces of a text can be cleaned one by one.
    """
    return "".join(c for c in text.translate(_BRACKETS) if c in LINE_ENDS or unicodedata.category(c)[0] != "C")


@dataclass
class Transcript:
    """What a model has written so far: cleaned, cut at the longest, its opening thoughts left out."""

    _thought: str | None = ""
    _length: int = 0

    def take(self, piece: str) -> str:
        """The part of a piece that belongs to the answer."""
        text = piece[: LONGEST - self._length]
        self._length += len(text)
        return self._without_thoughts(cleaned(text))

    def rest(self) -> str:
        """What was held because it might have become a thought; a thought that never ended is none of the answer."""
        held, self._thought = self._thought or "", None
        return "" if held.lstrip().startswith(_THOUGHT) else held

    @property
    def is_full(self) -> bool:
        """Whether nothing more is read."""
        return self._length >= LONGEST

    def _without_thoughts(self, text: str) -> str:
        if self._thought is None:
            return text
        self._thought += text
        opening = self._thought.lstrip()
        if not opening.startswith(_THOUGHT):
            return "" if _THOUGHT.startswith(opening) else self._released(self._thought)
        _, found, after = opening.partition(_THOUGHT_OUT)
        return self._released(after) if found else ""

    def _released(self, text: str) -> str:
        self._thought = None
        return text
