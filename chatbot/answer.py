"""The values that a question becomes: passages found, citations checked, the answer given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ingest import Chunk

if TYPE_CHECKING:
    from chatbot.sizing.workload import Workload

REFUSAL = "The sources do not say."
# What an answer begins with that is only `near` to what was asked.
NEAREST = "The sources do not say this outright; nearest"


class ReaderError(Exception):
    """A question that could not be answered for a reason the user can mend; the text says the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk that was retrieved for a question; `number` counts from 1, best first, and `score` lies in 0..1."""

    number: int
    chunk: Chunk
    score: float


@dataclass(frozen=True, slots=True)
class Citation:
    """The words that bear out one claim: `passage.chunk.document.text[start:end] == quote`.

    `number` is the mark in the answer's text that leads here; `support` in 0..1 is how well the words bear out the claim.
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
    """A sentence of an answer that was checked: `citations` are the numbers of what bears it out, `about` the side or the option it is on."""

    text: str
    citations: tuple[int, ...]
    role: Role
    about: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a language model read and wrote for an answer, in tokens, all its calls together."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Footprint:
    """What an answer took: energy in Wh and carbon in g CO2e.

    `wh` and `g_co2` are those of this machine's `cpu_seconds`; `g_co2` is None where nobody said what grid it is on. What
    begins with `model_` is the estimate for a hosted model, between its bounds; None where no such model wrote, or where
    there is no estimate for it.
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
    """What is shown. `choices` holds option letters of an exam question; `seconds` is the time from question to answer.

    `usage` and `cost` (US dollars) are None where no language model wrote, or its price is not known. `dropped` counts the
    sentences that verification took away. `notice` says why another reader than the one asked for answered, if so.
    `footprint` is what the answer took, `statements` its sentences one by one. `workloads` are what a sizing answer was computed for, for surfaces that show more.
    `small_talk` marks the reply to a greeting, to thanks or to "what can you do?": it is no refusal and has no citations.
    `confidence` is how likely the letters chosen of an exam question's options are right, None where nobody says.
    `near` marks an answer that the sources do not give outright: what is told is only the nearest to it.
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
        """How well the weakest cited claim is borne out, 0..1; 0 for a refusal."""
        return min((c.support for c in self.citations), default=0.0)


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of a conversation and the text that was answered."""

    question: str
    answer: str
