"""Uploads and removals that are killed or stopped midway: no file stays on disk unlisted, and nothing hangs."""

import os
import random
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.runtime.scriptrunner import StopException

from app import library
from app.library import (
    INTERRUPTED,
    OUTSIDE,
    STAGED,
    UPLOADS,
    Added,
    Limits,
    add_files,
    remove_files,
    synchronise,
    unfinished,
)
from ingest import CorpusError, Index, sync

LIMITS = Limits(bytes=10_000, count=5)
NOTE = b"# Quokka chips\n\nThe Quokka-9 chip has 77 GB of memory.\n"
OTHER = b"# Bilby chips\n\nThe Bilby-2 chip has 99 GB of memory.\n"
ADDED, KEPT = f"{UPLOADS}/quokka.md", f"{UPLOADS}/kept.md"
# Kills itself, like kill -9, at its n-th access to the index's folder (n is given); with 0 it only counts the accesses.
# It forks before each change, so that many moments need only one start of Python.
KILLED = """
import os, signal, sys
from pathlib import Path
from app.library import Limits, add_files, remove_files
from ingest import Index

change, note, *arguments = sys.argv[1:]
for argument in arguments:
    folder, _, moment = argument.rpartition(":")
    if os.fork():
        os.wait()
        continue
    met = 0
    def watch(event, given):
        global met
        if event.startswith(("open", "os.", "sqlite3.", "shutil.")) and folder in repr(given):
            met += 1
            if met == int(moment):
                os.kill(os.getpid(), signal.SIGKILL)
    index = Index.open(folder)
    sys.addaudithook(watch)
    if change == "add":
        add_files(index, [("quokka.md", note.encode())], Limits(10_000, 5))
    else:
        remove_files(index, ["kept.md"])
    counted = met
    Path(folder).with_suffix(".count").write_text(str(counted))
    os._exit(0)
"""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with one document of the operator and one that a visitor added."""
    folder = tmp_path_factory.mktemp("interrupted")
    (folder / "chips.md").write_text("# Chips\n\nThe Wombat-7 chip has 42 GB of memory.\n")
    sync([folder / "chips.md"], folder / "index", encoder="none")
    add_files(Index.open(folder / "index"), [("kept.md", OTHER)], LIMITS)
    return folder / "index"


@pytest.fixture
def index(template: Path, tmp_path: Path) -> Index:
    return Index.open(copied(template, tmp_path / "index"))


def copied(template: Path, place: Path) -> Path:
    """Copy the index, and sync the copy with its own folder of added files."""
    shutil.copytree(template, place)
    sync([template.parent / "chips.md", place / UPLOADS], place, encoder="none")
    return place


def ids(index: Index) -> set[str]:
    return {document.id for document in index.documents()}


def lying(index: Index) -> dict[str, bytes]:
    """Return the content of every visitor's file on disk, by folder and name."""
    folders = (index.path / UPLOADS, index.path / STAGED)
    return {f"{f.name}/{file.name}": file.read_bytes() for f in folders if f.is_dir() for file in f.iterdir()}


def killed(change: str, template: Path, folder: Path, moments: list[int]) -> list[Path]:
    places = [copied(template, folder / f"{change}-{moment}") for moment in moments]
    arguments = [f"{place}:{moment}" for place, moment in zip(places, moments, strict=True)]
    subprocess.run([sys.executable, "-c", KILLED, change, NOTE.decode(), *arguments], check=True, timeout=120)
    return places


@pytest.mark.evaluation
@pytest.mark.parametrize("change", ["add", "remove"])
def test_a_killed_change_is_listed_and_hinders_nothing(change: str, template: Path, tmp_path: Path) -> None:
    (whole,) = killed(change, template, tmp_path, [0])
    touched = int(whole.with_suffix(".count").read_text())
    count = int(os.environ.get("WATTWISE_KILLS", "4"))
    moments = random.Random(20).sample(range(1, touched + 1), min(count, touched))
    for place in killed(change, template, tmp_path, moments):
        assert not place.with_suffix(".count").exists(), "it was not killed"
        index = Index.open(place)
        listed = {name.rpartition("/")[2] for name in ids(index)} | set(unfinished(place, ids(index)))
        assert {name.partition("/")[2] for name in lying(index)} <= listed
        assert add_files(index, [("next.md", b"# Next\n\nThe Numbat-1 chip has 3 GB.\n")], LIMITS)[0].problem == ""
        # A file whose change was interrupted can be added again, or removed.
        again = ("quokka.md", NOTE) if change == "add" else ("kept.md", OTHER)
        assert add_files(index, [again], LIMITS)[0].problem in ("", f"it is there already, as {again[0]}")
        assert lying(index)[f"{UPLOADS}/{again[0]}"] == again[1]
        remove_files(index, [again[0]])
        assert again[0] not in unfinished(place, ids(index))
        assert f"{UPLOADS}/{again[0]}" not in ids(index) | lying(index).keys()
        assert f"{UPLOADS}/next.md" in ids(index)


def stopping_at(call: int) -> Callable[[str, int, int], None]:
    """Return a progress callback that ends the run at this call, as Streamlit does if the visitor stops it or leaves."""
    calls = iter(range(1, call + 1))

    def progress(stage: str, done: int, total: int) -> None:
        if next(calls, call) == call:
            raise StopException

    return progress


@pytest.mark.parametrize("call", [1, 2, 3])
def test_a_stopped_upload_leaves_nothing_behind(index: Index, call: int) -> None:
    before = ids(index), lying(index)
    with pytest.raises(StopException):
        add_files(index, [("quokka.md", NOTE)], LIMITS, stopping_at(call))
    assert (ids(index), lying(index)) == before
    assert add_files(index, [("quokka.md", NOTE)], LIMITS) == (Added("quokka.md", "quokka.md"),)


def test_a_stopped_removal_removes_nothing(index: Index) -> None:
    before = ids(index), lying(index)
    with pytest.raises(StopException):
        remove_files(index, ["kept.md"], stopping_at(1))
    assert (ids(index), lying(index)) == before


def test_the_last_source_keeps_its_file(index: Index) -> None:
    library.synchronise(index, without=next(iter(library.origins(index))))
    with pytest.raises(CorpusError, match="the last source"):
        remove_files(index, ["kept.md"])
    assert lying(index) == {KEPT: OTHER}


def test_no_sync_reads_what_was_interrupted(index: Index) -> None:
    (index.path / STAGED / "endless.md").write_bytes(NOTE)
    (index.path / UPLOADS / "endless.md").write_bytes(NOTE)
    assert unfinished(index.path, ids(index)) == {"endless.md": INTERRUPTED}
    assert synchronise(index).added == ()
    assert lying(index) == {KEPT: OTHER, f"{STAGED}/endless.md": NOTE}
    remove_files(index, ["endless.md"])
    assert unfinished(index.path, ids(index)) == {}


def test_an_added_file_that_a_sync_from_elsewhere_left_out_is_listed(index: Index) -> None:
    sync(library.origins(index), index.path, encoder="none")
    assert unfinished(index.path, ids(index)) == {"kept.md": OUTSIDE}
    assert add_files(index, [("kept.md", OTHER)], LIMITS) == (Added("kept.md", "kept.md"),)
    assert KEPT in ids(index)


def test_whoever_waits_for_somebody_else_can_stop_and_is_told_in_the_end(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "_PATIENCE", 0.2)
    begun, done = threading.Event(), threading.Event()

    def slow(stage: str, number: int, total: int) -> None:
        begun.set()
        done.wait(20)

    other = threading.Thread(target=add_files, args=(index, [("quokka.md", NOTE)], LIMITS, slow))
    other.start()
    assert begun.wait(20)
    with pytest.raises(StopException):
        synchronise(index, progress=stopping_at(1))
    with pytest.raises(CorpusError, match="Somebody else is changing the index"):
        remove_files(index, ["kept.md"])
    done.set()
    other.join()
    assert ids(index) >= {ADDED, KEPT}


def test_another_process_waits_too_and_its_end_sets_the_lock_free(index: Index) -> None:
    holding = "import sys, time; from app.library import _alone; from ingest import Index\n"
    holding += "with _alone(Index.open(sys.argv[1]), None): print('held', flush=True); time.sleep(60)"
    holder = subprocess.Popen([sys.executable, "-c", holding, str(index.path)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(StopException):
        synchronise(index, progress=stopping_at(1))
    holder.kill()
    holder.communicate()
    assert synchronise(index).unchanged


def test_what_visitors_add_is_the_programs_own_users_alone(index: Index) -> None:
    (index.path / UPLOADS).chmod(0o755)
    before = os.umask(0o022)
    try:
        add_files(index, [("quokka.md", NOTE)], LIMITS)
    finally:
        os.umask(before)
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in (index.path / UPLOADS, index.path / UPLOADS / "quokka.md")}
    assert modes == {UPLOADS: 0o700, "quokka.md": 0o600}
    assert stat.S_IMODE((index.path / STAGED).stat().st_mode) == 0o700
    assert stat.S_IMODE((index.path / "uploads.lock").stat().st_mode) == 0o600
