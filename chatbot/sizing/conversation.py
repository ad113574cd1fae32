"""What the turns of a conversation ask of a sizing together, and which questions are of that kind."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from chatbot.answer import Turn
from chatbot.sizing.model_names import sibling
from chatbot.sizing.reading import UNNAMED, Goal, Known, Said, chooses, of_documents, placed, read_question
from chatbot.sizing.workload import Format, Task, Workload

# Nobody writes a sizing question as long as this.
_LONGEST = 2_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A workload and what is wanted of it.

    `stated` are the slots that the conversation names, `others` the same workload with a slot's further values ("8 bits or
    4 bits"), `unknown` a model or an instance type that is named and not known. `term` is the one term of the memory that is
    asked for, `euros` says that money is given in them.
    """

    workload: Workload
    goals: tuple[Goal, ...]
    stated: frozenset[str] = frozenset()
    others: tuple[Workload, ...] = ()
    unknown: str | None = None
    term: str | None = None
    euros: bool = False

    @property
    def goal(self) -> Goal:
        """What leads the answer."""
        return self.goals[0]

    @property
    def names_model(self) -> bool:
        """Whether a model is named, or a size of one; without, hardware, places or energy are asked about."""
        return self.workload.model is not None or self.workload.parameters is not None


def read_workload(question: str, history: Sequence[Turn], known: Known) -> Asked | None:
    """What a question asks of a sizing, completed from the turns before it; None for a question of another kind."""
    asked: Asked | None = None
    questions = [turn.question for turn in history if not _is_courtesy(turn.question)]
    for number, earlier in enumerate(questions):
        asked = _next(earlier, asked, known, leads=number == 0, past=True)
    return _next(question, asked, known, leads=not questions)


def _next(question: str, before: Asked | None, known: Known, *, leads: bool, past: bool = False) -> Asked | None:
    """What is asked after a turn: the question's own workload, or the one before with the slots that it changes."""
    if len(question) > _LONGEST:
        return None
    said = read_question(question, known)
    if before is not None and _leans(said, before):
        return _changed(before, said, known)
    # "And Trainium for BERT?" after a question of another kind is of that kind too.
    alone = leads or not _LEAD.match(said.text) or Goal.FITS in said.goals
    return _asked(Workload(), said, said.goals) if alone and (_is_sizing(said) or _is_of_hardware(said) or (past and _names_hardware(said))) else None


# --- follow-ups ---------------------------------------------------------------------------------------------------------

_COURTESY = re.compile(r"\W*(?:(?:thanks?|thank you|thx|ok(?:ay)?|great|cool|nice|danke|so much|a lot|very much|perfect|good|got it|i see|hello|hi)\b\W*)*", re.IGNORECASE)  # fmt: skip
_LEAD = re.compile(
    r"\W*(?:and|but|so|then|also|now|ok(?:ay)?|what about|how about|what if|same|instead|und|what would change|make (?:it|that)|sorry|sry|oops|hm+|oh|no|wait|actually|i (?:actually )?(?:have|mean|meant)|rather|y|et|und in)\b"
)
_DEFINES = re.compile(r"\W*(?:what|who)(?:['’]s|s| is| are)\b(?! about| if)")
_LOOKS_UP = re.compile(r"\b(?:does|do) \S+ (?:have|come with)\b|\b(?:has|have)\W*$")
_TRAINING = frozenset({Task.FULL, Task.PRETRAIN})
_QUANTISED = frozenset({Format.FP8, Format.INT8, Format.INT4, Format.NF4, Format.AWQ, Format.GPTQ, Format.MXFP4})
# What a slot that is named puts out of the way, unless it is named too.
_REPLACED: dict[str, tuple[str, ...]] = {
    "model": ("parameters",),
    "parameters": ("model",),
    "accelerator": ("accelerators", "accelerator_memory_gb", "instance_type", "instances", "families", "vendors"),
    "accelerator_memory_gb": ("accelerator", "accelerators", "instance_type", "instances", "families", "vendors"),
    "instance_type": ("accelerator", "accelerators", "accelerator_memory_gb", "instances", "families", "vendors"),
    "families": ("accelerator", "accelerators", "accelerator_memory_gb", "instance_type", "instances", "vendors"),
    "vendors": ("accelerator", "accelerators", "accelerator_memory_gb", "instance_type", "instances", "families"),
    "budget_per_hour": ("budget_per_month",),
    "budget_per_month": ("budget_per_hour",),
}


def _is_courtesy(question: str) -> bool:
    return bool(_COURTESY.fullmatch(question))


def _leans(said: Said, before: Asked) -> bool:
    """Whether a question is made of nothing but changes of what was asked before."""
    if not (said.slots or said.goals) or said.unknown or len(said.text.split()) > 20:
        return False
    if (_DEFINES.match(said.text) and not said.goals) or _LOOKS_UP.search(said.text):
        return False
    names_model = bool({"model", "parameters"} & said.slots.keys())
    leads = bool(_LEAD.match(said.text))
    if names_model and _is_sizing(said) and not leads:
        return False
    return len(said.rest) <= (1 if leads and said.slots else 0)


def _changed(before: Asked, said: Said, known: Known) -> Asked:
    slots, work = dict(said.slots), before.workload
    if (bare := slots.pop("size", None)) and work.instance_type and (other := f"{work.instance_type.split('.')[0]}.{bare}") in known.types:
        slots.setdefault("instance_type", other)
    if "instance_type" in slots and work.instance_type and work.instances and not before.names_model:
        slots.setdefault("instances", work.instances)  # "two p4d.24xlarge", then "same but p4de.24xlarge"
    if "of_them" in slots:
        slots["accelerators" if before.workload.accelerator else "instances"] = slots.pop("of_them")
    if (
        "parameters" in slots
        and before.workload.model
        and (model := sibling(before.workload.model, _size_of(slots["parameters"]), known.models))
    ):
        slots = {("model" if k == "parameters" else k): (model if k == "parameters" else v) for k, v in slots.items()}
    cleared = {old for slot in slots for old in _REPLACED.get(slot, ()) if old not in slots}
    if slots.get("task") in _TRAINING and "weights" not in slots and before.workload.weights in _QUANTISED:
        cleared |= {"weights", "cache"}
    kept = replace(before.workload, **{slot: _EMPTY[slot] for slot in cleared})
    term = said.term or (None if said.goals else before.term)
    asked = _asked(kept, replace(said, slots=slots, term=term), said.goals or before.goals)
    return replace(asked, stated=(before.stated - cleared) | asked.stated)


def _size_of(parameters: float) -> str:
    return f"{parameters / 1e9:g}b"


_EMPTY: dict[str, Any] = {f.name: f.default for f in fields(Workload)}


def _asked(workload: Workload, said: Said, goals: tuple[Goal, ...]) -> Asked:
    slots = {slot: value for slot, value in said.slots.items() if slot not in ("of_them", "size")}
    if slots.get("tokens") and slots.get("task", workload.task) in (None, Task.SERVE):
        slots["task"] = Task.PRETRAIN
    if slots.keys() & {"zero_stage", "optimizer"} and slots.get("task", workload.task) in (None, Task.SERVE):
        slots["task"] = Task.FULL
    if slots.get("instance_type"):
        # "16 p4d.24xlarge (128 A100)" says the same twice.
        slots.pop("accelerator", None)
    first = replace(workload, **slots)
    slot = next((slot for slot in _COMPARED if said.several.get(slot)), None)
    others = tuple(replace(first, **changes) for changes in said.several[slot]) if slot else ()
    if not goals:
        goals = (_implied(first, said),)
    elif Goal.TIME in goals and not first.tokens and len(goals) > 1:
        goals = tuple(goal for goal in goals if goal is not Goal.TIME)
    return Asked(first, goals, frozenset(slots), others, said.unknown, said.term, said.euros)


def _implied(workload: Workload, said: Said) -> Goal:
    """What is wanted where no word says it: "8B, 15T tokens, 1,024 H100", "p5en.48xlarge for 500 hours"."""
    if workload.tokens:
        return Goal.TIME
    if not (workload.model or workload.parameters is not None):
        return Goal.CARBON if workload.kwh else Goal.COST
    return Goal.FITS if said.slots.keys() & _EXACT else Goal.CHOICE


# Of several slots with further values, the first of these is what is compared.
_COMPARED = ("model", "parameters", "accelerator", "instance_type", "accelerators", "weights", "task", "region")


# --- which questions are sizing -----------------------------------------------------------------------------------------

_EXACT = frozenset({"accelerator", "accelerator_memory_gb", "instance_type"})
_HARDWARE = _EXACT | {"accelerators", "families", "vendors"}
# What only arithmetic answers; of a size alone ("which hardware for a 70B model?") documents speak.
_ARITHMETIC = frozenset({
    "model", "weights", "cache", "context", "sequences", "budget_per_hour", "budget_per_month", "region", "optimizer",
    "zero_stage", "lora_rank", "tokens", "hours", "accelerator_memory_gb", "instance_type", "mfu", "tokens_per_second",
})  # fmt: skip
_POSSIBLE = re.compile(r"\W*(?:can|could|will|would|does|do|kann|läuft|passt|possible)\b")
_KIND_OF_MODEL = re.compile(r"\b\d+b\+?(?:[ -]parameters?)?(?: \w+)? models\b|\b\d+b ?(?:\+|-|–|to) ?(?:\d+b)?")
_MACHINE = re.compile(r"\b(?:instan[cz]\w*|box|machine|node|server|ec2|vm|type)\b.* (?:with|has|having|carrying|holding|containing|mit|con|avec)\b")
_INSTANCE = re.compile(r"\b(?:ec2|instan[cz])")
# What was measured stands in documents; a bound is computed.
_MEASURED = re.compile(r"\b(?:reach(?:es|ed)?|achiev\w+|measured?|deliver\w*|observed?|published)\b")
_IMPACTS = frozenset({Goal.CARBON, Goal.ENERGY, Goal.WATER})
_PER_TIME = re.compile(r"\b(?:per|an?|each|every|in a)[ -](?:day|week|month|year)\b|\b(?:hourly|daily|weekly|monthly|yearly|annual\w*)\b|/(?:day|week|mo|month|year)\b|\b(?:pro|im|par|por|al) (?:tag|woche|monat|jahr|jour|semaine|mois|an|d[ií]a|semana|mes|año)\b")
# Of these the documents speak: disks, networks, quotas, ways to buy.
_OTHER_MATTER = re.compile(r"\b(?:ebs|gp\d|io\d|[mg]ib|iops|network|bandwidth|storage|disk|quota|reserved|savings|commitment|capacity block|interrupt\w*|snapshot|credits?)\b")
_AN_HOUR = re.compile(r"\b(?:per|an?|each|every|pro|par|por)[ -](?:hour|day|month|year)\b|\b(?:hourly|monthly|rent)\b")
_EACH = re.compile(r"\b(?:per|each|one) (?:single )?(?:gpu|card|chip|accelerator)\b|\bper \w+ when\b")


def _is_of_hardware(said: Said) -> bool:
    """Whether a question without a model asks what machines cost, draw or emit, or what a place's grid does to energy."""
    slots, goals = said.slots.keys(), set(said.goals)
    timed = "instance_type" in slots and "hours" in slots and bool(goals & {Goal.COST, *_IMPACTS})
    if {"model", "parameters"} & slots or said.unknown or _DEFINITION.search(said.text) or (of_documents().search(said.text) and not timed):
        return False
    if "kwh" in slots and not slots & _HARDWARE:
        return "region" in slots and len(said.rest) <= 3
    if Goal.LARGEST in goals:
        return bool(slots & _EXACT) and len(said.rest) <= 2
    if len(said.rest) > (6 if "instance_type" in slots else 2) or (_OTHER_MATTER.search(said.text) and not slots & {"budget"}):
        return False
    if not slots & _HARDWARE:
        return Goal.CARBON in goals and "region" in slots and bool(said.several.get("region"))
    if "instance_type" in slots:
        money = slots & {"budget", "budget_per_hour", "budget_per_month"}
        counted = money or slots & {"hours", "instances"} or said.several.get("instance_type")
        asks_cost = bool(goals & {Goal.COST, Goal.CHEAPEST} or "hours" in slots or money)
        return bool(goals & _IMPACTS) or (asks_cost and bool(counted or _PER_TIME.search(said.text) or _EACH.search(said.text)))
    if "accelerator" in slots:
        chosen = bool(Goal.SMALLEST in goals and not goals & {Goal.CHEAPEST, Goal.MEMORY}) and bool(_MACHINE.search(said.text)) and len(said.rest) <= 1
        priced = bool(goals & {Goal.COST, Goal.CHEAPEST}) and not said.rest and bool(_AN_HOUR.search(said.text))
        return chosen or priced or (Goal.ENERGY in goals and not goals & {Goal.CARBON, Goal.WATER})
    if "families" in slots and goals & {Goal.COST, *_IMPACTS} and slots & {"hours", "instances"}:
        return True
    return "families" in slots and bool(slots & {"budget", "budget_per_hour", "budget_per_month"})


def _names_hardware(said: Said) -> bool:
    """Whether an earlier question, answered from a row perhaps, asks for the cost or the power of hardware that a later one leans on."""
    slots, goals = said.slots.keys(), set(said.goals)
    if not slots & {"instance_type", "accelerator"} or {"model", "parameters"} & slots or said.unknown or of_documents().search(said.text):
        return False
    asks = bool(goals & {Goal.COST, *_IMPACTS}) or "hours" in slots or bool(_AN_HOUR.search(said.text))
    return asks and not goals & {Goal.MEMORY, Goal.THROUGHPUT} and len(said.rest) <= 2


_DEFINITION = re.compile(r"\b(?:why|explain|how (?:do|does|can|could|should|is|are)|what (?:is|does) (?:the )?(?:pue|sci)|reduce|lower the|mean|formula|host power|embodied|per watt|efficien\w+|difference between|calculated?)\b")


def _is_sizing(said: Said) -> bool:
    """Whether a question that stands by itself is to be answered by computing."""
    slots, goals = said.slots.keys(), set(said.goals)
    arithmetic, exact = bool(slots & _ARITHMETIC), bool(slots & _EXACT)
    if of_documents().search(said.text) or (Goal.TIME in goals and "tokens" not in slots):
        return False
    if said.slots.get("parameters", 1) <= 0:
        return True
    if not {"model", "parameters"} & slots:
        if UNNAMED.fullmatch(said.unknown or ""):
            return (exact and bool(_POSSIBLE.match(said.text))) or Goal.FITS in goals
        sized = bool(goals & {Goal.FITS, Goal.SMALLEST, Goal.CHEAPEST, Goal.COUNT}) and (exact or "task" in slots)
        return bool(said.unknown) and (sized or Goal.MEMORY in goals)
    if ("tokens" in slots and slots & _HARDWARE) or {"model", "zero_stage", "accelerators"} <= slots:
        return True
    # QLoRA of one size is a matter of memory alone.
    if said.slots.get("task") is Task.QLORA and chooses().search(said.text) and placed().search(said.text) and not said.rest:
        return True
    if Goal.THROUGHPUT in goals:
        return exact and ("tokens_per_second" in slots or not _MEASURED.search(said.text))
    if goals & {Goal.USERS, Goal.LONGEST}:
        return bool(slots & _HARDWARE)
    if said.term and Goal.MEMORY in goals:
        return True
    # "Nemotron-H-56B with 32k context?" asks whether it can.
    if {"model", "context"} <= slots and not said.rest:
        return True
    # Of a kind of model ("70B models", "7B to 30B") documents speak; of one, arithmetic.
    if not arithmetic and ("parameters" in said.several or _KIND_OF_MODEL.search(said.text)):
        return False
    if goals & {Goal.SMALLEST, Goal.CHEAPEST} and (exact or arithmetic or "families" in slots or _INSTANCE.search(said.text)):
        return True
    if Goal.FITS in goals and (slots & _HARDWARE or arithmetic):
        return True
    # How many accelerators a training takes, and what it costs, is a matter of its length before one of memory.
    serves, trains = said.slots.get("task") is Task.SERVE, said.slots.get("task") not in (None, Task.SERVE)
    if Goal.MEMORY in goals or (Goal.COUNT in goals and (arithmetic or serves or not (trains or said.several))):
        return True
    if goals & {Goal.COST, Goal.ENERGY, Goal.CARBON, Goal.TIME, Goal.THROUGHPUT}:
        known = exact or bool(slots & (_ARITHMETIC - {"model"})) or (serves and "model" in slots)
        return bool(slots & {"tokens", "hours"}) if trains else known
    if exact and (_POSSIBLE.match(said.text) or (arithmetic and not said.rest)):
        return True
    if len(slots & _ARITHMETIC) > 2 and "task" in slots:
        return True
    there = bool(slots & _HARDWARE) or bool(placed().search(said.text))
    return arithmetic and there and (bool(chooses().search(said.text)) or not said.rest)
