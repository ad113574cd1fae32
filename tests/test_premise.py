from pathlib import Path

import pytest

from chatbot import Chatbot
from ingest import sync

CARD = """# Falcon A7 accelerator

The Falcon A7 is a card for inference. Each card draws at most 75 W and needs no auxiliary connector.

| Specification | Falcon A5 | Falcon A7 |
| --- | --- | --- |
| Memory | 24 GB | 48 GB |
| FP64 | Yes | No |

## Frequent questions

### Can the Falcon A7 train models?

No. It has no hardware for gradients.

### Does the Falcon A7 support PyTorch?

Yes. The compiler reads PyTorch and ONNX. TensorFlow is not supported.

### Should I use spot capacity for training?

Yes, if you write checkpoints every 15 minutes.

## Schedule

Retire all P3 instances by 31 December 2025. A single A10G is enough for QLoRA on an 8B model.
"""


@pytest.fixture(scope="module")
def falcon(tmp_path_factory: pytest.TempPathFactory) -> Chatbot:
    folder: Path = tmp_path_factory.mktemp("falcon")
    (folder / "card.md").write_text(CARD)
    sync([folder / "card.md"], folder / "index")
    return Chatbot.open(folder / "index")


@pytest.mark.parametrize(
    ("question", "opening"),
    [
        ("Can the Falcon A7 train models?", "No. It has no hardware for gradients [1]."),
        ("Does the Falcon A7 support PyTorch?", "Yes. The compiler reads PyTorch and ONNX [1]."),
        ("Does the Falcon A7 support FP64?", "No. Falcon A7: FP64: No [1]."),
        ("Does the Falcon A5 support FP64?", "Yes. Falcon A5: FP64: Yes [1]."),
        ("Does the Falcon A7 have 24 GB of memory?", "No. Falcon A7: Memory: 48 GB [1]."),
        ("Does the Falcon A5 have 24 GB of memory?", "Yes. Falcon A5: Memory: 24 GB [1]."),
        ("Should I use spot capacity for training?", "Yes, if you write checkpoints every 15 minutes [1]."),
    ],
)
def test_a_verdict_is_what_the_cited_words_say(falcon: Chatbot, question: str, opening: str) -> None:
    text = falcon.ask(question).text
    assert text[: len(opening)] == opening, text


@pytest.mark.parametrize(
    "question",
    ["Should P3 instances be kept after 2025?", "Is one A10G enough for full fine-tuning of an 8B model?"],
)
def test_a_number_alone_is_no_yes(falcon: Chatbot, question: str) -> None:
    assert not falcon.ask(question).text.startswith("Yes")


SWAPPED = [
    ("BERT Large training on Trainium took 4 hours, right?", "No. "),
    ("BERT Large training on Trainium took 2.3 hours, right?", "Yes. "),
    ("Inferentia needed 33 instances in the LayoutLM experiment, right?", "No. "),
    ("Inferentia needed 6 instances in the LayoutLM experiment, right?", "Yes. "),
    ("A full BERT Large run on Trainium cost 2091 dollars, correct?", "No. "),
]


@pytest.mark.parametrize(("question", "opening"), SWAPPED)
def test_the_figure_of_what_something_is_compared_with_is_not_its_own(
    bot: Chatbot, question: str, opening: str
) -> None:
    assert bot.ask(question).text.startswith(opening)


def test_sides_are_compared_in_the_same_figures(tmp_path: Path) -> None:
    (tmp_path / "sizes.md").write_text(
        "# Two sizes\n\n## What is in a trn1.2xlarge?\n\n- A trn1.2xlarge has 500 GB of local storage.\n"
        "- A trn1.2xlarge has up to 12.5 Gbps of network bandwidth.\n\n## What is in a trn1.32xlarge?\n\n"
        "- A trn1.32xlarge has 2 TB of local storage.\n- A trn1.32xlarge has 800 Gbps of network bandwidth.\n"
    )
    sync([tmp_path / "sizes.md"], tmp_path / "index")
    answer = Chatbot.open(tmp_path / "index").ask("local storage and network of trn1.2xlarge vs trn1.32xlarge")
    assert answer.text.splitlines() == [
        "- trn1.2xlarge: A trn1.2xlarge has 500 GB of local storage [1]. A trn1.2xlarge has up to 12.5 Gbps of network bandwidth [2].",
        "- trn1.32xlarge: A trn1.32xlarge has 2 TB of local storage [3]. A trn1.32xlarge has 800 Gbps of network bandwidth [4].",
    ]


def test_a_total_does_not_differ_from_the_figure_of_one(tmp_path: Path) -> None:
    (tmp_path / "card.md").write_text("# Cards\n\nThe H200 has 141 GB of memory.\n")
    (tmp_path / "servers.md").write_text("# Servers\n\nEight H200 have 1,128 GB of memory in all.\n")
    sync([tmp_path], tmp_path.parent / "totals-index")
    answer = Chatbot.open(tmp_path.parent / "totals-index").ask("How much memory does an H200 have?")
    assert "different figures" not in answer.text
    assert "141 GB" in answer.text
