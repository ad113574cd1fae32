"""What several workers and restarts must agree on, in one SQLite file of the index folder, or in its database: claims, threads, limits, answers."""

import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from chatbot.answer import ReaderError
from chatbot.private_files import is_damage, open_private_database, told, upsert
from ingest import Database, Place, Records

FILE_NAME = "slack.sqlite"
# Slack repeats an event for an hour at the most.
_CLAIMS_KEPT = 2 * 86_400
_WINDOW = 60.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, at REAL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS asked ("user" TEXT, at REAL);
CREATE INDEX IF NOT EXISTS asked_by ON asked ("user", at);
CREATE TABLE IF NOT EXISTS threads (channel TEXT, thread TEXT, state TEXT, PRIMARY KEY (channel, thread)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers (id TEXT PRIMARY KEY, at REAL, question TEXT, text TEXT, model TEXT, generation INTEGER, excerpts TEXT);
CREATE TABLE IF NOT EXISTS open (key TEXT PRIMARY KEY, channel TEXT, thread TEXT, "user" TEXT, at REAL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS messages (channel TEXT, ts TEXT, thread TEXT, at REAL, PRIMARY KEY (channel, ts)) WITHOUT ROWID;
"""
ThreadState = Literal["", "followed", "silenced"]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A passage as an answer used it; `quotes` are the words cited from it."""

    number: int
    title: str
    place: str
    url: str
    published: str
    quotes: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer as it was given, for votes, evidence and memory."""

    id: str
    question: str
    text: str
    model: str
    generation: int
    excerpts: tuple[Excerpt, ...]


class SlackState:
    """Safe for many threads and processes at once. ReaderError when it cannot be written.

    Only the owner of the file may read it; a damaged one is set aside (see `open_private_database`).
    """

    def __init__(self, index: Place) -> None:
        self._lock = threading.Lock()
        self.place = index if isinstance(index, Database) else index / FILE_NAME
        with told():
            self._store = self._opened(self.place) if isinstance(self.place, Path) else Records(self.place)

    def claim(self, *keys: str) -> bool:
        """Whether nobody has claimed any of the keys before; from now on they are claimed."""
        with self._connection(alone=True) as connection:
            new = [
                connection.execute("INSERT INTO claims VALUES (?, ?) ON CONFLICT DO NOTHING", (key, time.time())).rowcount
                for key in keys
                if key
            ]
        return all(new)

    def wait_for(self, user: str, per_minute: int) -> float:
        """Seconds until a user may ask; 0 means now, and counts as asking."""
        now = time.time()
        with self._connection(alone=True) as connection:
            recent = connection.execute(
                'SELECT at FROM asked WHERE "user" = ? AND at > ? ORDER BY at DESC LIMIT ?',
                (user, now - _WINDOW, per_minute),
            ).fetchall()
            if len(recent) >= per_minute:
                return max(1.0, float(recent[-1][0]) + _WINDOW - now)
            connection.execute("INSERT INTO asked VALUES (?, ?)", (user, now))
        return 0.0

    def begin(self, key: str, channel: str, thread: str, user: str) -> None:
        """Note a question that was taken on, so that it is not forgotten when its worker dies."""
        with self._connection() as connection:
            connection.execute(
                upsert("open", 'key, channel, thread, "user", at', "key"), (key, channel, thread, user, time.time())
            )

    def finish(self, key: str) -> None:
        with self._connection() as connection:
            connection.execute("DELETE FROM open WHERE key = ?", (key,))

    def lost(self, seconds: float) -> list[tuple[str, str, str, str]]:
        """Key, channel, thread and user of the questions taken on longer ago than that; each is given out once."""
        with self._connection() as connection:
            lost: list[tuple[str, str, str, str]] = connection.execute(
                'DELETE FROM open WHERE at < ? RETURNING key, channel, thread, "user"', (time.time() - seconds,)
            ).fetchall()
        return lost

    def thread_state(self, channel: str, thread: str) -> ThreadState:
        with self._connection() as connection:
            row = connection.execute(
                "SELECT state FROM threads WHERE channel = ? AND thread = ?", (channel, thread)
            ).fetchone()
        return row[0] if row else ""

    def follow(self, channel: str, thread: str) -> None:
        """From now on the thread's messages are questions."""
        self._set_thread(channel, thread, "followed")

    def silence(self, channel: str, thread: str) -> None:
        """From now on the thread is left alone, until the next mention."""
        self._set_thread(channel, thread, "silenced")

    def _set_thread(self, channel: str, thread: str, state: ThreadState) -> None:
        with self._connection() as connection:
            connection.execute(upsert("threads", "channel, thread, state", "channel, thread"), (channel, thread, state))

    def keep(self, answer: KeptAnswer) -> None:
        excerpts = json.dumps([asdict(e) for e in answer.excerpts], ensure_ascii=False)
        row = (answer.id, time.time(), answer.question, answer.text, answer.model, answer.generation, excerpts)
        with self._connection() as connection:
            connection.execute(upsert("answers", "id, at, question, text, model, generation, excerpts", "id"), row)

    def kept(self, answer_id: str) -> KeptAnswer | None:
        """The answer of an id, None when it is too old or was never given."""
        with self._connection() as connection:
            row = connection.execute(
                "SELECT id, question, text, model, generation, excerpts FROM answers WHERE id = ?", (answer_id,)
            ).fetchone()
        if row is None:
            return None
        excerpts = tuple(Excerpt(**{**e, "quotes": tuple(e["quotes"])}) for e in json.loads(row[5]))
        return KeptAnswer(row[0], row[1], row[2], row[3], row[4], excerpts)

    def posted(self, channel: str, ts: str, thread: str) -> None:
        """Remember which thread a message of ours stands in: a reaction names the message only."""
        with self._connection() as connection:
            connection.execute(
                upsert("messages", "channel, ts, thread, at", "channel, ts"), (channel, ts, thread, time.time())
            )

    def thread_of(self, channel: str, ts: str) -> str:
        """The thread of a message of ours, or that of a thread's first message; empty for others."""
        with self._connection() as connection:
            row = connection.execute(
                "SELECT thread FROM messages WHERE channel = ? AND ts = ?"
                " UNION SELECT thread FROM threads WHERE channel = ? AND thread = ?",
                (channel, ts, channel, ts),
            ).fetchone()
        return row[0] if row else ""

    def forget(self, keep_days: int) -> None:
        """Delete what is older than it is kept."""
        now = time.time()
        with self._connection() as connection:
            connection.execute("DELETE FROM claims WHERE at < ?", (now - _CLAIMS_KEPT,))
            connection.execute("DELETE FROM asked WHERE at < ?", (now - _WINDOW,))
            for table in ("answers", "messages"):
                connection.execute(f"DELETE FROM {table} WHERE at < ?", (now - keep_days * 86_400,))

    def close(self) -> None:
        if isinstance(self._store, sqlite3.Connection):
            with self._lock:
                self._store.close()

    def _opened(self, file: Path) -> sqlite3.Connection:
        try:
            database = open_private_database(file, _SCHEMA)
            # Readers and the writer do not wait for one another, and a commit needs no flush to the disk.
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
        except (OSError, sqlite3.Error) as error:
            raise _unwritable(file, error) from error
        return database

    @contextmanager
    def _connection(self, *, alone: bool = False) -> Iterator[Any]:
        """A transaction; one that is `alone` reads what no other such one changes meanwhile."""
        if isinstance(self.place, Path):
            with self._file(self.place, alone) as connection:
                yield connection
            return
        assert isinstance(self._store, Records)
        with told(), self._store.transaction(alone=alone) as statements:
            yield statements

    @contextmanager
    def _file(self, file: Path, alone: bool) -> Iterator[sqlite3.Connection]:
        # One connection, kept open: closing the last one writes the whole log to the disk, 30 ms each time.
        assert isinstance(self._store, sqlite3.Connection)
        try:
            with self._lock, self._store:
                if alone:
                    self._store.execute("BEGIN IMMEDIATE")
                yield self._store
        except sqlite3.Error as error:
            if is_damage(error):
                with self._lock:
                    self._store.close()
                    self._store = self._opened(file)
            raise _unwritable(file, error) from error


def _unwritable(file: Path, error: Exception) -> ReaderError:
    return ReaderError(f"{file} cannot be written ({error}): mend its permissions.")
