"""A run as a report: scores with their certainty, in all and by group, and what went wrong."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from statistics import mean, median
from typing import Literal, get_args

from chatbot.answer import Footprint
from chatbot.bot import Chatbot
from chatbot.exam.baselines import BaselineScore, Complete, every_baseline
from chatbot.exam.golden import GoldenQuestion
from chatbot.exam.golden_scoring import Asked
from chatbot.exam.question import ExamQuestion, QuestionSet, Skipped
from chatbot.exam.rates import Bin, Score, bins, mcnemar
from chatbot.exam.results import Question, Result, Verdict, score
from chatbot.exam.runs import Identity, identify

Group = Literal["topic", "difficulty", "form", "covered", "file"]
# What questions are grouped by.
GROUPS: tuple[Group, ...] = get_args(Group)


@dataclass(frozen=True, slots=True)
class Report:
    """A run. `shows_kept` is whether the questions of a golden half that is kept aside may be shown one by one.

    `failing_only` marks a run of only those questions that failed before, whose accuracy tells nothing about the exam.
    """

    results: tuple[Result, ...]
    identity: Identity
    skipped: tuple[Skipped, ...] = ()
    baselines: tuple[BaselineScore, ...] = ()
    shows_kept: bool = False
    failing_only: bool = False

    @property
    def total(self) -> Score:
        """The score of all questions."""
        return score([r.verdict for r in self.results])

    def by(self, group: Group) -> dict[str, Score]:
        """The score of each value of a group, by its name; {} where all questions are alike in it."""
        verdicts: dict[str, list[Verdict]] = {}
        for result in self.results:
            value = getattr(result.question, group, None)
            name = ("covered by the corpus" if value else "not covered") if isinstance(value, bool) else value
            verdicts.setdefault(name or "not given", []).append(result.verdict)
        return {name: score(verdicts[name]) for name in sorted(verdicts)} if len(verdicts) > 1 else {}

    @property
    def wrong(self) -> tuple[Result, ...]:
        """What was not right and may be shown: wrong answers first, the surest ahead, then those not given, then errors."""
        rank = ("wrong", "no answer", "error")
        shown = [r for r in self.results if not r.is_right and not self.hides(r.question)]
        return tuple(sorted(shown, key=lambda r: (rank.index(r.verdict), -r.confidence)))

    def hides(self, question: Question) -> bool:
        """Whether a question belongs to a golden half that nobody who tunes may read, and is not to be shown."""
        return not self.shows_kept and isinstance(question, GoldenQuestion) and question.half == "kept"

    @property
    def sealed(self) -> int:
        """How many that were not right are counted and not shown."""
        return sum(not r.is_right for r in self.results) - len(self.wrong)

    @property
    def calibration(self) -> tuple[Bin, ...]:
        """Accuracy by confidence of the answers given."""
        return bins([(r.confidence, r.is_right) for r in self.results if r.verdict in ("right", "wrong")])

    def p_value(self, baseline: BaselineScore) -> float | None:
        """McNemar's p value of the difference from a baseline; None for one that was not counted question by question."""
        if baseline.score is None:
            return None
        exam = [r for r in self.results if isinstance(r.question, ExamQuestion) and r.verdict != "error"]
        right = [(r.is_right, r.question.id in baseline.right) for r in exam]
        return mcnemar(right.count((False, True)), right.count((True, False)))


def build_report(
    bot: Chatbot,
    questions: QuestionSet,
    results: Sequence[Result],
    *,
    identity: Identity | None = None,
    shuffle: int | None = None,
    baselines: bool = True,
    complete: Complete | None = None,
    shows_kept: bool = False,
    failing_only: bool = False,
) -> Report:
    """The report of results; `complete` is the model without passages, for the closed-book baseline.

    Baselines are of exam questions alone, golden ones have no options of their own.
    """
    exam = [q for q in questions if isinstance(q, ExamQuestion)]
    return Report(
        results=tuple(results),
        identity=identity or identify(bot, questions, shuffle=shuffle),
        skipped=questions.skipped,
        baselines=every_baseline(bot, exam, complete) if baselines and exam else (),
        shows_kept=shows_kept,
        failing_only=failing_only,
    )


def golden_asked(results: Sequence[Result]) -> list[Asked]:
    """The golden questions that were answered, as the golden formulas take them."""
    return [
        Asked(r.question, dict(r.answer))
        for r in results
        if isinstance(r.question, GoldenQuestion) and r.answer is not None and r.verdict != "error"
    ]


def usage(results: Sequence[Result]) -> dict[str, float | int | None]:
    """Seconds, tokens, US dollars, and the sums of the footprints; None where nobody counted them."""
    seconds = [r.seconds for r in results if r.verdict != "error"]
    answers = [r.answer for r in results if r.answer]
    tokens = [answer["usage"] or {} for answer in answers]
    footprints = [answer["footprint"] or {} for answer in answers]
    return {
        "seconds_mean": mean(seconds) if seconds else None,
        "seconds_median": median(seconds) if seconds else None,
        **{name: _sum(one.get(name) for one in tokens) for name in ("input_tokens", "output_tokens")},
        "cost": _sum(answer["cost"] for answer in answers),
        **{field.name: _sum(footprint.get(field.name) for footprint in footprints) for field in fields(Footprint)},
    }


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
