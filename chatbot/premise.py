"""Yes-or-no questions and questions that take something for granted: judged by the evidence, corrected where it is wrong."""

import re
from collections.abc import Sequence
from typing import Literal

from chatbot.answer import Passage
from chatbot.draft import Draft, Notes
from chatbot.facts import ANSWERS, corrections, further
from chatbot.phrasing import statement
from chatbot.quantities import Quantity, quantities, same
from chatbot.query import Query, tasks
from chatbot.scoring import Scored
from chatbot.words import content_words, stem, vocabulary
from ingest import Index

Verdict = Literal["yes", "no", "open"]

_PRESUMES = re.compile(r"\b(since|because|given that|why (?:is|are|does|do|did|has|have|was|were|can|should)|with (?:its|their)|now that|considering|as (?:we|everyone|you) knows?|seeing that|so if)\b", re.IGNORECASE)
_ANTONYMS = (
    ("lowest", "highest"), ("lower", "higher"), ("less", "more"), ("cheaper", "expensive"), ("best", "worst"), ("better", "worse"), ("faster", "slower"),
    ("increase", "reduce"), ("smaller", "larger"), ("mature", "immature"), ("always", "never"), ("single", "multi"), ("increases", "reduces"),
    ("raises", "lowers"), ("least", "most"), ("efficient", "inefficient"), ("minimum", "maximum"),
)  # fmt: skip
_NEGATION = re.compile(r"\b(?:not|no|never|cannot|can't|isn't|aren't|doesn't|don't|without|unsuitable|neither|nor)\b", re.IGNORECASE)


def judge(query: Query, scored: Sequence[Scored], passages: Sequence[Passage], index: Index) -> Draft | None:
    """Yes, no or neither, and the evidence for it; None for a question that neither asks whether nor presumes."""
    presumes = bool(_PRESUMES.search(query.standalone))
    if not (query.yes_no or presumes) or query.compares or not scored:
        return None
    verdict, ground = _verdict(query, scored)
    if verdict != "no" and (not query.yes_no or query.decides):
        return None
    if scored[0].score < ANSWERS and verdict == "open":
        return None
    notes = Notes()
    word = {"yes": "Yes. ", "no": "No. " if query.yes_no else "The sources say otherwise: ", "open": ""}[verdict]
    chosen = [ground] + [s for s in further(query, scored, limit=1) if s is not ground][:1]
    first = notes.sentence(f"{word}{statement(ground.unit, query)}", ground)
    notes.line(first, *(notes.sentence(statement(s.unit, query), s) for s in chosen[1:]), *corrections(notes, query, chosen, scored))
    return notes.draft()


def _verdict(query: Query, scored: Sequence[Scored]) -> tuple[Verdict, Scored]:
    relevant = [s for s in scored if s.score >= 0.5 * ANSWERS and s.unit.kind != "note"] or list(scored[:1])
    for test in (_by_numbers, _by_purpose, _by_words):
        if (found := test(query, relevant)) is not None:
            return found
    return "open", scored[0]


def _by_numbers(query: Query, relevant: Sequence[Scored]) -> tuple[Verdict, Scored] | None:
    claimed = [q for q in quantities(query.standalone) if q not in query.sizes and any(c.isdigit() for c in q.text)]
    if not claimed:
        return None
    for s in relevant:
        if all(any(same(q, f) or f.holds(q) for f in quantities(s.unit.plain)) for q in claimed) and s.features["names in place"] + s.features["no name asked"] > 0:
            return "yes", s
    for s in relevant:
        if s.features["words in place"] > 0.4 and s.features["names in place"] + s.features["relative"] > 0 and any(_counters(q, s) for q in claimed):
            return "no", s
    return None


def _counters(claimed: Quantity, scored: Scored) -> bool:
    """Whether the evidence gives another number for the same quantity."""
    alike = [f for f in quantities(scored.unit.plain) if f.dimension == claimed.dimension and (f.dimension != "count" or stem(f.noun) == stem(claimed.noun))]
    return bool(alike) and not any(same(claimed, f) or f.holds(claimed) for f in alike)


def _by_purpose(query: Query, relevant: Sequence[Scored]) -> tuple[Verdict, Scored] | None:
    """Whether what a thing is for, by the evidence that names it, is the task that the question gives it."""
    opposites = vocabulary()["opposites"]
    asked = [t for t in query.tasks if t in opposites]
    if len(asked) != 1 or len(query.entities) != 1:
        return None
    purpose = [s for s in relevant if s.features["names in place"] > 0 and _is_purpose(s)]
    for s in purpose:
        there = tasks(s.unit.plain) or tasks(" ".join(s.unit.above))
        if asked[0] in there:
            return None if _NEGATION.search(query.standalone) else ("yes", s)
        if opposites[asked[0]] in there:
            return "no", s
    return None


def _is_purpose(scored: Scored) -> bool:
    return bool(re.search(r"\b(for|purpose|designed|built|best|optimi[sz]ed|specialised|specialized)\b", scored.unit.plain, re.IGNORECASE))


def _by_words(query: Query, relevant: Sequence[Scored]) -> tuple[Verdict, Scored] | None:
    asked = {stem(w) for w in content_words(query.standalone)} | set(re.findall(r"[a-z]+", query.standalone.lower()))
    for s in relevant:
        if s.features["words in place"] < 0.6 or s.score < ANSWERS:
            continue
        there = set(re.findall(r"[a-z]+", s.unit.plain.lower()))
        opposed = any((a in asked and b in there and a not in there) or (b in asked and a in there and b not in there) for a, b in _ANTONYMS)
        negated = bool(_NEGATION.search(query.standalone)) != bool(_NEGATION.search(s.unit.plain))
        if opposed and not negated:
            return "no", s
        if s.features["words"] > 0.6 and s.score >= ANSWERS and not opposed:
            return ("no" if negated else "yes"), s
    return None
