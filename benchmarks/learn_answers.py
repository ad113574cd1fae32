"""Learn which question of the corpus means what a user asks.

    python benchmarks/learn_answers.py weights|choice|told INDEX [--write]

INDEX is an index of `corpus`.

`weights` learns weights for a choice among the nearest questions and none (a conditional logit). It learns from turns
of writers from whom `learn_questions.py` learned nothing: `labels/graded.jsonl` has grades of what is near to those
turns, by others who knew neither version, and `labels/unanswered.jsonl` has turns that nothing near answers. The
figures printed for a writer come from weights that did not learn from that writer.

`choice` learns when the answer to the likeliest question is better than what would be said otherwise (a logistic
regression). `labels/choices.jsonl` has graders' opinions of both answers, to people who had read no document and for
whom no answer was prepared. The tuned golden and natural questions tell whether each of the two answers passes. Of what
people asked before answers were prepared for them, it is known whether the likeliest question is the right one, and how
good other answers are is assumed (OTHERS).

`told` learns when evidence in documents is worth telling if no prepared answer is given. It learns from the same tuned
questions and from `labels/told.jsonl`, which has graders' opinions of such evidence, told to people who had read no
document; these and the natural questions count together as much as the golden ones.
"""

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np
from judge_pairs import PARTLY, RIGHT, asked_rows, held_writers, history_of, labelled, wanted
from safetensors.numpy import load_file, save
from scipy.optimize import minimize

from chatbot import Chatbot, Turn
from chatbot.bot import _known, _offline_answer, _refusal, alternative, from_documents, without_documents
from chatbot.draft import Draft
from chatbot.exam.golden import load_questions
from chatbot.exam.golden_scoring import failure
from chatbot.presentation.render import as_json
from chatbot.question.query import Query, understand
from chatbot.reader.proved_answers import (
    CHOSEN,
    FEATURES,
    LATER,
    TOLD,
    Alternative,
    Match,
    answer_of,
    choice,
    is_better,
    load_book,
    matches,
    nearest,
    told,
)

OUT = Path("chatbot/reader/matching.safetensors")
PENALTY = 1.0
# The weight of a turn that nothing answers. Something near answers most of what people ask, but a third of the graded
# turns were written so that nothing does.
UNANSWERED = 0.3
TUNED = [Path("tests/golden") / f"{name}.jsonl" for name in ("tuned", "fresh-tuned", "reference-tuned")] + [Path("tests/natural/natural-tuned.jsonl")]
# How good an answer is assumed to be that is computed, told from evidence, or refused, by the kind of answer that is
# right for the turn: a prepared answer, a computation, rows, or none. A refusal misleads nobody.
OTHERS = {"section": (0.5, 0.05, 0.15), "computed": (0.6, 0.0, 0.15), "table": (0.6, 0.0, 0.15), "none": (0.0, 0.0, 1.0)}
PARTLY_GOOD = 0.4
GOOD = {RIGHT: 1.0, PARTLY: PARTLY_GOOD, 0: 0.0}
# How much a choice counts by where it comes from: opinions of both answers most, assumptions least.
WEIGHTS = {"graded": 2.0, "asked": 0.5, "tuned": 1.0}
# The log odds that a prepared answer needs beyond what is learned against what is computed or looked up for the question's
# own figures. Of 787 graded turns these cost nothing, and without them 27 of the 104 that are sized get a prepared answer.
MARGINS = {"sized": 2.6, "row": 1.9, "compared": 2.6}
# The most that "How do I rotate its keys?" weighs against a prepared answer. Of 60 procedures that no document gives,
# 25 are refused with it, and 26 with the -4.25 that was learned.
HOW_TO = -2.0
# What it is worth to a person to read that nothing answers, and which prepared questions are nearest.
UNTOLD = 0.3
PARTS = 5
SURE = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


class Taught(NamedTuple):
    """What was found for a turn: the features, (found, …), how good each is, and the weight of the turn."""

    writer: str
    features: np.ndarray
    grades: list[int]
    weight: float = 1.0


def fitted(taught: Sequence[Taught]) -> np.ndarray:
    """Return the weights and, last, the bias of a conditional logit with an L2 penalty."""
    everything = np.concatenate([e.features for e in taught])
    mean, spread = everything.mean(axis=0), everything.std(axis=0) + 1e-6
    scaled = [(np.column_stack([(e.features - mean) / spread, np.ones(len(e.features))]), wanted(e.grades), e.weight) for e in taught]

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        penalty = PENALTY * np.append(w[:-1], 0.0)
        total, slope = 0.5 * float(penalty @ w), penalty.copy()
        for x, share, weight in scaled:
            logits = np.append(x @ w, 0.0)
            odds = np.exp(logits - logits.max())
            total += weight * (np.log(odds.sum()) + logits.max() - share @ logits)
            slope += weight * ((odds / odds.sum() - share)[:-1] @ x)
        return float(total), slope

    w = minimize(loss, np.zeros(everything.shape[1] + 1), jac=True, method="L-BFGS-B").x
    weights = w[:-1] / spread
    return np.append(weights, w[-1] - weights @ mean)


def report(found: Sequence[Taught]) -> None:
    """Print the results for each writer's turns, by weights learned from the other writers'."""
    likeliest: list[tuple[bool, int, float]] = []
    for writer in sorted({e.writer for e in found}):
        weights = fitted([e for e in found if e.writer != writer])
        for e in found:
            if e.writer == writer:
                odds = np.exp(e.features @ weights[:-1] + weights[-1])
                likeliest.append((RIGHT in e.grades, e.grades[odds.argmax()], odds.max() / (1 + odds.sum())))
    print(f"  likeliest right: {np.mean([g == RIGHT for there, g, _ in likeliest if there]):.3f} of {sum(t[0] for t in likeliest)} that have a right one")
    for sure in SURE:
        right, partly, another = (np.mean([p >= sure and g == grade for there, g, p in likeliest if there]) for grade in (RIGHT, PARTLY, 0))
        invented = np.mean([p >= sure and not g for there, g, p in likeliest if not there])
        print(f"  from {sure:.1f}: right {right:.2f}, partly {partly:.2f}, another {another:.2f}; answered where nothing near answers {invented:.2f}")


def learn_weights(index: str) -> dict[str, np.ndarray]:
    """Learn the weights for first turns and for later ones."""
    bot = Chatbot.open(index)
    held, own, said = held_writers(), asked_rows(load_book(bot.index)), dict[tuple[str, ...], tuple[Turn, ...]]()
    turns = [(label, label["grades"], 1.0) for label in labelled("graded.jsonl") if label["writer"] in held]
    turns += [(label, dict.fromkeys(label["partly"], PARTLY), UNANSWERED) for label in labelled("unanswered.jsonl")]
    found: dict[str, list[Taught]] = {"first": [], "later": []}
    for label, grades, weight in turns:
        *before, last = label["turns"]
        history = history_of(tuple(before), bot, said)
        near = matches(understand(last, history, bot.index).standalone, last, history, bot.index, own.get(label["writer"], frozenset()))
        if near:
            graded = [grades.get(match.question.answer.question, 0) for match in near]
            found["later" if history else "first"].append(Taught(label["writer"], np.array([match.features for match in near], dtype=float), graded, weight))
    learned = {}
    for name, features in (("first", FEATURES), ("later", LATER)):
        print(f"{name}: {len(found[name])} turns", flush=True)
        report(found[name])
        learned[name] = fitted(found[name])
        print(dict(zip([*features, "bias"], learned[name].round(2).tolist(), strict=True)))
    return {name: weights.astype(np.float32) for name, weights in learned.items()}


class Choice(NamedTuple):
    """What is chosen by, (CHOSEN,) or (TOLD,), and how good the prepared answer and the other one are."""

    features: np.ndarray
    prepared: float
    other: float


def other_answer(query: Query, bot: Chatbot, near: Sequence[Match]) -> tuple[Alternative, dict[str, object]]:
    """Return what is answered without prepared answers."""
    kind, draft = without_documents(query, bot.index)
    if draft:
        *_, last = _known(query, draft)
        return Alternative(kind), as_json(last.answer)
    kind, draft, verified, passages = from_documents(query, bot.index)
    said = _refusal(query, passages, bot.index) if kind == "refusal" else (verified.text, passages)
    *_, last = _offline_answer(query, *said, verified, Draft("", ()) if kind == "refusal" else draft)
    return alternative(kind, draft, near), as_json(last.answer)


def asked_choices(bot: Chatbot) -> Iterator[Choice]:
    """Yield choices for what people asked, and for some turns that nothing answers.

    The encoder learned nothing from these people, and the wordings that are their own are left out.
    """
    held, own = held_writers(), asked_rows(load_book(bot.index))
    graded = {(*label["turns"],): label["grades"] for label in labelled("graded.jsonl")}
    unanswered = [label | {"answer": "none"} for label in labelled("unanswered.jsonl")[:: round(1 / UNANSWERED)]]
    for label in [*(label for label in labelled("asked.jsonl") if label["writer"] in held), *unanswered]:
        history: list[Turn] = []
        for turn in label["turns"][:-1]:
            history.append(Turn(turn, bot.ask(turn, history).text))
        query = understand(label["turns"][-1], history, bot.index)
        near = matches(query.standalone, query.question, query.history, bot.index, own.get(label["writer"], frozenset()))
        if near:
            other, _ = other_answer(query, bot, near)
            computed, found, refused = OTHERS[label["answer"]]
            grades = {label.get("section"): RIGHT} | graded.get((*label["turns"],), {})
            grade = grades.get(near[0].question.answer.question, 0)
            good = 1.0 if grade == RIGHT and label["answer"] == "section" else PARTLY_GOOD * bool(grade)
            yield Choice(choice(near, query, other), good, found if other.kind == "evidence" else refused if other.kind == "refusal" else computed)


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


def graded_choices(bot: Chatbot) -> Iterator[Choice]:
    said: dict[tuple[str, ...], tuple[Turn, ...]] = {}
    for label in labelled("choices.jsonl"):
        query = understand(label["turns"][-1], history_of(tuple(label["turns"][:-1]), bot, said), bot.index)
        if near := matches(query.standalone, query.question, query.history, bot.index):
            other, _ = other_answer(query, bot, near)
            good = (label["grades"].get(near[0].question.answer.question, 0), label["other"])
            yield Choice(choice(near, query, other), *(GOOD[grade] for grade in good))


CHOICES = {"graded": graded_choices, "asked": asked_choices, "tuned": tuned_choices}


def choices_of(kind: str, index: str) -> list[Choice]:
    return list(CHOICES[kind](Chatbot.open(index)))


def learn_choice(index: str) -> dict[str, np.ndarray]:
    """Learn the weights, (CHOSEN + 1,)."""
    with ProcessPoolExecutor(2) as pool:
        found = dict(zip(CHOICES, pool.map(choices_of, CHOICES, repeat(index)), strict=True))
    everything = [Choice(one.features, WEIGHTS[name] * one.prepared, WEIGHTS[name] * one.other) for name, some in found.items() for one in some]
    part = np.random.default_rng(0).integers(0, PARTS, len(everything))
    held = np.zeros(len(everything))
    for number in range(PARTS):
        weights = adjusted(logistic([one for one, p in zip(everything, part, strict=True) if p != number]))
        held[part == number] = [one.features @ weights[:-1] + weights[-1] for one, p in zip(everything, part, strict=True) if p == number]
    start = 0
    for name, some in found.items():
        odds, start = held[start : start + len(some)], start + len(some)
        chosen = sum(one.prepared if z > 0 else one.other for one, z in zip(some, odds, strict=True))
        always, never, best = (sum(map(take, some)) for take in (lambda one: one.prepared, lambda one: one.other, lambda one: max(one[1:])))
        print(f"{name}: {chosen:.0f} of {len(some)} good; prepared answers alone {always:.0f}, none {never:.0f}, the better of the two {best:.0f}")
    learned = adjusted(logistic(everything))
    print(dict(zip([*CHOSEN, "bias"], learned.round(2).tolist(), strict=True)))
    return {"chosen": learned.astype(np.float32)}


def told_choices(index: str, part: int) -> list[tuple[bool, Choice]]:
    """Return how good evidence was against a refusal, for every second question.

    The first value says whether somebody asked it who had read no document.
    """
    bot = Chatbot.open(index)
    documents = [document.id for document in bot.index.documents()]
    tuned = (question for file in TUNED for question in load_questions(file) if not question.is_answered_by(documents) and not question.choices)
    asked = [*((question.turns, question, 0.0) for question in tuned), *((label["turns"], None, label["grade"] / RIGHT) for label in labelled("told.jsonl"))]
    found = []
    for turns, question, grade in asked[part::2]:
        query = understand(turns[-1], history_of(tuple(turns[:-1]), bot, {}), bot.index)
        near = nearest(query, bot.index)
        other, said = other_answer(query, bot, near)
        if near and other.kind == "evidence" and not is_better(near, query, other):
            good = grade if question is None else float(failure(question, said) is None)
            found.append((question is None or question.id.startswith("nat"), Choice(told(query, other.probability), good, UNTOLD)))
    return found


def learn_told(index: str) -> dict[str, np.ndarray]:
    """Learn the weights, (TOLD + 1,)."""
    with ProcessPoolExecutor(2) as pool:
        found = [one for part in pool.map(told_choices, repeat(index), range(2)) for one in part]
    natural = np.array([is_natural for is_natural, _ in found])
    weight = len(natural) / 2 / np.where(natural, natural.sum(), (~natural).sum())
    taught = [Choice(one.features, w * one.prepared, w * one.other) for w, (_, one) in zip(weight, found, strict=True)]
    held, part = np.zeros(len(found), dtype=bool), np.random.default_rng(0).integers(0, PARTS, len(found))
    for number in range(PARTS):
        weights = logistic([one for one, p in zip(taught, part, strict=True) if p != number])
        held[part == number] = [one.features @ weights[:-1] + weights[-1] > 0 for one, p in zip(taught, part, strict=True) if p == number]
    good = np.array([one.prepared >= 0.5 for _, one in found])
    for name, some in (("natural", natural), ("golden", ~natural)):
        print(f"{name}: {(some & good & held).sum()} of {(some & good).sum()} that are good are told, {(some & ~good & held).sum()} of {(some & ~good).sum()} others")
    learned = logistic(taught)
    print(dict(zip([*TOLD, "bias"], learned.round(2).tolist(), strict=True)))
    return {"told": learned.astype(np.float32)}


def adjusted(weights: np.ndarray) -> np.ndarray:
    """Return the weights with MARGINS, and with that of questions for a procedure limited to HOW_TO."""
    weighed = weights.copy()
    for kind, margin in MARGINS.items():
        weighed[CHOSEN.index(kind)] -= margin
    weighed[CHOSEN.index("asks how to")] = max(weighed[CHOSEN.index("asks how to")], HOW_TO)
    return weighed


def logistic(taught: Sequence[Choice]) -> np.ndarray:
    """Return the weights and, last, the bias of a logistic regression with an L2 penalty.

    A choice counts by what is lost if it is wrong.
    """
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
    parser.add_argument("learned", choices=("weights", "choice", "told"))
    parser.add_argument("index")
    parser.add_argument("--write", action="store_true", help=f"write {OUT}")
    given = parser.parse_args()
    learned = {"weights": learn_weights, "choice": learn_choice, "told": learn_told}[given.learned](given.index)
    if given.write:
        OUT.write_bytes(save(load_file(OUT) | learned))


if __name__ == "__main__":
    main()
