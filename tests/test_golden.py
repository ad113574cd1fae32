"""The golden questions, asked over the five sources, over the sources' original files, and over the whole corpus.

Failures of held-out ("kept") questions are counted but never shown, so that nobody tunes on them by reading a log.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import tomllib
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import pytest

from chatbot import Chatbot
from chatbot.answer import REFUSAL
from chatbot.exam.golden import KINDS, GoldenQuestion, load_questions
from chatbot.exam.golden_scoring import (
    Asked,
    ask_all,
    exactness,
    false_answers,
    is_exact,
    passed,
    report,
    uncited,
)
from ingest import sync
from tests.golden_scoring import failures
from tests.marks import left_to_evaluation

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"
CORPUS = ROOT / "corpus"
MANIFEST = "sources.toml"
SEEDS = Path(os.environ.get("WATTWISE_SEEDS", ROOT.parent / "shared" / "seeds"))
NO_SEEDS = "the originals are not here; WATTWISE_SEEDS names their folder"


class Bounds(NamedTuple):
    """The minimum pass rate, and the maximum share of unanswerable questions that get an answer."""

    passed: float
    false_answers: float


# The target is a pass rate of 0.90 on the shipped corpus and 0.85 on the originals, with at most 0.05 false answers. The
# bounds are close to the current results, so that a regression fails; tighten them as the reader improves. The history of
# docs/quality.md says what each change cost.
BOUNDS = {
    "sources": {
        "tuned": Bounds(0.86, 0.02),
        "kept": Bounds(0.88, 0.08),
        "fresh-tuned": Bounds(0.90, 0.09),
        "fresh-kept": Bounds(0.84, 0.07),
    },
    "seeds": {
        "tuned": Bounds(0.83, 0.02),
        "kept": Bounds(0.83, 0.08),
        "fresh-tuned": Bounds(0.86, 0.09),
        "fresh-kept": Bounds(0.81, 0.07),
    },
    "shipped": {
        "kept": Bounds(0.62, 0.24),
        # False answers: 4 of the 9 that neither a table nor the list of types by Region answers, one of them told behind "do
        # not say this outright".
        "fresh-kept": Bounds(0.64, 0.45),
        "reference-tuned": Bounds(0.80, 0.55),
        "reference-kept": Bounds(0.75, 0.21),
    },
}
GROUPS = ("tuned", "kept", "fresh-tuned", "fresh-kept", "reference-tuned", "reference-kept")
# Half of the kept questions guard every change: every second answerable one and all unanswerable ones, each group over one
# folder. The rest (the full files, the other folder, the tuned questions and the originals) takes minutes. The minimum pass
# rates are one question below what the half reached.
HALF = {
    "sources": {"kept": 0.90},
    "shipped": {"fresh-kept": 0.62, "reference-kept": 0.78},
}
RUNS = [
    *((folder, group, "half") for folder, groups in HALF.items() for group in groups),
    *left_to_evaluation(*((folder, group, "whole") for folder, groups in BOUNDS.items() for group in groups)),
]
LEAD = re.compile(r"^\\A\(\?s:\.\{0,\d+\}\?\)")

# The first test waits until all questions have been asked.
pytestmark = pytest.mark.timeout(900)


@dataclass(frozen=True, slots=True)
class Run:
    """One file, or half of it, asked over one folder. The repr omits the questions, because pytest prints it when a test fails."""

    folder: str
    group: str
    part: str
    asked: list[Asked] = field(repr=False)

    @property
    def bounds(self) -> Bounds:
        whole = BOUNDS[self.folder][self.group]
        return whole if self.part == "whole" else whole._replace(passed=HALF[self.folder][self.group])


def questions_of(group: str, part: str = "whole") -> list[GoldenQuestion]:
    questions = load_questions(GOLDEN / f"{group}.jsonl")
    if part == "whole":
        return questions
    asked = {question.id for question in [one for one in questions if not one.refused][::2]}
    return [question for question in questions if question.refused or question.id in asked]


def is_kept(group: str) -> bool:
    return group.rpartition("-")[2] == "kept"


def five_sources(folder: Path) -> Path:
    """Copy the corpus without its reference part and tables: the documents next to the manifest, and their manifest entries."""
    folder.mkdir()
    for file in CORPUS.glob("*.md"):
        shutil.copy(file, folder)
    start = "[[source]]"
    _, *entries = (CORPUS / MANIFEST).read_text(encoding="utf-8").split(start)
    own = [entry for entry in entries if (folder / tomllib.loads(entry)["file"]).is_file()]
    (folder / MANIFEST).write_text("".join(start + entry for entry in own), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders of documents that exist here, by name."""
    sources = five_sources(tmp_path_factory.mktemp("golden") / "sources")
    named = {"sources": sources, "seeds": SEEDS, "shipped": CORPUS}
    return {name: folder for name, folder in named.items() if folder.is_dir()}


@cache
def opened(index: Path) -> Chatbot:
    """One chatbot per index and process, because it caches the vectors of what it has read."""
    return Chatbot.open(index, model="offline")


def answers(index: Path, group: str, part: str) -> list[Asked]:
    return ask_all(opened(index), questions_of(group, part))


@pytest.fixture(scope="session")
def runs(
    request: pytest.FixtureRequest, folders: dict[str, Path], corpus_index: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str, str], list[Asked]]:
    """Ask the selected files' questions over an index of their folder, in one process per CPU."""
    selected = {item.callspec.params.get("run") for item in request.session.items if hasattr(item, "callspec")}
    chosen = [(folder, group, part) for folder, group, part in selected - {None} if folder in folders]
    indexes = {"shipped": corpus_index}
    for name in {folder for folder, _, _ in chosen} - {"shipped"}:
        indexes[name] = tmp_path_factory.mktemp(name) / "index"
        sync([folders[name]], indexes[name])
    longest_first = sorted(chosen, key=lambda run: (run[0] != "shipped", -len(questions_of(*run[1:]))))
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        running = {run: pool.submit(answers, indexes[run[0]], *run[1:]) for run in longest_first}
        return {run: task.result() for run, task in running.items()}


@pytest.fixture(params=RUNS, ids="-".join)
def run(request: pytest.FixtureRequest, runs: dict[tuple[str, str, str], list[Asked]]) -> Run:
    if request.param not in runs:
        pytest.skip(NO_SEEDS)
    return Run(*request.param, runs[request.param])


def test_enough_questions_pass(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print("\n" + report(f"golden questions, {run.part} of {run.group}.jsonl, {run.folder} documents", run.asked))
    rate, floor = passed(run.asked), run.bounds.passed
    shown = "kept questions are not shown" if is_kept(run.group) else failures(run.asked)
    if rate.share < floor:
        pytest.fail(f"{rate.hits} of {rate.total} passed, {floor:.2f} of them must\n\n{shown}", pytrace=False)


def test_few_unanswerables_are_answered(run: Run) -> None:
    rate = false_answers(run.asked)
    assert rate.total >= 9
    assert rate.share <= run.bounds.false_answers


def test_every_quote_stands_word_for_word_in_its_file(run: Run, folders: dict[str, Path]) -> None:
    rate = exactness(one.answer for one in run.asked)
    assert rate.total > 0
    assert rate.hits == rate.total
    files = {indexed(file) for file in folders[run.folder].rglob("*.*") if file.suffix in (".md", ".txt", ".csv")}
    cited = [citation for one in run.asked for citation in one.answer["citations"]]
    assert all(any(is_exact(citation, text) for text in files) for citation in cited)


def indexed(file: Path) -> str:
    """The text that quotes are taken from: the file as it is, or for a CSV file its rows as a Markdown table."""
    text = file.read_bytes().decode()
    if file.suffix != ".csv":
        return text
    header, *rows = csv.reader(text.splitlines())
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (header, ["---"] * len(header), *rows))


def test_no_answer_is_without_citation(run: Run) -> None:
    assert sum(uncited(one.answer) for one in run.asked) == 0


def test_a_refusal_says_the_fixed_sentence(run: Run) -> None:
    assert sum(REFUSAL not in one.answer["text"] for one in run.asked if one.answer["refused"]) == 0


def test_only_the_whole_corpus_leaves_out_what_its_further_documents_answer(run: Run) -> None:
    asked = {one.question.id for one in run.asked}
    questions = questions_of(run.group, run.part)
    left_out = {question.id for question in questions} - asked
    marked = {question.id for question in questions if question.answered_by}
    assert left_out == (marked if run.folder == "shipped" else set())


def test_questions_are_sound() -> None:
    questions = [question for group in GROUPS for question in questions_of(group)]
    kinds = Counter(question.kind for question in questions)
    total, ids = len(questions), len({question.id for question in questions})
    assert {file.stem for file in GOLDEN.glob("*.jsonl")} == set(GROUPS)
    assert total >= 1200
    assert ids == total
    assert set(kinds) == set(KINDS) - {"sizing", "table", "how-why"}
    unsound = [
        question.id
        for question in questions
        if not all(turn.strip() for turn in question.turns)
        or question.refused == bool(question.sources | question.sources_any)
        or (question.refused and (question.required or question.choices))
        or (question.answered_by and not question.refused)
        or (question.kind == "exam") != bool(question.choices)
    ]
    assert not unsound
    for question in questions:
        for pattern in (*question.required, *question.forbidden):
            re.compile(pattern)


def test_each_document_that_a_question_names_is_in_the_corpus() -> None:
    entries = tomllib.loads((CORPUS / MANIFEST).read_text(encoding="utf-8"))["source"]
    five = {entry["original"] for entry in entries if "original" in entry}
    further = {file.name for file in (CORPUS / "reference").glob("*.md")} | {"instances.csv"}
    named = {
        group: {name for question in questions_of(group) for name in question.sources | question.sources_any}
        for group in GROUPS
    }
    assert len(five) == 5
    assert all(names == five for group, names in named.items() if not group.startswith("reference"))
    assert named["reference-tuned"] | named["reference-kept"] <= further | five
    answering = {name for group in GROUPS for question in questions_of(group) for name in question.answered_by}
    assert [name for name in answering if not (CORPUS / name).is_file()] == []


def test_no_question_stands_in_both_halves() -> None:
    halves: dict[bool, set[tuple[str, ...]]] = {True: set(), False: set()}
    for group in GROUPS:
        halves[is_kept(group)] |= {
            tuple(re.findall(r"\w+", " ".join(question.turns).lower())) for question in questions_of(group)
        }
    in_both = len(halves[True] & halves[False])
    assert in_both == 0


@pytest.mark.parametrize("group", GROUPS)
def test_each_key_stands_in_a_source_it_cites(group: str) -> None:
    if not group.startswith("reference") and not SEEDS.is_dir():
        pytest.skip(NO_SEEDS)
    files = [*SEEDS.glob("*.txt"), *(CORPUS / "reference").glob("*.md"), CORPUS / "instances.csv"]
    texts = {file.name: file.read_text(encoding="utf-8") for file in files}
    # Some reference questions also cite an original.
    here = [q for q in questions_of(group) if SEEDS.is_dir() or q.sources | q.sources_any <= texts.keys()]
    assert here
    missing = [
        f"{question.id}: {pattern}"
        for question in here
        for pattern in question.required
        if not re.search(
            LEAD.sub("", pattern),
            "\n".join(texts[name] for name in question.sources | question.sources_any),
            re.IGNORECASE,
        )
    ]
    if missing:
        shown = "kept questions are not shown" if is_kept(group) else "\n".join(missing)
        pytest.fail(f"{len(missing)} keys stand in none of their sources\n\n{shown}", pytrace=False)
