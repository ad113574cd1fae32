"""Ollama's own client, through ChatOllama, against a server on loopback."""

import pytest
from servers.model_api import TOKENS_IN, TOKENS_OUT, Reply, ollama_chat, ollama_error, serving

from chatbot import Answer, Chatbot, ReaderError, Usage
from chatbot.llm.failures import Clock
from chatbot.llm.models import ModelSettings

MODEL = "ollama:llama3.2:3b"
QUESTION = "How many Trainium chips are in a trn1.32xlarge?"
TEXT = "A trn1.32xlarge has 16 Trainium chips [1]."


def asked(bot: Chatbot, *replies: Reply) -> tuple[Answer, int]:
    """The answer from a server with these replies, and the number of requests."""
    with serving(*replies) as server:
        settings = ModelSettings(base_url=server.url, timeout=20.0)
        clock = Clock(sleep=lambda seconds: None)
        return Chatbot(bot.index, MODEL, settings, clock).ask(QUESTION), len(server.requests)


def test_a_stream_of_lines_becomes_a_verified_answer_with_its_tokens(bot: Chatbot, good: str) -> None:
    answer, calls = asked(bot, ollama_chat(f"{good} It is blue [1]."))
    assert (answer.text, answer.dropped, answer.notice, answer.model, calls) == (TEXT, 1, "", MODEL, 1)
    assert answer.usage == Usage(TOKENS_IN, TOKENS_OUT)


@pytest.mark.parametrize("count", [b'"many"', b"120.5", b"-5"])
def test_counts_of_tokens_that_are_none_leave_the_answer_as_it_is(bot: Chatbot, good: str, count: bytes) -> None:
    *parts, last = ollama_chat(good).parts
    malformed = last.replace(str(TOKENS_IN).encode(), count)
    answer, calls = asked(bot, Reply((*parts, malformed), "application/x-ndjson"))
    assert (answer.text, answer.notice, answer.usage, calls) == (TEXT, "", None, 1)


def test_thoughts_before_the_answer_are_no_part_of_it(bot: Chatbot, good: str) -> None:
    answer, _ = asked(bot, ollama_chat(f"<think>Perhaps: {good}</think>\n{good}"))
    assert (answer.text, answer.dropped) == (TEXT, 0)


def test_the_request_widens_the_window_that_would_cut_the_prompt_unseen(bot: Chatbot, good: str) -> None:
    with serving(ollama_chat(good)) as server:
        Chatbot(bot.index, MODEL, ModelSettings(base_url=server.url, max_tokens=77)).ask(QUESTION)
        request = server.requests[0]
    assert (request.path, request.body["model"]) == ("/api/chat", "llama3.2:3b")
    assert request.body["options"] == {"num_ctx": 16_384, "num_predict": 77, "temperature": 0.0}


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (ollama_error("server busy", 503), "is overloaded or failing"),
        (ollama_error("llama runner process has terminated", 500), "is overloaded or failing"),
        (ollama_chat("No", ends=False), "broke off in the middle of its answer"),
        (Reply(ollama_chat("No way").parts[:1], "application/x-ndjson", cut=True), "broke off in the middle of its answer"),
        (Reply((b"<html>proxy</html>\n",), "application/x-ndjson"), "sent what is no answer"),
        (Reply((b'{"error": "an error was encountered while running the model"}\n',), "application/x-ndjson"), "is overloaded or failing"),
    ],
    ids=["busy", "crashed", "no end", "cut", "html", "error line"],
)  # fmt: skip
def test_what_passes_is_answered_offline_in_the_end(bot: Chatbot, reply: Reply, why: str) -> None:
    answer, calls = asked(bot, reply)
    assert (answer.model, answer.text, calls) == ("offline", bot.ask(QUESTION).text, 5)
    assert answer.notice == f"{MODEL} {why}, so the offline reader answered."


def test_an_error_line_after_a_sentence_keeps_the_sentence(bot: Chatbot, good: str) -> None:
    answer, calls = asked(bot, ollama_chat(f"{good} And more to ", error="out of memory"))
    assert (answer.text, answer.model, calls) == (TEXT, MODEL, 1)
    assert "what it had said until then is shown" in answer.notice


def test_a_model_that_was_not_pulled_is_named_with_the_command(bot: Chatbot) -> None:
    with pytest.raises(
        ReaderError, match=r"^Ollama has no model llama3\.2:3b\. Fetch it with `ollama pull llama3\.2:3b`"
    ):
        asked(bot, ollama_error("model 'llama3.2:3b' not found", 404))


def test_a_server_that_is_not_running_is_named_with_the_command(bot: Chatbot) -> None:
    settings = ModelSettings(base_url="http://127.0.0.1:9")
    with pytest.raises(
        ReaderError, match=r"^Ollama does not answer at http://127\.0\.0\.1:9\. Start it with `ollama serve`"
    ):
        Chatbot(bot.index, MODEL, settings).ask(QUESTION)
