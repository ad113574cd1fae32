"""Read a fleet that is paid for in several ways: "10 of them, 6 at 40 % off, the rest on demand"."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

_REST = re.compile(r"\b(?:rest|remainder|others?|remaining|last one)\b(?!(?: \w+)? \d)")
_OF_THEM = re.compile(r"\bof (?:them|those|these|the|our)\b|\b(?:are|is) (?:covered|reserved|committed)\b")
_DIVIDED = re.compile(r"\b(?:rest|remainder|other half)\b(?! of (?:the|this) (?:day|week|month|quarter|year))|\bhalf (?:of (?:them|those|these)|on|at)\b")
_CLAUSE_ENDS = re.compile(r"[,;:?!]\s|\.\s|\b(?:and|while|but|whereas|when|if)\b")
_AS_LISTED = re.compile(r"on[ -]demand|\b(?:full|list|regular|normal|stays?|keep|remain|leave)\b")
# Roles of figures that may count machines.
_COUNTED = ("machines", "cards", "things", "times", "slot", "")
# A number of machines, and where it stands in the text.
_Count = tuple[int, float]


@dataclass(frozen=True, slots=True)
class Part:
    """Some machines of a fleet, with their own discount or hourly price. A count of 0 means the rest of the fleet."""

    count: float
    discount: float = 0.0
    price: float = 0.0


def parts_of(text: str, figures: Sequence[tuple[int, str, float]]) -> tuple[Part, ...]:
    """The parts of a fleet, each with the discount or price in its clause; `figures` are places, roles and values.

    If the size of the fleet is given, the counts must add up to it.
    """
    several = len({value for _, role, value in figures if role == "price"}) > 1
    terms = [(at, role, value) for at, role, value in figures if role == "discount" or (role == "price" and several)]
    rest = [(match.start(), 0.0) for match in _REST.finditer(text)]
    counts = sorted([*((at, value) for at, role, value in figures if role in _COUNTED and value == int(value)), *rest])
    for fleet in (*counts, None) if terms else ():
        own = [count for count in counts if count != fleet]
        owners = ((_nearest(at, counts if fleet and role == "price" else own, text), role, value) for at, role, value in terms)
        paid = {(count, role): value for count, role, value in owners}
        listed = [count for count in own if not {(count, "discount"), (count, "price")} & paid.keys()]
        whole, told = fleet[1] if fleet else 0.0, sum(number for _, number in own)
        left = bool(rest or _OF_THEM.search(text)) and (not fleet or told < whole)
        adds_up = not fleet or (told < whole if left else told == whole)
        all_owned = len(paid) == len(terms) and all(owner for owner, _ in paid)
        if not adds_up or not all_owned or not all(_AS_LISTED.search(_words_of(count, counts, text)) for count in listed):
            continue
        base = paid.get((fleet, "price"), 0.0)
        others = whole - told if fleet else 0.0
        parts = [Part(count[1] or others, paid.get((count, "discount"), 0.0), paid.get((count, "price"), base)) for count in own]
        if left and not rest:
            parts.append(Part(others, 0.0, base))
        if len(parts) > 1:
            return tuple(parts)
    return ()


def is_divided(text: str) -> bool:
    """Whether a text divides a fleet without saying how many machines each part has."""
    return bool(_DIVIDED.search(text))


def filled_up(parts: Sequence[Part], fleet: float) -> tuple[Part, ...]:
    """Fill in how many "the rest" of a fleet are. No parts are returned if they add up to more than the fleet."""
    left = fleet - sum(part.count for part in parts)
    known = [replace(part, count=part.count or left) for part in parts if part.count or left]
    return tuple(known) if all(part.count > 0 for part in known) else ()


def _nearest(at: int, counts: Sequence[_Count], text: str) -> _Count | None:
    """Return the count that a discount or price belongs to: the nearest in its clause, or else the last before it."""
    ends = [match.start() for match in _CLAUSE_ENDS.finditer(text)]
    same = [count for count in counts if bisect_right(ends, count[0]) == bisect_right(ends, at)]
    if same:
        return min(same, key=lambda count: abs(count[0] - at))
    return max((count for count in counts if count[0] < at), default=None)


def _words_of(count: _Count, counts: Sequence[_Count], text: str) -> str:
    """The words from the start of a count's clause to the next count."""
    start = max((match.start() for match in _CLAUSE_ENDS.finditer(text, 0, count[0])), default=0)
    return text[start : min((at for at, _ in counts if at > count[0]), default=len(text))]
