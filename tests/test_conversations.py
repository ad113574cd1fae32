"""Stored conversations are private to their visitor, and stored answers do not change."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from chatbot import Chatbot
from chatbot.history.conversations import KEPT, ConversationStore, header_above, self_contained


@pytest.fixture
def store(tmp_path: Path) -> ConversationStore:
    return ConversationStore(tmp_path)


def test_what_was_said_is_kept_and_its_title_stays(store: ConversationStore) -> None:
    store.save("ada", "c1", "First\nquestion", "[1]")
    store.rename("ada", "c1", "Mine")
    store.save("ada", "c1", "First question", "[1, 2]")
    assert [(c.id, c.title) for c in store.all("ada")] == [("c1", "Mine")]
    assert store.load("ada", "c1") == "[1, 2]"


def test_the_latest_conversation_comes_first_and_the_oldest_make_room(store: ConversationStore) -> None:
    for number in range(KEPT + 2):
        store.save("ada", f"c{number}", "t", "[]")
    store.save("ada", "c5", "t", "[]")
    found = [c.id for c in store.all("ada")]
    assert (found[:2], found[-1], len(found)) == (["c5", f"c{KEPT + 1}"], "c2", KEPT)


def test_nobody_reads_or_changes_the_conversation_of_another(store: ConversationStore) -> None:
    store.save("ada", "c1", "t", "[]")
    store.rename("eve", "c1", "stolen")
    store.delete("eve", "c1")
    assert store.load("eve", "c1") is None
    assert [c.title for c in store.all("ada")] == ["t"]


def test_a_deleted_conversation_is_gone(store: ConversationStore) -> None:
    store.save("ada", "c1", "t", "[]")
    store.delete("ada", "c1")
    with closing(sqlite3.connect(store.place)) as connection:
        assert connection.execute("SELECT count(*) FROM conversations").fetchone() == (0,)


def test_only_the_owner_reads_the_file(store: ConversationStore) -> None:
    assert store.place.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "question",
    ["Trainium or Inferentia?", "How much does a p5.48xlarge cost per hour?", "How much does a Gaudi3 chip cost?"],
)
def test_an_answer_that_is_kept_has_its_quotes_in_what_is_left_of_its_documents(bot: Chatbot, question: str) -> None:
    answer = bot.ask(question)
    kept = self_contained(answer)
    assert [c.passage.chunk.document.text[c.start : c.end] for c in kept.citations] == [
        c.quote for c in answer.citations
    ]
    assert all(len(p.chunk.document.text) < len(p.chunk.text) + 3_000 for p in kept.passages)
    assert all(p.chunk.document.text[p.chunk.start : p.chunk.end] == p.chunk.text for p in kept.passages)
    assert kept.text == answer.text
    for before, after in zip(answer.citations, kept.citations, strict=True):
        full, short = before.passage.chunk.document.text, after.passage.chunk.document.text
        assert header_above(short, after.start) == header_above(full, before.start)


def test_a_table_is_told_by_its_header() -> None:
    text = "One.\n\n| A | B |\n|---|---|\n| c | d |\n| e | f |\n\nTwo."
    assert header_above(text, text.index("| e")) == "| A | B |\n|---|---|\n"
    assert header_above(text, text.index("|---")) == "| A | B |\n"
    assert header_above(text, text.index("Two")) == ""
    assert header_above(text, text.index("| A")) == ""
