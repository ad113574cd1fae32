"""Learn which question of the corpus means what a user asks: python benchmarks/learn_answers.py map INDEX | weights PAIRS JUDGED | choice INDEX [--write].

`map` learns a linear map of the vectors of sentences that brings a wording nearer to the middle of its question's other wordings than to other questions'
(prototypical networks; Snell et al. 2017, arXiv:1703.05175), from the wordings that nobody asked. `weights` learns weights for a choice among the nearest
questions and none (a conditional logit), from `labels/asked.jsonl`: what people asked before they had read anything, and the question of the corpus that answers
it, if any does; of 480 turns `labels/graded.jsonl` has what others, who knew neither, thought of the five nearest. PAIRS is what judge_pairs.py made with the map,
JUDGED what learn_judge.py wrote with `--folds 4`: of later turns the judge reads the likeliest answers. What is printed is of writers whose turns taught nothing.

`choice` learns when the answer to the likeliest question is better than what else would be said (a logistic regression), from the same turns and the tuned golden and
natural questions: the latter tell whether each of the two passes, of the former it is known whether the likeliest question is the right one. How good other
answers are to those is assumed (OTHERS). It asks some 4,000 questions: 15 minutes on two cores.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from judge_pairs import PARTLY, RIGHT, Found, asked_rows, judged_lists, labelled, made_rows, wanted
from safetensors.numpy import load_file, save
from scipy.optimize import minimize
from torch.nn.functional import cross_entropy, normalize

from chatbot import Chatbot, Turn
from chatbot.bot import _known, _offline_answer, _refusal, alternative, from_documents, without_documents
from chatbot.exam.golden import load_questions
from chatbot.exam.golden_scoring import failure
from chatbot.proved_answers import (
    _READ,
    CHOSEN,
    FEATURES,
    JUDGED,
    KINDS,
    LATER,
    Alternative,
    Match,
    answer_of,
    choice,
    load_book,
    matches,
)
from chatbot.query import Query, understand
from chatbot.render import as_json
from ingest import Index

OUT = Path("chatbot/matching.safetensors")
DIMENSION = 256
STEPS = 600
WORDINGS = 256
RATE = 2e-3
TEMPERATURE = 0.05
PENALTY = 1.0
TUNED = [Path("tests/golden") / f"{name}.jsonl" for name in ("tuned", "fresh-tuned", "reference-tuned")] + [Path("tests/natural/natural-tuned.jsonl")]
LATER_TURNS = 500
# How good an answer is taken to be by its kind, for a turn of which a prepared answer, a computation or rows, or nothing is right. A refusal misleads nobody.
OTHERS = {"section": (0.5, 0.05, 0.15), "computed": (0.6, 0.0, 0.15), "table": (0.6, 0.0, 0.15), "none": (0.0, 0.0, 1.0)}
PARTLY_GOOD = 0.4
# Golden questions are written from documents, which people's are not: so much odds a prepared answer must have, and so little where nothing else would be said.
MARGIN, MARGIN_TO_REFUSAL = 0.4, -0.8
# Of 28 graded answers to people in sentences of documents one was right and direct, of 69 prepared ones with a probability of 0.1 to 0.3 twenty.
MARGIN_TO_EVIDENCE = 0.0
# A row is exact where the nearest question may differ in a figure ("what about 24 GB", "more than 24 GB").
MARGIN_TO_ROW = 1.9
# "How do I rotate its keys?" weighs no more than this against a prepared answer: of 60 procedures that no document gives 25 are refused with it, with the -4.25 that was learned 26.
HOW_TO = -2.0
PARTS = 5
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


class Choice(NamedTuple):
    """What is chosen by, (CHOSEN,), and how good the prepared answer and the other one are."""

    features: np.ndarray
    prepared: float
    other: float


def other_answer(query: Query, bot: Chatbot, near: Sequence[Match]) -> tuple[Alternative, dict[str, object]]:
    """What is answered without prepared answers."""
    kind, draft = without_documents(query, bot.index)
    if draft:
        *_, last = _known(query, draft)
        return Alternative(kind), as_json(last.answer)
    kind, draft, verified, passages = from_documents(query, bot.index)
    said = _refusal(query, passages, bot.index) if kind == "refusal" else (verified.text, passages)
    *_, last = _offline_answer(query, *said, verified, choices=draft.choices)
    return alternative(kind, draft, near), as_json(last.answer)


def asked_choices(bot: Chatbot) -> Iterator[Choice]:
    """Of what people asked, without the wordings that are their own."""
    own, graded = asked_rows(load_book(bot.index)), {(*label["turns"],): label["grades"] for label in labelled("graded.jsonl")}
    labels = labelled("asked.jsonl")
    later = [label for label in labels if len(label["turns"]) > 1]
    for label in [one for one in labels if len(one["turns"]) == 1] + random.Random(0).sample(later, LATER_TURNS):
        history: list[Turn] = []
        for turn in label["turns"][:-1]:
            history.append(Turn(turn, bot.ask(turn, history).text))
        query = understand(label["turns"][-1], history, bot.index)
        near = matches(query.standalone, query.question, query.history, bot.index, own.get(label["writer"], frozenset()))
        if near:
            other, _ = other_answer(query, bot, near)
            computed, told, refused = OTHERS[label["answer"]]
            grades = {label.get("section"): RIGHT} | graded.get((*label["turns"],), {})
            grade = grades.get(near[0].question.answer.question, 0)
            good = 1.0 if grade == RIGHT and label["answer"] == "section" else PARTLY_GOOD * bool(grade)
            yield Choice(choice(near, query, other), good, told if other.kind == "evidence" else refused if other.kind == "refusal" else computed)


def tuned_choices(bot: Chatbot) -> Iterator[Choice]:
    documents = [document.id for document in bot.index.documents()]
    for question in (question for file in TUNED for question in load_questions(file)):
        if question.is_answered_by(documents) or question.choices:
            continue
        history: list[Turn] = []
        for turn in question.turns[:-1]:
            history.append(Turn(turn, bot.ask(turn, history).text))
        query = understand(question.turns[-1], history, bot.index)
        near = matches(query.standalone, query.question, query.history, bot.index)
        draft = answer_of(near[0], bot.index) if near else None
        if draft:
            other, said = other_answer(query, bot, near)
            *_, last = _known(query, draft)
            good = [failure(question, answer) is None for answer in (as_json(last.answer), said)]
            yield Choice(choice(near, query, other), *map(float, good))


def learn_choice(index: str) -> dict[str, np.ndarray]:
    """Weights, (CHOSEN + 1,), with the margins in them."""
    bot = Chatbot.open(index)
    found = {"asked": list(asked_choices(bot)), "tuned": list(tuned_choices(bot))}
    everything = [one for some in found.values() for one in some]
    part = np.random.default_rng(0).integers(0, PARTS, len(everything))
    held = np.zeros(len(everything))
    for number in range(PARTS):
        weights = with_margins(logistic([one for one, p in zip(everything, part, strict=True) if p != number]))
        held[part == number] = [one.features @ weights[:-1] + weights[-1] for one, p in zip(everything, part, strict=True) if p == number]
    start = 0
    for name, some in found.items():
        odds, start = held[start : start + len(some)], start + len(some)
        chosen = sum(one.prepared if z > 0 else one.other for one, z in zip(some, odds, strict=True))
        always, never, best = (sum(map(take, some)) for take in (lambda one: one.prepared, lambda one: one.other, lambda one: max(one[1:])))
        print(f"{name}: {chosen:.0f} of {len(some)} good; prepared answers alone {always:.0f}, none {never:.0f}, the better of the two {best:.0f}")
    learned = with_margins(logistic(everything))
    print(dict(zip([*CHOSEN, "bias"], learned.round(2).tolist(), strict=True)))
    return {"chosen": learned.astype(np.float32)}


def with_margins(weights: np.ndarray) -> np.ndarray:
    """The bias less the margin to evidence, and the weights of the other kinds less theirs; and the weight of HOW_TO."""
    margins = dict.fromkeys(KINDS, MARGIN) | {"refusal": MARGIN_TO_REFUSAL, "row": MARGIN_TO_ROW}
    weighed = weights.copy()
    weighed[-1] -= MARGIN_TO_EVIDENCE
    for kind, margin in margins.items():
        weighed[CHOSEN.index(kind)] += MARGIN_TO_EVIDENCE - margin
    weighed[CHOSEN.index("asks how to")] = max(weighed[CHOSEN.index("asks how to")], HOW_TO)
    return weighed


def logistic(taught: Sequence[Choice]) -> np.ndarray:
    """Weights and, last, the bias of a logistic regression with an L2 penalty, in which a choice counts by what is lost if it is wrong."""
    features = np.array([one.features for one in taught], dtype=float)
    gain = np.array([one.prepared - one.other for one in taught])
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-6
    x = np.column_stack([(features - mean) / spread, np.ones(len(features))])

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        z, penalty = x @ w, 2 * PENALTY * np.append(w[:-1], 0.0)
        total = np.abs(gain) @ (np.logaddexp(0, z) - (gain > 0) * z) + 0.5 * penalty @ w
        return float(total), x.T @ (np.abs(gain) * (1 / (1 + np.exp(-z)) - (gain > 0))) + penalty

    w = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x
    weights = w[:-1] / spread
    return np.append(weights, w[-1] - weights @ mean)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("learned", choices=("map", "weights", "choice"))
    parser.add_argument("folders", nargs="+", help="INDEX, or PAIRS and JUDGED")
    parser.add_argument("--write", action="store_true", help=f"write {OUT}")
    given = parser.parse_args()
    learned = {"map": learn_map, "weights": learn_weights, "choice": learn_choice}[given.learned](*given.folders)
    if given.write:
        OUT.write_bytes(save(load_file(OUT) | learned))


if __name__ == "__main__":
    main()
