"""Compare hardware: figures from table rows side by side, after what they mean for what is asked."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

from chatbot.draft import Draft
from chatbot.figures.fact_answer import tell_rows
from chatbot.figures.hardware_answer.units import asks_unit
from chatbot.figures.hardware_sides import MEASURES, Side, candidates, line, of_one_kind, rented
from chatbot.language.names import names
from chatbot.question.query import Query
from chatbot.sizing.conversation import hear
from chatbot.sizing.facts import Facts
from chatbot.sizing.intent import FACTS
from chatbot.table import answer_from_table
from chatbot.table.filters import strange
from chatbot.table.row_phrases import listed
from chatbot.working import Working, capital, load, rounded
from ingest import Index

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
# Words that ask what a price buys, not only what it is.
_WORTH = re.compile(r"\b(?:extra|more) money|\bpremium|\bprice difference|\bworth|\bpay", re.IGNORECASE)
_ONLY = re.compile(r"\b(?:only|just) (?:the|in|more|about)\b|\bwhat else\b|\bapart from\b", re.IGNORECASE)


def compare_hardware(query: Query, index: Index, *, before_rows: bool = False) -> Draft | None:
    """Draft the figures of two to six pieces of hardware side by side, after what they mean for what is asked.

    None if the question is of another kind or, unless it goes `before_rows`, if rows tell what is asked without a comparison.
    """
    tables = load(index)
    sides = _sides(query, tables.facts)
    asked = (_asked(query.question) if query.history else []) or _asked(query.standalone)
    if not sides or _is_of_another_kind(query, asked, index, before_rows=before_rows):
        return None
    if not before_rows and answer_from_table(query, (), (), index):
        return None
    unpriced: list[Side] = []
    if {"value", "price"} & set(asked):
        sold = rented(sides, tables.facts)
        unpriced = [side for side in sold if not side.price]
        sides = sold if all(side.instance for side in sold) else sides
    return _draft(sides, asked, unpriced, query, Working(tables, index, [query.standalone, "BF16 FP8"]))


def precedes_rows(query: Query, index: Index) -> bool:
    """Whether a comparison goes before rows: "which has more memory?" of accelerators, or of what an earlier turn names."""
    if not (_WHICH_OF_THEM.search(query.question) and _asked(query.question)):
        return False
    return _is_of_them(query) or bool((sides := _sides(query, load(index).facts)) and not any(side.instance for side in sides))


def _is_of_them(query: Query) -> bool:
    return bool(query.history and not names(query.question) and _WHICH_OF_THEM.search(query.question))


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
        of_line = any(i.family.startswith(name.name.lower()) for i in facts.instances.values())
        if side is None and (name.kind != "code" or name.name in query.unknown or of_line):
            return []
        if side:
            found.insert(0, side)
            text = f"{text[: name.start]}|{text[name.start + len(name.text) :]}"
    if not _JOINED.search(text) or not (_is_of_them(query) or (_HELD.search(text) and names(query.question))):
        return []
    sides = of_one_kind(found)
    return sides if _FEWEST <= len(sides) <= _MOST and len({bool(side.sheet) for side in sides}) == 1 else []


def _is_of_another_kind(query: Query, asked: Sequence[str], index: Index, *, before_rows: bool) -> bool:
    """Whether the question must be answered otherwise: by rows without a comparison, by documents, or by the arithmetic
    of a workload. The latter two also if too many of its words are not understood."""
    tables = load(index)
    if (heard := hear(query.question, query.history, tables.known)) is None:
        return True
    if not asked and heard.said.slots.get("region"):
        return True  # about what a region has
    work = heard.asked.workload
    budgets = (work.budget, work.budget_per_hour, work.budget_per_month)
    if any((*budgets, work.hours, work.tokens, work.kwh, work.sequences, work.tokens_per_second, work.instances)):
        return True
    if asks_unit(query.question) or _OF_DOCUMENTS.search(query.standalone.lower()):
        return True
    of_rows = not before_rows and heard.label in FACTS
    if of_rows and (told := tell_rows(query, heard, tables.facts, index)) and told.draft.text:
        return True
    if heard.computed and (heard.label not in ("cost", "cost_difference", "cheapest") or asked == ["price"]):
        return True
    rest = heard.said.plain
    for words in _TOPICS.values():
        rest = words.sub(" ", rest)
    return sum(not word.isdigit() and word not in _FRAME for word in strange(rest)) > _UNREAD


def _draft(sides: Sequence[Side], asked: Sequence[str], unpriced: Sequence[Side], query: Query, working: Working) -> Draft | None:
    """Draft the verdict on what is asked, what speaks for the other sides, and a line for each side."""
    working.say(*(side.name for side in (*sides, *unpriced)))
    known = [m for m in MEASURES if m != "value" and len(_having(sides, m)) == len(sides)]
    apart = sorted((m for m in known if _spread(sides, m) > _SAME), key=lambda m: -_spread(sides, m))
    leading = [m for m in asked if len(_having(sides, m)) > 1] or [m for m in apart if m in _CORE] or [*apart[:3], *_CORE]
    leading = [m for m in leading if len(_having(sides, m)) > 1]
    if not leading or not apart:
        return None
    leaders = {_best(_having(sides, m), m).name for m in leading if m in apart or m == "value"}
    beside = [m for m in apart if m in _BESIDE and m not in leading and _best(sides, m).name not in leaders]
    fp8 = _with_fp8(sides, leaders)
    if asked == ["price"] and not any(words.search(query.standalone) for words in (_WORTH, _TRAINS, _SERVES)):
        beside, fp8 = [], None
    marks = working.cite(*(row for side in sides for row in side.rows))
    of_speed = () if "memory bandwidth" in query.question.lower() else asked
    lead = f"{_told(sides, leading, working, of_speed)} {marks}."
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
        known = MEASURES[measure]
        having = sorted(_having(sides, measure), key=partial(_value, measure), reverse=not known.less)
        figures = [_figure(sides, side, measure, working) for side in having]
        if len(having) > 2:
            names = {figure: [side.name for side, own in zip(having, figures, strict=True) if own == figure] for figure in figures}
            others.append(f"{known.noun}: {', '.join(f'{figure} ({listed(some)})' for figure, some in names.items())}")
        elif _spread(having, measure) <= _SAME:
            both = f"{figures[0]} each" if figures[0] == figures[1] else " and ".join(figures)
            others.append(f"both have about the same {known.noun} ({both})")
        else:
            lesser, greater = sorted(side.figure(measure) or 1.0 for side in having)
            ratio = working.figure(f"{greater / lesser:.3g}", f"{greater} / {lesser}", greater, lesser)
            says = _DECODES if measure == "bandwidth" and measure in asked else known.ahead
            times = "twice" if ratio == "2" else f"{ratio} times"
            clause = says.format(times=times, noun=known.noun, best=figures[0], other=figures[1])
            ahead.setdefault(_the(having[0]), []).append(clause)
    if fp8:
        ahead.setdefault(_the(fp8[0]), []).append(f"has FP8, which halves the bytes of a weight and which {_the(fp8[1])} lacks")
    text = "; ".join([*(f"{name} {listed(_with_one_verb(clauses))}" for name, clauses in ahead.items()), *others])
    return text if any(text.startswith(side.name) for side in sides) else capital(text)


def _with_one_verb(clauses: Sequence[str]) -> list[str]:
    """Drop the "has" of clauses that follow one with "has": "has twice the …", "1.5 times the …"."""
    pairs = zip(["", *clauses], clauses, strict=False)
    return [clause.removeprefix("has ") if before.startswith("has ") else clause for before, clause in pairs]


def _value(measure: str, side: Side) -> float:
    return side.figure(measure) or 0.0


def _having(sides: Sequence[Side], measure: str) -> list[Side]:
    return [side for side in sides if side.figure(measure)]


def _with_fp8(sides: Sequence[Side], leaders: Collection[str]) -> tuple[Side, Side] | None:
    """Of two sides, the one with FP8 and the one without; None if they are alike or the one with FP8 leads anyway."""
    for one, other in (sides, sides[::-1]) if len(sides) == 2 else ():
        lacks = other.sheet and other.sheet.row.cells.get("FP8") == "no"
        if lacks and one.sheet and one.sheet.tflops.get("fp8") and one.name not in leaders:
            return one, other
    return None


def _spread(sides: Sequence[Side], measure: str) -> float:
    values = [side.figure(measure) or 1.0 for side in sides]
    return max(values) / min(values)


def _best(sides: Sequence[Side], measure: str) -> Side:
    return (min if MEASURES[measure].less else max)(sides, key=partial(_value, measure))


def _figure(sides: Sequence[Side], side: Side, measure: str, working: Working, *, whole: bool = False) -> str:
    """A figure as its row has it, or that of all accelerators together if the sides have different numbers of them."""
    value = side.figure(measure) or 0.0
    if measure == "value":
        return f"{_figure(sides, side, 'bandwidth', working, whole=True)} for {_figure(sides, side, 'price', working)} an hour"
    if measure == "price":
        return working.figure(f"${rounded(value, money=True)}", f"{value}", value)
    if MEASURES[measure].table != "sheet" or side.number == 1 or (len({s.number for s in sides}) == 1 and not whole):
        return side.says(measure)
    each = value / side.number
    return working.figure(f"{rounded(value)} {_UNITS.get(measure, 'TFLOPS')}", f"{side.number:g} × {each}", each)


def _the(side: Side) -> str:
    return side.name if side.instance else f"the {side.name}"
