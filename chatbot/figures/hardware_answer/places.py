"""Places: how clean their grids are, and what an amount of energy emits or evaporates there."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chatbot.answer import ReaderError
from chatbot.sizing import Workload
from chatbot.sizing.facts import Grid
from chatbot.sizing.impact import DEFAULT_REGION
from chatbot.working import Working, rounded
from ingest import Row

WITHOUT_PUE = re.compile(r"\b(?:no|without|before|only grid|leaving out|ignore|sin|sans|ohne)\b[^.]{0,20}pue|\b(?:overhead|pue) (?:\w+ )?(?:already|left out)\b|\bit side\b|\bgrid (?:intensity )?only\b")


def of_grids(works: Sequence[Workload], working: Working) -> list[str]:
    """The grids of regions side by side, the cleanest first."""
    facts = working.tables.facts
    regions = dict.fromkeys(work.region for work in works if work.region)
    if not regions:
        raise ReaderError("Name the instance type or the accelerator, such as g6e.xlarge or L40S.")
    grids = sorted((facts.grids[r] for r in regions if r in facts.grids), key=lambda g: g.g_co2_per_kwh)
    if not grids:
        raise ReaderError(f"There is no published grid carbon of {', '.join(map(str, regions))} in the data.")
    working.say("CO2e")
    cleanest, *others = grids
    first = f"{_place(cleanest, working)} has the {'cleaner' if len(others) == 1 else 'cleanest'} grid"
    lines = [f"{first}: {cleanest.g_co2_per_kwh:g} g of CO2e per kWh {working.cite(cleanest.row)}."]
    for grid in others:
        more, less = grid.g_co2_per_kwh, cleanest.g_co2_per_kwh
        times = working.figure(f"{more / less:.3g}", f"{more:g} / {less:g}")
        told = f"{_place(grid, working)}: {more:g} g of CO2e per kWh, {times} times that of {cleanest.region}"
        lines.append(f"- {told} {working.cite(grid.row, cleanest.row)}.")
    return lines


def _place(grid: Grid, working: Working) -> str:
    working.say(grid.region)
    return f"{grid.place} ({grid.region})" if grid.place else grid.region


def evaporated(work: Workload, working: Working) -> str:
    """The water that a given amount of energy takes in a region."""
    region, kwh = work.region or DEFAULT_REGION, work.kwh or 0.0
    centre = working.tables.facts.pue(region)
    if centre is None or centre.litres_per_kwh is None:
        raise ReaderError(f"There is no published water use of {region} in the data.")
    formula = working.say(f"{kwh:g} kWh × {centre.litres_per_kwh:g} litres", region)
    litres = working.figure(f"{rounded(kwh * centre.litres_per_kwh)} litres", formula, kwh)
    return f"{litres} of water in {region}: {formula} {working.cite(centre.row)}."


@dataclass(frozen=True, slots=True)
class _Emission:
    """What an amount of energy emits in one place, in grams, with its arithmetic and its rows."""

    grams: float
    kwh: float
    formula: str
    text: str
    region: str
    rows: tuple[Row, ...]


def of_energy(
    works: Sequence[Workload], working: Working, *, with_pue: bool = True, own: float | None = None, differ: bool = False
) -> list[str]:
    """What a given amount of energy emits in each region, the least first.

    The PUE is one's `own`, or that of the region's data centres unless `with_pue` is False.
    """
    emissions = [_emission(work, working, with_pue=with_pue, own=own) for work in works]
    emissions.sort(key=lambda emission: emission.grams)
    told = [f"- {emission.text}" if len(emissions) > 1 else emission.text for emission in emissions]
    if not differ or len(emissions) < 2:
        return told
    least, most = emissions[0], emissions[-1]
    saved = f"{rounded((most.grams - least.grams) / 1000)} kg"
    text = working.figure(saved, f"({most.formula}) - ({least.formula})", least.kwh, most.kwh, own or 1.0, unit=1000.0)
    return [f"{text} of CO2e less in {least.region} than in {most.region} {working.cite(*least.rows, *most.rows)}.", *told]


def _emission(work: Workload, working: Working, *, with_pue: bool, own: float | None) -> _Emission:
    facts, region, kwh = working.tables.facts, work.region or DEFAULT_REGION, work.kwh or 0.0
    grid, centre = facts.grids.get(region), facts.pue(region)
    if not grid:
        raise ReaderError(f"There is no published grid carbon of {region} in the data.")
    pue = own or (centre.pue if centre and centre.pue and with_pue else None)
    formula = f"{kwh:g} kWh × {f'{pue:g} × ' if pue else ''}{grid.g_co2_per_kwh:g} g"
    grams = kwh * (pue or 1.0) * grid.g_co2_per_kwh
    text = working.figure(f"{rounded(grams / 1000)} kg", formula, kwh, own or 1.0, unit=1000.0)
    working.say(formula, region, "CO2e", f"{pue:g}" if pue else "")
    if pue:
        how = f"with {'your' if own else 'a'} PUE of {pue:g}"
    else:
        how = f"by its grid alone{', for no PUE is published' if with_pue else ''}"
    rows = (grid.row, centre.row) if centre and pue and not own else (grid.row,)
    told = f"{text} of CO2e in {_place(grid, working)}, {how}: {formula} {working.cite(*rows)}."
    return _Emission(grams, kwh, formula, told, region, rows)
