"""What an exam question is about: the words that matter in its stem, and its options part by part."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from chatbot.evidence import sentences
from chatbot.examination.entailment import Reading, denied
from chatbot.examination.instance_letters import said_by_letters
from chatbot.examination.pieces import FRAME, pieces_of, purpose_of, served_by, situation_of
from chatbot.examination.requirements import Pole, poles
from chatbot.options import Option
from chatbot.query import Query
from chatbot.scoring import inverse_document_frequency
from chatbot.words import content_words, stem, synonyms, words
from ingest import Index

_NEGATION = re.compile(r"\b(?:(?:CAN ?)?NOT|EXCEPT|not|except|no|isn't|aren't|doesn't|don't|LEAST|least)\b")
_LETTER = re.compile(r"(?<![\w.-])[B-Z](?![\w.-])")
# "Elastic Fabric Adapter (EFA)" is EFA.
_LONG_FORM = re.compile(r"(?:\b[A-Z][\w-]*\s+){1,5}\((?:Amazon |AWS )?(?P<short>[A-Za-z]\w{1,7})\)")
_FAMILY = re.compile(r"\b([a-z][a-z0-9-]*\d[a-z0-9-]*)\.(?:\d*x?large|metal|medium|small|micro|nano)\b")
# Words that mean nothing by themselves, but much beside another.
_ORDER = frozenset(["first", "only", "before", "after", "then", "without", "no", "not", "all"])
# A part with less than this share of what sets its option apart tells nothing.
_TELLING = 0.05
# The weight of a word is its inverse document frequency up to this; what no document has cannot be told apart, and weighs little.
_HEAVIEST = 4.0
_UNSEEN = 1.5
_PAIR = 0.8
_ASKED_ALREADY = 0.6
# An asking sentence with so few words of its own leans on the one before it. In cross-validation over three foldings of 1,707 questions
# 0.761 are right with two words, 0.758 with one, and 0.756 and 0.758 with none and where no sentence leans.
_BARE = 2


@dataclass(frozen=True, slots=True)
class Word:
    """A word, or two neighbours, to be found in evidence, as a stem with its weight."""

    stem: str
    groups: frozenset[str]
    weight: float


@dataclass(frozen=True, slots=True)
class Part:
    """One of the things an option says: `apart` are the words that other options lack, `claim` all of its words.

    `situation` is what the stem says of the very thing that the part is for ("" where
    the part names none), `scenario` its words or else those of the whole stem, `asked` what it asks of that thing, and the part of itself.
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
    """An exam question ready to be compared. One that asks for what does not hold is turned into what would hold."""

    text: str
    asking: str
    asked: tuple[Word, ...]
    scenario: tuple[Word, ...]
    denied: frozenset[str]
    entities: frozenset[str]
    options: tuple[Option, ...]
    parts: tuple[tuple[Part, ...], ...]


def matter_of(query: Query, index: Index) -> Matter:
    """What an exam question is about."""
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
    """The sentence of a stem that asks; the scenario before it only says for whom. Before it the one that it leans on where it says
    hardly anything itself ("Which one is correct?"), or ""."""
    spans = [text[start:end] for start, end in sentences(text)] or [text]
    asking = [at for at, span in enumerate(spans) if "?" in span]
    at = asking[-1] if asking else len(spans) - 1
    leans = at > 0 and len({stem(w) for w in content_words(spans[at])} - FRAME) <= _BARE
    return spans[at - 1] if leans else "", spans[at]


def cover(
    wanted: Sequence[Word], reading: Reading, *, around: float = 0.5, but: frozenset[str] = frozenset()
) -> tuple[float, float]:
    """The share of words, by weight, in a unit's own words, and in those with what stands above it, which counts `around`."""
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
    """The share of words, by weight, that are among the stems."""
    total = sum(w.weight for w in of)
    return sum(w.weight for w in of if w.stem in among) / total if total else 0.0


def turned(wanted: Sequence[Word], reading: Reading, refused: frozenset[str], there: frozenset[str]) -> float:
    """The share of words that the evidence has, but denies (`there`) where the question does not (`refused`), or the other way round."""
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
    """Each option in parts; what all options say counts nothing."""
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
    """The parts that set an option apart, each of the same weight; all where none does."""
    least = _TELLING * sum(p.weight for p in parts)
    kept = [p for p in parts if p.weight > least] or parts
    return tuple(replace(p, weight=1 / len(kept)) for p in kept)


def _words(text: str) -> list[str]:
    """The words that carry meaning: single capital letters among them, which are families, pairs of neighbours, and what the
    letters of instance types say."""
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
