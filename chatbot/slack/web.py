"""Slack's Web API: the clients, and which failed calls to retry, and when."""

from http.client import HTTPException
from typing import TYPE_CHECKING, Any

from chatbot.slack.blocks import shown_text
from chatbot.slack.journal import quiet_logger, slack_code
from chatbot.slack.settings import SlackSettings
from chatbot.slack.state import Message

if TYPE_CHECKING:
    from slack_sdk import WebClient
    from slack_sdk.http_retry import RetryHandler

STILL_OPEN = "streaming_state_conflict"
# Transient errors: those that are Slack's fault, and a stream that is still open after all.
_PASSING = frozenset(("internal_error", "fatal_error", "service_unavailable", "request_timeout", STILL_OPEN))
_LONGEST_WAIT = 60.0
_MOST_TRIES = 12


def slack_client(settings: SlackSettings, token: str, *, patient: bool) -> "WebClient":
    from slack_sdk import WebClient

    return WebClient(
        token=token,
        base_url=settings.api_url,
        logger=quiet_logger(),
        retry_handlers=_retries() if patient else [],
        timeout=30 if patient else 5,
    )


def respond(address: str, message: Message, *, for_all: bool = False) -> None:
    """Send a message to the response URL of a command or button. Raises SlackApiError with the status if it is rejected."""
    from slack_sdk.errors import SlackApiError
    from slack_sdk.webhook import WebhookClient

    response = WebhookClient(address, logger=quiet_logger(), retry_handlers=_retries()).send(
        text=shown_text(message),
        blocks=message,
        response_type="in_channel" if for_all else "ephemeral",
        replace_original=False,
        unfurl_links=False,
        unfurl_media=False,
    )
    if response.status_code != 200:
        about = {"status": response.status_code, "headers": response.headers, "error": response.body[:60]}
        raise SlackApiError("the address took no message", about)  # type: ignore[no-untyped-call]


def _retries() -> "list[RetryHandler]":
    """Return handlers that retry once after connection and server errors; rate limits are not waited for here."""
    from slack_sdk.http_retry.builtin_handlers import ConnectionErrorRetryHandler, ServerErrorRetryHandler

    return [ConnectionErrorRetryHandler(), ServerErrorRetryHandler()]


def seconds_to_wait(error: Exception, tries: int) -> float | None:
    """Return the seconds to wait before a failed call is retried; None if a retry would not help."""
    if is_limited(error):
        after = str((_answer(error, "headers") or {}).get("Retry-After", ""))
        return max(1.0, float(after) if after.isdigit() else 0.0)
    passing = isinstance(error, OSError | HTTPException) or status_of(error) >= 500 or slack_code(error) in _PASSING
    return min(_LONGEST_WAIT, 2.0**tries) if passing and tries < _MOST_TRIES else None


def is_limited(error: Exception) -> bool:
    """Return whether Slack has rate-limited the call."""
    return status_of(error) == 429 or slack_code(error) == "ratelimited"


def status_of(error: Exception) -> int:
    """Return the HTTP status of Slack's answer; 0 for other errors."""
    return int(_answer(error, "status_code") or _answer(error, "status") or 0)


def _answer(error: Exception, field: str) -> Any:
    """Return a field of Slack's answer, which is an object if it was JSON, else a dictionary."""
    response = getattr(error, "response", None)
    return response.get(field) if isinstance(response, dict) else getattr(response, field, None)
