"""Score how well evidence answers a question: features of the pair, with weights learned from labelled examples."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import resources
from math import exp, log

from chatbot.answer import Passage
from chatbot.deadline import check
from chatbot.evidence import Unit, units
from chatbot.evidence.scored import Scored
from chatbot.language.names import mentioned, names, relatives, tasks
from chatbot.language.quantities import vague
from chatbot.language.words import STOP_WORDS, content_words, covered, stem, synonyms, vocabulary, words
from chatbot.question.asked_quantity import counted
from chatbot.question.query import Query
from chatbot.retrieval.meaning import nearness, nearness_of_words
from chatbot.verification.judge import answer_odds, in_its_place, relevant
from ingest import Index

# Units compared by meaning: the best ones by words. Encoding takes most of the time of a question.
COMPARED_BY_MEANING = 40
# How many of these the judge reads. 6, 8, 10, 12 and 16 all put the right unit first equally often (for 0.82 of 1,092
# labelled questions; 0.79 without the judge).
JUDGED = 8
# Factor on the score of the units that the judge does not read. Below eight likelier units, they are right this much
# less often than their features say.
_UNREAD = 0.1


_BY_MEANING = ("meaning", "meaning squared", "meaning alone", "nearness", "nearness alone", "attribute")
# In an index without vectors, every unit gets the similarity of a typical answer, so that words decide.
_BY_WORDS_ALONE = dict(zip(_BY_MEANING, (0.5, 0.25, 0.5, 0.6, 0.6, 0.0), strict=True))
# The shortest last part of a compound that counts as the word itself: NeuronCores are cores.
_COMPOUND = 4
# Factor on all scores if the question has a name that no document has ("Groq"): no evidence is then likely to answer.
_DOUBT = 0.1
_DENIED = re.compile(r"\b(?:not|without|no)\s+(?:the\s+)?[\w-]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    weight: float
    unseen: bool


def score_units(
    query: Query, passages: Sequence[Passage], index: Index, *, question: str | None = None
) -> list[Scored]:
    """Score every unit of the passages. The best comes first; ties are in document order.

    `question` replaces the query's own, to ask for one side of a comparison or one option alone.
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
    # Exam questions skip the judge: the exam reader applies weights of its own to what was found.
    if not query.options:
        found = [*_read(asked, found[:JUDGED]), *(replace(s, score=_UNREAD * s.score) for s in found[JUDGED:])]
    return sorted((replace(s, score=doubt * s.score) for s in found), key=_likeliest)


def _likeliest(scored: Scored) -> tuple[float, str, int]:
    return -scored.score, scored.unit.chunk.document.id, scored.unit.start


def _read(asked: str, found: Sequence[Scored]) -> list[Scored]:
    """Score the likeliest units again, with the judge's log odds as features."""
    odds = answer_odds(asked, [relevant(asked, in_its_place(s.unit)) for s in found])
    features = [{**s.features, "answers": float(o), "answers behind": float(odds.max() - o)} for s, o in zip(found, odds, strict=True)]
    return [replace(s, score=probability(f, "judged"), features=f) for s, f in zip(found, features, strict=True)]


def _meaning_features(query: Query, asked: str, near: Sequence[Unit], index: Index) -> list[dict[str, float]]:
    """Return each unit's similarity to the question, in context and alone, and to the words for the operation asked for."""
    if index.encoder_name == "none":
        return [dict(_BY_WORDS_ALONE) for _ in near]
    in_place = nearness([asked], [u.meant_in_place for u in near], index)
    alone = nearness([asked], [u.meant for u in near], index)
    of_operation = nearness_of_words(query.core, query.operation, [u.meant_in_place for u in near], index)
    (whole,), (by_words,), (whole_alone,), (by_words_alone,) = *in_place, *alone
    found = zip(whole, whole * whole, whole_alone, by_words, by_words_alone, of_operation, strict=True)
    return [dict(zip(_BY_MEANING, map(float, values), strict=True)) for values in found]


def _with_distances(found: Sequence[dict[str, float]]) -> list[dict[str, float]]:
    """Add to each unit's features their distance from the best: the right unit is seldom good, but better than others."""
    best = {name: max(f[name] for f in found) for name in (found[0] if found else ())}
    return [{**f, **{f"{name} behind": best[name] - value for name, value in f.items()}} for f in found]


def probability(features: dict[str, float], stage: str) -> float:
    """Return the logistic of the weighted features for a stage, "found" or "judged".

    The weights are in weights.json, made by benchmarks/learn_weights.py.
    """
    learned = weights()[stage]
    total = sum(learned.get(name, 0.0) * value for name, value in features.items()) + learned["bias"]
    return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, total))))


@cache
def weights() -> dict[str, dict[str, float]]:
    """Load the learned weights by stage and feature name."""
    return dict(json.loads(resources.files("chatbot.reader").joinpath("weights.json").read_text(encoding="utf-8")))


def inverse_document_frequency(word: str, index: Index) -> float:
    """Return the BM25 form of Robertson and Walker, over chunks, never negative: ln(1 + (N - n + 0.5) / (n + 0.5))."""
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
    """Return a rough score before meaning is known: names and words decide which units are worth encoding."""
    return (
        features["words"] + features["words in place"] + features["passage"] + features["names"] + 0.5 * features["names in place"]
        + 0.5 * features["quantity"] + 0.5 * features["size"] - features["other name"]
    )  # fmt: skip


def _overlap(weighed: Sequence[_Word], text: str) -> tuple[float, float]:
    """Return the share of the question's words, by weight, that a text has (a synonym counts 0.7), and the weight of
    the heaviest word that it lacks, divided by 6, the weight of an average rare word."""
    total = sum(w.weight for w in weighed)
    held = covered((w.text for w in weighed), text, synonym=0.7)
    lacks = max((w.weight * (1 - part) for w, part in zip(weighed, held, strict=True)), default=0.0)
    return (sum(w.weight * part for w, part in zip(weighed, held, strict=True)) / total if total else 0.0), lacks / 6


def _unseen(weighed: Sequence[_Word]) -> float:
    """Return the share of the question's words, by weight, that neither the corpus nor the vocabulary has."""
    total = sum(w.weight for w in weighed)
    return sum(w.weight for w in weighed if w.unseen) / total if total else 0.0


def _label_match(weighed: Sequence[_Word], unit: Unit) -> float:
    """Return how much of a line's label the question mentions: "Cost benefit: ..." for a question on cost benefit."""
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
    """Whether a unit has a quantity of the kind asked for. If something is counted, it must be named beside the number."""
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
    """Whether the counted noun is the wanted one: the same word, a synonym, or a compound of it."""
    said = words(noun)
    asked, groups = {stem(w) for w in wanted}, {g for w in wanted for g in synonyms(w)}
    return (
        bool(asked & {stem(w) for w in said})
        or bool(groups & {g for w in said for g in synonyms(w)})
        or any(w.endswith(one) for one in wanted if len(one) >= _COMPOUND for w in said)
    )


def other_qualifier(question: str, text: str) -> bool:
    """Whether a text is about the other thing of the same name: accelerator memory instead of the host memory asked for."""
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


# Cached, because the same question is compared with every unit.
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
