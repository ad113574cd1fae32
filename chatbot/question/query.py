"""Understand a question: complete it from its conversation, so that it stands by itself, and read what it asks for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from chatbot.answer import Turn
from chatbot.deadline import check
from chatbot.language.glossary import in_english
from chatbot.language.names import Name, makers, names, proper_names, tasks
from chatbot.language.quantities import Quantity, quantities
from chatbot.language.spelling import correct
from chatbot.language.wording import sentences
from chatbot.language.words import STOP_WORDS, content_words, words
from chatbot.question.asked_quantity import asked_dimensions, asks_quantity
from chatbot.question.attribute import asked_operation
from chatbot.question.followup import condense, picks
from chatbot.question.options import Option, parse_options
from chatbot.question.sides import sides
from ingest import Index, known_words

_COMPARES = re.compile(
    r"\b(compar\w*|versus|vs\.?|differ\w*|distinguish\w*|separates?|distinction|sets? .{2,60} apart|better|worse|contrast|against|as opposed to|next to|relative to|respectively|each(?= one| of (?:them|these|those|the)|\W*$| (?:takes?|costs?|have|has|does|do|needs?|offers?|uses?|means?)\b)|side by side|gap|between (?:the )?(?:two|both)|trade-?offs?|(?:more|less|fewer|longer|shorter|higher|lower|bigger|larger|smaller|slower|quicker|faster|cheaper|pricier|dearer|greener|cleaner|hungrier)\b.{0,60}\bthan|improv\w+ (?:on|over|upon)|(?:advantages?|benefits?|gains?|offers?|bring|brings|adds?)\b.{0,40}\bover|or)\b",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    r"^(?:so,?\s+|and\s+|but\s+|ok,?\s+)*(?:is|are|was|were|does|do|did|can|could|will|would|should|has|have|isn't|aren't|doesn't|don't|am)\b|\b(?:is it true|is that (?:right|correct|true)|right\?|correct\?|isn't it|doesn't it|true or false)",
    re.IGNORECASE,
)
_AGREES = re.compile(
    r"\b(?:sources?|documents?|articles?|pages?|notes|figures|numbers|values|people|docs)\b.{0,60}\b(?:agree|disagree|differ\w*|conflict\w*|contradict\w*|consistent|say the same)\b"
    r"|\b(?:different|differing|conflicting|contradictory|inconsistent|several|various|other) (?:figures|numbers|values|claims|answers|sources|percentages)\b"
    r"|\bwho(?:'s| is) right\b|\bwhich (?:one |of them )?is (?:right|correct|true)\b|\bwhat every(?:body|one) says\b|\bdo(?:es)? (?:all|everyone|everybody)\b"
    r"|\b(?:each|every) (?:source|document|article|page)\b|\b(?:one|another|some|other)s? (?:page|source|document|article|says?|place|site)s?\b|\bdisagree\w*|\bdiscrepanc\w+|\bcontradict\w*"
    r"|\b(?:these|those|both|different|several|do (?:the|your|all)|of (?:the|your)|each of (?:the|your)) (?:\w+ )?(?:documents|sources|papers|articles|texts|guides|posts)\b|\b(?:which|what) (?:source|document|article|page)s? says?\b|\b(?:two|three|four|[234]) different\b|\bwho says what\b|\bwhat (?:does|do) each\b.{0,20}\bsay\b|\bi (?:find|see|read|found|saw) both\b|\bsee(?:s)? it the same way\b"
    r"|\b(?:do|does|did)(?:n['’]?t| not) (?:match|line up|sound the same|square)\b|\bwho(?:se)? (?:claims|says) what\b|\bwhich (?:source|document|article|page) says\b"
    r"|\b(?:seen|see|read|heard|found|find|got|quotes?|quoted|told|tells?|gives?|give)\b.{0,25}\b(?:different|several|various|conflicting)\b",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"^\W*(?:please|thanks?|thank you|hi|hello|hey|good (?:morning|day|evening)|i need this|explain|be (?:brief|short)|keep it|just)\b(?:\W+\w+){0,8}\W*$",
    re.IGNORECASE,
)
_WANTS_NAME = re.compile(
    r"\b(?:which|what|name)\b(?:[^\w-]+[\w-]+){0,4}?[^\w-]+(?:instances?|chips?|gpus?|hardware|accelerators?|series|famil(?:y|ies)|silicon|cards?|processors?|cpus?|types?|machines?|generations?|vendors?|members?|(?<!model )sizes?(?! of (?:the |a )?model))\b",
    re.IGNORECASE,
)


# Without slots, so that cached properties work: they are read for every piece of evidence.
@dataclass(frozen=True)
class Query:
    """A question ready for retrieval. `standalone` can be understood without the history and the options.

    `entities` are the names of hardware in it. `unknown` are the names of hardware that no document of the index has,
    and `strangers` other unknown proper names. `sizes` are the model sizes it gives, `tasks` what is to be done with
    the model, and `makers` the vendors it names. `history` has the earlier turns.
    """

    question: str
    standalone: str
    options: tuple[Option, ...] = ()
    choose: int = 1
    negated: bool = False
    entities: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    strangers: tuple[str, ...] = ()
    tasks: frozenset[str] = frozenset()
    makers: tuple[str, ...] = ()
    sizes: tuple[Quantity, ...] = ()
    dimensions: frozenset[str] = field(default_factory=frozenset)
    strict: bool = False
    sides: tuple[str, ...] = ()
    history: tuple[Turn, ...] = ()

    @cached_property
    def core(self) -> str:
        """The question without sentences about the answer or the sources alone: "do they differ?", "please explain"."""
        spans = [self.standalone[start:end] for start, end in sentences(self.standalone)]
        asks = any(s.endswith("?") for s in spans)
        kept = [s for s in spans if not (_AGREES.search(s) and not quantities(s)) and not _is_polite(s, asks=asks)]
        return " ".join(kept) if kept and any(content_words(s) for s in kept) else self.standalone

    @cached_property
    def typed(self) -> str:
        """The last turn as the user wrote it, but with the name of what "the second one" stands for, if that is found."""
        return self.standalone if picks(self.question) and not picks(self.standalone) else self.question

    @cached_property
    def asking(self) -> str:
        """The sentences that ask, without needs stated around them, or all if none ends with a question mark."""
        return asking(self.standalone)

    @cached_property
    def operation(self) -> tuple[str, ...]:
        """The words for what is to be done to a named thing, if the question asks how; else nothing."""
        is_asked = (self.entities or proper_names(self.core)) and not self.yes_no
        return asked_operation(self.core) if is_asked else ()

    @cached_property
    def operates(self) -> bool:
        """Whether the question asks how to do something to a named thing."""
        return bool(self.operation)

    @cached_property
    def compares(self) -> bool:
        """Whether the question compares two or more things."""
        return len(self.sides) >= 2 and bool(_COMPARES.search(self.standalone))

    @cached_property
    def asks_agreement(self) -> bool:
        """Whether the question asks if the sources agree."""
        return bool(_AGREES.search(self.standalone))

    @cached_property
    def wants_name(self) -> bool:
        """Whether the answer is a piece of hardware: "which chip", "what instance"."""
        return bool(_WANTS_NAME.search(self.standalone))

    @cached_property
    def yes_no(self) -> bool:
        """Whether the question can be answered with yes or no."""
        return bool(_YES_NO.search(self.standalone))

    @cached_property
    def asks_number(self) -> bool:
        """Whether the answer is a quantity."""
        return asks_quantity(self.asking)


def _is_polite(sentence: str, *, asks: bool) -> bool:
    """Whether a sentence asks for nothing by itself. "Explain batching." does, unless another sentence is the question."""
    return bool(_POLITE.match(sentence)) and not sentence.endswith("?") and (asks or len(content_words(sentence)) < 2)


def asking(text: str) -> str:
    """Return the sentences of a text that end with a question mark, or the whole text if none does."""
    found = [text[start:end] for start, end in sentences(text)]
    return " ".join(s for s in found if s.rstrip().endswith("?")) or text


def understand(question: str, history: Sequence[Turn], index: Index) -> Query:
    """Read a question: split off exam options, complete follow-ups from earlier turns, and correct misspelt terms."""
    stem = parse_options(question)
    asked = correct(_OPTIONAL.sub(r"\1", stem.text if stem else in_english(question)), index)

    def sizes_of(family: str) -> list[str]:
        return _sizes(family, index)

    earlier = [_plain_turn(t, index) for t in history]
    standalone = asked if stem else condense(asked, earlier, sizes_of)
    found = names(standalone)
    entities = tuple(n.name for n in found if n.kind != "region")
    dimensions, strict = asked_dimensions(asking(standalone))
    if not dimensions:
        dimensions = asked_dimensions(standalone)[0]
    return Query(
        question=question,
        standalone=standalone,
        options=stem.options if stem else (),
        choose=stem.choose if stem else 1,
        negated=stem.negated if stem else False,
        entities=entities,
        unknown=_unknown_names(found, index),
        strangers=_strangers(standalone, index),
        tasks=tasks(standalone),
        makers=makers(standalone),
        sizes=tuple(q for q in quantities(standalone) if q.dimension == "parameters"),
        dimensions=dimensions,
        strict=strict,
        sides=sides(standalone, entities),
        history=tuple(history),
    )


# "Which accelerator(s)" is read as the plural.
_OPTIONAL = re.compile(r"(?<=\w)\((e?s)\)")


def _plain_turn(turn: Turn, index: Index) -> Turn:
    stem = parse_options(turn.question)
    check()
    return Turn(correct(stem.text if stem else in_english(turn.question), index), turn.answer)


def _sizes(family: str, index: Index) -> list[str]:
    """Return the instance types of a family that the corpus names, smallest first."""
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


# A text of at least _ENOUGH words with a share of stop words below _ENGLISH is not English. Shorter ones may just be terse.
_ENOUGH, _ENGLISH = 7, 0.2


def _unknown_names(found: Sequence[Name], index: Index) -> tuple[str, ...]:
    """Return the hardware, instance types, regions and other codes that no document names."""
    return tuple(
        n.name for n in found if not any(_in_corpus(form, index) for form in (n.name, n.text, n.text.removesuffix("s")))
    )


def _strangers(text: str, index: Index) -> tuple[str, ...]:
    """Return the proper names that neither a document nor a source's title or publisher has.

    Abbreviations ("our CTO") are left out: they name no product. So is everything in a text that is not English, where
    any word may have a capital.
    """
    if _is_foreign(text):
        return ()
    unseen = [
        w for w in _capitalised(text) if not w.removesuffix("s").isupper() and not index.document_frequency(w.lower())
    ]
    known = " ".join(f"{s.title} {s.publisher or ''}" for s in index.sources()).lower() if unseen else ""
    return tuple(w for w in unseen if w.lower() not in known)


def _is_foreign(text: str) -> bool:
    said = [w for w in words(text) if w.isalpha()]
    return len(said) >= _ENOUGH and sum(w in STOP_WORDS for w in said) < _ENGLISH * len(said)


def _capitalised(text: str) -> list[str]:
    """Return the proper names of a text, and its first word if that is capitalised and not an English word."""
    first = re.match(r"\W*([A-Z][a-z]{3,})\b", text)
    begins = [first[1]] if first and first[1].lower() not in known_words() else []
    return list(dict.fromkeys([*begins, *proper_names(text)]))


def _in_corpus(name: str, index: Index) -> bool:
    """Whether the corpus has a name as it is written or, for a name of several words, has all of its words."""
    parts = words(name)
    return index.document_frequency(name) > 0 or (
        len(parts) > 1 and "." not in name and all(index.document_frequency(p) > 0 for p in parts)
    )
