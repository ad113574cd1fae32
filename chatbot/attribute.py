"""What is asked of a thing: its price, its weight, whether it runs something. Evidence that is silent on that is no answer."""

import re
from functools import cache, lru_cache

from chatbot.asked_quantity import asked_dimensions, asks_quantity
from chatbot.names import makers, names
from chatbot.quantities import quantities
from chatbot.words import content_words, stem, stems, stems_and_groups, synonyms, vocabulary

_OF = re.compile(
    r"\b(?:what|who)(?:'s|\s+(?:is|are|was|were))\s+(?:the\s+|its\s+|their\s+)?(?P<head>[\w-]+(?:\s+[\w-]+){0,2}?)\s+(?:of|for|in|on|at|behind|per)\b",
    re.IGNORECASE,
)
_OWNED = re.compile(r"\b[\w-]+['’]s\s+(?P<head>[\w-]+(?:\s+[\w-]+)?)\s*\?*$", re.IGNORECASE)
_WHICH = re.compile(
    r"\b(?:what|which)\s+(?P<head>[\w-]+(?:\s+[\w-]+){0,2}?)\s+(?:does|do|did|has|have|had|is|are|was|were|can|offers?|supports?|sells?|provides?|allows?)\b",
    re.IGNORECASE,
)
# "How much SRAM is there": a stuff that is no quantity of its own ("how much faster", "how much does it cost").
_STUFF = re.compile(
    r"\bhow much\s+(?:[\w-]+\s+)?(?P<head>(?!of\b|more\b|less\b|(?:fast|cheap|quick|low|high|larg|bigg|small|great|slow|long|short|strong|clean|green|hott|cool)er\b|do(?:es)?\b|did\b|is\b|are\b|can\b|will\b|would\b)[\w-]+)\s+(?:is|are|does|do|did|has|have|can|will|would|should)\b",
    re.IGNORECASE,
)
_WHAT_OF = re.compile(r"\b(?:what|which)\s+(?P<head>[\w-]+)\s+of\s+the\b", re.IGNORECASE)
_OBJECT = re.compile(
    r"^\W*(?:\w+\W+){0,4}?(?:support|supports|run|runs|available|offered|compatible|work with|works with|include|includes|come with|free|there)\b(?P<head>(?:[^\w./-]+[\w./-]+){1,5})\W*$",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"^\W*(?:please\s+|can you\s+|could you\s+|now\s+)*(?:write(?!\s+(?:down|out)\b)|compose|sing|translate|draw|paint|roleplay|pretend|act|repeat|recite|print|reveal)\b"
    r"|\b(?:your|the|any) (?:hidden |system |secret |own )*(?:instructions|system prompt|prompt|rules you)\b",
    re.IGNORECASE,
)
_OWN_RECORDS = re.compile(
    r"\b(?:our|my|we|i)\b.{0,60}\b(?:yesterday|today|(?:last|this|past|previous) (?:week|month|quarter|year))\b.*\?",
    re.IGNORECASE,
)
# Nouns that name a relation, not a property: evidence answers them without saying them.
_RELATION_WORDS = """
accelerator accelerators amount analysis argument arguments article articles author authors advantage advantages aim alternative alternatives answer application applications baseline
benefit benefits best blog box boxes brand brands case cases catch character cheapest chip chips choice combination companies company competitor competitors count
definition difference differences disadvantage discipline distinction document documents downside drawback drawbacks effect effects equivalent
example examples factor factors families family fastest feature features figure figures fit fraction framework frameworks
gen gens generation generations gist goal goals good gpu gpus greenest group guide hardware highest idea impact instance instances
job jobs key kind kinds largest letter level levels library limit limits line lineup lines lowest main maximum meaning means mechanism mechanisms method methods minimum model models moment most multiple multiples
name names need needs next notes number one ones option options outcome page pages paper papers part parts pattern percent percentage piece pieces place places point post problem
problems proportion purpose quantity rate reason reasons recommendation result results right rival role series service services share size sizes
smallest software sort sorts source stand standing state status step steps story strength strengths studies study suffix summary task tasks team teams thing things
technique techniques tool tools top type types use used uses value values way ways weakness weaknesses workload workloads yardstick
two three four five six seven eight nine ten
area areas category categories circumstance circumstances component components condition conditions element elements field fields gap gaps ingredient ingredients item items rule rules situation situations
"""
# "What is it tuned for?" asks for no property of that name.
_PARTICIPLE = re.compile(r"\w+[^e]ed$|meant$|built$|made$")
# What kind of thing is asked for is no property: "which scientific paper".
_ADJECTIVE = re.compile(r"\w{3,}(?:ic|al|ive|ous|able|ible|ful|less)$")
_RELATIONS = frozenset(_RELATION_WORDS.split())
_GIVES = stems("give put enter write report quote use take plug expect")


def names_property(question: str) -> bool:
    """Whether a question has a word of its own for what is asked: "Which figure do I give them?" has none."""
    return any(w not in _RELATIONS and stem(w) not in _GIVES for w in content_words(question))


def is_command(question: str) -> bool:
    """Whether something is to be written or given away instead of answered."""
    return bool(_COMMAND.search(question)) and not names(question)


def asks_own_records(question: str) -> bool:
    """Whether a question is for what the asker's own meters and bills say ("What did we emit last month?")."""
    return bool(_OWN_RECORDS.search(question)) and asks_quantity(question)


@lru_cache(maxsize=1_024)
def asked_attribute(question: str, is_yes_no: bool) -> tuple[str, ...]:
    """The words for what is asked of a thing; () where the question names no property of its own."""
    if not is_yes_no and (operation := asked_operation(question)):
        return operation
    patterns = [_OBJECT] if is_yes_no else [_OF, _OWNED, _WHICH, _WHAT_OF]
    if not is_yes_no and not asked_dimensions(question)[1]:
        patterns.append(_STUFF)
    match = next((m for pattern in patterns if (m := pattern.search(question))), None)
    return _of_own(match["head"]) if match else ()


def asked_operation(question: str) -> tuple[str, ...]:
    """The word for what is to be done to a thing, where a procedure is asked for, and others for it: "rotate", not "get" or "save"."""
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
    """ "How do I rotate its keys", "what steps does it take to mount it"."""
    verbs = "|".join(vocabulary()["operations"]["words"])
    return re.compile(
        r"\b(?:how (?:(?:do|can|could|should|would|might|must|will) (?:i|we|you|one|they|people|(?:an?|our|my|the)(?: [\w-]+){1,3}?)|to)"
        r"|(?:steps?|way|command|procedure|have to do|needed|required|possible)\b(?: \w+){0,4}? to)"
        rf" (?:\w+ly )?(?P<verb>{verbs})\b",
        re.IGNORECASE,
    )


def _of_own(head: str) -> tuple[str, ...]:
    named = {w for n in names(head) for w in content_words(n.text)}
    wanted = (
        w
        for w in content_words(head)
        if w not in _RELATIONS | named and not _PARTICIPLE.match(w) and not _ADJECTIVE.match(w)
    )
    return tuple(w for w in wanted if not quantities(w) and not makers(w))


def speaks_of_attribute(wanted: tuple[str, ...], text: str, *, every: bool) -> bool:
    """Whether a text speaks of a property: of every word of it, or of any."""
    if not wanted:
        return True
    there, groups = stems_and_groups(text)
    covered = [stem(w) in there or bool(synonyms(w) & groups) for w in wanted]
    return all(covered) if every else any(covered)
