"""State shared by processes and restarts: claims, work, threads and answers.

It is stored in one SQLite file beside the index, or in the index's database.
"""

import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from chatbot.answer import ReaderError
from chatbot.history.private_files import is_damage, open_private_database, told, upsert
from chatbot.slack.events import Asked, asked_from_json
from ingest import Database, Place, Records

FILE_NAME = "slack.sqlite"
# In seconds; Slack redelivers an event for an hour at most.
_CLAIMS_KEPT = 2 * 86_400
# In seconds; after a day, nobody waits for an answer any more.
_WORK_KEPT = 86_400
_WINDOW = 60.0
# Length of a lease in seconds. A process renews its leases every few seconds; another process takes over expired ones.
LEASE = 15.0
# Seconds to wait for a lock: an event must be acknowledged within three seconds, even while another process writes.
_PATIENCE = 0.5
_SCHEMA = """
CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, at REAL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS asked ("user" TEXT, at REAL);
CREATE INDEX IF NOT EXISTS asked_by ON asked ("user", at);
CREATE TABLE IF NOT EXISTS threads (channel TEXT, thread TEXT, state TEXT, PRIMARY KEY (channel, thread)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers (id TEXT PRIMARY KEY, at REAL, question TEXT, text TEXT, model TEXT, generation INTEGER, excerpts TEXT);
CREATE TABLE IF NOT EXISTS replies (id TEXT PRIMARY KEY, at REAL, kind TEXT, messages TEXT);
CREATE TABLE IF NOT EXISTS work (key TEXT PRIMARY KEY, at REAL, channel TEXT, thread TEXT, asked TEXT, owner TEXT, until REAL, attempts INTEGER, stopped INTEGER, stream TEXT, reply TEXT);
CREATE TABLE IF NOT EXISTS messages (channel TEXT, ts TEXT, thread TEXT, at REAL, PRIMARY KEY (channel, ts)) WITHOUT ROWID;
"""
_WORK = "key, at, channel, thread, asked, owner, until, attempts, stopped, stream, reply"
Block = dict[str, Any]
Message = tuple[Block, ...]
ThreadState = Literal["", "followed", "silenced"]
ReplyKind = Literal["wattwise_answer", "wattwise_notice"]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A passage that an answer used; `quotes` are the words cited from it."""

    number: int
    title: str
    place: str
    url: str
    quotes: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """A stored answer, for votes, evidence and memory."""

    id: str
    question: str
    text: str
    model: str
    generation: int
    excerpts: tuple[Excerpt, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to a question, as messages of blocks, stored so that another process can send it.

    An answer has the id of its `KeptAnswer`.
    """

    id: str
    kind: ReplyKind
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """An accepted, unfinished question: how often it was restarted, its open stream, and its finished reply."""

    asked: Asked
    attempts: int = 0
    stream: str = ""
    reply: Reply | None = None


class SlackState:
    """The store, safe for many threads and processes. Raises ReaderError if it cannot be written, or not in time.

    Only its owner may read the file; a damaged file is set aside (see `open_private_database`).
    """

    def __init__(self, index: Place) -> None:
        self._owner = uuid4().hex
        self._lock = threading.Lock()
        self.place = index if isinstance(index, Database) else index / FILE_NAME
        with told():
            self._store = self._opened(self.place) if isinstance(self.place, Path) else Records(self.place)

    def claim(self, *keys: str) -> bool:
        """Claim the keys; True if none of them was claimed before."""
        with self._connection(alone=True) as connection:
            new = [
                connection.execute("INSERT INTO claims VALUES (?, ?) ON CONFLICT DO NOTHING", (key, time.time())).rowcount
                for key in keys
                if key
            ]
        return all(new)

    def wait_for(self, user: str, per_minute: int) -> float:
        """Return the seconds until a user may ask; 0 means now, and is counted as asking."""
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

    def begin(self, asked: Asked) -> None:
        """Store an accepted question; this process holds a lease on it until it is finished."""
        now, about = time.time(), json.dumps(asdict(asked))
        row = (asked.key, now, asked.channel, asked.thread, about, self._owner, now + LEASE, 0, 0, "", "")
        self._write(upsert("work", _WORK, "key"), *row)

    def finish(self, key: str) -> None:
        self._write("DELETE FROM work WHERE key = ? AND owner = ?", key, self._owner)

    def streaming(self, key: str, channel: str, thread: str, ts: str) -> None:
        """Record the message that an answer is streamed into."""
        self._write("UPDATE work SET stream = ? WHERE key = ?", ts, key)
        self.posted(channel, ts, thread)

    def is_streamed(self, channel: str, ts: str) -> bool:
        """Return whether an unfinished question's answer is streamed into this message."""
        return self._row("SELECT 1 FROM work WHERE channel = ? AND stream = ?", channel, ts) is not None

    def keep_reply(self, key: str, reply: Reply) -> None:
        """Store the reply to a question, so that it is sent even if this process dies."""
        row = (reply.id, time.time(), reply.kind, json.dumps(reply.messages, ensure_ascii=False))
        with self._connection() as connection:
            connection.execute(upsert("replies", "id, at, kind, messages", "id"), row)
            connection.execute("UPDATE work SET reply = ? WHERE key = ?", (reply.id, key))

    def reply(self, reply_id: str) -> Reply | None:
        with self._connection() as connection:
            return _reply(connection, reply_id)

    def is_wanted(self, key: str) -> bool:
        """Return whether this process should still answer a question: it is neither stopped nor taken over."""
        return bool(self._row("SELECT owner, stopped FROM work WHERE key = ?", key) == (self._owner, 0))

    def is_stopped(self, key: str) -> bool:
        """Return whether a person has stopped the answer to a question."""
        return bool(self._row("SELECT stopped FROM work WHERE key = ?", key) == (1,))

    def renew(self, seconds: float = 0.0) -> None:
        """Renew this process's leases for this many seconds, or by default for the length of a lease."""
        self._write("UPDATE work SET until = ? WHERE owner = ?", time.time() + (seconds or LEASE), self._owner)

    def release(self) -> None:
        """Give up this process's leases, so that another process can take over the unfinished work."""
        self._write("UPDATE work SET until = 0, owner = '' WHERE owner = ?", self._owner)

    def take_over(self) -> list[Work]:
        """Take over the questions whose lease another process has let expire, and return them."""
        now = time.time()
        with self._connection(alone=True) as connection:
            rows = connection.execute(
                "UPDATE work SET owner = ?, until = ?, attempts = attempts + 1 WHERE until < ? AND owner != ?"
                " RETURNING asked, attempts, stream, reply",
                (self._owner, now + LEASE, now, self._owner),
            ).fetchall()
            return [
                Work(asked_from_json(asked), attempts, stream, _reply(connection, reply))
                for asked, attempts, stream, reply in rows
            ]

    def thread_state(self, channel: str, thread: str) -> ThreadState:
        row = self._row("SELECT state FROM threads WHERE channel = ? AND thread = ?", channel, thread)
        return row[0] if row else ""

    def follow(self, channel: str, thread: str) -> None:
        """Follow a thread: from now on its messages may be questions."""
        self._set_thread(channel, thread, "followed")

    def silence(self, channel: str, thread: str) -> None:
        """Stop answering in a thread, until the next mention."""
        self._set_thread(channel, thread, "silenced")
        self.stop(channel, thread)

    def _set_thread(self, channel: str, thread: str, state: ThreadState) -> None:
        self._write(upsert("threads", "channel, thread, state", "channel, thread"), channel, thread, state)

    def stop(self, channel: str, thread: str) -> None:
        """Stop the answers in progress in a thread, in all processes."""
        self._write("UPDATE work SET stopped = 1 WHERE channel = ? AND thread = ?", channel, thread)

    def keep(self, answer: KeptAnswer) -> None:
        excerpts = json.dumps([asdict(e) for e in answer.excerpts], ensure_ascii=False)
        row = (answer.id, time.time(), answer.question, answer.text, answer.model, answer.generation, excerpts)
        self._write(upsert("answers", "id, at, question, text, model, generation, excerpts", "id"), *row)

    def kept(self, answer_id: str) -> KeptAnswer | None:
        """Return the answer with this id; None if it has expired or never existed."""
        row = self._row("SELECT id, question, text, model, generation, excerpts FROM answers WHERE id = ?", answer_id)
        if row is None:
            return None
        excerpts = (
            Excerpt(e["number"], e["title"], e["place"], e["url"], tuple(e["quotes"]), e["text"]) for e in json.loads(row[5])
        )
        return KeptAnswer(row[0], row[1], row[2], row[3], row[4], tuple(excerpts))

    def posted(self, channel: str, ts: str, thread: str) -> None:
        """Record which thread one of our messages is in: a reaction names only the message."""
        row = (channel, ts, thread, time.time())
        self._write(upsert("messages", "channel, ts, thread, at", "channel, ts"), *row)

    def thread_of(self, channel: str, ts: str) -> str:
        """Return the thread of one of our messages or of a known thread's first message; empty for others."""
        row = self._row(
            "SELECT thread FROM messages WHERE channel = ? AND ts = ?"
            " UNION SELECT thread FROM threads WHERE channel = ? AND thread = ?",
            *(channel, ts, channel, ts),
        )
        return row[0] if row else ""

    def forget(self, keep_days: int) -> None:
        """Delete expired rows; answers, messages and replies expire after `keep_days`.

        So do threads that began before that, unless a message of ours or a question in them is kept.
        """
        kept = [("claims", _CLAIMS_KEPT), ("asked", _WINDOW), ("work", _WORK_KEPT)]
        kept += [(table, keep_days * 86_400.0) for table in ("answers", "messages", "replies")]
        for table, seconds in kept:
            self._write(f"DELETE FROM {table} WHERE at < ?", time.time() - seconds)
        # A thread is named by the time of its first message, in seconds with ten digits: text sorts as numbers do.
        self._write(
            "DELETE FROM threads WHERE thread < ?"
            " AND thread NOT IN (SELECT thread FROM messages UNION SELECT thread FROM work)",
            f"{time.time() - keep_days * 86_400:.6f}",
        )

    def close(self) -> None:
        if isinstance(self._store, sqlite3.Connection):
            with self._lock:
                self._store.close()

    def _opened(self, file: Path) -> sqlite3.Connection:
        try:
            database = open_private_database(file, _SCHEMA)
            # With WAL, readers and the writer do not wait for one another, and a commit needs no flush to the disk.
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            database.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000:.0f}")
        except (OSError, sqlite3.Error) as error:
            raise _unwritable(file, error) from error
        return database

    def _write(self, statement: str, *values: object) -> None:
        with self._connection() as connection:
            connection.execute(statement, values)

    def _row(self, statement: str, *values: object) -> Any:
        """Return a query's first row, or None."""
        with self._connection() as connection:
            return connection.execute(statement, values).fetchone()

    @contextmanager
    def _connection(self, *, alone: bool = False) -> Iterator[Any]:
        """Open a transaction. With `alone`, no other such one runs at the same time, so what it reads stays true."""
        if isinstance(self._store, Records):
            with told(), self._store.transaction(alone=alone) as statements:
                yield statements
            return
        # Keep one connection open: closing the last one writes the whole write-ahead log to the disk, 30 ms each time.
        assert isinstance(self.place, Path)
        if not self._lock.acquire(timeout=2 * _PATIENCE):
            raise ReaderError(f"{self.place} is locked: end the program that holds it.")
        store = self._store
        try:
            with store:
                if alone:
                    store.execute("BEGIN IMMEDIATE")
                yield store
        except sqlite3.Error as error:
            if is_damage(error):
                store.close()
                self._store = self._opened(self.place)
            raise _unwritable(self.place, error) from error
        finally:
            self._lock.release()


def _reply(connection: Any, reply_id: str) -> Reply | None:
    row = connection.execute("SELECT id, kind, messages FROM replies WHERE id = ?", (reply_id,)).fetchone()
    return Reply(row[0], row[1], tuple(map(tuple, json.loads(row[2])))) if row else None


def _unwritable(file: Path, error: Exception) -> ReaderError:
    return ReaderError(f"{file} cannot be written ({error}): mend its permissions, or make room on its disk.")
