"""Markdown of language models and of documents as HTML: headings, lists, tables and emphasis, and nothing that can be clicked but our marks."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from app.escaping import as_html, with_links

# Of Markdown no links, pictures, HTML or entities: an answer's addresses are in its source cards.
_RULES = ("heading", "list", "table", "emphasis", "backticks", "fence", "blockquote", "hr", "newline", "escape")
# A page has headings above those of an answer.
_DEEPER = 2
# Two letters of Old South Arabian stand where a quote begins and ends while Markdown is read: it takes them for letters.
_OPEN, _CLOSE = "\U00010a60", "\U00010a61"
_TAGS = re.compile(f"(<[^>]*>|[{_OPEN}{_CLOSE}])")
# What Markdown reads only at the edge of a block, a cell or a word stays outside of the quote.
_BEFORE = re.compile(r"(?:[\s>#|*_`-]|\d+[.)]\s|\+\s)*")
_AFTER = re.compile(r"[\s|*_`]*\Z")
_LINK = re.compile(rf"!?\[([^\]\n]*)\]\([^)\n{_OPEN}{_CLOSE}]*\)")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def markdown_html(text: str, quotes: Mapping[int, str], anchor: str) -> str:
    """The text as HTML whose marks `[n]` lead to the sources; the first paragraph leads."""
    html: str = _parser().render(text, {"quotes": quotes, "anchor": anchor})
    return html.replace("<p>", '<p class="ww-lead">', 1) if html.startswith("<p>") else html


def document_html(text: str, spans: Sequence[tuple[int, int, str]] = (), *, sections: bool = False) -> str:
    """A document or a part of it, with what lies between the places of `spans` marked under an id each.

    The spans stand in order and do not overlap. Front matter is left out, links are their words. With `sections` each
    heading is the place that `section_id` names.
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
    """The place of a section on the page of its document."""
    return "ww-at-" + re.sub(rf"[\W_{_OPEN}{_CLOSE}]+", "-", heading.casefold()).strip("-")


def _plain(text: str) -> str:
    return text.replace(_OPEN, " ").replace(_CLOSE, " ")


def _marked(html: str, identities: Sequence[str]) -> str:
    """Each stretch of text within a quote in a mark of its own, as a quote may begin in one cell and end in another."""
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
    """A method that is named as a kind of token renders it."""

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
