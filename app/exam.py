"""The Exam page: practise questions yourself, or have the bot sit the whole exam."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from app.answer_html import answer_html, cards_html
from app.boundary import told
from app.escaping import as_html, as_label
from app.resources import Operator
from app.streaming import hear_stop
from chatbot import Chatbot
from chatbot.exam import (
    ACCEPTED_SUFFIXES,
    Comparison,
    ExamQuestion,
    QuestionSet,
    Report,
    Result,
    Skipped,
    ask_question,
    build_report,
    compare,
    read_questions,
    report_junit,
    report_lines,
    report_page,
)

_PRACTISE, _EVALUATE = "Practise", "Evaluate"
_SKIPPED_SHOWN = 50
_PLACE, _SCORE, _ANSWER = "practise-place", "practise-score", "practise-answer"
_RUN, _REPORT = "exam-run", "exam-report"
_TITLES = {
    "around": "Services around EC2",
    "cost": "Cost and purchasing",
    "five": "From five documents",
    "hardware": "Choosing hardware",
    "sizing": "Sizing models",
}


def show_exam(operator: Operator, bot: Chatbot) -> None:
    """Show the choice of questions and of what to do with them. Raises ReaderError for a file without questions."""
    st.html('<h1 class="ww-title">Exam</h1>')
    # Only visitors who may change the index may start a run: it can take long, and a language model may cost money.
    modes = [_PRACTISE, _EVALUATE] if operator.may_change else [_PRACTISE]
    with st.container(horizontal=True, vertical_alignment="center", key="exam-choice"):
        mode = st.segmented_control("Mode", modes, default=_PRACTISE, label_visibility="collapsed", required=True)
        questions = _questions(operator.app.exams)
    if questions is None:
        st.caption("Add a file of questions to begin.")
        return
    _show_skipped(questions.skipped)
    if mode == _EVALUATE:
        _show_evaluation(bot, questions)
    else:
        _show_practise(bot, tuple(q for q in questions if isinstance(q, ExamQuestion)))


def _questions(folder: Path) -> QuestionSet | None:
    """Return the questions of the chosen file; None until one is chosen."""
    chosen, files = None, []
    if folder.is_dir():
        files = sorted(f for f in folder.iterdir() if f.suffix.lower() in ACCEPTED_SUFFIXES and f.is_file())
    if files:
        chosen = st.selectbox("Questions", files, format_func=_title, label_visibility="collapsed", width=260)
    with st.popover("Own file", icon=":material/upload_file:", type="tertiary"):
        own = st.file_uploader(
            "Your own questions",
            type=sorted(suffix.removeprefix(".") for suffix in ACCEPTED_SUFFIXES),
            help="Questions with lettered options and their answers, as text, Markdown, GIFT, CSV or JSON",
        )
    if own is not None:
        return _read(own.name, own.getvalue())
    return None if chosen is None else _read(chosen.name, chosen.read_bytes())


def _title(file: Path) -> str:
    return _TITLES.get(file.stem) or file.stem.replace("-", " ").replace("_", " ").capitalize()


@st.cache_data(show_spinner=False, max_entries=8)
def _read(name: str, data: bytes) -> QuestionSet:
    return read_questions([(name, data)])


def _show_skipped(skipped: tuple[Skipped, ...]) -> None:
    if not skipped:
        return
    with st.expander(f"{len(skipped)} items were left out"):
        lines = "".join(f"<li>Line {item.line}: {as_html(item.reason)}</li>" for item in skipped[:_SKIPPED_SHOWN])
        st.html(f'<ul class="ww-outline">{lines}</ul>')


def _show_practise(bot: Chatbot, questions: Sequence[ExamQuestion]) -> None:
    """Show one question at a time, in the order of the file."""
    if not questions:
        st.caption("The file has no question with options to choose from.")
        return
    place = st.session_state.get(_PLACE, 0) % len(questions)
    question = questions[place]
    st.html(
        f'<p class="ww-facts">Question {place + 1} of {len(questions)}{_topic(question)}{_score(questions)}</p>'
        f'<p class="ww-answer ww-stem" dir="auto">{as_html(question.text)}</p>'
    )
    key = f"{question.fingerprint}-{place}"
    picked = _picked(question, key)
    with st.container(horizontal=True):
        checked = st.button("Check", type="primary", disabled=not picked, key=f"check-{key}")
        st.button("Next question", on_click=_move, args=(place + 1,), type="tertiary")
    if checked:
        st.session_state["practise-checked"] = (key, picked)
        right = set(picked) == set(question.answer)
        if question.fingerprint not in st.session_state.setdefault(_SCORE, {}):  # only the first choice counts
            st.session_state[_SCORE][question.fingerprint] = right
            st.rerun()
    if st.session_state.get("practise-checked") == (key, picked):
        _show_verdict(bot, question, picked)


def _topic(question: ExamQuestion) -> str:
    return f" · {as_html(question.topic.replace('-', ' '))}" if question.topic else ""


def _score(questions: Sequence[ExamQuestion]) -> str:
    """Say how many of these questions were answered, and how many of them correctly."""
    found = st.session_state.get(_SCORE, {})
    checked = [found[question.fingerprint] for question in questions if question.fingerprint in found]
    return f" · {sum(checked)} of {len(checked)} right" if checked else ""


def _picked(question: ExamQuestion, key: str) -> tuple[int, ...]:
    """Return the options that the visitor chose, as indices from 0: one, or several if several are right."""
    labels = [f"{chr(ord('A') + place)}. {as_label(option)}" for place, option in enumerate(question.options)]
    if len(question.answer) == 1:
        chosen = st.radio(
            "Your choice", range(len(labels)), index=None, format_func=labels.__getitem__, key=f"one-{key}"
        )
        return () if chosen is None else (chosen,)
    st.caption(f"Choose {len(question.answer)}.")
    return tuple(place for place, label in enumerate(labels) if st.checkbox(label, key=f"{key}-{place}"))


def _move(place: int) -> None:
    st.session_state[_PLACE] = place


def _show_verdict(bot: Chatbot, question: ExamQuestion, picked: tuple[int, ...]) -> None:
    key = ", ".join(question.letters)
    if set(picked) == set(question.answer):
        st.success(f"Right: {key}.", icon=":material/check:")
    else:
        st.error(f"Not right. The exam's key is {key}.", icon=":material/close:")
    if question.explanation:
        st.html(f'<p class="ww-answer" dir="auto">{as_html(question.explanation)}</p>')
    # The page runs again after every click, and a language model costs money.
    asked = (question.fingerprint, bot.model, bot.index.path, bot.index.generation)
    if st.session_state.get(_ANSWER, (None,))[0] != asked:
        st.session_state[_ANSWER] = (asked, bot.ask(question.prompt, cancelled=hear_stop))
    answer = st.session_state[_ANSWER][1]
    if answer.choices and set(answer.choices) != set(question.letters):
        said = ", ".join(answer.choices)
        st.html(
            f'<p class="ww-notice">The sources speak for {as_html(said)}, the exam file gives {as_html(key)} as its key: '
            "one of the two is wrong or dated. Read the quotes.</p>"
        )
    anchor = f"ww-practise-{question.fingerprint}"
    st.html('<p class="ww-facts">What the sources say</p>' + answer_html(answer, anchor) + cards_html(answer, anchor))


def _show_evaluation(bot: Chatbot, questions: QuestionSet) -> None:
    """Start, watch and stop a run; a stopped run is reported too."""
    identity = (questions.fingerprint, bot.model, bot.index.generation)
    limit = st.number_input("Questions", 1, len(questions), len(questions)) if len(questions) > 1 else 1
    if st.button("Start", type="primary", icon=":material/play_arrow:"):
        st.session_state.pop(_REPORT, None)
        st.session_state[_RUN] = (identity, int(limit), [])
        _ask(bot, questions, int(limit), st.session_state[_RUN][2])
    started, wanted, results = st.session_state.get(_RUN, (None, 0, []))
    if started == identity and results:
        _show_report(_report(bot, questions, results), unfinished=len(results) < wanted)


def _ask(bot: Chatbot, questions: QuestionSet, limit: int, results: list[Result]) -> None:
    """Ask one question after another. Pressing Stop reruns the page, which ends this loop and keeps the results."""
    with st.container(key="exam-progress"):
        bar, stop = st.progress(0.0, "Asking"), st.empty()
        stop.button("Stop", type="tertiary")
        for number, question in enumerate(questions.questions[:limit], start=1):
            results.append(ask_question(bot, question))
            right = sum(result.is_right for result in results)
            bar.progress(number / limit, f"{number} of {limit} asked, {right} right")
        bar.empty()
        stop.empty()


def _report(bot: Chatbot, questions: QuestionSet, results: Sequence[Result]) -> Report:
    """Return the report on these results, built once."""
    found: tuple[int, Report] | None = st.session_state.get(_REPORT)
    if found is None or found[0] != len(results):
        asked = QuestionSet(tuple(result.question for result in results), questions.skipped)
        with st.spinner("Measuring the baselines"):
            found = (len(results), build_report(bot, asked, results))
        st.session_state[_REPORT] = found
    return found[1]


def _show_report(report: Report, *, unfinished: bool) -> None:
    """Show the report, and above it the downloads."""
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
    """Return the comparison with an earlier run, if the visitor uploads its results."""
    with st.popover("Compare with an earlier run", icon=":material/compare_arrows:", type="tertiary"):
        baseline = st.file_uploader("Its results.jsonl", type="jsonl")
    with told():
        return compare(report.results, baseline.getvalue()) if baseline else None
    return None


def _show_download(label: str, written: str | bytes, name: str, kind: str) -> None:
    st.download_button(label, written, name, kind, on_click="ignore", icon=":material/download:")
