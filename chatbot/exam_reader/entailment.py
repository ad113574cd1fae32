"""Read a piece of evidence for comparison with a claim: its words and where they are, what it denies, and its numbers."""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from chatbot.evidence import Unit
from chatbot.exam_reader.instance_letters import families
from chatbot.language.quantities import Quantity, quantities, same
from chatbot.language.words import content_words, stem, synonyms, words

_DENIAL = re.compile(
    r"\b(?:not|never|no(?![- ]upfront)|cannot|neither|nor|without|except|besides|instead of|in place of|rather than|other than|unlike|un(?:able|available))\b|n['’]t\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:.](?:\s|$)|\b(?:and|but|so|because|whereas|while)\b", re.IGNORECASE)
_REACH = 6
# "in place of Graviton for large models" denies Graviton, not its purpose: denials of this kind end with the thing.
_END_OF_THING = re.compile(rf"{_CLAUSE.pattern}|\b(?:for|when|where|if|to)\b")
# "does not render, stream games or encode video": the denial covers the whole list.
_LIST = re.compile(
    r"(?: [\w-]+){1,4}(?:,(?: [\w-]+){1,4}){1,5},? or(?: (?!because|so|but|while|whereas|when|if|and)[\w-]+){1,4}",
    re.IGNORECASE,
)
# A refusal often covers a list, so it reaches to the end of its sentence. In a column header it refuses what the cells say.
_REFUSAL = re.compile(
    r"\b(?:not (?:be )?(?:suit\w*|for|meant|intended|recommended|allowed|cost-effective)|unsuitable|(?:wrong|poor|bad) choice|against|avoid(?: for)?|do not suit|do not use"
    r"|alternatives? (?:loses?|fails?|(?:is|are) worse))\b:?",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[;:.](?:\s|$)|\b(?:but|so|because|whereas|while)\b", re.IGNORECASE)
# "… can be bought as Spot Instances; P6e instances cannot": the denied words stand before the denial.
_ELLIPSIS = re.compile(
    r"\b(?:cannot|can not|(?:do|does|did|is|are|was|were|has|have)(?: not|n['’]t))\s*(?=[,;.]|$)", re.IGNORECASE
)
_BEFORE_SUBJECT = re.compile(r"[,;:]|\.(?!\w)")
# How many characters before such a denial are searched for its subject.
_SUBJECT = 300
SUPERLATIVE = re.compile(
    r"\b(?P<up>most|largest|highest|greatest|biggest|fastest|maximum|longest)\b"
    r"|\b(?P<down>least|smallest|lowest|fewest|cheapest|minimum|shortest|slowest)\b",
    re.IGNORECASE,
)
_NO = re.compile(r"(?:(?:no|none)(?:[,;:(].*)?|not? \w+|—|–|-|ended\b.*)\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reading:
    """The words of a piece of evidence for comparison, as stems.

    `own` are its own words and word pairs; `around` adds those of its headings and of the document's title. `groups` and
    `groups_around` are the synonym groups of both. `denied` are the words it denies, `lead` those it begins with. `clauses`
    are the words of each clause or, in a table row, of its key with each cell: what is said of one thing at a time.
    """

    own: frozenset[str]
    groups: frozenset[str]
    around: frozenset[str]
    groups_around: frozenset[str]
    denied: frozenset[str]
    lead: frozenset[str]
    clauses: tuple[frozenset[str], ...]


def read_unit(unit: Unit) -> Reading:
    """Return the words of a unit for comparison."""
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
    """Return each word and each pair of adjacent words: "Savings Plan" means more than "savings" and "plan"."""
    said = [stem(word) for word in words(text)]
    return frozenset([*said, *(f"{a} {b}" for a, b in pairwise(said))])


@lru_cache(maxsize=8_192)
def denied(text: str) -> frozenset[str]:
    """Return the stems of denied words: those after a denial, up to the end of its clause, or before one that ends it."""
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
    """Whether a claim has numbers, and evidence has all of them in the claim's order."""
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
