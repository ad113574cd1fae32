"""Turn a parsed item into a question that can be asked, or into the reason why it cannot; nothing is guessed."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from chatbot.exam.golden import GoldenQuestion
from chatbot.exam.keys import KeyProblem, plain, short
from chatbot.exam.question import MOST_OPTIONS, ExamQuestion, Skipped, letter

Found = ExamQuestion | GoldenQuestion | Skipped
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "2": 2, "3": 3, "4": 4, "5": 5}
# Only a plain hint to the reader counts: in brackets, or as a sentence of its own at the end.
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


def settle(question: ExamQuestion, stated: Iterable[tuple[int, ...]]) -> ExamQuestion | Skipped:
    """Return the question with its key, or the reason why it cannot be asked.

    `stated` yields the option indexes that each statement of the key gives. It is consumed last and may raise KeyProblem.
    """
    if problem := _problem(question):
        return skipped(question, problem)
    try:
        answers = set(stated)
    except KeyProblem as error:
        return skipped(question, str(error))
    if len(answers) != 1:
        return skipped(question, "two answers are given and they differ" if answers else "no answer is given")
    (answer,) = answers
    hint = _WANTED.search(question.text.strip().rstrip("*_ "))
    if hint and _COUNTS[hint["n"].lower()] != len(answer):
        return skipped(question, f"it asks for {hint['n'].lower()} options and its answer names {len(answer)}")
    text = question.text.strip()
    tag = _TAG.match(text)  # the topic may stand in brackets before the text
    topic = question.topic or (tag["topic"].strip() if tag else "")
    return replace(question, text=text[tag.end() :] if tag else text, topic=topic, answer=answer)


def skipped(question: ExamQuestion, reason: str) -> Skipped:
    """Record a question as one that cannot be asked."""
    return Skipped(question.file, question.line, reason, short(question.text, 160))


def unaskable(text: str) -> str:
    """Return the kind of an item that is not multiple choice (hotspot, ordering, …), "" for one that may be."""
    patterns = ((kind, rf"\W*+(?:{pattern})") for kind, pattern in _UNASKABLE.items())
    return next((kind for kind, pattern in patterns if re.match(pattern, text, re.IGNORECASE | re.DOTALL)), "")


def without_letters(texts: Sequence[str]) -> list[str]:
    """Strip the leading letters of option texts if every text has the letter of its position; else change nothing."""
    matches = [_LETTERED.fullmatch(text) for text in texts]
    found = [m["text"] for i, m in enumerate(matches) if m is not None and m["letter"] == letter(i)]
    return found if len(found) == len(texts) else list(texts)


def unique(items: Sequence[Found]) -> list[Found]:
    """Deduplicate exam questions and give every question a unique id.

    An exam question with conflicting keys is skipped altogether.
    """
    same: dict[str, list[ExamQuestion]] = {}
    for item in items:
        if isinstance(item, ExamQuestion):
            same.setdefault(_asked(item), []).append(item)
    unclear = {asked for asked, alike in same.items() if len(set(map(_key_texts, alike))) > 1}
    taken: set[str] = set()
    found: list[Found] = []
    for item in items:
        if isinstance(item, ExamQuestion) and (problem := _repeated(item, same[asked := _asked(item)][0], asked in unclear)):
            found.append(skipped(item, problem))
        else:
            found.append(item if isinstance(item, Skipped) else replace(item, id=_unused(item, taken)))
    return found


def _key_texts(question: ExamQuestion) -> tuple[str, ...]:
    return tuple(sorted(plain(question.options[place]) for place in question.answer))


def _repeated(question: ExamQuestion, first: ExamQuestion, is_unclear: bool) -> str:
    """Return why a question like `first` is not asked; "" for `first` itself, unless questions like it have different keys."""
    if is_unclear:
        return "the same question stands here more than once with different answers"
    if first is question:
        return ""
    place = f"line {first.line}" if first.file == question.file else f"{first.file}, line {first.line}"
    return f"it stands in {place} already"


def _unused(question: ExamQuestion | GoldenQuestion, taken: set[str]) -> str:
    """Return an id that no earlier question has, and add it to `taken`."""
    wanted = question.id or f"{Path(question.file).stem}-{question.position}"
    name = wanted if wanted not in taken else next(i for n in count(2) if (i := f"{wanted} ({n})") not in taken)
    taken.add(name)
    return name


def _asked(question: ExamQuestion) -> str:
    return "\n".join([plain(question.text), *sorted(map(plain, question.options))])


def _problem(question: ExamQuestion) -> str:
    """Return why a question cannot be asked, whatever its key; "" if it can."""
    options = question.options
    if kind := unaskable(question.text):
        return f"it is a {kind} item, which has no options to choose from"
    if not question.text.strip():
        return "the question has no text"
    if len(options) < 2:
        return "it has only one option" if options else "it has no options to choose from"
    if len(options) > MOST_OPTIONS:
        return f"it has {len(options)} options, and letters go to {MOST_OPTIONS}"
    if not all(option.strip() for option in options):
        return "one of its options is empty"
    return "two of its options are the same" if len(set(map(plain, options))) < len(options) else ""
