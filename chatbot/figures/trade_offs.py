"""Weigh two ways of paying for the same work by the asker's own figures: Spot with interruptions, a Capacity Block, a
migration, more machines, an API; and count what a quota starts."""

import re
from collections.abc import Iterator, Sequence

from chatbot.computed import Computed
from chatbot.figures.hardware_answer.spans import hours_asked
from chatbot.figures.sums import Sum, compared, plain
from chatbot.figures.units_answer import ASKS_ELSE, in_euros, last_of_each, spelled
from chatbot.sizing.arithmetic import evaluate
from chatbot.sizing.dimensions import Quantity, dimensions, read_all, solve
from chatbot.sizing.facts import short
from chatbot.sizing.given import Given
from chatbot.sizing.impact import MFU
from chatbot.working import Working, percent

_SPANS = {168.0: "a week", 730.0: "a month", 8760.0: "a year"}
def span_asked(asked: str) -> tuple[float, str]:
    """The hours and the name of the span of time that is asked for last; a month if none is."""
    hours = next((hours for hours in reversed(hours_asked(asked)) if hours in _SPANS), 730.0)
    return hours, _SPANS[hours]


def _prices(total: Sum) -> tuple[float, float] | None:
    """The price of the cheaper option and the one on demand, of which the first may be the table's; None if they are not two."""
    prices = sorted(total.all("price"))
    if len(prices) == 1 and (sheet := total.facts.price(str(total.given.slots.get("instance_type", "")))):
        prices.append(total.know(sheet.usd_per_hour, sheet.row))
    return (prices[0], prices[1]) if len(prices) == 2 and prices[0] < prices[1] else None


def count_paid(total: Sum) -> str:
    """How many machines or cards are paid for, as the beginning of a formula."""
    counts = [f.value for f in total.given.figures if f.role in ("machines", "cards") or (f.role == "slot" and f.value == total.given.slots.get("instances"))]
    total.used.update(counts)
    count = counts[0] if len(counts) == 1 else total.given.slots.get("instances") or 1
    return f"{plain(total.know(float(count)))} × " if count > 1 else ""


_RESTARTS = re.compile(r"restart|resum|reload|going|boot|warm|recover|back up|start")


def spot(given: Given, total: Sum) -> Iterator[str]:
    """What Spot costs when each interruption loses time, against on demand."""
    interval, saves = total.one("between failures"), total.one("interval")
    lost = [f for f in given.figures if f.role == "lost time"]
    total.all("lost time")
    parts = [f"{plain(f.value / f.unit)}{f' / {plain(1 / f.unit)}' if f.unit < 1 else ''}" for f in lost]
    if saves and all(_RESTARTS.search(f.beside) and not re.search(r"\blos[et]", f.beside) for f in lost):
        parts.insert(0, f"{plain(total.know(saves))} / 2")  # on average, half of what was done since the last checkpoint
    for f in lost:
        total.know(f.value / f.unit)
        total.know(1 / f.unit)
    lost_hours = f"({' + '.join(parts)})" if len(parts) > 1 or " " in parts[0] else parts[0]
    discount, cite = total.one("discount"), total.cite("Spot")
    prices, base = None if discount else _prices(total), total.price() if discount else None
    if not (discount or prices) or len(total.given.all("hours")) > 1:
        return
    cheap = f"1 - {plain(discount)}" if discount else f"{plain(prices[0])} / {plain(prices[1])}" if prices else ""
    at = f"{lost_hours} × ({cheap}) / (1 - ({cheap}))"
    bound = total.compute(at, "{} hours")[1] if evaluate(at) >= 1 else total.compute(f"{at} × 60", "{} minutes")[1]
    if interval:
        longer = f"(1 + {lost_hours} / {plain(total.know(interval))})"
        hours, each = total.one("hours") or total.one("card hours"), count_paid(total)
        work = f" × {plain(hours)}" if hours else ""
        if base or prices:
            paid, listed = (plain(prices[0]), prices[1]) if prices else (f"{plain(base[0])} × ({cheap})", base[0]) if base else ("", 0.0)
            sides = [("Spot", f"{each}{paid}{work} × {longer}"), ("on demand", f"{each}{plain(listed)}{work}")]
            yield f"{compared(total, sides, '${}', 'costs', '' if hours else ' for each useful hour', percent=True)} {total.cite('Spot')}."
        else:
            share, text = total.compute(f"(1 - ({cheap}) × {longer}) × 100", "{} %")
            yield f"{f'Spot still saves {text}' if share > 0 else 'Spot costs more'}: (1 - ({cheap}) × {longer}) × 100 = {text} {cite}."
    yield f"Spot stops being cheaper when it is interrupted every {bound} or more often {cite}."


def spot_with_loss(given: Given, total: Sum) -> Iterator[str]:
    """What Spot costs where interruptions cost a share of the work, against on demand."""
    discount, lost, base = total.one("discount"), total.one("lost"), total.price()
    if not discount or not lost:
        return
    paid = f"(1 - {plain(discount)}) / (1 - {plain(lost)})"
    if not base:
        share, text = total.compute(f"(1 - {paid}) × 100", "{} %")
        yield f"{f'Spot still saves {text}' if share > 0 else 'Spot costs more'}: (1 - {paid}) × 100 = {text} {total.cite('Spot')}."
        return
    total.used.update(f.value for f in given.figures if f.role == "" and abs(f.value / base[0] - 1) < 0.01)  # the price of the table, without a sign
    hours, each = total.one("hours") or total.one("card hours"), count_paid(total)
    whole = f"{each}{plain(base[0])}{f' × {plain(hours)}' if hours else ''}"
    yield f"{compared(total, [('Spot', f'{whole} × {paid}'), ('on demand', whole)], '${}', 'costs', '' if hours else ' for each useful hour', percent=True)} {total.cite('Spot')}."


def block(given: Given, total: Sum) -> Iterator[str]:
    """What a Capacity Block, paid for all of its hours, costs against the hours that are used on demand."""
    hours, busy, prices, each = sorted(total.all("hours")), total.one("busy"), _prices(total), count_paid(total)
    if not prices or len(hours) != (1 if busy else 2):
        return
    used = f"{plain(hours[-1])} × {plain(busy)}" if busy else plain(hours[0])
    whole, hourly = f"{each}{plain(prices[0])} × {plain(hours[-1])}", f"{each}{plain(prices[1])}"
    even = total.compute(f"{whole} / ({hourly})", "{} hours")[1]
    yield f"{compared(total, [('the block', f'{whole} hours'), ('on demand', f'{hourly} × {used} hours')], '${}', 'costs', percent=True)} {total.cite('break-even')}."
    yield f"The block pays from {even} of use on {total.cite('break-even')}."


def payback(given: Given, total: Sum) -> Iterator[str]:
    """After how many months a sum that is paid once comes back through a lower monthly bill."""
    once, bills = total.one("money"), [f for f in given.figures if f.role == "monthly price"]
    share = total.one("discount") or total.one("share")
    total.all("monthly price")
    if not once or re.search(r"(?<!in )(?<!within )\b\d+ (?:week|month|year)s", given.text):
        return
    if len(bills) == 1 and share:
        saved = f"({plain(bills[0].value)} × {plain(share)})"
    elif len(bills) == 1 and re.search(r"\bsav(?:e|es|ed|ing|ings)\b|\bless\b", bills[0].beside):
        saved = plain(bills[0].value)
    elif len(bills) == 2 and not share and bills[0].value > bills[1].value:
        saved = f"({plain(bills[0].value)} - {plain(bills[1].value)})"
    else:
        return
    monthly, pays = total.compute(saved, "${}")[1], f"{plain(once)} / {saved}"
    yield f"After {total.compute(pays, '{} months')[1]}: {pays}, as it saves {monthly} a month {total.cite('break-even')}."


_MOVES = r"mov(?:es?|ed|ing)|shift\w*|switch\w*|migrat\w*|goes|go|put|runs?"
_MOVED = re.compile(
    rf"(?P<share>[\d.]+)%(?: of (?:it|that|them|this|(?:the|our) \w+))?(?: could| can| would| that)? (?:(?:{_MOVES})\b|(?:on|onto|to|into) (?:spot|(?:an? |the )?(?:[\w-]+ )?plan)\b)"
    rf"|\b(?:{_MOVES}) (?:about |around |only )?(?:(?P<share_>[\d.]+)%|half)"
)


def moved(given: Given, total: Sum) -> Iterator[str]:
    """What a monthly bill becomes if a share of it moves to a cheaper way of paying, where some work is done again."""
    *_, match = [None, *_MOVED.finditer(total.asked)]
    bill = total.one("monthly price") or total.one("money")
    share = float(match["share"] or match["share_"] or 50) / 100 if match else 0.0
    discounts = [discount for discount in total.all("discount") if discount != share]
    if not bill or not 0 < share < 1 or len(discounts) != 1:
        return
    total.used.add(total.know(share))
    span = "a year" if span_asked(total.asked)[1] == "a year" else "a month"
    before = f"{plain(bill)} × 12" if span == "a year" else plain(bill)
    paid = f"{before} × {plain(share)} × (1 - {plain(discounts[0])})"
    paid += f" × (1 + {plain(again)})" if (again := total.one("again")) else ""
    paid += f" / (1 - {plain(lost)})" if (lost := total.one("lost")) else ""
    sides = [("the new bill", f"{before} × (1 - {plain(share)}) + {paid}"), ("that of today", before)]
    yield f"{compared(total, sides, '${}', 'is', f' {span}', percent=True)} {total.cite('cost')}."


def daily(given: Given, total: Sum) -> Iterator[str]:
    """How busy the texts of a day keep an accelerator that encodes them: two operations for each parameter and token."""
    instance = total.facts.instances.get(str(given.slots.get("instance_type", "")))
    sheet = total.facts.accelerator(instance) if instance else None
    texts, each = total.one("items") or total.one("calls") or total.one("things"), total.one("output") or total.one("prompt")
    parameters, peak = given.slots.get("parameters"), sheet.tflops.get("bf16") or sheet.tflops.get("fp16") if sheet else None
    if not instance or not sheet or not texts or not each or not parameters or not peak or 24.0 not in hours_asked(given.text):
        return
    number, share = int(given.slots.get("instances") or 1), total.know(MFU[0])
    cards = total.know(instance.accelerators * number, instance.row)
    total.know(peak, sheet.row)
    busy, text = total.step(f"{plain(texts)} × {plain(each)} tokens × 2 × {plain(parameters)} / ({plain(cards)} × {share} × {plain(peak)}e12 × 86400) × 100", "{} %")
    name = total.working.say(f"{number} × {instance.name}" if number > 1 else instance.name)
    verdict = f"Yes: {name} would be busy for" if busy <= 100 else f"No: {name} would need"
    yield f"{verdict} {text} of the time, at {total.working.say(percent(share))} of the peak of its {total.working.say(short(sheet.name))} {total.cite('throughput')}."


_PER_S = ("item rate", "pace", "requests")


def scaling(given: Given, total: Sum) -> Iterator[str]:
    """How well machines share work: the efficiency of more of them, or the time that more of them take at one."""
    counts = [f for f in given.figures if f.role in ("cards", "machines", "") and f.value == int(f.value)]
    rates, times, efficiency = [f.value for f in given.figures if f.role in _PER_S], [f.value for f in given.figures if f.role == "hours"], total.one("efficiency")
    numbers = [f.value for f in counts]
    if len(numbers) == 1 and re.search(r"\b(?:one|a single|single|1) (?:gpu|card|node|machine|box|server|instance|replica|accelerator|chip)\b", given.text):
        numbers.insert(0, 1.0)
    if len(numbers) != 2 or numbers[0] == numbers[1] or len({f.role for f in counts if f.role}) > 1:
        return
    total.used.update([*numbers, *rates, *times])
    few, many = map(total.know, numbers)
    cite = total.cite("throughput")
    if not efficiency and sorted((len(rates), len(times))) == [0, 2]:
        faster = f"{plain(rates[1])} / {plain(rates[0])}" if rates else f"{plain(times[0])} / {plain(times[1])}"
        formula = f"{faster} / ({plain(many)} / {plain(few)})"
        yield f"{total.compute(f'{formula} × 100', '{} %')[1]} scaling efficiency: {plain(many)} are {total.compute(faster, '{} times')[1]} as fast as {plain(few)}, {formula} {cite}."
    elif efficiency and len(times) == 1 and not rates:
        took = f"{plain(times[0])} × {plain(few)} / ({plain(many)} × {plain(efficiency)})"
        hours, text = total.compute(took, "{} hours")
        times.append(hours)
        yield f"{text} on {plain(many)}: {took} {cite}."
    if len(times) == 2:
        unit, price = "GPU hours" if any(f.role == "cards" for f in counts) else "machine hours", total.price()
        rate = f" × {plain(price[0])}" if price else ""
        sides = [(f"the {plain(number)}", f"{plain(number)} × {plain(hours)}{rate}") for number, hours in zip((few, many), times, strict=True)]
        yield f"{compared(total, sides, '${}' if price else f'{{}} {unit}', 'cost' if price else 'take', percent=True)} {total.cite('cost')}."


def quota(given: Given, total: Sum) -> Iterator[str]:
    """How many machines a quota of vCPUs starts, and the quota that a number of them needs."""
    instance = total.facts.instances.get(str(given.slots.get("instance_type", "")))
    limit, counts = total.one("vCPUs"), [f.value for f in given.figures if f.role in ("", "machines", "slot") and f.value == int(f.value)]
    if not instance or len(counts) > 1 or (limit is None and not counts):
        return
    each, name = total.know(float(instance.vcpus), instance.row), total.working.say(instance.name)
    if limit is not None:
        started = int(limit / each)
        total.working.say(str(started))
        holds = f"starts {started} × {name}" if started else f"starts no {name}"
        yield f"A quota of {limit:,g} vCPUs {holds}, which has {each:g} vCPUs {total.cite('quota')}."
    for count in counts:
        formula = f"{count:g} × {each:g}"
        needed = f"{count * each:,g}"
        total.working.note(Computed(needed, formula, 1.0, (count, each)))
        total.working.say(formula)
        total.used.add(count)
        yield f"{count:g} × {name} need{'s' * (count == 1)} a quota of {needed} vCPUs: {formula} {total.cite('quota needed')}."


# --- an API against machines ----------------------------------------------------------------------------------------------

def api_or_machines(givens: Sequence[Given], working: Working) -> Iterator[str]:
    """Whether an API that is paid per token costs less than machines that run all the time, and from how much traffic on."""
    told = " ".join(given.text for given in givens)
    if not ASKS_ELSE.search(told) and not re.search(r"break[ -]?even|\bwins?\b|\bworth|\bpays?\b|compar", told):
        return
    turns = read_all(spelled(given.text, told) for given in givens)
    found = last_of_each([q for turn in turns for q in turn.quantities if not q.idle and (q.units, q.numbers) != ({"h": 1}, (730.0,))], turns)
    usage = [q for q in found if any(name.startswith("#") for name in q.units)]
    prices = [q for q in found if q not in usage and {name for name in q.units if name not in _WORKERS} == {"usd", "h"} and q.units["h"] == -1]
    counts = [q for q in found if q.units in ({"machine": 1}, {"gpu": 1})]
    rated = [q for q in usage if q.units.get("h") == -1]
    if any(turn.left or turn.shares for turn in turns) or len(usage) + len(prices) + len(counts) < len(found) or len(prices) > 1 or len(counts) > 1 or not rated:
        return
    must = frozenset(q.at for q in usage)
    api = solve(usage, dimensions(usd=1, h=-1), must, adds=True)
    total = Sum(givens[-1], told, working)
    listed = None if prices else total.facts.price(str(givens[-1].slots.get("instance_type", "")))
    if not api or not must <= api.used or not (prices or listed) or any("usd" in q.units or "3600" in q.text for q in rated) or not any(q.units.get("usd") and _TOKENS & q.units.keys() for q in usage) or {name for q in usage for name in q.units} - {"usd", "h", "#request", *_TOKENS}:
        return
    for q in found:
        for number in q.numbers:
            total.know(number)
    hourly = prices[0].text if prices else plain(total.know(listed.usd_per_hour, listed.row)) if listed else ""
    count = counts[0].numbers[0] if counts else float(givens[-1].slots.get("instances") or 1)
    hours, span = span_asked(told)
    written = "€{}" if in_euros([told]) else "${}"
    formula = api.formula if api.formula.startswith("(") or " + " not in api.formula else f"({api.formula})"
    sides = [("the API", f"{formula} × {hours:g}"), ("self-hosting", f"{f'{plain(total.know(count))} × ' if count > 1 else ''}{hourly} × {hours:g}")]
    ratio, times = total.compute(f"({sides[1][1]}) / ({sides[0][1]})", "{} times")
    daily = [f"{plain(ratio)} × {q.text} × 24" for q in rated]
    at = [f"{total.compute(f'{formula} / 1e6', '{} million')[1] if evaluate(formula) >= 1e6 else total.compute(formula)[1]} {_counted(q)}" for formula, q in zip(daily, rated, strict=True)]
    yield f"{compared(total, sides, written, 'costs', f' {span}', percent=True)} {total.cite('price of tokens')}."
    yield f"Break-even at {times} that traffic, {' and '.join(at)} a day, if the machines can do as much {total.cite('price of tokens')}."


_WORKERS = ("gpu", "machine", "worker")
_TOKENS = {"#token", "#input", "#output"}


def _counted(q: Quantity) -> str:
    name = next(name for name in q.units if name.startswith("#"))
    return {"#input": "input tokens", "#output": "output tokens"}.get(name, f"{name[1:]}s")
