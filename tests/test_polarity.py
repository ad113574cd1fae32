import pytest

from chatbot.polarity import claim_of, denies_claim, short_answer, uncovered, without_shared_absence


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


@pytest.mark.parametrize(
    ("claim", "text", "denied"),
    [
        ("Is it suitable for training?", "It is not suitable for training because its library is unstable.", True),
        ("Does the card support PyTorch?", "TensorFlow is not supported.", False),
        ("Does the card support TensorFlow?", "TensorFlow is not supported.", True),
        ("Can I use FPGAs for training?", "FPGAs are not supported for training.", True),
        ("Should it serve batches?", "Do not use it for public endpoints with strict latency.", False),
    ],
)
def test_a_denial_is_of_a_claim_when_it_denies_the_same_of_the_same(claim: str, text: str, denied: bool) -> None:
    assert denies_claim(claim, text) is denied


def test_what_both_go_without_is_no_denial() -> None:
    assert without_shared_absence("Can I use it without forced air?", "Do not use it without forced air.") == (
        "Can I use it forced air?",
        "Do not use it forced air.",
    )
    assert without_shared_absence("Can I use it without code?", "It needs no code.") == (
        "Can I use it without code?",
        "It needs no code.",
    )


@pytest.mark.parametrize(("text", "word"), [("No. It has none.", "no"), ("Yes, if …", "yes"), ("No GPU does.", None)])
def test_a_short_answer_stands_before_a_mark(text: str, word: str | None) -> None:
    assert short_answer(text) == word


def test_suited_is_as_good_as_suitable() -> None:
    assert uncovered("Is it suitable for training?", "It is suited to training.") == []
