"""What the figures of a question come to by themselves, without a machine or a model of the tables: a break-even, a transfer, a run on Spot."""

import math
import re
from collections.abc import Callable
from typing import NamedTuple

_NUMBER = r"(?P<{0}>\d[\d,]*(?:\.\d+)?)"
_DATA = re.compile(_NUMBER.format("number") + r"\s?(?P<unit>[tg])i?b(?:ytes?)?\b(?!\s?(?:/|ps|per)\s?s?|(?: of)? (?:v?ram|gpu|memory|card))")
_RATE = re.compile(_NUMBER.format("number") + r"\s?(?P<unit>[gmt])i?(?P<bits>b(?:it)?ps|bit/s|b/s|b per second)(?!\w)")
_LASTS = re.compile(r"\bhow (?:long|many (?:minutes|seconds|hours))|\bhow much time\b|\bminutes\b|\btime (?:does|will|to)\b")
_HOURLY = re.compile(r"\$\s?" + _NUMBER.format("number") + r"\s?(?:/|per|an|a)\s?(?:hr|hour|h)\b")
_PERIOD = re.compile(_NUMBER.format("number") + r"\s(?P<unit>hours?|days?|weeks?|months?)\b")
_COMMITS = re.compile(r"\b(?:savings? plan|plan|reserv\w+|commit\w*|contract)\b")
_WINS = re.compile(r"\b(?:break[ -]?even|wins?|pays? off|worth|how many hours|from (?:when|which)|utili[sz]ation|cheaper)\b")
_DISCOUNT = re.compile(_NUMBER.format("number") + r"\s?% (?:off|discount|cheaper|less)|discount of " + _NUMBER.format("of") + r"\s?%")
_DRAWS = re.compile(r"(?:(?P<count>\d+) ?(?:x|×) [^.;]*?)?" + _NUMBER.format("number") + r"\s?(?P<unit>k?)w\b(?P<each> each| per gpu| apiece)?")
_GRAMS = re.compile(_NUMBER.format("number") + r"\s?g(?:rams?)?\b(?: of)?(?: co2\w*)?(?P<per> ?(?:/|per) ?kwh)?")
_PUE = re.compile(r"\bpue (?:of |is |= ?|: ?)?(?P<number>1\.\d+)")
_MINUTES = {"s": 1 / 60, "m": 1.0, "h": 60.0, "d": 1440.0}
_SPAN = r"(?P<{0}>\d+(?:\.\d+)?)[ -]?(?P<{0}_unit>s(?:ec)?|m(?:in)?|h(?:our|r)?|d(?:ay)?)\w*"
_KILLED = re.compile(r"(?:kill\w*|interrupt\w*|reclaim\w*|dies|lost|fail\w*)\b[^.;]{0,25}?\bevery (?:~|about |roughly |around )?" + _SPAN.format("between"))
_WRITES = re.compile(r"checkpoint\w*\b[^.;,]{0,20}?\b(?:takes?|costs?|needs?|is|of) (?:~|about |roughly )?" + _SPAN.format("write"))
_RESTARTS = re.compile(r"(?:restart\w*|resum\w+|recover\w*|reload\w*)\b[^.;,]{0,20}?\b(?:takes?|costs?|needs?|is|of) (?:~|about |roughly )?" + _SPAN.format("restart"))
_INTERVAL = re.compile(r"checkpoint\w*\b[^.;,]{0,20}?\bevery (?:~|about )?" + _SPAN.format("interval"))
_LENGTH = re.compile(r"(?:job|run|training|work)\b[^.;,]{0,20}?\b(?:is|takes?|of|needs?) (?:~|about )?" + _SPAN.format("length"))


class Line(NamedTuple):
    """A sentence, its figures with the arithmetic of each, and the words of a document that belong to it."""

    text: str
    figures: tuple[tuple[str, str], ...]
    about: str = ""


def lines_of(question: str) -> tuple[Line, ...]:
    """What a question in lower case gives all figures for; nothing where one is missing."""
    return next((lines for reckon in _KINDS if (lines := reckon(question))), ())


def _number(written: str) -> float:
    return float(written.replace(",", ""))


def _rounded(value: float) -> str:
    near = float(f"{value:.3g}")
    return f"{near:,.0f}" if near >= 100 else f"{near:g}"


def _break_even(question: str) -> tuple[Line, ...]:
    """From which share of the hours a commitment costs less than paying by the hour: its price over the other."""
    prices = [_number(m["number"]) for m in _HOURLY.finditer(question)]
    if len(prices) != 2 or not (_COMMITS.search(question) and _WINS.search(question)):
        return ()
    less, more = sorted(prices)
    share, hours = f"{_rounded(less / more * 100)} %", f"{_rounded(less / more * 24)} hours a day"
    text = f"From {hours} on the commitment is cheaper: it is paid for all hours, so it wins above {share} of them, ${less:g} / ${more:g}."
    return (Line(text, ((share, f"{less:g} / {more:g} × 100"), (hours, f"{less:g} / {more:g} × 24"))),)


def _transfer(question: str) -> tuple[Line, ...]:
    """How long data takes at a rate."""
    data, rate = [*_DATA.finditer(question)], _RATE.search(question)
    if not data or not rate or not _LASTS.search(question):
        return ()
    sizes = [_number(m["number"]) * {"t": 1000, "g": 1}[m["unit"]] for m in data]
    gigabytes = _number(rate["number"]) * {"t": 1000.0, "g": 1.0, "m": 0.001}[rate["unit"]]
    in_bits = "bit" in rate["bits"] or rate["bits"].startswith("bp")
    summed = " + ".join(f"{size:g}" for size in sizes)
    formula = f"({summed}) × 8 / {gigabytes:g}" if in_bits else f"({summed}) / {gigabytes:g}"
    seconds = sum(sizes) * (8 if in_bits else 1) / gigabytes
    took = f"{_rounded(seconds)} seconds"
    figures = [(took, formula)]
    text = f"{took} at the full rate: {summed} GB{' × 8 bits' if in_bits else ''} at {gigabytes:g} {'Gbps' if in_bits else 'GB/s'}."
    if not in_bits or gigabytes <= 5:
        return (Line(text, tuple(figures)),)
    slow = f"{_rounded(sum(sizes) * 8 / 5)} seconds"
    one = Line(f"One connection reaches 5 Gbps, so it takes {slow} over one and needs many at once", ((slow, f"({summed}) × 8 / 5"),), "one flow")
    return (Line(text, tuple(figures)), one, Line("Then the disk is the brake: local NVMe takes the limit of EBS away", (), "local NVMe"))


def _moved(question: str) -> tuple[Line, ...]:
    """What data may cost to move so that a lower price elsewhere still pays."""
    data, saved, period = _DATA.search(question), _HOURLY.search(question), _PERIOD.search(question)
    if not (data and saved and period and re.search(r"\b(?:mov\w+|transfer\w*|copy\w*|egress)\b", question) and re.search(r"\bsav\w+", question)):
        return ()
    gigabytes = _number(data["number"]) * {"t": 1000, "g": 1}[data["unit"]]
    each, hours = _number(saved["number"]), {"h": 1, "d": 24, "w": 168, "m": 730}[period["unit"][0]] * _number(period["number"])
    total, per = f"${each * hours:,.0f}", f"${_rounded(each * hours / gigabytes)}"
    text = f"It pays as long as the transfer costs less than {per} per GB, whose price is not in the data: {total} is saved, ${each:g} × {hours:g} hours, on {gigabytes:,.0f} GB."
    return (Line(text, ((total, f"{each:g} × {hours:g}"), (per, f"{each:g} × {hours:g} / {gigabytes:g}"))),)


def _emitted(question: str) -> tuple[Line, ...]:
    """The carbon of a power that is given over a time, on each grid that is given."""
    power, period, pue = _DRAWS.search(question), _PERIOD.search(question), _PUE.search(question)
    grids = [_number(m["number"]) for m in _GRAMS.finditer(question)] if any(m["per"] for m in _GRAMS.finditer(question)) else []
    if not (power and period and grids):
        return ()
    kilowatts = _number(power["number"]) * (1 if power["unit"] else 0.001)
    machines = int(power["count"]) if power["count"] and power["each"] else 1
    hours = {"h": 1, "d": 24, "w": 168, "m": 730}[period["unit"][0]] * _number(period["number"])
    factor = float(pue["number"]) if pue else 1.0
    drawn = f"{f'{machines} × ' if machines > 1 else ''}{kilowatts:g} kW × {hours:g} hours{f' × PUE {factor:g}' if pue else ''}"
    formula = f"{machines} × {kilowatts:g} × {hours:g} × {factor:g}"
    kwh = machines * kilowatts * hours * factor
    emitted = [(f"{_rounded(kwh * grams / 1000)} kg", f"{formula} × {grams:g} / 1000") for grams in grids]
    told = ", ".join(f"{text} {'of CO2e ' if n == 0 else ''}at {grams:g} g per kWh" for n, ((text, _), grams) in enumerate(zip(emitted, grids, strict=True)))
    energy = f"{_rounded(kwh)} kWh"
    return (Line(f"{told}: {energy}, {drawn}.", (*emitted, (energy, formula))),)


def _on_spot(question: str) -> tuple[Line, ...]:
    """How long a run takes with its checkpoints and interruptions, and what that leaves of a discount; or how often to write.

    Each interruption costs half an interval and the restart; the interval that loses least is the root of 2 x write x time between interruptions (Young 1974).
    """
    killed, writes, restarts, interval, length = (pattern.search(question) for pattern in (_KILLED, _WRITES, _RESTARTS, _INTERVAL, _LENGTH))
    if not killed or not writes:
        return ()
    between, write = _minutes(killed, "between"), _minutes(writes, "write")
    if not (interval and length):
        best = f"{_rounded(math.sqrt(2 * write * between))} minutes"
        return (Line(f"About every {best}: the root of 2 × {write:g} × {between:g} minutes (Young).", ()),)
    every, whole, restart = _minutes(interval, "interval"), _minutes(length, "length") / 60, _minutes(restarts, "restart") if restarts else 0.0
    lost = every / 2 + restart
    if lost >= between:
        return ()
    wall = f"({whole:g} + {whole:g} × {write:g} / {every:g}) / (1 - ({every:g} / 2 + {restart:g}) / {between:g})"
    hours = (whole + whole * write / every) / (1 - lost / between)
    took, extra, writing = f"{_rounded(hours)} hours", f"{_rounded(hours - whole)} hours", f"{_rounded(whole * write / every)} hours"
    figures = [(took, wall), (extra, f"{wall} - {whole:g}"), (writing, f"{whole:g} × {write:g} / {every:g}")]
    text = f"You lose about {extra}, {took} in all for {whole:g} hours of work: {writing} write checkpoints, and each interruption costs half an interval and the restart, {every:g} / 2 + {restart:g} minutes."
    verdict = ""
    if off := _DISCOUNT.search(question):
        percent = _number(off["number"] or off["of"])
        paid = f"{_rounded(hours * (1 - percent / 100))} hours"
        figures.append((paid, f"{wall} × (1 - {percent:g} / 100)"))
        worth = "still worth it" if hours * (1 - percent / 100) < whole else "not worth it"
        verdict = f"Spot is {worth}: at {percent:g} % off it costs as much as {paid} on demand, against {whole:g}."
    return (Line(text, tuple(figures)), *((Line(verdict, tuple(figures)),) if verdict else ()))


def _minutes(match: re.Match[str], name: str) -> float:
    return float(match[name]) * _MINUTES[match[f"{name}_unit"][0]]


def _whole_months(question: str) -> tuple[Line, ...]:
    """More hours on a bill than a month has are several instances."""
    hours = re.search(r"(?P<number>\d[\d,]{2,}) hours\b", question)
    if not hours or "month" not in question or not re.search(r"\b(?:mean|why|how come|only has|line|bill\w*)\b", question):
        return ()
    billed = _number(hours["number"])
    days = next((days for days in (31, 30) if billed / (24 * days) >= 1.5 and abs(billed / (24 * days) - round(billed / (24 * days))) < 0.03), None)
    if not days:
        return ()
    count = f"{_rounded(billed / (24 * days))} instances"
    text = f"{count} that ran all month: {billed:,.0f} hours / ({days} days × 24 hours)."
    return (Line(text, ((count, f"{billed:g} / ({days} × 24)"),)), Line("An endpoint is paid for every hour in which its instances run, also without requests", (), "endpoint hours"))


_KINDS: tuple[Callable[[str], tuple[Line, ...]], ...] = (_break_even, _transfer, _moved, _emitted, _on_spot, _whole_months)
