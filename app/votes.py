"""Thumbs and a comment under an answer, kept in the store that every surface shares."""

import streamlit as st

from app.boundary import told
from app.conversation import Exchange, keep, settle, visitor
from chatbot import Feedback, FeedbackStore

_LONGEST_COMMENT = 2_000


def show_votes(exchange: Exchange, store: FeedbackStore, generation: int) -> None:
    """The thumbs, closed once one was chosen; then, once, a line for a comment."""
    key = f"vote-{exchange.id}"
    st.feedback(
        "thumbs",
        key=key,
        default=None if exchange.voted is None else int(exchange.voted),
        disabled=exchange.voted is not None,
        on_change=_voted,
        args=(exchange, store, generation, key),
    )
    if exchange.voted is not None:
        # The thumbs of Streamlit tell the chosen one by a shade alone.
        st.html(
            f'<p class="ww-facts">{"Marked helpful" if exchange.voted else "Marked not helpful"}</p>', width="content"
        )
    if exchange.voted is not None and not exchange.commented:
        words = f"comment-{exchange.id}"
        st.text_input(
            "Comment",
            key=words,
            placeholder="What was good?" if exchange.voted else "What was wrong?",
            label_visibility="collapsed",
            max_chars=_LONGEST_COMMENT,
            on_change=_commented,
            args=(exchange, store, generation, words),
            width=320,
        )
    elif exchange.commented:
        st.caption("Thank you.")


def _voted(exchange: Exchange, store: FeedbackStore, generation: int, key: str) -> None:
    vote = st.session_state[key]
    if vote is not None:
        _keep(settle(exchange, voted=bool(vote)), store, generation, "")


def _commented(exchange: Exchange, store: FeedbackStore, generation: int, key: str) -> None:
    if comment := st.session_state[key].strip():
        _keep(settle(exchange, commented=True), store, generation, comment)


def _keep(exchange: Exchange, store: FeedbackStore, generation: int, comment: str) -> None:
    answer = exchange.answer
    if answer is None:
        return
    keep()
    helpful, question, text, model = bool(exchange.voted), answer.question, answer.text, answer.model
    with told():
        store.add(Feedback("app", exchange.id, visitor(), helpful, comment, question, text, model, generation))
