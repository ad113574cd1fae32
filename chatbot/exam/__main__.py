"""The command line: `wattwise exam FILE…`."""

import argparse
import json
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from chatbot.answer import ReaderError
from chatbot.bot import Chatbot
from chatbot.exam.baselines import completer
from chatbot.exam.golden import answerable
from chatbot.exam.question import QuestionSet
from chatbot.exam.reading import ACCEPTED_SUFFIXES, read_questions, with_coverage
from chatbot.exam.report import Report, build_report
from chatbot.exam.results import FILE_NAME, compare, read_rows
from chatbot.exam.runs import identify, run
from chatbot.exam.writing import PAGE, report_summary, report_table, write_report
from chatbot.settings import Settings, settings_from
from ingest import CorpusError, place_at

ONLY_FAILING = "only-failing"
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")


def main(arguments: Sequence[str] | None = None) -> int:
    """Score exam files and return the exit code.

    It is 1 if the run failed, a file of a folder could not be read, a question met an error or the accuracy is under `--min-accuracy`, and 2 for wrong use.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    if wrong := _wrong_use(options):
        print(wrong, file=sys.stderr)
        return 2
    try:
        return _examine(options)
    except (ReaderError, CorpusError) as error:
        print(error, file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wattwise exam",
        description="How accurate is it, with what certainty, and what changed? Scores a model on exam files.",
        epilog=f"Forms: {' '.join(ACCEPTED_SUFFIXES)}; a folder stands for the files in it.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="exam or golden files, or folders of them")
    common = settings_from(os.environ, Settings)
    parser.add_argument("--model", default=common.model, metavar="M")
    parser.add_argument("--index", type=place_at, default=common.index, metavar="PLACE")
    parser.add_argument("--report", type=Path, metavar="DIR", help="write results.jsonl, summary.json, junit.xml, report.html; the same run goes on there after a kill")  # fmt: skip
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="results.jsonl of an earlier run: what flipped since")
    parser.add_argument("--min-accuracy", type=float, metavar="X", help="exit with 1 under this accuracy, 0 to 1")
    parser.add_argument("--shuffle", type=int, metavar="SEED", help="shuffle the options; the report has them as written")
    parser.add_argument("--only-failing", action="store_true", help="ask only what was not right in --baseline, or else in --report")  # fmt: skip
    parser.add_argument("--half", choices=("all", "tuned", "kept"), default="all", help="odd questions of each file, or even ones")  # fmt: skip
    parser.add_argument("--covered", type=Path, metavar="FILE", help="ids, one a line, of what the corpus covers: scored apart")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N questions")
    parser.add_argument("--no-baselines", action="store_true", help="without chance, always B, longest option, closed book, retrieval only")  # fmt: skip
    parser.add_argument("--fresh", action="store_true", help="ask again what --report already holds")
    parser.add_argument("--json", action="store_true", help="print summary.json")
    return parser


def _wrong_use(options: argparse.Namespace) -> str:
    if options.min_accuracy is not None and not 0 <= options.min_accuracy <= 1:
        return f"--min-accuracy is {options.min_accuracy:g}: it takes a share from 0 to 1, for example 0.7."
    if options.limit is not None and options.limit < 1:
        return f"--limit is {options.limit}: it takes a number of questions, at least 1."
    if options.only_failing and options.baseline is None and options.report is None:
        return "--only-failing needs an earlier run: name its folder with --report, or its results.jsonl with --baseline."
    if options.only_failing and options.min_accuracy is not None:
        return "--min-accuracy says nothing about questions picked because they failed: leave --only-failing out."
    return ""


def _examine(options: argparse.Namespace) -> int:
    questions = read_questions(options.files, half=options.half)
    for skipped in questions.skipped:
        print(f"{skipped.file}, line {skipped.line}: {skipped.reason}: not asked." if skipped.line else skipped.reason, file=sys.stderr)
    if options.covered:
        questions = with_coverage(questions, _ids(options.covered, {q.id for q in questions}))
    folder: Path | None = options.report
    if options.only_failing:
        questions = _failing(questions, options.baseline or options.report)
        folder = folder / ONLY_FAILING if folder else None
    if folder and options.limit and not options.fresh:
        _spare(folder, options.limit)
    before = read_rows(options.baseline) if options.baseline else ()  # read first: this run may write its own results there
    bot = Chatbot.open(options.index, model=options.model)
    questions = replace(questions, questions=answerable(questions, bot.index)[: options.limit])
    report = _report(bot, questions, folder, options)
    comparison = compare(report.results, before) if before else None
    if folder is not None:
        write_report(report, folder, comparison=comparison)
        print(f"The report is {folder / PAGE}.", file=sys.stderr)
    if report.failing_only and not options.json:
        print("Only questions that failed before were asked: this is no accuracy of the exam.", file=sys.stderr)
    print(json.dumps(report_summary(report, comparison=comparison), ensure_ascii=False) if options.json else report_table(report, comparison=comparison))
    return _exit_code(report, options)


def _report(bot: Chatbot, questions: QuestionSet, folder: Path | None, options: argparse.Namespace) -> Report:
    from tqdm import tqdm

    identity = identify(bot, questions, shuffle=options.shuffle, settings=_settings(os.environ))
    answers = run(bot, questions.questions, folder, identity=identity, shuffle=options.shuffle, fresh=options.fresh)
    # `disable=None` shows the bar on terminals only.
    results = list(tqdm(answers, total=len(questions), unit="question", disable=None, file=sys.stderr))
    return build_report(
        bot,
        questions,
        results,
        identity=identity,
        baselines=not options.no_baselines,
        complete=completer(options.model, os.environ) if not options.no_baselines else None,
        shows_kept=options.half == "kept",
        failing_only=options.only_failing,
    )


def _settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the `WATTWISE_*` variables that can change answers.

    Secrets are left out, and so are the index and the model, which the identity of a run holds anyway.
    """
    ours = {name: value for name, value in environment.items() if name.startswith("WATTWISE_")}
    apart = ("WATTWISE_INDEX", "WATTWISE_MODEL", "WATTWISE_LOG", "WATTWISE_SEEDS", "WATTWISE_SLACK_", "WATTWISE_APP_")
    return {n: v for n, v in ours.items() if not n.startswith(apart) and not any(s in n.upper() for s in _SECRET)}


def _spare(folder: Path, limit: int) -> None:
    """Raise ReaderError if the folder holds more results than a run of the first questions would leave there."""
    file = folder / FILE_NAME
    held = len(file.read_bytes().splitlines()) if file.is_file() else 0
    if held > limit:
        raise ReaderError(f"{folder} holds {held} results, and --limit {limit} would replace them: give --report another folder, or add --fresh.")


def _failing(questions: QuestionSet, before: Path) -> QuestionSet:
    """Return the questions that an earlier run did not get right."""
    failed = {row["id"] for row in read_rows(before) if row["verdict"] != "right"}
    kept = tuple(q for q in questions if q.id in failed)
    if not kept:
        raise ReaderError(f"No question failed in {before / FILE_NAME if before.is_dir() else before}.")
    return replace(questions, questions=kept)


def _ids(file: Path, known: Collection[str]) -> frozenset[str]:
    """Return the known id, or else the first word, of each line that is neither blank nor a comment."""
    try:
        lines = map(str.strip, file.read_text(encoding="utf-8-sig").splitlines())
    except (OSError, UnicodeDecodeError) as error:
        raise ReaderError(f"{file} cannot be read: give a text file with one id a line.") from error
    return frozenset(line if line in known else line.split()[0] for line in lines if line and not line.startswith("#"))


def _exit_code(report: Report, options: argparse.Namespace) -> int:
    total = report.total
    failed = int(any(not skipped.line for skipped in report.skipped))
    if total.errors:
        first = next(r.reason for r in report.results if r.verdict == "error")
        again = " The same command asks them again." if options.report else ""
        print(f"{total.errors} of {len(report.results)} questions met an error, the first: {first}{again}", file=sys.stderr)
        failed = 1
    if options.min_accuracy is not None and total.accuracy.share < options.min_accuracy:
        print(f"The accuracy is {total.accuracy.share:.3f}, under {options.min_accuracy:g}.", file=sys.stderr)
        failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
