"""Sentences that a table row states by itself, and sentences that only seem to be."""

import pytest

from chatbot.evidence import units
from chatbot.verification.row_claim import row_says
from ingest import Chunk, Document, Source

HEADERS = (
    "Instance type", "Family", "Sizes in family", "vCPUs", "Memory", "Network", "Accelerators", "Accelerator", "Accelerator memory each",
    "Accelerator memory total", "EFA", "Bare metal", "Local storage", "Processor", "Price per hour",
)  # fmt: skip
CELLS = ("g9.8xlarge", "g9", "10", "32", "128 GiB", "Up to 50 Gbps", "2", "NVIDIA T4 GPU", "16 GiB", "32 GiB", "yes", "no", "1900 GB", "Intel Xeon", "$1.5")
TEXT = "\n".join(f"| {' | '.join(line)} |" for line in (HEADERS, ["---"] * len(HEADERS), CELLS))
DOCUMENT = Document("t.csv", Source("t", "T"), "T", TEXT)
(ROW,) = units(Chunk("t", DOCUMENT, (), 0, len(TEXT), TEXT))


@pytest.mark.parametrize(
    "claim",
    [
        "The g9.8xlarge has up to 50 Gbps of network bandwidth.",
        "The g9.8xlarge has 128 GiB of memory.",
        "The g9.8xlarge has 32 GiB of accelerator memory.",
        "The g9.8xlarge has 32 vCPUs and 128 GiB of memory.",
        "The g9.8xlarge has 2 NVIDIA T4 GPUs and costs $1.5 an hour.",
        "Yes: the g9.8xlarge has support for EFA.",
        "The g9.8xlarge is not bare metal.",
        "The g9.8xlarge has an Intel Xeon processor.",
        "There are 10 sizes in the g9 family.",
    ],
)
def test_a_row_says_what_stands_in_the_column_that_is_named(claim: str) -> None:
    assert row_says(claim, ROW)


@pytest.mark.parametrize(
    "claim",
    [
        "The g9.8xlarge has 50 Gbps of network bandwidth.",  # the cell says "up to"
        "The g9.8xlarge has 128 GiB of accelerator memory.",  # wrong column
        "The g9.8xlarge has 16 GiB of memory.",
        "The g9.8xlarge has 16 GiB of accelerator memory.",  # that is the memory of each
        "The g9.8xlarge has 128 vCPUs and 32 GiB of memory.",
        "The g9.8xlarge has 32 EFA interfaces.",  # stated by no column
        "The g9.8xlarge has 10 GPUs.",
        "The g9.8xlarge costs $1.5 a month.",
        "The g9.8xlarge has no EFA.",
        "The g9.8xlarge is bare metal.",
        "The g9.16xlarge has 128 GiB of memory.",  # wrong row
        "The g9 family has 32 vCPUs.",  # true of one size only
        "The g9.8xlarge has more than 32 vCPUs.",
        "The g9.8xlarge has 32 vCPUs, so it trains a 70B model.",
        "It has 32 vCPUs.",
    ],
)
def test_a_row_does_not_say_more_than_stands_there(claim: str) -> None:
    assert not row_says(claim, ROW)
