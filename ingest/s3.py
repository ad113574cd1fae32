"""Objects below an S3 prefix, read with the credentials that boto3 finds."""

from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ingest.boto import explained, open_client, open_session
from ingest.document import CorpusError
from ingest.items import MAX_BYTES, SUFFIXES, TOO_LARGE, Failure, Item

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_explained = partial(explained, "S3", "s3:ListBucket on the bucket and s3:GetObject on its objects", "bucket")


def find_objects(source: str) -> Iterator[Item | Failure]:
    """The supported objects of "s3://bucket/prefix": the object of that key, or those in the folder of that name.

    CorpusError when the bucket cannot be listed. Objects over the size limit are told by the listing and never fetched.
    """
    bucket, _, prefix = source.removeprefix("s3://").partition("/")
    if not bucket:
        raise CorpusError(f"{source} names no bucket: write s3://bucket or s3://bucket/prefix")
    session = open_session("s3")
    with _explained():
        client: S3Client = open_client(session, "s3")
    with _explained(where=f"s3://{bucket}: "):
        listing = _listing(client, bucket, prefix)
    for key, size in listing:
        identifier = f"s3://{bucket}/{key}"
        if size > MAX_BYTES:
            yield Failure(identifier, TOO_LARGE)
        else:
            yield Item(identifier, PurePosixPath(key).name, None, partial(_read, client, bucket, key))


def _listing(client: "S3Client", bucket: str, prefix: str) -> list[tuple[str, int]]:
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


def _read(client: "S3Client", bucket: str, key: str) -> bytes:
    with _explained(), client.get_object(Bucket=bucket, Key=key)["Body"] as body:
        data = body.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise CorpusError(TOO_LARGE)
    return data
