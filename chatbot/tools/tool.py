"""A tool as a value: what a program that offers it must know, and how it is called."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from chatbot.answer import ReaderError
from chatbot.tools.result import ToolResult
from ingest import Index

_A = TypeVar("_A", bound=BaseModel)
_LONGEST_VALUE = 60


class _Function(Protocol):
    def __call__(self, index: Index, given: Any, *, first_key: int = 1) -> ToolResult: ...


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: `arguments` is its schema, `function` takes an index and such arguments."""

    name: str
    title: str
    arguments: type[BaseModel]
    function: _Function

    @property
    def description(self) -> str:
        return " ".join((self.arguments.__doc__ or "").split())

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        return schema_of(self.arguments)

    def call(self, index: Index, given: Mapping[str, Any], *, first_key: int = 1) -> ToolResult:
        """Run the tool with arguments from outside; ReaderError, one sentence with the remedy, for bad ones."""
        return self.function(index, read_arguments(self.name, self.arguments, given), first_key=first_key)


def schema_of(arguments: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema without the titles that repeat the names."""
    schema = arguments.model_json_schema()
    for described in schema.get("properties", {}).values():
        described.pop("title", None)
    return {name: value for name, value in schema.items() if name not in ("title", "description")}


def read_arguments(tool: str, arguments: type[_A], given: Mapping[str, Any]) -> _A:
    """Arguments from outside as their value; ReaderError says of the first bad one what it takes."""
    try:
        return arguments.model_validate(dict(given))
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
    name = ".".join(map(str, wrong["loc"]))
    match wrong["type"]:
        case "missing":
            raise ReaderError(f"{tool} needs {name}: {arguments.model_fields[name].description}")
        case "extra_forbidden":
            raise ReaderError(
                f"{tool} has no argument {name[:_LONGEST_VALUE]!r}: it takes {', '.join(arguments.model_fields)}."
            )
    value = repr(wrong["input"])
    value = value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]}…"
    raise ReaderError(f"{name} of {tool} cannot be {value}: {wrong['msg'][:1].lower()}{wrong['msg'][1:]}.")
