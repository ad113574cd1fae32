"""The tools of `chatbot.tools` for a language model: its calls are run within bounds; results can be cited like passages."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from chatbot.answer import Passage, ReaderError
from chatbot.deadline import check
from chatbot.llm.prompts import as_data
from chatbot.offline import rows_told
from chatbot.question.query import Query
from chatbot.table.filters import types_in
from chatbot.tools import TOOLS
from chatbot.verification.citations import Evidence
from chatbot.working import load
from ingest import Index

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, ToolMessage

# The most calls that are run in one round, and the most characters of a result.
_CALLS, _LONGEST = 4, 16_000
# The most rows that a model reads besides its passages, and the most named types whose rows are looked up.
_ROWS, _TYPES = 24, 8
_BY_NAME = {tool.name: tool for tool in TOOLS}
_NO_TOOLS = re.compile(r"\btools?\b|function[ -]?call", re.IGNORECASE)


def rows_for(query: Query, passages: Sequence[Passage], index: Index, found: Sequence[Evidence] = ()) -> tuple[Evidence, ...]:
    """Return what tools have found, the table rows that a question is about, and those of the types it names; none for
    an exam question."""
    if query.options:
        return ()
    named = types_in(query.standalone, load(index).known.types)
    of_types = _BY_NAME["find_instances"].call(index, {"names": named[:_TYPES]}).evidence if named else ()
    return tuple(dict.fromkeys((*found, *rows_told(query, passages, index), *of_types)))[:_ROWS]


def specifications() -> list[dict[str, Any]]:
    """Return the tools in the form that LangChain's `bind_tools` takes for every provider."""
    return [
        {"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema}}
        for tool in TOOLS
    ]


def takes_none(error: BaseException) -> bool:
    """Whether an error says that a model, or its server, does not support tools."""
    return isinstance(error, NotImplementedError) or bool(_NO_TOOLS.search(str(error)))


def run(message: AIMessage, index: Index, evidence: list[Evidence], *, is_last: bool) -> Sequence[ToolMessage]:
    """Run the called tools and return their messages; `evidence` gains what their keys stand for. The last ones that are
    run ask for the answer."""
    from langchain_core.messages import ToolMessage

    told: list[ToolMessage] = []
    for number, call in enumerate(message.tool_calls):
        check()
        text, status = _TOO_MANY, "error"
        if number < _CALLS:
            text, status = _result(call["name"], call["args"], index, evidence)
        told.append(ToolMessage(text, tool_call_id=call["id"] or "", name=call["name"], status=status))
    told += [
        ToolMessage(f"The arguments are no JSON: {call['error'] or 'send one object'}.", tool_call_id=call["id"] or "", name=call["name"] or "", status="error")
        for call in message.invalid_tool_calls
    ]
    if is_last:
        told[-1].content = f"{told[-1].text}\n{_ANSWER_NOW}"
    return told


_ANSWER_NOW = "No more calls are run: answer now, from what you have."
_TOO_MANY = f"At most {_CALLS} calls at a time are run: call again what is still needed."


def _result(name: str, given: Any, index: Index, evidence: list[Evidence]) -> tuple[str, str]:
    if name not in _BY_NAME:
        return f"There is no tool {name!r}: there are {', '.join(_BY_NAME)}.", "error"
    try:
        result = _BY_NAME[name].call(index, given, first_key=len(evidence) + 1)
    except ReaderError as error:
        return str(error), "error"
    text = as_data(json.dumps(result.content, ensure_ascii=False, separators=(",", ":")))
    if len(text) > _LONGEST:
        return f"That is too much to read at once ({len(text):,} characters): ask for less, with a smaller limit or more conditions.", "error"
    evidence += result.evidence
    return text, "success"
