"""Does this evidence bear out this statement, does this text answer this question? Learned from labels (benchmarks/learn_judge.py), one organ for every reader.

A cross-encoder reads a claim beside its evidence in its place and gives the probabilities that the evidence supports it, contradicts
it, or is silent; of a question and a text it says how well the text answers. Numbers, names and dates are exact: they are held against the words by rules before (`citations`), for a model of six layers
reads "350 W" and "530 W" much alike.
"""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chatbot.deadline import check
from chatbot.evidence import Unit
from chatbot.words import content_words, stem
from ingest import Remembered, load_judge

# Of `evidence_features`, in their order.
_WEIGHTS = (-0.301, 0.578, 0.266, 0.194, 0.315, -0.129, -0.524, 0.527, 0.212)
_LEAST = 1e-4
_REMEMBERED = 4_096
# A table row has so many cells at most beside its name: those that share words with the claim.
_CELLS = 8


class Verdict(NamedTuple):
    """Probabilities; they sum to 1."""

    supports: float
    contradicts: float
    silent: float


_MEMORY: Remembered[NDArray[np.float32], tuple[str, str]] = Remembered(lambda: load_judge().judge, _REMEMBERED)


def judge(claims: Sequence[str], evidence: Sequence[Sequence[Unit]]) -> list[Verdict]:
    """Whether the units of each piece of evidence, together, bear out the claim beside it."""
    check()
    return [_verdict(logits[:3]) for logits in _MEMORY([(claim, told(claim, some)) for claim, some in zip(claims, evidence, strict=True)])]


def answer_odds(question: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """Log odds, (texts,), that each text answers a question, against none of them."""
    check()
    return np.array([logits[3] for logits in _MEMORY([(question, text) for text in texts])], dtype=np.float32)


def borne_out(claim: str, verdicts: Sequence[Verdict], overlaps: Sequence[float]) -> float:
    """How sure it is that one of several pieces of evidence bears out a claim, the nearest in words first.

    The best of many is too good: a false claim needs one friend. What the others say and how many words are shared tell more together;
    a logistic regression weighs them (`benchmarks/judge.py --fit`), on claims that the judge did not learn from, which calibrates it as well.
    """
    total = sum(weight * value for weight, value in zip(_WEIGHTS, evidence_features(claim, verdicts, overlaps), strict=True))
    return 1 / (1 + math.exp(-total))


def evidence_features(claim: str, verdicts: Sequence[Verdict], overlaps: Sequence[float]) -> list[float]:
    """What `borne_out` weighs: 1, then log odds that evidence supports the claim (best, second, nearest) and contradicts it
    (best, most), shared words (best, nearest), and the claim's words, in tens."""
    supports = [_log_odds(v.supports) for v in verdicts]
    contradicts = [_log_odds(v.contradicts) for v in verdicts]
    best = max(range(len(verdicts)), key=supports.__getitem__)
    ranked = sorted(supports, reverse=True)
    return [
        1.0, ranked[0], ranked[:2][-1], supports[0],
        contradicts[best], max(contradicts), overlaps[best], overlaps[0], len(claim.split()) / 10,
    ]  # fmt: skip


def _log_odds(probability: float) -> float:
    return math.log((probability + _LEAST) / (1 - probability + _LEAST))


def _verdict(logits: NDArray[np.float32]) -> Verdict:
    odds = np.exp(logits - logits.max())
    return Verdict(*map(float, odds / odds.sum()))


def told(claim: str, evidence: Sequence[Unit]) -> str:
    """What the judge reads of some units: each with what it hangs from; of a row, the cells that have to do with the claim."""
    return " // ".join(relevant(claim, in_its_place(unit)) for unit in evidence)


def in_its_place(unit: Unit) -> str:
    """A unit behind the last two of what stands above it and the sentence it leans on, without Markdown's escapes."""
    return re.sub(r"\\([^\w\s])", r"\1", " | ".join((*unit.above[-2:], *([unit.before] if unit.before else []), unit.plain)))


def relevant(claim: str, text: str) -> str:
    """A row of many cells without those that share no word and no number with the claim; any other text as it is."""
    first, *cells = text.split("; ")
    if len(cells) < _CELLS or sum(": " in cell for cell in cells) < len(cells) - 1:
        return text
    said = {stem(word) for word in content_words(claim)} | set(re.findall(r"\d+", claim))
    shared = [len(said & ({stem(word) for word in content_words(cell)} | set(re.findall(r"\d+", cell)))) for cell in cells]
    kept = sorted(sorted(range(len(cells)), key=lambda n: -shared[n])[:_CELLS])
    return "; ".join([first, *(cells[n] for n in kept)])
