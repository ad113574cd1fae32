"""Kills in the middle of a sync: the old index or the new one must remain, and the next sync must give the new one.

    python -m benchmarks.campaign.kill [--seed N] [--count N] [--encoder NAME]

A process is killed at one of its steps (a call into SQLite or the file system) or at a moment, which may be inside such
a call, while it makes an index, changes one, or replaces a damaged one. The exit code is 1 if an index is anything
else, or is not the same as a fresh one after the next sync.
"""

import multiprocessing
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Literal

from benchmarks.campaign.contents import Campaign, change_corpus, contents, launch, write_corpus
from ingest import CorpusError, check, sync

Start = Literal["none", "old", "damaged"]
STARTS: tuple[Start, ...] = ("none", "old", "damaged")
_STEPS = {"execute", "executemany", "commit", "write", "rename", "replace", "link", "unlink", "mkdir", "rmdir", "scandir"}
_PROCESSES = multiprocessing.get_context("forkserver")


@dataclass(frozen=True, slots=True)
class Sync:
    """A sync to be killed: its start, and how many steps and seconds it takes if nobody kills it."""

    start: Start
    index: Path
    steps: int
    seconds: float


def run(folder: Path, seed: int, count: int, encoder: str) -> Campaign:
    """Kill `count` syncs, taking the starts in turn; `folder` is empty."""
    _PROCESSES.set_forkserver_preload(["ingest.syncing", "ingest.storage.lexical", "tantivy", "benchmarks.campaign.contents"])
    chance, campaign = random.Random(seed), Campaign()
    corpus = write_corpus(folder / "corpus")
    sync([corpus], folder / "old", encoder=encoder)
    shutil.copytree(folder / "old", folder / "damaged")
    _damage(folder / "damaged" / "store.sqlite")
    old = contents(folder / "old")
    change_corpus(corpus)
    sync([corpus], folder / "new", encoder=encoder)
    new = contents(folder / "new")
    syncs = [_measured(start, folder, corpus, encoder) for start in STARTS]
    for number in range(count):
        killed = syncs[number % len(syncs)]
        place = folder / str(number)
        how = _kill(killed, corpus, place, encoder, chance)
        after = _after(place, {"old": old, "new": new})
        campaign.outcomes[f"before: {killed.start}", f"after: {after}"] += 1
        if after not in {killed.start, "new"}:
            campaign.breaches.append(f"{how}, before: {killed.start}, after: {after}")
        sync([corpus], place, encoder=encoder)
        if contents(place) != new or check(place) or len(list(place.glob("derived-*"))) != 1:
            campaign.breaches.append(f"{how}, before: {killed.start}: after the next sync it is not as a fresh one")
        shutil.rmtree(place)
    return campaign


def _damage(store: Path) -> None:
    store.write_bytes(store.read_bytes()[:9_000])


def _measured(start: Start, folder: Path, corpus: Path, encoder: str) -> Sync:
    place = folder / f"measured-{start}"
    _copied(folder / start, place)
    ours, theirs = _PROCESSES.Pipe()
    process = _PROCESSES.Process(target=_sync_measured, args=(corpus, place, encoder, theirs))
    process.start()
    steps, seconds = ours.recv()
    process.join()
    return Sync(start, folder / start, steps, seconds)


def _copied(index: Path, place: Path) -> None:
    if index.exists():
        shutil.copytree(index, place)


def _kill(killed: Sync, corpus: Path, place: Path, encoder: str, chance: random.Random) -> str:
    """Kill a sync, and return how it was killed."""
    _copied(killed.index, place)
    step = chance.choice([chance.randint(1, killed.steps), killed.steps - chance.randint(0, 40)])  # the risk is near the end
    moment = chance.uniform(0.001, killed.seconds)
    how: tuple[Callable[..., None], float] = chance.choice([(_sync_to_step, step), (_sync_to_moment, moment)])
    process = _PROCESSES.Process(target=how[0], args=(corpus, place, encoder, how[1]))
    process.start()
    process.join()
    at = (
        f"step {step} of {killed.steps}" if how[0] is _sync_to_step else f"after {moment:.4f} s of {killed.seconds:.4f}"
    )
    return at if process.exitcode else f"{at}, too late"


def _after(place: Path, known: dict[str, dict[str, object]]) -> str:
    try:
        now = contents(place)
    except CorpusError as error:
        if "wattwise ingest" not in str(error) or "\n" in str(error):
            return f"a sentence without remedy: {error}"
        return "none" if "There is no index" in str(error) or "is empty" in str(error) else "damaged"
    return next((name for name, expected in known.items() if expected == now), "neither the old nor the new")


def _sync_measured(corpus: Path, place: Path, encoder: str, result: Connection) -> None:
    steps = 0

    def watch(frame: FrameType, event: str, argument: object) -> None:
        nonlocal steps
        steps += event == "c_call" and getattr(argument, "__name__", "") in _STEPS

    began = time.perf_counter()
    sys.setprofile(watch)
    sync([corpus], place, encoder=encoder)
    sys.setprofile(None)
    result.send((steps, time.perf_counter() - began))


def _sync_to_step(corpus: Path, place: Path, encoder: str, left: int) -> None:
    def watch(frame: FrameType, event: str, argument: object) -> None:
        nonlocal left
        left -= event == "c_call" and getattr(argument, "__name__", "") in _STEPS
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(watch)
    sync([corpus], place, encoder=encoder)
    sys.setprofile(None)


def _sync_to_moment(corpus: Path, place: Path, encoder: str, seconds: float) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process at once, in the middle of whatever it does
    signal.setitimer(signal.ITIMER_REAL, seconds)
    sync([corpus], place, encoder=encoder)


if __name__ == "__main__":
    sys.exit(launch(__doc__, run, 300))
