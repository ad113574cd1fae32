"""Learn the weights of the exam reader from benchmarks/labels/exam and the odd halves of corpus/exam.

    python benchmarks/learn_exam_weights.py INDEX [--write]

With --write, the weights go to chatbot/exam_reader/weights.json. Each question is held against INDEX, an index of
corpus/. An option's support is the logarithm of the summed exponentials of its evidence's worth, plus the worth of what
all evidence says together. The probability of a right option against the wrong ones is the softmax of their supports.
For a question that asks what does not hold, the loss takes the negated supports, and the choice is then made as the
reader makes it, by what the evidence denies.

The weights minimise that loss, with an L2 penalty for their distance from the prior below. A feature that can only
speak for an option may not get a negative weight, and vice versa: so few questions would otherwise teach that denials
are proofs. What is printed is measured by five-fold cross-validation over questions.

The even halves and the golden questions are left out, because those measure; what was too similar to one of them is not
among the labels. The questions on the five sources are also learned over those sources alone, and over their raw
originals if WATTWISE_SEEDS or ../shared/seeds has them, as for the shipped weights: the reader meets documents of both
kinds.
"""

import argparse
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

from chatbot.exam import ExamQuestion, read_questions
from chatbot.exam_reader import DENIALS, DENIED, chosen, hold
from chatbot.exam_reader.ground import grounds
from chatbot.exam_reader.matter import matter_of
from chatbot.question.query import understand
from chatbot.retrieval.searching import search
from ingest import Index, place_at, sync

ROOT = Path(__file__).parent.parent
WEIGHTS = ROOT / "chatbot" / "exam_reader" / "weights.json"
SEEDS = Path(os.environ.get("WATTWISE_SEEDS", ROOT.parent / "shared" / "seeds"))
STRENGTH = 3.0
FOLDS = 5
# The prior weight of each feature, before any question is seen; 0 if it is not listed.
PRIOR = {
    "cover": 1.0, "claim": 1.0, "claim squared": 1.0, "in one clause": 1.0, "key": 0.5, "same numbers": 0.5,
    "denied option": -1.5, "denied claim": -0.5, "denied stem": -1.5, "met": 1.5, "refused": -1.0, "speaks against": -2.0, "for minus against": 6.0,
    "extreme": 2.0, "stem denied": -1.0, "none": 4.0, "opposed": -3.0, "another's": -1.0, "another count": -1.0,
}  # fmt: skip
FREE = {"row x cover", "stem nearness", "question nearness", "question meaning", "says an option", "says another"}
AGAINST = {n for n, value in PRIOR.items() if value < 0}


class Asked(NamedTuple):
    """A question as it is put to the bot, with the letters of its right options.

    `of_sources` says that the five sources answer it.
    """

    prompt: str
    letters: frozenset[str]
    of_sources: bool


class Example(NamedTuple):
    """A question as numbers. Rows are parts of options.

    `owner` is the option of each part, `sign` is -1 if the question asks for what does not hold.
    """

    evidence: NDArray[np.float64]
    together: NDArray[np.float64]
    owner: NDArray[np.int64]
    share: NDArray[np.float64]
    right: NDArray[np.bool_]
    sign: float
    choose: int
    options: tuple[str, ...]


class Names(NamedTuple):
    """The features of one piece of evidence, and those of all evidence on a part together."""

    evidence: list[str]
    together: list[str]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("index", type=place_at)
    options.add_argument("--write", action="store_true", help="write chatbot/exam_reader/weights.json")
    given = options.parse_args()
    bank = labelled()
    of_sources = [number for number, asked in enumerate(bank) if asked.of_sources]
    names, examples = collect(bank, Index.open(given.index))
    with tempfile.TemporaryDirectory() as folder:
        five = Path(folder) / "five"
        five.mkdir()
        for file in [*(ROOT / "corpus").glob("*.md"), ROOT / "corpus" / "sources.toml"]:
            shutil.copy(file, five)
        for number, sources in enumerate([five, SEEDS] if SEEDS.is_dir() else [five]):
            sync([sources], Path(folder) / f"{number}.index")
            examples += collect([bank[n] for n in of_sources], Index.open(Path(folder) / f"{number}.index"))[1]
    again = (len(examples) - len(bank)) // len(of_sources)
    questions = [*range(len(bank)), *(n for _ in range(again) for n in of_sources)]
    report("cross-validated", out_of_fold(examples, questions, names), len(bank))
    weights = fitted(examples, names)
    report("on what was learned from", [is_right(e, weights, names) for e in examples], len(bank))
    rounded = {name: round(float(value), 4) for name, value in zip([*names.evidence, *names.together], weights, strict=True)}
    print(json.dumps(rounded, indent=1))
    if given.write:
        WEIGHTS.write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")


def labelled() -> list[Asked]:
    """Return the odd questions of each file of the bank, and those written to learn from."""
    bank = [q for q in _questions(ROOT / "corpus" / "exam") if q.half == "tuned"]
    return [
        Asked(q.prompt, frozenset(q.letters), q.id.startswith("five-"))
        for q in [*bank, *_questions(Path(__file__).parent / "labels" / "exam")]
    ]


def _questions(folder: Path) -> list[ExamQuestion]:
    return [q for q in read_questions([folder]) if isinstance(q, ExamQuestion)]


def collect(questions: Sequence[Asked], index: Index) -> tuple[Names, list[Example]]:
    """Return the names of the features, and an example for each question."""
    examples, names = [], Names([], [])
    for question in questions:
        query = understand(question.prompt, (), index)
        matter = matter_of(query, index)
        held = hold(matter, grounds(matter, query, search(query, index), index), index)
        flat = [(o, h) for o, parts in enumerate(held) for h in parts]
        names = Names(list(flat[0][1].on_part[0].features), list(flat[0][1].together))
        examples.append(
            Example(
                np.array([[[b.features[n] for n in names.evidence] for b in h.on_part] for _, h in flat]),
                np.array([[h.together[n] for n in names.together] for _, h in flat]),
                np.array([o for o, _ in flat]),
                np.array([h.part.weight for _, h in flat]),
                np.array([o.letter in question.letters for o in query.options]),
                -1.0 if query.negated else 1.0,
                query.choose,
                tuple(o.text for o in query.options),
            )
        )
    return names, examples


def supports(example: Example, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return each option's support, signed so that the right one is high, and its gradient."""
    of_evidence = example.evidence.shape[2]
    worth = example.evidence @ weights[:of_evidence]
    most = worth.max(axis=1, keepdims=True)
    summed = np.exp(worth - most).sum(axis=1)
    chance = np.exp(worth - most) / summed[:, None]
    of_part = np.log(summed) + most[:, 0] + example.together @ weights[of_evidence:]
    gradient = np.concatenate([np.einsum("pg,pgf->pf", chance, example.evidence), example.together], axis=1)
    share = example.sign * example.share
    support, slope = np.zeros(len(example.right)), np.zeros((len(example.right), len(weights)))
    np.add.at(support, example.owner, share * of_part)
    np.add.at(slope, example.owner, share[:, None] * gradient)
    return support, slope


def loss(weights: NDArray[np.float64], examples: Sequence[Example], prior: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Return the cross-entropy of each right option against the wrong ones, plus the penalty; and the gradient."""
    away = weights - prior
    total, gradient = float(away @ away) / (2 * STRENGTH), away / STRENGTH
    for example in examples:
        support, slope = supports(example, weights)
        rivals = np.flatnonzero(~example.right)
        right = np.flatnonzero(example.right)
        for option in right:
            among = np.array([option, *rivals])
            chance = np.exp(support[among] - support[among].max())
            chance /= chance.sum()
            total -= float(np.log(max(chance[0], 1e-12))) / len(right)
            error = chance - (among == option)
            gradient = gradient + error @ slope[among] / len(right)
    return total, gradient


def fitted(examples: Sequence[Example], names: Names) -> NDArray[np.float64]:
    """Return the weights that minimise the loss within their signs."""
    every = [*names.evidence, *names.together]
    prior = np.array([PRIOR.get(n, 0.0) for n in every])
    signs = [(None, None) if n in FREE else (None, 0.0) if n in AGAINST else (0.0, None) for n in every]
    found = minimize(
        loss, prior, args=(examples, prior), jac=True, method="L-BFGS-B", bounds=signs, options={"maxiter": 300}
    )
    return np.asarray(found.x)


def is_right(example: Example, weights: NDArray[np.float64], names: Names) -> bool:
    """Whether exactly the right options are chosen."""
    merit = supports(example, weights)[0] if example.sign > 0 else falsehoods(example, weights, names)
    ranked = np.argsort(-merit, kind="stable")
    best = ranked[chosen([example.options[i] for i in ranked], example.choose)]
    return set(best) == set(np.flatnonzero(example.right))


def falsehoods(example: Example, weights: NDArray[np.float64], names: Names) -> NDArray[np.float64]:
    """Return the merit of each option of a question that asks what does not hold."""
    of_evidence = example.evidence.shape[2]
    denials = [names.evidence.index(name) for name in DENIALS]
    relevance = example.evidence @ np.where(np.isin(np.arange(of_evidence), denials), 0.0, weights[:of_evidence])
    together = logsumexp(relevance, axis=1, keepdims=True)
    denied = np.minimum(1.0, example.evidence[:, :, denials].sum(axis=2))
    against = (np.exp(relevance - together) * denied).sum(axis=1)
    of_part = DENIED * against - together[:, 0] - example.together @ weights[of_evidence:]
    merit = np.zeros(len(example.right))
    np.add.at(merit, example.owner, example.share * of_part)
    return merit


def out_of_fold(examples: Sequence[Example], questions: Sequence[int], names: Names) -> list[bool]:
    """Return whether each example is answered correctly by weights that have not seen its question."""
    shuffled = np.random.default_rng(0).permutation(max(questions) + 1)
    fold = [int(shuffled[q]) % FOLDS for q in questions]
    weights = [fitted([e for e, f in zip(examples, fold, strict=True) if f != k], names) for k in range(FOLDS)]
    return [is_right(e, weights[f], names) for e, f in zip(examples, fold, strict=True)]


def report(what: str, right: Sequence[bool], bank: int) -> None:
    """Print the accuracy on the bank's questions over all documents, and over the five sources in both their forms."""
    parts = {"over all documents": right[:bank], "over the five sources": right[bank:]}
    print(f"{what}: " + ", ".join(f"{np.mean(found):.3f} of {len(found)} {name}" for name, found in parts.items()))


if __name__ == "__main__":
    main()
