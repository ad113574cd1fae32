"""Split the options of an exam question into parts, find what each part is for, and what the stem says about that."""

import re
from collections.abc import Sequence
from itertools import pairwise

from chatbot.language.wording import sentences
from chatbot.language.words import content_words, stem, stems, words

# Boilerplate words of exam questions: they say nothing about the subject.
FRAME = stems(
    "company solution architect requirement meet team user practitioner engineer option following statement correct choose select needs wants"
    " cloud customer organization true recommend appropriate action step combination"
)
# What a part of an option is for: "Spot Instances for the batch jobs".
_FOR = re.compile(r"\b(?:for|to (?:cover|run|host|store)|in|on)\s+(?:the |all |each |its )*(?P<what>.+)", re.IGNORECASE)
# The kind of work that an option says it is for: "for sustained workloads".
_PURPOSE = re.compile(
    r"\bfor (?P<work>[^,;.]*?\b(?:workload|job|task|application|work|traffic|usage|demand|process)(?:e?s)?\b)",
    re.IGNORECASE,
)
# One choice for everything that other options split up: "Spot Instances for both", "… for all workloads".
_FOR_ALL = re.compile(
    r"\bfor (?:both|everything|all)(?: of (?:them|these))?(?: (?:of )?(?:the )?(?:two |three )?(?:workload|job|task|part|tier|system|application|service|environment|need|use)s?)?\.?$",
    re.IGNORECASE,
)
# Where a sentence about several things may move from one to the next.
_GOES_OVER = re.compile(
    r";\s+|,\s+(?:(?:and|while|whereas|but)\s+)?|(?<!\s)\s++(?:and|while|whereas|but)\s+", re.IGNORECASE
)
_PART = re.compile(
    r"(?<=[.;])\s+(?=[A-Z])|(?<=,)\s+(?-i:and\s+(?=[A-Z]))|,?\s+and\s+(?=(?:[A-Z][\w-]+ )?(?:Instances|Savings|Spot|On-Demand|Reserved|a |an |use |purchase |the ))",
    re.IGNORECASE,
)
_WHOLE = 6
# The most parts of an option. Each is compared with all evidence, and no option of an exam proposes more.
_PIECES = 8
_SAME_MATTER = 0.6
_GOES_ON = re.compile(r"(?:it|they|these|this|its|their)\b", re.IGNORECASE)


def pieces_of(options: Sequence[str]) -> list[list[str]]:
    """Return the parts of each option; a part "for all" is repeated for each thing that another option's parts are for."""
    pieces = [_pieces(option) for option in options]
    apart = [[match[0] for piece in found if (match := _FOR.search(piece))] for found in pieces]
    each = next((found for found in apart if len(found) > 1), [])
    return [[text for piece in found for text in _for_each(piece, each)] for found in pieces]


def _for_each(piece: str, things: Sequence[str]) -> list[str]:
    if not (things and _FOR_ALL.search(piece)):
        return [piece]
    return [_FOR_ALL.sub(thing.replace("\\", r"\\"), piece) for thing in things]


def _pieces(text: str) -> list[str]:
    pieces = [p for p in _PART.split(text, maxsplit=_PIECES - 1) if words(p)] if len(text.split()) > _WHOLE else []
    return pieces or [text]


def served_by(piece: str) -> frozenset[str]:
    """Return what a part of an option is for, as stems; empty if it does not say."""
    found = _FOR.search(piece)
    return frozenset({stem(w) for w in content_words(found["what"])} - FRAME if found else ())


def purpose_of(piece: str) -> str:
    """Return the kind of work that a part of an option says it is for; "" if it does not say."""
    found = _PURPOSE.search(piece)
    return found["work"] if found else ""


def situation_of(wanted: frozenset[str], served: Sequence[Sequence[frozenset[str]]], text: str) -> str:
    """Return what the stem says about what a part is for: the sentences on it, and those that go on with a pronoun.

    Sentences that also name what other parts are for ("a game and its statistics") do not count. If too little remains
    without them, they are split where they move from one thing to the next; if that is not enough, they count as a whole.
    """
    others = [other for things in served for other in things]
    spans = [text[start:end] for start, end in sentences(text)]
    said = _on_it_alone(spans, wanted, others)
    if max(said, default=0) < _SAME_MATTER * len(wanted):
        together = [thing for things in served if len(things) > 1 for thing in things]
        spans = [part for span in spans for part in _cut(span, together)]
        said = _on_it_alone(spans, wanted, others)
    if max(said, default=0) < _SAME_MATTER * len(wanted):
        said = [len(wanted & _stems_of(span)) for span in spans]
    if max(said, default=0) == 0:
        return ""
    kept: list[str] = []
    going_on = False
    for span, shared in zip(spans, said, strict=True):
        goes_on = going_on and not shared and bool(_GOES_ON.match(span))
        going_on = shared >= _SAME_MATTER * max(said) or goes_on
        if going_on:
            kept.append(span)
    return " ".join(kept)


def _on_it_alone(spans: Sequence[str], wanted: frozenset[str], served: Sequence[frozenset[str]]) -> list[int]:
    """Return how many of the wanted words each span has; 0 for a span with all words of what another part is for."""
    others = [other - wanted for other in served if wanted - other and other - wanted]
    there = [_stems_of(span) for span in spans]
    return [len(wanted & said) * (not any(other <= said for other in others)) for said in there]


def _stems_of(text: str) -> set[str]:
    return {stem(w) for w in content_words(text)}


def _cut(sentence: str, things: Sequence[frozenset[str]]) -> list[str]:
    """Split a sentence about several of the things that parts are for where it moves from one to the next."""
    spans: list[str] = []
    about: frozenset[str] = frozenset()
    for start, end in pairwise([0, *(m.end() for m in _GOES_OVER.finditer(sentence)), len(sentence)]):
        said = _stems_of(sentence[start:end])
        found = [thing for thing in things if len(thing & said) >= _SAME_MATTER * len(thing)]
        if about and any(not thing & about for thing in found):
            spans.append(sentence[start:end])
        elif spans:
            spans[-1] += sentence[start:end]
        else:
            spans = [sentence[start:end]]
        about = next(iter(found), about)
    return [span.strip(" ,;") for span in spans]
