"""Failures of Slack, the network or a model, and what a person sees of them."""

import json
import logging
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from chatbot import Answer, Chatbot, Event, ReaderError
from chatbot.slack.answering import FAILED, NO_MEMORY
from chatbot.slack.blocks import EVIDENCE, FEEDBACK, SOURCES, excerpts_of, reason_view
from chatbot.slack.desk import INTERRUPTED
from chatbot.slack.listeners import NOT_DONE, THANKS
from chatbot.slack.memory import NOTICE
from chatbot.slack.parts import linked
from tests.servers import slack_requests as requests
from tests.servers.slack_api import Failure, slack_api
from tests.servers.slack_workspace import ScriptedChatbot, running, scripted, workspace

QUESTION = "Is Trainium for inference?"
EXPIRED = "message_not_in_streaming_state"
APOLOGY, NOT_DONE_PATTERN = (re.escape(text).replace(r"\{\}", r"([0-9a-f]{8})") for text in (FAILED, NOT_DONE))


@pytest.fixture(scope="module")
def answer(bot: Chatbot) -> Answer:
    """An answer with two pieces of text to stream."""
    found = replace(bot.ask(QUESTION), text="Trainium is for training [1]. Inferentia is for inference [1].")
    assert found.citations
    return found


def shown(answer: Answer) -> str:
    return linked(answer.text, {source.number: source.url for source in excerpts_of(answer) if source.url})


def in_pieces(bot: Chatbot, answer: Answer, *waits: float) -> ScriptedChatbot:
    """Return a bot that streams the answer in two pieces, each after its wait, if any."""
    pieces = [Event("text", f"{piece} ") for piece in answer.text.split(". ")]
    return scripted(bot, answer, *waits[:1], pieces[0], *waits[1:], pieces[1])


def test_a_slow_answer_is_streamed_and_ends_with_its_links_and_blocks(
    bot: Chatbot, tmp_path: Path, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chatbot.slack.delivery._QUICK", 0.2)
    monkeypatch.setattr("chatbot.slack.delivery._PACE", 0.1)
    with workspace(in_pieces(bot, answer, 0.25, 0.15), tmp_path, workers=1) as slack:
        slack.ask(QUESTION)
        slack.api.wait_for("chat.update")
        (message,) = slack.api.said()
        assert slack.api.count("chat.startStream", "chat.appendStream", "chat.stopStream", "chat.postMessage") == {
            "chat.startStream": 1, "chat.appendStream": 1, "chat.stopStream": 1, "chat.postMessage": 0,
        }  # fmt: skip
        assert message["blocks"][0] == {"type": "markdown", "text": shown(answer)}


ERRORS = {
    "chat.startStream": "channel_type_not_supported", "chat.appendStream": EXPIRED, "chat.stopStream": EXPIRED,
    "chat.update": "message_not_found",
}  # fmt: skip


@pytest.mark.usefixtures("streaming_at_once")
@pytest.mark.parametrize(
    ("failing", "sent_by"),
    [
        (("chat.appendStream", "chat.stopStream"), "chat.update"),
        (("chat.stopStream",), "chat.update"),
        (("chat.stopStream", "chat.update"), "chat.postMessage"),
        (("chat.startStream",), "chat.postMessage"),
    ],
)
def test_a_stream_that_slack_ends_or_does_not_take_is_replaced_by_the_whole_answer(
    bot: Chatbot, tmp_path: Path, answer: Answer, failing: tuple[str, ...], sent_by: str
) -> None:
    with workspace(in_pieces(bot, answer), tmp_path, workers=1) as slack:
        slack.api.failures = {method: Failure(ERRORS[method], times=9) for method in failing}
        slack.ask(QUESTION)
        slack.api.wait_for(sent_by)
        assert slack.api.said()[-1]["blocks"][0]["text"] == shown(answer)


@pytest.mark.usefixtures("streaming_at_once")
@pytest.mark.parametrize("method", ["chat.update", "chat.postMessage"])
def test_blocks_that_slack_does_not_take_are_sent_as_plain_text(
    bot: Chatbot, tmp_path: Path, answer: Answer, method: str
) -> None:
    script = in_pieces(bot, answer) if method == "chat.update" else scripted(bot, answer)
    with workspace(script, tmp_path, workers=1) as slack:
        slack.api.failures[method] = Failure("invalid_blocks")
        slack.ask(QUESTION)
        said = slack.api.wait_for(method, 2)
        words = "".join(block["text"]["text"] for block in said[-1]["blocks"])
        assert {block["type"] for block in said[-1]["blocks"]} == {"section"}
        assert answer.text in words
        assert all(" ".join(citation.quote.split()) in " ".join(words.split()) for citation in answer.citations)


def test_429_is_obeyed(bot: Chatbot, tmp_path: Path) -> None:
    limited = Failure("ratelimited", status=429, headers={"Retry-After": "1"}, times=2)
    with workspace(bot, tmp_path) as slack:
        slack.api.failures["chat.postMessage"] = limited
        slack.ask(QUESTION)
        slack.api.wait_for_answers()
        times = [call.at for call in slack.api.calls if call.method == "chat.postMessage"]
        assert len(times) == 3
        assert all(later - earlier >= 0.99 for earlier, later in pairwise(times))
        assert len(slack.api.said()) == 1


@pytest.mark.parametrize(
    "script",
    [
        [RuntimeError("the question was: SECRET")],
        [Event("stage", "searching"), Event("text", "Half an "), ConnectionError("SECRET")],
        [0.25, Event("text", "Half an answer "), ConnectionError("SECRET")],
        [Event("stage", "searching")],
    ],
    ids=["at once", "in the middle", "while it streams", "no answer"],
)
def test_a_model_that_fails_is_told_in_one_sentence_and_logged(
    bot: Chatbot, tmp_path: Path, script: list, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    if 0.25 in script:
        monkeypatch.setattr("chatbot.slack.delivery._QUICK", 0.2)
    with workspace(ScriptedChatbot(bot, script), tmp_path) as slack:
        slack.ask("What is SECRET?")
        slack.api.wait_for("chat.update" if 0.25 in script else "chat.postMessage")
        (message,) = slack.api.said()
    told = re.fullmatch(APOLOGY, message["blocks"][0]["text"]["text"])
    assert told
    assert message["metadata"]["event_type"] == NOTICE
    (logged,) = [r.getMessage() for r in caplog.records if r.levelno >= logging.ERROR]
    assert f"(reference {told[1]})" in logged
    assert "in _read\n" in logged
    assert "SECRET" not in caplog.text


def test_a_thread_that_cannot_be_read_is_answered_without_memory_and_the_missing_scope_is_logged(
    bot: Chatbot, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with workspace(bot, tmp_path) as slack:
        slack.api.failures["conversations.replies"] = Failure(
            "missing_scope", times=9, more={"needed": "channels:history"}
        )
        slack.ask(QUESTION, thread="4.1")
        slack.api.wait_for_answers()
        assert NO_MEMORY in slack.api.said()[0]["text"]
    assert "add the scope channels:history under OAuth & Permissions and install the app again" in caplog.text


def test_a_mention_that_could_not_even_be_taken_is_told_as_a_failure(bot: Chatbot, tmp_path: Path) -> None:
    with workspace(bot, tmp_path) as slack:
        slack.desk.state.close()
        slack.send(requests.message("of no concern", "3.9", thread="3.1"))
        slack.ask(QUESTION)
        slack.ask(QUESTION, channel="D1")
        slack.api.wait_for("chat.postMessage", 2)
        assert all(re.fullmatch(APOLOGY, m["text"]) for m in (*slack.api.said("C1"), *slack.api.said("D1")))
        assert [m.get("thread_ts") for m in slack.api.said("C1")] == [next(iter(slack.api.messages))[1]]


def test_a_failure_is_not_told_where_the_app_is_not_allowed_to_answer(bot: Chatbot, tmp_path: Path) -> None:
    with workspace(bot, tmp_path, channels=("C1",)) as slack:
        slack.desk.state.close()
        slack.ask(QUESTION, channel="C2")
        slack.send(requests.button(EVIDENCE, "none", channel="C2"))
        slack.ask(QUESTION)
        slack.api.wait_for("chat.postMessage")
    assert [c.arguments["channel"] for c in slack.api.calls if c.method.startswith("chat.")] == ["C1"]


def test_a_button_that_fails_says_so_to_who_pressed_it(bot: Chatbot, tmp_path: Path) -> None:
    with workspace(bot, tmp_path) as slack:
        slack.ask(QUESTION)
        slack.api.wait_for_answers()
        value = slack.api.said()[0]["blocks"][-3]["elements"][0]["value"]
        slack.api.failures["views.open"] = Failure("expired_trigger_id", times=9)
        slack.send(requests.button(EVIDENCE, value))
        told = slack.api.wait_for("chat.postEphemeral")[0]["text"]
        assert re.fullmatch(NOT_DONE_PATTERN, told)


def test_a_vote_is_thanked_for_once_where_its_reason_cannot_be_asked_for(bot: Chatbot, tmp_path: Path) -> None:
    with workspace(bot, tmp_path) as slack:
        slack.ask(QUESTION)
        slack.api.wait_for_answers()
        buttons = slack.api.said()[0]["blocks"][-1]["elements"][0]
        slack.api.failures["views.open"] = Failure("expired_trigger_id", times=9)
        slack.send(requests.button(FEEDBACK, buttons["negative_button"]["value"]))
        slack.settle()
        assert [told["text"] for told in slack.api.of("chat.postEphemeral")] == [THANKS]


def test_a_shortcut_that_could_not_be_taken_says_so_to_who_used_it(bot: Chatbot, tmp_path: Path) -> None:
    with workspace(bot, tmp_path) as slack:
        slack.desk.state.close()
        slack.send(requests.shortcut(QUESTION, "3.1"))
        (told,) = slack.api.wait_for("chat.postEphemeral")
        assert re.fullmatch(NOT_DONE_PATTERN, told["text"])


def test_a_comment_that_cannot_be_stored_stays_in_its_modal(bot: Chatbot, tmp_path: Path) -> None:
    with workspace(bot, tmp_path) as slack:
        slack.desk.state.close()
        status, body, _ = slack.send(requests.comment(reason_view("a1"), "It is for training."))
        reply = json.loads(body)
        told = reply["errors"].pop("words")
    assert (status, reply) == (200, {"response_action": "errors", "errors": {}})
    assert re.fullmatch(NOT_DONE_PATTERN, told)


def test_a_stop_that_cannot_wait_ends_what_is_under_way_and_tells_who_asked(
    bot: Chatbot, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    slow = ScriptedChatbot(bot, [Event("stage", "searching"), 1.0, ReaderError("The answer was stopped.")])
    with slack_api() as api:
        with running(api, slow, tmp_path, workers=1, stop_seconds=0.2) as slack:
            asked = [slack.ask(QUESTION, user=f"U{number}") for number in range(3)]
        told = {message["thread_ts"]: message["text"] for message in api.said()}
    assert told == dict.fromkeys(asked, INTERRUPTED)
    assert len(slow.asked) == 1
    warned = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert warned == ["stopped before everything was answered"]


def test_who_asked_before_all_was_loaded_is_told_at_a_stop_too(bot: Chatbot, tmp_path: Path) -> None:
    with slack_api() as api:
        with running(api, ScriptedChatbot(bot, []), tmp_path, stop_seconds=0.2) as slack:
            slack.desk.rush.ready.clear()
            asked = [slack.ask(QUESTION, user=f"U{number}") for number in range(10)]
        assert {message["thread_ts"]: message["text"] for message in api.said()} == dict.fromkeys(asked, INTERRUPTED)


def test_nothing_anybody_wrote_and_no_token_reaches_the_log(
    bot: Chatbot, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with workspace(bot, tmp_path) as slack:
        slack.ask("How much is HUSHHUSH?")
        slack.api.wait_for_answers()
        slack.send(requests.mention("HUSHHUSH", "8.1"), secret="another secret")
        slack.send(requests.message("HUSHHUSH", "8.2", subtype="me_message"))
        slack.send(requests.command("HUSHHUSH", slack.api.url + "hook/HUSHHUSH"))
        slack.api.wait_for("hook/HUSHHUSH")
        slack.api.failures["chat.postMessage"] = Failure("fatal_error", status=500, times=3)
        slack.ask("HUSHHUSH?")
        slack.api.wait_for_answers(2)
    assert "HUSHHUSH" not in caplog.text
    assert "secret-token" not in caplog.text
    assert requests.SECRET not in caplog.text
    assert "answered in" in caplog.text


def test_hostile_text_reaches_nobody_and_changes_nothing(bot: Chatbot, tmp_path: Path, answer: Answer) -> None:
    hostile = "Ask <!channel> <!here> <@U1> <#C1> &lt;!everyone&gt; @channel *bold* <https://evil.example|bank> [1]."
    with workspace(scripted(bot, replace(answer, text=hostile)), tmp_path) as slack:
        slack.ask("<!channel> <@U2> what?")
        slack.api.wait_for_answers()
        text = slack.api.said()[0]["text"]
        assert not re.search(r"(?:<|&lt;)[!@#]|@channel", text)
        assert text.partition(SOURCES)[0].replace("\u2060", "") == hostile
        assert slack.desk.bot.asked[0][0] == "what?"  # type: ignore[attr-defined]
