"""The LangChain retriever: LangChain's standard tests, callbacks and filters."""

from typing import Any
from uuid import UUID

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

from chatbot import Chatbot, HybridRetriever, ReaderError, retrieve

QUESTION = "How many Trainium chips are in a trn1.32xlarge?"


class TestHybridRetriever(RetrieversIntegrationTests):
    """LangChain's standard integration tests for retrievers."""

    @pytest.fixture(autouse=True)
    def over_the_corpus(self, bot: Chatbot) -> None:
        self.index = bot.index

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return HybridRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"index": self.index}

    @property
    def retriever_query_example(self) -> str:
        return QUESTION


class Runs(BaseCallbackHandler):
    """Records the callbacks of a retriever's runs."""

    def __init__(self) -> None:
        self.told: list[tuple[str, object]] = []

    def on_retriever_start(self, serialized: object, query: str, *, run_id: UUID, **kwargs: Any) -> None:
        self.told.append((kwargs["name"], query))

    def on_retriever_end(self, documents: object, *, run_id: UUID, **kwargs: Any) -> None:
        self.told.append(("end", documents))

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self.told.append(("error", str(error)))


class AsyncRuns(AsyncCallbackHandler):
    """The same for async programs."""

    def __init__(self) -> None:
        self.told: list[object] = []

    async def on_retriever_end(self, documents: object, *, run_id: UUID, **kwargs: Any) -> None:
        self.told.append(documents)


def test_a_document_is_its_passage_with_its_source_place_and_score(bot: Chatbot) -> None:
    (passage,) = retrieve(bot.index, QUESTION, limit=1)
    chunk, source = passage.chunk, passage.chunk.document.source
    assert HybridRetriever(index=bot.index, k=1).invoke(QUESTION) == [
        Document(
            page_content=chunk.document.text[chunk.start : chunk.end],
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
    ]


def test_a_search_is_a_retriever_run_with_its_documents(bot: Chatbot) -> None:
    runs = Runs()
    found = HybridRetriever(index=bot.index, k=2).invoke(QUESTION, {"callbacks": [runs]})
    assert runs.told == [("HybridRetriever", QUESTION), ("end", found)]


async def test_an_awaited_search_takes_k_and_tells_its_documents(bot: Chatbot) -> None:
    runs = AsyncRuns()
    found = await HybridRetriever(index=bot.index).ainvoke(QUESTION, {"callbacks": [runs]}, k=2)
    assert len(found) == 2
    assert runs.told == [found]


def test_a_filter_says_what_may_be_found(bot: Chatbot) -> None:
    def is_reference(document: Document) -> bool:
        return document.metadata["url"] is not None and "Trainium" in document.page_content

    given = HybridRetriever(index=bot.index, k=3, filter=is_reference).invoke(QUESTION)
    assert HybridRetriever(index=bot.index, k=3).invoke(QUESTION, filter=is_reference) == given
    assert [is_reference(document) for document in given] == [True] * 3


def test_as_many_documents_come_as_are_asked_for(bot: Chatbot) -> None:
    assert len(HybridRetriever(index=bot.index, k=100).invoke(QUESTION)) == 100


def test_less_than_one_document_is_nothing_to_ask_for(bot: Chatbot) -> None:
    runs = Runs()
    sentence = "k is 0: it takes a number of documents from 1 on, for example 12."
    with pytest.raises(ReaderError, match=sentence):
        HybridRetriever(index=bot.index).invoke(QUESTION, {"callbacks": [runs]}, k=0)
    assert runs.told == [("HybridRetriever", QUESTION), ("error", sentence)]


def test_the_older_name_of_k_is_understood(bot: Chatbot) -> None:
    assert HybridRetriever(index=bot.index, limit=2).k == 2


def test_a_lone_surrogate_in_a_question_does_no_harm(bot: Chatbot) -> None:
    retriever = HybridRetriever(index=bot.index, k=2)
    assert retriever.invoke(f"{QUESTION} \ud800") == retriever.invoke(f"{QUESTION} ?")


def test_a_question_without_words_finds_no_more_than_k(bot: Chatbot) -> None:
    assert len(HybridRetriever(index=bot.index, k=1).invoke("?")) <= 1
