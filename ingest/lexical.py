"""Search by words: tantivy (BM25) over fields with weights, and the spelling of the corpus."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ingest.document import Chunk

if TYPE_CHECKING:
    from tantivy import Index, Query, Schema, TextAnalyzer

FOLDER_NAME = "words"
# How much a word counts where it stands; measured on the questions and pages that DESIGN.md names.
WEIGHTS: Final = {"title": 2.0, "headings": 4.0, "body": 3.0, "path": 1.0}
_SURFACE = "surface"
_NUMBER = "number"
_HEAP_BYTES = 128_000_000
_SHORT_SIZE = re.compile(r"(?<=\d)xl\b", re.IGNORECASE)
_HYPHENED = re.compile(r"(?<![\w-])([A-Za-z]{1,4})-(\d{1,4})(?![\w-])")
_PARTS = re.compile(r"[a-z]+|\d+")
_STOP_WORDS = frozenset(
    "a an and any are as at be been but by can could did do does for from had has have how i if in into is it its me my of on"
    " or our shall should so such than that the their them then there these they this those to was we were what when where"
    " which while who whose why will with would you your".split()
)


class LexicalIndex:
    """Safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        import tantivy

        self._tantivy = tantivy
        self._schema = _schema()
        index = _registered(tantivy.Index.open(str(folder / FOLDER_NAME)))
        self._searcher = index.searcher()
        self._surface = _analyzer(stem=False)
        self._stem = _analyzer(stem=True)
        self._suggest = lru_cache(maxsize=4_096)(self._find_suggestion)

    def search(self, text: str, limit: int) -> list[tuple[int, float]]:
        """The numbers of the chunks that share words with the text, with their BM25 scores, best first.

        The text is nothing but words: no sign in it has a meaning of its own.
        """
        terms = [self._term(stem) for stem in dict.fromkeys(self._stems(text))]
        if not terms:
            return []
        should = self._tantivy.Occur.Should
        query = self._tantivy.Query.boolean_query([(should, term) for term in terms])
        hits = self._searcher.search(query, limit, count=False).hits
        numbers = self._searcher.fast_field_values(_NUMBER, [address for _, address in hits])
        return [(int(number or 0), score) for number, (score, _) in zip(numbers, hits, strict=True)]

    def document_frequency(self, word: str) -> int:
        """How many chunks hold the word as it is spelt, in upper or lower case."""
        words = self._surface.analyze(_spelt_out(word))
        if not words:
            return 0
        if len(words) == 1:
            return self._searcher.doc_freq(_SURFACE, words[0])
        phrase = self._tantivy.Query.phrase_query(self._schema, _SURFACE, list(words))
        return self._searcher.search(phrase, 1, count=True).count or 0

    def suggest(self, word: str) -> str | None:
        """The word of the corpus that is nearest in spelling, the commonest of equals; None where none is near."""
        return self._suggest(word.lower())

    def _find_suggestion(self, word: str) -> str | None:
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        reach = 0 if len(word) < 4 or not word.isalpha() else 1 if len(word) < 8 else 2
        if not reach:
            return None
        for prefix in (word[0], ""):
            known = dict(self._searcher.terms_with_prefix(_SURFACE, prefix))
            near = process.extract(word, known.keys(), scorer=OSA.distance, score_cutoff=reach, limit=None)
            if near:
                return min(near, key=lambda match: (match[1], -known[match[0]], match[0]))[0]
        return None

    def _stems(self, text: str) -> Iterator[str]:
        words = list(self._known_words(self._surface.analyze(_spelt_out(text))))
        telling = [word for word in words if word not in _STOP_WORDS]
        return (stem for word in telling or words for stem in self._stem.analyze(word))

    def _known_words(self, words: list[str]) -> Iterator[str]:
        """The words as the corpus writes them: "h 100" as h100, trn1 as trn 1 and tranium as trainium where it does."""
        position = 0
        while position < len(words):
            pair = "".join(words[position : position + 2])
            if re.fullmatch(r"[a-z]{1,4}\d{1,4}", pair) and pair != words[position] and self._holds(pair):
                yield pair
                position += 2
                continue
            yield from self._known_word(words[position])
            position += 1

    def _known_word(self, word: str) -> Iterable[str]:
        if self._holds(word):
            return (word,)
        if any(character.isdigit() for character in word):
            return _PARTS.findall(word)
        return (self.suggest(word) or word,)

    def _holds(self, word: str) -> bool:
        return self._searcher.doc_freq(_SURFACE, word) > 0

    def _term(self, stem: str) -> "Query":
        query, should = self._tantivy.Query, self._tantivy.Occur.Should
        return query.boolean_query(
            [
                (should, query.boost_query(query.term_query(self._schema, field, stem, "freq"), weight))
                for field, weight in WEIGHTS.items()
            ]
        )


def build_lexical(rows: Iterable[tuple[int, Chunk, str]], folder: Path) -> None:
    """Index chunks, each with its number and its context, in a new folder below the given one."""
    import tantivy

    path = folder / FOLDER_NAME
    path.mkdir()
    writer = _registered(tantivy.Index(_schema(), path=str(path))).writer(_HEAP_BYTES, 1)
    for number, chunk, context in rows:
        document = tantivy.Document()
        document.add_unsigned(_NUMBER, number)
        for field, text in _fields(chunk, context).items():
            document.add_text(field, _spelt_out(text))
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()


def _fields(chunk: Chunk, context: str) -> dict[str, str]:
    title, headings = chunk.document.title, "\n".join(chunk.headings)
    body = f"{context}\n{chunk.text}"
    path = chunk.document.id.replace("_", " ")
    return {"title": title, "headings": headings, "body": body, "path": path, _SURFACE: f"{title}\n{headings}\n{body}"}


def _spelt_out(text: str) -> str:
    """Sizes in full ("32xl" is 32xlarge), and "h-100" with h100 beside it."""
    return _HYPHENED.sub(r"\g<0> \1\2", _SHORT_SIZE.sub("xlarge", text))


def _schema() -> "Schema":
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field(_NUMBER, fast=True)
    for field in WEIGHTS:
        builder.add_text_field(field, tokenizer_name="english", index_option="freq")
    builder.add_text_field(_SURFACE, tokenizer_name=_SURFACE, index_option="position")
    return builder.build()


def _registered(index: "Index") -> "Index":
    index.register_tokenizer("english", _analyzer(stem=True))
    index.register_tokenizer(_SURFACE, _analyzer(stem=False))
    return index


def _analyzer(*, stem: bool) -> "TextAnalyzer":
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    builder = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.remove_long(60))
    builder = builder.filter(Filter.lowercase()).filter(Filter.ascii_fold())
    return (builder.filter(Filter.stemmer("english")) if stem else builder).build()
