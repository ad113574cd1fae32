"""Escape text from documents and users: nothing in it becomes HTML, Markdown, a formula or an icon."""

import html
import re
from collections.abc import Mapping

from chatbot import shown

# Special characters of Streamlit's Markdown: colons open emoji, icons and colours; arrows and dashes become symbols.
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+.!|~$<>:&=^-])")
_MARK = re.compile(r"\[(\d+)\]")
_LONGEST_QUOTE = 300
_ROW = re.compile(r"\s\|(?:\s*\|)*\s")


def as_html(text: str) -> str:
    """Escape text for the inside of an HTML element or of a quoted attribute."""
    return html.escape(shown(text), quote=True)


def as_label(text: str) -> str:
    """Escape text for a label or title, which Streamlit reads as Markdown, and put it on one line."""
    return _MARKDOWN.sub(r"\\\1", " ".join(shown(text).split()))


def with_links(text: str, quotes: Mapping[int, str], anchor: str) -> str:
    """Escape text, and link its marks `[n]` to an answer's sources, with their quotes. Other brackets stay text."""
    return _MARK.sub(lambda m: mark_html(int(m[1]), quotes, anchor) if int(m[1]) in quotes else m[0], as_html(text))


def mark_html(number: int, quotes: Mapping[int, str], anchor: str) -> str:
    """Return the mark of a source, which shows its quote on hover."""
    # Show a table row as its cells, separated by dots.
    quote = " ".join(_ROW.sub(" · ", quotes.get(number, "").strip().strip("|").replace("**", "")).split())
    shown_quote = quote if len(quote) <= _LONGEST_QUOTE else f"{quote[:_LONGEST_QUOTE]}…"
    return (
        f'<a class="ww-mark" href="#{anchor}-{number}" aria-label="Source {number}" '
        f'data-quote="{as_html(shown_quote)}">{number}</a>'
    )
