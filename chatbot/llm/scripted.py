"""A chat model with scripted replies, for tests, demos and other programs."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.chat_models import generate_from_stream
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from pydantic import ConfigDict, PrivateAttr

Reply = str | BaseException | Sequence[str | BaseException | dict[str, Any]]


class ScriptedChatModel(BaseChatModel):
    """Plays its replies in order, then repeats the last one; or calls `script` with the messages for each reply.

    A reply is a text, an exception to raise, or a sequence of both: pieces that are streamed until the exception. A text is
    streamed in pieces of `piece` characters. Each word counts as a token. With `takes_tools`, a piece may be a tool call:
    {"name": …, "args": {…}}.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    replies: Sequence[Any] = ()
    script: Callable[[list[BaseMessage]], Any] | None = None
    piece: int = 7
    name_of_model: str = "scripted"
    takes_tools: bool = False
    _calls: list[list[BaseMessage]] = PrivateAttr(default_factory=list)

    @property
    def calls(self) -> tuple[tuple[BaseMessage, ...], ...]:
        """The messages of each call so far."""
        return tuple(tuple(messages) for messages in self._calls)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.name_of_model}

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Return this model with the tools bound to it; raises NotImplementedError without `takes_tools`."""
        if not self.takes_tools:
            raise NotImplementedError
        return self.bind(tools=list(tools), **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return generate_from_stream(self._stream(messages, stop, **kwargs))

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        text = ""
        for number, piece in enumerate(self._pieces(self._reply(messages))):
            if isinstance(piece, dict):
                call = tool_call_chunk(name=piece["name"], args=json.dumps(piece["args"]), id=f"call-{number}", index=number)
                yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[call]))
                continue
            text += piece
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=piece))
            if run_manager:
                run_manager.on_llm_new_token(piece, chunk=chunk)
            yield chunk
        yield ChatGenerationChunk(message=AIMessageChunk(content="", usage_metadata=_usage(messages, text)))

    def _reply(self, messages: list[BaseMessage]) -> Reply:
        self._calls.append(list(messages))
        if self.script is not None:
            reply: Reply = self.script(messages)
            return reply
        if not self.replies:
            return ""
        last: Reply = self.replies[min(len(self._calls), len(self.replies)) - 1]
        return last

    def _pieces(self, reply: Reply) -> Iterator[str | dict[str, Any]]:
        if isinstance(reply, str):
            yield from (reply[i : i + self.piece] for i in range(0, len(reply), self.piece))
            return
        for piece in [reply] if isinstance(reply, BaseException | dict) else reply:
            if isinstance(piece, BaseException):
                raise piece
            yield piece


def _usage(messages: Sequence[BaseMessage], text: str) -> UsageMetadata:
    read, written = sum(len(message.text.split()) for message in messages), len(text.split())
    return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)
