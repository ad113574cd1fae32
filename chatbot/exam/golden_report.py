"""Golden files asked and reported: `python tests/golden_scoring.py INDEX FILE… [--failures]`."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from chatbot.answer import Answer, ReaderError
from chatbot.bot import Chatbot
from chatbot.exam.asking import Answering, last_answer
from chatbot.exam.golden import GoldenQuestion, load_questions
from chatbot.exam.golden_scoring import (
    Asked,
    citation_exactness,
    citation_precision,
    citation_recall,
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
from ingest import CorpusError, place_at


def ask_file(bot: Chatbot, file: Path) -> list[Asked]:
    """Asks the questions of a golden file, but none that is to be refused and that a document of the index answers."""
    documents = [document.id for document in bot.index.documents()]
    return [ask(bot, question) for question in load_questions(file) if not question.is_answered_by(documents)]


def ask(bot: Answering, question: GoldenQuestion) -> Asked:
    """Asks each turn in order; the answer to the last turn counts."""
    answer = last_answer(bot, question)
    return Asked(question, as_json(answer, id=question.id), _documents(answer))


def _documents(answer: Answer) -> dict[str, str]:
    documents = [citation.passage.chunk.document for citation in answer.citations]
    return {document.source.id: document.text for document in documents}


def exactness(asked: Iterable[Asked]) -> Rate:
    """Citation exactness against the texts of the index that was asked."""
    asked = list(asked)
    texts = {source: text for one in asked for source, text in one.documents.items()}
    return citation_exactness((one.answer for one in asked), lambda citation: texts.get(citation["source"]))


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report of each file; 1 where it could not be done."""
    parser = argparse.ArgumentParser(description="Score the answers of an index to golden questions.")
    parser.add_argument("index", type=place_at)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--model", default="offline")
    parser.add_argument(
        "--failures",
        action="store_true",
        help="list each failed question that is not kept aside, its answer, the reason",
    )
    options = parser.parse_args(arguments)
    try:
        bot = Chatbot.open(options.index, model=options.model)
        for file in options.files:
            asked = ask_file(bot, file)
            print(report(file.name, asked))
            if options.failures and not any(one.question.is_sealed for one in asked):
                print("\n" + failures(asked))
    except (CorpusError, ReaderError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0
