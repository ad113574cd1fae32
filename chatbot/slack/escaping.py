"""Text that Slack shows as it is written: no mention in it reaches anybody, no link leads anywhere but to the web."""

import html
import re
from urllib.parse import quote, urlsplit

from chatbot.characters import shown

# An invisible character that joins words: it parts "<" from "!channel", so that no parser of Slack's finds a mention.
JOINER = "\u2060"
_OPENS_MENTION = re.compile(r"(<|&lt;)(?=\s*[@!#])")
_ALARM = re.compile(r"@(?=(?:channel|here|everyone)\b)", re.IGNORECASE)
_ENTITY = re.compile(r"<([^<>|]*)(?:\|([^<>]*))?>")


def defanged(text: str) -> str:
    """The text with every mention in it made harmless: <!channel>, <@U…>, <#C…>, <!subteam^…>, @here."""
    return _ALARM.sub(f"@{JOINER}", _OPENS_MENTION.sub(rf"\1{JOINER}", shown(text)))


def plain(text: str) -> str:
    """What a person reads in a message's `text`: Slack's links and entities undone, invisible characters gone."""
    return html.unescape(_ENTITY.sub(_shown, text)).replace(JOINER, "").replace("\u200b", "")


def _shown(entity: re.Match[str]) -> str:
    target, label = entity[1], entity[2]
    if target.startswith(("@", "!")):
        return label or ""
    if target.startswith("#"):
        return f"#{label}" if label else ""
    return label or target.removeprefix("mailto:")


def web_address(url: str | None) -> str:
    """The address with what would end a link early encoded; empty for everything but http and https."""
    if not url or urlsplit(url.strip()).scheme not in ("http", "https"):
        return ""
    return quote(url.strip(), safe="/:?#@!$&'*+,;=~%[]-._")
