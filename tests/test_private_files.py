"""The stores next to the index: their permissions, and what happens to a damaged one."""

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from chatbot import Feedback, FeedbackStore, ReaderError
from chatbot.history.private_files import open_private_database
from chatbot.slack.state import SlackState

SCHEMA = "CREATE TABLE IF NOT EXISTS notes (id TEXT PRIMARY KEY, text TEXT);"
VOTE = Feedback("app", "a1", "u1", True, "", "q", "a", "offline", 3, "2026-11-21T10:00:00+00:00")


def modes(folder: Path) -> dict[str, str]:
    return {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in folder.rglob("*")}


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def test_only_its_owner_may_read_a_store_whatever_the_umask(tmp_path: Path) -> None:
    with umask(0), closing(SlackState(tmp_path / "a" / "b")) as state:
        FeedbackStore(tmp_path / "a" / "b").add(VOTE)
        state.claim("k")
        assert modes(tmp_path) == {
            "a": "0o700", "b": "0o700", "feedback.sqlite": "0o600",
            "slack.sqlite": "0o600", "slack.sqlite-shm": "0o600", "slack.sqlite-wal": "0o600",
        }  # fmt: skip


def test_wider_permissions_are_narrowed_and_a_folder_that_exists_is_left_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    folder.chmod(0o755)
    for name in ("feedback.sqlite", "feedback.sqlite-journal"):
        (folder / name).touch(mode=0o666)
        (folder / name).chmod(0o666)
    FeedbackStore(folder)
    assert modes(tmp_path) == {"index": "0o755", "feedback.sqlite": "0o600"}


def garbage(file: Path) -> None:
    file.write_bytes(b"no database at all " * 99)


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def other_tables(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as connection:
        for table in ("feedback", "claims", "asked", "notes"):
            connection.execute(f"CREATE TABLE {table} (something, more)")


def views(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as connection:
        for table in ("feedback", "claims", "notes"):
            connection.execute(f"CREATE VIEW {table} AS SELECT 1")


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()
    (file / "something").touch()


DAMAGES = pytest.mark.parametrize("damage", [garbage, truncated, other_tables, views, folder])


@DAMAGES
def test_damaged_votes_are_set_aside_and_voting_goes_on(
    tmp_path: Path, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    store = FeedbackStore(tmp_path)
    store.add(VOTE)
    for number in (1, 2):
        damage(store.place)
        store.add(VOTE)
        assert store.all() == (VOTE,)
        assert (tmp_path / f"feedback.sqlite.damaged-{number}").exists()
    assert [r.getMessage().split(" (")[0] for r in caplog.records] == [f"{store.place} is damaged"] * 2
    assert caplog.records[1].getMessage().endswith(
        "): it is kept as feedback.sqlite.damaged-2, and a new one is used"
    )  # fmt: skip


@DAMAGES
def test_a_damaged_state_of_slack_is_set_aside_at_the_start(
    tmp_path: Path, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    with closing(SlackState(tmp_path)) as state:
        state.claim("k")
    damage(state.place)
    with closing(SlackState(tmp_path)) as state:
        assert state.claim("k")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["slack.sqlite", "slack.sqlite.damaged-1"]
    assert len(caplog.records) == 1


def test_a_state_of_slack_that_is_damaged_while_it_is_open_is_replaced(tmp_path: Path) -> None:
    with closing(SlackState(tmp_path)) as state, closing(sqlite3.connect(state.place)) as other:
        state.claim("k")
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with state.place.open("r+b") as file:
            file.write(b"no database at all " * 2000)
        with pytest.raises(ReaderError):
            state.claim("k2")
        assert state.claim("k")


def test_many_who_find_a_damaged_store_set_it_aside_once_and_share_the_new_one(tmp_path: Path) -> None:
    file = tmp_path / "notes.sqlite"
    file.write_bytes(b"x" * 5000)

    def noted(number: int) -> None:
        with closing(open_private_database(file, SCHEMA)) as connection, connection:
            connection.execute("INSERT INTO notes VALUES (?, 'text')", (number,))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(noted, range(40)))
    with closing(open_private_database(file, SCHEMA)) as connection:
        assert connection.execute("SELECT count(*) FROM notes").fetchone() == (40,)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["notes.sqlite", "notes.sqlite.damaged-1"]
