"""Follow-ups that leave out what they are about: "how many cores?", "which generations are there?"."""

import re

from chatbot.asked_quantity import asked_dimensions
from chatbot.followup.carrying import bare, is_plural
from chatbot.followup.reacting import with_the
from chatbot.followup.referents import Said, about, hardware, proper
from chatbot.names import makers, names
from chatbot.quantities import quantities
from chatbot.words import content_words

_WHICH = re.compile(
    r"^(?:which|what)\s+(?P<what>(?!is\b|are\b|about\b|else\b|do\b|does\b)[\w-]+(?:\s+(?!(?:has|have|is|are|do|does|that|can|should)\b)[\w-]+){0,2}?)"
    r"(?:\s+(?:are|is) (?:there|(?:we|you) talking about|meant|those|these|it|that|this)|\s+do you mean)?\W*$",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:i|we|my|our|me|us)\b", re.IGNORECASE)
# A question that says itself what it is about: "what is PUE?", "how do savings plans work?", "the footprint of my job".
_OWN_TOPIC = re.compile(
    r"^(?:what|who)(?:'s| is| are| was| were| does| do)\s+(?!(?:the|its|their|that|this|it|they|there)\b)"
    r"|^how (?:do|does|can|is|are|did|should|to)\s+(?!(?:it|they|the|that)\b)"
    r"|^(?:explain|define|describe|tell me|list|name|who|when|where|why)\b"
    r"|^(?:is|are|does|do|can|should|will|did|has|have)\s+(?!(?:it|the|there|that|this|they)\b)"
    r"|\b(?:of|with|about|for|from|to|in|on)\s+(?!(?:it|them|that|which|what|percent|total|watts?|dollars)\b)(?:(?:the|an?|my)\s+)?[\w-]{3,}",
    re.IGNORECASE,
)


def of_terse_question(text: str, said: Said, *, leads_in: bool) -> str | None:
    """The question with what it is about; None where it says that itself."""
    which = None if names(text) else _WHICH.match(text)
    if which:
        return _which_there(which["what"], said)
    if not about(said) or not _leans(text, leads_in=leads_in):
        return None
    joint = "with" if _FIRST_PERSON.search(text) else "for"
    head, comma, tail = bare(text).rpartition(", ")
    return f"{head} {joint} {about(said)}, {tail}?" if comma else f"{bare(text)} {joint} {about(said)}?"


def _which_there(noun: str, said: Said) -> str | None:
    """ "Which generations?" of what was spoken of."""
    thing = with_the(about(said), said)
    if not thing:
        return None
    if hardware(said.question) and asked_dimensions(noun.split()[-1])[0]:
        return f"What {noun} does {thing} have?"
    return f"Which {noun} {'are' if is_plural(noun) else 'is'} there of {thing}?"


def _leans(text: str, *, leads_in: bool) -> bool:
    """Whether a question without pronouns leaves out what it is about, and does not begin another subject."""
    names_its_own = names(text) or makers(text) or proper(text) or re.search(r"[.!?]\s+\w", text)
    if names_its_own or any(q.dimension == "parameters" for q in quantities(text)):
        return False
    if _OWN_TOPIC.search(text) or (_FIRST_PERSON.search(text) and not leads_in):
        return False
    return len(content_words(text)) <= (6 if leads_in else 4)
