"""Questions on hardware without a model answered: what machines cost, draw and emit, and what a place's grid does to energy."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chatbot.answer import ReaderError
from chatbot.computed import Computed
from chatbot.draft import Draft
from chatbot.sizing import Facts, Impact, Workload
from chatbot.sizing.completion import check_region
from chatbot.sizing.conversation import Asked
from chatbot.sizing.facts import Accelerator, Grid
from chatbot.sizing.impact import DEFAULT_REGION, HOURS_A_MONTH, accelerator_watts, impact_of_machines
from chatbot.sizing.reading import Goal
from chatbot.working import Working, article, capital, rounded, short
from ingest import Row

_SPANS = (("hour", 1.0), ("day", 24.0), ("week", 168.0), ("month", 730.0), ("year", 8760.0))
# How a unit of time begins, in the languages that are read.
_WRITTEN = {"hour": ("h", "st"), "day": ("d", "ta", "jo"), "week": ("w", "se"), "month": ("m",), "year": ("y", "an", "ja", "añ")}
_SPAN = re.compile(r"\b(?:per|an?|each|every|the|pro|im|par|por|al)[ -](hour|day|week|month|year|stunde|tag|woche|monat|jahr|heure|jour|semaine|mois|hora|d[ií]a|semana|mes|año)\b|/ ?(h|day|week|mo|month|year)\b|\b(hourly|daily|weekly|monthly|yearly|annual)")
_WITHOUT_PUE = re.compile(r"\b(?:no|without|excluding|ignoring|before|only grid)\b[^.]{0,20}(?:pue|intensity)|\bgrid (?:intensity )?only\b")
_EACH = re.compile(r"\b(?:per|each|one) (?:single )?(?:gpu|card|chip|accelerator)\b|\b(?:one|per|an?|each) [a-z]{1,2}\d+\w* (?:per|an|each) hour\b")
_DIFFERENCE = re.compile(r"\b(?:difference|gap|delta|sav\w+|minus|by how much|how much (?:more|less|extra|dearer|cheaper)|extra|premium|unterschied|différence|diferencia)\b")
_NUMBERS = (1, 24, 168, HOURS_A_MONTH, 8760, 1000)


def answer_by_hardware(asked: Asked, working: Working) -> Draft:
    """The figure first, then its arithmetic; several machines or places are compared, the least first."""
    *earlier, question = working.said[0].lower().split("\n")
    if not _SPAN.search(question) and (spans := next((s for turn in reversed(earlier) if (s := [m.group() for m in _SPAN.finditer(turn)])), None)):
        question = " ".join([question, *spans])
    works = (asked.workload, *asked.others)
    facts = working.tables.facts
    if asked.unknown:
        raise ReaderError(f"There is no {asked.unknown} in the data: name an instance type of EC2, such as g6e.xlarge.")
    if asked.workload.kwh and not asked.workload.instance_type:
        return working.draft(*_of_energy(works, working, with_pue=not _WITHOUT_PUE.search(question)))
    if not (asked.workload.instance_type or asked.workload.accelerator or asked.workload.families):
        return working.draft(*_of_grids(works, working))
    if asked.workload.accelerator and not asked.workload.instance_type and {Goal.CHEAPEST, Goal.SMALLEST} & set(asked.goals) and not _EACH.search(question):
        machines = [_machine(_cheapest_with(work, facts, whole=True), working) for work in works]
        return working.draft(*(line for machine, work in zip(machines, works, strict=True) for line in _cheapest(machine, work, question, working)))
    if asked.workload.accelerator and not asked.workload.instance_type and {Goal.COST, Goal.CHEAPEST} & set(asked.goals) and Goal.ENERGY not in asked.goals:
        machines = [_machine(_cheapest_with(work, facts), working) for work in works]
        return working.draft(*(line for machine in machines for line in _cost(machine, "per gpu " + question, working)))
    if asked.workload.accelerator and not asked.workload.instance_type:
        return working.draft(*_of_accelerators(works, working))
    if re.search(r"\bspot\b", question) and not _has_spot_price(asked.workload, facts):
        raise ReaderError(
            f"The data has no spot price of {asked.workload.instance_type}, which changes all the time: "
            "`wattwise ingest 'aws://spot-prices?region=us-west-2'` brings those of the last day."
        )
    machines = [_machine(work, working) for work in _typed(works, facts)]
    if Goal.CARBON in asked.goals:
        return working.draft(*_emissions(machines, question, working))
    if Goal.WATER in asked.goals:
        return working.draft(*_water(machines, question, working))
    if Goal.ENERGY in asked.goals:
        return working.draft(*_energy(machines, question, working))
    if any((asked.workload.budget, asked.workload.budget_per_hour, asked.workload.budget_per_month)):
        return working.draft(*(_affordable(machine, question, working) for machine in machines))
    return working.draft(*_costs(machines, question, working))


@dataclass(frozen=True, slots=True)
class _Machine:
    """Instances of one type at one place, with what they cost and draw; `rows` are the type's own."""

    name: str
    work: Workload
    impact: Impact
    rows: tuple[Row, ...]

    @property
    def region(self) -> str:
        return self.work.region or DEFAULT_REGION


def _typed(works: Sequence[Workload], facts: Facts) -> list[Workload]:
    """Workloads on instance types: a family stands for its cheapest and its largest."""
    found: list[Workload] = []
    for work in works:
        if work.instance_type:
            found.append(work)
            continue
        known = [i for i in facts.instances.values() if i.family in work.families and facts.price(i.name)]
        ranked = sorted(known, key=lambda i: facts.price(i.name).usd_per_hour)  # type: ignore[union-attr]
        if not ranked:
            raise ReaderError(f"There is no price of {', '.join(sorted(work.families))} in the data.")
        ends = dict.fromkeys((ranked[-1].name, ranked[0].name))
        found += [replace(work, instance_type=name) for name in ends]
    return found[:4]


def _cheapest_with(work: Workload, facts: Facts, *, whole: bool = False) -> Workload:
    """The instance type on which an accelerator costs least, or the one that costs least as a whole."""
    sheets = _sheets(work, facts)
    sold = [(p.usd_per_hour / (1 if whole else i.accelerators), i.name) for i in facts.instances.values() if i.accelerators >= (work.accelerators or 1) and facts.accelerator(i) in sheets and (p := facts.price(i.name))]
    if not sold:
        raise ReaderError(f"There is no on-demand price of an instance type with {work.accelerator} in the data.")
    return replace(work, accelerator=None, accelerators=None, instance_type=min(sold)[1])


def _machine(work: Workload, working: Working) -> _Machine:
    facts = working.tables.facts
    assert work.instance_type
    check_region(work.region or DEFAULT_REGION, facts)
    instance = facts.instances[work.instance_type]
    count = work.instances or 1
    if count < 1:
        raise ReaderError("Instances cannot be fewer than 1: give at least 1.")
    name = f"{count:,} × {instance.name}" if count > 1 else instance.name
    working.say(name, str(count), f"{work.load or 0.5:.0%}".replace("%", " %"), work.region or DEFAULT_REGION, "CO2e")
    return _Machine(name, work, impact_of_machines(instance, work, facts), (instance.row,))


def _has_spot_price(work: Workload, facts: Facts) -> bool:
    return any(p.purchase == "spot" for p in facts.prices.get(work.instance_type or "", ()))


# --- time -----------------------------------------------------------------------------------------------------------------


def _spans(work: Workload, question: str) -> list[tuple[str, float]]:
    """For which times a figure is given: the one that is asked for, else an hour and a month."""
    if work.hours:
        return [(_length(work.hours), work.hours)]
    wanted = [_unit(match) for match in _SPAN.finditer(question)]
    units = dict.fromkeys(unit for unit in wanted if unit) or {"hour": None, "month": None}
    return [(f"{'an' if unit == 'hour' else 'a'} {unit}{' of 730 hours' if unit == 'month' else ''}", dict(_SPANS)[unit]) for unit in units]


def _unit(match: re.Match[str]) -> str:
    written = match[1] or match[2] or match[3]
    return next(unit for unit, starts in _WRITTEN.items() if written.startswith(starts))


def _length(hours: float) -> str:
    if hours == HOURS_A_MONTH:
        return "for a month of 730 hours"
    if hours == 8760:
        return "for a year"
    days = f", {hours / 24:g} days," if hours >= 48 and hours % 24 == 0 else ""
    return f"for {hours:,g} hours{days}".rstrip(",")


def _over(machine: _Machine, figure: str, spans: Sequence[tuple[str, float]], unit: str, working: Working) -> str:
    """A figure of an hour, over times: "$55.04 an hour, $40,200 a month"."""
    known = machine.impact.figure(figure)
    assert known
    told: list[str] = []
    for words, hours in spans:
        text = unit.format(rounded(known.value * hours, money="$" in unit))
        formula = f"({known.formula}) × {hours:g}"
        working.say(words)
        working.note(Computed(text, formula, 1.0, _given(machine, hours)))
        told.append(f"{text} {words}")
    return ", ".join(told)


def _given(machine: _Machine, *others: float) -> tuple[float, ...]:
    """Numbers of the formulas that the question sets, or that follow from a row that is cited."""
    work, impact = machine.work, machine.impact
    computed = (impact.watts, impact.kwh_per_hour, *((impact.watts / 1000,) if impact.watts else ()))
    return tuple(float(n) for n in (*_NUMBERS, *others, work.instances, work.load, 0.5, *computed) if n) + _devices(machine)


def _devices(machine: _Machine) -> tuple[float, ...]:
    watts = machine.impact.figure("watts")
    return tuple(float(n) for n in re.findall(r"([\d.]+) × \(", watts.formula)) if watts else ()


# --- money ----------------------------------------------------------------------------------------------------------------


def _costs(machines: Sequence[_Machine], question: str, working: Working) -> list[str]:
    priced = sorted((m for m in machines if m.impact.price), key=lambda m: m.impact.usd_per_hour or 0.0)
    silent = [_no_price(m, working) for m in machines if not m.impact.price]
    if len(priced) > 1:
        least, *others = priced
        spans = _spans(least.work, question)[:1]
        against = "; ".join(f"{m.name} costs {_over(m, 'usd_per_hour', spans, '${}', working)} {_cited(m, working)}" for m in others)
        same = all(m.impact.usd_per_hour == least.impact.usd_per_hour for m in others)
        verdict = "costs the same" if same else "is cheaper" if len(others) == 1 else "is the cheapest"
        told = [f"{least.name} {verdict}: {_over(least, 'usd_per_hour', spans, '${}', working)} {_cited(least, working)}; {against}.", *silent]
        if same or len(others) > 1:
            return told
        difference = _difference(least, others[0], spans[0], working)
        return [difference, *told] if _DIFFERENCE.search(question) else [*told, difference]
    return [*(line for m in priced for line in _cost(m, question, working)), *silent]


def _difference(less: _Machine, more: _Machine, span: tuple[str, float], working: Working) -> str:
    words, hours = span
    one, other = less.impact.figure("usd_per_hour"), more.impact.figure("usd_per_hour")
    assert one
    assert other
    text = f"${rounded((other.value - one.value) * hours, money=True)}"
    working.note(Computed(text, f"(({other.formula}) - ({one.formula})) × {hours:g}", 1.0, (*_given(less, hours), *_given(more, hours))))
    return f"{more.name} costs {text} more {words} than {less.name} {working.cite(*(m.impact.price.row for m in (more, less) if m.impact.price))}."


def _cost(machine: _Machine, question: str, working: Working) -> list[str]:
    price = machine.impact.price
    assert price
    spans = _spans(machine.work, question)
    hourly = [] if any(hours == 1 for _, hours in spans) else [("an hour", 1.0)]
    text = f"{_over(machine, 'usd_per_hour', [*spans, *hourly], '${}', working)} for {machine.name} {_where(machine, working)} {_cited(machine, working)}."
    if _EACH.search(question) and (instance := working.tables.facts.instances[machine.work.instance_type or ""]).accelerators:
        each = f"${rounded(price.usd_per_hour / instance.accelerators, money=True)}"
        name = short(instance.accelerator)
        working.note(Computed(each, f"{price.usd_per_hour:.6g} / {instance.accelerators:g}", 1.0, _NUMBERS))
        working.say(name, f"{instance.accelerators:g}")
        return [f"{each} an hour for each {name}: {capital(text).removesuffix('.')}, which has {instance.accelerators:g} of them {working.cite(*machine.rows)}."]
    return [text]


def _cheapest(machine: _Machine, work: Workload, question: str, working: Working) -> list[str]:
    """The least instance type that has an accelerator."""
    wanted = f"{work.accelerators} × {work.accelerator}" if (work.accelerators or 1) > 1 else f"{article(work.accelerator or '')} {work.accelerator}"
    working.say(wanted, machine.name)
    return [f"{machine.name} is the cheapest type with {wanted} {working.cite(*machine.rows)}.", *_cost(machine, question, working)]


def _cited(machine: _Machine, working: Working) -> str:
    return working.cite(machine.impact.price.row) if machine.impact.price else working.cite(*machine.rows)


def _where(machine: _Machine, working: Working) -> str:
    price = machine.impact.price
    assert price
    other = f"; none known for {machine.region}" if machine.region != price.region else ""
    working.say(other)
    return f"({price.purchase}, {price.region}, {price.date}{other})"


def _no_price(machine: _Machine, working: Working) -> str:
    sold = ": it is sold by Capacity Blocks" if machine.work.instance_type and machine.work.instance_type.startswith("trn2") else ""
    return f"There is no published on-demand price of {machine.name} in the data{sold} {working.cite(*machine.rows)}."


def _affordable(machine: _Machine, question: str, working: Working) -> str:
    """Whether a budget is enough for what is asked, or for how many machines or hours it is."""
    work, price = machine.work, machine.impact.price
    if not price:
        return _no_price(machine, working)
    hourly = machine.impact.usd_per_hour or 0.0
    where = f"{_where(machine, working)} {_cited(machine, working)}"
    if work.budget:
        working.say(f"${work.budget:,.0f}")
        if work.hours:
            span = [(_length(work.hours), work.hours)]
            answer = "Yes" if hourly * work.hours <= work.budget else "No"
            return f"{answer}: {machine.name} costs {_over(machine, 'usd_per_hour', span, '${}', working)} {where}."
        hours = work.budget / hourly
        text = f"{rounded(hours)} hours"
        working.note(Computed(text, f"{work.budget:g} / {hourly:.6g}", 1.0, (work.budget, hourly)))
        return f"${work.budget:,.0f} pays for {text} of {machine.name}, at {_over(machine, 'usd_per_hour', [('an hour', 1.0)], '${}', working)} {where}."
    monthly = work.budget_per_hour is None
    budget, hours, unit = (work.budget_per_month or 0.0, 730.0, "month") if monthly else (work.budget_per_hour or 0.0, 1.0, "hour")
    cost, count = hourly * hours, math.floor(budget / (hourly * hours) + 1e-9)
    shown = f"${budget:,.0f}" if budget >= 100 else f"${budget:g}"
    working.say(shown, f"{count:,} × {machine.name}", str(count))
    spans = [("an hour", 1.0), (f"a {unit} of 730 hours", hours)] if monthly else [("an hour", 1.0)]
    told = f"{_over(machine, 'usd_per_hour', spans, '${}', working)} {where}"
    limit = f"the budget is {shown} {'a' if monthly else 'an'} {unit}"
    if re.search(r"how many|number of|wie viele", question):
        return f"{f'{count:,} × {machine.name}: each' if count else f'Not one {machine.name}: it'} costs {told}, and {limit}."
    return f"{'Yes' if cost <= budget else 'No'}: {machine.name} costs {told}, and {limit}."


# --- power, energy, carbon, water ----------------------------------------------------------------------------------------


def _energy(machines: Sequence[_Machine], question: str, working: Working) -> list[str]:
    known = sorted((m for m in machines if m.impact.watts is not None), key=lambda m: m.impact.watts or 0.0)
    silent = [_no_power(m, working) for m in machines if m.impact.watts is None]
    verdict = [f"{known[0].name} draws less." if len(known) == 2 else f"{known[0].name} draws least."] if len(known) > 1 else []
    return [*verdict, *(line for m in known for line in _drawn(m, question, working)), *silent]


def _drawn(machine: _Machine, question: str, working: Working) -> list[str]:
    watts = machine.impact.figure("watts")
    assert watts
    kilo = watts.value >= 1000
    power = f"{rounded(watts.value / 1000)} kW" if kilo else f"{rounded(watts.value)} W"
    working.note(Computed(power, watts.formula, 1000.0 if kilo else 1.0, _given(machine)))
    load = f"{machine.work.load or 0.5:.0%}".replace("%", " %")
    assumed = "" if machine.work.load else ", which is assumed"
    cite = working.cite(*machine.rows, *watts.inputs)
    spans = _spans(machine.work, question)
    hourly = [span for span in spans if span[1] > 1] or [("a month of 730 hours", 730.0)]
    energy: list[str] = []
    for words, hours in hourly:
        bare = f"{rounded(watts.value * hours / 1000)} kWh"
        working.say(words)
        working.note(Computed(bare, f"({watts.formula}) × {hours:g} / 1000", 1.0, _given(machine, hours)))
        energy.append(f"{bare} {words}")
    drawn = f"{machine.name} draws {power} at {load} load{assumed}"
    first = f"{', '.join(energy)}: {drawn}" if machine.work.hours or re.search(r"k?wh\b|energy|electric|strom", question) else f"{drawn}, {', '.join(energy)}"
    lines = [f"{first} {cite}."]
    if month := machine.impact.figure("kwh_per_hour"):
        with_pue = _over(machine, "kwh_per_hour", hourly[:1], "{} kWh", working)
        lines[0] = f"{lines[0].removesuffix('.')}; with the PUE of {machine.region} {with_pue} {working.cite(*month.inputs)}."
    return [*lines, _shown(machine, watts.formula, power, working)]


def _shown(machine: _Machine, formula: str, result: str, working: Working) -> str:
    working.say(formula)
    return f"Host and accelerators: {formula} = {result} {working.cite(*machine.rows)}."


def _no_power(machine: _Machine, working: Working) -> str:
    reasons = [note for note in machine.impact.notes if note.startswith("no published")] or ["no published figure of its power"]
    working.say(reasons[0])
    return f"There is {reasons[0]}, so the power, energy and carbon of {machine.name} cannot be computed {working.cite(*machine.rows)}."


def _emissions(machines: Sequence[_Machine], question: str, working: Working) -> list[str]:
    known = sorted((m for m in machines if m.impact.g_co2_per_hour is not None), key=lambda m: m.impact.g_co2_per_hour or 0.0)
    silent = [_no_power(m, working) if m.impact.watts is None else _no_grid(m, working) for m in machines if m.impact.g_co2_per_hour is None]
    verdict: list[str] = []
    if len(known) > 1:
        least, most = known[0], known[-1]
        places = least.region != most.region
        times = (most.impact.g_co2_per_hour or 0.0) / (least.impact.g_co2_per_hour or 1.0)
        text = f"{times:.3g}"
        working.note(Computed(text, f"{most.impact.g_co2_per_hour:.6g} / {least.impact.g_co2_per_hour:.6g}", 1.0, _both(least, most)))
        verdict = [f"{least.region if places else least.name} emits less: {most.region if places else most.name} emits {text} times as much."]
    told = [_emitted(m, question, working) for m in known]
    return [*verdict, *(f"- {line}" if len(told) > 1 else line for line in told), *(_worked(m, working) for m in known[:1]), *silent]


def _both(*machines: _Machine) -> tuple[float, ...]:
    return tuple(m.impact.g_co2_per_hour or 0.0 for m in machines)


def _emitted(machine: _Machine, question: str, working: Working) -> str:
    carbon = machine.impact.figure("g_co2_per_hour")
    assert carbon
    spans = _spans(machine.work, question)
    told: list[str] = []
    for words, hours in spans:
        kilo = carbon.value * hours >= 1000
        unit = "kg" if kilo else "g"
        text = f"{rounded(carbon.value * hours / (1000 if kilo else 1))} {unit} of CO2e"
        working.say(words)
        working.note(Computed(text, f"({carbon.formula}) × {hours:g}", 1000.0 if kilo else 1.0, _given(machine, hours)))
        told.append(f"{text} {words}")
    load = f"{machine.work.load or 0.5:.0%}".replace("%", " %")
    assumed = "" if machine.work.load else " (assumed)"
    making = ""
    if embodied := machine.impact.figure("embodied_g_per_hour"):
        words, hours = spans[0]
        kilo = embodied.value * hours >= 1000
        text = f"{rounded(embodied.value * hours / (1000 if kilo else 1))} {'kg' if kilo else 'g'}"
        working.note(Computed(text, f"({embodied.formula}) × {hours:g}", 1000.0 if kilo else 1.0, _given(machine, hours)))
        making = f"; the making of the host adds {text} {working.cite(*embodied.inputs)}"
    return f"{', '.join(told)} for {machine.name} in {machine.region}, at {load} load{assumed} {working.cite(*machine.rows, *carbon.inputs)}{making}."


def _worked(machine: _Machine, working: Working) -> str:
    watts, carbon = machine.impact.figure("watts"), machine.impact.figure("g_co2_per_hour")
    energy = machine.impact.figure("kwh_per_hour")
    assert watts
    assert energy
    assert carbon
    working.say(watts.formula, energy.formula, carbon.formula, machine.region)
    grams = f"{rounded(carbon.value)} g"
    working.note(Computed(grams, carbon.formula, 1.0, _given(machine)))
    return f"In an hour: {watts.formula}; × PUE: {energy.formula}; × grid: {carbon.formula} = {grams} {working.cite(*carbon.inputs)}."


def _no_grid(machine: _Machine, working: Working) -> str:
    return f"There is no published grid carbon for {machine.region} in the data {working.cite(*machine.rows)}."


def _water(machines: Sequence[_Machine], question: str, working: Working) -> list[str]:
    lines: list[str] = []
    for machine in machines:
        litres = machine.impact.figure("litres_per_hour")
        if not litres:
            reason = next((n for n in machine.impact.notes if "water" in n), "")
            working.say(reason)
            lines.append(f"There is {reason} {working.cite(*machine.rows)}." if reason else _no_power(machine, working))
            continue
        told = _over(machine, "litres_per_hour", _spans(machine.work, question), "{} litres", working)
        working.say(f"{machine.work.load or 0.5:.0%}".replace("%", " %"))
        lines.append(f"{told} of water for {machine.name} in {machine.region}, at {machine.work.load or 0.5:.0%} load {working.cite(*machine.rows, *litres.inputs)}.".replace("% load", " % load"))
    return lines


# --- accelerators by themselves ------------------------------------------------------------------------------------------


def _of_accelerators(works: Sequence[Workload], working: Working) -> list[str]:
    """What accelerators draw, without the machine around them."""
    sheets = [(work, sheet) for work in works for sheet in _sheets(work, working.tables.facts)]
    known = [(work, sheet) for work, sheet in sheets if sheet.max_w is not None]
    silent = [f"There is no published power figure of the {short(s.name)} in the data {working.cite(s.row)}." for _, s in sheets if s.max_w is None]
    known.sort(key=lambda pair: (pair[1].max_w or 0.0) * (pair[0].accelerators or 1), reverse=True)
    told = [_draws(work, sheet, working) for work, sheet in known]
    verdict: list[str] = []
    if len({(sheet.max_w or 0.0) * (work.accelerators or 1) for work, sheet in known}) > 1 and len({work.accelerator for work, _ in known}) > 1:
        verdict = [f"{capital(_several(*known[0], working))} draw{'' if (known[0][0].accelerators or 1) > 1 else 's'} more."]
    return [*verdict, *told, *silent]


def _several(work: Workload, sheet: Accelerator, working: Working) -> str:
    count = work.accelerators or 1
    name = short(sheet.name)
    working.say(f"{count} × {name}", name)
    return f"{count} × {name}" if count > 1 else f"{article(name)} {name}"


def _draws(work: Workload, sheet: Accelerator, working: Working) -> str:
    count, most = work.accelerators or 1, sheet.max_w or 0.0
    memory = sheet.row.cells.get("Memory", "")
    subject = capital(_several(work, sheet, working))
    each = f"{rounded(most)} W at most"
    idle = f", {rounded(sheet.idle_w)} W idle" if sheet.idle_w is not None else ""
    verb = "draw" if count > 1 else "draws"
    if count > 1:
        total = f"{rounded(most * count)} W"
        working.note(Computed(total, f"{count} × {most:g}", 1.0, (float(count),)))
        each = f"{total} at most, {rounded(most)} W each"
    at = ""
    if work.load and (watts := accelerator_watts(sheet, work.load)) is not None:
        text, load = f"{rounded(watts * count)} W", f"{work.load:.0%}".replace("%", " %")
        working.say(load)
        formula = f"{count} × ({sheet.idle_w:g} + {work.load:g} × ({sheet.busy_w:g} - {sheet.idle_w:g}))"
        working.note(Computed(text, formula, 1.0, (float(count), work.load)))
        at = f", {text} at {load} load"
    other = f"; Cloud Carbon Footprint takes {sheet.ccf_max_w:g} W for the most" if sheet.ccf_max_w and abs(sheet.ccf_max_w / most - 1) > 0.1 else ""
    working.say(memory)
    return f"{subject} ({memory}) {verb} {each}{idle}{at}{other} {working.cite(sheet.row)}."


def _sheets(work: Workload, facts: Facts) -> list[Accelerator]:
    found = [s for name, sheets in facts.accelerators.items() if short(name) == work.accelerator for s in sheets]
    memory = work.accelerator_memory_gb
    near = [s for s in found if not memory or abs((s.memory_gib or 0) * 2**30 / 1e9 / memory - 1) < 0.1]
    if not found:
        raise ReaderError(f"There is no accelerator {work.accelerator} in the data: name one that EC2 has, such as L40S or H100.")
    return near or found


# --- places --------------------------------------------------------------------------------------------------------------


def _of_grids(works: Sequence[Workload], working: Working) -> list[str]:
    """The grids of regions side by side, the cleanest first."""
    facts = working.tables.facts
    regions = dict.fromkeys(work.region for work in works if work.region)
    grids = sorted((facts.grids[r] for r in regions if r in facts.grids), key=lambda g: g.g_co2_per_kwh)
    if not grids:
        raise ReaderError(f"There is no published grid carbon of {', '.join(map(str, regions))} in the data.")
    working.say("CO2e")
    cleanest, *others = grids
    first = f"{_place(cleanest, working)} has the cleaner grid" if len(others) == 1 else f"{_place(cleanest, working)} has the cleanest grid"
    lines = [f"{first}: {_intensity(cleanest)} {working.cite(cleanest.row)}."]
    for grid in others:
        times = f"{grid.g_co2_per_kwh / cleanest.g_co2_per_kwh:.3g}"
        working.note(Computed(times, f"{grid.g_co2_per_kwh:g} / {cleanest.g_co2_per_kwh:g}"))
        lines.append(f"- {_place(grid, working)}: {_intensity(grid)}, {times} times that of {cleanest.region} {working.cite(grid.row, cleanest.row)}.")
    return lines


def _place(grid: Grid, working: Working) -> str:
    working.say(grid.region)
    return f"{grid.place} ({grid.region})" if grid.place else grid.region


def _intensity(grid: Grid) -> str:
    return f"{grid.g_co2_per_kwh:g} g of CO2e per kWh"


def _of_energy(works: Sequence[Workload], working: Working, *, with_pue: bool) -> list[str]:
    """What energy that is given emits in regions, with the PUE of their data centres unless that is not wanted."""
    facts, lines = working.tables.facts, []
    for work in works:
        region, kwh = work.region or DEFAULT_REGION, work.kwh or 0.0
        grid, centre = facts.grids.get(region), facts.pue(region)
        if not grid:
            raise ReaderError(f"There is no published grid carbon of {region} in the data.")
        pue = centre.pue if centre and centre.pue and with_pue else None
        formula = f"{kwh:g} kWh × {f'{pue:g} × ' if pue else ''}{grid.g_co2_per_kwh:g} g"
        total = kwh * (pue or 1.0) * grid.g_co2_per_kwh
        text = f"{rounded(total / 1000)} kg"
        working.note(Computed(text, formula, 1000.0, (kwh,)))
        working.say(formula, region, "CO2e", f"{pue:g}" if pue else "")
        rows = [grid.row, *([centre.row] if centre and pue else [])]
        how = f"with a PUE of {pue:g}" if pue else "by its grid alone" if not with_pue else "by its grid alone, for no PUE is published"
        lines.append((total, f"{text} of CO2e in {_place(grid, working)}, {how}: {formula} {working.cite(*rows)}."))
    return [f"- {line}" if len(lines) > 1 else line for _, line in sorted(lines)]
