"""Classify what went wrong with a model by its client's exception, and decide whether to retry."""

import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any

from chatbot import deadline


class Kind(StrEnum):
    """The kinds of failure."""

    THROTTLED = "throttled"
    OVERLOADED = "overloaded"
    TIMED_OUT = "timed out"
    CUT = "cut"
    MALFORMED = "malformed"
    FAILED = "failed"
    CONTEXT = "context"
    GUARDRAIL = "guardrail"
    NO_CREDENTIALS = "no credentials"
    WRONG_CREDENTIALS = "wrong credentials"
    DENIED = "denied"
    NO_MODEL = "no model"
    NO_BASE_MODEL = "no base model"
    NO_TEMPLATE = "no template"
    NO_REGION = "no region"
    NOT_RUNNING = "not running"
    NO_ADDRESS = "no address"
    NO_CHAT_API = "no chat API"
    WEB_PAGE = "web page"
    TOO_LITTLE_MEMORY = "too little memory"
    QUOTA = "quota"
    NO_ROOM = "no room"
    REJECTED = "rejected"


# Transient failures: they are retried, then the offline reader answers.
PASSING = frozenset({Kind.THROTTLED, Kind.OVERLOADED, Kind.TIMED_OUT, Kind.CUT, Kind.MALFORMED})
# Failures that the user cannot fix: the offline reader answers.
ANSWERED_OFFLINE = PASSING | {Kind.FAILED, Kind.NO_ROOM}
_ATTEMPTS = 5
_FIRST_DELAY, _LONGEST_DELAY = 0.5, 8.0


class Known(Exception):
    """A failure that wattwise detects itself, because no client has an exception for it."""

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Failure:
    """The kind of a failure, and how many seconds the service asks to wait before a retry, if it says."""

    kind: Kind
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of the retries, replaced in tests. `jitter` gives a number from 0 to 1."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = deadline.sleep
    jitter: Callable[[], float] = random.random


def delay(attempt: int, failure: Failure, left: float, jitter: float) -> float | None:
    """Return the seconds to wait after an attempt (from 1), None to give up: exponential back-off with full jitter.

    The wait is at least the time that a service asks for (`Retry-After`). A wait longer than what is `left` means giving up.
    """
    if failure.kind not in PASSING or attempt >= _ATTEMPTS:
        return None
    waited = jitter * min(_LONGEST_DELAY, _FIRST_DELAY * 2 ** (attempt - 1))
    waited = max(waited, failure.retry_after or 0.0)
    return waited if waited < left else None


def classify(error: BaseException) -> Failure:
    """Classify an exception by the class names, codes, statuses and texts of it and its causes.

    No client library is imported for this.
    """
    chain = list(_chain(error))
    told = [_told(e) for e in chain]
    names = {c.__name__ for e in chain for c in type(e).__mro__}
    text = " ".join(str(e) for e in chain).lower()
    code = next((t.code for t in told if t.code), "")
    status = next((t.status for t in told if t.status), 0)
    found = [e.kind for e in chain if isinstance(e, Known)]
    found += [kind for kind, known in _TYPES if names & known]
    found += [kind for kind, marks in _TEXTS if any(mark in text for mark in marks)]
    found += [kind for kind, codes in _CODES if code in codes]
    if status == 404 and not any(t.is_explained for t in told):
        found.append(Kind.NO_CHAT_API)
    found += [Kind.OVERLOADED] if status >= 500 else [_STATUSES[status]] if status in _STATUSES else []
    found += [kind for kind, known in _CONNECTIONS if names & known]
    return Failure((*found, Kind.FAILED)[0], next((t.retry_after for t in told if t.retry_after is not None), None))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception, its causes and contexts, and the errors that a pydantic error wraps."""
    seen: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting and len(seen) < 12:
        current = waiting.pop(0)
        if current is None or current in seen:
            continue
        seen.append(current)
        yield current
        waiting += [current.__cause__, current.__context__, *_wrapped(current)]


def _wrapped(error: BaseException) -> list[BaseException]:
    if type(error).__name__ != "ValidationError" or not callable(errors := getattr(error, "errors", None)):
        return []
    found = [detail.get("ctx", {}).get("error") for detail in errors()]
    return [e for e in found if isinstance(e, BaseException)]


@dataclass(frozen=True, slots=True)
class _Told:
    """What a service reports besides its message."""

    code: str = ""
    status: int = 0
    retry_after: float | None = None
    # Whether the error is explained in JSON. A server that knows the path does that; else it sends a page or a phrase.
    is_explained: bool = False


def _told(error: BaseException) -> _Told:
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):  # botocore
        about = response.get("ResponseMetadata", {})
        headers: Mapping[str, str] = about.get("HTTPHeaders", {})
        code = str(response.get("Error", {}).get("Code", ""))
        return _Told(code.lower(), int(about.get("HTTPStatusCode", 0)), _retry_after(headers), is_explained=bool(code))
    status = getattr(error, "status_code", 0)
    headers = getattr(response, "headers", None) or {}
    code = str(getattr(error, "code", None) or "")
    return _Told(code.lower(), status if isinstance(status, int) else 0, _retry_after(headers), _is_explained(error))


def _is_explained(error: BaseException) -> bool:
    body = getattr(error, "body", None)  # openai
    if isinstance(body, Mapping):
        return "detail" not in body and str(body.get("message")).lower() != "not found"
    said = getattr(error, "error", None)  # ollama
    return isinstance(said, str) and not said.lstrip().startswith("<")


def _retry_after(headers: Mapping[str, Any]) -> float | None:
    """Return the seconds from a `Retry-After` header, which holds a number or a date; None without one."""
    value = str(headers.get("retry-after", "")).strip()
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


_TYPES: tuple[tuple[Kind, frozenset[str]], ...] = (
    (Kind.GUARDRAIL, frozenset({"ContentFilterFinishReasonError"})),
    (Kind.CONTEXT, frozenset({"ContextOverflowError"})),
    (Kind.NO_CREDENTIALS, frozenset({"NoCredentialsError", "PartialCredentialsError", "ProfileNotFound", "NoAuthTokenError"})),
    (Kind.WRONG_CREDENTIALS, frozenset({"TokenRetrievalError", "SSOTokenLoadError", "UnauthorizedSSOTokenError", "CredentialRetrievalError"})),
    (Kind.NO_REGION, frozenset({"NoRegionError", "InvalidRegionError", "EndpointConnectionError"})),
    (Kind.NO_MODEL, frozenset({"RepositoryNotFoundError", "LocalEntryNotFoundError", "HFValidationError", "GatedRepoError"})),
)  # fmt: skip
_CONNECTIONS: tuple[tuple[Kind, frozenset[str]], ...] = (
    (Kind.TIMED_OUT, frozenset({"TimeoutError", "OutOfTime", "TimeoutException", "APITimeoutError", "ReadTimeoutError", "ConnectTimeoutError", "ModelTimeoutError", "Empty"})),
    (Kind.NOT_RUNNING, frozenset({"ConnectError", "ConnectionRefusedError", "gaierror"})),
    (Kind.CUT, frozenset({"RemoteProtocolError", "ProtocolError", "IncompleteRead", "ReadError", "ResponseStreamingError", "ConnectionClosedError", "ConnectionError", "APIConnectionError"})),
    (Kind.MALFORMED, frozenset({"JSONDecodeError", "ResponseParserError", "ParserError", "APIResponseValidationError", "UnicodeDecodeError", "ChecksumMismatch"})),
    (Kind.OVERLOADED, frozenset({"APIError"})),
)  # fmt: skip
_TEXTS: tuple[tuple[Kind, tuple[str, ...]], ...] = (
    (Kind.NO_CREDENTIALS, ("api_key client option must be set", "missing credentials")),
    (Kind.CONTEXT, (
        "context length", "context size", "context window", "context_length", "context limit", "context the overflows", "maximum model length", "maximum prompt length",
        "too many input tokens", "input tokens exceed", "input is too long", "prompt is too long", "prompt too long", "request too large", "reduce the length of the messages",
        "expected maxlength", "string too long", "must have less than", "max_new_tokens` must be <=", "index out of range in self",
    )),
    (Kind.NO_TEMPLATE, ("chat_template is not set", "does not have a chat template", "no chat template", "does not support chat")),
    (Kind.TOO_LITTLE_MEMORY, ("requires more system memory", "out of memory")),
    (Kind.NO_BASE_MODEL, ("model provider should be supplied", "(accessdeniedexception) when calling the getinferenceprofile")),
    (Kind.NO_MODEL, ("model identifier is invalid", "on-demand throughput isn", "is not a valid model identifier", "no file named", "not found, try pulling it")),
    (Kind.NO_CHAT_API, ("page not found", "unexpected endpoint")),
    (Kind.MALFORMED, ("no generation chunks were returned", "validation error for chatresponse")),
)  # fmt: skip
_CODES: tuple[tuple[Kind, tuple[str, ...]], ...] = (
    (Kind.THROTTLED, ("throttlingexception", "toomanyrequestsexception", "modelnotreadyexception", "rate_limit_exceeded")),
    (Kind.OVERLOADED, ("serviceunavailableexception", "internalserverexception", "modelerrorexception", "modelstreamerrorexception", "server_error", "overloaded_error")),
    (Kind.TIMED_OUT, ("modeltimeoutexception",)),
    (Kind.WRONG_CREDENTIALS, ("unrecognizedclientexception", "expiredtokenexception", "expiredtoken", "invalidsignatureexception", "incompletesignature", "invalid_api_key", "invalidclienttokenid")),
    (Kind.NO_CREDENTIALS, ("missingauthenticationtokenexception",)),
    (Kind.DENIED, ("accessdeniedexception", "accessdenied")),
    (Kind.NO_MODEL, ("resourcenotfoundexception", "model_not_found")),
    (Kind.QUOTA, ("insufficient_quota", "servicequotaexceededexception", "billing_hard_limit_reached")),
    (Kind.GUARDRAIL, ("content_filter", "content_policy_violation")),
    (Kind.CONTEXT, ("context_length_exceeded", "exceed_context_size_error")),
    (Kind.REJECTED, ("validationexception",)),
)  # fmt: skip
_STATUSES = {
    400: Kind.REJECTED, 401: Kind.WRONG_CREDENTIALS, 402: Kind.QUOTA, 403: Kind.DENIED, 404: Kind.NO_MODEL, 408: Kind.TIMED_OUT, 409: Kind.OVERLOADED,
    413: Kind.CONTEXT, 422: Kind.REJECTED, 424: Kind.OVERLOADED, 429: Kind.THROTTLED,
    -1: Kind.OVERLOADED,  # the status that Ollama's client gives to an error inside a stream
}  # fmt: skip
