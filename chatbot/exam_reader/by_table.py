"""Answer exam questions from the table of instance types: which of the offered types meet the conditions."""

import re
from collections.abc import Sequence
from dataclasses import replace
from math import inf

from chatbot.answer import Passage
from chatbot.draft import Draft
from chatbot.question.query import Query
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
# Several instances of a type, fractions of a chip, quotas and additional amounts: no row holds what these come to.
_SUMS = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|\d+)\s+[a-z]\w*\.\w+|\bquotas?\b|\b(?:half|quarter|third|eighth|fraction)\b|\bat once\b|\b(?:another|further|additional)\s+\d",
    re.IGNORECASE,
)
# With these words the question asks for the smallest type that is sufficient.
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
    """Choose among options that are all instance types or families, by their table rows.

    Return None if they are not, or if the rows do not single out as many options as are to be chosen.
    """
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
    """Return the row of the instance type, or the rows of the family, that an option names; [] if it says anything else."""
    match = _ALONE.fullmatch(text.strip())
    name = match[1].lower() if match else ""
    return [known.rows[name][0]] if name in known.rows else [row for row in known.newest if row.family == name]


def _choose_types(query: Query, offered: Sequence[Sequence[Row]], passages: Sequence[Passage], known: Instances) -> Draft | None:
    request = _conditions(query, known)
    # No row says how much memory a model of a given size takes, so the stem must state it.
    if query.sizes and not any(b.column in ("each", "total", "memory") for b in request.bounds):
        return None
    ranks = request.order is not None and request.order[0] != "size"
    # An accelerator's name is also that of its first generation: "on AWS Inferentia" does not tell Inf1 from Inf2.
    by_name = request.accelerators and all(len(own) == 1 for own in offered)
    if not (request.bounds or request.traits or ranks or by_name):
        return None
    # First read a figure as exact ("comes with 192 GiB"), then as a minimum.
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
    """Choose the types that equal the one in the stem in what should stay the same, and differ in what should change."""
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
    """Return the first row of a family that fits, in the order of the request; else the first row of all."""
    ranked = sorted(rows, key=sort_key(request))
    return next((row for row in ranked if fits(request, row)), ranked[0])


def _conditions(query: Query, known: Instances) -> Request:
    """Read the conditions in the stem; in a question about accelerators, an amount of memory is theirs."""
    request = read_conditions(_MAKERS.sub("", query.standalone), known.families, known.accelerators)
    of_device: Column = "each" if _OF_EACH.search(query.standalone) else "total"
    if _OF_DEVICE.search(query.standalone) and not any(b.column in ("each", "total") for b in request.bounds):
        bounds = tuple(replace(b, column=of_device) if b.column == "memory" else b for b in request.bounds)
        request = replace(request, bounds=bounds)
    return replace(request, traits=tuple(replace(t, denied=t.denied and not query.negated) for t in request.traits))


def _at_least(request: Request) -> Request:
    """Drop the upper limit of each amount that has a lower one: a need is also met by more."""
    return replace(request, bounds=tuple(b if b.low == -inf or b.open else Bound(b.column, b.low) for b in request.bounds))


def _first(request: Request, rows: Sequence[Row], choose: int) -> list[Row]:
    """Return the first `choose` rows in the order asked for or, without one, those with the least of what is needed.

    Return [] if a tie leaves open which rows these are.
    """
    column = request.bounds[0].column if request.bounds else "size"
    by_size = request.order is None or request.order[0] == "size"
    most = request.order is not None and request.order[1]
    ordered = replace(request, order=(column, most)) if by_size else request
    ranked = sorted(rows, key=sort_key(ordered))
    # Equal values are a tie if the question asks for an order; of two types that meet a need, size decides for the smaller.
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
