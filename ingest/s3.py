"""Objects below an S3 prefix, read with the credentials that boto3 finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeVar

from ingest.document import CorpusError
from ingest.items import MAX_BYTES, SUFFIXES, TOO_LARGE, Failure, Item

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_Result = TypeVar("_Result")
_REASONS = (
    {
        "NoSuchBucket": "there is no bucket of that name: check the name and the AWS region",
        "NoSuchKey": "it was removed from the bucket while this ran: run this again",
        "404": "it was removed from the bucket while this ran: run this again",
        "InvalidObjectState": "it lies in an archive: restore it first",
        "PermanentRedirect": "the bucket lies in another AWS region: set AWS_REGION to that region",
        "IllegalLocationConstraintException": "the bucket lies in another AWS region: set AWS_REGION to that region",
    }
    | dict.fromkeys(
        ("AccessDenied", "AllAccessDisabled", "403"),
        "access is denied: grant s3:ListBucket on the bucket and s3:GetObject on its objects to these AWS credentials",
    )
    | dict.fromkeys(
        ("InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "TokenRefreshRequired"),
        "the AWS credentials are wrong or have expired: renew them, for example with `aws sso login`",
    )
    | dict.fromkeys(
        ("SlowDown", "Throttling", "ThrottlingException", "RequestLimitExceeded", "503", "ServiceUnavailable"),
        "S3 asks for fewer requests, after several tries: run this again later",
    )
)


def find_objects(source: str) -> Iterator[Item | Failure]:
    """The supported objects of "s3://bucket/prefix": the object of that key, or those in the folder of that name.

    CorpusError when the bucket cannot be listed. Objects over the size limit are told by the listing and never fetched.
    """
    bucket, _, prefix = source.removeprefix("s3://").partition("/")
    if not bucket:
        raise CorpusError(f"{source} names no bucket: write s3://bucket or s3://bucket/prefix")
    client = _client()
    for key, size in _plainly(partial(_listing, client, bucket, prefix), f"s3://{bucket}: "):
        identifier = f"s3://{bucket}/{key}"
        if size > MAX_BYTES:
            yield Failure(identifier, TOO_LARGE)
        else:
            name = PurePosixPath(key).name
            yield Item(identifier, name, None, partial(_plainly, partial(_read, client, bucket, key)))


def _client() -> S3Client:
    try:
        import boto3
        from botocore.config import Config
    except ImportError as error:
        raise CorpusError("s3:// sources need boto3: pip install 'wattwise[aws]'") from error
    # Adaptive: after a throttled request botocore slows itself down before it tries again.
    config = Config(retries={"mode": "adaptive", "total_max_attempts": 5}, connect_timeout=10, read_timeout=60)
    # A session of its own: the default one would keep the credentials of an earlier call.
    return _plainly(lambda: boto3.Session().client("s3", config=config))


def _listing(client: S3Client, bucket: str, prefix: str) -> list[tuple[str, int]]:
    """Key and size of what has a loader, in the order of the keys."""
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    objects = ((entry["Key"], entry["Size"]) for page in pages for entry in page.get("Contents", ()))
    return [(key, size) for key, size in objects if _is_below(key, prefix) and _is_document(key)]


def _is_below(key: str, prefix: str) -> bool:
    """S3 would take "docs-private/a.md" for something below "docs"."""
    return prefix in ("", key) or key.startswith(prefix.rstrip("/") + "/")


def _is_document(key: str) -> bool:
    path = PurePosixPath(key)
    hidden = any(part.startswith((".", "~$")) for part in path.parts)
    return not hidden and path.suffix.lower() in SUFFIXES and not key.endswith("/")


def _read(client: S3Client, bucket: str, key: str) -> bytes:
    with client.get_object(Bucket=bucket, Key=key)["Body"] as body:
        data = body.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise CorpusError(TOO_LARGE)
    return data


def _plainly(call: Callable[[], _Result], where: str = "") -> _Result:
    """What a call gives; botocore's errors become one sentence that says what to do."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return call()
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", "unknown"))
        raise CorpusError(where + _REASONS.get(code, f"S3 answered {code}: check the bucket and try again")) from error
    except BotoCoreError as error:
        raise CorpusError(where + _botocore_reason(error)) from error


def _botocore_reason(error: Exception) -> str:
    from botocore import exceptions

    missing = (exceptions.NoCredentialsError, exceptions.PartialCredentialsError, exceptions.ProfileNotFound)
    if isinstance(error, missing):
        return "no AWS credentials were found: run `aws configure` or set AWS_PROFILE"
    if isinstance(error, exceptions.CredentialRetrievalError | exceptions.SSOError):
        return _REASONS["ExpiredToken"]
    if isinstance(error, exceptions.HTTPClientError | exceptions.ConnectionError):
        return "S3 cannot be reached: check the network and AWS_ENDPOINT_URL"
    return f"boto3 could not ask S3 ({type(error).__name__}): check the bucket's name and the AWS settings"
