"""The facts that sizing computes with, read from the corpus's tables. Each value keeps the row it was read from."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from ingest import Index, Row, load_tables, read_rows

Purchase = Literal["on demand", "spot"]
Format = Literal["fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4"]

_FORMATS: tuple[Format, ...] = ("fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4")
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_FACTORS = {"T": 1e12, "B": 1e9, "M": 1e6, "TB/s": 1e3, "GiB/s": 1.073741824}
_GIB_PER_GB = 1e9 / 2**30
_K = TypeVar("_K")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Model:
    """The architecture of a model, as in its config.json; None for what it does not state or the model does not have.

    `parameters` and `active_parameters` are the published counts. `attention_layers` counts the layers with a KV cache,
    for hybrids whose other layers have none; `sliding_layers` of them keep at most `sliding_window` tokens.
    `kv_lora_rank` and `rope_head_dim` belong to multi-head latent attention, which caches their sum per token and
    layer. `dense_layers` are the layers without experts in a mixture of experts. A `note` says what is unknown about
    the layout, so that a figure computed from it is an upper bound.
    """

    name: str
    parameters: int | None
    active_parameters: int | None
    layers: int | None
    hidden_size: int | None
    intermediate_size: int | None
    attention_heads: int | None
    key_value_heads: int | None
    head_dim: int | None
    vocabulary: int | None
    max_position: int | None
    experts: int | None
    experts_per_token: int | None
    expert_intermediate_size: int | None
    shared_experts: int | None
    kv_lora_rank: int | None
    rope_head_dim: int | None
    sliding_window: int | None
    sliding_layers: int | None
    attention_layers: int | None
    dense_layers: int | None
    tied_embeddings: bool | None
    note: str
    row: Row


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One accelerator as its data sheet describes it. None, or a missing format, means not published.

    `memory_gib` takes the data sheet's GB as 10^9 bytes; `Instance` has the memory that an instance offers. `tflops`
    holds dense rates by number format (TOPS for int8). `max_w` is the data sheet's limit, and `ccf_max_w` the maximum
    that Cloud Carbon Footprint uses if it differs. `busy_w` prefers the latter, because the idle figure and the method
    are Cloud Carbon Footprint's as well: an A10G may draw 300 W and counts as 153 W.
    """

    name: str
    vendor: str
    memory_gib: float | None
    bandwidth_gbps: float | None
    tflops: Mapping[str, float] = field(hash=False)
    idle_w: float | None
    max_w: float | None
    ccf_max_w: float | None
    row: Row

    @property
    def busy_w(self) -> float | None:
        return self.ccf_max_w or self.max_w


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance type as EC2 describes it. `accelerators` may be a fraction of a GPU; `accelerator` is "" for none."""

    name: str
    family: str
    vcpus: int
    memory_gib: float
    accelerators: float
    accelerator: str
    accelerator_memory_gib_each: float | None
    row: Row


@dataclass(frozen=True, slots=True)
class Price:
    """The hourly price of an instance type in a region, for Linux.

    `date` is the day of the price (ISO), "" for a price that the user gives.
    """

    instance_type: str
    region: str
    usd_per_hour: float
    purchase: Purchase
    date: str
    row: Row

    @property
    def terms(self) -> str:
        """The purchase option, region and date of the price, in words."""
        return f"({self.purchase}, {self.region}, {self.date})" if self.date else "(the price that you give)"


@dataclass(frozen=True, slots=True)
class Host:
    """Power of an instance type at half load without its accelerators, and its share of the server's embodied carbon."""

    instance_type: str
    watts: float
    embodied_g_per_hour: float
    row: Row


@dataclass(frozen=True, slots=True)
class Grid:
    """The yearly average carbon intensity of the grid in an AWS region."""

    region: str
    place: str
    g_co2_per_kwh: float
    row: Row


@dataclass(frozen=True, slots=True)
class Pue:
    """Power usage effectiveness and water use (litres per kWh) of an AWS region; `region` may be a pattern ("eu-*")."""

    region: str
    place: str
    pue: float | None
    litres_per_kwh: float | None
    row: Row


@dataclass(frozen=True, slots=True)
class Facts:
    """All facts of an index or a folder, keyed by what they describe.

    If several rows describe one thing, the newest counts. `prices` is keyed by instance type and holds every region and
    purchase option. `accelerators` is keyed by name: the A100 has a row for each memory size.
    """

    models: Mapping[str, Model]
    prices: Mapping[str, tuple[Price, ...]]
    accelerators: Mapping[str, tuple[Accelerator, ...]]
    instances: Mapping[str, Instance]
    hosts: Mapping[str, Host]
    grids: Mapping[str, Grid]
    pues: Mapping[str, Pue]

    @classmethod
    def load(cls, index: Index) -> "Facts":
        """Load the facts of an index."""
        return cls.from_rows((row, t.source.published or "") for t in index.tables() for row in read_rows(t))

    @classmethod
    def load_folder(cls, corpus: Path) -> "Facts":
        """Load the facts of a corpus folder without an index; cached for the life of the process."""
        return _of_folder(corpus.resolve())

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[Row, str]]) -> "Facts":
        """Build facts from rows, each with the date of its document."""
        newest = sorted(rows, key=lambda dated: dated[0].cells.get("As of") or dated[1])
        prices = _last(newest, {"Instance type", "Price per hour"}, _price, lambda p: (p.instance_type, p.region, p.purchase))
        sheets = _last(newest, {"Accelerator", "Memory bandwidth"}, _accelerator, lambda a: (a.name, a.memory_gib))
        return cls(
            models=_last(newest, {"Model", "Layers"}, _model, lambda m: m.name),
            prices=_grouped(prices, lambda p: p.instance_type),
            accelerators=_grouped(sheets, lambda a: a.name),
            instances=_last(newest, {"Instance type", "Family", "vCPUs"}, _instance, lambda i: i.name),
            hosts=_last(newest, {"Instance type", "Host power"}, _host, lambda h: h.instance_type),
            grids=_last(newest, {"Region", "Grid carbon intensity"}, _grid, lambda g: g.region),
            pues=_last(newest, {"Region", "PUE"}, _pue, lambda p: p.region),
        )

    def price(self, instance_type: str, region: str = "us-east-1", purchase: Purchase = "on demand") -> Price | None:
        """The price of an instance type, or None. Trainium2 has none on demand: it is sold as Capacity Blocks."""
        found = self.prices.get(instance_type, ())
        return next((p for p in found if (p.region, p.purchase) == (region, purchase)), None)

    def at_price(self, instance_type: str, usd_per_hour: float, region: str | None) -> "Facts":
        """Return the same facts with the user's own price for an instance type in place of all its prices."""
        own = Price(instance_type, region or "us-east-1", usd_per_hour, "on demand", "", self.instances[instance_type].row)
        return replace(self, prices={**self.prices, instance_type: (own,)})

    def at_site(self, region: str, grid: float | None, pue: float | None) -> "Facts":
        """Return the same facts with the user's own grid intensity or PUE in place of a region's, which no document shows."""
        nowhere, centre = Row("", 0, 0, "", {}), self.pue(region)
        grids = {**self.grids, region: Grid(region, "", grid, nowhere)} if grid else self.grids
        own = Pue(region, "", pue, centre.litres_per_kwh if centre else None, nowhere)
        return replace(self, grids=grids, pues={**self.pues, region: own} if pue else self.pues)

    def accelerator(self, instance: Instance) -> Accelerator | None:
        """The data sheet of an instance's accelerator; of several memory sizes, the nearest to the instance's."""
        found = self.accelerators.get(instance.accelerator, ())
        memory = instance.accelerator_memory_gib_each or 0.0
        return min(found, key=lambda a: abs((a.memory_gib or 0.0) - memory), default=None)

    def pue(self, region: str) -> Pue | None:
        """The PUE of a region: its own if published, otherwise that of its part of the world."""
        own = self.pues.get(region)
        if own and own.pue is not None:
            return own
        return next((p for p in self.pues.values() if "*" in p.region and fnmatchcase(region, p.region)), own)


@cache
def _of_folder(corpus: Path) -> Facts:
    return Facts.from_rows((row, t.source.published or "") for t in load_tables(corpus) for row in read_rows(t))


def _last(rows: Iterable[tuple[Row, str]], headers: set[str], read: Callable[[Row, str], _T | None], key: Callable[[_T], _K]) -> dict[_K, _T]:
    """Map keys to the values read from the rows that have these columns; a later row replaces an earlier one."""
    found = (read(row, date) for row, date in rows if headers <= row.cells.keys())
    return {key(value): value for value in found if value is not None}


def _grouped(values: Mapping[Any, _T], name: Callable[[_T], str]) -> dict[str, tuple[_T, ...]]:
    grouped: dict[str, tuple[_T, ...]] = {}
    for value in values.values():
        grouped[name(value)] = (*grouped.get(name(value), ()), value)
    return grouped


# Headers of the count columns that are not simply the field's name.
_HEADERS = {
    "key_value_heads": "Key/value heads", "head_dim": "Head dimension", "max_position": "Longest context", "kv_lora_rank": "KV LoRA rank",
    "rope_head_dim": "RoPE head dimension", "sliding_layers": "Sliding window layers",
}  # fmt: skip
_COUNTS = [f.name for f in fields(Model) if f.type == "int | None" or f.type == int | None]


def _model(row: Row, _: str) -> Model:
    found = {name: number(row, _HEADERS.get(name, name.replace("_", " ").capitalize())) for name in _COUNTS}
    counts: dict[str, Any] = {name: None if value is None else round(value) for name, value in found.items()}
    tied = {"yes": True, "no": False}.get(row.cells.get("Tied embeddings", ""))
    return Model(name=row.cells["Model"], tied_embeddings=tied, note=row.cells.get("Note", ""), row=row, **counts)


def _accelerator(row: Row, _: str) -> Accelerator:
    speeds = {form: number(row, form.upper()) for form in _FORMATS}
    return Accelerator(
        name=row.cells["Accelerator"],
        vendor=row.cells.get("Vendor", ""),
        memory_gib=_gib(row, "Memory"),
        bandwidth_gbps=number(row, "Memory bandwidth"),
        tflops={form: speed for form, speed in speeds.items() if speed is not None},
        idle_w=number(row, "Idle power"),
        max_w=number(row, "Maximum power"),
        ccf_max_w=number(row, "Maximum power by Cloud Carbon Footprint"),
        row=row,
    )


def _instance(row: Row, _: str) -> Instance:
    accelerator = row.cells.get("Accelerator", "")
    return Instance(
        name=row.cells["Instance type"],
        family=row.cells["Family"],
        vcpus=round(number(row, "vCPUs") or 0),
        memory_gib=number(row, "Memory") or 0.0,
        accelerators=number(row, "Accelerators") or 0.0,
        accelerator="" if accelerator == "none" else accelerator,
        accelerator_memory_gib_each=number(row, "Accelerator memory each"),
        row=row,
    )


def _price(row: Row, date: str) -> Price | None:
    amount = number(row, "Price per hour")
    if amount is None:
        return None
    purchase: Purchase = "spot" if row.cells.get("Purchase") == "spot" else "on demand"
    dated = row.cells.get("As of") or date
    return Price(row.cells["Instance type"], row.cells.get("Region", ""), amount, purchase, dated, row)


def _host(row: Row, _: str) -> Host | None:
    energy, embodied = number(row, "Host power"), number(row, "Embodied carbon")
    return None if energy is None else Host(row.cells["Instance type"], energy, embodied or 0.0, row)


def _grid(row: Row, _: str) -> Grid | None:
    grams = number(row, "Grid carbon intensity")
    return None if grams is None else Grid(row.cells["Region"], row.cells.get("Place", ""), grams, row)


def _pue(row: Row, _: str) -> Pue:
    return Pue(row.cells["Region"], row.cells.get("Place", ""), number(row, "PUE"), number(row, "WUE"), row)


def short(accelerator: str) -> str:
    """The name of an accelerator without maker and kind: "NVIDIA L40S GPU" becomes "L40S"."""
    return re.sub(r"^(?:NVIDIA|AWS|AMD|Habana|Intel|Qualcomm|Google) | (?:GPU|chip|accelerator)$", "", accelerator)


def number(row: Row, header: str) -> float | None:
    """The number in a cell, in the column's unit: 70.6B is 70.6e9, 3.35 TB/s is 3350 GB/s; None if there is none."""
    cell = row.cells.get(header, "")
    match = _NUMBER.search(cell)
    if not match:
        return None
    unit = cell[match.end() :].strip().split(" ")[0]
    return float(match.group().replace(",", "")) * _FACTORS.get(unit, 1.0)


def _gib(row: Row, header: str) -> float | None:
    value = number(row, header)
    return value * _GIB_PER_GB if value is not None and re.search(r"\bGB\b", row.cells[header]) else value
