"""Correct misspelt terms against the words of the corpus, before anything else reads a question."""

import re

from chatbot.language.names import mentioned
from chatbot.language.words import STOP_WORDS, synonyms
from ingest import Index

_WORD = re.compile(r"(?<![\w.])[A-Za-z]{4,}\d?(?![\w.])")
# A name of at least this length that is one letter off is more likely misspelt than unknown.
_LONG = 6
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "ers")
_SHORTEST = 3


def correct(text: str, index: Index) -> str:
    """Replace words that neither the corpus nor the vocabulary has with the nearest word of the corpus, if one is near."""
    return _WORD.sub(lambda match: _corrected(match.group(), index, is_name=_is_name(match)), text)


def _is_name(match: re.Match[str]) -> bool:
    """Whether a word is short and capitalised within its sentence: "Groq" is an unknown name, not a misspelt "grow"."""
    before = match.string[: match.start()].rstrip()
    word = match.group()
    return len(word) < _LONG and word[0].isupper() and not word.isupper() and bool(before) and before[-1] not in ".?!:"


def _corrected(word: str, index: Index, *, is_name: bool) -> str:
    lowered = word.lower()
    if lowered in STOP_WORDS or synonyms(lowered) or lowered in mentioned(word) or any(index.document_frequency(form) for form in _forms(lowered)):
        return word
    suggestion = None if lowered[-1].isdigit() else index.suggest(lowered)
    return suggestion if suggestion and (not is_name or mentioned(suggestion)) else word


def _forms(word: str) -> list[str]:
    """Return a word as it is and without its endings: "decodes" is not a misspelt "decides" if the corpus has "decode"."""
    roots = [word.removesuffix(end) for end in _ENDINGS if word.endswith(end)]
    return [word, *(form for root in roots if len(root) > _SHORTEST for form in (root, f"{root}e", f"{root}ing"))]
