"""One document: its metadata, its sections and its text, with search hits marked."""

import re

import streamlit as st

from app.escaping import as_html
from app.markdown_html import document_html, section_id
from chatbot.history.conversations import header_above
from ingest import Chunk, Document, Index

_SHOWN = 60_000
_MOST_HITS = 500


def show_document(index: Index, document: Document) -> None:
    """Show the document; a very long one in pieces, from near the first hit of the search or of the address's quote."""
    st.button("All sources", icon=":material/arrow_back:", on_click=_close, type="tertiary")
    st.html(f'<h1 class="ww-title" dir="auto">{as_html(document.title)}</h1>')
    chunks = index.document_chunks(document.id)
    if not chunks:
        st.info("The document is no longer in the index.")
        return
    st.html(_facts(chunks[0].document))
    words = st.text_input("Search in the document", placeholder="Search in this document", label_visibility="collapsed")
    text = chunks[0].document.text
    found = _found(text, words or st.query_params.get("quote", ""))
    if words.strip():
        st.html(f'<p class="ww-facts" role="status">{_count(len(found), words)}</p>')
    else:
        _show_outline(chunks)
    shown = st.session_state.get("document-shown", _SHOWN)
    begin = _begin(text, found)
    if begin:
        st.html(f'<p class="ww-facts">From character {begin:,} on</p>')
    st.html(text_html(text, begin, begin + shown, found))
    if found:
        _scroll(found[0])
    if len(text) > begin + shown and st.button("Show more", type="tertiary"):
        st.session_state["document-shown"] = shown + _SHOWN
        st.rerun()


def open_document(document_id: str) -> None:
    st.query_params["doc"] = document_id
    st.query_params.pop("quote", None)
    st.session_state.pop("document-shown", None)


def _close() -> None:
    st.query_params.pop("doc", None)
    st.query_params.pop("quote", None)


def _facts(document: Document) -> str:
    parts = [as_html(details)] if (details := details_of(document)) else []
    parts += [f"{len(document.text):,} characters", as_html(document.id)]
    if (url := document.source.url or "").startswith(("https://", "http://")):
        parts.append(f'<a href="{as_html(url)}" target="_blank" rel="noopener noreferrer">Original</a>')
    return f'<p class="ww-facts">{" · ".join(parts)}</p>'


def _show_outline(chunks: list[Chunk]) -> None:
    names = dict.fromkeys(chunk.headings for chunk in chunks)
    lines = "".join(
        f'<li style="margin-left:{max(len(path) - 1, 0)}rem" dir="auto"><a href="#{as_html(section_id(path[-1]))}">{as_html(path[-1])}</a></li>'
        for path in names
        if path
    )
    with st.expander(f"{len(chunks)} passages in {len(names)} sections"):
        st.html(f'<ul class="ww-outline">{lines}</ul>')


def _found(text: str, words: str) -> list[tuple[int, int]]:
    """Find the words in the text, ignoring case and the white space between them."""
    if not (parts := words.split()):
        return []
    pattern = re.compile(r"\s+".join(map(re.escape, parts)), re.IGNORECASE)
    return [match.span() for _, match in zip(range(_MOST_HITS), pattern.finditer(text), strict=False)]


def _count(hits: int, words: str) -> str:
    told = "Nowhere" if not hits else "Once" if hits == 1 else f"{hits} times" if hits < _MOST_HITS else "Very often"
    return f"{told} in this document: {as_html(' '.join(words.split()))}"


def _begin(text: str, found: list[tuple[int, int]]) -> int:
    """Return where the shown piece begins: at the document's start, or some lines before a first hit farther down.

    It stays the same when more is shown.
    """
    if not found or found[0][1] < _SHOWN:
        return 0
    return text.rfind("\n", 0, max(0, found[0][0] - 2_000)) + 1


def text_html(text: str, begin: int, end: int, found: list[tuple[int, int]]) -> str:
    """Render a piece of a document's text; if it begins within a table, the table's header is repeated."""
    header = header_above(text, begin)
    by = begin - len(header)
    end = line if (line := text.find("\n", end)) >= 0 else len(text)
    spans = [(a - by, b - by, f"ww-hit-{a}") for a, b in found if begin <= a and b <= end]
    return f'<div class="ww-text" dir="auto">{document_html(header + text[begin:end], spans, sections=True)}</div>'


def _scroll(hit: tuple[int, int]) -> None:
    # The script is constant except for a number.
    scroll = f"document.getElementById('ww-hit-{hit[0]}')?.scrollIntoView({{block: 'center'}})"
    st.html(
        f"<script>setTimeout(() => {scroll}, 50); setTimeout(() => {scroll}, 400);</script>",
        unsafe_allow_javascript=True,
    )


def details_of(document: Document) -> str:
    source = document.source
    return " · ".join(d for d in (source.publisher, source.published, source.original) if d)
