"""Evidence for the options of an exam question: which units speak of an option, and how each bears on it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from typing import NamedTuple

from chatbot.answer import Passage
from chatbot.decision import criteria, meets
from chatbot.evidence import Unit
from chatbot.examination.entailment import Reading, compare_numbers, limits, read_main, read_unit, squeezed
from chatbot.examination.matter import Matter, Part, cover, share, turned
from chatbot.examination.requirements import Stance, opposed, stance
from chatbot.meaning import nearness
from chatbot.names import mentioned
from chatbot.quantities import Quantity, same
from chatbot.query import Query
from chatbot.scoring import Scored, score_units
from chatbot.tasks import tasks
from chatbot.words import content_words, stem, stems, vocabulary, words
from ingest import Index

# Units that share the fewest words with the stem and all options are not looked at; of the rest the first are compared by meaning.
_CONSIDERED = 56
_COMPARED_BY_MEANING = 24
# The scores of evidence were learned from plain questions: of a stem with more content words than this they tell less.
_BRIEF = 12
# How fast nearness fades: a word so many words away counts 1/e.
_NEAR = 6.0
# Where a document came from, and the options of a quiz, bear out nothing.
_NOT_EVIDENCE = re.compile(r"^(?:\W*sources?:\s|(?:option\s+)?\(?[A-H]\)?[.:)]\s)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ground:
    """A unit that may bear out options: as it reads, as it reads without its reasons, how well it answers the stem, and how much of its needs it meets."""

    scored: Scored
    reading: Reading
    main: Reading
    stance: Stance
    evidence: float
    needs: float

    @property
    def unit(self) -> Unit:
        """The unit itself."""
        return self.scored.unit


class Near(NamedTuple):
    """How near a part is to a ground, with the sentence that asks and with all that the stem says of it: as wholes and by words."""

    asked: float
    asked_by_words: float
    needed: float
    needed_by_words: float


@dataclass(frozen=True, slots=True)
class Bearing:
    """How a ground bears on a part of an option: its features."""

    ground: Ground
    features: dict[str, float]


def grounds(matter: Matter, query: Query, passages: Sequence[Passage], index: Index) -> list[Ground]:
    """The units that share most with the question, stem and options together, best first."""
    scored = [s for s in score_units(query, passages, index) if _can_speak(s.unit)]
    most = max((s.score for s in scored), default=1.0) or 1.0
    brevity = min(1.0, _BRIEF / max(1, len(content_words(query.standalone))))
    wanted = criteria(query, index)
    needs = [sum(meets(c, s, query) for c in wanted) * (not s.features["opposite task"]) for s in scored]
    best = max(needs, default=0.0) or 1.0
    found = [
        Ground(
            s,
            read_unit(s.unit),
            read_main(s.unit),
            stance(s.unit.meant_in_place),
            brevity * (s.score / most) ** 0.5,
            n / best,
        )
        for s, n in zip(scored, needs, strict=True)
    ]
    return sorted(found, key=lambda g: (-_worth(matter, g), g.unit.chunk.document.id, g.unit.start))[:_CONSIDERED]


def _can_speak(unit: Unit) -> bool:
    return unit.kind != "note" and not unit.plain.endswith("?") and not _NOT_EVIDENCE.match(unit.plain)


def _worth(matter: Matter, ground: Ground) -> float:
    on_options = max(cover(p.apart, ground.reading, around=0.8)[1] for parts in matter.parts for p in parts)
    return on_options + on_stem(matter, ground) + 0.5 * ground.scored.passage.score


def on_stem(matter: Matter, ground: Ground) -> float:
    """How much of the stem a unit says in its place: the sentence that asks and the whole, each 0 to 1, together."""
    asked = cover(matter.asked, ground.reading, around=0.8)[1]
    return asked + cover(matter.scenario, ground.reading, around=0.8)[1]


def bearings(matter: Matter, found: Sequence[Ground], index: Index) -> list[list[list[Bearing]]]:
    """How each ground bears on each part of each option."""
    flat = [part for parts in matter.parts for part in parts]
    near = iter(_near(matter, flat, found, index))
    return [[_on_part(part, matter, found, next(near)) for part in parts] for parts in matter.parts]


def _on_part(part: Part, matter: Matter, found: Sequence[Ground], near: Sequence[Near]) -> list[Bearing]:
    own = frozenset(w.stem for w in part.apart)
    told = [_told(part, g) for g in found]
    asked = [cover(matter.asked, reading, around=0.8, but=own)[1] for reading in told]
    scenario = [cover(part.scenario, reading, around=0.8, but=own)[1] for reading in told]
    most = max(scenario, default=0.0) or 1.0
    return [
        Bearing(
            g,
            {
                **_on_words(part, matter, g, a, s / most),
                **_on_meaning(part, g, n),
                **_on_sense(part, matter, g, a, s / most),
            },
        )
        for g, a, s, n in zip(found, asked, scenario, near, strict=True)
    ]


def _told(part: Part, ground: Ground) -> Reading:
    """What a unit says of a part: without its reasons where the part stands before them, for they are about something else."""
    whole, main = cover(part.apart, ground.reading)[0], cover(part.apart, ground.main)[0]
    return ground.main if main >= whole else ground.reading


def _on_words(part: Part, matter: Matter, ground: Ground, asked: float, scenario: float) -> dict[str, float]:
    """What ground, part and stem share in words and names."""
    reading, unit = ground.reading, ground.unit
    own, place = cover(part.apart, reading)
    claim = cover(part.claim, reading)[1]
    others = matter.entities - part.names.keys()
    return {
        "cover": own,
        "place": place,
        "claim": claim,
        "claim squared": claim * claim,
        "claim x scenario": claim * scenario,
        "asked": asked,
        "asked x cover": asked * place,
        "scenario x cover": scenario * place,
        "in one clause": _in_one_clause(part, matter, reading),
        "near": _nearness(part, matter, reading) * place,
        "passage": ground.scored.passage.score * place,
        "link": own * scenario * bool(others and others & mentioned(unit.meant)),
        "verbatim": float(len(part.text) > 3 and squeezed(part.text) in reading.squeezed),
        "row x cover": place * (unit.kind == "row"),
        "key": float(bool(unit.cells) and stems(unit.cells[0][1]) == stems(part.text)),
        "evidence": ground.evidence,
        "evidence x cover": ground.evidence * place,
        "evidence x claim": ground.evidence * claim,
    }


def _on_meaning(part: Part, ground: Ground, near: Near) -> dict[str, float]:
    """How near the question with the part is to the ground, as wholes and word by word."""
    place = cover(part.apart, ground.reading)[1]
    return {
        "meaning": near.asked,
        "meaning x cover": near.asked * place,
        "nearness": near.asked_by_words,
        "nearness x cover": near.asked_by_words * place,
        "need": near.needed,
        "need by words": near.needed_by_words,
        "need x cover": near.needed_by_words * place,
    }


def _on_sense(part: Part, matter: Matter, ground: Ground, asked: float, scenario: float) -> dict[str, float]:
    """Whether ground and part agree: numbers, denials, limits, and what the workload asks for."""
    reading, unit = ground.reading, ground.unit
    place = cover(part.apart, reading)[1]
    numbers = compare_numbers(part.text, unit)
    agreed, otherwise = _given(matter.given, unit)
    most = max(2, len(part.asked))
    met = len(part.asked & ground.stance.in_favour) / most
    return {
        "same numbers": float(numbers == "same"),
        "other numbers": asked * (numbers == "other"),
        "other order": float(numbers == "order"),
        "given": agreed * place,
        "given otherwise": otherwise * place,
        "denied option": turned(part.apart, reading, part.denied),
        "denied stem": place * turned(matter.asked, reading, matter.denied),
        "limit": place * bool(limits(part.text) - limits(unit.meant)),
        "met": met * place,
        "met x subject": met * subject(part, reading),
        "opposed": place * sum(opposed(p, ground.stance.in_favour) for p in part.asked) / most,
        "needs": ground.needs * place,
        "other task": place * _is_other_task(part, matter, unit),
        "names": _names(part, unit),
        "names apart": float(bool(unit.cells) and len(part.names) > 1 and not _in_one_cell(part, unit)),
        "refused": place * len(part.asked & ground.stance.against) / most,
    }


def subject(part: Part, reading: Reading) -> float:
    """How much of a part a unit begins with."""
    return share([w for w in part.apart if w.stem in reading.lead], part.apart)


def _names(part: Part, unit: Unit) -> float:
    """The least of a part's names in a unit: there, around it, or only something of its family; 0 where one is missing."""
    here, around = mentioned(unit.meant), mentioned(unit.meant_in_place)
    found = [
        1.0 if name in here else 0.8 if name in around else 0.5 if related & here else 0.0
        for name, related in part.names.items()
    ]
    return min(found, default=1.0)


def _in_one_cell(part: Part, unit: Unit) -> bool:
    """Whether a table puts a part's names together: under one header, or in one cell."""
    row = unit.cells[0][1]
    return any(part.names.keys() <= mentioned(f"{row} {header} {cell}") for header, cell in unit.cells)


def _is_other_task(part: Part, matter: Matter, unit: Unit) -> bool:
    """Whether a unit speaks of the opposite of what is to be done: of serving where training is asked for."""
    asked, there = tasks(f"{matter.text} {part.text}"), tasks(unit.meant)
    opposites = {vocabulary()["opposites"].get(task) for task in asked} - asked
    return bool(opposites & there) and not asked & there


def _given(given: Sequence[Quantity], unit: Unit) -> tuple[float, float]:
    """The share of the stem's quantities that a unit has, and of those that it has otherwise: eight GPUs where one is asked for."""
    if not given:
        return 0.0, 0.0
    alike = [[f for f in unit.quantities if _of_one_kind(q, f)] for q in given]
    agreed = [any(same(q, f) or f.holds(q) for f in found) for q, found in zip(given, alike, strict=True)]
    otherwise = [bool(found) and not yes for yes, found in zip(agreed, alike, strict=True)]
    return sum(agreed) / len(given), sum(otherwise) / len(given)


def _of_one_kind(one: Quantity, other: Quantity) -> bool:
    return one.dimension == other.dimension and (one.dimension != "count" or bool(stems(one.noun) & stems(other.noun)))


def _in_one_clause(part: Part, matter: Matter, reading: Reading) -> float:
    """How much of the part and of the hardware asked about stands in one clause: "Trn2 carries Trainium2 and Trn3 carries Trainium3"
    pairs them."""
    named = {stem(w) for name in matter.entities for w in words(name)} - {w.stem for w in part.apart}
    asked = [w for w in matter.asked if w.stem in named]
    return max(
        (
            share([w for w in part.apart if w.stem in clause], part.apart)
            * share([w for w in asked if w.stem in clause], asked)
            for clause in reading.clauses
        ),
        default=0.0,
    )


def _nearness(part: Part, matter: Matter, reading: Reading) -> float:
    """How near the stem's words stand to the option's, by weight."""
    own = {w.stem for w in part.apart}
    mine = [p for s in own for p in reading.places.get(s, ())]
    found = [(w.weight, reading.places[w.stem]) for w in matter.asked if w.stem in reading.places and w.stem not in own]
    total = sum(weight for weight, _ in found)
    if not mine or not total:
        return 0.0
    return sum(weight * max(exp(-abs(a - b) / _NEAR) for a in at for b in mine) for weight, at in found) / total


def _near(matter: Matter, flat: Sequence[Part], found: Sequence[Ground], index: Index) -> list[list[Near]]:
    """How near each part is to each ground, with what is asked and with the need: to the first ones themselves, to the passages
    of the others, whose words count as those of the farthest of the first."""
    if index.encoder_name == "none" or not found:
        return [[Near(0.0, 0.0, 0.0, 0.0)] * len(found) for _ in flat]
    asked = [f"{part.situation or matter.asking} {part.text}" for part in flat]
    needed = [f"{part.text}. {part.situation or matter.text}" for part in flat]
    first = [g.unit.meant_in_place for g in found[:_COMPARED_BY_MEANING]]
    rest = [g.unit.chunk.id for g in found[_COMPARED_BY_MEANING:]]
    to_pieces = [*nearness(asked, first, index), *nearness(needed, first, index)]
    return [
        [
            *(Near(*map(float, of_piece)) for of_piece in zip(*of_part, strict=True)),
            *(
                Near(similar, *(float(of_pieces.min()) for of_pieces in of_part[1:]))
                for similar in index.similarities(vector, rest)
            ),
        ]
        for vector, *of_part in zip(index.encode(asked), *to_pieces, strict=True)
    ]
