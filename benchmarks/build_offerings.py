"""Build the table of the accelerated families that each Region sells, from AWS's price lists as cfn-lint packages them.

    python benchmarks/build_offerings.py WHEEL DATE > corpus/facts/offerings.csv

If a Region sells only some sizes of a family, brackets name those sizes or the missing ones. DATE is the day of the
wheel (ISO). Places are those of `corpus/facts/grid-carbon.csv`.

    python -m pip download --no-deps cfn-lint==1.58.0
"""

import csv
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from zipfile import ZipFile

_DATA = "cfnlint/data/schemas/extensions/aws_ec2_instance/instancetype_enum.json"
_ACCELERATED = re.compile(r"(?:p|gr?|trn|inf|dl|f|vt)\d")
_PLACES = {"us-gov-west-1": "AWS GovCloud (US-West)", "us-gov-east-1": "AWS GovCloud (US-East)", "cn-north-1": "China (Beijing)", "cn-northwest-1": "China (Ningxia)"}


def main(wheel: str, date: str) -> None:
    with (Path(__file__).parents[1] / "corpus" / "facts" / "grid-carbon.csv").open(encoding="utf-8") as stream:
        places = {row["Region"]: row["Place"] for row in csv.DictReader(stream)} | _PLACES
    with ZipFile(wheel) as files:
        regions = {name: sizes_of(types.get("enum", ())) for name, types in json.loads(files.read(_DATA)).items() if isinstance(types, dict)}
    everywhere = regions.pop("all", {}) or {family: set[str]().union(*(sizes.get(family, ()) for sizes in regions.values())) for sizes in regions.values() for family in sizes}
    package, version, *_ = Path(wheel).name.replace("_", "-", 1).rsplit("-", 4)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("Region", "Place", "Accelerated families", "As of", "Source"))
    for region, sizes in sorted(regions.items()):
        writer.writerow((region, places.get(region, ""), "; ".join(families(sizes, everywhere)) or "none", date, f"{package} {version}, from the AWS Price List"))


def sizes_of(types: list[str]) -> Mapping[str, set[str]]:
    """Return the sizes of each accelerated family among instance types."""
    sizes: dict[str, set[str]] = defaultdict(set)
    for family, _, size in (name.partition(".") for name in types if _ACCELERATED.match(name)):
        sizes[family].add(size)
    return sizes


def families(sizes: Mapping[str, set[str]], everywhere: Mapping[str, set[str]]) -> Iterator[str]:
    for family, own in sorted(sizes.items()):
        missing = everywhere[family] - own
        few = ", ".join(sorted(own)) if len(own) <= 3 else f"not {', '.join(sorted(missing))}"
        yield f"{family} ({few})" if missing else family


if __name__ == "__main__":
    main(*sys.argv[1:])
