"""What the evidence says to a claim: yes, no, or neither, and which piece of it says so."""

import re
from collections.abc import Sequence
from typing import Literal

from chatbot.eligibility import ANSWERS, eligible
from chatbot.evidence import Unit
from chatbot.names import makers, mentioned, proper_names
from chatbot.phrasing import columns_of_things
from chatbot.polarity import (
    denied_words,
    denies,
    denies_claim,
    opposed_direction,
    other_owner,
    short_answer,
    superlative,
    uncovered,
    without_shared_absence,
)
from chatbot.quantities import Quantity, quantities, same, with_unit
from chatbot.query import Query
from chatbot.scoring import Scored
from chatbot.tasks import tasks
from chatbot.words import content_words, stem, vocabulary, words

Verdict = Literal["yes", "no", "open"]

# Evidence with this share of a question's words is about its matter.
_ABOUT = 0.4
_CLAUSE = re.compile(r"[;,:]\s|\s(?:and|whereas|while|but|or)\s", re.IGNORECASE)

# Words that make no other question of one.
_OF_NO_WEIGHT_WORDS = """
good suitable suited able possible use used using actually really model models support supports supported have offer
offers available include includes come run
"""
_OF_NO_WEIGHT = frozenset(_OF_NO_WEIGHT_WORDS.split())
_CELL_WORDS: dict[str, Verdict] = {
    **dict.fromkeys(("yes", "y", "✓", "✔", "✅", "true", "supported", "available"), "yes"),
    **dict.fromkeys(("no", "n", "✗", "✘", "❌", "false", "not supported", "unsupported", "not available"), "no"),
}
# A column that is about what something is compared with.
_OTHERS = re.compile(r"\b(?:others?|comparable|competing|conventional|rivals?)\b", re.IGNORECASE)
_SET_AGAINST = re.compile(
    r"\b(?:instead of|rather than|down from|from|than|against|versus|vs\.?|compared (?:to|with))\s+(?:about |up to |USD |\$)*\d[^,;.]*?(?=\s+to\s+\d|[,;]|\.(?:\s|$)|$)"
    r"|\b\d[\d.,]*\s+(?:other|comparable|conventional)\b[^,;.]*",
    re.IGNORECASE,
)
# "... compared with other instances that are optimized for inference": what is said of the others is not said of the thing.
_COMPARED_WITH = re.compile(
    r"\b(?:with|than|against|versus|vs\.?|to|from|unlike)\s+(?:the\s+|an?\s+)?(?:others?|comparable|competing|conventional|rivals?)\b[^,;]*",
    re.IGNORECASE,
)
LOOKED_AT = 4
# Without these a claim would be another one: full fine-tuning is not any fine-tuning.
_WEIGHTY = frozenset(["full", "only", "idle", "peak", "maximum", "minimum", "sparse", "dense", "average"])
_MOSTLY = 0.5


def verdict_of(claim: str, query: Query, scored: Sequence[Scored]) -> tuple[Verdict, Scored]:
    """The verdict of the first test that finds one, with its ground; "open" with the best evidence where none does."""
    relevant = [
        s for s in scored if s.score >= 0.1 * ANSWERS and s.unit.kind != "note" and speaks_of(s, query)
    ] or list(scored[:1])
    # "Is it A or B?" has no yes or no.
    alternatives = query.yes_no and re.search(r"\bor\b", claim)
    for test in () if alternatives else (_by_short_answer, _by_cell, _by_numbers, _by_words, _by_purpose):
        if (found := test(claim, query, relevant)) is not None:
            return found
    return "open", next(iter(eligible(query, scored)), scored[0])


def owner_above(scored: Scored) -> str:
    """The heading above evidence that names a maker, where the evidence itself names none."""
    if makers(scored.unit.meant):
        return ""
    return next((a for a in reversed(scored.unit.above) if makers(a) and len(a) < 60), "")


def _with_owner(scored: Scored) -> str:
    return f"{owner_above(scored)} {scored.unit.meant}"


def speaks_of(scored: Scored, query: Query) -> bool:
    """Whether evidence is about what the question names, and about nothing else of the kind."""
    if not query.entities:
        return True
    return scored.features["owner"] > 0 and not scored.features["other name"] and not scored.features["sibling"]


def asked_above(unit: Unit) -> str:
    """The question that a piece of evidence answers: the heading or first cell that is one."""
    above = [*([unit.cells[0][1]] if unit.cells else []), *reversed(unit.above[-1:])]
    return next((a for a in above if a.endswith("?")), "")


def _asserted(unit: Unit) -> str:
    """What evidence says, without the question that it answers: a question asserts nothing."""
    if unit.cells and unit.cells[0][1].endswith("?"):
        return " ".join(cell for _, cell in unit.cells[1:])
    return unit.meant


def _place(unit: Unit) -> str:
    """What stands right above evidence, unless that is a question."""
    return " ".join(a for a in unit.above[-1:] if not a.endswith("?"))


def _by_short_answer(claim: str, query: Query, relevant: Sequence[Scored]) -> tuple[Verdict, Scored] | None:
    """The yes or no that a source gives to the very same question."""
    for s in relevant:
        asked, answered = asked_above(s.unit), short_answer(_asserted(s.unit))
        if asked and answered and denies(asked) == denies(claim) and _same_question(claim, asked, s):
            return answered, s
    return None


def _same_question(claim: str, asked: str, scored: Scored) -> bool:
    place = f"{asked} {' '.join(scored.unit.above)} {scored.unit.chunk.document.title}"
    if not mentioned(asked) <= mentioned(claim) or not mentioned(claim) <= mentioned(place):
        return False
    missing = {*uncovered(claim, f"{asked} {scored.unit.chunk.document.title}"), *uncovered(asked, claim)}
    return missing <= _OF_NO_WEIGHT


def _by_cell(claim: str, query: Query, relevant: Sequence[Scored]) -> tuple[Verdict, Scored] | None:
    """The yes or no that stands in a table's cell for the thing and the property that are asked about."""
    for s in relevant:
        for header, cell in s.unit.cells[1:]:
            said = _CELL_WORDS.get(cell.lower().strip(" ."))
            text = f"{s.unit.cells[0][1]} {header}"
            if said and set(uncovered(claim, text)) <= _OF_NO_WEIGHT and mentioned(claim) <= mentioned(text):
                return ("no" if (said == "yes") == denies(claim) else "yes"), s
    return None


def _by_numbers(claim: str, query: Query, relevant: Sequence[Scored]) -> tuple[Verdict, Scored] | None:
    claimed = [
        q for q in quantities(claim) if any(c.isdigit() for c in q.text) or (q.dimension == "count" and q.low > 1)
    ]
    claimed = [q for q in claimed if q.dimension != "parameters" or not query.decides]
    if not claimed:
        return None
    told = [(s, _figures(s, query)) for s in relevant]
    for s, figures in told:
        if all(any(_agrees(q, f) for f in figures) for q in claimed):
            if opposed_direction(claim, s.unit.meant):
                return "no", s
            if (
                not other_owner(claim, s.unit.meant_in_place)
                and _says_all(claim, s)
                and superlative(claim) <= superlative(s.unit.meant_in_place)
            ):
                return ("no" if denies(claim) else "yes"), s
    if any(
        s.features["words in place"] > _ABOUT and all(any(_agrees(q, f) for f in figures) for q in claimed)
        for s, figures in told
    ):
        return None
    return next(
        (("no", s) for s, figures in told if any(_counters(q, figures) and _same_matter(q, s) for q in claimed)), None
    )


def _figures(scored: Scored, query: Query) -> Sequence[Quantity]:
    """The quantities of the things asked about, without those of what they are compared with."""
    unit = scored.unit
    of_others = bool(_OTHERS.search(query.standalone))
    own = columns_of_things(unit, query) if unit.cells else ()
    if own:
        key = unit.cells[0][1]
        kept = [f"{with_unit(key, cell)} {key}" for header, cell in own if of_others or not _OTHERS.search(header)]
        return quantities("; ".join(kept))
    if of_others or unit.cells:
        return unit.quantities
    # "To 2.3 hours from 4 hours on comparable instances": where a figure stands against one of its kind, the other's is meant.
    alone = quantities(_SET_AGAINST.sub(" ", unit.meant))
    return alone if {q.dimension for q in unit.quantities} == {q.dimension for q in alone} else unit.quantities


def _says_all(claim: str, scored: Scored) -> bool:
    """Whether evidence with the claim's figures says the rest of it, too; in a claim of a year no word may be missing."""
    missing = set(uncovered(claim, scored.unit.meant_in_place)) - _named_around(claim, scored)
    only_dates = all(q.dimension in ("date", "day") for q in quantities(claim))
    return len(missing) <= (0 if only_dates else 1) and not missing & _WEIGHTY


def _same_matter(claimed: Quantity, scored: Scored) -> bool:
    """A thing has one power draw and one memory size, but many percentages: those must be said with the question's words."""
    if (
        claimed.dimension in ("watts", "bytes", "flops", "bits/s", "bytes/s", "flops/watt")
        and scored.features["names in place"] > 0
    ):
        return not scored.features["sibling"]
    return scored.features["words in place"] > 0.3


def _counters(claimed: Quantity, figures: Sequence[Quantity]) -> bool:
    """Whether the evidence, by its figures, gives another number for the same quantity."""
    alike = [
        f
        for f in figures
        if f.dimension == claimed.dimension and (f.dimension != "count" or _same_noun(claimed, f))
    ]
    return bool(alike) and not any(_agrees(claimed, f) for f in alike)


def _agrees(claimed: Quantity, found: Quantity) -> bool:
    return (same(claimed, found) or found.holds(claimed)) and (
        claimed.dimension != "count" or not claimed.noun or _same_noun(claimed, found)
    )


def _same_noun(one: Quantity, other: Quantity) -> bool:
    return bool({stem(w) for w in words(one.noun)} & {stem(w) for w in words(other.noun)})


def _by_purpose(claim: str, query: Query, relevant: Sequence[Scored]) -> tuple[Verdict, Scored] | None:
    """Whether what a thing is for, by the evidence that names it, is the task that the question gives it."""
    opposites = vocabulary()["opposites"]
    asked = [t for t in tasks(claim) if t in opposites]
    if len(asked) != 1 or len(query.entities) != 1:
        return None
    purpose = [s for s in relevant if s.features["names in place"] > 0 and _is_purpose(s)]
    for s in purpose:
        there = tasks(_said_of(s, query)) or tasks(" ".join(s.unit.above[-1:]))
        if len(uncovered(claim, s.unit.meant_in_place)) > 1:
            continue
        if asked[0] in there:
            return None if denies(claim) else ("yes", s)
        if opposites[asked[0]] in there:
            return "no", s
    return None


def _is_purpose(scored: Scored) -> bool:
    return bool(
        re.search(
            r"\b(for|purpose|designed|built|best|optimi[sz]ed|specialised|specialized)\b",
            scored.unit.meant,
            re.IGNORECASE,
        )
    )


def _said_of(scored: Scored, query: Query) -> str:
    """What evidence says of the things that the question names: their columns of a row, their clause of a sentence."""
    unit, wanted = scored.unit, {e.lower() for e in query.entities}
    if _asserted(unit) != unit.meant:
        return _asserted(unit)
    alone = unit.meant if unit.cells or _OTHERS.search(query.standalone) else _COMPARED_WITH.sub(" ", unit.meant)
    if not wanted or mentioned(unit.meant) <= wanted:
        return alone
    if unit.cells:
        own = [f"{header} {cell}" for header, cell in unit.cells[1:] if wanted & mentioned(f"{header} {cell}")]
        return f"{unit.cells[0][1]} {' '.join(own)}" if own else unit.meant
    own = [c for c in _clauses(alone) if wanted & mentioned(c) and len(content_words(c)) > 1]
    return ", ".join(own) or alone


def _clauses(text: str) -> list[str]:
    """The clauses of a sentence; one that names nothing goes on with what the clause before it names."""
    found: list[str] = []
    for clause in _CLAUSE.split(text):
        if found and not mentioned(clause):
            found[-1] += f", {clause}"
        else:
            found.append(clause)
    return found


def _by_words(claim: str, query: Query, relevant: Sequence[Scored]) -> tuple[Verdict, Scored] | None:
    """Yes needs every word of the claim; no needs the same matter denied, turned round, or given to somebody else."""
    for s in relevant[:LOOKED_AT]:
        if s.features["names in place"] > 0 and not s.features["other name"] and other_owner(claim, _with_owner(s)):
            return "no", s
        if (word := word_of(claim, query, s)) is not None:
            return word, s
    return None


def word_of(claim: str, query: Query, scored: Scored) -> Literal["yes", "no"] | None:
    """What one piece of evidence says to a claim, by its words alone."""
    if scored.features["words in place"] < _MOSTLY:
        return None
    stated, text = without_shared_absence(claim, _said_of(scored, query))
    denied = bool(denied_words(text) & {stem(w) for w in content_words(claim)}) and not denies(stated)
    if denied and denies_claim(stated, text):
        return "no"
    if opposed_direction(stated, text) and scored.features["words"] > _MOSTLY:
        return "no"
    here = f"{_place(scored.unit)} {text}"
    missing = set(uncovered(stated, here)) - _named_around(claim, scored)
    if denied or scored.score < ANSWERS or missing or superlative(stated) > superlative(here):
        return None
    return "no" if denies(stated) and not denies(text) else "yes"


def _named_around(claim: str, scored: Scored) -> frozenset[str]:
    """The words of a claim's proper names that stand around evidence: "It" and "the K2" are the thing of the heading."""
    told = f"{scored.unit.meant_in_place} {scored.unit.chunk.document.title}"
    there = {stem(w) for w in content_words(told)}
    return frozenset(w for name in proper_names(claim) for w in content_words(name) if stem(w) in there)
