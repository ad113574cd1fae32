"""What one sentence says of several things belongs to each of them alone."""

import pytest

from chatbot.examination.entailment import extremes_told
from chatbot.examination.matter import _terms
from chatbot.examination.pairing import clause_of, clauses, is_of_another, stems_and_letters

MEMORY = "C chips have 2 GB of memory per core, M chips 4 GB and R chips 8 GB."
PLANS = "Green Instances are the wrong choice for work that runs for years; a Red Plan costs less there."


def _subjects(text: str) -> list[set[str]]:
    return [set(clause.subject) for clause in clauses(text)]


def test_a_list_of_figures_has_a_clause_for_each_thing() -> None:
    assert _subjects(MEMORY) == [{"c", "chip"}, {"m", "chip"}, {"r", "chip"}]


def test_a_clause_without_a_subject_of_its_own_goes_on_with_the_one_before() -> None:
    (only,) = clauses("A box has 12 chips with 2 cores each, which makes 24 cores.")
    assert (only.subject, "24" in only.said) == (frozenset({"box"}), True)


def test_a_list_without_figures_is_one_clause() -> None:
    assert len(clauses("R chips suit caches such as Redis, Memcached and Spark.")) == 1


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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Blue Instances have the largest discount of all.", {("up", "discount")}),
        ("It has the lowest price.", {("down", "price")}),
        ("It is fast.", set()),
    ],
)
def test_what_is_called_the_most_or_the_least(text: str, told: set[tuple[str, str]]) -> None:
    assert told <= extremes_told(text)
    assert bool(told) == bool(extremes_told(text))


@pytest.mark.parametrize(
    ("option", "terms"),
    [
        ("Purchase Spot Instances and a three-year plan", [{"spot", "instanc"}]),
        ("A one-year Compute Savings Plan", [{"comput", "save", "plan"}]),
        ("Use AWS Budgets and Tag Editor.", [{"aw", "budget"}, {"tag", "editor"}]),
        ("Launch the Amazon EC2 instances again", []),
        ("NVIDIA H100", []),
    ],
)
def test_what_an_option_proposes_is_named_with_capitals(option: str, terms: list[set[str]]) -> None:
    assert [set(term) for term in _terms(option)] == terms
