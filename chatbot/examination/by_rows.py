"""Exam questions that one table of a document decides: the options are its rows, and a column says yes or no of each."""

import re
from collections.abc import Sequence
from itertools import groupby

from chatbot.answer import REFUSAL, Passage
from chatbot.draft import Draft, Notes
from chatbot.evidence import Unit, units
from chatbot.names import names
from chatbot.polarity import denies
from chatbot.query import Query
from chatbot.scoring import Scored
from chatbot.words import content_words, stem, stems, synonyms

_YES_OR_NO = re.compile(r"(?P<word>yes|no|none|never|always)\b", re.IGNORECASE)
_NO = frozenset(["no", "none", "never"])
# So much of an option's or of a row's words must be the other's to name the same thing, and of a header's the question's.
_SAME = 0.5
# "Which state does not pause the charge" asks for the states that are charged.
_UNDONE = re.compile(
    r"\b(?:paus\w+|stops?|avoids?|prevents?|ends?|los(?:e|es|t|ing)|free of|without|lacks?)\b", re.IGNORECASE
)

# Several needs are weighed, which one column does not do.
_WEIGHS = re.compile(
    r"\b(?:most|best|lowest|cheapest|biggest|max\w*|minim\w*|should|suits?|fits?|wants? (?:to|a)|needs?)\b",
    re.IGNORECASE,
)

# A header that says nothing by itself: what the table is about is allowed.
_OF_ITSELF = re.compile(r"(?:allowed|possible|supported|available|permitted|included|covered)\??", re.IGNORECASE)

# An option with so many words more than a row is called says more than which row it is.
_LONGER = 4
# With so few words the asking sentence leans on what stands before it: "Which GPU can not?"
_BARE = 2

Told = tuple[Unit, Passage]


def choose_rows(query: Query, passages: Sequence[Passage]) -> Draft | None:
    """The options of which a column of one table says what is asked; None where no table has them or it leaves more or fewer than are
    to be chosen."""
    if _WEIGHS.search(query.standalone) or (denies(query.standalone) and not query.negated):
        return None
    told = [(u, p) for p in passages for u in units(p.chunk) if u.cells]
    for _, rows in groupby(told, key=lambda t: (t[0].chunk.id, tuple(header for header, _ in t[0].cells))):
        of_options = _rows_of(query, list(rows))
        for column in _columns(query, [row for row in of_options if row]):
            holds = [_holds(row[0], column) if row else None for row in of_options]
            chosen = [i for i, held in enumerate(holds) if held == _wanted(query)]
            if len(chosen) == query.choose:
                return _draft(query, of_options, chosen, column)
    return None


def _rows_of(query: Query, rows: Sequence[Told]) -> list[Told | None]:
    """The row of each option, by what the row is called: its own, or one that names several things; one option alone may have none,
    for what is so is asked only of the others."""
    found: list[Told | None] = []
    for option in query.options:
        best = max(rows, key=lambda row: _likeness(option.text, row[0].cells[0][1]))
        key = best[0].cells[0][1]
        nearest = max(_likeness(other.text, key) for other in query.options)
        is_shared = best in found and not _is_named(option.text, key)
        is_its = not is_shared and _likeness(option.text, key) >= max(_SAME, nearest)
        found.append(best if is_its else None)
    missing = found.count(None)
    return [] if missing > (not query.negated) else found


def _likeness(option: str, key: str) -> float:
    """How many of the words of the shorter one the other has, 0 to 1; more where they are the same."""
    if option.strip().lower() == key.strip().lower():
        return 2.0
    mine, theirs = stems(option), stems(key)
    if len(mine) > len(theirs) + _LONGER:
        return 0.0
    return len(mine & theirs) / (min(len(mine), len(theirs)) or 1)


def _is_named(option: str, key: str) -> bool:
    """Whether one of the things that a row lists is the option: "NVIDIA L4 and L40S (Ada)"."""
    mine = {name.name for name in names(option)}
    return bool(mine) and mine <= {name.name for name in names(key)}


def _columns(query: Query, rows: Sequence[Told]) -> list[int]:
    """The columns that say yes or no of every option and that the question speaks of, what it says most of first; of one
    that says only what is allowed the question speaks in the words of the table."""
    if not rows:
        return []
    cells = rows[0][0].cells
    decisive = [
        column
        for column in range(1, len(cells))
        if all(len(unit.cells) > column and _YES_OR_NO.match(unit.cells[column][1]) for unit, _ in rows)
    ]
    spoken = {column: _spoken(query, cells[column][0]) for column in decisive}
    if len(decisive) == 1 and _OF_ITSELF.fullmatch(cells[decisive[0]][0]):
        spoken[decisive[0]] = _spoken(query, " ".join([cells[0][0], *rows[0][0].above[-1:]]))
    return sorted((c for c in decisive if spoken[c] >= _SAME), key=lambda c: -spoken[c])


def _spoken(query: Query, header: str) -> float:
    """How many of a header's words a question says, 0 to 1."""
    asked = content_words(query.asking)
    if len(asked) <= _BARE:
        asked = content_words(query.standalone)
    said, groups = {stem(w) for w in asked}, {g for w in asked for g in synonyms(w)}
    there = content_words(header)
    return sum(stem(w) in said or bool(synonyms(w) & groups) for w in there) / (len(there) or 1)


def _holds(unit: Unit, column: int) -> bool | None:
    match = _YES_OR_NO.match(unit.cells[column][1]) if len(unit.cells) > column else None
    return match["word"].lower() not in _NO if match else None


def _wanted(query: Query) -> bool:
    return query.negated == bool(_UNDONE.search(query.asking))


def _draft(query: Query, rows: Sequence[Told | None], chosen: Sequence[int], column: int) -> Draft:
    notes = Notes()

    def said(row: Told) -> str:
        unit, passage = row
        header, cell = unit.cells[column]
        return notes.sentence(f"{unit.cells[0][1]}: {header}: {cell}", Scored(unit, passage, 1.0, {}))

    letters = [query.options[i].letter for i in chosen]
    first = next(row for i, row in enumerate(rows) if i in chosen and row)
    notes.line(f"{', '.join(letters)}: {said(first)}")
    for option, row in zip(query.options, rows, strict=True):
        notes.line(f"- {option.letter}. {option.text}: {said(row) if row else REFUSAL}")
    return notes.draft(letters)
