"""What rows say about instance types that a question names in any wording."""

import re
from collections.abc import Iterator, Mapping, Sequence

from chatbot.draft import Draft
from chatbot.figures.claims import WHETHER, verdict_on
from chatbot.question.query import Query
from chatbot.sizing.asking import Heard
from chatbot.table import answer_from_table
from chatbot.table.bounds import Reading, take_columns
from chatbot.table.columns import Column
from chatbot.table.instances import Row, load_instances
from chatbot.table.row_phrases import describe
from chatbot.table.selection import with_own_memory
from chatbot.table.writing import Writing
from ingest import Index

# How many types are told.
SHOWN = 8
_INSIDE = re.compile(r"\b(?:what(?:['’]?s| is)? (?:in(?:side)?|under the hood)|inside|specs?|specification|equipped|kitted|hardware of|consists? of|made of)\b")
_COUNT = re.compile(r"\b(?:(?:the |and )?count|how many|wie ?viele?|combien|cu[aá]nt[ao]s|quant[ei]|number)(?: (?:of|von|de) (?:them|those|these|it|denen))?(?= in\b| has\b| does\b| hat\b|\W*(?:and\b|plus\b|,|[?]|$))|\b(?:four|two|single|one|\d+)[ -]card\b|几(?:块|张|个)|いくつ|\bile kart")
_NUMBER = r"(?:how many|number of|count of|wie ?viele?|combien de|cu[aá]ntas?|quante|four|two|one|eight|\d+)"
_BANDWIDTH = re.compile(r"\b(?:bandwidth|bandbreite|bande passante|fast|speed|[gt]b/s)\b")
_PRICE = re.compile(r"\bhourly\b|\b(?:per|an|the) hour\b|/ ?h(?:ou)?r?\b|\$|\bprice|\bcosts?\b|\brate\b|how much (?:is|are)|all['’]ora|de l['’]heure|por hora|pro stunde|die stunde|料金|价格")


def of_instances(
    query: Query, heard: Heard, history: Sequence[str], index: Index, *, of_price: bool
) -> tuple[Draft, tuple[str, ...], tuple[Column, ...]] | None:
    """What rows say about instance types, with these and the columns; None if only a price is asked for, which is computed.

    `of_price` says that a question surely asks for a price: then rows without one do not answer it.
    """
    if not history and answer_from_table(query, (), (), index):
        return None  # only names and columns, which documents may answer too
    known = load_instances(index).at(heard.asked.workload.region or "")
    reading = Reading(heard.said.text)
    names = tuple(dict.fromkeys(_types(heard, reading, known.rows)))
    if not names:
        return None
    cards = "|".join(map(re.escape, known.accelerators))
    reading.text = re.sub(rf"\b{_NUMBER}(?: nvidia| aws| of the)? (?:{cards})['’]?s?(?![\w-])", "gpus", reading.text)
    accelerated = all(known.rows[name][0].number("accelerators") for name in names)
    named = re.search(rf"(?<![\w.-])(?:{cards})['’]?s?(?![\w.-])", reading.text)
    columns = _columns(reading, heard.said.text, accelerated=accelerated) or (("accelerators",) if named else ())
    if not columns and "instance_type" in heard.said.slots and not heard.computed:
        columns = next((found for turn in history if (found := _columns(Reading(turn), turn, accelerated=accelerated))), ())
    if not set(columns) - {"price"} or (of_price and "price" not in columns):
        return None
    writing, lead = Writing(()), ""
    if len(names) == 1:
        row = known.rows[names[0]][0]
        cells = [row.says(column) for column in columns if column != "price"]
        claims_others = _other_accelerators(heard.said.text, row, known.accelerators)
        verdict = "No" if claims_others else verdict_on(heard.said.text, reading.text, cells) if cells != [""] else ""
        lead = f"{verdict}: " if verdict else ""
    for rows in (known.rows[name] for name in names[:SHOWN]):
        if describe(rows[0], columns):
            writing.newest(rows, columns, lead=lead, opening="- " if len(names) > 1 else "")
    return (writing.draft(), names, columns) if writing.lines else None


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
    return bool(WHETHER.search(text)) and bool(named) and not named & row.accelerator_names
