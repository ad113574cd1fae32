import json
from pathlib import Path

import pytest

from chatbot.exam.__main__ import _ids, main

EXAM = """\
1. How many Trainium chips are in a trn1.32xlarge?
   A. Two
   B. 16
   C. 64
   Answer: B

2. Which AWS chip is for inference?
   A. AWS Trainium
   B. AWS Inferentia
   Answer: B

3. Who sang it in Oslo?
   A. Zaza Blom
   B. Ude Krogh
   Answer: A

4. Which one?
   A. This
   B. That
   Answer: A or B
"""


@pytest.fixture
def exam(tmp_path: Path) -> Path:
    file = tmp_path / "exam.md"
    file.write_text(EXAM)
    return file


def run(capsys: pytest.CaptureFixture[str], index: Path, *arguments: object) -> tuple[int, str, str]:
    code = main([*map(str, arguments), "--index", str(index)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def rows(out: str) -> dict[str, list[str]]:
    """The lines of the printed table, split into words, by row name."""
    return {line.split("  ")[0]: line.split() for line in out.splitlines() if line and not line.startswith(" ")}


def test_the_table_has_the_model_beside_its_baselines(
    exam: Path, corpus_index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, corpus_index, exam)
    assert code == 0
    assert err == "exam.md, line 17: the answer 'A or B' leaves open which option is meant: not asked.\n"
    table = rows(out)
    assert " ".join(table["wattwise"]) == "wattwise 0.667 0.208 to 0.939 3 2 0 1 0 0.667 1.000"
    assert table["chance"][:2] == ["chance", "0.444"]
    assert " ".join(table["always B"][2:]) == "0.667 0.208 to 0.939 3 2 1 0 0 1.000 0.667"
    assert " ".join(table["closed book"][2:]) == "0.000 0.000 to 0.561 3 0 0 3 0 0.000 0.000"
    assert {"longest option", "retrieval only"} <= set(table)


def test_a_report_is_kept_and_the_same_run_is_not_asked_again(
    exam: Path, corpus_index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, first, err = run(capsys, corpus_index, exam, "--report", tmp_path / "report", "--json")
    assert code == 0
    assert f"The report is {tmp_path / 'report' / 'report.html'}." in err
    names = {path.name for path in (tmp_path / "report").iterdir()}
    assert names == {"results.jsonl", "run.json", "summary.json", "junit.xml", "report.html"}
    # Times would differ if the questions were asked again, so equal output means stored results were reused.
    assert run(capsys, corpus_index, exam, "--report", tmp_path / "report", "--json")[1] == first
    assert json.loads(first) == json.loads((tmp_path / "report" / "summary.json").read_text())


def test_the_first_questions_do_not_replace_a_report_of_more(exam: Path, corpus_index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "report"
    asked = [run(capsys, corpus_index, exam, "--report", folder, "--no-baselines", *more) for more in ((), ("--limit", 1), ("--limit", 1, "--fresh"), ("--limit", 2))]
    told = f"The report is {folder / 'report.html'}."
    refused = f"{folder} holds 3 results, and --limit 1 would replace them: give --report another folder, or add --fresh."
    assert [(code, err.splitlines()[-1]) for code, _, err in asked] == [(0, told), (1, refused), (0, told), (0, told)]


def test_a_floor_decides_the_exit_code(exam: Path, corpus_index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, corpus_index, exam, "--min-accuracy", 0.6, "--no-baselines")[0] == 0
    code, _, err = run(capsys, corpus_index, exam, "--min-accuracy", 0.7, "--no-baselines")
    assert code == 1
    assert err.endswith("The accuracy is 0.667, under 0.7.\n")


def test_an_unreadable_file_of_a_folder_is_named_and_the_exit_code_is_one(exam: Path, corpus_index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (exam.parent / "bad.txt").write_bytes(b"\xff\xff\xfe")
    code, out, err = run(capsys, corpus_index, exam.parent, "--no-baselines")
    assert (code, rows(out)["wattwise"][1:2]) == (1, ["0.667"])
    assert f"{exam.parent.name}/bad.txt is not UTF-8 (byte 0): save it as UTF-8.\n" in err


def test_what_flipped_since_a_baseline_is_named(
    exam: Path, corpus_index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, corpus_index, exam, "--report", tmp_path / "report")
    file = tmp_path / "report" / "results.jsonl"
    earlier = [json.loads(line) for line in file.read_text().splitlines()]
    earlier[0]["verdict"], earlier[2]["verdict"] = "wrong", "right"
    (tmp_path / "before.jsonl").write_text("".join(json.dumps(row) + "\n" for row in earlier))
    _, out, _ = run(capsys, corpus_index, exam, "--baseline", tmp_path / "before.jsonl", "--no-baselines")
    flipped = [
        "since the baseline: 1 gained, 1 lost, of 3 compared; p = 1 (McNemar, exact)",
        "  gained  exam-1",
        "  lost    exam-3",
    ]
    assert out.splitlines()[-3:] == flipped
    file.write_bytes((tmp_path / "before.jsonl").read_bytes())
    _, out, _ = run(capsys, corpus_index, exam, "--report", file.parent, "--fresh", "--baseline", file, "--no-baselines")
    assert out.splitlines()[-3:] == flipped


def test_only_failing_asks_what_was_not_right_and_keeps_the_whole_report(
    exam: Path, corpus_index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "report"
    run(capsys, corpus_index, exam, "--report", folder)
    code, out, err = run(capsys, corpus_index, exam, "--report", folder, "--only-failing", "--no-baselines")
    assert code == 0
    assert "this is no accuracy of the exam" in err
    assert rows(out)["wattwise"][1:6] == ["0.000", "0.000", "to", "0.793", "1"]
    assert len((folder / "results.jsonl").read_text().splitlines()) == 3
    assert len((folder / "only-failing" / "results.jsonl").read_text().splitlines()) == 1


def test_halves_limits_and_shuffled_options(exam: Path, corpus_index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def asked(*arguments: object) -> tuple[int, str]:
        summary = json.loads(run(capsys, corpus_index, exam, "--json", "--no-baselines", *arguments)[1])
        return summary["total"]["accuracy"]["n"], summary["identity"]["questions"]

    assert asked("--half", "tuned")[0] == 2
    assert asked("--half", "kept")[0] == 1
    assert asked("--limit", 2)[0] == 2
    assert asked("--shuffle", 7) == asked()


def test_what_the_corpus_covers_is_scored_apart(
    exam: Path, corpus_index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "covered.txt").write_text("# judged by hand\nexam-1  sizes\nexam-2\n")
    _, out, _ = run(capsys, corpus_index, exam, "--covered", tmp_path / "covered.txt", "--json")
    groups = json.loads(out)["by_covered"]
    assert {name: group["accuracy"]["hits"] for name, group in groups.items()} == {
        "covered by the corpus": 2,
        "not covered": 0,
    }
    assert run(capsys, corpus_index, exam, "--covered", tmp_path / "none.txt")[0] == 1


def test_a_covered_id_may_have_spaces_and_the_file_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "covered.txt").write_text("\ufeffexam-1\nexam-2  sizes\nmy exam-3\n", encoding="utf-8")
    assert _ids(tmp_path / "covered.txt", {"exam-1", "exam-2", "my exam-3"}) == {"exam-1", "exam-2", "my exam-3"}


def test_golden_questions_go_through_the_same_machinery(
    corpus_index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = [
        {"id": "f", "kind": "fact", "turns": ["Trn1?", "How many Trainium chips has a trn1.32xlarge?"], "required": [r"\b16\b"], "sources": ["003_743257c5bfc06e2b.txt"]},
        {"id": "r", "kind": "refusal", "turns": ["What will the weather be tomorrow?"], "refused": True},
        {"id": "x", "kind": "fact", "turns": ["Is Trainium for inference?"], "required": ["teapot"], "sources": []},
    ]  # fmt: skip
    (tmp_path / "golden").mkdir()
    (tmp_path / "golden" / "own.jsonl").write_text("".join(json.dumps(q) + "\n" for q in golden))
    code, out, _ = run(
        capsys, corpus_index, tmp_path / "golden", "--report", tmp_path / "report", "--min-accuracy", 0.9
    )
    assert code == 1
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[:4] == [
        "golden/own.jsonl",
        "passed, fact 0.500 1 of 2 95 %: 0.095 to 0.905",
        "passed, refusal 1.000 1 of 1 95 %: 0.207 to 1.000",
        "passed, all 0.667 2 of 3 95 %: 0.208 to 0.939",
    ]
    summary = json.loads((tmp_path / "report" / "summary.json").read_text())
    assert set(summary["by_topic"]) == {"fact", "refusal"}
    assert summary["golden"]["false_answers"]["hits"] == 0
    # Stored results are scored like the run itself.
    again = run(capsys, corpus_index, tmp_path / "golden", "--report", tmp_path / "report", "--min-accuracy", 0.9)
    assert again[1] == out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--min-accuracy", "70"), "--min-accuracy is 70: it takes a share from 0 to 1"),
        (("--limit", "0"), "--limit is 0"),
        (("--only-failing",), "--only-failing needs an earlier run"),
        (("--only-failing", "--report", "x", "--min-accuracy", "0.5"), "--min-accuracy says nothing"),
    ],
)
def test_wrong_use_is_one_sentence_and_exit_code_two(
    exam: Path, corpus_index: Path, arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, corpus_index, exam, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(said)


def test_what_cannot_be_done_is_one_sentence_and_exit_code_one(
    exam: Path, corpus_index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, said in (
        ((tmp_path / "none.md",), "cannot be read"),
        ((exam, "--baseline", tmp_path / "none.jsonl", "--model", "nobody:x"), "none.jsonl cannot be read"),
        ((exam, "--model", "nobody:x"), "No reader for the model"),
        ((exam, "--only-failing", "--report", tmp_path / "none"), "cannot be read"),
    ):
        code, out, err = run(capsys, corpus_index, *arguments)
        assert (code, out) == (1, "")
        assert said in err
    code, out, err = run(capsys, tmp_path / "no-index", exam)
    assert (code, out) == (1, "")
    assert "wattwise ingest" in err
