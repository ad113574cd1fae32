"""A small sample of the index campaigns; `python -m benchmarks.campaign.kill` and `damage` run them in full."""

from pathlib import Path

import pytest

from benchmarks.campaign import damage, kill

pytestmark = pytest.mark.evaluation


def test_a_killed_sync_leaves_the_old_index_or_the_new_one(tmp_path: Path) -> None:
    campaign = kill.run(tmp_path, seed=1, count=3, encoder="none")

    assert campaign.breaches == []
    assert campaign.outcomes.total() == 3


def test_damage_costs_a_sentence_at_most(tmp_path: Path) -> None:
    campaign = damage.run(tmp_path, seed=1, count=2, encoder="none", most=6)

    assert campaign.breaches == []
    assert campaign.outcomes.total() == 6
