"""Requests that no source can answer (commands, the asker's own records), and the operation that a how-to question is about."""

import re
from functools import cache, lru_cache

from chatbot.language.names import names
from chatbot.language.words import vocabulary
from chatbot.question.asked_quantity import asks_quantity

_COMMAND = re.compile(
    r"^\W*(?:please\s+|can you\s+|could you\s+|now\s+)*(?:write(?!\s+(?:down|out)\b)|compose|sing|translate|draw|paint|roleplay|pretend|act|repeat|recite|print|reveal)\b"
    r"|\b(?:your|the|any) (?:hidden |system |secret |own )*(?:instructions|system prompt|prompt|rules you)\b",
    re.IGNORECASE,
)
_OWN_RECORDS = re.compile(
    r"\b(?:our|my|we|i)\b.{0,60}\b(?:yesterday|today|(?:last|this|past|previous) (?:week|month|quarter|year))\b.*\?",
    re.IGNORECASE,
)


def is_command(question: str) -> bool:
    """Whether a question is a command to write something, to play a role or to reveal the prompt."""
    return bool(_COMMAND.search(question)) and not names(question)


def asks_own_records(question: str) -> bool:
    """Whether a question asks for what the asker's own meters or bills say ("What did we emit last month?")."""
    return bool(_OWN_RECORDS.search(question)) and asks_quantity(question)


@lru_cache(maxsize=1_024)
def asked_operation(question: str) -> tuple[str, ...]:
    """The verb of the operation that a how-to question asks about, then verbs with the same meaning; empty for any
    other question. The verbs are specific ones: "rotate", not "get" or "save"."""
    match = _how_to().search(question)
    if match is None:
        return ()
    verb = match["verb"].split()[0].lower()
    return (
        verb,
        *(other for group in vocabulary()["operations"]["alike"] if verb in group for other in group if other != verb),
    )


@cache
def _how_to() -> re.Pattern[str]:
    """The pattern of a question such as "How do I rotate its keys" or "what steps does it take to mount it"; `verb` is
    the operation."""
    verbs = "|".join(vocabulary()["operations"]["words"])
    return re.compile(
        r"\b(?:how (?:(?:do|can|could|should|would|might|must|will) (?:i|we|you|one|they|people|(?:an?|our|my|the)(?: [\w-]+){1,3}?)|to)"
        r"|(?:steps?|way|command|procedure|have to do|needed|required|possible)\b(?: \w+){0,4}? to)"
        rf" (?:\w+ly )?(?P<verb>{verbs})\b",
        re.IGNORECASE,
    )
