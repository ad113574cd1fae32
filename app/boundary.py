"""Where a page's errors end up: as one sentence for the visitor, with the details in the log."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import streamlit as st

from app.escaping import as_label
from chatbot import ReaderError
from ingest import CorpusError

UNEXPECTED = "Something went wrong inside wattwise. Try again; if it stays so, ask the operator to look into the log."
logger = logging.getLogger("wattwise")


@contextmanager
def told() -> Iterator[None]:
    """Show an error that the user can fix in its own words, and any other as one fixed sentence."""
    try:
        yield
    except (CorpusError, ReaderError) as error:
        _show_and_offer(str(error))
    except Exception:
        logger.exception("unexpected")
        _show_and_offer(UNEXPECTED)


def _show_and_offer(sentence: str) -> None:
    show_problem(sentence)
    st.button("Try again", key=f"again-{uuid4().hex}", type="tertiary")  # any press reruns the page


def show_problem(sentence: str) -> None:
    st.error(as_label(sentence), icon=":material/error:")
