import importlib.machinery
import subprocess
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import pytest

from chatbot import Chatbot, ReaderError
from chatbot.llm.models import ModelSettings, check_model, open_model
from chatbot.llm.scripted import ScriptedChatModel
from chatbot.settings import settings_from


class Hiding:
    """An import finder that hides one package."""

    def __init__(self, finder: Any, package: str) -> None:
        self._finder, self._package = finder, package

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        found: importlib.machinery.ModuleSpec | None = (
            None if name == self._package else self._finder.find_spec(name, path, target)
        )
        return found


@pytest.mark.parametrize("model", ["gpt-4o", "vertex:gemini", "Offline", "", ":x", "scripted:x"])
def test_an_unknown_provider_is_an_error_that_names_the_known_ones(bot: Chatbot, model: str) -> None:
    with pytest.raises(ReaderError) as caught:
        Chatbot(bot.index, model)
    assert str(caught.value) == (
        f"No reader for the model {model!r}. Use offline or one of bedrock_converse:MODEL, ollama:MODEL, openai:MODEL, huggingface:MODEL."
    )


def test_a_provider_without_a_model_is_an_error_that_says_so(bot: Chatbot) -> None:
    with pytest.raises(ReaderError, match=r"^'ollama:' names no model\. Write ollama:MODEL"):
        Chatbot(bot.index, "ollama:")


@pytest.mark.parametrize(
    ("model", "package", "extra"),
    [
        ("bedrock_converse:x", "langchain_aws", "aws"),
        ("ollama:x", "langchain_ollama", "ollama"),
        ("openai:x", "langchain_openai", "openai"),
        ("huggingface:x", "langchain_huggingface", "huggingface"),
        ("openai:x", "langchain", "openai"),
    ],
)
def test_a_missing_package_is_named_with_its_install_line(
    model: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, package, raising=False)
    monkeypatch.setattr(sys, "meta_path", [Hiding(finder, package) for finder in sys.meta_path])
    with pytest.raises(ReaderError) as caught:
        check_model(model)
    assert str(caught.value) == f"{model!r} needs more packages. Install them with: pip install 'wattwise[{extra}]'"


@pytest.mark.evaluation
def test_opening_a_chatbot_with_a_model_imports_no_langchain(bot: Chatbot, corpus_index: Any) -> None:
    program = (
        "import sys; from chatbot import Chatbot; Chatbot.open(sys.argv[1], 'bedrock_converse:a.b-v1:0');"
        "print([m for m in ('langchain', 'langchain_core', 'langchain_aws', 'boto3', 'torch') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(corpus_index)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_first_colon_separates_and_bedrock_ids_keep_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "none")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "none")
    settings = ModelSettings(region="us-east-1", guardrail="abc:2", max_tokens=99, timeout=7.6)
    model: Any = open_model("bedrock_converse:anthropic.claude-3-5-sonnet-20241022-v2:0", settings)
    assert model.model_id == "anthropic.claude-3-5-sonnet-20241022-v2:0"
    assert (model.region_name, model.max_tokens) == ("us-east-1", 99)
    config = model.client.meta.config
    assert (config.connect_timeout, config.read_timeout, config.retries["total_max_attempts"]) == (7.6, 300.0, 1)
    assert model.guardrail_config == {"guardrailIdentifier": "abc", "guardrailVersion": "2"}


def test_the_maker_of_an_arn_is_read_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "none")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "none")
    arn = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-20250514-v1:0"
    model: Any = open_model(f"bedrock_converse:{arn}", ModelSettings(region="us-east-1"))
    assert (model.provider, model.model_id) == ("anthropic", arn)


def test_any_langchain_chat_model_is_taken_and_named(bot: Chatbot) -> None:
    assert Chatbot(bot.index, ScriptedChatModel(name_of_model="demo")).model == "scripted:demo"


@pytest.mark.parametrize(
    ("setting", "value", "takes"),
    [
        ("passages", "0", "a whole number from 1 on"),
        ("passages", "-3", "a whole number from 1 on"),
        ("max_tokens", "0", "a whole number from 1 on"),
        ("context_tokens", "-1", "a whole number from 1 on"),
        ("first_token", "0.0", "a number of seconds above 0"),
        ("timeout", "0.0", "a number of seconds above 0"),
        ("timeout", "inf", "a number of seconds above 0"),
        ("deadline", "-1.0", "a number of seconds above 0"),
        ("deadline", "nan", "a number of seconds above 0"),
        ("temperature", "5.0", "a number from 0 to 2, or one under 0 to leave it to the service"),
        ("temperature", "nan", "a number from 0 to 2, or one under 0 to leave it to the service"),
        ("guardrail", ":1", "id:version, or the id alone for its draft"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_named_with_what_it_takes(setting: str, value: str, takes: str) -> None:
    with pytest.raises(ReaderError) as caught:
        settings_from({f"WATTWISE_{setting.upper()}": value}, ModelSettings)
    assert str(caught.value) == f"WATTWISE_{setting.upper()} is {value!r}: it takes {takes}."


def test_the_model_behind_an_arn_is_named_by_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "none")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "none")
    profile = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123def456"
    settings = ModelSettings(region="us-east-1", base_model="us.anthropic.claude-sonnet-4-20250514-v1:0")
    model: Any = open_model(f"bedrock_converse:{profile}", settings)
    assert (model.provider, model.model_id, model.disable_streaming) == ("anthropic", profile, False)


def test_settings_come_from_the_environment(bot: Chatbot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTWISE_DEADLINE", "soon")
    with pytest.raises(ReaderError, match="WATTWISE_DEADLINE is 'soon': it takes a number"):
        Chatbot(bot.index, "ollama:x")
