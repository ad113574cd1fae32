"""Decisions: which hardware meets most of what was asked for, why, what else would do, and what to mind."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chatbot.answer import Passage
from chatbot.attribute import speaks_of_attribute
from chatbot.draft import Draft, Notes
from chatbot.eligibility import ANSWERS, repeats
from chatbot.evidence import Unit
from chatbot.judge import answers_so
from chatbot.names import maker, makers, names, relatives
from chatbot.phrasing import statement
from chatbot.polarity import denies
from chatbot.quantities import quantities
from chatbot.query import Query
from chatbot.scoring import Scored, inverse_document_frequency
from chatbot.tasks import tasks
from chatbot.vendors import CONCEDED, is_allowed, refused_makers, without_denials
from chatbot.words import content_words, stem, stems, stems_and_groups, synonyms
from ingest import Index

# Evidence for one criterion of several need not answer the whole question.
_CRITERION = 0.1
# How much of what evidence meets counts with its score only.
_TRUST = 0.6
# Evidence so much better than any for hardware says that the choice is not one of hardware.
_BESIDE = 3.0
_ENOUGH = 1.6
# What a choice can be made for, as groups of words: "Maximum speed: …" is no answer to who asks for the cheapest.
_PRIORITIES = frozenset(["cost", "saving", "fast", "latency", "footprint", "energy", "balanced"])
# How a choice is carried out is nothing that evidence must speak of.
_ACQUIRES = stems("buy purchase rent lease order procure acquire")
# What does not matter is no priority.
_NO_MATTER = re.compile(
    r"\b(?:money|cost|costs|price|budget|expense)\b(?: is| are)? (?:no (?:object|issue|concern|problem|limit)|does(?: not|n['’]t) matter|(?:is|are) (?:secondary|irrelevant|unimportant))"
    r"|\b(?:regardless of|whatever|no matter|not caring about|ignoring)(?: what)?(?: the| it)? (?:costs?|price|money|budget)\b|\bnot (?:about|for) (?:the )?(?:money|cost|price)\b"
    r"|\bneither (?:the )?[\w-]+ nor (?:the )?[\w-]+",
    re.IGNORECASE,
)
_ABOUT_AS_GOOD = 0.8
_SHORT = 4
_CAVEAT = re.compile(
    r"\b(requires?|but|however|avoid|over-?provision\w*|under-?provision\w*|insufficient|limited|upfront|not|unless|depends?|caution|only|growing)\b",
    re.IGNORECASE,
)
# What a sentence advises against it does not speak for.
_ADVISED_AGAINST = re.compile(
    r"\b(?:(?:do|does|should|would|must|can|need)(?: not|n['’]t)|never|avoid|cannot|can['’]t)\b[^,;.:]*", re.IGNORECASE
)
# What is worse than something is no alternative to it.
_IS_WORSE = re.compile(r"\b(?:less [\w-]*efficien\w*|worse|slower|weaker|poorer)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Criterion:
    """Something that was asked for; `groups` and `stems` are the words that meet it."""

    name: str
    stems: frozenset[str]
    groups: frozenset[str]
    weight: float = 1.0


def decide(query: Query, scored: Sequence[Scored], passages: Sequence[Passage], index: Index) -> Draft | None:
    """The recommendation first, the criteria of the sources it meets, alternatives, caveats."""
    if not query.decides or not scored:
        return None
    if query.attribute and not any(
        speaks_of_attribute(query.attribute, s.unit.meant_in_place, every=False) for s in scored[:8]
    ):
        return None
    wanted = criteria(query, index)
    usable = [
        s
        for s in scored
        if s.score >= _CRITERION * ANSWERS
        and s.unit.kind != "note"
        and not s.unit.meant.endswith("?")
        and not s.features["opposite task"]
        and not _has_another_priority(s.unit, query)
        and not set(makers(without_denials(s.unit.meant))) & refused_makers(query.standalone)
    ]
    if any(s.features["size"] for s in usable):
        usable = [s for s in usable if not s.features["other size"]]
    ranked = _ranked(query, usable, wanted) if query.sizes or not _is_foreign(query, wanted, index) else []
    if ranked and usable[0].score > _BESIDE * max(s.score for s in ranked[0][2]) and usable[0].score >= ANSWERS:
        return None
    if ranked and _is_labelled_otherwise(usable[0], ranked[0][2]):
        return None
    if not ranked or not (
        max(s.score for s in scored) >= ANSWERS or any(_is_enough(s, query, wanted) for s in ranked[0][2])
    ):
        return None
    return _draft(query, ranked, usable, wanted)


def _is_labelled_otherwise(best: Scored, found: Sequence[Scored]) -> bool:
    """Whether the best evidence names no hardware ("Full fine-tuning: as for pre-training"), but its label is what is asked for, and
    that of the items beside it which name some is something else."""
    beside = [s for s in found if s.unit.chunk.id == best.unit.chunk.id and s.unit.above == best.unit.above]
    asked_for = bool(best.unit.label[0]) and best.features["label"] >= 1.0 and not _candidates(best.unit)
    return asked_for and best.score >= ANSWERS and bool(beside) and all(s.features["label"] < 1.0 for s in beside)


def _has_another_priority(unit: Unit, query: Query) -> bool:
    """Whether a unit's label says what it is best for, and that is nothing the question cares for, but something else."""
    asked, said = _priorities(_NO_MATTER.sub(" ", query.standalone)), _priorities(unit.label[0])
    return bool(asked and said) and not asked & said


def _priorities(text: str) -> frozenset[str]:
    return stems_and_groups(text)[1] & _PRIORITIES


def _is_foreign(query: Query, wanted: Sequence[Criterion], index: Index) -> bool:
    """Whether a short question asks for something that the corpus has no word for ("video transcoding")."""
    asked = stems(query.asking) - _ACQUIRES
    words_asked = [c for c in wanted if c.stems & asked]
    unseen = [
        c for c in words_asked if not c.groups and not any(index.document_frequency(w) for w in (c.name, *c.stems))
    ]
    return bool(unseen) and len(words_asked) <= _SHORT and 2 * len(unseen) >= len(words_asked)


def _is_enough(scored: Scored, query: Query, wanted: Sequence[Criterion]) -> bool:
    """Whether evidence that shares few words with a question still meets its size, or two of its criteria that tell much."""
    met = [m for c in wanted if (m := meets(c, scored, query))]
    return scored.features["size"] > 0 or (len(met) >= 2 and sum(met) >= _ENOUGH)


def criteria(query: Query, index: Index) -> list[Criterion]:
    """What a question asks for: the model's size, each task, and each word that is not the name of the thing itself."""
    found = [Criterion("size", frozenset(), frozenset())] if query.sizes else []
    found += [Criterion(f"task {task}", frozenset(), frozenset()) for task in sorted(query.tasks)]
    seen: set[str] = set()
    spoken_for = {stem(w) for n in query.entities for w in content_words(n)}
    for word in content_words(_NO_MATTER.sub(" ", query.standalone)):
        groups = synonyms(word) - {"recommend", "chip", "instance", "model", "training", "inference", "purpose"}
        if (
            any(c.isdigit() for c in word)
            or stem(word) in spoken_for
            or groups & seen
            or (synonyms(word) and not groups)
        ):
            continue
        seen |= groups
        found.append(
            Criterion(
                word, frozenset({stem(word)}), groups, min(2.0, (inverse_document_frequency(word, index) / 3) ** 2)
            )
        )
    return found


def meets(criterion: Criterion, scored: Scored, query: Query) -> float:
    """How far evidence meets a criterion: 0, or up to the criterion's weight (1.5 for a model size in its band)."""
    unit = scored.unit
    if criterion.name == "size":
        return 1.5 if any(f.holds(s) for f in quantities(unit.meant_in_place) for s in query.sizes) else 0.0
    if criterion.name.startswith("task "):
        return 1.0 if criterion.name[5:] in tasks(unit.meant_in_place) else 0.0
    text = content_words(unit.meant_in_place)
    if criterion.stems & {stem(w) for w in text}:
        return criterion.weight
    return 0.8 * criterion.weight if criterion.groups & {g for w in text for g in synonyms(w)} else 0.0


def _ranked(
    query: Query, usable: Sequence[Scored], criteria: Sequence[Criterion]
) -> list[tuple[str, float, list[Scored]]]:
    """Candidates with what they meet, best first: each criterion counts once, through the best evidence for it."""
    evidence: dict[str, list[Scored]] = {}
    for s in usable:
        for name in _candidates(s.unit):
            evidence.setdefault(name, []).append(s)
    ranked = []
    for name, found in evidence.items():
        if not is_allowed(name, query.standalone):
            continue
        met = sum(max(meets(c, s, query) * (1.0 - _TRUST + _TRUST * s.score) for s in found) for c in criteria)
        # A kind of hardware ("CPU") is a poorer answer than a piece of it.
        ranked.append((name, (met + max(s.score for s in found)) * (1.0 if maker(name) else 0.9), found))
    return sorted(ranked, key=lambda r: (-r[1], r[0]))


def _candidates(unit: Unit) -> list[str]:
    """The hardware that a unit speaks for: what it names or, when it names none, what stands nearest above it."""
    advised_against = {n.name for m in _ADVISED_AGAINST.finditer(unit.meant) for n in names(m.group())}
    here = [n.name for n in names(CONCEDED.sub(" ", unit.meant)) if n.kind in ("hardware", "instance") and n.known]
    if here:
        return [name for name in here if name not in advised_against]
    for above in reversed(unit.above):
        if found := [n.name for n in names(above) if n.kind in ("hardware", "instance") and n.known]:
            return found
    return []


def _draft(
    query: Query,
    ranked: Sequence[tuple[str, float, list[Scored]]],
    usable: Sequence[Scored],
    criteria: Sequence[Criterion],
) -> Draft:
    name, _, found = ranked[0]
    notes = Notes()
    ordered = sorted(found, key=lambda s: -(s.score + sum(meets(c, s, query) for c in criteria)))
    reasons = _covering(ordered, criteria, query)
    choice = _first_named(reasons[0].unit, ranked)
    first = statement(reasons[0].unit, query)
    if answers_so(query.standalone, f"{choice}.", [reasons[0].unit]):
        first = _headline(choice, first, reasons[0].unit.label[0])
    notes.line(
        notes.sentence(first, reasons[0]),
        *(notes.sentence(statement(s.unit, query), s) for s in reasons[1:3]),
    )
    others = _alternatives(choice, ranked, reasons, query, criteria)
    if others:
        notes.line("Alternatives: " + " ".join(notes.sentence(statement(s.unit, query), s) for s in others))
    caveats = [
        s
        for s in usable
        if s not in reasons and s not in others and name in _candidates(s.unit) and _CAVEAT.search(s.unit.meant)
    ]
    if caveats:
        notes.line(notes.sentence(f"Caveat: {statement(caveats[0].unit, query)}", caveats[0]))
    return notes.draft()


def _headline(choice: str, said: str, label: str) -> str:
    """The choice before its reason: "Use Trainium for training from scratch (AWS-native workflows)" of an item with such a label."""
    rest = said.removeprefix(f"{label}: ")
    if label and rest != said and rest.startswith(f"{choice} "):
        return f"Use {rest.rstrip('.')} ({label})"
    return f"Use {choice}: {said}"


def _first_named(unit: Unit, ranked: Sequence[tuple[str, float, list[Scored]]]) -> str:
    """The best candidate or, where its evidence lists others that are about as good, the one it lists first."""
    good = [name for name, merit, _ in ranked if merit >= _ABOUT_AS_GOOD * ranked[0][1]]
    return next((name for name in _candidates(unit) if name in good), ranked[0][0])


def _covering(ordered: Sequence[Scored], criteria: Sequence[Criterion], query: Query) -> list[Scored]:
    """Evidence that together meets as many criteria as possible, greedily, at most three pieces."""
    chosen: list[Scored] = [ordered[0]]
    met = {c.name for c in criteria if meets(c, ordered[0], query)}
    for candidate in ordered[1:]:
        new = {c.name for c in criteria if meets(c, candidate, query)} - met
        if len(chosen) < 3 and new and not any(repeats(candidate, c) for c in chosen):
            chosen.append(candidate)
            met |= new
    return chosen


def _alternatives(
    choice: str,
    ranked: Sequence[tuple[str, float, list[Scored]]],
    reasons: Sequence[Scored],
    query: Query,
    wanted: Sequence[Criterion],
) -> list[Scored]:
    """For the next best candidates, the evidence that meets most of what was asked for and does not speak for the choice;
    none where it meets little."""
    kin = {relative for s in reasons for name in _candidates(s.unit) for relative in relatives(name)}
    chosen: list[Scored] = []
    for name, _, found in [r for r in ranked if r[0] != choice][:4]:
        others = [
            s
            for s in found
            if s not in reasons
            and choice not in _candidates(s.unit)
            and not denies(s.unit.meant)
            and not _IS_WORSE.search(s.unit.meant)
        ]
        new = [s for s in others if not any(repeats(s, c) for c in (*reasons, *chosen))]
        best = max(new, key=lambda s: (_met(s, query, wanted), s.score), default=None)
        if best and name not in kin and len(chosen) < 2 and _met(best, query, wanted) >= _ENOUGH / 2:
            chosen.append(best)
    return chosen


def _met(scored: Scored, query: Query, wanted: Sequence[Criterion]) -> float:
    return sum(meets(c, scored, query) for c in wanted)
