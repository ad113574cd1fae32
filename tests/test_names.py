"""Names: a generation that is not in the vocabulary is a separate name."""

import pytest

from chatbot.language.names import mentioned, names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Trn instances", {"trn1"}),
        ("Trn2 and Trn3", {"trn2", "trn3"}),
        ("the Trn3 is new", {"trn3"}),
        ("Trainium3 chips", {"trainium3"}),
        ("Gaudi 3 or H100", {"gaudi3", "h100"}),
    ],
)
def test_a_generation_is_part_of_the_name(text: str, expected: set[str]) -> None:
    assert mentioned(text) == expected


@pytest.mark.parametrize("text", ["finance signed it off for Q3", "a p95 under a second", "the H2 budget", "g CO2e, so gCO2"])
def test_parts_of_a_year_and_percentiles_are_no_hardware(text: str) -> None:
    assert names(text) == ()


def test_a_name_that_comes_again_holds_no_shorter_name() -> None:
    assert [name.name for name in names("an inf2.xlarge or an inf2.xlarge with Trn1")] == ["inf2.xlarge", "Trn1"]
