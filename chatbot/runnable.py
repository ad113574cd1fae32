"""The retriever and the whole chain as LangChain knows them: both drop into anybody's program.

Apart from `retriever` and `bot`, because a process that only asks must not pay for the import of LangChain.
"""

from collections.abc import Callable, Iterator
from typing import Any, cast

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import ConfigDict

from chatbot.answer import Answer, Passage, Turn
from chatbot.bot import Chatbot
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


class AnswerChain(Runnable[str | dict[str, object], Answer]):
    """A question, or {"question", "history"}, in; the Answer out. `stream` gives the text in pieces, then the Answer.

    `history` holds Turns or (question, answer) pairs. What follows it in a chain gets the Answer either way.
    """

    def __init__(self, bot: Chatbot, cancelled: Callable[[], bool] | None = None) -> None:
        self.bot, self.cancelled = bot, cancelled

    def invoke(self, input: str | dict[str, object], config: RunnableConfig | None = None, **kwargs: Any) -> Answer:
        return self._call_with_config(self._answered, input, config, run_type="chain")

    def stream(
        self, input: str | dict[str, object], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Answer]:
        yield from self.transform(iter([input]), config)

    def transform(
        self, input: Iterator[str | dict[str, object]], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Answer]:
        yield from self._transform_stream_with_config(input, self._streamed, config, run_type="chain")

    def _answered(self, input: str | dict[str, object]) -> Answer:
        return self.bot.ask(*_asked(input), cancelled=self.cancelled)

    def _streamed(self, inputs: Iterator[str | dict[str, object]]) -> Iterator[Answer]:
        *_, last = inputs
        for event in self.bot.stream(*_asked(last), cancelled=self.cancelled):
            if event.kind != "stage":
                # Pieces are text; what comes after this in a chain takes the last value, the Answer.
                yield event.answer or cast(Answer, event.text)


def _asked(input: str | dict[str, object]) -> tuple[str, list[Turn]]:
    if isinstance(input, str):
        return input, []
    turns = cast("list[Turn | tuple[str, str]]", input.get("history") or [])
    return str(input["question"]), [turn if isinstance(turn, Turn) else Turn(*turn) for turn in turns]
