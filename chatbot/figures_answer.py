"""Questions that bring their own figures answered: a table of formulas, each with the words that ask for it and the figures it is computed from."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from chatbot.computed import Computed
from chatbot.draft import Draft
from chatbot.hardware_answer import of_energy
from chatbot.query import Query
from chatbot.sizing.arithmetic import evaluate
from chatbot.sizing.facts import short
from chatbot.sizing.given import Figure, Given, read_turns
from chatbot.sizing.impact import HOURS_A_MONTH
from chatbot.sizing.memory import BITS
from chatbot.sizing.workload import Format, Workload
from chatbot.working import Working, article, load, rounded
from ingest import Index, Row

_CONSTANTS = (1.0, 2.0, 8.0, 12.0, 14.0, 24.0, 60.0, 100.0, 168.0, 365.0, 730.0, 1000.0, 3600.0, 8760.0, 1e6, 1e9, 1e12)
_LONGEST = 1_000
# A turn of so many words that asks for nothing new asks for the same with another figure.
_SHORT = 18
# Nobody asks how long a shorter batch takes.
_LEAST_HOURS = 0.01


class _Sum:
    """Writes what is computed of one conversation's figures: each result with the formula that gives it."""

    def __init__(self, given: Given, asked: str, working: Working) -> None:
        self.given, self.asked, self.facts, self.working = given, asked, working.tables.facts, working
        self._known = [*_CONSTANTS, *(figure.value for figure in given.figures), *(1 - f.value for f in given.figures if f.value < 1), *(float(v) for v in given.slots.values() if isinstance(v, int | float))]
        self.rows: list[Row] = []
        self.steps: list[str] = []
        self.most = ""
        """That a power is the most that a data sheet allows, where none was given."""

    def know(self, value: float, *rows: Row) -> float:
        """A number of a row, or one that follows from what was counted."""
        self._known.append(value)
        self.rows += rows
        return value

    def compute(self, formula: str, written: str = "{}", *, scale: float = 1.0) -> tuple[float, str]:
        """The value of a formula, and how it is written."""
        value = evaluate(formula)
        text = written.format(rounded(value / scale, money="$" in written))
        self.working.note(Computed(text, formula, scale, (*self._known, value)))
        self._known.append(value)
        self.working.say(formula)
        return value, text

    def step(self, formula: str, written: str = "{}", *, scale: float = 1.0) -> tuple[float, str]:
        """The same, shown among the working."""
        value, text = self.compute(formula, written, scale=scale)
        self.steps.append(f"{formula} = {text}")
        return value, text

    def say(self, text: str) -> str:
        self.working.say(text)
        return text

    def cite(self, *terms: str) -> str:
        """Marks of what explains a formula, and of the rows that were computed with."""
        explained = [e for term in terms if (e := self.working.tables.explained(term, self.working.index))]
        return "".join([*map(self.working.mark, explained), self.working.cite(*dict.fromkeys(self.rows))])

    def price(self) -> tuple[float, str] | None:
        """The price of an hour: the user's own, else that of the instance type in the table."""
        if (own := self.given.one("price")) is not None:
            return own, self.say(f"your {_usd(own)} an hour")
        price = self.facts.price(str(self.given.slots.get("instance_type", "")))
        if self.given.all("price") or not price:
            return None
        hourly = self.know(price.usd_per_hour, price.row)
        return hourly, self.say(f"${hourly:.4g} an hour on {price.instance_type} {price.terms}")


def answer_by_figures(query: Query, index: Index) -> Draft | None:
    """What a question asks of figures that it gives; None where it asks for something else or lacks a figure."""
    tables = load(index)
    if query.options or not tables.facts.models or len(query.question) > _LONGEST:
        return None
    turns = (*(turn.question for turn in query.history), query.question)
    given = read_turns([turn[:_LONGEST] for turn in turns], tables.known)
    if not (found := _asked(given)):
        return None
    formula, asked = found
    working = Working(tables, index, ["\n".join(turns), "CO2e"])
    total = _Sum(given[-1], asked, working)
    lines = [line for line in formula.write(given[-1], total) if line]
    shown = [f"{'; '.join(total.steps)}."] if total.steps and lines else []
    return working.draft(*lines, *shown) if lines else None


@dataclass(frozen=True, slots=True)
class _Formula:
    """`asks` are the words that ask for it, `needs` the roles or slots of each of which there must be one ("price or size"), `takes` others that it uses."""

    asks: re.Pattern[str]
    needs: tuple[str, ...]
    write: Callable[[Given, _Sum], Iterator[str]]
    takes: str = ""

    def serves(self, given: Given) -> bool:
        there = {figure.role for figure in given.figures} | given.slots.keys()
        return all(set(need.split(" or ")) & there for need in self.needs)

    def uses(self, roles: frozenset[str], *, needed: bool = False) -> bool:
        """Whether it is computed from one of these."""
        return any(set(names.split(" or ")) & roles for names in (*self.needs, "" if needed else self.takes))


def _asked(given: Sequence[Given]) -> tuple[_Formula, str] | None:
    """The formula that the last turn asks for and the words that ask, or those of the turn before with a figure that this one brings."""
    asked: tuple[_Formula, str] | None = None
    served = False
    for turn in given:
        wished = [f for f in _FORMULAS if f.asks.search(turn.text)]
        own = next((f for f in wished if f.serves(turn) and f.uses(turn.new)), None)
        if not own and asked and len(turn.text.split()) <= _SHORT and asked[0].uses(turn.new, needed=not served):
            asked = (asked[0], f"{asked[1]} {turn.text}")
        else:
            asked = (own or wished[0], turn.text) if own or wished else None
        served = asked is not None and asked[0].serves(turn)
    return asked if served else None


def _n(value: float) -> str:
    return f"{value:.10g}"


def _usd(value: float) -> str:
    """As it is written on a price tag: $4.10, $0.023."""
    return f"${value:.2f}" if round(value, 2) == round(value, 6) else f"${value:.6g}"


# --- money ----------------------------------------------------------------------------------------------------------------

_PLANS = r"savings?[ -]plans?|reserved|\bris?\b|\bcommitment"
_COMMITS = r"savings?[ -]plans?|reserv\w+|commit\w*|\bris?\b|\bplan\b|upfront|[13][ -]?(?:years?|yrs?|y)\b"


def _break_even(given: Given, total: _Sum) -> Iterator[str]:
    """From which share of the hours a commitment costs less than paying for each: its price over that on demand."""
    discounts, prices = given.all("discount"), sorted(given.all("price") or given.all("money") or given.all("monthly price"))
    sheet, used = total.facts.price(str(given.slots.get("instance_type", ""))), _hours_used(given)
    options = [(f"1 - {_n(d)}", f"at your {_n(100 * d)} % off") for d in discounts]
    if not options and len(prices) > 1:
        options = [(f"{_n(price)} / {_n(prices[-1])}", f"at your {_usd(price)} instead of {_usd(prices[-1])} an hour") for price in prices[:-1]]
    elif not options and prices and sheet and prices[0] < sheet.usd_per_hour:
        options = [(f"{_n(prices[0])} / {_n(total.know(sheet.usd_per_hour, sheet.row))}", f"at your {_usd(prices[0])} instead of ${sheet.usd_per_hour:.4g} an hour")]
    if not options and used and given.one("busy") is None and used > HOURS_A_MONTH / 24 and re.search(_PLANS, given.text):
        yield from _least_discount(used, total)
    cite, even = total.cite("break-even"), 1.0
    for formula, words in options:
        even = evaluate(formula)
        days = ("168", "a week") if "week" in total.asked else ("24", "a day")
        daily, monthly = total.compute(f"({formula}) × {days[0]}", f"{{}} hours {days[1]}")[1], total.compute(f"({formula}) × 730", "{} hours a month")[1]
        verdict = ""
        if used and len(options) == 1:
            share = total.say(f"{used / HOURS_A_MONTH:.0%}".replace("%", " %"))
            verdict = f"{'Yes' if used / HOURS_A_MONTH > even else 'No'}, it runs {share} of the hours: the commitment pays from "
        percent = total.step(f"({formula}) × 100", "{} %")[1]
        text = f"{verdict}{percent} of the hours on, {daily} or {monthly} of 730, {total.say(words)} {cite}."
        yield text if verdict else f"From {text}"
    if len(options) == 1 and len(prices) == 2 and sheet and abs(sheet.usd_per_hour / prices[-1] - 1) > 0.02 and prices[0] < sheet.usd_per_hour:
        today = f"{_n(prices[0])} / {_n(total.know(sheet.usd_per_hour, sheet.row))}"
        share, hours = total.compute(f"{today} × 100", "{} %")[1], total.compute(f"{today} × 730", "{} hours a month")[1]
        yield f"Against today's {total.say(f'${sheet.usd_per_hour:.4g}')} an hour of {sheet.instance_type} {sheet.terms} it would be {share}, {hours} {total.cite()}."


def _hours_used(given: Given) -> float | None:
    """Hours of a month that something runs, where a schedule or a share says so."""
    if (daily := given.one("share of day")) and "hours" not in given.slots:
        return daily / 24 * HOURS_A_MONTH
    hours, busy = given.slots.get("hours"), given.one("busy")
    return hours if hours and hours < HOURS_A_MONTH else busy * HOURS_A_MONTH if busy else None


def _least_discount(used: float, total: _Sum) -> Iterator[str]:
    """What discount a commitment must give to be cheaper than machines that are off for a part of the time."""
    hours = total.know(round(used / HOURS_A_MONTH * 168, 2))
    share = total.step(f"{_n(hours)} / 168 × 100", "{} %")[1]
    least, text = total.step(f"(1 - {_n(hours)} / 168) × 100", "{} %")
    answer = "No, not with the most that AWS gives" if least > 72 else "Hardly" if least > 50 else "Perhaps"
    week = total.say(f"{_n(hours)} of 168 hours")
    yield f"{answer}: it runs {week} a week, {share}, so a commitment for all hours is cheaper only with more than {text} off; the most that any gives is 72% {total.cite('break-even', 'maximum discount')}."


def _of_tokens(given: Given, total: _Sum) -> Iterator[str]:
    """What a million tokens cost, and at which use that is an API's price."""
    price, pace = total.price(), given.one("pace")
    if not price or not pace:
        return
    busy, api = given.one("busy") or 1.0, given.one("API price")
    full = f"{_n(price[0])} / ({_n(pace)} × 3600) × 1e6"
    cite = total.cite("price of tokens")
    at = f"at {price[1]} and {total.say(f'{pace:,g} tokens a second')}"
    _, always = total.compute(full, "${}")
    if busy < 1:
        cost, text = total.step(f"{_n(price[0])} / ({_n(pace)} × 3600 × {_n(busy)}) × 1e6", "${}")
        result = f"{text} for a million tokens {at}, busy for {total.say(f'{_n(busy * 100)} %')} of the time; {always} if it were always busy {cite}."
    else:
        cost, text = total.step(full, "${}")
        result = f"{text} for a million tokens {at} when it is always busy {cite}."
    if not api:
        below = f" An API that asks less is cheaper than this machine {cite}." if re.search(r"\bapi\b|bedrock|self[- ]?host", total.asked) else ""
        yield f"{result}{total.say(below)}"
        return
    share, even = total.step(f"{_n(price[0])} / ({_n(pace)} × 3600 × {_n(api)}) × 1e8", "{} %")
    times = total.compute(f"{_n(cost)} / {_n(api)}", "{} times")[1]
    equal = f"It costs as much as your {_usd(api)} for a million tokens when it is busy for {even} of the time" if share <= 100 else f"Not even always busy is it as cheap as your {_usd(api)} for a million tokens"
    led = [f"{equal} {cite}.", result] if re.search(_EVEN, total.asked) else [result.replace(f" {cite}.", f", {times} your API's {_usd(api)} {cite}."), f"{equal} {cite}."]
    yield from led


def _off_hours(given: Given, total: _Sum) -> Iterator[str]:
    """What machines save that are off for a part of the time."""
    price, hours = total.price(), float(given.slots["hours"])
    whole, span = (8760.0, "year") if hours > HOURS_A_MONTH or re.search(r"\byear|\bannual|\bannum", given.text) else (float(HOURS_A_MONTH), "month")
    if not price or hours >= whole:
        return
    hours = whole - _hours_off(given.text, hours, whole)
    number = given.one("machines") or given.slots.get("instances") or 1
    week = f"{_n(total.know(round(hours / whole * 168, 1)))}"
    each = f"{_n(number)} × {_n(price[0])} × {whole:g}"
    share = total.compute(f"(168 - {week}) / 168 × 100", "{} %")[1]
    saved = total.step(f"{each} hours × (168 - {week}) / 168", "${}")[1]
    always, kept = total.compute(each, "${}")[1], total.compute(f"{each} × {week} / 168", "${}")[1]
    yield f"{saved} a {span}, {share}: they run {total.say(f'{week} of 168 hours')} a week and cost {kept} instead of {always}, at {price[1]}{f' for each of {_n(number)}' if number > 1 else ''} {total.cite('schedule')}."


_WHEN_OFF = re.compile(r"\b(?:shut\w*|switch(?:ed|ing)? (?:it |them )?off|turn(?:ed|ing)? (?:it |them )?off|sleeps?|stop(?:s|ped|ping)?|off (?:at|on|over|during)|goes? down)\b(?!.*\boutside\b)")


def _hours_off(question: str, hours: float, whole: float) -> float:
    """For how many hours of a whole month or year machines are off, where the hours of a schedule are those on or those off."""
    if not _WHEN_OFF.search(question):
        return whole - hours
    if "weekend" in question and re.search(r"\b(?:nights?|overnight|evenings?)\b", question):
        return hours + whole * 2 / 7  # the hours are those of the nights
    return whole - hours if re.search(r"weekend|days\b|saturday|sunday", question) else hours


# --- energy ---------------------------------------------------------------------------------------------------------------


def _of_power(given: Given, total: _Sum) -> Iterator[str]:
    """Energy and carbon: watts x hours x PUE x grid."""
    energy = _energy(given, total)
    if not energy:
        return
    kwh, text = total.step(energy, "{} kWh")
    regions, pue, grid = [region for region in given.regions if region in total.facts.grids], given.one("PUE"), given.one("grid")
    emits = bool(re.search(_CARBON, total.asked) or "grid" in given.new)
    whole = re.search(r"\bnode|server|machine|host|\brest\b|\bload", " ".join(f.beside for f in given.figures if f.role == "watts")) or given.one("kwh")
    remark = f"{total.most}{'' if whole else ' That is of the accelerators alone, without the machines around them.'}"
    reckon = total.compute if emits else total.step
    with_pue = f", {reckon(f'{_n(kwh)} kWh × {_n(pue)}', '{} kWh')[1]} with your PUE of {_n(pue)}" if pue and not (emits and regions and not grid) else ""
    if emits and grid:
        kg = total.step(f"{_n(kwh)} kWh × {f'{_n(pue)} × ' if pue else ''}{_n(grid)} g", "{} kg", scale=1000.0)[1]
        yield f"{kg} of CO2e: {text}{with_pue}, at your {_n(grid)} g a kWh {total.cite('emissions')}.{remark}"
    elif emits and regions:
        *first, last = of_energy([Workload(kwh=float(f"{kwh:g}"), region=region) for region in regions[:4]], total.working, own=pue, differ=len(regions) == 2)
        yield from first
        yield f"{last}{remark}"
    else:
        result = f"{text}{with_pue}"
        if price := given.one("power price"):
            spent = f"{_n(kwh)} kWh × {f'{_n(pue)} × ' if pue else ''}{_n(price)}"
            result = f"{total.step(spent, '${}')[1]} for {result}, at your {_usd(price)} a kWh"
        wanting = " Say where it runs, or the grams of CO2e of a kWh there, for the carbon." if emits else ""
        yield f"{result} {total.cite('emissions')}.{total.say(wanting)}"


def _energy(given: Given, total: _Sum) -> str:
    """The kWh that are drawn; nothing where it is not clear what draws what for how long."""
    if (kwh := given.one("kwh")) is not None:
        return f"{_n(kwh)} kWh" if given.one("grid") else ""
    watts, spent = [f for f in given.figures if f.role == "watts"], given.one("card hours")
    if not watts and spent and (most := _sheet_watts(given, total)):
        watts = [Figure("watts", most, "gpu")]
    hours = given.slots.get("hours") if "hours" in given.slots else given.one("hours")
    part = f" × {_n(share)}" if (share := given.one("part of power")) else ""
    if len(watts) == 1 and spent:
        return f"{_n(spent)} × {_n(watts[0].value)} W{part} / 1000"
    parts = {_drawn_by(f, given): f.value for f in watts}
    if not hours or not parts or len(parts) < len(watts) or len(watts) > 2:
        return ""
    number = {"cards": _cards(given), "machines": _n(given.one("machines") or 1), "all": "1"}
    drawn = " + ".join(f"{number[of]} × {_n(value)} W".removeprefix("1 × ") + (part if of == "cards" else "") for of, value in parts.items())
    return f"{f'({drawn})' if len(parts) > 1 else drawn} × {_n(hours)} hours / 1000"


def _drawn_by(watts: Figure, given: Given) -> str:
    """What draws a power: by the words behind it, then those before it, else whatever is counted."""
    before, after = watts.beside.split("|")
    for words in (after, " ".join(before.split()[-4:])):
        for of, written in (("all", r"\btotal|altogether|in all|whole|entire|together"), ("machines", r"\bnode|server|machine|\bbox|host|rest\b|cpu|other|overhead|instance"), ("cards", r"gpu|card|accelerator|chip")):
            if re.search(written, words):
                return of
    return "cards" if given.all("cards") else "machines"


def _cards(given: Given) -> str:
    """How many accelerators there are in all: "4 nodes, 8 GPUs each" are 4 × 8."""
    counted = [figure for figure in given.figures if figure.role in ("machines", "cards")]
    each = [f.role for f in counted] == ["machines", "cards"] or any(f.role == "cards" and re.search(r"\beach|per", f.beside) for f in counted)
    cards, machines = given.one("cards") or 1.0, given.one("machines") or 1.0
    return f"{_n(machines)} × {_n(cards)}" if each and machines > 1 else _n(cards)


def _sheet_watts(given: Given, total: _Sum) -> float:
    """The most that the accelerator draws that is named."""
    name = given.slots.get("accelerator")
    sheet = next((s for full, sheets in total.facts.accelerators.items() if short(full) == name for s in sheets if s.max_w), None)
    if not sheet or not sheet.max_w:
        return 0.0
    total.most = f" At the {total.say(f'{sheet.max_w:g} W')} that {article(short(sheet.name))} {short(sheet.name)} draws at most {total.working.cite(sheet.row)}."
    return total.know(sheet.max_w)


# --- checkpoints and replicas ---------------------------------------------------------------------------------------------

_STATES = re.compile(r"optimi[sz]er|\badam\w*|full state|moments|master|to resume|training state")


def _checkpoints(given: Given, total: _Sum) -> Iterator[str]:
    """How large checkpoints are, what keeping them costs, how long writing one takes and which share of the time that is."""
    named = total.facts.models.get(str(given.slots.get("model", "")))
    parameters = given.one("parameters") or given.slots.get("parameters") or (named.parameters if named else None)
    states, size = bool(_STATES.search(given.text)), given.one("size")
    each = given.one("bytes") or (14.0 if states else BITS[Format(given.slots.get("weights", Format.BF16))] / 8)
    if size:
        formula = f"{_n(size / 1e9)}e9 bytes"
        total.know(size)
    elif parameters:
        total.know(parameters, *([named.row] if named else []))
        formula = f"{_n(parameters / 1e9)}e9 parameters × {_n(total.know(each))} bytes"
    else:
        return
    cite = total.cite("optimizer states" if states else "checkpoint")
    one = total.compute(formula, "{} GB", scale=1e9)[1] if size else total.step(formula, "{} GB", scale=1e9)[1]
    results = [f"{one} for a checkpoint"]
    if kept := given.one("kept"):
        results.append(f"{total.step(f'{formula} × {_n(kept)}', '{} TB', scale=1e12)[1]} for the {_n(kept)} that are kept")
    if price := given.one("storage price"):
        stored = f"{formula} × {_n(kept)}" if kept else formula
        results.append(f"{total.step(f'{stored} / 1e9 × {_n(price)}', '${}')[1]} a month at your {_usd(price)} a GB")
    if rate := given.one("write rate"):
        seconds, took = total.step(f"{formula} / {_n(rate / 1e9)}e9", "{} s")
        results.append(f"{took} to write it at your {total.say(f'{_n(rate / 1e9)} GB/s')}")
        if interval := given.one("interval"):
            total.know(interval * 3600)
            lost = total.step(f"{_n(seconds)} / {_n(interval * 3600)} × 100", "{} %")[1]
            results.append(f"{lost} of the time at one every {total.say(f'{_n(round(interval * 60, 2))} minutes')}, if training waits for it")
        if apart := given.one("between failures"):
            # Young 1974, "A first order approximation to the optimum checkpoint interval", https://doi.org/10.1145/361147.361115.
            total.know(apart * 3600)
            best = total.step(f"(2 × {_n(seconds)} × {_n(apart * 3600)}) ** 0.5 / 60", "{} minutes")[1]
            results.append(f"{best} between two lose least where it fails every {total.say(f'{_n(apart)} hours')}, if training waits")
    yield f"{'; '.join(results)} {cite}."
    if states and not size and each == 14:
        more = total.compute(f"{_n(parameters or 0)} × {_n(total.know(16.0))}", "{} GB", scale=1e9)[1]
        yield f"Taken as 2 bytes of weights and 12 of master weights and moments for each parameter; {more} if the gradients are saved too {cite}."


def _transfer(given: Given, total: _Sum) -> Iterator[str]:
    """How long data take over a link, and what they cost at a price for each GB."""
    size, link, share = given.one("size"), given.one("link"), given.one("efficiency")
    if not size or not link or not given.is_read_whole:
        return
    at = total.say(f"{_n(link / 1e9)} Gbit/s{f' of which {_n(share * 100)} % are used' if share else ''}")
    seconds = f"{_n(size / 1e9)} × 8 / {_n(link / 1e9)}{f' / {_n(share)}' if share else ''}"
    took = total.step(f"{seconds} / 3600", "{} hours")[1] if evaluate(seconds) > 3600 else total.step(seconds, "{} s")[1]
    price = given.one("storage price")
    spent = f"; {total.step(f'{_n(size / 1e9)} × {_n(price)}', '${}')[1]} at your {_usd(price)} a GB" if price else ""
    yield f"{took} at {at}{spent} {total.cite('transfer')}."


def _batch(given: Given, total: _Sum) -> Iterator[str]:
    """How long many items take at a rate, how many machines do them in time, and what that costs: the work is the same however many share it."""
    items, rate, pace, each = given.one("items"), given.one("item rate"), given.one("pace"), given.one("output") or given.one("prompt")
    if not items or not (rate or (pace and each)) or not given.is_read_whole or any(given.all(role) for role in ("busy", "headroom", "efficiency")):
        return
    work = f"{_n(items)} / ({_n(rate)} × 3600)" if rate else f"{_n(items)} × {_n(each or 0)} / ({_n(pace or 0)} × 3600)"
    work += f" / (1 - {_n(lost)})" if (lost := given.one("lost")) else ""
    if evaluate(work) < _LEAST_HOURS:
        return  # "two million statements of six pages": the pages of one were read as all
    hours, took = total.step(work, "{} hours")
    results = [f"{took} on one"]
    if window := given.one("hours"):
        count = math.ceil(hours / window - 1e-9)
        results.insert(0, total.say(f"{count} machine{'s' * (count > 1)} to finish within {_n(window)} hours"))
    if (machines := given.one("machines")) and machines > 1:
        results.append(f"{total.step(f'{work} / {_n(machines)}', '{} hours')[1]} on {_n(machines)}")
    if price := total.price():
        discount, monthly = given.one("discount"), bool(re.search(_DAILY, given.text) and re.search(r"\bmonth", given.text))
        spent = f"{work} × {_n(price[0])}{' × 365 / 12' * monthly}"
        results.append(f"{total.step(spent, '${}')[1]}{' a month' * monthly} at {price[1]}, however many share it")
        if discount:
            results[-1] += f", {total.step(f'{spent} × (1 - {_n(discount)})', '${}')[1]} at your {_n(discount * 100)} % off"
    yield f"{'; '.join(results)} {total.cite('throughput')}."


def _replicas(given: Given, total: _Sum) -> Iterator[str]:
    """How many replicas a peak takes: what is asked a second over what one gives, with room, and one more if one may fail."""
    paces, requests = sorted(given.all("pace")), given.all("requests")
    output, headroom = given.one("output"), given.one("headroom")
    if len(requests) == 1 and len(paces) == 1 and output:
        demand, one, unit = f"{_n(requests[0])} × {_n(output)}", paces[0], "tokens"
    elif len(paces) == 2 and not requests and not given.all("busy"):
        demand, one, unit = _n(paces[1]), paces[0], "tokens"
    elif len(requests) == 2 and not paces:
        demand, one, unit = _n(max(requests)), min(requests), "requests"
    else:
        return
    spare = bool(re.search(r"\bn ?\+ ?1\b|\b(?:plus )?(?:one|1|a) (?:spare|extra|more|standby)\b|\bone (?:may|can|to) (?:fail|die)", given.text))
    wanted, needed = total.compute(demand, f"{{}} {unit} a second")
    formula = f"{demand} / {_n(one)}{f' × (1 + {_n(headroom)})' if headroom else ''}"
    exact = total.step(formula)[0]
    count = math.ceil(exact - 1e-9)
    total.say(f"{count} {count + spare} {wanted:,g} {one:,g}")
    room = f" with {total.say(f'{_n(headroom * 100)} %')} of headroom" if headroom else ""
    result = f"{count + spare} replicas: {count}{room} and one to spare" if spare else f"{count} replicas{room}"
    prompts = " The tokens of the prompts are not in this sum: it is of what is generated." if given.all("prompt") else ""
    yield f"{result}, for {needed} at {one:,g} {unit} a second from each {total.cite('throughput')}.{prompts}"


_EVEN = r"break[ -]?even|pays? (?:off|for itself)|\bpays\b|\bwins?\b|\bworth|from how many hours|utili[sz]ation|cheaper|beats?\b|better off|amorti|\bequals?\b|lohnt"
_CARBON = r"co2|carbon|emission|emit|footprint|co₂"
_MILLION = r"(?:per|for|a|each|/) ?(?:1 ?)?(?:million|mtok|m\b|mio)|\bper-million|price of tokens|cost of tokens|tokens? cost"


_DAILY = r"(?:per|an?|each|every|/) ?(?:night|day)\b|\bnightly|\bdaily"
_SCHEDULE = r"\d(?::\d\d)? ?(?:am|pm)?(?: ?[-–] ?| to )\d|week ?days?|mon\w*(?: to |-)fri|week ?ends?|nights?|office hours|hours (?:a|per|each|every) (?:day|week)"


def _words(pattern: str, *, only: str = "") -> re.Pattern[str]:
    return re.compile(rf"^(?=.*(?:{pattern})){f'(?=.*(?:{only}))' if only else ''}", re.DOTALL)


# The first that is asked for and has its figures is computed.
_FORMULAS = (
    _Formula(_words(_MILLION + "|" + _EVEN), ("pace", "price or instance_type", "price or API price"), _of_tokens, "busy"),
    _Formula(_words(_EVEN, only=_COMMITS), ("discount or price or money or monthly price or hours",), _break_even, "share of day or busy or term"),
    _Formula(_words(r"how long|how (?:many|much) (?:hours?|minutes?|time|days?)|take|wie lange|transfer time|duration"), ("size", "link"), _transfer, "storage price or efficiency"),
    _Formula(_words(r"how (?:long|many|much)|cost|bill|pay|wie (?:lange|viele)"), ("items", "item rate or pace"), _batch, "hours or machines or output or prompt or price or discount"),
    _Formula(_words(r"checkpoint|\bckpts?\b"), ("parameters or size or model", "kept or storage price or write rate"), _checkpoints, "interval or between failures or bytes or weights"),
    _Formula(_words(r"(?<!/)(?<!per )\bk?wh\b|energy|electric|power bill|" + _CARBON), ("watts or kwh or card hours", "hours or card hours or kwh"), _of_power, "PUE or grid or region or power price or cards or machines"),
    _Formula(_words(r"(?:how many|number of|wie viele) (?:\w+ )?(?:replicas?|pods?|instances?|gpus?|box(?:es)?|nodes?|servers?|copies|workers?|containers?|machines)"), ("requests or pace",), _replicas, "output or headroom"),
    _Formula(re.compile(rf"^(?!.*(?:{_CARBON}|kwh))(?=.*(?:\bsav(?:e|es|ed|ing|ings)\b(?![ -]plan)|how much less|drops? off|\bspar)).*(?:{_SCHEDULE})", re.DOTALL), ("hours", "price or instance_type"), _off_hours, "machines or instances"),
)
