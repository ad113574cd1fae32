"""`wattwise size`: its table, its JSON, and its errors on wrong use."""

import json
import re
from pathlib import Path

import pytest

from chatbot.__main__ import main


@pytest.fixture(autouse=True)
def _without_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WATTWISE_INDEX", raising=False)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(("size", *arguments))
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_the_table_shows_the_terms_the_verdict_and_what_to_launch(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "--parameters", "34b", "--accelerator", "L40S", "--context", "8k", "--rows", "2")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "34B parameters: serve, bf16 weights, 8,192 tokens of context, 1 sequence, us-east-1"
    assert lines[2] == (
        "Assumed: serving, 64 layers and 8 key/value heads of 128, usual for the size, bf16 weights, one sequence at a time, "
        "in us-east-1, 50% load, a bf16 cache, 90% of the memory usable."
    )
    assert lines[4:7] == [
        "weights   68.00 GB  34e9 parameters × 2 bytes",
        "KV cache   2.15 GB  2 × 8 key/value heads × 128 × 64 layers × 8,192 tokens × 1 sequence × 2 bytes",
        "total     70.15 GB  65.33 GiB",
    ]
    assert lines[8] == "NVIDIA L40S GPU: does not fit: needs 65.3 GiB, 40.2 GiB usable"
    assert [line.split(":")[0] for line in lines[9:15]] == [
        "With that name", "Smallest", "Cheapest", "Least energy", "Least carbon", "Alternatives",
    ]  # fmt: skip
    table = [line for line in lines if line.startswith(("Instance type", "g", "p", "inf", "trn"))]
    assert len(table) == 3
    assert "Tokens/s are upper bounds, not measurements. A question mark is a figure that is not published." in lines
    assert "Prices: on demand, Linux, us-east-1, 2026-07-20." in lines
    assert lines[-1].startswith("Formula: Ainslie et al. 2023")


def test_json_holds_every_figure_with_its_arithmetic(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capsys, "--model", "llama-3.1-70b", "--format", "8-bit", "--context", "16k", "--users", "4", "--json",
        "--instance-type", "g6e.12xlarge",
    )  # fmt: skip
    found = json.loads(out)
    assert code == 0
    assert list(found) == [
        "workload", "assumptions", "memory", "verdict", "named", "smallest", "cheapest", "least_energy", "least_carbon",
        "named_cheapest", "alternatives", "notes", "fits",
    ]  # fmt: skip
    assert found["workload"]["model"] == "meta-llama/Meta-Llama-3.1-70B"
    assert found["workload"]["sequences"] == 4
    assert [term["name"] for term in found["memory"]["terms"]] == ["weights", "KV cache"]
    assert found["memory"]["bytes"] == 70.6e9 + 327_680 * 16_384 * 4
    assert found["memory"]["terms"][1]["source"]["url"] == "https://arxiv.org/abs/2305.13245"
    assert (found["verdict"], found["named"]["name"]) == ("fits", "g6e.12xlarge")
    assert (found["smallest"], found["cheapest"], found["named_cheapest"]) == ("g6e.12xlarge",) * 3
    usd = found["named"]["impact"]["figures"]["usd_per_hour"]
    assert usd["formula"] == f"1 × {found['named']['impact']['usd_per_hour']:g}"
    assert usd["inputs"][0]["document"].endswith("prices.csv")


def test_training_says_its_terms(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capsys, "--model", "llama-3.1-8b", "--task", "full", "--tokens", "2b", "--optimizer", "adam-8bit"
    )
    assert code == 0
    assert "optimizer states  48.18 GB  8.03e9 parameters × (4 + 1 + 1) bytes" in out
    assert re.search(
        r"^Cheapest: +\S+, \$[\d.,]+ an hour, [\d.,]+ to [\d.,]+ hours of training, at least \$[\d.,]+$", out, re.M
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "The size of the model is not known: name a model, or give its parameters, as in 70b."),
        (("--model", "9" * 400), f"The model '{'9' * 64}…' is not in the table: give its number of parameters, or ingest its config.json."),
        (("--parameters", "7b", "--users", "9" * 400), "The figures are too large to compute with: give smaller ones."),
        (("--parameters", "7b", "--instances", "-" + "9" * 400), "The figures are too large to compute with: give smaller ones."),
        (("--parameters", "7b", "--hours", "1e308", "--json"), "The figures are too large to compute with: give smaller ones."),
        (("--parameters", "0"), "No model has 0 parameters: give how many the model has, as 70b."),
    ],
)
def test_what_cannot_be_sized_is_one_sentence_on_stderr(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str
) -> None:
    assert run(capsys, *arguments) == (1, "", f"{sentence}\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--parameters", "many"), "'many' is not a number: write 70b or 7e9"),
        (("--parameters", "7b", "--format", "3-bit fp16"), "'3-bit fp16' is no format: write one of fp32, bf16"),
        (("--parameters", "7b", "--task", "dream"), "'dream' is no task: write one of serve"),
        (("--parameters", "9" * 400), f"'{'9' * 64}…' is not a number: write 70b or 7e9"),
        (("--parameters", "7b", "--users", "some"), "'some' is not a whole number"),
        (("--parameters", "7b", "--rows=-1"), "-1 is no number of rows: write 0 or more"),
    ],
)
def test_wrong_use_exits_with_two(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(("size", *arguments))
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_an_index_gives_the_facts(corpus_index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("size", "--model", "llama-3.1-8b", "--index", str(corpus_index))) == 0
    assert "Meta-Llama-3.1-8B: serve" in capsys.readouterr().out


@pytest.mark.parametrize("is_there", [True, False])
def test_an_index_that_cannot_be_used_gives_way_to_the_corpus(tmp_path: Path, is_there: bool, capsys: pytest.CaptureFixture[str]) -> None:
    if is_there:
        (tmp_path / "index").mkdir()
    assert main(("size", "--model", "llama-3.1-8b", "--index", str(tmp_path / "index"))) == 0
    printed = capsys.readouterr()
    assert "The figures are those of corpus/." in printed.err
    assert "Meta-Llama-3.1-8B: serve" in printed.out


def test_without_index_and_corpus_the_remedy_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("chatbot.sizing.sizing.CORPUS", tmp_path)
    said = "There are no facts to size with: run `wattwise ingest` in the folder that holds corpus/ first.\n"
    assert run(capsys, "--parameters", "7b") == (1, "", said)
