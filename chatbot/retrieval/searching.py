"""Find the passages that a question needs: by its words, sides, options and names. The sources go before background."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from chatbot.answer import Passage
from chatbot.language.names import names, relatives
from chatbot.question.query import Query
from chatbot.retrieval.retriever import LIMIT, merged, retrieve
from ingest import Chunk, Index

# Documents in a folder with this name are background.
BACKGROUND = "reference"
# Passages read from the sources alone: more than LIMIT, because other wordings than the question's rank lower.
_OF_SOURCES = 20


def search(
    query: Query, index: Index, times: int = 1, *, limit: int = LIMIT, among: Callable[[Chunk], bool] | None = None
) -> tuple[Passage, ...]:
    """Return the passages for a question and each of its sides or options, as one ranking. `times` multiplies `limit`."""
    limit *= times

    def found(text: str, share: int = 1) -> tuple[Passage, ...]:
        return retrieve(index, text, limit=limit // share, among=among)

    groups = [found(query.core)]
    if len(query.sides) > 1:
        groups += [found(f"{side} {_without_names(query)}", 2) for side in query.sides]
    groups += [_lesser(found(name, 3)) for name in query.entities[:3]]
    # Documents may name the chip where a question names the instance.
    kin = sorted({r for name in query.entities[:2] for r in relatives(name)} - set(query.entities))
    groups += [_lesser(found(f"{name} {_without_names(query)}", 3)) for name in kin[:2]]
    groups += [_lesser(found(f"model size {size.text} parameters", 3)) for size in query.sizes[:2]]
    groups += [found(f"{query.standalone} {option.text}", 3) for option in query.options]
    return merged(groups, limit=limit if len(groups) == 1 else 2 * limit)


def passages_to_read(query: Query, index: Index) -> Iterator[tuple[Passage, ...]]:
    """Yield the passages to answer from, then those to use if the first give no answer.

    More passages are read from the sources than from background, and both are weighed together: the more exact answer
    wins. Only the question whether sources agree goes first to the sources alone.
    """
    if query.options:
        yield search(query, index)
        return
    own = search(query, index, limit=_OF_SOURCES, among=lambda chunk: not is_background(chunk))
    if query.asks_agreement:
        yield own
    everything = search(query, index)
    yield merged([own, everything], limit=len(own) + len(everything))


def is_background(chunk: Chunk) -> bool:
    """Whether the document of a chunk is in a background folder."""
    return BACKGROUND in chunk.document.id.split("/")[:-1]


def _lesser(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Halve the scores of passages found by a name alone: they are about the thing, but perhaps not about the question."""
    return tuple(replace(p, score=0.5 * p.score) for p in passages)


def _without_names(query: Query) -> str:
    text = query.standalone
    for name in reversed(names(text)):
        text = text[: name.start] + text[name.start + len(name.text) :]
    return text
