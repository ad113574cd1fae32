"""Verification: every sentence of a draft against the words it cites. One pure function, for every reader."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import compress, pairwise

from chatbot.answer import REFUSAL, Citation, Passage
from chatbot.closeness import stays_close
from chatbot.computed import Computed, numbers
from chatbot.evidence import Unit, units
from chatbot.instructions import is_instruction
from chatbot.marks import Clause, clauses_of, marked_sentences, renumbered, without_marks
from chatbot.quantities import quantities
from chatbot.support import overlap, support

MINIMUM_SUPPORT = 0.5


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a mark `[n]` of a draft stands for: a span of a passage's document. A language model's marks mean whole passages."""

    passage: Passage
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Verified:
    """What is left of a draft: its text with marks renumbered in order of appearance, their citations, and what was dropped."""

    text: str
    citations: tuple[Citation, ...]
    dropped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """A sentence that holds: its text with marks renumbered, and what it cites; a refusal cites nothing."""

    text: str
    citations: tuple[Citation, ...]


# Where quoted words stand: document, start, end. Each place has one number in an answer.
Place = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class _Quote:
    """The words that bear out a claim, before they have a number."""

    claim: str
    passage: Passage
    unit: Unit
    support: float


def whole(passages: Sequence[Passage]) -> tuple[Evidence, ...]:
    """Each passage as one piece of evidence."""
    return tuple(Evidence(p, p.chunk.start, p.chunk.end) for p in passages)


def verify(
    draft: str,
    evidence: Sequence[Evidence],
    given: Sequence[str] = (),
    *,
    own_words: bool = False,
    computed: Sequence[Computed] = (),
    said: str = "",
) -> Verified:
    """Keep the sentences of a draft that their marks bear out; `[n]` means `evidence[n - 1]`.

    `given` are texts of the user's own that a line may begin with (exam options): they are repeated, not claimed. A line
    that says only that the sources do not say is kept as it is.

    A sentence is dropped when it has no mark, when no mark is in bounds (`[0]` and `[9]` of 8 are not), when a number with
    its unit or a name in it does not stand in the words it cites, when fewer than half of its content words do, or when it
    turns those words round. Words that are addressed to a reader of documents ("say that …") bear out nothing.

    A reader with `own_words` does not quote but writes: each mark must then bear out its clause by itself, and closely.

    A draft with `computed` figures does not quote either. Each number and each name with a digit in it must stand in what
    the sentence cites or in `said`, the user's own words and what was assumed for them, or be a computed figure that its
    arithmetic gives again, out of numbers that stand there. A sentence of nothing but what was said needs no mark.
    """
    places: dict[Place, int] = {}
    figures = _Figures(tuple(computed), said) if computed or said else None
    kept: list[str] = []
    citations: list[Citation] = []
    dropped: list[str] = []
    for line in draft.splitlines():
        opening, rest = opened(line, given)
        parts: list[str] = []
        for sentence in marked_sentences(rest):
            if figures:
                checked = _check_figures(sentence, evidence, places, figures)
            else:
                checked = check(sentence, evidence, places, own_words=own_words)
            if checked is None:
                dropped.append(bare(sentence))
            else:
                parts.append(checked.text)
                citations += [c for c in checked.citations if c not in citations]
        if parts or not line.strip():
            kept.append(opening + " ".join(parts))
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    return Verified(text, tuple(citations), tuple(dropped))


def check(
    sentence: str, evidence: Sequence[Evidence], numbers: dict[Place, int], *, own_words: bool = False
) -> Checked | None:
    """One sentence as `verify` checks it, None when it is dropped; `numbers` gains what it cites for the first time."""
    if _only_refuses(sentence):
        return Checked(sentence, ())
    clauses = clauses_of(sentence)
    quotes = [_alone(c, evidence) if own_words else _borne_out(c, evidence) for c in clauses]
    if not all(quotes):
        return None
    found = [{n: _citation(quote, numbers) for n, quote in by_mark.items()} for by_mark in quotes]
    new = [{n: c.number for n, c in by_mark.items()} for by_mark in found]
    cited = tuple(dict.fromkeys(c for by_mark in found for c in by_mark.values()))
    return Checked(renumbered(sentence, clauses, new), cited)


@dataclass(frozen=True, slots=True)
class _Figures:
    """What a computed draft may say without a source: the user's words, and figures with their arithmetic."""

    computed: tuple[Computed, ...]
    said: str


def _check_figures(
    sentence: str, evidence: Sequence[Evidence], places: dict[Place, int], figures: _Figures
) -> Checked | None:
    """One sentence of a computed draft, None when something in it stands nowhere or its arithmetic gives something else."""
    clauses = clauses_of(sentence)
    marks = [n for clause in clauses for n in clause.numbers]
    if not all(1 <= n <= len(evidence) for n in marks):
        return None
    cited = {n: evidence[n - 1] for n in marks}
    known = "\n".join([figures.said, *map(_words, cited.values())])
    values = _values(figures, numbers("\n".join([figures.said, *map(_words, evidence)])))
    text = without_marks(sentence)
    for figure in sorted(figures.computed, key=lambda c: len(c.text), reverse=True):
        written = re.compile(rf"(?<![\w.,$]){re.escape(figure.text)}(?!\w|[.,]\d)")
        if written.search(text) and figure.holds([*numbers(known), *values]):
            text = written.sub(" ", text)
    if not all(_stands(m.group(), known) for m in _FIGURE_OR_NAME.finditer(text)):
        return None
    claim = bare(sentence)
    found = {n: _cited(claim, piece, places) for n, piece in cited.items()}
    new = [{n: found[n].number for n in clause.numbers} for clause in clauses]
    return Checked(renumbered(sentence, clauses, new), tuple(dict.fromkeys(found.values())))


def _values(figures: _Figures, known: list[float]) -> list[float]:
    """What the computed figures come to, each out of numbers that are known by then."""
    values: list[float] = []
    for figure in figures.computed:
        if figure.value is not None and figure.holds([*known, *values]):
            values.append(figure.value)
    return values


_FIGURE_OR_NAME = re.compile(r"(?:[A-Za-z][\w-]*\.)?[\w-]*\d[\w.,-]*(?<![.,-])")


def _stands(token: str, known: str) -> bool:
    """Whether a number or a name stands in a text, the number in any spelling."""
    if re.search(rf"(?<![\w.]){re.escape(token)}(?!\w)", known, re.IGNORECASE):
        return True
    found = numbers(token)
    return bool(found) and token[0].isdigit() and found[-1] in numbers(known)


def _words(evidence: Evidence) -> str:
    return evidence.passage.chunk.document.text[evidence.start : evidence.end]


def _cited(claim: str, evidence: Evidence, places: dict[Place, int]) -> Citation:
    place = (evidence.passage.chunk.document.id, evidence.start, evidence.end)
    number = places.setdefault(place, len(places) + 1)
    return Citation(number, claim, _words(evidence), evidence.start, evidence.end, 1.0, evidence.passage)


def bare(sentence: str) -> str:
    """A sentence without marks, as it is reported when it is dropped."""
    return _bare(without_marks(sentence))


def opened(line: str, given: Sequence[str]) -> tuple[str, str]:
    """A line as its opening (list mark, the user's own text) and the claims after it."""
    opening = list_mark(line)
    for text in given:
        if line[len(opening) :].startswith(f"{text}: "):
            opening += f"{text}: "
            break
    return opening, line[len(opening) :]


def list_mark(line: str) -> str:
    """The list mark that a line begins with, and the space around it."""
    match = re.match(r"\s*(?:[-*]\s+|\d+\.\s+)", line)
    return match.group() if match else ""


def _only_refuses(sentence: str) -> bool:
    """Whether a sentence says no more than the refusal, or of what ("B200: ...")."""
    label = sentence.removesuffix(REFUSAL)
    return label == "" or (
        label != sentence and bool(re.fullmatch(r"[^.!?:]{1,60}: ", label)) and not quantities(label)
    )


def _borne_out(clause: Clause, evidence: Sequence[Evidence]) -> dict[int, _Quote]:
    """What bears out a clause, by mark: each quote by itself or, where it joins several facts, all together."""
    claim = clause.text
    quotes = {n: _best_quote(claim, evidence[n - 1]) for n in clause.numbers if 1 <= n <= len(evidence)}
    together = {n: q for n, q in quotes.items() if q is not None}
    joint = support(claim, [unit for _, unit in together.values()])
    if not together or joint < MINIMUM_SUPPORT:
        return {}
    return {
        n: _Quote(_bare(claim), passage, unit, max(joint, support(claim, [unit])))
        for n, (passage, unit) in _bearing(claim, together, joint).items()
    }


def _alone(clause: Clause, evidence: Sequence[Evidence]) -> dict[int, _Quote]:
    """What bears out a clause by itself and closely, by mark."""
    found = {n: _best_quote(clause.text, evidence[n - 1]) for n in clause.numbers if 1 <= n <= len(evidence)}
    quotes = {
        n: _Quote(_bare(clause.text), *q, support(clause.text, [q[1]])) for n, q in found.items() if q is not None
    }
    return {
        n: q
        for n, q in quotes.items()
        if q.support >= MINIMUM_SUPPORT and stays_close(without_marks(clause.text), q.unit)
    }


def _bearing(claim: str, quotes: dict[int, tuple[Passage, Unit]], joint: float) -> dict[int, tuple[Passage, Unit]]:
    """The quotes without those that bear out nothing by themselves and are not missed by the others."""
    kept = quotes
    for number, (_, unit) in reversed(quotes.items()):
        others = {n: q for n, q in kept.items() if n != number}
        alone = support(claim, [unit])
        if others and alone < MINIMUM_SUPPORT and support(claim, [u for _, u in others.values()]) >= joint:
            kept = others
    return kept


def _citation(quote: _Quote, numbers: dict[Place, int]) -> Citation:
    unit = quote.unit
    number = numbers.setdefault((unit.chunk.document.id, unit.start, unit.end), len(numbers) + 1)
    return Citation(number, quote.claim, unit.text, unit.start, unit.end, round(quote.support, 3), quote.passage)


def _bare(claim: str) -> str:
    return re.sub(r"\s+(?=[.,;:!?]|\Z)", "", re.sub(r"\s+", " ", claim)).strip(" ,;")


def _best_quote(claim: str, evidence: Evidence) -> tuple[Passage, Unit] | None:
    """The unit within the evidence that bears out most of the claim, alone or with the unit after it."""
    if not (candidates := _candidates(evidence)):
        return None
    # Support is the overlap or nothing, so the first that has any, by overlap, has the most; to test them all takes long.
    ranked = sorted(candidates, key=lambda u: (overlap(claim, [u]), -(u.end - u.start)), reverse=True)
    best = next((u for u in ranked if support(claim, [u])), ranked[0])
    return evidence.passage, best


# A draft cites the same evidence again and again.
@lru_cache(maxsize=64)
def _candidates(evidence: Evidence) -> tuple[Unit, ...]:
    """What can be quoted of the evidence: its units, and each with the unit after it."""
    inside = [u for u in units(evidence.passage.chunk) if u.start < evidence.end and u.end > evidence.start]
    sound = [not is_instruction(u.plain) for u in inside]
    pairs = [
        _joined(a, b)
        for (a, is_sound), (b, is_next) in pairwise(zip(inside, sound, strict=True))
        if is_sound and is_next and a.above == b.above and "row" not in (a.kind, b.kind)
    ]
    return (*compress(inside, sound), *pairs)


def _joined(first: Unit, second: Unit) -> Unit:
    text = first.chunk.document.text[first.start : second.end]
    return replace(first, end=second.end, text=text)
