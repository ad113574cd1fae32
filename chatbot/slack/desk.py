"""What the listeners and the workers share, assembled once at startup."""

import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from chatbot.answer import ReaderError
from chatbot.bot import Chatbot
from chatbot.history.feedback import FeedbackStore
from chatbot.slack.blocks import literal
from chatbot.slack.events import Asked, Identity
from chatbot.slack.journal import described, failed, log, slack_code
from chatbot.slack.memory import NOTICE
from chatbot.slack.queueing import Rush, Turns, WorkQueue
from chatbot.slack.settings import SlackSettings, Tokens
from chatbot.slack.state import LEASE, SlackState
from chatbot.slack.web import respond, seconds_to_wait, slack_client
from ingest import Place

if TYPE_CHECKING:
    from slack_sdk import WebClient

_NOTICE_WORKERS = 2
# At a stop, seconds for each queue to tell the askers of interrupted questions.
_LAST_WORDS = 5.0
_NOTICE_TRIES = 4
# A follow-up may arrive before the mention that it follows: by how many seconds, and how many are remembered.
_EARLY_SECONDS = 30.0
_MOST_EARLY = 200
# Slack's error codes for a token that is no longer valid.
ENDINGS = frozenset(("invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"))
OVER = "Slack does not take SLACK_BOT_TOKEN any more ({}). Install the app in your workspace, copy its token, and start again."
INTERRUPTED = "I was interrupted before I could answer. Please ask again."


class Ending:
    """A request for the process to end, with the reason if it came from Slack."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.reason = ""

    def because(self, code: str) -> None:
        """Ask the process to end, because Slack rejects the app with this code; the first reason is kept."""
        self.reason = self.reason or OVER.format(code)
        self.asked.set()


class Members:
    """The users that may ask: the members of the configured groups, or everybody if there are none."""

    def __init__(self, groups: tuple[str, ...], client: "WebClient") -> None:
        self._groups = groups
        self._client = client
        self._users: frozenset[str] = frozenset()
        self.refresh()

    def refresh(self) -> None:
        """Fetch the groups' members from Slack."""
        found = [self._client.usergroups_users_list(usergroup=group).get("users") or [] for group in self._groups]
        self._users = frozenset(user for users in found for user in users)

    def include(self, user: str) -> bool:
        return not self._groups or user in self._users


class Early:
    """Recent messages in threads that are not followed yet: kept in memory for a moment, never stored."""

    def __init__(self) -> None:
        self._found: deque[tuple[float, Asked, Mapping[str, Any]]] = deque(maxlen=_MOST_EARLY)

    def note(self, asked: Asked, body: Mapping[str, Any]) -> None:
        self._found.append((time.monotonic(), asked, body))

    def behind(self, mention: Asked) -> list[tuple[Asked, Mapping[str, Any]]]:
        """Return the messages that were written after a mention but arrived before it."""
        since, place = time.monotonic() - _EARLY_SECONDS, (mention.channel, mention.thread)
        return [
            (asked, body)
            for at, asked, body in list(self._found)
            if at > since and (asked.channel, asked.thread) == place and asked.ts > mention.ts
        ]


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything that a listener or worker needs.

    `client` retries lost requests, `hasty` does not. `answers` and `notices` are the work queues. `bots` holds the bots of
    channels with an index or model of their own. `stopping` is set once a stop has waited long enough; unfinished work
    then ends.
    """

    settings: SlackSettings
    bot: Chatbot
    bots: Mapping[str, Chatbot]
    client: "WebClient"
    hasty: "WebClient"
    me: Identity
    members: Members
    state: SlackState
    feedback: FeedbackStore
    answers: WorkQueue
    notices: WorkQueue
    rush: Rush
    turns: Turns = field(default_factory=Turns)
    early: Early = field(default_factory=Early)
    stopping: threading.Event = field(default_factory=threading.Event)
    ending: Ending = field(default_factory=Ending)

    def bot_of(self, channel: str) -> Chatbot:
        return self.bots.get(channel, self.bot)


def open_desk(settings: SlackSettings, tokens: Tokens, bot: Chatbot) -> Desk:
    """Sign in, open the stores and start the workers.

    Raises SlackApiError if Slack rejects the token, or if the token lacks a scope.
    """
    client = slack_client(settings, tokens.bot_token, patient=True)
    me = client.auth_test()
    rush = Rush()
    return Desk(
        settings=settings,
        bot=bot,
        bots=_bots(settings, bot),
        client=client,
        hasty=slack_client(settings, tokens.bot_token, patient=False),
        me=Identity(str(me["user_id"]), str(me.get("bot_id") or ""), str(me.get("team_id") or "")),
        members=Members(settings.groups, client),
        state=SlackState(settings.index),
        feedback=FeedbackStore(settings.index),
        answers=WorkQueue("answer", workers=settings.workers, size=settings.queue, rush=rush),
        notices=WorkQueue("notice", workers=_NOTICE_WORKERS, size=settings.queue),
        rush=rush,
    )


def _bots(settings: SlackSettings, bot: Chatbot) -> dict[str, Chatbot]:
    opened: dict[tuple[Place, str], Chatbot] = {(settings.index, settings.model): bot}
    found = {}
    for channel, place in settings.of_channels().items():
        if place not in opened:
            opened[place] = Chatbot.open(place[0], model=place[1])
        found[channel] = opened[place]
    return found


def close_desk(desk: Desk) -> bool:
    """Finish the accepted questions; False if time ran out.

    Askers who still wait are told to ask again. Replies that Slack does not accept in time are left to the next process.
    """
    with _noted("leases were not renewed"):
        desk.state.renew(desk.settings.stop_seconds + 2 * _LAST_WORDS + LEASE)
    finished = desk.answers.stop(desk.settings.stop_seconds)
    desk.stopping.set()
    desk.rush.ready.set()  # release workers that still wait for loading, so that their askers are told too
    ended = desk.answers.stop(_LAST_WORDS, hurry=True)
    ended = desk.notices.stop(_LAST_WORDS, hurry=True) and ended
    with _noted("what is left was not given away"):
        desk.state.release()
    if ended:
        desk.state.close()
    return finished


@contextmanager
def _noted(what: str) -> Iterator[None]:
    """Log an error of the store instead of raising it, so that a stop goes on."""
    try:
        yield
    except ReaderError as error:
        failed(what, error)


def tell(desk: Desk, asked: Asked, text: str, *, only_who_asked: bool = False) -> None:
    """Queue one of the app's own sentences for the thread that asked, without waiting for it to be sent.

    Nothing is posted publicly in channels where the app may not answer, and nothing at all for overheard questions.
    """
    if asked.overheard or (not only_who_asked and not desk.settings.allows(asked.channel)):
        return
    if not desk.notices.offer(partial(_send_notice, desk, asked, text, only_who_asked, 0)):
        log.warning("a notice was dropped: the queue of notices is full")


def _send_notice(desk: Desk, asked: Asked, text: str, only_who_asked: bool, tries: int) -> None:
    if not asked.thread and asked.reply_url:
        respond(asked.reply_url, literal(text)[0])
        return
    where: dict[str, Any] = {"channel": asked.channel, "text": text, "blocks": literal(text)[0]}
    if asked.thread:
        where["thread_ts"] = asked.thread
    try:
        if only_who_asked:
            desk.client.chat_postEphemeral(user=asked.user, **where)
        else:
            metadata = {"event_type": NOTICE, "event_payload": {}}
            desk.client.chat_postMessage(metadata=metadata, unfurl_links=False, unfurl_media=False, **where)
    except Exception as error:
        seconds = seconds_to_wait(error, tries)
        if seconds is not None and tries < _NOTICE_TRIES and not desk.stopping.is_set():
            desk.notices.later(partial(_send_notice, desk, asked, text, only_who_asked, tries + 1), seconds)
            return
        log.warning("a notice was not sent: %s", described(error))
        check_ending(desk, error)
        if asked.reply_url:
            respond(asked.reply_url, literal(text)[0])


def show_status(desk: Desk, asked: Asked, text: str) -> None:
    """Show in a thread what is being done; tried only once."""
    try:
        desk.hasty.assistant_threads_setStatus(channel_id=asked.channel, thread_ts=asked.thread, status=text)
    except Exception as error:
        log.info("no status shown: %s", described(error))


def check_ending(desk: Desk, error: BaseException) -> bool:
    """Return whether an error says that the token is no longer valid; if so, ask the process to end."""
    if (code := slack_code(error)) in ENDINGS:
        desk.ending.because(code)
    return code in ENDINGS
