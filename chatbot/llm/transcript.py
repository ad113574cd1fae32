"""What a model has written: which part of its text is read at all."""

import re
import unicodedata
from dataclasses import dataclass

# The most characters of an answer; what a model writes beyond this is not read.
LONGEST = 16_000
_BRACKETS = str.maketrans({"【": "[", "】": "]", "\t": " ", "\xa0": " ", "\u202f": " "})
LINE_ENDS = "\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
# How models mark their thoughts before an answer, if their server does not separate them.
_THOUGHT = re.compile(r"\s*(?:<(?P<tag>(?:seed:)?think|thinking|thoughts?|reasoning|reflection)>|\[THINK\]|◁think▷|<\|channel\|>analysis)", re.IGNORECASE)
_THOUGHT_OUT = re.compile(
    r"</(?:(?:seed:)?think|thinking|thoughts?|reasoning|reflection)>|\[/THINK\]|◁/think▷|<\|channel\|>final<\|message\|>", re.IGNORECASE
)
# Text that may still become the mark of a thought, and the length of the longest such mark.
_MAY_BECOME, _LONGEST_MARK = re.compile(r"\s*(?:[<\[◁](?:\|channel\|>)?[^>\]▷\s]{0,24})?\Z"), 32


def cleaned(text: str) -> str:
    """Remove control and format characters from a model's text, and replace unusual brackets and spaces by plain ones.

    This works character by character, so that pieces of a text can be cleaned one by one.
    """
    return "".join(c for c in text.translate(_BRACKETS) if c in LINE_ENDS or unicodedata.category(c)[0] != "C")


def after_thoughts(text: str) -> str | None:
    """Return the text after the last end mark of a thought; None without one."""
    ends = list(_THOUGHT_OUT.finditer(text))
    return text[ends[-1].end() :] if ends else None


@dataclass
class Transcript:
    """What a model has written so far: cleaned, cut at `LONGEST`, and without its opening thoughts.

    The thoughts of a model that `thinks_aloud` may have an end mark only: its prompt template contains the opening one.
    """

    thinks_aloud: bool = False
    has_thought: bool = False
    # Text that is a thought or may become one; None once the answer has begun.
    _held: str | None = ""
    _opened: bool = False
    _length: int = 0

    def take(self, piece: str) -> str:
        """Add a piece and return the text that belongs to the answer."""
        text = self._without_thoughts(cleaned(piece))[: LONGEST - self._length]
        self._length += len(text)
        return text

    def rest(self) -> str:
        """Return the text held because it might have become a thought; an unfinished thought is not part of the answer."""
        held, self._held = self._held or "", None
        return "" if self._opened else held[:LONGEST]

    @property
    def is_thinking(self) -> bool:
        """Whether all that has come is a thought or, from a model that thinks aloud, may be one."""
        return self._held is not None and (self._opened or self.thinks_aloud)

    @property
    def was_opened(self) -> bool:
        """Whether its thoughts had a mark at their beginning."""
        return self._opened

    @property
    def is_full(self) -> bool:
        """Whether `LONGEST` is reached, so that nothing more is read."""
        return self._length >= LONGEST

    def _without_thoughts(self, text: str) -> str:
        if self._held is None:
            return text
        sought = max(0, len(self._held) - _LONGEST_MARK)
        self._held += text
        self._opened = self._opened or bool(_THOUGHT.match(self._held))
        if self._opened or self.thinks_aloud:
            if end := _THOUGHT_OUT.search(self._held, sought):
                self.has_thought = True
                return self._released(self._held[end.end() :])
            if self._opened:
                self._held = self._held[-_LONGEST_MARK:]
            return ""
        return "" if _MAY_BECOME.match(self._held) else self._released(self._held)

    def _released(self, text: str) -> str:
        self._held = None
        return text
