"""Who is answered, where and from which index, and what can be done with an answer."""

import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from chatbot import Answer, Chatbot, Event, FeedbackStore, ReaderError
from chatbot.slack import listeners
from chatbot.slack.answering import FAILED, take_over
from chatbot.slack.blocks import EVIDENCE, FEEDBACK, REASON, SHARE, shown_text
from chatbot.slack.delivery import LONGER
from chatbot.slack.serving import HEALTH, EventServer, tidy
from ingest import sync
from tests.servers import slack_requests as requests
from tests.servers.slack_api import BOT_USER, Failure, slack_api
from tests.servers.slack_workspace import ScriptedChatbot, Workspace, running, scripted, workspace

QUESTION = "Is Trainium for inference?"


@pytest.fixture(scope="module")
def answer(bot: Chatbot) -> Answer:
    return bot.ask(QUESTION)


# Strangers, groups, channels


def from_elsewhere(slack: Workspace, **more: object) -> dict:
    payload = requests.mention(QUESTION, slack.api.person_says(QUESTION), user_team="T2", user="UX")
    return payload | {"is_ext_shared_channel": True} | more


def test_who_belongs_to_another_workspace_is_refused_unless_it_is_allowed(
    bot: Chatbot, answer: Answer, tmp_path: Path
) -> None:
    with workspace(scripted(bot, answer), tmp_path) as slack:
        slack.send(from_elsewhere(slack))
        refused = slack.api.wait_for("chat.postEphemeral")[0]
        assert (refused["user"], refused["text"]) == ("UX", listeners.NOT_YOURS)
        # Workspaces of one organisation also share channels; their people are answered.
        slack.send(from_elsewhere(slack, is_ext_shared_channel=False))
        slack.api.wait_for_answers()
        slack.send(requests.button(EVIDENCE, "none") | {"user": {"id": "UX", "team_id": "T2"}})
        assert slack.api.wait_for("chat.postEphemeral", 2)[1]["text"] == listeners.NOT_YOURS
    with workspace(scripted(bot, answer), tmp_path / "allowed", teams=("T2",)) as slack:
        slack.send(from_elsewhere(slack))
        slack.api.wait_for_answers()


@pytest.mark.usefixtures("streaming_at_once")
def test_a_stream_is_for_the_workspace_of_who_asked(bot: Chatbot, answer: Answer, tmp_path: Path) -> None:
    with workspace(scripted(bot, answer, Event("text", "Yes, ")), tmp_path, teams=("T2",)) as slack:
        slack.send(from_elsewhere(slack))
        started = slack.api.wait_for("chat.startStream")[0]
        assert (started["recipient_team_id"], started["recipient_user_id"]) == ("T2", "UX")


def test_only_members_of_the_named_groups_are_answered(bot: Chatbot, answer: Answer, tmp_path: Path) -> None:
    with slack_api() as api:
        api.groups = {"S01": ["U1"], "S02": ["U2"]}
        with running(api, scripted(bot, answer), tmp_path, groups=("S01", "S02")) as slack:
            slack.ask(QUESTION, user="U3")
            slack.ask(QUESTION, channel="D1", user="U3")
            slack.ask(QUESTION, user="U2")
            api.wait_for_answers()
            assert api.wait_for("chat.postEphemeral")[0]["text"] == listeners.NOT_YOU
            assert [len(api.said(channel)) for channel in ("C1", "D1")] == [1, 1]
            api.groups["S01"].append("U3")
            tidy(slack.desk)
            slack.ask(QUESTION, channel="D1", user="U3")
            api.wait_for_answers(2)


def test_a_channel_has_an_index_of_its_own(bot: Chatbot, tmp_path: Path) -> None:
    (tmp_path / "canteen.md").write_text("# Canteen\n\nThe canteen opens at 11:30 and closes at 14:00.\n")
    sync([tmp_path / "canteen.md"], tmp_path / "other")
    pairs = {"channel_indexes": (f"C7={tmp_path / 'other'}",)}
    with workspace(bot, tmp_path, **pairs) as slack:
        slack.ask("When does the canteen open?", channel="C7")
        slack.ask("When does the canteen open?", channel="C1", user="U2")
        slack.api.wait_for_answers(2)
        assert ["11:30" in slack.said(channel)[0] for channel in ("C7", "C1")] == [True, False]


def test_a_channel_has_a_model_of_its_own(bot: Chatbot, answer: Answer, tmp_path: Path) -> None:
    pairs = {"channel_indexes": (f"C7={bot.index.path}",), "channel_models": ("C7=ollama:none",)}
    with workspace(scripted(bot, answer), tmp_path, **pairs) as slack:
        assert [slack.desk.bot_of(channel).model for channel in ("C7", "C1")] == ["ollama:none", "offline"]


def test_an_index_of_a_channel_that_is_missing_ends_the_start(bot: Chatbot, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="wattwise ingest"), workspace(bot, tmp_path, channel_indexes=("C7=nowhere",)):
        pass


# Threads


@pytest.mark.parametrize("text", ["lol", "I think so too", "the A100 has 40 GB", "what is for lunch?"])
def test_what_nobody_asked_in_a_followed_thread_is_met_with_silence(bot: Chatbot, tmp_path: Path, text: str) -> None:
    with workspace(bot, tmp_path, workers=1) as slack:
        root = slack.ask(QUESTION)
        slack.api.wait_for_answers()
        statuses = len(slack.api.of("assistant.threads.setStatus"))
        slack.send(requests.message(text, slack.api.person_says(text, thread=root), thread=root))
        slack.settle()
        assert len(slack.said()) == 1
        assert {c["channel_id"] for c in slack.api.of("assistant.threads.setStatus")[statuses:]} == {"D9"}
        assert slack.api.of("chat.postEphemeral") == []


def test_a_failure_over_what_nobody_asked_is_met_with_silence(bot: Chatbot, tmp_path: Path) -> None:
    with workspace(ScriptedChatbot(bot, [ConnectionError("no")]), tmp_path, workers=1) as slack:
        slack.desk.state.follow("C1", "1.1")
        slack.send(requests.message("What is it?", "1.2", thread="1.1"))
        slack.ask(QUESTION, channel="D9")
        slack.api.wait_for_answers(kind="wattwise_notice")
        assert slack.said() == []


def test_a_follow_up_that_comes_before_its_mention_is_answered(bot: Chatbot, answer: Answer, tmp_path: Path) -> None:
    script = scripted(bot, answer)
    with workspace(script, tmp_path, workers=1) as slack:
        root, follow_up = slack.api.person_says(QUESTION), slack.api.person_says("And for training?")
        slack.send(requests.message("And for training?", follow_up, thread=root))
        slack.send(requests.message("lol", "1800000000.000001", thread=root))
        slack.send(requests.mention(QUESTION, root))
        slack.api.wait_for_answers(2)
        assert [question for question, _ in script.asked] == [QUESTION, "And for training?"]


@pytest.mark.usefixtures("streaming_at_once")
@pytest.mark.parametrize("way", ["button", "sign"])
def test_a_stream_is_stopped_by_slack_s_button_and_by_a_stop_sign_on_it(
    bot: Chatbot, answer: Answer, tmp_path: Path, way: str
) -> None:
    go = threading.Event()
    slow = scripted(bot, answer, Event("text", "Half an "), go, 0.3, Event("text", "answer "))
    with workspace(slow, tmp_path, workers=1) as slack:
        root = slack.ask(QUESTION)
        slack.api.wait_for("chat.startStream")
        (streamed,) = slack.api.said()
        while slack.desk.state.thread_of("C1", streamed["ts"]) != root:
            threading.Event().wait(0.01)
        if way == "button":
            slack.send(
                requests.event(
                    "agent_session_stopped", channel="C1", thread_ts=root, user="U1", streaming_message_ts=[]
                )
            )
        else:
            item = {"type": "message", "channel": "C1", "ts": streamed["ts"]}
            slack.send(requests.event("reaction_added", reaction="octagonal_sign", user="U1", item=item))
        go.set()
        slack.api.wait_for("chat.update")
        assert (slack.said()[0], slack.api.said()[0]["streaming"]) == ("Stopped.", False)
        # The button ends one answer; the reaction silences the thread.
        assert slack.desk.state.thread_state("C1", root) == ("followed" if way == "button" else "silenced")


# Answers


def test_a_command_s_answer_can_be_shared_with_everyone(bot: Chatbot, answer: Answer, tmp_path: Path) -> None:
    with workspace(scripted(bot, answer), tmp_path) as slack:
        slack.send(requests.command(QUESTION, slack.api.url + "hook"))
        button = slack.api.wait_for("hook")[0]["blocks"][-1]["elements"][0]
        assert (button["action_id"], button["text"]["text"]) == (SHARE, "Share with everyone")
        slack.send(requests.button(SHARE, button["value"], user="U5") | {"response_url": slack.api.url + "hook2"})
        head, shared = slack.api.wait_for("hook2", 2)
        assert head["blocks"][0]["elements"][0]["text"] == "<@U5> asked and shares the answer:"
        assert head["blocks"][1]["text"]["text"] == QUESTION
        assert (shared["response_type"], shared["replace_original"]) == ("in_channel", False)
        assert [block["type"] for block in shared["blocks"]][-1] == "context_actions"
        assert SHARE not in str(shared["blocks"])


def test_a_shared_answer_that_is_too_long_says_so(bot: Chatbot, answer: Answer, tmp_path: Path) -> None:
    long = replace(answer, text="\n\n".join([f"{'Trainium is for training. ' * 150}[1]"] * 14))
    with workspace(scripted(bot, long), tmp_path) as slack:
        slack.send(requests.command(QUESTION, slack.api.url + "hook"))
        button = slack.api.wait_for("hook", 5)[-1]["blocks"][-1]["elements"][0]
        slack.send(requests.button(SHARE, button["value"]) | {"response_url": slack.api.url + "hook2"})
        assert slack.api.wait_for("hook2", 5)[-1]["text"] == LONGER


def test_who_did_not_find_an_answer_helpful_may_say_why(bot: Chatbot, answer: Answer, tmp_path: Path) -> None:
    with workspace(scripted(bot, answer), tmp_path) as slack:
        slack.ask(QUESTION)
        slack.api.wait_for_answers()
        buttons = slack.api.said()[0]["blocks"][-1]["elements"][0]
        slack.send(requests.button(FEEDBACK, buttons["negative_button"]["value"], user="U5"))
        view = slack.api.wait_for("views.open")[0]["view"]
        slack.send(requests.comment(view, "It is for training.", user="U5"))
        slack.settle()
        (vote,) = FeedbackStore(slack.desk.settings.index).all()
        assert (view["callback_id"], vote.voter, vote.helpful) == (REASON, "U5", False)
        assert vote.comment == "It is wrong: It is for training."


def test_an_answer_leads_to_the_page_and_a_press_of_the_link_is_acknowledged(
    bot: Chatbot, answer: Answer, tmp_path: Path
) -> None:
    with workspace(scripted(bot, answer), tmp_path, app_url="https://chat.example/") as slack:
        slack.ask(QUESTION)
        slack.api.wait_for_answers()
        link = slack.api.said()[0]["blocks"][-3]["elements"][1]
        assert link["url"] == "https://chat.example/?q=Is+Trainium+for+inference%3F"
        assert slack.send(requests.button(link["action_id"], ""))[0] == 200


def test_the_fallback_text_says_what_the_blocks_say(bot: Chatbot, answer: Answer, tmp_path: Path) -> None:
    with workspace(scripted(bot, answer), tmp_path) as slack:
        slack.ask(QUESTION)
        slack.api.wait_for_answers()
        (message,) = slack.api.said()
    assert message["text"] == shown_text(tuple(message["blocks"]))
    words = " ".join(message["text"].split())
    assert all(" ".join(c.quote.split()) in words for c in answer.citations)
    assert all(c.passage.chunk.document.title in words for c in answer.citations)
    assert "AI-made answer" in words
    assert slack.api.rejected == []


# Files


def shared(slack: Workspace, name: str, data: bytes, size: int = 0) -> dict:
    slack.api.files[name] = data
    return {"name": name, "url_private_download": f"{slack.api.url}files/{name}", "size": size or len(data)}


def test_text_that_comes_as_a_file_is_read_with_the_question_and_what_cannot_be_read_is_told(
    bot: Chatbot, answer: Answer, tmp_path: Path
) -> None:
    script = scripted(bot, answer)
    with workspace(script, tmp_path) as slack:
        files = [shared(slack, "workload.txt", b"70 billion parameters"), shared(slack, "photo.png", b"\x89PNG")]
        files += [shared(slack, "long.txt", b"x" * 7_961), shared(slack, "huge.pdf", b"%PDF", 9_000_000)]
        slack.send(requests.mention("What do I need?", "5.1", files=files))
        slack.api.wait_for_answers()
        assert script.asked[0][0] == "What do I need?\n\n70 billion parameters"
        text = slack.api.said()[0]["text"]
        for told in (
            "workload.txt was read with the question.",
            "photo.png was not read: it is not text, Markdown, CSV, JSON or PDF.",
            "long.txt was not read: it has 7,961 characters, and I read at most 7,960.",
            "huge.pdf was not read: it is larger than 5 MB.",
        ):
            assert told in text


def test_a_message_of_files_alone_none_of_which_is_read_says_why(bot: Chatbot, answer: Answer, tmp_path: Path) -> None:
    with workspace(scripted(bot, answer), tmp_path) as slack:
        slack.send(
            requests.message("", "5.1", channel="D1", subtype="file_share", files=[shared(slack, "a.zip", b"x")])
        )
        slack.api.wait_for("chat.postMessage")
        assert slack.said("D1") == ["a.zip was not read: it is not text, Markdown, CSV, JSON or PDF."]


@pytest.mark.parametrize(
    "url", ["https://evil.example/a.txt", "http://127.0.0.1.evil.example/a.txt", "file:///etc/passwd"]
)
def test_the_token_is_sent_to_slack_alone(
    bot: Chatbot, answer: Answer, tmp_path: Path, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with workspace(scripted(bot, answer), tmp_path) as slack:
        file = {"name": "a.txt", "url_private_download": url, "size": 3}
        slack.send(requests.mention(QUESTION, "5.1", files=[file]))
        slack.api.wait_for_answers()
        assert "a.txt was not read: Slack did not give it to me" in slack.api.said()[0]["text"]
    assert "a file was not read: ConnectionError" in caplog.text


# Operation


@pytest.mark.parametrize(("fault", "said"), [("", (200, "ok")), ("not connected to Slack", (503, "not connected to Slack"))])  # fmt: skip
def test_health_says_whether_the_process_does_its_work(fault: str, said: tuple[int, str]) -> None:
    with EventServer(None, "", "127.0.0.1", 0, lambda: fault) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,)).start()
        try:
            address = f"http://127.0.0.1:{server.server_port}"
            answered = httpx.get(f"{address}{HEALTH}")
            assert (answered.status_code, answered.text) == said
            looked = httpx.head(f"{address}{HEALTH}")
            assert (looked.status_code, looked.text, looked.headers["content-length"]) == (said[0], "", str(len(said[1])))
            assert (httpx.post(address).status_code, httpx.get(address).status_code) == (404, 404)
        finally:
            server.shutdown()


def test_a_command_is_acknowledged_and_told_while_the_store_is_locked(
    bot: Chatbot, answer: Answer, tmp_path: Path
) -> None:
    with workspace(scripted(bot, answer), tmp_path) as slack:
        with closing(sqlite3.connect(slack.desk.state.place, isolation_level=None)) as holder:
            holder.execute("BEGIN EXCLUSIVE")
            status, told, seconds = slack.send(requests.command(QUESTION, slack.api.url + "hook"))
            asked = slack.send(requests.mention(QUESTION, "5.1"))
        assert (status, told[:40], asked[0]) == (200, FAILED[:40], 200)
        assert seconds < 3
        assert slack.api.wait_for("chat.postMessage")[0]["text"][:40] == FAILED[:40]


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (requests.event("app_uninstalled"), "app_uninstalled"),
        (requests.event("tokens_revoked", tokens={"bot": [BOT_USER]}), "tokens_revoked"),
    ],
    ids=["uninstalled", "revoked"],
)
def test_the_process_ends_and_says_so_when_slack_takes_nothing_from_it_any_more(
    bot: Chatbot, tmp_path: Path, event: dict, code: str
) -> None:
    with pytest.raises(ReaderError, match=rf"^Slack does not take SLACK_BOT_TOKEN any more \({code}\)\. "):  # noqa: PT012, SIM117
        with workspace(bot, tmp_path) as slack:
            slack.send(requests.event("tokens_revoked", tokens={"oauth": ["U5"], "bot": ["UOTHER"]}))
            assert not slack.desk.ending.asked.is_set()
            slack.send(event)
            assert slack.desk.ending.asked.wait(10)


def test_an_answer_that_slack_refuses_for_its_token_is_kept_and_ends_the_process(
    bot: Chatbot, answer: Answer, tmp_path: Path
) -> None:
    with pytest.raises(ReaderError, match=r"any more \(account_inactive\)"):  # noqa: PT012, SIM117
        with workspace(scripted(bot, answer), tmp_path) as slack:
            slack.api.failures["chat.postMessage"] = Failure("account_inactive", times=9)
            slack.ask(QUESTION)
            assert slack.desk.ending.asked.wait(10)
    with workspace(scripted(bot, replace(answer, text="Read again [1].")), tmp_path) as slack:
        take_over(slack.desk)
        slack.api.wait_for_answers()
        assert slack.said()[0] != "Read again [1]."
