"""Turn what is asked into workloads to size: counts, users and deadlines are solved for, machines put as they are sold."""

import math
import re
from dataclasses import replace
from typing import Any, Literal

from chatbot.answer import ReaderError
from chatbot.figures.hardware_answer.machines import rented
from chatbot.sizing import Facts, Fit, Sizing, Task, Workload, most, size
from chatbot.sizing.asking import Asked
from chatbot.sizing.facts import short
from chatbot.sizing.fit import FULL_SERVER, TRAINING, Hardware, Placement, place
from chatbot.sizing.goals import OF_SPEED, Goal
from chatbot.sizing.memory import GIB, USABLE
from chatbot.sizing.model_names import display_name
from chatbot.sizing.reading.tokens import ALL_CONTEXT

# The slot that is solved for.
SOLVED: dict[Goal, Literal["sequences", "context", "parameters"]] = {
    Goal.USERS: "sequences",
    Goal.LONGEST: "context",
    Goal.LARGEST: "parameters",
}
ASKS_OPERATIONS = re.compile(r"\bflops?\b|\bfloating[- ]point operations\b|\bcompute budget\b")
_MOST_CARDS = 1024
# A larger count in a training question is the size of the data set, not of the batch: "20,000 support tickets".
_MOST_IN_A_BATCH = 1024
# Sizes of models of which a token computes with a part that is not read.
_EXPERTS = re.compile(r"\bmoes?\b|\bmixtures?[ -]of[ -]experts?\b|\d ?b(?:illion)? (?:param\w+ )?activ(?:e|ated)\b")


def computes_with_part(work: Workload, text: str) -> bool:
    """Whether a model without a name is a mixture of experts: how many parameters a token computes with is not known."""
    return not work.model and bool(_EXPERTS.search(text.lower()))


def meant(asked: Asked, question: str) -> Asked:
    """Adjust the goal to the slots and vice versa: if tokens are asked for, those of an earlier turn are dropped."""
    work, goal = asked.workload, asked.goal
    if goal is Goal.COUNT and work.tokens and work.hours:
        goal = Goal.DEADLINE
    elif goal is Goal.COST and work.tokens_per_second:
        goal = Goal.TOKEN_COST
    elif goal is Goal.DIFFERENCE:
        goal = next((g for g in asked.goals if g is not Goal.DIFFERENCE), Goal.COST)
    changes: dict[str, Any] = {}
    if work.task not in TRAINING and (goal in (Goal.TOKENS, Goal.DEADLINE) or (work.tokens and ASKS_OPERATIONS.search(question))):
        changes["task"] = Task.FULL if goal is Goal.TOKENS else Task.PRETRAIN
    if work.task in TRAINING and (work.sequences or 0) > _MOST_IN_A_BATCH:
        changes["sequences"] = None
    if goal is Goal.TOKENS:
        changes["tokens"] = None
    elif goal is Goal.DEADLINE:
        changes |= {"accelerators": None, "instances": None}
    elif goal in OF_SPEED and goal is not Goal.PREFILL and not work.context:
        changes["context"] = 1  # the bound already holds for the first token
    if goal is Goal.TOKEN_COST and work.tokens_per_second and work.load:
        changes["tokens_per_second"] = work.tokens_per_second * work.load  # idle time is paid for, too
    named = work.vendors or work.families or work.accelerator or work.instance_type
    if goal in (Goal.COUNT, Goal.CHEAPEST, Goal.CHOICE, Goal.SMALLEST) and "gpu" in question and not named:
        changes["vendors"] = frozenset({"NVIDIA", "AMD"})
    # If a memory term is named beside another goal, or the weights together with gradients, the whole sum is meant.
    gradients = work.task in TRAINING and re.search(r"gradient|grads", question)
    term = asked.term if goal in (Goal.MEMORY, Goal.CHOICE, Goal.COMPARE) and not gradients else None
    others = tuple(replace(other, **changes) for other in asked.others)
    goals = tuple(dict.fromkeys((goal, *(g for g in asked.goals if g is not asked.goal or g is Goal.DIFFERENCE))))
    return replace(asked, goals=goals, workload=replace(work, **changes), others=others, term=term)


def shortened(asked: Asked, facts: Facts) -> tuple[Asked, str]:
    """Replace a context that a model does not take by its longest one; also return a remark on each that was given."""
    works, remarks = [], list[str]()
    for work in (asked.workload, *asked.others):
        longest = facts.models[work.model].max_position if work.model else None
        if work.context == ALL_CONTEXT:
            work = replace(work, context=longest)
        elif asked.term and longest and (work.context or 0) > longest:
            remarks.append(f"{display_name(work.model or '')} takes {longest:,} tokens at most, not {work.context:,}.")
            work = replace(work, context=longest)
        works.append(work)
    return replace(asked, workload=works[0], others=tuple(works[1:])), " ".join(dict.fromkeys(remarks))


def with_faster(asked: Asked, facts: Facts) -> Asked:
    """If a training may run on any machine, compare the one on which it is cheapest with the fastest within the budget."""
    work = asked.workload
    if asked.others or work.instance_type or work.accelerator:
        return asked
    sizing = size(replace(work, hours=None), facts)
    single = (f for f in sizing.fits if f.fits and f.runs == "yes" and f.instances == 1 and f.within_budget is not False)
    trained = [(f.impact.training_hours_low, f.name) for f in single if f.impact and f.impact.training_hours_low and f.impact.usd_per_run]
    if not sizing.cheapest or not trained or min(trained)[1] == sizing.cheapest.name:
        return asked
    one, other = (replace(work, instance_type=name, instances=1) for name in (sizing.cheapest.name, min(trained)[1]))
    return replace(asked, workload=one, others=(other,))


def solved(asked: Asked, facts: Facts) -> Asked:
    """Put the most users, tokens or parameters that fit into the workload. If none fit, answer whether it fits instead."""
    slot = SOLVED.get(asked.goal)
    work = asked.workload
    if asked.goal is Goal.DEADLINE:
        return replace(asked, workload=_in_time(work, facts))
    if asked.goal is Goal.TOKENS and not work.hours:
        return replace(asked, workload=replace(work, hours=24.0))
    if not slot or (slot == "parameters" and work.model):
        return asked
    if len(work.families) == 1 and not (work.instance_type or work.accelerator):
        known = (i for i in facts.instances.values() if i.family in work.families and i.accelerators)
        largest = max(known, key=lambda i: i.accelerators, default=None)
        work = replace(work, instance_type=largest.name if largest else None)
    if work.accelerator_memory_gb and not (work.instance_type or work.accelerator):
        work = part_of_one(replace(rented(work, facts), accelerators=work.accelerators or 1), facts)
    if not (work.instance_type or work.accelerator):
        raise ReaderError("Name the accelerator or the instance type that it is to fit, such as L40S or g6e.xlarge.")
    found = most(as_sold(work, facts), slot, facts)
    if not found:
        return replace(asked, goals=(Goal.FITS,), workload=replace(work, parameters=work.parameters or 1e8))
    return replace(asked, workload=replace(work, **{slot: found}))  # type: ignore[arg-type]


def _in_time(work: Workload, facts: Facts) -> Workload:
    """Return the workload with as many accelerators, or instances, as train the tokens in the given hours."""
    if not (work.tokens and work.hours):
        raise ReaderError("Say how many tokens the training sees and in which time it is to end, as in 1T tokens in 30 days.")
    one = size(as_sold(replace(work, hours=None), facts), facts)
    fit = one.named or one.cheapest or one.smallest
    speed = fit.impact.training_tokens_per_second_high if fit and fit.impact else None
    if not (fit and speed):
        raise ReaderError("There is no published compute of this hardware in the data: name another, such as H100 or p5.48xlarge.")
    count = math.ceil(work.tokens / (speed / fit.instances * work.hours * 3600) - 1e-9)
    return replace(work, instance_type=fit.instance.name, instances=count) if fit.instance else replace(work, accelerators=count)


def as_sold(work: Workload, facts: Facts) -> Workload:
    """Name an accelerator as its table does ("A100 80GB"), and turn more of them than a server has into servers."""
    if work.instance_type and work.accelerators:
        each = facts.instances[work.instance_type].accelerators if work.instance_type in facts.instances else 0
        servers = math.ceil(work.accelerators / each) if each else 1
        work = replace(work, accelerators=None, instances=work.instances or servers)
    if not work.accelerator:
        return work
    memory = f" {work.accelerator_memory_gb:.0f}GB" if work.accelerator_memory_gb else ""
    work = replace(work, accelerator=work.accelerator + memory)
    sold = [i for i in facts.instances.values() if short(i.accelerator) == work.accelerator]
    prices = {i.name: price.usd_per_hour for i in sold if (price := facts.price(i.name))}
    largest = max(sold, key=lambda i: (i.accelerators, -prices.get(i.name, math.inf)), default=None)
    if largest and work.accelerators and work.accelerators > largest.accelerators >= 1:
        servers = math.ceil(work.accelerators / largest.accelerators)
        return replace(work, accelerator=None, accelerators=None, instance_type=largest.name, instances=servers)
    return work


def part_of_one(work: Workload, facts: Facts) -> Workload:
    """Put fewer accelerators than a machine has in its place: "could a single GPU of it do?"."""
    instance, count = facts.instances.get(work.instance_type or ""), work.accelerators
    if not (instance and count and count < instance.accelerators and (sheet := facts.accelerator(instance))):
        return work
    return replace(work, instance_type=None, instances=None, accelerator=short(sheet.name), accelerator_memory_gb=None)


def enough(work: Workload, facts: Facts, *, whole: bool) -> Workload:
    """As many of an accelerator that is named without a number as hold the model or, beside machines, the `whole` one that has them."""
    if work.accelerators or work.instance_type or not work.accelerator:
        return work
    sizing = size(work, facts)
    named, machine = sizing.named, sizing.named_cheapest
    if not named or not named.accelerator or named.fits:
        return work
    if whole and machine:
        return work.on(machine.name, machine.instances)
    found = fewest(sizing, named)
    return replace(work, accelerators=found[0]) if found else work


def fewest(sizing: Sizing, named: Fit) -> tuple[int, Placement] | None:
    """Return the fewest accelerators that hold a workload, and their placement; None if no number considered does."""
    alike = (f for f in sizing.fits if f.accelerator and named.accelerator in (f.accelerator, None))
    most = max((f.devices for f in alike), default=FULL_SERVER)
    # ZeRO divides a training over any number of cards; tensor parallelism divides a model over those of one server.
    for devices in range(1, (_MOST_CARDS if sizing.workload.task in TRAINING else most) + 1):
        machine = Hardware(devices, named.usable_bytes / USABLE / GIB, named.accelerator, named.name)
        placed = place(sizing.memory, sizing.model, sizing.workload, machine, instances=1, every_accelerator=True)
        if placed.needed_bytes <= named.usable_bytes:
            return devices, placed
    return None
