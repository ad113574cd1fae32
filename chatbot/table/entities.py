"""The things that fact tables describe, as questions name them: regions, models, accelerators."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from chatbot.answer import REFUSAL
from chatbot.sizing.reading.wording import listed
from chatbot.table.bounds import Reading

_CODE = r"(?:af|ap|ca|cn|eu|il|me|mx|sa|us)-(?:gov-)?(?:central|(?:north|south)?(?:east|west)?)-\d"
_KINDS = r"(?:['’]s)?(?: (?:tensor core )?(?:gpu|accelerator|chip|card)s?)?"
_MAKER = re.compile(r"^(?:nvidia|aws|amd|habana|intel|xilinx|qualcomm|google) | (?:gpu|chip|fpga|(?:media )?accelerator)$")
_MAKERS = r"(?:nvidia |amd |aws |habana |intel |qualcomm |google )?"
# Suffixes that a question may omit from a model's name, or add to it: other weights of the same architecture.
_VARIANT = re.compile(r"^(?:instruct|it|chat|hf|base|v|0\.\d|\d+e|a\d+b|17b|bf16|uncased|preview|patch\d*|224|16|1\.0)$")
_ADDED = r"(?:[ _-](?:instruct|it|chat|hf|base))*"
_TOKEN = re.compile(r"\d+(?:\.\d+)*[a-z]?\d*[a-z]?(?![a-z])|[a-z]+|\d+")


@cache
def vocabulary() -> dict[str, Any]:
    """The words that questions use for the columns, and for some of the things, of fact tables (facts.toml)."""
    read: dict[str, Any] = tomllib.loads(resources.files("chatbot.table").joinpath("facts.toml").read_text(encoding="utf-8"))
    for header, names in read["formats"].items():
        words = [read["format"]["words"].replace("NAMES", names), *filter(None, [read["format"]["unnamed"].get(header)])]
        read["Accelerator"][header] = {"words": "|".join(words), "says": f"reaches {{}} in {header}"}
    return read


@cache
def accelerator_names(cell: str) -> frozenset[str]:
    """The names that people use for an accelerator, in lower case, without maker and kind."""
    if cell.lower() in ("", "none"):
        return frozenset()
    name = _MAKER.sub("", _MAKER.sub("", cell.lower()))
    first, _, rest = name.partition(" ")
    is_name = first.isalpha() and not re.match(r"v?\d", rest)  # "TPU" alone is no name: it needs its generation
    return frozenset({name, *([first] if is_name else []), *vocabulary()["aliases"].get(cell, ())})


def take_regions(reading: Reading) -> tuple[str, ...]:
    """Take the AWS Regions that a text names, by code or place. They are returned in lower case."""
    found = [(match.start(), match.group()) for match in reading.take(rf"(?<![\w-]){_CODE}(?![\w-])")]
    for region, places in listed("regions"):
        found += [(match.start(), region) for match in reading.take(places.pattern)]
    return tuple(dict.fromkeys(region for _, region in sorted(found)))


_APART_FROM = re.compile(r"\b(?:not in|outside(?: of)?|except(?: for| in)?|excluding|other than(?: in)?|but(?: not)? in|apart from) (?:the )?\s*\|")


def excludes_region(text: str) -> bool:
    """Whether a text wants what is anywhere but in a Region: "not in us-east-1", "outside Virginia"."""
    reading = Reading(" ".join(text.lower().split()))
    return bool(take_regions(reading) and _APART_FROM.search(reading.text))


def ask_region(priced: Iterable[str]) -> str:
    """The refusal of prices anywhere but in a Region."""
    return f"{REFUSAL} The data has prices in {' and '.join(sorted(priced))}: name the Region whose prices you want."


def take_names(reading: Reading, key: str, names: Iterable[str]) -> tuple[str, ...]:
    """Take the known things of one kind that a text names. They are returned as the tables write them."""
    known = tuple(names)
    if key == "Region":
        there = {name.lower(): name for name in known}
        return tuple(there.get(region, region) for region in take_regions(reading))
    found: list[tuple[int, str]] = []
    for needed, pattern, meant in _patterns(key, known):
        if needed in reading.text:
            found += [(match.start(), name) for match in reading.take(pattern) for name in meant]
    return tuple(dict.fromkeys(name for _, name in sorted(found)))


@lru_cache(maxsize=8)
def _patterns(key: str, names: tuple[str, ...]) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """The ways to write each thing, longest first: a word of it, its pattern, and the things that it means.

    "mistral 7b" means several things. The word is a quick test: hundreds of patterns are tried on each question, and
    without its word none matches.
    """
    written: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        for alias in _model_aliases(name) if key == "Model" else sorted(accelerator_names(name)):
            written.setdefault(alias, []).append(name)
    ordered = sorted(written, key=len, reverse=True)
    return tuple((max(alias.split(" "), key=len), _pattern(key, alias), tuple(dict.fromkeys(written[alias]))) for alias in ordered)


def _pattern(key: str, alias: str) -> str:
    if key == "Model":
        joined = r"[\s_-]*".join(re.escape(token) for token in alias.split(" "))
        return rf"(?<![\w.])(?:(?<!-)[\w-]++/)?(?:meta[ -])?{joined}{_ADDED}(?!\w|\.\d)"
    if key == "Accelerator":
        return rf"(?<![\w.-]){_MAKERS}{re.escape(alias)}{_KINDS}(?![\w-])|(?<![\w.-]){re.escape(alias)}s(?![\w-])"
    return rf"(?<![\w.-]){re.escape(alias)}(?![\w-])"


def _model_aliases(name: str) -> list[str]:
    """ "meta-llama/Meta-Llama-3.1-70B-Instruct" -> "llama 3.1 70b instruct", "llama 3.1 70b"."""
    tokens = _TOKEN.findall(name.lower().rsplit("/", 1)[-1].removeprefix("meta-"))
    found = [" ".join(tokens)]
    while len(tokens) > 2 and _VARIANT.match(tokens[-1]):
        tokens = tokens[:-1]
        found.append(" ".join(tokens))
    return found
