"""The store: one writer, readers that keep their generation, and files that are damaged or of another format."""

import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ingest import Chunk, CorpusError, Document, Place, Source
from ingest.storage.opening import FILE_NAME, AnyStore, open_store, writing
from ingest.storage.store import Entry, Known, State

SOURCE = Source("trn", "Trainium", "AWS", "https://aws.example/trn", "2025-01", "CC BY", "trn.md")
DOCUMENT = Document("a/trn.md", SOURCE, "Trainium", "# Trainium\n\nTrains models.\fServes none.")
CHUNKS = (
    Chunk("one", DOCUMENT, ("Trainium", "Was ist «das»?"), 12, 26, "Trains models.", 1),
    Chunk("two", DOCUMENT, (), 27, 39, "Serves none.", 2),
)
ENTRIES = [Entry(CHUNKS[0], "context", b"1"), Entry(CHUNKS[1], "", b"2")]
KNOWN = Known("/a", "fingerprint")
STATE = State(1, "mark", "encoder", 2, "2025-01-01T00:00:00+00:00")


def fill(folder: Place, state: State = STATE) -> None:
    with writing(folder) as store:
        write(store)
        store.set_state(state)
        store.commit()


def write(store: AnyStore) -> None:
    store.replace(DOCUMENT, ENTRIES, KNOWN)
    store.add_vectors([b"1", b"2"], np.array([[1, 0], [0.6, 0.8]], dtype=np.float32))


def test_what_is_written_is_read_back(place: Place) -> None:
    fill(place)

    store, state = open_store(place)
    (number,) = store.document_numbers()

    assert state == STATE
    assert store.known() == {"a/trn.md": KNOWN}
    assert store.sources() == [SOURCE]
    assert store.document(number) == DOCUMENT
    assert [entry for _, entry in store.entries(number, DOCUMENT)] == ENTRIES
    assert store.unencoded() == {}
    assert np.allclose(store.vectors(["two"])["two"], [0.6, 0.8], atol=0.001)
    store.close()


def test_a_document_takes_the_place_of_the_one_with_its_id(place: Place) -> None:
    fill(place)
    changed = Document("a/trn.md", Source("trn", "Other"), "Other", "Serves none.")
    with writing(place) as store:
        store.replace(changed, [Entry(Chunk("three", changed, (), 0, 12, "Serves none."), "", b"3")], KNOWN)
        store.remove_unused()

        assert store.count_chunks() == 1
        assert store.sources() == [changed.source]
        assert list(store.unencoded().values()) == [{b"3"}]
        assert store.vectors(["three"]) == {}


def test_nothing_is_kept_without_a_commit(place: Place) -> None:
    with writing(place) as store:
        write(store)

    with pytest.raises(CorpusError, match="empty"):
        open_store(place)


def test_a_reader_keeps_its_generation_while_a_writer_commits(place: Place) -> None:
    fill(place)
    reader, _ = open_store(place)
    with writing(place) as store:
        store.remove(["a/trn.md"])
        store.set_state(State(2, "other", "encoder", 2, ""))
        store.commit()

    assert reader.state() == STATE
    assert reader.count_chunks() == 2
    reader.close()


def test_two_writers_do_not_run_at_once(tmp_path: Path) -> None:
    code = f"from pathlib import Path; from ingest.storage.opening import writing\nwith writing(Path({str(tmp_path)!r})): pass"
    with writing(tmp_path):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert f"CorpusError: Another ingest is writing to the index in {tmp_path}" in done.stderr
    with writing(tmp_path) as store:
        assert store.state() is None


def test_what_is_no_index_is_named_with_the_command_that_makes_one(tmp_path: Path) -> None:
    for content, words in [(None, "There is no index"), (b"", "is empty"), (b"no database" * 99, "is damaged")]:
        if content is not None:
            (tmp_path / FILE_NAME).write_bytes(content)
        with pytest.raises(CorpusError, match=f"{words}.*wattwise ingest --index {tmp_path}"):
            open_store(tmp_path)


@pytest.mark.parametrize(("version", "kept"), [(2, []), (99, [f"{FILE_NAME}.damaged-"])])
def test_an_index_of_another_format_is_refused_and_replaced_when_all_is_there(
    tmp_path: Path, version: int, kept: list[str]
) -> None:
    fill(tmp_path)
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()

    with writing(tmp_path) as store:
        write(store)
    with pytest.raises(CorpusError, match=r"another version .* wattwise ingest"):
        open_store(tmp_path)

    fill(tmp_path)
    store, state = open_store(tmp_path)
    assert state == STATE
    store.close()
    names = sorted(file.name for file in tmp_path.iterdir() if not file.name.endswith(("-wal", "-shm")))
    assert [re.sub(r"\d+T\d+$", "", name) for name in names] == [FILE_NAME, *kept, "writer.lock"]


def test_a_damaged_store_is_replaced(tmp_path: Path) -> None:
    fill(tmp_path)
    file = tmp_path / FILE_NAME
    file.write_bytes(file.read_bytes()[:4096] + b"\xff" * 8192)

    fill(tmp_path)

    store, state = open_store(tmp_path)
    assert (state, store.count_chunks()) == (STATE, 2)
    store.close()
