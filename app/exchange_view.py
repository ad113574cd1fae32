"""One exchange on the page: the question, the answer, then its sources."""

from collections.abc import Sequence
from contextlib import suppress

import streamlit as st

from app.answer_html import answer_html, beside_html, cards_html, facts_html, nearest_html, question_html
from app.boundary import show_problem, told
from app.box import edit
from app.conversation import Exchange, keep, settle, submit, visitor
from app.escaping import as_html, as_label
from app.library import Added
from app.markdown_html import markdown_html
from app.memory_bar import memory_bar_html
from app.resources import facts_of
from app.size_inputs import size_link
from chatbot import Answer, Feedback, FeedbackStore, ReaderError
from chatbot.figures.hardware_sides import figures_beside
from chatbot.history.transcript import conversation_as_markdown
from chatbot.presentation.comparison_table import comparison
from chatbot.presentation.render import note
from chatbot.sizing import Workload, size
from ingest import Index

_LONGEST_COMMENT = 2_000
STAGES = {
    "searching": "Searching the sources",
    "reading": "Reading what was found",
    "checking": "Checking every sentence",
    "adding": "Adding the files",
}


def show_exchange(exchange: Exchange, store: FeedbackStore | None, index: Index, *, is_last: bool = False) -> None:
    """Show an exchange, except for what to ask next; the last one can be asked again."""
    if exchange.question:
        st.html(question_html(exchange.question, place_of(exchange)))
    if exchange.added:
        st.html(added_html(exchange.added))
    if exchange.answer is not None:
        _show_answer(exchange, exchange.answer, index)
        if st.query_params.get("debug") == "true":
            _show_retrieval(exchange.answer)
    elif exchange.problem:
        show_problem(exchange.problem)
    elif exchange.question:
        text = markdown_html(exchange.partial, {}, "")
        st.html(f'<div class="ww-main ww-answer">{text}<p class="ww-facts">Stopped.</p></div>')
    if exchange.question:
        _show_actions(exchange, store, index.generation, is_last=is_last)


def _show_actions(exchange: Exchange, store: FeedbackStore | None, generation: int, *, is_last: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"actions-{exchange.id}"):
        if exchange.answer is not None:
            copied = as_html(conversation_as_markdown([exchange.answer]))
            st.html(f'<button class="ww-copy" data-text="{copied}">Copy</button>', width="content")
        if is_last:
            show_again(exchange, "Ask again" if exchange.answer or not exchange.problem else "Try again")
        st.button("Edit", key=f"edit-{exchange.id}", type="tertiary", on_click=edit, args=(exchange,))
        if store is not None and exchange.answer is not None and not exchange.answer.small_talk:
            _show_votes(exchange, store, generation)


def _show_votes(exchange: Exchange, store: FeedbackStore, generation: int) -> None:
    """Show the thumbs, disabled after a vote; then, once, a field for a comment."""
    key = f"vote-{exchange.id}"
    st.feedback(
        "thumbs",
        key=key,
        default=None if exchange.voted is None else int(exchange.voted),
        disabled=exchange.voted is not None,
        on_change=_voted,
        args=(exchange, store, generation, key),
    )
    if exchange.voted is None:
        return
    # Streamlit shows the chosen thumb only by its shade.
    st.html(f'<p class="ww-facts">{"Marked helpful" if exchange.voted else "Marked not helpful"}</p>', width="content")
    if exchange.commented:
        st.caption("Thank you.")
        return
    words = f"comment-{exchange.id}"
    st.text_input(
        "Comment",
        key=words,
        placeholder="What was good?" if exchange.voted else "What was wrong?",
        label_visibility="collapsed",
        max_chars=_LONGEST_COMMENT,
        on_change=_commented,
        args=(exchange, store, generation, words),
        width=320,
    )


def _voted(exchange: Exchange, store: FeedbackStore, generation: int, key: str) -> None:
    if (vote := st.session_state[key]) is not None:
        _keep(settle(exchange, voted=bool(vote)), store, generation, "")


def _commented(exchange: Exchange, store: FeedbackStore, generation: int, key: str) -> None:
    if comment := st.session_state[key].strip():
        _keep(settle(exchange, commented=True), store, generation, comment)


def _keep(exchange: Exchange, store: FeedbackStore, generation: int, comment: str) -> None:
    answer = exchange.answer
    if answer is None:
        return
    keep()
    helpful, question, text, model = bool(exchange.voted), answer.question, answer.text, answer.model
    with told():
        store.add(Feedback("app", exchange.id, visitor(), helpful, comment, question, text, model, generation))


def show_again(exchange: Exchange, label: str, key: str = "again") -> None:
    st.button(
        label, key=f"{key}-{exchange.id}", on_click=submit, args=(exchange.question, (), exchange.id), type="tertiary"
    )


def show_next(exchange: Exchange) -> None:
    if exchange.next_questions:
        show_questions(exchange.next_questions, f"next-{exchange.id}", "Ask next")


def place_of(exchange: Exchange) -> str:
    return f"ww-question-{exchange.id}"


def scroll_to(exchange: Exchange, moment: str) -> None:
    """Scroll the question to the top of the window, so that the answer is read from its beginning.

    The script is constant except for an id that this process generated. A different `moment` makes it run again.
    """
    scroll = f"const scroll = () => document.getElementById('{place_of(exchange)}')?.scrollIntoView();"
    # Repeated, because what the previous run left above the question goes away a moment later.
    st.html(
        f"<script>/* {moment} */ {{ {scroll} setTimeout(scroll, 50); setTimeout(scroll, 400); }}</script>",
        unsafe_allow_javascript=True,
    )


def _show_answer(exchange: Exchange, answer: Answer, index: Index) -> None:
    """Show the answer with its memory bars, and the sources, which the style sheet puts beside it."""
    # An answer never changes, and the page shows all of them again after each click.
    kept, key = st.session_state.setdefault("html", {}), (exchange.id, index.generation)
    if key not in kept:
        kept[key] = _rendered(exchange, answer, index)
    main, sources = kept[key]
    st.html(main)
    if sources:
        st.html(sources)


def _rendered(exchange: Exchange, answer: Answer, index: Index) -> tuple[str, str]:
    """Render the answer and its sources; "" if it has none."""
    anchor = f"ww-{exchange.id}"
    parts = [f'<p class="ww-notice" dir="auto">{as_html(said)}</p>' if (said := note(answer)) else ""]
    parts.append(answer_html(answer, anchor))
    parts += [_memory_html(workload, index) for workload in answer.workloads]
    parts.append(_beside_html(answer, index))
    parts.append("" if answer.small_talk else facts_html(answer, exchange.updated))
    sources, title = (
        (nearest_html(answer.passages), "Nearest in the sources")
        if answer.refused
        else (cards_html(answer, anchor), "Sources")
    )
    aside = f'<aside class="ww-sources" aria-label="Sources" tabindex="-1"><p class="ww-facts">{title}</p>{sources}</aside>'
    return f'<div class="ww-main">{"".join(parts)}</div>', aside if sources else ""


def _memory_html(workload: Workload, index: Index) -> str:
    """Return the bar of a sizing with a link to its page; empty if the index has lost what it was computed from."""
    with suppress(ReaderError):
        link = f'<p class="ww-facts"><a href="{as_html(size_link(workload))}" target="_blank">Change the inputs</a></p>'
        return memory_bar_html(size(workload, facts_of(index.path))) + link
    return ""


def _beside_html(answer: Answer, index: Index) -> str:
    """Return the figures of the hardware that a question compares; empty below an answer that shows a table itself."""
    if answer.refused or answer.near or answer.choices or answer.workloads or "\n|" in answer.text or comparison(answer):
        return ""
    if (found := figures_beside(answer.question, facts_of(index.path))) is None:
        return ""
    tables = [(id, chunks[0].document.title) for id in found[1] if (chunks := index.document_chunks(id))]
    return beside_html(found[0], tables) if tables else ""


def live_html(stage: str, text: str) -> str:
    """Return the answer so far. The style sheet shows "Stopped." instead of the stage once the page is idle."""
    body = markdown_html(text, {}, "") if text else ""
    return (
        f'<div class="ww-answer ww-live" aria-live="polite">{body}'
        f'<p class="ww-stage">{as_html(STAGES.get(stage, stage))}</p><p class="ww-facts ww-halted">Stopped.</p></div>'
    )


def added_html(added: Sequence[Added]) -> str:
    """Return one status line per file."""
    lines = "".join(
        f'<li class="{"ww-failed" if a.problem else ""}"><strong dir="auto">{as_html(a.given)}</strong> '
        f"{as_html(a.problem or 'was read and can be asked about.')}</li>"
        for a in added
    )
    return f'<ul class="ww-added">{lines}</ul>'


def show_questions(questions: Sequence[str], key: str, label: str) -> None:
    """Show questions as pills; the chosen one is asked."""
    st.pills(
        label, questions, key=key, format_func=as_label, on_change=_chosen, args=(key,), label_visibility="collapsed"
    )


def _chosen(key: str) -> None:
    if question := st.session_state[key]:
        submit(question)


def _show_retrieval(answer: Answer) -> None:
    cited = {c.passage.chunk.id for c in answer.citations}
    with st.expander("Retrieval", icon=":material/manage_search:"):
        rows = [
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
        ]
        st.dataframe(rows, hide_index=True)
        st.caption(
            f"{len(answer.passages)} passages, {len(answer.citations)} citations, {answer.dropped} sentences dropped"
        )
