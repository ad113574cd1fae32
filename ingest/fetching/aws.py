"""Read from AWS with boto3: objects below s3:// prefixes, and aws:// tables.

The tables are a region's instance types, its prices and its spot prices of today.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from ingest.document import CorpusError, Source
from ingest.fetching.instance_rows import as_csv, instance_rows
from ingest.fetching.items import MAX_BYTES, SUFFIXES, TOO_LARGE, Failure, Item

if TYPE_CHECKING:
    from boto3 import Session
    from mypy_boto3_s3 import S3Client

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
_PRICE_COLUMNS = ("Instance type", "Price per hour", "Purchase", "Operating system", "Region", "Source")
_SPOT_COLUMNS = (*_PRICE_COLUMNS[:-1], "Zone", "Price per hour in the dearest zone", "Source")
_USAGE = "write aws://instance-types?region=eu-west-1, aws://prices?region=… or aws://spot-prices?region=…"
# The regions that serve the Price List, by area: "Finding services and products using the AWS Price List Query API".
_PRICE_LISTS = {"eu": "eu-central-1", "ap": "ap-south-1", "cn": "cn-northwest-1"}
_PRICED = {"operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used"}
_DOCUMENTED = "https://docs.aws.amazon.com/{}/latest/APIReference/API_{}.html"


def find_objects(source: str) -> Iterator[Item | Failure]:
    """Yield the supported objects of "s3://bucket/prefix": the object with that key, or those in that folder.

    Raises CorpusError if the bucket cannot be listed or has nothing there. Objects over the size limit are known from the listing and never
    fetched.
    """
    bucket, _, prefix = source.removeprefix("s3://").partition("/")
    if not bucket:
        raise CorpusError(f"{source} names no bucket: write s3://bucket or s3://bucket/prefix")
    session = _open_session("s3")
    with _explained_s3():
        client: S3Client = _open_client(session, "s3")
    with _explained_s3(where=f"s3://{bucket}: "):
        listing = _listing(client, bucket, prefix)
    for key, size in listing:
        identifier = f"s3://{bucket}/{key}"
        if size > MAX_BYTES:
            yield Failure(identifier, TOO_LARGE)
        else:
            yield Item(identifier, PurePosixPath(key).name, None, partial(_read_object, client, bucket, key))


def _listing(client: "S3Client", bucket: str, prefix: str) -> list[tuple[str, int]]:
    """Return the key and size of each object that has a loader, in the order of the keys."""
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    objects = ((entry["Key"], entry["Size"]) for page in pages for entry in page.get("Contents", ()))
    below = [(key, size) for key, size in objects if _is_below(key, prefix)]
    if prefix and not below:
        raise CorpusError(f"the bucket has no {prefix}: check the prefix")
    return [(key, size) for key, size in below if _is_document(key)]


def _is_below(key: str, prefix: str) -> bool:
    """Whether a key is the prefix or in its folder.

    S3 itself would take "docs-private/a.md" for something below "docs".
    """
    return prefix in ("", key) or key.startswith(prefix.rstrip("/") + "/")


def _is_document(key: str) -> bool:
    path = PurePosixPath(key)
    hidden = any(part.startswith((".", "~$")) for part in path.parts)
    return not hidden and path.suffix.lower() in SUFFIXES and not key.endswith("/")


def _read_object(client: "S3Client", bucket: str, key: str) -> bytes:
    with _explained_s3(), client.get_object(Bucket=bucket, Key=key)["Body"] as body:
        data = body.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise CorpusError(TOO_LARGE)
    return data


@dataclass(frozen=True, slots=True)
class _Table:
    """One kind of table: how to fetch it, its service, the permission it takes, and the names of its document."""

    fetch: Callable[["Session", str], bytes]
    service: str
    permission: str
    id: str
    title: str
    url: str


def find_tables(address: str) -> Iterator[Item]:
    """Yield the table that an address names, as one CSV item with today's date (UTC).

    The rows hold no date, so that on another day only the date of the document differs and nothing is encoded again.
    Raises CorpusError for a wrong address or an unknown region; AWS is asked only when the item is fetched.
    """
    session = _open_session("aws")
    name, region = _parts(address)
    region = region or session.region_name
    if not region:
        raise CorpusError(f"no AWS region is given: {_USAGE} or set AWS_REGION")
    partitions = session.get_available_partitions()
    if not any(region in session.get_available_regions("ec2", partition_name=partition) for partition in partitions):
        raise CorpusError(f"{region!r} is no AWS region that boto3 knows: check the name, or update boto3")
    table = _TABLES[name]
    source = _source(table, region, datetime.now(UTC).date())
    yield Item(f"aws://{name}?region={region}", f"{name}.csv", source, partial(_fetch, table, session, region))


def _parts(address: str) -> tuple[str, str | None]:
    """Return the table and the region that an address names; the region is None if it names none."""
    try:
        parts = urlsplit(address)
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    except ValueError as error:
        raise CorpusError(f"it is not a valid address: {_USAGE}") from error
    if parts.netloc not in _TABLES or parts.path.strip("/") or parts.fragment or set(options) - {"region"}:
        raise CorpusError(f"it names nothing that can be asked of AWS: {_USAGE}")
    return parts.netloc, options.get("region")


def _source(table: _Table, region: str, day: date) -> Source:
    return Source(f"{table.id}-{region}", f"{table.title} in {region}", "AWS", table.url, day.isoformat())


def _fetch(table: _Table, session: "Session", region: str) -> bytes:
    try:
        with _explained(table.service, table.permission):
            return table.fetch(session, region)
    except (KeyError, TypeError, ValueError) as error:
        raise CorpusError(f"{table.service} answered in a form that is not known: update wattwise") from error


def _instance_types(session: "Session", region: str) -> bytes:
    """Return every instance type that is offered in the region."""
    pages = _pages(session, "ec2", region, "describe_instance_types", PaginationConfig={"PageSize": 100})
    found = [description for page in pages for description in page["InstanceTypes"]]
    return as_csv(instance_rows(_some(found, f"EC2 describes no instance type in {region}")))


def _prices(session: "Session", region: str) -> bytes:
    """Return the on-demand price of each instance type with Linux, in shared tenancy, without paid software."""
    endpoint = _PRICE_LISTS.get(region.partition("-")[0], "us-east-1")
    wanted = _PRICED | {"regionCode": region}
    filters = [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in wanted.items()]
    pages = _pages(session, "pricing", endpoint, "get_products", ServiceCode="AmazonEC2", Filters=filters)
    rows = price_rows((product for page in pages for product in page["PriceList"]), region)
    return as_csv(_some(rows, f"the AWS Price List has no price in US dollars for {region}"), _PRICE_COLUMNS)


def _spot_prices(session: "Session", region: str) -> bytes:
    """Return the latest Linux spot price of each instance type, in the cheapest and the most expensive zone."""
    asked = {"ProductDescriptions": ["Linux/UNIX"], "StartTime": datetime.now(UTC)}
    pages = _pages(session, "ec2", region, "describe_spot_price_history", **asked)
    rows = spot_rows((price for page in pages for price in page["SpotPriceHistory"]), region)
    return as_csv(_some(rows, f"EC2 has no spot price in {region}"), _SPOT_COLUMNS)


_TABLES: Mapping[str, _Table] = {
    "instance-types": _Table(
        _instance_types, "EC2", "ec2:DescribeInstanceTypes", "ec2-instance-types", "Amazon EC2 instance types",
        _DOCUMENTED.format("AWSEC2", "DescribeInstanceTypes"),
    ),
    "prices": _Table(
        _prices, "the AWS Price List", "pricing:GetProducts", "ec2-prices", "Amazon EC2 on-demand prices, Linux,",
        _DOCUMENTED.format("aws-cost-management", "pricing_GetProducts"),
    ),
    "spot-prices": _Table(
        _spot_prices, "EC2", "ec2:DescribeSpotPriceHistory", "ec2-spot-prices", "Amazon EC2 spot prices, Linux,",
        _DOCUMENTED.format("AWSEC2", "DescribeSpotPriceHistory"),
    ),
}  # fmt: skip


def _pages(session: "Session", service: str, region: str, operation: str, **asked: Any) -> Iterable[Mapping[str, Any]]:
    pages: Iterable[Mapping[str, Any]] = _open_client(session, service, region).get_paginator(operation).paginate(**asked)
    return pages


def _some(found: list[Any], otherwise: str) -> list[Any]:
    if not found:
        raise CorpusError(f"{otherwise}: check the region")
    return found


def price_rows(products: Iterable[str], region: str) -> list[dict[str, str]]:
    """Return one row per instance type, by name, from the products of the Price List, each a JSON text.

    A type without a price above 0 in US dollars gets no row; of several prices for one type, the lowest counts.
    """
    found: dict[str, str] = {}
    for product in map(json.loads, products):
        name = product["product"]["attributes"].get("instanceType", "")
        for amount in _on_demand(product):
            if "." in name and float(amount) > 0 and (name not in found or float(amount) < float(found[name])):
                found[name] = amount
    return [_row(name, found[name], "on demand", region, "AWS Price List") for name in sorted(found)]


def spot_rows(prices: Iterable[Mapping[str, Any]], region: str) -> list[dict[str, str]]:
    """Return one row per instance type, by name, from the price history.

    Of the last price of each zone, a row gives the lowest with its zone, and the highest.
    """
    newest: dict[str, dict[str, tuple[Any, str]]] = {}
    for price in prices:
        zones = newest.setdefault(price["InstanceType"], {})
        last = (price["Timestamp"], price["SpotPrice"])
        zones[price["AvailabilityZone"]] = max(last, zones.get(price["AvailabilityZone"], last))
    rows = []
    for name in sorted(newest):
        (_, zone, amount), *_ = ordered = sorted((float(amount), zone, amount) for zone, (_, amount) in newest[name].items())
        dearest = {"Zone": zone, "Price per hour in the dearest zone": _dollars(ordered[-1][2])}
        rows.append(_row(name, amount, "spot", region, "EC2 DescribeSpotPriceHistory") | dearest)
    return rows


def _on_demand(product: Mapping[str, Any]) -> Iterable[str]:
    for term in product.get("terms", {}).get("OnDemand", {}).values():
        for dimension in term["priceDimensions"].values():
            if dimension.get("unit") == "Hrs" and "USD" in dimension["pricePerUnit"]:
                yield dimension["pricePerUnit"]["USD"]


def _row(name: str, amount: str, purchase: str, region: str, source: str) -> dict[str, str]:
    cells = (name, _dollars(amount), purchase, "Linux", region, source)
    return dict(zip(_PRICE_COLUMNS, cells, strict=True))


def _dollars(amount: str) -> str:
    """Format an amount: "$1.861" for "1.8610000000"."""
    whole, _, rest = amount.partition(".")
    return f"${whole}.{rest.rstrip('0')}" if rest.rstrip("0") else f"${whole}"


def _open_session(scheme: str) -> "Session":
    """Open a session of our own: the default one would keep the credentials of an earlier call."""
    try:
        import boto3
    except ImportError as error:
        raise CorpusError(f"{scheme}:// sources need boto3: pip install 'wattwise[aws]'") from error
    with _explained("AWS"):
        return boto3.Session()


def _open_client(session: "Session", service: str, region: str | None = None) -> Any:
    from botocore.config import Config

    # Adaptive: after a throttled request botocore slows down before it tries again.
    config = Config(retries={"mode": "adaptive", "total_max_attempts": 5}, connect_timeout=10, read_timeout=60)
    return session.client(service, region_name=region, config=config)  # type: ignore[call-overload]


@contextmanager
def _explained(service: str, permission: str = "", place: str = "region", where: str = "") -> Iterator[None]:
    """Turn botocore's errors into a CorpusError.

    It names the service, the permission that is needed and the place that may be wrong.
    """
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


_explained_s3 = partial(_explained, "S3", "s3:ListBucket on the bucket and s3:GetObject on its objects", "bucket")
