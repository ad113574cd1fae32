"""Failures between the program and a model server, each with its one-sentence error, using real clients and a real server."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from servers.model_api import (
    Reply,
    aws_error,
    converse_stream,
    ollama_chat,
    ollama_error,
    openai_chat,
    openai_error,
    serving,
)

from chatbot import Chatbot, ReaderError
from chatbot.llm.addresses import likely_address, shown_address
from chatbot.llm.failures import Clock
from chatbot.llm.models import ModelSettings

pytestmark = pytest.mark.usefixtures("clean_environment")
QUESTION = "How many Trainium chips are in a trn1.32xlarge?"
OPENAI, OLLAMA, BEDROCK = "openai:qwen", "ollama:llama3", "bedrock_converse:anthropic.claude-3-5-sonnet-20241022-v2:0"
PROFILE = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123def456"
ELSE = "or use the model offline."
LOGIN = Reply((b"<!DOCTYPE html><html><title>Sign in</title></html>",), "text/html; charset=utf-8")
CLAUDE = "anthropic.claude-sonnet-4-20250514-v1:0"
NO_BASE_MODEL = (
    f"{PROFILE} does not say which model it leads to. Set WATTWISE_BASE_MODEL to the id of that model, for example {CLAUDE} "
    f"(`aws bedrock get-inference-profile` tells it), or WATTWISE_PROVIDER to its maker and allow bedrock:GetInferenceProfile, {ELSE}"
)
NO_SUCH_MODEL = f"The server has no model qwen. Check the name against the models it lists, {ELSE}"
TOO_LONG = f"The question with a single passage is longer than {{}} can read. Ask shorter, start a new conversation, or choose a model with a larger context, {ELSE}"
Address = Callable[[str], str]


def as_json(body: object, status: int = 200) -> Reply:
    return Reply((json.dumps(body).encode(),), "application/json", status)


def line(error: str) -> Reply:
    """An Ollama answer that consists of an error only."""
    return Reply((json.dumps({"error": error}).encode() + b"\n",), "application/x-ndjson")


def event(body: object) -> Reply:
    """An answer of an OpenAI-compatible server that consists of one event."""
    return Reply((b"data: " + json.dumps(body).encode() + b"\n\n",), "text/event-stream")


def under_v1(url: str) -> str:
    return f"{url}/v1"


def bare(url: str) -> str:
    return url.removeprefix("http://")


def ask(bot: Chatbot, model: str, settings: ModelSettings, address: Address, reply: Reply) -> tuple[str, str]:
    """Ask the question; return ("error", message) with URL for the server's address, or (model, notice) of the answer."""
    with serving(reply) as server:
        given = replace(settings, base_url=address(server.url), region="us-east-1", timeout=20.0)
        try:
            answer = Chatbot(bot.index, model, given, Clock(sleep=lambda seconds: None)).ask(QUESTION)
        except ReaderError as error:
            return "error", str(error).replace(server.url, "URL").replace(bare(server.url), "HOST")
        return answer.model, answer.notice


@pytest.mark.parametrize(
    ("model", "address", "reply", "sentence"),
    [
        (OPENAI, str, as_json({"detail": "Not Found"}, 404), f"There is no chat API for {OPENAI} at URL. Set WATTWISE_BASE_URL to its address, which mostly ends in /v1, for example URL/v1, {ELSE}"),
        (OPENAI, str, as_json({"error": {"message": "Not Found", "type": "NotFoundError", "code": 404}}, 404), f"There is no chat API for {OPENAI} at URL. Set WATTWISE_BASE_URL to its address, which mostly ends in /v1, for example URL/v1, {ELSE}"),
        (OPENAI, str, Reply((b"404 page not found",), "text/plain", 404), f"There is no chat API for {OPENAI} at URL. Set WATTWISE_BASE_URL to its address, which mostly ends in /v1, for example URL/v1, {ELSE}"),
        (OPENAI, str, replace(LOGIN, status=404), f"There is no chat API for {OPENAI} at URL. Set WATTWISE_BASE_URL to its address, which mostly ends in /v1, for example URL/v1, {ELSE}"),
        (OPENAI, str, as_json({"error": "Unexpected endpoint or method. (POST /chat/completions)"}), f"There is no chat API for {OPENAI} at URL. Set WATTWISE_BASE_URL to its address, which mostly ends in /v1, for example URL/v1, {ELSE}"),
        (OPENAI, under_v1, as_json({"object": "error", "message": "The model `qwen` does not exist.", "type": "NotFoundError", "code": 404}, 404), NO_SUCH_MODEL),
        (OLLAMA, under_v1, Reply((b"404 page not found",), "text/plain", 404), f"Ollama's API is not at URL/v1. Set WATTWISE_BASE_URL to where it runs, without a path, for example http://localhost:11434, {ELSE}"),
        (OPENAI, lambda url: f"{bare(url)}/v1", openai_chat("x"), f"HOST/v1 is no address of a server for {OPENAI}. Write WATTWISE_BASE_URL with http:// or https:// in front, for example URL/v1, {ELSE}"),
        (OPENAI, lambda url: "http://box:port/v1", openai_chat("x"), f"http://box:port/v1 is no address of a server for {OPENAI}. Write WATTWISE_BASE_URL with http:// or https:// in front, for example http://box:port/v1, {ELSE}"),
        (OPENAI, lambda url: "http://my box/v1", openai_chat("x"), f"http://my box/v1 is no address of a server for {OPENAI}. Write WATTWISE_BASE_URL with http:// or https:// in front, for example http://localhost:8080/v1, {ELSE}"),
        (OLLAMA, lambda url: "ftp://box", ollama_chat("x"), f"ftp://box is no address of a server. Set WATTWISE_BASE_URL to a host and a port, for example http://localhost:11434, {ELSE}"),
        (BEDROCK, bare, converse_stream("x"), f"HOST is no address of a server for {BEDROCK}. Unset WATTWISE_BASE_URL, or write it with https:// in front, for example https://bedrock-runtime.us-east-1.amazonaws.com, {ELSE}"),
        (OPENAI, under_v1, LOGIN, f"A web page answers at URL/v1 in place of {OPENAI}, perhaps the login page of a proxy. Log in there, list the server in NO_PROXY, or check WATTWISE_BASE_URL, {ELSE}"),
        (OLLAMA, str, LOGIN, f"A web page answers at URL in place of {OLLAMA}, perhaps the login page of a proxy. Log in there, list the server in NO_PROXY, or check WATTWISE_BASE_URL, {ELSE}"),
        (BEDROCK, str, LOGIN, f"A web page answers at URL in place of {BEDROCK}, perhaps the login page of a proxy. Log in there, list the server in NO_PROXY, or check WATTWISE_BASE_URL, {ELSE}"),
        (OPENAI, under_v1, openai_error(400, "invalid_request_error", "This model's maximum context length is 4096 tokens."), TOO_LONG.format(OPENAI)),
        (OPENAI, under_v1, event({"error": {"message": "This model's maximum context length is 4096 tokens.", "code": 400}}), TOO_LONG.format(OPENAI)),
        (OLLAMA, str, line("input length exceeds the context length"), TOO_LONG.format(OLLAMA)),
        (BEDROCK, str, aws_error("ValidationException", 400, "input length and `max_tokens` exceed context limit: 3 + 4 > 5"), TOO_LONG.format(BEDROCK)),
        (OLLAMA, str, line("model 'llama3' not found, try pulling it first"), f"Ollama has no model llama3. Fetch it with `ollama pull llama3`, {ELSE}"),
        (OLLAMA, str, line("model requires more system memory (8.4 GiB) than is available (3.1 GiB)"), f"The machine that runs {OLLAMA} has too little memory for it. Choose a smaller model or one of fewer bits, or set WATTWISE_CONTEXT_TOKENS to less, {ELSE}"),
        (OPENAI, under_v1, openai_error(500, "server_error", "CUDA out of memory."), f"The machine that runs {OPENAI} has too little memory for it. Choose a smaller model or one of fewer bits, {ELSE}"),
        (OLLAMA, str, ollama_error('"llama3" does not support chat', 400), f"{OLLAMA} has no chat template, so it cannot hold a conversation. Choose an instruction-tuned model, {ELSE}"),
        (f"bedrock_converse:{PROFILE}", str, converse_stream("x"), NO_BASE_MODEL),
    ],
    ids=[
        "no /v1, FastAPI", "no /v1, vLLM", "no /v1, Ollama", "no /v1, a page", "no /v1, LM Studio", "no such model", "Ollama at /v1", "no scheme",
        "no port", "a space", "another scheme", "Bedrock without a scheme", "login page, OpenAI", "login page, Ollama", "login page, Bedrock",
        "context", "context in an event", "context in a line", "context, Bedrock", "model in a line", "memory in a line", "memory, OpenAI", "no chat", "profile",
    ],
)  # fmt: skip
def test_what_the_user_can_mend_ends_in_one_sentence(
    bot: Chatbot, model: str, address: Address, reply: Reply, sentence: str
) -> None:
    assert ask(bot, model, ModelSettings(), address, reply) == ("error", sentence)


@pytest.mark.parametrize(
    ("model", "address", "reply", "why"),
    [
        (OPENAI, under_v1, Reply((b'data: {"id": "c", "choi\n\n',), "text/event-stream"), "sent what is no answer"),
        (OPENAI, under_v1, Reply((openai_chat("No way").parts[0], b"data: {]\n\n"), "text/event-stream"), "sent what is no answer"),
        (OPENAI, under_v1, Reply((), "text/event-stream"), "sent what is no answer"),
        (OPENAI, under_v1, as_json({"error": {"message": "the engine died"}}), "sent what is no answer"),
        (OPENAI, under_v1, event({"error": "the engine died"}), "is overloaded or failing"),
        (OLLAMA, str, Reply((ollama_chat("No way").parts[0], b'{"model": "m", "mess\n'), "application/x-ndjson"), "sent what is no answer"),
        (OLLAMA, str, Reply((b'{"foo": 1}\n',), "application/x-ndjson"), "sent what is no answer"),
        (OLLAMA, str, line("llama runner process has terminated: exit status 2"), "is overloaded or failing"),
    ],
    ids=["half an object", "half an object later", "nothing", "error in place of a stream", "error event", "half a line", "another object", "error line"],
)  # fmt: skip
def test_what_time_may_mend_is_answered_offline_with_the_reason(
    bot: Chatbot, model: str, address: Address, reply: Reply, why: str
) -> None:
    notice = f"{model} {why}, so the offline reader answered."
    assert ask(bot, model, ModelSettings(), address, reply) == ("offline", notice)


def test_a_profile_whose_model_may_not_be_looked_up_is_told_apart_from_a_denied_model(bot: Chatbot) -> None:
    denied = aws_error("AccessDeniedException", 403, "not authorized to perform: bedrock:GetInferenceProfile")
    settings = ModelSettings(provider="anthropic")
    assert ask(bot, f"bedrock_converse:{PROFILE}", settings, str, denied) == ("error", NO_BASE_MODEL)


def test_a_profile_with_its_model_named_is_asked_and_not_looked_up(bot: Chatbot) -> None:
    with serving(converse_stream("The sources do not say.")) as server:
        settings = ModelSettings(base_url=server.url, region="us-east-1", base_model=CLAUDE)
        assert Chatbot(bot.index, f"bedrock_converse:{PROFILE}", settings).ask(QUESTION).notice == ""
        assert {request.path.rpartition("/")[2] for request in server.requests} == {"converse-stream"}


def test_a_plain_host_and_port_is_enough_for_ollama(bot: Chatbot) -> None:
    assert ask(bot, OLLAMA, ModelSettings(), bare, ollama_chat("The sources do not say.")) == (OLLAMA, "")


def test_no_password_in_an_address_is_shown() -> None:
    assert shown_address("http://me:secret@box:8080/v1") == "http://box:8080/v1"
    assert shown_address("me:secret@box:8080") == "box:8080"
    assert likely_address(shown_address("https://me:secret@box")) == "https://box/v1"
