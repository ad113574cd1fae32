"""The key at the end of an exam: numbers with their answers, as a list, on one line or in a table."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chatbot.exam.text_lines import Line, answer, option, remark

_TITLE = re.compile(
    r"^\s*+(?:(?P<marks>#{1,6})\s+)?(?:\*\*|__)?\s*+(?:(?:the\s+)?(?:correct\s+)?answers?(?:\s*+(?:keys?|sheet|list|(?:&|and)\s*+explanations?))?|answer\s*+keys?|solutions?(?:\s*+(?:&|and)\s*+explanations?)?|keys?)\s*+:?\s*+(?:\*\*|__)?\s*+:?\s*+$",
    re.IGNORECASE,
)
_ENTRY = re.compile(
    r"^\s*+(?:#{1,6}\s+)?(?:[-*+]\s+)?(?:\*\*|__)?(?:(?:question|q|no)\s*+(?:\.\s*+)?(?:#\s*+)?)?(?P<n>\d{1,4})(?:\*\*|__)?\s*(?:[.):=–—-]+|\s)\s*(?:\*\*|__)?\s*(?P<key>\S.*)$",
    re.IGNORECASE,
)
_ROW = re.compile(
    r"^\s*\|\s*(?:\*\*)?(?:q(?:uestion)?\s*)?(?P<n>\d{1,4})\.?(?:\*\*)?\s*\|\s*(?P<key>[^|]+?)\s*(?:\|.*)?$",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"(?P<n>\d{1,4})\s*[.):=–—-]\s*(?P<key>[A-H](?:[ \t]*[,&+]?[ \t]*[A-H](?![a-z]))*)(?=[\s,;|]+\d|[\s,;|.]*$)"
)
_KEY = re.compile(r"^\W*(?:[A-H](?:\W{0,3}[A-H])*\W*$|[A-H]\s*[.):–—-]|(?:correct|right|answer)\b)", re.IGNORECASE)
_TABLE_FRAME = re.compile(r"^\s*+\|(?:\s*+:?-+:?\s*+\|)+\s*+$|^\s*+\|\s*(?:#|no\.?|number|question|q)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entry:
    """The answer that a key gives to the question of a number."""

    number: int
    key: str
    explanation: tuple[str, ...] = ()


def opens_section(text: str, following: str) -> bool:
    """Whether a line begins the key: its title, with an entry below, or an entry without any title."""
    if _TITLE.match(text):
        return is_entry(following) or bool(_TABLE_FRAME.match(following))
    return _is_bare(text)


def is_entry(text: str) -> bool:
    """Whether a line gives the answer to a number."""
    row = _ROW.match(text) or _ENTRY.match(text)
    return bool(row and _KEY.match(row["key"])) or _is_bare(text)


def entries(lines: Sequence[Line], position: int) -> tuple[list[Entry], int]:
    """The entries from a section's title or first entry on, and the position behind it."""
    found: list[Entry] = []
    position += bool(_TITLE.match(lines[position].text))
    while position < len(lines) and not _ends(lines[position].text, found):
        _add(found, lines[position].text)
        position += 1
    return found, position


def _is_bare(text: str) -> bool:
    """Whether a line is nothing but numbers with letters."""
    return bool(_SEVERAL.search(text)) and not re.search(r"\w", _SEVERAL.sub("", text))


def _ends(text: str, found: Sequence[Entry]) -> bool:
    """A heading that is no entry ends the key, and so does a question of the next part."""
    if is_entry(text) or not text:
        return False
    if re.match(r"^\s*#{1,6}\s", text) and remark(text) is None and answer(text) is None:
        return True
    return bool(found) and (entry := _ENTRY.match(text)) is not None and entry["key"].rstrip("* ").endswith("?")


def _add(found: list[Entry], text: str) -> None:
    if not text or _TABLE_FRAME.match(text):
        return
    if _is_bare(text):
        found += [Entry(int(m["n"]), m["key"]) for m in _SEVERAL.finditer(text)]
    elif is_entry(text):
        match = _ROW.match(text) or _ENTRY.match(text)
        assert match is not None
        found.append(Entry(int(match["n"]), answer(match["key"]) or match["key"]))
    elif found and option(text) is None:
        said = remark(text)
        found[-1] = replace(found[-1], explanation=(*found[-1].explanation, text if said is None else said))
