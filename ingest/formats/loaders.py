"""Turn the bytes of any supported format into a Document."""

import hashlib
import logging
import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import PurePosixPath

from ingest.document import CorpusError, Document, Source
from ingest.fetching.items import DAMAGED, MAX_BYTES, SUFFIXES, TOO_LARGE, UNSUPPORTED, Extracted, Item
from ingest.formats.markup import load_html, load_rst
from ingest.formats.office import load_docx, load_pptx, load_xlsx
from ingest.formats.pdf import load_pdf
from ingest.formats.plain import first_heading, front_matter, load_markdown, load_plain_text
from ingest.formats.tables import load_csv, load_json, load_json_lines

logger = logging.getLogger(__name__)
__all__ = ["MAX_BYTES", "SUFFIXES", "front_matter", "load"]

LOADERS: Mapping[str, Callable[[bytes], Extracted]] = {
    ".md": load_markdown,
    ".mdx": load_markdown,
    ".txt": load_plain_text,
    ".rst": load_rst,
    ".html": load_html,
    ".htm": load_html,
    ".pdf": load_pdf,
    ".docx": load_docx,
    ".pptx": load_pptx,
    ".xlsx": load_xlsx,
    ".csv": load_csv,
    ".json": load_json,
    ".jsonl": load_json_lines,
}
_QUOTED_AS_THEY_STAND = {".md", ".mdx", ".txt"}
_PAGED = {".pdf", ".pptx"}
# Their headings name a sheet or a record, not the document.
_COLLECTIONS = {".csv", ".json", ".jsonl", ".xlsx"}
# A document's own metadata goes with each of its passages, so it is cut. A text longer than the limit is refused: it is
# more than one document.
_LONGEST_PROPERTY = 300
_LONGEST_ADDRESS = 2_000
_LONGEST_TEXT = 2 * MAX_BYTES
_BYLINE = re.compile(
    r"(?im)^[ \t>*_]*(?:author|written by|posted by)(?:[ \t*_]*+:[ \t*_]++|[ \t*_]++)(?P<who>[A-Z][\w .&'’-]{2,60}?)[*_. \t]*$"
)
_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?(?!\d)")
# Zero-width joiners stay: some scripts and emoji need them. Lone surrogates go: no UTF-8 file can hold them.
_DROPPED = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff\ufffe\ud800-\udfff]")
_LINE_BREAK = re.compile("\r\n?|[\x85\u2028\u2029]")
_ODD_SPACE = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
# Matches only where a run of spaces begins, so that a long run inside a line is scanned once.
_LINE_END = re.compile(r"(?<![^\S\n\f])[^\S\n\f]++(?=[\n\f]|\Z)")
_BLANK_LINES = re.compile(r"\n{4,}")
_WRITTEN_DATES = ("%B %d, %Y", "%d %B %Y", "%b %d, %Y", "%d %b %Y", "%Y/%m/%d", "%B %Y", "%b %Y")


def load(item: Item, data: bytes) -> Document:
    """Read a document from its bytes; raises CorpusError with the reason if that fails.

    The text of .md, .mdx and .txt is the file's own, including front matter; every other format is converted to
    Markdown.
    """
    suffix = _suffix(item.name)
    if suffix not in LOADERS:
        raise CorpusError(UNSUPPORTED)
    if len(data) > MAX_BYTES:
        raise CorpusError(TOO_LARGE)
    extracted = _extracted(suffix, data, item)
    text = extracted.text if suffix in _QUOTED_AS_THEY_STAND else _cleaned(extracted.text, paged=suffix in _PAGED)
    if not text.strip():
        raise CorpusError("it is empty: write something in it or take it out")
    if len(text) > _LONGEST_TEXT:
        raise CorpusError(f"its text is longer than {_LONGEST_TEXT:,} characters: split it into smaller files")
    source = item.source or _source(item, extracted, text)
    return Document(item.id, source, source.title, text)


def _extracted(suffix: str, data: bytes, item: Item) -> Extracted:
    try:
        if suffix in (".html", ".htm"):
            return load_html(data, item.content_type)
        return load_json(data, item.id) if suffix == ".json" else LOADERS[suffix](data)
    except (CorpusError, MemoryError):
        raise
    except Exception as error:
        # Parsers raise all kinds of errors on damaged files, and one bad file must not stop the others.
        logger.debug("a %s file could not be parsed", suffix, exc_info=True)
        raise CorpusError(DAMAGED) from error


def _cleaned(text: str, *, paged: bool) -> str:
    """Clean a text. Form feeds stay only in paged formats, where each one ends a page."""
    if paged:
        return "".join(f"{clean(page).strip()}\n\f" for page in text.split("\f")[:-1])
    return clean(text.replace("\f", "\n")).strip() + "\n"


def clean(text: str) -> str:
    """Drop characters that are not text, and blank lines after two in a row; a clean text stays as it is."""
    text = _DROPPED.sub("", _LINE_BREAK.sub("\n", text))
    text = _ODD_SPACE.sub(" ", unicodedata.normalize("NFC", text))  # NFKC would turn "10²" into "102"
    return _BLANK_LINES.sub("\n\n\n", _LINE_END.sub("", text))


def _source(item: Item, extracted: Extracted, text: str) -> Source:
    """Return the source as the document describes it itself."""
    said = {name.lower(): value for name, value in extracted.properties.items() if value}
    whole = _suffix(item.name) not in _COLLECTIONS
    title = said.get("title") or extracted.title or (first_heading(text) if whole else None)
    byline = _BYLINE.search(text) if whole else None
    addresses = filter(None, map(said.get, ("url", "address", "source")))
    name = " ".join(re.split(r"[\s_-]+", PurePosixPath(item.name).stem)).strip() or item.name
    return Source(
        id=_source_id(item.id),
        title=_plain(title) or name,
        publisher=_plain(_first(said, "publisher", "author", "submitted_by")) or (byline and byline["who"].strip()),
        url=item.address or next(filter(_is_address, addresses), None),
        published=_iso_date(_first(said, "published", "published_date", "date", "as_of")),
        licence=_plain(_first(said, "licence", "license")),
        original=None if item.address else item.name,
    )


def _first(said: Mapping[str, str], *names: str) -> str | None:
    return next((said[name] for name in names if name in said), None)


def _plain(said: str | None) -> str | None:
    """Return a value cleaned, in one line and cut, so that it can be stored and shown; None if nothing is left."""
    return " ".join(clean(said).split())[:_LONGEST_PROPERTY].strip() or None if said else None


def _is_address(said: str) -> bool:
    return said.startswith(("http://", "https://")) and len(said) <= _LONGEST_ADDRESS and clean(said) == said


def _source_id(document_id: str) -> str:
    """Return a readable id; its digest keeps "a/b.md" and "a-b.txt" apart."""
    suffix = PurePosixPath(document_id).suffix
    stem = document_id.removesuffix(suffix) if suffix.lower() in SUFFIXES else document_id
    words = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")
    return f"{words}-{hashlib.sha256(document_id.encode()).hexdigest()[:6]}"


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def _iso_date(written: str | None) -> str | None:
    """Return the ISO date in a value, or the part of it that is known."""
    if written is None:
        return None
    for form in _WRITTEN_DATES:
        try:
            day = datetime.strptime(written.strip(), form)
        except ValueError:
            continue
        return day.strftime("%Y-%m-%d" if "%d" in form else "%Y-%m")
    match = _DATE.match(written)
    return match[0] if match else None
