"""Whether a turn of a conversation continues the one before it: what it refers to, changes or puts in place."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from chatbot.sizing.asking import HARDWARE, Heard, machines_of
from chatbot.sizing.reading import in_place_of
from chatbot.sizing.reading.machines import MOST_MACHINES
from chatbot.sizing.reading.numerals import number_of
from chatbot.sizing.reading.text import Known, Said
from ingest import known_words

COUNTS = frozenset({"of_them", "instances", "accelerators"})
_ONE_NUMBER = re.compile(r"[^\d]*?(?<![\w.,-])(?P<number>\d[\d.,]*k?)(?P<unit> ?[a-z%][^\d?!.;,]*)[?!. ]*")
_LEAD = re.compile(
    r"\W*(?:(?:ok(?:ay)?|haha|lol|hm+|oh|no|well|thanks)\b\W*)*(?:and|but|so|then|also|now|what about|how about|what if|same|instead|und|what would change|swap|switch|move|change|replace|make (?:it|that)|sorry|sry|oops|wait|actually|i (?:actually )?(?:have|mean|meant)|rather|y|et|und in)\b"
)
# References to the turn before.
_REFERS = re.compile(
    r"\bsame (?:schedule|hours?|count|number|usage|time|period|setup|load|pattern|deal|thing|job|run|workload|calculation|amount)\b|\b(?:of|for|with|on) (?:them|those|these)\b|\binstead\b|\b(?:that|those) (?:schedule|many|machines?|boxes)\b"
    r"|\b(?:for|with|of) (?:that|this|it|all of (?:that|this|it))(?=\W*$)|\b(?:dafür|pour ça|pour cela|para eso|per questo)\b"
    r"|\b(?:that|this|those|these) (?:one |same |two |very )?(?:cards?|gpus?|box(?:es)?|machines?|instances?|servers?|chips?|nodes?)\b|\b(?:on|onto|into|inside|over) (?:it|them|there|one of (?:them|its|those))\b"
)
# A name alone after a connecting word: "And Grok 4?".
NAME_ALONE = re.compile(r"\W*(?:(?:ok(?:ay)?,?|so|and|what about|how about|for|with|or|the|on|of|in|y|et|und|e)\s+)*(?P<name>[a-z][\w-]*(?:[ -](?:[a-z][\w-]*|v?\d[\w.]*)){0,3})(?:['’]s)?\W*", re.IGNORECASE)
# Slots that only apply to a model.
_OF_MODEL = frozenset({"sequences", "context", "weights", "cache", "zero_stage", "optimizer", "recompute", "lora_rank"})
_FORMATS = frozenset({"weights", "cache"})
_OF_MEMORY = frozenset({"memory", "weights", "kv_cache"})
STAND_INS = re.compile(r"\b(?:region|instance|future|model|share|amount|format|budget|tokens|context|users|training method|gpus?|accelerators?|family|duration)\b")
_FUNCTION_WORD = re.compile(
    r"(?:and|or|but|so|ok|okay|now|then|also|what about|what if|how about|if|i|we|you|it|its|it's|that|the|a|an|with|in|at|to|as|of|for|on|per|is|are|one|ones|them|those|these|this"
    r"|was|were|do|does|did|would|will|use|used|using|run|ran|running|switch|switched|change|changed|drop|go|went|keep|kept|store|stored|make|made|take|have|has|had|got|get|actually|rather|over|by|not|no|sorry|please|there|time"
    r"|whole|entire|node|pue|quantise|quantised|quantize|quantized|load|loaded|instead|same|model|weights|cache|kv|format|both|all|only|just|again|still|more|less"
    r"|und|mit|bei|auf|im|für|von|davon|aber|jetzt|dann|auch|statt|stattdessen|der|die|das|den|dem|eine?[nrms]?|wenn|es|wir|sind|ist|wäre|voller|last|über|je"
    r"|et|avec|en|à|au|aux|sur|pour|sous|le|la|les|un|une|des|du|de|si|mais|alors|aussi|maintenant|plutôt|pendant|charge|deux|ce|c'est|sera"
    r"|con|y|e|el|los|las|uno|una|unos|para|por|pero|ahora|entonces|también|durante|al|del|si|ellas|ellos|esas|esos|misma?|eso|es|sería"
    r"|il|lo|gli|per|ma|ora|allora|anche|invece|nel|nella|di|da|della|dei|su|se|é|è|com|em|na|no|nos|mas|agora|também|o|os|as|w|i|na|dla|a co|met|op|voor|dan|maar)"
)


def put_in_place(said: Said, before: Heard, known: Known) -> tuple[Said, str]:
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
    if not unit and machines_of(work)[0] and number == int(number) <= MOST_MACHINES and not written.endswith("%"):
        found.append((number / (work.instances or work.accelerators or 1), {"of_them": int(number)}, ""))
    near = [place for place in found if place[0] > 0]
    if not near:
        return said, ""

    def distance(place: tuple[float, Mapping[str, Any], str]) -> float:
        # Counts are what is changed most often, so they may be twice as far away.
        return abs(math.log(place[0])) - (math.log(2) if place[1].keys() <= COUNTS else 0.0)

    _, changed, text = min(near, key=distance)
    return replace(said, slots={**said.slots, **changed}), text


def stranger(question: str, said: Said, before: Heard) -> str | None:
    """Return a model that a turn names and no table has, or None.

    The turn follows a question about a model and consists of a name that fills no slot.
    """
    match = NAME_ALONE.fullmatch(question)
    if not match or said.goals or not said.slots.keys() <= COUNTS or not before.asked.names_model:
        return None
    words = [word.lower() for word in match["name"].split() if word[0].isalpha() and word.lower() != said.number]
    strange = any(word not in known_words() and not _FUNCTION_WORD.fullmatch(word) for word in words)
    asks = match.start("name") > 2 or re.search(r"\d", match["name"]) or "?" in question
    return match["name"] if strange and asks else None


def leans_on(said: Said, before: Heard) -> bool:
    """Whether a question that could stand alone continues the turn before.

    It begins as an addition, refers to that turn, is a bare name after a computed one, or speaks of the model before.
    """
    refers = (before.computed or before.asked.workload.instance_type) and _REFERS.search(said.text)
    bare = before.computed and not said.goals and len(said.plain.split()) <= 3
    other_model = said.slots.keys() & {"model", "parameters"}
    of_model = before.asked.names_model and not other_model and said.slots.keys() & _OF_MODEL
    return bool(_LEAD.match(said.text) or refers or bare or of_model)


def is_bare(said: Said) -> bool:
    """Whether a turn contains only the name of a machine or a region, and function words."""
    named = said.slots and said.slots.keys() <= HARDWARE | {"region"} and not said.goals
    return bool(named) and all(map(_FUNCTION_WORD.fullmatch, _other_words(said)))


def only_changes(said: Said, label: str) -> bool:
    """Whether a turn contains only slots and function words, so that it repeats the question before with other values.

    Examples: "and with the weights in int8?", "on two H100".
    """
    words = _other_words(said)
    other_term = {"weights": {"cache", "kv"}, "kv_cache": {"weights"}}.get(label, set())
    # After a question about memory, hardware asks whether it fits.
    changed = said.slots.keys() <= _FORMATS | {"sequences", "context"} if label in _OF_MEMORY else bool(said.slots)
    bare = all(map(_FUNCTION_WORD.fullmatch, words)) and not words & other_term
    return changed and bare and not said.goals and not said.unknown


def _other_words(said: Said) -> set[str]:
    return set(re.findall(r"what (?:about|if)|how about|[^\W\d_][\w'’]*", STAND_INS.sub(" ", said.plain))) - {said.number}
