"""A workload sized: the figures of `wattwise size --json`, and the rows that they are computed from."""

from collections.abc import Iterator
from dataclasses import replace

from chatbot.sizing.render import as_json
from chatbot.sizing.request import workload_of
from chatbot.sizing.sizing import Sizing, size
from chatbot.tools.arguments import SizeWorkload
from chatbot.tools.result import Keys, ToolResult
from chatbot.working import load
from ingest import Index, Row


def size_workload(index: Index, given: SizeWorkload, *, first_key: int = 1) -> ToolResult:
    """What `wattwise size --json` prints, but for what bounds it, and under `rows` the words of the rows that it is computed from.

    Of its `fits` there are the first `limit` and those that are named by "smallest", "cheapest" and their like; their
    `figures`, the arithmetic, stand there where they are asked for.
    """
    index = index.snapshot()
    tables = load(index)
    known = tables.facts if tables.facts.models and tables.facts.instances else None
    sizing = size(workload_of(given.model_dump()), known)
    advised = {id(fit) for fit in (sizing.smallest, sizing.cheapest, sizing.least_energy, sizing.least_carbon)}
    shown = [fit for place, fit in enumerate(sizing.fits) if place < given.limit or id(fit) in advised]
    sizing = replace(sizing, fits=tuple(shown), notes=(*sizing.notes, *_notes(len(sizing.fits) - len(shown))))
    content = as_json(sizing)
    if not given.arithmetic:
        for fit in (*([content["named"]] if sizing.named else []), *content["fits"]):
            del fit["impact"]["figures"]
    keys = Keys(first_key)
    content["rows"] = [
        {
            "key": keys.key(found.passage.chunk, row.start, row.end),
            "document": row.document,
            "start": row.start,
            "end": row.end,
            "text": row.text,
        }
        for row in dict.fromkeys(_inputs(sizing))
        if (found := tables.evidence(row, index))
    ]
    return ToolResult(content, tuple(keys.evidence))


def _notes(left_out: int) -> list[str]:
    return [f"{left_out} more of fits left out: give a greater limit, or name families"] if left_out else []


def _inputs(sizing: Sizing) -> Iterator[Row]:
    """The rows that the memory and the figures of the hardware are computed from."""
    for term in sizing.memory.terms:
        yield from term.inputs
    for fit in (*([sizing.named] if sizing.named else []), *sizing.fits):
        if fit.instance:
            yield fit.instance.row
        if fit.accelerator:
            yield fit.accelerator.row
        if fit.impact and fit.impact.price:
            yield fit.impact.price.row
        for figure in fit.impact.figures if fit.impact and fit.fits else ():
            yield from figure.inputs
