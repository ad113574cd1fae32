"""The golden questions as values; `tests/golden/README.md` describes the files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KINDS = ("fact", "comparison", "decision", "exam", "follow-up", "disagreement", "false-premise", "refusal")


@dataclass(frozen=True, slots=True)
class Question:
    """One line of a golden file. `value` is a number and its unit."""

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


def load_questions(path: Path) -> list[Question]:
    return [_question(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _question(line: dict[str, Any]) -> Question:
    value = line.get("value")
    return Question(
        id=line["id"],
        kind=line["kind"],
        turns=tuple(line["turns"]),
        required=tuple(line.get("required") or ()),
        forbidden=tuple(line.get("forbidden") or ()),
        sources=frozenset(line.get("sources") or ()),
        sources_any=frozenset(line.get("sources_any") or ()),
        refused=line.get("refused", False),
        choices=frozenset(line.get("choices") or ()),
        value=(float(value["number"]), value["unit"]) if value else None,
    )
