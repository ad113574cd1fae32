"""Deadlines: a question ends with a one-sentence error when its time is up or nobody waits for the answer."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot import Cancelled, Chatbot, ReaderError
from chatbot.deadline import Limits, OutOfTime, apart, begin, check, sleep
from chatbot.llm.scripted import ScriptedChatModel
from ingest import sync
from tests.marks import one_of

QUESTION = "What decides whether the L4, the H100 or Trainium is the better choice when memory and software both matter?"


class Visitor:
    """Leaves after `looks` checks."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def has_left(self) -> bool:
        self.looks -= 1
        return self.looks < 0


def test_without_a_deadline_nothing_ends() -> None:
    check()


def test_a_wait_ends_soon_after_nobody_waits_for_the_answer() -> None:
    def steps() -> Iterator[None]:
        begin(60, Visitor(2).has_left)
        yield sleep(60)

    began = time.monotonic()
    with pytest.raises(Cancelled):
        next(apart(steps()))
    assert time.monotonic() - began < 30


def test_a_deadline_that_begins_in_a_stream_binds_nobody_else() -> None:
    def steps() -> Iterator[int]:
        begin(60, lambda: False)
        yield 1
        begin(1e-9)
        yield 2
        check()

    found = apart(steps())
    assert [next(found), next(found)] == [1, 2]
    check()
    with pytest.raises(OutOfTime):
        next(found)


def test_the_time_of_another_thread_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    def steps() -> Iterator[str]:
        begin(5)
        yield "begun here"
        check()
        yield "gone on there"
        worked(6)
        check()

    spent = 0.0

    def worked(seconds: float) -> None:
        nonlocal spent
        spent += seconds

    monkeypatch.setattr(time, "thread_time", lambda: spent)
    found = apart(steps())
    assert next(found) == "begun here"
    worked(1_000)  # spent by the thread before it takes the next step
    assert next(found) == "gone on there"
    with pytest.raises(OutOfTime):
        next(found)


def test_a_question_past_its_deadline_ends_with_a_remedy(bot: Chatbot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTWISE_DEADLINE", "0.000001")
    with pytest.raises(ReaderError) as caught:
        Chatbot(bot.index).ask(QUESTION)
    assert str(caught.value) == (
        "The question takes longer than 1e-06 seconds. Ask something shorter, or set WATTWISE_DEADLINE to more."
    )


def test_a_deadline_is_more_than_nothing() -> None:
    with pytest.raises(ReaderError, match="WATTWISE_DEADLINE is 0: it takes a number of seconds above 0"):
        Limits(0)


def test_a_question_ends_where_its_asker_left(bot: Chatbot) -> None:
    looked = Visitor(10**9)
    bot.ask(QUESTION, cancelled=looked.has_left)
    looks = 10**9 - looked.looks
    assert looks > 100
    for share in (0.01, 0.3, 0.9):
        visitor = Visitor(int(share * looks))
        with pytest.raises(Cancelled):
            bot.ask(QUESTION, cancelled=visitor.has_left)
        assert visitor.looks == -1


def test_a_model_s_answer_ends_where_its_asker_left(bot: Chatbot) -> None:
    model = ScriptedChatModel(replies=["Trainium is a chip. " * 50])
    visitor = Visitor(10**9)
    events = Chatbot(bot.index, model).stream(QUESTION, cancelled=visitor.has_left)
    assert [next(events).text, next(events).text] == ["searching", "reading"]
    visitor.looks = 0
    with pytest.raises(Cancelled):
        next(events)


def test_a_chain_is_cancelled_as_the_chatbot_is(bot: Chatbot) -> None:
    with pytest.raises(Cancelled):
        bot.as_runnable(cancelled=lambda: True).invoke(QUESTION)


@pytest.mark.parametrize(("number", "code"), one_of(2, [(signal.SIGTERM, 143), (signal.SIGINT, 130)]))
def test_a_signal_ends_the_command_without_a_traceback(tmp_path: Path, number: signal.Signals, code: int) -> None:
    (tmp_path / "chips.md").write_text("# Chips\n\nThe Quokka-9 chip has 77 GB of memory.\n")
    sync([tmp_path / "chips.md"], tmp_path / "index", encoder="none")
    # When tests run in the background, SIGINT is ignored, and child processes inherit that.
    program = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); from chatbot.__main__ import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "ask", "--batch", "-", "--index", str(tmp_path / "index")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"no JSON, which is told at once\n")
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (code, b"")
