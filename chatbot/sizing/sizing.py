"""A workload -> the memory it needs, the hardware that holds it, what to launch, and what that costs and emits."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from chatbot.answer import ReaderError
from chatbot.sizing import memory as terms
from chatbot.sizing.architecture import Architecture
from chatbot.sizing.completion import complete
from chatbot.sizing.facts import Accelerator, Facts, Instance
from chatbot.sizing.fit import Fit, Hardware, Verdict, hardware, place, runs_on
from chatbot.sizing.impact import DEFAULT_REGION, HOURS_A_MONTH, impact
from chatbot.sizing.memory import Memory
from chatbot.sizing.workload import Task, Workload

CORPUS = Path(__file__).resolve().parents[2] / "corpus"

_VENDORS = ("NVIDIA", "AWS", "AMD", "Intel")


@dataclass(frozen=True, slots=True)
class Sizing:
    """What a workload needs and what holds it.

    `workload` has every slot filled, `assumptions` say what was not said, in a few words each. `fits` is every instance type
    with accelerators that is not ruled out (others only if they are asked for), those that hold the workload first, then by price.
    `named` is the hardware that the workload names, `verdict` what is said of it, and `named_cheapest` the cheapest that holds the
    workload with accelerators of that name, however many. `smallest`, `cheapest`, `least_energy` and
    `least_carbon` are of what holds the workload and whose software runs it: on one machine, of the named kind, within the
    budget and with room, each as far as there is any such. They are None where nothing holds it, or has a figure. `alternatives`
    are the cheapest on each kind of AWS's own chips that may run it. `notes` are what else must be known.
    """

    workload: Workload
    assumptions: tuple[str, ...]
    model: Architecture
    memory: Memory
    fits: tuple[Fit, ...]
    named: Fit | None
    named_cheapest: Fit | None
    smallest: Fit | None
    cheapest: Fit | None
    least_energy: Fit | None
    least_carbon: Fit | None
    alternatives: tuple[Fit, ...]
    notes: tuple[str, ...]

    @property
    def verdict(self) -> Verdict | None:
        return self.named.verdict if self.named else None


def size(workload: Workload, facts: Facts | None = None) -> Sizing:
    """Size a workload, with the facts of the corpus unless others are given.

    ReaderError, one sentence with the remedy, for a workload that is impossible or that names what the facts do not know.
    """
    facts = facts or Facts.load_folder(CORPUS)
    workload, model, assumptions = complete(workload, facts)
    memory = Memory(tuple(_terms(workload, model)))
    machines = [(i, hardware(i, facts)) for i in _candidates(workload, facts)]
    fits = sorted((_fit(i, h, memory, model, workload, facts) for i, h in machines), key=_order)
    named = _named(fits, memory, model, workload, facts)
    chosen = _choosable(fits, named, workload)
    return Sizing(
        workload=workload,
        assumptions=assumptions,
        model=model,
        memory=memory,
        fits=tuple(fits),
        named=named,
        named_cheapest=next((f for f in fits if f.fits and f.runs != "no" and _is_named(f, workload)), None),
        smallest=min(chosen, key=_smallness, default=None),
        cheapest=_least(chosen, "usd_per_hour"),
        least_energy=_least(chosen, "kwh_per_run", "kwh_per_hour"),
        least_carbon=_least(chosen, "kg_co2_per_run", "kg_co2_per_month"),
        alternatives=_alternatives(fits, chosen),
        notes=tuple(_notes(fits, chosen, workload, facts)),
    )


def _terms(workload: Workload, model: Architecture) -> Iterable[terms.Term]:
    form, tokens, sequences = workload.weights, workload.context, workload.sequences
    assert form is not None
    assert tokens is not None
    assert sequences is not None
    if workload.task is Task.SERVE:
        assert workload.cache
        held = terms.kv_cache(model, workload.cache, tokens, sequences)
        # Encoders and diffusion models keep no keys and values.
        return (terms.weights(model, form), held) if held.bytes else (terms.weights(model, form),)
    optimizer, recompute = workload.optimizer, workload.recompute
    assert optimizer is not None
    assert recompute is not None
    kept = terms.activations(model, tokens, sequences, recompute=recompute)
    if workload.task in (Task.LORA, Task.QLORA):
        assert workload.lora_rank
        return (terms.weights(model, form), terms.adapter(model, workload.lora_rank, optimizer), kept)
    states = terms.optimizer_states(model, optimizer, form)
    return (terms.training_weights(model, form), terms.gradients(model, form), states, kept)


def _candidates(workload: Workload, facts: Facts) -> list[Instance]:
    """The instance types that may be used: those with accelerators, and others that are asked for by name or family."""
    _check_names(workload, facts)
    return [i for i in facts.instances.values() if i.name == workload.instance_type or _wanted(i, workload, facts)]


def _wanted(instance: Instance, workload: Workload, facts: Facts) -> bool:
    if instance.family in workload.families:
        return True
    accelerator = facts.accelerator(instance)
    vendor = accelerator.vendor if accelerator else instance.accelerator.partition(" ")[0]
    if not instance.accelerators or workload.families or {vendor, instance.family} & workload.without:
        return False
    return not workload.vendors or vendor in workload.vendors


def _check_names(workload: Workload, facts: Facts) -> None:
    families = {i.family for i in facts.instances.values()}
    names: list[tuple[str, str, Iterable[str]]] = []
    if workload.instance_type:
        names.append(("instance type", workload.instance_type, facts.instances))
    names += [("instance family", family, families) for family in workload.families]
    names += [("maker", vendor, _VENDORS) for vendor in workload.vendors]
    names += [("maker or family", name, [*families, *_VENDORS]) for name in workload.without]
    for kind, name, known in names:
        if name not in set(known):
            near = get_close_matches(name, sorted(known), 3, 0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else "see `wattwise ask` for those there are."
            raise ReaderError(f"There is no {kind} {name!r} in the data: {hint}")
    if workload.accelerator and not _accelerators(workload.accelerator, facts.accelerators):
        near = get_close_matches(workload.accelerator, sorted(facts.accelerators), 3, 0.3)
        raise ReaderError(f"There is no accelerator {workload.accelerator!r} in the data: there is {', '.join(near)}.")


def _accelerators(asked: str, known: Mapping[str, tuple[Accelerator, ...]]) -> list[Accelerator | None]:
    """Those whose name has every word of what is asked: "A100", "NVIDIA L40S"; with "80GB", of that memory."""
    memory = re.search(r"\b(\d+) ?G(?:i?B)?\b", asked)
    words = set(re.findall(r"[a-z0-9]+", re.sub(r"\b\d+ ?G(?:i?B)?\b", "", asked).lower()))
    found: list[Accelerator | None] = []
    for name, sheets in known.items():
        if words and words <= set(re.findall(r"[a-z0-9]+", name.lower())):
            near = [s for s in sheets if not memory or abs((s.memory_gib or 0) / int(memory[1]) - 1) < 0.1]
            found += near if sheets else [None]
    return found


def _fit(
    instance: Instance | None, machine: Hardware, memory: Memory, model: Architecture, workload: Workload, facts: Facts
) -> Fit:
    count, used, sharding, needed = place(memory, model, workload, machine, workload.instances)
    runs, caveats = runs_on(machine, workload)
    fit = Fit(
        instance=instance,
        accelerator=machine.accelerator,
        instances=count,
        accelerators=used,
        sharding=sharding,
        needed_bytes=needed,
        usable_bytes=machine.usable_bytes,
        runs=runs,
        caveats=caveats,
    )
    figures = impact(fit, memory, model, workload, facts)
    budget = _budget(workload)
    within = figures.usd_per_hour <= budget if budget and figures.usd_per_hour is not None else None
    return replace(fit, impact=figures, within_budget=within)


def _budget(workload: Workload) -> float | None:
    month = workload.budget_per_month
    limits = [limit for limit in (workload.budget_per_hour, month and month / HOURS_A_MONTH) if limit]
    return min(limits, default=None)


def _named(fits: list[Fit], memory: Memory, model: Architecture, workload: Workload, facts: Facts) -> Fit | None:
    """The hardware that is named: an instance type, or so many of an accelerator, one unless said.

    Of an accelerator that is sold with several memories, the largest that is named.
    """
    if workload.instance_type:
        return next(fit for fit in fits if fit.name == workload.instance_type)
    if not workload.accelerator:
        return None
    found = [sheet for sheet in _accelerators(workload.accelerator, facts.accelerators) if sheet]
    if not found:
        return None
    sheet = max(found, key=lambda s: s.memory_gib or 0.0)
    like = (i for i in facts.instances.values() if i.accelerators >= 1 and facts.accelerator(i) == sheet)
    seen = max((hardware(i, facts).memory_gib for i in like), default=sheet.memory_gib or 0.0)
    machine = Hardware(workload.accelerators or 1, seen, sheet, sheet.name)
    return _fit(None, machine, memory, model, workload, facts)


def _order(fit: Fit) -> tuple[object, ...]:
    cost = fit.impact.usd_per_hour if fit.impact else None
    return not fit.fits, fit.runs != "yes", fit.instances, cost is None, cost or 0.0, fit.name


def _choosable(fits: Iterable[Fit], named: Fit | None, workload: Workload) -> list[Fit]:
    """What may be advised. Each wish gives way where nothing would be left; what does not fit or run is never advised."""
    asked = workload.vendors or workload.families or workload.instance_type or workload.accelerator
    holds = [f for f in fits if f.fits and (f.runs == "yes" or (asked and f.runs == "unknown"))]

    def is_named(fit: Fit) -> bool:
        # Hardware that does not hold the workload is not what to launch: then all others are open.
        return not named or not named.fits or _is_named(fit, workload)

    def has_the_count(fit: Fit) -> bool:
        return workload.accelerators is None or fit.devices == workload.accelerators

    for wish in (_is_one, is_named, has_the_count, _is_affordable, _has_room):
        holds = [f for f in holds if wish(f)] or holds
    return holds


def _is_named(fit: Fit, workload: Workload) -> bool:
    assert fit.instance is not None
    if workload.instance_type:
        return fit.name == workload.instance_type
    return bool(workload.accelerator and _accelerators(workload.accelerator, {fit.instance.accelerator: ()}))


def _is_one(fit: Fit) -> bool:
    return fit.instances == 1


def _is_affordable(fit: Fit) -> bool:
    return fit.within_budget is not False


def _has_room(fit: Fit) -> bool:
    return fit.verdict == "fits"


def _smallness(fit: Fit) -> tuple[float, ...]:
    count, cost = fit.instances * fit.devices, fit.impact.usd_per_hour if fit.impact else None
    return count, count * fit.usable_bytes, fit.instance.memory_gib if fit.instance else 0.0, cost or math.inf


def _least(fits: Iterable[Fit], *names: str) -> Fit | None:
    """The fit with the least of the first figure that it has."""
    known = [(value, fit.name, fit) for fit in fits if (value := _figure(fit, names)) is not None]
    return min(known, key=lambda item: item[:2])[2] if known else None


def _figure(fit: Fit, names: Iterable[str]) -> float | None:
    values = (getattr(fit.impact, name) for name in names)
    return next((value for value in values if value is not None), None)


def _alternatives(fits: Iterable[Fit], chosen: list[Fit]) -> tuple[Fit, ...]:
    """The first, which is the cheapest, on each kind of AWS's own chips that holds the workload and may run it."""
    taken = {fit.accelerator.name for fit in chosen if fit.accelerator and fit.accelerator.vendor == "AWS"}
    found: dict[str, Fit] = {}
    for fit in fits:
        if fit.fits and fit.runs != "no" and fit.accelerator and fit.accelerator.vendor == "AWS":
            found.setdefault(fit.accelerator.name, fit)
    return tuple(fit for name, fit in found.items() if name not in taken or fit in chosen)


def _notes(fits: list[Fit], chosen: list[Fit], workload: Workload, facts: Facts) -> Iterable[str]:
    if workload.model and (note := facts.models[workload.model].note):
        yield note
    budget = _budget(workload)
    if not any(fit.fits for fit in fits):
        yield "nothing that was considered holds it"
    elif budget and chosen and not any(fit.within_budget for fit in chosen):
        yield f"nothing that holds it is known to cost at most ${budget:.4g} an hour"
    if chosen and all(fit.instances > 1 for fit in chosen):
        yield "it takes several instances: the layers are divided over them, or its training states are"
    if workload.region != DEFAULT_REGION:
        yield f"whether {workload.region} offers an instance type is not in the data"
    silent = [fit.name for fit in chosen if fit.impact and fit.impact.kg_co2_per_month is None]
    if silent:
        more = f" and {len(silent) - 5} more" if len(silent) > 5 else ""
        yield f"not compared for energy and carbon, for want of a published figure: {', '.join(silent[:5])}{more}"
