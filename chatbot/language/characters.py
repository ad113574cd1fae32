"""Clean texts: no invisible characters in questions and in what is shown, no overlong words in questions."""

import re
import unicodedata
from collections.abc import Sequence

from chatbot.answer import ReaderError, Turn

LONGEST_QUESTION = 8_000
LONGEST_WORD = 64
MOST_TURNS = 50
# Scripts without spaces between words: a run of their characters is not one long word.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_LONG_WORD = re.compile(rf"([^\W{_UNSPACED}]{{{LONGEST_WORD}}})[^\W{_UNSPACED}]+")
# Long runs of white space are cut: patterns look for what follows from each character of a run, which is slow.
_LONG_BLANK = re.compile(r"\s{17,}")
_LINE_BREAK = re.compile("\r\n?|[\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
# A bracketed number, which would look like a citation in an answer.
_MARK = re.compile(r"\[(\s*\d[\d\s,;–-]*)\]")


def shown(text: str) -> str:
    """Return a text as it is shown: without control, format (bidi, zero-width) and private-use characters and lone
    surrogates.

    So nothing in a document or a title can turn "84" round to "48" or hide. Line breaks of all kinds become "\\n".
    Quotes are located in their document by offset, so they are cleaned only when they are shown.
    """
    if text.isprintable():
        return text
    return "".join(c for c in _LINE_BREAK.sub("\n", text) if c in "\n\t" or unicodedata.category(c)[0] != "C")


def quoted(text: str) -> str:
    """Return what a user gave as a message quotes it; an overlong text is cut."""
    return repr(text if len(text) <= LONGEST_WORD else f"{text[:LONGEST_WORD]}…")


def as_asked(question: str) -> str:
    """Return a question as it is read: without invisible characters, with overlong words and gaps cut, and with
    bracketed numbers in parentheses so that they do not look like citations.

    Raises ReaderError for a question that is empty or longer than `LONGEST_QUESTION`.
    """
    if len(question) > LONGEST_QUESTION:
        raise ReaderError(f"The question has {len(question):,} characters. Ask it in at most {LONGEST_QUESTION:,}.")
    if not (asked := _cut(question).strip()):
        raise ReaderError(
            "The question is empty. Ask something, for example: Which instance has the lowest footprint for training?"
        )
    return parenthesised(asked)


def as_remembered(history: Sequence[Turn]) -> list[Turn]:
    """Return the latest earlier turns as they are read, up to `MOST_TURNS`; long texts are cut."""
    return [Turn(parenthesised(_cut(turn.question)), _cut(turn.answer)) for turn in history[-MOST_TURNS:]]


def parenthesised(text: str) -> str:
    """Return a text with its bracketed numbers in parentheses, so that they do not look like citations."""
    return _MARK.sub(r"(\1)", text)


def _cut(text: str) -> str:
    cut = _LONG_WORD.sub(r"\1", shown(text[:LONGEST_QUESTION]))
    return _LONG_BLANK.sub(lambda blank: "\n" * min(blank.group().count("\n"), 2) or " ", cut)
