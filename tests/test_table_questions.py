"""Questions that rows answer, as people type them: what they name, what they leave to the turn before, and nothing beside what is asked."""

import re

import pytest

from chatbot import Chatbot
from chatbot.answer import Turn
from tests.marks import one_of

# The turns; the instance types and figures of the last answer, in order; how many lines it has.
CONVERSATIONS: tuple[tuple[tuple[str, ...], tuple[str, ...], int], ...] = (
    # Memory that is said of a device is that of each; a size as sold is the nearest one listed.
    (("which aws instances have a single gpu with 48gb",), ("g6e.xlarge", "g6e.2xlarge", "g6e.4xlarge", "g6e.8xlarge", "g6e.16xlarge"), 5),
    (("Which EC2 instances have exactly one GPU with at least 40 GB of memory?",), ("g6e, 5 of 8", "44.7 GiB", "g7e, 3 of 6", "96 GiB", "p5, 1 of 2", "80 GiB"), 3),
    (("What instance types come with exactly one GPU and 24GB of GPU memory?",), ("g5, 5 of 8", "22.35 GiB", "g6, 5 of 8", "gr6, 2 of 2"), 3),
    (("what instance types have 16 GB GPUs",), ("g4dn, 7 of 7", "g5g, 6 of 6"), 2),
    (("cheapest instance with at least 80 gb on one gpu", "what about 24 gb"), ("g6.xlarge", "$0.8048", "g5.xlarge", "gr6.4xlarge"), 3),
    # All that a row has.
    (("g5.12xlarge specs and price us-east-1",), ("$5.672", "4 NVIDIA A10G", "89.41 GiB", "48 vCPUs", "192 GiB", "40 Gbps", "3800 GB"), 1),
    (("tell me about g5.xlarge",), ("1 NVIDIA A10G", "22.35 GiB", "4 vCPUs", "16 GiB"), 1),
    # Several conditions at once.
    (("at least 4 gpus and at most 200 gb ram",), ("g4dn.12xlarge", "g5.12xlarge", "g6.12xlarge"), 3),
    (("i need 16 vcpu, one gpu and 64 gb ram, what's there",), ("g4dn.4xlarge", "g5.4xlarge", "g6.4xlarge", "g7.4xlarge"), 4),
    (("I want an instance w/ one A10G and 32 vcpus",), ("g5.8xlarge",), 1),
    (("instance with 16 accelerators, not p5",), ("inf1.24xlarge", "trn1.32xlarge", "trn1n.32xlarge", "trn2.48xlarge", "trn2u.48xlarge"), 5),
    (("which g6e sizes have more than 1 gpu and under $16 an hour",), ("g6e.12xlarge", "$10.49264", "g6e.24xlarge", "$15.06559"), 2),
    (("do any instances have 3 gpus",), ("No instance type meets all of that", "g7.12xlarge has 2", "g4dn.12xlarge has 4"), 2),
    # The first of any set, with what is special about it.
    (("cheapest instance with any nvidia gpu at all? just need cuda to test compiling",), ("g6f.large", "$0.202", "a fraction of one", "g5g.xlarge", "arm64", "g4dn.xlarge"), 4),
    (("most expensive gpu instance",), ("p6-b300.48xlarge", "$142.416"), 4),
    (("instances with no GPU but 100 Gbps network, cheapest",), ("c8gn.8xlarge", "$1.896"), 4),
    (("Which is cheapest with 8 NVIDIA GPUs?",), ("g4dn.metal", "$7.824"), 4),
    (("what's the cheapest 80GB card instance",), ("p5.4xlarge", "$6.88"), 2),
    # Side by side: one row each, in the columns that are asked for.
    (("p5 vs p5e vs p5en: gpu, memory per gpu, local nvme, price per hour if you have it",), ("p5.48xlarge", "$55.04", "80 GiB", "no price of p5e.48xlarge", "141 GiB", "p5en.48xlarge", "$63.296"), 3),
    (("p4d vs p4de: memory per gpu and price",), ("p4d.24xlarge", "$21.957642", "40 GiB", "p4de.24xlarge", "$27.44705", "80 GiB"), 2),
    (("network bandwidth of p5.48xlarge and p5en, gbps",), ("p5.48xlarge has 3200 Gbps", "p5en.48xlarge has 3200 Gbps"), 2),
    (("memory bandwidth h100 vs h200",), ("3350 GB/s", "4800 GB/s"), 2),
    # Cells of a data sheet.
    (("how much HBM does one Trainium2 chip have",), ("96 GiB",), 1),
    (("Which data types can Trainium1 compute in?",), ("FP32", "190 TFLOPS in BF16", "FP4: no"), 1),
    # What a turn changes, and what it keeps.
    (("which is cheaper per hour, g5.xlarge or g6.xlarge?", "and with 8 GPUs?"), ("g6.48xlarge", "$13.3504", "g5.48xlarge", "$16.288"), 2),
    (("cheapest instance with one L40S", "and with four?"), ("g6e.12xlarge", "$10.49264"), 1),
    (("which single-gpu instance has the most gpu memory", "and what does it cost"), ("g7e.2xlarge", "$3.36312"), 1),
    (("gpu instances with at least 400 Gbps", "which is the cheapest of those?"), ("g7e.12xlarge", "$8.28608"), 4),
    (("smallest trn instance?", "and the biggest?"), ("trn2.48xlarge",), 4),
    (("price of g4dn.12xlarge", "and g5?"), ("g5.12xlarge", "$5.672"), 1),
)  # fmt: skip


@pytest.mark.parametrize(("turns", "told", "lines"), one_of(2, CONVERSATIONS))
def test_rows_answer_what_is_asked_and_no_more(bot: Chatbot, turns: tuple[str, ...], told: tuple[str, ...], lines: int) -> None:
    history: list[Turn] = []
    for turn in turns:
        answer = bot.ask(turn, history)
        history.append(Turn(turn, answer.text))
    assert re.search(".*".join(map(re.escape, told)), answer.text, re.DOTALL), answer.text
    assert (len(answer.text.splitlines()), answer.dropped) == (lines, 0), answer.text


def test_no_row_says_which_types_a_region_has(bot: Chatbot) -> None:
    turn = "is stockholm greener than ireland"
    answer = bot.ask("does it have p5 or trn?", [Turn(turn, bot.ask(turn).text)])
    assert answer.refused
    assert "Which instance types eu-north-1 has is not in the data" in answer.text
