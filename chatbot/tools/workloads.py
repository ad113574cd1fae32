"""Size a workload: the figures of `wattwise size --json`, and the rows that they are computed from."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from chatbot.sizing.render import as_json
from chatbot.sizing.request import workload_of
from chatbot.sizing.sizing import Sizing, size
from chatbot.tools.arguments import SizeWorkload
from chatbot.tools.tool import Keys
from chatbot.working import load
from ingest import Index, Row


def size_workload(index: Index, given: SizeWorkload, keys: Keys) -> dict[str, Any]:
    """Return a shortened `wattwise size --json`, and under `rows` the text of the rows that it is computed from.

    `fits` has the first `limit` entries and those that other fields name: smallest, cheapest, with the least energy or
    carbon, cheapest of the named kind, and alternatives. Their `figures`, the arithmetic, are included only if asked for.
    """
    tables = load(index)
    sizing = size(workload_of(given.model_dump()), tables.complete_facts)
    named = (sizing.smallest, sizing.cheapest, sizing.least_energy, sizing.least_carbon, sizing.named_cheapest, *sizing.alternatives)
    names = {fit.name for fit in named if fit}
    shown = [fit for place, fit in enumerate(sizing.fits) if place < given.limit or fit.name in names]
    left_out = len(sizing.fits) - len(shown)
    notes = [f"{left_out} more of fits left out: give a greater limit, or name families"] if left_out else []
    sizing = replace(sizing, fits=tuple(shown), notes=(*sizing.notes, *notes))
    content = as_json(sizing)
    if not given.arithmetic:
        for fit in (*([content["named"]] if sizing.named else []), *content["fits"]):
            del fit["impact"]["figures"]
    content["rows"] = [
        {
            "key": keys.key(found.passage.chunk, row.start, row.end),
            **{name: getattr(row, name) for name in ("document", "start", "end", "text")},
        }
        for row in dict.fromkeys(_inputs(sizing))
        if (found := tables.evidence(row, index))
    ]
    return content


def _inputs(sizing: Sizing) -> Iterator[Row]:
    """Yield the rows that the memory and the figures of the hardware are computed from."""
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
