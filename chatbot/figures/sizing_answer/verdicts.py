"""Word verdicts: whether a workload fits, on what, how much fits, and what would change that."""

from dataclasses import replace

from chatbot.answer import ReaderError
from chatbot.figures.sizing_answer.choosing import chosen_fit, named_fit, wants_any_count
from chatbot.figures.sizing_answer.deployment import cost
from chatbot.figures.sizing_answer.memory import against, need
from chatbot.figures.sizing_answer.page import Page, rounded_count
from chatbot.figures.sizing_answer.solving import SOLVED, as_sold, fewest
from chatbot.sizing import Fit, Format, Sizing, Task, Workload, size
from chatbot.sizing.facts import short
from chatbot.sizing.fit import TRAINING
from chatbot.sizing.goals import OF_DEPLOYMENT, Goal
from chatbot.sizing.memory import BITS
from chatbot.working import capital

# Goals whose first line tells which machine to launch, if no hardware is named.
_LAUNCHED_FIRST = frozenset({Goal.CHEAPEST, Goal.SMALLEST, Goal.CHOICE, Goal.COUNT, Goal.FITS, Goal.COMPARE})


def verdict(page: Page, sizing: Sizing, fit: Fit) -> str:
    """State whether the hardware named holds the workload and, if not, how many of it do."""
    wanted = sizing.workload.instances or 1
    answer = "Yes" if fit.fits and fit.instances <= wanted and fit.runs != "no" else "No"
    if fit.verdict == "tight" and fit.runs != "no":
        answer = "Yes, only just" if fit.fits else "Not quite"
    if fit.runs == "unknown" and answer == "Yes":
        answer = "By its memory, yes"
    caveat = f"; {fit.caveats[0]}" if fit.caveats and fit.runs != "yes" else ""
    count = ""
    if not fit.instance and not fit.fits and (found := fewest(sizing, fit)):
        sold = sizing.named_cheapest
        count = f"; {found[0]} of them hold it"
        if sold and abs(sold.usable_bytes / fit.usable_bytes - 1) < 0.01:
            has = sold.devices * sold.instances
            several = f", which has {has}" if has != found[0] else ""
            count += f", as in {page.machine_name(sold)}{several}"
        page.say(count)
    elif fit.instances > wanted and fit.fits:
        count = f"; it takes {page.say(f'{fit.instances} of them')}"
    told = f"{against(page, sizing, fit)}{count}{caveat}."
    return told if page.asked.goal is Goal.MEMORY else f"{answer}: {told}"


def held(page: Page, sizing: Sizing, fit: Fit) -> str:
    """Say that a machine does not hold the model or, if no machine is named, that the chosen one does; else ""."""
    if not fit.fits:
        return f"{page.machine_name(fit)} does not hold it, though: {against(page, sizing, fit)}."
    if sizing.named and sizing.named.instance:
        return ""
    return f"{page.machine_name(fit)} holds it: {against(page, sizing, fit)}."


def counted(page: Page, sizing: Sizing, named: Fit) -> str:
    """State how many accelerators, or instances, of the named kind hold the workload."""
    if named.instance:
        fit = next((f for f in sizing.fits if f.name == named.name), named)
        what = page.machine_name(fit) if fit.instances > 1 else f"1 × {fit.name}"
    elif found := fewest(sizing, named):
        devices, (_, _, sharding, needed) = found
        fit = replace(named, accelerators=devices, sharding=sharding, needed_bytes=needed)
        gpus = f"{devices} GPU{'s' if devices > 1 else ''}"
        what = f"{devices} × {short(named.name)}" if named.accelerator else gpus
        what += _in_servers(devices, [f for f in sizing.fits if f.accelerator == named.accelerator])
    else:
        fit = sizing.named_cheapest or named
        what = f"{fit.instances * fit.devices} × {short(named.name)} ({fit.instances} × {fit.name})"
    page.say(what)
    if not fit.fits:
        return f"No number of {fit.name} that was considered holds it: {against(page, sizing, fit)}."
    return f"At least {what}: {against(page, sizing, fit)}."


def _in_servers(devices: int, machines: list[Fit]) -> str:
    """Return the servers that have as many accelerators, if no single machine has; else ""."""
    servers = next((f for f in machines if f.fits), None)
    if not servers or devices <= max(f.devices for f in machines):
        return ""
    whole, there = f"{servers.instances} × {servers.name}", servers.instances * servers.devices
    return f" ({whole})" if devices == there else f" by memory ({there} in {whole})"


def choice(page: Page, sizing: Sizing) -> str:
    """State which machine to take, and one that is cheaper by far but only just large enough."""
    fit, goal = chosen_fit(page, sizing), page.asked.goal
    if fit is None:
        return f"{need(page, sizing)}: no single kind of instance that was considered holds it and is known to run it."
    opening = {
        Goal.SMALLEST: "The smallest that holds it is",
        Goal.CHEAPEST: "The cheapest that holds it is",
    }.get(goal, "Use")
    if goal is Goal.COUNT and fit.accelerator and fit.devices * fit.instances > 1:
        opening = page.say(f"{fit.instances * fit.devices} × {short(fit.accelerator.name)}:") + " use"
    if fit.within_budget is False:
        opening = "Nothing that holds it is within the budget; the nearest is"
    described = page.described(fit)
    cheaper = (f for f in sizing.fits if f.runs == "yes" and f.instances == 1 and f.hourly < 0.9 * fit.hourly)
    tight = next((f for f in cheaper if f.fits and f.verdict == "tight"), None)
    just = f"; {page.described(tight)} only just holds it" if tight and fit.within_budget is not False else ""
    just = ", it only just holds it" if fit.verdict == "tight" else just
    return f"{opening} {described}: {need(page, sizing, fit)}{just}."


def solution(page: Page, sizing: Sizing, fit: Fit) -> str:
    """State the most that fits, and the memory that it then needs."""
    work, goal = sizing.workload, page.asked.goal
    if goal is Goal.LARGEST:
        told = f"{rounded_count(sizing.model.parameters)} parameters in {work.weights}"
    elif goal is Goal.USERS:
        told = f"{work.sequences:,} sequence{'s' if work.sequences != 1 else ''} at once, of {work.context:,} tokens each"
    else:
        several = f" for each of {work.sequences:,} sequences" if (work.sequences or 1) > 1 else ""
        told = f"{work.context:,} tokens of context{several}"
    page.say(told)
    longest = work.model and page.working.tables.facts.models[work.model].max_position
    why = ", which is all that the model takes" if goal is Goal.LONGEST and work.context == longest else ""
    return f"At most {told}{why}: {against(page, sizing, fit)}."


def launch(page: Page, sizing: Sizing) -> str:
    """State what to launch; "" if the first line says it already."""
    goal, named = page.asked.goal, named_fit(page, sizing)
    if goal in SOLVED and not (sizing.named and sizing.named.instance):
        return ""
    told = (sizing.named_cheapest if goal is Goal.COUNT else None) or chosen_fit(page, sizing)
    if not told:
        return ""
    picks: list[str] = []
    told_first = (named is None or wants_any_count(page)) and goal in _LAUNCHED_FIRST
    told_already = goal is Goal.COST or (goal in OF_DEPLOYMENT and told == sizing.named)
    if told.fits and not told_first and not told_already:
        if goal not in OF_DEPLOYMENT and told == sizing.named and told.impact and told.impact.usd_per_month is not None:
            picks.append(cost(page, sizing, told).rstrip("."))
        else:
            only_just = ", which only just holds it" if told.verdict == "tight" and named is None else ""
            picks.append(f"Use {page.described(told)}{only_just}")
    wishes = page.asked.workload.vendors or page.asked.workload.families or page.asked.workload.without
    for fit in sizing.alternatives[:1]:
        if fit.name != told.name and fit.runs == "yes" and not wishes and fit.hourly < told.hourly and not page.has_described(fit):
            picks.append(f"on AWS's own chips: {page.described(fit)}")
    return capital("; ".join(picks)) + "." if picks else ""


def lighter(page: Page, sizing: Sizing) -> str:
    """State which smaller format, or lighter training method, makes the model fit or a cheaper machine enough."""
    work, named = sizing.workload, named_fit(page, sizing)
    if page.asked.goal in (Goal.COUNT, *SOLVED, *OF_DEPLOYMENT) or wants_any_count(page):
        return ""
    for step in _lighter_steps(page.asked.workload, sizing, named):
        try:
            smaller = size(as_sold(step, page.working.tables.facts), page.working.tables.facts)
        except ReaderError:
            continue
        fit, before, after = named_fit(page, smaller), sizing.cheapest, smaller.cheapest
        what = f"With {smaller.workload.task}" if work.task in TRAINING else f"In {smaller.workload.weights}"
        if named and not named.fits and fit and fit.fits and fit.runs != "no" and fit.instances <= (work.instances or 1):
            page.assume(smaller)
            holds = "it fits" if len(page.sizings) == 1 else f"{page.machine_name(fit)} holds it"
            return page.cited(f"{what} {holds}, with {page.total(smaller.memory.terms)}", *smaller.model.rows)
        if (not named or named.fits) and before and after and after.hourly < 0.8 * before.hourly:
            page.assume(smaller)
            return f"{what} {page.described(after)} is enough."
    return ""


def _lighter_steps(asked: Workload, sizing: Sizing, named: Fit | None) -> list[Workload]:
    """Return what is asked in smaller formats or, if a training does not fit what is named, with lighter methods."""
    work = sizing.workload
    if work.task in TRAINING and work.task is not Task.QLORA and named and not named.fits:
        return [replace(asked, task=task, weights=None) for task in (Task.LORA, Task.QLORA) if task is not work.task]
    if work.task is Task.SERVE and work.weights:
        smaller = (form for form in (Format.INT8, Format.INT4) if BITS[form] < BITS[work.weights] - 1)
        return [replace(asked, weights=form) for form in smaller]
    return []
