"""Check a sentence against a table row by rules, without the judge.

The row must be about the thing that the sentence names. Each figure must stand in the column that the words around it
name. All other words must stand in the row, too.
"""

import re

from chatbot.evidence import Unit
from chatbot.language.names import mentioned
from chatbot.language.quantities import Quantity, quantities, same
from chatbot.language.words import content_words, covered, stem, stems

# Words that only introduce the value of a cell and claim nothing by themselves.
_FRAME = stems(
    "has have having come comes with offers provides gives gets is are there total all together yes instance type size sizes bandwidth capacity support supports"
    " supported listed runs uses built equipped features includes amount in of the a an its each for on hour per costs priced table says"
)
_BETWEEN = re.compile(r",| and | with |;| on ")
# A sentence that only repeats a cell needs none of these words. With one of them it claims something else.
_TURNS = re.compile(
    r"\b(?:if|unless|until|except|only|never|nor|neither|false|wrong|may|might|more|less|fewer|most|least|at least|over|under|than|about|twice|half|double|"
    r"both|cheaper|faster|slower|larger|smaller|largest|smallest|best)\b",
    re.IGNORECASE,
)
_NO = re.compile(r"\b(?:no|not|without|lacks?|none|cannot)\b|n['’]t\b", re.IGNORECASE)
_BOUND, _PERIOD = re.compile(r"\bup to\b", re.IGNORECASE), re.compile(r"\b(?:minute|hour|day|week|month|year)", re.IGNORECASE)
_EACH = re.compile(r"\b(?:each|every|per)\b", re.IGNORECASE)
_ON, _OFF = re.compile(r"yes|true|supported", re.IGNORECASE), re.compile(r"no|none|false|not supported", re.IGNORECASE)


def row_says(claim: str, unit: Unit) -> bool:
    """Whether a table row states the claim. False for a unit that is not a row."""
    if not unit.cells or _TURNS.search(claim):
        return False
    key, *cells = unit.cells
    named, figures = mentioned(claim), quantities(claim)
    of_the_row = bool(named & mentioned(key[1]))
    if not named or not named <= mentioned(unit.plain) or not _is_all_told(claim, unit) or not _periods(claim) <= _periods(unit.plain):
        return False
    columns = [(header, cell) for header, cell in cells if of_the_row or "family" in header.lower()]
    if figures:
        return not _NO.search(claim) and all(_stands(figure, claim, columns) for figure in figures)
    return of_the_row and _is_so(claim, columns)


def _periods(text: str) -> set[str]:
    """Return the periods of time in a text. A price per hour is not one per month, however similar the words are."""
    return set(_PERIOD.findall(text.lower()))


def _is_all_told(claim: str, unit: Unit) -> bool:
    """Whether the row has each word of a claim, or a synonym of it."""
    said = content_words(claim)
    return all(held or stem(w) in _FRAME or _NO.fullmatch(w) for w, held in zip(said, covered(said, unit.plain), strict=True))


def _stands(figure: Quantity, claim: str, columns: list[tuple[str, str]]) -> bool:
    """Whether a figure of a claim stands in the column whose header best matches the words around it."""
    around = _around(figure, claim)
    fits = [(fit(header, around), cell, header) for header, cell in columns]
    bound = bool(_BOUND.search(around))
    best = max((near for near, _, _ in fits), default=(0, 0.0))
    return best[0] > 0 and any(near == best and _has(cell, header, figure, bound) for near, cell, header in fits)


def _around(figure: Quantity, claim: str) -> str:
    before, after = claim[: figure.start], claim[figure.end :]
    return f"{_BETWEEN.split(before)[-1]} {_BETWEEN.split(after)[0]}"


def fit(header: str, around: str) -> tuple[int, float]:
    """Return how many words of a column's header occur in a text, and their share of the header."""
    asked = content_words(header)
    found = int(sum(covered(asked, around)))
    if "each" in header.lower():
        # The memory of all accelerators of a machine is not that of each.
        asked.append("each")
        found += 1 if _EACH.search(around) else -1
    return found, found / max(1, len(asked))


def _has(cell: str, header: str, figure: Quantity, bound: bool) -> bool:
    return bound == bool(_BOUND.search(cell)) and any(
        same(figure, found) or (figure.dimension == found.dimension == "count" and figure.low == found.low) for found in quantities(f"{cell} {header}")
    )


def _is_so(claim: str, columns: list[tuple[str, str]]) -> bool:
    """Whether a claim without figures agrees with the yes or no of a column, or names the content of a cell."""
    fits = [(fit(header, claim), cell) for header, cell in columns]
    whole = [cell for (_, share), cell in fits if share == 1.0]
    denied = bool(_NO.search(claim))
    if any((_OFF if denied else _ON).fullmatch(cell) for cell in whole):
        return True
    words = set(re.findall(r"[\w-]+", claim.lower()))
    return not denied and any(set(re.findall(r"[\w-]+", cell.lower())) <= words for cell in whole if re.search(r"\w", cell))
