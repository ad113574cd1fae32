"""The report of a run: scores with confidence intervals, in total and by group, and what went wrong."""

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
GROUPS: tuple[Group, ...] = get_args(Group)


@dataclass(frozen=True, slots=True)
class Report:
    """A run to report. `shows_kept` allows held-out golden questions to be shown one by one.

    `failing_only` marks a run of only those questions that failed before; its accuracy says nothing about the exam.
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
        """Return the score for each value of a group, by its name; {} if all questions have the same value."""
        verdicts: dict[str, list[Verdict]] = {}
        for result in self.results:
            value = getattr(result.question, group, None)
            name = ("covered by the corpus" if value else "not covered") if isinstance(value, bool) else value
            verdicts.setdefault(name or "not given", []).append(result.verdict)
        return {name: score(verdicts[name]) for name in sorted(verdicts)} if len(verdicts) > 1 else {}

    @property
    def wrong(self) -> tuple[Result, ...]:
        """The results that were not right and may be shown.

        Wrong answers come first, then missing ones, then errors, each with the most confident first.
        """
        rank = ("wrong", "no answer", "error")
        shown = [r for r in self.results if not r.is_right and not self.hides(r.question)]
        return tuple(sorted(shown, key=lambda r: (rank.index(r.verdict), -r.confidence)))

    def hides(self, question: Question) -> bool:
        """Whether a golden question is held out from tuning and therefore must not be shown."""
        return not self.shows_kept and isinstance(question, GoldenQuestion) and question.half == "kept"

    @property
    def sealed(self) -> int:
        """The number of results that were not right and are hidden."""
        return sum(not r.is_right for r in self.results) - len(self.wrong)

    @property
    def calibration(self) -> tuple[Bin, ...]:
        """Accuracy by confidence bin, over the answers given."""
        return bins([(r.confidence, r.is_right) for r in self.results if r.verdict in ("right", "wrong")])

    def p_value(self, baseline: BaselineScore) -> float | None:
        """Return McNemar's p-value for the difference from a baseline; None for one without results per question."""
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
    """Build the report of results; `complete` is the model without passages, for the closed-book baseline.

    Baselines cover exam questions only, because golden ones have no options of their own.
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
    """Return the golden questions that got an answer, in the form that golden scoring takes."""
    return [
        Asked(r.question, dict(r.answer))
        for r in results
        if isinstance(r.question, GoldenQuestion) and r.answer is not None and r.verdict != "error"
    ]


def usage(results: Sequence[Result]) -> dict[str, float | int | None]:
    """Return mean and median seconds, and total tokens, US dollars and footprints; None for what was not counted."""
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
