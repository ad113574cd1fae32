"""Exam questions as values: as read from a file, as put to the bot, and those that were skipped."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from chatbot.exam.golden import GoldenQuestion, digest
from chatbot.question.options import parse_options

MOST_OPTIONS = 8
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight"}

Half = Literal["all", "tuned", "kept"]


def letter(index: int) -> str:
    """Return the letter of an option by its index."""
    return chr(ord("A") + index)


@dataclass(frozen=True, slots=True)
class ExamQuestion:
    """A question with lettered options. `answer` holds the indexes of the right ones, ascending.

    `position` is its number in the file, from 1, with unusable questions counted. `covered` says whether the corpus covers
    the question; it is None if nobody has judged that.
    """

    id: str
    text: str
    options: tuple[str, ...] = ()
    answer: tuple[int, ...] = ()
    topic: str = ""
    difficulty: str = ""
    explanation: str = ""
    covered: bool | None = None
    file: str = ""
    line: int = 0
    position: int = 1

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the right options."""
        return tuple(map(letter, self.answer))

    @property
    def prompt(self) -> str:
        """The text put to the bot, as users would paste it: the question, then one lettered line per option."""
        return shown(self, tuple(range(len(self.options))))

    @property
    def form(self) -> str:
        """The form of the question: one right option, several right options, or negated."""
        stem = parse_options(self.prompt)
        if stem is not None and stem.negated:
            return "negated"
        return "one right option" if len(self.answer) == 1 else "several right options"

    @property
    def fingerprint(self) -> str:
        """A hash of text, options and key: equal for equal questions."""
        return digest([self.text, self.options, self.answer])

    @property
    def half(self) -> Half:
        """Odd questions of a file may be tuned on; even ones are held out."""
        return "tuned" if self.position % 2 else "kept"


@dataclass(frozen=True, slots=True)
class Skipped:
    """An item of a file that cannot be asked, or with line 0 a whole file, with the reason."""

    file: str
    line: int
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The questions of one or more files, in order, and the items that were skipped."""

    questions: tuple[ExamQuestion | GoldenQuestion, ...]
    skipped: tuple[Skipped, ...] = ()

    @property
    def fingerprint(self) -> str:
        """A hash of the questions and their order: equal for equal sets."""
        return digest([[q.id, q.fingerprint] for q in self.questions])

    def __iter__(self) -> Iterator[ExamQuestion | GoldenQuestion]:
        return iter(self.questions)

    def __len__(self) -> int:
        return len(self.questions)


def shown(question: ExamQuestion, order: tuple[int, ...]) -> str:
    """Return the question with its options in a given order; `order[0]` is the index of the option shown as A.

    If several options are right and the text does not say how many, a hint such as "(Choose two.)" is added.
    """
    options = [f"{letter(i)}. {' '.join(question.options[place].split())}" for i, place in enumerate(order)]
    text = "\n".join([question.text, *options])
    wanted = len(question.answer)
    stem = parse_options(text)
    if wanted > 1 and stem is not None and stem.choose == 1:
        return "\n".join([f"{question.text} (Choose {_NUMBERS[wanted]}.)", *options])
    return text
