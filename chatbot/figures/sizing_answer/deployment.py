"""Word figures of a deployment: what it costs, how fast it is, how long a training takes and what it emits."""

import math
import re

from chatbot.figures.sizing_answer.choosing import deployed_on
from chatbot.figures.sizing_answer.memory import against, need
from chatbot.figures.sizing_answer.page import Page, rounded_count
from chatbot.sizing import Fit, Sizing, Workload
from chatbot.sizing.facts import short
from chatbot.sizing.fit import TRAINING
from chatbot.sizing.goals import OF_TRAINING, Goal
from chatbot.sizing.impact import DEFAULT_REGION, load_of, shares
from chatbot.sizing.memory import count
from chatbot.working import capital, percent, rounded

# Label and field of the figure whose arithmetic is shown. For a cost, it is that of the run (see `derivation`).
_LEADS = {
    Goal.THROUGHPUT: ("Tokens a second", "decode_tokens_per_second"),
    Goal.LATENCY: ("Tokens a second", "decode_tokens_per_second"),
    Goal.PREFILL: ("Tokens a second", "prefill_tokens_per_second_high"),
    Goal.TOKEN_COST: ("", "usd_per_million_tokens"),
    **dict.fromkeys(OF_TRAINING, ("Tokens a second", "training_tokens_per_second_high")),
}
# The field of an impact with a figure of a whole training, its unit, and a verb.
RUNS = {Goal.ENERGY: ("kwh_per_run", "kWh", "uses"), Goal.CARBON: ("kg_co2_per_run", "kg of CO2e", "emits")}
_CARD_HOURS = re.compile(r"\b(?:gpu|card|chip|accelerator|[a-z]{1,2}\d{2,3}[a-z]?)[- ]?hours?\b|\bhours? of (?:gpu|card)")
_SECONDS_FOR = re.compile(r"\b(?:how (?:long|many (?:seconds|minutes))|seconds?|second[ei]|secondes|segundos|sekunden|wie lange|time|quanto tempo|combien de temps)\b")
_TO_WRITE = re.compile(r"(?P<number>\d[\d,]*)[ -]tok(?:en)?s?\b(?! (?:of )?(?:context|prompt)| ?/| per)")


def cost(page: Page, sizing: Sizing, fit: Fit) -> str:
    """State the price of a machine, after that of a million tokens or of a training, if either is asked for."""
    assert fit.impact
    price, work = fit.impact.price, sizing.workload
    assert price
    spans = [f"{page.figure(fit, 'usd_per_hour')} an hour"]
    if is_per_token(page, fit):
        pace = f" at {work.tokens_per_second:,.0f} tokens a second" if work.tokens_per_second else ""
        page.say(pace)
        spans = [f"{'' if pace else 'At least '}{page.figure(fit, 'usd_per_million_tokens')} for a million tokens{pace}", *spans]
    elif work.tokens and fit.impact.usd_per_run:
        took = page.figure(fit, "training_hours_low")
        hours = fit.impact.known("training_hours_low").value
        days = f" ({page.figure(fit, 'training_hours_low', 24.0)} days)" if hours >= 48 else ""
        least = f"{'about' if work.mfu else 'at least'} {page.figure(fit, 'usd_per_run')}"
        run = f"{least} for {took} hours{days} at {_share(page, work, best=True)}"
        if budget := work.budget or work.budget_per_month:
            sum_ = page.say(f"${budget:,.0f}{'' if work.budget else ' a month'}")
            run = f"{'no' if fit.within_budget is False else 'yes'}, with {sum_}: it takes {run}"
        spans = [capital(run), *spans]
    if not work.tokens:
        spans.append(f"{page.figure(fit, 'usd_per_month')} a month")
    fits = "" if fit.fits else f", but {page.machine_name(fit)} does not hold it: {need(page, sizing, fit)}"
    leads = "usd_per_million_tokens" if "million tokens" in spans[0] else "training_hours_low" if work.tokens else ""
    figure = fit.impact.figure(leads)
    cite = page.cite(*(figure.inputs if figure else ()), price.row)
    return f"{', '.join(spans)} on {page.machine_name(fit)}{page.terms(price)} {cite}{fits}."


def is_per_token(page: Page, fit: Fit) -> bool:
    return bool(page.asked.goal is Goal.TOKEN_COST and fit.impact and fit.impact.usd_per_million_tokens)


def whole_run(page: Page, sizing: Sizing) -> str:
    """State the energy or carbon of a whole training on the machine that trains it; "" if neither is asked for or known."""
    name, unit, _ = RUNS.get(page.asked.goal, ("", "", ""))
    fit, work = deployed_on(page, sizing), sizing.workload
    figure = fit.impact.figure(name) if fit and fit.impact and fit.fits and work.tokens else None
    if not (fit and figure):
        return ""
    took = f"{page.figure(fit, 'training_hours_low')} hours at {_share(page, work, best=True)}"
    region = page.say(work.region or DEFAULT_REGION)
    at_load = f"{page.say(percent(load_of(work)))} load{'' if 'load' in page.asked.stated else ' (assumed)'}"
    amount = f"{page.figure(fit, name)} {page.say(unit)}"
    told = f"{'About' if work.mfu else 'At least'} {amount} for {took} on {page.machine_name(fit)} in {region}"
    return page.cited(f"{told}, at {at_load}", *figure.inputs, *sizing.model.rows)


def duration(page: Page, sizing: Sizing, fit: Fit) -> str:
    """State how long a training takes, and whether that is within the given time."""
    assert fit.impact
    work, figure = sizing.workload, fit.impact.known("training_hours_low")
    low, high = fit.impact.training_hours_low or 0.0, fit.impact.training_hours_high or 0.0

    def span(each: float) -> str:
        shortest = page.figure(fit, "training_hours_low", each)
        return shortest if low == high else f"{shortest} to {page.figure(fit, 'training_hours_high', each)}"

    if low >= (12 if re.search(r"\bdays\b", page.question) else 48):
        took = f"{span(24.0)} days ({span(1.0)} hours)"
    else:
        took = f"{span(1.0)} hours" if low >= 1 else f"{span(1 / 60)} minutes"
    share = _share(page, work)
    answer, deadline = "", page.asked.workload.hours
    if deadline:
        answer = "Yes: " if high <= deadline else "No: " if low > deadline else "Only at the better end: "
    cite = page.cite(*figure.inputs, *page.rows_of(fit))
    told = f"{answer}{took} on {page.machine_name(fit)}, at {share} {cite}."
    return f"{told}{_cost_of_training(page, sizing, fit)}{_unless_it_fits(page, sizing, fit)}"


def _cost_of_training(page: Page, sizing: Sizing, fit: Fit) -> str:
    """State what a training costs, if that is asked for too and an instance with these accelerators has a price."""
    alike = (f for f in sizing.fits if f.accelerator == fit.accelerator and f.accelerators == fit.accelerators)
    sold, work = fit if fit.instance else next(alike, None), sizing.workload
    if Goal.COST not in page.asked.goals or not sold or not sold.impact or not sold.impact.price or sold.impact.usd_per_run is None:
        return ""
    price, hourly = sold.impact.price, sold.impact.usd_per_hour
    low, high = sold.impact.training_hours_low, sold.impact.training_hours_high
    costs = page.figure(sold, "usd_per_run")
    if low != high and high and hourly:
        dearest = page.computed(f"${rounded(hourly * high, money=True)}", f"{hourly:.6g} × {high:.6g}", hourly, high)
        costs = f"{costs} to {dearest}"
    else:
        costs = f"{'about' if work.mfu else 'at least'} {costs}"
    if work.budget:
        budget = f"{'within' if sold.impact.usd_per_run <= work.budget else 'more than'} your ${work.budget:,.0f}"
        costs = f"{costs}, {page.say(budget)},"
    rate = f"at {page.figure(sold, 'usd_per_hour')} an hour{page.terms(price)} {page.cite(price.row)}"
    return f" It costs {costs} on {page.machine_name(sold)}, {rate}."


def tokens_trained(page: Page, sizing: Sizing, fit: Fit) -> str:
    """State how many tokens a training sees in the given hours."""
    assert fit.impact
    work, figure = sizing.workload, fit.impact.known("trained_tokens_high")
    unit, each = next((unit for unit in (("trillion", 1e12), ("billion", 1e9)) if figure.value >= unit[1]), ("million", 1e6))
    seen = page.figure(fit, "trained_tokens_high", each)
    if not work.mfu:
        seen = f"{page.figure(fit, 'trained_tokens_low', each)} to {seen}"
    hours = page.say(f"{work.hours:,g} hours")
    where = f"on {page.machine_name(fit)}, at {_share(page, work, rising=True)}"
    cite = page.cite(*figure.inputs, *page.rows_of(fit))
    return f"{seen} {unit} tokens in {hours} {where} {cite}.{_unless_it_fits(page, sizing, fit)}"


def count_in_time(page: Page, sizing: Sizing, fit: Fit) -> str:
    """State how many accelerators finish a training in the given time, and the instances that have them."""
    work, hours = sizing.workload, page.asked.workload.hours or 0.0
    assert fit.impact
    assert fit.accelerator
    assert work.tokens
    figure = fit.impact.known("training_tokens_per_second_high")
    counts: list[int] = []
    for share in dict.fromkeys(reversed(shares(work))):
        speed = figure.value / fit.accelerators * share / shares(work)[1]
        counts.append(math.ceil(work.tokens / (speed * hours * 3600) - 1e-9))
    what = f"{counts[0]:,} × {short(fit.accelerator.name)}"
    launch = f" ({page.described(fit)})" if fit.instance else ""
    slower = f"; {counts[1]:,} at 30 %" if len(counts) > 1 else ""
    task = f"{rounded_count(work.tokens)} tokens in {hours:,g} hours"
    page.say(what, slower, task)
    at = f"at {_share(page, work, best=True)}{slower} {page.cite(*figure.inputs, *page.rows_of(fit))}"
    return f"At least {what}{launch} for {task}, {at}.{_unless_it_fits(page, sizing, fit)}"


def speed(page: Page, sizing: Sizing, fit: Fit) -> str:
    """State the upper bound of tokens per second for generating, reading a prompt or training."""
    assert fit.impact
    work, name, goal = sizing.workload, page.machine_name(fit), page.asked.goal
    rows, bound = page.rows_of(fit), "decode_tokens_per_second"
    if work.task in TRAINING:
        bound = "training_tokens_per_second_high"
    elif goal is Goal.PREFILL:
        bound = "prefill_tokens_per_second_high"
    figure = fit.impact.figure(bound)
    if not figure:
        notes = (n for n in fit.impact.notes if "bound" in n or "bandwidth" in n or "compute" in n)
        reason = page.say(next(notes, "no published figure of its speed"))
        return f"There is {reason}, so no bound of the tokens a second on {name} can be computed {page.cite(*rows)}."
    rate = page.figure(fit, bound)
    on = f"with {page.subject(sizing)} on {name}"
    cite = page.cite(*figure.inputs, *rows)
    together = f" for {work.sequences:,} sequences together" if (work.sequences or 1) > 1 else ""
    rates = f"{rate} tokens a second{together}"
    if bound.startswith("prefill"):
        told = f"{_prompt(page, sizing, fit, rate)} {on}, by compute alone"
    elif goal is Goal.LATENCY and fit.impact.milliseconds_per_token:
        pause = page.figure(fit, "milliseconds_per_token")
        told = f"At least {pause} ms a token, {rates}, {on}, a bound and no measurement"
    elif written := _written(page, fit):
        told = f"At least {written}, at most {rates}, {on}, a bound and no measurement"
    elif wanted := work.tokens_per_second:
        answer = "By the bound, yes: at" if wanted <= figure.value else "No: at"
        told = f"{answer} most {rates} {on}, a bound and no measurement; {page.say(f'{wanted:,.0f}')} are wanted"
    else:
        told = f"At most {rates} {on}, a bound and no measurement"
    return f"{told} {cite}.{_unless_it_fits(page, sizing, fit)}"


def _written(page: Page, fit: Fit) -> str:
    """State the seconds that it takes to write as many tokens as the question gives; "" if it does not ask for them."""
    match = _TO_WRITE.search(page.question)
    if not (match and _SECONDS_FOR.search(page.question) and fit.impact and fit.impact.milliseconds_per_token):
        return ""
    tokens = float(match["number"].replace(",", ""))
    each = fit.impact.known("milliseconds_per_token")
    page.figure(fit, each.name)
    formula = f"({each.formula}) × {tokens:g} / 1000"
    text = page.computed(f"{rounded(each.value * tokens / 1000)} s", formula, *page.inputs(fit), tokens)
    return f"{text} for {page.say(f'{tokens:,g} tokens')}"


def _prompt(page: Page, sizing: Sizing, fit: Fit, speed: str) -> str:
    """State the time to the first token and the prompt tokens per second, first the time if a length is given."""
    work = sizing.workload
    first = page.figure(fit, "first_token_seconds_low")
    if not work.mfu:
        first = f"{first} to {page.figure(fit, 'first_token_seconds_high')}"
        speed = f"{page.figure(fit, 'prefill_tokens_per_second_low')} to {speed}"
    took = f"{first} s to the first token of a prompt of {work.context:,} tokens"
    rate = f"{speed} tokens a second of prompts"
    told = f"{took}, {rate}" if page.asked.workload.context else f"{rate}, {took}"
    return f"{told} at {_share(page, work, rising=not page.asked.workload.context)}"


def _share(page: Page, work: Workload, *, best: bool = False, rising: bool = False) -> str:
    """Return the share of the peak (MFU) that a training or a prompt is computed with, as text."""
    usual = "50 %" if best else "30 % to 50 %" if rising else "50 % to 30 %"
    return page.say(f"an MFU of {percent(work.mfu)}" if work.mfu else f"{usual} of its peak (MFU)")


def _unless_it_fits(page: Page, sizing: Sizing, fit: Fit) -> str:
    return "" if fit.fits else f" It does not fit, though: {against(page, sizing, fit)}."


def derivation(page: Page, sizing: Sizing) -> str:
    """State the arithmetic of the leading figure."""
    fit, goal, work = deployed_on(page, sizing), page.asked.goal, sizing.workload
    if not fit or not fit.impact:
        return ""
    label, name = _LEADS.get(goal, ("", "usd_per_run" if work.hours or work.tokens else ""))
    figure = fit.impact.figure(name)
    if not figure:
        return ""
    value = page.figure(fit, name)
    page.say(figure.formula)
    return page.cited(f"{label + ': ' if label else ''}{figure.formula} = {value}", *figure.inputs)


def total_operations(page: Page, sizing: Sizing) -> str:
    """State the total FLOPs of a training: 6 for each parameter and token, forward and backward."""
    work, parameters = sizing.workload, sizing.model.active_parameters
    if not work.tokens or work.task not in TRAINING:
        return ""
    formula = page.say(f"6 × {count(parameters)} parameters × {count(work.tokens)} tokens")
    text = page.computed(f"{6 * parameters * work.tokens:.3g} FLOPs".replace("e+", "e"), formula, float(parameters), work.tokens)
    return page.cited(f"The whole training computes {text}: {formula}", *sizing.model.rows)


def accelerator_hours(page: Page, sizing: Sizing) -> str:
    """State the total accelerator-hours of a training, by the TFLOPS given or those of the accelerator named."""
    work, fit, parameters = sizing.workload, sizing.named, sizing.model.active_parameters
    sheet = fit.accelerator if fit else None
    tflops = work.tflops or (sheet.tflops.get("bf16") if sheet else None)
    if not (work.tokens and tflops) or not (_CARD_HOURS.search(page.question) or (work.tflops and not fit)):
        return ""
    told: list[str] = []
    for share in dict.fromkeys(shares(work)):
        formula = page.say(f"6 × {count(parameters)} × {count(work.tokens)} / ({share:g} × {tflops:g}e12) / 3600")
        hours = 6 * parameters * work.tokens / (share * tflops * 1e12) / 3600
        name, each = (" million", 1e6) if hours >= 1e6 else (" thousand", 1e3) if hours >= 1e5 else ("", 1.0)
        given = (float(parameters), work.tokens, tflops * 1e12, share)
        amount = page.computed(f"{rounded(hours / each)}{name} accelerator-hours", formula, *given, unit=each)
        told.append(f"{amount}: {formula}")
        if (cards := (work.accelerators or 0) * (work.instances or 1)) > 1 and not fit:
            took = page.computed(f"{rounded(hours / cards)} hours", f"{formula} / {cards}", *given, cards)
            days = page.computed(f"{rounded(hours / cards / 24)} days ({took})", f"{formula} / {cards} / 24", *given, cards)
            told[-1] = f"{days} on {cards}: {told[-1]}"
    return page.cited("; ".join(told), *sizing.model.rows, *((sheet.row,) if sheet else ()))
