"""What changed since an earlier run: the questions that flipped, and whether the difference can be chance."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chatbot.exam.rates import mcnemar
from chatbot.exam.results import Result, read_rows


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
