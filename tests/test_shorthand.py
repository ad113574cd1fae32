"""Letters of instance families are read in full."""

import pytest

from chatbot.shorthand import in_full


@pytest.mark.parametrize(
    ("short", "long"),
    [
        (
            "Put the C, G, P and Trn families in a table.",
            "Put the C series, G series, P series and Trn series in a table.",
        ),
        ("which is more for graphics work, G or P?", "which is more for graphics work, G series or P series?"),
        ("C series vs P series?", "C series vs P series?"),
        ("what is in P-type instances and C machines?", "what is in P series and C series?"),
        ("Which members belong to P and which to Trn?", "Which members belong to P series and which to Trn series?"),
    ],
)
def test_each_letter_of_a_list_gets_the_noun_behind_the_last(short: str, long: str) -> None:
    assert in_full(short) == long


def test_a_letter_alone_is_a_family_where_another_is_named_in_full() -> None:
    assert (
        in_full("What is the G family meant for and what is P for?")
        == "What is the G family meant for and what is P series for?"
    )


@pytest.mark.parametrize("text", ["Option A or B?", "C++ and G++ compilers", "p5 or g5?", "vitamins C and D"])
def test_letters_that_are_no_family_stay(text: str) -> None:
    assert in_full(text) == text
