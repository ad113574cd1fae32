"""Complete follow-up questions from earlier turns: "and for inference?", "how much memory does it have?"."""

import re
from collections.abc import Callable, Sequence

from chatbot.answer import Turn
from chatbot.language.names import makers, names
from chatbot.language.quantities import quantities
from chatbot.language.words import content_words

# Maps a family to its known instance types, smallest first.
Sizes = Callable[[str], Sequence[str]]

# A longer question does not depend on earlier turns.
_LONGEST = 800
# Openings of a follow-up that are not part of its content.
_LEAD = re.compile(
    r"^\W*(?:(?:and|but|so|then|also|now|at least|ok(?:ay)?|thanks?(?: (?:a lot|so much|very much))?|thank you|thx|cheers|please|by the way|btw|hm+)\b(?!['’])[\s,.!…:;-]*"
    r"|(?:oh|ah|well|wow|nice|great|cool|perfect|good|interesting|right|all right|alright|i see|got it|makes sense|understood|sure|yes|no|nope|pity|bad news|good news|sorry|oops|wait|actually|bye|that's all"
    r"|one more(?: thing| question)?|another question)\b(?:\s*[,.!…:;-]+\s*|\s*$|\s+(?=(?:and|but|so|then|what|how|which|thanks?|thank you|i)\b))"
    r"|(?:what about|how about|what of|not [\w .-]{2,20}, (?:but )?|same(?: question| thing)?(?: again)?(?: for|(?= with)|(?= on)|(?= in))?|(?:i|we) (?:meant?|said|was asking about)|i'm asking about|make (?:it|that)|but|what if i use)\b[\s,]*)*",
    re.IGNORECASE,
)
_ASKING = r"\b(?:how|what|which|who|whose|when|why|where|is|are|isn't|aren't|does|do|did|can|could|should|would|will|has|have)\b"
_ASKS = re.compile(_ASKING, re.IGNORECASE)
_WHICH = re.compile(r"which\b", re.IGNORECASE)
_WHY = re.compile(r"^(?:why|how so|how come|why not\b.*)\W*$", re.IGNORECASE)
_THING = r"(?:thing|one|ones|two|model|instances?|chips?|gpus?|hardware|accelerators?|series|famil(?:y|ies)|cards?|types?|machines?|box(?:es)?)"
# The "it" of "is it possible to train …" refers to nothing.
_PRONOUN = re.compile(
    rf"\b(?:its|it(?!')|they|them|their|(?:that|this|those|these|the same|such an?) {_THING}|each of them)(?=\W|$)(?!\s+(?:possible|better|worth|true|ok|safe|necessary|enough|make sense|matter|takes?)\b.*\b(?:to|that|if)\b)"
    r"|(?<=\b(?:does|with|than|like) )(?:that|this)\b|\b(?:that|this)(?=\W*$)|^(?:that|this)(?= (?:is|was|does|did|has|can|could|will|would|means?)\b)",
    re.IGNORECASE,
)
_SIBLING = re.compile(
    r"\b(?:the\s+|its\s+)?(?P<size>bigger|larger|largest|biggest|smaller|smallest|other|little|small|big|large)\s+(?:one|sister|brother|sibling|instance|size|type|version|variant)\b",
    re.IGNORECASE,
)
# One of the things that the turn before names, by its place or as the cheaper one.
_PICK = re.compile(
    r"\bthe (?:(?P<first>first|former|1st)|(?P<second>second|latter|2nd)|(?P<third>third|3rd)|(?P<last>last)(?= one\b)|(?P<cheap>cheaper|cheapest))(?: (?:one|of (?:them|those|these|the two)|type|instance|family|chip|card|gpu|machine|option)\b)?"
    r"(?=\W*$|[,;?.!]|\s+(?:is|are|has|have|in|on|for|costs?|available|sold|offered|with|instead|do|does|can|come|use|need|fit|support)\b)",
    re.IGNORECASE,
)
_PLACED = re.compile(r"^(?P<preposition>for|on|in|at|with|under|during|over|from|per|without|if|when|as|using|by|to)\s+", re.IGNORECASE)
# A question whose answer is a thing: later pronouns refer to that thing, not to what the question itself names.
_SEEKS_NAME = re.compile(
    rf"\b(?:which|what)\b(?:[\s,(]+[\w'-]+){{0,6}}?[\s,(]+(?:{_THING}|competitor|alternative|rival|equivalent|answer to|counterpart|should|recommend|use|pick)\b|\b(?:who|what)\b(?:\s+[\w'-]+){{0,4}}?\s+(?:competes?|rivals?)\b",
    re.IGNORECASE,
)
# Words by which a question that names a thing may still lean on what was said before: "would a g5 do?", "is an H100 cheaper?"
_LEANS = re.compile(
    r"\b(?:it|that|this|those|these|there|then|instead|too|also|else|still|enough|better|best|worse|cheaper|faster|slower|bigger|larger|smaller|newer|older|other|another|more|less|most|same|not|needs?|fits?|works?|suffices?"
    r"|handles?|holds?|runs?|serves?|trains?|would|could|can|will|should|i|we|my|our|us|me)\b|\bdo\W*$",
    re.IGNORECASE,
)
# A question that states its own topic: "what is PUE?", "how do savings plans work?", "the footprint of my job".
_OWN_TOPIC = re.compile(
    r"^(?:what|who)(?:'s| is| are| was| were| does| do)\s+(?!(?:the|its|their|that|this|it|they|there)\b)"
    r"|^how (?:do|does|can|is|are|did|should|to)\s+(?!(?:it|they|the|that)\b)"
    r"|^(?:explain|define|describe|tell me|list|name|who|when|where|why)\b"
    r"|^(?:is|are|does|do|can|should|will|did|has|have)\s+(?!(?:it|the|there|that|this|they)\b)"
    r"|\b(?:of|with|about|for|from|to|in|on)\s+(?!(?:it|them|that|which|what|percent|total|watts?|dollars)\b)(?:(?:the|an?|my)\s+)?[\w-]{3,}",
    re.IGNORECASE,
)
_TOPICS = (
    re.compile(r"^\W*(?:what|who)(?:'s|\s+is|\s+are|\s+was|\s+were)\s+(?P<topic>[\w.+-]+(?:\s+[\w.+-]+){0,4})\W*$", re.I),
    re.compile(r"\b(?:tell me about|explain|describe|define)\s+(?P<topic>[\w.+-]+(?:\s+(?!to\b|for\b|in\b)[\w.+-]+){0,3})", re.I),
    re.compile(r"\b(?:do|does|did|can|will|would|should|of|with|for|about)\s+(?P<topic>(?!(?:i|we|you|it|they|one)\b)(?:the\s+|an?\s+)?[\w.+-]+(?:\s+(?!save|cost|work|take|need|use|have|to\b|for\b|in\b|on\b)[\w.+-]+)?)", re.I),
    re.compile(rf"(?!(?i:{_ASKING}))\b(?P<topic>[A-Z][\w-]+(?:\s+[A-Z][\w-]*)*)"),
)


def condense(question: str, history: Sequence[Turn], sizes: Sizes) -> str:
    """Fill in what a question leaves out from the turns before it; unchanged if it leaves nothing out.

    `sizes` maps a family to its known instance types, smallest first, for "what about the bigger one?".
    """
    said = Turn("", "")
    for turn in history:
        asked = _plain(turn.question)
        if _remainder(asked):
            said = Turn(_complete(asked, said, sizes), _plain(turn.answer))
    if len(question) > _LONGEST:
        return question
    complete = _complete(_plain(question), said, sizes)
    return question if complete == _plain(question) else complete


def stands_alone(question: str) -> bool:
    """Whether a question surely leans on no earlier turn: it asks something about hardware that it names."""
    asked = _plain(question)
    named = bool(_ASKS.search(asked)) and any(name.kind != "region" for name in names(asked))
    return named and _remainder(asked) == asked and not any(p.search(asked) for p in (_PRONOUN, _SIBLING, _PICK, _LEANS))


def _plain(text: str) -> str:
    """A text on one line; a long one is cut."""
    return " ".join(text[: 2 * _LONGEST].split())[:_LONGEST]


def _remainder(question: str) -> str:
    """A question without its opening; nothing is left of "thanks" or "?"."""
    lead = _LEAD.match(question)
    rest = question[lead.end() :].strip() if lead else question
    return rest if re.search(r"\w", rest) else ""


def _complete(question: str, said: Turn, sizes: Sizes) -> str:
    rest = _remainder(question)
    if not said.question or not rest:
        return question
    leads_in = len(rest) < len(question.strip())
    before, picked = rest, _with_pick(rest, said)
    whole = leads_in or picked != before
    rest = _with_sibling(picked, said, sizes)
    asks = bool(_ASKS.search(rest)) and len(rest.split()) > 2
    if _WHY.match(rest):
        found: str | None = f"{_bare(said.question)}, and {_bare(rest)}?"
    elif not asks and (picked == before or len(rest.split()) <= 2) and (leads_in or len(content_words(rest)) <= 4):
        found = _with_part(_bare(rest), said)
    else:
        found = _with_thing(rest, said) or _with_subject(rest, said, leads_in=leads_in)
    return _sentence(found or rest) if found or whole else question


def _bare(question: str) -> str:
    return question.rstrip(" ?.!")


def _with_part(fragment: str, said: Turn) -> str | None:
    """The last question with the hardware, the model size or the circumstance replaced by what a fragment gives, or a
    question for the property that the fragment names."""
    before = said.question
    if sized := _with_size(before, fragment):
        before = sized
    if new := [n for n in names(fragment) if n.kind != "region"]:
        old = [n for n in names(before) if n.kind == new[0].kind] or list(names(before))
        name = re.sub(r"^(?:the|an?|for|with|on|of|in)\s+", "", fragment, flags=re.IGNORECASE) if len(new) > 1 or len(fragment.split()) <= 3 else new[0].name
        return f"{before[: old[-1].start]}{name}{before[old[-1].start + len(old[-1].text) :]}" if old else f"{_bare(before)} for {fragment}?"
    if sized:
        return sized
    if placed := _PLACED.match(fragment):
        old_place = re.search(rf"\b{placed['preposition']}\s+(?:[\w.-]+\s*){{1,3}}$", _bare(before), re.IGNORECASE)
        return f"{(before[: old_place.start()] if old_place else _bare(before)).rstrip()} {fragment}?"
    thing, asked = _thing(said), re.sub(r"^(?:its|their|the)\s+", "", fragment, flags=re.IGNORECASE)
    if asked == fragment and thing and thing in before and not names(before):
        return before.replace(thing, fragment)
    return f"What is the {asked} of {thing}?" if thing else f"{_bare(before)}, {fragment}?"


def _with_size(question: str, fragment: str) -> str | None:
    """The question with the model size of the fragment instead of its own; None unless both give one."""
    before, new = ([q for q in quantities(text) if q.dimension == "parameters"] for text in (question, fragment))
    return f"{question[: before[-1].start]}{new[-1].text}{question[before[-1].end :]}" if before and new else None


def _with_sibling(text: str, said: Turn, sizes: Sizes) -> str:
    """Replace "the bigger one" by the next size of the instance mentioned before."""
    sibling = _SIBLING.search(text)
    spoken = next((n.name for n in (*names(said.question), *names(said.answer)) if n.kind == "instance"), "")
    known = list(sizes(spoken.split(".")[0])) if sibling and spoken and not names(text) else []
    if sibling is None or spoken not in known:
        return text
    place, size = known.index(spoken), sibling["size"].lower()
    step = {"largest": len(known), "biggest": len(known), "smallest": -len(known), "other": 1 if place == 0 else -place}.get(size, 1 if size in ("bigger", "larger", "big", "large") else -1)
    return f"{text[: sibling.start()]}{known[min(max(place + step, 0), len(known) - 1)]}{text[sibling.end() :]}"


def picks(question: str) -> bool:
    """Whether a question speaks of one of several things by its place: "the second one", "the cheaper one"."""
    return bool(_PICK.search(question))


def _with_pick(text: str, said: Turn) -> str:
    """Replace "the second one" by the second of the things that the turn before names or, if it names none or one, that its
    answer lists."""
    pick = _PICK.search(text)
    if pick is None or any(name.kind != "region" for name in names(text)):
        return text
    asked = [name.text for name in names(said.question) if name.kind != "region"]
    lists = [found[0].name for line in re.split(r"(?:^| )(?:-|\d+\.) ", said.answer) if (found := [name for name in names(line) if name.kind == "instance"])]
    among = asked if len(asked) > 1 else lists
    kind = str(pick.lastgroup)
    if kind == "cheap":
        cheapest = _CHEAPEST.search(said.answer)
        among = [name.text for name in names(cheapest.group())][:1] if cheapest else []
    place = {"second": 1, "third": 2, "last": len(among) - 1}.get(kind, 0)
    return f"{text[: pick.start()]}{among[place]}{text[pick.end() :]}" if place < len(among) and (len(among) > 1 or kind == "cheap") else text


_CHEAPEST = re.compile(r"^Cheapest[^:]*: \S+|\S+ is (?:the )?cheap(?:er|est)\b")


def _with_thing(text: str, said: Turn) -> str | None:
    """Replace a pronoun by what it stands for; None if there is none, or if the question itself says what it means."""
    match, thing = _PRONOUN.search(text), _thing(said)
    if match is None or not thing or names(text[: match.start()]) or re.search(r"[.!?;:]\s", text[: match.start()]):
        return None
    owns = "'s" if match.group().lower() in ("its", "their") else ""
    return f"{text[: match.start()]}{thing}{owns}{text[match.end() :]}"


def _with_subject(text: str, said: Turn, *, leads_in: bool) -> str | None:
    """Add what the question is about; None if it says that itself."""
    thing = _thing(said)
    own = names(text) or makers(text) or _OWN_TOPIC.search(text) or any(q.dimension == "parameters" for q in quantities(text))
    if own or not thing or len(content_words(text)) > (6 if leads_in else 4):
        return None
    *others, last = thing.split(" and ")
    return f"{_bare(text)}: {', '.join(others)} or {last}?" if others and _WHICH.match(text) else f"{_bare(text)} for {thing}?"


def _thing(said: Turn) -> str:
    """What was spoken of last: what the last question asked for, else what it names, else its topic."""
    asked, told = ([n.name for n in names(text) if n.kind != "region"] for text in (said.question, said.answer))
    new = [name for name in told if name not in asked]
    if new and _SEEKS_NAME.search(said.question):
        return new[0]
    if asked:
        return " and ".join(dict.fromkeys(asked))
    topics = (m["topic"] for pattern in _TOPICS if (m := pattern.search(said.question)))
    return next((topic for topic in topics if topic.lower() not in ("aws", "amazon", "ec2")), "".join(new[:1]))


def _sentence(text: str) -> str:
    """Capitalise a text, unless it begins with a name in lower case."""
    first = text.split()[0] if text.split() else ""
    return text[:1].upper() + text[1:] if re.fullmatch(r"[a-z]+(?:'[a-z]+)?\W*", first) else text
