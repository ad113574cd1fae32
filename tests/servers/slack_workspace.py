"""A workspace on loopback: Slack's Web API and the app behind its HTTP server."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chatbot import Answer, Chatbot, Event, Turn
from chatbot.slack.blocks import SOURCES
from chatbot.slack.desk import Desk, open_desk
from chatbot.slack.listeners import slack_app
from chatbot.slack.serving import EventServer, close
from chatbot.slack.settings import SlackSettings, Tokens
from tests.servers import slack_requests
from tests.servers.slack_api import SlackApi, slack_api

TOKENS = Tokens("xoxb-secret-token", "xapp-secret-token", slack_requests.SECRET)


@dataclass(frozen=True)
class Workspace:
    api: SlackApi
    desk: Desk
    port: int

    def send(self, payload: dict[str, Any], **signing: Any) -> tuple[int, str, float]:
        return slack_requests.send(self.port, payload, **signing)

    def ask(self, text: str, *, channel: str = "C1", thread: str = "", user: str = "U1") -> str:
        """Mention the bot, or send it a direct message; return the message's timestamp."""
        ts = self.api.person_says(text, channel=channel, thread=thread, user=user)
        make = slack_requests.message if channel.startswith("D") else slack_requests.mention
        self.send(make(text, ts, channel=channel, thread=thread, user=user))
        return ts

    def said(self, channel: str = "C1") -> list[str]:
        """The texts of the bot's messages in a channel, without their sources."""
        return [message["text"].partition(SOURCES)[0] for message in self.api.said(channel)]

    def settle(self) -> None:
        """Wait until everything sent so far is handled: send one more direct message and wait for its answer."""
        before = self._answered_directly()
        self.ask("Is Trainium for inference?", channel="D9", user="U9")
        while self._answered_directly() == before:
            threading.Event().wait(0.01)

    def _answered_directly(self) -> int:
        return sum(not message.get("streaming") for message in self.api.said("D9"))


@contextmanager
def running(api: SlackApi, bot: Chatbot, folder: Path, **settings: Any) -> Iterator[Workspace]:
    """Run the app over HTTP on a free port, with its state in `folder`; stop it cleanly at the end."""
    desk = open_desk(replace(SlackSettings(index=folder, api_url=api.url, stop_seconds=20), **settings), TOKENS, bot)
    app = slack_app(desk, TOKENS.signing_secret)
    server = EventServer(app, TOKENS.signing_secret, "127.0.0.1", 0)
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02))
    thread.start()
    try:
        yield Workspace(api, desk, server.server_port)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        app.listener_runner.listener_executor.shutdown()
        close(desk)


@contextmanager
def workspace(bot: Chatbot, folder: Path, *, page: int = 200, **settings: Any) -> Iterator[Workspace]:
    with slack_api(page) as api, running(api, bot, folder, **settings) as started:
        yield started


class ScriptedChatbot(Chatbot):
    """Plays a script: yields events, waits for threading events and seconds, and raises exceptions."""

    def __init__(self, bot: Chatbot, script: Sequence[Event | Exception | threading.Event | float]) -> None:
        super().__init__(bot.index)
        self.script = script
        self.asked: list[tuple[str, tuple[Turn, ...]]] = []

    def stream(
        self, question: str, history: Sequence[Turn] = (), *, cancelled: Callable[[], bool] | None = None
    ) -> Iterator[Event]:
        self.asked.append((question, tuple(history)))
        for step in self.script:
            if isinstance(step, Exception):
                raise step
            if isinstance(step, threading.Event):
                step.wait(20)
            elif isinstance(step, float):
                threading.Event().wait(step)
            elif step.answer is not None:
                yield replace(step, answer=replace(step.answer, question=question))
            else:
                yield step


def scripted(bot: Chatbot, answer: Answer, *before: Event | Exception | threading.Event | float) -> ScriptedChatbot:
    return ScriptedChatbot(bot, (*before, Event("answer", answer=answer)))
