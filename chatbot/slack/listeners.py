"""The Slack app: which event, command, shortcut or button goes where.

An event is noted in the store before it is acknowledged, so that none is lost with the process; answering comes later.
"""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from chatbot.answer import ReaderError
from chatbot.feedback import Feedback
from chatbot.slack import events
from chatbot.slack.answering import FAILED
from chatbot.slack.blocks import EVIDENCE, FEEDBACK, PAGE, SHARE, shared_by
from chatbot.slack.delivery import respond
from chatbot.slack.desk import Desk, check_ending, tell
from chatbot.slack.events import Asked
from chatbot.slack.evidence import REASON, evidence_view, reason_given, reason_view
from chatbot.slack.intake import (
    BUSY,
    NO_QUESTION,
    NOT_HERE,
    NOT_YOURS,
    many,
    queued,
    refusal_of,
    take,
    take_mention,
    take_message,
    take_reaction,
    take_stop,
)
from chatbot.slack.journal import described, failed, log, quiet_logger
from chatbot.slack.state import KeptAnswer

if TYPE_CHECKING:
    from slack_bolt import App, BoltResponse
    from slack_bolt.context.ack import Ack

COMMAND = "/wattwise"
SHORTCUT = "wattwise_answer_this"
GREETING = "Ask me which hardware should train or serve your model. I answer from documents and show their exact words."
THANKS = "Thank you, your vote is stored with the question and the answer."
NOT_DONE = "Something went wrong on my side. Please try again; the reference for whoever runs me is {}."
TOO_OLD = "This answer is no longer kept: ask again to vote on it, to share it, or to see its evidence."
SEARCHING = "Searching the sources…"
AHEAD = " {} questions come before yours."
PROMPTS = (
    ("The frugal choice", "Which instance has the lowest footprint for training?"),
    ("Compare two chips", "Trainium or Inferentia?"),
    ("Look up a number", "How much accelerator memory does a trn1.32xlarge have?"),
)
Payload = Mapping[str, Any]


def slack_app(desk: Desk, signing_secret: str) -> "App":
    """The app with all its listeners."""
    from slack_bolt import App

    def noted(next: Callable[[], None]) -> None:
        desk.rush.noted()
        next()

    def taken(body: dict[str, Any], next: Callable[[], None]) -> None:
        event = body.get("event") or {}
        if take_event := _EVENTS.get(str(event.get("type"))):
            take_event(desk, event, body)
        next()

    app = App(
        before_authorize=noted,
        client=desk.client,
        # Bolt sets the level of the logger of this name, too.
        name="slack_bolt.wattwise",
        logger=quiet_logger(),
        # Only signed requests arrive over HTTP; Socket Mode does not use the secret.
        signing_secret=signing_secret,
        token_verification_enabled=True,
    )
    app.error(_failure(desk))
    app.middleware(taken)
    # Every event has been dealt with by then; what is left is to acknowledge it, so that Slack does not send it again.
    app.event(re.compile(".*"))(_acknowledged)
    _add_command(app, desk)
    _add_shortcut(app, desk)
    _add_buttons(app, desk)
    return app


def _acknowledged() -> None:
    """By Bolt, before this is called."""


def _failure(desk: Desk) -> "Callable[[Exception, dict[str, Any]], BoltResponse]":
    from slack_bolt import BoltResponse

    def failure(error: Exception, body: dict[str, Any]) -> BoltResponse:
        reference = failed("an event was not taken", error)
        check_ending(desk, error)
        event = body.get("event") or {}
        waits = event.get("type") == "app_mention" or event.get("channel_type") == "im"
        if waits and events.written_by_person(event, desk.me):
            tell(desk, events.asked_in_message(event, body, desk.me), FAILED.format(reference))
        elif body.get("type") == "block_actions" and desk.settings.allows((place := _place_of_button(body)).channel):
            tell(desk, place, NOT_DONE.format(reference), only_who_asked=True)
        # Whoever waits has been told: Slack need not send it again.
        return BoltResponse(status=200)

    return failure


def _started(desk: Desk, event: Payload, body: Payload) -> None:
    """The surface of before `agent_view`: a thread that Slack opens, with its own event."""
    if not desk.state.claim(events.event_key(body)):
        return
    thread = event["assistant_thread"]
    asked = Asked("", "", thread["channel_id"], thread["thread_ts"], "", thread.get("user_id", ""), "")
    tell(desk, asked, GREETING)
    _suggest(desk, thread["channel_id"], thread["thread_ts"])


def _opened(desk: Desk, event: Payload, body: Payload) -> None:
    if event.get("tab") == "messages":
        _suggest(desk, str(event.get("channel", "")))


def _uninstalled(desk: Desk, event: Payload, body: Payload) -> None:
    desk.ending.because("app_uninstalled")


def _revoked(desk: Desk, event: Payload, body: Payload) -> None:
    if events.is_for_us(event.get("tokens"), desk.me):
        desk.ending.because("tokens_revoked")


_EVENTS: Mapping[str, Callable[[Desk, Payload, Payload], None]] = {
    "app_mention": take_mention,
    "message": take_message,
    "reaction_added": take_reaction,
    "agent_session_stopped": take_stop,
    "app_home_opened": _opened,
    "assistant_thread_started": _started,
    "app_uninstalled": _uninstalled,
    "tokens_revoked": _revoked,
}


def _suggest(desk: Desk, channel: str, thread: str | None = None) -> None:
    """Show first questions. `agent_view` wants them without a thread, the older surface with it."""

    def send() -> None:
        prompts = [{"title": title, "message": message} for title, message in PROMPTS]
        try:
            desk.hasty.assistant_threads_setSuggestedPrompts(
                channel_id=channel, thread_ts=thread, title="Try one of these", prompts=prompts
            )
        except Exception as error:
            log.info("no prompts shown: %s", described(error))

    desk.notices.offer(send)


def _add_command(app: "App", desk: Desk) -> None:
    def command(ack: "Ack", body: dict[str, Any]) -> None:
        try:
            ack(_of_command(desk, events.asked_by_command(body, desk.me)))
        except ReaderError as error:
            # The store is locked, full or damaged: that takes no more than a second, and Slack waits for three.
            ack(FAILED.format(failed("a command was not taken", error)))

    app.command(COMMAND)(command)


def _of_command(desk: Desk, asked: Asked) -> str:
    """What a command is acknowledged with; its answer comes later."""
    if asked.text.lower() in ("", "help"):
        return NO_QUESTION.replace("with the mention", f"behind {COMMAND}")
    if not desk.settings.allows(asked.channel):
        return NOT_HERE
    if not desk.state.claim(asked.key):
        return ""
    if refusal := refusal_of(desk, asked):
        return refusal
    ahead = desk.answers.ahead()
    if not queued(desk, asked):
        return BUSY
    return SEARCHING + (AHEAD.format(ahead) if many(desk, ahead) else "")


def _add_shortcut(app: "App", desk: Desk) -> None:
    def shortcut(ack: "Ack", body: dict[str, Any]) -> None:
        ack()
        asked = events.asked_by_shortcut(body, desk.me)
        if not desk.settings.allows(asked.channel):
            tell(desk, asked, NOT_HERE, only_who_asked=True)
        elif desk.state.claim(asked.key):
            desk.state.follow(asked.channel, asked.thread)
            take(desk, asked)

    app.shortcut({"type": "message_action", "callback_id": SHORTCUT})(shortcut)


def _add_buttons(app: "App", desk: Desk) -> None:
    def pressed(
        use: Callable[[Payload, KeptAnswer, str], None],
    ) -> "Callable[[Ack, dict[str, Any], dict[str, Any]], None]":
        """A listener that hands on the answer that a button belongs to, or says that it is no longer kept."""

        def listener(ack: "Ack", body: dict[str, Any], action: dict[str, Any]) -> None:
            ack()
            if not desk.state.claim(events.event_key(body)):
                return
            value, place = str(action.get("value", "")), _place_of_button(body)
            if place.team not in ("", desk.me.team, *desk.settings.teams):
                tell(desk, place, NOT_YOURS, only_who_asked=True)
            elif (kept := desk.state.kept(value.lstrip("+-"))) is None:
                tell(desk, place, TOO_OLD, only_who_asked=True)
            else:
                use(body, kept, value)

        return listener

    def vote(body: Payload, kept: KeptAnswer, value: str) -> None:
        user = body["user"]["id"]
        desk.feedback.add(_vote(kept, user, helpful=value.startswith("+")))
        tell(desk, _place_of_button(body), THANKS, only_who_asked=True)
        if value.startswith("-"):
            desk.hasty.views_open(trigger_id=body["trigger_id"], view=reason_view(kept.id))

    def reason(ack: "Ack", body: dict[str, Any], view: dict[str, Any]) -> None:
        ack()
        kept = desk.state.kept(str(view.get("private_metadata", "")))
        if kept and (given := reason_given(view)):
            desk.feedback.add(_vote(kept, body["user"]["id"], helpful=False, comment=given))

    def evidence(body: Payload, kept: KeptAnswer, value: str) -> None:
        desk.hasty.views_open(trigger_id=body["trigger_id"], view=evidence_view(kept))

    def share(body: Payload, kept: KeptAnswer, value: str) -> None:
        reply, address = desk.state.reply(kept.id), str(body.get("response_url") or "")
        if reply is None or not address:
            tell(desk, _place_of_button(body), TOO_OLD, only_who_asked=True)
            return
        # An address takes five messages.
        for message in (shared_by(body["user"]["id"], kept.question), *reply.messages)[:5]:
            respond(address, message, for_all=True)

    app.action(FEEDBACK)(pressed(vote))
    app.action(EVIDENCE)(pressed(evidence))
    app.action(SHARE)(pressed(share))
    app.action(PAGE)(_link_opened)
    app.view(REASON)(reason)


def _link_opened(ack: "Ack") -> None:
    """A button that is a link is acknowledged like any other."""
    ack()


def _vote(kept: KeptAnswer, user: str, *, helpful: bool, comment: str = "") -> Feedback:
    return Feedback("slack", kept.id, user, helpful, comment, kept.question, kept.text, kept.model, kept.generation)


def _place_of_button(body: Payload) -> Asked:
    message = body.get("message") or {}
    container = body.get("container") or {}
    channel = (body.get("channel") or {}).get("id") or container.get("channel_id") or ""
    thread = message.get("thread_ts") or container.get("thread_ts") or ""
    user, team, address = str(body["user"]["id"]), events.team_of_user(body), str(body.get("response_url") or "")
    return Asked("", "", str(channel), str(thread), "", user, team, address)
