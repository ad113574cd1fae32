"""The footprint of an answer on this machine: its CPU time as energy and carbon."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

from chatbot.answer import Footprint, ReaderError
from ingest import Index

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FootprintSettings:
    """The assumptions about this machine, from `WATTWISE_WATTS` and `WATTWISE_GRID`.

    `watts` is the power of one busy core. The default is that of an EC2 vCPU: the median host without accelerators
    draws 1.65 W per vCPU at half load (`corpus/facts/host-power.csv`), which is 3.3 W for each busy one. `grid` is the
    carbon intensity of the electricity, in g CO2e per kWh or as an AWS region of the index; without it no carbon is
    computed.
    """

    watts: float = 3.3
    grid: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.watts < math.inf:
            raise ReaderError(f"WATTWISE_WATTS is {self.watts:g}: it takes the watts of one busy core, such as 3.3.")


class Meter:
    """The CPU seconds of this process, shared equally among the steps that run at the same time.

    The whole process is measured, because sentences are encoded in threads of their own.
    """

    def __init__(self, clock: Callable[[], float] = time.process_time) -> None:
        self._clock = clock
        self._lock = Lock()
        self._running = 0
        self._changed = self._share = 0.0

    def metered(self, steps: Iterator[T]) -> Iterator[tuple[T, float]]:
        """Yield each step with the CPU seconds that it and earlier steps took. Time between steps is not counted."""
        spent = 0.0
        while True:
            began = self._shared(running=1)
            try:
                step = next(steps)
            except StopIteration:
                return
            finally:
                spent += self._shared(running=-1) - began
            yield step, spent

    def _shared(self, *, running: int) -> float:
        """Return the CPU seconds that a step running all the time would have had as its share by now, and add `running`
        to the number of running steps."""
        with self._lock:
            now = self._clock()
            if self._running:
                self._share += (now - self._changed) / self._running
            self._changed, self._running = now, self._running + running
            return self._share


metered = Meter().metered


def machine_footprint(cpu_seconds: float, watts: float, grid: float | None) -> Footprint:
    """The energy of CPU seconds at this power, and its carbon if the grid's g CO2e per kWh are known."""
    wh = cpu_seconds * watts / 3600
    return Footprint(cpu_seconds, wh, None if grid is None else wh / 1000 * grid)


def grid_carbon(grid: str, index: Index) -> float | None:
    """The g CO2e per kWh that `WATTWISE_GRID` gives; None for "". Raises ReaderError if it is neither a number nor a region."""
    if not grid:
        return None
    try:
        grams = float(grid)
    except ValueError:
        from chatbot.sizing.facts import Facts

        known = Facts.load(index).grids.get(grid)
        grams = known.g_co2_per_kwh if known else math.nan
    if not 0 <= grams < math.inf:
        raise ReaderError(
            f"WATTWISE_GRID is {grid!r}: it takes g CO2e per kWh, such as 56, or an AWS region of the index, such as eu-west-1."
        )
    return grams
