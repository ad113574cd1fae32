"""Predict what a question asks for, as `benchmarks/learn_sizing_intent.py` learned it from labelled wordings.

The model is a multinomial logistic regression. Its features are the sentence vector of the question (with slots
replaced by plain words, so that it knows no model or machine by name), hashed words, word pairs and letter trigrams,
the slots that the question fills, and the label of the turn before.
"""

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from importlib import resources
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from chatbot.retrieval.meaning import vector_of
from chatbot.sizing.goals import Goal
from chatbot.sizing.reading.text import Said
from chatbot.sizing.workload import Workload

BUCKETS = 3072
LABELS = (
    "memory", "weights", "kv_cache", "fits", "cheapest", "count", "affordable", "most_users", "longest_context", "largest_model", "cost",
    "cost_per_tokens", "cost_difference", "energy", "carbon", "water", "decode_speed", "prefill_speed", "training_time",
    "accelerators_for_time", "tokens_in_time", "fact_price", "fact_model", "fact_accelerator", "fact_region", "fact_instance",
    "unsaid", "document", "other",
)  # fmt: skip
COMPUTED = LABELS[: LABELS.index("fact_model")]
FACTS = LABELS[LABELS.index("fact_model") : LABELS.index("unsaid")]
_SLOTS = (*(f.name for f in fields(Workload)), "several", "unknown", "first")
_INTENTS = "intents.safetensors"


def probabilities(said: Said, before: str | None) -> Mapping[str, float]:
    """Return the probability that a question asks for each of LABELS.

    `before` is the label of the previous turn, None for the first turn.
    """
    weights, biases = _weights()
    scores = features(said, before) @ weights + biases
    likely = np.exp(scores - scores.max())
    return dict(zip(LABELS, map(float, likely / likely.sum()), strict=True))


@cache
def _weights() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    from safetensors.numpy import load

    tensors = load(resources.files("chatbot.sizing").joinpath(_INTENTS).read_bytes())
    return tensors["weights"].astype(np.float32), tensors["biases"].astype(np.float32)


def features(said: Said, before: str | None) -> NDArray[np.float32]:
    """Return (features,): sentence vector, hashed words, hashed trigrams, slots, goals, term, and label before."""
    slots = {*said.slots, *(name for name, there in (("several", any(said.several.values())), ("unknown", said.unknown), ("first", before is None)) if there)}
    marks = [
        *(slot in slots for slot in _SLOTS),
        *(goal in said.goals for goal in Goal),
        *(said.term == term for term in ("KV cache", "weights")),
        *(label == before for label in LABELS),
    ]
    return np.concatenate([2 * vector_of(said.plain), _hashed(_words(said.plain)), _hashed(_letters(said.plain)), np.array(marks, dtype=np.float32)])


def _words(text: str) -> Iterator[str]:
    words = ["<", *re.findall(r"[^\W_]+|[$€?%]", text), ">"]
    yield from words[1:-1]
    yield from map(" ".join, pairwise(words))


def _letters(text: str) -> Iterator[str]:
    for word in re.findall(r"[^\W_]+", text):
        padded = f" {word} "
        yield from (padded[i : i + 3] for i in range(len(padded) - 2))


def _hashed(terms: Iterable[str]) -> NDArray[np.float32]:
    """Hash the presence of terms into a unit vector, (BUCKETS,)."""
    present = np.zeros(BUCKETS, dtype=np.float32)
    present[[zlib.crc32(term.encode()) % BUCKETS for term in terms]] = 1.0
    return present / max(1.0, float(np.sqrt(present.sum())))
