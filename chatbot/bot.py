"""The chatbot: a question and its history in, a verified answer out."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, overload

from chatbot import deadline
from chatbot.answer import OFFLINE, REFUSAL, Answer, Footprint, Passage, ReaderError, Turn
from chatbot.draft import Draft
from chatbot.evidence.instructions import is_instruction
from chatbot.figures.fact_answer import asks_rows, row_answer, whole_row
from chatbot.figures.figures_answer import answer_by_figures
from chatbot.figures.hardware_answer.units import asks_unit
from chatbot.figures.hardware_comparison import compare_hardware, precedes_rows
from chatbot.figures.hardware_overview import describe_hardware
from chatbot.figures.sizing_answer import answer_by_sizing, sizes_a_model
from chatbot.footprint import FootprintSettings, grid_carbon, machine_footprint, metered
from chatbot.language.characters import as_asked, as_remembered, shown
from chatbot.llm.models import ModelSettings
from chatbot.offline import read, surest
from chatbot.premise import false_premise
from chatbot.question.followup import stands_alone
from chatbot.question.query import Query, understand
from chatbot.reader.proved_answers import (
    SELDOM_SURER,
    STRONG,
    SURE,
    WORTH_NAMING,
    Alternative,
    Kind,
    Match,
    answer_of,
    answer_of_each,
    is_better,
    is_proved_by,
    is_story,
    is_worth_telling,
    load_book,
    may_serve,
    nearest,
)
from chatbot.reader.scope import SCOPE, is_outside, small_talk
from chatbot.retrieval.meaning import load_encoders
from chatbot.retrieval.retriever import merged
from chatbot.retrieval.searching import passages_to_read, search
from chatbot.settings import settings_from
from chatbot.verification.citations import Verified, verify
from chatbot.verification.fit import is_fit
from chatbot.verification.marks import shifted, without_marks
from chatbot.working import load as load_tables
from ingest import Index, Place

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import Runnable

    from chatbot.llm.failures import Clock
    from chatbot.llm.reader import LanguageReader, Reading, Tally
    from chatbot.llm.waiting import Patience
    from chatbot.messages import Asked

Stage = Literal["searching", "reading", "checking"]


@dataclass(frozen=True, slots=True)
class Event:
    """What `stream` yields: the start of a stage, a piece of the answer's text, or, at the end, the whole answer."""

    kind: Literal["stage", "text", "answer"]
    text: str = ""
    answer: Answer | None = None


class Chatbot:
    """Answers questions over one index. It keeps no conversation: the history is an argument."""

    def __init__(
        self,
        index: Index,
        model: str | BaseChatModel = OFFLINE,
        settings: ModelSettings | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Take an index and a reader: "offline", "provider:model", or any LangChain chat model.

        Without `settings`, `ModelSettings` is read from the environment. No model is contacted before the first
        question.
        """
        self.index = index
        self._seconds = settings_from(os.environ, deadline.Limits).deadline
        self._reader = None if model == OFFLINE else _language_reader(model, settings, clock)
        self.model = self._reader.name if self._reader else OFFLINE
        assumed = settings_from(os.environ, FootprintSettings)
        self._watts, self._grid = assumed.watts, grid_carbon(assumed.grid, index)

    @classmethod
    def open(
        cls, index: str | Place, model: str | BaseChatModel = OFFLINE, settings: ModelSettings | None = None
    ) -> Chatbot:
        """Open an index with a reader.

        Raises CorpusError when the index is missing, empty or made by another version; ReaderError for an unknown model.
        """
        return cls(Index.open(index), model, settings)

    def ask(
        self, question: str, history: Sequence[Turn] = (), *, cancelled: Callable[[], bool] | None = None
    ) -> Answer:
        """Answer a question; every sentence of the answer is cited, or the answer is the refusal.

        Raises ReaderError if the question is empty, too long or not answered by its deadline (`WATTWISE_DEADLINE`), and
        soon after `cancelled` returns True, which means that nobody waits for the answer any more.
        """
        *_, last = self.stream(question, history, cancelled=cancelled)
        assert last.answer is not None
        return last.answer

    def stream(
        self, question: str, history: Sequence[Turn] = (), *, cancelled: Callable[[], bool] | None = None
    ) -> Iterator[Event]:
        """Yield the stages of an answer as they begin, its text once verified, then the Answer; raises what `ask`
        raises.

        The offline reader's text comes line by line, a language model's sentence by sentence while it is being written.
        """
        began = time.perf_counter()
        asked, remembered = as_asked(question), as_remembered(history)
        yield Event("stage", "searching")
        if reply := small_talk(asked, self.index):
            yield Event("text", reply)
            seconds = time.perf_counter() - began
            yield Event("answer", answer=Answer(asked, reply, (), (), False, (), OFFLINE, seconds, small_talk=True))
            return
        index = self.index.snapshot()
        events = self._offline if self._reader is None else self._with_model
        for event, cpu_seconds in metered(deadline.apart(events(asked, remembered, index, cancelled))):
            if event.answer is None:
                yield event
            else:
                seconds = time.perf_counter() - began
                footprint = self._footprint(cpu_seconds, seconds, event.answer)
                answer = replace(event.answer, question=asked, seconds=seconds, footprint=footprint)
                yield Event("answer", answer=answer)

    @overload
    def as_runnable(
        self, *, cancelled: Callable[[], bool] | None = None, output: Literal["answer"] = "answer"
    ) -> Runnable[Asked, Answer]: ...

    @overload
    def as_runnable(
        self, *, cancelled: Callable[[], bool] | None = None, output: Literal["message"]
    ) -> Runnable[Asked, AIMessage]: ...

    def as_runnable(
        self, *, cancelled: Callable[[], bool] | None = None, output: Literal["answer", "message"] = "answer"
    ) -> Runnable[Asked, Answer] | Runnable[Asked, AIMessage]:
        """The whole chain as a LangChain runnable. It takes a question, messages, or {"question", "history"}, and
        returns the Answer.

        Of several messages, the last human one is the question and those before it are the history; system messages are
        not obeyed. See `messages.asked` for what a mapping may hold. `stream` and `astream` yield the text in pieces as
        it is verified, then the Answer.

        With the output "message", an AIMessage replaces the Answer and message chunks replace the pieces, with the
        citations as annotations of the text. StrOutputParser, and whatever else follows a chat model, can then follow
        the chain. `cancelled` is as for `ask`. A cancelled task that awaits the answer also cancels the answer.
        """
        from chatbot.runnable import AS_ANSWER, AS_MESSAGE, AnswerChain

        if output == "answer":
            return AnswerChain(self, AS_ANSWER, cancelled)
        if output == "message":
            return AnswerChain(self, AS_MESSAGE, cancelled)
        raise ReaderError(f"The output {output!r} does not exist: it is 'answer' or 'message'.")

    def _footprint(self, cpu_seconds: float, seconds: float, answer: Answer) -> Footprint:
        footprint = machine_footprint(cpu_seconds, self._watts, self._grid)
        if self._reader is None or answer.usage is None:
            return footprint
        return replace(footprint, **self._reader.estimate(answer.usage, seconds))

    def _offline(
        self, question: str, history: Sequence[Turn], index: Index, cancelled: Callable[[], bool] | None
    ) -> Iterator[Event]:
        self._begin(index, cancelled)
        yield from _read_offline(understand(question, history, index), index)

    def _begin(self, index: Index, cancelled: Callable[[], bool] | None) -> None:
        # The deadline begins after loading: the first question on a new machine builds the encoders, and the first of a
        # process reads the prepared answers and tables.
        load_encoders(index)
        load_book(index)
        load_tables(index)
        deadline.begin(self._seconds, cancelled)

    def _with_model(
        self, question: str, history: Sequence[Turn], index: Index, cancelled: Callable[[], bool] | None
    ) -> Iterator[Event]:
        from chatbot.llm.reader import Reading, Tally, Unavailable

        assert self._reader is not None
        reader, tally, begun = self._reader, Tally(), False
        deadline.begin(reader.seconds, cancelled)
        patience = reader.patience()
        # Computed answers do not go through the model, which would repeat them with other figures.
        query = understand(question, history, index)
        if draft := answer_by_figures(query, index) or answer_by_sizing(query, index):
            yield from _known(query, draft)
            return
        query = _completed(query, index, reader, patience, tally)
        yield Event("stage", "reading")
        try:
            for step in reader.read(query, history, index, lambda times: _for_model(query, index, times), patience, tally):
                if not begun:
                    yield Event("stage", "checking")
                begun = True
                if isinstance(step, Reading):
                    yield from _of_reading(step, reader, tally, query, index)
                elif step:
                    yield Event("text", step)
        except Unavailable as reason:
            self._begin(index, cancelled)
            *_, last = _read_offline(query, index)
            assert last.answer is not None
            answer = last.answer if _is_safe(last.answer) else _refused(last.answer, query, index)
            yield Event("text", answer.text)
            cost = reader.cost(tally.usage)
            yield Event("answer", answer=replace(answer, notice=str(reason), usage=tally.usage, cost=cost))


def _for_model(query: Query, index: Index, times: int) -> tuple[Passage, ...]:
    """The passages that a search finds, with those that prove the prepared answer to a question of the same meaning."""
    near = nearest(query, index)
    proved = answer_of(near[0], index) if is_better(near, query, Alternative("refusal")) else None
    proofs = tuple(dict.fromkeys(evidence.passage for evidence in proved.evidence)) if proved else ()
    found = search(query, index, times)
    return merged([proofs, found], limit=len(proofs) + len(found)) if proofs else found


def _is_safe(answer: Answer) -> bool:
    """Whether an answer, its quotes and their titles are free of the instructions and keys that may have misled a model."""
    quoted = [part for c in answer.citations for part in (c.quote, c.passage.chunk.document.title)]
    return not any(map(is_instruction, (*answer.text.splitlines(), *quoted))) and all(without_marks(part) == part for part in quoted)


def _refused(answer: Answer, query: Query, index: Index) -> Answer:
    text, passages = _refusal(query, answer.passages, index)
    return replace(answer, text=text, passages=passages, citations=(), refused=True, choices=(), confidence=None, statements=(), workloads=(), near=False)


def _language_reader(model: str | BaseChatModel, settings: ModelSettings | None, clock: Clock | None) -> LanguageReader:
    from chatbot.llm.reader import LanguageReader

    return LanguageReader(model, settings or settings_from(os.environ, ModelSettings), clock)


def _completed(query: Query, index: Index, reader: LanguageReader, patience: Patience, tally: Tally) -> Query:
    """A question of a conversation as the model completes it; as rules did if that fails or it stands alone."""
    if not query.history or query.options or stands_alone(query.question):
        return query
    standalone = reader.condense(query.question, query.history, patience, tally)
    return replace(understand(standalone, (), index), question=query.question) if standalone else query


_UNREAD: tuple[Kind, Draft, Verified, tuple[Passage, ...]] = ("refusal", Draft("", ()), Verified("", (), ()), ())


def _read_offline(query: Query, index: Index) -> Iterator[Event]:
    """Answer a question. A false premise is corrected first, and the question answered with what is true in its place."""
    premise = false_premise(query, index)
    if premise is None:
        yield from _answered(query, index)
        return
    after = None
    if premise.question:
        *_, last = _answered(query if premise.question == query.standalone else understand(premise.question, query.history, index), index)
        after = last.answer if last.answer and not last.answer.refused else None
    *events, last = _known(query, premise.brief if after else premise.draft)
    if after and last.answer:
        corrected = " ".join(without_marks(last.answer.text).split())
        told = after if corrected in " ".join(without_marks(after.text).split()) else _joined(last.answer, after)
        events, last = [Event("text", line) for line in told.text.splitlines(keepends=True)], Event("answer", answer=replace(told, question=query.question))
    yield from (*events, last)


def _joined(first: Answer, second: Answer) -> Answer:
    """One answer followed by another, whose marks are renumbered."""
    number = len(first.citations)
    return replace(
        second,
        question=first.question,
        text=f"{first.text}\n{shifted(second.text, number)}",
        citations=(*first.citations, *(replace(c, number=c.number + number) for c in second.citations)),
        passages=tuple(dict.fromkeys((*first.passages, *second.passages))),
        statements=(*first.statements, *(replace(s, citations=tuple(n + number for n in s.citations)) for s in second.statements)),
        dropped=first.dropped + second.dropped,
    )


def _answered(query: Query, index: Index) -> Iterator[Event]:
    if computed := answer_by_figures(query, index):
        yield from _known(query, computed)
        return
    of_rows = asks_rows(query, index)
    near = () if of_rows else nearest(query, index)
    if not of_rows and not (near and near[0].probability >= SURE) and (told := describe_hardware(query, index)):
        yield from _known(query, told)
        return
    kind, known = without_documents(query, index)
    if not known and (each := answer_of_each(query, index, near, lambda part: whole_row(part, index))):
        yield from _known(query, each)
        return
    # A price per GPU or per GB is computed, because a prepared answer gives prices of whole machines.
    # A computation that lacks an input says so without evidence. For a long question ("story") that counts as a
    # refusal.
    lacks = bool(known and not known.evidence and is_story(query))
    if (lacks or not (known and asks_unit(query.question))) and is_better(near, query, Alternative("refusal") if lacks else Alternative(kind, STRONG)):
        known = answer_of(near[0], index) or known
    if known:
        yield from _known(query, known)
        return
    yield Event("stage", "reading")
    to_read = not near or is_worth_telling(query, SELDOM_SURER)
    kind, draft, verified, passages = from_documents(query, index) if to_read else _UNREAD
    other = alternative(kind, draft, near)
    if is_better(near, query, other) and (prepared := answer_of(near[0], index)):
        says_more = kind != "refusal" and not other.proves
        yield from _known(query, prepared.then(surest(query, draft)) if says_more else prepared)
        return
    if kind == "evidence" and near and not is_worth_telling(query, other.probability):
        kind, verified = "refusal", Verified("", (), ())
    if kind == "refusal" and (possible := may_serve(near, query)) and not is_outside(query, index) and (told := answer_of(possible, index, outright=False)):
        yield from _known(query, told)
        return
    yield Event("stage", "checking")
    if kind == "refusal":
        yield from _offline_answer(query, *_refusal(query, passages, index, near), verified, Draft("", ()))
    else:
        yield from _offline_answer(query, verified.text, passages, verified, draft)


def without_documents(query: Query, index: Index) -> tuple[Kind, Draft | None]:
    """Answer by computation or from rows of hardware tables. Return the kind of answer and its draft, or "evidence" and
    None if documents have to be read."""
    # If it is for a model, sizing comes before a comparison of hardware alone.
    sized_first = bool(query.sizes) or sizes_a_model(query, index)
    if sized_first and (draft := answer_by_sizing(query, index)):
        return "sized", draft
    compared_first = precedes_rows(query, index)
    if compared_first and (draft := compare_hardware(query, index, before_rows=True)):
        return "compared", draft
    if draft := row_answer(query, index):
        return "row", draft
    if not compared_first and (draft := compare_hardware(query, index)):
        return "compared", draft
    if not sized_first and (draft := answer_by_sizing(query, index)):
        return "sized", draft
    return "evidence", None


def from_documents(query: Query, index: Index) -> tuple[Kind, Draft, Verified, tuple[Passage, ...]]:
    """Answer from documents and rows of tables. Return the kind of answer, its draft, the verified text and the passages read."""
    passages: tuple[Passage, ...] = ()
    draft, verified = Draft("", ()), Verified("", (), ())
    for passages in () if is_outside(query, index, answered=True) else passages_to_read(query, index):
        draft = read(query, passages, index)
        verified = verify(draft.text, draft.evidence, [*(option.label for option in query.options), *query.sides, *draft.given], computed=draft.computed, said=draft.said)
        if verified.citations:
            return ("rows" if draft.from_rows else "evidence"), draft, verified, passages
    return "refusal", draft, verified, passages


def alternative(kind: Kind, draft: Draft, near: Sequence[Match]) -> Alternative:
    """The answer found without a prepared one, in the form that `is_better` weighs against prepared answers."""
    return Alternative(kind, draft.best.score, is_proved_by(near[0], draft.best)) if draft.best and near else Alternative(kind)


def _known(query: Query, draft: Draft) -> Iterator[Event]:
    """Verify and yield an answer that was computed or prepared. Its evidence is already known, so no passages are searched."""
    yield Event("stage", "checking")
    verified = verify(draft.text, draft.evidence, draft.given, computed=draft.computed, said=draft.said)
    passages = tuple(dict.fromkeys(c.passage for c in verified.citations))
    yield from _offline_answer(query, verified.text or REFUSAL, passages, verified, draft)


def _offline_answer(query: Query, text: str, passages: Sequence[Passage], verified: Verified, draft: Draft) -> Iterator[Event]:
    text = shown(text)
    yield from (Event("text", line) for line in text.splitlines(keepends=True))
    yield Event(
        "answer",
        answer=Answer(
            question=query.question,
            text=text,
            citations=verified.citations,
            passages=tuple(passages),
            refused=not verified.citations,
            choices=draft.choices,
            model=OFFLINE,
            seconds=0.0,
            dropped=len(verified.dropped),
            workloads=draft.workloads,
            statements=verified.statements if verified.citations else (),
            confidence=draft.confidence,
            near=draft.near and bool(verified.citations),
        ),
    )


def _of_reading(reading: Reading, reader: LanguageReader, tally: Tally, query: Query, index: Index) -> Iterator[Event]:
    refused, passages = not reading.verified.citations, reading.passages
    text = reading.verified.text
    if refused:
        text, passages = _refusal(query, passages, index)
    text = shown(text)
    if refused:
        yield Event("text", text)
    yield Event(
        "answer",
        answer=Answer(
            question="",
            text=text,
            citations=reading.verified.citations,
            passages=passages,
            refused=refused,
            choices=() if refused else reading.choices,
            model=reader.name,
            seconds=0.0,
            usage=tally.usage,
            cost=reader.cost(tally.usage),
            dropped=len(reading.verified.dropped),
            notice=reading.notice,
            statements=() if refused else reading.verified.statements,
        ),
    )


def _refusal(query: Query, passages: tuple[Passage, ...], index: Index, near: Sequence[Match] = ()) -> tuple[str, tuple[Passage, ...]]:
    """The text of a refusal and the passages to show with it.

    After the fixed sentence come the nearest questions that have an answer, or else the nearest sources by title. A
    question out of scope gets a description of the scope, and no passages.
    """
    if is_outside(query, index):
        return f"{REFUSAL} {SCOPE}", ()
    places = [f"“{match.question.answer.question}”" for match in near[:3] if match.probability >= WORTH_NAMING] or map(_place, passages[:3])
    # A title can contain an instruction or a link, like any other text of a document.
    nearest = list(dict.fromkeys(p for p in places if is_fit(p) and not is_instruction(p)))
    return f"{REFUSAL} Nearest in the sources: {'; '.join(nearest)}." if nearest else REFUSAL, passages


def _place(passage: Passage) -> str:
    section = passage.chunk.headings[-1] if passage.chunk.headings else ""
    title = passage.chunk.document.title
    return " ".join(without_marks(f"{title}, “{section}”" if section and section != title else title).split())
