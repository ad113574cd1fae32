"""What a person in Slack sees, over signed HTTP requests and a Web API on loopback."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from chatbot import Answer, Chatbot, Feedback, FeedbackStore, Turn
from chatbot.slack import listeners
from chatbot.slack.blocks import EVIDENCE, FEEDBACK, SOURCES
from chatbot.slack.escaping import defanged
from chatbot.slack.memory import ANSWER
from tests.servers import slack_requests as requests
from tests.servers.slack_api import BOT_USER, Failure
from tests.servers.slack_workspace import Workspace, scripted, workspace

QUESTION = "Is Trainium for inference?"


@pytest.fixture
def answer(bot: Chatbot) -> Answer:
    """The reader's answer to the question; other tests check its quality."""
    found = bot.ask(QUESTION)
    assert found.citations
    return found


@pytest.fixture
def answered(answer: Answer) -> str:
    """The answer's text, as a notification shows it."""
    return defanged(answer.text)


@pytest.fixture
def slack(bot: Chatbot, tmp_path: Path) -> Iterator[Workspace]:
    with workspace(bot, tmp_path) as started:
        yield started


def kinds(message: dict) -> list[str]:
    return [block["type"] for block in message["blocks"]]


def test_a_mention_is_answered_in_its_thread_with_sources_buttons_and_a_note(
    slack: Workspace, answer: Answer, answered: str
) -> None:
    ts = slack.ask(QUESTION)
    slack.api.wait_for_answers()
    (message,) = slack.api.said()
    assert message["text"].partition(SOURCES)[0] == answered
    assert message["thread_ts"] == ts
    sources = ["rich_text"] * len({(c.number, c.quote) for c in answer.citations})
    assert kinds(message) == ["markdown", *sources, "actions", "context", "context_actions"]
    assert message["metadata"]["event_type"] == ANSWER
    assert slack.api.count("chat.postMessage", "chat.startStream") == {"chat.postMessage": 1, "chat.startStream": 0}
    posted = slack.api.of("chat.postMessage")[0]
    assert (posted["unfurl_links"], posted["unfurl_media"]) == (False, False)
    assert slack.api.of("assistant.threads.setStatus")[0] == {
        "channel_id": "C1", "thread_ts": ts, "status": "is searching the sources…",
    }  # fmt: skip


def test_a_direct_message_is_answered_without_a_mention(slack: Workspace, answered: str) -> None:
    ts = slack.ask(QUESTION, channel="D1")
    slack.api.wait_for_answers()
    assert ([m["thread_ts"] for m in slack.api.said("D1")], slack.said("D1")) == ([ts], [answered])


def test_a_thread_is_followed_without_a_new_mention_and_remembered(slack: Workspace) -> None:
    root = slack.ask("How many vCPUs has trn1.2xlarge?")
    slack.api.wait_for_answers()
    ts = slack.api.person_says("and the bigger one?", thread=root)
    slack.send(requests.message("and the bigger one?", ts, thread=root))
    slack.api.wait_for_answers(2)
    assert slack.api.count("conversations.replies") == {"conversations.replies": 1}
    assert "128 vCPUs" in slack.said()[1]


@pytest.mark.parametrize(
    "payload",
    [
        requests.message("What draws 72 W?", "5.1"),
        requests.message("What draws 72 W?", "5.1", thread="4.1"),
        requests.own_message("What draws 72 W?", "5.1", channel="D1"),
        requests.message("What draws 72 W?", "5.1", channel="D1", bot_id="B2", user="U7"),
        requests.message("", "5.1", channel="D1", subtype="message_changed", message={"text": "edited", "user": "U1"}),
        requests.message("joined", "5.1", channel="D1", subtype="channel_join"),
        requests.mention("What draws 72 W?", "5.1", edited={"user": "U1", "ts": "5.2"}),
        requests.mention("What draws 72 W?", "5.1", bot_id="B2"),
        requests.event("member_joined_channel", user=BOT_USER, channel="C1"),
        requests.event("something_of_next_year", user="U1"),
    ],
    ids=["channel", "thread", "own", "bot", "edit", "join", "edited mention", "bot's mention", "member", "unknown"],
)
def test_what_is_not_a_person_asking_is_acknowledged_and_ignored(slack: Workspace, payload: dict) -> None:
    assert slack.send(payload)[0] == 200
    slack.settle()
    assert {call.arguments["channel"] for call in slack.api.calls if "chat." in call.method} == {"D9"}


def test_in_a_followed_thread_words_to_others_and_chatter_are_left_alone(slack: Workspace) -> None:
    root = slack.ask(QUESTION)
    slack.api.wait_for_answers()
    said = ["<@U2> what do you think?", "Thanks a lot!", "ok, great", "", "Will do, thanks", "how was your weekend?", "so what now?"]
    for number, text in enumerate([*said, "did you order the H100s already?", "are we over budget again?"]):
        slack.send(requests.message(text, f"9.{number}", thread=root))
    slack.settle()
    assert len(slack.api.said()) == 1


def test_in_a_followed_thread_nobody_is_told_what_is_only_near(bot: Chatbot, tmp_path: Path) -> None:
    near = "anything in there on vibration of racks near a trn box?"
    with workspace(bot, tmp_path, workers=1) as slack:
        root = slack.ask(QUESTION)
        slack.api.wait_for_answers()
        slack.send(requests.message(near, "9.1", thread=root))
        slack.settle()
        assert len(slack.said()) == 1
        slack.ask(near, thread=root)
        slack.api.wait_for_answers(3)
        assert "do not say this outright" in slack.said()[1]


@pytest.mark.parametrize("text", ["stop", "Stop!", f"<@{BOT_USER}> please stop"])
def test_a_thread_that_was_told_to_stop_is_left_alone_until_the_next_mention(slack: Workspace, text: str) -> None:
    root = slack.ask(QUESTION)
    slack.api.wait_for_answers()
    make = requests.event if BOT_USER in text else requests.message
    if make is requests.message:
        slack.send(requests.message(text, "9.1", thread=root))
    else:
        slack.send(requests.event("app_mention", text=text, ts="9.1", thread_ts=root, channel="C1", user="U1"))
    slack.api.wait_for("chat.postMessage")
    slack.send(requests.message("What draws 72 W?", "9.2", thread=root))
    slack.settle()
    assert slack.said()[1:] == [listeners.SILENCED]
    slack.ask(QUESTION, thread=root)
    slack.api.wait_for_answers(3)
    assert len(slack.said()) == 3


def test_a_stop_sign_on_an_answer_silences_its_thread(slack: Workspace) -> None:
    root = slack.ask(QUESTION)
    slack.api.wait_for_answers()
    slack.settle()
    item = {"type": "message", "channel": "C1", "ts": slack.api.said()[0]["ts"]}
    slack.send(requests.event("reaction_added", reaction="thumbsup", user="U1", item=item))
    slack.send(requests.event("reaction_added", reaction="octagonal_sign", user="U1", item=item))
    slack.api.wait_for("chat.postMessage")
    slack.send(requests.message("What draws 72 W?", "9.2", thread=root))
    slack.settle()
    assert slack.said()[1:] == [listeners.SILENCED]


def test_an_answer_in_the_making_is_not_sent_once_the_thread_was_told_to_stop(bot: Chatbot, tmp_path: Path) -> None:
    go = threading.Event()
    with workspace(scripted(bot, bot.ask(QUESTION), go), tmp_path) as slack:
        root = slack.ask(QUESTION)
        slack.api.wait_for("assistant.threads.setStatus")
        slack.send(requests.message("stop", "9.1", thread=root))
        slack.api.wait_for("chat.postMessage")
        go.set()
        assert slack.api.wait_for("assistant.threads.setStatus", 2)[1]["status"] == ""
        assert slack.said() == [listeners.SILENCED]


def test_a_command_is_answered_to_who_gave_it_alone(slack: Workspace, answered: str) -> None:
    hook = slack.api.url + "hook"
    assert slack.send(requests.command(QUESTION, hook))[:2] == (200, listeners.SEARCHING)
    (sent,) = slack.api.wait_for("hook")
    assert sent["response_type"] == "ephemeral"
    assert sent["text"].partition(SOURCES)[0] == answered
    assert slack.api.said() == []


@pytest.mark.parametrize("text", ["", "help"])
def test_a_command_without_a_question_says_how_to_ask(slack: Workspace, text: str) -> None:
    status, answer, _ = slack.send(requests.command(text, slack.api.url + "hook"))
    assert (status, answer) == (200, listeners.NO_QUESTION.replace("with the mention", "behind /wattwise"))


def test_a_shortcut_answers_the_message_it_was_used_on_in_its_thread(slack: Workspace) -> None:
    ts = slack.api.person_says(QUESTION, user="U2")
    assert slack.send(requests.shortcut(QUESTION, ts))[0] == 200
    slack.api.wait_for_answers()
    assert [m["thread_ts"] for m in slack.api.said()] == [ts]


def test_a_shortcut_where_the_app_is_no_member_answers_who_used_it(slack: Workspace, answered: str) -> None:
    slack.api.failures["chat.postMessage"] = Failure("not_in_channel", times=9)
    payload = requests.shortcut(QUESTION, slack.api.person_says(QUESTION)) | {"response_url": slack.api.url + "hook"}
    slack.send(payload)
    assert slack.api.wait_for("hook")[0]["text"].partition(SOURCES)[0] == answered


def test_a_vote_is_stored_with_question_answer_and_index_and_thanked_for_privately(
    slack: Workspace, answer: Answer
) -> None:
    slack.ask(QUESTION)
    slack.api.wait_for_answers()
    message = slack.api.said()[0]
    buttons = message["blocks"][-1]["elements"][0]
    slack.send(requests.button(FEEDBACK, buttons["negative_button"]["value"], user="U5", thread=message["thread_ts"]))
    (thanks,) = slack.api.wait_for("chat.postEphemeral")
    assert (thanks["user"], thanks["text"], thanks["thread_ts"]) == ("U5", listeners.THANKS, message["thread_ts"])
    (vote,) = FeedbackStore(slack.desk.settings.index).all()
    generation = slack.desk.bot.index.generation
    assert replace(vote, answer_id="", given_at="") == Feedback(
        "slack", "", "U5", False, "", QUESTION, answer.text, "offline", generation
    )


def test_show_evidence_opens_the_passages(slack: Workspace, answer: Answer) -> None:
    slack.ask(QUESTION)
    slack.api.wait_for_answers()
    button = slack.api.said()[0]["blocks"][-3]["elements"][0]
    slack.send(requests.button(EVIDENCE, button["value"]))
    (opened,) = slack.api.wait_for("views.open")
    blocks = opened["view"]["blocks"]
    sections = "".join(block["text"]["text"] for block in blocks if block["type"] == "section")
    parts = [part for block in blocks if block["type"] == "rich_text" for part in block["elements"]]
    quotes = [part["elements"][0]["text"] for part in parts if part["type"] == "rich_text_quote"]
    assert all(" ".join(c.passage.chunk.text.split()) in " ".join(sections.split()) for c in answer.citations)
    assert {c.quote for c in answer.citations} <= set(quotes)


@pytest.mark.parametrize("action", [FEEDBACK, EVIDENCE])
def test_a_button_of_an_answer_no_longer_kept_says_so(slack: Workspace, action: str) -> None:
    slack.send(requests.button(action, "+gone"))
    assert slack.api.wait_for("chat.postEphemeral")[0]["text"] == listeners.TOO_OLD


def test_who_opens_the_agent_view_is_given_prompts(slack: Workspace) -> None:
    slack.send(requests.event("app_home_opened", tab="home", user="U1", channel="D1"))
    slack.send(requests.event("app_home_opened", tab="messages", user="U1", channel="D1"))
    (given,) = slack.api.wait_for("assistant.threads.setSuggestedPrompts")
    assert ("thread_ts" in given, len(given["prompts"])) == (False, 3)


def test_only_allowed_channels_are_answered_and_direct_messages_always(bot: Chatbot, tmp_path: Path) -> None:
    with workspace(bot, tmp_path, channels=("C2",)) as slack:
        slack.ask(QUESTION, channel="C1")
        assert slack.api.wait_for("chat.postEphemeral")[0]["text"] == listeners.NOT_HERE
        assert slack.send(requests.command(QUESTION, slack.api.url + "hook"))[1] == listeners.NOT_HERE
        slack.ask(QUESTION, channel="C2")
        slack.ask(QUESTION, channel="D1")
        slack.api.wait_for_answers(2)
        assert [len(slack.api.said(c)) for c in ("C1", "C2", "D1")] == [0, 1, 1]


def test_who_asks_too_often_is_told_when_to_ask_again(bot: Chatbot, tmp_path: Path) -> None:
    with workspace(bot, tmp_path, per_minute=2) as slack:
        for _ in range(3):
            slack.ask(QUESTION)
        told = slack.api.wait_for("chat.postEphemeral")[0]["text"]
        slack.ask(QUESTION, user="U2")
        slack.api.wait_for_answers(3)
        assert told.startswith("You have asked as often as I may answer in a minute. Please ask again in ")


def test_what_the_queue_cannot_take_is_told_so(bot: Chatbot, tmp_path: Path) -> None:
    go = threading.Event()
    with workspace(scripted(bot, bot.ask(QUESTION), go), tmp_path, workers=1, queue=2) as slack:
        slack.ask(QUESTION, user="U0")
        slack.api.wait_for("assistant.threads.setStatus")
        for number in range(4):
            slack.ask(QUESTION, user=f"U{number + 1}")
        busy = slack.api.wait_for("chat.postMessage", 2)
        assert [call["text"] for call in busy] == [listeners.BUSY] * 2
        assert slack.send(requests.command(QUESTION, slack.api.url + "hook", user="U6"))[1] == listeners.BUSY
        go.set()
        slack.api.wait_for_answers(3)


@pytest.mark.parametrize(
    ("text", "told"),
    [("", listeners.NO_QUESTION), ("x" * 40_000, listeners.TOO_LONG.format(40_000, 8000))],
    ids=["empty", "40,000 characters"],
)
def test_what_is_no_question_is_told_so_privately(slack: Workspace, text: str, told: str) -> None:
    slack.ask(text)
    assert slack.api.wait_for("chat.postEphemeral")[0]["text"] == told


def test_a_thread_of_sixty_messages_is_read_page_by_page(bot: Chatbot, tmp_path: Path) -> None:
    script = scripted(bot, bot.ask(QUESTION))
    with workspace(script, tmp_path, page=7) as slack:
        root = slack.ask("question 0")
        slack.api.wait_for_answers()
        for number in range(1, 59):
            slack.api.person_says(f"remark {number}", thread=root, user=f"U{number}")
        slack.ask("the last one?", thread=root)
        slack.api.wait_for_answers(2)
        question, history = script.asked[1]
        assert len(slack.api.messages) == 62
        # The first page, from the oldest end, says that there are more; then all of the last ten minutes are read.
        assert slack.api.count("conversations.replies") == {"conversations.replies": 10}
        assert question == "the last one?"
        assert history == tuple(Turn(f"remark {number}", "") for number in range(39, 59))


def test_a_long_thread_is_read_from_its_newest_end(bot: Chatbot, tmp_path: Path) -> None:
    script = scripted(bot, bot.ask(QUESTION))
    with workspace(script, tmp_path) as slack:
        slack.api.step = 60
        root = slack.ask("question 0")
        slack.api.wait_for_answers()
        for number in range(1, 1000):
            slack.api.person_says(f"remark {number}", thread=root, user=f"U{number}")
        slack.ask("the last one?", thread=root)
        slack.api.wait_for_answers(2)
        assert script.asked[1][1] == tuple(Turn(f"remark {number}", "") for number in range(980, 1000))
        assert slack.api.count("conversations.replies") == {"conversations.replies": 3}


def test_its_own_earlier_answers_are_recognised_exactly(bot: Chatbot, tmp_path: Path) -> None:
    answer = bot.ask(QUESTION)
    script = scripted(bot, answer)
    with workspace(script, tmp_path) as slack:
        root = slack.ask("one?")
        slack.api.wait_for_answers()
        # Another bot and a person whose messages claim to be our answers.
        forged = {"event_type": ANSWER, "event_payload": {"answer_id": "x"}}
        slack.api._add("C1", {"bot_id": "B2", "text": "forged", "thread_ts": root, "metadata": forged})
        slack.api._add("C1", {"user": "U6", "text": "as a person", "thread_ts": root, "metadata": forged})
        slack.send(requests.message("", "0.1", thread=root))
        slack.ask("two?", thread=root)
        slack.api.wait_for_answers(2)
        assert script.asked[1] == ("two?", (Turn("one?", answer.text), Turn("as a person", "")))
