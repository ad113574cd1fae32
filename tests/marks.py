"""Leave test cases that rarely find anything new to the evaluation run."""

from collections.abc import Sequence
from typing import Any

import pytest


def left_to_evaluation(*cases: Any) -> list[Any]:
    return [pytest.param(case, marks=pytest.mark.evaluation) for case in cases]


def one_of(many: int, cases: Sequence[Any]) -> list[Any]:
    """Run every `many`-th case; leave the others to the evaluation run."""
    rest = pytest.mark.evaluation
    return [pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=[rest] if n % many else []) for n, case in enumerate(cases)]


# For sync behaviour that does not depend on the store. Tests that written data is kept run with both stores every time.
folder_first = pytest.mark.parametrize("new_place", ["folder", *left_to_evaluation("postgresql")], indirect=True)
