"""An exam's report on the page: the report that can be downloaded, held against an earlier run where the visitor gives one."""

import streamlit as st

from app.boundary import told
from chatbot.exam import Comparison, Report, compare, report_junit, report_lines, report_page


def show_report(report: Report, *, unfinished: bool) -> None:
    """The report, and before it what to take with one."""
    if unfinished:
        st.caption("Stopped before the end: this is what was asked.")
    comparison = _compared(report)
    page = report_page(report, comparison=comparison)
    with st.container(horizontal=True):
        _show_download("Report", page, "report.html", "text/html")
        _show_download("Results", report_lines(report), "results.jsonl", "application/jsonl")
        _show_download("JUnit", report_junit(report), "junit.xml", "application/xml")
    st.iframe(page, alt="Exam report")


def _compared(report: Report) -> Comparison | None:
    """The comparison with an earlier run, where the visitor gives its results."""
    with st.popover("Compare with an earlier run", icon=":material/compare_arrows:", type="tertiary"):
        baseline = st.file_uploader("Its results.jsonl", type="jsonl")
    with told():
        return compare(report.results, baseline.getvalue()) if baseline else None
    return None


def _show_download(label: str, written: str | bytes, name: str, kind: str) -> None:
    st.download_button(label, written, name, kind, on_click="ignore", icon=":material/download:")
