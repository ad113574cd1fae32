"""A piece of evidence: a sentence, a list item or a table row, with exact offsets and what stands above it."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from chatbot.language.quantities import Quantity, quantities, with_unit
from chatbot.language.wording import label_of, plain
from chatbot.language.words import is_spun, unspun
from ingest import Chunk

Kind = Literal["sentence", "item", "row", "note"]


@dataclass(frozen=True)
class Unit:
    """One piece of evidence: `chunk.document.text[start:end] == text`.

    `above` has the headings, bold labels and parent items that the piece belongs to, outermost first. A table row has
    `cells`, pairs of column header and cell, both in plain text. `before` is the sentence that a "these" or "it" means.
    """

    chunk: Chunk
    start: int
    end: int
    text: str
    kind: Kind
    above: tuple[str, ...]
    cells: tuple[tuple[str, str], ...] = ()
    before: str = ""

    @cached_property
    def plain(self) -> str:
        """The words without markup; a table row as "header: cell" pairs."""
        if self.cells:
            return "; ".join(f"{header}: {cell}" if header else cell for header, cell in self.cells)
        return plain(self.text)

    @cached_property
    def meant(self) -> str:
        """The plain words, with the usual terms restored if the document is word-spun."""
        return unspun(self.plain) if _document_is_spun(self.chunk.document.id, self.chunk.document.text) else self.plain

    @cached_property
    def meant_in_place(self) -> str:
        """The same for `full`."""
        return unspun(self.full) if _document_is_spun(self.chunk.document.id, self.chunk.document.text) else self.full

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The numbers in it. Those of a table cell have the column's header as their noun."""
        text = (
            "; ".join(f"{with_unit(header, cell)} {header}" for header, cell in self.cells)
            if self.cells
            else self.plain
        )
        return tuple(quantities(text))

    @cached_property
    def label(self) -> tuple[str, str]:
        """A labelled line split in two: ("7B-30B parameters", "L40S, A100"); ("", all) without a label."""
        return ("", self.plain) if self.cells else label_of(self.plain)

    @cached_property
    def full(self) -> str:
        """The piece in context: the last three of `above`, then `before`, then its plain words."""
        return " | ".join((*self.above[-3:], *([self.before] if self.before else []), self.plain))


@lru_cache(maxsize=256)
def _document_is_spun(document_id: str, text: str) -> bool:
    return is_spun(text)
