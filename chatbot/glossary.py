"""Questions in other languages, word for word in English: enough to find what is asked, nothing that anybody should read.

`glossary.tsv` has an English word a line, then its words in German, French, Spanish, Portuguese, Italian and Dutch, with `*` for any
ending. The encoder, the words of the index and everything that reads a question know English alone.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

_WORD = re.compile(r"(?<!\w)[^\W\d_]+(?![\w.-]*\d)")
# A question counts as one in another language if so many of its words are of that language, and more than are English.
_LEAST = 2
_SHARE = 0.35
_LONGEST = 4  # words in an entry
_COMPOUND = 4  # letters in each part of a compound


@dataclass(frozen=True, slots=True)
class _Language:
    whole: Mapping[tuple[str, ...], str]
    beginnings: Mapping[str, str]
    compounds: bool

    def english(self, words: Sequence[str]) -> str | None:
        """What an entry of so many words is in English."""
        folded = tuple(map(_folded, words))
        found = self.whole.get(tuple(words)) or self.whole.get(folded)
        if found or len(words) > 1:
            return found
        (word,) = folded
        return self._of_parts(word) or self._by_beginning(word)

    def _of_parts(self, word: str) -> str | None:
        """What a compound of two known words is: "Trainingskosten"."""
        for n in range(len(word) - _COMPOUND, _COMPOUND - 1, -1) if self.compounds else ():
            first = self._part(word[:n]) or self._part(word[:n].removesuffix("s"))
            if first and (second := self._part(word[n:])):
                return f"{first} {second}"
        return None

    def _part(self, word: str) -> str | None:
        return self.whole.get((word,)) or self._by_beginning(word) or (word if word in _english() else None)

    def _by_beginning(self, word: str) -> str | None:
        lengths = range(len(word), 2, -1)
        return next((self.beginnings[word[:n]] for n in lengths if word[:n] in self.beginnings), None)


# "5.300 horas"; a price or what goes through in an hour may have a point.
_DOTTED = re.compile(r"(?<![\w.,$€])[1-9]\d{0,2}(?:\.\d{3})+(?!\w|[.,]\d|\s?(?:[$€/]|(?:usd|dollars?|euros?|per|an)\b))", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"(?<![\w.,])\d+,\d{1,2}(?![\w.,])")


def in_english(text: str) -> str:
    """The text with the words of another language in English, or as it is where it is in English; without the dots between thousands, where there are any."""
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
        # "l'inférence" and "est-ce que" are several words in English.
        pieces += [" " if end and gap in ("'", "’", "-", "") else gap, english or text[start : found[last].end()]]
        end = found[last].end()
    return _DOTTED.sub(_undotted, "".join([*pieces, text[end:]]))


def _undotted(match: re.Match[str]) -> str:
    return match[0].replace(".", "")


def _translated(words: Sequence[str], language: _Language) -> Iterator[tuple[int, int, str | None]]:
    """First and last of the words of an entry, the longest there is, and the English; None where the word is in none."""
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
    """Without accents, as many type."""
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


@cache
def _rows() -> list[list[str]]:
    lines = resources.files("chatbot").joinpath("glossary.tsv").read_text(encoding="utf-8").splitlines()
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
        beginnings: dict[str, str] = {}
        for row in rows:
            for entry in filter(None, row[number].split("|")):
                words = tuple(m[0].lower() for m in _WORD.finditer(entry))
                if entry.endswith("*"):
                    beginnings.setdefault(_folded(words[0]), row[0])
                else:
                    whole.setdefault(words, row[0])
        for words, english in list(whole.items()):
            whole.setdefault(tuple(map(_folded, words)), english)
        found[name] = _Language(whole, beginnings, name in ("de", "nl"))
    return found
