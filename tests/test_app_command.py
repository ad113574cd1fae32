"""`wattwise app` and the settings of its operator."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from chatbot import ReaderError
from chatbot import app as command
from chatbot.app import AppSettings
from chatbot.serve.settings import is_loopback
from chatbot.settings import settings_from
from tests.app_server import connected, free_port, is_healthy, send, start

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    ("address", "answer"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("10.0.0.8", False), ("127.evil.com", False), ("::ffff:127.0.0.1", True), ("::ffff:10.0.0.8", False), (None, False)],
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


def test_a_name_that_no_request_has_is_said() -> None:
    with pytest.raises(ReaderError, match=r"^WATTWISE_APP_HOSTS has 'https://chat\.example': it takes names such as chat\.example, without https://, port and path\.$"):
        settings_from({"WATTWISE_APP_HOSTS": "::1,chat.example,https://chat.example"}, AppSettings, prefix="WATTWISE_APP_")


@pytest.mark.parametrize("name", ["WATTWISE_APP_UPLOAD_MEGABYTES", "WATTWISE_APP_UPLOAD_COUNT"])
@pytest.mark.parametrize("value", ["0", "-3"])
def test_uploads_of_nothing_are_no_setting(name: str, value: str) -> None:
    with pytest.raises(ReaderError, match=rf"^{name} is {value}: it takes a whole number from 1 on\. WATTWISE_APP_UPLOADS=off forbids files\.$"):
        settings_from({name: value}, AppSettings, prefix="WATTWISE_APP_")


def test_a_missing_script_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command, "SCRIPT", tmp_path / "streamlit_app.py")
    with pytest.raises(
        ReaderError, match=r"streamlit_app.py is missing: install wattwise again, or run the app from a checkout\.$"
    ):
        command.main([])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--port", "99999"], "There is no port 99999. Give another port with --port or WATTWISE_APP_PORT."),
        (["--host", "192.0.2.1"], "Cannot listen on 192.0.2.1:8501 (Cannot assign requested address). Give another port with --port or WATTWISE_APP_PORT."),
    ],
)
def test_an_address_that_cannot_be_listened_on_is_said(arguments: list[str], sentence: str) -> None:
    with pytest.raises(ReaderError) as said:
        command.main(arguments)
    assert str(said.value) == sentence


def test_the_command_serves_and_ends_with_its_child_while_a_page_is_open(corpus_index: Path) -> None:
    port = free_port()
    process = start(corpus_index, port)
    try:
        assert is_healthy(port)
        with connected(port) as page:
            send(page)
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
        assert not is_healthy(port, tries=1)
    finally:
        process.kill()
        process.wait()


def test_a_child_that_is_too_busy_to_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_GRACE", 0.2)
    busy = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", busy], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    own = signal.getsignal(signal.SIGTERM)

    def stop() -> None:
        while signal.getsignal(signal.SIGTERM) is own:  # until it is replaced, a signal would end the tests
            time.sleep(0.01)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=stop, daemon=True).start()
    assert command._watched(child) == 0
    assert child.returncode == -signal.SIGKILL
    child.stdout.close()


@pytest.mark.evaluation
def test_a_setting_that_cannot_be_read_is_said_without_a_traceback() -> None:
    environment = {**os.environ, "WATTWISE_APP_UPLOADS": "maybe"}
    arguments = [sys.executable, "-m", "streamlit", "run", "streamlit_app.py", f"--server.port={free_port()}"]
    run = subprocess.run(arguments, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert run.returncode == 1
    assert run.stderr.strip() == "WATTWISE_APP_UPLOADS is 'maybe': it takes auto, on, off or session."
