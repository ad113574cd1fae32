"""The sides of a comparison, read from its words."""

import pytest

from chatbot.sides import sides


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Spot or on-demand for training a model for two weeks?", ("Spot", "on-demand")),
        ("real-time or batch inference for nightly scoring?", ("real-time", "batch inference")),
        ("Spot vs On-Demand?", ("Spot", "On-Demand")),
        ("Does anybody in payments or banking have a use for it?", ()),
    ],
)
def test_what_follows_the_last_side_is_said_of_all(question: str, expected: tuple[str, ...]) -> None:
    assert sides(question, ()) == expected
