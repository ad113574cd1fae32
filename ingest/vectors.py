"""Nearest vectors by cosine: FAISS over unit vectors of half precision, exact, never pickled."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ingest.document import Chunk

FILE_NAME = "vectors.faiss"
_BATCH = 10_000


def encoded_text(chunk: Chunk, context: str) -> str:
    """What the encoder sees of a chunk: where it stands, what it leans on, and its own words."""
    place = " > ".join(dict.fromkeys((chunk.document.title, *chunk.headings)))
    return "\n".join(part for part in (place, context, chunk.text) if part)


class VectorIndex:
    """Safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        import faiss

        self._index = faiss.read_index(str(folder / FILE_NAME))
        self._use_threads = faiss.omp_set_num_threads

    def search(self, vector: NDArray[np.float32], limit: int) -> list[tuple[int, float]]:
        """The chunk numbers nearest to a unit vector, with their cosines, best first."""
        query = np.ascontiguousarray(vector, dtype=np.float32).reshape(1, -1)
        self._use_threads(1)  # holds for this thread; FAISS would share one question among them, and wait for them
        cosines, numbers = self._index.search(query, limit)
        return [
            (int(number), float(cosine)) for number, cosine in zip(numbers[0], cosines[0], strict=True) if number >= 0
        ]


def build_vectors(rows: Iterable[tuple[int, NDArray[np.float32]]], dimension: int, folder: Path) -> None:
    import faiss

    flat = faiss.IndexScalarQuantizer(dimension, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
    index = faiss.IndexIDMap(flat)
    for numbers, vectors in _batches(rows):
        index.add_with_ids(vectors, numbers)
    faiss.write_index(index, str(folder / FILE_NAME))


def _batches(
    rows: Iterable[tuple[int, NDArray[np.float32]]],
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    remaining = iter(rows)
    while batch := list(islice(remaining, _BATCH)):
        yield np.array([number for number, _ in batch], dtype=np.int64), np.stack([vector for _, vector in batch])
