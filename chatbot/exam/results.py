"""The result of a question, as a value and as a line of `results.jsonl`, and the comparison with an earlier run."""

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

    `chosen` are letters of the exam file, whatever order the options were shown in; `order[0]` is the index of the option
    shown as A. `answer` is the JSON of `wattwise ask --json`, also with the letters of the file, and with `exact` for each
    citation: whether its quote is exact. It is None if asking failed. `confidence` lies in 0..1.
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
        """The key as text."""
        question = self.question
        if isinstance(question, ExamQuestion):
            return ", ".join(question.letters)
        return "refusal" if question.refused else ", ".join(sorted(question.choices)) or "; ".join(question.required)


def score(verdicts: Sequence[Verdict]) -> Score:
    """Count the verdicts."""
    return Score(verdicts.count("right"), verdicts.count("wrong"), verdicts.count("no answer"), verdicts.count("error"))


_KEPT = tuple(field.name for field in fields(Result) if field.name != "question")


def as_row(result: Result) -> dict[str, Any]:
    """Return the fields of a line of `results.jsonl`."""
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
    """Return a result as one line of JSON; lone surrogates, which a JSON file may have, become "?"."""
    return json.dumps(as_row(result), ensure_ascii=False).encode(errors="replace").decode() + "\n"


def from_row(row: Mapping[str, Any], question: Question) -> Result:
    """Restore the result of a question from its line."""
    kept: dict[str, Any] = {n: tuple(row[n]) if isinstance(row[n], list) else row[n] for n in _KEPT if n in row}
    return Result(question, **kept)


def read_rows(source: Path | bytes) -> list[Mapping[str, Any]]:
    """Read the rows of a `results.jsonl`, or of the one in a folder, without cut-off lines.

    Raises ReaderError if there are none.
    """
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
    """Two runs compared: the ids of questions `gained` (right only now) and `lost` (right only before); others are counted.

    `not_compared` are the ids that are in one run only, changed in between, or met an error in either run.
    """

    gained: tuple[str, ...]
    lost: tuple[str, ...]
    both_right: int
    both_wrong: int
    not_compared: tuple[str, ...]

    @property
    def p_value(self) -> float:
        """McNemar's exact two-sided p-value: the probability of flips at least this uneven if neither run is better."""
        return mcnemar(len(self.lost), len(self.gained))

    @property
    def compared(self) -> int:
        """The number of questions that both runs graded."""
        return len(self.gained) + len(self.lost) + self.both_right + self.both_wrong


def compare(results: Sequence[Result], baseline: Path | bytes | Sequence[Mapping[str, Any]]) -> Comparison:
    """Compare results with an earlier run's `results.jsonl`, its folder or its rows; raises ReaderError if that cannot be read."""
    before = {row["id"]: row for row in (read_rows(baseline) if isinstance(baseline, Path | bytes) else baseline)}
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
