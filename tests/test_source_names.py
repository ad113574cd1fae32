"""What a question says beside the documents that it names."""

from chatbot.source_names import without_documents


def test_what_is_left_of_a_question_is_its_matter() -> None:
    asked = "How much does Trainium save in the exam notes and in the hardware pattern?"
    assert without_documents(asked) == "How much does Trainium save in and in ?"
