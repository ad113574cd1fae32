"""What is shown of a model's exam answer: reasons and letters in any order, and reasons that contradict the letter."""

from collections.abc import Callable

import pytest

from chatbot import Chatbot
from chatbot.llm.choices import Examined, contradicts, examined
from chatbot.question.options import Option
from chatbot.question.query import understand
from chatbot.retrieval.searching import search
from chatbot.verification.citations import whole

EXAM = "Which chip is built for serving predictions?\nA. Trainium\nB. Inferentia\nC. The H100"
SERVES = "AWS Inferentia is for inference, which means serving predictions"
TRAINS = "AWS Trainium is for training large models"
OPTIONS = tuple(map(Option, "ABCD", ("Trainium", "Inferentia", "The H100", "Use Spot Instances")))
Exam = Callable[[str], Examined]


@pytest.fixture(scope="module")
def exam(bot: Chatbot) -> Exam:
    """A function that examines a model's text; {S} and {T} stand for sentences cited to the passages that support them."""
    query = understand(EXAM, (), bot.index)
    passages = search(query, bot.index, 1)
    marks = {
        key: next(n for n, p in enumerate(passages, start=1) if words in p.chunk.text)
        for key, words in {"S": SERVES, "T": TRAINS}.items()
    }

    def of(template: str) -> Examined:
        text = template.replace("{S}", f"{SERVES} [{marks['S']}]").replace("{T}", f"{TRAINS} [{marks['T']}]")
        return examined(text, query, whole(passages))

    return of


@pytest.mark.parametrize(
    "text",
    [
        "Answer: B\n\n{S}.\n\n- A. Trainium: {T}.\n- B. Inferentia: {S}.",
        "**Answer: B**\n\n**Explanation:** {S}.\n\n- **A. Trainium** – {T}.\n- **B. Inferentia** – {S}.",
        "The correct answer is **B. Inferentia** because {S}.\n\n**A. Trainium:** {T}.\n**B. Inferentia:** {S}.",
        "**B. Inferentia**\n\n{S}.\n\n- A. Trainium: Incorrect. {T}.\n- B. Inferentia: Correct. {S}.",
        "{S}.\n\n| Option | Why |\n|---|---|\n| A. Trainium | {T}. |\n| B. Inferentia | {S}. |\n\nTherefore, the answer is B.",
        "| A | Trainium | ❌ | {T}. |\n| B | Inferentia | ✅ | {S}. |\n\n## Explanation\n\n{S}.\n\n\\boxed{B}",
        "### Option A: Trainium\n{T}.\n\n### Option B: Inferentia\n{S}.\n\n### Conclusion\n{S}.\n\n**Final answer: B**",
        "- A. Trainium: {T}.\n- B. Inferentia: {S}.\n\n{S}.\n\nAnswer: B",
    ],
    ids=["plain", "bold", "because", "letter in front", "table at the end", "table in front", "headings", "options first"],
)  # fmt: skip
def test_reasons_are_found_in_any_order(exam: Exam, text: str) -> None:
    found = exam(text)
    assert (found.choices, found.contradicted) == (("B",), False)
    assert found.verified.text == f"B: {SERVES} [1].\n- A. Trainium: {TRAINS} [1].\n- B. Inferentia: {SERVES} [1]."


def test_the_options_own_line_is_the_reason_where_there_is_no_other(exam: Exam) -> None:
    found = exam("- A. Trainium ❌ {T}.\n- B. Inferentia ✅ {S}.\n- C. The H100 ❌")
    assert (found.choices, found.contradicted) == (("B",), False)
    assert found.verified.text.startswith(f"B: {SERVES} [1].\n- A. Trainium: {TRAINS} [1].")


@pytest.mark.parametrize(
    "text",
    [
        "{S}. B is wrong because it is not for training.\nAnswer: B",
        "{S}. So it is not B.\nAnswer: B",
        "{S}.\n- A. Trainium: Correct. {T}.\n- B. Inferentia: Incorrect. {S}.\nAnswer: B",
        "{S}.\n- B. Inferentia ❌ {S}.\nAnswer: B",
    ],
    ids=["called wrong", "denied", "line called wrong", "line crossed out"],
)
def test_a_reason_that_speaks_against_its_letter_is_flagged(exam: Exam, text: str) -> None:
    found = exam(text)
    assert (found.choices, found.contradicted) == (("B",), True)


def test_letters_without_a_reason_that_holds_are_none_and_no_contradiction(exam: Exam) -> None:
    found = exam("Answer: B\n\nInferentia is the best chip there is [1].")
    assert (found.choices, found.contradicted, found.verified.text) == ((), False, "")


@pytest.mark.parametrize(
    ("reason", "choices", "contradicted"),
    [
        ("B is wrong because it trains.", "B", True),
        ("Option B is not the right choice.", "B", True),
        ("(B) can be ruled out.", "B", True),
        ("B. Inferentia is incorrect.", "B", True),
        ("Inferentia is not suitable.", "B", True),
        ("It is A, not B.", "B", True),
        ("Rule out option B.", "B", True),
        ("Choose A rather than B.", "B", True),
        ("Trainium trains large models.", "B", True),
        ("Use Spot Instances to pay less.", "B", True),
        ("Inferentia serves, but D can be eliminated.", "D", True),
        ("That isn't A.", "", False),
        ("Inferentia serves predictions, not Trainium.", "B", False),
        ("A is wrong because it trains; B serves.", "B", False),
        ("Inferentia is cheaper than Trainium.", "B", False),
        ("B is not only cheaper but faster.", "B", False),
        ("It is not A chip of another maker.", "A", False),
        ("It serves predictions.", "B", False),
        ("A B200 is not B300.", "B", False),
        ("Spot capacity is interrupted.", "D", False),
    ],
)
def test_words_against_a_chosen_option_contradict_and_words_about_others_do_not(
    reason: str, choices: str, contradicted: bool
) -> None:
    assert contradicts(reason, tuple(choices), OPTIONS) is contradicted
