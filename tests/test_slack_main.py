import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from chatbot import ReaderError
from chatbot.slack import listeners
from chatbot.slack.__main__ import main
from chatbot.slack.events import is_question, says_stop
from chatbot.slack.settings import SlackSettings, Tokens, slack_settings, slack_tokens

ROOT = Path(__file__).resolve().parents[1]


def test_index_and_model_fall_back_to_the_common_settings() -> None:
    common = {"WATTWISE_INDEX": "a", "WATTWISE_MODEL": "ollama:x"}
    assert slack_settings(common) == SlackSettings(index=Path("a"), model="ollama:x")
    own = {"WATTWISE_SLACK_INDEX": "b", "WATTWISE_SLACK_CHANNELS": "C01, G02", "WATTWISE_SLACK_PER_MINUTE": "3"}
    assert slack_settings({**common, **own}) == SlackSettings(
        index=Path("b"), model="ollama:x", channels=("C01", "G02"), per_minute=3
    )


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("CHANNELS", "general", "WATTWISE_SLACK_CHANNELS has 'general': it takes channel ids such as C0123ABCD, found under a channel's name."),
        ("GROUPS", "everyone", "WATTWISE_SLACK_GROUPS has 'everyone': it takes ids of user groups such as S0123ABCD, found in a group's menu."),
        ("TEAMS", "acme", "WATTWISE_SLACK_TEAMS has 'acme': it takes ids of workspaces or organisations such as T0123ABCD."),
        ("CHANNEL_MODELS", "ollama:x", "WATTWISE_SLACK_CHANNEL_MODELS has 'ollama:x': it takes C0123ABCD=… for each channel."),
        ("APP_URL", "chat.example", "WATTWISE_SLACK_APP_URL is 'chat.example': it takes the app's address, https://…."),
        ("API_URL", "slack-gov.com/api/", "WATTWISE_SLACK_API_URL is 'slack-gov.com/api/': it takes Slack's address, https://…."),
        ("STOP_SECONDS", "inf", "WATTWISE_SLACK_STOP_SECONDS is inf: it takes a number above 0."),
        ("STOP_SECONDS", "nan", "WATTWISE_SLACK_STOP_SECONDS is nan: it takes a number above 0."),
        ("WORKERS", "0", "WATTWISE_SLACK_WORKERS is 0: it takes a number above 0."),
        ("QUEUE", "many", "WATTWISE_SLACK_QUEUE is 'many': it takes a whole number."),
    ],
)  # fmt: skip
def test_a_setting_that_cannot_be_used_is_named_with_its_remedy(variable: str, value: str, told: str) -> None:
    with pytest.raises(ReaderError) as caught:
        slack_settings({f"WATTWISE_SLACK_{variable}": value})
    assert str(caught.value) == told


@pytest.mark.parametrize(("given", "longest"), [("100", 100), ("20000", 8_000)])
def test_no_question_is_longer_than_the_reader_takes(given: str, longest: int) -> None:
    assert slack_settings({"WATTWISE_SLACK_LONGEST_QUESTION": given}).longest_question == longest


@pytest.mark.parametrize(
    ("environ", "http", "told"),
    [
        ({}, False, "SLACK_BOT_TOKEN is not set."),
        ({"SLACK_BOT_TOKEN": "xapp-1"}, False, "SLACK_BOT_TOKEN does not begin with xoxb-."),
        ({"SLACK_BOT_TOKEN": "xoxb-1"}, False, "SLACK_APP_TOKEN is not set."),
        ({"SLACK_BOT_TOKEN": "xoxb-1"}, True, "SLACK_SIGNING_SECRET is not set."),
    ],
)
def test_a_missing_token_is_named_with_where_to_find_it(environ: dict[str, str], http: bool, told: str) -> None:
    with pytest.raises(ReaderError) as caught:
        slack_tokens(environ, http=http)
    assert str(caught.value).startswith(f"{told} Copy it from your app's page")


def test_tokens_are_never_shown() -> None:
    assert repr(Tokens("xoxb-1", "xapp-1", "s")) == "Tokens()"


def test_the_command_line_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"):
        monkeypatch.delenv(variable, raising=False)
    assert main(["--http"]) == 1
    assert capsys.readouterr().err.startswith("SLACK_BOT_TOKEN is not set. ")


def test_a_missing_index_is_said_before_slack_is_called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    monkeypatch.setenv("SLACK_SIGNING_SECRET", "s")
    monkeypatch.setenv("WATTWISE_SLACK_API_URL", "http://127.0.0.1:9/")
    assert main(["--http", "--index", str(tmp_path / "none")]) == 1
    assert "wattwise ingest" in capsys.readouterr().err


def test_importing_the_chatbot_or_the_help_imports_no_slack_library() -> None:
    code = (
        "import sys, chatbot, chatbot.slack, chatbot.slack.listeners, chatbot.slack.serving\n"
        "print(sorted(m for m in sys.modules if m.startswith(('slack_bolt', 'slack_sdk'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=os.environ)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_the_manifest_asks_for_what_the_app_uses_and_no_more() -> None:
    manifest = json.loads((ROOT / "slack-manifest.json").read_text())
    features, settings = manifest["features"], manifest["settings"]
    assert [c["command"] for c in features["slash_commands"]] == [listeners.COMMAND]
    assert [s["callback_id"] for s in features["shortcuts"]] == [listeners.SHORTCUT]
    prompts = features["agent_view"]["suggested_prompts"]
    assert tuple((p["title"], p["message"]) for p in prompts) == listeners.PROMPTS
    assert settings["event_subscriptions"]["bot_events"] == [
        "agent_session_stopped", "app_home_opened", "app_mention", "app_uninstalled", "message.channels", "message.groups",
        "message.im", "message.mpim", "reaction_added", "tokens_revoked",
    ]  # fmt: skip
    assert manifest["oauth_config"]["scopes"] == {
        "bot": [
            "app_mentions:read", "assistant:write", "channels:history", "chat:write", "commands", "files:read",
            "groups:history", "im:history", "mpim:history", "reactions:read",
        ]
    }  # fmt: skip
    # Slack's own limits.
    assert len(manifest["display_information"]["description"]) <= 140
    assert 175 <= len(manifest["display_information"]["long_description"]) <= 4000
    assert len(features["agent_view"]["agent_description"]) <= 300
    assert len(features["shortcuts"][0]["name"]) <= 24
    assert (settings["socket_mode_enabled"], settings["interactivity"]) == (True, {"is_enabled": True})


@pytest.mark.parametrize("text", ["stop", "STOP!", "please stop", "Stop it.", "be quiet, please"])
def test_a_wish_for_silence_is_understood(text: str) -> None:
    assert says_stop(text)


@pytest.mark.parametrize("text", ["how do I stop an instance?", "stop training after an hour?", "nonstop", ""])
def test_a_question_about_stopping_is_no_wish_for_silence(text: str) -> None:
    assert not says_stop(text)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("and for 70B?", True), ("what does it cost", True), ("can you train on Inf2?", True), ("could you compare both?", True), ("who makes the L40S?", True), ("Should we use spot?", True),
        ("The H100 has 80 GB.", False), ("did you order the H100s already?", False), ("who deployed the trn1 cluster?", False), ("can someone stop the p4d?", False),
        ("could you share the results for H100?", False), ("does he know about Trn2?", False), ("did our quota request for trn1 get approved?", False),
    ],
)  # fmt: skip
def test_questions_to_the_sources_are_told_from_those_about_what_people_do(text: str, is_one: bool) -> None:
    assert is_question(text) is is_one
