"""Answer sizing questions: the verdict with its figure, the arithmetic, what to launch, and what would change it."""

import re
from dataclasses import replace

from chatbot.answer import REFUSAL
from chatbot.computed import is_near, numbers
from chatbot.draft import Draft
from chatbot.figures.hardware_answer.units import asks_unit
from chatbot.figures.sizing_answer.drafting import draft_of
from chatbot.figures.sizing_answer.refusals import conditions, lacking, refused, unheard_chip, unpriced, without_claims
from chatbot.figures.sizing_answer.solving import ASKS_OPERATIONS, computes_with_part
from chatbot.language.glossary import in_english
from chatbot.question.query import Query
from chatbot.sizing.asking import Asked, Heard, asked_for
from chatbot.sizing.conversation import ask_parts, hear
from chatbot.sizing.fit import TRAINING
from chatbot.sizing.given import read_given, read_turns
from chatbot.sizing.goals import OF_MONEY, OF_POWER, OF_SPEED, OF_TRAINING, Goal
from chatbot.sizing.intent import FACTS
from chatbot.sizing.reading import read_question
from chatbot.sizing.reading.text import Known
from chatbot.sizing.reading.training import SEVERAL_ADAPTERS
from chatbot.table import answer_from_table
from chatbot.verification.marks import without_marks
from chatbot.working import Tables, Working, load
from ingest import Index

# Words before a price that is paid; without them a sum that must cover a machine is a budget.
_IS_PRICE = re.compile(r"\b(?:at|pric\w+|rates?|costs?|pay\w*|paid|charg\w+|quot\w+|offer\w*)\b|[@=(]")
_OF_ONE_CARD = re.compile(r"(?:gpu|card|chip|accelerator)s?[- ]?(?:h|hr|hour)s?\b")
# Bounds of a user's own price, as shares of the list price. A price outside them is the price of something else.
_LOWEST_SHARE, _HIGHEST_SHARE = 0.1, 2.0
# What a row may answer is asked of hardware and a place.
_OF_ROWS = frozenset({"task", "instance_type", "accelerator", "accelerators", "accelerator_memory_gb", "families", "vendors", "region"})
# A price or a power over more than an hour must be computed.
_LONGER = re.compile(r"\b(?:da(?:y|ily)|week|month|year|annual|tag|woche|monat|jahr|jour|semaine|mois|d[ií]a|semana|mes|año)", re.IGNORECASE)
_OTHER_BILLS = re.compile(r"\b(?:egress|ebs|data transfer|(?:network|data|egress) traffic|bandwidth (?:bill|cost|charge)s?|storage|(?<!ct )volumes?|nat gateways?|load balancers?|support plan|s3|vat|tax(?:es)?|mwst|tva|iva)\b", re.IGNORECASE)
# Roles of figures that change a computation. Most formulas for a workload cannot use them.
_OF_SUMS = frozenset({"share", "price", "pace", "power price", "storage price", "requests", "calls", "item rate", "grid", "PUE", "card hours", "discount", "headroom", "lost", "busy"})
# Conversions of shares and percent, kilograms and grams, hours and seconds.
_SCALES = (1.0, 0.01, 1000.0, 0.001, 3600.0, 1 / 3600)
# What the memory formulas cannot take into account.
_SUPPOSES = re.compile(r"\b(?:if|instead|drop)\b")
_OTHER_BITS = re.compile(r"\d\.\d+[ -]?(?:bits?|bpw)\b|\b(?:no|without(?: an?)?) (?:fp32|float32|32-bit) (?:master|cop)")


def answer_by_sizing(query: Query, index: Index) -> Draft | None:
    """Compute what a question asks of a workload; None for another kind of question or if the index lacks the facts."""
    if query.options:
        return None
    tables, question = load(index), query.question
    if not (tables.facts.models and tables.facts.instances):
        return None
    heard = hear(question, query.history, tables.known)
    if heard and (heard.computed or heard.label in FACTS) and (chip := unheard_chip(question, tables.known, index)):
        return without_claims(f"{REFUSAL} There is no {chip} in the data.")
    asked = heard.asked if heard and heard.computed else _read_operations(question, tables.known)
    if asked is None:
        return lacking(heard, tables, index) if heard else None
    if refusal := refused(asked, heard, question, tables.facts):
        return refusal
    asked, tables = _at_own_price(asked, query, tables)
    if reference := unpriced(asked, tables.facts):
        return reference
    if _is_left_to_rows(asked, query, index):
        return None
    draft = _told(query, heard, asked, tables, index)
    return None if _leaves_out(query, asked, draft, tables.known) else draft


def sizes_a_model(query: Query, index: Index) -> bool:
    """Whether a question asks to compute for a model that it names, or changes a computation for the one of an earlier turn."""
    tables = load(index)
    if not tables.facts.models:
        return False
    heard = hear(query.question, query.history, tables.known)
    if not (heard and heard.computed):
        return False
    if heard.frame and OF_POWER & set(heard.asked.goals):
        return True
    slots = heard.said.slots
    return heard.asked.names_model and bool(slots.keys() & {"model", "parameters"} or (slots and heard.asked.continues))


def _read_operations(question: str, known: Known) -> Asked | None:
    """Read a question about the total FLOPs of a training. None unless it names the model and the tokens."""
    if not ASKS_OPERATIONS.search(question.lower()):
        return None
    said = read_question(question, known)
    named = "tokens" in said.slots and said.slots.keys() & {"model", "parameters"}
    return asked_for(said, "training_time", None, known) if named else None


def _at_own_price(asked: Asked, query: Query, tables: Tables) -> tuple[Asked, Tables]:
    """Put the user's own price in place of that of the machine named. What Spot or a plan saves needs no price of it."""
    if asked.purchase and read_given(query.question, tables.known).one("discount") is not None:
        asked = replace(asked, purchase="")
    own, work = _own_price(asked, query, tables), asked.workload
    if not own:
        return asked, tables
    if work.budget_per_hour == own:
        asked = replace(asked, workload=replace(work, budget_per_hour=None))
    costs = (Goal.COST,) if Goal.TIME in asked.goals and Goal.COST not in asked.goals else ()
    facts = tables.facts.at_price(work.instance_type or "", own, work.region)
    return replace(asked, goals=(*asked.goals, *costs), purchase=""), replace(tables, facts=facts)


def _own_price(asked: Asked, query: Query, tables: Tables) -> float | None:
    """Return the user's own hourly price for the one machine named; None for a price per GPU or of another machine, and
    for what the price of the machine is held against."""
    listed = tables.facts.price(asked.workload.instance_type or "")
    given = read_turns([*(turn.question for turn in query.history), query.question], tables.known)[-1]
    price = given.one("price")
    if not listed or not price or asked.others or _OF_ONE_CARD.search(given.text):
        return None
    told = next(figure for figure in given.figures if figure.role == "price")
    is_budget = price == asked.workload.budget_per_hour and Goal.AFFORDABLE in asked.goals and not _IS_PRICE.search(told.before)
    if told.is_bar or is_budget:
        return None
    return price if _LOWEST_SHARE <= price / listed.usd_per_hour <= _HIGHEST_SHARE else None


def _is_left_to_rows(asked: Asked, query: Query, index: Index) -> bool:
    """Whether a row answers: the question names only hardware and a place, and no time to multiply a price by."""
    if query.history or asks_unit(query.question) or not asked.stated <= _OF_ROWS or _LONGER.search(query.question):
        return False
    work = asked.workload
    filtered = work.vendors or (work.accelerators or 1) > 1 or work.accelerator_memory_gb or work.without
    if Goal.CHEAPEST in asked.goals and filtered:
        return False
    if asked.others:
        bare = all((other.accelerators or 1) == 1 and other.accelerator and not other.region for other in asked.others)
        return Goal.ENERGY in asked.goals and bare
    return answer_from_table(query, (), (), index) is not None


def _told(query: Query, heard: Heard | None, asked: Asked, tables: Tables, index: Index) -> Draft:
    """Answer a question, or each of its parts. Say first what cannot be priced, and last which costs are not included."""
    earlier = "\n".join(turn.question for turn in query.history)
    parts = ask_parts(query.question, heard, tables.known) if heard else ()
    working = Working(tables, index, [])
    first = conditions(asked, working)
    drafts = []
    for text, part in parts or [(query.question, asked)]:
        # If a turn only changes slots, the earlier wording goes on without its names and numbers: per GPU stays per GPU.
        working.said.insert(0, f"{earlier}\n{text} {heard.frame if heard else ''}".strip())
        drafts.append(draft_of(part, working))
        working.said.append(working.said.pop(0))
    if impossible := next((draft for draft in drafts if draft.said == draft.text), None):
        return impossible
    lines = [line for draft in drafts for line in draft.text.split("\n")]
    if len(drafts) > 1:
        # The answer to each part, then its arithmetic. What would change it is only said for a single question.
        told = [draft.text.split("\n") for draft in drafts]
        lines = [part[0] for part in told]
        lines += [line for part in told for line in part[1:2] if not line.startswith(("Use ", "In "))]
    bill = _OTHER_BILLS.search(query.question) if OF_MONEY & set(asked.goals) else None
    if bill and drafts[0].evidence:
        lines.append(working.say(f"This is the instance alone: what {bill.group()} costs is not in the data."))
    text = "\n".join([*first, *dict.fromkeys(lines)])
    return replace(drafts[0], text=text, evidence=tuple(working.evidence), computed=tuple(working.computed), said="\n".join(working.said))


def _leaves_out(query: Query, asked: Asked, draft: Draft, known: Known) -> bool:
    """Whether an answer and its arithmetic leave out what the question gives or supposes."""
    turns = [*(turn.question for turn in query.history), query.question]
    question, work = query.question.lower(), asked.workload
    computes = bool((OF_SPEED | OF_TRAINING) & set(asked.goals) or work.tokens)
    if (computes and computes_with_part(work, " ".join(turns))) or _OTHER_BITS.search(question):
        return True
    if work.task not in TRAINING and SEVERAL_ADAPTERS.search(question):
        return True
    before = query.history[-1].answer if query.history and draft.computed and _SUPPOSES.search(question) else ""
    if before and set(numbers(without_marks(draft.text))) <= set(numbers(before)):
        return True  # what the turn supposes was not understood: all figures are those of the turn before
    return bool(draft.evidence) and _leaves_out_figure(turns, asked, draft, known)


def _leaves_out_figure(turns: list[str], asked: Asked, draft: Draft, known: Known) -> bool:
    """Whether an answer and its arithmetic leave out a figure that the question gives, or an earlier price in euros."""
    question = turns[-1]
    texts = (draft.text, *(c.formula for c in draft.computed))
    told = [number * scale for text in texts for number in numbers(text) for scale in _SCALES]
    roles = set(_OF_SUMS)
    if re.search(r"on[- ]demand|\blist\b", question):
        roles -= {"price"}  # if the list price is asked for, a given one may stay unused
    if not asked.names_model:
        roles |= {"monthly price"}
    if Goal.TOKEN_COST not in asked.goals:
        roles |= {"API price"}
    given = [figure for figure in read_given(question, known).figures if figure.role in roles and figure.is_input]
    if "€" in " ".join(turns) and "$" in draft.text:
        given += [figure for figure in read_turns(list(map(in_english, turns)), known)[-1].figures if figure.role == "price"]
    return not all(any(is_near(value, n) for n in told for value in (figure.value, 1 - figure.value)) for figure in given)
