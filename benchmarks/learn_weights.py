"""Learn the weights of the evidence scorer and write chatbot/reader/weights.json.

    python benchmarks/learn_weights.py PAIRS JUDGED [--write]

PAIRS is what judge_pairs.py made, JUDGED what learn_judge.py wrote with `--folds 4`. Each unit of evidence found for a
labelled question is one example: right if it overlaps a labelled answer, left out if it is labelled as partly right.
The weights are two L2-regularised logistic regressions: one over all that is found, and one over the likeliest by the
first, with what the judge says of them.

What is printed is measured by five-fold cross-validation over questions: how often the best unit is right and, for each
threshold, how many unanswerable questions of each kind would be answered and how many answerable ones refused.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from judge_pairs import PARTLY, READ, RIGHT, Found, judged_lists
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from chatbot.reader.scoring import JUDGED

WEIGHTS = Path(__file__).parents[1] / "chatbot" / "reader" / "weights.json"
PARTS = 5
Values = NDArray[np.float64]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("pairs", type=Path)
    options.add_argument("judged", type=Path)
    options.add_argument("--write", action="store_true", help="write chatbot/reader/weights.json")
    given = options.parse_args()
    questions = list(judged_lists(given.pairs, given.judged, "labelled"))
    names, weights = list(questions[0].line["features"][0]), {}
    for stage, known in (("found", names), ("judged", [*names, *READ])):
        probabilities = out_of_fold(questions)
        print(f"{stage}:")
        report(questions, probabilities)
        model = fitted(questions)
        learned = zip(["bias", *known], [model.intercept_[0], *model.coef_[0]], strict=True)
        weights[stage] = {name: round(float(value), 4) for name, value in learned}
        questions = [question.read(p, JUDGED) for question, p in zip(questions, probabilities, strict=True)]
    content = json.dumps(weights, indent=1) + "\n"
    print(content)
    if given.write:
        WEIGHTS.write_text(content, encoding="utf-8")


def fitted(questions: Sequence[Found]) -> LogisticRegression:
    """Fit a logistic regression to all units but those that are partly right."""
    features, grades = np.concatenate([q.features for q in questions]), np.concatenate([q.grades for q in questions])
    return LogisticRegression(C=1.0, max_iter=5000).fit(features[grades != PARTLY], grades[grades != PARTLY] == RIGHT)


def out_of_fold(questions: Sequence[Found]) -> list[Values]:
    """Return the probabilities of each question's units by a model that saw none of them."""
    models = [fitted([q for n, q in enumerate(questions) if n % PARTS != part]) for part in range(PARTS)]
    return [models[n % PARTS].predict_proba(q.features)[:, 1] for n, q in enumerate(questions)]


def report(questions: Sequence[Found], probabilities: Sequence[Values]) -> None:
    """Print what cross-validation measured."""
    best, first_right, found = np.zeros(len(questions)), np.zeros(len(questions), dtype=bool), np.zeros(len(questions), dtype=bool)
    for number, (question, all_of_it) in enumerate(zip(questions, probabilities, strict=True)):
        used = question.grades != PARTLY
        if used.any():
            right, likely = question.grades[used] == RIGHT, all_of_it[used]
            best[number], first_right[number], found[number] = likely.max(), right[likely.argmax()], right.any()
    answerable, kinds = np.array([q.line["answerable"] for q in questions]), np.array([q.line["asks"] for q in questions])
    grades = np.concatenate([q.grades[q.grades != PARTLY] for q in questions])
    print(f"{len(questions)} questions, {len(grades)} examples, {(grades == RIGHT).mean():.3f} right")
    print(f"an answer is among the units: {found[answerable].mean():.3f}; the best unit is right: {first_right[answerable].mean():.3f}")
    for kind in sorted(set(kinds[answerable])):
        print(f"  {kind}: {first_right[kinds == kind].mean():.3f} of {int((kinds == kind).sum())}")
    for threshold in (0.02, 0.03, 0.04, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5):
        answered = ", ".join(f"{kind} {(best[kinds == kind] >= threshold).mean():.3f}" for kind in sorted(set(kinds[~answerable])))
        print(f"threshold {threshold:.2f}: refused though answerable {(best[answerable] < threshold).mean():.3f}; answered: {answered}")


if __name__ == "__main__":
    main()
