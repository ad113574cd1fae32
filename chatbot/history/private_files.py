"""Private databases beside the index, which hold what people wrote: only their owner may read them.

No answer depends on them, so a damaged file stops nothing: it is set aside under another name, and a new one is used.
If the index is in PostgreSQL, they are tables there. The SQL statements work in both databases.
"""

import logging
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

from chatbot.answer import ReaderError
from ingest import CorpusError, Database, Place, Records

_log = logging.getLogger("wattwise.files")
# Suffixes of the files that SQLite keeps beside a database. It creates them with the permissions of the database.
_SIBLINGS = ("-wal", "-shm", "-journal", "")
# A schema statement fails with SQLITE_ERROR if something else already has the name of a table.
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
_COLUMNS = """
SELECT t.name, c.cid, c.name, c.pk FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
"""
# Closing a file drops every lock that SQLite holds on it elsewhere in the process, so threads open files one by one.
_opening = threading.Lock()


def open_private_database(file: Path, schema: str) -> sqlite3.Connection:
    """Open a database that only its owner may read, for use by any thread.

    `schema` consists of CREATE … IF NOT EXISTS statements. A missing file or folder is made, and permissions of the
    file that are too wide are narrowed. A file that is not a sound database with the tables of the schema is renamed to
    `<name>.damaged-1` (or the next free number), reported in one log warning, and replaced by an empty one. Raises
    OSError or sqlite3.Error if the file cannot be written.
    """
    with _opening:
        make_private_folder(file.parent)
        before = _identity(file)
        # If the file has changed, another process has set it aside in the meantime, and this is its new one.
        if (damage := _damage(file, schema)) and _identity(file) == before:
            _log.warning(
                "%s is damaged (%s): it is kept as %s, and a new one is used", file, damage, set_aside(file).name
            )
        return _connected(file, schema)


@contextmanager
def told() -> Iterator[None]:
    """Turn a CorpusError, which says why the database cannot be used, into a ReaderError."""
    try:
        yield
    except CorpusError as error:
        raise ReaderError(str(error)) from error


class RecordStore:
    """Records in one SQLite file of the index folder, or in the index's database; safe for several processes at once.

    Raises ReaderError if it cannot be written. Only the owner of the file may read it; a damaged file is set aside (see
    `open_private_database`).
    """

    file_name: ClassVar[str]
    schema: ClassVar[str]

    def __init__(self, index: Place) -> None:
        self.place = index if isinstance(index, Database) else index / self.file_name
        with told():
            self._records = Records(index) if isinstance(index, Database) else None
        with self._connection():
            pass  # fail at once if the place cannot be written

    @contextmanager
    def _connection(self) -> Iterator[Any]:
        with told():
            if self._records:
                with self._records.transaction() as statements:
                    yield statements
                return
        assert isinstance(self.place, Path)
        # One short connection per call: Streamlit and Slack call from many threads, and a file that was damaged in the
        # meantime is set aside.
        try:
            with closing(open_private_database(self.place, self.schema)) as connection, connection:
                yield connection
        except (OSError, sqlite3.Error) as error:
            raise ReaderError(f"{self.place} cannot be written ({error}): mend its permissions, or make room on its disk.") from error


def upsert(table: str, columns: str, key: str) -> str:
    """Return the statement that inserts a row, or replaces the one with the same key."""
    names = columns.split(", ")
    others = ", ".join(f"{name} = excluded.{name}" for name in names if name not in key.split(", "))
    return (
        f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(names))}) ON CONFLICT ({key}) DO UPDATE SET {others}"
    )


def make_private_folder(folder: Path) -> None:
    """Make a folder, and the missing ones above it, that only their owner may enter. Leave an existing folder as it is."""
    if not folder.is_dir():
        make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def set_aside(file: Path) -> Path:
    """Rename a database and its sibling files to `<name>.damaged-1`, or the next free number. Return the new name."""
    aside = next(p for n in count(1) if not os.path.lexists(p := Path(f"{file}.damaged-{n}")))
    for sibling in _SIBLINGS:
        with suppress(FileNotFoundError):
            os.rename(f"{file}{sibling}", f"{aside}{sibling}")
    return aside


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error means that the file is damaged, rather than locked, full or forbidden."""
    # Only errors from SQLite itself have a code.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF in _DAMAGE


def _damage(file: Path, schema: str) -> str:
    if file.exists() and not file.is_file():
        return "it is no file"
    try:
        with closing(_connected(file, schema)) as found, closing(sqlite3.connect(":memory:")) as expected:
            expected.executescript(schema)
            wanted = set(expected.execute(_COLUMNS))
            tables = {row[0] for row in wanted}
            if {row for row in found.execute(_COLUMNS) if row[0] in tables} != wanted:
                return "its tables are not ours"
            (verdict,) = found.execute("PRAGMA quick_check(1)").fetchone()
            return "" if verdict == "ok" else "its pages do not fit together"
    except sqlite3.Error as error:
        if is_damage(error):
            return str(error)
        raise


def _connected(file: Path, schema: str) -> sqlite3.Connection:
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    for sibling in _SIBLINGS:
        _narrow(Path(f"{file}{sibling}"))
    connection = sqlite3.connect(file, timeout=10, check_same_thread=False)
    try:
        connection.executescript(schema)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _narrow(file: Path) -> None:
    # Another user's file can be used, but its mode cannot be changed.
    with suppress(FileNotFoundError, PermissionError):
        mode = file.stat().st_mode & 0o777
        if mode & 0o077:
            file.chmod(mode & 0o700)


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
