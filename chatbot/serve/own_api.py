"""wattwise's own API: answers, sizings and passages as JSON, like that of the commands."""

import json
from collections.abc import Callable, Iterator
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from chatbot import deadline
from chatbot.answer import Passage, Turn
from chatbot.language.characters import as_asked, shown
from chatbot.presentation.render import as_json
from chatbot.question.query import understand
from chatbot.retrieval.searching import search
from chatbot.serve.service import NAME, OFFLINE_NAME, Service, answer_of
from chatbot.serve.work import last, while_there
from chatbot.sizing import size
from chatbot.sizing.render import as_json as sizing_as_json
from chatbot.sizing.request import workload_of
from chatbot.tools import Given, WorkloadArguments
from chatbot.working import load

T = TypeVar("T")


class PastTurn(BaseModel, extra="forbid"):
    question: str
    answer: str


class AskRequest(BaseModel, extra="forbid"):
    question: str = Field(examples=["How much memory does a trn1.32xlarge have?"])
    history: list[PastTurn] = Field([], description="The turns before the question, in their order.")
    model: str | None = Field(None, description="offline: answer without the model that the server was started with.")


class SearchRequest(Given, extra="forbid"):
    query: str = Field(examples=["memory of a trn1.32xlarge"])
    limit: int = Field(12, ge=1, le=50, description="How many passages at the most.")


def own_api(service: Service) -> APIRouter:
    """Return the routes /ask, /size and /search."""
    router = APIRouter(tags=["wattwise"])

    async def done(request: Request, work: Callable[[], T]) -> T:
        def steps(is_over: Callable[[], bool]) -> Iterator[T]:
            deadline.begin(service.settings.seconds, is_over)
            yield work()

        return await while_there(request, last(service.work.steps(steps)))

    @router.post("/ask", summary="Answer a question, as `wattwise ask --json` does.")
    async def ask(request: Request, given: AskRequest) -> Response:
        model = {None: NAME, "offline": OFFLINE_NAME}.get(given.model, given.model or "")
        history = [Turn(turn.question, turn.answer) for turn in given.history]
        return JSONResponse(as_json(await answer_of(request, service.answering(given.question, history, model))))

    @router.post("/size", summary="Size a workload, as `wattwise size --json` does.")
    async def size_(request: Request, given: WorkloadArguments) -> Response:
        workload = workload_of(given.model_dump())

        def sized() -> str:
            sizing = sizing_as_json(size(workload, load(service.index.snapshot()).complete_facts))
            return json.dumps(sizing, ensure_ascii=False, allow_nan=False)

        return Response(await done(request, sized), media_type="application/json")

    async def searched(request: Request, query: str, limit: int) -> Response:
        def found() -> dict[str, Any]:
            index, asked = service.index.snapshot(), as_asked(query)
            passages = search(understand(asked, (), index), index, limit=limit)[:limit]
            return {"query": asked, "passages": [_passage(p) for p in passages]}

        return JSONResponse(await done(request, found))

    @router.get("/search", summary="The passages nearest to a query, best first.")
    async def search_get(request: Request, query: str, limit: Annotated[int, Query(ge=1, le=50)] = 12) -> Response:
        return await searched(request, query, limit)

    @router.post("/search", summary="The same, with the query in the body, where no log of addresses has it.")
    async def search_post(request: Request, given: SearchRequest) -> Response:
        return await searched(request, given.query, given.limit)

    return router


def _passage(passage: Passage) -> dict[str, Any]:
    """Return a passage with the fields of a citation; the quote is the document's own text from `start` to `end`."""
    chunk = passage.chunk
    source = chunk.document.source
    return {
        "number": passage.number,
        "source": source.id,
        "original": source.original,
        "title": shown(source.title),
        "url": source.url,
        "headings": [shown(heading) for heading in chunk.headings],
        "page": chunk.page,
        "quote": chunk.text,
        "start": chunk.start,
        "end": chunk.end,
        "score": passage.score,
    }
