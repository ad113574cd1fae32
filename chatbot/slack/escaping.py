"""Text that Slack shows as written: its mentions notify nobody, and its links lead only to the web."""

import html
import re
from urllib.parse import quote, urlsplit

from chatbot.language.characters import shown

# WORD JOINER, an invisible character: it separates "<" from "!channel", so that none of Slack's parsers finds a mention.
JOINER = "\u2060"
_OPENS_MENTION = re.compile(r"(<|&lt;)(?=\s*[@!#])")
_ALARM = re.compile(r"@(?=(?:channel|here|everyone)\b)", re.IGNORECASE)
_ENTITY = re.compile(r"<([^<>|]*)(?:\|([^<>]*))?>")


def defanged(text: str) -> str:
    """Make every mention in the text harmless: <!channel>, <@U…>, <#C…>, <!subteam^…>, @here."""
    return _ALARM.sub(f"@{JOINER}", _OPENS_MENTION.sub(rf"\1{JOINER}", shown(text)))


def plain(text: str) -> str:
    """Return a message's `text` as a person reads it: Slack's links and entities resolved, invisible characters removed."""
    return html.unescape(_ENTITY.sub(_shown, text)).replace(JOINER, "").replace("\u200b", "")


def _shown(entity: re.Match[str]) -> str:
    target, label = entity[1], entity[2]
    if target.startswith(("@", "!")):
        return label or ""
    if target.startswith("#"):
        return f"#{label}" if label else ""
    return label or target.removeprefix("mailto:")


def web_address(url: str | None) -> str:
    """Percent-encode characters that would end a link early; return "" unless it is one of http or https."""
    address = (url or "").strip()
    try:
        is_web = urlsplit(address).scheme in ("http", "https")
    except ValueError:  # brackets around what is no IPv6 address: https://[your-domain]/
        return ""
    return quote(address, safe="/:?#@!$&'*+,;=~%[]-._") if is_web else ""
