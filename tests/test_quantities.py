from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.language.quantities import quantities, same, with_unit, without_unit
from chatbot.question.asked_quantity import asked_dimensions, asks_quantity, counted


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("512 GB of memory", [(512e9, 512e9, "bytes")]),
        ("9.8 TB/s", [(9.8e12, 9.8e12, "bytes/s")]),
        ("25 Gb/s, 25 GB/s and 80 Gb", [(25e9, 25e9, "bits/s"), (25e9, 25e9, "bytes/s"), (80e9, 80e9, "bytes")]),
        ("up to 12.5 Gbps", [(12.5e9, 12.5e9, "bits/s")]),
        ("60-80 TFLOPS, ~700W TDP", [(60e12, 80e12, "flops"), (700, 700, "watts")]),
        ("~86-114 TFLOPS/watt", [(86e12, 114e12, "flops/watt")]),
        ("USD 787 instead of $2,091", [(787, 787, "money"), (2091, 2091, "money")]),
        ("100 billion+ parameters", [(100e9, inf, "parameters")]),
        ("<1B parameters", [(0, 1e9, "parameters")]),
        ("7B-30B parameters", [(7e9, 30e9, "parameters")]),
        ("a twenty-five billion parameter model", [(25e9, 25e9, "parameters")]),
        ("6.3 times higher, 2-3x, 4x", [(6.3, 6.3, "times"), (2, 3, "times"), (4, 4, "times")]),
        ("64-128x H100", [(64, 128, "count")]),
        ("2.3h versus 4h", [(8280, 8280, "time"), (14400, 14400, "time")]),
        ("30-50% savings", [(30, 50, "percent")]),
        ("900,000 cores", [(900_000, 900_000, "count")]),
        ("dated 2022", [(2022, 2022, "date")]),
        ("trn1.32xlarge, H100, GPT-3 and FP16", []),
    ],
)
def test_numbers_are_read_with_their_units(text: str, expected: list[tuple[float, float, str]]) -> None:
    assert [(q.low, q.high, q.dimension) for q in quantities(text)] == [pytest.approx(e) for e in expected]


def test_the_same_quantity_in_another_unit_is_the_same() -> None:
    (terabyte,), (gigabytes,) = quantities("1 TB"), quantities("1000 GB")
    assert same(terabyte, gigabytes)


def test_a_size_lies_in_its_band() -> None:
    (band,), (inside,), (outside,) = (
        quantities("7B-30B parameters"),
        quantities("a 13B model"),
        quantities("a 70B model"),
    )
    assert (band.holds(inside), band.holds(outside)) == (True, False)


@given(st.text())
def test_what_is_found_stands_where_it_says(text: str) -> None:
    assert all(text[q.start : q.end] == q.text for q in quantities(text))


@pytest.mark.parametrize(
    ("header", "cell", "bare", "measured"),
    [
        ("TDP (W)", "750", "TDP", "750 W"),
        ("Network Gbps", "50", "Network", "50 Gbps"),
        ("Power in kW", "10-12", "Power", "10-12 kW"),
        ("Board power (TDP)", "75", "Board power (TDP)", "75"),
        ("Memory (GB)", "80 GB", "Memory", "80 GB"),
        ("g CO2e per kWh", "13", "g CO2e per kWh", "13"),
    ],
)
def test_a_header_lends_its_unit_to_bare_numbers(header: str, cell: str, bare: str, measured: str) -> None:
    assert (without_unit(header), with_unit(header, cell)) == (bare, measured)


@pytest.mark.parametrize(
    ("question", "dimensions", "strict"),
    [
        ("How many watts does the L4 draw?", {"watts"}, True),
        ("By what factor of the power draw is cooling reckoned?", {"times", "watts"}, True),
        ("TPU v5e versus L40S in TFLOPS per watt", {"flops/watt"}, True),
        ("When was Trn1 released?", {"date"}, True),
        ("When is a CPU enough?", set(), False),
        ("Which parts did the power draw include?", {"watts"}, False),
        ("What does the run on B cost relative to A?", {"money", "euros"}, False),
        ("How many FP16 TFLOPS does the L40S manage?", {"flops"}, True),
        ("How many TB/s of memory bandwidth does the H200 have?", {"bytes/s"}, True),
        ("How many inferences per hour were asked for?", {"count"}, True),
        ("By how much does it lower the power draw?", {"watts", "percent", "times"}, True),
        ("How many more sequences per hour was that?", {"count", "percent", "times"}, False),
        ("Which DCGM counter gives the power draw in watts?", {"watts"}, False),
        ("What request rate per hour was the target?", set(), False),
    ],
)
def test_what_a_question_asks_for_and_whether_nothing_else_will_do(
    question: str, dimensions: set[str], strict: bool
) -> None:
    assert asked_dimensions(question) == (frozenset(dimensions), strict)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How many training sequences does it take?", ("training", "sequences")),
        ("number of machines in the test?", ("instances",)),
        ("vCPU count of trn1.2xlarge pls", ("vcpu",)),
        ("How many of them?", ("of", "them")),
        ("What does it cost?", ()),
    ],
)
def test_what_is_to_be_counted(question: str, words: tuple[str, ...]) -> None:
    assert counted(question) == words


def test_the_names_of_two_things_are_no_quantity() -> None:
    assert not asks_quantity("By what names do the two go?")
