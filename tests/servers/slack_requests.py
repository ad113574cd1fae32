"""Requests as Slack sends them: event, command, shortcut and button payloads, with Slack's signature."""

import hashlib
import hmac
import http.client
import json
import time
from contextlib import closing
from itertools import count
from typing import Any
from urllib.parse import urlencode

from tests.servers.slack_api import BOT_ID, BOT_USER, TEAM

SECRET = "signing-secret-of-the-tests"
_numbers = count(1)


def event(kind: str, event_id: str = "", **fields: Any) -> dict[str, Any]:
    """The body of an Events API request."""
    return {
        "type": "event_callback",
        "team_id": TEAM,
        "api_app_id": "A1",
        "event_id": event_id or f"Ev{next(_numbers)}",
        "authorizations": [{"team_id": TEAM, "user_id": BOT_USER, "is_bot": True}],
        "event": {"type": kind, **fields},
    }


def mention(
    text: str, ts: str, *, channel: str = "C1", thread: str = "", user: str = "U1", **more: Any
) -> dict[str, Any]:
    fields = {"text": f"<@{BOT_USER}> {text}", "ts": ts, "channel": channel, "user": user, **more}
    return event("app_mention", **fields, **({"thread_ts": thread} if thread else {}))


def message(
    text: str, ts: str, *, channel: str = "C1", thread: str = "", user: str = "U1", **more: Any
) -> dict[str, Any]:
    kind = "im" if channel.startswith("D") else "channel"
    fields = {"text": text, "ts": ts, "channel": channel, "user": user, "channel_type": kind, **more}
    return event("message", **fields, **({"thread_ts": thread} if thread else {}))


def own_message(text: str, ts: str, *, channel: str = "C1", thread: str = "") -> dict[str, Any]:
    return message(text, ts, channel=channel, thread=thread, user=BOT_USER, bot_id=BOT_ID)


def command(
    text: str, response_url: str, *, trigger: str = "", channel: str = "C1", user: str = "U1"
) -> dict[str, str]:
    return {
        "command": "/wattwise",
        "text": text,
        "response_url": response_url,
        "trigger_id": trigger or f"trigger{next(_numbers)}",
        "channel_id": channel,
        "user_id": user,
        "team_id": TEAM,
    }


def shortcut(text: str, ts: str, *, channel: str = "C1", user: str = "U1") -> dict[str, Any]:
    return {
        "type": "message_action",
        "callback_id": "wattwise_answer_this",
        "trigger_id": f"trigger{next(_numbers)}",
        "team": {"id": TEAM},
        "channel": {"id": channel},
        "user": {"id": user},
        "message": {"type": "message", "text": text, "ts": ts, "user": "U2"},
    }


def button(action_id: str, value: str, *, user: str = "U1", channel: str = "C1", thread: str = "1.1") -> dict[str, Any]:
    return {
        "type": "block_actions",
        "trigger_id": f"trigger{next(_numbers)}",
        "team": {"id": TEAM},
        "user": {"id": user},
        "channel": {"id": channel},
        "message": {"ts": "1.2", "thread_ts": thread},
        "actions": [{"type": "button", "action_id": action_id, "block_id": "b", "value": value}],
    }


def comment(view: dict[str, Any], words: str, *, user: str = "U1") -> dict[str, Any]:
    """The submission of the modal that asks why an answer did not help."""
    values = {
        "choice": {"choice": {"selected_option": {"value": "It is wrong"}}},
        "words": {"words": {"value": words}},
    }
    return {
        "type": "view_submission",
        "trigger_id": f"trigger{next(_numbers)}",
        "team": {"id": TEAM},
        "user": {"id": user},
        "view": view | {"id": "V1", "state": {"values": values}},
    }


def encoded(payload: dict[str, Any]) -> tuple[bytes, str]:
    """A payload's body and content type: events are JSON, commands are forms, the others are JSON inside a form."""
    if "event" in payload:
        return json.dumps(payload).encode(), "application/json"
    form = payload if "command" in payload else {"payload": json.dumps(payload)}
    return urlencode(form).encode(), "application/x-www-form-urlencoded"


def signed_headers(body: bytes, kind: str, *, secret: str = SECRET, at: float | None = None) -> dict[str, str]:
    timestamp = str(int(time.time() if at is None else at))
    digest = hmac.new(secret.encode(), f"v0:{timestamp}:".encode() + body, hashlib.sha256).hexdigest()
    return {"Content-Type": kind, "X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={digest}"}


def send(
    port: int, payload: dict[str, Any], *, headers: dict[str, str] | None = None, **signing: Any
) -> tuple[int, str, float]:
    """Send a payload; return the status, the response body and the seconds it took."""
    body, kind = encoded(payload)
    began = time.perf_counter()
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("POST", "/slack/events", body, headers or signed_headers(body, kind, **signing))
        response = connection.getresponse()
        return response.status, response.read().decode(), time.perf_counter() - began
