"""What of a test is left to the evaluation: cases that rarely tell more than the others."""

from typing import Any

import pytest


def left_to_evaluation(*cases: Any) -> list[Any]:
    return [pytest.param(case, marks=pytest.mark.evaluation) for case in cases]


# For what a sync does with either store alike; that both keep what is written is tested with both each time.
folder_first = pytest.mark.parametrize("new_place", ["folder", *left_to_evaluation("postgresql")], indirect=True)
