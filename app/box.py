"""The question box, with files where visitors may add them."""

import streamlit as st

from app.conversation import submit
from app.library import FILE_TYPES
from app.resources import Operator
from chatbot.characters import LONGEST_QUESTION

_KEY = "box"


def question_box(operator: Operator) -> None:
    """Show the box; what is sent waits for the next run."""
    st.chat_input(
        "Ask about hardware for training or serving, or paste an exam question",
        key=_KEY,
        max_chars=LONGEST_QUESTION,
        accept_file="multiple" if operator.may_change else False,
        file_type=list(FILE_TYPES) if operator.may_change else None,
        max_upload_size=operator.app.upload_megabytes,
        submit_mode="stop",
        on_submit=_submitted,
    )


def _submitted() -> None:
    sent = st.session_state[_KEY]
    if isinstance(sent, str):
        submit(sent)
    elif sent is not None:
        submit(sent.text or "", [(file.name, file.getvalue()) for file in sent.files])
