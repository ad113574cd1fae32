"""The settings of a session, on every page: the model, and who is signed in."""

import streamlit as st

from app.boundary import show_problem
from app.escaping import as_label
from app.resources import Operator, bot_of, feedback_store
from chatbot import Chatbot, FeedbackStore, ReaderError
from chatbot.llm.models import OFFLINE
from ingest import address_of

_MODEL, _DEPTH = "reader", "depth"
# How many passages a language model reads before its first attempt.
_DEPTHS = {"Quick": 12, "Normal": 0, "Thorough": 48}


def show_sidebar(operator: Operator) -> None:
    """Choose the model; a name that is not listed can be typed where the app serves its own machine alone."""
    with st.sidebar:
        st.selectbox(
            "Model",
            operator.models,
            key=_MODEL,
            accept_new_options=operator.may_name_models,
            help="offline needs no model server; provider:model names a language model, for example ollama:qwen3",
        )
        if st.session_state[_MODEL] != OFFLINE:
            # The offline reader always reads all that it finds.
            st.segmented_control("Depth", _DEPTHS, default="Normal", key=_DEPTH, help="How much the model reads")
        if st.user.get("is_logged_in"):
            st.caption(as_label(str(st.user.get("name") or st.user.get("email") or "Signed in")))
            st.button("Sign out", on_click=st.logout, type="tertiary")
        if operator.is_own_user:
            _show_damage(feedback_store(address_of(operator.common.index)))


def _show_damage(store: FeedbackStore | None) -> None:
    """Say which files of votes were set aside; the store says it in the log once, which nobody reads who has only the page."""
    if store and store.damaged:
        st.caption(
            f"Votes were damaged and are kept as {as_label(', '.join(store.damaged))}; new ones go to a new file. "
            "Remove or mend the kept file to end this note."
        )


def opened_bot(operator: Operator) -> Chatbot:
    """The bot for the chosen model. One that cannot be opened is said, and the offline reader goes on.

    Raises CorpusError where there is no index.
    """
    model = st.session_state.get(_MODEL) or operator.common.model
    passages = _DEPTHS.get(st.session_state.get(_DEPTH) or "Normal", 0)
    try:
        return bot_of(operator.common.index, model, passages)
    except ReaderError as error:
        show_problem(f"{error} Until then the offline reader answers.")
        return bot_of(operator.common.index, OFFLINE)
