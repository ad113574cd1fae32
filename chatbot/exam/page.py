"""The report as one HTML page that opens without a network."""

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from chatbot.characters import shown
from chatbot.exam.flips import Comparison
from chatbot.exam.question import letter
from chatbot.exam.report import GROUPS, Report, exact_quotes, usage
from chatbot.exam.summary import report_summary

if TYPE_CHECKING:
    from jinja2 import Template

_TITLES = {
    "topic": "By topic",
    "difficulty": "By difficulty",
    "form": "By what is asked for",
    "covered": "By coverage of the corpus",
    "file": "By file",
}


def report_page(report: Report, *, comparison: Comparison | None = None) -> str:
    """The whole page: style and plots within, nothing loaded, every text escaped."""
    by_id = {r.question.id: r for r in report.results}
    flips = [("lost", comparison.lost), ("gained", comparison.gained)] if comparison else []
    return _template().render(
        report=report,
        total=report.total,
        summary=report_summary(report, comparison=comparison),
        comparison=comparison,
        flips=[(word, by_id[name]) for word, names in flips for name in names if name in by_id],
        groups=[
            (_TITLES[group], scores, report.best_baselines(group), [(name, s, None) for name, s in scores.items() if s.asked])
            for group in GROUPS
            if (scores := report.by(group))
        ],
        baseline_rows=[
            ("wattwise", report.total, None),
            *((b.name, b.score, b.expected) for b in report.baselines if b.score or b.expected is not None),
        ],
        usage=usage(report.results),
        exact=exact_quotes(report.results),
    )


@cache
def _template() -> "Template":
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_visible)
    environment.filters["share"] = lambda rate: f"{rate.share:.3f}"
    environment.filters["interval"] = lambda rate: "{:.3f} to {:.3f}".format(*rate.interval)
    environment.filters["p_value"] = lambda p: "< 0.001" if p < 0.001 else f"{p:.3f}"
    environment.globals["letter"] = letter
    return environment.from_string(resources.files("chatbot.exam").joinpath("report.html").read_text(encoding="utf-8"))


def _visible(value: object) -> object:
    """What is shown of a value: texts of documents and exam files may hold characters that do not show."""
    return type(value)(shown(value)) if isinstance(value, str) else value
