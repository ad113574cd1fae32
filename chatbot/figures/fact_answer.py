"""Answer questions on single table rows, in any wording.

A classifier decides whether a row is asked for; rules read which row and which of its columns.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chatbot.computed import Computed
from chatbot.draft import Draft
from chatbot.figures.offerings import answer_of_places
from chatbot.language.quantities import WORD_NUMBERS, quantities
from chatbot.question.query import Query
from chatbot.sizing.asking import Heard
from chatbot.sizing.conversation import HOLDS_TOGETHER, hear
from chatbot.sizing.facts import Facts
from chatbot.sizing.intent import FACTS
from chatbot.sizing.model_names import family
from chatbot.table import answer_from_table, asks_cells
from chatbot.table.bounds import Reading, take_columns
from chatbot.table.columns import TYPE, Column
from chatbot.table.entities import accelerator_names
from chatbot.table.filters import SENTENCES, strange, types_in
from chatbot.table.instances import Row, load_instances, load_tables
from chatbot.table.lookup import (
    GREATER,
    LESSER,
    Asked,
    direction,
    lines_of,
    take_columns_of,
    take_things,
    tell,
    value_of,
)
from chatbot.table.row_phrases import describe
from chatbot.table.selection import with_own_memory
from chatbot.table.writing import Writing
from chatbot.working import load, rounded
from ingest import Index

_KEYS = {"fact_model": "Model", "fact_accelerator": "Accelerator", "fact_region": "Region", "fact_instance": TYPE, "fact_price": TYPE}
# Thresholds on the probability that a question asks for what a row says: to be considered, to be answered, and to be
# refused if no row says it.
_POSSIBLY, _ASKED, _SURELY = 0.1, 0.45, 0.8
# The same for a list of instance types: of the whole turn, and of one of its sentences.
_SOUGHT, _BY_A_SENTENCE = 0.5, 0.95
_SHOWN = 8
_WHETHER = re.compile(
    r"^\W*(?:(?:so|and|but|hm+|hey|hi|ok)\W+)*(?:is|are|does|do|did|has|have|can|was|isn['’]?t|aren['’]?t|doesn['’]?t|hat|ist|a-t-il|est-ce|tiene|ha)\b"
    r"|\b(?:right|correct|true|false|really|wrong|sure|confirm|agree|(?:is|does|has|do|are)n['’]?t (?:it|that|they)|is (?:it|that) not|is it|am i|stimmt|richtig|oder|vrai|exact|n['’]est-ce pas|verdad|cierto|correcto|vero|giusto|certo|innit|ne|yes|no)\W*(?:[?.!]|$)"
    r"|\b(?:whether|really (?:has|have|use|uses|a|an|only)|stimmt|true that|es cierto|è vero|est-ce que|is (?:it|that) (?:true|right|correct))\b|(?:ですか|ますか|吗|嗎|对吗)"
)
_REASON = re.compile(r"\b(?:why|when (?:was|were|did|is)|who (?:made|makes)|warum|wieso|pourquoi|por qué|perché)\b")
_WHICH = re.compile(r"\b(?:how (?:many|much|big|large|deep|long|wide)|what(?:['’]s| is| are)?|which|wie ?viele?|combien|cu[aá]nt[ao]s?|quant[io]|quel(?:le)?s?)\b|何|几|多少|いくつ|いくら|どの|どれ")
_NUMBER = re.compile(r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)\s?(k|m|b|t|million|billion|trillion|kw|tb)?(?![\w.]*\d)", re.IGNORECASE)
_SCALES = {"k": (1e3, 1024.0), "m": (1e6, 2.0**20), "million": (1e6,), "b": (1e9,), "billion": (1e9,), "t": (1e12,), "trillion": (1e12,), "kw": (1e3,), "tb": (1e3, 1024.0)}
_SCALED = {"B": 1e9, "T": 1e12, "M": 1e6}


@dataclass(frozen=True, slots=True)
class Told:
    """What rows say about things in some of their columns. A draft without text is a refusal: no row has it."""

    draft: Draft
    key: str = ""
    names: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    whole: bool = False
    """Whether the question consists only of names, columns and words without content: then the rows are the whole answer."""

    def stands_in(self, said: str, index: Index) -> bool:
        """Whether a text names one of the things and mentions one of the columns, so that it may say more than the rows."""
        reading = Reading(said.lower())
        if self.key == TYPE:
            return bool(set(types_in(said, self.names)) and set(take_columns(reading)) & set(self.columns))
        rows = load_tables(index)[self.key] if self.key else ()
        return bool(set(take_things(reading, self.key, rows)) & set(self.names) and set(take_columns_of(reading, self.key, rows)) & set(self.columns))


def row_answer(query: Query, index: Index) -> Draft | None:
    """Answer a question that rows of instance types answer alone, whatever documents say; None for any other question."""
    if query.options:
        return None
    return answer_of_places(query, index) or answer_from_table(query, (), (), index, alone=True) or _listed(query, index)


def _listed(query: Query, index: Index, least: float = _SOUGHT) -> Draft | None:
    """List the rows that match what a turn names, in any wording, if the classifier finds that the turn or one of its
    sentences asks for instance types."""
    tables = load(index)
    heard = hear(query.question, query.history, tables.known) if tables.facts.models else None
    if heard is None or heard.said.unknown or (heard.computed and heard.label != "cheapest"):
        return None
    sentences = SENTENCES.split(query.question) if not heard.said.slots.keys() & _OF_MODELS else []
    said = (hear(part, query.history, tables.known) for part in sentences if len(sentences) > 1 and part.strip())
    is_sought = _sought(heard) > least or any(one.likely["fact_instance"] > _BY_A_SENTENCE for one in said if one)
    return answer_from_table(query, (), (), index, alone=True, sought=True) if is_sought else None


_OF_MODELS = frozenset({"model", "parameters"})


def _sought(heard: Heard) -> float:
    """The probability that instance types are sought by their properties. Asking for the cheapest counts too, if no
    model is to be placed."""
    return heard.likely["fact_instance"] + (heard.likely["cheapest"] if heard.likely["fact_instance"] > _POSSIBLY and not heard.said.slots.keys() & _OF_MODELS else 0.0)


def asks_rows(query: Query, index: Index) -> bool:
    """Whether a question consists only of names and columns, or surely asks for rows, so that a prepared answer to a
    similar question does not fit."""
    told = told_by_rows(query, index) if not query.yes_no and not query.options else None
    points = query.history and not query.options and _POINTS.search(query.question)
    pointed = points and (answer_of_places(query, index) or (query.typed != query.question and answer_from_table(query, (), (), index, alone=True)))
    return bool(pointed) or bool(told and told.whole and told.draft.text) or asks_cells(query, index) or bool(not query.options and _listed(query, index, _SURELY))


# Points at what earlier turns name.
_POINTS = re.compile(r"\b(?:it|they|them|both|the (?:first|former|second|latter|third|last|cheaper|cheapest))\b", re.IGNORECASE)


def whole_row(query: Query, index: Index) -> Draft | None:
    """What rows say, if a question consists only of names, columns and words without content."""
    told = told_by_rows(query, index)
    return told.draft if told and told.whole and told.draft.text else None


def told_by_rows(query: Query, index: Index) -> Told | None:
    """What rows say about what a question asks for, if nothing has to be computed for it."""
    tables = load(index)
    heard = hear(query.question, query.history, tables.known) if tables.facts.models else None
    return tell_rows(query, heard, tables.facts, index) if heard and not heard.computed else None


def tell_rows(query: Query, heard: Heard, facts: Facts, index: Index) -> Told | None:
    """The cells that a question asks for, each from its row; None if it asks for none."""
    likely = sum(heard.likely[label] for label in FACTS)
    if heard.said.slots.keys() == {"region"} and heard.said.several.get("region"):
        likely += heard.likely["carbon"]  # without hardware or energy, carbon is that of the grids
    tables = load_tables(index)
    history = [turn.question.lower() for turn in reversed(query.history)]
    if _REASON.search(heard.said.text):
        return None
    if likely + heard.likely["fact_price"] < _ASKED:
        told = _things("Accelerator", heard, tables["Accelerator"], history, facts) if "Accelerator" in tables and not heard.computed else None
        return told if told and told.whole else None
    # Columns that only data sheets have, such as number formats, belong to the accelerator, even if a question sounds
    # like one on a machine.
    sheets = tables.get("Accelerator", ())
    of_a_sheet = "fact_accelerator" if set(take_columns_of(Reading(heard.said.text), "Accelerator", sheets)) - {"Memory"} else ""
    for label in sorted((label for label in _KEYS if heard.likely[label] > _POSSIBLY or label == of_a_sheet), key=lambda label: (label != of_a_sheet, -heard.likely[label])):
        key = _KEYS[label]
        told = _instances(query, heard, history, index) if key == TYPE else _things(key, heard, tables[key], history, facts) if key in tables else None
        if told:
            return told
    if heard.computed:
        return None
    unknown = heard.said.unknown or heard.asked.unknown or (heard.likely["fact_model"] >= _ASKED and "parameters" in heard.said.slots)
    return Told(_NONE) if unknown and likely >= _SURELY else None


_NONE = Draft("", ())


def _things(key: str, heard: Heard, rows: Sequence[Row], history: Sequence[str], facts: Facts) -> Told | None:
    """What rows say about a model, an accelerator or a region, or which of them ranks first."""
    reading = Reading(heard.said.text)
    names = _names(key, reading, heard, rows)
    if not names and heard.said.unknown and history:
        return Told(_NONE)
    if not names and HOLDS_TOGETHER.search(heard.said.text):
        # The two things that earlier turns named last, in the order in which they were named.
        names = tuple(dict.fromkeys(name for turn in history for name in reversed(take_things(Reading(turn), key, rows))))[1::-1]
    if not names and "parameters" in heard.said.slots:
        names = _named_before(key, heard, facts)  # "and the 32B?"
    most = direction(Reading(reading.text), key) if not names and _RANKS.search(heard.said.text) else None
    columns = _meant(take_columns_of(reading, key, rows), " ".join([heard.said.text, *history[:1]]), reading.text)
    if most is not None and not columns:
        columns = ("Grid carbon intensity",) if key == "Region" and _CLEAN.search(heard.said.text) else next((found for turn in history if (found := take_columns_of(_without_names(turn, key, rows), key, rows))), ())
    if not names and not columns:
        return None if len(heard.said.text.split()) > 6 else _as_before(key, rows, history)
    if most is None:
        names = names or next((found for turn in history if (found := take_things(Reading(turn), key, rows))), ()) or _named_before(key, heard, facts)
        columns = columns or next((found for turn in history if (found := take_columns_of(_without_names(turn, key, rows), key, rows))), ())
    if not columns or not (names or most is not None):
        return None
    greater, lesser = bool(GREATER.search(heard.said.text)), bool(LESSER.search(heard.said.text))
    told = _written(Asked(key, names, columns, most, None if greater == lesser else greater), rows, heard.said.text, reading.text)
    whole = most is None and not (_MORE_THAN_CELLS.search(heard.said.text) or set(strange(reading.text)) - _FRAME)
    return replace(told, whole=whole) if told else None


_MORE_THAN_CELLS = re.compile(r"\b(?:when|where|who|why|should|would|instances?|machines?)\b")
_FRAME = frozenset(["chip", "chips", "gpu", "gpus", "card", "cards", "accelerator", "accelerators", "single", "capacity", "compute", "peak", "dense", "much"])


_RANKS = re.compile(r"\b(?:which|what(?:['’]s| is)? the|welche[rs]?|quel(?:le)?|cu[aá]l|la regi[oó]n con|qual[ei]?|of all|of the|any|rank|list|(?:the|a) \w+ with the|who(?:se)?|(?:best|worst|highest|lowest|cleanest|dirtiest) \w+ (?:of any|of all|in the|in your|you))\b|^\W*(?:(?:and|und|et|y|e|which is) )?(?:(?:the|die|der|das|la|le|el|il) )?(?:best|worst|highest|lowest|cleanest|dirtiest|greenest|biggest|largest|longest|sauberste|schmutzigste)\b")


def _meant(columns: tuple[str, ...], text: str, rest: str) -> tuple[str, ...]:
    """Drop or replace columns whose words belong to another column: "how big is its vocabulary" does not ask for parameters."""
    found = list(columns)
    experts = bool(re.search(r"e[kx]?[sx]p[eé]rt|router|top-?k|专家|エキスパート", text))
    weights = bool(re.search(r"par[aá]m|weight|billion|(?<![\w.-])\d+(?:\.\d+)? ?b\b|参数|パラメータ", text))
    for one, other, holds in (
        ("Parameters", "", len(found) > 1 and not weights and not re.search(r"\bin total|all told|altogether", text)),
        ("Experts per token", "Active parameters", not experts and weights),
        ("Active parameters", "Experts per token", experts and not weights),
        ("Memory", "", "Memory bandwidth" in found and not re.search(r"\band\b|,|\+|&|/|\bplus\b|\b[yeu]\b|\bund\b|\bet\b", rest)),
        ("Memory bandwidth", "", "NVLink" in found and "memory" not in text),
    ):
        if one in found and holds:
            found = [c for c in found if c != one and c != other] if not other else list(dict.fromkeys(other if c == one else c for c in found))
    return tuple(found)


_CLEAN = re.compile(r"clean|dirt|green|filth|pollut|carbon|co[2₂]|emi[ts]|sauber|schmutz|propre|\bsale\b|limpi|suci|pulit|sporc")


def _as_before(key: str, rows: Sequence[Row], history: Sequence[str]) -> Told | None:
    """Repeat what the previous turn asked for, as for "Numbers, both"."""
    for turn in history[:1]:
        reading = Reading(turn)
        names, columns = take_things(reading, key, rows), take_columns_of(reading, key, rows)
        if names and columns:
            return _written(Asked(key, names, columns, None, None), rows, "", "")
    return None


def _without_names(text: str, key: str, rows: Sequence[Row]) -> Reading:
    reading = Reading(text)
    take_things(reading, key, rows)
    return reading


def _names(key: str, reading: Reading, heard: Heard, rows: Sequence[Row]) -> tuple[str, ...]:
    """The things that a question itself names; a model family without a size stands for all its models."""
    slot = {"Model": "model", "Accelerator": "accelerator", "Region": "region"}[key]
    said = heard.said
    named = take_things(reading, key, rows)
    there = {row.name: next(iter(row.cells.values())) for row in rows}
    if not named and slot in said.slots:
        found = (said.slots[slot], *(change[slot] for change in said.several.get(slot, ())))
        named = tuple(name for value in found for name in there.values() if value.lower() in (name.lower(), *(accelerator_names(name) if key == "Accelerator" else ())))
    if not named and key == "Model" and said.unknown:
        reading.text = reading.text.replace(said.unknown, " | ")
        named = family(said.unknown, tuple(there.values()))
    return named


def _named_before(key: str, heard: Heard, facts: Facts) -> tuple[str, ...]:
    """What earlier turns are about: the model, the region, or the accelerator of the machine."""
    work = heard.asked.workload
    if key == "Model":
        return (work.model,) if work.model else ()
    if key == "Region":
        return (work.region,) if work.region else ()
    instance = facts.instances.get(work.instance_type or "")
    return (instance.accelerator,) if instance and instance.accelerator else ()


def _written(asked: Asked, rows: Sequence[Row], question: str, rest: str) -> Told | None:
    """Write the cells as lines, after a verdict if the question claims a figure; a refusal if no cell has a published value."""
    told = lines_of(asked, rows)
    found = Told(_NONE, asked.key, asked.names, asked.columns)
    if all(_is_unpublished(row.cells[column]) for column, _, row in told):
        return found
    claims = _claims(rest)
    if asked.key == "Accelerator" and "Memory" not in asked.columns and (sized := [line for line in told if _is_claimed(line[2].cells["Memory"], claims)]):
        told = sized  # only the rows of that size: "an A100 with 80 GB"
    cells = [row.cells[column] for column, _, row in told]
    verdict = _verdict(question, rest, cells) if asked.most is None and len(asked.names) != 2 else ""
    writing = Writing(())
    if len(told) > len(asked.names) and len(asked.columns) > 1:
        wrong = [line for line, cell in zip(told, cells, strict=True) if not _is_claimed(cell, claims)]
        told = [*wrong, *(line for line in told if line not in wrong)] if verdict == "No" else told
    tell(asked, told[: _SHOWN * len(asked.columns)], writing, f"{verdict}: " if verdict else "")
    draft = writing.draft()
    gap, computed = _gap(told) if _BY_HOW_MUCH.search(question) else ("", ())
    if gap:
        draft = replace(draft, text=f"{draft.text}\n{gap}", computed=computed, said=f"{question} CO2e")
    return replace(found, draft=draft)


_BY_HOW_MUCH = re.compile(r"%|\b(?:percent|differ\w*|gap|ratio|factor|times|by how much|how much \w+|numbers|um wie ?viel|combien|cu[aá]nt[ao]s?|quanto)\b")


def _gap(told: Sequence[tuple[str, str, Row]]) -> tuple[str, tuple[Computed, ...]]:
    """The difference between two cells of one column, as a number, in percent and as a factor; empty unless they are
    two different numbers."""
    values = [value_of(row, column) for column, _, row in told]
    if len(told) != 2 or told[0][0] != told[1][0] or not all(values) or values[0] == values[1]:
        return "", ()
    (low, less), (high, more) = sorted((float(value or 0), next(iter(row.cells.values()))) for value, (_, _, row) in zip(values, told, strict=True))
    lower = Computed(rounded(high - low), f"{high:g} - {low:g}")
    percent = Computed(f"{rounded(100 * (high - low) / high)} %", f"100 × ({high:g} - {low:g}) / {high:g}", 1.0, (100,))
    times = Computed(f"{rounded(high / low)} times", f"{high:g} / {low:g}")
    higher = Computed(f"{rounded(100 * (high - low) / low)} %", f"100 × ({high:g} - {low:g}) / {low:g}", 1.0, (100,))
    return f"{less} has {lower.text} less, which is {percent.text}; {more} has {times.text} as much, {higher.text} more [1][2].", (lower, percent, times, higher)


def _is_unpublished(cell: str) -> bool:
    return not re.search(r"\d", cell) and cell not in ("yes", "no")


def _claims(text: str) -> list[tuple[float, ...]]:
    """The numbers of a text, each with its possible values: 128k is 128,000 or 131,072."""
    text = re.sub(r"\b[a-zäöüß]+\b", lambda word: str(WORD_NUMBERS.get(word.group(), word.group())), text)
    found = ((float(m[1].replace(",", "").rstrip(".") or 0), (m[2] or "").lower()) for m in _NUMBER.finditer(text))
    return [(number, *(number * scale for scale in _SCALES.get(unit, ()))) for number, unit in found]


def _read(cell: str) -> tuple[float, ...]:
    """The first number of a cell, as written and with its scale; empty if it has none."""
    match = re.search(r"\d[\d,]*(?:\.\d+)?", cell)
    if not match:
        return ()
    number = float(match.group().replace(",", ""))
    return (number, number * _SCALED.get(cell[match.end() : match.end() + 1], 1.0))


def _is_claimed(cell: str, claims: Sequence[Sequence[float]]) -> bool:
    return any(abs(value - claim) <= 0.012 * value for meanings in claims for claim in meanings for value in _read(cell))


_LIMIT = re.compile(r"\b(?:(?P<under>under|below|less than|fewer than|at most|no more than|within|unter|moins de|menos de|meno di|beneath)|(?:over|above|more than|at least|beyond|exceeds?|über|plus de|más de|più di|north of))\b")
# Limits that the number itself keeps.
_REACHED = ("at most", "no more than", "within", "at least")
# A comparison with another row or turn: the row alone gives neither yes nor no.
_AS_ANOTHER = re.compile(r"\b(?:same|equal|identical|different)\b", re.IGNORECASE)


def _verdict(question: str, rest: str, cells: Sequence[str]) -> str:
    """The verdict on what a question claims about cells ("Yes" or "No"); empty if it only asks."""
    if not _WHETHER.search(question) or _AS_ANOTHER.search(question):
        return ""
    limit, claims, asks = _LIMIT.search(question), _claims(rest), bool(_WHICH.search(question))
    if limit and len(claims) == 1 and len(cells) == 1 and (read := _read(cells[0])):
        value, claimed = read[-1] if len(claims[0]) > 1 else read[0], max(claims[0])
        # In one unit, if both have one: 1T parameters are more than 900 billion.
        in_units = {q.dimension: q.low for q in quantities(cells[0])} | {"parameters": read[-1]}
        same = (q for q in quantities(question[limit.start() :]) if q.dimension != "count" and q.dimension in in_units)
        value, claimed = next(((in_units[q.dimension], q.low or q.high) for q in same), (value, claimed))
        holds = limit.group() in _REACHED if value == claimed else (value < claimed) == bool(limit["under"])
        return "" if asks else "Yes" if holds else "No"
    if claims:
        right = all(_is_claimed(cell, claims) for cell in cells)
        if " or " in question or (right and asks):
            return ""
        return "Yes" if right else "No"
    return "" if asks else "No" if all(cell == "no" for cell in cells) else "Yes"


# --- instance types -------------------------------------------------------------------------------------------------------

_INSIDE = re.compile(r"\b(?:what(?:['’]?s| is)? (?:in(?:side)?|under the hood)|inside|specs?|specification|equipped|kitted|hardware of|consists? of|made of)\b")


def _instances(query: Query, heard: Heard, history: Sequence[str], index: Index) -> Told | None:
    """What rows say about instance types; None if only a price is asked for, which is computed."""
    if not history and answer_from_table(query, (), (), index):
        return None  # only names and columns, which documents may answer too
    known = load_instances(index).at(heard.asked.workload.region or "")
    reading = Reading(heard.said.text)
    names = tuple(dict.fromkeys(_types(heard, reading, known.rows)))
    if not names:
        return None
    cards = "|".join(map(re.escape, known.accelerators))
    reading.text = re.sub(rf"\b(?:how many|number of|count of|wie ?viele?|combien de|cu[aá]ntas?|quante|four|two|one|eight|\d+)(?: nvidia| aws| of the)? (?:{cards})['’]?s?(?![\w-])", "gpus", reading.text)
    accelerated = all(known.rows[name][0].number("accelerators") for name in names)
    named = re.search(rf"(?<![\w.-])(?:{cards})['’]?s?(?![\w.-])", reading.text)
    columns = _columns(reading, heard.said.text, accelerated=accelerated) or (("accelerators",) if named else ())
    if not columns and "instance_type" in heard.said.slots and not heard.computed:
        columns = next((found for turn in history if (found := _columns(Reading(turn), turn, accelerated=accelerated))), ())
    if not set(columns) - {"price"} or (heard.computed and "price" not in columns and heard.likely["fact_price"] > _SURELY):
        return None
    writing, lead = Writing(()), ""
    if len(names) == 1:
        row = known.rows[names[0]][0]
        cells = [row.says(column) for column in columns if column != "price"]
        claims_others = _other_accelerators(heard.said.text, row, known.accelerators)
        verdict = "No" if claims_others else _verdict(heard.said.text, reading.text, cells) if cells != [""] else ""
        lead = f"{verdict}: " if verdict else ""
    for rows in (known.rows[name] for name in names[:_SHOWN]):
        if describe(rows[0], columns):
            writing.newest(rows, columns, lead=lead, opening="- " if len(names) > 1 else "")
    return Told(writing.draft(), TYPE, names, columns) if writing.lines else None


_COUNT = re.compile(r"\b(?:(?:the |and )?count|how many|wie ?viele?|combien|cu[aá]nt[ao]s|quant[ei]|number)(?: (?:of|von|de) (?:them|those|these|it|denen))?(?= in\b| has\b| does\b| hat\b|\W*(?:and\b|plus\b|,|[?]|$))|\b(?:four|two|single|one|\d+)[ -]card\b|几(?:块|张|个)|いくつ|\bile kart")
_BANDWIDTH = re.compile(r"\b(?:bandwidth|bandbreite|bande passante|fast|speed|[gt]b/s)\b")
_PRICE = re.compile(r"\bhourly\b|\b(?:per|an|the) hour\b|/ ?h(?:ou)?r?\b|\$|\bprice|\bcosts?\b|\brate\b|how much (?:is|are)|all['’]ora|de l['’]heure|por hora|pro stunde|die stunde|料金|价格")


def _columns(reading: Reading, text: str, *, accelerated: bool = True) -> tuple[Column, ...]:
    """The columns that a question mentions; for a machine with accelerators, "memory" may mean theirs."""
    found: list[Column] = [c for c in take_columns(reading) if not (c in ("memory", "total", "each") and _BANDWIDTH.search(text))]
    found += ["memory"] if re.search(r"显存|内存|メモリ", text) and not found else []
    found += ["vcpus"] if re.search(r"\b(?:cores?|cpus?|kerne?|cœurs|núcleos)\b", reading.text) else []
    if _COUNT.search(reading.text) or (not found and _INSIDE.search(text)):
        found.append("accelerators")
    found = with_own_memory(found, text, accelerated=accelerated)
    if _INSIDE.search(text) and set(found) <= {"accelerators"}:
        found += ["total", "vcpus", "memory"]
    if found and _PRICE.search(text) and not {"embodied", "host"} & set(found):
        found.append("price")
    return tuple(dict.fromkeys(found))


def _types(heard: Heard, reading: Reading, known: Mapping[str, tuple[Row, ...]]) -> Iterator[str]:
    """The instance types that are named, or those of a family that is meant, or else that of earlier turns."""
    said, work = heard.said, heard.asked.workload
    for written in re.findall(r"(?<![\w.])[a-z]{1,5}\d+[a-z]*(?:-\w+)?\s?\.\s?\w+(?:-\w+)?", reading.text):
        reading.text = reading.text.replace(written, " | ")
    if "instance_type" in said.slots:
        yield said.slots["instance_type"]
        yield from (change["instance_type"] for change in said.several.get("instance_type", ()) if change["instance_type"])
    elif families := said.slots.get("families"):
        yield from (name for name, rows in known.items() if rows[0].family in families)
    elif work.instance_type:
        yield work.instance_type


def _other_accelerators(text: str, row: Row, known: frozenset[str]) -> bool:
    """Whether a question claims that a machine has accelerators that it does not have: "p4d has H100s, right?"."""
    named = {name for name in known if re.search(rf"(?<![\w.-]){re.escape(name)}s?(?![\w.-])", text)}
    return bool(_WHETHER.search(text)) and bool(named) and not named & row.accelerator_names
