"""The reader over a LangChain chat model: prompt, model and verification as one chain, with retries if time may help."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import astuple, dataclass, field
from operator import add
from pathlib import Path
from threading import Lock, Semaphore
from typing import TYPE_CHECKING, Any

from chatbot.answer import Passage, ReaderError, Turn, Usage
from chatbot.deadline import Cancelled, check
from chatbot.language.names import mentioned
from chatbot.llm import prompts, toolbox
from chatbot.llm.choices import examined
from chatbot.llm.costs import estimate, list_price, load_prices
from chatbot.llm.failures import ANSWERED_OFFLINE, Clock, Failure, Kind, Known, classify, delay
from chatbot.llm.models import (
    ModelSettings,
    caches_prompts,
    check_model,
    cites_documents,
    is_hosted,
    open_model,
    tells_its_end,
)
from chatbot.llm.remedies import cut_off, notice, sentence, shortened
from chatbot.llm.streaming import SentenceStream
from chatbot.llm.transcript import Transcript, after_thoughts
from chatbot.question.query import Query
from chatbot.verification.citations import Evidence, SecondOpinion, Verified, whole
from ingest import Index

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessageChunk, BaseMessage
    from langchain_core.runnables import Runnable

    from chatbot.llm.waiting import Patience

_log = logging.getLogger("wattwise")
_GUARDED = {"guardrail_intervened", "content_filter", "content_filtered"}
_CUT_OFF = {"length", "max_tokens", "max_output_tokens"}
# Models whose prompt template opens their thoughts, so that a server that does not separate these sends only the end mark.
_THINKS_ALOUD = re.compile(r"(?<![a-z])(?:r1|qwq|thinking|reasoning)(?![a-z])", re.IGNORECASE)
_LONGEST_QUESTION = 600
# Under these names LangChain counts the tokens that are written to a cache.
_TO_CACHE = ("cache_creation", "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")
# The most claims sent to a second judge; an answer with more unsure claims is not worth the cost of judging all.
_MOST_JUDGED = 24
# How many seconds in all a throttled question waits, if no other question is waiting.
_PATIENCE = 10.0

Search = Callable[[int], Sequence[Passage]]


class Unavailable(Exception):
    """The model gave nothing that can be shown; the message says why, and that another reader answers."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The outcome of a model's answer.

    `passages` are those it was given and any others that it cites. `notice` says why it ends early, if it does. `refuses`
    means that the model itself found no answer. `contradicted` marks an exam answer whose reason speaks against its letters.
    """

    verified: Verified
    choices: tuple[str, ...]
    passages: tuple[Passage, ...]
    notice: str = ""
    refuses: bool = False
    contradicted: bool = False


@dataclass
class Tally:
    """The tokens of all calls for one answer."""

    usage: Usage | None = None

    def add(self, metadata: Any) -> None:
        """Add the tokens that a message reports, unless what it reports are no counts."""
        details = (metadata or {}).get("input_token_details") or {}
        told = [*((metadata or {}).get(name) for name in ("input_tokens", "output_tokens")), *(details.get(name) for name in ("cache_read", *_TO_CACHE))]
        if metadata and all(count is None or (isinstance(count, int) and count >= 0) for count in told):
            read, written, cached, *to_cache = (count or 0 for count in told)
            before = self.usage or Usage(0, 0)
            self.usage = Usage(*map(add, astuple(before), (read, written, cached, sum(to_cache))))


@dataclass
class _LookedUp:
    """How many more rounds of tool calls are run for one answer, and what they have found so far."""

    rounds: int
    found: list[Evidence] = field(default_factory=list)


@dataclass
class _Attempt:
    """One attempt at an answer: what the model was given, what it has written, and what of that was shown."""

    query: Query
    index: Index
    passages: Sequence[Passage]
    # What the citation keys stand for: the passages, then table rows, then results of tools.
    evidence: list[Evidence]
    messages: list[BaseMessage]
    looked_up: _LookedUp
    patience: Patience
    tally: Tally
    # Asked about unsure claims once the answer is complete; None if the local judge decides alone.
    second: SecondOpinion | None = None
    transcript: Transcript = field(default_factory=Transcript)
    text: str = ""
    shown: bool = False
    # Why the model stopped, in the provider's own term.
    ended: str = ""
    reply: AIMessageChunk | None = None
    stream: SentenceStream = field(init=False)

    def __post_init__(self) -> None:
        self.stream = self._new_stream()

    def take(self, piece: str) -> str:
        """Add a piece of the answer and return the text that can now be shown.

        An exam answer, and one that two judges read, is shown only when it is complete.
        """
        self.text += piece
        return "" if self.query.options or self.second else self.stream.push(piece)

    def close(self) -> str:
        """End the answer and return the text that can now be shown."""
        piece = self.take(self.transcript.rest())
        if not self.shown and (answer := after_thoughts(self.text)) is not None:
            self.text, self.transcript.has_thought = answer, True
            return "" if self.query.options else self.read_again()
        if self.query.options:
            return piece
        return self.read_again() if self.second else piece + self.stream.close()

    def read_again(self) -> str:
        """Verify the whole answer again, with the verdicts of the second judge so far, and return all that can be shown."""
        self.stream = self._new_stream()
        return self.stream.push(self.text) + self.stream.close()

    def _new_stream(self) -> SentenceStream:
        return SentenceStream(self.evidence, self.query.sides, self.query.standalone, self.second)

    def has_only_thought(self) -> bool:
        """Whether no part of an answer has come yet, or all that has come is still a thought."""
        return self.transcript.is_thinking or not (self.text.strip() or self.shown or self.calls_tools())

    def has_anything(self) -> bool:
        """Whether some of the answer is verified; taken for granted of an exam answer, which is verified at the end."""
        return bool(self.query.options or self.stream.verified.citations)

    def calls_tools(self) -> bool:
        """Whether the reply calls tools, so that its text is not the answer yet."""
        return bool(self.reply and (self.reply.tool_calls or self.reply.invalid_tool_calls))

    def goes_on(self) -> None:
        """Run the called tools, add their results, and get ready to call the model again."""
        assert self.reply
        self.looked_up.rounds -= 1
        given = len(self.evidence)
        self.messages += [self.reply, *toolbox.run(self.reply, self.index, self.evidence, is_last=not self.looked_up.rounds)]
        self.looked_up.found += self.evidence[given:]
        self.reply, self.text, self.transcript = None, "", Transcript(self.transcript.thinks_aloud)
        self.stream.begin_again()

    def key_at(self, start: int, end: int) -> int:
        """Return the key of what the characters of the document in the prompt are: the very words if the source has them, else
        their passage."""
        document = self.messages[1].content[0]["document"]["source"]["text"]  # type: ignore[index]
        key = prompts.key_before(document, start)
        chunk, words = self.passages[key - 1].chunk, document[start:end].strip()
        at = chunk.text.find(words)
        if at < 0 or not words:
            return key
        cited = Evidence(self.passages[key - 1], chunk.start + at, chunk.start + at + len(words))
        if cited not in self.evidence:
            self.evidence.append(cited)
        return self.evidence.index(cited) + 1

    def reading(self, notice: str = "") -> Reading:
        """Return the outcome of the attempt."""
        if not self.query.options:
            verified = self.stream.verified
            return Reading(verified, (), self._read(verified), notice, self.stream.refuses)
        found = examined(self.text, self.query, self.stream.evidence)
        return Reading(found.verified, found.choices, self._read(found.verified), notice, found.refuses, found.contradicted)

    def _read(self, verified: Verified) -> tuple[Passage, ...]:
        """Return the passages that it was given, then any others that it cites."""
        return tuple(dict.fromkeys((*self.passages, *(citation.passage for citation in verified.citations))))


class LanguageReader:
    """Reads answers out of passages with a chat model, opened by name at the first question, or given as an object."""

    def __init__(self, model: str | BaseChatModel, settings: ModelSettings, clock: Clock | None = None) -> None:
        if isinstance(model, str):
            check_model(model)
        if settings.judge not in ("", "model"):
            check_model(settings.judge)
        self.name = model if isinstance(model, str) else _name_of(model)
        self._is_named = isinstance(model, str)
        self._model = None if isinstance(model, str) else model
        self._judge: BaseChatModel | None = None
        self._settings = settings
        self.seconds = settings.deadline
        self._clock = clock or Clock()
        self._prices = load_prices(Path(settings.prices)) if settings.prices else {}
        self._opening, self._waiting = Lock(), Semaphore()
        self._is_hosted = isinstance(model, str) and is_hosted(model, settings)
        self._priced = f"{self.name.partition(':')[0]}:{settings.base_model}" if settings.base_model else self.name
        self._takes_tools = settings.tools > 0
        # What is learned about the model from its replies.
        self._thinks = False
        self._thinks_aloud = isinstance(model, str) and bool(_THINKS_ALOUD.search(model))
        self._cites = isinstance(model, str) and cites_documents(model, settings.base_model)
        self._caches = isinstance(model, str) and caches_prompts(model, settings.base_model)

    def cost(self, usage: Usage | None) -> float | None:
        """Return US dollars by the user's own price table, else by the list price; None if neither has this model."""
        if usage is None or not (self._is_hosted or self.name in self._prices):
            return None
        return self._prices[self.name].of(usage) if self.name in self._prices else list_price(self._priced, usage)

    def estimate(self, usage: Usage, seconds: float) -> Mapping[str, float]:
        """Return the model's part of a `Footprint`, {} without an estimate."""
        return estimate(self._priced, usage, seconds) if self._is_hosted else {}

    def patience(self) -> Patience:
        """Return the time limits of an answer that begins now."""
        from chatbot.llm.waiting import Patience

        return Patience(self._clock, self._clock.now() + self.seconds, self._settings.first_token, self._settings.timeout)

    def condense(self, question: str, history: Sequence[Turn], patience: Patience, tally: Tally) -> str | None:
        """Rewrite a follow-up as a question that stands by itself; None if the model fails or adds what nobody said."""
        try:
            message = self._whole(self._opened(patience), prompts.condensing(question, history, self._settings.context_tokens), patience)
        except Cancelled:
            raise
        except Exception as error:
            _log.debug("the follow-up was not condensed: %s", classify(error).kind)
            return None
        tally.add(getattr(message, "usage_metadata", None))
        transcript = Transcript(self._thinks_aloud)
        condensed = (transcript.take(message.text) + transcript.rest()).strip().strip("\"'“”")
        said = " ".join([question, *(f"{turn.question} {turn.answer}" for turn in history)])
        return condensed if _is_faithful(condensed, said) else None

    def read(
        self, query: Query, history: Sequence[Turn], index: Index, search: Search, patience: Patience, tally: Tally
    ) -> Iterator[str | Reading]:
        """Yield the answer's text in verified pieces, then the Reading; `search(2)` gives twice the passages of `search(1)`.

        Besides the passages, the model reads the table rows that the question is about. It may call the tools over the index.

        If a first attempt leaves no answer, a second one gets twice the passages. If that leaves nothing verified either, or
        an exam answer that speaks against its letters, raise Unavailable, unless the model itself refused.
        Raises ReaderError with the remedy if the user can fix what is wrong, else Unavailable.
        """
        from chatbot.retrieval.hybrid_retriever import retrieved

        def found(times: int) -> Sequence[Passage]:
            return retrieved(query.standalone, lambda: search(times))

        limit, looked_up = self._settings.passages, _LookedUp(self._settings.tools)
        reading = yield from self._tried(query, history, index, found(1)[:limit], looked_up, patience, tally)
        if not _is_answer(reading, query) and not reading.notice:
            reading = yield from self._tried(query, history, index, found(2)[: 2 * limit], looked_up, patience, tally)
        if not (_is_answer(reading, query) or reading.refuses):
            raise Unavailable(f"{reading.notice} The sources bear out nothing that {self.name} wrote, so the offline reader answered.".lstrip())
        if query.options and reading.verified.text:
            yield reading.verified.text
        yield reading

    def _tried(
        self, query: Query, history: Sequence[Turn], index: Index, passages: Sequence[Passage], looked_up: _LookedUp, patience: Patience, tally: Tally
    ) -> Generator[str, None, Reading]:
        """Read once, with retries while they help: later if throttled, with half the passages if the prompt is too long.

        What tools found in an earlier attempt stands in the prompt.
        """
        number, waited = 0, 0.0
        while True:
            number += 1
            rows = toolbox.rows_for(query, passages, index, looked_up.found)
            messages = prompts.answering(query, passages, rows, history, self._settings.context_tokens, as_document=self._cites and not query.options, cached=self._caches)
            second = SecondOpinion() if self._settings.judge else None
            evidence = [*whole(passages), *rows]
            attempt = _Attempt(query, index, passages, evidence, messages, looked_up, patience, tally, second, Transcript(self._thinks_aloud))
            thinks = self._thinks
            failure = yield from self._answered(attempt)
            if failure is None:
                return attempt.reading(self._cut_off(attempt))
            if failure.kind is Kind.NO_ROOM and not thinks and self._makes_room():
                continue
            if self._caches and failure.kind is Kind.REJECTED and not attempt.shown:
                self._cites = self._caches = False  # only asking a model shows for certain what it can do
                continue
            if attempt.shown:
                yield attempt.close()
                return attempt.reading(shortened(failure.kind, self.name))
            if failure.kind is Kind.CONTEXT and len(passages) > 1:
                passages = passages[: len(passages) // 2]
                looked_up.found.clear()
                continue
            throttled = failure.kind is Kind.THROTTLED
            left = min(patience.left(), _PATIENCE - waited) if throttled else patience.left()
            wait = delay(number, failure, left, self._clock.jitter())
            # Of many throttled questions, one waits until the service takes requests again; others are answered without it.
            if wait is None or (throttled and not self._waiting.acquire(blocking=False)):
                raise self._conclusion(failure)
            try:
                self._clock.sleep(wait)
            finally:
                if throttled:
                    self._waiting.release()
            waited += wait

    def _conclusion(self, failure: Failure) -> Exception:
        if failure.kind in ANSWERED_OFFLINE:
            return Unavailable(notice(failure.kind, self.name))
        return ReaderError(sentence(failure.kind, self.name, self._settings))

    def _makes_room(self) -> bool:
        """Give a model that has used up its tokens for thoughts more from now on; False for one given as an object."""
        with self._opening:
            if self._is_named:
                self._thinks, self._model = True, None
            return self._is_named

    def _cut_off(self, attempt: _Attempt) -> str:
        """Return a notice that the answer is cut off, and why; "" if it is complete."""
        if attempt.transcript.has_thought and attempt.ended in _CUT_OFF:
            self._thinks = self._thinks or self._makes_room()
        is_cut = attempt.ended in _CUT_OFF or attempt.transcript.is_full
        return cut_off(self.name, self._settings) if is_cut and attempt.has_anything() else ""

    def _answered(self, attempt: _Attempt) -> Generator[str, None, Failure | None]:
        """Yield the pieces to show and return the failure, if any; tools that the model calls are run in between."""
        while True:
            failure = yield from self._called(attempt)
            if failure or not (attempt.calls_tools() and attempt.looked_up.rounds):
                return failure
            attempt.goes_on()

    def _called(self, attempt: _Attempt) -> Generator[str, None, Failure | None]:
        """Call the model once: yield the pieces to show and return the failure, if any."""
        # After the last round of calls they are still bound, because Bedrock takes no results without them.
        may_call = bool(attempt.looked_up.rounds) or attempt.messages[-1].type == "tool"
        with_tools = self._takes_tools and may_call and not attempt.query.options
        attempt.patience.speaking = False
        try:
            with closing(self._chain(attempt, with_tools=with_tools).stream(attempt.messages)) as pieces:  # type: ignore[type-var]
                for piece in pieces:
                    attempt.shown = attempt.shown or bool(piece)
                    yield piece
        except Cancelled:
            raise
        except Exception as error:
            # Client libraries may raise anything; in any case the user gets a sentence or the offline reader's answer.
            if with_tools and not attempt.shown and toolbox.takes_none(error):
                self._takes_tools = False
                return (yield from self._called(attempt))
            failure = classify(error)
            _log.debug("%s: %s (%s)", self.name, failure.kind, type(error).__name__)
            return failure
        return None

    def _chain(self, attempt: _Attempt, *, with_tools: bool) -> Runnable[list[BaseMessage], str]:
        """Return prompt, model and verification as a LangChain chain, so that its callbacks and traces see each step."""
        from langchain_core.runnables import RunnableGenerator, RunnableLambda

        from chatbot.llm.waiting import Timely

        def prompt(messages: list[BaseMessage]) -> list[BaseMessage]:
            return messages

        def verified(chunks: Iterator[BaseMessage]) -> Iterator[str]:
            yield from self._verified(chunks, attempt)

        model = self._opened(attempt.patience)
        bound: Runnable[Any, Any] = model.bind_tools(toolbox.specifications()) if with_tools else model
        return RunnableLambda(prompt) | Timely(bound, attempt.patience) | RunnableGenerator(verified)

    def _verified(self, chunks: Iterator[BaseMessage], attempt: _Attempt) -> Iterator[str]:
        end, patience = "", attempt.patience
        for chunk in _up_to_the_end(chunks):
            check()
            attempt.reply = _joined(attempt.reply, chunk)
            attempt.tally.add(getattr(chunk, "usage_metadata", None))
            end = _end_of(chunk) or end
            said = attempt.transcript.take(chunk.text + "".join(f" [{attempt.key_at(*place)}]" for place in _cited_places(chunk)))
            patience.speaking = patience.speaking or bool(said.strip()) or attempt.calls_tools()
            if piece := attempt.take(said):
                yield piece
            if self._clock.now() > patience.ends:
                raise TimeoutError
            if attempt.transcript.is_full or attempt.stream.loops:
                break
        if end in _GUARDED:
            raise Known(Kind.GUARDRAIL)
        if attempt.calls_tools() and attempt.looked_up.rounds:
            return
        if not end and tells_its_end(self.name) and not (attempt.transcript.is_full or attempt.stream.loops):
            raise Known(Kind.CUT)
        if end in _CUT_OFF and attempt.has_only_thought():
            raise Known(Kind.NO_ROOM)
        attempt.ended = end
        piece = attempt.close()
        self._thinks_aloud = attempt.transcript.has_thought and not attempt.transcript.was_opened
        yield self._judged_again(attempt, piece)

    def _judged_again(self, attempt: _Attempt, piece: str) -> str:
        """Return the text to show after a second judge has ruled on unsure claims; `piece` if there are none or it fails."""
        if attempt.second is None or not attempt.second.unsure:
            return piece
        unsure = list(dict.fromkeys(attempt.second.unsure))[:_MOST_JUDGED]
        patience = attempt.patience
        try:
            patience.speaking = False
            judge = self._opened(patience) if self._settings.judge == "model" else self._opened_judge()
            message = self._whole(judge, prompts.judging(unsure), patience)
        except Cancelled:
            raise
        except Exception as error:
            # Client libraries may raise anything; the local judge has decided already.
            _log.debug("nobody judged a second time: %s", classify(error).kind)
            return piece
        attempt.second.given = verdicts(message.text, unsure)
        attempt.tally.add(getattr(message, "usage_metadata", None))
        return attempt.read_again()

    def _whole(self, model: BaseChatModel, messages: Sequence[BaseMessage], patience: Patience) -> BaseMessage:
        """Return a model's reply in one piece."""
        from chatbot.llm.waiting import Timely

        return Timely(model, patience).invoke(messages)

    def _opened(self, patience: Patience) -> BaseChatModel:
        began = self._clock.now()
        with self._opening:
            if self._model is None:
                try:
                    self._model = open_model(self.name, self._settings, thinks=self._thinks)
                except Exception as error:
                    if classify(error).kind is not Kind.FAILED:
                        raise
                    raise Known(Kind.NO_MODEL) from error
                finally:
                    # Opening may load a model in this process, so it counts as a wait for the first word.
                    patience.put_off(self._clock.now() - began)
            return self._model

    def _opened_judge(self) -> BaseChatModel:
        with self._opening:
            if self._judge is None:
                self._judge = open_model(self._settings.judge, self._settings)
            return self._judge


def _joined(reply: AIMessageChunk | None, chunk: BaseMessage) -> AIMessageChunk | None:
    """Add a chunk to the message so far; a model that does not stream gives it whole."""
    from langchain_core.messages import AIMessage, AIMessageChunk

    if isinstance(chunk, AIMessageChunk):
        chunk = chunk.model_copy(update={"usage_metadata": None})  # it may be malformed, and adding would check it
        return chunk if reply is None else reply + chunk
    if isinstance(chunk, AIMessage):
        return AIMessageChunk(content=chunk.content, tool_calls=chunk.tool_calls, invalid_tool_calls=chunk.invalid_tool_calls)
    return reply


def _up_to_the_end(chunks: Iterator[BaseMessage]) -> Iterator[BaseMessage]:
    """Yield the pieces of an answer. What fails after the model has said why it stopped does the answer no harm: malformed
    counts of tokens, a broken connection."""
    from langchain_core.messages import AIMessageChunk

    end = ""
    try:
        for chunk in chunks:
            end = _end_of(chunk) or end
            yield chunk
    except Cancelled:
        raise
    except Exception as error:
        if not end and not _is_of_counts(error):
            raise
        yield AIMessageChunk(content="", response_metadata={"finish_reason": end or "stop"})


def _is_of_counts(error: Exception) -> bool:
    """Whether a client could not read a piece for its counts alone; Ollama's come with the reason of the end."""
    wrong: list[Mapping[str, Any]] = getattr(error, "errors", list)() if type(error).__name__ == "ValidationError" else []
    return bool(wrong) and all(str(detail["loc"][0]).endswith(("_count", "_duration")) for detail in wrong)


def _end_of(chunk: BaseMessage) -> str:
    """Return why a model stopped, in its provider's own term; "" while it has not."""
    told = chunk.response_metadata
    if told.get("status") in ("completed", "incomplete"):  # OpenAI's Responses API
        return str((told.get("incomplete_details") or {}).get("reason") or told["status"])
    return str(next((told[key] for key in ("stopReason", "finish_reason", "done_reason") if told.get(key)), ""))


def _cited_places(chunk: BaseMessage) -> Iterator[tuple[int, int]]:
    """Yield the characters of the document that a piece of an answer cites by Bedrock's own citations."""
    for block in chunk.content if isinstance(chunk.content, list) else ():
        for citation in (block.get("citations") or () if isinstance(block, dict) else ()):
            place = (citation.get("location") or {}).get("document_char") or {}  # LangChain's form of Bedrock's documentChar
            if isinstance(start := place.get("start"), int) and isinstance(end := place.get("end"), int):
                yield start, end


def verdicts(written: str, asked: Sequence[tuple[str, str]]) -> dict[tuple[str, str], bool]:
    """Parse what a second judge says of each claim, by claim and evidence, without those that it leaves out or garbles."""
    found: dict[str, Any] = {}
    for match in re.finditer(r"\{[^{}]{0,2000}\}", written):
        with suppress(ValueError):
            found = json.loads(match.group())
    return {pair: found[str(n)] for n, pair in enumerate(asked, start=1) if isinstance(found.get(str(n)), bool)}


def _is_answer(reading: Reading, query: Query) -> bool:
    return bool(reading.verified.citations) and bool(reading.choices or not query.options) and not reading.contradicted


def _is_faithful(condensed: str, said: str) -> bool:
    """Whether a condensed question is one short line, with no number or name that the conversation lacks."""
    numbers = set(re.findall(r"\d+", condensed)) - set(re.findall(r"\d+", said))
    names = {name for name in mentioned(condensed) if name not in mentioned(said) and name not in said.lower()}
    return bool(condensed) and "\n" not in condensed and len(condensed) <= _LONGEST_QUESTION and not (numbers or names)


def _name_of(model: BaseChatModel) -> str:
    """Return a model string for a model that was given as an object."""
    told = model._identifying_params
    name = next((told[key] for key in ("model_name", "model", "model_id") if told.get(key)), "")
    return ":".join(dict.fromkeys(part for part in (model._llm_type, str(name)) if part))
