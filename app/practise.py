"""Practise: a question, the visitor's choice, then the verdict with what the sources say."""

from collections.abc import Sequence

import streamlit as st

from app.answer_html import answer_html, cards_html
from app.escaping import as_html, as_label
from app.streaming import hear_stop
from chatbot import Chatbot
from chatbot.exam import ExamQuestion

_PLACE, _SCORE = "practise-place", "practise-score"


def show_practise(bot: Chatbot, questions: Sequence[ExamQuestion]) -> None:
    """One question at a time, in the order of the file."""
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
        if question.fingerprint not in st.session_state.setdefault(_SCORE, {}):  # the first choice counts
            st.session_state[_SCORE][question.fingerprint] = right
            st.rerun()
    if st.session_state.get("practise-checked") == (key, picked):
        _show_verdict(bot, question, picked)


def _topic(question: ExamQuestion) -> str:
    return f" · {as_html(question.topic.replace('-', ' '))}" if question.topic else ""


def _score(questions: Sequence[ExamQuestion]) -> str:
    """How many of these questions were answered, and how many of them right."""
    found = st.session_state.get(_SCORE, {})
    checked = [found[question.fingerprint] for question in questions if question.fingerprint in found]
    return f" · {sum(checked)} of {len(checked)} right" if checked else ""


def _picked(question: ExamQuestion, key: str) -> tuple[int, ...]:
    """What the visitor chose, as places from 0: one of the options, or several where several are right."""
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
    answer = bot.ask(question.prompt, cancelled=hear_stop)
    if answer.choices and set(answer.choices) != set(question.letters):
        said = ", ".join(answer.choices)
        st.html(
            f'<p class="ww-notice">The sources speak for {as_html(said)}, the exam file gives {as_html(key)} as its key: '
            "one of the two is wrong or dated. Read the quotes.</p>"
        )
    anchor = f"ww-practise-{question.fingerprint}"
    st.html('<p class="ww-facts">What the sources say</p>' + answer_html(answer, anchor) + cards_html(answer, anchor))
