"""User feedback on answers: votes and comments, kept with the index and shared by every surface."""

from dataclasses import astuple, dataclass, fields, replace
from datetime import UTC, datetime
from typing import Literal

from chatbot.history.private_files import RecordStore, upsert
from ingest import Database

FILE_NAME = "feedback.sqlite"


@dataclass(frozen=True, slots=True)
class Feedback:
    """One vote. `answer_id` identifies the answer within its surface; a voter's next vote on it replaces this one.

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


_COLUMNS = ", ".join(field.name for field in fields(Feedback))


class FeedbackStore(RecordStore):
    """Votes, in one place for all surfaces."""

    file_name = FILE_NAME
    schema = f"CREATE TABLE IF NOT EXISTS feedback ({_COLUMNS}, PRIMARY KEY (surface, answer_id, voter))"

    @property
    def damaged(self) -> tuple[str, ...]:
        """The names of earlier vote files beside this one that were damaged and set aside."""
        if isinstance(self.place, Database):
            return ()
        found = (p.name for p in self.place.parent.glob(f"{self.place.name}.damaged-*"))
        return tuple(sorted(name for name in found if name.rpartition("-")[2].isdigit()))

    def add(self, feedback: Feedback) -> None:
        """Store a vote; it replaces an earlier one by the same voter on the same answer."""
        given_at = feedback.given_at or datetime.now(UTC).isoformat(timespec="seconds")
        row = astuple(replace(feedback, given_at=given_at))
        with self._connection() as connection:
            # Booleans are stored as integers: SQLite has no boolean type, and PostgreSQL does not convert between the two.
            numbers = [int(value) if isinstance(value, bool) else value for value in row]
            connection.execute(upsert("feedback", _COLUMNS, "surface, answer_id, voter"), numbers)

    def all(self) -> tuple[Feedback, ...]:
        """Every vote, oldest first."""
        with self._connection() as connection:
            rows = connection.execute(f"SELECT {_COLUMNS} FROM feedback ORDER BY given_at, rowid").fetchall()
        return tuple(Feedback(row[0], row[1], row[2], bool(row[3]), *row[4:]) for row in rows)
