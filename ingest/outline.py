"""Blocks -> sections: each run of blocks with the path of headings that it stands under."""

from dataclasses import dataclass, field, replace

from ingest.blocks import Block


@dataclass(slots=True)
class Section:
    """Blocks under the same headings, outermost first, on one page."""

    headings: tuple[str, ...]
    page: int | None
    blocks: list[Block] = field(default_factory=list)


@dataclass(slots=True)
class _Heading:
    block: Block
    page: int | None
    flattened: bool
    used: bool = False


class Outline:
    """Takes the blocks of a document in order and keeps which headings are open.

    A heading that nothing stands under is text itself, so that no words are lost.
    """

    def __init__(self) -> None:
        self._open: list[_Heading] = []
        self._sections: list[Section] = []
        self._page: int | None = None
        self._owner: _Heading | None = None
        self._broken = True

    def turn(self, page: int | None) -> None:
        """Go on on another page; no section crosses the border."""
        self._page = page

    def add(self, block: Block, *, flattened: bool = False) -> None:
        """Take the next block."""
        match block.kind:
            case "heading":
                self._close(block.rank)
                self._open.append(_Heading(block, self._page, flattened))
            case "residue":
                self._broken = True
            case "flattened":
                self._add_flattened(block)
            case "anchor":
                pass
            case _:
                self._append(block, self._page)

    def finish(self) -> list[Section]:
        """All sections."""
        self._close(0)
        return self._sections

    def _add_flattened(self, block: Block) -> None:
        # Such a line is a whole article: its headings end with it.
        self._broken = True
        for child in block.children:
            self.add(child, flattened=True)
        while self._open and self._open[-1].flattened:
            self._close(self._open[-1].block.rank)
        self._broken = True

    def _close(self, rank: int) -> None:
        while self._open and self._open[-1].block.rank >= rank:
            heading = self._open.pop()
            if not heading.used and heading.block.title:
                self._append(replace(heading.block, kind="text"), heading.page)

    def _append(self, block: Block, page: int | None) -> None:
        for heading in self._open:
            heading.used = True
        owner = self._open[-1] if self._open else None
        if self._broken or owner is not self._owner or page != self._sections[-1].page:
            titles = (heading.block.title for heading in self._open)
            self._sections.append(Section(tuple(title for title in titles if title), page))
        self._owner, self._broken = owner, False
        self._sections[-1].blocks.append(block)
