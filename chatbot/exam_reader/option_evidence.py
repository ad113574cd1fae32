"""Features of the evidence for the options of an exam question: of each unit, and of all units together."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chatbot.deadline import check
from chatbot.evidence import Unit
from chatbot.exam_reader.entailment import SUPERLATIVE, Reading, has_numbers
from chatbot.exam_reader.ground import Ground, on_question
from chatbot.exam_reader.matter import Matter, Part, cover, share, turned
from chatbot.exam_reader.pairing import Clause, clause_of, clauses, is_of_another, stems_and_letters
from chatbot.exam_reader.requirements import Stance, opposed, poles, stance
from chatbot.language.quantities import Quantity, quantities, same
from chatbot.language.words import content_words, stem, stems, words
from chatbot.question.asked_quantity import counted
from chatbot.question.options import Option
from chatbot.retrieval.meaning import exam_nearness
from ingest import Index

_NONE = re.compile(r"\W*(?:none|nothing|no|zero)\W*(?:of (?:the|them)\b.*)?", re.IGNORECASE)
# Evidence for the opposite of what is asked counts less than evidence against what is asked.
_OPPOSITE = 0.7


@dataclass(frozen=True, slots=True)
class Bearing:
    """A ground with its features for one part of an option."""

    ground: Ground
    features: dict[str, float]


def bearings(matter: Matter, found: Sequence[Ground], index: Index) -> list[list[list[Bearing]]]:
    """Return the features of each ground for each part of each option."""
    flat = [part for parts in matter.parts for part in parts]
    near = iter(_near(matter, flat, found, index))
    whole = on_question(matter, found, index)
    return [[_on_part(part, matter, found, next(near), whole) for part in parts] for parts in matter.parts]


def _near(matter: Matter, flat: Sequence[Part], found: Sequence[Ground], index: Index) -> list[list[dict[str, float]]]:
    """Return the similarity of each part to each ground, as whole texts and word by word.

    It is measured with the asking sentence ("meaning", "nearness") and with the whole stem ("need", "need by words"). If
    the stem says something about the very thing that the part is for, that takes the place of both.
    """
    asked = [f"{part.situation or matter.asking} {part.text}" for part in flat]
    needed = [f"{part.text}. {part.situation or matter.text}" for part in flat]
    told = [g.unit.meant_in_place for g in found]
    near = [*exam_nearness(asked, told, index), *exam_nearness(needed, told, index)]
    names = ("meaning", "nearness", "need", "need by words")
    return [
        [dict(zip(names, map(float, of_ground), strict=True)) for of_ground in zip(*of_part, strict=True)]
        for of_part in zip(*near, strict=True)
    ]


def _on_part(
    part: Part, matter: Matter, found: Sequence[Ground], near: Sequence[dict[str, float]], whole: Sequence[dict[str, float]]
) -> list[Bearing]:
    check()
    own = frozenset(w.stem for w in part.apart)
    scenario = [cover(part.scenario, g.reading, around=0.8, but=own)[1] for g in found]
    most = max(scenario, default=0.0) or 1.0
    return [
        Bearing(g, {**_on_words(part, matter, g, s / most), **n, **_agreement(part, matter, g), **of_question})
        for g, s, n, of_question in zip(found, scenario, near, whole, strict=True)
    ]


def _on_words(part: Part, matter: Matter, ground: Ground, scenario: float) -> dict[str, float]:
    """Return the features of the words and names that ground, part and stem share."""
    reading, unit = ground.reading, ground.unit
    own, place = cover(part.apart, reading)
    claim = cover(part.claim, reading)[1]
    return {
        "cover": own,
        "place": place,
        "claim": claim,
        "claim squared": claim * claim,
        "claim x scenario": claim * scenario,
        "scenario x cover": scenario * place,
        "in one clause": _in_one_clause(part, matter, reading),
        "passage": ground.scored.passage.score * place,
        "row x cover": place * (unit.kind == "row"),
        "key": float(bool(unit.cells) and stems(unit.cells[0][1]) == stems(part.text)),
        "evidence": ground.evidence,
    }


def _in_one_clause(part: Part, matter: Matter, reading: Reading) -> float:
    """Return how much of the part and of the hardware asked about stands in one clause.

    "Trn2 carries Trainium2 and Trn3 carries Trainium3" has one clause for each pair.
    """
    named = {stem(w) for name in matter.entities for w in words(name)} - {w.stem for w in part.apart}
    asked = [w for w in matter.asked if w.stem in named]
    return max((share(part.apart, clause) * share(asked, clause) for clause in reading.clauses), default=0.0)


# --- whether a ground and a part agree


def _agreement(part: Part, matter: Matter, ground: Ground) -> dict[str, float]:
    """Return the features of agreement: numbers, denials, what a workload asks for, and whose figure it is."""
    reading, unit = ground.reading, ground.unit
    place = cover(part.apart, reading)[1]
    own = _clause(part, unit)
    # What is denied in the clause that speaks of the part or, without such a clause, in the whole ground.
    denied = own.denied if own else reading.denied
    most = max(2, len(part.asked))
    speaks = _stance_on(part, ground)
    against = sum(opposed(p, speaks.in_favour) for p in part.asked) / most
    # If a sentence opposes one of the workload's needs, it speaks of another workload, so no need counts as met.
    met = len(part.asked & speaks.in_favour) / most * (not against)
    return {
        "same numbers": float(has_numbers(part.text, unit)),
        "denied option": turned(part.apart, reading, part.denied, reading.denied),
        "denied claim": place * turned(part.claim, reading, part.denied, denied),
        "denied stem": place * turned(matter.asked, reading, matter.denied, denied),
        "met": met * place,
        "opposed": place * against,
        "refused": place * len(part.asked & speaks.against) / most,
        "another's": place * _is_of_another(part, matter, unit),
        "another count": float(_counts_another(part, matter, unit)),
    }


def _clause(part: Part, unit: Unit) -> Clause | None:
    """Return the clause of a sentence that says most of a part; None for a table row or if several clauses say as much."""
    return None if unit.cells else clause_of(frozenset(w.stem for w in part.apart), unit.meant)


def _stance_on(part: Part, ground: Ground) -> Stance:
    """Return what a ground speaks for and against in the clause about the part.

    What other clauses refuse counts in its favour: "A is wrong for long work; B costs less there" speaks for B.
    """
    unit = ground.unit
    own = _clause(part, unit)
    if own is None:
        return ground.stance
    mine = stance(own.text)
    refused = frozenset(p for c in clauses(unit.meant) if c is not own for p in stance(c.text).against) - mine.against
    around = poles(unit.meant_in_place.replace(unit.meant, " "))
    return Stance(mine.in_favour | refused | around, mine.against)


def _is_of_another(part: Part, matter: Matter, unit: Unit) -> bool:
    """Whether a unit says what the part says, but of another thing."""
    if unit.cells:
        return False
    asked = stems_and_letters(matter.asking)
    said = [(stems_and_letters(part.text) - asked, asked), *((c.said - c.subject, c.subject) for c in clauses(part.text))]
    return any(is_of_another(wanted, given, unit.meant) for wanted, given in said)


def _counts_another(part: Part, matter: Matter, unit: Unit) -> bool:
    """Whether, in a unit that counts the things asked for, the part's number is a count of something else."""
    wanted = stems(" ".join(counted(matter.asking)))
    numbers = [q for q in quantities(part.text) if q.dimension == "count"]
    if not wanted or not numbers:
        return False
    found = [q for q in unit.quantities if q.dimension == "count"]
    of_wanted = [q for q in found if wanted & stems(q.noun)]
    return bool(of_wanted) and any(
        any(same(q, f) for f in found) and not any(same(q, f) for f in of_wanted)
        for q in (Quantity(n.low, n.high, "count", "", n.start, n.end, n.text) for n in numbers)
    )


# --- what all grounds say together


def profile(part: Part, matter: Matter, on_part: Sequence[Bearing], extreme: float) -> dict[str, float]:
    """Return the features of a part over all grounds; `extreme` is 1 for an option with most (or least) of what is wanted."""
    denies = max((share(matter.asked, b.ground.reading.denied) for b in on_part), default=0.0)
    against, both = _against(part, on_part)
    return {
        "speaks against": against,
        "for minus against": both,
        "extreme": extreme,
        "stem denied": max((b.features["denied stem"] for b in on_part), default=0.0),
        "none": denies * bool(_NONE.fullmatch(part.text)),
    }


def _against(part: Part, on_part: Sequence[Bearing]) -> tuple[float, float]:
    """Return how strongly evidence on the part speaks against what is asked, and the balance of for and against.

    Both are sums over the poles asked for, divided by their number or by 2 if there are fewer.
    """
    weighed = [
        (b.features["place"] ** 2 * (0.7 + 0.3 * share(part.apart, b.ground.reading.lead)), _stance_on(part, b.ground))
        for b in on_part
    ]
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
    """Return 1 for each option whose row has the most (or least) of what the question wants most (or least) of, else 0."""
    wanted = SUPERLATIVE.search(matter.asking)
    rows = [g.unit for g in found if g.unit.cells] if wanted else []
    values = [_value(option, rows, matter) for option in matter.options]
    known = [v for v in values if v is not None]
    if wanted is None or len(known) < max(2, len(values) - 1) or max(known) == min(known):
        return [0.0] * len(values)
    best = max(known) if wanted["up"] else min(known)
    return [float(v == best) for v in values]


def _value(option: Option, rows: Sequence[Unit], matter: Matter) -> float | None:
    """Return the number in an option's row, from the column that shares most with the question; None without one."""
    said = set(content_words(option.text))
    for row in rows:
        if not said or not said <= set(content_words(row.cells[0][1])):
            continue
        rated = [(share(matter.asked, stems(header)), f"{cell} {header}") for header, cell in row.cells[1:]]
        best, text = max(rated, default=(0.0, ""))
        if best > 0 and (figures := quantities(text)):
            return figures[0].low
    return None
