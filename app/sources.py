"""The Sources page: list, search, add and sync the documents behind the answers."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

import streamlit as st

from app.answer_html import day, nearest_html
from app.boundary import told
from app.document_view import details_of, open_document, show_document
from app.escaping import as_html, as_label
from app.exchange_view import added_html
from app.library import (
    FILE_TYPES,
    UPLOADS,
    add_files,
    origins,
    remove_files,
    synchronise,
    unfinished,
    uploaded,
)
from app.own_files import index_to_add_to, own_copy
from app.progress import bar
from app.resources import Operator
from chatbot import Chatbot, retrieve
from chatbot.reader.scope import has_nothing_near
from ingest import Document, Index, SyncReport, address_of

_PAGE = 20
_FOUND = 10
_NAMED = 50
_KINDS = (("added", "new"), ("changed", "changed"), ("removed", "gone"), ("unchanged", "unchanged"))


def show_sources(operator: Operator, bot: Chatbot) -> None:
    """Show the list, or the one document that the address names."""
    index = bot.index
    documents = listed(index)
    chosen = next((d for d in documents if d.id == st.query_params.get("doc")), None)
    if chosen is not None:
        show_document(index, chosen)
        return
    st.html('<h1 class="ww-title">Sources</h1>' + _health(index, documents))
    if operator.may_add:
        _show_adding(operator)
    query = st.text_input("Search the sources", placeholder="Search the passages", label_visibility="collapsed")
    if query.strip():
        _show_found(index, query)
    else:
        _show_list(index, documents, operator.may_change or bool(own_copy()))
    if operator.may_change:
        _show_unfinished(index, documents)
        _show_syncing(operator, index)


def _health(index: Index, documents: Sequence[Document]) -> str:
    facts = (
        f"{len(documents):,} documents",
        f"{len(index):,} passages",
        f"compared with their sources on {day(index.updated)}, {index.updated[11:16]} UTC",
        *(["searched by words alone"] if index.encoder_name == "none" else []),
    )
    return f'<p class="ww-facts">{as_html(" · ".join(facts))}</p>'


def _show_found(index: Index, query: str) -> None:
    found = () if has_nothing_near(query, index) else retrieve(index, query, limit=_FOUND)
    if found:
        st.html(nearest_html(found, limit=_FOUND))
    else:
        st.caption("No passage has these words or anything near them.")


def _show_list(index: Index, documents: Sequence[Document], may_remove: bool) -> None:
    mine = {f"{UPLOADS}/{name}" for name in uploaded(index.path)} if may_remove else set()
    ordered = sorted(documents, key=lambda document: document.id not in mine)  # visitors' files come first
    pages = -(-len(ordered) // _PAGE)
    page = st.pagination(pages, key="page") if pages > 1 else 1
    for document in ordered[(page - 1) * _PAGE : page * _PAGE]:
        _show_row(index, document, document.id in mine)


def _show_row(index: Index, document: Document, is_removable: bool) -> None:
    passages = _passages_of(address_of(index.path), index.generation, document.id, index)
    details = " · ".join(d for d in (details_of(document), f"{passages} passage{'' if passages == 1 else 's'}") if d)
    with st.container(gap=None, key=f"row-{document.id}"):
        st.button(
            as_label(document.title),
            key=f"open-{document.id}",
            type="tertiary",
            on_click=open_document,
            args=(document.id,),
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(f'<p class="ww-facts">{as_html(details)}</p>', width="content")
            if is_removable:
                name = document.id.partition("/")[2]
                if st.button("Remove", key=f"remove-{document.id}", type="tertiary"):
                    _confirm_removal(index, name)


def _show_unfinished(index: Index, documents: Sequence[Document]) -> None:
    for name, why in unfinished(index.path, {document.id for document in documents}).items():
        with st.container(horizontal=True, vertical_alignment="center", key=f"row-unfinished-{name}"):
            st.html(f'<p class="ww-facts"><strong dir="auto">{as_html(name)}</strong> {as_html(why)}</p>')
            if st.button("Remove", key=f"discard-{name}", type="tertiary"):
                _confirm_removal(index, name)


def _show_adding(operator: Operator) -> None:
    # The key changes after each upload, which empties the box.
    turn = st.session_state.setdefault("adding", 0)
    files = st.file_uploader(
        "Add files",
        accept_multiple_files=True,
        type=list(FILE_TYPES),
        max_upload_size=operator.app.upload_megabytes,
        key=f"files-{turn}",
    )
    st.caption(operator.who_sees)
    if files:
        with told():
            progress = bar(_next_turn)
            given = [(file.name, file.getvalue()) for file in files]
            st.session_state["added"] = add_files(index_to_add_to(operator), given, operator.limits, progress)
            _next_turn()
            st.rerun()
    if added := st.session_state.get("added"):
        st.html(added_html(added))


def _next_turn() -> None:
    st.session_state["adding"] += 1


@st.dialog("Remove this file?")
def _confirm_removal(index: Index, name: str) -> None:
    st.markdown(f"{as_label(name)} goes from the index. Nobody can ask about it any more.")
    if st.button("Remove it", type="primary", on_click=_remove, args=(index, name)):
        st.rerun()


def _remove(index: Index, name: str) -> None:
    with told():
        remove_files(index, [name])
        st.session_state.pop("added", None)
        st.toast("Removed.")


def _show_syncing(operator: Operator, index: Index) -> None:
    """Show the buttons for a dry run and a sync, and the latest report."""
    with st.expander("Up to date?", icon=":material/sync:"), told():
        found = origins(index)
        st.html(f'<p class="ww-facts">Made from {as_html(", ".join(found) or "added files alone")}</p>')
        with st.container(horizontal=True):
            if st.button("Look for changes"):
                st.session_state["report"] = ("would", synchronise(index, dry_run=True))
            if st.button("Sync now", type="primary"):
                st.session_state["report"] = ("did", synchronise(index, progress=bar()))
                st.rerun()
        if report := st.session_state.get("report"):
            st.html(report_html(*report))
        if operator.app.corpus_removable:
            _show_origins(index, found)


def _show_origins(index: Index, found: tuple[str, ...]) -> None:
    for origin in found:
        name = PurePath(origin).name or origin
        st.button(
            f"Take {as_label(name)} out of the index",
            key=f"origin-{origin}",
            on_click=_taken_out,
            args=(index, origin),
            help=as_label(origin),
        )


def _taken_out(index: Index, origin: str) -> None:
    with told():
        st.session_state["report"] = ("did", synchronise(index, without=origin))


def report_html(tense: str, report: SyncReport) -> str:
    """Return the counts, then the documents that changed or failed, up to `_NAMED` of each kind."""
    counts = ", ".join(f"{len(getattr(report, kind))} {word}" for kind, word in _KINDS)
    begin = "A sync would find" if tense == "would" else "The sync found"
    changes = [f"<li>{word}: {as_html(id)}</li>" for kind, word in _KINDS[:3] for id in getattr(report, kind)[:_NAMED]]
    failures = [f'<li class="ww-failed">{as_html(f.id)}: {as_html(f.reason)}</li>' for f in report.failed[:_NAMED]]
    failed = f", {len(report.failed)} not readable" if report.failed else ""
    return f'<p class="ww-facts">{begin} {counts}{failed}.</p><ul class="ww-outline">{"".join(changes + failures)}</ul>'


def listed(index: Index) -> tuple[Document, ...]:
    """Return all documents of the index's generation, sorted by title, without their text."""
    return _listed(address_of(index.path), index.generation, index)


@st.cache_data(show_spinner="Listing the documents", max_entries=4)
def _listed(path: str, generation: int, _index: Index) -> tuple[Document, ...]:
    outlines = (replace(document, text="") for document in _index.documents())
    return tuple(sorted(outlines, key=lambda d: (d.title.casefold(), d.id)))


@st.cache_data(show_spinner=False, max_entries=2_000)
def _passages_of(path: str, generation: int, document_id: str, _index: Index) -> int:
    """Return the number of passages into which a document is split for search."""
    return len(_index.document_chunks(document_id))
