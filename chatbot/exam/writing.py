"""A report as files: JSON Lines, JSON, JUnit XML and a page."""

import json
import os
import re
from pathlib import Path
from xml.etree import ElementTree

from chatbot.answer import ReaderError
from chatbot.exam.flips import FILE_NAME, Comparison
from chatbot.exam.page import report_page
from chatbot.exam.report import Report
from chatbot.exam.results import Result
from chatbot.exam.runs import row_line
from chatbot.exam.summary import report_summary

SUMMARY, JUNIT, PAGE = "summary.json", "junit.xml", "report.html"


def write_report(report: Report, folder: Path, *, comparison: Comparison | None = None) -> tuple[Path, ...]:
    """Write every form of a report into a folder; the files. ReaderError where it cannot be written."""
    texts = {
        FILE_NAME: report_lines(report),
        SUMMARY: json.dumps(report_summary(report, comparison=comparison), indent=1, ensure_ascii=False) + "\n",
        JUNIT: report_junit(report),
        PAGE: report_page(report, comparison=comparison),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            _replace(folder / name, text)
    except OSError as error:
        raise ReaderError(f"{folder} cannot be written ({error.strerror}): give --report another folder.") from error
    return tuple(folder / name for name in texts)


def _replace(file: Path, text: str) -> None:
    """Write a file as a whole or not at all: what a kill leaves is the old one."""
    draft = file.with_name(f".{file.name}.new")
    draft.write_bytes(text.encode(errors="replace"))
    os.replace(draft, file)


def report_lines(report: Report) -> str:
    """A line of JSON a question."""
    return "".join(map(row_line, report.results))


def report_junit(report: Report) -> str:
    """JUnit XML: a wrong answer or none is a failure, an error of the model an error, what cannot be asked skipped."""
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
    if result.is_right:
        return
    kind = "error" if result.verdict == "error" else "failure"
    failure = ElementTree.SubElement(case, kind, type=result.verdict, message="" if hidden else _xml(result.reason))
    failure.text = "" if hidden else _xml(f"{question.text}\n\nkey: {result.expected}")


def _xml(text: str) -> str:
    """A text with nothing in it that XML 1.0 does not know."""
    return re.sub(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)
