"""Follow-up questions lean on earlier turns: "and for inference?", "how much memory does it have?"."""

import re
from collections.abc import Sequence

from chatbot.answer import Turn
from chatbot.followup.continuing import of_fragment
from chatbot.followup.leaning import of_terse_question
from chatbot.followup.reacting import of_condition, of_doubt, of_sibling
from chatbot.followup.referents import Said, Sizes
from chatbot.followup.resolving import of_pronoun
from chatbot.words import content_words

# Nobody leans on earlier turns in a question as long as this.
_LONGEST = 800
# What may stand before a follow-up without being part of it.
_LEAD = re.compile(
    r"^\W*(?:(?:and|but|so|then|also|now|at least|ok(?:ay)?|thanks?(?: (?:a lot|so much|very much))?|thank you|thx|cheers|please|by the way|btw|hm+)\b(?!['’])[\s,.!…:;-]*"
    r"|(?:oh|ah|well|wow|nice|great|cool|perfect|good|interesting|right|all right|alright|i see|got it|makes sense|understood|sure|yes|no|nope|pity|bad news|good news|sorry|oops|wait|actually|bye|that's all"
    r"|one more(?: thing| question)?|another question)\b(?:\s*[,.!…:;-]+\s*|\s*$|\s+(?=(?:and|but|so|then|what|how|which|thanks?|thank you|i)\b))"
    r"|(?:what about|how about|what of|not [\w .-]{2,20}, (?:but )?|same(?: question| thing)?(?: again)?(?: for|(?= with)|(?= on)|(?= in))?|(?:i|we) (?:meant?|said|was asking about)|i'm asking about|make (?:it|that)|but|what if i use)\b[\s,]*)*",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:how|what|which|who|whose|when|why|where|is|are|isn't|aren't|does|do|did|can|could|should|would|will|has|have)\b",
    re.IGNORECASE,
)
_JOINS = re.compile(r"^(?:when|if|while|because)\b(?!.*\b(?:how|what|which|who|why)\b)", re.IGNORECASE)


def condense(question: str, history: Sequence[Turn], sizes: Sizes) -> str:
    """The question with what it leaves out filled in from the turns before it; unchanged when it leaves nothing out.

    `sizes` gives the instance types known of a family, smallest first, for "what about the bigger one?".
    """
    said = Said()
    for turn in history:
        asked = _plain(turn.question)
        if _remainder(asked):
            complete = _complete(asked, said, sizes)
            said = Said(complete, _plain(turn.answer))
    if len(question) > _LONGEST:
        return question
    complete = _complete(_plain(question), said, sizes)
    return question if complete == _plain(question) else complete


def _plain(text: str) -> str:
    """A text on one line, the beginning of a long one."""
    return " ".join(text[: 2 * _LONGEST].split())[:_LONGEST]


def _remainder(question: str) -> str:
    """A question without what leads it in; nothing is left of "thanks" or "?"."""
    lead = _LEAD.match(question)
    rest = question[lead.end() :].strip() if lead else question
    return rest if re.search(r"\w", rest) else ""


def _complete(question: str, said: Said, sizes: Sizes) -> str:
    rest = _remainder(question)
    if not said.question or not rest:
        return question
    leads_in = len(rest) < len(question.strip())
    found = _reaction(rest, said, sizes) or _continuation(rest, said, leads_in=leads_in)
    return _sentence(found or rest) if found or leads_in else question


def _reaction(rest: str, said: Said, sizes: Sizes) -> str | None:
    return of_doubt(rest, said) or of_sibling(rest, said, sizes, asks=_asks(rest)) or of_condition(rest, said)


def _continuation(rest: str, said: Said, *, leads_in: bool) -> str | None:
    short = len(content_words(rest)) <= 4
    if (not _asks(rest) and (leads_in or short)) or (leads_in and _JOINS.match(rest)):
        return (
            of_terse_question(rest, said, leads_in=True)
            if rest.lower().startswith(("how", "which", "what"))
            else of_fragment(rest, said)
        )
    return of_pronoun(rest, said) or of_terse_question(rest, said, leads_in=leads_in)


def _asks(text: str) -> bool:
    return bool(_ASKS.search(text)) and len(text.split()) > 2


def _sentence(text: str) -> str:
    """A text that begins like a sentence, unless it begins with a name in small letters."""
    first = text.split()[0] if text.split() else ""
    return text[:1].upper() + text[1:] if re.fullmatch(r"[a-z]+(?:'[a-z]+)?\W*", first) else text
