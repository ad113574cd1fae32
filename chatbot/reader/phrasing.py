"""Turn a piece of evidence into a sentence with its subject, without markup, and with no word that the source lacks."""

import re

from chatbot.evidence import LEANS_BACK, Unit, sentences
from chatbot.language.names import mentioned
from chatbot.language.quantities import header_unit, with_unit, without_unit
from chatbot.language.words import content_words, covered, stem, stems
from chatbot.question.query import Query

# A heading longer than this is a sentence of its own, not a subject.
_LONG = 70
# A row of at most this many cells is stated whole.
_SMALL = 8
_NUMBERED = re.compile(r"^\s*(?:\d{1,2}[.)]\s+)")
_COUNTED = re.compile(r"^(?:up to\s+)?[\d,.]+$", re.IGNORECASE)
# Headers that name what their numbers count, or the unit: "vCPUs", "g CO2e per kWh". "Release year" is neither.
_COUNTS = re.compile(r"(?:^|\w)[a-rt-zA-Z]s\b|^[a-z]|\bper\b")
_SHORT_ANSWER = re.compile(r"\W*(?:yes|no)\b(?:[.,;:!\s–—-]+|$)", re.IGNORECASE)
_CONDITION = re.compile(r"(?:if|when|unless|but|only|as long|provided|though|except)\b", re.IGNORECASE)
_MARKS = ("✓", "✔", "✗", "✘", "✅", "❌")
# The fewest words after a "Yes." or "No." that can stand alone.
_ENOUGH = 3


def statement(unit: Unit, query: Query) -> str:
    """Return one sentence that says what the unit says. A row is cut to the columns that the question asks for."""
    return row_statement(unit, query) if unit.cells else _sentence(unit, query)


def row_statement(unit: Unit, query: Query) -> str:
    """Return a table row as "trn1.32xlarge: 16 Trainium chips": its first cell, then the columns asked for, or all."""
    key = unit.cells[0][1]
    if own := columns_of_things(unit, query):
        return _said_of_things(key, own)
    wanted = (columns(unit, query) if len(unit.cells) > _SMALL else ()) or unit.cells[1:]
    if key.endswith("?"):
        return answer_statement(key, "; ".join(_joined(cell) for _, cell in unit.cells[1:] if cell))
    spoken = [_cell(header, cell) for header, cell in wanted if _is_filled(cell)]
    # If the columns asked for are empty, another column may say why.
    spoken = spoken or [_cell(header, cell) for header, cell in unit.cells[1:] if _is_filled(cell)]
    said = ("; " if any(":" in cell for cell in spoken) else ", ").join(spoken)
    return f"{key}: {said}" if said else key


def _is_filled(cell: str) -> bool:
    return any(character.isalnum() for character in cell) or cell in _MARKS


def columns_of_things(unit: Unit, query: Query) -> tuple[tuple[str, str], ...]:
    """Return the cells of the things asked about if the columns of the table are things and its rows properties."""
    wanted = {e.lower() for e in query.entities}
    if wanted & mentioned(unit.cells[0][1]) or not any(wanted & mentioned(header) for header, _ in unit.cells[1:]):
        return ()
    own = (pair for pair in unit.cells[1:] if not mentioned(pair[0]) or wanted & mentioned(pair[0]))
    return tuple((header, cell) for header, cell in own if _is_filled(cell))


def _said_of_things(key: str, own: tuple[tuple[str, str], ...]) -> str:
    if len(own) == 1:
        ((header, cell),) = own
        return f"{header}: {key}: {_joined(cell)}"
    return f"{key}: {'; '.join(f'{header}: {_joined(cell)}' for header, cell in own)}"


def _joined(cell: str) -> str:
    """Join the sentences of a cell into one, because each sentence of an answer needs its own citation mark."""
    said = [cell[start:end] for start, end in sentences(cell)]
    return "; ".join([*(s.removesuffix(".") for s in said[:-1]), *said[-1:]]).rstrip(".")


def answer_statement(asked: str, text: str) -> str:
    """Return a source's answer to its own question, without the "Yes." or "No.".

    If a condition follows ("Yes, if …") or too few words are left, the answer stays whole, behind the question.
    """
    if not (match := _SHORT_ANSWER.match(text)):
        return text
    rest = text[match.end() :]
    if _CONDITION.match(rest) or len(rest.split()) < _ENOUGH:
        return f"{asked.rstrip('?')}: {text}"
    return rest[0].upper() + rest[1:]


def columns(unit: Unit, query: Query) -> tuple[tuple[str, str], ...]:
    """Return the cells whose header the question mentions: half of its words, or over a quarter for the best match."""
    keys = stems(unit.cells[0][1])
    rated = []
    for header, cell in unit.cells[1:]:
        found = [w for w in content_words(header) if stem(w) not in keys]
        rated.append((sum(covered(found, query.standalone, synonym=0.6)) / max(1, len(found)), header, cell))
    best = max((r for r, _, _ in rated), default=0.0)
    return tuple((header, cell) for r, header, cell in rated if r > 0.25 and (r >= 0.5 or r == best))


def _cell(header: str, cell: str) -> str:
    if not header:
        return cell
    if header_unit(header):
        return f"{without_unit(header)}: {with_unit(header, cell)}"
    singular = re.sub(r"(?<=[a-rt-z])s$", "", header) if cell == "1" else header
    return f"{cell} {singular}" if _COUNTED.match(cell) and _COUNTS.search(header) else f"{header}: {_joined(cell)}"


def _sentence(unit: Unit, query: Query) -> str:
    text = _NUMBERED.sub("", unit.plain).strip()
    text = text.rstrip(".;,") if text[-1:] in ".;," else text
    label, value = unit.label
    if label and value.lower().startswith(label.lower()):
        text = value.rstrip(".;,")
    if unit.above and unit.above[-1].endswith("?"):
        return answer_statement(unit.above[-1], text)
    subject = _subject(unit, text, query)
    return f"{subject}: {text}" if subject else text


def _subject(unit: Unit, text: str, query: Query) -> str:
    """Return the heading or parent above the text that names its subject; "" if the text names it itself."""
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
    """Whether a line is only a property ("Best for: ...") of something named above it."""
    return bool(re.match(r"^[^:]{0,40}:\s", text)) and not mentioned(text)


def _tidy(heading: str) -> str:
    return re.sub(r"^\d+[.)]\s*", "", heading).strip(" .:?")
