"""Recognise the lines that are more than text: headings without a mark, labels, leftovers of a web page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# Ranks 1 to 6 are Markdown's own. A bold line ranks above an italic one.
TITLE_RANK, PLAIN_RANK, CAPTION_RANK, BOLD_RANK, ITALIC_RANK = 1, 2, 3, 7, 8

# A heading longer than this is text that lost its line breaks.
LONG_LINE = 200
LONGEST_LABEL = 120

# Whole lines left over from a web page: all that occurred in 5,300 pages and in the original sources.
_RESIDUE = re.compile(
    r"(?:share|print)(?: this)?(?: (?:page|article|post|story|answer))?(?: (?:on|via) \w+)?|page \d+(?: of \d+)?"
    r"|no comments(?: yet)?\.?|\d+ comments?|(?:leave|add|post) a (?:comment|reply)"
    r"|(?:ultimate|full|unlimited|premium|instant) access to (?:all|every) [\w ]{1,40}\.?"
    r"|(?:copyright|©).{0,80}all rights reserved\.?|.{5,150} \| by [^|]{2,60} \| [A-Z][a-z]{2,8},? \d{4}"
    r"|for immediate release|(?:press|news|media) release|#{3,6}",
    re.IGNORECASE,
)
_ANCHORS = re.compile(r"(?:<a (?:name|id)=\"[^\"]*\" ?/?>(?:</a>)?\s*)+")

_TAG = re.compile(r"</?(?:a|b|i|u|em|strong|code|kbd|sub|sup|span|div|p|br|img|font)\b[^>]*>", re.IGNORECASE)
_BOLD = re.compile(r"(?P<mark>\*\*|__)(?P<title>(?:(?!\*\*|__).)+)(?P=mark) ?:?\\?")
_ITALIC = re.compile(r"(?P<mark>[*_])(?P<title>[^*_]+)(?::(?P=mark)|(?P=mark) ?:)\\?")
# A bold word that introduces a remark or a table of contents does not open a section.
_REMARK = re.compile(
    r"(?:notes?|important|tips?|warning|caution|topics|contents|(?:correct )?answers?)(?: *:.*)?", re.IGNORECASE
)

_MARKDOWN_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+\S|(?<=[^\s|])\r?\n {0,3}(?:=+|-{2,})[ \t]*$", re.MULTILINE)
_INLINE_HEADING = re.compile(r"\s#{2,6}\s+\S")

_LIST_ITEM = re.compile(r"(?:[-*+•‣◦●▪·]|\d{1,3}[.)]|\(?[A-Za-z][.)])\s+\S")
# "β" is a "→" decoded with the wrong encoding.
_ARROW = re.compile(r"\s(?:→|⇒|➔|➜|->|=>|-->|β)\s")
_LABELLED = re.compile(r"(?P<label>[^:]{1,60}):\s+(?P<value>\S.*)")
# "… in the following figure." announces a caption, "… in the following sections." does not.
_ANNOUNCED = re.compile(
    r"\b(?:with)?in the (?:following|next) (?!sections?|chapters?|parts?|pages?|steps?)\w+[.:]$", re.IGNORECASE
)
_NUMBERED = re.compile(r"\d+(?:\.\d+)+\.?\s+(?=[A-Z])")
SMALL_WORD = re.compile(
    r"an?|and|as|at|between|by|for|from|in|into|is|of|on|or|over|than|the|to|upon|via|vs\.?|versus|with"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """A line that stands on its own: it ends the paragraph or list item before it."""

    kind: Literal["heading", "residue", "anchor", "flattened"]
    rank: int = 0
    title: str = ""


def is_plain(text: str) -> bool:
    """Whether the text has no Markdown heading, so that its headings must be recognised by their wording."""
    return not _MARKDOWN_HEADING.search(text)


def marks(lines: Sequence[str], *, plain: bool, first: bool) -> dict[int, Mark]:
    """Return the lines that are more than text, by number; `first` says whether a title may stand at the start."""
    found = {number: mark for number, line in enumerate(lines) if (mark := _mark(line))}
    if plain:
        found = _plain_headings(lines, found, first=first) | found
    return found


def clean_title(raw: str) -> str:
    """Return a heading as it reads: without markup, link targets, anchors or a colon at the end."""
    title = re.sub(r"^\s*#{1,6}\s+|\s#+\s*$|\{#[^}]*\}", "", raw)
    title = _TAG.sub("", title)
    title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", title)
    title = re.sub(r"\*\*|__(?=\S)|(?<=\S)__|(?<!\\)[*`]|(?<![\w\\])_(?=\w)|(?<=\w)_(?!\w)", "", title)
    title = re.sub(r"\\(?=[^A-Za-z0-9\s])", "", title)
    title = " ".join(title.split()).rstrip(": ")
    # The label of a tab on a page: "[ Linux ]".
    return title[1:-1].strip() if title.startswith("[ ") and title.endswith(" ]") else title


def _mark(line: str) -> Mark | None:
    line = line.strip()
    if not line:
        return None
    if len(line) > LONG_LINE:
        return Mark("flattened") if line.startswith("#") or _INLINE_HEADING.search(line) else None
    if _RESIDUE.fullmatch(line):
        return Mark("residue")
    if line[0] == "<" and _ANCHORS.fullmatch(line):
        return Mark("anchor")
    return _label(line) if line[0] in "*_<" else None


def _label(line: str) -> Mark | None:
    line = _ANCHORS.sub("", line)
    for pattern, rank in ((_BOLD, BOLD_RANK), (_ITALIC, ITALIC_RANK)):
        if (match := pattern.fullmatch(line)) and match["title"].rstrip()[-1:] not in (".", "!", ";", ","):
            title = clean_title(match["title"])
            if title and not _REMARK.fullmatch(title) and len(title) <= LONGEST_LABEL:
                return Mark("heading", rank, title)
    return None


@dataclass(frozen=True, slots=True)
class _Neighbours:
    before: str
    after: str
    space_before: bool
    space_after: bool


def _plain_headings(lines: Sequence[str], taken: dict[int, Mark], *, first: bool) -> dict[int, Mark]:
    filled = [number for number, line in enumerate(lines) if line.strip()]
    found: dict[int, Mark] = {}
    for place, number in enumerate(filled):
        previous = filled[place - 1] if place else -1
        following = filled[place + 1] if place + 1 < len(filled) else len(lines)
        if number in taken or following == len(lines) or "|" in lines[number]:
            continue
        around = _Neighbours(
            before="" if previous < 0 or previous in taken else lines[previous].strip(),
            after=lines[following].strip(),
            space_before=previous < 0 or previous < number - 1 or previous in taken or previous in found,
            space_after=following > number + 1,
        )
        line = lines[number].strip()
        if first and place == 0 and around.space_after and _could_be_title(line):
            found[number] = Mark("heading", TITLE_RANK, clean_title(line))
        elif _is_plain_heading(line, around):
            rank = CAPTION_RANK if _ANNOUNCED.search(around.before) else PLAIN_RANK
            found[number] = Mark("heading", rank, clean_title(line))
    return found


def _could_be_title(line: str) -> bool:
    if not (3 <= len(line) <= 150 and line[0].isalnum() and line[-1] not in ".,;:"):
        return False
    return not _LIST_ITEM.match(line) and not _ARROW.search(line)


def _is_plain_heading(line: str, around: _Neighbours) -> bool:
    bare = _NUMBERED.sub("", line, count=1)
    if not (3 <= len(line) <= 80 and bare[0].isupper() and line[-1] not in ".,;:!"):
        return False
    if _LIST_ITEM.match(line) or _REMARK.fullmatch(line) or _ARROW.search(line) or not _heads_something(line, around):
        return False
    if (labelled := _LABELLED.fullmatch(bare)) and not _is_two_part_title(labelled, around):
        return False
    if around.space_before and around.space_after:
        return True
    return _is_title_case(bare) and (around.space_before or not _is_wrapped(around.before))


def _heads_something(line: str, around: _Neighbours) -> bool:
    """Whether the next line reads as a body: a list item, a pair with an arrow, a lead-in, or a longer sentence."""
    after = around.after
    if _LIST_ITEM.match(after) or _ARROW.search(after):
        return True
    return len(after) > len(line) and (len(after) > 80 or after[-1] in ".:?!")


def _is_two_part_title(labelled: re.Match[str], around: _Neighbours) -> bool:
    """Whether "First part: second part" is a title rather than a label with its value."""
    if re.search(r"[\d$€£]", labelled["value"]) or len(labelled.string.split()) < 4:
        return False
    return not _LABELLED.match(around.after) and not (_LABELLED.match(around.before) and not around.space_before)


def _is_title_case(line: str) -> bool:
    words = [word for word in re.findall(r"[^\s/()-]+", line) if word[0].isalpha()]
    return bool(words) and all(word[0].isupper() or SMALL_WORD.fullmatch(word) is not None for word in words)


def _is_wrapped(line: str) -> bool:
    """Whether a line may be the first part of a sentence that continues on the next."""
    return len(line) > 50 and line[-1] not in ".:?!" and not _LIST_ITEM.match(line) and not _ARROW.search(line)
