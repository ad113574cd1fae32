"""Names that a question writes shortly are read in full."""

import pytest

from chatbot.shorthand import in_full, letter_in_full, unhurried

SIZES = {"trn1": ["trn1.2xlarge", "trn1.32xlarge"], "p5": ["p5.48xlarge"]}


def full(text: str) -> str:
    return in_full(text, lambda family: SIZES.get(family, []))


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
    assert full(short) == long


def test_a_letter_alone_is_a_family_where_another_is_named_in_full() -> None:
    assert (
        full("What is the G family meant for and what is P for?")
        == "What is the G family meant for and what is P series for?"
    )


@pytest.mark.parametrize("text", ["Option A or B?", "C++ and G++ compilers", "p5 or g5?", "vitamins C and D"])
def test_letters_that_are_no_family_stay(text: str) -> None:
    assert full(text) == text


def test_a_size_alone_belongs_to_the_only_family_named() -> None:
    assert full("the 32xlarge vs the 2xl of Trn1?") == "the trn1.32xlarge vs the trn1.2xlarge?"
    assert full("Trn1 or P5: which has a 48xlarge?") == "Trn1 or P5: which has a 48xlarge?"
    assert full("is there a 48xlarge?") == "is there a 48xlarge?"


def test_the_smallest_and_the_largest_are_types_of_the_family() -> None:
    assert full("memory of the smallest Trn1 size?") == "memory of trn1.2xlarge?"
    assert full("what does the biggest trn1 have?") == "what does trn1.32xlarge have?"


@pytest.mark.parametrize(
    "text", ["the smallest p5?", "the smallest Trn1 size with EFA?", "smallest trn1 that has 16 chips"]
)
def test_the_smallest_of_one_and_the_smallest_with_something_stay(text: str) -> None:
    assert full(text) == text


def test_a_letter_alone_is_a_family_after_a_question_on_one() -> None:
    assert letter_in_full("and P?", "What is the G series for?") == "and P series?"
    assert letter_in_full("and for Trn?", "What is the G series for?") == "and for Trn series?"
    assert letter_in_full("and P?", "Which option is right?") == "and P?"
    assert letter_in_full("and Kubernetes?", "What is the G series for?") == "and Kubernetes?"


@pytest.mark.parametrize(
    ("hurried", "full_text"),
    [
        ("gpt-3 w/ its 175 billion params", "gpt-3 with its 175 billion params"),
        ("smallest n largest trn1", "smallest and largest trn1"),
        ("how long b4 a refresh w/o cooling", "how long before a refresh without cooling"),
        ("number of virtual CPUs", "number of vCPUs"),
        (
            "what does n stand for in c7gn, is the letter n bandwidth?",
            "what does n stand for in c7gn, is the letter n bandwidth?",
        ),
    ],
)
def test_what_is_written_in_a_hurry_is_read_in_full(hurried: str, full_text: str) -> None:
    assert unhurried(hurried) == full_text


@pytest.mark.parametrize(
    ("described", "named"),
    [
        ("how big is the smaller trn1?", "how big is trn1.2xlarge?"),
        ("how many vCPUs does the bigger of the two Trainium boxes have?", "how many vCPUs does trn1.32xlarge have?"),
        ("vCPUs of the small vs the large Trn1?", "vCPUs of trn1.2xlarge vs trn1.32xlarge?"),
        ("what does a Trainium box cost?", "what does a Trn1 instance cost?"),
        ("how many of Amazon's own training chips fit?", "how many Trainium chips fit?"),
        ("the chip that AWS built for inference", "Inferentia chips"),
        ("cost cut: the training chip vs the inference chip", "cost cut: Trainium chips vs Inferentia chips"),
        ("local SSD, smallest vs largest trn1", "local SSD, trn1.2xlarge vs trn1.32xlarge"),
    ],
)
def test_what_is_described_gets_its_name(described: str, named: str) -> None:
    assert full(described) == named


@pytest.mark.parametrize(
    "text",
    ["a large Trn1 cluster", "the Trainium machine learning chip", "an Inferentia box", "Intel's training chips"],
)
def test_a_description_that_fits_several_things_or_none_stays(text: str) -> None:
    assert full(text) == text
