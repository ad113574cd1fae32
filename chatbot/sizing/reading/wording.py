"""How things are worded: the tables of `wording.toml`, each name with its pattern."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

from chatbot.sizing.goals import Goal
from chatbot.sizing.reading.text import Reading


@cache
def wording() -> dict[str, Any]:
    return tomllib.loads(resources.files("chatbot.sizing").joinpath("wording.toml").read_text(encoding="utf-8"))


def any_of(written: Sequence[str]) -> re.Pattern[str]:
    """Compile alternatives that are whole words."""
    # Only Latin letters, digits and some signs continue a word, so that a word may touch another script.
    return re.compile(rf"(?<![a-z0-9_.\u00df-\u017f])(?:{'|'.join(written)})(?![a-z0-9_\u00df-\u017f])")


@cache
def listed(table: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The names in a table of wordings, such as regions, each with its pattern."""
    return tuple((name, any_of(written)) for name, written in wording()[table].items())


def take_listed(reading: Reading, table: str) -> list[str]:
    """Mask the entries of a table of wordings that a text contains, and return their names in text order."""
    found: list[tuple[int, str]] = []
    for name, pattern in listed(table):
        found += [(match.start(), name) for match in reading.take(pattern)]
    return [name for _, name in sorted(found)]


@cache
def _models() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(rf"(?<!\w){written}"), name) for written, name in wording()["models"].items())


@cache
def lines() -> tuple[tuple[re.Pattern[str], dict[str, list[str]]], ...]:
    lines = sorted(wording()["lines"].items(), key=lambda line: "\\d" not in line[0] and " ?" not in line[0])
    return tuple((any_of([written]), means) for written, means in lines)


@cache
def goal_patterns() -> dict[Goal, re.Pattern[str]]:
    hardware = wording()["words"]["hardware"]
    goals = wording()["goals"].items()
    return {Goal(name): any_of([w.replace("{hardware}", hardware) for w in written]) for name, written in goals}


def take_goals(reading: Reading) -> frozenset[Goal]:
    return frozenset(goal for goal, pattern in goal_patterns().items() if reading.take(pattern))


def renamed(text: str) -> str:
    """Return the text with models and accelerators named as in the tables."""
    for written, name in _models():
        text = written.sub(name, text)
    return text
