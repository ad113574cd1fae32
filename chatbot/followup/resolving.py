"""Follow-ups with pronouns: what "it", "they", "both" and "the second one" stand for is put in their place."""

import re

from chatbot.followup.carrying import bare, is_plural
from chatbot.followup.reacting import with_the
from chatbot.followup.referents import (
    HARDWARE_NOUN,
    Said,
    about,
    hardware,
    joined,
    pair,
    plural,
    singular_of,
    topic,
    units,
)
from chatbot.names import names

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
_NO_PLACE = r"\b(?! (?:time|place|step|generation|trn|inf|year|month|day))"
_PAIR = re.compile(
    r"\b(?:the two|both|either)(?: of them)?\b(?! (?:sizes|types|sources|articles|figures))", re.IGNORECASE
)
_FIRST = re.compile(rf"\b(?:the )?(?:first|former)(?: one)?{_NO_PLACE}", re.IGNORECASE)
_SECOND = re.compile(rf"\b(?<!per )(?:the )?(?:second|latter)(?: one)?{_NO_PLACE}", re.IGNORECASE)
_ANOTHER = re.compile(r"(?:(?<=\bhave )|(?<=\boffer )|(?<=\bmake ))one\b", re.IGNORECASE)
_AUTHORS = re.compile(
    r"\b(?:(?P<verb>do|did|have|are|were)\s+)?they(?=\s+(?:give|say|claim|mention|write|state|recommend|suggest|name|cite|quote|advise|explain|tell)\b)",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r"\b(?:the|this|that)\s+((?:[\w-]+\s+){0,2}(?:notes?|articles?|blogs?|posts?|guides?|papers?|pages?|documents?|study|studies))\b",
    re.IGNORECASE,
)
_MATTER = re.compile(r"^how (?:many|much)\s+(?!does\b|do\b|did\b|is\b|less\b|more\b)([\w-]+)", re.IGNORECASE)
_LASTING = re.compile(
    r"\b(?:that|this|it)\b(?=(?:\s+\w+)?\s+(?:takes?|last)\b)|(?<=take )(?:that|this|it)\b", re.IGNORECASE
)
_ACTIVITY = re.compile(r"\bto\s+(?:pre-?train|train|fine-?tune|serve|deploy|host|run)\b[^?.,;]*", re.IGNORECASE)
_EVENT = re.compile(
    r"\b(?:did|does|would|will)\s+(?:that|this)\s+(?:save|cost|emit|use|bring|reduce|need)\b", re.IGNORECASE
)
_CIRCUMSTANCE = re.compile(r"\b(?:for|in|with|during)\s+(?:the|its|their|our)\s+[^?.,;]+$", re.IGNORECASE)
_BREAK = re.compile(r"[.,;:!?]\s|\b(?:and|if|when|because|while)\s", re.IGNORECASE)
_BINDS_ONE = re.compile(r"\b(?:an?|my|our)\s+(?!few\b|lot\b|bit\b)[\w-]+", re.IGNORECASE)
_BINDS_MANY = re.compile(
    r"\b(?:the|my|our|your|which|some|all|two|\d+)\s+(?:[\w-]+\s+)?[a-z-]{2,}(?<!s)s\b", re.IGNORECASE
)
_SINGULAR_VERBS = {"do": "does", "have": "has", "are": "is", "were": "was"}


def of_pronoun(text: str, said: Said) -> str | None:
    """The question with its pronouns replaced by what they stand for; None where it has none to replace."""
    resolved = _of_another(text, said) or _of_authors(text, said) or _of_work(text, said) or _of_pair(text, said)
    resolved = resolved or _of_one(_of_many(text, said), said)
    return resolved if resolved != text else None


def _of_another(text: str, said: Said) -> str | None:
    """ "Does Intel have one too?": one of what the last question asked of another maker."""
    another, owned = _ANOTHER.search(text), re.search(r"['’]s\s+([^?]+)", bare(said.question))
    return f"{text[: another.start()]}a {owned[1]}{text[another.end() :]}" if another and owned else None


def _of_authors(text: str, said: Said) -> str | None:
    """ "They" who give an example are who wrote the source."""
    match = _AUTHORS.search(text)
    if match is None:
        return None
    source = _SOURCE.search(said.question)
    who = f"the {source[1]}" if source else "the sources"
    verb = (match["verb"] or "").lower()
    verb = verb if is_plural(who) else _SINGULAR_VERBS.get(verb, verb)
    whole = f"{text[: match.start()]}{verb} {who}{text[match.end() :]}".replace("  ", " ").strip()
    if names(whole) or not about(said):
        return whole
    matter = _MATTER.match(said.question)
    return f"{bare(whole)} {f'of {matter[1]} ' if matter else ''}for {about(said)}?"


def _of_work(text: str, said: Said) -> str | None:
    """What takes long is the work that was spoken of: "How long does it take to train a 70B model?"."""
    match = _LASTING.search(text)
    if match is None or _EMPTY_IT.search(text) or names(text):
        return None
    if work := _ACTIVITY.search(bare(said.question)):
        return f"{text[: match.start()]}it{bare(text[match.end() :])} {work.group()}?"
    thing = topic(said.question) if not hardware(said.question) else ""
    return _put(text, match, thing) if thing else None


def _of_pair(text: str, said: Said) -> str | None:
    if hardware(text) or not (_PAIR.search(text) or _FIRST.search(text) or _SECOND.search(text)):
        return None
    two = pair(said)
    if len(two) < 2:
        return None
    text = _SECOND.sub(lambda _: two[1], text)
    return _FIRST.sub(lambda _: two[0], _PAIR.sub(lambda _: f"{two[0]} and {two[1]}", text))


def _of_many(text: str, said: Said) -> str:
    match, things = _PLURAL.search(text), plural(said)
    if match is None or not things or _is_bound(text, match, _BINDS_MANY):
        return text
    if re.search(r"\bhow many of\s+$", text[: match.start()], re.IGNORECASE):
        needed = _ACTIVITY.search(bare(said.question)) if not re.search(r"\w", text[match.end() :]) else None
        rest = f" do I need {needed.group()}?" if needed else text[match.end() :]
        return f"{text[: match.start() - len('of ')]}{units(things[0])}{rest}"
    whole = _put(text, match, joined(things))
    return whole if is_plural(joined(things)) else _in_singular(whole, joined(things))


def _in_singular(text: str, subject: str) -> str:
    """ "Do Trainium" and "Trainium have" with the verb in agreement."""

    def agreeing(match: re.Match[str]) -> str:
        return match[1] + _SINGULAR_VERBS[match[2].lower()] + match[3]

    verbs, name = "do|have|are|were", re.escape(subject)
    text = re.sub(rf"(\b)({verbs})(\s+{name}\b)", agreeing, text, count=1, flags=re.IGNORECASE)
    return re.sub(rf"(?<!does )({name}\s+)({verbs})(\b)", agreeing, text, count=1, flags=re.IGNORECASE)


def _of_one(text: str, said: Said) -> str:
    free = (m for m in _SINGULAR.finditer(text) if not _EMPTY_IT.match(text, m.start()))
    match = next((m for m in free if not _is_bound(text, m, _BINDS_ONE)), None)
    subject = singular_of(match.group(), said) if match else ""
    if match is None or not subject:
        return text
    whole = _put(text, match, with_the(subject, said))
    circumstance = _CIRCUMSTANCE.search(bare(said.question)) if _EVENT.search(text) else None
    return f"{bare(whole)} {circumstance.group()}?" if circumstance else whole


def _put(text: str, pronoun: re.Match[str], thing: str) -> str:
    possessive = "'s" if pronoun.group().lower() in ("its", "their") else ""
    return f"{text[: pronoun.start()]}{thing}{possessive}{text[pronoun.end() :]}"


def _is_bound(text: str, pronoun: re.Match[str], binds: re.Pattern[str]) -> bool:
    """Whether an earlier clause of the same question says what the pronoun means."""
    breaks = list(_BREAK.finditer(text, 0, pronoun.start()))
    earlier = text[: breaks[-1].start()] if breaks else ""
    return bool(hardware(earlier) or binds.search(earlier))
