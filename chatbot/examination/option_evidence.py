"""Evidence for the options of an exam question: how each unit bears on an option, and what all of them together say of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chatbot.deadline import check
from chatbot.evidence import Unit
from chatbot.examination.agreement import agreement, stance_on, subject
from chatbot.examination.entailment import SUPERLATIVE, Reading, squeezed
from chatbot.examination.ground import Ground, on_question, told
from chatbot.examination.matter import Matter, Part, cover, share
from chatbot.examination.requirements import opposed
from chatbot.meaning import exam_nearness
from chatbot.names import mentioned
from chatbot.options import Option
from chatbot.quantities import quantities
from chatbot.words import content_words, stem, stems, words
from ingest import Index

_NONE = re.compile(r"\W*(?:none|nothing|no|zero)\W*(?:of (?:the|them)\b.*)?", re.IGNORECASE)
# Evidence for the opposite of what is asked is weaker than evidence against it.
_OPPOSITE = 0.7


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


def profile(part: Part, matter: Matter, on_part: Sequence[Bearing], extreme: float) -> dict[str, float]:
    """The features of a part that no single ground has. `extreme` is 1 for the option that has most of what is wanted."""
    against, both = _against(part, on_part)
    turned = max((b.features["place"] * b.features["asked"] * b.features["denied option"] for b in on_part), default=0.0)
    denies = max((share(matter.asked, b.ground.reading.denied) for b in on_part), default=0.0)
    return {
        "speaks against": against,
        "for minus against": both,
        "says otherwise": sum(opposed(p, part.says) for p in part.asked) / max(2, len(part.asked)),
        "extreme": extreme,
        "turned round, negated": turned * matter.negated,
        "stem denied": max((b.features["denied stem"] for b in on_part), default=0.0),
        "none": denies * bool(_NONE.fullmatch(part.text)),
    }


def _against(part: Part, on_part: Sequence[Bearing]) -> tuple[float, float]:
    """Of each thing asked, whether some evidence on the part speaks against it, and how that is balanced by what speaks for it."""
    borne = [max(b.features["place"], b.features["about"]) ** 2 * (0.7 + 0.3 * subject(part, b.ground.reading)) for b in on_part]
    weighed = [(weight, stance_on(part, b.ground)) for weight, b in zip(borne, on_part, strict=True)]
    against = both = 0.0
    for pole in part.asked if weighed else ():
        most_for = max(w * (pole in s.in_favour) for w, s in weighed)
        most_against = max(w * (pole in s.against) for w, s in weighed)
        most_opposed = max(w * opposed(pole, s.in_favour) for w, s in weighed)
        against += most_against
        both += max(-1.0, most_for - max(most_against, _OPPOSITE * most_opposed))
    most = max(2, len(part.asked))
    return against / most, both / most


def extremes(matter: Matter, found: Sequence[Ground]) -> list[float]:
    """1 for the options whose row has the most (or the least) of what the question wants most (or least) of; 0 for the others."""
    wanted = SUPERLATIVE.search(matter.asking)
    rows = [g.unit for g in found if g.unit.cells] if wanted else []
    values = [_value(option, rows, matter) for option in matter.options]
    known = [v for v in values if v is not None]
    if wanted is None or len(known) < max(2, len(values) - 1) or max(known) == min(known):
        return [0.0] * len(values)
    best = max(known) if wanted["up"] else min(known)
    return [float(v == best) for v in values]


def _value(option: Option, rows: Sequence[Unit], matter: Matter) -> float | None:
    """The number in an option's row, in the column that the question speaks of most."""
    said = set(content_words(option.text))
    for row in rows:
        if not said or not said <= set(content_words(row.cells[0][1])):
            continue
        rated = [(share(matter.asked, stems(header)), f"{cell} {header}") for header, cell in row.cells[1:]]
        best, text = max(rated, default=(0.0, ""))
        if best > 0 and (figures := quantities(text)):
            return figures[0].low
    return None
