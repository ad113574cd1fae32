"""Suggest questions: the first ones for an index, and the next ones after an answer. Each is known to have an answer."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from chatbot.answer import Answer
from chatbot.language.characters import shown
from chatbot.language.words import content_words
from chatbot.reader.proved_answers import related
from ingest import Chunk, Index

IsAnswered = Callable[[str], bool]
"""Tells whether a question has an answer: for example, that the offline reader does not refuse it. That takes
milliseconds and may be cached."""

# Candidates for every index. Those that its sources answer are shown.
STARTERS = (
    "Which instance has the lowest footprint for training?",
    "Trainium or Inferentia?",
    "How much accelerator memory does a trn1.32xlarge have?",
    "Which hardware for pre-training a 70B model on AWS?",
)
_TRIED = 8
_LONGEST = 90


def starters(index: Index, is_answered: IsAnswered, *, limit: int = 4) -> tuple[str, ...]:
    """Return the first questions for an index: from STARTERS, then from headings that are questions."""
    candidates = (*STARTERS, *islice(_questions(_opening_chunks(index)), _TRIED))
    return tuple(islice(filter(is_answered, candidates), limit))


def follow_ups(answer: Answer, asked: Sequence[str], index: Index, is_answered: IsAnswered, *, limit: int = 3) -> tuple[str, ...]:
    """Return what to ask next, without what was asked before: prepared questions nearby, which are known to have
    answers, or else question headings of the passages that were found for the answer but not cited."""
    cited = {citation.passage.chunk.id for citation in answer.citations}
    chunks = [p.chunk for p in answer.passages if p.chunk.id not in cited]
    known = {_key(question) for question in (*asked, answer.question)}
    nearby = [question for question in related(answer, index) if _key(question) not in known and len(question) <= _LONGEST]
    fresh = (question for question in islice(_questions(chunks), _TRIED) if _key(question) not in known)
    return tuple(nearby[:limit]) or tuple(islice(filter(is_answered, fresh), limit))


def _opening_chunks(index: Index) -> Iterator[Chunk]:
    """Yield chunks of the first documents that are not tables. A large index costs no more than a small one."""
    tables = {table.id for table in index.tables()}
    for document in [d for d in index.documents() if d.id not in tables][:_TRIED]:
        yield from index.document_chunks(document.id)[1:4]


def _questions(chunks: Iterable[Chunk]) -> Iterator[str]:
    """Yield the headings that are questions and clear by themselves, without repeats."""
    found = (shown(chunk.headings[-1]).strip() for chunk in chunks if chunk.headings)
    return (heading for heading in dict.fromkeys(found) if heading.endswith("?") and _is_clear(heading))


def _is_clear(heading: str) -> bool:
    return len(heading) <= _LONGEST and len(content_words(heading)) > 1


def _key(question: str) -> str:
    return " ".join(content_words(question))
