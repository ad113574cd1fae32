"""`wattwise chat`: streaming, history, sources on request, Ctrl-C."""

import io
import os
import pty
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from prompt_reading import says

from chatbot import Chatbot
from chatbot.llm.scripted import ScriptedChatModel
from chatbot.terminal import chat
from ingest import sync

CHIPS = "How many Trainium chips are in a trn1.32xlarge?"
WORDS = "A trn1.32xlarge has 16 Trainium chips"


def talked(
    bot: Chatbot, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *lines: str
) -> tuple[str, list[str]]:
    """Chat with these input lines; return stdout and the lines of stderr after the welcome."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    assert chat(bot) == 0
    printed = capsys.readouterr()
    return printed.out, printed.err.splitlines()[1:]


def test_sources_are_shown_on_demand(
    bot: Chatbot, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedChatModel(script=says(f"{WORDS} {{{WORDS}}}."))
    out, err = talked(Chatbot(bot.index, model), capsys, monkeypatch, "/sources", CHIPS, "/sources")
    assert out == (
        f"{WORDS} [1].\n\n"
        "[1] Amazon EC2 Trn1 Instances: Accelerating Generative AI Training > What is in a trn1.32xlarge?\n"
        f"    “{WORDS}.”\n\n"
    )
    assert err == ["Nothing has been answered yet."]


def test_the_conversation_goes_on_until_it_is_forgotten(
    bot: Chatbot, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = (
        "How much accelerator memory has trn1.2xlarge?",
        "and the bigger one?",
        "/new",
        "and the bigger one?",
        "/help",
        "/quit",
        "x",
    )
    out, err = talked(bot, capsys, monkeypatch, *questions)
    first, second, third = out.strip().split("\n\n")
    assert ("32 GB" in first, "512 GB" in second, "512 GB" in third) == (True, True, False)
    assert err == [
        "The conversation is forgotten.",
        "/sources shows the sources of the last answer, /new forgets the conversation, /quit ends.",
    ]


def test_an_error_and_a_notice_stand_beside_the_answers(
    bot: Chatbot, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedChatModel(replies=[KeyError("x"), PermissionError("no")])
    out, err = talked(Chatbot(bot.index, model), capsys, monkeypatch, CHIPS)
    assert out.startswith(WORDS)
    assert err == ["scripted failed, so the offline reader answered."]


def test_stopping_an_answer_does_not_stop_the_program(
    bot: Chatbot, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    good = says(f"{WORDS} {{{WORDS}}}. ")
    waiting: list[object] = [lambda m: [good(m), "And", KeyboardInterrupt()], good]
    model = ScriptedChatModel(script=lambda messages: waiting.pop(0)(messages))  # type: ignore[operator]
    out, err = talked(Chatbot(bot.index, model), capsys, monkeypatch, CHIPS, CHIPS)
    assert out == f"{WORDS} [1].\n{WORDS} [1].\n\n"
    assert err == ["Stopped. Ask on, or press Ctrl-D to end."]


@pytest.mark.evaluation
def test_ctrl_c_in_a_real_terminal_stops_the_answer_only(tmp_path: Path) -> None:
    (tmp_path / "chips.md").write_text("# Chips\n\nTrainium is a chip that trains models.\n")
    sync([tmp_path / "chips.md"], tmp_path / "index", encoder="none")
    program = (
        "import signal, sys, time\n"
        # When tests run in the background, SIGINT is ignored, and child processes inherit that.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from chatbot import Chatbot; from chatbot.llm.scripted import ScriptedChatModel; from chatbot.terminal import chat\n"
        "def script(messages):\n"
        "    print('WRITING', flush=True)\n"
        "    for _ in range(600):\n        time.sleep(0.05)\n        yield 'word '\n"
        "sys.exit(chat(Chatbot.open(sys.argv[1], ScriptedChatModel(script=script))))"
    )
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "index")],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    screen = Screen(ours)
    try:
        screen.until("> ")
        os.write(ours, b"Trainium?\n")
        screen.until("WRITING")
        interrupt(process, screen, "Stopped. Ask on")
        screen.until("> ")
        interrupt(process, screen, "Press Ctrl-D to end.")
        os.write(ours, b"\n")
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def interrupt(process: subprocess.Popen[bytes], screen: "Screen", text: str) -> None:
    """Press Ctrl-C until a text is shown, as people do: a signal between printing the prompt and reading input gets lost."""
    for _ in range(5):
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        with suppress(AssertionError):
            return screen.until(text, seconds=4.0)
    screen.until(text)


class Screen:
    """Reads a terminal's output, each piece only once."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._unread = ""

    def until(self, text: str, seconds: float = 30.0) -> None:
        """Read until the text is shown."""
        ends = time.monotonic() + seconds
        while text not in self._unread:
            ready, _, _ = select.select([self._terminal], [], [], max(0.0, ends - time.monotonic()))
            assert ready, f"{text!r} was never shown, but {self._unread!r}"
            self._unread += os.read(self._terminal, 4096).decode(errors="replace")
        self._unread = self._unread.partition(text)[2]
