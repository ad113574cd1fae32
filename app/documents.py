"""What the Sources page lists: documents without their texts, so that a large index can be listed, too."""

from dataclasses import replace
from pathlib import Path

import streamlit as st

from app.library import UPLOADS, uploaded
from ingest import Document, Index, address_of


def listed(index: Index) -> tuple[Document, ...]:
    """Every document of this generation, by title, without its text."""
    return _listed(address_of(index.path), index.generation, index)


@st.cache_data(show_spinner="Listing the documents", max_entries=4)
def _listed(path: str, generation: int, _index: Index) -> tuple[Document, ...]:
    outlines = (replace(document, text="") for document in _index.documents())
    return tuple(sorted(outlines, key=lambda d: (d.title.casefold(), d.id)))


def details_of(document: Document) -> str:
    source = document.source
    return " · ".join(d for d in (source.publisher, source.published, source.original) if d)


@st.cache_data(show_spinner=False, max_entries=2_000)
def passages_of(path: str, generation: int, document_id: str, _index: Index) -> int:
    """How many passages a document is searched as."""
    return len(_index.document_chunks(document_id))


def removable(index: Index) -> frozenset[str]:
    """The ids of the documents that visitors added."""
    return frozenset(f"{UPLOADS}/{name}" for name in uploaded(index.path))


def megabytes(index: Index) -> float:
    """What the index takes on disk, added files included; 0 where it is in a database."""
    if not isinstance(index.path, Path):
        return 0.0
    return sum(file.stat().st_size for file in index.path.rglob("*") if file.is_file()) / 1_000_000
