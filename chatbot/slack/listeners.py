"""The Slack app: which event, command, shortcut or button goes where. Each is acknowledged before any work."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chatbot.feedback import Feedback
from chatbot.slack import events
from chatbot.slack.answering import FAILED
from chatbot.slack.blocks import EVIDENCE, FEEDBACK
from chatbot.slack.desk import Desk, tell
from chatbot.slack.events import Asked
from chatbot.slack.evidence import evidence_view
from chatbot.slack.intake import (
    BUSY,
    NO_QUESTION,
    NOT_HERE,
    queued,
    refusal_of,
    take,
    take_mention,
    take_message,
    take_reaction,
)
from chatbot.slack.journal import described, failed, log, quiet_logger

if TYPE_CHECKING:
    from slack_bolt import App
    from slack_bolt.context.ack import Ack

COMMAND = "/wattwise"
SHORTCUT = "wattwise_answer_this"
GREETING = "Ask me which hardware should train or serve your model. I answer from documents and show their exact words."
THANKS = "Thank you, your vote is stored with the question and the answer."
NOT_DONE = "Something went wrong on my side. Please try again; the reference for whoever runs me is {}."
TOO_OLD = "This answer is no longer kept: ask again to vote on it or to see its evidence."
SEARCHING = "Searching the sources…"
PROMPTS = (
    ("The frugal choice", "Which instance has the lowest footprint for training?"),
    ("Compare two chips", "Trainium or Inferentia?"),
    ("Look up a number", "How much accelerator memory does a trn1.32xlarge have?"),
)


def slack_app(desk: Desk, signing_secret: str) -> "App":
    """The app with all its listeners."""
    from slack_bolt import App

    def noted(next: Callable[[], None]) -> None:
        desk.rush.noted()
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
    _add_assistant(app, desk)
    _add_events(app, desk)
    _add_command(app, desk)
    _add_shortcut(app, desk)
    _add_buttons(app, desk)
    # Whatever else the workspace sends is acknowledged, so that Slack does not send it again.
    app.event(re.compile(".*"))(_ignore)
    return app


def _failure(desk: Desk) -> "Callable[[Exception, dict[str, Any]], None]":
    def failure(error: Exception, body: dict[str, Any]) -> None:
        reference = failed("an event was not taken", error)
        event = body.get("event") or {}
        waits = event.get("type") == "app_mention" or event.get("channel_type") == "im"
        if waits and events.written_by_person(event, desk.me):
            tell(desk, events.asked_in_message(event, body, desk.me), FAILED.format(reference))
        elif body.get("type") == "block_actions" and desk.settings.allows((place := _place_of_button(body)).channel):
            tell(desk, place, NOT_DONE.format(reference), only_who_asked=True)

    return failure


def _ignore() -> None:
    """Acknowledged by Bolt already."""


def _add_events(app: "App", desk: Desk) -> None:
    def mention(event: dict[str, Any], body: dict[str, Any]) -> None:
        take_mention(desk, event, body)

    def message(event: dict[str, Any], body: dict[str, Any]) -> None:
        take_message(desk, event, body)

    def reaction(event: dict[str, Any], body: dict[str, Any]) -> None:
        take_reaction(desk, event, body)

    def opened(event: dict[str, Any]) -> None:
        if event.get("tab") == "messages":
            _suggest(desk, str(event.get("channel", "")))

    app.event("app_mention")(mention)
    app.event("message")(message)
    app.event("reaction_added")(reaction)
    app.event("app_home_opened")(opened)


def _add_assistant(app: "App", desk: Desk) -> None:
    """The surface of before `agent_view`: a thread that Slack opens, with its own events."""
    from slack_bolt import Assistant

    assistant = Assistant(logger=quiet_logger())

    def started(event: dict[str, Any], body: dict[str, Any]) -> None:
        if not desk.state.claim(events.event_key(body)):
            return
        thread = event["assistant_thread"]
        asked = Asked("", "", thread["channel_id"], thread["thread_ts"], "", thread.get("user_id", ""), "")
        tell(desk, asked, GREETING)
        _suggest(desk, thread["channel_id"], thread["thread_ts"])

    def changed() -> None:
        """What else the user looks at changes no answer."""

    def message(event: dict[str, Any], body: dict[str, Any]) -> None:
        take_message(desk, event, body)

    assistant.thread_started(started)
    assistant.thread_context_changed(changed)
    assistant.user_message(message)
    app.assistant(assistant)


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
        asked = events.asked_by_command(body, desk.me)
        if asked.text.lower() in ("", "help"):
            ack(NO_QUESTION.replace("with the mention", f"behind {COMMAND}"))
        elif not desk.settings.allows(asked.channel):
            ack(NOT_HERE)
        elif not desk.state.claim(asked.key):
            ack()
        elif refusal := refusal_of(desk, asked):
            ack(refusal)
        elif not queued(desk, asked):
            ack(BUSY)
        else:
            ack(SEARCHING)

    app.command(COMMAND)(command)


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
    def vote(ack: "Ack", body: dict[str, Any], action: dict[str, Any]) -> None:
        ack()
        if not desk.state.claim(events.event_key(body)):
            return
        value = str(action.get("value", ""))
        kept = desk.state.kept(value[1:])
        asked = _place_of_button(body)
        if kept is None:
            tell(desk, asked, TOO_OLD, only_who_asked=True)
            return
        feedback = Feedback(
            "slack",
            kept.id,
            asked.user,
            value.startswith("+"),
            "",
            kept.question,
            kept.text,
            kept.model,
            kept.generation,
        )
        desk.feedback.add(feedback)
        tell(desk, asked, THANKS, only_who_asked=True)

    def evidence(ack: "Ack", body: dict[str, Any], action: dict[str, Any]) -> None:
        ack()
        if not desk.state.claim(events.event_key(body)):
            return
        kept = desk.state.kept(str(action.get("value", "")))
        if kept is None:
            tell(desk, _place_of_button(body), TOO_OLD, only_who_asked=True)
            return
        desk.hasty.views_open(trigger_id=body["trigger_id"], view=evidence_view(kept))

    app.action(FEEDBACK)(vote)
    app.action(EVIDENCE)(evidence)


def _place_of_button(body: dict[str, Any]) -> Asked:
    message = body.get("message") or {}
    container = body.get("container") or {}
    channel = (body.get("channel") or {}).get("id") or container.get("channel_id") or ""
    thread = message.get("thread_ts") or container.get("thread_ts") or ""
    return Asked("", "", str(channel), str(thread), "", str(body["user"]["id"]), "")
