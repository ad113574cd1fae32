"""The Sources page: what the answers rest on, searching it, adding to it, bringing it up to date."""

from collections.abc import Sequence

import streamlit as st

from app.answer_html import day, nearest_html
from app.boundary import told
from app.document_view import label_of, open_document, show_document
from app.documents import details_of, listed, megabytes, passages_of, removable
from app.escaping import as_html, as_label
from app.exchange_view import added_html
from app.library import FILE_TYPES, add_files, remove_files, unfinished
from app.own_files import index_to_add_to, own_copy
from app.progress import bar
from app.resources import Operator
from app.syncing_view import show_syncing
from chatbot import Chatbot, retrieve
from chatbot.scope import has_nothing_near
from ingest import Document, Index, address_of

_PAGE = 20
_FOUND = 10


def show_sources(operator: Operator, bot: Chatbot) -> None:
    """The list, or the one document that the address names."""
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
        _show_list(index, documents, removable(index) if operator.may_change or own_copy() else frozenset())
    if operator.may_change:
        _show_unfinished(index, documents)
        show_syncing(operator, index)


def _health(index: Index, documents: Sequence[Document]) -> str:
    encoder = "words alone" if index.encoder_name == "none" else index.encoder_name
    facts = (
        f"{len(documents):,} documents",
        f"{len(index):,} passages",
        f"{size:,.1f} MB" if (size := megabytes(index)) else "in PostgreSQL",
        encoder,
        f"compared with its sources on {day(index.updated)}, {index.updated[11:16]} UTC",
        f"generation {index.generation}",
    )
    return f'<p class="ww-facts">{as_html(" · ".join(facts))}</p>'


def _show_found(index: Index, query: str) -> None:
    found = () if has_nothing_near(query, index) else retrieve(index, query, limit=_FOUND)
    if found:
        st.html(nearest_html(found, limit=_FOUND))
    else:
        st.caption("No passage has these words or anything near them.")


def _show_list(index: Index, documents: Sequence[Document], mine: frozenset[str]) -> None:
    ordered = sorted(documents, key=lambda document: document.id not in mine)  # what visitors added comes first
    pages = -(-len(ordered) // _PAGE)
    page = st.pagination(pages, key="page") if pages > 1 else 1
    for document in ordered[(page - 1) * _PAGE : page * _PAGE]:
        _show_row(index, document, document.id in mine)


def _show_row(index: Index, document: Document, is_removable: bool) -> None:
    passages = passages_of(address_of(index.path), index.generation, document.id, index)
    details = " · ".join(d for d in (details_of(document), f"{passages} passage{'' if passages == 1 else 's'}") if d)
    with st.container(gap=None, key=f"row-{document.id}"):
        st.button(
            label_of(document), key=f"open-{document.id}", type="tertiary", on_click=open_document, args=(document.id,)
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
    # The key counts up with each upload, which empties the box.
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
