"""A draft: sentences with citation marks, and the evidence that the marks refer to."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from chatbot.computed import Computed
from chatbot.evidence.scored import Scored
from chatbot.language.characters import parenthesised
from chatbot.sizing.workload import Workload
from chatbot.verification.citations import Evidence
from chatbot.verification.marks import shifted


@dataclass(frozen=True, slots=True)
class Draft:
    """What a reader hands to verification: `[n]` in the text refers to `evidence[n - 1]`.

    `given` are openings of lines, and sentences, that are not quoted from evidence (how many rows match, the name of a side); `verify`
    leaves them as they are. `computed` are figures with their arithmetic; `said` is the user's words and what was
    assumed for them. A draft with either quotes nothing and is checked by its figures. `workloads` are what the figures
    were computed for.

    `from_rows`: only rows of tables say it. `near`: it is only the nearest to what was asked. `best` is the evidence
    that most likely answers, cited or not. `confidence` is the probability that the chosen letters are right, or that
    a prepared answer is the one asked for.
    """

    text: str
    evidence: tuple[Evidence, ...]
    choices: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    computed: tuple[Computed, ...] = ()
    said: str = ""
    workloads: tuple[Workload, ...] = ()
    from_rows: bool = False
    near: bool = False
    best: Scored | None = None
    confidence: float | None = None

    def then(self, other: "Draft") -> "Draft":
        """This draft followed by another one, whose marks are renumbered to continue from this draft's."""
        lines = [part for part in (self.text, shifted(other.text, len(self.evidence))) if part]
        return replace(
            self,
            text="\n".join(lines),
            evidence=(*self.evidence, *other.evidence),
            choices=self.choices or other.choices,
            given=self.given + other.given,
            said="\n".join(part for part in (self.said, other.said) if part),
        )


class Marks(dict[Evidence, int]):
    """The evidence of a draft while it is being written, numbered in order of first citation."""

    def mark(self, evidence: Evidence) -> str:
        return f"[{self.setdefault(evidence, len(self) + 1)}]"


@dataclass
class Notes:
    """Collects sentences while a draft is written."""

    lines: list[str] = field(default_factory=list)
    evidence: Marks = field(default_factory=Marks)

    def mark(self, *cited: Scored) -> str:
        """The marks for pieces of evidence, each numbered once."""
        return "".join(self.evidence.mark(Evidence(s.passage, s.unit.start, s.unit.end)) for s in cited)

    def sentence(self, text: str, *cited: Scored) -> str:
        """A sentence with its marks before the full stop. Bracketed numbers of its own would look like marks."""
        return f"{parenthesised(text).rstrip('.')} {self.mark(*cited)}."

    def line(self, *sentences: str) -> None:
        """Add one line made of sentences."""
        self.lines.append(" ".join(sentences))

    def draft(self, choices: Sequence[str] = ()) -> Draft:
        """The finished draft."""
        return Draft("\n".join(self.lines), tuple(self.evidence), tuple(choices))
