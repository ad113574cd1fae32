"""`wattwise slack`: the assistant in Slack."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING

from chatbot.answer import ReaderError
from chatbot.slack.settings import SlackSettings, slack_settings, slack_tokens
from ingest import CorpusError, place_at

if TYPE_CHECKING:
    from chatbot.slack.desk import Desk

_SWITCH_INTERVAL = 0.0005
_INSTALL = "The Slack adapter needs slack-bolt. Install it with: pip install 'wattwise[slack]'"


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until a stop signal arrives. The exit code is 0, 1 (failure) or 2 (wrong usage)."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(stream=sys.stderr)
    logging.getLogger("wattwise.slack").setLevel(logging.INFO)
    try:
        given = {name: value for name, value in vars(options).items() if name != "http" and value is not None}
        _serve(replace(slack_settings(os.environ), **given), http=options.http)
    except (CorpusError, ReaderError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wattwise slack",
        description="Answers in Slack over Socket Mode, or over HTTP. Tokens come from SLACK_BOT_TOKEN, SLACK_APP_TOKEN and"
        " SLACK_SIGNING_SECRET, settings from WATTWISE_SLACK_* variables.",
    )
    parser.add_argument("--http", action="store_true", help="take signed requests on a port instead of Socket Mode")
    parser.add_argument("--port", type=int, metavar="N", help="the port for --http (WATTWISE_SLACK_PORT, 3000)")
    health = "answer /health here in Socket Mode (WATTWISE_SLACK_HEALTH_PORT; with --http it is on the port)"
    parser.add_argument("--health-port", type=int, metavar="N", help=health)
    parser.add_argument("--index", type=place_at, metavar="PLACE", help="the index (WATTWISE_INDEX, index)")
    parser.add_argument("--model", metavar="M", help="the reader's model (WATTWISE_MODEL, offline)")
    return parser


def _serve(settings: SlackSettings, *, http: bool) -> None:
    tokens = slack_tokens(os.environ, http=http)
    try:
        from slack_sdk.errors import SlackApiError
    except ImportError as error:
        raise ReaderError(_INSTALL) from error
    from chatbot.bot import Chatbot
    from chatbot.slack.desk import open_desk
    from chatbot.slack.journal import missing_scope, slack_code
    from chatbot.slack.listeners import slack_app
    from chatbot.slack.serving import serve_http, serve_socket

    bot = Chatbot.open(settings.index, model=settings.model)
    try:
        desk = open_desk(settings, tokens, bot)
    except SlackApiError as error:
        told = f"Slack does not take SLACK_BOT_TOKEN ({slack_code(error)}). Install the app in your workspace and copy its token again."
        if scope := missing_scope(error):
            told = f"The app lacks the scope {scope}. Add it under OAuth & Permissions and install the app again."
        raise ReaderError(told) from error
    except OSError as error:
        told = f"{settings.api_url} cannot be reached. Check the network, or WATTWISE_SLACK_API_URL."
        raise ReaderError(told) from error
    desk.rush.ready.clear()
    Thread(target=_warm_up, args=(desk,), daemon=True).start()
    # Answering keeps the interpreter busy: threads that acknowledge events must not wait the default 5 ms for each turn.
    sys.setswitchinterval(_SWITCH_INTERVAL)
    (serve_http if http else serve_socket)(desk, slack_app(desk, tokens.signing_secret), tokens)


def _warm_up(desk: "Desk") -> None:
    """Load everything that answering needs, once: otherwise each worker would load all of it at the same time."""
    from chatbot.bot import Chatbot
    from chatbot.slack.listeners import PROMPTS

    try:
        with suppress(ReaderError, CorpusError):
            Chatbot(desk.bot.index).ask(PROMPTS[1][1])
    finally:
        desk.rush.ready.set()


if __name__ == "__main__":
    sys.exit(main())
