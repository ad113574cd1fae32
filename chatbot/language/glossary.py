"""Translate questions in other languages to English word for word: enough to find what is asked, not meant to be read.

Each line of `glossary.tsv` has an English word, then its words in German, French, Spanish, Portuguese, Italian and
Dutch; `*` stands for any ending. The encoder, the words of the index and everything that reads a question know only
English.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

# What is looked through for a digit is bounded: dashes and dots may go on for a whole conversation.
_WORD = re.compile(r"(?<!\w)[^\W\d_]+(?![\w.-]{0,64}\d)")
# A question counts as another language if at least this many of its words, and this share, are of that language, and if
# they outnumber the English ones.
_LEAST = 2
_SHARE = 0.35
_LONGEST = 4  # most words in an entry
_COMPOUND = 4  # fewest letters in each part of a compound


@dataclass(frozen=True, slots=True)
class _Language:
    whole: Mapping[tuple[str, ...], str]
    beginnings: Mapping[tuple[str, ...], str]
    compounds: bool

    def english(self, words: Sequence[str]) -> str | None:
        """The English for an entry of these words; None if there is none."""
        folded = tuple(map(_folded, words))
        found = self.whole.get(tuple(words)) or self.whole.get(folded)
        if not found and len(words) == 1:
            found = self._of_parts(folded[0])
        return found or self._by_beginning(folded)

    def _of_parts(self, word: str) -> str | None:
        """The English for a compound of two known words, such as "Trainingskosten"; None if it is none."""
        for n in range(len(word) - _COMPOUND, _COMPOUND - 1, -1) if self.compounds else ():
            first = self._part(word[:n]) or self._part(word[:n].removesuffix("s"))
            if first and (second := self._part(word[n:])):
                return f"{first} {second}"
        return None

    def _part(self, word: str) -> str | None:
        return self.whole.get((word,)) or self._by_beginning((word,)) or (word if word in _english() else None)

    def _by_beginning(self, words: Sequence[str]) -> str | None:
        *before, last = words
        starts = ((*before, last[:n]) for n in range(len(last), 2, -1))
        return next((self.beginnings[start] for start in starts if start in self.beginnings), None)


# Dots between thousands: "5.300 horas". In a price or a rate the dot may be a decimal point.
_DOTTED = re.compile(r"(?<![\w.,$€])[1-9]\d{0,2}(?:\.\d{3})+(?!\w|[.,]\d|\s?(?:[$€/]|(?:usd|dollars?|euros?|per|an)\b))", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"(?<![\w.,])\d+,\d{1,2}(?![\w.,])")


def in_english(text: str) -> str:
    """Translate the words of another language to English; English stays as it is.

    Dots between thousands are removed, from an English text only if it also has a decimal comma.
    """
    found = list(_WORD.finditer(text))
    words = [m[0].lower() for m in found]
    telling = [w for w in words if len(w) > 1 and w not in _english()]
    counts = {name: sum(language.english((w,)) is not None for w in telling) for name, language in _languages().items()}
    name = max(counts, key=counts.__getitem__)
    if counts[name] < max(_LEAST, _SHARE * len(words)) or counts[name] <= sum(w in _english() for w in words):
        return _DOTTED.sub(_undotted, text) if _DECIMAL_COMMA.search(text) else text
    pieces, end = [], 0
    for first, last, english in _translated(words, _languages()[name]):
        start = found[first].start()
        gap = text[end:start]
        # Elided and hyphenated words, as in "l'inférence" and "est-ce que", are several words in English.
        pieces += [" " if end and gap in ("'", "’", "-", "") else gap, english or text[start : found[last].end()]]
        end = found[last].end()
    return _DOTTED.sub(_undotted, "".join([*pieces, text[end:]]))


def _undotted(match: re.Match[str]) -> str:
    return match[0].replace(".", "")


def _translated(words: Sequence[str], language: _Language) -> Iterator[tuple[int, int, str | None]]:
    """Yield the positions of the first and last word of each entry, the longest possible, and its English; None if
    there is no entry."""
    at = 0
    while at < len(words):
        for length in range(min(_LONGEST, len(words) - at), 0, -1):
            if (english := language.english(words[at : at + length])) is not None:
                break
        else:
            length, english = 1, None
        yield at, at + length - 1, english
        at += length


def _folded(word: str) -> str:
    """The word without accents, as many people type it."""
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


@cache
def _rows() -> list[list[str]]:
    lines = resources.files("chatbot.language").joinpath("glossary.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines]


@cache
def _english() -> frozenset[str]:
    return frozenset(word for row in _rows()[1:] for word in row[0].lower().split()) | {"do", "i", "what's", "an", "s", "did", "be", "any", "so", "just", "into", "when", "out", "up", "they", "he", "its", "been", "could", "which", "while"}


@cache
def _languages() -> Mapping[str, _Language]:
    head, *rows = _rows()
    found = {}
    for number, name in enumerate(head[1:], 1):
        whole: dict[tuple[str, ...], str] = {}
        beginnings: dict[tuple[str, ...], str] = {}
        for row in rows:
            for entry in filter(None, row[number].split("|")):
                words = tuple(m[0].lower() for m in _WORD.finditer(entry))
                if entry.endswith("*"):
                    beginnings.setdefault(tuple(map(_folded, words)), row[0])
                else:
                    whole.setdefault(words, row[0])
        for words, english in list(whole.items()):
            whole.setdefault(tuple(map(_folded, words)), english)
        found[name] = _Language(whole, beginnings, name in ("de", "nl"))
    return found
