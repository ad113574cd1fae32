"""A comparison as a value: what rows of tables say of each option, property by property, and what is said of each side in words."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from chatbot.answer import Answer, Citation, Statement
from chatbot.evidence import units
from chatbot.row_claim import fit
from chatbot.words import stems

_FIGURE = re.compile(r"(?P<sign>[$€£]?)(?P<number>\d[\d,]*(?:\.\d+)?)\s*(?P<unit>(?:[^\s\d(-][^(]*)?)")
# A number or a "no" stands in a claim for many a column: one of its words must be there, too.
_BARE = re.compile(r"[\d,.]+|\w{1,4}")
# What parts the figures of a sentence.
_PART = re.compile(r"[,;()]\s|\band\b|\s\(")
_LISTED = re.compile(r"(?:-|\d+\.)\s")


@dataclass(frozen=True, slots=True)
class Cell:
    """What a row says of an option, without the unit that its property has; `value` where that is one number, `numbers` are its citations."""

    text: str
    numbers: tuple[int, ...] = ()
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Property:
    """A column of the sources' tables: a cell an option, empty where its rows have none; `unit` is what all of them have."""

    name: str
    unit: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """What is said of a side in words, with its marks."""

    name: str
    said: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """`lead` is what is said of all together, `common` what all options have in common."""

    lead: str
    options: tuple[str, ...]
    properties: tuple[Property, ...]
    common: tuple[str, ...]
    sides: tuple[Side, ...]


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row that is quoted: its first cell, and the others by their columns."""

    name: str
    columns: tuple[tuple[str, str], ...]

    def told(self, claim: str) -> tuple[str, ...]:
        """The columns whose cells a claim says, in its order. Of several that have the same cell it means the one whose name stands beside it."""
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
        """What a claim says beyond the row's cells in the columns that it tells."""
        cells = dict(self.columns)
        for said in sorted((self.name, *told, *(cells[column] for column in told)), key=len, reverse=True):
            claim = _written(said).sub(" ", claim)
        return claim


def row_of(citation: Citation) -> TableRow | None:
    """The row of a table that a citation quotes; None where it quotes something else."""
    found = (u.cells for u in units(citation.passage.chunk) if u.kind == "row" and (u.start, u.text) == (citation.start, citation.quote.strip()))
    (_, name), *columns = next(found, (("", ""),))
    return TableRow(name, tuple((header, cell) for header, cell in columns if cell)) if name else None


def comparison(answer: Answer) -> Comparison | None:
    """What an answer compares: options by the rows that are cited for them, and sides; None where it compares nothing."""
    if answer.refused or answer.choices:
        return None
    statements = answer.statements
    tabular = {statement: rows for statement in statements if (rows := _rows(statement, answer.citations))}
    told = {one: {column for _, row, _ in rows for column in row.told(one.text)} for one, rows in tabular.items()}
    times = Counter(column for columns in told.values() for column in columns)
    # What no other row says stays a sentence.
    tabular = {one: rows for one, rows in tabular.items() if any(times[column] > 1 for column in told[one])}
    options, properties, common = _table(tabular)
    said = [statement for statement in statements if statement not in tabular]
    compared = dict.fromkeys(statement.about for statement in answer.statements if statement.about)
    if not properties and len(compared) < 2:
        return None
    if not _LISTED.match(answer.text):  # a row that answers by itself leads, too
        said = [*(statement for statement in statements[:1] if statement in tabular), *said]
    lead = " ".join(marked(statement, answer.citations) for statement in said if not statement.about)
    sides = [
        Side(name, " ".join(marked(statement, answer.citations) for statement in found))
        for name in compared
        if (found := [statement for statement in said if statement.about == name])
    ]
    return Comparison(lead, options, properties, common, tuple(sides))


def marked(statement: Statement, citations: Sequence[Citation]) -> str:
    """A sentence with its marks, each behind the words that it bears out."""
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
    """The rows that have all that a statement says of one thing, with their citations and documents; none where it says more than they do."""
    cited = {c.number: (row_of(c), c.passage.chunk.document.id) for c in citations if c.number in statement.citations}
    rows = tuple(
        (number, row, document) for number, (row, document) in cited.items() if row and row.told(statement.text)
    )
    rest = statement.text
    for _, row, _ in rows:
        rest = row.without(rest, row.told(statement.text))
    told = stems(" ".join(column for _, row, _ in rows for column in row.told(statement.text)))
    # "… and supports EFA" is said of a column whose cell is a yes.
    others = (stems(name) - told for _, row, _ in rows for name, _ in row.columns)
    says_more = any(c.isdigit() for c in rest) or any(other and other <= stems(rest) for other in others)
    # What a machine has inside is told of the machine, where the sentence is on it.
    is_of_one = len(rows) == len(cited) and (bool(statement.about) or len({row.name for _, row, _ in rows}) == 1)
    return rows if is_of_one and not says_more else ()


def _table(tabular: Mapping[Statement, _Rows]) -> tuple[tuple[str, ...], tuple[Property, ...], tuple[str, ...]]:
    """The options, what is told of any of them as the rows have it of all, and what they have in common."""
    options: list[tuple[str, dict[str, tuple[int, TableRow]]]] = []
    columns: dict[tuple[str, str], None] = {}
    for statement, rows in tabular.items():
        named = {row.name for _, row, _ in rows}
        for number, row, document in rows:
            # Another row of the same table is another thing, also under the same name: an A100 with 40 GB and one with 80.
            thing = row.name if len(named) == 1 else statement.about
            fits = (own for name, own in options if name == thing and own.get(document, (number,))[0] == number)
            if (own := next(fits, None)) is None:
                options.append((thing, own := {}))
            own[document] = number, row
            columns |= dict.fromkeys((document, column) for column in row.told(statement.text))
    found = [_property(name, [_cell(own, name, [d for d, n in columns if n == name]) for _, own in options]) for name in dict.fromkeys(n for _, n in columns)]
    alike = [p for p in found if len({cell.text for cell in p.cells}) == 1 and p.cells[0].value is None]
    properties = tuple(p for p in found if p not in alike) or tuple(found)
    common = tuple(f"{p.name} {p.cells[0].text}" for p in alike if p not in properties)
    return tuple(name for name, _ in options), properties, common


def _cell(own: Mapping[str, tuple[int, TableRow]], column: str, documents: Sequence[str]) -> list[tuple[str, int]]:
    """What the rows of an option have in a column, those of the documents from which it is told."""
    rows = [own[document] for document in documents if document in own]
    return [(cells[column], number) for number, row in rows if column in (cells := dict(row.columns))]


def _property(name: str, cells: Sequence[Sequence[tuple[str, int]]]) -> Property:
    texts = [list(dict.fromkeys(text for text, _ in cell)) for cell in cells]
    figures = [_FIGURE.fullmatch(text[0]) if len(text) == 1 else None for text in texts]
    units = {figure["sign"] or figure["unit"] for figure in figures if figure}
    # A "no" among the figures has no bar, and takes none from them.
    is_measured = len(units) == 1 and not any(c.isdigit() for t, figure in zip(texts, figures, strict=True) if not figure for c in "".join(t))
    made = [
        Cell(
            figure["number"] if figure and is_measured else ", ".join(text),
            tuple(dict.fromkeys(number for _, number in cell)),
            float(figure["number"].replace(",", "")) if figure and is_measured else None,
        )
        for cell, text, figure in zip(cells, texts, figures, strict=True)
    ]
    return Property(name, units.pop() if is_measured else "", tuple(made))


def _written(cell: str) -> re.Pattern[str]:
    """A cell as a sentence may say it: "AMD, 3.6 GHz" as "AMD at 3.6 GHz", "NVIDIA H100 GPU" as several of them."""
    parts = r"[\s,]+(?:(?:of|at)\s+)?".join(re.escape(part) for part in re.split(r"[\s,]+", cell) if part)
    return re.compile(rf"(?<![\w.,-]){parts}s?(?![\w-]|[.,]\d)", re.IGNORECASE)
