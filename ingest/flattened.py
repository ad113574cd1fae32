"""Markdown that lost its line breaks: marks inside one enormous line tell its headings and list items."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ingest.lines import SMALL_WORD, clean_title

_MARK = re.compile(r"(?:^|(?<=\s))(?:(?P<hashes>#{1,6})\s+|(?P<bullet>[-*+•])\s+|(?P<number>\d{1,2})\.\s+)(?=\S)")
_COLON = re.compile(r":(?=\s)")
_CLAUSE_END = re.compile(r"[.,;!?]\s")
_WORD = re.compile(r"\S+")
_LONGEST_HEADING = 100


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the line, with the white space around it; offsets count from the line's start."""

    kind: Literal["heading", "text", "item"]
    start: int
    end: int
    title: str = ""
    rank: int = 0


def split(line: str) -> list[Part]:
    """Headings, items and the text between them, in order, without gaps."""
    parts: list[Part] = []
    found = list(_marks(line))
    if not found:
        return [Part("text", 0, len(line))]
    if found[0].start() > 0:
        parts.append(Part("text", 0, found[0].start()))
    for mark, following in zip(found, [*found[1:], None], strict=True):
        end = following.start() if following else len(line)
        if mark["hashes"]:
            parts += _headed(line, mark, end, ends_at_mark=following is not None)
        else:
            parts.append(Part("item", mark.start(), end))
    return parts


def _marks(line: str) -> Iterator[re.Match[str]]:
    previous: re.Match[str] | None = None
    for match in _MARK.finditer(line):
        if match["hashes"] or _opens_item(line, match, previous):
            yield match
            previous = match


def _opens_item(line: str, match: re.Match[str], previous: re.Match[str] | None) -> bool:
    """Whether a dash or a number opens an item: the item is bold, follows a colon, or continues a list."""
    if line.startswith("**", match.end()):
        return True
    if not line[match.end()].isupper():
        return False
    if line[max(match.start() - 4, 0) : match.start()].rstrip()[-1:] == ":":
        return True
    if previous is None or previous["hashes"]:
        return False
    if match["number"]:
        return bool(previous["number"]) and int(match["number"]) == int(previous["number"]) + 1
    return match["bullet"] == previous["bullet"]


def _headed(line: str, mark: re.Match[str], end: int, *, ends_at_mark: bool) -> Iterator[Part]:
    heading_end = _heading_end(line, mark.end(), end, ends_at_mark=ends_at_mark)
    yield Part("heading", mark.start(), heading_end, clean_title(line[mark.end() : heading_end]), len(mark["hashes"]))
    if line[heading_end:end].strip():
        yield Part("text", heading_end, end)


def _heading_end(line: str, start: int, end: int, *, ends_at_mark: bool) -> int:
    """A heading runs to the next mark if that is near, else to a colon, else as far as its words are capitalised."""
    if not (ends_at_mark and end - start <= _LONGEST_HEADING):
        colon = _COLON.search(line, start, min(end, start + _LONGEST_HEADING))
        if colon is None:
            return _capitalised_end(line, start, end)
        end = colon.end()
    return _capitalised_end(line, start, end) if _CLAUSE_END.search(line, start, end) else end


def _capitalised_end(line: str, start: int, end: int) -> int:
    last_capital = start
    for word in _WORD.finditer(line, start, end):
        if word.start() - start > _LONGEST_HEADING:
            return word.start()
        if word[0][0].islower() and not SMALL_WORD.fullmatch(word[0]):
            # The capitalised word before this one begins a sentence.
            return last_capital if last_capital > start else word.start()
        if not word[0][0].islower():
            last_capital = word.start()
    return end
