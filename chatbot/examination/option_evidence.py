"""Evidence for the options of an exam question: which units speak of an option, and how each bears on it."""

from collections.abc import Sequence
from dataclasses import dataclass

from chatbot.deadline import check
from chatbot.examination.agreement import agreement
from chatbot.examination.entailment import Reading, squeezed
from chatbot.examination.ground import Ground, on_question, told
from chatbot.examination.matter import Matter, Part, cover, share
from chatbot.meaning import exam_nearness
from chatbot.names import mentioned
from chatbot.words import stem, stems, words
from ingest import Index


@dataclass(frozen=True, slots=True)
class Bearing:
    """How a ground bears on a part of an option: its features."""

    ground: Ground
    features: dict[str, float]


def bearings(matter: Matter, found: Sequence[Ground], index: Index) -> list[list[list[Bearing]]]:
    """How each ground bears on each part of each option."""
    flat = [part for parts in matter.parts for part in parts]
    near = iter(_near(matter, flat, found, index))
    whole = on_question(matter, found, index)
    return [[_on_part(part, matter, found, next(near), whole) for part in parts] for parts in matter.parts]


def _on_part(
    part: Part, matter: Matter, found: Sequence[Ground], near: Sequence[dict[str, float]], whole: Sequence[dict[str, float]]
) -> list[Bearing]:
    check()
    own = frozenset(w.stem for w in part.apart)
    readings = [told(part, g) for g in found]
    asked = [cover(matter.asked, reading, around=0.8, but=own)[1] for reading in readings]
    scenario = [cover(part.scenario, reading, around=0.8, but=own)[1] for reading in readings]
    most = max(scenario, default=0.0) or 1.0
    return [
        Bearing(g, {**_on_words(part, matter, g, a, s / most), **n, **agreement(part, matter, g, a), **of_question})
        for g, a, s, n, of_question in zip(found, asked, scenario, near, whole, strict=True)
    ]


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
        "scenario x cover": scenario * place,
        "in one clause": _in_one_clause(part, matter, reading),
        "passage": ground.scored.passage.score * place,
        "link": own * scenario * bool(others and others & mentioned(unit.meant)),
        "verbatim": float(len(part.text) > 3 and squeezed(part.text) in reading.squeezed),
        "row x cover": place * (unit.kind == "row"),
        "key": float(bool(unit.cells) and stems(unit.cells[0][1]) == stems(part.text)),
        "evidence": ground.evidence,
    }


def _in_one_clause(part: Part, matter: Matter, reading: Reading) -> float:
    """How much of the part and of the hardware asked about stands in one clause: "Trn2 carries Trainium2 and Trn3 carries Trainium3"
    pairs them."""
    named = {stem(w) for name in matter.entities for w in words(name)} - {w.stem for w in part.apart}
    asked = [w for w in matter.asked if w.stem in named]
    return max((share(part.apart, clause) * share(asked, clause) for clause in reading.clauses), default=0.0)


def _near(matter: Matter, flat: Sequence[Part], found: Sequence[Ground], index: Index) -> list[list[dict[str, float]]]:
    """How near each part is to each ground, with the sentence that asks and with all that the stem says of it: as wholes and by words."""
    asked = [f"{part.situation or matter.asking} {part.text}" for part in flat]
    needed = [f"{part.text}. {part.situation or matter.text}" for part in flat]
    told = [g.unit.meant_in_place for g in found]
    near = [*exam_nearness(asked, told, index), *exam_nearness(needed, told, index)]
    names = ("meaning", "nearness", "need", "need by words")
    return [
        [dict(zip(names, map(float, of_ground), strict=True)) for of_ground in zip(*of_part, strict=True)]
        for of_part in zip(*near, strict=True)
    ]
