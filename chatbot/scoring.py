"""How well a piece of evidence answers a question: features of the pair, weighed by what labelled examples taught."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import resources
from math import exp, log

from chatbot.answer import Passage
from chatbot.asked_quantity import counted
from chatbot.deadline import check
from chatbot.evidence import Unit, units
from chatbot.judge import answer_odds, in_its_place, relevant
from chatbot.meaning import nearness, nearness_of_words
from chatbot.names import mentioned, names, relatives, tasks
from chatbot.quantities import vague
from chatbot.query import Query
from chatbot.words import STOP_WORDS, content_words, covered, stem, synonyms, vocabulary, words
from ingest import Index

# So many units are compared by meaning, the best of them by words, and so many of these are read by the judge: encoding is what a question's time is spent on.
COMPARED_BY_MEANING = 40
# Of 6, 8, 10, 12 and 16 all put the right unit first equally often (0.82 of 1,092 labelled questions, 0.79 without the judge).
JUDGED = 8
# Where eight are likelier, a unit is right this much less often than its features say.
_UNREAD = 0.1


_BY_MEANING = ("meaning", "meaning squared", "meaning alone", "nearness", "nearness alone", "attribute")
# In an index that is read by words alone every unit counts as near as an answer usually is: the words decide among them.
_BY_WORDS_ALONE = dict(zip(_BY_MEANING, (0.5, 0.25, 0.5, 0.6, 0.6, 0.0), strict=True))
# So long must the last part of a compound be to count as the word itself: NeuronCores are cores.
_COMPOUND = 4
# A name that no document has ("Groq") makes it unlikely that any evidence answers.
_DOUBT = 0.1
_DENIED = re.compile(r"\b(?:not|without|no)\s+(?:the\s+)?[\w-]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Scored:
    """A unit with the probability that it answers the question, and the features that say so."""

    unit: Unit
    passage: Passage
    score: float
    features: dict[str, float]

    @property
    def document(self) -> str:
        """The id of the document that the unit stands in."""
        return self.unit.chunk.document.id


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    weight: float
    unseen: bool


def score_units(
    query: Query, passages: Sequence[Passage], index: Index, *, question: str | None = None
) -> list[Scored]:
    """Every unit of the passages with its score, best first; ties in document order.

    `question` stands for the query's own where one side of a comparison or one option is asked for alone.
    """
    asked = question or query.core
    weighed = _weighed(asked, index)
    pairs = list({(u.chunk.document.id, u.start): (u, p) for p in reversed(passages) for u in units(p.chunk)}.values())
    rough = [_word_features(query, weighed, unit, passage) for unit, passage in pairs]
    order = sorted(
        range(len(pairs)), key=lambda i: (-_rough(rough[i]), pairs[i][0].chunk.document.id, pairs[i][0].start)
    )
    near = [pairs[i][0] for i in order[:COMPARED_BY_MEANING]]
    compared = _meaning_features(query, asked, near, index)
    unknown = [dict.fromkeys(compared[0], 0.0)] * (len(pairs) - len(near)) if near else []
    features = _with_distances([{**rough[i], **found} for i, found in zip(order, compared + unknown, strict=True)])
    doubt = _DOUBT if query.strangers else 1.0
    found = [Scored(*pairs[i], probability(f, "found"), f) for i, f in zip(order, features, strict=True)]
    found.sort(key=_likeliest)
    # The exam reader has weights of its own, for what was found.
    if not query.options:
        found = [*_read(asked, found[:JUDGED]), *(replace(s, score=_UNREAD * s.score) for s in found[JUDGED:])]
    return sorted((replace(s, score=doubt * s.score) for s in found), key=_likeliest)


def _likeliest(scored: Scored) -> tuple[float, str, int]:
    return -scored.score, scored.unit.chunk.document.id, scored.unit.start


def _read(asked: str, found: Sequence[Scored]) -> list[Scored]:
    """The likeliest units with what the judge makes of them."""
    odds = answer_odds(asked, [relevant(asked, in_its_place(s.unit)) for s in found])
    features = [{**s.features, "answers": float(o), "answers behind": float(odds.max() - o)} for s, o in zip(found, odds, strict=True)]
    return [replace(s, score=probability(f, "judged"), features=f) for s, f in zip(found, features, strict=True)]


def _meaning_features(query: Query, asked: str, near: Sequence[Unit], index: Index) -> list[dict[str, float]]:
    """How near each unit is to the question, with its headings and alone, and to the words for what is to be done."""
    if index.encoder_name == "none":
        return [dict(_BY_WORDS_ALONE) for _ in near]
    in_place = nearness([asked], [u.meant_in_place for u in near], index)
    alone = nearness([asked], [u.meant for u in near], index)
    of_operation = nearness_of_words(query.core, query.operation, [u.meant_in_place for u in near], index)
    (whole,), (by_words,), (whole_alone,), (by_words_alone,) = *in_place, *alone
    found = zip(whole, whole * whole, whole_alone, by_words, by_words_alone, of_operation, strict=True)
    return [dict(zip(_BY_MEANING, map(float, values), strict=True)) for values in found]


def _with_distances(found: Sequence[dict[str, float]]) -> list[dict[str, float]]:
    """Each unit's features with how far they lie behind the best unit's: the right one is seldom good, but better than the rest."""
    best = {name: max(f[name] for f in found) for name in (found[0] if found else ())}
    return [{**f, **{f"{name} behind": best[name] - value for name, value in f.items()}} for f in found]


def probability(features: dict[str, float], stage: str) -> float:
    """The logistic of the weighted features (weights.json, made by benchmarks/learn_weights.py), "found" or "judged"."""
    learned = weights()[stage]
    total = sum(learned.get(name, 0.0) * value for name, value in features.items()) + learned["bias"]
    return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, total))))


@cache
def weights() -> dict[str, dict[str, float]]:
    """The learned weights by stage and feature name."""
    return dict(json.loads(resources.files("chatbot").joinpath("weights.json").read_text(encoding="utf-8")))


def inverse_document_frequency(word: str, index: Index) -> float:
    """The BM25 form of Robertson and Walker, never negative: ln(1 + (N - n + 0.5) / (n + 0.5)) over chunks."""
    held = _chunks_with(word, index)
    return log(1 + (len(index) - held + 0.5) / (held + 0.5))


def _chunks_with(word: str, index: Index) -> int:
    return max(index.document_frequency(form) for form in {word, stem(word), f"{word}s", word.removesuffix("s")})


def _weighed(question: str, index: Index) -> list[_Word]:
    return [_Word(w, inverse_document_frequency(w, index), not _chunks_with(w, index) and not synonyms(w)) for w in content_words(question)]


def _word_features(query: Query, weighed: Sequence[_Word], unit: Unit, passage: Passage) -> dict[str, float]:
    here = unit.meant
    place = f"{unit.meant_in_place} {unit.chunk.document.title}"
    check()
    (overlap, missing), (overlap_place, missing_place) = (_overlap(weighed, text) for text in (here, f"{here} {place}"))
    return {
        "words": overlap,
        "words in place": overlap_place,
        "words squared": overlap_place * overlap_place,
        "passage": passage.score,
        "missing": missing,
        "missing in place": missing_place,
        "unseen": _unseen(weighed),
        "label": _label_match(weighed, unit),
        "row": float(unit.kind == "row"),
        "item": float(unit.kind == "item"),
        "note": float(unit.kind == "note"),
        "length": min(len(here), 600) / 300,
        "short": float(len(here.split()) < 4),
        "asks": float(here.endswith("?")),
        **_name_features(query, unit, here, place),
        **_quantity_features(query, unit),
        **_task_features(query, here, place),
    }


def _rough(features: dict[str, float]) -> float:
    """The order before meaning is known: names and words decide what is worth encoding."""
    return (
        features["words"] + features["words in place"] + features["passage"] + features["names"] + 0.5 * features["names in place"]
        + 0.5 * features["quantity"] + 0.5 * features["size"] - features["other name"]
    )  # fmt: skip


def _overlap(weighed: Sequence[_Word], text: str) -> tuple[float, float]:
    """The share of the question's words, by weight, that a text holds, a synonym counting 0.7; and the weight of the heaviest that it
    lacks, in sixths of an average rare word's."""
    total = sum(w.weight for w in weighed)
    held = covered((w.text for w in weighed), text, synonym=0.7)
    lacks = max((w.weight * (1 - part) for w, part in zip(weighed, held, strict=True)), default=0.0)
    return (sum(w.weight * part for w, part in zip(weighed, held, strict=True)) / total if total else 0.0), lacks / 6


def _unseen(weighed: Sequence[_Word]) -> float:
    """The share of the question's words, by weight, that stand nowhere in the corpus and mean nothing to the vocabulary."""
    total = sum(w.weight for w in weighed)
    return sum(w.weight for w in weighed if w.unseen) / total if total else 0.0


def _label_match(weighed: Sequence[_Word], unit: Unit) -> float:
    """How much of a labelled line's label the question says: "Cost benefit: ..." for a question on cost benefit."""
    found = content_words(unit.label[0])
    return sum(covered(found, " ".join(w.text for w in weighed), synonym=0.7)) / len(found) if found else 0.0


def _name_features(query: Query, unit: Unit, here: str, place: str) -> dict[str, float]:
    wanted = [e.lower() for e in query.entities]
    there = mentioned(here)
    pairs = [(e.lower(), {r.lower() for r in relatives(e)}) for e in query.entities]
    owner = there | next((found for above in reversed(unit.above) if (found := mentioned(above))), frozenset())

    def named(text: frozenset[str]) -> float:
        return sum(1.0 if w in text else 0.8 if r & text else 0.0 for w, r in pairs) / max(1, len(pairs))

    return {
        "new name": float(query.wants_name and bool(there - set(wanted))),
        "sibling": float(any("." in w and w not in there and _siblings(w, there) for w in wanted)),
        "names": named(there),
        "names in place": named(there | mentioned(place)),
        "owner": float(named(owner) > 0),
        "no name asked": float(not wanted),
        "other name": float(bool(wanted and there) and not named(there)),
    }


def _siblings(instance: str, there: frozenset[str]) -> bool:
    """Whether a text names another size of the instance's family."""
    family = instance.split(".")[0] + "."
    return any(name.startswith(family) and name != instance for name in there)


def _quantity_features(query: Query, unit: Unit) -> dict[str, float]:
    found = unit.quantities
    dimensions = {q.dimension for q in found}
    wanted = query.dimensions - {"parameters"} if query.sizes else query.dimensions
    held = answers_quantity(query, unit)
    fits = any(f.holds(s) for f in found for s in query.sizes)
    return {
        "quantity": float(query.asks_number and held),
        "no quantity": float(query.asks_number and bool(wanted) and not held),
        "no number": float(query.asks_number and not found),
        "size": float(fits),
        "other size": float(bool(query.sizes) and "parameters" in dimensions and not fits),
    }


def answers_quantity(query: Query, unit: Unit) -> bool:
    """Whether a unit holds a quantity of the kind asked for; what is counted must be said beside the number."""
    wanted = [w for w in counted(query.standalone) if w not in STOP_WORDS]
    of_other = frozenset({"count"}) if wanted and not _same_thing(wanted, unit.plain) else frozenset[str]()
    if vague(unit.plain, query.dimensions - of_other):
        return True
    return any(
        q.dimension in query.dimensions
        and (
            q.dimension != "count"
            or not wanted
            or _same_thing(wanted, f"{q.noun} {unit.label[0] if unit.cells else ''}")
            or (not query.entities and _is_chip(wanted) and any(n.kind == "hardware" for n in names(q.noun)))
        )
        for q in unit.quantities
    )


def _is_chip(wanted: Sequence[str]) -> bool:
    return any("chip" in synonyms(w) for w in wanted)


def _same_thing(wanted: Sequence[str], noun: str) -> bool:
    """Whether what is counted is what is to be counted: by the word, a synonym, or a compound of it."""
    said = words(noun)
    asked, groups = {stem(w) for w in wanted}, {g for w in wanted for g in synonyms(w)}
    return (
        bool(asked & {stem(w) for w in said})
        or bool(groups & {g for w in said for g in synonyms(w)})
        or any(w.endswith(one) for one in wanted if len(one) >= _COMPOUND for w in said)
    )


def other_qualifier(question: str, text: str) -> bool:
    """Whether a text speaks of the other thing of the same name: accelerator memory where host memory is asked for."""
    asked, said = _affirmed(question), set(words(text))
    for entry in vocabulary()["qualifiers"]:
        for mine, other in (entry["sides"], entry["sides"][::-1]):
            if (
                asked & set(entry["of"])
                and asked & set(mine)
                and not asked & set(other)
                and said & set(other)
                and not said & set(mine)
            ):
                return True
    return False


# One question is asked of every unit.
@lru_cache(maxsize=256)
def _affirmed(question: str) -> frozenset[str]:
    return frozenset(words(_DENIED.sub(" ", question)))


def _task_features(query: Query, here: str, place: str) -> dict[str, float]:
    there = tasks(here) or tasks(place)
    opposites = {vocabulary()["opposites"].get(t) for t in query.tasks} - query.tasks
    return {
        "task": float(bool(query.tasks & there)),
        "opposite task": float(bool(opposites & there) and not query.tasks & there),
    }
