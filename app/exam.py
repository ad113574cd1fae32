"""The Exam page: practise questions oneself, or have the bot sit the whole exam."""

from pathlib import Path

import streamlit as st

from app.escaping import as_html
from app.evaluation import show_evaluation
from app.practise import show_practise
from app.resources import Operator
from chatbot import Chatbot
from chatbot.exam import ACCEPTED_SUFFIXES, ExamQuestion, QuestionSet, Skipped, read_questions

_PRACTISE, _EVALUATE = "Practise", "Evaluate"
_SKIPPED_SHOWN = 50
_TITLES = {
    "around": "Services around EC2",
    "cost": "Cost and purchasing",
    "five": "From five documents",
    "hardware": "Choosing hardware",
    "sizing": "Sizing models",
}


def show_exam(operator: Operator, bot: Chatbot) -> None:
    """Choose the questions, then what to do with them. Raises ReaderError for a file without any."""
    st.html('<h1 class="ww-title">Exam</h1>')
    # Only whoever may change the index may start a run: it can take long, and a language model may cost.
    modes = [_PRACTISE, _EVALUATE] if operator.may_change else [_PRACTISE]
    with st.container(horizontal=True, vertical_alignment="center", key="exam-choice"):
        mode = st.segmented_control("Mode", modes, default=_PRACTISE, label_visibility="collapsed", required=True)
        questions = _questions(operator.app.exams)
    if questions is None:
        st.caption("Add a file of questions to begin.")
        return
    _show_skipped(questions.skipped)
    if mode == _EVALUATE:
        show_evaluation(bot, questions)
    else:
        show_practise(bot, tuple(q for q in questions if isinstance(q, ExamQuestion)))


def _questions(folder: Path) -> QuestionSet | None:
    """The questions of the chosen file; None as long as none is chosen."""
    files = _files(folder)
    chosen = None
    if files:
        chosen = st.selectbox(
            "Questions", files, format_func=lambda file: _title(file.stem), label_visibility="collapsed", width=260
        )
    with st.popover("Own file", icon=":material/upload_file:", type="tertiary"):
        own = st.file_uploader(
            "Your own questions",
            type=sorted(suffix.removeprefix(".") for suffix in ACCEPTED_SUFFIXES),
            help="Questions with lettered options and their answers, as text, Markdown, GIFT, CSV or JSON",
        )
    if own is not None:
        return _read(own.name, own.getvalue())
    return None if chosen is None else _read(chosen.name, chosen.read_bytes())


def _title(stem: str) -> str:
    return _TITLES.get(stem) or stem.replace("-", " ").replace("_", " ").capitalize()


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(file for file in folder.iterdir() if file.suffix.lower() in ACCEPTED_SUFFIXES and file.is_file())


@st.cache_data(show_spinner=False, max_entries=8)
def _read(name: str, data: bytes) -> QuestionSet:
    return read_questions([(name, data)])


def _show_skipped(skipped: tuple[Skipped, ...]) -> None:
    if not skipped:
        return
    with st.expander(f"{len(skipped)} items were left out"):
        lines = "".join(f"<li>Line {item.line}: {as_html(item.reason)}</li>" for item in skipped[:_SKIPPED_SHOWN])
        st.html(f'<ul class="ww-outline">{lines}</ul>')
