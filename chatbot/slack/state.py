"""What several processes and restarts must agree on, in one SQLite file beside the index or in its database: claims, work, threads, answers."""

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
from chatbot.private_files import is_damage, open_private_database, told, upsert
from chatbot.slack.events import Asked, asked_from_json
from ingest import Database, Place, Records

FILE_NAME = "slack.sqlite"
# Slack repeats an event for an hour at the most.
_CLAIMS_KEPT = 2 * 86_400
# Whoever has waited for so long does not wait any more.
_WORK_KEPT = 86_400
_WINDOW = 60.0
# A process renews its leases every few seconds; what it has not renewed for so long is taken over by another.
LEASE = 15.0
# An event must be acknowledged within three seconds, also while somebody else writes.
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
    """A passage as an answer used it; `quotes` are the words cited from it."""

    number: int
    title: str
    place: str
    url: str
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


@dataclass(frozen=True, slots=True)
class Reply:
    """What is said to a question, as messages of blocks; kept until Slack has taken it all. An answer's id is that of its `KeptAnswer`."""

    id: str
    kind: ReplyKind
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """A question that was taken on and is not done: how often it was begun, its open stream, and its finished reply."""

    asked: Asked
    attempts: int = 0
    stream: str = ""
    reply: Reply | None = None


class SlackState:
    """Safe for many threads and processes at once. ReaderError when it cannot be written, or not soon enough.

    Only the owner of the file may read it; a damaged one is set aside (see `open_private_database`).
    """

    def __init__(self, index: Place) -> None:
        self._owner = uuid4().hex
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

    def begin(self, asked: Asked) -> None:
        """Note a question that was taken on; until it is finished this process holds a lease on it."""
        now, about = time.time(), json.dumps(asdict(asked))
        row = (asked.key, now, asked.channel, asked.thread, about, self._owner, now + LEASE, 0, 0, "", "")
        self._write(upsert("work", _WORK, "key"), *row)

    def finish(self, key: str) -> None:
        self._write("DELETE FROM work WHERE key = ? AND owner = ?", key, self._owner)

    def streaming(self, key: str, channel: str, thread: str, ts: str) -> None:
        """Note the message that an answer is streamed into."""
        self._write("UPDATE work SET stream = ? WHERE key = ?", ts, key)
        self.posted(channel, ts, thread)

    def is_streamed(self, channel: str, ts: str) -> bool:
        """Whether a message is what somebody's answer is streamed into."""
        return self._row("SELECT 1 FROM work WHERE channel = ? AND stream = ?", channel, ts) is not None

    def keep_reply(self, key: str, reply: Reply) -> None:
        """Keep what is to be said to a question: it is sent from now on, whatever becomes of this process."""
        row = (reply.id, time.time(), reply.kind, json.dumps(reply.messages, ensure_ascii=False))
        with self._connection() as connection:
            connection.execute(upsert("replies", "id, at, kind, messages", "id"), row)
            connection.execute("UPDATE work SET reply = ? WHERE key = ?", (reply.id, key))

    def reply(self, reply_id: str) -> Reply | None:
        with self._connection() as connection:
            return _reply(connection, reply_id)

    def is_wanted(self, key: str) -> bool:
        """Whether a question is still this process's to answer: not stopped, and not taken over by another one."""
        return bool(self._row("SELECT owner, stopped FROM work WHERE key = ?", key) == (self._owner, 0))

    def is_stopped(self, key: str) -> bool:
        """Whether a person has stopped the answer to a question."""
        return bool(self._row("SELECT stopped FROM work WHERE key = ?", key) == (1,))

    def renew(self, seconds: float = 0.0) -> None:
        """Hold what this process works on for so much longer, or for the length of a lease."""
        self._write("UPDATE work SET until = ? WHERE owner = ?", time.time() + (seconds or LEASE), self._owner)

    def release(self) -> None:
        """Leave what is not done to whoever comes next."""
        self._write("UPDATE work SET until = 0, owner = '' WHERE owner = ?", self._owner)

    def take_over(self) -> list[Work]:
        """The questions that another process took on and does not hold any more; this one holds them now."""
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
        """From now on the thread's messages may be questions."""
        self._set_thread(channel, thread, "followed")

    def silence(self, channel: str, thread: str) -> None:
        """From now on the thread is left alone, until the next mention."""
        self._set_thread(channel, thread, "silenced")
        self.stop(channel, thread)

    def _set_thread(self, channel: str, thread: str, state: ThreadState) -> None:
        self._write(upsert("threads", "channel, thread, state", "channel, thread"), channel, thread, state)

    def stop(self, channel: str, thread: str) -> None:
        """Have nobody go on with what is being answered in a thread."""
        self._write("UPDATE work SET stopped = 1 WHERE channel = ? AND thread = ?", channel, thread)

    def keep(self, answer: KeptAnswer) -> None:
        excerpts = json.dumps([asdict(e) for e in answer.excerpts], ensure_ascii=False)
        row = (answer.id, time.time(), answer.question, answer.text, answer.model, answer.generation, excerpts)
        self._write(upsert("answers", "id, at, question, text, model, generation, excerpts", "id"), *row)

    def kept(self, answer_id: str) -> KeptAnswer | None:
        """The answer of an id, None when it is too old or was never given."""
        row = self._row("SELECT id, question, text, model, generation, excerpts FROM answers WHERE id = ?", answer_id)
        if row is None:
            return None
        excerpts = (
            Excerpt(e["number"], e["title"], e["place"], e["url"], tuple(e["quotes"]), e["text"]) for e in json.loads(row[5])
        )
        return KeptAnswer(row[0], row[1], row[2], row[3], row[4], tuple(excerpts))

    def posted(self, channel: str, ts: str, thread: str) -> None:
        """Remember which thread a message of ours stands in: a reaction names the message only."""
        row = (channel, ts, thread, time.time())
        self._write(upsert("messages", "channel, ts, thread, at", "channel, ts"), *row)

    def thread_of(self, channel: str, ts: str) -> str:
        """The thread of a message of ours, or that of a thread's first message; empty for others."""
        row = self._row(
            "SELECT thread FROM messages WHERE channel = ? AND ts = ?"
            " UNION SELECT thread FROM threads WHERE channel = ? AND thread = ?",
            *(channel, ts, channel, ts),
        )
        return row[0] if row else ""

    def forget(self, keep_days: int) -> None:
        """Delete what is older than it is kept."""
        kept = [("claims", _CLAIMS_KEPT), ("asked", _WINDOW), ("work", _WORK_KEPT)]
        kept += [(table, keep_days * 86_400.0) for table in ("answers", "messages", "replies")]
        for table, seconds in kept:
            self._write(f"DELETE FROM {table} WHERE at < ?", time.time() - seconds)

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
            database.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000:.0f}")
        except (OSError, sqlite3.Error) as error:
            raise _unwritable(file, error) from error
        return database

    def _write(self, statement: str, *values: object) -> None:
        with self._connection() as connection:
            connection.execute(statement, values)

    def _row(self, statement: str, *values: object) -> Any:
        """The first row that a query finds, or None."""
        with self._connection() as connection:
            return connection.execute(statement, values).fetchone()

    @contextmanager
    def _connection(self, *, alone: bool = False) -> Iterator[Any]:
        """A transaction; one that is `alone` reads what no other such one changes meanwhile."""
        if isinstance(self._store, Records):
            with told(), self._store.transaction(alone=alone) as statements:
                yield statements
            return
        # One connection, kept open: closing the last one writes the whole log to the disk, 30 ms each time.
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
