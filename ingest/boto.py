"""boto3 for the sources that AWS holds: its sessions and clients, and what goes wrong as one sentence that says what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ingest.document import CorpusError

if TYPE_CHECKING:
    from boto3 import Session

_CREDENTIALS = "the AWS credentials are wrong or have expired: renew them, for example with `aws sso login`"
_REASONS = {
    code: reason
    for codes, reason in (
        ("AccessDenied AccessDeniedException AllAccessDisabled UnauthorizedOperation 403", "access is denied: grant {permission} to these AWS credentials"),
        ("ExpiredToken ExpiredTokenException InvalidAccessKeyId InvalidClientTokenId InvalidSignatureException InvalidToken", _CREDENTIALS),
        ("RequestExpired SignatureDoesNotMatch TokenRefreshRequired UnrecognizedClientException", _CREDENTIALS),
        ("AuthFailure OptInRequired", "{service} does not accept these AWS credentials there: renew them, and enable the region for the account"),
        (
            "InternalErrorException RequestLimitExceeded ServiceUnavailable SlowDown Throttling ThrottlingException Unavailable 503",
            "{service} asks for fewer requests, after several tries: run this again later",
        ),
        ("NoSuchBucket", "there is no bucket of that name: check the name and the AWS region"),
        ("NoSuchKey 404", "it was removed from the bucket while this ran: run this again"),
        ("InvalidObjectState", "it lies in an archive: restore it first"),
        ("IllegalLocationConstraintException PermanentRedirect", "the bucket lies in another AWS region: set AWS_REGION to that region"),
    )
    for code in codes.split()
}  # fmt: skip


def open_session(scheme: str) -> "Session":
    """A session of its own: the default one would keep the credentials of an earlier call."""
    try:
        import boto3
    except ImportError as error:
        raise CorpusError(f"{scheme}:// sources need boto3: pip install 'wattwise[aws]'") from error
    with explained("AWS"):
        return boto3.Session()


def open_client(session: "Session", service: str, region: str | None = None) -> Any:
    from botocore.config import Config

    # Adaptive: after a throttled request botocore slows itself down before it tries again.
    config = Config(retries={"mode": "adaptive", "total_max_attempts": 5}, connect_timeout=10, read_timeout=60)
    return session.client(service, region_name=region, config=config)  # type: ignore[call-overload]


@contextmanager
def explained(service: str, permission: str = "", place: str = "region", where: str = "") -> Iterator[None]:
    """What botocore raises as a CorpusError: of a service, the permission it takes, and the place that may be wrong."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", "unknown"))
        reason = _REASONS.get(code, f"{{service}} answered {code}: check the {place} and try again")
        raise CorpusError(where + reason.format(service=service, permission=permission)) from error
    except BotoCoreError as error:
        raise CorpusError(where + _reason(error, service, place)) from error


def _reason(error: Exception, service: str, place: str) -> str:
    from botocore import exceptions

    if isinstance(error, exceptions.NoCredentialsError | exceptions.PartialCredentialsError | exceptions.ProfileNotFound):
        return "no AWS credentials were found: run `aws configure` or set AWS_PROFILE"
    if isinstance(error, exceptions.CredentialRetrievalError | exceptions.SSOError):
        return _CREDENTIALS
    if isinstance(error, exceptions.HTTPClientError | exceptions.ConnectionError):
        return f"{service} cannot be reached: check the network, the {place} and AWS_ENDPOINT_URL"
    return f"boto3 could not ask {service} ({type(error).__name__}): check the {place} and the AWS settings"
