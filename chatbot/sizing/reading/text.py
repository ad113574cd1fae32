"""The text of a question in which everything that was read is masked, and what the question was found to say."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from chatbot.sizing.goals import Goal
from chatbot.sizing.model_names import Named


@dataclass(frozen=True, slots=True)
class Known:
    """The names that questions are matched against: models as in the table, accelerators, instance types, regions."""

    models: tuple[str, ...] = ()
    accelerators: tuple[str, ...] = ()
    types: frozenset[str] = frozenset()
    regions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Said:
    """What one question says: slots with their values, further values of a slot, and goals."""

    text: str
    slots: dict[str, Any]
    several: dict[str, list[dict[str, Any]]]
    goals: tuple[Goal, ...]
    unknown: str | None
    term: str | None = None
    """The one memory term asked for: "KV cache", "weights"."""
    euros: bool = False
    plain: str = ""
    """The question with plain words in place of what was read: "does model fit on gpu"."""
    number: str = ""
    """The number that no slot took, if there is exactly one: "and at 20,000?"."""
    left: tuple[str, ...] = ()
    """All numbers that no slot took."""
    purchase: str = ""
    """How it is to be paid for: "Spot", "a Savings Plan", "on demand"."""
    steps: int = 0
    """How many sizes up or, if negative, down in the same family: "the next size up"."""


@dataclass(slots=True)
class Reading:
    """A text in which everything read is masked, and the slots read so far.

    `named` is the model as it is named; `unknown` is an instance type that is not known.
    """

    text: str
    known: Known = Known()
    question: str = ""
    """The text before anything was masked."""
    named: Named | None = None
    unknown: str | None = None
    slots: dict[str, Any] = field(default_factory=dict)
    several: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    stages: list[tuple[str, str]] = field(default_factory=list)

    def stand_in(self, word: str) -> None:
        """Let this word stand for everything masked since the last call."""
        self.stages.append((word, self.text))

    def plain(self) -> str:
        """Return the text with a plain word for each masked thing, and 0 for each other number."""
        words = re.sub(
            r"\|+", lambda bars: next((f" {word} " for word, text in self.stages if text[bars.start()] == "|"), " "), self.text
        )
        return " ".join(re.sub(r"\d+(?:[.,]\d+)*", "0", words).split())

    def take(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        """Return the matches in order and mask each with bars of its length, which no other pattern crosses."""
        found = list(pattern.finditer(self.text))
        for match in found:
            self.mask(match.start(), match.end())
        return found

    def mask(self, start: int, end: int) -> None:
        self.text = f"{self.text[:start]}{'|' * (end - start)}{self.text[end:]}"

    def fill(self, slot: str, values: Sequence[Any]) -> None:
        """Give a slot its first value, and keep the others as alternatives."""
        different = list(dict.fromkeys(values))
        if different and slot not in self.slots:
            self.slots[slot] = different[0]
            if len(different) > 1:
                self.several[slot] = [{slot: value} for value in different[1:]]

    def add(self, slot: str, values: Sequence[Any]) -> None:
        """Give a slot further values, or its first."""
        there = [self.slots.pop(slot)] if slot in self.slots else []
        self.fill(slot, [*there, *(other[slot] for other in self.several.get(slot, ())), *values])
