"""Convert between LangChain messages and our own values: a question and its history in, an answer out."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    MessageLikeRepresentation,
    convert_to_messages,
)
from langchain_core.messages.ai import UsageMetadata
from langchain_core.prompt_values import PromptValue

from chatbot.answer import Answer, ReaderError, Turn
from chatbot.presentation.render import as_json

Asked = str | PromptValue | BaseMessage | Sequence[MessageLikeRepresentation] | Mapping[str, Any]

_QUESTION_KEYS = ("question", "input", "messages")
_HISTORY_KEYS = ("history", "chat_history")
_ROLES = frozenset({"human", "user", "ai", "assistant", "system"})
_REMEDY = 'Give a text, messages of which one is human, or {"question": …, "history": […]}.'
_MARK = re.compile(r"\s*\[\d+\]")


def asked(input: Asked) -> tuple[str, list[Turn]]:
    """Return the question in an input, and the turns before it.

    Among messages, the last human one is the question and those before it are the history; system and tool messages are
    left out. In a mapping, "question", "input" or "messages" holds the question, and "history" or "chat_history" holds
    messages, Turns or (question, answer) pairs. Raises ReaderError for an input without a question.
    """
    if isinstance(input, str):
        return str(input), []
    if isinstance(input, Mapping):
        question, turns = asked(_first(input, _QUESTION_KEYS))
        return question, [*_turns(_first(input, _HISTORY_KEYS) or ()), *turns]
    *before, last = _up_to_the_question(_messages(input))
    return str(last.text), _exchanges(before)


def _first(input: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((input[key] for key in keys if input.get(key) is not None), None)


def _turns(history: Any) -> list[Turn]:
    if isinstance(history, Sequence) and all(map(_is_turn, history)):
        return [turn if isinstance(turn, Turn) else Turn(*turn) for turn in history]
    return _exchanges(_messages(history))


def _is_turn(item: object) -> bool:
    """Whether this is a Turn or a (question, answer) pair; ("human", "Which chip?") is a LangChain message."""
    if isinstance(item, list | tuple):
        return len(item) == 2 and all(isinstance(text, str) for text in item) and item[0] not in _ROLES
    return isinstance(item, Turn)


def _messages(given: Any) -> list[BaseMessage]:
    if isinstance(given, BaseMessage):
        return [given]
    if isinstance(given, str) or not isinstance(given, Sequence | PromptValue):
        raise ReaderError(f"The input of the chain cannot be read ({type(given).__name__}). {_REMEDY}")
    try:
        return convert_to_messages(given)
    except (ValueError, NotImplementedError) as error:
        raise ReaderError(f"The messages cannot be read. {_REMEDY}") from error


def _up_to_the_question(messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    places = [place for place, message in enumerate(messages) if isinstance(message, HumanMessage)]
    if not places:
        raise ReaderError(f"The messages ask nothing. {_REMEDY}")
    return messages[: places[-1] + 1]


def _exchanges(messages: Iterable[BaseMessage]) -> list[Turn]:
    """Pair each human message with the last AI text after it. In earlier ones an agent talks about its tools."""
    turns: list[Turn] = []
    for message in messages:
        text = str(message.text)
        if isinstance(message, HumanMessage):
            turns.append(Turn(text, ""))
        elif isinstance(message, AIMessage) and text and turns:
            turns[-1] = Turn(turns[-1].question, text)
    return turns


def as_message(answer: Answer) -> AIMessage:
    """Return an answer as a message in LangChain's standard content: one text block with its citations as annotations.

    A citation has the quoted words as `cited_text`, the claim's place in the text as `start_index` and `end_index`, and its
    object from `wattwise ask --json` as `extras`. `response_metadata` has the rest of the answer.
    """
    return AIMessage(
        content=[{"type": "text", "text": answer.text, "annotations": _annotations(answer)}], **_metadata(answer)
    )


def as_piece(text: str) -> AIMessageChunk:
    """Return a piece of an answer's text as a message chunk."""
    return AIMessageChunk(content=[{"type": "text", "text": text, "index": 0}])


def as_end(answer: Answer) -> AIMessageChunk:
    """Return the last chunk of a message whose text came in pieces: all that `as_message` has besides the text."""
    return AIMessageChunk(
        content=[{"type": "text", "text": "", "index": 0, "annotations": _annotations(answer)}],
        chunk_position="last",
        **_metadata(answer),
    )


def _annotations(answer: Answer) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for citation in as_json(answer)["citations"]:
        place = _place(citation["claim"], answer.text)
        given = {"url": citation["url"], "title": citation["title"], "cited_text": citation["quote"]}
        indexes = {} if place is None else {"start_index": place[0], "end_index": place[1]}
        told = {name: value for name, value in given.items() if value is not None}
        found.append({"type": "citation", **told, **indexes, "extras": citation})
    return found


def _place(claim: str, text: str) -> tuple[int, int] | None:
    """Return the span of a claim in a text whose citation marks stand between a sentence's words and its full stop."""
    marked = {place for mark in _MARK.finditer(text) for place in range(*mark.span())}
    places = [place for place in range(len(text)) if place not in marked]
    words = claim.strip(" .:;")
    start = "".join(text[place] for place in places).find(words)
    return None if start < 0 or not words else (places[start], places[start + len(words) - 1] + 1)


def _metadata(answer: Answer) -> dict[str, Any]:
    told = as_json(answer)
    metadata = {
        "output_version": "v1",
        "model_name": answer.model,
        **{name: told[name] for name in ("refused", "choices", "seconds", "footprint")},
        **{name: getattr(answer, name) for name in ("cost", "dropped", "notice")},
    }
    if answer.usage is None:
        return {"response_metadata": metadata}
    read, written = answer.usage.input_tokens, answer.usage.output_tokens
    usage = UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)
    return {"response_metadata": metadata, "usage_metadata": usage}
