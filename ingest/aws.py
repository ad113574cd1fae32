"""aws:// addresses: what AWS itself says of a region today, as one table: its instance types, their prices, their spot prices."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from ingest.document import CorpusError, Source
from ingest.instance_rows import as_csv, instance_rows
from ingest.items import Item
from ingest.price_rows import PRICE_COLUMNS, SPOT_COLUMNS, price_rows, spot_rows

if TYPE_CHECKING:
    from boto3 import Session

Fetch = Callable[["Session", str], bytes]


@dataclass(frozen=True, slots=True)
class _Table:
    """One kind of table: who is asked for it and by which permission, how, and what its document is called."""

    fetch: Fetch
    service: str
    permission: str
    id: str
    title: str
    url: str


_USAGE = "write aws://instance-types?region=eu-west-1, aws://prices?region=… or aws://spot-prices?region=…"
_NO_REGION = f"no AWS region is given: {_USAGE} or set AWS_REGION"
_CREDENTIALS = "the AWS credentials are wrong or have expired: renew them, for example with `aws sso login`"
_REASONS = (
    dict.fromkeys(
        ("UnauthorizedOperation", "AccessDenied", "AccessDeniedException"),
        "access is denied: grant {permission} to these AWS credentials",
    )
    | dict.fromkeys(
        (
            "InvalidClientTokenId", "SignatureDoesNotMatch", "ExpiredToken", "RequestExpired", "InvalidAccessKeyId",
            "UnrecognizedClientException", "InvalidSignatureException", "ExpiredTokenException",
        ),
        _CREDENTIALS,
    )
    | dict.fromkeys(
        ("AuthFailure", "OptInRequired"),
        "{service} does not accept these AWS credentials there: renew them, and enable the region for the account",
    )
    | dict.fromkeys(
        (
            "RequestLimitExceeded", "Throttling", "ThrottlingException", "SlowDown", "ServiceUnavailable", "Unavailable",
            "InternalErrorException",
        ),
        "{service} asks for fewer requests, after several tries: run this again later",
    )
)  # fmt: skip
# Where the Price List is served: "Finding services and products using the AWS Price List Query API".
_PRICE_LISTS = {"eu": "eu-central-1", "ap": "ap-south-1", "cn": "cn-northwest-1"}
_PRICED = {"operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used"}


def find_tables(address: str) -> Iterator[Item]:
    """The table of a region that an address names as one CSV item; the date is that of today (UTC).

    The rows hold no date, so that on another day only the date of the document differs and nothing is encoded again.
    CorpusError for an address that is none or a region that does not exist; AWS is asked when the item is fetched.
    """
    session = _session()
    name, region = _parts(address)
    region = region or session.region_name
    if not region:
        raise CorpusError(_NO_REGION)
    if region not in _regions(session):
        raise CorpusError(f"{region!r} is no AWS region that boto3 knows: check the name, or update boto3")
    table = _TABLES[name]
    source = _source(table, region, datetime.now(UTC).date())
    yield Item(f"aws://{name}?region={region}", f"{name}.csv", source, partial(_fetch, table, session, region))


def _parts(address: str) -> tuple[str, str | None]:
    """The table and the region that an address names, None for no region."""
    try:
        parts = urlsplit(address)
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    except ValueError as error:
        raise CorpusError(f"it is not a valid address: {_USAGE}") from error
    if parts.netloc not in _TABLES or parts.path.strip("/") or parts.fragment or set(options) - {"region"}:
        raise CorpusError(f"it names nothing that can be asked of AWS: {_USAGE}")
    return parts.netloc, options.get("region")


def _session() -> "Session":
    try:
        import boto3
    except ImportError as error:
        raise CorpusError("aws:// sources need boto3: pip install 'wattwise[aws]'") from error
    from botocore.exceptions import BotoCoreError

    try:
        # A session of its own: the default one would keep the credentials of an earlier call.
        return boto3.Session()
    except BotoCoreError as error:
        raise CorpusError(_botocore_reason(error, "AWS")) from error


def _regions(session: "Session") -> frozenset[str]:
    return frozenset(
        region
        for partition in session.get_available_partitions()
        for region in session.get_available_regions("ec2", partition_name=partition)
    )


def _source(table: _Table, region: str, day: date) -> Source:
    return Source(
        id=f"{table.id}-{region}",
        title=f"{table.title} in {region}",
        publisher="AWS",
        url=table.url,
        published=day.isoformat(),
        original=None,
    )


def _fetch(table: _Table, session: "Session", region: str) -> bytes:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return table.fetch(session, region)
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", "unknown"))
        reason = _REASONS.get(code, f"{{service}} answered {code}: check the region and try again")
        raise CorpusError(reason.format(service=table.service, permission=table.permission)) from error
    except BotoCoreError as error:
        raise CorpusError(_botocore_reason(error, table.service)) from error
    except (KeyError, TypeError, ValueError) as error:
        raise CorpusError(f"{table.service} answered in a form that is not known: update wattwise") from error


def _instance_types(session: "Session", region: str) -> bytes:
    """Every instance type that is offered in the region."""
    pages = _pages(session, "ec2", region, "describe_instance_types", PaginationConfig={"PageSize": 100})
    found = [description for page in pages for description in page["InstanceTypes"]]
    return as_csv(instance_rows(_some(found, f"EC2 describes no instance type in {region}")))


def _prices(session: "Session", region: str) -> bytes:
    """What each instance type costs on demand with Linux, in shared tenancy and without software that is paid for."""
    endpoint = _PRICE_LISTS.get(region.partition("-")[0], "us-east-1")
    wanted = _PRICED | {"regionCode": region}
    filters = [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in wanted.items()]
    pages = _pages(session, "pricing", endpoint, "get_products", ServiceCode="AmazonEC2", Filters=filters)
    rows = price_rows((product for page in pages for product in page["PriceList"]), region)
    return as_csv(_some(rows, f"the AWS Price List has no price in US dollars for {region}"), PRICE_COLUMNS)


def _spot_prices(session: "Session", region: str) -> bytes:
    """What each instance type with Linux cost last as Spot Instance, in the cheapest and the dearest zone."""
    pages = _pages(
        session,
        "ec2",
        region,
        "describe_spot_price_history",
        ProductDescriptions=["Linux/UNIX"],
        StartTime=datetime.now(UTC),
    )
    rows = spot_rows((price for page in pages for price in page["SpotPriceHistory"]), region)
    return as_csv(_some(rows, f"EC2 has no spot price in {region}"), SPOT_COLUMNS)


_TABLES: Mapping[str, _Table] = {
    "instance-types": _Table(
        _instance_types,
        "EC2",
        "ec2:DescribeInstanceTypes",
        "ec2-instance-types",
        "Amazon EC2 instance types",
        "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html",
    ),
    "prices": _Table(
        _prices,
        "the AWS Price List",
        "pricing:GetProducts",
        "ec2-prices",
        "Amazon EC2 on-demand prices, Linux,",
        "https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_pricing_GetProducts.html",
    ),
    "spot-prices": _Table(
        _spot_prices,
        "EC2",
        "ec2:DescribeSpotPriceHistory",
        "ec2-spot-prices",
        "Amazon EC2 spot prices, Linux,",
        "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSpotPriceHistory.html",
    ),
}


def _pages(session: "Session", service: str, region: str, operation: str, **asked: Any) -> Iterable[Mapping[str, Any]]:
    from botocore.config import Config

    # Adaptive: after a throttled request botocore slows itself down before it tries again.
    config = Config(retries={"mode": "adaptive", "total_max_attempts": 5}, connect_timeout=10, read_timeout=60)
    client: Any = session.client(service, region_name=region, config=config)  # type: ignore[call-overload]
    pages: Iterable[Mapping[str, Any]] = client.get_paginator(operation).paginate(**asked)
    return pages


def _some(found: list[Any], otherwise: str) -> list[Any]:
    if not found:
        raise CorpusError(f"{otherwise}: check the region")
    return found


def _botocore_reason(error: Exception, service: str) -> str:
    from botocore import exceptions

    missing = (exceptions.NoCredentialsError, exceptions.PartialCredentialsError, exceptions.ProfileNotFound)
    if isinstance(error, missing):
        return "no AWS credentials were found: run `aws configure` or set AWS_PROFILE"
    if isinstance(error, exceptions.CredentialRetrievalError | exceptions.SSOError):
        return _CREDENTIALS
    if isinstance(error, exceptions.HTTPClientError | exceptions.ConnectionError):
        return f"{service} cannot be reached: check the network, the region and AWS_ENDPOINT_URL"
    return f"boto3 could not ask {service} ({type(error).__name__}): check the AWS settings"
