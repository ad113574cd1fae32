"""Open the store for readers of one generation or for one writer, and explain what is wrong with it."""

import fcntl
import os
import re
import shlex
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from ingest.document import CorpusError
from ingest.storage.place import Database, Place
from ingest.storage.postgres import (
    PostgresStore,
    explained_postgres,
    newest,
    open_postgres,
    origins_of,
    writing_postgres,
)
from ingest.storage.store import SCHEMA, Mismatch, State, Store

AnyStore = Store | PostgresStore
FORMAT = 3
FILE_NAME = "store.sqlite"
_LOCK = "writer.lock"
_UNREACHABLE = re.compile("SQLITE_(BUSY|LOCKED|PERM|READONLY|IOERR|FULL|CANTOPEN)")


def mending(folder: Place, sources: Sequence[str] = ()) -> str:
    """Return the sentence with the command that makes an index anew. Users see it, so no address in it has secrets."""
    return f"Make it anew: {shlex.join(['wattwise', 'ingest', *map(_shown, sources), '--index', str(folder)])}"


def _shown(source: str) -> str:
    if not source.startswith("https://"):
        return source
    from ingest.fetching.web import without_secrets

    return without_secrets(source)


def open_store(place: Place) -> tuple[AnyStore, State]:
    """Open a reader's store, which stays at its generation. Raises CorpusError if there is no usable index."""
    with explained(place):
        if isinstance(place, Database):
            return _usable(open_postgres(place, mending(place)), place)
        if not (file := place / FILE_NAME).is_file():
            raise CorpusError(f"There is no index in {place}. {mending(place)}")
        connection = _connect(file)
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version == FORMAT:
                return _usable(Store(connection), place)
            fault = "was made by another version of wattwise" if version else "is empty"
            raise CorpusError(f"The index in {place} {fault}. {mending(place)}")
        except BaseException:
            connection.close()
            raise


def _usable(store: AnyStore, place: Place) -> tuple[AnyStore, State]:
    state = store.state()
    if state is None or store.count_chunks() == 0:
        raise CorpusError(f"The index in {place} is empty. {mending(place)}")
    if not store.is_whole():
        raise Mismatch("what it holds is not what was written")
    return store, state


def signature(place: Place) -> object:
    """Return a value that changes with every commit. For a folder: inode, size and time of the store and of its log."""
    if isinstance(place, Database):
        with explained(place):
            return newest(place)
    return tuple(_stamp(place / name) for name in (FILE_NAME, f"{FILE_NAME}-wal"))


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns) if status.st_size else None  # an empty log counts as no log


@contextmanager
def explained(folder: Place) -> Iterator[None]:
    """Turn errors of the database and the system into a CorpusError with its remedy."""
    if isinstance(folder, Database):
        with explained_postgres(folder, lambda: mending(folder, _sources(folder))):
            yield
        return
    try:
        yield
    except sqlite3.DatabaseError as error:
        if _is_unreachable(error):
            raise _unreachable(folder, error) from error
        # Python's message about a text that is not UTF-8 quotes part of that text.
        said = "a text in it is not UTF-8" if str(error).startswith("Could not decode") else " ".join(str(error).split())
        raise CorpusError(f"The index in {folder} is damaged ({said}). {mending(folder, _sources(folder))}") from error
    except OSError as error:
        raise _unreachable(folder, error) from error


def _sources(folder: Place) -> list[str]:
    """Return what a damaged index was made from, if that can still be read."""
    if isinstance(folder, Database):
        return origins_of(folder)
    try:
        with closing(_connect(folder / FILE_NAME)) as connection:
            return Store(connection).origins()
    except sqlite3.DatabaseError:
        return []


def _is_unreachable(error: sqlite3.DatabaseError) -> bool:
    return bool(_UNREACHABLE.match(getattr(error, "sqlite_errorname", "")))


def _unreachable(folder: Path, error: Exception) -> CorpusError:
    return CorpusError(f"The index in {folder} cannot be read or written ({error}). Check the path, the rights and the free space.")


def _connect(file: Path) -> sqlite3.Connection:
    """Connect in a read transaction.

    If the log's files cannot be created beside the store, nobody can write to it, so it is opened as immutable.
    """
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
def writing(folder: Place) -> Iterator[AnyStore]:
    """Yield the writer's store; what is not committed inside is rolled back.

    Raises CorpusError while another writer is at work. A store that is damaged or of another format stays in place
    until a new one is complete and replaces it; a damaged one is kept under another name.
    """
    if isinstance(folder, Database):
        with writing_postgres(folder) as store:
            yield store
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(folder):
        _narrow(folder)
        file = folder / FILE_NAME
        condition = _condition(file)
        if condition == "usable":
            with closing(_begin_writing(file)) as connection:
                yield Store(connection)
            return
        set_aside = f"{FILE_NAME}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S}" if condition == "damaged" else ""
        fresh = folder / f"{FILE_NAME}.new"
        _remove_logs(fresh)
        fresh.unlink(missing_ok=True)
        try:
            with closing(_begin_writing(fresh)) as connection:
                yield Store(connection, set_aside)
                finished = not connection.in_transaction
            if finished:
                if set_aside:
                    _set_aside(file, folder / set_aside)
                _remove_logs(file)
                fresh.replace(file)
        finally:
            _remove_logs(fresh)
            fresh.unlink(missing_ok=True)


def _narrow(folder: Path) -> None:
    """Make an index readable by its owner alone: it holds the texts of all its documents.

    A shared folder with the sticky bit, such as /tmp, keeps its mode. So do files that belong to somebody else.
    """
    if not folder.stat().st_mode & stat.S_ISVTX:
        _chmod(folder, 0o700)
    for place in (folder / _LOCK, *folder.glob(f"{FILE_NAME}*"), *folder.glob("derived-*")):
        with suppress(FileNotFoundError):  # a reader may be building it
            restrict(place)


def restrict(place: Path) -> None:
    """Make a file, or a folder with everything in it, accessible to its owner alone."""
    for entry in (place, *place.rglob("*")):
        if not entry.is_symlink():
            _chmod(entry, 0o700 if entry.is_dir() else 0o600)


def _chmod(place: Path, mode: int) -> None:
    with suppress(PermissionError):
        place.chmod(mode)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the writer's lock. The system releases it when the process ends, however it ends."""
    with open(folder / _LOCK, "w", opener=private) as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise CorpusError(f"Another ingest is writing to the index in {folder}. Try again when it is done.") from error
        yield


def private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _condition(file: Path) -> Literal["usable", "outdated", "damaged"]:
    """Return what a writer finds; a store that does not exist yet counts as usable."""
    if not file.exists():
        return "usable"
    try:
        with closing(_connect(file)) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if 0 < version < FORMAT:
                return "outdated"
            if version != FORMAT:
                (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                return "damaged" if version or tables else "usable"
            store = Store(connection)
            store.state()
            return "damaged" if store.flaw() else "usable"
    except sqlite3.DatabaseError as error:
        if _is_unreachable(error):
            raise
        return "damaged"


def _begin_writing(file: Path) -> sqlite3.Connection:
    # SQLite gives its log the permissions of the store, so the store is created private first. An existing file must
    # not be opened here: closing it would drop the locks that SQLite holds on it in this process.
    with suppress(FileExistsError):
        os.close(private(str(file), os.O_CREAT | os.O_EXCL))
    connection = sqlite3.connect(file, isolation_level=None, timeout=30)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA cache_size = -65536")  # in KiB; large, since digests and ids come in random order
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("PRAGMA user_version").fetchone() == (0,):
        for statement in SCHEMA.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {FORMAT}")
    return connection


def _set_aside(file: Path, other: Path) -> None:
    """Give a store and its log another name. The store also keeps its own name until another file takes it."""
    with suppress(FileNotFoundError):
        file.with_name(f"{file.name}-wal").rename(f"{other}-wal")
    try:
        other.hardlink_to(file)
    except OSError:  # the file system has no hard links
        file.rename(other)


def _remove_logs(file: Path) -> None:
    for ending in ("-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)
