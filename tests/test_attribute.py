import pytest

from chatbot.attribute import asked_attribute, asked_operation


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


def test_what_is_done_to_a_thing_must_be_spoken_of_as_its_properties_must() -> None:
    assert asked_attribute("How do I rotate the keys of Trn1?", False) == ("rotate",)
    assert asked_attribute("What is the launch date of Trn1?", False) == ("launch", "date")
