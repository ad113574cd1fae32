"""A report as one JSON object: everything but the single questions."""

from dataclasses import asdict
from typing import Any

from chatbot.exam.flips import Comparison
from chatbot.exam.golden_scoring import citation_precision, citation_recall, false_answers, wattbot_score
from chatbot.exam.rates import Rate, Score
from chatbot.exam.report import GROUPS, Group, Report, exact_quotes, golden_asked, usage


def report_summary(report: Report, *, comparison: Comparison | None = None) -> dict[str, Any]:
    """What `summary.json` holds."""
    answers = [dict(r.answer) for r in report.results if r.answer]
    golden = golden_asked(report.results)
    return {
        "identity": asdict(report.identity),
        "failing_only": report.failing_only,
        "total": score_json(report.total),
        **{f"by_{group}": _group(report, group) for group in GROUPS},
        "baselines": [
            {
                "name": b.name,
                "score": score_json(b.score) if b.score else None,
                "expected": b.expected,
                "note": b.note,
                "p_value": report.p_value(b),
            }
            for b in report.baselines
        ],
        "calibration": [
            {"low": b.low, "high": b.high, "confidence": b.confidence, "accuracy": rate_json(b.accuracy)}
            for b in report.calibration
        ],
        "expected_calibration_error": report.calibration_error,
        "coverage_curve": [
            {"threshold": p.threshold, "coverage": p.coverage, "accuracy": rate_json(p.accuracy)}
            for p in report.coverage_curve
        ],
        "citations": {
            "recall": rate_json(citation_recall(answers)),
            "precision": rate_json(citation_precision(answers)),
            "exact": rate_json(exact_quotes(report.results)),
        },
        "golden": {"wattbot": wattbot_score(golden), "false_answers": rate_json(false_answers(golden))} if golden else None,
        "proof_found": rate_json(report.proofs) if report.proofs else None,
        "usage": usage(report.results),
        "skipped": [asdict(skipped) for skipped in report.skipped],
        "comparison": {**asdict(comparison), "p_value": comparison.p_value} if comparison else None,
    }


def _group(report: Report, group: Group) -> dict[str, Any]:
    best = report.best_baselines(group)
    return {
        name: {
            **score_json(score),
            "best_baseline": {"name": best[name][0], **rate_json(best[name][1])} if name in best else None,
        }
        for name, score in report.by(group).items()
    }


def rate_json(rate: Rate) -> dict[str, Any]:
    """A rate with its interval."""
    return {"share": rate.share, "interval": list(rate.interval), "hits": rate.hits, "n": rate.total}


def score_json(score: Score) -> dict[str, Any]:
    """A score with its rates."""
    counts = {"right": score.right, "wrong": score.wrong, "no_answer": score.silent, "errors": score.errors}
    return counts | {name: rate_json(getattr(score, name)) for name in ("accuracy", "coverage", "precision")}
