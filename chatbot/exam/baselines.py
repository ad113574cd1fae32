"""Baselines for an accuracy: chance, fixed picks, the model without sources, retrieval without a reader."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb

from chatbot.answer import OFFLINE, ReaderError
from chatbot.bot import Chatbot
from chatbot.exam.asking import graded
from chatbot.exam.question import ExamQuestion, letter
from chatbot.exam.rates import Score
from chatbot.exam.results import Verdict, score
from chatbot.llm.letters import chosen
from chatbot.llm.models import ModelSettings, open_model
from chatbot.question.options import Option
from chatbot.settings import settings_from
from ingest import Index

_CLOSED_BOOK = "{question}\n\nAnswer from what you know. The last line must be ANSWER: and the letter or letters of what is right, for example ANSWER: {example}"

Pick = Callable[[ExamQuestion], Sequence[int]]
Complete = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class BaselineScore:
    """A baseline: a counted `score`, or an `expected` accuracy that is computed; both are None without a result.

    `right` holds the ids of the questions it got right.
    """

    name: str
    score: Score | None = None
    expected: float | None = None
    note: str = ""
    right: frozenset[str] = frozenset()


def every_baseline(
    bot: Chatbot, questions: Sequence[ExamQuestion], complete: Complete | None
) -> tuple[BaselineScore, ...]:
    """Return every baseline over the same questions; closed book is skipped for a language model without `complete`."""
    is_open = complete is None and str(bot.model) != OFFLINE
    return (
        chance(questions),
        picked("always B", questions, always_b),
        picked("longest option", questions, longest),
        BaselineScore("closed book", note="not asked") if is_open else closed_book(questions, complete),
        picked("retrieval only", questions, retrieval_only(bot.index), "the option that finds the best passage"),
    )


def chance(questions: Sequence[ExamQuestion]) -> BaselineScore:
    """Return the expected accuracy of randomly picking as many options as are right."""
    shares = [1 / comb(len(q.options), len(q.answer)) for q in questions]
    return BaselineScore("chance", expected=sum(shares) / len(shares) if shares else None, note="expected, not drawn")


def always_b(question: ExamQuestion) -> Sequence[int]:
    """Pick B, and the letters after it if several options are right."""
    first = min(1, len(question.options) - len(question.answer))
    return range(first, first + len(question.answer))


def longest(question: ExamQuestion) -> Sequence[int]:
    """Pick the longest options, as many as are right; ties go to the first."""
    by_length = sorted(range(len(question.options)), key=lambda i: (-len(question.options[i]), i))
    return by_length[: len(question.answer)]


def retrieval_only(index: Index) -> Pick:
    """Pick the options that retrieve the best passage when appended to the question.

    Lexical and dense scores count equally; an index without an encoder has lexical scores only.
    """

    def pick(question: ExamQuestion) -> Sequence[int]:
        asked = [f"{question.text} {option}" for option in question.options]
        lexical = _normalised([max((s for _, s in index.lexical(text, 1)), default=0.0) for text in asked])
        scores = lexical
        if index.encoder_name != "none":
            vectors = index.encode(asked)
            dense = _normalised([max((s for _, s in index.dense(v, 1)), default=0.0) for v in vectors])
            scores = [by_words + by_meaning for by_words, by_meaning in zip(lexical, dense, strict=True)]
        ranked = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
        return ranked[: len(question.answer)]

    return pick


def picked(name: str, questions: Sequence[ExamQuestion], pick: Pick, note: str = "") -> BaselineScore:
    """Return the score of a picking strategy."""
    right = [q for q in questions if tuple(sorted(pick(q))) == q.answer]
    score = Score(len(right), len(questions) - len(right), 0)
    return BaselineScore(name, score, note=note, right=frozenset(q.id for q in right))


def closed_book(questions: Sequence[ExamQuestion], complete: Complete | None) -> BaselineScore:
    """Return the score of the same model without passages; the offline reader answers nothing then."""
    if complete is None:
        nothing = Score(0, 0, len(questions))
        return BaselineScore("closed book", nothing, note="the offline reader answers nothing without passages")
    verdicts = {q.id: _closed_book_verdict(q, complete) for q in questions}
    right = frozenset(name for name, verdict in verdicts.items() if verdict == "right")
    return BaselineScore("closed book", score(list(verdicts.values())), note="the same model, no passages", right=right)


def completer(model: str, environment: Mapping[str, str]) -> Complete | None:
    """Return a function from a prompt to the model's text that raises ReaderError on failure; None for the offline reader."""
    if model == OFFLINE:
        return None
    opened = open_model(model, settings_from(environment, ModelSettings))

    def complete(prompt: str) -> str:
        try:
            return str(opened.invoke(prompt).text)
        except Exception as error:
            # Each provider raises its own exceptions; here all of them count as an error of the model.
            raise ReaderError(f"{model} gave no answer without passages ({type(error).__name__}).") from error

    return complete


def _closed_book_verdict(question: ExamQuestion, complete: Complete) -> Verdict:
    example = ", ".join(letter(i) for i in range(len(question.answer)))
    offered = [Option(letter(i), text) for i, text in enumerate(question.options)]
    try:
        text = complete(_CLOSED_BOOK.format(question=question.prompt, example=example))
    except ReaderError:
        return "error"
    return graded(question, chosen(text, offered, len(question.answer)))[0]


def _normalised(scores: Sequence[float]) -> list[float]:
    low, high = min(scores), max(scores)
    return [(s - low) / (high - low) if high > low else 0.0 for s in scores]
