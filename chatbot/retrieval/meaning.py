"""Similarity of texts in meaning, by the reader's own encoders.

Passages are retrieved with the encoder of their index, which may be any encoder. Choosing the sentence that answers is
different: its weights were learned with the adapted encoder, so it always uses that one. The exam reader has its own.

Two texts are compared as wholes, by the cosine of their vectors, and word by word: the similarity of each word of the
first to the nearest word of the second, averaged (the late interaction of ColBERT, Khattab and Zaharia 2020,
arXiv:2004.12832).
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chatbot.deadline import check
from ingest import Index, Remembered, Sentence, load_exam_encoder, load_question_encoder, load_sentence_encoder

# Cache sizes, in sentences of about 10 kB each. The exam reader compares fewer and longer ones.
_REMEMBERED, _EXAM_REMEMBERED = 4_096, 1_536
# Each cache loads its encoder once, at the first text, for all threads.
_MEMORY = Remembered(lambda: load_sentence_encoder().encode_sentences, _REMEMBERED)
_QUESTION_MEMORY: Remembered[NDArray[np.float32], str] = Remembered(lambda: load_question_encoder().encode)
_EXAM_MEMORY = Remembered(lambda: load_exam_encoder().encode_sentences, _EXAM_REMEMBERED)


class Nearness(NamedTuple):
    """Similarity of texts to questions: two matrices (questions, texts) of values from -1 to 1."""

    as_wholes: NDArray[np.float32]
    by_words: NDArray[np.float32]


def load_encoders(index: Index) -> None:
    """Load the index's encoder and the reader's sentence and question encoders, unless the index has no vectors."""
    if index.encoder_name != "none":
        index.encode(["hardware"])
        _MEMORY(["hardware"])
        _QUESTION_MEMORY(["hardware"])


def vector_of(text: str) -> NDArray[np.float32]:
    """Return the unit vector, (384,), of a text by the reader's sentence encoder."""
    check()
    (sentence,) = _MEMORY([text])
    return sentence.vector


def question_vector(text: str) -> NDArray[np.float32]:
    """Return the unit vector, (384,), of a user's question, to compare with those of prepared questions
    (`Index.questions`)."""
    check()
    (vector,) = _QUESTION_MEMORY([text])
    return vector


def nearness(questions: Sequence[str], texts: Sequence[str], index: Index) -> Nearness:
    """Return the similarity of each text to each question; zeros for an index that is searched by words alone."""
    return _nearness(questions, texts, index, _MEMORY)


def exam_nearness(questions: Sequence[str], texts: Sequence[str], index: Index) -> Nearness:
    """Like `nearness`, by the encoder for exam questions: stems with what they ask for, and options before or after."""
    return _nearness(questions, texts, index, _EXAM_MEMORY)


def _nearness(questions: Sequence[str], texts: Sequence[str], index: Index, memory: Remembered[Sentence, str]) -> Nearness:
    if not texts or not questions or index.encoder_name == "none":
        return Nearness(*np.zeros((2, len(questions), len(texts)), dtype=np.float32))
    check()
    asked, told = memory(questions), memory(texts)
    as_wholes = np.array([s.vector for s in asked]) @ np.array([s.vector for s in told]).T
    return Nearness(as_wholes, _by_words(asked, told))


def nearness_of_words(question: str, words: Sequence[str], texts: Sequence[str], index: Index) -> NDArray[np.float32]:
    """Return, (texts,), the mean similarity of some words of a question, in its context, to each text's nearest words."""
    if not texts or index.encoder_name == "none":
        return np.zeros(len(texts), dtype=np.float32)
    (asked,) = _MEMORY([question])
    spans = [m.span() for word in words for m in re.finditer(rf"(?<!\w){re.escape(word)}", question, re.IGNORECASE)]
    chosen = [any(start < end_there and begin < end for begin, end_there in spans) for start, end in asked.places]
    (near,) = _by_words([asked._replace(words=asked.words[chosen])], _MEMORY(texts))
    return np.asarray(near, dtype=np.float32)


def _by_words(asked: Sequence[Sentence], told: Sequence[Sentence]) -> NDArray[np.float32]:
    """Return the word-by-word similarity, (asked, told). It is 0 for a text without words."""
    lengths = [len(s.words) for s in told]
    near = np.zeros((len(asked), len(told)), dtype=np.float32)
    held = [number for number, length in enumerate(lengths) if length]
    if not held:
        return near
    words = np.concatenate([told[i].words for i in held]).astype(np.float32).T
    starts = np.cumsum([0, *(lengths[i] for i in held[:-1])])
    for row, sentence in zip(near, asked, strict=True):
        if len(sentence.words):
            row[held] = np.maximum.reduceat(sentence.words.astype(np.float32) @ words, starts, axis=1).mean(axis=0)
    return near
