"""Parse an exam question: the weighted words of its stem, and its options split into parts."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from chatbot.exam_reader.entailment import Reading, denied
from chatbot.exam_reader.instance_letters import said_by_letters
from chatbot.exam_reader.pieces import FRAME, pieces_of, purpose_of, served_by, situation_of
from chatbot.exam_reader.requirements import Pole, poles
from chatbot.language.wording import sentences
from chatbot.language.words import content_words, stem, synonyms, words
from chatbot.question.options import Option
from chatbot.question.query import Query
from chatbot.reader.scoring import inverse_document_frequency
from ingest import Index

_NEGATION = re.compile(r"\b(?:(?:CAN ?)?NOT|EXCEPT|not|except|no|isn't|aren't|doesn't|don't|LEAST|least)\b")
_LETTER = re.compile(r"(?<![\w.-])[B-Z](?![\w.-])")
# "Elastic Fabric Adapter (EFA)" is read as EFA.
_LONG_FORM = re.compile(r"(?:\b[A-Z][\w-]*\s+){1,5}\((?:Amazon |AWS )?(?P<short>[A-Za-z]\w{1,7})\)")
_FAMILY = re.compile(r"\b([a-z][a-z0-9-]*\d[a-z0-9-]*)\.(?:\d*x?large|metal|medium|small|micro|nano)\b")
# Words that carry meaning only in a pair with another word.
_ORDER = frozenset(["first", "only", "before", "after", "then", "without", "no", "not", "all"])
# Parts with at most this share of their option's weight are dropped, because they do not set it apart.
_TELLING = 0.05
# The weight of a word is its inverse document frequency, at most _HEAVIEST. A word in no document matches no evidence, so
# its weight is at most _UNSEEN.
_HEAVIEST = 4.0
_UNSEEN = 1.5
_PAIR = 0.8
_ASKED_ALREADY = 0.6
# An asking sentence with at most this many words of its own depends on the sentence before it. In cross-validation over
# three foldings of 1,707 questions 0.761 are right with two words, 0.758 with one, 0.756 with none, and 0.758 if no
# sentence is joined to another.
_BARE = 2


@dataclass(frozen=True, slots=True)
class Word:
    """A word, or a pair of adjacent words, to look for in evidence: its stem, synonym groups and weight."""

    stem: str
    groups: frozenset[str]
    weight: float


@dataclass(frozen=True, slots=True)
class Part:
    """One of the things that an option says.

    `apart` are its words, weighted by how few of the other options have them; `claim` are its words with plain weights.
    `situation` is what the stem says about the thing that the part is for ("" if the part names none). `scenario` are the
    words of the situation or, without one, of the whole stem. `asked` are the poles of that text and of the purpose that
    the part names for itself. `denied` are the words that the part denies.
    """

    text: str
    apart: tuple[Word, ...]
    claim: tuple[Word, ...]
    weight: float
    situation: str
    scenario: tuple[Word, ...]
    asked: frozenset[Pole]
    denied: frozenset[str]


@dataclass(frozen=True, slots=True)
class Matter:
    """An exam question ready for comparison with evidence. In a negated one, the asking sentence has its negation removed."""

    text: str
    asking: str
    asked: tuple[Word, ...]
    scenario: tuple[Word, ...]
    denied: frozenset[str]
    entities: frozenset[str]
    options: tuple[Option, ...]
    parts: tuple[tuple[Part, ...], ...]


def matter_of(query: Query, index: Index) -> Matter:
    """Parse an exam question."""
    text = query.standalone
    before, sentence = _asking_sentence(text)
    positive = _NEGATION.sub(" ", sentence) if query.negated else sentence
    asking = f"{before} {positive}".strip()
    return Matter(
        text=text,
        asking=asking,
        asked=_weighed(asking, index),
        scenario=_weighed(text, index),
        denied=denied(text.replace(sentence, positive)),
        entities=frozenset(e.lower() for e in query.entities),
        options=query.options,
        parts=_parts(query, index),
    )


def _asking_sentence(text: str) -> tuple[str, str]:
    """Return the asking sentence of a stem, and before it the sentence it depends on, or "".

    The rest of the stem is a scenario. The asking sentence depends on the one before it if it says hardly anything itself
    ("Which one is correct?").
    """
    spans = [text[start:end] for start, end in sentences(text)] or [text]
    asking = [at for at, span in enumerate(spans) if "?" in span]
    at = asking[-1] if asking else len(spans) - 1
    leans = at > 0 and len({stem(w) for w in content_words(spans[at])} - FRAME) <= _BARE
    return spans[at - 1] if leans else "", spans[at]


def cover(
    wanted: Sequence[Word], reading: Reading, *, around: float = 0.5, but: frozenset[str] = frozenset()
) -> tuple[float, float]:
    """Return the weighted share of words that a unit covers, by its own words and in context.

    In context, words that are only in its headings or title count `around`. Synonyms count 0.6. Words in `but` are left out.
    """
    total = own = place = 0.0
    for word in wanted:
        if word.stem in but:
            continue
        here = 1.0 if word.stem in reading.own else 0.6 if word.groups & reading.groups else 0.0
        above = 1.0 if word.stem in reading.around else 0.6 if word.groups & reading.groups_around else 0.0
        total += word.weight
        own += word.weight * here
        place += word.weight * max(here, around * above)
    return (own / total, place / total) if total else (0.0, 0.0)


def share(of: Sequence[Word], among: Collection[str]) -> float:
    """Return the weighted share of words whose stem is in `among`."""
    total = sum(w.weight for w in of)
    return sum(w.weight for w in of if w.stem in among) / total if total else 0.0


def turned(wanted: Sequence[Word], reading: Reading, refused: frozenset[str], there: frozenset[str]) -> float:
    """Return the weighted share of words that the evidence has and only one side denies.

    `there` are the words that the evidence denies, `refused` those that the question or option denies.
    """
    return share(wanted, reading.own & (there ^ refused))


def _weighed(text: str, index: Index) -> tuple[Word, ...]:
    return tuple(Word(stem(w), synonyms(w), _weight(w, index)) for w in content_words(text) if stem(w) not in FRAME)


def _weight(word: str, index: Index) -> float:
    parts = word.split()
    rarest = max(min(_HEAVIEST, inverse_document_frequency(w, index)) for w in parts)
    forms = [form for w in parts for form in (w, stem(w), f"{w}s", w.removesuffix("s"))]
    if not any(map(index.document_frequency, forms)):
        return min(rarest, _UNSEEN)
    return rarest * (_PAIR if len(parts) > 1 else 1.0)


def _parts(query: Query, index: Index) -> tuple[tuple[Part, ...], ...]:
    """Split each option into parts; words that all options share get no weight."""
    pieces = pieces_of([option.text for option in query.options])
    told = [{_stem(w) for piece in found for w in _words(piece)} for found in pieces]
    asked = {_stem(w) for w in _words(query.standalone)}

    def apart(word: str) -> float:
        others = sum(_stem(word) in said for said in told) - 1
        alone = 1 - others / max(1, len(told) - 1)
        return _weight(word, index) * alone * (_ASKED_ALREADY if _stem(word) in asked else 1.0)

    served = [[what for piece in found if (what := served_by(piece))] for found in pieces]

    def part(text: str) -> Part:
        own = tuple(Word(_stem(w), synonyms(w) if " " not in w else frozenset(), apart(w)) for w in _words(text))
        situation = situation_of(served_by(text), served, query.standalone)
        about = situation or query.standalone
        return Part(
            text=text,
            apart=own,
            claim=_weighed(text, index) or own,
            weight=sum(w.weight for w in own),
            situation=situation,
            scenario=_weighed(about, index),
            asked=poles(about) | poles(purpose_of(text)),
            denied=denied(text),
        )

    return tuple(_telling([part(text) for text in found]) for found in pieces)


def _telling(parts: list[Part]) -> tuple[Part, ...]:
    """Return the parts that set an option apart, with equal weights; all parts if none does."""
    least = _TELLING * sum(p.weight for p in parts)
    kept = [p for p in parts if p.weight > least] or parts
    return tuple(replace(p, weight=1 / len(kept)) for p in kept)


def _words(text: str) -> list[str]:
    """Return the words that carry meaning.

    These are content words, single capital letters (instance families), the families of instance types, pairs of adjacent
    words, and what the letters of instance types mean.
    """
    text = _LONG_FORM.sub(r"\g<short>", text)
    ordered = words(text)
    said = set(content_words(text)) | {w.lower() for w in _LETTER.findall(text)}
    single = [w for w in dict.fromkeys(ordered) if w in said] or list(dict.fromkeys(ordered))
    kept = set(single)
    types = [match[1].lower() for match in _FAMILY.finditer(text)]
    pairs = [f"{a} {b}" for a, b in pairwise(ordered) if {a, b} & kept and {a, b} <= kept | _ORDER]
    return single + types + pairs + said_by_letters(text)


def _stem(word: str) -> str:
    return " ".join(map(stem, word.split()))
