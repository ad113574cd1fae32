"""Read Slack's payloads: who asks what, and where the answer belongs. Pure functions."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from chatbot.slack.escaping import plain

Payload = Mapping[str, Any]
# Any of these reactions in a thread asks the bot to leave the thread alone.
STOP_REACTIONS = frozenset(
    ("octagonal_sign", "no_entry", "no_entry_sign", "mute", "no_bell", "shushing_face", "zipper_mouth_face")
)
# The subtypes of messages that people write: none, with files, or a reply that is "also sent to the channel".
_WRITTEN = (None, "file_share", "thread_broadcast")
# How questions without a question mark begin.
_ASKS = re.compile(
    r"(?:(?:and|so|ok(?:ay)?|but|hi|hey|please)\b[\s,]*)*(?:what|which|who|whose|when|where|why|how|is|are|was|were|does|do|did|can|could"
    r"|will|would|should|has|have|compare|explain|list|name|tell|show|give|recommend|size|estimate)\b",
    re.IGNORECASE,
)
# What people do is asked of people, not of documents: "who deployed it?", "did you order them?", "can someone restart it?".
_OF_PEOPLE = re.compile(
    r"\b(?:he|she|him|his|her|(?:some|any|every)(?:one|body))\b|\bwho\b(?! (?:makes|sells|offers|builds|designs))"
    r"|\b(?:are|were|have|had|did|will) you\b|\bdid (?:we|they|our|your|their)\b"
    r"|\b(?:can|could|would) you (?!compare|explain|list|name|tell|show|give|recommend|size|estimate|train|fine|serve|run|use|fit|rent|buy|mix|combine)",
    re.IGNORECASE,
)
_STOP = re.compile(r"(?:please\s+)?(?:stop|be quiet|shut up|stop (?:it|answering))(?:[\s,]*please)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Identity:
    """The app's user id, bot id and workspace id."""

    user: str
    bot: str
    team: str


@dataclass(frozen=True, slots=True)
class SharedFile:
    """A file shared with a message; `size` is in bytes."""

    name: str
    url: str
    size: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and where its answer belongs: a thread, or the response URL of a command.

    `key` identifies the message or command, and is the same for every event about it. `team` is the asker's workspace, if
    known. `foreign` marks an asker from outside the app's own workspace. An `overheard` question was not addressed to the
    app: it is in a thread that the app follows.
    """

    key: str
    text: str
    channel: str
    thread: str
    ts: str
    user: str
    team: str
    reply_url: str = ""
    files: tuple[SharedFile, ...] = ()
    foreign: bool = False
    overheard: bool = False

    @property
    def direct(self) -> bool:
        """Whether it was asked in a direct message."""
        return self.channel.startswith("D")


def asked_from_json(text: str) -> Asked:
    asked = Asked(**json.loads(text))
    return replace(asked, files=tuple(SharedFile(**file) for file in asked.files))  # type: ignore[arg-type]


def event_key(body: Payload) -> str:
    """Return a key for an event or a button press that is the same on each delivery; empty if it has none."""
    event_id, trigger_id = body.get("event_id"), body.get("trigger_id")
    return f"event:{event_id}" if event_id else f"press:{trigger_id}" if trigger_id else ""


def written_by_person(event: Payload, me: Identity) -> bool:
    """Return whether a message is new and written by a person: not by a bot or by us, no edit, no join."""
    user = event.get("user")
    return (
        event.get("subtype") in _WRITTEN
        and not any(event.get(field) for field in ("bot_id", "bot_profile", "edited", "hidden"))
        and isinstance(user, str)
        and user not in ("", me.user, "USLACKBOT")
    )


def asked_in_message(event: Payload, body: Payload, me: Identity) -> Asked:
    """Return the question in a message or mention; a message outside a thread starts its own."""
    ts = str(event["ts"])
    channel = str(event["channel"])
    # In a shared channel, the event names the asker's workspace; `team_id` is the one where the app is installed.
    team = str(event.get("user_team") or event.get("team") or body.get("team_id") or "")
    return Asked(
        key=f"message:{channel}:{ts}",
        text=question_in(str(event.get("text") or ""), me),
        channel=channel,
        thread=str(event.get("thread_ts") or ts),
        ts=ts,
        user=str(event["user"]),
        team=team,
        files=_files(event),
        foreign=bool(body.get("is_ext_shared_channel", True)) and team not in ("", me.team),
    )


def asked_by_command(command: Payload, me: Identity) -> Asked:
    return Asked(
        key=f"command:{command['trigger_id']}",
        text=question_in(str(command.get("text") or ""), me),
        channel=str(command["channel_id"]),
        thread="",
        ts="",
        user=str(command["user_id"]),
        team=(team := str(command.get("team_id") or "")),
        foreign=team not in ("", me.team),
        reply_url=str(command.get("response_url") or ""),
    )


def asked_by_shortcut(body: Payload, me: Identity) -> Asked:
    """Return the message that a shortcut was used on as a question of the shortcut's user, for the message's thread."""
    message = body["message"]
    ts = str(message["ts"])
    return Asked(
        key=f"shortcut:{body['trigger_id']}",
        text=question_in(str(message.get("text") or ""), me),
        channel=str(body["channel"]["id"]),
        thread=str(message.get("thread_ts") or ts),
        ts=ts,
        user=str(body["user"]["id"]),
        team=(team := team_of_user(body)),
        foreign=team not in ("", me.team),
        files=_files(message),
        reply_url=str(body.get("response_url") or ""),
    )


def team_of_user(body: Payload) -> str:
    """Return the workspace of whoever used a shortcut or pressed a button."""
    return str(body["user"].get("team_id") or (body.get("team") or {}).get("id") or "")


def _files(message: Payload) -> tuple[SharedFile, ...]:
    found = [file for file in message.get("files") or () if isinstance(file, Mapping)]
    return tuple(
        SharedFile(str(f.get("name") or "a file"), str(f.get("url_private_download") or ""), int(f.get("size") or 0))
        for f in found
    )


def question_in(text: str, me: Identity) -> str:
    """Return a message's text as its writer sees it, without the mention of the bot."""
    return plain(re.sub(rf"<@{re.escape(me.user)}(?:\|[^>]*)?>", "", text)).strip()


def is_question(text: str) -> bool:
    """Return whether a message that mentions nobody reads like a question, and not like one about what people do."""
    return ("?" in text or _ASKS.match(text.strip()) is not None) and not _OF_PEOPLE.search(text)


def says_stop(question: str) -> bool:
    """Return whether a message only asks the bot to be silent."""
    return _STOP.fullmatch(question.strip(" \t\n.,!:;")) is not None
