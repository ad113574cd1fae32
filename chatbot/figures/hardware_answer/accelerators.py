"""What accelerators draw, consume, emit or take in water by themselves, without the machine around them."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from chatbot.answer import REFUSAL, ReaderError
from chatbot.figures.hardware_answer.machines import sheets_of
from chatbot.figures.hardware_answer.places import WITHOUT_PUE, evaporated, of_energy
from chatbot.figures.hardware_answer.spans import NUMBERS, SPAN, spans_of, written
from chatbot.sizing import Workload
from chatbot.sizing.facts import Accelerator, short
from chatbot.sizing.goals import Goal
from chatbot.sizing.impact import accelerator_watts
from chatbot.working import Working, article, capital, percent, rounded

_IDLE = re.compile(r"\bidl\w+|\bleerlauf|\bstandby\b|\bau repos\b|\binactiv\w+")
_AT_MOST = re.compile(r"\bmax|\bpeak|\bfull (?:load|power|tilt)")


def of_accelerators(works: Sequence[Workload], question: str, working: Working, *, goals: Collection[Goal] = (), differ: bool = False) -> list[str]:
    """What accelerators draw, consume over a time span, emit or take in water, without the machine around them."""
    # Sheets with the same power are told once: the A100 with 40 GB and the one with 80 GB draw the same.
    pairs = [(work, sheet) for work in works for sheet in reversed(sheets_of(work, working.tables.facts))]
    equal = {(work, sheet.name, sheet.idle_w, sheet.max_w): (work, sheet) for work, sheet in pairs}
    known = [(work, sheet) for work, sheet in equal.values() if sheet.max_w is not None]
    unknown = [sheet for _, sheet in equal.values() if sheet.max_w is None]
    if unknown and not known:
        names = " or the ".join(short(sheet.name) for sheet in unknown)
        raise ReaderError(f"{REFUSAL} There is no published power figure of the {names} in the data.")
    silent = [f"There is no published power figure of the {short(s.name)} in the data {working.cite(s.row)}." for s in unknown]
    known.sort(key=lambda pair: (pair[1].max_w or 0.0) * _number_of(pair[0]), reverse=True)
    idle = any(work.load == 0 for work in works) or bool(_IDLE.search(question))
    idle = idle and not _AT_MOST.search(question)
    told: list[str] = []
    watt_hours = ((work, _watts(work, sheet, idle=idle)[0] * _hours_of(work, question)[1]) for work, sheet in known)
    energies = [replace(work, kwh=amount / 1000) for work, amount in watt_hours]
    if Goal.WATER in goals:
        told = [evaporated(work, working) for work in energies]
    elif Goal.CARBON in goals and known:
        told = of_energy(energies, working, with_pue=not WITHOUT_PUE.search(question), differ=differ)
    told += [_draws(work, sheet, question, working, idle=idle) for work, sheet in known]
    differ = len({(sheet.max_w or 0.0) * _number_of(work) for work, sheet in known}) > 1
    if differ and len({work.accelerator for work, _ in known}) > 1:
        draws = "draw" if _number_of(known[0][0]) > 1 else "draws"
        told.insert(0, f"{capital(_several(*known[0], working))} {draws} more.")
    return [*told, *silent]


def _number_of(work: Workload) -> int:
    return (work.accelerators or 1) * (work.instances or 1)


def _hours_of(work: Workload, question: str) -> tuple[str, float]:
    """The time span that energy is asked for: that of the question, else a month."""
    spans = spans_of(work, question)
    if work.hours or work.tokens_per_second or len(spans) == 1:
        return spans[0]
    return "a month of 730 hours", 730.0


def _watts(work: Workload, sheet: Accelerator, *, idle: bool) -> tuple[float, str, str]:
    """The power of the accelerators together, in W, its arithmetic and the state: idle, at the given load, or else at most."""
    number = _number_of(work)
    if idle and sheet.idle_w is not None:
        return number * sheet.idle_w, f"{number} × {sheet.idle_w:g}", "idle"
    partly = work.load and work.load < 1 and not work.tokens_per_second
    if partly and work.load and (each := accelerator_watts(sheet, work.load)) is not None:
        formula = f"{number} × ({sheet.idle_w:g} + {work.load:g} × ({sheet.busy_w:g} - {sheet.idle_w:g}))"
        return number * each, formula, f"at {percent(work.load)} load"
    return number * (sheet.max_w or 0.0), f"{number} × {sheet.max_w:g}", "at most"


def _several(work: Workload, sheet: Accelerator, working: Working) -> str:
    number, name = _number_of(work), short(sheet.name)
    working.say(f"{number} × {name}", name)
    return f"{number} × {name}" if number > 1 else f"{article(name)} {name}"


def _draws(work: Workload, sheet: Accelerator, question: str, working: Working, *, idle: bool) -> str:
    number, memory = _number_of(work), working.say(sheet.row.cells.get("Memory", ""))
    watts, formula, state = _watts(work, sheet, idle=idle)
    numbers = (*NUMBERS, float(number), work.load or 1.0)
    drawn = f"{_several(work, sheet, working)} ({memory}) draw{'' if number > 1 else 's'}"
    figures = [working.figure(f"{rounded(watts)} W", formula, *numbers) + " " + working.say(state)]
    if number > 1:
        figures.append(working.figure(f"{rounded(watts / number)} W", f"({formula}) / {number}", *numbers) + " each")
    others = ((sheet.idle_w, "idle"), (sheet.max_w, "at most"))
    figures += [f"{rounded(other)} W {name}" for other, name in others if other is not None and name != state]
    counted = ""
    if sheet.ccf_max_w and sheet.ccf_max_w != sheet.max_w:
        counted = f"; Cloud Carbon Footprint takes {sheet.ccf_max_w:g} W for the most"
    told = f"{drawn} {', '.join(figures)}{counted} {working.cite(sheet.row)}."
    if not (work.hours or work.tokens_per_second or SPAN.search(question)):
        return capital(told)
    words, hours = _hours_of(work, question)
    energy = written(watts * hours, "Wh", f"({formula}) × {hours:.6g}", (*numbers, hours), working)
    return f"{energy} {working.say(words)}: {told}"
