"""Row questions: answered from tables of instance types, by looking up, filtering and sorting; each row is a quote of its own."""

import re
from collections.abc import Callable, Iterable, Sequence

from chatbot.answer import Passage
from chatbot.citations import Evidence
from chatbot.draft import Draft
from chatbot.eligibility import ANSWERS, eligible
from chatbot.names import mentioned
from chatbot.query import Query
from chatbot.scoring import Scored
from chatbot.searching import is_background
from chatbot.table.columns import ACCELERATOR, FAMILY, SIZES, Column
from chatbot.table.filters import Request, columns_in, read_request
from chatbot.table.instances import Instances, Row, load_instances
from chatbot.table.row_phrases import NOUNS, describe, subject
from ingest import Index

SHOWN = 8
# Rows that stand behind the first of a ranking, to show that it is the first.
_FOLLOWERS = 3
_HINT = re.compile(r"[a-z]-?\d|\b(?:instances?|sizes?)\b", re.IGNORECASE)
_LONGEST = 300
_OF_TRAIT: dict[str, Column] = {
    "EFA": "efa",
    "Burstable": "burstable",
    "Bare metal": "metal",
    "Local storage": "storage",
    "Processor": "processor",
    "Architecture": "architecture",
    ACCELERATOR: "accelerators",
}
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
    if request is None or _documents_answer(request, query, scored, known):
        return None
    return _compose(request, query, known, passages)


def _documents_answer(request: Request, query: Query, scored: Sequence[Scored], known: Instances) -> bool:
    """Whether prose answers: for types that are named, a source in all the columns asked; for a kind of accelerator, by its name."""
    prose = [s for s in scored if s.score >= ANSWERS and s.unit.chunk.document.id not in known.documents]
    if request.types:
        # A row is as good as what background says of a type, and newer.
        sources = [s for s in prose if not is_background(s.unit.chunk)]
        told = [(mentioned(s.unit.meant_in_place), columns_in(s.unit.meant)) for s in sources]
        wanted = set(_columns(request))
        return all(wanted <= {c for names, said in told if name in names for c in said} for name in request.types)
    if request.bounds or request.order or request.counts or (request.seeks and request.families):
        return False
    named = {*request.families, *request.accelerators}
    return bool(named) and named <= {name for s in eligible(query, prose) for name in mentioned(s.unit.meant_in_place)}


def _compose(request: Request, query: Query, known: Instances, passages: Sequence[Passage]) -> Draft | None:
    writing = _Writing(passages)
    if request.types:
        _look_up(request, query, known, writing)
    elif request.order:
        _rank(request, request.order[1], select(request, known.newest), writing)
    elif request.seeks and (request.families or request.accelerators or request.bounds or request.traits):
        _enumerate(request, select(request, known.newest), writing)
    elif request.families and request.asked and not request.bounds:
        _look_up_families(request, select(request, known.newest), writing)
    return writing.draft() if writing.lines else None


class _Writing:
    """Collects lines while a draft is written; each row is numbered once."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.lines: list[str] = []
        self._evidence: list[Evidence] = []
        self._counts: list[str] = []
        self._passages = {passage.chunk.id: passage for passage in passages}

    def line(self, text: str, *rows: Row, opening: str = "") -> None:
        """Add a sentence that the rows bear out; `opening` is a list mark."""
        self.lines.append(f"{opening}{text} {''.join(f'[{self._number(row)}]' for row in rows)}.")

    def count(self, text: str) -> str:
        """The opening of a line that says what was counted: no row says it, so it is marked as computed."""
        self._counts.append(text)
        return f"{text}: "

    def draft(self) -> Draft:
        return Draft("\n".join(self.lines), tuple(self._evidence), given=tuple(self._counts))

    def _number(self, row: Row) -> int:
        beyond = Passage(len(self._passages) + 1, row.chunk, 1.0)
        evidence = Evidence(self._passages.setdefault(row.chunk.id, beyond), row.start, row.end)
        if evidence not in self._evidence:
            self._evidence.append(evidence)
        return self._evidence.index(evidence) + 1


def select(request: Request, rows: Iterable[Row]) -> list[Row]:
    """The rows that meet every condition of a request, sorted as it asks, else by size.

    Types that EC2 lists no more are left out where others match, unless the request names what they are.
    """
    found = sorted((row for row in rows if _fits(request, row)), key=_sort_key(request))
    listed = [row for row in found if row.listed]
    return found if request.families or request.accelerators else listed or found


def _fits(request: Request, row: Row) -> bool:
    ordered = request.order[0] if request.order else "size"
    return (
        (not request.families or row.family in request.families)
        and (not request.accelerators or not row.accelerator_names.isdisjoint(request.accelerators))
        and all((value := row.number(b.column)) is not None and b.holds(value) for b in request.bounds)
        and all(_says(row, trait.header, trait.words) != trait.denied for trait in request.traits)
        and (ordered == "size" or bool(row.number(ordered)))
    )


def _says(row: Row, header: str, words: str) -> bool:
    end = r"(?!\w)" if words[-1].isdigit() else ""
    return bool(re.search(rf"(?<!\w){re.escape(words)}{end}", row.cells.get(header, ""), re.IGNORECASE))


def _sort_key(request: Request) -> Callable[[Row], tuple[float, float, float, str]]:
    column, most = request.order or ("size", False)

    def key(row: Row) -> tuple[float, float, float, str]:
        size = (row.number("vcpus") or 0.0, row.number("memory") or 0.0)
        if column == "size":
            return (0.0, -size[0], -size[1], row.name) if most else (0.0, *size, row.name)
        value = row.number(column) or 0.0
        return (-value if most else value, *size, row.name)

    return key


def _look_up(request: Request, query: Query, known: Instances, writing: _Writing) -> None:
    """What is asked of each type that is named, and an older table's figure where it is another."""
    columns = _columns(request)
    found = [known.rows[name] for name in request.types[:SHOWN]]
    if request.order:
        found.sort(key=lambda rows: _sort_key(request)(rows[0]))
    opening = "- " if len(found) > 1 else ""
    for newest, *older in found:
        said = describe(newest, columns)
        if said:
            verdict = "" if opening else _verdict(request, query, newest)
            writing.line(f"{verdict}{subject(newest, with_date=True)}{said}", newest, opening=opening)
        for row in older:
            if (before := describe(row, columns)) not in ("", said):
                writing.line(f"As of {row.as_of}: {subject(row)}{before}", row, opening=opening)


def _verdict(request: Request, query: Query, row: Row) -> str:
    """ "Yes" or "No" before the row, for a question that such a word answers."""
    if not query.yes_no:
        return ""
    if request.bounds:
        numbers = [(b, row.number(b.column)) for b in request.bounds]
        return "Yes: " if all(value is not None and b.holds(value) for b, value in numbers) else "No: "
    cells = [row.says(column) for column in request.asked]
    if not all(
        cell in ("yes", "no", "none") or column == "storage" for column, cell in zip(request.asked, cells, strict=True)
    ):
        return ""
    return "No: " if {"no", "none"} & set(cells) else "Yes: "


def _columns(request: Request) -> list[Column]:
    """What to tell of a row: what is asked and what the conditions are about."""
    ordered = request.order[0] if request.order else "size"
    traits = [_OF_TRAIT[trait.header] for trait in request.traits if trait.header in _OF_TRAIT]
    cards: list[Column] = ["accelerators"] if request.accelerators else []
    bounds = [bound.column for bound in request.bounds]
    return list(dict.fromkeys([*([] if ordered == "size" else [ordered]), *request.asked, *cards, *traits, *bounds]))


def _with_summary(columns: Sequence[Column], row: Row) -> list[Column]:
    """The columns and what one wants to know of any instance type."""
    wanted = _SUMMARY if row.number("accelerators") else _SUMMARY[2:]
    return list(dict.fromkeys([*(wanted if "each" not in columns else [c for c in wanted if c != "total"]), *columns]))


def _rank(request: Request, most: bool, rows: Sequence[Row], writing: _Writing) -> None:
    """The first row of an order, and the next ones to compare; of each family one where several are named."""
    if len(request.families) > 1:
        rows = list({row.family: row for row in reversed(rows)}.values())
        rows.sort(key=_sort_key(request))
    columns = _columns(request)
    tied = sum(1 for row in rows if _place(request, row) == _place(request, rows[0]))
    for place, row in enumerate(rows[: max(1 + _FOLLOWERS, min(tied, SHOWN))]):
        said = describe(row, _with_summary(columns, row) if request.order and request.order[0] == "size" else columns)
        lead = "" if place else f"{_superlative(request, most)}: "
        first = writing.count(f"{tied} instance types are equal, {SHOWN} of them shown") if tied > SHOWN else ""
        writing.line(f"{lead}{subject(row, with_date=not place)}{said}", row, opening="- " if place else first)


def _place(request: Request, row: Row) -> tuple[object, ...]:
    """Where a row stands in an order, before equals are told apart."""
    by_size = not request.order or request.order[0] == "size"
    return _sort_key(request)(row)[: 3 if by_size else 1]


def _superlative(request: Request, most: bool) -> str:
    column = request.order[0] if request.order else "size"
    if column == "size":
        return "Largest" if most else "Smallest"
    return f"{'Most' if most else 'Least'} {NOUNS.get(column, column)}"


def _enumerate(request: Request, rows: Sequence[Row], writing: _Writing) -> None:
    """The rows one below the other; numbered, so that their number can be seen, where it is asked for."""
    if len(request.families) == 1 and not (request.bounds or request.traits or request.accelerators) and rows:
        writing.line(f"{rows[0].cells[FAMILY]} has {rows[0].cells[SIZES]} sizes{_date(rows[0])}", rows[0])
    columns = _columns(request)
    for number, row in enumerate(rows[:SHOWN], start=1):
        said = describe(row, columns if request.asked else _with_summary(columns, row))
        writing.line(f"{subject(row)}{said}", row, opening=_opening(number, len(rows), writing))


def _opening(number: int, matching: int, writing: _Writing) -> str:
    """A number, so that their number can be seen; how many match at the front of a list that does not show them all."""
    if matching <= SHOWN:
        return f"{number}. "
    return "- " if number > 1 else writing.count(f"{matching} instance types match, {SHOWN} of them shown")


def _look_up_families(request: Request, rows: Sequence[Row], writing: _Writing) -> None:
    """What is asked of the families that are named: once where all sizes have the same, else size by size."""
    columns = _columns(request)
    for family in request.families:
        own = [row for row in rows if row.family == family]
        said = dict.fromkeys(text for row in own if (text := describe(row, columns)))
        if len(said) == 1 and own:
            each = re.sub(r"^ (has|is) ", lambda m: f" {'have' if m[1] == 'has' else 'are'} ", next(iter(said)))
            writing.line(f"{own[0].cells[FAMILY]} instances{_date(own[0])}{each}", *dict.fromkeys((own[0], own[-1])))
        elif said:
            for number, row in enumerate(own[:SHOWN], start=1):
                opening = _opening(number, len(own), writing) if len(own) > SHOWN else "- "
                writing.line(f"{subject(row)}{describe(row, columns)}", row, opening=opening)


def _date(row: Row) -> str:
    return f" (as of {row.dated})" if row.dated else ""
