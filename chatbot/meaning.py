"""How near texts are in meaning, by the reader's own encoder.

Passages are found with the encoder of their index, which may be any. Which sentence of a passage answers is another question:
the weights that decide it were learned with the adapted encoder, so it is always that one.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ingest import SENTENCE_ENCODER, Index, RememberingEncoder, load_encoder

_DIMENSION = 384


def meanings(question: str, texts: Sequence[str], index: Index) -> list[float]:
    """Cosine similarity of the question and each text; zeros for an index that is to be read by words alone."""
    if not texts or index.encoder_name == "none":
        return [0.0] * len(texts)
    vector = vectors([question])[0]
    return [float(s) for s in vectors(texts) @ vector]


def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors, (len(texts), 384); the latest texts are remembered."""
    return _encoder().encode(texts)


@cache
def _encoder() -> RememberingEncoder:
    return RememberingEncoder(lambda: load_encoder(SENTENCE_ENCODER), _DIMENSION)
