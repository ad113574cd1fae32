"""Nearest vectors by cosine: FAISS over half-precision unit vectors, never pickled; exact while that is quick.

Many vectors are kept in lists, each around a centroid (IVF), and a search reads the lists with the nearest centroids.
How many lists that takes is measured on the vectors themselves when the lists are made. A graph (HNSW) finds as much in
the same time, but must be held in memory, needs a third more of it, and its recall is known only afterwards.
"""

import secrets
import shutil
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from math import isqrt
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ingest.document import Chunk
from ingest.storage.opening import private

FILE_NAME = "vectors.faiss"
_UNFINISHED = "unfinished-vectors"
_BATCH = 10_000
# Below this number, all vectors are compared, in about 4 ms.
LISTED_FROM = 100_000
_TAUGHT = 50  # training vectors per list
_ROUNDS = 10  # k-means iterations
_ASKED = 400
# The recall to reach among the ten nearest, measured for queries taken from the vectors themselves. Questions lie
# farther from passages than passages from each other: among 38,144 passages of AWS pages this target finds 0.985 of the
# ten nearest to 48 questions and 0.986 of those to 297 generated ones; a target of 0.99 found 0.956 and 0.947 among
# 23,552.
_RECALL = 0.997
_Rows = Callable[[], Iterable[tuple[int, NDArray[np.float32]]]]


def encoded_text(chunk: Chunk, context: str) -> str:
    """Return what the encoder sees of a chunk: its place (title and headings), its context, and its own words."""
    place = " > ".join(dict.fromkeys((chunk.document.title, *chunk.headings)))
    return "\n".join(part for part in (place, context, chunk.text) if part)


class VectorIndex:
    """A vector index, open for search; safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        import faiss

        # The lists stay in the file, memory-mapped: the system caches what is read often, once for all processes.
        self._index: Any = faiss.read_index(str(folder / FILE_NAME), faiss.IO_FLAG_MMAP)
        if hasattr(self._index, "invlists"):
            lists: Any = faiss.downcast_InvertedLists(self._index.invlists)
            # Otherwise 32 threads start for each question, which takes five times as long as its search.
            lists.prefetch_nthread = 0
        self._use_threads = faiss.omp_set_num_threads

    def search(self, vector: NDArray[np.float32], limit: int) -> list[tuple[int, float]]:
        """Return the chunk numbers nearest to a unit vector, with their cosines, best first."""
        query = np.ascontiguousarray(vector, dtype=np.float32).reshape(1, -1)
        self._use_threads(1)  # for this thread only; FAISS would split one question among several and wait for them
        (cosines,), (numbers,) = self._index.search(query, limit)
        return [(int(number), float(cosine)) for number, cosine in zip(numbers, cosines, strict=True) if number >= 0]


def build_vectors(rows: _Rows, count: int, dimension: int, folder: Path) -> None:
    """Build the index of the rows, `count` in all.

    The rows are read in batches; besides the index, only a batch and the training sample are in memory: about 100 times
    the square root of `count` vectors, 150 MB for a million of 384 numbers. Raises OSError if it cannot be written.
    """
    import faiss

    index: Any
    half, product = faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
    if count < LISTED_FROM:
        index = faiss.IndexIDMap(faiss.IndexScalarQuantizer(dimension, half, product))
        _add(index, rows)
    else:
        lists = 2 * isqrt(count)
        step = max(1, count // (_TAUGHT * lists))
        some = np.stack([vector for _, vector in islice(rows(), 0, None, step)])
        centres = faiss.IndexFlatIP(dimension)
        # False (by_residual): the lists hold vectors, not their differences from a centroid, so that cosines are exact.
        index = faiss.IndexIVFScalarQuantizer(centres, dimension, lists, half, product, False)
        index.cp.niter = _ROUNDS
        index.train(some)
        _add(index, rows)
        index.nprobe = _probes(index, some[:: max(1, len(some) // _ASKED)])
    try:
        faiss.write_index(index, str(folder / FILE_NAME))
    except RuntimeError as error:  # a full disk, for example
        raise OSError(f"{FILE_NAME} could not be written") from error


def _add(index: Any, rows: _Rows) -> None:
    remaining = iter(rows())
    while batch := list(islice(remaining, _BATCH)):
        numbers = np.array([number for number, _ in batch], dtype=np.int64)
        index.add_with_ids(np.stack([vector for _, vector in batch]), numbers)


def _probes(index: Any, asked: NDArray[np.float32]) -> int:
    """Return the smallest number of lists to read that reaches the recall.

    The queries are vectors of the index, so each finds itself first; that hit does not count.
    """

    def cosines(lists: int) -> NDArray[np.float32]:
        index.nprobe = lists
        found: NDArray[np.float32] = index.search(asked, 11)[0]
        return found[:, 1:]

    tenth = cosines(index.nlist)[:, -1:]
    return 1 + bisect_left(range(1, index.nlist), _RECALL, key=lambda lists: float(np.mean(cosines(lists) >= tenth)))


class UnfinishedVectors:
    """What an encoder has made for a sync that has not ended yet, so that the next sync need not make it again.

    A folder beside the store holds one NumPy archive per batch. The archives have checksums of their own, and a damaged
    archive is skipped.
    """

    def __init__(self, folder: Path, encoder: str, dimension: int) -> None:
        self._folder = folder / _UNFINISHED
        self._encoder = f"{encoder} {dimension}"

    def take(self) -> Iterator[tuple[list[bytes], NDArray[np.float32]]]:
        """Yield digests and their vectors, a batch at a time."""
        for file in self._folder.glob("*.npz"):
            try:
                with np.load(file) as batch:
                    encoder, digests, vectors = str(batch["encoder"]), batch["digests"], batch["vectors"]
            except (OSError, ValueError, KeyError, EOFError, BadZipFile, zlib.error):
                continue
            if encoder == self._encoder:
                yield [digest.tobytes() for digest in digests], vectors.astype(np.float32)

    def add(self, digests: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        rows = np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(len(digests), -1)
        with open(self._folder / f"{secrets.token_hex(8)}.npz", "xb", opener=private) as stream:
            np.savez(stream, encoder=np.array(self._encoder), digests=rows, vectors=vectors.astype("<f2"))


def remove_unfinished(folder: Path) -> None:
    """Remove the unfinished vectors: once a sync has ended, they are in the store."""
    shutil.rmtree(folder / _UNFINISHED, ignore_errors=True)
