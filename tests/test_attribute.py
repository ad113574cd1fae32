import pytest

from chatbot.question.attribute import asked_operation


@pytest.mark.parametrize(
    ("question", "operation"),
    [
        ("How do I rotate the keys of a Transfer Family server?", ("rotate",)),
        ("how to encrypt the volume of an Inf2", ("encrypt",)),
        ("Which steps does it take to safely migrate it to Bedrock?", ("migrate", "port", "convert")),
        ("What do I have to do to mount EFS on Fargate?", ("mount",)),
        ("How can our finance team export the report?", ("export",)),
        ("How do I get Trn1 cheaper?", ()),
        ("How should we choose an instance?", ()),
        ("What does it cost to install a rack?", ()),
    ],
)
def test_of_a_procedure_it_is_asked_what_is_done(question: str, operation: tuple[str, ...]) -> None:
    assert asked_operation(question) == operation
