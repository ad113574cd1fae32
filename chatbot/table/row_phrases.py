"""Put rows of instance types into words, with no number or name that the row does not have."""

from collections.abc import Sequence

from chatbot.table.columns import ACCELERATOR, HEADERS, TYPE, Column
from chatbot.table.instances import Row

NOUNS: dict[Column, str] = {
    "accelerators": "accelerators",
    "each": "memory per accelerator",
    "total": "accelerator memory",
    "vcpus": "vCPUs",
    "memory": "memory",
    "ratio": "memory per vCPU",
    "network": "network bandwidth",
    "storage": "local storage",
    "price": "price per hour",
    "host": "host power",
    "embodied": "embodied carbon",
}


def describe(row: Row, columns: Sequence[Column], terms: str = "") -> str:
    """What a row says in the columns, to follow its subject: " has 4 vCPUs; is burstable; EFA: no".

    It is "" if the cells are empty. A "no" and the architecture keep their label from the row, because verification
    looks for them beside it. A price says its terms unless they are `terms`, which were said before.
    """
    has = [phrase for column in columns if (phrase := _phrase(row, column, columns))]
    traits = [f"is {HEADERS[c].lower()}" for c in columns if c in ("burstable", "metal") and row.says(c) == "yes"]
    costs = [cost] if "price" in columns and (cost := _cost(row, terms)) else []
    labelled = [f"{_label(c)}: {row.says(c)}" for c in columns if _is_labelled(row, c)]
    said = [*costs, *([f"has {listed(has)}"] if has else []), *traits, *labelled]
    return f"{' ' if costs or has or traits else ', '}{'; '.join(said)}" if said else ""


def subject(row: Row, *, with_date: bool = False) -> str:
    """The instance type; on request with the date in its row, and with a warning if EC2 no longer lists it."""
    remarks = [] if row.listed else ["absent from the newest listing"]
    remarks += [f"as of {row.dated}"] if with_date and row.dated else []
    return f"{row.cells[TYPE]} ({', '.join(remarks)})" if remarks else row.cells[TYPE]


def _is_labelled(row: Row, column: Column) -> bool:
    return row.says(column) in ("no", "none") or (column == "architecture" and bool(row.says(column)))


def _label(column: Column) -> str:
    return HEADERS[column] if column == "efa" else HEADERS[column].lower()


def listed(phrases: Sequence[str]) -> str:
    """Join phrases: "one, two and three"."""
    return " and ".join([*filter(None, [", ".join(phrases[:-1])]), *phrases[-1:]])


_SAID: dict[Column, str] = {
    "ratio": "{} of memory per vCPU", "storage": "{} of local storage", "efa": "EFA", "embodied": "embodied carbon of {}",
}  # fmt: skip


def _phrase(row: Row, column: Column, columns: Sequence[Column]) -> str:
    cell, number = row.says(column), row.number("accelerators") or 0.0
    if cell in ("", "no", "none"):
        return ""
    match column:
        case "accelerators":
            kind = f"{row.cells[ACCELERATOR]}{'s' if number > 1 else ' (a fraction of one)' if 0 < number < 1 else ''}"
            return f"{cell} {kind}" if number else "0 accelerators"
        case "each":
            return f"{cell} of memory on {'each of its accelerators' if number > 1 else 'its accelerator'}"
        case "total":
            share = f" ({row.says('each')} each)" if number > 1 and row.says("each") and "each" not in columns else ""
            return f"{cell} of accelerator memory{share}"
        case "vcpus":
            return f"{cell} vCPU{'' if cell == '1' else 's'}"
        case "memory":
            return f"{cell} of {'host ' if number and {'total', 'each'} & {*columns} else ''}memory"
        case "network":
            return f"{cell[0].lower()}{cell[1:]} of network bandwidth" if "bps" in cell else f"{cell} network performance"
        case "processor":
            return f"{cell.replace(', ', ' at ', 1)} as its processor"
        case "host":
            return f"a host power of {cell} at {row.source(column).cells.get('Load', '')}".removesuffix(" at ")
    return _SAID.get(column, "").format(cell)


def _cost(row: Row, terms: str) -> str:
    """ "costs $1.861 per hour on demand in us-east-1 (Linux, as of 2026-07-20)"; without a price, what the cell says."""
    cell, own = row.says("price"), price_terms(row)
    if row.number("price") is None:
        return f"{_bought(row)}, price per hour: {cell}" if cell else ""
    return f"costs {cell} per hour {own if own != terms else ''}".rstrip()


def price_terms(row: Row) -> str:
    """The terms of a row's price: "on demand in us-east-1 (Linux, as of 2026-07-20)"."""
    price = row.source("price")
    about = ", ".join(filter(None, (price.cells.get("Operating system", ""), price.as_of and f"as of {price.as_of}")))
    return f"{_bought(row)}{f' ({about})' if about else ''}"


def _bought(row: Row) -> str:
    where = row.source("price").cells
    return " ".join(filter(None, (where.get("Purchase", ""), f"in {where['Region']}" if "Region" in where else "")))
