"""Sources that differ: each with its figure and its date, side by side."""

import re
from collections.abc import Sequence
from dataclasses import replace

from chatbot.draft import Draft, Notes
from chatbot.eligibility import ANSWERS, eligible
from chatbot.phrasing import columns, statement
from chatbot.quantities import Quantity, quantities, same
from chatbot.query import Query
from chatbot.scoring import Scored, answers_quantity

# A figure may be surer or less sure than an answer: this share of what answers will do.
_DIFFERING = 0.25
# Another figure must share so much of the question's words with the best one, or be so near to the question, to be one for the same thing.
_RELATED, _NEAR = 0.4, 0.8
# Another figure of the same document must be this near to the best one: a document has figures for many matters.
_BESIDE = 0.4
_FIGURES_OF_A_DOCUMENT = 3

DIFFERENT = "The sources give different figures"


def lay_side_by_side(query: Query, scored: Sequence[Scored]) -> Draft | None:
    """What each source says, for a question on whether their figures agree; None where there is one figure alone."""
    found = eligible(query, scored)
    named = frozenset(q.dimension for q in quantities(query.standalone))
    asked = replace(query, dimensions=query.dimensions | named)
    differing = _figures_that_differ(asked, found) if asked.dimensions and found else []
    return _side_by_side(query, differing) if differing else None


def _figures_that_differ(query: Query, found: Sequence[Scored]) -> list[Scored]:
    """The best evidence of each document for the quantity asked, where at least two give different numbers for it."""
    if not _figures(found[0], query):
        return []
    chosen = [found[0]]
    for candidate in _of_first_dimension(found, query):
        new = not any(_agree(_figures(candidate, query), _figures(c, query)) for c in chosen)
        alone = document_of(candidate) != document_of(found[0]) or candidate.score >= _BESIDE * found[0].score
        if (
            new
            and alone
            and _same_matter(query, candidate, found[0])
            and sum(document_of(c) == document_of(candidate) for c in chosen) < _FIGURES_OF_A_DOCUMENT
        ):
            chosen.append(candidate)
    return chosen[:5] if len(chosen) > 1 else []


def _same_matter(query: Query, candidate: Scored, best: Scored) -> bool:
    """Whether evidence is about what the best evidence is about: it lacks few of the question's words that the best has."""
    if candidate.unit.kind == "note" or (query.tasks and candidate.features["opposite task"]):
        return False
    said = candidate.features["words in place"] >= _RELATED * best.features["words in place"]
    meant = candidate.features["nearness"] >= _NEAR * best.features["nearness"]
    return candidate.score >= _DIFFERING * ANSWERS and (said or meant)


def document_of(scored: Scored) -> str:
    """The id of the document that evidence stands in."""
    return scored.unit.chunk.document.id


def _of_first_dimension(found: Sequence[Scored], query: Query) -> Sequence[Scored]:
    """The evidence in one dimension, so that a percentage is not set against a factor: the one of the best evidence's
    figures that most documents give."""
    best = next(({q.dimension for q in figures} for s in found if (figures := _figures(s, query))), set())
    given = {
        d: {document_of(s) for s in found if any(q.dimension == d for q in _figures(s, query))} for d in sorted(best)
    }
    if not given:
        return found
    common = max(given, key=lambda d: len(given[d]))
    return [s for s in found if any(q.dimension == common for q in _figures(s, query))]


def _figures(scored: Scored, query: Query) -> list[Quantity]:
    """The quantities of the kind asked for, in the columns asked for."""
    asked = {header for header, _ in columns(scored.unit, query)} if scored.unit.cells else set()
    return [
        q
        for q in scored.unit.quantities
        if q.dimension in query.dimensions
        and (q.dimension != "count" or answers_quantity(query, scored.unit))
        and (not asked or any(h.lower() in q.noun or q.dimension != "count" for h in asked))
    ]


def _agree(one: Sequence[Quantity], other: Sequence[Quantity]) -> bool:
    return any(same(a, b) or _nominally_same(a, b) for a in one for b in other)


def _nominally_same(one: Quantity, other: Quantity) -> bool:
    """Whether amounts of memory have the same digits: makers write GB where they count in GiB."""
    digits = (re.sub(r"[^\d.]", "", q.text) for q in (one, other))
    return one.dimension == other.dimension == "bytes" and next(digits) == next(digits)


def _side_by_side(query: Query, found: Sequence[Scored]) -> Draft:
    """At most five pieces of evidence, each with its source and date, and whether their figures differ."""
    notes = Notes()
    told = [figures for s in found if (figures := _figures(s, query))]
    differ = any(not _agree(one, other) for one in told for other in told)
    notes.line(f"{DIFFERENT if differ else 'The sources say'} {notes.mark(*found[:5])}:")
    for s in found[:5]:
        source = s.unit.chunk.document.source
        date = f" ({source.published})" if source.published else ""
        notes.line(f"- {notes.sentence(f'{source.title}{date}: {statement(s.unit, query)}', s)}")
    return notes.draft()
