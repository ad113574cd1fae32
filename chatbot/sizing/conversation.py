"""What the turns of a conversation together ask of a sizing, and which questions are sizing questions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from chatbot.answer import Turn
from chatbot.question.parts import pieces
from chatbot.sizing.asking import EITHER, HARDWARE, Asked, Heard, asked_for, can_be_computed, machines_of
from chatbot.sizing.continuing import (
    COUNTS,
    NAME_ALONE,
    STAND_INS,
    is_bare,
    leans_on,
    only_changes,
    put_in_place,
    stranger,
)
from chatbot.sizing.fit import TRAINING
from chatbot.sizing.goals import Goal
from chatbot.sizing.intent import COMPUTED, FACTS, LABELS, probabilities
from chatbot.sizing.reading import read_question
from chatbot.sizing.reading.text import Known, Said

# Longer texts are never sizing questions.
_LONGEST = 2_000
# Thresholds on the probability that a question asks for something computed: alone, and after a question that was
# computed. At these thresholds, in the cross-validation of benchmarks/learn_sizing_intent.py, one in a hundred of the documents'
# questions is claimed.
_CLAIMED, _CONTINUED = 0.6, 0.5
# A new number may replace a number of this many recent turns.
_REMEMBERED = 6
_COURTESY = re.compile(r"\W*(?:(?:thanks?|thank you|thx|ok(?:ay)?|great|cool|nice|danke|so much|a lot|very much|perfect|good|got it|i see|hello|hi|h+m+|ouch|wow|oh|ah|uff|haha|lol|alright|right|interesting|sure|merci|gracias|grazie)\b\W*)*", re.IGNORECASE)  # fmt: skip
# Marks a text that asks something: a question mark or a question word.
_ASKS = re.compile(r"\?|\b(?:how|what|which|does (?:it|this|that)|is it|will|can|size|wie|was|reicht|combien|cu[aá]nto|quanto)\b", re.IGNORECASE)
# Asks what is left over, which is reported along with the answer for the workload.
LEFT_OVER = re.compile(r"\b(?:left(?! on| running)|remain\w*|headroom|to spare|übrig)\b", re.IGNORECASE)
# Asks to compare two things that earlier turns reported.
HOLDS_TOGETHER = re.compile(r"%|\b(?:percent|differ\w*|gap|ratio|factor|(?:many|how much) (?:times|more|less|\w+er))\b|\b(?:which|second|first|former|latter|both|two|other)\b.*\b(?:more|less|worse|better|(?!number|other|power)\w{3,}er)\b")
# Hardware that a model runs on today, and is to leave: "it sits on a g5.12xlarge, what should we be on?".
_TODAY = re.compile(r"\b(?:currently|today|now|at the moment|so far)\b[^.;?]{0,40}\b(?:instance|gpu)\b|\b(?:sits?|runs?|running|are|is|we['’]re|it['’]s) on (?:an? |one |our )?(?:instance|gpu)\b|\b(?:instance|gpu) (?:today|now|right now|at the moment|currently)\b|\binstead\b")
# A question of its own: "does the g6 have FP8?", "how many chips are in a trn1.32xlarge?".
_COMPLETE = re.compile(r"\W*(?:how many|does|do|has|have)\b(?!.*\b(?:it|that|this|they|them|those|these|we|i)\b)")
# Asks what a document says, even of what could be computed.
_CITES = re.compile(r"\baccording to (?:an?|the|our|your|this|that|these) (?:\w+ ){0,2}?(?:notes?|guides?|articles?|docs?|documents?|documentation|papers?|posts?|pages?|texts?|sources?|pattern)\b", re.IGNORECASE)
_OPTIONS, _PLACED, _RECKONED = 0.1, 0.4, 0.05
_ON_CPU = re.compile(r"\b(?:graviton\d?|cpus?)\b")
_WHAT_TO_TAKE = re.compile(
    r"\b(?:what|which|where)\b[^.?]*\b(?:would|should|do|ought|shall) (?:you|we|i|it|this) (?:to |really |actually |rather |be )*(?:run|take|us(?:e|ing)|pick|choose|serve|host|get|rent|go|move|switch|deploy|on|running)\b"
    r"|\b(?:what|which) (?:gpu |kind of |type of )?(?:instances?(?: types?)?|machines?|gpus?|cards?|box|server)(?=\W*$)"
)
_WRITES = re.compile(r"\b(?:writ(?:e|es|ing)|generat(?:e|es|ing)|produc(?:e|es|ing)) (?:an? |about )*(?:answer of )?\d[\d,]*[ -]tok")
_TOKENS_FIT = re.compile(r"\bhow many tokens\b.*\b(?:left|fits?|room|remain\w*|space|holds?)\b|\bcache (?:is |have i got |do i have |have we (?:got )?)?left\b")
_FASTER = re.compile(r"\bfast(?:er|est)\b")


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


def ask_parts(question: str, heard: Heard, known: Known) -> tuple[tuple[str, Asked], ...]:
    """Split a question that asks for several things, each part completed from the whole; empty if it asks for one."""
    texts = pieces(question)
    machines = {machines_of(work)[0] for work in (heard.asked.workload, *heard.asked.others)}
    if len(texts) < 2 or not heard.computed or len(machines) > 1:
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
        asked = part.asked
        alike = (other for _, other in parts.values() if asked.workload == other.workload and asked.term == other.term)
        if not any(asked.goal in other.goals for other in alike):
            parts[asked.goal, asked.term, asked.workload] = (text, asked)
    kinds = {(part.goal, part.term, part.workload.weights, part.workload.cache) for _, part in parts.values()}
    return tuple(parts.values()) if len(kinds) > 1 else ()  # the same goal for two machines or places is a comparison


def _hear(question: str, before: Heard | None, known: Known) -> Heard:
    """Interpret a turn, given what was said before it."""
    said, text = _to_be_replaced(read_question(question[:_LONGEST], known)), ""
    if before:
        said, text = put_in_place(said, before, known)
        said = replace(said, unknown=said.unknown or stranger(question, said, before))
    heard = _heard(question, said, before, known)
    if not before:
        return replace(heard, texts=(said.text,))
    work = before.asked.workload
    moved = machines_of(heard.asked.workload) != machines_of(work) and any(machines_of(work))
    same = heard.label == before.label and only_changes(said, before.label)
    frame = before.frame or before.said.plain.replace("co0", "co2")
    return replace(
        heard,
        earlier=work if moved else before.earlier,
        texts=(text or said.text, *before.texts)[:_REMEMBERED],
        frame=frame if same else "",
    )


def _to_be_replaced(said: Said) -> Said:
    """If a question asks what to run a model on instead of the hardware of today, leave that out, but keep to GPUs if it has some."""
    today = str(said.slots.get("instance_type") or said.slots.get("accelerator") or "")
    if not today or not said.slots.keys() & {"model", "parameters"} or any(said.several.values()):
        return said
    if not (_WHAT_TO_TAKE.search(said.text) and _TODAY.search(said.plain)):
        return said
    slots = {slot: value for slot, value in said.slots.items() if slot not in HARDWARE | COUNTS}
    if not today.lower().startswith(("inf", "tr")):
        slots["vendors"] = frozenset({"AMD", "NVIDIA"})
    return replace(said, slots=slots)


def _heard(question: str, said: Said, before: Heard | None, known: Known) -> Heard:
    """Decide what is asked: from the question alone if it is complete, otherwise from what it changes."""
    alone = probabilities(said, None)
    claimed = _claimed(said)
    label, likely = _unmistaken(said, *_likeliest(alone, claimed))
    asked = asked_for(said, label, None, known)
    work = asked.workload
    endless = work.budget and not (work.hours or work.tokens)
    if label == "affordable" and asked.names_model and (endless or not can_be_computed(label, asked)):
        # A budget for a model asks for hardware that holds the model.
        label, asked = "cheapest", asked_for(said, "cheapest", None, known)
    computed = likely >= claimed and can_be_computed(label, asked) and len(question) <= _LONGEST and not _CITES.search(question)
    own = Heard(label, asked, computed, said, likely=alone)
    if not before:
        return own
    if not before.computed and (heard := _after_facts(question, own, before, known)):
        return heard
    whole = said.slots.keys() & HARDWARE and not (computed or said.goals) and _COMPLETE.match(said.text)
    if whole or (computed and not leans_on(said, before)):
        return own
    return _continued(own, before, known)


def _after_facts(question: str, own: Heard, before: Heard, known: Known) -> Heard | None:
    """Interpret a turn after one that was not computed, if it leads up to a question or asks the same of another thing."""
    said = own.said
    bare = len(re.findall(r"[a-z]+", STAND_INS.sub("", said.plain))) <= 1 and "?" not in question
    if said.slots and not said.goals and bare:
        # "4 x p5en.48xlarge, MFU 30%": the question about it follows.
        return replace(own, asked=asked_for(said, own.label, before, known))
    if before.label not in COMPUTED and is_bare(said):
        # "How many vCPUs has it? And the small one?"
        likely = probabilities(said, before.label)
        return Heard(before.label, asked_for(said, before.label, before, known), computed=False, said=said, likely=likely)
    unknown = said.unknown and NAME_ALONE.fullmatch(question)
    if before.label in FACTS and (unknown or (not said.slots and HOLDS_TOGETHER.search(said.text))):
        sure = dict.fromkeys(LABELS, 0.0) | {before.label: 1.0}
        return Heard(before.label, before.asked, computed=False, said=said, likely=sure)
    return None


def _continued(own: Heard, before: Heard, known: Known) -> Heard:
    """Interpret a turn as a change of the turn before, or as it is heard alone if it changes nothing that is computed."""
    said = own.said
    claimed = _CONTINUED if before.computed else _CLAIMED
    after = probabilities(said, before.label)
    if before.asked.workload.budget_per_month and said.slots.keys() & HARDWARE and re.search(r"\bafford", said.text):
        label, likely = "affordable", 1.0
    elif before.computed and only_changes(said, before.label):
        # A price followed by a duration asks for a cost.
        label, likely = "cost" if before.label == "fact_price" and "hours" in said.slots else before.label, 1.0
    else:
        label, likely = _unmistaken(said, *_likeliest(after, claimed))
    changed = asked_for(said, label, before, known)
    if likely >= claimed and can_be_computed(label, changed, leans=True):
        return Heard(label, changed, computed=True, said=said, likely=after)
    if label in FACTS and (not said.slots or own.label in FACTS or not own.computed):
        return Heard(label, changed, computed=False, said=said, likely=after)  # "and its layers?", between questions about its memory
    if own.computed:
        return own
    # "Why not p4d?" keeps the model for "and how many of them?".
    keeps_model = before.asked.names_model and not own.asked.names_model
    return replace(own, asked=changed if keeps_model else own.asked, likely=after)


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
    options = several and not _ON_CPU.search(said.text) and bool(what or EITHER.search(said.text))
    return _OPTIONS if options else _PLACED if Goal.FITS in said.goals and hardware else _CLAIMED


def _likeliest(likely: Mapping[str, float], claimed: float) -> tuple[str, float]:
    """Return the likeliest label, and the probability that the turn asks for anything computed."""
    computed = sum(likely[label] for label in COMPUTED)
    return max(COMPUTED if computed >= claimed else likely, key=lambda label: likely[label]), computed


def _unmistaken(said: Said, label: str, likely: float) -> tuple[str, float]:
    """Correct a label that the words contradict: time to write an answer, the faster machine, the longest context for some users."""
    slots, text = said.slots, said.text
    hardware = slots.keys() & HARDWARE
    if slots.keys() & {"model", "parameters"} and hardware and slots.get("task") not in TRAINING:
        writes = Goal.TIME in said.goals and _WRITES.search(text)
        if writes or (label != "training_time" and _FASTER.search(text)):
            return "decode_speed", 1.0
    longest = Goal.LONGEST in said.goals and "sequences" in slots
    if label in ("most_users", "kv_cache", "fits") and (longest or ("context" not in slots and _TOKENS_FIT.search(text))):
        return "longest_context", likely
    if label in ("training_time", "fits") and _WHAT_TO_TAKE.search(text) and not hardware:
        return "cheapest", likely
    return label, likely
