"""How a reply reaches Slack: as posts in a thread, where it is slow as a stream that a post takes the place of, or to a command's address.

After docs.slack.dev/apis/web-api/rate-limits Slack takes about a message a second for each channel (chat.postMessage), 20 starts and 20
ends of streams a minute for a whole workspace and 100 pieces of text for them. So what is quick is posted, and only what is slow is streamed.
"""

import time
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from chatbot.slack.blocks import Message, literal, sharing, shown_text, text_messages
from chatbot.slack.escaping import defanged
from chatbot.slack.events import Asked
from chatbot.slack.journal import described, log, quiet_logger, slack_code
from chatbot.slack.memory import ANSWER, CONTINUED, NOTICE
from chatbot.slack.state import Reply, SlackState

if TYPE_CHECKING:
    from slack_sdk import WebClient
    from slack_sdk.http_retry import RetryHandler

# Slack's answers to blocks that it does not take; the same words in plain text are then sent.
REFUSED_BLOCKS = frozenset(
    (
        "invalid_blocks",
        "invalid_blocks_format",
        "invalid_attachments",
        "msg_blocks_too_long",
        "msg_too_long",
    )
)
_STILL_OPEN = "streaming_state_conflict"
# What passes by itself: what Slack says when it is at fault, and a stream that was not ended after all.
_PASSING = frozenset(("internal_error", "fatal_error", "service_unavailable", "request_timeout", _STILL_OPEN))
# An answer that comes within so many seconds is not streamed.
_QUICK = 2.0
# Seconds between two pieces of one stream for each worker: all of them together stay under 100 pieces a minute.
_PACE = 0.6
_STATUS_PACE = 1.0
_STREAMED_CHARACTERS = 11_000
# A response_url takes five messages.
_COMMAND_MESSAGES = 5
_LONGEST_WAIT = 60.0
_MOST_TRIES = 12
_STOPPED = "Stopped."
_LONGER = "This answer is longer than Slack shows for a command. Ask the same in a direct message to read all of it."


class WayBack(Protocol):
    """One question's way back to who asked. `send` can be called again after an error and goes on where it stood."""

    def status(self, text: str) -> None: ...

    def write(self, text: str) -> None: ...

    def send(self, reply: Reply) -> list[str]: ...

    def abandon(self) -> None: ...

    @property
    def lane(self) -> str:
        """The channel whose limit binds what is sent next; empty where another limit does."""
        ...


def seconds_to_wait(error: Exception, tries: int) -> float | None:
    """How long to wait before something that failed is tried again; None where that would not help."""
    if is_limited(error):
        return max(1.0, _retry_after(error))
    passing = isinstance(error, OSError | HTTPException) or _status(error) >= 500 or slack_code(error) in _PASSING
    return min(_LONGEST_WAIT, 2.0**tries) if passing and tries < _MOST_TRIES else None


def is_limited(error: Exception) -> bool:
    """Whether Slack takes no more of a kind for now."""
    return _status(error) == 429 or slack_code(error) == "ratelimited"


def _status(error: Exception) -> int:
    response: Any = getattr(error, "response", None)
    status = getattr(response, "status_code", None) or (response.get("status") if isinstance(response, dict) else 0)
    return int(status or 0)


def _retry_after(error: Exception) -> float:
    response: Any = getattr(error, "response", None)
    headers = response.get("headers") if isinstance(response, dict) else getattr(response, "headers", None)
    found = {str(name).lower(): value for name, value in (headers or {}).items()}.get("retry-after", "")
    text = str(found[0] if isinstance(found, list) and found else found)
    return float(text) if text.isdigit() else 0.0


class ThreadReply:
    """Into the thread that asked, and nowhere else. `stream` is a message that another process began to stream into."""

    def __init__(
        self,
        asked: Asked,
        client: "WebClient",
        hasty: "WebClient",
        state: SlackState,
        *,
        workers: int,
        stream: str = "",
    ) -> None:
        self._asked = asked
        self._client = client
        self._hasty = hasty
        self._state = state
        self._stream = stream
        self._is_open = bool(stream)
        self._waiting = ""
        self._streamed = 0
        self._streamable = bool(asked.team) and not asked.overheard
        self._pace = _PACE * workers
        self._next_piece = time.monotonic() + _QUICK
        self._told = -_STATUS_PACE
        self._left: list[Message] | None = None
        self._sent: list[str] = []

    @property
    def lane(self) -> str:
        # Ends of streams and updates are limited for a whole workspace.
        return "" if self._stream else self._asked.channel

    def status(self, text: str) -> None:
        """Show what is being done; not worth a wait, and nothing is lost without it."""
        if self._asked.overheard or time.monotonic() - self._told < _STATUS_PACE:
            return
        self._told = time.monotonic()
        try:
            self._hasty.assistant_threads_setStatus(
                channel_id=self._asked.channel, thread_ts=self._asked.thread, status=text
            )
        except Exception as error:
            log.info("no status shown: %s", described(error))

    def write(self, text: str) -> None:
        """A piece of the answer's text; a quick answer is not streamed but sent whole."""
        self._waiting += text
        full = self._streamed + len(self._waiting) > _STREAMED_CHARACTERS
        if time.monotonic() < self._next_piece or full or not self._streamable:
            return
        # Only whole words go out: a mention that comes in two pieces would be seen in neither.
        end = max(self._waiting.rfind(" "), self._waiting.rfind("\n")) + 1
        piece, self._waiting = self._waiting[:end], self._waiting[end:]
        self._next_piece = time.monotonic() + self._pace
        if piece.strip():
            self._append(piece)

    def _append(self, piece: str) -> None:
        text = defanged(piece)
        try:
            if self._stream:
                self._hasty.chat_appendStream(channel=self._asked.channel, ts=self._stream, markdown_text=text)
            else:
                started = self._hasty.chat_startStream(
                    channel=self._asked.channel,
                    thread_ts=self._asked.thread,
                    recipient_team_id=self._asked.team,
                    recipient_user_id=self._asked.user,
                    markdown_text=text,
                )
                self._stream, self._is_open = str(started["ts"]), True
                self._state.streaming(self._asked.key, self._asked.channel, self._asked.thread, self._stream)
            self._streamed += len(piece)
        except Exception as error:
            # The whole answer is sent at the end in any case.
            log.info("not streamed: %s", described(error))
            self._streamable = False

    def resume(self, already: list[str]) -> None:
        """Go on behind the messages that another process has sent."""
        self._sent = list(already)

    def continue_stream(self, ts: str) -> None:
        """Put the reply in the place of a message that another process began to stream into."""
        self._stream, self._is_open = ts, bool(ts)

    def send(self, reply: Reply) -> list[str]:
        """Send what is left of a reply, in plain text where Slack does not take its blocks; the timestamps of all its messages."""
        if self._left is None:
            self._left = list(reply.messages[len(self._sent) :])
        while self._left:
            try:
                self._sent.append(self._put(self._left[0], self._metadata(reply)))
                self._left.pop(0)
            except Exception as error:
                if slack_code(error) not in REFUSED_BLOCKS or (plain := text_messages(self._left[0])) == (
                    self._left[0],
                ):
                    raise
                log.warning("blocks not taken, sending plain text: %s", described(error))
                self._left[:1] = plain
        return self._sent

    def abandon(self) -> None:
        """Leave the thread alone, as it was asked to be."""
        if self._stream:
            self.send(notice(_STOPPED))
            return
        self._told = -_STATUS_PACE
        self.status("")

    def _metadata(self, reply: Reply) -> dict[str, Any]:
        kind = reply.kind if not self._sent else CONTINUED if reply.kind == ANSWER else NOTICE
        return {"event_type": kind, "event_payload": {"answer_id": reply.id, "key": self._asked.key}}

    def _put(self, message: Message, metadata: dict[str, Any]) -> str:
        if not self._stream:
            return self._post(message, metadata)
        self._end_stream()
        ts = self._update(message, metadata)
        self._stream = ""
        return ts

    def _end_stream(self) -> None:
        if not self._is_open:
            return
        try:
            self._client.chat_stopStream(channel=self._asked.channel, ts=self._stream)
        except Exception as error:
            if seconds_to_wait(error, 0) is not None:
                raise
            # Slack has ended it by itself.
            log.info("stream not ended: %s", described(error))
        self._is_open = False

    def _update(self, message: Message, metadata: dict[str, Any]) -> str:
        try:
            self._client.chat_update(
                channel=self._asked.channel,
                ts=self._stream,
                text=shown_text(message),
                blocks=message,
                metadata=metadata,
            )
            return self._stream
        except Exception as error:
            self._is_open = slack_code(error) == _STILL_OPEN
            if slack_code(error) in REFUSED_BLOCKS or seconds_to_wait(error, 0) is not None:
                raise
            log.info("message not updated, posting: %s", described(error))
            return self._post(message, metadata)

    def _post(self, message: Message, metadata: dict[str, Any]) -> str:
        response = self._client.chat_postMessage(
            channel=self._asked.channel,
            thread_ts=self._asked.thread,
            text=shown_text(message),
            blocks=message,
            metadata=metadata,
            unfurl_links=False,
            unfurl_media=False,
        )
        return str(response["ts"])


class CommandReply:
    """To the address that a command came with: only who asked sees it, and may share it."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._left: list[Message] | None = None

    lane = ""

    def status(self, text: str) -> None:
        """A command's acknowledgement has said it already."""

    def write(self, text: str) -> None:
        """A command's answer is sent whole."""

    def send(self, reply: Reply) -> list[str]:
        if self._left is None:
            self._left = _for_command(reply)
        while self._left:
            try:
                respond(self._asked.reply_url, self._left[0])
                self._left.pop(0)
            except Exception as error:
                if _status(error) != 400 or (plain := text_messages(self._left[0])) == (self._left[0],):
                    raise
                self._left[:1] = plain
        return []

    def abandon(self) -> None:
        """A command cannot be told to stop."""


def _for_command(reply: Reply) -> list[Message]:
    shown = list(reply.messages)
    if len(shown) > _COMMAND_MESSAGES:
        shown = [*shown[: _COMMAND_MESSAGES - 1], *literal(_LONGER)]
    if reply.kind == ANSWER:
        shown[-1] = sharing(shown[-1], reply.id)
    return shown


def notice(text: str) -> Reply:
    """A sentence of our own as a reply."""
    return Reply(uuid4().hex, NOTICE, literal(text))


def respond(address: str, message: Message, *, for_all: bool = False) -> None:
    """Send a message to a command's or a button's address. SlackApiError with the status where it is not taken."""
    from slack_sdk.errors import SlackApiError
    from slack_sdk.webhook import WebhookClient

    response = WebhookClient(address, logger=quiet_logger(), retry_handlers=retries()).send(
        text=shown_text(message),
        blocks=message,
        response_type="in_channel" if for_all else "ephemeral",
        replace_original=False,
        unfurl_links=False,
        unfurl_media=False,
    )
    if response.status_code != 200:
        about = {"status": response.status_code, "headers": response.headers, "error": response.body[:60]}
        raise SlackApiError("the address took no message", about)  # type: ignore[no-untyped-call]


def retries() -> "list[RetryHandler]":
    """Tries once more what was lost on the way, or by Slack; nobody waits here where Slack has set a limit."""
    from slack_sdk.http_retry.builtin_handlers import ConnectionErrorRetryHandler, ServerErrorRetryHandler

    return [ConnectionErrorRetryHandler(), ServerErrorRetryHandler()]
