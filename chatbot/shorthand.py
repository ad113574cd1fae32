"""Letters of instance families in full: "the C, G and Trn families", "P-type instances"."""

import re
from functools import cache

from chatbot.words import vocabulary

_JOINT = r"(?:\s*,\s*(?:and\s+|or\s+)?|\s*/\s*|\s+(?:and|or|vs\.?|versus)\s+)"
_NOUN = r"(?:series|famil(?:y|ies)|instances?|lines?)"
# "P-type instances", "C machines".
_MACHINES = r"(?:[\s-](?:type|class|style))?\s+(?:machines?|boxes|box|instances?|servers?)"


def in_full(text: str) -> str:
    """A question in which each letter of a list has the noun that stands behind the last: "C, G and Trn families"."""
    letter = rf"(?:{'|'.join(_letters())})"
    listed = re.compile(rf"(?<![\w.-])(?P<list>{letter}(?:{_JOINT}{letter})+)(?!\w)(?P<noun>\s+{_NOUN}\b)?")
    text = re.sub(rf"(?<![\w.'’-])({letter}){_MACHINES}(?![\w-])", r"\1 series", text)
    text = listed.sub(lambda m: re.sub(rf"(?<!\w){letter}(?!\w)", lambda one: f"{one.group()} series", m["list"]), text)
    # One letter with its noun tells what another alone stands for: "the G family, and what is P meant for?" So does "Trn".
    lone = rf"{letter}(?![\w'’.-]|\s+{_NOUN}\b)"
    several = len(set(re.findall(rf"(?<![\w.-]){lone}", text))) > 1 and re.search(
        r"(?<![\w.-])(?:Trn|Inf)(?![\w.-])", text
    )
    if not (several or re.search(rf"(?<![\w.-]){letter}\s+{_NOUN}\b", text)):
        return text
    alone = re.compile(rf"\b(?P<before>is|are|of|for|and|or|with|about|to|in|on|vs) (?P<one>{lone})")
    return alone.sub(lambda m: f"{m['before']} {m['one']} series", text)


@cache
def _letters() -> list[str]:
    """What stands before "series" in the vocabulary's names, the longest first: Trn, Inf, C, G, P."""
    aliases = (alias for entry in vocabulary()["hardware"] for alias in entry["aliases"])
    return sorted({a.removesuffix(" series").capitalize() for a in aliases if a.endswith(" series")}, key=len, reverse=True)
