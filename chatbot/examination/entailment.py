"""How a piece of evidence bears on a claim: where its words stand, what it denies, which numbers it gives."""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from chatbot.evidence import Unit
from chatbot.examination.instance_letters import families
from chatbot.quantities import Quantity, quantities, same
from chatbot.words import content_words, stem, synonyms, words

_DENIAL = re.compile(
    r"\b(?:not|never|no(?![- ]upfront)|cannot|neither|nor|without|except|besides|instead of|in place of|rather than|other than|unlike|un(?:able|available))\b|n['’]t\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:.](?:\s|$)|\b(?:and|but|so|because|whereas|while)\b", re.IGNORECASE)
_REACH = 6
# "in place of Graviton for large models": what is set aside is a thing, not what it is for.
_END_OF_THING = re.compile(rf"{_CLAUSE.pattern}|\b(?:for|when|where|if|to)\b")
# "does not render, stream games or encode video": a list is denied to its end.
_LIST = re.compile(
    r"(?: [\w-]+){1,4}(?:,(?: [\w-]+){1,4}){1,5},? or(?: (?!because|so|but|while|whereas|when|if|and)[\w-]+){1,4}",
    re.IGNORECASE,
)
# What is refused is often a list: a refusal reaches to the end of its sentence. At the head of a column it refuses what the cells say.
_REFUSAL = re.compile(
    r"\b(?:not (?:be )?(?:suit\w*|for|meant|intended|recommended|allowed|cost-effective)|unsuitable|(?:wrong|poor|bad) choice|against|avoid(?: for)?|do not suit|do not use"
    r"|alternatives? (?:loses?|fails?|(?:is|are) worse))\b:?",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[;:.](?:\s|$)|\b(?:but|so|because|whereas|while)\b", re.IGNORECASE)
# "… can be bought as Spot Instances; P6e instances cannot": what is denied stands before.
_ELLIPSIS = re.compile(
    r"\b(?:cannot|can not|(?:do|does|did|is|are|was|were|has|have)(?: not|n['’]t))\s*(?=[,;.]|$)", re.IGNORECASE
)
_BEFORE_SUBJECT = re.compile(r"[,;:]|\.(?!\w)")
# A subject stands so near before what is denied of it.
_SUBJECT = 300
SUPERLATIVE = re.compile(
    r"\b(?P<up>most|largest|highest|greatest|biggest|fastest|maximum|longest)\b"
    r"|\b(?P<down>least|smallest|lowest|fewest|cheapest|minimum|shortest|slowest)\b",
    re.IGNORECASE,
)
_NO = re.compile(r"(?:(?:no|none)(?:[,;:(].*)?|not? \w+|—|–|-|ended\b.*)\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reading:
    """A piece of evidence as words to compare, all as stems.

    `own` are those of its own words and pairs of words, `around` adds what stands above it, `lead` is what it begins with. `clauses` are
    the words of each clause, and for a row those of its key with each cell: what is said of one thing, apart from what is said of others.
    """

    own: frozenset[str]
    groups: frozenset[str]
    around: frozenset[str]
    groups_around: frozenset[str]
    denied: frozenset[str]
    lead: frozenset[str]
    clauses: tuple[frozenset[str], ...]


def read_unit(unit: Unit) -> Reading:
    """The reading of a unit."""
    begins = unit.cells[0][1] if unit.cells else unit.label[0] or " ".join(unit.meant.split()[:6])
    return _reading(unit.meant, f"{unit.meant_in_place} {unit.chunk.document.title}", unit.cells, begins)


@lru_cache(maxsize=1_024)
def _reading(own: str, full: str, cells: tuple[tuple[str, str], ...], begins: str) -> Reading:
    refused = {stem(w) for header, cell in cells if _NO.match(cell) for w in content_words(header)}
    return Reading(
        own=_stems_and_pairs(own) | families(own),
        groups=frozenset(g for w in words(own) for g in synonyms(w)),
        around=_stems_and_pairs(full) | families(full),
        groups_around=frozenset(g for w in words(full) for g in synonyms(w)),
        denied=denied(own) | refused,
        lead=frozenset(map(stem, words(begins))),
        clauses=tuple(map(_stems_and_pairs, _clauses(own, cells))),
    )


def _clauses(own: str, cells: tuple[tuple[str, str], ...]) -> list[str]:
    if cells:
        return [f"{cells[0][1]} {header} {cell}" for header, cell in cells[1:]]
    return [clause for clause in _CLAUSE.split(own) if clause]


def _stems_and_pairs(text: str) -> frozenset[str]:
    """Each word, and each with the one after it: "Savings Plan" is more than "savings" and "plan"."""
    said = [stem(word) for word in words(text)]
    return frozenset([*said, *(f"{a} {b}" for a, b in pairwise(said))])


@lru_cache(maxsize=8_192)
def denied(text: str) -> frozenset[str]:
    """The stems of the words that stand behind a denial, up to the end of its clause; before it where nothing follows."""
    found: set[str] = set()
    for match in _DENIAL.finditer(text):
        following = text[match.end() :]
        listed = _LIST.match(following)
        ends = _END_OF_THING if match.group().lower().endswith((" of", " than", "unlike")) else _CLAUSE
        said = " ".join(ends.split(following, maxsplit=1)[0].split()[:_REACH])
        found |= set(map(stem, content_words(listed.group() if listed else said)))
    for match in _REFUSAL.finditer(text):
        found |= set(map(stem, content_words(_SENTENCE.split(text[match.end() :], maxsplit=1)[0])))
    behind = 0
    for match in _ELLIPSIS.finditer(text):
        before = text[max(behind, match.start() - _SUBJECT) : match.start()]
        subject = _BEFORE_SUBJECT.split(before)[-1]
        found |= set(map(stem, content_words(_CLAUSE.split(subject)[-1])))
        behind = match.end()
    return frozenset(found)


def has_numbers(claim: str, unit: Unit) -> bool:
    """Whether evidence has all numbers of a claim, in the claim's order."""
    wanted = _figures(claim)
    places = [next((i for i, f in enumerate(unit.quantities) if _agree(q, f)), None) for q in wanted]
    known = [place for place in places if place is not None]
    return len(known) == len(places) > 0 and known == sorted(known)


@lru_cache(maxsize=4_096)
def _figures(claim: str) -> tuple[Quantity, ...]:
    return tuple(q for q in quantities(claim) if any(c.isdigit() for c in q.text) or q.dimension != "count")


def _agree(one: Quantity, other: Quantity) -> bool:
    return same(one, other) or (
        "count" in (one.dimension, other.dimension)
        and "percent" not in (one.dimension, other.dimension)
        and re.sub(r"[^\d.]", "", one.text) == re.sub(r"[^\d.]", "", other.text) != ""
    )
