"""A bounded work queue with its own threads, and send slots for channels that Slack has rate-limited."""

import threading
import time
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count

from chatbot.slack.journal import failed

Job = Callable[[], object]


# Quiet period before an answer is started, and the longest wait for one, in seconds.
_LULL = 0.03
_LONGEST_RUSH = 2.0
# Slack accepts one message per second in a channel.
_PACE = 1.0


class Rush:
    """Holds back new work until `ready` is set, and during bursts of events, so that each event is acknowledged first."""

    def __init__(self) -> None:
        self._latest = 0.0
        self.ready = threading.Event()
        self.ready.set()

    def noted(self) -> None:
        """Record that an event arrived."""
        self._latest = time.monotonic()

    def wait(self) -> None:
        """Block until `ready` is set and the burst is over, or has lasted too long."""
        self.ready.wait()
        end = time.monotonic() + _LONGEST_RUSH
        while (rest := self._latest + _LULL - time.monotonic()) > 0 and time.monotonic() < end:
            time.sleep(rest)


class Turns:
    """Send slots for channels that Slack has rate-limited: one per second, in order."""

    def __init__(self) -> None:
        self._free: dict[str, float] = {}
        self._lock = threading.Lock()

    def limited(self, channel: str, seconds: float) -> None:
        """Record that Slack accepts nothing in the channel for this many seconds."""
        with self._lock:
            self._free[channel] = max(self._free.get(channel, 0.0), time.monotonic() + seconds)

    def wait_for(self, channel: str) -> float:
        """Reserve the channel's next slot and return the seconds until it; 0 if the channel is not limited."""
        with self._lock:
            now = time.monotonic()
            turn = self._free.get(channel, 0.0)
            if turn <= now:
                self._free.pop(channel, None)
                return 0.0
            self._free[channel] = turn + _PACE
            return turn - now


class WorkQueue:
    """Runs jobs in order of arrival: up to `size` waiting, `workers` at a time, none started during a rush."""

    def __init__(self, name: str, *, workers: int, size: int, rush: Rush | None = None) -> None:
        self._rush = rush or Rush()
        self._size = size
        self._jobs: list[tuple[float, int, Job]] = []
        self._numbers = count()
        self._changed = threading.Condition()
        self._busy = 0
        self._stopping = self._hurried = False
        self._threads = [
            threading.Thread(target=self._work, name=f"{name}-{number}", daemon=True) for number in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def offer(self, job: Job) -> bool:
        """Add a job; False if the queue is full or stopping."""
        with self._changed:
            if self._stopping or len(self._jobs) >= self._size:
                return False
            self._push(job, time.monotonic())
        return True

    def later(self, job: Job, seconds: float) -> None:
        """Requeue a job that was accepted before, to run after this many seconds, without a worker waiting for it."""
        with self._changed:
            self._push(job, time.monotonic() + seconds)

    def ahead(self) -> int:
        """Return how many jobs come before one that is offered now."""
        with self._changed:
            return len(self._jobs) + self._busy

    def stop(self, seconds: float, *, hurry: bool = False) -> bool:
        """Accept no more jobs and finish those accepted; False if time ran out. With `hurry`, delayed jobs run at once."""
        with self._changed:
            self._stopping, self._hurried = True, self._hurried or hurry
            self._changed.notify_all()
        end = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _push(self, job: Job, due: float) -> None:
        heappush(self._jobs, (due, next(self._numbers), job))
        self._changed.notify()

    def _next(self) -> Job | None:
        """Return the next job once it is due; None once the queue is stopped and empty."""
        with self._changed:
            while True:
                rest = self._jobs[0][0] - time.monotonic() if self._jobs else None
                if rest is not None and (rest <= 0 or self._hurried):
                    self._busy += 1
                    return heappop(self._jobs)[2]
                # A running job may still requeue itself.
                if self._stopping and rest is None and not self._busy:
                    self._changed.notify_all()
                    return None
                self._changed.wait(rest)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            self._rush.wait()
            try:
                job()
            except Exception as error:
                # A failing job must not end its worker.
                failed("a job failed", error)
            finally:
                with self._changed:
                    self._busy -= 1
                    self._changed.notify()
