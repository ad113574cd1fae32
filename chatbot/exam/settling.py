"""From what stands in a file to a question that can be asked, or to the reason why not; nothing is guessed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path

from chatbot.exam.golden import GoldenQuestion
from chatbot.exam.keys import KeyProblem, plain, read_key, short
from chatbot.exam.question import MOST_OPTIONS, ExamQuestion, Proof, Skipped, letter

Found = ExamQuestion | GoldenQuestion | Skipped
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "2": 2, "3": 3, "4": 4, "5": 5}
# Only where it is plainly a hint to the reader: in brackets, or as a sentence of its own at the end.
_WANTED = re.compile(
    r"(?:[(\[]\s*|[.?:]\s+)(?:choose|select|pick)\s+(?:the\s+|any\s+|best\s+|exactly\s+)*(?P<n>two|three|four|five|[2-5])\b[^.?!()]*[.!]?\s*[)\]]?\s*\Z",
    re.IGNORECASE,
)
_TAG = re.compile(r"\[(?:domain|topic|category)\s*:\s*(?P<topic>[^\]]+)\]\s*(?=\S)", re.IGNORECASE)
_KINDS = {
    "hotspot": r"hot\s?-?spot",
    "drag-and-drop": r"drag\s*(?:and|&|n)?[\s-]*drop|select and place",
    "ordering": r"order(?:ing)?\s*(?:question)?\s*[:\n]|sequence\s*:|.{0,600}\b(?:select and order|(?:in|into) the (?:correct|right|proper) (?:order|sequence)(?: from (?:first|top)|\W+\(?select))",
    "matching": r"match(?:ing)?\s*(?:question)?\s*[:\n]|match (?:each|the following|every)\b|.{0,600}\beach\b.{0,80}\bshould be (?:selected|used) one (?:time|or more)",
    "simulation": r"simulation\b|lab (?:task|simulation)\b",
}
_LETTERED = re.compile(r"^\s*[(\[]?(?P<letter>[A-Z])(?:[.)\]:]|\s[-–])\s+(?P<text>\S.*)$", re.DOTALL)
_UNASKABLE = {name: re.compile(rf"\W*+(?:{pattern})", re.IGNORECASE | re.DOTALL) for name, pattern in _KINDS.items()}


@dataclass(frozen=True, slots=True)
class Written:
    """A question as it stands in a file. `keys` are what is written as its answer; `marked` are options marked as right.

    `flaw` is what the reader of its form already found wrong with it, "" for nothing.
    """

    line: int
    text: str
    options: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    marked: tuple[int, ...] = ()
    id: str = ""
    topic: str = ""
    difficulty: str = ""
    explanation: str = ""
    proof: Proof | None = None
    covered: bool | None = None
    flaw: str = ""


def settle(written: Written, file: str, position: int) -> ExamQuestion | Skipped:
    """The question with its key as places of options, or the reason why it cannot be asked."""
    try:
        _refuse_unaskable(written)
        answer = _answer(written)
        _refuse_other_count(written.text, answer)
    except KeyProblem as problem:
        return Skipped(file, written.line, str(problem), short(written.text, 160))
    topic, text = _tagged(written)
    return ExamQuestion(
        id=written.id,
        text=text,
        options=written.options,
        answer=answer,
        topic=topic,
        difficulty=written.difficulty,
        explanation=written.explanation,
        proof=written.proof,
        covered=written.covered,
        file=file,
        line=written.line,
        position=position,
    )


def _tagged(written: Written) -> tuple[str, str]:
    """The topic and the text, where the topic may stand in brackets before the text."""
    text = written.text.strip()
    tag = _TAG.match(text)
    return (written.topic or tag["topic"].strip(), text[tag.end() :]) if tag else (written.topic, text)


def unaskable(text: str) -> str:
    """The kind of an item that is no choice among options, "" for one that may be."""
    return next((kind for kind, pattern in _UNASKABLE.items() if pattern.match(text)), "")


def _refuse_unaskable(written: Written) -> None:
    if written.flaw:
        raise KeyProblem(written.flaw)
    if kind := unaskable(written.text):
        raise KeyProblem(f"it is a {kind} item, which has no options to choose from")
    if not written.text.strip():
        raise KeyProblem("the question has no text")
    if len(written.options) < 2:
        raise KeyProblem("it has no options to choose from" if not written.options else "it has only one option")
    if len(written.options) > MOST_OPTIONS:
        raise KeyProblem(f"it has {len(written.options)} options, and letters go to {MOST_OPTIONS}")
    if not all(option.strip() for option in written.options):
        raise KeyProblem("one of its options is empty")
    if len(set(map(plain, written.options))) < len(written.options):
        raise KeyProblem("two of its options are the same")


def _answer(written: Written) -> tuple[int, ...]:
    """What every statement of the key agrees on."""
    stated = [read_key(key, written.options) for key in written.keys]
    stated += [tuple(sorted(written.marked))] * bool(written.marked)
    if not stated:
        raise KeyProblem("no answer is given")
    if len(set(stated)) > 1:
        raise KeyProblem("two answers are given and they differ")
    return stated[0]


def _refuse_other_count(text: str, answer: Sequence[int]) -> None:
    if (hint := _WANTED.search(text.strip().rstrip("*_ "))) and _COUNTS[hint["n"].lower()] != len(answer):
        raise KeyProblem(f"it asks for {hint['n'].lower()} options and its answer names {len(answer)}")


def without_letters(texts: Sequence[str]) -> list[str]:
    """Texts without letters of their own, where each has the one of its place."""
    matches = [_LETTERED.match(text) for text in texts]
    if texts and all(m is not None and m["letter"] == letter(i) for i, m in enumerate(matches)):
        return [m["text"] for m in matches if m is not None]
    return list(texts)


def unique(items: Sequence[Found]) -> list[Found]:
    """The exam questions once each and with ids of their own; one that stands there with two keys is not asked at all."""
    keys: dict[str, set[tuple[str, ...]]] = {}
    for item in items:
        if isinstance(item, ExamQuestion):
            keys.setdefault(_asked(item), set()).add(tuple(sorted(plain(item.options[i]) for i in item.answer)))
    first: dict[str, ExamQuestion] = {}
    taken: set[str] = set()
    once: list[Found] = [_once(i, first, len(keys[_asked(i)]) > 1) if isinstance(i, ExamQuestion) else i for i in items]
    return [_named(item, taken) if isinstance(item, ExamQuestion) else item for item in once]


def _asked(question: ExamQuestion) -> str:
    return "\n".join([plain(question.text), *sorted(map(plain, question.options))])


def _once(question: ExamQuestion, first: dict[str, ExamQuestion], contradicted: bool) -> ExamQuestion | Skipped:
    before = first.setdefault(_asked(question), question)
    place = f"line {before.line}" if before.file == question.file else f"{before.file}, line {before.line}"
    if contradicted:
        reason = "the same question stands here more than once with different answers"
    elif before is not question:
        reason = f"it stands in {place} already"
    else:
        return question
    return Skipped(question.file, question.line, reason, short(question.text, 160))


def _named(question: ExamQuestion, taken: set[str]) -> ExamQuestion:
    """An id of its own: the given one, or the file's name and the question's place in it."""
    wanted = question.id or f"{Path(question.file).stem}-{question.position}"
    name = next(name for name in chain([wanted], (f"{wanted} ({n})" for n in count(2))) if name not in taken)
    taken.add(name)
    return replace(question, id=name)
