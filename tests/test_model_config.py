"""A model's config.json becomes a table row: whole rows of known layouts, differing key names, and errors for unknown values."""

import json
from pathlib import Path
from typing import Any

import pytest

from chatbot.sizing.facts import Facts
from ingest import Index, sync
from ingest.document import CorpusError
from ingest.fetching.items import Item
from ingest.formats.loaders import load
from ingest.formats.model_config import COLUMNS, is_model_config, model_name, model_row

# Published configurations, without the keys that no column holds.
LLAMA = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
    "max_position_embeddings": 131072, "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
    "tie_word_embeddings": False, "vocab_size": 128256,
}  # fmt: skip
DEEPSEEK = {
    "model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048,
    "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128, "vocab_size": 129280,
    "max_position_embeddings": 163840, "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1,
    "first_k_dense_replace": 3, "moe_layer_freq": 1, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128, "v_head_dim": 128, "tie_word_embeddings": False,
}  # fmt: skip
SMALL = {"model_type": "some", "num_hidden_layers": 8, "hidden_size": 512, "num_attention_heads": 8}


def said(config: dict[str, Any]) -> dict[str, str]:
    """The non-empty cells, without model name and source."""
    row = model_row(config, "a/b")
    assert tuple(row) == COLUMNS
    return {header: cell for header, cell in row.items() if cell and header not in ("Model", "Source")}


def test_grouped_query_attention() -> None:
    assert said(LLAMA) == {
        "Layers": "32", "Hidden size": "4096", "Intermediate size": "14336", "Attention heads": "32", "Key/value heads": "8",
        "Head dimension": "128", "Vocabulary": "128256", "Longest context": "131072", "Tied embeddings": "no",
    }  # fmt: skip


def test_latent_attention_has_a_rank_and_no_key_value_heads() -> None:
    assert said(DEEPSEEK) == {
        "Layers": "61", "Hidden size": "7168", "Intermediate size": "18432", "Attention heads": "128", "Vocabulary": "129280",
        "Longest context": "163840", "Experts": "256", "Experts per token": "8", "Expert intermediate size": "2048",
        "Shared experts": "1", "Dense layers": "3", "KV LoRA rank": "512", "RoPE head dimension": "64", "Query LoRA rank": "1536",
        "NoPE head dimension": "128", "Value head dimension": "128", "Tied embeddings": "no",
    }  # fmt: skip


def test_what_older_models_call_by_other_names() -> None:
    gpt2 = {"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "vocab_size": 50257}
    assert said(gpt2) == {
        "Layers": "12", "Hidden size": "768", "Intermediate size": "3072", "Attention heads": "12", "Key/value heads": "12",
        "Head dimension": "64", "Vocabulary": "50257", "Longest context": "1024", "Tied embeddings": "yes",
    }  # fmt: skip


def test_the_text_part_of_a_model_that_sees() -> None:
    assert said({"model_type": "some_vl", "vision_config": {"hidden_size": 9}, "text_config": LLAMA}) == said(LLAMA)


@pytest.mark.parametrize(
    ("more", "cells"),
    [
        ({"sliding_window": 128, "layer_types": ["sliding_attention", "full_attention"] * 4}, {"Sliding window": "128", "Sliding window layers": "4"}),
        ({"sliding_window": 4096}, {"Sliding window": "4096", "Sliding window layers": "8"}),
        ({"sliding_window": 4096, "use_sliding_window": False}, {}),
        ({"sliding_window": None}, {}),
        ({"model_type": "gemma2", "sliding_window": 4096}, {"Sliding window": "4096", "Sliding window layers": "4", "Tied embeddings": "yes"}),
        ({"model_type": "gemma3_text", "sliding_window": 1024, "sliding_window_pattern": 6}, {"Sliding window": "1024", "Sliding window layers": "7", "Tied embeddings": "yes"}),
        ({"model_type": "llama4_text", "attention_chunk_size": 8192}, {"Sliding window": "8192", "Sliding window layers": "6"}),
        ({"hybrid_layer_pattern": [0, 1, 1, 1, 1, 1, 1, 0], "sliding_window": 128}, {"Sliding window": "128", "Sliding window layers": "6"}),
        (
            {"layer_types": ["linear_attention"] * 6 + ["full_attention"] * 2, "linear_num_value_heads": 4},
            {"Attention layers": "2", "Note": "its other layers keep a state of fixed size"},
        ),
        ({"hybrid_override_pattern": "M-M*M-M*"}, {"Attention layers": "2", "Note": "its other layers keep a state of fixed size"}),
        ({"attn_layer_period": 4, "attn_layer_offset": 1}, {"Attention layers": "2"}),
        ({"model_type": "bert"}, {"Attention layers": "0", "Tied embeddings": "yes"}),
        ({"multi_query": True}, {"Key/value heads": "1"}),
        (
            {"compress_ratios": [4, 128], "sliding_window": 128},
            {"Note": "its layers compress what they keep by ratios of their own: a cache computed from this row is an upper bound"},
        ),
    ],
)  # fmt: skip
def test_what_layers_keep(more: dict[str, Any], cells: dict[str, str]) -> None:
    plain = said(SMALL)
    assert {k: v for k, v in said(SMALL | more).items() if plain.get(k) != v} == cells


@pytest.mark.parametrize("value", [{}, [], "llama", {"model_type": "llama"}, {"num_hidden_layers": 2, "hidden_size": 8}])
def test_other_json_is_no_configuration(value: object) -> None:
    assert not is_model_config(value)


def test_a_number_that_is_none_says_so() -> None:
    with pytest.raises(CorpusError, match="its layers is no whole number"):
        model_row(SMALL | {"num_hidden_layers": "many"}, "x")


@pytest.mark.parametrize(
    ("own", "place", "name"),
    [
        ("mistralai/Mistral-7B-v0.1", "x/config.json", "mistralai/Mistral-7B-v0.1"),
        ("/home/me/checkpoint", "our-model/config.json", "our-model"),
        ("", "models/Qwen--Qwen3-8B/config.json", "Qwen/Qwen3-8B"),
        ("", "s3://bucket/our-model/config.json", "our-model"),
        ("", "Qwen--Qwen3-8B_config.json", "Qwen/Qwen3-8B"),
    ],
)
def test_a_model_is_named_by_its_configuration_its_folder_or_its_file(own: str, place: str, name: str) -> None:
    assert model_name({"_name_or_path": own}, place) == name


def test_other_json_loads_as_before() -> None:
    item = Item("x/config.json", "config.json", None, bytes)
    assert load(item, json.dumps({"colour": "red"}).encode()).text == "- colour: red\n"


def test_a_configuration_that_is_ingested_alone_is_a_model_to_size_with(tmp_path: Path) -> None:
    (tmp_path / "our-model").mkdir()
    (tmp_path / "our-model" / "config.json").write_text(json.dumps(LLAMA))
    report = sync([tmp_path / "our-model" / "config.json"], tmp_path / "index", encoder="none")
    assert report.added == ("our-model/config.json",)
    index = Index.open(tmp_path / "index")
    model = Facts.load(index).models["our-model"]
    assert (model.layers, model.key_value_heads, model.head_dim, model.parameters) == (32, 8, 128, None)
    [document] = index.tables()
    assert document.text[model.row.start : model.row.end] == model.row.text
