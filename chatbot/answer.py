"""The value types of an answer: passages retrieved, citations checked, the answer given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ingest import Chunk

if TYPE_CHECKING:
    from chatbot.sizing.workload import Workload

# The model of answers that no language model wrote.
OFFLINE = "offline"
REFUSAL = "The sources do not say."
# The opening of an answer that is only `near` to what was asked.
NEAREST = "The sources do not say this outright; nearest"


class ReaderError(Exception):
    """A question cannot be answered for a reason that the user can fix. The message gives the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk retrieved for a question. `number` counts from 1, best first; `score` is in 0..1."""

    number: int
    chunk: Chunk
    score: float


@dataclass(frozen=True, slots=True)
class Citation:
    """The quoted words that support one claim: `passage.chunk.document.text[start:end] == quote`.

    `number` is the mark in the answer's text that refers to this citation. `support` in 0..1 is how well the words
    support the claim.
    """

    number: int
    claim: str
    quote: str
    start: int
    end: int
    support: float
    passage: Passage


Role = Literal["answer", "reason", "side", "option", "row", "computed", "caveat", "alternative"]


@dataclass(frozen=True, slots=True)
class Statement:
    """A checked sentence of an answer. `citations` are the numbers of its citations; `about` is its side or option."""

    text: str
    citations: tuple[int, ...]
    role: Role
    about: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens that a language model read and wrote for an answer, over all its calls.

    Of those read, some were taken from the service's cache or written to it, at prices of their own.
    """

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Footprint:
    """The energy (Wh) and carbon (g CO2e) of an answer.

    `wh` and `g_co2` are for this machine's `cpu_seconds`; `g_co2` is None if its grid is not configured. The fields
    that begin with `model_` are the bounds of the estimate for a hosted model. They are None if no such model wrote the
    answer, or if there is no estimate for it.
    """

    cpu_seconds: float
    wh: float
    g_co2: float | None = None
    model_wh_low: float | None = None
    model_wh_high: float | None = None
    model_g_co2_low: float | None = None
    model_g_co2_high: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer as shown to the user.

    `choices` holds the option letters of an exam question; `confidence` is the probability that they are right, or that
    a prepared answer is the one asked for, None if unknown. `seconds` is the time from question to answer. `usage` and
    `cost` (US dollars) are None if no language model wrote or its price is not known. `dropped` counts the sentences
    that verification removed. `notice` says why another reader answered than the one asked for, or why the answer was
    cut short. `footprint` is the energy and carbon of the answer; `statements` are its sentences one by one.
    `workloads` are what a sizing answer was computed for, for surfaces that show more.

    `small_talk` marks the reply to a greeting, to thanks or to "what can you do?": it has no citations but is not a
    refusal. `near` marks an answer that the sources do not give outright: it is only the nearest to what was asked.
    """

    question: str
    text: str
    citations: tuple[Citation, ...]
    passages: tuple[Passage, ...]
    refused: bool
    choices: tuple[str, ...]
    model: str
    seconds: float
    usage: Usage | None = None
    cost: float | None = None
    dropped: int = 0
    notice: str = ""
    footprint: Footprint | None = None
    workloads: tuple[Workload, ...] = ()
    statements: tuple[Statement, ...] = ()
    small_talk: bool = False
    confidence: float | None = None
    near: bool = False

    @property
    def support(self) -> float:
        """How well the weakest cited claim is supported, 0..1; 0 for a refusal."""
        return min((c.support for c in self.citations), default=0.0)


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of a conversation and the text of its answer."""

    question: str
    answer: str
