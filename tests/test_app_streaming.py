"""Events that are read in a separate thread are the bot's, in the same order, errors included."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from app.streaming import events
from chatbot import Chatbot, ReaderError, Turn
from tests.app_server import ROOT, connected, elements, free_port, is_healthy, send

QUESTION = "Is Trainium for inference?"


def test_the_events_are_the_bots_own(bot: Chatbot) -> None:
    found = [event for event in events(bot, QUESTION, ()) if event is not None]
    expected = list(bot.stream(QUESTION))
    assert [(e.kind, e.text) for e in found] == [(e.kind, e.text) for e in expected]
    assert found[-1].answer is not None


def test_the_history_is_handed_on(bot: Chatbot) -> None:
    turn = Turn("How many vCPUs has trn1.2xlarge?", bot.ask("How many vCPUs has trn1.2xlarge?").text)
    *_, last = [event for event in events(bot, "and the bigger one?", [turn]) if event is not None]
    assert last.answer is not None
    assert last.answer.text == bot.ask("and the bigger one?", [turn]).text


def test_an_error_reaches_whoever_waits(bot: Chatbot) -> None:
    with pytest.raises(ReaderError, match="The question is empty"):
        list(events(bot, " ", ()))


def test_a_reader_that_is_silent_leaves_the_page_awake(bot: Chatbot) -> None:
    held = threading.Event()

    class Slow(Chatbot):
        def stream(self, question, history=(), cancelled=None):  # type: ignore[no-untyped-def]
            held.wait(60)
            yield from super().stream(question, history)

    stream = events(Slow(bot.index), QUESTION, ())
    assert next(stream) is None
    held.set()
    assert [e.kind for e in stream if e is not None][-1] == "answer"


def test_a_stopped_stream_ends_its_thread(bot: Chatbot) -> None:
    before = threading.active_count()
    stream = events(bot, QUESTION, ())
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    for _ in range(100):
        if threading.active_count() <= before:
            break
        time.sleep(0.05)
    assert threading.active_count() <= before


PAGE = """
import sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
import streamlit as st
from app.streaming import hear_stop

st.text("working")
try:
    while not hear_stop():
        time.sleep(0.02)
finally:
    Path({ended!r}).touch()
"""


@pytest.mark.evaluation
@pytest.mark.parametrize("way", ["stop", pytest.param("leave", marks=pytest.mark.evaluation)])
def test_work_in_the_pages_own_thread_ends_when_the_visitor_stops_it_or_leaves(way: str, tmp_path: Path) -> None:
    ended, port = tmp_path / "ended", free_port()
    (tmp_path / "page.py").write_text(PAGE.format(root=str(ROOT), ended=str(ended)))
    arguments = [sys.executable, "-m", "streamlit", "run", "page.py", f"--server.port={port}", "--server.headless=true"]
    process = subprocess.Popen(arguments, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert is_healthy(port)
        with connected(port) as page:
            send(page)
            assert next(elements(page)).WhichOneof("type") == "text"
            assert not ended.exists()
            if way == "stop":
                send(page, BackMsg(stop_script=True))
                assert list(elements(page)) == []
        for _ in range(100):
            if ended.exists():
                break
            time.sleep(0.05)
        assert ended.exists()
    finally:
        process.terminate()
        process.wait(20)
