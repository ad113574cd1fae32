"""Split passages into evidence: sentences, list items and table rows, each with exact offsets and the headings above it."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from chatbot.deadline import check
from chatbot.evidence.quiz import without_wrong_options
from chatbot.evidence.table_rows import RULE, is_row, row_of, with_captions
from chatbot.evidence.unit import Kind, Unit
from chatbot.language.names import mentioned, names
from chatbot.language.wording import LEANS_BACK, SEPARATOR, lead_of, plain, sentences
from ingest import Chunk

__all__ = ["LEANS_BACK", "Kind", "Unit", "plain", "sentences", "units"]

_ITEM = re.compile(r"^(?P<indent>[ \t]*)(?P<mark>[-*+•‣◦]|\d{1,2}[.)]|\(?[a-zA-Z][.)])\s+(?P<body>\S.*)$")
_INLINE_ITEM = re.compile(r"\s(?:[-•]|\d{1,2}\.)\s+(?=\*\*\w)|\s[-•]\s+(?=[A-Z])")
_BOLD_ITEM = re.compile(r"\s(?:[-•]|\d{1,2}\.)\s+\*\*\w")
_INLINE_HEADING = re.compile(r"(?:^|\s)#{2,6}\s+")
# A wrapped line of prose is at least this long.
_WRAPPED = 40
_CODE = re.compile(r"^\s*(```|~~~)")
# A line that only says where a section comes from. It supports no claim.
_PROVENANCE = re.compile(r"\W*(?:sources?|see also|further reading):\s*\[", re.IGNORECASE)


@lru_cache(maxsize=4096)
def units(chunk: Chunk) -> tuple[Unit, ...]:
    """Return the evidence in a chunk, in order. Headings, rules and code fences are not evidence by themselves."""
    check()
    found = [unit for unit in _units(chunk) if re.search(r"\w", unit.plain) and not _PROVENANCE.match(unit.text)]
    return tuple(with_captions(without_wrong_options(found)))


def _units(chunk: Chunk) -> Iterator[Unit]:
    parents: list[tuple[int, str]] = []
    paragraph: list[tuple[int, str]] = []
    in_code = False
    for start, line in _lines(chunk.text, chunk.start):
        if _CODE.match(line):
            in_code = not in_code
        item = None if in_code else _ITEM.match(line)
        table = not in_code and is_row(chunk, start, line)
        if paragraph and (item or table or in_code or not line.strip() or _is_heading(line)):
            yield from _paragraph(chunk, paragraph, parents)
            parents += _lead_in(paragraph)
            paragraph = []
        if item:
            yield from _item(chunk, start, line, item, parents)
        elif table:
            yield from row_of(chunk, start, line)
        elif not line.strip() or _is_heading(line) or RULE.match(line):
            parents = [] if _is_heading(line) else parents
        elif not _CODE.match(line):
            if not line[:1].isspace() and not paragraph:
                parents = []
            paragraph.append((start, line))
    yield from _paragraph(chunk, paragraph, parents)


def _lead_in(paragraph: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the last sentence of a paragraph as a parent of the list after it, if it ends with a colon."""
    last = plain(paragraph[-1][1])
    if not last.endswith(":"):
        return []
    start, end = sentences(last)[-1]
    return [(-1, last[start:end].rstrip(":"))] if end - start <= 120 else []


def _lines(text: str, offset: int) -> Iterator[tuple[int, str]]:
    for line in text.splitlines(keepends=True):
        yield offset, line.rstrip("\r\n\f")
        offset += len(line)


def _is_heading(line: str) -> bool:
    return bool(re.match(r"^\s{0,3}#{1,6}\s", line)) and not _INLINE_ITEM.search(line) and len(line) < 200


def _item(chunk: Chunk, start: int, line: str, match: re.Match[str], parents: list[tuple[int, str]]) -> Iterator[Unit]:
    indent = len(match["indent"].expandtabs(4))
    while parents and parents[-1][0] >= indent:
        parents.pop()
    above = (*chunk.headings, *(text for _, text in parents))
    yield from _pieces(chunk, start + match.start("body"), line[match.start("body") :], above, "item")
    parents.append((indent, lead_of(plain(match["body"]))))


def _paragraph(chunk: Chunk, lines: list[tuple[int, str]], parents: list[tuple[int, str]]) -> Iterator[Unit]:
    if not lines:
        return
    start = lines[0][0]
    text = chunk.document.text[start : lines[-1][0] + len(lines[-1][1])]
    kind: Kind = "note" if text.lstrip().startswith(">") else "sentence"
    above = (*chunk.headings, *(text for _, text in parents))
    if len(lines) > 1 and all(_is_line_of_its_own(line) for _, line in lines) and not _is_wrapped(lines):
        yield from _flat_list(chunk, lines, above)
        return
    yield from _pieces(chunk, start, text, above, kind)


def _flat_list(chunk: Chunk, lines: list[tuple[int, str]], above: tuple[str, ...]) -> Iterator[Unit]:
    """Yield lines of notes without list marks. A line that names nothing is about what the nearest line above it names."""
    owner: tuple[str, ...] = ()
    for offset, line in lines:
        named = bool(mentioned(plain(line)))
        yield from _pieces(chunk, offset, line, above if named else (*above, *owner), "item")
        owner = (_owner(plain(line)),) if named else owner


def _owner(text: str) -> str:
    """Return what the lines below a line with a name belong to: its label or, if that names nothing, its first name."""
    lead = lead_of(text)
    return lead if mentioned(lead) else names(text)[0].text


def _is_wrapped(lines: list[tuple[int, str]]) -> bool:
    """Whether these are wrapped lines of prose: a long line continues in lower case, without a label."""
    return any(
        len(line) >= _WRAPPED
        and line.rstrip()[-1:] not in ".:!?"
        and after[:1].islower()
        and not SEPARATOR.search(after)
        for (_, line), (_, after) in pairwise(lines)
    )


def _is_line_of_its_own(line: str) -> bool:
    return (
        len(line) < 160
        and (bool(SEPARATOR.search(line)) or line.rstrip()[-1:] not in ",;")
        and not line.startswith(">")
    )


def _pieces(chunk: Chunk, start: int, text: str, above: tuple[str, ...], kind: Kind) -> Iterator[Unit]:
    """Yield the sentences of a run of text, also from list items and headings inside one long line."""
    heading: tuple[str, ...] = ()
    lead: tuple[str, ...] = ()
    for piece_start, piece_end, is_item, title in _inline(text):
        heading = (title,) if title else heading
        owner: tuple[str, ...] = ()
        previous = opening = ""
        if not is_item:
            lead = ()
        for sentence_start, sentence_end in sentences(text[piece_start:piece_end]):
            s, e = piece_start + sentence_start, piece_start + sentence_end
            exact, first = text[s:e], sentence_start == 0
            named = names(plain(exact))
            opening = lead_of(plain(exact)) if first else opening
            parent: tuple[str, ...] = ()
            if not first and (is_item or kind == "item"):
                parent = (opening,)
            elif not named and LEANS_BACK.match(exact):
                parent = owner
            before = previous if LEANS_BACK.match(exact) else ""
            place = (*above, *heading, *(lead if is_item and first else ()), *parent)
            yield Unit(chunk, start + s, start + e, exact, "item" if is_item and first else kind, place, before=before)
            owner = (named[0].text,) if named else owner
            previous = plain(exact)
        # A sentence that ends with a colon announces the list items after it.
        lead = (previous.rstrip(":"),) if previous.endswith(":") and not is_item else lead if is_item else ()


def _inline(text: str) -> Iterator[tuple[int, int, bool, str]]:
    """Split a text at inline list marks and headings into (start, end, is a list item, heading that begins here)."""
    marks = [(m.start(), m.end(), False) for m in _INLINE_HEADING.finditer(text)] if len(text) > 200 else []
    # One dash before a capital may be prose. A dash before a bold label, or several dashes, make a list.
    if _BOLD_ITEM.search(text) or len(_INLINE_ITEM.findall(text)) > 1:
        marks += [(m.start(), m.end(), True) for m in _INLINE_ITEM.finditer(text)]
    marks.sort()
    position, is_item, title = 0, False, ""
    for start, end, item in marks:
        if start > position:
            yield position, start, is_item, title
        position, is_item, title = end, item, "" if item else _inline_title(text[end : end + 90])
    if position < len(text):
        yield position, len(text), is_item, title


def _inline_title(text: str) -> str:
    return re.split(r":|\s[-•]\s|\s\d{1,2}\.\s|[.?!]\s", text)[0].strip()[:80]
