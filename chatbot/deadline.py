"""How long the work on a question may go on, and whether anybody still waits for its answer; every stage checks."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import TypeVar

from chatbot.answer import ReaderError

T = TypeVar("T")


class OutOfTime(ReaderError):
    """A question took longer than its deadline allows."""


class Cancelled(ReaderError):
    """Nobody waits for the answer any more."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What bounds the work on a question: `WATTWISE_DEADLINE`, in seconds from when its reading begins.

    It holds where wattwise reads by itself. Where a language model writes, `ModelSettings` reads the same variable, with a
    default that its servers need; when the model fails and wattwise reads after all, its own time begins then.

    What counts is the time of the processor that the question's thread takes: a question that waits for others, as many do at
    once after a start, is not given up for that. By the clock it may take twelve times as long, whatever it waits for.
    """

    deadline: float = 5.0

    def __post_init__(self) -> None:
        if not self.deadline > 0:
            raise ReaderError(
                f"WATTWISE_DEADLINE is {self.deadline:g}: it takes a number of seconds above 0, for example 5."
            )


_WAITING = 12


@dataclass(slots=True)
class _Deadline:
    """`worked` is the time of the processor before this step, which began when its thread's own stood at `since`."""

    seconds: float
    ends: float
    cancelled: Callable[[], bool]
    worked: float
    since: float


_DEADLINE: ContextVar[_Deadline | None] = ContextVar("deadline", default=None)


def begin(seconds: float, cancelled: Callable[[], bool] | None = None) -> None:
    """Give the work of this context so many seconds from now, and ask `cancelled` at each check whether to go on."""
    ends = time.monotonic() + _WAITING * seconds
    _DEADLINE.set(_Deadline(seconds, ends, cancelled or _never, 0.0, time.thread_time()))


def check() -> None:
    """Raise OutOfTime or Cancelled where the work of this context must end; nothing where no deadline was begun."""
    deadline = _DEADLINE.get()
    if deadline is None:
        return
    if deadline.cancelled():
        raise Cancelled("Stopped before the answer was there. Ask again.")
    worked = deadline.worked + time.thread_time() - deadline.since
    if worked > deadline.seconds or time.monotonic() > deadline.ends:
        raise OutOfTime(
            f"The question takes longer than {deadline.seconds:g} seconds. Ask something shorter, or set WATTWISE_DEADLINE to more."
        )


def apart(steps: Iterator[T]) -> Iterator[T]:
    """The steps of an iterator, each taken in one context of its own, so that a deadline begun there binds nobody else."""
    context = copy_context()
    with closing(steps):  # type: ignore[type-var]
        while True:
            try:
                step = context.run(_step, steps)
            except StopIteration:
                return
            yield step


def _step(steps: Iterator[T]) -> T:
    """One step; the next may be another thread's, whose time of the processor has nothing to do with this one's."""
    if (before := _DEADLINE.get()) is not None:
        before.since = time.thread_time()
    step = next(steps)
    if (deadline := _DEADLINE.get()) is not None:
        deadline.worked += time.thread_time() - deadline.since
        deadline.since = time.thread_time()
    return step


def _never() -> bool:
    return False
