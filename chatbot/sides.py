"""The sides of a comparison: hardware, makers, or whatever is put between "vs" and "or"."""

import re
from functools import lru_cache

from chatbot.names import maker, makers, mentioned, names, relatives
from chatbot.words import content_words, stem, stems_and_groups, synonyms

_JOINED = re.compile(
    r"(?<!\s)(?:\s*+,)?\s++(?:vs?\.?|versus|compared (?:to|with)|as opposed to|against|or)\s+|(?<!\s)\s*+,\s++(?:or|and)\s+", re.IGNORECASE
)
_BETWEEN = re.compile(
    r"\b(?:between|compare|comparing|contrast)\s++(?P<one>\S.{1,59}?)\s++(?:and|with|to|against|vs\.?)\s+(?P<two>[^?.,;:]{2,60})",
    re.IGNORECASE,
)
_NAME = r"(?:[A-Z][\w.-]*(?:\s[A-Z][\w.-]*)?|[a-z]+[A-Z][\w.-]*)"
_ENUMERATED = re.compile(rf"\b{_NAME}(?:,\s{_NAME})+(?:,?\s(?:and|or)\s|,\s){_NAME}")
_EDGE = re.compile(
    r"^(?:.*\b(?:is|are|was|does|do|for|with|how|what|which|should|i|we|the|a|an|use|take|pick|choose|buy|rent|better|cheaper|faster|between|of)\b\s+)|[?.!;:].*$",
    re.IGNORECASE,
)

# What follows a side behind a colon or a full stop is no part of it.
_REST = re.compile(r"(?:[?!;:]|\.(?!\d)).*$", re.DOTALL)
# What follows the last side is said of all of them: "Spot or On-Demand for a run of two weeks".
_CIRCUMSTANCE = re.compile(
    r"(?P<side>(?!only\b|just\b)[\w.-]+(?:\s[\w.-]+)?)\s+(?:for|when|if|during|while)\s.*", re.IGNORECASE | re.DOTALL
)

_NO_SIDE = re.compile(
    r"\b(?:not|no|else|something|others?|is|it|using|too|more|less|anything|nothing)\b|^[\W\d]*%?$", re.IGNORECASE
)


def sides(text: str, entities: tuple[str, ...], tasks: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """What a question compares, at most four things: names of hardware first, makers beside them, else the words themselves."""
    found = _without_parts(entities)
    made = {maker(name) for name in found}
    found += [m for m in makers(text) if m not in made]
    if len(found) < 2:
        there = {f.lower() for f in found}
        written = [s for s in _written(text) if not mentioned(s) & there and s.lower() not in there]
        # Two things held against each other are the sides, not what both are done with ("H100s for a 7B model or a 70B one").
        found = written if len(written) > 1 else found + written
    if len(found) < 2 and {"training", "inference"} <= tasks:
        found = ["training", "inference"]
    return tuple(dict.fromkeys(found))[:4]


def _without_parts(entities: tuple[str, ...]) -> list[str]:
    """A chip and the family that holds it are one side; two sizes of a family are two."""
    kept: list[str] = []
    for name in entities:
        if "." in name or not any(name in relatives(k) and not _siblings(name, k) for k in kept):
            kept.append(name)
    return kept


def _siblings(one: str, other: str) -> bool:
    """Two generations of one thing ("Inf1", "Inf2") share what they are made of, but neither holds the other."""
    return one[:-1] == other[:-1] and one[-1:].isdigit() and other[-1:].isdigit()


def _written(text: str) -> list[str]:
    if match := _ENUMERATED.search(text):
        return [s for s in re.split(r",\s*(?:and|or)\s+|,\s*|\s+(?:and|or)\s+", match.group()) if s]
    if match := _BETWEEN.search(text):
        return [s for s in (_side(match["one"]), _side(match["two"])) if s]
    first, *others = _JOINED.split(text)
    # "BERT Large training time: Trn1 versus ...": what is compared stands before the sides.
    first = first.rsplit(":", 1)[-1] if others else first
    others = [_REST.sub("", part) for part in others]
    parts = [first, *(m["side"] if (m := _CIRCUMSTANCE.fullmatch(part)) else part for part in others)]
    found = [s for part in parts if (s := _side(part)) and not _NO_SIDE.search(s)]
    return found if len(parts) > 1 and len(found) > 1 else []


def _side(text: str) -> str:
    """The few words that are a side, "" where what stands there is more than that."""
    trimmed = _EDGE.sub("", text.strip()).strip(" ,\"'")
    return trimmed if len(trimmed.split()) <= 4 else ""


@lru_cache(maxsize=4_096)
def _is_name(side: str) -> bool:
    return bool(names(side))


def speaks_of(side: str, text: str) -> bool:
    """Whether a text speaks of a side: names it or a relative of it or, for other words, holds them all."""
    if _is_name(side):
        there = mentioned(text)
        if "." in side:
            return side.lower() in there
        return any(r.lower() in there for r in (side, *relatives(side))) or any(
            t.startswith(f"{side.lower()}.") for t in there
        )
    if side in makers(text) or any(maker(n.name) == side for n in names(text)):
        return True
    stems_there, groups = stems_and_groups(text)
    wanted = content_words(side)
    return bool(wanted) and all(stem(w) in stems_there or synonyms(w) & groups for w in wanted)


def names_side(side: str, text: str) -> bool:
    """Whether a text names the side itself, not only what it is part of."""
    return side.lower() in mentioned(text) if _is_name(side) else speaks_of(side, text)
