"""Stream a bot's events while the page can still notice Stop."""

import queue
from collections.abc import Generator, Sequence
from threading import Event as Flag
from threading import Thread

import streamlit as st

from chatbot import Chatbot, Event, Turn

_PATIENCE = 0.1  # seconds


def events(bot: Chatbot, question: str, history: Sequence[Turn]) -> Generator[Event | None, None, None]:
    """Yield the events of an answer, and None for each tenth of a second without one.

    The bot runs in a separate thread: a model may be silent for long, and Streamlit notices Stop only when the page's own
    thread does something. Closing the iterator makes the bot's thread end at its next event.
    """
    found: queue.SimpleQueue[Event | BaseException | None] = queue.SimpleQueue()
    stopped = Flag()

    def read() -> None:
        try:
            for event in bot.stream(question, history, cancelled=stopped.is_set):
                found.put(event)
                if stopped.is_set():
                    return
            found.put(None)
        except BaseException as error:  # any error at all is raised in the waiting thread
            found.put(error)

    Thread(target=read, daemon=True).start()
    try:
        while True:
            try:
                event = found.get(timeout=_PATIENCE)
            except queue.Empty:
                yield None
                continue
            if event is None:
                return
            if isinstance(event, BaseException):
                raise event
            yield event
    finally:
        stopped.set()


def hear_stop() -> bool:
    """Return False; but if the visitor pressed Stop or left, Streamlit ends the run here with its own exception.

    Use it as `cancelled` for work in the page's own thread. Streamlit checks for a stop whenever a page reads its session
    state, and offers no other public way to ask.
    """
    _ = "stopped" in st.session_state
    return False
