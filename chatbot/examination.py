"""Exam questions: each option is held against the evidence for the stem, and each gets a line of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chatbot.answer import REFUSAL, Passage
from chatbot.decision import criteria, meets
from chatbot.draft import Draft, Notes
from chatbot.evidence import Unit
from chatbot.names import mentioned, names, relatives
from chatbot.options import Option
from chatbot.phrasing import statement
from chatbot.quantities import quantities, same
from chatbot.query import Query, tasks
from chatbot.scoring import Scored, inverse_document_frequency, score_units
from chatbot.words import content_words, stem, synonyms, vocabulary
from ingest import Index

# Below this no option is borne out: the sources do not decide the question.
_DECIDES = 0.12
_WORTH_SAYING = 0.25
# From this cover on, evidence speaks of an option; what it meets of the stem's needs then counts this much.
_SPEAKS = 0.5
_CRITERIA_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class _Judged:
    """An option with how well the evidence bears it out, and the evidence that speaks of it."""

    option: Option
    support: float
    ground: Scored | None


def examine(query: Query, passages: Sequence[Passage], index: Index) -> Draft:
    """The letters first, why, then a line an option; a draft without text when the evidence decides nothing."""
    by_stem = score_units(query, passages, index)
    judged = [_judged(query, option, by_stem, passages, index) for option in query.options]
    ranked = sorted(judged, key=lambda j: ((j.support if query.negated else -j.support), j.option.letter))
    chosen = sorted(ranked[: query.choose], key=lambda j: j.option.letter)
    if max(j.support for j in judged) < _DECIDES:
        return Draft("", ())
    return _draft(query, judged, chosen, by_stem)


def _draft(query: Query, judged: Sequence[_Judged], chosen: Sequence[_Judged], by_stem: Sequence[Scored]) -> Draft:
    notes = Notes()
    letters = [j.option.letter for j in chosen]
    grounds = [j.ground for j in chosen if j.ground is not None] or [g for j in judged if (g := j.ground) is not None and query.negated]
    why = grounds[0] if grounds else by_stem[0]
    notes.line(notes.sentence(f"{', '.join(letters)}: {statement(why.unit, query)}", why))
    for j in judged:
        opening = option_label(j.option)
        notes.line(f"- {opening}: " + (REFUSAL if j.ground is None else notes.sentence(statement(j.ground.unit, query), j.ground)))
    return notes.draft(letters)


def option_label(option: Option) -> str:
    """How an option is named in the answer: its letter and its text."""
    return f"{option.letter}. {option.text}"


def _judged(query: Query, option: Option, by_stem: Sequence[Scored], passages: Sequence[Passage], index: Index) -> _Judged:
    whole = f"{query.standalone} {option.text}"
    asked = replace(query, standalone=whole, entities=tuple(n.name for n in names(option.text)), tasks=tasks(option.text) or query.tasks)
    by_option = {(s.unit.chunk.document.id, s.unit.start): s for s in score_units(asked, passages, index)}
    rated = []
    for s in by_stem:
        key = (s.unit.chunk.document.id, s.unit.start)
        cover = _cover(option, s, query, index)
        together = by_option[key].score if key in by_option else 0.0
        # Evidence for an option must speak of what the stem names, too.
        on_stem = 0.3 + 0.7 * s.features["names in place"] if query.entities else 1.0
        given = quantities(query.standalone)
        numbers = sum(any(same(q, f) or f.holds(q) for f in s.unit.quantities) for q in given) / len(given) if given else 0.0
        rated.append((cover * on_stem * (0.5 * s.score + 0.5 * together + 0.2 * numbers), cover, s))
    named = {n.name.lower() for n in names(option.text)}
    on_name = [r for r in rated if named and any(n in mentioned(r[2].unit.full) for n in named)]
    rated = on_name or rated
    support, cover, ground = max(rated, key=lambda r: r[0], default=(0.0, 0.0, None))
    spoken = max(rated, key=lambda r: (r[1] > 0.5, r[0], r[1]), default=None)
    if ground is None or cover < _WORTH_SAYING:
        ground = spoken[2] if spoken and spoken[1] >= _WORTH_SAYING else None
    met = _criteria_met(query, [r[2] for r in rated if r[1] >= _SPEAKS], index)
    return _Judged(option, (support + _CRITERIA_SHARE * met) * _consistent(option, query, ground), ground)


def _criteria_met(query: Query, found: Sequence[Scored], index: Index) -> float:
    """The share of what the stem asks for that the evidence for an option meets, all of it together."""
    wanted = criteria(query, index)
    total = sum(c.weight for c in wanted)
    usable = [s for s in found if not s.features["opposite task"]]
    return sum(max((meets(c, s, query) for s in usable), default=0.0) for c in wanted) / total if total else 0.0


def _cover(option: Option, scored: Scored, query: Query, index: Index) -> float:
    """How much of what sets an option apart stands in the evidence: its names, its numbers, its own words by weight."""
    unit = scored.unit
    wanted = [n.name for n in names(option.text)]
    here, place = mentioned(unit.plain), mentioned(unit.full)
    parts: list[tuple[float, float]] = []
    for name in wanted:
        related = {r.lower() for r in relatives(name)}
        parts.append((2.0, 1.0 if name.lower() in here else 0.8 if name.lower() in place else 0.6 if related & here else 0.0))
    numbers = [q for q in quantities(option.text)]
    found = quantities(unit.plain)
    parts += [(2.0, float(any(same(q, f) or (q.dimension == "count" and q.text == f.text) for f in found))) for q in numbers]
    text = content_words(unit.full)
    stems_there, groups = {stem(w) for w in text}, {g for w in text for g in synonyms(w)}
    common = {stem(w) for w in content_words(query.standalone)}
    for word in content_words(option.text):
        if any(c.isdigit() for c in word) or stem(word) in common:
            continue
        weight = min(1.0, inverse_document_frequency(word, index) / 4)
        parts.append((weight, 1.0 if stem(word) in stems_there else 0.6 if synonyms(word) & groups else 0.0))
    if unit.cells and len(wanted) > 1 and not _in_one_cell(wanted, unit):
        return 0.0
    total = sum(w for w, _ in parts)
    cover = sum(w * v for w, v in parts) / total if total else 0.0
    # Evidence that names none of an option's names is about something else.
    return cover if not wanted or any(v for w, v in parts[: len(wanted)]) else 0.2 * cover


def _in_one_cell(wanted: Sequence[str], unit: Unit) -> bool:
    """Whether a table puts names together: under one header, or in one cell."""
    row = unit.cells[0][1]
    return any(all(n.lower() in mentioned(f"{row} {header} {cell}") for n in wanted) for header, cell in unit.cells)


def _consistent(option: Option, query: Query, ground: Scored | None) -> float:
    """Less than 1 where the evidence for an option speaks of the opposite of what is asked."""
    if ground is None:
        return 0.5
    opposites = {vocabulary()["opposites"].get(t) for t in tasks(query.standalone + " " + option.text)} - tasks(query.standalone + " " + option.text)
    there = tasks(ground.unit.plain)
    return 0.5 if opposites & there and not tasks(query.standalone) & there else 1.0
