import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from chatbot import ReaderError
from chatbot.slack.queueing import Rush, WorkQueue
from chatbot.slack.state import Excerpt, KeptAnswer, SlackState
from ingest import Place

Opener = Callable[[], SlackState]


@pytest.fixture
def opened(place: Place) -> Iterator[Opener]:
    """Opens the same state again and again, as workers and restarts do."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(closing(SlackState(place)))


ANSWER = KeptAnswer("a1", "q", "text [1]", "offline", 3, (Excerpt(1, "T", "S", "", "2025", ("quote",), "text"),))


def test_one_of_many_claims_wins_whoever_asks(opened: Opener) -> None:
    states = [opened() for _ in range(2)]
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda n: states[n % 2].claim(f"event:{n // 8}"), range(160)))
    assert [sum(won[n : n + 8]) for n in range(0, 160, 8)] == [1] * 20
    assert not opened().claim("event:1")


def test_a_claim_of_several_keys_needs_them_all(opened: Opener) -> None:
    state = opened()
    assert [state.claim("event:1", "message:1"), state.claim("event:2", "message:1"), state.claim("", "message:2")] == [
        True, False, True,
    ]  # fmt: skip


def test_a_user_waits_once_the_minute_is_full_and_others_do_not(opened: Opener) -> None:
    state = opened()
    assert [state.wait_for("U1", 2) for _ in range(2)] == [0.0, 0.0]
    assert 55 < state.wait_for("U1", 2) <= 60
    assert state.wait_for("U2", 2) == 0.0


def test_what_was_kept_is_the_same_after_a_restart(opened: Opener) -> None:
    state = opened()
    state.keep(ANSWER)
    state.follow("C1", "1.1")
    state.posted("C1", "1.2", "1.1")
    again = opened()
    assert (again.kept("a1"), again.kept("a2")) == (ANSWER, None)
    assert [again.thread_of("C1", ts) for ts in ("1.1", "1.2", "1.3")] == ["1.1", "1.1", ""]
    again.silence("C1", "1.1")
    assert [state.thread_state("C1", thread) for thread in ("1.1", "2.1")] == ["silenced", ""]


def test_what_is_older_than_it_is_kept_is_deleted(opened: Opener) -> None:
    state = opened()
    state.keep(ANSWER)
    state.forget(1)
    assert state.kept("a1") == ANSWER
    state.forget(0)
    assert state.kept("a1") is None


def test_a_question_whose_worker_died_is_given_out_once(opened: Opener) -> None:
    state = opened()
    state.begin("k1", "C1", "1.1", "U1")
    state.begin("k2", "C1", "2.1", "U1")
    state.finish("k2")
    assert state.lost(60) == []
    time.sleep(0.01)
    assert state.lost(0.001) == [("k1", "C1", "1.1", "U1")]
    assert state.lost(0.001) == []


def test_a_folder_that_cannot_be_written_is_said_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ReaderError, match=r"^.*slack.sqlite cannot be written \(.*\): mend its permissions\.$"):
        SlackState(tmp_path / "file")


def test_a_full_queue_refuses_and_a_stopped_one_finishes_what_it_has() -> None:
    go, begun, done = threading.Event(), threading.Event(), []
    queue = WorkQueue("test", workers=1, size=2)
    assert queue.offer(lambda: (begun.set(), go.wait(10)))
    assert begun.wait(10)
    assert [queue.offer(lambda n=n: done.append(n)) for n in range(3)] == [True, True, False]
    go.set()
    assert queue.stop(10)
    assert done == [0, 1]
    assert not queue.offer(lambda: None)


def test_nothing_is_begun_in_a_rush_and_everything_after_it() -> None:
    rush, begun = Rush(), []
    queue = WorkQueue("test", workers=1, size=5, rush=rush)
    rush.noted()
    queue.offer(lambda: begun.append(time.monotonic()))
    for _ in range(20):
        rush.noted()
        time.sleep(0.005)
    latest = time.monotonic()
    assert queue.stop(10)
    assert begun[0] > latest


def test_a_job_that_fails_does_not_take_its_worker_with_it(caplog: pytest.LogCaptureFixture) -> None:
    done: list[int] = []
    queue = WorkQueue("test", workers=1, size=5)
    queue.offer(lambda: 1 / 0)
    queue.offer(lambda: done.append(1))
    assert queue.stop(10)
    assert done == [1]
    assert "ZeroDivisionError" in caplog.text


def test_a_stop_that_is_too_short_says_so() -> None:
    go = threading.Event()
    queue = WorkQueue("test", workers=1, size=5)
    queue.offer(lambda: go.wait(10))
    assert not queue.stop(0.3)
    go.set()
    assert queue.stop(10)
