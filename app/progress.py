"""A progress bar that `sync` can call."""

import time
from collections.abc import Callable

import streamlit as st

_TOLD_AFTER = 3.0  # seconds; before that, the time left would be a guess


def bar(on_cancel: Callable[[], None] | None = None) -> Callable[[str, int, int], None]:
    """Return a callback that shows a bar from its first call on, with the time left and a Cancel button.

    Any button press reruns the page, which ends the current run.
    """
    slot, cancel = st.empty(), st.empty()
    begun: dict[str, float] = {}

    def progress(stage: str, done: int, total: int) -> None:
        if not begun:
            cancel.button("Cancel", type="tertiary", on_click=on_cancel)
        passed = time.monotonic() - begun.setdefault(stage, time.monotonic())
        words = progress_words(stage, done, total) + left_words(passed, done, total)
        slot.progress(min(done / total, 1.0) if total else 0.0, words)

    return progress


def left_words(passed: float, done: int, total: int) -> str:
    """Say how long the rest takes at the speed so far; empty while that would be a guess."""
    if passed < _TOLD_AFTER or not 0 < done < total:
        return ""
    left = passed * (total - done) / done
    return f", about {left / 60:.0f} min left" if left >= 90 else f", about {left:.0f} s left"


def progress_words(stage: str, done: int, total: int) -> str:
    """Say what is being done and how far it is, for example "encoding 3 of 24"."""
    return f"{stage} {done} of {total}" if total else f"{stage} {done}" if done else stage
