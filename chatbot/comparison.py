"""Comparisons: the sides next to each other, each with its own evidence."""

import re
from collections.abc import Container, Sequence
from dataclasses import replace

from chatbot.answer import REFUSAL, Passage
from chatbot.draft import Draft, Notes
from chatbot.eligibility import ANSWERS, DOUBT, doubt, is_bare, repeats
from chatbot.names import mentioned, names
from chatbot.phrasing import statement
from chatbot.query import Query
from chatbot.scoring import Scored, answers_quantity, score_units
from chatbot.sides import names_side, speaks_of
from chatbot.words import content_words, stem, stems_and_groups, synonyms
from ingest import Index

_A_SIDE = 3
# A side needs less than a whole answer does: its evidence answers half of the question by nature.
_HALF = 0.4


def compare(query: Query, scored: Sequence[Scored], passages: Sequence[Passage], index: Index) -> Draft | None:
    """Each side's best evidence, side by side, led by evidence that speaks of all sides at once where there is some."""
    if not query.compares:
        return None
    by_side = {side: [s for s in _spoken_of(side, query, passages, index) if _tells(s, query)] for side in query.sides}
    if sum(bool(found) for found in by_side.values()) < 2 or not any(
        s.score >= ANSWERS for found in by_side.values() for s in found
    ):
        return None
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
        said = " ".join(notes.sentence(statement(s.unit, query), s) for s in _distinct(own[side], query))
        if said or not lead:
            opening = "" if said.lower().startswith(f"{side}: ".lower()) else f"{side}: "
            notes.line(f"- {opening}{said or REFUSAL}")
    return notes.draft()


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
        and not is_bare(s)
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


def _distinct(found: Sequence[Scored], query: Query) -> list[Scored]:
    """The best evidence and what says most of what it leaves out."""
    kept = list(found[:1])
    while len(kept) < _A_SIDE:
        new = [s for s in found if s not in kept and not any(repeats(s, k) for k in kept)]
        told = any(_is_figure(k, query) for k in kept)
        near = [
            (g, s)
            for s in new
            if (g := gain(query, s, kept)) > 0 or (s.score >= ANSWERS and not told and doubt(kept) > DOUBT)
        ]
        if not near:
            break
        kept.append(max(near, key=lambda pair: (pair[0], pair[1].score))[1])
    return kept


def gain(query: Query, candidate: Scored, kept: Sequence[Scored]) -> int:
    """How many of the question's words the candidate says that the evidence kept so far does not.

    A word that the candidate itself has counts as said by another only where that has it, too: memory of an accelerator does not
    tell how many chips there are."""
    asked = content_words(query.standalone)
    own = {w for w in asked if stem(w) in stems_and_groups(candidate.unit.meant)[0]}
    return len(_said(asked, candidate).difference(*(_said(asked, k, literally=own) for k in kept)))


def _said(asked: Sequence[str], scored: Scored, literally: Container[str] = ()) -> set[str]:
    there, groups = stems_and_groups(scored.unit.meant)
    return {w for w in asked if stem(w) in there or (w not in literally and synonyms(w) & groups)}
