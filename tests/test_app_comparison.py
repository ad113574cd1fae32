"""An answer's text as tables, bars and verdicts."""

from dataclasses import replace

import pytest

from chatbot import Answer, Chatbot
from chatbot.answer import Statement
from chatbot.comparison_table import Bar, Bars, Row, bars, comparison_rows
from chatbot.option_verdicts import ExamAnswer, OptionVerdict, exam_answer
from chatbot.options import Option


def answer(text: str, question: str = "q", choices: tuple[str, ...] = ()) -> Answer:
    return Answer(question, text, (), (), False, choices, "offline", 0.0)


TWO = "Both train [1].\n- trn1.2xlarge: The instance has 32 GB of memory [2].\n- trn1.32xlarge: The instance has 512 GB of memory [3][4]."


def test_each_side_becomes_a_row_with_its_marks() -> None:
    assert comparison_rows(answer(TWO)) == (
        Row("trn1.2xlarge", "The instance has 32 GB of memory [2].", (2,)),
        Row("trn1.32xlarge", "The instance has 512 GB of memory [3][4].", (3, 4)),
    )


@pytest.mark.parametrize(
    "other",
    [
        answer("16 chips [1]."),
        answer("- One: only a side [1]."),
        answer("B: x [1].\n- A. x: y\n- B. z: w", choices=("B",)),
    ],
)
def test_what_compares_nothing_has_no_rows(other: Answer) -> None:
    assert comparison_rows(other) == ()


def test_numbers_of_one_unit_become_bars() -> None:
    expected = Bars("GB", (Bar("trn1.2xlarge", 32.0, (2,)), Bar("trn1.32xlarge", 512.0, (3, 4))))
    assert bars(comparison_rows(answer(TWO))) == expected


def test_counts_of_one_thing_become_bars() -> None:
    rows = comparison_rows(answer("- a: It has 8 vCPUs [1].\n- b: It has 1,280 vCPUs [2]."))
    assert bars(rows) == Bars("vcpus", (Bar("a", 8.0, (1,)), Bar("b", 1280.0, (2,))))


def test_what_stands_in_brackets_beside_a_number_hinders_no_bars() -> None:
    rows = comparison_rows(
        answer(
            "- a: It has 320 GiB of GPU memory (40 GiB each) [1].\n- b: It has 640 GiB of GPU memory (80 GiB each) [2]."
        )
    )
    assert bars(rows) == Bars("GiB", (Bar("a", 320.0, (1,)), Bar("b", 640.0, (2,))))


def test_a_side_whose_name_has_a_colon_keeps_all_of_it() -> None:
    statements = (
        Statement("It is fast [1].", (1,), "side", "Trn1: training"),
        Statement("It is slow [2].", (2,), "side", "Inf2"),
    )
    found = replace(answer("- Trn1: training: It is fast [1].\n- Inf2: It is slow [2]."), statements=statements)
    assert [row.name for row in comparison_rows(found)] == ["Trn1: training", "Inf2"]


@pytest.mark.parametrize(
    "text",
    [
        "- a: It has 32 GB of memory [1].\n- b: It has 1 TB of memory [2].",
        "- a: It has 32 GB or 64 GB of memory [1].\n- b: It has 16 GB of memory [2].",
        "- a: Cost of inference fell by 70% [1].\n- b: Energy to train BERT sank by 29% [2].",
        "- a: It has 32 GB of memory [1].\n- b: The sources do not say.",
        "- a: It has over 32 GB of memory [1].\n- b: It has 16 GB of memory [2].",
    ],
    ids=["other unit", "two numbers", "other measure", "one side unknown", "open range"],
)
def test_numbers_that_may_not_stand_side_by_side_become_no_bars(text: str) -> None:
    assert bars(comparison_rows(answer(text))) is None


def test_an_exam_answer_is_its_reason_and_a_verdict_an_option() -> None:
    question = "Which two serve?\nA. Trainium: fast\nB. Inferentia\nC. Inf2"
    text = "B, C: Inferentia serves [1].\n- A. Trainium: fast: It trains [2].\n- B. Inferentia: It serves [1]."
    assert exam_answer(answer(text, question, ("B", "C"))) == ExamAnswer(
        "Inferentia serves [1].",
        (
            OptionVerdict(Option("A", "Trainium: fast"), False, "It trains [2]."),
            OptionVerdict(Option("B", "Inferentia"), True, "It serves [1]."),
            OptionVerdict(Option("C", "Inf2"), True, ""),
        ),
    )


def test_a_plain_answer_is_no_exam_answer(bot: Chatbot) -> None:
    assert exam_answer(bot.ask("Is Trainium for inference?")) is None
