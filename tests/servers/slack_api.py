"""Slack's Web API on loopback: it records every call, keeps the messages, and can fail or rate-limit on demand.

The limits are those of https://docs.slack.dev/apis/web-api/rate-limits, without the bursts that Slack may allow beyond them.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import ceil
from typing import Any
from urllib.parse import parse_qsl

from tests.servers.slack_blocks import fault_of

BOT_USER, BOT_ID, TEAM = "UBOT", "BBOT", "T1"
# Calls per minute for a whole workspace.
TIERS = {
    "chat.startStream": 20,
    "chat.stopStream": 20,
    "chat.appendStream": 100,
    "chat.update": 50,
    "chat.postEphemeral": 100,
    "chat.postMessage": 300,
    "conversations.replies": 50,
    "assistant.threads.setStatus": 600,
    "views.open": 100,
    "usergroups.users.list": 20,
}
# One message per second and channel, with bursts of this many.
_AT_ONCE = 3
_RESPONSES = 5


@dataclass
class Failure:
    """The error that a method returns instead, for its next `times` calls."""

    error: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    times: int = 1
    more: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    method: str
    arguments: dict[str, Any]
    at: float
    ok: bool = True


class SlackApi:
    """`calls` are in order of arrival; `messages` maps (channel, ts) to the current message; `groups` holds group members.

    Timestamps of consecutive messages are `step` seconds apart.
    """

    def __init__(self, page: int = 200, *, tiers: bool = False) -> None:
        self.tiers = tiers
        self.groups: dict[str, list[str]] = {}
        self.files: dict[str, bytes] = {}
        self.rejected: list[str] = []
        self._recent: dict[str, list[float]] = {}
        self.calls: list[Call] = []
        self.messages: dict[tuple[str, str], dict[str, Any]] = {}
        self.failures: dict[str, Failure] = {}
        self.page = page
        self.socket_url = ""
        self.step = 1
        self.url = ""
        self._clock = 1_700_000_000
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)

    # For tests

    def count(self, *methods: str) -> dict[str, int]:
        counted = Counter(call.method for call in self.calls)
        return {method: counted[method] for method in methods}

    def of(self, method: str) -> list[dict[str, Any]]:
        return [call.arguments for call in list(self.calls) if call.method == method]

    def said(self, channel: str = "C1") -> list[dict[str, Any]]:
        """The bot's messages in a channel, oldest first."""
        with self._lock:
            return [m for (c, _), m in sorted(self.messages.items()) if c == channel and m.get("bot_id") == BOT_ID]

    def wait_for(self, method: str, count: int = 1, seconds: float = 60.0) -> list[dict[str, Any]]:
        """Wait for `count` calls of a method; return their arguments."""
        return self._wait(lambda call: call.method == method, method, count, seconds)

    def wait_for_answers(self, count: int = 1, seconds: float = 60.0, *, kind: str = "wattwise_answer") -> None:
        """Wait until `count` answers have been posted or have replaced a stream."""

        def tells(call: Call) -> bool:
            return call.ok and (call.arguments.get("metadata") or {}).get("event_type") == kind

        self._wait(tells, kind, count, seconds)

    def _wait(self, wanted: Callable[[Call], bool], name: str, count: int, seconds: float) -> list[dict[str, Any]]:
        end = time.monotonic() + seconds
        with self._changed:
            while len(found := [call.arguments for call in self.calls if wanted(call)]) < count:
                if not self._changed.wait(end - time.monotonic()):
                    raise AssertionError(f"{name}: {len(found)} of {count}; {Counter(c.method for c in self.calls)}")
            return found

    def person_says(self, text: str, *, channel: str = "C1", thread: str = "", user: str = "U1") -> str:
        """Add a person's message to a channel and return its timestamp."""
        return self._add(channel, {"user": user, "text": text, **({"thread_ts": thread} if thread else {})})

    # What Slack does on a call

    def answer(self, method: str, given: dict[str, Any]) -> tuple[int, dict[str, str], dict[str, Any]]:
        """Perform the method, then record the call, so that whoever waits for the call sees its effect."""
        at = time.monotonic()
        failure = self._failure(method) or self._limit(method, given, at) or self._refusal(method, given)
        answering = None if failure else getattr(self, "_" + method.replace(".", "_"), None)
        answer = {"ok": True, **(answering(given) if answering else {})}
        if failure and failure.error == "message_not_in_streaming_state":
            self.messages[given["channel"], given["ts"]]["streaming"] = False
        if "error" in answer:
            failure = Failure(answer["error"])
        with self._changed:
            self.calls.append(Call(method, given, at, failure is None))
            self._changed.notify_all()
        return (
            (failure.status, failure.headers, {"ok": False, "error": failure.error, **failure.more})
            if failure
            else (200, {}, answer)
        )

    def _limit(self, method: str, given: dict[str, Any], at: float) -> Failure | None:
        """The rate-limit failure if this call exceeds a limit, otherwise None."""
        limits = {method: (TIERS.get(method, 0), 60.0)}
        if method == "chat.postMessage":
            limits[f"{method} {given['channel']}"] = (_AT_ONCE, float(_AT_ONCE))
        waits = [0.0]
        with self._lock:
            for name, (most, seconds) in limits.items() if self.tiers else ():
                recent = self._recent[name] = [t for t in self._recent.get(name, []) if t > at - seconds]
                if most and len(recent) >= most:
                    waits.append(recent[-most] + seconds - at)
            if max(waits) <= 0:
                for name in limits:
                    self._recent.setdefault(name, []).append(at)
                return None
        return Failure("ratelimited", 429, {"Retry-After": str(ceil(max(waits)))})

    def _refusal(self, method: str, given: dict[str, Any]) -> Failure | None:
        if "blocks" in given and (fault := fault_of(given["blocks"])):
            self.rejected.append(f"{method}: {fault}")
            return Failure("invalid_blocks")
        if method.startswith("hook") and len(self.of(method)) >= _RESPONSES:
            return Failure("used_url", 404)
        return None

    def _failure(self, method: str) -> Failure | None:
        with self._lock:
            failure = self.failures.get(method)
            if failure is None or failure.times <= 0:
                return None
            failure.times -= 1
            return failure

    def _add(self, channel: str, message: dict[str, Any]) -> str:
        with self._lock:
            self._clock += self.step
            ts = f"{self._clock}.000100"
            self.messages[channel, ts] = {"type": "message", "ts": ts, **message}
        return ts

    def _auth_test(self, given: dict[str, Any]) -> dict[str, Any]:
        return {"user_id": BOT_USER, "bot_id": BOT_ID, "team_id": TEAM, "user": "wattwise", "team": "t", "url": self.url}

    def _apps_connections_open(self, given: dict[str, Any]) -> dict[str, Any]:
        return {"url": self.socket_url}

    def _chat_postMessage(self, given: dict[str, Any]) -> dict[str, Any]:
        keys = ("text", "blocks", "metadata", "thread_ts")
        message = {key: given[key] for key in keys if key in given}
        return {"ts": self._add(given["channel"], {**message, "bot_id": BOT_ID, "user": BOT_USER})}

    def _chat_startStream(self, given: dict[str, Any]) -> dict[str, Any]:
        message = {"text": _streamed(given), "thread_ts": given["thread_ts"], "streaming": True}
        return {"ts": self._add(given["channel"], {**message, "bot_id": BOT_ID, "user": BOT_USER})}

    def _chat_appendStream(self, given: dict[str, Any]) -> dict[str, Any]:
        message = self.messages[given["channel"], given["ts"]]
        if not message.get("streaming"):
            return {"error": "message_not_in_streaming_state"}
        message["text"] += _streamed(given)
        return {}

    def _chat_stopStream(self, given: dict[str, Any]) -> dict[str, Any]:
        answer = self._chat_appendStream(given)
        more = {key: given[key] for key in ("blocks", "metadata") if key in given}
        self.messages[given["channel"], given["ts"]].update(more, streaming=False)
        return answer

    def _chat_update(self, given: dict[str, Any]) -> dict[str, Any]:
        message = self.messages[given["channel"], given["ts"]]
        if message.get("streaming"):
            return {"error": "streaming_state_conflict"}
        message.update({key: given[key] for key in ("text", "blocks", "metadata") if key in given})
        return {"ts": given["ts"]}

    def _usergroups_users_list(self, given: dict[str, Any]) -> dict[str, Any]:
        return {"users": self.groups.get(given["usergroup"], [])}

    def _conversations_replies(self, given: dict[str, Any]) -> dict[str, Any]:
        thread, first = given["ts"], int(given.get("cursor") or 0)
        oldest, latest = given.get("oldest", "0"), given.get("latest", "9999999999")
        page = min(self.page, int(given.get("limit") or 1000))
        with self._lock:
            found = [
                message
                for (channel, ts), message in sorted(self.messages.items())
                if channel == given["channel"]
                and thread in (ts, message.get("thread_ts"))
                and (ts == thread or float(oldest) <= float(ts) <= float(latest))
            ]
        following = str(first + page) if first + page < len(found) else ""
        return {"messages": found[first : first + page], "response_metadata": {"next_cursor": following}}


def _streamed(given: dict[str, Any]) -> str:
    return "".join(chunk["text"] for chunk in given.get("chunks") or []) + given.get("markdown_text", "")


@contextmanager
def slack_api(page: int = 200, *, tiers: bool = False) -> Iterator[SlackApi]:
    """Run the API on a free loopback port; response URLs of commands are served under /hook."""
    api = SlackApi(page, tiers=tiers)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _request_class(api))
    server.daemon_threads = True
    api.url = f"http://127.0.0.1:{server.server_port}/api/"
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02))
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _request_class(api: SlackApi) -> type[BaseHTTPRequestHandler]:
    class Request(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            is_json = "json" in self.headers.get("Content-Type", "")
            given = json.loads(body or "{}") if is_json else dict(parse_qsl(body))
            for key in ("blocks", "metadata", "prompts", "chunks", "view"):
                if isinstance(given.get(key), str):
                    given[key] = json.loads(given[key])
            status, headers, answer = api.answer(self.path.removeprefix("/api/").strip("/"), given)
            payload = json.dumps(answer).encode()
            self.send_response(status)
            self._send(payload, {"Content-Type": "application/json", **headers})

        def do_GET(self) -> None:
            """Send the file to clients with the token, the sign-in page to others."""
            known = self.headers.get("Authorization") == "Bearer xoxb-secret-token"
            data = api.files[self.path.removeprefix("/api/files/")] if known else b"<html>Sign in</html>"
            self.send_response(200)
            self._send(data, {"Content-Type": "application/octet-stream" if known else "text/html; charset=utf-8"})

        def _send(self, data: bytes, headers: dict[str, str]) -> None:
            for name, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Request
