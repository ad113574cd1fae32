"""Text of documents and of users as text: nothing in it becomes HTML, Markdown, a formula or an icon."""

import html
import re
from collections.abc import Mapping

from chatbot import shown

# What Streamlit's Markdown gives a meaning to; a colon opens emoji, icons and colours, arrows and dashes become signs.
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+.!|~$<>:&=^-])")
_MARK = re.compile(r"\[(\d+)\]")
_LONGEST_QUOTE = 300
_ROW = re.compile(r"\s\|(?:\s*\|)*\s")


def as_html(text: str) -> str:
    """Text for the inside of an HTML element or of a quoted attribute."""
    return html.escape(shown(text), quote=True)


def as_label(text: str) -> str:
    """Text for a label or a title, which Streamlit reads as Markdown: on one line, every sign with a meaning escaped."""
    return _MARKDOWN.sub(r"\\\1", " ".join(shown(text).split()))


def with_links(text: str, quotes: Mapping[int, str], anchor: str) -> str:
    """Text as HTML whose marks `[n]` lead to the sources of an answer and show their quotes; other brackets stay text."""
    return _MARK.sub(lambda m: mark_html(int(m[1]), quotes, anchor) if int(m[1]) in quotes else m[0], as_html(text))


def mark_html(number: int, quotes: Mapping[int, str], anchor: str) -> str:
    """The mark of a source, with its quote for whoever points at it."""
    # A row of a table is read by its cells.
    quote = " ".join(_ROW.sub(" · ", quotes.get(number, "").strip().strip("|").replace("**", "")).split())
    shown_quote = quote if len(quote) <= _LONGEST_QUOTE else f"{quote[:_LONGEST_QUOTE]}…"
    return (
        f'<a class="ww-mark" href="#{anchor}-{number}" aria-label="Source {number}" '
        f'data-quote="{as_html(shown_quote)}">{number}</a>'
    )
