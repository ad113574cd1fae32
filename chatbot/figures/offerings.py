"""Answer which Regions sell which accelerated instance types, from the table of Regions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from chatbot.answer import REFUSAL
from chatbot.draft import Draft
from chatbot.question.query import Query
from chatbot.table.bounds import Reading
from chatbot.table.entities import take_regions
from chatbot.table.filters import strange
from chatbot.table.instances import Row, load_instances, load_tables
from chatbot.table.row_phrases import listed
from chatbot.table.writing import Writing
from chatbot.working import load
from ingest import Index

_COLUMN = "Accelerated families"
_ENTRY = re.compile(r"(?P<family>[\w-]+)(?: \((?P<denied>not )?(?P<sizes>[^)]+)\))?")
_WHERE = re.compile(r"\b(?:(?:which|what|in which|in what) (?:\w+ )?(?:aws )?regions?|where|list of regions|regions? (?:with|for|of))\b")
_OFFERED = re.compile(r"\b(?:availab\w+|sold|sells?|offer\w*|have|has|get|rent|listed|there|is (?:it|that|this)|are (?:they|these|those|both)|which (?:one|of (?:them|those|these|the two)))\b")
_THERE = re.compile(r"\b(?:it|they|them|these|those|there|that one|which one|both)\b")
_TYPE = re.compile(r"(?<![\w.-])(?P<family>[a-z]{1,4}\d[a-z]*(?:-\w+)?|trn|inf)(?:\.(?P<size>\w+))?(?:['’]?s)?(?![\w.-])")
# Most families with the same letters that are named as alternatives to one that a Region lacks.
_OTHERS = 6
# A later turn of at most this many words refers back to an earlier one.
_SHORT = 6


def answer_of_places(query: Query, index: Index) -> Draft | None:
    """Answer whether a Region sells accelerated types, or which Regions do. Return None for any other question."""
    text = (query.typed if query.history else query.standalone).lower()
    reading, before = Reading(text), [Reading(turn.question.lower()) for turn in reversed(query.history)]
    leans = bool(before) and (bool(_THERE.search(text)) or len(text.split()) <= _SHORT)
    places = take_regions(reading)
    wanted = list(dict.fromkeys(_wanted(reading, index)))
    asks_where, offered = bool(reading.take(_WHERE.pattern)), bool(reading.take(_OFFERED.pattern))
    rows = {row.name: row for row in load_tables(index).get("Region", ()) if row.cells.get(_COLUMN)}
    if leans and wanted and not places and not asks_where:
        places = next(filter(None, map(take_regions, before)), ())[:1]
    if leans and places and not wanted:
        wanted = _asked_before(before, index) or (_named_before(query, index) if offered else [])
    if strange(reading.text) or not wanted or not rows or not (places or asks_where) or not all(place in rows for place in places):
        return None
    everywhere = {family for row in rows.values() for family in _sells(row)}
    if not everywhere & {family for family, _ in wanted}:
        return Draft(text := f"{REFUSAL} Which Regions have {listed(list(dict.fromkeys(family for family, _ in wanted)))} is not in the data.", (), said=text)
    wanted = [one for one in wanted if one[0] in everywhere]
    return _of_each(wanted, [rows[place] for place in places]) if places and not asks_where else _of_all(wanted, [*rows.values()])


def _asked_before(turns: Sequence[Reading], index: Index) -> list[tuple[str, str]]:
    """Return the families that the latest turns look for in Regions; nothing if one asks for more, such as a price."""
    for turn in turns:
        wanted, is_where = list(dict.fromkeys(_wanted(turn, index))), bool(take_regions(turn) or turn.take(_WHERE.pattern))
        if wanted or not is_where or strange(turn.text):
            return wanted if is_where and not strange(turn.text) else []
    return []


def _named_before(query: Query, index: Index) -> list[tuple[str, str]]:
    """Return the families that the latest turn to name any names, whatever it asks."""
    return next(filter(None, (list(dict.fromkeys(_wanted(Reading(turn.question.lower()), index))) for turn in reversed(query.history))), [])


def _wanted(reading: Reading, index: Index) -> Iterator[tuple[str, str]]:
    """Yield the families that a text names, directly, by a type or by an accelerator, each with its size, "" for any."""
    types = load(index).facts.instances.values()
    families = {instance.family for instance in types}
    for match in reading.take(_TYPE.pattern):
        named = [match["family"]] if match["family"] in families else sorted(family for family in families if re.match(rf"{match['family']}(?![a-z])", family))
        yield from ((family, match["size"] or "") for family in named)
    known = load_instances(index).accelerators
    for match in reading.take(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, sorted(known, key=len, reverse=True)))})s?(?![\w.-])") if known else ():
        name = match.group() if match.group() in known else match.group().removesuffix("s")
        yield from ((row[0].family, "") for row in load_instances(index).rows.values() if name in row[0].accelerator_names)


def _sells(row: Row) -> Mapping[str, re.Match[str]]:
    return {match["family"]: match for match in map(_ENTRY.fullmatch, row.cells[_COLUMN].split("; ")) if match}


def _has(row: Row, family: str, size: str) -> bool:
    entry = _sells(row).get(family)
    return entry is not None and (not size or not entry["sizes"] or (size in entry["sizes"].split(", ")) != bool(entry["denied"]))


def _of_each(wanted: Sequence[tuple[str, str]], rows: list[Row]) -> Draft:
    writing, has = Writing(()), [_has(row, *one) for row in rows for one in wanted]
    lead = "Yes: " if all(has) else "No: " if not any(has) else ""
    for number, row in enumerate(rows):
        there = [_name(*one) for one in wanted if _has(row, *one)]
        missing = [_name(*one) for one in wanted if not _has(row, *one)]
        alike = [entry.group() for family, entry in _sells(row).items() if any(_letters(family) == _letters(other) for other, _ in wanted)][-_OTHERS:]
        said = [f"sells {listed(there)}"] if there else []
        said += [f"does not sell {listed(missing)}" + (f", but {listed(alike)}" if alike and not there else "")] if missing else []
        writing.line(f"{lead if not number else ''}{_place(row)} {listed(said)} (as of {row.dated})", row, opening="- " if len(rows) > 1 else "")
    return replace(writing.draft(), said=" ".join(_name(*one) for one in wanted))


def _of_all(wanted: Sequence[tuple[str, str]], rows: list[Row]) -> Draft | None:
    writing = Writing(())
    for one in wanted:
        if having := [row for row in rows if _has(row, *one)]:
            count = writing.count(f"{_name(*one)} is sold in {len(having)} Region{'s' * (len(having) > 1)} (as of {having[0].dated})")
            writing.line(f"{count}{listed([_place(row) for row in having])}", *having, opening="- " if len(wanted) > 1 else "")
    return writing.draft() if writing.lines else None


def _name(family: str, size: str) -> str:
    return f"{family}.{size}" if size else family


def _place(row: Row) -> str:
    """Return a Region with its city, "eu-north-1 (Stockholm)". The city is the part of "Europe (Stockholm)" in brackets."""
    inner = re.search(r"\(([^)]+)\)", row.cells.get("Place", ""))
    return f"{row.name} ({inner[1]})" if inner else row.name


def _letters(family: str) -> str:
    return re.split(r"\d", family)[0]
