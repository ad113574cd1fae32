"""Facts and numbers: the best evidence first, what adds to it after, and figures side by side where sources differ."""

import re
from collections.abc import Iterable, Sequence

from chatbot.answer import Passage
from chatbot.draft import Draft, Notes
from chatbot.names import mentioned
from chatbot.phrasing import columns, statement
from chatbot.quantities import Quantity, quantities, same
from chatbot.query import Query
from chatbot.scoring import Scored
from chatbot.words import content_words, stem
from ingest import Index

# The probability from which evidence answers: benchmarks/learn_weights.py prints refusals against false answers for each value.
ANSWERS = 0.5
_FURTHER = 0.7
_WORDS = 80
_ASKS_WHETHER_SOURCES_AGREE = re.compile(r"\b(agree|disagree|differ\w*|conflict\w*|contradict\w*|consistent|different (?:figures|numbers|sources|values)|sources)\b", re.IGNORECASE)


def state_facts(query: Query, scored: Sequence[Scored], passages: Sequence[Passage], index: Index) -> Draft | None:
    """The answer in one sentence, then at most two sentences that add to it; None when no evidence is good enough."""
    if not scored or scored[0].score < ANSWERS:
        return None
    differing = figures_that_differ(query, scored)
    if len(differing) > 1:
        return _side_by_side(query, differing)
    notes = Notes()
    chosen = further(query, scored, limit=1 if query.asks_number else 2)
    notes.line(*(notes.sentence(statement(s.unit, query), s) for s in chosen), *corrections(notes, query, chosen, scored))
    return notes.draft()


def further(query: Query, scored: Sequence[Scored], *, limit: int) -> list[Scored]:
    """The best evidence and up to `limit` pieces more that are nearly as good and say something else, within 80 words."""
    chosen = [scored[0]]
    said = len(statement(scored[0].unit, query).split())
    for candidate in scored[1:]:
        if len(chosen) > limit or candidate.score < max(ANSWERS, _FURTHER * scored[0].score):
            break
        length = len(statement(candidate.unit, query).split())
        if said + length <= _WORDS and not any(repeats(candidate, c) for c in chosen):
            chosen.append(candidate)
            said += length
    return chosen


def repeats(one: Scored, other: Scored) -> bool:
    """Whether two pieces of evidence say the same: most words of the shorter are in the longer."""
    first, second = ({stem(w) for w in content_words(s.unit.plain)} for s in (one, other))
    smaller = min(len(first), len(second))
    return not smaller or len(first & second) / smaller > 0.6


def corrections(notes: Notes, query: Query, chosen: Sequence[Scored], scored: Iterable[Scored]) -> list[str]:
    """The editor's notes that stand with what was chosen and speak of the same figures."""
    said = [q for c in chosen for q in quantities(c.unit.plain) if q.dimension != "count"]
    found = [
        s
        for s in scored
        if s.unit.kind == "note" and s not in chosen
        and any(s.unit.chunk.id == c.unit.chunk.id for c in chosen) and any(same(q, n) for q in said for n in quantities(s.unit.plain))
    ]  # fmt: skip
    return [notes.sentence(statement(s.unit, query), s) for s in sorted(found, key=lambda s: s.unit.start)[:1]]


def figures_that_differ(query: Query, scored: Sequence[Scored]) -> list[Scored]:
    """The best evidence of each document for the quantity asked, where at least two give different numbers for it."""
    if not (query.asks_number or _ASKS_WHETHER_SOURCES_AGREE.search(query.standalone)):
        return []
    wanted = query.dimensions or frozenset(q.dimension for q in quantities(scored[0].unit.plain))
    best: dict[str, Scored] = {}
    for candidate in scored:
        if candidate.score < max(ANSWERS, _FURTHER * scored[0].score) or candidate.unit.kind == "note":
            continue
        if _figures(candidate, query, wanted) and _same_subject(query, candidate):
            best.setdefault(candidate.unit.chunk.document.id, candidate)
    found = list(best.values())
    if len(found) < 2 or scored[0] not in found:
        return []
    return found if any(not _agree(_figures(found[0], query, wanted), _figures(f, query, wanted)) for f in found[1:]) else []


def _figures(scored: Scored, query: Query, wanted: frozenset[str]) -> list[Quantity]:
    cells = columns(scored.unit, query) if scored.unit.cells else ()
    text = "; ".join(f"{c} {h}" for h, c in cells) if cells else scored.unit.plain
    return [q for q in quantities(text) if q.dimension in wanted and (q.dimension != "count" or stem(q.noun) in {stem(w) for w in content_words(query.standalone)})]


def _same_subject(query: Query, scored: Scored) -> bool:
    if not query.entities:
        return True
    return scored.features["names in place"] + scored.features["relative"] > 0 and not (query.tasks and scored.features["opposite task"])


def _agree(one: Sequence[Quantity], other: Sequence[Quantity]) -> bool:
    return any(same(a, b) for a in one for b in other)


def _side_by_side(query: Query, found: Sequence[Scored]) -> Draft:
    notes = Notes()
    notes.line(f"The sources give different figures {notes.mark(*found)}:")
    for s in found[:5]:
        source = s.unit.chunk.document.source
        date = f" ({source.published})" if source.published else ""
        notes.line(f"- {notes.sentence(f'{source.title}{date}: {statement(s.unit, query)}', s)}")
    return notes.draft()


def names_of(scored: Scored) -> frozenset[str]:
    """The names in a piece of evidence and in what stands above it, in lower case."""
    return mentioned(scored.unit.full)
