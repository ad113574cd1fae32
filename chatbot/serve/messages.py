"""The messages of an OpenAI-compatible chat as a question and the turns before it."""

import re
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, Field

from chatbot.answer import Turn
from chatbot.serve.failures import Failure

# What stands under an answer's text: clients send it back as part of the turn, and it is none.
SOURCES, NOTE = "\n\nSources:\n\n", "\n\nNote: "
_BELOW = re.compile(rf"(?:{SOURCES}(?=\[\d)|{NOTE}).*\Z", re.DOTALL)


class Part(BaseModel):
    """A part of a message; only text is read."""

    type: str
    text: str | None = None


class Message(BaseModel):
    """A message of a chat: `system` and `developer` messages are ignored, the last one is the question."""

    role: str = Field(examples=["user"])
    content: str | list[Part] | None = None


def conversation(messages: Sequence[Message]) -> tuple[str, list[Turn]]:
    """The question that the last message asks, and the turns before it; Failure where there is none, or no text."""
    told = [m for m in messages if m.role not in ("system", "developer")]
    asked: list[str] = []
    history: list[Turn] = []
    for message in told:
        text = _text(message, is_question=message is told[-1])
        if message.role == "user":
            asked.append(text)
        elif asked:
            history.append(Turn("\n".join(asked), _BELOW.sub("", text)))
            asked = []
        elif history:
            before = history.pop()
            history.append(Turn(before.question, f"{before.answer}\n{_BELOW.sub('', text)}"))
    if not asked:
        raise _refused("The last message must be the user's, with the question.")
    return "\n".join(asked), history


def _text(message: Message, *, is_question: bool) -> str:
    if message.role not in ("user", "assistant"):
        raise _refused("wattwise calls no tools: send system, user and assistant messages alone.")
    if not isinstance(message.content, list):
        return message.content or ""
    if is_question and any(part.type != "text" for part in message.content):
        raise _refused("wattwise reads text alone: send the question without pictures, sound and files.")
    return "\n".join(part.text or "" for part in message.content if part.type == "text")


def _refused(text: str) -> Failure:
    return Failure(HTTPStatus.BAD_REQUEST, text)


def check_supported(given: dict[str, Any]) -> None:
    """Raise Failure for a parameter that asks for what there is not; what merely tunes a model is ignored."""
    for name, (is_asked, text) in _UNSUPPORTED.items():
        if is_asked(given.get(name), given):
            raise Failure(HTTPStatus.BAD_REQUEST, text, "unsupported_parameter")


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
