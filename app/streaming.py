"""A bot's events while the page stays able to hear Stop."""

import queue
from collections.abc import Generator, Sequence
from threading import Event as Flag
from threading import Thread

import streamlit as st

from chatbot import Chatbot, Event, Turn

_PATIENCE = 0.1  # seconds


def events(bot: Chatbot, question: str, history: Sequence[Turn]) -> Generator[Event | None, None, None]:
    """The events of an answer, and None each tenth of a second without one.

    They come from a thread of their own: a model may be silent for long, and Stop is heard only where the page's own
    thread does something. Closing the iterator lets that thread end at its next event.
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
        except BaseException as error:  # it belongs to the thread that waits, whatever it is
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
    """False; but where the visitor has pressed Stop or has left, Streamlit ends the run right here by its own exception.

    For work in the page's own thread that asks from time to time whether it is cancelled. Streamlit looks for a stop
    wherever a page reads its session, and says it in no other public way.
    """
    _ = "stopped" in st.session_state
    return False
