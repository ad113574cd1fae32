"""Learn which question of the corpus means what a user asks: python benchmarks/learn_answers.py INDEX [--write].

First a linear map of the vectors of sentences that brings a wording nearer to the middle of its question's other wordings than to other questions' (prototypical
networks; Snell et al. 2017, arXiv:1703.05175), from the wordings that nobody asked. Then weights for a choice among the nearest questions and none (a conditional
logit), from `labels/asked.jsonl`: what people asked before they had read anything, and the question of the corpus that answers it, if any does. Most
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

LABELS = Path(__file__).parent / "labels" / "asked.jsonl"
OUT = Path("chatbot/matching.safetensors")
DIMENSION = 256
STEPS = 600
WORDINGS = 256
RATE = 2e-3
TEMPERATURE = 0.05
PENALTY = 1.0
SURE = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


class Example(NamedTuple):
    """A labelled turn: features of what is near, (found, features), and which of it is right, if any. `stood` says that the right
    question stood in the corpus before its writer wrote: of the others, some were written for the turn."""

    writer: str
    later: bool
    stood: bool
    features: np.ndarray
    right: int | None


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
    book = load_book(bot.index)
    numbers = {q.answer.question: q for q in book.questions}
    own = _asked_rows(book)
    said: dict[tuple[str, ...], tuple[Turn, ...]] = {(): ()}
    for label in _labels():
        *before, last = label["turns"]
        history = _history(tuple(before), bot, said)
        standalone = understand(last, history, bot.index).standalone
        found = matches(standalone, last, history, bot.index, own[label["writer"]])
        right = next((n for n, match in enumerate(found) if match.question is numbers.get(label.get("section"))), None)
        if found and (right is not None or label["answer"] != "section"):
            yield Example(label["writer"], bool(before), label.get("existing", False), np.array([m.features for m in found]), right)


def _labels() -> list[dict[str, Any]]:
    return [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]


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
    scaled = [(np.column_stack([(e.features - mean) / spread, np.ones(len(e.features))]), e.right) for e in taught]

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
                told.append((e.right is not None, int(odds.argmax()) == e.right, odds.max() / (1 + odds.sum())))
                stood += [int(odds.argmax()) == e.right] if e.stood else []
    print(f"  likeliest right: {np.mean([right for there, right, _ in told if there]):.2f} of {sum(t[0] for t in told)}; {np.mean(stood):.2f} of {len(stood)} whose question stood before")
    for sure in SURE:
        right, another = (np.mean([p >= sure and r is wanted for there, r, p in told if there]) for wanted in (True, False))
        invented = np.mean([p >= sure for there, _, p in told if not there])
        print(f"  from {sure:.1f}: right {right:.2f}, another {another:.2f}; answered where no question is right {invented:.2f}")


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
