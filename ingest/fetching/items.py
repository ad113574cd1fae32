"""What can be loaded: one item per document, the formats that have a loader, and the size above which nothing is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ingest.document import Source

MAX_BYTES = 50 * 1024 * 1024
TOO_LARGE = f"it is larger than {MAX_BYTES // 1024 // 1024} MiB: split it into smaller files"

# Suffix -> content type. A web page of a type is given the type's first suffix.
FORMATS = {
    ".md": "text/markdown",
    ".mdx": "text/mdx",
    ".txt": "text/plain",
    ".rst": "text/x-rst",
    ".html": "text/html",
    ".htm": "text/html",
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".csv": "text/csv",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
}
SUFFIXES = frozenset(FORMATS)
DAMAGED = "it is damaged or not of the format that its name says: open it in its program and save it again"
UNSUPPORTED = f"its format has no loader: convert it to one of {', '.join(FORMATS)}"


@dataclass(frozen=True, slots=True)
class Item:
    """A document that can be loaded and has not been read yet.

    `id` becomes the document's id: the path below the given folder with the folder's own name in front, the name of a
    file that was given alone, "s3://bucket/key", or the address of a web page. `name` gives the format. `source` is the
    manifest's entry; without one it is made from the text. `fetch` raises CorpusError if the bytes cannot be had.
    `address` is where a web page was found, after redirects.
    """

    id: str
    name: str
    source: Source | None
    fetch: Callable[[], bytes]
    content_type: str | None = None
    address: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A document that was asked for and cannot be read; `reason` says why and what to do."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a loader finds in the bytes of an item.

    `title` is one that the format itself states; `properties` come from its front matter or metadata.
    """

    text: str
    title: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
