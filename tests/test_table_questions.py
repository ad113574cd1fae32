"""Questions answered by rows, as people type them, alone and after earlier turns; answers contain only what is asked."""

import re

import pytest

from chatbot import Chatbot
from chatbot.answer import Turn
from chatbot.premise import false_premise
from chatbot.question.query import understand
from tests.marks import one_of

# Turns; instance types and figures of the last answer, in order; number of lines of the last answer below its heading.
CONVERSATIONS: tuple[tuple[tuple[str, ...], tuple[str, ...], int], ...] = (
    # Memory stated for a device is per device; a size as sold (24 GB) means the nearest listed size (22.35 GiB).
    (("which aws instances have a single gpu with 48gb",), ("g6e.xlarge", "g6e.2xlarge", "g6e.4xlarge", "g6e.8xlarge", "g6e.16xlarge"), 5),
    (("Which EC2 instances have exactly one GPU with at least 40 GB of memory?",), ("g6e, 5 of 8", "44.7 GiB", "g7e, 3 of 6", "96 GiB", "p5.4xlarge", "80 GiB"), 3),
    (("What instance types come with exactly one GPU and 24GB of GPU memory?",), ("g5, 5 of 8", "22.35 GiB", "g6, 5 of 8", "gr6, 2 of 2"), 3),
    (("what instance types have 16 GB GPUs",), ("g4dn, 7 of 7", "g5g, 6 of 6"), 2),
    (("cheapest instance with at least 80 gb on one gpu", "what about 24 gb"), ("g6.xlarge", "$0.8048", "g5.xlarge", "gr6.4xlarge"), 3),
    (("which instances does the A10G power?",), ("g5.xlarge", "g5.2xlarge", "g5.48xlarge", "8 NVIDIA A10G"), 8),
    (("which instances have EFA", "what's the cheapest of those with a gpu"), ("g6.8xlarge", "$2.0144", "g4dn.8xlarge", "gr6.8xlarge", "g5.8xlarge"), 4),
    # Everything in a row.
    (("g5.12xlarge specs and price us-east-1",), ("$5.672", "4 NVIDIA A10G", "89.41 GiB", "48 vCPUs", "192 GiB", "40 Gbps", "3800 GB"), 1),
    (("tell me about g5.xlarge",), ("1 NVIDIA A10G", "22.35 GiB", "4 vCPUs", "16 GiB"), 1),
    # Several conditions at once.
    (("at least 4 gpus and at most 200 gb ram",), ("g4dn.12xlarge", "g5.12xlarge", "g6.12xlarge"), 3),
    (("i need 16 vcpu, one gpu and 64 gb ram, what's there",), ("g4dn.4xlarge", "g5.4xlarge", "g6.4xlarge", "g7.4xlarge"), 4),
    (("I want an instance w/ one A10G and 32 vcpus",), ("g5.8xlarge",), 1),
    (("instance with 16 accelerators, not p5",), ("inf1.24xlarge", "trn1.32xlarge", "trn1n.32xlarge", "trn2.48xlarge", "trn2u.48xlarge"), 5),
    (("which g6e sizes have more than 1 gpu and under $16 an hour",), ("g6e.12xlarge", "$10.49264", "g6e.24xlarge", "$15.06559"), 2),
    (("do any instances have 3 gpus",), ("No instance type meets all of that", "g7.12xlarge has 2", "g4dn.12xlarge has 4"), 2),
    # A range is a range however it is written.
    (("Which GPU instances cost $1-$1.1 an hour?",), ("g5.xlarge", "$1.006", "gr6f.4xlarge", "$1.066"), 2),
    (("Which GPU instances cost from $1 to 1.1 an hour?",), ("g5.xlarge", "$1.006", "gr6f.4xlarge", "$1.066"), 2),
    (("instances with 2-4 GPUs and 192 to 200 GB RAM under $5",), ("g4dn.12xlarge", "$3.912", "g6.12xlarge", "$4.6016"), 2),
    # Memory of "each" is that of each device.
    (("Instances with fewer than 4 GPUs but at least 40 GB each under $2 an hour",), ("g6e.xlarge", "$1.861", "44.7 GiB"), 1),
    (("show instances with at least 2 GPUs, each with 40 GB or more, below $10 per hour",), ("g7e.12xlarge", "$8.28608", "96 GiB"), 1),
    # Memory "in total" is that of all devices, and the gigabytes of a GPU instance are per GPU behind a price as well.
    (("At most 2 GPUs and at least 150 GB in total",), ("g7e.12xlarge", "192 GiB of accelerator memory (96 GiB each)"), 1),
    (("GPU instance for $1.20 an hour or less with 24 GB",), ("g6.xlarge", "$0.8048", "g6.2xlarge", "$0.9776", "g5.xlarge", "$1.006"), 3),
    # An AMD instance has a processor of AMD.
    (("cheapest AMD instance with 32 GB RAM",), ("r5a.xlarge", "$0.226", "r6a.xlarge", "$0.2268"), 4),
    # A later place in an order, with the rows before it.
    (("What is the second cheapest instance with 80 GB of GPU memory?",), ("Second cheapest: g7e.4xlarge", "$3.99816", "- g7e.2xlarge", "$3.36312"), 2),
    (("3rd largest g5?",), ("Third largest: g5.16xlarge", "- g5.48xlarge", "- g5.24xlarge"), 3),
    (("what's the second-cheapest g5?", "how much memory does it have?"), ("g5.2xlarge (as of", "22.35 GiB of accelerator memory and 32 GiB"), 1),
    (("what's the cheapest g5?", "and the second cheapest?"), ("Second cheapest: g5.2xlarge", "$1.212", "- g5.xlarge"), 2),
    (("What is the third largest instance by GPU memory?",), ("Third most accelerator memory: p5e.48xlarge", "- p6-b300.48xlarge", "- p6-b200.48xlarge"), 3),
    # Several names are excluded, and the condition after them is one on the list.
    (("List GPU instances except g4dn, g5 and g5g between $0.5 and $0.9",), ("g6.xlarge", "$0.8048"), 1),
    (("Which GPU instances cost less than $0.3 and are not g5 or g4dn?",), ("g6f.large", "$0.202", "g6f.xlarge", "$0.2375"), 2),
    # 27.44705 / 640 is less than 21.957642 / 320.
    (("p4d or p4de cheaper per GB of GPU memory?",), ("p4de.24xlarge", "$27.44705", "p4d.24xlarge", "$21.957642"), 2),
    # Prices relative to another type's and to an amount.
    (("Which instances with 4 GPUs cost less than a g6.12xlarge?",), ("g4dn.12xlarge", "$3.912", "For comparison, g6.12xlarge", "$4.6016"), 2),
    (("Which instances have 8 GPUs?", "only those cheaper than $15"), ("g4dn.metal", "$7.824", "g6.48xlarge", "$13.3504"), 2),
    # Conditions surrounded by other words.
    (("which g5 sizes have more than one gpu? the naming makes no sense to me, 16xlarge is bigger but has 1??",), ("g5.12xlarge has 4", "g5.24xlarge has 4", "g5.48xlarge has 8"), 3),
    (("List every instance that has exactly one L40S, I need to pick how much RAM to get next to it.",), ("g6e.xlarge has 32 GiB", "64 GiB", "128 GiB", "256 GiB", "g6e.16xlarge has 512 GiB"), 5),
    (("Hello team, could you kindly let me know which types have more than a hundred and fifty GB on one card? Many thanks, Priya",), ("p6-b200.48xlarge", "179.06 GiB", "p6-b300.48xlarge", "268.59 GiB"), 2),
    (("one A10G, at least a hundred and twenty eight gigabytes of host memory, lowest price",), ("g5.8xlarge", "$2.448", "128 GiB"), 1),
    (("my quota is 96 vCPUs for G instances. which types fit under that with four gpus and 48 GB on each",), ("g6e.12xlarge", "g6e.24xlarge"), 2),
    (("are there any instances with 8 gpus under 20 bucks an hour, my advisor will sign that",), ("Yes, 3 instance types match.", "g4dn.metal", "$7.824", "g6.48xlarge", "$13.3504", "g5.48xlarge", "$16.288"), 3),
    (("which g4dn sizes have more than 1 gpu, my cheat sheet says only metal",), ("g4dn.12xlarge has 4", "g4dn.metal has 8"), 2),
    (("List every type where a single NVIDIA GPU has more than 150 GB of memory. B200 and up I suppose",), ("p6-b200.48xlarge", "p6-b300.48xlarge"), 2),
    (("FinOps here: the five most expensive accelerator instances",), ("p6-b300.48xlarge", "p6-b200.48xlarge", "p5en.48xlarge", "p5.48xlarge", "g7e.48xlarge"), 5),
    (("list the g6 sizes with a single L4", "now with hourly on-demand, smallest to biggest"), ("g6.xlarge", "$0.8048", "g6.2xlarge", "g6.4xlarge", "g6.8xlarge", "g6.16xlarge"), 5),
    (("how many p6 sizes exist",), ("2 instance types match.\n1. p6-b200.48xlarge", "p6-b300.48xlarge"), 2),
    (("GPU boxes that aren't nvidia, and under 75 cents an hour",), ("g4ad.xlarge", "$0.37853", "g4ad.2xlarge", "$0.54117"), 2),
    (("Show accelerators under two dollars an hour.", "only amd pls"), ("g4ad.xlarge", "g4ad.2xlarge", "g4ad.4xlarge", "g4ad.8xlarge"), 4),
    (("Cheapest thing with 80 GB of GPU memory in total, I don't care how many cards", "ok and if it has to be one single card?"), ("g7e.2xlarge", "$3.36312", "p5.4xlarge", "$6.88"), 2),
    # The first of any set, with its peculiarities.
    (("cheapest instance with any nvidia gpu at all? just need cuda to test compiling",), ("g6f.large", "$0.202", "a fraction of one", "g5g.xlarge", "arm64", "g4dn.xlarge"), 4),
    (("most expensive gpu instance",), ("p6-b300.48xlarge", "$142.416"), 4),
    (("instances with no GPU but 100 Gbps network, cheapest",), ("c8gn.8xlarge", "$1.896"), 4),
    (("Which is cheapest with 8 NVIDIA GPUs?",), ("g4dn.metal", "$7.824"), 4),
    # Gigabytes of a "GPU box" are per GPU, and a whole GPU excludes fractions of one.
    (("cheapest gpu box over 40gb?",), ("g6e.xlarge", "$1.861", "44.7 GiB", "g7e.2xlarge"), 4),
    (("cheapest instance with any nvidia gpu, us-east-1, linux, on demand?", "and if it has to be a whole GPU on x86?"), ("g4dn.xlarge", "$0.526", "x86_64"), 4),
    (("what's the cheapest 80GB card instance",), ("g7e.2xlarge", "$3.36312", "96 GiB", "p5.4xlarge", "$6.88", "80 GiB"), 4),
    # Side by side: one row each, with the requested columns.
    (("p5 vs p5e vs p5en: gpu, memory per gpu, local nvme, price per hour if you have it",), ("p5.48xlarge", "$55.04", "80 GiB", "no price of p5e.48xlarge", "141 GiB", "p5en.48xlarge", "$63.296"), 3),
    (("p4d vs p4de: memory per gpu and price",), ("p4d.24xlarge", "$21.957642", "40 GiB", "p4de.24xlarge", "$27.44705", "80 GiB"), 2),
    (("network bandwidth of p5.48xlarge and p5en, gbps",), ("p5.48xlarge has 3200 Gbps", "p5en.48xlarge has 3200 Gbps"), 2),
    (("memory bandwidth h100 vs h200",), ("3350 GB/s", "4800 GB/s"), 2),
    # Cells of a data sheet.
    (("how much HBM does one Trainium2 chip have",), ("96 GiB",), 1),
    (("Which data types can Trainium1 compute in?",), ("FP32", "190 TFLOPS in BF16", "FP4: no"), 1),
    # Later turns that change a filter and keep the rest.
    (("which is cheaper per hour, g5.xlarge or g6.xlarge?", "and with 8 GPUs?"), ("g6.48xlarge", "$13.3504", "g5.48xlarge", "$16.288"), 2),
    (("cheapest instance with one L40S", "and with four?"), ("g6e.12xlarge", "$10.49264"), 1),
    (("which single-gpu instance has the most gpu memory", "and what does it cost"), ("g7e.2xlarge", "$3.36312"), 1),
    (("gpu instances with at least 400 Gbps", "which is the cheapest of those?"), ("g7e.12xlarge", "$8.28608"), 4),
    (("smallest trn instance?", "and the biggest?"), ("trn2.48xlarge",), 4),
    (("price of g4dn.12xlarge", "and g5?"), ("g5.12xlarge", "$5.672"), 1),
    # Later turns that narrow a list, replace it or ask about it. They keep the columns that were asked for, and add theirs.
    (("show me g5 sizes with gpu count and vram", "only the single gpu ones, cheapest first, and add the price"), ("g5.xlarge costs $1.006 per hour; has 22.35 GiB of accelerator memory and 1 NVIDIA A10G GPU", "g5.16xlarge"), 5),
    (("list the trainium instances", "with network bandwidth and hbm", "drop trn1n and add what they cost"), ("trn1.2xlarge costs $1.34375", "up to 12.5 Gbps", "trn2.3xlarge", "not published", "200 Gbps", "trn1.32xlarge", "$21.5", "800 Gbps"), 5),
    (("which instances have the h200", "and the ones after that, blackwell"), ("g7, 6 of 6", "g7e, 6 of 6", "p6-b200.48xlarge has 8 NVIDIA B200", "p6-b300.48xlarge"), 4),
    (("instances with Amazon's own AI chips under 1 dollar an hour",), ("inf1.xlarge", "$0.228", "inf1.2xlarge", "$0.362", "inf2.xlarge", "$0.7582"), 3),
    (("Which g6 and g6e sizes come with exactly one GPU? I'm writing a Karpenter NodePool and don't want the multi-GPU ones sneaking in.",), ("g6, 5 of 8 sizes", "g6e, 5 of 8 sizes"), 2),
    (("all instances with an L40S", "without the ones over 8 dollars", "and the same for the A10G"), ("g5.xlarge", "$1.006", "g5.16xlarge", "$4.096", "g5.12xlarge", "$5.672"), 6),
    (("list every instance with an H100", "drop the ones above 50 dollars an hour", "what does that one go for per hour?"), ("p5.4xlarge", "$6.88"), 1),
    (("what are the trn instances?", "which of them have EFA?", "without trn1"), ("trn2.3xlarge", "trn1n.32xlarge", "trn2.48xlarge", "trn2u.48xlarge"), 4),
    (("instances with T4 GPUs", "remove the metal one", "which have more than 100 GB of memory?"), ("g4dn.8xlarge", "128 GiB", "g4dn.12xlarge", "192 GiB", "g4dn.16xlarge", "256 GiB"), 3),
    (("show G6e with prices", "only single GPU ones", "most memory first"), ("g6e.16xlarge", "$7.57719", "512 GiB", "g6e.xlarge", "32 GiB"), 5),
    (("which instances have 100 Gbps networking and a GPU?", "raise that to 400 Gbps", "how much is each per hour?"), ("g7e.12xlarge", "$8.28608", "p4d.24xlarge", "p4de.24xlarge", "g6e.48xlarge"), 4),
    (("which instances have an L4 and at least 16 vCPUs and cost under 1.50 dollars an hour?", "do they have EFA?"), ("g6f.4xlarge", "EFA: no", "gr6f.4xlarge", "EFA: no", "g6.4xlarge", "EFA: no"), 3),
    (("Which EC2 types have eight A100s?", "what do these go for per hour?", "and in eu-central-1?"), ("Prices in eu-central-1: The sources do not say", "p4d.24xlarge", "p4de.24xlarge"), 3),
    (("which P instances have 3200 Gbps of EFA?",), ("p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge", "p6-b200.48xlarge"), 4),
    (
        ("Quais instâncias EC2 com uma GPU NVIDIA custam menos de 1 dólar por hora on-demand em us-east-1?", "Pode tirar as ARM da lista, nossas imagens são todas x86.", "Dessas que sobraram, alguma tem 24 GB de VRAM e pelo menos 8 vCPUs?"),
        ("g6.2xlarge", "$0.9776", "22.35 GiB", "8 vCPUs", "x86_64"), 1,
    ),
    (("Liste alle g6-Größen", "ohne die mit mehr als einer GPU", "welche davon kostet weniger als 1 Dollar?"), ("g6.xlarge", "$0.8048", "g6.2xlarge", "$0.9776"), 2),
    (("Quelles instances g5 ont un seul GPU ?", "Seulement celles avec au moins 64 Go de RAM", "la moins chère ?"), ("g5.4xlarge", "$1.624"), 1),
    (("¿Qué instancias tienen una A10G?", "solo las de menos de 3 dólares por hora", "ordénalas por memoria"), ("g5.xlarge", "g5.2xlarge", "g5.4xlarge", "g5.8xlarge"), 4),
)  # fmt: skip


HEADING = re.compile(r"(?:Yes, )?\d+ instance types match|No instance type meets all|Prices are on demand")


@pytest.mark.parametrize(("turns", "told", "lines"), one_of(2, CONVERSATIONS))
def test_rows_answer_what_is_asked_and_no_more(bot: Chatbot, turns: tuple[str, ...], told: tuple[str, ...], lines: int) -> None:
    history: list[Turn] = []
    for turn in turns:
        answer = bot.ask(turn, history)
        history.append(Turn(turn, answer.text))
    assert re.search(".*".join(map(re.escape, told)), answer.text, re.DOTALL), answer.text
    below = [line for line in answer.text.splitlines() if not HEADING.match(line)]
    assert (len(below), answer.dropped) == (lines, 0), answer.text


def test_a_region_of_the_turn_before_is_asked_for_what_it_sells(bot: Chatbot) -> None:
    turn = "is stockholm greener than ireland"
    answer = bot.ask("does it have p5 or trn?", [Turn(turn, bot.ask(turn).text)])
    assert answer.text == "eu-north-1 (Stockholm) sells p5 and does not sell trn1, trn1n and trn2 (as of 2026-10-20) [1]."


ON_DEMAND = "on demand in us-east-1 (Linux, as of 2026-07-20)"
RATIOS = (
    (("which of the g5 and g6e instances is the cheapest per GB of GPU memory?",), (
        f"Cheapest per GB of accelerator memory: g6e.xlarge (1 NVIDIA L40S GPU), $0.0388 an hour per GB: $1.861 / 48 GB, {ON_DEMAND} [1][2][3].",
        "- g5.xlarge (1 NVIDIA A10G GPU), $0.0419 an hour per GB: $1.006 / 24 GB [4][5][6].",
    )),
    (("What's the $ per GiB of accelerator memory per hour for g4dn.xlarge, trn1.2xlarge and g5.xlarge? rank them", "and per vCPU?"), (
        f"Cheapest per vCPU: g4dn.xlarge (1 NVIDIA T4 GPU), $0.132 an hour per vCPU: $0.526 / 4 vCPUs, {ON_DEMAND} [1][2].",
        "- trn1.2xlarge (1 AWS Trainium chip), $0.168 an hour per vCPU: $1.34375 / 8 vCPUs [3][4].",
        "- g5.xlarge (1 NVIDIA A10G GPU), $0.252 an hour per vCPU: $1.006 / 4 vCPUs [5][6].",
    )),
    (("price per TFLOPS of trn1.32xlarge, g5.xlarge and g4dn.xlarge",), (
        f"Cheapest per TFLOPS in BF16: trn1.32xlarge (16 AWS Trainium chips), $0.00707 an hour per TFLOPS: $21.5 / (16 × 190 TFLOPS), {ON_DEMAND} [1][2][3].",
        "- g5.xlarge (1 NVIDIA A10G GPU), $0.0144 an hour per TFLOPS: $1.006 / 70 TFLOPS [4][5][6].",
        "- The data lacks what it takes to compute this for g4dn.xlarge [7].",
    )),
    (("how much GPU memory per dollar do I get on g4dn.xlarge versus g6e.xlarge?",), (
        f"Most GiB of accelerator memory for a dollar an hour: g4dn.xlarge (1 NVIDIA T4 GPU), 30.4 GiB for a dollar an hour: 16 GiB / $0.526, {ON_DEMAND} [1][2].",
        "- g6e.xlarge (1 NVIDIA L40S GPU), 24 GiB for a dollar an hour: 44.7 GiB / $1.861 [3][4].",
    )),
    (("price per GPU of the p5 family in eu-west-1",), (
        "Prices in eu-west-1: The sources do not say.",
        f"Cheapest per GPU: p5.4xlarge (1 NVIDIA H100 GPU), $6.88 an hour per GPU: $6.88 / 1 GPU, {ON_DEMAND} [1][2].",
        "- p5.48xlarge (8 NVIDIA H100 GPUs), $6.88 an hour per GPU: $55.04 / 8 GPUs [3][4].",
    )),
    (("cost per vCPU-hour of m7g.large",), (f"m7g.large, $0.0408 an hour per vCPU: $0.0816 / 2 vCPUs, {ON_DEMAND} [1][2].",)),
    (("host memory per GPU for g5.xlarge and g6.12xlarge",), (
        "Most GiB of memory per GPU: g6.12xlarge (4 NVIDIA L4 GPUs), 48 GiB per GPU: 192 GiB / 4 GPUs [1].", "- g5.xlarge (1 NVIDIA A10G GPU), 16 GiB per GPU: 16 GiB / 1 GPU [2].",
    )),
    (("what is the fp8 tflops per gpu of H100",), ("NVIDIA H100 GPU (80 GB) reaches 1979 TFLOPS in FP8 [1].",)),
    (("vCPUs per GPU for g5.12xlarge and p4d.24xlarge",), (
        "Most vCPUs per GPU: g5.12xlarge (4 NVIDIA A10G GPUs), 12 vCPUs per GPU: 48 vCPUs / 4 GPUs [1].", "- p4d.24xlarge (8 NVIDIA A100 GPUs), 12 vCPUs per GPU: 96 vCPUs / 8 GPUs [2].",
    )),
    (("rank g4dn, g5 and g6 by memory bandwidth per GPU", "now per dollar"), (
        f"Most GB/s of memory bandwidth for a dollar an hour: g4dn.xlarge (1 NVIDIA T4 GPU), 608 GB/s for a dollar an hour: 320 GB/s / $0.526, {ON_DEMAND} [1][2][3].",
        "- g5.xlarge (1 NVIDIA A10G GPU), 596 GB/s for a dollar an hour: 600 GB/s / $1.006 [4][5][6].",
        "- g6.xlarge (1 NVIDIA L4 GPU), 373 GB/s for a dollar an hour: 300 GB/s / $0.8048 [7][8][9].",
    )),
    (("cheapest per GB of GPU memory", "and with at least 130 GB per GPU?"), (
        f"Cheapest per GB of accelerator memory: p5en.48xlarge (8 NVIDIA H200 GPUs), $0.0561 an hour per GB: $63.296 / (8 × 141 GB), {ON_DEMAND} [1][2][3].",
        "- p6-b300.48xlarge (8 NVIDIA B300 GPUs), $0.0659 an hour per GB: $142.416 / (8 × 270 GB) [4][5][6].",
        "- p6-b200.48xlarge (8 NVIDIA B200 GPUs), $0.0791 an hour per GB: $113.9328 / (8 × 180 GB) [7][8][9].",
    )),
)  # fmt: skip


@pytest.mark.parametrize(("turns", "lines"), RATIOS)
def test_a_ratio_of_two_columns_is_computed_for_each_row(bot: Chatbot, turns: tuple[str, ...], lines: tuple[str, ...]) -> None:
    history: list[Turn] = []
    for turn in turns:
        history.append(Turn(turn, (answer := bot.ask(turn, history)).text))
    assert (answer.text, answer.dropped) == ("\n".join(lines), 0)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("most gpu memory i can get on aws for under 5 dollars an hour", "Most accelerator memory: g7e.2xlarge"),
        ("most vram for under $2/h", "Most accelerator memory: g6e.xlarge"),
        ("the most gpus i can get for 10 dollars an hour", "Most accelerators: g4dn.metal"),
        ("which instance has the most accelerator memory under $5 an hour?", "Most accelerator memory: inf1.24xlarge"),
        ("which FPGA has the most accelerator memory", "Most accelerator memory: f2.48xlarge"),
        ("f2 with the most accelerator memory under 5 dollars", "Most accelerator memory: f2.12xlarge"),
        ("which inf2 size has the most gpu memory?", "Most accelerator memory: inf2.48xlarge"),
    ],
)
def test_gpus_are_gpus_and_fpgas_lead_only_if_named(bot: Chatbot, question: str, first: str) -> None:
    assert bot.ask(question).text.startswith(first)


@pytest.mark.parametrize(
    ("turns", "told"),
    [
        (("compare p4d and p4de for me", "and the second one, is it available in frankfurt?"), "Yes: eu-central-1 (Frankfurt) sells p4de (as of 2026-10-20) [1]."),
        (("p4d or p4de?", "is the latter sold in Paris?"), "No: eu-west-3 (Paris) does not sell p4de, but p6-b200 (as of 2026-10-20) [1]."),
        (("compare g6 vs g6e", "and in stockholm, do they have both?"), "Yes: eu-north-1 (Stockholm) sells g6 and g6e (as of 2026-10-20) [1]."),
        (("tell me about g6e.xlarge", "available in Mumbai?"), "Yes: ap-south-1 (Mumbai) sells g6e.xlarge (as of 2026-10-20) [1]."),
        (("what's the difference between trn1 and trn2?", "which regions have the second?"), "trn2 is sold in 2 Regions (as of 2026-10-20): ap-south-2 (Hyderabad) and us-east-2 (Ohio) [1][2]."),
        (("which is cheaper, g5.xlarge or g6.xlarge", "is the cheaper one in Frankfurt?"), "Yes: eu-central-1 (Frankfurt) sells g6.xlarge (as of 2026-10-20) [1]."),
        (("cheapest instance with 24 GB per GPU", "is the second one in Paris?"), "Yes: eu-west-3 (Paris) sells g5.xlarge (as of 2026-10-20) [1]."),
        (("compare p4d and p4de for me", "what does the second one cost?"), "p4de.24xlarge costs $27.44705 per hour on demand in us-east-1 (Linux, as of 2026-07-20) [1]."),
        (("which is cheaper, g5.xlarge or g6.xlarge", "how much memory does the cheaper one have"), "g6.xlarge (as of 2026-10-11) has 22.35 GiB of accelerator memory and 16 GiB of host memory [1]."),
        (
            ("can i rent just one H200?", "hm and for A100?"),
            "No instance type meets all of that; these are the nearest. Prices are on demand in us-east-1 (Linux, as of 2026-07-20) [1].\n"
            "- p4d.24xlarge costs $21.957642 per hour; has 8 NVIDIA A100 GPUs and 320 GiB of accelerator memory (40 GiB each) [1][2].\n"
            "- p4de.24xlarge costs $27.44705 per hour; has 8 NVIDIA A100 GPUs and 640 GiB of accelerator memory (80 GiB each) [3][4].",
        ),
    ],
)
def test_a_later_turn_points_at_one_of_the_things_before(bot: Chatbot, turns: tuple[str, ...], told: str) -> None:
    history: list[Turn] = []
    for turn in turns:
        history.append(Turn(turn, (answer := bot.ask(turn, history)).text))
    assert (answer.text, answer.dropped) == (told, 0)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Since g6 instances use the H100, can I turn on MIG on a g6.xlarge?", "g6 instances have NVIDIA L4 GPUs, not the H100 [1].\nTaken as “Does the L4 support MIG?”"),
        ("how do I enable NVLink between the four H100s in a p4d.24xlarge?", "p4d.24xlarge has 8 NVIDIA A100 GPUs, not H100s [1].\n"),
        ("Why does the g6e.xlarge with its H100 cost so little?", "g6e.xlarge has 1 NVIDIA L40S GPU, not the H100 [1].\n"),
        ("since g5.xlarge comes with 4 GPUs, should i use tensor parallelism?", "g5.xlarge has 1 NVIDIA A10G GPU, not 4 [1].\n"),
        ("g6.xlarge has 48 GB of GPU memory, so will a 20B model in fp16 fit?", "g6.xlarge has 1 NVIDIA L4 GPU and 22.35 GiB of accelerator memory, not 48 GB [1].\nNo: a 20B model"),
        ("As p4de has 40 GB A100s, can it hold a 70B?", "p4de.24xlarge has 8 NVIDIA A100 GPUs and 640 GiB of accelerator memory (80 GiB each), not 40 GB each [1].\nYes: a 70B model"),
        ("Since inf2 has NVIDIA GPUs, can I run CUDA on it?", "inf2 instances have AWS Inferentia2 chips, not NVIDIA GPUs [1].\nNo"),
        ("why did aws put H100s in the g6 family and not l4", "g6 instances have NVIDIA L4 GPUs, not H100s [1]."),
        ("Our g4dn nodes have V100s, can they run bf16?", "g4dn instances have NVIDIA T4 GPUs, not V100s [1].\n"),
        ("is it true that g5 uses the A100?", "No: g5 instances have NVIDIA A10G GPUs, not the A100 [1]."),
        ("p3 has V100s with 32 GB, right?", "No: p3 instances have NVIDIA V100 GPUs of 16 GiB, not 32 GB [1]."),
        ("The trn1 uses Trainium2, right?", "No: trn1 instances have AWS Trainium chips, not Trainium2 [1]."),
    ],
)
def test_a_false_premise_on_hardware_is_corrected_first(bot: Chatbot, question: str, first: str) -> None:
    answer = bot.ask(question)
    assert (answer.text.startswith(first), answer.dropped) == (True, 0), answer.text
    assert answer.citations[0].number == 1
    assert {int(mark) for mark in re.findall(r"\[(\d+)\]", answer.text)} == {citation.number for citation in answer.citations}


@pytest.mark.parametrize(
    ("question", "first", "then"),
    [
        ("Since the L40S has NVLink, can I use tensor parallel on a g6e.48xlarge?", "No: NVLink and NVSwitch are found in the P families, such as P5 and P6 [1].", "smallest number of GPUs"),
        ("The L4 supports MIG, so how many pods fit on a g6.xlarge?", "No", ""),
        ("why does int8 quantization improve the accuracy of a model?", "No: it is used for less memory and cheaper, faster inference, not for accuracy [1][2].", ""),
        ("since trn2 runs CUDA natively, can we just lift our docker images over", "No: CUDA kernels do not run on Neuron [1].", "the Neuron DLC"),
    ],
)
def test_what_a_prepared_answer_denies_is_corrected_first(bot: Chatbot, question: str, first: str, then: str) -> None:
    answer = bot.ask(question)
    assert (answer.text.startswith(first), then in answer.text, answer.dropped, answer.question) == (True, True, 0, question), answer.text


@pytest.mark.parametrize(
    "question",
    [
        "why does my model recompile on every request?", "since the L4 supports FP8, how big a model fits a g6.xlarge?", "since Spot can be interrupted, how often should I save?", "we are short of capacity, so should we book a block?",
        "Since g6 instances use the L4, can I turn on MIG on a g6.xlarge?", "Which g5 has 4 GPUs?", "what g5 size has 3 gpus?", "compare the H100 in p5 with the A100 in p4d", "should I replace my p4d with H100s?",
        "is a g5 with 24 GB better than an H100?", "Since the g5 doesn't have an H100, what should I use for FP8?", "our two g5.xlarge have 2 GPUs, can I do tensor parallel?",
        "our cluster of g5.xlarge has 8 GPUs, how do I use them?", "g5.xlarge has 22 GB of gpu memory, will a 7B fit?", "since g5.12xlarge has 4 A10Gs, does tensor parallel work over PCIe?", "if I move from g5 to H100, do I gain FP8?",
    ],
)  # fmt: skip
def test_what_is_true_or_asked_is_no_false_premise(bot: Chatbot, question: str) -> None:
    assert false_premise(understand(question, (), bot.index), bot.index) is None


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "how many NeuronCores does a trainium2 chip have and how much HBM",
            "Eight per chip, of version NeuronCore-v3 [1]. A trn2.48xlarge with 16 chips has 128 [2].\nAWS Trainium2 chip has 96 GiB of memory [3].",
        ),
        (
            "how much HBM does a trainium2 chip have and how many NeuronCores?",
            "AWS Trainium2 chip has 96 GiB of memory [1].\nEight per chip, of version NeuronCore-v3 [2]. A trn2.48xlarge with 16 chips has 128 [3].",
        ),
        ("what's the memory and power of the L40S", "NVIDIA L40S GPU has 48 GB of memory and a maximum power of 350 W [1]."),
    ],
)
def test_both_halves_of_a_question_on_a_chip_are_answered(bot: Chatbot, question: str, told: str) -> None:
    assert bot.ask(question).text == told
