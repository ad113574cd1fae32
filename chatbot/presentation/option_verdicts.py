"""An exam answer as a value: what was chosen, why, and what the sources say about each option."""

import re
from dataclasses import dataclass

from chatbot.answer import Answer
from chatbot.question.options import Option, parse_options


@dataclass(frozen=True, slots=True)
class OptionVerdict:
    """One option of the question. `said` is the answer's line on it, with its marks; "" if there is none."""

    option: Option
    chosen: bool
    said: str


@dataclass(frozen=True, slots=True)
class ExamAnswer:
    """The reason for the choice, without its letters, and one verdict for each option."""

    reason: str
    verdicts: tuple[OptionVerdict, ...]


def exam_answer(answer: Answer) -> ExamAnswer | None:
    """Return the parts of an answer to an exam question, or None if the question has no options or none was chosen."""
    stem = parse_options(answer.question)
    if stem is None or not answer.choices:
        return None
    lines = answer.text.splitlines()
    verdicts = tuple(OptionVerdict(o, o.letter in answer.choices, _said(o, lines)) for o in stem.options)
    taken = tuple(f"- {o.label}" for o in stem.options)
    reason = "\n".join(line for line in lines if not line.startswith(taken))
    return ExamAnswer(_without_letters(reason), verdicts)


def _said(option: Option, lines: list[str]) -> str:
    start = f"- {option.label}:"
    return next((line[len(start) :].strip() for line in lines if line.startswith(start)), "")


def _without_letters(text: str) -> str:
    return re.sub(r"^[A-H](?:, [A-H])*:\s*", "", text)
