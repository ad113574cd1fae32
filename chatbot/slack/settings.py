"""The settings and tokens of the Slack adapter."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path

from chatbot.answer import ReaderError
from chatbot.language.characters import LONGEST_QUESTION
from chatbot.settings import settings_from
from ingest import Place, place_at

_PREFIX = "WATTWISE_SLACK_"
_OF_CHANNELS = ("[CGD][A-Z0-9]{2,}=.+", "C0123ABCD=… for each channel")
# The pattern of each list setting's entries, and its description for error messages.
_ENTRIES = {
    "channels": ("[CGD][A-Z0-9]{2,}", "channel ids such as C0123ABCD, found under a channel's name"),
    "groups": ("S[A-Z0-9]{2,}", "ids of user groups such as S0123ABCD, found in a group's menu"),
    "teams": ("[TE][A-Z0-9]{2,}", "ids of workspaces or organisations such as T0123ABCD"),
    "channel_indexes": _OF_CHANNELS,
    "channel_models": _OF_CHANNELS,
}


@dataclass(frozen=True, slots=True)
class SlackSettings:
    """`WATTWISE_SLACK_*` variables; `index` and `model` fall back to `WATTWISE_INDEX` and `WATTWISE_MODEL`.

    `channels` limits the channels in which the app answers; empty means every channel that it is invited to. Direct
    messages are always answered. `groups` limits who may ask; empty means everybody. People of other workspaces are
    answered only if `teams` names theirs. `channel_indexes` and `channel_models` have entries such as "C0123ABCD=…".
    `app_url` is the address of the app, linked under answers. `keep_days` is how long answers are kept for votes,
    evidence and memory. `stop_seconds` is how long a stop waits for accepted questions. Telling the remaining askers
    takes up to 10 s more, and most platforms kill a container after 30 s. `health_port` is where Socket Mode answers
    /health; 0 turns that off.
    """

    index: Place = Path("index")
    model: str = "offline"
    channels: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()
    channel_indexes: tuple[str, ...] = ()
    channel_models: tuple[str, ...] = ()
    app_url: str = ""
    per_minute: int = 10
    workers: int = 4
    queue: int = 500
    longest_question: int = LONGEST_QUESTION
    keep_days: int = 30
    stop_seconds: float = 20.0
    host: str = "127.0.0.1"
    port: int = 3000
    health_port: int = 0
    api_url: str = "https://slack.com/api/"

    def allows(self, channel: str) -> bool:
        """Return whether the app may post publicly in a channel."""
        return channel.startswith("D") or not self.channels or channel in self.channels

    def of_channels(self) -> dict[str, tuple[Place, str]]:
        """Return the index and the model of each channel that has its own index or model."""
        indexes, models = (dict(pair.split("=", 1) for pair in given) for given in (self.channel_indexes, self.channel_models))
        return {
            channel: (place_at(indexes[channel]) if channel in indexes else self.index, models.get(channel, self.model))
            for channel in {**indexes, **models}
        }


@dataclass(frozen=True, slots=True)
class Tokens:
    """The app's credentials; `repr` hides all of them."""

    bot_token: str = field(default="", repr=False)
    app_token: str = field(default="", repr=False)
    signing_secret: str = field(default="", repr=False)


def slack_settings(environ: Mapping[str, str]) -> SlackSettings:
    """Read the settings from the environment. Raises a ReaderError that names an unusable variable."""
    settings = settings_from(environ, SlackSettings, prefix=_PREFIX)
    for name, (entry, takes) in _ENTRIES.items():
        for given in getattr(settings, name):
            if not re.fullmatch(entry, given):
                raise ReaderError(f"{_PREFIX}{name.upper()} has {given!r}: it takes {takes}.")
    for name, whose in (("app_url", "the app's"), ("api_url", "Slack's")):
        if (address := getattr(settings, name)) and not re.match("https?://", address):
            raise ReaderError(f"{_PREFIX}{name.upper()} is {address!r}: it takes {whose} address, https://….")
    for name in ("per_minute", "workers", "queue", "longest_question", "keep_days", "stop_seconds"):
        if not 0 < getattr(settings, name) < inf:
            raise ReaderError(f"{_PREFIX}{name.upper()} is {getattr(settings, name)}: it takes a number above 0.")
    # No reader takes a longer question.
    return replace(settings, longest_question=min(settings.longest_question, LONGEST_QUESTION))


def slack_tokens(environ: Mapping[str, str], *, http: bool) -> Tokens:
    """Read the tokens that a mode needs. Raises ReaderError, naming a bad variable and where to find its value."""
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
