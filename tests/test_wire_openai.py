"""OpenAI's own client, through ChatOpenAI, against a server on loopback, the way llama.cpp, vLLM and LM Studio are used."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from servers.model_api import TOKENS_IN, TOKENS_OUT, Reply, openai_chat, openai_error, serving

from chatbot import Answer, Chatbot, ReaderError, Usage
from chatbot.llm.failures import Clock
from chatbot.llm.models import ModelSettings
from chatbot.tools import TOOLS

pytestmark = pytest.mark.usefixtures("clean_environment")
MODEL = "openai:qwen2.5:7b"
QUESTION = "How many Trainium chips are in a trn1.32xlarge?"
TEXT = "A trn1.32xlarge has 16 Trainium chips [1]."


def asked(bot: Chatbot, *replies: Reply, slept: list[float] | None = None) -> tuple[Answer, int]:
    """The answer from a server with these replies, and the number of requests."""
    with serving(*replies) as server:
        settings = ModelSettings(base_url=f"{server.url}/v1", timeout=20.0)
        clock = Clock(sleep=([] if slept is None else slept).append, jitter=lambda: 1.0)
        return Chatbot(bot.index, MODEL, settings, clock).ask(QUESTION), len(server.requests)


def test_a_stream_of_events_becomes_a_verified_answer_with_its_tokens(bot: Chatbot, good: str) -> None:
    answer, calls = asked(bot, openai_chat(f"{good} It is blue [1]."))
    assert (answer.text, answer.dropped, answer.notice, answer.model, calls) == (TEXT, 1, "", MODEL, 1)
    assert answer.usage == Usage(TOKENS_IN, TOKENS_OUT)


@pytest.mark.filterwarnings("ignore:Pydantic serializer")
@pytest.mark.parametrize("usage", [b'"many"', b"[1]", b'{"prompt_tokens": "many"}', b'{"prompt_tokens": 120.5}', b'{"prompt_tokens": NaN}', b'{"prompt_tokens": -5}', b'{"prompt_tokens_details": 1}', b'{"prompt_tokens_details": {"cached_tokens": "all"}}'])
def test_counts_of_tokens_that_are_none_leave_the_answer_as_it_is(bot: Chatbot, good: str, usage: bytes) -> None:
    *parts, last, done = openai_chat(good).parts
    malformed = re.sub(rb'"usage": \{.*?\}', b'"usage": ' + usage, last)
    assert malformed != last
    answer, calls = asked(bot, Reply((*parts, malformed, done), "text/event-stream"))
    assert (answer.text, answer.notice, answer.usage, calls) == (TEXT, "", None, 1)


def test_a_break_after_the_end_does_no_harm(bot: Chatbot, good: str) -> None:
    *parts, end, _, _ = openai_chat(good).parts
    answer, calls = asked(bot, Reply((*parts, end), "text/event-stream", cut=True))
    assert (answer.text, answer.notice, answer.usage, calls) == (TEXT, "", None, 1)


def test_a_server_of_ones_own_needs_no_key_and_gets_the_limit_by_its_common_name(bot: Chatbot, good: str) -> None:
    with serving(openai_chat(good)) as server:
        Chatbot(bot.index, MODEL, ModelSettings(base_url=f"{server.url}/v1", max_tokens=77)).ask(QUESTION)
        request = server.requests[0]
    assert (request.path, request.headers["authorization"]) == ("/v1/chat/completions", "Bearer none")
    assert [tool["function"]["name"] for tool in request.body["tools"]] == [tool.name for tool in TOOLS]
    body = {k: v for k, v in request.body.items() if k not in ("messages", "tools")}
    assert body == {
        "model": "qwen2.5:7b",
        "max_tokens": 77,
        "temperature": 0.0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_the_clients_own_variables_name_the_server_and_the_key(
    bot: Chatbot, good: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(openai_chat(good)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
        assert Chatbot(bot.index, MODEL, ModelSettings()).ask(QUESTION).text == TEXT
        assert server.requests[0].headers["authorization"] == "Bearer sk-mine"


def test_throttling_is_waited_out_as_long_as_the_service_says(bot: Chatbot, good: str) -> None:
    slept: list[float] = []
    busy = openai_error(429, "rate_limit_exceeded", headers={"Retry-After": "7"})
    answer, calls = asked(bot, busy, openai_error(503, "loading"), openai_chat(good), slept=slept)
    assert (answer.text, slept, calls) == (TEXT, [7.0, 1.0], 3)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (openai_error(429, "rate_limit_exceeded"), "takes no more requests for now"),
        (openai_error(503, "loading_model"), "is overloaded or failing"),
        (openai_chat("No", ends=False), "broke off in the middle of its answer"),
        (Reply(openai_chat("No way").parts[:1], "text/event-stream", cut=True), "broke off in the middle of its answer"),
        (Reply((b"data: <html>\n\n",), "text/event-stream"), "sent what is no answer"),
        (Reply((b'data: {"error": {"message": "x", "code": "server_error"}}\n\n',), "text/event-stream"), "is overloaded or failing"),
    ],
    ids=["throttled", "loading", "no end", "cut", "html", "error event"],
)  # fmt: skip
def test_what_passes_is_answered_offline_in_the_end(bot: Chatbot, reply: Reply, why: str) -> None:
    answer, calls = asked(bot, reply)
    assert (answer.model, answer.text, calls) == ("offline", bot.ask(QUESTION).text, 5)
    assert answer.notice == f"{MODEL} {why}, so the offline reader answered."


@pytest.mark.parametrize(
    ("reply", "start"),
    [
        (openai_error(401, "invalid_api_key", "Incorrect API key provided: sk-secret"), f"The key for {MODEL} is not accepted. Check OPENAI_API_KEY"),
        (openai_error(404, "model_not_found"), "The server has no model qwen2.5:7b."),
        (openai_error(429, "insufficient_quota"), f"The quota for {MODEL} is used up."),
        (openai_error(400, "invalid_request_error"), f"{MODEL} does not take the request as it is."),
        (openai_error(400, "exceed_context_size_error", "the request exceeds the available context size"), "The question with a single passage is longer"),
        (openai_chat("I can", "content_filter"), f"The guardrail of {MODEL} stopped this answer."),
    ],
    ids=["key", "model", "quota", "rejected", "context", "filter"],
)  # fmt: skip
def test_what_the_user_can_mend_is_one_sentence(bot: Chatbot, reply: Reply, start: str) -> None:
    with pytest.raises(ReaderError) as caught:
        asked(bot, reply)
    assert str(caught.value).startswith(start)
    assert "sk-secret" not in str(caught.value)


def test_without_key_and_server_the_remedy_is_said(bot: Chatbot) -> None:
    with pytest.raises(ReaderError, match=f"^No key was found for {MODEL}. Set OPENAI_API_KEY, or WATTWISE_BASE_URL"):
        Chatbot(bot.index, MODEL, ModelSettings()).ask(QUESTION)


def test_a_server_that_is_not_running_is_named(bot: Chatbot) -> None:
    settings = ModelSettings(base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ReaderError, match=r"^Nothing answers at http://127\.0\.0\.1:9/v1 for openai:"):
        Chatbot(bot.index, MODEL, settings).ask(QUESTION)


@pytest.mark.evaluation
def test_of_many_throttled_at_once_all_are_answered_within_seconds(bot: Chatbot) -> None:
    busy = openai_error(429, "rate_limit_exceeded")
    with serving(busy) as server, ThreadPoolExecutor(15) as askers:
        chat = Chatbot(bot.index, MODEL, ModelSettings(base_url=f"{server.url}/v1"))
        answers = list(askers.map(lambda _: chat.ask(QUESTION), range(15)))
        calls = len(server.requests)
    assert {(a.text.partition("\n")[0], a.model) for a in answers} == {(answers[0].text.partition("\n")[0], "offline")}
    assert all(answer.notice == f"{MODEL} takes no more requests for now, so the offline reader answered." for answer in answers)
    assert max(answer.seconds for answer in answers) < 30
    assert calls < 30  # only one asker at a time waits and retries
