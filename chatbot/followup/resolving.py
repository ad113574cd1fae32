"""Follow-ups with pronouns: what "it" and "they" stand for is put in their place."""

import re

from chatbot.followup.reacting import with_the
from chatbot.followup.referents import (
    HARDWARE_NOUN,
    Said,
    hardware,
    joined,
    plural,
    singular_of,
)

# "That" and "this" are pronouns after these words and before those; elsewhere they join clauses or stand before a noun.
_BEFORE = "|".join(
    rf"(?<=\b{word} )"
    for word in [
        "with",
        "of",
        "for",
        "on",
        "than",
        "like",
        "to",
        "in",
        "about",
        "from",
        "by",
        "has",
        "did",
        "does",
        "will",
        "can",
        "would",
        "could",
        "do",
        "mean",
        "use",
        "buy",
        "get",
    ]
)
_AFTER = (
    r"is|was|does|did|has|have|can|could|will|would|should|means?|saves?|costs?|takes?|works?|run|fit|in|on|for|with"
    r"|per|at|to|and|or|too|also|back|emit|me|you|us"
)
_SINGULAR = re.compile(
    rf"\b(?:its|it(?!')|(?:that|this|the same|the former|such an?) (?:thing|one|model|{HARDWARE_NOUN})"
    rf"|(?:{_BEFORE}|(?<=, )|^)(?:that|this)(?!\s+(?!(?:{_AFTER})\b)\w)|(?<=\bis )(?:that|this)|(?<=\bwas )(?:that|this)|one(?=\?|$))(?=\W|$)",
    re.IGNORECASE,
)
_PLURAL = re.compile(
    rf"\b(?:they|them|their|(?:those|these)(?: (?:two|ones|{HARDWARE_NOUN}))?|each of them)\b", re.IGNORECASE
)
# The "it" of "is it possible to train …" stands for nothing.
_EMPTY_IT = re.compile(
    r"\bit\b(?=\s+(?:possible|better|worth|true|ok|safe|necessary|enough|make sense|matter|takes?|cost)\b.*\b(?:to|that|if)\b)"
    r"|(?<=\bis )it(?=\s+(?!supposed\b|meant\b|able\b|said\b|built\b|designed\b|used\b|expected\b)\w+\s+to\b)",
    re.IGNORECASE,
)
_BREAK = re.compile(r"[.,;:!?]\s|\b(?:and|if|when|because|while)\s", re.IGNORECASE)
_BINDS_ONE = re.compile(r"\b(?:an?|my|our)\s+(?!few\b|lot\b|bit\b)[\w-]+", re.IGNORECASE)
_BINDS_MANY = re.compile(
    r"\b(?:the|my|our|your|which|some|all|two|\d+)\s+(?:[\w-]+\s+)?[a-z-]{2,}(?<!s)s\b", re.IGNORECASE
)


def of_pronoun(text: str, said: Said) -> str | None:
    """The question with its pronouns replaced by what they stand for; None where it has none to replace."""
    resolved = _of_one(_of_many(text, said), said)
    return resolved if resolved != text else None


def _of_many(text: str, said: Said) -> str:
    match, things = _PLURAL.search(text), plural(said)
    if match is None or not things or _is_bound(text, match, _BINDS_MANY):
        return text
    return _put(text, match, joined(things))


def _of_one(text: str, said: Said) -> str:
    free = (m for m in _SINGULAR.finditer(text) if not _EMPTY_IT.match(text, m.start()))
    match = next((m for m in free if not _is_bound(text, m, _BINDS_ONE)), None)
    subject = singular_of(match.group(), said) if match else ""
    if match is None or not subject:
        return text
    return _put(text, match, with_the(subject, said))


def _put(text: str, pronoun: re.Match[str], thing: str) -> str:
    possessive = "'s" if pronoun.group().lower() in ("its", "their") else ""
    return f"{text[: pronoun.start()]}{thing}{possessive}{text[pronoun.end() :]}"


def _is_bound(text: str, pronoun: re.Match[str], binds: re.Pattern[str]) -> bool:
    """Whether an earlier clause of the same question says what the pronoun means."""
    breaks = list(_BREAK.finditer(text, 0, pronoun.start()))
    earlier = text[: breaks[-1].start()] if breaks else ""
    return bool(hardware(earlier) or binds.search(earlier))
