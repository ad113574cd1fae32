"""Exam questions decided by the table of instance types."""

import pytest

from chatbot import Chatbot

INF = "A. inf1.6xlarge\nB. inf2.24xlarge\nC. inf2.48xlarge\nD. inf2.xlarge"


def test_a_need_is_met_by_the_smallest_type_that_holds_it(bot: Chatbot) -> None:
    answer = bot.ask(
        f"Shards need 150 GiB of accelerator memory in one instance. Which is the smallest that suffices?\n{INF}"
    )
    first, *lines = answer.text.splitlines()
    assert answer.choices == ("B",)
    assert first == "B: inf2.24xlarge (as of 2026-10-11) has 192 GiB of accelerator memory (32 GiB each) [1]."
    assert lines == [
        "- A. inf1.6xlarge: inf1.6xlarge has 32 GiB of accelerator memory (8 GiB each) [2].",
        "- B. inf2.24xlarge: inf2.24xlarge has 192 GiB of accelerator memory (32 GiB each) [1].",
        "- C. inf2.48xlarge: inf2.48xlarge has 384 GiB of accelerator memory (32 GiB each) [3].",
        "- D. inf2.xlarge: inf2.xlarge has 32 GiB of accelerator memory [4].",
    ]
    assert list(dict.fromkeys(c.quote.split(" | ")[0] for c in answer.citations)) == [
        "| inf2.24xlarge",
        "| inf1.6xlarge",
        "| inf2.48xlarge",
        "| inf2.xlarge",
    ]


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("Which of these has the most accelerator memory?\nA. inf2.48xlarge\nB. trn2.48xlarge\nC. trn1.32xlarge", "B"),
        ("Which of these does NOT offer an EFA?\nA. g6e.48xlarge\nB. trn1.2xlarge\nC. trn1.32xlarge", "B"),
        ("A team needs exactly two FPGAs in one machine. Which size is it?\nA. f2.6xlarge\nB. f2.12xlarge\nC. f2.48xlarge", "B"),
        ("Jobs on a p4d.24xlarge need the same GPU model, the same vCPUs and network, but more GPU memory. Which type?\nA. p5.48xlarge\nB. p4de.24xlarge\nC. p6-b200.48xlarge", "B"),
        ("A p4d.24xlarge is to be replaced by the same GPU and no more vCPUs. Which type?\nA. p4de.24xlarge\nB. g5.48xlarge\nC. p5.48xlarge", "A"),
        ("The chips of 32 trn1.32xlarge wait for data. What has the same chips and memory with more network bandwidth?\nA. Move to trn2.48xlarge\nB. Move to trn1.2xlarge\nC. Move to trn1n.32xlarge", "C"),
        ("The weights need 26 GB. Which family has the smallest GPU memory on one GPU that holds them?\nA. G4dn\nB. G6\nC. G6e", "C"),
        ("Which family has bare metal sizes?\nA. P5\nB. G5g\nC. G6e", "B"),
        ("A database must hold 20 TiB in RAM. Which is the smallest of these?\nA. u7in-16tb.224xlarge\nB. u7in-24tb.224xlarge\nC. u7in-32tb.224xlarge", "B"),
    ],
)  # fmt: skip
def test_rows_decide_by_figure_rank_and_trait(bot: Chatbot, question: str, right: str) -> None:
    answer = bot.ask(question)
    assert answer.choices == (right,)
    assert "(as of " in answer.text.splitlines()[0]


@pytest.mark.parametrize(
    "question",
    [
        "Which vCPU quota is needed to run four p5.48xlarge at once?\nA. 768\nB. 192\nC. 384",
        "A model of 175 billion parameters in BF16 must fit. Which size?\nA. inf2.48xlarge\nB. inf2.8xlarge\nC. inf2.xlarge",
        "Which type suits a beginner?\nA. p5.48xlarge\nB. t3.micro\nC. trn1.2xlarge",
        "A decoder is to be served on AWS Inferentia. Which family?\nA. Inf1\nB. Inf2\nC. VT1",
        "A model needs 26 GB and its cache another 30 GB of memory. Which size holds both?\nA. inf2.xlarge\nB. inf2.24xlarge\nC. inf2.48xlarge",
    ],
)
def test_what_no_row_holds_is_left_to_the_documents(bot: Chatbot, question: str) -> None:
    assert "(as of " not in bot.ask(question).text
