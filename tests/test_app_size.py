"""The Size page: what it shows, what its address holds, and the memory bar, which sizing answers show too."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from app.conversation import Exchange
from app.memory_bar import hardware_words, memory_bar_html
from app.size import verdict
from app.size_inputs import size_link
from chatbot import Answer
from chatbot.sizing import Facts, Format, Memory, Reference, Sizing, Task, Term, Workload, size
from tests.app_pages import ROOT, html, listening, started

MODEL = "meta-llama/Meta-Llama-3.1-70B"
EVERYTHING = Workload(
    model=MODEL,
    task=Task.LORA,
    weights=Format.BF16,
    context=32_768,
    sequences=4,
    region="eu-north-1",
    budget_per_hour=12.5,
    accelerator="H100",
    accelerators=8,
    vendors=frozenset({"NVIDIA"}),
    families=frozenset({"p5", "p5en"}),
    without=frozenset({"g6e"}),
)


@pytest.fixture(autouse=True)
def _index(corpus_index: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("WATTWISE_INDEX", str(corpus_index))
    with listening("127.0.0.1"):
        yield


@pytest.fixture(scope="module")
def facts() -> Facts:
    return Facts.load_folder(ROOT / "corpus")


def sized(facts: Facts, **slots: object) -> Sizing:
    return size(Workload(**slots), facts)  # type: ignore[arg-type]


def inputs() -> None:
    """A script with only the inputs."""
    import streamlit as st

    from app.size_inputs import ask_workload
    from chatbot.sizing import Facts
    from chatbot.sizing.sizing import CORPUS

    st.session_state["asked"] = ask_workload(Facts.load_folder(CORPUS))


def asked(link: str) -> tuple[Workload | None, AppTest]:
    """Return the workload that an address of the page stands for, and the page."""
    app = AppTest.from_function(inputs, default_timeout=30)
    for name, values in parse_qs(link.partition("?")[2]).items():
        app.query_params[name] = values
    app.run()
    assert not app.exception
    workload: Workload | None = app.session_state["asked"]
    return workload, app


@pytest.mark.evaluation
def test_without_a_model_the_page_offers_examples() -> None:
    page = started("size")
    assert "Does it fit, what do I launch" in html(page)
    page.pills(key="example").set_value("QLoRA of a 34B").run()
    assert "QLoRA of a model of 34B parameters in nf4 needs" in html(page)


def test_an_input_changes_the_result() -> None:
    page = started("size", model=MODEL)
    assert "Meta-Llama-3.1-70B in bf16 needs 144 GB (134 GiB); it fits on" in html(page)
    page.selectbox(key="format").set_value("awq").run()
    assert "Meta-Llama-3.1-70B in awq needs" in html(page)
    assert not page.exception
    assert {"Headroom", "$/hour", "kg CO2e/month"} <= set(page.dataframe[0].value.columns)
    assert len(page.get("vega_lite_chart")) == 1


def test_each_figure_stands_there_with_its_arithmetic_its_source_and_its_row() -> None:
    shown = html(started("size", model=MODEL, instance="g6e.48xlarge"))
    assert "<b>weights</b> 70.6e9 parameters × 2 bytes = 141 GB" in shown
    assert 'href="https://arxiv.org/abs/2305.13245"' in shown
    assert "<b>$ per hour</b> 1 × 30.1312 = 30.1" in shown
    assert f"Model {MODEL} · Parameters 70.6B" in shown
    assert "Instance type g6e.48xlarge · Price per hour $30.13118" in shown
    assert 'href="https://huggingface.co/meta-llama/Meta-Llama-3.1-70B/blob/main/config.json"' in shown
    assert 'href="sources?doc=corpus%2Ffacts%2Fprices.csv"' in shown


def test_the_table_shows_what_does_not_hold_it_when_asked() -> None:
    page = started("size", model=MODEL)
    held = page.dataframe[0].value
    page.toggle(key="every").set_value(True).run()
    every = page.dataframe[0].value
    assert (held["Headroom"] >= 0).all()
    assert len(every) > len(held)
    assert (every["Headroom"] < 0).any()


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"parameters": "many"}, "'many' is not a number"),
        ({"parameters": "0"}, "No model has 0 parameters"),
        ({"model": MODEL, "context": "1m"}, "takes 131,072 tokens at most"),
        ({"parameters": "7b", "task": "pre-training", "format": "awq"}, "cannot be trained in full"),
    ],
)
def test_what_is_impossible_is_said_in_one_sentence(query: dict[str, str], sentence: str) -> None:
    page = started("size", **query)
    assert not page.exception
    (error,) = page.error
    assert sentence in error.value.replace("\\", "")


@pytest.mark.parametrize(
    "workload",
    [
        EVERYTHING,
        Workload(parameters=34e9, task=Task.SERVE),
        Workload(parameters=1.5e9, task=Task.SERVE, cache=Format.FP8, sequences=20, context=1000),
        Workload(parameters=7e9, task=Task.PRETRAIN, instance_type="p5.48xlarge"),
    ],
)
def test_the_address_gives_back_every_input(workload: Workload) -> None:
    assert asked(size_link(workload))[0] == workload


def test_nonsense_in_the_address_is_left_out_with_a_sentence() -> None:
    workload, app = asked("size?parameters=7b&format=int3&users=-1&budget=cheap&vendor=ACME&unheard=1&region=mars-1")
    assert workload == Workload(parameters=7e9, task=Task.SERVE)
    (warning,) = app.warning
    said = warning.value.replace("\\", "")
    assert said.startswith("The link says format=int3, users=-1, region=mars-1, budget=cheap, vendor=ACME: ")


@pytest.mark.parametrize("value", ["<script>alert(1)</script>", "$x$ **y**", "a" * 5000, "\x00", "é" * 40])
def test_whatever_the_address_names_stays_text(value: str) -> None:
    page = started("size", parameters="7b", accelerator=value)
    assert not page.exception
    assert "<script>alert" not in html(page)
    assert len(page.error) <= 1


def test_the_verdict_on_named_hardware_says_both_figures(facts: Facts) -> None:
    assert verdict(sized(facts, parameters=34e9, accelerator="L40S")) == (
        "No: a model of 34B parameters in bf16 needs 70.1 GB, and an L40S has 43.2 GB usable."
    )
    assert verdict(sized(facts, parameters=7e9, accelerator="A100", accelerators=8)).startswith(
        "Yes: a model of 7B parameters in bf16 needs "
    )


@pytest.mark.parametrize(
    ("accelerator", "named"),
    [
        ("AWS Inferentia2 chip", "an Inferentia2 has"),
        ("NVIDIA RTX PRO Server 6000 GPU", "an RTX PRO Server 6000 has"),
        ("AMD MI300X GPU", "an MI300X has"),
        ("Google TPU v4 chip", "a TPU v4 has"),
        ("Intel Gaudi2 accelerator", "a Gaudi2 has"),
    ],
)
def test_an_accelerator_is_named_without_its_maker_and_with_its_article(
    facts: Facts, accelerator: str, named: str
) -> None:
    assert f"GB, and {named} " in verdict(sized(facts, parameters=7e9, accelerator=accelerator))


def test_the_bar_shows_what_one_accelerator_holds(facts: Facts) -> None:
    sizing = sized(facts, model=MODEL, instance_type="g6e.48xlarge")
    named = sizing.named
    assert named is not None
    assert hardware_words(named) == "4 of 8 L40S in g6e.48xlarge"
    shown = memory_bar_html(sizing)
    assert "On each of 4 L40S in g6e.48xlarge: 36 GB needed, 43.2 GB usable" in shown
    # 141.2e9 bytes of weights and 2.684e9 of KV cache, divided by four.
    assert re.findall(r"</span>([\w ]+) <b>([\d.]+) GB</b>", shown) == [("weights", "35.3"), ("KV cache", "0.671")]
    # The scale ends 2 % beyond the usable memory.
    assert 'class="ww-usable" style="left:98.04%"' in shown


def test_what_does_not_fit_goes_beyond_the_line(facts: Facts) -> None:
    shown = memory_bar_html(sized(facts, parameters=34e9, accelerator="L40S"))
    widths = [float(width) for width in re.findall(r"width:([\d.]+)%", shown)]
    (line,) = re.findall(r"left:([\d.]+)%", shown)
    assert sum(widths) == pytest.approx(98.04, abs=0.05)
    assert float(line) < sum(widths)


def test_without_hardware_the_bar_shows_all_of_the_memory(facts: Facts) -> None:
    sizing = sized(facts, parameters=7e9)
    term = Term("weights", 16e9, "2 × 8", Reference("T", "https://example.org"))
    nowhere = replace(sizing, named=None, cheapest=None, smallest=None, memory=Memory((term,)))
    shown = memory_bar_html(nowhere)
    assert "<figcaption>16 GB in all</figcaption>" in shown
    assert "ww-usable" not in shown


def answered(workload: Workload) -> AppTest:
    """Return the chat with an answer that sizes this workload."""
    answer = Answer("Does it fit?", "No.", (), (), False, (), "offline", 0.1, workloads=(workload,))
    page = started()
    exchange = Exchange("x", "Does it fit?", answer=answer, updated="2026-11-23T10:00:00+00:00")
    page.session_state["exchanges"] = [exchange]
    page.session_state["linked"] = True
    page.run()
    assert (len(page.exception), len(page.error)) == (0, 0)
    return page


def test_a_sizing_answer_in_the_chat_has_its_bar_and_the_way_to_its_page() -> None:
    shown = html(answered(Workload(parameters=34e9, accelerator="L40S")))
    assert "On one L40S: 70.1 GB needed, 43.2 GB usable" in shown
    assert 'href="size?parameters=34b&amp;accelerator=L40S"' in shown


def test_an_answer_whose_model_the_index_has_lost_is_shown_without_a_bar() -> None:
    assert "ww-memory" not in html(answered(Workload(model="gone/Gone-7B")))
