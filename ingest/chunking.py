"""Split a document into chunks, exact slices of its text; sections, tables, lists and code stay whole if they can."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from ingest.answers import holds_answers, question_chunks
from ingest.blocks import Block, parse, trim
from ingest.document import Chunk, Document
from ingest.formats.plain import front_matter
from ingest.lines import clean_title, is_plain

# Sizes in characters. The encoder reads about 1,000; text longer than LIMIT is split into parts of about TARGET.
TARGET = 750
LIMIT = 1_100
MOST = 1_200
SMALL = 200
INTRODUCTION = 300

_EDGE = re.compile(r"(?:\s+|<a (?:name|id)=\"[^\"]*\" ?/?></a>)+")
_SENTENCE = re.compile(r"(?<!e\.g\.)(?<!i\.e\.)(?<=[.!?…:])[)\"'”’\]*_]*\s+(?![a-z\s])")
_ITEM_MARK = re.compile(r"\s*(?:[-*+•‣◦●▪·–—]|\d{1,9}[.)])\s+")
_SEAMS = {
    "code": (re.compile(r"\n[ \t]*\n"), re.compile(r"\n"), re.compile(r"\s+")),
    "row": (re.compile(r"\n[ \t]*\n"), _SENTENCE, re.compile(r"\|"), re.compile(r"\s+")),
    "text": (re.compile(r"\n[ \t]*\n"), _SENTENCE, re.compile(r"\n"), re.compile(r"\s+")),
}


def chunks_with_context(document: Document) -> Iterator[tuple[Chunk, str]]:
    """Yield the chunks of a document, in order and without overlap, each with its context.

    The chunks cover all its text except front matter, headings and residue. A document of prepared answers yields its
    questions with their wordings instead.

    The context is indexed with a chunk that begins in the middle of something. It has one line each for the sentence
    that introduces the list or table, the header row of the table, and the list item or the first cell of the row that
    the chunk is in.
    """
    if holds_answers(document.text):
        yield from ((question, "") for question in question_chunks(document))
        return
    for section in _sections(document.text):
        for piece in _pack(document.text, section):
            yield _chunk(document, section, piece), "\n".join(piece.context)


def _chunk(document: Document, section: "_Section", piece: "_Piece") -> Chunk:
    text = document.text[piece.start : piece.end]
    id = hashlib.sha256(f"{document.id}\0{piece.start}\0{text}".encode(errors="surrogatepass")).hexdigest()[:16]
    return Chunk(id, document, section.headings, piece.start, piece.end, text, section.page)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A span that stays together, with the context of a chunk that begins with it.

    `leads` says that it introduces the next piece.
    """

    start: int
    end: int
    context: tuple[str, ...] = ()
    leads: bool = False


@dataclass(slots=True)
class _Section:
    """Blocks under the same headings, outermost first, on one page."""

    headings: tuple[str, ...]
    page: int | None
    blocks: list[Block] = field(default_factory=list)


def _sections(text: str) -> list[_Section]:
    _, start = front_matter(text)
    outline = _Outline()
    plain = is_plain(text[start:])
    first_page = 1 + text.count("\f", 0, start)
    for page, part in enumerate(text[start:].split("\f"), start=first_page):
        outline.page = page if "\f" in text else None
        end = start + len(part)
        for block in parse(text, start, end, plain=plain, first=page == first_page):
            outline.add(block)
        start = end + 1
    outline.close(0)
    return outline.sections


@dataclass(slots=True)
class _Heading:
    block: Block
    page: int | None
    flattened: bool
    used: bool = False


class _Outline:
    """Takes the blocks of a document in order and tracks which headings are open; no section crosses the end of a `page`.

    A heading with nothing under it becomes text, so that no words are lost.
    """

    def __init__(self) -> None:
        self.sections: list[_Section] = []
        self.page: int | None = None
        self._open: list[_Heading] = []
        self._owner: _Heading | None = None
        self._broken = True

    def add(self, block: Block, *, flattened: bool = False) -> None:
        match block.kind:
            case "heading":
                self.close(block.rank)
                self._open.append(_Heading(block, self.page, flattened))
            case "residue":
                self._broken = True
            case "flattened":
                self._add_flattened(block)
            case "anchor":
                pass
            case _:
                self._append(block, self.page)

    def close(self, rank: int) -> None:
        """Close the open headings of this rank and below."""
        while self._open and self._open[-1].block.rank >= rank:
            heading = self._open.pop()
            if not heading.used and heading.block.title:
                self._append(replace(heading.block, kind="text"), heading.page)

    def _add_flattened(self, block: Block) -> None:
        # A flattened line is a whole article: its headings end with it.
        self._broken = True
        for child in block.children:
            self.add(child, flattened=True)
        while self._open and self._open[-1].flattened:
            self.close(self._open[-1].block.rank)
        self._broken = True

    def _append(self, block: Block, page: int | None) -> None:
        for heading in self._open:
            heading.used = True
        owner = self._open[-1] if self._open else None
        if self._broken or owner is not self._owner or page != self.sections[-1].page:
            self.sections.append(_Section(tuple(h.block.title for h in self._open if h.block.title), page))
        self._owner, self._broken = owner, False
        self.sections[-1].blocks.append(block)


def _pack(text: str, section: _Section) -> Iterator[_Piece]:
    """Join the pieces of a section into chunks."""
    pieces = list(_with_lead_ins(_pieces(text, section.blocks)))
    whole = pieces[-1].end - pieces[0].start <= LIMIT
    groups = [pieces[0]]
    for piece in pieces[1:]:
        if whole or _fit(groups[-1], piece):
            groups[-1] = replace(groups[-1], end=piece.end)
        else:
            groups.append(piece)
    for group in groups:
        edge = _EDGE.match(text, group.start, group.end)
        start = edge.end() if edge else group.start
        if start < group.end:
            yield replace(group, start=start)


def _fit(group: _Piece, piece: _Piece) -> bool:
    size = piece.end - group.start
    return size <= TARGET or (size <= MOST and min(group.end - group.start, piece.end - piece.start) < SMALL)


def _with_lead_ins(pieces: Iterable[_Piece]) -> Iterator[_Piece]:
    """Join each sentence that introduces something with what it introduces."""
    lead: _Piece | None = None
    for piece in pieces:
        if lead and piece.end - lead.start <= LIMIT:
            piece = replace(lead, end=piece.end, leads=piece.leads)
        elif lead:
            yield lead
        lead = piece if piece.leads else None
        if not lead:
            yield piece
    if lead:
        yield lead


def _pieces(text: str, blocks: Iterable[Block], context: tuple[str, ...] = ()) -> Iterator[_Piece]:
    introduction: tuple[str, ...] = ()
    for block in blocks:
        yield from _divide(text, block, context if block.kind == "text" else context + introduction)
        introduction = _introduction(text, block)


def _introduction(text: str, block: Block) -> tuple[str, ...]:
    """Return the last sentence of a paragraph if it introduces what follows, by a colon or the word "following"."""
    if block.kind != "text":
        return ()
    sentence = _SENTENCE.split(text[max(block.start, block.end - INTRODUCTION) : block.end])[-1]
    if sentence.endswith(":"):
        return (clean_title(sentence) + ":",)
    return (clean_title(sentence),) if "following" in sentence else ()


def _divide(text: str, block: Block, context: tuple[str, ...]) -> Iterator[_Piece]:
    if block.end - block.start <= LIMIT:
        yield _Piece(block.start, block.end, context, leads=bool(_introduction(text, block)))
    elif block.kind == "table":
        yield from _rows(text, block, context)
    elif block.kind == "item":
        yield from _within_item(text, block, context)
    elif block.children:
        yield from _pieces(text, block.children, context)
    else:
        yield from _cut(text, block, context, context)


def _rows(text: str, table: Block, context: tuple[str, ...]) -> Iterator[_Piece]:
    headed = (*context, table.title)
    for number, row in enumerate(table.children or (replace(table, kind="row"),)):
        name = _row_name(text, row) if row.end - row.start > LIMIT else ()
        yield from _cut(text, row, headed if number else context, (*headed, *name))


def _row_name(text: str, row: Block) -> tuple[str, ...]:
    """Return the first cell of a row, which says what the rest of the row is about."""
    line = text[row.start : row.start + INTRODUCTION].splitlines()[0]
    cells = [cell for cell in map(clean_title, line.split("|")) if cell]
    return (cells[0],) if line.startswith("|") and len(cells) > 1 else ()


def _within_item(text: str, item: Block, context: tuple[str, ...]) -> Iterator[_Piece]:
    line = text[item.start : item.start + INTRODUCTION].splitlines()[0]
    below = (*context, clean_title(_ITEM_MARK.sub("", line)))
    if len(item.children) < 2:
        yield from _cut(text, item, context, below)
        return
    yield from _divide(text, item.children[0], context)
    yield from _pieces(text, item.children[1:], below)


def _cut(text: str, block: Block, context: tuple[str, ...], below: tuple[str, ...]) -> Iterator[_Piece]:
    """Cut a long block at the best seams available; pieces after the first have the context `below`."""
    start = block.start
    while block.end - start > LIMIT:
        seam = _seam(text, start, block.kind)
        begin, end = trim(text, start, seam)
        if begin < end:
            yield _Piece(begin, end, context)
            context = below
        start = seam
    begin, end = trim(text, start, block.end)
    if begin < end:
        yield _Piece(begin, end, context)


def _seam(text: str, start: int, kind: str) -> int:
    for pattern in _SEAMS.get(kind, _SEAMS["text"]):
        seams = [match.end() for match in pattern.finditer(text, start + SMALL, start + TARGET)]
        if seams:
            return seams[-1]
    return start + TARGET
