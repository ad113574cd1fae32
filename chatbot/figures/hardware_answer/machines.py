"""Instances of one type in one region: the types that are meant, the cheapest that have what is asked, and their impact."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chatbot.answer import ReaderError
from chatbot.figures.hardware_answer.units import EACH, PER_GB
from chatbot.sizing import Facts, Impact, Workload
from chatbot.sizing.completion import check_region
from chatbot.sizing.facts import Accelerator, Instance, short
from chatbot.sizing.fleet import is_divided
from chatbot.sizing.given import read_given
from chatbot.sizing.impact import DEFAULT_REGION, impact_of_machines, load_of
from chatbot.sizing.memory import GIB
from chatbot.working import Working, percent
from ingest import Row

_MORE_OR_SO = re.compile(r"\b(?:at least|or more|al menos|mindestens|au moins|almeno|minimum|min|over|upwards)\b|>=?|≥|\d\+")
_PART_OF_A_GPU = re.compile(r"\b(?:slice|fraction\w*|part(?:ial)?|piece|shared|half) (?:of )?(?:an? )?(?:gpu|card|is|are)?")


@dataclass(frozen=True, slots=True)
class Machine:
    """Instances of one type in one region, with what they cost and draw; `rows` are those of the type."""

    name: str
    work: Workload
    impact: Impact
    rows: tuple[Row, ...]
    factor: float = 1.0
    """The factor on the list price; `terms` gives the reason: 0.83, "with 17 % off"."""
    terms: str = ""

    @property
    def region(self) -> str:
        return self.work.region or DEFAULT_REGION


def machine_of(work: Workload, working: Working) -> Machine:
    """The machines of a workload, with the discount and headroom that the turns give."""
    facts = working.tables.facts
    assert work.instance_type
    check_region(work.region or DEFAULT_REGION, facts)
    instance = facts.instances[work.instance_type]
    if work.accelerators and not work.instances and instance.accelerators:
        work = replace(work, instances=math.ceil(work.accelerators / instance.accelerators))
    machines = work.instances or 1
    name = f"{machines:,} × {instance.name}" if machines > 1 else instance.name
    working.say(name, str(machines), percent(load_of(work)), work.region or DEFAULT_REGION, "CO2e")
    own = figures_said(working)
    less, more = own.get("discount", 0.0), own.get("headroom", 0.0)
    if less and machines > 1 and is_divided(working.said[0].rpartition("\n")[2].lower()):
        raise ReaderError("Say how many of the machines get the discount, as in: 20 machines, 10 at 60 % off and 10 on demand.")
    terms = [f"with {100 * less:g} % off"] * bool(less) + [f"with {100 * more:g} % added"] * bool(more)
    working.say(*terms)
    impact, factor = impact_of_machines(instance, work, facts), (1 - less) * (1 + more)
    return Machine(name, work, impact, (instance.row,), factor, " and ".join(terms))


def figures_said(working: Working) -> dict[str, float]:
    """The figures of the turns that change what machines cost and emit, the last of each role."""
    found: dict[str, float] = {}
    for given in (read_given(turn, working.tables.known) for turn in working.said[0].split("\n")):
        if "region" in given.slots:
            found.pop("grid", None)
        # A frame has 0 for each number.
        found |= {role: value for role in ("discount", "headroom", "grid", "PUE") if (value := given.one(role))}
    return found


def typed(works: Sequence[Workload], facts: Facts, *, whole: bool = False) -> list[Workload]:
    """Resolve workloads to instance types, at most four. A family stands for its most expensive type and its cheapest;
    a `whole` machine of it, each of several families, and a number of machines of one, stands for its most expensive."""
    found: list[Workload] = []
    for work in works:
        if work.instance_type:
            found.append(work)
            continue
        known = [i for i in facts.instances.values() if i.family in work.families and facts.price(i.name)]
        ranked = sorted(known, key=lambda i: facts.price(i.name).usd_per_hour)  # type: ignore[union-attr]
        if not ranked:
            raise ReaderError(f"There is no price of {', '.join(sorted(work.families))} in the data.")
        largest = {i.family: i.name for i in ranked}
        alone = len(largest) == 1 and len(works) == 1 and (work.instances or 1) == 1 and not whole
        ends = dict.fromkeys(largest.values() if not alone else (ranked[-1].name, ranked[0].name))
        found += [replace(work, instance_type=name) for name in ends]
    return found[:4]


def rented(work: Workload, facts: Facts) -> Workload:
    """The workload on the instance type on which each of its accelerators costs least."""
    sold = cheapest_by(replace(work, accelerators=1), "", facts, each=True)
    return replace(sold, accelerators=work.accelerators)


def cheapest_by(work: Workload, question: str, facts: Facts, *, each: bool = False) -> Workload:
    """The workload on the cheapest instance type with the accelerators wanted: their number, memory, maker or family.

    With `each`, or if the question asks for a price per GPU or GB, the price of that unit decides.
    """
    sheets = sheets_of(work, facts) if work.accelerator else []
    memory = work.accelerator_memory_gb or 0.0
    fewest = work.accelerators or (0 if _PART_OF_A_GPU.search(question) else 1)

    def is_wanted(instance: Instance, exactly: bool) -> bool:
        sheet, size = facts.accelerator(instance), (instance.accelerator_memory_gib_each or 0.0) * GIB / 1e9
        vendor = sheet.vendor if sheet else instance.accelerator.partition(" ")[0]
        enough = instance.accelerators >= fewest and instance.accelerators > 0
        return (
            (enough or (instance.family in work.families and not work.accelerators))
            and (not sheets or sheet in sheets)
            and (vendor in work.vendors if work.vendors else sheet is not None or bool(work.families))
            and (not work.families or instance.family in work.families)
            and not {vendor, instance.family, short(instance.accelerator)} & work.without
            and (not memory or (abs(size / memory - 1) < 0.1 if exactly else size > 0.97 * memory))
        )

    if not (work.vendors or work.families or work.accelerator) and re.search(r"\bgpus?\b|\bcards?\b", question):
        work = replace(work, vendors=frozenset({"NVIDIA", "AMD"}))
    priced = [(price.usd_per_hour, i) for i in facts.instances.values() if (price := facts.price(i.name))]
    exactly = not _MORE_OR_SO.search(question)
    fitting = [(usd, i) for usd, i in priced if is_wanted(i, exactly)]
    fitting = fitting or [(usd, i) for usd, i in priced if is_wanted(i, exactly=False)]
    per_gb, each = PER_GB.search(question), each or bool(EACH.search(question))

    def units(instance: Instance) -> float:
        """How many of the unit whose price decides a machine has."""
        if not (each or per_gb):
            return 1.0
        return instance.accelerators * (memory_gb(instance, facts) if per_gb else 1.0)

    sold = [(usd / units(i), i.accelerators, i.name) for usd, i in fitting if units(i)]
    if not sold:
        raise ReaderError("There is no on-demand price of an instance type with such accelerators in the data.")
    return work.on(min(sold)[2], work.instances)


def is_sold_whole(work: Workload, facts: Facts) -> bool:
    """Whether one machine with a price has as many of its accelerators."""
    sheets = sheets_of(work, facts)
    large = (i for i in facts.instances.values() if i.accelerators >= (work.accelerators or 1))
    return any(facts.price(i.name) and facts.accelerator(i) in sheets for i in large)


def inside(work: Workload, facts: Facts) -> Workload:
    """The workload on the accelerators of a machine, without the machine."""
    instance = facts.instances[work.instance_type or ""]
    number = int(instance.accelerators) * (work.instances or 1)
    return replace(work, instance_type=None, instances=None, accelerator=short(instance.accelerator or ""), accelerators=number)


def sheets_of(work: Workload, facts: Facts) -> list[Accelerator]:
    """The data sheets of the accelerator that is named, of the memory that is named if one has it."""
    found = [s for name, sheets in facts.accelerators.items() if short(name) == work.accelerator for s in sheets]
    if not found:
        raise ReaderError(f"There is no accelerator {work.accelerator} in the data: name one that EC2 has, such as L40S or H100.")
    memory = work.accelerator_memory_gb
    near = [s for s in found if not memory or abs((s.memory_gib or 0) * GIB / 1e9 / memory - 1) < 0.1]
    return near or found


def memory_gb(instance: Instance, facts: Facts) -> float:
    """The memory of each accelerator in GB, from its data sheet if there is one."""
    sheet = facts.accelerator(instance)
    gib = sheet.memory_gib if sheet and sheet.memory_gib else instance.accelerator_memory_gib_each
    return round((gib or 0.0) * GIB / 1e9)
