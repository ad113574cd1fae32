"""Answer questions that bring their own figures, with a table of formulas: the words that ask for each, and the figures
it needs."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from chatbot.draft import Draft
from chatbot.glossary import in_english
from chatbot.hardware_answer import COMMITMENT, hours_asked, of_energy
from chatbot.query import Query
from chatbot.sizing.arithmetic import evaluate
from chatbot.sizing.facts import short
from chatbot.sizing.given import ITEM, OF_ONE, Figure, Given, read_turns
from chatbot.sizing.impact import HOURS_A_MONTH
from chatbot.sizing.memory import BITS
from chatbot.sizing.workload import Format, Workload
from chatbot.sums import Sum, compared, plain, usd
from chatbot.trade_offs import (
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
)
from chatbot.units_answer import IN_OTHER_TERMS, in_euros, lines_by_units
from chatbot.working import Working, article, load
from ingest import Index

_LONGEST = 1_000
# A turn of at most this many words that asks for nothing new repeats the question with another figure.
_SHORT = 18
# The least number of things that counts as a batch of items; people have other things in ones and tens.
_MANY = 10_000
# A shorter batch is a misreading: nobody asks how long it takes.
_LEAST_HOURS = 0.01


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
    ways = [api_or_machines, *(f for f in formulas if f.write is not _SPENT), lines_by_units, *(f for f in formulas if f.write is _SPENT)]
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


def _fixed(given: Given, total: Sum) -> Iterator[str]:
    """From how many hours a month, or after how many months, a fixed sum costs less than paying by the hour; or from
    how many tokens on a machine costs less than an API."""
    hourly, month, money, busy = total.price(), total.one("monthly price"), total.one("money"), total.one("busy") or 1
    if hourly and (api := total.one("API price")):
        even = [total.compute(f"{plain(hourly[0])} × {hours} / {plain(api)}", "{} million tokens")[1] for hours in (730, 24)]
        yield f"From {even[0]} a month on, {even[1]} a day, {hourly[1]} costs less than your {usd(api)} for a million {total.cite('price of tokens')}."
    elif hourly and (fixed := month or money):
        pays = total.step(f"{plain(fixed)} / {plain(hourly[0])}", "{} hours")[1] if month else total.step(f"{plain(fixed)} / ({plain(hourly[0])} × 730 × {plain(busy)})", "{} months")[1]
        yield f"From {pays}{' of a month' if month else ''} on: {usd(fixed)} instead of {hourly[1]} {total.cite('break-even')}."


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
    if (daily := total.one("share of day")) and "hours" not in total.given.slots:
        return daily / 24 * HOURS_A_MONTH
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
    if not own or not listed or own == listed.usd_per_hour or any(f.is_bar for f in given.figures if f.role == "price"):
        return
    hours, number = _paid_hours(total) or 1.0, _machines(given, total)
    span = {1.0: "an hour", 24.0: "a day", 168.0: "a week", float(HOURS_A_MONTH): "a month of 730 hours", 8760.0: "a year"}.get(hours, f"for {hours:g} hours")
    less, more = sorted((own, total.know(listed.usd_per_hour, listed.row)))
    gap = total.compute(f"{plain(number)} × ({plain(more)} - {plain(less)}) × {total.know(hours):.6g} hours", "${}")[1]
    share = total.compute(f"({plain(more)} - {plain(less)}) / {plain(listed.usd_per_hour)} × 100", "{} %")[1]
    of = f" for each of {plain(number)}" if number > 1 else ""
    prices = total.working.say(f"your {usd(own)} an hour instead of ${listed.usd_per_hour:.4g} on {listed.instance_type} {listed.terms}{of}")
    yield f"{gap} {total.working.say(span)} {'less' if own < listed.usd_per_hour else 'more'}, {share}: {prices} {total.cite()}."


def _of_tokens(given: Given, total: Sum) -> Iterator[str]:
    """What a million tokens cost, and at which utilisation that equals an API's price."""
    price, pace = total.price(), total.one("pace")
    if not price or not pace:
        return
    busy, api, cite = total.one("busy") or 1.0, total.one("API price"), total.cite("price of tokens")
    each = any(f.role == "price" and re.search(r"\b(?:each|apiece)\b", f.beside) for f in given.figures)
    count = f"{plain(number)} × " if each and (number := total.one("cards") or total.one("machines")) else ""
    always = total.compute(f"{count}{plain(price[0])} / ({plain(pace)} × 3600) × 1e6", "${}")[1]
    cost, text = total.step(f"{count}{_rated('1e6', ['pace'], total)}", "${}")
    use = f", busy for {total.working.say(f'{plain(busy * 100)} %')} of the time; {always} if it were always busy" if busy < 1 else " when it is always busy"
    result = f"{text} for a million tokens at {price[1]}{' each' if count else ''} and {total.working.say(f'{pace:,g} tokens a second')}{use} {cite}."
    if not api:
        below = f" An API that asks less is cheaper than this machine {cite}." if re.search(r"\bapi\b|bedrock|self[- ]?host", total.asked) else ""
        yield f"{result}{total.working.say(below)}"
        return
    share, even = total.step(f"{count}{plain(price[0])} / ({plain(pace)} × 3600 × {plain(api)}) × 1e8", "{} %")
    times = total.compute(f"{plain(cost)} / {plain(api)}", "{} times")[1]
    equal = f"It costs as much as your {usd(api)} for a million tokens when it is busy for {even} of the time" if share <= 100 else f"Not even always busy is it as cheap as your {usd(api)} for a million tokens"
    led = [f"{equal} {cite}.", result] if re.search(_EVEN, total.asked) else [result.replace(f" {cite}.", f", {times} your API's {usd(api)} {cite}."), f"{equal} {cite}."]
    yield from led


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


def _by_sides(measure: Callable[[Sum], str], written: str, verb: str, term: str, of: str = "") -> Callable[[Given, Sum], Iterator[str]]:
    """Return a writer that computes a formula for one thing, or for each of several that are compared, and says which
    is least."""

    def write(given: Given, total: Sum) -> Iterator[str]:
        compares = re.search(_COMPARES, total.asked) and not re.search(r"together|combined|\bin all\b", total.asked)
        sides, formulas = (given.sides if compares else ()) or (given,), []
        total.alone = len(sides) == 1
        for side in sides:
            total.given = side
            formulas.append(measure(total))
        if not all(formulas) or (len(formulas) > 1 and (len(set(formulas)) == 1 or _UNTIL.search(total.asked))):
            return  # the difference was not read, or the point is asked for at which they are equal
        types = [total.working.say(side.slots.get("instance_type", "")) for side in sides]
        names = types if len({*types, ""}) > len(types) else ["the first", "the second"]
        if len(formulas) > 1:
            result = compared(total, list(zip(names, formulas, strict=False)), written, verb, of, asserts=bool(_FIRST_IS_LESS.search(total.asked)))
        else:
            result = f"{total.compute(formulas[0], written)[1]}{of}: {formulas[0]}"
        yield f"{result} {total.cite(term)}."

    return write


_COMPARES = r"\bor\b|cheap|\bless\b|\bsav(?:e|es|ed|ing)\b|differ|dearer|expensive|versus|\bvs\b|before|after|which|better|(?:go|went) (?:up|down)|compar|billiger|günstiger"
_UNTIL = re.compile(r"\b(?:how many|after what|from how many) (?:hours|days|weeks|months)\b.*\b(?:before|until|wins?|pays?)\b")
_FIRST_IS_LESS = re.compile(r"^\W*(?:so,? |and |hm+,? )*(?:is|are|was|were|would|will|does|do|did|ist|sind)\b.*\b(?:cheaper|less|billiger|günstiger)\b.*\b(?:than|als)\b")


def _spent(total: Sum) -> str:
    """Formula: hours x price x count, or tokens x their price; empty if a factor is missing."""
    if (tokens := total.one("tokens")) and (rate := total.one("API price")):
        return f"{plain(tokens)} / 1e6 × {plain(rate)}"
    price, hours, counts = total.price(), _paid_hours(total), _counts(total)
    if any(f.value not in total.used for f in total.given.figures if f.role in ("things", "items", "calls", "times") and f.is_input):
        return ""
    alone = total.alone and ("instance_type" in total.given.slots or not re.search(_AMOUNT, total.asked))
    if not price or not hours or counts is None or alone:
        return ""
    formula = f"{counts}{plain(price[0])} × {total.know(hours):.6g} hours"
    saves = total.alone and re.search(_SAVED, total.asked) and not re.search(r"cost|bill|\bpay", total.asked)
    for role, written in (("discount", " × {}" if saves else " × (1 - {})"), ("lost", " / (1 - {})"), ("headroom", " × (1 + {})")):
        formula += written.format(plain(share)) if (share := total.one(role)) else ""
    for figure in total.given.figures:
        if figure.role == "money" and re.search(r"(?:\bplus|\band|\+) \W*$", figure.before):
            formula += f" + {plain(total.one('money') or 0)}"
    return formula


def _of_parts(given: Given, total: Sum) -> Iterator[str]:
    """What a fleet costs whose parts are paid for in different ways."""
    base = total.price()
    if (given.sides and re.search(_COMPARES, total.asked)) or not given.parts or not all(part.count and (part.price or base) for part in given.parts):
        return
    fleet = sum(part.count for part in given.parts)
    total.used.update([fleet, *(number for part in given.parts for number in (part.count, part.discount, part.price))])
    total.know(fleet)
    hours = _paid_hours(total) or HOURS_A_MONTH
    hours = 8760.0 if hours == HOURS_A_MONTH and {span for span in hours_asked(total.asked) if span > 1} == {8760.0} else hours
    if hours < HOURS_A_MONTH and re.search(COMMITMENT, given.text):
        return  # a commitment is also paid for while its machines are off
    span = {8760.0: "a year", HOURS_A_MONTH: "a month"}.get(hours, f"for {hours:g} hours")
    each = [f"{plain(part.count)} × {plain(part.price or (base[0] if base else 0))}{f' × (1 - {plain(part.discount)})' * bool(part.discount)}" for part in given.parts]
    spent, text = total.step(f"({' + '.join(each)}) × {total.know(hours):.6g} hours", "${}")
    less = ""
    if base:
        listed, before = total.compute(f"{plain(fleet)} × {plain(base[0])} × {hours:.6g}", "${}")
        less = f", {total.compute(f'(1 - {plain(spent)} / {plain(listed)}) × 100', '{} %')[1]} less than the {before} of all {plain(fleet)} at {base[1]}"
    yield f"{text} {span}{less} {total.cite('cost')}."


def _paid_hours(total: Sum) -> float | None:
    """The hours that are paid for: a given time, those of a schedule, or else those of the day, month or year that is
    asked for."""
    if (spent := total.one("card hours")) or ([f.role for f in total.given.figures].count("hours") == 1 and not _is_scheduled(total)):
        return spent or total.one("hours")
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
    counted = [f for f in given.figures if f.role in there and not given.all("card hours")]
    beside = [*given.all("cards"), *(given.all("machines") if given.all("card hours") else ())]
    total.used |= {*(f.value for f in counted), *beside}
    numbers = [f.value for f in counted] or [n for n in (given.slots.get("instances"),) if n and "instance_type" in given.slots]
    return "".join(f"{plain(n)} × " for n in numbers if n != 1) if each or len(numbers) < 2 else None


_EACH = r"\b(?:each|every|apiece)\b|\bper (?!(?:h|hr|hour|day|week|month|year|gpu|card|node|box|machine|instance|million|m)\b)[a-z]"


def _rated(number: str, roles: Sequence[str], total: Sum) -> str:
    """Formula: the price of `number` units that are done at a rate, the first of `roles` that is given; empty if a
    figure is missing."""
    price, rate, busy = total.price(), next(filter(None, map(total.one, roles)), None), total.one("busy")
    sized = total.alone and "pace" in roles and not total.given.all("price")  # for one machine that has a name, a sizing knows more
    return f"{plain(price[0])} / ({plain(rate)} × 3600{f' × {plain(busy)}' if busy else ''}) × {number}" if price and rate and not sized else ""


def _hours_left(total: Sum) -> str:
    price, money, counts = total.price(), total.one("money"), _counts(total)
    if not price or not money or counts is None:
        return ""
    return f"{plain(money)} / {f'({counts}{plain(price[0])})' if counts else plain(price[0])}"


def _lasts(given: Given, total: Sum) -> Iterator[str]:
    """How long a sum of money lasts: around the clock, and by the schedule if there is one."""
    if given.sides or not (left := _hours_left(total)):
        yield from _by_sides(_hours_left, "{} hours", "lasts", "cost")(given, total) if given.sides else ()
        return
    spans = {"hour": 1.0, "day": 24.0, "week": 168.0, "month": HOURS_A_MONTH, "year": 8760.0}
    named = re.search(rf"how (?:many|much) ({'|'.join(spans)})", total.asked)
    unit = named[1] if named else next((unit for unit in ("month", "week", "day") if evaluate(left) >= spans[unit]), "hour")
    if not given.all("price") and (unit == "hour" or not named or given.slots.keys() & {"model", "parameters"}):
        return  # for a machine that has a name, a sizing knows more
    span = spans[unit]
    month = (total.hours() if _is_scheduled(total) else None) or HOURS_A_MONTH
    week = round(month * 168 / HOURS_A_MONTH, 2)
    times = [(span, " around the clock")] if span > 1 else []
    if month < HOURS_A_MONTH and times:
        at = f"{week:g} hours a week" if week == round(week, 1) else f"{month:g} hours a month"
        times.append((total.know(round(month * span / HOURS_A_MONTH, 4)), total.working.say(f" at {at}")))
    results = [f"{total.compute(f'{left} / {plain(used)}', f'{{}} {unit}s')[1]}{how}" for used, how in times]
    yield f"{'; '.join([*results, total.compute(left, '{} hours')[1]])}: {left} {total.cite('cost')}."


_WHEN_OFF = re.compile(r"\b(?:shut\w*|switch(?:ed|ing)? (?:it |them )?off|turn(?:ed|ing)? (?:it |them )?off|sleeps?|stop(?:s|ped|ping)?|off (?:at|on|over|during|from|between)|goes? down)\b(?!.*\b(?:outside|(?:up|on|running|open|there) only|only (?:up|on|need\w*|runs?|running|keep|kept))\b)")


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
    unit, scale = ("MWh", 1e3) if re.search(r"\bmwh\b", total.asked) else ("kWh", 1.0)
    heavy = re.search(r"\b(?:tonn?es?|tons?|metric tons|t)\b(?! \w*hours?)", total.asked)
    text = total.step(energy, f"{{}} {unit}", scale=scale)[1]
    kwh = evaluate(energy)
    regions, pue, grid = [region for region in given.regions if region in total.facts.grids], total.one("PUE"), total.one("grid")
    emits = bool(re.search(_CARBON, total.asked) or "grid" in given.new)
    watts = [f for f in given.figures if f.role == "watts"]
    whole = re.search(r"\bnode|server|machine|host|\brest\b|\bload", " ".join(f.beside for f in watts)) or total.one("kwh") or (watts and not given.all("card hours") and {_drawn_by(f, given) for f in watts} != {"cards"})
    remark = f"{total.most}{'' if whole else ' That is of the accelerators alone, without the machines around them.'}"
    reckon = total.compute if emits else total.step
    with_pue = f", {reckon(f'{plain(kwh)} kWh × {plain(pue)}', f'{{}} {unit}', scale=scale)[1]} with your PUE of {plain(pue)}" if pue and not (emits and regions and not grid) else ""
    if emits and grid:
        kg = total.step(f"{plain(kwh)} kWh × {f'{plain(pue)} × ' if pue else ''}{plain(grid)} g", "{} t" if heavy else "{} kg", scale=1e6 if heavy else 1000.0)[1]
        yield f"{kg} of CO2e: {text}{with_pue}, at your {plain(grid)} g a kWh {total.cite('emissions')}.{remark}"
    elif emits and regions:
        *first, last = of_energy([Workload(kwh=float(f"{kwh:g}"), region=region) for region in regions[:4]], total.working, own=pue, differ=len(regions) == 2)
        yield from first
        yield f"{last}{remark}"
    else:
        result = f"{text}{with_pue}"
        if price := total.one("power price"):
            spent = f"{plain(kwh)} kWh × {f'{plain(pue)} × ' if pue else ''}{plain(price)}"
            result = f"{total.step(spent, '${}')[1]} for {result}, at your {usd(price)} a kWh"
        wanting = " Say where it runs, or the grams of CO2e of a kWh there, for the carbon." if emits else ""
        yield f"{result} {total.cite('emissions')}.{total.working.say(wanting)}"


def _energy(given: Given, total: Sum) -> str:
    """Formula: the kWh that are drawn; empty if it is unclear what draws what for how long."""
    if (kwh := total.one("kwh")) is not None:
        return f"{plain(kwh)} kWh" if total.one("grid") else ""
    watts, spent = [f for f in given.figures if f.role == "watts" and total.all("watts")], total.one("card hours")
    if not watts and spent and (most := _sheet_watts(given, total)):
        watts = [Figure("watts", most, "gpu")]
    hours = total.hours() or total.one("hours")
    hours = 8760.0 if hours == HOURS_A_MONTH and _A_YEAR.search(total.asked) else hours
    part = f" × {plain(share)}" if (share := total.one("part of power") or total.one("busy")) else ""
    if len(watts) == 1 and spent:
        for counted in ("cards", "machines"):
            total.all(counted)  # already counted in the card hours
        return f"{plain(spent)} × {plain(watts[0].value)} W{part} / 1000"
    parts = {_drawn_by(f, given): f.value for f in watts}
    if not hours or not parts or len(parts) < len(watts) or len(watts) > 2:
        return ""
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


def _sheet_watts(given: Given, total: Sum) -> float:
    """The maximum power of the named accelerator by its data sheet; 0 if there is none."""
    name = given.slots.get("accelerator")
    sheet = next((s for full, sheets in total.facts.accelerators.items() if short(full) == name for s in sheets if s.max_w), None)
    if not sheet or not sheet.max_w:
        return 0.0
    total.most = f" At the {total.working.say(f'{sheet.max_w:g} W')} that {article(short(sheet.name))} {short(sheet.name)} draws at most {total.working.cite(sheet.row)}."
    return total.know(sheet.max_w)


# --- checkpoints and replicas ---------------------------------------------------------------------------------------------

_STATES = re.compile(r"optimi[sz]er|\badam\w*|full state|moments|master|to resume|training state")


def _checkpoints(given: Given, total: Sum) -> Iterator[str]:
    """How large checkpoints are, what keeping them costs, how long writing one takes and which share of the time that is."""
    named = total.facts.models.get(str(given.slots.get("model", "")))
    parameters = total.one("parameters") or given.slots.get("parameters") or (named.parameters if named else None)
    states, size = bool(_STATES.search(total.asked)), total.one("size")
    each = total.one("bytes") or (14.0 if states else BITS[Format(given.slots.get("weights", Format.BF16))] / 8)
    if size:
        formula = f"{plain(size / 1e9)}e9 bytes"
        total.know(size)
    elif parameters:
        total.know(parameters, *([named.row] if named else []))
        formula = f"{plain(parameters / 1e9)}e9 parameters × {plain(total.know(each))} bytes"
    else:
        return
    cite = total.cite("optimizer states" if states else "checkpoint")
    one = total.compute(formula, "{} GB", scale=1e9)[1] if size else total.step(formula, "{} GB", scale=1e9)[1]
    results = [f"{one} for a checkpoint"]
    if kept := total.one("kept"):
        results.append(f"{total.step(f'{formula} × {plain(kept)}', '{} TB', scale=1e12)[1]} for the {plain(kept)} that are kept")
    if price := total.one("storage price"):
        stored = f"{formula} × {plain(kept)}" if kept else formula
        results.append(f"{total.step(f'{stored} / 1e9 × {plain(price)}', '${}')[1]} a month at your {usd(price)} a GB")
    if rate := total.one("write rate"):
        seconds, took = total.step(f"{formula} / {plain(rate / 1e9)}e9", "{} s")
        results.append(f"{took} to write it at your {total.working.say(f'{rate / 1e9:.4g} GB/s')}")
        if interval := total.one("interval"):
            total.know(interval * 3600)
            lost = total.step(f"{plain(seconds)} / {plain(interval * 3600)} × 100", "{} %")[1]
            results.append(f"{lost} of the time at one every {total.working.say(f'{plain(round(interval * 60, 2))} minutes')}, if training waits for it")
        if apart := total.one("between failures"):
            # Young 1974, "A first order approximation to the optimum checkpoint interval", https://doi.org/10.1145/361147.361115.
            total.know(apart * 3600)
            best = total.step(f"(2 × {plain(seconds)} × {plain(apart * 3600)}) ** 0.5 / 60", "{} minutes")[1]
            results.append(f"{best} between two lose least where it fails every {total.working.say(f'{plain(apart)} hours')}, if training waits")
    yield f"{'; '.join(results)} {cite}."
    if states and not size and each == 14:
        more = total.compute(f"{plain(parameters or 0)} × {plain(total.know(16.0))}", "{} GB", scale=1e9)[1]
        yield f"Taken as 2 bytes of weights and 12 of master weights and moments for each parameter; {more} if the gradients are saved too {cite}."


def _batch(given: Given, total: Sum) -> Iterator[str]:
    """How long a batch takes at a rate, how many machines finish it in time, and what that costs: the work is the same
    however many machines share it."""
    rate, pace, each = total.one("item rate"), total.one("pace"), total.one("output") or total.one("prompt")
    items = total.one("items") or (total.one("things") if (given.one("things") or 0) >= _MANY else None)
    if not items and (items := total.one("calls")):
        rate = total.one("requests")
    if not items and not re.search(_DAILY, given.text) and given.one("tokens") != 1e6 and "instance_type" not in given.slots:
        items, rate = total.one("tokens"), pace
    if not items or not (rate or (pace and each)):
        return
    work = f"{plain(items)} / ({plain(rate)} × 3600)" if rate else f"{plain(items)} × {plain(each or 0)} / ({plain(pace or 0)} × 3600)"
    work += f" / (1 - {plain(lost)})" if (lost := total.one("lost")) else ""
    if evaluate(work) < _LEAST_HOURS:
        return  # "two million statements of six pages": the six pages of one were read as the whole batch
    hours, took = total.step(work, "{} hours")
    results = [f"{took} on one"]
    if window := total.one("hours"):
        count = math.ceil(hours / window - 1e-9)
        results.insert(0, total.working.say(f"{count} machine{'s' * (count > 1)} to finish within {plain(window)} hours"))
    if (machines := total.one("machines")) and machines > 1:
        results.append(f"{total.step(f'{work} / {plain(machines)}', '{} hours')[1]} on {plain(machines)}")
    if price := total.price():
        discount, monthly = total.one("discount"), bool(re.search(_DAILY, given.text) and re.search(r"\bmonth", given.text))
        spent = f"{work} × {plain(price[0])}{' × 365 / 12' * monthly}"
        results.append(f"{total.step(spent, '${}')[1]}{' a month' * monthly} at {price[1]}, however many share it")
        if discount:
            results[-1] += f", {total.step(f'{spent} × (1 - {plain(discount)})', '${}')[1]} at your {plain(discount * 100)} % off"
    yield f"{'; '.join(results)} {total.cite('throughput')}."


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


_EVEN = r"break[ -]?even|(?:buy|buying|it|that)(?: to| has to)? pays?\b|pays? (?:off|for itself)|\bpays\b|\bwins?\b|\bworth|from how many hours|utili[sz]ation|cheaper|beats?\b|better off|worse|make sense|\bstay\b|amorti|\bequals?\b|lohnt"
_GAINS = r"\bsav(?:e|es|ed|ing)\b(?![ -]plan)|\blos(?:e|ing)\b|\bdeal\b"
_CARBON = r"co2|carbon|emission|emit|footprint|co₂"
_MILLION = r"(?:per|for|a|each|/) ?(?:1 ?)?(?:million|mtok|m\b|mio)|\bper-million|price of tokens|cost of tokens|tokens? cost"


_WATTED = r"(?<!/)(?<!per )\bk?wh\b|energy|electric|power bill"
_AMOUNT = (
    r"\bhow (?:much|many)\b|\bwhat(?:['’]s| is| was| are| do| does| did| would| will| should)?\b[^?]*\b(?:costs?|pay|bill|total|price|spend|(?:per|an?) (?:day|week|month|year)|sav(?:e|ed|ing|ings))\b"
    r"|\b(?:total|expected|monthly|yearly|annual|daily|weekly)\b[^.?]*\?|\bcosts? (?:per|of|for|an?|each|before)\b|\b(?:wie ?viel|kostet|combien|cu[aá]nto)\b"
)
_COSTS = r"cost|bill|\bpay|price|dollars|\$ ?(?:per|/)|cents|cheap"
_DAILY = r"(?:per|an?|each|every|/) ?(?:night|day)\b|\bnightly|\bdaily"
_ON_TIMES = r"\d(?::\d\d)? ?(?:am|pm|h)?(?: ?[-–] ?| to | until )\d|week ?days?|mon\w*(?: to |-)fri|week ?ends?|office hours|hours (?:a|per|each|every) (?:day|week)"
_SCHEDULE = rf"{_ON_TIMES}|nights?"


def _words(pattern: str, *, only: str = "") -> re.Pattern[str]:
    return re.compile(rf"^(?=.*(?:{pattern})){f'(?=.*(?:{only}))' if only else ''}", re.DOTALL)


_SAVED = r"\bsav(?:e|es|ed|ing|ings)\b(?![ -]plan)|how much less|drops? off|\bspar"
_ALL_DAY = r"\b24 ?[x/] ?7\b|around the clock|\balways (?:switched )?on\b|all the time|non-?stop|\bcontinuously\b|\bpermanent"
_LESS = rf"{_GAINS}|\bhow (?:much|far|many)\b.*\b(?:less|more|cheaper|dearer|below|above)\b|\bdiscount\b|\bpercent|%|\bdiffer"
_FROM_LIST = r"\bon[ -]demand\b|\blist(?: price)?\b|\b(?:what|which|how (?:much|large|big|high|good))\b[^.?]*\bdiscount\b"
_SPENT = _by_sides(_spent, "${}", "costs", "cost")
# In order of precedence: the first formula that is asked for and has its figures is computed.
_FORMULAS = (
    _Formula(_words(r"how (?:many|much|big|large)|\bwhat\b|\bneed|\benough|\bcan\b", only=r"\bquotas?\b|\bv?cpus?[ -]limits?\b"), ("instance_type", "vCPUs or machines or instances"), quota),
    _Formula(_words(rf"{_AMOUNT}|{_COSTS}|{_GAINS}", only=r"\b(?:mov|shift|switch|migrat|put|go)"), ("monthly price or money", "discount"), moved, "again or lost or share"),
    _Formula(_words(r"\benough|\bkeeps? up|suffic|\bhandle|\bcope|\bcan\b", only=r"\bembed|\bencod|\bbert|classif|rerank"), ("items or calls or things", "output or prompt", "parameters", "instance_type"), daily),
    _Formula(_words(r"spot|interrupt|reclaim|preempt|\bfail|crash"), ("lost time", "discount or between failures"), spot, "discount or price or between failures or interval or hours or card hours or machines or cards or money or instance_type"),
    _Formula(_words(rf"{_EVEN}|{_COMPARES}|{_GAINS}", only=r"\bblocks?\b"), ("money or price", "hours"), block, "busy or machines or instance_type"),
    _Formula(_words(r"pay[- ]?back|\bpays?\b|\bpaid (?:off|back)|break[ -]?even|amorti|recoup|\bearn|how (?:many|long)|worth"), ("money", "monthly price"), payback, "discount or share"),
    _Formula(_words(r"\bscal|efficien|speed-?up|linear"), ("hours or item rate or pace or requests",), scaling, "cards or machines or efficiency or price or "),
    _Formula(_words(rf"{_AMOUNT}|{_COSTS}|\b(?:if|with|what about|suppose)\b|\b(?:per|an?) (?:day|week|month|year)\b"), ("parts",), _of_parts),
    _Formula(_words(_MILLION + "|" + _EVEN), ("pace", "price or instance_type", "price or API price"), _of_tokens, "busy"),
    _Formula(_words(_EVEN, only=r"\bbuy|\bflat\b|" + _COMMITS), ("price", "money or monthly price"), _fixed),
    _Formula(_words(_EVEN + r"|crossover|at (?:what|which)|must we"), ("API price", "price or instance_type"), _fixed),
    _Formula(_words(_EVEN, only=_COMMITS), ("discount or price or money or monthly price or hours",), _break_even, "share of day or busy or term or machines"),
    _Formula(_words(rf"{_COMPARES}|{_GAINS}|{_AMOUNT}|{_COSTS}", only=COMMITMENT), ("discount or price", "busy or hours or share of day", "price or instance_type"), _break_even, "term or machines"),
    _Formula(_words(r"checkpoint|\bckpts?\b"), ("parameters or size or model", "kept or storage price or write rate"), _checkpoints, "interval or between failures or bytes or weights"),
    _Formula(_words(r"how (?:long|many|much)|wie (?:lange|viele)|" + _COSTS), ("items or calls or things or tokens", "item rate or pace or requests"), _batch, "hours or machines or output or prompt or price or discount"),
    _Formula(_words(_WATTED + "|" + _CARBON), ("watts or kwh or card hours", "hours or card hours or kwh"), _of_power, "PUE or grid or region or power price or cards or machines"),
    _Formula(_words(r"how many|number of|wie viele|\b(?:fleet|machines|boxes|replicas|needs?)\b"), ("requests or pace",), _replicas, "output or headroom or times"),
    _Formula(re.compile(rf"^(?!.*(?:{_CARBON}|kwh))(?:(?=.*(?:{_SAVED})).*(?:{_SCHEDULE})|(?=.*(?:{_ALL_DAY})).*(?:{_ON_TIMES}))", re.DOTALL), ("hours", "price or instance_type"), _off_hours, "machines or instances"),
    *(
        _Formula(_words(asks, only=_COSTS), ("price or instance_type", " or ".join(roles)), _by_sides(partial(_rated, number, roles), "${}", "costs", "price of tokens", f" for a {words}"), "busy")
        for asks, roles, number, words in (
            (r"tok", ("pace",), "1e6", "million tokens"),
            (r"thousand|\b1[,.]?000\b", ("item rate", "requests"), "1e3", "thousand"),
            (rf"(?:per|each|an?|one) (?:\w+ )?(?:{ITEM}|request|call|query)\b|million", ("item rate", "requests"), "1e6", "million"),
        )
    ),
    _Formula(_words(r"how (?:long|(?:many|much) (?:hour|day|week|month|year)s?)\b|\blasts?\b|\bruns? (?:out|dry)|\bout of (?:money|credits?|budget)|\brunway"), ("price or instance_type", "money"), _lasts, "hours or share of day or machines or cards"),
    _Formula(_words(_LESS, only=_FROM_LIST), ("price", "instance_type"), _below_list, "hours or machines or instances"),
    _Formula(_words(f"{_AMOUNT}|{_COMPARES}"), ("price",), _SPENT, "hours or machines or cards or items or things or discount or card hours or share of day"),
    _Formula(_words(_WATTED, only=_COMPARES), ("watts", "hours", "cards or machines"), _by_sides(lambda total: _energy(total.given, total), "{} kWh", "takes", "emissions")),
)
