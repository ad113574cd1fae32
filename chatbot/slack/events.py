"""Slack's payloads read: who asks what, and where the answer belongs. Pure functions."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from chatbot.slack.escaping import plain

Payload = Mapping[str, Any]
# Any of these on a message of a thread asks the bot to leave it alone.
STOP_REACTIONS = frozenset(
    ("octagonal_sign", "no_entry", "no_entry_sign", "mute", "no_bell", "shushing_face", "zipper_mouth_face")
)
# What a person writes comes without a subtype, with files, or as a reply that is "also sent to the channel".
_WRITTEN = (None, "file_share", "thread_broadcast")
_COURTESY = re.compile(
    r"(?:(?:ok(?:ay)?|great|cool|nice|perfect|got it|thanks?|thank you|thx|cheers|very much|a lot|so much)[\s,.!]*)*",
    re.IGNORECASE,
)
# How a question begins that has no question mark.
_ASKS = re.compile(
    r"(?:(?:and|so|ok(?:ay)?|but|hi|hey|please)\b[\s,]*)*(?:what|which|who|whose|when|where|why|how|is|are|was|were|does|do|did|can|could"
    r"|will|would|should|has|have|compare|explain|list|name|tell|show|give|recommend|size|estimate)\b",
    re.IGNORECASE,
)
_STOP = re.compile(r"(?:please\s+)?(?:stop|be quiet|shut up|stop (?:it|answering))(?:[\s,]*please)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the app is in its workspace, and which workspace that is."""

    user: str
    bot: str
    team: str


@dataclass(frozen=True, slots=True)
class SharedFile:
    """A file that was shared with a message; `size` in bytes."""

    name: str
    url: str
    size: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and where its answer belongs: a thread, or for a command the address it came with.

    `key` names the message or command it stands in, the same for every event about it. `team` is the asker's workspace, which is
    empty or another than the app's own where `foreign`. Nobody has asked the app where it is `overheard`: it stands in a thread
    that the app follows.
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
    """What names an event or a press of a button, the same each time that it comes; empty where nothing does."""
    event_id, trigger_id = body.get("event_id"), body.get("trigger_id")
    return f"event:{event_id}" if event_id else f"press:{trigger_id}" if trigger_id else ""


def written_by_person(event: Payload, me: Identity) -> bool:
    """Whether a message is a person's and new: no bot's, no edit, no join, none of our own."""
    user = event.get("user")
    return (
        event.get("subtype") in _WRITTEN
        and not any(event.get(field) for field in ("bot_id", "bot_profile", "edited", "hidden"))
        and isinstance(user, str)
        and user not in ("", me.user, "USLACKBOT")
    )


def asked_in_message(event: Payload, body: Payload, me: Identity) -> Asked:
    """The question in a message or mention; a message outside of threads begins its own."""
    ts = str(event["ts"])
    channel = str(event["channel"])
    # In a channel that workspaces share, an event names the asker's; `team_id` is where the app is installed.
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
    """The message that a shortcut was used on, asked by who used it, to be answered in that message's thread."""
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
    """The workspace of who used a shortcut or pressed a button."""
    return str(body["user"].get("team_id") or (body.get("team") or {}).get("id") or "")


def _files(message: Payload) -> tuple[SharedFile, ...]:
    found = [file for file in message.get("files") or () if isinstance(file, Mapping)]
    return tuple(
        SharedFile(str(f.get("name") or "a file"), str(f.get("url_private_download") or ""), int(f.get("size") or 0))
        for f in found
    )


def question_in(text: str, me: Identity) -> str:
    """A message's text as its writer meant it, without the mention of the bot."""
    return plain(re.sub(rf"<@{re.escape(me.user)}(?:\|[^>]*)?>", "", text)).strip()


def is_question(text: str) -> bool:
    """Whether a message that nobody was asked in reads as a question."""
    return "?" in text or _ASKS.match(text.strip()) is not None


def is_courtesy(question: str) -> bool:
    """Whether a message only thanks or agrees: nobody wants an answer to it."""
    return _COURTESY.fullmatch(question.strip(" \t\n.,!:;)👍🙏")) is not None


def says_stop(question: str) -> bool:
    """Whether a message is nothing but a wish that the bot be silent."""
    return _STOP.fullmatch(question.strip(" \t\n.,!:;")) is not None
