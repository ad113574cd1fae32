from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from chatbot import Chatbot
from chatbot.answer import Answer, ReaderError
from chatbot.exam import ExamQuestion, ask_question, ask_questions
from chatbot.exam.asking import graded, is_positional, order_of, put_back, text_put_back
from chatbot.exam.baselines import always_b, chance, closed_book, longest, picked, retrieval_only
from chatbot.exam.rates import Bin, Rate, Score, bins, expected_calibration_error, mcnemar
from chatbot.exam_reader import _likelihood

SPOT = ExamQuestion("spot", "Which option may lose its capacity?", ("On-Demand", "Spot", "Dedicated Hosts"), (1,))
TWO = ExamQuestion("two", "Which are chips?", ("Trainium", "Fargate", "Inferentia2", "S3"), (0, 2))


def answered(text: str, choices: tuple[str, ...] = (), **changes: Any) -> Answer:
    given = {"question": "q", "citations": (), "passages": (), "refused": False, "model": "m", "seconds": 0.5}
    return Answer(**{**given, "text": text, "choices": choices, **changes})


class Says:
    """A bot that gives or raises what it is told to, and records the questions."""

    def __init__(self, said: Answer | Exception) -> None:
        self.said = said
        self.asked: list[str] = []

    def ask(self, question: str, history: Any = ()) -> Answer:
        self.asked.append(question)
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


# --- letters and verdicts


def test_sets_are_graded_exactly_and_no_answer_is_not_wrong() -> None:
    assert graded(TWO, ("C", "A")) == ("right", "")
    assert graded(TWO, ("A",)) == ("wrong", "chose A instead of A, C")
    assert graded(TWO, ("A", "B", "C")) == ("wrong", "chose A, B, C instead of A, C")
    assert graded(TWO, ()) == ("no answer", "it chose nothing")


def test_a_question_is_put_as_users_paste_it_and_says_how_many_are_wanted() -> None:
    bot = Says(answered("Both [1].", ("A", "C")))
    result = ask_question(bot, TWO)
    assert bot.asked == ["Which are chips? (Choose two.)\nA. Trainium\nB. Fargate\nC. Inferentia2\nD. S3"]
    assert (result.verdict, result.chosen, result.seconds) == ("right", ("A", "C"), 0.5)


@pytest.mark.parametrize(
    ("said", "verdict", "reason"),
    [
        (answered("x", ("A",)), "wrong", "chose A instead of B"),
        (answered("x", ("B",), refused=True), "no answer", "it said that the sources do not decide"),
        (answered("x", ("B",), notice="The model cannot be reached."), "error", "The model cannot be reached."),
        (ReaderError("No credentials."), "error", "No credentials."),
        (ZeroDivisionError(), "error", "Something went wrong inside wattwise. Run with WATTWISE_LOG=debug for the details."),
    ],
)  # fmt: skip
def test_errors_and_stand_ins_are_no_answers_of_the_model(said: Answer | Exception, verdict: str, reason: str) -> None:
    result = ask_question(Says(said), SPOT)
    assert (result.verdict, result.reason) == (verdict, reason)


# --- shuffling


def test_options_are_shuffled_by_seed_and_letters_put_back() -> None:
    order = order_of(TWO, 3)
    assert order == order_of(TWO, 3)
    assert sorted(order) == [0, 1, 2, 3]
    assert {order_of(TWO, seed) for seed in range(40)} != {(0, 1, 2, 3)}
    shown = "".join("ABCD"[order.index(place)] for place in TWO.answer)
    result = ask_question(Says(answered("Both [1].", tuple(shown))), TWO, shuffle=3)
    assert (result.verdict, result.chosen, result.order) == ("right", ("A", "C"), order)


def test_options_that_speak_of_others_by_place_stay_where_they_are() -> None:
    question = ExamQuestion("q", "Which?", ("Trn1", "Inf2", "Both A and B", "None of the above"), (2,))
    assert is_positional(question)
    assert order_of(question, 3) == (0, 1, 2, 3)
    assert not is_positional(SPOT)


def test_the_letters_of_an_answers_lines_are_put_back() -> None:
    text = "C: Spot may lose it [1].\n- A. Dedicated Hosts: no [2].\n- C. Spot: A spot may go [1].\nANSWER: C"
    assert text_put_back(text, (2, 0, 1)) == (
        "B: Spot may lose it [1].\n- B. Spot: A spot may go [1].\n- C. Dedicated Hosts: no [2].\nANSWER: B"
    )
    assert text_put_back(text, (0, 1, 2)) == text
    assert put_back(("C", "A"), (2, 0, 1)) == ("B", "C")


def test_the_offline_reader_answers_the_same_however_options_are_shuffled(bot: Chatbot) -> None:
    question = ExamQuestion(
        "q", "Which AWS chip is built for training large models?", ("AWS Inferentia", "AWS Trainium", "Graviton"), (1,)
    )
    results = [ask_question(bot, question, shuffle=seed) for seed in (None, 1, 2, 3)]
    assert {(r.verdict, r.chosen) for r in results} == {("right", ("B",))}
    assert {r.answer["choices"][0] for r in results if r.answer} == {"B"}
    assert all(c["exact"] for r in results if r.answer for c in r.answer["citations"])
    offered = {f"{letter}. {text}" for letter, text in zip("ABC", question.options, strict=True)}
    assert [{s["about"] for s in r.answer["statements"]} - {""} for r in results if r.answer] == [offered] * 4
    assert {r.answer["statements"][0]["text"].partition(":")[0] for r in results if r.answer} == {"B"}


# --- rates


def test_a_score_keeps_errors_apart_from_every_rate() -> None:
    score = Score(right=6, wrong=2, silent=2, errors=5)
    assert (score.asked, score.accuracy, score.coverage, score.precision) == (10, Rate(6, 10), Rate(8, 10), Rate(6, 8))


def test_mcnemar_by_hand() -> None:
    assert mcnemar(0, 5) == 2 / 32
    assert mcnemar(1, 5) == 2 * (1 + 6) / 64
    assert mcnemar(3, 3) == 1.0
    assert mcnemar(0, 0) == 1.0


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_is_wilsons(hits_of: tuple[int, int]) -> None:
    expected = stats.binomtest(*hits_of).proportion_ci(method="wilson")
    assert Rate(*hits_of).interval == pytest.approx((expected.low, expected.high), abs=1e-9)


# --- confidence


def test_what_speaks_for_options_says_how_likely_just_the_chosen_ones_are_right() -> None:
    even = [log(0.5), log(0.3), log(0.2)]
    assert _likelihood(even[:1], even) == pytest.approx(0.5)
    assert _likelihood(even[:2], even) == pytest.approx(0.15 / (0.15 + 0.1 + 0.06))


def test_bins_hold_each_answer_once_and_the_error_is_their_distance() -> None:
    answers = [(0.1, False), (0.15, True), (0.9, True), (1.0, True)]
    assert bins(answers, 2) == (Bin(0.0, 0.5, 0.125, Rate(1, 2)), Bin(0.5, 1.0, 0.95, Rate(2, 2)))
    assert expected_calibration_error(bins(answers, 2)) == pytest.approx((2 * 0.375 + 2 * 0.05) / 4)
    assert expected_calibration_error(bins([], 2)) == 0


# --- baselines


def test_chance_is_one_of_all_ways_to_pick() -> None:
    assert chance([SPOT, TWO]).expected == pytest.approx((1 / 3 + 1 / 6) / 2)


def test_habits_pick_as_many_options_as_are_right() -> None:
    assert [list(always_b(q)) for q in (SPOT, TWO)] == [[1], [1, 2]]
    assert [list(longest(q)) for q in (SPOT, TWO)] == [[2], [2, 0]]
    scored = picked("longest option", [SPOT, TWO], longest)
    assert (scored.score, scored.right) == (Score(1, 1, 0), frozenset({"two"}))


def test_retrieval_alone_picks_the_option_that_finds_the_best_passage(bot: Chatbot) -> None:
    question = ExamQuestion(
        "q", "How many Trainium chips has a trn1.32xlarge?", ("a purple teapot", "16 Trainium chips"), (1,)
    )
    assert list(retrieval_only(bot.index)(question)) == [1]


def test_closed_book_asks_the_model_without_passages_and_grades_its_last_line() -> None:
    prompts: list[str] = []

    def complete(prompt: str) -> str:
        prompts.append(prompt)
        if "chips" in prompt:
            raise ReaderError("The model is away.")
        return "I remember.\nANSWER: B"

    scored = closed_book([SPOT, TWO], complete)
    assert (scored.score, scored.right) == (Score(1, 0, 0, 1), frozenset({"spot"}))
    assert prompts[0].startswith(SPOT.prompt)


def test_without_a_model_closed_book_answers_nothing_and_says_so() -> None:
    scored = closed_book([SPOT, TWO], None)
    assert (scored.score, scored.note) == (Score(0, 0, 2), "the offline reader answers nothing without passages")


def test_results_come_one_by_one() -> None:
    bot = Says(answered("ANSWER: B"))
    results = ask_questions(bot, [SPOT, SPOT])
    next(results)
    assert len(bot.asked) == 1
