"""The learned intent of sizing questions: labels of unseen questions, and slots that need no list of nouns."""

import json
from pathlib import Path

import pytest

from chatbot.answer import Turn
from chatbot.sizing.asking import Asked
from chatbot.sizing.conversation import hear
from chatbot.sizing.goals import Goal
from chatbot.sizing.intent import COMPUTED, LABELS, probabilities
from chatbot.sizing.reading import read_question
from chatbot.sizing.reading.text import Known

LABELLED = Path(__file__).resolve().parents[1] / "benchmarks" / "labels" / "sizing"
KNOWN = Known(
    models=("meta-llama/Meta-Llama-3.1-8B", "meta-llama/Meta-Llama-3.1-70B", "Qwen/Qwen3-32B"),
    accelerators=("NVIDIA L4 GPU", "NVIDIA T4 GPU", "NVIDIA H100 GPU", "NVIDIA H200 GPU"),
    types=frozenset({"g5.xlarge", "g6.xlarge", "p5.48xlarge"}),
    regions=frozenset({"us-east-1", "eu-north-1"}),
)


def label(question: str) -> str:
    likely = probabilities(read_question(question, KNOWN), None)
    assert sum(likely.values()) == pytest.approx(1.0)
    return max(likely, key=lambda asked: likely[asked])


def read(*turns: str) -> Asked | None:
    heard = hear(turns[-1], [Turn(question, "") for question in turns[:-1]], KNOWN)
    return heard.asked if heard and heard.computed else None


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("our paralegals, nineteen of them, want Llama 3.1 70B in fp8 at 8k: which box do we book?", "cheapest"),
        ("Could one H200 cope with Llama 3.1 70B in fp8?", "fits"),
        ("number of L4 for Qwen3-32B in int4, please", "count"),
        ("ma quanto costa una g5.xlarge accesa tutto il mese?", "cost"),
        ("Wie viel CO2 stößt eine g6.xlarge in Stockholm im Jahr aus?", "carbon"),
        ("what would 40 hours of p5.48xlarge burn in kWh?", "energy"),
        ("with 700 dollars, for how many hours may a g6.xlarge run", "affordable"),
        ("how wide is the kv cache of Qwen3-32B for 3 threads of 32k", "kv_cache"),
        ("7B over 40B tokens on 8 H100 at 35% MFU, done after how many hours?", "training_time"),
        ("Why does quantization speed up decoding?", "document"),
        ("Which instances can be bought with a Savings Plan?", "document"),
    ],
)
def test_a_new_wording_is_given_its_label(question: str, asked: str) -> None:
    assert label(question) == asked


def test_every_labelled_wording_has_a_label_that_is_learned() -> None:
    lines = [json.loads(line) for file in sorted(LABELLED.glob("*.jsonl")) for line in file.read_text(encoding="utf-8").splitlines()]
    assert {line["asked"] for line in lines} == set(LABELS)
    assert set(COMPUTED) < set(LABELS)


@pytest.mark.parametrize(
    ("question", "sequences"),
    [
        ("Llama 3.1 8B in bf16 for 25 clinicians at 8k: memory?", 25),
        ("how many L4 for Llama 3.1 8B in fp8 when 32 staff use it with 4k each", 32),
        ("KV cache of Qwen3-32B, zehn Kollegen mit je 16k Kontext", 10),
        ("four partners at the same moment with 128k each on Llama 3.1 70B, memory?", 4),
        ("Qwen3-32B in fp8 + 10 x 64k: how many H200?", 10),
        ("memory of Llama 3.1 8B with 32 layers in bf16", None),
    ],
)
def test_who_is_served_is_counted_whatever_they_are_called(question: str, sequences: int | None) -> None:
    asked = read(question)
    assert asked is not None
    assert asked.workload.sequences == sequences


def test_a_difference_is_that_to_the_hardware_of_the_turn_before() -> None:
    asked = read("two g6.xlarge, cost per month?", "swap both for g5.xlarge, per month?", "so what's the difference per month")
    assert asked is not None
    assert (asked.goal, asked.workload.instance_type, asked.workload.instances) == (Goal.DIFFERENCE, "g5.xlarge", 2)
    assert [(other.instance_type, other.instances) for other in asked.others] == [("g6.xlarge", 2)]


def test_a_bare_name_asks_the_same_of_another_machine() -> None:
    asked = read("What does a g5.xlarge cost for 10 days?", "g6.xlarge?")
    assert asked is not None
    assert (asked.goal, asked.workload.instance_type, asked.workload.hours) == (Goal.COST, "g6.xlarge", 240)


def test_epochs_multiply_the_tokens_of_the_turn_before() -> None:
    asked = read("How long to train 8B on 1B tokens with 8 H100 at 40% MFU?", "and three epochs?")
    assert asked is not None
    assert (asked.goal, asked.workload.tokens) == (Goal.TIME, 3e9)


@pytest.mark.parametrize(
    ("turns", "goal", "slots"),
    [
        (("g5.xlarge at half load for 10 hours in Stockholm, CO2?", "100"), Goal.CARBON, {"hours": 100}),
        (("g5.xlarge at half load for 10 hours in Stockholm, CO2?", "two of them", "for 30 days, in Virginia"), Goal.CARBON, {"instances": 2, "hours": 720, "region": "us-east-1"}),
        (("g5.xlarge at 50% load for a day in Stockholm, CO2?", "75%?"), Goal.CARBON, {"load": 0.75, "instances": None}),
        (("¿Cuánto cuesta una p5.48xlarge durante 24 horas?", "¿y cuatro?"), Goal.COST, {"instances": 4, "hours": 24}),
        (("¿Cuánto cuesta una p5.48xlarge durante 24 horas?", "¿y 48?"), Goal.COST, {"instances": None, "hours": 48}),
        (("p5.48xlarge, 12,000 tokens/s in total, cost of 1M tokens?", "and at 20,000?"), Goal.TOKEN_COST, {"tokens_per_second": 20_000}),
        (("g6.xlarge at 600 tokens/s, dollars per million tokens?", "and a g5.xlarge with 900?"), Goal.TOKEN_COST, {"instance_type": "g5.xlarge", "tokens_per_second": 900}),
        (("What do 2 g5.xlarge cost for 8 hours a day, 20 days?", "12 hours a day"), Goal.COST, {"instances": 2, "hours": 240}),
    ],
)  # fmt: skip
def test_a_turn_of_slots_alone_changes_these_and_asks_the_same(turns: tuple[str, ...], goal: Goal, slots: dict[str, object]) -> None:
    asked = read(*turns)
    assert asked is not None
    assert asked.goal in (goal, Goal.COST) if goal is Goal.TOKEN_COST else asked.goal is goal
    assert {slot: getattr(asked.workload, slot) for slot in slots} == slots


@pytest.mark.parametrize("turn", ["and Grok 4?", "and our other model?", "Gemini 2.5 Flash?"])
def test_a_name_that_no_table_has_is_no_model_of_the_turns_before(turn: str) -> None:
    asked = read("Does Llama 3.1 8B in fp8 fit on an L4?", turn)
    assert asked is not None
    assert (asked.workload.model, asked.workload.accelerator) == (None, "L4")
    assert asked.unknown


def test_a_chatbot_without_a_size_is_asked_for() -> None:
    asked = read("cheapest instance for our chatbot?")
    assert asked is not None
    assert asked.unknown == "the model of our chatbot"
