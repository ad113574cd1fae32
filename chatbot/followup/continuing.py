"""Follow-ups that are a part of a question: "and for inference?", "the L40S?", "in dollars?"."""

import re

from chatbot.asked_quantity import asked_dimensions
from chatbot.followup.carrying import (
    bare,
    is_plural,
    with_amount,
    with_clause,
    with_format,
    with_maker,
    with_name,
    with_place,
    with_size,
    with_task,
    with_topic,
)
from chatbot.followup.reacting import proposal, with_the
from chatbot.followup.referents import Said, about, hardware, topic
from chatbot.names import names
from chatbot.words import content_words, synonyms

_PROPERTIES = frozenset(
    ["energy", "footprint", "cost", "memory", "network", "storage", "latency", "time", "cooling", "utilization"]
)
_SIZE = re.compile(r"(?<![\w.])\.?(\d{1,2}xl(?:arge)?|xlarge|metal)\b", re.IGNORECASE)
_UNIT = re.compile(
    r"^in\s+(?:us\s+)?(?:dollars|usd|euros?|percent|%|\w*watts?|\w*hours|minutes|days|weeks|[gt]i?b|tflops)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"^(?:for|with|on|in|at|if|when|without|as|under|over|from|only|per|during|using|not|but|while|because|to|of|by)\s",
    re.IGNORECASE,
)
_SUPERLATIVE = re.compile(r"\b(?:most|least|best|worst|\w{3,}est)\b", re.IGNORECASE)
_PADDING = re.compile(
    r"^the same\s+|[\s,]+(?:please|instead|then|too|as well|again|thanks)(?=[\s.!?]*$)", re.IGNORECASE
)
_MORE = re.compile(
    r"^(?:tell me more|more(?: details?)?|(?:any )?details?|go on|continue|elaborate|(?:can you )?(?:explain|elaborate)(?: (?:that|this|it|more))?)\W*$",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(r"^(?:(?:an?|any|for|such as|like)\s+)?(?:examples?|instance|what)\W*$", re.IGNORECASE)
_WHENCE = re.compile(r"^(?:(?:the|any|your|what)\s+)?(?:sources?|references?|citations?|says who)\W*$", re.IGNORECASE)
_WHOSE = re.compile(
    r"\bwhose\s+((?:[\w-]+\s+){1,3}?)(?:is|are|has)\b|^what is [\w .-]+'s\s+(software[\w ]*)\W*$", re.IGNORECASE
)


def of_fragment(text: str, said: Said) -> str | None:
    """The last question with the part changed or added that the fragment gives."""
    fragment, before = _PADDING.sub("", bare(text).strip()), said.question
    if found := of_request(fragment, said) or with_format(before, fragment):
        return found
    if _UNIT.match(fragment):
        return f"{bare(before)} {fragment}?"
    if hardware(fragment):
        return _named(fragment, said)
    if (owner := re.match(r"([A-Z]\w*)['’]s?$", fragment)) and (owned := _owned(before)):
        return f"What is {owner[1]}'s {owned}?"
    changed = with_clause(before, fragment) or (with_maker(before, fragment) if len(fragment.split()) <= 3 else None)
    return changed or _retasked(before, fragment) or _described(fragment, said)


def of_request(text: str, said: Said) -> str | None:
    """ "Tell me more", "an example?", "source?": more of what was answered."""
    if _WHENCE.match(text):
        return f"{bare(said.question)}, and which source says so?"
    thing = with_the(about(said), said)
    if thing and _EXAMPLE.match(text):
        return f"What is an example of {thing}?"
    return f"Tell me more about {thing}." if thing and _MORE.match(text) else None


def _retasked(before: str, fragment: str) -> str | None:
    """The last question with the size and the task of the fragment, where it gives them."""
    resized = with_size(before, fragment)
    return with_task(resized or before, fragment) or resized


def _named(fragment: str, said: Said) -> str | None:
    before, mine = said.question, [n for n in names(fragment) if n.kind != "region"]
    if re.search(r"\bof\b", fragment) and len(content_words(fragment)) > len(mine):
        return f"{fragment}?"
    if (size := _SIZE.search(fragment)) and re.fullmatch(r"[a-z]{1,5}\d[a-z]*", mine[0].text.lower()):
        fragment = f"{mine[0].text.lower()}.{re.sub('xl$', 'xlarge', size[1].lower())}"
    if owned := _owned(before):
        return f"What is {mine[0].name}'s {owned}?"
    if matched := _with_matter(before, fragment):
        return matched
    short = len(mine) > 1 or len(fragment.split()) <= 3
    changed = with_name(_retasked(before, fragment) or before, fragment if short else mine[0].name, mine[0])
    changed = changed or proposal(said, fragment) or with_place(before, fragment)
    return changed or with_topic(before, topic(before), fragment) or f"{bare(before)} for {fragment}?"


def _with_matter(before: str, fragment: str) -> str | None:
    """ "Trainium for BERT Large" changes the name and what it is for."""
    subject, joint, matter = fragment.partition(" for ")
    if not joint or not names(subject):
        return None
    if tail := re.search(r"\bfor [\w .-]+$", bare(before)):
        return with_name(f"{before[: tail.start()]}for {matter}?", subject, names(subject)[0])
    changed = with_name(before, subject, names(subject)[0])
    return f"{bare(changed)} for {matter}?" if changed else None


def _owned(question: str) -> str:
    """What is asked of each maker: "Whose software stack …", "What is AMD's software stack?"."""
    owned = _WHOSE.search(question)
    return (owned[1] or owned[2]).strip() if owned else ""


def _described(fragment: str, said: Said) -> str | None:
    """A property of what was spoken of, or a condition of what was asked."""
    if _CONDITION.match(fragment):
        return with_place(said.question, fragment) or f"{bare(said.question)}, {fragment}?"
    if is_property(fragment) and (changed := with_amount(said.question, fragment)):
        return changed
    name = re.sub(r"^(?:its|their|the)\s+", "", fragment, flags=re.IGNORECASE)
    if not (hardware(said.question) or name != fragment or is_property(fragment)) or _SUPERLATIVE.search(fragment):
        if changed := with_topic(said.question, topic(said.question), fragment):
            return changed
        if _SUPERLATIVE.search(fragment) or not about(said):
            return f"{bare(said.question)}, {fragment}?"
    return f"What {'are' if is_plural(name) else 'is'} the {name} of {about(said)}?" if about(said) else None


def is_property(words: str) -> bool:
    """Whether words say what could be asked of hardware: "memory", "retail price"."""
    last = (words.lower().split() or [""])[-1]
    return bool(asked_dimensions(last)[0] or synonyms(last) & _PROPERTIES)
