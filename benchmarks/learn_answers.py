"""Learn which question of the corpus means what a user asks: python benchmarks/learn_answers.py INDEX [--write].

First a linear map of the vectors of sentences that brings a wording nearer to the middle of its question's other wordings than to other questions' (prototypical
networks; Snell et al. 2017, arXiv:1703.05175), from the wordings that nobody asked. Then weights for a choice among the nearest questions and none (a conditional
logit), from `labels/asked.jsonl`: what people asked before they had read anything, and the question of the corpus that answers it, if any does; of 480
turns `labels/graded.jsonl` has what others, who knew neither, thought of the five nearest. Most
of these turns stand among the wordings: a writer's are compared with all but that writer's own. What is printed is of writers whose turns taught nothing.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.numpy import load_file, save
from scipy.optimize import minimize
from torch.nn.functional import cross_entropy, normalize

from chatbot import Chatbot, Turn, proved_answers
from chatbot.proved_answers import FEATURES, LATER, Book, Learned, Matching, load_book, matches
from chatbot.query import understand

LABELS = Path(__file__).parent / "labels"
ASKED, GRADED = LABELS / "asked.jsonl", LABELS / "graded.jsonl"
OUT = Path("chatbot/matching.safetensors")
DIMENSION = 256
STEPS = 600
WORDINGS = 256
RATE = 2e-3
TEMPERATURE = 0.05
PENALTY = 1.0
# Grades of what was near to a turn: it answers it, or a part of it. How much of the choice the latter should have where something answers, and where nothing does.
RIGHT, PARTLY = 2, 1
BESIDE, ALONE = 0.1, 0.5
SURE = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


class Example(NamedTuple):
    """A labelled turn: features of what is near, (found, features), and the grade of each. `stood` says that the right
    question stood in the corpus before its writer wrote: of the others, some were written for the turn."""

    writer: str
    later: bool
    stood: bool
    features: np.ndarray
    grades: np.ndarray

    @property
    def answered(self) -> bool:
        return bool((self.grades == RIGHT).any())

    def wanted(self) -> np.ndarray:
        """(found + 1,): how the choice should fall on each, and last on none."""
        share = np.append(np.select([self.grades == RIGHT, self.grades == PARTLY], [1.0, BESIDE if self.answered else 1.0]), 0.0)
        if not self.answered:
            share[-1] = share.sum() * (1 - ALONE) / ALONE or 1.0
        return share / share.sum()


def learned_map(vectors: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """(384, DIMENSION), from the vectors of wordings and the question that each is of."""
    draw, given, owner = np.random.default_rng(0), torch.tensor(vectors), torch.tensor(owners)
    sums = torch.zeros(int(owners.max()) + 1, vectors.shape[1]).index_add_(0, owner, given)
    torch.manual_seed(0)
    weights = torch.nn.init.orthogonal_(torch.empty(vectors.shape[1], DIMENSION)).requires_grad_(True)
    optimizer = torch.optim.Adam([weights], lr=RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / STEPS)
    for _ in range(STEPS):
        some = torch.tensor(draw.choice(len(owners), WORDINGS, replace=False))
        right, wordings = owner[some], normalize(given[some] @ weights, dim=1)
        # How long a sum is makes no difference: a mean points the same way.
        near = wordings @ normalize(sums @ weights, dim=1).T
        without = normalize((sums[right] - given[some]) @ weights, dim=1)
        near = near.scatter(1, right[:, None], (wordings * without).sum(1, keepdim=True))
        loss = cross_entropy(near / TEMPERATURE, right)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return weights.detach().numpy()


def examples(bot: Chatbot) -> Iterator[Example]:
    """Every labelled turn with what is near to it, after the answers that the bot gives to the turns before it."""
    own = _asked_rows(load_book(bot.index))
    said: dict[tuple[str, ...], tuple[Turn, ...]] = {(): ()}
    for label in _labels():
        *before, last = label["turns"]
        history = _history(tuple(before), bot, said)
        standalone = understand(last, history, bot.index).standalone
        found = matches(standalone, last, history, bot.index, own[label["writer"]])
        names = [match.question.answer.question for match in found]
        grades = {label.get("section"): RIGHT} | label.get("grades", {})
        given = np.array([grades.get(name, 0) for name in names])
        if found and (given.any() or "grades" in label or label["answer"] != "section"):
            yield Example(label["writer"], bool(before), label.get("existing", False), np.array([m.features for m in found]), given)


def _labels() -> list[dict[str, Any]]:
    """What people asked, with the grades of what was near to it where there are any."""
    asked, graded = ([json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] for file in (ASKED, GRADED))
    grades = {(*label["turns"],): {"grades": label["grades"]} for label in graded}
    return [label | grades.get((*label["turns"],), {}) for label in asked]


def _asked_rows(book: Book) -> dict[str, frozenset[int]]:
    """Of each writer, the rows of the wordings that are turns of that writer."""
    rows: dict[str, set[int]] = {}
    for question in book.questions:
        for row, wording in zip(question.rows, question.wordings, strict=True):
            rows.setdefault(_plain(wording), set()).add(row)
    own: dict[str, set[int]] = {}
    for label in _labels():
        own.setdefault(label["writer"], set()).update(rows.get(_plain(label["turns"][-1]), ()))
    return {writer: frozenset(found) for writer, found in own.items()}


def _history(turns: tuple[str, ...], bot: Chatbot, said: dict[tuple[str, ...], tuple[Turn, ...]]) -> tuple[Turn, ...]:
    if turns not in said:
        before = _history(turns[:-1], bot, said)
        said[turns] = (*before, Turn(turns[-1], bot.ask(turns[-1], before).text))
    return said[turns]


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def fitted(taught: list[Example]) -> np.ndarray:
    """Weights and, last, the bias of a conditional logit with an L2 penalty."""
    everything = np.concatenate([e.features for e in taught])
    mean, spread = everything.mean(axis=0), everything.std(axis=0) + 1e-6
    scaled = [(np.column_stack([(e.features - mean) / spread, np.ones(len(e.features))]), e.wanted()) for e in taught]

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        penalty = PENALTY * np.append(w[:-1], 0.0)
        total, slope = 0.5 * float(penalty @ w), penalty.copy()
        for x, wanted in scaled:
            logits = np.append(x @ w, 0.0)
            odds = np.exp(logits - logits.max())
            total += np.log(odds.sum()) + logits.max() - wanted @ logits
            slope += (odds / odds.sum() - wanted)[:-1] @ x
        return float(total), slope

    w = minimize(loss, np.zeros(everything.shape[1] + 1), jac=True, method="L-BFGS-B").x
    weights = w[:-1] / spread
    return np.append(weights, w[-1] - weights @ mean)


def report(found: list[Example]) -> None:
    """Each writer's turns, by weights learned from the others'."""
    told, stood = [], []
    for writer in sorted({e.writer for e in found}):
        weights = fitted([e for e in found if e.writer != writer])
        for e in found:
            if e.writer == writer:
                odds = np.exp(e.features @ weights[:-1] + weights[-1])
                told.append((e.answered, e.grades[odds.argmax()], odds.max() / (1 + odds.sum())))
                stood += [e.grades[odds.argmax()] == RIGHT] if e.stood else []
    print(f"  likeliest right: {np.mean([g == RIGHT for there, g, _ in told if there]):.2f} of {sum(t[0] for t in told)}; {np.mean(stood):.2f} of {len(stood)} whose question stood before")
    for sure in SURE:
        right, partly, another = (np.mean([p >= sure and g == grade for there, g, p in told if there]) for grade in (RIGHT, PARTLY, 0))
        invented = np.mean([p >= sure and not g for there, g, p in told if not there])
        print(f"  from {sure:.1f}: right {right:.2f}, partly {partly:.2f}, another {another:.2f}; answered where nothing near answers {invented:.2f}")


def _learned(weights: np.ndarray, features: int) -> Learned:
    """Weights and bias; where these are of other features, such that nothing is likely."""
    return Learned(weights[:-1], float(weights[-1])) if len(weights) == features + 1 else Learned(np.zeros(features, dtype=np.float32), -30.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("--write", action="store_true", help=f"write {OUT}")
    given = parser.parse_args()
    bot = Chatbot.open(given.index)
    book = load_book(bot.index)
    # A map that has met the turns would bring them nearer to their questions than it does a stranger's.
    made = np.setdiff1d(np.arange(len(book.owners)), [row for rows in _asked_rows(book).values() for row in rows])
    map = learned_map(book.encoded[made], book.owners[made])
    print(f"{len(book.encoded)} wordings of {len(book.questions)} questions", flush=True)
    # The answers to earlier turns are those of the weights learned before, if these are of the same features.
    before = load_file(OUT)
    weights = {name: _learned(before[name], len(features)) for name, features in (("first", FEATURES), ("later", LATER))}
    proved_answers.load_matching = lambda: Matching(map, weights["first"], weights["later"])
    proved_answers._books.clear()
    found, learned = list(examples(bot)), {}
    for name, later, features in (("first", False, FEATURES), ("later", True, LATER)):
        some = [e for e in found if e.later is later]
        print(f"{name}: {len(some)} turns", flush=True)
        report(some)
        learned[name] = fitted(some).astype(np.float32)
        print(dict(zip([*features, "bias"], learned[name].round(2).tolist(), strict=True)))
    if given.write:
        OUT.write_bytes(save({"map": map.astype(np.float16), **learned}))


if __name__ == "__main__":
    main()
