"""Databases with the index that hold what people wrote: only their owner may read them, and damage to one stops nothing.

No answer depends on them. So a damaged file is set aside under another name, and a new one is used. Where the index is in
PostgreSQL they are tables there. The statements are such that both take them.
"""

import logging
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path

from chatbot.answer import ReaderError
from ingest import CorpusError

_log = logging.getLogger("wattwise.files")
# What SQLite keeps beside a database; it gives new ones the permissions of the database.
_SIBLINGS = ("-wal", "-shm", "-journal", "")
# SQLITE_ERROR comes from a statement of the schema where something else has the name of a table.
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
_COLUMNS = """
SELECT t.name, c.cid, c.name, c.pk FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
"""
# Closing a file takes away the locks that SQLite has on it elsewhere in the process: none may be open while one is made.
_opening = threading.Lock()


def open_private_database(file: Path, schema: str) -> sqlite3.Connection:
    """Open a database that only its owner may read, for use by any thread.

    `schema` is statements of the form CREATE … IF NOT EXISTS. The file and its folders are made where they are missing, and wider
    permissions of the file are narrowed. What is no sound database with the tables of the schema is renamed to
    `<name>.damaged-1` (or the next number), said in one warning of the log, and replaced by an empty one. Raises OSError or
    sqlite3.Error where the file cannot be written.
    """
    with _opening:
        make_private_folder(file.parent)
        before = _identity(file)
        # Another process that opens the same file may have set it aside meanwhile: what is there then is its new one.
        if (damage := _damage(file, schema)) and _identity(file) == before:
            _log.warning(
                "%s is damaged (%s): it is kept as %s, and a new one is used", file, damage, set_aside(file).name
            )
        return _connected(file, schema)


@contextmanager
def told() -> Iterator[None]:
    """What keeps a database from being written, as a ReaderError."""
    try:
        yield
    except CorpusError as error:
        raise ReaderError(str(error)) from error


def upsert(table: str, columns: str, key: str) -> str:
    """The statement that writes a row, in the place of the one with the same key."""
    names = columns.split(", ")
    others = ", ".join(f"{name} = excluded.{name}" for name in names if name not in key.split(", "))
    return (
        f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(names))}) ON CONFLICT ({key}) DO UPDATE SET {others}"
    )


def make_private_folder(folder: Path) -> None:
    """Make a folder and what is missing above it so that only their owner may enter. One that exists is left as it is."""
    if not folder.is_dir():
        make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def set_aside(file: Path) -> Path:
    """Rename what stands under a name, and give the new one: `<name>.damaged-1`, or the next number that is free."""
    aside = next(p for n in count(1) if not os.path.lexists(p := Path(f"{file}.damaged-{n}")))
    for sibling in _SIBLINGS:
        with suppress(FileNotFoundError):
            os.rename(f"{file}{sibling}", f"{aside}{sibling}")
    return aside


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error says that the file is damaged, not that it is locked, full or forbidden."""
    # Only what SQLite itself says has a code.
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
    # A file of another user can be used and not changed.
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
