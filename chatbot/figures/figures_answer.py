"""Answer questions that bring their own figures, with a table of formulas: the words that ask for each, and the figures
it needs."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from chatbot.draft import Draft
from chatbot.figures.hardware_answer.costs import COMMITMENT
from chatbot.figures.hardware_answer.places import of_energy
from chatbot.figures.hardware_answer.power import CARBON, ENERGY
from chatbot.figures.hardware_answer.spans import hours_asked
from chatbot.figures.sums import Sum, compared, plain, usd
from chatbot.figures.trade_offs import (
    api_or_machines,
    block,
    count_paid,
    daily,
    moved,
    payback,
    quota,
    scaling,
    span_asked,
    spot,
    spot_with_loss,
)
from chatbot.figures.units_answer import IN_OTHER_TERMS, in_euros, lines_by_units
from chatbot.language.glossary import in_english
from chatbot.question.query import Query
from chatbot.sizing.given import OF_ONE, Figure, Given, read_turns
from chatbot.sizing.impact import HOURS_A_MONTH
from chatbot.sizing.memory import BITS
from chatbot.sizing.workload import Format, Workload
from chatbot.working import Working, load
from ingest import Index

_LONGEST = 1_000
# A turn of at most this many words that asks for nothing new repeats the question with another figure.
_SHORT = 18


def answer_by_figures(query: Query, index: Index) -> Draft | None:
    """Compute what a question asks from figures that it gives; None if it asks for something else or lacks a figure."""
    tables = load(index)
    if query.options or not tables.facts.models or len(query.question) > _LONGEST:
        return None
    turns = (*(turn.question for turn in query.history), query.question)
    given = read_turns([in_english(turn[:_LONGEST]) for turn in turns], tables.known)
    formulas, asked = _asked(given)
    # A turn that continues an earlier question is computed with the figures of the earlier turns as well.
    figures = [f for f in given[-1].figures if f.is_input and (asked != given[-1].text or f.role in given[-1].new)]
    ways: list[_Formula | Callable[[Sequence[Given], Working], Iterator[str]]]
    ways = [api_or_machines, *(f for f in formulas if f.write is not _spent), lines_by_units, *(f for f in formulas if f.write is _spent)]
    for formula in ways:
        working = Working(tables, index, ["\n".join(turns), "CO2e"])
        total = Sum(given[-1], asked, working)
        try:
            lines = [line for line in (formula.write(given[-1], total) if isinstance(formula, _Formula) else formula(given, working)) if line]
        except ValueError:
            continue  # division by zero: by a rate of 0, or by what a share of 100 % leaves
        # A given figure that the formula does not use would change the result, so the formula does not fit.
        if lines and (not isinstance(formula, _Formula) or total.used.issuperset(figure.value for figure in figures)):
            return _in_euros(working.draft(*lines, *([f"{'; '.join(total.steps)}."] if total.steps else [])), turns, total)
    return None


def _in_euros(draft: Draft, turns: Sequence[str], total: Sum) -> Draft:
    """Rewrite the draft in euros if the asker uses them, unless a price in dollars is involved."""
    if not in_euros(turns) or total.rows:
        return draft
    return replace(draft, text=draft.text.replace("$", "€"), said=draft.said.replace("$", "€"), computed=tuple(replace(c, text=c.text.replace("$", "€")) for c in draft.computed))


@dataclass(frozen=True, slots=True)
class _Formula:
    """A formula. `asks` matches the words that ask for it. `needs` are roles or slots that must all be given, each
    possibly with alternatives ("price or size"); `takes` are others that it uses."""

    asks: re.Pattern[str]
    needs: tuple[str, ...]
    write: Callable[[Given, Sum], Iterator[str]]
    takes: str = ""

    def serves(self, given: Given) -> bool:
        there = {figure.role for figure in given.figures} | given.slots.keys() | ({"parts"} if given.parts else set())
        return all(set(need.split(" or ")) & there for need in self.needs)

    def uses(self, roles: frozenset[str], *, needed: bool = False) -> bool:
        """Whether the formula uses one of these roles, or with `needed`, requires one."""
        return any(set(names.split(" or ")) & roles for names in (*self.needs, "" if needed else self.takes))


def _asked(given: Sequence[Given]) -> tuple[Sequence[_Formula], str]:
    """The formulas that the last turn may ask for, and the words that ask. A short turn that brings a new figure
    repeats the question of the turn before."""
    asked: Sequence[_Formula] = ()
    words, served, told = "", False, ""
    for turn in given:
        text = f"{told} {turn.text}".strip()
        told = text if "?" not in text else ""  # a turn that only states figures belongs to the question after it
        wished = [f for f in _FORMULAS if f.asks.search(text)]
        own = [f for f in wished if f.serves(turn) and f.uses(turn.new)]
        if (asked and IN_OTHER_TERMS.fullmatch(turn.text)) or (not own and asked and len(turn.text.split()) <= _SHORT and any(f.uses(turn.new, needed=not served) for f in asked)):
            words = f"{words} {turn.text}"
        else:
            asked, words = own or wished, text
        served = any(f.serves(turn) for f in asked)
    return [f for f in asked if f.serves(given[-1])], words


# --- money ----------------------------------------------------------------------------------------------------------------

_TYPE = re.compile(r"\b[a-z]+\d+[a-z]*(?:-\w+)?\.\d*\w+")
_COMMITS = r"savings?[ -]plans?|reserv\w+|commit\w*\b(?! to \w+ing\b)|\b(?:ri|sp)s?\b|on[ -]demand|\bplan\b|upfront|[13][ -]?(?:years?|yrs?|y)\b"


def _even_with_api(given: Given, total: Sum) -> Iterator[str]:
    """From how many tokens on a machine that is always up costs less than an API."""
    if (hourly := total.price()) and (api := total.one("API price")):
        even = [total.compute(f"{plain(hourly[0])} × {hours} / {plain(api)}", "{} million tokens")[1] for hours in (730, 24)]
        yield f"From {even[0]} a month on, {even[1]} a day, {hourly[1]} costs less than your {usd(api)} for a million {total.cite('price of tokens')}."


def _break_even(given: Given, total: Sum) -> Iterator[str]:
    """From which share of the hours a commitment, which is paid for in all of them, costs less than paying by the hour; and
    which costs less for the hours of use that are given."""
    if (total.one("busy") and total.all("hours")) or len(given.all("hours")) > 1 or ("spot" in given.text and not re.search(COMMITMENT, given.text)):
        return  # a share of given hours is no share of all hours, and Spot is no commitment
    if len(set(_TYPE.findall(given.text))) > 1:
        return
    discounts, own = total.all("discount"), sorted(total.all("price"))
    prices = own or sorted(total.all("money") or total.all("monthly price"))
    sheet, used = total.facts.price(str(given.slots.get("instance_type", ""))), _hours_used(total)
    listed = own[-1] if len(own) == (1 if discounts else 2) else sheet.usd_per_hour if sheet and len(own) == (0 if discounts else 1) else None
    if listed and sheet and listed not in own:
        total.know(listed, sheet.row)
    options = [(f"1 - {plain(d)}", f"at your {plain(100 * d)} % off") for d in discounts]
    if not options and len(prices) > 1:
        options = [(f"{plain(price)} / {plain(prices[-1])}", f"at your {usd(price)} instead of {usd(prices[-1])} an hour") for price in prices[:-1]]
    elif not options and prices and listed and prices[0] < listed:
        options = [(f"{plain(prices[0])} / {plain(listed)}", f"at your {usd(prices[0])} instead of ${listed:.4g} an hour")]
    if not options and used and total.one("busy") is None and re.search(COMMITMENT, given.text):
        yield from _least_discount(used, total)
    cite = total.cite("break-even")
    for formula, words in options:
        days = ("168", "a week") if "week" in total.asked else ("24", "a day")
        daily, monthly = total.compute(f"({formula}) × {days[0]}", f"{{}} hours {days[1]}")[1], total.compute(f"({formula}) × 730", "{} hours a month")[1]
        even, percent = total.step(f"({formula}) × 100", "{} %")
        pays = f"{percent} of the hours on, {daily} or {monthly} of 730, {total.working.say(words)} {cite}."
        if not used or len(options) > 1:
            yield f"From {pays}"
            continue
        hours, span = span_asked(f"{total.asked} {given.text}")
        run = total.know(round(used / HOURS_A_MONTH * hours, 4))
        if listed:
            each, rate = count_paid(total), f"{plain(listed)} × ({formula})" if discounts else plain(prices[0])
            sides = [("the commitment", f"{each}{rate} × {hours:g}"), ("on demand", f"{each}{plain(listed)} × {plain(run)}")]
            yield f"{compared(total, sides, '${}', 'costs', f' {span}', percent=True)} {cite}."
        else:
            paid = (formula, f"{plain(run)} / {hours:g}")
            less, more = paid if even < run / hours * 100 else reversed(paid)
            yield f"{'The commitment' if less == formula else 'On demand'} costs {total.compute(f'(1 - ({less}) / ({more})) × 100', '{} %')[1]} less {cite}."
        yield f"It runs {total.working.say(f'{run / hours:.0%}'.replace('%', ' %'))} of the hours; the commitment pays from {pays}"
    if len(options) == 1 and len(own) == 2 and sheet and abs(sheet.usd_per_hour / own[-1] - 1) > 0.02 and own[0] < sheet.usd_per_hour:
        today = f"{plain(own[0])} / {plain(total.know(sheet.usd_per_hour, sheet.row))}"
        share, hours_ = total.compute(f"{today} × 100", "{} %")[1], total.compute(f"{today} × 730", "{} hours a month")[1]
        yield f"Against today's {total.working.say(f'${sheet.usd_per_hour:.4g}')} an hour of {sheet.instance_type} {sheet.terms} it would be {share}, {hours_} {total.cite()}."


def _hours_used(total: Sum) -> float | None:
    """The hours of a month that something runs, if a schedule or a share gives them."""
    hours, busy = total.hours() if _is_scheduled(total) else None, total.one("busy")
    if hours and HOURS_A_MONTH < hours < 8760:
        hours /= 12  # those of a year
    return hours if hours and HOURS_A_MONTH / 24 < hours <= HOURS_A_MONTH else busy * HOURS_A_MONTH if busy else None


def _least_discount(used: float, total: Sum) -> Iterator[str]:
    """What discount makes a commitment cheaper than machines that are off part of the time."""
    hours = total.know(round(used / HOURS_A_MONTH * 168, 2))
    share = total.step(f"{plain(hours)} / 168 × 100", "{} %")[1]
    least, text = total.step(f"(1 - {plain(hours)} / 168) × 100", "{} %")
    answer = "No, not with the most that AWS gives" if least > 72 else "Hardly" if least > 50 else "Perhaps"
    week = total.working.say(f"{plain(hours)} of 168 hours")
    yield f"{answer}: it runs {week} a week, {share}, so a commitment for all hours is cheaper only with more than {text} off; the most that any gives is 72% {total.cite('break-even', 'maximum discount')}."


def _below_list(given: Given, total: Sum) -> Iterator[str]:
    """How far the user's own price of a machine is below its price on demand."""
    own, listed = total.one("price"), total.facts.price(str(given.slots.get("instance_type", "")))
    if not own or not listed or any(f.is_bar for f in given.figures if f.role == "price"):
        return
    each, hours = count_paid(total), total.know(_paid_hours(total) or 1.0)
    prices = (("your price", own), ("the price on demand", total.know(listed.usd_per_hour, listed.row)))
    sides = [(name, f"{each}{plain(price)} × {hours:.6g} hours") for name, price in prices]
    yield f"{compared(total, sides, '${}', 'is', percent=True)} {total.cite()}."


def _of_tokens(given: Given, total: Sum) -> Iterator[str]:
    """What a million tokens cost, and at which utilisation that equals an API's price."""
    price, pace = total.price(), total.one("pace")
    if not price or not pace:
        return
    busy, cite = total.one("busy") or 1.0, total.cite("price of tokens")
    always = total.compute(f"{plain(price[0])} / ({plain(pace)} × 3600) × 1e6", "${}")[1]
    text = total.step(f"{plain(price[0])} / ({plain(pace)} × 3600{f' × {plain(busy)}' * (busy < 1)}) × 1e6", "${}")[1]
    use = f", busy for {total.working.say(f'{plain(busy * 100)} %')} of the time; {always} if it were always busy" if busy < 1 else " when it is always busy"
    if api := total.one("API price"):
        share, even = total.step(f"{plain(price[0])} / ({plain(pace)} × 3600 × {plain(api)}) × 1e8", "{} %")
        equal = f"It costs as much as your {usd(api)} for a million tokens when it is busy for {even} of the time" if share <= 100 else f"Not even always busy is it as cheap as your {usd(api)} for a million tokens"
        yield f"{equal} {cite}."
    yield f"{text} for a million tokens at {price[1]} and {total.working.say(f'{pace:,g} tokens a second')}{use} {cite}."


_A_YEAR = re.compile(r"\byear|\bannual|\bannum|\bjahr|\baño|\bann[ée]e")


def _off_hours(given: Given, total: Sum) -> Iterator[str]:
    """What it saves to switch machines off part of the time."""
    price, hours = total.price(), total.hours() or 0.0
    whole, span = (8760.0, "year") if hours > HOURS_A_MONTH or _A_YEAR.search(given.text) else (float(HOURS_A_MONTH), "month")
    if not price or hours >= whole:
        return
    hours = whole - _hours_off(given.text, hours, whole)
    number = _machines(given, total)
    week = f"{plain(total.know(round(hours / whole * 168, 1)))}"
    each = f"{plain(number)} × {plain(price[0])} × {whole:g}".removeprefix("1 × ")
    share = total.compute(f"(168 - {week}) / 168 × 100", "{} %")[1]
    saved = total.step(f"{each} hours × (168 - {week}) / 168", "${}")[1]
    always, kept = total.compute(each, "${}")[1], total.compute(f"{each} × {week} / 168", "${}")[1]
    told = f"at {price[1]}{f' for each of {plain(number)}' if number > 1 else ''} {total.cite('schedule')}"
    times = total.working.say(f"{week} of 168 hours")
    if re.search(_SAVED, total.asked):
        yield f"{saved} a {span}, {share}: they run {times} a week and cost {kept} instead of {always}, {told}."
    else:
        yield f"{kept} a {span} instead of {always}, {saved} or {share} less: {times} a week, {told}."


def _spent(given: Given, total: Sum) -> Iterator[str]:
    """What one thing costs, or which of two that are compared costs least."""
    compares = re.search(_COMPARES, total.asked) and not re.search(r"together|combined|\bin all\b", total.asked)
    sides = (given.sides if compares else ()) or (given,)
    formulas = []
    for side in sides:
        total.given = side
        formulas.append(_cost_of(total, alone=len(sides) == 1))
    if not all(formulas) or (len(formulas) > 1 and (len(set(formulas)) == 1 or _UNTIL.search(total.asked))):
        return  # the difference was not read, or the point is asked for at which they are equal
    of = " for a million tokens" if given.all("pace") else ""
    types = [total.working.say(side.slots.get("instance_type", "")) for side in sides]
    names = types if len({*types, ""}) > len(types) else ["the first", "the second"]
    if len(formulas) == 1:
        yield f"{total.compute(formulas[0], '${}')[1]}: {formulas[0]} {total.cite('cost')}."
    else:
        asserts = bool(_FIRST_IS_LESS.search(total.asked))
        yield f"{compared(total, list(zip(names, formulas, strict=False)), '${}', 'costs', of, asserts=asserts)} {total.cite('price of tokens' if of else 'cost')}."


_COMPARES = r"\bor\b|cheap|\bless\b|\bsav(?:e|es|ed|ing)\b|differ|dearer|expensive|versus|\bvs\b|before|after|which|better|(?:go|went) (?:up|down)|compar"
_UNTIL = re.compile(r"\b(?:how many|after what|from how many) (?:hours|days|weeks|months)\b.*\b(?:before|until|wins?|pays?)\b")
_FIRST_IS_LESS = re.compile(r"^\W*(?:is|are|does|do|would)\b.*\b(?:cheaper|less)\b.*\bthan\b")


def _cost_of(total: Sum, *, alone: bool) -> str:
    """Formula: hours x price x count, or of two machines that are compared, the price of tokens; empty if a factor is missing."""
    price, hours, counts, given = total.price(), _paid_hours(total), _counts(total), total.given
    if not alone and price and (pace := total.one("pace")):
        return f"{plain(price[0])} / ({plain(pace)} × 3600{f' × {plain(busy)}' if (busy := total.one('busy')) else ''}) × 1e6"
    others = [f for f in given.figures if f.role in ("things", "items", "calls", "times") and f.is_input and f.value not in total.used]
    sized = alone and ("instance_type" in given.slots or not re.search(_AMOUNT, total.asked))  # for one machine that has a name, a sizing knows more
    if not price or not hours or counts is None or others or sized:
        return ""
    less = f" × (1 - {plain(discount)})" if (discount := total.one("discount")) else ""
    return f"{counts}{plain(price[0])} × {total.know(hours):.6g} hours{less}"


def _of_parts(given: Given, total: Sum) -> Iterator[str]:
    """What a fleet costs whose parts are paid for in different ways."""
    base = total.price()
    compares = given.sides and re.search(_COMPARES, total.asked)
    if compares or not given.parts or not all(part.count and (part.price or base) for part in given.parts) or given.slots.get("hours", HOURS_A_MONTH) < HOURS_A_MONTH:
        return  # a commitment is also paid for while its machines are off
    fleet = total.know(sum(part.count for part in given.parts))
    total.used.update([fleet, *(number for part in given.parts for number in (part.count, part.discount, part.price))])
    hours, span = span_asked(total.asked)
    each = [f"{plain(part.count)} × {plain(part.price or (base[0] if base else 0))}{f' × (1 - {plain(part.discount)})' * bool(part.discount)}" for part in given.parts]
    spent, text = total.step(f"({' + '.join(each)}) × {hours:g} hours", "${}")
    less = ""
    if base:
        listed, before = total.compute(f"{plain(fleet)} × {plain(base[0])} × {hours:g}", "${}")
        less = f", {total.compute(f'(1 - {plain(spent)} / {plain(listed)}) × 100', '{} %')[1]} less than the {before} of all {plain(fleet)} at {base[1]}"
    yield f"{text} {span}{less} {total.cite('cost')}."


def _paid_hours(total: Sum) -> float | None:
    """The hours that are paid for: a given time, those of a schedule, or else those of the day, month or year that is
    asked for."""
    if [f.role for f in total.given.figures].count("hours") == 1 and not _is_scheduled(total):
        return total.one("hours")
    spans = {hours for hours in hours_asked(total.asked) if hours > 1}
    return total.hours() or (spans.pop() if len(spans) == 1 else None)


def _is_scheduled(total: Sum) -> bool:
    """Whether the given hours recur each day, week or month."""
    times = "".join(f.beside.partition("|")[2] for f in total.given.figures if f.role == "hours")
    return bool(re.search(f"{_SCHEDULE}|{_ALL_DAY}", total.given.text) or total.given.all("share of day") or re.match(r"\W*(?:an?|per|each|every) (?:day|night|week|month|year)", times))


def _counts(total: Sum) -> str | None:
    """The counts that multiply a price, as the beginning of a formula: of machines, or of cards if the price is per
    card, and of those who each have some. None if it is unclear which count applies."""
    each, given = re.search(_EACH, total.asked), total.given
    of_card = not given.all("machines") or re.search(r"(?:gpu|card|chip|accelerator)s?[- ]?h", given.text)
    there = {"cards" if of_card else "machines", *(("machines", "items", "calls", "things") if each else ())}
    numbers = [f.value for f in given.figures if f.role in there]
    total.used |= {*numbers, *given.all("cards")}
    numbers = numbers or [n for n in (given.slots.get("instances"),) if n and "instance_type" in given.slots]
    return "".join(f"{plain(n)} × " for n in numbers if n != 1) if each or len(numbers) < 2 else None


_EACH = r"\b(?:each|every|apiece)\b|\bper (?!(?:h|hr|hour|day|week|month|year|gpu|card|node|box|machine|instance|million|m)\b)[a-z]"


_WHEN_OFF = re.compile(r"\b(?:shut\w*|(?:switch|turn)(?:ed|ing)? (?:it |them )?off|sleeps?|stop(?:s|ped|ping)?|off (?:at|on|over|during|from|between))\b(?!.*\boutside\b)")


_OVERNIGHT = re.compile(r"\b(?P<start>\d{1,2})(?::00|h)?(?: to |-|–| until )(?P<end>\d{1,2})(?::00|h)?(?! ?[ap]m)\b")


def _hours_off(question: str, hours: float, whole: float) -> float:
    """For how many hours of a whole month or year machines are off. The hours of a schedule may be those on or those off."""
    if not _WHEN_OFF.search(question):
        return whole - hours
    if "weekend" in question and (night := _OVERNIGHT.search(question)) and int(night["end"]) < int(night["start"]):
        return whole * (48 + 5 * (24 - int(night["start"]) + int(night["end"]))) / 168
    if "weekend" in question and re.search(r"\b(?:nights?|overnight|evenings?)\b", question):
        return hours + whole * 2 / 7  # the hours are those of the nights, and weekends are off, too
    return whole - hours if re.search(r"weekend|days\b|saturday|sunday", question) else hours


# --- energy ---------------------------------------------------------------------------------------------------------------


def _of_power(given: Given, total: Sum) -> Iterator[str]:
    """Energy and carbon: watts x hours x PUE x grid."""
    energy = _energy(given, total)
    if not energy:
        return
    unit, scale = ("MWh", 1e3) if "mwh" in total.asked else ("kWh", 1.0)
    kwh, text = total.step(energy, f"{{}} {unit}", scale=scale)
    regions, pue, grid = [region for region in given.regions if region in total.facts.grids], total.one("PUE"), total.one("grid")
    watts = [f for f in given.figures if f.role == "watts"]
    whole = re.search(r"\bnode|server|machine|host|\brest\b|\bload", " ".join(f.beside for f in watts)) or {_drawn_by(f, given) for f in watts} != {"cards"}
    emits = bool(re.search(CARBON, total.asked) or "grid" in given.new)
    remark = "" if whole or not emits else " That is of the accelerators alone, without the machines around them."
    if emits and regions and not grid:
        *first, last = of_energy([Workload(kwh=float(f"{kwh:g}"), region=region) for region in regions[:4]], total.working, own=pue, differ=len(regions) == 2)
        yield from first
        yield f"{last}{remark}"
        return
    overhead = f"{plain(pue)} × " if pue else ""
    if pue:
        text += f", {total.compute(f'{plain(kwh)} kWh × {plain(pue)}', f'{{}} {unit}', scale=scale)[1]} with your PUE of {plain(pue)}"
    if emits and grid:
        heavy = re.search(r"\b(?:tonn?es?|tons?|t)\b(?! \w*hours?)", total.asked)
        kg = total.step(f"{plain(kwh)} kWh × {overhead}{plain(grid)} g", "{} t" if heavy else "{} kg", scale=1e6 if heavy else 1000.0)[1]
        text = f"{kg} of CO2e: {text}, at your {plain(grid)} g a kWh"
    elif price := total.one("power price"):
        text = f"{total.step(f'{plain(kwh)} kWh × {overhead}{plain(price)}', '${}')[1]} for {text}, at your {usd(price)} a kWh"
    yield f"{text} {total.cite('emissions')}.{remark}"


def _energy(given: Given, total: Sum) -> str:
    """Formula: the kWh that are drawn; empty if it is unclear what draws what for how long."""
    watts = [f for f in given.figures if f.role == "watts"]
    hours = total.hours() or total.one("hours")
    hours = 8760.0 if hours == HOURS_A_MONTH and _A_YEAR.search(total.asked) else hours
    part = f" × {plain(share)}" if (share := total.one("part of power") or total.one("busy")) else ""
    parts = {_drawn_by(f, given): f.value for f in watts}
    if not hours or not parts or len(parts) < len(watts) or len(watts) > 2:
        return ""
    total.all("watts")
    number = {"cards": _cards(given, total), "machines": plain(_machines(given, total)), "all": "1"}
    drawn = " + ".join(f"{number[of]} × {plain(value)} W".removeprefix("1 × ") + (part if of == "cards" or len(parts) == 1 else "") for of, value in parts.items())
    return f"{f'({drawn})' if len(parts) > 1 else drawn} × {plain(hours)} hours / 1000"


def _drawn_by(watts: Figure, given: Given) -> str:
    """What draws a power ("cards", "machines" or "all"): by the words after it, then those before it, else whatever is
    counted."""
    before, after = watts.beside.split("|")
    for words in (after, " ".join(before.split()[-4:])):
        for of, written in (("all", r"\btotal|altogether|in all|whole|entire|together"), ("machines", r"\bnode|server|machine|\bbox|host|rest\b|cpu|other|overhead|instance"), ("cards", r"gpu|card|accelerator|chip|\b[abhlvt]\d{1,3}s?\b")):
            if re.search(written, words):
                return of
    return "cards" if given.all("cards") else "machines"


def _machines(given: Given, total: Sum) -> float:
    return float(total.one("machines") or given.slots.get("instances") or 1)


def _cards(given: Given, total: Sum) -> str:
    """Formula: how many accelerators there are in all. "4 nodes, 8 GPUs each" are 4 × 8, two p4d.24xlarge 2 × 8."""
    instance = total.facts.instances.get(str(given.slots.get("instance_type", "")))
    if instance and not given.all("cards"):
        of_one = total.know(math.ceil(instance.accelerators) or 1, instance.row)
        return f"{plain(_machines(given, total))} × {plain(of_one)}".removesuffix(" × 1")
    counted = [figure for figure in given.figures if figure.role in ("machines", "cards")]
    each = [f.role for f in counted] == ["machines", "cards"] or any(f.role == "cards" and re.search(r"\beach|per", f.beside) for f in counted)
    cards, machines = total.one("cards") or given.slots.get("accelerators") or 1.0, total.one("machines") or 1.0
    return f"{plain(machines)} × {plain(cards)}" if each and machines > 1 else plain(cards)


# --- checkpoints and replicas ---------------------------------------------------------------------------------------------

_STATES = re.compile(r"optimi[sz]er|\badam\w*|to resume|training state")


def _checkpoints(given: Given, total: Sum) -> Iterator[str]:
    """How large checkpoints are, what keeping them costs, how long writing one takes and which share of the time that is."""
    named = total.facts.models.get(str(given.slots.get("model", "")))
    parameters = total.one("parameters") or given.slots.get("parameters") or (named.parameters if named else None)
    states, size = bool(_STATES.search(total.asked)), total.one("size")
    each = total.one("bytes") or (14.0 if states else BITS[Format(given.slots.get("weights", Format.BF16))] / 8)
    if not size and not parameters:
        return
    total.know(parameters or 0.0, *([named.row] if named else []))
    formula = f"{plain(total.know(size) / 1e9)}e9 bytes" if size else f"{plain((parameters or 0) / 1e9)}e9 parameters × {plain(total.know(each))} bytes"
    results = [f"{(total.compute if size else total.step)(formula, '{} GB', scale=1e9)[1]} for a checkpoint"]
    kept = total.one("kept")
    if kept:
        results.append(f"{total.step(f'{formula} × {plain(kept)}', '{} TB', scale=1e12)[1]} for the {plain(kept)} that are kept")
    if price := total.one("storage price"):
        stored = f"{formula} × {plain(kept)}" if kept else formula
        results.append(f"{total.step(f'{stored} / 1e9 × {plain(price)}', '${}')[1]} a month at your {usd(price)} a GB")
    if rate := total.one("write rate"):
        seconds, took = total.step(f"{formula} / {plain(rate / 1e9)}e9", "{} s")
        results.append(f"{took} to write it at your {total.working.say(f'{rate / 1e9:.4g} GB/s')}")
        if interval := total.one("interval"):
            lost = total.step(f"{plain(seconds)} / {plain(total.know(interval * 3600))} × 100", "{} %")[1]
            results.append(f"{lost} of the time at one every {total.working.say(f'{plain(round(interval * 60, 2))} minutes')}, if training waits for it")
        if apart := total.one("between failures"):
            # Young 1974, "A first order approximation to the optimum checkpoint interval", https://doi.org/10.1145/361147.361115.
            best = total.step(f"(2 × {plain(seconds)} × {plain(total.know(apart * 3600))}) ** 0.5 / 60", "{} minutes")[1]
            results.append(f"{best} between two lose least where it fails every {total.working.say(f'{plain(apart)} hours')}, if training waits")
    cite = total.cite("optimizer states" if states else "checkpoint")
    yield f"{'; '.join(results)} {cite}."
    if states and not size and each == 14:
        yield f"Taken as 2 bytes of weights and 12 of master weights and moments for each parameter {cite}."


_DOES = re.compile(r"\b(?:handles?|manages?|does|do|serves?|sustains?|tops out)\b")


def _replicas(given: Given, total: Sum) -> Iterator[str]:
    """How many replicas a peak takes: the demand per second divided by what one gives, with headroom, and one more if
    one may fail."""
    rates = [figure for figure in given.figures if figure.role in ("pace", "requests")]
    marks = ([OF_ONE.search(f.before) for f in rates], [OF_ONE.search(f.beside) for f in rates], [_DOES.search(f.before) for f in rates])
    of_one = next((rates[bool(found[-1])] for found in marks if sum(map(bool, found)) == 1 < len(rates)), None)
    day = next((span for span in hours_asked(total.asked) if 1 < span < HOURS_A_MONTH), 0)
    if [rate.role for rate in rates] == ["pace"] and day and (amount := total.one("tokens") or total.one("calls")):
        of_one = rates[0]
        rates.append(Figure("pace" if total.one("tokens") else "requests", total.compute(f"{plain(amount)} / ({day:g} × 3600)")[0], ""))
    if len(rates) != 2 or not of_one:
        return
    peak, one, unit = rates[rates[0] is of_one], of_one.value, "tokens" if of_one.role == "pace" else "requests"
    output, headroom, times = total.one("output"), total.one("headroom"), total.one("times")
    if peak.role != of_one.role and not (output and unit == "tokens"):
        return
    total.used.update(rate.value for rate in rates)
    demand = " × ".join(plain(factor) for factor in (times, peak.value, output if peak.role != of_one.role else None) if factor)
    spare = bool(re.search(r"\bn ?\+ ?1\b|\b(?:plus )?(?:one|1|a) (?:spare|extra|more|standby)\b|\bone (?:may|can|to) (?:fail|die)", given.text))
    wanted, needed = total.compute(demand, f"{{}} {unit} a second")
    formula = f"{demand} / {plain(one)}{f' × (1 + {plain(headroom)})' if headroom else ''}"
    exact = total.step(formula)[0]
    count = math.ceil(exact - 1e-9)
    total.working.say(f"{count} {count + spare} {wanted:,g} {one:,g}")
    room = f" with {total.working.say(f'{plain(headroom * 100)} %')} of headroom" if headroom else ""
    name = given.slots.get("instance_type")
    what = f" × {total.working.say(name)}" if name else f" replica{'s' * (count + spare > 1)}"
    result = f"{count + spare}{what}: {count}{room} and one to spare" if spare else f"{count}{what}{room}"
    prompts = " The tokens of the prompts are not in this sum: it is of what is generated." if total.all("prompt") else ""
    price, hours = total.price(), next((span for span in hours_asked(total.asked) if span > 24), HOURS_A_MONTH)
    paid = f" {total.step(f'{count + spare} × {plain(price[0])} × {hours:g} hours', '${}')[1]} for {hours:g} hours at {price[1]} {total.cite()}." if price else ""
    yield f"{result}, for {needed} at {one:,g} {unit} a second from each {total.cite('throughput')}.{paid}{prompts}"


_EVEN = r"break[ -]?even|\bit pays?\b|pays? off|\bpays\b|\bwins?\b|\bworth|from how many hours|utili[sz]ation|cheaper|beats?\b|worse|make sense|\bstay\b"
_GAINS = r"\bsav(?:e|es|ed|ing)\b(?![ -]plan)|\blos(?:e|ing)\b|\bdeal\b"
_MILLION = r"(?:per|for|a|/) ?(?:1 ?)?(?:million|mtok|m\b)|tokens? cost"


_AMOUNT = (
    r"\bhow (?:much|many)\b|\bwhat\b[^?]*\b(?:costs?|pay|bill|total|price|spend|(?:per|an?) (?:day|week|month|year)|sav(?:e|ing|ings))\b"
    r"|\b(?:total|monthly|daily|weekly)\b[^.?]*\?|\bcosts? (?:per|of|for)\b"
)
_COSTS = r"cost|bill|\bpay|price|dollars|\$ ?(?:per|/)|cents|cheap"
_ON_TIMES = r"\d(?::\d\d)? ?(?:am|pm|h)?(?: ?[-–] ?| to | until )\d|week ?days?|mon\w*(?: to |-)fri|week ?ends?|office hours|hours (?:a|per|each|every) (?:day|week)"
_SCHEDULE = rf"{_ON_TIMES}|nights?"


def _words(pattern: str, *, only: str = "") -> re.Pattern[str]:
    return re.compile(rf"^(?=.*(?:{pattern})){f'(?=.*(?:{only}))' if only else ''}", re.DOTALL)


_SAVED = r"\bsav(?:e|es|ed|ing|ings)\b(?![ -]plan)|how much less|drops? off|\bspar"
_ALL_DAY = r"\b24 ?[x/] ?7\b|around the clock|\balways (?:switched )?on\b|all the time|non-?stop|\bcontinuously\b|\bpermanent"
_LESS = rf"{_GAINS}|\bhow (?:much|far|many)\b.*\b(?:less|more|cheaper|dearer|below|above)\b|\bdiscount\b|%|\bdiffer"
# In order of precedence: the first formula that is asked for and has its figures is computed.
_FORMULAS = (
    _Formula(_words(r"how (?:many|much|big|large)|\bwhat\b|\bneed|\benough|\bcan\b", only=r"\bquotas?\b|\bv?cpus?[ -]limits?\b"), ("instance_type", "vCPUs or machines or instances"), quota),
    _Formula(_words(rf"{_AMOUNT}|{_COSTS}|{_GAINS}", only=r"\b(?:mov|shift|switch|migrat|put|go)"), ("monthly price or money", "discount"), moved, "again or lost or share"),
    _Formula(_words(r"\benough|\bkeeps? up|suffic|\bhandle|\bcope|\bcan\b", only=r"\bembed|\bencod|\bbert|classif|rerank"), ("items or calls or things", "output or prompt", "parameters", "instance_type"), daily),
    _Formula(_words(r"spot|interrupt|reclaim|preempt|\bfail|crash"), ("lost time", "discount or between failures"), spot, "discount or price or between failures or interval or hours or card hours or machines or cards or money or instance_type"),
    _Formula(_words(r"spot|interrupt|reclaim|preempt"), ("discount", "lost"), spot_with_loss, "price or hours or card hours or machines or cards or instance_type or "),
    _Formula(_words(rf"{_EVEN}|{_COMPARES}|{_GAINS}", only=r"\bblocks?\b"), ("money or price", "hours"), block, "busy or machines or instance_type"),
    _Formula(_words(r"pay[- ]?back|\bpays?\b|\bpaid (?:off|back)|break[ -]?even|amorti|recoup|\bearn|how (?:many|long)|worth"), ("money", "monthly price"), payback, "discount or share"),
    _Formula(_words(r"\bscal|efficien|speed-?up|linear"), ("hours or item rate or pace or requests",), scaling, "cards or machines or efficiency or price or "),
    _Formula(_words(rf"{_AMOUNT}|{_COSTS}|\b(?:if|with|what about|suppose)\b|\b(?:per|an?) (?:day|week|month|year)\b"), ("parts",), _of_parts),
    _Formula(_words(_MILLION + "|" + _EVEN), ("pace", "price or instance_type", "price or API price"), _of_tokens, "busy"),
    _Formula(_words(_EVEN + r"|crossover|at (?:what|which)|must we"), ("API price", "price or instance_type"), _even_with_api),
    _Formula(_words(_EVEN, only=_COMMITS), ("discount or price or money or monthly price or hours",), _break_even, "share of day or busy or term or machines"),
    _Formula(_words(rf"{_COMPARES}|{_GAINS}|{_AMOUNT}|{_COSTS}", only=COMMITMENT), ("discount or price", "busy or hours or share of day", "price or instance_type"), _break_even, "term or machines"),
    _Formula(_words(r"checkpoint|\bckpts?\b"), ("parameters or size or model", "kept or storage price or write rate"), _checkpoints, "interval or between failures or bytes or weights"),
    _Formula(_words(ENERGY + "|" + CARBON), ("watts", "hours"), _of_power, "PUE or grid or region or power price or cards or machines"),
    _Formula(_words(r"how many|number of|wie viele|\b(?:fleet|machines|boxes|replicas|needs?)\b"), ("requests or pace",), _replicas, "output or headroom or times"),
    _Formula(re.compile(rf"^(?!.*(?:{CARBON}|kwh))(?:(?=.*(?:{_SAVED})).*(?:{_SCHEDULE})|(?=.*(?:{_ALL_DAY})).*(?:{_ON_TIMES}))", re.DOTALL), ("hours", "price or instance_type"), _off_hours, "machines or instances"),
    _Formula(_words(_LESS, only=r"\bon[ -]demand\b|\blist(?: price)?\b|\bdiscount\b"), ("price", "instance_type"), _below_list, "hours or machines or instances"),
    _Formula(_words(_COMPARES, only=_COSTS), ("instance_type", "pace"), _spent),
    _Formula(_words(f"{_AMOUNT}|{_COMPARES}"), ("price",), _spent, "hours or machines or cards or items or things or discount or share of day"),
)
