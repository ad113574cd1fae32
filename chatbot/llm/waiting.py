"""Limits on the wait for a model: for its first word, between two words, and in all. The caller can cancel at any time.

Clients only bound the wait for a server's next bytes, but a server may send a role or an empty line at once and then load a
model or think for minutes. So a separate thread reads the model, one piece at a time and without reading ahead, and the
thread that answers waits for each piece as long as the current limit allows.
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

from chatbot.deadline import LOOKS_UP, check
from chatbot.llm.failures import Clock

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import RunnableConfig

T = TypeVar("T")


@dataclass
class Patience:
    """The time limits of one answer.

    All attempts end at `ends`, but waits for first words, of `first` seconds in all, put that off. Once a model is
    `speaking`, `between` bounds each silence.
    """

    clock: Clock
    ends: float
    first: float
    between: float
    speaking: bool = False

    def left(self) -> float:
        """Return the seconds left for another attempt; 0 if the time for first words is used up."""
        return self.ends - self.clock.now() if self.first > 0 else 0.0

    def put_off(self, seconds: float) -> None:
        """Count a wait for first words: it uses up `first` and puts off `ends`."""
        self.first -= seconds
        self.ends += seconds

    def next_of(self, arrived: SimpleQueue[T]) -> T:
        """Return what comes next; raises TimeoutError if nothing does in time."""
        began, since = self.clock.now(), time.monotonic()
        limit = min(self.between, self.ends - began) if self.speaking else self.first
        try:
            while (left := since + limit - time.monotonic()) > 0:
                check()
                try:
                    return arrived.get(timeout=min(left, LOOKS_UP))
                except Empty:
                    continue
            raise TimeoutError
        finally:
            if not self.speaking:
                self.put_off(self.clock.now() - began)


@dataclass
class _Reader:
    """Reads an iterator in a separate thread, each piece when it is asked for."""

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
        """Stop reading; a read in progress ends with its client's own timeout."""
        self.is_left = True
        self.wanted.release()


def timely(pieces: Callable[[], Iterator[T]], patience: Patience) -> Iterator[T]:
    """Yield the pieces within the time limits; raises what reading them raises, and TimeoutError."""
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
                    del what  # a frame that still refers to its exception keeps the connection open
            yield what
    finally:
        reader.leave()


class Timely(Runnable[Any, Any]):
    """A model with time limits; traces and callbacks still see the model's own run."""

    def __init__(self, model: Runnable[Any, BaseMessage], patience: Patience) -> None:
        self._model, self._patience = model, patience

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> BaseMessage:
        def whole() -> Iterator[BaseMessage]:
            yield self._model.invoke(input, config, **kwargs)

        with closing(timely(whole, self._patience)) as pieces:  # type: ignore[type-var]
            return next(pieces)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[BaseMessage]:
        yield from timely(lambda: self._model.stream(input, config, **kwargs), self._patience)
