"""The chat: ask, read the answer, look at its sources, ask a follow-up."""

from collections.abc import Sequence
from contextlib import closing, suppress
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.answer_html import question_html
from app.boundary import UNEXPECTED, logger
from app.box import question_box
from app.conversation import Exchange, Submission, begin, exchanges, history, keep, settle, take_submission
from app.exchange_view import (
    added_html,
    live_html,
    place_of,
    scroll_to,
    show_again,
    show_exchange,
    show_next,
    show_questions,
)
from app.library import Added, add_files
from app.own_files import index_to_add_to, own_copy
from app.progress import progress_words
from app.resources import Operator, bot_of, feedback_store, is_answered, starters_of
from app.sidebar import opened_bot, show_conversations
from app.streaming import events
from chatbot import Chatbot, ReaderError
from chatbot.answer import OFFLINE
from chatbot.presentation.suggestions import follow_ups
from ingest import CorpusError, Index

# Older exchanges are hidden behind a button, so that the two hundredth answer is as quick as the first.
_SHOWN = 12


def show_chat(operator: Operator, bot: Chatbot) -> None:
    """Show the landing page, or the conversation so far with the new submission."""
    submission = take_submission()
    landing = st.empty()  # emptied at once, so that the landing goes away while the answer is still being found
    if submission is None and not exchanges():
        show_conversations()
        with landing:
            _show_landing(operator)
        return
    if submission and submission.files and operator.is_for_session:
        index_to_add_to(operator)  # from here on, the conversation is not saved
    earlier = _recent(exchanges())
    exchange = begin(submission.question) if submission else None
    show_conversations()
    with st.bottom:  # placed explicitly, so that the page does not scroll to the end of a growing answer
        question_box(operator)
    # A session's own files must not show up in the votes. What to ask next comes from the shared index.
    store = None if own_copy() else feedback_store(operator.common.index)
    shared = bot_of(operator.common.index, OFFLINE).index
    for each in earlier:
        # A container takes the place of the slot that the answer was streamed into. Emptying that slot first could show a
        # gap, and close what was open.
        with st.container():
            show_exchange(each, store, shared, is_last=exchange is None and each is earlier[-1])
            if exchange is None and each is earlier[-1]:
                show_next(each)
    if submission and exchange:
        slot, place = st.empty(), st.empty()
        exchange = _seen_to(submission, exchange, operator, bot, slot, place)
        keep()
        with slot.container():
            show_exchange(exchange, store, shared, is_last=True)
            with place:
                scroll_to(exchange, "answered")
            show_next(_with_next(exchange, shared))
            # Scroll once more: what the previous run showed above goes away only when this run ends.
            with place:
                scroll_to(exchange, "settled")


def _show_landing(operator: Operator) -> None:
    with st.container(key="landing"):
        st.html(
            '<h1 class="ww-title">Which instance should train or serve your model?</h1>'
            '<p class="ww-subtitle">A short answer first, every sentence with the exact words of its source.</p>'
        )
        with st.container():
            question_box(operator)
        shared = bot_of(operator.common.index, OFFLINE).index
        with suppress(ReaderError):  # a busy machine may not find out in time which questions have an answer
            show_questions(starters_of(shared.path, shared.generation), "starters", "For example")


def _recent(found: Sequence[Exchange]) -> Sequence[Exchange]:
    """Return the latest exchanges, and offer the earlier ones a step at a time."""
    shown = st.session_state.get("shown", _SHOWN)
    if len(found) > shown:
        hidden = len(found) - shown
        if st.button(f"Show {min(hidden, _SHOWN)} earlier of {hidden}", key="earlier", type="tertiary"):
            shown = st.session_state["shown"] = shown + _SHOWN
    return tuple(found[-shown:])


def _seen_to(
    submission: Submission,
    exchange: Exchange,
    operator: Operator,
    bot: Chatbot,
    slot: DeltaGenerator,
    place: DeltaGenerator,
) -> Exchange:
    if submission.files:
        exchange = settle(exchange, added=_added(submission, operator, slot))
        bot = opened_bot(operator)  # the bot of the session's own copy, if the files went into one
    if not exchange.question:
        return exchange
    slot.html(_said(exchange) + live_html("searching", ""))
    with place:
        scroll_to(exchange, "asked")
    # Nothing can be drawn after Stop: the button for it is drawn beforehand, and hidden by the style sheet until then.
    halted = st.empty()
    with halted.container(key="halted"):
        show_again(exchange, "Ask again", "halted")
    answered = _answered(exchange, bot, slot)
    halted.empty()
    return answered


def _added(submission: Submission, operator: Operator, slot: DeltaGenerator) -> tuple[Added, ...]:
    def progress(stage: str, done: int, total: int) -> None:
        slot.html(live_html(f"Adding the files: {progress_words(stage, done, total)}", ""))

    if not operator.may_add:
        return tuple(Added(name, "", "files cannot be added here") for name, _ in submission.files)
    slot.html(live_html("adding", ""))
    try:
        return add_files(index_to_add_to(operator), submission.files, operator.limits, progress)
    except CorpusError as error:
        return tuple(Added(name, "", str(error)) for name, _ in submission.files)


def _answered(exchange: Exchange, bot: Chatbot, slot: DeltaGenerator) -> Exchange:
    """Stream the answer into the slot. After Stop, the text that arrived so far remains."""
    stage, text = "searching", ""
    try:
        # Closed at once when Stop ends the run here: this is what ends the model call.
        with closing(events(bot, exchange.question, history(exchanges()))) as found:
            for event in found:
                if event is not None and event.answer is not None:
                    return settle(exchange, answer=event.answer, updated=bot.index.updated)
                if event is not None:
                    stage, text = (event.text, text) if event.kind == "stage" else (stage, text + event.text)
                exchange = settle(exchange, partial=text)
                slot.html(_said(exchange) + live_html(stage, text))
    except (CorpusError, ReaderError) as error:
        return settle(exchange, problem=str(error))
    except Exception:
        logger.exception("unexpected")
    return settle(exchange, problem=UNEXPECTED)


def _said(exchange: Exchange) -> str:
    added = added_html(exchange.added) if exchange.added else ""
    return question_html(exchange.question, place_of(exchange)) + added


def _with_next(exchange: Exchange, shared: Index) -> Exchange:
    """Add what to ask next, which is worked out only after the answer is shown."""
    if exchange.answer is None or exchange.answer.small_talk:
        return exchange
    asked = [e.question for e in exchanges()]
    can_answer = partial(is_answered, shared.path, shared.generation)
    with suppress(ReaderError):  # as on the landing page
        exchange = settle(exchange, next_questions=follow_ups(exchange.answer, asked, shared, can_answer))
        keep()
    return exchange
