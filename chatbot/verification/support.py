"""Check what must stand exactly in the words that a claim cites: its numbers, dates, names and accusations."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from math import isclose, isfinite

from chatbot.evidence import Unit
from chatbot.language.names import mentioned, names, relatives
from chatbot.language.quantities import Quantity, quantities, same
from chatbot.language.words import content_words, stem, stems, stems_and_groups, synonyms

# Words of the answer's own frame ("the sources differ", "not this option"): they claim nothing about the documents.
_FRAME = stems(
    "source sources say says said differ figure figures answer option options choose recommended recommend recommendation use using pick correct"
    " instead otherwise note caveat also alternative alternatives criterion criteria matches match fits yes no against evidence nothing report reports"
    " reported editor's editor s give gives state states stated different"
)

# Accusations, for which one may be sued, and calls to buy. A claim may contain them only if the words that it cites do.
_CHARGE = re.compile(
    r"\b(?:lie[sd]?|lying|liars?|cheat\w*|fraud\w*|scam\w*|st(?:eal|ole)\w*|theft|brib\w+|deceiv\w+|deceit\w*|mislead\w*|sabotag\w+|corrupt\w*|criminal\w*|crimes?|illegal\w*"
    r"|sp(?:y|ies|ied|ying)|rip-?offs?|swindl\w+|launder\w*|betray\w*|fak(?:e[sd]?|ing)|plagiari\w+|incompetent\w*|stupid\w*|bankrupt\w*"
    r"|(?:buy|order|call|shop|act) (?:it )?now|hurry|sign up)\b",
    re.IGNORECASE,
)


def is_exact(claim: str, cited: Sequence[Unit], *, computed: bool = False, question: str = "") -> bool:
    """Whether a claim's numbers, names and accusations stand in what it cites: words, headings, document title and date.

    In a `computed` claim, a number may also be the sum, difference, ratio, product or share of two numbers: those that
    stand there, the hours and days of a month or year, and the size of the model that the `question` is about. What it
    counts is left to the judge.
    """
    text = _told(cited)
    charged = {match.group().lower() for match in _CHARGE.finditer(claim)}
    if not all(re.search(rf"\b{charge}\b", text, re.IGNORECASE) for charge in charged):
        return False
    figures = _figures_follow(claim, text, question) if computed else _numbers_stand(claim, text)
    return figures and _names_stand(claim, text)


def missing(claim: str, cited: Sequence[Unit]) -> int:
    """Return how many of a claim's numbers and names are missing from what it cites, even if they could be computed."""
    text = _told(cited)
    found, there = _ends(text), mentioned(text)
    figures = sum(not (_is_counted(q) or any(_agrees(q, f) for f in found)) for q in _ends(claim))
    return figures + sum(not _stands(name, text, there) for name in mentioned(claim))


def _told(cited: Sequence[Unit]) -> str:
    return " | ".join(
        t for u in cited for t in (*u.above, u.chunk.document.title, u.chunk.document.source.published or "", u.plain)
    )


def overlap(claim: str, cited: Sequence[Unit]) -> float:
    """Return the share of a claim's words in the cited units or above them; synonyms count less. No words give 1."""
    # Each unit by itself, because its words are cached and it is tried together with many others.
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


def _figures_follow(claim: str, text: str, question: str) -> bool:
    said = _ends(claim)
    claimed = [q for q in said if not _is_counted(q)]
    found = _ends(text) if claimed else []
    # The user knows the size of their model. Any other number in a question may be wrong.
    found += [q for q in _ends(question) if q.dimension == "parameters"] if claimed else []
    of_time = {n for q in said if (n := _written(q)) in _OF_TIME} if _TIME.search(claim) else set()
    values = {q.low for q in found} | {q.low for q in said if _is_counted(q)} | of_time
    mine = {q.low for q in said if _is_counted(q) or any(_agrees(q, f) for f in found)} | of_time

    def follows(claimed: Quantity) -> bool:
        if any(_agrees(claimed, f) for f in found) or _written(claimed) in of_time:
            return True
        if len(values) <= _FEW:
            return _is_computed(claimed.low, values, values)
        like = {f.low for f in found if f.dimension in (claimed.dimension, "count")}
        return _is_computed(claimed.low, mine - {claimed.low}, (mine | like) - {claimed.low})

    return all(map(follows, claimed))


def _ends(text: str) -> list[Quantity]:
    """Return the numbers of a text, a range as its two ends. The open end of "over 100 GB" is no number."""
    return [
        replace(q, low=end, high=end)
        for q in quantities(text)
        for end in dict.fromkeys((q.low, q.high))
        if isfinite(end) and (end or not q.high)
    ]


def _written(quantity: Quantity) -> float:
    """Return the number as written, without its unit."""
    digits = re.sub(r"[^\d.]", "", quantity.text).strip(".")
    return float(digits) if digits.count(".") < 2 and digits else quantity.low


def _agrees(claimed: Quantity, found: Quantity) -> bool:
    """Whether two numbers are the same and their dimensions are, too, unless one is written without a unit."""
    if same(found, claimed) or _is_rounded(claimed, found):
        return True
    bare = "count" in (found.dimension, claimed.dimension) or claimed.dimension == found.dimension
    written = re.sub(r"[^\d.]", "", found.text) == re.sub(r"[^\d.]", "", claimed.text) != ""
    return bare and (claimed.low == found.low or (written and found.dimension != claimed.dimension))


def _is_rounded(claimed: Quantity, found: Quantity) -> bool:
    """Whether a number of three or more digits is another one, rounded to its decimals: "$12.98" for $12.98127."""
    _, _, places = claimed.text.partition(".")
    decimals, number = len(re.sub(r"\D.*", "", places)), _written(claimed)
    if claimed.dimension != found.dimension or not decimals or len(re.sub(r"\D", "", claimed.text).lstrip("0")) < _SIGNIFICANT or not number:
        return False
    return abs(claimed.low - found.low) <= 0.5001 * 10.0**-decimals * abs(claimed.low / number)


def _is_computed(value: float, some: Iterable[float], others: Collection[float]) -> bool:
    pairs = [pair for a in some for b in others for pair in ((a, b), (b, a))]
    results = [r for a, b in pairs for r in (a + b, a - b, a * b, *((a / b, 100 * a / b, 100 * (a - b) / b) if b else ()))]
    return any(isclose(value, r, rel_tol=_ROUNDED) for r in (*results, *(100 - a for a in others), *(12 * a for a in others)))


# With more numbers than _FEW, sums and ratios hit anything by chance. Figures are rounded to about two digits.
_FEW = 8
_ROUNDED = 0.012
_SIGNIFICANT = 3
# Hours and days of a day, a month and a year, for claims that mention such times.
_OF_TIME = frozenset({24.0, 30.0, 365.0, 720.0, 730.0, 8_760.0})
_TIME = re.compile(r"\b(?:hour|day|month|year)s?\b|\b(?:hour|dai|month|year)ly\b", re.IGNORECASE)
_VERSION = re.compile(r"v(\d+)", re.IGNORECASE)


def _bears_out(found: Quantity, claimed: Quantity) -> bool:
    if same(found, claimed):
        return found.dimension != "count" or _may_be_one_thing(found.noun, claimed.noun)
    # A table's header has the unit, its cell the bare number: "Memory (GB): 512". A number that counts chips is not bare.
    bare = any(q.dimension == "count" and not q.noun for q in (found, claimed))
    return (
        bare
        and "percent" not in (found.dimension, claimed.dimension)
        and re.sub(r"[^\d.]", "", found.text) == re.sub(r"[^\d.]", "", claimed.text) != ""
    )


def _may_be_one_thing(noun: str, other: str) -> bool:
    """Whether two numbers may count the same thing: sixteen chips are not sixteen cores."""
    here, there = content_words(noun), content_words(other)
    groups = {g for w in here for g in synonyms(w)} & {g for w in there for g in synonyms(w)}
    return not (here and there) or bool(groups or {stem(w) for w in here} & {stem(w) for w in there})


def _is_counted(quantity: Quantity) -> bool:
    """Whether a number is a small number word, which may only count what the text lists ("all three sizes")."""
    return quantity.dimension == "count" and quantity.low <= 12 and not any(c.isdigit() for c in quantity.text)


def _is_small_word(quantity: Quantity) -> bool:
    return quantity.dimension == "count" and quantity.low <= 2 and not any(c.isdigit() for c in quantity.text)


def _names_stand(claim: str, text: str) -> bool:
    there = mentioned(text)
    return all(_stands(name, text, there) for name in mentioned(claim))


def _stands(name: str, text: str, there: frozenset[str]) -> bool:
    return name in there or _is_written(name, text) or any(r.lower() in there for r in _relatives_of(name))


def _is_written(name: str, text: str) -> bool:
    """Whether a name stands in a text as a word of its own: "L4" does not stand in "L40S", "V2" does in "version 2"."""
    written = _VERSION.sub(r"(?:v|version )\1", name) if _VERSION.fullmatch(name) else re.escape(name)
    return bool(re.search(rf"(?<![\w.]){written}(?!\w)", text, re.IGNORECASE))


def _relatives_of(lowered: str) -> frozenset[str]:
    """Return the relatives of a name that is given in lower case."""
    return next((relatives(n.name) for n in names(lowered)), frozenset())
