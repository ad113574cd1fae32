"""Compare which page comes first: by words, by meaning, by both, and in the stock LangChain pipeline, on AWS pages.

    python benchmarks/retrieval.py [PAGES] [QUESTIONS] [--cache DIR] [--full] [--stock-pages N]

PAGES is a folder of documents/GUIDE/doc_source/PAGE.md from the AWS documentation, QUESTIONS a CSV file with the
columns Question and Document_True (GUIDE/PAGE.md). The exit code is 1 if a goal is missed and 2 if pages or questions
are missing.
"""

import argparse
import csv
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import stock
from ir_measures import RR, R, calc_aggregate, nDCG

from chatbot import retrieve
from ingest import Index, sync
from ingest.encoding.encoder import DEFAULT_ENCODER

# The sample: every right page, one in two of the other pages of its guides, one in forty of the pages of other guides.
NEAR, FAR = 2, 40
# Chunks asked of each engine, as many as the mix of two engines holds: enough to fill ten pages.
DEPTH = 120
MEASURES = {"R@1": R @ 1, "R@3": R @ 3, "R@5": R @ 5, "R@10": R @ 10, "MRR": RR, "nDCG@10": nDCG @ 10}
WORDS_FIRST, WORDS_FIFTH, GAIN = 0.67, 0.80, 0.05

Search = Callable[[str], Iterable[str]]
"""Maps a question to the documents of the best chunks, best first; a document may occur several times."""


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    page: str


@dataclass(frozen=True, slots=True)
class Result:
    """How one engine ranks; `seconds` is the mean per question."""

    engine: str
    figures: Mapping[str, float]
    seconds: float


def main() -> int:
    options = _options()
    questions = _questions(options.questions)
    right = {question.page for question in questions}
    sample = _sample(options.pages, right)
    others = [page for page in sample if page not in right]
    few = [*sorted(right), *others[: options.stock_pages]]
    goals = _measure_sample(_copied(options.pages, sample, options.cache / "sample"), questions)
    _measure_stock(_copied(options.pages, few, options.cache / f"beside-langchain-{_hash(str(few)):016x}"), questions)
    if options.full:
        goals |= _measure_full(options.pages / "documents", options.cache / "full", questions)
    for goal, reached in goals.items():
        print(f"{'PASS' if reached else 'FAIL'}  {goal}")
    return 0 if all(goals.values()) else 1


def _options() -> argparse.Namespace:
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="?", type=Path, help="folder that holds documents/ (WATTWISE_AWS_DOCS)")
    parser.add_argument("questions", nargs="?", type=Path, help="CSV file (WATTWISE_AWS_QUESTIONS)")
    parser.add_argument("--cache", type=Path, default=home / "wattwise" / "benchmark", help="for indexes (%(default)s)")
    parser.add_argument("--full", action="store_true", help="also search all pages by words alone")
    parser.add_argument("--stock-pages", type=int, default=300, metavar="N", help="distractors there (%(default)s)")
    options = parser.parse_args()
    options.pages = options.pages or Path(os.environ.get("WATTWISE_AWS_DOCS", "aws"))
    options.questions = options.questions or Path(os.environ.get("WATTWISE_AWS_QUESTIONS", "aws-qa.csv"))
    if not (options.pages / "documents").is_dir() or not options.questions.is_file():
        missing = f"{options.pages / 'documents'} or {options.questions} is missing"
        parser.exit(2, f"Nothing to measure: {missing}. Name pages and questions as benchmarks/README.md says.\n")
    return options


def _questions(file: Path) -> list[Question]:
    with file.open(encoding="utf-8", newline="") as stream:
        return [Question(row["Question"], row["Document_True"]) for row in csv.DictReader(stream)]


def _sample(folder: Path, right: set[str]) -> list[str]:
    """Return pages as GUIDE/PAGE.md, ordered by hash. Whether a page is among them depends only on its name and guide."""
    guides = {_guide(page) for page in right}
    pages = sorted((_page(file.as_posix()) for file in (folder / "documents").rglob("*.md")), key=_hash)
    return [page for page in pages if page in right or _hash(page) % (NEAR if _guide(page) in guides else FAR) == 0]


def _guide(page: str) -> str:
    return page.split("/")[0]


def _hash(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:8])


def _page(document: str) -> str:
    """Return …/documents/GUIDE/doc_source/PAGE.md as GUIDE/PAGE.md."""
    guide, _, page = document.partition("/doc_source/")
    return f"{guide.rsplit('/', 1)[-1]}/{page}"


def _copied(folder: Path, pages: Sequence[str], place: Path) -> Path:
    """Return a folder with copies of these pages and no others; indexes are put there too."""
    wanted = {place / "documents" / page.replace("/", "/doc_source/", 1): page for page in pages}
    for file in (place / "documents").rglob("*.md"):
        if file not in wanted:
            file.unlink()
    for file, page in wanted.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / "documents" / page.replace("/", "/doc_source/", 1), file)
    return place


def _measure_sample(place: Path, questions: Sequence[Question]) -> dict[str, bool]:
    index = _synced(place / "documents", place / "index")
    print(f"The sample: {len(index.documents()):,} pages, {len(index):,} chunks, {len(questions)} questions.")
    words, meaning, both = _measured(_engines(place / "index"), questions)
    gains = {name: both.figures[name] - max(words.figures[name], meaning.figures[name]) for name in ("R@1", "MRR")}
    print(f"Hybrid beside the better engine alone: R@1 {gains['R@1']:+.3f}, MRR {gains['MRR']:+.3f}\n")
    return {f"hybrid: R@1 is {GAIN} or more above the better engine alone": gains["R@1"] >= GAIN}


def _measure_stock(place: Path, questions: Sequence[Question]) -> None:
    index = _synced(place / "documents", place / "index")
    if not (place / "stock" / "index.pkl").exists():
        stock.ingest(place / "documents", place / "stock")
    store = stock.load(place / "stock")
    pages, chunks, theirs = len(index.documents()), len(index), store.index.ntotal
    print(f"Beside LangChain: {pages:,} pages, {chunks:,} chunks here and {theirs:,} there.")
    searched = _engines(place / "index")
    searched["LangChain"] = lambda text: [hit.metadata["source"] for hit in store.similarity_search(text, k=DEPTH)]
    _measured(searched, questions)


def _measure_full(documents: Path, place: Path, questions: Sequence[Question]) -> dict[str, bool]:
    index = _synced(documents, place, encoder="none")
    print(f"All pages: {len(index.documents()):,} pages, {len(index):,} chunks.")
    (words,) = _measured({"words": _words(index)}, questions)
    return {
        f"words alone on all pages: {name} {words.figures[name]:.3f} is {goal} or more": words.figures[name] >= goal
        for name, goal in (("R@1", WORDS_FIRST), ("R@5", WORDS_FIFTH))
    }


def _synced(documents: Path, place: Path, encoder: str = DEFAULT_ENCODER) -> Index:
    began = time.perf_counter()
    report = sync([documents], place, encoder=encoder)
    changed = len(report.added + report.changed + report.removed)
    if changed:
        print(f"{changed:,} pages indexed in {time.perf_counter() - began:.0f} s", file=sys.stderr)
    return Index.open(place)


def _engines(place: Path) -> dict[str, Search]:
    """Return each engine with an index of its own: an index caches the vectors of questions that it has met."""
    dense, mixed = Index.open(place), Index.open(place)
    return {
        "words": _words(Index.open(place)),
        "meaning": lambda text: _documents(dense, dense.dense(dense.encode([text])[0], DEPTH)),
        "hybrid": lambda text: [passage.chunk.document.id for passage in retrieve(mixed, text, limit=DEPTH)],
    }


def _words(index: Index) -> Search:
    return lambda text: _documents(index, index.lexical(text, DEPTH))


def _documents(index: Index, hits: Sequence[tuple[str, float]]) -> list[str]:
    return [chunk.document.id for chunk in index.chunks([chunk_id for chunk_id, _ in hits])]


def _measured(engines: Mapping[str, Search], questions: Sequence[Question]) -> list[Result]:
    """Return the results of the engines, and print a row for each."""
    print(f"{'':10}{''.join(f'{name:>9}' for name in MEASURES)}{'ms':>9}")
    results = [_result(name, search, questions) for name, search in engines.items()]
    for result in results:
        figures = "".join(f"{figure:9.3f}" for figure in result.figures.values())
        print(f"{result.engine:10}{figures}{1000 * result.seconds:9.1f}")
    print()
    return results


def _result(engine: str, search: Search, questions: Sequence[Question]) -> Result:
    search("What loads the model and opens every file?")
    began = time.perf_counter()
    found = [list(search(question.text)) for question in questions]
    seconds = (time.perf_counter() - began) / len(questions)
    run = {str(number): _ranked(documents) for number, documents in enumerate(found)}
    right = {str(number): {question.page: 1} for number, question in enumerate(questions)}
    figures = calc_aggregate(MEASURES.values(), right, run)
    return Result(engine, {name: figures[measure] for name, measure in MEASURES.items()}, seconds)


def _ranked(documents: Iterable[str]) -> dict[str, float]:
    """Rank each page by its best chunk; scores are made from ranks, so there are no ties to break."""
    pages = dict.fromkeys(map(_page, documents))
    return {page: 1 / rank for rank, page in enumerate(pages, start=1)}


if __name__ == "__main__":
    sys.exit(main())
