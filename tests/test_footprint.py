"""The footprint of an answer: CPU seconds, the energy derived from them, and the estimate for hosted models."""

from collections.abc import Iterator
from statistics import median

import pytest

from chatbot import Chatbot, Footprint, ReaderError, ScriptedChatModel, Usage
from chatbot.answer import Answer
from chatbot.exam.report import usage
from chatbot.exam.results import Question, Result
from chatbot.footprint import FootprintSettings, Meter, grid_carbon, machine_footprint
from chatbot.llm import costs
from chatbot.llm.models import ModelSettings, is_hosted
from chatbot.presentation.render import as_json
from chatbot.settings import settings_from
from chatbot.sizing import Facts
from tests.conftest import ROOT
from tests.test_exam_runs import CHIPS

QUESTION = "How many Trainium chips are in a trn1.32xlarge?"
USAGE = Usage(1_000, 100)


class Clock:
    """A CPU clock that advances only when time is spent explicitly."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def spend(self, *seconds: float) -> Iterator[float]:
        for one in seconds:
            self.now += one
            yield one


def test_the_seconds_of_each_step_add_up_and_those_between_steps_do_not_count() -> None:
    clock, found = Clock(), []
    for step, spent in Meter(clock).metered(clock.spend(1, 2, 4)):
        found.append((step, spent))
        clock.now += 100
    assert found == [(1, 1), (2, 3), (4, 7)]


def test_questions_answered_at_the_same_time_share_the_seconds() -> None:
    clock, shares = Clock(), []
    meter = Meter(clock)

    def answering() -> Iterator[str]:
        clock.now += 10
        shares.extend(spent for _, spent in meter.metered(clock.spend(6)))  # another question, answered meanwhile
        clock.now += 1
        yield "answered"

    assert list(meter.metered(answering())) == [("answered", 14)]
    assert shares == [3]


def test_a_step_that_fails_leaves_nothing_running() -> None:
    clock = Clock()
    meter = Meter(clock)
    with pytest.raises(ZeroDivisionError):
        list(meter.metered(1 / n for n in (0,)))
    assert [spent for _, spent in meter.metered(clock.spend(6))] == [6]


def test_energy_is_seconds_times_watts_and_carbon_that_times_the_grid() -> None:
    assert machine_footprint(3600, 3.3, None) == Footprint(3600, 3.3)
    assert machine_footprint(7200, 5.0, 400) == Footprint(7200, 10.0, 4.0)


def test_an_offline_answer_says_what_it_took(bot: Chatbot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTWISE_WATTS", "36")
    monkeypatch.setenv("WATTWISE_GRID", "500")
    answer = Chatbot(bot.index).ask(QUESTION)
    took = answer.footprint
    assert took is not None
    assert took.cpu_seconds > 0
    assert (took.wh, took.g_co2) == pytest.approx((took.cpu_seconds / 100, took.cpu_seconds / 200))
    assert as_json(answer)["footprint"] == {
        "cpu_seconds": took.cpu_seconds, "wh": took.wh, "g_co2": took.g_co2, "model_wh_low": None, "model_wh_high": None,
        "model_g_co2_low": None, "model_g_co2_high": None, "usd": None,
    }  # fmt: skip


def test_the_grid_is_a_number_or_a_region_of_the_index(bot: Chatbot) -> None:
    assert grid_carbon("", bot.index) is None
    assert grid_carbon("56.5", bot.index) == 56.5
    assert grid_carbon("af-south-1", bot.index) == 699.29
    for wrong in ("mars-north-1", "-1", "nan", "inf"):
        with pytest.raises(ReaderError, match=f"WATTWISE_GRID is '{wrong}': it takes g CO2e per kWh"):
            grid_carbon(wrong, bot.index)


def test_the_assumed_watts_are_those_of_a_busy_vcpu_in_the_corpus() -> None:
    facts = Facts.load_folder(ROOT / "corpus")
    plain = [i for i in facts.instances.values() if not i.accelerators and i.name in facts.hosts]
    at_half_load = median(facts.hosts[i.name].watts / i.vcpus for i in plain)
    assert FootprintSettings().watts == round(2 * at_half_load, 1)


@pytest.mark.parametrize("watts", ["-1", "nan", "inf", "many"])
def test_watts_that_no_core_draws_are_refused(watts: str) -> None:
    with pytest.raises(ReaderError, match=r"WATTWISE_WATTS is .*: it takes"):
        settings_from({"WATTWISE_WATTS": watts}, FootprintSettings)


def test_the_list_price_is_that_of_the_provider() -> None:
    # $0.15 and $0.60 per million input and output tokens, since July 2024.
    assert costs.list_price("openai:gpt-4o-mini", USAGE) == pytest.approx(0.00015 + 0.00006)
    # $3 and $15 per million input and output tokens.
    sonnet = "us.anthropic.claude-3-5-sonnet-20241022-v2:0"
    assert costs.list_price(f"bedrock_converse:{sonnet}", USAGE) == pytest.approx(0.003 + 0.0015)
    assert costs.list_price("bedrock_converse:unheard.of-v1:0", USAGE) is None
    assert costs.list_price("ollama:qwen3", USAGE) is None


def test_the_estimate_is_ecologits_own_for_the_same_model() -> None:
    from ecologits.tracers.utils import llm_impacts

    own = llm_impacts("anthropic", "claude-sonnet-4-5-20250929", 100, 2.0)
    assert own.energy is not None
    for name in ("eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic.claude-sonnet-4-5-20250929"):
        found = costs.estimate(f"bedrock_converse:{name}", USAGE, 2.0)
        ends = (found["model_wh_low"], found["model_wh_high"])
        assert ends == (1000 * own.energy.value.min, 1000 * own.energy.value.max)
        assert 0 < found["model_g_co2_low"] <= found["model_g_co2_high"]


@pytest.mark.parametrize("model", ["bedrock_converse:amazon.nova-lite-v1:0", "openai:unheard-of", "ollama:qwen3"])
def test_a_model_without_an_estimate_has_none(model: str) -> None:
    assert costs.estimate(model, USAGE, 2.0) == {}


def test_only_what_a_provider_runs_has_its_price(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    own = ModelSettings(base_url="http://127.0.0.1:8000/v1")
    assert is_hosted("openai:gpt-4o-mini", ModelSettings())
    assert not is_hosted("openai:gpt-4o-mini", own)
    assert is_hosted("bedrock_converse:amazon.nova-lite-v1:0", own)
    assert not is_hosted("ollama:qwen3", ModelSettings())


def test_a_model_that_was_given_as_an_object_has_the_footprint_of_this_machine(bot: Chatbot) -> None:
    answer = Chatbot(bot.index, ScriptedChatModel(script=lambda messages: "Nothing.")).ask(QUESTION)
    assert answer.footprint is not None
    assert (answer.footprint.model_wh_low, answer.cost) == (None, None)


def test_an_exam_sums_the_footprints_and_leaves_out_what_has_none() -> None:
    def result(footprint: Footprint | None) -> Result:
        answer = Answer("q", "t", (), (), True, (), "m", 0.1, footprint=footprint)
        return Result(CHIPS, "right", answer=as_json(answer))

    question: Question = CHIPS
    summed = usage(
        [result(Footprint(1, 0.5)), result(Footprint(2, 0.25, 4.0)), result(None), Result(question, "error")]
    )
    assert {name: summed[name] for name in ("cpu_seconds", "wh", "g_co2", "model_wh_low")} == {
        "cpu_seconds": 3, "wh": 0.75, "g_co2": 4.0, "model_wh_low": None,
    }  # fmt: skip
