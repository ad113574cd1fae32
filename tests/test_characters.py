"""Invisible characters are removed from incoming questions and from displayed text."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot import Answer, Chatbot, Citation, Passage, ReaderError, Turn, shown
from chatbot.language.characters import LONGEST_QUESTION, LONGEST_WORD, MOST_TURNS, as_asked, as_remembered
from chatbot.presentation.render import as_json, as_text
from ingest import Chunk, Document, Source

REVERSED = "\u202e84\u202c W"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (REVERSED, "84 W"),
        ("4\u200b8\u2066\u00a0W\u2069", "48\u00a0W"),
        ("a\r\nb\rc\u2028d\te", "a\nb\nc\nd\te"),
        ("red\x1b[31m \x00\udcff", "red[31m "),
        ("训练 é ²", "训练 é ²"),
    ],
)
def test_what_does_not_show_is_left_out(text: str, seen: str) -> None:
    assert shown(text) == seen


@given(st.text(st.characters()))
def test_what_is_shown_is_shown_as_it_is(text: str) -> None:
    once = shown(text)
    assert shown(once) == once
    once.encode()


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("  What is Trn1?\n", "What is Trn1?"),
        (f"What is {'a' * 1_000}?", f"What is {'a' * LONGEST_WORD}?"),
        ("训练" * 100, "训练" * 100),
        ("What" + " " * 1_000 + "is" + " \n" * 1_000 + "Trn1?", "What is\n\nTrn1?"),
        ("Is it [1] or [2, 3]?\nA. see [4]", "Is it (1) or (2, 3)?\nA. see (4)"),
    ],
)
def test_a_question_is_read_without_long_words_and_marks(question: str, read: str) -> None:
    assert as_asked(question) == read


def test_a_question_that_is_too_long_is_refused_with_the_limit() -> None:
    with pytest.raises(
        ReaderError, match=f"The question has 8,001 characters. Ask it in at most {LONGEST_QUESTION:,}."
    ):
        as_asked("why " * 2_000 + "?")


def test_earlier_turns_are_cut() -> None:
    (turn,) = as_remembered([Turn("a" * 100, "It is [1]. " * 2_000)])
    assert turn == Turn("a" * LONGEST_WORD, ("It is [1]. " * 2_000)[:LONGEST_QUESTION])


def test_only_the_latest_turns_are_read() -> None:
    turns = [Turn(f"Question {number}?", f"Answer {number}.") for number in range(10 * MOST_TURNS)]
    assert as_remembered(turns) == turns[-MOST_TURNS:]


def test_a_question_with_characters_that_do_not_show_is_answered_as_without(bot: Chatbot) -> None:
    asked = "How many chips has a trn1.32xlarge?"
    assert bot.ask(f"{asked[:9]}\udcff\x00{asked[9:20]}\u202e{asked[20:]}").text == bot.ask(asked).text


def test_an_option_with_a_mark_adds_none_to_the_answer(bot: Chatbot) -> None:
    answer = bot.ask("Which chip is built for serving predictions?\nA. Trainium [7]\nB. Inferentia [9]")
    assert "[7]" not in answer.text
    assert "[9]" not in answer.text


def test_titles_headings_and_quotes_are_shown_without_what_turns_them_round() -> None:
    document = Document("id", Source("id", REVERSED, REVERSED), REVERSED, f"It draws {REVERSED}.")
    passage = Passage(1, Chunk("id#0", document, (REVERSED,), 0, len(document.text), document.text, None), 1.0)
    citation = Citation(1, REVERSED, document.text, 0, len(document.text), 1.0, passage)
    answer = Answer("?", "84 W [1].", (citation,), (passage,), False, (), "offline", 0.0)
    assert "\u202e" not in as_text(answer)
    (cited,) = as_json(answer)["citations"]
    assert (cited["title"], cited["claim"], cited["headings"]) == ("84 W", "84 W", ["84 W"])
    assert document.text[cited["start"] : cited["end"]] == cited["quote"]
    assert replace(citation, quote=cited["quote"]) == citation
