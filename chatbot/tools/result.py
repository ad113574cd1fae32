"""What a tool gives back: JSON for whoever called it, and the evidence that its keys stand for."""

import re
from dataclasses import dataclass, field
from typing import Any

from chatbot.answer import Passage
from chatbot.characters import shown
from chatbot.citations import Evidence
from chatbot.instructions import is_instruction
from ingest import Chunk

_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The JSON object that a tool answers with, and what it can be cited by.

    Each `key` in `content` stands for the piece of evidence in its place: the first, `first_key`, for `evidence[0]`. `notes`
    in `content` are sentences on what was left out, and how to get it.
    """

    content: dict[str, Any]
    evidence: tuple[Evidence, ...]


@dataclass(slots=True)
class Keys:
    """Numbers evidence while a result is put together; the same words get the same key."""

    first: int
    evidence: list[Evidence] = field(default_factory=list)

    def key(self, chunk: Chunk, start: int, end: int, score: float = 1.0) -> int:
        same = next(
            (i for i, e in enumerate(self.evidence) if (e.passage.chunk.id, e.start, e.end) == (chunk.id, start, end)),
            None,
        )
        if same is not None:
            return self.first + same
        number = self.first + len(self.evidence)
        self.evidence.append(Evidence(Passage(number, chunk, score), start, end))
        return number


def as_told(text: str) -> str:
    """A text from a document as it is handed on: what does not show is left out, and so is a title that gives orders."""
    return shown(_HEADING.sub(lambda line: "…" if is_instruction(line.group()) else line.group(), text))


def as_title(text: str) -> str:
    """A title, or "…" for one that gives orders to whoever reads it out."""
    return "…" if is_instruction(text) else shown(text)


def described(chunk: Chunk) -> dict[str, Any]:
    """Where a chunk is from, as every tool names it."""
    document = chunk.document
    source = document.source
    return {
        "document": document.id,
        "source": source.id,
        "title": as_title(source.title),
        "url": source.url,
        "published": source.published,
    }


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
