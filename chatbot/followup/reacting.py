"""Follow-ups that react to an answer: doubt it, add a condition, ask for another size."""

import re
from collections.abc import Sequence

from chatbot.followup.carrying import bare, with_name, with_size
from chatbot.followup.referents import Said, Sizes
from chatbot.names import names

_DOUBT = re.compile(
    r"^\W*(?:but |and |so )?(?:(?P<why>(?:(?:and )?why|how so|how come|why is (?:that|it)|what makes (?:it|that) so)(?P<not> not)?)|(?P<really>really|are you sure|is it))\W*$",
    re.IGNORECASE,
)
_WHY_NOT = re.compile(r"^why not\s+(?:use\s+|take\s+|choose\s+|pick\s+)?(?P<other>[^,]+?)\W*$", re.IGNORECASE)
_SUPPOSES = re.compile(r"^(?:what if|if|even if|assuming|(?P<unless>without|unless))\b", re.IGNORECASE)
_RESIZES = re.compile(
    r"^(?:it|that|ours?|mine|the model|this)(?:'s|\s+(?:is|will|would|was|has|might|could))\b(?!.*\?)", re.IGNORECASE
)
_SIBLING = re.compile(
    r"\b(?:the\s+|its\s+)?(?P<size>bigger|larger|largest|biggest|smaller|smallest|other|little|small|big|large)\s+(?:one|sister|brother|sibling|instance|size|type|version|variant)\b",
    re.IGNORECASE,
)
_LARGER = {"bigger", "larger", "big", "large"}


def of_doubt(text: str, said: Said) -> str | None:
    """ "Why?" and "why not the P one?" ask for reasons of what was answered."""
    if doubt := _DOUBT.match(text):
        if doubt["really"]:
            return said.question
        return f"{bare(said.question)}, and why{doubt['not'] or ''}?"
    rejected = _WHY_NOT.match(text)
    if rejected is None or len(rejected["other"].split()) > 14:
        return None
    return f"{bare(said.question)}, and why not {rejected['other']}?"


def with_the(name: str, said: Said) -> str:
    """A name with the article that the conversation gave it."""
    written = rf"\b(?:the|an?)\s+(?:(?:NVIDIA|AMD|Intel|AWS|Google)\s+)?{re.escape(name)}\b"
    return f"the {name}" if name and re.search(written, said.question, re.IGNORECASE) else name


def of_condition(text: str, said: Said) -> str | None:
    """ "What if we can't buy NVIDIA?" and "now it will be 40B" go with the last question."""
    resized = with_size(said.question, text)
    if resized and _RESIZES.match(text):
        return resized
    if (supposes := _SUPPOSES.match(text)) and not names(text):
        return resized or f"{bare(said.question)}, {supposes['unless'] or 'if'}{bare(text[supposes.end() :])}?"
    return None


def of_sibling(text: str, said: Said, sizes: Sizes, *, asks: bool) -> str | None:
    """ "The bigger one" is the next size of the instance that was spoken of."""
    sibling = _SIBLING.search(text)
    spoken = next((n for n in (*names(said.question), *names(said.answer)) if n.kind == "instance"), None)
    if sibling is None or names(text) or spoken is None:
        return None
    name = _neighbour(spoken.name, sibling["size"].lower(), sizes(spoken.name.split(".")[0]))
    if asks:
        return text[: sibling.start()] + name + text[sibling.end() :]
    named = any(n.kind == "instance" or n.name.lower() == name.split(".")[0] for n in names(said.question))
    return with_name(said.question, name) if named else f"Tell me about {name}."


def _neighbour(current: str, direction: str, known: Sequence[str]) -> str:
    """The next size up or down among the known types of a family, smallest first; the current one where there is none."""
    others = [name for name in known if name != current]
    if direction == "other" or current not in known:
        return others[0] if others else current
    place = list(known).index(current)
    if direction in ("largest", "biggest"):
        return known[-1]
    if direction == "smallest":
        return known[0]
    return known[min(place + 1, len(known) - 1)] if direction in _LARGER else known[max(place - 1, 0)]
