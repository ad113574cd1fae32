"""Text files: decoding, front matter, and the title that a text gives itself."""

import re
from collections.abc import Iterable, Iterator

import yaml

from ingest.blocks import Block, parse
from ingest.document import CorpusError
from ingest.fetching.items import Extracted
from ingest.lines import BOLD_RANK

# A title is near the start of a text, usually in its first lines; parsing 50 MiB to find it would take minutes.
_FIRST_LOOK = 1_000
_HEAD = 20_000
_LONGEST_TITLE = 150
# Anything longer than a few pages is not front matter, and would take the YAML parser minutes.
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.{0,20000}?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
# Lines above the title of a press release.
_RELEASE = re.compile(r"\A(?:(?:for immediate release|(?:press|news|media) release)[:.]?\s*\n\s*)+", re.IGNORECASE)
_KEY_LINE = re.compile(r"[A-Za-z_][\w .-]*:(?:[ \t]|$)", re.MULTILINE)


def decode(data: bytes) -> str:
    """Decode UTF-8 text, without byte order mark and with "\\n" as line break; raises CorpusError for other text."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise CorpusError("it is UTF-16 text: save it as UTF-8")
    if b"\x00" in data:
        raise CorpusError("it is binary, whatever its name says: give it the suffix of its format or take it out")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CorpusError(f"it is not valid UTF-8 (byte {error.start}): save it as UTF-8") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def load_markdown(data: bytes) -> Extracted:
    text = decode(data)
    properties, start = front_matter(text)
    return Extracted(text, first_heading(text[start:]), properties)


def load_plain_text(data: bytes) -> Extracted:
    """Load plain text, often Markdown by another name; otherwise a line alone at its start is its title."""
    text = decode(data)
    properties, start = front_matter(text)
    body = text[start : start + _HEAD]
    return Extracted(text, first_heading(body) or _lone_first_line(body), properties)


def front_matter(text: str) -> tuple[dict[str, str], int]:
    """Return the YAML mapping between `---` lines at the start of a text, and the offset where the body begins.

    Values are as written; lists of plain values are joined by commas and deeper structures are left out. Broken YAML
    gives an empty mapping but is skipped all the same. A `---` that opens prose is a rule, not front matter: the offset
    is 0.
    """
    match = _FRONT_MATTER.match(text)
    if match is None:
        return {}, 0
    block = match[1]
    if not block.strip():
        return {}, match.end()
    try:
        # BaseLoader keeps every value as a string: "1.10" stays "1.10" and a date stays as written.
        mapping = yaml.load(block, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError):
        return {}, match.end() if _KEY_LINE.match(block) else 0
    if not isinstance(mapping, dict):
        return {}, 0
    return _plain_values(mapping), match.end()


def _plain_values(mapping: dict[object, object]) -> dict[str, str]:
    values = {}
    for key, value in mapping.items():
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            value = ", ".join(value)
        if isinstance(key, str) and isinstance(value, str) and value not in ("", "~", "null"):
            values[key] = value
    return values


def first_heading(text: str) -> str | None:
    """Return the words of the first Markdown heading, without markup; None if it is missing or too long for a title."""
    for length in (_FIRST_LOOK, _HEAD):
        head = text if len(text) <= length else text[:length].rpartition("\n")[0]
        heading = next(_headings(parse(head, 0, len(head), plain=False, first=False)), None)
        if heading or len(text) <= length:
            return _as_title(heading.title) if heading else None
    return None


def _headings(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the marked headings, in order; a line that is merely bold is not a title."""
    for block in blocks:
        if block.kind == "heading" and block.rank < BOLD_RANK:
            yield block
        yield from _headings(block.children)


def _lone_first_line(text: str) -> str | None:
    first, _, rest = _RELEASE.sub("", text.lstrip("\n")).partition("\n")
    if first.endswith((".", ":", ",", ";")) or not rest.startswith("\n"):
        return None
    return _as_title(first)


def _as_title(words: str) -> str | None:
    title = " ".join(words.split())
    return title if title.strip("#") and len(title) <= _LONGEST_TITLE else None
