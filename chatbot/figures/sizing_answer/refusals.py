"""Say what cannot be answered on a workload: what no row has, what is not known, and what must be told first."""

import re
from collections.abc import Sequence

from chatbot.answer import REFUSAL, ReaderError
from chatbot.draft import Draft
from chatbot.figures.hardware_answer.machines import rented
from chatbot.sizing import Facts, Workload
from chatbot.sizing.asking import BUDGETS, HARDWARE, Asked, Heard
from chatbot.sizing.fit import TRAINING, hardware, runs_on
from chatbot.sizing.goals import OF_MONEY, Goal
from chatbot.sizing.impact import DEFAULT_REGION, HOURS_A_MONTH
from chatbot.sizing.reading.text import Known
from chatbot.table.entities import ask_region, excludes_region
from chatbot.working import Tables, Working, rounded
from ingest import Index, known_words

_NO_ROW = "The prices in the data are on demand, of EC2 and of the day that they were read; its other figures are those that makers and AWS publish."
# How likely an intent must be for `lacking` to reply to it. "unsaid" asks for what no row and no document has; the
# training data of the intents define its kinds.
_LIKELY = 0.6
# Words of a question that asks for nothing but a price.
_BRIEF = 12
# A name that a single document is about stands in at most this many chunks.
_RARE = 3
_OF_IT, _OF_US = re.compile(r"\b(?:it|ours?|mine|my)\b"), re.compile(r"\bwe\b")
_NEXT = re.compile(r"\bnext (?:year|quarter|spring|summer|autumn|winter|january|february|march|april|may|june|july|august|september|october|november|december)\b", re.IGNORECASE)
# A generation of a product line, or a part number in the style of accelerator makers.
_CHIP = re.compile(r"(?<![\w.-])(?:(?:trainium|inferentia|gaudi|rubin)[ -]?v?\d+(?! chips|\s?[x×])|tpu[ -]?v\d+\w?|(?:[hbl]\d{2,3}|[a-z]{1,2}\d{3,4})[a-z]?)(?![\w.-])", re.IGNORECASE)
_OWN_CLOUD = re.compile(r"\b(?:aws|ec2|amazon)\b|\$ ?\d|\d ?\$")
_OF_HARDWARE = re.compile(r"\.\w*(?:large|xl|metal|medium|small|micro|nano)\b|^(?:trainium|inferentia|gaudi)")


def without_claims(text: str) -> Draft:
    """Return a draft that claims nothing about the world: the request is impossible, or more must be known."""
    return Draft(text, (), said=text)


def refused(asked: Asked, heard: Heard | None, question: str, facts: Facts) -> Draft | None:
    """Say why a question cannot be computed: an unknown name, another currency, another time, place or cloud."""
    work, goals = asked.workload, set(asked.goals)
    if asked.unknown:
        return _ask_back(asked)
    of_price = asked.stated & BUDGETS or not (work.accelerator or work.instance_type)
    if asked.euros and Goal.FITS not in goals and of_price:
        return without_claims("Prices in other currencies are not in the data, only in US dollars: ask for or give dollars.")
    if (not work.hours or _NEXT.search(question)) and goals <= OF_MONEY - {Goal.TOKEN_COST} and (later := _later(question, facts)):
        return _of_later(later)
    if OF_MONEY & goals and excludes_region(question):
        return without_claims(ask_region(_priced_regions(facts)))
    if heard and heard.computed and _names_rival(heard) and "instance_type" not in heard.said.slots and not _OWN_CLOUD.search(heard.said.text):
        return without_claims(f"{REFUSAL} {_NO_ROW}")
    return None


def _names_rival(heard: Heard) -> bool:
    """Whether a turn names another cloud than that of the data."""
    return "rival" in heard.said.plain.split()


def _ask_back(asked: Asked) -> Draft:
    if asked.names_model:
        return without_claims(f"{REFUSAL} There is no {asked.unknown} in the data.")
    if _OF_HARDWARE.search(asked.unknown or ""):
        return without_claims(f"{REFUSAL} There is no {asked.unknown} in the data: name an instance type of EC2, such as g6e.xlarge.")
    remedy = "give its number of parameters, as in 70B, or ingest its config.json. Which model is it?"
    return without_claims(f"{REFUSAL} The size of {asked.unknown} is not in the data: {remedy}")


def _later(question: str, facts: Facts) -> str | None:
    """Return a year later than the newest price, or "next month" and the like, that a question asks about; or None."""
    if match := _NEXT.search(question):
        return match.group()
    newest = max((price.date for prices in facts.prices.values() for price in prices), default="")
    years = re.findall(r"\b(?:in|by|for|of|during) (20\d\d)\b(?! (?:hours?|tokens?|gpus?|instances?))", question)
    return next((year for year in years if newest and year > newest[:4]), None)


def _of_later(time: str) -> Draft:
    return without_claims(f"{REFUSAL} Prices of {time} are not in the data: ask for those of today.")


def unheard_chip(question: str, known: Known, index: Index) -> str | None:
    """Return an accelerator in a question that neither a row nor a document has, or None."""
    rows = re.sub(r"[ -]", "", " ".join(known.accelerators).lower())
    for chip in (match.group() for match in _CHIP.finditer(question)):
        forms = (chip, re.sub(r"[ -]", "", chip), chip.rstrip("s"))
        if re.sub(r"[ -]|s$|(?<=[am])1$", "", chip.lower()) not in rows and not any(map(index.document_frequency, forms)):
            return chip
    return None


# --- questions that are not computed ----------------------------------------------------------------------------------


def lacking(heard: Heard, tables: Tables, index: Index) -> Draft | None:
    """Reply to a sizing question that lacks something, or that asks for what no row has. None for other questions."""
    work, likely, said = heard.asked.workload, heard.likely, heard.said
    costs, rival = Goal.COST in said.goals, _names_rival(heard)
    if rival and costs and said.slots.keys() & HARDWARE and len(said.text.split()) <= _BRIEF:
        return without_claims(f"{REFUSAL} The data has no prices of other clouds.{_list_price(work, tables.facts)}")
    of_price = likely["fact_price"] + likely["cost"] + likely["unsaid"] > _LIKELY
    if costs and of_price and (later := _later(said.text, tables.facts)):
        return _of_later(later)
    places = {other.region for other in heard.asked.others} - {work.region}
    if max(likely["cost"], likely["energy"], likely["carbon"]) > _LIKELY and work.task in TRAINING and not places:
        how_long = "That depends on how long it runs: how many tokens does it train on, or for how many hours?"
        return without_claims(f"{how_long}{_list_price(work, tables.facts)}")
    of_model = max(likely["fits"], likely["cost"], likely["count"], likely["memory"]) > _LIKELY
    of_it = _OF_IT.search(said.plain) or (_OF_US.search(said.plain) and not said.slots.keys() & HARDWARE)
    if of_model and not heard.asked.names_model and of_it:
        return without_claims("Which model do you mean, in which precision, and on which hardware?")
    unsaid = likely["unsaid"] > _LIKELY or (likely["unsaid"] > _LIKELY / 2 and likely["unsaid"] + likely["other"] > _LIKELY)
    if unsaid and (rival or not _is_of_a_document(said.text, index)):
        return without_claims(f"{REFUSAL} {_NO_ROW}")
    return None


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
    written = re.findall(r"(?<![\w-])[^\W\d_]{4,}(?:-[^\W\d_]{4,})*(?![\w-])", question.lower())
    words = {part for word in written for part in (word, *word.split("-"))}
    return any(0 < index.document_frequency(word) <= _RARE for word in words - known_words())


# --- prices -----------------------------------------------------------------------------------------------------------


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


def unpriced(asked: Asked, facts: Facts) -> Draft | None:
    """Say that the data lacks the price asked for, and give the on-demand price; None if more than a price is asked for."""
    work, missing = asked.workload, _lacks_price(asked, facts)
    region = next((name for name in missing if name != asked.purchase), "")
    of_machine = asked.goal is Goal.COST and work.instance_type
    placed = asked.names_model and not of_machine and not (asked.goal is Goal.CHEAPEST and region)
    if not missing or placed or not set(asked.goals) <= OF_MONEY or work.tokens_per_second or work.tokens:
        return None
    remedy = f" `wattwise ingest 'aws://prices?region={region}'` brings those of the Region." if region else ""
    if "Spot" in missing:
        remedy = " `wattwise ingest 'aws://spot-prices?region=us-east-1'` brings those of the last day."
    price, number = facts.price(work.instance_type or ""), work.instances or 1
    if not price:
        return without_claims(f"{REFUSAL} {_no_price(missing)}{remedy}")
    name = f"{number} × {work.instance_type}" if number > 1 else work.instance_type
    hour = price.usd_per_hour * number
    costs = f"${rounded(hour, money=True)} an hour, ${rounded(hour * HOURS_A_MONTH, money=True)} a month"
    return without_claims(f"{REFUSAL} {_no_price(missing)} On demand in {price.region}, {name} is {costs}.{remedy}")


def _no_price(missing: Sequence[str]) -> str:
    named = (f"in {name}" if re.search("[0-9]$", name) else f"of {name}" for name in missing)
    return f"The data has no price {' or '.join(named)}.".replace("of Spot", "of Spot Instances")


def conditions(asked: Asked, working: Working) -> list[str]:
    """Return a line on what the data cannot price, to be said before what it can; or nothing."""
    if not OF_MONEY & set(asked.goals):
        return []
    work, facts = asked.workload, working.tables.facts
    missing, said = _lacks_price(asked, facts), list[str]()
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
    sold = (i for i in facts.instances.values() if facts.price(i.name))
    return bool(words) and not any(words <= set(re.findall(r"\w+", i.accelerator.lower())) for i in sold)
