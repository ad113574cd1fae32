"""A parser for the parts of Dockerfile and .dockerignore syntax that this repository uses."""

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class Instruction:
    keyword: str
    arguments: str

    @property
    def words(self) -> list[str]:
        """The elements of the exec form, or the words of the shell form without options such as "--from=wheel"."""
        if self.arguments.startswith("["):
            return list(json.loads(self.arguments))
        return [word for word in shlex.split(self.arguments) if not word.startswith("--")]


@dataclass(frozen=True, slots=True)
class Stage:
    """One build stage; `base` is an image or the name of another stage."""

    base: str
    name: str
    instructions: tuple[Instruction, ...]

    def all(self, keyword: str) -> list[Instruction]:
        return [i for i in self.instructions if i.keyword == keyword]

    def only(self, keyword: str) -> Instruction:
        (instruction,) = self.all(keyword)
        return instruction


def read_stages(text: str) -> list[Stage]:
    stages: list[Stage] = []
    for instruction in _instructions(text):
        if instruction.keyword == "FROM":
            base, *alias = instruction.words
            stages.append(Stage(base, alias[1] if alias else "", ()))
        else:
            last = stages.pop()
            stages.append(Stage(last.base, last.name, (*last.instructions, instruction)))
    return stages


def _instructions(text: str) -> Iterator[Instruction]:
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in re.sub(r"\\\n\s*", "", code).splitlines():
        if line.strip():
            keyword, _, arguments = line.partition(" ")
            yield Instruction(keyword, arguments.strip())


def copied(stage: Stage) -> list[tuple[str, str]]:
    """(source, destination) pairs that a stage copies from the build context."""
    copies = [i for i in stage.all("COPY") if "--from=" not in i.arguments]
    return [(source, i.words[-1]) for i in copies for source in i.words[:-1]]


def is_sent(path: str, patterns: Sequence[str]) -> bool:
    """Whether Docker sends a file to the build: the last pattern that matches it or a parent folder decides."""
    sent = True
    for pattern in patterns:
        if _matches(path, pattern.removeprefix("!")):
            sent = pattern.startswith("!")
    return sent


def _matches(path: str, pattern: str) -> bool:
    """`*` matches within one path component; a pattern that starts with `**/` may match at any depth."""
    parts = PurePosixPath(path).parts
    wanted = PurePosixPath(pattern.removeprefix("**/")).parts
    starts = range(len(parts)) if pattern.startswith("**/") else (0,)
    return any(len(parts) - start >= len(wanted) and all(map(fnmatch, parts[start:], wanted)) for start in starts)


def read_patterns(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
