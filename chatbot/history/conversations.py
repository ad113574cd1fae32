"""Stored conversations, which survive a restart and a page reload: private to each visitor, kept with the index."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from chatbot.answer import Answer, Citation, Passage
from chatbot.history.private_files import RecordStore

FILE_NAME = "conversations.sqlite"
# The most conversations kept per visitor: the oldest make room for the newest.
KEPT = 200
_LONGEST_TITLE = 80
# How many characters of the document are kept before and after a passage, and how many passages of a refusal.
_AROUND, _NEAREST = 700, 3
_RULE = re.compile(r"\|[\s:]*-")
_COLUMNS = "visitor, id, title, updated, exchanges"


@dataclass(frozen=True, slots=True)
class Conversation:
    """A list entry for a conversation; `updated` is UTC in ISO 8601."""

    id: str
    title: str
    updated: str


class ConversationStore(RecordStore):
    """The conversations of all visitors.

    The content of a conversation is a string that the surface writes and reads. A visitor never sees another's
    conversation, whatever id is given.
    """

    file_name = FILE_NAME
    schema = f"CREATE TABLE IF NOT EXISTS conversations ({_COLUMNS}, PRIMARY KEY (visitor, id))"

    def all(self, visitor: str) -> tuple[Conversation, ...]:
        """A visitor's conversations, the latest first."""
        with self._connection() as connection:
            found = connection.execute(
                "SELECT id, title, updated FROM conversations WHERE visitor = ? ORDER BY updated DESC, rowid DESC",
                (visitor,),
            ).fetchall()
        return tuple(Conversation(*row) for row in found)

    def load(self, visitor: str, id: str) -> str | None:
        """The content of a conversation; None if the visitor has no such conversation."""
        with self._connection() as connection:
            row = connection.execute(
                "SELECT exchanges FROM conversations WHERE visitor = ? AND id = ?", (visitor, id)
            ).fetchone()
        return row and str(row[0])

    def save(self, visitor: str, id: str, title: str, exchanges: str) -> None:
        """Store the content of a conversation; an existing conversation keeps its title."""
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        with self._connection() as connection:
            connection.execute(
                f"INSERT INTO conversations ({_COLUMNS}) VALUES (?, ?, ?, ?, ?) ON CONFLICT (visitor, id)"
                " DO UPDATE SET exchanges = excluded.exchanges, updated = excluded.updated",
                (visitor, id, _as_title(title), now, exchanges),
            )
            connection.execute(
                "DELETE FROM conversations WHERE visitor = ? AND id NOT IN"
                f" (SELECT id FROM conversations WHERE visitor = ? ORDER BY updated DESC LIMIT {KEPT})",
                (visitor, visitor),
            )

    def rename(self, visitor: str, id: str, title: str) -> None:
        with self._connection() as connection:
            connection.execute(
                "UPDATE conversations SET title = ? WHERE visitor = ? AND id = ?", (_as_title(title), visitor, id)
            )

    def delete(self, visitor: str, id: str) -> None:
        with self._connection() as connection:
            connection.execute("DELETE FROM conversations WHERE visitor = ? AND id = ?", (visitor, id))


def _as_title(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_TITLE else f"{line[: _LONGEST_TITLE - 1]}…"


def self_contained(answer: Answer) -> Answer:
    """The answer with its documents cut to what is shown, so that it can be stored and stays the same when the index
    changes.

    The offsets are adjusted: quotes stand in the shortened documents as `Citation` promises.
    """
    cited = {passage: _short(passage, answer.citations) for passage in dict.fromkeys(c.passage for c in answer.citations)}
    nearest = answer.passages[:_NEAREST] if answer.refused else ()
    return replace(
        answer,
        citations=tuple(_moved(citation, *cited[citation.passage]) for citation in answer.citations),
        passages=tuple(cited[p][0] if p in cited else _short(p, ())[0] for p in (*cited, *nearest)),
    )


def _short(passage: Passage, citations: tuple[Citation, ...]) -> tuple[Passage, int]:
    """The passage in a document cut to its surroundings, and how many characters its offsets move towards the start."""
    chunk, text = passage.chunk, passage.chunk.document.text
    quoted = [citation for citation in citations if citation.passage == passage]
    start = max(0, min(chunk.start, *(c.start for c in quoted), chunk.start) - _AROUND)
    start = text.rfind("\n", 0, start) + 1
    end = max(chunk.end, *(c.end for c in quoted), chunk.end) + _AROUND
    header = header_above(text, start)
    by = start - len(header)
    document = replace(chunk.document, text=header + text[start:end])
    return replace(passage, chunk=replace(chunk, document=document, start=chunk.start - by, end=chunk.end - by)), by


def header_above(text: str, at: int) -> str:
    """The header lines above offset `at` of the table that it lies in, with line breaks: both of them or, on the rule,
    the names of the columns. It is "" outside tables and elsewhere within a header."""
    begin = text.rfind("\n", 0, at) + 1
    if not text.startswith("|", begin):
        return ""
    while begin and text.startswith("|", before := text.rfind("\n", 0, begin - 1) + 1):
        begin = before
    lines = text[begin:at].splitlines(keepends=True)[:2]
    header = "".join(lines)
    return header if header.endswith("\n") and (len(lines) == 2 or _RULE.match(text, at)) else ""


def _moved(citation: Citation, passage: Passage, by: int) -> Citation:
    return replace(citation, passage=passage, start=citation.start - by, end=citation.end - by)
