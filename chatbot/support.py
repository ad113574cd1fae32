"""What must stand exactly in the words that a claim cites, before anybody judges it: its numbers, dates, names and charges."""

import re
from collections.abc import Sequence
from math import isclose, isfinite

from chatbot.evidence import Unit
from chatbot.names import mentioned, names, relatives
from chatbot.quantities import Quantity, quantities, same
from chatbot.words import content_words, stem, stems, stems_and_groups, synonyms

# Words of the answer's own frame ("the sources differ", "not this option"): they claim nothing about the documents.
_FRAME = stems(
    "source sources say says said differ figure figures answer option options choose recommended recommend recommendation use using pick correct"
    " instead otherwise note caveat also alternative alternatives criterion criteria matches match fits yes no against evidence nothing report reports"
    " reported editor's editor s give gives state states stated different"
)

# What one may be sued for is said of nobody in words that do not stand there.
_CHARGE = re.compile(
    r"\b(?:lie[sd]?|lying|liars?|cheat\w*|fraud\w*|scam\w*|st(?:eal|ole)\w*|theft|brib\w+|deceiv\w+|deceit\w*|mislead\w*|sabotag\w+|corrupt\w*|criminal\w*|crimes?|illegal\w*"
    r"|sp(?:y|ies|ied|ying)|rip-?offs?|swindl\w+|launder\w*|betray\w*|fak(?:e[sd]?|ing)|plagiari\w+|incompetent\w*|stupid\w*|bankrupt\w*)\b",
    re.IGNORECASE,
)


def is_exact(claim: str, cited: Sequence[Unit], *, computed: bool = False) -> bool:
    """Whether the numbers, the names and the charges of a claim stand in the words it cites, above them, or in their document's title and date.

    What is `computed` may be a sum, a difference, a ratio, a product or a share of two numbers that stand there, and what its numbers
    count is left to the judge.
    """
    text = " | ".join(
        t for u in cited for t in (*u.above, u.chunk.document.title, u.chunk.document.source.published or "", u.plain)
    )
    charged = {match.group().lower() for match in _CHARGE.finditer(claim)}
    if not all(re.search(rf"\b{charge}\b", text, re.IGNORECASE) for charge in charged):
        return False
    return (_figures_follow if computed else _numbers_stand)(claim, text) and _names_stand(claim, text)


def overlap(claim: str, cited: Sequence[Unit]) -> float:
    """The share of a claim's words that stand in its words or above them, synonyms at a discount; 1 for a claim of no words."""
    # Each by itself: a unit is tried with many others, and its words are remembered.
    found = [stems_and_groups(f"{' '.join(u.above)} {u.chunk.document.title} {u.plain}") for u in cited]
    there, groups = (frozenset().union(*sets) for sets in zip(*found, strict=True)) if found else (frozenset(), frozenset())
    asked = [w for w in content_words(claim) if stem(w) not in _FRAME]
    if not asked:
        return 1.0
    return sum(1.0 if stem(w) in there else 0.8 if synonyms(w) & groups else 0.0 for w in asked) / len(asked)


def _numbers_stand(claim: str, text: str) -> bool:
    claimed = [q for q in quantities(claim) if not _is_small_word(q)]
    found = quantities(text) if claimed else []
    return all(any(_bears_out(f, q) for f in found) for q in claimed)


def _figures_follow(claim: str, text: str) -> bool:
    said = quantities(claim)
    claimed = [q for q in said if not _is_counted(q)]
    found = quantities(text) if claimed else []
    values = sorted({v for q in found for v in (q.low, q.high) if isfinite(v)} | {q.low for q in said if _is_counted(q)})
    return all(
        any(_agrees(q, f) for f in found) or (len(values) <= _FEW and _is_computed(q.low, values)) for q in claimed
    )


def _agrees(claimed: Quantity, found: Quantity) -> bool:
    """Whether two numbers are the same, of one dimension or of none that is written."""
    if same(found, claimed):
        return True
    bare = "count" in (found.dimension, claimed.dimension) or claimed.dimension == found.dimension
    ends = {claimed.low, claimed.high} & {found.low, found.high}
    written = re.sub(r"[^\d.]", "", found.text) == re.sub(r"[^\d.]", "", claimed.text) != ""
    return bare and (bool(ends) or (written and found.dimension != claimed.dimension))


def _is_computed(value: float, known: Sequence[float]) -> bool:
    pairs = [(a, b) for a in known for b in known]
    results = [r for a, b in pairs for r in (a + b, a - b, a * b, *((a / b, 100 * a / b, 100 * (a - b) / b) if b else ()))]
    return any(isclose(value, r, rel_tol=_ROUNDED) for r in (*results, *(100 - a for a in known), *(12 * a for a in known)))


# Of more numbers than these, sums and ratios hit anything; figures are rounded to some two digits.
_FEW = 8
_ROUNDED = 0.012


def _bears_out(found: Quantity, claimed: Quantity) -> bool:
    if same(found, claimed):
        return found.dimension != "count" or _may_be_one_thing(found.noun, claimed.noun)
    # A table's header carries the unit, its cell the bare number: "Memory (GB): 512". A number that counts chips is no bare one.
    bare = any(q.dimension == "count" and not q.noun for q in (found, claimed))
    return (
        bare
        and "percent" not in (found.dimension, claimed.dimension)
        and re.sub(r"[^\d.]", "", found.text) == re.sub(r"[^\d.]", "", claimed.text) != ""
    )


def _may_be_one_thing(noun: str, other: str) -> bool:
    """Whether what two numbers count may be the same: sixteen chips are no sixteen cores."""
    here, there = content_words(noun), content_words(other)
    groups = {g for w in here for g in synonyms(w)} & {g for w in there for g in synonyms(w)}
    return not (here and there) or bool(groups or {stem(w) for w in here} & {stem(w) for w in there})


def _is_counted(quantity: Quantity) -> bool:
    """Whether a number may count what the words list ("all three sizes"), or how many of a thing a claim speaks of."""
    return quantity.dimension == "count" and quantity.low <= 12 and not any(c.isdigit() for c in quantity.text)


def _is_small_word(quantity: Quantity) -> bool:
    return quantity.dimension == "count" and quantity.low <= 2 and not any(c.isdigit() for c in quantity.text)


def _names_stand(claim: str, text: str) -> bool:
    there = mentioned(text)
    return all(
        n in there or _is_written(n, text) or any(r.lower() in there for r in _relatives_of(n)) for n in mentioned(claim)
    )


def _is_written(name: str, text: str) -> bool:
    """Whether a name stands in a text as a word of its own: "L4" does not stand in "L40S"."""
    return bool(re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text, re.IGNORECASE))


def _relatives_of(lowered: str) -> frozenset[str]:
    """The relatives of a name given in lower case."""
    return next((relatives(n.name) for n in names(lowered)), frozenset())
