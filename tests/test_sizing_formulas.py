"""Each formula against published figures, with their addresses; tolerances cover the rounding of the published figures."""

from dataclasses import replace
from pathlib import Path

import pytest

from chatbot.sizing import Facts, Format, Memory, Optimizer
from chatbot.sizing.architecture import Architecture, architecture, assumed, count_parameters
from chatbot.sizing.facts import Model
from chatbot.sizing.fit import Hardware, place
from chatbot.sizing.impact import MFU, compute_bound, decode_bound
from chatbot.sizing.memory import (
    BITS,
    GIB,
    Sharding,
    activations,
    adapter,
    adapter_parameters,
    gradients,
    kv_cache,
    optimizer_states,
    training_weights,
    weights,
)
from chatbot.sizing.workload import Task, Workload

LLAMA_31 = "https://huggingface.co/blog/llama31"
MIXTRAL = "https://huggingface.co/blog/mixtral"
IN_PRODUCTION = "https://huggingface.co/blog/optimize-llm"
GPT_OSS = "https://arxiv.org/abs/2508.10925"
VLLM = "https://arxiv.org/abs/2309.06180"
POPE = "https://arxiv.org/abs/2211.05102"
QUANTIZED_CACHE = "https://huggingface.co/blog/kv-cache-quantization"
NVIDIA = "https://developer.nvidia.com/blog/mastering-llm-techniques-inference-optimization/"
NEURON = "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/general/appnotes/transformers-neuronx/generative-llm-inference-with-neuron.html"
DEEPSEEK_V2 = "https://arxiv.org/abs/2405.04434"
DEEPSEEK_HARDWARE = "https://arxiv.org/abs/2505.09343"
REMEMBERING = "https://news.future-shock.ai/the-weight-of-remembering/"
MISTRAL = "https://arxiv.org/abs/2310.06825"
ZERO = "https://arxiv.org/abs/1910.02054"
QLORA = "https://arxiv.org/abs/2305.14314"
OPTIMIZERS = "https://huggingface.co/docs/transformers/v4.44.0/en/perf_train_gpu_one"
LORA = "https://arxiv.org/abs/2106.09685"
ALPACA_LORA = "https://github.com/tloen/alpaca-lora"
IPEX = "https://github.com/intel/ipex-llm/tree/main/python/llm/example/GPU/LLM-Finetuning/DPO"
KORTHIKANTI = "https://arxiv.org/abs/2205.05198"
DATABRICKS = "https://www.databricks.com/blog/llm-inference-performance-engineering-best-practices"
GPT_3 = "https://arxiv.org/abs/2005.14165"
LLAMA_3 = "https://arxiv.org/abs/2407.21783"
LLAMA_31_CARD = "https://huggingface.co/meta-llama/Llama-3.1-405B"

K = 1024


@pytest.fixture(scope="module")
def facts() -> Facts:
    return Facts.load_folder(Path(__file__).resolve().parents[1] / "corpus")


def of(parameters: float, **known: object) -> Architecture:
    """A dense model with multi-head attention (keys and values for every head), unless another layout is given."""
    values: dict[str, object] = {"layers": 1, "hidden_size": 128, "attention_heads": 1, "head_dim": 128} | known
    values = {"key_value_heads": values["attention_heads"], "full_layers": values["layers"]} | values
    return Architecture(parameters=parameters, active_parameters=parameters, **values)  # type: ignore[arg-type]


def row(facts: Facts, name: str) -> Model:
    return facts.models[name]


def known(facts: Facts, name: str) -> Architecture:
    found = architecture(row(facts, name))
    assert found is not None
    return found


LLAMA_2_7B = of(6.74e9, layers=32, hidden_size=4096, attention_heads=32, head_dim=128, intermediate_size=11008)
MISTRAL_7B = of(
    7.24e9, layers=32, hidden_size=4096, attention_heads=32, key_value_heads=8, head_dim=128, intermediate_size=14336
)
GPT_3_175B = of(175e9, layers=96, hidden_size=12288, attention_heads=96, head_dim=128)
MT_NLG = of(530e9, layers=105, hidden_size=20480, attention_heads=128, head_dim=160)
OPT_66B = of(12 * 64 * 9216**2, layers=64, hidden_size=9216, attention_heads=72, head_dim=128)


@pytest.mark.parametrize(
    ("parameters", "form", "gigabytes", "tolerance", "source"),
    [
        (8.03e9, Format.FP16, 16, 0.02, LLAMA_31),
        (8.03e9, Format.FP8, 8, 0.02, LLAMA_31),
        (8.03e9, Format.INT4, 4, 0.04, LLAMA_31),
        (70.6e9, Format.FP16, 140, 0.02, LLAMA_31),
        (70.6e9, Format.FP8, 70, 0.02, LLAMA_31),
        (70.6e9, Format.INT4, 35, 0.05, LLAMA_31),
        (405.9e9, Format.FP16, 810, 0.02, LLAMA_31),
        (405.9e9, Format.FP8, 405, 0.02, LLAMA_31),
        (405.9e9, Format.INT4, 203, 0.04, LLAMA_31),
        (46.7e9, Format.FP16, 90, 0.05, MIXTRAL),
        (46.7e9, Format.INT8, 45, 0.05, MIXTRAL),
        (46.7e9, Format.INT4, 23, 0.05, MIXTRAL),
        (175e9, Format.BF16, 350, 0.001, IN_PRODUCTION),
        (176e9, Format.BF16, 352, 0.001, IN_PRODUCTION),
        (30e9, Format.BF16, 60, 0.001, IN_PRODUCTION),
        (15.5e9, Format.BF16, 31, 0.001, IN_PRODUCTION),
        (16e9, Format.FP32, 64, 0.001, IN_PRODUCTION),
    ],
)
def test_weights_are_those_published(
    parameters: float, form: Format, gigabytes: float, tolerance: float, source: str
) -> None:
    assert weights(of(parameters), form).bytes / 1e9 == pytest.approx(gigabytes, rel=tolerance), source


@pytest.mark.parametrize(("model", "gib"), [("openai/gpt-oss-20b", 12.8), ("openai/gpt-oss-120b", 60.8)])
def test_the_checkpoints_of_gpt_oss_are_those_published(facts: Facts, model: str, gib: float) -> None:
    # The experts are in MXFP4, the rest in bf16: table 1 of the model card.
    assert weights(known(facts, model), Format.MXFP4).bytes / GIB == pytest.approx(gib, rel=0.015), GPT_OSS


@pytest.mark.parametrize(
    ("model", "billions", "active"),
    [
        ("meta-llama/Meta-Llama-3.1-8B", 8.030261248, None),  # https://huggingface.co/meta-llama/Llama-3.1-8B
        ("meta-llama/Meta-Llama-3.1-70B", 70.553706496, None),  # https://huggingface.co/meta-llama/Llama-3.1-70B
        ("meta-llama/Meta-Llama-3.1-405B", 405.853388800, None),  # https://huggingface.co/meta-llama/Llama-3.1-405B
        ("Qwen/Qwen3-8B", 8.2, None),  # https://huggingface.co/Qwen/Qwen3-8B
        ("Qwen/Qwen3-32B", 32.8, None),  # https://huggingface.co/Qwen/Qwen3-32B
        ("Qwen/Qwen3-30B-A3B", 30.5, 3.3),  # https://huggingface.co/Qwen/Qwen3-30B-A3B
        ("Qwen/Qwen3-235B-A22B", 235, 22),  # https://huggingface.co/Qwen/Qwen3-235B-A22B
        ("mistralai/Mixtral-8x7B-v0.1", 46.7, 12.9),  # https://mistral.ai/news/mixtral-of-experts
        ("mistralai/Mixtral-8x22B-v0.1", 141, 39),  # https://mistral.ai/news/mixtral-8x22b
        ("openai/gpt-oss-120b", 116.83, None),  # https://arxiv.org/abs/2508.10925
        ("openai/gpt-oss-20b", 20.91, None),  # https://arxiv.org/abs/2508.10925
        # Some of their layers have no experts.
        ("meta-llama/Llama-4-Maverick-17B-128E-Instruct", 400, None),  # https://huggingface.co/meta-llama/Llama-4-Maverick-17B-128E-Instruct
        ("XiaomiMiMo/MiMo-V2-Flash", 309, None),  # https://huggingface.co/XiaomiMiMo/MiMo-V2-Flash
    ],
)
def test_parameters_are_counted_from_a_configuration(
    facts: Facts, model: str, billions: float, active: float | None
) -> None:
    # gpt-oss also has biases; model cards give three digits, Llama's checkpoints the exact number.
    tolerance = 1e-4 if "Meta-Llama" in model else 0.01
    assert count_parameters(row(facts, model)) == pytest.approx(billions * 1e9, rel=tolerance)
    if active:
        assert count_parameters(row(facts, model), active=True) == pytest.approx(active * 1e9, rel=0.02)


def test_layers_without_experts_hold_none(facts: Facts) -> None:
    # 58 of 61 layers have 256 experts of three matrices.
    assert known(facts, "deepseek-ai/DeepSeek-V3").expert_parameters == 58 * 256 * 3 * 7168 * 2048, DEEPSEEK_HARDWARE


def test_the_size_of_latent_attention_is_not_guessed(facts: Facts) -> None:
    assert count_parameters(row(facts, "deepseek-ai/DeepSeek-V3")) is None


@pytest.mark.parametrize(
    ("model", "tokens", "gib", "source"),
    [
        ("meta-llama/Meta-Llama-3.1-8B", 1024, 0.125, LLAMA_31),
        ("meta-llama/Meta-Llama-3.1-8B", 16_000, 1.95, LLAMA_31),
        ("meta-llama/Meta-Llama-3.1-8B", 128_000, 15.62, LLAMA_31),
        ("meta-llama/Meta-Llama-3.1-70B", 1024, 0.313, LLAMA_31),
        ("meta-llama/Meta-Llama-3.1-70B", 16_000, 4.88, LLAMA_31),
        ("meta-llama/Meta-Llama-3.1-70B", 128_000, 39.06, LLAMA_31),
    ],
)
def test_the_cache_of_llama_is_that_published(facts: Facts, model: str, tokens: int, gib: float, source: str) -> None:
    # The page writes GB for GiB; its 16k and 128k are 16,000 and 128,000 tokens.
    found = kv_cache(known(facts, model), Format.FP16, tokens, 1).bytes / GIB
    assert found == pytest.approx(gib, rel=0.003), source


@pytest.mark.parametrize(("tokens", "gib"), [(16_000, 15.38), (128_000, 123.05)])
def test_the_cache_of_llama_405b_is_that_published_for_sixteen_heads(facts: Facts, tokens: int, gib: float) -> None:
    # The page assumes sixteen key/value heads; today's configuration has eight, so half the page's figure is right.
    sixteen = replace(known(facts, "meta-llama/Meta-Llama-3.1-405B"), key_value_heads=16)
    assert kv_cache(sixteen, Format.FP16, tokens, 1).bytes / GIB == pytest.approx(gib, rel=0.003), LLAMA_31


@pytest.mark.parametrize(
    ("model", "kilobytes"), [("deepseek-ai/DeepSeek-V3", 70.272), ("meta-llama/Meta-Llama-3.1-405B", 516.096)]
)
def test_the_cache_of_a_token_is_that_published_by_deepseek(facts: Facts, model: str, kilobytes: float) -> None:
    assert kv_cache(known(facts, model), Format.BF16, 1, 1).bytes == kilobytes * 1000, DEEPSEEK_HARDWARE


QWEN_25_72B = of(72.7e9, layers=80, hidden_size=8192, attention_heads=64, key_value_heads=8, head_dim=128)
GPT_2_XL = of(1.56e9, layers=48, hidden_size=1600, attention_heads=25, head_dim=64)
PALM_MULTIHEAD = of(540e9, layers=118, hidden_size=18432, attention_heads=48, head_dim=128)
OPT_13B = of(13e9, layers=40, hidden_size=5120, attention_heads=40, head_dim=128)


@pytest.mark.parametrize(
    ("model", "tokens", "sequences", "published", "tolerance", "source"),
    [
        (QWEN_25_72B, 1, 1, 327_680, 0, DEEPSEEK_HARDWARE),
        (GPT_2_XL, 1, 1, 300 * K, 0, REMEMBERING),
        (OPT_13B, 1, 1, 800 * K, 0, VLLM),
        (OPT_13B, 2048, 1, 1.6 * GIB, 0.025, VLLM),
        (PALM_MULTIHEAD, 2048, 512, 3e12, 0.02, POPE),
        (LLAMA_2_7B, 10_000, 1, 5e9, 0.05, QUANTIZED_CACHE),
        (LLAMA_2_7B, 4096, 1, 2 * GIB, 0, NVIDIA),
        (OPT_66B, 2048, 16, 72 * GIB, 0, NEURON),
    ],
)
def test_the_cache_is_that_published(
    model: Architecture, tokens: int, sequences: int, published: float, tolerance: float, source: str
) -> None:
    found = kv_cache(model, Format.FP16, tokens, sequences).bytes
    assert found == pytest.approx(published, rel=tolerance or 1e-9), source


@pytest.mark.parametrize(
    ("model", "thousands"),
    [
        (of(16e9, layers=27, attention_heads=16, latent=(512, 64)), 15.6),
        (of(16e9, layers=27, attention_heads=16, head_dim=128), 110.6),
        (of(236e9, layers=60, attention_heads=128, latent=(512, 64)), 34.6),
    ],
)
def test_the_values_of_a_token_are_those_published_for_latent_attention(model: Architecture, thousands: float) -> None:
    # Table 9 counts elements of two bytes each.
    assert kv_cache(model, Format.BF16, 1, 1).bytes / 2 / 1000 == pytest.approx(thousands, abs=0.05), DEEPSEEK_V2


def test_an_int4_cache_has_scales_as_int4_weights_have() -> None:
    # 2 x 8 x 128 values in each of 32 layers, at 4.125 bits.
    assert kv_cache(MISTRAL_7B, Format.INT4, 1, 1).bytes == 33_792


def test_a_sliding_window_divides_the_cache_by_eight() -> None:
    windowed = replace(MISTRAL_7B, full_layers=0, sliding_layers=32, sliding_window=4096)
    whole, kept = (kv_cache(model, Format.BF16, 32 * K, 1).bytes for model in (MISTRAL_7B, windowed))
    assert whole / kept == 8, MISTRAL


def test_a_hybrid_caches_in_its_attention_layers_alone(facts: Facts) -> None:
    # https://huggingface.co/Qwen/Qwen3.5-27B: one layer in four has full attention.
    model = known(facts, "Qwen/Qwen3.5-27B")
    assert (model.layers, model.full_layers) == (64, 16)
    assert kv_cache(model, Format.BF16, 1000, 1).bytes == 2 * 16 * 4 * 256 * 2 * 1000


def test_opt_66b_takes_the_neuron_cores_that_are_published() -> None:
    # 121.5 GiB of weights and 72 GiB of cache: 24 cores of 16 GiB, the twelve chips of an inf2.48xlarge.
    memory = Memory((weights(OPT_66B, Format.BF16), kv_cache(OPT_66B, Format.BF16, 2048, 16)))
    assert [round(term.bytes / GIB, 1) for term in memory.terms] == [121.5, 72.0]
    assert memory.gib == pytest.approx(193.5, abs=0.05)
    inf2 = Hardware(12, 32, None, "AWS Inferentia2 chip")
    assert place(memory, OPT_66B, Workload(task=Task.SERVE), inf2).accelerators == 12, NEURON


# Table 1 of the paper, by number of ranks: gigabytes per device for stages 1, 2 and 3.
ZERO_TABLE = {
    7.5e9: {
        1: (120, 120, 120), 4: (52.5, 41.3, 30), 16: (35.6, 21.6, 7.5),
        64: (31.4, 16.6, 1.88), 256: (30.4, 15.4, 0.47), 1024: (30.1, 15.1, 0.12),
    },
    128e9: {1: (2048, 2048, 2048), 4: (896, 704, 512), 16: (608, 368, 128), 64: (536, 284, 32), 1024: (513, 257, 2)},
    1e12: {1: (16000, 16000, 16000), 4: (7000, 5500, 4000), 64: (4187, 2218, 250), 1024: (4011, 2013, 15.6)},
}  # fmt: skip


@pytest.mark.parametrize(
    ("parameters", "ranks", "stage", "gigabytes"),
    [(p, n, s, row[s - 1]) for p, rows in ZERO_TABLE.items() for n, row in rows.items() for s in (1, 2, 3)],
)
def test_the_model_states_are_those_of_the_zero_paper(
    parameters: float, ranks: int, stage: int, gigabytes: float
) -> None:
    model = of(parameters)
    states = (
        training_weights(model, Format.BF16),
        gradients(model, Format.BF16),
        optimizer_states(model, Optimizer.ADAM, Format.BF16),
    )
    found = Memory(states).on_each(Sharding(ranks=ranks, zero_stage=stage)) / 1e9
    assert found == pytest.approx(gigabytes, rel=0.005, abs=0.006), ZERO


@pytest.mark.parametrize(
    ("optimizer", "gigabytes"), [(Optimizer.ADAM, 24), (Optimizer.ADAFACTOR, 12), (Optimizer.ADAM_8BIT, 6)]
)
def test_the_states_of_an_optimizer_are_those_published(optimizer: Optimizer, gigabytes: float) -> None:
    assert optimizer_states(of(3e9), optimizer, Format.FP32).bytes == gigabytes * 1e9, OPTIMIZERS


@pytest.mark.parametrize(
    ("optimizer", "form", "bytes_each"),
    [
        (Optimizer.ADAM, Format.BF16, 16),
        (Optimizer.ADAM, Format.FP32, 16),
        (Optimizer.ADAM_8BIT, Format.BF16, 10),
        (Optimizer.SGD, Format.BF16, 12),
    ],
)
def test_training_takes_so_many_bytes_a_parameter(optimizer: Optimizer, form: Format, bytes_each: int) -> None:
    # Section 3.1 of https://arxiv.org/abs/1910.02054, and https://arxiv.org/abs/2110.02861 for 8-bit states.
    model = of(1e9)
    states = (training_weights(model, form), gradients(model, form), optimizer_states(model, optimizer, form))
    assert sum(term.bytes for term in states) == bytes_each * 1e9


def test_sixteen_bit_fine_tuning_of_65b_takes_what_qlora_says() -> None:
    # "More than 780 GB" counts weights, gradients and both moments; master weights would add to it.
    model = of(65e9)
    moments = optimizer_states(model, Optimizer.ADAM, Format.FP32).bytes
    found = training_weights(model, Format.BF16).bytes + gradients(model, Format.BF16).bytes + moments
    assert found == 780e9, QLORA


def test_double_quantization_saves_what_qlora_says() -> None:
    # A 32-bit constant per 64 weights is half a bit per weight; double quantization saves 0.373 bits, about 3 GB for a 65B model.
    saved = 4.5 - BITS[Format.NF4]
    assert saved == pytest.approx(0.373, abs=1e-9), QLORA
    assert saved * 65e9 / 8 / 1e9 == pytest.approx(3, rel=0.02), QLORA


@pytest.mark.parametrize(
    ("model", "rank", "matrices", "published", "source"),
    [
        (GPT_3_175B, 1, "q v", 4.7e6, LORA),
        (GPT_3_175B, 4, "q v", 18.9e6, LORA),
        (GPT_3_175B, 8, "q v", 37.7e6, LORA),
        (LLAMA_2_7B, 8, "q v", 4_194_304, ALPACA_LORA),
        (MISTRAL_7B, 16, "q k v o gate up down", 41_943_040, IPEX),
    ],
)
def test_an_adapter_has_the_parameters_that_are_published(
    model: Architecture, rank: int, matrices: str, published: float, source: str
) -> None:
    found = adapter_parameters(model, rank, frozenset(matrices.split()))
    assert found == pytest.approx(published, rel=1e-9 if published % 10**5 else 0.005), source


@pytest.mark.parametrize(
    ("model", "form", "gigabytes"),
    [
        ("meta-llama/Meta-Llama-3.1-8B", Format.BF16, 16),
        ("meta-llama/Meta-Llama-3.1-70B", Format.BF16, 160),
        ("meta-llama/Meta-Llama-3.1-405B", Format.BF16, 950),
        ("meta-llama/Meta-Llama-3.1-8B", Format.NF4, 6),
        ("meta-llama/Meta-Llama-3.1-70B", Format.NF4, 48),
        ("meta-llama/Meta-Llama-3.1-405B", Format.NF4, 250),
    ],
)
def test_adapter_training_is_near_the_estimates_published(
    facts: Facts, model: str, form: Format, gigabytes: float
) -> None:
    # The page calls them estimates and states neither batch size nor rank.
    shape = known(facts, model)
    found = weights(shape, form).bytes + adapter(shape, 16, Optimizer.ADAM).bytes
    assert found / 1e9 == pytest.approx(gigabytes, rel=0.15), LLAMA_31


@pytest.mark.parametrize(("model", "attention", "saved"), [(GPT_3_175B, 80, 0.70), (MT_NLG, 64, 0.65)])
def test_the_attention_share_of_activations_is_that_published(
    model: Architecture, attention: float, saved: float
) -> None:
    # Section 5: the attention term 5as/h is 80 and 64, next to 34; recomputing only it (flash attention) saves 70 and 65 %.
    whole = activations(model, 2048, 1, recompute=False, flash_attention=False).bytes
    without = activations(model, 2048, 1, recompute=False).bytes
    assert whole / (model.layers * 2048 * model.hidden_size) == 34 + attention, KORTHIKANTI
    assert 1 - without / whole == pytest.approx(saved, abs=0.005), KORTHIKANTI


def test_full_recomputation_keeps_the_input_of_each_layer() -> None:
    # Table 2: 2sbhL.
    assert activations(GPT_3_175B, 2048, 4).bytes == 2 * 2048 * 4 * 12288 * 96, KORTHIKANTI


def test_decoding_reads_the_weights_once_a_step() -> None:
    # 7B parameters at 16 bits and 14 ms per token move 14 GB in 14 ms: 1 TB/s.
    assert 1 / decode_bound(1000, 14e9, 0, 1) == pytest.approx(0.014), DATABRICKS
    # Two sequences share the weights but not the cache.
    assert decode_bound(1000, 14e9, 2e9, 2) == pytest.approx(2 / 0.016)


@pytest.mark.parametrize(
    ("parameters", "tokens", "flops", "source"),
    [(174.6e9, 300e9, 3.14e23, GPT_3), (405e9, 15.6e12, 3.8e25, LLAMA_3), (405e9, 1, 2448e9, DEEPSEEK_HARDWARE)],
)
def test_training_takes_the_computation_that_is_published(
    parameters: float, tokens: float, flops: float, source: str
) -> None:
    seconds = tokens / compute_bound(1, parameters, 6)
    assert seconds * 1e12 == pytest.approx(flops, rel=0.01), source


def test_the_hours_of_llama_405b_lie_between_the_bounds() -> None:
    # 30.84 million H100 hours (989 TFLOPS) for 15.6e12 tokens.
    high, low = (15.6e12 / compute_bound(989, 405e9, 6, share) / 3600 / 1e6 for share in MFU)
    assert low < 30.84 < high, LLAMA_31_CARD


@pytest.mark.parametrize(
    ("parameters", "layers"),
    [
        (6.74e9, 32),  # https://huggingface.co/meta-llama/Llama-2-7b-hf/blob/main/config.json
        (13.0e9, 40),  # https://huggingface.co/meta-llama/Llama-2-13b-hf/blob/main/config.json
        (69.0e9, 80),  # https://huggingface.co/meta-llama/Llama-2-70b-hf/blob/main/config.json
        (175e9, 96),  # https://arxiv.org/abs/2005.14165, table 2.1
        (405.9e9, 126),  # https://huggingface.co/meta-llama/Llama-3.1-405B/blob/main/config.json
    ],
)
def test_the_layers_assumed_for_a_size_are_near_those_of_real_models(parameters: float, layers: int) -> None:
    shape, words = assumed(parameters)
    assert shape.layers == pytest.approx(layers, rel=0.12)
    assert words == f"{shape.layers} layers and 8 key/value heads of 128, usual for the size"
