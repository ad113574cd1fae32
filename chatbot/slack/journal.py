"""The Slack adapter's log: what happened and where in the code, but never message texts or tokens."""

import logging
import traceback
from typing import Any
from uuid import uuid4

log = logging.getLogger("wattwise.slack")


def quiet_logger() -> logging.Logger:
    """Return the logger for slack_bolt and slack_sdk. Below ERROR, they log whole requests, messages included."""
    logger = logging.getLogger("wattwise.slack.library")
    logger.setLevel(logging.ERROR)
    return logger


def failed(what: str, error: BaseException) -> str:
    """Log an error with its stack, and return a reference id that a user can quote.

    Error messages are left out: they may quote a question, a document or an address that contains a secret.
    """
    reference = uuid4().hex[:8]
    stack = "".join(traceback.format_tb(error.__traceback__))
    log.error("%s (reference %s): %s\n%s", what, reference, described(error), stack)
    return reference


def described(error: BaseException) -> str:
    """Return an error's type, with Slack's error code if it has one, followed by those of its causes."""
    cause = error.__cause__ or error.__context__
    name = f"{type(error).__name__} {slack_code(error)}".rstrip()
    if scope := missing_scope(error):
        name += f": add the scope {scope} under OAuth & Permissions and install the app again"
    return f"{name} from {described(cause)}" if cause else name


def slack_code(error: BaseException) -> str:
    """Return Slack's code of an API error, for example "invalid_blocks"; empty for other errors."""
    return _of_response(error, "error")


def missing_scope(error: BaseException) -> str:
    """Return the scope that the token lacks for a refused call; empty for other errors."""
    return _of_response(error, "needed") if slack_code(error) == "missing_scope" else ""


def _of_response(error: BaseException, field: str) -> str:
    response: Any = getattr(error, "response", None)
    value = response.get(field) if hasattr(response, "get") else None
    return value if isinstance(value, str) and len(value) < 64 else ""
