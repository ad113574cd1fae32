"""Similarity of two texts, by sentence vectors and word by word."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.retrieval import meaning
from chatbot.retrieval.meaning import nearness, nearness_of_words
from ingest import Index, Remembered, Sentence, sync
from ingest.encoding.minilm import DIMENSION, WORD_DIMENSION


def sentence(*words: int) -> Sentence:
    """A sentence whose word vectors are unit vectors, one axis per number; its own vector is that of the first word."""
    return Sentence(
        np.eye(DIMENSION, dtype=np.float32)[words[0] if words else 0],
        np.eye(WORD_DIMENSION, dtype=np.float16)[list(words)],
        np.array([(4 * place, 4 * place + 3) for place in range(len(words))], dtype=np.int32).reshape(-1, 2),
    )


SENTENCES = {"one two": sentence(1, 2), "two three": sentence(2, 3), "three one two": sentence(3, 1, 2), "": sentence()}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("meaning")
    (folder / "a.md").write_text("# A\n\nB is C.\n")
    sync([folder / "a.md"], folder / "index")
    return Index.open(folder / "index")


@pytest.fixture
def index(indexed: Index, monkeypatch: pytest.MonkeyPatch) -> Index:
    monkeypatch.setattr(meaning, "_MEMORY", lambda texts: [SENTENCES[t] for t in texts])
    return indexed


def test_each_word_of_the_question_counts_with_its_nearest_word_of_the_text(index: Index) -> None:
    near = nearness(["one two", "two three"], list(SENTENCES), index)

    assert near.by_words.tolist() == [[1, 0.5, 1, 0], [0.5, 1, 1, 0]]
    assert near.as_wholes.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0]]


def test_a_question_without_words_is_near_to_nothing(index: Index) -> None:
    assert nearness([""], ["one two"], index).by_words.tolist() == [[0]]


def test_some_words_of_a_question_are_compared_alone(index: Index) -> None:
    near = nearness_of_words("one two", ["two"], list(SENTENCES), index)

    assert near.tolist() == [1, 1, 1, 0]
    assert nearness_of_words("one two", ["one"], list(SENTENCES), index).tolist() == [1, 0, 1, 0]
    assert nearness_of_words("one two", ["nine"], list(SENTENCES), index).tolist() == [0, 0, 0, 0]


def test_an_index_without_vectors_is_read_by_words_alone(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nB is C.\n")
    sync([tmp_path / "a.md"], tmp_path / "index", encoder="none")

    near = nearness(["B?", "C?"], ["B is C."], Index.open(tmp_path / "index"))

    assert [part.tolist() for part in near] == [[[0], [0]], [[0], [0]]]


def test_the_encoder_tells_a_sentence_s_words_apart(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()

    (asked,) = meaning._MEMORY(["How long before a spot instance is taken away?"])
    near = nearness(
        ["How long before a spot instance is taken away?"],
        ["Spot Instances get a notice of two minutes before they are interrupted.", "Apple pie needs two eggs."],
        index,
    )

    assert asked.words.shape == (10, WORD_DIMENSION)
    assert asked.places[:3].tolist() == [[0, 3], [4, 8], [9, 15]]
    assert np.allclose(np.linalg.norm(asked.words.astype(np.float32), axis=1), 1, atol=2e-3)
    assert near.by_words[0, 0] > near.by_words[0, 1]


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=5), max_size=8))
def test_what_is_remembered_is_what_would_be_made_anew(asked: list[list[str]]) -> None:
    made: list[str] = []

    def make(texts: list[str]) -> list[str]:
        made.extend(texts)
        return [text.upper() for text in texts]

    remembered = Remembered(lambda: make, most=3)

    assert [remembered(texts) for texts in asked] == [[t.upper() for t in texts] for texts in asked]
    assert len(made) >= len({t for texts in asked for t in texts})
