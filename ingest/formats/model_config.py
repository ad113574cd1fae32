"""Convert a model's config.json (Hugging Face's layout) into its row of a table of models."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from ingest.document import CorpusError

Config = Mapping[str, Any]

COLUMNS = (
    "Model", "Parameters", "Active parameters", "Layers", "Hidden size", "Intermediate size", "Attention heads", "Key/value heads",
    "Head dimension", "Vocabulary", "Longest context", "Experts", "Experts per token", "Expert intermediate size", "Shared experts",
    "Dense layers", "KV LoRA rank", "RoPE head dimension", "Query LoRA rank", "NoPE head dimension", "Value head dimension",
    "Attention layers", "Sliding window", "Sliding window layers", "Tied embeddings", "Note", "Source",
)  # fmt: skip
# The keys that model families use for the same property; the first one that is present and not null counts.
_KEYS: Mapping[str, tuple[str, ...]] = {
    "Layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers"),
    "Hidden size": ("hidden_size", "n_embd", "d_model", "dim"),
    "Intermediate size": ("intermediate_size", "n_inner", "d_ff", "ffn_dim", "encoder_ffn_dim", "ffn_hidden_size", "hidden_dim"),
    "Attention heads": ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"),
    "Key/value heads": ("num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num"),
    "Head dimension": ("head_dim", "attention_head_dim", "d_kv", "kv_channels"),
    "Vocabulary": ("vocab_size", "padded_vocab_size"),
    "Longest context": (
        "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "max_sequence_length", "max_target_positions", "n_ctx",
    ),
    "Experts": ("n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts"),
    "Experts per token": ("num_experts_per_tok", "num_experts_per_token", "experts_per_token", "top_k_experts", "moe_top_k"),
    "Expert intermediate size": ("moe_intermediate_size",),
    "Shared experts": ("n_shared_experts", "num_shared_experts"),
    "KV LoRA rank": ("kv_lora_rank",),
    "RoPE head dimension": ("qk_rope_head_dim",),
    "Query LoRA rank": ("q_lora_rank",),
    "NoPE head dimension": ("qk_nope_head_dim",),
    "Value head dimension": ("v_head_dim",),
}  # fmt: skip
_OF_EXPERTS = frozenset(header for header in _KEYS if "xpert" in header)
# Encoder models: they read a whole text at once and cache nothing of it.
_ENCODERS = frozenset({"bert", "roberta", "distilbert", "xlm-roberta", "albert", "electra", "deberta", "deberta-v2", "vit", "modernbert"})  # fmt: skip
# Model types whose classes in transformers tie the embeddings although their config.json does not say so.
_TIED = frozenset({"gemma", "gemma2", "gemma3", "gemma3_text", "gpt2", "bloom", "falcon", "t5", "whisper", "bert"})


def is_model_config(value: object) -> bool:
    """Whether a JSON value is a model's configuration, judged by its keys: the model type, its layers and their width."""
    if not isinstance(value, dict):
        return False
    text = _text_part(value)
    kind = {"model_type", "architectures"} & (value.keys() | text.keys())
    return bool(kind) and bool(_layers(text)) and bool(_first(text, _KEYS["Hidden size"]))


def model_row(config: Config, name: str) -> dict[str, str]:
    """Return the row of a model by `COLUMNS`.

    What the configuration does not say is left empty; what the row cannot express goes into the note. A model of
    several parts gets the row of its text part. Raises CorpusError if a value is not a whole number.
    """
    text = _text_part(config)
    found = {header: _first(text, keys) for header, keys in _KEYS.items()} | {"Layers": _layers(text)}
    wrong = next((header for header, value in found.items() if not isinstance(value, int | None)), None)
    if wrong:
        raise CorpusError(f"its {wrong.lower()} is no whole number: mend that value in the configuration")
    layers, heads = found["Layers"] or 0, found["Attention heads"]
    latent = found["KV LoRA rank"] is not None
    groups = {block["attention"].get("n_heads_in_group") for block in text.get("block_configs", ())} - {None}
    if not found["Key/value heads"] or len(groups) == 1:
        found["Key/value heads"] = heads // groups.pop() if groups and heads else 1 if text.get("multi_query") else heads
    if latent:
        found["Key/value heads"] = found["Head dimension"] = None
    elif not found["Head dimension"] and heads:
        found["Head dimension"] = found["Hidden size"] // heads
    if not found["Intermediate size"] and not found["Expert intermediate size"]:
        found["Intermediate size"] = 4 * found["Hidden size"]
    if not found["Experts"]:
        found |= dict.fromkeys(_OF_EXPERTS)
    elif not found["Expert intermediate size"]:
        found["Expert intermediate size"] = found["Intermediate size"]
    shared = text.get("shared_expert_intermediate_size") or _is(text, "llama4")
    if found["Experts"] and not found["Shared experts"] and shared:
        found["Shared experts"] = 1
    window, sliding = _sliding(text, layers)
    numbers = {header: "" if value is None else str(value) for header, value in found.items()}
    usual = True if text.get("model_type") in _TIED else None
    tied = text.get("tie_word_embeddings", config.get("tie_word_embeddings", usual))
    row = numbers | {
        "Model": name,
        "Dense layers": _count(_dense(text, layers)) if found["Experts"] else "",
        "Attention layers": _count(_attention(text, layers)),
        "Sliding window": _count(window),
        "Sliding window layers": _count(sliding),
        "Tied embeddings": "" if tied is None else "yes" if tied else "no",
        "Note": _note(text),
        "Source": "the model's config.json",
    }  # fmt: skip
    return {header: row.get(header, "") for header in COLUMNS}


def model_name(config: Config, place: str) -> str:
    """Return the name in the configuration ("maker/model"), else that of its folder, else that of its file.

    Hugging Face's "--" becomes a slash.
    """
    own = str(config.get("_name_or_path") or "")
    path = PurePosixPath(place)
    folder = path.parent.name if path.stem.startswith("config") else ""
    name = own if "/" in own and not own.startswith((".", "/")) else folder or path.stem.removesuffix("_config")
    return name.removeprefix("models--").replace("--", "/", 1)


def _text_part(config: Config) -> Config:
    for key in ("text_config", "llm_config", "language_config", "thinker_config"):
        if isinstance(part := config.get(key), dict):
            return _text_part(part)
    return config


def _layers(config: Config) -> Any:
    return _first(config, _KEYS["Layers"]) or len(_kinds(config))


def _first(config: Config, keys: Sequence[str]) -> Any:
    return next((config[key] for key in keys if config.get(key) is not None), None)


def _is(config: Config, kind: str) -> bool:
    return str(config.get("model_type", "")).startswith(kind)


def _kinds(config: Config) -> list[str]:
    """Return the kind of each layer, if the configuration lists them by words or by Nemotron-H's letters."""
    pattern = config.get("hybrid_override_pattern")
    listed = config.get("layer_types") or config.get("layers_block_type") or list(pattern or ())
    return [{"*": "attention", "M": "mamba"}.get(str(kind), str(kind)) for kind in listed]


def _attention(config: Config, layers: int) -> int | None:
    """Return how many layers keep keys and values (a KV cache); None if all of them do."""
    if config.get("model_type") in _ENCODERS:
        return 0
    linear = config.get("linear_attn_config")
    if isinstance(linear, dict) and "full_attn_layers" in linear:
        return len(linear["full_attn_layers"])
    if blocks := config.get("block_configs"):
        return len([block for block in blocks if not block["attention"].get("no_op")])
    if kinds := _kinds(config):
        count = sum("attention" in kind and "linear" not in kind for kind in kinds)
        return None if count == layers else count
    if interval := config.get("full_attention_interval"):
        return layers // int(interval)
    if period := config.get("attn_layer_period"):
        return len(range(int(config.get("attn_layer_offset", 0)), layers, int(period)))
    return None


def _sliding(config: Config, layers: int) -> tuple[int | None, int | None]:
    """Return the tokens that layers with a sliding window keep, and how many layers have one."""
    window = config.get("sliding_window") or config.get("sliding_window_size") or config.get("attention_chunk_size")
    if not window or config.get("use_sliding_window") is False or "compress_ratios" in config:
        return None, None
    kinds = _kinds(config)
    if kinds:
        count = sum(kind in ("sliding_attention", "chunked_attention", "local") for kind in kinds)
    elif pattern := config.get("hybrid_layer_pattern"):
        count = sum(pattern)
    elif _is(config, "llama4"):
        # Every fourth layer has no RoPE and attends to everything (transformers, `no_rope_layer_interval`).
        count = layers - layers // 4
    elif _is(config, "gemma2"):
        count = (layers + 1) // 2
    elif _is(config, "gemma3"):
        count = layers - layers // int(config.get("sliding_window_pattern") or 6)
    elif config.get("use_sliding_window"):
        count = layers - int(config.get("max_window_layers") or 0)
    else:
        count = layers
    return (int(window), count) if count else (None, None)


def _dense(config: Config, layers: int) -> int | None:
    """Return how many layers of a mixture-of-experts model have no experts."""
    if isinstance(kinds := config.get("mlp_layer_types"), list):
        return kinds.count("dense")
    if isinstance(frequency := config.get("moe_layer_freq"), list):
        return sum(not experts for experts in frequency)
    if first := config.get("first_k_dense_replace"):
        return int(first)
    if only := config.get("mlp_only_layers"):
        return len(only)
    step = config.get("interleave_moe_layer_step") or config.get("decoder_sparse_step")
    return layers - layers // int(step) if step and int(step) > 1 else None


_NOTES: tuple[tuple[Callable[[Config], object], str], ...] = (
    (lambda c: "compress_ratios" in c, "its layers compress what they keep by ratios of their own: a cache computed from this row is an upper bound"),
    (lambda c: c.get("num_kv_shared_layers"), "some layers share their cache: a cache computed from this row is an upper bound"),
    (
        lambda c: c.get("num_global_key_value_heads"),
        "its full-attention layers have other heads than its sliding ones, which this row gives: a cache computed from it is an upper bound",
    ),
    (
        lambda c: c.get("swa_num_key_value_heads"),
        "its sliding layers have {swa_num_key_value_heads} key/value heads, its other layers those of this row",
    ),
    (lambda c: c.get("index_head_dim") and "compress_ratios" not in c, "beside its cache it keeps an index of {index_head_dim} values a token and layer"),
    (lambda c: "mamba" in str(_kinds(c)) or c.get("linear_num_value_heads") or c.get("linear_attn_config"), "its other layers keep a state of fixed size"),
    (lambda c: c.get("block_configs"), "its feed-forward widths and heads differ from layer to layer"),
    (lambda c: c.get("is_encoder_decoder"), "encoder and decoder: the layers are those of one of them"),
)  # fmt: skip


def _note(config: Config) -> str:
    return "; ".join(text.format_map(config) for holds, text in _NOTES if holds(config))


def _count(value: int | None) -> str:
    return "" if value is None else str(value)
