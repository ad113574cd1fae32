"""Hardware comparisons: the verdict that the figures lead to, and rows for each side."""

import pytest

from chatbot import Chatbot, Turn
from chatbot.figures.hardware_comparison import compare_hardware
from chatbot.figures.hardware_sides import figures_beside
from chatbot.presentation.comparison_table import Cell, Comparison, Property, comparison
from chatbot.question.query import understand
from chatbot.working import load


@pytest.mark.parametrize(
    ("question", "verdict"),
    [
        ("a10g vs l4 for llm inference, decode speed mostly", "The A10G can generate tokens up to twice as fast (600 GB/s of memory bandwidth against 300 GB/s)"),
        ("h200 vs h100 is it only the memory?", "The H200 has 1.76 times the accelerator memory (141 GB against 80 GB) and can generate tokens up to 1.43 times as fast (4800 GB/s of memory bandwidth against 3350 GB/s); both have about the same compute in BF16 for prompts and training (989 TFLOPS each)"),
        ("L4 or L40S for inference?", "The L40S can generate tokens up to 2.88 times as fast (864 GB/s of memory bandwidth against 300 GB/s)"),
        (
            "inf2.24xlarge vs g5.12xlarge price performance",
            "inf2.24xlarge can generate up to 1.92 times the tokens per dollar in bf16 (5,280 GB/s for $6.49 an hour against 2,400 GB/s for $5.67 an hour)",
        ),
        ("H100 vs H200 for training with 64k prompts, TFLOPS", "Both have about the same compute in BF16 for prompts and training (989 TFLOPS each)"),
        (
            "trn1.32xlarge vs trn2.48xlarge",
            "trn2.48xlarge has 3.51 times the compute in BF16 for prompts and training (667 TFLOPS against 190 TFLOPS), "
            "3.29 times the memory bandwidth (2900 GB/s against 820 GiB/s) and 3 times the accelerator memory (96 GiB against 32 GiB)",
        ),
        ("p5 vs p5e vs p5en price per hour us-east", "p5.48xlarge is cheaper ($55.04 an hour against $63.30, 1.15 times as much)"),
        ("g5 vs g6 vs g6e memory bandwidth", "Memory bandwidth: 864 GB/s (g6e.xlarge), 600 GB/s (g5.xlarge), 300 GB/s (g6.xlarge)"),
    ],
)
def test_the_verdict_follows_from_the_figures_of_what_is_asked(bot: Chatbot, question: str, verdict: str) -> None:
    answer = bot.ask(question)
    assert answer.statements[0].text == f"{verdict}."
    assert answer.dropped == 0
    assert {statement.role for statement in answer.statements} <= {"computed", "side", "caveat"}


def test_what_speaks_for_the_other_side_comes_second(bot: Chatbot) -> None:
    second = bot.ask("a10g vs l4, which decodes faster").text.splitlines()[1]
    assert second.startswith("The L4 draws 72 W at most against 300 W, has 1.73 times the compute in BF16")
    assert "FP8, which halves the bytes of a weight and which the A10G lacks" in second
    assert second.endswith("That is a bound by peaks of data sheets, no measurement.")


def test_a_missing_price_is_said(bot: Chatbot) -> None:
    assert "No on-demand price of p5e.48xlarge is in the data." in bot.ask("p5 vs p5e vs p5en price per hour us-east").text


def test_a_side_is_an_option_and_each_of_its_cells_a_property(bot: Chatbot) -> None:
    found = comparison(bot.ask("p5.4xlarge or g6e.12xlarge"))
    assert found is not None
    assert found.options == ("p5.4xlarge", "g6e.12xlarge")
    cells = {each.name: [cell.text for cell in each.cells] for each in found.properties}
    assert cells["Accelerator memory total"] == ["80", "178.81"]
    assert cells["Memory"] == ["256", "384"]
    assert cells["Memory bandwidth"] == ["3350", "864"]
    assert cells["Price per hour"] == ["6.88", "10.49264"]


def test_a_later_turn_compares_with_what_the_turn_before_was_on(bot: Chatbot) -> None:
    query = understand("how does it compare with inf2", [Turn("what is trn1", "")], bot.index)
    draft = compare_hardware(query, bot.index)
    assert draft is not None
    assert draft.given == ("trn1.2xlarge", "inf2.xlarge")


@pytest.mark.parametrize(
    ("turns", "lead"),
    [
        (["H100 vs H200", "which has more memory?"], "The H200 has 1.76 times the accelerator memory (141 GB against 80 GB) [1][2]."),
        (["A10G or L4?", "memory bandwidth matters most"], "The A10G has twice the memory bandwidth (600 GB/s against 300 GB/s) [1][2]."),
        (["g5 vs g6 for LLM inference", "which one has more memory bandwidth"], "g5.xlarge has twice the memory bandwidth (600 GB/s against 300 GB/s) [1][2][3][4][5][6]."),
        (["p4d vs p4de", "same price tho?"], "p4d.24xlarge is cheaper ($21.96 an hour against $27.45, 1.25 times as much) [1][2][3][4][5][6]."),
        (["L4 vs T4 for inf. worth the swap?"], "g4dn.xlarge is cheaper ($0.526 an hour against $0.805, 1.53 times as much) [1][2][3][4][5][6]."),
        (["which has the most memory: A100, H100 or L40S"], "Accelerator memory: 80 GB (A100 and H100), 48 GB (L40S) [1][2][3]."),
    ],
)
def test_which_has_more_compares_the_accelerators_and_not_machines_with_them(bot: Chatbot, turns: list[str], lead: str) -> None:
    history: list[Turn] = []
    for turn in turns[:-1]:
        history.append(Turn(turn, bot.ask(turn, history).text))
    assert bot.ask(turns[-1], history).text.splitlines()[0] == lead


@pytest.mark.parametrize(
    "question",
    [
        "EC2 Instance SP against Compute SP for a team that moves from g5 to g6",
        "karpenter with mixed g5/g6 spot pools vs managed node groups with odcr",
        "do trn1 and inf2 still get new neuron releases or are they legacy",
        "Which NVIDIA architecture are the L4 and the L40S built on?",
        "is the p5en still h100 or is that the h200 one",
        "L4 vs A10G vs RTX 5090",
        "Cerebras WSE-3 vs inf2",
        "Energy-wise, one p5 for a day or four p4d for a day, same job",
        "price per hour g6.xlarge vs g5.xlarge",
        "Compare FP16 TFLOPS of L4, L40S and H100",
    ],
)
def test_what_documents_rows_or_a_workload_answer_is_left_to_them(bot: Chatbot, question: str) -> None:
    assert compare_hardware(understand(question, (), bot.index), bot.index) is None


def test_the_figures_of_the_hardware_that_a_question_compares_can_stand_beside_its_answer(bot: Chatbot) -> None:
    assert figures_beside("Should a team move from L4 to L40S?", load(bot.index).facts) == (
        Comparison(
            "",
            ("L4", "L40S"),
            (
                Property("Memory", "GB", (Cell("24", (), 24.0), Cell("48", (), 48.0))),
                Property("Memory bandwidth", "GB/s", (Cell("300", (), 300.0), Cell("864", (), 864.0))),
                Property("BF16", "TFLOPS", (Cell("121", (), 121.0), Cell("362", (), 362.0))),
                Property("FP8", "TFLOPS", (Cell("242", (), 242.0), Cell("733", (), 733.0))),
                Property("Maximum power", "W", (Cell("72", (), 72.0), Cell("350", (), 350.0))),
            ),
            (),
            (),
        ),
        ("corpus/facts/accelerators.csv",),
    )


@pytest.mark.parametrize(
    ("question", "options", "common"),
    [
        ("Compare p4d.24xlarge and p4de.24xlarge", ("p4d.24xlarge", "p4de.24xlarge"), ("Accelerators 8 × NVIDIA A100 GPU", "BF16 of each 312 TFLOPS", "Network 400 Gbps")),
        ("m6i.8xlarge or c6i.8xlarge?", ("m6i.8xlarge", "c6i.8xlarge"), ("vCPUs 32", "Network 12.5 Gbps")),
    ],
)  # fmt: skip
def test_what_machines_have_in_common_stands_below_their_figures(bot: Chatbot, question: str, options: tuple[str, ...], common: tuple[str, ...]) -> None:
    found = figures_beside(question, load(bot.index).facts)
    assert found is not None
    assert (found[0].options, found[0].common) == (options, common)


@pytest.mark.parametrize("question", ["Does p5.48xlarge have H100?", "Trainium or Inferentia?", "How do I use EFA on p5?", "Why is training slow in eu-west-1 and us-east-1?", "Rank T4, L4, A10G, L40S"])  # fmt: skip
def test_other_questions_have_no_figures_beside_their_answer(bot: Chatbot, question: str) -> None:
    assert figures_beside(question, load(bot.index).facts) is None
