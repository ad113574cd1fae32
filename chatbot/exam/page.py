"""The report as one HTML page that opens without a network."""

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from chatbot.characters import shown
from chatbot.exam.flips import Comparison
from chatbot.exam.plots import Whisker, calibration_plot, coverage_plot, whisker_plot
from chatbot.exam.rates import Rate
from chatbot.exam.report import GROUPS, Report, exact_quotes, usage
from chatbot.exam.results import Result
from chatbot.exam.summary import report_summary

if TYPE_CHECKING:
    from jinja2 import Template

MOST_PASSAGES = 5


def report_page(report: Report, *, comparison: Comparison | None = None) -> str:
    """The whole page: style and plots within, nothing loaded, every text escaped."""
    by_id = {r.question.id: r for r in report.results}
    return _template().render(
        report=report,
        total=report.total,
        summary=report_summary(report, comparison=comparison),
        comparison=comparison,
        flips=[(word, by_id[name]) for word, names in _flips(comparison) for name in names if name in by_id],
        groups=[(_TITLES[g], report.by(g), report.best_baselines(g)) for g in GROUPS if report.by(g)],
        usage=usage(report.results),
        exact=exact_quotes(report.results),
        baseline_plot=_baseline_plot(report),
        group_plots={_TITLES[g]: _group_plot(report, g) for g in GROUPS if report.by(g)},
        calibration_plot=calibration_plot(report.calibration),
        coverage_plot=coverage_plot(report.coverage_curve),
        most_passages=MOST_PASSAGES,
    )


_TITLES = {
    "topic": "By topic",
    "difficulty": "By difficulty",
    "form": "By what is asked for",
    "covered": "By coverage of the corpus",
    "file": "By file",
}


@cache
def _template() -> "Template":
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_visible
    )
    environment.filters["share"] = lambda rate: f"{rate.share:.3f}"
    environment.filters["interval"] = lambda rate: "{:.3f} to {:.3f}".format(*rate.interval)
    environment.filters["p_value"] = lambda p: "< 0.001" if p < 0.001 else f"{p:.3f}"
    environment.globals["letter"] = lambda place: chr(ord("A") + place)
    environment.globals["cited"] = _cited
    return environment.from_string(resources.files("chatbot.exam").joinpath("report.html").read_text(encoding="utf-8"))


def _visible(value: object) -> object:
    """What is shown of a value: texts of documents and exam files may hold characters that do not show."""
    return type(value)(shown(value)) if isinstance(value, str) else value


def _flips(comparison: Comparison | None) -> list[tuple[str, tuple[str, ...]]]:
    return [("lost", comparison.lost), ("gained", comparison.gained)] if comparison else []


def _cited(result: Result) -> list[dict[str, Any]]:
    """The citations of an answer, each number once."""
    citations = result.answer["citations"] if result.answer else []
    first = {c["number"]: c for c in reversed(citations)}
    return [first[number] for number in sorted(first)]


def _baseline_plot(report: Report) -> str:
    rows = [_whisker("wattwise", report.total.accuracy, strong=True)]
    for baseline in report.baselines:
        if baseline.score is not None:
            rows.append(_whisker(baseline.name, baseline.score.accuracy))
        elif baseline.expected is not None:
            rows.append(Whisker(baseline.name, baseline.expected, None, None))
    return whisker_plot(rows, "Accuracy beside the baselines")


def _group_plot(report: Report, group: Any) -> str:
    rows = [_whisker(name, score.accuracy) for name, score in report.by(group).items() if score.asked]
    return whisker_plot(rows, _TITLES[group])


def _whisker(name: str, rate: Rate, *, strong: bool = False) -> Whisker:
    low, high = rate.interval
    return Whisker(name, rate.share, low, high, strong)
