"""Whether two statements pull the same way: directions, denials, and the words of one that the other lacks."""

import re
from typing import Literal

from chatbot.words import content_words, stem, stems_and_groups, synonyms

_UP = re.compile(
    r"\b(?:higher|more|greater|increase[sd]?|longer|rise[sn]?|rose|raise[sd]?|grew|up by|expensive|pricier|worse|heavier|larger|bigger|highest|most|slower|hotter|doubles?)\b",
    re.IGNORECASE,
)
_DOWN = re.compile(
    r"\b(?:lower|less|fewer|decrease[sd]?|shorter|reduc\w+|cuts?|cheaper|down by|smaller|lighter|lowest|least|saves?|saved|savings?|discount|cutting|chopping|drops?|fell|falls?|halves)\b",
    re.IGNORECASE,
)
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
_SHORT_ANSWER = re.compile(r"\W*(?P<word>yes|no)\b(?=\s*[.,;:!–—-])", re.IGNORECASE)
# Words for being fit for something, all the same to a claim.
_SUITED = frozenset(["suited", "suitable", "suits", "suit", "fit", "fits", "good", "ideal", "designed", "built", "recommended", "optimised", "optimized", "intended", "meant"])


def claim_of(question: str) -> str:
    """What a yes-or-no question claims: without "is it true that" and without "doesn't it?"."""
    claim = _TAG.sub("", _OPENING.sub("", _MID_TAG.split(question.strip())[0])).strip()
    return _DENYING_QUESTION.sub(lambda m: "can" if m["can"] else "will" if m["will"] else m["verb"], claim)


def short_answer(text: str) -> Literal["yes", "no"] | None:
    """The "yes" or "no" that an answer begins with; None where it begins with neither."""
    match = _SHORT_ANSWER.match(text)
    return None if match is None else "yes" if match["word"].lower() == "yes" else "no"


def denies(text: str) -> bool:
    """Whether a text denies something."""
    return bool(_DENIES.search(text))


def opposed_direction(claim: str, text: str) -> bool:
    """Whether one says more where the other says less."""
    up, down = bool(_UP.search(claim)), bool(_DOWN.search(claim))
    there_up, there_down = bool(_UP.search(text)), bool(_DOWN.search(text))
    return (up and not down and there_down and not there_up) or (down and not up and there_up and not there_down)


def uncovered(claim: str, text: str) -> list[str]:
    """The content words of a claim that a text neither holds nor has a synonym for."""
    there, groups = stems_and_groups(text)
    is_suited = bool(_SUITED & set(content_words(text)))
    return [
        w
        for w in content_words(claim)
        if stem(w) not in there and not synonyms(w) & groups and not (is_suited and w in _SUITED)
    ]
