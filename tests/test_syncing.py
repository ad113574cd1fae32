"""sync: what changes, what stays, and the effects of failures and damage."""

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from ingest import CorpusError, Index, Place, SyncReport, check, sync
from ingest.fetching import web
from ingest.fetching.items import Failure
from ingest.fetching.web import Page
from tests.marks import folder_first, left_to_evaluation

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
def folder(tmp_path: Path) -> Path:
    """The index folder for tests about its files."""
    return tmp_path / "index"


@pytest.fixture(scope="module")
def encoded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with docs and an index of them that includes vectors."""
    folder = tmp_path_factory.mktemp("encoded")
    (folder / "docs").mkdir()
    (folder / "docs" / "one.md").write_text(ONE)
    (folder / "docs" / "two.md").write_text(TWO)
    sync([folder / "docs"], folder / "index")
    return folder


def report(**kinds: tuple[str, ...]) -> SyncReport:
    names = ("added", "changed", "removed", "unchanged")
    return SyncReport(*(kinds.get(name, ()) for name in names), failed=())


def texts(place: Place) -> dict[str, str]:
    return {document.id: document.text for document in Index.open(place).documents()}


def quick(sources: list[Path | str], place: Place) -> SyncReport:
    return sync(sources, place, encoder="none")


def test_a_sync_tells_what_is_new_other_gone_and_the_same(docs: Path, place: Place) -> None:
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


@folder_first
def test_only_texts_without_a_vector_are_encoded(docs: Path, place: Place) -> None:
    assert sync([docs], place).encoded == 2
    (docs / "one.md").write_text(ONE + "\n## More\n\nIt trains large models best of all.\n")
    assert sync([docs], place).encoded == 1
    shutil.copytree(docs, docs.parent / "copy" / "docs")
    assert sync([docs.parent / "copy" / "docs"], place).encoded == 0
    assert sync([docs], place, encoder="none").encoded == 0
    assert sync([docs], place).encoded == 3


@folder_first
def test_vectors_are_the_same_in_whatever_order_documents_come(docs: Path, new_place: Callable[[], Place]) -> None:
    place, other = new_place(), new_place()
    (docs / "three.md").write_text(THREE)
    sync([docs / "one.md", docs / "two.md", docs / "three.md"], place)
    sync([docs / "three.md", docs / "one.md"], other)
    sync([docs / "three.md", docs / "two.md", docs / "one.md"], other)
    first, second = Index.open(place), Index.open(other)
    question = "Which chip trains models?"
    vector = first.encode([question])[0]

    assert first.dense(vector, 9) == second.dense(vector, 9)
    assert first.lexical(question, 9) == second.lexical(question, 9)


@folder_first
def test_a_document_that_cannot_be_read_is_named_and_its_old_version_stays(docs: Path, place: Place) -> None:
    quick([docs], place)
    (docs / "one.md").write_bytes(b"\xff\xfe broken \xff")
    (docs / "empty.md").write_text("")

    done = quick([docs], place)

    assert [failure.id for failure in done.failed] == ["docs/empty.md", "docs/one.md"]
    assert all(failure.reason for failure in done.failed)
    assert (done.unchanged, done.changed, done.removed) == (("docs/two.md",), (), ())
    assert texts(place) == {"docs/one.md": ONE, "docs/two.md": TWO}


@folder_first
def test_a_long_document_takes_no_more_time_per_character_than_a_short_one(docs: Path, place: Place) -> None:
    (docs / "one.md").write_text("word " * 500_000)
    began = time.process_time()

    quick([docs], place)

    assert time.process_time() - began < 10


def test_a_source_that_cannot_be_reached_keeps_its_documents(docs: Path, place: Place) -> None:
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


def test_a_page_that_cannot_be_fetched_again_keeps_its_document(
    docs: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "https://EXAMPLE.org/a?page=3&key=secret#top"
    page = Page("https://example.org/a", "text/plain", ONE.encode())
    with monkeypatch.context() as online:
        online.setattr(web, "fetch_page", lambda _: page)
        quick([docs, address], folder)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [])

    done = quick([docs, address], folder)

    assert ([failure.id for failure in done.failed], done.removed) == (["https://example.org/a?page=3"], ())
    assert "https://example.org/a?page=3" in texts(folder)


def test_the_remedy_for_a_damaged_index_shows_no_secret(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page("https://example.org/a", "text/plain", ONE.encode())
    monkeypatch.setattr(web, "fetch_page", lambda _: page)
    quick(["https://example.org/a?page=3&key=secret"], folder)
    with closing(sqlite3.connect(folder / "store.sqlite")) as store, store:
        store.execute("UPDATE chunks SET start = start + 1")

    problems = check(folder)

    assert problems
    assert all(problem.endswith(f"wattwise ingest 'https://example.org/a?page=3' --index {folder}") for problem in problems)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_cannot_be_listed_keeps_its_documents(docs: Path, folder: Path) -> None:
    (docs / "more").mkdir()
    (docs / "more" / "three.md").write_text(THREE)
    quick([docs], folder)
    for mode in (0, 0o444):  # it cannot be listed; it can, but its files cannot be examined
        (docs / "more").chmod(mode)
        try:
            done = quick([docs], folder)
        finally:
            (docs / "more").chmod(0o700)
        assert (len(done.failed), done.removed) == (1, ())


@folder_first
@pytest.mark.parametrize("source", ["dosc", "empty"])
def test_a_sync_that_would_leave_nothing_leaves_the_index_as_it_was(docs: Path, place: Place, source: str) -> None:
    (docs.parent / "empty").mkdir()
    quick([docs], place)

    for dry_run in (True, False):
        with pytest.raises(CorpusError, match="the index is as it was"):
            sync([docs.parent / source], place, encoder="none", dry_run=dry_run)

    assert texts(place) == {"docs/one.md": ONE, "docs/two.md": TWO}


@folder_first
def test_two_documents_of_one_name_are_not_mixed_up(docs: Path, place: Place, tmp_path: Path) -> None:
    other = tmp_path / "other" / "docs"
    other.mkdir(parents=True)
    (other / "one.md").write_text(THREE)

    done = quick([docs, other], place)

    assert done.failed == (
        Failure("docs/one.md", "another source has a document of the same name: rename one of the two"),
    )
    assert texts(place)["docs/one.md"] == ONE


@folder_first
def test_a_source_given_twice_is_read_once(docs: Path, place: Place) -> None:
    done = quick([docs, f"{docs.parent}/./docs/", docs], place)

    assert (done.added, done.failed) == (("docs/one.md", "docs/two.md"), ())


def test_an_index_inside_a_source_is_no_document_of_it(docs: Path) -> None:
    index = docs / "index"

    assert [quick([docs], index), quick([docs], index)] == [report(added=("docs/one.md", "docs/two.md")), report(unchanged=("docs/one.md", "docs/two.md"))]


@pytest.mark.parametrize("content", [None, b"\xff\xff"])
def test_nothing_readable_and_no_index_is_an_error(tmp_path: Path, place: Place, content: bytes | None) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    if content:
        (folder / "bad.md").write_bytes(content)

    with pytest.raises(CorpusError, match="bad.md" if content else "There is nothing to ingest"):
        quick([folder], place)
    with pytest.raises(CorpusError, match="wattwise ingest"):
        Index.open(place)


@folder_first
def test_no_source_is_an_error(place: Place) -> None:
    with pytest.raises(CorpusError, match="name a file"):
        sync([], place)


def test_an_index_folder_that_cannot_be_made_is_named(docs: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(CorpusError, match="cannot be read or written"):
        quick([docs], tmp_path / "file" / "index")


def test_a_dry_run_writes_nothing(docs: Path, folder: Path) -> None:
    assert sync([docs], folder, dry_run=True).added == ("docs/one.md", "docs/two.md")
    assert not folder.exists()


def test_an_encoder_that_cannot_be_had_leaves_the_index_as_it_was(
    docs: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick([docs], folder)
    before = Index.open(folder).updated
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)

    read: list[tuple[str, int, int]] = []
    for place in (folder, folder.parent / "new"):
        with pytest.raises(CorpusError, match="needs sentence-transformers"):
            sync([docs], place, encoder="some/model", progress=lambda *step: read.append(step))
    assert read == []  # it is tried before the documents are read

    assert (Index.open(folder).encoder_name, Index.open(folder).generation) == ("none", 1)
    assert Index.open(folder).updated == before


def test_a_store_that_cannot_be_used_is_set_aside_and_made_anew(docs: Path, folder: Path) -> None:
    quick([docs], folder)
    store = folder / "store.sqlite"
    store.write_bytes(store.read_bytes()[:5000])
    with pytest.raises(CorpusError, match="is damaged"):
        Index.open(folder)

    done = quick([docs], folder)

    assert (folder / done.set_aside).stat().st_size == 5000
    assert done.added == ("docs/one.md", "docs/two.md")
    assert texts(folder) == {"docs/one.md": ONE, "docs/two.md": TWO}
    assert quick([docs], folder).set_aside == ""


def test_a_document_that_is_not_as_written_is_taken_from_its_source_again(docs: Path, folder: Path) -> None:
    sync([docs], folder)
    spoil(folder, "UPDATE documents SET text = replace(text, 'Trainium', 'Trainiun') WHERE id = 'docs/one.md'")
    with pytest.raises(CorpusError, match=rf"is damaged .*wattwise ingest {docs} --index {folder}"):
        Index.open(folder).documents()
    assert sync([docs], folder, dry_run=True).damaged == ("docs/one.md",)

    done = sync([docs], folder)

    assert (done.damaged, done.changed, done.unchanged) == (("docs/one.md",), ("docs/one.md",), ("docs/two.md",))
    assert done.encoded == 0
    assert texts(folder) == {"docs/one.md": ONE, "docs/two.md": TWO}
    assert check(folder) == ()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE chunks SET start = start + 1",
        "UPDATE sources SET published = '2033'",
        "UPDATE vectors SET vector = zeroblob(768)",
        "DELETE FROM documents WHERE number = 2",
        *left_to_evaluation(
            "UPDATE documents SET title = 'Two' WHERE number = 1",
            "UPDATE state SET generation = 7",
            "DROP INDEX chunks_document",
            "UPDATE chunks SET headings = '[]' WHERE number = 1",
            "UPDATE chunks SET id = 'other' WHERE number = 1",
            "UPDATE chunks SET number = 99 WHERE number = 1",
            "UPDATE chunks SET document = 77 WHERE number = 1",
            "UPDATE chunks SET crc = 1 WHERE number = 1",
            "UPDATE documents SET id = 'docs/two.nd' WHERE number = 2",
            "UPDATE documents SET fingerprint = CAST(X'FF' AS TEXT)",
            "DELETE FROM vectors",
            "DELETE FROM chunks WHERE number = 1",
        ),
    ],
)
def test_whatever_was_changed_in_the_store_the_check_finds_it_and_a_sync_mends_it(
    encoded: Path, folder: Path, damage: str
) -> None:
    before = everything(shutil.copytree(encoded / "index", folder))
    spoil(folder, damage)
    problems = check(folder)

    sync([encoded / "docs"], folder)

    assert problems
    assert all("wattwise ingest" in problem and "\n" not in problem for problem in problems)
    assert everything(folder) == before
    assert check(folder) == ()


def test_a_damaged_document_whose_source_cannot_be_reached_leaves_the_index(docs: Path, folder: Path) -> None:
    more = docs.parent / "more"
    more.mkdir()
    (more / "three.md").write_text(THREE)
    quick([docs, more], folder)
    spoil(folder, "UPDATE documents SET text = 'Graviton runs nothing.' WHERE id = 'more/three.md'")
    shutil.rmtree(more)

    done = quick([docs, more], folder)

    assert (done.damaged, done.removed) == (("more/three.md",), ("more/three.md",))
    assert texts(folder) == {"docs/one.md": ONE, "docs/two.md": TWO}
    assert check(folder) == ()


def test_the_log_of_an_older_generation_is_found_and_mended(docs: Path, folder: Path, tmp_path: Path) -> None:
    quick([docs], folder)
    reader = Index.open(folder)  # an open reader keeps the write-ahead log of the next generation
    (docs / "one.md").write_text(THREE)
    quick([docs], folder)
    log = (folder / "store.sqlite-wal").read_bytes()
    del reader
    (docs / "one.md").write_text(ONE * 9)
    (docs / "two.md").write_text(TWO * 9)
    quick([docs], folder)
    (folder / "store.sqlite-wal").write_bytes(log)

    assert log
    assert len(check(folder)) == 1
    quick([docs], folder)

    assert texts(folder) == {"docs/one.md": ONE * 9, "docs/two.md": TWO * 9}
    assert check(folder) == ()


def test_a_text_that_is_not_utf_8_any_more_is_not_quoted_in_the_sentence_about_it(docs: Path, folder: Path) -> None:
    quick([docs], folder)
    spoil(folder, "UPDATE documents SET text = CAST(X'230A0A73656372657420FF' AS TEXT) WHERE id = 'docs/one.md'")

    with pytest.raises(CorpusError) as refused:
        Index.open(folder).documents()

    mend = f"Make it anew: wattwise ingest {docs} --index {folder}"
    assert str(refused.value) == f"The index in {folder} is damaged (a text in it is not UTF-8). {mend}"
    assert check(folder) == (f"The document docs/one.md does not match its checksums. {mend}",)


def spoil(place: Path, statement: str) -> None:
    """Change the store directly, bypassing the program."""
    with closing(sqlite3.connect(place / "store.sqlite")) as connection, connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(statement)


def everything(place: Place) -> list[object]:
    index = Index.open(place)
    vector = np.eye(1, 384, dtype=np.float32)[0]
    passages = [index.document_chunks(document.id) for document in index.documents()]
    return [passages, index.lexical("chips that train", 9), index.dense(vector, 9)]


def test_nobody_else_can_read_what_a_sync_writes(docs: Path, folder: Path) -> None:
    umask = os.umask(0)
    try:
        sync([docs], folder)
        assert wider(folder) == []
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o777 if path.is_dir() else 0o666)
        reader = Index.open(folder)  # an open reader keeps the write-ahead log of the next sync
        (docs / "one.md").write_text(THREE)
        sync([docs], folder)
        assert (folder / "store.sqlite-wal").stat().st_size
        assert wider(folder) == []
        assert reader.generation == 2
    finally:
        os.umask(umask)


def wider(place: Path) -> list[Path]:
    return [path for path in (place, *place.rglob("*")) if path.stat().st_mode & 0o077]


def test_derived_files_that_are_missing_come_back_though_nothing_changed(docs: Path, folder: Path) -> None:
    quick([docs], folder)
    shutil.rmtree(folder / "derived-1")

    quick([docs], folder)

    assert (folder / "derived-1" / "manifest.json").is_file()


@folder_first
def test_progress_is_told(docs: Path, place: Place) -> None:
    told: list[tuple[str, int, int]] = []
    sync([docs], place, progress=lambda *step: told.append(step))

    assert told == [("reading", 1, 2), ("reading", 2, 2), ("encoding", 2, 2)]


def modules_after(code: str) -> list[str]:
    """The heavy modules that a new process has imported after running the code."""
    heavy = ("torch", "sentence_transformers", "transformers", "onnx", "onnxruntime", "trafilatura", "markitdown")
    show = f"import json, sys; print(json.dumps([name for name in {heavy} if name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", f"{code}; {show}"], capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


@pytest.mark.evaluation
def test_no_step_imports_torch_and_a_sync_without_changes_not_even_the_encoder(docs: Path, folder: Path) -> None:
    sync([docs], folder)
    again = f"from ingest import sync; sync([{str(docs)!r}], {str(folder)!r})"
    opened = f"from ingest import Index; index = Index.open({str(folder)!r})"
    ask = f"{opened}; index.dense(index.encode(['chips'])[0], 3); index.lexical('chip', 3)"

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


@folder_first
def test_a_page_that_may_not_be_fetched_costs_nothing_else(docs: Path, place: Place, failing_server: str) -> None:
    done = quick([failing_server, docs], place)

    assert [failure.id for failure in done.failed] == [failing_server]
    assert done.added == ("docs/one.md", "docs/two.md")


def test_vectors_survive_a_rebuild_to_half_precision(docs: Path, folder: Path) -> None:
    sync([docs], folder)
    index = Index.open(folder)
    vector = index.encode(["Trainium trains models."])[0]
    exact = index.dense(vector, 9)
    shutil.rmtree(folder / "derived-1")
    again = Index.open(folder).dense(vector, 9)

    assert exact == again
    assert np.isclose(exact[0][1], index.similarities(vector, [exact[0][0]])[0], atol=1e-5)


class Stopped(Exception):
    """Raised to stop a sync in the middle."""


def stopped_after(texts: int) -> Callable[[str, int, int], None]:
    def progress(stage: str, done: int, total: int) -> None:
        if stage == "encoding" and done >= texts:
            raise Stopped

    return progress


@pytest.mark.parametrize("damage", [b"the beginning of an archive", *left_to_evaluation(b"")])
def test_what_a_stopped_sync_has_encoded_is_not_encoded_again(
    docs: Path, tmp_path: Path, damage: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "kept"
    monkeypatch.setattr("ingest.syncing._BATCH", 1)
    with pytest.raises(Stopped):
        sync([docs], place, progress=stopped_after(1))
    (place / "unfinished-vectors" / "damaged.npz").write_bytes(damage)
    with pytest.raises(Stopped):
        sync([docs], place, progress=stopped_after(2))

    assert sync([docs], place).encoded == 0
    assert not (place / "unfinished-vectors").exists()
    assert check(place) == ()


@folder_first
def test_what_another_encoder_has_made_is_not_taken(docs: Path, place: Path) -> None:
    with pytest.raises(Stopped):
        sync([docs], place, progress=stopped_after(2))

    assert sync([docs], place, encoder="sentence-transformers/all-MiniLM-L6-v2").encoded == 2
