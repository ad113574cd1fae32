"""Answer questions on single table rows, in any wording.

A classifier decides whether a row is asked for; rules read which row and which of its columns.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chatbot.computed import Computed
from chatbot.draft import Draft
from chatbot.figures.claims import claims_of, is_claimed, verdict_on
from chatbot.figures.instance_facts import SHOWN, of_instances
from chatbot.figures.offerings import answer_of_places
from chatbot.question.query import Query
from chatbot.sizing.asking import Heard
from chatbot.sizing.conversation import HOLDS_TOGETHER, hear
from chatbot.sizing.facts import Facts
from chatbot.sizing.intent import FACTS
from chatbot.sizing.model_names import family
from chatbot.table import answer_from_table, asks_cells
from chatbot.table.bounds import Reading, take_columns
from chatbot.table.columns import TYPE
from chatbot.table.entities import accelerator_names
from chatbot.table.filters import SENTENCES, strange, types_in
from chatbot.table.instances import Row, load_tables
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
from chatbot.table.writing import Writing
from chatbot.working import load, rounded
from ingest import Index

_KEYS = {"fact_model": "Model", "fact_accelerator": "Accelerator", "fact_region": "Region", "fact_instance": TYPE, "fact_price": TYPE}
# Thresholds on the probability that a question asks for what a row says: to be considered, to be answered, and to be
# refused if no row says it.
_POSSIBLY, _ASKED, _SURELY = 0.1, 0.45, 0.8
# The same for a list of instance types: of the whole turn, and of one of its sentences.
_SOUGHT, _BY_A_SENTENCE = 0.5, 0.95
_REASON = re.compile(r"\b(?:why|when (?:was|were|did|is)|who (?:made|makes)|warum|wieso|pourquoi|por qué|perché)\b")
_OF_MODELS = frozenset({"model", "parameters"})
# Points at what earlier turns name.
_POINTS = re.compile(r"\b(?:it|they|them|both|the (?:first|former|second|latter|third|last|cheaper|cheapest))\b", re.IGNORECASE)
_MORE_THAN_CELLS = re.compile(r"\b(?:when|where|who|why|should|would|instances?|machines?)\b")
_FRAME = frozenset(["chip", "chips", "gpu", "gpus", "card", "cards", "accelerator", "accelerators", "single", "capacity", "compute", "peak", "dense", "much"])
_RANKS = re.compile(r"\b(?:which|what(?:['’]s| is)? the|welche[rs]?|quel(?:le)?|cu[aá]l|la regi[oó]n con|qual[ei]?|of all|of the|any|rank|list|(?:the|a) \w+ with the|who(?:se)?|(?:best|worst|highest|lowest|cleanest|dirtiest) \w+ (?:of any|of all|in the|in your|you))\b|^\W*(?:(?:and|und|et|y|e|which is) )?(?:(?:the|die|der|das|la|le|el|il) )?(?:best|worst|highest|lowest|cleanest|dirtiest|greenest|biggest|largest|longest|sauberste|schmutzigste)\b")
_CLEAN = re.compile(r"clean|dirt|green|filth|pollut|carbon|co[2₂]|emi[ts]|sauber|schmutz|propre|\bsale\b|limpi|suci|pulit|sporc")
_BY_HOW_MUCH = re.compile(r"%|\b(?:percent|differ\w*|gap|ratio|factor|times|by how much|how much \w+|numbers|um wie ?viel|combien|cu[aá]nt[ao]s?|quanto)\b")


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


_NONE = Draft("", ())


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


def _sought(heard: Heard) -> float:
    """The probability that instance types are sought by their properties. Asking for the cheapest counts too, if no
    model is to be placed."""
    likely = heard.likely["fact_instance"]
    placed = heard.said.slots.keys() & _OF_MODELS
    return likely + (heard.likely["cheapest"] if likely > _POSSIBLY and not placed else 0.0)


def asks_rows(query: Query, index: Index) -> bool:
    """Whether a question consists only of names and columns, or surely asks for rows, so that a prepared answer to a
    similar question does not fit."""
    if asks_cells(query, index):
        return True
    if query.options:
        return False
    told = told_by_rows(query, index) if not query.yes_no else None
    if told and told.whole and told.draft.text:
        return True
    if query.history and _POINTS.search(query.question):
        meant = query.typed != query.question  # the names that it points at were put in
        if answer_of_places(query, index) or (meant and answer_from_table(query, (), (), index, alone=True)):
            return True
    return bool(_listed(query, index, _SURELY))


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
        if heard.computed or "Accelerator" not in tables:
            return None
        told = _things("Accelerator", heard, tables["Accelerator"], history, facts)
        return told if told and told.whole else None
    # Columns that only data sheets have, such as number formats, belong to the accelerator, even if a question sounds
    # like one on a machine.
    sheets = tables.get("Accelerator", ())
    of_a_sheet = "fact_accelerator" if set(take_columns_of(Reading(heard.said.text), "Accelerator", sheets)) - {"Memory"} else ""
    labels = (label for label in _KEYS if heard.likely[label] > _POSSIBLY or label == of_a_sheet)
    of_price = heard.computed and heard.likely["fact_price"] > _SURELY
    for label in sorted(labels, key=lambda label: (label != of_a_sheet, -heard.likely[label])):
        key = _KEYS[label]
        if key == TYPE and (found := of_instances(query, heard, history, index, of_price=of_price)):
            draft, names, columns = found
            return Told(draft, TYPE, names, columns)
        if key != TYPE and key in tables and (told := _things(key, heard, tables[key], history, facts)):
            return told
    if heard.computed:
        return None
    unknown = heard.said.unknown or heard.asked.unknown or (heard.likely["fact_model"] >= _ASKED and "parameters" in heard.said.slots)
    return Told(_NONE) if unknown and likely >= _SURELY else None


def _things(key: str, heard: Heard, rows: Sequence[Row], history: Sequence[str], facts: Facts) -> Told | None:
    """What rows say about a model, an accelerator or a region, or which of them ranks first."""
    reading = Reading(heard.said.text)
    names = _names(key, reading, heard, rows)
    if not names and heard.said.unknown and history:
        return Told(_NONE)
    if not names and HOLDS_TOGETHER.search(heard.said.text):
        # The two things that earlier turns named last, in the order in which they were named.
        earlier = (name for turn in history for name in reversed(take_things(Reading(turn), key, rows)))
        names = tuple(dict.fromkeys(earlier))[1::-1]
    if not names and "parameters" in heard.said.slots:
        names = _named_before(key, heard, facts)  # "and the 32B?"
    most = direction(Reading(reading.text), key) if not names and _RANKS.search(heard.said.text) else None
    columns = _meant(take_columns_of(reading, key, rows), " ".join([heard.said.text, *history[:1]]), reading.text)

    def before() -> tuple[str, ...]:
        """The columns that the last turn which names some asks for."""
        asked = (take_columns_of(_without_names(turn, key, rows), key, rows) for turn in history)
        return next((found for found in asked if found), ())

    if most is not None and not columns:
        columns = ("Grid carbon intensity",) if key == "Region" and _CLEAN.search(heard.said.text) else before()
    if not names and not columns:
        return None if len(heard.said.text.split()) > 6 else _as_before(key, rows, history)
    if most is None:
        named = (take_things(Reading(turn), key, rows) for turn in history)
        names = names or next((found for found in named if found), ()) or _named_before(key, heard, facts)
        columns = columns or before()
    if not columns or not (names or most is not None):
        return None
    greater, lesser = bool(GREATER.search(heard.said.text)), bool(LESSER.search(heard.said.text))
    told = _written(Asked(key, names, columns, most, None if greater == lesser else greater), rows, heard.said.text, reading.text)
    whole = most is None and not (_MORE_THAN_CELLS.search(heard.said.text) or set(strange(reading.text)) - _FRAME)
    return replace(told, whole=whole) if told else None


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
        forms = {name: {name.lower(), *(accelerator_names(name) if key == "Accelerator" else ())} for name in there.values()}
        named = tuple(name for value in found for name in forms if value.lower() in forms[name])
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
    claims = claims_of(rest)
    if asked.key == "Accelerator" and "Memory" not in asked.columns:
        # Only the rows of that size: "an A100 with 80 GB".
        told = [line for line in told if is_claimed(line[2].cells["Memory"], claims)] or told
    cells = [row.cells[column] for column, _, row in told]
    verdict = verdict_on(question, rest, cells) if asked.most is None and len(asked.names) != 2 else ""
    writing = Writing(())
    if len(told) > len(asked.names) and len(asked.columns) > 1:
        wrong = [line for line, cell in zip(told, cells, strict=True) if not is_claimed(cell, claims)]
        told = [*wrong, *(line for line in told if line not in wrong)] if verdict == "No" else told
    tell(asked, told[: SHOWN * len(asked.columns)], writing, f"{verdict}: " if verdict else "")
    draft = writing.draft()
    gap, computed = _gap(told) if _BY_HOW_MUCH.search(question) else ("", ())
    if gap:
        draft = replace(draft, text=f"{draft.text}\n{gap}", computed=computed, said=f"{question} CO2e")
    return replace(found, draft=draft)


def _gap(told: Sequence[tuple[str, str, Row]]) -> tuple[str, tuple[Computed, ...]]:
    """The difference between two cells of one column, as a number, in percent and as a factor; empty unless they are
    two different numbers."""
    values = [value_of(row, column) for column, _, row in told]
    if len(told) != 2 or told[0][0] != told[1][0] or not all(values) or values[0] == values[1]:
        return "", ()
    names = [next(iter(row.cells.values())) for _, _, row in told]
    (low, less), (high, more) = sorted((float(value or 0), name) for value, name in zip(values, names, strict=True))
    lower = Computed(rounded(high - low), f"{high:g} - {low:g}")
    percent = Computed(f"{rounded(100 * (high - low) / high)} %", f"100 × ({high:g} - {low:g}) / {high:g}", 1.0, (100,))
    times = Computed(f"{rounded(high / low)} times", f"{high:g} / {low:g}")
    higher = Computed(f"{rounded(100 * (high - low) / low)} %", f"100 × ({high:g} - {low:g}) / {low:g}", 1.0, (100,))
    text = f"{less} has {lower.text} less, which is {percent.text}; {more} has {times.text} as much, {higher.text} more [1][2]."
    return text, (lower, percent, times, higher)


def _is_unpublished(cell: str) -> bool:
    return not re.search(r"\d", cell) and cell not in ("yes", "no")
