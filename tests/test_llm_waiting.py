"""Time limits for a model's answer and token limits for its thoughts, with the protocols of Bedrock, Ollama and OpenAI."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from servers.model_api import Reply, converse_calls, converse_stream, ollama_chat, openai_chat, serving

from chatbot import Answer, Chatbot
from chatbot.deadline import Cancelled
from chatbot.llm.failures import Clock
from chatbot.llm.models import ModelSettings, open_model
from chatbot.llm.scripted import ScriptedChatModel
from chatbot.llm.waiting import Patience, timely
from tests.marks import one_of

pytestmark = pytest.mark.usefixtures("clean_environment")
OLLAMA, OPENAI = "ollama:qwen3:8b", "openai:qwen3"
BEDROCK = "bedrock_converse:us.anthropic.claude-sonnet-4-20250514-v1:0"
QUESTION = "How many Trainium chips are in a trn1.32xlarge?"
TEXT = "A trn1.32xlarge has 16 Trainium chips [1]."
CUT_OFF = "{} reached its limit of 1,024 tokens, so its answer is cut off there. Set WATTWISE_MAX_TOKENS to more for longer ones."


def asked(bot: Chatbot, model: str, *replies: Reply, times: int = 1, **settings: Any) -> tuple[list[Answer], list[dict[str, Any]]]:
    """Ask the question `times` times of a server with these replies; return the answers and the request bodies."""
    with serving(*replies) as server:
        url = f"{server.url}/v1" if model.startswith("openai") else server.url
        chat = Chatbot(bot.index, model, ModelSettings(base_url=url, region="us-east-1", **settings))
        return [chat.ask(QUESTION) for _ in range(times)], [request.body for request in server.requests]


@pytest.mark.parametrize(
    ("model", "says", "silence"),
    [
        (OLLAMA, ollama_chat, {"delay": 1.6}),  # it loads the model before sending a header
        pytest.param(OPENAI, openai_chat, {"silence": {1: 1.6}}, marks=pytest.mark.evaluation),  # it sends the role, then thinks silently
        (BEDROCK, converse_stream, {"silence": {1: 1.6}}),
    ],
)
def test_a_first_word_is_waited_for_longer_than_the_next(
    bot: Chatbot, good: str, model: str, says: Callable[[str], Reply], silence: dict[str, Any]
) -> None:
    reply = says(good)
    if model == OPENAI:
        role = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}], "id": "c", "object": "x", "created": 1}
        reply = replace(reply, parts=(f"data: {json.dumps(role)}\n\n".encode(), *reply.parts))
    (answer,), calls = asked(bot, model, replace(reply, **silence), timeout=1.0)
    assert (answer.text, answer.notice, len(calls)) == (TEXT, "", 1)


@pytest.mark.parametrize(("model", "says"), one_of(3, [(OPENAI, openai_chat), (OLLAMA, ollama_chat), (BEDROCK, converse_stream)]))
def test_a_server_without_a_first_word_is_left_once_and_for_all(bot: Chatbot, good: str, model: str, says: Callable[[str], Reply]) -> None:
    (answer,), calls = asked(bot, model, replace(says(good), delay=3.0), timeout=0.5, first_token=1.0)
    assert (answer.model, answer.notice, len(calls) < 2) == ("offline", f"{model} did not answer in time, so the offline reader answered.", True)


def test_the_deadline_of_an_answer_is_put_off_by_the_waits_for_first_words_alone() -> None:
    now = [0.0]
    patience = Patience(Clock(now=lambda: now[0]), ends=90.0, first=300.0, between=30.0)
    for _ in timely(lambda: (now.__setitem__(0, now[0] + seconds) for seconds in (100.0, 20.0, 20.0)), patience):
        patience.speaking = True
    assert (patience.ends, patience.first, patience.left()) == (190.0, 200.0, 50.0)


def test_a_silence_between_words_keeps_what_was_said(bot: Chatbot, good: str) -> None:
    reply = openai_chat(f"{good} And there is much more to say about it.")
    reply = replace(reply, silence={len(reply.parts) - 3: 2.5})
    (answer,), _ = asked(bot, OPENAI, reply, timeout=1.0)
    assert (answer.text, answer.notice) == (TEXT, f"{OPENAI} did not answer in time; what it had said until then is shown, verified.")


def test_a_question_is_left_at_once_while_a_model_is_silent(bot: Chatbot) -> None:
    stopped, asked_for = threading.Event(), threading.Event()

    def script(messages: object) -> str:
        asked_for.set()
        stopped.wait(20)
        return TEXT

    chat = Chatbot(bot.index, ScriptedChatModel(script=script))
    try:
        with pytest.raises(Cancelled):
            chat.ask(QUESTION, cancelled=asked_for.is_set)
        assert not stopped.is_set()
    finally:
        stopped.set()


@pytest.mark.parametrize(
    ("model", "thinking"),
    [
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", {"type": "enabled", "budget_tokens": 3_000}),
        ("anthropic.claude-3-7-sonnet-20250219-v1:0", {"type": "enabled", "budget_tokens": 3_000}),
        ("global.anthropic.claude-opus-4-5-20251101-v1:0", {"type": "enabled", "budget_tokens": 3_000}),
        ("anthropic.claude-opus-4-7", {"type": "adaptive"}),
    ],
)
def test_claude_is_asked_for_thoughts_beside_the_answers_limit(bot: Chatbot, good: str, model: str, thinking: dict[str, Any]) -> None:
    reply = converse_stream(good, thought="Perhaps 12. No, 16.")
    (answer,), (request,) = asked(bot, f"bedrock_converse:{model}", reply, thinking_tokens=3_000, temperature=0.5)
    assert request["additionalModelRequestFields"] == {"thinking": thinking}
    assert request["inferenceConfig"] == {"maxTokens": 4_024}
    assert (answer.text, answer.dropped, answer.notice) == (TEXT, 0, "")


def test_thoughts_before_a_call_go_back_with_it_as_they_were_signed(bot: Chatbot) -> None:
    calls = converse_calls("find_instances", {"names": ["m6i.8xlarge"]}, thought="I must look that up.")
    (answer,), (_, second) = asked(bot, BEDROCK, calls, converse_stream("An m6i.8xlarge has 32 vCPUs."), thinking_tokens=2_000)
    thought = {"reasoningContent": {"reasoningText": {"text": "I must look that up.", "signature": "signed"}}}
    assert [message["content"][0] for message in second["messages"] if message["role"] == "assistant"] == [thought]
    assert answer.text == "An m6i.8xlarge has 32 vCPUs [1]."


def test_ollama_is_told_whether_to_think(bot: Chatbot, good: str) -> None:
    def of(tokens: int) -> tuple[Any, int, int]:
        (answer,), (request,) = asked(bot, OLLAMA, ollama_chat(good, thought="Perhaps."), thinking_tokens=tokens)
        assert answer.text == TEXT
        return request.get("think"), request["options"]["num_predict"], request["options"]["num_ctx"]

    assert [of(-1), of(0), of(500)] == [(None, 1_024, 16_384), (False, 1_024, 16_384), (True, 1_524, 16_884)]


def test_a_model_that_is_known_to_think_gets_room_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    limits = [open_model(f"openai:{name}", ModelSettings())._get_request_payload("?") for name in ("o3", "gpt-5-mini", "gpt-4.1")]  # type: ignore[attr-defined]
    assert [payload["max_completion_tokens"] for payload in limits] == [9_216, 9_216, 1_024]


def test_a_model_whose_thoughts_ate_its_tokens_gets_more_from_then_on(bot: Chatbot, good: str) -> None:
    replies = [ollama_chat("", stop="length", thought="Perhaps 12. No, 16."), ollama_chat(good), ollama_chat(good)]
    answers, requests = asked(bot, OLLAMA, *replies, times=2)
    assert [(answer.text, answer.notice) for answer in answers] == [(TEXT, "")] * 2
    assert [request["options"]["num_predict"] for request in requests] == [1_024, 9_216, 9_216]
    (answer,), requests = asked(bot, OLLAMA, replies[0])
    assert answer.notice == f"{OLLAMA} had used up its tokens before it said anything (WATTWISE_THINKING_TOKENS), so the offline reader answered."
    assert len(requests) == 2


@pytest.mark.parametrize(
    ("model", "reply"),
    [
        (OLLAMA, lambda text: ollama_chat(text, stop="length")),
        (OPENAI, lambda text: openai_chat(text, stop="length")),
        (BEDROCK, lambda text: converse_stream(text, stop="max_tokens")),
    ],
)
def test_an_answer_that_its_limit_cuts_off_says_so(bot: Chatbot, good: str, model: str, reply: Callable[[str], Reply]) -> None:
    (answer,), _ = asked(bot, model, reply(f"{good} And it ha"))
    assert (answer.text, answer.notice, answer.model) == (TEXT, CUT_OFF.format(model), model)


def test_a_model_whose_thoughts_have_an_end_alone_is_heard_out(bot: Chatbot, good: str) -> None:
    aloud = openai_chat(f"{good} But is that so? Yes.\n</think>\n\n{good}")
    for model in ("openai:deepseek-r1-distill-qwen-7b", OPENAI):
        (answer,), _ = asked(bot, model, aloud)
        assert (answer.text, answer.model) == (TEXT, model)
    (answer, again), _ = asked(bot, "openai:deepseek-r1", openai_chat(good), times=2)  # its server strips the thoughts
    assert (answer.text, again.text) == (TEXT, TEXT)
