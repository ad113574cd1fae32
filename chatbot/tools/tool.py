"""A tool as a value: what a program that offers it must know, how it is called, and what it returns."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from chatbot.answer import Passage, ReaderError
from chatbot.evidence.instructions import is_instruction
from chatbot.language.characters import shown
from chatbot.verification.citations import Evidence
from ingest import Chunk, Index

_A = TypeVar("_A", bound=BaseModel)
_LONGEST_VALUE = 60
_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The JSON object that a tool answers with, and the evidence to cite for it.

    A `key` in `content` stands for a piece of evidence: `first_key` for `evidence[0]`, and so on. `notes` in `content` say
    what was left out, and how to get it.
    """

    content: dict[str, Any]
    evidence: tuple[Evidence, ...]


@dataclass(slots=True)
class Keys:
    """Numbers evidence while a result is built; the same span of a chunk gets the same key."""

    first: int
    evidence: list[Evidence] = field(default_factory=list)

    def key(self, chunk: Chunk, start: int, end: int, score: float = 1.0) -> int:
        for number, known in enumerate(self.evidence, start=self.first):
            if (known.passage.chunk.id, known.start, known.end) == (chunk.id, start, end):
                return number
        number = self.first + len(self.evidence)
        self.evidence.append(Evidence(Passage(number, chunk, score), start, end))
        return number


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: `arguments` is its schema; `function` takes an index, the arguments, and Keys to number its evidence."""

    name: str
    title: str
    arguments: type[BaseModel]
    function: Callable[[Index, Any, Keys], dict[str, Any]]

    @property
    def description(self) -> str:
        return " ".join((self.arguments.__doc__ or "").split())

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        return schema_of(self.arguments)

    def call(self, index: Index, given: Mapping[str, Any], *, first_key: int = 1) -> ToolResult:
        """Run the tool with arguments from outside; raises ReaderError, one sentence with the remedy, for bad ones."""
        keys = Keys(first_key)
        content = self.function(index.snapshot(), read_arguments(self.name, self.arguments, given), keys)
        return ToolResult(content, tuple(keys.evidence))


def schema_of(arguments: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema, without its description and without titles, which only repeat the names."""
    schema = arguments.model_json_schema()
    for described in schema.get("properties", {}).values():
        described.pop("title", None)
    return {name: value for name, value in schema.items() if name not in ("title", "description")}


def read_arguments(tool: str, arguments: type[_A], given: Mapping[str, Any]) -> _A:
    """Validate arguments from outside; raises ReaderError that says what the first bad one takes."""
    try:
        return arguments.model_validate(dict(given))
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
    name = ".".join(map(str, wrong["loc"]))
    match wrong["type"]:
        case "missing":
            known = arguments.model_fields.get(name)  # None for one inside another, such as history.0.question
            raise ReaderError(f"{tool} needs {name}: {known.description}" if known else f"{tool} needs {name}.")
        case "extra_forbidden":
            raise ReaderError(
                f"{tool} has no argument {name[:_LONGEST_VALUE]!r}: it takes {', '.join(arguments.model_fields)}."
            )
    value = repr(wrong["input"])
    value = value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]}…"
    raise ReaderError(f"{name} of {tool} cannot be {value}: {wrong['msg'][:1].lower()}{wrong['msg'][1:]}.")


def as_told(text: str) -> str:
    """Return a document's text as it is passed on: no invisible characters, and "…" for each heading that gives orders."""
    return shown(_HEADING.sub(lambda line: "…" if is_instruction(line.group()) else line.group(), text))


def as_title(text: str) -> str:
    """Return a title, or "…" for one that gives orders to its reader."""
    return "…" if is_instruction(text) else shown(text)


def described(chunk: Chunk) -> dict[str, Any]:
    """Return where a chunk is from, in the fields that every tool uses."""
    document = chunk.document
    source = document.source
    return {
        "document": document.id,
        "source": source.id,
        "title": as_title(source.title),
        "url": source.url,
        "published": source.published,
    }


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
