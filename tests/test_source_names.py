"""Documents are known by what people call them."""

import pytest

from chatbot.source_names import documents_named, without_documents
from ingest import Document, Source


def document(name: str, title: str, text: str = "", publisher: str | None = None) -> Document:
    return Document(id=name, source=Source(id=name, title=title, publisher=publisher), title=title, text=text)


NOTES = document("chip-notes.md", "Chips: exam study notes")
POST = document(
    "energy.md",
    "Save energy with our chips",
    "The post reports two experiments: one is the BERT test.",
    "Ann Vane, Norvik",
)
PATTERN = document("hardware-pattern.md", "Select the right hardware", "The pattern says little of cost.")
QUIZ = document("quiz.md", "Which chip is green?", "", "LeafQuiz Team")
DOCUMENTS = (NOTES, POST, PATTERN, QUIZ)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What do the exam notes and the hardware pattern say?", (NOTES, PATTERN)),
        ("Does the Norvik post agree with my study notes?", (POST, NOTES)),
        ("the notes for the exam give another figure", (NOTES,)),
        ("Which saving: exam notes or hardware pattern?", (NOTES, PATTERN)),
        ("What does LeafQuiz say?", (QUIZ,)),
        ("Do my exam notes agree with your BERT test?", (NOTES, POST)),
        ("What does the paper on tides say?", ()),
        ("Which chip has the most memory?", ()),
    ],
)
def test_a_phrase_names_the_document_that_it_fits_best(question: str, named: tuple[Document, ...]) -> None:
    assert documents_named(question, DOCUMENTS) == named


def test_a_phrase_that_fits_two_documents_names_neither() -> None:
    assert documents_named("the notes", (NOTES, document("more.md", "More notes"))) == ()


def test_what_is_left_of_a_question_is_its_matter() -> None:
    asked = "How much does Trainium save in the exam notes and in the hardware pattern?"
    assert without_documents(asked) == "How much does Trainium save in and in ?"
