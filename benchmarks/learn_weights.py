"""Learn the weights of the evidence scorer from benchmarks/labels and write chatbot/weights.json.

    python benchmarks/learn_weights.py [--write]

Every labelled question is asked over an index of the labelled documents; each unit of evidence found is one example, right
when it overlaps a labelled answer, left out when it is labelled as partly right. The weights are an L2-regularised logistic
regression. Questions on other documents (a share of labels/encoder) and on other matters (labels/elsewhere.jsonl) are asked of
these, too: nothing here answers them, and that is what the scorer must learn to see.
What is printed is measured by five-fold cross-validation over questions: how often the best unit is right, and, for each
threshold, how many unanswerable questions of each kind would be answered and how many answerable ones refused.
"""

import argparse
import json
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from chatbot.evidence import Unit
from chatbot.query import understand
from chatbot.scoring import score_units
from chatbot.searching import search
from ingest import Index, sync

HERE = Path(__file__).parent
WEIGHTS = HERE.parent / "chatbot" / "weights.json"
# So many questions of each of the encoder's files are asked of documents that do not answer them.
OF_OTHERS = 300


class Examples(NamedTuple):
    """One row a unit: features, whether it answers, which question it belongs to."""

    names: list[str]
    features: NDArray[np.float64]
    right: NDArray[np.bool_]
    question: NDArray[np.int64]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--write", action="store_true", help="write chatbot/weights.json")
    write = options.parse_args().write
    questions = [
        *labelled("questions.jsonl"),
        *({**q, "answers": [], "partial": [], "kind": "other documents"} for q in on_other_documents()),
        *labelled("elsewhere.jsonl"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        sync([HERE / "labels" / "documents"], Path(folder) / "index")
        examples = collect(questions, Index.open(Path(folder) / "index"))
    report(examples, out_of_fold(examples), questions)
    model = fitted(examples)
    weights = {"bias": float(model.intercept_[0]), **dict(zip(examples.names, map(float, model.coef_[0]), strict=True))}
    print(json.dumps({name: round(value, 3) for name, value in weights.items()}, indent=1))
    if write:
        WEIGHTS.write_text(
            json.dumps({name: round(value, 4) for name, value in weights.items()}, indent=1) + "\n", encoding="utf-8"
        )


def labelled(file: str) -> list[dict]:
    """The questions of one file of labels."""
    return [json.loads(line) for line in (HERE / "labels" / file).read_text(encoding="utf-8").splitlines()]


def on_other_documents() -> list[dict]:
    """Some of the questions that other documents answer, always the same."""
    draw = random.Random(0)
    return [q for file in ("reference", "invented") for q in draw.sample(labelled(f"encoder/{file}.jsonl"), OF_OTHERS)]


def collect(questions: Sequence[dict], index: Index) -> Examples:
    """The examples of all questions."""
    rows, right, owners = [], [], []
    for number, question in enumerate(questions):
        query = understand(question["question"], (), index)
        for scored in score_units(query, search(query, index), index):
            # Those that are not even compared by meaning teach nothing new.
            if scored.features["meaning"] == 0.0 or overlaps(scored.unit, question.get("partial", ())):
                continue
            rows.append(scored.features)
            right.append(overlaps(scored.unit, question["answers"]))
            owners.append(number)
    names = list(rows[0])
    return Examples(names, np.array([[row[n] for n in names] for row in rows]), np.array(right), np.array(owners))


def overlaps(unit: Unit, labels: Sequence[str]) -> bool:
    """Whether a unit and a labelled string share most of the shorter of the two."""
    text = unit.chunk.document.text
    for label in labels:
        start = text.find(label)
        if start >= 0:
            shared = min(unit.end, start + len(label)) - max(unit.start, start)
            if shared > 0.6 * min(len(label), unit.end - unit.start):
                return True
    return False


def fitted(examples: Examples, chosen: NDArray[np.int64] | None = None) -> LogisticRegression:
    """A logistic regression of the chosen rows, all by default."""
    rows = np.arange(len(examples.right)) if chosen is None else chosen
    return LogisticRegression(C=1.0, max_iter=2000).fit(examples.features[rows], examples.right[rows])


def out_of_fold(examples: Examples) -> NDArray[np.float64]:
    """Each row's probability by a model that saw none of its question."""
    probabilities = np.zeros(len(examples.right))
    for train, test in GroupKFold(5).split(examples.features, groups=examples.question):
        probabilities[test] = fitted(examples, train).predict_proba(examples.features[test])[:, 1]
    return probabilities


def report(examples: Examples, probabilities: NDArray[np.float64], questions: Sequence[dict]) -> None:
    """Print what cross-validation measured."""
    best = np.zeros(len(questions))
    first_right = np.zeros(len(questions), dtype=bool)
    found = np.zeros(len(questions), dtype=bool)
    for number in range(len(questions)):
        rows = np.flatnonzero(examples.question == number)
        if len(rows):
            top = rows[np.argmax(probabilities[rows])]
            best[number], first_right[number], found[number] = (
                probabilities[top],
                examples.right[top],
                examples.right[rows].any(),
            )
    answerable = np.array([bool(q["answers"]) for q in questions])
    kinds = np.array([q["kind"] for q in questions])
    print(f"{len(questions)} questions, {len(examples.right)} examples, {examples.right.mean():.3f} right")
    print(
        f"an answer is among the units: {found[answerable].mean():.3f}; the best unit is right: {first_right[answerable].mean():.3f}"
    )
    for kind in sorted(set(kinds[answerable])):
        print(f"  {kind}: {first_right[kinds == kind].mean():.3f} of {int((kinds == kind).sum())}")
    for threshold in (0.02, 0.03, 0.04, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5):
        answered = {kind: (best[kinds == kind] >= threshold).mean() for kind in sorted(set(kinds[~answerable]))}
        print(
            f"threshold {threshold:.2f}: refused though answerable {(best[answerable] < threshold).mean():.3f}; answered: "
            + ", ".join(f"{kind} {share:.3f}" for kind, share in answered.items())
        )


if __name__ == "__main__":
    main()
