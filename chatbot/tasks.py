"""What is done with a model: it is trained, fine-tuned, served."""

import re
from functools import lru_cache

from chatbot.words import vocabulary

# A model that has been trained is there to be served: its training is not the task.
_ALREADY_TRAINED = re.compile(
    r"\b(?:(?:has|have|had|already|been|is|was|were|our|their|a|an|the)\s+)(?:already\s+|been\s+)?(?:pre-?)?trained\b"
)


@lru_cache(maxsize=8_192)
def tasks(text: str) -> frozenset[str]:
    """What a text says is done with a model: pre-training, fine-tuning, training, inference."""
    lowered = _ALREADY_TRAINED.sub(" ", text.lower())
    return frozenset(
        name
        for name, written in vocabulary()["tasks"].items()
        if any(re.search(rf"\b{re.escape(w)}\b", lowered) for w in written)
    )
