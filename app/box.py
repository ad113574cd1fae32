"""The question box, with file upload where visitors may add files. Problems with a question are shown above it."""

import streamlit as st

from app.conversation import Exchange, exchanges, submit
from app.escaping import as_html
from app.library import FILE_TYPES
from app.resources import Operator
from chatbot.language.characters import LONGEST_QUESTION

_KEY, _NOTE, _EDITING = "box", "box-note", "editing"


def question_box(operator: Operator) -> None:
    """Show the box; a submission is handled in the next run of the script."""
    if note := st.session_state.pop(_NOTE, None):
        said, st.session_state[_KEY] = note
        st.html(f'<p class="ww-failed ww-note" role="alert">{as_html(said)}</p>')
    if any(exchange.id == st.session_state.get(_EDITING) for exchange in exchanges()):
        with st.container(horizontal=True, vertical_alignment="center", key="editing"):
            st.html('<p class="ww-facts">Sending replaces the question and what came after it.</p>', width="content")
            st.button("Cancel", type="tertiary", on_click=_cancel)
    if operator.may_add:
        # Streamlit only colours a rejected file red, and never says who sees a file: the style sheet shows both texts.
        rejected = f"Not added: {', '.join(FILE_TYPES)}, up to {operator.app.upload_megabytes} MB, can be read."
        st.html(f"<style>.stChatInput {{ --ww-rejected: '{rejected}'; --ww-seen: '{operator.who_sees}' }}</style>")
    st.chat_input(
        "Ask about hardware for training or serving, or paste an exam question",
        key=_KEY,
        accept_file="multiple" if operator.may_add else False,
        file_type=list(FILE_TYPES) if operator.may_add else None,
        max_upload_size=operator.app.upload_megabytes,
        submit_mode="stop",
        on_submit=_submitted,
    )


def edit(exchange: Exchange) -> None:
    """Put a question back into the box for editing."""
    st.session_state.update({_KEY: exchange.question, _EDITING: exchange.id})


def _cancel() -> None:
    st.session_state.update({_KEY: "", _EDITING: ""})


def _submitted() -> None:
    sent = st.session_state[_KEY]
    text, files = (sent, ()) if isinstance(sent, str) else (sent.text or "", sent.files) if sent else ("", ())
    if len(text) > LONGEST_QUESTION:
        too_long = f"That is {len(text):,} characters; a question has at most {LONGEST_QUESTION:,}. Shorten it and send it again."
        st.session_state[_NOTE] = (too_long, text)
        return
    submit(text, [(file.name, file.getvalue()) for file in files], st.session_state.pop(_EDITING, ""))
