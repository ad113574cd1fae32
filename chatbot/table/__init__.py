"""Row questions: answered from tables of instance types, by looking up, filtering and sorting; each row is a quote of its own."""

import re
from collections.abc import Sequence

from chatbot.answer import REFUSAL, Passage
from chatbot.draft import Draft
from chatbot.eligibility import ANSWERS, eligible
from chatbot.names import mentioned
from chatbot.query import Query
from chatbot.scoring import Scored
from chatbot.searching import is_background
from chatbot.table.columns import FAMILY, OTHER_TABLES, SIZES, Column
from chatbot.table.filters import Request, columns_in, read_request
from chatbot.table.instances import Instances, Row, load_instances
from chatbot.table.row_phrases import NOUNS, describe, subject
from chatbot.table.selection import columns_of, fits, measured, select, sort_key
from chatbot.table.writing import Writing
from ingest import Index

SHOWN = 8
# More families than a few are told by one size of each, and so many at most.
_FEW, _FAMILIES = 4, 16
# Rows that stand behind the first of a ranking, to show that it is the first.
_FOLLOWERS = 3
_HINT = re.compile(r"[a-z]-?\d|\b(?:instances?|sizes?|famil(?:y|ies))\b", re.IGNORECASE)
_LONGEST = 300
_OF_HOST = re.compile(r"\b(?:host|system|main|cpu|ram)\b", re.IGNORECASE)
_SUMMARY: tuple[Column, ...] = ("accelerators", "total", "vcpus", "memory")


def answer_from_table(
    query: Query, scored: Sequence[Scored], passages: Sequence[Passage], index: Index
) -> Draft | None:
    """The rows that a question asks for, or what it asks of them; None for a question that is not of this kind.

    None too where a document that is no such table says of the named types what is asked, and nothing is to be computed.
    """
    text = query.standalone
    if not _HINT.search(text) or len(text) > _LONGEST:
        return None
    known = load_instances(index)
    request = read_request(text, known.rows, known.families, known.accelerators) if known.rows else None
    if request is None:
        return None
    apart = ""
    if OTHER_TABLES & {*columns_of(request), *(request.compared.columns if request.compared else ())}:
        there = known.at(request.region, request.purchase)
        if request.region and not any(row.says("price") for row in there.newest):
            apart, there = request.region, known.at(purchase=request.purchase)
        known = there
    request = measured(request, known.rows)
    if request is None or _documents_answer(request, query, scored, known):
        return None
    return _compose(request, query, known, passages, apart)


def _documents_answer(request: Request, query: Query, scored: Sequence[Scored], known: Instances) -> bool:
    """Whether prose answers: for types that are named, a source in all the columns asked; for a kind of accelerator, by its name."""
    if not request.types and (request.bounds or request.order or request.counts or (request.seeks and request.families) or OTHER_TABLES & {*request.asked}):
        return False
    prose = [s for s in scored if s.score >= ANSWERS and s.unit.chunk.document.id not in known.documents]
    # A row is as good as what background says of a type, and newer.
    sources = [s for s in prose if not is_background(s.unit.chunk)] if request.types else eligible(query, prose)
    told = [(mentioned(s.unit.meant_in_place), columns_in(s.unit.meant)) for s in sources]
    named, wanted = request.types or (*request.families, *request.accelerators), set(columns_of(request)) - ({"accelerators"} if request.accelerators else set())
    by_name = {name: [said for names, said in told if name in names] for name in named}
    return bool(named) and all(some and wanted <= {c for said in some for c in said} for some in by_name.values())


def _compose(
    request: Request, query: Query, known: Instances, passages: Sequence[Passage], unpriced: str
) -> Draft | None:
    """The rows in words; `unpriced` is a region that prices are asked of and no table has."""
    writing = Writing(passages)
    if request.types:
        _look_up(request, query, known, writing)
    elif request.order:
        _rank(request, request.order[1], select(request, known.newest), writing)
    elif request.seeks and (request.families or request.accelerators or request.bounds or request.traits):
        _enumerate(request, query, select(request, known.newest), writing)
    elif request.families and request.asked and not request.bounds:
        _look_up_families(request, select(request, known.newest), writing)
    if request.compared and writing.lines:
        other = known.rows[request.compared.other][0]
        writing.line(
            f"For comparison, {subject(other)}{describe(other, columns_of(request))}",
            other,
            columns=columns_of(request),
        )
    if unpriced and writing.lines:
        writing.lines.insert(0, f"Prices in {unpriced}: {REFUSAL}")
    return writing.draft() if writing.lines else None


def _look_up(request: Request, query: Query, known: Instances, writing: Writing) -> None:
    """What is asked of each type that is named, and an older table's figure where it is another."""
    found = [known.rows[name] for name in request.types[:SHOWN]]
    if request.order:
        found.sort(key=lambda rows: sort_key(request)(rows[0]))
    opening = "- " if len(found) > 1 else ""
    for newest, *older in found:
        columns = _with_own_memory(columns_of(request), newest, query)
        said = describe(newest, columns)
        if said:
            verdict = "" if opening else _verdict(request, query, newest)
            writing.line(
                f"{verdict}{subject(newest, with_date=newest in newest.borne_out(columns))}{said}",
                newest,
                opening=opening,
                columns=columns,
            )
        for row in older:
            if (before := describe(row, columns)) not in ("", said):
                writing.line(f"As of {row.as_of}: {subject(row)}{before}", row, opening=opening)


def _with_own_memory(columns: list[Column], row: Row, query: Query) -> list[Column]:
    """The columns, with the memory of the accelerators before that of the machine unless it is clear that this alone is meant."""
    if "memory" not in columns or {"total", "each"} & {*columns} or not row.number("accelerators") or _OF_HOST.search(query.standalone):
        return columns
    return [c for column in columns for c in (("total", "memory") if column == "memory" else (column,))]


def _verdict(request: Request, query: Query, row: Row) -> str:
    """ "Yes" or "No" before the row, for a question that such a word answers."""
    if not query.yes_no:
        return ""
    if request.bounds or request.compared:
        return "Yes: " if fits(request, row) else "No: "
    cells = [row.says(column) for column in request.asked]
    if not all(
        cell in ("yes", "no", "none") or column == "storage" for column, cell in zip(request.asked, cells, strict=True)
    ):
        return ""
    return "No: " if {"no", "none"} & set(cells) else "Yes: "


def _with_summary(columns: Sequence[Column], row: Row) -> list[Column]:
    """The columns and what one wants to know of any instance type."""
    wanted = _SUMMARY if row.number("accelerators") else _SUMMARY[2:]
    return list(dict.fromkeys([*(wanted if "each" not in columns else [c for c in wanted if c != "total"]), *columns]))


def _rank(request: Request, most: bool, rows: Sequence[Row], writing: Writing) -> None:
    """The first row of an order, and the next ones to compare; of each family one where several are named."""
    if len(request.families) > 1:
        rows = list({row.family: row for row in reversed(rows)}.values())
        rows.sort(key=sort_key(request))
    columns = columns_of(request)
    tied = sum(1 for row in rows if _place(request, row) == _place(request, rows[0]))
    for place, row in enumerate(rows[: max(1 + _FOLLOWERS, min(tied, SHOWN))]):
        told = _with_summary(columns, row) if request.order and request.order[0] == "size" else columns
        said = describe(row, told)
        lead = "" if place else f"{_superlative(request, most)}: "
        first = writing.count(f"{tied} instance types are equal, {SHOWN} of them shown") if tied > SHOWN else ""
        writing.line(
            f"{lead}{subject(row, with_date=not place and row in row.borne_out(told))}{said}",
            row,
            opening="- " if place else first,
            columns=told,
        )


def _place(request: Request, row: Row) -> tuple[object, ...]:
    """Where a row stands in an order, before equals are told apart."""
    by_size = not request.order or request.order[0] == "size"
    return sort_key(request)(row)[: 3 if by_size else 1]


def _superlative(request: Request, most: bool) -> str:
    column = request.order[0] if request.order else "size"
    if column == "size":
        return "Largest" if most else "Smallest"
    if column == "price":
        return "Most expensive" if most else "Cheapest"
    return f"{'Most' if most else 'Least'} {NOUNS.get(column, column)}"


def _enumerate(request: Request, query: Query, rows: Sequence[Row], writing: Writing) -> None:
    """The rows one below the other; numbered, so that their number can be seen, where it is asked for; more than fit by their families."""
    if len(request.families) == 1 and not (request.bounds or request.traits or request.accelerators) and rows:
        writing.line(f"{rows[0].cells[FAMILY]} has {rows[0].cells[SIZES]} sizes{_date(rows[0])}", rows[0])
    columns = columns_of(request)
    if len(rows) > SHOWN and 1 < len({row.family for row in rows}) <= _FAMILIES:
        _tell_by_family(rows, columns, writing)
        return
    for number, row in enumerate(rows[:SHOWN], start=1):
        told = columns if request.asked else _with_summary(columns, row)
        opening = "Yes: " if query.yes_no and len(rows) == 1 else _opening(number, len(rows), writing)
        writing.line(f"{subject(row)}{describe(row, told)}", row, opening=opening, columns=told)


def _tell_by_family(rows: Sequence[Row], columns: Sequence[Column], writing: Writing) -> None:
    """How many sizes of each family there are, and what its first has in the columns."""
    told = list(dict.fromkeys(("accelerators", *columns)))
    for family in sorted({row.family for row in rows}):
        first, *others = [row for row in rows if row.family == family]
        sizes = writing.count(f"{first.cells[FAMILY]}, {1 + len(others)} of {first.cells[SIZES]} sizes")
        writing.line(f"{subject(first)}{describe(first, told)}", first, opening=f"- {sizes}", columns=told)


def _opening(number: int, matching: int, writing: Writing) -> str:
    """A number, so that their number can be seen; how many match at the front of a list that does not show them all."""
    if matching <= SHOWN:
        return f"{number}. "
    return "- " if number > 1 else writing.count(f"{matching} instance types match, {SHOWN} of them shown")


def _look_up_families(request: Request, rows: Sequence[Row], writing: Writing) -> None:
    """What is asked of the families that are named: once where all sizes have the same, else size by size."""
    columns = columns_of(request)
    if _FEW < len(request.families) <= _FAMILIES:
        _tell_by_family(rows, columns, writing)
        return
    for family in request.families:
        own = [row for row in rows if row.family == family]
        said = dict.fromkeys(text for row in own if (text := describe(row, columns)))
        if len(said) == 1 and own:
            each = re.sub(r"^ (has|is) ", lambda m: f" {'have' if m[1] == 'has' else 'are'} ", next(iter(said)))
            writing.line(f"{own[0].cells[FAMILY]} instances{_date(own[0])}{each}", *dict.fromkeys((own[0], own[-1])))
        elif said:
            for number, row in enumerate(own[:SHOWN], start=1):
                opening = _opening(number, len(own), writing) if len(own) > SHOWN else "- "
                writing.line(f"{subject(row)}{describe(row, columns)}", row, opening=opening, columns=columns)


def _date(row: Row) -> str:
    return f" (as of {row.dated})" if row.dated else ""
