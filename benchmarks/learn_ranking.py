"""Which weights of the parts of a chunk put the right page first, over questions made from the pages (made_questions.py).

    python benchmarks/learn_ranking.py PAGES INDEX [--questions QUESTIONS.csv] [--count N]

INDEX is made by `wattwise ingest PAGES --encoder none --index INDEX`. Settings are ranked on questions on one half of the
guides. The best of them and the one in use are then measured on the other half and, with --questions (columns Question and
Document_True), on those. Every chunk is scored by the formula of tantivy (BM25, k1 1.2, b 0.75) in memory: some 4 GiB.
"""

import argparse
import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from made_questions import Made, is_for_tuning, questions
from numpy.typing import NDArray
from scipy.sparse import csc_matrix

from ingest.derived import place_of, searched_rows
from ingest.lexical import WEIGHTS, LexicalIndex, parts
from ingest.opening import open_store

K1, B = 1.2, 0.75
GRID = [
    dict(zip(WEIGHTS, (head, head, folders, body), strict=True))
    for head, folders, body in product((1, 2, 4), (0, 1, 2, 4), (1, 2))
    if body <= head
]


@dataclass(frozen=True, slots=True)
class Chunks:
    """How often each stem stands in each part of each chunk, (chunks, stems); the page of each chunk."""

    parts: dict[str, csc_matrix]
    columns: dict[str, int]
    pages: NDArray[np.int64]
    numbers: dict[str, int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", type=Path)
    parser.add_argument("index", type=Path)
    parser.add_argument("--questions", type=Path, help="CSV file of questions that people asked")
    parser.add_argument("--count", type=int, default=1_500, metavar="N", help="questions to make (%(default)s)")
    options = parser.parse_args()
    store, state = open_store(options.index)
    words = LexicalIndex(place_of(options.index, state))
    chunks = counted(searched_rows(store), words)
    made = questions(options.pages, options.count)
    tuning, other = ([q for q in made if is_for_tuning(q.guide) == half] for half in (True, False))
    ranked = sorted(GRID, key=lambda weights: -sum(measured(weights, tuning, chunks, words)))
    asked = {"the other guides": other}
    if options.questions:
        with options.questions.open(encoding="utf-8", newline="") as stream:
            rows = csv.DictReader(stream)
            asked["people's questions"] = [Made(row["Question"], row["Document_True"], "asked") for row in rows]
    print(
        f"{len(tuning)} questions on one half of the guides, {len(other)} on the other; right page first, within 5, MRR"
    )
    for weights in [*ranked[:5], WEIGHTS]:
        print(f"{weights}\n  tuned on: {figures(measured(weights, tuning, chunks, words))}")
    for name, those in asked.items():
        print(f"{name} ({len(those)}), with {WEIGHTS}: {figures(measured(WEIGHTS, those, chunks, words))}")


def counted(rows: Iterable[tuple], words: LexicalIndex) -> Chunks:
    """The rows that an index is built from, counted."""
    columns: dict[str, int] = {}
    numbers: dict[str, int] = {}
    found: dict[str, tuple[list[int], list[int], list[int]]] = {name: ([], [], []) for name in WEIGHTS}
    pages: list[int] = []
    for row, (_, chunk, context) in enumerate(rows):
        guide, _, page = chunk.document.id.partition("/doc_source/")
        pages.append(numbers.setdefault(f"{guide.rsplit('/', 1)[-1]}/{page}", len(numbers)))
        for name, text in parts(chunk, context).items():
            counts = Counter(words.stems_of(text))
            places, stems, times = found[name]
            places.extend([row] * len(counts))
            stems.extend(columns.setdefault(stem, len(columns)) for stem in counts)
            times.extend(counts.values())
    shape = (len(pages), len(columns))
    matrices = {
        name: csc_matrix((np.array(times, np.float32), (places, stems)), shape=shape)
        for name, (places, stems, times) in found.items()
    }
    return Chunks(matrices, columns, np.array(pages), numbers)


def measured(
    weights: dict[str, int], asked: Sequence[Made], chunks: Chunks, words: LexicalIndex
) -> tuple[float, float, float]:
    """Recall at 1 and 5 and the mean reciprocal rank, each the mean over the forms of questions."""
    counts = sum(chunks.parts[name] * float(weight) for name, weight in weights.items() if weight).tocsc()
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    norms = (K1 * (1 - B + B * lengths / lengths.mean())).astype(np.float32)
    ranks: dict[str, list[int]] = defaultdict(list)
    for question in asked:
        right = chunks.numbers.get(question.page)
        scores = np.zeros(len(norms), np.float32)
        for column in (
            chunks.columns[stem] for stem in words.question_stems(question.question) if stem in chunks.columns
        ):
            begin, end = counts.indptr[column], counts.indptr[column + 1]
            holders, times = counts.indices[begin:end], counts.data[begin:end]
            rarity = np.log(1 + (len(norms) - len(holders) + 0.5) / (len(holders) + 0.5))
            scores[holders] += rarity * times * (1 + K1) / (times + norms[holders])
        if right is not None:
            best = scores[chunks.pages == right].max()
            ranks[question.kind].append(1 + len(np.unique(chunks.pages[scores > best])))
    of_each = [[np.mean(np.array(r) <= 1), np.mean(np.array(r) <= 5), np.mean(1 / np.array(r))] for r in ranks.values()]
    first, fifth, reciprocal = np.mean(of_each, axis=0)
    return float(first), float(fifth), float(reciprocal)


def figures(measures: Sequence[float]) -> str:
    return ", ".join(f"{measure:.3f}" for measure in measures)


if __name__ == "__main__":
    main()
