"""What the Slack adapter can be told, and the tokens it runs with."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from chatbot.answer import ReaderError
from chatbot.settings import settings_from
from ingest import Place

_PREFIX = "WATTWISE_SLACK_"
_CHANNEL_ID = re.compile(r"[CGD][A-Z0-9]{2,}")


@dataclass(frozen=True, slots=True)
class SlackSettings:
    """`WATTWISE_SLACK_*` variables; `index` and `model` fall back to `WATTWISE_INDEX` and `WATTWISE_MODEL`.

    No `channels` means every channel the app is invited to; direct messages are always answered. `keep_days` is how long
    answers are kept for votes, evidence and memory. `stop_seconds` is how long a stop waits for what was taken on.
    Telling those who are left takes up to 10 s more, and most platforms kill a container after 30 s.
    """

    index: Place = Path("index")
    model: str = "offline"
    channels: tuple[str, ...] = ()
    per_minute: int = 10
    workers: int = 4
    queue: int = 500
    longest_question: int = 8000
    keep_days: int = 30
    stop_seconds: float = 20.0
    host: str = "127.0.0.1"
    port: int = 3000
    api_url: str = "https://slack.com/api/"

    def allows(self, channel: str) -> bool:
        """Whether the app may say something in a channel for all to see."""
        return channel.startswith("D") or not self.channels or channel in self.channels


@dataclass(frozen=True, slots=True)
class Tokens:
    """The app's credentials; none of them is ever shown."""

    bot_token: str = field(default="", repr=False)
    app_token: str = field(default="", repr=False)
    signing_secret: str = field(default="", repr=False)


def slack_settings(environ: Mapping[str, str]) -> SlackSettings:
    """The settings as the environment has them; ReaderError names a variable that cannot be used."""
    common = {
        _PREFIX + name: environ.get(_PREFIX + name) or environ.get(f"WATTWISE_{name}", "")
        for name in ("INDEX", "MODEL")
    }
    settings = settings_from({**environ, **common}, SlackSettings, prefix=_PREFIX)
    for channel in settings.channels:
        if not _CHANNEL_ID.fullmatch(channel):
            raise ReaderError(
                f"{_PREFIX}CHANNELS names {channel!r}: it takes channel ids such as C0123ABCD, found under a channel's name."
            )
    for name in ("per_minute", "workers", "queue", "longest_question", "keep_days", "stop_seconds"):
        if getattr(settings, name) <= 0:
            raise ReaderError(f"{_PREFIX}{name.upper()} is {getattr(settings, name)}: it takes a number above 0.")
    return settings


def slack_tokens(environ: Mapping[str, str], *, http: bool) -> Tokens:
    """The tokens that a mode needs; ReaderError names the variable that is missing and where its value is found."""
    tokens = settings_from(environ, Tokens, prefix="SLACK_")
    needed = [("SLACK_BOT_TOKEN", tokens.bot_token, "xoxb-", "OAuth & Permissions")]
    if http:
        needed.append(("SLACK_SIGNING_SECRET", tokens.signing_secret, "", "Basic Information"))
    else:
        needed.append(("SLACK_APP_TOKEN", tokens.app_token, "xapp-", "Basic Information, App-Level Tokens"))
    for variable, value, start, place in needed:
        if not value:
            raise ReaderError(f"{variable} is not set. Copy it from your app's page on api.slack.com/apps: {place}.")
        if not value.startswith(start):
            raise ReaderError(f"{variable} does not begin with {start}. Copy it from your app's page: {place}.")
    return tokens
