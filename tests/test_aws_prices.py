"""On-demand and Spot prices of a Region, fetched with the real boto3 client from a server on loopback."""

import json
import os
from collections.abc import Iterator
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs

import pytest

import ingest.fetching.aws
from chatbot import Chatbot
from chatbot.sizing.facts import Facts
from ingest import Index, sync
from ingest.document import CorpusError
from ingest.fetching.aws import price_rows
from ingest.fetching.items import Item
from ingest.fetching.sources import find_items

pytest.importorskip("boto3")

PRICES, SPOT = "aws://prices?region=eu-west-1", "aws://spot-prices?region=eu-west-1"


def product(name: str, amount: str, *, unit: str = "Hrs", currency: str = "USD") -> str:
    """One Price List product as GetProducts returns it: a JSON string."""
    dimension = {"unit": unit, "pricePerUnit": {currency: amount}}
    terms = {"OnDemand": {"A.B": {"priceDimensions": {"A.B.C": dimension}}}}
    return json.dumps({"product": {"attributes": {"instanceType": name}}, "terms": terms})


_SPOT_ITEM = """<item><instanceType>{}</instanceType><productDescription>Linux/UNIX</productDescription>
<spotPrice>{}</spotPrice><timestamp>{}</timestamp><availabilityZone>{}</availabilityZone></item>"""
_SPOT_PAGE = """<DescribeSpotPriceHistoryResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><spotPriceHistorySet>
{}</spotPriceHistorySet><nextToken>{}</nextToken></DescribeSpotPriceHistoryResponse>"""


class _Aws(BaseHTTPRequestHandler):
    """GetProducts and DescribeSpotPriceHistory, two pages each; GetProducts fails with `refusal` for the next `refusals` calls."""

    refusal = ""
    refusals = 0
    asked: list[dict[str, object]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.headers.get("X-Amz-Target") == "AWSPriceListService.GetProducts":
            self._price_list(json.loads(body))
        else:
            self._spot(parse_qs(body))

    def _price_list(self, asked: dict[str, object]) -> None:
        type(self).asked.append(asked)
        if type(self).refusals:
            type(self).refusals -= 1
            self._answer(400, json.dumps({"__type": self.refusal, "message": "secret"}))
        elif "NextToken" not in asked:
            first = [product("g6e.xlarge", "2.0758000000"), product("g6e.xlarge", "0.0000000000")]
            self._answer(200, json.dumps({"FormatVersion": "aws_v1", "PriceList": first, "NextToken": "second"}))
        else:
            self._answer(
                200, json.dumps({"FormatVersion": "aws_v1", "PriceList": [product("m5.large", "0.1070000000")]})
            )

    def _spot(self, asked: dict[str, list[str]]) -> None:
        assert asked["ProductDescription.1"] == ["Linux/UNIX"]
        if "NextToken" not in asked:
            items = [("g6e.xlarge", "0.900000", "2026-11-23T09:00:00Z", "eu-west-1a"), ("g6e.xlarge", "0.700000", "2026-11-22T09:00:00Z", "eu-west-1a")]  # fmt: skip
        else:
            items = [("g6e.xlarge", "0.810000", "2026-11-23T08:00:00Z", "eu-west-1b")]
        page = _SPOT_PAGE.format(
            "".join(_SPOT_ITEM.format(*i) for i in items), "" if "NextToken" in asked else "second"
        )
        self._answer(200, page)

    def _answer(self, status: int, body: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[_Aws]]:
    handler = type("Aws", (_Aws,), {"asked": []})
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        yield handler
        server.shutdown()
        thread.join()


def fetched(address: str) -> str:
    [item] = find_items(address)
    assert isinstance(item, Item)
    return item.fetch().decode()


def test_prices_of_a_region_are_one_table_of_all_pages(aws: type[_Aws]) -> None:
    assert fetched(PRICES) == (
        "Instance type,Price per hour,Purchase,Operating system,Region,Source\n"
        "g6e.xlarge,$2.0758,on demand,Linux,eu-west-1,AWS Price List\n"
        "m5.large,$0.107,on demand,Linux,eu-west-1,AWS Price List\n"
    )
    first = aws.asked[0]
    assert first["ServiceCode"] == "AmazonEC2"
    assert {f["Field"]: f["Value"] for f in first["Filters"]} == {  # type: ignore[attr-defined]
        "operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used", "regionCode": "eu-west-1",
    }  # fmt: skip


def test_spot_prices_are_the_last_of_the_cheapest_and_of_the_dearest_zone(aws: type[_Aws]) -> None:
    assert fetched(SPOT) == (
        "Instance type,Price per hour,Purchase,Operating system,Region,Zone,Price per hour in the dearest zone,Source\n"
        "g6e.xlarge,$0.81,spot,Linux,eu-west-1,eu-west-1b,$0.9,EC2 DescribeSpotPriceHistory\n"
    )


def test_a_throttled_request_is_tried_again(aws: type[_Aws]) -> None:
    aws.refusal, aws.refusals = "ThrottlingException", 1
    assert "g6e.xlarge" in fetched(PRICES)


def test_what_the_price_list_refuses_is_one_sentence(aws: type[_Aws]) -> None:
    aws.refusal, aws.refusals = "AccessDeniedException", 9
    with pytest.raises(CorpusError) as caught:
        fetched(PRICES)
    assert str(caught.value) == "access is denied: grant pricing:GetProducts to these AWS credentials"


def test_another_day_changes_the_date_of_a_table_alone_and_a_region_that_cannot_be_read_keeps_it(
    aws: type[_Aws], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    index = tmp_path / "index"
    assert sync([PRICES], index, encoder="none").added == (PRICES,)
    assert sync([PRICES], index, encoder="none").unchanged == (PRICES,)
    source = ingest.fetching.aws._source
    monkeypatch.setattr("ingest.fetching.aws._source", lambda table, region, _: source(table, region, date(2031, 5, 4)))
    report = sync([PRICES], index, encoder="none")
    assert (report.changed, report.encoded) == ((PRICES,), 0)

    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    report = sync([PRICES], index, encoder="none")
    assert [failure.id for failure in report.failed] == [PRICES]
    assert report.removed == ()


def test_a_region_without_prices_in_dollars_says_so() -> None:
    assert (
        price_rows(
            [product("m5.large", "1.0", currency="CNY"), product("m5.large", "1.0", unit="Quantity")], "cn-north-1"
        )
        == []
    )


def test_prices_that_were_brought_are_answered_with_their_region_and_sized_with(
    aws: type[_Aws], tmp_path: Path
) -> None:
    corpus = Path(__file__).resolve().parents[1] / "corpus" / "instances.csv"
    report = sync([corpus, PRICES, SPOT], tmp_path / "index", encoder="none")
    assert report.added == ("instances.csv", PRICES, SPOT)
    index = Index.open(tmp_path / "index")
    facts, bot = Facts.load(index), Chatbot(index)
    dated = facts.prices["g6e.xlarge"][0].date
    price, spot = facts.price("g6e.xlarge", "eu-west-1"), facts.price("g6e.xlarge", "eu-west-1", "spot")
    assert price is not None
    assert spot is not None
    assert (price.usd_per_hour, spot.usd_per_hour) == (2.0758, 0.81)
    assert bot.ask("What does a g6e.xlarge cost in Ireland?").text == (
        f"g6e.xlarge costs $2.0758 per hour on demand in eu-west-1 (Linux, as of {dated}) [1]."
    )
    assert bot.ask("spot price of g6e.xlarge").text == (
        f"g6e.xlarge costs $0.81 per hour spot in eu-west-1 (Linux, as of {dated}) [1]."
    )
