"""Learn which question of the corpus means what a user asks: python benchmarks/learn_answers.py INDEX [--write].

First a linear map of the vectors of sentences that brings two wordings of one question nearer to each other than to other questions' (InfoNCE;
van den Oord et al. 2018, arXiv:1807.03748), then weights for a choice among the nearest questions and none (a conditional logit). For these,
wordings are taken out and asked: with the rest of their section there, which is then right, and with the section taken out, when none is. The
map is learned from four fifths of the sections, the weights from half of the others, and what is printed is of the other half, which neither
had seen. The map that is written has learned from all, its weights from that fifth.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save
from scipy.optimize import minimize
from torch.nn.functional import cross_entropy, normalize

from chatbot import proved_answers
from chatbot.proved_answers import FEATURES, Book, Matching, load_book, matches
from ingest import Index

DIMENSION = 256
STEPS = 400
SECTIONS = 192
RATE = 2e-3
TEMPERATURE = 0.05
PENALTY = 0.3
ASKED = 1_000
FOLDS = 5
SURE = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

# A wording that was taken out: its section's number, whether that is there, features (found, FEATURES), and which of them is right, if any.
Example = tuple[int, bool, np.ndarray, int | None]


def learned_map(vectors: np.ndarray, sections: list[np.ndarray]) -> np.ndarray:
    """(384, DIMENSION), from the rows of each section that may be learned from."""
    draw, given = np.random.default_rng(0), torch.tensor(vectors)
    torch.manual_seed(0)
    weights = torch.nn.init.orthogonal_(torch.empty(vectors.shape[1], DIMENSION)).requires_grad_(True)
    optimizer = torch.optim.Adam([weights], lr=RATE)
    for _ in range(STEPS):
        pairs = np.array([draw.choice(sections[i], 2, replace=False) for i in draw.permutation(len(sections))[:SECTIONS]])
        one, other = (normalize(given[pairs[:, n]] @ weights, dim=1) for n in (0, 1))
        near, right = one @ other.T / TEMPERATURE, torch.arange(len(pairs))
        loss = cross_entropy(near, right) + cross_entropy(near.T, right)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return weights.detach().numpy()


def examples(index: Index, book: Book) -> list[Example]:
    """Of ASKED wordings, drawn from every fifth section."""
    draw, found = np.random.default_rng(0), []
    rows = [(number, row) for number in range(0, len(book.questions), FOLDS) for row in book.questions[number].rows]
    for i in draw.permutation(len(rows))[:ASKED]:
        number, row = rows[i]
        question = book.questions[number]
        for there in (True, False):
            near = matches(question.wordings[question.rows.index(row)], index, frozenset({row} if there else question.rows))
            right = next((n for n, match in enumerate(near) if match.question is question), None)
            found.append((number, there, np.array([match.features for match in near]), right))
    return found


def fitted(found: list[Example]) -> np.ndarray:
    """Weights and, last, the bias of a conditional logit with an L2 penalty; a right section that was not found teaches nothing."""
    taught = [(f, right) for _, there, f, right in found if len(f) and (right is not None or not there)]
    everything = np.concatenate([f for f, _ in taught])
    mean, spread = everything.mean(axis=0), everything.std(axis=0) + 1e-6
    scaled = [(np.column_stack([(f - mean) / spread, np.ones(len(f))]), right) for f, right in taught]

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        penalty = PENALTY * np.append(w[:-1], 0.0)
        total, slope = 0.5 * float(penalty @ w), penalty.copy()
        for x, right in scaled:
            logits = x @ w
            top = max(0.0, float(logits.max()))
            odds = np.exp(logits - top)
            all_odds = odds.sum() + np.exp(-top)
            total += np.log(all_odds) + top - (logits[right] if right is not None else 0.0)
            slope += (odds / all_odds) @ x - (x[right] if right is not None else 0.0)
        return float(total), slope

    w = minimize(loss, np.zeros(len(FEATURES) + 1), jac=True, method="L-BFGS-B").x
    weights = w[:-1] / spread
    return np.append(weights, w[-1] - weights @ mean)


def use(index: Index, matrix: np.ndarray) -> Book:
    """Have the reader match with this map from now on, and without weights."""
    matching = Matching(matrix, np.zeros(len(FEATURES), dtype=np.float32), 0.0)
    proved_answers.load_matching = lambda: matching
    proved_answers._books.clear()
    return load_book(index)


def right_first(book: Book, kept: set[int]) -> float:
    """How often the wording nearest to a wording of the sections kept aside is of the same section."""
    owner = np.concatenate([np.full(len(q.rows), n) for n, q in enumerate(book.questions)])
    order = np.concatenate([q.rows for q in book.questions])
    vectors, rows = book.mapped[order], np.flatnonzero([n in kept for n in owner])
    near = vectors[rows] @ vectors.T
    near[np.arange(len(rows)), rows] = -1.0
    return float(np.mean(owner[near.argmax(axis=1)] == owner[rows]))


def report(found: list[Example], weights: np.ndarray) -> None:
    there = [e for e in found if e[1]]
    print(f"{len(there)} wordings of {len({e[0] for e in there})} sections kept aside; right one among the compared: {np.mean([e[3] is not None for e in there]):.2f}")
    best = []
    for _, is_there, features, right in found:
        odds = np.exp(features @ weights[:-1] + weights[-1])
        best.append((is_there, odds.max() / (1 + odds.sum()), right is not None and int(odds.argmax()) == right))
    print(f"likeliest one right: {np.mean([right for is_there, _, right in best if is_there]):.2f}")
    for sure in SURE:
        right, another = (np.mean([p >= sure and r is wanted for is_there, p, r in best if is_there]) for wanted in (True, False))
        invented = np.mean([p >= sure for is_there, p, _ in best if not is_there])
        print(f"from {sure:.1f}: right {right:.2f}, another {another:.2f}; without their section answered {invented:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--write", action="store_true", help="write chatbot/matching.safetensors")
    given = parser.parse_args()
    index = Index.open(given.index)
    book = use(index, np.eye(384, dtype=np.float32))
    sections = [np.array(question.rows) for question in book.questions]
    kept = set(range(0, len(sections), FOLDS))
    print(f"{len(book.encoded)} wordings of {len(sections)} questions; nearest wording right {right_first(book, kept):.3f}", flush=True)
    # The weights are learned from sections that the map has not seen: of its own it is surer than it is of a user's question.
    book = use(index, learned_map(book.encoded, [rows for n, rows in enumerate(sections) if n not in kept]))
    print(f"through the map {right_first(book, kept):.3f}", flush=True)
    found = examples(index, book)
    halves = [[e for e in found if e[0] // FOLDS % 2 == half] for half in (0, 1)]
    report(halves[1], fitted(halves[0]))
    weights = fitted(found)
    print({name: round(float(weight), 2) for name, weight in zip(FEATURES, weights[:-1], strict=True)}, round(float(weights[-1]), 2))
    if given.write:
        content = save({"map": learned_map(book.encoded, sections).astype(np.float16), "weights": weights.astype(np.float32)})
        Path("chatbot/matching.safetensors").write_bytes(content)


if __name__ == "__main__":
    main()
