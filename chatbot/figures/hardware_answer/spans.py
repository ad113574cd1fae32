"""Time spans that a figure is asked for, and figures of an hour over these spans."""

import re
from collections.abc import Iterable, Sequence

from chatbot.figures.hardware_answer.machines import Machine
from chatbot.sizing import Figure, Workload
from chatbot.sizing.impact import HOURS_A_MONTH
from chatbot.sizing.reading.schedule import hours_in
from chatbot.working import Working, percent, rounded

UNITS = {1 / 60: "minute", 1.0: "hour", 24.0: "day", 168.0: "week", 730.0: "month", 2190.0: "quarter", 8760.0: "year"}
_UNIT_OF_TIME = r"(?:minute|hour|day|week|month|quarter|year|annum|quartal|trimestre|stunde|tag|woche|monat|jahr|heure|jour|semaine|mois|hora|d[ií]a|semana|mes|año)"
SPAN = re.compile(rf"\b(?:per|an?|one|each|every|the|pro|im|am|einem|einer|une?|una|par|por|al)[ -](?:calendar |idle |single |whole )?({_UNIT_OF_TIME})\b|/ ?(h|min|day|week|mo|month|year)\b|\b(hourly|daily|weekly|monthly|yearly|ann?ual(?:ly)?|annuel|mensu[ae]l|monatlich|jährlich|täglich)")
_UNIT_OF = {"usd_per_hour": "$", "watts": "Wh", "kwh_per_hour": "kWh", "g_co2_per_hour": "g", "embodied_g_per_hour": "g", "litres_per_hour": "litres of water"}
# The amounts from which a unit is written in a larger one, and that unit.
_LARGER = {"W": ((1000, "kW", 1e3),), "Wh": ((100, "kWh", 1e3),), "g": ((1e7, "t", 1e6), (1000, "kg", 1e3))}
_TOKENS = r"tok\w*\b(?! ?(?:/|per|an?|each) ?s)"
# Amounts of tokens that a price may be asked for, beside a million.
_AMOUNTS = ((1e3, re.compile(rf"\b(?:1[.,]?000|1k|thousand) {_TOKENS}")), (1e9, re.compile(rf"\b(?:billion|bn) {_TOKENS}")))
NUMBERS = (1, 24, 168, HOURS_A_MONTH, 8760, 1000, 3600, 1e6)


def spans_of(work: Workload, question: str, *, paid: bool = False) -> list[tuple[str, float]]:
    """The time spans to give a figure for, as (words, hours): the one that is asked for, else an hour and a month.

    At a given speed it is the time that the tokens take. With `paid`, a load makes it longer, because idle hardware is
    paid for, too.
    """
    if work.tokens_per_second:
        share = work.load if paid and work.load else 1.0
        busy = f" for {percent(share)} of the time" if share < 1 else ""
        tokens = work.tokens or next((number for number, asks in _AMOUNTS if asks.search(question)), 1e6)
        several = f"{tokens / 1e9:g} billion" if tokens >= 1e9 else f"{tokens / 1e6:g} million"
        told = {1e3: "a thousand", 1e6: "a million", 1e9: "a billion"}.get(tokens, several)
        words = f"for {told} tokens at {work.tokens_per_second:,g} tokens a second{busy}"
        return [(words, tokens / (work.tokens_per_second * share * 3600))]
    if work.hours:
        return [(length(work.hours), work.hours)]
    spans = dict.fromkeys(hours_asked(question)) or {1.0: None, 730.0: None}
    return [(f"{'an' if hours == 1 else 'a'} {UNITS[hours]}{' of 730 hours' if hours == 730 else ''}", hours) for hours in spans]


def hours_asked(question: str) -> list[float]:
    """The units of time that figures are asked for, in hours: "per day", "monthly"."""
    return [hours_in(match[1] or match[2] or match[3]) for match in SPAN.finditer(question)]


def length(hours: float) -> str:
    """A number of hours in words."""
    if hours == HOURS_A_MONTH:
        return "for a month of 730 hours"
    if hours == 8760:
        return "for a year"
    days = f", {hours / 24:g} days," if hours >= 48 and hours % 24 == 0 else ""
    return f"for {round(hours, 1 if hours >= 10 else 2):,g} hour{'s' if hours != 1 else ''}{days}".rstrip(",")


def over(machine: Machine, name: str, spans: Sequence[tuple[str, float]], working: Working, of: str = "") -> str:
    """A figure of an hour for several time spans, as in "$55.04 an hour, $40,200 a month"."""
    working.say(*(words for words, _ in spans))
    return ", ".join(f"{amount(machine, machine.impact.known(name), hours, working)}{of} {words}" for words, hours in spans)


def amount(machine: Machine, figure: Figure, hours: float, working: Working) -> str:
    """A figure of an hour for one time span, in its unit."""
    unit = _UNIT_OF[figure.name]
    factor = machine.factor if unit == "$" else 1.0
    formula = f"({figure.formula}) × {hours:.6g}{f' × {factor:g}' if factor != 1 else ''}"
    return written(figure.value * hours * factor, unit, formula, inputs(machine, hours), working)


def written(value: float, unit: str, formula: str, given: Sequence[float], working: Working) -> str:
    """A figure as it is written ("$1.20", "950 W", "1.2 kg"), with its arithmetic noted."""
    larger = ((name, scale) for least, name, scale in _LARGER.get(unit, ()) if value >= least)
    name, scale = next(larger, (unit, 1.0))
    text = f"${rounded(value, money=True)}" if unit == "$" else f"{rounded(value / scale)} {name}"
    return working.figure(text, formula, *given, unit=scale)


def inputs(machine: Machine, *others: float) -> tuple[float, ...]:
    """The numbers in formulas that come from the question or follow from a cited row."""
    work, impact = machine.work, machine.impact
    computed = (impact.watts, impact.kwh_per_hour, *((impact.watts / 1000,) if impact.watts else ()))
    devices = re.findall(r"([\d.]+) × \(", watts.formula) if (watts := impact.figure("watts")) else ()
    return tuple(float(n) for n in (*NUMBERS, *others, machine.factor, work.instances, work.load, 0.5, *computed, *devices) if n)


def gap(less: Machine, more: Machine, name: str, span: tuple[str, float], working: Working) -> str:
    """By how much a figure of `more` exceeds that of `less` over a time span."""
    one, other, hours, unit = less.impact.known(name), more.impact.known(name), span[1], _UNIT_OF[name]
    factor = less.factor if unit == "$" else 1.0
    formula = f"(({other.formula}) - ({one.formula})) × {hours:g} × {factor:g}"
    given = (*inputs(less, hours), *inputs(more, hours))
    return written((other.value - one.value) * hours * factor, unit, formula, given, working)


def sources(name: str, machines: Iterable[Machine], working: Working) -> str:
    """The citation marks of what a figure of machines is computed from."""
    return working.cite(*(row for m in machines if (figure := m.impact.figure(name)) for row in figure.inputs))
