"""Run work in separate threads, a bounded number at once; it ends when nobody waits for it any more."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, closing, suppress
from http import HTTPStatus
from typing import TypeVar

from starlette.requests import Request

from chatbot.deadline import Cancelled
from chatbot.serve.failures import ClientGone, Failure

T = TypeVar("T")
Steps = Callable[[Callable[[], bool]], Iterator[T]]
# How long work accepted before a stop may still take; the server itself waits two seconds longer.
STOP_SECONDS = 3.0
_RETRY_SECONDS = "2"
_LOOK_SECONDS = 0.1


class Work:
    """Runs up to `at_once` pieces of work while up to `waiting` more wait; each has `seconds` from its arrival on."""

    def __init__(self, *, at_once: int, waiting: int, seconds: float) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._places = at_once + waiting
        self._seconds = seconds
        self._stops: float | None = None

    def stop(self) -> None:
        """Accept no more work, and end accepted work within `STOP_SECONDS`."""
        self._stops = self._stops or time.monotonic() + STOP_SECONDS

    async def steps(self, begin: Steps[T]) -> AsyncGenerator[T, None]:
        """Yield the steps of an iterator that is begun and read in a thread.

        `begin` is given a function that tells whether to end early. Raises Failure if there is no place or no time left, or
        if the server stops, and what the iterator raises.
        """
        if self._stops is not None:
            raise self._given_up()
        if self._places <= 0:
            text = f"The server is busy. Ask again in {_RETRY_SECONDS} seconds."
            raise Failure(HTTPStatus.SERVICE_UNAVAILABLE, text, "busy", {"Retry-After": _RETRY_SECONDS})
        self._places -= 1
        ends, gone, started = time.monotonic() + self._seconds, threading.Event(), False

        def is_over() -> bool:
            now = time.monotonic()
            return gone.is_set() or now > ends or (self._stops is not None and now > self._stops)

        try:
            await self._turn(is_over)
            came, started = self._start(begin, is_over), True
            while (step := await _next(came, is_over)) is not None:
                if isinstance(step, BaseException):
                    raise step
                yield step
        except (TimeoutError, Cancelled) as error:
            raise self._given_up() from error
        finally:
            gone.set()
            if not started:
                self._places += 1

    async def _turn(self, is_over: Callable[[], bool]) -> None:
        """Wait until the work may run, first come, first served; raises TimeoutError if it is over before."""
        acquiring = asyncio.create_task(self._free.acquire())
        try:
            while not acquiring.done():
                if is_over():
                    raise TimeoutError
                await asyncio.wait((acquiring,), timeout=_LOOK_SECONDS)
        except BaseException:
            if not acquiring.cancel():
                self._free.release()
            raise

    def _start(self, begin: Steps[T], is_over: Callable[[], bool]) -> "asyncio.Queue[T | BaseException | None]":
        """Begin the work in a new thread; the queue gets its steps, then None or the exception it raised."""
        came: asyncio.Queue[T | BaseException | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def tell(call: Callable[..., object], *arguments: object) -> None:
            with suppress(RuntimeError):  # the server has ended meanwhile
                loop.call_soon_threadsafe(call, *arguments)

        def work() -> None:
            try:
                with closing(begin(is_over)) as steps:  # type: ignore[type-var]
                    for step in steps:
                        tell(came.put_nowait, step)
                tell(came.put_nowait, None)
            except BaseException as error:
                tell(came.put_nowait, error)
            finally:
                tell(self._leave)

        try:
            # A daemon, so that a thread that still waits for a language model does not keep the process from ending.
            threading.Thread(target=work, name="answer", daemon=True).start()
        except RuntimeError:  # the system has no more threads
            self._free.release()
            raise
        return came

    def _leave(self) -> None:
        self._places += 1
        self._free.release()

    def _given_up(self) -> Failure:
        if self._stops is not None:
            return Failure(HTTPStatus.SERVICE_UNAVAILABLE, "The server is stopping. Ask again.", "stopping")
        text = f"There was no answer within {self._seconds:g} seconds. Ask something shorter, or have the operator raise WATTWISE_SERVE_SECONDS."
        return Failure(HTTPStatus.GATEWAY_TIMEOUT, text, "timeout", {"x-should-retry": "false"})


async def _next(came: "asyncio.Queue[T]", is_over: Callable[[], bool]) -> T:
    """Return what comes next; raises TimeoutError if the work is over before, without waiting for a thread that is stuck."""
    while True:
        with suppress(TimeoutError):
            return await asyncio.wait_for(came.get(), _LOOK_SECONDS)
        if is_over():
            raise TimeoutError


async def last(steps: AsyncGenerator[T, None]) -> T:
    """Return the last of some steps; there must be at least one."""
    async with aclosing(steps):
        async for step in steps:
            found = step
    return found


async def while_there(request: Request, result: Awaitable[T]) -> T:
    """Return a result; if the client disconnects before, cancel the work and raise ClientGone."""
    working, leaving = asyncio.ensure_future(result), asyncio.create_task(_left(request))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGone
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
