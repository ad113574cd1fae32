"""Questions that the corpus holds an answer to: the user's question is compared with theirs, and the answer of the nearest is given.

The documents of answers (`ingest.answers`) have each question in several wordings. Which of them means the same as the user's question,
if any does, is learned: by `benchmarks/learn_questions.py` an encoder that brings what people ask near to what answers it, then by
`benchmarks/learn_answers.py` weights that choose among the nearest questions and none. Every proof must stand in the index word for word; a sentence
whose proof does not is left out, so an answer never outlives the documents that it was written from.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import resources
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chatbot.answer import NEAREST, Answer, Passage, Turn
from chatbot.attribute import asks_own_records, is_command
from chatbot.citations import Evidence
from chatbot.computed import follows, numbers
from chatbot.deadline import check
from chatbot.draft import Draft
from chatbot.marks import without_marks
from chatbot.meaning import question_vector
from chatbot.names import mentioned
from chatbot.parts import questions
from chatbot.per_index import per_index
from chatbot.quantities import quantities
from chatbot.query import Query, understand
from chatbot.scoring import Scored
from chatbot.words import stems
from ingest import Index, ProvedAnswer, read_answers

# An answer of a question that is less likely stands below that question. Often several answer, and share what is likely: from here on the likeliest was right
# for 0.45 of 840 graded turns that something answers, a part for 0.03, and beside the point for less than 0.01.
SURE = 0.4
# One of a question that is even less likely is told as what is only nearest.
OUTRIGHT = 0.1
# An answer of a question that is at least so likely is told where nothing else answers, as what is nearest.
POSSIBLE = 0.05
_TOLD = 3
# A question that is less likely is not even named where nothing is answered.
WORTH_NAMING = 0.005
_SHORT = 100
# So brief a question asks for nothing else than its quantity.
_BRIEF = 60
# How probable evidence is at most to answer, so far as a prepared answer is given without a search for any.
STRONG = 0.97
# Questions so near to each other are answered by each other's answer: of 32 graded turns whose likeliest question had less than half, and more than that with
# those like it, its answer was right for 22 and beside the point for 3.
_ALIKE = 0.8
# So much the judge reads of an answer.
_ANSWER_READ = 330
# So many questions are looked at whose middle is nearest, and so many of these closely.
_NEAR, _COMPARED = 60, 12
# A longer text is no question that anybody has put into other words.
_LONGEST = 600
_LOGIT = 1e-4
# A proof is among so many of the passages that have most of its words.
_LOOKED_THROUGH = 20
# Not "2000 hours".
_YEAR = re.compile(r"\b(?:19|20)\d\d\b(?! ?[a-z]+s\b)")
_SIZE = re.compile(r"\b[a-z]+\d\w*(?:-\w+)?\.(?:\d*x)?(?:large|metal)\b")
_FOR_ADVICE = re.compile(r"\W*(?:should|can|could|may|must|do (?:i|we)|is it (?:worth|ok))\b", re.IGNORECASE)
_VERDICT = re.compile(r"(?:yes|no|not|only|both|never|always)\b", re.IGNORECASE)
# How near a text is to a question: to its nearest wording, to the middle of all, to its heading.
NEARNESS = ("nearest wording", "center", "heading")
FEATURES = (
    *NEARNESS, "nearest wording ahead of others", "center ahead of others", "said of question", "said of wording", "said of section",
    "said of heading", "letters shared", "figures missing",
)  # fmt: skip
# Of a later turn: those of the whole conversation, how near it is as typed and as completed, and whether the answer was given before.
LATER = (*FEATURES, *(f"{name}, as typed" for name in NEARNESS), *(f"{name}, completed" for name in NEARNESS), "given before")
# An answer that was not prepared is computed, or from rows of tables, or from evidence in documents, or there is none.
Kind = Literal["refusal", "sized", "row", "compared", "rows", "evidence"]
KINDS: tuple[Kind, ...] = ("refusal", "sized", "row", "compared", "rows")
CHOSEN = ("any of them", "likeliest", "evidence", "proved by evidence", *KINDS, "asks a number", "asks how to")
TOLD = ("evidence", "words", "later")
_NONE = np.zeros((0, 0), dtype=np.float32)
# So much of an answer tells it from all others.
_BEGINNING = 60


@dataclass(frozen=True, slots=True)
class Known:
    """A question with an answer: its wordings, and the rows of their vectors."""

    answer: ProvedAnswer
    wordings: tuple[str, ...]
    rows: range


@dataclass(frozen=True, slots=True)
class Book:
    """All questions of an index, the vectors of their wordings, (wordings, 384), and of the middle of each question's, (questions, 384), and how
    rare each word is in the answers. `owners`, (wordings,), has the number of the question that each wording is of, `tables` the id of each table by its name."""

    questions: tuple[Known, ...]
    owners: NDArray[np.int64]
    vectors: NDArray[np.float32]
    centers: NDArray[np.float32]
    rarity: dict[str, float]
    tables: dict[str, str]

    def speaks_of(self, said: frozenset[str]) -> bool:
        """Whether a word stands in more than two answers; of lunch two speak by the way."""
        seldom = _rarity(2, len(self.questions))
        return any(self.rarity.get(stem, seldom) < seldom for stem in said)

    def weight(self, said: frozenset[str]) -> float:
        return sum(self.rarity.get(stem, self.rarity[""]) for stem in said)


@dataclass(frozen=True, slots=True)
class Match:
    """A question of the corpus, how probable it is that it means what the user asks, and that it or one that it is very like does."""

    question: Known
    features: NDArray[np.float32]
    probability: float
    likelihood: float


class Learned(NamedTuple):
    """Weights of features, and the bias against none of the questions."""

    weights: NDArray[np.float32]
    bias: float

    def odds(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(np.exp(np.clip(features @ self.weights + self.bias, -30, 30)), dtype=np.float32)


class Matching(NamedTuple):
    """Weights for a first turn (FEATURES), for a later one (LATER), for the choice between a prepared answer and what else would be said (CHOSEN), and
    for whether evidence is worth telling (TOLD)."""

    first: Learned
    later: Learned
    chosen: Learned
    told: Learned


def nearest(query: Query, index: Index) -> tuple[Match, ...]:
    """The questions of the corpus that may mean what is asked, the likeliest first."""
    said = stems(query.question)
    # "What is for lunch?" is none of the conversation's: it leans on no turn before, and at most two answers have a word of it.
    is_apart = bool(query.history and said) and query.standalone == query.question and not load_book(index).speaks_of(said)
    is_other = query.options or len(query.question) > _LONGEST or is_command(query.standalone) or asks_own_records(query.standalone)
    return () if is_apart or is_other else tuple(matches(query.standalone, query.question, query.history, index))


class Alternative(NamedTuple):
    """What is answered otherwise: how it came about, how probable it is that its best evidence answers, and whether that proves the prepared answer."""

    kind: Kind
    probability: float = 0.0
    proves: bool = False


def is_better(found: Sequence[Match], query: Query, other: Alternative) -> bool:
    """Whether the answer to the likeliest question is to be given in place of another one."""
    return bool(found) and _fits(found[0], query, other) and bool(load_matching().chosen.odds(choice(found, query, other)) > 1)


def is_worth_telling(query: Query, probability: float) -> bool:
    """Whether evidence that is so probable to answer helps a person more than to read that nothing does: a sentence that shares words with a long story, or
    with a turn of a conversation, is mostly beside the point."""
    return bool(load_matching().told.odds(told(query, probability)) > 1)


def told(query: Query, probability: float) -> NDArray[np.float32]:
    """(TOLD,): what is told by."""
    return np.array([_logit(probability), math.log(1 + len(query.question.split())), float(bool(query.history))], dtype=np.float32)


def _fits(match: Match, query: Query, other: Alternative) -> bool:
    """Whether an answer is of the years that are named; to a short question for a figure, whether it speaks of what that names (in a story or a
    conversation names stand that it does not turn on), and says whether a figure is right that is claimed; and to a brief one, whether it has one of
    the kind, or compares where there are figures."""
    said = _said(match)
    for_figure = bool(query.dimensions) and (query.asks_number or len(query.sides) > 1)
    alone = for_figure and not query.history
    named = not alone or is_story(query) or mentioned(query.standalone) <= mentioned(said)
    brief = alone and len(query.question) <= _BRIEF and not query.yes_no and (query.asks_number or other.kind not in ("refusal", "evidence"))
    told = not brief or not query.dimensions.isdisjoint(q.dimension for q in quantities(match.question.answer.answer))
    claims = not query.history and len(query.question) <= _SHORT and query.yes_no and bool(quantities(query.standalone)) and not _FOR_ADVICE.match(query.standalone)
    judged = not claims or bool(_VERDICT.match(match.question.answer.answer))
    return named and told and judged and _has_years(said, query)


def may_serve(found: Sequence[Match], query: Query) -> Match | None:
    """The likeliest of the nearest questions whose answer is worth telling where nothing answers: of advice, as no figure and no procedure stands in
    for another, and of all that the question names, unless a story or a conversation names more than it turns on."""
    near = (match for match in found[:_TOLD] if match.probability >= POSSIBLE and not (query.asks_number or query.operates))
    named = mentioned(query.standalone)

    def is_of(match: Match) -> bool:
        said = _said(match)
        return (((query.history or is_story(query)) and match.probability >= OUTRIGHT) or named <= mentioned(said)) and _has_years(said, query)

    return next(filter(is_of, near), None)


def is_story(query: Query) -> bool:
    """Whether a question is so long that it tells more than it turns on."""
    return len(query.question) > _SHORT


def _has_years(said: str, query: Query) -> bool:
    return set(_YEAR.findall(query.standalone)) <= set(_YEAR.findall(said))


def _said(match: Match) -> str:
    return "\n".join((*match.question.wordings, match.question.answer.answer))


def choice(found: Sequence[Match], query: Query, other: Alternative) -> NDArray[np.float32]:
    """(CHOSEN,): what is chosen by."""
    evidence = _logit(other.probability) if other.kind == "evidence" else 0.0
    kinds = [float(other.kind == kind) for kind in KINDS]
    likely = [_logit(sum(match.probability for match in found)), _logit(found[0].likelihood)]
    return np.array([*likely, evidence, float(other.proves), *kinds, float(query.asks_number), float(query.operates)], dtype=np.float32)


def _logit(probability: float) -> float:
    p = min(max(probability, _LOGIT), 1 - _LOGIT)
    return math.log(p / (1 - p))


def answer_of(match: Match, index: Index, *, outright: bool = True) -> Draft | None:
    """The answer of a question, below that question where another may be meant or it is only the nearest; None where no proof of it stands any more."""
    near = not outright or match.probability < OUTRIGHT
    draft = _draft(match.question, index, f"{NEAREST}:" if near else "Taken as" if match.probability < SURE else "")
    return replace(draft, near=near) if draft else None


def answer_of_each(query: Query, index: Index, whole: Sequence[Match]) -> Draft | None:
    """The answers to the two things that a question asks, one below the other; None where it asks one thing, or one answer is of it all."""
    texts = questions(query.question)
    if len(texts) != 2 or (mentioned(texts[1]) and not mentioned(texts[0])):
        return None  # what the first is of, the second says: "how many GPUs and how much memory has a p4de"
    found: list[Match] = []
    history = query.history
    for text in texts:
        near = nearest(understand(text, history, index), index)
        if not near or near[0].probability < SURE:
            return None
        found.append(near[0])
        history = (*history, Turn(text, near[0].question.answer.answer))
    one, two = found
    book = load_book(index)
    is_one = _beginning(one) == _beginning(two) or float(_center(one, book) @ _center(two, book)) >= _ALIKE
    of_all = whole and whole[0].question not in (one.question, two.question) and whole[0].probability > max(match.probability for match in found)
    drafts = () if is_one or of_all else [answer_of(match, index) for match in found]
    return drafts[0].then(drafts[1]) if drafts and drafts[0] and drafts[1] else None


def _beginning(match: Match) -> str:
    return plain_answer(match.question.answer)[:_BEGINNING]


def _center(match: Match, book: Book) -> NDArray[np.float32]:
    return np.asarray(book.centers[book.owners[match.question.rows[0]]])


def is_proved_by(match: Match, evidence: Scored) -> bool:
    """Whether a piece of evidence is what proves an answer."""
    words, name = evidence.unit.text.strip("* .-"), _name(evidence.unit.chunk.document.id)
    return any(proof.document == name and (proof.quote in words or words in proof.quote) for proof in match.question.answer.proofs.values())


def _name(document: str) -> str:
    """The file name of a document without folder and ending."""
    return document.rpartition("/")[2].rpartition(".")[0]


def matches(
    standalone: str, typed: str, history: Sequence[Turn], index: Index, without: frozenset[int] = frozenset()
) -> list[Match]:
    """The questions of the corpus that are nearest to what is asked, the likeliest first.

    A later turn is read in three ways: behind all those before it, as it was typed, and completed from those before. The probabilities are of a
    choice among the questions and none. `without` are rows of wordings to leave out, for learning.
    """
    book = load_book(index)
    if not book.questions or not stems(standalone):
        return []
    check()
    # Wordings in other languages are nearest to what was typed.
    readings = [[conversation([*(turn.question for turn in history), typed])], [typed], [standalone]] if history else [[standalone, typed]]
    vectors = [np.array([question_vector(text) for text in dict.fromkeys(texts)]) for texts in readings]
    sizes, found = _SIZE.findall(standalone.lower()), near_to(vectors[0], book, without)
    found = [near for near in found if not _of_another_size(near.question.answer.question, sizes)][:_COMPARED]
    if not found:
        return []
    parts = [_nearness(vectors[0], found), _ahead(found), _said_in(standalone, found, book)]
    if history:
        parts += [*(_nearness(some, found) for some in vectors[1:]), _given_before([near.question.answer for near in found], history)]
    features = np.concatenate(parts, axis=1)
    odds = (load_matching().later if history else load_matching().first).odds(features)
    probabilities = odds / (1 + odds.sum())
    centers = np.array([near.center for near in found])
    likely = (centers @ centers.T >= _ALIKE) @ probabilities
    matched = [Match(near.question, f, float(p), float(s)) for near, f, p, s in zip(found, features, probabilities, likely, strict=True)]
    return sorted(matched, key=lambda match: -match.probability)


def conversation(turns: Sequence[str]) -> str:
    """The turns of a conversation as the encoder reads them."""
    return " / ".join(turns)


def read_as(answer: ProvedAnswer) -> str:
    """What the judge reads of a question and its answer."""
    return f"{answer.question} {plain_answer(answer)[:_ANSWER_READ]}"


def _of_another_size(question: str, sizes: Sequence[str]) -> bool:
    """Whether a question of the corpus is of an instance type, and none of those that are asked about."""
    own = _SIZE.findall(question.lower())
    return bool(own and sizes) and not set(own) & set(sizes)


def related(answer: Answer, index: Index) -> Iterator[str]:
    """Questions of the corpus near to one that was asked and to its answer, if it has one, the nearest first, without those whose answer it is."""
    book = load_book(index)
    if not book.questions:
        return
    vector = question_vector(answer.question if answer.refused else f"{answer.question} {answer.text[:_LONGEST]}")
    text = " ".join(without_marks(answer.text).split())
    for question in (near.question.answer for near in near_to(vector[None], book)[:_COMPARED]):
        if plain_answer(question)[:_BEGINNING] not in text:
            yield question.question


class Near(NamedTuple):
    """A question with the wordings that it is compared by, their vectors, (wordings, 384), their middle, (384,), and the cosines of a text to the
    nearest of them and to the middle."""

    question: Known
    wordings: tuple[str, ...]
    vectors: NDArray[np.float32]
    center: NDArray[np.float32]
    nearest: float
    centered: float


def near_to(vectors: NDArray[np.float32], book: Book, without: frozenset[int] = frozenset()) -> list[Near]:
    """The questions that the nearer of some vectors, (n, 384), comes near to, the nearest first."""
    centers = book.centers.copy() if without else book.centers
    for number in {int(book.owners[row]) for row in without}:
        kept = [row for row in book.questions[number].rows if row not in without]
        centers[number] = _unit(book.vectors[kept].sum(axis=0)) if kept else 0.0
    centered = (centers @ vectors.T).max(axis=1)
    found = []
    for number in np.argsort(-centered, kind="stable")[:_NEAR]:
        question = book.questions[number]
        kept = [place for place, row in enumerate(question.rows) if row not in without]
        if kept:
            own = book.vectors[[question.rows[place] for place in kept]]
            found.append(Near(question, tuple(question.wordings[place] for place in kept), own, centers[number], float((own @ vectors.T).max()), float(centered[number])))
    return sorted(found, key=lambda near: -(near.nearest + near.centered))


def _nearness(vectors: NDArray[np.float32], found: Sequence[Near]) -> NDArray[np.float32]:
    """(found, NEARNESS)."""
    return np.array([[(near.vectors @ vectors.T).max(), (near.center @ vectors.T).max(), (near.vectors[0] @ vectors.T).max()] for near in found], dtype=np.float32)


def _ahead(found: Sequence[Near]) -> NDArray[np.float32]:
    """(found, 2): by how much each is nearer than the nearest of the others, by its wordings and by their middle."""
    cosines = np.array([[near.nearest, near.centered] for near in found], dtype=np.float32)
    others = [np.delete(cosines, place, axis=0).max(axis=0, initial=0.0) for place in range(len(found))]
    return np.asarray(cosines - np.array(others), dtype=np.float32)


def _given_before(answers: Sequence[ProvedAnswer], history: Sequence[Turn]) -> NDArray[np.float32]:
    """(answers, 1): 1 where an answer was given in an earlier turn, for which nobody asks again."""
    said = [" ".join(without_marks(turn.answer).split()) for turn in history]
    given = [float(any(plain_answer(answer)[:_BEGINNING] in text for text in said)) for answer in answers]
    return np.array(given, dtype=np.float32)[:, None]


def _said_in(text: str, found: Sequence[Near], book: Book) -> NDArray[np.float32]:
    """(found, 6): what a text shares with the words of each question."""
    asked, letters, figures = stems(text), _letters(text), {q.text for q in quantities(text)}
    weight = book.weight(asked) or 1.0
    rows = []
    for near in found:
        answer = near.question.answer
        said, heading = [_stems(wording) for wording in near.wordings], _stems(answer.question)
        shared = [book.weight(asked & words) for words in said]
        rows.append([
            max(shared) / weight,
            max(s / (book.weight(words) or 1.0) for s, words in zip(shared, said, strict=True)),
            book.weight(asked & _stems(answer.answer).union(*said)) / weight,
            book.weight(asked & heading) / (book.weight(heading) or 1.0),
            max(len(letters & other) / len(letters | other) for other in map(_letters, near.wordings)),
            sum(figure not in answer.answer and not any(figure in wording for wording in near.wordings) for figure in figures),
        ])  # fmt: skip
    return np.array(rows, dtype=np.float32)


# As many as the wordings that one question is compared with.
@lru_cache(maxsize=1_024)
def _letters(text: str) -> frozenset[str]:
    """Each four characters that stand together: spellings, and words that are written together or apart, differ in few of them."""
    padded = f" {' '.join(text.lower().split())} "
    return frozenset(padded[start : start + 4] for start in range(max(1, len(padded) - 3)))


def plain_answer(answer: ProvedAnswer) -> str:
    """The answer as one line without marks."""
    return " ".join(without_marks(answer.answer).split())


def _draft(question: Known, index: Index, lead: str) -> Draft | None:
    """The answer with its proofs where they stand, below its question behind a lead, if there is one; None where no proof stands any more."""
    answer = question.answer
    found = {n: _evidence(proof.document, proof.quote, index) for n, proof in answer.proofs.items()}
    evidence = tuple(dict.fromkeys(e for e in found.values() if e is not None))
    if not evidence:
        return None

    def number(mark: re.Match[str]) -> str:
        place = found.get(int(mark[1]))
        return f"[{evidence.index(place) + 1}]" if place else "[0]"

    text = re.sub(r"\[(\d+)\]", number, answer.answer)
    if lead:
        text = f"{lead} “{answer.question}”\n{text}"
    # A number must stand in a proof that still stands or in the question, or follow from two that do.
    proved = [answer.proofs[n].quote for n, place in found.items() if place]
    known = numbers("\n".join((answer.question, *proved)))
    following = (f"{value:g}" for value in numbers(without_marks(answer.answer)) if follows(value, known))
    return Draft(text, evidence, said="\n".join((*question.wordings, *proved, *following)))


def _evidence(name: str, quote: str, index: Index) -> Evidence | None:
    """Where a proof stands, by the words of it; rows of tables are not searched."""
    table = load_book(index).tables.get(name)
    chunks = index.document_chunks(table) if table else index.chunks([id for id, _ in index.lexical(quote, _LOOKED_THROUGH)])
    for chunk in chunks:
        start = chunk.text.find(quote)
        if start >= 0 and _name(chunk.document.id) == name:
            return Evidence(Passage(1, chunk, 1.0), chunk.start + start, chunk.start + start + len(quote))
    return None


@cache
def load_matching() -> Matching:
    """What `benchmarks/learn_answers.py` learned."""
    from safetensors.numpy import load

    learned = load(resources.files("chatbot").joinpath("matching.safetensors").read_bytes())
    return Matching(*(Learned(learned[name][:-1].astype(np.float32), float(learned[name][-1])) for name in Matching._fields))


@per_index
def load_book(index: Index) -> Book:
    """The questions of an index."""
    found = index.questions()
    documents = {document.id: document for document, _, _ in found}
    answers = {(document.id, answer.wordings[0][0]): answer for document in documents.values() for answer in read_answers(document)}
    questions, encoded, first = list[Known](), list[NDArray[np.float32]](), 0
    for document, start, vectors in found:
        answer = answers.get((document.id, start))
        # What an older version indexed has other vectors, and waits for the next ingest.
        if answer and len(vectors) == len(answer.wordings):
            wordings = tuple(document.text[slice(*span)] for span in answer.wordings)
            questions.append(Known(answer, wordings, range(first, first := first + len(vectors))))
            encoded.append(vectors)
    counts = Counter(stem for q in questions for stem in _stems(f"{q.answer.question}\n{q.answer.answer}"))
    rarity = {stem: _rarity(count, len(questions)) for stem, count in counts.items()} | {"": _rarity(0, len(questions))}
    owners = np.repeat(np.arange(len(questions)), [len(question.rows) for question in questions])
    tables = {_name(table.id): table.id for table in index.tables()}
    centers = [_unit(vectors.sum(axis=0)) for vectors in encoded]
    return Book(tuple(questions), owners, np.concatenate(encoded or [_NONE]), np.array(centers) if centers else _NONE, rarity, tables)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True), dtype=np.float32)


def _rarity(count: int, answers: int) -> float:
    return math.log((1 + answers) / (0.5 + count))


_stems = lru_cache(maxsize=32_768)(stems)
