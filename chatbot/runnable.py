"""The whole chain as a LangChain runnable, for any program, with or without asyncio.

It is separate from `bot`, so that a process that only asks questions need not import LangChain.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import reduce
from typing import Any, Generic, TypeVar, cast

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig, RunnableGenerator, ensure_config, run_in_executor
from langchain_core.runnables.config import merge_configs

from chatbot.answer import Answer
from chatbot.bot import Chatbot, Event
from chatbot.deadline import Cancelled
from chatbot.messages import Asked, as_end, as_message, as_piece, asked

Given = TypeVar("Given")


@dataclass(frozen=True, slots=True)
class Form(Generic[Given]):
    """How an answer leaves the chain: as a whole, or as pieces of text followed by an end."""

    output_type: Any
    whole: Callable[[Answer], Given]
    piece: Callable[[str], Given]
    end: Callable[[Answer], Given]


def _same(answer: Any) -> Answer:
    # Text pieces pass through here, too. The next step of a chain takes the last value, which is the Answer.
    return cast(Answer, answer)


# Any, because LangChain draws a chain from its output types, and cannot do so with Answer.
AS_ANSWER: Form[Answer] = Form(Any, _same, _same, _same)
AS_MESSAGE: Form[AIMessage] = Form(AIMessage, as_message, as_piece, as_end)


class AnswerChain(RunnableGenerator[Asked, Given]):
    """The runnable that `Chatbot.as_runnable` returns."""

    __hash__ = object.__hash__  # type: ignore[assignment]  # LangChain's generators are not hashable, but programs keep runnables in sets

    def __init__(self, bot: Chatbot, form: Form[Given], cancelled: Callable[[], bool] | None = None) -> None:
        super().__init__(self._streamed, self._astreamed, name="AnswerChain")
        self.bot, self.form, self.cancelled = bot, form, cancelled

    @property
    def InputType(self) -> Any:
        return Asked

    @property
    def OutputType(self) -> Any:
        return self.form.output_type

    def invoke(self, input: Asked, config: RunnableConfig | None = None, **kwargs: Any) -> Given:
        return self._call_with_config(self._answered, input, _quiet(config), run_type="chain")

    async def ainvoke(self, input: Asked, config: RunnableConfig | None = None, **kwargs: Any) -> Given:
        return await self._acall_with_config(self._aanswered, input, _quiet(config), run_type="chain")

    def transform(self, input: Iterator[Asked], config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Given]:
        return super().transform(input, _quiet(config), run_type="chain")

    def atransform(
        self, input: AsyncIterator[Asked], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Given]:
        return super().atransform(input, _quiet(config), run_type="chain")

    def _answered(self, input: Asked) -> Given:
        return self.form.whole(self.bot.ask(*asked(input), cancelled=self.cancelled))

    async def _aanswered(self, input: Asked) -> Given:
        *_, last = [event async for event in self._events(input)]
        assert last.answer is not None
        return self.form.whole(last.answer)

    def _streamed(self, inputs: Iterator[Asked]) -> Iterator[Given]:
        for event in self.bot.stream(*asked(_joined(inputs)), cancelled=self.cancelled):
            yield from self._shown(event)

    async def _astreamed(self, inputs: AsyncIterator[Asked]) -> AsyncIterator[Given]:
        async with aclosing(self._events(_joined([input async for input in inputs]))) as events:
            async for event in events:
                for piece in self._shown(event):
                    yield piece

    def _shown(self, event: Event) -> Iterator[Given]:
        """Yield the output for a step of a streamed answer; nothing for a stage."""
        if event.kind != "stage":
            yield self.form.piece(event.text) if event.answer is None else self.form.end(event.answer)

    async def _events(self, input: Asked) -> AsyncGenerator[Event, None]:
        """Yield the steps of an answer, each taken in a thread. The work ends soon after the waiting task is cancelled."""
        left = threading.Event()

        def nobody_waits() -> bool:
            return left.is_set() or (self.cancelled is not None and self.cancelled())

        events = self.bot.stream(*asked(input), cancelled=nobody_waits)

        def end() -> None:
            # When nobody waits, the next step ends the work. Closing would make LangChain read the model to its end.
            with suppress(Cancelled, ValueError):
                for _ in events:
                    pass

        def step() -> Event | None:
            event = next(events, None)
            if left.is_set():
                end()
            return event

        try:
            while (event := await run_in_executor(None, step)) is not None:
                yield event
        except (asyncio.CancelledError, GeneratorExit):
            left.set()
            # If a step is still running, this fails, and that step ends the work itself.
            threading.Thread(target=end, daemon=True).start()
            raise


def _quiet(config: RunnableConfig | None) -> RunnableConfig:
    """Return a config with which LangGraph's `stream_mode="messages"` does not show unverified text of a model."""
    return merge_configs(ensure_config(config), {"tags": ["nostream"]})


def _joined(inputs: Iterable[Asked]) -> Any:
    """Join an input that came in pieces, as LangChain's own runnables do."""
    return reduce(_added, inputs, None)


def _added(before: Any, piece: Any) -> Any:
    try:
        return before + piece
    except TypeError:
        return piece
