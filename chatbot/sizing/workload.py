"""What is to be run, as a value: the input of every sizing. None means that it was not said; `size` assumes and says so."""

from dataclasses import dataclass
from enum import StrEnum


class Task(StrEnum):
    """What is done with the model."""

    SERVE = "serve"
    FULL = "full fine-tuning"
    LORA = "LoRA"
    QLORA = "QLoRA"
    PRETRAIN = "pre-training"


class Format(StrEnum):
    """How a number is stored."""

    FP32 = "fp32"
    BF16 = "bf16"
    FP16 = "fp16"
    FP8 = "fp8"
    INT8 = "int8"
    INT4 = "int4"
    NF4 = "nf4"
    AWQ = "awq"
    GPTQ = "gptq"
    MXFP4 = "mxfp4"


class Optimizer(StrEnum):
    """Whose states a training keeps."""

    ADAM = "Adam"
    ADAM_8BIT = "8-bit Adam"
    ADAFACTOR = "Adafactor"
    SGD = "SGD"


@dataclass(frozen=True, slots=True)
class Workload:
    """A model, what is done with it, and what the answer must keep to. Sizes are counts; money is US dollars."""

    model: str | None = None
    """The name of a row of the table of models."""
    parameters: float | None = None
    """How many parameters, where no model is named."""
    task: Task | None = None
    weights: Format | None = None
    cache: Format | None = None
    context: int | None = None
    """Tokens of a sequence: prompt and answer together; in training its length."""
    sequences: int | None = None
    """Sequences at once: users when serving, the batch of one accelerator when training."""
    optimizer: Optimizer | None = None
    zero_stage: int | None = None
    recompute: bool | None = None
    """Whether activations are computed again in the backward pass."""
    lora_rank: int | None = None
    tokens: float | None = None
    """Tokens that a training sees in all."""
    hours: float | None = None
    """How long it runs."""
    mfu: float | None = None
    """The share of the accelerators' peak that a training reaches, 0..1."""
    tokens_per_second: float | None = None
    """The speed that is measured or wanted, of all sequences together."""
    kwh: float | None = None
    """Energy that is given in place of hardware: that of the machines, before the PUE."""
    budget: float | None = None
    """Dollars in all."""
    budget_per_hour: float | None = None
    budget_per_month: float | None = None
    region: str | None = None
    """The code of an AWS region: eu-north-1."""
    vendors: frozenset[str] = frozenset()
    """Makers of accelerators that are wanted: "NVIDIA", "AWS", "AMD", "Intel"; empty means any."""
    families: frozenset[str] = frozenset()
    """Instance families that are wanted: "g6e"; empty means any."""
    without: frozenset[str] = frozenset()
    """Vendors and families that are not wanted."""
    accelerator: str | None = None
    """An accelerator that is named: "L40S", "Trainium2"."""
    accelerators: int | None = None
    """How many of them."""
    accelerator_memory_gb: float | None = None
    """The memory of each, where that is said in place of its name or beside it ("a 24 GB GPU"); 10^9 bytes."""
    instance_type: str | None = None
    instances: int | None = None
    load: float | None = None
    """The share of its time that the hardware is busy, 0..1."""
    tflops: float | None = None
    """The compute of one accelerator, where it is given in place of its data sheet's."""
    bandwidth_gbps: float | None = None
    """Its memory bandwidth, given likewise."""
    lora_targets: frozenset[str] | None = None
    """The matrices that a LoRA adapts: "q", "v"."""

    @property
    def names_model(self) -> bool:
        """Whether a model is named, or a size of one; without, hardware, places or energy are asked about."""
        return self.model is not None or self.parameters is not None
