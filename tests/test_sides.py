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


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("vLLM, TensorRT-LLM, TGI - what is each one?", ("vLLM", "TensorRT-LLM", "TGI")),
        ("a TPU as opposed to a CPU?", ("TPU", "CPU")),
        ("a 7B model versus a 70B one: how long does each take?", ("7B model", "70B one")),
    ],
)
def test_sides_are_listed_or_held_against_each_other(question: str, expected: tuple[str, ...]) -> None:
    assert sides(question, ()) == expected


def test_two_things_held_against_each_other_are_the_sides_and_not_what_both_need() -> None:
    assert sides("How many H100s to train a 7B model versus a 70B one?", ("H100",)) == ("7B model", "70B one")
