"""What users think of an answer: votes and comments, kept in SQLite beside the index and shared by every surface."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from chatbot.answer import ReaderError
from chatbot.private_files import open_private_database

FILE_NAME = "feedback.sqlite"


@dataclass(frozen=True, slots=True)
class Feedback:
    """One vote. `answer_id` names the answer within its surface; voting on it again replaces the vote.

    `generation` is the index's; `given_at` is UTC in ISO 8601.
    """

    surface: Literal["app", "slack"]
    answer_id: str
    voter: str
    helpful: bool
    comment: str
    question: str
    answer: str
    model: str
    generation: int
    given_at: str = ""


_SCHEMA = (
    f"CREATE TABLE IF NOT EXISTS feedback ({', '.join(f.name for f in fields(Feedback))},"
    " PRIMARY KEY (surface, answer_id, voter))"
)


class FeedbackStore:
    """Votes in one SQLite file; safe for several processes at once. ReaderError when the file cannot be written.

    Only the owner of the file may read it; a damaged one is set aside (see `open_private_database`).
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / FILE_NAME
        with self._connection():
            pass  # A file that cannot be written is found at once.

    @property
    def damaged(self) -> tuple[str, ...]:
        """The names of earlier files of votes beside it, which were damaged and set aside."""
        found = (p.name for p in self.file.parent.glob(f"{self.file.name}.damaged-*"))
        return tuple(sorted(name for name in found if name.rpartition("-")[2].isdigit()))

    def add(self, feedback: Feedback) -> None:
        """Store a vote; the same voter's earlier one on that answer is replaced."""
        values = astuple(feedback)
        stamped = (*values[:-1], values[-1] or datetime.now(UTC).isoformat(timespec="seconds"))
        with self._connection() as connection:
            connection.execute(f"INSERT OR REPLACE INTO feedback VALUES ({', '.join('?' * len(stamped))})", stamped)

    def all(self) -> tuple[Feedback, ...]:
        """Every vote, oldest first."""
        with self._connection() as connection:
            rows = connection.execute("SELECT * FROM feedback ORDER BY given_at, rowid").fetchall()
        return tuple(Feedback(row[0], row[1], row[2], bool(row[3]), *row[4:]) for row in rows)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        # One short connection a call: Streamlit and Slack call from many threads, and what is damaged meanwhile is set aside.
        try:
            with closing(open_private_database(self.file, _SCHEMA)) as connection, connection:
                yield connection
        except (OSError, sqlite3.Error) as error:
            raise ReaderError(f"{self.file} cannot be written ({error}): mend its permissions.") from error
