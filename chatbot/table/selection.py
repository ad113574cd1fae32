"""Which rows meet a request, in which order, and what to report about them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from chatbot.deadline import check
from chatbot.table.bounds import Bound
from chatbot.table.columns import ACCELERATOR, HEADERS, NUMBERED, Column
from chatbot.table.entities import accelerator_names
from chatbot.table.filters import Request, Trait
from chatbot.table.instances import Row

_OF_ACCELERATORS: tuple[Column, ...] = ("accelerators", "each", "total")
_OF_TRAIT: dict[str, Column] = {header: column for column, header in HEADERS.items()} | {ACCELERATOR: "accelerators"}


def measured(request: Request, rows: Mapping[str, Sequence[Row]]) -> Request | None:
    """Turn the comparison in a request into conditions from the other type's row, and report the compared columns.

    None if that row lacks one of the columns.
    """
    if (comparison := request.compared) is None:
        return request
    other = rows[comparison.other][0]
    same = [c for c in comparison.same if c != "accelerators" or comparison.counted]
    numbers = {c: other.number(c) for c in (*same, *comparison.above, *comparison.below) if c in NUMBERED}
    known = [(column, value) for column, value in numbers.items() if value is not None]
    which = "accelerators" in comparison.same and not comparison.counted
    traits = [Trait(HEADERS[c], other.says(c)) for c in same if c not in NUMBERED]
    if len(known) < len(numbers) or (which and not other.accelerator_names) or not all(t.words for t in traits):
        return None
    bounds = [
        *(Bound(c, value, value) for c, value in known if c in same),
        *(Bound(c, value, open=True) for c, value in known if c in comparison.above),
        *(Bound(c, high=value, open=True) for c, value in known if c in comparison.below),
    ]
    return replace(
        request,
        accelerators=(max(accelerator_names(other.cells[ACCELERATOR]), key=len),) if which else request.accelerators,
        bounds=(*request.bounds, *bounds),
        traits=(*request.traits, *traits),
        asked=tuple(dict.fromkeys((*comparison.columns, *request.asked))),
    )  # fmt: skip


def select(request: Request, rows: Iterable[Row]) -> list[Row]:
    """Return the rows that meet every condition of a request, in its order, otherwise by size.

    If others match, types that EC2 no longer lists are left out; so are, in an order by price or accelerators, those
    whose accelerators do not run models. If only the memory of accelerators has a limit, those come last. Nothing is
    left out if the request names families or accelerators.
    """
    found = sorted((row for row in rows if fits(request, row)), key=sort_key(request))
    if request.families or request.accelerators:
        return found
    ranks = request.order is not None and request.order[0] in ("price", *_OF_ACCELERATORS)
    listed = [row for row in found if row.listed and (row.runs_models or not ranks)]
    if not request.order and any(bound.column in _OF_ACCELERATORS[1:] for bound in request.bounds):
        listed.sort(key=lambda row: not row.runs_models)
    return listed or found


def fits(request: Request, row: Row) -> bool:
    """Whether a row meets every condition and has the number to sort by."""
    check()
    ordered = request.order[0] if request.order else "size"
    return (
        (not request.families or row.family in request.families)
        and (request.compared is None or row.name != request.compared.other)
        and (not request.accelerators or not row.accelerator_names.isdisjoint(request.accelerators))
        and not {row.name, row.family, *row.accelerator_names} & {*request.without}
        and all((value := row.number(b.column)) is not None and b.holds(value) for b in request.bounds)
        and all(_says(row, trait.header, trait.words) != trait.denied for trait in request.traits)
        and (request.per.value(row) is not None if request.per else ordered == "size" or bool(row.number(ordered)))
    )


def _says(row: Row, header: str, words: str) -> bool:
    end = r"(?!\w)" if words[-1].isdigit() else ""
    return bool(re.search(rf"(?<!\w){re.escape(words)}{end}", row.cells.get(header, ""), re.IGNORECASE))


def sort_key(request: Request) -> Callable[[Row], tuple[float, float, float, str]]:
    """Return the sort key: the order asked for, or the price if it has a limit; then vCPUs, memory and name."""
    column, most = request.order or ("price" if any(bound.column == "price" for bound in request.bounds) else "size", False)

    def key(row: Row) -> tuple[float, float, float, str]:
        size = (row.number("vcpus") or 0.0, row.number("memory") or 0.0)
        if column == "size":
            return (0.0, -size[0], -size[1], row.name) if most else (0.0, *size, row.name)
        value = (request.per.value(row) if request.per else row.number(column)) or 0.0
        return (-value if most else value, *size, row.name)

    return key


def columns_of(request: Request) -> list[Column]:
    """The columns to report: those asked for and those that the conditions are about."""
    ordered = request.order[0] if request.order else "size"
    traits = [_OF_TRAIT[trait.header] for trait in request.traits if trait.header in _OF_TRAIT]
    cards: list[Column] = ["accelerators"] if request.accelerators else []
    bounds = [bound.column for bound in request.bounds]
    return list(dict.fromkeys([*([] if ordered == "size" else [ordered]), *(request.per.columns if request.per else ()), *request.asked, *cards, *traits, *bounds]))


_SUMMARY: tuple[Column, ...] = ("accelerators", "total", "vcpus", "memory")


def with_summary(columns: Sequence[Column], row: Row) -> list[Column]:
    """The columns, preceded by what matters for any instance type."""
    wanted = _SUMMARY if row.number("accelerators") else _SUMMARY[2:]
    return list(dict.fromkeys([*(c for c in wanted if c != "total" or "each" not in columns), *columns]))


_EACH = re.compile(r"\b(?:each|apiece|per (?:gpu|card|chip|accelerator|device|piece)|every one|jede\w*|pro (?:karte|gpu|chip)|chacun\w*|par (?:gpu|carte|puce)|cada un[ao]|por (?:gpu|tarjeta|chip)|ciascun\w*|ognun\w*|per scheda|(?<!than )one (?:gpu|card|chip))\b|每块|每张|毎|あたり")
_ON_CARDS = re.compile(r"\b(?:on|of|in|for) (?:all )?(?:the|its|their) (?:gpu|card|chip|accelerator)s\b|\b(?:v|g|hb|gpu[- ])(?:ram|m|memory|speicher)\b|\bgraphics memory\b|显存|\baltogether\b|\ball (?:told|together)\b|\btogether\b|\bin all\b|\binsgesamt\b|\ben tout\b|\ben total\b|\bin totale\b|\bmémoire gpu\b|\bmemoria (?:de )?(?:la )?gpu\b")
OF_HOST = re.compile(r"\b(?:host|system|main|cpu|ram)\b")


def with_own_memory(columns: Sequence[Column], said: str, *, accelerated: bool) -> list[Column]:
    """Resolve which memory is meant for a machine with accelerators: that of each, of all, or of all beside the host's."""
    text = said.lower()
    if not accelerated or not {"memory", "total"} & {*columns} or "each" in columns or OF_HOST.search(text):
        return list(columns)
    if _EACH.search(text):
        meant: tuple[Column, ...] = ("each",)
    elif "total" in columns:
        return list(columns)
    else:
        meant = ("total",) if _ON_CARDS.search(text) else ("total", "memory")
    return list(dict.fromkeys(told for column in columns for told in (meant if column in ("memory", "total") else (column,))))
