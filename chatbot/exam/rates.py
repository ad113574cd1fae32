"""Rates with confidence intervals, the score of a run, McNemar's test, and calibration."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

NORMAL_95 = 1.959963984540054
BINS = 5


@dataclass(frozen=True, slots=True)
class Rate:
    """`hits` of `total`. With a total of 0 the share is 0 and the interval 0 to 1, never NaN."""

    hits: int
    total: int

    @property
    def share(self) -> float:
        """The share of hits, 0..1."""
        return self.hits / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's score interval at 95 % (Wilson 1927)."""
        if not self.total:
            return 0.0, 1.0
        squared = NORMAL_95**2 / self.total
        middle = (self.share + squared / 2) / (1 + squared)
        spread = math.sqrt((self.share * (1 - self.share) + squared / 4) / self.total)
        half = NORMAL_95 * spread / (1 + squared)
        return max(0.0, middle - half), min(1.0, middle + half)


def count(answers: Iterable[bool]) -> Rate:
    """Return the rate of true values."""
    seen = list(answers)
    return Rate(sum(seen), len(seen))


@dataclass(frozen=True, slots=True)
class Score:
    """The number of questions by outcome. Errors of the model are not answers and count in no rate."""

    right: int
    wrong: int
    silent: int
    errors: int = 0

    @property
    def asked(self) -> int:
        """The number of questions that the model answered or declined to answer."""
        return self.right + self.wrong + self.silent

    @property
    def accuracy(self) -> Rate:
        """Right of all asked; saying that the evidence does not suffice does not count as right."""
        return Rate(self.right, self.asked)

    @property
    def coverage(self) -> Rate:
        """Answered of all asked."""
        return Rate(self.right + self.wrong, self.asked)

    @property
    def precision(self) -> Rate:
        """Right of those answered."""
        return Rate(self.right, self.right + self.wrong)


def mcnemar(lost: int, gained: int) -> float:
    """Return the exact two-sided p-value of McNemar's test (McNemar 1947).

    It is the probability of flips at least this uneven if neither run is better.
    """
    flips = lost + gained
    tail = sum(math.comb(flips, k) for k in range(min(lost, gained) + 1))
    return float(min(1.0, 2 * tail / 2**flips))


@dataclass(frozen=True, slots=True)
class Bin:
    """The answers with a confidence in [low, high), or [low, 1] in the last bin; `confidence` is their mean."""

    low: float
    high: float
    confidence: float
    accuracy: Rate


def bins(answered: Sequence[tuple[float, bool]], number: int = BINS) -> tuple[Bin, ...]:
    """Sort (confidence, is right) pairs into bins of equal width, empty ones included."""
    inside: list[list[tuple[float, bool]]] = [[] for _ in range(number)]
    for confidence, is_right in answered:
        inside[min(int(confidence * number), number - 1)].append((confidence, is_right))
    return tuple(
        Bin(place / number, (place + 1) / number, fmean(c for c, _ in found) if found else 0.0, count(r for _, r in found))
        for place, found in enumerate(inside)
    )


def expected_calibration_error(found: Sequence[Bin]) -> float:
    """Return the mean gap between accuracy and confidence, weighted by bin size (Naeini et al. 2015); 0 without answers."""
    away = sum(b.accuracy.total * abs(b.accuracy.share - b.confidence) for b in found)
    return away / max(1, sum(b.accuracy.total for b in found))
