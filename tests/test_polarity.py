import pytest

from chatbot.polarity import claim_of, short_answer, uncovered


@pytest.mark.parametrize(
    ("question", "claim"),
    [
        ("Isn't the L4 efficient?", "Is the L4 efficient?"),
        ("Can't it train models?", "can it train models?"),
        ("Won't the card throttle?", "will the card throttle?"),
        ("Is it true that the L4 draws 72 W?", "the L4 draws 72 W?"),
    ],
)
def test_a_denying_question_claims_the_thing_itself(question: str, claim: str) -> None:
    assert claim_of(question) == claim


@pytest.mark.parametrize(("text", "word"), [("No. It has none.", "no"), ("Yes, if …", "yes"), ("No GPU does.", None)])
def test_a_short_answer_stands_before_a_mark(text: str, word: str | None) -> None:
    assert short_answer(text) == word


def test_suited_is_as_good_as_suitable() -> None:
    assert uncovered("Is it suitable for training?", "It is suited to training.") == []
