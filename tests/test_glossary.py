"""Questions in other languages, translated word by word into English."""

import json
import time
from pathlib import Path

import pytest

from chatbot.language.glossary import in_english

TUNED = [*Path(__file__).parent.glob("golden/*tuned.jsonl"), *Path(__file__).parent.glob("natural/*tuned.jsonl")]


@pytest.mark.parametrize(
    ("asked", "english"),
    [
        ("Wie viele GPUs hat eine p5.48xlarge?", "how many GPUs have a p5.48xlarge?"),
        ("quelle différence entre trn2 et un trn2 UltraServer", "what difference between trn2 and a trn2 UltraServer"),
        ("que region de AWS tiene menos emisiones?", "what region of AWS has less emissions?"),
        ("qual é o custo da inferência por mês em g5?", "which is the cost of inference a month in g5?"),
        ("Quanto costa addestrare un modello su trn1?", "how much cost train a model on trn1?"),
        ("Wie lange dauern 5.300 Stunden zu 1.212 $/h und 1.006 pro Stunde?", "how long dauern 5300 hour to 1.212 $/h and 1.006 an hour?"),
        ("5.300 hours at 1,65 €/h", "5300 hours at 1,65 €/h"),
        ("Wat is goedkoper voor inferentie: inf2 of g5?", "what is cheaper for inference: inf2 or g5?"),
        ("¿Qué instancia es más barata para un máster?", "¿what instance is cheaper for a máster?"),
        ("quelle instance pour la semaine ou le week-end", "what instance for the week or the weekend"),
        ("quelle instance pour la week prochaine", "what instance for the week next"),
        ("Ist die selbst gehostete GPU selbstverständlich günstiger?", "is the self-hosted GPU selbstverständlich cheaper?"),
    ],
)
def test_each_word_that_is_known_is_said_in_english(asked: str, english: str) -> None:
    assert in_english(asked) == english


def test_a_compound_is_said_by_its_parts() -> None:
    assert in_english("Wie hoch sind die Trainingskosten?") == "how high are the training cost?"


def test_letters_with_accents_are_known_without_them() -> None:
    assert in_english("Combien coûte l'entraînement par heure ?") == in_english("Combien coute l'entrainement par heure ?") == "how much cost the training an hour ?"


@pytest.mark.parametrize("asked", ["", "p5 vs trn1?", "Is de facto per-second billing in us-east-1 on?", "reserved instances - savings?", "what does n stand for in trn1n", "p4d vs p4de, 30b finetune"])
def test_a_question_in_english_stays_as_it_is(asked: str) -> None:
    assert in_english(asked) == asked


def test_dashes_and_dots_of_a_whole_conversation_are_read_at_once() -> None:
    began = time.perf_counter()
    assert in_english("a.b-" * 20_000) == "a.b-" * 20_000
    assert time.perf_counter() - began < 5


def test_hardly_an_english_question_of_the_suite_is_taken_for_another_language() -> None:
    turns = [turn for file in TUNED for line in file.read_text().splitlines() for turn in json.loads(line).get("turns", [])]
    english = [turn for turn in turns if turn.isascii()]
    assert sum(in_english(turn) != turn for turn in english) <= 0.02 * len(english)
