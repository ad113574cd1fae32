"""The part of OpenAI's API that chat clients use: the models, and chat completions, whole or streamed.

Citations stand as footnotes in the text, and in the additional field `wattwise`.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from chatbot.answer import Answer, Turn, Usage
from chatbot.bot import Event
from chatbot.presentation.render import as_json, footnotes, note
from chatbot.serve.client_tasks import task_answer
from chatbot.serve.failures import Failure, failure_of
from chatbot.serve.service import MODELS, NAME, Service, answer_of, check_name
from chatbot.serve.work import while_there

# The notes under an answer's text. Clients send them back as part of the turn, so they are cut off again.
_SOURCES, _NOTE = "\n\nSources:\n\n", "\n\nNote: "
_BELOW = re.compile(rf"(?:{_SOURCES}(?=\[\d)|{_NOTE}).*\Z", re.DOTALL)
# What a page that renders Markdown would load or link; clients are such pages, and documents may contain anything.
_ACTIVE = re.compile(r"!(?=\[)|\](?=\()|<(?=[A-Za-z/!])")
# Proxies that buffer responses would hold a stream back.
_STREAM_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


# Proxies cut streams in which nothing comes for a minute.
_SILENCE_SECONDS = 15.0


class Part(BaseModel):
    """A part of a message; only text is read."""

    type: str
    text: str | None = None


class Message(BaseModel):
    """A message of a chat: `system` and `developer` messages are ignored, the last one is the question."""

    role: str = Field(examples=["user"])
    content: str | list[Part] | None = None


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
    """Return the routes under /v1."""
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
        head = {"id": f"chatcmpl-{uuid4().hex}", "created": int(time.time()), "model": given.model}
        if done := task_answer([(message.role, _said(message)) for message in given.messages]):
            events = _at_once(done)
        else:
            _check_supported(given.model_extra or {})
            events = service.answering(*_conversation(given.messages), given.model)
        if not given.stream:
            return JSONResponse(_whole(head, await answer_of(request, events)))
        steps = _or_silence(events)
        # Wait for the first event for a while, so that a request that cannot be answered at all gets an error status and no stream.
        await while_there(request, anext(steps))
        with_usage = bool(given.stream_options and given.stream_options.include_usage)
        return StreamingResponse(
            _pieces(steps, head, with_usage=with_usage), media_type="text/event-stream", headers=_STREAM_HEADERS
        )

    return router


async def _at_once(answer: Answer) -> AsyncGenerator[Event, None]:
    for event in (Event("stage"), Event("text", answer.text), Event("answer", answer=answer)):
        yield event


def _whole(head: dict[str, Any], answer: Answer) -> dict[str, Any]:
    message = {"role": "assistant", "content": inert(answer.text) + _below(answer), "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    more = {"choices": [choice], "usage": _usage(answer), "wattwise": as_json(answer)}
    return {**head, "object": "chat.completion", **more}


async def _or_silence(events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event | None, None]:
    """Yield the events, and None after some seconds without one."""
    coming = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            done, _ = await asyncio.wait((coming,), timeout=_SILENCE_SECONDS)
            if not done:
                yield None
            elif event := coming.result():
                yield event
                coming = asyncio.ensure_future(anext(events, None))
            else:
                return
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
        await events.aclose()


async def _pieces(
    events: AsyncGenerator[Event | None, None], head: dict[str, Any], *, with_usage: bool
) -> AsyncIterator[str]:
    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _event({**head, "object": "chat.completion.chunk", "choices": [choice], **more})

    yield chunk({"role": "assistant", "content": ""})
    try:
        async with aclosing(events):
            async for step in events:
                if step is None:
                    yield ": still at work\n\n"
                elif step.kind == "text":
                    yield chunk({"content": inert(step.text)})
                elif step.answer is not None:
                    if notes := _below(step.answer):
                        yield chunk({"content": notes})
                    yield chunk({}, "stop", wattwise=as_json(step.answer))
                    if with_usage:
                        yield chunk({}, choices=[], usage=_usage(step.answer))
    except Exception as error:
        yield _event(failure_of(error).body)
    yield "data: [DONE]\n\n"


def _event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n"


def _usage(answer: Answer) -> dict[str, int]:
    """Return the tokens that a language model read and wrote; zeros if none wrote."""
    usage = answer.usage or Usage(0, 0)
    read, written = usage.input_tokens, usage.output_tokens
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _below(answer: Answer) -> str:
    """Return the notes under an answer's text: its sources with the quoted words, and what else its reader should know."""
    notes = "\n\n".join(f"{source}\n{quote}" for source, quote in footnotes(answer))
    return inert((_SOURCES + notes if notes else "") + (_NOTE + note(answer) if note(answer) else ""))


def inert(text: str) -> str:
    """Escape what would load or link something when the text is rendered as Markdown; most texts stay as they are."""
    return _ACTIVE.sub(r"\\\g<0>", text)


def _conversation(messages: Sequence[Message]) -> tuple[str, list[Turn]]:
    """Return the question of the last message, and the turns before it; raises Failure without one, or if it is no text."""
    told = [m for m in messages if m.role not in ("system", "developer")]
    asked: list[str] = []
    history: list[Turn] = []
    for message in told:
        text = _text(message, is_question=message is told[-1])
        if message.role == "user":
            asked.append(text)
            continue
        text = _BELOW.sub("", text)
        if asked:
            history.append(Turn("\n".join(asked), text))
            asked = []
        elif history:
            history[-1] = Turn(history[-1].question, f"{history[-1].answer}\n{text}")
    if not asked:
        raise _refused("The last message must be the user's, with the question.")
    return "\n".join(asked), history


def _text(message: Message, *, is_question: bool) -> str:
    if message.role not in ("user", "assistant"):
        raise _refused("wattwise calls no tools: send system, user and assistant messages alone.")
    if is_question and isinstance(message.content, list) and any(part.type != "text" for part in message.content):
        raise _refused("wattwise reads text alone: send the question without pictures, sound and files.")
    return _said(message)


def _said(message: Message) -> str:
    if not isinstance(message.content, list):
        return message.content or ""
    return "\n".join(part.text or "" for part in message.content if part.type == "text")


def _check_supported(given: dict[str, Any]) -> None:
    """Raise Failure for a parameter that asks for an unsupported feature; those that only tune a model are ignored."""
    for name, (is_asked, text) in _UNSUPPORTED.items():
        if is_asked(given.get(name), given):
            raise _refused(text, "unsupported_parameter")


def _refused(text: str, code: str | None = None) -> Failure:
    return Failure(HTTPStatus.BAD_REQUEST, text, code)


_NO_TOOLS = "wattwise calls no tools: leave out tools and functions."
_UNSUPPORTED: dict[str, tuple[Callable[[Any, dict[str, Any]], Any], str]] = {
    "n": (lambda n, _: n not in (None, 1), "wattwise gives one answer: leave out n, or set it to 1."),
    "tools": (lambda tools, given: tools and given.get("tool_choice") != "none", _NO_TOOLS),
    "functions": (lambda functions, given: functions and given.get("function_call") != "none", _NO_TOOLS),
    "logprobs": (lambda wanted, _: wanted, "wattwise knows no probabilities of tokens: leave out logprobs."),
    "response_format": (
        lambda form, _: form and form != {"type": "text"},
        "wattwise answers in text: leave out response_format, and read the extra field wattwise for the answer as JSON.",
    ),
    "modalities": (lambda kinds, _: kinds and kinds != ["text"], "wattwise answers in text: leave out modalities."),
}
