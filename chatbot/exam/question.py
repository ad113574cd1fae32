"""Exam questions as values: as they stand in a file, as they are asked, and what could not be used."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from chatbot.exam.golden import GoldenQuestion, digest
from chatbot.options import parse_options

MOST_OPTIONS = 8
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight"}

Half = Literal["all", "tuned", "kept"]


def letter(index: int) -> str:
    """The letter of an option by its place, from 0."""
    return chr(ord("A") + index)


@dataclass(frozen=True, slots=True)
class ExamQuestion:
    """A question with lettered options. `answer` holds the places of the right ones from 0, ascending.

    `position` counts the questions of its file from 1, those that cannot be used included; `covered` says whether the corpus
    covers the question, None where nobody has judged it.
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
        """What is put to the bot, as users paste it: the text, then a lettered line an option."""
        return shown(self, tuple(range(len(self.options))))

    @property
    def form(self) -> str:
        """How it asks: for one option, for several, or for the ones that do not hold."""
        stem = parse_options(self.prompt)
        if stem is not None and stem.negated:
            return "negated"
        return "one right option" if len(self.answer) == 1 else "several right options"

    @property
    def fingerprint(self) -> str:
        """The same for two questions exactly when their text, options and key are."""
        return digest([self.text, self.options, self.answer])

    @property
    def half(self) -> Half:
        """Odd questions of a file may be tuned on, even ones are kept aside."""
        return "tuned" if self.position % 2 else "kept"


@dataclass(frozen=True, slots=True)
class Skipped:
    """What stands in a file and cannot be asked, with the reason."""

    file: str
    line: int
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The questions of one or more files, in their order, and what was left out."""

    questions: tuple[ExamQuestion | GoldenQuestion, ...]
    skipped: tuple[Skipped, ...] = ()

    @property
    def fingerprint(self) -> str:
        """The same for two sets exactly when they hold the same questions in the same order."""
        return digest([[q.id, q.fingerprint] for q in self.questions])

    def __iter__(self) -> Iterator[ExamQuestion | GoldenQuestion]:
        return iter(self.questions)

    def __len__(self) -> int:
        return len(self.questions)


def shown(question: ExamQuestion, order: tuple[int, ...]) -> str:
    """The question with its options in an order: `order[0]` is the place of what is shown as A.

    A question with several right options that does not say how many gets the hint that an exam's page gives.
    """
    options = [f"{letter(i)}. {' '.join(question.options[place].split())}" for i, place in enumerate(order)]
    text = "\n".join([question.text, *options])
    wanted = len(question.answer)
    stem = parse_options(text)
    if wanted > 1 and stem is not None and stem.choose == 1:
        return "\n".join([f"{question.text} (Choose {_NUMBERS[wanted]}.)", *options])
    return text
