"""Compare hardware: figures from table rows side by side, after what they mean for what is asked."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from chatbot.draft import Draft
from chatbot.figures.fact_answer import tell_rows
from chatbot.figures.hardware_answer.units import asks_unit
from chatbot.language.names import names
from chatbot.presentation.comparison_table import Comparison, property_of
from chatbot.question.query import Query
from chatbot.sizing.conversation import hear
from chatbot.sizing.facts import Accelerator, Facts, Instance, Price, number, short
from chatbot.sizing.intent import FACTS
from chatbot.table import answer_from_table
from chatbot.table.entities import accelerator_names
from chatbot.table.filters import strange
from chatbot.table.row_phrases import listed
from chatbot.working import Working, capital, load, rounded
from ingest import Index, Row

# How many pieces of hardware are compared. More would make a table, which is asked for in other words.
_FEWEST, _MOST = 2, 6
# Figures whose ratio is below this are the same: 40 GB are sold as 40 GiB.
_SAME = 1.08
# How many words of a question may be neither hardware nor figures nor uses of hardware. A question with more is left to
# the documents.
_UNREAD = 2

# Two pieces of hardware, each replaced by a bar, with only a comparison between: "| 40 GB vs the |", "| has more memory than |".
_OWN = r"(?:\s+(?:\d+\s?gi?b|instances?|gpus?|cards?|chips?|famil(?:y|ies)|sxm|worth it|single gpu))*"
_ITS = r"\s*(?:(?:the|an?|one|two|single|first|\d+x?|aws|nvidia|ec2|on|of|with|for|\d+\s?gi?b)\s+)*"
_JOINED = re.compile(rf"\|{_OWN}(?:\s*[,/+&]|\s+(?:vs\.?|versus|or|against|and|over|instead of)\s|(?:\s+[\w-]+){{0,4}}?\s+(?:than|compare[sd]? (?:to|with))\s){_ITS}\|", re.IGNORECASE)
_HELD = re.compile(r"\b(?:vs|versus|against|or|than|compar\w*|diff\w*|better|between|side by side|instead|over|rank(?:ed)?)\b", re.IGNORECASE)
# Asks a later turn to compare what an earlier one did.
_WHICH_OF_THEM = re.compile(r"\bwhich\b|\b(?:more|less|faster|slower|cheaper|dearer|better|bigger|larger|higher|lower|difference|same|equal|ahead|wins?|matter(?:s|ed)?|care about)\b", re.IGNORECASE)
_OF_DOCUMENTS = re.compile(r"\b(?:why (?:is|are|do|does|did|not|would)|who|when|what (?:are|is) \w+ for|good for|carbon|co2\w*|emissions?|footprint|claims?|savings plans?|reserv\w+|spot|quota|capacity|available|availability|energy|efficien\w*|per[- ]watt|interfaces|nvlink|support\w*|exam)\b", re.IGNORECASE)
# Words on the use of hardware and on how a question is asked; none of them turns a comparison of figures into something else.
_FRAME = frozenset(
    re.findall(
        r"\S+",
        "vs versus against compare compared comparison difference differences diff differ better best cheaper main mostly matters pick choose hardware gpu gpus card cards chip chips single"
        " accelerator accelerators inference serve serving train training finetune finetuning fine tune tuning pretraining lora qlora model llm llms class style like small large quantized"
        " chat chatbot workload workloads job jobs production online batch latency requests request prompt tokens token context run running scratch real numbers actually actualy really honest"
        " opinion looks poor pain get short reason extra hour us-east us-east-1 fp16 int8 fp4 bit bits than not no without instead",
    )
)


@dataclass(frozen=True, slots=True)
class _Measure:
    """A figure to compare by: `cell` is its column, `table` is the kind of row that has it, and `ahead` is what is said
    of the best side. `less` means that less is better."""

    noun: str
    cell: str
    table: Literal["sheet", "instance", "price"]
    ahead: str = "has {times} the {noun} ({best} against {other})"
    less: bool = False


_MEASURES = {
    "value": _Measure("memory bandwidth for the price of an hour", "", "price", "can generate up to {times} the tokens per dollar in bf16 ({best} against {other})"),
    "bandwidth": _Measure("memory bandwidth", "Memory bandwidth", "sheet"),
    "bf16": _Measure("compute in BF16 for prompts and training", "BF16", "sheet"),
    "fp8": _Measure("compute in FP8", "FP8", "sheet"),
    "memory": _Measure("accelerator memory", "Memory", "sheet"),
    "power": _Measure("power at most", "Maximum power", "sheet", "draws {best} at most against {other}", less=True),
    "network": _Measure("network bandwidth", "Network", "instance"),
    "price": _Measure("price an hour", "Price per hour", "price", "is cheaper ({best} an hour against {other}, {times} as much)", less=True),
    "vcpus": _Measure("number of vCPUs", "vCPUs", "instance"),
    "host": _Measure("host memory", "Memory", "instance"),
}
# What memory bandwidth means if a speed is asked for.
_DECODES = "can generate tokens up to {times} as fast ({best} of memory bandwidth against {other})"
_UNITS = {"bandwidth": "GB/s", "memory": "GiB", "power": "W"}
# The measures that lead an answer if the question names none, and those that bound a speed.
_CORE, _BOUNDS = ("bf16", "bandwidth", "memory"), frozenset({"value", "bandwidth", "bf16", "fp8"})
_BESIDE = (*_CORE, "power", "price")
# The words of a question that make a measure lead its answer.
_TOPICS = {
    measure: re.compile(rf"(?:\b|(?<=\d))(?:{words})", re.IGNORECASE)
    for measure, words in (
        ("value", r"per[- ](?:dollar|\$|buck|token)|price[- /]*perf\w*|value for|bang for|for the money|(?:better|best) value"),
        ("bandwidth", r"decod\w*|generat(?:e|es|ing|ion)\b|tok(?:en)?s? ?(?:/|per|a) ?s\w*|throughput|(?<!efa )(?<!network )bandwidth|fast\w*|speed\w*|slow\w*"),
        ("memory", r"v?ram\b|mem(?:ory)?\b(?! (?:bandwidth|speed|bus))|hbm|fits?\b|long(?:er)?[- ]contexts?"),
        ("bf16", r"pre-?fill|first token|ttft|long(?:er)?[- ](?:prompts?|contexts?)|prompts|tflops|compute\b|bf16"),
        ("fp8", r"fp8|8[- ]bits?"),
        ("power", r"watts?\b|power|tdp"),
        ("network", r"network\w*|efa\b|gbps|nodes"),
        ("price", r"worth|premium|pay(?:ing)? (?:for|more)|prices?\b|pricing|pric(?:y|ier)|costs?\b|money|cheap\w*|expensive|dear\w*|mark-?up|percent\w*|(?:more|less|extra) (?:an?|per) (?:hour|day|week|month|year)"),
    )
}  # fmt: skip
_TRAINS = re.compile(r"\b(?:pre-?)?train(?!ium)|fine-?\s?tun|\bq?lora\b", re.IGNORECASE)
_SERVES = re.compile(r"\b(?:inference|serv(?:e|ing)|chat)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Side:
    """A piece of hardware with its rows. An accelerator by itself has no instance; an instance type may have no accelerator."""

    name: str
    sheet: Accelerator | None
    instance: Instance | None = None
    price: Price | None = None

    @property
    def number(self) -> float:
        return self.instance.accelerators if self.instance else 1.0

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(held.row for held in (self.instance, self.sheet, self.price) if held)

    def row(self, measure: str) -> Row | None:
        held = {"sheet": self.sheet, "instance": self.instance, "price": self.price}[_MEASURES[measure].table]
        return held.row if held else None

    def says(self, measure: str) -> str:
        """The cell of a measure: that of one accelerator, or of the machine."""
        row = self.row(measure)
        if measure == "memory" and self.instance:
            return self.instance.row.cells.get("Accelerator memory each", "")
        return row.cells.get(_MEASURES[measure].cell, "") if row else ""

    def figure(self, measure: str) -> float | None:
        """The value of a measure, in one unit for all sides. Figures from a data sheet are multiplied by the number of
        accelerators."""
        if measure == "value":
            bandwidth = self.figure("bandwidth")
            return bandwidth / self.price.usd_per_hour if bandwidth and self.price else None
        if measure == "memory":
            each = self.instance.accelerator_memory_gib_each if self.instance else self.sheet.memory_gib if self.sheet else None
        else:
            row = self.row(measure)
            each = number(row, _MEASURES[measure].cell) if row else None
        return each * self.number if each and _MEASURES[measure].table == "sheet" else each


def compare_hardware(query: Query, index: Index, *, before_rows: bool = False) -> Draft | None:
    """Draft the figures of two to six pieces of hardware side by side, after what they mean for what is asked.

    None if the question is of another kind or, unless it goes `before_rows`, if rows tell what is asked without a comparison.
    """
    tables = load(index)
    sides = _sides(query, tables.facts)
    asked = (_asked(query.question) if query.history else []) or _asked(query.standalone)
    if not sides or _is_of_another_kind(query, asked, index, before_rows=before_rows) or not (before_rows or not answer_from_table(query, (), (), index)):
        return None
    unpriced: list[Side] = []
    if {"value", "price"} & set(asked):
        rented = _rented(sides, tables.facts)
        unpriced = [side for side in rented if not side.price]
        sides = rented if all(side.instance for side in rented) else sides
    return _draft(sides, asked, unpriced, query, Working(tables, index, [query.standalone, "BF16 FP8"]))


def precedes_rows(query: Query, index: Index) -> bool:
    """Whether a comparison goes before rows: "which has more memory?" of accelerators, or of what an earlier turn names."""
    if not (_WHICH_OF_THEM.search(query.question) and _asked(query.question)):
        return False
    return _is_of_them(query) or bool((sides := _sides(query, load(index).facts)) and not any(side.instance for side in sides))


def _is_of_them(query: Query) -> bool:
    return bool(query.history and not names(query.question) and _WHICH_OF_THEM.search(query.question))


# Words that ask what a price buys, not only what it is.
_WORTH = re.compile(r"\b(?:extra|more) money|\bpremium|\bprice difference|\bworth|\bpay", re.IGNORECASE)


# --- what is asked ---------------------------------------------------------------------------------------------------------


_ONLY = re.compile(r"\b(?:only|just) (?:the|in|more|about)\b|\bwhat else\b|\bapart from\b", re.IGNORECASE)


def _asked(text: str) -> list[str]:
    """The measures that a question is about; if it names none, those for training or serving."""
    found = [measure for measure, words in _TOPICS.items() if words.search(text)]
    if "value" in found:
        return [measure for measure in found if measure not in ("price", "bandwidth")]
    if "network" in found and not re.search(r"memory bandwidth|decod|generat|token", text, re.IGNORECASE):
        return [measure for measure in found if measure != "bandwidth"]  # "fast" is then of the network
    if found == ["bandwidth"] and _TRAINS.search(text):
        return ["bf16"]
    if len(found) == 1 and _ONLY.search(text):
        return [*found, *(measure for measure in ("memory", "bandwidth", "bf16") if measure not in found)]
    return found or (["bf16", "memory"] if _TRAINS.search(text) else ["bandwidth"] if _SERVES.search(text) else [])


def _sides(query: Query, facts: Facts) -> list[Side]:
    """The pieces of hardware that a question compares, all of them in the tables; none for any other question."""
    text, found = query.standalone, list[list[Side]]()
    for name in sorted(names(text), key=lambda n: -n.start):
        if name.kind == "region":
            continue
        side = candidates(name.name.lower(), text, facts)
        if side is None and (name.kind != "code" or name.name in query.unknown or any(i.family.startswith(name.name.lower()) for i in facts.instances.values())):
            return []
        if side:
            found.insert(0, side)
            text = f"{text[: name.start]}|{text[name.start + len(name.text) :]}"
    if not _JOINED.search(text) or not (_is_of_them(query) or (_HELD.search(text) and names(query.question))):
        return []
    sides = _of_one_kind(found)
    return sides if _FEWEST <= len(sides) <= _MOST and len({bool(side.sheet) for side in sides}) == 1 else []


def _of_one_kind(found: Sequence[Sequence[Side]]) -> list[Side]:
    """One side of each of the candidates: machines without the accelerators in them, or only accelerators."""
    within = {side.sheet.name for kin in found for side in kin if side.sheet and side.instance}
    kept = [kin for kin in found if any(side.instance for side in kin) or not within & {side.sheet.name for side in kin if side.sheet}]
    if any(kin[0].instance is None for kin in kept):  # a machine has more than a bare accelerator: compare only accelerators
        kept = [[replace(kin[-1], name=short(kin[-1].sheet.name), instance=None)] if kin[-1].sheet else [] for kin in kept]
    return list({side.name: side for side in _alike(kept)}.values())


def candidates(name: str, text: str, facts: Facts) -> list[Side] | None:
    """The candidates for a name: an accelerator, an instance type, or the types of a family, smallest first; None if no
    table has it."""
    known = [facts.instances[name]] if name in facts.instances else [i for i in facts.instances.values() if i.family == name]
    if known:
        known.sort(key=lambda i: (i.accelerators, i.vcpus))
        return [Side(i.name, facts.accelerator(i), i, facts.price(i.name)) for i in known]
    sheets = [sheet for full, found in facts.accelerators.items() if name in accelerator_names(full) for sheet in found]
    # Of the A100s with 40 and with 80 GB take the one whose size is named, else the larger.
    sheets.sort(key=lambda sheet: (bool(re.search(rf"\b{sheet.row.cells['Memory'].split()[0]}\s?gb", text, re.IGNORECASE)), sheet.memory_gib or 0.0))
    return [Side(short(sheets[-1].name), sheets[-1])] if sheets else None


def _alike(kept: Sequence[Sequence[Side]]) -> Iterator[Side]:
    """One type of each family: with one accelerator if each family has such a type with an on-demand price, else the largest."""
    singles = [next((side for side in kin if side.number == 1 and (side.price or not side.instance)), None) for kin in kept]
    for kin, single in zip(kept, singles, strict=True):
        if kin:
            yield single if single and all(singles) else kin[-1]


def _is_of_another_kind(query: Query, asked: Sequence[str], index: Index, *, before_rows: bool) -> bool:
    """Whether the question must be answered otherwise: by rows without a comparison, by documents, or by the arithmetic
    of a workload. The latter two also if too many of its words are not understood."""
    tables = load(index)
    if (heard := hear(query.question, query.history, tables.known)) is None:
        return True
    if not asked and heard.said.slots.get("region"):
        return True  # about what a region has
    work = heard.asked.workload
    given = (work.hours, work.tokens, work.kwh, work.sequences, work.tokens_per_second, work.budget, work.budget_per_hour, work.budget_per_month, work.instances)
    if any(given) or (not before_rows and heard.label in FACTS and (told := tell_rows(query, heard, tables.facts, index)) and told.draft.text) or asks_unit(query.question) or _OF_DOCUMENTS.search(query.standalone.lower()):
        return True
    if heard.computed and (heard.label not in ("cost", "cost_difference", "cheapest") or asked == ["price"]):
        return True
    rest = heard.said.plain
    for words in _TOPICS.values():
        rest = words.sub(" ", rest)
    return sum(not word.isdigit() and word not in _FRAME for word in strange(rest)) > _UNREAD


def _rented(sides: Sequence[Side], facts: Facts) -> list[Side]:
    """Accelerators as they are rented: each on the cheapest type with one of it, if all have such a type, else on the largest."""

    def sold(side: Side) -> list[tuple[Instance, Price]]:
        if side.instance or not side.sheet:
            return []
        priced = [(i, price) for i in facts.instances.values() if facts.accelerator(i) is side.sheet and (price := facts.price(i.name))]
        return sorted(priced, key=lambda one: (one[0].accelerators, -one[1].usd_per_hour))

    types = [sold(side) for side in sides]
    singles = [max((one for one in some if one[0].accelerators == 1), key=lambda one: -one[1].usd_per_hour, default=None) for some in types]
    chosen = singles if all(singles) else [some[-1] if some else None for some in types]
    return [replace(side, name=one[0].name, instance=one[0], price=one[1]) if one else side for side, one in zip(sides, chosen, strict=True)]


# --- what is told ----------------------------------------------------------------------------------------------------------


def _draft(sides: Sequence[Side], asked: Sequence[str], unpriced: Sequence[Side], query: Query, working: Working) -> Draft | None:
    """Draft the verdict on what is asked, what speaks for the other sides, and a line for each side."""
    working.say(*(side.name for side in (*sides, *unpriced)))
    apart = sorted((m for m in _MEASURES if m != "value" and len(_having(sides, m)) == len(sides) and _spread(sides, m) > _SAME), key=lambda m: -_spread(sides, m))
    leading = [m for m in asked if len(_having(sides, m)) > 1] or [m for m in apart if m in _CORE] or [*apart[:3], *_CORE]
    leading = [m for m in leading if len(_having(sides, m)) > 1]
    if not leading or not apart:
        return None
    leaders = {_best(_having(sides, m), m).name for m in leading if m in apart or m == "value"}
    only_price = asked == ["price"] and not any(words.search(query.standalone) for words in (_WORTH, _TRAINS, _SERVES))
    beside = [m for m in apart if m in _BESIDE and m not in leading and _best(sides, m).name not in leaders] if not only_price else []
    fp8 = _with_fp8(sides, leaders) if not only_price else None
    marks = working.cite(*(row for side in sides for row in side.rows))
    lead = f"{_told(sides, leading, working, () if 'memory bandwidth' in query.question.lower() else asked)} {marks}."
    further: list[str] = []
    if beside or fp8:
        further.append(f"{_told(sides, beside, working, (), fp8)} {marks}.")
    if _BOUNDS & {*leading}:
        further.append("That is a bound by peaks of data sheets, no measurement.")
    if unpriced:
        further.append(f"No on-demand price of {listed([_the(side) for side in unpriced])} is in the data.")
    draft = working.draft(lead, " ".join(further), *(f"- {side.name}: {line(side, working)}" for side in sides))
    return replace(draft, given=tuple(side.name for side in sides))


def _told(sides: Sequence[Side], measures: Sequence[str], working: Working, asked: Collection[str], fp8: tuple[Side, Side] | None = None) -> str:
    """Tell measures by the side that is ahead; with more than two sides, by their order."""
    ahead: dict[str, list[str]] = {}
    others: list[str] = []
    for measure in measures:
        having, known = sorted(_having(sides, measure), key=lambda side: side.figure(measure) or 0.0, reverse=not _MEASURES[measure].less), _MEASURES[measure]
        figures = [_figure(sides, side, measure, working) for side in having]
        if len(having) > 2:
            names = {figure: [side.name for side, own in zip(having, figures, strict=True) if own == figure] for figure in figures}
            others.append(f"{known.noun}: {', '.join(f'{figure} ({listed(some)})' for figure, some in names.items())}")
        elif _spread(having, measure) <= _SAME:
            others.append(f"both have about the same {known.noun} ({f'{figures[0]} each' if figures[0] == figures[1] else ' and '.join(figures)})")
        else:
            lesser, greater = sorted(side.figure(measure) or 1.0 for side in having)
            ratio = working.figure(f"{greater / lesser:.3g}", f"{greater} / {lesser}", greater, lesser)
            says = _DECODES if measure == "bandwidth" and measure in asked else known.ahead
            times = "twice" if ratio == "2" else f"{ratio} times"
            ahead.setdefault(_the(having[0]), []).append(says.format(times=times, noun=known.noun, best=figures[0], other=figures[1]))
    if fp8:
        ahead.setdefault(_the(fp8[0]), []).append(f"has FP8, which halves the bytes of a weight and which {_the(fp8[1])} lacks")
    text = "; ".join([*(f"{name} {listed(_with_one_verb(clauses))}" for name, clauses in ahead.items()), *others])
    return text if any(text.startswith(side.name) for side in sides) else capital(text)


def _with_one_verb(clauses: Sequence[str]) -> list[str]:
    """Drop the "has" of clauses that follow one with "has": "has twice the …", "1.5 times the …"."""
    return [clause.removeprefix("has ") if before.startswith("has ") else clause for before, clause in zip(["", *clauses], clauses, strict=False)]


def _having(sides: Sequence[Side], measure: str) -> list[Side]:
    return [side for side in sides if side.figure(measure)]


def _with_fp8(sides: Sequence[Side], leaders: Collection[str]) -> tuple[Side, Side] | None:
    """Of two sides, the one with FP8 and the one without; None if they are alike or the one with FP8 leads anyway."""
    for one, other in (sides, sides[::-1]) if len(sides) == 2 else ():
        if one.sheet and other.sheet and one.sheet.tflops.get("fp8") and other.sheet.row.cells.get("FP8") == "no" and one.name not in leaders:
            return one, other
    return None


def _spread(sides: Sequence[Side], measure: str) -> float:
    values = [side.figure(measure) or 1.0 for side in sides]
    return max(values) / min(values)


def _best(sides: Sequence[Side], measure: str) -> Side:
    return (min if _MEASURES[measure].less else max)(sides, key=lambda side: side.figure(measure) or 0.0)


def _figure(sides: Sequence[Side], side: Side, measure: str, working: Working, *, whole: bool = False) -> str:
    """A figure as its row has it, or that of all accelerators together if the sides have different numbers of them."""
    value = side.figure(measure) or 0.0
    if measure == "value":
        return f"{_figure(sides, side, 'bandwidth', working, whole=True)} for {_figure(sides, side, 'price', working)} an hour"
    if measure == "price":
        return working.figure(f"${rounded(value, money=True)}", f"{value}", value)
    if _MEASURES[measure].table != "sheet" or side.number == 1 or (len({s.number for s in sides}) == 1 and not whole):
        return side.says(measure)
    return working.figure(f"{rounded(value)} {_UNITS.get(measure, 'TFLOPS')}", f"{side.number:g} × {value / side.number}", value / side.number)


def line(side: Side, working: Working) -> str:
    """What the rows say about a side, in their own words."""
    of_sheet = sheet_of(side)
    if not side.instance:
        return f"{of_sheet} {working.cite(*side.rows)}."
    each = f"; {'each accelerator: ' if side.number > 1 else ''}{of_sheet}" if of_sheet else ""
    return f"{cells_of(side)}{each} {working.cite(*side.rows)}."


def sheet_of(side: Side) -> str:
    """What the data sheet of a side's accelerator says, with its memory if no machine has it."""
    cells = side.sheet.row.cells if side.sheet else {}
    parts = [
        f"{cells['Memory']} of memory" if cells and not side.instance else "",
        f"{cells['Memory bandwidth']} of memory bandwidth" if _has(cells, "Memory bandwidth") else "",
        f"{cells['BF16']} in BF16" if _has(cells, "BF16") else "",
        f"{cells['FP8']} in FP8" if _has(cells, "FP8") else "no FP8" if cells.get("FP8") == "no" else "",
        f"{cells['Maximum power']} at most" if _has(cells, "Maximum power") else "",
    ]
    return listed([part for part in parts if part])


def cells_of(side: Side) -> str:
    """What the row of a machine says, and its price."""
    assert side.instance
    cells, accelerator = side.instance.row.cells, side.instance.accelerator
    parts = [
        f"{cells['Accelerators']} × {accelerator}, {cells['Accelerator memory total']} of accelerator memory" if accelerator else "",
        f"{cells['vCPUs']} vCPUs",
        f"{cells['Memory']} of memory",
        f"{cells['Network']} of network",
        f"EFA: {cells['EFA']}" if cells.get("EFA") else "",
    ]
    priced = f"; {side.says('price')} an hour on demand in {side.price.region}" if side.price else ""
    return f"{', '.join(part for part in parts if part)}{priced}"


def _has(cells: Mapping[str, str], header: str) -> bool:
    return any(c.isdigit() for c in cells.get(header, ""))


def _the(side: Side) -> str:
    return side.name if side.instance else f"the {side.name}"


# --- beside an answer ------------------------------------------------------------------------------------------------------

_MOST_BESIDE = 3
_OF_MACHINES = ("vCPUs", "Memory", "Network")
_OF_SHEETS = ("Memory", "Memory bandwidth", "BF16", "FP8", "Maximum power")


def figures_beside(question: str, facts: Facts) -> tuple[Comparison, tuple[str, ...]] | None:
    """What the tables say about the two or three pieces of hardware that a question names, with the ids of these tables."""
    named = [candidates(name.name.lower(), question, facts) for name in names(question) if name.kind != "region"]
    sides = _of_one_kind([kin for kin in named if kin])
    # "Trainium" may be its first generation or all of them.
    if not _FEWEST <= len(sides) <= _MOST_BESIDE or any(short(name) in (f"{side.name}2", f"{side.name}3") for side in sides for name in facts.accelerators):
        return None
    told = [_cells(side) for side in sides]
    found = [property_of(name, [[(cells[name], 0)] if name in cells else [] for cells in told]) for name in dict.fromkeys(name for cells in told for name in cells)]
    apart = tuple(replace(one, cells=tuple(replace(cell, numbers=()) for cell in one.cells)) for one in found if len({cell.text for cell in one.cells}) > 1)
    common = tuple(f"{one.name} {one.cells[0].text} {one.unit}".rstrip() for one in found if len({cell.text for cell in one.cells}) == 1)
    tables = dict.fromkeys(row.document for side in sides for row in side.rows[: None if side.instance else 1])
    return (Comparison("", tuple(side.name for side in sides), apart, common, ()), tuple(tables)) if apart else None


def _cells(side: Side) -> dict[str, str]:
    """The figures of a side by their names, its machine's before its accelerator's."""
    sheet = side.sheet.row.cells if side.sheet else {}
    if (instance := side.instance) and side.sheet:
        row = instance.row.cells
        cells = {"Accelerators": f"{side.number:g} × {instance.accelerator}", "Accelerator memory": row.get("Accelerator memory total", "")}
        cells |= {f"{header} of each": sheet.get(header, "") for header in ("Memory bandwidth", "BF16")} | {"Network": row.get("Network", "")}
    elif instance:
        cells = {header: instance.row.cells.get(header, "") for header in _OF_MACHINES}
    else:
        cells = {header: sheet.get(header, "") for header in _OF_SHEETS}
    if instance and side.price:
        cells[f"Price per hour {side.price.terms}"] = f"${rounded(side.price.usd_per_hour, money=True)}"
    return {name: cell for name, cell in cells.items() if any(c.isdigit() for c in cell) or cell == "no"}
