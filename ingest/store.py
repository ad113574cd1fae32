"""SQLite: the one source of truth. Documents, their chunks and the vectors change in one transaction a sync.

Readers hold a read transaction each (write-ahead log), so that they see one generation until they ask for the next; the
writer holds the write lock from its first read to its commit, so that there is one writer. Vectors are of half precision:
half the size, and a cosine that differs by less than 0.001. They are keyed by the digest of the text that was encoded, so
that a text which moves or occurs twice is encoded once.
"""

import fcntl
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, fields
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from ingest.document import Chunk, CorpusError, Document, Source

FORMAT = 1
FILE_NAME = "store.sqlite"
_SOURCE_FIELDS = ", ".join(field.name for field in fields(Source))
_SCHEMA = f"""
CREATE TABLE state (generation INTEGER NOT NULL, mark TEXT NOT NULL, encoder TEXT NOT NULL, dimension INTEGER NOT NULL, updated TEXT NOT NULL);
CREATE TABLE sources (key BLOB PRIMARY KEY, {_SOURCE_FIELDS});
CREATE TABLE documents (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, origin TEXT NOT NULL, fingerprint TEXT NOT NULL,
    source BLOB NOT NULL REFERENCES sources, title TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE chunks (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    headings TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, page INTEGER, context TEXT NOT NULL,
    digest BLOB NOT NULL);
CREATE INDEX chunks_document ON chunks (document, start);
CREATE INDEX chunks_digest ON chunks (digest);
CREATE TABLE vectors (digest BLOB PRIMARY KEY, vector BLOB NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class State:
    """Which generation of the index this is, who encoded it, and when it was last compared with its sources (ISO, UTC).

    `mark` is drawn at random for each generation: an index that was deleted and made again counts from 1 again.
    """

    generation: int
    mark: str
    encoder: str
    dimension: int
    updated: str


@dataclass(frozen=True, slots=True)
class Entry:
    """What one document has in the index: the chunk, the context that is indexed with it, the digest of its encoded text."""

    chunk: Chunk
    context: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class Known:
    """What the index remembers of a document: the source it was found in, and the digest of all that it was made from."""

    origin: str
    fingerprint: str


class Store:
    """One connection inside one transaction. Not safe to share between threads without a lock."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def close(self) -> None:
        self._connection.close()

    def state(self) -> State | None:
        row = self._connection.execute("SELECT generation, mark, encoder, dimension, updated FROM state").fetchone()
        return State(*row) if row else None

    def count_chunks(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM chunks").fetchone()[0])

    def known(self) -> dict[str, Known]:
        rows = self._connection.execute("SELECT id, origin, fingerprint FROM documents")
        return {id: Known(origin, fingerprint) for id, origin, fingerprint in rows}

    def sources(self) -> list[Source]:
        rows = self._connection.execute(f"SELECT {_SOURCE_FIELDS} FROM sources ORDER BY id, key")
        return [Source(*row) for row in rows]

    def document_numbers(self) -> list[int]:
        return [number for (number,) in self._connection.execute("SELECT number FROM documents ORDER BY id")]

    def document_number(self, id: str) -> int | None:
        row = self._connection.execute("SELECT number FROM documents WHERE id = ?", (id,)).fetchone()
        return int(row[0]) if row else None

    def document(self, number: int) -> Document:
        id, key, title, text = self._connection.execute(
            "SELECT id, source, title, text FROM documents WHERE number = ?", (number,)
        ).fetchone()
        source = self._connection.execute(f"SELECT {_SOURCE_FIELDS} FROM sources WHERE key = ?", (key,)).fetchone()
        return Document(id, Source(*source), title, text)

    def entries(self, number: int, document: Document) -> list[tuple[int, Entry]]:
        """The chunks of a document in its order, each with its own number."""
        rows = self._connection.execute(
            'SELECT number, context, digest, id, headings, start, "end", page FROM chunks WHERE document = ? ORDER BY start, number',
            (number,),
        )
        return [(chunk, Entry(_chunk(document, *row), context, digest)) for chunk, context, digest, *row in rows]

    def chunk_rows(self, ids: Sequence[str]) -> dict[str, tuple[int, tuple[str, str, int, int, int | None]]]:
        """Chunk id -> number of its document, and what `chunk_of` makes a chunk from; what is not in the index is left out."""
        rows = self._connection.execute(
            'SELECT document, id, headings, start, "end", page FROM chunks WHERE id IN (SELECT value FROM json_each(?))',
            (json.dumps(ids),),
        )
        return {id: (document, (id, headings, start, end, page)) for document, id, headings, start, end, page in rows}

    def chunk_ids(self, numbers: Sequence[int]) -> dict[int, str]:
        rows = self._connection.execute(
            "SELECT number, id FROM chunks WHERE number IN (SELECT value FROM json_each(?))", (json.dumps(numbers),)
        )
        return dict(rows)

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        rows = self._connection.execute(
            "SELECT id, vector FROM chunks JOIN vectors USING (digest) WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(ids),),
        )
        return {id: _vector(blob) for id, blob in rows}

    def vector_rows(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """The number and the vector of every chunk that has one, by number."""
        rows = self._connection.execute("SELECT number, vector FROM chunks JOIN vectors USING (digest) ORDER BY number")
        return ((number, _vector(blob)) for number, blob in rows)

    def replace(self, document: Document, entries: Iterable[Entry], known: Known) -> None:
        """Put a document in, in the place of the one of the same id if there is one."""
        self.remove([document.id])
        key = sha256(repr(astuple(document.source)).encode()).digest()[:16]
        marks = ", ".join("?" * len(fields(Source)))
        source = (key, *astuple(document.source))
        self._connection.execute(f"INSERT OR IGNORE INTO sources VALUES (?, {marks})", source)
        number = self._connection.execute(
            "INSERT INTO documents (id, origin, fingerprint, source, title, text) VALUES (?, ?, ?, ?, ?, ?)",
            (document.id, known.origin, known.fingerprint, key, document.title, document.text),
        ).lastrowid
        self._connection.executemany(
            "INSERT INTO chunks VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)",
            ((entry.chunk.id, number, *_columns(entry.chunk), entry.context, entry.digest) for entry in entries),
        )

    def remove(self, ids: Iterable[str]) -> None:
        self._connection.executemany("DELETE FROM documents WHERE id = ?", ((id,) for id in ids))

    def unencoded(self) -> dict[int, set[bytes]]:
        """The texts without a vector: number of the first document that holds them -> their digests."""
        missing: dict[int, set[bytes]] = {}
        rows = self._connection.execute(
            "SELECT min(document), digest FROM chunks WHERE digest NOT IN (SELECT digest FROM vectors) GROUP BY digest"
        )
        for number, digest in rows:
            missing.setdefault(number, set()).add(digest)
        return missing

    def add_vectors(self, digests: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
        rows = zip(digests, vectors.astype("<f2"), strict=True)
        self._connection.executemany("INSERT INTO vectors VALUES (?, ?)", ((digest, row.tobytes()) for digest, row in rows))

    def remove_vectors(self) -> None:
        self._connection.execute("DELETE FROM vectors")

    def remove_unused(self) -> None:
        """Vectors and sources that nothing refers to any more."""
        self._connection.execute("DELETE FROM vectors WHERE digest NOT IN (SELECT digest FROM chunks)")
        self._connection.execute("DELETE FROM sources WHERE key NOT IN (SELECT source FROM documents)")

    def set_state(self, state: State) -> None:
        self._connection.execute("DELETE FROM state")
        self._connection.execute("INSERT INTO state VALUES (?, ?, ?, ?, ?)", astuple(state))

    def commit(self) -> None:
        """End the transaction and fold the log into the file, so that the file alone is the index."""
        self._connection.execute("COMMIT")
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def chunk_of(document: Document, row: tuple[str, str, int, int, int | None]) -> Chunk:
    return _chunk(document, *row)


def mending(folder: Path) -> str:
    return f"Make it anew: wattwise ingest --index {folder}"


def open_store(folder: Path) -> tuple[Store, State]:
    """A reader's store, inside a read transaction. Raises CorpusError where there is no usable index."""
    file = folder / FILE_NAME
    if not file.is_file():
        raise CorpusError(f"There is no index in {folder}. {mending(folder)}")
    with explained(folder):
        connection = _connect(file)
        try:
            return Store(connection), _usable_state(connection, folder)
        except BaseException:
            connection.close()
            raise


def _usable_state(connection: sqlite3.Connection, folder: Path) -> State:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in (0, FORMAT):
        raise CorpusError(f"The index in {folder} was made by another version of wattwise. {mending(folder)}")
    state = Store(connection).state() if version else None
    if state is None or Store(connection).count_chunks() == 0:
        raise CorpusError(f"The index in {folder} is empty. {mending(folder)}")
    return state


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """What SQLite says about a broken file, as a CorpusError with its remedy."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise CorpusError(f"The index in {folder} is damaged ({error}). {mending(folder)}") from error


def _connect(file: Path) -> sqlite3.Connection:
    """In a read transaction. The log needs two files beside the store: where they cannot be made, nobody writes either."""
    address = f"file:{quote(str(file.resolve()))}?mode=ro"
    try:
        return _begin(address)
    except sqlite3.OperationalError:
        return _begin(f"{address}&immutable=1")


def _begin(address: str) -> sqlite3.Connection:
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


@contextmanager
def writing(folder: Path) -> Iterator[Store]:
    """The writer's store; what is not committed inside is undone. Raises CorpusError while another writer is at work.

    A store that is damaged or of another format is left as it is, and one that is made anew takes its place when all of
    it is there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        file = folder / FILE_NAME
        if _usable(file):
            with closing(_begin_writing(file)) as connection:
                yield Store(connection)
            return
        fresh = folder / f"{FILE_NAME}.new"
        _remove_database(fresh)
        with closing(_begin_writing(fresh)) as connection:
            yield Store(connection)
            finished = not connection.in_transaction
        if finished:
            _remove_logs(file)
            fresh.replace(file)
        _remove_database(fresh)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """The system lets go of the lock when the process ends, however it ends."""
    with (folder / "writer.lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise CorpusError(f"Another ingest is writing to the index in {folder}. Try again when it is done.") from error
        yield


def _usable(file: Path) -> bool:
    """Whether a writer can go on with this store; one that does not exist yet counts as usable."""
    if not file.exists():
        return True
    try:
        with closing(sqlite3.connect(file)) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            return version in (0, FORMAT) and connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
    except sqlite3.DatabaseError:
        return False


def _begin_writing(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, isolation_level=None, timeout=30)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("PRAGMA user_version").fetchone() == (0,):
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {FORMAT}")
    return connection


def _remove_database(file: Path) -> None:
    _remove_logs(file)
    file.unlink(missing_ok=True)


def _remove_logs(file: Path) -> None:
    for ending in ("-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)


def _chunk(document: Document, id: str, headings: str, start: int, end: int, page: int | None) -> Chunk:
    return Chunk(id, document, tuple(json.loads(headings)), start, end, document.text[start:end], page)


def _columns(chunk: Chunk) -> tuple[str, int, int, int | None]:
    return json.dumps(chunk.headings, ensure_ascii=False), chunk.start, chunk.end, chunk.page


def _vector(blob: bytes) -> NDArray[np.float32]:
    return np.frombuffer(blob, dtype="<f2").astype(np.float32)
