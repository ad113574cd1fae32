"""A progress bar that `sync` can call."""

from collections.abc import Callable

import streamlit as st


def bar() -> Callable[[str, int, int], None]:
    """Shown from the first call on."""
    slot = st.empty()

    def progress(stage: str, done: int, total: int) -> None:
        slot.progress(min(done / total, 1.0) if total else 0.0, progress_words(stage, done, total))

    return progress


def progress_words(stage: str, done: int, total: int) -> str:
    """What is being done and how far it is, for example "encoding 3 of 24"."""
    return f"{stage} {done} of {total}" if total else f"{stage} {done}" if done else stage
