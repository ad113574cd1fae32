"""sync: what changes and what stays, what a failure costs, and that a kill leaves the old index or the new one."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from ingest import CorpusError, Index, SyncReport, sync
from ingest.items import Failure

ONE = "# One\n\nTrainium trains models.\n"
TWO = "# Two\n\nInferentia serves models.\n"
THREE = "# Three\n\nGraviton runs everything else.\n"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "one.md").write_text(ONE)
    (folder / "two.md").write_text(TWO)
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "index"


def report(**kinds: tuple[str, ...]) -> SyncReport:
    names = ("added", "changed", "removed", "unchanged")
    return SyncReport(*(kinds.get(name, ()) for name in names), failed=())


def texts(place: Path) -> dict[str, str]:
    return {document.id: document.text for document in Index.open(place).documents()}


def quick(sources: list[Path | str], place: Path) -> SyncReport:
    return sync(sources, place, encoder="none")


def test_a_sync_tells_what_is_new_other_gone_and_the_same(docs: Path, place: Path) -> None:
    assert quick([docs], place) == report(added=("docs/one.md", "docs/two.md"))

    (docs / "two.md").write_text(TWO + "\nAnd cheaply.\n")
    (docs / "three.md").write_text(THREE)
    (docs / "one.md").unlink()

    expected = report(added=("docs/three.md",), changed=("docs/two.md",), removed=("docs/one.md",))
    assert sync([docs], place, encoder="none", dry_run=True) == expected
    assert Index.open(place).generation == 1
    assert quick([docs], place) == expected
    assert texts(place) == {"docs/three.md": THREE, "docs/two.md": TWO + "\nAnd cheaply.\n"}
    assert quick([docs], place) == report(unchanged=("docs/three.md", "docs/two.md"))
    assert Index.open(place).generation == 2


def test_only_texts_without_a_vector_are_encoded(docs: Path, place: Path) -> None:
    assert sync([docs], place).encoded == 2
    (docs / "one.md").write_text(ONE + "\n## More\n\nIt trains large models best of all.\n")
    assert sync([docs], place).encoded == 1
    shutil.copytree(docs, docs.parent / "copy" / "docs")
    assert sync([docs.parent / "copy" / "docs"], place).encoded == 0
    assert sync([docs], place, encoder="none").encoded == 0
    assert sync([docs], place).encoded == 3


def test_vectors_are_the_same_in_whatever_order_documents_come(docs: Path, place: Path, tmp_path: Path) -> None:
    (docs / "three.md").write_text(THREE)
    sync([docs / "one.md", docs / "two.md", docs / "three.md"], place)
    sync([docs / "three.md", docs / "one.md"], tmp_path / "other")
    sync([docs / "three.md", docs / "two.md", docs / "one.md"], tmp_path / "other")
    first, second = Index.open(place), Index.open(tmp_path / "other")
    question = "Which chip trains models?"
    vector = first.encode([question])[0]

    assert first.dense(vector, 9) == second.dense(vector, 9)
    assert first.lexical(question, 9) == second.lexical(question, 9)


def test_a_document_that_cannot_be_read_is_named_and_its_old_version_stays(docs: Path, place: Path) -> None:
    quick([docs], place)
    (docs / "one.md").write_bytes(b"\xff\xfe broken \xff")
    (docs / "empty.md").write_text("")

    done = quick([docs], place)

    assert [failure.id for failure in done.failed] == ["docs/empty.md", "docs/one.md"]
    assert all(failure.reason for failure in done.failed)
    assert (done.unchanged, done.changed, done.removed) == (("docs/two.md",), (), ())
    assert texts(place) == {"docs/one.md": ONE, "docs/two.md": TWO}


def test_a_source_that_cannot_be_reached_keeps_its_documents(docs: Path, place: Path) -> None:
    quick([docs, docs.parent / "more"], place)
    more = docs.parent / "more"
    more.mkdir()
    (more / "three.md").write_text(THREE)
    quick([docs, more], place)
    shutil.rmtree(more)
    (docs / "one.md").unlink()

    done = quick([docs, more], place)

    assert [failure.id for failure in done.failed] == [str(more)]
    assert done.removed == ("docs/one.md",)
    assert texts(place) == {"docs/two.md": TWO, "more/three.md": THREE}
    assert quick([docs], place).removed == ("more/three.md",)


def test_two_documents_of_one_name_are_not_mixed_up(docs: Path, place: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "docs"
    other.mkdir(parents=True)
    (other / "one.md").write_text(THREE)

    done = quick([docs, other], place)

    assert done.failed == (
        Failure("docs/one.md", "another source has a document of the same name: rename one of the two"),
    )
    assert texts(place)["docs/one.md"] == ONE


@pytest.mark.parametrize("content", [None, b"\xff\xff"])
def test_nothing_readable_and_no_index_is_an_error(tmp_path: Path, place: Path, content: bytes | None) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    if content:
        (folder / "bad.md").write_bytes(content)

    with pytest.raises(CorpusError, match="bad.md" if content else "There is nothing to ingest"):
        quick([folder], place)
    with pytest.raises(CorpusError, match="wattwise ingest"):
        Index.open(place)


def test_no_source_is_an_error(place: Path) -> None:
    with pytest.raises(CorpusError, match="name a file"):
        sync([], place)


def test_an_index_folder_that_cannot_be_made_is_named(docs: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(CorpusError, match="cannot be read or written"):
        quick([docs], tmp_path / "file" / "index")


def test_a_dry_run_writes_nothing(docs: Path, place: Path) -> None:
    assert sync([docs], place, dry_run=True).added == ("docs/one.md", "docs/two.md")
    assert not place.exists()


def test_an_encoder_that_cannot_be_had_leaves_the_index_as_it_was(docs: Path, place: Path, tmp_path: Path) -> None:
    quick([docs], place)
    before = Index.open(place).updated

    with pytest.raises(CorpusError):
        sync([docs], place, encoder=str(tmp_path / "no" / "model"))

    assert (Index.open(place).encoder_name, Index.open(place).generation) == ("none", 1)
    assert Index.open(place).updated == before


def test_an_index_that_is_damaged_or_of_another_format_is_made_anew(docs: Path, place: Path) -> None:
    quick([docs], place)
    store = place / "store.sqlite"
    store.write_bytes(store.read_bytes()[:5000])
    with pytest.raises(CorpusError, match="is damaged"):
        Index.open(place)

    quick([docs], place)

    assert texts(place) == {"docs/one.md": ONE, "docs/two.md": TWO}


def test_derived_files_that_are_missing_come_back_though_nothing_changed(docs: Path, place: Path) -> None:
    quick([docs], place)
    shutil.rmtree(place / "derived-1")

    quick([docs], place)

    assert (place / "derived-1" / "manifest.json").is_file()


def test_progress_is_told(docs: Path, place: Path) -> None:
    told: list[tuple[str, int, int]] = []
    sync([docs], place, progress=lambda *step: told.append(step))

    assert told == [("reading", 1, 0), ("reading", 2, 0), ("encoding", 2, 2)]


def modules_after(code: str) -> list[str]:
    """Which of the heavy modules a new process has imported after some code."""
    heavy = ("torch", "sentence_transformers", "transformers", "onnx", "onnxruntime", "trafilatura", "markitdown")
    show = f"import json, sys; print(json.dumps([name for name in {heavy} if name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", f"{code}; {show}"], capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


def test_no_step_imports_torch_and_a_sync_without_changes_not_even_the_encoder(docs: Path, place: Path) -> None:
    sync([docs], place)
    again = f"from ingest import sync; sync([{str(docs)!r}], {str(place)!r})"
    opened = f"from ingest import Index; index = Index.open({str(place)!r})"
    ask = f"{opened}; index.dense(index.encode(['chips'])[0], 3); index.lexical('chip', 3)"

    assert modules_after("import ingest") == []
    assert modules_after(again) == []
    assert modules_after(ask) == ["onnxruntime"]
    (docs / "three.md").write_text(THREE)
    assert modules_after(again) == ["onnxruntime"]


class _Silent(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_error(503)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def failing_server() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Silent)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/page"
    server.shutdown()
    server.server_close()


def test_a_page_that_may_not_be_fetched_costs_nothing_else(docs: Path, place: Path, failing_server: str) -> None:
    done = quick([failing_server, docs], place)

    assert [failure.id for failure in done.failed] == [failing_server]
    assert done.added == ("docs/one.md", "docs/two.md")


KILLED = """
import os, signal, sys
from ingest import sync
from ingest.encoder import load_encoder
names = {"execute", "executemany", "rename", "replace", "mkdir", "unlink", "rmdir", "write", "commit", "scandir"}
left = int(sys.argv[3])
def watch(frame, event, argument):
    global left
    if event == "c_call" and argument.__name__ in names:
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
sys.setprofile(watch)
sync([sys.argv[1]], sys.argv[2], encoder="none")
sys.setprofile(None)
print(int(sys.argv[3]) - left)
"""


def run_until_killed(docs: Path, place: Path, steps: int) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-c", KILLED, str(docs), str(place), str(steps)]
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


def test_a_kill_at_any_step_leaves_the_old_index_or_the_new_one(docs: Path, place: Path, tmp_path: Path) -> None:
    quick([docs], place)
    (docs / "one.md").write_text(THREE)
    (docs / "two.md").unlink()
    (docs / "new.md").write_text(TWO)
    old = {"docs/one.md": ONE, "docs/two.md": TWO}
    new = {"docs/one.md": THREE, "docs/new.md": TWO}
    shutil.copytree(place, tmp_path / "whole")
    steps = int(run_until_killed(docs, tmp_path / "whole", 10**9).stdout)

    outcomes = []
    for step in sorted({*range(1, steps, max(1, steps // 8)), *range(steps - 8, steps)}):
        copy = tmp_path / f"copy{step}"
        shutil.copytree(place, copy)
        assert run_until_killed(docs, copy, step).returncode == -9
        index = Index.open(copy)
        held = {document.id: document.text for document in index.documents()}
        assert held in (old, new)
        assert index.generation == (1 if held == old else 2)
        hits = index.chunks([id for id, _ in index.lexical("serves graviton trainium", 9)])
        assert {chunk.document.id for chunk in hits} == set(held)
        outcomes.append(held == new)
        quick([docs], copy)
        assert texts(copy) == new
        assert sorted(file.name for file in copy.glob("derived-*")) == ["derived-2"]

    assert outcomes == sorted(outcomes)
    assert {False, True} == set(outcomes)


def test_vectors_survive_a_rebuild_to_half_precision(docs: Path, place: Path) -> None:
    sync([docs], place)
    index = Index.open(place)
    vector = index.encode(["Trainium trains models."])[0]
    exact = index.dense(vector, 9)
    shutil.rmtree(place / "derived-1")
    again = Index.open(place).dense(vector, 9)

    assert exact == again
    assert np.isclose(exact[0][1], index.similarities(vector, [exact[0][0]])[0], atol=1e-5)
