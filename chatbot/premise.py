"""Yes-or-no questions and questions that take something for granted: answered by what a source says to the same, corrected by its figures."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from chatbot.answer import Passage
from chatbot.draft import Draft, Notes
from chatbot.eligibility import ANSWERS, eligible, repeats
from chatbot.evidence import Unit
from chatbot.facts import corrections, elsewhere, further
from chatbot.names import mentioned, proper_names
from chatbot.phrasing import columns_of_things, statement
from chatbot.polarity import claim_of, denies, opposed_direction, short_answer, uncovered
from chatbot.quantities import Quantity, quantities, same, with_unit
from chatbot.query import Query
from chatbot.scoring import Scored, score_units
from chatbot.words import content_words, stem, words
from ingest import Index

Verdict = Literal["yes", "no"]

_PRESUMES = re.compile(
    r"\b(since|because|given that|why (?:is|are|does|do|did|has|have|was|were|can|should)|with (?:its|their)|now that|considering|as (?:we|everyone|you) knows?|^as (?=(?:\S+ ){1,8}(?:is|are|has|have|was|can|does|supports?|runs?|needs?|draws?|costs?|uses?|lacks?|offers?)\b)|seeing that|so if)\b",
    re.IGNORECASE,
)
_MORE = 2
# Evidence with this share of a question's words is about its matter.
_ABOUT = 0.4
# Words that make no other question of one.
_OF_NO_WEIGHT = frozenset(
    ["good", "suitable", "suited", "able", "possible", "use", "used", "using", "actually", "really", "model", "models", "support", "supports", "supported", "have", "offer", "offers", "available", "include", "includes", "come", "run"]
)
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
# Without these a claim would be another one: full fine-tuning is not any fine-tuning.
_WEIGHTY = frozenset(["full", "only", "idle", "peak", "maximum", "minimum", "sparse", "dense", "average"])


def judge(query: Query, scored: Sequence[Scored], passages: Sequence[Passage], index: Index) -> Draft | None:
    """Yes or no, and the evidence for it; None for a question that neither asks whether nor presumes, and where no source gives the word or a figure."""
    presumed = presumed_in(query.standalone)
    if not (query.yes_no or presumed) or query.asks_agreement or not scored:
        return None
    claim = presumed or claim_of(query.standalone)
    held = score_units(replace(query, standalone=claim), passages, index) if presumed else scored
    found = eligible(query, scored)
    # "Is it A or B?" has no yes or no.
    if query.yes_no and (not found or re.search(r"\bor\b", claim)):
        return None
    relevant = [s for s in held if s.score >= 0.1 * ANSWERS and s.unit.kind != "note" and _speaks_of(s, query)] or held[:1]
    told = _by_short_answer(claim, relevant) or _by_cell(claim, relevant) or _by_numbers(claim, query, relevant)
    if told is None or (told[0] == "yes" and (not query.yes_no or query.compares)):
        return None
    verdict, ground = told
    chosen = [ground]
    for s in (*elsewhere(chosen, found), *further(query, found or scored, limit=_MORE)):
        if len(chosen) <= _MORE and not any(repeats(s, c) for c in chosen):
            chosen.append(s)
    said = statement(ground.unit, query).removeprefix(f"{_asked_above(ground.unit).rstrip('?')}: ")
    word = {"yes": "Yes. ", "no": "No. " if query.yes_no else "The sources say otherwise: "}[verdict]
    notes = Notes()
    notes.line(
        # "Yes, if ..." says its word itself.
        notes.sentence(said if short_answer(said) == verdict else f"{word}{said}", ground),
        *(notes.sentence(statement(s.unit, query), s) for s in chosen[1:]),
        *corrections(notes, query, chosen, scored),
    )
    return notes.draft()


def presumed_in(question: str) -> str | None:
    """The part of a question that is taken for granted: "since ..." up to the comma, all of a "why does ..."."""
    if not (match := _PRESUMES.search(question)):
        return None
    clause = question[match.end() :]
    return clause if match.group().lower().startswith("why") else re.split(r",\s|\?|;", clause)[0]


def _speaks_of(scored: Scored, query: Query) -> bool:
    """Whether evidence is about what the question names, and about nothing else of the kind."""
    return not query.entities or (scored.features["owner"] > 0 and not scored.features["other name"] and not scored.features["sibling"])


def _asked_above(unit: Unit) -> str:
    """The question that a piece of evidence answers: the heading or first cell that is one."""
    above = [*([unit.cells[0][1]] if unit.cells else []), *reversed(unit.above[-1:])]
    return next((a for a in above if a.endswith("?")), "")


def _by_short_answer(claim: str, relevant: Sequence[Scored]) -> tuple[Verdict, Scored] | None:
    """The yes or no that a source gives to the very same question."""
    for s in relevant:
        asked = _asked_above(s.unit)
        said = " ".join(cell for _, cell in s.unit.cells[1:]) if s.unit.cells and s.unit.cells[0][1] == asked else s.unit.meant
        if asked and (answered := short_answer(said)) and denies(asked) == denies(claim) and _same_question(claim, asked, s):
            return answered, s
    return None


def _same_question(claim: str, asked: str, scored: Scored) -> bool:
    title = scored.unit.chunk.document.title
    if not mentioned(asked) <= mentioned(claim) <= mentioned(f"{asked} {' '.join(scored.unit.above)} {title}"):
        return False
    return {*uncovered(claim, f"{asked} {title}"), *uncovered(asked, claim)} <= _OF_NO_WEIGHT


def _by_cell(claim: str, relevant: Sequence[Scored]) -> tuple[Verdict, Scored] | None:
    """The yes or no that stands in a table's cell for the thing and the property that are asked about."""
    for s in relevant:
        for header, cell in s.unit.cells[1:]:
            said = _CELL_WORDS.get(cell.lower().strip(" ."))
            text = f"{s.unit.cells[0][1]} {header}"
            if said and set(uncovered(claim, text)) <= _OF_NO_WEIGHT and mentioned(claim) <= mentioned(text):
                return ("no" if (said == "yes") == denies(claim) else "yes"), s
    return None


def _by_numbers(claim: str, query: Query, relevant: Sequence[Scored]) -> tuple[Verdict, Scored] | None:
    claimed = [q for q in quantities(claim) if any(c.isdigit() for c in q.text) or (q.dimension == "count" and q.low > 1)]
    told = [(s, _figures(s, query)) for s in relevant if claimed]
    agreeing = [s for s, figures in told if all(any(_agrees(q, f) for f in figures) for q in claimed)]
    for s in agreeing:
        if opposed_direction(claim, s.unit.meant):
            return "no", s
        if _says_all(claim, s):
            return ("no" if denies(claim) else "yes"), s
    if any(s.features["words in place"] > _ABOUT for s in agreeing):
        return None
    return next((("no", s) for s, figures in told if any(_counters(q, figures) and _same_matter(q, s) for q in claimed)), None)


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
    told = f"{scored.unit.meant_in_place} {scored.unit.chunk.document.title}"
    there = {stem(w) for w in content_words(told)}
    # "The K2" is the thing of the heading.
    named = {w for name in proper_names(claim) for w in content_words(name) if stem(w) in there}
    missing = set(uncovered(claim, scored.unit.meant_in_place)) - named
    only_dates = all(q.dimension in ("date", "day") for q in quantities(claim))
    return len(missing) <= (0 if only_dates else 1) and not missing & _WEIGHTY


def _same_matter(claimed: Quantity, scored: Scored) -> bool:
    """A thing has one power draw and one memory size, but many percentages: those must be said with the question's words."""
    if claimed.dimension in ("watts", "bytes", "flops", "bits/s", "bytes/s", "flops/watt") and scored.features["names in place"] > 0:
        return not scored.features["sibling"]
    return scored.features["words in place"] > 0.3


def _counters(claimed: Quantity, figures: Sequence[Quantity]) -> bool:
    """Whether the evidence, by its figures, gives another number for the same quantity."""
    alike = [f for f in figures if f.dimension == claimed.dimension and (f.dimension != "count" or _same_noun(claimed, f))]
    return bool(alike) and not any(_agrees(claimed, f) for f in alike)


def _agrees(claimed: Quantity, found: Quantity) -> bool:
    return (same(claimed, found) or found.holds(claimed)) and (
        claimed.dimension != "count" or not claimed.noun or _same_noun(claimed, found)
    )


def _same_noun(one: Quantity, other: Quantity) -> bool:
    return bool({stem(w) for w in words(one.noun)} & {stem(w) for w in words(other.noun)})
