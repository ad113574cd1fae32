"""Misspelt terms are put right against the words of the corpus, before anything else looks at a question."""

import re

from chatbot.names import mentioned
from chatbot.words import STOP_WORDS, synonyms
from ingest import Index

_WORD = re.compile(r"(?<![\w.])[A-Za-z]{4,}\d?(?![\w.])")
# A longer name that is one letter off is more likely misspelt than unknown.
_LONG = 6
# Two words are one where the corpus writes them as one more often than side by side, and more than this share of the rarer one's
# own times: not "instance types" for the `InstanceTypes` of an example.
_OFTEN = 0.2
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "ers")
_SHORTEST = 3
_GAP = re.compile(r"(?<![\w.-])(?P<one>[A-Za-z]{4,})[ -](?=(?P<two>[A-Za-z]{4,}?)(?P<plural>s?)(?![\w.-]))")


def correct(text: str, index: Index) -> str:
    """Replace words that neither the corpus nor the vocabulary has by the nearest word of the corpus, if one is near, and put
    together what the corpus writes in one word ("neuron cores")."""
    joined = _GAP.sub(lambda match: match["one"] if _is_one_word(match, index) else match.group(), text)
    return _WORD.sub(lambda match: _corrected(match.group(), index, is_name=_is_name(match)), joined)


def _is_one_word(match: re.Match[str], index: Index) -> bool:
    one, two = match["one"].lower(), match["two"].lower()
    if {one, two} & STOP_WORDS:
        return False
    together, side_by_side = _frequency(one + two, index), _frequency(f"{one} {two}", index)
    rarer = min(_frequency(one, index), _frequency(two, index))
    return together > side_by_side and together > _OFTEN * rarer


def _frequency(word: str, index: Index) -> int:
    return max(index.document_frequency(word + end) for end in ("", "s"))


def _is_name(match: re.Match[str]) -> bool:
    """Whether a word is short, and capital within its sentence: "Groq" is a name that nobody here has heard of, not a misspelt "grow"."""
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
    """A word as it is, and without an ending: "decodes" is no misspelt "decides" where the corpus has "decode"."""
    roots = [word.removesuffix(end) for end in _ENDINGS if word.endswith(end)]
    return [word, *(form for root in roots if len(root) > _SHORTEST for form in (root, f"{root}e", f"{root}ing"))]
