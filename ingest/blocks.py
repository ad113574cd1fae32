"""Parse a text into blocks with exact offsets: headings, paragraphs, lists with items, tables with rows, code."""

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

from ingest.lines import LONG_LINE, SMALL_WORD, Mark, clean_title, marks

Kind = Literal["heading", "text", "code", "list", "item", "table", "row", "flattened", "residue", "anchor"]

_NEWLINE = re.compile(r"\r\n?|\n")
_BAR = re.compile(r"(?<!\\)\|")
_BULLET = re.compile(r"^[ \t]*[•‣◦●▪·–—][ \t]+(?=\S)", re.MULTILINE)
_DELIMITER = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?")
# The most lines that the cells of one row may run over, blank ones included.
_ROW_LINES = 200
# What opens a heading or an item inside one enormous line.
_INLINE_MARK = re.compile(r"(?:^|(?<=\s))(?:(?P<hashes>#{1,6})\s+|(?P<bullet>[-*+•])\s+|(?P<number>\d{1,2})\.\s+)(?=\S)")
_COLON = re.compile(r":(?=\s)")
_CLAUSE_END = re.compile(r"[.,;!?]\s")
_WORD = re.compile(r"\S+")
_INLINE_HEADING = 100
# Each chunk of a table repeats the table's header, cut to this many characters.
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
    """A part of a text; its children, if it has any, cover it.

    `title` is a heading's words or a table's header row, without markup; `rank` is a heading's rank, 1 being the
    highest.
    """

    kind: Kind
    start: int
    end: int
    children: tuple["Block", ...] = ()
    title: str = ""
    rank: int = 0


@dataclass(frozen=True, slots=True)
class _Lines:
    """A span of a text by lines; `starts` holds the lines' offsets in the whole text."""

    text: str
    end: int
    content: Sequence[str]
    starts: Sequence[int]

    def offset(self, line: int) -> int:
        return self.starts[line] if line < len(self.starts) else self.end


def parse(text: str, start: int, end: int, *, plain: bool, first: bool) -> list[Block]:
    """Return the blocks of `text[start:end]`, with offsets in `text`; `plain` and `first` are as in `lines.marks`."""
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
    """Parse a table as one token.

    The stock rule makes a token for each cell, which takes a gigabyte for ten megabytes of text.
    """
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
    """Return the end of a row whose cells run over several lines; the given line if the row only lacks its last bar."""
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
    """Yield the children of a node as blocks that cover `start` to `end` except white space."""
    begins = [min(lines.offset(child.map[0] if child.map else 0), end) for child in node.children]
    for child, (begin, stop) in zip(node.children, _spans(lines.text, start, begins, end), strict=True):
        if begin < stop:
            yield _block(child, lines, begin, stop)


def _spans(text: str, start: int, begins: Sequence[int], end: int) -> list[tuple[int, int]]:
    """Return the spans from each beginning to the next, trimmed; the first one begins at `start`."""
    begins = [start, *begins[1:], end] if begins else []
    return [trim(text, begin, stop) for begin, stop in pairwise(begins)]


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without white space at its ends; for white space alone, the end is not after the start."""
    span = text[start:end]
    return end - len(span.lstrip()), start + len(span.rstrip())


def _block(node: SyntaxTreeNode, lines: _Lines, start: int, end: int) -> Block:
    raw = lines.text[start:end]
    match node.type:
        case "mark":
            return _marked(node.meta["mark"], lines.text, start, end)
        case "heading" if len(raw) <= LONG_LINE:
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
    """Yield the blocks of Markdown that lost its line breaks, found by the marks inside its one enormous line."""
    found = list(_inline_marks(text, start, end))
    blocks = [Block("text", *trim(text, start, found[0].start() if found else end))]
    for mark, stop in zip(found, [*(mark.start() for mark in found[1:]), end], strict=True):
        if not mark["hashes"]:
            blocks.append(Block("item", *trim(text, mark.start(), stop)))
            continue
        heading_end = _heading_end(text, mark.end(), stop, ends_at_mark=mark is not found[-1])
        title = clean_title(text[mark.end() : heading_end])
        blocks.append(Block("heading", *trim(text, mark.start(), heading_end), title=title, rank=len(mark["hashes"])))
        blocks.append(Block("text", *trim(text, heading_end, stop)))
    filled = (block for block in blocks if block.start < block.end)
    for is_item, group in groupby(filled, key=lambda block: block.kind == "item"):
        together = list(group)
        yield from [_list(together)] if is_item else together


def _inline_marks(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    previous: re.Match[str] | None = None
    for match in _INLINE_MARK.finditer(text, start, end):
        if match["hashes"] or _opens_item(text, start, match, previous):
            yield match
            previous = match


def _opens_item(text: str, start: int, match: re.Match[str], previous: re.Match[str] | None) -> bool:
    """Whether a dash or a number opens an item: the item is bold, follows a colon, or continues a list."""
    if text.startswith("**", match.end()):
        return True
    if not text[match.end()].isupper():
        return False
    if text[max(match.start() - 4, start) : match.start()].rstrip()[-1:] == ":":
        return True
    if previous is None or previous["hashes"]:
        return False
    if match["number"]:
        return bool(previous["number"]) and int(match["number"]) == int(previous["number"]) + 1
    return match["bullet"] == previous["bullet"]


def _heading_end(text: str, start: int, end: int, *, ends_at_mark: bool) -> int:
    """Return where a heading ends: at the next mark if near, else at a colon, else after its capitalised words."""
    if not (ends_at_mark and end - start <= _INLINE_HEADING):
        colon = _COLON.search(text, start, min(end, start + _INLINE_HEADING))
        if colon is None:
            return _capitalised_end(text, start, end)
        end = colon.end()
    return _capitalised_end(text, start, end) if _CLAUSE_END.search(text, start, end) else end


def _capitalised_end(text: str, start: int, end: int) -> int:
    last_capital = start
    for word in _WORD.finditer(text, start, end):
        if word.start() - start > _INLINE_HEADING:
            return word.start()
        if word[0][0].islower() and not SMALL_WORD.fullmatch(word[0]):
            # The capitalised word before this one begins a sentence.
            return last_capital if last_capital > start else word.start()
        if not word[0][0].islower():
            last_capital = word.start()
    return end


def _list(items: Sequence[Block]) -> Block:
    return Block("list", items[0].start, items[-1].end, tuple(items))


def _table(node: SyntaxTreeNode, lines: _Lines, start: int, end: int) -> Block:
    rows: list[tuple[int, int]] = node.meta["rows"]
    spans = _spans(lines.text, start, [lines.offset(first) for first, _ in rows], end)
    children = tuple(Block("row", *span) for span in spans) if len(rows) > 1 else ()
    header = _BAR.split(lines.content[node.map[0] if node.map else 0].strip()[:_HEADER].strip("|"))
    return Block("table", start, end, children, title=" | ".join(map(clean_title, header)))


def _paragraph(text: str, start: int, end: int) -> Block:
    """Return a paragraph, or a list if its lines begin with bullets that Markdown does not know."""
    begins = [match.start() for match in _BULLET.finditer(text, start, end)]
    if not begins:
        return Block("text", start, end)
    bullets = _list([Block("item", *span) for span in _spans(text, begins[0], begins, end)])
    _, lead_end = trim(text, start, begins[0])
    return Block("text", start, end, (Block("text", start, lead_end), bullets)) if lead_end > start else bullets
