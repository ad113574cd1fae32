"""Nearest vectors by cosine: FAISS over unit vectors of half precision, never pickled; exact while that is quick.

Many vectors stand in lists, each around a centre (IVF), and a search reads the lists whose centres are nearest. How many those
are is measured when the lists are made, on vectors of their own. A graph (HNSW) finds as much in the same time, but it must be
in memory, takes a third more of it, and what it finds is known only afterwards.
"""

import os
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from math import isqrt
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ingest.document import Chunk
from ingest.opening import private

FILE_NAME = "vectors.faiss"
_UNFINISHED = "vectors.unfinished"
_BATCH = 10_000
# From here on lists; below it all vectors are compared in some 4 ms.
LISTED_FROM = 100_000
_TAUGHT = 50  # vectors a list that its centre is learned from
_ROUNDS = 10  # of k-means
_ASKED = 400
# Of the ten nearest to vectors of its own. Questions lie farther off than passages from each other: of 38,144 passages of AWS
# pages this finds 0.985 of the ten nearest to 48 questions and 0.986 of those to 297 made ones; 0.99 found 0.956 and 0.947 of
# those among 23,552.
_RECALL = 0.997
_Rows = Callable[[], Iterable[tuple[int, NDArray[np.float32]]]]


def encoded_text(chunk: Chunk, context: str) -> str:
    """What the encoder sees of a chunk: where it stands, what it leans on, and its own words."""
    place = " > ".join(dict.fromkeys((chunk.document.title, *chunk.headings)))
    return "\n".join(part for part in (place, context, chunk.text) if part)


class VectorIndex:
    """Safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        import faiss

        # Lists stay in the file: the system keeps what is read often, once for all processes.
        self._index: Any = faiss.read_index(str(folder / FILE_NAME), faiss.IO_FLAG_MMAP)
        if hasattr(self._index, "invlists"):
            lists: Any = faiss.downcast_InvertedLists(self._index.invlists)
            lists.prefetch_nthread = (
                0  # else 32 threads start for each question, and take five times as long as its search
            )
        self._use_threads = faiss.omp_set_num_threads

    def search(self, vector: NDArray[np.float32], limit: int) -> list[tuple[int, float]]:
        """The chunk numbers nearest to a unit vector, with their cosines, best first."""
        query = np.ascontiguousarray(vector, dtype=np.float32).reshape(1, -1)
        self._use_threads(1)  # holds for this thread; FAISS would share one question among them, and wait for them
        cosines, numbers = self._index.search(query, limit)
        return [
            (int(number), float(cosine)) for number, cosine in zip(numbers[0], cosines[0], strict=True) if number >= 0
        ]


def build_vectors(rows: _Rows, count: int, dimension: int, folder: Path) -> None:
    """`count` is how many rows there are. In memory is the index, and of the rows some thousand at a time."""
    import faiss

    if count < LISTED_FROM:
        index = faiss.IndexIDMap(
            faiss.IndexScalarQuantizer(dimension, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
        )
        _add(index, rows)
    else:
        lists = 2 * isqrt(count)
        step = max(1, count // (_TAUGHT * lists))
        some = np.stack([vector for _, vector in islice(rows(), 0, None, step)])
        index = _lists(lists, some)
        _add(index, rows)
        index.nprobe = _probes(index, some[:: max(1, len(some) // _ASKED)])
    faiss.write_index(index, str(folder / FILE_NAME))


def _add(index: Any, rows: _Rows) -> None:
    remaining = iter(rows())
    while batch := list(islice(remaining, _BATCH)):
        numbers = np.array([number for number, _ in batch], dtype=np.int64)
        index.add_with_ids(np.stack([vector for _, vector in batch]), numbers)


def _lists(count: int, some: NDArray[np.float32]) -> Any:
    """Empty lists around centres that are learned from these vectors; what they take is whole, and so cosines are exact."""
    import faiss

    dimension, kind = some.shape[1], faiss.ScalarQuantizer.QT_fp16
    centres = faiss.IndexFlatIP(dimension)
    index = faiss.IndexIVFScalarQuantizer(centres, dimension, count, kind, faiss.METRIC_INNER_PRODUCT, False)
    index.cp.niter = _ROUNDS
    index.train(some)
    return index


def _probes(index: Any, asked: NDArray[np.float32]) -> int:
    """The fewest lists whose vectors are near enough; these vectors themselves are in the index and do not count."""

    def cosines(lists: int) -> NDArray[np.float32]:
        index.nprobe = lists
        found: NDArray[np.float32] = index.search(asked, 11)[0]
        return found[:, 1:]

    tenth = cosines(index.nlist)[:, -1:]
    return 1 + bisect_left(range(1, index.nlist), _RECALL, key=lambda lists: float(np.mean(cosines(lists) >= tenth)))


class UnfinishedVectors:
    """What an encoder has made for a sync that has not ended yet, so that the next one need not make it again.

    A file beside the store: a line with the encoder's name and dimension, then one record a text. A record that was not
    written to its end, or is damaged, ends what is read.
    """

    _DIGEST = 16

    def __init__(self, folder: Path, encoder: str, dimension: int) -> None:
        self._file = folder / _UNFINISHED
        self._head = f"{encoder} {dimension}\n".encode()
        self._size = self._DIGEST + 2 * dimension + 4

    def take(self) -> Iterator[tuple[list[bytes], NDArray[np.float32]]]:
        """Digests and their vectors, some thousand at a time."""
        records = self._records()
        while batch := list(islice(records, _BATCH)):
            vectors = b"".join(record[self._DIGEST : -4] for record in batch)
            yield (
                [r[: self._DIGEST] for r in batch],
                np.frombuffer(vectors, "<f2").reshape(len(batch), -1).astype(np.float32),
            )

    def add(self, digests: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
        with open(self._file, "ab", opener=private) as stream:
            if not stream.tell():
                stream.write(self._head)
            for digest, vector in zip(digests, vectors.astype("<f2"), strict=True):
                record = digest + vector.tobytes()
                stream.write(record + crc32(record).to_bytes(4, "little"))

    def keep_whole(self) -> None:
        """Cut off what `take` does not read, so that what is added next is read."""
        whole = sum(self._size for _ in self._records())
        if whole:
            os.truncate(self._file, len(self._head) + whole)
        else:
            self._file.unlink(missing_ok=True)

    def _records(self) -> Iterator[bytes]:
        try:
            with self._file.open("rb") as stream:
                if stream.readline(1_000) != self._head:
                    return
                while len(record := stream.read(self._size)) == self._size:
                    if crc32(record[:-4]) != int.from_bytes(record[-4:], "little"):
                        return
                    yield record
        except FileNotFoundError:
            return


def remove_unfinished(folder: Path) -> None:
    """When a sync has ended, its vectors are in the store."""
    (folder / _UNFINISHED).unlink(missing_ok=True)
