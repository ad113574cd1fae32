"""Learn which question of the corpus means what a user asks: python benchmarks/learn_answers.py map INDEX | weights PAIRS JUDGED [--write].

`map` learns a linear map of the vectors of sentences that brings a wording nearer to the middle of its question's other wordings than to other questions'
(prototypical networks; Snell et al. 2017, arXiv:1703.05175), from the wordings that nobody asked. `weights` learns weights for a choice among the nearest
questions and none (a conditional logit), from `labels/asked.jsonl`: what people asked before they had read anything, and the question of the corpus that answers
it, if any does; of 480 turns `labels/graded.jsonl` has what others, who knew neither, thought of the five nearest. PAIRS is what judge_pairs.py made with the map,
JUDGED what learn_judge.py wrote with `--folds 4`: of later turns the judge reads the likeliest answers. What is printed is of writers whose turns taught nothing.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from judge_pairs import PARTLY, RIGHT, Found, judged_lists, made_rows, wanted
from safetensors.numpy import load_file, save
from scipy.optimize import minimize
from torch.nn.functional import cross_entropy, normalize

from chatbot.proved_answers import _READ, FEATURES, JUDGED, LATER, load_book
from ingest import Index

OUT = Path("chatbot/matching.safetensors")
DIMENSION = 256
STEPS = 600
WORDINGS = 256
RATE = 2e-3
TEMPERATURE = 0.05
PENALTY = 1.0
SURE = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


def learn_map(index: str) -> dict[str, np.ndarray]:
    """A map, (384, DIMENSION), from the vectors of wordings and the question that each is of."""
    book = load_book(Index.open(Path(index)))
    # A map that has met the turns would bring them nearer to their questions than it does a stranger's.
    made = made_rows(book)
    print(f"{len(book.encoded)} wordings of {len(book.questions)} questions, {len(made)} that nobody asked", flush=True)
    draw, given, owner = np.random.default_rng(0), torch.tensor(book.encoded[made]), torch.tensor(book.owners[made])
    sums = torch.zeros(len(book.questions), given.shape[1]).index_add_(0, owner, given)
    torch.manual_seed(0)
    weights = torch.nn.init.orthogonal_(torch.empty(given.shape[1], DIMENSION)).requires_grad_(True)
    optimizer = torch.optim.Adam([weights], lr=RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / STEPS)
    for _ in range(STEPS):
        some = torch.tensor(draw.choice(len(made), WORDINGS, replace=False))
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
    return {"map": weights.detach().numpy().astype(np.float16)}


def fitted(taught: list[Found]) -> np.ndarray:
    """Weights and, last, the bias of a conditional logit with an L2 penalty."""
    everything = np.concatenate([e.features for e in taught])
    mean, spread = everything.mean(axis=0), everything.std(axis=0) + 1e-6
    scaled = [(np.column_stack([(e.features - mean) / spread, np.ones(len(e.features))]), wanted(e.grades)) for e in taught]

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        penalty = PENALTY * np.append(w[:-1], 0.0)
        total, slope = 0.5 * float(penalty @ w), penalty.copy()
        for x, share in scaled:
            logits = np.append(x @ w, 0.0)
            odds = np.exp(logits - logits.max())
            total += np.log(odds.sum()) + logits.max() - share @ logits
            slope += (odds / odds.sum() - share)[:-1] @ x
        return float(total), slope

    w = minimize(loss, np.zeros(everything.shape[1] + 1), jac=True, method="L-BFGS-B").x
    weights = w[:-1] / spread
    return np.append(weights, w[-1] - weights @ mean)


def report(found: list[Found]) -> None:
    """Each writer's turns, by weights learned from the others'."""
    told, stood = [], []
    for writer in sorted({e.line["writer"] for e in found}):
        weights = fitted([e for e in found if e.line["writer"] != writer])
        for e in found:
            if e.line["writer"] == writer:
                odds = np.exp(e.features @ weights[:-1] + weights[-1])
                told.append((RIGHT in e.line["grades"], e.grades[odds.argmax()], odds.max() / (1 + odds.sum())))
                stood += [e.grades[odds.argmax()] == RIGHT] if e.line["stood"] else []
    print(f"  likeliest right: {np.mean([g == RIGHT for there, g, _ in told if there]):.2f} of {sum(t[0] for t in told)}; {np.mean(stood):.2f} of {len(stood)} whose question stood before")
    for sure in SURE:
        right, partly, another = (np.mean([p >= sure and g == grade for there, g, p in told if there]) for grade in (RIGHT, PARTLY, 0))
        invented = np.mean([p >= sure and not g for there, g, p in told if not there])
        print(f"  from {sure:.1f}: right {right:.2f}, partly {partly:.2f}, another {another:.2f}; answered where nothing near answers {invented:.2f}")


def learn_weights(pairs: str, judged: str) -> dict[str, np.ndarray]:
    """Of first turns, of later ones, and of what the judge reads of the later ones."""
    found: dict[str, list[Found]] = {"first": [], "later": []}
    for turn in judged_lists(Path(pairs), Path(judged), "turn"):
        if any(turn.line["wanted"]):
            found["later" if turn.line["later"] else "first"].append(turn)
    later = fitted(found["later"])
    found["judged"] = [turn.read(turn.features @ later[:-1], _READ) for turn in found["later"]]
    learned = {}
    for name, features in (("first", FEATURES), ("later", LATER), ("judged", JUDGED)):
        print(f"{name}: {len(found[name])} turns", flush=True)
        report(found[name])
        learned[name] = fitted(found[name])
        print(dict(zip([*features, "bias"], learned[name].round(2).tolist(), strict=True)))
    return {name: weights.astype(np.float32) for name, weights in learned.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("learned", choices=("map", "weights"))
    parser.add_argument("folders", nargs="+", help="INDEX, or PAIRS and JUDGED")
    parser.add_argument("--write", action="store_true", help=f"write {OUT}")
    given = parser.parse_args()
    learned = (learn_map if given.learned == "map" else learn_weights)(*given.folders)
    if given.write:
        OUT.write_bytes(save(load_file(OUT) | learned))


if __name__ == "__main__":
    main()
