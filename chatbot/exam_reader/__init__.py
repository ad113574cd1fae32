"""Answer exam questions: weigh each option against the evidence, part by part, and write one line per option."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from itertools import combinations
from math import exp, log

from chatbot.answer import REFUSAL, Passage
from chatbot.draft import Draft, Notes
from chatbot.exam_reader.by_table import choose_types
from chatbot.exam_reader.ground import Ground, grounds, on_stem
from chatbot.exam_reader.matter import Matter, Part, matter_of
from chatbot.exam_reader.option_evidence import Bearing, bearings, extremes, profile
from chatbot.language.words import stems
from chatbot.question.options import Option
from chatbot.question.query import Query
from chatbot.reader.phrasing import statement
from ingest import Index

# A question is refused as off-topic if two measures are low for every piece of evidence: the mean of its cosine
# similarities to the question with a part of an option and to the question with all options is under _LIKE, and the share
# of the stem's words in it times the share of the part's words is under _SHARED. Of 682 questions on the corpus none lies
# below; of 20 on painters, planets and capitals 18 do (_LIKE is on the exam encoder's scale).
_LIKE = 0.375
_SHARED = 0.1
# The minimum share of an option's distinguishing words in evidence that is worth a line.
_WORTH_SAYING = 0.25
# A second document is quoted beside the best evidence if it has at least the share _ON_OPTION of the option's
# distinguishing words and its score is at most _NEARLY lower.
_ON_OPTION = 0.5
_NEARLY = 2.5
# Two options are near-duplicates if they share at least the fraction _ALIKE of the shorter one's words, and that one has
# at least _ALIKE_WORDS words.
_ALIKE = 0.7
_ALIKE_WORDS = 4
# The features of evidence that denies what a part of an option says.
DENIALS = ("denied option", "denied claim", "denied stem", "refused", "opposed")
# In a negated question, how strongly evidence that denies an option counts for choosing it. From 20 on the exact value
# matters little: 125 to 128 of 179 questions right in cross-validation, 121 at 12 and 106 at 5.
DENIED = 30.0


@dataclass(frozen=True, slots=True)
class Judged:
    """An option with its score for being chosen, the best evidence for that, and evidence from another document, if any."""

    option: Option
    support: float
    best: Bearing
    beside: Bearing | None


@dataclass(frozen=True, slots=True)
class Held:
    """A part of an option with the features of each piece of evidence, and those of all evidence together."""

    part: Part
    on_part: Sequence[Bearing]
    together: dict[str, float]


def examine(query: Query, passages: Sequence[Passage], index: Index) -> Draft:
    """Draft the answer: the letters with the reason, then one line per option.

    The draft is empty if no evidence is about the question.
    """
    if (by_rows := choose_types(query, passages, index)) is not None:
        return by_rows
    matter = matter_of(query, index)
    found = grounds(matter, query, passages, index)
    held = hold(matter, found, index)
    if not _speaks_of_it(matter, held):
        return Draft("", ())
    judge = _judged_false if query.negated else _judged
    judged = [judge(option, parts) for option, parts in zip(query.options, held, strict=True)]
    ranked = sorted(judged, key=lambda j: (-j.support, j.option.letter))
    best = chosen([j.option.text for j in ranked], query.choose)
    letters = sorted((ranked[i] for i in best), key=lambda j: j.option.letter)
    return replace(_draft(query, judged, letters), confidence=_likelihood([j.support for j in letters], [j.support for j in judged]))


def _likelihood(chosen: Sequence[float], supports: Sequence[float]) -> float:
    """Return the probability of the chosen options among all combinations of the same size; supports are log-odds."""
    worths = [sum(some) for some in combinations(supports, len(chosen))]
    return exp(sum(chosen) - _together(worths))


def chosen(ranked: Sequence[str], choose: int) -> list[int]:
    """Return the indexes of the `choose` best options, with only one of several near-duplicates if the others suffice.

    Of 148 pairs of near-duplicates in questions with several right options, 136 had one right.
    """
    said = [stems(text) for text in ranked]
    best: list[int] = []
    for place, words in enumerate(said):
        if len(best) < choose and not any(_alike(words, said[other]) for other in best):
            best.append(place)
    others = [place for place in range(len(ranked)) if place not in best]
    return [*best, *others][:choose]


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shorter = min(len(one), len(other))
    return shorter >= _ALIKE_WORDS and len(one & other) >= _ALIKE * shorter


def hold(matter: Matter, found: Sequence[Ground], index: Index) -> list[list[Held]]:
    """Return each part of each option with its features."""
    most = extremes(matter, found)
    return [
        [Held(part, on_part, profile(part, matter, on_part, extreme)) for part, on_part in zip(parts, on_parts, strict=True)]
        for parts, on_parts, extreme in zip(matter.parts, bearings(matter, found, index), most, strict=True)
    ]


@cache
def exam_weights() -> dict[str, float]:
    """The learned weights by feature name."""
    return dict(json.loads(resources.files("chatbot.exam_reader").joinpath("weights.json").read_text(encoding="utf-8")))


def _speaks_of_it(matter: Matter, held: Sequence[Sequence[Held]]) -> bool:
    """Whether any evidence is about the question at all."""
    every = [b for parts in held for h in parts for b in h.on_part]
    likeness = max((b.features["meaning"] + b.features["question meaning"] for b in every), default=0.0) / 2
    return likeness >= _LIKE or any(on_stem(matter, b.ground) * b.features["claim"] >= _SHARED for b in every)


def _judged(option: Option, parts: Sequence[Held]) -> Judged:
    support = sum(h.part.weight * (_together([_worth(b.features) for b in h.on_part]) + _worth(h.together)) for h in parts)
    every = sorted((b for h in parts for b in h.on_part), key=lambda b: -_worth(b.features))
    return Judged(option, support, every[0], _beside(every))


def _judged_false(option: Option, parts: Sequence[Held]) -> Judged:
    """Judge an option of a negated question: denial by relevant evidence counts for it, and so does a lack of evidence."""
    against = sum(h.part.weight * _falsehood([b.features for b in h.on_part], h.together) for h in parts)
    every = [b for h in parts for b in h.on_part]
    about = _shares([_relevance(b.features) for b in every])
    telling = [share * (1 + DENIED * denial(b.features)) for b, share in zip(every, about, strict=True)]
    return Judged(option, against, every[telling.index(max(telling))], None)


def _falsehood(evidence: Sequence[dict[str, float]], together: dict[str, float]) -> float:
    """Score how likely a part is false: denied by the relevant evidence, or not supported by any."""
    relevances = [_relevance(features) for features in evidence]
    denied = sum(share * denial(f) for share, f in zip(_shares(relevances), evidence, strict=True))
    return DENIED * denied - _together(relevances) - _worth(together)


def denial(features: dict[str, float]) -> float:
    """Return how far evidence denies the part it is compared with, 0 to 1."""
    return min(1.0, sum(features[name] for name in DENIALS))


def _relevance(features: dict[str, float]) -> float:
    """Return the score of evidence without the denial features: how relevant it is, whether it affirms or denies."""
    return _worth({name: value for name, value in features.items() if name not in DENIALS})


def _shares(worths: Sequence[float]) -> list[float]:
    """The softmax."""
    together = _together(worths)
    return [exp(worth - together) for worth in worths]


def _beside(ranked: Sequence[Bearing]) -> Bearing | None:
    """Return the best evidence of another document, if it is nearly as good as the best of all."""
    least = _worth(ranked[0].features) - _NEARLY
    first = _document(ranked[0])
    near = (b for b in ranked if _document(b) != first and b.features["place"] >= _ON_OPTION)
    return next((b for b in near if _worth(b.features) >= least), None)


def _document(bearing: Bearing) -> str:
    return bearing.ground.unit.chunk.document.id


def _worth(features: dict[str, float]) -> float:
    return sum(exam_weights().get(name, 0.0) * value for name, value in features.items())


def _together(worths: Sequence[float]) -> float:
    """Log-sum-exp: the best evidence decides, and further evidence adds a little."""
    most = max(worths)
    return most + log(sum(exp(worth - most) for worth in worths))


def _draft(query: Query, judged: Sequence[Judged], chosen: Sequence[Judged]) -> Draft:
    notes = Notes()
    letters = [j.option.letter for j in chosen]
    first = next((j for j in [*chosen, *judged] if _is_worth_saying(j)), chosen[0])
    lead = [b.ground for b in (first.best, first.beside) if b is not None]
    said = [notes.sentence(statement(g.unit, query), g.scored) for g in lead]
    notes.line(f"{', '.join(letters)}: {said[0]}", *said[1:])
    for j in judged:
        ground = j.best.ground
        line = notes.sentence(statement(ground.unit, query), ground.scored) if _is_worth_saying(j) else REFUSAL
        notes.line(f"- {j.option.label}: {line}")
    return notes.draft(letters)


def _is_worth_saying(judged: Judged) -> bool:
    return judged.best.features["place"] >= _WORTH_SAYING
