"""Which evidence can answer at all: it must be about what is asked, and hold what is asked for."""

import re
from collections.abc import Sequence
from functools import lru_cache
from math import prod

from chatbot.evidence.scored import Scored
from chatbot.language.names import maker, makers, mentioned, proper_names, relatives
from chatbot.language.words import content_words, covered, stem, words
from chatbot.question.query import Query
from chatbot.reader.scoring import answers_quantity, other_qualifier

# The minimum probability for evidence to answer; benchmarks/learn_weights.py prints refusals and false answers for each value.
ANSWERS = 0.06
# An unsure answer is followed by further evidence that may be right, until the remaining doubt is this small.
DOUBT = 0.05
# The minimum probability for evidence to say that what is asked for cannot be done.
SURE = 0.4
# The minimum probability, and the minimum similarity of a word to the operation asked about, for evidence that
# describes the operation in other words.
MEANT_SURE = 0.1
MEANT = 0.6
_IN_YEAR = re.compile(r"\b(?:in|of|for|during|since|until|by)\s+((?:19|20)\d\d)(?![\w,])", re.IGNORECASE)
_NOT_NOW = re.compile(r"\b(?:was|were|did|had|will)\b", re.IGNORECASE)
# Names that evidence need not mention: the asker's own things ("our ESG report") and the exam somebody studies for.
_EXAM = re.compile(r"\b[A-Z]{3}-C\d\d\b|\b(?:our|my)\s+(?:[A-Z][\w-]+\s+)*[\w-]+")
_YEAR = re.compile(r"(?<![\w.,-])(?:19|20)\d\d(?![\w,])")
_DENIES = re.compile(r"\b(?:not|never|no|cannot|can't|isn't|aren't|doesn't|don't|without|neither|nor|unsuitable|hardly)\b", re.IGNORECASE)
_PER = re.compile(
    r"\b(?:per|an|a|each|every)\s+(hour|month|year|day|token|card|chip|gpu|instance|unit|query|request)\b|\b(hour)ly\b",
    re.IGNORECASE,
)


def eligible(query: Query, scored: Sequence[Scored]) -> list[Scored]:
    """The evidence that can answer, best first: it is about what is asked, and holds a quantity of the kind asked for."""
    found = [s for s in scored if _on_subject(query, s) and _of_kind(query, s) and not s.unit.plain.endswith("?")]
    return sorted(found, key=lambda s: -_fitness(query, s))


def _fitness(query: Query, scored: Scored) -> float:
    """The score, lowered for evidence that does not fit the kind of answer: a name for "which chip", a number for "how much"."""
    fitness = scored.score * (0.5 if scored.unit.kind == "note" else 1.0)
    if query.wants_name and not scored.features["new name"] and scored.features["label"] < 1.0:
        fitness *= 0.5
    if query.asks_number and query.dimensions and not answers_quantity(query, scored.unit):
        fitness *= 0.3
    return fitness


def _on_subject(query: Query, scored: Scored) -> bool:
    """Whether the evidence is about what the question names, and not about another size of it."""
    if not any(maker(e) or any(c.isdigit() for c in e) for e in query.entities):
        return True
    written_apart = any(set(words(e)) <= set(words(scored.unit.meant_in_place)) for e in query.entities if "-" in e)
    return not scored.features["sibling"] and (scored.features["owner"] > 0 or written_apart)


def _of_kind(query: Query, scored: Scored) -> bool:
    if other_qualifier(query.standalone, scored.unit.plain):
        return False
    said = f"{scored.unit.meant_in_place} {_provenance(scored)}"
    if query.operation and not _speaks_of_operation(query, scored, said):
        return False
    if query.asks_number and scored.features["other size"]:
        return False
    if (query.strict or query.operates or (query.asks_number and query.entities)) and not query.yes_no and not _names_all(query.standalone, scored):
        return False
    if not _of_year(query.standalone, scored):
        return False
    if not query.strict or query.yes_no:
        return True
    per = _PER.search(query.standalone) if "money" in query.dimensions else None
    return answers_quantity(query, scored.unit) and (
        per is None or bool(re.search(rf"\b{per[1] or per[2]}(?:s|ly)?\b", said, re.IGNORECASE))
    )


def _speaks_of_operation(query: Query, scored: Scored, said: str) -> bool:
    """Whether evidence is about the operation asked about: in the same words, with enough confidence in other words, or
    by saying with confidence that it cannot be done."""
    meant = scored.score >= MEANT_SURE and scored.features["attribute"] >= MEANT
    impossible = scored.score >= SURE and bool(_DENIES.search(scored.unit.meant))
    return meant or impossible or any(covered(query.operation, said))


def _of_year(question: str, scored: Scored) -> bool:
    """Whether evidence fits the year that a question names: its text or its source gives that year.

    Evidence whose text gives no year fits as well, unless the question is about the past or the future.
    """
    asked = _years_asked(question)
    there = {match.group() for match in _YEAR.finditer(scored.unit.meant_in_place)}
    is_of_it = not asked or bool(asked & (there | {match.group() for match in _YEAR.finditer(_provenance(scored))}))
    return is_of_it or not (there or _NOT_NOW.search(question))


# Cached: the same question is checked against every unit.
@lru_cache(maxsize=256)
def _years_asked(question: str) -> frozenset[str]:
    return frozenset(match[1] for match in _IN_YEAR.finditer(question))


def _names_all(question: str, scored: Scored) -> bool:
    """Whether evidence for a figure mentions every proper name of the question, except makers."""
    said = f"{scored.unit.meant_in_place} {_provenance(scored)}"
    there = mentioned(said)
    asked = _EXAM.sub(" ", question)
    named = [n for n in proper_names(asked) if not makers(n) and not {r.lower() for r in relatives(n)} & there]
    return all(covered([w for name in named for w in content_words(name)], said))


def _provenance(scored: Scored) -> str:
    source = scored.unit.chunk.document.source
    return f"{scored.unit.chunk.document.title} {source.publisher or ''} {source.published or ''}"


def doubt(chosen: Sequence[Scored]) -> float:
    """The probability that none of the chosen evidence answers, assuming that they are independent."""
    return prod(1.0 - c.score for c in chosen)


def repeats(one: Scored, other: Scored) -> bool:
    """Whether two pieces of evidence say the same: most words of the shorter are in the longer."""
    first, second = ({stem(w) for w in content_words(s.unit.plain)} for s in (one, other))
    smaller = min(len(first), len(second))
    return not smaller or len(first & second) / smaller > 0.6
