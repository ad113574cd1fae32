"""Write the lines that rows support, with a number for each row."""

from collections.abc import Sequence

from chatbot.answer import Passage
from chatbot.draft import Draft, Marks
from chatbot.table.columns import Column
from chatbot.table.instances import Row
from chatbot.table.row_phrases import describe, price_terms, subject
from chatbot.verification.citations import Evidence


class Writing:
    """Collects lines while a draft is written; each row is numbered once."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.lines: list[str] = []
        self._evidence = Marks()
        self._counts: list[str] = []
        self._terms = ""
        self._passages = {passage.chunk.id: passage for passage in passages}

    def line(self, text: str, *rows: Row, opening: str = "", columns: Sequence[Column] = ()) -> None:
        """Add a sentence that the rows, or rows beside them with the columns, support; `opening` is a list mark."""
        rows = tuple(dict.fromkeys(other for row in rows for other in row.borne_out(columns)))
        self.lines.append(f"{opening}{text} {''.join(map(self._mark, rows))}.")

    def row(self, row: Row, columns: Sequence[Column], *, lead: str = "", opening: str = "", dated: bool = False) -> None:
        """Add what a row says in the columns; `dated` adds its date, if the row itself supports the line."""
        name = subject(row, with_date=dated and row in row.borne_out(columns))
        self.line(f"{lead}{name}{describe(row, columns, self._terms)}", row, opening=opening, columns=columns)
        self._terms = price_terms(row) if "price" in columns and row.number("price") else self._terms

    def newest(self, rows: Sequence[Row], columns: Sequence[Column], *, lead: str = "", opening: str = "", dated: bool = False) -> None:
        """Add what the newest of a type's rows says, and what older ones said instead."""
        newest, *older = rows
        self.row(newest, columns, lead=lead, opening=opening, dated=dated)
        for row in older:
            if (before := describe(row, columns)) not in ("", describe(newest, columns)):
                self.line(f"As of {row.as_of}: {subject(row)}{before}", row, opening=opening)

    def heading(self, count: str, rows: Sequence[Row], columns: Sequence[Column]) -> None:
        """Add the line above a list of rows: what was counted, if anything, and the terms of the prices if all have the same."""
        priced = [row for row in rows if "price" in columns and row.number("price")]
        said = [f"{count}."] if count else []
        self._counts += said
        if len(priced) > 1 and len(terms := {price_terms(row) for row in priced}) == 1:
            self._terms = terms.pop()
            said.append(f"Prices are {self._terms} {self._mark(priced[0].source('price'))}.")
        self.lines += [" ".join(said)] if said else []

    def count(self, text: str) -> str:
        """Return the opening of a line that says what was counted. No row says it, so it is marked as computed."""
        self._counts.append(text)
        return f"{text}: "

    def draft(self, choices: Sequence[str] = ()) -> Draft:
        return Draft("\n".join(self.lines), tuple(self._evidence), tuple(choices), tuple(self._counts))

    def _mark(self, row: Row) -> str:
        beyond = Passage(len(self._passages) + 1, row.chunk, 1.0)
        return self._evidence.mark(Evidence(self._passages.setdefault(row.chunk.id, beyond), row.start, row.end))
