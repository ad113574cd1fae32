"""Follow-up questions are completed from earlier turns, only with what they refer to."""

import pytest

from chatbot.answer import Turn
from chatbot.question.followup import condense, stands_alone
from chatbot.question.query import Query

SIZES = {
    "trn1": ["trn1.2xlarge", "trn1.32xlarge"],
    "inf2": ["inf2.xlarge", "inf2.8xlarge", "inf2.24xlarge", "inf2.48xlarge"],
}
TRN = Turn("How many vCPUs has trn1.32xlarge?", "The trn1.32xlarge has 128 vCPUs [1].")
L4 = Turn("Tell me about the NVIDIA L4.", "The NVIDIA L4 has 24 GB of memory and a TDP of 72 W [1].")
SERIES = Turn(
    "Which EC2 series is the most energy-efficient for LLM training?",
    "Use Trn1: Trn1 instances offer the best performance per watt [1].",
)
TRAINING = Turn(
    "What should I use to train a 200B model on AWS?",
    "Use Trainium: Trn1 instances are built for models of 100B+ parameters [1].",
)
RIVAL = Turn("What is AMD's competitor to the H100?", "The AMD MI300X competes with the H100 [1].")
SPOT = Turn("What do spot instances save?", "Spot instances save 60 to 90 % [1].")
BERT = Turn("How long did BERT Large take to train on Trainium?", "Training took 2.3 hours [1].")
LAYOUT = Turn(
    "Which instances did AWS use for the LayoutLM experiment?", "AWS used Inf1 instances with Inferentia [1]."
)
NEURON = Turn("What is AWS Neuron?", "AWS Neuron is the SDK for Trainium and Inferentia [1].")
GPUS = Turn("Which GPUs suit a 20B model?", "The L40S and RTX 6000 Ada suit models of 7B to 30B [1].")
P5 = Turn("How many GPUs does p5.48xlarge have?", "p5.48xlarge has 8 H100 GPUs [1].")


def completed(question: str, *history: Turn) -> str:
    return condense(question, history, lambda family: SIZES.get(family.lower(), []))


@pytest.mark.parametrize(
    ("turn", "question", "standalone"),
    [
        (
            Turn("What hardware fits training a 7B model?", "The L40S [1]."),
            "same but 70B",
            "What hardware fits training a 70B model?",
        ),
        (SPOT, "and reserved instances?", "What do reserved instances save?"),
        (
            Turn("How much time did BERT Large need on Trn1?", "2.3 hours [1]."),
            "And on the other cluster?",
            "How much time did BERT Large need on the other cluster?",
        ),
    ],
)
def test_a_part_of_a_question_takes_the_place_of_its_like(turn: Turn, question: str, standalone: str) -> None:
    assert completed(question, turn) == standalone


@pytest.mark.parametrize(
    ("turn", "question", "standalone"),
    [
        (TRN, "no, I meant Inf2", "How many vCPUs has Inf2?"),
        (TRN, "sorry, I mean trn1.2xlarge", "How many vCPUs has trn1.2xlarge?"),
        (
            Turn("How many watts does a Trainium chip draw?", "The sources do not say."),
            "Pity. Then at least the H100.",
            "How many watts does a H100 draw?",
        ),
    ],
)
def test_a_correction_replaces_what_was_said(turn: Turn, question: str, standalone: str) -> None:
    assert completed(question, turn) == standalone


@pytest.mark.parametrize(
    ("turn", "question", "standalone"),
    [
        (TRN, "thanks! and the network?", "What is the network of trn1.32xlarge?"),
        (P5, "price?", "What is the price of p5.48xlarge?"),
        (
            Turn("Tell me about the Cerebras WSE-3.", "It is as large as a wafer [1]."),
            "how many cores?",
            "How many cores for Cerebras WSE-3?",
        ),
    ],
)
def test_a_property_is_of_what_was_spoken_of(turn: Turn, question: str, standalone: str) -> None:
    assert completed(question, turn) == standalone


@pytest.mark.parametrize(
    ("turn", "question", "standalone"),
    [
        (RIVAL, "How much memory does it have?", "How much memory does MI300X have?"),
        (NEURON, "With which frameworks does it get along?", "With which frameworks does AWS Neuron get along?"),
        (
            SPOT,
            "How do I avoid losing my work when they are taken away?",
            "How do I avoid losing my work when spot instances are taken away?",
        ),
        (
            Turn("What is the formula for SCI?", "SCI = (E * I) + M [1]."),
            "How can good hardware bring the M in it down?",
            "How can good hardware bring the M in the formula for SCI down?",
        ),
    ],
)
def test_a_pronoun_means_what_the_question_sought_or_named(turn: Turn, question: str, standalone: str) -> None:
    assert completed(question, turn) == standalone


@pytest.mark.parametrize(
    ("turn", "question", "standalone"),
    [
        (TRN, "what about the smaller one?", "How many vCPUs has trn1.2xlarge?"),
    ],
)
def test_another_size_is_of_the_family_that_was_named(turn: Turn, question: str, standalone: str) -> None:
    assert completed(question, turn) == standalone


@pytest.mark.parametrize(
    ("turn", "question", "standalone"),
    [
        (
            SERIES,
            "why not the P one?",
            "Which EC2 series is the most energy-efficient for LLM training, and why not the P one?",
        ),
        (SPOT, "why?", "What do spot instances save, and why?"),
    ],
)
def test_a_reason_is_asked_of_what_was_answered(turn: Turn, question: str, standalone: str) -> None:
    assert completed(question, turn) == standalone


@pytest.mark.parametrize(
    ("turn", "question", "standalone"),
    [
        (
            Turn("What should I take for low-latency inference?", "The L4 [1]."),
            "And at the edge?",
            "What should I take for low-latency inference at the edge?",
        ),
    ],
)
def test_a_condition_goes_with_the_last_question(turn: Turn, question: str, standalone: str) -> None:
    assert completed(question, turn) == standalone


@pytest.mark.parametrize(
    ("turn", "question"),
    [
        (TRN, "What is PUE?"),
        (TRAINING, "How do savings plans work?"),
        (TRN, "Which framework does the H100 need?"),
        (L4, "If I buy an H100, how much power does it draw?"),
        (L4, "We have a 13B model. How much memory does it need for LoRA?"),
        (SPOT, "How can I lower the carbon footprint of my training job?"),
        (L4, "is it possible to train on CPUs?"),
        (SERIES, "Should I use Kubernetes for scheduling training jobs?"),
        (TRN, "thanks"),
        (TRN, "?"),
    ],
)
def test_a_question_that_says_what_it_is_about_inherits_nothing(turn: Turn, question: str) -> None:
    assert completed(question, turn) == question


@pytest.mark.parametrize(
    ("turn", "question", "standalone"),
    [
        (L4, "thanks, what is gradient checkpointing?", "What is gradient checkpointing?"),
        (
            Turn("Give me a recipe for pancakes.", "The sources do not say."),
            "All right. Then what is the TPU v5p good for?",
            "What is the TPU v5p good for?",
        ),
    ],
)
def test_a_new_subject_loses_only_what_leads_it_in(turn: Turn, question: str, standalone: str) -> None:
    assert completed(question, turn) == standalone


@pytest.mark.parametrize(
    ("history", "question", "standalone"),
    [
        (
            [Turn("What does AMD have to compete with the H100?", "The AMD MI300X competes with the H100 [1].")],
            "how much memory does it have?",
            "How much memory does MI300X have?",
        ),
        ([L4, Turn("thanks!", "The sources do not say.")], "and its memory?", "What is the memory of L4?"),
        (
            [RIVAL, Turn("How much memory does it have?", "192 GB [1].")],
            "and the H100?",
            "How much memory does H100 have?",
        ),
    ],
)
def test_a_follow_up_of_a_follow_up_leans_on_the_whole_conversation(
    history: list[Turn], question: str, standalone: str
) -> None:
    assert completed(question, *history) == standalone


@pytest.mark.parametrize(
    ("asked", "question", "standalone"),
    [
        ("which is cheapest right now?", "spot instances?", "Which is cheapest right now, spot instances?"),
        ("Which is cheapest right now?", "spot instances?", "Which is cheapest right now, spot instances?"),
        ("How much is it per hour?", "and monthly?", "How much is it per hour, monthly?"),
        ("Which cards should I avoid?", "You mention old hardware. Do you mean these?", None),
    ],
)
def test_a_follow_up_of_a_question_without_a_subject_is_put_behind_it(asked: str, question: str, standalone: str | None) -> None:
    assert completed(question, Turn(asked, "It depends [1].")) == (standalone or question)


def test_a_question_without_history_is_left_as_it_is() -> None:
    assert completed("and for inference?") == "and for inference?"


@pytest.mark.parametrize("text", ["which " + "a " * 20_000, "what-" * 9_000, "what" + " " * 30_000 + "x"])
def test_a_very_long_text_is_no_follow_up_and_costs_no_time(text: str) -> None:
    assert completed(text, L4) == text
    assert completed("and its memory?", L4, Turn(text, "The sources do not say."))


@pytest.mark.parametrize(
    ("question", "core"),
    [
        ("What is Trainium? Please explain.", "What is Trainium?"),
        ("Hi there. We train on P4d.", "We train on P4d."),
        ("We train on P4d. Explain gradient checkpointing.", "We train on P4d. Explain gradient checkpointing."),
        ("We train on P4d. Just which instance is cheapest?", "We train on P4d. Just which instance is cheapest?"),
    ],
)
def test_what_is_asked_politely_is_still_asked(question: str, core: str) -> None:
    assert Query(question, question).core == core


@pytest.mark.parametrize(
    "question",
    [
        "How many Trainium chips are in a trn1.32xlarge?", "What does a p5.48xlarge cost in Ohio?", "Does Trn1 support FP8?", "What is the memory bandwidth of an L4?",
        "how much memory does an H100 have", "Which instances have an A100?", "What is a trn1.2xlarge?", "How much is a g6.xlarge per month with a 3-year plan?",
    ],
)  # fmt: skip
def test_a_question_about_hardware_that_it_names_stands_alone(question: str) -> None:
    assert stands_alone(question)


@pytest.mark.parametrize(
    "question",
    [
        "and for the H100?", "Would a g5.xlarge do?", "Is an H100 cheaper?", "What about a p5.48xlarge?", "How many H100 do I need?", "Does it have an A100?", "What does that cost on a p5?",
        "Can a g5.xlarge handle 100 users?", "Is a p4d enough?", "the second one?", "How does Trainium compare to the other?", "What is the price?", "L4?", "And what does an L4 cost?",
        "Does a g5.xlarge fit?", "How many H100 hold the model?", "Is inf2 faster then?", "why not an L40S?", "How much is the bigger one of the p5?",
    ],
)  # fmt: skip
def test_a_question_that_may_lean_on_an_earlier_turn_does_not_stand_alone(question: str) -> None:
    assert not stands_alone(question)
