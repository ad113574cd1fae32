"""Comparisons: the sides next to each other, each with its own evidence."""

from collections.abc import Sequence

from chatbot.answer import REFUSAL, Passage
from chatbot.draft import Draft, Notes
from chatbot.facts import ANSWERS, repeats
from chatbot.names import mentioned, relatives
from chatbot.phrasing import statement
from chatbot.query import Query
from chatbot.scoring import Scored
from ingest import Index

_A_SIDE = 2
# A side needs less than a whole answer does: its evidence answers half of the question by nature.
_HALF = 0.4


def compare(query: Query, scored: Sequence[Scored], passages: Sequence[Passage], index: Index) -> Draft | None:
    """Each side's best evidence, side by side, led by evidence that speaks of all sides at once where there is some."""
    sides = _sides(query)
    if not query.compares or len(sides) < 2:
        return None
    by_side = {side: [s for s in scored if _speaks_of(s, side) and s.score >= _HALF * ANSWERS] for side in sides}
    if sum(bool(found) for found in by_side.values()) < 2 or not any(s.score >= ANSWERS for found in by_side.values() for s in found):
        return None
    notes = Notes()
    lead = next((s for s in scored[:6] if s.score >= ANSWERS and all(_names(s, side) for side in sides)), None)
    if lead:
        notes.line(notes.sentence(statement(lead.unit, query), lead))
    for side, found in by_side.items():
        own = _distinct([s for s in sorted(found, key=lambda s: -(s.score + 0.3 * _names(s, side))) if s is not lead and not _names_others(s, side, sides)])
        notes.line(f"- {side}: " + (" ".join(notes.sentence(statement(s.unit, query), s) for s in own) if own else "" if lead else REFUSAL))
    return notes.draft()


def _sides(query: Query) -> list[str]:
    """The names compared; a chip and the instance that holds it are one side."""
    sides: list[str] = []
    for name in query.entities:
        if not any(name in relatives(s) and "." not in name for s in sides):
            sides.append(name)
    return sides[:4]


def _names(scored: Scored, side: str) -> bool:
    there = mentioned(scored.unit.plain)
    return side.lower() in there or any(r.lower() in there for r in relatives(side))


def _speaks_of(scored: Scored, side: str) -> bool:
    there = mentioned(scored.unit.full)
    return side.lower() in there or any(r.lower() in there for r in relatives(side))


def _names_others(scored: Scored, side: str, sides: Sequence[str]) -> bool:
    return not _names(scored, side) and any(_names(scored, other) for other in sides if other != side)


def _distinct(found: Sequence[Scored]) -> list[Scored]:
    kept: list[Scored] = []
    for candidate in found:
        if len(kept) < _A_SIDE and not any(repeats(candidate, k) for k in kept):
            kept.append(candidate)
    return kept
