import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from chatbot.__main__ import main
from chatbot.answer import REFUSAL
from ingest import sync

KEYS = ["question", "text", "refused", "choices", "citations", "model", "seconds", "footprint", "statements", "usage", "cost", "dropped", "notice"]
CITATION_KEYS = [
    "number", "claim", "source", "original", "title", "url", "headings", "page", "quote", "start", "end", "support",
]  # fmt: skip


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_an_answer_is_printed_with_its_sources(corpus_index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "ask", "How many Trainium chips are in a trn1.32xlarge?", "--index", str(corpus_index))
    assert (code, err) == (0, "")
    assert out == (
        "A trn1.32xlarge has 16 Trainium chips [1].\n\n"
        "[1] Amazon EC2 Trn1 Instances: Accelerating Generative AI Training > What is in a trn1.32xlarge?\n"
        "    “A trn1.32xlarge has 16 Trainium chips.”\n"
    )


def test_json_has_the_fixed_keys(corpus_index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "ask", "Is Trainium for inference?", "--json", "--index", str(corpus_index))
    answer = json.loads(out)
    assert list(answer) == KEYS
    assert all(list(citation) == CITATION_KEYS for citation in answer["citations"])


def test_a_batch_keeps_order_and_names_bad_lines(
    corpus_index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text(
        '{"id": "a", "turns": ["How many vCPUs has trn1.2xlarge?", "and the bigger one?"]}\nnot json\n\n'
        '{"id": "b", "turns": []}\n{"id": "c", "turns": ["What is the capital of France?"]}\n'
    )
    code, out, _ = run(capsys, "ask", "--batch", str(file), "--index", str(corpus_index))
    answers = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert [a["id"] for a in answers] == ["a", None, "b", "c"]
    assert "128" in answers[0]["text"]
    assert ["error" in a for a in answers] == [False, True, True, False]
    assert answers[3]["refused"]
    assert answers[3]["text"].startswith(REFUSAL)


def test_an_empty_variable_is_unset_and_bytes_that_do_not_decode_are_left_out(corpus_index: Path) -> None:
    asked = subprocess.run(
        [sys.executable, "-m", "chatbot", "ask", "-", "--json", "--index", str(corpus_index)],
        input=b"Is Trainium for caf\xe9 inference?",
        env={**os.environ, "WATTWISE_MODEL": ""},
        capture_output=True,
    )
    assert (asked.returncode, asked.stderr) == (0, b"")
    assert json.loads(asked.stdout)["question"] == "Is Trainium for caf inference?"


def test_an_id_that_json_cannot_hold_is_no_id(corpus_index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text("".join(f'{{"id": {said}, "turns": ["hello"]}}\n' for said in ("NaN", "1e999", "[-Infinity]", "1.5")))
    _, out, _ = run(capsys, "ask", "--batch", str(file), "--index", str(corpus_index))
    answers = [json.loads(line, parse_constant=pytest.fail) for line in out.splitlines()]
    assert [(a["id"], "error" in a) for a in answers] == [(None, True), (None, True), (None, True), (1.5, False)]


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        pytest.param(
            "ask hello >/dev/full",
            1,
            "Not all could be written (No space left on device): make room, or write to another place.\n",
            marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full"),
        ),
        ("ask hello >&-", 0, ""),
        ("ask hello <&- >/dev/null", 0, ""),
        ("ask - <&-", 1, "The question is empty. Ask something, for example: Which instance has the lowest footprint for training?\n"),
        ("ask --batch - <&-", 0, ""),
    ],
)
def test_a_closed_stream_is_empty_and_a_full_one_is_named(corpus_index: Path, command: str, code: int, said: str) -> None:
    script = f'"$0" -m chatbot {command}'
    asked = subprocess.run(["sh", "-c", script, sys.executable], env={**os.environ, "WATTWISE_INDEX": str(corpus_index)}, capture_output=True, text=True)
    assert (asked.returncode, asked.stdout, asked.stderr) == (code, "", said)


def test_chat_remembers_what_was_asked(
    corpus_index: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        sys, "stdin", io.StringIO("How much accelerator memory has trn1.2xlarge?\nand the bigger one?\n")
    )
    code, out, _ = run(capsys, "chat", "--index", str(corpus_index))
    assert code == 0
    assert "32 GB" in out
    assert "512 GB" in out


def test_status_tells_what_the_index_holds(corpus_index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "status", "--json", "--index", str(corpus_index))
    status = json.loads(out)
    ids = [document["id"] for document in status["documents"]]
    assert {"corpus/trn1-instances.md", "corpus/reference/savings-plans.md", "corpus/instances.csv"} <= set(ids)
    assert not [identity for identity in ids if "exam" in identity.split("/")[:-1]]
    assert status["chunks"] > 400


def test_a_missing_index_is_one_sentence_with_the_command_that_mends_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "ask", "Anything?", "--index", str(tmp_path / "none"))
    assert (code, out) == (1, "")
    assert f"wattwise ingest --index {tmp_path / 'none'}" in err


@pytest.mark.parametrize("given", ["option", "variable"])
@pytest.mark.parametrize(
    "command", [("ask", "L4 TDP?"), ("status",), ("ingest", "."), ("size", "--parameters", "7b"), ("exam", "x.md"), ("serve",), ("mcp",), ("app",)], ids=lambda command: command[0]
)
def test_an_index_on_another_kind_of_server_is_refused_without_its_password(
    command: tuple[str, ...], given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    address = "postgresql+psycopg://me:secret@db.example/library"
    if given == "variable":
        monkeypatch.setenv("WATTWISE_INDEX", address)
    code, out, err = run(capsys, *command, *(("--index", address) if given == "option" else ()))
    assert (code, out, list(tmp_path.iterdir())) == (1, "", [])
    assert err == "An index is a folder or postgresql://USER@HOST/DATABASE, and postgresql+psycopg:// is neither: write it so.\n"


@pytest.mark.parametrize("as_json", [False, True])
def test_a_check_reads_all_and_says_in_a_sentence_what_is_not_as_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    document, place = tmp_path / "one.md", tmp_path / "index"
    document.write_text("# One\n\nTrainium trains models.\n")
    sync([document], place, encoder="none")
    command = ["status", "--check", "--index", str(place), *(["--json"] if as_json else [])]
    problem = (
        f"The document one.md does not match its checksums. Make it anew: wattwise ingest {document} --index {place}"
    )

    whole = run(capsys, *command)
    spoil(place)
    damaged = run(capsys, *command)

    if as_json:
        assert [json.loads(out) for _, out, _ in (whole, damaged)] == [
            {"index": str(place), "problems": []},
            {"index": str(place), "problems": [problem]},
        ]
    else:
        assert (whole[1], damaged[1]) == (f"{place}: all of it is as it was written.\n", f"{problem}\n")
    assert [(code, err) for code, _, err in (whole, damaged)] == [(0, ""), (1, "")]


@pytest.mark.parametrize("command", [["ask", "What trains models?"], ["status"], ["ask", "--batch"], ["chat"]])
def test_a_damaged_text_is_never_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    document, place, batch = tmp_path / "one.md", tmp_path / "index", tmp_path / "batch.jsonl"
    document.write_text("# One\n\nTrainium trains models.\n")
    sync([document], place, encoder="none")
    spoil(place)
    batch.write_text('{"id": 1, "turns": ["What trains models?"]}')
    monkeypatch.setattr(sys, "stdin", io.StringIO("What trains models?\n"))

    code, out, err = run(capsys, *command, *([str(batch)] if "--batch" in command else []), "--index", str(place))

    assert code == (0 if command == ["chat"] else 1)
    assert "Trainiun" not in out
    assert "does not match its checksum). Make it anew: wattwise ingest" in out + err


def spoil(place: Path) -> None:
    """Corrupt the stored text: replace the m of Trainium with n."""
    store = place / "store.sqlite"
    store.write_bytes(store.read_bytes().replace(b"Trainium trains", b"Trainiun trains"))


@pytest.mark.parametrize("arguments", [("ask",), ("ask", "x", "--batch", "y")])
def test_wrong_use_is_exit_code_two(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, *arguments)[0] == 2


def test_an_unknown_model_names_the_remedy(corpus_index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "ask", "x", "--model", "ollama:llama3", "--index", str(corpus_index))
    assert code == 1
    assert "offline" in err


@pytest.mark.evaluation
def test_a_question_and_an_exam_import_nothing_heavy(corpus_index: Path, tmp_path: Path) -> None:
    (tmp_path / "exam.md").write_text("1. Which AWS chip is for inference?\n   A. Trainium\n   B. Inferentia\n   Answer: B\n")
    program = (
        "import sys; from chatbot.__main__ import main; main(['ask', 'L4 TDP?', '--index', sys.argv[1]]);"
        "main(['exam', sys.argv[2], '--index', sys.argv[1]]);"
        "heavy = 'torch', 'sentence_transformers', 'langchain_core', 'streamlit', 'onnx', 'ecologits', 'genai_prices';"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(corpus_index), "exam.md"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "\nwattwise " in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_what_a_command_writes_is_its_own_users_alone(tmp_path: Path) -> None:
    (tmp_path / "chips.md").write_text("# Chips\n\nThe Quokka-9 chip has 77 GB of memory.\n")
    command = [sys.executable, "-m", "chatbot", "ingest", "chips.md", "--index", "index", "--encoder", "none"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, umask=0o022)
    written = [tmp_path / "index", *(tmp_path / "index").rglob("*")]
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in written}
    assert modes == {(True, 0o700), (False, 0o600)}
