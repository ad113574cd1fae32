"""Comparisons: the sides next to each other, each with its own evidence."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from chatbot.answer import REFUSAL, Passage
from chatbot.draft import Draft, Notes
from chatbot.eligibility import ANSWERS, repeats
from chatbot.names import mentioned, names
from chatbot.phrasing import statement
from chatbot.query import Query
from chatbot.scoring import Scored, answers_quantity, score_units
from chatbot.sides import names_side, speaks_of
from ingest import Index

# A side needs less than a whole answer does: its evidence answers half of the question by nature.
_HALF = 0.4
# So many pieces of evidence stand behind the best one of a side.
_FURTHER = 2
# A figure that a thing has by itself; a percentage or a price may be told of one side as against the other.
_OF_A_THING = frozenset({"bytes", "bytes/s", "bits/s", "watts", "flops", "ops", "flops/watt", "frequency", "count"})
# Two numbers of one kind are held against each other: one of them is no comparison, unless reasons or ways are asked for.
_MORE = re.compile(r"\b(?:more|less|fewer|higher|lower|greater|smaller|larger|bigger)\b", re.IGNORECASE)
_WHY = re.compile(r"\W*(?:so\s+)?(?:why|how (?:do|does|can|could|should))\b", re.IGNORECASE)


def compare(query: Query, scored: Sequence[Scored], passages: Sequence[Passage], index: Index) -> Draft | None:
    """Each side's best evidence, side by side, led by evidence that speaks of all sides at once where there is some."""
    if not query.compares:
        return None
    spoken = {side: _spoken_of(side, query, passages, index) for side in query.sides}
    by_side = {side: [s for s in found if _tells(s, query)] for side, found in spoken.items()}
    if sum(bool(found) for found in by_side.values()) < 2 or not any(
        s.score >= ANSWERS for found in by_side.values() for s in found
    ):
        return None
    if _lacks_a_side(query, spoken):
        return Notes().draft()
    notes = Notes()
    of_all = (s for s in scored[:8] if all(names_side(side, s.unit.meant) for side in query.sides))
    lead = next((s for s in of_all if s.score >= ANSWERS), None)
    if lead:
        notes.line(notes.sentence(statement(lead.unit, query), lead))
    # A side's evidence was scored anew, for that side.
    led = (lead.unit.chunk.id, lead.unit.start) if lead else None
    own = {
        side: [s for s in _own(side, by_side[side], query) if (s.unit.chunk.id, s.unit.start) != led]
        for side in query.sides
    }
    for side in query.sides:
        said = " ".join(notes.sentence(statement(s.unit, query), s) for s in _distinct(own[side]))
        if said or not lead:
            opening = "" if said.lower().startswith(f"{side}: ".lower()) else f"{side}: "
            notes.line(f"- {opening}{said or REFUSAL}")
    return notes.draft()


def _lacks_a_side(query: Query, spoken: dict[str, list[Scored]]) -> bool:
    """Whether a figure is asked for and no side has one, or which side has more of something and only some have a figure for it."""
    if not query.dimensions & _OF_A_THING or query.asks_agreement or _WHY.match(query.standalone):
        return False
    told = [any(_is_figure(s, query) for s in found) for found in spoken.values()]
    return (not all(told) and bool(_MORE.search(query.standalone))) or (not any(told) and query.strict and not query.yes_no)


def _spoken_of(side: str, query: Query, passages: Sequence[Passage], index: Index) -> list[Scored]:
    """What speaks of one side, scored as if the question were about it alone."""
    alone = query.standalone
    for other in query.sides:
        # What people write is no template of a replacement.
        kept = side.replace("\\", r"\\") if other == side else ""
        alone = re.sub(rf"\b{re.escape(other)}\b", kept, alone, flags=re.IGNORECASE)
    asked = replace(
        query,
        standalone=alone if side.lower() in alone.lower() else f"{side} {alone}",
        entities=tuple(e for e in query.entities if e == side),
    )
    scored = score_units(asked, passages, index)
    return [
        s
        for s in scored
        if speaks_of(side, s.unit.meant_in_place)
        and not _is_of_another(side, s, query)
        and s.unit.kind != "note"
        and not s.unit.meant.endswith("?")
        and not s.features["sibling"]
    ]


def _is_of_another(side: str, scored: Scored, query: Query) -> bool:
    """Whether evidence stands below a side's name and names another thing itself: another side, or what is no part of this one."""
    text = scored.unit.meant
    if speaks_of(side, text):
        return False
    return bool(names(side) and mentioned(text)) or any(speaks_of(o, text) for o in query.sides if o != side)


def _tells(scored: Scored, query: Query) -> bool:
    """Whether evidence on a side is likely enough to answer."""
    return scored.score >= _HALF * ANSWERS or (scored.features["names in place"] == 1.0 and _is_figure(scored, query))


def _own(side: str, found: Sequence[Scored], query: Query) -> list[Scored]:
    """The evidence for one side alone, what names it before what only stands below its name."""
    alone = [
        s
        for s in found
        if _begins_with(side, s) or not any(speaks_of(other, s.unit.meant) for other in query.sides if other != side)
    ]
    return sorted(alone or found, key=lambda s: -_merit(side, s, query))


def _begins_with(side: str, scored: Scored) -> bool:
    """Whether evidence is about a side, whatever else it sets that against."""
    return scored.unit.meant.lower().removeprefix("the ").removeprefix("aws ").startswith(side.lower())


def _is_figure(scored: Scored, query: Query) -> bool:
    return bool(query.dimensions) and answers_quantity(query, scored.unit)


def _merit(side: str, scored: Scored, query: Query) -> float:
    """The score, raised for evidence that names the side and for a figure of the kind compared."""
    return scored.score + 0.2 * names_side(side, scored.unit.meant) + 0.1 * names_side(side, scored.unit.meant_in_place) + 0.4 * _is_figure(scored, query)


def _distinct(found: Sequence[Scored]) -> list[Scored]:
    """The best evidence, and what comes next that does not say the same."""
    return [*found[:1], *islice((s for s in found[1:] if not repeats(s, found[0])), _FURTHER)]
