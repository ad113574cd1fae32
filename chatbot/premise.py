"""Yes-or-no questions and questions that take something for granted: judged by the evidence, corrected where it is wrong."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from chatbot.answer import Passage
from chatbot.draft import Draft, Notes
from chatbot.eligibility import ANSWERS, SURE, eligible, repeats
from chatbot.evidence import Unit
from chatbot.facts import corrections, elsewhere, further
from chatbot.names import mentioned, names
from chatbot.phrasing import statement
from chatbot.polarity import (
    claim_of,
    denies,
    other_owner,
    short_answer,
)
from chatbot.query import Query
from chatbot.scoring import Scored, score_units
from chatbot.verdicts import LOOKED_AT, Verdict, asked_above, owner_above, speaks_of, verdict_of, word_of
from ingest import Index

_PRESUMES = re.compile(
    r"\b(since|because|given that|why (?:is|are|does|do|did|has|have|was|were|can|should)|with (?:its|their)|now that|considering|as (?:we|everyone|you) knows?|^as (?=(?:\S+ ){1,8}(?:is|are|has|have|was|can|does|supports?|runs?|needs?|draws?|costs?|uses?|lacks?|offers?)\b)|seeing that|so if)\b",
    re.IGNORECASE,
)
# What one thing is of all, no other is.
_SUPERLATIVE = re.compile(
    r"\b(?:best|most|least|lowest|highest|greatest|largest|smallest|fastest|cheapest|greenest)\b", re.IGNORECASE
)
# The least harm is as good as the best balance.
_BEST = re.compile(
    r"\b(?:best|greenest|cheapest|fastest|most (?:[\w-]*efficient|eco-friendly|sustainable|suitable|environmentally)|(?:lowest|least|smallest) (?:\w+ )?(?:impact|footprint|harm|damage|energy|emissions?|carbon|costs?|price|consumption))\b",
    re.IGNORECASE,
)
_LOOKED_AT = 5
_MORE = 2


def judge(query: Query, scored: Sequence[Scored], passages: Sequence[Passage], index: Index) -> Draft | None:
    """Yes, no or neither, and the evidence for it; None for a question that neither asks whether nor presumes."""
    presumed = presumed_in(query.standalone)
    if not (query.yes_no or presumed) or query.asks_agreement or not scored:
        return None
    claim = presumed or claim_of(query.standalone)
    held = score_units(replace(query, standalone=claim), passages, index) if presumed else scored
    found = eligible(query, scored)
    if query.yes_no and not found:
        return None
    verdict, ground = verdict_of(claim, query, held)
    if verdict == "open" and presumed and _SUPERLATIVE.search(claim):
        other = _best_otherwise(claim, query, passages, index)
        verdict, ground = ("no", other) if other else (verdict, ground)
    if verdict != "no" and (not query.yes_no or query.decides or query.compares):
        return None
    if verdict == "open" and scored[0].score < ANSWERS:
        return None
    word = {"yes": "Yes. ", "no": "No. " if query.yes_no else "The sources say otherwise: ", "open": ""}[verdict]
    opposed = _opposed(claim, query, held, verdict, ground) if query.yes_no else []
    word = "The sources disagree: " if opposed else word
    right = _what_is_right(claim, query, passages, index) if verdict == "no" and not opposed else []
    if right:
        # Behind a wrong "since ..." something is asked all the same.
        more = [*right[:1], *further(query, found, limit=1)] if presumed and found else right
    else:
        more = [*opposed, *elsewhere([ground], found), *further(query, found or scored, limit=_MORE)]
    chosen = [ground]
    for s in more:
        if len(chosen) <= _MORE and not any(repeats(s, c) for c in chosen):
            chosen.append(s)
    notes = Notes()
    said = statement(ground.unit, query)
    if verdict != "open":
        said = said.removeprefix(f"{asked_above(ground.unit).rstrip('?')}: ")
    # "Yes, if ..." says its word itself.
    word = "" if word and short_answer(said) == verdict else word
    owner = owner_above(ground)
    said = f"{owner}: {said}" if verdict == "no" and owner and other_owner(claim, owner) else said
    first = notes.sentence(f"{word}{said}", ground)
    notes.line(
        first,
        *(notes.sentence(statement(s.unit, query), s) for s in chosen[1:]),
        *corrections(notes, query, chosen, scored),
    )
    return notes.draft()


def _what_is_right(claim: str, query: Query, passages: Sequence[Passage], index: Index) -> list[Scored]:
    """Evidence that says of something else what the claim says of its subject."""
    wanted = {e.lower() for e in query.entities}
    found = _asked_of_others(claim, query, passages, index)
    return [
        s
        for s in found[:_LOOKED_AT]
        if s.score >= ANSWERS
        and s.unit.kind != "note"
        and _owners(s.unit) - wanted
        and not wanted & _owners(s.unit)
        and not denies(s.unit.meant)
    ]


def _owners(unit: Unit) -> frozenset[str]:
    """The hardware that a unit is about: what it names or, when it names none, what stands nearest above it."""
    return next((found for text in (unit.meant, *reversed(unit.above)) if (found := mentioned(text))), frozenset())


def _best_otherwise(claim: str, query: Query, passages: Sequence[Passage], index: Index) -> Scored | None:
    """Evidence that something else is the best of all, where a claim says that of its subject."""
    wanted = {e.lower() for e in query.entities}
    scored = _asked_of_others(claim, query, passages, index)
    return next(
        (
            s
            for s in scored[:_LOOKED_AT]
            if s.score >= SURE
            and s.unit.kind != "note"
            and _poles(claim) & _poles(s.unit.meant)
            and (there := [n.name.lower() for n in names(s.unit.meant) if n.kind in ("hardware", "instance")])
            and there[0] not in wanted
            and not denies(s.unit.meant)
        ),
        None,
    )


def _poles(text: str) -> frozenset[str]:
    """What a text says something is the most of: the word itself, and "good" where that is what one wants."""
    found = {match.group().lower() for match in _SUPERLATIVE.finditer(text)}
    return frozenset(found | ({"good"} if _BEST.search(text) else set()))


def _asked_of_others(claim: str, query: Query, passages: Sequence[Passage], index: Index) -> list[Scored]:
    """The evidence for a claim without its subject, which may be true of something else."""
    text = claim
    for name in reversed(names(claim)):
        text = text[: name.start] + text[name.start + len(name.text) :]
    return score_units(replace(query, standalone=text, entities=()), passages, index) if query.entities else []


def presumed_in(question: str) -> str | None:
    """The part of a question that is taken for granted: "since ..." up to the comma, all of a "why does ..."."""
    if not (match := _PRESUMES.search(question)):
        return None
    clause = question[match.end() :]
    return clause if match.group().lower().startswith("why") else re.split(r",\s|\?|;", clause)[0]


def _opposed(claim: str, query: Query, scored: Sequence[Scored], verdict: Verdict, ground: Scored) -> list[Scored]:
    """The best evidence that says the opposite of a verdict with as much of the claim's words; at most one piece."""
    if verdict == "open":
        return []
    wanted = "no" if verdict == "yes" else "yes"
    relevant = (s for s in scored[:LOOKED_AT] if s is not ground and s.unit.kind != "note" and speaks_of(s, query))
    return list(islice((s for s in relevant if word_of(claim, query, s) == wanted), 1))
