"""Exam questions: each option is held against the evidence for the stem, and each gets a line of its own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chatbot.answer import REFUSAL, Passage
from chatbot.decision import Criterion, criteria, meets
from chatbot.draft import Draft, Notes
from chatbot.evidence import Unit, sentences
from chatbot.facts import is_bare
from chatbot.names import mentioned, names, relatives
from chatbot.options import Option
from chatbot.phrasing import statement
from chatbot.quantities import quantities, same
from chatbot.query import Query, tasks
from chatbot.scoring import Scored, inverse_document_frequency, score_units
from chatbot.words import content_words, stem, stems, synonyms, vocabulary
from ingest import Index

# Below this no option is borne out: the sources do not decide the question.
_DECIDES = 0.04
# A list of options in a document is a question, too.
_OPTION = re.compile(r"(?:option\s+)?\(?[A-H]\)?[.:)]\s", re.IGNORECASE)
_WORTH_SAYING = 0.25
# From this cover on, evidence speaks of an option; what it meets of the stem's needs then counts this much.
_SPEAKS = 0.5
_NEEDS = 0.3
_ALL_TOGETHER = 0.4


@dataclass(frozen=True, slots=True)
class _Held:
    """A piece of evidence held against an option: how much of the option it says, and how well it answers stem and option."""

    scored: Scored
    cover: float
    support: float


@dataclass(frozen=True, slots=True)
class _Judged:
    """An option with its best evidence, and how much of what the stem asks for its evidence meets."""

    option: Option
    support: float
    met: float
    ground: Scored | None


def examine(query: Query, passages: Sequence[Passage], index: Index) -> Draft:
    """The letters first, why, then a line an option; a draft without text when the evidence decides nothing."""
    by_stem = [s for s in score_units(query, passages, index) if _is_ground(s)]
    wanted = criteria(query, index)
    judged = [_judged(query, option, by_stem, wanted, passages, index) for option in query.options]
    if max(j.support for j in judged) < _DECIDES:
        return Draft("", ())
    most = max(j.met for j in judged) or 1.0
    merit = {j.option.letter: j.support + _NEEDS * j.met / most for j in judged}
    ranked = sorted(
        judged, key=lambda j: (merit[j.option.letter] if query.negated else -merit[j.option.letter], j.option.letter)
    )
    return _draft(query, judged, sorted(ranked[: query.choose], key=lambda j: j.option.letter), by_stem)


def _is_ground(scored: Scored) -> bool:
    """Whether evidence can speak for an option: no question, no caption, no remark of the editor's."""
    unit = scored.unit
    return (
        unit.kind != "note"
        and not _OPTION.match(unit.plain)
        and not unit.plain.endswith("?")
        and (bool(mentioned(unit.meant)) or not is_bare(scored))
    )


def option_label(option: Option) -> str:
    """How an option is named in the answer: its letter and its text."""
    return f"{option.letter}. {option.text}"


def _draft(query: Query, judged: Sequence[_Judged], chosen: Sequence[_Judged], by_stem: Sequence[Scored]) -> Draft:
    notes = Notes()
    letters = [j.option.letter for j in chosen]
    against = [j.ground for j in judged if j.ground is not None and query.negated]
    grounds = [j.ground for j in chosen if j.ground is not None] or against or [by_stem[0]]
    notes.line(notes.sentence(f"{', '.join(letters)}: {statement(grounds[0].unit, query)}", grounds[0]))
    for j in judged:
        said = REFUSAL if j.ground is None else notes.sentence(statement(j.ground.unit, query), j.ground)
        notes.line(f"- {option_label(j.option)}: {said}")
    return notes.draft(letters)


def _judged(
    query: Query,
    option: Option,
    by_stem: Sequence[Scored],
    wanted: Sequence[Criterion],
    passages: Sequence[Passage],
    index: Index,
) -> _Judged:
    held = _held(query, option, by_stem, passages, index)
    best = max(held, key=lambda h: (h.support, h.cover), default=None)
    if best is None:
        return _Judged(option, 0.0, 0.0, None)
    spoken = max(held, key=lambda h: (h.cover >= _SPEAKS, h.support, h.cover))
    ground = best if best.cover >= _WORTH_SAYING else spoken if spoken.cover >= _WORTH_SAYING else None
    met = _needs_met(query, [h.scored for h in held if h.cover >= _SPEAKS], wanted)
    return _Judged(
        option, best.support * _consistent(option, query, best.scored), met, ground.scored if ground else None
    )


def _held(
    query: Query, option: Option, by_stem: Sequence[Scored], passages: Sequence[Passage], index: Index
) -> list[_Held]:
    """The evidence that names what the option names, or all of it where the option names nothing."""
    asked = replace(
        query,
        standalone=f"{_question_of(query.standalone)} {option.text}",
        entities=tuple(n.name for n in names(option.text)),
        tasks=tasks(option.text) or query.tasks,
    )
    joint = {(s.unit.chunk.document.id, s.unit.start): s.score for s in score_units(asked, passages, index)}
    given = [q for q in quantities(query.standalone) if any(c.isdigit() for c in q.text)]
    named = {n.name.lower() for n in names(option.text)}
    on_name = [s for s in by_stem if named & mentioned(s.unit.meant_in_place)]
    held = []
    for s in on_name or by_stem:
        cover = _cover(option, s, query, index)
        # Evidence for an option must speak of what the stem names, too.
        on_stem = 0.3 + 0.7 * s.features["names in place"] if query.entities else 1.0
        numbers = (
            sum(any(same(q, f) or f.holds(q) for f in s.unit.quantities) for q in given) / len(given) if given else 0.0
        )
        both = joint.get((s.unit.chunk.document.id, s.unit.start), 0.0)
        held.append(_Held(s, cover, cover * on_stem * (0.5 * s.score + 0.5 * both + 0.2 * numbers)))
    return held


def _question_of(stem_text: str) -> str:
    """The sentence of a stem that asks; the scenario before it only says for whom."""
    spans = [stem_text[start:end] for start, end in sentences(stem_text)]
    asking = [s for s in spans if "?" in s]
    return asking[-1] if asking else spans[-1] if spans else stem_text


def _needs_met(query: Query, found: Sequence[Scored], wanted: Sequence[Criterion]) -> float:
    """How much of what the stem asks for the evidence meets, by weight: the best piece for most of it, all together for the rest."""
    usable = [s for s in found if not s.features["opposite task"]]
    if not usable:
        return 0.0
    by_unit = [[meets(c, s, query) for c in wanted] for s in usable]
    together: float = sum(map(max, zip(*by_unit, strict=True)))
    return (1 - _ALL_TOGETHER) * max(map(sum, by_unit)) + _ALL_TOGETHER * together


def _cover(option: Option, scored: Scored, query: Query, index: Index) -> float:
    """How much of what sets an option apart stands in the evidence: its names, its numbers, its own words by weight."""
    unit = scored.unit
    wanted = [n.name for n in names(option.text)]
    if unit.cells and wanted and not _in_one_cell([*wanted, *_in_row(query.entities, unit)], unit):
        return 0.0
    on_names = [_names(name, unit) for name in wanted]
    on_numbers = _numbers_covered(option, unit)
    parts = [(2.0, v) for v in on_names + on_numbers] + _words_covered(option, unit, query, index)
    total = sum(weight for weight, _ in parts)
    cover = sum(weight * value for weight, value in parts) / total if total else 0.0
    # Evidence that lacks one of an option's names or numbers is about something else, or against it.
    return cover * (0.3 + 0.7 * min(on_names, default=1.0)) * (0.2 + 0.8 * min(on_numbers, default=1.0))


def _in_row(entities: Sequence[str], unit: Unit) -> list[str]:
    return [e for e in entities if e.lower() in mentioned(unit.meant)]


def _names(name: str, unit: Unit) -> float:
    here, place = mentioned(unit.meant), mentioned(unit.meant_in_place)
    related = {r.lower() for r in relatives(name)}
    return 1.0 if name.lower() in here else 0.8 if name.lower() in place else 0.6 if related & here else 0.0


def _numbers_covered(option: Option, unit: Unit) -> list[float]:
    return [
        float(any(same(q, f) or (q.dimension == "count" and q.text == f.text) for f in unit.quantities))
        for q in quantities(option.text)
        if any(c.isdigit() for c in q.text)
    ]


def _words_covered(option: Option, unit: Unit, query: Query, index: Index) -> list[tuple[float, float]]:
    """The option's words that not every option has; those that the stem has too count half."""
    found = content_words(unit.meant_in_place)
    there, groups = {stem(w) for w in found}, {g for w in found for g in synonyms(w)}
    asked = {stem(w) for w in content_words(query.standalone)}
    common = frozenset.intersection(*(stems(o.text) for o in query.options))
    return [
        (
            min(1.0, inverse_document_frequency(w, index) / 4) * (0.5 if stem(w) in asked else 1.0),
            1.0 if stem(w) in there else 0.6 if synonyms(w) & groups else 0.0,
        )
        for w in content_words(option.text)
        if not any(c.isdigit() for c in w) and stem(w) not in common
    ]


def _in_one_cell(wanted: Sequence[str], unit: Unit) -> bool:
    """Whether a table puts names together: under one header, or in one cell."""
    row = unit.cells[0][1]
    return any(all(n.lower() in mentioned(f"{row} {header} {cell}") for n in wanted) for header, cell in unit.cells)


def _consistent(option: Option, query: Query, ground: Scored) -> float:
    """Less than 1 where the evidence for an option speaks of the opposite of what is asked."""
    asked = tasks(f"{query.standalone} {option.text}")
    opposites = {vocabulary()["opposites"].get(t) for t in asked} - asked
    return 0.5 if opposites & tasks(ground.unit.meant) and not asked & tasks(ground.unit.meant) else 1.0
