"""Draft the answer on a workload: size what is asked, and write its lines in their order."""

import re
from collections.abc import Iterator
from dataclasses import replace

from chatbot.answer import REFUSAL, ReaderError
from chatbot.draft import Draft
from chatbot.figures.hardware_answer import answer_by_hardware
from chatbot.figures.hardware_answer.machines import rented
from chatbot.figures.sizing_answer.choosing import deployed_on, named_fit, wants_any_count
from chatbot.figures.sizing_answer.deployment import (
    accelerator_hours,
    cost,
    count_in_time,
    derivation,
    duration,
    speed,
    tokens_trained,
    total_operations,
    whole_run,
)
from chatbot.figures.sizing_answer.memory import arithmetic, left_over, need, one_term, per_rank
from chatbot.figures.sizing_answer.page import Page
from chatbot.figures.sizing_answer.refusals import without_claims
from chatbot.figures.sizing_answer.sides import paces, preference, side
from chatbot.figures.sizing_answer.solving import (
    ASKS_OPERATIONS,
    SOLVED,
    as_sold,
    enough,
    meant,
    part_of_one,
    shortened,
    solved,
    with_faster,
)
from chatbot.figures.sizing_answer.verdicts import choice, counted, held, launch, lighter, solution, verdict
from chatbot.sizing import Facts, Fit, Sizing, Task, Workload, size
from chatbot.sizing.asking import Asked
from chatbot.sizing.fit import TRAINING
from chatbot.sizing.goals import OF_DEPLOYMENT, OF_PLACING, OF_POWER, OF_SPEED, OF_TRAINING, Goal
from chatbot.sizing.reading.tokens import tells_people
from chatbot.working import Working

# Goals that are answered for the machines, whatever runs on them.
_OF_MACHINES = frozenset({Goal.COST, Goal.DIFFERENCE, Goal.AFFORDABLE, *OF_POWER})
# At most this many sides are compared.
_SIDES = 4
_NO_ACTIVATIONS = re.compile(
    r"\bactivations?\b(?! (?:check|recomp|remat))[^.;]{0,15}\b(?:ignored|aside|excluded|not counted|left out|neglected|negligible|omitted)"
    r"|\b(?:ignor\w+|forget(?: about)?|without|before|exclud\w+|neglect\w*|not counting|apart from|disregard\w*|no|skip\w*)\b (?:the |any |all )?activations?\b(?! (?:check|recomp|remat))"
)
# Words that begin a line with a capital letter. Names keep their own.
_BEGINS = re.compile(r"(?:(?<=^- )|^)(?:one|an?|full|pre-training)(?= )")
_FITTING = r"activations|layers|weights|tokens of context|cache|usable|LoRA|Adam|recomputed|ZeRO|batch"
# Which assumptions matter for what is asked. Price, load and the share of the peak are stated with their figures.
_MATTERS: dict[str, str] = {
    Goal.THROUGHPUT: r"layers|weights$|tokens of context|bf16 cache|one sequence",
    Goal.LATENCY: r"layers|weights$|tokens of context|bf16 cache",
    Goal.PREFILL: r"weights$|tokens of context",
    Goal.TOKEN_COST: r"layers|weights$|tokens of context|bf16 cache|one sequence",
    "KV cache": r"layers|tokens of context|cache|one sequence",
    "weights": r"weights$",
}


def draft_of(asked: Asked, working: Working) -> Draft:
    """Compute and write the answer. If it is impossible or something is unknown, write one sentence with the remedy."""
    try:
        return _computed(asked, working)
    except ReaderError as error:
        return without_claims(str(error))


def _computed(asked: Asked, working: Working) -> Draft:
    facts, given = working.tables.facts, asked.workload
    question = working.said[0].rpartition("\n")[2].lower()
    affords = given.budget_per_month and (asked.others or re.search(r"\bafford", question))
    if given.accelerator_memory_gb and not (given.accelerator or given.instance_type) and (asked.others or affords):
        # "The 24 GB card or the 48 GB one": take the cheapest machine for each memory size.
        given, others = rented(given, facts), tuple(rented(work, facts) for work in asked.others)
        asked = replace(asked, workload=given, others=others, goals=(Goal.AFFORDABLE,) if affords else asked.goals)
    priced = given.budget_per_hour and not (given.instance_type or given.accelerator)
    at_own_rate = given.tokens_per_second and (given.tokens or priced)
    if (not asked.names_model and asked.goal is not Goal.LARGEST) or at_own_rate:
        return answer_by_hardware(asked, working)
    if asked.goal in (Goal.AFFORDABLE, Goal.CHOICE, Goal.CHEAPEST) and given.tokens and given.task in TRAINING:
        asked = with_faster(replace(asked, goals=(Goal.COST, *asked.goals)), facts)
    asked, remark = shortened(asked, facts)
    working.say(remark)
    if asked.goal in _OF_MACHINES and not given.tokens and (asked.goal in OF_POWER or not given.tokens_per_second):
        return _of_machines(asked, working)
    asked = solved(meant(asked, question), facts)
    works = _to_size(asked, facts)
    activations = not _NO_ACTIVATIONS.search(question)
    # The hours in which a training must finish are not the hours that it takes, so they are left out.
    sizings = [size(replace(w, hours=None) if w.tokens else w, facts, activations=activations) for w in works]
    draft = _written(Page(asked, sizings, working))
    separator = "\n" if len(sizings) > 1 else " "
    text = f"{remark}{separator}{draft.text}" if remark else draft.text
    return replace(draft, text=text, workloads=tuple(works))


def _to_size(asked: Asked, facts: Facts) -> list[Workload]:
    """Return the workloads that are sized, each on hardware as it is sold."""
    works = [as_sold(w, facts) for w in (asked.workload, *asked.others)]
    if asked.goal is Goal.FITS and not asked.others:
        return [as_sold(part_of_one(asked.workload, facts), facts)]
    if asked.goal is Goal.COUNT and not asked.others:
        return [as_sold(replace(asked.workload, instances=None), facts)]  # "are 2 nodes enough or do we need 4?"
    if asked.others and OF_PLACING & set(asked.goals):
        whole = any(work.instance_type for work in works)
        return [as_sold(enough(work, facts, whole=whole), facts) for work in works]
    return works


def _of_machines(asked: Asked, working: Working) -> Draft:
    """Answer for machines that are paid for, powered or cooled, and say whether they hold the model.

    They are the machines that are named, or else those that suit the model best.
    """
    facts, works = working.tables.facts, (asked.workload, *asked.others)
    sizings = [size(as_sold(work, facts), facts) for work in works]
    page = Page(asked, sizings, working)
    fits = [fit for sizing in sizings if (fit := _paid_for(asked.goal, sizing))]
    if len(fits) < len(sizings):
        return _written(page)
    housed = []
    for work, sizing, fit in zip(works, sizings, fits, strict=True):
        number = work.instances if sizing.named and sizing.named.instance else fit.instances
        housed.append(work.on(fit.name, number))
    try:
        draft = answer_by_hardware(replace(asked, workload=housed[0], others=tuple(housed[1:])), working)
    except ReaderError as error:
        if asked.goal not in OF_POWER or not fits[0].instance:
            raise
        # If only the power is unknown, say so with a citation instead of refusing.
        reason = str(error).removeprefix(REFUSAL).strip().removesuffix(".")
        return working.draft(f"{reason} {working.cite(fits[0].instance.row)}.")
    holding = dict.fromkeys(told for s, fit in zip(sizings, fits, strict=True) if (told := held(page, s, fit)))
    return working.draft(draft.text, *holding, _assumed(page, sizings[0]) if holding else "")


def _paid_for(goal: Goal, sizing: Sizing) -> Fit | None:
    """Return the machines that are named, or else those that suit the model best."""
    if sizing.named:
        return sizing.named if sizing.named.instance else sizing.named_cheapest
    best = {Goal.CARBON: sizing.least_carbon, Goal.ENERGY: sizing.least_energy}.get(goal)
    return best or sizing.cheapest or sizing.smallest


def _written(page: Page) -> Draft:
    lines = _several(page) if len(page.sizings) > 1 else _single(page, page.sizings[0])
    return page.working.draft(*(_BEGINS.sub(lambda word: word.group().capitalize(), line) for line in lines))


def _several(page: Page) -> Iterator[str]:
    """Compare several sides: the best first, then each in a line."""
    sizings, first, goal = page.sizings[:_SIDES], page.sizings[0], page.asked.goal
    sides = [side(page, s) for s in sizings]
    none_holds = goal in OF_PLACING and not any(s.named is None or s.named.fits for s in page.sizings)
    if none_holds:
        yield page.say(f"{'Neither' if len(sides) == 2 else 'None of them'} fits.")
    elif not (goal is Goal.MEMORY and page.asked.term):
        yield preference(page, sizings)
    yield from (f"- {told}" for told in dict.fromkeys(sides))
    yield paces(page, sizings)
    yield launch(page, first) if none_holds else ""
    change = lighter(page, first) if first.named and not first.named.fits else ""
    yield f"{change} {_assumed(page, first)}".strip()


def _single(page: Page, sizing: Sizing) -> Iterator[str]:
    """Answer for one workload: the verdict, its arithmetic, what to launch, and what would change it."""
    goal, named = page.asked.goal, named_fit(page, sizing)
    operations = total_operations(page, sizing)
    if goal is Goal.TIME and (hours := accelerator_hours(page, sizing)):
        yield hours
    given_compute = goal is Goal.TIME and sizing.workload.tflops
    if operations and not named and (given_compute or ASKS_OPERATIONS.search(page.question)):
        yield operations
        return
    yield _headline(page, sizing)
    if named and goal is Goal.FITS:
        yield left_over(page, sizing, named)
    if goal in OF_TRAINING or (goal is Goal.COST and operations):
        yield operations
    if goal in OF_DEPLOYMENT and ((shown := derivation(page, sizing)) or goal is Goal.COST):
        yield f"{shown} {_assumed(page, sizing)}".strip()
        return
    yield arithmetic(page, sizing)
    if page.asked.term:
        yield _assumed(page, sizing)
        return
    yield launch(page, sizing)
    yield f"{lighter(page, sizing)} {_assumed(page, sizing)}".strip()


def _headline(page: Page, sizing: Sizing) -> str:
    """State the verdict with its figure; what cannot be computed gives way to the memory that is needed."""
    goal, work = page.asked.goal, sizing.workload
    if goal in OF_DEPLOYMENT and (told := _deployment(page, sizing)):
        return told
    if page.asked.term and (work.task is Task.SERVE or page.asked.term == "adapter") and (term := one_term(page, sizing)):
        return term
    if work.zero_stage is not None and (work.accelerators or 1) > 1 and not sizing.named and work.task in TRAINING:
        return per_rank(page, sizing, work.accelerators or 1)
    if run := whole_run(page, sizing):
        return run
    named = named_fit(page, sizing)
    if goal in SOLVED and named:
        return solution(page, sizing, named)
    if goal is Goal.COUNT and named:
        return counted(page, sizing, named)
    if named and not wants_any_count(page):
        return verdict(page, sizing, named)
    if goal in OF_PLACING or goal in (Goal.SMALLEST, Goal.COUNT, Goal.COMPARE, Goal.COST, Goal.TOKEN_COST):
        return choice(page, sizing)
    return one_term(page, sizing) or f"{need(page, sizing)}."


def _deployment(page: Page, sizing: Sizing) -> str:
    """State what a deployment costs, how fast it is or how long a training takes; "" if the data lacks the figures."""
    goal, fit = page.asked.goal, deployed_on(page, sizing)
    if not fit:
        return ""
    impact = fit.impact
    if goal in (Goal.COST, Goal.TOKEN_COST) and impact and impact.usd_per_hour is not None:
        return cost(page, sizing, fit)
    if goal is Goal.COST and fit == sizing.named and fit.instance and fit.fits:
        raise ReaderError(f"{REFUSAL} There is no published on-demand price of {fit.name} in the data.")
    if not impact:
        return ""
    if goal is Goal.TIME and impact.training_hours_low:
        return duration(page, sizing, fit)
    if goal is Goal.TOKENS and impact.trained_tokens_high:
        return tokens_trained(page, sizing, fit)
    if goal is Goal.DEADLINE and impact.training_hours_low:
        return count_in_time(page, sizing, fit)
    return speed(page, sizing, fit) if goal in OF_SPEED else ""


def _assumed(page: Page, sizing: Sizing) -> str:
    """State the assumptions that matter for what is asked (see `_MATTERS`)."""
    goal, term, work = page.asked.goal, page.asked.term, sizing.workload
    told_of = term or (Goal.COST if goal is Goal.TOKEN_COST and work.tokens_per_second else goal)
    matters = _MATTERS.get(told_of) or (r"weights$" if told_of in OF_DEPLOYMENT else _FITTING)
    if tells_people(page.working.said[0]):
        matters += r"|one sequence"
    used = (sizing.named_cheapest if goal is Goal.COUNT else None) or sizing.named or sizing.cheapest
    several = used and used.accelerators > 1
    told = [a for a in sizing.assumptions if re.search(matters, a) and (several or not a.startswith(("ZeRO", "each sequence")))]
    if work.context == 1 and not (term or work.tokens_per_second):
        told = [*(a for a in told if "cache" not in a), "an empty cache"]
    return f"Assumed: {', '.join(told)}." if told else ""
