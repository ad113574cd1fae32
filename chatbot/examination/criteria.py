"""What a question asks for, and how far evidence meets it."""

import re
from dataclasses import dataclass

from chatbot.quantities import quantities
from chatbot.query import Query
from chatbot.scoring import Scored, inverse_document_frequency
from chatbot.tasks import tasks
from chatbot.words import content_words, stem, synonyms
from ingest import Index

# What does not matter is no priority.
_NO_MATTER = re.compile(
    r"\b(?:money|cost|costs|price|budget|expense)\b(?: is| are)? (?:no (?:object|issue|concern|problem|limit)|does(?: not|n['’]t) matter|(?:is|are) (?:secondary|irrelevant|unimportant))"
    r"|\b(?:regardless of|whatever|no matter|not caring about|ignoring)(?: what)?(?: the| it)? (?:costs?|price|money|budget)\b|\bnot (?:about|for) (?:the )?(?:money|cost|price)\b"
    r"|\bneither (?:the )?[\w-]+ nor (?:the )?[\w-]+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Criterion:
    """Something that was asked for; `groups` and `stems` are the words that meet it."""

    name: str
    stems: frozenset[str]
    groups: frozenset[str]
    weight: float = 1.0


def criteria(query: Query, index: Index) -> list[Criterion]:
    """What a question asks for: the model's size, each task, and each word that is not the name of the thing itself."""
    found = [Criterion("size", frozenset(), frozenset())] if query.sizes else []
    found += [Criterion(f"task {task}", frozenset(), frozenset()) for task in sorted(query.tasks)]
    seen: set[str] = set()
    spoken_for = {stem(w) for n in query.entities for w in content_words(n)}
    for word in content_words(_NO_MATTER.sub(" ", query.standalone)):
        groups = synonyms(word) - {"recommend", "chip", "instance", "model", "training", "inference", "purpose"}
        if (
            any(c.isdigit() for c in word)
            or stem(word) in spoken_for
            or groups & seen
            or (synonyms(word) and not groups)
        ):
            continue
        seen |= groups
        found.append(
            Criterion(
                word, frozenset({stem(word)}), groups, min(2.0, (inverse_document_frequency(word, index) / 3) ** 2)
            )
        )
    return found


def meets(criterion: Criterion, scored: Scored, query: Query) -> float:
    """How far evidence meets a criterion: 0, or up to the criterion's weight (1.5 for a model size in its band)."""
    unit = scored.unit
    if criterion.name == "size":
        return 1.5 if any(f.holds(s) for f in quantities(unit.meant_in_place) for s in query.sizes) else 0.0
    if criterion.name.startswith("task "):
        return 1.0 if criterion.name[5:] in tasks(unit.meant_in_place) else 0.0
    text = content_words(unit.meant_in_place)
    if criterion.stems & {stem(w) for w in text}:
        return criterion.weight
    return 0.8 * criterion.weight if criterion.groups & {g for w in text for g in synonyms(w)} else 0.0
