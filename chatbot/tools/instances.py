"""Filter, sort and count instance types by what they have and cost, over the tables of the index."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from math import inf
from typing import Any

from chatbot.answer import ReaderError
from chatbot.sizing.facts import Facts, short
from chatbot.table.bounds import Bound
from chatbot.table.columns import ACCELERATOR, TYPE, Column
from chatbot.table.filters import Request
from chatbot.table.instances import REGION, Instances, Row, load_instances
from chatbot.table.selection import fits, select
from chatbot.tools.arguments import FindInstances, SortBy
from chatbot.tools.tool import Keys, counted, described
from chatbot.working import load
from ingest import Index

_NO_INSTANCES = (
    "The index holds no table of instance types: run `wattwise ingest` in the folder that holds corpus/ first."
)
_WORD = re.compile(r"[a-z0-9]+")
# Words in the name of an accelerator that only say that it is one.
_KINDS = frozenset({"gpu", "gpus", "chip", "chips", "accelerator", "accelerators", "tensor", "core"})
_COLUMNS: dict[SortBy, Column] = {
    "price_per_hour": "price", "accelerator_memory": "total", "accelerators": "accelerators", "vcpus": "vcpus",
    "memory": "memory", "network": "network",
}  # fmt: skip
_BOUNDED: dict[str, Column] = {
    "accelerators": "accelerators", "accelerator_memory_each": "each", "accelerator_memory_total": "total", "vcpus": "vcpus",
    "memory": "memory", "network": "network",
}  # fmt: skip
# Columns that an answer about instance types hardly needs; the row itself still has them.
_LEFT_OUT = frozenset({TYPE, "As of", "Source", "Sizes in family", "Memory per vCPU"})


def find_instances(index: Index, given: FindInstances, keys: Keys) -> dict[str, Any]:
    """Return the rows that meet every condition, and their `total`; each has its own key and that of its price's row."""
    known = load_instances(index)
    if not known.rows:
        raise ReaderError(_NO_INSTANCES)
    facts = load(index).facts
    _check_price(given, known)
    known = known.at(given.region.lower(), given.purchase)
    for name in given.names:
        _check("instance type", name.lower(), known.rows)
    named = [known.rows[name][0] for name in dict.fromkeys(map(str.lower, given.names))] or known.newest
    found = _of_kind(given, named, facts)
    # Types that EC2 no longer lists are found only if their type, family or accelerator is asked for by name.
    families = {row.family for row in found} if given.names or given.family or given.accelerator else ()
    rows = select(Request(families=tuple(families), bounds=tuple(_bounds(given))), found)
    cheap = () if given.max_price_per_hour is None else (Bound("price", high=given.max_price_per_hour),)
    priced = [row for row in rows if fits(Request(bounds=cheap), row)]
    shown = sorted(priced, key=_order(given))[: given.limit]
    notes = list(_notes(given, rows, priced, shown))
    return {"total": len(priced), "rows": [_as_json(row, keys) for row in shown], "notes": notes}


def _check_price(given: FindInstances, known: Instances) -> None:
    cells = [row.cells for rows in known.others.values() for row in rows if "Region" in row.cells]
    asked = {"Region": given.region.lower(), "Purchase": given.purchase}
    if any(all(c.get(header, value) == value for header, value in asked.items() if value) for c in cells):
        return
    if given.region or given.purchase != "on demand":
        there = sorted({f"{c.get('Purchase', 'on demand')} in {c['Region']}" for c in cells})
        hint = (
            f"those known are {', '.join(there[:8])}."
            if there
            else "it holds no prices at all, so leave out region and purchase."
        )
        raise ReaderError(f"The index has no {given.purchase} prices in {given.region or REGION!r}: {hint}")


def _of_kind(given: FindInstances, rows: list[Row], facts: Facts) -> list[Row]:
    """Return the rows of the family, accelerator and maker asked for; raises ReaderError for one that no row has."""
    if family := given.family.lower():
        _check("instance family", family, {row.family for row in rows})
        rows = [row for row in rows if row.family == family]
    if given.accelerator:
        words = set(_WORD.findall(given.accelerator.lower())) - _KINDS
        known = {row.cells[ACCELERATOR] for row in rows} - {"none", ""}
        meant = {name for name in known if words and words <= set(_WORD.findall(name.lower()))}
        if not meant:
            raise ReaderError(
                f"No such instance type has the accelerator {given.accelerator!r}: {_known(map(short, known))}"
            )
        rows = [row for row in rows if row.cells[ACCELERATOR] in meant]
    if given.vendor:
        makers = {row: _maker(row, facts) for row in rows}
        if given.vendor.lower() not in {maker.lower() for maker in makers.values()}:
            raise ReaderError(
                f"No such instance type has accelerators by {given.vendor!r}: {_known({*makers.values()} - {''})}"
            )
        rows = [row for row in rows if makers[row].lower() == given.vendor.lower()]
    return rows


def _known(names: Iterable[str]) -> str:
    listed = sorted(names)
    return f"those known are {', '.join(listed[:30])}." if listed else "they have none, so leave it out."


def _check(kind: str, name: str, known: Iterable[str]) -> None:
    if name not in (names := set(known)):
        near = get_close_matches(name, sorted(names), 3, 0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(sorted(names)[:5])} and others."
        raise ReaderError(f"There is no {kind} {name!r} in the data: {hint}")


def _maker(row: Row, facts: Facts) -> str:
    cell = row.cells[ACCELERATOR]
    sheets = facts.accelerators.get(cell)
    return sheets[0].vendor if sheets else cell.partition(" ")[0] if cell != "none" else ""


def _bounds(given: FindInstances) -> Iterator[Bound]:
    for name, column in _BOUNDED.items():
        low, high = getattr(given, f"{name}_min"), getattr(given, f"{name}_max", None)
        if low is not None and high is not None and low > high:
            raise ReaderError(
                f"No number of {column} is at least {low:g} and at most {high:g}: swap the two, or leave one out."
            )
        if low is not None or high is not None:
            yield Bound(column, -inf if low is None else low, inf if high is None else high)


def _order(given: FindInstances) -> Callable[[Row], tuple[object, ...]]:
    """Return a sort key: by the figure asked for, rows without it last, then by size and name."""

    def key(row: Row) -> tuple[object, ...]:
        value = row.number(_COLUMNS[given.sort_by]) if given.sort_by else 0.0
        size = (row.number("accelerators") or 0.0, row.number("vcpus") or 0.0, row.number("memory") or 0.0)
        if not given.sort_by and given.descending:
            size = (-size[0], -size[1], -size[2])
        return value is None, -(value or 0.0) if given.descending else value or 0.0, *size, row.name

    return key


def _as_json(row: Row, keys: Keys) -> dict[str, Any]:
    price = row.source("price")
    return {
        "key": keys.key(row.chunk, row.start, row.end),
        "instance_type": row.cells[TYPE],
        "cells": {header: cell for header, cell in row.cells.items() if cell and header not in _LEFT_OUT},
        "as_of": row.as_of or None,
        **{name: value for name, value in described(row.chunk).items() if name in ("document", "source")},
        "price": {
            "key": keys.key(price.chunk, price.start, price.end),
            "per_hour": row.says("price"),
            "purchase": price.cells.get("Purchase"),
            "operating_system": price.cells.get("Operating system"),
            "region": price.cells.get("Region"),
            "as_of": price.as_of or None,
        }
        if row.says("price")
        else None,
    }  # fmt: skip


def _notes(given: FindInstances, rows: Sequence[Row], priced: Sequence[Row], shown: Sequence[Row]) -> Iterable[str]:
    if not priced:
        yield "No instance type meets all conditions: loosen one of them."
    elif len(shown) < len(priced):
        yield f"{counted(len(priced) - len(shown), 'row')} left out: give a greater limit, or narrower conditions."
    unpriced = sum(row.number("price") is None for row in rows)
    if unpriced and (given.max_price_per_hour is not None or given.sort_by == "price_per_hour"):
        fate = "left out" if given.max_price_per_hour is not None else "put last"
        yield f"{counted(unpriced, 'instance type')} without a known price {fate}."
