"""Run `wattwise serve` in this process on a free loopback port; includes a chatbot that never finishes."""

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from openai import OpenAI

from chatbot import Cancelled, Chatbot, Event, Turn
from chatbot.serve.application import Server
from chatbot.serve.service import Service
from chatbot.serve.settings import ServeSettings


@dataclass(frozen=True)
class ApiServer:
    port: int
    service: Service
    http: httpx.Client
    openai: OpenAI

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def serving(bot: Chatbot, *, key: str = "any", **settings: Any) -> Iterator[ApiServer]:
    """Run a server; yield it with a plain HTTP client and OpenAI's client, which both send `key`."""
    service = Service(bot, ServeSettings(**settings))
    server = Server(service)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        url = f"http://127.0.0.1:{port}"
        try:
            with (
                httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=20) as http,
                OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0, timeout=20) as client,
            ):
                yield ApiServer(port, service, http, client)
        finally:
            server.should_exit = True
            thread.join(20)


class EndlessChatbot(Chatbot):
    """Writes until it is cancelled; the events `begun` and `ended` show its progress."""

    def __init__(self, bot: Chatbot) -> None:
        super().__init__(bot.index)
        self.begun, self.ended = threading.Event(), threading.Event()

    def stream(
        self, question: str, history: Sequence[Turn] = (), *, cancelled: Callable[[], bool] | None = None
    ) -> Iterator[Event]:
        assert cancelled is not None
        yield Event("stage", "searching")
        self.begun.set()
        while not cancelled():
            threading.Event().wait(0.01)
            yield Event("text", "On and on. ")
        self.ended.set()
        raise Cancelled("Stopped before the answer was there. Ask again.")
