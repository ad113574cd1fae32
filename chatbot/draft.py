"""A draft: sentences with marks, and the evidence that the marks stand for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from chatbot.citations import Evidence
from chatbot.computed import Computed
from chatbot.scoring import Scored
from chatbot.sizing.workload import Workload


@dataclass(frozen=True, slots=True)
class Draft:
    """What a reader hands to verification: `[n]` in the text means `evidence[n - 1]`.

    `given` are openings of lines that were computed and not quoted (how many rows match), for `verify` to leave as they are.
    `computed` are figures with their arithmetic and `said` the user's words and what was assumed for them; a draft with
    either quotes nothing and is checked by its figures. `workloads` are what they were computed for. `from_rows`: rows of tables alone
    say it; `near`: it is only the nearest to what was asked; `best` is the evidence that most likely answers, whether it is cited or not; `confidence` how
    likely the chosen letters are right.
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
        """This draft and below it another, whose marks count on."""
        text = re.sub(r"\[(\d+)\]", lambda mark: f"[{int(mark[1]) + len(self.evidence)}]", other.text)
        lines = [part for part in (self.text, text) if part]
        evidence, said = (*self.evidence, *other.evidence), "\n".join(part for part in (self.said, other.said) if part)
        return replace(self, text="\n".join(lines), evidence=evidence, choices=self.choices or other.choices, given=self.given + other.given, said=said)


class Marks(dict[Evidence, int]):
    """The evidence of a draft that is being written, numbered as it is first cited."""

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
        """A sentence with its marks before the full stop."""
        return f"{text.rstrip('.')} {self.mark(*cited)}."

    def line(self, *sentences: str) -> None:
        """Add one line made of sentences."""
        self.lines.append(" ".join(sentences))

    def draft(self, choices: Sequence[str] = ()) -> Draft:
        """The finished draft."""
        return Draft("\n".join(self.lines), tuple(self.evidence), tuple(choices))
