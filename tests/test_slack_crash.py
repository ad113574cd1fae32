"""Processes that die, stop or wait their turn: every asker gets an answer, and nobody gets two."""

import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from chatbot import Answer, Chatbot, Event
from chatbot.slack import answering
from chatbot.slack.answering import take_over
from chatbot.slack.delivery import notice
from chatbot.slack.desk import INTERRUPTED
from chatbot.slack.events import Asked
from chatbot.slack.listeners import AHEAD, QUEUED, SEARCHING, slack_app
from chatbot.slack.serving import keeping_house
from chatbot.slack.state import SlackState
from tests.servers import slack_requests as requests
from tests.servers.slack_api import BOT_ID, Failure, SlackApi, slack_api
from tests.servers.slack_socket import SlackSocket, slack_socket
from tests.servers.slack_workspace import Workspace, running, scripted, workspace

ROOT = Path(__file__).resolve().parents[1]
QUESTION = "Is Trainium for inference?"


@pytest.fixture(scope="module")
def answer(bot: Chatbot) -> Answer:
    return bot.ask(QUESTION)


@pytest.fixture
def slack(bot: Chatbot, answer: Answer, tmp_path: Path) -> Iterator[Workspace]:
    with workspace(scripted(bot, answer), tmp_path) as started:
        yield started


@pytest.fixture
def dead(slack: Workspace) -> Iterator[SlackState]:
    """The store of a process that has died."""
    state = SlackState(slack.desk.settings.index)
    yield state
    state.close()


def asked(slack: Workspace, *, hook: str = "") -> Asked:
    ts = slack.api.person_says(QUESTION)
    thread = "" if hook else ts
    return Asked(f"message:C1:{ts}", QUESTION, "C1", thread, thread, "U1", "T1", hook)


def come_after(dead: SlackState, slack: Workspace) -> None:
    """Give up the dead process's leases, as if they had expired, and have its work taken over."""
    dead.release()
    take_over(slack.desk)


def test_a_question_that_a_dead_process_took_on_is_answered(slack: Workspace, dead: SlackState) -> None:
    dead.begin(asked(slack))
    take_over(slack.desk)
    assert slack.api.of("conversations.replies") == []
    come_after(dead, slack)
    slack.api.wait_for_answers()
    take_over(slack.desk)
    assert len(slack.said()) == 1


@pytest.mark.parametrize("noted", [True, False], ids=["noted", "died before it was noted"])
def test_a_stream_that_a_dead_process_left_open_becomes_the_answer(
    slack: Workspace, dead: SlackState, noted: bool
) -> None:
    question = asked(slack)
    dead.begin(question)
    started = slack.desk.client.chat_startStream(channel="C1", thread_ts=question.ts, markdown_text="Half an ans")
    if noted:
        dead.streaming(question.key, "C1", question.ts, started["ts"])
    come_after(dead, slack)
    slack.api.wait_for_answers()
    (message,) = slack.api.said()
    assert (message["ts"], message["streaming"], "Half an ans" in message["text"]) == (started["ts"], False, False)


def test_what_a_dead_process_had_sent_is_not_sent_again(slack: Workspace, dead: SlackState) -> None:
    question = asked(slack)
    dead.begin(question)
    metadata = {"event_type": "wattwise_answer", "event_payload": {"answer_id": "a", "key": question.key}}
    slack.api._add("C1", {"bot_id": BOT_ID, "text": "Sent.", "thread_ts": question.ts, "metadata": metadata})
    come_after(dead, slack)
    slack.api.wait_for("conversations.replies")
    slack.ask(QUESTION, channel="D1")
    slack.api.wait_for_answers()
    assert slack.said() == ["Sent."]


def test_a_reply_that_was_finished_is_sent_without_reading_again(slack: Workspace, dead: SlackState) -> None:
    question = asked(slack)
    dead.begin(question)
    dead.keep_reply(question.key, notice("Finished."))
    come_after(dead, slack)
    slack.api.wait_for("chat.postMessage")
    assert (slack.said(), slack.desk.bot.asked) == (["Finished."], [])  # type: ignore[attr-defined]


def test_a_question_that_ends_processes_is_told_so(
    slack: Workspace, dead: SlackState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "_MOST_ATTEMPTS", 0)
    dead.begin(asked(slack))
    come_after(dead, slack)
    slack.api.wait_for("chat.postMessage")
    assert slack.said() == [INTERRUPTED]


def test_a_lease_is_renewed_while_a_listener_keeps_a_stop_waiting(
    slack: Workspace, dead: SlackState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chatbot.slack.serving._BEAT", 0.01)
    app, state, taken = slack_app(slack.desk, requests.SECRET), slack.desk.state, []

    def listener() -> None:
        time.sleep(0.2)
        state.renew(0.3)
        time.sleep(0.5)
        taken.extend(dead.take_over())

    with keeping_house(slack.desk, app):
        state.begin(asked(slack))
        app.listener_runner.listener_executor.submit(listener)
    assert taken == []


def test_a_command_is_answered_at_its_address_after_a_crash(slack: Workspace, dead: SlackState) -> None:
    dead.begin(asked(slack, hook=slack.api.url + "hook"))
    come_after(dead, slack)
    assert slack.api.wait_for("hook")[0]["response_type"] == "ephemeral"


def test_what_slack_does_not_take_before_a_stop_is_sent_after_the_next_start(
    bot: Chatbot, answer: Answer, tmp_path: Path
) -> None:
    with slack_api() as api:
        api.failures["chat.postMessage"] = Failure("ratelimited", 429, {"Retry-After": "60"}, times=99)
        with running(api, scripted(bot, answer), tmp_path, stop_seconds=0.2) as slack:
            slack.ask(QUESTION)
            api.wait_for("chat.postMessage")
        api.failures.clear()
        with running(api, scripted(bot, answer), tmp_path) as slack:
            take_over(slack.desk)
            api.wait_for_answers()
            assert slack.desk.bot.asked == []  # type: ignore[attr-defined]
        assert len(api.said()) == 1


@pytest.mark.evaluation
def test_a_limited_channel_holds_up_no_other_and_is_sent_to_in_the_end(
    bot: Chatbot, answer: Answer, tmp_path: Path
) -> None:
    with slack_api(tiers=True) as api, running(api, scripted(bot, answer), tmp_path, workers=1) as slack:
        for number in range(5):
            slack.ask(QUESTION, channel="C1", user=f"U{number}")
        slack.ask(QUESTION, channel="C2", user="U9")
        api.wait_for_answers(6)
        order = [call.arguments["channel"] for call in api.calls if call.method == "chat.postMessage" and call.ok]
        assert order.index("C2") == 3
        assert (Counter(order), api.of("chat.startStream")) == ({"C1": 5, "C2": 1}, [])


@pytest.mark.evaluation
def test_two_hundred_mentions_are_answered_within_a_minute_under_slack_s_limits(
    bot: Chatbot, answer: Answer, tmp_path: Path
) -> None:
    """Measure the time that Slack's limits cost: answering takes none here. benchmarks/slack.py measures both together."""
    with slack_api(tiers=True) as api, running(api, scripted(bot, answer), tmp_path) as slack:
        began = time.monotonic()
        with ThreadPoolExecutor(20) as pool:
            list(pool.map(lambda n: slack.ask(QUESTION, channel=f"C{n % 10}", user=f"U{n}"), range(200)))
        api.wait_for_answers(200, seconds=300)
        took = time.monotonic() - began
        limited = sum(not call.ok for call in api.calls)
    print(f"200 mentions in ten channels: all answered after {took:.1f} s, {limited} calls limited")
    assert (len([m for m in api.messages.values() if m.get("bot_id")]), took < 60) == (200, True)


def test_whoever_waits_behind_many_is_told_how_many(bot: Chatbot, answer: Answer, tmp_path: Path) -> None:
    go = threading.Event()
    with workspace(scripted(bot, answer, go), tmp_path, workers=1) as slack:
        for number in range(4):
            slack.ask(QUESTION, user=f"U{number}")
        told = slack.send(requests.command(QUESTION, slack.api.url + "hook", user="U8"))[1]
        statuses = [call["status"] for call in slack.api.wait_for("assistant.threads.setStatus", 2)]
        assert (told, QUEUED.format(3) in statuses) == (SEARCHING + AHEAD.format(4), True)
        go.set()


def test_a_server_error_loses_no_finished_answer(bot: Chatbot, answer: Answer, tmp_path: Path) -> None:
    script = scripted(bot, answer)
    with workspace(script, tmp_path) as slack:
        slack.api.failures["chat.postMessage"] = Failure("fatal_error", status=503, times=2)
        slack.ask(QUESTION)
        slack.api.wait_for_answers()
        assert (len(script.asked), len(slack.api.said())) == (1, 1)


@pytest.mark.usefixtures("streaming_at_once")
def test_a_stream_that_could_not_be_ended_is_ended_later(bot: Chatbot, answer: Answer, tmp_path: Path) -> None:
    with workspace(scripted(bot, answer, Event("text", "Half an answer ")), tmp_path, workers=1) as slack:
        slack.api.failures["chat.stopStream"] = Failure("internal_error")
        slack.ask(QUESTION)
        slack.api.wait_for_answers()
        assert [(m["streaming"], "Half" in m["text"]) for m in slack.api.said()] == [(False, False)]


# Runs `wattwise slack` with a short lease, for tests that should not wait for a real one.
HURRIED = """
import sys
from chatbot.slack import serving, state
state.LEASE, serving._BEAT = 1.0, 0.2
from chatbot.slack.__main__ import main
sys.exit(main())
"""


def killed_and_started_again(
    folder: Path, api: SlackApi, socket: SlackSocket, seed: int, program: list[str], asked: int
) -> dict[str, float]:
    """Kill a process at a random moment while it answers, start another, and return how soon each asker was told."""
    random_ = random.Random(seed)
    api.socket_url = socket.url
    tokens = {"SLACK_BOT_TOKEN": "xoxb-secret-token", "SLACK_APP_TOKEN": "xapp-secret-token"}
    environ = {**os.environ, **tokens, "WATTWISE_SLACK_API_URL": api.url, "WATTWISE_INDEX": str(folder)}
    channel = f"C{seed}X"

    def start() -> "subprocess.Popen[bytes]":
        return subprocess.Popen([sys.executable, *program], cwd=ROOT, env=environ, stderr=subprocess.DEVNULL)

    process = start()
    try:
        payloads: dict[str, dict[str, Any]] = {}
        for number in range(asked):
            ts = api.person_says(QUESTION, channel=channel)
            envelope = socket.send("events_api", requests.mention(QUESTION, ts, channel=channel, user=f"U{number}"))
            payloads[envelope] = {"ts": ts}
            if number == 0:
                socket.wait_for(envelope)
        time.sleep(random_.uniform(0, 1.5))
    finally:
        process.kill()
        process.wait()
    # Slack sends unacknowledged events again; this test does not cover that.
    acknowledged = {payload["ts"] for envelope, payload in payloads.items() if envelope in socket.acknowledged}
    process, began = start(), time.monotonic()
    told: dict[str, float] = {}
    try:
        while set(told) != acknowledged and time.monotonic() - began < 90:
            for message in api.said(channel):
                if not message.get("streaming") and message.get("metadata"):
                    told.setdefault(message["thread_ts"], time.monotonic() - began)
            time.sleep(0.05)
        assert set(told) >= acknowledged
        assert max(Counter(message["thread_ts"] for message in api.said(channel)).values()) == 1
        assert not [message for message in api.said(channel) if message.get("streaming")]
    finally:
        process.kill()
        process.wait()
    return told


@pytest.mark.evaluation
def test_a_process_that_is_killed_loses_nobody(corpus_index: Path) -> None:
    with slack_api() as api, slack_socket() as socket:
        assert killed_and_started_again(corpus_index, api, socket, 1, ["-c", HURRIED], 12)


@pytest.mark.evaluation
@pytest.mark.timeout(3000)
def test_after_thirty_kills_everybody_is_told_within_a_minute(corpus_index: Path) -> None:
    slowest = []
    for seed in range(30):
        with slack_api(tiers=True) as api, slack_socket() as socket:
            told = killed_and_started_again(corpus_index, api, socket, seed, ["-m", "chatbot.slack"], 12)
        slowest.append(max(told.values()))
        print(f"kill {seed}: {len(told)} askers, the last was told {slowest[-1]:.1f} s after the next start", flush=True)
    assert max(slowest) < 60
