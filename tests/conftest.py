"""Fixtures that several test files share."""

import shutil
from pathlib import Path

import pytest
from filelock import FileLock

from chatbot import Chatbot
from ingest import sync

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def corpus_index(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """A copy of an index of the shipped corpus, which is kept between runs and brought up to date: only what changed is encoded."""
    assert pytestconfig.cache
    kept = pytestconfig.cache.mkdir("corpus")
    with FileLock(kept / "lock"):
        sync([ROOT / "corpus"], kept / "index")
        return Path(shutil.copytree(kept / "index", tmp_path_factory.mktemp("corpus") / "index"))


@pytest.fixture(scope="session")
def bot(corpus_index: Path) -> Chatbot:
    return Chatbot.open(corpus_index)
