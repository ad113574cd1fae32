"""What words such as "it", "the second one" and "that experiment" stand for in a conversation."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chatbot.names import makers, names

Sizes = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Said:
    """Where a conversation stands: its last question, complete, and the answer."""

    question: str = ""
    answer: str = ""


HARDWARE_NOUN = r"(?:instances?|chips?|gpus?|hardware|accelerators?|series|famil(?:y|ies)|silicon|cards?|types?|machines?|box(?:es)?)"
# A question whose answer is a thing: later pronouns mean that thing, not what the question itself names.
_SEEKS_NAME = re.compile(
    rf"\b(?:which|what)\b(?:(?:[\s,(]+[\w'-]+){{0,3}}?[\s,(]+{HARDWARE_NOUN}|(?:[\s,(]+[\w'-]+){{0,6}}?[\s,(]+(?:"
    r"competitor|alternative|rival|equivalent|answer to|counterpart|should|recommend|use|pick))\b"
    r"|\b(?:who|what)\b(?:\s+[\w'-]+){0,4}?\s+(?:competes?|rivals?)\b",
    re.IGNORECASE,
)
# "Which instances carry Inferentia?": one thing that is spoken of afterwards is no longer one of them.
_SEEKS_MANY = re.compile(
    r"\b(?:which|what)\s+(?:\w+\s+){0,2}?(?:instances|chips|gpus|accelerators|families|cards|types|machines|boxes|generations)\b",
    re.IGNORECASE,
)
# "What are C series instances good at?" is about what it names.
_DEFINES = re.compile(
    r"^\W*what(?:'s|\s+is|\s+are)\s+(?:the\s+|an?\s+)?(?:(?:aws|amazon|nvidia|amd|intel|google|ec2)\s+)*", re.IGNORECASE
)
_OFFERS = re.compile(r"\b(?:or|vs\.?|versus|better|worse)\b", re.IGNORECASE)
# Capitals that name no subject of their own: units, parts, the platform.
_COMMON = re.compile(
    r"(?:AWS|Amazon|EC2|LLMs?|ML|AI|TDP|V?CPUs?|GPUs?|V?RAM|HBM\d?\w*|CO2e?|USD|EUR|T?FLOPS|TOPS|FP\d+|BF16|INT\d+|GI?B|TI?B|GHZ|OK|I|NVME|SSD|APIS?|SLAS?)",
    re.IGNORECASE,
)
_CAPITALS = re.compile(r"\b(?=\w*[A-Z])[A-Za-z][\w-]*(?:\s+[A-Z][\w-]*)*")
_SUBJECT_ENDS = (
    r"(?:save|cost|work|take|need|use|help|reduce|lower|mean|have|get|make|run|cut|do|give|draw|emit|support|keep|compare|fit|suit"
    r"|for|with|of|on|in|at|to|by|from|per|when|if|than|and|or|the|an?)"
)
_TOPICS = (
    re.compile(
        r"^\W*(?:what|who)(?:'s|\s+is|\s+are|\s+was|\s+were)\s+(?P<topic>[\w.+-]+(?:\s+[\w.+-]+){0,4})\W*$", re.I
    ),
    re.compile(
        r"\b(?:tell me about|explain|describe|define)\s+(?P<topic>[\w.+-]+(?:\s+(?!to\b|for\b|in\b)[\w.+-]+){0,3})",
        re.I,
    ),
    re.compile(
        rf"\b(?:do|does|did|is|are|can|will|would|should)\s+(?P<topic>(?:the\s+|an?\s+)?(?!(?:i|we|you|it|they|one|there|{_SUBJECT_ENDS})\b)"
        rf"[\w.+-]+(?:\s+(?!{_SUBJECT_ENDS}\b)[\w.+-]+)?)(?=\s+{_SUBJECT_ENDS}\b|\s+\w+\W*$)",
        re.I,
    ),
    re.compile(
        rf"\b(?:i|we|you|one)\s+(?:use|take|buy|rent|choose|need|get|pick|trust)\s+(?P<topic>(?!{_SUBJECT_ENDS}\b)[\w.+-]+(?:\s+(?!{_SUBJECT_ENDS}\b)[\w.+-]+)?)",
        re.I,
    ),
    re.compile(r"\b(?:with|of|for|about|on|in)\s+(?P<topic>[\w.+-]+(?:\s+[\w.+-]+){0,2})\W*$", re.I),
)


def topic(question: str) -> str:
    """The thing that a question without hardware is about, in its own words: "spot instances"; "" where none is found."""
    topics = (match["topic"] for pattern in _TOPICS if (match := pattern.search(question)))
    found = next((topic for topic in topics if topic.lower() not in ("aws", "amazon", "ec2")), "")
    return re.sub(r"^an?\s+", "", found, flags=re.IGNORECASE)


def hardware(text: str) -> list[str]:
    """The names of hardware in a text, in order."""
    return [name.name for name in names(text) if name.kind != "region"]


def proper(text: str) -> list[str]:
    """What else a text names with capitals ("BERT Large", "SCI"), units and the first word of a sentence apart."""
    for name in names(text):
        text = text.replace(name.text, "," * len(name.text))
    found: list[str] = []
    for match in _CAPITALS.finditer(text):
        begins = not text[: match.start()].rstrip() or text[: match.start()].rstrip()[-1] in ".?!:"
        words = [w for w in match.group().split() if not (_COMMON.fullmatch(w) or makers(w))]
        if words and not (begins and len(words) == 1 and not re.search(r"\w[A-Z]", words[0])):
            found.append(" ".join(words[1:] if begins and words[0].istitle() else words))
    return found


def seeks_name(question: str) -> bool:
    """Whether a piece of hardware answers the question."""
    first = names(question)[:1]
    defines = _DEFINES.match(question)
    return bool(_SEEKS_NAME.search(question)) and not (first and defines and first[0].start == defines.end())


def answered(said: Said) -> list[str]:
    """The hardware that the answer brought in, in the order of the answer."""
    asked = hardware(said.question)
    return [name for name in hardware(said.answer) if name not in asked]


def singular(said: Said) -> str:
    """What "it" means: what the last question sought, else what it is about."""
    asked, new = hardware(said.question), answered(said)
    if new and seeks_name(said.question) and not (len(asked) == 1 and _SEEKS_MANY.search(said.question)):
        return new[0]
    if len(asked) > 1 and _OFFERS.search(said.question):
        return next((name for name in hardware(said.answer) if name in asked), asked[0])
    return asked[0] if asked else topic(said.question) or "".join(new[:1])


def singular_of(pronoun: str, said: Said) -> str:
    """What "it" or "such an instance" means: an instance type where the words say so."""
    types = [name.name for name in names(said.question) if name.kind == "instance"]
    return types[0] if types and re.search(r"\b(?:instance|type|machine|size)$", pronoun) else singular(said)


def plural(said: Said) -> list[str]:
    """What "they" means: all that the last question sought or named."""
    new = answered(Said(said.question, re.split(r"[.:]\s", said.answer + " ", maxsplit=1)[0]))
    if new and seeks_name(said.question):
        return new[:3]
    if asked := hardware(said.question):
        return asked
    if about := topic(said.question):
        return [about]
    return [singular(said)] if singular(said) else []


def joined(things: Sequence[str]) -> str:
    """Things as a person lists them."""
    return things[0] if len(things) == 1 else f"{', '.join(things[:-1])} and {things[-1]}"


def about(said: Said) -> str:
    """The words that tie a question to what was spoken of: "BERT Large on Trainium"."""
    things, chips = proper(said.question), hardware(said.question)
    if seeks_name(said.question) and (new := answered(said)):
        chips = new[:1]
    if things and chips:
        return f"{things[0]} on {joined(chips)}"
    return joined(chips) if chips else topic(said.question) or "".join(things[:1]) or singular(said)
