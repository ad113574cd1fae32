"""Select the evidence for an exam question: the units that cover most of its stem and options."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chatbot.answer import Passage
from chatbot.evidence import Unit
from chatbot.evidence.instructions import is_instruction
from chatbot.evidence.scored import Scored
from chatbot.exam_reader.entailment import Reading, read_unit
from chatbot.exam_reader.matter import Matter, cover
from chatbot.exam_reader.requirements import Stance, stance
from chatbot.language.words import content_words
from chatbot.question.query import Query
from chatbot.reader.scoring import score_units
from chatbot.retrieval.meaning import exam_nearness
from ingest import Index

# How many units are compared by meaning, which takes time; those that share the fewest words with stem and options are left
# out. Any number from 24 to 56 is as good in cross-validation (0.748 to 0.750 of 1,707 questions right).
_CONSIDERED = 30
# The scores of evidence were learned from plain questions, so they count less for stems with more content words than this.
_BRIEF = 12
# Lines that name a document's source, and the options of a quiz, support no claim.
_NOT_EVIDENCE = re.compile(r"^(?:\W*sources?:\s|(?:option\s+)?\(?[A-H]\)?[.:)]\s)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ground:
    """A unit that may support options: its words, its stance, and how well it answers the stem."""

    scored: Scored
    reading: Reading
    stance: Stance
    evidence: float

    @property
    def unit(self) -> Unit:
        """The unit itself."""
        return self.scored.unit


def grounds(matter: Matter, query: Query, passages: Sequence[Passage], index: Index) -> list[Ground]:
    """Return the units that share most with the stem and the options, best first."""
    scored = [s for s in score_units(query, passages, index) if _can_speak(s.unit)]
    most = max((s.score for s in scored), default=1.0) or 1.0
    brevity = min(1.0, _BRIEF / max(1, len(content_words(query.standalone))))
    found = [
        Ground(s, read_unit(s.unit), stance(s.unit.meant_in_place), brevity * (s.score / most) ** 0.5)
        for s in scored
    ]
    return sorted(found, key=lambda g: (-_worth(matter, g), g.unit.chunk.document.id, g.unit.start))[:_CONSIDERED]


def _can_speak(unit: Unit) -> bool:
    return unit.kind != "note" and not unit.plain.endswith("?") and not _NOT_EVIDENCE.match(unit.plain) and not is_instruction(unit.plain)


def _worth(matter: Matter, ground: Ground) -> float:
    on_options = max(cover(p.apart, ground.reading, around=0.8)[1] for parts in matter.parts for p in parts)
    return on_options + on_stem(matter, ground) + 0.5 * ground.scored.passage.score


def on_stem(matter: Matter, ground: Ground) -> float:
    """Return how much of the stem a unit covers in context: of the asking sentence and of the whole, each 0 to 1, summed."""
    asked = cover(matter.asked, ground.reading, around=0.8)[1]
    return asked + cover(matter.scenario, ground.reading, around=0.8)[1]


def on_question(matter: Matter, found: Sequence[Ground], index: Index) -> list[dict[str, float]]:
    """Return the features of each ground that tell whether it decides the question, whichever option it speaks for."""
    options = " ".join(option.text for option in matter.options)
    near = exam_nearness([matter.text, f"{matter.text} {options}"], [g.unit.meant_in_place for g in found], index)
    spoken_of = [sorted((max(cover(p.apart, g.reading)[1] for p in parts) for parts in matter.parts), reverse=True) for g in found]
    return [
        {
            "stem nearness": float(by_stem),
            "question nearness": float(by_all),
            "question meaning": float(meaning),
            "says an option": spoken[0],
            "says another": spoken[min(1, len(spoken) - 1)],
        }
        for by_stem, by_all, meaning, spoken in zip(*near.by_words, near.as_wholes[1], spoken_of, strict=True)
    ]
