"""Whether evidence and a part of an option agree: numbers, denials, limits, what a workload asks for, and whose figure it is."""

from collections.abc import Sequence

from chatbot.asked_quantity import counted
from chatbot.evidence import Unit
from chatbot.examination.entailment import Reading, compare_numbers, extremes_told, limits, without_reasons
from chatbot.examination.ground import Ground, told
from chatbot.examination.matter import Matter, Part, cover, share, turned
from chatbot.examination.pairing import Clause, clause_of, clauses, is_of_another, stems_and_letters
from chatbot.examination.requirements import Stance, opposed, poles, stance
from chatbot.names import mentioned
from chatbot.quantities import Quantity, quantities, same
from chatbot.words import stems


def agreement(part: Part, matter: Matter, ground: Ground, asked: float) -> dict[str, float]:
    """The features of a ground that tell whether it and the part agree, by name; `asked` is how much of the asking sentence it says."""
    reading, unit = ground.reading, ground.unit
    place = cover(part.apart, reading)[1]
    about = speaks_of(part, reading)
    numbers = compare_numbers(part.text, unit)
    own = _clause(part, unit)
    # What is denied where the ground speaks of the part.
    denied = own.denied if own else reading.denied
    most = max(2, len(part.asked))
    speaks = stance_on(part, ground)
    against = sum(opposed(p, speaks.in_favour) for p in part.asked) / most
    # A workload for which one condition of a sentence does not hold is not the one that it speaks of.
    met = len(part.asked & speaks.in_favour) / most * (not against)
    return {
        "same numbers": float(numbers == "same"),
        "other numbers": asked * (numbers == "other"),
        "other order": float(numbers == "order"),
        "given otherwise": place * _given_otherwise(matter.given, told(part, ground) is ground.main, unit),
        "denied option": turned(part.apart, reading, part.denied, reading.denied),
        "denied claim": place * turned(part.claim, reading, part.denied, denied),
        "denied subject": asked * _is_denied_subject(part, unit),
        "denied stem": place * turned(matter.asked, reading, matter.denied, denied),
        "limit": place * bool(limits(part.text) - limits(unit.meant)),
        "about": about,
        "met": met * place,
        "met x subject": met * subject(part, reading),
        "opposed": place * against,
        "needs": ground.needs * place,
        "names": _names(part, unit),
        "names apart": float(bool(unit.cells) and len(part.names) > 1 and not _in_one_cell(part, unit)),
        "refused": place * len(part.asked & speaks.against) / most,
        "superlative": place * bool(extremes_told(matter.asking) & extremes_told(own.text if own else unit.meant)),
        "another's": place * _is_of_another(part, matter, unit),
        "another count": float(_counts_another(part, matter, unit)),
    }


def stance_on(part: Part, ground: Ground) -> Stance:
    """What a ground speaks for and against where it speaks of the part: "A is wrong for long work; B costs less there" is for B."""
    unit = ground.unit
    own = _clause(part, unit)
    if own is None:
        return ground.stance
    mine = stance(own.text)
    others = [stance(c.text) for c in clauses(unit.meant) if c is not own]
    refused = frozenset(p for other in others for p in other.against) - mine.against
    around = poles(unit.meant_in_place.replace(unit.meant, " "))
    return Stance(mine.in_favour | refused | around, mine.against)


def _is_denied_subject(part: Part, unit: Unit) -> float:
    """How much of a part is what a clause denies something of: "data parallelism does not help"."""
    if unit.cells:
        return 0.0
    return max(share(part.apart, c.subject) * c.negated for c in clauses(unit.meant))


def _clause(part: Part, unit: Unit) -> Clause | None:
    """The clause of a sentence that says most of a part; None for a row, and where no clause says more than others."""
    return None if unit.cells else clause_of(frozenset(w.stem for w in part.apart), unit.meant)


def _is_of_another(part: Part, matter: Matter, unit: Unit) -> bool:
    """Whether a unit says what the part says, of another thing."""
    if unit.cells:
        return False
    asked = stems_and_letters(matter.asking)
    if is_of_another(stems_and_letters(part.text) - asked, asked, unit.meant):
        return True
    mine = clauses(part.text)
    return any(is_of_another(c.said - c.subject, c.subject, unit.meant) for c in mine)


def _counts_another(part: Part, matter: Matter, unit: Unit) -> bool:
    """Whether the part's number is in a unit that of other things than those to be counted, which the unit counts, too."""
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


def speaks_of(part: Part, reading: Reading) -> float:
    """The share of the things that a part proposes by name of which a unit speaks; what only stands above it counts less."""
    found = [1.0 if t <= reading.places.keys() else 0.8 if t <= reading.around else 0.0 for t in part.terms]
    return sum(found) / len(found) if found else 0.0


def subject(part: Part, reading: Reading) -> float:
    """How much of a part a unit begins with."""
    return share(part.apart, reading.lead)


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


def _given_otherwise(given: Sequence[Quantity], main_alone: bool, unit: Unit) -> float:
    """The share of the stem's quantities that a unit has otherwise: eight GPUs where one is asked for."""
    if not given:
        return 0.0
    figures = quantities(without_reasons(unit.meant)) if main_alone and not unit.cells else unit.quantities
    alike = [(q, [f for f in figures if _of_one_kind(q, f)]) for q in given]
    return sum(bool(found) and not any(same(q, f) or f.holds(q) for f in found) for q, found in alike) / len(given)


def _of_one_kind(one: Quantity, other: Quantity) -> bool:
    return one.dimension == other.dimension and (one.dimension != "count" or bool(stems(one.noun) & stems(other.noun)))
