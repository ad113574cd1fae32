"""What changed since an earlier run: the questions that flipped, and whether the difference can be chance."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chatbot.answer import ReaderError
from chatbot.exam.rates import mcnemar
from chatbot.exam.results import Result

FILE_NAME = "results.jsonl"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Questions by id: right now and not before, right before and not now; the others by number.

    `not_compared` are those that stand in one run only, changed in between, or met an error in either. `p_value` is McNemar's,
    exact and two-sided.
    """

    gained: tuple[str, ...]
    lost: tuple[str, ...]
    both_right: int
    both_wrong: int
    not_compared: tuple[str, ...]

    @property
    def p_value(self) -> float:
        """How likely so uneven flips are if neither run is better."""
        return mcnemar(len(self.lost), len(self.gained))

    @property
    def compared(self) -> int:
        """The questions that both runs answered."""
        return len(self.gained) + len(self.lost) + self.both_right + self.both_wrong


def compare(results: Sequence[Result], baseline: Path | bytes) -> Comparison:
    """These results against an earlier run's `results.jsonl`, or the folder it lies in; ReaderError where it cannot be read."""
    before = {row["id"]: row for row in read_rows(baseline)}
    found: dict[tuple[bool, bool], list[str]] = {}
    apart = set(before) - {r.question.id for r in results}
    for result in results:
        row = before.get(result.question.id)
        if row is None or row["hash"] != result.question.fingerprint or "error" in (row["verdict"], result.verdict):
            apart.add(result.question.id)
        else:
            found.setdefault((row["verdict"] == "right", result.is_right), []).append(result.question.id)
    return Comparison(
        gained=tuple(found.get((False, True), ())),
        lost=tuple(found.get((True, False), ())),
        both_right=len(found.get((True, True), ())),
        both_wrong=len(found.get((False, False), ())),
        not_compared=tuple(sorted(apart)),
    )


def read_rows(source: Path | bytes) -> list[Mapping[str, Any]]:
    """The lines of a `results.jsonl`; ReaderError where it is none."""
    name, data = ("The baseline", source) if isinstance(source, bytes) else _read(source)
    rows = [_row(line, name) for line in data.splitlines() if line.strip()]
    if not rows:
        raise ReaderError(f"{name} holds no result. Give the {FILE_NAME} that --report wrote.")
    return rows


def _read(file: Path) -> tuple[str, bytes]:
    file = file / FILE_NAME if file.is_dir() else file
    try:
        return str(file), file.read_bytes()
    except OSError as error:
        raise ReaderError(f"{file} cannot be read ({error.strerror}). Give the {FILE_NAME} that --report wrote.") from error


def _row(line: bytes, name: str) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict) or not {"id", "hash", "verdict"} <= set(row):
        raise ReaderError(f"{name} is no list of results. Give the {FILE_NAME} that --report wrote.")
    return row
