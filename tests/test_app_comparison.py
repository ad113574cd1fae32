"""An answer's text as tables and verdicts."""

from dataclasses import replace

import pytest

from chatbot import Answer, Chatbot, Citation, Passage
from chatbot.answer import Statement
from chatbot.presentation.comparison_table import (
    Cell,
    Comparison,
    Property,
    Side,
    TableRow,
    comparison,
    marked,
    property_of,
)
from chatbot.presentation.option_verdicts import ExamAnswer, OptionVerdict, exam_answer
from chatbot.question.options import Option
from ingest import Chunk, Document, Source

TABLE = """| Type | As of | vCPUs | Memory | GPU memory each | GPU memory | GPU |
|---|---|---|---|---|---|---|
| p4d.24xlarge | 2026-10-11 | 96 | 1,152 GiB | 40 GiB | 320 GiB | NVIDIA A100 |
| p5.48xlarge | 2026-10-11 | 192 | 2,048 GiB | 80 GiB | 640 GiB | NVIDIA H100 |
| p4d.24xlarge | 2026-10-11 | 96 | 1,152 GiB | 80 GiB | 640 GiB | NVIDIA A100 |
"""


def answer(*statements: Statement, text: str = "- a", question: str = "q", choices: tuple[str, ...] = ()) -> Answer:
    """Return an answer with these statements, in which citation n is the n-th row of the table."""
    passage = Passage(1, Chunk("c", Document("d", Source("d", "d"), "d", TABLE), (), 0, len(TABLE), TABLE), 1.0)
    rows = [(TABLE.index(row), row) for row in TABLE.splitlines()[2:]]
    rows[2] = (TABLE.rindex(rows[2][1]), rows[2][1])
    cited = [Citation(n, "", row, at, at + len(row), 1.0, passage) for n, (at, row) in enumerate(rows, start=1)]
    return Answer(question, text, tuple(cited), (), False, choices, "offline", 0.0, statements=statements)


def row(number: int, text: str) -> Statement:
    return Statement(text, (number,), "row")


def side(name: str, text: str, *numbers: int) -> Statement:
    return Statement(text, numbers, "side", name)


def test_rows_become_a_table_of_properties_by_option() -> None:
    found = comparison(
        answer(
            Statement("Both have A100s or newer.", (), "answer"),
            row(1, "p4d.24xlarge (as of 2026-10-11) has 320 GiB of GPU memory (40 GiB each) and 96 vCPUs."),
            row(2, "p5.48xlarge (as of 2026-10-11) has 640 GiB of GPU memory (80 GiB each)."),
        )
    )
    assert found == Comparison(
        "Both have A100s or newer.",
        ("p4d.24xlarge", "p5.48xlarge"),
        (
            Property("GPU memory", "GiB", (Cell("320", (1,), 320.0), Cell("640", (2,), 640.0))),
            Property("GPU memory each", "GiB", (Cell("40", (1,), 40.0), Cell("80", (2,), 80.0))),
            Property("vCPUs", "", (Cell("96", (1,), 96.0), Cell("192", (2,), 192.0))),
        ),
        ("As of 2026-10-11",),
        (),
    )


def test_a_word_among_figures_takes_no_unit_from_them() -> None:
    found = property_of("FP8", [[("242 TFLOPS", 1)], [("no", 2)], [("1,979 TFLOPS", 3)]])
    assert found == Property(
        "FP8", "TFLOPS", (Cell("242", (1,), 242.0), Cell("no", (2,), None), Cell("1,979", (3,), 1979.0))
    )
    assert property_of("Storage", [[("8 GB", 1)], [("2 x 4 GB", 2)]]).unit == ""


def test_a_figure_keeps_what_stands_in_brackets_behind_it() -> None:
    found = property_of("Storage", [[("8000 GB (8 x 1000 GB NVMe SSD)", 1)], [("30400 GB (8 x 3800 GB NVMe SSD)", 2)], [("no", 3)]])
    one, other = Cell("8000 (8 x 1000 GB NVMe SSD)", (1,), 8000.0), Cell("30400 (8 x 3800 GB NVMe SSD)", (2,), 30400.0)
    assert found == Property("Storage", "GB", (one, other, Cell("no", (3,))))


def test_a_column_is_told_by_the_words_beside_its_figure() -> None:
    row = TableRow(
        "t",
        (("Memory", "32 GiB"), ("GPU memory each", "32 GiB"), ("GPU memory", "32 GiB"), ("Sizes", "1"), ("GPUs", "1")),
    )
    assert row.told("t has 1 GPU, 32 GiB of GPU memory and 32 GiB of memory.") == ("GPUs", "GPU memory", "Memory")
    assert row.told("t costs $1.") == ()


def test_what_all_options_have_in_common_is_said_once() -> None:
    found = comparison(
        answer(
            row(1, "p4d.24xlarge has an NVIDIA A100 and 40 GiB of GPU memory each."),
            row(3, "p4d.24xlarge has an NVIDIA A100 and 80 GiB of GPU memory each."),
        )
    )
    assert found is not None
    assert (found.options, found.common) == (("p4d.24xlarge", "p4d.24xlarge"), ("GPU NVIDIA A100",))
    assert [p.name for p in found.properties] == ["GPU memory each"]


def test_a_row_that_answers_by_itself_leads() -> None:
    one, other = row(1, "p4d.24xlarge has 96 vCPUs."), row(2, "p5.48xlarge has 192 vCPUs.")
    alone, listed = (
        answer(one, other, text="p4d.24xlarge has …\n- p5"),
        answer(one, other, text="- p4d.24xlarge has …\n- p5"),
    )
    assert [found and found.lead for found in map(comparison, (alone, listed))] == [
        "p4d.24xlarge has 96 vCPUs [1].",
        "",
    ]


def test_a_sentence_that_says_more_than_its_row_stays_a_sentence() -> None:
    more = row(2, "p5.48xlarge has 192 vCPUs, twice the 96 of another.")
    found = comparison(answer(row(1, "p4d.24xlarge has 96 vCPUs."), row(3, "p4d.24xlarge has 96 vCPUs."), more))
    assert found is not None
    assert (found.lead, len(found.options)) == ("p5.48xlarge has 192 vCPUs, twice the 96 of another [2].", 2)


def test_a_sentence_on_a_column_whose_cell_it_does_not_say_stays_one() -> None:
    one, other = row(1, "p4d.24xlarge has 96 vCPUs and its own GPU."), row(2, "p5.48xlarge has 192 vCPUs.")
    found = comparison(answer(one, other))
    assert found is None


def test_what_is_said_of_the_sides_keeps_its_marks_and_their_names() -> None:
    found = comparison(answer(side("Trn1: training", "It is fast.", 1), side("Inf2", "It is slow.", 2, 3)))
    assert found is not None
    assert found.sides == (
        Side("Trn1: training", "It is fast [1]."),
        Side("Inf2", "It is slow [2][3]."),
    )


def test_a_mark_stands_behind_the_words_that_it_bears_out() -> None:
    cited = answer().citations
    claims = (replace(cited[0], claim="It costs $2"), replace(cited[1], claim="; that costs $3."))
    statement = Statement("It costs $2; that costs $3.", (1, 2), "answer")
    assert marked(statement, claims) == "It costs $2 [1]; that costs $3 [2]."


@pytest.mark.parametrize(
    "other",
    [
        answer(Statement("16 chips.", (1,), "answer")),
        answer(side("One", "only a side.", 1)),
        answer(row(1, "p4d.24xlarge has 96 vCPUs.")),
        answer(side("A. x", "y"), side("B. z", "w"), choices=("B",)),
    ],
)
def test_what_compares_nothing_is_no_comparison(other: Answer) -> None:
    assert comparison(other) is None


def test_an_exam_answer_is_its_reason_and_a_verdict_an_option() -> None:
    question = "Which two serve?\nA. Trainium: fast\nB. Inferentia\nC. Inf2"
    text = "B, C: Inferentia serves [1].\n- A. Trainium: fast: It trains [2].\n- B. Inferentia: It serves [1]."
    assert exam_answer(answer(text=text, question=question, choices=("B", "C"))) == ExamAnswer(
        "Inferentia serves [1].",
        (
            OptionVerdict(Option("A", "Trainium: fast"), False, "It trains [2]."),
            OptionVerdict(Option("B", "Inferentia"), True, "It serves [1]."),
            OptionVerdict(Option("C", "Inf2"), True, ""),
        ),
    )


def test_a_plain_answer_is_no_exam_answer(bot: Chatbot) -> None:
    assert exam_answer(bot.ask("Is Trainium for inference?")) is None
