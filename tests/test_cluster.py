"""Reading and encoding on a Ray cluster: whatever happens to its workers, the index is the same as one made without Ray."""

import os
import shutil
import signal
import socket
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

from ingest import sync
from ingest.__main__ import main

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install 'wattwise[ray]'")
CONTENTS = (
    "SELECT * FROM sources ORDER BY key",
    "SELECT * FROM documents ORDER BY id",
    "SELECT * FROM chunks ORDER BY id",
    "SELECT * FROM vectors ORDER BY digest",
)
# Process names of Ray workers during a task and after it.
TASKS = (b"ray::_read", b"ray::_encode", b"ray::IDLE")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number}.md").write_text(
            f"# Machine {number}\n\nIt has {number} GPUs.\n\n# Price\n\n{number} dollars.\n"
        )
    (folder / "bad.md").write_bytes(b"\xff")
    return folder


@pytest.fixture
def own_ray(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A local Ray cluster that ends with the test, in a short path, because the paths of its sockets are limited in length."""
    folder = tempfile.mkdtemp()
    monkeypatch.setenv("RAY_ADDRESS", "local")
    monkeypatch.setenv("RAY_TMPDIR", folder)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", f"{folder}/token")
    Path(folder, "token").write_text("0" * 64)
    yield
    shutil.rmtree(folder, ignore_errors=True)


def contents(place: Path) -> list[list[tuple[object, ...]]]:
    with closing(sqlite3.connect(place / "store.sqlite")) as store:
        return [store.execute(query).fetchall() for query in CONTENTS]


def parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def workers() -> list[int]:
    """The ids of Ray worker processes that this process started and that have been given a task."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "cmdline").read_bytes().startswith(TASKS) and parent(parent(int(folder.name))) == os.getpid():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def test_without_ray_its_remedy_is_said(
    docs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main([str(docs), "--index", str(docs.parent / "index"), "--ray"]) == 1
    assert capsys.readouterr().err == "Ray is not installed: pip install 'wattwise[ray]'\n"


@needs_ray
@pytest.mark.filterwarnings("default")
def test_an_address_that_does_not_answer_is_said_at_once(docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unheard.getsockname()[1]}"
        assert main([str(docs), "--index", str(docs.parent / "index"), "--ray", address]) == 1
    assert capsys.readouterr().err == (
        f"No Ray cluster can be used at {address} ([Errno 111] Connection refused). Give the HOST:PORT that "
        "`ray start --head` prints, on a machine of the cluster; or --ray alone, after the sources.\n"
    )


@needs_ray
@pytest.mark.evaluation
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("default")
def test_lost_workers_and_a_second_run_change_nothing(
    docs: Path, tmp_path: Path, own_ray: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.syncing._AHEAD", 8)
    monkeypatch.setattr("ingest.syncing._BATCH", 8)
    killed = {"reading": 0, "encoding": 0}

    def kill_once(stage: str, done: int, total: int) -> None:
        if done < total and not killed[stage]:
            for worker in workers():
                os.kill(worker, signal.SIGKILL)
                killed[stage] += 1

    expected = sync([docs], tmp_path / "here")
    report = sync([docs], tmp_path / "ray", ray="", progress=kill_once)

    assert min(killed.values()) > 0
    assert report == expected
    assert (len(report.added), len(report.failed)) == (40, 1)
    assert contents(tmp_path / "ray") == contents(tmp_path / "here")
    assert sync([docs], tmp_path / "ray", ray="").encoded == 0
