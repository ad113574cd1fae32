"""Fixtures that several test files share."""

from pathlib import Path

import pytest

from chatbot import Chatbot
from ingest import sync

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def corpus_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the shipped corpus."""
    index = tmp_path_factory.mktemp("corpus") / "index"
    sync([ROOT / "corpus"], index)
    return index


@pytest.fixture(scope="session")
def bot(corpus_index: Path) -> Chatbot:
    return Chatbot.open(corpus_index)
