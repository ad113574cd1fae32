"""What to run, as a value: the input of every sizing. None means not stated; `size` then assumes and says so."""

from dataclasses import dataclass, replace
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
    """The optimizer whose states a training keeps."""

    ADAM = "Adam"
    ADAM_8BIT = "8-bit Adam"
    ADAFACTOR = "Adafactor"
    SGD = "SGD"


@dataclass(frozen=True, slots=True)
class Workload:
    """A model, what is done with it, and the limits on the answer. Sizes are counts; money is US dollars."""

    model: str | None = None
    """The name of a row in the table of models."""
    parameters: float | None = None
    """The number of parameters, if no model is named."""
    task: Task | None = None
    weights: Format | None = None
    cache: Format | None = None
    context: int | None = None
    """Tokens per sequence, prompt and answer together; in training, the sequence length."""
    sequences: int | None = None
    """Concurrent sequences: users when serving, the batch size per accelerator when training."""
    optimizer: Optimizer | None = None
    zero_stage: int | None = None
    recompute: bool | None = None
    """Whether activations are recomputed in the backward pass."""
    lora_rank: int | None = None
    tokens: float | None = None
    """Total tokens that a training sees."""
    hours: float | None = None
    """How long it runs, in hours."""
    mfu: float | None = None
    """The fraction of the accelerators' peak compute that a training reaches (MFU), 0..1."""
    tokens_per_second: float | None = None
    """The measured or desired speed, of all sequences together."""
    kwh: float | None = None
    """Energy given in place of hardware: that of the machines, before the PUE."""
    budget: float | None = None
    """Total budget in dollars."""
    budget_per_hour: float | None = None
    budget_per_month: float | None = None
    region: str | None = None
    """The code of an AWS region, such as eu-north-1."""
    vendors: frozenset[str] = frozenset()
    """Wanted makers of accelerators: "NVIDIA", "AWS", "AMD", "Intel"; empty means any."""
    families: frozenset[str] = frozenset()
    """Wanted instance families, such as "g6e"; empty means any."""
    without: frozenset[str] = frozenset()
    """Makers, families and accelerators to exclude."""
    accelerator: str | None = None
    """The named accelerator: "L40S", "Trainium2"."""
    accelerators: int | None = None
    """How many accelerators."""
    accelerator_memory_gb: float | None = None
    """Memory per accelerator in 10^9 bytes, if given with or instead of its name ("a 24 GB GPU")."""
    instance_type: str | None = None
    instances: int | None = None
    load: float | None = None
    """The fraction of time that the hardware is busy, 0..1."""
    tflops: float | None = None
    """Compute of one accelerator, if given in place of its data sheet's."""
    bandwidth_gbps: float | None = None
    """Memory bandwidth of one accelerator, if given in place of its data sheet's."""
    lora_targets: frozenset[str] | None = None
    """The matrices that a LoRA adapts, such as "q" and "v"."""

    @property
    def names_model(self) -> bool:
        """Whether a model or a model size is named. If not, the question is about hardware, places or energy."""
        return self.model is not None or self.parameters is not None

    def on(self, instance_type: str, instances: int | None) -> "Workload":
        """The same work on instances of a type, in place of the hardware that is named."""
        return replace(
            self,
            instance_type=instance_type,
            instances=instances,
            accelerator=None,
            accelerators=None,
            accelerator_memory_gb=None,
            families=frozenset(),
            vendors=frozenset(),
        )
