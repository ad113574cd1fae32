"""A sentence about several things is split, so that each statement belongs to its own subject."""

import pytest

from chatbot.exam_reader.entailment import denied
from chatbot.exam_reader.pairing import clause_of, clauses, is_of_another, stems_and_letters
from chatbot.exam_reader.pieces import pieces_of

MEMORY = "C chips have 2 GB of memory per core, M chips 4 GB and R chips 8 GB."
PLANS = "Green Instances are the wrong choice for work that runs for years; a Red Plan costs less there."


@pytest.mark.parametrize(
    ("text", "subjects"),
    [
        (MEMORY, [{"c", "chip"}, {"m", "chip"}, {"r", "chip"}]),
        ("A box has 12 chips with 2 cores each, which makes 24 cores.", [{"box"}]),
        ("R chips suit caches such as Redis, Memcached and Spark.", [{"r", "chip"}]),
        ("Disks of type st1 and sc1 cannot be boot volumes.", [{"disk", "type", "st1", "sc1"}]),
    ],
    ids=["a list of figures", "a clause without a subject", "a list without figures", "names with figures in them"],
)
def test_each_thing_that_a_sentence_speaks_of_has_a_clause(text: str, subjects: list[set[str]]) -> None:
    assert [set(clause.subject) for clause in clauses(text)] == subjects


def test_a_list_of_names_stays_in_its_clause() -> None:
    found = clauses("Use T4, L4 or V100 for it; the P4, P5 and P5e are not in the list.")
    assert [c.text for c in found][1] == "the P4, P5 and P5e are not in the list."


@pytest.mark.parametrize(
    ("text", "last", "denied"),
    [
        ("V4 and V5 boxes can be bought as Blue Instances; v5u.48xlarge cannot.", "v5u.48xlarge cannot be bought as Blue Instances", {"blue", "bought", "instanc"}),
        ("V4 chips do not support FP8; V5 chips do.", "V5 chips do support FP8", set()),
        ("V4 is not burstable, but V5 is.", "V5 is burstable", set()),
    ],
)  # fmt: skip
def test_a_clause_that_leaves_out_what_is_said_has_it_from_the_one_before(
    text: str, last: str, denied: set[str]
) -> None:
    found = clauses(text)[-1]
    assert (found.text, set(found.denied)) == (last, denied)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It does not render, stream games or encode video, and costs little.", {"render", "stream", "game", "encod", "video"}),
        ("It does not render, and streams games.", {"render"}),
        ("Use V5 in place of V4 for large models.", {"v4"}),
        ("V4 boxes have it; v5u.48xlarge does not.", {"v5u.48xlarge"}),
    ],
)  # fmt: skip
def test_a_denial_reaches_over_its_list_and_no_further(text: str, expected: set[str]) -> None:
    assert denied(text) == expected


def test_a_denial_stays_in_its_clause() -> None:
    scratch, lasting = clauses("Scratch files are not replicated; lasting files are replicated.")
    assert (scratch.denied, lasting.denied) == (frozenset({"replic"}), frozenset())


@pytest.mark.parametrize(("option", "expected"), [("2 GB", False), ("4 GB", True), ("8 GB", True)])
def test_a_figure_of_another_thing_is_told_from_that_of_the_thing_asked_about(option: str, expected: bool) -> None:
    asked = stems_and_letters("How much memory per core do the C chips have?")
    assert is_of_another(stems_and_letters(option), asked, MEMORY) is expected


def test_nothing_is_of_another_where_a_sentence_does_not_speak_of_the_thing_asked_about() -> None:
    assert not is_of_another(stems_and_letters("4 GB"), stems_and_letters("How much memory do X chips have?"), MEMORY)


def test_the_clause_of_an_option_is_the_one_with_most_of_its_words() -> None:
    found = clause_of(stems_and_letters("Red Plan"), PLANS)
    assert found is not None
    assert found.text == "a Red Plan costs less there."
    assert clause_of(stems_and_letters("Blue Block"), PLANS) is None


def test_an_option_of_hundreds_of_sentences_is_read_in_a_few_pieces() -> None:
    assert [len(pieces) for pieces in pieces_of(["Use Spot Instances. Use EFA.", "Inferentia. Type) DL1. " * 300])] == [1, 8]
