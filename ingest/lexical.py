"""Search by words: tantivy (BM25) over weighted parts of each chunk, and the spelling of the corpus."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ingest.document import Chunk
from ingest.minilm import known_words

if TYPE_CHECKING:
    from tantivy import Index, Schema, TextAnalyzer

FOLDER_NAME = "words"
# Words of a title, of headings and of folders (a guide's name) count twice as much as those of the body, all as words of one
# text (BM25F: Robertson, Zaragoza and Taylor 2004). Everything is there twice, as if k1, which tantivy fixes at 1.2, were 0.6, which is better.
# Chosen among 1,300 questions made by program from AWS pages: right page first for 0.65 of 500 on other
# guides, within five for 0.83. The best of four fields a term, tuned on 48 questions, had 0.55 and 0.76 (0.71 and 0.85 of the 48).
WEIGHTS: Final = {"title": 4, "headings": 4, "folders": 4, "body": 2}
_WORDS = "words"
_SURFACE = "surface"
_NUMBER = "number"
_HEAP_BYTES = 128_000_000
_SHORT_SIZE = re.compile(r"(\d)[xX][lL]\b")
_HYPHENED_NUMBER = re.compile(r"-(\d{1,4})(?![\w-])")
_SHORT_WORD_BEFORE = re.compile(r"(?:^|[^\w-])([A-Za-z]{1,4})$")
_NUMBERED = re.compile(r"[a-z]{1,4}\d{1,4}")
_PARTS = re.compile(r"[a-z]+|\d+")
_DIGIT = re.compile(r"\d")
_FUNCTION_WORDS = """
a an and any are as at be been but by can could did do does for from had has have how i if in into is it its me my of on
or our shall should so such than that the their them then there these they this those to was we were what when where
which while who whose why will with would you your
"""
_STOP_WORDS = frozenset(_FUNCTION_WORDS.split())


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
        """The numbers of the chunks that share words with the text, with their BM25 scores, best first. The text has no syntax."""
        build, should = self._tantivy.Query, self._tantivy.Occur.Should
        stems = dict.fromkeys(self.question_stems(text))
        if not stems:
            return []
        query = build.boolean_query([(should, build.term_query(self._schema, _WORDS, stem, "freq")) for stem in stems])
        hits = self._searcher.search(query, limit, count=False).hits
        numbers = self._searcher.fast_field_values(_NUMBER, [address for _, address in hits])
        return [(int(number or 0), score) for number, (score, _) in zip(numbers, hits, strict=True)]

    def document_frequency(self, word: str) -> int:
        """How many chunks hold the word as it is spelt, in upper or lower case."""
        words = list(self._joined(self._surface.analyze(_full_sizes(word))))
        if len(words) < 2:
            return sum(self._searcher.doc_freq(_SURFACE, word) for word in words)
        phrase = self._tantivy.Query.phrase_query(self._schema, _SURFACE, list(words))
        result: Any = self._searcher.search(phrase, 1, count=True)
        return int(result.count or 0)

    def suggest(self, word: str) -> str | None:
        """The word of the corpus that is nearest in spelling, the commonest of equals; None where none is near."""
        return self._suggest(word.lower())

    def _find_suggestion(self, word: str) -> str | None:
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        letters, digits = _DIGIT.sub("", word), _DIGIT.findall(word)
        if len(letters) < 4 or not letters.isalpha() or not {word, word.removesuffix("s")}.isdisjoint(known_words()):
            return None
        reach = 1 if len(letters) < 8 else 2
        for first in dict.fromkeys(word[:2]):  # a first letter is seldom wrong, and then mostly swapped with the second
            terms = self._searcher.terms_with_prefix(_SURFACE, first)
            known = {term: count for term, count in terms if _DIGIT.findall(term) == digits}
            near = process.extract(word, known.keys(), scorer=OSA.distance, score_cutoff=reach, limit=None)
            if near:
                return min(near, key=lambda match: (match[1], -known[match[0]], match[0]))[0]
        return None

    def stems_of(self, text: str) -> list[str]:
        """The stems of a text as it is indexed."""
        return self._stem.analyze(text)

    def question_stems(self, text: str) -> Iterator[str]:
        """The stems that a question is searched by."""
        joined = self._joined(self._surface.analyze(_full_sizes(text)))
        words = [known for word in joined for known in self._known(word)]
        telling = [word for word in words if word not in _STOP_WORDS]
        return (stem for word in telling or words for stem in self._stem.analyze(word))

    def _joined(self, words: list[str]) -> Iterator[str]:
        """The words, with "h 100" as h100 where the corpus has that."""
        position = 0
        while position < len(words):
            pair = "".join(words[position : position + 2])
            together = pair != words[position] and _NUMBERED.fullmatch(pair) and self._holds(pair)
            yield pair if together else words[position]
            position += 2 if together else 1

    def _known(self, word: str) -> Iterable[str]:
        """The word as the corpus has it: tranium as trainium, and trn1 as trn 1 where it does not have trn1."""
        if self._holds(word):
            return (word,)
        suggestion = self.suggest(word)
        return (suggestion,) if suggestion else _PARTS.findall(word) or (word,)

    def _holds(self, word: str) -> bool:
        return self._searcher.doc_freq(_SURFACE, word) > 0


def build_lexical(rows: Iterable[tuple[int, Chunk, str]], folder: Path) -> None:
    """Index chunks, each with its number and its context, in a new folder below the given one."""
    import tantivy

    path = folder / FOLDER_NAME
    path.mkdir()
    writer = _registered(tantivy.Index(_schema(), path=str(path))).writer(_HEAP_BYTES, 1)
    for number, chunk, context in rows:
        document = tantivy.Document()
        document.add_unsigned(_NUMBER, number)
        said = parts(chunk, context)
        document.add_text(_WORDS, "\n".join(f"{text}\n" * WEIGHTS[name] for name, text in said.items()))
        document.add_text(_SURFACE, f"{said['title']}\n{said['headings']}\n{said['body']}")
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()


def parts(chunk: Chunk, context: str) -> dict[str, str]:
    """What is indexed of a chunk, by the names of WEIGHTS, as it is to be analysed."""
    title = chunk.document.title
    texts = {
        "title": title,
        "headings": "\n".join(heading for heading in chunk.headings if heading != title),
        "folders": chunk.document.id.rpartition("/")[0].replace("_", " "),
        "body": f"{context}\n{chunk.text}",
    }
    return {name: _spelt_out(text) for name, text in texts.items()}


def _spelt_out(text: str) -> str:
    """Sizes in full, and "h-100" with h100 beside it."""
    return _HYPHENED_NUMBER.sub(_with_joined, _full_sizes(text))


def _full_sizes(text: str) -> str:
    # Few texts have a size, and looking for a digit at every character takes a tenth of the time of writing.
    return _SHORT_SIZE.sub(r"\1xlarge", text) if "xl" in text.lower() else text


def _with_joined(number: re.Match[str]) -> str:
    before = _SHORT_WORD_BEFORE.search(number.string[max(0, number.start() - 5) : number.start()])
    return f"{number.group()} {before.group(1)}{number.group(1)}" if before else number.group()


def _schema() -> "Schema":
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field(_NUMBER, fast=True)
    builder.add_text_field(_WORDS, tokenizer_name="english", index_option="freq")
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
