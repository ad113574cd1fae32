"""The retriever as a LangChain retriever: it fits into any chain, and callbacks and LangSmith see its runs.

Separate from `retriever`, so that a process that only asks does not pay for the import of LangChain.
"""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ensure_config, run_in_executor
from langchain_core.runnables.config import get_callback_manager_for_config
from pydantic import AliasChoices, ConfigDict, Field

from chatbot.answer import Passage, ReaderError
from chatbot.retrieval.retriever import LIMIT, retrieve
from ingest import Chunk, Index

Filter = Callable[[Document], bool]


class HybridRetriever(BaseRetriever):
    """Passages for a query as LangChain documents, best first, found by words and meaning in the index as it is now.

    Metadata: `source` (its id), `title`, `url`, `published`, `headings`, `page`, `start` and `end` (offsets in the
    document's text) and `score` in 0..1.

    `filter` decides by a document's text and metadata (all but the score) whether it may be found. It is asked about
    the nearest few hundred chunks, so a strict one may leave fewer than `k`. `k` and `filter` can also be given to
    `invoke`. `limit` is another name of `k`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    index: Index
    k: int = Field(LIMIT, validation_alias=AliasChoices("k", "limit"))
    filter: Filter | None = None

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        filter: Filter | None = None,
    ) -> list[Document]:
        limit, wanted = self.k if k is None else k, filter or self.filter
        if limit < 1:
            raise ReaderError(f"k is {limit}: it takes a number of documents from 1 on, for example {LIMIT}.")
        passages = retrieve(
            self.index.snapshot(),
            query.encode(errors="replace").decode(),  # JSON may hold a lone surrogate, which no engine takes
            limit=limit,
            among=None if wanted is None else lambda chunk: wanted(_document(chunk)),
        )
        return [as_document(passage) for passage in passages]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **given: Any
    ) -> list[Document]:
        # The base class would not pass on the arguments of `ainvoke`.
        return await run_in_executor(
            None, self._get_relevant_documents, query, run_manager=run_manager.get_sync(), **given
        )


def retrieved(query: str, search: Callable[[], Sequence[Passage]]) -> Sequence[Passage]:
    """Run a search for a query, and report it to LangChain's callbacks as a retriever run of the current chain."""
    run = get_callback_manager_for_config(ensure_config()).on_retriever_start(None, query, name="search")
    try:
        found = search()
    except BaseException as error:
        run.on_retriever_error(error)
        raise
    run.on_retriever_end([as_document(passage) for passage in found])
    return found


def as_document(passage: Passage) -> Document:
    """A passage as a LangChain document."""
    document = _document(passage.chunk)
    document.metadata["score"] = passage.score
    return document


def _document(chunk: Chunk) -> Document:
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
        },
    )
