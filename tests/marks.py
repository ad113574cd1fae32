"""What of a test is left to the evaluation: cases that rarely tell more than the others."""

from collections.abc import Sequence
from typing import Any

import pytest


def left_to_evaluation(*cases: Any) -> list[Any]:
    return [pytest.param(case, marks=pytest.mark.evaluation) for case in cases]


def one_of(many: int, cases: Sequence[Any]) -> list[Any]:
    """The first of every so many cases; the others are left to the evaluation."""
    rest = pytest.mark.evaluation
    return [pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=[rest] if n % many else []) for n, case in enumerate(cases)]


# For what a sync does with either store alike; that both keep what is written is tested with both each time.
folder_first = pytest.mark.parametrize("new_place", ["folder", *left_to_evaluation("postgresql")], indirect=True)
