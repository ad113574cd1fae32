from dataclasses import replace

import pytest

from chatbot.evidence import Unit, units
from chatbot.question.query import Query
from chatbot.reader.phrasing import statement
from ingest import Chunk, Document, Source


def only(text: str, headings: tuple[str, ...] = ()) -> Unit:
    document = Document("d", Source("s", "Title"), "Title", text)
    return units(Chunk("c", document, headings, 0, len(text), text))[0]


def asked(question: str, *entities: str) -> Query:
    return replace(Query(question, question), entities=entities)


def row(header: str, cells: str) -> Unit:
    return only(f"{header}\n{'| --- ' * (header.count('|') - 1)}|\n{cells}\n")


@pytest.mark.parametrize(
    ("header", "cells", "said"),
    [
        ("| Model | TDP (W) | vCPUs |", "| K2 | 750 | 8 |", "K2: TDP: 750 W; 8 vCPUs"),
        ("| Model | Released | Memory, GB |", "| K2 | 2023 | 64 |", "K2: Released: 2023; Memory: 64 GB"),
        ("| Region | g CO2e per kWh |", "| eu-north-1 | 13 |", "eu-north-1: 13 g CO2e per kWh"),
        ("| Parameter | Min | Max | Unit |", "| Power | – | 900 | W |", "Power: Max: 900 W"),
        ("| Model | Notes |", "| K2 | Needs air. Not water. |", "K2: Notes: Needs air; Not water"),
    ],
)
def test_a_cell_is_said_with_its_unit_and_in_one_sentence(header: str, cells: str, said: str) -> None:
    unit = row(header, cells)
    assert statement(unit, asked("What about it?")) == said


def test_of_a_table_with_a_column_for_each_thing_the_column_asked_for_is_said() -> None:
    unit = row("| Specification | Falcon A5 | Falcon A7 |", "| Memory | 24 GB | 48 GB |")
    assert statement(unit, asked("How much memory has the A7?", "A7")) == "Falcon A7: Memory: 48 GB"
    assert statement(unit, asked("A5 or A7?", "A5", "A7")) == "Memory: Falcon A5: 24 GB; Falcon A7: 48 GB"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("No. It has no gradients at all.", "It has no gradients at all"),
        ("Yes, if you write checkpoints.", "Can it train: Yes, if you write checkpoints"),
        ("It is for inference.", "It is for inference"),
    ],
)
def test_an_answer_to_a_question_of_the_source_is_said_without_its_yes_or_no(answer: str, said: str) -> None:
    assert statement(only(answer, ("Can it train?",)), asked("Which chip?")) == said
    assert statement(row("| question | answer |", f"| Can it train? | {answer} |"), asked("Which chip?")) == said
