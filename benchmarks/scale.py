"""Measure what an index takes to make, to keep, to open and to search as it grows, in a folder or in PostgreSQL.

    python -m benchmarks.scale [PAGES] [--questions FILE] [--chunks N] [--index INDEX] [--postgres]

It measures the pages of a folder (benchmarks/README.md says which), generated pages of about N chunks with words of
English by Zipf's law, and an INDEX as it is. Pages are first indexed for words alone. Then they get vectors without an
encoder, which would take hours: points near a flat surface of 32 dimensions, about as many as sentences have. So the
times are real, but the only measure of quality is the recall against a comparison of all vectors. Each step is a
process of its own. The exit code is 1 if a goal is missed: a hybrid search under 60 ms at the median, recall@10 of
0.97.
"""

import argparse
import csv
import json
import os
import resource
import secrets
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatbot.retrieval.retriever import retrieve
from ingest import Database, Index, Place, place_at, sync
from ingest.encoding.encoder import DEFAULT_ENCODER
from ingest.encoding.minilm import known_words
from ingest.storage.derived import complete_derived, remove_others
from ingest.storage.opening import open_store, writing
from ingest.storage.store import State, StoredRows
from tests.servers.postgres import running

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden" / "tuned.jsonl"
_DIMENSION, _SURFACE, _BATCH, _ASKED = 384, 32, 10_000, 200
_WORDS, _CHUNKS = 110, 20  # words of a generated chunk; chunks of a generated page
_Vectors = NDArray[np.float32]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="?", type=Path)
    parser.add_argument(
        "--questions", type=Path, default=GOLDEN, help="CSV with a column Question, or golden questions"
    )
    parser.add_argument("--chunks", type=int, default=1_000_000, metavar="N", help="made chunks (%(default)s)")
    parser.add_argument("--index", type=place_at, help="an index with vectors by its encoder")
    parser.add_argument("--postgres", action="store_true", help="a server that is started for it, instead of folders")
    options = parser.parse_args()
    questions = _questions(options.questions)
    goals: dict[str, bool] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        place = _places(stack, folder, postgres=options.postgres)
        if options.pages and options.pages.is_dir():
            goals |= _measured("pages", options.pages, place(), questions)
        else:
            print(
                f"pages: skipped, for {options.pages or 'no folder'} is not there; benchmarks/README.md says what they are"
            )
        if options.chunks:
            _step(f"{options.chunks:,} chunks are made", _make, folder / "made", options.chunks)
            goals |= _measured("made", folder / "made", place(), questions)
        if options.index:
            goals |= _found("index", options.index, questions)
    for goal, reached in goals.items():
        print(f"{'PASS' if reached else 'FAIL'}  {goal}")
    return 0 if all(goals.values()) else 1


def _questions(file: Path) -> list[str]:
    with file.open(encoding="utf-8", newline="") as stream:
        if file.suffix == ".csv":
            return [row["Question"] for row in csv.DictReader(stream)]
        return [json.loads(line)["turns"][-1] for line in stream]


def _places(stack: ExitStack, folder: Path, *, postgres: bool) -> Callable[[], Place]:
    if not postgres:
        return lambda: folder / secrets.token_hex(4)
    # The default cache of 128 MB is for the smallest machines; managed servers give it a quarter of their memory.
    os.environ["XDG_CACHE_HOME"] = str(folder)
    return stack.enter_context(running(options="-c shared_buffers=2GB -c max_wal_size=4GB")).database


def _measured(name: str, pages: Path, place: Place, questions: Sequence[str]) -> dict[str, bool]:
    _step(f"{name}, words alone", _sync, pages, place)
    _step(f"{name}, opened and searched by words", _searched, place, questions)
    return _found(name, place, questions, _step(f"{name}, vectors", _add_vectors, place))


def _found(name: str, place: Place, questions: Sequence[str], made: int = 0) -> dict[str, bool]:
    """Return the goals; `made` is the number of vectors if an encoder did not make them."""
    median = _step(f"{name}, opened and searched", _searched, place, questions)
    recall = _step(f"{name}, compared with all vectors", _recall, place, questions, made)
    return {
        f"{name}: a hybrid search takes under 60 ms at the median ({median:.1f})": median < 60,
        f"{name}: recall@10 is 0.97 or more ({recall:.3f})": recall >= 0.97,
    }


def _step(what: str, act: Callable[..., Any], *arguments: object) -> Any:
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_costed, (what, partial(act, *arguments)))


def _costed(what: str, act: Callable[[], Any]) -> Any:
    """Act, and print what that took: wall-clock time, CPU time, and memory with the processes started for it."""
    done, peak = Event(), [0]

    def watch() -> None:
        while not done.wait(0.2):
            peak[0] = max(peak[0], _resident())

    watcher = Thread(target=watch)
    watcher.start()
    began, spent = time.perf_counter(), _processor_seconds()
    try:
        result = act()
    finally:
        done.set()
        watcher.join()
    seconds, spent = time.perf_counter() - began, _processor_seconds() - spent
    print(f"{what}: {seconds:.1f} s, {spent:.1f} CPU s, at most {peak[0]} MiB", flush=True)
    return result


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _resident() -> int:
    """Return the MiB of this process and its children, including mapped files that were read."""
    children = (file.read_text().split() for file in Path("/proc/self/task").glob("*/children"))
    return sum(_status(pid, "VmRSS") for pid in ["self", *(pid for of_one in children for pid in of_one)])


def _status(pid: str, name: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:  # the process has ended
        return 0
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith(f"{name}:")), 0)


def _sync(pages: Path, place: Place) -> None:
    report = sync([pages], place, encoder="none")
    print(f"  {len(report.added):,} documents, {len(report.failed)} failed; {_size(place)}")


def _make(folder: Path, count: int) -> None:
    """Write pages of sections that are a chunk each."""
    chance = np.random.default_rng(25)
    words = np.array(sorted(known_words()))
    chance.shuffle(words)
    shares = 1 / (np.arange(len(words)) + 3)
    upto = np.cumsum(shares / shares.sum())
    for number in range(count // _CHUNKS):
        drawn = words[np.searchsorted(upto, chance.random(_CHUNKS * _WORDS)).clip(max=len(words) - 1)]
        sections = (f"## {' '.join(section[:4])}\n\n{' '.join(section)}.\n" for section in drawn.reshape(_CHUNKS, _WORDS))
        page = folder / f"{number // 100}" / f"{number}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("\n".join(sections))


def _add_vectors(place: Place) -> int:
    with writing(place) as store:
        digests = sorted(digest for of_one in store.unencoded().values() for digest in of_one)
        for start, vectors in zip(range(0, len(digests), _BATCH), _points(len(digests)), strict=True):
            store.add_vectors(digests[start : start + _BATCH], vectors)
        now = datetime.now(UTC).isoformat()
        state = State(store.next_generation(), secrets.token_hex(8), DEFAULT_ENCODER, _DIMENSION, now)
        store.set_state(state)
        began, spent = time.perf_counter(), _processor_seconds()
        complete_derived(place, store, state)
        seconds, spent = time.perf_counter() - began, _processor_seconds() - spent
        print(f"  of which the engines' files or indexes: {seconds:.1f} s, {spent:.1f} CPU s")
        store.commit()
        remove_others(place, state)
    print(f"  {len(digests):,} vectors; {_size(place)}")
    return len(digests)


def _points(count: int, seed: int = 22) -> Iterator[_Vectors]:
    """Yield `count` unit vectors, some thousand at a time, always the same for a seed."""
    directions = np.random.default_rng(20).standard_normal((_SURFACE, _DIMENSION)).astype(np.float32)
    chance = np.random.default_rng(seed)
    for start in range(0, count, _BATCH):
        size = min(_BATCH, count - start)
        flat = chance.standard_normal((size, _SURFACE), dtype=np.float32) @ directions / np.sqrt(_SURFACE)
        points = flat + 0.3 * chance.standard_normal((size, _DIMENSION), dtype=np.float32)
        yield (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)


def _searched(place: Place, questions: Sequence[str]) -> float:
    """Open the index and ask; return the median of hybrid searches in milliseconds."""
    began, spent = time.perf_counter(), _processor_seconds()
    index = Index.open(place)
    opened, spent = time.perf_counter() - began, _processor_seconds() - spent
    print(
        f"  {len(index):,} chunks; opened in {opened:.2f} s, {spent:.2f} CPU s, then {_status('self', 'RssAnon')} MiB of its own"
    )
    index.encode(["once"])
    _times("words", lambda question: index.lexical(question, 60), questions)
    median = _times("hybrid, a question's encoding included", lambda question: retrieve(index, question), questions)
    _times("vectors", lambda vector: index.dense(vector, 60), list(index.encode(questions)))
    print(f"  {_status('self', 'RssAnon')} MiB of its own, {_status('self', 'VmRSS')} MiB with mapped files")
    return median


def _times(what: str, search: Callable[[Any], object], asked: Sequence[Any]) -> float:
    """Ask each once, after one that warms up; return the median in milliseconds."""
    search(asked[0])
    milliseconds, spent = [], time.process_time()
    for one in asked:
        began = time.perf_counter()
        search(one)
        milliseconds.append(1e3 * (time.perf_counter() - began))
    spent = 1e3 * (time.process_time() - spent) / len(asked)
    median, most = statistics.median(milliseconds), statistics.quantiles(milliseconds, n=20)[-1]
    print(f"  {what}: p50 {median:.1f} ms, p95 {most:.1f} ms, {spent:.1f} ms of CPU")
    return median


def _recall(place: Place, questions: Sequence[str], made: int) -> float:
    """Return the share of the ten nearest vectors, by a comparison of all, that a search finds.

    Cosines are compared, because chunks may share a vector.
    """
    index = Index.open(place)
    store, _ = open_store(place)
    with closing(store):
        if made:
            asked, held = next(_points(_ASKED, seed=21)), _points(made)
        else:
            asked, held = index.encode(questions), _batches(store)
        nearest = np.zeros((len(asked), 0), dtype=np.float32)
        for vectors in held:
            cosines = asked @ vectors.astype("<f2").astype(np.float32).T
            nearest = -np.partition(-np.hstack([nearest, cosines]), 10, axis=1)[:, :10]
    tenth = nearest.min(axis=1) - 1e-5
    found = [
        min(10, sum(cosine >= least for _, cosine in index.dense(v, 10))) for v, least in zip(asked, tenth, strict=True)
    ]
    return sum(found) / (10 * len(asked))


def _batches(store: StoredRows) -> Iterator[_Vectors]:
    ids = (entry.chunk.id for _, entry in store.contents() if entry.searched)
    while batch := list(islice(ids, _BATCH)):
        yield np.stack(list(store.vectors(batch).values()))


def _size(place: Place) -> str:
    if isinstance(place, Database):
        import psycopg

        with closing(psycopg.connect(place.address)) as connection:
            ((size,),) = connection.execute("SELECT pg_database_size(current_database())").fetchall()
        return f"{size / 1e6:,.0f} MB in the database"
    assert isinstance(place, Path)
    sizes = {name: sum(file.stat().st_size for file in place.glob(name) if file.is_file()) for name in _FILES}
    return ", ".join(f"{what} {sizes[name] / 1e6:,.0f} MB" for name, what in _FILES.items())


_FILES = {"store.sqlite*": "store", "derived-*/words/*": "words", "derived-*/vectors.faiss": "vectors"}


if __name__ == "__main__":
    sys.exit(main())
