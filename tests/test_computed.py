"""Figures are recomputed from their formulas; a draft keeps only sentences whose figures match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.answer import Passage
from chatbot.computed import Computed, numbers
from chatbot.verification.citations import Evidence, verify
from ingest import Chunk, Document, Source

TEXT = "| g6e.xlarge | $1.861 | us-east-1 | 2026-07-20 |\n| g6e.xlarge | NVIDIA L40S GPU | 44.7 GiB |"


def evidence(words: str) -> Evidence:
    source = Source("facts", "Facts", None, None, None, None, None)
    document = Document("facts.csv", source, "Facts", TEXT)
    chunk = Chunk("facts.csv#0", document, (), 0, len(TEXT), TEXT, None)
    start = TEXT.index(words)
    return Evidence(Passage(1, chunk, 1.0), start, start + len(words))


PRICE, MEMORY = evidence(TEXT.splitlines()[0]), evidence(TEXT.splitlines()[1])


def kept(draft: str, *computed: Computed, said: str = "") -> tuple[str, tuple[str, ...]]:
    verified = verify(draft, [PRICE, MEMORY], computed=computed, said=said)
    return verified.text, verified.dropped


@pytest.mark.parametrize(
    ("computed", "known", "expected"),
    [
        (Computed("68 GB", "34e9 parameters × 2 bytes", 1e9), [34e9, 2], True),
        (Computed("69 GB", "34e9 parameters × 2 bytes", 1e9), [34e9, 2], False),
        (Computed("68 GB", "34e9 parameters × 2 bytes", 1e9), [34e9], False),
        (Computed("68 GB", "34e9 parameters × 2 bytes", 1e9, constants=(2.0,)), [34e9], True),
        (Computed("$1,360", "1 × 1.861 × 730 hours"), [1, 1.861, 730], True),
        (Computed("1,340 kg", "(2.5 kWh × 730 g + 10 g) × 730 hours / 1000"), [2.5, 730, 10, 1000], True),
        (Computed("1", "no arithmetic"), [1], False),
        (Computed("1", "1 / 0"), [1, 0], False),
    ],
)
def test_a_figure_holds_if_its_arithmetic_gives_it_out_of_known_numbers(
    computed: Computed, known: list[float], expected: bool
) -> None:
    assert computed.holds(known) is expected


def test_numbers_are_read_with_what_their_scales_come_to() -> None:
    assert numbers("70.6B, 44 GiB, $1,361.5 and 1.5e+06 of 128") == [70.6, 70.6e9, 44, 44 * 2**30, 1361.5, 1.5e6, 128]


@given(st.text(max_size=60))
def test_any_text_may_stand_for_a_formula(formula: str) -> None:
    assert Computed("1", formula).holds([1.0]) in (True, False)


def test_a_sentence_of_computed_and_cited_figures_is_kept_with_exact_quotes() -> None:
    month = Computed("$1,360", "1 × 1.861 × 730 hours", constants=(1.0, 730.0))
    verified = verify(
        "A g6e.xlarge costs $1.861 an hour, $1,360 a month (us-east-1, 2026-07-20) [1].", [PRICE], computed=[month]
    )
    assert verified.text == "A g6e.xlarge costs $1.861 an hour, $1,360 a month (us-east-1, 2026-07-20) [1]."
    assert [c.quote for c in verified.citations] == [TEXT.splitlines()[0]]
    assert all(c.passage.chunk.document.text[c.start : c.end] == c.quote for c in verified.citations)


@pytest.mark.parametrize(
    "draft",
    [
        "A g6e.xlarge costs $1.961 an hour [1].",  # not the row's figure
        "A g6e.xlarge costs $1,460 a month [1].",  # not the result of the formula
        "A p5.48xlarge costs $1.861 an hour [1].",  # a name that is not in the row
        "An L40S costs $1.861 an hour [1].",  # a name in another row
        "A g6e.xlarge costs $1.861 an hour.",  # no mark
        "A g6e.xlarge costs $1.861 an hour [7].",  # no such mark
    ],
)
def test_a_sentence_with_a_figure_or_name_from_nowhere_is_dropped(draft: str) -> None:
    text, dropped = kept(draft, Computed("$1,460", "1 × 1.861 × 730 hours", constants=(1.0, 730.0)))
    assert (text, len(dropped)) == ("", 1)


def test_what_the_user_said_and_what_was_assumed_needs_no_mark() -> None:
    assert kept("Assumed: 8,192 tokens of context.", said="8,192 tokens of context")[0] == "Assumed: 8,192 tokens of context."
    assert kept("Assumed: 4,096 tokens of context.", said="8,192 tokens of context")[0] == ""


def test_a_figure_may_be_computed_from_another() -> None:
    watts = Computed("54000", "16 × 3375 W", constants=(16.0, 3375.0))
    energy = Computed("62.1 kWh", "54000 W × 1.15 / 1000", constants=(1.15, 1000.0))
    assert kept("It draws 62.1 kWh.", watts, energy, said="it")[0] == "It draws 62.1 kWh."
    assert kept("It draws 62.1 kWh.", energy, said="it")[0] == ""


def test_a_figure_computed_from_another_rests_on_what_the_sentence_cites() -> None:
    month = Computed("$1,360", "1.861 × 730 hours", constants=(730.0,))
    half = Computed("$679", "1358.53 / 2", constants=(2.0,))
    assert kept("Half of it is $679 [1].", month, half)[0] == "Half of it is $679 [1]."
    assert kept("Half of it is $679 [2].", month, half)[0] == ""
