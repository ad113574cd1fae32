"""Write a report for the terminal and as files: JSON Lines, JSON, JUnit XML and one self-contained HTML page."""

import json
import os
import re
from dataclasses import asdict
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from chatbot.answer import ReaderError
from chatbot.exam.golden_scoring import citation_precision, citation_recall, exactness, false_answers, wattbot_score
from chatbot.exam.golden_scoring import report as golden_report
from chatbot.exam.question import ExamQuestion, letter
from chatbot.exam.rates import Rate, Score, expected_calibration_error
from chatbot.exam.report import GROUPS, Report, golden_asked, usage
from chatbot.exam.results import FILE_NAME, Comparison, Result, row_line
from chatbot.language.characters import shown

if TYPE_CHECKING:
    from jinja2 import Template

SUMMARY, JUNIT, PAGE = "summary.json", "junit.xml", "report.html"
_WIDTH = 24


def write_report(report: Report, folder: Path, *, comparison: Comparison | None = None) -> tuple[Path, ...]:
    """Write a report in every format into a folder and return the files; raises ReaderError if that fails."""
    texts = {
        FILE_NAME: report_lines(report),
        SUMMARY: json.dumps(report_summary(report, comparison=comparison), indent=1, ensure_ascii=False) + "\n",
        JUNIT: report_junit(report),
        PAGE: report_page(report, comparison=comparison),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            # Write, then rename: a kill leaves the old file or the new one, never a partial one.
            draft = folder / f".{name}.new"
            draft.write_bytes(text.encode(errors="replace"))
            os.replace(draft, folder / name)
    except OSError as error:
        raise ReaderError(f"{folder} cannot be written ({error.strerror}): give --report another folder.") from error
    return tuple(folder / name for name in texts)


def report_lines(report: Report) -> str:
    """Return one line of JSON per question."""
    return "".join(map(row_line, report.results))


# --- for a terminal


def report_table(report: Report, *, comparison: Comparison | None = None) -> str:
    """Return the report as text: scores beside the baselines and by group, golden totals by file, effort, and changes."""
    golden = golden_asked(report.results)
    has_exam = any(isinstance(result.question, ExamQuestion) for result in report.results)
    parts = ["\n".join(_scores(report))] if has_exam else []
    for file in dict.fromkeys(asked.question.file for asked in golden):
        parts.append(golden_report(file, [asked for asked in golden if asked.question.file == file]))
    parts.append(_effort(report))
    if comparison is not None:
        parts.append("\n".join(_changes(comparison)))
    return "\n\n".join(part for part in parts if part)


def _scores(report: Report) -> list[str]:
    head = f"{'':{_WIDTH}}  accuracy  95 %             n     right  wrong  none  errors  coverage  precision"
    lines = [head, _score_line("wattwise", report.total)]
    for baseline in report.baselines:
        share = "" if baseline.expected is None else f"{baseline.expected:.3f}"
        unscored = f"{baseline.name:{_WIDTH}}  {share:>8}  {baseline.note}"
        lines.append(_score_line(baseline.name, baseline.score) if baseline.score else unscored)
    for group in GROUPS:
        if rows := report.by(group):
            lines += ["", f"by {group}", *(_score_line(f"  {name}", score) for name, score in rows.items())]
    return lines


def _score_line(name: str, score: Score) -> str:
    low, high = score.accuracy.interval
    counts = f"{score.right:5}  {score.wrong:5}  {score.silent:4}  {score.errors:6}"
    rates = f"{score.coverage.share:8.3f}  {score.precision.share:9.3f}"
    short = name if len(name) <= _WIDTH else f"{name[: _WIDTH - 1]}…"
    return f"{short:{_WIDTH}}  {score.accuracy.share:8.3f}  {low:.3f} to {high:.3f}  {score.accuracy.total:4}  {counts}  {rates}"


_EFFORT = {
    "seconds_median": "{:.3f} s a question (median)",
    "input_tokens": "{} tokens read",
    "output_tokens": "{} written",
    "cost": "{:.4f} USD",
}


def _effort(report: Report) -> str:
    spent = usage(report.results)
    return ", ".join(told.format(spent[name]) for name, told in _EFFORT.items() if spent[name] is not None)


def _changes(comparison: Comparison) -> list[str]:
    lines = [
        f"since the baseline: {len(comparison.gained)} gained, {len(comparison.lost)} lost, of {comparison.compared} compared; "
        f"p = {comparison.p_value:.3g} (McNemar, exact)"
    ]
    lines += [f"  gained  {name}" for name in comparison.gained] + [f"  lost    {name}" for name in comparison.lost]
    if names := comparison.not_compared:
        lines.append(f"  not compared: {', '.join(names[:8])}" + (f" and {len(names) - 8} more" if len(names) > 8 else ""))
    return lines


# --- summary.json


def report_summary(report: Report, *, comparison: Comparison | None = None) -> dict[str, Any]:
    """Return the content of `summary.json`: everything except the individual questions."""
    answers = [dict(r.answer) for r in report.results if r.answer]
    golden = golden_asked(report.results)
    return {
        "identity": asdict(report.identity),
        "failing_only": report.failing_only,
        "total": _score(report.total),
        **{f"by_{group}": {name: _score(score) for name, score in report.by(group).items()} for group in GROUPS},
        "baselines": [
            {"name": b.name, "score": b.score and _score(b.score), "expected": b.expected, "note": b.note, "p_value": report.p_value(b)}
            for b in report.baselines
        ],
        "calibration": [{**asdict(one), "accuracy": _rate(one.accuracy)} for one in report.calibration],
        "expected_calibration_error": expected_calibration_error(report.calibration),
        "citations": {
            "recall": _rate(citation_recall(answers)),
            "precision": _rate(citation_precision(answers)),
            "exact": _rate(exactness(answers)),
        },
        "golden": {"wattbot": wattbot_score(golden), "false_answers": _rate(false_answers(golden))} if golden else None,
        "usage": usage(report.results),
        "skipped": [asdict(skipped) for skipped in report.skipped],
        "comparison": {**asdict(comparison), "p_value": comparison.p_value} if comparison else None,
    }


def _rate(rate: Rate) -> dict[str, Any]:
    return {"share": rate.share, "interval": list(rate.interval), "hits": rate.hits, "n": rate.total}


def _score(score: Score) -> dict[str, Any]:
    counts = {"right": score.right, "wrong": score.wrong, "no_answer": score.silent, "errors": score.errors}
    return counts | {name: _rate(getattr(score, name)) for name in ("accuracy", "coverage", "precision")}


# --- junit.xml


def report_junit(report: Report) -> str:
    """Return JUnit XML: a wrong or missing answer is a failure, a model error an error, an unusable question skipped."""
    total = report.total
    suite = ElementTree.Element(
        "testsuite",
        name=f"wattwise exam, {report.identity.model}",
        tests=str(len(report.results) + len(report.skipped)),
        failures=str(total.wrong + total.silent),
        errors=str(total.errors),
        skipped=str(len(report.skipped)),
        time=f"{sum(r.seconds for r in report.results):.3f}",
    )
    for result in report.results:
        _add_case(suite, result, hidden=report.hides(result.question))
    for skipped in report.skipped:
        case = ElementTree.SubElement(suite, "testcase", classname=_xml(skipped.file), name=f"line {skipped.line}")
        ElementTree.SubElement(case, "skipped", message=_xml(skipped.reason))
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _add_case(suite: ElementTree.Element, result: Result, *, hidden: bool) -> None:
    question = result.question
    classname = _xml(".".join(filter(None, [question.file, question.topic])))
    case = ElementTree.SubElement(suite, "testcase", classname=classname, name=_xml(question.id), time=f"{result.seconds:.3f}")
    if not result.is_right:
        kind = "error" if result.verdict == "error" else "failure"
        failure = ElementTree.SubElement(case, kind, type=result.verdict, message="" if hidden else _xml(result.reason))
        failure.text = "" if hidden else _xml(f"{question.text}\n\nkey: {result.expected}")


def _xml(text: str) -> str:
    """Replace the characters that XML 1.0 does not allow."""
    return re.sub(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


# --- report.html


def report_page(report: Report, *, comparison: Comparison | None = None) -> str:
    """Return the whole HTML page: styles and plots inline, nothing loaded, every text escaped."""
    by_id = {r.question.id: r for r in report.results}
    flips = [("lost", comparison.lost), ("gained", comparison.gained)] if comparison else []
    return _template().render(
        report=report,
        total=report.total,
        summary=report_summary(report, comparison=comparison),
        comparison=comparison,
        flips=[(word, by_id[name]) for word, names in flips for name in names if name in by_id],
        groups=[(f"By {group}", scores) for group in GROUPS if (scores := report.by(group))],
        baseline_rows=[("wattwise", report.total), *((b.name, b.score or b.expected) for b in report.baselines if b.score or b.expected is not None)],
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
    """Remove invisible characters from text values: documents and exam files may contain some."""
    return type(value)(shown(value)) if isinstance(value, str) else value
