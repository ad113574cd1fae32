"""Documents of prepared answers: parsing, indexing, matching to users' questions, and the validity of those shipped."""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from chatbot import Chatbot, Turn
from chatbot.question.query import understand
from chatbot.reader.proved_answers import FEATURES, _draft, _letters, is_worth_telling, load_book, matches
from chatbot.retrieval.meaning import question_vector
from chatbot.verification.citations import verify
from ingest import Document, Index, Source, check, read_answers, sync
from ingest.answers import Proof, ProvedAnswer, holds_answers, question_chunks, wordings_in
from ingest.encoding.encoder import DEFAULT_ENCODER
from ingest.encoding.minilm import load_question_encoder
from ingest.storage.place import Place
from tests.marks import left_to_evaluation

ROOT = Path(__file__).resolve().parents[1]
FACTS = """# Kilns

The Ember kiln holds 40 pots and reaches 1,280 degrees.

A firing of the Ember takes 9 hours.
"""
ANSWERS = """# Kilns: questions and answers

## How many pots does the Ember kiln hold?

Also asked: ember capacity? · we fire 40 pots at a time, is the Ember large enough · Wie viele Töpfe passen in den Ember?

40 pots: the Ember holds 40 at once [1]. A firing takes 9 hours [2].

1. “The Ember kiln holds 40 pots” (facts)
2. “A firing of the Ember takes 9 hours.” (facts)

## How hot does the Ember kiln get?

Also asked: ember max temperature · can it fire stoneware

1,280 degrees [1].

1. “reaches 1,280 degrees” (facts)
"""


def document(text: str) -> Document:
    return Document("answers/kilns.md", Source("kilns", "Kilns"), "Kilns", text)


def test_an_answer_is_read_with_its_wordings_and_proofs() -> None:
    first, second = read_answers(document(ANSWERS))
    assert [ANSWERS[start:end] for start, end in first.wordings] == [
        "How many pots does the Ember kiln hold?",
        "ember capacity?",
        "we fire 40 pots at a time, is the Ember large enough",
        "Wie viele Töpfe passen in den Ember?",
    ]
    assert first.answer == "40 pots: the Ember holds 40 at once [1]. A firing takes 9 hours [2]."
    assert first.proofs == {1: Proof("The Ember kiln holds 40 pots", "facts"), 2: Proof("A firing of the Ember takes 9 hours.", "facts")}
    assert second.question == "How hot does the Ember kiln get?"


def test_each_question_is_a_chunk_of_its_wordings() -> None:
    chunks = list(question_chunks(document(ANSWERS)))
    assert [c.headings for c in chunks] == [("How many pots does the Ember kiln hold?",), ("How hot does the Ember kiln get?",)]
    assert all(c.document.text[c.start : c.end] == c.text for c in chunks)
    assert [wordings_in(c) for c in chunks] == [[ANSWERS[start:end] for start, end in a.wordings] for a in read_answers(document(ANSWERS))]


@pytest.mark.parametrize("text", [FACTS, "", "## What is it?\n\nA kiln.\n\n## And that?\n\nAlso asked: that · this\n\nA pot [1].\n\n1. “pot” (x)\n"])
def test_other_documents_hold_no_answers(text: str) -> None:
    assert not holds_answers(text)
    assert not list(read_answers(document(text)))


def indexed(folder: Path, place: Place | None = None, facts: str = FACTS, answers: str = ANSWERS, encoder: str = DEFAULT_ENCODER) -> Index:
    (folder / "kilns").mkdir()
    (folder / "kilns" / "facts.md").write_text(facts)
    (folder / "kilns" / "answers.md").write_text(answers)
    sync([folder / "kilns"], place or folder / "index", encoder=encoder)
    return Index.open(place or folder / "index")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return indexed(tmp_path_factory.mktemp("kilns"))


@pytest.fixture(scope="module")
def kilns(index: Index) -> Chatbot:
    return Chatbot(index)


@pytest.mark.parametrize(
    ("turns", "told"),
    [
        (("How hot does the Ember kiln get?",), True),
        (("We fire twice a week, mostly stoneware, and two of our three potters would rather glaze at night: " * 2 + "which kiln?",), False),
        (("How hot does the Ember kiln get?", "And is that hot enough for the stoneware that most of our customers have ordered for next spring?"), False),
    ],
)
def test_evidence_is_told_to_a_question_and_not_to_a_story(kilns: Chatbot, turns: tuple[str, ...], told: bool) -> None:
    *before, last = turns
    query = understand(last, [Turn(turn, "1,300 degrees [1].") for turn in before], kilns.index)
    assert is_worth_telling(query, 0.5) is told


def test_answers_are_compared_with_and_not_searched(place: Place, tmp_path: Path) -> None:
    index = indexed(tmp_path, place)
    asked = [[ANSWERS[start:end] for start, end in answer.wordings] for answer in read_answers(document(ANSWERS))]
    for (found, start, vectors), wordings in zip(index.questions(), asked, strict=True):
        assert found.text[start:].startswith(wordings[0])
        assert vectors == pytest.approx(load_question_encoder().encode(wordings), abs=1e-3)
    assert {c.document.title for c in index.chunks([id for id, _ in index.lexical("ember capacity", 10)])} == {"Kilns"}
    assert len(index) == 1
    assert check(place) == ()


def test_a_document_that_is_not_to_be_searched_is_quoted_all_the_same(tmp_path: Path) -> None:
    index = indexed(tmp_path, facts=f'---\nsearched: false\n---\n{FACTS}')
    assert (len(index), index.lexical("firing of the Ember", 10)) == (0, [])
    answer = Chatbot(index).ask("How many pots does the Ember kiln hold?")
    assert [c.quote for c in answer.citations] == ["The Ember kiln holds 40 pots", "A firing of the Ember takes 9 hours."]


def test_a_question_in_its_own_words_is_answered_as_written_with_quotes_of_the_document(kilns: Chatbot) -> None:
    answer = kilns.ask("how many pots does the ember kiln hold?")
    assert answer.text == "40 pots: the Ember holds 40 at once [1]. A firing takes 9 hours [2]."
    assert [c.quote for c in answer.citations] == ["The Ember kiln holds 40 pots", "A firing of the Ember takes 9 hours."]
    assert {c.passage.chunk.document.id for c in answer.citations} == {"kilns/facts.md"}
    assert [s.role for s in answer.statements] == ["answer", "reason"]


def test_a_follow_up_is_answered_for_what_it_means(kilns: Chatbot) -> None:
    first = kilns.ask("How many pots does the Ember kiln hold?")
    assert kilns.ask("And how hot does it get?", [Turn(first.question, first.text)]).text == "1,280 degrees [1]."


def test_two_things_asked_at_once_are_both_answered(kilns: Chatbot) -> None:
    answer = kilns.ask("How many pots does the Ember kiln hold and how hot does it get?")
    assert answer.text == "40 pots: the Ember holds 40 at once [1]. A firing takes 9 hours [2].\n1,280 degrees [3]."


def test_a_sentence_whose_proof_is_gone_is_left_out(tmp_path: Path) -> None:
    answer = Chatbot(indexed(tmp_path, facts=FACTS.replace("9 hours", "8 hours"))).ask("How many pots does the Ember kiln hold?")
    assert answer.text == "40 pots: the Ember holds 40 at once [1]."


def test_an_index_without_vectors_gives_no_answers_of_the_kind(tmp_path: Path) -> None:
    index = indexed(tmp_path, encoder="none")
    assert index.questions() == []
    assert "[1]" in Chatbot(index).ask("How many pots does the Ember kiln hold?").text


def test_a_number_that_no_proof_has_is_not_shown(tmp_path: Path) -> None:
    wrong = ANSWERS.replace("A firing takes 9 hours [2]", "A firing takes 7 hours [2]")
    answer = Chatbot(indexed(tmp_path, answers=wrong)).ask("How many pots does the Ember kiln hold?")
    assert answer.text == "40 pots: the Ember holds 40 at once [1]."


def test_a_wording_left_out_is_neither_near_nor_in_the_middle(index: Index) -> None:
    asked = "ember capacity?"
    book = load_book(index)
    question = next(q for q in book.questions if asked in q.wordings)
    left_out, *kept = sorted(question.rows, key=lambda row: row != question.rows[question.wordings.index(asked)])
    vector = question_vector(asked)

    def found(without: frozenset[int]) -> dict[str, float]:
        match = next(m for m in matches(asked, asked, (), index, without) if m.question is question)
        return dict(zip(FEATURES, match.features.tolist(), strict=True))

    def center(rows: list[int]) -> float:
        middle = book.vectors[rows].sum(axis=0)
        return float(middle @ vector / np.linalg.norm(middle))

    assert found(frozenset())["nearest wording"] == pytest.approx(1.0, abs=1e-4)
    assert found(frozenset())["center"] == pytest.approx(center(list(question.rows)), abs=1e-4)
    without = found(frozenset({left_out}))
    assert without["nearest wording"] == pytest.approx(float((book.vectors[kept] @ vector).max()), abs=1e-4)
    assert without["center"] == pytest.approx(center(kept), abs=1e-4)


def test_letters_that_stand_together_are_compared_without_case_and_spacing() -> None:
    assert _letters("A  Kiln") == {" a k", "a ki", " kil", "kiln", "iln "}
    assert _letters("") == {"  "}


@pytest.mark.parametrize("step", [25, *left_to_evaluation(1)])
def test_every_answer_shipped_is_shown_whole(corpus_index: Path, step: int) -> None:
    index = Index.open(corpus_index)
    dropped = []
    for question in load_book(index).questions[::step]:
        draft = _draft(question, index, "")
        assert draft
        dropped += verify(draft.text, draft.evidence, said=draft.said).dropped
    assert dropped == []


def shipped() -> list[ProvedAnswer]:
    files = sorted((ROOT / "corpus" / "answers").glob("*.md"))
    return [a for file in files for a in read_answers(Document(file.name, Source("", ""), "", file.read_text()))]


def texts(index: Index) -> Mapping[str, str]:
    files = {file.stem: file.read_text() for file in [*(ROOT / "corpus").glob("*.md"), *(ROOT / "corpus" / "reference").glob("*.md")]}
    return files | {Path(table.id).stem: table.text for table in index.tables()}


def test_every_section_shipped_is_an_answer_and_asked_once() -> None:
    sections = sum(len(re.findall("^## ", file.read_text(), re.MULTILINE)) for file in (ROOT / "corpus" / "answers").glob("*.md"))
    assert len({a.question.lower() for a in shipped()}) == sections


def test_every_proof_shipped_stands_in_its_document_word_for_word(corpus_index: Path) -> None:
    held = texts(Index.open(corpus_index))
    assert [p for a in shipped() for p in a.proofs.values() if p.quote not in held.get(p.document, "")] == []


def test_every_sentence_shipped_has_its_proof() -> None:
    sentences = [(a, s) for a in shipped() for s in re.split(r"(?<=\][.!?])\s+|\n+", a.answer) if s.strip()]
    assert [(a.question, s) for a, s in sentences if not {int(n) for n in re.findall(r"\[(\d+)\]", s)} & set(a.proofs)] == []
    assert [a.question for a in shipped() if {int(n) for n in re.findall(r"\[(\d+)\]", a.answer)} != set(a.proofs)] == []
