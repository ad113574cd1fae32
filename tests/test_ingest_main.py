"""The command line of ingest: its output on stdout and stderr, and its exit codes."""

import json
import os
import pty
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from ingest.__main__ import main


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WATTWISE_INDEX", raising=False)
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "one.md").write_text("# One\n\nTrainium trains models.\n")
    return folder


def test_corpus_goes_into_index_unless_told_otherwise(docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--encoder", "none"]) == 0
    assert capsys.readouterr().out == (
        "index is up to date: 1 added, 0 changed, 0 removed, 0 unchanged, 0 failed; 0 texts encoded.\n"
    )
    assert Path("index/store.sqlite").is_file()


def test_where_there_is_no_corpus_the_shipped_one_goes_into_index(
    docs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (shipped := docs.rename("shipped")).joinpath("two.md").write_text("# Two\n\nInferentia serves them.\n")
    monkeypatch.setattr("ingest.__main__.SHIPPED", shipped)

    assert main(["--encoder", "none"]) == 0
    assert capsys.readouterr().out == (
        "index is up to date: 2 added, 0 changed, 0 removed, 0 unchanged, 0 failed; 0 texts encoded.\n"
    )


def test_the_environment_names_the_index(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTWISE_INDEX", "elsewhere")

    assert main([str(docs), "--encoder", "none"]) == 0
    assert Path("elsewhere/store.sqlite").is_file()


def test_failures_go_to_standard_error_and_the_report_to_standard_output(
    docs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (docs / "bad.md").write_bytes(b"\xff\xff")

    assert main([str(docs), "--encoder", "none", "--json"]) == 0

    out, err = capsys.readouterr()
    report = json.loads(out)
    assert err.startswith("not read: corpus/bad.md: ")
    assert [failure["id"] for failure in report.pop("failed")] == ["corpus/bad.md"]
    assert report == {
        "added": ["corpus/one.md"], "changed": [], "removed": [], "unchanged": [], "encoded": 0, "damaged": [], "set_aside": "",
    }  # fmt: skip


def test_a_dry_run_lists_what_would_change(docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--dry-run"]) == 0
    assert capsys.readouterr().out == (
        "+ corpus/one.md\nindex would change so: 1 added, 0 changed, 0 removed, 0 unchanged, 0 failed.\n"
    )
    assert not Path("index").exists()


def test_what_cannot_be_done_is_said_in_one_line(docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nowhere", "--encoder", "none"]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "nowhere does not exist" in err


def test_a_dry_run_that_finds_nothing_could_not_be_done(docs: Path) -> None:
    assert main(["nowhere", "--dry-run"]) == 1


def test_wrong_use_exits_with_two(docs: Path) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--no-such-option"])
    assert stopped.value.code == 2


@pytest.mark.evaluation
def test_a_bar_is_drawn_on_a_terminal_only(docs: Path) -> None:
    command = [sys.executable, "-m", "ingest", str(docs)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    (docs / "two.md").write_text("# Two\n\nInferentia serves models.\n")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, (24, 80))
    subprocess.run(command, stderr=theirs, stdout=subprocess.PIPE, check=True, env=environment)
    os.close(theirs)
    drawn = os.read(ours, 100_000).decode()
    os.close(ours)
    quiet = subprocess.run([*command, "--index", "other", "--encoder", "none"], capture_output=True, check=True, env=environment)

    assert "reading: 100%" in drawn
    assert "encoding: 100%" in drawn
    assert quiet.stderr == b""


def test_an_empty_source_is_not_the_current_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["", "--index", str(tmp_path / "index")]) == 1
    said = "There is nothing to ingest: name a file, a folder, an s3:// prefix or an https:// address.\n"
    assert capsys.readouterr().err == said
