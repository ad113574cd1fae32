"""What AWS says of prices -> the rows of a table of prices."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

PRICE_COLUMNS = ("Instance type", "Price per hour", "Purchase", "Operating system", "Region", "Source")
SPOT_COLUMNS = (*PRICE_COLUMNS[:-1], "Zone", "Price per hour in the dearest zone", "Source")


def price_rows(products: Iterable[str], region: str) -> list[dict[str, str]]:
    """A row for each instance type out of the products of the Price List, each a JSON text, by name.

    A type without a price in US dollars above 0 has no row; of several prices for one type the lowest counts.
    """
    found: dict[str, str] = {}
    for product in map(json.loads, products):
        name = product["product"]["attributes"].get("instanceType", "")
        for amount in _on_demand(product):
            if "." in name and float(amount) > 0 and (name not in found or float(amount) < float(found[name])):
                found[name] = amount
    return [_row(name, found[name], "on demand", region, "AWS Price List") for name in sorted(found)]


def spot_rows(prices: Iterable[Mapping[str, Any]], region: str) -> list[dict[str, str]]:
    """A row for each instance type out of the price history, by name: the last price of each zone, the lowest first."""
    newest: dict[str, dict[str, tuple[Any, str]]] = {}
    for price in prices:
        zones = newest.setdefault(price["InstanceType"], {})
        last = (price["Timestamp"], price["SpotPrice"])
        zones[price["AvailabilityZone"]] = max(last, zones.get(price["AvailabilityZone"], last))
    return [
        _spot_row(name, {zone: amount for zone, (_, amount) in newest[name].items()}, region) for name in sorted(newest)
    ]


def _on_demand(product: Mapping[str, Any]) -> Iterable[str]:
    for term in product.get("terms", {}).get("OnDemand", {}).values():
        for dimension in term["priceDimensions"].values():
            if dimension.get("unit") == "Hrs" and "USD" in dimension["pricePerUnit"]:
                yield dimension["pricePerUnit"]["USD"]


def _spot_row(name: str, zones: Mapping[str, str], region: str) -> dict[str, str]:
    ordered = sorted(zones, key=lambda zone: (float(zones[zone]), zone))
    return _row(name, zones[ordered[0]], "spot", region, "EC2 DescribeSpotPriceHistory") | {
        "Zone": ordered[0],
        "Price per hour in the dearest zone": _dollars(zones[ordered[-1]]),
    }


def _row(name: str, amount: str, purchase: str, region: str, source: str) -> dict[str, str]:
    cells = (name, _dollars(amount), purchase, "Linux", region, source)
    return dict(zip(PRICE_COLUMNS, cells, strict=True))


def _dollars(amount: str) -> str:
    """ "$1.861" for "1.8610000000"."""
    whole, _, rest = amount.partition(".")
    return f"${whole}.{rest.rstrip('0')}" if rest.rstrip("0") else f"${whole}"
