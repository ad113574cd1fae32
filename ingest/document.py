"""The values that ingest makes: where a text comes from, the text itself, and the slices of it that are searched."""

from dataclasses import dataclass


class CorpusError(Exception):
    """A problem with the corpus or the index that the user can fix; the message says what is wrong and what to do."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a document comes from, as its manifest entry or its front matter states it.

    `published` is an ISO date or the known part of it ("2025", "2022-11-10"). `original` is the name of the file that
    the document was written from or, for a document kept as it was given, its own file name.
    """

    id: str
    title: str
    publisher: str | None = None
    url: str | None = None
    published: str | None = None
    licence: str | None = None
    original: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One text. For .md and .txt it is the file's own text, so offsets are valid in the file too.

    Pages (PDF) and slides (PPTX) end with a form feed, so the page of an offset is the number of form feeds before it
    plus one.
    """

    id: str
    source: Source
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of a document that is searched as a unit: `document.text[start:end] == text`.

    `headings` is the path of section titles above it, outermost first, without markup; `page` counts from 1.
    """

    id: str
    document: Document
    headings: tuple[str, ...]
    start: int
    end: int
    text: str
    page: int | None = None
