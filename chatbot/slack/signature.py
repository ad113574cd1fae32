"""Whether a request is Slack's, after https://docs.slack.dev/authentication/verifying-requests-from-slack/."""

import hashlib
import hmac
import re

_TIMESTAMP = re.compile(r"[0-9]{1,12}")
_SIGNATURE = re.compile(r"v0=[0-9a-f]{64}")
_FIVE_MINUTES = 300


def fault_of(body: bytes, timestamp: str, signature: str, *, secret: str, now: float) -> str:
    """Why a request does not count as Slack's, in words for a log; empty when it does.

    The texts may be anything. Bolt's own check raises where a signature is no ASCII or a timestamp too long for a number.
    """
    if not _TIMESTAMP.fullmatch(timestamp) or not _SIGNATURE.fullmatch(signature):
        return "it is not signed"
    if abs(now - int(timestamp)) > _FIVE_MINUTES:
        return "it was signed more than five minutes from now: set this machine's clock"
    right = hmac.new(secret.encode(), f"v0:{timestamp}:".encode() + body, hashlib.sha256).hexdigest()
    return (
        ""
        if hmac.compare_digest(f"v0={right}", signature)
        else "its signature does not match: it is not Slack's, or SLACK_SIGNING_SECRET is not the app's"
    )
