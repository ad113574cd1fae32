"""Prepared answers: find the question of the corpus that means what the user asks, and give its answer.

The documents of answers (`ingest.answers`) have each question in several wordings. Two learned parts decide which
question, if any, means the same as the user's: an encoder that brings questions near to what answers them
(`benchmarks/learn_questions.py`), and weights that choose among the nearest questions and none
(`benchmarks/learn_answers.py`). Every proof must stand in the index word for word. A sentence whose proof does not is
left out, so an answer never outlives the documents it was written from.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import resources
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chatbot.answer import NEAREST, Answer, Passage, Turn
from chatbot.computed import follows, numbers
from chatbot.deadline import check
from chatbot.draft import Draft
from chatbot.evidence.scored import Scored
from chatbot.language.names import mentioned
from chatbot.language.quantities import quantities
from chatbot.language.words import stems
from chatbot.per_index import per_index
from chatbot.question.asked_quantity import counted
from chatbot.question.attribute import asks_own_records, is_command
from chatbot.question.parts import questions
from chatbot.question.query import Query, understand
from chatbot.retrieval.meaning import question_vector
from chatbot.verification.citations import Evidence
from chatbot.verification.marks import without_marks
from ingest import Index, ProvedAnswer, read_answers

# Below this probability, an answer is shown below the prepared question that it belongs to. Often several questions fit
# and share the probability. At or above it, the likeliest answer was right for 0.45 of 840 graded turns that something
# answers, partly right for 0.03, and beside the point for less than 0.01.
SURE = 0.4
# Below this probability, an answer is marked as only the nearest.
OUTRIGHT = 0.1
# The lowest probability at which an answer is given, as the nearest, where nothing else answers.
POSSIBLE = 0.05
_TOLD = 3
# The lowest probability at which a refusal names a question.
WORTH_NAMING = 0.005
# A question of at most this many characters tells no story.
_SHORT = 100
# The probability assumed for evidence before it is searched for. A prepared answer that beats it is given without a search.
STRONG = 0.97
# Evidence is seldom more probable. Where even this would not be told, no document is read: of 914 tuned questions no answer changed.
SELDOM_SURER = 0.8
# Cosine similarity from which two questions share their answers. Of 32 graded turns whose likeliest question had a
# probability below one half, but above it together with the similar questions, its answer was right for 22 and beside
# the point for 3.
_ALIKE = 0.8
# How many nearest questions to consider, by centroid, and how many of those to compare closely.
_NEAR, _COMPARED = 60, 12
# Longer texts are never paraphrases of a prepared question.
_LONGEST = 600
_LOGIT = 1e-4
# How many results of a lexical search for a proof are scanned for its words.
_LOOKED_THROUGH = 20
# A year, but not the number in "2000 hours".
_YEAR = re.compile(r"\b(?:19|20)\d\d\b(?! ?[a-z]+s\b)")
_SIZE = re.compile(r"\b[a-z]+\d\w*(?:-\w+)?\.(?:\d*x)?(?:large|metal)\b")
_FOR_ADVICE = re.compile(r"\W*(?:should|can|could|may|must|do (?:i|we)|is it (?:worth|ok))\b", re.IGNORECASE)
_VERDICT = re.compile(r"(?:yes|no|not|only|both|never|always)\b", re.IGNORECASE)
# Similarities of a text to a question: to its nearest wording, to the centroid of its wordings, to its heading.
NEARNESS = ("nearest wording", "center", "heading")
FEATURES = (
    *NEARNESS, "nearest wording ahead of others", "center ahead of others", "said of question", "said of wording", "said of section",
    "said of heading", "letters shared", "figures missing",
)  # fmt: skip
# For a later turn: the features of the whole conversation, the similarities of the turn as typed and as completed, and
# whether the answer was given before.
LATER = (*FEATURES, *(f"{name}, as typed" for name in NEARNESS), *(f"{name}, completed" for name in NEARNESS), "given before")
# Where an answer that was not prepared comes from: a computation, table rows, evidence in documents, or nowhere.
Kind = Literal["refusal", "sized", "row", "compared", "rows", "evidence"]
KINDS: tuple[Kind, ...] = ("refusal", "sized", "row", "compared", "rows")
CHOSEN = (
    "any of them", "likeliest", "evidence", "proved by evidence", *KINDS, "asks a number", "asks how to", "words", "later", "evidence in a later turn",
)  # fmt: skip
TOLD = ("evidence", "words", "later")
_NONE = np.zeros((0, 0), dtype=np.float32)
# Characters at the start of an answer that tell it from all others.
_BEGINNING = 60


@dataclass(frozen=True, slots=True)
class Known:
    """A question with its prepared answer, its wordings, and the rows of their vectors in the book."""

    answer: ProvedAnswer
    wordings: tuple[str, ...]
    rows: range


@dataclass(frozen=True, slots=True)
class Book:
    """All prepared questions of an index.

    `vectors`, (wordings, 384), are those of all wordings, and `centers`, (questions, 384), each question's centroid.
    `owners`, (wordings,), has the number of the question that each wording belongs to. `rarity` weighs each stem by how
    rare it is in the answers. `tables` has the document id of each table by its name.
    """

    questions: tuple[Known, ...]
    owners: NDArray[np.int64]
    vectors: NDArray[np.float32]
    centers: NDArray[np.float32]
    rarity: dict[str, float]
    tables: dict[str, str]

    def speaks_of(self, said: frozenset[str]) -> bool:
        """Whether any of the stems is in more than two answers. Two answers mention lunch in passing."""
        seldom = _rarity(2, len(self.questions))
        return any(self.rarity.get(stem, seldom) < seldom for stem in said)

    def weight(self, said: frozenset[str]) -> float:
        return sum(self.rarity.get(stem, self.rarity[""]) for stem in said)


@dataclass(frozen=True, slots=True)
class Match:
    """A question of the corpus that may mean what the user asks.

    `probability` is that of this question. `likelihood` adds the probabilities of the questions very similar to it.
    """

    question: Known
    features: NDArray[np.float32]
    probability: float
    likelihood: float


class Learned(NamedTuple):
    """Weights of features, and a bias. The odds are relative to choosing none of the questions."""

    weights: NDArray[np.float32]
    bias: float

    def odds(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(np.exp(np.clip(features @ self.weights + self.bias, -30, 30)), dtype=np.float32)


class Matching(NamedTuple):
    """Weights for a first turn (FEATURES), for a later turn (LATER), for the choice between a prepared answer and the
    alternative (CHOSEN), and for whether evidence is worth showing (TOLD)."""

    first: Learned
    later: Learned
    chosen: Learned
    told: Learned


def nearest(query: Query, index: Index) -> tuple[Match, ...]:
    """Return the questions of the corpus that may mean what is asked, likeliest first."""
    said = stems(query.question)
    # "What is for lunch?" does not belong to the conversation: it depends on no earlier turn, and none of its words is
    # in more than two answers.
    is_apart = bool(query.history and said) and query.standalone == query.question and not load_book(index).speaks_of(said)
    is_other = query.options or len(query.question) > _LONGEST or is_command(query.standalone) or asks_own_records(query.standalone)
    return () if is_apart or is_other else tuple(matches(query.standalone, query.typed, query.history, index))


class Alternative(NamedTuple):
    """The answer that would be given instead of a prepared one: where it comes from, the probability that its best evidence
    answers, and whether that evidence proves the prepared answer."""

    kind: Kind
    probability: float = 0.0
    proves: bool = False


def is_better(found: Sequence[Match], query: Query, other: Alternative) -> bool:
    """Whether to give the answer to the likeliest question instead of the other one. An answer that an earlier turn gave
    does not replace a computation or rows."""
    if found and query.history and other.kind not in ("refusal", "evidence") and found[0].features[LATER.index("given before")]:
        return False
    return bool(found) and _fits(found[0], query, other) and bool(load_matching().chosen.odds(choice(found, query, other)) > 1)


def is_worth_telling(query: Query, probability: float) -> bool:
    """Whether evidence with this probability of answering helps a person more than a refusal. A sentence that shares
    words with a long story, or with a turn of a conversation, is mostly beside the point."""
    return bool(load_matching().told.odds(told(query, probability)) > 1)


def told(query: Query, probability: float) -> NDArray[np.float32]:
    """Return the features, (TOLD,), of `is_worth_telling`."""
    return np.array([_logit(probability), math.log(1 + len(query.question.split())), float(bool(query.history))], dtype=np.float32)


def _fits(match: Match, query: Query, other: Alternative) -> bool:
    """Whether a prepared answer passes the rules for a question.

    It must have the years that the question names. If the question is about a figure, the answer must mention what is
    counted and everything that the question names, except in a story or a conversation, where some names do not matter.
    A short question of this kind also needs a quantity of the dimension asked for; if it only compares, then only where
    the alternative has figures. If a short question claims a figure, the answer must begin with a verdict on it.
    """
    said = _said(match)
    for_figure = bool(query.dimensions) and (query.asks_number or len(query.sides) > 1)
    alone = for_figure and not query.history
    things = stems(" ".join(counted(query.standalone)))
    named = not alone or is_story(query) or (mentioned(query.standalone) <= mentioned(said) and (not things or bool(things & stems(said))))
    brief = alone and not is_story(query) and not query.yes_no and (query.asks_number or other.kind not in ("refusal", "evidence"))
    told = not brief or not query.dimensions.isdisjoint(q.dimension for q in quantities(match.question.answer.answer))
    claims = not query.history and not is_story(query) and query.yes_no and bool(quantities(query.standalone)) and not _FOR_ADVICE.match(query.standalone)
    judged = not claims or bool(_VERDICT.match(match.question.answer.answer))
    return named and told and judged and _has_years(said, query)


def may_serve(found: Sequence[Match], query: Query) -> Match | None:
    """Return the likeliest of the nearest questions whose answer may be given where nothing answers, or None.

    Only advice qualifies, because no figure or procedure can stand in for another. The answer must mention everything
    that the question names, except in a story or a conversation, where some names do not matter.
    """
    near = (match for match in found[:_TOLD] if match.probability >= POSSIBLE and not (query.asks_number or query.operates))
    named = mentioned(query.standalone)

    def is_of(match: Match) -> bool:
        said = _said(match)
        return (((query.history or is_story(query)) and match.probability >= OUTRIGHT) or named <= mentioned(said)) and _has_years(said, query)

    return next(filter(is_of, near), None)


def is_story(query: Query) -> bool:
    """Whether a question is so long that it mentions things that do not matter to it."""
    return len(query.question) > _SHORT


def _has_years(said: str, query: Query) -> bool:
    return set(_YEAR.findall(query.standalone)) <= set(_YEAR.findall(said))


def _said(match: Match) -> str:
    return "\n".join((*match.question.wordings, match.question.answer.answer))


def choice(found: Sequence[Match], query: Query, other: Alternative) -> NDArray[np.float32]:
    """Return the features, (CHOSEN,), of the choice between a prepared answer and the alternative."""
    evidence = _logit(other.probability) if other.kind == "evidence" else 0.0
    kinds = [float(other.kind == kind) for kind in KINDS]
    likely = [_logit(sum(match.probability for match in found)), _logit(found[0].likelihood)]
    words, later, by_evidence = math.log(1 + len(query.question.split())), float(bool(query.history)), float(other.kind == "evidence")
    asks = [float(query.asks_number), float(query.operates), words, later, later * by_evidence]
    return np.array([*likely, evidence, float(other.proves), *kinds, *asks], dtype=np.float32)


def _logit(probability: float) -> float:
    p = min(max(probability, _LOGIT), 1 - _LOGIT)
    return math.log(p / (1 - p))


def answer_of(match: Match, index: Index, *, outright: bool = True) -> Draft | None:
    """Return the answer to a matched question, or None if none of its proofs still stands.

    The answer is shown below its question if another one may be meant, or if it is only the nearest.
    """
    near = not outright or match.probability < OUTRIGHT
    draft = _draft(match.question, index, f"{NEAREST}:" if near else "Taken as" if match.probability < SURE else "")
    return replace(draft, near=near, confidence=match.likelihood) if draft else None


def answer_of_each(query: Query, index: Index, whole: Sequence[Match], by_rows: Callable[[Query], Draft | None]) -> Draft | None:
    """Return the answers to the two things that a question asks, one below the other. None if it asks for one thing
    only, or if one answer covers it all. `by_rows` answers what rows alone answer."""
    texts = questions(query.question)
    if len(texts) != 2 or (mentioned(texts[1]) and not mentioned(texts[0])):
        return None  # the second part names what the first is about: "how many GPUs and how much memory has a p4de"
    found: list[Match] = []
    rows: dict[int, Draft] = {}
    history = query.history
    for number, text in enumerate(texts):
        part = understand(text, history, index)
        if told := by_rows(part):
            rows[number] = told
            history = (*history, Turn(text, told.text))
            continue
        # Completed, the second part may be surer than as a later turn.
        read = (part, *([understand(part.standalone, (), index)] if number and part.standalone != text else []))
        near = max((matched for one in read if (matched := nearest(one, index))), key=lambda matched: matched[0].probability, default=())
        if not near or near[0].probability < SURE:
            return None
        found.append(near[0])
        history = (*history, Turn(text, near[0].question.answer.answer))
    if not found:
        return None
    book = load_book(index)
    is_one = not rows and (_beginning(found[0]) == _beginning(found[1]) or float(_center(found[0], book) @ _center(found[1], book)) >= _ALIKE)
    of_all = whole and whole[0].question not in [match.question for match in found] and whole[0].probability > max(match.probability for match in found)
    if is_one or (of_all and (not rows or questions(whole[0].question.answer.question))):
        return None
    prepared = iter(found)
    one, two = (rows.get(number) or answer_of(next(prepared), index) for number in range(2))
    return one.then(two) if one and two else None


def _beginning(match: Match) -> str:
    return plain_answer(match.question.answer)[:_BEGINNING]


def _center(match: Match, book: Book) -> NDArray[np.float32]:
    return np.asarray(book.centers[book.owners[match.question.rows[0]]])


def is_proved_by(match: Match, evidence: Scored) -> bool:
    """Whether a piece of evidence is one of the proofs of an answer."""
    words, name = evidence.unit.text.strip("* .-"), _name(evidence.unit.chunk.document.id)
    return any(proof.document == name and (proof.quote in words or words in proof.quote) for proof in match.question.answer.proofs.values())


def _name(document: str) -> str:
    """Return the file name of a document, without folder and extension."""
    return document.rpartition("/")[2].rpartition(".")[0]


def matches(
    standalone: str, typed: str, history: Sequence[Turn], index: Index, without: frozenset[int] = frozenset()
) -> list[Match]:
    """Return the questions of the corpus that are nearest to what is asked, likeliest first.

    A later turn is encoded in three ways: appended to all earlier turns, as typed, and completed from the earlier
    turns. The probabilities are those of a choice among these questions and none. `without` are rows of wordings to
    leave out, for training.
    """
    book = load_book(index)
    if not book.questions or not (history or stems(standalone)):
        return []
    check()
    # Wordings in other languages are nearest to the question as typed.
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
    """Join the turns of a conversation as the encoder reads them."""
    return " / ".join(turns)


def _of_another_size(question: str, sizes: Sequence[str]) -> bool:
    """Whether a question of the corpus names instance types, but none of those that are asked about."""
    own = _SIZE.findall(question.lower())
    return bool(own and sizes) and not set(own) & set(sizes)


def related(answer: Answer, index: Index) -> Iterator[str]:
    """Yield the questions of the corpus nearest to a question and its answer, except those whose answer was given."""
    book = load_book(index)
    if not book.questions:
        return
    vector = question_vector(answer.question if answer.refused else f"{answer.question} {answer.text[:_LONGEST]}")
    text = " ".join(without_marks(answer.text).split())
    for question in (near.question.answer for near in near_to(vector[None], book)[:_COMPARED]):
        if plain_answer(question)[:_BEGINNING] not in text:
            yield question.question


class Near(NamedTuple):
    """A question with the wordings to compare with, their vectors, (wordings, 384), and their centroid, (384,).
    `nearest` and `centered` are the cosine similarities of a text to the nearest wording and to the centroid."""

    question: Known
    wordings: tuple[str, ...]
    vectors: NDArray[np.float32]
    center: NDArray[np.float32]
    nearest: float
    centered: float


def near_to(vectors: NDArray[np.float32], book: Book, without: frozenset[int] = frozenset()) -> list[Near]:
    """Return the questions nearest to some vectors, (n, 384), nearest first. The nearest of the vectors counts."""
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
    """Return the similarities, (found, NEARNESS)."""
    return np.array([[(near.vectors @ vectors.T).max(), (near.center @ vectors.T).max(), (near.vectors[0] @ vectors.T).max()] for near in found], dtype=np.float32)


def _ahead(found: Sequence[Near]) -> NDArray[np.float32]:
    """Return, (found, 2), how much nearer each question is than the nearest other one, by wordings and by centroid."""
    cosines = np.array([[near.nearest, near.centered] for near in found], dtype=np.float32)
    others = [np.delete(cosines, place, axis=0).max(axis=0, initial=0.0) for place in range(len(found))]
    return np.asarray(cosines - np.array(others), dtype=np.float32)


def _given_before(answers: Sequence[ProvedAnswer], history: Sequence[Turn]) -> NDArray[np.float32]:
    """Return, (answers, 1), a 1 for each answer that an earlier turn gave: nobody asks for it again."""
    said = [" ".join(without_marks(turn.answer).split()) for turn in history]
    given = [float(any(plain_answer(answer)[:_BEGINNING] in text for text in said)) for answer in answers]
    return np.array(given, dtype=np.float32)[:, None]


def _said_in(text: str, found: Sequence[Near], book: Book) -> NDArray[np.float32]:
    """Return, (found, 6), what a text shares with each question: words by rarity, letters, and figures that it lacks."""
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


# Large enough for the wordings one question is compared with.
@lru_cache(maxsize=1_024)
def _letters(text: str) -> frozenset[str]:
    """Return a text's character 4-grams. Spelling variants, and words written together or apart, differ in few."""
    padded = f" {' '.join(text.lower().split())} "
    return frozenset(padded[start : start + 4] for start in range(max(1, len(padded) - 3)))


def plain_answer(answer: ProvedAnswer) -> str:
    """Return the answer as one line without marks."""
    return " ".join(without_marks(answer.answer).split())


def _draft(question: Known, index: Index, lead: str) -> Draft | None:
    """Return the answer with the proofs that still stand, or None if none does. A lead puts the question above it."""
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
    # A number must be in a proof that still stands or in the question, or follow from two numbers there.
    proved = [answer.proofs[n].quote for n, place in found.items() if place]
    known = numbers("\n".join((answer.question, *proved)))
    following = (f"{value:g}" for value in numbers(without_marks(answer.answer)) if follows(value, known))
    return Draft(text, evidence, said="\n".join((*question.wordings, *proved, *following)))


def _evidence(name: str, quote: str, index: Index) -> Evidence | None:
    """Find a proof in the index by its exact words. A proof from a table is looked for in that table, without a search."""
    table = load_book(index).tables.get(name)
    chunks = index.document_chunks(table) if table else index.chunks([id for id, _ in index.lexical(quote, _LOOKED_THROUGH)])
    for chunk in chunks:
        start = chunk.text.find(quote)
        if start >= 0 and _name(chunk.document.id) == name:
            return Evidence(Passage(1, chunk, 1.0), chunk.start + start, chunk.start + start + len(quote))
    return None


@cache
def load_matching() -> Matching:
    """Load the weights that `benchmarks/learn_answers.py` learned."""
    from safetensors.numpy import load

    learned = load(resources.files("chatbot.reader").joinpath("matching.safetensors").read_bytes())
    return Matching(*(Learned(learned[name][:-1].astype(np.float32), float(learned[name][-1])) for name in Matching._fields))


@per_index
def load_book(index: Index) -> Book:
    """Load the prepared questions of an index."""
    found = index.questions()
    documents = {document.id: document for document, _, _ in found}
    answers = {(document.id, answer.wordings[0][0]): answer for document in documents.values() for answer in read_answers(document)}
    questions, encoded, first = list[Known](), list[NDArray[np.float32]](), 0
    for document, start, vectors in found:
        answer = answers.get((document.id, start))
        # A question that an older version indexed has other vectors. Skip it until the next ingest.
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
