"""The judge on cases that anybody can decide; `benchmarks/judge.py` measures it on the held-out claims, by kind."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.evidence import Unit, units
from chatbot.verification.judge import Verdict, borne_out, judge, told
from ingest import Chunk, Document, Source

TEXT = """# Trainium and Inferentia

AWS Trainium trains models, and AWS Inferentia serves them. Training on Trainium costs up to 50% less than on comparable GPU instances.
An interrupted Spot Instance is terminated by default; EC2 hibernates it when the request says so.

| Instance | Chips | vCPUs | Network |
|---|---|---|---|
| trn1.2xlarge | 1 | 8 | 12.5 Gbps |
| trn1.32xlarge | 16 | 128 | 800 Gbps |
"""
DOCUMENT = Document("notes.md", Source("notes", "Notes"), "Notes", TEXT)
UNITS = units(Chunk("c", DOCUMENT, ("Trainium and Inferentia",), 0, len(TEXT), TEXT))


def found(words: str) -> list[Unit]:
    return [unit for unit in UNITS if words in unit.plain][:1]


@pytest.mark.parametrize(
    ("true", "false", "words"),
    [
        (
            "On Trainium, training can be as much as 50% cheaper than on similar GPU instances.",
            "Trainium always halves the cost of training.",
            "50% less",
        ),
        (
            "Unless told otherwise, EC2 terminates a Spot Instance that it interrupts.",
            "EC2 hibernates an interrupted Spot Instance by default.",
            "by default",
        ),
        pytest.param(
            "Inferentia is the chip for serving, Trainium the one for training.",
            "Inferentia trains models.",
            "serves them",
            marks=pytest.mark.xfail(reason="two sides swapped: every third such claim is taken for true"),
        ),
    ],
)
def test_evidence_supports_what_it_says_in_any_words_more_than_what_it_does_not_say(
    true: str, false: str, words: str
) -> None:
    right, wrong = judge([true, false], [found(words)] * 2)
    assert right.supports > 0.5 > wrong.supports
    assert math.isclose(sum(right), 1.0, abs_tol=1e-5)


def chances(supports: float) -> list[Verdict]:
    return [Verdict(supports, (1 - supports) / 2, (1 - supports) / 2), Verdict(0.1, 0.4, 0.5)]


@given(st.floats(0.11, 0.98), st.floats(0.001, 0.01))
def test_more_support_makes_a_claim_surer(supports: float, more: float) -> None:
    claim, overlaps = "Trainium trains models.", [0.5, 0.2]
    assert borne_out(claim, chances(supports), overlaps) < borne_out(claim, chances(supports + more), overlaps)


def test_a_batch_is_judged_as_each_claim_alone() -> None:
    claims = ["Inferentia trains models.", "Inferentia serves models."]
    evidence = [found("serves them")] * 2
    assert judge(claims, evidence) == [judge([claim], [one])[0] for claim, one in zip(claims, evidence, strict=True)]


def test_of_a_wide_row_the_judge_reads_the_cells_that_the_claim_speaks_of() -> None:
    cells = [f"Column{n}: {n}" for n in range(20)]
    row = f"Instance: p5.48xlarge; {'; '.join(cells)}"
    document = Document("row.md", Source("row", "Row"), "Row", row)
    (unit,) = units(Chunk("r", document, (), 0, len(row), row))
    assert "Column17: 17" in told("It has 17 in column17.", [unit])
    assert told("It has 17 in column17.", [unit]).count(";") == 8
