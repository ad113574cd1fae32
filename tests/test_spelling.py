"""Spelling: misspelt terms, and words that only look misspelt."""

import pytest

from chatbot import Chatbot
from chatbot.language.spelling import correct
from chatbot.question.query import understand


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
