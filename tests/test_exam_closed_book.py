"""The closed-book baseline against a loopback server for the chat completions API."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from chatbot.answer import ReaderError
from chatbot.exam import ExamQuestion, Score
from chatbot.exam.baselines import closed_book, completer

QUESTION = ExamQuestion("spot", "Which option may lose its capacity?", ("On-Demand", "Spot"), (1,))


@pytest.fixture
def server() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The address of a model that replies "ANSWER: B", and the list of requests it received."""
    received: list[dict[str, Any]] = []

    class Model(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            message = {"role": "assistant", "content": "I remember it.\nANSWER: B"}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            body = json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]})
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    thread = Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.server_port}/v1", received
    listening.shutdown()
    thread.join()
    listening.server_close()


def test_the_model_is_asked_the_question_and_no_passage(server: tuple[str, list[dict[str, Any]]]) -> None:
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    address, received = server
    scored = closed_book([QUESTION], completer("openai:some-model", {"WATTWISE_BASE_URL": address}))
    assert scored.score == Score(1, 0, 0)
    (message,) = received[0]["messages"]
    assert message["content"].startswith(QUESTION.prompt)
    assert received[0]["model"] == "some-model"


def test_a_server_that_is_not_there_is_an_error_and_no_wrong_answer() -> None:
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    complete = completer("openai:some-model", {"WATTWISE_BASE_URL": "http://127.0.0.1:9/v1"})
    assert complete is not None
    with pytest.raises(ReaderError, match=r"openai:some-model gave no answer without passages \(\w+\)"):
        complete("Hello?")
    assert closed_book([QUESTION], complete).score == Score(0, 0, 0, 1)


def test_the_offline_reader_has_no_closed_book() -> None:
    assert completer("offline", {}) is None
