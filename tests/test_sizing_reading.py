"""Workloads read from plain language, in single questions and across the turns of a conversation."""

import time
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chatbot.answer import Turn
from chatbot.sizing.asking import Asked
from chatbot.sizing.conversation import hear
from chatbot.sizing.goals import Goal
from chatbot.sizing.reading import read_question
from chatbot.sizing.reading.schedule import MONTH_HOURS
from chatbot.sizing.reading.text import Known
from chatbot.sizing.workload import Format, Optimizer, Task, Workload
from tests.marks import one_of

LLAMA_8B, LLAMA_70B, LLAMA_405B = (f"meta-llama/Meta-Llama-3.1-{size}" for size in ("8B", "70B", "405B"))
MIXTRAL, SCOUT, QWEN = "mistralai/Mixtral-8x7B-v0.1", "meta-llama/Llama-4-Scout-17B-16E-Instruct", "Qwen/Qwen3-30B-A3B"
KNOWN = Known(
    models=(
        LLAMA_8B, LLAMA_70B, LLAMA_405B, MIXTRAL, "mistralai/Mixtral-8x22B-v0.1", SCOUT, QWEN, "Qwen/Qwen3-8B",
        "Qwen/Qwen3-VL-30B-A3B-Instruct", "deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-V3.2", "deepseek-ai/DeepSeek-R1",
        "openai/gpt-oss-120b", "openai/gpt-oss-20b", "stepfun-ai/Step-3.7-Flash", "nvidia/Llama-3_3-Nemotron-Super-49B-v1",
    ),
    accelerators=(
        "NVIDIA L40S GPU", "NVIDIA L4 GPU", "NVIDIA H100 GPU", "NVIDIA H200 GPU", "NVIDIA A100 GPU", "NVIDIA A10G GPU", "NVIDIA T4 GPU",
        "AWS Trainium2 chip", "AWS Trainium chip", "AWS Inferentia2 chip", "NVIDIA RTX PRO Server 6000 GPU",
    ),
    types=frozenset({
        "g5.xlarge", "g5.12xlarge", "g6.xlarge", "g6.12xlarge", "g6e.xlarge", "g6e.12xlarge", "p5.48xlarge", "p5en.48xlarge", "p4d.24xlarge", "inf1.xlarge",
        "inf2.24xlarge", "inf2.48xlarge", "trn1.32xlarge", "trn2.48xlarge",
    }),
    regions=frozenset({"us-east-1", "us-west-2", "eu-north-1", "eu-west-1", "eu-central-1", "ap-south-1"}),
)  # fmt: skip


def read(*turns: str) -> Asked | None:
    heard = hear(turns[-1], [Turn(question, "") for question in turns[:-1]], KNOWN)
    return heard.asked if heard and heard.computed else None


def workload(*turns: str) -> Workload:
    asked = read(*turns)
    assert asked is not None
    return asked.workload


@pytest.mark.parametrize(
    ("question", "goal", "expected"),
    [
        ("Will a 34B model in bf16 fit on one L40S?", Goal.FITS, Workload(parameters=34e9, weights=Format.BF16, accelerator="L40S", accelerators=1)),
        ("will 34b fit l40s", Goal.FITS, Workload(parameters=34e9, accelerator="L40S")),
        ("smallest instance for Llama 3 70B in 8 bits with 16k of context", Goal.SMALLEST, Workload(model=LLAMA_70B, weights=Format.INT8, context=16_384)),
        ("passt llama 70b auf eine H100?", Goal.FITS, Workload(model=LLAMA_70B, accelerator="H100")),
        ("¿Cabe llama 3.1 8B en una T4?", Goal.FITS, Workload(model=LLAMA_8B, accelerator="T4")),
        ("est-ce que llama 70b tient sur une A100 80GB?", Goal.FITS, Workload(model=LLAMA_70B, accelerator="A100", accelerator_memory_gb=80)),
        ("70b int4 2xl40s ok?", Goal.FITS, Workload(parameters=70e9, weights=Format.INT4, accelerator="L40S", accelerators=2)),
        ("Can it hold a 13 billion parameter model? I mean one g5.12xlarge, AWQ 4-bit", Goal.FITS, Workload(parameters=13e9, weights=Format.AWQ, instance_type="g5.12xlarge", instances=1)),
        ("passt ein 13B mit ZeRO-3 auf 8 A100 mit 40 GB?", Goal.FITS, Workload(parameters=13e9, zero_stage=3, task=Task.FULL, accelerator="A100", accelerators=8, accelerator_memory_gb=40)),
        ("¿cabe un 13B con ZeRO-3 en 8 A100 de 40 GB?", Goal.FITS, Workload(parameters=13e9, zero_stage=3, task=Task.FULL, accelerator="A100", accelerators=8, accelerator_memory_gb=40)),
        ("does qwen3 30b fit a single 24 GB GPU in half precision?", Goal.FITS, Workload(model=QWEN, weights=Format.FP16, accelerators=1, accelerator_memory_gb=24)),
        ("Does an 80 GB card suffice for 34 billion params?", Goal.FITS, Workload(parameters=34e9, accelerator_memory_gb=80)),
        ("8B in fp16 on 2x24GB?", Goal.FITS, Workload(parameters=8e9, weights=Format.FP16, accelerators=2, accelerator_memory_gb=24)),
        ("Llama-3.1-405B in fp8 on one p5.48xlarge ok?", Goal.FITS, Workload(model=LLAMA_405B, weights=Format.FP8, instance_type="p5.48xlarge", instances=1)),
        (
            "What instance do I need to serve llama3.1-70b-instruct in 4-bit for 20 users with 16k context under $5/h?",
            Goal.CHOICE,
            Workload(model=LLAMA_70B, task=Task.SERVE, weights=Format.INT4, context=16_384, sequences=20, budget_per_hour=5),
        ),
        ("max 3k a month, serve qwen 3 30b for 10 users", Goal.CHOICE, Workload(model=QWEN, task=Task.SERVE, sequences=10, budget_per_month=3_000)),
        ("how long does a 13B on 500B tokens take on 8 p5 nodes", Goal.TIME, Workload(parameters=13e9, task=Task.PRETRAIN, tokens=500e9, instance_type="p5.48xlarge", instances=8)),
        (
            "I want to fine-tune llama 3 8B with LoRA, budget is less than 2 dollars an hour. What should I launch?",
            Goal.CHOICE,
            Workload(model=LLAMA_8B, task=Task.LORA, budget_per_hour=2),
        ),
        ("cheapest way to host mixtral in int8 in Stockholm", Goal.CHEAPEST, Workload(model=MIXTRAL, task=Task.SERVE, weights=Format.INT8, region="eu-north-1")),
        ("cheapest instance for 8x7b, only Inferentia", Goal.CHEAPEST, Workload(model=MIXTRAL, families=frozenset({"inf1", "inf2"}))),
        ("which instance for gpt-oss 120b only on NVIDIA, no p5?", Goal.CHOICE, Workload(model="openai/gpt-oss-120b", vendors=frozenset({"NVIDIA"}), without=frozenset({"p5"}))),
        ("Which instance without NVIDIA for serving llama 3.1 8b at 128k?", Goal.CHOICE, Workload(model=LLAMA_8B, task=Task.SERVE, context=131_072, without=frozenset({"NVIDIA"}))),
        ("Which instance without GPUs serves llama 3.1 8b in bf16?", Goal.CHOICE, Workload(model=LLAMA_8B, task=Task.SERVE, weights=Format.BF16, without=frozenset({"NVIDIA", "AMD"}))),
        ("llama 3.1 8B, batch size 8, long context of 32k on trainium?", Goal.CHOICE, Workload(model=LLAMA_8B, context=32_768, sequences=8, families=frozenset({"trn1", "trn1n", "trn2"}))),
        ("What does it cost to run Llama 3.1 8B 24/7 on g6.xlarge?", Goal.COST, Workload(model=LLAMA_8B, task=Task.SERVE, hours=MONTH_HOURS, instance_type="g6.xlarge")),
        ("What does llama 3.1 8B on g6.xlarge cost for 30 hours? We pay $0.75/h", Goal.COST, Workload(model=LLAMA_8B, hours=30, instance_type="g6.xlarge")),
        ("How much CO2 does serving Llama 70B on p4d.24xlarge for a week emit in Frankfurt?", Goal.CARBON, Workload(model=LLAMA_70B, task=Task.SERVE, hours=168, region="eu-central-1", instance_type="p4d.24xlarge")),
        (
            "how much energy to pre-train a 1.5 billion parameter model on 2 trillion tokens with 64 H100 in eu-west-1?",
            Goal.ENERGY,
            Workload(parameters=1.5e9, task=Task.PRETRAIN, tokens=2e12, region="eu-west-1", accelerator="H100", accelerators=64),
        ),
        ("How long to train 7B on 1T tokens on 16 p5.48xlarge?", Goal.TIME, Workload(parameters=7e9, task=Task.FULL, tokens=1e12, instance_type="p5.48xlarge", instances=16)),
        ("How much memory does QLoRA of a 65B model need?", Goal.MEMORY, Workload(parameters=65e9, task=Task.QLORA)),
        ("how much vram for a 175B parameters model in half precision", Goal.MEMORY, Workload(parameters=175e9, weights=Format.FP16)),
        ("memory for the KV cache of llama 3.1 70B at 32k with 16 users in fp8 cache", Goal.MEMORY, Workload(model=LLAMA_70B, cache=Format.FP8, context=32_768, sequences=16)),
        ("Will Llama 2 7B with LoRA rank 16 fit on a T4?", Goal.FITS, Workload(parameters=7e9, task=Task.LORA, lora_rank=16, accelerator="T4")),
        (
            "Can I full fine-tune a 7B on 8xH100 with ZeRO-3, gradient checkpointing and 8-bit Adam?",
            Goal.FITS,
            Workload(parameters=7e9, task=Task.FULL, optimizer=Optimizer.ADAM_8BIT, zero_stage=3, recompute=True, accelerator="H100", accelerators=8),
        ),
        ("How many H100s to serve DeepSeek R1 in fp8 with batch of 32?", Goal.COUNT, Workload(model="deepseek-ai/DeepSeek-R1", task=Task.SERVE, weights=Format.FP8, sequences=32, accelerator="H100")),
        ("llama 4 scout int4 on 1 H100?", Goal.FITS, Workload(model=SCOUT, weights=Format.INT4, accelerator="H100", accelerators=1)),
        ("deepseek v3 fp8 on p5en?", Goal.FITS, Workload(model="deepseek-ai/DeepSeek-V3", weights=Format.FP8, instance_type="p5en.48xlarge")),
    ],
)  # fmt: skip
def test_a_question_in_plain_words_is_a_workload(question: str, goal: Goal, expected: Workload) -> None:
    asked = read(question)
    assert asked is not None
    assert (asked.goal, asked.workload) == (goal, expected)


@pytest.mark.parametrize(
    "question",
    [
        "How many GPUs does p5.48xlarge have?",
        "Which hardware for pre-training a 70B model on AWS?",
        "How much accelerator memory does a trn1.32xlarge have?",
        "How long does it take to train a 7B model, and on how many GPUs?",
        "how many H100s do I need to train a 70B model",
        "6B model, single card please",
        "400 billion parameters, our own data centre, NVIDIA only. What do we order?",
        "According to the notes, will a 34B model in bf16 fit on one L40S?",
        "Roughly how large was the cluster that GPT-3 needed?",
        "How many tokens per second does Llama 3 70B reach on trn2.48xlarge?",
        "Which step is missing when a server runs for four hours?",
        "What is Trainium?",
        "The model is larger than the memory of one GPU. What helps?",
        "",
    ],
)
def test_a_question_for_tables_or_documents_is_no_sizing(question: str) -> None:
    assert read(question) is None


def test_a_follow_up_changes_the_slot_that_it_names_and_keeps_the_others() -> None:
    turns = ["cheapest way to serve mixtral 8x7b in int8 in Stockholm"]
    expected = Workload(model=MIXTRAL, task=Task.SERVE, weights=Format.INT8, region="eu-north-1")
    assert workload(*turns) == expected
    for turn, changes in [
        ("and in 4 bit?", {"weights": Format.INT4}),
        ("with 128k context?", {"context": 131_072}),
        ("for 50 users", {"sequences": 50}),
        ("thanks!", None),
        ("on Inferentia?", {"families": frozenset({"inf1", "inf2"})}),
        ("what about g6e?", {"families": frozenset({"g6e"})}),
        ("in Ireland?", {"region": "eu-west-1"}),
        ("on two H100", {"accelerator": "H100", "accelerators": 2, "families": frozenset()}),
        ("and full fine-tuning instead?", {"task": Task.FULL, "weights": None}),
    ]:
        turns.append(turn)
        if changes is None:
            assert read(*turns) is None
        else:
            values = {name: getattr(expected, name) for name in Workload.__slots__} | changes
            expected = Workload(**values)
            assert workload(*turns) == expected, turn


def test_a_follow_up_may_name_another_size_of_the_model() -> None:
    asked = read("Does Llama 3.1 8B fit on an A10G in fp16?", "what about the 70B?")
    assert asked == Asked(
        Workload(model=LLAMA_70B, weights=Format.FP16, accelerator="A10G"),
        (Goal.FITS,),
        frozenset({"model", "weights", "accelerator"}),
        continues=True,
    )


def test_a_follow_up_may_ask_for_another_figure_of_the_same_workload() -> None:
    asked = read("Will 8b in bf16 fit on an L4?", "how much is that per month?")
    assert asked is not None
    assert (asked.goal, asked.workload) == (Goal.COST, Workload(parameters=8e9, weights=Format.BF16, accelerator="L4"))


@pytest.mark.parametrize("between", ["What is Trainium?", "How many GPUs does p5.48xlarge have?"])
def test_a_change_of_topic_drops_the_workload(between: str) -> None:
    assert read("Will 8b in bf16 fit on an L4?", between) is None
    assert read("Will 8b in bf16 fit on an L4?", between, "and in 4 bit?") is None


def test_a_whole_question_begins_anew() -> None:
    turns = ("cheapest way to serve mixtral in int8 in Stockholm", "Will Llama 3.1 8B in bf16 fit on one L4?")
    assert workload(*turns) == Workload(model=LLAMA_8B, weights=Format.BF16, accelerator="L4", accelerators=1)


@pytest.mark.parametrize(
    ("question", "change"),
    [
        ("How large is the KV cache of llama 3.1 8b and of 70b?", {"model": LLAMA_70B}),
        ("How large is the KV cache of llama 3.1 8b in bf16 and in fp8?", {"cache": Format.FP8}),
    ],
)
def test_each_thing_that_a_cache_is_asked_of_is_compared(question: str, change: dict[str, object]) -> None:
    heard = hear(question, [], KNOWN)
    assert heard
    assert heard.asked.others == (replace(heard.asked.workload, **change),)  # type: ignore[arg-type]


def test_a_later_turn_may_adapt_other_matrices_at_another_rank() -> None:
    turns = ["Memory of LoRA of rank 16 on q, k, v, o, gate, up and down for llama 3.1 8b?", "and on q and v only?", "r=64?"]
    works = [workload(*turns[:n]) for n in (1, 2, 3)]
    assert [(work.lora_targets, work.lora_rank) for work in works] == [(frozenset({"q", "k", "v", "o", "gate", "up", "down"}), 16), (frozenset({"q", "v"}), 16), (frozenset({"q", "v"}), 64)]


@pytest.mark.parametrize(
    ("turns", "goal"),
    [
        (("How long does Llama 3.1 70B need to write 1,000 tokens on p5.48xlarge?",), Goal.THROUGHPUT),
        (("Which is faster for llama 3.1 8b: g6.xlarge or g5.xlarge?",), Goal.THROUGHPUT),
        (("How many users can I serve with Llama 3.1 70B on a p5.48xlarge?", "and the longest context for 16 users?"), Goal.LONGEST),
    ],
)
def test_words_that_leave_no_doubt_decide_what_is_asked(turns: tuple[str, ...], goal: Goal) -> None:
    asked = read(*turns)
    assert asked
    assert asked.goal is goal


def test_a_release_that_is_named_is_taken() -> None:
    known = replace(KNOWN, models=("mistralai/Mistral-7B-v0.1", "mistralai/Mistral-7B-v0.3"))
    assert [read_question(f"KV cache of {name}", known).slots["model"] for name in ("Mistral 7B v0.1", "mistral-7b")] == list(known.models)


def test_a_line_of_chips_is_compared_with_an_accelerator() -> None:
    known = replace(KNOWN, types=KNOWN.types | {"trn1.2xlarge"})
    heard = hear("Does a 13B fit better on one H100 or on Trainium?", [], known)
    assert heard
    sides = [(work.accelerator, work.families, work.vendors) for work in (heard.asked.workload, *heard.asked.others)]
    assert sides == [("H100", frozenset(), frozenset()), (None, frozenset({"trn1", "trn1n", "trn2"}), frozenset())]


def test_the_largest_of_several_models_decides_between_machines() -> None:
    asked = read("Do our 7B and 13B models fit on one g5.xlarge or on one g6e.xlarge?")
    assert asked
    assert [(work.parameters, work.instance_type) for work in (asked.workload, *asked.others)] == [(13e9, "g5.xlarge"), (13e9, "g6e.xlarge")]


def test_a_bare_context_is_no_number_of_machines() -> None:
    assert workload("Does Llama 3.1 8B fit on a g5.xlarge?", "131072").instances is None


def test_two_values_of_a_slot_are_compared() -> None:
    asked = read("Which fits Llama 3.1 70B in fp8 better, one H200 or two H100?")
    assert asked is not None
    assert (asked.workload.accelerator, asked.workload.accelerators) == ("H200", 1)
    assert [(other.accelerator, other.accelerators) for other in asked.others] == [("H100", 2)]


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("will my model fit on an L4?", "my model"),
        ("does gpt-4 fit on an h100?", "gpt-4"),
        ("How much memory does Llama 3.1 need?", "llama 3.1"),
    ],
)
def test_a_model_that_is_not_known_or_could_be_several_is_named(question: str, unknown: str) -> None:
    asked = read(question)
    assert asked is not None
    assert (asked.unknown, asked.workload.model, asked.workload.parameters) == (unknown, None, None)


@given(st.text(max_size=300), st.lists(st.text(max_size=80), max_size=3))
@example("1b" * 150, ["70b " * 20, "will 7b fit on l4"])
def test_reading_never_fails(question: str, earlier: list[str]) -> None:
    read(*earlier, question)


@pytest.mark.parametrize("piece", one_of(4, ["a", "7", "1,", "70b ", "4x ", "h100 ", "- ", "no ", "llama ", "$5 ", "24 gb ", "per ", "g5.", "| "]))
def test_reading_is_linear_in_the_length(piece: str) -> None:
    def seconds(length: int) -> float:
        text = (piece * length)[:length]
        began = time.process_time()
        for turn in range(3):
            read(f"{turn} {text}")
        return time.process_time() - began

    seconds(100)
    assert seconds(1_900) < 60 * max(seconds(190), 0.002)


WEIGHTS = {Format.BF16: "in bf16", Format.INT8: "in 8 bits", Format.INT4: "quantized to 4 bits", Format.FP8: "in fp8", Format.AWQ: "with AWQ"}
REGIONS = {"eu-north-1": "in Stockholm", "eu-west-1": "in Ireland", "us-west-2": "in us-west-2"}


@settings(deadline=None)
@given(
    st.sampled_from([LLAMA_8B, LLAMA_70B, MIXTRAL, QWEN, 7e9, 13e9, 1.5e9]),
    st.none() | st.sampled_from(sorted(WEIGHTS)),
    st.none() | st.sampled_from([2_048, 4_096, 16_384, 131_072]),
    st.none() | st.integers(2, 500),
    st.none() | st.integers(1, 99),
    st.none() | st.sampled_from(sorted(REGIONS)),
)
def test_a_workload_that_is_written_out_is_read_back(
    model: str | float, weights: Format | None, context: int | None, users: int | None, budget: int | None, region: str | None
) -> None:  # fmt: skip
    named = model.split("/")[1] if isinstance(model, str) else f"a {model / 1e9:g}B model"
    parts = [
        f"Which is the cheapest instance to serve {named}",
        WEIGHTS[weights] if weights else "",
        f"with {context} tokens of context" if context else "",
        f"for {users} users" if users else "",
        f"under ${budget} an hour" if budget else "",
        REGIONS[region] if region else "",
    ]
    expected = Workload(
        model=model if isinstance(model, str) else None,
        parameters=None if isinstance(model, str) else model,
        task=Task.SERVE, weights=weights, context=context, sequences=users, budget_per_hour=budget, region=region,
    )  # fmt: skip
    assert workload(" ".join(part for part in parts if part) + "?") == expected


@pytest.mark.parametrize(
    ("question", "hours"),
    [
        ("g5.xlarge 8 hours each workday, monthly bill?", 8 * 5 / 7 * 730 / 24),
        ("Monday to Friday, 10 hours a day, 21 such days a month: what does a g5.xlarge cost per month?", 210),
        ("a g5.xlarge 60 hours a week, 52 weeks a year", 3120),
        ("two g5.xlarge, 8 hours a day on 30 days", 240),
        ("a g5.xlarge 2 hours a day, 20 school days a month, 10 months", 400),
        ("21 days of 10 hours a month on g5.xlarge", 210),
        ("office hours only (8 h × 250 d), g5.xlarge", 2000),
        ("g5.xlarge 10 hours a day, 5 days a week for 4 weeks", 200),
        ("g5.xlarge 24 hours a day, 7 days a week", 730),
        ("g5.xlarge 10 hours a day, cost a year", 3650),
        ("g5.xlarge for a quarter", 2190),
        ("6 hours on weekends on g5.xlarge", 6 * 2 / 7 * 730 / 24),
        ("price of g5.xlarge per hour", None),
        ("every night from 10 pm till 4 am on one g5.xlarge, weekends included, a 30-day month", 180),
        ("hackathon sat + sun, 9am to 9pm both days, on a g5.xlarge", 24),
        ("g5.xlarge, Mon 00:00 to Fri 24:00, off at weekends, 52 weeks", 6240),
        ("g5.xlarge from friday 8pm to monday 8am", 60),
        ("on during workdays, 12 h a day, 21 workdays, g5.xlarge", 252),
        ("g5.xlarge 50 hours of the 168 in a week", 50 * 730 / 168),
        ("g5.xlarge up 24/7 except weekends, monthly?", 5 / 7 * 730),
        ("a g5.xlarge that nobody ever switches off", 730),
        ("a month of g5.xlarge, and we kill it on Saturdays and Sundays", 5 / 7 * 730),
        ("my job ran 5h20 on a g5.xlarge", 16 / 3),
        ("killed the g5.xlarge after three quarters of an hour", 0.75),
        ("g5.xlarge를 한 달 내내", 730),
        ("g5.xlargeを丸一週間", 168),
        ("g5.xlarge for a weekend", 48),
        ("g5.xlarge for the whole of november", 720),
    ],
)
def test_a_schedule_is_so_many_hours(question: str, hours: float | None) -> None:
    assert read_question(question, KNOWN).slots.get("hours") == (hours and pytest.approx(hours))


@pytest.mark.parametrize(
    ("question", "slots"),
    [
        ("Mixtral 8x22B in fp16 on 48 GB L40S", {"accelerator": "L40S", "accelerator_memory_gb": 48.0}),
        ("1B tokens, 3 epochs, mfu .4", {"tokens": 3e9, "mfu": 0.4}),
        ("half a billion tokens at 35% of peak", {"tokens": 5e8, "mfu": 0.35}),
        ("60.000 millones de tokens", {"tokens": 6e10}),
        ("100亿token", {"tokens": 1e10}),
        ("fine-tune on 12.4M rows x 512 tok, 3 epochs", {"tokens": 12.4e6 * 512 * 3}),
        ("40% of 989 TF", {"tflops": 989.0, "mfu": 0.4}),
        ("400 TFLOP/s really achieved per gpu", {"tflops": 400.0, "mfu": 1.0}),
        ("the chip does 820 GB/s", {"bandwidth_gbps": 820.0}),
        ("our utilisation is a sad 35%", {"load": 0.35}),
        ("4 x L40S that idle 60% of the time", {"load": 0.4}),
        ("the budget is cut to 50k a month", {"budget_per_month": 50_000.0}),
        ("le budget est de 10 000 $", {"budget": 10_000.0}),
        ("10 grand a month", {"budget_per_month": 10_000.0}),
        ("una g5.xlarge a 6,88 $/h", {"budget_per_hour": None}),
        ("27 teams, every team gets a g5.xlarge", {"instance_type": "g5.xlarge", "instances": 27, "sequences": None}),
        ("the three always-running g5.xlarge", {"instance_type": "g5.xlarge", "instances": 3}),
        ("one p5en.48 or two", {"instance_type": "p5en.48xlarge", "instances": 1}),
        ("the baby g5", {"instance_type": "g5.xlarge"}),
        ("two p4d", {"instance_type": "p4d.24xlarge", "instances": 2}),
        ("the biggest llama, the one with 405 billion", {"model": LLAMA_405B}),
        ("depseek r1", {"model": "deepseek-ai/DeepSeek-R1"}),
        ("8 gpus, each w/ at least 80 gigs", {"accelerators": 8, "accelerator_memory_gb": 80.0}),
        ("lora on q_proj and v_proj of llama 3.1 8b", {"lora_targets": frozenset({"q", "v"})}),
        ("how many days does a 13b model need for 300B tokens on 64 A100s", {"tokens": 300e9}),
        ("fine-tune on 100,000,000 tokens", {"tokens": 1e8, "context": None}),
        ("what do 4 g5.xlarge cost for 36,000 seconds", {"hours": 10.0}),
        ("30 seconds of audio, 2 s per page, an hour of delay is fine", {"hours": None}),
        ("LoRA on q,k,v,o,gate,up,down", {"lora_targets": frozenset({"q", "k", "v", "o", "gate", "up", "down"})}),
        ("LoRA on the query and value projections", {"lora_targets": frozenset({"q", "v"})}),
        ("DoRA of rank 8 on q, v, and o", {"task": Task.LORA, "lora_rank": 8, "lora_targets": frozenset({"q", "v", "o"})}),
        ("LoRA of a model with 8 key and value heads, scaled up and down", {"lora_targets": None}),
        ("llama 3.1 8b reads 5,000 docs a night for 20k requests per day", {"sequences": None}),
        ("we are a 4 person startup, six variants of a 7B", {"sequences": None, "parameters": 7e9}),
        ("we're three people with 12 users at once", {"sequences": 12}),
        ("25k in AWS Activate credits for a 3B, what is left of the 3k", {"context": None, "parameters": 3e9}),
        ("a 13B trained on 2B click events", {"parameters": 13e9}),
        ("a cluster for 2B click events", {"parameters": None}),
        ("--max-model-len 16384, llama 3.1 8b", {"context": 16_384}),
        ("max_model_len is the default, 131072 i guess", {"context": 131_072}),
        ("we serve a llama 3.1 8b finetune on g5.xlarge", {"task": Task.SERVE}),
        ("we serve chat and want to finetune llama 3.1 8b", {"task": Task.FULL}),
    ],
)
def test_amounts_are_read_as_they_are_meant(question: str, slots: dict[str, object]) -> None:
    read = read_question(question, KNOWN).slots
    assert {slot: read.get(slot) for slot in slots} == slots


@pytest.mark.parametrize(
    ("question", "load"),
    [
        ("g6.xlarge with the L4 fully busy for 24 hours, how many kWh?", 1.0),
        ("How much electricity does a g6e.xlarge use at full GPU load?", 1.0),
        ("Wie viel Strom braucht eine g6.xlarge unter Volllast?", 1.0),
        ("energy of a p5.48xlarge that is busy half the time, in a month", 0.5),
        ("8 H100s at a utilisation of 60%: how many kWh a day?", 0.6),
        ("kWh of two idle H200 over 3 days?", 0.0),
        ("Which energy does a g5.xlarge use that sits idle for 2 days?", 0.0),
    ],
)
def test_a_load_may_be_said_in_words(question: str, load: float) -> None:
    assert read_question(question, KNOWN).slots["load"] == load


@pytest.mark.parametrize(
    ("question", "hours"),
    [
        ("g5.xlarge, up 9 to 5, mon-fri: monthly cost?", MONTH_HOURS * 40 / 168),
        ("g5.xlarge from 8am to 6pm every day, per month?", MONTH_HOURS * 10 / 24),
        ("g5.xlarge werktags von 8 bis 18 Uhr, was kostet das im Monat?", MONTH_HOURS * 50 / 168),
        ("Was verbrauchen 16 H100 an einem Tag?", 24),
        ("What does a g5.xlarge cost an hour, 8 to 16 of them?", None),
    ],
)
def test_hours_of_the_clock_are_a_schedule(question: str, hours: float | None) -> None:
    assert read_question(question, KNOWN).slots.get("hours") == (pytest.approx(hours) if hours else None)


@pytest.mark.parametrize(
    ("question", "weights", "cache"),
    [
        ("llama 70b (3.1) fp8 weights, 64 users each w/ 16k tokens, bf16 kv: how many H100?", Format.FP8, Format.BF16),
        ("memory of Llama 3.1 8B in int8, KV kept in 16-bit", Format.INT8, Format.BF16),
        ("kv cache quantised to fp8 for Llama 3.1 8B, int4 weights: memory?", Format.INT4, Format.FP8),
        ("Llama 3.1 8B in bf16 with 8 kv heads", Format.BF16, None),
    ],
)
def test_weights_and_cache_have_formats_of_their_own(question: str, weights: Format, cache: Format | None) -> None:
    said = read_question(question, KNOWN)
    assert (said.slots["weights"], said.slots.get("cache"), said.several.get("weights")) == (weights, cache, None)


def test_a_version_may_follow_the_size_and_tokens_a_slash() -> None:
    slots = read_question("llama 70b (3.1), 64 users each w/ 16k tokens", KNOWN).slots
    assert (slots["model"], slots["sequences"], slots["context"]) == (LLAMA_70B, 64, 16_384)


@pytest.mark.parametrize(
    ("question", "weights", "cache"),
    [
        ("The KV cache of Llama 3.1 8B at 32k in int4", None, Format.INT4),
        ("The KV cache of Llama 3.1 8B at 32k in fp8", None, Format.FP8),
        ("How large is the KV cache of a 4-bit Llama 3.1 8B at 32k?", Format.INT4, None),
        ("How large is the KV cache for an fp8 Llama 3.1 8B at 32k?", Format.FP8, None),
    ],
)
def test_a_format_is_that_of_the_cache_unless_it_describes_the_model(question: str, weights: Format | None, cache: Format | None) -> None:
    asked = workload(question)
    assert (asked.weights, asked.cache) == (weights, cache)


def test_master_weights_are_the_optimizers() -> None:
    slots = read_question("8-bit Adam keeping fp32 master weights for 7B: memory?", KNOWN).slots
    assert (slots["optimizer"], slots.get("weights")) == (Optimizer.ADAM_8BIT, None)


def test_a_line_in_short_is_all_its_families() -> None:
    slots = read_question("cheapest g6 or p4 machine for Llama 3.1 8B, no g5?", KNOWN).slots
    assert (slots["families"], slots["without"]) == ({"g6", "p4d"}, {"g5"})


@pytest.mark.parametrize(
    ("turns", "goal", "changes"),
    [
        (("Decode bound of Llama 3.1 8B in bf16 on an H100?", "And with the weights in int8?"), Goal.THROUGHPUT, {"weights": Format.INT8}),
        (("kv cache per token of Llama 3.1 8B, bf16 cache?", "and if I switch the cache to fp8?"), Goal.MEMORY, {"cache": Format.FP8}),
        (("I'm renting p5en.48xlarge machines.", "Four of them.", "For ten days straight. What will the bill be?"), Goal.COST, {"instance_type": "p5en.48xlarge", "instances": 4, "hours": 240}),
    ],
)  # fmt: skip
def test_turns_add_to_what_was_said(turns: tuple[str, ...], goal: Goal, changes: dict[str, object]) -> None:
    asked = read(*turns)
    assert asked is not None
    assert (asked.goal, {slot: getattr(asked.workload, slot) for slot in changes}) == (goal, changes)


@pytest.mark.parametrize("turns", [("I have a model.", "Will it fit?"), ("Will a model fit on an L4?",), ("How many H100s does the model need?",)])
def test_a_model_without_a_size_is_asked_for(turns: tuple[str, ...]) -> None:
    asked = read(*turns)
    assert asked is not None
    assert asked.unknown == "the model"


def test_my_model_is_the_one_of_the_turns_before() -> None:
    asked = read("Will 8b in bf16 fit on an L4?", "and does my model fit on an A10G?")
    assert asked is not None
    assert (asked.unknown, asked.workload.parameters, asked.workload.accelerator) == (None, 8e9, "A10G")


def test_a_follow_up_may_mean_half_the_hours() -> None:
    assert workload("monthly cost of a g5.xlarge?", "now only half the hours", "times three machines") == Workload(
        instance_type="g5.xlarge", instances=3, hours=365.0
    )
