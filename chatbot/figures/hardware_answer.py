"""Answer questions on hardware without a model: what machines cost, draw and emit, and how clean a region's grid is."""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from chatbot.answer import REFUSAL, ReaderError
from chatbot.draft import Draft
from chatbot.sizing import Facts, Figure, Impact, Workload
from chatbot.sizing.asking import Asked
from chatbot.sizing.completion import check_numbers, check_region
from chatbot.sizing.facts import Accelerator, Grid, Instance, short
from chatbot.sizing.given import read_given
from chatbot.sizing.goals import Goal
from chatbot.sizing.impact import DEFAULT_REGION, HOURS_A_MONTH, accelerator_watts, impact_of_machines, load_of
from chatbot.sizing.memory import GIB
from chatbot.sizing.reading import read_question
from chatbot.sizing.reading.schedule import hours_in
from chatbot.sizing.spelled import as_read
from chatbot.working import Working, article, capital, percent, rounded
from ingest import Row

_UNITS = {1 / 60: "minute", 1.0: "hour", 24.0: "day", 168.0: "week", 730.0: "month", 2190.0: "quarter", 8760.0: "year"}
_UNIT_OF_TIME = r"(?:minute|hour|day|week|month|quarter|year|annum|quartal|trimestre|stunde|tag|woche|monat|jahr|heure|jour|semaine|mois|hora|d[ií]a|semana|mes|año)"
_SPAN = re.compile(rf"\b(?:per|an?|one|each|every|the|pro|im|am|einem|einer|une?|una|par|por|al)[ -](?:calendar |idle |single |whole )?({_UNIT_OF_TIME})\b|/ ?(h|min|day|week|mo|month|year)\b|\b(hourly|daily|weekly|monthly|yearly|ann?ual(?:ly)?|annuel|mensu[ae]l|monatlich|jährlich|täglich)")
COMMITMENT = r"savings?[ -]plans?|reserv\w+|\bris?\b|\bcommit\w*\b(?! to \w+ing\b)|\bplan\b|\b[13][ -]?(?:years?|yrs?|y) (?:savings|sp\b|ri\b)"
_RECURS = re.compile(r"\b(?:an?|per|each|every) (?:day|night|week)\b|\bweek ?(?:days?|ends?)\b|\bmon\w*(?: to |-)fri|\bdaily\b|\bnights?\b|/ ?(?:day|week)\b")
CARBON = r"co2|carbon|emission|\bemit|footprint|co₂"
ENERGY = r"(?<!/)(?<!per )\bk?wh\b|energy|electric|strom"
_IDLE = re.compile(r"\bidl\w+|\bleerlauf|\bstandby\b|\bau repos\b|\binactiv\w+")
_EMBODIED = re.compile(r"^(?!.*\b(?:operational|electricity|included?|plus)\b)(?=.*\b(?:embodied|embedded|manufactur\w+|making)\b(?!.*\band\b))", re.DOTALL)
_NOT_EMBODIED = re.compile(r"\b(?:no|not|without|except|leav\w+ out|minus|ignor\w+)\b[^.;]{0,25}\b(?:embodied|manufactur\w+)\b|\bembodied\b[^.;,]{0,12}\b(?:no|out)\b")
_WITH_EMBODIED = re.compile(r"\b(?:everything|in all|total|plus|including|included|incl|and|with|all in)\b")
_WITHOUT_PUE = re.compile(r"\b(?:no|without|before|only grid|leaving out|ignore|sin|sans|ohne)\b[^.]{0,20}pue|\b(?:overhead|pue) (?:\w+ )?(?:already|left out)\b|\bit side\b|\bgrid (?:intensity )?only\b")
_GPUS_ALONE = re.compile(r"\b(?:just|only) (?:for |of |in )?(?:the |its |all )?(?:gpus?|accelerators?|chips|cards)\b|\b(?:gpus?|accelerators?|chips|cards) (?:alone|only|by themselves)\b")
_WHOLE = re.compile(r"\b(?:whole|full|entire) |\bnode\b")
_CARD = r"(?:gpu|card|chip|accelerator|(?![gp]\d)[a-z]{1,2}\d{1,3}\w?|inferentia ?\d?)"
_EACH = re.compile(
    rf"(?:(?<!than )\b(?:per|each)|\$ ?/) ?(?:single )?{_CARD}\b(?!\.)|\b(?:price|cost|rate)\b[^.?]*\b{_CARD}[ -]hours?\b"
    rf"|\b(?:one|an?|does one|\*?useful\*?) {_CARD}(?: (?:per|an|and) |[ -]| cost per )hour\b|\bdivided by (?:\w+ )?gpus\b"
)
_COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_PER_GB = re.compile(r"(?:\bper|/|\ban?|\beach|\bevery) ?(?:gi?b|gigs?|gigabytes?)(?= |\b)(?! ?/ ?s)")
_USED = re.compile(r"\b(?:useful|effective\w*|really|true|truly|actual(?!ly)\w*|real|in practice|busy hours?|utili[sz]ation|idles?)\b")
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
_PART_OF_A_GPU = re.compile(r"\b(?:slice|fraction\w*|part(?:ial)?|piece|shared|half) (?:of )?(?:an? )?(?:gpu|card|is|are)?")
_MORE_OR_SO = re.compile(r"\b(?:at least|or more|al menos|mindestens|au moins|almeno|minimum|min|over|upwards)\b|>=?|≥|\d\+")
_DIFFERENCE = re.compile(r"\b(?:difference|gap|delta|sav\w+|avoid\w*|spar(?:e|es|ed|ing)|cut|reduc\w+|(?:shift|mov|migrat|relocat)\w+ .*from .*to|minus|by how much|how much (?:more|less|extra|dearer|cheaper)|extra|premium|unterschied|différence|diferencia)\b")
_RATIO = re.compile(r"\b(?:(?:how many|many|what) times|times (?:the|as|more|an?(?! (?:day|week|month|year)\b))|factors?|ratio|multiples?|wie ?viel ?mal|combien de fois|cu[aá]ntas veces|quante volte)\b|\dx\b")
_NUMBERS = (1, 24, 168, HOURS_A_MONTH, 8760, 1000, 3600, 1e6)
_HOW_LONG = re.compile(r"(?:^|[,:;?.] )hours (?:of|on|with) |\bhow (?:long\b[^.;?]*\b(?:last|run|keep)|many (?:\w+[ -])?(?:hours?|days|weeks)(?! (?:a|per) ))|\b(?:wie lange|combien d['’]heures|combien de (?:temps|jours))\b")
_OF_MONEY = frozenset({Goal.COST, Goal.TOKEN_COST, Goal.AFFORDABLE, Goal.DIFFERENCE})


def answer_by_hardware(asked: Asked, working: Working) -> Draft:
    """Draft the figure first, then its arithmetic. Several machines or places are compared, the least first."""
    *earlier, question = map(as_read, working.said[0].split("\n"))
    works, own = (asked.workload, *asked.others), _figures_said(working)
    if earlier and "hours" not in read_question(question, working.tables.known).slots:
        works = tuple(_in_span_asked(work, question, earlier) for work in works)
    if not _SPAN.search(question) and (spans := next((s for turn in reversed(earlier) if (s := [m.group() for m in _SPAN.finditer(turn)])), None)):
        question = " ".join([question, *spans])
    if "discount" in own and re.search(COMMITMENT, working.said[0].lower()) and any(map(_RECURS.search, (*earlier, question))):
        works = tuple(replace(work, hours=None) for work in works)  # a commitment is paid for in all hours
    for work in works:
        check_numbers(work)
    _put_own_site(works, own, working)
    emits = Goal.ENERGY in asked.goals and (own.get("grid") or re.search(CARBON, question))
    goals = {*asked.goals, *([Goal.CARBON] if emits else [])}
    return working.draft(*_lines(works, goals, question, working))


def _lines(works: Sequence[Workload], goals: Collection[Goal], question: str, working: Working) -> Iterable[str]:
    work, facts, said = works[0], working.tables.facts, working.said[0].lower()
    differ = bool(Goal.DIFFERENCE in goals or _DIFFERENCE.search(question))
    if work.kwh and not work.instance_type and Goal.WATER in goals:
        return [_evaporated(work, working) for work in works]
    if work.kwh and not work.instance_type:
        with_pue = not ("at the meter" in said or _WITHOUT_PUE.search(question))  # energy at the meter includes the overhead
        return of_energy(works, working, with_pue=with_pue, differ=differ)
    if {Goal.CHEAPEST, Goal.SMALLEST} & set(goals) and not work.instance_type and not (_EACH.search(question) and work.accelerator):
        found = [(work, _machine(_cheapest_by(work, question, facts), working)) for work in works]
        return [line for work, machine in found for line in _cheapest(machine, work, question, working)]
    if not (work.instance_type or work.accelerator or work.families):
        return _of_grids(works, working)
    powered = {Goal.CARBON, Goal.WATER, Goal.ENERGY} & set(goals)
    if work.accelerator and not work.instance_type:
        if powered or not {*_OF_MONEY, Goal.CHEAPEST} & set(goals):
            return _of_accelerators(works, question, working, goals=goals, differ=differ)
        if set(goals) & _OF_MONEY - {Goal.COST} or work.hours or not _is_sold_whole(work, facts):
            works = [rented(work, facts) for work in works]
        else:
            machines = [_machine(_cheapest_by(work, "", facts, each=True), working) for work in works]
            return [line for machine in machines for line in _cost(machine, "per gpu " + question, working)]
    if set(goals) <= {Goal.COST, Goal.DIFFERENCE, Goal.AFFORDABLE, Goal.COMPARE} and _SUM.search(question) and (told := _together(work, question, working)):
        return told
    machines = [_machine(work, working) for work in _typed(works, facts, whole=bool(_WHOLE.search(said)))]
    if Goal.CARBON in goals and _EMBODIED.search(question) and not _NOT_EMBODIED.search(question):
        return [_made(machine, question, working) for machine in machines]
    if Goal.CARBON in goals:
        return _emissions(machines, question, working, differ=differ)
    if Goal.WATER in goals:
        return [_evaporating(machine, question, working) for machine in machines]
    if Goal.ENERGY in goals and _GPUS_ALONE.search(question):
        return _of_accelerators([_inside(work, facts) for work in works], question, working, goals=goals, differ=differ)
    if Goal.ENERGY in goals:
        return _energy(machines, question, working, differ=differ)
    if work.budget or work.budget_per_hour or work.budget_per_month:
        counts = {Goal.AFFORDABLE, Goal.COUNT} & set(goals) or re.search(r"how many|number of|wie viele", question)
        counted = bool(counts) and not (_IS_ENOUGH.search(question) or _HELD.match(question))
        return [_affordable(machine, question, working, counted=counted) for machine in machines]
    return _costs(machines, question, working, differ=differ)


def asks_unit(question: str) -> bool:
    """Whether a price per GPU or per GB of GPU memory is asked for; the price in a row is for the whole machine."""
    return bool(_EACH.search(as_read(question)) or _PER_GB.search(as_read(question)))


@dataclass(frozen=True, slots=True)
class _Machine:
    """Instances of one type in one region, with what they cost and draw; `rows` are those of the type."""

    name: str
    work: Workload
    impact: Impact
    rows: tuple[Row, ...]
    factor: float = 1.0
    """The factor on the list price; `terms` gives the reason: 0.83, "with 17 % off"."""
    terms: str = ""

    @property
    def region(self) -> str:
        return self.work.region or DEFAULT_REGION


def _typed(works: Sequence[Workload], facts: Facts, *, whole: bool = False) -> list[Workload]:
    """Resolve workloads to instance types, at most four. A family stands for its most expensive type and its cheapest;
    a `whole` machine of it, each of several families, and a number of machines of one, stands for its most expensive."""
    found: list[Workload] = []
    for work in works:
        if work.instance_type:
            found.append(work)
            continue
        known = [i for i in facts.instances.values() if i.family in work.families and facts.price(i.name)]
        ranked = sorted(known, key=lambda i: facts.price(i.name).usd_per_hour)  # type: ignore[union-attr]
        if not ranked:
            raise ReaderError(f"There is no price of {', '.join(sorted(work.families))} in the data.")
        largest = {i.family: i.name for i in ranked}
        alone = len(largest) == 1 and len(works) == 1 and (work.instances or 1) == 1 and not whole
        ends = dict.fromkeys(largest.values() if not alone else (ranked[-1].name, ranked[0].name))
        found += [replace(work, instance_type=name) for name in ends]
    return found[:4]


def rented(work: Workload, facts: Facts) -> Workload:
    """The workload on the instance type on which each of its accelerators costs least."""
    sold = _cheapest_by(replace(work, accelerators=1), "", facts, each=True)
    return replace(sold, accelerators=work.accelerators)


def _is_sold_whole(work: Workload, facts: Facts) -> bool:
    """Whether one machine with a price has as many of its accelerators."""
    sheets = _sheets(work, facts)
    return any(i.accelerators >= (work.accelerators or 1) and facts.price(i.name) and facts.accelerator(i) in sheets for i in facts.instances.values())


def _cheapest_by(work: Workload, question: str, facts: Facts, *, each: bool = False) -> Workload:
    """The workload on the cheapest instance type with the accelerators wanted: their number, memory, maker or family.

    With `each`, or if the question asks for a price per GPU or GB, the price of that unit decides.
    """
    sheets = _sheets(work, facts) if work.accelerator else []
    memory, fewest = work.accelerator_memory_gb or 0.0, work.accelerators or (0 if _PART_OF_A_GPU.search(question) else 1)

    def is_wanted(instance: Instance, exactly: bool) -> bool:
        sheet, size = facts.accelerator(instance), (instance.accelerator_memory_gib_each or 0.0) * GIB / 1e9
        vendor = sheet.vendor if sheet else instance.accelerator.partition(" ")[0]
        return (
            ((instance.accelerators >= fewest and instance.accelerators > 0) or (instance.family in work.families and not work.accelerators))
            and (not sheets or sheet in sheets)
            and (vendor in work.vendors if work.vendors else sheet is not None or bool(work.families))
            and (not work.families or instance.family in work.families)
            and not {vendor, instance.family, short(instance.accelerator)} & work.without
            and (not memory or (abs(size / memory - 1) < 0.1 if exactly else size > 0.97 * memory))
        )

    if not (work.vendors or work.families or work.accelerator) and re.search(r"\bgpus?\b|\bcards?\b", question):
        work = replace(work, vendors=frozenset({"NVIDIA", "AMD"}))
    priced = [(price.usd_per_hour, i) for i in facts.instances.values() if (price := facts.price(i.name))]
    exactly = not _MORE_OR_SO.search(question)
    fitting = [(usd, i) for usd, i in priced if is_wanted(i, exactly)] or [(usd, i) for usd, i in priced if is_wanted(i, exactly=False)]
    per_gb, each = bool(_PER_GB.search(question)), each or bool(_EACH.search(question))
    sold = [(usd / ((_memory_gb(i, facts) if per_gb else 1.0) * i.accelerators if each or per_gb else 1.0), i.accelerators, i.name) for usd, i in fitting if i.accelerators or not (each or per_gb)]
    if not sold:
        raise ReaderError("There is no on-demand price of an instance type with such accelerators in the data.")
    return replace(work, accelerator=None, accelerators=None, accelerator_memory_gb=None, families=frozenset(), vendors=frozenset(), instance_type=min(sold)[2])


def _machine(work: Workload, working: Working) -> _Machine:
    facts = working.tables.facts
    assert work.instance_type
    check_region(work.region or DEFAULT_REGION, facts)
    instance = facts.instances[work.instance_type]
    if work.accelerators and not work.instances and instance.accelerators:
        work = replace(work, instances=math.ceil(work.accelerators / instance.accelerators))
    machines = work.instances or 1
    name = f"{machines:,} × {instance.name}" if machines > 1 else instance.name
    working.say(name, str(machines), percent(load_of(work)), work.region or DEFAULT_REGION, "CO2e")
    own = _figures_said(working)
    less, more = own.get("discount", 0.0), own.get("headroom", 0.0)
    terms = [f"with {100 * less:g} % off"] * bool(less) + [f"with {100 * more:g} % added"] * bool(more)
    working.say(*terms)
    return _Machine(name, work, impact_of_machines(instance, work, facts), (instance.row,), (1 - less) * (1 + more), " and ".join(terms))


def _figures_said(working: Working) -> dict[str, float]:
    """The figures of the turns that change what machines cost and emit, the last of each role."""
    found: dict[str, float] = {}
    for given in (read_given(turn, working.tables.known) for turn in working.said[0].split("\n")):
        if "region" in given.slots:
            found.pop("grid", None)
        found |= {role: value for role in ("discount", "headroom", "grid", "PUE") if (value := given.one(role))}  # a frame has 0 for each number
    return found


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
    if work.hours in _UNITS:
        return replace(work, hours=None)
    return replace(work, hours=work.hours / HOURS_A_MONTH * span) if any(map(_RECURS.search, earlier)) else work


# --- time -----------------------------------------------------------------------------------------------------------------


def _spans(work: Workload, question: str, *, paid: bool = False) -> list[tuple[str, float]]:
    """The time spans to give a figure for, as (words, hours): the one that is asked for, else an hour and a month.

    At a given speed it is the time that the tokens take. With `paid`, a load makes it longer, because idle hardware is
    paid for, too.
    """
    if work.tokens_per_second:
        share = work.load if paid and work.load else 1.0
        busy = f" for {percent(share)} of the time" if share < 1 else ""
        amounts = ((r"\b(?:1[.,]?000|1k|thousand)", 1e3), (r"\b(?:billion|bn)", 1e9))
        tokens = work.tokens or next((number for written, number in amounts if re.search(rf"{written} tok\w*\b(?! ?(?:/|per|an?|each) ?s)", question)), 1e6)
        told = {1e3: "a thousand", 1e6: "a million", 1e9: "a billion"}.get(tokens) or (f"{tokens / 1e9:g} billion" if tokens >= 1e9 else f"{tokens / 1e6:g} million")
        return [(f"for {told} tokens at {work.tokens_per_second:,g} tokens a second{busy}", tokens / (work.tokens_per_second * share * 3600))]
    if work.hours:
        return [(_length(work.hours), work.hours)]
    spans = dict.fromkeys(hours_asked(question)) or {1.0: None, 730.0: None}
    return [(f"{'an' if hours == 1 else 'a'} {_UNITS[hours]}{' of 730 hours' if hours == 730 else ''}", hours) for hours in spans]


def hours_asked(question: str) -> list[float]:
    return [hours_in(match[1] or match[2] or match[3]) for match in _SPAN.finditer(question)]


def _length(hours: float) -> str:
    if hours == HOURS_A_MONTH:
        return "for a month of 730 hours"
    if hours == 8760:
        return "for a year"
    days = f", {hours / 24:g} days," if hours >= 48 and hours % 24 == 0 else ""
    return f"for {round(hours, 1 if hours >= 10 else 2):,g} hour{'s' if hours != 1 else ''}{days}".rstrip(",")


def _over(machine: _Machine, name: str, spans: Sequence[tuple[str, float]], working: Working, of: str = "") -> str:
    """A figure of an hour for several time spans, as in "$55.04 an hour, $40,200 a month"."""
    working.say(*(words for words, _ in spans))
    return ", ".join(f"{_amount(machine, machine.impact.known(name), hours, working)}{of} {words}" for words, hours in spans)


def _amount(machine: _Machine, figure: Figure, hours: float, working: Working) -> str:
    """A figure of an hour for one time span, in its unit."""
    unit = _UNIT_OF[figure.name]
    factor = machine.factor if unit == "$" else 1.0
    formula = f"({figure.formula}) × {hours:.6g}{f' × {factor:g}' if factor != 1 else ''}"
    return _written(figure.value * hours * factor, unit, formula, _given(machine, hours), working)


_UNIT_OF = {"usd_per_hour": "$", "watts": "Wh", "kwh_per_hour": "kWh", "g_co2_per_hour": "g", "embodied_g_per_hour": "g", "litres_per_hour": "litres of water"}
# The amounts from which a unit is written in a larger one, and that unit.
_LARGER = {"W": ((1000, "kW", 1e3),), "Wh": ((100, "kWh", 1e3),), "g": ((1e7, "t", 1e6), (1000, "kg", 1e3))}


def _written(value: float, unit: str, formula: str, given: Sequence[float], working: Working) -> str:
    """A figure as it is written ("$1.20", "950 W", "1.2 kg"), with its arithmetic noted."""
    written, scale = next(((larger, scale) for least, larger, scale in _LARGER.get(unit, ()) if value >= least), (unit, 1.0))
    text = f"${rounded(value, money=True)}" if unit == "$" else f"{rounded(value / scale)} {written}"
    return working.figure(text, formula, *given, unit=scale)


def _given(machine: _Machine, *others: float) -> tuple[float, ...]:
    """The numbers in formulas that come from the question or follow from a cited row."""
    work, impact = machine.work, machine.impact
    computed = (impact.watts, impact.kwh_per_hour, *((impact.watts / 1000,) if impact.watts else ()))
    devices = re.findall(r"([\d.]+) × \(", watts.formula) if (watts := impact.figure("watts")) else ()
    return tuple(float(n) for n in (*_NUMBERS, *others, machine.factor, work.instances, work.load, 0.5, *computed, *devices) if n)


# --- money ----------------------------------------------------------------------------------------------------------------


def _costs(machines: Sequence[_Machine], question: str, working: Working, *, differ: bool) -> list[str]:
    priced = sorted((m for m in machines if m.impact.price), key=lambda m: m.impact.usd_per_hour or 0.0)
    silent = [f"{_no_price(m).removesuffix('.')} {working.cite(*m.rows)}." for m in machines if not m.impact.price]
    if not priced:
        raise ReaderError(" ".join([REFUSAL, *dict.fromkeys(map(_no_price, machines))]))
    least, *others = priced
    same = all(m.impact.usd_per_hour == least.impact.usd_per_hour for m in others)
    if not others or (same and len({m.name for m in priced}) == 1):
        return [*_cost(least, question, working), *silent]
    units = [unit for m in priced if (unit := _unit(m, question, working))]
    ranked = sorted(units or [_hour_of(m, working) for m in priced], key=lambda unit: unit.value)
    tie = len(ranked) > 1 and ranked[1].value / ranked[0].value < _TIE
    times = [_times(ranked[1], ranked[0], working)] if len(ranked) == 2 and not tie and _RATIO.search(question) else []
    if units:
        best = f"{'A tie' if tie else f'{ranked[0].name} is cheapest'} by that." if len(units) > 1 else ""
        return [best, *times, *(f"- {unit.text}." for unit in ranked), *silent]
    spans = _spans(least.work, question, paid=True)
    spans = spans if _SPAN.search(question) else spans[:1]
    against = "; ".join(f"{m.name} costs {_over(m, 'usd_per_hour', spans, working)} {_cited(m, working)}" for m in others)
    verdict = "costs the same" if same else "is cheaper" if len(others) == 1 else "is the cheapest"
    told = [*times, f"{least.name} {verdict}: {_over(least, 'usd_per_hour', spans, working)} {_cited(least, working)}; {against}.", *silent]
    if same or len(others) > 1:
        return told
    gaps, more = ", ".join(f"{_gap(least, others[0], 'usd_per_hour', span, working)} more {span[0]}" for span in spans), ""
    if re.search(r"%|\bpercent|\bper cent|\brelative|\bmark-?up|\bpremium", question):
        one, other = ranked
        share, saved = (
            working.figure(f"{rounded((other.value - one.value) / of.value * 100)} %", f"(({other.formula}) - ({one.formula})) / ({of.formula}) × 100", 100.0, *one.given, *other.given)
            for of in ranked
        )
        more = f", which is {share} more; {least.name} saves {saved}"
    difference = f"{others[0].name} costs {gaps} than {least.name}{more} {_cited(others[0], working)}{_cited(least, working)}."
    return [difference, *told] if differ else [*told, difference]


_TIE = 1.02


def _gap(less: _Machine, more: _Machine, name: str, span: tuple[str, float], working: Working) -> str:
    """By how much a figure of `more` exceeds that of `less` over a time span."""
    one, other, hours, unit = less.impact.known(name), more.impact.known(name), span[1], _UNIT_OF[name]
    factor = less.factor if unit == "$" else 1.0
    formula = f"(({other.formula}) - ({one.formula})) × {hours:g} × {factor:g}"
    return _written((other.value - one.value) * hours * factor, unit, formula, (*_given(less, hours), *_given(more, hours)), working)


def _sources(name: str, machines: Iterable[_Machine], working: Working) -> str:
    return working.cite(*(row for m in machines if (figure := m.impact.figure(name)) for row in figure.inputs))


def _cost(machine: _Machine, question: str, working: Working) -> list[str]:
    price = machine.impact.price
    assert price
    spans = _spans(machine.work, question, paid=True)
    hourly = [] if any(hours == 1 for _, hours in spans) else [("an hour", 1.0)]
    terms = f", {machine.terms}" if machine.terms else ""
    text = f"{_over(machine, 'usd_per_hour', [*spans, *hourly], working)} for {machine.name}{terms} {_terms(machine)} {_cited(machine, working)}."
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


def _together(work: Workload, question: str, working: Working) -> list[str]:
    """What several lots of machines cost together, each with its own count, hours and price; empty if there is only one
    lot or a price is missing."""
    lots = [slots for part in _LOTS.split(question) if (slots := read_question(part, working.tables.known).slots).get("instance_type")]
    said = [slots["hours"] for slots in lots if "hours" in slots and work.hours]
    of_all = said and "hours" in lots[-1] and (len(said) == 1 or re.search(r"\b(?:all|both|everything|each) (?:of|for)\b", question))
    usual = said[-1] if of_all else 8760.0 if re.search(r"\byear|\bannual", question) else float(HOURS_A_MONTH)
    machines = [_machine(replace(work, instance_type=slots["instance_type"], instances=slots.get("instances"), hours=slots.get("hours") if said else None, budget_per_hour=slots.get("budget_per_hour")), working) for slots in lots]
    if len(machines) < 2 or not all(m.impact.price for m in machines):
        return []
    names = " and ".join(m.name for m in machines)
    cite = working.cite(*(m.impact.price.row for m in machines if m.impact.price))
    told = []
    for words, span in _spans(Workload(), question) if not said else [("together", usual)]:
        parts, given, total = [], [730.0, 8760.0], 0.0
        for m in machines:
            assert m.impact.price
            price, number, hours = m.work.budget_per_hour or m.impact.price.usd_per_hour, m.work.instances or 1, m.work.hours or span
            parts.append(f"{number} × {price:.6g} × {hours:.6g} × {m.factor:g}".removesuffix(" × 1"))
            given += [float(number), price, hours, m.factor]
            total += number * price * hours * m.factor
        formula = working.say(" + ".join(parts), words)
        told.append(f"{_written(total, '$', formula, given, working)} {words} for {names} {_terms(machines[0])}: {formula} {cite}.")
    return told


def _unit(machine: _Machine, question: str, working: Working) -> _Unit | None:
    facts, work = working.tables.facts, machine.work
    instance, hourly = facts.instances[work.instance_type or ""], machine.impact.figure("usd_per_hour")
    assert hourly
    load = work.load if work.load and _USED.search(question) else 1.0
    memory = _memory_gb(instance, facts) * instance.accelerators
    if memory and _PER_GB.search(question):
        divisor, what = memory, f"of the {memory:g} GB of GPU memory of {instance.name}"
    elif instance.accelerators and _EACH.search(question):
        divisor, what = instance.accelerators, f"{short(instance.accelerator)} of {instance.name}, which has {instance.accelerators:g} of them"
    elif load < 1:
        divisor, what = 1.0, instance.name
    else:
        return None
    divisor *= work.instances or 1
    value, given = hourly.value * machine.factor / divisor / load, (*_given(machine), divisor, load)
    formula = f"({hourly.formula}) × {machine.factor:g} / {divisor:g} / {load:g}"
    busy = f" that it is used, at {load * 100:g} % utilisation," if load < 1 else ""
    working.say(what, busy)
    cite = f"{_cited(machine, working)}{working.cite(*machine.rows)}"
    return _Unit(machine.name, value, f"{_written(value, '$', formula, given, working)} an hour{busy} for each {what} {cite}", formula, given)


def _hour_of(machine: _Machine, working: Working) -> _Unit:
    """What an hour of a whole machine costs."""
    hourly = machine.impact.known("usd_per_hour")
    return _Unit(machine.name, hourly.value, _cited(machine, working), hourly.formula, _given(machine))


def _times(more: _Unit, less: _Unit, working: Working) -> str:
    """How many times as much the one costs as the other."""
    text = working.figure(rounded(more.value / less.value), f"({more.formula}) / ({less.formula})", *more.given, *less.given)
    marks = "".join(dict.fromkeys(re.findall(r"\[\d+\]", more.text + less.text)))
    return f"{more.name} costs {text} times as much as {less.name}{' by that' if ' for each ' in more.text else ''} {marks}."


def _memory_gb(instance: Instance, facts: Facts) -> float:
    """The memory of each accelerator in GB, from its data sheet if there is one."""
    sheet = facts.accelerator(instance)
    return round((sheet.memory_gib if sheet and sheet.memory_gib else instance.accelerator_memory_gib_each or 0.0) * GIB / 1e9)


def _cheapest(machine: _Machine, work: Workload, question: str, working: Working) -> list[str]:
    """Lines on the cheapest instance type, which `machine` is, for the accelerators that `work` asks for."""
    instance = working.tables.facts.instances[machine.work.instance_type or ""]
    number = f"{instance.accelerators:g} × " if instance.accelerators != 1 else ""
    if work.accelerator:
        number = f"{work.accelerators} × " if (work.accelerators or 1) > 1 else f"{article(work.accelerator)} "
    of_family = not (work.accelerator or work.vendors or work.accelerators or work.accelerator_memory_gb)
    kind = f"of {' and '.join(sorted(work.families))}" if work.families and of_family else f"with {number}{work.accelerator or short(instance.accelerator)}"
    memory = f" of {_memory_gb(instance, working.tables.facts):g} GB" if work.accelerator_memory_gb else ""
    working.say(kind, memory, machine.name)
    return [f"{machine.name} is the cheapest type {kind}{memory} {working.cite(*machine.rows)}.", *_cost(machine, question, working)]


def _cited(machine: _Machine, working: Working) -> str:
    return working.cite(machine.impact.price.row) if machine.impact.price else working.cite(*machine.rows)


def _terms(machine: _Machine) -> str:
    return machine.impact.price.terms if machine.impact.price else ""


def _no_price(machine: _Machine) -> str:
    sold = ": it is sold by Capacity Blocks" if machine.work.instance_type and machine.work.instance_type.startswith("trn2") else ""
    return f"There is no published on-demand price of {machine.name} in the data{sold}."


def _affordable(machine: _Machine, question: str, working: Working, *, counted: bool) -> str:
    """Whether a budget covers what is asked, or how many machines or hours it pays for."""
    work, price = machine.work, machine.impact.price
    if not price:
        raise ReaderError(f"{REFUSAL} {_no_price(machine)}")
    where = f"{machine.terms} {_terms(machine)} {_cited(machine, working)}".strip()
    hourly = (machine.impact.usd_per_hour or 0.0) * machine.factor
    if work.budget and (not work.hours or _HOW_LONG.search(question)):
        shown, hours = f"${work.budget:,.0f}", work.budget / hourly
        days = f" ({rounded(hours / 24)} days)" if hours >= 48 else ""
        text = working.figure(f"{rounded(hours)} hours", f"{work.budget:g} / {hourly:.6g}", work.budget, hourly)
        working.say(shown, days)
        return f"{shown} pays for {text}{days} of {machine.name}, at {_over(machine, 'usd_per_hour', [('an hour', 1.0)], working)} {where}."
    monthly = not work.budget and work.budget_per_month
    budget, per = work.budget or monthly or work.budget_per_hour or 0.0, "" if work.budget else " a month" if monthly else " an hour"
    # Machines that do not run all the time are paid for fewer hours of a month.
    hours = work.hours or 1.0 if work.budget else min(work.hours or HOURS_A_MONTH, HOURS_A_MONTH) if monthly else 1.0
    spans = [] if work.budget else [("an hour", 1.0)]
    spans += [(_length(hours).replace("for a month", "a month"), hours)] if work.budget or monthly else []
    shown = f"${budget:,.0f}" if budget >= 100 else f"${budget:.2f}".removesuffix(".00")
    working.say(shown)
    held, spent = _HELD.match(question), hourly * hours
    limit = f"the {'limit' if held else 'budget'} is {shown}{per}"
    if not counted:
        is_so = spent > budget if held and held["over"] else spent < budget if held and held["under"] else spent <= budget
        return f"{'Yes' if is_so else 'No'}: {machine.name} costs {_over(machine, 'usd_per_hour', spans, working)} {where}, and {limit}."
    one = _machine(replace(work, instances=1), working)
    bought = math.floor(budget / (price.usd_per_hour * machine.factor * hours) + 1e-9)
    working.say(f"{bought:,} × {one.name}", str(bought))
    what = f"{bought:,} × {one.name}: each" if bought else f"Not one {one.name}: it"
    return f"{what} costs {_over(one, 'usd_per_hour', spans, working)} {where}, and {limit}."


# --- power, energy, carbon, water ----------------------------------------------------------------------------------------


def _energy(machines: Sequence[_Machine], question: str, working: Working, *, differ: bool = False) -> list[str]:
    known = sorted((m for m in machines if m.impact.watts is not None), key=lambda m: m.impact.watts or 0.0)
    silent = [_no_power(m, working, alone=len(machines) == 1) for m in machines if m.impact.watts is None]
    verdict = [f"{known[0].name} draws less." if len(known) == 2 else f"{known[0].name} draws least."] if len(known) > 1 else []
    if differ and len(known) == 2:
        span = _spans(known[0].work, question)[0]
        less = _gap(known[0], known[1], "watts", span, working)
        verdict = [f"{known[0].name} takes {less} less {span[0]} than {known[1].name} {_sources('watts', known, working)}."]
    told = [line for m in known for line in _drawn(m, question, working)]
    return [*verdict, *told, *silent]


def _drawn(machine: _Machine, question: str, working: Working) -> list[str]:
    work, watts = machine.work, machine.impact.known("watts")
    power = _written(watts.value, "W", watts.formula, _given(machine), working)
    assumed = "" if work.load else ", which is assumed"
    spans = [span for span in _spans(work, question) if span[1] > 1 or work.tokens_per_second] or [("a month of 730 hours", 730.0)]
    energy = _over(machine, "watts", spans, working)
    drawn = f"{machine.name} draws {power} at {percent(load_of(work))} load{assumed}"
    leads = work.hours or work.tokens_per_second or re.search(ENERGY, question)
    line = f"{f'{energy}: {drawn}' if leads else f'{drawn}, {energy}'} {working.cite(*machine.rows, *watts.inputs)}"
    if in_all := machine.impact.figure("kwh_per_hour"):
        text = working.figure(f"{rounded(in_all.value * 1000)} W", f"({in_all.formula}) × 1000", *_given(machine))
        line += f"; with the PUE of {machine.region} {text}, {_over(machine, 'kwh_per_hour', spans[:1], working)} {working.cite(*in_all.inputs)}"
    working.say(watts.formula)
    return [f"{line}.", f"Host and accelerators: {watts.formula} = {power} {working.cite(*machine.rows)}."]


def _no_power(machine: _Machine, working: Working, *, alone: bool = False) -> str:
    """Say that a machine's power is not known. Raise that as a refusal if nothing else is told."""
    reasons = [note for note in machine.impact.notes if note.startswith("no published")] or ["no published figure of its power"]
    text = f"There is {working.say(reasons[0])}, so the power, energy and carbon of {machine.name} cannot be computed"
    if alone:
        raise ReaderError(f"{REFUSAL} {text}.")
    return f"{text} {working.cite(*machine.rows)}."


def _emissions(machines: Sequence[_Machine], question: str, working: Working, *, differ: bool = False) -> list[str]:
    known = sorted((m for m in machines if m.impact.g_co2_per_hour is not None), key=lambda m: m.impact.g_co2_per_hour or 0.0)
    silent = [_no_power(m, working, alone=len(machines) == 1) if m.impact.watts is None else f"There is no published grid carbon for {m.region} in the data {working.cite(*m.rows)}." for m in machines if m.impact.g_co2_per_hour is None]
    verdict: list[str] = []
    if len(known) > 1:
        least, most = known[0], known[-1]
        places = least.region != most.region
        low, high = (m.impact.g_co2_per_hour or 0.0 for m in (least, most))
        text = working.figure(f"{high / (low or 1.0):.3g}", f"{high:.6g} / {low:.6g}", low, high)
        verdict = [f"{least.region if places else least.name} emits less: {most.region if places else most.name} emits {text} times as much."]
        if differ:
            span = _spans(least.work, question)[0]
            saved = _gap(least, most, "g_co2_per_hour", span, working)
            verdict.insert(0, f"{saved} of CO2e less {span[0]} for {least.name} in {least.region}{f' than in {most.region}' if places else f' than for {most.name}'} {_sources('g_co2_per_hour', (least, most), working)}.")
    told = [_emitted(m, question, working) for m in known]
    return [*verdict, *(f"- {line}" if len(told) > 1 else line for line in told), *(_worked(m, working) for m in known[:1]), *silent]


def _emitted(machine: _Machine, question: str, working: Working) -> str:
    carbon, embodied = machine.impact.known("g_co2_per_hour"), machine.impact.figure("embodied_g_per_hour")
    spans = _spans(machine.work, question)
    told = _over(machine, carbon.name, spans, working, " of CO2e")
    told = f"{_amount(machine, machine.impact.known('kwh_per_hour'), spans[0][1], working)} and {told}" if re.search(ENERGY, question) else told
    making = f"; the making of the host adds {_amount(machine, embodied, spans[0][1], working)} {working.cite(*embodied.inputs)}" if embodied else ""
    if embodied and re.search(r"embodied|embedded|manufactur|making|everything", question) and _WITH_EMBODIED.search(question) and not _NOT_EMBODIED.search(question):
        both = replace(carbon, value=carbon.value + embodied.value, formula=f"({carbon.formula}) + ({embodied.formula})")
        making += f", {_amount(machine, both, spans[0][1], working)} in all"
    return f"{told} {_at(machine)}{'' if machine.work.load else ' (assumed)'} {working.cite(*machine.rows, *carbon.inputs)}{making}."


def _at(machine: _Machine) -> str:
    return f"for {machine.name} in {machine.region}, at {percent(load_of(machine.work))} load"


def _made(machine: _Machine, question: str, working: Working) -> str:
    """The embodied carbon of the hosts alone."""
    embodied = machine.impact.figure("embodied_g_per_hour")
    if not embodied:
        return f"There is no published embodied carbon of {machine.name} in the data {working.cite(*machine.rows)}."
    told = _over(machine, embodied.name, _spans(machine.work, question), working, " of CO2e")
    return f"{told} for the making of the host of {machine.name}; that of its accelerators is not published {working.cite(*embodied.inputs)}."


def _worked(machine: _Machine, working: Working) -> str:
    watts, energy, carbon = (machine.impact.known(name) for name in ("watts", "kwh_per_hour", "g_co2_per_hour"))
    working.say(watts.formula, energy.formula, carbon.formula, machine.region)
    grams = _written(carbon.value, "g", carbon.formula, _given(machine), working)
    return f"In an hour: {watts.formula}; × PUE: {energy.formula}; × grid: {carbon.formula} = {grams} {working.cite(*carbon.inputs)}."


def _evaporating(machine: _Machine, question: str, working: Working) -> str:
    litres = machine.impact.figure("litres_per_hour")
    if litres:
        return f"{_over(machine, litres.name, _spans(machine.work, question), working)} {_at(machine)} {working.cite(*machine.rows, *litres.inputs)}."
    reason = next((note for note in machine.impact.notes if "water" in note), "")
    working.say(reason)
    return f"There is {reason} {working.cite(*machine.rows)}." if reason else _no_power(machine, working)


def _inside(work: Workload, facts: Facts) -> Workload:
    """The workload on the accelerators of a machine, without the machine."""
    instance = facts.instances[work.instance_type or ""]
    number = int(instance.accelerators) * (work.instances or 1)
    return replace(work, instance_type=None, instances=None, accelerator=short(instance.accelerator or ""), accelerators=number)


# --- accelerators by themselves ------------------------------------------------------------------------------------------


def _of_accelerators(works: Sequence[Workload], question: str, working: Working, *, goals: Collection[Goal] = (), differ: bool = False) -> list[str]:
    """What accelerators draw, consume over a time span, emit or take in water, without the machine around them."""
    # Sheets with the same power are told once: the A100 with 40 GB and the one with 80 GB draw the same.
    equal = {(work, s.name, s.idle_w, s.max_w): (work, s) for work in works for s in reversed(_sheets(work, working.tables.facts))}
    sheets = list(equal.values())
    known = [(work, sheet) for work, sheet in sheets if sheet.max_w is not None]
    silent = [f"There is no published power figure of the {short(s.name)} in the data {working.cite(s.row)}." for _, s in sheets if s.max_w is None]
    if silent and not known:
        raise ReaderError(f"{REFUSAL} There is no published power figure of the {' or the '.join(short(s.name) for _, s in sheets)} in the data.")
    known.sort(key=lambda pair: (pair[1].max_w or 0.0) * _number_of(pair[0]), reverse=True)
    idle = (bool(_IDLE.search(question)) or any(work.load == 0 for work in works)) and not re.search(r"\bmax|\bpeak|\bfull (?:load|power|tilt)", question)
    told: list[str] = []
    energies = [replace(work, kwh=_watts(work, sheet, idle=idle)[0] * _hours_of(work, question)[1] / 1000) for work, sheet in known]
    if Goal.WATER in goals:
        told = [_evaporated(work, working) for work in energies]
    elif Goal.CARBON in goals and known:
        told = of_energy(energies, working, with_pue=not _WITHOUT_PUE.search(question), differ=differ)
    told += [_draws(work, sheet, question, working, idle=idle) for work, sheet in known]
    verdict: list[str] = []
    if len({(sheet.max_w or 0.0) * _number_of(work) for work, sheet in known}) > 1 and len({work.accelerator for work, _ in known}) > 1:
        verdict = [f"{capital(_several(*known[0], working))} draw{'' if _number_of(known[0][0]) > 1 else 's'} more."]
    return [*verdict, *told, *silent]


def _number_of(work: Workload) -> int:
    return (work.accelerators or 1) * (work.instances or 1)


def _hours_of(work: Workload, question: str) -> tuple[str, float]:
    """The time span that energy is asked for: that of the question, else a month."""
    spans = _spans(work, question)
    return spans[0] if work.hours or work.tokens_per_second or len(spans) == 1 else ("a month of 730 hours", 730.0)


def _watts(work: Workload, sheet: Accelerator, *, idle: bool) -> tuple[float, str, str]:
    """The power of the accelerators together, in W, its arithmetic and the state: idle, at the given load, or else at most."""
    number = _number_of(work)
    if idle and sheet.idle_w is not None:
        return number * sheet.idle_w, f"{number} × {sheet.idle_w:g}", "idle"
    if work.load and work.load < 1 and not work.tokens_per_second and (each := accelerator_watts(sheet, work.load)) is not None:
        return number * each, f"{number} × ({sheet.idle_w:g} + {work.load:g} × ({sheet.busy_w:g} - {sheet.idle_w:g}))", f"at {percent(work.load)} load"
    return number * (sheet.max_w or 0.0), f"{number} × {sheet.max_w:g}", "at most"


def _several(work: Workload, sheet: Accelerator, working: Working) -> str:
    number, name = _number_of(work), short(sheet.name)
    working.say(f"{number} × {name}", name)
    return f"{number} × {name}" if number > 1 else f"{article(name)} {name}"


def _draws(work: Workload, sheet: Accelerator, question: str, working: Working, *, idle: bool) -> str:
    number, memory = _number_of(work), working.say(sheet.row.cells.get("Memory", ""))
    watts, formula, state = _watts(work, sheet, idle=idle)
    numbers = (*_NUMBERS, float(number), work.load or 1.0)
    drawn = f"{_several(work, sheet, working)} ({memory}) draw{'' if number > 1 else 's'}"
    figures = [working.figure(f"{rounded(watts)} W", formula, *numbers) + " " + working.say(state)]
    if number > 1:
        figures.append(working.figure(f"{rounded(watts / number)} W", f"({formula}) / {number}", *numbers) + " each")
    figures += [f"{rounded(other)} W {name}" for other, name in ((sheet.idle_w, "idle"), (sheet.max_w, "at most")) if other is not None and name != state]
    counted = f"; Cloud Carbon Footprint takes {sheet.ccf_max_w:g} W for the most" if sheet.ccf_max_w and sheet.ccf_max_w != sheet.max_w else ""
    told = f"{drawn} {', '.join(figures)}{counted} {working.cite(sheet.row)}."
    if not (work.hours or work.tokens_per_second or _SPAN.search(question)):
        return capital(told)
    words, hours = _hours_of(work, question)
    energy = _written(watts * hours, "Wh", f"({formula}) × {hours:.6g}", (*numbers, hours), working)
    return f"{energy} {working.say(words)}: {told}"


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
    if not regions:
        raise ReaderError("Name the instance type or the accelerator, such as g6e.xlarge or L40S.")
    grids = sorted((facts.grids[r] for r in regions if r in facts.grids), key=lambda g: g.g_co2_per_kwh)
    if not grids:
        raise ReaderError(f"There is no published grid carbon of {', '.join(map(str, regions))} in the data.")
    working.say("CO2e")
    cleanest, *others = grids
    first = f"{_place(cleanest, working)} has the cleaner grid" if len(others) == 1 else f"{_place(cleanest, working)} has the cleanest grid"
    lines = [f"{first}: {cleanest.g_co2_per_kwh:g} g of CO2e per kWh {working.cite(cleanest.row)}."]
    for grid in others:
        times = working.figure(f"{grid.g_co2_per_kwh / cleanest.g_co2_per_kwh:.3g}", f"{grid.g_co2_per_kwh:g} / {cleanest.g_co2_per_kwh:g}")
        lines.append(f"- {_place(grid, working)}: {grid.g_co2_per_kwh:g} g of CO2e per kWh, {times} times that of {cleanest.region} {working.cite(grid.row, cleanest.row)}.")
    return lines


def _place(grid: Grid, working: Working) -> str:
    working.say(grid.region)
    return f"{grid.place} ({grid.region})" if grid.place else grid.region


def _evaporated(work: Workload, working: Working) -> str:
    """The water that a given amount of energy takes in a region."""
    region, kwh = work.region or DEFAULT_REGION, work.kwh or 0.0
    centre = working.tables.facts.pue(region)
    if centre is None or centre.litres_per_kwh is None:
        raise ReaderError(f"There is no published water use of {region} in the data.")
    formula = working.say(f"{kwh:g} kWh × {centre.litres_per_kwh:g} litres", region)
    return f"{working.figure(f'{rounded(kwh * centre.litres_per_kwh)} litres', formula, kwh)} of water in {region}: {formula} {working.cite(centre.row)}."


def of_energy(works: Sequence[Workload], working: Working, *, with_pue: bool = True, own: float | None = None, differ: bool = False) -> list[str]:
    """What a given amount of energy emits in each region, the least first.

    The PUE is one's `own`, or that of the region's data centres unless `with_pue` is False.
    """
    facts = working.tables.facts
    lines: list[tuple[float, str, str, float, tuple[Row, ...]]] = []
    for work in works:
        region, kwh = work.region or DEFAULT_REGION, work.kwh or 0.0
        grid, centre = facts.grids.get(region), facts.pue(region)
        if not grid:
            raise ReaderError(f"There is no published grid carbon of {region} in the data.")
        pue = own or (centre.pue if centre and centre.pue and with_pue else None)
        formula = f"{kwh:g} kWh × {f'{pue:g} × ' if pue else ''}{grid.g_co2_per_kwh:g} g"
        total = kwh * (pue or 1.0) * grid.g_co2_per_kwh
        text = working.figure(f"{rounded(total / 1000)} kg", formula, kwh, own or 1.0, unit=1000.0)
        working.say(formula, region, "CO2e", f"{pue:g}" if pue else "")
        rows = [grid.row, *([centre.row] if centre and pue and not own else [])]
        how = f"with {'your' if own else 'a'} PUE of {pue:g}" if pue else "by its grid alone" if not with_pue else "by its grid alone, for no PUE is published"
        lines.append((total, f"{text} of CO2e in {_place(grid, working)}, {how}: {formula} {working.cite(*rows)}.", formula, kwh, tuple(rows)))
    lines.sort(key=lambda line: line[0])
    verdict: list[str] = []
    if differ and len(lines) > 1:
        (least, _, less, kwh, rows_), (most, _, more, other, others) = lines[0], lines[-1]
        text = working.figure(f"{rounded((most - least) / 1000)} kg", f"({more}) - ({less})", kwh, other, own or 1.0, unit=1000.0)
        verdict = [f"{text} of CO2e less in {rows_[0].cells['Region']} than in {others[0].cells['Region']} {working.cite(*rows_, *others)}."]
    return [*verdict, *(f"- {line}" if len(lines) > 1 else line for _, line, *_ in lines)]
