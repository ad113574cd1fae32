"""The memory that a workload needs, term by term. Each function is one published formula, named in its docstring."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from chatbot.sizing.architecture import Architecture
from chatbot.sizing.workload import Format, Optimizer
from ingest import Row

Name = Literal["weights", "KV cache", "activations", "gradients", "optimizer states", "adapter"]

GIB = 2**30
USABLE = 0.9
"""The fraction of an accelerator's memory that is planned with, as vLLM's `gpu_memory_utilization`."""

BITS: Mapping[Format, float] = {
    Format.FP32: 32,
    Format.BF16: 16,
    Format.FP16: 16,
    Format.FP8: 8,
    Format.INT8: 8,
    Format.INT4: 4.125,  # a 16-bit scale for each group of 128
    Format.NF4: 4.127,  # double quantization leaves 0.127 bits of constants
    Format.AWQ: 4.156,  # a 16-bit scale and a 4-bit zero point for each group of 128
    Format.GPTQ: 4.156,
    Format.MXFP4: 4.25,  # an 8-bit scale for each block of 32
}
"""Bits per parameter, including its share of scales and zero points."""

# Checkpoints in these formats keep some weights in 16 bits: the embeddings and the output layer or, in MXFP4,
# everything but the experts.
_MIXED = {Format.NF4, Format.AWQ, Format.GPTQ, Format.MXFP4}


@dataclass(frozen=True, slots=True)
class Reference:
    """The paper or document that a formula comes from."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Term:
    """One part of the memory. `formula` is its arithmetic on one line; `inputs` are the rows its figures come from."""

    name: Name
    bytes: float
    formula: str
    source: Reference
    inputs: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class Sharding:
    """How memory is divided: tensor and pipeline parallelism for serving, ZeRO over data-parallel ranks for training.

    `cache_shards` is the number of parts that the tensor-parallel ranks divide the cache into: at most one per
    key/value head or, for a latent cache, one per sequence.
    """

    tensor: int = 1
    pipeline: int = 1
    cache_shards: int = 1
    ranks: int = 1
    zero_stage: int = 0

    def divisor(self, name: Name) -> int:
        """The number of accelerators that a term is divided over. Activations are not divided.

        ZeRO 1, 2 and 3 divide the optimizer states, the gradients and the weights: Rajbhandari et al. 2020,
        https://arxiv.org/abs/1910.02054. Tensor parallelism: Shoeybi et al. 2019, https://arxiv.org/abs/1909.08053. The
        activations of a batch stay on the accelerator that computes it. An adapter is one small term, so it counts as
        undivided until stage 3 divides all its parts.
        """
        match name:
            case "weights":
                return self.tensor * self.pipeline * (self.ranks if self.zero_stage >= 3 else 1)
            case "KV cache":
                return self.cache_shards * self.pipeline
            case "gradients":
                return self.ranks if self.zero_stage >= 2 else 1
            case "optimizer states":
                return self.ranks if self.zero_stage >= 1 else 1
            case "adapter":
                return self.ranks if self.zero_stage >= 3 else 1
            case "activations":
                return 1


@dataclass(frozen=True, slots=True)
class Memory:
    """All terms of a workload, before they are divided over accelerators."""

    terms: tuple[Term, ...]

    @property
    def bytes(self) -> float:
        return sum(term.bytes for term in self.terms)

    @property
    def gb(self) -> float:
        """In 10^9 bytes."""
        return self.bytes / 1e9

    @property
    def gib(self) -> float:
        """In 2^30 bytes."""
        return self.bytes / GIB

    def on_each(self, sharding: Sharding) -> float:
        """The bytes that each accelerator holds."""
        return sum(term.bytes / sharding.divisor(term.name) for term in self.terms)


def weights(model: Architecture, form: Format) -> Term:
    """Parameters x bytes per parameter; all experts count.

    AWQ, GPTQ and NF4 keep the embeddings and the output layer in 16 bits; MXFP4 keeps everything but the experts. AWQ:
    Lin et al. 2023; GPTQ: Frantar et al. 2022; NF4: Dettmers et al. 2023; MXFP4: OpenAI 2025, gpt-oss model card.
    """
    wide = 0.0
    if form in _MIXED:
        mixture = form is Format.MXFP4 and model.expert_parameters
        wide = max(0.0, model.parameters - model.expert_parameters) if mixture else model.embedding_parameters
    narrow = model.parameters - wide
    formula = f"{count(narrow)} parameters × {_width(form)}"
    if wide:
        formula += f" + {count(wide)} in bf16 × 2 bytes"
    return Term("weights", narrow * BITS[form] / 8 + wide * 2, formula, _SOURCES[form], model.rows)


def kv_cache(model: Architecture, form: Format, tokens: int, sequences: int) -> Term:
    """2 x layers x KV heads x head dimension x bytes x tokens x sequences.

    Latent attention keeps (rank + RoPE dimension) values per token and layer. A layer with a sliding window keeps at
    most the window, and a layer without attention keeps nothing.

    Shazeer 2019, https://arxiv.org/abs/1911.02150; Ainslie et al. 2023, https://arxiv.org/abs/2305.13245; DeepSeek-V2
    2024, https://arxiv.org/abs/2405.04434; Jiang et al. 2023 (windows), https://arxiv.org/abs/2310.06825.
    """
    kept = min(tokens, model.sliding_window)
    if model.latent:
        rank, rope = model.latent
        values, each, source = rank + rope, f"({rank} + {rope})", _LATENT
    else:
        values = 2 * model.key_value_heads * model.head_dim
        each = f"2 × {model.key_value_heads} key/value heads × {model.head_dim}"
        source = _GROUPED if model.key_value_heads < model.attention_heads else _CACHE
    positions = model.full_layers * tokens + model.sliding_layers * kept
    spread = f"{model.full_layers} layers × {tokens:,} token{'s' if tokens > 1 else ''}"
    if model.sliding_layers:
        slid = f"{model.sliding_layers} layers × {kept:,} tokens"
        spread = f"({spread} + {slid})" if model.full_layers else slid
        source = _WINDOW
    formula = f"{each} × {spread} × {sequences:,} {'sequence' if sequences == 1 else 'sequences'} × {_width(form)}"
    return Term("KV cache", values * positions * sequences * BITS[form] / 8, formula, source, model.rows)


def training_weights(model: Architecture, form: Format) -> Term:
    """The weights that the forward pass reads: Micikevicius et al. 2018, https://arxiv.org/abs/1710.03740."""
    return Term(
        "weights",
        model.parameters * BITS[form] / 8,
        f"{count(model.parameters)} parameters × {_width(form)}",
        _ZERO,
        model.rows,
    )


def gradients(model: Architecture, form: Format) -> Term:
    """One gradient per parameter, 2 bytes in mixed precision and 4 in fp32: Rajbhandari et al. 2020, section 3.1."""
    size = 4 if form is Format.FP32 else 2
    return Term(
        "gradients",
        model.parameters * size,
        f"{count(model.parameters)} parameters × {_bytes(size)}",
        _ZERO,
        model.rows,
    )


def optimizer_states(model: Architecture, optimizer: Optimizer, form: Format) -> Term:
    """The optimizer's moments and, in mixed precision, 4 bytes of master weights per parameter.

    Master weights + moments: Adam 4 + 4 + 4, 8-bit Adam 4 + 1 + 1, Adafactor and SGD with momentum 4 + 4. Rajbhandari
    et al. 2020, section 3.1; Dettmers et al. 2022, https://arxiv.org/abs/2110.02861.
    """
    size, shown = _state_bytes(optimizer, form)
    source = _EIGHT_BIT if optimizer is Optimizer.ADAM_8BIT else _ZERO
    formula = f"{count(model.parameters)} parameters × {shown} bytes"
    return Term("optimizer states", model.parameters * size, formula, source, model.rows)


def adapter_parameters(model: Architecture, rank: int, matrices: frozenset[str] | None = None) -> int:
    """rank x (rows + columns) for each adapted matrix of each layer: Hu et al. 2021, https://arxiv.org/abs/2106.09685.

    `matrices` is a subset of those of `adaptable`. The default is all of them: all linear layers, as in QLoRA, or the
    attention alone for a mixture of experts or a model whose MLP is not known.
    """
    sizes = adaptable(model)
    return model.layers * rank * sum(sizes[m] for m in (sizes if matrices is None else matrices))


def adaptable(model: Architecture) -> dict[str, int]:
    """The rows + columns of each matrix of a layer that an adapter can be sized for, out of q, k, v, o, gate, up, down."""
    hidden, inner = model.hidden_size, model.attention_heads * model.head_dim
    cached, mlp = model.key_value_heads * model.head_dim, model.intermediate_size
    sizes = {"q": hidden + inner, "k": hidden + cached, "v": hidden + cached, "o": inner + hidden}
    if mlp and not model.expert_parameters:
        sizes |= dict.fromkeys(("gate", "up", "down"), hidden + mlp)
    return sizes


def adapter(model: Architecture, rank: int, optimizer: Optimizer, matrices: frozenset[str] | None = None) -> Term:
    """Weights, gradients and optimizer states of the adapter alone: 16 bytes per parameter with Adam. Hu et al. 2021."""
    added = adapter_parameters(model, rank, matrices)
    size, _ = _state_bytes(optimizer, Format.BF16)
    formula = f"{count(added)} adapter parameters × {_bytes(4 + size)}"
    return Term("adapter", added * (4 + size), formula, _LORA, model.rows)


def activations(
    model: Architecture, tokens: int, batch: int, *, recompute: bool = True, flash_attention: bool = True
) -> Term:
    """s b h (34 + 5 a s / h) per layer, or 2 s b h with full recomputation.

    Flash attention never stores the 5 a s / h part. Korthikanti et al. 2022, equations 1 and 2 and section 5,
    https://arxiv.org/abs/2205.05198; Dao et al. 2022.
    """
    width = model.hidden_size
    if recompute:
        factor, shown = 2.0, "2 bytes"
    elif flash_attention:
        factor, shown = 34.0, "34 bytes"
    else:
        factor = 34 + 5 * model.attention_heads * tokens / width
        shown = f"(34 + 5 × {model.attention_heads} × {tokens:,} / {width:,}) bytes"
    formula = f"{model.layers} layers × {tokens:,} tokens × batch of {batch:,} × {width:,} × {shown}"
    return Term("activations", model.layers * tokens * batch * width * factor, formula, _ACTIVATIONS, model.rows)


def _state_bytes(optimizer: Optimizer, form: Format) -> tuple[int, str]:
    master = 0 if form is Format.FP32 else 4
    moments = {Optimizer.ADAM: (4, 4), Optimizer.ADAM_8BIT: (1, 1), Optimizer.ADAFACTOR: (4,), Optimizer.SGD: (4,)}
    parts = [part for part in (master, *moments[optimizer]) if part]
    return sum(parts), str(parts[0]) if len(parts) == 1 else f"({' + '.join(map(str, parts))})"


def count(number: float) -> str:
    """Format a large number with four significant digits: 70.55e9, 41.94e6."""
    for name, size in (("e18", 1e18), ("e15", 1e15), ("e12", 1e12), ("e9", 1e9), ("e6", 1e6)):
        if number >= size:
            return f"{number / size:.4g}{name}"
    return f"{number:.0f}"


def _bytes(size: float) -> str:
    return "1 byte" if size == 1 else f"{size:g} bytes"


def _width(form: Format) -> str:
    bits = BITS[form]
    return _bytes(bits / 8) if bits % 8 == 0 else f"{bits:g} / 8 bytes"


_ZERO = Reference(
    "Rajbhandari et al. 2020, ZeRO: Memory Optimizations Toward Training Trillion Parameter Models",
    "https://arxiv.org/abs/1910.02054",
)
_EIGHT_BIT = Reference(
    "Dettmers et al. 2022, 8-bit Optimizers via Block-wise Quantization", "https://arxiv.org/abs/2110.02861"
)
_LORA = Reference(
    "Hu et al. 2021, LoRA: Low-Rank Adaptation of Large Language Models", "https://arxiv.org/abs/2106.09685"
)
_ACTIVATIONS = Reference(
    "Korthikanti et al. 2022, Reducing Activation Recomputation in Large Transformer Models",
    "https://arxiv.org/abs/2205.05198",
)
_CACHE = Reference(
    "Shazeer 2019, Fast Transformer Decoding: One Write-Head is All You Need", "https://arxiv.org/abs/1911.02150"
)
_GROUPED = Reference(
    "Ainslie et al. 2023, GQA: Training Generalized Multi-Query Transformer Models", "https://arxiv.org/abs/2305.13245"
)
_LATENT = Reference(
    "DeepSeek-AI 2024, DeepSeek-V2: A Strong, Economical, and Efficient Mixture-of-Experts Language Model",
    "https://arxiv.org/abs/2405.04434",
)
_WINDOW = Reference("Jiang et al. 2023, Mistral 7B", "https://arxiv.org/abs/2310.06825")
_PLAIN = Reference("Hugging Face 2023, Optimizing your LLM in production", "https://huggingface.co/blog/optimize-llm")
_SOURCES: Mapping[Format, Reference] = dict.fromkeys(Format, _PLAIN) | {
    Format.NF4: Reference(
        "Dettmers et al. 2023, QLoRA: Efficient Finetuning of Quantized LLMs", "https://arxiv.org/abs/2305.14314"
    ),
    Format.AWQ: Reference(
        "Lin et al. 2023, AWQ: Activation-aware Weight Quantization", "https://arxiv.org/abs/2306.00978"
    ),
    Format.GPTQ: Reference(
        "Frantar et al. 2022, GPTQ: Accurate Post-Training Quantization", "https://arxiv.org/abs/2210.17323"
    ),
    Format.MXFP4: Reference("OpenAI 2025, gpt-oss-120b and gpt-oss-20b Model Card", "https://arxiv.org/abs/2508.10925"),
    Format.FP8: Reference(
        "Micikevicius et al. 2022, FP8 Formats for Deep Learning", "https://arxiv.org/abs/2209.05433"
    ),
    Format.INT8: Reference(
        "Dettmers et al. 2022, LLM.int8(): 8-bit Matrix Multiplication for Transformers at Scale",
        "https://arxiv.org/abs/2208.07339",
    ),
}
