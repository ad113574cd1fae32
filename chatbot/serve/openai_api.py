"""OpenAI's API as far as chat clients use it: the models, and chat completions whole or streamed."""

import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from chatbot.bot import Event
from chatbot.serve.completions import DONE, Completion, below, event, inert
from chatbot.serve.failures import failure_of
from chatbot.serve.messages import Message, check_supported, conversation
from chatbot.serve.service import MODELS, NAME, Service, check_name
from chatbot.serve.work import last, while_there

# Proxies that gather what they pass on would keep a stream back.
_STREAM_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class StreamOptions(BaseModel):
    include_usage: bool | None = Field(None, description="Whether a last chunk tells the tokens that were used.")


class ChatRequest(BaseModel):
    """The question is the last message; parameters that are not listed here are ignored."""

    model_config = ConfigDict(extra="allow")

    model: str = Field(NAME, description=f"One of {', '.join(MODELS)}.")
    messages: list[Message] = Field(min_length=1, description="The conversation; its last message asks the question.")
    stream: bool | None = Field(None, description="Whether the answer comes in pieces, as server-sent events.")
    stream_options: StreamOptions | None = None


def openai_api(service: Service) -> APIRouter:
    """The routes under /v1."""
    router = APIRouter(prefix="/v1", tags=["As OpenAI's API"])
    started = int(time.time())

    def described(name: str) -> dict[str, Any]:
        return {"id": name, "object": "model", "created": started, "owned_by": "wattwise"}

    @router.get("/models", summary="The models that may be asked.")
    async def models() -> dict[str, Any]:
        return {"object": "list", "data": [described(name) for name in MODELS]}

    @router.get("/models/{name}", summary="One of the models.")
    async def model(name: str) -> dict[str, Any]:
        check_name(name)
        return described(name)

    @router.post("/chat/completions", summary="Answer the last message; the extra field wattwise holds the citations.")
    async def chat_completions(request: Request, given: ChatRequest) -> Response:
        check_supported(given.model_extra or {})
        question, history = conversation(given.messages)
        events, completion = service.answering(question, history, given.model), Completion(given.model)
        if not given.stream:
            found = await while_there(request, last(events))
            assert found.answer is not None
            return JSONResponse(completion.whole(found.answer))
        # What cannot be answered at all is told by the status: the stream begins with the first event.
        await while_there(request, anext(events))
        with_usage = given.stream_options is not None and bool(given.stream_options.include_usage)
        pieces = _pieces(events, completion, with_usage=with_usage)
        return StreamingResponse(pieces, media_type="text/event-stream", headers=_STREAM_HEADERS)

    return router


async def _pieces(
    events: AsyncGenerator[Event, None], completion: Completion, *, with_usage: bool
) -> AsyncIterator[str]:
    yield event(completion.chunk({"role": "assistant", "content": ""}))
    try:
        async with aclosing(events):
            async for step in events:
                if step.kind == "text":
                    yield event(completion.chunk({"content": inert(step.text)}))
                elif step.answer is not None:
                    if notes := below(step.answer):
                        yield event(completion.chunk({"content": notes}))
                    yield event(completion.chunk({}, step.answer))
                    if with_usage:
                        yield event(completion.usage_chunk(step.answer))
    except Exception as error:
        yield event(failure_of(error).body)
    yield DONE
