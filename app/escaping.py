"""Text of documents and of users as text: nothing in it becomes HTML, Markdown, a formula or an icon."""

import html
import re

from chatbot import shown

# What Streamlit's Markdown gives a meaning to; a colon opens emoji, icons and colours, arrows and dashes become signs.
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+.!|~$<>:&=^-])")
_MARK = re.compile(r"\[(\d+)\]")


def as_html(text: str) -> str:
    """Text for the inside of an HTML element or of a quoted attribute."""
    return html.escape(shown(text), quote=True)


def as_label(text: str) -> str:
    """Text for a label or a title, which Streamlit reads as Markdown: on one line, every sign with a meaning escaped."""
    return _MARKDOWN.sub(r"\\\1", " ".join(shown(text).split()))


def with_links(text: str, numbers: frozenset[int], anchor: str) -> str:
    """Text as HTML whose marks `[n]` lead to the source cards of an answer; other brackets stay text."""

    def link(match: re.Match[str]) -> str:
        number = int(match[1])
        if number not in numbers:
            return match[0]
        target = f"{anchor}-{number}"
        return f'<a class="ww-mark" href="#{target}" aria-label="Source {number}">{number}</a>'

    return _MARK.sub(link, as_html(text))
