"""A small sample of the question campaigns; `benchmarks/campaign/` runs them in full."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.campaign import cold, fuzz, growth, patterns
from chatbot import Chatbot
from tests.marks import left_to_evaluation

# Functions that process every question, answer or exam file.
FUNCTIONS = [
    "question.asked_quantity.counted",
    "question.asked_quantity.asked_dimensions",
    "verification.citations.bare",
    "language.wording.plain",
    "language.wording.label_of",
    "exam.gift.looks_like_gift",
    "exam.asking.text_put_back",
    "exam.text_forms.read_text",
    "exam_reader.entailment.denied",
    "verification.fit.is_fit",
    "verification.marks.marked_sentences",
    "language.quantities.quantities",
]
KINDS = ["letters", "digits", "brackets", "dots", "dashes", "tables", "quotes", "chinese", "spaces", "lines"]


@pytest.fixture(scope="module")
def calls(bot: Chatbot) -> dict[str, growth.Call]:
    return {call.name: call for call in growth.public_functions(bot.index)}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_time_grows_no_faster_than_text(calls: dict[str, growth.Call], function: str) -> None:
    found = [growth.growth(calls[function], kind, longest=12_000) for kind in KINDS]
    assert [str(one) for one in found if not one.is_linear] == []


def test_a_function_whose_time_grows_with_the_square_is_told() -> None:
    def square(text: str) -> int:
        return sum(1 for _ in text for _ in text[: len(text)])

    assert not growth.growth(growth.Call("square", square), "letters", longest=4_000).is_linear


def test_a_call_that_does_not_end_is_stopped_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(text: str) -> None:
        while True:
            pass

    monkeypatch.setattr(growth, "CAP", 0.05)
    assert growth.growth(growth.Call("endless", endless), "letters", longest=64).error == "stopped at 1 characters"


@pytest.mark.parametrize(
    "turns",
    [
        ["What is the difference between saving \\checkpoints and \\1 accumulating gradients?"],
        *left_to_evaluation(
            ["Is \\dense L4 or \\2 L40S cheaper?", "And of the two, which draws more, the second one?"],
            ["Which fits?\nA. P5 for \\training. Inf2 for \\gusts of load.\nB. Spot Instances for everything that ever runs at all."],
        ),
    ],
)
def test_backslashes_of_a_question_are_no_template(bot: Chatbot, turns: list[str]) -> None:
    assert wrong_with(bot, turns) == []


def wrong_with(bot: Chatbot, turns: Sequence[str]) -> list[str]:
    """What the campaign finds wrong, except time limits: here an answer may include the loading of a model."""
    return [wrong for wrong in fuzz.asked(bot, turns) if "of the processor" not in wrong]


@pytest.mark.evaluation
def test_no_pattern_of_the_question_goes_on_and_on() -> None:
    found = {place: one for place, one in patterns.patterns() if place.startswith("chatbot.question.")}
    assert len(found) > 10
    assert {place for place, one in found.items() if patterns.slowest(one)[0] > patterns.SECONDS} == set()


def test_a_pattern_that_cuts_dashes_in_countless_ways_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "SECONDS", 0.2)
    seconds, text = patterns.slowest(re.compile(r"\bwhat\b(?:\W+[\w-]+){0,4}?\W+chips\b"))
    assert (seconds, text[:6]) == (2 * patterns.SECONDS, "what -")


@pytest.mark.parametrize("number", [3, 7, *left_to_evaluation(17)])
def test_mutated_questions_are_answered_or_refused_in_a_sentence(bot: Chatbot, number: int) -> None:
    assert wrong_with(bot, fuzz.mutated(number, 1, fuzz.seeds())) == []


def test_a_question_that_raises_alone_as_well_as_together_fails_the_campaign(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cold, "in_a_new_process", lambda index, asked, threads: [f"{cold.RAISED}KeyError()"] * len(asked))
    monkeypatch.setattr("sys.argv", ["cold.py", "--starts", "1", "--questions", "2"])
    assert cold.main() == 1


@pytest.mark.evaluation
def test_a_cold_process_answers_many_threads_as_a_warm_one_does(bot: Chatbot, corpus_index: Path) -> None:
    questions = cold.drawn(4, seed=1)
    assert cold.in_a_new_process(corpus_index, questions, threads=4) == [bot.ask(q).text for q in questions]
