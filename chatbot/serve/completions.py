"""An answer as the objects of OpenAI's chat completions, with its citations as footnotes and in a field of their own."""

import json
import re
import time
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from chatbot.answer import Answer, Usage
from chatbot.render import as_json, footnotes, note
from chatbot.serve.messages import NOTE, SOURCES

# What a page that renders Markdown would load or link: clients are such pages, and documents may hold anything.
_ACTIVE = re.compile(r"!(?=\[)|\](?=\()|<(?=[A-Za-z/!])")
DONE = "data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer to one request, whole or in chunks that share its id."""

    model: str
    id: str = field(default_factory=lambda: f"chatcmpl-{uuid4().hex}")
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, answer: Answer) -> dict[str, Any]:
        message = {"role": "assistant", "content": inert(answer.text) + below(answer), "refusal": None}
        return {
            **self._head("chat.completion"),
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
            "usage": usage_of(answer),
            "wattwise": as_json(answer),
        }

    def chunk(self, delta: dict[str, Any], answer: Answer | None = None) -> dict[str, Any]:
        """A piece of the answer; the last one carries the answer itself."""
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": "stop" if answer else None}
        last = {"wattwise": as_json(answer)} if answer else {}
        return {**self._head("chat.completion.chunk"), "choices": [choice], **last}

    def usage_chunk(self, answer: Answer) -> dict[str, Any]:
        """What follows the last piece where `stream_options` ask for the usage."""
        return {**self._head("chat.completion.chunk"), "choices": [], "usage": usage_of(answer)}

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


def usage_of(answer: Answer) -> dict[str, int]:
    """The tokens that a language model read and wrote; none where none wrote."""
    usage = answer.usage or Usage(0, 0)
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


def below(answer: Answer) -> str:
    """What stands under an answer's text: its sources with the quoted words, and what else its reader should know."""
    notes = "\n\n".join(f"{source}\n{quote}" for source, quote in footnotes(answer))
    return inert((SOURCES + notes if notes else "") + (NOTE + note(answer) if note(answer) else ""))


def inert(text: str) -> str:
    """A text that loads nothing and links nowhere where it is rendered as Markdown; most are as they were."""
    return _ACTIVE.sub(r"\\\g<0>", text)


def event(data: dict[str, Any]) -> str:
    """A server-sent event."""
    return f"data: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n"
