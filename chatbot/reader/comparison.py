"""Side-by-side answers: the things that a question compares, each with its own evidence, or sources that may disagree."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from chatbot.answer import REFUSAL, Passage
from chatbot.draft import Draft, Notes
from chatbot.evidence.scored import Scored
from chatbot.language.quantities import quantities
from chatbot.question.query import Query
from chatbot.question.sides import names_side, speaks_of
from chatbot.reader.eligibility import ANSWERS, eligible, repeats
from chatbot.reader.phrasing import statement
from chatbot.reader.scoring import answers_quantity, score_units
from ingest import Index

# Factor on the answer threshold for one side: its evidence answers only half of the question.
_HALF = 0.4
# How many further pieces of evidence follow the best one of a side.
_FURTHER = 2
# A source's figure needs this share of the answer threshold, and this share of the best figure's word overlap or,
# instead, of its nearness to the question.
_DIFFERING, _RELATED, _NEAR = 0.25, 0.4, 0.8
_SOURCES = 5


def compare(query: Query, passages: Sequence[Passage], index: Index) -> Draft | None:
    """Draft each side's best evidence, side by side; None if fewer than two sides have any, or if none of it is likely
    to answer."""
    if not query.compares:
        return None
    told = {side: _spoken_of(side, query, passages, index) for side in query.sides}
    likely = [s for found in told.values() for s in found if s.score >= ANSWERS]
    if sum(bool(found) for found in told.values()) < 2 or not likely:
        return None
    notes = Notes()
    for side, found in told.items():
        distinct = [*found[:1], *islice((s for s in found[1:] if not repeats(s, found[0])), _FURTHER)]
        said = " ".join(notes.sentence(statement(s.unit, query), s) for s in distinct)
        opening = "" if said.lower().startswith(f"{side}: ".lower()) else f"{side}: "
        notes.line(f"- {opening}{said or REFUSAL}")
    return notes.draft()


def _spoken_of(side: str, query: Query, passages: Sequence[Passage], index: Index) -> list[Scored]:
    """The evidence about one side that may answer, best first, scored as if the question were about that side alone.

    Evidence that also names another side is used only if there is nothing else.
    """
    alone = query.standalone
    for other in query.sides:
        # Backslashes are escaped because the side is user text, not a replacement template.
        kept = side.replace("\\", r"\\") if other == side else ""
        alone = re.sub(rf"\b{re.escape(other)}\b", kept, alone, flags=re.IGNORECASE)
    asked = replace(
        query,
        standalone=alone if side.lower() in alone.lower() else f"{side} {alone}",
        entities=tuple(e for e in query.entities if e == side),
    )

    def tells(s: Scored) -> bool:
        is_told = speaks_of(side, s.unit.meant_in_place) and not s.features["sibling"]
        is_fact = s.unit.kind != "note" and not s.unit.meant.endswith("?")
        return is_told and is_fact and (s.score >= _HALF * ANSWERS or (s.features["names in place"] == 1.0 and _is_figure(s, query)))

    def merit(s: Scored) -> float:
        return s.score + 0.2 * names_side(side, s.unit.meant) + 0.4 * _is_figure(s, query)

    found = sorted(filter(tells, score_units(asked, passages, index)), key=merit, reverse=True)
    others = [other for other in query.sides if other != side]
    return [s for s in found if not any(speaks_of(other, s.unit.meant) for other in others)] or found


def _is_figure(scored: Scored, query: Query) -> bool:
    return bool(query.dimensions) and answers_quantity(query, scored.unit)


def lay_side_by_side(query: Query, scored: Sequence[Scored]) -> Draft | None:
    """Draft what each source says, with its date, for a question whether the sources agree on a figure; None if fewer
    than two have one."""
    asked = replace(query, dimensions=query.dimensions | {q.dimension for q in quantities(query.standalone)})
    found = [s for s in eligible(query, scored) if s.unit.kind != "note" and _is_figure(s, asked)]
    related = [s for s in found if s.score >= _DIFFERING * ANSWERS and (_part(s, found[0], "words in place") >= _RELATED or _part(s, found[0], "nearness") >= _NEAR)]
    best_of_each = {s.document: s for s in reversed(related)}.values()
    told = sorted(best_of_each, key=lambda s: -s.score)[:_SOURCES]
    if len(told) < 2:
        return None
    notes = Notes()
    notes.line(f"The sources say {notes.mark(*told)}:")
    for s in told:
        source = s.unit.chunk.document.source
        date = f" ({source.published})" if source.published else ""
        notes.line(f"- {notes.sentence(f'{source.title}{date}: {statement(s.unit, query)}', s)}")
    return notes.draft()


def _part(scored: Scored, best: Scored, feature: str) -> float:
    return scored.features[feature] / (best.features[feature] or 1.0)
