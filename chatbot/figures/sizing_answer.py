"""Answer sizing questions: the verdict with its figure, the arithmetic, what to launch, and what would change it."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, Literal

from chatbot.answer import REFUSAL, ReaderError
from chatbot.computed import Computed, is_near, numbers
from chatbot.draft import Draft
from chatbot.figures.hardware_answer import answer_by_hardware, asks_unit, rented
from chatbot.language.glossary import in_english
from chatbot.question.query import Query
from chatbot.sizing import Facts, Fit, Format, Sizing, Task, Term, Workload, most, size
from chatbot.sizing.conversation import BUDGETS, HARDWARE, LEFT_OVER, Asked, Heard, ask_parts, asked_for, hear
from chatbot.sizing.facts import short
from chatbot.sizing.fit import FOUR_BITS, FULL_SERVER, TRAINING, Hardware, Placement, hardware, place, runs_on
from chatbot.sizing.given import read_given, read_turns
from chatbot.sizing.impact import DEFAULT_REGION, HOURS_A_MONTH, impact, load_of, shares
from chatbot.sizing.intent import FACTS
from chatbot.sizing.memory import BITS, GIB, USABLE, Sharding, adapter_parameters, count
from chatbot.sizing.reading import ALL_CONTEXT, SEVERAL_ADAPTERS, Goal, Known, read_question, tells_people
from chatbot.sizing.spelled import as_read
from chatbot.table import answer_from_table
from chatbot.table.entities import ask_region, excludes_region
from chatbot.verification.marks import without_marks
from chatbot.working import Tables, Working, article, capital, load, percent, rounded
from ingest import Index, Row, known_words

# Numbers that belong to the formulas themselves: bytes per value, hours, units, shares.
_CONSTANTS = (0.3, 0.5, USABLE, 1, 2, 3, 4, 6, 8, 12, 24, 34, 730, 1000, 3600, 1e6, 1e9, GIB, *(BITS[form] for form in Format))
_SIZES = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
_OF_SPEED = frozenset({Goal.THROUGHPUT, Goal.LATENCY, Goal.PREFILL, Goal.TOKEN_COST})
_OF_TRAINING = frozenset({Goal.TIME, Goal.TOKENS, Goal.DEADLINE})
_OF_DEPLOYMENT = frozenset({Goal.COST, *_OF_SPEED, *_OF_TRAINING})
_OF_MACHINES = frozenset({Goal.COST, Goal.DIFFERENCE, Goal.AFFORDABLE, Goal.ENERGY, Goal.CARBON, Goal.WATER})
_MOST_CARDS = 1024
# A larger count in a training question is the size of the data set, not of the batch: "20,000 support tickets".
_MOST_IN_A_BATCH = 1024
# How likely an intent must be for `_lacking` to reply to it. "unsaid" asks for what no row and no document has; the
# training data of the intents define its kinds.
_UNSAID = 0.6
_NO_ROW = "The prices in the data are on demand, of EC2 and of the day that they were read; its other figures are those that makers and AWS publish."
# Words of a question that asks for nothing but a price.
_BRIEF = 12
_ONLY_JUST = ", which only just holds it"
# Words that begin a line with a capital letter. Names keep their own.
_BEGINS = re.compile(r"(?:(?<=^- )|^)(?:one|an?|full|pre-training)(?= )")
_SMALLER = (Format.INT8, Format.INT4)
_WORK = {
    Task.SERVE: "",
    Task.FULL: "full fine-tuning of ",
    Task.LORA: "LoRA fine-tuning of ",
    Task.QLORA: "QLoRA fine-tuning of ",
    Task.PRETRAIN: "pre-training of ",
}  # fmt: skip


def answer_by_sizing(query: Query, index: Index) -> Draft | None:
    """Compute what a question asks of a workload; None for another kind of question or if the index lacks the facts."""
    if query.options:
        return None
    tables = load(index)
    if not (tables.facts.models and tables.facts.instances):
        return None
    heard = hear(query.question, query.history, tables.known)
    if heard and (heard.computed or heard.label in FACTS) and (chip := _unheard_chip(query.question, tables.known, index)):
        return _said(f"{REFUSAL} There is no {chip} in the data.")
    asked = heard.asked if heard and heard.computed else _read_operations(query.question, tables.known)
    if asked is None:
        return _lacking(heard, tables, index) if heard else None
    hardware = asked.workload.accelerator or asked.workload.instance_type
    if asked.unknown:
        return _ask_back(asked)
    if asked.euros and Goal.FITS not in asked.goals and (asked.stated & BUDGETS or not hardware):
        return _said("Prices in other currencies are not in the data, only in US dollars: ask for or give dollars.")
    if (not asked.workload.hours or _NEXT.search(query.question)) and (later := _later_year(query.question, tables.facts)) and set(asked.goals) <= {Goal.COST, Goal.DIFFERENCE, Goal.CHEAPEST, Goal.AFFORDABLE}:
        return _of_later(later)
    if _OF_MONEY & set(asked.goals) and excludes_region(query.question):
        return _said(ask_region(_priced_regions(tables.facts)))
    if asked.purchase and read_given(query.question, tables.known).one("discount") is not None:
        asked = replace(asked, purchase="")  # if the user says what Spot or a plan saves, its price is not needed
    if own := _own_price(asked, query, tables):
        if asked.workload.budget_per_hour == own:
            asked = replace(asked, workload=replace(asked.workload, budget_per_hour=None))
        tables = replace(tables, facts=tables.facts.at_price(asked.workload.instance_type or "", own, asked.workload.region))
        costs = (Goal.COST,) if Goal.TIME in asked.goals and Goal.COST not in asked.goals else ()
        asked = replace(asked, goals=(*asked.goals, *costs), purchase="")
    wanted = asked.workload
    if heard and heard.computed and "rival" in heard.said.plain.split() and "instance_type" not in heard.said.slots and not _OWN_CLOUD.search(heard.said.text):
        return _said(f"{REFUSAL} {_NO_ROW}")
    if reference := _unpriced(asked, tables.facts):
        return reference
    filtered = Goal.CHEAPEST in asked.goals and (wanted.vendors or (wanted.accelerators or 1) > 1 or wanted.accelerator_memory_gb or wanted.without)
    if not query.history and not filtered and not asks_unit(query.question) and _may_stand_in_rows(asked, query.question) and (asked.others or answer_from_table(query, (), (), index)):
        return None
    draft = _told(query, heard, asked, tables, index)
    return None if _leaves_out(query, asked, draft, tables.known) else draft


# Roles of figures that change a computation. Most formulas for a workload cannot use them.
_OF_SUMS = frozenset({"share", "price", "pace", "power price", "storage price", "requests", "calls", "item rate", "grid", "PUE", "card hours", "discount", "headroom", "lost", "busy"})
# Conversions of shares and percent, kilograms and grams, hours and seconds.
_SCALES = (1.0, 0.01, 1000.0, 0.001, 3600.0, 1 / 3600)


# What the memory formulas cannot take into account.
_SUPPOSES = re.compile(r"\b(?:if|instead|drop)\b")
_OTHER_BITS = re.compile(r"\d\.\d+[ -]?(?:bits?|bpw)\b|\b(?:no|without(?: an?)?) (?:fp32|float32|32-bit) (?:master|cop)")

# Sizes of models of which a token computes with a part that is not read.
_EXPERTS = re.compile(r"\bmoes?\b|\bmixtures?[ -]of[ -]experts?\b|\d ?b(?:illion)? (?:param\w+ )?activ(?:e|ated)\b")


def _computes_with_part(work: Workload, text: str) -> bool:
    """Whether a model without a name is a mixture of experts: how many parameters a token computes with is not known."""
    return not work.model and bool(_EXPERTS.search(text.lower()))


def _leaves_out(query: Query, asked: Asked, draft: Draft, known: Known) -> bool:
    """Whether an answer and its arithmetic leave out a figure that the question gives, or an earlier price in euros."""
    question, turns = query.question, [*(turn.question for turn in query.history), query.question]
    told = [number * scale for text in (draft.text, *(c.formula for c in draft.computed)) for number in numbers(text) for scale in _SCALES]
    roles = _OF_SUMS - ({"price"} if re.search(r"on[- ]demand|\blist\b", question) else set())  # if the list price is asked for, a given one may stay unused
    roles |= (set() if asked.names_model else {"monthly price"}) | (set() if Goal.TOKEN_COST in asked.goals else {"API price"})
    given = [figure for figure in read_given(question, known).figures if figure.role in roles and figure.is_input]
    if "€" in " ".join(turns) and "$" in draft.text:
        given += [figure for figure in read_turns(list(map(in_english, turns)), known)[-1].figures if figure.role == "price"]
    computes = bool((_OF_SPEED | _OF_TRAINING) & set(asked.goals) or asked.workload.tokens)
    if (computes and _computes_with_part(asked.workload, " ".join(turns))) or _OTHER_BITS.search(question.lower()) or (asked.workload.task not in TRAINING and SEVERAL_ADAPTERS.search(question.lower())):
        return True
    if query.history and draft.computed and _SUPPOSES.search(question.lower()) and set(numbers(without_marks(draft.text))) <= set(numbers(query.history[-1].answer)):
        return True  # what the turn supposes was not understood: the figures are those of the turn before
    return bool(draft.evidence) and not all(any(is_near(value, n) for n in told for value in (figure.value, 1 - figure.value)) for figure in given)


# Words before a price that is paid; without them a sum that must cover a machine is a budget.
_IS_PRICE = re.compile(r"\b(?:at|pric\w+|rates?|costs?|pay\w*|paid|charg\w+|quot\w+|offer\w*)\b|[@=(]")


def _own_price(asked: Asked, query: Query, tables: Tables) -> float | None:
    """Return the user's own hourly price for the one machine named; None for a price per GPU or of another machine, and
    for what the price of the machine is held against."""
    listed = tables.facts.price(asked.workload.instance_type or "")
    given = read_turns([*(turn.question for turn in query.history), query.question], tables.known)[-1]
    price = given.one("price")
    if not listed or not price or asked.others or _OF_ONE_CARD.search(given.text):
        return None
    told = next(figure for figure in given.figures if figure.role == "price")
    if told.is_bar or (price == asked.workload.budget_per_hour and Goal.AFFORDABLE in asked.goals and not _IS_PRICE.search(told.before)):
        return None
    return price if _LOWEST_SHARE <= price / listed.usd_per_hour <= _HIGHEST_SHARE else None


def _told(query: Query, heard: Heard | None, asked: Asked, tables: Tables, index: Index) -> Draft:
    """Answer a question, or each of its parts. Say first what cannot be priced, and last which costs are not included."""
    earlier = "\n".join(turn.question for turn in query.history)
    parts = ask_parts(query.question, heard, tables.known) if heard else ()
    working = Working(tables, index, [])
    first = _conditions(asked, working)
    drafts = []
    for text, part in parts or [(query.question, asked)]:
        # If a turn only changes slots, the earlier wording goes on without its names and numbers: per GPU stays per GPU.
        working.said.insert(0, f"{earlier}\n{text} {heard.frame if heard else ''}".strip())
        drafts.append(draft_of(part, working))
        working.said.append(working.said.pop(0))
    if impossible := next((draft for draft in drafts if draft.said == draft.text), None):
        return impossible
    lines = [draft.text.split("\n") for draft in drafts]
    if len(drafts) > 1:  # the answer to each part, then its arithmetic; what would change it is only said for a single question
        lines = [[told[0] for told in lines], [line for told in lines for line in told[1:2] if not line.startswith(("Use ", "In "))]]
    written = list(dict.fromkeys(line for part_ in lines for line in part_))
    bill = _OTHER_BILLS.search(query.question) if _OF_MONEY & set(asked.goals) else None
    if bill and drafts[0].evidence:
        written.append(working.say(f"This is the instance alone: what {bill.group()} costs is not in the data."))
    return replace(drafts[0], text="\n".join([*first, *written]), evidence=tuple(working.evidence), computed=tuple(working.computed), said="\n".join(working.said))


def sizes_a_model(query: Query, index: Index) -> bool:
    """Whether a question asks to compute for a model that it names, or changes a computation for the one of an earlier turn."""
    tables = load(index)
    if not tables.facts.models:
        return False
    heard = hear(query.question, query.history, tables.known)
    if not (heard and heard.computed):
        return False
    if heard.frame and _OF_POWER & set(heard.asked.goals):
        return True
    return heard.asked.names_model and bool(heard.said.slots.keys() & {"model", "parameters"} or (heard.said.slots and heard.asked.continues))


# A generation of a product line, or a part number in the style of accelerator makers.
_CHIP = re.compile(r"(?<![\w.-])(?:(?:trainium|inferentia|gaudi|rubin)[ -]?v?\d+(?! chips|\s?[x×])|tpu[ -]?v\d+\w?|(?:[hbl]\d{2,3}|[a-z]{1,2}\d{3,4})[a-z]?)(?![\w.-])", re.IGNORECASE)


def _unheard_chip(question: str, known: Known, index: Index) -> str | None:
    """Return an accelerator in a question that neither a row nor a document has, or None."""
    rows = re.sub(r"[ -]", "", " ".join(known.accelerators).lower())
    found = (match.group() for match in _CHIP.finditer(question) if re.sub(r"[ -]|s$|(?<=[am])1$", "", match.group().lower()) not in rows)
    return next((chip for chip in found if not any(map(index.document_frequency, (chip, re.sub(r"[ -]", "", chip), chip.rstrip("s"))))), None)


_OF_MONEY = frozenset({Goal.COST, Goal.CHEAPEST, Goal.DIFFERENCE, Goal.AFFORDABLE, Goal.TOKEN_COST})
_OF_ONE_CARD = re.compile(r"(?:gpu|card|chip|accelerator)s?[- ]?(?:h|hr|hour)s?\b")
# Bounds of a user's own price, as shares of the list price. A price outside them is the price of something else.
_LOWEST_SHARE, _HIGHEST_SHARE = 0.1, 2.0
_OWN_CLOUD = re.compile(r"\b(?:aws|ec2|amazon)\b|\$ ?\d|\d ?\$")
_OTHER_BILLS = re.compile(r"\b(?:egress|ebs|data transfer|(?:network|data|egress) traffic|bandwidth (?:bill|cost|charge)s?|storage|(?<!ct )volumes?|nat gateways?|load balancers?|support plan|s3|vat|tax(?:es)?|mwst|tva|iva)\b", re.IGNORECASE)


def _priced_regions(facts: Facts) -> set[str]:
    return {price.region for prices in facts.prices.values() for price in prices}


def _lacks_price(asked: Asked, facts: Facts) -> list[str]:
    """Return the terms and Regions for which the data has no price: "a Savings Plan", "eu-central-1"."""
    everywhere = _priced_regions(facts)

    def lacks(work: Workload) -> bool:
        priced = {price.region for price in facts.prices.get(work.instance_type or "", ())} or everywhere
        return bool(work.region) and work.region not in priced

    bought = {price.purchase.lower() for price in facts.prices.get(asked.workload.instance_type or "", ())}
    found = [asked.purchase] if asked.purchase and asked.purchase.lower() not in bought else []
    return found + list(dict.fromkeys(str(work.region) for work in (asked.workload, *asked.others) if lacks(work)))


def _unpriced(asked: Asked, facts: Facts) -> Draft | None:
    """Say that the data lacks the price asked for, and give the on-demand price; None if more than a price is asked for."""
    work, missing = asked.workload, _lacks_price(asked, facts)
    region = next((name for name in missing if name != asked.purchase), "")
    placed = asked.names_model and not (asked.goal is Goal.COST and work.instance_type) and not (asked.goal is Goal.CHEAPEST and region)
    if not missing or placed or not set(asked.goals) <= _OF_MONEY or work.tokens_per_second or work.tokens:
        return None
    remedy = f" `wattwise ingest 'aws://prices?region={region}'` brings those of the Region." if region else ""
    remedy = " `wattwise ingest 'aws://spot-prices?region=us-east-1'` brings those of the last day." if "Spot" in missing else remedy
    price, number = facts.price(work.instance_type or ""), work.instances or 1
    if not price:
        return _said(f"{REFUSAL} {_no_price(missing)}{remedy}")
    name = f"{number} × {work.instance_type}" if number > 1 else work.instance_type
    hourly, month = price.usd_per_hour * number, price.usd_per_hour * number * HOURS_A_MONTH
    return _said(f"{REFUSAL} {_no_price(missing)} On demand in {price.region}, {name} is ${rounded(hourly, money=True)} an hour, ${rounded(month, money=True)} a month.{remedy}")


def _no_price(missing: Sequence[str]) -> str:
    return f"The data has no price {' or '.join(f'in {name}' if re.search('[0-9]$', name) else f'of {name}' for name in missing)}.".replace("of Spot", "of Spot Instances")


def _conditions(asked: Asked, working: Working) -> list[str]:
    """Return a line on what the data cannot price, to be said before what it can; or nothing."""
    if not _OF_MONEY & set(asked.goals):
        return []
    missing, said = _lacks_price(asked, working.tables.facts), list[str]()
    work, facts = asked.workload, working.tables.facts
    if (named := facts.instances.get(work.instance_type or "")) and Goal.FITS not in asked.goals:
        runs, caveats = runs_on(hardware(named, facts), work)
        said += [working.say(f"{caveat}.") for caveat in caveats if runs == "no"]
    if _is_unsold(work.accelerator or "", facts):
        said.append(working.say(f"No machine with a price in the data has the {work.accelerator}, so this is of another."))
    if missing:
        said.append(working.say(f"{_no_price(missing)} So this is on demand in {DEFAULT_REGION}."))
    if "Spot" in missing and (evidence := working.tables.explained("Spot", working.index)):
        said.append(f"Spot costs up to 90% less {working.mark(evidence)}.")
    if asked.euros:
        said.append("No exchange rate is in the data, so this is in US dollars.")
    return [" ".join(said)] if said else []


def _is_unsold(accelerator: str, facts: Facts) -> bool:
    """Whether no instance type with a price has this accelerator."""
    words = set(re.findall(r"\w+", re.sub(r"\d+ ?gi?b\b", "", accelerator.lower())))
    return bool(words) and not any(words <= set(re.findall(r"\w+", i.accelerator.lower())) for i in facts.instances.values() if facts.price(i.name))


def _lacking(heard: Heard, tables: Tables, index: Index) -> Draft | None:
    """Reply to a sizing question that lacks something, or that asks for what no row has. None for other questions."""
    work, likely = heard.asked.workload, heard.likely
    if "rival" in heard.said.plain.split() and Goal.COST in heard.said.goals and heard.said.slots.keys() & HARDWARE and len(heard.said.text.split()) <= _BRIEF:
        return _said(f"{REFUSAL} The data has no prices of other clouds.{_list_price(work, tables.facts)}")
    if Goal.COST in heard.said.goals and likely["fact_price"] + likely["cost"] + likely["unsaid"] > _UNSAID and (later := _later_year(heard.said.text, tables.facts)):
        return _of_later(later)
    places = {other.region for other in heard.asked.others} - {work.region}
    if max(likely["cost"], likely["energy"], likely["carbon"]) > _UNSAID and work.task in TRAINING and not places:
        return _said(f"That depends on how long it runs: how many tokens does it train on, or for how many hours?{_list_price(work, tables.facts)}")
    if max(likely["fits"], likely["cost"], likely["count"], likely["memory"]) > _UNSAID and not heard.asked.names_model and _OF_IT.search(heard.said.plain):
        return _said("Which model do you mean, in which precision, and on which hardware?")
    unsaid = likely["unsaid"] > _UNSAID or (likely["unsaid"] > _UNSAID / 2 and likely["unsaid"] + likely["other"] > _UNSAID)
    if unsaid and ("rival" in heard.said.plain.split() or not _is_of_a_document(heard.said.text, index)):
        return _said(f"{REFUSAL} {_NO_ROW}")
    return None


def _of_later(time: str) -> Draft:
    return _said(f"{REFUSAL} Prices of {time} are not in the data: ask for those of today.")


def _list_price(work: Workload, facts: Facts) -> str:
    """State what the machine that is named, or the cheapest that has what is named, costs."""
    if not (work.instance_type or work.accelerator or work.families):
        return ""
    try:
        name = work.instance_type or rented(work, facts).instance_type
    except ReaderError:
        return ""
    price = facts.price(name or "")
    return f" One {name} is ${price.usd_per_hour:.4g} an hour on demand in {price.region}." if price else ""


def _is_of_a_document(question: str, index: Index) -> bool:
    """Whether a question has a rare word that a few chunks mention. Their document may say what no row has."""
    words = {part for word in re.findall(r"(?<![\w-])[^\W\d_]{4,}(?:-[^\W\d_]{4,})*(?![\w-])", question.lower()) for part in (word, *word.split("-"))}
    return any(0 < index.document_frequency(word) <= _RARE for word in words - known_words())


# A name that a single document is about stands in at most this many chunks.
_RARE = 3
_OF_IT = re.compile(r"\b(?:it|ours?|mine|we|my)\b")


_NEXT = re.compile(r"\bnext (?:year|quarter|spring|summer|autumn|winter|january|february|march|april|may|june|july|august|september|october|november|december)\b", re.IGNORECASE)


def _later_year(question: str, facts: Facts) -> str | None:
    """Return a year later than the newest price, or "next month" and the like, that a question asks about; or None."""
    if match := _NEXT.search(question):
        return match.group()
    newest = max((price.date for prices in facts.prices.values() for price in prices), default="")
    return next((year for year in re.findall(r"\b(?:in|by|for|of|during) (20\d\d)\b(?! (?:hours?|tokens?|gpus?|instances?))", question) if newest and year > newest[:4]), None)


def _read_operations(question: str, known: Known) -> Asked | None:
    """Read a question about the total FLOPs of a training. None unless it names the model and the tokens."""
    if not _ASKS_OPERATIONS.search(question.lower()):
        return None
    said = read_question(question, known)
    return asked_for(said, "training_time", None, known) if "tokens" in said.slots and said.slots.keys() & {"model", "parameters"} else None


# A price or a power over more than an hour must be computed.
_LONGER = re.compile(r"\b(?:da(?:y|ily)|week|month|year|annual|tag|woche|monat|jahr|jour|semaine|mois|d[ií]a|semana|mes|año)", re.IGNORECASE)


def _may_stand_in_rows(asked: Asked, question: str) -> bool:
    """Whether a row may answer: the question names only hardware and a place, and no time to multiply a price by."""
    slots = {"task", "instance_type", "accelerator", "accelerators", "accelerator_memory_gb", "families", "vendors", "region"}
    bare = all((other.accelerators or 1) == 1 and other.accelerator and not other.region for other in asked.others)
    return asked.stated <= slots and bare and not (asked.others and Goal.ENERGY not in asked.goals) and not _LONGER.search(question)


# Goals of a choice among machines, or formats, for a model.
_OF_PLACING = frozenset({Goal.FITS, Goal.CHOICE, Goal.CHEAPEST})
_OF_POWER = frozenset({Goal.ENERGY, Goal.CARBON, Goal.WATER})


def draft_of(asked: Asked, working: Working) -> Draft:
    """Compute and write the answer. If it is impossible or something is unknown, write one sentence with the remedy."""
    try:
        return _sized(asked, working)
    except ReaderError as error:
        return _said(str(error))


def _sized(asked: Asked, working: Working) -> Draft:
    facts, given = working.tables.facts, asked.workload
    affords = given.budget_per_month and (asked.others or re.search(r"\bafford", working.said[0].rpartition("\n")[2].lower()))
    if given.accelerator_memory_gb and not (given.accelerator or given.instance_type) and (asked.others or affords):
        # "The 24 GB card or the 48 GB one": take the cheapest machine for each memory size.
        given, others = rented(given, facts), tuple(rented(work, facts) for work in asked.others)
        asked = replace(asked, workload=given, others=others, goals=(Goal.AFFORDABLE,) if affords else asked.goals)
    at_own_rate = given.tokens_per_second and (given.tokens or (given.budget_per_hour and not (given.instance_type or given.accelerator)))
    if (not asked.names_model and asked.goal is not Goal.LARGEST) or at_own_rate:
        return answer_by_hardware(asked, working)
    if asked.goal in (Goal.AFFORDABLE, Goal.CHOICE, Goal.CHEAPEST) and given.tokens and given.task in TRAINING:
        asked = _with_faster(replace(asked, goals=(Goal.COST, *asked.goals)), facts)
    asked, remark = _shortened(asked, facts)
    working.say(remark)
    if asked.goal in _OF_MACHINES and not given.tokens and (asked.goal in _OF_POWER or not given.tokens_per_second):
        return _of_machines(asked, working)
    asked = _solved(_meant(asked, working.said[0].rpartition("\n")[2].lower()), facts)
    if asked.goal is Goal.COUNT and not asked.others:
        asked = replace(asked, workload=replace(asked.workload, instances=None))  # "are 2 nodes enough or do we need 4?"
    works = [_as_sold(w, facts) for w in (asked.workload, *asked.others)]
    if asked.goal is Goal.FITS and not asked.others:
        works = [_as_sold(_part_of_one(asked.workload, facts), facts)]
    if asked.others and _OF_PLACING & set(asked.goals):
        works = [_as_sold(_enough(w, facts, whole=any(other.instance_type for other in works)), facts) for w in works]
    # The hours in which a training must finish are not the hours that it takes, so they are left out.
    activations = not _NO_ACTIVATIONS.search(working.said[0].rpartition("\n")[2].lower())
    sizings = [size(replace(w, hours=None) if w.tokens else w, facts, activations=activations) for w in works]
    draft = _Answer(asked, sizings, working).draft()
    separator = "\n" if len(sizings) > 1 else " "
    text = f"{remark}{separator}{draft.text}" if remark else draft.text
    return replace(draft, text=text, workloads=tuple(works))


def _with_faster(asked: Asked, facts: Facts) -> Asked:
    """If a training may run on any machine, compare the one on which it is cheapest with the fastest within the budget."""
    work = asked.workload
    if asked.others or work.instance_type or work.accelerator:
        return asked
    sizing = size(replace(work, hours=None), facts)
    runs = [(fit.impact.training_hours_low, fit.name) for fit in sizing.fits if fit.impact and fit.impact.training_hours_low and fit.impact.usd_per_run and fit.fits and fit.runs == "yes" and fit.instances == 1 and fit.within_budget is not False]
    if not sizing.cheapest or not runs or min(runs)[1] == sizing.cheapest.name:
        return asked
    one, other = (replace(work, instance_type=name, instances=1) for name in (sizing.cheapest.name, min(runs)[1]))
    return replace(asked, workload=one, others=(other,))


def _shortened(asked: Asked, facts: Facts) -> tuple[Asked, str]:
    """Replace a context that a model does not take by its longest one; also return a remark on each that was given."""
    works, remarks = [], list[str]()
    for work in (asked.workload, *asked.others):
        longest = facts.models[work.model].max_position if work.model else None
        if work.context == ALL_CONTEXT:
            work = replace(work, context=longest)
        elif asked.term and longest and (work.context or 0) > longest:
            remarks.append(f"{_model_name(work.model or '')} takes {longest:,} tokens at most, not {work.context:,}.")
            work = replace(work, context=longest)
        works.append(work)
    return replace(asked, workload=works[0], others=tuple(works[1:])), " ".join(dict.fromkeys(remarks))


_NO_ACTIVATIONS = re.compile(
    r"\bactivations?\b(?! (?:check|recomp|remat))[^.;]{0,15}\b(?:ignored|aside|excluded|not counted|left out|neglected|negligible|omitted)"
    r"|\b(?:ignor\w+|forget(?: about)?|without|before|exclud\w+|neglect\w*|not counting|apart from|disregard\w*|no|skip\w*)\b (?:the |any |all )?activations?\b(?! (?:check|recomp|remat))"
)
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


_ASKS_OPERATIONS = re.compile(r"\bflops?\b|\bfloating[- ]point operations\b|\bcompute budget\b")
_CARD_HOURS = re.compile(r"\b(?:gpu|card|chip|accelerator|[a-z]{1,2}\d{2,3}[a-z]?)[- ]?hours?\b|\bhours? of (?:gpu|card)")
_SECONDS_FOR = re.compile(r"\b(?:how (?:long|many (?:seconds|minutes))|seconds?|second[ei]|secondes|segundos|sekunden|wie lange|time|quanto tempo|combien de temps)\b")
_TO_WRITE = re.compile(r"(?P<number>\d[\d,]*)[ -]tok(?:en)?s?\b(?! (?:of )?(?:context|prompt)| ?/| per)")


def _meant(asked: Asked, question: str) -> Asked:
    """Adjust the goal to the slots and vice versa: if tokens are asked for, those of an earlier turn are dropped."""
    work, goal = asked.workload, asked.goal
    if goal is Goal.COUNT and work.tokens and work.hours:
        goal = Goal.DEADLINE
    elif goal is Goal.COST and work.tokens_per_second:
        goal = Goal.TOKEN_COST
    elif goal is Goal.DIFFERENCE:
        goal = next((g for g in asked.goals if g is not Goal.DIFFERENCE), Goal.COST)
    changes: dict[str, Any] = {}
    if work.task not in TRAINING and (goal in (Goal.TOKENS, Goal.DEADLINE) or (work.tokens and _ASKS_OPERATIONS.search(question))):
        changes["task"] = Task.FULL if goal is Goal.TOKENS else Task.PRETRAIN
    if work.task in TRAINING and (work.sequences or 0) > _MOST_IN_A_BATCH:
        changes["sequences"] = None
    if goal is Goal.TOKENS:
        changes["tokens"] = None
    elif goal is Goal.DEADLINE:
        changes |= {"accelerators": None, "instances": None}
    elif goal in _OF_SPEED and goal is not Goal.PREFILL and not work.context:
        changes["context"] = 1  # the bound already holds for the first token
    if goal is Goal.TOKEN_COST and work.tokens_per_second and work.load:
        changes["tokens_per_second"] = work.tokens_per_second * work.load  # idle time is paid for, too
    if goal in (Goal.COUNT, Goal.CHEAPEST, Goal.CHOICE, Goal.SMALLEST) and "gpu" in question and not (work.vendors or work.families or work.accelerator or work.instance_type):
        changes["vendors"] = frozenset({"NVIDIA", "AMD"})
    # If a memory term is named beside another goal, or the weights together with gradients, the whole sum is meant.
    sums = goal not in (Goal.MEMORY, Goal.CHOICE, Goal.COMPARE) or (work.task in TRAINING and "gradient" in question.replace("grads", "gradients"))
    others = tuple(replace(other, **changes) for other in asked.others)
    goals = tuple(dict.fromkeys((goal, *(g for g in asked.goals if g is not asked.goal or g is Goal.DIFFERENCE))))
    return replace(asked, goals=goals, workload=replace(work, **changes), others=others, term=None if sums else asked.term)


# Label and field of the figure whose arithmetic is shown. For a cost, it is that of the run (see `_derivation`).
_LEADS = {
    Goal.THROUGHPUT: ("Tokens a second", "decode_tokens_per_second"),
    Goal.LATENCY: ("Tokens a second", "decode_tokens_per_second"),
    Goal.PREFILL: ("Tokens a second", "prefill_tokens_per_second_high"),
    Goal.TOKEN_COST: ("", "usd_per_million_tokens"),
    **dict.fromkeys(_OF_TRAINING, ("Tokens a second", "training_tokens_per_second_high")),
}


# The field of an impact with a figure of a whole training, its unit, and a verb.
_RUNS = {Goal.ENERGY: ("kwh_per_run", "kWh", "uses"), Goal.CARBON: ("kg_co2_per_run", "kg of CO2e", "emits")}

_SOLVED: dict[Goal, Literal["sequences", "context", "parameters"]] = {
    Goal.USERS: "sequences", Goal.LONGEST: "context", Goal.LARGEST: "parameters",
}  # fmt: skip


def _solved(asked: Asked, facts: Facts) -> Asked:
    """Put the most users, tokens or parameters that fit into the workload. If none fit, answer whether it fits instead."""
    slot = _SOLVED.get(asked.goal)
    work = asked.workload
    if asked.goal is Goal.DEADLINE:
        return replace(asked, workload=_in_time(work, facts))
    if asked.goal is Goal.TOKENS and not work.hours:
        return replace(asked, workload=replace(work, hours=24.0))
    if not slot or (slot == "parameters" and work.model):
        return asked
    if len(work.families) == 1 and not (work.instance_type or work.accelerator):
        largest = max((i for i in facts.instances.values() if i.family in work.families and i.accelerators), key=lambda i: i.accelerators, default=None)
        work = replace(work, instance_type=largest.name if largest else None)
    if work.accelerator_memory_gb and not (work.instance_type or work.accelerator):
        work = _part_of_one(replace(rented(work, facts), accelerators=work.accelerators or 1), facts)
    if not (work.instance_type or work.accelerator):
        raise ReaderError("Name the accelerator or the instance type that it is to fit, such as L40S or g6e.xlarge.")
    found = most(_as_sold(work, facts), slot, facts)
    if not found:
        return replace(asked, goals=(Goal.FITS,), workload=replace(work, parameters=work.parameters or 1e8))
    return replace(asked, workload=replace(work, **{slot: found}))  # type: ignore[arg-type]


def _of_machines(asked: Asked, working: Working) -> Draft:
    """Answer for machines that are paid for, powered or cooled, and say whether they hold the model.

    They are the machines that are named, or else those that suit the model best.
    """
    facts = working.tables.facts
    sizings = [size(_as_sold(work, facts), facts) for work in (asked.workload, *asked.others)]
    best = [{Goal.CARBON: s.least_carbon, Goal.ENERGY: s.least_energy}.get(asked.goal) or s.cheapest or s.smallest for s in sizings]
    fits = [s.named if s.named and s.named.instance else s.named_cheapest if s.named else fit for s, fit in zip(sizings, best, strict=True)]
    answer = _Answer(asked, sizings, working)
    if not all(fits):
        return answer.draft()
    housed = [
        replace(w, instance_type=fit.name, instances=w.instances if s.named and s.named.instance else fit.instances, accelerator=None, accelerators=None, families=frozenset(), vendors=frozenset())
        for w, s, fit in zip((asked.workload, *asked.others), sizings, fits, strict=True) if fit
    ]
    try:
        draft = answer_by_hardware(replace(asked, workload=housed[0], others=tuple(housed[1:])), working)
    except ReaderError as error:
        if asked.goal not in _OF_POWER or not fits[0] or not fits[0].instance:
            raise
        # If only the power is unknown, say so with a citation instead of refusing.
        return working.draft(f"{str(error).removeprefix(REFUSAL).strip().removesuffix('.')} {working.cite(fits[0].instance.row)}.")
    held = dict.fromkeys(told for s, fit in zip(sizings, fits, strict=True) if fit and (told := answer.held(s, fit)))
    return working.draft(draft.text, *held, answer.assumed(sizings[0]) if held else "")


def _in_time(work: Workload, facts: Facts) -> Workload:
    """Return the workload with as many accelerators, or instances, as train the tokens in the given hours."""
    if not (work.tokens and work.hours):
        raise ReaderError("Say how many tokens the training sees and in which time it is to end, as in 1T tokens in 30 days.")
    one = size(_as_sold(replace(work, hours=None), facts), facts)
    fit = one.named or one.cheapest or one.smallest
    speed = fit.impact.training_tokens_per_second_high if fit and fit.impact else None
    if not (fit and speed):
        raise ReaderError("There is no published compute of this hardware in the data: name another, such as H100 or p5.48xlarge.")
    count = math.ceil(work.tokens / (speed / fit.instances * work.hours * 3600) - 1e-9)
    return replace(work, instance_type=fit.instance.name, instances=count) if fit.instance else replace(work, accelerators=count)


_OF_HARDWARE = re.compile(r"\.\w*(?:large|xl|metal|medium|small|micro|nano)\b|^(?:trainium|inferentia|gaudi)")


def _ask_back(asked: Asked) -> Draft:
    if asked.names_model:
        return _said(f"{REFUSAL} There is no {asked.unknown} in the data.")
    if _OF_HARDWARE.search(asked.unknown or ""):
        return _said(f"{REFUSAL} There is no {asked.unknown} in the data: name an instance type of EC2, such as g6e.xlarge.")
    return _said(
        f"{REFUSAL} The size of {asked.unknown} is not in the data: give its number of parameters, as in 70B, or ingest its config.json. Which model is it?"
    )


def _said(text: str) -> Draft:
    """Return a draft that claims nothing about the world: the request is impossible, or more must be known."""
    return Draft(text, (), said=text)


def _as_sold(workload: Workload, facts: Facts) -> Workload:
    """Name an accelerator as its table does ("A100 80GB"), and turn more of them than a server has into servers."""
    if workload.instance_type and workload.accelerators:
        each = facts.instances[workload.instance_type].accelerators if workload.instance_type in facts.instances else 0
        servers = math.ceil(workload.accelerators / each) if each else 1
        workload = replace(workload, accelerators=None, instances=workload.instances or servers)
    if not workload.accelerator:
        return workload
    memory = f" {workload.accelerator_memory_gb:.0f}GB" if workload.accelerator_memory_gb else ""
    workload = replace(workload, accelerator=workload.accelerator + memory)
    sold = [i for i in facts.instances.values() if short(i.accelerator) == workload.accelerator]
    largest = max(sold, key=lambda i: (i.accelerators, -(price.usd_per_hour if (price := facts.price(i.name)) else math.inf)), default=None)
    if largest and workload.accelerators and workload.accelerators > largest.accelerators >= 1:
        servers = math.ceil(workload.accelerators / largest.accelerators)
        return replace(workload, accelerator=None, accelerators=None, instance_type=largest.name, instances=servers)
    return workload


def _fewest(sizing: Sizing, named: Fit) -> tuple[int, Placement] | None:
    """Return the fewest accelerators that hold a workload, and their placement; None if no number considered does."""
    most = max((f.devices for f in sizing.fits if f.accelerator and named.accelerator in (f.accelerator, None)), default=FULL_SERVER)
    # ZeRO divides a training over any number of cards; tensor parallelism divides a model over those of one server.
    counts = range(1, (_MOST_CARDS if sizing.workload.task in TRAINING else most) + 1)
    machines = (Hardware(n, named.usable_bytes / USABLE / GIB, named.accelerator, named.name) for n in counts)
    placed = ((m.devices, place(sizing.memory, sizing.model, sizing.workload, m, instances=1, every_accelerator=True)) for m in machines)
    return next(((devices, p) for devices, p in placed if p.needed_bytes <= named.usable_bytes), None)


def _gpus(count: int) -> str:
    return f"{count} GPU{'s' if count > 1 else ''}"


def _part_of_one(workload: Workload, facts: Facts) -> Workload:
    """Put fewer accelerators than a machine has in its place: "could a single GPU of it do?"."""
    instance, count = facts.instances.get(workload.instance_type or ""), workload.accelerators
    if not (instance and count and count < instance.accelerators and (sheet := facts.accelerator(instance))):
        return workload
    return replace(workload, instance_type=None, instances=None, accelerator=short(sheet.name), accelerator_memory_gb=None)


def _enough(workload: Workload, facts: Facts, *, whole: bool) -> Workload:
    """As many of an accelerator that is named without a number as hold the model or, beside machines, the `whole` one that has them."""
    if workload.accelerators or workload.instance_type or not workload.accelerator:
        return workload
    sizing = size(workload, facts)
    named, machine = sizing.named, sizing.named_cheapest
    if not named or not named.accelerator or named.fits:
        return workload
    if whole and machine:
        return replace(workload, accelerator=None, accelerator_memory_gb=None, instance_type=machine.name, instances=machine.instances)
    found = _fewest(sizing, named)
    return replace(workload, accelerators=found[0]) if found else workload


# --- the answer ---------------------------------------------------------------------------------------------------------


class _Answer:
    """Writes the lines of an answer. Every figure is recorded with its arithmetic, every row as evidence."""

    def __init__(self, asked: Asked, sizings: Sequence[Sizing], working: Working) -> None:
        self._asked, self._sizings, self._work = asked, sizings, working
        self._question = as_read(working.said[0].rpartition("\n")[2])
        self._seen: list[Sizing] = []
        for sizing in sizings:
            self._assume(sizing)

    def draft(self) -> Draft:
        return self._work.draft(*(_BEGINS.sub(lambda word: word.group().capitalize(), line) for line in self._lines()))

    def held(self, sizing: Sizing, fit: Fit) -> str:
        """Say that a machine does not hold the model or, if no machine is named, that the chosen one does; else ""."""
        if not fit.fits:
            return f"{self._machine_name(fit)} does not hold it, though: {self._against(sizing, fit)}."
        return "" if sizing.named and sizing.named.instance else f"{self._machine_name(fit)} holds it: {self._against(sizing, fit)}."

    def _lines(self) -> Iterator[str]:
        sizing, goal = self._sizings[0], self._asked.goal
        if len(self._sizings) > 1:
            sides = [self._side(s) for s in self._sizings[:4]]
            none_holds = goal in _OF_PLACING and not any(s.named is None or s.named.fits for s in self._sizings)
            if none_holds:
                yield self._work.say(f"{'Neither' if len(sides) == 2 else 'None of them'} fits.")
            elif not (goal is Goal.MEMORY and self._asked.term):
                yield self._preferred(self._sizings[:4])
            yield from (f"- {side}" for side in dict.fromkeys(sides))
            yield self._paces(self._sizings[:4])
            yield self._launch(sizing) if none_holds else ""
            change = self._change(sizing) if sizing.named and not sizing.named.fits else ""
            yield f"{change} {self.assumed(sizing)}".strip()
            return
        operations = self._operations(sizing)
        if goal is Goal.TIME and (hours := self._card_hours(sizing)):
            yield hours
        if operations and not self._machine(sizing) and ((goal is Goal.TIME and sizing.workload.tflops) or _ASKS_OPERATIONS.search(self._question)):
            yield operations
            return
        yield self._headline(sizing)
        if (named := self._machine(sizing)) and goal is Goal.FITS:
            yield self._left(sizing, named)
        if goal in _OF_TRAINING or (goal is Goal.COST and operations):
            yield operations
        if goal in _OF_DEPLOYMENT and ((shown := self._derivation(sizing)) or goal is Goal.COST):
            yield f"{shown} {self.assumed(sizing)}".strip()
            return
        yield self._arithmetic(sizing)
        if self._asked.term:
            yield self.assumed(sizing)
            return
        yield self._launch(sizing)
        yield f"{self._change(sizing)} {self.assumed(sizing)}".strip()

    def _operations(self, sizing: Sizing) -> str:
        """State the total FLOPs of a training: 6 for each parameter and token, forward and backward."""
        work, parameters = sizing.workload, sizing.model.active_parameters
        if not work.tokens or work.task not in TRAINING:
            return ""
        formula = self._work.say(f"6 × {count(parameters)} parameters × {count(work.tokens)} tokens")
        text = self._work.figure(f"{6 * parameters * work.tokens:.3g} FLOPs".replace("e+", "e"), formula, *_CONSTANTS, float(parameters), work.tokens)
        return self._cited(f"The whole training computes {text}: {formula}", *sizing.model.rows)

    def _card_hours(self, sizing: Sizing) -> str:
        """State the total accelerator-hours of a training, by the TFLOPS given or those of the accelerator named."""
        work, fit = sizing.workload, sizing.named
        sheet = fit.accelerator if fit else None
        tflops = work.tflops or (sheet.tflops.get("bf16") if sheet else None)
        if not (work.tokens and tflops) or not (_CARD_HOURS.search(self._question) or (work.tflops and not fit)):
            return ""
        told: list[str] = []
        for share in dict.fromkeys(shares(work)):
            formula = self._work.say(f"6 × {count(sizing.model.active_parameters)} × {count(work.tokens)} / ({share:g} × {tflops:g}e12) / 3600")
            hours = 6 * sizing.model.active_parameters * work.tokens / (share * tflops * 1e12) / 3600
            name, each = next((name, size) for name, size in ((" million", 1e6), (" thousand", 1e3), ("", 1.0)) if hours >= size * (1 if size > 1e3 else 100) or size == 1)
            given = (*_CONSTANTS, float(sizing.model.active_parameters), work.tokens, tflops * 1e12, share)
            told.append(f"{self._work.figure(f'{rounded(hours / each)}{name} accelerator-hours', formula, *given, unit=each)}: {formula}")
            if (cards := (work.accelerators or 0) * (work.instances or 1)) > 1 and not fit:
                took = self._work.figure(f"{rounded(hours / cards)} hours", f"{formula} / {cards}", *given, cards)
                days = self._work.figure(f"{rounded(hours / cards / 24)} days ({took})", f"{formula} / {cards} / 24", *given, cards)
                told[-1] = f"{days} on {cards}: {told[-1]}"
        return f"{'; '.join(told)} {self._work.cite(*sizing.model.rows, *((sheet.row,) if sheet else ()))}".rstrip() + "."

    def _preferred(self, sizings: Sequence[Sizing]) -> str:
        """State which side is best: by speed, tokens per dollar, cost of the run, or price of what holds the model."""
        goals = set(self._asked.goals)
        field_ = "usd_per_hour"
        fits = [self._deployed(s) for s in sizings]
        run = _RUNS.get(self._asked.goal)
        if self._asked.goal is Goal.WATER:
            return ""  # the water of a run is not computed
        if run:
            field_ = run[0]
        elif self._asked.goal in (Goal.THROUGHPUT, Goal.LATENCY):
            field_ = "decode_tokens_per_second"
        elif all(fit and self._per_token(fit) for fit in fits):
            field_ = "usd_per_million_tokens"
        elif (self._asked.workload.tokens or not goals & {Goal.FITS, Goal.CHOICE}) and all(fit and fit.impact and fit.impact.usd_per_run is not None for fit in fits):
            field_ = "usd_per_run"  # a dearer machine may finish so much sooner that its run costs less
        regions = len({s.workload.region for s in sizings}) > 1
        holding = [n for n, fit in enumerate(fits) if fit and fit.fits and fit.runs != "no" and fit.impact and getattr(fit.impact, field_) is not None]
        if _OF_PLACING & goals:
            holding = [n for n in holding if not (named := sizings[n].named) or (named.fits and named.runs != "no")]
        sides = [fit for n in holding if (fit := fits[n])]
        machines = len({self._machine_name(fit) for fit in fits if fit}) > 1
        if not sides or not (machines or regions):
            return ""
        best = (max if field_ == "decode_tokens_per_second" else min)(sides, key=lambda side: getattr(side.impact, field_))
        name = str(sizings[holding[sides.index(best)]].workload.region) if regions else self._machine_name(best)
        others = [side for side in sides if side is not best]
        self._work.say(name)
        if field_ in ("usd_per_hour", "usd_per_run") and len(sides) < len(sizings):
            return f"Only {name} will do." if not others else f"{name} is the cheapest that will do."
        if len({getattr(side.impact, field_) for side in sides}) == 1 or len(sides) < len(sizings):
            return ""
        if field_ == "decode_tokens_per_second":
            return f"{name} is {'faster' if len(others) == 1 else 'the fastest'} by the bound of memory bandwidth."
        if field_ == "usd_per_million_tokens" and not self._asked.workload.tokens_per_second:
            return f"{name} gives {'more' if len(others) == 1 else 'the most'} tokens for a dollar, by the bound of memory bandwidth; no measured figure is in the data."
        if field_ == "usd_per_hour" and goals & {Goal.FITS, Goal.CHOICE, Goal.CHEAPEST, Goal.SMALLEST} and Goal.DIFFERENCE not in goals:
            neuron = ", run with the Neuron SDK" if best.accelerator and best.accelerator.vendor == "AWS" else ""
            return f"{name} is enough, and the {'cheaper of the two' if len(others) == 1 else 'cheapest of these'}{neuron}: {self._need(sizings[holding[sides.index(best)]])}."
        if run:
            return f"{name} {run[2]} {'less' if len(others) == 1 else 'the least'} for the run."
        return f"{name} is {'cheaper' if len(sides) == 2 else 'the cheapest'}{' for the run' if field_ == 'usd_per_run' else ''}."

    def _paces(self, sizings: Sequence[Sizing]) -> str:
        """State the bounds of tokens a second on machines between which a model is placed: the dearer may be the faster."""
        placed = _OF_PLACING & set(self._asked.goals) and not _computes_with_part(self._asked.workload, self._work.said[0]) and all(s.workload.task is Task.SERVE and (s.workload.instances or 1) == 1 for s in sizings)
        told = [(s, s.named if s.named and s.named.accelerator and not s.named.instance else self._deployed(s)) for s in sizings if placed]
        fits = [self._all_of(fit, s) if fit.instance else fit for s, fit in told if fit and fit.fits and fit.runs != "no"]
        bounds = [fit.impact.figure("decode_tokens_per_second") if fit.impact else None for fit in fits]
        if len({self._machine_name(fit) for fit in fits}) < max(2, len(sizings)) or not all(bounds):
            return ""
        paces = [f"{self._figure(fit, 'decode_tokens_per_second')} tokens a second on {self._machine_name(fit)}" for fit in fits]
        count = sizings[0].workload.sequences or 1
        several = f" for {count:,} sequences together" if count > 1 else " for one sequence"
        return self._cited(f"At most {', '.join(paces[:-1])} and {paces[-1]}{several}, by the bound of memory bandwidth", *(row for fit, bound in zip(fits, bounds, strict=True) if bound for row in (*bound.inputs, *self._rows_of(fit))))

    def _deployed(self, sizing: Sizing) -> Fit | None:
        """Return the fit that deployment figures are about: the hardware named, as it is, or the best for what is asked."""
        named = sizing.named
        if named and self._asked.goal in _OF_SPEED and named.instance and sizing.workload.task is Task.SERVE:
            return self._all_of(named, sizing)
        if named and self._asked.goal in _OF_SPEED | _OF_TRAINING and self._asked.goal is not Goal.TOKEN_COST:
            return named
        return named if named and named.instance else self._chosen(sizing)

    def _all_of(self, fit: Fit, sizing: Sizing) -> Fit:
        """Return a machine with as many accelerators in use as the model can be divided over: the most that it can do."""
        facts, work = self._work.tables.facts, sizing.workload
        assert fit.instance
        placed = place(sizing.memory, sizing.model, work, hardware(fit.instance, facts), instances=fit.instances, every_accelerator=True)
        fit = replace(fit, accelerators=placed.accelerators, sharding=placed.sharding, needed_bytes=placed.needed_bytes)
        return replace(fit, impact=impact(fit, sizing.memory, sizing.model, work, facts))

    def _derivation(self, sizing: Sizing) -> str:
        """State the arithmetic of the leading figure."""
        fit, goal, work = self._deployed(sizing), self._asked.goal, sizing.workload
        if not fit or not fit.impact:
            return ""
        label, name = _LEADS.get(goal, ("", "usd_per_run" if work.hours or work.tokens else ""))
        figure = fit.impact.figure(name)
        if not figure:
            return ""
        value = self._figure(fit, name)
        self._work.say(figure.formula)
        return self._cited(f"{label + ': ' if label else ''}{figure.formula} = {value}", *figure.inputs)

    # verdicts

    def _headline(self, sizing: Sizing) -> str:
        goal, work = self._asked.goal, sizing.workload
        chosen = self._deployed(sizing) if goal in _OF_DEPLOYMENT else self._chosen(sizing)
        impact = chosen.impact if chosen else None
        if goal in (Goal.COST, Goal.TOKEN_COST) and chosen and impact and impact.usd_per_hour is not None:
            return self._cost(sizing, chosen)
        if goal is Goal.COST and chosen and chosen == sizing.named and chosen.instance and chosen.fits:
            raise ReaderError(f"{REFUSAL} There is no published on-demand price of {chosen.name} in the data.")
        if goal is Goal.TIME and chosen and impact and impact.training_hours_low:
            return self._time(sizing, chosen)
        if goal is Goal.TOKENS and chosen and impact and impact.trained_tokens_high:
            return self._trained(sizing, chosen)
        if goal is Goal.DEADLINE and chosen and impact and impact.training_hours_low:
            return self._in_time(sizing, chosen)
        if goal in _OF_SPEED and chosen and impact:
            return self._speed(sizing, chosen)
        if self._asked.term and (sizing.workload.task is Task.SERVE or self._asked.term == "adapter") and (focused := self._focused(sizing)):
            return focused
        if work.zero_stage is not None and (work.accelerators or 1) > 1 and not sizing.named and work.task in TRAINING:
            return self._per_rank(sizing, work.accelerators or 1)
        if run := self._run(sizing):
            return run
        if goal in _SOLVED and (named := self._machine(sizing)):
            return self._solution(sizing, named)
        named = self._machine(sizing)
        if goal is Goal.COUNT and named:
            return self._counted(sizing, named)
        if named and not self._wants_any_count():
            return self._verdict(sizing, named)
        if goal in (Goal.CHEAPEST, Goal.SMALLEST, Goal.CHOICE, Goal.COUNT, Goal.FITS, Goal.COMPARE, Goal.COST, Goal.TOKEN_COST):
            return self._choice(sizing)
        return self._focused(sizing) or f"{self._need(sizing)}."

    def _focused(self, sizing: Sizing) -> str:
        """State the one memory term that is asked for ("the KV cache", "the weights"); "" if none is."""
        wanted = self._asked.term or ""
        term = next((t for t in sizing.memory.terms if t.name == wanted), None)
        if term is None:
            return ""
        takes, work = self._bytes(term.bytes, term.formula), sizing.workload
        if wanted == "weights":
            if work.weights in FOUR_BITS:
                bare = self._bytes(sizing.model.parameters / 2, f"{sizing.model.parameters:.8g} × 4 / 8")
                takes = f"{bare} without and {takes} with their scales"
            return self._cited(f"The weights of {self._subject(sizing)} take {takes}", *sizing.model.rows)
        if wanted == "adapter":
            if term.bytes < 1e9:
                takes = self._work.figure(f"{rounded(term.bytes / 1e6)} MB", term.formula, *_CONSTANTS, *self._derived(), unit=1e6)
            return self._cited(f"The adapter of rank {work.lora_rank} of {self._subject(sizing, bare=True)} takes {takes}, with its gradients and optimizer states", *sizing.model.rows)
        name, count, context = self._subject(sizing, bare=True), work.sequences or 1, work.context or 0
        tokens = f"{count:,} sequences of {context:,} tokens" if count > 1 else f"{context:,} token{'s' if context != 1 else ''}"
        self._work.say(tokens)
        cite = self._work.cite(*sizing.model.rows)
        return f"The KV cache of {name} takes {takes} for {tokens} in {work.cache} {cite}".rstrip() + "."

    def _machine(self, sizing: Sizing) -> Fit | None:
        """Return the hardware that is named, by its name or by its memory; else None."""
        memory = self._asked.workload.accelerator_memory_gb
        if sizing.named or not memory:
            return sizing.named
        count = self._asked.workload.accelerators or 1
        machine = Hardware(count, memory * 1e9 / GIB, None, "GPU")
        placed = place(sizing.memory, sizing.model, sizing.workload, machine, instances=1, every_accelerator=True)
        return Fit(None, None, *placed, machine.usable_bytes, "yes", ())

    def _wants_any_count(self) -> bool:
        """Whether the instance may have any number of the accelerator named, as in "the smallest Inferentia2 instance"."""
        work, choices = self._asked.workload, (Goal.SMALLEST, Goal.CHEAPEST, Goal.CHOICE)
        return bool(work.accelerator) and not work.accelerators and self._asked.goal in choices

    def _counted(self, sizing: Sizing, named: Fit) -> str:
        """State how many accelerators, or instances, of the named kind hold the workload."""
        if named.instance:
            fit = next((f for f in sizing.fits if f.name == named.name), named)
            what = self._machine_name(fit) if fit.instances > 1 else f"1 × {fit.name}"
        else:
            like, name = [f for f in sizing.fits if f.accelerator == named.accelerator], short(named.name)
            most, found = max((f.devices for f in like), default=1), _fewest(sizing, named)
            if found:
                devices, (_, _, sharding, needed) = found
                fit = replace(named, accelerators=devices, sharding=sharding, needed_bytes=needed)
                what = f"{devices} × {name}" if named.accelerator else _gpus(devices)
                servers = next((f for f in like if f.fits), None)
                if devices > most and servers:
                    whole = f"{servers.instances} × {servers.name}"
                    what += f" ({whole})" if devices == servers.instances * servers.devices else f" by memory ({servers.instances * servers.devices} in {whole})"
            else:
                fit = sizing.named_cheapest or named
                what = f"{fit.instances * fit.devices} × {name} ({fit.instances} × {fit.name})"
        self._work.say(what)
        if not fit.fits:
            return f"No number of {fit.name} that was considered holds it: {self._against(sizing, fit)}."
        return f"At least {what}: {self._against(sizing, fit)}."

    def _per_rank(self, sizing: Sizing, ranks: int) -> str:
        """State how much model state each of several accelerators holds when ZeRO shards it."""
        stage = sizing.workload.zero_stage or 0
        sharding = Sharding(ranks=ranks, zero_stage=stage)
        states = [t for t in sizing.memory.terms if t.name != "activations"]
        formula = " + ".join(f"({t.formula}) / {sharding.divisor(t.name)}" for t in states)
        each = self._bytes(sum(t.bytes / sharding.divisor(t.name) for t in states), formula, ranks)
        self._work.say(f"{ranks} ZeRO stage {stage}", formula)
        return f"{each} of model state on each of {ranks} accelerators with ZeRO stage {stage}: {self._need(sizing)}."

    def _verdict(self, sizing: Sizing, fit: Fit) -> str:
        wanted = sizing.workload.instances or 1
        answer = "Yes" if fit.fits and fit.instances <= wanted and fit.runs != "no" else "No"
        if fit.verdict == "tight" and fit.runs != "no":
            answer = "Yes, only just" if fit.fits else "Not quite"
        if fit.runs == "unknown" and answer == "Yes":
            answer = "By its memory, yes"
        caveat = f"; {fit.caveats[0]}" if fit.caveats and fit.runs != "yes" else ""
        count = f"; it takes {fit.instances} of them" if fit.instances > wanted and fit.fits else ""
        if not fit.instance and not fit.fits and (fewest := _fewest(sizing, fit)):
            sold = next((f for f in (sizing.named_cheapest,) if f and abs(f.usable_bytes / fit.usable_bytes - 1) < 0.01), None)
            count = f"; {fewest[0]} of them hold it{f', as in {self._machine_name(sold)}' if sold else ''}"
            self._work.say(count)
        elif count:
            self._work.say(f"{fit.instances} of them")
        told = f"{self._against(sizing, fit)}{count}{caveat}."
        return told if self._asked.goal is Goal.MEMORY else f"{answer}: {told}"

    def _left(self, sizing: Sizing, fit: Fit) -> str:
        """State what the weights leave of the usable memory, if the question asks for it."""
        held, devices = sizing.memory.terms[0], fit.devices * fit.instances
        usable = fit.usable_bytes * devices
        if not LEFT_OVER.search(self._question) or sizing.workload.task is not Task.SERVE or held.bytes > usable:
            return ""
        formula = f"{fit.usable_bytes / USABLE:.0f} bytes × {USABLE} × {devices}"
        left = self._bytes(usable - held.bytes, f"({formula}) - ({held.formula})", usable, devices)
        return self._cited(f"{left} of {self._bytes(usable, formula, devices)} usable are left beside the weights", *self._rows_of(fit), *sizing.model.rows)

    def _need(self, sizing: Sizing, fit: Fit | None = None) -> str:
        """State the memory that a workload needs, in total and on each accelerator that it is divided over."""
        total = self._sum(sizing.memory.terms)
        need = f"{self._subject(sizing)} needs {total}"
        states = [t for t in sizing.memory.terms if t.name in ("weights", "gradients", "optimizer states", "adapter")]
        if len(states) < len(sizing.memory.terms):
            part = self._sum(states)
            name = "weights" if len(states) == 1 else "model state"
            need += f", {part} of it {'for the ' if name == 'weights' else ''}{name}" if part != total else ""
        if fit and fit.accelerators > 1:
            each = " + ".join(f"({t.formula}) / {fit.sharding.divisor(t.name)}" for t in sizing.memory.terms)
            divisors = [fit.sharding.divisor(t.name) for t in sizing.memory.terms]
            need += f", {self._bytes(fit.needed_bytes, each, *divisors)} on each of {self._work.say(str(fit.accelerators))}"
        return f"{need} {self._work.cite(*sizing.model.rows)}".rstrip()

    def _against(self, sizing: Sizing, fit: Fit) -> str:
        """State the memory that a workload needs, and the memory that the hardware has."""
        return f"{self._need(sizing, fit)}; {self._has(fit)}"

    def _has(self, fit: Fit) -> str:
        held = fit.usable_bytes / USABLE
        has, usable = self._bytes(held, f"{held:.0f} bytes", held), self._bytes(fit.usable_bytes, f"{held:.0f} bytes × {USABLE}", held)
        rows = self._rows_of(fit)
        if fit.instance:
            count = f"{self._work.say(str(fit.devices))} × " if fit.devices > 1 else ""
            return f"{article(fit.name)} {fit.name} has {count}{has}, {usable} usable {self._work.cite(*rows)}".rstrip()
        name = f"{short(fit.accelerator.name)}" if fit.accelerator else "GPU"
        several = f"{fit.accelerators} × {name}" if fit.accelerator else _gpus(fit.accelerators)
        one = f"{self._work.say(several)} have {has} each" if fit.accelerators > 1 else f"{article(name)} {name} has {has}"
        return f"{one}, {usable} usable {self._work.cite(*rows)}".rstrip()

    def _choice(self, sizing: Sizing) -> str:
        fit = self._chosen(sizing)
        if fit is None:
            return f"{self._need(sizing)}: no single kind of instance that was considered holds it and is known to run it."
        smallest = self._asked.goal is Goal.SMALLEST
        opening = "The smallest that holds it is" if smallest else "The cheapest that holds it is" if self._asked.goal is Goal.CHEAPEST else "Use"
        if self._asked.goal is Goal.COUNT and fit.accelerator and fit.devices * fit.instances > 1:
            opening = f"{fit.instances * fit.devices} × {short(fit.accelerator.name)}:"
            self._work.say(opening)
            opening += " use"
        if fit.within_budget is False:
            opening = "Nothing that holds it is within the budget; the nearest is"
        tight = next((f for f in sizing.fits if f.fits and f.verdict == "tight" and f.runs == "yes" and f.instances == 1 and f.hourly < 0.9 * fit.hourly), None)
        just = f"; {self._described(tight)} only just holds it" if tight and fit.within_budget is not False else ""
        just = _ONLY_JUST.replace("which", "it") if fit.verdict == "tight" else just
        return f"{opening} {self._described(fit)}: {self._need(sizing, fit)}{just}."

    def _side(self, sizing: Sizing) -> str:
        fit, goal = sizing.named or self._chosen(sizing), self._asked.goal
        if goal is Goal.MEMORY and (focused := self._focused(sizing)):
            return focused
        if run := self._run(sizing):
            return run
        if goal is Goal.COUNT and (named := self._machine(sizing)):
            return self._counted(sizing, named)
        if fit is None:
            return f"{self._need(sizing)}: nothing that was considered holds it."
        told = fit if fit.instance else self._chosen(sizing)
        if goal in (Goal.THROUGHPUT, Goal.LATENCY) and (deployed := self._deployed(sizing)):
            price = f" {self._price_of(told)}." if told and told.impact and told.impact.price else ""
            return f"{self._speed(sizing, deployed)}{price}"
        runs = sizing.workload.tokens and {Goal.CHEAPEST, Goal.COST, Goal.DIFFERENCE} & set(self._asked.goals)
        if goal is Goal.TOKEN_COST and not sizing.workload.tokens_per_second and (deployed := self._deployed(sizing)) and deployed.impact and deployed.impact.price and (bound := deployed.impact.figure("decode_tokens_per_second")):
            pace = self._figure(deployed, bound.name)
            return f"{self._machine_name(deployed)}: at most {pace} tokens a second of one sequence {self._work.cite(*bound.inputs)}, at {self._price_of(deployed)}."
        if (goal in (Goal.COST, Goal.TOKEN_COST) or runs) and told and fit.fits and told.impact and told.impact.usd_per_hour is not None:
            return self._cost(sizing, told)
        if not sizing.named:
            alike = fit.accelerators == 1 and sizing.memory.bytes == self._sizings[0].memory.bytes
            return f"{self._described(fit)}." if alike else f"{self._described(fit)}: {self._need(sizing, fit)}."
        holds = {"fits": "fits", "tight": "just fits" if fit.fits else "just does not fit"}.get(fit.verdict, "does not fit")
        if fit.runs == "no":
            return f"{self._machine_name(fit)}: does not run it, {fit.caveats[0]}; {self._against(sizing, fit)}."
        price = f"; {self._price_of(told)}" if told and told.fits and fit.fits else ""
        if fit.fits and fit.accelerators == 1 and sizing.memory.bytes == self._sizings[0].memory.bytes and sizing is not self._sizings[0]:
            return f"{self._machine_name(fit)}: {holds}; {self._has(fit)}{price}."
        return f"{self._machine_name(fit)}: {holds}, {self._against(sizing, fit)}{price}."

    # figures of a deployment

    def _cost(self, sizing: Sizing, fit: Fit) -> str:
        """State the price of a machine, after that of a million tokens or of a training, if either is asked for."""
        assert fit.impact
        price, work = fit.impact.price, sizing.workload
        assert price
        spans = [f"{self._figure(fit, 'usd_per_hour')} an hour"]
        if self._per_token(fit):
            pace = f" at {work.tokens_per_second:,.0f} tokens a second" if work.tokens_per_second else ""
            self._work.say(pace)
            spans = [f"{'' if pace else 'At least '}{self._figure(fit, 'usd_per_million_tokens')} for a million tokens{pace}", *spans]
        elif work.tokens and fit.impact.usd_per_run:
            took = self._figure(fit, "training_hours_low")
            hours = fit.impact.known("training_hours_low").value
            days = f" ({self._figure(fit, 'training_hours_low', 24.0)} days)" if hours >= 48 else ""
            run = f"{'about' if work.mfu else 'at least'} {self._figure(fit, 'usd_per_run')} for {took} hours{days} at {self._share(work, best=True)}"
            if budget := work.budget or work.budget_per_month:
                sum_ = self._work.say(f"${budget:,.0f}{'' if work.budget else ' a month'}")
                run = f"{'no' if fit.within_budget is False else 'yes'}, with {sum_}: it takes {run}"
            spans = [capital(run), *spans]
        if not work.tokens:
            spans.append(f"{self._figure(fit, 'usd_per_month')} a month")
        fits = "" if fit.fits else f", but {self._machine_name(fit)} does not hold it: {self._need(sizing, fit)}"
        figure = fit.impact.figure("usd_per_million_tokens" if "million tokens" in spans[0] else "training_hours_low" if work.tokens else "")
        return f"{', '.join(spans)} on {self._machine_name(fit)} {price.terms} {self._work.cite(*(figure.inputs if figure else ()), price.row)}{fits}."

    def _run(self, sizing: Sizing) -> str:
        """State the energy or carbon of a whole training on the machine that trains it; "" if neither is asked for or known."""
        name, unit, _ = _RUNS.get(self._asked.goal, ("", "", ""))
        fit, work = self._deployed(sizing), sizing.workload
        figure = fit.impact.figure(name) if fit and fit.impact and fit.fits and work.tokens else None
        if not (fit and figure):
            return ""
        took = f"{self._figure(fit, 'training_hours_low')} hours at {self._share(work, best=True)}"
        region = self._work.say(work.region or DEFAULT_REGION)
        at_load = f"{self._work.say(percent(load_of(work)))} load{'' if 'load' in self._asked.stated else ' (assumed)'}"
        amount = f"{self._figure(fit, name)} {self._work.say(unit)}"
        return self._cited(f"{'About' if work.mfu else 'At least'} {amount} for {took} on {self._machine_name(fit)} in {region}, at {at_load}", *figure.inputs, *sizing.model.rows)

    def _per_token(self, fit: Fit) -> bool:
        return bool(self._asked.goal is Goal.TOKEN_COST and fit.impact and fit.impact.usd_per_million_tokens)

    def _time(self, sizing: Sizing, fit: Fit) -> str:
        """State how long a training takes, and whether that is within the given time."""
        assert fit.impact
        work, figure = sizing.workload, fit.impact.figure("training_hours_low")
        assert figure
        low, high = fit.impact.training_hours_low or 0.0, fit.impact.training_hours_high or 0.0
        unit, each = ("days", 24.0) if low >= (12 if re.search(r"\bdays\b", self._question) else 48) else ("hours", 1.0) if low >= 1 else ("minutes", 1 / 60)
        took = self._figure(fit, "training_hours_low", each)
        if low != high:
            took = f"{took} to {self._figure(fit, 'training_hours_high', each)}"
        hours = f" ({self._figure(fit, 'training_hours_low')}{'' if low == high else ' to ' + self._figure(fit, 'training_hours_high')} hours)" if unit == "days" else ""
        share = self._share(work)
        answer, deadline = "", self._asked.workload.hours
        if deadline:
            answer = "Yes: " if high <= deadline else "No: " if low > deadline else "Only at the better end: "
        cite = self._work.cite(*figure.inputs, *self._rows_of(fit))
        cost = ""
        sold = fit if fit.instance else next((f for f in sizing.fits if f.accelerator == fit.accelerator and f.accelerators == fit.accelerators), None)
        if Goal.COST in self._asked.goals and sold and sold.impact and sold.impact.usd_per_run is not None and sold.impact.price:
            price = sold.impact.price
            costs = f"{'about' if work.mfu else 'at least'} {self._figure(sold, 'usd_per_run')}"
            if low != high and sold.impact.usd_per_hour:
                hourly = sold.impact.usd_per_hour
                dearest = self._work.figure(f"${rounded(hourly * high, money=True)}", f"{hourly:.6g} × {high:.6g}", hourly, high)
                costs = f"{self._figure(sold, 'usd_per_run')} to {dearest}"
            if work.budget:
                budget = f"{'within' if sold.impact.usd_per_run <= work.budget else 'more than'} your ${work.budget:,.0f}"
                costs = f"{costs}, {self._work.say(budget)},"
            cost = f" It costs {costs} on {self._machine_name(sold)}, at {self._figure(sold, 'usd_per_hour')} an hour {price.terms} {self._work.cite(price.row)}."
        return f"{answer}{took} {unit}{hours} on {self._machine_name(fit)}, at {share} {cite}.{cost}{self._unless_it_fits(sizing, fit)}"

    def _trained(self, sizing: Sizing, fit: Fit) -> str:
        """State how many tokens a training sees in the given hours."""
        assert fit.impact
        work, figure = sizing.workload, fit.impact.figure("trained_tokens_high")
        assert figure
        unit, each = ("trillion", 1e12) if figure.value >= 1e12 else ("billion", 1e9) if figure.value >= 1e9 else ("million", 1e6)
        seen = self._figure(fit, "trained_tokens_high", each)
        if not work.mfu:
            seen = f"{self._figure(fit, 'trained_tokens_low', each)} to {seen}"
        hours = self._work.say(f"{work.hours:,g} hours")
        where = f"on {self._machine_name(fit)}, at {self._share(work, rising=True)}"
        return f"{seen} {unit} tokens in {hours} {where} {self._work.cite(*figure.inputs, *self._rows_of(fit))}.{self._unless_it_fits(sizing, fit)}"

    def _in_time(self, sizing: Sizing, fit: Fit) -> str:
        """State how many accelerators finish a training in the given time, and the instances that have them."""
        assert fit.impact
        assert fit.accelerator
        work, hours = sizing.workload, self._asked.workload.hours or 0.0
        figure = fit.impact.known("training_tokens_per_second_high")
        assert work.tokens
        counts: list[int] = []
        for share in dict.fromkeys(reversed(shares(work))):
            speed = figure.value / fit.accelerators * share / shares(work)[1]
            counts.append(math.ceil(work.tokens / (speed * hours * 3600) - 1e-9))
        name = short(fit.accelerator.name)
        what = f"{counts[0]:,} × {name}"
        launch = f" ({self._described(fit)})" if fit.instance else ""
        slower = f"; {counts[1]:,} at 30 %" if len(counts) > 1 else ""
        self._work.say(what, slower, f"{hours:,g} hours", f"{_count(work.tokens)} tokens")
        return f"At least {what}{launch} for {_count(work.tokens)} tokens in {hours:,g} hours, at {self._share(work, best=True)}{slower} {self._work.cite(*figure.inputs, *self._rows_of(fit))}.{self._unless_it_fits(sizing, fit)}"

    def _share(self, work: Workload, *, best: bool = False, rising: bool = False) -> str:
        """Return the share of the peak (MFU) that a training or a prompt is computed with, as text."""
        usual = "50 %" if best else "30 % to 50 %" if rising else "50 % to 30 %"
        return self._work.say(f"an MFU of {percent(work.mfu)}" if work.mfu else f"{usual} of its peak (MFU)")

    def _unless_it_fits(self, sizing: Sizing, fit: Fit) -> str:
        return "" if fit.fits else f" It does not fit, though: {self._against(sizing, fit)}."

    def _speed(self, sizing: Sizing, fit: Fit) -> str:
        """State the upper bound of tokens per second for generating, reading a prompt or training."""
        assert fit.impact
        work, name, goal = sizing.workload, self._machine_name(fit), self._asked.goal
        rows = self._rows_of(fit)
        bound = "training_tokens_per_second_high" if work.task in TRAINING else "prefill_tokens_per_second_high" if goal is Goal.PREFILL else "decode_tokens_per_second"
        figure = fit.impact.figure(bound)
        if not figure:
            reason = next((n for n in fit.impact.notes if "bound" in n or "bandwidth" in n or "compute" in n), "no published figure of its speed")
            return f"There is {self._work.say(reason)}, so no bound of the tokens a second on {name} can be computed {self._work.cite(*rows)}."
        speed = self._figure(fit, bound)
        several = f" for {work.sequences:,} sequences together" if (work.sequences or 1) > 1 else ""
        wanted = work.tokens_per_second
        self._work.say(f"{wanted or 0:,.0f}")
        asked = f"; {wanted:,.0f} are wanted" if wanted else ""
        on = f"with {self._subject(sizing)} on {name}"
        cite = self._work.cite(*figure.inputs, *rows)
        if bound.startswith("prefill"):
            return f"{self._prompt(sizing, fit, speed)} {on}, by compute alone {cite}.{self._unless_it_fits(sizing, fit)}"
        if goal is Goal.LATENCY and fit.impact.milliseconds_per_token:
            return f"At least {self._figure(fit, 'milliseconds_per_token')} ms a token, {speed} tokens a second{several}, {on}, a bound and no measurement {cite}.{self._unless_it_fits(sizing, fit)}"
        if (written := _TO_WRITE.search(self._question)) and _SECONDS_FOR.search(self._question) and fit.impact.milliseconds_per_token:
            tokens = float(written["number"].replace(",", ""))
            milliseconds = fit.impact.known("milliseconds_per_token")
            self._figure(fit, "milliseconds_per_token")
            formula = f"({milliseconds.formula}) × {tokens:g} / 1000"
            text = self._work.figure(f"{rounded(milliseconds.value * tokens / 1000)} s", formula, *_CONSTANTS, *self._given(fit), tokens)
            return f"At least {text} for {self._work.say(f'{tokens:,g} tokens')}, at most {speed} tokens a second{several}, {on}, a bound and no measurement {cite}.{self._unless_it_fits(sizing, fit)}"
        answer = "At" if not wanted else "By the bound, yes: at" if wanted <= figure.value else "No: at"
        return f"{answer} most {speed} tokens a second{several} {on}, a bound and no measurement{asked} {cite}.{self._unless_it_fits(sizing, fit)}"

    def _prompt(self, sizing: Sizing, fit: Fit, speed: str) -> str:
        """State the time to the first token and the prompt tokens per second, first the time if a length is given."""
        work = sizing.workload
        first = self._figure(fit, "first_token_seconds_low")
        if not work.mfu:
            first = f"{first} to {self._figure(fit, 'first_token_seconds_high')}"
            speed = f"{self._figure(fit, 'prefill_tokens_per_second_low')} to {speed}"
        took, rate = f"{first} s to the first token of a prompt of {work.context:,} tokens", f"{speed} tokens a second of prompts"
        told = f"{took}, {rate}" if self._asked.workload.context else f"{rate}, {took}"
        return f"{told} at {self._share(work, rising=not self._asked.workload.context)}"

    def _solution(self, sizing: Sizing, fit: Fit) -> str:
        """State the most that fits, and the memory that it then needs."""
        work, goal = sizing.workload, self._asked.goal
        if goal is Goal.LARGEST:
            most_ = f"{_count(sizing.model.parameters)} parameters in {work.weights}"
        elif goal is Goal.USERS:
            most_ = f"{work.sequences:,} sequence{'s' if work.sequences != 1 else ''} at once, of {work.context:,} tokens each"
        else:
            most_ = f"{work.context:,} tokens of context" + (f" for each of {work.sequences:,} sequences" if (work.sequences or 1) > 1 else "")
        self._work.say(most_)
        longest = sizing.workload.model and self._work.tables.facts.models[sizing.workload.model].max_position
        why = ", which is all that the model takes" if goal is Goal.LONGEST and work.context == longest else ""
        return f"At most {most_}{why}: {self._against(sizing, fit)}."

    def _figure(self, fit: Fit, name: str, each: float = 1.0) -> str:
        """Return a figure of a fit as text, in units of `each`, and record everything that it is computed from."""
        assert fit.impact
        given = (*_CONSTANTS, *self._given(fit))
        for figure in fit.impact.figures:
            self._work.note(Computed(f"{figure.value:.8g}", figure.formula, 1.0, given))
        wanted = fit.impact.known(name)
        text = f"${rounded(wanted.value, money=True)}" if name.startswith("usd") else rounded(wanted.value / each)
        return self._work.figure(text, wanted.formula, *given, unit=each)

    def _given(self, fit: Fit) -> tuple[float, ...]:
        """Return the numbers that a sizing puts into an impact's formulas: machines, load, hours and so on."""
        sizing = self._sizings[0]
        work, memory = sizing.workload, sizing.memory
        flops = [fit.accelerators * speed * 1e12 for speed in fit.accelerator.tflops.values()] if fit.accelerator else []
        present = fit.instance.accelerators * fit.instances if fit.instance else 0
        active = memory.terms[0].bytes * sizing.model.active_parameters / sizing.model.parameters
        speeds = [figure.value for figure in fit.impact.figures if "tokens_per_second" in figure.name] if fit.impact else []
        numbers = (fit.instances, fit.accelerators, present, present - fit.accelerators, work.load, work.hours, work.tokens, work.sequences, work.mfu, work.tokens_per_second, work.context, *speeds)
        return tuple(float(n) for n in (*numbers, *flops, active, *(t.bytes for t in memory.terms), sizing.model.active_parameters) if n)

    # the other lines

    def _arithmetic(self, sizing: Sizing) -> str:
        parts = [f"{capital(t.name)}: {t.formula} = {self._bytes(t.bytes, t.formula)}" for t in sizing.memory.terms if t.bytes and self._asked.term in (None, t.name)]
        self._work.say(*(t.formula for t in sizing.memory.terms))
        names = [*(t.name for t in sizing.memory.terms if self._asked.term in (None, t.name)), str(sizing.workload.task)]
        explained = [e for name in names if (e := self._work.tables.explained(name, self._work.index))]
        marks = "".join(dict.fromkeys(self._work.mark(e) for e in explained))
        return f"{'; '.join(parts)} {marks}{self._work.cite(*sizing.model.rows)}".rstrip() + "."

    def _launch(self, sizing: Sizing) -> str:
        """State what to launch; "" if the first line says it already."""
        told = self._chosen(sizing)
        named = self._machine(sizing)
        goal = self._asked.goal
        if goal in _SOLVED and not (sizing.named and sizing.named.instance):
            return ""
        if goal is Goal.COUNT:
            told = sizing.named_cheapest or told
        first = (named is None or self._wants_any_count()) and told is not None and goal in (Goal.CHEAPEST, Goal.SMALLEST, Goal.CHOICE, Goal.COUNT, Goal.FITS, Goal.COMPARE)
        wants = self._asked.workload.vendors or self._asked.workload.families or self._asked.workload.without
        picks: list[str] = []
        told_already = goal is Goal.COST or (goal in _OF_DEPLOYMENT and told == sizing.named)
        if told and told.fits and not first and not told_already:
            costs = told == sizing.named and told.impact and told.impact.usd_per_month is not None
            picks.append(self._cost(sizing, told).rstrip(".") if costs and goal not in _OF_DEPLOYMENT else f"Use {self._described(told)}{_ONLY_JUST if told.verdict == 'tight' and named is None else ''}")
        for fit in sizing.alternatives[:1]:
            if told and fit.name != told.name and fit.runs == "yes" and not wants and fit.hourly < told.hourly:
                picks.append(f"on AWS's own chips: {self._described(fit)}")
        return capital("; ".join(picks)) + "." if picks else ""

    def _change(self, sizing: Sizing) -> str:
        """State which smaller format, or lighter training method, makes the model fit or a cheaper machine enough."""
        work, named = sizing.workload, self._machine(sizing)
        if self._asked.goal in (Goal.COUNT, *_SOLVED, *_OF_DEPLOYMENT) or self._wants_any_count():
            return ""
        if work.task in TRAINING and work.task is not Task.QLORA and named and not named.fits:
            steps = [replace(self._asked.workload, task=task, weights=None) for task in (Task.LORA, Task.QLORA) if task is not work.task]
        elif work.task is Task.SERVE and work.weights:
            steps = [replace(self._asked.workload, weights=form) for form in _SMALLER if BITS[form] < BITS[work.weights] - 1]
        else:
            steps = []
        for step in steps:
            try:
                smaller = size(_as_sold(step, self._work.tables.facts), self._work.tables.facts)
            except ReaderError:
                continue
            fit, before, after = self._machine(smaller), sizing.cheapest, smaller.cheapest
            what = f"With {smaller.workload.task}" if work.task in TRAINING else f"In {smaller.workload.weights}"
            if named and not named.fits and fit and fit.fits and fit.runs != "no" and fit.instances <= (work.instances or 1):
                self._assume(smaller)
                holds = "it fits" if len(self._sizings) == 1 else f"{self._machine_name(fit)} holds it"
                return self._cited(f"{what} {holds}, with {self._sum(smaller.memory.terms)}", *smaller.model.rows)
            if (not named or named.fits) and before and after and after.hourly < 0.8 * before.hourly:
                self._assume(smaller)
                return f"{what} {self._described(after)} is enough."
        return ""

    def _chosen(self, sizing: Sizing) -> Fit | None:
        """Return the fit that an answer is about: the instance type named, or the best for what is asked."""
        if sizing.named and sizing.named.instance and (sizing.named.fits or self._asked.goal is Goal.COST):
            return sizing.named
        if self._wants_any_count() and sizing.named_cheapest:
            return sizing.named_cheapest
        fit = (sizing.smallest if self._asked.goal is Goal.SMALLEST else None) or sizing.cheapest or sizing.smallest
        wishes = self._asked.workload.families or self._asked.workload.vendors or self._asked.workload.instance_type
        if fit and fit.runs != "yes" and not wishes:
            return next((f for f in sizing.fits if f.fits and f.runs == "yes"), fit)
        return fit

    def _described(self, fit: Fit) -> str:
        """Describe an instance type with its accelerators and its price."""
        name = self._machine_name(fit)
        caveats = [self._work.say(caveat) for caveat in fit.caveats if fit.runs == "yes"]
        accelerators = f" ({'; '.join([self._accelerators(fit), *caveats])})" if fit.accelerator else ""
        if not fit.impact or fit.impact.usd_per_hour is None or not fit.impact.price:
            return f"{name}{accelerators}, no on-demand price published {self._work.cite(*self._rows_of(fit))}"
        price = fit.impact.price
        work, month = self._asked.workload, ""
        if work.budget_per_month and work.hours and work.hours < HOURS_A_MONTH and not work.tokens:
            month = f", {self._figure(fit, 'usd_per_run')} for {self._work.say(f'{work.hours:.4g} hours')}"
        elif work.budget_per_month:
            month = f", {self._figure(fit, 'usd_per_month')} a month"
        return f"{name}{accelerators}, {self._figure(fit, 'usd_per_hour')} an hour{month} {price.terms} {self._work.cite(*self._rows_of(fit), price.row)}"

    def _accelerators(self, fit: Fit) -> str:
        """Describe the accelerators of one machine: how many, or which part of one."""
        assert fit.accelerator
        part = fit.instance.accelerators if fit.instance else 1.0
        self._work.say(f"{part:g} {fit.devices}")
        name = short(fit.accelerator.name)
        return f"{part:g} of {article(name)} {name}" if part < 1 else f"{fit.devices} × {name}"

    def _price_of(self, fit: Fit) -> str:
        if not fit.impact or not fit.impact.price:
            return f"no on-demand price of {fit.name} published {self._work.cite(*self._rows_of(fit))}"
        return f"{self._figure(fit, 'usd_per_hour')} an hour on {self._machine_name(fit)} {fit.impact.price.terms} {self._work.cite(fit.impact.price.row)}"

    def _machine_name(self, fit: Fit) -> str:
        if not fit.instance:
            name = short(fit.accelerator.name) if fit.accelerator else "GPU"
            return f"{fit.accelerators} × {name}" if fit.accelerators > 1 else f"one {name}"
        return self._work.say(f"{fit.instances} × {fit.name}") if fit.instances > 1 else fit.name

    def _rows_of(self, fit: Fit) -> list[Row]:
        """Return the rows with the memory of a machine: its own, and its accelerator's if that gives another figure."""
        if fit.instance:
            rows = [fit.instance.row]
            each = (fit.instance.accelerator_memory_gib_each or 0.0) * GIB
            if fit.accelerator and abs(each * USABLE - fit.usable_bytes) > 0.005 * fit.usable_bytes:
                rows.append(fit.accelerator.row)
            return rows
        if not fit.accelerator:
            return []
        like = (i for i in self._work.tables.facts.instances.values() if self._work.tables.facts.accelerator(i) == fit.accelerator)
        same = [i for i in like if abs((i.accelerator_memory_gib_each or 0.0) * GIB * USABLE - fit.usable_bytes) < 0.005 * fit.usable_bytes]
        return [same[0].row] if same else [fit.accelerator.row]

    def _subject(self, sizing: Sizing, *, bare: bool = False) -> str:
        work = sizing.workload
        size = _count(sizing.model.parameters)
        name = _model_name(work.model) if work.model else f"{'an' if size[0] == '8' else 'a'} {size} model"
        form = f" in {work.weights}" if work.weights and not bare else ""
        self._work.say(f"{size} {name}{form}")
        return f"{'' if bare else _WORK[work.task or Task.SERVE]}{name}{form}"

    # evidence and arithmetic

    def _assume(self, sizing: Sizing) -> None:
        """Record the assumptions of a sizing, so that the answer may state them and compute with them."""
        self._seen.append(sizing)
        model, work = sizing.model, sizing.workload
        shape = [f.name for f in fields(model) if isinstance(getattr(model, f.name), int | float)] if not model.rows else []
        self._work.say(", ".join(sizing.assumptions), *(f"{getattr(model, name):g}" for name in shape))
        self._work.say(f"{work.context:,} tokens" if work.context else "", f"{work.sequences:,} sequences" if work.sequences else "")
        self._work.say(" ".join(str(f) for f in (work.weights, work.cache) if f))

    def assumed(self, sizing: Sizing) -> str:
        """State the assumptions that matter for what is asked (see `_MATTERS`)."""
        goal, term = self._asked.goal, self._asked.term
        told_of = term or (Goal.COST if goal is Goal.TOKEN_COST and sizing.workload.tokens_per_second else goal)
        matters = _MATTERS.get(told_of, r"weights$" if told_of in _OF_DEPLOYMENT else _FITTING) + (r"|one sequence" if tells_people(self._work.said[0]) else "")
        used = (sizing.named_cheapest if goal is Goal.COUNT else None) or sizing.named or sizing.cheapest
        several = used and used.accelerators > 1
        told = [a for a in sizing.assumptions if re.search(matters, a) and (several or not a.startswith(("ZeRO", "each sequence")))]
        if sizing.workload.context == 1 and not (term or sizing.workload.tokens_per_second):
            told = [*(a for a in told if "cache" not in a), "an empty cache"]
        return f"Assumed: {', '.join(told)}." if told else ""

    def _bytes(self, value: float, formula: str, *given: float) -> str:
        """Return a size as text, and record its arithmetic."""
        name, unit = next((name, unit) for name, unit in _SIZES if value >= (unit / 10 if name == "GB" else unit) or name == "kB")
        return self._work.figure(f"{rounded(value / unit)} {name}", formula, *_CONSTANTS, *given, *self._derived(), unit=unit)

    def _sum(self, terms: Sequence[Term]) -> str:
        return self._bytes(sum(t.bytes for t in terms), " + ".join(f"({t.formula})" for t in terms))

    def _cited(self, text: str, *rows: Row) -> str:
        """Return a sentence with the citation marks of rows at its end."""
        return f"{text} {self._work.cite(*rows)}".rstrip() + "."

    def _derived(self) -> tuple[float, ...]:
        """Return sizes that follow from a model's configuration. No row has them, but the rows behind them are cited."""
        found: list[float] = []
        for sizing in self._seen:
            model, work = sizing.model, sizing.workload
            found += [model.parameters, model.embedding_parameters, model.expert_parameters, model.full_layers, model.sliding_layers]
            found += [model.parameters - model.embedding_parameters, model.parameters - model.expert_parameters]
            if work.lora_rank:
                found += [adapter_parameters(model, work.lora_rank, work.lora_targets), work.lora_rank]
        return tuple(n for n in found if n)


def _count(parameters: float) -> str:
    if parameters >= 1e12:
        return f"{parameters / 1e12:.3g}T"
    return f"{parameters / 1e9:.3g}B" if parameters >= 1e9 else f"{parameters / 1e6:.3g}M"


def _model_name(name: str) -> str:
    return re.sub(r"^Meta-(?=Llama)|-(?:hf|Instruct)$|-v0\.1$", "", name.rpartition("/")[2])
