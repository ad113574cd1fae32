"""The chatbot: a question and its history in, a verified answer out."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from chatbot.answer import REFUSAL, Answer, Passage, ReaderError, Turn
from chatbot.citations import Verified, verify
from chatbot.examination import option_label
from chatbot.names import names
from chatbot.offline import read
from chatbot.query import Query, understand
from chatbot.retriever import LIMIT, merged, retrieve
from ingest import Index

Stage = Literal["searching", "reading", "checking"]


@dataclass(frozen=True, slots=True)
class Event:
    """What `stream` yields: a stage that begins, a piece of the answer's text, and last the whole answer."""

    kind: Literal["stage", "text", "answer"]
    text: str = ""
    answer: Answer | None = None


class Chatbot:
    """Answers questions over one index; holds no conversation, history is an argument."""

    def __init__(self, index: Index, model: str = "offline") -> None:
        if model != "offline":
            raise ReaderError(f"No reader for the model {model!r} in this version. Use the model 'offline'.")
        self.index = index
        self.model = model

    @classmethod
    def open(cls, index: str | Path, model: str = "offline") -> "Chatbot":
        """Open an index with a reader.

        Raises CorpusError when the index is missing, empty or made by another version; ReaderError for an unknown model.
        """
        return cls(Index.open(index), model)

    def ask(self, question: str, history: Sequence[Turn] = ()) -> Answer:
        """Answer a question; every sentence of the answer is cited, or the answer is the refusal."""
        *_, last = self.stream(question, history)
        assert last.answer is not None
        return last.answer

    def stream(self, question: str, history: Sequence[Turn] = ()) -> Iterator[Event]:
        """The stages of an answer as they begin, its text line by line once verified, then the Answer."""
        began = time.perf_counter()
        if not question.strip():
            raise ReaderError(
                "The question is empty. Ask something, for example: Which instance has the lowest footprint for training?"
            )
        yield Event("stage", "searching")
        index = self.index.snapshot()
        query = understand(question.strip(), history, index)
        passages = search(query, index)
        yield Event("stage", "reading")
        draft = read(query, passages, index)
        yield Event("stage", "checking")
        verified = verify(draft.text, draft.evidence, [option_label(o) for o in query.options] + list(query.sides))
        answer = _answer(question, query, verified, draft.choices, passages, self.model, began)
        for line in answer.text.splitlines(keepends=True):
            yield Event("text", line)
        yield Event("answer", answer=answer)


def search(query: Query, index: Index) -> tuple[Passage, ...]:
    """The passages for a question, and for each of its sides or options, as one ranking."""
    groups = [retrieve(index, query.core)]
    if len(query.sides) > 1:
        groups += [retrieve(index, f"{side} {_without_names(query)}", limit=LIMIT // 2) for side in query.sides]
    groups += [_lesser(retrieve(index, name, limit=LIMIT // 3)) for name in query.entities[:3]]
    groups += [retrieve(index, f"{query.standalone} {option.text}", limit=LIMIT // 3) for option in query.options]
    return merged(groups, limit=LIMIT if len(groups) == 1 else 2 * LIMIT)


def _lesser(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """What is found by a name alone is about the thing, but perhaps not about the question."""
    return tuple(replace(p, score=0.5 * p.score) for p in passages)


def _without_names(query: Query) -> str:
    text = query.standalone
    for name in reversed(names(text)):
        text = text[: name.start] + text[name.start + len(name.text) :]
    return text


def _answer(
    question: str,
    query: Query,
    verified: Verified,
    choices: tuple[str, ...],
    passages: Sequence[Passage],
    model: str,
    began: float,
) -> Answer:
    refused = not verified.citations
    return Answer(
        question=question,
        text=_refusal(passages) if refused else verified.text,
        citations=verified.citations,
        passages=tuple(passages),
        refused=refused,
        choices=() if refused else choices,
        model=model,
        seconds=time.perf_counter() - began,
    )


def _refusal(passages: Sequence[Passage]) -> str:
    """The fixed sentence, then the nearest sources by title."""
    nearest = list(dict.fromkeys(_place(p) for p in passages[:3]))
    return f"{REFUSAL} Nearest in the sources: {'; '.join(nearest)}." if nearest else REFUSAL


def _place(passage: Passage) -> str:
    section = passage.chunk.headings[-1] if passage.chunk.headings else ""
    title = passage.chunk.document.title
    return f"{title}, “{section}”" if section and section != title else title
