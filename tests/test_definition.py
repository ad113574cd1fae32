"""What something is: which questions ask it, which sentences say it."""

from pathlib import Path

import pytest

from chatbot import Chatbot
from chatbot.definition import thing_asked
from chatbot.query import understand
from ingest import sync

FABRIC = """# Zephyr Fabric Adapter
## What does the adapter cost?
A ZFA costs 3 EUR per hour. ZFA and Ethernet are the usual networks.
## How does a ZFA work?
The Zephyr Fabric Adapter (ZFA) is a network card for clusters. A ZFA bypasses the operating system.
A mesh plan is a promise to buy mesh hours for a year. Mesh plans are not suited to short work.

## What does weaving do?
Weaving binds two cards of the same cluster into one. Weaving adds no delay to the traffic between them.
"""


@pytest.fixture(scope="module")
def weaver(tmp_path_factory: pytest.TempPathFactory) -> Chatbot:
    folder: Path = tmp_path_factory.mktemp("documents")
    (folder / "fabric.md").write_text(FABRIC, encoding="utf-8")
    sync([folder], folder / "index")
    return Chatbot.open(folder / "index")


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What is a ZFA?", "The Zephyr Fabric Adapter (ZFA) is a network card for clusters [1]."),
        ("what does ZFA stand for", "The Zephyr Fabric Adapter (ZFA) is a network card for clusters [1]."),
        ("What is a mesh plan?", "A mesh plan is a promise to buy mesh hours for a year [1]."),
        ("What is weaving?", "Weaving binds two cards of the same cluster into one [1]."),
    ],
)
def test_the_sentence_that_says_what_a_thing_is_comes_first(weaver: Chatbot, question: str, first: str) -> None:
    assert weaver.ask(question).text.startswith(first)


@pytest.mark.parametrize(
    ("question", "thing"),
    [
        ("What is EFA?", ("efa",)),
        ("And what are Savings Plans?", ("save", "plan")),
        ("what does PUE mean", ("pue",)),
        ("Define tensor parallelism.", ("tensor", "parallel")),
        ("What is the price of a p5.48xlarge?", ()),
        ("What is the difference between Inf1 and Inf2?", ()),
        ("How much memory does the H200 have?", ()),
    ],
)
def test_a_thing_is_asked_for_but_not_a_property_of_it(weaver: Chatbot, question: str, thing: tuple[str, ...]) -> None:
    assert thing_asked(understand(question, (), weaver.index)) == thing
