"""Follow-ups that are a part of a question: "and for inference?", "the L40S?"."""

import re

from chatbot.followup.carrying import (
    bare,
    is_plural,
    with_name,
    with_place,
    with_size,
    with_task,
    with_topic,
)
from chatbot.followup.referents import Said, about, hardware, topic
from chatbot.names import names
from chatbot.words import content_words

_CONDITION = re.compile(
    r"^(?:for|with|on|in|at|if|when|without|as|under|over|from|only|per|during|using|not|but|while|because|to|of|by)\s",
    re.IGNORECASE,
)
_PADDING = re.compile(
    r"^the same\s+|[\s,]+(?:please|instead|then|too|as well|again|thanks)(?=[\s.!?]*$)", re.IGNORECASE
)
_WHOSE = re.compile(
    r"\bwhose\s+((?:[\w-]+\s+){1,3}?)(?:is|are|has)\b|^what is [\w .-]+'s\s+(software[\w ]*)\W*$", re.IGNORECASE
)


def of_fragment(text: str, said: Said) -> str | None:
    """The last question with the part changed or added that the fragment gives."""
    fragment, before = _PADDING.sub("", bare(text).strip()), said.question
    if hardware(fragment):
        return _named(fragment, said)
    if (owner := re.match(r"([A-Z]\w*)['’]s?$", fragment)) and (owned := _owned(before)):
        return f"What is {owner[1]}'s {owned}?"
    return _retasked(before, fragment) or _described(fragment, said)


def _retasked(before: str, fragment: str) -> str | None:
    """The last question with the size and the task of the fragment, where it gives them."""
    resized = with_size(before, fragment)
    return with_task(resized or before, fragment) or resized


def _named(fragment: str, said: Said) -> str | None:
    before, mine = said.question, [n for n in names(fragment) if n.kind != "region"]
    if re.search(r"\bof\b", fragment) and len(content_words(fragment)) > len(mine):
        return f"{fragment}?"
    if owned := _owned(before):
        return f"What is {mine[0].name}'s {owned}?"
    short = len(mine) > 1 or len(fragment.split()) <= 3
    changed = with_name(_retasked(before, fragment) or before, fragment if short else mine[0].name, mine[0])
    changed = changed or with_place(before, fragment)
    return changed or with_topic(before, topic(before), fragment) or f"{bare(before)} for {fragment}?"


def _owned(question: str) -> str:
    """What is asked of each maker: "Whose software stack …", "What is AMD's software stack?"."""
    owned = _WHOSE.search(question)
    return (owned[1] or owned[2]).strip() if owned else ""


def _described(fragment: str, said: Said) -> str | None:
    """A property of what was spoken of, or a condition of what was asked."""
    if _CONDITION.match(fragment):
        return with_place(said.question, fragment) or f"{bare(said.question)}, {fragment}?"
    name = re.sub(r"^(?:its|their|the)\s+", "", fragment, flags=re.IGNORECASE)
    if not hardware(said.question) and name == fragment:
        changed = with_topic(said.question, topic(said.question), fragment)
        if changed or not about(said):
            return changed or f"{bare(said.question)}, {fragment}?"
    return f"What {'are' if is_plural(name) else 'is'} the {name} of {about(said)}?" if about(said) else None


