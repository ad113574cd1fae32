"""From what stands in a file to a question that can be asked, or to the reason why not; nothing is guessed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
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
_LETTERED = re.compile(r"\s*[(\[]?(?P<letter>[A-Z])(?:[.)\]:]|\s[-–])\s+(?P<text>\S.*)", re.DOTALL)
_UNASKABLE = {
    "hotspot": r"hot\s?-?spot",
    "drag-and-drop": r"drag\s*(?:and|&|n)?[\s-]*drop|select and place",
    "ordering": r"order(?:ing)?\s*(?:question)?\s*[:\n]|sequence\s*:|.{0,600}\b(?:select and order|(?:in|into) the (?:correct|right|proper) (?:order|sequence)(?: from (?:first|top)|\W+\(?select))",
    "matching": r"match(?:ing)?\s*(?:question)?\s*[:\n]|match (?:each|the following|every)\b|.{0,600}\beach\b.{0,80}\bshould be (?:selected|used) one (?:time|or more)",
    "simulation": r"simulation\b|lab (?:task|simulation)\b",
}


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
    if problem := _problem(written):
        return Skipped(file, written.line, problem, short(written.text, 160))
    text = written.text.strip()
    # The topic may stand in brackets before the text.
    tag = _TAG.match(text)
    return ExamQuestion(
        id=written.id,
        text=text[tag.end() :] if tag else text,
        options=written.options,
        answer=_stated(written)[0],
        topic=written.topic or (tag["topic"].strip() if tag else ""),
        difficulty=written.difficulty,
        explanation=written.explanation,
        proof=written.proof,
        covered=written.covered,
        file=file,
        line=written.line,
        position=position,
    )


def unaskable(text: str) -> str:
    """The kind of an item that is no choice among options, "" for one that may be."""
    patterns = ((kind, rf"\W*+(?:{pattern})") for kind, pattern in _UNASKABLE.items())
    return next((kind for kind, pattern in patterns if re.match(pattern, text, re.IGNORECASE | re.DOTALL)), "")


def without_letters(texts: Sequence[str]) -> list[str]:
    """Texts without letters of their own, where each has the one of its place."""
    matches = [_LETTERED.fullmatch(text) for text in texts]
    found = [m["text"] for i, m in enumerate(matches) if m is not None and m["letter"] == letter(i)]
    return found if len(found) == len(texts) else list(texts)


def unique(items: Sequence[Found]) -> list[Found]:
    """The exam questions once each and with ids of their own; one that stands there with two keys is not asked at all."""
    first: dict[str, ExamQuestion] = {}
    keys: dict[str, set[tuple[str, ...]]] = {}
    for item in items:
        if isinstance(item, ExamQuestion):
            first.setdefault(_asked(item), item)
            keys.setdefault(_asked(item), set()).add(tuple(sorted(plain(item.options[i]) for i in item.answer)))
    taken: set[str] = set()
    found: list[Found] = []
    for item in items:
        if not isinstance(item, ExamQuestion):
            found.append(item)
            continue
        before = first[_asked(item)]
        if len(keys[_asked(item)]) > 1:
            found.append(_skipped(item, "the same question stands here more than once with different answers"))
        elif before is not item:
            place = f"line {before.line}" if before.file == item.file else f"{before.file}, line {before.line}"
            found.append(_skipped(item, f"it stands in {place} already"))
        else:
            name = _free_id(item, taken)
            taken.add(name)
            found.append(replace(item, id=name))
    return found


def _problem(written: Written) -> str:
    """Why a question cannot be asked, "" where it can."""
    options = written.options
    if written.flaw:
        return written.flaw
    if kind := unaskable(written.text):
        return f"it is a {kind} item, which has no options to choose from"
    if not written.text.strip():
        return "the question has no text"
    if len(options) < 2:
        return "it has only one option" if options else "it has no options to choose from"
    if len(options) > MOST_OPTIONS:
        return f"it has {len(options)} options, and letters go to {MOST_OPTIONS}"
    if not all(option.strip() for option in options):
        return "one of its options is empty"
    if len(set(map(plain, options))) < len(options):
        return "two of its options are the same"
    try:
        stated = _stated(written)
    except KeyProblem as problem:
        return str(problem)
    if len(set(stated)) != 1:
        return "two answers are given and they differ" if stated else "no answer is given"
    hint = _WANTED.search(written.text.strip().rstrip("*_ "))
    if hint and _COUNTS[hint["n"].lower()] != len(stated[0]):
        return f"it asks for {hint['n'].lower()} options and its answer names {len(stated[0])}"
    return ""


def _stated(written: Written) -> list[tuple[int, ...]]:
    """What each statement of the key says."""
    return [*(read_key(key, written.options) for key in written.keys), *[tuple(sorted(written.marked))] * bool(written.marked)]


def _asked(question: ExamQuestion) -> str:
    return "\n".join([plain(question.text), *sorted(map(plain, question.options))])


def _skipped(question: ExamQuestion, reason: str) -> Skipped:
    return Skipped(question.file, question.line, reason, short(question.text, 160))


def _free_id(question: ExamQuestion, taken: set[str]) -> str:
    """The id that is given, or the file's name and the question's place in it; with a number where that is taken."""
    wanted = question.id or f"{Path(question.file).stem}-{question.position}"
    return wanted if wanted not in taken else next(i for n in count(2) if (i := f"{wanted} ({n})") not in taken)
