"""How much of a claim its words bear out: the numbers and names first, then the share of its words."""

import re
from collections.abc import Sequence

from chatbot.contradiction import turns_round
from chatbot.deadline import check
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


def support(claim: str, cited: Sequence[Unit]) -> float:
    """How much of a claim its words bear out, 0 when a number or a name of the claim is not among them."""
    check()
    text = " | ".join(
        t for u in cited for t in (*u.above, u.chunk.document.title, u.chunk.document.source.published or "", u.plain)
    )
    if not (_numbers_stand(claim, text) and _names_stand(claim, text)):
        return 0.0
    if turns_round(claim, [u.plain for u in cited]):
        return 0.0
    return overlap(claim, cited)


def overlap(claim: str, cited: Sequence[Unit]) -> float:
    """The share of a claim's words that stand in its words or above them, synonyms at a discount; 1 for a claim of no words."""
    text = " ".join(f"{' '.join(u.above)} {u.chunk.document.title} {u.plain}" for u in cited)
    there, groups = stems_and_groups(text)
    asked = [w for w in content_words(claim) if stem(w) not in _FRAME]
    if not asked:
        return 1.0
    return sum(1.0 if stem(w) in there else 0.8 if synonyms(w) & groups else 0.0 for w in asked) / len(asked)


def _numbers_stand(claim: str, text: str) -> bool:
    claimed = [q for q in quantities(claim) if not _is_small_word(q)]
    found = quantities(text) if claimed else []
    return all(any(_bears_out(f, q) for f in found) for q in claimed)


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


def _is_small_word(quantity: Quantity) -> bool:
    return quantity.dimension == "count" and quantity.low <= 2 and not any(c.isdigit() for c in quantity.text)


def _names_stand(claim: str, text: str) -> bool:
    there = mentioned(text)
    return all(
        n in there or _is_written(n, text) or any(r.lower() in there for r in relatives_of(n)) for n in mentioned(claim)
    )


def _is_written(name: str, text: str) -> bool:
    """Whether a name stands in a text as a word of its own: "L4" does not stand in "L40S"."""
    return bool(re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text, re.IGNORECASE))


def relatives_of(lowered: str) -> frozenset[str]:
    """The relatives of a name given in lower case."""
    return next((relatives(n.name) for n in names(lowered)), frozenset())
