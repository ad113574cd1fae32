"""An index in PostgreSQL at scale: how long a sync takes, what it holds, and how long a search takes.

    python -m benchmarks.postgres PAGES QUESTIONS.csv

PAGES is a folder of documents, QUESTIONS a CSV file with a column Question. First words alone. Then every chunk gets a vector
without an encoder, which would take an hour: points near a flat surface of 32 dimensions, about as many as sentences have.
So the times of hybrid search are real, and what it finds is not. The exit code is 1 when a hybrid search takes 60 ms or more
at the median.
"""

import argparse
import csv
import secrets
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from chatbot.retriever import retrieve
from ingest import Database, Index, sync
from ingest.derived import complete_derived
from ingest.encoder import DEFAULT_ENCODER
from ingest.opening import writing
from ingest.store import State
from tests.servers.postgres import Server, running

_T = TypeVar("_T")
_DIMENSION, _SURFACE, _BATCH = 384, 32, 10_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", type=Path)
    parser.add_argument("questions", type=Path)
    options = parser.parse_args()
    with options.questions.open(encoding="utf-8") as file:
        questions = [row["Question"] for row in csv.DictReader(file)]
    # The default cache of 128 MB is for the smallest machines; managed servers give it a quarter of the memory.
    with running(options="-c shared_buffers=2GB -c max_wal_size=4GB") as server:
        return measure(server, options.pages, questions)


def measure(server: Server, pages: Path, questions: Sequence[str]) -> int:
    database = server.database()
    report = _timed("sync, words alone", lambda: sync([pages], database, encoder="none"))
    print(f"  {len(report.added):,} documents, {len(report.failed)} failed")
    index = _timed("a reader's first opening, with the copy of the files", lambda: Index.open(database))
    _timed("a second opening", lambda: Index.open(database))
    print(f"  {len(index):,} chunks, {_size(server, database):,} MB in the database")
    _times("words", lambda question: index.lexical(question, 60), questions)
    _times("hybrid retrieval, words alone", lambda question: retrieve(index, question), questions)
    directions = np.random.default_rng(20).standard_normal((_SURFACE, _DIMENSION)).astype(np.float32)
    vectors = _timed("vectors, their HNSW index and the words again", lambda: _add_vectors(database, directions))
    print(f"  {len(vectors):,} vectors, {_size(server, database):,} MB in the database")
    index = _timed("a reader's first opening", lambda: Index.open(database))
    index.encode(["once"])
    median = _times("hybrid retrieval, a question's encoding included", lambda q: retrieve(index, q), questions)
    asked = _points(len(questions), directions, seed=21)
    _times("nearest 60 of a vector", lambda vector: index.dense(vector, 60), list(asked))
    print(f"  recall@10 {_recall(index, vectors, asked):.3f}")
    return 0 if median < 0.060 else 1


def _add_vectors(database: Database, directions: NDArray[np.float32]) -> NDArray[np.float32]:
    with writing(database) as store:
        digests = sorted(digest for of_one in store.unencoded().values() for digest in of_one)
        vectors = _points(len(digests), directions, seed=22)
        for start in range(0, len(digests), _BATCH):
            store.add_vectors(digests[start : start + _BATCH], vectors[start : start + _BATCH])
        print(f"  copied at {datetime.now(UTC):%H:%M:%S}", flush=True)
        state = State(
            store.next_generation(), secrets.token_hex(8), DEFAULT_ENCODER, _DIMENSION, datetime.now(UTC).isoformat()
        )
        store.set_state(state)
        complete_derived(database, store, state)
        store.commit()
    return vectors


def _points(count: int, directions: NDArray[np.float32], *, seed: int) -> NDArray[np.float32]:
    chance = np.random.default_rng(seed)
    flat = chance.standard_normal((count, _SURFACE)).astype(np.float32) @ directions / np.sqrt(_SURFACE)
    points = flat + 0.3 * chance.standard_normal((count, _DIMENSION)).astype(np.float32)
    unit: NDArray[np.float32] = points / np.linalg.norm(points, axis=1, keepdims=True)
    return unit


def _recall(index: Index, vectors: NDArray[np.float32], asked: NDArray[np.float32]) -> float:
    """Of the ten nearest vectors by comparing all, how many are found; by their cosines, as chunks may share a vector."""
    found = 0
    for vector, cosines in zip(asked, asked @ vectors.astype("<f2").astype(np.float32).T, strict=True):
        tenth = np.partition(cosines, -10)[-10] - 1e-5
        found += min(10, sum(cosine >= tenth for cosine in {cosine for _, cosine in index.dense(vector, 60)}))
    return found / (10 * len(asked))


def _size(server: Server, database: Database) -> int:
    name = database.address.rpartition("/")[2]
    ((size,),) = server.execute(name, "SELECT pg_database_size(current_database())")
    return int(size) // 1_000_000


def _timed(what: str, act: Callable[[], _T]) -> _T:
    began = time.perf_counter()
    done = act()
    print(f"{what}: {time.perf_counter() - began:.1f} s", flush=True)
    return done


def _times(what: str, search: Callable[[_T], object], asked: Sequence[_T]) -> float:
    """Ask each once, after one that warms up; the median in seconds."""
    search(asked[0])
    seconds = []
    for one in asked:
        began = time.perf_counter()
        search(one)
        seconds.append(time.perf_counter() - began)
    median, most = statistics.median(seconds), statistics.quantiles(seconds, n=20)[-1]
    print(f"{what}: p50 {median * 1e3:.1f} ms, p95 {most * 1e3:.1f} ms", flush=True)
    return median


if __name__ == "__main__":
    sys.exit(main())
