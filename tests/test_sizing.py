"""What a sizing says: the verdict, what to launch, cost and emissions, and refusals."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatbot.answer import ReaderError
from chatbot.sizing import Facts, Fit, Format, Memory, Optimizer, Sizing, Task, Workload, size
from chatbot.sizing.architecture import Architecture
from chatbot.sizing.arithmetic import evaluate
from chatbot.sizing.fit import Hardware, hardware, place, tensor_degrees
from chatbot.sizing.memory import (
    BITS,
    GIB,
    Sharding,
    activations,
    gradients,
    kv_cache,
    optimizer_states,
    training_weights,
    weights,
)

FACTS = Facts.load_folder(Path(__file__).resolve().parents[1] / "corpus")
LLAMA_8B, LLAMA_70B, LLAMA_405B = (f"meta-llama/Meta-Llama-3.1-{size_of}" for size_of in ("8B", "70B", "405B"))
SERVING = Workload(model=LLAMA_70B, task=Task.SERVE, weights=Format.INT8, context=16_384, sequences=1)


def sized(**slots: object) -> Sizing:
    return size(Workload(**slots), FACTS)  # type: ignore[arg-type]


def names(*fits: Fit | None) -> list[str | None]:
    return [fit.name if fit else None for fit in fits]


def on(sizing: Sizing, name: str) -> Fit:
    return next(fit for fit in sizing.fits if fit.name == name)


# The verdict


def test_a_34b_model_in_bf16_does_not_fit_one_l40s() -> None:
    sizing = sized(parameters=34e9, accelerator="L40S")
    named = sizing.named
    assert named is not None
    assert (sizing.verdict, named.fits, named.name, named.accelerators) == (
        "does not fit", False, "NVIDIA L40S GPU", 1,
    )  # fmt: skip
    assert sizing.memory.terms[0].bytes == 68e9
    assert named.usable_bytes == pytest.approx(0.9 * 48e9, rel=0.001)
    # Other hardware is then considered too, and the smallest number of the named accelerators that fits is also given.
    assert sizing.named_cheapest is not None
    assert (sizing.named_cheapest.name, sizing.named_cheapest.accelerators) == ("g6e.12xlarge", 2)
    assert sizing.smallest is not None
    assert sizing.smallest.accelerators == 1


@pytest.mark.parametrize(
    ("needed", "verdict", "fits"),
    [
        (80, "fits", True),
        (95, "tight", True),
        (100, "tight", True),
        (105, "tight", False),
        (111, "does not fit", False),
    ],
)
def test_a_verdict_that_a_tenth_turns_over_is_tight(needed: float, verdict: str, fits: bool) -> None:
    fit = Fit(None, None, 1, 1, Sharding(), needed, 100, "yes", ())
    assert (fit.verdict, fit.fits) == (verdict, fits)


def test_the_names_of_a_task_and_its_formats_will_do() -> None:
    named = Workload(parameters=7e9, task="full fine-tuning", weights="fp16", optimizer="8-bit Adam")  # type: ignore[arg-type]
    assert size(named) == size(Workload(parameters=7e9, task=Task.FULL, weights=Format.FP16, optimizer=Optimizer.ADAM_8BIT))
    assert size(Workload(parameters=7e9, task="serving", cache="fp8")) == size(Workload(parameters=7e9, task=Task.SERVE, cache=Format.FP8))  # type: ignore[arg-type]
    with pytest.raises(ReaderError, match=r"^'dream' is no task: write one of serve, serving, inference, full, finetune, lora, qlora, pretrain, pretraining\.$"):
        size(Workload(parameters=7e9, task="dream"))  # type: ignore[arg-type]


def test_what_fits_on_the_named_hardware_is_launched_there() -> None:
    sizing = sized(model=LLAMA_8B, accelerator="A10G")
    assert sizing.verdict == "fits"
    assert names(sizing.smallest, sizing.cheapest, sizing.least_energy) == ["g5.xlarge"] * 3


def test_the_memory_in_the_name_of_an_accelerator_chooses_among_its_kinds() -> None:
    large, small = (sized(model=LLAMA_70B, accelerator=f"A100 {gb}GB", accelerators=2) for gb in (80, 40))
    assert [s.named.fits for s in (large, small) if s.named] == [True, False]
    assert names(large.named_cheapest, small.named_cheapest) == ["p4de.24xlarge", "p4d.24xlarge"]
    either = sized(model=LLAMA_70B, accelerator="A100", accelerators=2)
    assert either.verdict == large.verdict
    assert "the NVIDIA A100 GPU is made with 40 GB and 80 GB: the verdict is that of the largest" in either.notes


def test_the_verdict_is_that_of_as_many_as_are_named() -> None:
    one = sized(model=LLAMA_405B, instance_type="p5.48xlarge")
    assert (one.verdict, one.named and one.named.instances) == ("does not fit", 1)
    assert (one.named_cheapest and one.named_cheapest.instances) == 2
    assert sized(model=LLAMA_405B, instance_type="p5.48xlarge", instances=2).verdict == "fits"
    assert sized(model=LLAMA_405B, accelerator="H100", accelerators=8).verdict == "does not fit"
    four = sized(model=LLAMA_8B, accelerator="L4", accelerators=4).named
    assert four is not None
    assert (four.accelerators, four.sharding.tensor) == (4, 4)


# Pitfalls in the data


@pytest.mark.parametrize(
    ("slots", "note"),
    [
        ({"parameters": 7e9}, f"{LLAMA_70B} has 70.6 billion parameters: the 7 billion given are not used"),
        ({"parameters": 70e9}, ""),
        ({"accelerator": "L40S", "instance_type": "p5.48xlarge"}, "p5.48xlarge has no L40S: the verdict is that of p5.48xlarge"),
        ({"accelerator": "H100", "instance_type": "p5.48xlarge"}, ""),
        ({"accelerator": "L40S", "accelerators": 10}, "the model is divided over 8 of the 10 accelerators, as it cannot be divided evenly over more of them"),
        ({"accelerator": "L40S", "accelerators": 8}, ""),
    ],
)
def test_what_is_given_and_not_used_is_said(slots: dict[str, object], note: str) -> None:
    notes = sized(model=LLAMA_70B, **slots).notes
    assert [n for n in notes if not n.startswith("not compared")] == ([note] if note else [])


@pytest.mark.parametrize(
    ("instance_type", "devices", "gib"),
    [
        ("g5.xlarge", 1, 22.35),  # 22,888 MiB, not 24 GiB
        ("p5en.48xlarge", 8, 141e9 / GIB),  # EC2 gives the 141 GB of an H200 as GiB
        ("trn2.48xlarge", 16, 96),
        ("g6f.xlarge", 1, 2.79),  # an eighth of an L4
        ("m7i.xlarge", 1, 16),
    ],
)
def test_the_memory_of_an_instance_type_is_what_it_offers(instance_type: str, devices: int, gib: float) -> None:
    machine = hardware(FACTS.instances[instance_type], FACTS)
    assert (machine.devices, machine.memory_gib) == (devices, pytest.approx(gib, abs=0.01))


def test_what_is_not_published_is_said_and_not_guessed() -> None:
    sizing = sized(model=LLAMA_8B, vendors=frozenset({"AWS"}))
    inferentia, trainium2 = on(sizing, "inf2.xlarge").impact, on(sizing, "trn2.48xlarge").impact
    assert inferentia is not None
    assert trainium2 is not None
    assert (inferentia.watts, inferentia.kg_co2_per_month) == (None, None)
    assert any("no published power figure" in note for note in inferentia.notes)
    assert (trainium2.usd_per_hour, trainium2.usd_per_million_tokens) == (None, None)
    assert "no on-demand price of trn2.48xlarge in the data" in trainium2.notes
    assert names(sizing.cheapest, sizing.least_energy, sizing.least_carbon) == ["inf2.xlarge", None, None]


def test_both_power_figures_of_an_accelerator_are_said_where_they_differ() -> None:
    impact = on(sized(model=LLAMA_8B, region="us-east-1"), "g5.xlarge").impact
    assert impact is not None
    assert impact.figure("watts").formula.endswith("1 × (18 + 0.5 × (153 - 18)) W")
    assert any("allows an NVIDIA A10G GPU 300 W" in note and "153 W" in note for note in impact.notes)


@pytest.mark.parametrize(
    ("slots", "runs", "caveat"),
    [
        ({"model": LLAMA_8B, "instance_type": "inf2.xlarge"}, "yes", None),
        ({"model": "openai/gpt-oss-20b", "instance_type": "inf2.xlarge"}, "unknown", "Neuron runs this model"),
        ({"parameters": 8e9, "instance_type": "inf2.xlarge"}, "unknown", "depends on its family"),
        ({"model": LLAMA_8B, "weights": Format.AWQ, "instance_type": "inf2.xlarge"}, "no", "not to 4"),
        ({"model": LLAMA_8B, "task": Task.LORA, "instance_type": "inf2.24xlarge"}, "no", "does not train"),
        ({"model": LLAMA_8B, "instance_type": "inf1.xlarge"}, "no", "first Inferentia"),
        ({"model": LLAMA_8B, "instance_type": "f2.6xlarge"}, "no", "FPGA"),
        ({"model": LLAMA_8B, "instance_type": "p2.xlarge"}, "no", "compute capability"),
        ({"model": LLAMA_8B, "instance_type": "g5g.xlarge"}, "unknown", "not in the data"),
        ({"model": LLAMA_8B, "instance_type": "g4dn.xlarge"}, "yes", "no bf16: use fp16"),
        ({"model": LLAMA_8B, "weights": Format.FP8, "instance_type": "p4d.24xlarge"}, "yes", "no fp8 arithmetic"),
        ({"model": LLAMA_8B, "instance_type": "m7i.4xlarge"}, "yes", "on the CPU"),
    ],
)
def test_whether_the_software_runs_the_model_is_said(slots: dict[str, object], runs: str, caveat: str | None) -> None:
    named = sized(**slots).named
    assert named is not None
    assert named.runs == runs
    assert any(caveat in found for found in named.caveats) if caveat else not named.caveats


def test_what_does_not_run_is_never_advised() -> None:
    sizing = sized(model=LLAMA_8B, task=Task.QLORA, vendors=frozenset({"AWS"}))
    assert any(fit.fits for fit in sizing.fits)
    assert names(sizing.smallest, sizing.cheapest) == [None, None]
    assert "not known to run it" in sizing.notes[0]


# Choice


def test_the_choices_are_the_least_of_what_fits() -> None:
    sizing = size(SERVING, FACTS)
    assert (sizing.smallest, sizing.cheapest) != (None, None)
    open_to = [f for f in sizing.fits if f.verdict == "fits" and f.runs == "yes" and f.instances == 1 and f.impact]
    assert sizing.smallest
    assert sizing.smallest.devices == min(fit.devices for fit in open_to)
    for choice, figure in (
        (sizing.cheapest, "usd_per_hour"),
        (sizing.least_energy, "kwh_per_hour"),
        (sizing.least_carbon, "kg_co2_per_month"),
    ):
        assert choice is not None
        known = [value for fit in open_to if (value := getattr(fit.impact, figure)) is not None]
        assert getattr(choice.impact, figure) == min(known)
    assert {fit.accelerator.vendor for fit in sizing.alternatives if fit.accelerator} == {"AWS"}


def test_a_budget_and_wishes_narrow_the_choice() -> None:
    budget = sized(model=LLAMA_8B, budget_per_month=730)
    assert budget.cheapest
    assert budget.cheapest.within_budget
    assert all(
        fit.within_budget is not True for fit in budget.fits if fit.impact and (fit.impact.usd_per_hour or 2) > 1
    )
    assert {f.instance.family for f in sized(model=LLAMA_8B, families=frozenset({"g6e"})).fits if f.instance} == {"g6e"}
    without = sized(model=LLAMA_8B, without=frozenset({"NVIDIA", "trn1"}))
    assert not any(f.name.startswith(("g", "p", "trn1.")) and "NVIDIA" in str(f.accelerator) for f in without.fits)
    beyond = sized(model=LLAMA_70B, budget_per_hour=0.5)
    assert "nothing that holds it is known to cost at most $0.5 an hour" in beyond.notes


def test_types_without_accelerators_are_considered_only_when_asked_for() -> None:
    assert all(fit.accelerator or (fit.instance and fit.instance.accelerators) for fit in sized(model=LLAMA_8B).fits)
    assert {f.instance.family for f in sized(model=LLAMA_8B, families=frozenset({"m7i"})).fits if f.instance} == {"m7i"}


def test_a_model_larger_than_a_server_takes_several() -> None:
    sizing = sized(model=LLAMA_405B, task=Task.FULL)
    assert sizing.cheapest is not None
    assert sizing.cheapest.instances > 1
    assert sizing.cheapest.sharding == Sharding(ranks=sizing.cheapest.accelerators, zero_stage=3)
    assert any("several instances" in note for note in sizing.notes)
    assert sized(parameters=1e15).notes[0] == "nothing that was considered holds it"


@pytest.mark.parametrize(
    ("heads", "cached", "devices", "neuron", "degrees"),
    [
        (64, 8, 8, False, [1, 2, 4, 8]),
        (56, 8, 8, False, [1, 2, 4, 8]),
        (40, 8, 16, False, [1, 2, 4, 8]),
        (32, 4, 8, False, [1, 2, 4, 8]),  # key/value heads are replicated where there are fewer than accelerators
        (9, 3, 8, False, [1]),
        (64, 8, 12, True, [1, 2, 3, 4, 6, 12]),  # Neuron pads the heads
    ],
)
def test_tensor_parallelism_divides_the_heads(
    heads: int, cached: int, devices: int, neuron: bool, degrees: list[int]
) -> None:
    model = Architecture(1e9, 1e9, 1, 128, heads, cached, 128, 1)
    assert list(tensor_degrees(model, devices, neuron=neuron)) == degrees


# Cost, energy, carbon, speed


def test_every_figure_follows_from_its_inputs() -> None:
    sizing = sized(model=LLAMA_8B, region="eu-north-1", instance_type="g6e.xlarge", load=0.4, hours=100)
    assert sizing.named is not None
    impact, load = sizing.named.impact, 0.4
    assert impact is not None
    price = FACTS.price("g6e.xlarge")
    sheet = FACTS.accelerators["NVIDIA L40S GPU"][0]
    host, pue, grid = FACTS.hosts["g6e.xlarge"], FACTS.pue("eu-north-1"), FACTS.grids["eu-north-1"]
    assert price
    assert pue
    assert pue.pue
    assert pue.litres_per_kwh
    assert sheet.idle_w is not None
    assert sheet.max_w
    watts = host.watts + sheet.idle_w + load * (sheet.max_w - sheet.idle_w)
    kwh = watts * pue.pue / 1000
    assert impact.price == price
    assert "no price of g6e.xlarge in eu-north-1 in the data: that of us-east-1 is taken" in impact.notes
    month = (kwh * grid.g_co2_per_kwh + host.embodied_g_per_hour) * 730 / 1000
    expected = {
        "usd_per_hour": price.usd_per_hour,
        "usd_per_day": price.usd_per_hour * 24,
        "usd_per_month": price.usd_per_hour * 730,
        "usd_per_run": price.usd_per_hour * 100,
        "watts": watts,
        "kwh_per_hour": kwh,
        "kwh_per_month": kwh * 730,
        "kwh_per_run": kwh * 100,
        "g_co2_per_hour": kwh * grid.g_co2_per_kwh,
        "embodied_g_per_hour": host.embodied_g_per_hour,
        "kg_co2_per_month": month,
        "kg_co2_per_run": month / 730 * 100,
        "litres_per_hour": watts / 1000 * pue.litres_per_kwh,
    }
    assert {name: getattr(impact, name) for name in expected} == pytest.approx(expected)


def test_idle_accelerators_of_a_machine_draw_power_too() -> None:
    fit = on(sized(parameters=34e9), "g6e.12xlarge")
    assert fit.impact is not None
    host, sheet = FACTS.hosts["g6e.12xlarge"], FACTS.accelerators["NVIDIA L40S GPU"][0]
    assert sheet.idle_w is not None
    assert sheet.max_w
    assert fit.accelerators == 2
    assert fit.impact.watts == pytest.approx(host.watts + 2 * (sheet.idle_w + sheet.max_w) / 2 + 2 * sheet.idle_w)


def test_the_speed_is_a_bound_and_makes_the_least_cost_of_a_million_tokens() -> None:
    impact = on(sized(model=LLAMA_8B, region="us-east-1"), "g6e.xlarge").impact
    assert impact is not None
    assert impact.decode_tokens_per_second == pytest.approx(864e9 / (8.03e9 * 2 + 131_072 * 8192), rel=0.001)
    assert impact.prefill_tokens_per_second_high == pytest.approx(0.5 * 362e12 / (2 * 8.03e9), rel=0.001)
    assert impact.usd_per_hour is not None
    assert impact.usd_per_million_tokens == pytest.approx(
        impact.usd_per_hour / (impact.decode_tokens_per_second * 3600) * 1e6
    )


def test_energy_and_cost_at_a_given_speed_cite_the_source_of_what_is_divided() -> None:
    impact = on(sized(model=LLAMA_8B, region="us-east-1", tokens_per_second=100), "g6e.xlarge").impact
    assert impact is not None
    names = ("usd_per_million_tokens", "kwh_per_million_tokens")
    assert [impact.known(name).source.title for name in names] == ["Amazon EC2 On-Demand Pricing", "Cloud Carbon Footprint, Methodology"]


def test_the_time_of_a_training_comes_from_its_tokens() -> None:
    sizing = sized(model=LLAMA_8B, task=Task.FULL, tokens=1e9, instance_type="p5.48xlarge")
    assert sizing.named is not None
    impact = sizing.named.impact
    assert impact is not None
    seconds = 6 * 8.03e9 * 1e9 / (8 * 989e12)
    assert impact.training_hours_low == pytest.approx(seconds / 0.5 / 3600, rel=0.001)
    assert impact.training_hours_high == pytest.approx(seconds / 0.3 / 3600, rel=0.001)
    assert impact.usd_per_run == pytest.approx((impact.usd_per_hour or 0) * (impact.training_hours_low or 0))


def test_the_cheapest_of_a_training_is_the_cheapest_run() -> None:
    sizing = sized(model=LLAMA_8B, task=Task.QLORA, tokens=5e7)
    runs = [f.impact.usd_per_run for f in sizing.fits if f.impact and f.verdict == "fits" and f.runs == "yes"]
    assert sizing.cheapest
    assert sizing.cheapest.impact
    assert sizing.cheapest.impact.usd_per_run == min(run for run in runs if run is not None)


def test_every_formula_computes_to_its_value_again() -> None:
    for workload in (
        SERVING,
        Workload(model="openai/gpt-oss-120b", weights=Format.MXFP4, context=65_536, sequences=3, region="eu-north-1"),
        Workload(model="deepseek-ai/DeepSeek-V3", weights=Format.FP8, cache=Format.FP8),
        Workload(model=LLAMA_8B, task=Task.FULL, optimizer=Optimizer.ADAM_8BIT, tokens=1e9, recompute=False),
        Workload(model=LLAMA_70B, task=Task.QLORA, hours=12),
    ):
        sizing = size(workload, FACTS)
        shown = [(term.formula, term.bytes) for term in sizing.memory.terms]
        shown += [(f.formula, f.value) for fit in sizing.fits if fit.impact for f in fit.impact.figures]
        for formula, value in shown:
            assert evaluate(formula) == pytest.approx(value, rel=0.001), formula


@pytest.mark.parametrize("text", ["", "three times four", "2 ×", "2 ** 3", "1 / 0", "__import__('os')"])
def test_what_is_no_arithmetic_is_not_computed(text: str) -> None:
    with pytest.raises(ValueError, match="no arithmetic"):
        evaluate(text)


# Assumptions and refusals


def test_what_is_not_said_is_assumed_and_said() -> None:
    sizing = sized(model="llama 3.1 8b instruct")
    assert sizing.workload == Workload(
        model=LLAMA_8B, parameters=8.03e9, task=Task.SERVE, weights=Format.BF16, cache=Format.BF16, context=8192,
        sequences=1, region="us-east-1", load=0.5,
    )  # fmt: skip
    assert sizing.assumptions == (
        "serving", "bf16 weights", "8,192 tokens of context", "one sequence at a time", "in us-east-1", "50% load",
        "a bf16 cache", "90% of the memory usable",
    )  # fmt: skip
    assert size(sizing.workload, FACTS) == replace(sizing, assumptions=("90% of the memory usable",))


@pytest.mark.parametrize(
    ("model", "form"),
    [
        ("openai/gpt-oss-120b", Format.MXFP4),
        ("deepseek-ai/DeepSeek-V3", Format.FP8),
        ("deepseek-ai/DeepSeek-R1", Format.FP8),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-8B", Format.BF16),
    ],
)
def test_a_model_is_served_in_the_format_that_it_is_published_in(model: str, form: Format) -> None:
    assert sized(model=model).workload.weights is form
    assert sized(model=model, weights=Format.BF16).workload.weights is Format.BF16
    assert sized(model=model, task=Task.LORA).workload.weights is Format.BF16


def test_training_assumes_an_optimizer_and_sharding() -> None:
    assert sized(model=LLAMA_8B, task=Task.LORA, weights=Format.NF4).assumptions == (
        "ZeRO-3 over all accelerators where there are several", "4,096 tokens of context",
        "a batch of one on each accelerator", "in us-east-1", "50% load", "Adam", "activations recomputed",
        "LoRA of rank 16 on all linear layers", "90% of the memory usable",
    )  # fmt: skip
    assert sized(model=LLAMA_8B, task=Task.LORA, weights=Format.NF4).workload.task is Task.QLORA


def test_a_model_without_layers_is_sized_by_its_weights() -> None:
    sizing = sized(model="black-forest-labs/FLUX.1-dev")
    assert [(term.name, term.bytes) for term in sizing.memory.terms] == [("weights", 24e9)]
    assert "the weights alone, as its layers are not in the table" in sizing.assumptions
    encoder = sized(model="google-bert/bert-base-uncased")
    assert [term.name for term in encoder.memory.terms] == ["weights"]


@pytest.mark.parametrize(
    ("slots", "sentence"),
    [
        ({}, "The size of the model is not known: name a model, or give its parameters, as in 70b."),
        ({"parameters": 0}, "No model has 0 parameters: give how many the model has, as 70b."),
        ({"parameters": float("nan")}, "Parameters cannot be nan: give how many the model has, as 70b."),
        ({"parameters": 7e9, "context": 0}, "Context cannot be 0: give how many tokens a sequence has, as 8k."),
        ({"parameters": 7e9, "sequences": -1}, "Sequences cannot be -1: give how many run at once, at least 1."),
        (
            {"parameters": 7e9, "load": 2.0},
            "A load of 2 is not a share of the time: give one from 0 to 1, as 0.5.",
        ),
        ({"parameters": 7e9, "zero_stage": 4}, "There is no ZeRO stage 4: give 0, 1, 2 or 3."),
        (
            {"model": "mistral-7b-v9"},
            "The model 'mistral-7b-v9' is not in the table (near to it: Mistral-7B-v0.3, Mistral-7B-v0.1, Mixtral-8x7B-v0.1): "
            "give its number of parameters, or ingest its config.json.",
        ),
        (
            {"model": "zzzz"},
            "The model 'zzzz' is not in the table: give its number of parameters, or ingest its config.json.",
        ),
        (
            {"model": LLAMA_8B, "context": 200_000},
            "Meta-Llama-3.1-8B takes 131,072 tokens at most, not 200,000: ask for a shorter context.",
        ),
        (
            {"model": LLAMA_8B, "task": Task.FULL, "weights": Format.AWQ},
            "awq weights cannot be trained in full: use QLoRA, or train in bf16.",
        ),
        (
            {"model": LLAMA_8B, "task": Task.QLORA, "weights": Format.FP16},
            "QLoRA holds the weights in 4 bits, not in fp16: ask for LoRA, or leave the format out.",
        ),
        (
            {"model": "mixtral-8x7b", "task": Task.LORA, "lora_targets": frozenset({"q", "gate", "up"})},
            "LoRA on gate, up cannot be sized for this model: adapt q, k, v, o.",
        ),
        (
            {"parameters": 7e9, "task": Task.QLORA, "lora_targets": frozenset({"down"})},
            "LoRA on down cannot be sized for this model: adapt q, k, v, o.",
        ),
        (
            {"model": LLAMA_8B, "cache": Format.AWQ},
            "awq is a format of weights: a cache is stored in bf16, fp16, fp8, int8, int4.",
        ),
        (
            {"model": LLAMA_8B, "region": "eu-nort-1"},
            "There are no figures for a region 'eu-nort-1': take one such as eu-north-1, eu-south-1, cn-north-1.",
        ),
        (
            {"model": LLAMA_8B, "instance_type": "g6e.xlarg"},
            "There is no instance type 'g6e.xlarg' in the data: did you mean g6e.xlarge or g6e.8xlarge or g6e.4xlarge?",
        ),
        (
            {"model": LLAMA_8B, "vendors": frozenset({"Graphcore"})},
            "There is no maker 'Graphcore' in the data: there are AMD, AWS, Intel, NVIDIA and others.",
        ),
        (
            {"model": LLAMA_8B, "accelerator": "WSE-3"},
            "There is no accelerator 'WSE-3' in the data: name one that EC2 has, as L40S, H100 or Trainium2.",
        ),
    ],
)
def test_what_is_impossible_or_unknown_gets_one_sentence(slots: dict[str, object], sentence: str) -> None:
    with pytest.raises(ReaderError) as error:
        sized(**slots)
    assert str(error.value) == sentence


# Properties


@st.composite
def architectures(draw: st.DrawFn) -> Architecture:
    cached = draw(st.sampled_from([1, 2, 4, 8]))
    heads = cached * draw(st.sampled_from([1, 2, 4, 8]))
    layers = draw(st.integers(1, 128))
    sliding = draw(st.integers(0, layers))
    parameters = draw(st.floats(1e8, 1e12))
    return Architecture(
        parameters=parameters,
        active_parameters=parameters * draw(st.floats(0.05, 1)),
        layers=layers,
        hidden_size=heads * 128,
        attention_heads=heads,
        key_value_heads=cached,
        head_dim=128,
        full_layers=layers - sliding,
        sliding_layers=sliding,
        sliding_window=draw(st.sampled_from([128, 1024, 4096])),
        latent=draw(st.sampled_from([None, (512, 64)])),
        embedding_parameters=parameters * draw(st.floats(0, 0.3)),
    )


TOKENS = st.integers(1, 1_000_000)
SEQUENCES = st.integers(1, 500)


@given(architectures(), TOKENS, TOKENS, SEQUENCES, SEQUENCES)
def test_the_cache_grows_with_context_users_and_bits(model: Architecture, a: int, b: int, m: int, n: int) -> None:
    (short, long), (few, many) = sorted((a, b)), sorted((m, n))
    least = kv_cache(model, Format.BF16, short, few).bytes
    assert least <= kv_cache(model, Format.BF16, long, few).bytes
    assert least <= kv_cache(model, Format.BF16, short, many).bytes
    sizes = [kv_cache(model, form, short, few).bytes for form in (Format.INT4, Format.INT8, Format.FP8, Format.FP16)]
    assert sizes == pytest.approx([least * 4.125 / 16, least / 2, least / 2, least])


@given(architectures())
def test_weights_grow_with_bits(model: Architecture) -> None:
    found = {form: weights(model, form).bytes for form in Format}
    four = max(found[form] for form in (Format.INT4, Format.NF4, Format.AWQ, Format.GPTQ, Format.MXFP4))
    assert four <= found[Format.FP8] == found[Format.INT8] <= found[Format.BF16] == found[Format.FP16]
    assert found[Format.FP16] * 2 == found[Format.FP32]
    assert all(found[form] >= model.parameters * BITS[form] / 8 * (1 - 1e-9) for form in Format)


@settings(max_examples=25, deadline=None)
@given(st.floats(1e6, 2e12), st.floats(1e6, 2e12))
def test_more_parameters_never_take_less_memory(a: float, b: float) -> None:
    small, large = sorted((a, b))
    narrowed = frozenset({"g6f"})
    for task in (Task.SERVE, Task.LORA, Task.FULL):
        first, second = (sized(parameters=p, task=task, families=narrowed).memory.bytes for p in (small, large))
        assert first <= second * (1 + 1e-12)


@given(architectures(), st.integers(1, 2000), st.booleans())
def test_zero_never_takes_more_and_terms_sum(model: Architecture, ranks: int, recompute: bool) -> None:
    memory = Memory(
        (
            training_weights(model, Format.BF16),
            gradients(model, Format.BF16),
            optimizer_states(model, Optimizer.ADAM, Format.BF16),
            activations(model, 4096, 1, recompute=recompute),
        )
    )
    held = [memory.on_each(Sharding(ranks=ranks, zero_stage=stage)) for stage in range(4)]
    assert held == sorted(held, reverse=True)
    assert memory.bytes == pytest.approx(sum(term.bytes for term in memory.terms))
    assert held[0] == pytest.approx(memory.bytes)
    assert (memory.gb, memory.gib) == (memory.bytes / 1e9, memory.bytes / GIB)


@given(
    architectures(), st.integers(1, 16), st.floats(1, 300), st.floats(1, 3), st.sampled_from([Task.SERVE, Task.FULL])
)
def test_what_fits_keeps_fitting_with_more_memory(
    model: Architecture, devices: int, gib: float, more: float, task: Task
) -> None:
    terms = (weights(model, Format.BF16), kv_cache(model, Format.BF16, 4096, 4)) if task is Task.SERVE else (
        training_weights(model, Format.BF16), gradients(model, Format.BF16), activations(model, 4096, 1),
    )  # fmt: skip
    memory, work = Memory(terms), Workload(task=task)
    smaller, larger = (Hardware(devices, size_of, None, "") for size_of in (gib, gib * more))
    first, second = (place(memory, model, work, machine) for machine in (smaller, larger))
    if first.needed_bytes <= smaller.usable_bytes:
        assert second.needed_bytes <= larger.usable_bytes
        assert second.instances <= first.instances


@settings(max_examples=8, deadline=None)
@given(st.sampled_from([LLAMA_8B, LLAMA_70B]), st.integers(1024, 65_536), SEQUENCES, st.integers(1, 4))
def test_hardware_that_holds_more_holds_less(model: str, context: int, users: int, factor: int) -> None:
    def held(work: Workload) -> set[str]:
        return {fit.name for fit in size(work, FACTS).fits if fit.fits and fit.instances == 1}

    work = Workload(model=model, weights=Format.FP8, context=context, sequences=users)
    assert held(replace(work, sequences=users * factor)) <= held(work)
    assert held(replace(work, weights=Format.BF16)) <= held(work)
