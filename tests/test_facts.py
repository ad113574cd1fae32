"""The corpus's fact tables: parsing of rows, values used by sizing, invariants of all rows, and questions about them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot import Chatbot
from chatbot.answer import REFUSAL, Answer, Passage, Turn
from chatbot.sizing.facts import Facts, Host, Price, Pue
from chatbot.table.bounds import Reading
from chatbot.table.columns import TYPE
from chatbot.table.instances import load_tables as tables_of
from chatbot.table.lookup import _said, _words, take_things
from chatbot.verification.citations import Evidence, verify
from ingest import Index, sync
from ingest.document import Document, Source
from ingest.rows import is_fact_table, read_rows

CORPUS = Path(__file__).resolve().parents[1] / "corpus"


@pytest.fixture(scope="module")
def facts() -> Facts:
    return Facts.load_folder(CORPUS)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("facts")
    sync([CORPUS / "facts", CORPUS / "instances.csv"], folder / "index", encoder="none")
    return Index.open(folder / "index")


# Rows


def document(text: str) -> Document:
    return Document("d", Source("d", "d"), "d", text)


def test_a_fact_table_names_things_and_says_where_each_row_is_from() -> None:
    table = "| Model | Layers | Source |\n| --- | --- | --- |\n| a | 2 | here |\n| b \\| c | 4 | there |\n|| 8 | nowhere |\n| c |||\n"
    assert is_fact_table(table)
    rows = list(read_rows(document(table)))
    assert [row.cells for row in rows] == [
        {"Model": "a", "Layers": "2", "Source": "here"},
        {"Model": "b | c", "Layers": "4", "Source": "there"},
        {"Model": "c", "Layers": "", "Source": ""},
    ]
    assert all(table[row.start : row.end] == row.text for row in rows)


@pytest.mark.parametrize(
    "text",
    [
        "| Model | Layers |\n| --- | --- |\n| a | 2 |\n",
        "| Colour | Source |\n| --- | --- |\n| red | here |\n",
        "A page about models that says much more than the little table below it does, as pages do.\n\n"
        "| Model | Source |\n| --- | --- |\n| a | here |\n",
        "",
    ],
)
def test_other_tables_are_searched(text: str) -> None:
    assert not is_fact_table(text) or not list(read_rows(document(text)))


# Values


def test_known_models(facts: Facts) -> None:
    model = facts.models["Qwen/Qwen3-32B"]
    assert (model.parameters, model.layers, model.attention_heads, model.key_value_heads, model.head_dim) == (32_800_000_000, 64, 64, 8, 128)  # fmt: skip
    latent = facts.models["deepseek-ai/DeepSeek-V3"]
    assert (latent.parameters, latent.active_parameters, latent.key_value_heads, latent.head_dim) == (671_000_000_000, 37_000_000_000, None, None)  # fmt: skip
    assert (latent.kv_lora_rank, latent.rope_head_dim, latent.dense_layers) == (512, 64, 3)
    sliding = facts.models["openai/gpt-oss-20b"]
    assert (sliding.layers, sliding.sliding_layers, sliding.sliding_window, sliding.attention_layers) == (
        24,
        12,
        128,
        None,
    )
    hybrid = facts.models["Qwen/Qwen3.5-27B"]
    assert (hybrid.layers, hybrid.attention_layers, hybrid.note) == (
        64,
        16,
        "its other layers keep a state of fixed size",
    )
    assert facts.models["google-bert/bert-base-uncased"].attention_layers == 0
    assert facts.models["openai-community/gpt2"].tied_embeddings is True


def test_known_prices(facts: Facts) -> None:
    price = facts.price("p5.48xlarge")
    assert price is not None
    assert price == Price("p5.48xlarge", "us-east-1", 55.04, "on demand", "2026-07-20", price.row)
    assert facts.price("p5.48xlarge", "eu-west-1") is None
    assert facts.price("p5.48xlarge", purchase="spot") is None


def test_trainium2_has_no_price_on_demand_and_no_chip_of_aws_a_published_power(facts: Facts) -> None:
    assert [facts.price(name) for name in ("trn2.3xlarge", "trn2.48xlarge", "trn2u.48xlarge")] == [None] * 3
    chips = [chip for name, chips in facts.accelerators.items() if name.startswith("AWS") for chip in chips]
    assert len(chips) == 5
    assert {(chip.idle_w, chip.max_w, chip.ccf_max_w) for chip in chips} == {(None, None, None)}
    assert {chip.row.cells["Maximum power"] for chip in chips} == {"not published"}


def test_sources_of_power_that_differ_stand_side_by_side(facts: Facts) -> None:
    [a10g] = facts.accelerators["NVIDIA A10G GPU"]
    assert (a10g.idle_w, a10g.max_w, a10g.ccf_max_w) == (18.0, 300.0, 153.0)


def test_an_accelerator_of_several_memories_is_that_of_the_instance(facts: Facts) -> None:
    def bandwidth(name: str) -> float | None:
        sheet = facts.accelerator(facts.instances[name])
        return sheet.bandwidth_gbps if sheet else None

    found = {name: bandwidth(name) for name in ("p4d.24xlarge", "p4de.24xlarge", "g6f.large", "trn1.2xlarge")}
    assert found == {
        "p4d.24xlarge": 1555.0,
        "p4de.24xlarge": 2039.0,
        "g6f.large": 300.0,
        "trn1.2xlarge": pytest.approx(820 * 2**30 / 1e9),
    }


def test_dense_speeds_have_no_sparsity_in_them(facts: Facts) -> None:
    [h100] = facts.accelerators["NVIDIA H100 GPU"]
    assert dict(h100.tflops) == {"fp32": 67, "tf32": 494, "bf16": 989, "fp16": 989, "fp8": 1979, "int8": 1979}


def test_hosts_grids_and_effectiveness(facts: Facts) -> None:
    host, grid = facts.hosts["p5.48xlarge"], facts.grids["eu-north-1"]
    assert host == Host("p5.48xlarge", 338.9, 200.0, host.row)
    assert (grid.place, grid.g_co2_per_kwh) == ("Europe (Stockholm)", 35.26)
    ireland, london, nowhere = facts.pue("eu-west-1"), facts.pue("eu-west-2"), facts.pue("xx-west-2")
    assert ireland is not None
    assert ireland == Pue("eu-west-1", "Europe (Ireland)", 1.11, 0.03, ireland.row)
    assert london is not None
    assert (london.region, london.pue, nowhere) == ("eu-*", 1.11, None)


def test_every_value_lies_where_its_row_says(facts: Facts, index: Index) -> None:
    texts = {d.id: d.text for d in index.tables()}
    loaded = Facts.load(index)
    values = (loaded.models, loaded.instances, loaded.hosts, loaded.grids, loaded.pues)
    rows = [value.row for one in values for value in one.values()]  # type: ignore[attr-defined]
    rows += [value.row for one in (loaded.prices, loaded.accelerators) for several in one.values() for value in several]  # type: ignore[attr-defined]
    assert len(rows) > 3_500
    assert all(texts[row.document][row.start : row.end] == row.text for row in rows)
    assert {name: model.layers for name, model in loaded.models.items()} == {
        n: m.layers for n, m in facts.models.items()
    }


# Invariants of all rows


def test_every_price_is_of_a_type_that_is_listed_or_was_retired(facts: Facts) -> None:
    assert facts.prices.keys() - facts.instances.keys() == {
        "cr1.8xlarge", "g2.2xlarge", "g2.8xlarge", "i3.metal", "u-12tb1.112xlarge", "u-18tb1.112xlarge", "u-24tb1.112xlarge",
        "u-9tb1.112xlarge",
    }  # fmt: skip
    assert all(price.usd_per_hour > 0 for prices in facts.prices.values() for price in prices)


def test_every_accelerator_of_an_instance_has_a_sheet_but_those_that_run_no_models(facts: Facts) -> None:
    missing = {i.accelerator for i in facts.instances.values() if i.accelerator and facts.accelerator(i) is None}
    assert missing == {
        "Xilinx U30 media accelerator", "Xilinx Virtex UltraScale (VU9P) FPGA", "Xilinx Virtex UltraScale+ (VU47P) FPGA",
    }  # fmt: skip


def test_every_row_is_plausible(facts: Facts) -> None:
    for model in facts.models.values():
        assert model.row.cells["Source"].startswith("https://")
        assert model.parameters or model.layers
        if model.attention_heads and model.key_value_heads:
            assert model.attention_heads % model.key_value_heads == 0
        assert (model.sliding_layers or 0) <= (model.attention_layers or model.layers or 0)
        assert (model.active_parameters or 0) <= (model.parameters or 1e13)
    for sheets in facts.accelerators.values():
        for sheet in sheets:
            assert sheet.row.cells["Source"].startswith("https://")
            assert (sheet.idle_w or 0.0) < (sheet.max_w or 1e4)
            speeds = [sheet.tflops[f] for f in ("fp32", "bf16", "fp8", "fp4") if f in sheet.tflops]
            assert speeds == sorted(speeds)
    assert facts.grids.keys() >= {name for name in facts.pues if "*" not in name}
    assert all(1.0 < (pue.pue or 1.1) < 2.0 for pue in facts.pues.values())


def test_dense_models_have_the_parameters_that_their_layers_have(facts: Facts) -> None:
    """Embeddings, attention and a gated MLP add up to within 3 % of the published count, for families of this layout."""
    families = ("Llama-2", "Llama-3", "Mistral-7B", "Qwen2.5", "gemma-2-", "CodeLlama", "Yi-34B", "TinyLlama")
    checked = 0
    for model in facts.models.values():
        if (
            not any(f in model.name for f in families)
            or model.experts
            or model.parameters is None
            or "Nemotron" in model.name
        ):
            continue
        assert model.layers
        assert model.hidden_size
        assert model.intermediate_size
        assert model.attention_heads
        assert model.key_value_heads
        assert model.head_dim
        assert model.vocabulary
        attention = 2 * (model.attention_heads + model.key_value_heads) * model.head_dim
        layer = model.hidden_size * (attention + 3 * model.intermediate_size)
        total = model.layers * layer + model.vocabulary * model.hidden_size * (1 if model.tied_embeddings else 2)
        assert total == pytest.approx(model.parameters, rel=0.03), model.name
        checked += 1
    assert checked >= 20


# Questions


def ask(question: str, index: Index) -> Answer:
    answer = Chatbot(index).ask(question)
    assert answer.dropped == 0
    return answer


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("what does a g6e.xlarge cost?", "g6e.xlarge costs $1.861 per hour on demand in us-east-1 (Linux, as of 2026-07-20) [1]."),
        ("price of p5.48xlarge per hour", "p5.48xlarge costs $55.04 per hour on demand in us-east-1 (Linux, as of 2026-07-20) [1]."),
        ("How much is a p5.48xlarge on demand?", "p5.48xlarge costs $55.04 per hour on demand in us-east-1 (Linux, as of 2026-07-20) [1]."),
        ("what does trn2.48xlarge cost?", "trn2.48xlarge on demand in us-east-1, price per hour: not published (sold as Capacity Blocks only) [1]."),
        ("price of p5.48xlarge in Ireland", f"{REFUSAL} The data has no price in eu-west-1. On demand in us-east-1, p5.48xlarge is $55.04 an hour, $40,200 a month. `wattwise ingest 'aws://prices?region=eu-west-1'` brings those of the Region."),
        ("host power of p5.48xlarge", "p5.48xlarge has a host power of 338.9 W at 50 % load, without accelerators [1]."),
        ("embodied carbon of g5.xlarge", "g5.xlarge has embodied carbon of 1.7 g CO2e per hour [1]."),
        ("how many layers has Llama 3.1 70B?", "meta-llama/Meta-Llama-3.1-70B has 80 layers [1]."),
        ("how many KV heads does Qwen3-32B have?", "Qwen/Qwen3-32B has 8 key/value heads [1]."),
        ("How many active parameters does mixtral 8x7b have?", "mistralai/Mixtral-8x7B-v0.1 has 12.9B active parameters [1]."),
        ("context length of llama3.3-70b-instruct", "meta-llama/Llama-3.3-70B-Instruct has a longest context of 131072 [1]."),
        ("hidden size of GPT-2", "openai-community/gpt2 has a hidden size of 768 [1]."),
        ("I'm reading up on gpt-oss-20b, what head dimension do they use", "openai/gpt-oss-20b has a head dimension of 64 [1]."),
        ("Qual é o contexto máximo do Kimi-K2-Instruct?", "moonshotai/Kimi-K2-Instruct has a longest context of 131072 [1]."),
        ("ストックホルム（eu-north-1）のPUEはいくつですか", "eu-north-1 (Europe (Stockholm)) has a PUE of 1.1 [1]."),
        ("How dirty is the grid behind eu-west-1?", "eu-west-1 (Europe (Ireland)) has a grid carbon intensity of 256.54 g CO2e per kWh [1]."),
        ("max power of one H100 SXM?", "An H100 (80 GB) draws 700 W at most, 60 W idle [1]."),
        ("for MLA math on DeepSeek-V3 I need kv_lora_rank and the rope dim", "deepseek-ai/DeepSeek-V3 has a RoPE head dimension of 64 and a KV LoRA rank of 512 [1]."),
        ("memory bandwidth of an H100?", "NVIDIA H100 GPU (80 GB) has a memory bandwidth of 3350 GB/s [1]."),
        ("max power of an L4?", "An L4 (24 GB) draws 72 W at most, 8 W idle [1]."),
        ("What is the idle power of an L4 in watts?", "NVIDIA L4 GPU (24 GB) has an idle power of 8 W [1]."),
        ("BF16 TFLOPS of the L40S", "NVIDIA L40S GPU (48 GB) reaches 362 TFLOPS in BF16 [1]."),
        ("grid carbon intensity of eu-north-1?", "eu-north-1 (Europe (Stockholm)) has a grid carbon intensity of 35.26 g CO2e per kWh [1]."),
        ("PUE in Ireland?", "eu-west-1 (Europe (Ireland)) has a PUE of 1.11 [1]."),
        ("PUE in London?", "eu-* (Europe) has a PUE of 1.11 [1]."),
        ("WUE of Mumbai", "ap-* (Asia Pacific without China) has a WUE of 0.98 L per kWh [1]."),
    ],
)  # fmt: skip
def test_answers_are_known_by_hand(index: Index, question: str, text: str) -> None:
    assert ask(question, index).text == text


@pytest.mark.parametrize(
    ("question", "verdict"),
    [
        ("Does Kimi K2 have more than 900 billion parameters?", "Yes"),
        ("Does Kimi K2 have more than 1.2T parameters?", "No"),
        ("Does Llama 3.1 8B have more than 5 billion parameters?", "Yes"),
        ("Is the bandwidth of an L4 less than 1 TB/s?", "Yes"),
        ("Is the memory bandwidth of an H100 over 3.4 TB/s?", "No"),
        ("Does an H100 have more than 80 GB of memory?", "No"),
        ("Does an H100 have at least 80 GB of memory?", "Yes"),
        ("Does Llama 3.1 70B have a context under 200k?", "Yes"),
    ],
)
def test_a_limit_is_compared_in_the_units_of_the_cell(index: Index, question: str, verdict: str) -> None:
    assert ask(question, index).text.split(":")[0] == verdict


@pytest.mark.parametrize(
    ("question", "first", "cited"),
    [
        ("which region has the lowest carbon intensity?", "eu-north-1 (Europe (Stockholm)) has", 4),
        ("which region has the highest carbon intensity?", "me-south-1 (Middle East (Bahrain)) has", 4),
        ("cheapest instance with an L40S", "Cheapest: g6e.xlarge (as of 2026-10-11) costs $1.861 per hour", 2),
        ("most expensive instance", "Most expensive: u7in-32tb.224xlarge costs $360.98695 per hour", 4),
        ("instances under $1 per hour with at least 24 GB of GPU memory", "Prices are on demand in us-east-1 (Linux, as of 2026-07-20) [1].\n1. g6.xlarge costs $0.8048 per hour", 5),
        ("memory bandwidth of the A100", "- NVIDIA A100 GPU (40 GB) has a memory bandwidth of 1555 GB/s", 2),
    ],
)  # fmt: skip
def test_answers_of_several_rows_begin_with_the_right_one(index: Index, question: str, first: str, cited: int) -> None:
    answer = ask(question, index)
    assert answer.text.startswith(first)
    assert len(answer.citations) == cited
    assert all(c.passage.chunk.document.text[c.start : c.end] == c.quote for c in answer.citations)


@pytest.mark.parametrize(
    ("turns", "text"),
    [
        (
            ["How deep is the big Llama 3.1, the 405B? And into how many kv heads does it squash its queries"],
            "meta-llama/Meta-Llama-3.1-405B has 126 layers and 8 key/value heads [1].",
        ),
        (
            ["Qwen3 32B has hidden 5120 and 64 heads so the head size must be 80, correct?"],
            "No: Qwen/Qwen3-32B has a head dimension of 128, a hidden size of 5120 and 64 attention heads [1].",
        ),
        (
            ["the softmax of gpt-oss: how big is its vocabulary, any size?"],
            "- openai/gpt-oss-120b has a vocabulary of 201088 [1].\n- openai/gpt-oss-20b has a vocabulary of 201088 [2].",
        ),
        (
            ["Qwen3-8Bは何層ですか?KVヘッドの数も教えてください。"],
            "Qwen/Qwen3-8B has 36 layers and 8 key/value heads [1].",
        ),
        (
            ["gpt-oss-120b: how many experts, and how many fire per token?"],
            "openai/gpt-oss-120b has 4 experts per token and 128 experts [1].",
        ),
        (["Layers in Qwen3-14B?", "the 32B?"], "Qwen/Qwen3-32B has 64 layers [1]."),
        (["deepseek r1 size?", "no i mean how much of that fires per token"], "deepseek-ai/DeepSeek-R1 has 37B active parameters [1]."),
        (["trn1.32xlarge has how many chips", "memory on each of them?"], "trn1.32xlarge has 32 GiB of memory on each of its accelerators [1]."),
        (["Quanti watt assorbe al massimo una singola H200?"], "NVIDIA H200 GPU (141 GB) has a maximum power of 700 W [1]."),
        (["is Paris under 50 g/kWh"], "Yes: eu-west-3 (Europe (Paris)) has a grid carbon intensity of 41.44 g CO2e per kWh [1]."),
    ],
)  # fmt: skip
def test_odd_wordings_and_follow_ups_are_answered_from_rows(index: Index, turns: list[str], text: str) -> None:
    bot, history = Chatbot(index), list[Turn]()
    for turn in turns:
        answer = bot.ask(turn, history)
        history.append(Turn(turn, answer.text))
    assert answer.text == text


def test_models_named_far_apart_are_not_taken_and_what_stands_between_them_stays(index: Index) -> None:
    text = f"mistral 7 b {'and ' * 60}qwen 3 32 b"
    reading = Reading(text)
    assert (take_things(reading, "Model", tables_of(index)["Model"]), reading.text) == ((), text)


def test_a_fact_is_looked_up_of_what_an_earlier_turn_named(index: Index) -> None:
    bot, history = Chatbot(index), [Turn("experts in deepseek r1, total?", "256")]
    for question, text in (
        ("active per token then", "deepseek-ai/DeepSeek-R1 has 8 experts per token [1]."),
        ("and its layers?", "deepseek-ai/DeepSeek-R1 has 61 layers [1]."),
    ):
        assert bot.ask(question, history).text == text
        history.append(Turn(question, text))


@pytest.mark.parametrize(
    "question",
    [
        "how many layers has Llama 9 70B?",
        "maximum power of Trainium2?",
        "what does Azure take for an H100 an hour?",
        "three year reserved price of p4d.24xlarge, all upfront",
        "price of p9.48xlarge",
        "list price of an NVIDIA B300 card",
        "why is the memory bandwidth of the H100 so high?",
        "spot price of g5.xlarge",
        "PUE on the moon",
        "When should I use FP8 on an H100?",
        "How much water does the Ohio data centre take from rivers each year?",
        "How much does an L40S weigh?",
        "When was the NVIDIA B300 released?",
        "What is the boost clock of the A100?",
        "What do I pay for a g5.xlarge per hour in Frankfurt?",
        "How much VAT do I pay on a g5.xlarge per month in Germany?",
        "What will a g5.xlarge cost per month in 2030?",
    ],
)
def test_what_no_row_says_is_refused(index: Index, question: str) -> None:
    assert ask(question, index).refused


def test_verification_keeps_what_is_said_of_any_row(index: Index) -> None:
    """Checks all looked-up columns of every third row."""

    def lines() -> Iterator[tuple[str, Evidence]]:
        for key, rows in tables_of(index).items():
            for row in rows[::3] if key != TYPE else ():
                for column, _ in _words(key, rows):
                    if row.cells.get(column):
                        yield (
                            f"{_said(key, column, row)} [1].",
                            Evidence(Passage(1, row.chunk, 1.0), row.start, row.end),
                        )

    said = list(lines())
    assert len(said) > 600
    assert [text for text, evidence in said if verify(text, [evidence]).dropped] == []


def test_two_things_of_earlier_turns_are_held_against_each_other(index: Index) -> None:
    bot, history = Chatbot(index), list[Turn]()
    for turn in ("g/kWh in Ohio?", "in Northern California?", "so the second is how many percent lower?"):
        answer = bot.ask(turn, history)
        history.append(Turn(turn, answer.text))
    assert answer.text.splitlines()[-1] == "us-west-1 has 302 less, which is 63 %; us-east-2 has 2.7 times as much, 170 % more [1][2]."


@pytest.mark.parametrize("turns", [("memory of one Trainium2 chip?", "and of Trainium 6"), ("Qwen3-8B hidden size?", "Grok 4?"), ("memory of an H300?",)])
def test_what_no_row_has_is_never_answered_with_another(index: Index, turns: tuple[str, ...]) -> None:
    bot, history = Chatbot(index), list[Turn]()
    for turn in turns:
        answer = bot.ask(turn, history)
        history.append(Turn(turn, answer.text))
    assert answer.refused


def test_several_things_are_told_a_line_each(index: Index) -> None:
    answer = ask("memory and bandwidth of L4, L40S and A10G", index)
    assert answer.text == (
        "- NVIDIA L4 GPU (24 GB) has a memory bandwidth of 300 GB/s and 24 GB of memory [1].\n"
        "- NVIDIA L40S GPU (48 GB) has a memory bandwidth of 864 GB/s and 48 GB of memory [2].\n"
        "- NVIDIA A10G GPU (24 GB) has a memory bandwidth of 600 GB/s and 24 GB of memory [3]."
    )


@pytest.mark.parametrize(
    ("turns", "text"),
    [
        (["Is p5 available in Stockholm?"], "Yes: eu-north-1 (Stockholm) sells p5 (as of 2026-10-20) [1]."),
        (["Is p5 available in Stockholm?", "and in Tokyo?", "and in Paris?"], "No: eu-west-3 (Paris) does not sell p5, but p6-b200 (as of 2026-10-20) [1]."),
        (["what does p5.48xlarge cost in us-east-1?", "and in Paris?"], "The sources do not say. The data has no price in eu-west-3. On demand in us-east-1, p5.48xlarge is $55.04 an hour, $40,200 a month. `wattwise ingest 'aws://prices?region=eu-west-3'` brings those of the Region."),
        (["Is p5.4xlarge in us-west-1?"], "No: us-west-1 (N. California) does not sell p5.4xlarge, but p5 (48xlarge) and p5en (as of 2026-10-20) [1]."),
        (["does eu-north-1 have p5en or trn2"], "eu-north-1 (Stockholm) sells p5en and does not sell trn2 (as of 2026-10-20) [1]."),
        (["Is inf1.xlarge or inf1.6xlarge available in af-south-1?"], "af-south-1 (Cape Town) sells inf1.xlarge and does not sell inf1.6xlarge (as of 2026-10-20) [1]."),
        (["which regions have trn2"], "trn2 is sold in 2 Regions (as of 2026-10-20): ap-south-2 (Hyderabad) and us-east-2 (Ohio) [1][2]."),
        (["Is r7g offered in Frankfurt?"], "The sources do not say. Which Regions have r7g is not in the data."),
    ],
)
def test_which_region_sells_which_family_is_told_from_its_row(index: Index, turns: list[str], text: str) -> None:
    history: list[Turn] = []
    for turn in turns:
        answer = Chatbot(index).ask(turn, history)
        history.append(Turn(turn, answer.text))
    assert answer.text == text


def test_each_figure_of_each_thing_is_told_where_a_story_asks_for_several(index: Index) -> None:
    answer = ask("The client moves from TPU v5e to H100 or Trainium2: put HBM size, memory bandwidth and peak compute side by side for the board.", index)
    assert answer.text == (
        "- Google TPU v5e chip (16 GB) has a memory bandwidth of 819 GB/s, 16 GB of memory and reaches 197 TFLOPS in BF16 [1].\n"
        "- NVIDIA H100 GPU (80 GB) has a memory bandwidth of 3350 GB/s, 80 GB of memory and reaches 989 TFLOPS in BF16 [2].\n"
        "- AWS Trainium2 chip (96 GiB) has a memory bandwidth of 2900 GB/s, 96 GiB of memory and reaches 667 TFLOPS in BF16 [3]."
    )
