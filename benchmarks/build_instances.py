"""Build the instance table from AWS's own data, as moto packages it.

    python benchmarks/build_instances.py WHEEL… > corpus/instances.csv

moto carries the responses of DescribeInstanceTypes in `moto/ec2/resources/instance_types.json.gz`. The first wheel is
the newest and gives every row it can. Each later, older wheel adds the accelerated types that the wheels before it no
longer list. A row's date is the day on which its wheel was built: the data are from that day or somewhat earlier.

    python -m pip download --no-deps --dest wheels moto==5.2.4 moto==5.2.2 …      (one version a command)
"""

import argparse
import gzip
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ingest.fetching.instance_rows import COLUMNS, as_csv, instance_rows

_DATA = re.compile(r"moto/ec2/resources/instance_types\.json(?:\.gz)?")
_DATED = (*COLUMNS[: COLUMNS.index("Source")], "As of", *COLUMNS[COLUMNS.index("Source") :])
_ACCELERATED = "accelerated computing"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the table to standard output."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL", help="wheels of moto, the newest first")
    rows = build(parser.parse_args(arguments).wheels)
    sys.stdout.buffer.write(as_csv(rows, _DATED))


def build(wheels: Sequence[Path]) -> list[dict[str, str]]:
    """Return the rows of the table, each with its date."""
    found: dict[str, dict[str, str]] = {}
    for wheel in wheels:
        for row in read_wheel(wheel):
            name = row["Instance type"]
            if not found or wheel == wheels[0]:
                found[name] = row
            elif name not in found and row["Category"] == _ACCELERATED:
                generation = row["Generation"].partition(" ")[0]
                found[name] = row | {"Generation": f"{generation} (absent from the newest listing)"}
    return sorted(found.values(), key=lambda row: row["Family"])


def read_wheel(wheel: Path) -> list[dict[str, str]]:
    """Return the rows that one wheel gives."""
    with ZipFile(wheel) as archive:
        entry = next(info for info in archive.infolist() if _DATA.fullmatch(info.filename))
        data = archive.read(entry)
    described = json.loads(gzip.decompress(data) if entry.filename.endswith(".gz") else data)
    year, month, day, *_ = entry.date_time
    return [row | {"As of": f"{year}-{month:02}-{day:02}"} for row in instance_rows(described.values())]


if __name__ == "__main__":
    main()
