"""Describe a piece of hardware that a question does no more than name: "H100?", "p5en specs", "tell me about g6e"."""

import re
from collections.abc import Sequence

from chatbot.draft import Draft
from chatbot.figures.hardware_sides import Side, candidates, cells_of, line, sheet_of
from chatbot.language.names import names
from chatbot.question.query import Query
from chatbot.sizing.facts import Accelerator, Facts, Instance, Price, short
from chatbot.table.row_phrases import listed
from chatbot.working import Working, load
from ingest import Index, Row

# Words that ask for no property of what is named.
_FRAME = frozenset(
    ["a", "about", "an", "and", "anything", "are", "at", "aws", "brief", "briefly", "card", "cards", "can", "chip", "chips", "could", "data", "datasheet", "describe", "detail", "details", "do", "does", "ec2", "everything", "exactly", "explain", "facts", "family", "families", "for", "from", "give", "gpu", "gpus", "accelerator", "accelerators", "amazon", "hey", "hi", "i", "in", "info", "information", "instance", "instances", "is", "it", "its", "know", "let", "line", "machine", "machines", "main", "me", "need", "nvidia", "of", "on", "one", "our", "overview", "please", "pls", "quick", "quickly", "s", "series", "sheet", "short", "show", "size", "sizes", "spec", "specs", "specification", "specifications", "summarise", "summarize", "summary", "tell", "the", "their", "them", "there", "this", "type", "types", "us", "vm", "want", "we", "what", "whats", "which", "you"]
)
# It tells two accelerators of one name apart: "A100 80GB".
_MEMORY = re.compile(r"\b\d{2,3} ?gi?b\b")
_MOST = 12


def describe_hardware(query: Query, index: Index) -> Draft | None:
    """Draft what the tables have on the one type, family or accelerator that a question names; None if it asks for more."""
    tables = load(index)
    named = [name for name in names(query.question) if name.kind != "region"]
    if len(named) != 1 or query.history or query.options:
        return None
    rest = f"{query.question[: named[0].start]} {query.question[named[0].start + len(named[0].text) :]}"
    if not _FRAME.issuperset(re.findall(r"[^\W_]+", _MEMORY.sub(" ", rest.lower()))):
        return None
    found = candidates(named[0].name.lower(), query.question, tables.facts) or []
    working = Working(tables, index, [query.question, "BF16 FP8"])
    if found and not found[0].instance and not _MEMORY.search(query.question.lower()):  # "A100" is the one with 40 GB and the one with 80
        found = [Side(found[0].name, sheet) for alike in tables.facts.accelerators.values() if found[0].sheet in alike for sheet in alike]
    lines = _of_sizes(found, working) if found and found[0].instance else [told for side in found for told in _of_accelerator(side, tables.facts, working)]
    return working.draft(*lines) if lines else None


def _of_sizes(sizes: Sequence[Side], working: Working) -> list[str]:
    """The one type, or what the sizes of a family have in common and then each of them."""
    working.say(*(side.name for side in sizes))
    if len(sizes) == 1:
        return [f"{sizes[0].name}: {line(sizes[0], working)}"]
    family, count = sizes[0].name.partition(".")[0], working.say(str(len(sizes)))
    sheets = {short(side.sheet.name): side for side in sizes if side.sheet}
    cards = "".join(f" {name}: {sheet_of(side)} {working.cite(*_rows(side.sheet))}." for name, side in sheets.items())
    having = f", with {listed([f'the {name}' for name in sheets])}" if sheets else ""
    return [f"{family} has {count} sizes{having} {working.cite(*_rows(sizes[0].instance))}.{cards}", *_listed(sizes, working)]


def _listed(sides: Sequence[Side], working: Working) -> list[str]:
    return [f"- {side.name}: {cells_of(side)} {working.cite(*_rows(side.instance, side.price))}." for side in sides[:_MOST]]


def _rows(*held: Accelerator | Instance | Price | None) -> list[Row]:
    return [one.row for one in held if one]


def _of_accelerator(side: Side, facts: Facts, working: Working) -> list[str]:
    """The data sheet of an accelerator, and the types that have it, fewest first."""
    sold = [Side(i.name, side.sheet, i, facts.price(i.name)) for i in facts.instances.values() if side.sheet and facts.accelerator(i) is side.sheet and i.accelerators >= 1]
    sold.sort(key=lambda one: (one.number, one.price.usd_per_hour if one.price else 0.0))
    working.say(side.name, *(one.name for one in sold))
    return [f"{side.name}: {line(side, working)}", *_listed(sold, working)]
