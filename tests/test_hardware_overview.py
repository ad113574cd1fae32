"""What is told of hardware that a question does no more than name."""

import pytest

from chatbot import Chatbot, Turn
from chatbot.figures.hardware_overview import describe_hardware
from chatbot.question.query import understand


def test_a_type_is_described_by_its_row_its_price_and_its_accelerators(bot: Chatbot) -> None:
    answer = bot.ask("what is p5en.48xlarge")
    assert (answer.text, answer.dropped) == (
        "p5en.48xlarge: 8 × NVIDIA H200 GPU, 1128 GiB of accelerator memory, 192 vCPUs, 2048 GiB of memory, 3200 Gbps of network, EFA: yes; $63.296 an hour on demand in us-east-1; "
        "each accelerator: 4800 GB/s of memory bandwidth, 989 TFLOPS in BF16, 1979 TFLOPS in FP8 and 700 W at most [1][2][3].",
        0,
    )


def test_an_accelerator_is_described_with_the_types_that_have_it(bot: Chatbot) -> None:
    assert bot.ask("H100?").text.split("\n") == [
        "H100: 80 GB of memory, 3350 GB/s of memory bandwidth, 989 TFLOPS in BF16, 1979 TFLOPS in FP8 and 700 W at most [1].",
        "- p5.4xlarge: 1 × NVIDIA H100 GPU, 80 GiB of accelerator memory, 16 vCPUs, 256 GiB of memory, 100 Gbps of network, EFA: yes; $6.88 an hour on demand in us-east-1 [2][3].",
        "- p5.48xlarge: 8 × NVIDIA H100 GPU, 640 GiB of accelerator memory, 192 vCPUs, 2048 GiB of memory, 3200 Gbps of network, EFA: yes; $55.04 an hour on demand in us-east-1 [4][5].",
    ]


def test_a_family_is_described_size_by_size(bot: Chatbot) -> None:
    first, *sizes = bot.ask("tell me about inf2").text.split("\n")
    assert first == "inf2 has 4 sizes, with the Inferentia2 [1]. Inferentia2: 820 GiB/s of memory bandwidth, 190 TFLOPS in BF16 and 190 TFLOPS in FP8 [2]."
    assert [size.partition(":")[0] for size in sizes] == ["- inf2.xlarge", "- inf2.8xlarge", "- inf2.24xlarge", "- inf2.48xlarge"]


@pytest.mark.parametrize(("question", "memory"), [("A100 80gb specs", "80 GB"), ("specs of the A100 40 GB", "40 GB")])
def test_memory_tells_two_accelerators_of_one_name_apart(bot: Chatbot, question: str, memory: str) -> None:
    assert bot.ask(question).text.startswith(f"A100: {memory} of memory, ")


def test_without_its_memory_each_accelerator_of_that_name_is_described(bot: Chatbot) -> None:
    lines = bot.ask("what is the A100?").text.splitlines()
    assert [line.partition(",")[0] for line in lines] == [
        "A100: 40 GB of memory", "- p4d.24xlarge: 8 × NVIDIA A100 GPU", "A100: 80 GB of memory", "- p4de.24xlarge: 8 × NVIDIA A100 GPU",
    ]  # fmt: skip


@pytest.mark.parametrize("question", ["H100 or H200?", "what is the price of a g6e.xlarge?", "is the H100 good?", "tell me about Llama 70B", "which instance has the H200?", "what is a GPU?", "H100 in eu-north-1?"])
def test_whatever_asks_for_more_or_less_is_left_to_others(bot: Chatbot, question: str) -> None:
    assert describe_hardware(understand(question, (), bot.index), bot.index) is None


def test_a_later_turn_is_no_overview(bot: Chatbot) -> None:
    history = (Turn("How much memory has a g6e.xlarge?", "44.7 GiB"),)
    assert describe_hardware(understand("and the H100?", history, bot.index), bot.index) is None
