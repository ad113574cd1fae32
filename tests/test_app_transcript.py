"""Exports of a conversation, and suggested questions."""

import json
from dataclasses import replace
from html import escape

import pytest
from markdown_it import MarkdownIt

from chatbot import Chatbot
from chatbot.answer import Answer, Citation, Passage
from chatbot.history.transcript import conversation_as_json, conversation_as_markdown
from chatbot.presentation.render import as_json
from chatbot.presentation.suggestions import STARTERS, follow_ups, starters
from ingest import Chunk, Document, Source


def test_the_json_export_is_what_the_command_line_prints(bot: Chatbot) -> None:
    answers = [bot.ask("Is Trainium for inference?"), bot.ask("How much does a Gaudi3 card cost?")]
    assert json.loads(conversation_as_json(answers)) == {"answers": [as_json(a) for a in answers]}


def test_the_markdown_export_is_clean_and_its_tables_stay_tables(bot: Chatbot) -> None:
    answer = replace(bot.ask("How much does a p5.48xlarge cost per hour?"), seconds=1.0)
    (citation,) = answer.citations
    assert conversation_as_markdown([answer]) == (
        f"""## How much does a p5.48xlarge cost per hour?

{answer.text}  

[1] Amazon EC2 on-demand prices, Linux, us-east-1 (AWS, 2026-07-20) <{citation.passage.chunk.document.source.url}>

> | Instance type | Price per hour | Purchase | Operating system | Region | As of | Source |
> | --- | --- | --- | --- | --- | --- | --- |
> | p5.48xlarge | $55.04 | on demand | Linux | us-east-1 | 2026-07-20 | AWS Price List |

offline, 1.00 s
"""
    )
    assert "$55.04" in answer.text


@pytest.mark.parametrize(
    "hostile",
    [
        "<b>x</b>", "<!-- x", "[a](http://b)", "![a](http://b)", "[a]: http://b", "[1](http://b)", "[1]: http://b", "[[1]](http://b)", "\\[a](http://b)", "\\\\[a](http://b)", "\\<b>",
        "<http://b>", "```", "~~~",
    ],
)  # fmt: skip
def test_no_link_html_or_code_block_gets_into_an_export(hostile: str) -> None:
    answer = Answer(hostile, hostile, (), (), False, (), hostile, 1.0)
    rendered = MarkdownIt().render(conversation_as_markdown([answer]))
    said = escape(hostile, quote=False)
    assert rendered == f"<h2>{said}</h2>\n<p>{said}</p>\n<p>{said}, 1.00 s</p>\n"


def test_a_table_of_a_language_model_stays_one_in_an_export() -> None:
    answer = Answer("Q", "| a | b |\n| --- | --- |\n| 1 [1] | **2** |", (), (), False, (), "m", 1.0)
    assert f"\n{answer.text}\n" in conversation_as_markdown([answer])


def test_an_address_in_an_export_stays_one() -> None:
    source = Source("x", "X", url="https://x.io/<img src=y>")
    passage = Passage(1, Chunk("c", Document("x.md", source, "X", "Word."), (), 0, 5, "Word."), 1.0)
    answer = Answer("Q", "Word [1].", (Citation(1, "Word", "Word.", 0, 5, 1.0, passage),), (passage,), False, (), "m", 1.0)
    assert '<a href="https://x.io/%3Cimg%20src=y%3E">' in MarkdownIt().render(conversation_as_markdown([answer]))


def test_the_first_questions_have_answers(bot: Chatbot) -> None:
    found = starters(bot.index, lambda question: not bot.ask(question).refused)
    assert found[:2] == STARTERS[:2]
    assert not any(bot.ask(question).refused for question in found)


def test_an_index_about_other_things_starts_with_its_own_headings(bot: Chatbot) -> None:
    found = starters(bot.index, lambda question: question not in STARTERS)
    assert len(found) == 4
    assert all(question.endswith("?") for question in found)
    assert not set(found) & set(STARTERS)


def test_the_next_questions_are_new_and_have_answers(bot: Chatbot) -> None:
    answer = bot.ask("Is Trainium for inference?")
    found = follow_ups(answer, (), bot.index, lambda _: False)
    assert len(found) == 3
    assert not any(bot.ask(question).refused for question in found)
    assert not set(follow_ups(answer, found, bot.index, lambda _: False)) & {answer.question, *found}


def test_where_nothing_is_prepared_the_next_questions_are_headings_that_have_answers(five: Chatbot) -> None:
    answer = five.ask("Is Trainium for inference?")
    found = follow_ups(answer, (), five.index, lambda question: not five.ask(question).refused)
    assert found
    assert not any(five.ask(question).refused for question in found)
    assert follow_ups(answer, (), five.index, lambda _: False) == ()
