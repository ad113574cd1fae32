"""Facts and numbers: the best evidence first, what adds to it after, and figures side by side where sources differ."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from math import prod

from chatbot.answer import Passage
from chatbot.attribute import asked_attribute, speaks_of_attribute
from chatbot.draft import Draft, Notes
from chatbot.names import makers, proper_names
from chatbot.phrasing import columns, statement
from chatbot.quantities import Quantity, quantities, same
from chatbot.query import Query
from chatbot.scoring import Scored, answers_quantity, other_qualifier
from chatbot.words import content_words, stem, stems, stems_and_groups, synonyms
from ingest import Index

# The probability from which evidence answers: benchmarks/learn_weights.py prints refusals against false answers for each value.
ANSWERS = 0.04
# An unsure answer is followed by what may be right as well, until so little doubt is left.
DOUBT = 0.05
# A question most of whose words the corpus does not have is answered by good evidence only.
_FOREIGN = 0.7
_FOREIGN_ANSWERS = 0.06
_FURTHER = 0.02
_FLOOR = 0.005
_WORDS = 80
_DIFFERING = 0.25
# How much of the question's words another figure must share with the best one to be a figure for the same thing.
_MATTER = 0.6
# Another figure of the same document must be this near to the best one: a document has figures for many matters.
_BESIDE = 0.4
# Another document's evidence may be this much weaker, but must say as much of the question.
_ELSEWHERE = 0.1
_SAME_WORDS = 0.8
_OF_A_DOCUMENT = 2
_FIGURES_OF_A_DOCUMENT = 3
_RELATED = 0.4
_RESTATES = 0.7
# A figure of one card is none of a whole instance.
_SHARE = re.compile(
    r"\b(?:per|each) (?:gpu|chip|accelerator|card|core|device|instance|node|vcpu)s?\b|\b(?:gb|gib|tb|tib|gpus?|\d) each\b",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"(?:[^:.]{0,60}:\s+)?(?:use|choose|move|turn|set|run|schedule|prefer|avoid|do not|reduce|measure|keep|start|stop|switch|select|share|buy|train|reuse|right-size|shut|place|divide|delete|compare|consider|enable|increase|lower|apply|try|store)\b",
    re.IGNORECASE,
)
_OPTION = re.compile(r"option\s+\(?[A-H]\)?[.:)]\s", re.IGNORECASE)
# So many words, and so many in capitals, are a name or a caption.
_CAPTION = 5
_TITLE = 10
_PER = re.compile(
    r"\b(?:per|an|a|each|every)\s+(hour|month|year|day|token|card|chip|gpu|instance|unit|query|request)\b|\b(hour)ly\b",
    re.IGNORECASE,
)


def state_facts(query: Query, scored: Sequence[Scored], passages: Sequence[Passage], index: Index) -> Draft | None:
    """The answer in one sentence, then at most four that add to it; None when no evidence is good enough."""
    found = eligible(query, scored)
    if not found or found[0].score < (_FOREIGN_ANSWERS if found[0].features["unseen"] > _FOREIGN else ANSWERS):
        return None
    differing = figures_that_differ(query, found) if query.asks_number else []
    if len(differing) > 1:
        return _side_by_side(query, differing)
    notes = Notes()
    chosen = siblings(query, found[0], found) if query.wants_list else []
    if len(chosen) < 2:
        chosen = further(query, found, limit=4)
        chosen += _grounds(query, chosen, found) or elsewhere(chosen, found)
    notes.line(*_sentences(notes, query, chosen, scored), *corrections(notes, query, chosen, scored))
    return notes.draft()


def elsewhere(chosen: Sequence[Scored], found: Sequence[Scored]) -> list[Scored]:
    """What another document says of the very same matter, so that no source is chosen silently; at most one piece."""
    best = chosen[0]
    told = {_document(c) for c in chosen}
    if len(told) > 1:
        return []
    near = (
        s
        for s in found
        if _document(s) not in told
        and s.unit.kind != "note"
        and s.score >= _ELSEWHERE * best.score
        and s.features["words in place"] >= _SAME_WORDS * best.features["words in place"]
        and not any(repeats(s, c) for c in chosen)
    )
    return list(islice(near, 1))


def siblings(query: Query, best: Scored, found: Sequence[Scored]) -> list[Scored]:
    """A list's items beside the best one, in their order, at most six: a question for several things wants them all.

    The best one alone where it is the only item on what is asked, in a list that is about something else.
    """
    beside = [
        s
        for s in found
        if s.unit.chunk.id == best.unit.chunk.id
        and s.unit.above == best.unit.above
        and s.unit.kind == best.unit.kind != "note"
    ]
    if best.unit.kind not in ("item", "row") or _stands_apart(query, best, beside):
        return [best]
    return sorted(beside, key=lambda s: s.unit.start)[:6]


def _stands_apart(query: Query, best: Scored, beside: Sequence[Scored]) -> bool:
    """Whether an item's label names what is asked about, and neither the heading of its list nor another item does."""
    label = best.unit.cells[0][1] if best.unit.cells else best.unit.label[0]
    elsewhere = stems(" ".join([*best.unit.above, *(s.unit.plain for s in beside if s is not best)]))
    return bool(stems(query.standalone) & stems(label) - elsewhere)


def _grounds(query: Query, chosen: Sequence[Scored], found: Sequence[Scored]) -> list[Scored]:
    """For "why", what stands beside a sentence that only says the question again."""
    if not re.match(r"\W*(?:so\s+)?why\b", query.standalone, re.IGNORECASE) or chosen[0].features["words"] < _RESTATES:
        return []
    place = chosen[0].unit
    beside = [s for s in found if s.unit.chunk.id == place.chunk.id and s not in chosen and s.unit.kind != "note"]
    near = sorted(beside, key=lambda s: min(abs(s.unit.start - place.end), abs(place.start - s.unit.end)))
    return near[:2]


def eligible(query: Query, scored: Sequence[Scored]) -> list[Scored]:
    """The evidence that can answer at all: it speaks of what is asked about, and holds a quantity of the kind asked for."""
    found = [s for s in scored if _on_subject(query, s) and _of_kind(query, s) and not s.unit.plain.endswith("?")]
    return sorted(found, key=lambda s: -_fitness(query, s))


def _fitness(query: Query, scored: Scored) -> float:
    """The score, with what fits the kind of answer first: a name for "which chip", a number for "how much", what to do for "how"."""
    fitness = scored.score * (0.5 if scored.unit.kind == "note" else 1.0)
    if query.wants_name and not scored.features["new name"]:
        fitness *= 0.5
    if query.asks_number and query.dimensions and not answers_quantity(query, scored.unit):
        fitness *= 0.3
    if scored.score >= ANSWERS and query.asks_how and _IMPERATIVE.match(scored.unit.plain):
        fitness *= 2.0
    return fitness


def _on_subject(query: Query, scored: Scored) -> bool:
    """Whether the evidence speaks of what the question names, and not of another size of it."""
    if not query.entities:
        return True
    return not scored.features["sibling"] and scored.features["owner"] > 0


def _of_kind(query: Query, scored: Scored) -> bool:
    if (is_bare(scored) and not scored.features["new name"]) or other_qualifier(query.standalone, scored.unit.plain):
        return False
    wanted = asked_attribute(query.core, query.yes_no) if query.entities or proper_names(query.core) else ()
    said = f"{scored.unit.meant_in_place} {_provenance(scored)}"
    if not speaks_of_attribute(wanted, said, every=query.yes_no):
        return False
    if not query.strict or query.yes_no:
        return True
    if not _names_all(query.standalone, scored):
        return False
    per = _PER.search(query.standalone) if "money" in query.dimensions else None
    said = said.lower()
    return answers_quantity(query, scored.unit) and (per is None or (per[1] or per[2]).lower() in said)


def _names_all(question: str, scored: Scored) -> bool:
    """Whether evidence for a figure speaks of every capitalised thing that the question names, makers apart."""
    said = f"{scored.unit.meant_in_place} {_provenance(scored)}"
    held, groups = stems_and_groups(said)
    named = [w for name in proper_names(question) if not makers(name) for w in content_words(name)]
    return all(stem(w) in held or synonyms(w) & groups for w in named)


def _provenance(scored: Scored) -> str:
    source = scored.unit.chunk.document.source
    return f"{scored.unit.chunk.document.title} {source.publisher or ''} {source.published or ''}"


def is_bare(scored: Scored) -> bool:
    """A name or a caption alone says nothing, and neither does the option of a quiz."""
    unit = scored.unit
    if _OPTION.match(unit.plain):
        return True
    said = unit.plain.split()
    is_title = len(said) <= _TITLE and all(w[0].isupper() or not w[0].isalpha() for w in said)
    return (len(said) <= _CAPTION or is_title) and not (
        unit.label[0] or unit.quantities or unit.cells or unit.text.rstrip().endswith(".")
    )


def _sentences(notes: Notes, query: Query, chosen: Sequence[Scored], scored: Sequence[Scored]) -> list[str]:
    """The chosen evidence as sentences; one that announces a list is followed by the list."""
    said: list[Scored] = []
    for c in chosen:
        said.append(c)
        if below := announced(c, scored):
            said += [s for s in below if s not in said]
            break
    return [notes.sentence(statement(s.unit, query), s) for s in said]


def announced(lead: Scored, scored: Sequence[Scored]) -> list[Scored]:
    """The items below a sentence that ends with a colon, in their order, at most six."""
    if not lead.unit.text.rstrip("* ").endswith(":"):
        return []
    title = lead.unit.plain.rstrip(":")
    below = [
        s
        for s in scored
        if s.unit.chunk.id == lead.unit.chunk.id
        and s.unit.above
        and s.unit.start > lead.unit.start
        and _hangs_from(s, title)
    ]
    return sorted(below, key=lambda s: s.unit.start)[:6]


def _hangs_from(scored: Scored, title: str) -> bool:
    parent = scored.unit.above[-1]
    return title.endswith(parent) or title.startswith(f"{parent}:")


def lay_side_by_side(query: Query, scored: Sequence[Scored], passages: Sequence[Passage], index: Index) -> Draft | None:
    """What each source says, for a question on whether they agree; None for other questions and where one source speaks alone."""
    if not query.asks_agreement:
        return None
    found = eligible(query, scored)
    named = frozenset(q.dimension for q in quantities(query.standalone))
    asked = replace(query, dimensions=query.dimensions | named)
    if asked.dimensions and found and len(differing := figures_that_differ(asked, found)) > 1:
        return _side_by_side(query, differing)
    usable = [s for s in _of_first_dimension(found, query) if s.unit.kind != "note"]
    chosen = _of_each_document(usable)
    if len({_document(s) for s in chosen}) < 2 or chosen[0].score < _DIFFERING * ANSWERS:
        return None
    return _side_by_side(query, chosen)


def _of_each_document(found: Sequence[Scored]) -> list[Scored]:
    """The best two pieces of each document that are about the matter, document by document."""
    chosen: dict[str, list[Scored]] = {}
    for s in found:
        near = (
            s.score >= _DIFFERING * ANSWERS
            and s.features["words in place"] >= _RELATED * found[0].features["words in place"]
        )
        beside = chosen.setdefault(_document(s), []) if near else []
        if near and len(beside) < _OF_A_DOCUMENT and not any(repeats(s, c) for c in beside):
            beside.append(s)
    return [s for beside in chosen.values() for s in beside]


def further(query: Query, scored: Sequence[Scored], *, limit: int) -> list[Scored]:
    """The best evidence and up to `limit` pieces more that say something else, within 80 words: as many as it takes for
    one of them to be right with near certainty."""
    chosen = [scored[0]]
    said = len(statement(scored[0].unit, query).split())
    for candidate in sorted(scored[1:], key=lambda s: not _adds(query, s, chosen)):
        if query.entities and candidate.features["other name"]:
            continue
        # What else is asked for ("hours and dollars") is said however sure the first answer is.
        needed = _adds(query, candidate, chosen) or doubt(chosen) > DOUBT
        share = max(_FLOOR, _FURTHER * scored[0].score)
        if len(chosen) > limit or not needed or candidate.score < share:
            continue
        length = len(statement(candidate.unit, query).split())
        if said + length <= _WORDS and not any(repeats(candidate, c) for c in chosen):
            chosen.append(candidate)
            said += length
    return chosen


def doubt(chosen: Sequence[Scored]) -> float:
    """The probability that none of the chosen evidence answers, were they independent."""
    return prod(1.0 - c.score for c in chosen)


def _adds(query: Query, candidate: Scored, chosen: Sequence[Scored]) -> bool:
    """Whether a candidate gives a quantity of a kind asked for, or speaks of a thing named, that nothing chosen has told."""
    told = {q.dimension for c in chosen for q in c.unit.quantities}
    if {q.dimension for q in candidate.unit.quantities} & query.dimensions - told:
        return True
    own = [names_told(query, c) for c in (candidate, *chosen)]
    return bool(own[0].difference(*own[1:]))


def names_told(query: Query, scored: Scored) -> set[str]:
    """The things named in a question that a piece of evidence is about alone: one that lists them all tells of none."""
    asked = set(proper_names(query.standalone)) | set(query.entities)
    said = {name for name in asked if re.search(rf"\b{re.escape(name)}\b", scored.unit.meant, re.IGNORECASE)}
    return said if len(said) < len(asked) else set()


def repeats(one: Scored, other: Scored) -> bool:
    """Whether two pieces of evidence say the same: most words of the shorter are in the longer."""
    first, second = ({stem(w) for w in content_words(s.unit.plain)} for s in (one, other))
    smaller = min(len(first), len(second))
    return not smaller or len(first & second) / smaller > 0.6


def corrections(notes: Notes, query: Query, chosen: Sequence[Scored], scored: Iterable[Scored]) -> list[str]:
    """The editor's notes that stand with what was chosen and speak of the same figures."""
    said = [q for c in chosen for q in quantities(c.unit.plain) if q.dimension != "count"]
    found = [
        s
        for s in scored
        if s.unit.kind == "note" and s not in chosen
        and any(s.unit.chunk.id == c.unit.chunk.id for c in chosen) and any(same(q, n) for q in said for n in quantities(s.unit.plain))
    ]  # fmt: skip
    return [notes.sentence(statement(s.unit, query), s) for s in sorted(found, key=lambda s: s.unit.start)[:1]]


def figures_that_differ(query: Query, found: Sequence[Scored]) -> list[Scored]:
    """The best evidence of each document for the quantity asked, where at least two give different numbers for it."""
    if not _figures(found[0], query):
        return []
    chosen = [found[0]]
    for candidate in _of_first_dimension(found, query):
        new = not any(_agree(_figures(candidate, query), _figures(c, query)) for c in chosen)
        alone = _document(candidate) != _document(found[0]) or candidate.score >= _BESIDE * found[0].score
        if (
            new
            and alone
            and _same_matter(query, candidate, found[0])
            and sum(_document(c) == _document(candidate) for c in chosen) < _FIGURES_OF_A_DOCUMENT
        ):
            chosen.append(candidate)
    return chosen[:5] if len(chosen) > 1 else []


def _same_matter(query: Query, candidate: Scored, best: Scored) -> bool:
    """Whether evidence is about what the best evidence is about: it lacks few of the question's words that the best has."""
    if (
        candidate.unit.kind == "note"
        or (query.tasks and candidate.features["opposite task"])
        or candidate.features["other name"]
        or _is_share(candidate, query) != _is_share(best, query)
    ):
        return False
    return (
        candidate.score >= _DIFFERING * ANSWERS
        and candidate.features["words in place"]
        >= (_RELATED if query.asks_agreement else _MATTER) * best.features["words in place"]
    )


def _is_share(scored: Scored, query: Query) -> bool:
    """Whether what evidence says is said of each part: "80 GB per GPU"."""
    return bool(_SHARE.search(statement(scored.unit, query)))


def _document(scored: Scored) -> str:
    return scored.unit.chunk.document.id


def _of_first_dimension(found: Sequence[Scored], query: Query) -> Sequence[Scored]:
    """The evidence in one dimension, so that a percentage is not set against a factor: the one of the best evidence's
    figures that most documents give."""
    best = next(({q.dimension for q in figures} for s in found if (figures := _figures(s, query))), set())
    given = {
        d: {_document(s) for s in found if any(q.dimension == d for q in _figures(s, query))} for d in sorted(best)
    }
    if not given:
        return found
    common = max(given, key=lambda d: len(given[d]))
    return [s for s in found if any(q.dimension == common for q in _figures(s, query))]


def _figures(scored: Scored, query: Query) -> list[Quantity]:
    """The quantities of the kind asked for, in the columns asked for."""
    asked = {header for header, _ in columns(scored.unit, query)} if scored.unit.cells else set()
    return [
        q
        for q in scored.unit.quantities
        if q.dimension in query.dimensions
        and (q.dimension != "count" or answers_quantity(query, scored.unit))
        and (not asked or any(h.lower() in q.noun or q.dimension != "count" for h in asked))
    ]


def _agree(one: Sequence[Quantity], other: Sequence[Quantity]) -> bool:
    return any(same(a, b) or _nominally_same(a, b) for a in one for b in other)


def _nominally_same(one: Quantity, other: Quantity) -> bool:
    """Whether amounts of memory have the same digits: makers write GB where they count in GiB."""
    digits = (re.sub(r"[^\d.]", "", q.text) for q in (one, other))
    return one.dimension == other.dimension == "bytes" and next(digits) == next(digits)


def _side_by_side(query: Query, found: Sequence[Scored]) -> Draft:
    notes = Notes()
    told = [figures for s in found if (figures := _figures(s, query))]
    differ = any(not _agree(one, other) for one in told for other in told)
    notes.line(f"The sources {'give different figures' if differ else 'say'} {notes.mark(*found[:5])}:")
    for s in found[:5]:
        source = s.unit.chunk.document.source
        date = f" ({source.published})" if source.published else ""
        notes.line(f"- {notes.sentence(f'{source.title}{date}: {statement(s.unit, query)}', s)}")
    return notes.draft()
