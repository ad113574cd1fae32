"""Tools for the passages that are nearest to a question, and for the text of a document or one of its sections."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any

from chatbot.answer import ReaderError
from chatbot.evidence.orders import without_orders
from chatbot.language.characters import as_asked
from chatbot.question.query import understand
from chatbot.retrieval.retriever import LIMIT
from chatbot.retrieval.searching import search
from chatbot.tools.arguments import ReadDocument, SearchSources
from chatbot.tools.tool import Keys, as_title, as_told, counted, described
from ingest import Chunk, Document, Index

_LISTED = 30
_LONGEST_PASSAGE = 2_000
# A piece ends with a line, a sentence or a word if one ends after this share of its length.
_TAIL = 0.75


def search_sources(index: Index, given: SearchSources, keys: Keys) -> dict[str, Any]:
    """Return the passages nearest to a question, best first; the score lies in 0..1."""
    found = search(understand(as_asked(given.query), (), index), index, limit=max(given.limit, LIMIT))
    passages = []
    for passage in found[: given.limit]:
        chunk = passage.chunk
        text = as_told(without_orders(chunk))
        if not text.strip("… \n"):
            continue  # it holds nothing but instructions
        passages.append(
            {
                "key": keys.key(chunk, chunk.start, chunk.end, passage.score),
                **described(chunk),
                "headings": [as_title(heading) for heading in chunk.headings],
                "page": chunk.page,
                "text": text if len(text) <= _LONGEST_PASSAGE else f"{text[:_LONGEST_PASSAGE]}…",
                "score": round(passage.score, 4),
            }
        )
    notes = [] if passages else ["Nothing was found: ask in other words, or look in the tables with find_instances."]
    return {"passages": passages, "notes": notes}


def read_document(index: Index, given: ReadDocument, keys: Keys) -> dict[str, Any]:
    """Return the text from `offset` on, at most `limit` characters; `notes` say where to read on."""
    chunks = _chunks(index, given.source)
    document = chunks[0].document
    beginning, end, headings = _section(chunks, given.section) if given.section else (0, len(document.text), ())
    start = beginning + given.offset
    if start >= end:
        raise ReaderError(f"There are only {end - beginning:,} characters to read: give a smaller offset.")
    stop = _stop(document.text, start, min(start + given.limit, end), end)
    page = next((c.page for c in reversed(chunks) if c.start <= start), None)
    piece = Chunk(f"{document.id}:{start}-{stop}", document, headings, start, stop, document.text[start:stop], page)
    return {
        "key": keys.key(piece, start, stop),
        **described(piece),
        "section": as_title(" > ".join(headings)),
        "offset": given.offset,
        "characters": end - beginning,
        "text": as_told(without_orders(piece)),
        "sections": list(dict.fromkeys(as_title(c.headings[-1]) for c in chunks if c.headings))[:_LISTED],
        "notes": [f"{counted(end - stop, 'character')} follow: read on with offset {stop - beginning}."] if stop < end else [],
    }  # fmt: skip


def _chunks(index: Index, name: str) -> list[Chunk]:
    """Return the chunks of the document with this id, source id, title or file name, or whose title contains the name.

    Raises ReaderError if there is none, or more than one.
    """
    if chunks := index.document_chunks(name):
        return chunks
    wanted = " ".join(name.lower().split())
    documents = index.documents()
    if not wanted or not (found := _called(wanted, documents)):
        near = [as_title(t) for t in get_close_matches(name, [d.title for d in documents], 2, 0.4)]
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "find one with search_sources."
        raise ReaderError(f"There is no document {name!r} in the index: {hint}")
    if len(found) > 1:
        ids = ", ".join(d.id for d in found[:5])
        raise ReaderError(f"{len(found)} documents are called {name!r}: name one by its id, such as {ids}.")
    return index.document_chunks(found[0].id)


def _called(wanted: str, documents: Sequence[Document]) -> list[Document]:
    names = [
        (d, {" ".join(n.lower().split()) for n in (d.source.id, d.title, d.source.title, d.source.original or "")})
        for d in documents
    ]
    return [d for d, called in names if wanted in called] or [d for d, _ in names if wanted in d.title.lower()]


def _section(chunks: Sequence[Chunk], section: str) -> tuple[int, int, tuple[str, ...]]:
    """Return where the first section of this heading, or path of headings, begins and ends, and its headings.

    Raises ReaderError without one.
    """
    wanted = section.lower().strip()
    heading = wanted.split(" > ")[-1]
    # A path may begin with a title that is no heading of the document.
    for is_it in (_ends_with(wanted), _ends_with(heading), lambda path: heading in path.split(" > ")[-1]):
        for first, chunk in enumerate(chunks):
            depths = range(1, len(chunk.headings) + 1)
            depth = next((n for n in depths if is_it(" > ".join(chunk.headings[:n]).lower())), None)
            if depth is not None and wanted:
                headings = chunk.headings[:depth]
                last = first
                while last + 1 < len(chunks) and chunks[last + 1].headings[:depth] == headings:
                    last += 1
                return chunk.start, chunks[last].end, headings
    known = list(dict.fromkeys(as_title(c.headings[-1]) for c in chunks if c.headings))
    hint = f"it has {', '.join(map(repr, known[:8]))}." if known else "it has none, so leave it out."
    raise ReaderError(f"There is no section {section!r} in that document: {hint}")


def _ends_with(wanted: str) -> Callable[[str], bool]:
    return lambda path: f" > {path}".endswith(f" > {wanted}")


def _stop(text: str, start: int, stop: int, end: int) -> int:
    """Return where a piece ends: at `stop`, or after a line, a sentence or a word that ends shortly before."""
    if stop == end:
        return stop
    least = start + int((stop - start) * _TAIL)
    ends = (text.rfind(mark, least, stop) for mark in ("\n", ". ", " "))
    return next((found + 1 for found in ends if found >= 0), stop)
