"""Socket Mode: dispatch as the adapter does it, and whole sessions of `wattwise slack` over a real WebSocket."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import SHUT_RDWR, create_connection, create_server
from socket import socket as Socket
from typing import Any
from urllib.request import urlopen

import pytest
from slack_bolt.adapter.socket_mode.internals import run_bolt_app
from slack_sdk.socket_mode.request import SocketModeRequest

from chatbot import Chatbot
from chatbot.slack.desk import OVER, close_desk, open_desk
from chatbot.slack.listeners import SEARCHING, slack_app
from chatbot.slack.settings import SlackSettings, Tokens
from tests.app_server import free_port
from tests.servers import slack_requests as requests
from tests.servers.slack_api import SlackApi, slack_api
from tests.servers.slack_socket import SlackSocket, slack_socket

ROOT = Path(__file__).resolve().parents[1]
QUESTION = "Is Trainium for inference?"


def test_an_envelope_is_dispatched_without_a_signature(bot: Chatbot, tmp_path: Path) -> None:
    with slack_api() as api:
        desk = open_desk(SlackSettings(index=tmp_path, api_url=api.url), Tokens("xoxb-1", "xapp-1"), bot)
        app = slack_app(desk, "")
        payload = requests.mention(QUESTION, api.person_says(QUESTION))
        for attempt in (None, 1):
            request = SocketModeRequest("events_api", "e1", payload, True, attempt, "timeout")
            assert run_bolt_app(app, request).status == 200
        api.wait_for_answers()
        app.listener_runner.listener_executor.shutdown()
        assert close_desk(desk)
        assert [m["thread_ts"] for m in api.said()] == [payload["event"]["ts"]]


@contextmanager
def session(api: SlackApi, socket: SlackSocket, index: Path, **environ: str) -> Iterator["subprocess.Popen[str]"]:
    """Run `wattwise slack` in its own process, which is killed at the end if it still runs."""
    api.socket_url = socket.url
    variables = {
        "SLACK_BOT_TOKEN": "xoxb-secret-token",
        "SLACK_APP_TOKEN": "xapp-secret-token",
        "WATTWISE_SLACK_API_URL": api.url,
        "WATTWISE_INDEX": str(index),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "chatbot.slack"],
        cwd=ROOT, env={**os.environ, **variables, **environ}, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def stopped(process: "subprocess.Popen[str]") -> tuple[int, str]:
    process.send_signal(signal.SIGTERM)
    out, errors = process.communicate(timeout=30)
    assert out == ""
    return process.returncode, errors


@pytest.mark.evaluation
def test_a_session_answers_events_and_commands_reconnects_and_stops_cleanly(corpus_index: Path) -> None:
    with slack_api() as api, slack_socket() as socket, session(api, socket, corpus_index) as process:
        ts = api.person_says(QUESTION)
        payload = requests.mention(QUESTION, ts)
        first = socket.send("events_api", payload)
        socket.wait_for(first)
        api.wait_for_answers()
        command = socket.send("slash_commands", requests.command(QUESTION, api.url + "hook", user="U2"))
        socket.wait_for(command)
        api.wait_for("hook")
        socket.drop()
        socket.wait_until_settled()
        repeated = socket.send("events_api", payload)
        last = [
            socket.send("events_api", requests.mention(QUESTION, api.person_says(QUESTION), user=f"U{n}"))
            for n in range(8)
        ]
        socket.wait_for(repeated, *last)
        assert socket.connections > 1
        code, errors = stopped(process)
        assert (code, len(api.said())) == (0, 9)
        assert (socket.acknowledged[first], socket.acknowledged[command]) == (None, {"text": SEARCHING})
        assert max(socket.seconds.values()) < 10  # benchmarks/slack.py measures the 3 s that Slack allows
        assert "secret-token" not in errors
        assert QUESTION not in errors
        assert "stopping: finishing what was taken on" in errors


def mention(api: SlackApi) -> dict[str, Any]:
    """A mention in a channel that no other test on the same index uses."""
    ts = api.person_says(QUESTION, channel="CWIRE")
    return requests.mention(QUESTION, ts, channel="CWIRE")


@pytest.mark.evaluation
def test_a_session_survives_a_connection_that_ends_without_a_word_and_says_how_it_is(corpus_index: Path) -> None:
    with slack_api() as api, slack_socket() as socket:
        port = free_port()
        with session(api, socket, corpus_index, WATTWISE_SLACK_HEALTH_PORT=str(port)) as process:
            socket.wait_for(socket.send("events_api", mention(api)))
            with urlopen(f"http://127.0.0.1:{port}/health", timeout=10) as response:
                assert (response.status, response.read()) == (200, b"ok")
            socket.cut()
            socket.wait_for(socket.send("events_api", mention(api)))
            api.wait_for_answers(2)
            assert socket.connections == 2
            uninstalled = socket.send("events_api", requests.event("app_uninstalled"))
            socket.wait_for(uninstalled)
            errors = process.communicate(timeout=30)[1]
            assert (process.returncode, errors.splitlines()[-1]) == (1, OVER.format("app_uninstalled"))


@pytest.mark.evaluation
def test_a_connection_that_falls_silent_is_replaced(corpus_index: Path) -> None:
    with slack_api() as api, slack_socket() as socket, Wire(socket.port) as wire:
        socket.port = wire.port
        with session(api, socket, corpus_index):
            socket.wait_for(socket.send("events_api", mention(api)))
            time.sleep(4)
            before, wire.silenced, began = socket.connections, wire.accepted, time.monotonic()
            while socket.connections == before and time.monotonic() - began < 30:
                time.sleep(0.05)
            print(f"a silent connection was replaced after {time.monotonic() - began:.1f} s")
            assert socket.connections > before


class Wire:
    """A TCP proxy. Its first `silenced` connections carry nothing any more, but stay open."""

    def __init__(self, target: int) -> None:
        self.silenced = 0
        self.accepted = 0
        self._target = target
        self._ends: list[Socket] = []
        self._server = create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]

    def __enter__(self) -> "Wire":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(SHUT_RDWR)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                self.accepted += 1
                server = create_connection(("127.0.0.1", self._target))
                self._ends += [client, server]
                for one, other in ((client, server), (server, client)):
                    threading.Thread(target=self._carry, args=(one, other, self.accepted), daemon=True).start()

    def _carry(self, one: "Socket", other: "Socket", number: int) -> None:
        with one, suppress(OSError):
            while data := one.recv(65536):
                if number > self.silenced:
                    other.sendall(data)


@pytest.mark.parametrize(
    ("method", "told"),
    [
        ("auth.test", "Slack does not take SLACK_BOT_TOKEN (invalid_auth). Install the app in your workspace and copy its token again.\n"),
        pytest.param("apps.connections.open", "Slack does not take SLACK_APP_TOKEN (invalid_auth). Copy it again, with the scope connections:write.\n", marks=pytest.mark.evaluation),
    ],
)  # fmt: skip
def test_a_token_that_slack_does_not_take_is_said_in_one_sentence(corpus_index: Path, method: str, told: str) -> None:
    from tests.servers.slack_api import Failure

    with slack_api() as api, slack_socket() as socket:
        api.failures[method] = Failure("invalid_auth", times=9)
        with session(api, socket, corpus_index) as process:
            errors = process.communicate(timeout=30)[1]
            assert (process.returncode, errors.splitlines(keepends=True)[-1]) == (1, told)
            assert "Traceback" not in errors
            assert "secret-token" not in errors
