"""Names that a question writes shortly, in full: "the C, G and Trn families", "the 32xlarge of Trn1", "the smallest Trn1"."""

import re
from collections.abc import Callable, Sequence
from functools import cache

from chatbot.names import names
from chatbot.words import vocabulary

Sizes = Callable[[str], Sequence[str]]

_JOINT = r"(?:\s*,\s*(?:and\s+|or\s+)?|\s*/\s*|\s+(?:and|or|vs\.?|versus)\s+)"
_NOUN = r"(?:series|famil(?:y|ies)|instances?|lines?)"
_SIZE = re.compile(r"(?<![\w.])(?P<size>\d{1,3}xl(?:arge)?)(?:\s+(?:size|instance|type|one))?(?:\s+of(?:\s+the)?\s+(?P<of>[a-z]{1,5}\d[a-z]*))?\b", re.IGNORECASE)  # fmt: skip
_EXTREME = re.compile(
    r"\b(?:the\s+)?(?P<which>smallest|largest|biggest)\s+(?P<family>[a-z]{1,5}\d[a-z]*)\b(?!\.)(?:\s+(?:size|instance|type|one)\b(?:\s+type\b)?)?(?!\s+(?:size|instance|type|one)|\s+(?:where|with|that|which|having|on which|to)\b)",
    re.IGNORECASE,
)
_LETTER_ALONE = re.compile(r"^\W*(?:and|or|what about|how about)?\s*(?:the\s+)?(?P<letter>[A-Z]|Trn|Inf)\W*$")
_FAMILY = re.compile(r"^[a-z]{1,5}\d[a-z]*$", re.IGNORECASE)


# What people write in a hurry.
_HURRIED = {
    r"\bw/o\b\s?": "without ",
    r"\bw/\s?(?=\w)": "with ",
    r"\bb4\b": "before",
    # Not "the letter n", nor "what does n stand for".
    r"(?<=\w )(?<!letter )(?<!suffix )(?<!the )(?<!an )(?<!a )(?<!does )(?<!is )(?<!of )n(?= \w)": "and",
    r"\bvirtual (?:cpu|CPU)s?\b": "vCPUs",
}


def unhurried(text: str) -> str:
    """A question with the abbreviations of chats in full: "w/ its 2 chips", "trn1 n trn2"."""
    for pattern, word in _HURRIED.items():
        text = re.sub(pattern, word, text)
    return text


def in_full(text: str, sizes: Sizes) -> str:
    """A question with its short names in full; `sizes` gives the instance types of a family, smallest first."""
    return _with_extremes(_with_sizes(_with_series(text)), sizes)


def letter_in_full(text: str, before: str) -> str:
    """ "And P?" after a question on the G series is a question on the P series."""
    alone = _LETTER_ALONE.match(text)
    is_series = alone and alone["letter"].lower() in _letters() and re.search(_NOUN, before, re.IGNORECASE)
    return f"{text.rstrip(' ?.!')} series?" if is_series else text


def _with_series(text: str) -> str:
    """Each letter of a list gets the noun that stands behind the last: "C, G and Trn families"."""
    letter = rf"(?:{'|'.join(sorted((x if len(x) == 1 else x.capitalize() for x in _letters(upper=True)), key=len, reverse=True))})"
    listed = re.compile(rf"(?<![\w.-])(?P<list>{letter}(?:{_JOINT}{letter})+)(?!\w)(?P<noun>\s+{_NOUN}\b)?")
    text = listed.sub(lambda m: re.sub(rf"(?<!\w){letter}(?!\w)", lambda one: f"{one.group()} series", m["list"]), text)
    # One letter with its noun tells what another alone stands for: "the G family, and what is P meant for?"
    if not re.search(rf"(?<![\w.-]){letter}\s+{_NOUN}\b", text):
        return text
    alone = re.compile(rf"\b(?P<before>is|of|for|and|or|with|about) (?P<one>{letter})(?![\w'’.-]|\s+{_NOUN}\b)")
    return alone.sub(lambda m: f"{m['before']} {m['one']} series", text)


@cache
def _letters(*, upper: bool = False) -> tuple[str, ...]:
    """What stands before "series" in the vocabulary's names: c, g, p, trn, inf."""
    found = (a.removesuffix(" series") for e in vocabulary()["hardware"] for a in e["aliases"] if a.endswith(" series"))
    return tuple(x.upper() if upper and len(x) == 1 else x for x in found)


def _with_sizes(text: str) -> str:
    """A size alone belongs to the only family that the question names."""
    families = {n.text.lower() for n in names(text) if _FAMILY.match(n.text) and n.kind == "hardware"}
    families |= {n.name.split(".")[0] for n in names(text) if n.kind == "instance"}
    if len(families) != 1:
        return text
    family = families.pop()
    return _SIZE.sub(lambda m: f"{family}.{re.sub('xl$', 'xlarge', m['size'].lower())}" if (m["of"] or family).lower() == family else m.group(), text)  # fmt: skip


def _with_extremes(text: str, sizes: Sizes) -> str:
    """The smallest or the largest of a family is one of its types."""

    def named(match: re.Match[str]) -> str:
        known = sizes(match["family"].lower())
        return (known[0] if match["which"].lower() == "smallest" else known[-1]) if len(known) > 1 else match.group()

    return _EXTREME.sub(named, text)
