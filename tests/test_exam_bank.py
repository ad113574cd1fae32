"""The question bank shipped with the corpus: every key is proved, keys are evenly spread, and guessing does not help."""

import json
from collections import Counter
from pathlib import Path

import pytest

from chatbot import Chatbot
from chatbot.exam import ExamQuestion, QuestionSet, read_questions
from chatbot.exam.baselines import chance, longest, picked
from chatbot.question.options import parse_options

BANK = Path(__file__).resolve().parents[1] / "corpus" / "exam"


@pytest.fixture(scope="module")
def bank() -> QuestionSet:
    if not BANK.is_dir():
        pytest.skip("corpus/exam is not here yet")
    return read_questions([BANK])


@pytest.fixture(scope="module")
def items(bank: QuestionSet) -> list[ExamQuestion]:
    return [q for q in bank if isinstance(q, ExamQuestion)]


def test_every_question_of_the_bank_can_be_asked(bank: QuestionSet) -> None:
    assert bank.skipped == ()
    assert len(bank) >= 150


def test_every_key_is_proved_by_words_of_the_corpus(bank: QuestionSet, bot: Chatbot) -> None:
    texts = {document.id: " ".join(document.text.split()) for document in bot.index.documents()}
    for line in [json.loads(line) for file in BANK.glob("*.jsonl") for line in file.read_text(encoding="utf-8").splitlines()]:
        quote = " ".join(line["proof"]["quote"].split())
        assert quote
        assert any(quote in text for name, text in texts.items() if f"/{name}".endswith(f"/{line['proof']['document']}")), line["id"]


def test_every_question_has_what_a_report_needs(items: list[ExamQuestion]) -> None:
    assert [q.id for q in items if not (q.topic and q.explanation and q.difficulty)] == []
    forms = Counter(q.form for q in items)
    assert min(forms["negated"], forms["several right options"]) >= 10


def test_the_bot_reads_every_question_as_it_is_meant(items: list[ExamQuestion]) -> None:
    for q in items:
        stem = parse_options(q.prompt)
        assert stem is not None
        assert (tuple(o.text for o in stem.options), stem.choose) == (tuple(" ".join(o.split()) for o in q.options), len(q.answer))  # fmt: skip


def test_letters_are_evenly_spread(items: list[ExamQuestion]) -> None:
    letters = Counter(q.letters[0] for q in items if len(q.answer) == 1 and len(q.options) == 4)
    assert set(letters) == set("ABCD")
    assert max(letters.values()) <= 1.25 * sum(letters.values()) / 4


def test_the_longest_option_is_no_better_than_chance(items: list[ExamQuestion]) -> None:
    habit, blind = picked("longest option", items, longest).score, chance(items).expected
    assert habit is not None
    assert blind is not None
    assert habit.accuracy.interval[0] <= blind
