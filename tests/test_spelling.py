"""Spelling: what the sources write as one word, and what they write as two."""

import pytest

from chatbot import Chatbot
from chatbot.query import understand
from chatbot.spelling import correct


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("how many neuron cores", "how many neuroncores"),
        ("work loads on an L4", "workloads on an L4"),
        ("Which instance types have 8 H100?", "Which instance types have 8 H100?"),
        ("book a Capacity Block", "book a Capacity Block"),
        ("fine tuning on an L4", "fine tuning on an L4"),
    ],
)
def test_two_words_are_joined_where_the_sources_write_them_as_one(bot: Chatbot, written: str, meant: str) -> None:
    assert correct(written, bot.index) == meant


def test_a_question_on_instance_types_finds_the_table_of_them(bot: Chatbot) -> None:
    question = "Which instance types have 8 H100?"
    assert understand(question, (), bot.index).standalone == question
    assert bot.ask(question).text == bot.ask("Which types have 8 H100?").text


@pytest.mark.parametrize(
    ("written", "meant"),
    [("which decodes faster", "which decodes faster"), ("best acelerator", "best accelerator")],
)
def test_a_form_of_a_word_that_the_sources_have_is_not_misspelt(bot: Chatbot, written: str, meant: str) -> None:
    assert correct(written, bot.index) == meant
