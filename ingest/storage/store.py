"""SQLite: the single source of truth. A sync changes documents, their chunks and the vectors in one transaction.

Each reader holds a read transaction (write-ahead log), so it sees one generation until it asks for the next. The writer
holds the write lock from its first read to its commit, so there is one writer. Vectors are stored in half precision:
half the size, and a cosine that differs by less than 0.001. They are keyed by the digest of the encoded text, so a text
that moves or occurs twice is encoded once.

SQLite notices a malformed page, but not a changed letter. So every row carries the CRC-32 of its values, which is
checked whenever the row is read, and the state carries counts and sums over all rows. CRC-32 finds every flipped bit
and every burst of up to 32, is three times as fast as BLAKE2, and SQLite can sum it. It guards against accidents only:
anyone who can write to the store could write any digest as well.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from hashlib import sha256
from typing import Any, ClassVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ingest.document import Chunk, Document, Source
from ingest.encoding.minilm import DIMENSION

SOURCE_FIELDS = ", ".join(field.name for field in fields(Source))
STATE_FIELDS = "generation, mark, encoder, dimension, updated"
CHUNK_FIELDS = 'number, document, id, headings, start, "end", page, context, digest, searched'
DOCUMENT_FIELDS = "number, id, origin, fingerprint, source, title, chunks, searched, text"
# A document's long text is the last column, on pages of its own, which a query for other columns does not read.
SCHEMA = f"""
CREATE TABLE state (
    generation INTEGER NOT NULL, mark TEXT NOT NULL, encoder TEXT NOT NULL, dimension INTEGER NOT NULL,
    updated TEXT NOT NULL, content TEXT NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE sources (key BLOB PRIMARY KEY, {SOURCE_FIELDS});
CREATE TABLE documents (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, origin TEXT NOT NULL, fingerprint TEXT NOT NULL,
    source BLOB NOT NULL REFERENCES sources, title TEXT NOT NULL, chunks INTEGER NOT NULL, searched INTEGER NOT NULL,
    crc INTEGER NOT NULL, text TEXT NOT NULL);
CREATE INDEX documents_source ON documents (source);
CREATE TABLE chunks (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    headings TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, page INTEGER, context TEXT NOT NULL,
    digest BLOB NOT NULL, searched INTEGER NOT NULL, crc INTEGER NOT NULL);
CREATE INDEX chunks_document ON chunks (document, start);
CREATE INDEX chunks_digest ON chunks (digest);
CREATE TABLE vectors (digest BLOB PRIMARY KEY, vector BLOB NOT NULL, crc INTEGER NOT NULL);
"""
# A summary of what a generation holds. It differs if the store lost rows or got pages of another generation.
_CONTENT = """
SELECT (SELECT count(*) FROM sources), (SELECT count(*) FROM vectors), (SELECT count(*) FROM chunks),
    (SELECT total(crc) FROM chunks), count(*), total(crc), total(chunks), total(searched) FROM documents
"""
NEXT_NUMBERS = """
SELECT (SELECT coalesce(max(number), 0) + 1 FROM {in_}documents), (SELECT coalesce(max(number), 0) + 1 FROM {in_}chunks)
"""


class Mismatch(sqlite3.DatabaseError):
    """The store holds something other than what was written into it; the message says where."""


@dataclass(frozen=True, slots=True)
class State:
    """Which generation of the index this is, its encoder, and when it was last compared with its sources (ISO, UTC).

    `mark` is random for each generation, because an index that is deleted and made again starts at generation 1 again.
    """

    generation: int
    mark: str
    encoder: str
    dimension: int
    updated: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A chunk as it is indexed, with the context that is indexed with it and the digest of its encoded text.

    A chunk that is not `searched` is found neither by words nor by meaning. It is a question that users' questions are
    compared with, or a piece of a fact table or of another document that is only quoted, which is UNENCODED.
    """

    chunk: Chunk
    context: str
    digest: bytes
    searched: bool = True


@dataclass(frozen=True, slots=True)
class Known:
    """What is kept about a document for the next sync: its source, and the digest of all it was made from."""

    origin: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Damage:
    """What does not match its checksum: documents (their numbers and ids), vectors (their row numbers), or the whole.

    A document is checked together with its source and its chunks. The whole does not match if rows are missing or
    belong to another generation, even if each row that is there matches.
    """

    documents: Mapping[int, str]
    vectors: Sequence[int]
    whole: bool

    def __bool__(self) -> bool:
        return bool(self.documents or self.vectors or self.whole)


NO_DAMAGE = Damage({}, (), False)
UNENCODED = b""


class Part:
    """The replacement for `{name:this}` in a statement: a template into which `this` is put."""

    def __init__(self, template: str) -> None:
        self._template = template

    def __format__(self, this: str) -> str:
        return self._template.format(this)


class StoredRows:
    """Reads one generation, by statements in which each database fills in the parts in braces in its own way.

    Raises Mismatch if what is read is not what was written.
    """

    _AT_ONCE: ClassVar[int]  # documents read per statement

    def _rows(self, statement: str, **values: Any) -> list[Any]:
        raise NotImplementedError

    def _content(self) -> str:
        raise NotImplementedError

    def _blob(self, vector: Any) -> object:
        """Return the bytes of a vector as they were written."""
        return vector

    def state(self) -> State | None:
        rows = self._rows(f"SELECT crc, content, {STATE_FIELDS} FROM {{state}}")
        return State(*_checked("the state of the index", *rows[0])[1:]) if rows else None

    def is_whole(self) -> bool:
        """Whether the counts and checksums of the rows are those recorded when the state was written."""
        ((content,),) = self._rows("SELECT content FROM {state}")
        return bool(content == self._content())

    def count_chunks(self) -> int:
        return int(self._rows("SELECT count(*) FROM {in_}chunks WHERE {alive}")[0][0])

    def count_searched(self) -> int:
        return int(self._rows("SELECT coalesce(sum(searched), 0) FROM {in_}documents WHERE {alive}")[0][0])

    def origins(self) -> list[str]:
        return self._column("SELECT DISTINCT origin{bytewise} FROM {in_}documents WHERE {alive} ORDER BY 1")

    def known(self, damaged: Iterable[int] = ()) -> dict[str, Known]:
        rows = self._rows(
            "SELECT id, origin, fingerprint FROM {in_}documents WHERE {alive} AND NOT number {among:numbers}", numbers=list(damaged)
        )
        return {id: Known(origin, fingerprint) for id, origin, fingerprint in rows}

    def sources(self) -> list[Source]:
        rows = self._rows(
            f"SELECT key, {SOURCE_FIELDS} FROM {{in_}}sources"
            " WHERE key IN (SELECT source FROM {in_}documents WHERE {alive}) ORDER BY id{bytewise}, key"
        )
        return [_source_of(*row) for row in rows]

    def document_numbers(self) -> list[int]:
        return self._column("SELECT number FROM {in_}documents WHERE {alive} ORDER BY id{bytewise}")

    def table_numbers(self) -> list[int]:
        """Return the numbers of the documents in which nothing is searched, by id."""
        return self._column("SELECT number FROM {in_}documents WHERE {alive} AND searched = 0 ORDER BY id{bytewise}")

    def questions(self) -> list[tuple[int, int, NDArray[np.float32]]]:
        """Return the prepared questions that have vectors, in order.

        For each: the number of its document, its start there, and the vectors of its wordings, (wordings, DIMENSION).
        """
        rows = self._rows(
            f"SELECT v.{{several}}, v.crc, c.crc, {prefixed('c', CHUNK_FIELDS)} FROM {{in_}}chunks c JOIN {{in_}}vectors v USING (digest)"
            " WHERE {alive:c.} AND {alive:v.} AND c.searched = 0 ORDER BY c.number"
        )
        questions = []
        for vectors, crc, *row in rows:
            _, document, _, _, start, *_, digest, _ = _checked("a passage", *row)
            questions.append((document, start, self._vector(digest, vectors, crc).reshape(-1, DIMENSION)))
        return questions

    def _column(self, statement: str, **values: Any) -> list[Any]:
        return [value for (value,) in self._rows(statement, **values)]

    def document_number(self, id: str) -> int | None:
        numbers = self._column("SELECT number FROM {in_}documents WHERE {alive} AND id {among:ids}", ids=[id])
        if not numbers and self._rows("SELECT 1 FROM {in_}documents{unindexed} WHERE {alive} AND id {among:ids}", ids=[id]):
            raise Mismatch(f"the document {id} is not found by its id")
        return int(numbers[0]) if numbers else None

    def document(self, number: int) -> Document:
        return self.documents_of([number])[0]

    def documents_of(self, numbers: Sequence[int]) -> list[Document]:
        rows = self._rows(
            f"SELECT d.crc, {prefixed('d', DOCUMENT_FIELDS)}, key, {prefixed('s', SOURCE_FIELDS)}"
            " FROM {in_}documents d JOIN {in_}sources s ON key = source WHERE d.number {among:numbers}",
            numbers=list(numbers),
        )
        documents = {}
        for row in rows:
            number, id, _, _, _, title, _, _, text = _checked("a document", *row[:10])
            documents[number] = Document(id, _source_of(*row[10:]), title, text)
        if not documents.keys() >= set(numbers):
            raise Mismatch("a document is missing")
        return [documents[number] for number in numbers]

    def documents(self) -> Iterator[Document]:
        """Yield every document, by id."""
        for numbers in self._batches():
            yield from self.documents_of(numbers)

    def contents(self) -> Iterator[tuple[int, Entry]]:
        """Yield the chunks of every document, by document id and in order, each with its own number."""
        for numbers in self._batches():
            yield from self._entries(dict(zip(numbers, self.documents_of(numbers), strict=True)))

    def entries(self, number: int, document: Document) -> list[tuple[int, Entry]]:
        """Return the chunks of a document in order, each with its own number."""
        return self._entries({number: document})

    def _batches(self) -> Iterator[list[int]]:
        numbers = self.document_numbers()
        return (numbers[start : start + self._AT_ONCE] for start in range(0, len(numbers), self._AT_ONCE))

    def _entries(self, documents: Mapping[int, Document]) -> list[tuple[int, Entry]]:
        numbers = list(documents)
        counts = dict(self._rows("SELECT number, chunks FROM {in_}documents WHERE number {among:numbers}", numbers=numbers))
        rows = self._rows(
            f"SELECT crc, {CHUNK_FIELDS} FROM {{in_}}chunks WHERE {{alive}} AND document {{among:numbers}} ORDER BY start, number",
            numbers=numbers,
        )
        found: dict[int, list[tuple[int, Entry]]] = {number: [] for number in numbers}
        for row in rows:
            document = documents[row[2]]
            chunk, owner, *place, context, digest, searched = _checked(f"a passage of {document.id}", *row)
            found[owner].append((chunk, Entry(chunk_of(document, place), context, digest, bool(searched))))
        for number, entries in found.items():
            if len(entries) != counts.get(number):
                raise Mismatch(f"the passages of {documents[number].id} are not as many as there were")
        return [entry for entries in found.values() for entry in entries]

    def chunk_rows(self, ids: Sequence[str]) -> dict[str, tuple[int, Sequence[Any]]]:
        """Map each chunk id to the number of its document and to the values for `chunk_of`; unknown ids are left out."""
        rows = self._rows(f"SELECT crc, {CHUNK_FIELDS} FROM {{in_}}chunks WHERE {{alive}} AND id {{among:ids}}", ids=list(ids))
        read = (_checked("a passage", *row) for row in rows)
        return {place[0]: (document, place) for _, document, *place, _, _, _ in read}

    def chunk_ids(self, numbers: Sequence[int]) -> dict[int, str]:
        rows = self._rows("SELECT number, id FROM {in_}chunks WHERE {alive} AND number {among:numbers}", numbers=list(numbers))
        if len(rows) < len(set(numbers)):
            raise Mismatch("passages that are searched are missing")
        return dict(rows)

    def holds_chunk(self, ids: Sequence[str]) -> bool:
        """Whether one of these chunks is searched, read from the rows themselves, not from the index of their ids."""
        return bool(
            self._rows("SELECT 1 FROM {in_}chunks{unindexed} WHERE {alive} AND id {among:ids} AND searched = 1 LIMIT 1", ids=list(ids))
        )

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        rows = self._rows(
            "SELECT c.id, digest, v.vector, v.crc FROM {in_}chunks c JOIN {in_}vectors v USING (digest)"
            " WHERE {alive:c.} AND {alive:v.} AND c.id {among:ids}",
            ids=list(ids),
        )
        return {id: self._vector(*row) for id, *row in rows}

    def _vector(self, digest: object, vector: Any, crc: object) -> NDArray[np.float32]:
        blob = self._blob(vector)
        if not (isinstance(digest, bytes) and isinstance(blob, bytes) and vector_crc(digest, blob) == crc):
            raise Mismatch("a vector does not match its checksum")
        return np.frombuffer(blob, dtype="<f2").astype(np.float32)

    def unencoded(self) -> dict[int, set[bytes]]:
        """Map the number of the first document that holds them to the digests of the texts that still need vectors."""
        missing: dict[int, set[bytes]] = {}
        rows = self._rows(
            "SELECT min(document), digest FROM {in_}chunks c WHERE {alive} AND length(digest) > 0 AND NOT EXISTS"
            " (SELECT 1 FROM {in_}vectors v WHERE v.digest = c.digest AND {alive:v.}) GROUP BY digest ORDER BY min(number)"
        )
        for number, digest in rows:
            missing.setdefault(number, set()).add(digest)
        return missing

    def damage(self) -> Damage:
        """Read everything and return what does not match."""
        documents: dict[int, str] = {}
        for numbers in self._batches():
            if not self._are_sound(numbers):
                documents |= {number: self._readable_id(number) for number in numbers if not self._are_sound([number])}
        return Damage(documents, self._damaged_vectors(), not self.is_whole())

    def _are_sound(self, numbers: Sequence[int]) -> bool:
        try:
            self._entries(dict(zip(numbers, self.documents_of(numbers), strict=True)))
        except sqlite3.DatabaseError:
            return False
        return True

    def _readable_id(self, number: int) -> str:
        raise NotImplementedError

    def _damaged_vectors(self) -> list[int]:
        raise NotImplementedError


class Store(StoredRows):
    """One connection inside one transaction. Not safe to share between threads without a lock.

    `set_aside` is the new name of the damaged file that this one replaces, if there is one.
    """

    _AT_ONCE = 1  # a document may be large, and reading several at once gains nothing here
    _PARTS: ClassVar[Mapping[str, object]] = {
        "in_": "",
        "several": "vector",
        "state": "state",
        "alive": Part("1"),
        "among": Part("IN (SELECT value FROM json_each(:{0}))"),
        "bytewise": "",
        "unindexed": " NOT INDEXED",
    }

    def __init__(self, connection: sqlite3.Connection, set_aside: str = "") -> None:
        self._connection = connection
        self.set_aside = set_aside

    def close(self) -> None:
        self._connection.close()

    def _rows(self, statement: str, **values: Any) -> list[Any]:
        given = {name: json.dumps(value) for name, value in values.items()}
        return self._connection.execute(statement.format(**self._PARTS), given).fetchall()

    def vector_rows(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield the number and the vector of every searched chunk that has one, by number."""
        rows = self._connection.execute(
            "SELECT number, digest, vector, vectors.crc FROM chunks JOIN vectors USING (digest) WHERE searched ORDER BY number"
        )
        return ((number, self._vector(*row)) for number, *row in rows)

    def flaw(self) -> str:
        """Return the first thing wrong with the tables, their pages and their indexes; "" if there is none."""
        tables = self._connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
        if [sql for (sql,) in tables] != [statement.strip() for statement in SCHEMA.split(";") if statement.strip()]:
            return "its tables are not as they were made"
        (found,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        return "" if found == "ok" else " ".join(str(found).split())

    def _readable_id(self, number: int) -> str:
        """Return the id as far as it can be read."""
        row = self._connection.execute("SELECT CAST(id AS BLOB) FROM documents WHERE number = ?", (number,)).fetchone()
        return bytes(row[0]).decode(errors="replace")

    def _damaged_vectors(self) -> list[int]:
        return [row for (row,) in self._connection.execute("SELECT rowid FROM vectors").fetchall() if not self._is_sound(row)]

    def _is_sound(self, row: int) -> bool:
        try:
            self._vector(*self._connection.execute("SELECT digest, vector, crc FROM vectors WHERE rowid = ?", (row,)).fetchone())
        except sqlite3.DatabaseError:
            return False
        return True

    def remove_damage(self, damage: Damage) -> None:
        """Remove the documents and vectors that do not match, and orphaned rows."""
        self._connection.executemany("DELETE FROM documents WHERE number = ?", ((n,) for n in damage.documents))
        self._connection.execute("DELETE FROM chunks WHERE document NOT IN (SELECT number FROM documents)")
        self._connection.executemany("DELETE FROM vectors WHERE rowid = ?", ((row,) for row in damage.vectors))
        self._connection.execute("DELETE FROM sources WHERE key NOT IN (SELECT source FROM documents)")

    def replace(self, document: Document, entries: Iterable[Entry], known: Known) -> None:
        """Insert a document, replacing the one with the same id if there is one."""
        self.remove([document.id])
        ((number, first),) = self._rows(NEXT_NUMBERS)
        source, about, chunks = rows_of(document, entries, known, number, first)
        for verb, table, columns, rows in (
            ("INSERT OR IGNORE", "sources", f"key, {SOURCE_FIELDS}", [source]),
            ("INSERT", "documents", f"crc, {DOCUMENT_FIELDS}", [about]),
            ("INSERT", "chunks", f"crc, {CHUNK_FIELDS}", chunks),
        ):
            places = ", ".join("?" * len(columns.split(", ")))
            self._connection.executemany(f"{verb} INTO {table} ({columns}) VALUES ({places})", rows)

    def remove(self, ids: Iterable[str]) -> None:
        self._connection.executemany("DELETE FROM documents WHERE id = ?", ((id,) for id in ids))

    def add_vectors(self, digests: Sequence[bytes], vectors: Iterable[NDArray[np.float32]]) -> None:
        """Store a vector for each digest: (dimension,) for a passage, (wordings, DIMENSION) for a question."""
        blobs = (rows.astype("<f2").tobytes() for rows in vectors)
        self._connection.executemany(
            "INSERT INTO vectors VALUES (?, ?, ?)",
            ((digest, blob, vector_crc(digest, blob)) for digest, blob in zip(digests, blobs, strict=True)),
        )

    def remove_vectors(self) -> None:
        self._connection.execute("DELETE FROM vectors")

    def remove_unused(self) -> None:
        """Remove vectors and sources that nothing refers to any more."""
        self._connection.execute("DELETE FROM vectors WHERE digest NOT IN (SELECT digest FROM chunks)")
        self._connection.execute("DELETE FROM sources WHERE key NOT IN (SELECT source FROM documents)")

    def keep(self) -> None:
        """Do nothing: the read transaction keeps the generation."""

    def next_generation(self) -> int:
        """Return the number of the generation that the writer makes."""
        state = self.state()
        return state.generation + 1 if state else 1

    def set_state(self, state: State) -> None:
        """Record the state for what the store holds now."""
        self._connection.execute("DELETE FROM state")
        self._connection.execute(
            f"INSERT INTO state (crc, content, {STATE_FIELDS}) VALUES (?{', ?' * 6})",
            with_crc(self._content(), *astuple(state)),
        )

    def _content(self) -> str:
        return " ".join(map(str, self._connection.execute(_CONTENT).fetchone()))

    def commit(self) -> None:
        """End the transaction and, if no reader prevents it, fold the log into the file, which then is the whole index."""
        self._connection.execute("COMMIT")
        self._connection.execute("PRAGMA busy_timeout = 0")  # do not wait for a reader of the old generation
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def prefixed(table: str, columns: str) -> str:
    return ", ".join(f"{table}.{column}" for column in columns.split(", "))


def chunk_of(document: Document, row: Sequence[Any]) -> Chunk:
    id, headings, start, end, page = row
    return Chunk(id, document, tuple(json.loads(headings)), start, end, document.text[start:end], page)


Row = tuple[Any, ...]


def rows_of(document: Document, entries: Iterable[Entry], known: Known, number: int, first: int) -> tuple[Row, Row, list[Row]]:
    """Return the rows of a document's source, of the document itself and of its chunks, numbered from `first`.

    The rows of the document and of its chunks carry their checksums.
    """
    source = astuple(document.source)
    key = _source_key(source)
    chunks = []
    for n, entry in enumerate(entries, first):
        chunk, headings = entry.chunk, json.dumps(entry.chunk.headings, ensure_ascii=False)
        place = (chunk.id, headings, chunk.start, chunk.end, chunk.page)
        chunks.append(with_crc(n, number, *place, entry.context, entry.digest, int(entry.searched)))
    searched = sum(row[-1] for row in chunks)
    about = (number, document.id, known.origin, known.fingerprint, key, document.title, len(chunks), searched, document.text)
    return (key, *source), with_crc(*about), chunks


def _source_of(key: object, *row: Any) -> Source:
    if _source_key(row) != key:
        raise Mismatch("a source does not match its checksum")
    return Source(*row)


def _source_key(row: Sequence[object]) -> bytes:
    return sha256(repr(tuple(row)).encode()).digest()[:16]


def _checked(what: str, crc: object, *values: Any) -> Sequence[Any]:
    if not values or _crc(values) != crc:
        raise Mismatch(f"{what} does not match its checksum")
    return values


def with_crc(*values: Any) -> Row:
    return _crc(values), *values


def _crc(values: Iterable[object]) -> int:
    return crc32(b"\0".join([value if isinstance(value, bytes) else str(value).encode() for value in values]))


def vector_crc(digest: bytes, blob: bytes) -> int:
    return crc32(blob, crc32(digest))
