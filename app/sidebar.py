"""The sidebar of every page: the visitor's conversations, the model, and who is signed in."""

import streamlit as st

from app.boundary import show_problem, told
from app.conversation import conversations, delete, exported, open_conversation, rename, restart
from app.escaping import as_label
from app.own_files import own_copy
from app.progress import bar
from app.resources import Operator, bot_of, feedback_store, model_settings
from chatbot import Chatbot, FeedbackStore, ReaderError
from chatbot.answer import OFFLINE
from chatbot.history.conversations import Conversation
from chatbot.history.transcript import conversation_as_json, conversation_as_markdown
from chatbot.sizing.sizing import CORPUS
from ingest import sync

_LISTED = 20
_MODEL, _DEPTH = "reader", "depth"
# How many passages a language model reads before its first attempt; 0 keeps the operator's setting.
_DEPTHS = {"Quick": 12, "Normal": 0, "Thorough": 48}


def show_conversations(*, elsewhere: bool = False) -> None:
    """Show the visitor's conversations, the latest first, and the button for a new one.

    `elsewhere` is for pages other than the chat, from which they lead to the chat.
    """
    with st.sidebar, st.container(key="conversations", gap=None), told():
        if st.button("New chat", icon=":material/edit_square:", type="tertiary", on_click=restart, width="stretch"):
            _go(elsewhere)
        found = conversations()
        shown = found[: st.session_state.get("listed", _LISTED)]
        for each in shown:
            _show_conversation(each, elsewhere)
        if len(found) > len(shown) and st.button(f"{len(found) - len(shown)} more", type="tertiary"):
            st.session_state["listed"] = len(found)
            st.rerun()


def _show_conversation(conversation: Conversation, elsewhere: bool) -> None:
    id, title = conversation.id, as_label(conversation.title)
    is_open = st.session_state.get("conversation") == id
    with st.container(horizontal=True, gap=None, key=f"conversation-{'open-' if is_open else ''}{id}"):
        if st.button(title, key=f"open-{id}", type="tertiary", width="stretch", on_click=open_conversation, args=(id,)):
            _go(elsewhere)
        actions = {"Rename": _ask_for_title, "Export": _offer_export, "Delete": _confirm_deletion}
        chosen = st.menu_button(
            "Rename, export or delete", actions, key=f"menu-{id}", icon=":material/more_horiz:", type="tertiary"
        )
        if chosen:
            actions[chosen](conversation)


def _go(elsewhere: bool) -> None:
    if elsewhere:
        st.switch_page("chat.py", query_params=dict(st.query_params))


@st.dialog("Delete this conversation?")
def _confirm_deletion(conversation: Conversation) -> None:
    st.markdown(as_label(conversation.title))
    if st.button("Delete", type="primary"):
        delete(conversation.id)
        st.rerun()


@st.dialog("Rename")
def _ask_for_title(conversation: Conversation) -> None:
    title = st.text_input("Title", conversation.title, max_chars=80)
    if st.button("Rename", type="primary"):
        rename(conversation.id, title)
        st.rerun()


@st.dialog("Export")
def _offer_export(conversation: Conversation) -> None:
    st.markdown(as_label(conversation.title))
    found = exported(conversation.id)
    with st.container(horizontal=True):
        for label, written, name, kind in (
            ("Markdown", conversation_as_markdown, "wattwise.md", "text/markdown"),
            ("JSON", conversation_as_json, "wattwise.json", "application/json"),
        ):
            st.download_button(label, written(found), name, kind, on_click="ignore")


def show_sidebar(operator: Operator) -> None:
    """Show the choice of the model and who is signed in.

    A model that is not listed can be typed only by a visitor at this machine.
    """
    with st.sidebar:
        st.selectbox(
            "Language model",
            operator.models,
            key=_MODEL,
            accept_new_options=operator.may_name_models,
            help="provider:model names a language model, for example ollama:qwen3",
        )
        if st.session_state[_MODEL] == OFFLINE:
            st.caption("Offline: found and quoted on this machine, no language model writes.")
        if st.session_state[_MODEL] != OFFLINE:
            # No depth for the offline reader: it always reads everything that it finds.
            st.segmented_control("Depth", _DEPTHS, default="Normal", key=_DEPTH, help="How much the model reads")
        if st.user.get("is_logged_in"):
            st.caption(as_label(str(st.user.get("name") or st.user.get("email") or "Signed in")))
            st.button("Sign out", on_click=st.logout, type="tertiary")
        if operator.is_own_user:
            _show_damage(feedback_store(operator.common.index))


def _show_damage(store: FeedbackStore | None) -> None:
    """Say which damaged vote files were set aside. The store logs it once, but users of the page do not see the log."""
    if store and store.damaged:
        st.caption(
            f"Votes were damaged and are kept as {as_label(', '.join(store.damaged))}; new ones go to a new file. "
            "Remove or mend the kept file to end this note."
        )


def require_index(operator: Operator) -> None:
    """If there is no index yet, offer to build it and end the run.

    Visitors who may not build it get the error of whatever opens the index later.
    """
    folder = operator.common.index
    if not operator.may_change or (folder / "store.sqlite").exists() or not CORPUS.is_dir():
        return
    with st.container(key="landing"):
        st.html(
            '<h1 class="ww-title">Welcome to wattwise</h1><p class="ww-subtitle">There is no index yet. Build it from the '
            "documents that wattwise brings; that takes a minute or two, once, and needs no network.</p>"
        )
        if st.button("Build the index", type="primary", icon=":material/build:"):
            with told():
                sync([CORPUS], folder, progress=bar())
                st.rerun()
        st.caption(
            as_label(f"It goes to {folder}. For documents of your own run: wattwise ingest FOLDER --index {folder}")
        )
    st.stop()


def opened_bot(operator: Operator) -> Chatbot:
    """Return the bot for the chosen model. If it cannot be opened, show why and return the offline reader.

    Raises CorpusError if there is no index.
    """
    model = st.session_state.get(_MODEL) or operator.common.model
    passages = _DEPTHS.get(st.session_state.get(_DEPTH) or "Normal", 0)
    try:
        if copy := own_copy():
            return copy.bot(model, model_settings(model, passages))
        return bot_of(operator.common.index, model, passages)
    except ReaderError as error:
        show_problem(f"{error} Until then the offline reader answers.")
        return bot_of(operator.common.index, OFFLINE)
