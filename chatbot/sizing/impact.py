"""Cost, power, carbon and speed bounds of a deployment. A value without a published figure is None, with a note."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from chatbot.sizing.architecture import Architecture
from chatbot.sizing.facts import Accelerator, Facts, Instance, Price
from chatbot.sizing.fit import TRAINING, Fit
from chatbot.sizing.memory import Memory, Reference, Sharding, count
from chatbot.sizing.workload import Format, Workload
from ingest import Row

HOURS_A_MONTH = 730
DEFAULT_REGION = "us-east-1"
MFU = (0.3, 0.5)
"""The range of peak compute that good software reaches, as fractions: Chowdhery et al. 2022, table 3."""

_DIFFERENT = 0.1

# The compute formats for each weight format, best first. All others, such as 4-bit integers, are widened to 16 bits
# before they are multiplied.
_ARITHMETIC: Mapping[Format, tuple[str, ...]] = {
    Format.FP32: ("tf32", "fp32"),
    Format.FP8: ("fp8", "bf16", "fp16"),
    Format.INT8: ("int8", "bf16", "fp16"),
    Format.MXFP4: ("fp4", "fp8", "bf16", "fp16"),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """The arithmetic behind one number of an `Impact`; `name` is the field's name."""

    name: str
    value: float
    formula: str
    source: Reference
    inputs: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class Impact:
    """Cost, power, carbon and water of a whole deployment, and bounds on its speed.

    `watts` is what the machines draw at the load; `kwh_per_hour` includes the PUE of the region's data centres.
    `g_co2_per_hour` is the carbon of the electricity. The hosts' share of embodied carbon is separate and is included
    in the sums per month and per run; that of accelerators is not published.

    Speeds are bounds: no software decodes faster, and prefill and training lie between two fractions of peak compute.
    `milliseconds_per_token` is the time between two tokens of one sequence. `first_token_seconds_*` is for one prompt
    as long as the context, and `trained_tokens_*` for the hours given. Cost and energy per million tokens use the speed
    given or, if there is none, the highest bound; then they are minimums.

    The figures of a run are for the hours asked for, or for the shortest time that a training's tokens can take.
    `figures` holds the arithmetic; `notes` say why a field is None and where sources differ.
    """

    price: Price | None = None
    usd_per_hour: float | None = None
    usd_per_day: float | None = None
    usd_per_month: float | None = None
    usd_per_run: float | None = None
    watts: float | None = None
    kwh_per_hour: float | None = None
    kwh_per_month: float | None = None
    kwh_per_run: float | None = None
    g_co2_per_hour: float | None = None
    embodied_g_per_hour: float | None = None
    kg_co2_per_month: float | None = None
    kg_co2_per_run: float | None = None
    litres_per_hour: float | None = None
    decode_tokens_per_second: float | None = None
    milliseconds_per_token: float | None = None
    prefill_tokens_per_second_low: float | None = None
    prefill_tokens_per_second_high: float | None = None
    first_token_seconds_low: float | None = None
    first_token_seconds_high: float | None = None
    training_tokens_per_second_low: float | None = None
    training_tokens_per_second_high: float | None = None
    training_hours_low: float | None = None
    training_hours_high: float | None = None
    trained_tokens_low: float | None = None
    trained_tokens_high: float | None = None
    usd_per_million_tokens: float | None = None
    kwh_per_million_tokens: float | None = None
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()

    def figure(self, name: str) -> Figure | None:
        """The arithmetic behind a field, or None."""
        return next((figure for figure in self.figures if figure.name == name), None)

    def known(self, name: str) -> Figure:
        """The arithmetic behind a field that has a value; KeyError if it has none."""
        return {figure.name: figure for figure in self.figures}[name]


def impact(fit: Fit, memory: Memory, model: Architecture, workload: Workload, facts: Facts) -> Impact:
    """Compute the impact of a fit. For accelerators without an instance type, only the speed can be computed."""
    return _impact(fit, _speed(fit, memory, model, workload), workload, facts)


def impact_of_machines(instance: Instance, workload: Workload, facts: Facts) -> Impact:
    """Compute what instances cost, draw and emit, whatever they run. All their accelerators count as busy at the load."""
    count = workload.instances or 1
    devices = math.ceil(instance.accelerators) * count
    fit = Fit(instance, facts.accelerator(instance), count, devices, Sharding(), 0.0, 0.0, "yes", ())
    return _impact(fit, (), workload, facts)


def _impact(fit: Fit, speed: Iterable[Figure | str], workload: Workload, facts: Facts) -> Impact:
    region = workload.region or DEFAULT_REGION
    price = _price(fit, region, facts)
    found: list[Figure | str] = [*speed]
    if fit.instance:
        found += [*_cost(fit, price, region), *_power(fit, load_of(workload), region, facts)]
    known = {figure.name: figure for figure in found if isinstance(figure, Figure)}
    known |= {figure.name: figure for figure in _sums(known, workload)}
    values = {name: figure.value for name, figure in known.items()}
    notes = tuple(note for note in found if isinstance(note, str))
    return Impact(price=price, figures=tuple(known.values()), notes=notes, **values)


def decode_bound(bandwidth_gbps: float, active_bytes: float, cache_bytes: float, sequences: int) -> float:
    """Return an upper bound on the tokens per second of all sequences together.

    Each step reads the active weights and the cache once. `cache_bytes` is the cache of all sequences. Pope et al.
    2022, section 2, https://arxiv.org/abs/2211.05102.
    """
    return sequences * bandwidth_gbps * 1e9 / (active_bytes + cache_bytes)


def compute_bound(tflops: float, active_parameters: float, flops_per_parameter: int, share: float = 1.0) -> float:
    """Return the tokens per second at a fraction (`share`) of peak compute.

    `flops_per_parameter` is per token: 2 for the forward pass, 6 for forward and backward. Kaplan et al. 2020, section
    2.1, https://arxiv.org/abs/2001.08361.
    """
    return share * tflops * 1e12 / (flops_per_parameter * active_parameters)


def load_of(workload: Workload) -> float:
    """The fraction of time that the hardware is busy: one half if not given, zero if idle."""
    return 0.5 if workload.load is None else workload.load


def accelerator_watts(accelerator: Accelerator, load: float) -> float | None:
    """Idle + load x (maximum - idle): Cloud Carbon Footprint, https://www.cloudcarbonfootprint.org/docs/methodology/."""
    if accelerator.idle_w is None or accelerator.busy_w is None:
        return None
    return accelerator.idle_w + load * (accelerator.busy_w - accelerator.idle_w)


def _price(fit: Fit, region: str, facts: Facts) -> Price | None:
    """The price in the region, or else in us-east-1, for which the corpus has prices."""
    if not fit.instance:
        return None
    return facts.price(fit.instance.name, region) or facts.price(fit.instance.name, DEFAULT_REGION)


def _cost(fit: Fit, price: Price | None, region: str) -> Iterator[Figure | str]:
    if not price:
        yield f"no on-demand price of {fit.name} in the data"
        return
    if price.region != region:
        yield f"no price of {fit.name} in {region} in the data: that of {price.region} is taken"
    hourly = price.usd_per_hour * fit.instances
    shown = f"{fit.instances} × {price.usd_per_hour:.6g}"
    yield Figure("usd_per_hour", hourly, shown, _PRICES, (price.row,))
    yield Figure("usd_per_day", hourly * 24, f"{shown} × 24 hours", _PRICES, (price.row,))
    yield Figure("usd_per_month", hourly * HOURS_A_MONTH, f"{shown} × {HOURS_A_MONTH} hours", _PRICES, (price.row,))


def _power(fit: Fit, load: float, region: str, facts: Facts) -> Iterator[Figure | str]:
    """Yield the power of hosts and accelerators, idle ones included; then of the data centre, its water and its carbon.

    Host power is that at half load whatever the load is, because no other figures are published.
    """
    assert fit.instance is not None
    host = facts.hosts.get(fit.instance.name)
    if not host:
        yield f"no published power figure for the host of {fit.name}"
        return
    yield Figure(
        "embodied_g_per_hour",
        host.embodied_g_per_hour * fit.instances,
        f"{fit.instances} × {host.embodied_g_per_hour:.4g} g",
        _METHOD,
        (host.row,),
    )
    watts, shown, rows = host.watts * fit.instances, f"{fit.instances} × {host.watts:.4g} W", [host.row]
    if fit.instance.accelerators:
        each = accelerator_watts(fit.accelerator, load) if fit.accelerator else None
        if fit.accelerator is None or each is None or fit.accelerator.idle_w is None:
            yield f"no published power figure for {fit.accelerator.name if fit.accelerator else fit.instance.accelerator}"
            return
        present = fit.instance.accelerators * fit.instances
        busy = min(present, fit.accelerators)
        watts += busy * each + (present - busy) * fit.accelerator.idle_w
        idle, most = fit.accelerator.idle_w, fit.accelerator.busy_w
        shown += f" + {busy:g} × ({idle:g} + {load:g} × ({most:g} - {idle:g})) W"
        if present > busy:
            shown += f" + {present - busy:g} × {idle:g} W"
        rows.append(fit.accelerator.row)
        allowed = fit.accelerator.max_w
        if allowed and most and abs(allowed / most - 1) > _DIFFERENT:
            yield (
                f"the data sheet allows an {fit.accelerator.name} {allowed:g} W, at which it would draw "
                f"{watts + busy * load * (allowed - most):.4g} W: the {most:g} W that Cloud Carbon Footprint counts with is taken"
            )
    yield Figure("watts", watts, shown, _METHOD, tuple(rows))
    centre = facts.pue(region)
    if not centre or centre.pue is None:
        yield f"no published PUE for {region}"
        return
    energy = watts * centre.pue / 1000
    shown, rows = f"{watts:.5g} W × {centre.pue:g} / 1000", [*rows, centre.row]
    yield Figure("kwh_per_hour", energy, shown, _METHOD, tuple(rows))
    yield Figure("kwh_per_month", energy * HOURS_A_MONTH, f"{shown} × {HOURS_A_MONTH} hours", _METHOD, tuple(rows))
    if centre.litres_per_kwh is None:
        yield f"no published water use for {region}"
    else:
        # Litres are per kWh of the machines' energy, before the PUE: The Green Grid's definition of WUE.
        litres, used = centre.litres_per_kwh, watts / 1000
        yield Figure("litres_per_hour", used * litres, f"{used:.5g} kWh × {litres:g} litres", _WATER, tuple(rows))
    grid = facts.grids.get(region)
    if not grid:
        yield f"no published grid carbon for {region}"
        return
    shown, rows = f"{energy:.5g} kWh × {grid.g_co2_per_kwh:g} g", [*rows, grid.row]
    carbon = energy * grid.g_co2_per_kwh
    yield Figure("g_co2_per_hour", carbon, shown, _METHOD, tuple(rows))
    embodied = host.embodied_g_per_hour * fit.instances
    yield Figure(
        "kg_co2_per_month",
        (carbon + embodied) * HOURS_A_MONTH / 1000,
        f"({shown} + {embodied:.4g} g) × {HOURS_A_MONTH} hours / 1000",
        _SCI,
        tuple(rows),
    )


def _speed(fit: Fit, memory: Memory, model: Architecture, workload: Workload) -> Iterator[Figure | str]:
    accelerator, form = fit.accelerator, workload.weights or Format.BF16
    if not accelerator:
        yield "no bound of the speed on a CPU"
        return
    part = min(1.0, fit.instance.accelerators) if fit.instance else 1.0
    used, rows = fit.accelerators * part, (accelerator.row, *model.rows)
    kinds = _ARITHMETIC.get(form, ("bf16", "fp16"))
    tflops = workload.tflops or next((accelerator.tflops[kind] for kind in kinds if kind in accelerator.tflops), None)
    bandwidth = workload.bandwidth_gbps or accelerator.bandwidth_gbps
    if tflops is None:
        yield f"no published compute of {accelerator.name} in the data"
    if workload.task in TRAINING:
        if tflops is not None:
            yield from _training(used * tflops, model, workload, rows)
        return
    ceiling = None
    if tflops is not None:
        for name, other, share in zip(("low", "high"), ("high", "low"), shares(workload), strict=True):
            shown = f"{share} × {used:g} × {tflops:g}e12 / (2 × {count(model.active_parameters)})"
            speed = compute_bound(used * tflops, model.active_parameters, 2, share)
            yield Figure(f"prefill_tokens_per_second_{name}", speed, shown, _COMPUTE, rows)
            if workload.context:
                yield Figure(f"first_token_seconds_{other}", workload.context / speed, f"{workload.context} tokens / {speed:.5g}", _COMPUTE, rows)
        ceiling = compute_bound(used * tflops, model.active_parameters, 2)
    if bandwidth is None:
        yield f"no published memory bandwidth of {accelerator.name} in the data"
        return
    held = {term.name: term.bytes for term in memory.terms}
    active = held["weights"] * model.active_parameters / model.parameters
    cache, sequences = held.get("KV cache", 0.0), workload.sequences or 1
    speed = decode_bound(used * bandwidth, active, cache, sequences)
    shown, source = f"{sequences} × {used:g} × {bandwidth:g}e9 / ({count(active)} + {count(cache)})", _BANDWIDTH
    if ceiling is not None and ceiling < speed:
        speed, shown, source = ceiling, f"{used:g} × {tflops:g}e12 / (2 × {count(model.active_parameters)})", _COMPUTE
    yield Figure("decode_tokens_per_second", speed, shown, source, rows)
    yield Figure("milliseconds_per_token", 1000 * sequences / speed, f"1000 × {sequences} / {speed:.5g}", source, rows)


def _training(tflops: float, model: Architecture, workload: Workload, rows: tuple[Row, ...]) -> Iterator[Figure]:
    """Yield the tokens per second, and the hours that the given tokens take or the tokens that the given hours allow.

    The low bound of the speed is the high bound of the time.
    """
    least, most = shares(workload)
    for name, other, share in (("low", "high", least), ("high", "low", most)):
        speed = compute_bound(tflops, model.active_parameters, 6, share)
        shown = f"{share} × {count(tflops * 1e12)} / (6 × {count(model.active_parameters)})"
        yield Figure(f"training_tokens_per_second_{name}", speed, shown, _COMPUTE, rows)
        if workload.tokens:
            hours = f"{count(workload.tokens)} tokens / {speed:.5g} / 3600"
            yield Figure(f"training_hours_{other}", workload.tokens / speed / 3600, hours, _COMPUTE, rows)
        elif workload.hours:
            tokens = f"{speed:.5g} × {workload.hours:.5g} hours × 3600"
            yield Figure(f"trained_tokens_{name}", speed * workload.hours * 3600, tokens, _COMPUTE, rows)


def shares(workload: Workload) -> tuple[float, float]:
    """The fraction of peak compute that is given as both bounds, or else the range that good software reaches."""
    return (workload.mfu, workload.mfu) if workload.mfu else MFU


def _sums(known: Mapping[str, Figure], workload: Workload) -> Iterator[Figure]:
    """Yield the totals of a run and the cost and energy of a million tokens."""
    least = known.get("training_hours_low")
    hours = workload.hours or (least.value if least else None)
    if hours:
        for name in ("usd_per_hour", "kwh_per_hour"):
            if one := known.get(name):
                shown = f"{one.value:.6g} × {hours:.5g} hours"
                yield Figure(name.replace("hour", "run"), one.value * hours, shown, one.source, one.inputs)
        if month := known.get("kg_co2_per_month"):
            shown = f"{month.value:.6g} kg / {HOURS_A_MONTH} × {hours:.5g} hours"
            yield Figure("kg_co2_per_run", month.value / HOURS_A_MONTH * hours, shown, month.source, month.inputs)
    speed = known.get("decode_tokens_per_second") or known.get("training_tokens_per_second_high")
    pace = workload.tokens_per_second or (speed.value if speed else None)
    if pace:
        bound = None if workload.tokens_per_second else speed
        for name in ("usd_per_hour", "kwh_per_hour"):
            if one := known.get(name):
                shown = f"{one.value:.6g} / ({pace:.5g} × 3600) × 1e6"
                value, rows = one.value / (pace * 3600) * 1e6, (*one.inputs, *(bound.inputs if bound else ()))
                yield Figure(name.replace("hour", "million_tokens"), value, shown, (bound or one).source, rows)


_PRICES = Reference("Amazon EC2 On-Demand Pricing", "https://aws.amazon.com/ec2/pricing/on-demand/")
_METHOD = Reference("Cloud Carbon Footprint, Methodology", "https://www.cloudcarbonfootprint.org/docs/methodology/")
_SCI = Reference("Green Software Foundation, Software Carbon Intensity", "https://sci.greensoftware.foundation/")
_WATER = Reference(
    "The Green Grid 2011, Water Usage Effectiveness (WUE)",
    "https://www.thegreengrid.org/en/resources/library-and-tools/238",
)
_COMPUTE = Reference("Kaplan et al. 2020, Scaling Laws for Neural Language Models", "https://arxiv.org/abs/2001.08361")
_BANDWIDTH = Reference(
    "Pope et al. 2022, Efficiently Scaling Transformer Inference", "https://arxiv.org/abs/2211.05102"
)
