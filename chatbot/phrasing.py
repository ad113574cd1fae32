"""A piece of evidence said as a sentence: with its subject, without markup, and with no word that the source does not have."""

import re

from chatbot.evidence import LEANS_BACK, Unit
from chatbot.names import mentioned
from chatbot.query import Query
from chatbot.words import content_words, stem, synonyms

# A heading longer than this is a sentence of its own, not a subject.
_LONG = 70
# A row of so few cells is said whole.
_SMALL = 4
_NUMBERED = re.compile(r"^\s*(?:\d{1,2}[.)]\s+)")
_COUNTED = re.compile(r"^(?:up to\s+)?[\d,.]+$", re.IGNORECASE)


def statement(unit: Unit, query: Query) -> str:
    """One sentence that says what the unit says; a row is cut to the columns that the question asks for."""
    return row_statement(unit, query) if unit.cells else _sentence(unit, query)


def row_statement(unit: Unit, query: Query) -> str:
    """A table row as "trn1.32xlarge has 16 Trainium chips": its first cell, then the columns asked for or all of them."""
    key = unit.cells[0][1]
    wanted = (columns(unit, query) if len(unit.cells) > _SMALL else ()) or unit.cells[1:]
    spoken = [_cell(header, cell) for header, cell in wanted if cell]
    said = ("; " if any(":" in cell for cell in spoken) else ", ").join(spoken)
    return f"{key}: {said}" if said else key


def columns(unit: Unit, query: Query) -> tuple[tuple[str, str], ...]:
    """The cells whose header the question speaks of, the best matching ones alone."""
    asked = {stem(w) for w in content_words(query.standalone)}
    groups = {g for w in content_words(query.standalone) for g in synonyms(w)}
    keys = {stem(w) for w in content_words(unit.cells[0][1])}
    rated = []
    for header, cell in unit.cells[1:]:
        found = [w for w in content_words(header) if stem(w) not in keys]
        said = sum(1.0 if stem(w) in asked else 0.6 if synonyms(w) & groups else 0.0 for w in found)
        rated.append((said / max(1, len(found)), header, cell))
    best = max((r for r, _, _ in rated), default=0.0)
    return tuple((header, cell) for r, header, cell in rated if r > 0.25 and (r >= 0.5 or r == best))


def _cell(header: str, cell: str) -> str:
    if not header:
        return cell
    singular = re.sub(r"(?<=[a-rt-z])s$", "", header) if cell == "1" else header
    return f"{cell} {singular}" if _COUNTED.match(cell) else f"{header}: {cell}"


def _sentence(unit: Unit, query: Query) -> str:
    text = _NUMBERED.sub("", unit.plain).strip()
    text = text.rstrip(".;,") if text[-1:] in ".;," else text
    label, value = unit.label
    if label and value.lower().startswith(label.lower()):
        text = value.rstrip(".;,")
    subject = _subject(unit, text, query)
    return f"{subject}: {text}" if subject else text


def _subject(unit: Unit, text: str, query: Query) -> str:
    """What stands above the text and says what it is about; "" where the text says so itself."""
    title = unit.chunk.document.title
    above = [
        a
        for a in unit.above
        if not text.lower().startswith(a.lower()[:30]) and not a.endswith("?") and len(a) <= _LONG and a != title
    ]
    if not above or (mentioned(text) and not _leans(text) and not LEANS_BACK.match(text)):
        return ""
    named = next((a for a in reversed(above) if mentioned(a)), None)
    nearest = above[-1] if unit.above[-1] == above[-1] and len(unit.above) > len(unit.chunk.headings) else None
    if unit.kind == "item" and _leans(text) and nearest:
        return _tidy(nearest)
    if named is None:
        return _tidy(nearest) if nearest else ""
    return _tidy(named) if nearest in (None, named) else f"{_tidy(named)}, {_tidy(nearest)}"


def _leans(text: str) -> bool:
    """Whether a line is only a property ("Best for: ..."), whose owner stands above it."""
    return bool(re.match(r"^[^:]{0,40}:\s", text)) and not mentioned(text)


def _tidy(heading: str) -> str:
    return re.sub(r"^\d+[.)]\s*", "", heading).strip(" .:?")
