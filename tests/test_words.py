"""Words: stemming is thread-safe."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from chatbot.language.words import stem
from ingest import known_words


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Switch threads after a few steps, so that they see each other's half-finished work."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty_threads")
def test_threads_get_the_stems_that_one_gets_alone() -> None:
    asked = sorted(known_words())[:1_500]
    stem.cache_clear()
    alone = [stem(word) for word in asked]
    stem.cache_clear()
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(stem, asked))
    assert together == alone
