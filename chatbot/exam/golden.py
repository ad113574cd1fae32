"""Golden questions as values; `tests/golden/README.md` describes the file format."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeGuard, TypeVar

from ingest import Index

KINDS = (
    "fact", "table", "comparison", "decision", "how-why", "exam", "follow-up", "disagreement", "false-premise", "refusal", "sizing"
)  # fmt: skip
Q = TypeVar("Q")


@dataclass(frozen=True, slots=True)
class GoldenQuestion:
    """One line of a golden file. `value` is a number and its unit; `refused` means that no source has the answer.

    `answered_by` names documents outside the five sources that do answer a `refused` question.
    """

    id: str
    kind: str
    turns: tuple[str, ...]
    required: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    sources: frozenset[str] = frozenset()
    sources_any: frozenset[str] = frozenset()
    refused: bool = False
    choices: frozenset[str] = frozenset()
    value: tuple[float, str] | None = None
    answered_by: frozenset[str] = frozenset()
    file: str = ""
    line: int = 0
    position: int = 1

    @property
    def text(self) -> str:
        """The turns as one text."""
        return "\n".join(self.turns)

    @property
    def topic(self) -> str:
        """The kind, which reports group golden questions by."""
        return self.kind

    @property
    def fingerprint(self) -> str:
        """A hash of what is asked and what must be answered: equal for equal questions."""
        asked = [self.kind, self.turns, self.required, self.forbidden, sorted(self.sources), sorted(self.sources_any)]
        return digest([asked, [self.refused, sorted(self.choices), self.value]])

    @property
    def half(self) -> Literal["tuned", "kept"]:
        """"kept" (held out from tuning) for questions of `kept.jsonl` and of files named `*-kept`, else "tuned"."""
        return "kept" if Path(self.file).stem.rpartition("-")[2] == "kept" else "tuned"

    def is_answered_by(self, documents: Iterable[str]) -> bool:
        """Whether one of these document ids ends with a path in `answered_by`."""
        return any(f"/{document}".endswith(f"/{name}") for document in documents for name in self.answered_by)


def answerable(questions: Iterable[Q], index: Index) -> tuple[Q, ...]:
    """Return the questions without the golden refusals that a document of this index does answer."""
    ids = [document.id for document in index.documents()]
    return tuple(q for q in questions if not (isinstance(q, GoldenQuestion) and q.is_answered_by(ids)))


def digest(value: object) -> str:
    """Return a short hash of a JSON-serialisable value."""
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass")).hexdigest()[:16]


def is_golden(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether an object is a golden question: it has an id, a known kind and at least one turn."""
    if not isinstance(value, Mapping) or not isinstance(value.get("id"), str) or value.get("kind") not in KINDS:
        return False
    turns = value.get("turns")
    return isinstance(turns, list) and bool(turns) and all(isinstance(turn, str) for turn in turns)


def read_golden(value: Mapping[str, Any], line: int = 0) -> GoldenQuestion:
    """Parse a golden question; raises TypeError, KeyError or ValueError for a malformed field."""
    number = value.get("value")
    return GoldenQuestion(
        id=value["id"],
        kind=value["kind"],
        turns=tuple(value["turns"]),
        required=tuple(value.get("required") or ()),
        forbidden=tuple(value.get("forbidden") or ()),
        sources=frozenset(value.get("sources") or ()),
        sources_any=frozenset(value.get("sources_any") or ()),
        refused=value.get("refused", False),
        choices=frozenset(value.get("choices") or ()),
        value=(float(number["number"]), number["unit"]) if number else None,
        answered_by=frozenset(value.get("answered_by") or ()),
        line=line,
    )


def load_questions(path: Path) -> list[GoldenQuestion]:
    """Read the questions of one golden file."""
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    found = [read_golden(json.loads(line), number) for number, line in lines if line.strip()]
    return [replace(q, file=path.name, position=place) for place, q in enumerate(found, start=1)]
