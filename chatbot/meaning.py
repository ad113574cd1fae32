"""How near texts are in meaning, by the reader's own encoder.

Passages are found with the encoder of their index, which may be any. Which sentence of a passage answers is another question:
the weights that decide it were learned with the adapted encoder, so it is always that one; the exam reader has one of its own.

Two texts are compared as wholes, by the cosine of their vectors, and word by word: how near each word of the first comes to
the nearest word of the second, on average (the late interaction of ColBERT, Khattab and Zaharia 2020, arXiv:2004.12832).
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chatbot.deadline import check
from ingest import Index, Remembered, Sentence, load_exam_encoder, load_question_encoder, load_sentence_encoder

# A sentence takes some 10 kB. The exam reader compares fewer, and longer ones.
_REMEMBERED, _EXAM_REMEMBERED = 4_096, 1_536
# Each loads its encoder at the first text, once, however many threads ask.
_MEMORY = Remembered(lambda: load_sentence_encoder().encode_sentences, _REMEMBERED)
_QUESTION_MEMORY: Remembered[NDArray[np.float32], str] = Remembered(lambda: load_question_encoder().encode)
_EXAM_MEMORY = Remembered(lambda: load_exam_encoder().encode_sentences, _EXAM_REMEMBERED)


class Nearness(NamedTuple):
    """How near texts are to questions: (questions, texts) each, from -1 to 1."""

    as_wholes: NDArray[np.float32]
    by_words: NDArray[np.float32]


def load_encoders(index: Index) -> None:
    """Load what a question is compared with: the encoder of the index, and the reader's own."""
    if index.encoder_name != "none":
        index.encode(["hardware"])
        _MEMORY(["hardware"])
        _QUESTION_MEMORY(["hardware"])


def vector_of(text: str) -> NDArray[np.float32]:
    """The unit vector, (384,), of a text by the reader's own encoder."""
    check()
    (sentence,) = _MEMORY([text])
    return sentence.vector


def question_vector(text: str) -> NDArray[np.float32]:
    """The unit vector, (384,), of what a user asks, to compare with those of prepared questions (`Index.questions`)."""
    check()
    (vector,) = _QUESTION_MEMORY([text])
    return vector


def nearness(questions: Sequence[str], texts: Sequence[str], index: Index) -> Nearness:
    """How near each text is to each question; zeros for an index that is to be read by words alone."""
    return _nearness(questions, texts, index, _MEMORY)


def exam_nearness(questions: Sequence[str], texts: Sequence[str], index: Index) -> Nearness:
    """The same by the encoder that knows exam questions: stems with what they ask for, and options before or behind them."""
    return _nearness(questions, texts, index, _EXAM_MEMORY)


def _nearness(questions: Sequence[str], texts: Sequence[str], index: Index, memory: Remembered[Sentence, str]) -> Nearness:
    if not texts or not questions or index.encoder_name == "none":
        return Nearness(*np.zeros((2, len(questions), len(texts)), dtype=np.float32))
    check()
    asked, told = memory(questions), memory(texts)
    as_wholes = np.array([s.vector for s in asked]) @ np.array([s.vector for s in told]).T
    return Nearness(as_wholes, _by_words(asked, told))


def nearness_of_words(question: str, words: Sequence[str], texts: Sequence[str], index: Index) -> NDArray[np.float32]:
    """(texts,): how near some words of a question, as they are meant in it, come to the nearest words of each text, on average."""
    if not texts or index.encoder_name == "none":
        return np.zeros(len(texts), dtype=np.float32)
    (asked,) = _MEMORY([question])
    spans = [m.span() for word in words for m in re.finditer(rf"(?<!\w){re.escape(word)}", question, re.IGNORECASE)]
    chosen = [any(start < end_there and begin < end for begin, end_there in spans) for start, end in asked.places]
    (near,) = _by_words([asked._replace(words=asked.words[chosen])], _MEMORY(texts))
    return np.asarray(near, dtype=np.float32)


def _by_words(asked: Sequence[Sentence], told: Sequence[Sentence]) -> NDArray[np.float32]:
    """(asked, told); a text without words is near to nothing."""
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
