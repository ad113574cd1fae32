"""Passages of the sources for a question."""

from chatbot.characters import as_asked
from chatbot.evidence.orders import without_orders
from chatbot.query import understand
from chatbot.retriever import LIMIT
from chatbot.searching import search
from chatbot.tools.arguments import SearchSources
from chatbot.tools.result import Keys, ToolResult, as_title, as_told, described
from ingest import Index

_LONGEST = 2_000


def search_sources(index: Index, given: SearchSources, *, first_key: int = 1) -> ToolResult:
    """The passages nearest to a question, best first; the score lies in 0..1."""
    index = index.snapshot()
    found = search(understand(as_asked(given.query), (), index), index, limit=max(given.limit, LIMIT))
    keys = Keys(first_key)
    passages = []
    for passage in found[: given.limit]:
        chunk = passage.chunk
        text = as_told(without_orders(chunk))
        if not text.strip("… \n"):
            continue  # nothing in it but orders
        passages.append(
            {
                "key": keys.key(chunk, chunk.start, chunk.end, passage.score),
                **described(chunk),
                "headings": [as_title(heading) for heading in chunk.headings],
                "page": chunk.page,
                "text": text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…",
                "score": round(passage.score, 4),
            }
        )
    notes = [] if passages else ["Nothing was found: ask in other words, or look in the tables with find_instances."]
    return ToolResult({"passages": passages, "notes": notes}, tuple(keys.evidence))
