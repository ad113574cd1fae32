"""Exam questions that a table of instance types decides: which of the types offered meets what is asked."""

import re
from collections.abc import Sequence
from dataclasses import replace
from math import inf

from chatbot.answer import Passage
from chatbot.draft import Draft
from chatbot.query import Query
from chatbot.table.bounds import Bound, Reading
from chatbot.table.columns import Column
from chatbot.table.comparing import take_comparison
from chatbot.table.filters import Request, read_conditions, types_in
from chatbot.table.instances import Instances, Row, load_instances
from chatbot.table.row_phrases import describe, subject
from chatbot.table.selection import columns_of, fits, measured, sort_key
from chatbot.table.writing import Writing
from ingest import Index

_ALONE = re.compile(
    r"(?:(?:move|switch|change|migrate|upgrade|resize)\s+to\s+)?(?:(?:an?|the)\s+)?(?:amazon\s+)?(?:ec2\s+)?([a-z][\w-]*(?:\.[\w-]+)?)(?:\s+(?:instances?|family))?\.?",
    re.IGNORECASE,
)
# Several of a type, a part of a chip, and what comes on top of something else are sums that no row holds.
_SUMS = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|\d+)\s+[a-z]\w*\.\w+|\bquotas?\b|\b(?:half|quarter|third|eighth|fraction)\b|\bat once\b|\b(?:another|further|additional)\s+\d",
    re.IGNORECASE,
)
# What does for a need is the smallest that holds it.
_ENOUGH = re.compile(
    r"\b(?:smallest|least|lowest|cheapest|enough|suffic\w+|fits?|hold|holds|provides?|no more than)\b", re.IGNORECASE
)
_OF_DEVICE = re.compile(r"\b(?:gpus?|accelerators?|vram|hbm)\b", re.IGNORECASE)
_OF_EACH = re.compile(
    r"\b(?:on|in|per|for)\s+(?:an?|one|each|every|the)?\s*(?:single\s+|one\s+|of\s+(?:\w+\s+){1,2})?(?:gpu|accelerator|chip|card)s?\b|\b(?:single|one|each)\s+(?:gpu|accelerator|chip|card)\b",
    re.IGNORECASE,
)
_MAKERS = re.compile(
    r"\b(?:nvidia|aws|amazon|intel|amd|qualcomm|habana|google)\s+(?=gpus?\b|accelerators?\b|chips?\b)", re.IGNORECASE
)


def choose_types(query: Query, passages: Sequence[Passage], index: Index) -> Draft | None:
    """The instance types, or families, among the options that rows decide for; None where they do not, or leave more than are to be chosen."""
    known = load_instances(index)
    offered = [_offered(option.text, known) for option in query.options]
    if not all(offered):
        return None
    if named := types_in(query.standalone, known.rows):
        return _choose_compared(query, named, offered, passages, known)
    if _SUMS.search(query.standalone):
        return None
    return _choose_types(query, offered, passages, known)


def _offered(text: str, known: Instances) -> list[Row]:
    """The row of the instance type that an option is, or those of the family, where it is nothing else."""
    match = _ALONE.fullmatch(text.strip())
    name = match[1].lower() if match else ""
    return [known.rows[name][0]] if name in known.rows else [row for row in known.newest if row.family == name]


def _choose_types(query: Query, offered: Sequence[Sequence[Row]], passages: Sequence[Passage], known: Instances) -> Draft | None:
    request = _conditions(query, known)
    # What a model of so many parameters takes is told by no row, unless the stem says it.
    if query.sizes and not any(b.column in ("each", "total", "memory") for b in request.bounds):
        return None
    ranks = request.order is not None and request.order[0] != "size"
    # An accelerator's name is that of its first generation, too: "on AWS Inferentia" does not tell Inf1 from Inf2.
    by_name = request.accelerators and all(len(own) == 1 for own in offered)
    if not (request.bounds or request.traits or ranks or by_name):
        return None
    # A figure is the very one first ("comes with 192 GiB"), then one that is needed.
    for wanted, ranked in (
        (request, bool(request.order)),
        (_at_least(request), bool(request.order or _ENOUGH.search(query.standalone))),
    ):
        rows = [_for(wanted, own) for own in offered]
        chosen = [row for row in rows if fits(wanted, row) != query.negated]
        if ranked and not query.negated and len(chosen) > query.choose:
            chosen = _first(wanted, chosen, query.choose)
        if len(chosen) == query.choose:
            return _draft(query, rows, [rows.index(row) for row in chosen], columns_of(request), passages)
    return None


def _choose_compared(
    query: Query, named: Sequence[str], offered: Sequence[Sequence[Row]], passages: Sequence[Passage], known: Instances
) -> Draft | None:
    """The types that share with the one in the stem what is to stay, and have more of what is to grow."""
    comparison = take_comparison(Reading(query.standalone.lower()), named[0]) if len(named) == 1 else None
    if comparison is None:
        return None
    request = measured(Request(compared=comparison), known.rows)
    if request is None:
        return None
    rows = [_for(request, own) for own in offered]
    chosen = [i for i, row in enumerate(rows) if fits(request, row) != query.negated]
    return _draft(query, rows, chosen, columns_of(request), passages) if len(chosen) == query.choose else None


def _for(request: Request, rows: Sequence[Row]) -> Row:
    """The first row of a family that fits, else its smallest."""
    ranked = sorted(rows, key=sort_key(request))
    return next((row for row in ranked if fits(request, row)), ranked[0])


def _conditions(query: Query, known: Instances) -> Request:
    """What the stem asks of a row; an amount of memory in a question on accelerators is theirs."""
    request = read_conditions(_MAKERS.sub("", query.standalone), known.families, known.accelerators)
    of_device: Column = "each" if _OF_EACH.search(query.standalone) else "total"
    if _OF_DEVICE.search(query.standalone) and not any(b.column in ("each", "total") for b in request.bounds):
        bounds = tuple(replace(b, column=of_device) if b.column == "memory" else b for b in request.bounds)
        request = replace(request, bounds=bounds)
    return replace(request, traits=tuple(replace(t, denied=t.denied and not query.negated) for t in request.traits))


def _at_least(request: Request) -> Request:
    """A need for so much is met by more."""
    return replace(request, bounds=tuple(b if b.low == -inf or b.open else Bound(b.column, b.low) for b in request.bounds))


def _first(request: Request, rows: Sequence[Row], choose: int) -> list[Row]:
    """The first in the order that is asked for or, where it is what just does, the one with the least of what is needed."""
    column = request.bounds[0].column if request.bounds else "size"
    by_size = request.order is None or request.order[0] == "size"
    most = request.order is not None and request.order[1]
    ordered = replace(request, order=(column, most)) if by_size else request
    ranked = sorted(rows, key=sort_key(ordered))
    # Equals in a ranking stay equal; of two that hold a need the smaller will do.
    places = [sort_key(ordered)(row)[: 3 if by_size else 1] for row in ranked]
    return ranked[:choose] if len(ranked) > choose and places[choose - 1] != places[choose] else []


def _draft(
    query: Query, rows: Sequence[Row], chosen: Sequence[int], columns: Sequence[Column], passages: Sequence[Passage]
) -> Draft:
    writing = Writing(passages)
    letters = [query.options[i].letter for i in chosen]
    lead = rows[chosen[0]]
    writing.line(f"{', '.join(letters)}: {subject(lead, with_date=True)}{describe(lead, columns)}", lead)
    for option, row in zip(query.options, rows, strict=True):
        writing.line(f"{option.label}: {subject(row)}{describe(row, columns)}", row, opening="- ")
    return writing.draft(letters)
