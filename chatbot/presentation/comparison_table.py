"""A comparison as data: what table rows say about each option, property by property, and what is said about each side
in prose."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from chatbot.answer import Answer, Citation, Statement
from chatbot.evidence import units
from chatbot.language.words import stems
from chatbot.verification.row_claim import fit

_FIGURE = re.compile(r"(?P<sign>[$€£]?)(?P<number>\d[\d,]*(?:\.\d+)?)\s*(?P<unit>(?:[^\s\d(-][^(]*?)?)(?P<beside>\s*\([^()]*\))?")
# A bare number or a short word such as "no" may fit many columns, so a word of the column must stand beside it.
_BARE = re.compile(r"[\d,.]+|\w{1,4}")
# Separators between the figures of a sentence.
_PART = re.compile(r"[,;()]\s|\band\b|\s\(")
_LISTED = re.compile(r"(?:-|\d+\.)\s")


@dataclass(frozen=True, slots=True)
class Cell:
    """The cell of an option, without the unit of its property. `value` is set if the cell is one number; `numbers` are
    its citations."""

    text: str
    numbers: tuple[int, ...] = ()
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Property:
    """A column of the sources' tables with one cell per option, empty if its rows have none. `unit` is the unit of all
    its figures."""

    name: str
    unit: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """What is said about a side in prose, with citation marks."""

    name: str
    said: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison. `lead` is the text about no side in particular; `common` is what all options have in common."""

    lead: str
    options: tuple[str, ...]
    properties: tuple[Property, ...]
    common: tuple[str, ...]
    sides: tuple[Side, ...]


@dataclass(frozen=True, slots=True)
class TableRow:
    """A quoted table row: the first cell is its `name`; `columns` are pairs of header and cell."""

    name: str
    columns: tuple[tuple[str, str], ...]

    def told(self, claim: str) -> tuple[str, ...]:
        """The columns whose cells a claim states, in the order of the claim. If several columns have the same cell, the
        claim means the one whose name stands beside it."""
        at: dict[str, int] = {}
        claim = _written(self.name).sub(" ", claim)
        for cell in dict.fromkeys(cell for _, cell in self.columns):
            for match in _written(cell).finditer(claim):
                before, after = _PART.split(claim[: match.start()])[-1], _PART.split(claim[match.end() :])[0]
                shared = {name: fit(name, before + cell + after) for name, c in self.columns if c == cell and name not in at}
                meant = [name for name in shared if shared[name][0] > 0 or not _BARE.fullmatch(cell)]
                if meant:
                    at[max(reversed(meant), key=lambda name: shared[name])] = match.start()
        return tuple(sorted(at, key=lambda name: at[name]))

    def without(self, claim: str, told: Sequence[str]) -> str:
        """What remains of a claim without the row's name, the columns `told`, and their cells."""
        cells = dict(self.columns)
        for said in sorted((self.name, *told, *(cells[column] for column in told)), key=len, reverse=True):
            claim = _written(said).sub(" ", claim)
        return claim


def row_of(citation: Citation) -> TableRow | None:
    """The table row that a citation quotes; None if it quotes something else."""
    found = (u.cells for u in units(citation.passage.chunk) if u.kind == "row" and (u.start, u.text) == (citation.start, citation.quote.strip()))
    (_, name), *columns = next(found, (("", ""),))
    return TableRow(name, tuple((header, cell) for header, cell in columns if cell)) if name else None


def comparison(answer: Answer) -> Comparison | None:
    """The comparison in an answer: options from the rows cited for them, and sides. None if the answer compares nothing."""
    if answer.refused or answer.choices:
        return None
    statements = answer.statements
    tabular = {statement: rows for statement in statements if (rows := _rows(statement, answer.citations))}
    told = {one: {column for _, row, _ in rows for column in row.told(one.text)} for one, rows in tabular.items()}
    times = Counter(column for columns in told.values() for column in columns)
    # A statement stays prose if no other statement tells any of its columns.
    tabular = {one: rows for one, rows in tabular.items() if any(times[column] > 1 for column in told[one])}
    options, properties, common = _table(tabular)
    said = [statement for statement in statements if statement not in tabular]
    compared = dict.fromkeys(statement.about for statement in answer.statements if statement.about)
    if not properties and len(compared) < 2:
        return None
    if not _LISTED.match(answer.text):  # a row that opens the answer as a sentence is in the lead, too
        said = [*(statement for statement in statements[:1] if statement in tabular), *said]
    lead = " ".join(marked(statement, answer.citations) for statement in said if not statement.about)
    sides = [
        Side(name, " ".join(marked(statement, answer.citations) for statement in found))
        for name in compared
        if (found := [statement for statement in said if statement.about == name])
    ]
    return Comparison(lead, options, properties, common, tuple(sides))


def marked(statement: Statement, citations: Sequence[Citation]) -> str:
    """A sentence with its citation marks, each after the words that it supports."""
    text = statement.text
    end = len(text.rstrip(".!?"))
    behind: dict[int, list[int]] = {}
    for number in statement.citations:
        claims = (c.claim.strip(" .") for c in citations if c.number == number)
        claim = next((claim for claim in claims if claim and claim in text), text)
        behind.setdefault(min(end, text.find(claim) + len(claim)), []).append(number)
    for place in sorted(behind, reverse=True):
        text = f"{text[:place]} {''.join(f'[{number}]' for number in behind[place])}{text[place:]}"
    return text


_Rows = tuple[tuple[int, TableRow, str], ...]


def _rows(statement: Statement, citations: Iterable[Citation]) -> _Rows:
    """The rows that contain everything a statement says about one thing, as (citation number, row, document id); empty
    if the statement says more."""
    cited = {c.number: (row_of(c), c.passage.chunk.document.id) for c in citations if c.number in statement.citations}
    rows = tuple(
        (number, row, document) for number, (row, document) in cited.items() if row and row.told(statement.text)
    )
    rest = statement.text
    for _, row, _ in rows:
        rest = row.without(rest, row.told(statement.text))
    told = stems(" ".join(column for _, row, _ in rows for column in row.told(statement.text)))
    # A column may be told by its name alone: "… and supports EFA" where the cell is a yes.
    others = (stems(name) - told for _, row, _ in rows for name, _ in row.columns)
    says_more = any(c.isdigit() for c in rest) or any(other and other <= stems(rest) for other in others)
    # Rows of different things, such as a machine and its accelerators, count as one thing if the statement is about one side.
    is_of_one = len(rows) == len(cited) and (bool(statement.about) or len({row.name for _, row, _ in rows}) == 1)
    return rows if is_of_one and not says_more else ()


def _table(tabular: Mapping[Statement, _Rows]) -> tuple[tuple[str, ...], tuple[Property, ...], tuple[str, ...]]:
    """The options, the properties that are told of any of them (with the cells of all options), and what all have in common."""
    options: list[tuple[str, dict[str, tuple[int, TableRow]]]] = []
    columns: dict[tuple[str, str], None] = {}
    for statement, rows in tabular.items():
        named = {row.name for _, row, _ in rows}
        for number, row, document in rows:
            # Another row of the same table is another option, even under the same name: A100s with 40 GB and with 80.
            thing = row.name if len(named) == 1 else statement.about
            fits = (own for name, own in options if name == thing and own.get(document, (number,))[0] == number)
            if (own := next(fits, None)) is None:
                options.append((thing, own := {}))
            own[document] = number, row
            columns |= dict.fromkeys((document, column) for column in row.told(statement.text))
    found = [property_of(name, [_cell(own, name, [d for d, n in columns if n == name]) for _, own in options]) for name in dict.fromkeys(n for _, n in columns)]
    alike = [p for p in found if len({cell.text for cell in p.cells}) == 1 and p.cells[0].value is None]
    properties = tuple(p for p in found if p not in alike) or tuple(found)
    common = tuple(f"{p.name} {p.cells[0].text}" for p in alike if p not in properties)
    return tuple(name for name, _ in options), properties, common


def _cell(own: Mapping[str, tuple[int, TableRow]], column: str, documents: Sequence[str]) -> list[tuple[str, int]]:
    """The cells of an option in a column, with their citations, from the documents for which the column is told."""
    rows = [own[document] for document in documents if document in own]
    return [(cells[column], number) for number, row in rows if column in (cells := dict(row.columns))]


def property_of(name: str, cells: Sequence[Sequence[tuple[str, int]]]) -> Property:
    """The property of a column, from the texts of each option's cell with their citations."""
    texts = [list(dict.fromkeys(text for text, _ in cell)) for cell in cells]
    figures = [_FIGURE.fullmatch(text[0]) if len(text) == 1 else None for text in texts]
    units = {figure["sign"] or figure["unit"] for figure in figures if figure}
    # A cell without digits, such as "no", has no bar but does not keep the figures beside it from having one.
    is_measured = len(units) == 1 and not any(c.isdigit() for t, figure in zip(texts, figures, strict=True) if not figure for c in "".join(t))
    made = [
        Cell(
            figure["number"] + (figure["beside"] or "") if figure and is_measured else ", ".join(text),
            tuple(dict.fromkeys(number for _, number in cell)),
            float(figure["number"].replace(",", "")) if figure and is_measured else None,
        )
        for cell, text, figure in zip(cells, texts, figures, strict=True)
    ]
    return Property(name, units.pop() if is_measured else "", tuple(made))


def _written(cell: str) -> re.Pattern[str]:
    """A pattern for a cell as a sentence may write it: "AMD, 3.6 GHz" as "AMD at 3.6 GHz", "NVIDIA H100 GPU" in the plural."""
    parts = r"[\s,]+(?:(?:of|at)\s+)?".join(re.escape(part) for part in re.split(r"[\s,]+", cell) if part)
    return re.compile(rf"(?<![\w.,-]){parts}s?(?![\w-]|[.,]\d)", re.IGNORECASE)
