"""PostgreSQL with pgvector: a store that many machines share, with the same methods as the store in a file.

The content of a row never changes. Each row records the generation in which it was born and the one in which it died,
and a reader asks for the rows alive in its own generation. So a reader sees one consistent generation across many short
statements, connections and server restarts, without holding a transaction that would keep the server from cleaning up
(vacuum). A later sync deletes dead rows once no reader can need them any more. A sync is one transaction, and its
advisory lock ends with it, however it ends.

The rows have the same checksums as in a file (see `ingest.storage.store`). Lexical search does not run in the database:
`ts_rank` is not BM25, and BM25 over rows would read every chunk that contains a common word. The writer stores
tantivy's files in the table `files`, and each machine copies those of a generation (see `ingest.storage.derived`). Vector
search does run in the database: exact while that is quick, by a half-precision HNSW index for many vectors.
"""

import atexit
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import astuple, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ingest.document import CorpusError, Document
from ingest.storage.place import Database
from ingest.storage.store import (
    CHUNK_FIELDS,
    DOCUMENT_FIELDS,
    NEXT_NUMBERS,
    SOURCE_FIELDS,
    STATE_FIELDS,
    Damage,
    Entry,
    Known,
    Mismatch,
    Part,
    Row,
    State,
    StoredRows,
    prefixed,
    rows_of,
    vector_crc,
    with_crc,
)

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg_pool import ConnectionPool

# Below this number, all vectors are compared: about 20 ms for vectors of 384 numbers.
INDEXED_FROM = 20_000
_MOST_INDEXED_DIMENSIONS = 4_000  # pgvector's limit for an index of half-precision vectors
_CANDIDATES = 200  # hnsw.ef_search
_PGVECTOR = (0, 8)  # the first version with iterative index scans
# How long an old generation is kept. A reader moves to the newest generation with its next question, and no question
# takes this long.
_KEPT_MINUTES = 15
_FOREVER = 2**63 - 1
_PENDING = 2_000  # chunks collected before they are written
_PART = 1 << 20  # bytes of a file per row
_POOLED = 8
_PATIENCE = 10  # seconds to wait for a connection
_WRITER, _MIGRATION, _RECORDS = (0x77617474_77697365 + n for n in range(3))  # advisory locks
_NO_ADDRESS = "The address of the index is none that PostgreSQL can read: write postgresql://USER@HOST:PORT/DATABASE."
_LIFE = f"born bigint NOT NULL, died bigint NOT NULL DEFAULT {_FOREVER}"
# One script per schema version. A released script never changes; a change is a new script.
MIGRATIONS = (
    f"""
    CREATE TABLE wattwise.generations (
        generation bigint PRIMARY KEY, mark text NOT NULL, encoder text NOT NULL, dimension integer NOT NULL,
        updated text NOT NULL, content text NOT NULL, crc bigint NOT NULL, published timestamptz NOT NULL);
    CREATE TABLE wattwise.sources (
        key bytea PRIMARY KEY, id text NOT NULL, title text NOT NULL, publisher text, url text, published text,
        licence text, original text);
    CREATE TABLE wattwise.documents (
        number bigint PRIMARY KEY, {_LIFE}, id text NOT NULL, origin text NOT NULL, fingerprint text NOT NULL,
        source bytea NOT NULL REFERENCES wattwise.sources, title text NOT NULL, chunks integer NOT NULL,
        searched integer NOT NULL, crc bigint NOT NULL, text text NOT NULL);
    CREATE INDEX documents_id ON wattwise.documents (id, died);
    CREATE INDEX documents_source ON wattwise.documents (source);
    CREATE INDEX documents_died ON wattwise.documents (died) WHERE died < {_FOREVER};
    CREATE TABLE wattwise.chunks (
        number bigint PRIMARY KEY, {_LIFE}, id text NOT NULL,
        document bigint NOT NULL REFERENCES wattwise.documents ON DELETE CASCADE, headings text NOT NULL,
        start integer NOT NULL, "end" integer NOT NULL, page integer, context text NOT NULL, digest bytea NOT NULL,
        searched integer NOT NULL, crc bigint NOT NULL);
    CREATE INDEX chunks_id ON wattwise.chunks (id, died);
    CREATE INDEX chunks_document ON wattwise.chunks (document, start);
    CREATE INDEX chunks_digest ON wattwise.chunks (digest);
    CREATE TABLE wattwise.vectors (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, {_LIFE}, digest bytea NOT NULL, vector halfvec NOT NULL,
        crc bigint NOT NULL);
    ALTER TABLE wattwise.vectors ALTER vector SET STORAGE PLAIN;
    CREATE UNIQUE INDEX vectors_digest ON wattwise.vectors (digest, died);
    CREATE INDEX vectors_died ON wattwise.vectors (died) WHERE died < {_FOREVER};
    CREATE TABLE wattwise.files (
        generation bigint NOT NULL, name text NOT NULL, part integer NOT NULL, content bytea NOT NULL,
        PRIMARY KEY (generation, name, part));
    ALTER TABLE wattwise.files ALTER content SET STORAGE EXTERNAL;
    """,
    """
    CREATE TABLE wattwise.feedback (
        rowid bigint GENERATED ALWAYS AS IDENTITY, surface text, answer_id text, voter text, helpful integer, comment text,
        question text, answer text, model text, generation bigint, given_at text,
        PRIMARY KEY (surface, answer_id, voter));
    CREATE TABLE wattwise.claims (key text PRIMARY KEY, at double precision);
    CREATE TABLE wattwise.asked ("user" text, at double precision);
    CREATE INDEX asked_by ON wattwise.asked ("user", at);
    CREATE TABLE wattwise.threads (channel text, thread text, state text, PRIMARY KEY (channel, thread));
    CREATE TABLE wattwise.answers (
        id text PRIMARY KEY, at double precision, question text, text text, model text, generation bigint, excerpts text);
    CREATE TABLE wattwise.replies (id text PRIMARY KEY, at double precision, kind text, messages text);
    CREATE TABLE wattwise.work (
        key text PRIMARY KEY, at double precision, channel text, thread text, asked text, owner text,
        until double precision, attempts integer, stopped integer, stream text, reply text);
    CREATE TABLE wattwise.messages (
        channel text, ts text, thread text, at double precision, PRIMARY KEY (channel, ts));
    """,
    # `wordings` holds the vectors of a question's wordings, which are not searched in the database.
    "ALTER TABLE wattwise.vectors ALTER vector DROP NOT NULL, ADD wordings bytea",
    """
    CREATE TABLE wattwise.conversations (
        rowid bigint GENERATED ALWAYS AS IDENTITY, visitor text, id text, title text, updated text, exchanges text,
        PRIMARY KEY (visitor, id))
    """,
)
# Index name -> the statement that creates it if it is missing.
_INDEXES = {
    made[1]: made[0].replace("INDEX ", "INDEX IF NOT EXISTS ", 1)
    for made in re.finditer(r"CREATE (?:UNIQUE )?INDEX (\w+) .*?;", "".join(MIGRATIONS))
}
_HELD = "SELECT 1 FROM wattwise.generations WHERE generation = %(at)s"
# A summary of what a generation holds, as in a file. It differs if the store lost rows.
_CONTENT = """
SELECT (SELECT count(DISTINCT source) FROM wattwise.documents WHERE {alive}),
    (SELECT count(*) FROM wattwise.vectors WHERE {alive}), (SELECT count(*) FROM wattwise.chunks WHERE {alive}),
    (SELECT coalesce(sum(crc), 0)::bigint FROM wattwise.chunks WHERE {alive}), count(*), coalesce(sum(crc), 0)::bigint,
    coalesce(sum(chunks), 0), coalesce(sum(searched), 0) FROM wattwise.documents WHERE {alive}
"""


class PostgresStore(StoredRows):
    """The rows of one generation. A writer's generation is the next one, which nobody sees until it is committed.

    Safe to share between threads for reading.
    """

    _AT_ONCE = 200  # a round trip to the server is slow
    set_aside = ""

    def __init__(
        self,
        connected: Callable[[], AbstractContextManager["Connection[Any]"]],
        generation: int,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self._connected = connected
        self._generation = generation
        # Rows waiting to be written, by document id: the source's, the document's own, the chunks'.
        self._waiting: dict[str, tuple[Row, Row, list[Row]]] = {}
        self._next: Sequence[int] = ()  # the numbers of the next document and chunk
        self._kept_until = float("inf")
        self.close = close

    def _rows(self, statement: str, **values: Any) -> list[Any]:
        self._flush()
        with self._connected() as connection:
            rows = _executed(connection, statement, self._generation, values).fetchall()
            if (
                time.monotonic() > self._kept_until
                and not _executed(connection, _HELD, self._generation, {}).fetchall()
            ):
                raise CorpusError("The index has changed since these passages were found. Ask again.")
            return list(rows)

    def _run(self, statement: str, **values: Any) -> None:
        self._flush()
        with self._connected() as connection:
            _executed(connection, statement, self._generation, values)

    def mark(self) -> str:
        """Return the library's own name, drawn at random when its tables were created."""
        ((mark,),) = self._rows("SELECT mark FROM wattwise.library")
        return str(mark)

    def keep(self) -> None:
        """Note that the generation is the newest now. Its rows are kept for at least `_KEPT_MINUTES` from now on."""
        self._kept_until = time.monotonic() + (_KEPT_MINUTES - 1) * 60

    def next_generation(self) -> int:
        """Return the number of the generation that the writer makes."""
        return self._generation

    def forget_all(self) -> None:
        """Start afresh: all existing rows die with this generation."""
        self._run("DELETE FROM wattwise.generations")
        for table in ("documents", "chunks", "vectors"):
            self._end(table, "true")

    def _content(self) -> str:
        return " ".join(map(str, self._rows(_CONTENT)[0]))

    def _blob(self, vector: Any) -> bytes:
        return vector if isinstance(vector, bytes) else bytes(vector.to_numpy().astype("<f2").tobytes())

    def search(self, vector: NDArray[np.float32], limit: int) -> list[tuple[int, float]]:
        """Return the numbers of the chunks nearest to a unit vector, with their cosines, best first."""
        from pgvector import HalfVector

        # Dimension and limit are literals in the statement: a generic plan for any limit would not use the index.
        dimension, nearest = int(vector.shape[0]), int(limit)
        rows = self._rows(
            "SELECT c.number, near.digest, near.vector, near.crc FROM ("
            "SELECT digest, vector, crc FROM wattwise.vectors v"
            f" WHERE {{alive:v.}} AND vector_dims(vector) = {dimension} AND EXISTS"
            " (SELECT 1 FROM wattwise.chunks s WHERE s.digest = v.digest AND s.searched = 1 AND {alive:s.})"
            f" ORDER BY vector::halfvec({dimension}) <#> %(vector)s::halfvec({dimension}) LIMIT {nearest}"
            ") near JOIN wattwise.chunks c USING (digest) WHERE {alive:c.} AND c.searched = 1",
            vector=HalfVector(vector),
        )
        if not rows:
            return []
        # Computed with the question's vector in full precision, as in the file store.
        cosines = np.einsum("ij,j->i", np.stack([self._vector(*row) for _, *row in rows]), vector)
        hits = zip((row[0] for row in rows), map(float, cosines), strict=True)
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))

    def flaw(self) -> str:
        """Name an index that is missing, if one is. PostgreSQL checks its pages itself (`initdb --data-checksums`)."""
        rows = self._rows("SELECT indexname FROM pg_indexes WHERE schemaname = 'wattwise'")
        missing = sorted(_INDEXES.keys() - {name for (name,) in rows})
        return f"it has no {missing[0]}" if missing else ""

    def _readable_id(self, number: int) -> str:
        return str(self._rows("SELECT id FROM wattwise.documents WHERE number = %(number)s", number=number)[0][0])

    def _damaged_vectors(self) -> list[int]:
        damaged, last = [], 0
        while rows := self._rows(
            "SELECT number, digest, vector, wordings, crc FROM wattwise.vectors WHERE {alive} AND number > %(last)s"
            " ORDER BY number LIMIT 2000",
            last=last,
        ):
            last = rows[-1][0]
            damaged += [number for number, digest, vector, several, crc in rows if vector_crc(digest, self._blob(several or vector)) != crc]
        return damaged

    # Methods that only a writer calls.

    def remove_damage(self, damage: Damage) -> None:
        self._end("documents", "number = ANY(%(numbers)s::bigint[])", numbers=list(damage.documents))
        self._end(
            "chunks",
            "NOT EXISTS (SELECT 1 FROM wattwise.documents d WHERE d.number = chunks.document AND {alive:d.})",
        )
        self._end("vectors", "number = ANY(%(numbers)s::bigint[])", numbers=list(damage.vectors))

    def replace(self, document: Document, entries: Iterable[Entry], known: Known) -> None:
        """Insert a document, replacing the one with the same id if there is one."""
        if not self._next:
            (self._next,) = self._rows(NEXT_NUMBERS)
        if document.id in self._waiting:
            self._flush()
        number, first = self._next
        rows = rows_of(document, entries, known, number, first)
        self._waiting[document.id] = rows
        self._next = (number + 1, first + len(rows[2]))
        if sum(len(chunks) for _, _, chunks in self._waiting.values()) >= _PENDING:
            self._flush()

    def _flush(self) -> None:
        """Write the waiting rows by COPY: documents come one by one, and a round trip to the server is slow."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, {}
        self.remove(waiting)
        with self._connected() as connection, connection.cursor() as cursor:
            # On a conflict, update: this restores a source that was damaged.
            cursor.executemany(
                f"INSERT INTO wattwise.sources (key, {SOURCE_FIELDS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"
                f" ON CONFLICT (key) DO UPDATE SET ({SOURCE_FIELDS}) = ROW({prefixed('excluded', SOURCE_FIELDS)})",
                [source for source, _, _ in waiting.values()],
            )
            for table, columns, rows in (
                ("documents", DOCUMENT_FIELDS, (about for _, about, _ in waiting.values())),
                ("chunks", CHUNK_FIELDS, (row for _, _, chunks in waiting.values() for row in chunks)),
            ):
                with cursor.copy(f"COPY wattwise.{table} (born, crc, {columns}) FROM STDIN") as copy:
                    for row in rows:
                        copy.write_row((self._generation, *row))

    def remove(self, ids: Iterable[str]) -> None:
        self._end("documents", "id = ANY(%(ids)s)", ids=(given := list(ids)))
        if given:
            self._end(
                "chunks",
                "document IN (SELECT number FROM wattwise.documents WHERE id = ANY(%(ids)s) AND died = %(at)s)",
                ids=given,
            )

    def _end(self, table: str, which: str, **values: Any) -> None:
        """End the matching rows: rows of earlier generations die with this one; rows born in this one are deleted."""
        self._run(f"DELETE FROM wattwise.{table} WHERE born = %(at)s AND {{alive}} AND {which}", **values)
        self._run(f"UPDATE wattwise.{table} SET died = %(at)s WHERE {{alive}} AND {which}", **values)

    def add_vectors(self, digests: Sequence[bytes], vectors: Iterable[NDArray[np.float32]]) -> None:
        """Store a vector for each digest: (dimension,) for a passage, (wordings, DIMENSION) for a question."""
        from pgvector import HalfVector

        with self._connected() as connection, connection.cursor() as cursor:
            statement = "COPY wattwise.vectors (born, digest, vector, wordings, crc) FROM STDIN WITH (FORMAT BINARY)"
            with cursor.copy(statement) as copy:
                copy.set_types(["bigint", "bytea", "halfvec", "bytea", "bigint"])
                for digest, rows in zip(digests, vectors, strict=True):
                    half = rows.astype("<f2")
                    vector, several = (HalfVector(half), None) if half.ndim == 1 else (None, half.tobytes())
                    copy.write_row((self._generation, digest, vector, several, vector_crc(digest, half.tobytes())))

    def remove_vectors(self) -> None:
        self._end("vectors", "true")

    def remove_unused(self) -> None:
        self._end(
            "vectors", "NOT EXISTS (SELECT 1 FROM wattwise.chunks c WHERE c.digest = vectors.digest AND {alive:c.})"
        )

    def set_state(self, state: State) -> None:
        """Record the state for what the store holds now."""
        row = with_crc(self._content(), *astuple(state))
        columns = f"crc, content, {STATE_FIELDS}"
        with self._connected() as connection:
            connection.execute(
                f"INSERT INTO wattwise.generations ({columns}, published)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, clock_timestamp()) ON CONFLICT (generation)"
                f" DO UPDATE SET ({columns}) = ROW({prefixed('excluded', columns)})",
                row,
            )

    def commit(self) -> None:
        """Delete rows that died long ago, and commit: from then on readers see this generation."""
        self._flush()
        oldest = f"""(SELECT min(generation) FROM (
            SELECT generation, lead(published) OVER (ORDER BY generation) AS followed FROM wattwise.generations) g
            WHERE coalesce(followed > clock_timestamp() - interval '{_KEPT_MINUTES} minutes', true))"""
        for table in ("chunks", "documents", "vectors"):
            self._run(f"DELETE FROM wattwise.{table} WHERE died <= {oldest}")
        self._run(f"DELETE FROM wattwise.files WHERE generation < {oldest}")
        self._run("DELETE FROM wattwise.sources WHERE NOT EXISTS (SELECT 1 FROM wattwise.documents WHERE source = key)")
        self._run(f"DELETE FROM wattwise.generations WHERE generation < {oldest}")
        with self._connected() as connection:
            connection.commit()

    def index_vectors(self, dimension: int) -> None:
        """Build an HNSW index once there are too many vectors to compare all, and gather the planner's statistics."""
        self._run("ANALYZE wattwise.documents, wattwise.chunks, wattwise.vectors")
        ((count,),) = self._rows("SELECT count(vector) FROM wattwise.vectors WHERE {alive}")
        if count >= INDEXED_FROM and dimension <= _MOST_INDEXED_DIMENSIONS:
            self._build(
                f"CREATE INDEX IF NOT EXISTS vectors_{dimension} ON wattwise.vectors USING hnsw"
                f" ((vector::halfvec({dimension})) halfvec_ip_ops) WHERE vector_dims(vector) = {dimension}",
                # Building is many times slower if the graph does not fit into this memory.
                min(4_000, 64 + count * (dimension * 2 + 1_000) // 1_000_000),
            )

    def _build(self, index: str, mebibytes: int) -> None:
        from psycopg.errors import DiskFull

        self._run(f"SET LOCAL maintenance_work_mem = '{mebibytes}MB'")
        try:
            with self._connected() as connection, connection.transaction():
                connection.execute(index)
        except DiskFull:  # shared memory is full (a container has 64 MB); only a parallel build needs it
            self._run("SET LOCAL max_parallel_maintenance_workers = 0")
            self._run(index)

    def save_files(self, generation: int, folder: Path) -> None:
        """Store the files below a folder, under their relative names, for every machine that reads this generation."""
        self._run("DELETE FROM wattwise.files WHERE generation = %(generation)s", generation=generation)
        files = sorted(file for file in folder.rglob("*") if file.is_file() and file.suffix != ".lock")
        with self._connected() as connection, connection.cursor() as cursor:
            statement = "COPY wattwise.files (generation, name, part, content) FROM STDIN WITH (FORMAT BINARY)"
            with cursor.copy(statement) as copy:
                copy.set_types(["bigint", "text", "integer", "bytea"])
                for file in files:
                    with file.open("rb") as stream:
                        for part, content in enumerate(iter(lambda stream=stream: stream.read(_PART), b"")):  # type: ignore[misc]
                            copy.write_row((generation, file.relative_to(folder).as_posix(), part, content))

    def fetch_files(self, generation: int, folder: Path) -> None:
        """Write the stored files of a generation below a folder; write nothing if there are none."""
        names = self._rows(
            "SELECT name, part FROM wattwise.files WHERE generation = %(generation)s ORDER BY name, part",
            generation=generation,
        )
        for name, part in names:
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            ((content,),) = self._rows(
                "SELECT content FROM wattwise.files WHERE generation = %(generation)s AND name = %(name)s AND part = %(part)s",
                generation=generation,
                name=name,
                part=part,
            )
            with file.open("ab") as stream:
                stream.write(content)


_PARTS = {
    "in_": "wattwise.",
    "several": "wordings",
    "state": "wattwise.generations WHERE generation <= %(at)s ORDER BY generation DESC LIMIT 1",
    "alive": Part("({0}born <= %(at)s AND {0}died > %(at)s)"),
    "among": Part("= ANY(%({0})s)"),
    "bytewise": ' COLLATE "C"',
    "unindexed": "",
}


def _executed(connection: "Connection[Any]", statement: str, generation: int, values: dict[str, Any]) -> Any:
    # Binary results: reading vectors as text takes ten milliseconds per question.
    return connection.execute(statement.format(**_PARTS), {"at": generation, **values}, binary=True)


@contextmanager
def connected(database: Database) -> Iterator["Connection[Any]"]:
    """Open a separate connection inside a transaction; what is not committed is rolled back."""
    psycopg = _psycopg(database)
    with closing(psycopg.connect(database.address, connect_timeout=_PATIENCE)) as connection:
        yield connection


@lru_cache(maxsize=8)
def pool(database: Database) -> "ConnectionPool[Connection[Any]]":
    """Return the connections that this process shares, one statement per transaction; broken ones are replaced.

    Connects once first, to raise PostgreSQL's own error if that fails: a pool would only say that it waited.
    """
    psycopg = _psycopg(database)
    from psycopg_pool import ConnectionPool

    psycopg.connect(database.address, connect_timeout=_PATIENCE).close()
    shared: ConnectionPool[Connection[Any]] = ConnectionPool(
        database.address,
        min_size=0,
        max_size=_POOLED,
        timeout=_PATIENCE,
        kwargs={"autocommit": True, "connect_timeout": _PATIENCE},
        configure=_configure,
        check=ConnectionPool.check_connection,
        open=True,
    )
    atexit.register(shared.close)
    return shared


def _configure(connection: "Connection[Any]") -> None:
    _register(connection)
    # The index also holds rows of other generations, so the scan goes on until enough rows are left.
    connection.execute(
        "SELECT set_config('hnsw.iterative_scan', 'strict_order', false), set_config('hnsw.ef_search', %s, false)",
        (str(_CANDIDATES),),
    )


def _register(connection: "Connection[Any]") -> None:
    from pgvector.psycopg import register_vector
    from psycopg.errors import ProgrammingError

    with suppress(ProgrammingError):  # no pgvector; reported later, when the tables are looked for
        register_vector(connection)


def _psycopg(database: Database) -> Any:
    if not database.is_plain:
        raise CorpusError(
            f"{_NO_ADDRESS} Write signs such as @ and / in a user or a password as %40 and %2F, or put the password into PGPASSWORD."
        )
    try:
        import pgvector  # noqa: F401
        import psycopg
        import psycopg_pool  # noqa: F401
    except ImportError as error:
        raise CorpusError(
            f"The index {database} needs PostgreSQL's packages: pip install 'wattwise[postgres]'"
        ) from error
    try:
        psycopg.conninfo.conninfo_to_dict(database.address)
    except psycopg.Error:
        raise CorpusError(_NO_ADDRESS) from None  # libpq's message may quote the password
    return psycopg


def open_postgres(database: Database, mending: str) -> PostgresStore:
    """Open a reader's store at the newest generation.

    Raises CorpusError, with `mending`, if there are no tables of this version.
    """
    shared = pool(database)
    with shared.connection() as connection:
        version = _version(connection)
    if not version:
        raise CorpusError(f"There is no index in {database}. {mending}")
    _refuse_newer_version(database, version)
    if version < len(MIGRATIONS):
        raise CorpusError(f"The index in {database} was made by an older version of wattwise. {mending}")
    newest = PostgresStore(shared.connection, _FOREVER - 1).state()
    store = PostgresStore(shared.connection, newest.generation if newest else 0)
    store.keep()
    return store


def origins_of(database: Database) -> list[str]:
    """Return what the index was made from; empty if that cannot be read."""
    try:
        with pool(database).connection() as connection:
            generations = connection.execute("SELECT max(generation) FROM wattwise.generations").fetchone()
        return PostgresStore(pool(database).connection, generations[0] or 0).origins() if generations else []
    except Exception as error:
        if not type(error).__module__.startswith("psycopg"):
            raise
        return []


def newest(database: Database) -> object:
    """Return a value that changes with every commit."""
    with pool(database).connection() as connection:
        return connection.execute(
            "SELECT generation, mark, updated FROM wattwise.generations ORDER BY generation DESC LIMIT 1"
        ).fetchone()


@contextmanager
def writing_postgres(database: Database) -> Iterator[PostgresStore]:
    """Yield the writer's store; what is not committed inside is rolled back.

    Raises CorpusError while another writer is at work.
    """
    migrate(database)
    with connected(database) as connection:
        _register(connection)
        # A sync may read and encode for hours between two statements.
        connection.execute("SET idle_in_transaction_session_timeout = 0")
        ((mine, latest),) = connection.execute(
            "SELECT pg_try_advisory_xact_lock(%s), (SELECT max(generation) FROM wattwise.generations)", (_WRITER,)
        ).fetchall()
        if not mine:
            raise CorpusError(f"Another ingest is writing to the index in {database}. Try again when it is done.")
        store = PostgresStore(lambda: nullcontext(connection), (latest or 0) + 1)
        if store.flaw():
            for statement in _INDEXES.values():
                connection.execute(statement)
        try:
            begun = store.state() is not None
        except Mismatch:
            begun = False
        if not begun:
            store.forget_all()
        yield store


def migrate(database: Database) -> None:
    """Bring the tables to this version's schema, in the order of `MIGRATIONS`; several processes may try at once."""
    with connected(database) as connection:
        if _version(connection) == len(MIGRATIONS):
            return
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION,))
        version = _version(connection)
        _refuse_newer_version(database, version)
        if not version:
            _prepare(database, connection)
        for number, script in enumerate(MIGRATIONS[version:], version + 1):
            connection.execute(script)
            connection.execute("INSERT INTO wattwise.migrations VALUES (%s, now())", (number,))
        connection.commit()


def _prepare(database: Database, connection: "Connection[Any]") -> None:
    ((encoding,),) = connection.execute("SHOW server_encoding").fetchall()
    if encoding != "UTF8":
        raise CorpusError(
            f"The database {database} keeps texts as {encoding}. Make one that keeps all of them: createdb --encoding UTF8 --template template0 NAME"
        )
    row = connection.execute(
        "SELECT coalesce(installed_version, default_version) FROM pg_available_extensions WHERE name = 'vector'"
    ).fetchone()
    wanted = ".".join(map(str, _PGVECTOR))
    if row is None:
        raise CorpusError(
            f"The server of {database} has no pgvector. Install its package there, version {wanted} or later (Debian: postgresql-NN-pgvector)."
        )
    if tuple(map(int, row[0].split(".")[:2])) < _PGVECTOR:
        raise CorpusError(
            f"The database {database} has pgvector {row[0]}; it takes {wanted} or later. Install that and run in the database: ALTER EXTENSION vector UPDATE"
        )
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    connection.execute("CREATE SCHEMA IF NOT EXISTS wattwise")
    connection.execute("CREATE TABLE wattwise.migrations (version integer PRIMARY KEY, applied timestamptz NOT NULL)")
    connection.execute("CREATE TABLE wattwise.library (mark text NOT NULL)")
    connection.execute("INSERT INTO wattwise.library VALUES (gen_random_uuid())")


def _version(connection: "Connection[Any]") -> int:
    """Return how many migrations the database has had; 0 if it has none of our tables."""
    ((table,),) = connection.execute("SELECT to_regclass('wattwise.migrations')").fetchall()
    if table is None:
        return 0
    ((version,),) = connection.execute("SELECT coalesce(max(version), 0) FROM wattwise.migrations").fetchall()
    return int(version)


def _refuse_newer_version(database: Database, version: int) -> None:
    if version > len(MIGRATIONS):
        raise CorpusError(
            f"The index in {database} was made by a newer version of wattwise. Upgrade: pip install --upgrade wattwise"
        )


class Records:
    """What several processes record in tables of the library's database: votes, conversations, and what the Slack app must not forget.

    Raises CorpusError if the database cannot be written.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        with explained_postgres(database, str):
            migrate(database)

    @contextmanager
    def transaction(self, *, alone: bool = False) -> Iterator["_Statements"]:
        """Open a transaction that takes statements as SQLite does (with `?`).

        With `alone`, no other such transaction runs at the same time.
        """
        with (
            explained_postgres(self._database, str),
            pool(self._database).connection() as connection,
            connection.transaction(),
        ):
            connection.execute("SET LOCAL search_path = wattwise")
            if alone:
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_RECORDS,))
            yield _Statements(connection)


@dataclass(frozen=True, slots=True)
class _Statements:
    connection: "Connection[Any]"

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        return self.connection.execute(statement.replace("?", "%s"), values)


@contextmanager
def explained_postgres(database: Database, mending: Callable[[], str]) -> Iterator[None]:
    """Turn PostgreSQL's errors into a CorpusError of one sentence with its remedy. No password is in it."""
    try:
        yield
    except Mismatch as error:
        raise CorpusError(f"The index in {database} is damaged ({error}). {mending()}") from error
    except Exception as error:
        if not type(error).__module__.startswith("psycopg"):
            raise
        raise CorpusError(_said(database, error, mending)) from error


def _said(database: Database, error: Exception, mending: Callable[[], str]) -> str:
    """Explain an error by its SQLSTATE, or by libpq's words if there is no connection yet and so no SQLSTATE."""
    reason = " ".join(str(error).split())
    state = getattr(error, "sqlstate", None) or ""
    if "password authentication failed" in reason or "no password supplied" in reason:
        return f"{database} does not take the user and password. Check them: in the address, in PGPASSWORD or in ~/.pgpass."
    if re.search(r'database "[^"]*" does not exist', reason):
        return f"There is no database of that name at {database}. Make it: createdb NAME"
    if state in {"42P01", "3F000"}:
        return f"There is no index in {database}. {mending()}"
    if state == "42501":
        return f"The user of {database} lacks a right ({reason}). Ask for it: GRANT CREATE ON DATABASE, or USAGE on the schema wattwise and SELECT on its tables to only read."
    if state in {"53100", "53200"} or state.startswith("54"):
        return f"The server of {database} has reached a limit ({reason}). Check its free space and its settings."
    return f"{database} cannot be read or written ({reason}). Check the address, and that the server runs and lets this machine in."
