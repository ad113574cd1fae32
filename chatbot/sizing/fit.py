"""Find which instance types hold a workload, and on how many accelerators."""

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from chatbot.sizing.architecture import Architecture
from chatbot.sizing.facts import Accelerator, Facts, Instance
from chatbot.sizing.memory import GIB, USABLE, Memory, Sharding
from chatbot.sizing.workload import Format, Task, Workload

if TYPE_CHECKING:
    from chatbot.sizing.impact import Impact

Verdict = Literal["fits", "tight", "does not fit"]
Runs = Literal["yes", "unknown", "no"]

# A verdict is "tight" if a tenth more or less memory would change it.
_TIGHT = 1.1
FULL_SERVER = 8
_MOST_SERVING, _MOST_TRAINING = 16, 128
TRAINING = frozenset({Task.FULL, Task.LORA, Task.QLORA, Task.PRETRAIN})
FOUR_BITS = frozenset({Format.INT4, Format.NF4, Format.AWQ, Format.GPTQ})

_NOT_FOR_LANGUAGE_MODELS = {
    "FPGA": "an FPGA, which no serving framework for language models uses",
    "media accelerator": "a media transcoder",
    "AWS Inferentia chip": "the first Inferentia, for which Neuron serves no large language models",
    "K80": "compute capability 3.7, vLLM asks for 7.0",
    "M60": "compute capability 5.2, vLLM asks for 7.0",
    "Radeon Pro V520": "a graphics GPU that ROCm does not support",
}
# Serving frameworks do not state that they run on the T4g, whose hosts are Arm.
_SUPPORT_UNKNOWN = ("Gaudi", "Qualcomm", "T4g")
_NEURON = re.compile(r"Trainium|Inferentia")
# Model families that Neuron serves, matched on the model's name without its maker. Source: AWS Neuron, vLLM User Guide
# for NxD Inference.
_NEURON_FAMILIES = re.compile(r"(?:Meta-)?Llama-(?:2|3(?:\.[123])?|4)-|Qwen2\.5-|Qwen3-(?!VL|Coder)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fit:
    """A workload on some hardware: `instances` of an instance type, or accelerators alone if only those are named.

    `needed_bytes` and `usable_bytes` are per accelerator. A tight verdict would change if a tenth more or less memory
    were needed; `fits` says which side it is on. `instances` is the number of machines required, or 1 if even the
    largest number considered does not hold the workload. `runs` says whether the accelerator's software runs the model;
    `caveats` gives the reason.
    """

    instance: Instance | None
    accelerator: Accelerator | None
    instances: int
    accelerators: int
    sharding: Sharding
    needed_bytes: float
    usable_bytes: float
    runs: Runs
    caveats: tuple[str, ...]
    impact: "Impact | None" = None
    within_budget: bool | None = None

    @property
    def name(self) -> str:
        if self.instance:
            return self.instance.name
        return self.accelerator.name if self.accelerator else ""

    @property
    def devices(self) -> int:
        """The accelerators of one machine, used or not; a fraction of one counts as one."""
        return math.ceil(self.instance.accelerators) or 1 if self.instance else self.accelerators

    @property
    def fits(self) -> bool:
        return self.needed_bytes <= self.usable_bytes

    @property
    def verdict(self) -> Verdict:
        if self.usable_bytes < self.needed_bytes * _TIGHT and self.needed_bytes < self.usable_bytes * _TIGHT:
            return "tight"
        return "fits" if self.fits else "does not fit"

    @property
    def hourly(self) -> float:
        """The price of an hour in US dollars, infinite if none is known."""
        return self.impact.usd_per_hour if self.impact and self.impact.usd_per_hour is not None else math.inf

    @property
    def headroom(self) -> float:
        """The fraction of the usable memory that is left free."""
        return 1 - self.needed_bytes / self.usable_bytes if self.usable_bytes else -math.inf


@dataclass(frozen=True, slots=True)
class Hardware:
    """The identical accelerators of one machine. Without any, the host and its memory count as one accelerator."""

    devices: int
    memory_gib: float
    accelerator: Accelerator | None
    name: str

    @property
    def usable_bytes(self) -> float:
        return self.memory_gib * GIB * USABLE


def hardware(instance: Instance, facts: Facts) -> Hardware:
    """Return the hardware that an instance type computes with.

    The accelerator memory is the smaller of EC2's figure and the data sheet's: EC2 prints the 141 GB of an H200 as GiB,
    and for a g6f it gives the fraction of an L4 that the instance has.
    """
    if not instance.accelerators:
        return Hardware(1, instance.memory_gib, None, "")
    accelerator = facts.accelerator(instance)
    known = [instance.accelerator_memory_gib_each, accelerator.memory_gib if accelerator else None]
    memory = min((m for m in known if m), default=0.0)
    return Hardware(math.ceil(instance.accelerators), memory, accelerator, instance.accelerator)


class Placement(NamedTuple):
    """How many machines and accelerators a workload takes, how it is sharded, and what each accelerator then holds."""

    instances: int
    accelerators: int
    sharding: Sharding
    needed_bytes: float


def place(
    memory: Memory,
    model: Architecture,
    workload: Workload,
    machine: Hardware,
    *,
    instances: int | None = None,
    every_accelerator: bool = False,
) -> Placement:
    """Place a workload on one machine if that is enough, on the given number of machines, or on several full servers.

    Serving divides each layer over a machine's accelerators (tensor parallelism) and the layers over machines (pipeline
    parallelism): Shoeybi et al. 2019, Narayanan et al. 2021. It uses as few accelerators as hold the model with
    headroom, unless all are to be used. Training spreads what its ZeRO stage shards over all accelerators.
    """

    def on(count: int) -> Placement:
        held = [
            Placement(count, max(s.ranks, s.tensor * s.pipeline), s, memory.on_each(s))
            for s in _shardings(model, workload, machine, count)
        ]
        roomy = (p for p in held if p.needed_bytes * _TIGHT <= machine.usable_bytes)
        return held[-1] if every_accelerator else next(roomy, min(held, key=lambda p: p.needed_bytes))

    def holds(count: int) -> bool:
        return on(count).needed_bytes <= machine.usable_bytes

    first = instances or 1
    if instances or machine.devices < FULL_SERVER or holds(first):
        return on(first)
    # More servers mean less memory on each, so the smallest sufficient number can be found by bisection.
    several = range(2, (_MOST_TRAINING if workload.task in TRAINING else max(1, min(_MOST_SERVING, model.layers))) + 1)
    least = bisect_left(several, True, key=holds)
    return on(several[least] if least < len(several) else first)


def _shardings(model: Architecture, workload: Workload, machine: Hardware, count: int) -> Iterable[Sharding]:
    if workload.task in TRAINING:
        ranks = machine.devices * count
        stage = workload.zero_stage if workload.zero_stage is not None else (3 if ranks > 1 else 0)
        yield Sharding(ranks=ranks, zero_stage=stage)
        return
    degrees = tensor_degrees(model, machine.devices, neuron=bool(_NEURON.search(machine.name)))
    # Several machines are for workloads too large for one, so each uses its largest tensor-parallel degree.
    for degree in degrees if count == 1 else degrees[-1:]:
        shards = _by_sequences(degree, workload.sequences or 1) if model.latent else math.gcd(degree, model.key_value_heads)
        yield Sharding(tensor=degree, pipeline=count, cache_shards=shards)


def _by_sequences(ranks: int, sequences: int) -> int:
    """The number of parts into which data-parallel attention, as in vLLM and SGLang, divides a latent cache.

    A latent cache has no heads to divide: each rank keeps its own sequences, and the fullest rank counts.
    """
    return sequences // math.ceil(sequences / ranks)


def tensor_degrees(model: Architecture, devices: int, *, neuron: bool = False) -> Sequence[int]:
    """The tensor-parallel degrees that suit a model on at most `devices` accelerators, smallest first.

    vLLM requires that the degree divides the attention heads, and that it divides the key/value heads or is a multiple
    of them; powers of two are usual. Neuron pads heads, and its degrees divide the chips of a machine.
    """
    if neuron:
        return [d for d in range(1, devices + 1) if devices % d == 0]
    heads, cached = model.attention_heads, model.key_value_heads
    powers = [2**n for n in range(devices.bit_length()) if 2**n <= devices]
    return [d for d in powers if heads % d == 0 and (model.latent or cached % d == 0 or d % cached == 0)]


def runs_on(machine: Hardware, workload: Workload) -> tuple[Runs, tuple[str, ...]]:
    """Whether the software for an accelerator runs the workload, and the caveats to know before using it."""
    if not machine.name:
        return "yes", ("on the CPU: it fits, but no bound of its speed is known",)
    for part, reason in _NOT_FOR_LANGUAGE_MODELS.items():
        if part in machine.name:
            return "no", (reason,)
    if any(part in machine.name for part in _SUPPORT_UNKNOWN):
        return "unknown", ("whether this accelerator runs the model is not in the data",)
    if _NEURON.search(machine.name):
        return _runs_on_neuron(machine, workload)
    return "yes", tuple(_missing_formats(machine.accelerator, workload))


def _runs_on_neuron(machine: Hardware, workload: Workload) -> tuple[Runs, tuple[str, ...]]:
    if "Inferentia" in machine.name and workload.task in TRAINING:
        return "no", ("Inferentia serves models and does not train them",)
    if workload.weights in FOUR_BITS:
        return "no", ("Neuron quantizes weights to 8 bits, not to 4",)
    if workload.model is None:
        return "unknown", ("whether Neuron runs the model depends on its family",)
    if not _NEURON_FAMILIES.match(workload.model.rpartition("/")[2]) or workload.weights is Format.MXFP4:
        return "unknown", ("whether Neuron runs this model is not in the data",)
    return "yes", ()


def _missing_formats(accelerator: Accelerator | None, workload: Workload) -> Iterable[str]:
    cells, form = accelerator.row.cells if accelerator else {}, workload.weights
    if form is Format.BF16 and cells.get("BF16") == "no":
        yield "no bf16: use fp16"
    if form is Format.FP8 and cells.get("FP8") == "no":
        yield "no fp8 arithmetic: fp8 weights save memory, not compute"
