"""Whether two statements pull the same way: directions, denials, and who something belongs to."""

import re
from typing import Literal

from chatbot.names import makers, names
from chatbot.words import content_words, stem, stems, stems_and_groups, synonyms

_UP = re.compile(
    r"\b(?:higher|more|greater|increase[sd]?|longer|rise[sn]?|rose|raise[sd]?|grew|up by|expensive|pricier|worse|heavier|larger|bigger|highest|most|slower|hotter|doubles?)\b",
    re.IGNORECASE,
)
_DOWN = re.compile(
    r"\b(?:lower|less|fewer|decrease[sd]?|shorter|reduc\w+|cuts?|cheaper|down by|smaller|lighter|lowest|least|saves?|saved|savings?|discount|cutting|chopping|drops?|fell|falls?|halves)\b",
    re.IGNORECASE,
)
_SUPERLATIVE = re.compile(
    r"\b(?:most|least|best|worst|(?:low|high|green|fast|cheap|large|small|slow|clean)est|only|always|every|all)\b",
    re.IGNORECASE,
)
_OWNER = re.compile(r"\b(?P<owner>[A-Z]\w+)['’]s\b|\b(?:by|from|product of|made by|built by)\s+(?P<maker>[A-Z]\w+)")
_DENIES = re.compile(
    r"\b(?:not|never|no|cannot|can't|isn't|aren't|doesn't|don't|without|neither|nor|unsuitable|hardly|(?:misconception|myth|false impression|mistaken belief) that)\b",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"[,;]?\s*(?:isn't it|doesn't it|aren't they|don't they|right|correct|true|is that (?:right|correct|true)|no|yes|or not)\s*\??\s*$",
    re.IGNORECASE,
)
# "Inferentia is for training, right? How many do I need?"
_MID_TAG = re.compile(
    r"[,;]?\s+(?:right|correct|isn't it|doesn't it|aren't they|don't they)\s*\?\s+(?=\w)", re.IGNORECASE
)
_OPENING = re.compile(
    r"^\W*(?:(?:so|and|but|ok|okay|hi|hello)\b\W*)*(?:is it (?:true|right|correct) that|true or false\W|(?:i|we) (?:heard|read|think|thought|assume|believe) (?:that )?|(?:am i|are we) right that)\s*",
    re.IGNORECASE,
)
# "Isn't it slow?" asks whether it is slow.
_DENYING_QUESTION = re.compile(
    r"^(?P<verb>is|are|was|were|does|do|did|should|could|would|have|has|had|(?P<can>ca)|(?P<will>wo))n['’]?t\b",
    re.IGNORECASE,
)
_ABSENCE = re.compile(r"\bwithout\s+(?P<what>[^,.;:?!]+)", re.IGNORECASE)
# A reason behind a denial is not denied; a condition is part of it.
_CLAUSE_END = re.compile(r"[,.;:]|\b(?:because|since|due to|as (?:it|its|they|their|the))\b", re.IGNORECASE)
_CLAUSE_START = re.compile(r"[,.;:]|\b(?:and|but|while|whereas)\b", re.IGNORECASE)
_SHORT_ANSWER = re.compile(r"\W*(?P<word>yes|no)\b(?=\s*[.,;:!–—-])", re.IGNORECASE)
# Words for being fit for something, all the same to a claim.
_SUITED_WORDS = """
suited suitable suits suit fit fits good ideal designed built recommended optimised optimized intended meant
"""
# Denied with another word, these add nothing to it: "not supported for training".
_ALLOWED = frozenset(["supported", "available", "possible", "allowed", "used", "use"])
_SUITED = frozenset(_SUITED_WORDS.split())
_REACH = 5


def claim_of(question: str) -> str:
    """What a yes-or-no question claims: without "is it true that" and without "doesn't it?"."""
    claim = _TAG.sub("", _OPENING.sub("", _MID_TAG.split(question.strip())[0])).strip()
    return _DENYING_QUESTION.sub(lambda m: "can" if m["can"] else "will" if m["will"] else m["verb"], claim)


def short_answer(text: str) -> Literal["yes", "no"] | None:
    """The "yes" or "no" that an answer begins with; None where it begins with neither."""
    match = _SHORT_ANSWER.match(text)
    return None if match is None else "yes" if match["word"].lower() == "yes" else "no"


def without_shared_absence(claim: str, text: str) -> tuple[str, str]:
    """Both without their "without ...", where they lack the same thing: that is a circumstance, and denies nothing of the other."""
    here, there = _ABSENCE.search(claim), _ABSENCE.search(text)
    if not (here and there and stems(here["what"]) & stems(there["what"])):
        return claim, text
    return _ABSENCE.sub(r"\g<what>", claim), _ABSENCE.sub(r"\g<what>", text)


def denies(text: str) -> bool:
    """Whether a text denies something."""
    return bool(_DENIES.search(text))


def denied_words(text: str) -> frozenset[str]:
    """The stems of the content words that stand right after a denial."""
    found: set[str] = set()
    for match in _DENIES.finditer(text):
        following = re.split(r"[,.;:]", text[match.end() :])[0].split()[:_REACH]
        found |= {stem(w) for w in content_words(" ".join(following))}
    return frozenset(found)


def denies_claim(claim: str, text: str) -> bool:
    """Whether a text denies what a claim says: most of what stands behind a denial, up to the end of its clause.

    "Do not use it for endpoints" denies nothing of a claim that does not speak of endpoints.
    """
    asked = {stem(w) for w in content_words(claim)}
    groups = {g for w in content_words(claim) for g in synonyms(w)}
    for match in _DENIES.finditer(text):
        denied = content_words(_CLAUSE_END.split(text[match.end() :])[0])
        subject = _CLAUSE_START.split(text[: match.start()])[-1]
        denied = [w for w in denied if w not in _SUITED | _ALLOWED] or denied
        covered = sum(stem(w) in asked or bool(synonyms(w) & groups) for w in denied)
        if denied and 2 * covered > len(denied) and _may_be_subject(subject, asked, groups):
            return True
    return False


def _may_be_subject(subject: str, asked: set[str], groups: set[str]) -> bool:
    """Whether the words before a denial are of the claim, some at least; names are held against it elsewhere."""
    named = {w for name in names(subject) for w in content_words(name.text)}
    own = [w for w in content_words(subject) if w not in named]
    return not own or any(stem(w) in asked or synonyms(w) & groups for w in own)


def opposed_direction(claim: str, text: str) -> bool:
    """Whether one says more where the other says less."""
    up, down = bool(_UP.search(claim)), bool(_DOWN.search(claim))
    there_up, there_down = bool(_UP.search(text)), bool(_DOWN.search(text))
    return (up and not down and there_down and not there_up) or (down and not up and there_up and not there_down)


def superlative(text: str) -> bool:
    """Whether a text says that something is the most or the least of all."""
    return bool(_SUPERLATIVE.search(text))


def other_owner(claim: str, text: str) -> bool:
    """Whether a claim gives something to a maker or another proper name that the text does not have, where the text names one."""
    mine, theirs = set(makers(claim)), set(makers(text))
    if mine and theirs and not mine & theirs:
        return True
    owners = [m["owner"] or m["maker"] for m in _OWNER.finditer(claim)]
    strangers = [n for n in owners if n.lower() not in text.lower() and not synonyms(n.lower())]
    return bool(strangers and (theirs - mine) and not mine)


def uncovered(claim: str, text: str) -> list[str]:
    """The content words of a claim that a text neither holds nor has a synonym for."""
    there, groups = stems_and_groups(text)
    is_suited = bool(_SUITED & set(content_words(text)))
    return [
        w
        for w in content_words(claim)
        if stem(w) not in there and not synonyms(w) & groups and not (is_suited and w in _SUITED)
    ]
