"""The deadline of a question and its cancellation. Every stage checks both."""

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
    """The limit on the work on a question: `WATTWISE_DEADLINE`, in seconds from when its reading begins.

    It holds where wattwise reads by itself. Where a language model writes, `ModelSettings` reads the same variable,
    with a default that suits model servers. If the model fails and wattwise reads after all, its own time begins then.

    The limit is on the CPU time of the question's thread, so that a question is not given up because it waits for
    others, as many do at once after a start. The limit on wall-clock time is twelve times as long, whatever the
    question waits for.
    """

    deadline: float = 5.0

    def __post_init__(self) -> None:
        if not self.deadline > 0:
            raise ReaderError(
                f"WATTWISE_DEADLINE is {self.deadline:g}: it takes a number of seconds above 0, for example 5."
            )


# How often a wait checks, in seconds, whether the answer is still wanted.
LOOKS_UP = 0.1
# The limit on wall-clock time, in multiples of the limit on CPU time.
_WAITING = 12


@dataclass(slots=True)
class _Deadline:
    """`worked` is the CPU time of earlier steps; `since` is the thread's CPU time when the current step began."""

    seconds: float
    ends: float
    cancelled: Callable[[], bool]
    worked: float
    since: float


_DEADLINE: ContextVar[_Deadline | None] = ContextVar("deadline", default=None)


def begin(seconds: float, cancelled: Callable[[], bool] | None = None) -> None:
    """Limit the work of this context to this much CPU time from now on, in seconds. Each check also asks `cancelled`
    whether to stop."""
    ends = time.monotonic() + _WAITING * seconds
    _DEADLINE.set(_Deadline(seconds, ends, cancelled or _never, 0.0, time.thread_time()))


def check() -> None:
    """Raise OutOfTime or Cancelled if the work of this context must end; do nothing if no deadline was begun."""
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


def sleep(seconds: float) -> None:
    """Wait; raise what `check` raises soon after the work must end."""
    ends = time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        check()
        time.sleep(min(left, LOOKS_UP))


def apart(steps: Iterator[T]) -> Iterator[T]:
    """Yield the steps of an iterator, all run in one context of their own, so that a deadline begun there affects
    nothing else."""
    context = copy_context()
    with closing(steps):  # type: ignore[type-var]
        while True:
            try:
                step = context.run(_step, steps)
            except StopIteration:
                return
            yield step


def _step(steps: Iterator[T]) -> T:
    """Run one step and count its CPU time. The next step may run in another thread, whose CPU time is unrelated."""
    if (before := _DEADLINE.get()) is not None:
        before.since = time.thread_time()
    step = next(steps)
    if (deadline := _DEADLINE.get()) is not None:
        deadline.worked += time.thread_time() - deadline.since
        deadline.since = time.thread_time()
    return step


def _never() -> bool:
    return False
