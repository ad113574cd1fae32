"""A question that asks several things is split into parts."""

import pytest

from chatbot.question.parts import questions


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("what's the max length of a capacity block and how far ahead can i book one", ["what's the max length of a capacity block", "how far ahead can i book one"]),
        ("We pay for 3 nodes. Is Spot safe here? And what does it save?", ["We pay for 3 nodes. Is Spot safe here?", "And what does it save?"]),
        ("Is trn3 out yet and how much faster is it? We run JAX.", ["Is trn3 out yet", "how much faster is it? We run JAX."]),
        ("which storage? S3, EFS or FSx?", []),
        ("A team runs jobs that take 3 hours and can restart from checkpoints. Which option is cheapest?", []),
        ("g5 or g6 for a 7b?", []),
    ],
)
def test_each_of_several_things_that_are_asked_stands_with_what_is_told_of_it(text: str, asked: list[str]) -> None:
    assert questions(text) == asked
