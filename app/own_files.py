"""Files for one session only: they go into a copy of the index that no other session opens and that is deleted at its end."""

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
from chatbot.answer import OFFLINE
from chatbot.llm.models import ModelSettings
from ingest import Index

_COPY, _PREFIX = "own-copy", "wattwise-session-"
# A copy must not contain other visitors' files or anybody's conversations and votes.
_LEFT_OUT = shutil.ignore_patterns("uploads*", "staged", "*.sqlite*", "*.lock")


class OwnCopy:
    """A copy of an index, with its bots; it is deleted when the session drops it or the process ends."""

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
    """Return this session's copy; None until it has added files of its own."""
    return st.session_state.get(_COPY)


def index_to_add_to(operator: Operator) -> Index:
    """Return the index that the visitor's files go into: the shared one, or this session's copy, made when first needed."""
    shared = bot_of(operator.common.index, OFFLINE).index
    if not (operator.is_for_session and isinstance(shared.path, Path)):
        return shared
    copy: OwnCopy = own_copy() or OwnCopy(shared.path)
    st.session_state[_COPY] = copy
    return copy.index


def remove_left_copies() -> None:
    """Delete copies that killed processes left. Call it at the start of a process, which has none of its own yet."""
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
