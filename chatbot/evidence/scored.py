"""Evidence with its score."""

from dataclasses import dataclass

from chatbot.answer import Passage
from chatbot.evidence.unit import Unit


@dataclass(frozen=True, slots=True)
class Scored:
    """A unit with the probability that it answers the question, and the features behind it."""

    unit: Unit
    passage: Passage
    score: float
    features: dict[str, float]

    @property
    def document(self) -> str:
        """The id of the unit's document."""
        return self.unit.chunk.document.id
