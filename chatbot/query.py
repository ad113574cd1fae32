"""What is asked: a question in its conversation becomes one that stands by itself."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from chatbot.answer import Turn
from chatbot.followup import condense
from chatbot.names import Name, makers, names, proper_names
from chatbot.options import Option, parse_options
from chatbot.quantities import Quantity, asked_dimensions, asks_quantity, quantities
from chatbot.spelling import correct
from chatbot.words import content_words, vocabulary
from ingest import Index

_COMPARES = re.compile(
    r"\b(compar\w*|versus|vs\.?|differ\w*|distinguish|distinction|better|worse|contrast|against|side by side|trade-?offs?|faster than|cheaper than|or)\b", re.IGNORECASE
)
_DECIDES = re.compile(
    r"\b(what|which)\b.{0,60}\b(should|to use|do i use|do we use|would you|pick|choose|recommend\w*|suits?|fits?|best|go (?:for|with)|buy|rent)\b|\b(recommend\w*|advise|suggest\w*|best (?:option|choice|hardware|instance|chip|accelerator|gpu)|what (?:hardware|instance|gpu|chip|accelerator)s?|which (?:hardware|instance|gpu|chip|accelerator|machine)s?)\b|\b(?:i|we) (?:need|want|have|must|plan)\b|\bwhere (?:do|should) (?:i|we)\b",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    r"^(?:so,?\s+|and\s+|but\s+|ok,?\s+)*(?:is|are|was|were|does|do|did|can|could|will|would|should|has|have|isn't|aren't|doesn't|don't|am)\b|\b(?:is it true|is that (?:right|correct|true)|right\?|correct\?|isn't it|doesn't it|true or false)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Query:
    """A question ready for retrieval: `standalone` needs no history and no options to be understood.

    `entities` are the names of hardware in it; `unknown` are the names that no document of the index holds. `sizes` are
    the model sizes it gives, `tasks` what is to be done with the model, `makers` the vendors it names.
    """

    question: str
    standalone: str
    options: tuple[Option, ...] = ()
    choose: int = 1
    negated: bool = False
    entities: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    tasks: frozenset[str] = frozenset()
    makers: tuple[str, ...] = ()
    sizes: tuple[Quantity, ...] = ()
    dimensions: frozenset[str] = field(default_factory=frozenset)

    @property
    def compares(self) -> bool:
        return len(self.entities) >= 2 and bool(_COMPARES.search(self.standalone))

    @property
    def decides(self) -> bool:
        return bool(_DECIDES.search(self.standalone)) and not self.asks_number

    @property
    def yes_no(self) -> bool:
        return bool(_YES_NO.search(self.standalone))

    @property
    def asks_number(self) -> bool:
        return asks_quantity(self.standalone)


def understand(question: str, history: Sequence[Turn], index: Index) -> Query:
    """Read a question: exam options apart, follow-ups completed from earlier turns, misspelt terms put right."""
    stem = parse_options(question)
    asked = correct(stem.text if stem else question, index)
    standalone = asked if stem else condense(asked, [_plain_turn(t, index) for t in history], lambda family: _sizes(family, index))
    found = names(standalone)
    return Query(
        question=question,
        standalone=standalone,
        options=stem.options if stem else (),
        choose=stem.choose if stem else 1,
        negated=stem.negated if stem else False,
        entities=tuple(n.name for n in found if n.kind != "region"),
        unknown=_unknown(standalone, found, index),
        tasks=tasks(standalone),
        makers=makers(standalone),
        sizes=tuple(q for q in quantities(standalone) if q.dimension == "parameters"),
        dimensions=asked_dimensions(standalone),
    )


def tasks(text: str) -> frozenset[str]:
    """What a text says is done with a model: pre-training, fine-tuning, training, inference."""
    lowered = text.lower()
    return frozenset(name for name, written in vocabulary()["tasks"].items() if any(re.search(rf"\b{re.escape(w)}\b", lowered) for w in written))


def _plain_turn(turn: Turn, index: Index) -> Turn:
    stem = parse_options(turn.question)
    return Turn(correct(stem.text if stem else turn.question, index), turn.answer)


def _unknown(text: str, found: Sequence[Name], index: Index) -> tuple[str, ...]:
    """Names that stand in no document: hardware and codes whole, capitalised words one by one."""
    written = [n.name for n in found if not _in_corpus(n.name, index) and not _in_corpus(n.text, index)]
    inside = {w for n in found for w in n.text.lower().split()}
    capitalised = [w for w in proper_names(text) if w.lower() not in inside and index.document_frequency(w.lower()) == 0]
    return tuple(dict.fromkeys([*written, *capitalised]))


def _in_corpus(name: str, index: Index) -> bool:
    parts = content_words(name) or [name.lower()]
    return all(index.document_frequency(part) > 0 for part in parts)


def _sizes(family: str, index: Index) -> list[str]:
    """The instance types of a family that the corpus names, smallest first."""
    found = {
        n.name
        for chunk in index.chunks([chunk_id for chunk_id, _ in index.lexical(family, 20)])
        for n in names(chunk.text)
        if n.kind == "instance" and n.name.startswith(f"{family.lower()}.")
    }
    return sorted(found, key=_size_rank)


def _size_rank(instance: str) -> tuple[float, str]:
    size = instance.split(".")[1]
    multiple = re.match(r"(\d+)xlarge", size)
    ranks = {"nano": 0.01, "micro": 0.02, "small": 0.1, "medium": 0.2, "large": 0.5, "xlarge": 1.0}
    return (float(multiple[1]) if multiple else ranks.get(size.split("-")[0], 1000.0)), instance
