"""Text -> blocks with exact offsets: headings, paragraphs, lists with their items, tables with their rows, code."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, pairwise
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from ingest import flattened
from ingest.lines import Mark, clean_title, marks

Kind = Literal["heading", "text", "code", "list", "item", "table", "row", "flattened", "residue", "anchor"]

_NEWLINE = re.compile(r"\r\n?|\n")
_BAR = re.compile(r"(?<!\\)\|")
_BULLET = re.compile(r"^[ \t]*[•‣◦●▪·–—][ \t]+(?=\S)", re.MULTILINE)
_DELIMITER = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?")
# A cell may run over several lines, blank ones included, but not over more than this.
_ROW_LINES = 200
_HEADING = 200
# Each chunk of a table has a copy of the table's header, which is cut here.
_HEADER = 2_000
_KINDS: dict[str, Kind] = {
    "bullet_list": "list",
    "ordered_list": "list",
    "list_item": "item",
    "fence": "code",
    "code_block": "code",
    "hr": "anchor",
}


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a text, covered by its children if it has any.

    `title` is a heading's words or a table's header row, without markup; `rank` is a heading's, 1 the highest.
    """

    kind: Kind
    start: int
    end: int
    children: tuple["Block", ...] = ()
    title: str = ""
    rank: int = 0


@dataclass(frozen=True, slots=True)
class _Lines:
    """A span of a text by lines: `starts` holds the offsets in the whole text."""

    text: str
    end: int
    content: Sequence[str]
    starts: Sequence[int]

    def offset(self, line: int) -> int:
        return self.starts[line] if line < len(self.starts) else self.end


def parse(text: str, start: int, end: int, *, plain: bool, first: bool) -> list[Block]:
    """The blocks of `text[start:end]` with offsets in `text`; `plain` and `first` are those of `lines.marks`."""
    starts = [start, *(match.end() for match in _NEWLINE.finditer(text, start, end))]
    lines = _Lines(text, end, _NEWLINE.split(text[start:end]), starts)
    environment = {"marks": marks(lines.content, plain=plain, first=first)}
    tokens: list[Token] = []
    parser = _parser(plain)
    parser.block.parse("\n".join(lines.content).replace("\0", "\ufffd"), parser, environment, tokens)
    return list(_blocks(SyntaxTreeNode(tokens), lines, start, end))


@cache
def _parser(plain: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark")
    # A link definition would vanish from the tokens; the indented lines of a plain text are seldom code.
    parser.disable(["reference", "code"] if plain else ["reference"])
    parser.block.ruler.at("table", _table_rule, {"alt": ["paragraph", "reference"]})
    parser.block.ruler.before("table", "mark", _mark_rule, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    return parser.enable(["table", "mark"])


def _mark_rule(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    mark: Mark | None = state.env["marks"].get(line)
    if mark is None or state.sCount[line] > (0 if state.blkIndent else 3):
        return False
    if not silent:
        token = state.push("mark", "", 0)
        token.map = [line, line + 1]
        token.meta = {"mark": mark}
        state.line = line + 1
    return True


def _table_rule(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """A table as one token: the stock rule makes a token for each cell, which takes a gigabyte for ten megabytes of text."""
    if line + 2 > end or state.sCount[line + 1] < state.blkIndent or state.is_code_block(line):
        return False
    delimiter = _line(state, line + 1)
    if "|" not in delimiter or "|" not in _line(state, line) or not _DELIMITER.fullmatch(delimiter):
        return False
    if not silent:
        token = state.push("table", "", 0)
        rows = list(_rows(state, line + 2, end, fenced=_line(state, line).startswith("|")))
        state.line = rows[-1][1] if rows else line + 2
        token.map = [line, state.line]
        token.meta = {"rows": rows}
    return True


def _rows(state: StateBlock, line: int, end: int, *, fenced: bool) -> Iterator[tuple[int, int]]:
    while line < end and "|" in (row := _line(state, line)) and state.sCount[line] >= state.blkIndent:
        if fenced and not row.startswith("|"):
            return
        following = line + 1
        if fenced and not row.endswith("|"):
            following = _row_end(state, following, end)
        yield line, following
        line = following


def _row_end(state: StateBlock, line: int, end: int) -> int:
    """The end of a row whose cells run over several lines; the given line if the row is only missing its last bar."""
    for number in range(line, min(end, line + _ROW_LINES)):
        content = _line(state, number)
        if content.startswith(("|", "#")):
            return line
        if content.endswith("|"):
            return number + 1
    return line


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].strip()


def _blocks(node: SyntaxTreeNode, lines: _Lines, start: int, end: int) -> Iterator[Block]:
    """The children of a node as blocks that cover `start` to `end` except white space."""
    begins = [min(lines.offset(child.map[0] if child.map else 0), end) for child in node.children]
    for child, (begin, stop) in zip(node.children, _spans(lines.text, start, begins, end), strict=True):
        if begin < stop:
            yield _block(child, lines, begin, stop)


def _spans(text: str, start: int, begins: Sequence[int], end: int) -> list[tuple[int, int]]:
    """The spans from each beginning to the next, trimmed; the first one begins at `start`."""
    begins = [start, *begins[1:], end] if begins else []
    return [trim(text, begin, stop) for begin, stop in pairwise(begins)]


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space at its ends; for white space alone, a span whose end is not after its start."""
    span = text[start:end]
    return end - len(span.lstrip()), start + len(span.rstrip())


def _block(node: SyntaxTreeNode, lines: _Lines, start: int, end: int) -> Block:
    raw = lines.text[start:end]
    match node.type:
        case "mark":
            return _marked(node.meta["mark"], lines.text, start, end)
        case "heading" if len(raw) <= _HEADING:
            return Block("heading", start, end, title=_heading_title(raw), rank=int(node.tag[1]))
        case "table":
            return _table(node, lines, start, end)
        case "paragraph":
            return _paragraph(lines.text, start, end)
        case "heading":
            return Block("text", start, end)
        case kind:
            return Block(_KINDS.get(kind, "text"), start, end, tuple(_blocks(node, lines, start, end)))


def _heading_title(raw: str) -> str:
    lines = raw.splitlines()
    underlined = len(lines) > 1 and not lines[-1].strip("=- \t")
    return clean_title(" ".join(lines[:-1] if underlined else lines))


def _marked(mark: Mark, text: str, start: int, end: int) -> Block:
    if mark.kind == "flattened":
        return Block("flattened", start, end, tuple(_unflatten(text, start, end)))
    return Block(mark.kind, start, end, title=mark.title, rank=mark.rank)


def _unflatten(text: str, start: int, end: int) -> Iterator[Block]:
    parts = flattened.split(text[start:end])
    for is_item, group in groupby(parts, key=lambda part: part.kind == "item"):
        spans = [(part, trim(text, start + part.start, start + part.end)) for part in group]
        blocks = [Block(part.kind, *span, title=part.title, rank=part.rank) for part, span in spans]
        yield from [_list(blocks)] if is_item else blocks


def _list(items: Sequence[Block]) -> Block:
    return Block("list", items[0].start, items[-1].end, tuple(items))


def _table(node: SyntaxTreeNode, lines: _Lines, start: int, end: int) -> Block:
    rows: list[tuple[int, int]] = node.meta["rows"]
    spans = _spans(lines.text, start, [lines.offset(first) for first, _ in rows], end)
    children = tuple(Block("row", *span) for span in spans) if len(rows) > 1 else ()
    header = _BAR.split(lines.content[node.map[0] if node.map else 0].strip()[:_HEADER].strip("|"))
    return Block("table", start, end, children, title=" | ".join(map(clean_title, header)))


def _paragraph(text: str, start: int, end: int) -> Block:
    """A paragraph, or a list where its lines begin with bullets that Markdown does not know."""
    begins = [match.start() for match in _BULLET.finditer(text, start, end)]
    if not begins:
        return Block("text", start, end)
    bullets = _list([Block("item", *span) for span in _spans(text, begins[0], begins, end)])
    _, lead_end = trim(text, start, begins[0])
    return Block("text", start, end, (Block("text", start, lead_end), bullets)) if lead_end > start else bullets
