"""Split an answer into Markdown passages and tables, and a table cell into rich-text elements."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from chatbot.answer import OFFLINE, Answer
from chatbot.slack.escaping import defanged

if TYPE_CHECKING:
    from chatbot.presentation.comparison_table import Cell

Element = dict[str, Any]
_MARK = re.compile(r"\[(\d+)\](?!\()")
_CODE_OR_MARK = re.compile(r"(?P<code>```.*?(?:```|\Z)|`[^`\n]+`)|\[(?P<number>\d+)\](?!\()", re.DOTALL)
_FENCE = re.compile(r"^```.*$", re.MULTILINE)
# Where to cut a text, best place first.
_CUTS = ("\n\n", "\n", ". ", " ")


# Rows of cells, the header first, each cell in Markdown.
Table = tuple[tuple[str, ...], ...]
Part = str | Table


def parts_of(answer: Answer) -> list[Part]:
    """Return the answer's parts in order: tables and comparisons as tables, the rest as Markdown."""
    from chatbot.presentation.comparison_table import comparison

    found = comparison(answer) if answer.model == OFFLINE else None
    if found is None:
        return _with_tables(answer.text)
    options = [(f"{p.name} ({p.unit})" if p.unit else p.name, *map(_in_cell, p.cells)) for p in found.properties]
    parts: list[Part] = [found.lead]
    if options:
        # Slack accepts one table per message.
        parts += [(("", *found.options), *options), *(f"- **{side.name}**: {side.said}" for side in found.sides)]
        parts.append(f"In common: {' · '.join(found.common)}" if found.common else "")
    else:
        parts.append((("", "What the sources say"), *((side.name, side.said) for side in found.sides)))
    return [part for part in parts if part]


def _in_cell(cell: "Cell") -> str:
    return " ".join((cell.text or "–", *(f"[{number}]" for number in cell.numbers)))


def _with_tables(text: str) -> list[Part]:
    lines = text.splitlines()
    tokens = _parser().parse(text)
    found: list[Part] = []
    position = 0
    for number, token in enumerate(tokens):
        if token.type == "table_open" and token.level == 0 and token.map:
            found += ["\n".join(lines[position : token.map[0]]).strip(), tuple(_rows(tokens[number:]))]
            position = token.map[1]
    return [part for part in (*found, "\n".join(lines[position:]).strip()) if part]


def _rows(tokens: list[Token]) -> Iterator[tuple[str, ...]]:
    cells: list[str] = []
    for token in tokens:
        if token.type == "table_close":
            return
        if token.type == "tr_open":
            cells = []
        elif token.type == "inline":
            cells.append(token.content)
        elif token.type == "tr_close":
            yield tuple(cells)


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def linked(markdown: str, addresses: Mapping[int, str]) -> str:
    """Link citation numbers to their sources, except in code, and make mentions harmless."""

    def link(match: re.Match[str]) -> str:
        address = "" if match["code"] else addresses.get(int(match["number"]), "")
        return f"[{match.group()}]({address})" if address else match.group()

    return defanged(_CODE_OR_MARK.sub(link, markdown))


def cell_elements(markdown: str, addresses: Mapping[int, str]) -> list[Element]:
    """Return a cell as Slack rich-text elements, which are shown literally; never empty."""
    found: list[Element] = []
    style: dict[str, bool] = {}
    for token in _parser().parseInline(markdown)[0].children or []:
        name = {"strong": "bold", "em": "italic"}.get(token.type.removesuffix("_open").removesuffix("_close"))
        if name and token.type.endswith("_open"):
            style = {**style, name: True}
        elif name:
            style = {key: value for key, value in style.items() if key != name}
        elif token.type in ("softbreak", "hardbreak"):
            found.append({"type": "text", "text": " "})
        elif token.content:
            own = {**style, "code": True} if token.type == "code_inline" else style
            found += _literal(token.content, addresses, own)
    return found or [{"type": "text", "text": " "}]


def _literal(text: str, addresses: Mapping[int, str], style: Mapping[str, bool]) -> Iterator[Element]:
    styled = {"style": dict(style)} if style else {}
    position = 0
    for mark in _MARK.finditer(text):
        if address := addresses.get(int(mark[1]), ""):
            if before := text[position : mark.start()]:
                yield {"type": "text", "text": before, **styled}
            yield {"type": "link", "url": address, "text": mark.group()}
            position = mark.end()
    if rest := text[position:]:
        yield {"type": "text", "text": rest, **styled}


def split_text(text: str, limit: int) -> list[str]:
    """Split the text into pieces of at most `limit` characters, if possible between paragraphs, lines, sentences or words.

    A fenced code block that is split is closed in one piece and reopened in the next.
    """
    pieces: list[str] = []
    opening = ""
    while len(opening) + len(text) > limit:
        room = limit - len(opening) - len("\n```")
        end = _cut(text, room)
        piece, text = opening + text[:end], text[end:].lstrip("\n")
        opening = _open_fence(piece)
        pieces.append(piece.rstrip() + ("\n```" if opening else ""))
    return [*pieces, opening + text] if text.strip() else pieces


def _cut(text: str, room: int) -> int:
    for cut in _CUTS:
        # A cut in the first half would make needlessly short pieces.
        if (end := text.rfind(cut, room // 2, room)) > 0:
            return end + len(cut)
    return room


def _open_fence(piece: str) -> str:
    fences = _FENCE.findall(piece)
    return f"{fences[-1]}\n" if len(fences) % 2 and len(fences[-1]) < 40 else ""
