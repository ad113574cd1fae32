"""The properties of a model that decide its memory and speed: read from its row, or assumed from its parameter count."""

import math
from dataclasses import dataclass

from chatbot.sizing.facts import Model
from ingest import Row

_HEAD_DIM = 128
# Layers and hidden size by parameter count, from Llama 3.1 and 3.2 (1B, 3B, 8B, 70B, 405B), Qwen3 (14B, 32B) and
# GPT-3 (175B).
_USUAL = {
    0.1e9: (12, 768), 1.2e9: (16, 2048), 3.2e9: (28, 3072), 8e9: (32, 4096), 14e9: (40, 5120),
    32e9: (64, 5120), 70e9: (80, 8192), 175e9: (96, 12288), 405e9: (126, 16384),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Architecture:
    """A model with every figure that the formulas need. Counts cover the whole model.

    `full_layers` and `sliding_layers` are the layers with a KV cache: of all tokens, and of the last `sliding_window`
    tokens. `latent` is (rank, RoPE dimension) for multi-head latent attention, otherwise None. `embedding_parameters`
    covers the embeddings and the output layer; `expert_parameters` covers all routed experts.
    """

    parameters: float
    active_parameters: float
    layers: int
    hidden_size: int
    attention_heads: int
    key_value_heads: int
    head_dim: int
    full_layers: int
    sliding_layers: int = 0
    sliding_window: int = 0
    latent: tuple[int, int] | None = None
    embedding_parameters: float = 0.0
    expert_parameters: float = 0.0
    intermediate_size: int | None = None
    rows: tuple[Row, ...] = ()


def architecture(model: Model) -> Architecture | None:
    """Return the architecture in a model's row; None if its size is unknown or its layers are only partly described.

    A row that gives a size but no layers, such as a diffusion model's, yields no layers: only its weights can be sized.
    """
    parameters, active = model.parameters or count_parameters(model), model.active_parameters
    if parameters and not model.layers:
        return Architecture(parameters, active or parameters, 0, 0, 1, 1, 0, 0, rows=(model.row,))
    if not (parameters and model.layers and model.hidden_size and model.attention_heads):
        return None
    caching = model.layers if model.attention_layers is None else model.attention_layers
    sliding = (model.sliding_layers or 0) if model.sliding_window else 0
    return Architecture(
        parameters=parameters,
        active_parameters=active or count_parameters(model, active=True) or parameters,
        layers=model.layers,
        hidden_size=model.hidden_size,
        attention_heads=model.attention_heads,
        key_value_heads=model.key_value_heads or model.attention_heads,
        head_dim=model.head_dim or model.hidden_size // model.attention_heads,
        full_layers=caching - sliding,
        sliding_layers=sliding,
        sliding_window=model.sliding_window or 0,
        latent=(model.kv_lora_rank, model.rope_head_dim or 0) if model.kv_lora_rank else None,
        embedding_parameters=_embeddings(model),
        expert_parameters=_experts(model, model.experts or 0),
        intermediate_size=model.intermediate_size,
        rows=(model.row,),
    )


def count_parameters(model: Model, *, active: bool = False) -> int | None:
    """Count the parameters that a configuration implies: embeddings, attention, gated MLPs or experts, and norms.

    Tied embeddings count once. All experts count or, with `active`, only those that a token uses. None if a size is
    missing or the attention is latent, since a row does not hold the projections of latent attention. The architecture
    is that of Llama's `modeling_llama.py`.
    """
    hidden, layers, heads = model.hidden_size, model.layers, model.attention_heads
    if not (hidden and layers and heads and model.vocabulary) or model.kv_lora_rank:
        return None
    width = model.head_dim or hidden // heads
    attention = 2 * hidden * width * (heads + (model.key_value_heads or heads))
    sparse = layers - (model.dense_layers or 0) if model.experts else 0
    if (sparse and not _expert_width(model)) or (sparse < layers and not model.intermediate_size):
        return None
    routers = sparse * hidden * (model.experts or 0)
    used = ((model.experts_per_token if active else model.experts) or 0) + (model.shared_experts or 0)
    dense = (layers - sparse) * 3 * hidden * (model.intermediate_size or 0)
    return round(_embeddings(model) + layers * (attention + 2 * hidden) + dense + routers + _experts(model, used) + hidden)


def assumed(parameters: float) -> tuple[Architecture, str]:
    """Assume the layers and heads of a model of known size; also return the assumption in a few words.

    They are those of the usual decoder nearest in size. A larger size never has fewer layers, so more parameters never
    make a smaller cache.
    """
    layers, hidden = min(_USUAL.items(), key=lambda usual: abs(math.log(parameters / usual[0])))[1]
    heads = hidden // _HEAD_DIM
    guess = Architecture(
        parameters=parameters,
        active_parameters=parameters,
        layers=layers,
        hidden_size=hidden,
        attention_heads=heads,
        key_value_heads=min(8, heads),
        head_dim=_HEAD_DIM,
        full_layers=layers,
    )
    return guess, f"{layers} layers and {guess.key_value_heads} key/value heads of {_HEAD_DIM}, usual for the size"


def _embeddings(model: Model) -> float:
    return float((model.vocabulary or 0) * (model.hidden_size or 0) * (1 if model.tied_embeddings else 2))


def _expert_width(model: Model) -> int | None:
    return model.expert_intermediate_size or model.intermediate_size


def _experts(model: Model, count: int) -> float:
    """The parameters of `count` experts in every layer that has them, with three matrices each, as in a gated MLP."""
    sparse = (model.layers or 0) - (model.dense_layers or 0)
    return 3.0 * (model.hidden_size or 0) * (_expert_width(model) or 0) * sparse * count
