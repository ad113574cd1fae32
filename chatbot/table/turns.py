"""What a turn of a conversation asks of a table of instance types, with what it leaves to the turns before it."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import inf

from chatbot.query import Query
from chatbot.table.bounds import DECIMAL, NUMBER, value_of
from chatbot.table.columns import OTHER_TABLES, Column
from chatbot.table.filters import Request, read_request
from chatbot.table.instances import Instances, Row
from chatbot.table.selection import columns_of, select

TURNS = 4
# So many types that were told of may be meant by "they".
_FOUND = 8
_OF_MEMORY: tuple[Column, ...] = ("each", "total", "memory")
_AMONG = re.compile(r"\b(?:of|among|between|from) (?:those|these|them|the (?:two|three|four|ones))\b")
_BARE = re.compile(rf"\W*(?:(?:and|or|but|with|what about|how about|only) )*(?P<number>{NUMBER})(?: ones| of them| each)?\W*")


def request_of(query: Query, known: Instances, *, sought: bool = False) -> Request | None:
    """The request of the last turn, by its own words and those before, or else by the words that stand for it; None for no request."""
    read = partial(read_request, types=known.rows, families=known.families, accelerators=known.accelerators, sought=sought)
    before: Request | None = None
    for question in (turn.question for turn in query.history[-TURNS:]):
        before = _leaning(question, turn := read(question), before, known) or turn
    return (_leaning(query.question, read(query.question), before, known) if before else None) or read(query.standalone)


def priced(request: Request, known: Instances) -> tuple[Instances, str]:
    """The tables with the prices of the region that is asked for, or that region where no price of it is known."""
    if not OTHER_TABLES & {*columns_of(request), *(request.compared.columns if request.compared else ())}:
        return known, ""
    there = known.at(request.region, request.purchase)
    if request.region and not any(row.says("price") for row in there.newest):
        return known.at(purchase=request.purchase), request.region
    return there, ""


def largest(family: str, known: Instances) -> Row:
    """The size of a family with the most accelerators, or else the most vCPUs."""
    columns: tuple[Column, ...] = ("accelerators", "total", "vcpus", "memory")
    return max((row for row in known.newest if row.family == family), key=lambda row: [row.number(column) or 0.0 for column in columns])


def _leaning(question: str, turn: Request | None, before: Request | None, known: Instances) -> Request | None:
    """The request of a turn that leans on the one before it; None for a turn that stands by itself."""
    if before is None:
        return None
    if before.bounds and (bare := _BARE.fullmatch(question.lower())):
        *others, last = before.bounds
        scale = value_of(bare["number"]) / (last.low if last.high == inf else last.high)
        return replace(before, bounds=(*others, replace(last, low=last.low * scale, high=last.high * scale)))
    if turn is None:
        return None
    if turn.families and before.types and before.asked and not (turn.bounds or turn.asked or before.order):
        return replace(before, types=tuple(_of_family(family, before.types[-1], known) for family in turn.families))
    named = turn.types or turn.families or turn.accelerators
    among = bool(_AMONG.search(question.lower())) and not named
    if not (before.seeks or before.order) or (_is_whole(turn) and not among):
        return None
    found = select(before, priced(before, known)[0].newest)
    return _continued(turn, before, [row.name for row in found[: 1 if before.order else _FOUND]])


def _is_whole(request: Request) -> bool:
    """Whether a turn stands by itself: it names types, or says of which rows it asks."""
    named = request.families or request.accelerators
    return bool(request.types or (request.seeks and (named or request.bounds or request.traits)) or (named and request.asked))


def _of_family(family: str, like: str, known: Instances) -> str:
    """The type of a family of the size of another, or its largest."""
    name = f"{family}.{like.partition('.')[2]}"
    return name if name in known.rows else largest(family, known).name


def _continued(turn: Request, before: Request, found: Sequence[str]) -> Request:
    """What is asked of the types that the turn before found, where a turn sets no condition; else its conditions and its order take
    the place of those of their kind."""
    if turn.asked and not (turn.bounds or turn.order or turn.families or turn.accelerators or turn.traits or turn.without):
        return Request(types=tuple(found), asked=turn.asked, region=turn.region, purchase=turn.purchase)
    meant: Column = next((b.column for b in before.bounds if b.column in _OF_MEMORY), "memory")
    slack = 1.0 if meant == "memory" else DECIMAL
    bounds = [replace(b, column=meant, low=b.low * slack) if b.column == "memory" else b for b in turn.bounds]
    changed = {bound.column for bound in bounds}
    named = turn.families or turn.accelerators
    families = dict.fromkeys(name.partition(".")[0] for name in before.types) if bounds else ()
    return replace(
        before,
        types=() if bounds or named else before.types,
        families=turn.families or (() if named else before.families or tuple(families)),
        accelerators=turn.accelerators or (() if named else before.accelerators),
        bounds=(*(b for b in before.bounds if b.column not in changed), *bounds),
        traits=tuple(dict.fromkeys((*before.traits, *turn.traits))),
        without=(*before.without, *turn.without),
        asked=turn.asked or before.asked,
        order=turn.order or before.order,
        seeks=before.seeks or bool(bounds),
    )
