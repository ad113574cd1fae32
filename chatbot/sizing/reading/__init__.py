"""Read what one question says of a workload, from plain words.

The text is masked as it is read: each slot takes its words out, so that "$5 per hour" is a budget and not a price that
is asked for. How things are worded is data, in `wording.toml`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from chatbot.sizing.goals import Goal
from chatbot.sizing.reading.accelerators import take_accelerators, take_lines, take_memory
from chatbot.sizing.reading.amounts import EUROS, take_amounts, take_budget, take_shares
from chatbot.sizing.reading.machines import completed, steps_of, take_each, take_families, take_region, take_types
from chatbot.sizing.reading.models import take_model, take_sizes, take_weight
from chatbot.sizing.reading.numerals import NUMBER, number_of
from chatbot.sizing.reading.schedule import take_duration, take_future
from chatbot.sizing.reading.text import Known, Reading, Said
from chatbot.sizing.reading.tokens import (
    take_all_context,
    take_context,
    take_people,
    take_rows,
    take_sequences,
    take_tokens,
)
from chatbot.sizing.reading.training import (
    DENIED_FORMAT,
    memory_term,
    take_cache,
    take_formats,
    take_task,
    take_training,
)
from chatbot.sizing.reading.wording import goal_patterns, listed, renamed, take_goals, take_listed
from chatbot.sizing.spelled import as_read

# "Five machines, not two."
_DENIED_NUMBER = re.compile(rf",? \b(?:not|instead of|rather than|nicht|statt|pas|no) {NUMBER}(?=\W*(?:$|[,;.?!]))")
# Goals that are matched in the whole text, before slots take words out of it: "how many users".
_COUNTED_GOALS = (Goal.COUNT, Goal.USERS, Goal.LARGEST, Goal.LONGEST)
_LEFT = re.compile(rf"(?<![\w.,$-])(?!(?:one|single)\b)(?:{NUMBER})k?(?:\s?%)?(?![\w-])")
# In a text of more than _STORY words, a purchase option counts only if the last sentence names it.
_STORY, _SENTENCE = 30, re.compile(r"(?<=[.?!])\s+")
# What is read, in this order, with a plain word for it. Words that others would misread are read first.
_TAKEN: tuple[tuple[Callable[[Reading], object], str], ...] = (
    (take_region, "region"),
    (take_types, "instance"),
    (take_each, "users"),
    (take_future, "future"),
    (take_model, "model"),
    (lambda reading: take_listed(reading, "rivals"), "rival"),
    (take_all_context, "context"),
    (take_rows, "tokens"),
    (take_shares, "share"),
    (take_amounts, "amount"),
    (take_cache, "format"),
    (take_budget, "budget"),
    (take_tokens, "tokens"),
    (take_context, "context"),
    (take_sequences, "users"),
    (take_training, "training method"),
    (take_sizes, "model"),
    (take_formats, "format"),
    (take_weight, "model"),
    (take_accelerators, "gpu"),
    (take_lines, "family"),
    (take_families, "family"),
    (take_memory, "gpus"),
    (take_duration, "duration"),
    (lambda reading: reading.add("region", take_listed(reading, "regions")), "region"),
    (take_people, "users"),
)
# The slots in which one number may replace another.
_COUNTS = frozenset(
    {
        "tokens_per_second", "hours", "instances", "accelerators", "sequences", "context", "load", "mfu", "tokens", "kwh",
        "budget", "budget_per_hour", "budget_per_month", "lora_rank", "of_them", "accelerator_memory_gb",
    }
)  # fmt: skip


@lru_cache(maxsize=256)
def read_question(question: str, known: Known) -> Said:
    """Return what a question says of a workload, and what it asks for."""
    text = completed(renamed(DENIED_FORMAT.sub("", _DENIED_NUMBER.sub("", as_read(question)))), known)
    reading = Reading(text, known, text)
    for take, stand_in in _TAKEN:
        take(reading)
        reading.stand_in(stand_in)
    take_task(reading)
    plain = reading.plain()
    goals = _goals(reading)
    left = _LEFT.findall(reading.text)
    unnamed = reading.named.unknown if reading.named and not reading.slots.keys() & {"parameters", "model"} else None
    return Said(
        text,
        reading.slots,
        reading.several,
        goals,
        unnamed or reading.unknown,
        term=memory_term(text),
        euros=bool(EUROS.search(text)),
        plain=plain,
        number=left[0] if len(left) == 1 else "",
        left=tuple(left),
        purchase=_purchase(text),
        steps=steps_of(text),
    )


def _goals(reading: Reading) -> tuple[Goal, ...]:
    """Take the goals that a question names; a speed without a goal asks for itself, or for the cost of tokens."""
    wanted = take_goals(reading) | {goal for goal in _COUNTED_GOALS if goal_patterns()[goal].search(reading.question)}
    if "tokens_per_second" in reading.slots and not wanted & {Goal.COST, Goal.ENERGY}:
        wanted |= {Goal.COST if "million" in reading.question else Goal.THROUGHPUT}
    return tuple(goal for goal in Goal if goal in wanted)


def _purchase(text: str) -> str:
    """Return the purchase option that is asked for, or ""."""
    asking = text if len(text.split()) <= _STORY else _SENTENCE.split(text)[-1]
    return next((name for name, written in listed("purchases") if written.search(asking)), "")


def in_place_of(written: str, text: str, unit: str, known: Known) -> Sequence[tuple[float, Mapping[str, Any], str]]:
    """Find the numbers in a text that `written` could replace.

    Return for each the ratio of the new to the old number, the slots that change, and the changed text. The number must
    be followed by `unit`. A percentage only replaces a percentage.
    """
    slots, found = read_question(text, known).slots, []
    for match in re.finditer(rf"(?<![\w.,-])(?:{NUMBER})k?(?:\s?%)?(?![\d.])", text):
        if match.group().endswith("%") != written.endswith("%") or not re.match(rf"\W{{0,2}}{re.escape(unit)}(?!\w)", text[match.end() :]):
            continue
        changed = f"{text[: match.start()]}{written}{text[match.end() :]}"
        new = {slot: value for slot, value in read_question(changed, known).slots.items() if slots.get(slot) != value}
        if new and new.keys() <= _COUNTS:
            found.append((number_of(written) / number_of(match.group()), new, changed))
    return found
