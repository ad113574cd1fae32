"""`wattwise serve` as used by programs: OpenAI's own client, plain HTTP, and what operators read."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from chatbot import REFUSAL, Chatbot, ReaderError, ScriptedChatModel, Turn
from chatbot.__main__ import main as wattwise
from chatbot.presentation.render import as_json
from chatbot.serve.openai_api import inert
from chatbot.serve.settings import ServeSettings, serve_settings
from ingest import CorpusError, sync
from tests.servers.api_server import ApiServer, EndlessChatbot, serving
from tests.servers.slack_workspace import scripted

ROOT = Path(__file__).resolve().parents[1]
QUESTION = "How much accelerator memory does a trn1.32xlarge have?"
TEXT = "A trn1.32xlarge has 512 GB of accelerator memory [1]."
CONTENT = f"""{TEXT}

Sources:

[1] Amazon EC2 Trn1 Instances: Accelerating Generative AI Training > What is in a trn1.32xlarge?
“A trn1.32xlarge has 512 GB of accelerator memory.”"""
ASKED: list[Any] = [{"role": "user", "content": QUESTION}]


_TALK = "USER: How much memory has a [p5]?\nASSISTANT: 640 GB."


def _task(task: str, wanted: str) -> str:
    """A prompt as Open WebUI sends it."""
    return f"### Task:\n{task}\n### Guidelines:\n- Be brief.\n### Output:\nJSON format: {wanted}\n### Chat History:\n<chat_history>\n{_TALK}\n</chat_history>"


@pytest.fixture(scope="module")
def server(bot: Chatbot) -> Iterator[ApiServer]:
    with serving(bot) as started:
        yield started


def same(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer's JSON without the fields that differ from run to run."""
    return {key: value for key, value in answer.items() if key not in ("seconds", "footprint")}


def told(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["message"]


class TestOpenAIClient:
    def test_a_completion_is_the_answer_with_footnotes_and_its_json_beside_it(
        self, server: ApiServer, bot: Chatbot
    ) -> None:
        completion = server.openai.chat.completions.create(model="wattwise", messages=ASKED)
        assert completion.choices[0].message.content == CONTENT
        assert completion.choices[0].finish_reason == "stop"
        assert (completion.model, completion.object) == ("wattwise", "chat.completion")
        assert completion.usage is not None
        assert completion.usage.total_tokens == 0  # written without a language model
        assert completion.model_extra is not None
        assert same(completion.model_extra["wattwise"]) == same(as_json(bot.ask(QUESTION)))

    def test_a_stream_comes_to_the_same_text_and_ends_with_the_json_and_the_usage(self, server: ApiServer) -> None:
        with server.openai.chat.completions.create(
            model="wattwise-offline", messages=ASKED, stream=True, stream_options={"include_usage": True}
        ) as stream:
            *pieces, last, usage = list(stream)
        assert pieces[0].choices[0].delta.role == "assistant"
        assert "".join(piece.choices[0].delta.content or "" for piece in pieces) == CONTENT
        assert len({piece.id for piece in (*pieces, last, usage)}) == 1
        assert last.choices[0].finish_reason == "stop"
        assert last.model_extra is not None
        assert last.model_extra["wattwise"]["text"] == TEXT
        assert (usage.choices, usage.usage and usage.usage.total_tokens) == ([], 0)

    def test_the_models_are_listed_and_found(self, server: ApiServer) -> None:
        assert [model.id for model in server.openai.models.list()] == ["wattwise", "wattwise-offline"]
        assert server.openai.models.retrieve("wattwise-offline").owned_by == "wattwise"
        with pytest.raises(openai.NotFoundError):
            server.openai.models.retrieve("gpt-5")

    def test_turns_become_the_history_without_footnotes_and_instructions(self, bot: Chatbot) -> None:
        slow = scripted(bot, bot.ask(QUESTION))
        parts: Any = [{"type": "text", "text": "and"}, {"type": "text", "text": "for 7B?"}]
        picture: Any = {"type": "image_url", "image_url": {"url": "data:,"}}
        with serving(slow) as server:
            server.openai.chat.completions.create(
                model="wattwise",
                messages=[
                    {"role": "system", "content": "You are a pirate."},
                    {"role": "assistant", "content": "How can I help?"},
                    {"role": "user", "content": [{"type": "text", "text": "Look:"}, picture]},
                    {"role": "user", "content": QUESTION},
                    {"role": "assistant", "content": CONTENT},
                    {"role": "user", "content": parts},
                ],
            )
        assert slow.asked == [("and\nfor 7B?", (Turn(f"Look:\n{QUESTION}", TEXT),))]

    def test_a_follow_up_is_understood(self, server: ApiServer) -> None:
        first: Any = {"role": "user", "content": "How much accelerator memory has trn1.2xlarge?"}
        said = server.openai.chat.completions.create(model="wattwise", messages=[first]).choices[0].message
        turns: Any = [first, {"role": "assistant", "content": said.content}, {"role": "user", "content": "and the bigger one?"}]
        again = server.openai.chat.completions.create(model="wattwise", messages=turns)
        assert "512 GB" in (again.choices[0].message.content or "")

    def test_a_language_models_tokens_are_the_usage_and_the_offline_name_asks_without_it(self, bot: Chatbot) -> None:
        model = ScriptedChatModel(replies=[f"{REFUSAL}"])
        with serving(Chatbot(bot.index, model)) as server:
            asked = [
                server.openai.chat.completions.create(model=m, messages=ASKED) for m in ("wattwise", "wattwise-offline")
            ]
            with server.openai.chat.completions.create(model="wattwise", messages=ASKED, stream=True) as stream:
                pieces = [piece.choices[0].delta.content or "" for piece in stream]
            figures = server.http.get("/metrics").text
        assert "".join(pieces) == asked[0].choices[0].message.content
        first, second = (completion.usage for completion in asked)
        assert first is not None
        assert second is not None
        assert first.prompt_tokens > 100
        assert first.total_tokens == first.prompt_tokens + first.completion_tokens
        assert second.total_tokens == 0
        assert asked[1].choices[0].message.content == CONTENT
        assert f'wattwise_tokens_total{{direction="input"}} {2.0 * first.prompt_tokens}' in figures
        assert "wattwise_refused_answers_total 2.0" in figures

    def test_a_wrong_key_is_an_authentication_error_and_each_of_the_keys_will_do(self, bot: Chatbot) -> None:
        with serving(bot, key="wrong", keys=("first-key", "second-key")) as server:
            with pytest.raises(openai.AuthenticationError) as caught:
                server.openai.models.list()
            assert caught.value.code == "invalid_api_key"
            for key in ("first-key", "second-key"):
                assert len(server.openai.with_options(api_key=key).models.list().data) == 2
            refused = server.http.get("/v1/models", headers={"Authorization": "Basic first-key"})
        assert told(refused) == (
            401,
            "The key is missing or wrong. Send one of the server's keys as Authorization: Bearer KEY.",
        )
        assert refused.headers["www-authenticate"] == "Bearer"

    def test_what_fails_in_a_stream_is_an_error_of_the_stream(self, bot: Chatbot) -> None:
        begun = next(iter(bot.stream(QUESTION)))
        failing = scripted(bot, bot.ask(QUESTION), begun, RuntimeError("secret"))
        with (
            serving(failing) as server,
            server.openai.chat.completions.create(model="wattwise", messages=ASKED, stream=True) as stream,
            pytest.raises(openai.APIError, match="Something went wrong inside wattwise") as caught,
        ):
            list(stream)
        assert "secret" not in str(caught.value)

    @pytest.mark.parametrize(
        ("parameters", "sentence"),
        [
            ({"n": 2}, "wattwise gives one answer: leave out n, or set it to 1."),
            ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "wattwise calls no tools: leave out tools and functions."),
            ({"logprobs": True}, "wattwise knows no probabilities of tokens: leave out logprobs."),
            ({"response_format": {"type": "json_object"}}, "wattwise answers in text: leave out response_format, and read the extra field wattwise for the answer as JSON."),
            ({"messages": [{"role": "user", "content": " "}]}, "The question is empty. Ask something, for example: Which instance has the lowest footprint for training?"),
            ({"messages": [*ASKED, {"role": "assistant", "content": "Yes."}]}, "The last message must be the user's, with the question."),
            ({"messages": [{"role": "tool", "tool_call_id": "1", "content": "x"}]}, "wattwise calls no tools: send system, user and assistant messages alone."),
            ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, "wattwise reads text alone: send the question without pictures, sound and files."),
            ({"messages": []}, "messages cannot be read: list should have at least 1 item after validation, not 0. GET /docs lists the fields."),
        ],
    )  # fmt: skip
    def test_what_cannot_be_done_is_one_sentence(
        self, server: ApiServer, parameters: dict[str, Any], sentence: str
    ) -> None:
        for stream in (False, True):
            with pytest.raises(openai.BadRequestError) as caught:
                server.openai.chat.completions.create(
                    **{"model": "wattwise", "messages": ASKED, "stream": stream, **parameters}
                )
            kind, code = "invalid_request_error", caught.value.code
            assert caught.value.body == {"message": sentence, "type": kind, "param": None, "code": code}

    @pytest.mark.parametrize(
        ("messages", "told"),
        [
            ([{"role": "user", "content": _task("Generate a concise, 3-5 word title with an emoji", '{ "title": "your title" }')}], '{"title": "How much memory has a p5?"}'),
            ([{"role": "system", "content": _task("Generate a concise title summarizing the chat", '{ "title": "your title" }')}, {"role": "user", "content": "Go on."}], '{"title": "How much memory has a p5?"}'),
            ([{"role": "user", "content": _task("Generate 1-3 broad tags categorizing the main themes", '{ "tags": ["tag1", "tag2"] }')}], '{"tags": []}'),
            ([{"role": "user", "content": _task("Suggest 3-5 relevant follow-up questions", '{ "follow_ups": ["Question 1?"] }')}], '{"follow_ups": []}'),
            ([{"role": "user", "content": _task("Analyze the chat history to determine search queries", '{\n  "queries": ["query1"]\n}')}], '{"queries": []}'),
            ([{"role": "user", "content": _task("You are an autocompletion system.", '`{ "text": "" }`')}], '{"text": ""}'),
            ([{"role": "user", "content": f"Provide a concise, 5-word-or-less title for the conversation, using title case conventions. Only return the title itself.\n\nConversation:\n{_TALK}"}], "How much memory has a p5?"),
            ([{"role": "user", "content": f"Analyze this conversation and provide:\n1. The detected language of the conversation\n2. A concise title in the detected language (5 words or less)\n\n{_TALK}"}], "How much memory has a p5?"),
            ([{"role": "system", "content": "Please generate a concise, 5-word-or-less title for the conversation."}, {"role": "user", "content": "Is a p5 enough for a 70B model that I want to fine-tune with LoRA on two nodes?"}], "Is a p5 enough for a 70B model that I want to fine-tune…"),
        ],
    )  # fmt: skip
    def test_a_client_that_asks_for_a_title_or_tags_gets_them_without_a_search(
        self, bot: Chatbot, messages: Any, told: str
    ) -> None:
        slow = scripted(bot, bot.ask(QUESTION))
        with serving(slow) as server:
            ask = partial(server.openai.chat.completions.create, model="wattwise", messages=messages)
            assert ask(response_format={"type": "json_object"}).choices[0].message.content == told
            with ask(stream=True) as stream:
                assert "".join(piece.choices[0].delta.content or "" for piece in stream) == told
        assert slow.asked == []

    @pytest.mark.parametrize("text", ["### Task: How much memory does a trn1.32xlarge have?", "Provide a concise comparison of H100 and H200.", "Generate a list of P5 sizes."])
    def test_a_question_that_begins_like_a_task_is_answered(self, bot: Chatbot, text: str) -> None:
        slow = scripted(bot, bot.ask(QUESTION))
        with serving(slow) as server:
            server.openai.chat.completions.create(model="wattwise", messages=[{"role": "user", "content": text}])
        assert slow.asked == [(text, ())]

    def test_a_stream_in_which_nothing_comes_sends_comments(self, bot: Chatbot, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("chatbot.serve.openai_api._SILENCE_SECONDS", 0.05)
        hold = threading.Event()
        body = {"messages": ASKED, "stream": True}
        with (
            serving(scripted(bot, bot.ask(QUESTION), hold)) as server,
            server.http.stream("POST", "/v1/chat/completions", json=body) as response,
        ):
            lines = response.iter_lines()
            while next(lines) != ": still at work":
                pass
            hold.set()
            assert [line for line in lines if line][-1] == "data: [DONE]"

    def test_parameters_that_tune_a_model_are_ignored(self, server: ApiServer) -> None:
        completion = server.openai.chat.completions.create(
            model="wattwise", messages=ASKED, temperature=1.3, max_tokens=1, stop=["."], user="u", n=1, seed=1, tools=[],
            extra_body={"chat_id": "c", "features": {"web_search": True}},
        )  # fmt: skip
        assert completion.choices[0].message.content == CONTENT

    def test_an_unknown_model_is_not_found(self, server: ApiServer) -> None:
        with pytest.raises(openai.NotFoundError, match="Use wattwise or wattwise-offline") as caught:
            server.openai.chat.completions.create(model="gpt-5", messages=ASKED)
        assert caught.value.code == "model_not_found"


class TestOwnApi:
    def test_ask_gives_the_json_of_the_command(
        self, server: ApiServer, corpus_index: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert wattwise(["ask", QUESTION, "--json", "--index", str(corpus_index)]) == 0
        expected = same(json.loads(capsys.readouterr().out))
        for model in ({}, {"model": "offline"}):
            assert same(server.http.post("/ask", json={"question": QUESTION, **model}).json()) == expected

    def test_ask_remembers_the_history_it_is_given(self, server: ApiServer) -> None:
        turn = {"question": "How much accelerator memory has trn1.2xlarge?", "answer": "trn1.2xlarge has 32 GB [1]."}
        answer = server.http.post("/ask", json={"question": "and the bigger one?", "history": [turn]}).json()
        assert "512 GB" in answer["text"]

    def test_size_gives_the_json_of_the_command(
        self, server: ApiServer, corpus_index: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given = {"model": "llama-3.1-70b", "format": "8-bit", "context": "16k", "users": 4, "vendor": "NVIDIA", "budget": 20}
        command = [word for name, value in given.items() for word in (f"--{name}", str(value))]
        assert wattwise(["size", *command, "--json", "--index", str(corpus_index)]) == 0
        answered = server.http.post("/size", json={**given, "vendor": ["NVIDIA"]}).json()
        assert answered == json.loads(capsys.readouterr().out)

    def test_size_reads_the_facts_of_an_index_that_was_made_anew(self, tmp_path: Path) -> None:
        tables, place = tmp_path / "tables", tmp_path / "index"
        tables.mkdir()
        header, *rows = (ROOT / "corpus" / "instances.csv").read_text("utf-8").splitlines()
        (tables / "instances.csv").write_text("\n".join([header, *(row for row in rows if row.startswith("g6."))]))
        models = (ROOT / "corpus" / "facts" / "models.csv").read_text("utf-8")

        def write(layers: int) -> None:
            (tables / "models.csv").write_text(models.replace("Yi-34B,34.4B,,60,", f"Yi-34B,34.4B,,{layers},"))
            sync([tables], place, encoder="none")

        def cache(server: ApiServer) -> int:
            answered = server.http.post("/size", json={"model": "01-ai/Yi-34B", "context": 1024}).json()
            return int(next(term["bytes"] for term in answered["memory"]["terms"] if term["name"] == "KV cache"))

        write(layers=60)
        with serving(Chatbot.open(place)) as server:
            before = cache(server)
            shutil.rmtree(place)
            time.sleep(1)  # the time of a sync is kept in whole seconds
            write(layers=30)
            assert cache(server) == before // 2

    @pytest.mark.parametrize(
        ("given", "sentence"),
        [
            ({}, "The size of the model is not known: name a model, or give its parameters, as in 70b."),
            ({"parameters": "many"}, "'many' is not a number: write 70b or 7e9."),
            ({"parameters": 7e9, "task": "dream"}, "'dream' is no task: write one of serve, serving, inference, full, finetune, lora, qlora, pretrain, pretraining."),
            ({"parameters": 1e300}, "parameters cannot be read: input should be less than or equal to 1000000000000000000. GET /docs lists the fields."),
            ({"model": "llama-3.1-8b", "task": "serve", "hours": 1e308}, "The figures are too large to compute with: give smaller ones."),
            ({"model": "llama-3.1-8b", "bugdet": 3}, "There is no field 'bugdet' here. GET /docs lists the fields."),
            ({"model": "llama-3.1-8b", "users": True}, "users cannot be read: input should be a number, not true or false. GET /docs lists the fields."),
            ({"parameters": True}, "parameters cannot be read: input should be a number, not true or false. GET /docs lists the fields."),
            ({"model": "llama-3.1-8b", "load": False}, "load cannot be read: input should be a number, not true or false. GET /docs lists the fields."),
            ({"model": "llama-3.1-8b", "users": "some"}, "users cannot be read: input should be a valid integer, unable to parse string as an integer. GET /docs lists the fields."),
        ],
    )  # fmt: skip
    def test_what_cannot_be_sized_is_one_sentence(
        self, server: ApiServer, given: dict[str, Any], sentence: str
    ) -> None:
        assert told(server.http.post("/size", json=given)) == (400, sentence)

    def test_passages_are_the_documents_own_words_best_first(self, server: ApiServer, bot: Chatbot) -> None:
        by_address = server.http.get("/search", params={"query": "memory of a trn1.32xlarge", "limit": 3}).json()
        by_body = server.http.post("/search", json={"query": "memory of a trn1.32xlarge", "limit": 3}).json()
        assert by_address == by_body
        passages = by_address["passages"]
        assert [passage["number"] for passage in passages] == [1, 2, 3]
        assert list(passages[0]) == [
            "number", "source", "original", "title", "url", "headings", "page", "quote", "start", "end", "score",
        ]  # fmt: skip
        assert passages[0]["source"] == "trn1-instances"
        texts = {d.source.id: d.text for d in bot.index.documents()}
        assert all(p["quote"] == texts[p["source"]][p["start"] : p["end"]] for p in passages)
        scores = [passage["score"] for passage in passages]
        assert scores == sorted(scores, reverse=True)

    @pytest.mark.parametrize(
        ("path", "body", "sentence"),
        [
            ("/ask", b'{"question": ', "The body is not JSON. GET /docs lists the fields."),
            ("/ask", b"[]", "The body cannot be read: input should be a valid dictionary or object to extract fields from. GET /docs lists the fields."),
            ("/ask", b'{"question": 1}', "question cannot be read: input should be a valid string. GET /docs lists the fields."),
            ("/ask", b'{"question": "\xff"}', "The body cannot be read as JSON. GET /docs lists what can be called."),
            ("/ask", b"[" * 100_000, "The body cannot be read as JSON. GET /docs lists what can be called."),
            ("/ask", b"{}", "question cannot be read: field required. GET /docs lists the fields."),
            ("/ask", b'{"question": "' + b"x " * 4001 + b'"}', "The question has 8,002 characters. Ask it in at most 8,000."),
            ("/search", b'{"query": "x", "limit": 51}', "limit cannot be read: input should be less than or equal to 50. GET /docs lists the fields."),
            ("/search", b'{"query": "x", "limit": true}', "limit cannot be read: input should be a number, not true or false. GET /docs lists the fields."),
            ("/search", b'{"query": ""}', "The question is empty. Ask something, for example: Which instance has the lowest footprint for training?"),
        ],
    )  # fmt: skip
    def test_a_body_that_cannot_be_read_is_one_sentence(
        self, server: ApiServer, path: str, body: bytes, sentence: str
    ) -> None:
        response = server.http.post(path, content=body, headers={"Content-Type": "application/json"})
        assert told(response) == (400, sentence)

    def test_other_types_addresses_and_methods_are_told_what_to_do(self, server: ApiServer) -> None:
        sentence = "The body is not declared as JSON. Send it with Content-Type: application/json."
        assert told(server.http.post("/ask", content='{"question": "x"}')) == (400, sentence)
        assert told(server.http.get("/v2/models")) == (404, "Not Found. GET /docs lists what can be called.")
        assert told(server.http.get("/ask")) == (405, "Method Not Allowed. GET /docs lists what can be called.")


class TestGate:
    def test_this_machines_names_are_answered_and_others_are_not(self, server: ApiServer) -> None:
        for host in ("localhost", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST."):
            assert server.http.get("/health", headers={"Host": host}).status_code == 200
        sentence = "This server does not answer under this name. Call it as localhost, or have its operator add the name to WATTWISE_SERVE_HOSTS."
        for host in ("evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "localhost:x", ""):
            assert told(server.http.get("/health", headers={"Host": host})) == (403, sentence)

    def test_a_name_that_the_operator_gave_is_answered(self, bot: Chatbot) -> None:
        with serving(bot, key="k", keys=("k",), hosts=("chat.example",)) as server:
            assert server.http.get("/v1/models", headers={"Host": "chat.example"}).status_code == 200
            # Others can reach the server under that name, so its metrics need a key.
            assert server.http.get("/metrics", headers={"Authorization": ""}).status_code == 401

    def test_a_page_of_another_origin_is_answered_only_where_it_is_allowed(
        self, bot: Chatbot, server: ApiServer
    ) -> None:
        asking = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
        page = {"Origin": "https://page.example"}
        sentence = "Pages of other origins are not answered. Have the operator add yours to WATTWISE_SERVE_ORIGINS."
        assert told(server.http.post("/ask", json={"question": "x"}, headers=page)) == (403, sentence)
        assert server.http.get("/health", headers={"Origin": server.url}).status_code == 200
        with serving(bot, keys=("k",), key="k", origins=("https://page.example",)) as open_server:
            before = open_server.http.options("/ask", headers={**page, **asking, "Authorization": ""})
            assert before.status_code == 200
            assert before.headers["access-control-allow-origin"] == "https://page.example"
            after = open_server.http.get("/v1/models", headers=page)
            assert (after.status_code, after.headers["access-control-allow-origin"]) == (200, "https://page.example")
            other = open_server.http.get("/v1/models", headers={"Origin": "https://other.example"})
            assert "access-control-allow-origin" not in other.headers

    def test_a_long_body_is_refused_however_it_comes(self, bot: Chatbot) -> None:
        sentence = "The request is longer than 100 bytes. Send a shorter one, or have the operator raise WATTWISE_SERVE_BODY_BYTES."
        with serving(bot, body_bytes=100) as server:
            for content in (b"x" * 101, iter([b"x" * 60, b"x" * 60])):
                assert told(server.http.post("/ask", content=content)) == (413, sentence)

    def test_a_key_opens_what_is_closed_where_others_reach_the_server(self, bot: Chatbot) -> None:
        with serving(bot, host="0.0.0.0", keys=("k",)) as server:
            assert {p: server.http.get(p).status_code for p in ("/health", "/docs", "/metrics", "/search?query=x")} == {
                "/health": 200, "/docs": 200, "/metrics": 401, "/search?query=x": 401,
            }  # fmt: skip
            assert server.http.get("/metrics", headers={"Authorization": "bearer k"}).status_code == 200

    def test_a_request_without_a_host_is_answered_where_others_reach_the_server(self, bot: Chatbot) -> None:
        with serving(bot, host="0.0.0.0", keys=("k",)) as server, socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(b"GET /health HTTP/1.0\r\nOrigin: https://page.example\r\n\r\n")
            assert connection.recv(100).split(b"\r\n")[0] == b"HTTP/1.1 200 OK"


class TestLimits:
    def test_who_comes_when_all_places_are_taken_is_told_when_to_come_again(self, bot: Chatbot) -> None:
        hold = threading.Event()
        slow = scripted(bot, bot.ask(QUESTION), hold)
        with serving(slow, at_once=1, waiting=1) as server:
            answered: list[int] = []

            def ask() -> None:
                answered.append(httpx.post(f"{server.url}/ask", json={"question": "x"}, timeout=20).status_code)

            threads = [threading.Thread(target=ask) for _ in range(2)]
            for thread in threads:
                thread.start()
            in_flight = "wattwise_in_flight 3.0"  # these two, and the request for the metrics
            assert eventually(lambda: in_flight in server.http.get("/metrics").text)
            refused = server.http.post("/ask", json={"question": "x"})
            hold.set()
            for thread in threads:
                thread.join()
            assert server.http.post("/ask", json={"question": "x"}).status_code == 200
        assert told(refused) == (503, "The server is busy. Ask again in 2 seconds.")
        assert refused.headers["retry-after"] == "2"
        assert answered == [200, 200]

    def test_an_answer_that_takes_too_long_is_given_up(self, bot: Chatbot) -> None:
        endless = EndlessChatbot(bot)
        with serving(endless, seconds=0.3) as server:
            with pytest.raises(openai.APIStatusError) as caught:
                server.openai.chat.completions.create(model="wattwise", messages=ASKED)
            assert endless.ended.wait(30)
        assert caught.value.status_code == 504
        assert "There was no answer within 0.3 seconds." in caught.value.message

    def test_more_come_at_once_than_are_answered_at_once_and_all_get_their_own_answer(
        self, bot: Chatbot, server: ApiServer
    ) -> None:
        questions = ["L4 TDP?", QUESTION, "How much accelerator memory has trn1.2xlarge?", "Who won the world cup of 1974?"]
        expected = {question: bot.ask(question).text for question in questions}
        with ThreadPoolExecutor(16) as asking:
            answers = asking.map(lambda q: server.http.post("/ask", json={"question": q}).json(), questions * 4)
            assert [answer["text"] for answer in answers] == [expected[question] for question in questions * 4]

    def test_work_that_hears_of_nothing_is_not_waited_for_but_keeps_its_place(self, bot: Chatbot) -> None:
        hold = threading.Event()
        with serving(scripted(bot, bot.ask(QUESTION), hold), seconds=0.3, at_once=1, waiting=0) as server:
            statuses = [server.http.post("/ask", json={"question": "x"}).status_code for _ in range(2)]
            hold.set()
            assert eventually(lambda: server.http.post("/ask", json={"question": "x"}).status_code == 200)
        assert statuses == [504, 503]

    @pytest.mark.parametrize("stream", [True, False])
    def test_a_client_that_goes_away_ends_its_answer(self, bot: Chatbot, stream: bool) -> None:
        endless = EndlessChatbot(bot)
        with serving(endless) as server:
            body = json.dumps({"messages": ASKED, "stream": stream}).encode()
            with socket.create_connection(("127.0.0.1", server.port)) as connection:
                head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
                connection.sendall(head.encode() + body)
                assert endless.begun.wait(30)
            assert endless.ended.wait(30)

    def test_a_stop_ends_what_is_under_way_within_seconds(self, bot: Chatbot, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("chatbot.serve.work.STOP_SECONDS", 0.3)
        endless = EndlessChatbot(bot)
        with serving(endless) as server:
            statuses: list[int] = []
            asking = threading.Thread(
                target=lambda: statuses.append(httpx.post(f"{server.url}/ask", json={"question": "x"}).status_code)
            )
            asking.start()
            assert endless.begun.wait(30)
            server.service.work.stop()
            refused = server.http.post("/ask", json={"question": "x"})
            asking.join(30)
        assert told(refused) == (503, "The server is stopping. Ask again.")
        assert statuses == [503]


class TestOperations:
    def test_figures_are_counted_by_path_and_status(self, bot: Chatbot) -> None:
        with serving(bot) as server:
            for question in (QUESTION, "Who won the world cup of 1974?"):
                server.http.post("/ask", json={"question": question})
            server.http.get("/secret-question")
            figures = server.http.get("/metrics")
        assert figures.headers["content-type"].startswith("text/plain; version=")
        lines = set(figures.text.splitlines())
        assert {
            'wattwise_requests_total{path="/ask",status="200"} 2.0',
            'wattwise_requests_total{path="other",status="404"} 1.0',
            'wattwise_request_seconds_count{path="/ask"} 2.0',
            "wattwise_answers_total 2.0",
            "wattwise_refused_answers_total 1.0",
            "wattwise_in_flight 1.0",
        } <= lines
        assert "secret" not in figures.text

    def test_health_says_whether_the_index_can_be_read_and_a_new_sync_is_picked_up(self, tmp_path: Path) -> None:
        document, place = tmp_path / "one.md", tmp_path / "index"
        document.write_text("# One\n\nTrainium trains models.\n")
        sync([document], place, encoder="none")
        with serving(Chatbot.open(place)) as server:
            first = server.http.get("/health")
            assert (head := server.http.head("/health")).status_code == 200
            assert (head.headers["content-length"], head.content) == (first.headers["content-length"], b"")
            document.write_text("# One\n\nTrainium trains models.\n\n# Two\n\nInferentia serves models.\n")
            sync([document], place, encoder="none")
            second = server.http.get("/health")
            found = server.http.get("/search", params={"query": "Inferentia", "limit": 1}).json()
            shutil.rmtree(place)
            gone = server.http.get("/health")
            assert server.http.head("/health").status_code == 503
        assert (first.status_code, first.json()["status"], first.json()["chunks"]) == (200, "ok", 1)
        assert second.json()["generation"] > first.json()["generation"]
        assert "Inferentia" in found["passages"][0]["quote"]
        assert gone.status_code == 503
        assert gone.json()["error"]["code"] == "index_unavailable"

    def test_the_page_of_routes_loads_nothing_and_lists_what_the_description_lists(self, server: ApiServer) -> None:
        page, schema = server.http.get("/docs"), server.http.get("/openapi.json").json()
        assert not re.search(r"<script|<link|src=|https?://", page.text)
        assert page.headers["content-security-policy"].startswith("default-src 'none'")
        assert set(schema["paths"]) == {
            "/v1/models", "/v1/models/{name}", "/v1/chat/completions", "/ask", "/size", "/search", "/health", "/metrics",
        }  # fmt: skip
        assert all(f" {path}</code></h2>" in page.text for path in schema["paths"])
        assert "<td><code>question</code> (required)</td><td>string</td>" in page.text


class TestCommand:
    @pytest.mark.evaluation
    def test_it_serves_and_ends_within_seconds_of_a_signal_with_nothing_secret_in_its_log(
        self, corpus_index: Path
    ) -> None:
        settings = {"WATTWISE_SERVE_KEYS": "a-very-secret-key", "WATTWISE_LOG": "debug", "PYTHONPATH": str(ROOT)}
        environment = {**os.environ, **settings}
        command = [sys.executable, "-m", "chatbot", "serve", "--index", str(corpus_index), "--port", "0"]
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
            try:
                assert process.stderr is not None
                first = process.stderr.readline()
                found = re.search(r"http://127\.0\.0\.1:\d+", first)
                assert found is not None, first
                key = {"Authorization": "Bearer a-very-secret-key"}
                with httpx.Client(base_url=found[0], headers=key, timeout=30) as client:
                    assert client.post("/ask", json={"question": QUESTION}).json()["text"] == TEXT
                    assert client.get("/search", params={"query": "quokka"}).status_code == 200
                    process.send_signal(signal.SIGTERM)  # while a connection is open
                    assert process.wait(30) == 0
                log = first + process.stderr.read()
            finally:
                process.kill()
        assert log.count("\n") == 1
        assert not re.search("secret|quokka|hardware", log)

    @pytest.mark.parametrize(
        ("environ", "sentence"),
        [
            ({"HOST": "0.0.0.0"}, "Without a key nobody but this machine is served, and 0.0.0.0 is open to others: set WATTWISE_SERVE_KEYS."),
            ({"HOST": "0.0.0.0", "KEYS": "a-very-secret-key,short"}, "WATTWISE_SERVE_KEYS has too short a key: give it at least 16 characters that nobody can guess."),
            ({"HOSTS": "chat.example"}, "WATTWISE_SERVE_HOSTS lets others in, but no key is set: set WATTWISE_SERVE_KEYS as well."),
            ({"HOSTS": "chat.example,chat.example:80", "KEYS": "a-very-secret-key"}, "WATTWISE_SERVE_HOSTS has 'chat.example:80': it takes names such as chat.example, without https://, port and path."),
            ({"ORIGINS": "https://chat.example/"}, "WATTWISE_SERVE_ORIGINS has 'https://chat.example/': it takes origins such as https://chat.example, without a path."),
            ({"ORIGINS": "*,chat.example"}, "WATTWISE_SERVE_ORIGINS has 'chat.example': it takes origins such as https://chat.example, without a path."),
            ({"AT_ONCE": "0"}, "WATTWISE_SERVE_AT_ONCE is 0: it takes a number above 0."),
            ({"SECONDS": "nan"}, "WATTWISE_SERVE_SECONDS is nan: it takes a number above 0."),
            ({"PORT": "70000"}, "WATTWISE_SERVE_PORT is 70000: it takes a whole number from 0 to 65535."),
            ({"BODY_BYTES": "much"}, "WATTWISE_SERVE_BODY_BYTES is 'much': it takes a whole number."),
        ],
    )  # fmt: skip
    def test_a_setting_that_cannot_be_used_is_one_sentence(self, environ: dict[str, str], sentence: str) -> None:
        with pytest.raises(ReaderError) as caught:
            serve_settings({f"WATTWISE_SERVE_{name}": value for name, value in environ.items()})
        assert str(caught.value) == sentence

    def test_options_go_before_variables_and_keys_are_never_shown(self) -> None:
        environ = {
            "WATTWISE_INDEX": "a", "WATTWISE_MODEL": "ollama:x", "WATTWISE_SERVE_HOST": "0.0.0.0",
            "WATTWISE_SERVE_KEYS": "key-one-of-the-two, key-two-of-the-two", "WATTWISE_SERVE_ORIGINS": "https://page.example",
        }  # fmt: skip
        assert serve_settings({"WATTWISE_FIRST_TOKEN": "600"}).seconds == 750
        settings = serve_settings(environ, port=9, index=Path("b"))
        assert settings == ServeSettings(
            index=Path("b"), model="ollama:x", host="0.0.0.0", port=9, keys=("key-one-of-the-two", "key-two-of-the-two"), origins=("https://page.example",)
        )  # fmt: skip
        assert "of-the-two" not in repr(settings)
        assert serve_settings({"WATTWISE_SERVE_HOST": "0.0.0.0"}, host="localhost").is_local

    def test_missing_packages_are_named_with_the_command_that_brings_them(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr("chatbot.serve.__main__._NEEDED", ("uvicorn", "no_such_package"))
        assert wattwise(["serve"]) == 1
        assert capsys.readouterr().err == (
            "The server needs FastAPI and more packages. Install them with: pip install 'wattwise[serve]'\n"
        )

    def test_a_port_that_is_taken_and_an_index_that_is_missing_are_one_sentence(
        self, corpus_index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            assert wattwise(["serve", "--index", str(corpus_index), "--port", port]) == 1
        assert capsys.readouterr().err == (
            f"Cannot listen on 127.0.0.1:{port} (Address already in use). Give another port with --port or WATTWISE_SERVE_PORT.\n"
        )
        assert wattwise(["serve", "--index", str(tmp_path / "none")]) == 1
        assert "wattwise ingest" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (TEXT, TEXT),
        ("5 < 6 and a[1] (see [2]).", "5 < 6 and a[1] (see [2])."),
        ("![x](https://evil.example/?q=1)", r"\![x\](https://evil.example/?q=1)"),
        ("<img src=x> </b>", r"\<img src=x> \</b>"),
    ],
)
def test_a_document_has_nothing_loaded_or_linked_where_markdown_is_shown(text: str, shown: str) -> None:
    assert inert(text) == shown


def test_what_nobody_foresaw_is_logged_without_its_words(bot: Chatbot, caplog: pytest.LogCaptureFixture) -> None:
    with serving(scripted(bot, bot.ask(QUESTION), RuntimeError("the question"))) as server:
        status, sentence = told(server.http.post("/ask", json={"question": "x"}))
    reference = re.search(r"under (\w{8})\.$", sentence)
    assert status == 500
    assert reference is not None
    assert f"(reference {reference[1]}): RuntimeError" in caplog.text
    assert caplog.text.count("Traceback") == 0
    assert "the question" not in caplog.text


def test_an_index_that_is_damaged_while_serving_is_told_with_its_remedy(bot: Chatbot) -> None:
    with serving(scripted(bot, bot.ask(QUESTION), CorpusError("The index is damaged. Run wattwise ingest."))) as server:
        assert told(server.http.post("/ask", json={"question": "x"})) == (
            503,
            "The index is damaged. Run wattwise ingest.",
        )


def eventually(holds: Any, seconds: float = 30) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
