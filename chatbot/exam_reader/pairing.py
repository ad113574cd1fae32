"""Split a sentence about several things into clauses: "C instances have 2 GiB, M instances 4 GiB" gives 4 GiB to M alone."""

import re
from dataclasses import dataclass
from functools import lru_cache

from chatbot.exam_reader.entailment import denied
from chatbot.language.words import content_words, stem, words

_APART = re.compile(
    r";\s+|\.\s+(?=[A-Z])|,?(?<!\s)\s++(?:while|whereas|but)\s+|,\s+(?:and|which|that|so)\s+", re.IGNORECASE
)
# The separators in a list of figures, each after the thing it belongs to.
_LISTED = re.compile(r",\s+(?:and\s+)?|(?<!\s)\s++and\s+")
# Where the subject of a clause ends: at its verb, or at the figure that it gives.
_SUBJECT_END = re.compile(
    r"(?<!^)\b(?:is|are|was|were|has|have|had|do|does|did|can|cannot|may|must|should|will|would|gives?|lets?|suits?"
    r"|(?:need|cost|take|run|use|keep|offer|mean|hold|make|appl(?:y|ie)|carr(?:y|ie)|lose|pack|warn|cover|reserve|require|replace|reach|work|stop|begin|start|end)(?:e?s)?)\b"
    r"|(?<![\w.-])\d",
    re.IGNORECASE,
)
_AUXILIARY = r"(?:can|do|does|did|is|are|was|were|has|have)"
# "… can be bought as Spot Instances; P6e instances cannot": the predicate stands in the clause before.
_ELLIPTIC = re.compile(rf"(?P<subject>.+?\b{_AUXILIARY}(?: ?not|n['’]t)?)\W*", re.IGNORECASE)
_PREDICATE = re.compile(rf"(?:{_AUXILIARY}|cannot)\b(?:\s+not\b)?\s*", re.IGNORECASE)
_LETTER = re.compile(r"(?<![\w.-])[B-Z](?![\w.-])")
_LONGEST_SUBJECT = 8


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause about one thing: its text and, as stems, the thing, all words, and the words that are denied."""

    text: str
    subject: frozenset[str]
    said: frozenset[str]
    denied: frozenset[str]


@lru_cache(maxsize=8_192)
def clauses(text: str) -> tuple[Clause, ...]:
    """Split a sentence into clauses with one subject each; a sentence about one thing is a single clause."""
    pieces = [piece for whole in _APART.split(text) for piece in _figures(whole)]
    joined: list[str] = []
    for piece in pieces:
        if joined and not _subject(piece):
            joined[-1] += f", {piece}"
        else:
            joined.append(_completed(piece, joined[-1]) if joined else piece)
    return tuple(Clause(piece, _subject(piece), stems_and_letters(piece), denied(piece)) for piece in joined)


def stems_and_letters(text: str) -> frozenset[str]:
    """Return the stems of content words, and single capital letters, which name instance families."""
    return frozenset(map(stem, content_words(text))) | {w.lower() for w in _LETTER.findall(text)}


def _figures(text: str) -> list[str]:
    """Split a list of figures; "st1 and sc1 cannot be boot volumes" is none, because nothing is said of st1 before "and"."""
    pieces = _LISTED.split(text)
    told = all(any(c.isdigit() for c in piece) and _SUBJECT_END.search(piece) for piece in pieces)
    return pieces if told else [text]


def _completed(clause: str, before: str) -> str:
    """Complete a clause without a predicate by that of the clause before it."""
    elliptic, verb = _ELLIPTIC.fullmatch(clause), _SUBJECT_END.search(before)
    if not elliptic or not verb:
        return clause
    return f"{elliptic['subject']} {_PREDICATE.sub('', before[verb.start() :], count=1)}"


def _subject(text: str) -> frozenset[str]:
    match = _SUBJECT_END.search(text)
    beginning = text[: match.start()] if match else text
    return stems_and_letters(beginning) if 0 < len(words(beginning)) <= _LONGEST_SUBJECT else frozenset()


def is_of_another(wanted: frozenset[str], given: frozenset[str], text: str) -> bool:
    """Whether a sentence says what is wanted only of another thing, although it also speaks of the given one."""
    found = clauses(text)
    if len(found) < 2:
        return False
    common = frozenset.intersection(*(c.subject for c in found))
    own = [c.subject - common for c in found]
    most = max(len(wanted & c.said) for c in found)
    holds = [len(wanted & c.said) == most > 0 for c in found]
    given = given - wanted
    of_given = [bool(subject & given) for subject in own]
    return (
        any(holds)
        and any(of_given)
        and not any(of and held for of, held in zip(of_given, holds, strict=True))
        and all(subject for subject, held in zip(own, holds, strict=True) if held)
    )


def clause_of(wanted: frozenset[str], text: str) -> Clause | None:
    """Return the clause that says most of what is wanted; None for a single clause or if several clauses say as much."""
    found = clauses(text)
    ranked = sorted(found, key=lambda c: -len(wanted & c.said))
    shared = [len(wanted & c.said) for c in ranked]
    return ranked[0] if len(found) > 1 and shared[0] > shared[1] else None
