"""Signed requests over a real HTTP server: which are accepted, and how fast and how often an event is handled."""

import http.client
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot import Chatbot, ReaderError
from chatbot.slack import serving
from chatbot.slack.blocks import FEEDBACK
from chatbot.slack.serving import HEALTH, PATH, EventServer, fault_of
from chatbot.slack.state import KeptAnswer
from tests.servers import slack_requests as requests
from tests.servers.slack_api import slack_api
from tests.servers.slack_forgeries import MARK, forgeries, is_refused, sent
from tests.servers.slack_workspace import Workspace, running, scripted, workspace

ROOT = Path(__file__).resolve().parents[1]
QUESTION = "Is Trainium for inference?"


@pytest.fixture
def slack(bot: Chatbot, tmp_path: Path) -> Iterator[Workspace]:
    with workspace(bot, tmp_path) as started:
        yield started


def raw(port: int, body: bytes, headers: dict[str, str], *, method: str = "POST", path: str = PATH) -> int:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request(method, path, body, headers)
        return connection.getresponse().status


@given(st.binary(), st.text(), st.text())
def test_nothing_counts_as_signed_but_what_slack_s_own_recipe_gives(
    body: bytes, timestamp: str, signature: str
) -> None:
    assert fault_of(body, timestamp, signature, secret="s", now=1_531_420_618)


def test_the_example_of_slack_s_documentation_counts_as_signed() -> None:
    body = (
        b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar"
        b"&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com"
        b"%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    signature = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
    secret = "8f742231b10e8888abcd99yyyzzz85a5"
    faults = [fault_of(body, "1531420618", signature, secret=secret, now=1_531_420_618 + s) for s in (0, 300, 301)]
    assert faults == ["", "", "it was signed more than five minutes from now: set this machine's clock"]


def test_slack_s_challenge_is_answered(slack: Workspace) -> None:
    body = b'{"type": "url_verification", "challenge": "c1"}'
    headers = requests.signed_headers(body, "application/json")
    response = httpx.post(f"http://127.0.0.1:{slack.port}{PATH}", content=body, headers=headers)
    assert (response.status_code, response.json()) == (200, {"challenge": "c1"})


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"X-Slack-Signature": "v0=0"}, 401),
        ({"X-Slack-Signature": ""}, 401),
        ({"X-Slack-Signature": "v0=ä"}, 401),
        ({"X-Slack-Request-Timestamp": "yesterday"}, 401),
        ({"X-Slack-Request-Timestamp": ""}, 401),
        ({"X-Slack-Request-Timestamp": "9" * 5000}, 401),
        ({"Content-Length": "2000000"}, 413),
        ({"Content-Length": "-1"}, 400),
        ({"Content-Length": "9" * 5000}, 400),
    ],
)
def test_a_request_with_a_broken_header_is_turned_away(
    slack: Workspace, change: dict[str, str], status: int, caplog: pytest.LogCaptureFixture
) -> None:
    body, kind = requests.encoded(requests.mention(QUESTION, "1.1"))
    assert raw(slack.port, body, requests.signed_headers(body, kind) | change) == status
    (logged,) = caplog.records
    assert logged.getMessage().startswith(f"a request was refused with {status}: it")
    assert logged.exc_info is None
    assert [c.method for c in slack.api.calls] == ["auth.test", "auth.test"]


def test_what_slack_did_not_sign_is_not_answered_posts_nothing_and_stands_in_no_log(
    slack: Workspace, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    forged = sent(slack.port, forgeries(7, 130, f"{slack.api.url}forged"))
    assert [forgery for forgery, status in forged if not is_refused(status)] == []
    slack.ask(QUESTION)
    slack.api.wait_for_answers()
    assert {c.method for c in slack.api.calls if "C1" not in str(c.arguments)} == {"auth.test"}
    assert MARK not in caplog.text
    assert capfd.readouterr().err == ""


UNREADABLE = (
    (b"{", "application/json"),
    (b"[1]", "application/json"),
    (b"[" * 100_000, "application/json"),
    (b'{"text": "\xff\xfe"}', "application/json"),
    (b"payload=%7B%7D", "application/json"),
    (b"payload=%7B", "application/x-www-form-urlencoded"),
    (b"payload=7", "application/x-www-form-urlencoded"),
)
INCOMPLETE = (
    (b'{"type": "event_callback", "event": 1}', "application/json"),
    (b'{"type": "event_callback", "event": {"type": "app_mention", "channel": "C1"}}', "application/json"),
    (b'{"type": "event_callback", "event": {"type": "app_mention", "channel": "C1", "user": "U1"}}', "application/json"),
    (b'{"type": "event_callback", "event": {"type": ["message"]}}', "application/json"),
    (b"payload=%7B%22type%22%3A%22block_actions%22%7D", "application/x-www-form-urlencoded"),
    (b"command=%2Fwattwise&text=MARK", "application/x-www-form-urlencoded"),
)


def test_a_signed_body_that_cannot_be_read_is_said_to_be_bad_without_a_traceback(
    slack: Workspace, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    statuses = [raw(slack.port, body, requests.signed_headers(body, kind)) for body, kind in UNREADABLE]
    assert statuses == [400] * len(UNREADABLE)
    assert {(r.levelname, r.exc_info, "\n" in r.getMessage()) for r in caplog.records} == {("WARNING", None, False)}
    assert capfd.readouterr().err == ""


def test_a_signed_event_that_lacks_what_its_kind_has_is_logged_and_says_nothing(
    slack: Workspace, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    statuses = [raw(slack.port, body, requests.signed_headers(body, kind)) for body, kind in INCOMPLETE]
    assert set(statuses) <= {200, 404, 500}  # 404: Bolt has no listener for a press that names no button
    assert {(r.levelname, r.exc_info, "(reference " in r.getMessage()) for r in caplog.records} == {("ERROR", None, True)}
    assert "MARK" not in caplog.text
    assert [c.method for c in slack.api.calls] == ["auth.test", "auth.test"]
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "sends", [b"", b"POST /slack/events HT", b"POST /slack/events HTTP/1.1\r\nContent-Length: 99\r\n\r\n"]
)
def test_a_request_that_does_not_come_to_its_end_is_given_up(
    bot: Chatbot, tmp_path: Path, sends: bytes, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serving, "_ARRIVAL_SECONDS", 0.3)
    with workspace(bot, tmp_path) as slack, socket.create_connection(("127.0.0.1", slack.port), 10) as connection:
        connection.sendall(sends)
        answer = connection.makefile("rb")
        # The request goes on a byte at a time, which must not extend the deadline.
        connection.settimeout(0.05)
        given_up = time.monotonic() + 10
        while time.monotonic() < given_up:
            try:
                connection.sendall(b"x")
                first = connection.recv(12)
            except TimeoutError:
                continue
            except ConnectionError:
                first = b""
            break
        assert first in (b"", b"HTTP/1.0 408")
        answer.close()
    assert capfd.readouterr().err == ""


def test_a_press_of_a_button_that_is_replayed_is_thanked_for_once(slack: Workspace) -> None:
    slack.desk.state.keep(KeptAnswer("a1", QUESTION, "Yes [1].", "offline", 1, ()))
    press = requests.button(FEEDBACK, "+a1")
    assert [slack.send(press)[0] for _ in range(3)] == [200] * 3
    slack.send(requests.button(FEEDBACK, "+a1"))
    slack.api.wait_for("chat.postEphemeral", 2)
    assert slack.api.count("chat.postEphemeral") == {"chat.postEphemeral": 2}


def test_there_is_one_address_and_one_method(slack: Workspace) -> None:
    asked = [("GET", PATH), ("POST", "/"), ("PUT", PATH), ("GET", HEALTH)]
    assert [raw(slack.port, b"", {}, method=method, path=path) for method, path in asked] == [404, 404, 501, 200]


def test_retries_and_replays_of_an_event_are_answered_once(slack: Workspace) -> None:
    payload = requests.mention(QUESTION, slack.api.person_says(QUESTION))
    body, kind = requests.encoded(payload)
    headers = requests.signed_headers(body, kind)
    retry = {"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"}
    assert [raw(slack.port, body, headers | more) for more in ({}, retry, {}, retry)] == [200] * 4
    slack.ask(QUESTION, user="U2")
    slack.api.wait_for_answers(2)
    assert len(slack.api.said()) == 2


def test_a_replayed_command_is_answered_once(slack: Workspace) -> None:
    payload = requests.command(QUESTION, slack.api.url + "hook", trigger="t1")
    assert [slack.send(payload)[:2] for _ in range(2)] == [(200, "Searching the sources…"), (200, "")]
    slack.send(requests.command(QUESTION, slack.api.url + "hook2"))
    slack.api.wait_for("hook2")
    assert len(slack.api.wait_for("hook")) == 1


def test_a_message_that_comes_as_mention_and_as_message_is_answered_once(slack: Workspace) -> None:
    root = slack.ask(QUESTION)
    slack.api.wait_for_answers()
    ts = slack.api.person_says("again?", thread=root)
    slack.send(requests.mention("again?", ts, thread=root))
    slack.send(requests.message("<@UBOT> again?", ts, thread=root))
    slack.send(requests.message("again?", ts, thread=root))
    slack.ask(QUESTION, user="U2")
    slack.api.wait_for_answers(3)
    assert len(slack.api.said()) == 3


def test_two_workers_answer_one_event_once(bot: Chatbot, tmp_path: Path) -> None:
    with slack_api() as api, running(api, bot, tmp_path) as one, running(api, bot, tmp_path) as two:
        payloads = [requests.mention(QUESTION, api.person_says(QUESTION), user=f"U{n}") for n in range(12)]
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda p: [one.send(p), two.send(p), one.send(p)], payloads))
        api.wait_for_answers(12)
    assert sorted(m["thread_ts"] for m in api.said()) == sorted(p["event"]["ts"] for p in payloads)


def test_an_event_is_answered_once_across_a_restart(bot: Chatbot, tmp_path: Path) -> None:
    with slack_api() as api:
        payload = requests.mention(QUESTION, api.person_says(QUESTION))
        for _ in range(2):
            with running(api, bot, tmp_path) as slack:
                assert slack.send(payload)[0] == 200
        assert len(api.said()) == 1


def test_a_stop_finishes_what_was_acknowledged(bot: Chatbot, tmp_path: Path) -> None:
    with slack_api() as api:
        with running(api, bot, tmp_path, workers=1) as slack:
            for number in range(20):
                slack.ask(QUESTION, user=f"U{number}")
        assert len(api.said()) == 20


@pytest.mark.evaluation
def test_a_stop_signal_finishes_what_was_acknowledged_and_exits_with_0(corpus_index: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with slack_api() as api:
        tokens = {"SLACK_BOT_TOKEN": "xoxb-secret-token", "SLACK_SIGNING_SECRET": requests.SECRET}
        environ = {**os.environ, **tokens, "WATTWISE_SLACK_API_URL": api.url, "WATTWISE_SLACK_WORKERS": "1"}
        command = [sys.executable, "-m", "chatbot.slack", "--http", "--port", str(port), "--index", str(corpus_index)]
        with subprocess.Popen(command, cwd=ROOT, env=environ, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            assert f"listening on http://127.0.0.1:{port}/slack/events" in process.stderr.readline()
            for number in range(10):
                payload = requests.mention(
                    QUESTION, api.person_says(QUESTION, channel="CSTOP"), channel="CSTOP", user=f"U{number}"
                )
                assert requests.send(port, payload)[0] == 200
            process.send_signal(signal.SIGTERM)
            errors = process.communicate(timeout=60)[1]
        assert (process.returncode, len(api.said("CSTOP"))) == (0, 10)
        assert "Traceback" not in errors
        assert "secret-token" not in errors


def test_an_acknowledgement_waits_for_no_answer(bot: Chatbot, tmp_path: Path) -> None:
    go = threading.Event()
    with workspace(scripted(bot, bot.ask(QUESTION), go), tmp_path, workers=1) as slack:
        assert [slack.send(requests.mention(QUESTION, f"3.{n}", user=f"U{n}"))[0] for n in range(2)] == [200, 200]
        go.set()


@pytest.mark.parametrize("port", [70_000, -1])
def test_a_port_that_does_not_exist_is_said_in_one_sentence(port: int) -> None:
    with pytest.raises(ReaderError, match=rf"^Cannot listen on 127.0.0.1:{port} \(there is no such port\). Give another port"):
        serving.EventServer(None, "", "127.0.0.1", port)


def test_a_port_that_is_taken_is_said_in_one_sentence(slack: Workspace) -> None:
    with pytest.raises(ReaderError, match=rf"^Cannot listen on 127.0.0.1:{slack.port} \(.*\). Give another port"):
        EventServer(None, "", "127.0.0.1", slack.port)
