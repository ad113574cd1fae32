"""`wattwise app` and what an operator decides."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from chatbot import ReaderError
from chatbot import app as command
from chatbot.app import AppSettings, is_loopback
from chatbot.settings import settings_from

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    ("address", "answer"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("10.0.0.8", False), (None, False)],
)
def test_only_loopback_is_loopback(address: str | None, answer: bool) -> None:
    assert is_loopback(address) is answer


@pytest.mark.parametrize(
    ("uploads", "is_own_user", "answer"),
    [("auto", True, True), ("auto", False, False), ("on", False, True), ("off", True, False)],
)
def test_visitors_may_change_the_index_where_the_operator_says_so(
    uploads: str, is_own_user: bool, answer: bool
) -> None:
    assert AppSettings(uploads=uploads).may_change(is_own_user) is answer


def test_settings_come_from_the_environment() -> None:
    environ = {"WATTWISE_APP_UPLOADS": "off", "WATTWISE_APP_PORT": "9", "WATTWISE_APP_MODELS": "ollama:a, openai:b"}
    expected = AppSettings(uploads="off", port=9, models=("ollama:a", "openai:b"))
    assert settings_from(environ, AppSettings, prefix="WATTWISE_APP_") == expected


def test_a_setting_that_cannot_be_read_is_said() -> None:
    with pytest.raises(ReaderError, match=r"^WATTWISE_APP_UPLOADS is 'maybe': it takes auto, on or off\.$"):
        settings_from({"WATTWISE_APP_UPLOADS": "maybe"}, AppSettings, prefix="WATTWISE_APP_")


def test_a_missing_script_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command, "SCRIPT", tmp_path / "streamlit_app.py")
    with pytest.raises(ReaderError, match="run the app from a checkout"):
        command.main([])


def test_the_command_serves_and_ends_with_its_child(corpus_index: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = "import sys; from chatbot.app import main; sys.exit(main(sys.argv[1:]))"
    arguments = [sys.executable, "-c", code, "--index", str(corpus_index), "--port", str(port)]
    process = subprocess.Popen(arguments, cwd=ROOT, env=os.environ, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        assert healthy(port)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert not healthy(port, tries=1)
    finally:
        process.kill()
        process.communicate()


def healthy(port: int, tries: int = 150) -> bool:
    for _ in range(tries):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2) as answer:
                return bool(answer.read() == b"ok")
        except OSError:
            time.sleep(0.2)
    return False
