"""Size a workload: the memory it needs, the hardware that holds it, what to launch, and what that costs and emits."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from chatbot.answer import ReaderError
from chatbot.language.characters import quoted
from chatbot.sizing.architecture import Architecture
from chatbot.sizing.completion import complete
from chatbot.sizing.facts import Accelerator, Facts, Instance
from chatbot.sizing.fit import Fit, Hardware, Verdict, hardware, place, runs_on
from chatbot.sizing.impact import DEFAULT_REGION, HOURS_A_MONTH, impact
from chatbot.sizing.memory import (
    Memory,
    Term,
    adapter,
    gradients,
    kv_cache,
    optimizer_states,
    training_weights,
    weights,
)
from chatbot.sizing.memory import activations as activation_memory
from chatbot.sizing.request import with_names_read
from chatbot.sizing.workload import Task, Workload

CORPUS = Path(__file__).resolve().parents[2] / "corpus"

_VENDORS = ("NVIDIA", "AWS", "AMD", "Intel")
_WORD = re.compile(r"[a-z0-9]+")
_MEMORY = re.compile(r"\b(\d+) ?G(?:i?B)?\b", re.IGNORECASE)
_OF_ACTIVATIONS = re.compile(r"of context|batch|recomputed")
# Relative tolerance: a memory size in GB differs by 7 % from the same number in GiB.
_SAME_MEMORY = 0.1
_SAME_SIZE = 0.1  # Llama 3.1 70B has 70.6 billion parameters


@dataclass(frozen=True, slots=True)
class Sizing:
    """What a workload needs and which hardware holds it.

    `workload` has every slot filled; `assumptions` say in a few words each what was assumed. `fits` holds every
    instance type with accelerators that is not excluded, and others only if they are asked for. Those that hold the
    workload come first, then those known to run it, those with fewer instances, and the cheaper ones.

    `named` is the hardware that the workload names, `verdict` its verdict, and `named_cheapest` the cheapest fit that
    holds the workload with accelerators of that name, however many.

    `smallest`, `cheapest`, `least_energy` and `least_carbon` are recommendations. They hold the workload and their
    software runs it. As far as possible, they are one machine, of the named kind, within the budget and with headroom.
    They are compared by a whole run if its duration is known, otherwise by the hour or month. They are None if nothing
    holds the workload or has the figure. `alternatives` are the cheapest fit on each kind of AWS's own chips that may
    run the workload. `notes` hold what else the user must know.
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


def size(workload: Workload, facts: Facts | None = None, *, activations: bool = True) -> Sizing:
    """Size a workload with the facts of the corpus, or with those given.

    `activations=False` leaves out the activations of a training. Raise ReaderError, one sentence with the remedy, if
    the workload is impossible or names something that the facts do not have.
    """
    facts = facts or _shipped()
    given = with_names_read(workload)
    workload, model, assumptions = complete(given, facts)
    terms = tuple(_terms(workload, model))
    memory = Memory(terms if activations else tuple(t for t in terms if t.name != "activations"))
    if memory.terms != terms:
        assumptions = (*(a for a in assumptions if not _OF_ACTIVATIONS.search(a)), "no activations")
    machines = [(i, hardware(i, facts)) for i in _candidates(workload, facts)]
    fits = sorted((_fit(i, h, memory, model, workload, facts, workload.instances) for i, h in machines), key=_order)
    sheets = _sheets(workload, facts)
    named = _named(sheets, memory, model, workload, facts)
    of_that_name = [fit for fit in fits if fit.name == workload.instance_type or fit.accelerator in sheets]
    # If the named hardware does not hold the workload, recommend from all hardware.
    chosen = _choosable(of_that_name if named and named.fits else fits, workload, of_that_name) or _choosable(fits, workload, of_that_name)
    return Sizing(
        workload=workload,
        assumptions=assumptions,
        model=model,
        memory=memory,
        fits=tuple(fits),
        named=named,
        named_cheapest=next((fit for fit in of_that_name if fit.fits and fit.runs != "no"), None),
        smallest=min(chosen, key=_smallness, default=None),
        cheapest=_least(chosen, "usd_per_run", "usd_per_hour"),
        least_energy=_least(chosen, "kwh_per_run", "kwh_per_hour"),
        least_carbon=_least(chosen, "kg_co2_per_run", "kg_co2_per_month"),
        alternatives=_alternatives(fits),
        notes=(*_unused(given, model, named, sheets), *_notes(fits, chosen, sheets, workload, facts)),
    )


_UNITS = {"sequences": (1, 2**20), "context": (1, 2**24), "parameters": (10**8, 2**15)}


def most(workload: Workload, slot: Literal["sequences", "context", "parameters"], facts: Facts) -> int:
    """The largest number of sequences, context tokens or parameters that fits the named hardware; 0 if none fits.

    Parameters are counted in steps of 0.1 billion. A context is at most what the model supports.
    """
    unit, limit = _UNITS[slot]

    def fits(count: int) -> bool:
        try:
            filled, model, _ = complete(replace(workload, **{slot: count * unit}), facts)  # type: ignore[arg-type]
        except ReaderError:
            return False
        memory = Memory(tuple(_terms(filled, model)))
        named = _named(_sheets(filled, facts), memory, model, filled, facts)
        return named is not None and named.fits

    complete(replace(workload, **{slot: unit}), facts)  # type: ignore[arg-type]
    return bisect_left(range(1, limit), True, key=lambda count: not fits(count)) * unit


def _shipped() -> Facts:
    if not (CORPUS / "facts").is_dir():
        raise ReaderError(
            "There are no facts to size with: run `wattwise ingest` in the folder that holds corpus/ first."
        )
    return Facts.load_folder(CORPUS)


def _terms(workload: Workload, model: Architecture) -> Iterable[Term]:
    form, tokens, sequences = workload.weights, workload.context, workload.sequences
    assert form is not None
    assert tokens is not None
    assert sequences is not None
    if workload.task is Task.SERVE:
        assert workload.cache
        held = kv_cache(model, workload.cache, tokens, sequences)
        # Encoders and diffusion models have no KV cache.
        return (weights(model, form), held) if held.bytes else (weights(model, form),)
    optimizer, recompute = workload.optimizer, workload.recompute
    assert optimizer is not None
    assert recompute is not None
    kept = activation_memory(model, tokens, sequences, recompute=recompute)
    if workload.task in (Task.LORA, Task.QLORA):
        assert workload.lora_rank
        return (weights(model, form), adapter(model, workload.lora_rank, optimizer, workload.lora_targets), kept)
    states = optimizer_states(model, optimizer, form)
    return (training_weights(model, form), gradients(model, form), states, kept)


def _candidates(workload: Workload, facts: Facts) -> list[Instance]:
    """The instance types to consider: those with accelerators, and others asked for by name or family."""
    _check_names(workload, facts)
    return [i for i in facts.instances.values() if i.name == workload.instance_type or _wanted(i, workload, facts)]


def _wanted(instance: Instance, workload: Workload, facts: Facts) -> bool:
    if instance.family in workload.families:
        return True
    if not instance.accelerators or workload.families:
        return False
    accelerator = facts.accelerator(instance)
    vendor = accelerator.vendor if accelerator else instance.accelerator.partition(" ")[0]
    if {vendor, instance.family, *(name for name in workload.without if instance.accelerator.endswith((f" {name}", f" {name} GPU", f" {name} chip")))} & workload.without:
        return False
    return not workload.vendors or vendor in workload.vendors


def _check_names(workload: Workload, facts: Facts) -> None:
    families = {i.family for i in facts.instances.values()}
    names: list[tuple[str, str, Iterable[str]]] = []
    if workload.instance_type:
        names.append(("instance type", workload.instance_type, facts.instances))
    names += [("instance family", family, families) for family in workload.families]
    names += [("maker", vendor, _VENDORS) for vendor in workload.vendors]
    names += [("maker or family", name, [*families, *_VENDORS]) for name in workload.without if not any(f" {name}" in sheet for sheet in facts.accelerators)]
    for kind, name, known in names:
        if name not in set(known):
            near = get_close_matches(name, sorted(known), 3, 0.5)
            hint = (
                f"did you mean {' or '.join(near)}?"
                if near
                else f"there are {', '.join(sorted(known)[:5])} and others."
            )
            raise ReaderError(f"There is no {kind} {quoted(name)} in the data: {hint}")


def _sheets(workload: Workload, facts: Facts) -> list[Accelerator]:
    """The accelerators whose names have every word of the named one ("A100", "NVIDIA L40S"); "80GB" is its memory."""
    if not workload.accelerator:
        return []
    memory = _MEMORY.search(workload.accelerator)
    words = set(_WORD.findall(_MEMORY.sub("", workload.accelerator).lower()))
    found = [
        s for name, sheets in facts.accelerators.items() if words <= set(_WORD.findall(name.lower())) for s in sheets
    ]
    found = [s for s in found if not memory or abs((s.memory_gib or 0) / int(memory[1]) - 1) < _SAME_MEMORY]
    if not words or not found:
        raise ReaderError(
            f"There is no accelerator {quoted(workload.accelerator)} in the data: name one that EC2 has, as L40S, H100 or Trainium2."
        )
    return found


def _fit(
    instance: Instance | None,
    machine: Hardware,
    memory: Memory,
    model: Architecture,
    workload: Workload,
    facts: Facts,
    instances: int | None = None,
) -> Fit:
    # Accelerators named on their own are all used. Of an instance's, only as many as necessary are used.
    placed = place(memory, model, workload, machine, instances=instances, every_accelerator=instance is None)
    runs, caveats = runs_on(machine, workload)
    fit = Fit(
        instance=instance,
        accelerator=machine.accelerator,
        instances=placed.instances,
        accelerators=placed.accelerators,
        sharding=placed.sharding,
        needed_bytes=placed.needed_bytes,
        usable_bytes=machine.usable_bytes,
        runs=runs,
        caveats=caveats,
    )
    figures = impact(fit, memory, model, workload, facts)
    budget = _budget(workload, figures.training_hours_low)
    within = figures.usd_per_hour <= budget if budget and figures.usd_per_hour is not None else None
    return replace(fit, impact=figures, within_budget=within)


def _budget(workload: Workload, training_hours: float | None = None) -> float | None:
    """The most that an hour may cost. A sum is for a whole training, a monthly one for its hours in a month."""
    hours = workload.hours or training_hours
    limits = (workload.budget_per_hour, workload.budget_per_month and workload.budget_per_month / min(hours or HOURS_A_MONTH, HOURS_A_MONTH), training_hours and workload.budget and workload.budget / training_hours)
    return min(filter(None, limits), default=None)


def _named(
    sheets: list[Accelerator], memory: Memory, model: Architecture, workload: Workload, facts: Facts
) -> Fit | None:
    """The named hardware: an instance type, or an accelerator in its largest memory size; one unless a number is given."""
    if workload.instance_type:
        instance = facts.instances[workload.instance_type]
        machine = hardware(instance, facts)
        return _fit(instance, machine, memory, model, workload, facts, workload.instances or 1)
    if not sheets:
        return None
    sheet = max(sheets, key=lambda s: s.memory_gib or 0.0)
    like = (i for i in facts.instances.values() if i.accelerators >= 1 and facts.accelerator(i) == sheet)
    seen = max((hardware(i, facts).memory_gib for i in like), default=sheet.memory_gib or 0.0)
    machine = Hardware(workload.accelerators or 1, seen, sheet, sheet.name)
    return _fit(None, machine, memory, model, workload, facts, workload.instances or 1)


def _order(fit: Fit) -> tuple[object, ...]:
    return not fit.fits, fit.runs != "yes", fit.instances, fit.hourly, fit.name


def _choosable(fits: Iterable[Fit], workload: Workload, named: Sequence[Fit]) -> list[Fit]:
    """The fits that may be recommended; hardware that does not hold or run the workload never is.

    Each preference is dropped if it would leave nothing.
    """
    wished = workload.vendors or workload.families
    holds = [f for f in fits if f.fits and (f.runs == "yes" or (f.runs == "unknown" and (wished or f in named)))]
    holds = [f for f in holds if f.instances == 1] or holds
    holds = [f for f in holds if workload.accelerators in (None, f.devices)] or holds
    holds = [f for f in holds if f.within_budget] or holds
    roomy = [f for f in holds if f.verdict == "fits"]
    return roomy if roomy and min(f.hourly for f in roomy) <= _DEAR * min(f.hourly for f in holds) else holds


# Fits with headroom are preferred only if the cheapest of them costs at most this many times the cheapest of all.
_DEAR = 2.0


def _smallness(fit: Fit) -> tuple[float, ...]:
    count = fit.instances * fit.devices
    return count, count * fit.usable_bytes, fit.instance.memory_gib if fit.instance else 0.0, fit.hourly


def _least(fits: list[Fit], *names: str) -> Fit | None:
    """The fit with the smallest value of the first of these figures that any fit has."""
    for name in names:
        known = [(value, fit.name, fit) for fit in fits if (value := getattr(fit.impact, name)) is not None]
        if known:
            return min(known, key=lambda item: item[:2])[2]
    return None


def _alternatives(fits: Iterable[Fit]) -> tuple[Fit, ...]:
    """The first fit, which is the cheapest, on each kind of AWS's own chips that holds the workload and may run it."""
    found: dict[str, Fit] = {}
    for fit in fits:
        if fit.fits and fit.runs != "no" and fit.accelerator and fit.accelerator.vendor == "AWS":
            found.setdefault(fit.accelerator.name, fit)
    return tuple(found.values())


def _unused(given: Workload, model: Architecture, named: Fit | None, sheets: list[Accelerator]) -> Iterable[str]:
    """What was given and is not used: a note on each."""
    if given.model and given.parameters and abs(given.parameters / model.parameters - 1) > _SAME_SIZE:
        yield f"{given.model} has {model.parameters / 1e9:.4g} billion parameters: the {given.parameters / 1e9:.4g} billion given are not used"
    if named and named.instance and sheets and named.accelerator not in sheets:
        yield f"{named.name} has no {given.accelerator}: the verdict is that of {named.name}"
    if named and not named.instance and named.accelerators < (count := given.accelerators or 1):
        yield f"the model is divided over {named.accelerators} of the {count:,} accelerators, as it cannot be divided evenly over more of them"


def _notes(
    fits: list[Fit], chosen: list[Fit], sheets: list[Accelerator], workload: Workload, facts: Facts
) -> Iterable[str]:
    if workload.model and (note := facts.models[workload.model].note):
        yield note
    memories = sorted({sheet.row.cells["Memory"] for sheet in sheets})
    if len(memories) > 1:
        yield f"the {sheets[0].name} is made with {' and '.join(memories)}: the verdict is that of the largest"
    budget = _budget(workload)
    if not any(fit.fits for fit in fits):
        yield "nothing that was considered holds it"
    elif not chosen:
        reasons = dict.fromkeys(reason for fit in fits if fit.fits for reason in fit.caveats)
        yield f"what would hold it is not known to run it: {'; '.join(reasons)}"
    elif budget and not any(fit.within_budget for fit in chosen):
        yield f"nothing that holds it is known to cost at most ${budget:.4g} an hour"
    if chosen and all(fit.instances > 1 for fit in chosen):
        yield "it takes several instances: serving divides the layers over them, training what ZeRO shards"
    if workload.region != DEFAULT_REGION:
        yield f"whether {workload.region} offers an instance type is not in the data"
    silent = [fit.name for fit in chosen if fit.impact and fit.impact.kg_co2_per_month is None]
    if silent:
        more = f" and {len(silent) - 5} more" if len(silent) > 5 else ""
        yield f"not compared for energy and carbon, for want of a published figure: {', '.join(silent[:5])}{more}"
