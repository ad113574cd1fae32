from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from chatbot import Feedback, FeedbackStore, ReaderError
from ingest import Place

VOTE = Feedback(
    "app", "a1", "u1", True, "", "How many chips?", "16 chips [1].", "offline", 3, "2026-11-21T10:00:00+00:00"
)


def test_votes_survive_a_new_store_on_the_same_place(place: Place) -> None:
    FeedbackStore(place).add(VOTE)
    assert FeedbackStore(place).all() == (VOTE,)


def test_a_second_vote_of_the_same_voter_replaces_the_first(place: Place) -> None:
    store = FeedbackStore(place)
    changed = replace(VOTE, helpful=False, comment="It is 8.", given_at="2026-11-21T10:05:00+00:00")
    store.add(VOTE)
    store.add(replace(VOTE, voter="u2", given_at="2026-11-21T10:01:00+00:00"))
    store.add(changed)
    assert store.all() == (replace(VOTE, voter="u2", given_at="2026-11-21T10:01:00+00:00"), changed)


def test_a_vote_without_a_time_is_stamped(place: Place) -> None:
    store = FeedbackStore(place)
    store.add(replace(VOTE, given_at=""))
    assert store.all()[0].given_at.endswith("+00:00")


def test_votes_from_many_threads_are_all_kept(place: Place) -> None:
    store = FeedbackStore(place)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: store.add(replace(VOTE, answer_id=f"a{n}")), range(40)))
    assert len(store.all()) == 40


def test_a_folder_that_cannot_be_written_is_said_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ReaderError, match=r"^.*feedback.sqlite cannot be written \(.*\): mend its permissions, or make room on its disk\.$"):
        FeedbackStore(tmp_path / "file")
