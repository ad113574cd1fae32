"""What becomes of an event: answered once, told why not, or left alone."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import ceil
from typing import Any

from chatbot.slack.answering import answer_question
from chatbot.slack.desk import Desk, show_status, tell
from chatbot.slack.events import (
    STOP_REACTIONS,
    Asked,
    asked_in_message,
    event_key,
    is_courtesy,
    is_question,
    mentions,
    says_stop,
    speaks_to_others,
    written_by_person,
)
from chatbot.slack.state import Work

Payload = Mapping[str, Any]

BUSY = "I have more questions waiting than I can take. Please ask again in a minute."
SILENCED = "I will leave this thread alone. Mention me to ask again."
NOT_HERE = "I do not answer in this channel. Write to me directly, or ask whoever runs me to allow this channel."
NOT_YOU = "I answer only the people that whoever runs me has named. Ask them to add you to one of their user groups."
NOT_YOURS = "I answer only people of the workspace that I belong to. Ask whoever runs me to allow yours."
NO_QUESTION = "Write your question with the mention, for example: Which instance has the lowest footprint for training?"
TOO_SOON = "You have asked as often as I may answer in a minute. Please ask again in {} s."
TOO_LONG = "Your question has {} characters, and I read at most {}. Please ask something shorter."
QUEUED = "has {} questions to answer before yours…"


def take_mention(desk: Desk, event: Payload, body: Payload) -> None:
    """A mention in a channel: answer it, and follow its thread from now on."""
    if not written_by_person(event, desk.me):
        return
    asked = asked_in_message(event, body, desk.me)
    if not _first(desk, asked, body):
        return
    if not desk.settings.allows(asked.channel):
        tell(desk, asked, NOT_HERE, only_who_asked=True)
    elif says_stop(asked.text) and not asked.files:
        silence(desk, asked)
    else:
        desk.state.follow(asked.channel, asked.thread)
        take(desk, asked)
        for early, its_body in desk.early.behind(asked):
            if _first(desk, early, its_body):
                take(desk, early)


def take_message(desk: Desk, event: Payload, body: Payload) -> None:
    """A message: in a direct message every one is a question, in a channel those of a thread that is followed."""
    if not written_by_person(event, desk.me):
        return
    asked = asked_in_message(event, body, desk.me)
    if not asked.direct:
        asked = replace(asked, overheard=True)
        if not _in_followed_thread(desk, event, asked, body):
            return
    if not _first(desk, asked, body):
        return
    if says_stop(asked.text) and not asked.files:
        silence(desk, replace(asked, overheard=False))
        return
    if asked.direct:
        # Writing to the bot alone is asking it again.
        desk.state.follow(asked.channel, asked.thread)
    take(desk, asked)


def _in_followed_thread(desk: Desk, event: Payload, asked: Asked, body: Payload) -> bool:
    """Not with a mention of the bot: that comes as an event of its own. Not what is said to others, and only what asks."""
    text = str(event.get("text") or "")
    is_for_all = (
        bool(event.get("thread_ts") and asked.text)
        and (says_stop(asked.text) or (is_question(asked.text) and not is_courtesy(asked.text)))
        and not mentions(text, desk.me.user)
        and not speaks_to_others(text, desk.me)
        and desk.settings.allows(asked.channel)
    )
    if not is_for_all:
        return False
    state = desk.state.thread_state(asked.channel, asked.thread)
    if not state:
        desk.early.note(asked, body)
    return state == "followed"


def take_reaction(desk: Desk, event: Payload, body: Payload) -> None:
    """A stop sign on one of our messages, or on the message a thread began with."""
    item = event.get("item") or {}
    if (
        event.get("reaction") not in STOP_REACTIONS
        or item.get("type") != "message"
        or event.get("user") == desk.me.user
    ):
        return
    channel, ts = str(item.get("channel", "")), str(item.get("ts", ""))
    thread = desk.state.thread_of(channel, ts)
    if thread and desk.state.thread_state(channel, thread) == "followed" and desk.state.claim(event_key(body)):
        silence(desk, Asked("", "", channel, thread, ts, str(event.get("user", "")), ""))


def take_stop(desk: Desk, event: Payload, body: Payload) -> None:
    """A press of Slack's own stop button: what is being answered in the thread ends; the next question is answered again."""
    desk.state.stop(str(event["channel"]), str(event["thread_ts"]))


def silence(desk: Desk, asked: Asked) -> None:
    desk.state.silence(asked.channel, asked.thread)
    tell(desk, asked, SILENCED)


def take(desk: Desk, asked: Asked) -> None:
    """Put a question on the queue, or say why not."""
    ahead = desk.answers.ahead()
    if refusal := refusal_of(desk, asked):
        tell(desk, asked, refusal, only_who_asked=not asked.direct)
    elif not queued(desk, asked):
        tell(desk, asked, BUSY)
    elif many(desk, ahead) and not asked.overheard:
        show_status(desk, asked, QUEUED.format(ahead))


def many(desk: Desk, ahead: int) -> bool:
    """Whether so many questions come before another that its asker is told."""
    return ahead > 2 * desk.settings.workers


def queued(desk: Desk, asked: Asked) -> bool:
    """Take a question on; False when the queue is full."""
    desk.state.begin(asked)
    if desk.answers.offer(partial(answer_question, desk, Work(asked))):
        return True
    desk.state.finish(asked.key)
    return False


def refusal_of(desk: Desk, asked: Asked) -> str:
    """Why a question is not answered, in a sentence for who asked; empty when it is."""
    longest = desk.settings.longest_question
    if asked.foreign and asked.team not in desk.settings.teams:
        return NOT_YOURS
    if not desk.members.include(asked.user):
        return NOT_YOU
    if not asked.text and not asked.files:
        return NO_QUESTION
    if len(asked.text) > longest:
        return TOO_LONG.format(len(asked.text), longest)
    seconds = desk.state.wait_for(asked.user, desk.settings.per_minute)
    return TOO_SOON.format(ceil(seconds)) if seconds else ""


def _first(desk: Desk, asked: Asked, body: Payload) -> bool:
    """Whether neither this event nor another one about the same message was taken before, here or by another worker."""
    return desk.state.claim(event_key(body), asked.key)
