"""Render the Markdown of language models and documents as HTML: headings, lists, tables and emphasis.

Nothing in it can be clicked except our citation marks.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from app.escaping import as_html, with_links

# No links, images, HTML or entities: an answer's addresses are in its source cards.
_RULES = ("heading", "list", "table", "emphasis", "backticks", "fence", "blockquote", "hr", "newline", "escape")
# Levels by which headings are lowered: a page has headings above those of an answer.
_DEEPER = 2
# Two Old South Arabian letters mark the start and end of a quote for the Markdown parser, which treats them as letters.
_OPEN, _CLOSE = "\U00010a60", "\U00010a61"
_TAGS = re.compile(f"(<[^>]*>|[{_OPEN}{_CLOSE}])")
# Syntax that Markdown recognises only at the edge of a block, cell or word must stay outside the quote.
_BEFORE = re.compile(r"(?:[\s>#|*_`-]|\d+[.)]\s|\+\s)*")
_AFTER = re.compile(r"[\s|*_`]*\Z")
_LINK = re.compile(rf"!?\[([^\]\n]*)\]\([^)\n{_OPEN}{_CLOSE}]*\)")
# A piece of a document may begin with a rule: only a key below it makes it front matter.
_FRONT_MATTER = re.compile(r"\A---\n(?=[\w-]+:).*?\n---\n", re.DOTALL)


def markdown_html(text: str, quotes: Mapping[int, str], anchor: str) -> str:
    """Render the text with its marks `[n]` linked to the sources; a paragraph at the start is styled as the lead."""
    html: str = _parser().render(text, {"quotes": quotes, "anchor": anchor})
    return html.replace("<p>", '<p class="ww-lead">', 1) if html.startswith("<p>") else html


def document_html(text: str, spans: Sequence[tuple[int, int, str]] = (), *, sections: bool = False) -> str:
    """Render a document or a part of it, with each of `spans` (start, end, HTML id) highlighted.

    The spans are in order and do not overlap. Front matter is left out, and links are reduced to their text. With
    `sections`, each heading has the id from `section_id`.
    """
    pieces, identities, at = [], [], 0
    for start, end, identity in spans:
        start += len(_BEFORE.match(text[start:end]).group())  # type: ignore[union-attr]
        end -= len(_AFTER.search(text[start:end]).group()) if start < end else 0  # type: ignore[union-attr]
        if at <= start < end:
            pieces += [_plain(text[at:start]), _OPEN, _plain(text[start:end]), _CLOSE]
            identities.append(identity)
            at = end
    source = _FRONT_MATTER.sub("", "".join(pieces) + _plain(text[at:]))
    rendered = _parser().render(_LINK.sub(r"\1", source), {"quotes": {}, "anchor": "", "sections": sections})
    return _marked(rendered, identities)


def section_id(heading: str) -> str:
    """Return the HTML id of a section on the page of its document."""
    return "ww-at-" + re.sub(rf"[\W_{_OPEN}{_CLOSE}]+", "-", heading.casefold()).strip("-")


def _plain(text: str) -> str:
    return text.replace(_OPEN, " ").replace(_CLOSE, " ")


def _marked(html: str, identities: Sequence[str]) -> str:
    """Wrap each stretch of text within a quote in its own <mark>: a quote may begin in one cell and end in another."""
    found, inside, named, left = [], False, "", iter(identities)
    for piece in _TAGS.split(html):
        if piece == _OPEN:
            inside, named = True, f' id="{as_html(next(left, ""))}"'
        elif piece == _CLOSE:
            inside = False
        elif inside and piece.strip() and not piece.startswith("<"):
            found.append(f"<mark{named}>{piece}</mark>")
            named = ""
        else:
            found.append(piece)
    return "".join(found)


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("zero", {"breaks": True}, renderer_cls=_Renderer).enable(list(_RULES))


class _Renderer(RendererHTML):
    """Each method renders the kind of token that it is named after."""

    def text(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return with_links(tokens[idx].content, env["quotes"], env["anchor"])

    def code_inline(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"<code>{as_html(tokens[idx].content)}</code>"

    def heading_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        place = f' id="{as_html(section_id(tokens[idx + 1].content))}"' if env.get("sections") else ""
        return f"<h{_level(tokens[idx])}{place}>"

    def heading_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"</h{_level(tokens[idx])}>"

    def table_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return '<div class="ww-scroll" tabindex="0"><table class="ww-table">'

    def table_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return "</table></div>"


def _level(heading: Token) -> int:
    return min(6, int(heading.tag[1]) + _DEEPER)
