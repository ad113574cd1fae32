"""What the turns of a conversation together ask of a sizing, and which questions are sizing questions."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

from chatbot.answer import Turn
from chatbot.question.parts import pieces
from chatbot.sizing.completion import CACHE_FORMATS
from chatbot.sizing.fit import TRAINING
from chatbot.sizing.goals import Goal
from chatbot.sizing.intent import COMPUTED, FACTS, LABELS, probabilities
from chatbot.sizing.model_names import sibling
from chatbot.sizing.reading import in_place_of, read_question
from chatbot.sizing.reading.machines import MOST_MACHINES, sizes_of
from chatbot.sizing.reading.numerals import number_of
from chatbot.sizing.reading.schedule import MONTH_HOURS
from chatbot.sizing.reading.text import Known, Said
from chatbot.sizing.workload import Format, Task, Workload
from ingest import known_words

# Longer texts are never sizing questions.
_LONGEST = 2_000
# Thresholds on the probability that a question asks for something computed: alone, and after a question that was
# computed. At these thresholds, in the cross-validation of benchmarks/learn_sizing_intent.py, one in a hundred of the documents'
# questions is claimed.
_CLAIMED, _CONTINUED = 0.6, 0.5
# A new number may replace a number of this many recent turns.
_REMEMBERED = 6
_COUNT = frozenset({"of_them", "instances", "accelerators"})
_ONE_NUMBER = re.compile(r"[^\d]*?(?<![\w.,-])(?P<number>\d[\d.,]*k?)(?P<unit> ?[a-z%][^\d?!.;,]*)[?!. ]*")


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


def hear(question: str, history: Sequence[Turn], known: Known) -> Heard | None:
    """Return what a question asks for, completed from the turns before it; None for a mere courtesy."""
    if _COURTESY.fullmatch(question):
        return None
    turns = (*(turn.question for turn in history if not _COURTESY.fullmatch(turn.question)), question)
    for end in range(1, len(turns)):
        _hear_turns(turns[:end], known)  # so that a long conversation needs no deep recursion
    return _hear_turns(turns, known)


# A question is read several times, and its turns are read again with each later one.
@lru_cache(maxsize=1024)
def _hear_turns(turns: tuple[str, ...], known: Known) -> Heard:
    before = _hear_turns(turns[:-1], known) if len(turns) > 1 else None
    return _hear(turns[-1], before, known)


# Marks a text that asks something: a question mark or a question word.
_ASKS = re.compile(r"\?|\b(?:how|what|which|does (?:it|this|that)|is it|will|can|size|wie|was|reicht|combien|cu[aá]nto|quanto)\b", re.IGNORECASE)
# Asks what is left over, which is reported along with the answer for the workload.
LEFT_OVER = re.compile(r"\b(?:left(?! on| running)|remain\w*|headroom|to spare|übrig)\b", re.IGNORECASE)


def ask_parts(question: str, heard: Heard, known: Known) -> tuple[tuple[str, Asked], ...]:
    """Split a question that asks for several things, each part completed from the whole; empty if it asks for one."""
    texts = pieces(question)
    if len(texts) < 2 or not heard.computed or any(_machines(other)[0] != _machines(heard.asked.workload)[0] for other in heard.asked.others):
        return ()  # for several machines, everything asked is answered side by side
    parts: dict[tuple[object, ...], tuple[str, Asked]] = {}
    last = heard
    for text in texts:
        # From part to part, only the label carries over; what is said of the workload holds for all parts.
        part = _hear(text, replace(heard, label=last.label), known)
        last = part if part.computed else last
        if not _ASKS.search(text) or LEFT_OVER.search(text):
            continue
        if not part.computed or part.asked.unknown:
            return ()
        told = any(part.asked.workload == other.workload and part.asked.goal in other.goals and part.asked.term == other.term for _, other in parts.values())
        if not told:
            parts[part.asked.goal, part.asked.term, part.asked.workload] = (text, part.asked)
    kinds = {(part.goal, part.term, part.workload.weights, part.workload.cache) for _, part in parts.values()}
    return tuple(parts.values()) if len(kinds) > 1 else ()  # the same goal for two machines or places is a comparison


_COURTESY = re.compile(r"\W*(?:(?:thanks?|thank you|thx|ok(?:ay)?|great|cool|nice|danke|so much|a lot|very much|perfect|good|got it|i see|hello|hi|h+m+|ouch|wow|oh|ah|uff|haha|lol|alright|right|interesting|sure|merci|gracias|grazie)\b\W*)*", re.IGNORECASE)  # fmt: skip
_LEAD = re.compile(
    r"\W*(?:(?:ok(?:ay)?|haha|lol|hm+|oh|no|well|thanks)\b\W*)*(?:and|but|so|then|also|now|what about|how about|what if|same|instead|und|what would change|swap|switch|move|change|replace|make (?:it|that)|sorry|sry|oops|wait|actually|i (?:actually )?(?:have|mean|meant)|rather|y|et|und in)\b"
)


def _hear(question: str, before: Heard | None, known: Known) -> Heard:
    """Interpret a turn, given what was said before it."""
    said, text = _to_be_replaced(read_question(question[:_LONGEST], known)), ""
    if before:
        said, text = _put_in_place(said, before, known)
        said = replace(said, unknown=said.unknown or _stranger(question, said, before))
    heard = _heard(question, said, before, known)
    if not before:
        return replace(heard, texts=(said.text,))
    moved = _machines(heard.asked.workload) != _machines(before.asked.workload) and any(_machines(before.asked.workload))
    frame = (before.frame or before.said.plain.replace("co0", "co2")) if heard.label == before.label and _only_changes(said, before.label) else ""
    return replace(heard, earlier=before.asked.workload if moved else before.earlier, texts=(text or said.text, *before.texts)[:_REMEMBERED], frame=frame)


# Hardware that a model runs on today, and is to leave: "it sits on a g5.12xlarge, what should we be on?".
_TODAY = re.compile(r"\b(?:currently|today|now|at the moment|so far)\b[^.;?]{0,40}\b(?:instance|gpu)\b|\b(?:sits?|runs?|running|are|is|we['’]re|it['’]s) on (?:an? |one |our )?(?:instance|gpu)\b|\b(?:instance|gpu) (?:today|now|right now|at the moment|currently)\b|\binstead\b")


def _to_be_replaced(said: Said) -> Said:
    """If a question asks what to run a model on instead of the hardware of today, leave that out, but keep to GPUs if it has some."""
    today = str(said.slots.get("instance_type") or said.slots.get("accelerator") or "")
    if not (today and said.slots.keys() & {"model", "parameters"}) or any(said.several.values()) or not (_WHAT_TO_TAKE.search(said.text) and _TODAY.search(said.plain)):
        return said
    slots = {slot: value for slot, value in said.slots.items() if slot not in HARDWARE | _COUNT}
    return replace(said, slots=slots if today.lower().startswith(("inf", "tr")) else {**slots, "vendors": frozenset({"AMD", "NVIDIA"})})


def _put_in_place(said: Said, before: Heard, known: Known) -> tuple[Said, str]:
    """Let a number on its own replace a number in an earlier turn; also return that turn, changed.

    A number without a unit replaces the nearest one; a number with a unit replaces the nearest one of that unit. If
    nothing is replaced, the returned turn is "".
    """
    match = _ONE_NUMBER.fullmatch(said.text)
    if not (said.number or match) or said.goals or len(said.plain.split()) > 8:
        return said, ""
    written, unit = (said.number, "") if said.number else (match["number"], match["unit"].strip())  # type: ignore[index]
    found = [place for text in before.texts for place in in_place_of(written, text, unit, known)]
    work, number = before.asked.workload, number_of(written)
    if not unit and _machines(work)[0] and number == int(number) <= MOST_MACHINES and not written.endswith("%"):
        found.append((number / (work.instances or work.accelerators or 1), {"of_them": int(number)}, ""))
    near = [place for place in found if place[0] > 0]
    if not near:
        return said, ""
    # Counts are what is changed most often, so they may be twice as far away.
    _, changed, text = min(near, key=lambda place: abs(math.log(place[0])) - (math.log(2) if place[1].keys() <= _COUNT else 0.0))
    return replace(said, slots={**said.slots, **changed}), text


# A name alone after a connecting word: "And Grok 4?".
_NAME_ALONE = re.compile(r"\W*(?:(?:ok(?:ay)?,?|so|and|what about|how about|for|with|or|the|on|of|in|y|et|und|e)\s+)*(?P<name>[a-z][\w-]*(?:[ -](?:[a-z][\w-]*|v?\d[\w.]*)){0,3})(?:['’]s)?\W*", re.IGNORECASE)


def _stranger(question: str, said: Said, before: Heard) -> str | None:
    """Return a model that a turn names and no table has, or None.

    The turn follows a question about a model and consists of a name that fills no slot.
    """
    match = _NAME_ALONE.fullmatch(question)
    if not match or said.goals or not said.slots.keys() <= _COUNT or not before.asked.names_model:
        return None
    words = [word.lower() for word in match["name"].split() if word[0].isalpha() and word.lower() != said.number]
    strange = any(word not in known_words() and not _FUNCTION_WORD.fullmatch(word) for word in words)
    return match["name"] if strange and (match.start("name") > 2 or re.search(r"\d", match["name"]) or "?" in question) else None


def _heard(question: str, said: Said, before: Heard | None, known: Known) -> Heard:
    """Decide what is asked: from the question alone if it is complete, otherwise from what it changes."""
    alone = probabilities(said, None)
    claimed = _claimed(said)
    label, likely = _unmistaken(said, *_likeliest(alone, claimed))
    asked = asked_for(said, label, None, known)
    work = asked.workload
    endless = work.budget and not (work.hours or work.tokens)
    if label == "affordable" and asked.names_model and (endless or not can_be_computed(label, asked)):
        label, asked = "cheapest", asked_for(said, "cheapest", None, known)  # a budget for a model asks for hardware that holds the model
    computed = likely >= claimed and can_be_computed(label, asked) and len(question) <= _LONGEST and not _CITES.search(question)
    if before and not before.computed and said.slots and not said.goals and len(re.findall(r"[a-z]+", _STAND_INS.sub("", said.plain))) <= 1 and "?" not in question:
        return Heard(label, asked_for(said, label, before, known), computed, said, likely=alone)  # "4 x p5en.48xlarge, MFU 30%": the question about it follows
    if before and not before.computed and before.label not in COMPUTED and _is_bare(said):
        # "How many vCPUs has it? And the small one?" asks the same about another thing.
        return Heard(before.label, asked_for(said, before.label, before, known), computed=False, said=said, likely=probabilities(said, before.label))
    if before and before.label in FACTS and not before.computed and ((said.unknown and _NAME_ALONE.fullmatch(question)) or (not said.slots and HOLDS_TOGETHER.search(said.text))):
        return Heard(before.label, before.asked, computed=False, said=said, likely=dict.fromkeys(LABELS, 0.0) | {before.label: 1.0})
    whole = bool(said.slots.keys() & HARDWARE) and not (computed or said.goals) and bool(_COMPLETE.match(said.text))
    if before and not whole and (not computed or _leans(said, before)):
        claimed = _CONTINUED if before.computed else _CLAIMED
        after = probabilities(said, before.label)
        same = "cost" if before.label == "fact_price" and "hours" in said.slots else before.label  # a price followed by a duration asks for a cost
        leaning, likely = (same, 1.0) if before.computed and _only_changes(said, before.label) else _unmistaken(said, *_likeliest(after, claimed))
        if before.asked.workload.budget_per_month and said.slots.keys() & HARDWARE and re.search(r"\bafford", said.text):
            leaning, likely = "affordable", 1.0
        changed = asked_for(said, leaning, before, known)
        if likely >= claimed and can_be_computed(leaning, changed, leans=True):
            return Heard(leaning, changed, computed=True, said=said, likely=after)
        if leaning in FACTS and (not said.slots or label in FACTS or not computed):
            return Heard(leaning, changed, computed=False, said=said, likely=after)  # "and its layers?", between questions about its memory
        if not computed:
            # "Why not p4d?" keeps the model for "and how many of them?".
            return Heard(label, changed if before.asked.names_model and not asked.names_model else asked, computed, said, likely=after)
    return Heard(label, asked, computed, said, likely=alone)


# A question of its own: "does the g6 have FP8?", "how many chips are in a trn1.32xlarge?".
_COMPLETE = re.compile(r"\W*(?:how many|does|do|has|have)\b(?!.*\b(?:it|that|this|they|them|those|these|we|i)\b)")
# Asks what a document says, even of what could be computed.
_CITES = re.compile(r"\baccording to (?:an?|the|our|your|this|that|these) (?:\w+ ){0,2}?(?:notes?|guides?|articles?|docs?|documents?|documentation|papers?|posts?|pages?|texts?|sources?|pattern)\b", re.IGNORECASE)


def _claimed(said: Said) -> float:
    """The probability threshold for claiming a question as computed.

    It is lower if a model stands beside machines to choose from, or beside one that it is to fit.
    """
    if not said.slots.keys() & {"model", "parameters"}:
        return _CLAIMED
    hardware, what = said.slots.keys() & HARDWARE, _WHAT_TO_TAKE.search(said.text)
    trains = said.slots.get("task") in TRAINING
    if "tokens" in said.slots and ((trains and what) or (hardware and {Goal.COST, Goal.CHEAPEST} & set(said.goals))):
        return _RECKONED
    if trains:
        return _CLAIMED
    if what and said.slots.keys() >= {"weights", "sequences"} and not hardware:
        return _RECKONED
    several = bool(said.several.get("instance_type")) or len(said.slots.get("families", ())) > 1
    options = several and not _ON_CPU.search(said.text) and bool(what or _EITHER.search(said.text))
    return _OPTIONS if options else _PLACED if Goal.FITS in said.goals and hardware else _CLAIMED


_OPTIONS, _PLACED, _RECKONED = 0.1, 0.4, 0.05
_ON_CPU = re.compile(r"\b(?:graviton\d?|cpus?)\b")
_WHAT_TO_TAKE = re.compile(
    r"\b(?:what|which|where)\b[^.?]*\b(?:would|should|do|ought|shall) (?:you|we|i|it|this) (?:to |really |actually |rather |be )*(?:run|take|us(?:e|ing)|pick|choose|serve|host|get|rent|go|move|switch|deploy|on|running)\b"
    r"|\b(?:what|which) (?:gpu |kind of |type of )?(?:instances?(?: types?)?|machines?|gpus?|cards?|box|server)(?=\W*$)"
)
_STAND_INS = re.compile(r"\b(?:region|instance|future|model|share|amount|format|budget|tokens|context|users|training method|gpus?|accelerators?|family|duration)\b")


def _machines(work: Workload) -> tuple[Any, ...]:
    return (work.instance_type or work.accelerator, work.instances, work.accelerators, work.region)


# References to the turn before.
_REFERS = re.compile(
    r"\bsame (?:schedule|hours?|count|number|usage|time|period|setup|load|pattern|deal|thing|job|run|workload|calculation|amount)\b|\b(?:of|for|with|on) (?:them|those|these)\b|\binstead\b|\b(?:that|those) (?:schedule|many|machines?|boxes)\b"
    r"|\b(?:for|with|of) (?:that|this|it|all of (?:that|this|it))(?=\W*$)|\b(?:dafür|pour ça|pour cela|para eso|per questo)\b"
    r"|\b(?:that|this|those|these) (?:one |same |two |very )?(?:cards?|gpus?|box(?:es)?|machines?|instances?|servers?|chips?|nodes?)\b|\b(?:on|onto|into|inside|over) (?:it|them|there|one of (?:them|its|those))\b"
)
_GPU_MACHINE = re.compile(r"(?:\b(?:single|multi|one|two|four|eight|dual|quad)|\d)[- ]gpu\b|\bgpu[- ](?:instances?|box(?:es)?|machines?|servers?|types?|nodes?)\b|\bgpu-?instanz")
# Asks to compare two things that earlier turns reported.
HOLDS_TOGETHER = re.compile(r"%|\b(?:percent|differ\w*|gap|ratio|factor|(?:many|how much) (?:times|more|less|\w+er))\b|\b(?:which|second|first|former|latter|both|two|other)\b.*\b(?:more|less|worse|better|(?!number|other|power)\w{3,}er)\b")
_MOVES = re.compile(r"\b(?:mov(?:e|ing)|replac(?:e|ing)|swap(?:ping)?|migrat(?:e|ing)|switch(?:ing)?|chang(?:e|ing)|going|go|trad(?:e|ing)|upgrad(?:e|ing)|from|pasar|wechsel\w*|passer)\b.*\b(?:to|for|by|with|into|a|auf|à)\b")
_DIFFERS = re.compile(r"\b(?:premium|avoid(?:ed)?|sav(?:e|es|ed|ing|ings)|differ\w*|gap|delta|surcharge|(?:by )?how much (?:more|less|extra|cheaper|dearer|lower|higher)|what(?: ?'?s)? (?:the )?(?:extra|difference)|extra cost|percent(?:age)?|vs|versus|against|compared)\b")
_IS_LESS = re.compile(r"\b(?:is|are|was|does|do|would|will|can)(?:n['’]?t)? (?:it|that|this|they)\b[^.?;]*\b(?:lower|less|cheaper|cleaner|greener|better|smaller|higher|more|dearer|worse)\b")
# Slots that only apply to a model.
_OF_MODEL = frozenset({"sequences", "context", "weights", "cache", "zero_stage", "optimizer", "recompute", "lora_rank"})


def _leans(said: Said, before: Heard) -> bool:
    """Whether a question that could stand alone continues the turn before.

    It begins as an addition, refers to that turn, is a bare name after a computed one, or speaks of the model before.
    """
    refers = (before.computed or before.asked.workload.instance_type) and _REFERS.search(said.text)
    bare = before.computed and not said.goals and len(said.plain.split()) <= 3
    of_model = before.asked.names_model and not said.slots.keys() & {"model", "parameters"} and said.slots.keys() & _OF_MODEL
    return bool(_LEAD.match(said.text) or refers or bare or of_model)


_FORMATS = frozenset({"weights", "cache"})
_OF_MEMORY = frozenset({"memory", "weights", "kv_cache"})
_FUNCTION_WORD = re.compile(
    r"(?:and|or|but|so|ok|okay|now|then|also|what about|what if|how about|if|i|we|you|it|its|it's|that|the|a|an|with|in|at|to|as|of|for|on|per|is|are|one|ones|them|those|these|this"
    r"|was|were|do|does|did|would|will|use|used|using|run|ran|running|switch|switched|change|changed|drop|go|went|keep|kept|store|stored|make|made|take|have|has|had|got|get|actually|rather|over|by|not|no|sorry|please|there|time"
    r"|whole|entire|node|pue|quantise|quantised|quantize|quantized|load|loaded|instead|same|model|weights|cache|kv|format|both|all|only|just|again|still|more|less"
    r"|und|mit|bei|auf|im|für|von|davon|aber|jetzt|dann|auch|statt|stattdessen|der|die|das|den|dem|eine?[nrms]?|wenn|es|wir|sind|ist|wäre|voller|last|über|je"
    r"|et|avec|en|à|au|aux|sur|pour|sous|le|la|les|un|une|des|du|de|si|mais|alors|aussi|maintenant|plutôt|pendant|charge|deux|ce|c'est|sera"
    r"|con|y|e|el|los|las|uno|una|unos|para|por|pero|ahora|entonces|también|durante|al|del|si|ellas|ellos|esas|esos|misma?|eso|es|sería"
    r"|il|lo|gli|per|ma|ora|allora|anche|invece|nel|nella|di|da|della|dei|su|se|é|è|com|em|na|no|nos|mas|agora|também|o|os|as|w|i|na|dla|a co|met|op|voor|dan|maar)"
)


def _is_bare(said: Said) -> bool:
    """Whether a turn contains only the name of a machine or a region, and function words."""
    return bool(said.slots) and said.slots.keys() <= HARDWARE | {"region"} and not said.goals and all(map(_FUNCTION_WORD.fullmatch, _other_words(said)))


def _other_words(said: Said) -> set[str]:
    return set(re.findall(r"what (?:about|if)|how about|[^\W\d_][\w'’]*", _STAND_INS.sub(" ", said.plain))) - {said.number}


def _only_changes(said: Said, label: str) -> bool:
    """Whether a turn contains only slots and function words, so that it repeats the question before with other values.

    Examples: "and with the weights in int8?", "on two H100".
    """
    words = _other_words(said)
    other_term = {"weights": {"cache", "kv"}, "kv_cache": {"weights"}}.get(label, set())
    # After a question about memory, hardware asks whether it fits.
    changed = said.slots.keys() <= _FORMATS | {"sequences", "context"} if label in _OF_MEMORY else bool(said.slots)
    return changed and not said.goals and not said.unknown and all(map(_FUNCTION_WORD.fullmatch, words)) and not words & other_term


def _likeliest(likely: Mapping[str, float], claimed: float) -> tuple[str, float]:
    """Return the likeliest label, and the probability that the turn asks for anything computed."""
    computed = sum(likely[label] for label in COMPUTED)
    return max(COMPUTED if computed >= claimed else likely, key=lambda label: likely[label]), computed


_WRITES = re.compile(r"\b(?:writ(?:e|es|ing)|generat(?:e|es|ing)|produc(?:e|es|ing)) (?:an? |about )*(?:answer of )?\d[\d,]*[ -]tok")
_TOKENS_FIT = re.compile(r"\bhow many tokens\b.*\b(?:left|fits?|room|remain\w*|space|holds?)\b|\bcache (?:is |have i got |do i have |have we (?:got )?)?left\b")
_FASTER = re.compile(r"\bfast(?:er|est)\b")


def _unmistaken(said: Said, label: str, likely: float) -> tuple[str, float]:
    """Correct a label that the words contradict: time to write an answer, the faster machine, the longest context for some users."""
    placed = said.slots.keys() & {"model", "parameters"} and said.slots.keys() & HARDWARE and said.slots.get("task") not in TRAINING
    if placed and ((Goal.TIME in said.goals and _WRITES.search(said.text)) or (label != "training_time" and _FASTER.search(said.text))):
        return "decode_speed", 1.0
    if label in ("most_users", "kv_cache", "fits") and ((Goal.LONGEST in said.goals and "sequences" in said.slots) or ("context" not in said.slots and _TOKENS_FIT.search(said.text))):
        return "longest_context", likely
    if label in ("training_time", "fits") and _WHAT_TO_TAKE.search(said.text) and not said.slots.keys() & HARDWARE:
        return "cheapest", likely
    return label, likely


# --- what a label needs ---------------------------------------------------------------------------------------------------

HARDWARE = frozenset({"accelerator", "accelerator_memory_gb", "instance_type", "families"})
BUDGETS = frozenset({"budget", "budget_per_hour", "budget_per_month"})
_MODEL = frozenset({"model"})
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


# --- what is asked, turn after turn ---------------------------------------------------------------------------------------

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
# "The KV cache of a 4-bit Llama": the format of the model, not of the cache.
_BEFORE_MODEL = re.compile(r"\b(?:an?|the|my|our|this|of|for) (?:(?:fp|bf|int) ?(?:4|8|16|32)|(?:4|8|16|32)[- ]bit)\b")
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
_EACH_TOKEN = re.compile(r"\bper-token\b|\b(?:per|each|a|one|single|every|pro|par|por) token\b|/ ?token\b")
_PER_TOKEN = re.compile(r"\b(?:ms|millise\w+|seconds?|latency)\b.{0,20}\b(?:token|between tokens)\b|\btpot\b|\binter-?token\b")
_FOR_TOKENS = re.compile(r"\btokens? (?:per|for (?:the|a)|/) ?(?:dollar|\$|usd|buck|money)|\b(?:cost|price|dollars?|\$|usd)\w* (?:per|/|a|for a) ?(?:\w+ )?(?:m ?)?tok(?:en)?s?\b|million tokens|\bm tokens|per token|/ ?m ?tok|1m tok|mtok")
# "Which costs less?" asks for the cheaper one first, and then by how much.
_WHICH = re.compile(r"\b(?:which|welche[rs]?|qu[eé]l(?:le)?|cu[aá]l|qual[e]?)\b")
# Goals that may be asked beside the leading one.
_BESIDE = (Goal.CHEAPEST, Goal.SMALLEST, Goal.COST, Goal.COMPARE)
# If several slots have further values, the first of these is compared.
_COMPARED = ("model", "parameters", "accelerator", "accelerator_memory_gb", "instance_type", "accelerators", "weights", "cache", "task", "region")


def _goals(label: str, said: Said, before: Heard | None) -> tuple[Goal, ...]:
    beside = [goal for goal in _BESIDE if goal in said.goals]
    if before and before.label == label and not beside:
        return before.asked.goals
    leads = _GOALS.get(label) or next((goal for goal in (Goal.SMALLEST, Goal.CHEAPEST) if goal in beside), Goal.CHOICE if said.slots.keys() & {"model", "parameters"} else Goal.CHEAPEST)
    if leads is Goal.DIFFERENCE and _WHICH.search(said.text):
        leads = Goal.COST
    if leads is Goal.THROUGHPUT and _PER_TOKEN.search(said.text):
        leads = Goal.LATENCY
    if leads in (Goal.COST, Goal.DIFFERENCE, Goal.CHEAPEST) and "tokens" not in said.slots and _FOR_TOKENS.search(said.text):
        leads = Goal.TOKEN_COST
    return tuple(dict.fromkeys((leads, *(beside if leads not in _IMPACTS else ()))))


def asked_for(said: Said, label: str, before: Heard | None, known: Known) -> Asked:
    """Return the question's own workload, or the previous one with the slots that the question changes."""
    work = before.asked.workload if before else Workload()
    slots = dict(said.slots)
    bare, them, epochs, share, of_tokens = (slots.pop(slot, None) for slot in ("size", "of_them", "epochs", "hours_share", "tokens_share"))
    if share:
        slots.setdefault("hours", (work.hours or MONTH_HOURS) * share)
    if of_tokens and work.tokens:
        slots.setdefault("tokens", work.tokens * of_tokens)
    if said.steps and work.instance_type and (size := _next_size(work.instance_type, said.steps, known)):
        slots.setdefault("instance_type", size)
    if label == "cheapest" and not slots.keys() & (HARDWARE | {"vendors"}) and _GPU_MACHINE.search(said.text):
        slots["vendors"] = frozenset({"NVIDIA", "AMD"})
    if work.instance_type and "accelerator" in slots and re.search(r"\ball (?:its |the )?gpus?\b", said.plain):
        slots = {slot: value for slot, value in slots.items() if slot not in ("accelerator", "accelerators", "accelerator_memory_gb")}  # "with all 8 A100 at their maximum"
    if epochs and (tokens := slots.get("tokens", work.tokens)):
        slots["tokens"] = tokens * epochs
    if label == "kv_cache" and "cache" not in slots and "weights" not in said.text and slots.get("weights") in CACHE_FORMATS and not _BEFORE_MODEL.search(said.text):
        slots["cache"] = slots.pop("weights")  # "the KV cache of ... in fp8"
        formats = [{"cache": other["weights"]} for other in said.several.get("weights", []) if other["weights"] in CACHE_FORMATS]
        said = replace(said, several={**said.several, "weights": [], "cache": formats})
    if label == "kv_cache" and _EACH_TOKEN.search(said.text):
        slots.setdefault("context", 1)
    if bare and work.instance_type and (other := f"{work.instance_type.split('.')[0]}.{bare}") in known.types:
        slots.setdefault("instance_type", other)
    if work.accelerator and "accelerator_memory_gb" in slots and "accelerator" not in slots and _THE_ONES.search(said.text):
        slots["accelerator"] = work.accelerator  # "and with the 80 GB ones"
    if them and slots.keys() & {"accelerators", "instances"} and work.names_model:
        slots.setdefault("sequences", them)  # "so 30 of them on one A10G?", after the cache of one user
    elif them:
        slots["accelerators" if work.accelerator or (work.accelerators and not work.instance_type) else "instances"] = them
    if "instance_type" in slots and work.instance_type and work.instances and not work.names_model:
        slots.setdefault("instances", work.instances)  # "two p4d.24xlarge", then "same but p4de.24xlarge"
    if "parameters" in slots and work.model and (model := sibling(work.model, f"{slots['parameters'] / 1e9:g}b", known.models)):
        slots = {("model" if k == "parameters" else k): (model if k == "parameters" else v) for k, v in slots.items()}
    if "tokens" in slots and "tokens_per_second" not in slots and slots.get("task", work.task) not in TRAINING and _TOKENS_A_DAY.search(said.text):
        slots["tokens_per_second"] = slots.pop("tokens") / 86400  # tokens per day are served, not trained on
    elif slots.get("task") is Task.SERVE and "tokens" in slots and not slots.keys() & {"tokens_per_second", "mfu"} and label not in _OF_TRAINING:
        del slots["tokens"]  # "offline inference, 2B output tokens in all"
    elif label in _OF_TRAINING or "tokens" in slots or slots.keys() & {"zero_stage", "optimizer"}:
        task = slots.get("task", work.task)
        slots["task"] = (Task.FULL if slots.keys() & {"zero_stage", "optimizer"} else Task.PRETRAIN) if task not in TRAINING else task
    if slots.get("task", work.task) in TRAINING and "load" in slots and label in _OF_TRAINING:
        slots.setdefault("mfu", slots.pop("load"))  # "at 45 % utilisation"
    if slots.get("instance_type"):
        # "16 p4d.24xlarge (128 A100)" says the same twice.
        slots.pop("accelerator", None)
    if said.unknown and not _OWN.fullmatch(said.unknown) and not _IS_TYPE.search(said.unknown) and not slots.keys() & {"model", "parameters"}:
        work = replace(work, model=None, parameters=None)  # "and our other model?"
    cleared = {old for slot in slots for old in _REPLACED.get(slot, ()) if old not in slots}
    if label == "count" and before and not slots.keys() & {"instances", "accelerators"}:
        cleared |= {"instances", "accelerators"}  # "on one H100?", then "how many, then?"
    if "accelerator" in slots and work.accelerator and not re.search(r"\b(?:an?|one|single|the) gpu\b", said.plain):
        cleared -= {"accelerators"}  # "8 H100", then "on H200s?"
    if slots.get("task") in _TRAINING and "weights" not in slots and work.weights in _QUANTISED:
        cleared |= {"weights", "cache"}
    first = replace(work, **{slot: _EMPTY[slot] for slot in cleared}, **slots)
    if first.names_model and first.task in TRAINING and len(first.families) == 1 and (first.instances or 1) > 1:
        (family,) = first.families
        first = replace(first, instance_type=_largest(family, known), families=frozenset())  # "2 nodes of p5"
    machines = next((slot for slot in ("instance_type", "accelerator") if said.several.get(slot)), None)
    sizes = said.several.get("parameters")
    if machines and sizes:
        # "a p5 or eight g6e for 7B and 13B models": the largest model decides.
        first = replace(first, parameters=max(first.parameters or 0.0, *(other["parameters"] for other in sizes)))
    slot = machines if machines and sizes else next((slot for slot in _COMPARED if said.several.get(slot)), None)
    if first.names_model and not slot and slots.keys() >= {"accelerator", "families"} and _EITHER.search(said.text):
        # "an H100 or Trainium?"
        line = {"accelerator": None, "accelerators": None, "accelerator_memory_gb": None, "families": first.families, "vendors": first.vendors}
        first, said, slot = replace(first, families=frozenset(), vendors=frozenset()), replace(said, several={"accelerator": [line]}), "accelerator"
    if first.names_model and not slot and len(first.families) > 1 and _EITHER.search(said.text):
        # "g5, g6 or inf2?": compare a type of each family that holds the model.
        ranked = sorted(first.families, key=lambda name: (said.text.find(name), name))
        first, said = replace(first, families=frozenset(ranked[:1])), replace(said, several={"families": [{"families": frozenset({name})} for name in ranked[1:]]})
        slot = "families"
    several = [_option(changes, placed=first.names_model) for changes in said.several[slot]] if slot else []
    if label in _COMPARABLE and first.instances and _MOVES.search(said.text):
        several = [{**changes, "instances": changes.get("instances") or first.instances} for changes in several]  # "eleven g4dn.xlarge to g6.xlarge"
    others = tuple(replace(first, **changes) for changes in several)
    if before and not others and label in _OF_OPTIONS and slots.keys() & {"accelerator", "instance_type"} and len(slots) == 1 and _compares_machines(before.asked) and before.asked.workload.instance_type:
        others = (before.asked.workload, *before.asked.others)  # "and what about B300?", after two machines
    if before and not others and label in _OF_OPTIONS and not said.slots.keys() & HARDWARE and (not cleared or _compares_machines(before.asked)):
        changes = {**{slot: _EMPTY[slot] for slot in cleared}, **{slot: value for slot, value in slots.items() if slot in _EMPTY}}
        others = tuple(replace(other, **changes) for other in before.asked.others if not said.slots.keys() & {"model", "parameters"} or _compares_machines(before.asked))
    elif before and not others and label in _COMPARABLE:
        if not said.slots.keys() & (HARDWARE | {"region", "model", "parameters"}):
            if label == "cost_difference" and before.earlier:
                others = (replace(before.earlier, hours=first.hours),)
            elif before.asked.others:
                changes = {slot: value for slot, value in slots.items() if slot in _EMPTY}
                others = tuple(replace(other, **changes) for other in before.asked.others)
        elif before.asked.workload.instance_type and _machines(first) != _machines(before.asked.workload) and (_DIFFERS.search(said.text) or _IS_LESS.search(said.text)):
            others = (replace(before.asked.workload, hours=first.hours, load=first.load),)
    purchase = said.purchase or (before.asked.purchase if before else "")
    stated = (before.asked.stated if before else frozenset()) - cleared | slots.keys()
    return Asked(
        first, _goals(label, said, before), stated, others, _unknown(said, label, first, before), "adapter" if label == "memory" and said.term == "adapter" else _TERMS.get(label), said.euros,
        "" if purchase == "on demand" else purchase, continues=bool(before and before.computed),
    )  # fmt: skip


# Asked of all machines that were compared, also with another model.
_OF_OPTIONS = frozenset({"fits", "cheapest", "decode_speed", "prefill_speed", "cost_per_tokens"})


def _compares_machines(asked: Asked) -> bool:
    return bool(asked.others) and all(_machines(other) != _machines(asked.workload) for other in asked.others)


_OF_TRAINING = frozenset({"training_time", "accelerators_for_time", "tokens_in_time"})
_EITHER = re.compile(r"\b(?:or|vs\.?|versus|against|than|oder|ou)\b")


def _option(changes: Mapping[str, Any], *, placed: bool) -> dict[str, Any]:
    """The slots of a further option.

    A family among instance types means its largest type or, if a model is to be placed, any of its types that
    holds the model.
    """
    if changes.get("families") and "instance_type" in changes:
        return {slot: value for slot, value in changes.items() if slot != "families"} | ({"families": changes["families"], "instance_type": None} if placed else {})
    return dict(changes)


def _largest(family: str, known: Known) -> str | None:
    """The largest type of a family that is no bare metal; None if it has none."""
    return next((name for name in reversed(sizes_of(known).get(family, ())) if "metal" not in name), None)


def _next_size(name: str, steps: int, known: Known) -> str | None:
    """The type `steps` sizes up or down in the same family; None if there is none."""
    sizes = [size for size in sizes_of(known).get(name.partition(".")[0], ()) if "metal" not in size]
    place = sizes.index(name) + steps if name in sizes else -1
    return sizes[place] if 0 <= place < len(sizes) else None


_TOKENS_A_DAY = re.compile(r"\btokens? ?(?:/|per|an?|each|every) ?day\b|\btokens? daily\b")
_THE_ONES = re.compile(r"\b(?:ones?|version|variant|kind)\b")


_IS_TYPE = re.compile(r"\.(?:\w*large|nano|micro|small|medium|metal)")
_OWN = re.compile(r"(?:my|our|the|unser\w*|notre|nuestro|nostro) (?:own )?(?:model\w*|llm|modèle)")
_A_MODEL = re.compile(r"\b(?:an?|the|this) (?:\w+ )?(?:model|llm)\b")


_OUR_USE = re.compile(r"\b(?:our|my|unser\w*|notre|nuestr[oa]|nostr[oa]) (?:\w+ )?(?:chat ?bot|assistant|copilot|bot|app|use case|service|workload|product|team)\b")


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
