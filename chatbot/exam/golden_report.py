"""Golden files asked and reported."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from chatbot.bot import Chatbot
from chatbot.exam.asking import last_answer
from chatbot.exam.golden import GoldenQuestion, load_questions
from chatbot.exam.golden_scoring import (
    Asked,
    citation_precision,
    citation_recall,
    exactness,
    failure,
    false_answers,
    false_refusals,
    passed,
    passed_by_kind,
    uncited,
    wattbot_score,
)
from chatbot.exam.rates import Rate, count
from chatbot.render import as_json


def ask_file(bot: Chatbot, file: Path) -> list[Asked]:
    """Asks the questions of a golden file, but none that is to be refused and that a document of the index answers."""
    documents = [document.id for document in bot.index.documents()]
    return [ask(bot, question) for question in load_questions(file) if not question.is_answered_by(documents)]


def ask(bot: Chatbot, question: GoldenQuestion) -> Asked:
    """Asks each turn in order; the answer to the last turn counts."""
    answer = last_answer(bot, question)
    documents = [citation.passage.chunk.document for citation in answer.citations]
    return Asked(question, as_json(answer, id=question.id), {document.source.id: document.text for document in documents})


def report(title: str, asked: Sequence[Asked], *, exact: Rate | None = None) -> str:
    """Totals only, so that it can be shown for the questions that nobody may tune on.

    `exact` is the share of exact quotes where it was counted before; else it is counted against the documents.
    """
    answers = [one.answer for one in asked]
    rows = [*passed_by_kind(asked).items(), ("all", passed(asked))]
    shares = {
        "false answers to unanswerables": false_answers(asked),
        "refusals of answerables": false_refusals(asked),
        "quotes exact": exactness(asked) if exact is None else exact,
        "answers without citation": count(uncited(answer) for answer in answers if not answer["refused"]),
        "citation recall": citation_recall(answers),
        "citation precision": citation_precision(answers),
    }
    lines = [_row(f"passed, {name}", rate) for name, rate in rows] + [_row(*share) for share in shares.items()]
    return "\n".join([title, *lines, f"  {'score after WattBot':32}{wattbot_score(asked):.3f}"])


def _row(name: str, rate: Rate) -> str:
    low, high = rate.interval
    return f"  {name:32}{rate.share:.3f}  {rate.hits:4} of {rate.total:<4}  95 %: {low:.3f} to {high:.3f}"


def failures(asked: Iterable[Asked]) -> str:
    """Each failed question with its reason and the whole answer."""
    failed = [(one, reason) for one in asked if (reason := failure(one.question, one.answer))]
    return "\n\n".join(
        f"{one.question.id}: {reason}\n  Q: {' // '.join(one.question.turns)}\n  A: {one.answer['text']}"
        for one, reason in failed
    )
