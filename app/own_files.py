"""Files of one session alone: they go into a copy of the index that nobody else opens, and that goes with the session."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from weakref import finalize

import streamlit as st

from app.resources import Operator, bot_of
from chatbot import Chatbot
from chatbot.llm.models import OFFLINE, ModelSettings
from ingest import Index

_COPY, _PREFIX = "own-copy", "wattwise-session-"
# Neither what others have added nor what anybody has said belongs in a copy.
_LEFT_OUT = shutil.ignore_patterns("uploads*", "staged", "*.sqlite*", "*.lock")


class OwnCopy:
    """A copy of an index, with the bots that ask it; it is deleted when the session lets go of it, or the process ends."""

    def __init__(self, index: Path) -> None:
        folder = Path(mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        finalize(self, shutil.rmtree, folder, ignore_errors=True)
        shutil.copytree(index, folder, ignore=_LEFT_OUT, dirs_exist_ok=True)
        with (
            closing(sqlite3.connect(index / "store.sqlite")) as store,
            closing(sqlite3.connect(folder / "store.sqlite")) as copy,
        ):
            store.backup(copy)
        self.index = Index.open(folder)
        self._bots: dict[tuple[str, ModelSettings], Chatbot] = {}

    def bot(self, model: str, settings: ModelSettings) -> Chatbot:
        return self._bots.setdefault((model, settings), Chatbot(self.index, model, settings))


def own_copy() -> OwnCopy | None:
    """The copy of this session; None as long as it has added nothing of its own."""
    return st.session_state.get(_COPY)


def index_to_add_to(operator: Operator) -> Index:
    """The index that takes what the visitor adds: the one that all share, or a copy for this session."""
    shared = bot_of(operator.common.index, OFFLINE).index
    if not (operator.is_for_session and isinstance(shared.path, Path)):
        return shared
    copy: OwnCopy = own_copy() or OwnCopy(shared.path)
    st.session_state[_COPY] = copy
    return copy.index


def remove_left_copies() -> None:
    """Delete the copies of processes that were killed; for the start of a process, which has none yet."""
    for folder in Path(gettempdir()).glob(f"{_PREFIX}*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdigit() and (int(pid) == os.getpid() or not _lives(int(pid))):
            shutil.rmtree(folder, ignore_errors=True)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True
