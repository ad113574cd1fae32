"""Ask the bot exam questions one after another and grade each answer."""

import logging
import random
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from chatbot.answer import Answer, Passage, ReaderError
from chatbot.bot import Chatbot
from chatbot.exam.golden import GoldenQuestion
from chatbot.exam.golden_scoring import checked_json, failure, last_answer
from chatbot.exam.question import ExamQuestion, letter, shown
from chatbot.exam.results import Question, Result, Verdict
from chatbot.presentation.render import as_json
from ingest import CorpusError

_UNEXPECTED = "Something went wrong inside wattwise. Run with WATTWISE_LOG=debug for the details."
_POSITIONAL = re.compile(
    r"\b(?:all|none|both|any|either|neither|two)\b.{0,25}\b(?:above|below|these|options?|of them|preceding)\b|\b(?:options?|choices?|answers?)\s+[A-H1-8]\b|\b[A-H]\s*(?:,|and|or|&)\s*[A-H]\b",
    re.IGNORECASE,
)
_SHOWN = re.compile(
    r"^(?P<before>\s*(?:[-*]\s+)?\W{0,3}(?:ANSWER:\s*)?)(?P<letters>[A-H](?:,\s*[A-H])*)(?=[.:)]|\s*$)", re.MULTILINE
)
_LIST_LINE = re.compile(r"[-*] [A-H][.:)]")


def ask_questions(bot: Chatbot, questions: Sequence[Question], *, shuffle: int | None = None) -> Iterator[Result]:
    """Yield the results as they come; `shuffle` is the seed for shuffling the options."""
    for question in questions:
        yield ask_question(bot, question, shuffle=shuffle)


def ask_question(bot: Chatbot, question: Question, *, shuffle: int | None = None) -> Result:
    """Ask one question and grade the answer; any failure becomes the verdict "error", never an exception."""
    order = () if isinstance(question, GoldenQuestion) else order_of(question, shuffle)
    try:
        return _ask_golden(bot, question) if isinstance(question, GoldenQuestion) else _ask_exam(bot, question, order)
    except (CorpusError, ReaderError) as error:
        return Result(question, "error", str(error), order=order)
    except Exception:
        # One failing question must not end a run of hours: it counts as an error and is logged.
        logging.getLogger("wattwise").debug("unexpected", exc_info=True)
        return Result(question, "error", _UNEXPECTED, order=order)


def order_of(question: ExamQuestion, shuffle: int | None) -> tuple[int, ...]:
    """Return the order in which the options are shown; it depends only on the seed and the question."""
    order = list(range(len(question.options)))
    if shuffle is not None and not is_positional(question):
        random.Random(f"{shuffle} {question.fingerprint}").shuffle(order)
    return tuple(order)


def _ask_exam(bot: Chatbot, question: ExamQuestion, order: tuple[int, ...]) -> Result:
    answer = bot.ask(shown(question, order))
    chosen = () if answer.refused else put_back(answer.choices, order)
    verdict, reason = graded(question, chosen)
    if answer.refused:
        reason = "it said that the sources do not decide"
    return _result(question, answer, verdict, reason, chosen, order)


def _ask_golden(bot: Chatbot, question: GoldenQuestion) -> Result:
    answer = last_answer(bot, question)
    reason = failure(question, as_json(answer))
    verdict: Verdict = "right" if reason is None else "no answer" if answer.refused else "wrong"
    return _result(question, answer, verdict, reason or "", tuple(answer.choices))


def _result(
    question: Question, answer: Answer, verdict: Verdict, reason: str, chosen: tuple[str, ...], order: tuple[int, ...] = ()
) -> Result:
    if answer.notice:
        # Another reader stood in, or the answer ends early: the examined model gave no complete answer.
        verdict, reason = "error", answer.notice
    return Result(
        question=question,
        verdict=verdict,
        reason=reason,
        chosen=chosen,
        order=order,
        confidence=round(confidence(answer), 4),
        answer=_as_answer(answer, order),
        passages=tuple(_as_passage(passage) for passage in answer.passages),
        seconds=round(answer.seconds, 4),
    )


def confidence(answer: Answer) -> float:
    """Return how sure an answer is, 0..1.

    This is the answer's own probability that its letters are right. Without one, it is the support of the first citation
    times the retrieval score of its passage.
    """
    if answer.confidence is not None:
        return answer.confidence
    first = min(answer.citations, key=lambda c: answer.text.find(f"[{c.number}]"), default=None)
    return 0.0 if answer.refused or first is None else first.support * first.passage.score


def _as_answer(answer: Answer, order: tuple[int, ...]) -> dict[str, Any]:
    """Return the answer as JSON, with its letters mapped back to those of the exam file."""
    row = checked_json(answer)
    cited = [{**citation, "claim": text_put_back(citation["claim"], order)} for citation in row["citations"]]
    choices = list(put_back(answer.choices, order)) if order else list(answer.choices)
    said = [{**one, **{name: text_put_back(one[name], order) for name in ("text", "about")}} for one in row["statements"]]
    return {**row, "text": text_put_back(answer.text, order), "choices": choices, "citations": cited, "statements": said}


def _as_passage(passage: Passage) -> dict[str, Any]:
    chunk, source = passage.chunk, passage.chunk.document.source
    of_source = {"source": source.id, "title": source.title, "url": source.url}
    of_chunk = {"headings": list(chunk.headings), "page": chunk.page, "text": chunk.text}
    return {"number": passage.number, **of_source, **of_chunk, "score": round(passage.score, 4)}


# --- letters mapped back to the exam file


def graded(question: ExamQuestion, chosen: Sequence[str]) -> tuple[Verdict, str]:
    """Return the verdict on the chosen letters, and the reason if they are not exactly the right ones."""
    if not chosen:
        return "no answer", "it chose nothing"
    if set(chosen) == set(question.letters):
        return "right", ""
    return "wrong", f"chose {', '.join(sorted(chosen))} instead of {', '.join(question.letters)}"


def is_positional(question: ExamQuestion) -> bool:
    """Whether an option refers to others by position or letter, so that the options must not be shuffled."""
    return any(_POSITIONAL.search(option) for option in question.options)


def put_back(letters: Sequence[str], order: Sequence[int]) -> tuple[str, ...]:
    """Map shown letters back to the letters of the exam file."""
    return tuple(sorted(letter(order[ord(one) - ord("A")]) for one in letters if ord(one) - ord("A") < len(order)))


def text_put_back(text: str, order: Sequence[int]) -> str:
    """Map the letters in an answer's text back to those of the exam file.

    This concerns letters at the start of a line or after `ANSWER:`. Lists of options are sorted again by their letters.
    """
    if list(order) == sorted(order):
        return text
    renamed = _SHOWN.sub(lambda m: m["before"] + ", ".join(put_back(re.findall("[A-H]", m["letters"]), order)), text)
    runs = groupby(renamed.split("\n"), key=lambda line: bool(_LIST_LINE.match(line)))
    return "\n".join(line for is_list, lines in runs for line in (sorted(lines) if is_list else lines))
