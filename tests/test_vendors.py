"""The vendors whose hardware a question rules out."""

import pytest

from chatbot.language.vendors import refused_makers, speaks_for_refused


@pytest.mark.parametrize(
    ("question", "refused"),
    [
        ("No NVIDIA, please. What trains a 7B model?", {"NVIDIA"}),
        ("Both NVIDIA and AMD are off the table. What is left?", {"NVIDIA", "AMD"}),
        ("We love NVIDIA; AMD isn't an option.", {"AMD"}),
        ("We use AWS and NVIDIA is out.", {"NVIDIA"}),
        ("Procurement wants no more single-vendor dependency on NVIDIA.", {"NVIDIA"}),
        ("We depend too much on NVIDIA. Which GPU instead?", {"NVIDIA"}),
        ("Is NVIDIA or AMD better?", set()),
        ("NVIDIA cards are fine. Which one?", set()),
    ],
)
def test_a_maker_is_refused_in_many_ways(question: str, refused: set[str]) -> None:
    assert refused_makers(question) == refused


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("LoRA fine-tuning: L4 or a single A100.", True),
        ("The AMD MI300X competes with the NVIDIA H100.", False),
        ("A100, MI300X or Trainium.", False),
        ("Save checkpoints often.", False),
    ],
)
def test_evidence_speaks_for_a_refused_maker_where_it_names_no_other(text: str, refused: bool) -> None:
    assert speaks_for_refused(text, "Which card, if NVIDIA is out?") is refused
