"""Judge whether evidence supports a claim, and whether a text answers a question. All readers share this one model.

A cross-encoder, trained on labels by benchmarks/learn_judge.py, reads a claim together with its evidence in context. It
gives the probabilities that the evidence supports the claim, contradicts it, or is silent. For a question and a text it
scores how well the text answers. Rules check numbers, names and dates exactly beforehand (`citations`), because a model
of six layers can hardly tell "350 W" from "530 W".
"""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chatbot.deadline import check
from chatbot.evidence import Unit
from chatbot.language.words import content_words, stem
from ingest import Remembered, load_judge

# One weight for each of `evidence_features`, in their order.
_WEIGHTS = (-0.301, 0.578, 0.266, 0.194, 0.315, -0.129, -0.524, 0.527, 0.212)
_LEAST = 1e-4
_REMEMBERED = 4_096
# Most cells of a table row that the judge reads beside the row's name.
_CELLS = 8


class Verdict(NamedTuple):
    """Probabilities of the three classes. They sum to 1."""

    supports: float
    contradicts: float
    silent: float


_MEMORY: Remembered[NDArray[np.float32], tuple[str, str]] = Remembered(lambda: load_judge().judge, _REMEMBERED)


def judge(claims: Sequence[str], evidence: Sequence[Sequence[Unit]]) -> list[Verdict]:
    """Return a verdict on each claim, given all units of the piece of evidence at the same position."""
    check()
    return [_verdict(logits[:3]) for logits in _MEMORY([(claim, told(claim, some)) for claim, some in zip(claims, evidence, strict=True)])]


def answer_odds(question: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the log odds, (texts,), that each text answers a question, against the choice that none of them does."""
    check()
    return np.array([logits[3] for logits in _MEMORY([(question, text) for text in texts])], dtype=np.float32)


def borne_out(claim: str, verdicts: Sequence[Verdict], overlaps: Sequence[float]) -> float:
    """Return the calibrated probability that at least one of several pieces of evidence supports a claim.

    The pieces are ordered by shared words, most first. The highest verdict alone is overconfident: among many
    candidates, a false claim needs only one wrong verdict. So a logistic regression also weighs the other verdicts and
    the shared words. It is fitted on claims that the judge was not trained on (`benchmarks/judge.py --fit`), which
    calibrates it as well.
    """
    total = sum(weight * value for weight, value in zip(_WEIGHTS, evidence_features(claim, verdicts, overlaps), strict=True))
    return 1 / (1 + math.exp(-total))


def evidence_features(claim: str, verdicts: Sequence[Verdict], overlaps: Sequence[float]) -> list[float]:
    """Return the features of `borne_out`: 1 for the bias; log odds of support (best piece, second, first); log odds of
    contradiction (best piece, highest); share of common words (best piece, first); the claim's number of words / 10."""
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
    """Return the units as the judge reads them: each in context, long table rows cut to the cells relevant to the claim."""
    return " // ".join(relevant(claim, in_its_place(unit)) for unit in evidence)


def in_its_place(unit: Unit) -> str:
    """Return a unit in context, without Markdown escapes: the last two headings or parents above it, the sentence that it
    refers back to, then its own text."""
    return re.sub(r"\\([^\w\s])", r"\1", " | ".join((*unit.above[-2:], *([unit.before] if unit.before else []), unit.plain)))


def relevant(claim: str, text: str) -> str:
    """Cut a long table row to the cells that share most words and numbers with the claim. Return other text unchanged."""
    first, *cells = text.split("; ")
    if len(cells) < _CELLS or sum(": " in cell for cell in cells) < len(cells) - 1:
        return text
    said = {stem(word) for word in content_words(claim)} | set(re.findall(r"\d+", claim))
    shared = [len(said & ({stem(word) for word in content_words(cell)} | set(re.findall(r"\d+", cell)))) for cell in cells]
    kept = sorted(sorted(range(len(cells)), key=lambda n: -shared[n])[:_CELLS])
    return "; ".join([first, *(cells[n] for n in kept)])
