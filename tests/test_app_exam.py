"""The Exam page in each of its states, without a browser."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app_pages import html, listening, press, started

QUESTIONS = [
    {
        "id": "one",
        "question": "Which chip is built for <b>serving</b> predictions?",
        "options": ["AWS Trainium", "AWS Inferentia"],
        "answer": [1],
        "explanation": "Inferentia serves; $x$ stays text.",
        "topic": "chips",
    },
    {
        "id": "two",
        "question": "Which instances hold AWS Inferentia? (Choose two.)",
        "options": ["Inf1", "P4d", "Inf2"],
        "answer": [0, 2],
        "topic": "instances",
    },
]


@pytest.fixture
def page(corpus_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    (tmp_path / "bank.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)))
    monkeypatch.setenv("WATTWISE_INDEX", str(corpus_index))
    monkeypatch.setenv("WATTWISE_APP_EXAMS", str(tmp_path))
    with listening("127.0.0.1"):
        yield started("exam")


def test_a_question_is_shown_with_its_options(page: AppTest) -> None:
    assert "Which chip is built for &lt;b&gt;serving&lt;/b&gt; predictions?" in html(page)
    assert page.radio[0].options == ["A. AWS Trainium", "B. AWS Inferentia"]
    assert next(button for button in page.button if button.label == "Check").disabled
    assert not page.exception


@pytest.mark.parametrize(("choice", "right"), [(1, True), (0, False)])
def test_a_choice_gets_its_verdict_with_evidence(page: AppTest, choice: int, right: bool) -> None:
    page.radio[0].set_value(choice).run()
    press(page, "Check")
    assert [e.value for e in page.success] == (["Right: B."] if right else [])
    assert [e.value for e in page.error] == ([] if right else ["Not right. The exam's key is B."])
    shown = html(page)
    assert "Inferentia serves; $x$ stays text." in shown
    assert "What the sources say" in shown
    assert '<details class="ww-card">' in shown


def test_another_click_does_not_ask_the_model_again(page: AppTest) -> None:
    page.radio[0].set_value(1).run()
    press(page, "Check")
    asked, answer = page.session_state["practise-answer"]
    page.run()
    assert "What the sources say" in html(page)
    assert page.session_state["practise-answer"] == (asked, answer)


def test_several_right_options_are_chosen_together(page: AppTest) -> None:
    press(page, "Next question")
    assert "Choose 2." in [caption.value for caption in page.caption]
    page.checkbox[0].check()
    page.checkbox[2].check().run()
    press(page, "Check")
    assert [e.value for e in page.success] == ["Right: A, C."]


def test_the_score_counts_the_first_choice_and_another_hides_its_verdict(page: AppTest) -> None:
    page.radio[0].set_value(0).run()
    press(page, "Check")
    assert " · 0 of 1 right" in html(page)
    page.radio[0].set_value(1).run()
    assert (len(page.success), len(page.error)) == (0, 0)
    press(page, "Check")
    assert " · 0 of 1 right" in html(page)


def test_an_exam_file_of_ones_own_takes_the_place_of_the_bank_and_its_key_is_told_as_its_own(page: AppTest) -> None:
    text = b"1. Which AWS chip is built for inference?\n   A. Trainium\n   B. Inferentia\n   Answer: A\n"
    page.file_uploader[0].upload("own.txt", text).run()
    assert "Which AWS chip is built for inference?" in html(page)
    assert page.radio[0].options == ["A. Trainium", "B. Inferentia"]
    page.radio[0].set_value(0).run()
    press(page, "Check")
    assert "The sources speak for B, the exam file gives A as its key" in html(page)


def test_a_run_ends_with_a_report_and_its_downloads(page: AppTest) -> None:
    page.segmented_control[0].set_value("Evaluate").run()
    press(page, "Start")
    (report,) = page.get("iframe")
    assert "2 questions" in report.proto.srcdoc
    assert "retrieval only" in report.proto.srcdoc
    assert [b.label for b in page.get("download_button")] == ["Report", "Results", "JUnit"]
    assert not page.exception


def test_a_run_of_some_questions_was_not_stopped_though_more_are_wanted_next(page: AppTest) -> None:
    page.segmented_control[0].set_value("Evaluate").run()
    page.number_input[0].set_value(1).run()
    press(page, "Start")
    page.number_input[0].set_value(2).run()
    assert len(page.get("iframe")) == 1
    assert not [caption for caption in page.caption if caption.value.startswith("Stopped")]


def test_a_file_without_questions_is_said(page: AppTest) -> None:
    page.file_uploader[0].upload("own.txt", b"Nothing to ask.").run()
    assert len(page.error) == 1
    assert not page.exception


def test_beyond_loopback_nobody_starts_a_run(page: AppTest) -> None:
    with listening("0.0.0.0"):
        page.run()
    assert page.segmented_control[0].options == ["Practise"]


def test_without_a_bank_a_file_is_asked_for(
    corpus_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATTWISE_INDEX", str(corpus_index))
    monkeypatch.setenv("WATTWISE_APP_EXAMS", str(tmp_path / "none"))
    assert "Add a file of questions to begin." in [caption.value for caption in started("exam").caption]
