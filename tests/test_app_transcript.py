"""Exports of a conversation, and suggested questions."""

import json

from markdown_it import MarkdownIt

from chatbot import Chatbot
from chatbot.answer import Answer, Citation, Passage
from chatbot.render import as_json
from chatbot.suggestions import STARTERS, follow_ups, starters
from chatbot.transcript import as_plain, conversation_as_json, conversation_as_markdown
from ingest import Chunk, Document, Source


def test_the_json_export_is_what_the_command_line_prints(bot: Chatbot) -> None:
    answers = [bot.ask("Is Trainium for inference?"), bot.ask("How much does a Gaudi3 card cost?")]
    assert json.loads(conversation_as_json(answers)) == {"answers": [as_json(a) for a in answers]}


def test_the_markdown_export_has_question_answer_and_exact_quotes(bot: Chatbot) -> None:
    answer = bot.ask("Is Trainium for inference?")
    text = conversation_as_markdown([answer])
    assert text.startswith("## Is Trainium for inference?\n")
    assert all(as_plain(citation.quote) in text for citation in answer.citations)
    assert " [1]." in text


def test_what_looks_like_markdown_in_an_export_stays_text() -> None:
    hostile = "<b>x</b> $y$ **z** [a](b) `c` # d | e"
    rendered = MarkdownIt().render(as_plain(hostile))
    assert rendered == "<p>&lt;b&gt;x&lt;/b&gt; $y$ **z** [a](b) `c` # d | e</p>\n"
    assert MarkdownIt().render(as_plain("1. x")) == "<p>1. x</p>\n"
    assert MarkdownIt().render(as_plain("- x")) == "<p>- x</p>\n"


def test_a_model_and_an_address_in_an_export_stay_text() -> None:
    source = Source("x", "X", url="https://x.io/<img src=y>")
    passage = Passage(1, Chunk("c", Document("x.md", source, "X", "Word."), (), 0, 5, "Word."), 1.0)
    answer = Answer("Q", "Word [1].", (Citation(1, "Word", "Word.", 0, 5, 1.0, passage),), (passage,), False, (), "ollama:_<b>_", 1.0)
    rendered = MarkdownIt().render(conversation_as_markdown([answer]))
    assert '<a href="https://x.io/%3Cimg%20src=y%3E">' in rendered
    assert "<em>ollama:_&lt;b&gt;_, 1.00 s</em>" in rendered


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
