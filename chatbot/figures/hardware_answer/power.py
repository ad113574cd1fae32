"""What machines draw, emit and evaporate."""

import re
from collections.abc import Sequence
from dataclasses import replace

from chatbot.answer import REFUSAL, ReaderError
from chatbot.figures.hardware_answer.machines import Machine
from chatbot.figures.hardware_answer.spans import amount, gap, inputs, over, sources, spans_of, written
from chatbot.sizing.impact import load_of
from chatbot.working import Working, percent, rounded

CARBON = r"co2|carbon|emission|\bemit|footprint|co₂"
ENERGY = r"(?<!/)(?<!per )\bk?wh\b|energy|electric|strom"
_EMBODIED = re.compile(r"^(?!.*\b(?:operational|electricity|included?|plus)\b)(?=.*\b(?:embodied|embedded|manufactur\w+|making)\b(?!.*\band\b))", re.DOTALL)
_NOT_EMBODIED = re.compile(r"\b(?:no|not|without|except|leav\w+ out|minus|ignor\w+)\b[^.;]{0,25}\b(?:embodied|manufactur\w+)\b|\bembodied\b[^.;,]{0,12}\b(?:no|out)\b")
_OF_MAKING = re.compile(r"embodied|embedded|manufactur|making|everything")
_WITH_EMBODIED = re.compile(r"\b(?:everything|in all|total|plus|including|included|incl|and|with|all in)\b")


def asks_making(question: str) -> bool:
    """Whether the carbon of making the hosts is asked for, and no other."""
    return bool(_EMBODIED.search(question)) and not _NOT_EMBODIED.search(question)


def energy(machines: Sequence[Machine], question: str, working: Working, *, differ: bool = False) -> list[str]:
    """Lines on what machines draw and consume, the least first."""
    known = sorted((m for m in machines if m.impact.watts is not None), key=lambda m: m.impact.watts or 0.0)
    silent = [_no_power(m, working, alone=len(machines) == 1) for m in machines if m.impact.watts is None]
    verdict = [f"{known[0].name} draws {'less' if len(known) == 2 else 'least'}."] if len(known) > 1 else []
    if differ and len(known) == 2:
        span = spans_of(known[0].work, question)[0]
        less = gap(known[0], known[1], "watts", span, working)
        verdict = [f"{known[0].name} takes {less} less {span[0]} than {known[1].name} {sources('watts', known, working)}."]
    told = [line for m in known for line in _drawn(m, question, working)]
    return [*verdict, *told, *silent]


def _drawn(machine: Machine, question: str, working: Working) -> list[str]:
    work, watts = machine.work, machine.impact.known("watts")
    power = written(watts.value, "W", watts.formula, inputs(machine), working)
    assumed = "" if work.load else ", which is assumed"
    spans = [span for span in spans_of(work, question) if span[1] > 1 or work.tokens_per_second]
    spans = spans or [("a month of 730 hours", 730.0)]
    energy = over(machine, "watts", spans, working)
    drawn = f"{machine.name} draws {power} at {percent(load_of(work))} load{assumed}"
    leads = work.hours or work.tokens_per_second or re.search(ENERGY, question)
    line = f"{f'{energy}: {drawn}' if leads else f'{drawn}, {energy}'} {working.cite(*machine.rows, *watts.inputs)}"
    if in_all := machine.impact.figure("kwh_per_hour"):
        text = working.figure(f"{rounded(in_all.value * 1000)} W", f"({in_all.formula}) × 1000", *inputs(machine))
        with_pue = f"with the PUE of {machine.region} {text}, {over(machine, 'kwh_per_hour', spans[:1], working)}"
        line += f"; {with_pue} {working.cite(*in_all.inputs)}"
    working.say(watts.formula)
    return [f"{line}.", f"Host and accelerators: {watts.formula} = {power} {working.cite(*machine.rows)}."]


def _no_power(machine: Machine, working: Working, *, alone: bool = False) -> str:
    """Say that a machine's power is not known. Raise that as a refusal if nothing else is told."""
    reasons = [note for note in machine.impact.notes if note.startswith("no published")] or ["no published figure of its power"]
    text = f"There is {working.say(reasons[0])}, so the power, energy and carbon of {machine.name} cannot be computed"
    if alone:
        raise ReaderError(f"{REFUSAL} {text}.")
    return f"{text} {working.cite(*machine.rows)}."


def emissions(machines: Sequence[Machine], question: str, working: Working, *, differ: bool = False) -> list[str]:
    """Lines on what machines emit: the least against the most, each by itself, and the arithmetic of the first."""
    unknown = [m for m in machines if m.impact.g_co2_per_hour is None]
    known = sorted((m for m in machines if m not in unknown), key=lambda m: m.impact.g_co2_per_hour or 0.0)
    silent = [_no_carbon(m, working, alone=len(machines) == 1) for m in unknown]
    verdict = _least(known[0], known[-1], question, working, differ=differ) if len(known) > 1 else []
    told = [_emitted(m, question, working) for m in known]
    worked = [_worked(m, working) for m in known[:1]]
    return [*verdict, *(f"- {line}" if len(told) > 1 else line for line in told), *worked, *silent]


def _no_carbon(machine: Machine, working: Working, *, alone: bool) -> str:
    if machine.impact.watts is None:
        return _no_power(machine, working, alone=alone)
    return f"There is no published grid carbon for {machine.region} in the data {working.cite(*machine.rows)}."


def _least(least: Machine, most: Machine, question: str, working: Working, *, differ: bool) -> list[str]:
    """Which of two machines, or places, emits less: by what factor and, if they are to `differ`, by how much."""
    places = least.region != most.region
    low, high = (m.impact.g_co2_per_hour or 0.0 for m in (least, most))
    times = working.figure(f"{high / (low or 1.0):.3g}", f"{high:.6g} / {low:.6g}", low, high)
    less, more = (least.region, most.region) if places else (least.name, most.name)
    verdict = f"{less} emits less: {more} emits {times} times as much."
    if not differ:
        return [verdict]
    span = spans_of(least.work, question)[0]
    saved = f"{gap(least, most, 'g_co2_per_hour', span, working)} of CO2e less {span[0]}"
    than = f"than {'in' if places else 'for'} {more}"
    marks = sources("g_co2_per_hour", (least, most), working)
    return [f"{saved} for {least.name} in {least.region} {than} {marks}.", verdict]


def _emitted(machine: Machine, question: str, working: Working) -> str:
    carbon, embodied = machine.impact.known("g_co2_per_hour"), machine.impact.figure("embodied_g_per_hour")
    spans = spans_of(machine.work, question)
    hours = spans[0][1]
    told = over(machine, carbon.name, spans, working, " of CO2e")
    if re.search(ENERGY, question):
        told = f"{amount(machine, machine.impact.known('kwh_per_hour'), hours, working)} and {told}"
    making = ""
    if embodied:
        making = f"; the making of the host adds {amount(machine, embodied, hours, working)} {working.cite(*embodied.inputs)}"
    if embodied and _OF_MAKING.search(question) and _WITH_EMBODIED.search(question) and not _NOT_EMBODIED.search(question):
        both = replace(carbon, value=carbon.value + embodied.value, formula=f"({carbon.formula}) + ({embodied.formula})")
        making += f", {amount(machine, both, hours, working)} in all"
    assumed = "" if machine.work.load else " (assumed)"
    return f"{told} {_at(machine)}{assumed} {working.cite(*machine.rows, *carbon.inputs)}{making}."


def _at(machine: Machine) -> str:
    return f"for {machine.name} in {machine.region}, at {percent(load_of(machine.work))} load"


def making(machine: Machine, question: str, working: Working) -> str:
    """The embodied carbon of the hosts alone."""
    embodied = machine.impact.figure("embodied_g_per_hour")
    if not embodied:
        return f"There is no published embodied carbon of {machine.name} in the data {working.cite(*machine.rows)}."
    told = over(machine, embodied.name, spans_of(machine.work, question), working, " of CO2e")
    silent = "that of its accelerators is not published"
    return f"{told} for the making of the host of {machine.name}; {silent} {working.cite(*embodied.inputs)}."


def _worked(machine: Machine, working: Working) -> str:
    """The arithmetic of what a machine emits in an hour."""
    watts, energy, carbon = (machine.impact.known(name) for name in ("watts", "kwh_per_hour", "g_co2_per_hour"))
    working.say(watts.formula, energy.formula, carbon.formula, machine.region)
    grams = written(carbon.value, "g", carbon.formula, inputs(machine), working)
    return f"In an hour: {watts.formula}; × PUE: {energy.formula}; × grid: {carbon.formula} = {grams} {working.cite(*carbon.inputs)}."


def evaporating(machine: Machine, question: str, working: Working) -> str:
    """The water that cools a machine and makes its electricity."""
    litres = machine.impact.figure("litres_per_hour")
    if litres:
        told = over(machine, litres.name, spans_of(machine.work, question), working)
        return f"{told} {_at(machine)} {working.cite(*machine.rows, *litres.inputs)}."
    reason = next((note for note in machine.impact.notes if "water" in note), "")
    working.say(reason)
    return f"There is {reason} {working.cite(*machine.rows)}." if reason else _no_power(machine, working)
