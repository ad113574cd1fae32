"""Answers to questions for facts and numbers: the best evidence first, then what adds to it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from chatbot.answer import NEAREST
from chatbot.draft import Draft, Notes
from chatbot.evidence.scored import Scored
from chatbot.language.names import proper_names
from chatbot.language.quantities import quantities, same
from chatbot.language.vendors import speaks_for_refused
from chatbot.question.query import Query
from chatbot.reader.eligibility import ANSWERS, DOUBT, doubt, eligible, repeats
from chatbot.reader.phrasing import statement

# Below this score the best evidence answers one in four of the questions that people ask in their own words, so it is
# told as the nearest.
_UNSURE = 0.15
_FURTHER = 0.02
_FLOOR = 0.005
_WORDS = 80


def state_facts(query: Query, scored: Sequence[Scored]) -> Draft | None:
    """Draft the answer in one sentence, then at most four that add to it; None if no evidence is good enough."""
    found = eligible(query, scored)
    if query.wants_name:
        found = [s for s in found if not speaks_for_refused(s.unit.meant, query.standalone)]
    if not found or found[0].score < ANSWERS:
        return None
    notes = Notes()
    chosen = further(query, found, limit=4)
    first, *rest = [*_sentences(notes, query, chosen, scored), *corrections(notes, query, chosen, scored)]
    unsure = found[0].score < _UNSURE
    notes.line(f"{NEAREST}: {first}" if unsure else first, *rest)
    return replace(notes.draft(), given=(NEAREST,), near=True) if unsure else notes.draft()


def _sentences(notes: Notes, query: Query, chosen: Sequence[Scored], scored: Sequence[Scored]) -> list[str]:
    """The chosen evidence as sentences; one that announces a list is followed by the list."""
    said: list[Scored] = []
    for c in chosen:
        said.append(c)
        if below := announced(c, scored):
            said += [s for s in below if s not in said]
            break
    return [notes.sentence(statement(s.unit, query), s) for s in said]


def announced(lead: Scored, scored: Sequence[Scored]) -> list[Scored]:
    """The items of the list that a sentence ending with a colon announces, in document order, at most six."""
    if not lead.unit.text.rstrip("* ").endswith(":"):
        return []
    title = lead.unit.plain.rstrip(":")
    below = [
        s
        for s in scored
        if s.unit.chunk.id == lead.unit.chunk.id
        and s.unit.above
        and s.unit.start > lead.unit.start
        and _hangs_from(s, title)
    ]
    return sorted(below, key=lambda s: s.unit.start)[:6]


def _hangs_from(scored: Scored, title: str) -> bool:
    parent = scored.unit.above[-1]
    return title.endswith(parent) or title.startswith(f"{parent}:")


def further(query: Query, scored: Sequence[Scored], *, limit: int) -> list[Scored]:
    """The best evidence and up to `limit` further pieces that say something else, within 80 words: as many as it takes
    until one of them is almost certainly right."""
    chosen = [scored[0]]
    said = len(statement(scored[0].unit, query).split())
    for candidate in sorted(scored[1:], key=lambda s: not _adds(query, s, chosen)):
        if query.entities and candidate.features["other name"]:
            continue
        # Whatever else is asked for ("hours and dollars") is told even if the first answer is sure.
        needed = _adds(query, candidate, chosen) or doubt(chosen) > DOUBT
        share = max(_FLOOR, _FURTHER * scored[0].score)
        if len(chosen) > limit or not needed or candidate.score < share:
            continue
        length = len(statement(candidate.unit, query).split())
        if said + length <= _WORDS and not any(repeats(candidate, c) for c in chosen):
            chosen.append(candidate)
            said += length
    return chosen


def _adds(query: Query, candidate: Scored, chosen: Sequence[Scored]) -> bool:
    """Whether a candidate gives a quantity of a kind asked for, or is about a thing named, that nothing chosen covers."""
    told = {q.dimension for c in chosen for q in c.unit.quantities}
    if {q.dimension for q in candidate.unit.quantities} & query.dimensions - told:
        return True
    own = [names_told(query, c) for c in (candidate, *chosen)]
    return bool(own[0].difference(*own[1:]))


def names_told(query: Query, scored: Scored) -> set[str]:
    """The things named in a question that a piece of evidence is about; none if it lists all of them."""
    asked = set(proper_names(query.standalone)) | set(query.entities)
    said = {name for name in asked if re.search(rf"\b{re.escape(name)}\b", scored.unit.meant, re.IGNORECASE)}
    return said if len(said) < len(asked) else set()


def corrections(notes: Notes, query: Query, chosen: Sequence[Scored], scored: Iterable[Scored]) -> list[str]:
    """The first editor's note from the same chunk as the chosen evidence that gives the same figures or, if there is
    none, says the same."""
    said = [q for c in chosen for q in quantities(c.unit.plain) if q.dimension != "count"]
    notes_beside = [(s, c) for s in scored if s.unit.kind == "note" and s not in chosen for c in chosen if s.unit.chunk.id == c.unit.chunk.id]  # fmt: skip
    of_figures = [s for s, _ in notes_beside if any(same(q, n) for q in said for n in quantities(s.unit.plain))]
    found = {s.unit.start: s for s in of_figures or [s for s, c in notes_beside if repeats(s, c)]}
    return [notes.sentence(statement(found[start].unit, query), found[start]) for start in sorted(found)[:1]]
