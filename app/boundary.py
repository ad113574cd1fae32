"""Where errors of a page end: one sentence for the visitor, the details in the log."""

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
    """Show what can be mended in its own words, and anything else in one fixed sentence."""
    try:
        yield
    except (CorpusError, ReaderError) as error:
        _show_and_offer(str(error))
    except Exception:
        logger.exception("unexpected")
        _show_and_offer(UNEXPECTED)


def _show_and_offer(sentence: str) -> None:
    show_problem(sentence)
    st.button("Try again", key=f"again-{uuid4().hex}", type="tertiary")  # any press runs the page anew


def show_problem(sentence: str) -> None:
    st.error(as_label(sentence), icon=":material/error:")
