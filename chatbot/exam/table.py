"""A report for a terminal."""

from chatbot.exam.flips import Comparison
from chatbot.exam.golden import GoldenQuestion
from chatbot.exam.golden_scoring import report as golden_report
from chatbot.exam.rates import Score
from chatbot.exam.report import GROUPS, Report, golden_asked, usage
from chatbot.exam.results import Result

_WIDTH = 24


def report_table(report: Report, *, comparison: Comparison | None = None) -> str:
    """Scores beside the baselines, by group, what changed, and the golden totals of golden files."""
    parts = []
    if any(not isinstance(r.question, GoldenQuestion) for r in report.results):
        parts.append("\n".join(_scores(report)))
    if any(isinstance(r.question, GoldenQuestion) for r in report.results):
        parts.append("\n\n".join(_golden(report)))
    parts.append(_effort(report))
    if comparison is not None:
        parts.append("\n".join(_changes(comparison)))
    return "\n\n".join(part for part in parts if part)


def _scores(report: Report) -> list[str]:
    head = f"{'':{_WIDTH}}  accuracy  95 %             n     right  wrong  none  errors  coverage  precision"
    lines = [head, _row("wattwise", report.total)]
    for baseline in report.baselines:
        share = "" if baseline.expected is None else f"{baseline.expected:.3f}"
        unscored = f"{baseline.name:{_WIDTH}}  {share:>8}  {baseline.note}"
        lines.append(_row(baseline.name, baseline.score) if baseline.score else unscored)
    for group in GROUPS:
        if rows := report.by(group):
            best = report.best_baselines(group)
            lines += ["", f"by {group}"]
            beside = {name: f"  best baseline {rate.share:.3f} ({baseline})" for name, (baseline, rate) in best.items()}
            lines += [_row(f"  {name}", score) + beside.get(name, "") for name, score in rows.items()]
    return lines


def _row(name: str, score: Score) -> str:
    low, high = score.accuracy.interval
    counts = f"{score.right:5}  {score.wrong:5}  {score.silent:4}  {score.errors:6}"
    rates = f"{score.coverage.share:8.3f}  {score.precision.share:9.3f}"
    short = name if len(name) <= _WIDTH else f"{name[: _WIDTH - 1]}…"
    return f"{short:{_WIDTH}}  {score.accuracy.share:8.3f}  {low:.3f} to {high:.3f}  {score.accuracy.total:4}  {counts}  {rates}"


def _golden(report: Report) -> list[str]:
    """The golden report of each file."""
    by_file: dict[str, list[Result]] = {}
    for result in report.results:
        if isinstance(result.question, GoldenQuestion):
            by_file.setdefault(result.question.file, []).append(result)
    return [golden_report(file, asked) for file, rs in by_file.items() if (asked := golden_asked(rs))]


def _effort(report: Report) -> str:
    spent = usage(report.results)
    lines = []
    if spent["seconds_median"] is not None:
        lines.append(f"{spent['seconds_median']:.3f} s a question (median)")
    if spent["input_tokens"] is not None:
        lines.append(f"{spent['input_tokens']} tokens read, {spent['output_tokens']} written")
    if spent["cost"] is not None:
        lines.append(f"{spent['cost']:.4f} USD")
    return ", ".join(lines)


def _changes(comparison: Comparison) -> list[str]:
    lines = [
        f"since the baseline: {len(comparison.gained)} gained, {len(comparison.lost)} lost, of {comparison.compared} compared; "
        f"p = {comparison.p_value:.3g} (McNemar, exact)"
    ]
    lines += [f"  gained  {name}" for name in comparison.gained] + [f"  lost    {name}" for name in comparison.lost]
    if names := comparison.not_compared:
        lines.append(f"  not compared: {', '.join(names[:8])}" + (f" and {len(names) - 8} more" if len(names) > 8 else ""))
    return lines
