"""Questions that people wrote before they had read any source, asked over the whole corpus: they show the product's real use.

The floors guard against regressions; they are not targets. Failures in the held-out ("kept") file are counted but never shown.
"""

from pathlib import Path

import pytest

from chatbot import Chatbot
from chatbot.exam.golden_scoring import ask_file, exactness, passed
from tests.golden_scoring import failures

pytestmark = pytest.mark.evaluation
QUESTIONS = Path(__file__).resolve().parent / "natural"


@pytest.mark.parametrize(("half", "floor"), [("tuned", 0.72), ("kept", 0.68)])
def test_natural_questions_are_answered(bot: Chatbot, half: str, floor: float) -> None:
    asked = ask_file(bot, QUESTIONS / f"natural-{half}.jsonl")
    rate, quotes = passed(asked), exactness(one.answer for one in asked)
    shown = failures(asked) if half == "tuned" else "kept questions are not shown"
    if rate.share < floor:
        pytest.fail(f"{rate.hits} of {rate.total} passed, {floor:.2f} of them must\n\n{shown}", pytrace=False)
    assert quotes.hits == quotes.total > 0
