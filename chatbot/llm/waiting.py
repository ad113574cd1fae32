"""How long a model is waited for: for its first word, between two words, and in all. Whoever asked can leave at any time.

Clients bound the wait for a server's next bytes, and nothing else: a server may send a role or an empty line at once, then load a
model or think for minutes. So a thread of its own reads the model, one piece at a time and none ahead, and the thread that
answers waits for it as long as is right at that moment.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from contextvars import copy_context
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Semaphore, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.runnables import Runnable

from chatbot.deadline import check
from chatbot.llm.failures import Clock

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import RunnableConfig

T = TypeVar("T")
# How soon a wait notices, in seconds, that nobody wants the answer any more.
_LOOKS_UP = 0.1


@dataclass
class Patience:
    """What is left of it for one answer: all attempts end at `ends`, but the waits for first words, `first` seconds of them
    together, put that off. Once a model speaks, `between` bounds each silence."""

    clock: Clock
    ends: float
    first: float
    between: float
    speaking: bool = False

    def left(self) -> float:
        """Seconds for one more attempt, none where the wait for a first word has used up its own."""
        return self.ends - self.clock.now() if self.first > 0 else 0.0

    def put_off(self, seconds: float) -> None:
        """Count a wait for first words."""
        self.first -= seconds
        self.ends += seconds

    def next_of(self, arrived: SimpleQueue[T]) -> T:
        """What comes next; TimeoutError where nothing does in time."""
        began, since = self.clock.now(), time.monotonic()
        limit = min(self.between, self.ends - began) if self.speaking else self.first
        try:
            while (left := since + limit - time.monotonic()) > 0:
                check()
                try:
                    return arrived.get(timeout=min(left, _LOOKS_UP))
                except Empty:
                    continue
            raise TimeoutError
        finally:
            if not self.speaking:
                self.put_off(self.clock.now() - began)


@dataclass
class _Reader:
    """The pieces of an iterator, read in a thread of its own, each when it is asked for."""

    pieces: Callable[[], Iterator[Any]]
    arrived: SimpleQueue[tuple[str, Any]] = field(default_factory=SimpleQueue)
    wanted: Semaphore = field(default_factory=lambda: Semaphore(0))
    is_left: bool = False

    def run(self) -> None:
        try:
            with closing(self.pieces()) as pieces:  # type: ignore[type-var]
                while self._is_asked():
                    self.arrived.put(("piece", next(pieces)))
        except StopIteration:
            self.arrived.put(("end", None))
        except BaseException as error:
            self.arrived.put(("error", error))

    def _is_asked(self) -> bool:
        self.wanted.acquire()
        return not self.is_left

    def leave(self) -> None:
        """Read no further; a read that is under way ends with its client's own timeout."""
        self.is_left = True
        self.wanted.release()


def timely(pieces: Callable[[], Iterator[T]], patience: Patience) -> Iterator[T]:
    """The pieces, as long as there is patience; raises what reading them raises, and TimeoutError."""
    reader = _Reader(pieces)
    Thread(target=copy_context().run, args=(reader.run,), name="model", daemon=True).start()
    try:
        while True:
            reader.wanted.release()
            kind, what = patience.next_of(reader.arrived)
            if kind == "end":
                return
            if kind == "error":
                try:
                    raise what
                finally:
                    del what  # a frame that holds what it raised keeps the connection open
            yield what
    finally:
        reader.leave()


class Timely(Runnable[Any, Any]):
    """A model as it is, but for the wait: it is the model's own run that traces and callbacks see."""

    def __init__(self, model: Runnable[Any, BaseMessage], patience: Patience) -> None:
        self._model, self._patience = model, patience

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> BaseMessage:
        def whole() -> Iterator[BaseMessage]:
            yield self._model.invoke(input, config, **kwargs)

        with closing(timely(whole, self._patience)) as pieces:  # type: ignore[type-var]
            return next(pieces)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[BaseMessage]:
        yield from timely(lambda: self._model.stream(input, config, **kwargs), self._patience)
