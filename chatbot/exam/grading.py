"""Whether the options that an answer chooses are the right ones, and its letters as the file has them."""

import re
from collections.abc import Sequence
from itertools import groupby

from chatbot.exam.question import ExamQuestion, letter
from chatbot.exam.results import Verdict

_POSITIONAL = re.compile(
    r"\b(?:all|none|both|any|either|neither|two)\b.{0,25}\b(?:above|below|these|options?|of them|preceding)\b|\b(?:options?|choices?|answers?)\s+[A-H1-8]\b|\b[A-H]\s*(?:,|and|or|&)\s*[A-H]\b",
    re.IGNORECASE,
)


def graded(question: ExamQuestion, chosen: Sequence[str]) -> tuple[Verdict, str]:
    """The verdict on the letters chosen, and the reason where they are not exactly the right ones."""
    if not chosen:
        return "no answer", "it chose nothing"
    if set(chosen) == set(question.letters):
        return "right", ""
    return "wrong", f"chose {', '.join(sorted(chosen))} instead of {', '.join(question.letters)}"


def is_positional(question: ExamQuestion) -> bool:
    """Whether an option speaks of the others by place or letter, so that none may be moved."""
    return any(_POSITIONAL.search(option) for option in question.options)


def put_back(letters: Sequence[str], order: Sequence[int]) -> tuple[str, ...]:
    """Letters as the file has them, from letters as they were shown."""
    return tuple(sorted(letter(order[ord(one) - ord("A")]) for one in letters if ord(one) - ord("A") < len(order)))


def text_put_back(text: str, order: Sequence[int]) -> str:
    """An answer's text with the letters of the file: at the head of its lines, which are sorted by them, and behind `ANSWER:`."""
    if list(order) == sorted(order):
        return text
    renamed = _SHOWN.sub(lambda m: m["before"] + ", ".join(put_back(re.findall("[A-H]", m["letters"]), order)), text)
    runs = groupby(renamed.split("\n"), key=lambda line: bool(_LIST_LINE.match(line)))
    return "\n".join(line for is_list, lines in runs for line in (sorted(lines) if is_list else lines))


_SHOWN = re.compile(
    r"^(?P<before>\s*(?:[-*]\s+)?\W{0,3}(?:ANSWER:\s*)?)(?P<letters>[A-H](?:,\s*[A-H])*)(?=[.:)]|\s*$)", re.MULTILINE
)
_LIST_LINE = re.compile(r"[-*] [A-H][.:)]")
