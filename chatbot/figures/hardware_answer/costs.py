"""What machines cost: by the hour and over time, per unit, together, against each other and against a budget."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from chatbot.answer import REFUSAL, ReaderError
from chatbot.figures.hardware_answer.machines import Machine, machine_of, memory_gb
from chatbot.figures.hardware_answer.spans import SPAN, gap, inputs, length, over, spans_of, written
from chatbot.figures.hardware_answer.units import EACH, PER_GB
from chatbot.sizing import Workload
from chatbot.sizing.facts import short
from chatbot.sizing.goals import Goal
from chatbot.sizing.impact import HOURS_A_MONTH
from chatbot.sizing.reading import read_question
from chatbot.working import Working, article, capital, rounded

COMMITMENT = r"savings?[ -]plans?|reserv\w+|\bris?\b|\bcommit\w*\b(?! to \w+ing\b)|\bplan\b|\b[13][ -]?(?:years?|yrs?|y) (?:savings|sp\b|ri\b)"
_USED = re.compile(r"\b(?:useful|effective\w*|really|true|truly|actual(?!ly)\w*|real|in practice|busy hours?|utili[sz]ation|idles?)\b")
_COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTED = rf"(?:\d+|{'|'.join(_COUNTS)})"
# Counted machines of several types are one bill: "what do 2 g5.xlarge and 1 p4d.24xlarge cost?".
_LOT = rf"\b{_COUNTED} (?:x )?[a-z]+\d+[a-z]*(?:-\w+)?\.\w+"
_LOTS_COUNTED = rf"(?!.*\b(?:difference|differ|more|less|which|better)\b).*{_LOT}.*(?:\band\b|,).*{_LOT}"
_SUM = re.compile(rf"^(?!.*\b(?:vs|versus|cheaper|compared|or)\b)(?:{_LOTS_COUNTED}|.*\b(?:totals?|sum|together|combined|altogether|in all|all (?:two|three|four|five|six|told|in)|bill|invoice|base(?: load)?|plus)\b)|\b \+ \b", re.DOTALL)
_LOTS = re.compile(rf"(?:,|\bplus|\band|\+|\bas well as)\s(?:of )?(?=(?:(?:an? |{_COUNTED} )(?:[a-z-]+ ){{0,2}}?)?[a-z]+\d+[a-z]*(?:-\w+)?\.\w)")
_IS_ENOUGH = re.compile(r"^(?!.*\b(?:how many|number of|wie viele|combien|cu[aá]nt)).*\b(?:enough|stretch|suffic\w+|covers?|reicht|afford|within)\b", re.DOTALL)
# A price is held against a sum: "is p4d.24xlarge under $22 an hour?".
_OVER = r"(?:over|above|beyond|exceed\w*|(?<!no )(?<!not )(?:more|more expensive) than)"
_UNDER = r"(?:under|below|(?:less|cheaper) than)"
_HELD = re.compile(rf"^\W*(?:(?:and|but|so|ok)\W+)*(?:is|are|does|do|would|can)\b(?!.*\bhow (?:many|much)).*?\b(?:(?P<over>{_OVER})|(?P<under>{_UNDER})|at most|no(?:t)? more than) (?:us)?\$?\s?\d", re.DOTALL)
_RATIO = re.compile(r"\b(?:(?:how many|many|what) times|times (?:the|as|more|an?(?! (?:day|week|month|year)\b))|factors?|ratio|multiples?|wie ?viel ?mal|combien de fois|cu[aá]ntas veces|quante volte)\b|\dx\b")
_HOW_LONG = re.compile(r"(?:^|[,:;?.] )hours (?:of|on|with) |\bhow (?:long\b[^.;?]*\b(?:last|run|keep)|many (?:\w+[ -])?(?:hours?|days|weeks)(?! (?:a|per) ))|\b(?:wie lange|combien d['’]heures|combien de (?:temps|jours))\b")
# Prices that differ by less than this factor are a tie.
_TIE = 1.02
_IN_PERCENT = re.compile(r"%|\bpercent|\bper cent|\brelative|\bmark-?up|\bpremium")


def costs(machines: Sequence[Machine], question: str, working: Working, *, differ: bool) -> list[str]:
    """Lines on what machines cost: of one alone, or of several against each other, the cheapest first."""
    priced = sorted((m for m in machines if m.impact.price), key=lambda m: m.impact.usd_per_hour or 0.0)
    silent = [f"{_no_price(m).removesuffix('.')} {working.cite(*m.rows)}." for m in machines if not m.impact.price]
    if not priced:
        raise ReaderError(" ".join([REFUSAL, *dict.fromkeys(map(_no_price, machines))]))
    least, *others = priced
    same = all(m.impact.usd_per_hour == least.impact.usd_per_hour for m in others)
    if not others or (same and len({m.name for m in priced}) == 1):
        return [*cost_lines(least, question, working), *silent]
    units = [unit for m in priced if (unit := _unit(m, question, working))]
    ranked = sorted(units or [_hour_of(m, working) for m in priced], key=lambda unit: unit.value)
    tie = len(ranked) > 1 and ranked[1].value / ranked[0].value < _TIE
    times = [_times(ranked[1], ranked[0], working)] if len(ranked) == 2 and not tie and _RATIO.search(question) else []
    if units:
        best = f"{'A tie' if tie else f'{ranked[0].name} is cheapest'} by that." if len(units) > 1 else ""
        return [best, *times, *(f"- {unit.text}." for unit in ranked), *silent]
    spans = spans_of(least.work, question, paid=True)
    spans = spans if SPAN.search(question) else spans[:1]
    against = "; ".join(f"{m.name} costs {over(m, 'usd_per_hour', spans, working)} {_cited(m, working)}" for m in others)
    verdict = "costs the same" if same else "is cheaper" if len(others) == 1 else "is the cheapest"
    first = f"{least.name} {verdict}: {over(least, 'usd_per_hour', spans, working)} {_cited(least, working)}"
    told = [*times, f"{first}; {against}.", *silent]
    if same or len(others) > 1:
        return told
    difference = _difference(least, others[0], ranked, spans, question, working)
    return [difference, *told] if differ else [*told, difference]


def _difference(
    less: Machine, more: Machine, ranked: Sequence["_Unit"], spans: Sequence[tuple[str, float]], question: str, working: Working
) -> str:
    """How much more the dearer of two machines costs over time and, if that is asked for, in percent."""
    gaps = ", ".join(f"{gap(less, more, 'usd_per_hour', span, working)} more {span[0]}" for span in spans)
    if _IN_PERCENT.search(question):
        one, other = ranked

        def share_of(whole: _Unit) -> str:
            formula = f"(({other.formula}) - ({one.formula})) / ({whole.formula}) × 100"
            share = rounded((other.value - one.value) / whole.value * 100)
            return working.figure(f"{share} %", formula, 100.0, *one.given, *other.given)

        gaps += f" than {less.name}, which is {share_of(one)} more; {less.name} saves {share_of(other)}"
    else:
        gaps += f" than {less.name}"
    return f"{more.name} costs {gaps} {_cited(more, working)}{_cited(less, working)}."


def cost_lines(machine: Machine, question: str, working: Working) -> list[str]:
    """The line on what a machine costs over the time that is asked for, or per unit of it."""
    assert machine.impact.price
    spans = spans_of(machine.work, question, paid=True)
    hourly = [] if any(hours == 1 for _, hours in spans) else [("an hour", 1.0)]
    what = f"{machine.name}, {machine.terms}" if machine.terms else machine.name
    amounts = over(machine, "usd_per_hour", [*spans, *hourly], working)
    text = f"{amounts} for {what} {_terms(machine)} {_cited(machine, working)}."
    unit = _unit(machine, question, working)
    return [f"{unit.text}: {capital(text)}"] if unit else [text]


@dataclass(frozen=True, slots=True)
class _Unit:
    """What an hour of a machine costs per unit: per GPU, per GB of GPU memory, or per hour of use."""

    name: str
    value: float
    text: str
    formula: str
    given: tuple[float, ...]


def _unit(machine: Machine, question: str, working: Working) -> _Unit | None:
    """What the unit that a question asks for costs; None if it asks for whole machines."""
    facts, work = working.tables.facts, machine.work
    instance, hourly = facts.instances[work.instance_type or ""], machine.impact.figure("usd_per_hour")
    assert hourly
    load = work.load if work.load and _USED.search(question) else 1.0
    memory = memory_gb(instance, facts) * instance.accelerators
    if memory and PER_GB.search(question):
        divisor, what = memory, f"of the {memory:g} GB of GPU memory of {instance.name}"
    elif instance.accelerators and EACH.search(question):
        divisor = instance.accelerators
        what = f"{short(instance.accelerator)} of {instance.name}, which has {divisor:g} of them"
    elif load < 1:
        divisor, what = 1.0, instance.name
    else:
        return None
    divisor *= work.instances or 1
    value, given = hourly.value * machine.factor / divisor / load, (*inputs(machine), divisor, load)
    formula = f"({hourly.formula}) × {machine.factor:g} / {divisor:g} / {load:g}"
    busy = f" that it is used, at {load * 100:g} % utilisation," if load < 1 else ""
    working.say(what, busy)
    cite = f"{_cited(machine, working)}{working.cite(*machine.rows)}"
    text = f"{written(value, '$', formula, given, working)} an hour{busy} for each {what} {cite}"
    return _Unit(machine.name, value, text, formula, given)


def _hour_of(machine: Machine, working: Working) -> _Unit:
    """What an hour of a whole machine costs."""
    hourly = machine.impact.known("usd_per_hour")
    return _Unit(machine.name, hourly.value, _cited(machine, working), hourly.formula, inputs(machine))


def _times(more: _Unit, less: _Unit, working: Working) -> str:
    """How many times as much the one costs as the other."""
    text = working.figure(rounded(more.value / less.value), f"({more.formula}) / ({less.formula})", *more.given, *less.given)
    marks = "".join(dict.fromkeys(re.findall(r"\[\d+\]", more.text + less.text)))
    return f"{more.name} costs {text} times as much as {less.name}{' by that' if ' for each ' in more.text else ''} {marks}."


def cheapest(machine: Machine, work: Workload, question: str, working: Working) -> list[str]:
    """Lines on the cheapest instance type, which `machine` is, for the accelerators that `work` asks for."""
    instance = working.tables.facts.instances[machine.work.instance_type or ""]
    number = f"{instance.accelerators:g} × " if instance.accelerators != 1 else ""
    if work.accelerator:
        number = f"{work.accelerators} × " if (work.accelerators or 1) > 1 else f"{article(work.accelerator)} "
    of_family = not (work.accelerator or work.vendors or work.accelerators or work.accelerator_memory_gb)
    kind = f"with {number}{work.accelerator or short(instance.accelerator)}"
    if work.families and of_family:
        kind = f"of {' and '.join(sorted(work.families))}"
    memory = f" of {memory_gb(instance, working.tables.facts):g} GB" if work.accelerator_memory_gb else ""
    working.say(kind, memory, machine.name)
    first = f"{machine.name} is the cheapest type {kind}{memory} {working.cite(*machine.rows)}."
    return [first, *cost_lines(machine, question, working)]


def together(work: Workload, question: str, working: Working) -> list[str]:
    """What several lots of machines cost together, each with its own count, hours and price; empty if no sum is asked for,
    there is only one lot or a price is missing."""
    if not _SUM.search(question):
        return []
    read = (read_question(part, working.tables.known).slots for part in _LOTS.split(question))
    lots = [slots for slots in read if slots.get("instance_type")]
    said = [slots["hours"] for slots in lots if "hours" in slots and work.hours]
    of_all = len(said) == 1 or re.search(r"\b(?:all|both|everything|each) (?:of|for)\b", question)
    usual = float(HOURS_A_MONTH)
    if said and "hours" in lots[-1] and of_all:
        usual = said[-1]
    elif re.search(r"\byear|\bannual", question):
        usual = 8760.0
    kept = ("instance_type", "instances", "budget_per_hour", *(["hours"] if said else []))
    bare = replace(work, hours=None)
    changes: list[dict[str, Any]] = [{slot: slots.get(slot) for slot in kept} for slots in lots]
    machines = [machine_of(replace(bare, **changed), working) for changed in changes]
    if len(machines) < 2 or not all(m.impact.price for m in machines):
        return []
    names = " and ".join(m.name for m in machines)
    cite = working.cite(*(m.impact.price.row for m in machines if m.impact.price))
    told = []
    for words, span in [("together", usual)] if said else spans_of(Workload(), question):
        parts, given, total = [], [730.0, 8760.0], 0.0
        for m in machines:
            assert m.impact.price
            number, price = m.work.instances or 1, m.work.budget_per_hour or m.impact.price.usd_per_hour
            hours = m.work.hours or span
            parts.append(f"{number} × {price:.6g} × {hours:.6g} × {m.factor:g}".removesuffix(" × 1"))
            given += [float(number), price, hours, m.factor]
            total += number * price * hours * m.factor
        formula = working.say(" + ".join(parts), words)
        amount = written(total, "$", formula, given, working)
        told.append(f"{amount} {words} for {names} {_terms(machines[0])}: {formula} {cite}.")
    return told


def affordable(machine: Machine, goals: set[Goal], question: str, working: Working) -> str:
    """Whether a budget covers what is asked, or how many machines or hours it pays for."""
    work, price = machine.work, machine.impact.price
    if not price:
        raise ReaderError(f"{REFUSAL} {_no_price(machine)}")
    where = f"{machine.terms} {_terms(machine)} {_cited(machine, working)}".strip()
    hourly = (machine.impact.usd_per_hour or 0.0) * machine.factor
    if work.budget and (not work.hours or _HOW_LONG.search(question)):
        return f"{_hours_paid(machine, work.budget, hourly, working)} {where}."
    if work.budget:
        budget, per, hours = work.budget, "", work.hours or 1.0
    elif work.budget_per_month:
        # Machines that do not run all the time are paid for fewer hours of a month.
        budget, per, hours = work.budget_per_month, " a month", min(work.hours or HOURS_A_MONTH, HOURS_A_MONTH)
    else:
        budget, per, hours = work.budget_per_hour or 0.0, " an hour", 1.0
    spans = [] if work.budget else [("an hour", 1.0)]
    spans += [(length(hours).replace("for a month", "a month"), hours)] if work.budget or work.budget_per_month else []
    shown = working.say(f"${budget:,.0f}" if budget >= 100 else f"${budget:.2f}".removesuffix(".00"))
    held, spent = _HELD.match(question), hourly * hours
    limit = f"the {'limit' if held else 'budget'} is {shown}{per}"
    counts = {Goal.AFFORDABLE, Goal.COUNT} & goals or re.search(r"how many|number of|wie viele", question)
    if not counts or held or _IS_ENOUGH.search(question):
        is_so = spent > budget if held and held["over"] else spent < budget if held and held["under"] else spent <= budget
        amounts = over(machine, "usd_per_hour", spans, working)
        return f"{'Yes' if is_so else 'No'}: {machine.name} costs {amounts} {where}, and {limit}."
    one = machine_of(replace(work, instances=1), working)
    bought = math.floor(budget / (price.usd_per_hour * machine.factor * hours) + 1e-9)
    working.say(f"{bought:,} × {one.name}", str(bought))
    what = f"{bought:,} × {one.name}: each" if bought else f"Not one {one.name}: it"
    return f"{what} costs {over(one, 'usd_per_hour', spans, working)} {where}, and {limit}."


def _hours_paid(machine: Machine, budget: float, hourly: float, working: Working) -> str:
    """How long a sum of money pays for a machine."""
    hours = budget / hourly
    days = f" ({rounded(hours / 24)} days)" if hours >= 48 else ""
    text = working.figure(f"{rounded(hours)} hours", f"{budget:g} / {hourly:.6g}", budget, hourly)
    shown = working.say(f"${budget:,.0f}", days)
    return f"{shown} pays for {text}{days} of {machine.name}, at {over(machine, 'usd_per_hour', [('an hour', 1.0)], working)}"


def _cited(machine: Machine, working: Working) -> str:
    return working.cite(machine.impact.price.row) if machine.impact.price else working.cite(*machine.rows)


def _terms(machine: Machine) -> str:
    return machine.impact.price.terms if machine.impact.price else ""


def _no_price(machine: Machine) -> str:
    sold = ": it is sold by Capacity Blocks" if (machine.work.instance_type or "").startswith("trn2") else ""
    return f"There is no published on-demand price of {machine.name} in the data{sold}."
