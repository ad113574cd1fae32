"""Write computed answers: the facts of an index, citation marks for their rows, and figures with their arithmetic."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from chatbot.answer import Passage
from chatbot.computed import Computed
from chatbot.draft import Draft, Marks
from chatbot.per_index import per_index
from chatbot.sizing import Facts, Task
from chatbot.sizing.reading.text import Known
from chatbot.verification.citations import Evidence
from ingest import Chunk, Index, Row

# Where the formula of a term is explained, for readers who want to know more: a document's name and the words in it.
_EXPLAINED = {
    "weights": ("inference-memory-kv-cache.md", "The memory for weights is the number of parameters times the bytes per parameter."),
    "KV cache": (
        "inference-memory-kv-cache.md",
        "KV cache in bytes = 2 x layers x KV heads x head dimension x sequence length x batch size x bytes per value.",
    ),
    "optimizer states": (
        "pretraining-hardware.md",
        "Mixed-precision training with Adam needs 16 bytes per parameter before activations: 2 for the FP16 weight, 2 for the FP16 gradient and 12 for the FP32 optimiser state.",
    ),
    Task.FULL: ("fine-tuning-memory.md", "The Adam optimiser state takes 12 of the 16 bytes per parameter, which is three quarters."),
    "adapter": (
        "fine-tuning-memory.md",
        "In LoRA only the adapter has gradients and optimiser state, so the frozen weights need 2 bytes per parameter in FP16.",
    ),
    "break-even": ("ec2-purchase-options-compared.md", "A commitment with discount d pays as soon as the instance runs for more than (1 − d) of the hours."),
    "maximum discount": ("ec2-purchase-options-compared.md", "With 72% discount the break-even lies at 28% of the hours of the term."),
    "schedule": ("ec2-purchase-options-compared.md", "An instance that runs 8 hours a day on 5 days a week runs 40 of 168 hours, which is 24% of the week."),
    "price of tokens": ("what-to-measure.md", "| Cost per million tokens | Price per hour / tokens per hour x 1,000,000 | The cheapest way to serve |"),
    "cost": ("what-to-measure.md", "| Cost to train | Time to train x price per hour x instances | The cheapest way to the same model |"),
    "throughput": ("what-to-measure.md", "| Throughput | Samples or tokens / second | Speed of training or serving |"),
    "transfer": ("ec2-network-limits.md", "Downloading 1 TB at the 2.5 Gbps baseline of a g5.xlarge takes 8,000 / 2.5 = 3,200 seconds, or about 53 minutes."),
    "binary units": ("pretraining-hardware.md", "For a 70 billion parameter model the model state of 1,120 GB is about 1,043 GiB"),
    "emissions": ("pue-regions-carbon-intensity.md", "Emissions = IT energy x PUE x carbon intensity."),
    "checkpoint": ("training-storage.md", "| Amazon S3 | Objects | Yes | Yes | Data sets, final models, checkpoints to keep |"),
    "quota": ("accelerated-instance-quotas.md", "EC2 quotas for On-Demand and Spot Instances count the vCPUs of running instances per account and per Region."),
    "quota needed": ("accelerated-instance-quotas.md", "Multiply the vCPUs of the instance type by the number of instances that run at the same time."),
    "Spot": ("ec2-spot-instances.md", "Spot Instances cost up to 90% less than On-Demand Instances, according to AWS."),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tables:
    """The facts of an index, the names in them, and a cache of chunks by document."""

    facts: Facts
    known: Known
    chunks: dict[str, list[Chunk]] = field(default_factory=dict)

    @property
    def complete_facts(self) -> Facts | None:
        """The facts to size with; None without models or instances, so that those of the corpus are used."""
        return self.facts if self.facts.models and self.facts.instances else None

    def evidence(self, row: Row, index: Index) -> Evidence | None:
        """Return a row as evidence."""
        return self._within(row.document, row.start, row.end, index)

    def explained(self, term: str, index: Index) -> Evidence | None:
        """Return the words of a document that explain a term's formula, or None if the index lacks them."""
        name, words = _EXPLAINED.get(term, ("", ""))
        tables = next(iter(self.facts.models.values())).row.document
        document = f"{tables.rpartition('facts/')[0]}reference/{name}"
        chunks = self._chunks(document, index) if name else []
        start = chunks[0].document.text.find(words) if chunks else -1
        return self._within(document, start, start + len(words), index) if start >= 0 else None

    def _chunks(self, document: str, index: Index) -> list[Chunk]:
        if document not in self.chunks:
            self.chunks[document] = index.document_chunks(document)
        return self.chunks[document]

    def _within(self, document: str, start: int, end: int, index: Index) -> Evidence | None:
        chunks = self._chunks(document, index)
        chunk = chunks[max(0, bisect_right([c.start for c in chunks], start) - 1)] if chunks else None
        if chunk is None or not (chunk.start <= start and end <= chunk.end):
            return None
        return Evidence(Passage(1, chunk, 1.0), start, end)


@per_index
def load(index: Index) -> Tables:
    """Load the facts of an index."""
    facts = Facts.load(index)
    known = Known(tuple(facts.models), tuple(facts.accelerators), frozenset(facts.instances), frozenset(facts.grids))
    return Tables(facts, known)


@dataclass(slots=True)
class Working:
    """Collects what an answer cites, computes and takes as given while it is written."""

    tables: Tables
    index: Index
    said: list[str]
    evidence: Marks = field(default_factory=Marks)
    computed: dict[Computed, None] = field(default_factory=dict)

    def draft(self, *lines: str) -> Draft:
        text = "\n".join(line for line in lines if line)
        return Draft(text, tuple(self.evidence), computed=tuple(self.computed), said="\n".join(self.said))

    def say(self, *words: str) -> str:
        """Record words that need no evidence (the user's, assumptions, what was counted or chosen). Return the first."""
        self.said += words
        return words[0] if words else ""

    def note(self, computed: Computed) -> None:
        self.computed.setdefault(computed)

    def figure(self, text: str, formula: str, *given: float, unit: float = 1.0) -> str:
        """Return a figure as written, and record its arithmetic. `given` are numbers in it that no row has."""
        self.note(Computed(text, formula, unit, given))
        return text

    def cite(self, *rows: Row) -> str:
        """Return the citation marks of rows."""
        return "".join(dict.fromkeys(self.mark(e) for row in rows if (e := self.tables.evidence(row, self.index))))

    def mark(self, evidence: Evidence) -> str:
        return self.evidence.mark(evidence)


def rounded(value: float, *, money: bool = False) -> str:
    """Format a number with three significant digits; money from 1 to 100 dollars with cents."""
    if money and 1 <= value < 100:
        return f"{value:.2f}"
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:g}"


def percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def article(name: str) -> str:
    return "an" if re.match(r"[AEFHILMNORSX][\dA-Z]|[aefhilmnorsx]\d|[AaIi][a-z]", name) else "a"


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
