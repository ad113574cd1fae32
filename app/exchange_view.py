"""One exchange on the page: the question, the answer first, then what it stands on."""

from collections.abc import Sequence
from contextlib import suppress

import streamlit as st

from app.answer_html import answer_html, cards_html, facts_html, nearest_html, question_html
from app.bars_html import bars_html
from app.boundary import show_problem
from app.conversation import Exchange, submit
from app.escaping import as_html, as_label
from app.library import Added
from app.markdown_html import markdown_html
from app.memory_bar import memory_bar_html
from app.resources import sized
from app.size_inputs import size_link
from app.votes import show_votes
from chatbot import Answer, FeedbackStore, ReaderError
from chatbot.comparison_table import bars, comparison_rows
from chatbot.sizing import Workload
from ingest import Index, address_of

STAGES = {
    "searching": "Searching the sources",
    "reading": "Reading what was found",
    "checking": "Checking every sentence",
    "adding": "Adding the files",
}


def show_exchange(exchange: Exchange, store: FeedbackStore | None, index: Index) -> None:
    """The whole exchange but for what to ask next, which only the latest one offers."""
    if exchange.question:
        st.html(question_html(exchange.question, place_of(exchange)))
    if exchange.added:
        st.html(added_html(exchange.added))
    if exchange.answer is not None:
        _show_answer(exchange, exchange.answer, index)
        if store is not None:
            with st.container(horizontal=True, vertical_alignment="center", key=f"votes-{exchange.id}"):
                show_votes(exchange, store, index.generation)
    elif exchange.problem:
        show_problem(exchange.problem)
    elif exchange.question:
        _show_stopped(exchange)


def show_next(exchange: Exchange) -> None:
    if exchange.next_questions:
        show_questions(exchange.next_questions, f"next-{exchange.id}", "Ask next")


def place_of(exchange: Exchange) -> str:
    return f"ww-question-{exchange.id}"


def scroll_to(exchange: Exchange, moment: str) -> None:
    """Bring the question to the top of the window, so that the answer is read from its beginning.

    The script is a constant but for an id that this process has drawn; another moment makes it run again.
    """
    scroll = f"const scroll = () => document.getElementById('{place_of(exchange)}')?.scrollIntoView();"
    # Twice: what the run before left above the question goes away a moment later.
    st.html(
        f"<script>/* {moment} */ {{ {scroll} setTimeout(scroll, 50); setTimeout(scroll, 400); }}</script>",
        unsafe_allow_javascript=True,
    )


def _show_answer(exchange: Exchange, answer: Answer, index: Index) -> None:
    anchor = f"ww-{exchange.id}"
    if answer.notice:
        st.html(f'<p class="ww-notice" dir="auto">{as_html(answer.notice)}</p>')
    st.html(answer_html(answer, anchor))
    if found := bars(comparison_rows(answer)):
        st.html(bars_html(found, anchor))
    for workload in answer.workloads:
        _show_memory(workload, index)
    if answer.refused:
        if answer.passages:
            st.html(f'<p class="ww-facts">Nearest in the sources</p>{nearest_html(answer.passages)}')
    else:
        st.html(cards_html(answer, anchor))
    st.html(facts_html(answer, exchange.updated))
    if st.query_params.get("debug") == "true":
        _show_retrieval(answer)


def _show_memory(workload: Workload, index: Index) -> None:
    """The bar of a sizing, with the way to its page; nothing where the index has lost what it was computed with."""
    with suppress(ReaderError):
        link = f'<p class="ww-facts"><a href="{as_html(size_link(workload))}" target="_blank">Change the inputs</a></p>'
        st.html(memory_bar_html(sized(address_of(index.path), index.generation, workload)) + link)


def _show_stopped(exchange: Exchange) -> None:
    text = markdown_html(exchange.partial, frozenset(), "")
    st.html(f'<div class="ww-answer">{text}<p class="ww-facts">Stopped.</p></div>')
    st.button("Ask again", key=f"again-{exchange.id}", on_click=submit, args=(exchange.question,), type="tertiary")


def live_html(stage: str, text: str) -> str:
    """The answer as it comes. The style sheet shows "Stopped." instead of the stage once the page is idle."""
    body = markdown_html(text, frozenset(), "") if text else ""
    return (
        f'<div class="ww-answer ww-live" aria-live="polite">{body}'
        f'<p class="ww-stage">{as_html(STAGES.get(stage, stage))}</p><p class="ww-facts ww-halted">Stopped.</p></div>'
    )


def added_html(added: Sequence[Added]) -> str:
    """A status a file."""
    lines = "".join(
        f'<li class="{"ww-failed" if a.problem else ""}"><strong dir="auto">{as_html(a.given)}</strong> '
        f"{as_html(a.problem or 'was read and can be asked about.')}</li>"
        for a in added
    )
    return f'<ul class="ww-added">{lines}</ul>'


def show_questions(questions: Sequence[str], key: str, label: str) -> None:
    """Questions as pills; the chosen one is asked."""
    st.pills(
        label, questions, key=key, format_func=as_label, on_change=_chosen, args=(key,), label_visibility="collapsed"
    )


def _chosen(key: str) -> None:
    if question := st.session_state[key]:
        submit(question)


def _show_retrieval(answer: Answer) -> None:
    cited = {c.passage.chunk.id for c in answer.citations}
    with st.expander("Retrieval", icon=":material/manage_search:"):
        st.dataframe(
            [
                {
                    "passage": p.number,
                    "score": round(p.score, 3),
                    "cited": p.chunk.id in cited,
                    "document": p.chunk.document.id,
                    "section": " > ".join(p.chunk.headings),
                    "start": p.chunk.start,
                    "end": p.chunk.end,
                }
                for p in answer.passages
            ],
            hide_index=True,
        )
        st.caption(
            f"{len(answer.passages)} passages, {len(answer.citations)} citations, {answer.dropped} sentences dropped"
        )
