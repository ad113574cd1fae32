"""Answer row questions from tables of instance types by lookup, filter and sort. Each row is a citation of its own."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from chatbot.answer import REFUSAL, Passage
from chatbot.computed import Computed
from chatbot.draft import Draft
from chatbot.evidence.scored import Scored
from chatbot.language.names import mentioned
from chatbot.question.query import Query
from chatbot.reader.eligibility import ANSWERS, eligible
from chatbot.retrieval.searching import is_background
from chatbot.table.columns import FAMILY, HEADERS, OTHER_TABLES, SIZES, Column
from chatbot.table.entities import ask_region, excludes_region
from chatbot.table.filters import ORDINALS, Request, columns_in, wanted_first
from chatbot.table.instances import Instances, Row, load_instances
from chatbot.table.ratios import Amount, Ratio
from chatbot.table.row_phrases import NOUNS, describe, price_terms
from chatbot.table.selection import columns_of, fits, measured, select, sort_key, with_own_memory, with_summary
from chatbot.table.turns import TURNS, largest, priced, request_of
from chatbot.table.writing import Writing
from ingest import Index

# Maximum number of rows shown. More than _SINGLY rows of several families are summarised by family.
SHOWN, _SINGLY = 12, 8
# Maximum number of families compared by their largest sizes, and of families in a summary by family.
_FEW, _FAMILIES = 4, 16
# Rows shown after the first of a ranking, for comparison.
_FOLLOWERS = 3
_HINT = re.compile(r"[a-z]-?\d|\b(?:instances?|sizes?|famil(?:y|ies)|v?[cg]pus?|t?flops|vram|hbm|graphics|accelerators?|[gt]b/s)\b", re.IGNORECASE)
_LONGEST = 300
_HOW_MANY = re.compile(r"\bhow many\b|\bnumber of\b|\bcount\b")
_REQUESTS = re.compile(r"\W*(?:\w+ ){0,2}(?:can|could|would|will) (?:you|i|we)\b", re.IGNORECASE)


def answer_from_table(
    query: Query, scored: Sequence[Scored], passages: Sequence[Passage], index: Index, *, alone: bool = False, sought: bool = False
) -> Draft | None:
    """Return the rows that a question asks for, or what it asks about them; None for other questions.

    Also None if other documents say what is asked about the named types and nothing has to be computed. With `alone`,
    None unless rows answer whatever the documents say. `sought` says that a learned classifier found the question to
    ask for instance types.
    """
    text = query.standalone
    if not (sought or _HINT.search(" ".join([text, *(turn.question for turn in query.history[-TURNS:])]))) or len(text) > _LONGEST:
        return None
    known = load_instances(index)
    request = request_of(query, known, sought=sought) if known.rows else None
    if request is None:
        return None
    if excludes_region(text) and "price" in columns_of(request):
        there = {row.cells["Region"] for rows in known.others.values() for row in rows if row.cells.keys() >= {"Region", HEADERS["price"]}}
        return Draft(refusal := ask_region(there), (), said=refusal) if alone else None
    known, apart = priced(request, known)
    if (request := measured(request, known.rows)) is None:
        return None
    if (alone and not ((sought and not request.types) or _is_of_rows(request, query))) or (not alone and _documents_answer(request, query, scored, known)):
        return None
    return _compose(request, query, known, passages, apart)


def asks_cells(query: Query, index: Index) -> bool:
    """Whether every word of a question is an instance type or something that its row has, or ranks types."""
    known = load_instances(index)
    request = request_of(query, known) if known.rows and len(query.standalone) <= _LONGEST and not query.yes_no else None
    return bool(request and (request.per or (request.order and request.bounds) or (request.types and set(request.asked) - {"price"} and not request.order)))


def _is_of_rows(request: Request, query: Query) -> bool:
    """Whether rows alone answer, whatever documents say.

    They do for conditions and orders, for things side by side, and for follow-ups on rows found before.
    """
    if request.leans or request.per or (query.typed != query.question and request.asked and (request.types or request.families)):
        return True
    if query.yes_no:
        return False
    if len(request.types) + len(request.families) > 1 and request.asked and not request.order:
        return True
    found = request.bounds or request.order or request.families or request.accelerators or request.without
    return bool((request.seeks and found) or (request.order and (request.families or request.bounds))) and not request.types


def _documents_answer(request: Request, query: Query, scored: Sequence[Scored], known: Instances) -> bool:
    """Whether prose answers: for every named type, family and accelerator, documents cover all columns asked for."""
    if not request.types and (request.bounds or request.order or (request.seeks and (request.families or request.accelerators)) or OTHER_TABLES & {*request.asked}):
        return False
    prose = [s for s in scored if s.score >= ANSWERS and s.unit.chunk.document.id not in known.documents]
    # For a named type, a row is as good as a background document, and newer.
    sources = [s for s in prose if not is_background(s.unit.chunk)] if request.types else eligible(query, prose)
    told = [(mentioned(s.unit.meant_in_place), columns_in(s.unit.meant)) for s in sources]
    named, wanted = request.types or (*request.families, *request.accelerators), set(columns_of(request)) - ({"accelerators"} if request.accelerators else set())
    by_name = {name: [said for names, said in told if name in names] for name in named}
    return bool(named) and all(some and wanted <= {c for said in some for c in said} for some in by_name.values())


def _compose(request: Request, query: Query, known: Instances, passages: Sequence[Passage], unpriced: str) -> Draft | None:
    """Put the rows into words; `unpriced` is a region whose prices are asked for and that no table has."""
    writing = Writing(passages)
    limited = bool(request.bounds or request.order)
    if request.per:
        computed = _by_ratio(request.per, request, query, known, writing)
        refused = f"Prices in {unpriced}: {REFUSAL}" if unpriced else ""
        return replace(computed, text=f"{refused}\n{computed.text}".lstrip(), said=f"{refused}\n{computed.said}") if computed else None
    if request.types and not request.families:
        _look_up(request, query, known, writing)
    elif request.asked and not limited and len(request.types) + len(request.families) > 1 and len(request.families) <= _FEW:
        _side_by_side(request, known, writing)
    elif request.order and not request.sorts:
        _rank(request, *request.order, select(request, known.newest), writing, first=wanted_first(query.question))
    elif (request.seeks or request.sorts) and (request.families or request.accelerators or request.bounds or request.traits):
        _enumerate(request, query, known, writing)
    elif request.families and request.asked and not limited:
        _look_up_families(with_own_memory(columns_of(request), query.standalone, accelerated=all(row.number("accelerators") for row in select(request, known.newest))), select(request, known.newest), writing)
    if request.compared and writing.lines:
        writing.row(known.rows[request.compared.other][0], columns_of(request), lead="For comparison, ")
    if unpriced and writing.lines:
        writing.lines.insert(0, f"Prices in {unpriced}: {REFUSAL}")
    return writing.draft() if writing.lines else None


def _by_ratio(ratio: Ratio, request: Request, query: Query, known: Instances, writing: Writing) -> Draft | None:
    """Write a ratio of columns for the rows, each with its arithmetic: the first of an order and the next, or all of them."""
    first = wanted_first(query.question)
    rows = sorted((known.rows[name][0] for name in request.types), key=sort_key(request)) if request.types else select(request, known.newest)
    told = [row for row in rows if ratio.value(row)]
    each_family = len(request.families) != 1 and not (request.types or first)
    if each_family and (not ratio.listed or (request.families and not re.search(r"\b(?:sizes|types|all|every)\b", query.question.lower()))):
        told = sorted({row.family: row for row in reversed(told)}.values(), key=sort_key(request))
    shown = told[: min(first, SHOWN) if first else SHOWN if request.types or ratio.listed else 1 + _FOLLOWERS]
    figures: list[Computed] = []
    said = [query.question, ratio.title, "1.0737"]
    if len(told) > SHOWN and ratio.listed and not first:
        writing.heading(_matching(len(told), SHOWN), (), ())
    for number, row in enumerate(shown):
        over, of = ratio.amounts(row) or _NOTHING
        value = over.value / of.value
        text = ratio.said(value, whole=len(told) == 1)
        figures.append(Computed(text, f"{over.formula} / ({of.formula})", 1.0, (1.0737,)))
        kind = describe(row, ("accelerators",)).removeprefix(" has ").removesuffix(" (a fraction of one)") if row.number("accelerators") else ""
        remarks = ", ".join(filter(None, (kind, "arm64" if kind and row.says("architecture") == "arm64" else "")))
        terms = f", {price_terms(row)}" if not number and "price" in (ratio.over, ratio.of) else ""
        lead = f"{ratio.title}: " if not number and len(told) > 1 else ""
        line = f"{lead}{row.name}{f' ({remarks})' if remarks else ''}, {text}: {ratio.written(over, of)}{terms}"
        writing.line(line, *dict.fromkeys((*over.rows, *of.rows, row)), opening="- " if number else "")
    for row in (row for row in rows if row not in told and request.types):
        writing.line(f"The data lacks what it takes to compute this for {row.name}", row, opening="- ")
    return replace(writing.draft(), computed=tuple(figures), said="\n".join(said)) if figures else None


_NOTHING = (Amount(0.0, "0", "", ()), Amount(1.0, "1", "", ()))


def _matching(number: int, shown: int) -> str:
    return f"{number} instance types match{f', {shown} of them shown' if number > shown else ''}"


def _look_up(request: Request, query: Query, known: Instances, writing: Writing) -> None:
    """Write what is asked about each named type, and an older table's figure if it differs."""
    found = [(known.rows[name], _own_columns(request, query, known.rows[name][0])) for name in request.types]
    found = [(rows, columns) for rows, columns in found if describe(rows[0], columns)][:SHOWN]
    if request.order:
        found.sort(key=lambda one: sort_key(request)(one[0][0]))
    opening = "- " if len(request.types) > 1 else ""
    count = _matching(len(request.types), len(found)) if request.listed and 0 < len(found) < len(request.types) else ""
    writing.heading(count, [rows[0] for rows, _ in found], columns_of(request))
    for rows, columns in found:
        writing.newest(rows, columns, lead="" if opening else _verdict(request, query, rows[0]), opening=opening, dated=True)


def _own_columns(request: Request, query: Query, row: Row) -> list[Column]:
    return with_own_memory(columns_of(request), query.standalone, accelerated=bool(row.number("accelerators")))


def _side_by_side(request: Request, known: Instances, writing: Writing) -> None:
    """Write one row, in the columns asked for, for each named type and for the largest size of each named family."""
    columns = columns_of(request)
    rows = [*(known.rows[name][0] for name in request.types), *(largest(family, known) for family in request.families)]
    some_priced = "price" in columns and any(row.says("price") for row in rows)
    writing.heading("", rows, columns)
    for row in rows:
        size = f"{row.cells[FAMILY]}, largest of {row.cells[SIZES]} sizes" if row.name not in request.types and row.cells[SIZES] != "1" else ""
        unpriced = f"no price of {row.name} in the data" if some_priced and not row.says("price") else ""
        remark = "; ".join(filter(None, (size, unpriced)))
        writing.row(row, columns, opening=f"- {writing.count(remark) if remark else ''}")


def _verdict(request: Request, query: Query, row: Row) -> str:
    """ "Yes: " or "No: " for a question that it answers, otherwise ""."""
    if not query.yes_no:
        return ""
    if request.bounds or request.compared:
        return "Yes: " if fits(request, row) else "No: "
    cells = [row.says(column) for column in request.asked]
    if not all(cell in ("yes", "no", "none") or column == "storage" for column, cell in zip(request.asked, cells, strict=True)):
        return ""
    return "No: " if {"no", "none"} & set(cells) else "Yes: "


_SUPERLATIVES = {"size": ("Smallest", "Largest"), "price": ("Cheapest", "Most expensive")}


def _rank(request: Request, by: Column | Literal["size"], most: bool, rows: Sequence[Row], writing: Writing, *, first: int | None) -> None:
    """Write the first row of an order and the next ones for comparison, or the row at a later place and those before it.

    By price, or if several families are named, only one row of each family counts, unless the `first` few or a later
    place are asked for.
    """
    place = sort_key(request)
    if not first and request.place == 1 and (len(request.families) > 1 or by == "price"):
        rows = sorted({row.family: row for row in reversed(rows)}.values(), key=place)
    if by == "size":  # of equally large ones, the cheapest first
        rows = sorted(rows, key=lambda row: (place(row)[:3], row.number("price") or math.inf))
    # Sort keys without their tie-breakers.
    places = [place(row)[: 3 if by == "size" else 1] for row in rows]
    tied = sum(other == places[0] for other in places)
    superlative = _SUPERLATIVES[by][most] if by == "size" or by == "price" else f"{'Most' if most else 'Least'} {NOUNS[by]}"
    shown = rows[: min(first, SHOWN) if first else max(1 + _FOLLOWERS, min(tied, SHOWN))]
    if 1 < request.place <= len(rows):
        ordinal = ORDINALS[request.place - 1].capitalize() if request.place <= len(ORDINALS) else f"{request.place}th"
        superlative, shown = f"{ordinal} {superlative[0].lower()}{superlative[1:]}", [rows[request.place - 1], *rows[: request.place - 1]]
    elif tied > SHOWN:
        writing.heading(f"{tied} instance types are equal, {SHOWN} of them shown", (), ())
    for number, row in enumerate(shown):
        told = with_summary(columns_of(request), row) if by == "size" else columns_of(request)
        if by == "price" and row.number("accelerators") and row.says("architecture") == "arm64" and "architecture" not in told:
            told.append("architecture")
        writing.row(row, told, lead="" if number else f"{superlative}: ", opening="- " if number else "", dated=not number)


def _enumerate(request: Request, query: Query, known: Instances, writing: Writing) -> None:
    """List the rows, preceded by how many they are if that is asked or not all are shown. Many rows are summarised by family."""
    rows, columns = select(request, known.newest), columns_of(request)
    if not rows:
        _nearest(request, known, writing)
    elif len(request.families) == 1 and rows[0].cells[SIZES] != "1" and not (request.bounds or request.traits or request.accelerators):
        writing.line(f"{rows[0].cells[FAMILY]} has {rows[0].cells[SIZES]} sizes{_date(rows[0])}", rows[0])
    by_family = len(rows) > _SINGLY and not request.sorts and 1 < len({row.family for row in rows}) <= _FAMILIES
    yes = "Yes" if query.yes_no and not _REQUESTS.match(query.question) else ""
    asks_count = len(rows) > 1 and not writing.lines and (yes or _HOW_MANY.search(query.question.lower()))
    shown = rows if by_family else rows[:SHOWN]
    count = ", ".join(filter(None, (yes, _matching(len(rows), len(shown))))) if asks_count or len(shown) < len(rows) else ""
    writing.heading(count, shown, columns)
    if by_family:
        _tell_by_family(rows, columns, writing)
        return
    for number, row in enumerate(shown, start=1):
        told = _own_columns(request, query, row)
        opening = "Yes: " if yes and len(rows) == 1 else f"{number}. " if len(shown) == len(rows) else "- "
        writing.row(row, told if request.asked else with_summary(told, row), opening=opening)


def _nearest(request: Request, known: Instances, writing: Writing) -> None:
    """If no row meets all conditions, write the nearest rows below and above one of them; of as many named
    accelerators, the first type of each family, with its memory and price."""
    for bound in (b for b in request.bounds if not b.denied):
        others, counted = replace(request, bounds=tuple(b for b in request.bounds if b is not bound)), bound.column == "accelerators" and bool(request.accelerators)
        rows = [(value, row) for row in select(others, (known.at(request.region, request.purchase) if counted else known).newest) if (value := row.number(bound.column))]
        below = max((r[0] for r in rows if r[0] < bound.low), default=None)
        above = min((r[0] for r in rows if r[0] > bound.high), default=None)
        near = [row for end in filter(None, (below, above)) for row in _of_each_family(rows, end)[: 1 + _FOLLOWERS if counted else 1]]
        columns = list(dict.fromkeys((*columns_of(request), *(("accelerators", "total", "price") if counted else ()))))
        if near:
            writing.heading("No instance type meets all of that; these are the nearest", near, columns)
        for row in near:
            writing.row(row, columns, opening="- ")
        if near:
            return


def _of_each_family(rows: Sequence[tuple[float, Row]], value: float) -> list[Row]:
    """The first row of each family that has a value."""
    return list({row.family: row for own, row in reversed(rows) if own == value}.values())[::-1]


# Columns that differ from size to size; the accelerator and its memory do not.
_OF_THE_SIZE: tuple[Column, ...] = ("network", "price", "vcpus", "memory", "storage")


def _tell_by_family(rows: Sequence[Row], columns: Sequence[Column], writing: Writing) -> None:
    """Write the sizes of each family and what they have in the columns, equal ones once."""
    told = list(dict.fromkeys(("accelerators", *columns)))
    for family in sorted({row.family for row in rows}):
        alike: dict[str, list[Row]] = {}
        for row in (row for row in rows if row.family == family):
            alike.setdefault(describe(row, [column for column in columns if column in _OF_THE_SIZE]), []).append(row)
        for own in alike.values():
            names = ", ".join(row.name.partition(".")[2] for row in own)
            sizes = f"{own[0].cells[FAMILY]}, {len(own)} of {own[0].cells[SIZES]} sizes ({names})" if len(own) > 1 else ""
            writing.row(own[0], told, opening=f"- {writing.count(sizes) if sizes else ''}")


def _look_up_families(columns: Sequence[Column], rows: Sequence[Row], writing: Writing) -> None:
    """Write what is asked about one family, once if all sizes agree, otherwise by size; summarise several families."""
    if len(rows) == 1:
        writing.row(rows[0], columns, dated=True)
        return
    if len({row.family for row in rows}) > 1:
        writing.heading("", rows, columns)
        _tell_by_family(rows, columns, writing)
        return
    said = dict.fromkeys(text for row in rows if (text := describe(row, columns)))
    if len(said) == 1:
        each = re.sub(r"^ (has|is) ", lambda m: f" {'have' if m[1] == 'has' else 'are'} ", next(iter(said)))
        writing.line(f"{rows[0].cells[FAMILY]} instances{_date(rows[0])}{each}", *dict.fromkeys((rows[0], rows[-1])))
        return
    writing.heading(_matching(len(rows), SHOWN) if len(rows) > SHOWN else "", rows[:SHOWN], columns)
    for row in rows[:SHOWN]:
        writing.row(row, columns, opening="- ")


def _date(row: Row) -> str:
    return f" (as of {row.dated})" if row.dated else ""
