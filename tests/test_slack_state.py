import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from chatbot import ReaderError
from chatbot.slack.events import Asked, SharedFile
from chatbot.slack.queueing import Rush, Turns, WorkQueue
from chatbot.slack.state import Excerpt, KeptAnswer, Reply, SlackState, Work
from ingest import Place

Opener = Callable[[], SlackState]


@pytest.fixture
def opened(place: Place) -> Iterator[Opener]:
    """A function that opens the same state again, as workers and restarts do."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(closing(SlackState(place)))


ANSWER = KeptAnswer("a1", "q", "text [1]", "offline", 3, (Excerpt(1, "T", "S", "", ("quote",), "text"),))


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


def test_an_old_thread_is_forgotten_once_nothing_of_ours_in_it_is_kept(opened: Opener) -> None:
    state, day = opened(), 86_400
    old, lively, asking = (f"{time.time() - 3 * day + number:.6f}" for number in range(3))
    new = f"{time.time():.6f}"
    for thread in (old, lively, asking, new):
        state.follow("C1", thread)
    state.posted("C1", f"{time.time():.6f}", lively)
    state.begin(asked("k1", asking))
    state.forget(2)
    assert [state.thread_state("C1", thread) for thread in (old, lively, asking, new)] == ["", *["followed"] * 3]


def asked(key: str, thread: str = "1.1") -> Asked:
    return Asked(key, "q", "C1", thread, thread, "U1", "T1", "", (SharedFile("a.txt", "https://x", 3),))


def test_work_that_nobody_holds_any_more_is_taken_over_once(opened: Opener) -> None:
    dead, one, other = opened(), opened(), opened()
    for key in ("k1", "k2", "k3"):
        dead.begin(asked(key))
    dead.finish("k2")
    dead.streaming("k1", "C1", "1.1", "1.5")
    reply = Reply("r1", "wattwise_answer", (({"type": "markdown", "text": "Yes."},),))
    dead.keep_reply("k3", reply)
    assert (one.take_over(), dead.is_wanted("k1"), one.is_streamed("C1", "1.5")) == ([], True, True)
    dead.renew(-1)  # its lease expired a second ago
    taken = [work for state in (one, other) for work in state.take_over()]
    assert taken == [Work(asked("k1"), 1, "1.5", None), Work(asked("k3"), 1, "", reply)]
    assert (dead.is_wanted("k1"), one.is_wanted("k1")) == (False, True)
    dead.finish("k1")
    one.stop("C1", "1.1")
    assert (one.is_wanted("k1"), one.is_stopped("k1"), one.is_stopped("k2")) == (False, True, False)


def test_work_is_held_as_long_as_it_is_renewed_and_given_away_at_a_stop(opened: Opener) -> None:
    one, other = opened(), opened()
    one.begin(asked("k1"))
    one.renew(-1)
    one.renew()
    assert other.take_over() == []
    one.release()
    assert [work.asked.key for work in other.take_over()] == ["k1"]


@pytest.mark.parametrize("statement", ["BEGIN EXCLUSIVE", "PRAGMA max_page_count = 1"])
def test_a_file_that_is_locked_or_full_says_so_within_a_second(tmp_path: Path, statement: str) -> None:
    with closing(SlackState(tmp_path)) as state, closing(sqlite3.connect(state.place, isolation_level=None)) as holder:
        if "max_page" in statement:
            state._store.execute(statement)
        holder.execute(statement)
        with pytest.raises(ReaderError, match="cannot be written"):
            state.claim(*(f"{number}" * 5000 for number in range(50)))


def test_a_folder_that_cannot_be_written_is_said_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(
        ReaderError,
        match=r"^.*slack.sqlite cannot be written \(.*\): mend its permissions, or make room on its disk\.$",
    ):
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


def test_nothing_is_begun_in_a_rush_and_everything_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatbot.slack.queueing._LULL", 0.5)  # on a busy machine, two events may be far apart
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


def test_what_is_put_off_comes_when_it_is_due_and_holds_up_no_worker() -> None:
    queue, done = WorkQueue("test", workers=1, size=9), []
    queue.later(lambda: done.append("later"), 0.2)
    assert queue.offer(lambda: (done.append("first"), queue.later(lambda: done.append("last"), 0.4)))
    assert queue.stop(10)
    assert done == ["first", "later", "last"]


def test_in_a_hurry_nothing_is_put_off() -> None:
    queue, done = WorkQueue("test", workers=1, size=9), []
    queue.later(lambda: done.append(1), 1000)
    assert not queue.stop(0.1)
    assert queue.stop(10, hurry=True)
    assert done == [1]


def test_a_limited_channel_has_turns_a_second_apart_and_others_none() -> None:
    turns = Turns()
    assert turns.wait_for("C1") == 0
    turns.limited("C1", 5)
    waits = [turns.wait_for("C1") for _ in range(3)]
    assert [round(wait) for wait in waits] == [5, 6, 7]
    assert turns.wait_for("C2") == 0
