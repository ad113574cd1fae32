"""Which passages a question needs: by its words, its sides and options, what it names; background after the sources."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from chatbot.answer import Passage
from chatbot.eligibility import ANSWERS, eligible
from chatbot.names import names, proper_names, relatives
from chatbot.query import Query
from chatbot.retriever import LIMIT, merged, retrieve
from chatbot.scoring import Scored, score_units
from ingest import Chunk, Index

# Documents in a folder of this name are background: they answer where the others do not, or not as well.
BACKGROUND = "reference"
# Evidence that is at least so likely to be right needs no background.
_SURE = 0.5
# So much less of a question's words may the sources say than the background does.
_SAID_LESS = 0.15
_COMPARED = 8
# The sources are read further down than background is: what they say in other words than the question's stands lower.
_OF_SOURCES = 20


def search(
    query: Query, index: Index, times: int = 1, *, limit: int = LIMIT, among: Callable[[Chunk], bool] | None = None
) -> tuple[Passage, ...]:
    """The passages for a question, and for each of its sides or options, as one ranking; so many times as many."""
    limit *= times

    def found(text: str, share: int = 1) -> tuple[Passage, ...]:
        return retrieve(index, text, limit=limit // share, among=among)

    groups = [found(query.core)]
    if len(query.sides) > 1:
        groups += [found(f"{side} {_without_names(query)}", 2) for side in query.sides]
    groups += [_lesser(found(name, 3)) for name in query.entities[:3]]
    # Documents speak of the chip where a question names the instance.
    kin = sorted({r for name in query.entities[:2] for r in relatives(name)} - set(query.entities))
    groups += [_lesser(found(f"{name} {_without_names(query)}", 3)) for name in kin[:2]]
    groups += [_lesser(found(f"model size {size.text} parameters", 3)) for size in query.sizes[:2]]
    groups += [found(f"{query.standalone} {option.text}", 3) for option in query.options]
    return merged(groups, limit=limit if len(groups) == 1 else 2 * limit)


def passages_to_read(query: Query, index: Index) -> Iterator[tuple[tuple[Passage, ...], Sequence[Scored] | None]]:
    """The passages to answer from, and those to answer from when nothing comes of the first; with their evidence where
    it was scored.

    Where the index holds background, the other sources answer alone as long as they speak of all that is asked, and
    their best evidence is likely to be right or no worse than the background's. The options of an exam question are
    looked up in everything.
    """
    if query.options:
        yield search(query, index), None
        return
    # A choice weighs every candidate that it is given, so it is given the nearest alone.
    limit = LIMIT if query.decides else _OF_SOURCES
    everything = search(query, index, limit=limit)
    if not any(is_background(p.chunk) for p in everything):
        yield everything, None
        return
    if limit != LIMIT:
        everything = search(query, index)
    own = search(query, index, limit=limit, among=lambda chunk: not is_background(chunk))
    scored, of_all = score_units(query, own, index), score_units(query, everything, index)
    background = [s for s in of_all if is_background(s.unit.chunk)]
    if not _left_out(query, own, everything) and _is_as_good(query, scored, background):
        yield own, scored
    yield everything, of_all


def _left_out(query: Query, own: Sequence[Passage], everything: Sequence[Passage]) -> bool:
    """Whether something that the question names stands in the background alone."""
    named = {name.lower() for name in (*query.sides, *query.entities, *proper_names(query.standalone))}
    here, there = _text(own), _text(everything)
    return any(name in there and name not in here for name in named)


def _text(passages: Sequence[Passage]) -> str:
    return "\n".join(f"{p.chunk.document.title} {' '.join(p.chunk.headings)} {p.chunk.text}" for p in passages).lower()


def _is_as_good(query: Query, own: Sequence[Scored], background: Sequence[Scored]) -> bool:
    mine, other = eligible(query, own)[:_COMPARED], eligible(query, background)[:_COMPARED]
    merit, said = _best(mine)
    merit_there, said_there = _best(other)
    return merit >= ANSWERS and (merit >= _SURE or merit >= merit_there) and said >= said_there - _SAID_LESS


def _best(found: Sequence[Scored]) -> tuple[float, float]:
    """The best probability, and the greatest share of the question's words that a piece of evidence says in its place."""
    return max((s.score for s in found), default=0.0), max((s.features["words in place"] for s in found), default=0.0)


def is_background(chunk: Chunk) -> bool:
    """Whether a chunk is of a document in a folder of background."""
    return BACKGROUND in chunk.document.id.split("/")[:-1]


def _lesser(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """What is found by a name alone is about the thing, but perhaps not about the question."""
    return tuple(replace(p, score=0.5 * p.score) for p in passages)


def _without_names(query: Query) -> str:
    text = query.standalone
    for name in reversed(names(text)):
        text = text[: name.start] + text[name.start + len(name.text) :]
    return text
