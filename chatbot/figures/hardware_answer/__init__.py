"""Answer questions on hardware without a model: what machines cost, draw and emit, and how clean a region's grid is."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from chatbot.draft import Draft
from chatbot.figures.hardware_answer.accelerators import of_accelerators
from chatbot.figures.hardware_answer.costs import COMMITMENT, affordable, cheapest, cost_lines, costs, together
from chatbot.figures.hardware_answer.machines import (
    cheapest_by,
    figures_said,
    inside,
    is_sold_whole,
    machine_of,
    rented,
    typed,
)
from chatbot.figures.hardware_answer.places import WITHOUT_PUE, evaporated, of_energy, of_grids
from chatbot.figures.hardware_answer.power import CARBON, asks_making, emissions, energy, evaporating, making
from chatbot.figures.hardware_answer.spans import SPAN, UNITS, hours_asked
from chatbot.figures.hardware_answer.units import EACH
from chatbot.sizing import Workload
from chatbot.sizing.asking import Asked
from chatbot.sizing.completion import check_numbers
from chatbot.sizing.goals import OF_MONEY, OF_POWER, Goal
from chatbot.sizing.impact import DEFAULT_REGION, HOURS_A_MONTH
from chatbot.sizing.reading import read_question
from chatbot.sizing.spelled import as_read
from chatbot.working import Working

_GPUS_ALONE = re.compile(r"\b(?:just|only) (?:for |of |in )?(?:the |its |all )?(?:gpus?|accelerators?|chips|cards)\b|\b(?:gpus?|accelerators?|chips|cards) (?:alone|only|by themselves)\b")
_WHOLE = re.compile(r"\b(?:whole|full|entire) |\bnode\b")
_RECURS = re.compile(r"\b(?:an?|per|each|every) (?:day|night|week)\b|\bweek ?(?:days?|ends?)\b|\bmon\w*(?: to |-)fri|\bdaily\b|\bnights?\b|/ ?(?:day|week)\b")
_DIFFERENCE = re.compile(r"\b(?:difference|gap|delta|sav\w+|avoid\w*|spar(?:e|es|ed|ing)|cut|reduc\w+|(?:shift|mov|migrat|relocat)\w+ .*from .*to|minus|by how much|how much (?:more|less|extra|dearer|cheaper)|extra|premium|unterschied|différence|diferencia)\b")


def answer_by_hardware(asked: Asked, working: Working) -> Draft:
    """Draft the figure first, then its arithmetic. Several machines or places are compared, the least first."""
    *earlier, question = map(as_read, working.said[0].split("\n"))
    works, own = (asked.workload, *asked.others), figures_said(working)
    if earlier and "hours" not in read_question(question, working.tables.known).slots:
        works = tuple(_in_span_asked(work, question, earlier) for work in works)
    if not SPAN.search(question):
        spans = ([match.group() for match in SPAN.finditer(turn)] for turn in reversed(earlier))
        question = " ".join([question, *next(filter(None, spans), ())])
    if "discount" in own and re.search(COMMITMENT, working.said[0].lower()) and any(map(_RECURS.search, (*earlier, question))):
        works = tuple(replace(work, hours=None) for work in works)  # a commitment is paid for in all hours
    for work in works:
        check_numbers(work)
    _put_own_site(works, own, working)
    emits = Goal.ENERGY in asked.goals and (own.get("grid") or re.search(CARBON, question))
    goals = {*asked.goals, *([Goal.CARBON] if emits else [])}
    return working.draft(*_lines(works, goals, question, working))


def _lines(works: Sequence[Workload], goals: set[Goal], question: str, working: Working) -> Iterable[str]:
    work, facts = works[0], working.tables.facts
    differ = bool(Goal.DIFFERENCE in goals or _DIFFERENCE.search(question))
    if work.kwh and not work.instance_type:
        if Goal.WATER in goals:
            return [evaporated(work, working) for work in works]
        at_meter = "at the meter" in working.said[0].lower()  # that energy includes the overhead
        return of_energy(works, working, with_pue=not (at_meter or WITHOUT_PUE.search(question)), differ=differ)
    of_each = EACH.search(question) and work.accelerator
    if {Goal.CHEAPEST, Goal.SMALLEST} & goals and not work.instance_type and not of_each:
        found = [(work, machine_of(cheapest_by(work, question, facts), working)) for work in works]
        return [line for work, machine in found for line in cheapest(machine, work, question, working)]
    if not (work.instance_type or work.accelerator or work.families):
        return of_grids(works, working)
    if work.accelerator and not work.instance_type:
        if OF_POWER & goals or not OF_MONEY & goals:
            return of_accelerators(works, question, working, goals=goals, differ=differ)
        if goals & OF_MONEY <= {Goal.COST, Goal.CHEAPEST} and not work.hours and is_sold_whole(work, facts):
            machines = [machine_of(cheapest_by(work, "", facts, each=True), working) for work in works]
            return [line for machine in machines for line in cost_lines(machine, "per gpu " + question, working)]
        works = [rented(work, facts) for work in works]
    return _of_machines(works, goals, question, working, differ=differ)


def _of_machines(
    works: Sequence[Workload], goals: set[Goal], question: str, working: Working, *, differ: bool
) -> Iterable[str]:
    """The lines on machines: their carbon, water or energy, whether a budget covers them, or what they cost."""
    work, facts = works[0], working.tables.facts
    if goals <= {Goal.COST, Goal.DIFFERENCE, Goal.AFFORDABLE, Goal.COMPARE} and (told := together(work, question, working)):
        return told
    whole = bool(_WHOLE.search(working.said[0].lower()))
    machines = [machine_of(work, working) for work in typed(works, facts, whole=whole)]
    if Goal.CARBON in goals and asks_making(question):
        return [making(machine, question, working) for machine in machines]
    if Goal.CARBON in goals:
        return emissions(machines, question, working, differ=differ)
    if Goal.WATER in goals:
        return [evaporating(machine, question, working) for machine in machines]
    if Goal.ENERGY in goals and _GPUS_ALONE.search(question):
        return of_accelerators([inside(work, facts) for work in works], question, working, goals=goals, differ=differ)
    if Goal.ENERGY in goals:
        return energy(machines, question, working, differ=differ)
    if work.budget or work.budget_per_hour or work.budget_per_month:
        return [affordable(machine, goals, question, working) for machine in machines]
    return costs(machines, question, working, differ=differ)


def _put_own_site(works: Sequence[Workload], own: Mapping[str, float], working: Working) -> None:
    """Put the asker's own grid and PUE in place of those of the only region."""
    region, grid, pue = works[0].region or DEFAULT_REGION, own.get("grid"), own.get("PUE")
    if (grid or pue) and all((work.region or DEFAULT_REGION) == region for work in works):
        working.tables = replace(working.tables, facts=working.tables.facts.at_site(region, grid, pue))
        working.say(f"{grid or 0:g} g", f"{pue or 0:g}")


def _in_span_asked(work: Workload, question: str, earlier: Sequence[str]) -> Workload:
    """Let the span that the last turn asks for ("and per year?") take the place of the hours of an earlier turn."""
    spans = {hours for hours in hours_asked(question) if hours > 1}
    if not work.hours or len(spans) != 1:
        return work
    (span,) = spans
    if work.hours in UNITS:
        return replace(work, hours=None)
    return replace(work, hours=work.hours / HOURS_A_MONTH * span) if any(map(_RECURS.search, earlier)) else work
