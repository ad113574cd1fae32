"""Which figures and names of a claim follow exactly from the cited words."""

import pytest

from chatbot.evidence import Unit, units
from chatbot.verification.support import is_exact, missing
from ingest import Chunk, Document, Source

TPU = "One v5e chip has 197 TFLOPS in BF16, 393 TOPS in INT8, 16 GB of memory at 819 GB/s, and 256 of them, with 1,600 Gbps between them, form a Pod of 50,432 TFLOPS."


def unit(text: str) -> Unit:
    document = Document("d.md", Source("d", "D"), "D", text)
    (found,) = units(Chunk("d", document, (), 0, len(text), text))
    return found


@pytest.mark.parametrize(
    ("claim", "text", "question", "holds"),
    [
        ("It costs $12.98 an hour.", "It costs $12.98127 an hour.", "", True),
        ("It costs $12.99 an hour.", "It costs $12.98127 an hour.", "", False),
        ("It costs $13.0 an hour.", "It costs $13.04 an hour.", "", True),
        ("It has 0.5 GB.", "It has 0.54 GB.", "", False),  # too few digits to count as rounding
        ("A month of 730 hours costs about $60.74.", "It costs $0.0832 an hour.", "", True),
        ("A month of 730 hours costs about $64.74.", "It costs $0.0832 an hour.", "", False),
        ("It has 730 chips.", "It has 16 chips.", "", False),
        ("Eight v5e chips hold 128 GB.", TPU, "", True),
        ("Eight v5e chips hold 120 GB.", TPU, "", False),
        ("A 20B model needs 40 GB.", "BF16 takes 2 bytes per parameter.", "Does a 20B model fit?", True),
        ("A 20B model needs 40 GB.", "BF16 takes 2 bytes per parameter.", "", False),
        ("It draws 300 W.", "It draws 72 W.", "Does it draw 300 W?", False),  # only a model's size is taken from the question
        ("Use Greengrass V2.", "Greengrass version 2 remains.", "", True),
        ("Use Greengrass V2.", "Greengrass version 1 remains.", "", False),
        ("It has more than 500 GB.", "It has over 100 GB.", "", False),
        ("It has more than 500 GB.", "It has 500 GB.", "", True),
        ("It draws under 5 W.", "It draws less than 100 W.", "", False),
        ("It has 16 to 64 GB.", "It has 16 GB.", "", False),
        ("It has 16 to 64 GB.", "It has 16 GB or 64 GB.", "", True),
        ("It has 16 GB at least.", "It has 16 to 64 GB.", "", True),
        ("Two hold 32 to 128 GB.", "It has 16 to 64 GB.", "", True),
        ("Two hold 32 to 900 GB.", "It has 16 to 64 GB.", "", False),
    ],
)
def test_figures_and_names_follow_exactly_or_not_at_all(claim: str, text: str, question: str, holds: bool) -> None:
    assert is_exact(claim, [unit(text)], computed=True, question=question) is holds


def test_what_is_missing_of_a_claim_is_counted() -> None:
    claim = "The L4 draws 72 W and the H100 700 W."
    cited = [unit("The L4 draws 72 W."), unit("The H100 draws 700 W.")]
    assert [missing(claim, cited[:n]) for n in range(3)] == [4, 2, 0]
    assert missing("It has more than 500 GB.", [unit("It has over 100 GB.")]) == 1
