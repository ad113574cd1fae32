"""The retriever as LangChain knows it: `HybridRetriever` drops into anybody's chain.

Apart from `retriever`, because a process that only asks must not pay for the import of LangChain.
"""

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from chatbot.answer import Passage
from chatbot.retriever import LIMIT, retrieve
from ingest import Index


class HybridRetriever(BaseRetriever):
    """Passages for a query, best first, each as a LangChain document with its source, headings, offsets and score."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    index: Index
    limit: int = LIMIT

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [_document(passage) for passage in retrieve(self.index.snapshot(), query, limit=self.limit)]


def _document(passage: Passage) -> Document:
    chunk = passage.chunk
    source = chunk.document.source
    return Document(
        page_content=chunk.text,
        id=chunk.id,
        metadata={
            "source": source.id,
            "title": source.title,
            "url": source.url,
            "published": source.published,
            "headings": list(chunk.headings),
            "page": chunk.page,
            "start": chunk.start,
            "end": chunk.end,
            "score": passage.score,
        },
    )
