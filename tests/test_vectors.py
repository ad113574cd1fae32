"""Nearest vectors: the index type for each number of vectors, and the recall of the list index (IVF) against exact search."""

from collections.abc import Iterable
from pathlib import Path

import faiss
import numpy as np
import pytest
from numpy.typing import NDArray

from ingest.storage.vectors import LISTED_FROM, VectorIndex, build_vectors

Vectors = NDArray[np.float32]


def unit(vectors: Vectors) -> Vectors:
    scaled: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


def clustered(seed: int, count: int, clusters: int, spread: float, dimension: int = 48) -> Vectors:
    """Unit vectors around random cluster centres, in random order."""
    chance = np.random.default_rng(seed)
    centres = chance.standard_normal((clusters, dimension))
    points = centres[chance.integers(clusters, size=count)] + spread * chance.standard_normal((count, dimension))
    return unit(points.astype(np.float32))


def built(folder: Path, vectors: Vectors) -> VectorIndex:
    def rows() -> Iterable[tuple[int, Vectors]]:
        return ((3 * number, vector) for number, vector in enumerate(vectors))

    folder.mkdir()
    build_vectors(rows, len(vectors), vectors.shape[1], folder)
    return VectorIndex(folder)


def lists_of(folder: Path) -> tuple[int, int] | None:
    """(number of lists, lists read per search), or None for an exact index."""
    index = faiss.read_index(str(folder / "vectors.faiss"))
    return (index.nlist, index.nprobe) if isinstance(index, faiss.IndexIVF) else None


@pytest.mark.parametrize(
    ("clusters", "spread"),
    [(1, 1.0), (40, 0.3), (400, 0.1), (400, 0.6), (4_000, 0.3)],
    ids=["none", "few", "tight", "loose", "more than lists"],
)
def test_lists_find_what_a_comparison_of_all_finds_with_the_same_cosines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clusters: int, spread: float
) -> None:
    vectors = clustered(clusters, 4_100, clusters, spread)
    held, asked = vectors[:4_000], vectors[4_000:]
    flat = built(tmp_path / "flat", held)
    monkeypatch.setattr("ingest.storage.vectors.LISTED_FROM", 4_000)
    listed = built(tmp_path / "listed", held)

    found = [(dict(flat.search(vector, 10)), dict(listed.search(vector, 10))) for vector in asked]

    assert sum(len(every.keys() & some.keys()) for every, some in found) >= 0.97 * 10 * len(asked)
    for every, some in found:
        assert [some[number] for number in some if number in every] == pytest.approx(
            [every[number] for number in some if number in every], abs=1e-6
        )


def test_the_number_of_vectors_alone_decides_which_index_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = clustered(7, 3_000, 60, 0.1)
    assert len(vectors) < LISTED_FROM
    monkeypatch.setattr("ingest.storage.vectors.LISTED_FROM", 3_000)
    built(tmp_path / "fewer", vectors[1:])
    built(tmp_path / "as many", vectors)

    lists = lists_of(tmp_path / "as many")

    assert lists_of(tmp_path / "fewer") is None
    assert lists
    assert lists[0] == 108
    assert lists[1] <= 54  # otherwise a search would read most of the vectors


def test_vectors_that_are_all_the_same_are_all_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.storage.vectors.LISTED_FROM", 3_000)
    index = built(tmp_path / "same", np.tile(clustered(1, 1, 1, 1.0), (3_000, 1)))

    hits = index.search(clustered(1, 1, 1, 1.0)[0], 20)

    assert len(hits) == 20
    assert [cosine for _, cosine in hits] == pytest.approx([1.0] * 20, abs=1e-3)


def test_a_place_that_cannot_be_written_to_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"^vectors\.faiss could not be written$"):
        build_vectors(lambda: [(0, np.ones(2, dtype=np.float32))], 1, 2, tmp_path / "missing")
