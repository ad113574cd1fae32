"""How replies reach Slack: posted in a thread, streamed into a message that the reply then replaces, or to a response URL.

According to docs.slack.dev/apis/web-api/rate-limits, Slack accepts about one message per second for each channel
(chat.postMessage). For a whole workspace it accepts 20 stream starts, 20 stream ends and 100 stream appends per minute.
So quick answers are posted, and only slow ones are streamed.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from chatbot.slack.blocks import literal, sharing, shown_text, text_messages
from chatbot.slack.desk import Desk, show_status
from chatbot.slack.escaping import defanged
from chatbot.slack.events import Asked
from chatbot.slack.journal import described, log, slack_code
from chatbot.slack.memory import ANSWER, CONTINUED, NOTICE, mark_of, messages_after
from chatbot.slack.state import Message, Reply, Work
from chatbot.slack.web import STILL_OPEN, respond, seconds_to_wait, status_of

# Slack's error codes for rejected blocks; the same content is then sent as plain text.
REFUSED_BLOCKS = frozenset(
    ("invalid_blocks", "invalid_blocks_format", "invalid_attachments", "msg_blocks_too_long", "msg_too_long")
)
# Seconds before an answer counts as slow and is streamed.
_QUICK = 2.0
# Seconds between two appends to one stream, per worker: all streams together stay under 100 appends per minute.
_PACE = 0.6
_STATUS_PACE = 1.0
_STREAMED_CHARACTERS = 11_000
# Slack accepts five messages per response URL.
_RESPONSES = 5
_STOPPED = "Stopped."
LONGER = "This answer is longer than Slack shows for a command. Ask the same in a direct message to read all of it."


def notice(text: str) -> Reply:
    """Return one of the app's own sentences as a reply."""
    return Reply(uuid4().hex, NOTICE, literal(text))


class ThreadReply:
    """Replies in the thread of the question, and nowhere else.

    `stream` is a message that another process began to stream into. After an error, `send` can be called again and
    continues where it stopped.
    """

    def __init__(self, desk: Desk, asked: Asked, stream: str = "") -> None:
        self._desk = desk
        self._asked = asked
        self._stream = stream
        self._is_open = bool(stream)
        self._waiting = ""
        self._streamed = 0
        self._streamable = bool(asked.team) and not asked.overheard
        self._next_piece = time.monotonic() + _QUICK
        self._told = -_STATUS_PACE
        self._left: list[Message] | None = None
        self._sent: list[str] = []

    @property
    def lane(self) -> str:
        """The channel whose rate limit applies next; empty where the workspace's does, for stream ends and updates."""
        return "" if self._stream else self._asked.channel

    def resume(self, work: Work) -> bool:
        """Find in the thread how much a dead process had sent, and continue from there; True if it had sent everything."""
        try:
            after = messages_after(self._asked, self._desk.client)
        except Exception as error:
            log.warning("a thread could not be read: %s", described(error))
            return False
        marks = [(str(m["ts"]), mark_of(m, self._desk.me), m) for m in after]
        self._sent = [ts for ts, (kind, _, key), _ in marks if kind and key == self._asked.key]
        if self._sent and (work.reply is None or len(self._sent) >= len(work.reply.messages)):
            return True
        if self._stream in self._sent:
            self._stream = ""
        elif not self._stream and not self._sent:
            # The dead process may have begun a stream without recording it.
            unmarked = [ts for ts, (kind, *_), message in marks if kind and not message.get("metadata")]
            is_known = self._desk.state.is_streamed
            self._stream = next((ts for ts in unmarked if not is_known(self._asked.channel, ts)), "")
        self._is_open = bool(self._stream)
        return False

    def status(self, text: str) -> None:
        """Show the current stage, at most once per `_STATUS_PACE`, without retries."""
        if not self._asked.overheard and time.monotonic() - self._told >= _STATUS_PACE:
            self._told = time.monotonic()
            show_status(self._desk, self._asked, text)

    def write(self, text: str) -> None:
        """Take a piece of the answer's text, and stream it if the answer is slow. A quick answer is sent whole later."""
        self._waiting += text
        full = self._streamed + len(self._waiting) > _STREAMED_CHARACTERS
        if time.monotonic() < self._next_piece or full or not self._streamable:
            return
        # Send whole words only: a mention split across two pieces would be recognised in neither.
        end = max(self._waiting.rfind(" "), self._waiting.rfind("\n")) + 1
        piece, self._waiting = self._waiting[:end], self._waiting[end:]
        self._next_piece = time.monotonic() + _PACE * self._desk.settings.workers
        if piece.strip():
            self._append(piece)

    def _append(self, piece: str) -> None:
        asked, hasty, text = self._asked, self._desk.hasty, defanged(piece)
        try:
            if self._stream:
                hasty.chat_appendStream(channel=asked.channel, ts=self._stream, markdown_text=text)
            else:
                started = hasty.chat_startStream(
                    channel=asked.channel,
                    thread_ts=asked.thread,
                    recipient_team_id=asked.team,
                    recipient_user_id=asked.user,
                    markdown_text=text,
                )
                self._stream, self._is_open = str(started["ts"]), True
                self._desk.state.streaming(asked.key, asked.channel, asked.thread, self._stream)
            self._streamed += len(piece)
        except Exception as error:
            # Streaming is optional: the whole answer is sent at the end in any case.
            log.info("not streamed: %s", described(error))
            self._streamable = False

    def send(self, reply: Reply) -> list[str]:
        """Send the rest of a reply, and return the timestamps of all its messages."""
        if self._left is None:
            self._left = list(reply.messages[len(self._sent) :])
        _send_all(self._left, lambda message: self._sent.append(self._put(message, self._metadata(reply))))
        return self._sent

    def abandon(self) -> None:
        """Give up the answer after a person stopped it: close its stream, or clear its status."""
        if self._stream:
            self.send(notice(_STOPPED))
            return
        show_status(self._desk, self._asked, "")

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
            self._desk.client.chat_stopStream(channel=self._asked.channel, ts=self._stream)
        except Exception as error:
            if seconds_to_wait(error, 0) is not None:
                raise
            # Slack has already ended the stream itself.
            log.info("stream not ended: %s", described(error))
        self._is_open = False

    def _update(self, message: Message, metadata: dict[str, Any]) -> str:
        shown: dict[str, Any] = {"text": shown_text(message), "blocks": message, "metadata": metadata}
        try:
            self._desk.client.chat_update(channel=self._asked.channel, ts=self._stream, **shown)
            return self._stream
        except Exception as error:
            self._is_open = slack_code(error) == STILL_OPEN
            if slack_code(error) in REFUSED_BLOCKS or seconds_to_wait(error, 0) is not None:
                raise
            log.info("message not updated, posting: %s", described(error))
            return self._post(message, metadata)

    def _post(self, message: Message, metadata: dict[str, Any]) -> str:
        response = self._desk.client.chat_postMessage(
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
    """Replies to the response URL of a command.

    Only the asker sees the reply, and may share it. It is sent whole, and cannot be stopped.
    """

    lane = ""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._left: list[Message] | None = None

    def send(self, reply: Reply) -> list[str]:
        if self._left is None:
            self._left = _for_command(reply)
        _send_all(self._left, lambda message: respond(self._asked.reply_url, message))
        return []

    def status(self, text: str) -> None: ...

    def write(self, text: str) -> None: ...

    def abandon(self) -> None: ...


# How a reply gets back to the asker.
WayBack = ThreadReply | CommandReply


def _send_all(left: list[Message], put: Callable[[Message], None]) -> None:
    """Send the messages, and remove each from the list once sent. If Slack rejects its blocks, send it as plain text."""
    while left:
        try:
            put(left[0])
        except Exception as error:
            is_refused = slack_code(error) in REFUSED_BLOCKS or status_of(error) == 400
            if not is_refused or (plain := text_messages(left[0])) == (left[0],):
                raise
            log.warning("blocks not taken, sending plain text: %s", described(error))
            left[:1] = plain
        else:
            left.pop(0)


def _for_command(reply: Reply) -> list[Message]:
    shown = responses(reply.messages)
    if reply.kind == ANSWER:
        shown[-1] = sharing(shown[-1], reply.id)
    return shown


def responses(messages: Sequence[Message]) -> list[Message]:
    """Return the messages that a response URL accepts; if some are left out, the last one says so."""
    if len(messages) <= _RESPONSES:
        return list(messages)
    return [*messages[: _RESPONSES - 1], *literal(LONGER)]
