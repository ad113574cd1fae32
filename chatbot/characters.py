"""Characters that do not show, and words that never end: taken out where a question comes in and where a text is shown."""

import re
import unicodedata
from collections.abc import Sequence

from chatbot.answer import ReaderError, Turn

LONGEST_QUESTION = 8_000
LONGEST_WORD = 64
# Writing without spaces is no long word.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_LONG_WORD = re.compile(rf"([^\W{_UNSPACED}]{{{LONGEST_WORD}}})[^\W{_UNSPACED}]+")
# Patterns look for what stands behind white space from each of its characters on.
_LONG_BLANK = re.compile(r"\s{17,}")
_LINE_BREAK = re.compile("\r\n?|[\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
# What a reader of an answer would take for a citation.
_MARK = re.compile(r"\[(\s*\d[\d\s,;–-]*)\]")


def shown(text: str) -> str:
    """A text as it is shown: without control, format (bidi, zero width) and private characters and lone surrogates.

    So nothing in a document or a title turns "84" round to "48" or hides. Line breaks of all kinds become "\\n". Quoted words
    that are looked up in their document by offset stay as they are until they are shown.
    """
    if text.isprintable():
        return text
    return "".join(c for c in _LINE_BREAK.sub("\n", text) if c in "\n\t" or unicodedata.category(c)[0] != "C")


def as_asked(question: str) -> str:
    """A question as it is read: what does not show left out, words and gaps cut, bracketed numbers in parentheses like no citation's.

    Raises ReaderError for a question that is empty or longer than `LONGEST_QUESTION`.
    """
    if len(question) > LONGEST_QUESTION:
        raise ReaderError(f"The question has {len(question):,} characters. Ask it in at most {LONGEST_QUESTION:,}.")
    if not (asked := _cut(question).strip()):
        raise ReaderError(
            "The question is empty. Ask something, for example: Which instance has the lowest footprint for training?"
        )
    return _MARK.sub(r"(\1)", asked)


def as_remembered(history: Sequence[Turn]) -> list[Turn]:
    """Earlier turns as they are read; what is too long is cut."""
    return [Turn(_MARK.sub(r"(\1)", _cut(turn.question)), _cut(turn.answer)) for turn in history]


def _cut(text: str) -> str:
    cut = _LONG_WORD.sub(r"\1", shown(text[:LONGEST_QUESTION]))
    return _LONG_BLANK.sub(lambda blank: "\n" * min(blank.group().count("\n"), 2) or " ", cut)
