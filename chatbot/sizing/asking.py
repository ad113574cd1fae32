"""What a turn asks of a workload: its own slots, completed from the turns before it, and what is to be computed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from chatbot.sizing.completion import CACHE_FORMATS
from chatbot.sizing.fit import TRAINING
from chatbot.sizing.goals import Goal
from chatbot.sizing.model_names import sibling
from chatbot.sizing.reading.machines import sizes_of
from chatbot.sizing.reading.schedule import MONTH_HOURS
from chatbot.sizing.reading.text import Known, Said
from chatbot.sizing.workload import Format, Task, Workload

HARDWARE = frozenset({"accelerator", "accelerator_memory_gb", "instance_type", "families"})
BUDGETS = frozenset({"budget", "budget_per_hour", "budget_per_month"})
_MODEL = frozenset({"model"})
_NAMES_MODEL = frozenset({"model", "parameters"})
# What must be known to compute a label: at least one slot of each set.
_NEEDS: dict[str, tuple[frozenset[str], ...]] = {
    "memory": (_MODEL,), "weights": (_MODEL,), "kv_cache": (_MODEL,), "count": (_MODEL,),
    "fits": (_MODEL, HARDWARE | {"context", "vendors"} | BUDGETS),
    "cheapest": (_MODEL | HARDWARE | {"vendors", "accelerators"},),
    "affordable": (HARDWARE | {"tokens"}, BUDGETS | {"kwh"}),
    "most_users": (_MODEL, HARDWARE), "longest_context": (_MODEL, HARDWARE), "largest_model": (HARDWARE,),
    "cost": (_MODEL | HARDWARE | {"budget_per_hour"},), "cost_per_tokens": (_MODEL | HARDWARE | {"budget_per_hour"},), "cost_difference": (_MODEL | HARDWARE,),
    "fact_price": (HARDWARE,),
    "energy": (_MODEL | HARDWARE | {"kwh"},), "water": (_MODEL | HARDWARE | {"kwh"},), "carbon": (_MODEL | HARDWARE | {"kwh", "several regions"},),
    "decode_speed": (_MODEL, HARDWARE | {"bandwidth_gbps"}), "prefill_speed": (_MODEL, HARDWARE),
    "training_time": (_MODEL, HARDWARE | {"tflops"}, frozenset({"tokens"})),
    "accelerators_for_time": (_MODEL, frozenset({"tokens"}), frozenset({"hours"})),
    "tokens_in_time": (_MODEL | {"tokens_per_second"}, HARDWARE | {"tokens_per_second"}),
}  # fmt: skip
_OVER_TIME = frozenset({"cost", "cost_difference", "energy", "carbon", "water"})
_COMPARABLE = _OVER_TIME | {"fact_price", "affordable"}
# Asked of all machines that were compared, also with another model.
_OF_OPTIONS = frozenset({"fits", "cheapest", "decode_speed", "prefill_speed", "cost_per_tokens"})
_OF_TRAINING = frozenset({"training_time", "accelerators_for_time", "tokens_in_time"})
_TRAINING = frozenset({Task.FULL, Task.PRETRAIN})
_QUANTISED = frozenset({Format.FP8, Format.INT8, Format.INT4, Format.NF4, Format.AWQ, Format.GPTQ, Format.MXFP4})
# The slots that a named slot clears, unless they are named too.
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
_EMPTY: dict[str, Any] = {f.name: f.default for f in fields(Workload)}
_GOALS = {
    "fits": Goal.FITS, "count": Goal.COUNT, "affordable": Goal.AFFORDABLE, "most_users": Goal.USERS, "longest_context": Goal.LONGEST,
    "largest_model": Goal.LARGEST, "cost": Goal.COST, "cost_per_tokens": Goal.TOKEN_COST, "cost_difference": Goal.DIFFERENCE, "fact_price": Goal.COST,
    "energy": Goal.ENERGY, "carbon": Goal.CARBON, "water": Goal.WATER, "decode_speed": Goal.THROUGHPUT, "prefill_speed": Goal.PREFILL,
    "training_time": Goal.TIME, "accelerators_for_time": Goal.DEADLINE, "tokens_in_time": Goal.TOKENS,
    "memory": Goal.MEMORY, "weights": Goal.MEMORY, "kv_cache": Goal.MEMORY,
}  # fmt: skip
_TERMS = {"weights": "weights", "kv_cache": "KV cache"}
_IMPACTS = frozenset({Goal.CARBON, Goal.ENERGY, Goal.WATER})
# Goals that may be asked beside the leading one.
_BESIDE = (Goal.CHEAPEST, Goal.SMALLEST, Goal.COST, Goal.COMPARE)
# If several slots have further values, the first of these is compared.
_COMPARED = ("model", "parameters", "accelerator", "accelerator_memory_gb", "instance_type", "accelerators", "weights", "cache", "task", "region")
# "The KV cache of a 4-bit Llama": the format of the model, not of the cache.
_BEFORE_MODEL = re.compile(r"\b(?:an?|the|my|our|this|of|for) (?:(?:fp|bf|int) ?(?:4|8|16|32)|(?:4|8|16|32)[- ]bit)\b")
_EACH_TOKEN = re.compile(r"\bper-token\b|\b(?:per|each|a|one|single|every|pro|par|por) token\b|/ ?token\b")
_PER_TOKEN = re.compile(r"\b(?:ms|millise\w+|seconds?|latency)\b.{0,20}\b(?:token|between tokens)\b|\btpot\b|\binter-?token\b")
_FOR_TOKENS = re.compile(r"\btokens? (?:per|for (?:the|a)|/) ?(?:dollar|\$|usd|buck|money)|\b(?:cost|price|dollars?|\$|usd)\w* (?:per|/|a|for a) ?(?:\w+ )?(?:m ?)?tok(?:en)?s?\b|million tokens|\bm tokens|per token|/ ?m ?tok|1m tok|mtok")
# "Which costs less?" asks for the cheaper one first, and then by how much.
_WHICH = re.compile(r"\b(?:which|welche[rs]?|qu[eé]l(?:le)?|cu[aá]l|qual[e]?)\b")
_GPU_MACHINE = re.compile(r"(?:\b(?:single|multi|one|two|four|eight|dual|quad)|\d)[- ]gpu\b|\bgpu[- ](?:instances?|box(?:es)?|machines?|servers?|types?|nodes?)\b|\bgpu-?instanz")
_MOVES = re.compile(r"\b(?:mov(?:e|ing)|replac(?:e|ing)|swap(?:ping)?|migrat(?:e|ing)|switch(?:ing)?|chang(?:e|ing)|going|go|trad(?:e|ing)|upgrad(?:e|ing)|from|pasar|wechsel\w*|passer)\b.*\b(?:to|for|by|with|into|a|auf|à)\b")
_DIFFERS = re.compile(r"\b(?:premium|avoid(?:ed)?|sav(?:e|es|ed|ing|ings)|differ\w*|gap|delta|surcharge|(?:by )?how much (?:more|less|extra|cheaper|dearer|lower|higher)|what(?: ?'?s)? (?:the )?(?:extra|difference)|extra cost|percent(?:age)?|vs|versus|against|compared)\b")
_IS_LESS = re.compile(r"\b(?:is|are|was|does|do|would|will|can)(?:n['’]?t)? (?:it|that|this|they)\b[^.?;]*\b(?:lower|less|cheaper|cleaner|greener|better|smaller|higher|more|dearer|worse)\b")
EITHER = re.compile(r"\b(?:or|vs\.?|versus|against|than|oder|ou)\b")
_TOKENS_A_DAY = re.compile(r"\btokens? ?(?:/|per|an?|each|every) ?day\b|\btokens? daily\b")
_THE_ONES = re.compile(r"\b(?:ones?|version|variant|kind)\b")
_IS_TYPE = re.compile(r"\.(?:\w*large|nano|micro|small|medium|metal)")
_OWN = re.compile(r"(?:my|our|the|unser\w*|notre|nuestro|nostro) (?:own )?(?:model\w*|llm|modèle)")
_A_MODEL = re.compile(r"\b(?:an?|the|this) (?:\w+ )?(?:model|llm)\b")
_OUR_USE = re.compile(r"\b(?:our|my|unser\w*|notre|nuestr[oa]|nostr[oa]) (?:\w+ )?(?:chat ?bot|assistant|copilot|bot|app|use case|service|workload|product|team)\b")


@dataclass(frozen=True, slots=True)
class Asked:
    """A workload and what is wanted of it.

    `stated` are the slots that the conversation names. `others` are the same workload with a slot's further values ("8
    bits or 4 bits"). `unknown` is a model or an instance type that is named but not known. `term` is the one term of
    the memory that is asked for. `euros` says that money is given in euros or in another currency than dollars.
    `purchase` is how it is paid for, if not on demand. `continues` says that the turn before was computed too.
    """

    workload: Workload
    goals: tuple[Goal, ...]
    stated: frozenset[str] = frozenset()
    others: tuple[Workload, ...] = ()
    unknown: str | None = None
    term: str | None = None
    euros: bool = False
    purchase: str = ""
    continues: bool = False

    @property
    def goal(self) -> Goal:
        """The goal that leads the answer."""
        return self.goals[0]

    @property
    def names_model(self) -> bool:
        return self.workload.names_model


@dataclass(frozen=True, slots=True)
class Heard:
    """What a turn asks for (`label`), and the workload of the conversation so far.

    `computed` says whether the question is answered by computing. `said` is what the turn itself says, `likely` the
    probability of each label. `earlier` is the workload of earlier turns on other hardware, which "what is the
    difference?" compares with. `texts` are the turns, the last first, in which later numbers replace earlier ones.
    `frame` is how the question was worded, if this turn changes nothing but slots.
    """

    label: str
    asked: Asked
    computed: bool
    said: Said
    likely: Mapping[str, float]
    earlier: Workload | None = None
    texts: tuple[str, ...] = ()
    frame: str = ""


def can_be_computed(label: str, asked: Asked, *, leans: bool = False) -> bool:
    """Whether the slots that a label needs are filled, in a question by itself or in one that `leans` on earlier turns."""
    there = {slot for slot in _EMPTY if getattr(asked.workload, slot) != _EMPTY[slot]}
    if asked.unknown:
        return label in _NEEDS  # the answer asks about the unknown name
    if asked.names_model:
        there.add("model")
    trained = asked.names_model and asked.workload.task in TRAINING
    if trained and label in _OVER_TIME and not leans and not there & {"tokens", "hours"}:
        return False  # the cost of a training depends on its length
    if asked.others and asked.workload.region != asked.others[0].region:
        there.add("several regions")
    return all(need & there for need in _NEEDS.get(label, (frozenset(),)))


def machines_of(work: Workload) -> tuple[Any, ...]:
    return (work.instance_type or work.accelerator, work.instances, work.accelerators, work.region)


def asked_for(said: Said, label: str, before: Heard | None, known: Known) -> Asked:
    """Return the question's own workload, or the previous one with the slots that the question changes."""
    work = before.asked.workload if before else Workload()
    said = _with_cache(said, label)
    slots = dict(said.slots)
    _put_machines(slots, said, label, work, known)
    _put_amounts(slots, said, label, work)
    stranger = said.unknown and not _OWN.fullmatch(said.unknown) and not _IS_TYPE.search(said.unknown)
    if stranger and not slots.keys() & _NAMES_MODEL:
        work = replace(work, model=None, parameters=None)  # "and our other model?"
    cleared = _cleared(slots, said, label, work, again=before is not None)
    first = replace(work, **{slot: _EMPTY[slot] for slot in cleared}, **slots)
    if first.names_model and first.task in TRAINING and len(first.families) == 1 and (first.instances or 1) > 1:
        (family,) = first.families
        first = replace(first, instance_type=_largest(family, known), families=frozenset())  # "2 nodes of p5"
    first, further = _compared(first, said, slots)
    several = [_option(changes, placed=first.names_model) for changes in further]
    if label in _COMPARABLE and first.instances and _MOVES.search(said.text):
        # "Eleven g4dn.xlarge to g6.xlarge".
        several = [{**changes, "instances": changes.get("instances") or first.instances} for changes in several]
    others = tuple(replace(first, **changes) for changes in several)
    if before and not others:
        others = _compared_before(first, said, slots, cleared, label, before)
    purchase = said.purchase or (before.asked.purchase if before else "")
    return Asked(
        first,
        _goals(label, said, before),
        stated=(before.asked.stated if before else frozenset()) - cleared | slots.keys(),
        others=others,
        unknown=_unknown(said, label, first, before),
        term="adapter" if label == "memory" and said.term == "adapter" else _TERMS.get(label),
        euros=said.euros,
        purchase="" if purchase == "on demand" else purchase,
        continues=bool(before and before.computed),
    )


def _with_cache(said: Said, label: str) -> Said:
    """Take a format for that of the cache, if the cache alone is asked about: "the KV cache of ... in fp8"."""
    slots = said.slots
    if label != "kv_cache" or "cache" in slots or "weights" in said.text or slots.get("weights") not in CACHE_FORMATS:
        return said
    if _BEFORE_MODEL.search(said.text):
        return said
    slots = {("cache" if slot == "weights" else slot): value for slot, value in slots.items()}
    formats = [{"cache": other["weights"]} for other in said.several.get("weights", []) if other["weights"] in CACHE_FORMATS]
    return replace(said, slots=slots, several={**said.several, "weights": [], "cache": formats})


def _put_machines(slots: dict[str, Any], said: Said, label: str, work: Workload, known: Known) -> None:
    """Complete the slots of hardware from the workload of earlier turns."""
    bare, them = slots.pop("size", None), slots.pop("of_them", None)
    if said.steps and work.instance_type and (size := _next_size(work.instance_type, said.steps, known)):
        slots.setdefault("instance_type", size)
    if label == "cheapest" and not slots.keys() & (HARDWARE | {"vendors"}) and _GPU_MACHINE.search(said.text):
        slots["vendors"] = frozenset({"NVIDIA", "AMD"})
    if work.instance_type and "accelerator" in slots and re.search(r"\ball (?:its |the )?gpus?\b", said.plain):
        for slot in ("accelerator", "accelerators", "accelerator_memory_gb"):
            slots.pop(slot, None)  # "with all 8 A100 at their maximum"
    if bare and work.instance_type and (other := f"{work.instance_type.split('.')[0]}.{bare}") in known.types:
        slots.setdefault("instance_type", other)
    if work.accelerator and "accelerator_memory_gb" in slots and "accelerator" not in slots and _THE_ONES.search(said.text):
        slots["accelerator"] = work.accelerator  # "and with the 80 GB ones"
    if them and slots.keys() & {"accelerators", "instances"} and work.names_model:
        slots.setdefault("sequences", them)  # "so 30 of them on one A10G?", after the cache of one user
    elif them:
        of_cards = work.accelerator or (work.accelerators and not work.instance_type)
        slots["accelerators" if of_cards else "instances"] = them
    if "instance_type" in slots and work.instance_type and work.instances and not work.names_model:
        slots.setdefault("instances", work.instances)  # "two p4d.24xlarge", then "same but p4de.24xlarge"
    if slots.get("instance_type"):
        slots.pop("accelerator", None)  # "16 p4d.24xlarge (128 A100)" says the same twice
    if "parameters" in slots and work.model and (model := sibling(work.model, f"{slots['parameters'] / 1e9:g}b", known.models)):
        del slots["parameters"]
        slots["model"] = model  # "and the 70B?"


def _put_amounts(slots: dict[str, Any], said: Said, label: str, work: Workload) -> None:
    """Complete the slots of time, tokens and training from the workload of earlier turns."""
    epochs, share, of_tokens = (slots.pop(slot, None) for slot in ("epochs", "hours_share", "tokens_share"))
    if share:
        slots.setdefault("hours", (work.hours or MONTH_HOURS) * share)
    if of_tokens and work.tokens:
        slots.setdefault("tokens", work.tokens * of_tokens)
    if epochs and (tokens := slots.get("tokens", work.tokens)):
        slots["tokens"] = tokens * epochs
    if label == "kv_cache" and _EACH_TOKEN.search(said.text):
        slots.setdefault("context", 1)
    task = slots.get("task", work.task)
    options = slots.keys() & {"zero_stage", "optimizer"}
    if "tokens" in slots and "tokens_per_second" not in slots and task not in TRAINING and _TOKENS_A_DAY.search(said.text):
        slots["tokens_per_second"] = slots.pop("tokens") / 86400  # tokens per day are served, not trained on
    elif slots.get("task") is Task.SERVE and label not in _OF_TRAINING and not slots.keys() & {"tokens_per_second", "mfu"} and "tokens" in slots:
        del slots["tokens"]  # "offline inference, 2B output tokens in all"
    elif label in _OF_TRAINING or "tokens" in slots or options:
        slots["task"] = task if task in TRAINING else Task.FULL if options else Task.PRETRAIN
    if slots.get("task", work.task) in TRAINING and "load" in slots and label in _OF_TRAINING:
        slots.setdefault("mfu", slots.pop("load"))  # "at 45 % utilisation"


def _cleared(slots: Mapping[str, Any], said: Said, label: str, work: Workload, *, again: bool) -> set[str]:
    """Return the slots of earlier turns that no longer hold, because others take their place."""
    cleared = {old for slot in slots for old in _REPLACED.get(slot, ()) if old not in slots}
    if label == "count" and again and not slots.keys() & {"instances", "accelerators"}:
        cleared |= {"instances", "accelerators"}  # "on one H100?", then "how many, then?"
    if "accelerator" in slots and work.accelerator and not re.search(r"\b(?:an?|one|single|the) gpu\b", said.plain):
        cleared -= {"accelerators"}  # "8 H100", then "on H200s?"
    if slots.get("task") in _TRAINING and "weights" not in slots and work.weights in _QUANTISED:
        cleared |= {"weights", "cache"}
    return cleared


def _compared(first: Workload, said: Said, slots: Mapping[str, Any]) -> tuple[Workload, Sequence[Mapping[str, Any]]]:
    """Return the first of the options that a turn compares, and what the others change in it."""
    machines = next((slot for slot in ("instance_type", "accelerator") if said.several.get(slot)), None)
    sizes = said.several.get("parameters")
    if machines and sizes:
        # "a p5 or eight g6e for 7B and 13B models": the largest model decides.
        largest = max(first.parameters or 0.0, *(other["parameters"] for other in sizes))
        return replace(first, parameters=largest), said.several[machines]
    if slot := next((slot for slot in _COMPARED if said.several.get(slot)), None):
        return first, said.several[slot]
    if not first.names_model or not EITHER.search(said.text):
        return first, ()
    if slots.keys() >= {"accelerator", "families"}:
        # "an H100 or Trainium?"
        cards = dict.fromkeys(("accelerator", "accelerators", "accelerator_memory_gb"))
        line = {**cards, "families": first.families, "vendors": first.vendors}
        return replace(first, families=frozenset(), vendors=frozenset()), [line]
    if len(first.families) > 1:
        # "g5, g6 or inf2?": compare a type of each family that holds the model.
        leads, *others = sorted(first.families, key=lambda name: (said.text.find(name), name))
        return replace(first, families=frozenset({leads})), [{"families": frozenset({name})} for name in others]
    return first, ()


def _compared_before(
    first: Workload, said: Said, slots: Mapping[str, Any], cleared: set[str], label: str, before: Heard
) -> tuple[Workload, ...]:
    """Return what a turn is compared with that names no options itself: the options, or the hardware, of earlier turns."""
    asked, changes = before.asked, {slot: value for slot, value in slots.items() if slot in _EMPTY}
    if label in _OF_OPTIONS:
        one_more = slots.keys() & {"accelerator", "instance_type"} and len(slots) == 1
        if one_more and _compares_machines(asked) and asked.workload.instance_type:
            return (asked.workload, *asked.others)  # "and what about B300?", after two machines
        if not said.slots.keys() & HARDWARE and (_compares_machines(asked) or not (cleared or said.slots.keys() & _NAMES_MODEL)):
            changes = {**{slot: _EMPTY[slot] for slot in cleared}, **changes}
            return tuple(replace(other, **changes) for other in asked.others)
    elif label in _COMPARABLE:
        if not said.slots.keys() & (HARDWARE | _NAMES_MODEL | {"region"}):
            if label == "cost_difference" and before.earlier:
                return (replace(before.earlier, hours=first.hours),)
            return tuple(replace(other, **changes) for other in asked.others)
        moved = asked.workload.instance_type and machines_of(first) != machines_of(asked.workload)
        if moved and (_DIFFERS.search(said.text) or _IS_LESS.search(said.text)):
            return (replace(asked.workload, hours=first.hours, load=first.load),)
    return ()


def _compares_machines(asked: Asked) -> bool:
    return bool(asked.others) and all(machines_of(other) != machines_of(asked.workload) for other in asked.others)


def _option(changes: Mapping[str, Any], *, placed: bool) -> dict[str, Any]:
    """The slots of a further option.

    A family among instance types means its largest type or, if a model is to be placed, any of its types that
    holds the model.
    """
    if changes.get("families") and "instance_type" in changes:
        if placed:
            return {**changes, "instance_type": None}
        return {slot: value for slot, value in changes.items() if slot != "families"}
    return dict(changes)


def _largest(family: str, known: Known) -> str | None:
    """The largest type of a family that is no bare metal; None if it has none."""
    return next((name for name in reversed(sizes_of(known).get(family, ())) if "metal" not in name), None)


def _next_size(name: str, steps: int, known: Known) -> str | None:
    """The type `steps` sizes up or down in the same family; None if there is none."""
    sizes = [size for size in sizes_of(known).get(name.partition(".")[0], ()) if "metal" not in size]
    place = sizes.index(name) + steps if name in sizes else -1
    return sizes[place] if 0 <= place < len(sizes) else None


def _goals(label: str, said: Said, before: Heard | None) -> tuple[Goal, ...]:
    """Return the goals of a turn: that of its label, as its words tell it more exactly, and those asked for beside it."""
    beside = [goal for goal in _BESIDE if goal in said.goals]
    if before and before.label == label and not beside:
        return before.asked.goals
    leads = _GOALS.get(label)
    if not leads:
        choice = Goal.CHOICE if said.slots.keys() & _NAMES_MODEL else Goal.CHEAPEST
        leads = next((goal for goal in (Goal.SMALLEST, Goal.CHEAPEST) if goal in beside), choice)
    if leads is Goal.DIFFERENCE and _WHICH.search(said.text):
        leads = Goal.COST
    if leads is Goal.THROUGHPUT and _PER_TOKEN.search(said.text):
        leads = Goal.LATENCY
    if leads in (Goal.COST, Goal.DIFFERENCE, Goal.CHEAPEST) and "tokens" not in said.slots and _FOR_TOKENS.search(said.text):
        leads = Goal.TOKEN_COST
    return tuple(dict.fromkeys((leads, *(beside if leads not in _IMPACTS else ()))))


def _unknown(said: Said, label: str, work: Workload, before: Heard | None) -> str | None:
    """Return what is named but not known, or None.

    For a model without a name or a size that is to be placed, it is the phrase for that model.
    """
    own = bool(said.unknown and _OWN.fullmatch(said.unknown))
    if work.names_model:
        return None if own else said.unknown
    if said.unknown:
        return said.unknown
    if before and before.asked.unknown and _OWN.fullmatch(before.asked.unknown):
        return before.asked.unknown
    if label in ("fits", "count", "cheapest") and not said.slots.keys() & HARDWARE and (ours := _OUR_USE.search(said.plain)):
        return f"the model of {ours.group()}"
    return "the model" if label in ("fits", "count") and _A_MODEL.search(said.plain) else None
