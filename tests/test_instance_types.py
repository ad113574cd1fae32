"""EC2's instance type descriptions as a table, from moto's copy of AWS's data and through the real boto3 client on loopback."""

import csv
import gzip
import io
import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

import pytest

from ingest.document import CorpusError
from ingest.fetching.instance_rows import COLUMNS, as_csv, instance_rows
from ingest.fetching.items import Item
from ingest.fetching.sources import find_items
from ingest.formats.loaders import load
from tests.marks import one_of

pytest.importorskip("moto.server")

REGION = "eu-west-1"
ADDRESS = f"aws://instance-types?region={REGION}"


@pytest.fixture(scope="module")
def described() -> dict[str, dict[str, Any]]:
    """AWS's descriptions by instance type, as packaged by moto."""
    data = resources.files("moto").joinpath("ec2/resources/instance_types.json.gz").read_bytes()
    return dict(json.loads(gzip.decompress(data)))


@pytest.fixture(scope="module")
def rows(described: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    return {row["Instance type"]: row for row in instance_rows(described.values())}


# Rows


def test_an_accelerated_type_as_a_row(rows: Mapping[str, Mapping[str, str]]) -> None:
    assert rows["p4d.24xlarge"] == {
        "Instance type": "p4d.24xlarge",
        "Category": "accelerated computing",
        "Family": "p4d",
        "Generation": "4 (current)",
        "Source": "EC2 DescribeInstanceTypes",
        "vCPUs": "96",
        "Memory": "1152 GiB",
        "Memory per vCPU": "12 GiB",
        "Network": "400 Gbps",
        "EFA": "yes",
        "Local storage": "8000 GB (8 x 1000 GB NVMe SSD)",
        "Burstable": "no",
        "Bare metal": "no",
        "Sizes in family": "1",
        "Accelerators": "8",
        "Accelerator memory each": "40 GiB",
        "Accelerator memory total": "320 GiB",
        "Processor": "Intel, 3 GHz",
        "Accelerator": "NVIDIA A100 GPU",
        "Architecture": "x86_64",
    }


def test_a_type_without_accelerators_as_a_row(rows: Mapping[str, Mapping[str, str]]) -> None:
    row = rows["t4g.nano"]
    assert tuple(row) == COLUMNS
    assert list(row.values()) == [
        "t4g.nano", "general purpose", "t4g", "4 (current)", "EC2 DescribeInstanceTypes", "2", "0.5 GiB", "0.25 GiB", "Up to 5 Gbps",
        "no", "none", "yes", "no", "7", "0", "", "", "AWS Graviton2, 2.5 GHz", "none", "arm64",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "column", "cell"),
    [
        ("g6f.large", "Accelerators", "0.125"),
        ("g6f.large", "Accelerator memory total", "2.79 GiB"),
        ("trn1.32xlarge", "Accelerator", "AWS Trainium chip"),
        ("trn1.32xlarge", "Accelerator memory total", "512 GiB"),
        ("inf2.48xlarge", "Accelerator", "AWS Inferentia2 chip"),
        ("f2.6xlarge", "Accelerator", "Xilinx Virtex UltraScale+ (VU47P) FPGA"),
        ("vt1.3xlarge", "Accelerator", "Xilinx U30 media accelerator"),
        ("dl2q.24xlarge", "Accelerator", "Qualcomm AI100 accelerator"),
        ("d2.xlarge", "Local storage", "6144 GB (3 x 2048 GB HDD)"),
        ("trn1n.32xlarge", "Network", "1600 Gbps"),
        ("m5.metal", "Bare metal", "yes"),
        ("hpc7g.16xlarge", "Category", "high performance computing"),
        ("hpc7g.16xlarge", "Processor", "AWS Graviton3E, 2.6 GHz"),
        ("u-6tb1.56xlarge", "Generation", "current"),
        ("m1.small", "Architecture", "i386 and x86_64"),
        ("c7g.large", "Sizes in family", "9"),
    ],
)
def test_what_ec2_describes_in_many_ways_has_one_form(
    rows: Mapping[str, Mapping[str, str]], name: str, column: str, cell: str
) -> None:
    assert rows[name][column] == cell


def test_trainium2_has_the_memory_that_the_neuron_documentation_gives(rows: Mapping[str, Mapping[str, str]]) -> None:
    columns = ("Accelerators", "Accelerator", "Accelerator memory each", "Accelerator memory total")
    wanted = {
        "trn2.3xlarge": ["1", "AWS Trainium2 chip", "96 GiB", "96 GiB"],
        "trn2.48xlarge": ["16", "AWS Trainium2 chip", "96 GiB", "1536 GiB"],
        "trn2u.48xlarge": ["16", "AWS Trainium2 chip", "96 GiB", "1536 GiB"],
    }
    assert {name: [rows[name][column] for column in columns] for name in wanted} == wanted
    assert all("Neuron documentation" in rows[name]["Source"] for name in wanted)


def test_every_accelerator_that_is_described_is_in_the_table(
    described: Mapping[str, Any], rows: Mapping[str, Mapping[str, str]]
) -> None:
    blocks = ("GpuInfo", "NeuronInfo", "InferenceAcceleratorInfo", "FpgaInfo", "MediaAcceleratorInfo")
    accelerated = {name for name, description in described.items() if any(block in description for block in blocks)}
    assert {name for name, row in rows.items() if row["Accelerator"] != "none"} == accelerated | {"trn2u.48xlarge"}
    assert set(rows) == set(described)
    assert all(row["Category"] for row in rows.values())


def test_the_table_loads_through_the_loader_of_csv_files(described: Mapping[str, Any]) -> None:
    some = [described[name] for name in ("p5.48xlarge", "f2.6xlarge", "t2.micro")]
    data = as_csv(instance_rows(some))
    assert [row["Instance type"] for row in csv.DictReader(io.StringIO(data.decode()))] == [
        "f2.6xlarge", "p5.48xlarge", "t2.micro",
    ]  # fmt: skip
    text = load(Item("instances.csv", "instances.csv", None, bytes), data).text
    assert text.splitlines()[0] == f"| {' | '.join(COLUMNS)} |"
    assert "| 30400 GB (8 x 3800 GB NVMe SSD) |" in text


def test_the_table_in_the_corpus_is_built_from_wheels_the_newest_first(
    described: Mapping[str, Any], tmp_path: Path
) -> None:
    from benchmarks.build_instances import build

    def wheel(name: str, day: tuple[int, int, int], *types: str) -> Path:
        path = tmp_path / name
        with ZipFile(path, "w") as archive:
            entry = ZipInfo("moto/ec2/resources/instance_types.json.gz", (*day, 0, 0, 0))
            archive.writestr(entry, gzip.compress(json.dumps({name: described[name] for name in types}).encode()))
        return path

    rows = build(
        [
            wheel("new.whl", (2026, 10, 11), "m5.large", "g5.xlarge"),
            wheel("old.whl", (2024, 1, 27), "m5.large", "m5.xlarge", "p5.4xlarge"),
        ]
    )
    columns = ("Instance type", "Generation", "As of", "Sizes in family")
    assert [tuple(row[column] for column in columns) for row in rows] == [
        ("g5.xlarge", "5 (previous)", "2026-10-11", "1"),
        ("m5.large", "5 (previous)", "2026-10-11", "1"),
        ("p5.4xlarge", "5 (absent from the newest listing)", "2024-01-27", "1"),
    ]


# The live source


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    started = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    started.start()
    host, port = started.get_host_and_port()
    yield f"http://{host}:{port}"
    started.stop()


@pytest.fixture
def bare_settings(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def settings(bare_settings: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")


def only_item(address: str = ADDRESS) -> Item:
    [item] = find_items(address)
    assert isinstance(item, Item)
    return item


def refusal(address: str = ADDRESS) -> str:
    with pytest.raises(CorpusError) as caught:
        only_item(address).fetch()
    return str(caught.value)


@pytest.mark.evaluation
def test_a_region_is_one_table_with_todays_date(settings: None) -> None:
    before = datetime.now(UTC).date().isoformat()
    item = only_item()
    assert (item.id, item.name) == (ADDRESS, "instance-types.csv")
    assert item.source is not None
    assert (item.source.id, item.source.publisher) == ("ec2-instance-types-eu-west-1", "AWS")
    assert before <= (item.source.published or "") <= datetime.now(UTC).date().isoformat()
    text = load(item, item.fetch()).text
    assert text.count("\n| ") > 500
    assert "| m5.large | general purpose | m5 |" in text


def test_the_region_may_come_from_the_settings(settings: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no AWS region is given" in refusal("aws://instance-types")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    assert only_item("aws://instance-types").id == "aws://instance-types?region=us-west-2"


@pytest.mark.parametrize(
    "address",
    [
        "aws://",
        "aws://price",
        "aws://instance-types/eu-west-1",
        "aws://instance-types?zone=a",
        "aws://instance-types?region",
        "aws://[",
    ],
)
def test_an_address_that_is_none_says_how_to_write_one(settings: None, address: str) -> None:
    assert "write aws://instance-types?region=eu-west-1" in refusal(address)


def test_a_region_that_does_not_exist_says_so(settings: None) -> None:
    assert refusal("aws://instance-types?region=eu-nowhere-9") == (
        "'eu-nowhere-9' is no AWS region that boto3 knows: check the name, or update boto3"
    )


def test_a_profile_that_does_not_exist_says_so(bare_settings: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    assert "no AWS credentials were found" in refusal()


@pytest.mark.parametrize(
    ("code", "words"),
    one_of(
        4,
        [
            ("UnauthorizedOperation", "grant ec2:DescribeInstanceTypes"),
            ("RequestExpired", "have expired"),
            ("AuthFailure", "enable the region"),
            ("RequestLimitExceeded", "later"),
            ("NeverHeardOf", "EC2 answered NeverHeardOf"),
        ],
    ),
)
def test_what_ec2_refuses_is_one_sentence(
    settings: None, monkeypatch: pytest.MonkeyPatch, code: str, words: str
) -> None:
    from botocore.exceptions import ClientError
    from botocore.paginate import Paginator

    def refuse(*_: object, **__: object) -> None:
        raise ClientError({"Error": {"Code": code, "Message": "secret"}}, "DescribeInstanceTypes")

    with monkeypatch.context() as patch:
        patch.setattr(Paginator, "paginate", refuse)
        sentence = refusal()
    assert words in sentence
    assert "secret" not in sentence
