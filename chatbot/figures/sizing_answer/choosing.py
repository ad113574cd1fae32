"""Choose the hardware that an answer on a workload is about: what is named, or the best for what is asked."""

from dataclasses import replace

from chatbot.figures.sizing_answer.page import Page
from chatbot.sizing import Fit, Sizing, Task
from chatbot.sizing.fit import Hardware, hardware, place
from chatbot.sizing.goals import OF_SPEED, OF_TRAINING, Goal
from chatbot.sizing.impact import impact
from chatbot.sizing.memory import GIB


def named_fit(page: Page, sizing: Sizing) -> Fit | None:
    """Return the hardware that is named, by its name or by its memory; else None."""
    memory = page.asked.workload.accelerator_memory_gb
    if sizing.named or not memory:
        return sizing.named
    count = page.asked.workload.accelerators or 1
    machine = Hardware(count, memory * 1e9 / GIB, None, "GPU")
    placed = place(sizing.memory, sizing.model, sizing.workload, machine, instances=1, every_accelerator=True)
    return Fit(None, None, *placed, machine.usable_bytes, "yes", ())


def wants_any_count(page: Page) -> bool:
    """Whether the instance may have any number of the accelerator named, as in "the smallest Inferentia2 instance"."""
    work, choices = page.asked.workload, (Goal.SMALLEST, Goal.CHEAPEST, Goal.CHOICE)
    return bool(work.accelerator) and not work.accelerators and page.asked.goal in choices


def chosen_fit(page: Page, sizing: Sizing) -> Fit | None:
    """Return the fit that an answer is about: the instance type named, or the best for what is asked."""
    if sizing.named and sizing.named.instance and (sizing.named.fits or page.asked.goal is Goal.COST):
        return sizing.named
    if wants_any_count(page) and sizing.named_cheapest:
        return sizing.named_cheapest
    fit = (sizing.smallest if page.asked.goal is Goal.SMALLEST else None) or sizing.cheapest or sizing.smallest
    wishes = page.asked.workload.families or page.asked.workload.vendors or page.asked.workload.instance_type
    if fit and fit.runs != "yes" and not wishes:
        return next((f for f in sizing.fits if f.fits and f.runs == "yes"), fit)
    return fit


def deployed_on(page: Page, sizing: Sizing) -> Fit | None:
    """Return the fit that deployment figures are about: the hardware named, as it is, or the best for what is asked."""
    named = sizing.named
    if named and page.asked.goal in OF_SPEED and named.instance and sizing.workload.task is Task.SERVE:
        return in_full_use(page, named, sizing)
    if named and page.asked.goal in OF_SPEED | OF_TRAINING and page.asked.goal is not Goal.TOKEN_COST:
        return named
    return named if named and named.instance else chosen_fit(page, sizing)


def in_full_use(page: Page, fit: Fit, sizing: Sizing) -> Fit:
    """Return a machine with as many accelerators in use as the model can be divided over: the most that it can do."""
    facts, work = page.working.tables.facts, sizing.workload
    assert fit.instance
    placed = place(sizing.memory, sizing.model, work, hardware(fit.instance, facts), instances=fit.instances, every_accelerator=True)
    fit = replace(fit, accelerators=placed.accelerators, sharding=placed.sharding, needed_bytes=placed.needed_bytes)
    return replace(fit, impact=impact(fit, sizing.memory, sizing.model, work, facts))
