"""What a language model wrote, as HTML: headings, lists, tables and emphasis, and nothing that can be clicked but our marks."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from app.escaping import with_links

# Of Markdown no links, pictures, HTML or entities: an answer's addresses are in its source cards.
_RULES = ("heading", "list", "table", "emphasis", "backticks", "fence", "blockquote", "hr", "newline", "escape")
# A page has headings above those of an answer.
_DEEPER = 2


def markdown_html(text: str, numbers: frozenset[int], anchor: str) -> str:
    """The text as HTML whose marks `[n]` lead to the source cards; the first paragraph leads."""
    html: str = _parser().render(text, {"numbers": numbers, "anchor": anchor})
    return html.replace("<p>", '<p class="ww-lead">', 1) if html.startswith("<p>") else html


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("zero", {"breaks": True}).enable(list(_RULES))
    for name, rule in (("text", _text), ("code_inline", _code), ("table_open", _table), ("table_close", _table_end)):
        parser.add_render_rule(name, rule)
    parser.add_render_rule("heading_open", _heading)
    parser.add_render_rule("heading_close", _heading)
    return parser


def _text(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return with_links(tokens[at].content, env["numbers"], env["anchor"])


def _code(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return f"<code>{with_links(tokens[at].content, frozenset(), '')}</code>"


def _heading(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    token = tokens[at]
    return f"<{'/' if token.nesting < 0 else ''}h{min(6, int(token.tag[1]) + _DEEPER)}>"


def _table(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return '<div class="ww-scroll"><table class="ww-table">'


def _table_end(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return "</table></div>"
