"""What the listeners and the workers share, put together once at the start."""

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from chatbot.bot import Chatbot
from chatbot.feedback import FeedbackStore
from chatbot.slack.delivery import CommandReply, notice_blocks
from chatbot.slack.events import Asked, Identity
from chatbot.slack.journal import described, log, quiet_logger
from chatbot.slack.memory import NOTICE
from chatbot.slack.queueing import Rush, WorkQueue
from chatbot.slack.settings import SlackSettings, Tokens
from chatbot.slack.state import SlackState

if TYPE_CHECKING:
    from slack_sdk import WebClient
    from slack_sdk.http_retry import RetryHandler

# Slack says how long to wait each time; so often is a call tried again.
_RATE_LIMIT_RETRIES = 5
_NOTICE_WORKERS = 2
# No question takes so long; what is open for longer was given up by a worker that died.
_LOST_AFTER = 1800
# So many seconds may go by at a stop until everybody whose question was interrupted has been told.
_LAST_WORDS = 5.0
INTERRUPTED = "I was interrupted before I could answer. Please ask again."


@dataclass(frozen=True, slots=True)
class Desk:
    """`client` waits when Slack says so, `hasty` does not; `answers` and `notices` are the queues of what is to be sent.

    `stopping` is set once a stop has waited long enough: what is still under way ends then.
    """

    settings: SlackSettings
    bot: Chatbot
    client: "WebClient"
    hasty: "WebClient"
    me: Identity
    state: SlackState
    feedback: FeedbackStore
    answers: WorkQueue
    notices: WorkQueue
    rush: Rush
    stopping: threading.Event = field(default_factory=threading.Event)


def open_desk(settings: SlackSettings, tokens: Tokens, bot: Chatbot) -> Desk:
    """Sign in, open the stores and start the workers. SlackApiError when Slack does not take the token."""
    client = slack_client(settings, tokens.bot_token, patient=True)
    me = client.auth_test()
    rush = Rush()
    return Desk(
        settings=settings,
        bot=bot,
        client=client,
        hasty=slack_client(settings, tokens.bot_token, patient=False),
        me=Identity(str(me["user_id"]), str(me.get("bot_id") or "")),
        state=SlackState(settings.index),
        feedback=FeedbackStore(settings.index),
        answers=WorkQueue("answer", workers=settings.workers, size=settings.queue, rush=rush),
        notices=WorkQueue("notice", workers=_NOTICE_WORKERS, size=settings.queue),
        rush=rush,
    )


def keep_house(desk: Desk) -> None:
    """Delete what is too old, and tell those whose question died with its worker."""
    desk.state.forget(desk.settings.keep_days)
    for key, channel, thread, user in desk.state.lost(_LOST_AFTER):
        log.warning("a question taken on %d s ago was never answered", _LOST_AFTER)
        if thread:
            tell(desk, Asked(key, "", channel, thread, "", user, ""), INTERRUPTED)


def close_desk(desk: Desk) -> bool:
    """Finish what was taken on; False when the time was too short for it, and who asked was told to ask again."""
    finished = desk.answers.stop(desk.settings.stop_seconds)
    desk.stopping.set()
    ended = desk.answers.stop(_LAST_WORDS)
    if desk.notices.stop(_LAST_WORDS) and ended:
        desk.state.close()
    return finished


def slack_client(settings: SlackSettings, token: str, *, patient: bool) -> "WebClient":
    from slack_sdk import WebClient

    return WebClient(
        token=token,
        base_url=settings.api_url,
        logger=quiet_logger(),
        retry_handlers=retries() if patient else [],
        timeout=30 if patient else 5,
    )


def retries() -> "list[RetryHandler]":
    """Waits as long as Slack asks for (429), and tries a lost connection once more."""
    from slack_sdk.http_retry import ConnectionErrorRetryHandler, RateLimitErrorRetryHandler

    return [RateLimitErrorRetryHandler(max_retry_count=_RATE_LIMIT_RETRIES), ConnectionErrorRetryHandler()]


def tell(desk: Desk, asked: Asked, text: str, *, only_who_asked: bool = False) -> None:
    """Have a sentence of our own sent to the thread that asked, without the caller waiting for it.

    Nothing is said for all to see where the app is not allowed to answer.
    """
    if not only_who_asked and not desk.settings.allows(asked.channel):
        return
    if not desk.notices.offer(lambda: _send_notice(desk, asked, text, only_who_asked=only_who_asked)):
        log.warning("a notice was dropped: the queue of notices is full")


def _send_notice(desk: Desk, asked: Asked, text: str, *, only_who_asked: bool) -> None:
    where: dict[str, Any] = {"channel": asked.channel, "text": text, "blocks": notice_blocks(text)}
    if asked.thread:
        where["thread_ts"] = asked.thread
    try:
        if only_who_asked:
            desk.client.chat_postEphemeral(user=asked.user, **where)
        else:
            metadata = {"event_type": NOTICE, "event_payload": {}}
            desk.client.chat_postMessage(metadata=metadata, unfurl_links=False, unfurl_media=False, **where)
    except Exception as error:
        log.warning("a notice was not sent: %s", described(error))
        if asked.reply_url:
            CommandReply(asked, retries()).say(text)
