"""Answer questions whose figures have units: compute the product or quotient of them that has the unit asked for."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chatbot.computed import Computed
from chatbot.sizing.arithmetic import evaluate
from chatbot.sizing.dimensions import (
    GIB,
    Dimensions,
    Quantity,
    Share,
    Solution,
    Turn,
    dimensions,
    named,
    read,
    read_all,
    solve,
)
from chatbot.sizing.facts import short
from chatbot.sizing.given import Given
from chatbot.sizing.reading.numerals import number_of
from chatbot.working import Working, rounded

_CONSTANTS = (1.0, 1.073741824, 7.0, 8.0, 24.0, 60.0, 100.0, 168.0, 730.0, 1000.0, 1024.0, 2190.0, 3600.0, 8000.0, 8760.0, 1e6, 1e9)
# Dimensions that a question may give once for each of several places, links or offers: g/kWh, GB/h and USD/kWh.
_PLACES = (frozenset({("g", 1), ("kWh", -1)}), frozenset({("GB", 1), ("h", -1)}), frozenset({("usd", 1), ("kWh", -1)}))
_WORKERS = frozenset({"gpu", "machine", "worker"})
# A turn of at most this many words without a question asks the earlier question again, with other figures.
_SHORT = 18


@dataclass(frozen=True, slots=True)
class _Target:
    """What is asked for. `written` is its format ("${}"), or "" for a time in the unit that suits it; `times` is what
    the formula is multiplied by for that, and `term` names the document that explains it."""

    dimensions: Dimensions
    written: str
    times: str
    term: str

    @property
    def units(self) -> set[str]:
        return {name for name, _ in self.dimensions}


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the last turn asks for. `targets` has the possible readings of each thing asked for, `text` the words that
    ask, and `since` the first turn whose figures must all be used."""

    targets: tuple[tuple[_Target, ...], ...]
    text: str
    since: int


def lines_by_units(givens: Sequence[Given], working: Working) -> Iterator[str]:
    """Yield the results that the last turn asks for, if they can be computed with all the figures that it gives."""
    if converted := _converted(givens[-1].text, working):
        yield converted
        return
    told = " ".join(given.text for given in givens)
    turns = _instead(read_all(spelled(given.text, told) for given in givens))
    asked = _asked(turns, "€" if in_euros([given.text for given in givens]) else "$")
    if asked is None or _ROUNDS.search(" ".join(turn.text for turn in turns)) or any(turn.left for turn in turns[asked.since :]):
        return
    if _COMPARES.search(asked.text) and not re.search(r"\bco2|\bkg\b", asked.text):
        return
    told = " ".join(turn.text for turn in turns)
    given = _as_audio(last_of_each([q for turn in turns for q in turn.quantities], turns))
    given, shares = _duties(given, [share for turn in turns for share in turn.shares], givens, told)
    if shares is None:
        return
    given += _from_sheets(given, givens[-1], told, working)
    must = frozenset(q.at for q in given if q.at[0] >= asked.since and not q.idle)
    adds = bool(_PLUS.search(" ".join(turn.text for turn in turns[asked.since :]))) or {"#input", "#output"} <= {name for q in given for name, _ in q.dimensions}
    results: list[tuple[_Target, str, str]] = []
    used: set[tuple[int, int]] = set()
    for choices in asked.targets:
        for label, chosen, without in _variants(asked, shares, given, must):
            there, needed = [q for q in given if q.at not in without], must - without
            parts = {target: _needed(target, there, needed) for target in choices}
            solved = [(target, s) for target in choices if (s := _solved(there, chosen, target, parts[target], asked, told, adds=adds)) and " " in s.formula.replace(f" {GIB}", "") and _has_time(target, choices, s, given) and parts[target] <= s.used]
            if not solved:
                return
            target, solution = solved[0]
            used |= solution.used
            results.append((target, solution.formula, label))
    if results and must <= used and not _is_of_a_machine(results, given, used, shares, givens[-1]):
        sheet = next((f", {q.source} {working.cite(*q.rows)}" for q in given if q.at in used and q.rows), "")
        yield from _written(results, [*(n for q in given for n in q.numbers), *(n for s in shares for n in (*s.numbers, 1 - s.numbers[0], 1 + s.numbers[0]))], sheet, working)


_CONVERSIONS = (
    re.compile(r"(?:please )?(?:convert |what(?: is|['’]s) |how much is )?(?P<given>\d.*?) (?:in|to|into) (?P<unit>[a-z][a-z/ ]*?)\W*"),
    re.compile(r"how many (?P<unit>[a-z][a-z/ ]*?) (?:is|are|are in|are there in|in) (?P<given>\d.*?)\W*"),
)


def _converted(text: str, working: Working) -> str:
    """Return the answer to a text that only asks for a quantity in another unit; "" for others, and if no document shows how."""
    for match in filter(None, (pattern.fullmatch(text) for pattern in _CONVERSIONS)):
        given, unit = (read(quantity, 0) for quantity in (match["given"], f"1 {match['unit']}"))
        if any(set(turn.text) != {"|"} or len(turn.quantities) != 1 for turn in (given, unit)):
            continue
        (quantity,), (one,) = given.quantities, unit.quantities
        factor = one.text.removeprefix("1 × ")
        formula = quantity.text + ("" if factor == "1" else f" / ({factor})" if " " in factor else f" / {factor}")
        binary = quantity.dimensions == dimensions(GB=1) and GIB.removeprefix("× ") in formula
        term = "binary units" if binary else "transfer" if quantity.dimensions == dimensions(GB=1, h=-1) else ""
        shown = working.tables.explained(term, working.index)
        if shown and quantity.dimensions == one.dimensions:
            # In the asker's own spelling: "GiB".
            written = max(re.findall(re.escape(match["unit"]), working.said[0], re.IGNORECASE), default=match["unit"])
            result = f"{evaluate(formula):,.6g} {written}"
            working.note(Computed(result, formula, 1.0, (*_CONSTANTS, *quantity.numbers)))
            working.say(formula)
            return f"{result}: {formula} {working.mark(shown)}."
    return ""


def in_euros(turns: Sequence[str]) -> bool:
    """Whether the asker gives sums in euros and none in dollars."""
    said = " ".join(turns).lower()
    return bool(re.search(r"€|\beur(?:os?)?\b", said)) and not re.search(r"\$|\b(?:usd|dollars?|cents?)\b", said)


def _is_of_a_machine(results: Sequence[tuple[_Target, str, str]], given: Sequence[Quantity], used: set[tuple[int, int]], shares: Sequence[Share], said: Given) -> bool:
    """Whether this is just the price of a named machine over a time. A sizing says more about that."""
    units = {name for q in given if q.at in used for name, _ in q.dimensions}
    return "instance_type" in said.slots and not shares and units <= {"usd", "h", *_WORKERS} and all(target.units <= {"usd", "h"} and "usd" in target.units and "+" not in formula for target, formula, _ in results)


def _has_time(target: _Target, choices: Sequence[_Target], solution: Solution, given: Sequence[Quantity]) -> bool:
    """Whether a total is over a given time, if it could also be meant per month or the like."""
    return not any("h" in choice.units for choice in choices) or "h" in target.units or any(q.at in solution.used and ("h", 1) in q.dimensions for q in given)


def _needed(target: _Target, given: Sequence[Quantity], must: frozenset[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    """Return those of the quantities in `must` that matter for a target.

    A price does not matter for a time. For the price of some work, the number of machines and the time that it may take
    do not matter. For the price of one item, the number of items does not matter.
    """
    beside = {"usd": {"g"}, "g": {"usd"}, "kWh": {"usd", "g"}}
    stored = any(q.dimensions == dimensions(kWh=1) for q in given)
    apart = next((others for unit, others in beside.items() if unit in target.units), {"usd", "g", "pue", *(() if stored else ("kWh",))})
    counted = {name for name in target.units if name.startswith("#")}
    of_work = any(name.startswith("#") or name == "audio" for q in given for name, _ in q.dimensions)
    shared = [{"GB", "h"}, *([{"machine"}, {"gpu"}, {"worker"}, {"h"}] if of_work else [])] if "usd" in target.units else []

    def has_part(units: set[str]) -> bool:
        return not (target.units >= {"GB", "#token"} or units & apart or units in shared or (counted and units <= {*counted, "h"}))

    return frozenset(q.at for q in given if q.at in must and has_part({name for name, _ in q.dimensions}))


# --- what is asked --------------------------------------------------------------------------------------------------------

_SENTENCE = re.compile(r"(?:^|(?<=[.?!]))[^.?!]*\?")
# A question without a question mark. It extends to the end of the text.
_UNMARKED = re.compile(r"(?:^|(?<=[.,!;] ))(?:so |and |now )*(?:how|what|which|when|is|are|do|does|can|in)\b|\bhow (?:many|much|long)\b")
_MACHINES = r"gpus?|cards?|accelerators?|machines|boxes|replicas|servers|instances|nodes|pods|workers|[abhlvt]\d{1,3}s"
_SPANS = {"hour": "", "day": " × 24", "night": " × 24", "week": " × 168", "month": " × 730", "year": " × 8760"}
_SPAN = re.compile(r"\b(?:per|an?|each|every|over the|for the) (hour|day|night|week|month|year)\b|\b(month|year|week|dai)l[yi]\b|\b(ann)ual|/ ?(month|year|day|week)\b")
_TOTAL = re.compile(r"\b(?:costs?|bill|pay|price|spend|charge|invoice|total|save|saving|burn)\b(?![ -]plan)|\b(?:what['’]?s (?:that|it|this|an? (?:million|thousand|hour))|how much)|\$|€|\b(?:usd|dollars|euros)\b|\bcents?\b|\b(?:month|year|dai)ly\s?[,?]")
_COST_OF = re.compile(r"\b(?:per|for|a|an|each|one|of a) (?:(?P<scale>1 ?m|1 ?k|1,?000|thousand|million|billion|mio|m)\b ?)?(?:useful |good )?(?:hour of (?P<audio>audio|speech|recording|video|podcast)s?|(?P<noun>(?!hours?|days?|nights?|weeks?|months?|years?|gpus?|one|machine|node)[a-z]{3,}))\b")
_TIME = re.compile(r"how (?:many|much) (?:more )?(seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?)|how (long)\b|\bin (seconds|minutes|hours|days|weeks)\b|\b(hours|days|minutes|weeks) (?:on|with|does|do|for) \||\b(seconds|minutes|hours|days|weeks|months)\s?(?:\?|and (?:dollars|\$|cost|how much))")
_COMPARES = re.compile(r"\b(?:cheaper|dearer|or(?! per\b)|vs|versus|than|which|better|before and after)\b")
_SAVES = re.compile(r"\bsav(?:e|es|ed|ing|ings)\b(?![ -]plan)|\bdifference\b|\bhow much (?:less|more)\b")
ASKS_ELSE = re.compile(rf"{_COMPARES.pattern}|{_SAVES.pattern}|\b(?:how|what|why)\b(?! (?:about|if)\b)")
_RATE = re.compile(r"\b(?:(?P<scale>million|billion) )?(?P<noun>tokens|requests|images|messages) ?(?:/|per|an?|each) ?(?P<by>s(?:ec(?:ond)?)?|minute|hour|day)\b")
_BY_SCALE = {"million": " / 1e6", "billion": " / 1e9"}
_IN_HOURS = {"se": " × 3600", "mi": " × 60", "da": " / 24", "ni": " / 24", "we": " / 168", "mo": " / 730", "ye": " / 8760"}
_ROUNDS = re.compile(r"\b(?:whole|full|complete) (?:rounds?|runs?|batches)\b|\brounds\b")
_PLUS = re.compile(r"\b(?:plus|rest|another|on top|additional|as well|also|more|all in)\b|\+")


# A turn that asks for the same result in another unit or over another time.
IN_OTHER_TERMS = re.compile(r"(?:(?:and|so|ok(?:ay)?|what|how|then|now|is|that|it|about|the|difference|saving|total|cost|what['’]s)\W+)*(?:in|as|over|per|for|an?)\W+(?:an? |the |each |one |whole |full )*(?:per ?cent|percentage|%|month|year|week|day|tonn?es?|k?g|kilos?|[km]wh)\W*")


def _asked(turns: Sequence[Turn], sign: str) -> _Asked | None:
    """Find what the last turn asks for, or what an earlier turn asks for and the last one only gives new figures for."""
    counted, last = {"#token", *(name for turn in turns for q in turn.quantities for name, _ in q.dimensions)}, len(turns) - 1
    asks = [_questions(turn.text) or (turn.text if n == last else "") for n, turn in enumerate(turns)]
    for n, turn in enumerate(turns[1:], 1):
        if IN_OTHER_TERMS.fullmatch(turn.text):
            asks[n] = f"{_SPAN.sub('', asks[n - 1]) if _SPAN.search(turn.text) else asks[n - 1]} {turn.text}"
    wished = [tuple(_targets(text, counted, sign)) for text in asks]
    at = next((number for number in range(last, -1, -1) if wished[number]), None)
    if at is None or (at < last and (len(turns[last].text.split()) > _SHORT or ASKS_ELSE.search(turns[last].text))):
        return None
    since = at
    while since and not wished[since - 1] and "?" not in turns[since - 1].text:
        since -= 1
    more = tuple((*choices, _Target(dimensions(usd=1), choices[0].written, "", "cost")) if "usd" in choices[0].units and at < last else choices for choices in wished[at])
    return _Asked(more, asks[at], since)


def _questions(text: str) -> str:
    """Return the parts of a text that ask something."""
    end = text.rfind("?") + 1
    unmarked = _UNMARKED.search(text, end)
    return " ".join([*_SENTENCE.findall(text, 0, end), *([text[unmarked.start() :]] if unmarked else [])])


def _targets(text: str, counted: set[str], sign: str) -> Iterator[tuple[_Target, ...]]:
    """Yield what is asked for, in the order of the text, each with its possible readings."""
    found: list[tuple[int, tuple[_Target, ...]]] = []
    if (match := re.search(r"how many ([a-z]+)\b(?! ?(?:/|per\b|an? |each\b))", text)) and named(match[1]) in counted:
        found.append((match.start(), (_Target(frozenset({(named(match[1]), 1)}), f"{{}} {match[1]}", "", "throughput"),)))
    spans = {_span(match) for match in _SPAN.finditer(text)}
    span = spans.pop() if len(spans) == 1 else ""
    if match := re.search(rf"(?:how many|number of) (?:more )?(?:{_MACHINES})\b(?![ -]?(?:hours?|h)\b)|\b(?:{_MACHINES})\s?\?|^(?:{_MACHINES}) (?:for|to)\b", text):
        found.append((match.start(), (_Target(dimensions(machine=1), "machines", "", "throughput"),)))
    at_once = r"|\bat once\b|\bconcurrent" if {"GB", "#token"} <= counted else ""
    if match := re.search(rf"how (?:many|much) (?:gb|memory|vram)\b|\bkv[ -]cache\b|\bper token\b{at_once}", text):
        shaped = "per token" in text
        if shaped:
            found.append((match.start(), (_Target(frozenset({("GB", 1), ("#token", -1)}), "{} KiB a token", " × 1e9 / 1024", "KV cache"),)))
        if not shaped or re.search(r"\band\b", text):
            found.append((len(text), (_Target(dimensions(GB=1), "{} GB of KV cache", "", "KV cache"),)))
    if match := _RATE.search(text):
        by, scale = {"s": (" / 3600", "second"), "m": (" / 60", "minute"), "h": ("", "hour"), "d": (" × 24", "day")}[match["by"][0]], match["scale"] or ""
        told = f"{{}} {scale} {match['noun']} a {by[1]}".replace("  ", " ")
        found.append((match.start(), (_Target(frozenset({(named(match["noun"]), 1), ("h", -1)}), told, f"{by[0]}{_BY_SCALE.get(scale, '')}", "throughput"),)))
    elif match := _TIME.search(text):
        unit = next(filter(None, match.groups()))
        written = "" if unit == "long" else "nights" if unit.startswith("night") else f"{{}} {unit.removesuffix('s')}s"
        found.append((match.start(), (_Target(dimensions(h=1), written, _IN_HOURS.get(unit[:2], ""), "throughput"),)))
    if match := re.search(r"(?<!/)(?<! a )(?<!per )\b(m|k)?wh\b|\benergy\b|\belectricity\s?\?", text):
        unit, factor = ("MWh", " / 1000") if match[1] == "m" else ("kWh", "")
        found.append((match.start(), _in_time(dimensions(kWh=1), f"{{}} {unit}", factor, "emissions", span)))
    if match := re.search(r"\b(?:kg|kilos|tonnes?|co2\w*|carbon|emissions?|emit\w*)\b", text):
        unit, factor = ("tonnes of CO2e", " / 1e6") if re.search(r"\btonnes?\b", text) else ("kg of CO2e", " / 1000")
        found.append((match.start(), _in_time(dimensions(g=1), f"{{}} {unit}", factor, "emissions", span)))
    if (match := _TOTAL.search(text)) and not (found and "usd" not in counted and (re.match("sav|total|how", match.group()) or "GB" in found[0][1][0].units)):
        each = next((m for m in _COST_OF.finditer(text) if m["audio"] or m["scale"] or named(m["noun"]) in counted or (named("thing") in counted and m[0].startswith("per"))), None)
        if each:
            scale = next((f" × {n}" for start, n in (("thousand", 1000), ("1k", 1000), ("1 k", 1000), ("1,", 1000), ("10", 1000), ("b", "1e9"), ("1", "1e6"), ("m", "1e6")) if (each["scale"] or "").startswith(start)), "")
            cents = " × 100" if re.search(r"\bcents?\b", text) else ""
            of = "audio" if each["audio"] else named(each["noun"])
            found.append((match.start(), (_Target(frozenset({("usd", 1), (of, -1)}), "{} cents" if cents else f"{sign}{{}}", f"{scale}{cents}", "price of tokens"),)))
        if not each or re.search(r"\band (?:per|in|for|an?|each) (?:\||month|year|day|week)", text[each.end() :]):
            found.append((match.start(), _in_time(dimensions(usd=1), f"{sign}{{}}", "", "cost", span)))
    yield from (targets for _, targets in sorted(found, key=lambda pair: pair[0]))


def _span(match: re.Match[str]) -> str:
    word = str(next(filter(None, match.groups())))
    return {"dai": "day", "ann": "year"}.get(word, word)


def _in_time(dims: Dimensions, written: str, factor: str, term: str, span: str) -> tuple[_Target, ...]:
    """Return the target as a total and, if a span of time is asked for, also per span."""
    whole = _Target(dims, written, factor, term)
    return (whole, _Target(frozenset({*dims, ("h", -1)}), f"{written} a {span}", f"{factor}{_SPANS[span]}", term)) if span else (whole,)


_PAIR = re.compile(r"(?P<first>[$€]?[\d.]+) (?P<and>and|/|,) (?P<second>[$€]?[\d.]+) (?P<per>per|/) ?(?:1 ?)?m(?:illion|io)?\b(?! (?:input|output))(?: tokens)?")


def spelled(text: str, told: str) -> str:
    """Say of each price and amount of tokens what it is of, and how often: "daily", "$1 and $5 per million"."""
    text = re.sub(r"([$€]?[\d.]+) (?:for )?in(?:put)? (and|/|,) ([$€]?[\d.]+) (?:for )?out(?:put)? (?=(?:per|/) ?(?:1 ?)?m)", r"\1 \2 \3 ", text)
    if re.search(r"\bin(?:put)?\b.*\bout(?:put)?\b", told):
        text = _PAIR.sub(r"\g<first> per million input tokens \g<and> \g<second> per million output tokens", text)
    text = re.sub(r"(?<=\d)(\s?(?:m|k|bn?|million|billion)?) (?:tok(?:en)?s )?(in|out)(?:put)?(?: tok(?:en)?s)?\b(?! of| the)", lambda m: f"{m[1]} {m[2]}put tokens", text)
    text = re.sub(r"(?<=tokens )(daily|monthly)\b", lambda m: {"daily": "a day", "monthly": "a month"}[m[1]], text)
    return re.sub(r"tokens ?/ ?(?=\d)", "tokens and ", text)



# --- what is given --------------------------------------------------------------------------------------------------------


def _instead(turns: list[Turn]) -> list[Turn]:
    """Give the only number of the last turn the unit of the figure that it stands in for, and move that figure beside it.

    An example is "and in Paris instead (56)?". Other turns are returned unchanged.
    """
    last = turns[-1]
    before = [q for turn in turns[:-1] for q in turn.quantities if q.dimensions in _PLACES]
    if len(last.left) != 1 or len(before) != 1 or last.quantities or not re.search(r"\binstead\b", last.text):
        return turns
    value = number_of(last.left[0])
    there = replace(before[0], at=(len(turns) - 1, 1))
    new = Quantity(f"{value:.10g}", before[0].dimensions, (len(turns) - 1, 0), (value,))
    if before[0].text != f"{before[0].numbers[0]:.10g}":
        return turns
    earlier = [replace(turn, quantities=tuple(q for q in turn.quantities if q != before[0])) for turn in turns[:-1]]
    return [*earlier, replace(last, quantities=(there, new), left=())]


def last_of_each(quantities: Sequence[Quantity], turns: Sequence[Turn]) -> list[Quantity]:
    """Drop the quantities that a turn after a question replaces with one of the same dimensions."""
    asks = [bool(_questions(turn.text)) for turn in turns]
    return [q for q in quantities if not any(other.dimensions == q.dimensions and any(asks[q.at[0] : other.at[0]]) for other in quantities)]


def _as_audio(quantities: list[Quantity]) -> list[Quantity]:
    """If speech is transcribed, read the time that each item takes as its playing time."""
    if not any(name == "audio" for q in quantities for name, _ in q.dimensions):
        return quantities
    return [
        replace(q, dimensions=frozenset(("audio", 1) if name == "h" else (name, exponent) for name, exponent in q.dimensions if name != "worker"))
        if {name[0] for name, _ in q.dimensions} == {"h", "w", "#"} and dict(q.dimensions)["h"] == 1 else q
        for q in quantities
    ]  # fmt: skip


_NIGHTLY = re.compile(r"\bnightly|\bdaily|\b(?:every|each|per|an?) (?:night|day)\b")
_CLOCK = re.compile(r"\b(?P<start>\d{1,2}):00 ?(?:to|-|–|until) ?(?P<end>\d{1,2}):00\b")
_SCHEDULED = re.compile(r"\bweek ?days?\b|\bweek ?ends?\b|\b(?:at|over) nights?\b|\bmon\w*(?: to |-| in )fri|\b(?:office|business|working) hours\b")


def _duties(quantities: list[Quantity], shares: list[Share], givens: Sequence[Given], told: str) -> tuple[list[Quantity], list[Share] | None]:
    """Replace the hours of a schedule with the share of the time that it covers (the duty cycle).

    Returns the other quantities and the shares; None in place of the shares if the duty cycle is unclear.
    """
    own, kept = list[Share](), list[Quantity]()
    for q in quantities:
        daily = q.dimensions == dimensions(h=1) and q.numbers[0] < 24 and q.text == f"{q.numbers[0]:.10g}" and _NIGHTLY.search(told)
        if daily or (not q.dimensions and " " in q.text):
            own.append(Share("duty", f"{q.text} / 24" if daily else q.text, q.at, q.numbers))
        else:
            kept.append(q)
    told_ = " ".join(given.text for given in givens)
    scheduled = [given for given in givens if _SCHEDULED.search(given.text)]
    clocked = next((given for given in reversed(scheduled) if 24 < given.slots.get("hours", 0) < 730), None)
    if not own and (clock := _CLOCK.search(told_)) and not re.search(r"\bweek|\bmon", told_):
        hours = (int(clock["end"]) - int(clock["start"])) % 24
        own = [Share("duty", f"{hours} / 24", (len(givens) - 1, 0), (float(hours),))]
    if clocked:  # these hours include the days of the week
        hours = clocked.slots["hours"]
        own = [Share("duty", f"{hours:.10g} / 730", (givens.index(clocked), 0), (hours,))]
    return kept, None if scheduled and not own else [*shares, *own]


_OF_SHEET = (-1, 0)


def _from_sheets(quantities: Sequence[Quantity], given: Given, told: str, working: Working) -> list[Quantity]:
    """Return the price of the machine named, if work is done at a rate and no money is given; and the power on the data
    sheet of the accelerator named, if the question mentions a TDP but gives no watts."""
    facts, name = working.tables.facts, given.slots.get("accelerator")
    price = facts.price(str(given.slots.get("instance_type", "")))
    rated = any(q.units.get("h") == -1 and any(name.startswith("#") and name not in ("#token", "#output") for name in q.units) for q in quantities)
    if price and rated and not any("usd" in q.units for q in quantities):
        how = working.say(f"at ${price.usd_per_hour:.4g} an hour on {price.instance_type} {price.terms}")
        return [Quantity(f"{price.usd_per_hour:.10g}", dimensions(usd=1, h=-1, worker=-1), _OF_SHEET, (price.usd_per_hour,), rows=(price.row,), source=how)]
    sheet = next((s for full, sheets in facts.accelerators.items() if short(full) == name for s in sheets if s.max_w), None)
    if any(q.dimensions >= {("kWh", 1), ("h", -1)} for q in quantities) or not sheet or not sheet.max_w or "tdp" not in told:
        return []
    how = working.say(f"at the {sheet.max_w:g} W of its data sheet")
    return [Quantity(f"{sheet.max_w:g} / 1000", frozenset({("kWh", 1), ("h", -1), ("gpu", -1)}), _OF_SHEET, (sheet.max_w,), rows=(sheet.row,), source=how)]


# --- computing ------------------------------------------------------------------------------------------------------------


def _variants(asked: _Asked, shares: Sequence[Share], given: Sequence[Quantity], must: frozenset[tuple[int, int]]) -> Iterator[tuple[str, Sequence[Share], frozenset[tuple[int, int]]]]:
    """Yield the variants to compute, as (label, shares, quantities to leave out).

    If a figure is given for several places, there is a variant for each. If the question asks what a discount saves, or
    for full load as well, there is one without those shares and one with all. Otherwise there is one with all shares.
    """
    none = frozenset[tuple[int, int]]()
    again = [alike for q in given if q.at in must and len(alike := [other for other in given if other.dimensions == q.dimensions and other.at in must]) > 1 and alike[0] == q]
    if again and len({len(alike) for alike in again}) == 1 and {alike[0].dimensions for alike in again} <= {*_PLACES, dimensions(pue=1)}:
        for here in list(zip(*again, strict=True))[:4]:
            figure = next((q for q in here if q.dimensions in _PLACES), here[0])
            yield f"at {figure.numbers[0]:g}", shares, frozenset(q.at for alike in again for q in alike if q not in here)
        return
    if _SAVES.search(asked.text):
        if not any(s.role == "discount" for s in shares):
            return
        yield "without", [s for s in shares if s.role not in ("discount", "lost", "again")], none
    elif any(s.role in ("busy", "efficiency") for s in shares) and re.search(r"\bat full\b", asked.text):
        yield "at full load", [s for s in shares if s.role not in ("busy", "efficiency")], none
        yield "as it is used", shares, none
        return
    yield "", shares, none


def _solved(given: Sequence[Quantity], shares: Sequence[Share], target: _Target, must: frozenset[tuple[int, int]], asked: _Asked, told: str, *, adds: bool) -> Solution | None:
    """Return the formula of a target with each share applied; None if it is unclear what a share applies to."""
    quantities, whole = list(given), ""
    reduced: list[int] = []
    for share in shares:
        places, factor = _of_share(share, quantities, target, told)
        if places is None or (share.role != "duty" and set(places) & set(reduced)):
            if share.at[0] >= asked.since:
                return None
            continue
        whole += factor if not places else ""
        reduced += places
        for n in places:
            quantities[n] = replace(quantities[n], text=f"{quantities[n].text} × {factor}")
    solution = solve(quantities, target.dimensions, must, adds=adds)
    return replace(solution, formula=f"{solution.formula}{whole}") if solution else None


def _of_share(share: Share, quantities: Sequence[Quantity], target: _Target, told: str) -> tuple[list[int] | None, str]:
    """Return the places of the quantities that a share applies to, and the factor to write there.

    No places mean that it applies to the result. None means that it is unclear.
    """
    value, units = share.text, target.units
    prices, powers, links = (_rates(quantities, unit) for unit in ("usd", "kWh", "GB"))
    if share.role == "duty":
        if units == {"h"}:
            return ([], f" / ({value})") if target.times in (" / 24", " / 168", " / 730") and not prices else (prices or None, value)
        return (prices if "usd" in units and prices else powers) or None, value
    if share.role == "discount":
        return _one(prices), f"(1 - {value})"
    if share.role == "lost" and units & {"usd", "h", "machine"}:
        return [], f" / (1 - {value})"
    if share.role == "again" and units & {"usd", "h", "machine", "kWh", "g"}:
        return [], f" × (1 + {value})"
    if share.role == "headroom" and units == {"machine"}:
        return [], f" × (1 + {value})"
    if share.role in ("efficiency", "busy", "share", "part of power"):
        if powers and (units & {"kWh", "g", "usd"} or any(q.dimensions == dimensions(kWh=1) for q in quantities)) and not prices:
            return _one([n for n in powers if _WORKERS & {name for name, _ in quantities[n].dimensions}] or powers), value
        if links:
            return _one(links), value
        if share.role in ("efficiency", "busy") and any(name.startswith("#") for name in units):
            rates = [n for n, q in enumerate(quantities) if ("h", -1) in q.dimensions and n not in (*prices, *powers)]
            return ([], f" / {value}") if not rates and prices and share.role == "busy" else (_one(rates), value)
        if share.role == "busy" and units == {"machine"}:
            return [], f" / {value}"
        if share.role == "busy" and units == {"usd"} and re.search(r"\bidle|wast|burn", told):
            return _one(prices), f"(1 - {value})"
    return None, ""


def _one(places: list[int]) -> list[int] | None:
    return places if len(places) == 1 else None


def _rates(quantities: Sequence[Quantity], unit: str) -> list[int]:
    """Return the places of the hourly rates of a unit, whatever machine they are for."""
    return [n for n, q in enumerate(quantities) if {name for name, _ in q.dimensions} - _WORKERS == {unit, "h"} and ("h", -1) in q.dimensions]


def _written(results: Sequence[tuple[_Target, str, str]], known: Sequence[float], sheet: str, working: Working) -> Iterator[str]:
    texts, values = [], []
    results = [(_in_suiting_unit(target, formula), formula, label) for target, formula, label in results]
    for target, formula, label in results:
        unit, factor = target.written, target.times
        formula = f"({formula}){factor}" if factor and " + " in formula and not formula.startswith("(") else f"{formula}{factor}"
        value = evaluate(formula)
        values.append(value)
        if unit in ("machines", "nights"):
            spare = unit == "machines" and bool(re.search(r"\b(?:plus|and|with) (?:1|one|a) (?:spare|extra|more|standby)\b|\bn ?\+ ?1\b", working.said[0].lower()))
            count = math.ceil(value - 1e-9) + spare
            text, told = rounded(value), f"{count}: {formula} = {rounded(value)}, rounded up{' and one to spare' if spare else ''}"
            working.say(str(count))
        else:
            text = unit.format(rounded(value, money="$" in unit or "€" in unit))
            told = f"{text}{f' {label}' if label not in ('', 'without') else ''}: {formula}"
        working.note(Computed(text, formula, 1.0, (*_CONSTANTS, *known, value)))
        working.say(formula)
        texts.append(told)
    mark = next((working.mark(e) for target, _, _ in results if (e := working.tables.explained(target.term, working.index))), "")
    places = len(results) == 2 and all(label.startswith("at ") for _, _, label in results) and results[0][0] == results[1][0]
    if places or [label for _, _, label in results] == ["without", ""]:
        first, second = (f"{value:.10g}" for value in ((max(values), min(values)) if places else values))
        unit = results[0][0].written
        saved, part = f"{first} - {second}", f"(1 - {second} / {first}) × 100"
        less = unit.format(rounded(evaluate(saved), money="kg" not in unit)), f"{rounded(evaluate(part))} %"
        for text, formula in zip(less, (saved, part), strict=True):
            working.note(Computed(text, formula, 1.0, (*_CONSTANTS, *known, *values)))
        told = f"{less[0]}, {less[1]}"
        texts = [*texts, f"{told} less"] if places else [f"{told}: {texts[1].split(':')[0]} instead of {texts[0].split(':')[0]}", *(text.split(": ", 1)[1] for text in texts[::-1])]
    yield f"{'; '.join(texts)} {mark}".rstrip() + f"{sheet}."


def _in_suiting_unit(target: _Target, formula: str) -> _Target:
    if target.written:
        return target
    units = (("day", " / 24", 48), ("hour", "", 1), ("minute", " × 60", 1 / 60), ("second", " × 3600", 0))
    name, factor = next((name, factor) for name, factor, least in units if evaluate(formula) >= least)
    return replace(target, written=f"{{}} {name}s", times=factor)
