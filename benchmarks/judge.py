"""Measure which true claims survive verification, and which false ones, by kind.

    python benchmarks/judge.py [--held | --fit]

Each claim of `tests/claims/kept.jsonl` cites its passage whole, as a language model does. Also printed are the
calibration error in ten bins (Naeini et al. 2015) and the milliseconds that verifying a claim takes. `--held` takes the
labels that `learn_judge.py` did not learn from instead. `--fit` learns from these how `borne_out` weighs its features,
with unrelated sentences (`labels/claims/astray.jsonl`) among the false claims.
"""

import argparse
import json
import random
import time
from collections import defaultdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from chatbot.answer import Passage
from chatbot.verification import citations
from chatbot.verification.citations import whole
from ingest import Chunk, Document, Source

CLAIMS = Path(__file__).resolve().parents[1] / "tests" / "claims"
LABELS = Path(__file__).resolve().parent / "labels" / "claims"
LAST_WRITERS = frozenset({"z1", "z2", "z3", "z4", "z5"})
Scores = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--held", action="store_true")
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    if options.fit:
        return fit()
    folder = LABELS if options.held else CLAIMS
    claims = lines(folder / ("claims.jsonl" if options.held else "kept.jsonl"))
    claims = [c for c in claims if not options.held or is_held(c["passage"], c["writer"])]
    passages = {p["id"]: passage_of(p) for p in lines(folder / "passages.jsonl")}
    cited = [passages[claim["passage"]] for claim in claims]
    true = np.array([claim["label"] == "supports" for claim in claims])
    began = time.perf_counter()
    # The probability is 0 if the claim's numbers or names do not occur in the passage.
    scores = np.array([citations.probability(c["claim"].rstrip("."), whole([p]), question=c.get("question", "")) for c, p in zip(claims, cited, strict=True)])
    took = (time.perf_counter() - began) / len(claims) * 1000
    print(f"calibration error {calibration_error(scores, true):.3f}, {took:.1f} ms each")
    for at in (citations.BORNE_OUT, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
        print(f"  at {at}: true kept {(scores[true] >= at).mean():.3f} of {true.sum()}, false kept {(scores[~true] >= at).mean():.3f} of {(~true).sum()}")
    by_kind: dict[str, list[bool]] = defaultdict(list)
    for claim, score in zip(claims, scores, strict=True):
        by_kind[f"{claim['label']}/{claim['kind']}"].append(bool(score >= citations.BORNE_OUT))
    print("  " + ", ".join(f"{kind} {sum(found)}/{len(found)}" for kind, found in sorted(by_kind.items())))


def is_held(passage: str, writer: str = "") -> bool:
    """Whether a claim is held out from learning.

    Held out are the claims on a tenth of the passages, and those of the last five writers, which are on passages of
    their own.
    """
    return writer in LAST_WRITERS or int(sha256(passage.encode()).hexdigest(), 16) % 10 == 0


def calibration_error(probabilities: Scores, true: NDArray[np.bool_]) -> float:
    """Return the expected calibration error in ten bins of equal width."""
    bins = np.minimum((probabilities * 10).astype(int), 9)
    return float(sum(abs(true[bins == b].mean() - probabilities[bins == b].mean()) * (bins == b).mean() for b in set(bins)))


def fit() -> None:
    """Print the weights of `chatbot.verification.judge.borne_out`, and what they separate in five-fold cross-validation.

    The folds are over passages.
    """
    claims = [c for c in lines(LABELS / "claims.jsonl") if is_held(c["passage"], c["writer"])]
    passages = {p["id"]: passage_of(p) for p in lines(LABELS / "passages.jsonl") if p["id"] in {c["passage"] for c in claims}}
    draw = random.Random(0)
    claims += [{**c, "passage": draw.choice(sorted(passages)), "label": "silent"} for c in lines(LABELS / "astray.jsonl")][::2]
    others = sorted(passages)
    # Half of the claims cite other passages as well: these must not weaken the one that supports the claim.
    cited = [[passages[c["passage"]], *(passages[o] for o in draw.sample(others, 5 * (n % 2)))] for n, c in enumerate(claims)]
    found = [citations.features(c["claim"].rstrip("."), whole(some), question=c.get("question", "")) for c, some in zip(claims, cited, strict=True)]
    asked = [n for n, one in enumerate(found) if one]
    rows, true = np.array([found[n] for n in asked]), np.array([claims[n]["label"] == "supports" for n in asked])
    model = LogisticRegression(C=1.0, max_iter=5000, fit_intercept=False)
    guessed = cross_val_predict(model, rows, true, groups=[claims[n]["passage"] for n in asked], cv=GroupKFold(5), method="predict_proba")[:, 1]
    print(tuple(round(float(w), 3) for w in model.fit(rows, true).coef_[0]))
    print(f"calibration error {calibration_error(guessed, true):.3f} of {len(asked)}")
    for at in (0.4, 0.5, 0.6, 0.7):
        print(f"  at {at}: {(guessed[true] >= at).mean():.3f}, {(guessed[~true] >= at).mean():.3f}")


def passage_of(line: Any) -> Passage:
    """Return a passage that is a document of its own, with its table's header before it and nothing else around it."""
    text = "\n".join(f"- {unit}" for unit in line["units"]) if "units" in line else line["before"] + line["text"]
    start = len(line.get("before", ""))
    document = Document(line["id"], Source(line["document"], line["title"]), line["title"], text)
    chunk = Chunk(line["id"], document, tuple(line.get("headings", ())), start, len(text), text[start:])
    return Passage(1, chunk, 1.0)


def lines(file: Path) -> list[Any]:
    """Return the records of a JSON Lines file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
