"""What came of a question, as a value and as a line of `results.jsonl`, and what changed since an earlier run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from chatbot.answer import ReaderError
from chatbot.exam.golden import GoldenQuestion
from chatbot.exam.question import ExamQuestion
from chatbot.exam.rates import Score, mcnemar

FILE_NAME = "results.jsonl"
Verdict = Literal["right", "wrong", "no answer", "error"]
Question = ExamQuestion | GoldenQuestion


@dataclass(frozen=True, slots=True)
class Result:
    """One question, asked and graded.

    `chosen` are letters as the file has them, whatever order the options were shown in; `order[0]` is the place of what was
    shown as A. `answer` is the answer as `wattwise ask --json` gives it, its letters put back too, each citation with whether
    its quote is `exact`; None after an error. `confidence` lies in 0..1.
    """

    question: Question
    verdict: Verdict
    reason: str = ""
    chosen: tuple[str, ...] = ()
    order: tuple[int, ...] = ()
    confidence: float = 0.0
    answer: Mapping[str, Any] | None = None
    passages: tuple[Mapping[str, Any], ...] = ()
    seconds: float = 0.0

    @property
    def is_right(self) -> bool:
        """Whether it counts as right."""
        return self.verdict == "right"

    @property
    def expected(self) -> str:
        """The key in words."""
        question = self.question
        if isinstance(question, ExamQuestion):
            return ", ".join(question.letters)
        return "refusal" if question.refused else ", ".join(sorted(question.choices)) or "; ".join(question.required)


def score(verdicts: Sequence[Verdict]) -> Score:
    """How many ended how."""
    return Score(verdicts.count("right"), verdicts.count("wrong"), verdicts.count("no answer"), verdicts.count("error"))


_KEPT = tuple(field.name for field in fields(Result) if field.name != "question")


def as_row(result: Result) -> dict[str, Any]:
    """A line of `results.jsonl`."""
    question = result.question
    return {
        "id": question.id,
        "hash": question.fingerprint,
        "file": question.file,
        "line": question.line,
        "topic": question.topic,
        "question": question.text,
        "options": question.options if isinstance(question, ExamQuestion) else (),
        "key": result.expected,
        **{name: getattr(result, name) for name in _KEPT},
    }


def row_line(result: Result) -> str:
    """A result as one line of JSON."""
    return json.dumps(as_row(result), ensure_ascii=False) + "\n"


def from_row(row: Mapping[str, Any], question: Question) -> Result:
    """The result that a line holds for its question."""
    kept: dict[str, Any] = {n: tuple(row[n]) if isinstance(row[n], list) else row[n] for n in _KEPT if n in row}
    return Result(question, **kept)


def read_rows(source: Path | bytes) -> list[Mapping[str, Any]]:
    """The lines of a `results.jsonl`, or of the one in a folder, but what a kill cut off; ReaderError where there is none."""
    name, data = ("The baseline", source) if isinstance(source, bytes) else _read(source)
    rows = [row for line in data.splitlines() if (row := _row(line)) is not None]
    if not rows:
        raise ReaderError(f"{name} holds no result. Give the {FILE_NAME} that --report wrote.")
    return rows


def _read(file: Path) -> tuple[str, bytes]:
    file = file / FILE_NAME if file.is_dir() else file
    try:
        return str(file), file.read_bytes()
    except OSError as error:
        raise ReaderError(f"{file} cannot be read ({error.strerror}). Give the {FILE_NAME} that --report wrote.") from error


def _row(line: bytes) -> Mapping[str, Any] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and {"id", "hash", "verdict"} <= row.keys() else None


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
