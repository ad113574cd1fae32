"""The Slack app: events, commands, shortcuts and button presses are answered once, declined with a reason, or ignored.

A question is stored before its event is acknowledged, so that it survives the process; answering comes later.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

from chatbot.answer import ReaderError
from chatbot.history.feedback import Feedback
from chatbot.slack.answering import FAILED, answer_question
from chatbot.slack.blocks import (
    EVIDENCE,
    FEEDBACK,
    PAGE,
    REASON,
    SHARE,
    WORDS,
    evidence_view,
    reason_given,
    reason_view,
    shared_by,
)
from chatbot.slack.delivery import responses
from chatbot.slack.desk import Desk, check_ending, show_status, tell
from chatbot.slack.events import (
    STOP_REACTIONS,
    Asked,
    Payload,
    asked_by_command,
    asked_by_shortcut,
    asked_in_message,
    event_key,
    is_question,
    says_stop,
    team_of_user,
    written_by_person,
)
from chatbot.slack.journal import described, failed, log, quiet_logger
from chatbot.slack.state import KeptAnswer, Work
from chatbot.slack.web import respond

if TYPE_CHECKING:
    from slack_bolt import App, BoltResponse
    from slack_bolt.context.ack import Ack

COMMAND = "/wattwise"
SHORTCUT = "wattwise_answer_this"
PROMPTS = (
    ("The frugal choice", "Which instance has the lowest footprint for training?"),
    ("Compare two chips", "Trainium or Inferentia?"),
    ("Look up a number", "How much accelerator memory does a trn1.32xlarge have?"),
)
BUSY = "I have more questions waiting than I can take. Please ask again in a minute."
SILENCED = "I will leave this thread alone. Mention me to ask again."
NOT_HERE = "I do not answer in this channel. Write to me directly, or ask whoever runs me to allow this channel."
NOT_YOU = "I answer only the people that whoever runs me has named. Ask them to add you to one of their user groups."
NOT_YOURS = "I answer only people of the workspace that I belong to. Ask whoever runs me to allow yours."
NO_QUESTION = "Write your question with the mention, for example: Which instance has the lowest footprint for training?"
TOO_SOON = "You have asked as often as I may answer in a minute. Please ask again in {} s."
TOO_LONG = "Your question has {} characters, and I read at most {}. Please ask something shorter."
QUEUED = "has {} questions to answer before yours…"
SEARCHING = "Searching the sources…"
AHEAD = " {} questions come before yours."
THANKS = "Thank you, your vote is stored with the question and the answer."
NOT_DONE = "Something went wrong on my side. Please try again; the reference for whoever runs me is {}."
TOO_OLD = "This answer is no longer kept: ask again to vote on it, to share it, or to see its evidence."


def slack_app(desk: Desk, signing_secret: str) -> "App":
    """Build the app with all its listeners."""
    from slack_bolt import App, BoltResponse

    def noted(next: Callable[[], None]) -> None:
        desk.rush.noted()
        next()

    def taken(body: dict[str, Any], next: Callable[[], None]) -> None:
        event = body.get("event") or {}
        if take_event := _EVENTS.get(str(event.get("type"))):
            take_event(desk, event, body)
        next()

    def failure(error: Exception, body: dict[str, Any]) -> "BoltResponse":
        _tell_failure(desk, error, body)
        # The asker has been told, so Slack need not send the event again.
        return BoltResponse(status=200)

    app = App(
        before_authorize=noted,
        client=desk.client,
        # Bolt also sets the level of the logger with this name.
        name="slack_bolt.wattwise",
        logger=quiet_logger(),
        # Only signed requests arrive over HTTP; Socket Mode does not use the secret.
        signing_secret=signing_secret,
        token_verification_enabled=True,
    )
    app.error(failure)
    app.middleware(taken)
    # `taken` has already handled the event; this only acknowledges it, so that Slack does not send it again.
    app.event(re.compile(".*"))(lambda: None)
    # Bolt passes arguments to a listener by the names of its parameters.
    app.command(COMMAND)(partial(_take_command, desk))
    app.shortcut({"type": "message_action", "callback_id": SHORTCUT})(partial(_take_shortcut, desk))
    for action, use in ((FEEDBACK, _vote), (EVIDENCE, _show_evidence), (SHARE, _share)):
        app.action(action)(partial(_take_press, desk, use))
    # A link button must be acknowledged like any other.
    app.action(PAGE)(lambda ack: ack())
    app.view(REASON)(partial(_take_reason, desk))
    return app


def _tell_failure(desk: Desk, error: Exception, body: Payload) -> None:
    reference = failed("an event was not taken", error)
    check_ending(desk, error)
    event = body.get("event") or {}
    waits = event.get("type") == "app_mention" or event.get("channel_type") == "im"
    if waits and written_by_person(event, desk.me):
        tell(desk, asked_in_message(event, body, desk.me), FAILED.format(reference))
    elif body.get("type") in ("block_actions", "message_action"):
        place = _place_of_press(body)
        if desk.settings.allows(place.channel):
            tell(desk, place, NOT_DONE.format(reference), only_who_asked=True)


# Messages


def _take_message(desk: Desk, event: Payload, body: Payload) -> None:
    """Handle a mention, any direct message, or a channel message in a thread that is followed since a mention."""
    if not written_by_person(event, desk.me):
        return
    asked = asked_in_message(event, body, desk.me)
    if event["type"] == "message" and not asked.direct:
        asked = replace(asked, overheard=True)
        if not _in_followed_thread(desk, event, asked, body):
            return
    if not _first(desk, asked, body):
        return
    if not desk.settings.allows(asked.channel):
        tell(desk, asked, NOT_HERE, only_who_asked=True)
    elif says_stop(asked.text) and not asked.files:
        _silence(desk, replace(asked, overheard=False))
    elif asked.overheard:
        _take(desk, asked)
    else:
        desk.state.follow(asked.channel, asked.thread)
        _take(desk, asked)
        for early, its_body in desk.early.behind(asked):
            if _first(desk, early, its_body):
                _take(desk, early)


def _in_followed_thread(desk: Desk, event: Payload, asked: Asked, body: Payload) -> bool:
    """Return whether a channel message is a question, or a request to stop, in a followed thread.

    Messages with mentions do not count: they address others or, if they mention the bot, arrive as a separate event. In a
    thread without a mention so far, a message is remembered in case the mention arrives late.
    """
    is_for_all = (
        bool(event.get("thread_ts") and asked.text)
        and (says_stop(asked.text) or is_question(asked.text))
        and "<@" not in str(event.get("text") or "")
        and desk.settings.allows(asked.channel)
    )
    if not is_for_all:
        return False
    state = desk.state.thread_state(asked.channel, asked.thread)
    if not state:
        desk.early.note(asked, body)
    return state == "followed"


def _take_reaction(desk: Desk, event: Payload, body: Payload) -> None:
    """Silence a thread after a stop reaction to one of our messages in it, or to its first message."""
    item = event["item"]
    if event["reaction"] not in STOP_REACTIONS or item["type"] != "message" or event.get("user") == desk.me.user:
        return
    channel, ts = str(item.get("channel", "")), str(item.get("ts", ""))
    thread = desk.state.thread_of(channel, ts)
    if thread and desk.state.thread_state(channel, thread) == "followed" and desk.state.claim(event_key(body)):
        _silence(desk, Asked("", "", channel, thread, ts, str(event.get("user", "")), ""))


def _take_stop(desk: Desk, event: Payload, body: Payload) -> None:
    """Handle Slack's own stop button: the current answer in the thread ends; later questions are answered again."""
    desk.state.stop(str(event["channel"]), str(event["thread_ts"]))


def _silence(desk: Desk, asked: Asked) -> None:
    desk.state.silence(asked.channel, asked.thread)
    tell(desk, asked, SILENCED)


def _first(desk: Desk, asked: Asked, body: Payload) -> bool:
    """Claim an event and its message; False if an event about the message was handled before, in any process."""
    return desk.state.claim(event_key(body), asked.key)


def _take(desk: Desk, asked: Asked) -> None:
    """Queue a question, or say why not."""
    ahead = desk.answers.ahead()
    if refusal := _refusal_of(desk, asked):
        tell(desk, asked, refusal, only_who_asked=not asked.direct)
    elif not _queued(desk, asked):
        tell(desk, asked, BUSY)
    elif _many(desk, ahead) and not asked.overheard:
        desk.notices.offer(partial(show_status, desk, asked, QUEUED.format(ahead)))


def _many(desk: Desk, ahead: int) -> bool:
    """Return whether the queue is long enough to tell the next asker about it."""
    return ahead > 2 * desk.settings.workers


def _queued(desk: Desk, asked: Asked) -> bool:
    """Store and queue a question; False if the queue is full."""
    desk.state.begin(asked)
    if desk.answers.offer(partial(answer_question, desk, Work(asked))):
        return True
    desk.state.finish(asked.key)
    return False


def _refusal_of(desk: Desk, asked: Asked) -> str:
    """Return why a question is not answered, as a sentence for the asker; empty if it is answered."""
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


# The app's place in Slack


def _opened(desk: Desk, event: Payload, body: Payload) -> None:
    if event.get("tab") == "messages":
        desk.notices.offer(partial(_suggest, desk, str(event.get("channel", ""))))


def _suggest(desk: Desk, channel: str) -> None:
    prompts = [{"title": title, "message": message} for title, message in PROMPTS]
    try:
        desk.hasty.assistant_threads_setSuggestedPrompts(channel_id=channel, title="Try one of these", prompts=prompts)
    except Exception as error:
        log.info("no prompts shown: %s", described(error))


def _uninstalled(desk: Desk, event: Payload, body: Payload) -> None:
    desk.ending.because("app_uninstalled")


def _revoked(desk: Desk, event: Payload, body: Payload) -> None:
    tokens = event.get("tokens")
    if isinstance(tokens, Mapping) and desk.me.user in (tokens.get("bot") or ()):
        desk.ending.because("tokens_revoked")


_EVENTS: Mapping[str, Callable[[Desk, Payload, Payload], None]] = {
    "app_mention": _take_message,
    "message": _take_message,
    "reaction_added": _take_reaction,
    "agent_session_stopped": _take_stop,
    "app_home_opened": _opened,
    "app_uninstalled": _uninstalled,
    "tokens_revoked": _revoked,
}


# Commands, shortcuts, buttons


def _take_command(desk: Desk, ack: "Ack", body: Payload) -> None:
    try:
        ack(_of_command(desk, asked_by_command(body, desk.me)))
    except ReaderError as error:
        # A locked, full or damaged store fails within a second, and Slack waits for three.
        ack(FAILED.format(failed("a command was not taken", error)))


def _of_command(desk: Desk, asked: Asked) -> str:
    """Take a command, and return the text that acknowledges it; the answer comes later."""
    if asked.text.lower() in ("", "help"):
        return NO_QUESTION.replace("with the mention", f"behind {COMMAND}")
    if not desk.settings.allows(asked.channel):
        return NOT_HERE
    if not desk.state.claim(asked.key):
        return ""
    if refusal := _refusal_of(desk, asked):
        return refusal
    ahead = desk.answers.ahead()
    if not _queued(desk, asked):
        return BUSY
    return SEARCHING + (AHEAD.format(ahead) if _many(desk, ahead) else "")


def _take_shortcut(desk: Desk, ack: "Ack", body: Payload) -> None:
    ack()
    asked = asked_by_shortcut(body, desk.me)
    if not desk.settings.allows(asked.channel):
        tell(desk, asked, NOT_HERE, only_who_asked=True)
    elif desk.state.claim(asked.key):
        desk.state.follow(asked.channel, asked.thread)
        _take(desk, asked)


def _take_press(desk: Desk, use: Callable[[Desk, Payload, KeptAnswer, str], None], ack: "Ack", body: Payload) -> None:
    """Call `use` with the stored answer that a button belongs to, or say that it is no longer stored."""
    ack()
    if not desk.state.claim(event_key(body)):
        return
    value, place = str(body["actions"][0].get("value", "")), _place_of_press(body)
    if place.team not in ("", desk.me.team, *desk.settings.teams):
        tell(desk, place, NOT_YOURS, only_who_asked=True)
    elif (kept := desk.state.kept(value.lstrip("+-"))) is None:
        tell(desk, place, TOO_OLD, only_who_asked=True)
    else:
        use(desk, body, kept, value)


def _vote(desk: Desk, body: Payload, kept: KeptAnswer, value: str) -> None:
    desk.feedback.add(_feedback(kept, body, helpful=value.startswith("+")))
    tell(desk, _place_of_press(body), THANKS, only_who_asked=True)
    if value.startswith("-"):
        try:
            desk.hasty.views_open(trigger_id=body["trigger_id"], view=reason_view(kept.id))
        except Exception as error:
            # The vote counts without a reason, too.
            log.info("no reason was asked for: %s", described(error))


def _take_reason(desk: Desk, ack: "Ack", body: Payload) -> None:
    try:
        kept = desk.state.kept(str(body["view"].get("private_metadata", "")))
        if kept and (given := reason_given(body["view"])):
            desk.feedback.add(_feedback(kept, body, helpful=False, comment=given))
    except ReaderError as error:
        # The modal stays open with what was written, so that it can be sent again.
        ack(response_action="errors", errors={WORDS: NOT_DONE.format(failed("a comment was not stored", error))})
    else:
        ack()


def _show_evidence(desk: Desk, body: Payload, kept: KeptAnswer, value: str) -> None:
    desk.hasty.views_open(trigger_id=body["trigger_id"], view=evidence_view(kept))


def _share(desk: Desk, body: Payload, kept: KeptAnswer, value: str) -> None:
    reply, address = desk.state.reply(kept.id), str(body.get("response_url") or "")
    if reply is None or not address:
        tell(desk, _place_of_press(body), TOO_OLD, only_who_asked=True)
        return
    for message in responses((shared_by(body["user"]["id"], kept.question), *reply.messages)):
        respond(address, message, for_all=True)


def _feedback(kept: KeptAnswer, body: Payload, *, helpful: bool, comment: str = "") -> Feedback:
    about = (kept.question, kept.text, kept.model, kept.generation)
    return Feedback("slack", kept.id, body["user"]["id"], helpful, comment, *about)


def _place_of_press(body: Payload) -> Asked:
    message = body.get("message") or {}
    container = body.get("container") or {}
    channel = (body.get("channel") or {}).get("id") or container.get("channel_id") or ""
    thread = message.get("thread_ts") or container.get("thread_ts") or ""
    user, team, address = str(body["user"]["id"]), team_of_user(body), str(body.get("response_url") or "")
    return Asked("", "", str(channel), str(thread), "", user, team, address)
