"""A comparison as a value: what rows of tables say of each option, property by property, and what is said of each side in words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, takewhile

from chatbot.answer import REFUSAL, Answer, Citation, Statement
from chatbot.conversations import header_above
from chatbot.quantities import Quantity, quantities
from chatbot.words import content_words, stem, synonyms, words

_FIGURE = re.compile(r"(?P<sign>[$€£]?)(?P<number>\d[\d,]*(?:\.\d+)?)\s*(?P<unit>(?:[^\s\d(][^(]*)?)")
# A number or a "no" stands in a claim for many a column: one of its words must be there, too.
_BARE = re.compile(r"[\d,.]+|\w{1,4}")
_ASIDE = re.compile(r"\([^()]*\)")
_LEADING_NUMBER = re.compile(r"[\d,.]*\d")
# Sentences about the same measure share at least this part of their words.
_SAME_MEASURE = 0.5
# How many words behind a bare number say what it counts ("16 Trainium chips").
_NOUN = 2


@dataclass(frozen=True, slots=True)
class Cell:
    """What a row says of an option, without the unit that its property has; `value` where that is one number, `numbers` are its citations."""

    text: str
    numbers: tuple[int, ...] = ()
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Property:
    """A column of the sources' tables: a cell an option, empty where no row that is cited says it; `unit` is what all of them have."""

    name: str
    unit: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """What is said of a side in words, with its marks; `first` is the first sentence without them, `numbers` its citations."""

    name: str
    said: str
    first: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """`lead` is what is said of all together, `common` what all options have in common."""

    lead: str
    options: tuple[str, ...]
    properties: tuple[Property, ...]
    common: tuple[str, ...]
    sides: tuple[Side, ...]


@dataclass(frozen=True, slots=True)
class Bars:
    """Numbers that may stand side by side, by name: all in `unit`, all of one measure, each with its citations."""

    unit: str
    bars: tuple[tuple[str, float, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row that is quoted: its first cell, and the others by their columns."""

    name: str
    columns: tuple[tuple[str, str], ...]

    def told(self, claim: str) -> tuple[str, ...]:
        """The columns whose cells a claim says, in its order. Of several that have the same cell it means those that share most words with it."""
        at: dict[str, int] = {}
        for cell in dict.fromkeys(cell for _, cell in self.columns):
            places = [match.start() for match in _written(cell).finditer(claim)]
            shared = {name: _shared(name, claim) for name, other in self.columns if other == cell}
            meant = [name for name in shared if shared[name][0] or not _BARE.fullmatch(cell)]
            nearest = sorted(reversed(meant), key=lambda name: shared[name], reverse=True)
            at |= dict(zip(nearest, places, strict=False))
        return tuple(sorted(at, key=lambda name: at[name]))

    def says_all_of(self, claim: str) -> bool:
        """Whether the row has every number of a claim."""
        cells = dict(self.columns)
        for said in (self.name, *(cells[column] for column in self.told(claim))):
            claim = _written(said).sub(" ", claim)
        return not any(c.isdigit() for c in claim)


def row_of(citation: Citation) -> TableRow | None:
    """The row of a table that a citation quotes; None where it quotes something else."""
    quote = citation.quote.strip()
    header = header_above(citation.passage.chunk.document.text, citation.start).partition("\n")[0]
    names, cells = _cells(header), _cells(quote)
    if not quote.startswith("|") or "\n" in quote or len(names) != len(cells):
        return None
    return TableRow(cells[0], tuple((n, c) for n, c in zip(names[1:], cells[1:], strict=True) if c))


def comparison(answer: Answer) -> Comparison | None:
    """What an answer compares: options by the rows that are cited for them, and sides; None where it compares nothing."""
    if answer.refused or answer.choices:
        return None
    tabular = {statement: rows for statement in answer.statements if (rows := _rows(statement, answer.citations))}
    options, properties, common = _table(tabular)
    if not properties:
        tabular = {}
    said = [statement for statement in answer.statements if statement not in tabular]
    compared = dict.fromkeys(statement.about for statement in answer.statements if statement.about)
    if not properties and len(compared) < 2:
        return None
    lead = " ".join(marked(statement, answer.citations) for statement in said if not statement.about)
    sides = [
        _side(name, found, answer.citations)
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


def bars(sides: Sequence[Side]) -> Bars | None:
    """The numbers of the sides' first sentences where each has exactly one of the same unit, and they speak of the same measure.

    What comes after its first sentence adds to a side, and is no answer to what was compared.
    """
    texts = [side.first for side in sides]
    if len(sides) < 2 or REFUSAL in texts or not all(_alike(one, other) for one, other in pairwise(texts)):
        return None
    # What stands in brackets is beside the point: "320 GiB (40 GiB each)".
    found = [_by_unit(_ASIDE.sub(" ", text)) for text in texts]
    for unit in found[0]:
        values = [_only(units.get(unit, [])) for units in found]
        if all(value is not None for value in values):
            pairs = zip(sides, values, strict=True)
            return Bars(unit, tuple((side.name, value, side.numbers) for side, value in pairs if value is not None))
    return None


_Rows = tuple[tuple[int, TableRow, str], ...]
_Grid = dict[str, list[list[tuple[str, int]]]]


def _rows(statement: Statement, citations: Iterable[Citation]) -> _Rows:
    """The rows that say all of a statement, with their citations and documents; none where it says more than they do."""
    found = {
        c.number: (c.number, row_of(c), c.passage.chunk.document.id) for c in citations if c.number in statement.citations
    }
    rows = tuple((number, row, document) for number, row, document in found.values() if row and row.told(statement.text))
    names, whole = {row.name for _, row, _ in rows}, TableRow("", tuple(c for _, row, _ in rows for c in row.columns))
    is_all = len(rows) == len(found) and len(names) == 1 and statement.role in ("answer", "row", "reason", "side")
    return rows if is_all and whole.says_all_of(statement.text.replace(*names, "")) else ()


def _table(tabular: Mapping[Statement, _Rows]) -> tuple[tuple[str, ...], tuple[Property, ...], tuple[str, ...]]:
    """The options, their properties, and what they have in common; nothing where no property is told of two."""
    options: list[tuple[str, dict[str, int]]] = []
    grid: _Grid = {}
    for statement, rows in tabular.items():
        for number, row, document in rows:
            # Another row of the same table is another thing, also under the same name: an A100 with 40 GB and one with 80.
            fits = (o for o, (name, seen) in enumerate(options) if name == row.name and seen.get(document, number) == number)
            if (option := next(fits, None)) is None:
                option = len(options)
                options.append((row.name, {}))
            options[option][1][document] = number
            for column in row.told(statement.text):
                cells = grid.setdefault(column, [])
                cells += ([] for _ in range(len(cells), option + 1))
                cells[option].append((dict(row.columns)[column], number))
    if not any(sum(map(bool, cells)) > 1 for cells in grid.values()):
        return (), (), ()
    found = [_property(name, [*cells, *[[]] * (len(options) - len(cells))]) for name, cells in grid.items()]
    alike = [p for p in found if len({cell.text for cell in p.cells}) == 1 and p.cells[0].value is None]
    properties = tuple(p for p in found if p not in alike) or tuple(found)
    common = tuple(f"{p.name}: {p.cells[0].text}" for p in alike if p not in properties)
    return tuple(name for name, _ in options), properties, common


def _property(name: str, cells: Sequence[Sequence[tuple[str, int]]]) -> Property:
    texts = [list(dict.fromkeys(text for text, _ in cell)) for cell in cells]
    figures = [_FIGURE.fullmatch(text[0]) if len(text) == 1 else None for text in texts]
    units = {figure["sign"] or figure["unit"] for figure in figures if figure}
    is_measured = len(units) == 1 and all(figure or not text for figure, text in zip(figures, texts, strict=True))
    made = [
        Cell(
            figure["number"] if figure and is_measured else ", ".join(text),
            tuple(dict.fromkeys(number for _, number in cell)),
            float(figure["number"].replace(",", "")) if figure and is_measured else None,
        )
        for cell, text, figure in zip(cells, texts, figures, strict=True)
    ]
    return Property(name, units.pop() if is_measured else "", tuple(made))


def _side(name: str, statements: Sequence[Statement], citations: Sequence[Citation]) -> Side:
    said = " ".join(marked(statement, citations) for statement in statements)
    return Side(name, said, statements[0].text, statements[0].citations)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")] if row else []


def _written(cell: str) -> re.Pattern[str]:
    """A cell as a sentence may say it: "AMD, 3.6 GHz" as "AMD at 3.6 GHz", "NVIDIA H100 GPU" as several of them."""
    parts = r"[\s,]+(?:(?:of|at)\s+)?".join(re.escape(part) for part in re.split(r"[\s,]+", cell) if part)
    return re.compile(rf"(?<![\w.,]){parts}s?(?!\w|[.,]\d)", re.IGNORECASE)


def _shared(name: str, claim: str) -> tuple[int, float]:
    """How many words of a column's name a claim has, or others for the same, and what part of it that is."""
    there = {stem(word) for word in words(claim)}
    groups = frozenset(group for word in words(claim) for group in synonyms(word))
    own = words(name)
    shared = sum(stem(word) in there or bool(synonyms(word) & groups) for word in own)
    return shared, shared / max(len(own), 1)


def _alike(one: str, other: str) -> bool:
    first, second = _words(one), _words(other)
    return bool(first and second) and len(first & second) / min(len(first), len(second)) >= _SAME_MEASURE


def _words(text: str) -> set[str]:
    return {stem(word) for word in content_words(text) if not any(c.isdigit() for c in word)}


def _by_unit(text: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for quantity in quantities(text):
        unit, number = _unit(quantity), _LEADING_NUMBER.search(quantity.text)
        if unit and number and quantity.low == quantity.high:
            found.setdefault(unit, []).append(float(number.group().replace(",", "")))
    return found


def _unit(quantity: Quantity) -> str:
    """The unit as it is written, or the words that are counted."""
    if quantity.dimension == "count":
        return " ".join(islice(takewhile(lambda word: word not in _STOPS, quantity.noun.split()), _NOUN))
    if quantity.dimension in ("date", "day"):
        return ""
    return _LEADING_NUMBER.sub("", quantity.text, count=1).strip(" -~<>≥≤")


_STOPS = frozenset(("and", "or", "of", "with", "in", "on", "for", "per", "to", "each", "at", "by", "while", "than"))


def _only(values: list[float]) -> float | None:
    return values[0] if len(set(values)) == 1 else None
