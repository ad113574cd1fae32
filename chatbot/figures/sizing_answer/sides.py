"""Compare machines, formats or places for a workload: the best first, then a line for each side."""

from collections.abc import Sequence

from chatbot.figures.sizing_answer.choosing import chosen_fit, deployed_on, in_full_use, named_fit
from chatbot.figures.sizing_answer.deployment import RUNS, cost, is_per_token, speed, whole_run
from chatbot.figures.sizing_answer.memory import against, has, need, one_term
from chatbot.figures.sizing_answer.page import Page
from chatbot.figures.sizing_answer.solving import computes_with_part
from chatbot.figures.sizing_answer.verdicts import counted
from chatbot.sizing import Fit, Sizing, Task
from chatbot.sizing.goals import OF_PLACING, Goal


def preference(page: Page, sizings: Sequence[Sizing]) -> str:
    """State which side is best: by speed, tokens per dollar, cost of the run, or price of what holds the model."""
    if page.asked.goal is Goal.WATER:
        return ""  # the water of a run is not computed
    goals, run = set(page.asked.goals), RUNS.get(page.asked.goal)
    fits = [deployed_on(page, s) for s in sizings]
    by = _compared_by(page, fits)

    def value(fit: Fit | None) -> float | None:
        return getattr(fit.impact, by) if fit and fit.impact else None

    holding = ((s, fit) for s, fit in zip(sizings, fits, strict=True) if fit and fit.fits and fit.runs != "no")
    sides = [(s, fit) for s, fit in holding if value(fit) is not None]
    if OF_PLACING & goals:
        sides = [(s, fit) for s, fit in sides if not s.named or (s.named.fits and s.named.runs != "no")]
    regions = len({s.workload.region for s in sizings}) > 1
    machines = len({page.machine_name(fit) for fit in fits if fit}) > 1
    if not sides or not (machines or regions):
        return ""
    fastest = by == "decode_tokens_per_second"
    sizing, best = (max if fastest else min)(sides, key=lambda side: value(side[1]) or 0.0)
    name = page.say(str(sizing.workload.region) if regions else page.machine_name(best))
    one_other = len([fit for _, fit in sides if fit is not best]) == 1
    if len(sides) < len(sizings):
        if by not in ("usd_per_hour", "usd_per_run"):
            return ""
        return f"Only {name} will do." if all(fit is best for _, fit in sides) else f"{name} is the cheapest that will do."
    if len({value(fit) for _, fit in sides}) == 1:
        return ""
    if fastest:
        return f"{name} is {'faster' if one_other else 'the fastest'} by the bound of memory bandwidth."
    if by == "usd_per_million_tokens" and not page.asked.workload.tokens_per_second:
        most = f"{name} gives {'more' if one_other else 'the most'} tokens for a dollar"
        return f"{most}, by the bound of memory bandwidth; no measured figure is in the data."
    if by == "usd_per_hour" and goals & {*OF_PLACING, Goal.SMALLEST} and Goal.DIFFERENCE not in goals:
        neuron = ", run with the Neuron SDK" if best.accelerator and best.accelerator.vendor == "AWS" else ""
        cheaper = "cheaper of the two" if one_other else "cheapest of these"
        return f"{name} is enough, and the {cheaper}{neuron}: {need(page, sizing)}."
    if run:
        return f"{name} {run[2]} {'less' if one_other else 'the least'} for the run."
    return f"{name} is {'cheaper' if len(sides) == 2 else 'the cheapest'}{' for the run' if by == 'usd_per_run' else ''}."


def _compared_by(page: Page, fits: Sequence[Fit | None]) -> str:
    """Return the field of an impact by which the sides are compared."""
    goal, goals = page.asked.goal, set(page.asked.goals)
    if goal in RUNS:
        return RUNS[goal][0]
    if goal in (Goal.THROUGHPUT, Goal.LATENCY):
        return "decode_tokens_per_second"
    if all(fit and is_per_token(page, fit) for fit in fits):
        return "usd_per_million_tokens"
    runs = all(fit and fit.impact and fit.impact.usd_per_run is not None for fit in fits)
    if runs and (page.asked.workload.tokens or not goals & {Goal.FITS, Goal.CHOICE}):
        return "usd_per_run"  # a dearer machine may finish so much sooner that its run costs less
    return "usd_per_hour"


def side(page: Page, sizing: Sizing) -> str:
    """State for one side what is asked: a term, a count, a speed, a cost, or whether it holds the model."""
    fit, goal = sizing.named or chosen_fit(page, sizing), page.asked.goal
    if goal is Goal.MEMORY and (term := one_term(page, sizing)):
        return term
    if run := whole_run(page, sizing):
        return run
    if goal is Goal.COUNT and (named := named_fit(page, sizing)):
        return counted(page, sizing, named)
    if fit is None:
        return f"{need(page, sizing)}: nothing that was considered holds it."
    told, deployed = fit if fit.instance else chosen_fit(page, sizing), deployed_on(page, sizing)
    if goal in (Goal.THROUGHPUT, Goal.LATENCY) and deployed:
        price = f" {page.price_of(told)}." if told and told.impact and told.impact.price else ""
        return f"{speed(page, sizing, deployed)}{price}"
    if goal is Goal.TOKEN_COST and not sizing.workload.tokens_per_second and deployed and (rate := _rate(page, deployed)):
        return rate
    of_run = sizing.workload.tokens and {Goal.CHEAPEST, Goal.COST, Goal.DIFFERENCE} & set(page.asked.goals)
    if (goal in (Goal.COST, Goal.TOKEN_COST) or of_run) and told and fit.fits and told.impact and told.impact.usd_per_hour is not None:
        return cost(page, sizing, told)
    return _holding(page, sizing, fit, told)


def _rate(page: Page, fit: Fit) -> str:
    """State the bound of tokens a second and the price of an hour; "" unless both are known."""
    bound = fit.impact.figure("decode_tokens_per_second") if fit.impact and fit.impact.price else None
    if not bound:
        return ""
    pace = f"{page.figure(fit, bound.name)} tokens a second of one sequence {page.cite(*bound.inputs)}"
    return f"{page.machine_name(fit)}: at most {pace}, at {page.price_of(fit)}."


def _holding(page: Page, sizing: Sizing, fit: Fit, told: Fit | None) -> str:
    """State whether a side holds the model, and what it costs. The memory needed is only told where it differs."""
    first = page.sizings[0]
    alike = fit.accelerators == 1 and sizing.memory.bytes == first.memory.bytes
    if not sizing.named:
        return f"{page.described(fit)}." if alike else f"{page.described(fit)}: {need(page, sizing, fit)}."
    if fit.runs == "no":
        return f"{page.machine_name(fit)}: does not run it, {fit.caveats[0]}; {against(page, sizing, fit)}."
    holds = "fits" if fit.fits else "does not fit"
    if fit.verdict == "tight":
        holds = "just fits" if fit.fits else "just does not fit"
    price = f"; {page.price_of(told)}" if told and told.fits and fit.fits else ""
    if fit.fits and alike and sizing is not first:
        return f"{page.machine_name(fit)}: {holds}; {has(page, fit)}{price}."
    return f"{page.machine_name(fit)}: {holds}, {against(page, sizing, fit)}{price}."


def paces(page: Page, sizings: Sequence[Sizing]) -> str:
    """State the bounds of tokens a second on machines that a model is placed on: the dearer may be the faster."""
    works = [s.workload for s in sizings]
    if not OF_PLACING & set(page.asked.goals) or any(w.task is not Task.SERVE or (w.instances or 1) > 1 for w in works):
        return ""
    if computes_with_part(page.asked.workload, page.working.said[0]):
        return ""
    bare = [s.named if s.named and s.named.accelerator and not s.named.instance else None for s in sizings]
    told = [(s, fit or deployed_on(page, s)) for s, fit in zip(sizings, bare, strict=True)]
    holding = [(s, fit) for s, fit in told if fit and fit.fits and fit.runs != "no"]
    fits = [in_full_use(page, fit, s) if fit.instance else fit for s, fit in holding]
    bounds = [bound for fit in fits if fit.impact and (bound := fit.impact.figure("decode_tokens_per_second"))]
    if len({page.machine_name(fit) for fit in fits}) < max(2, len(sizings)) or len(bounds) < len(fits):
        return ""
    *others, last = (f"{page.figure(fit, 'decode_tokens_per_second')} tokens a second on {page.machine_name(fit)}" for fit in fits)
    count = sizings[0].workload.sequences or 1
    several = f"{count:,} sequences together" if count > 1 else "one sequence"
    rows = [row for fit, bound in zip(fits, bounds, strict=True) for row in (*bound.inputs, *page.rows_of(fit))]
    return page.cited(f"At most {', '.join(others)} and {last} for {several}, by the bound of memory bandwidth", *rows)
