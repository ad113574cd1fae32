"""Verification: check every sentence of a draft against the words that it cites. All readers use it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import compress, pairwise
from typing import NamedTuple

from chatbot.answer import NEAREST, REFUSAL, Citation, Passage, Role, Statement
from chatbot.computed import Computed, numbers
from chatbot.deadline import check as check_deadline
from chatbot.evidence import Unit, units
from chatbot.evidence.instructions import is_instruction
from chatbot.language.names import mentioned
from chatbot.language.quantities import Quantity, quantities, same
from chatbot.language.words import stems, words
from chatbot.verification.judge import borne_out, evidence_features, judge, told
from chatbot.verification.marks import Clause, clauses_of, marked_sentences, renumbered, without_marks
from chatbot.verification.row_claim import row_says
from chatbot.verification.support import is_exact, missing, overlap

# Thresholds: the share of a quoted claim's words that must stand in what it cites, and the judge's probability for a
# claim in the writer's own words. Of claims as models write them, 0.52 of the true and 0.10 of the false are kept.
_QUOTED, BORNE_OUT = 0.5, 0.47
# With less, a claim that says what it is about is not helped by the question.
_LIKELY = 0.37
# A claim that does not say what it is about.
REFERS_BACK = re.compile(r"\W*(?:it|its|they|their|this|these|that|those|both)\b", re.IGNORECASE)
# Between these probabilities the judge is unsure, and a second judge may be asked.
_UNSURE = (0.2, 0.8)
# How many nearest units of each piece of evidence are considered, and how many of all of them are judged individually.
_NEAREST, _JUDGED = 4, 3
# With at most this many cited passages, every unit is searched for a claim's numbers and names.
_SOUGHT = 4
# A clause of at most this many words says nothing by itself.
_SHORT = 4


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a mark `[n]` of a draft refers to: a span of a passage's document. A language model's marks refer to whole
    passages."""

    passage: Passage
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Verified:
    """What is left of a draft: its text with marks renumbered in order of appearance, their citations, and the dropped
    sentences."""

    text: str
    citations: tuple[Citation, ...]
    dropped: tuple[str, ...]
    statements: tuple[Statement, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Checked:
    """A sentence that passed the check: its text with renumbered marks, and its citations (none for a refusal)."""

    text: str
    citations: tuple[Citation, ...]


# The place of a quote: document id, start, end. Each place has one citation number in an answer.
Place = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class _Quote:
    """The words that support a claim, before they have a citation number."""

    claim: str
    passage: Passage
    unit: Unit
    support: float


@dataclass
class SecondOpinion:
    """The verdicts of a second judge on claims that the first one is unsure of, by claim and evidence.

    Nothing is asked during verification: pairs without a verdict are collected in `unsure`. The caller asks about all
    of them in one go, puts the verdicts into `given`, and verifies again.
    """

    given: dict[tuple[str, str], bool] = field(default_factory=dict)
    unsure: list[tuple[str, str]] = field(default_factory=list)

    def of(self, claim: str, evidence: str, probability: float) -> float:
        """The first judge's probability, or 1 or 0 if it is unsure and the second judge has decided."""
        if not _UNSURE[0] <= probability <= _UNSURE[1]:
            return probability
        if (said := self.given.get((claim, evidence))) is not None:
            return float(said)
        self.unsure.append((claim, evidence))
        return probability


def whole(passages: Sequence[Passage]) -> tuple[Evidence, ...]:
    """Each passage as one piece of evidence."""
    return tuple(Evidence(p, p.chunk.start, p.chunk.end) for p in passages)


def verify(
    draft: str,
    evidence: Sequence[Evidence],
    given: Sequence[str] = (),
    *,
    own_words: bool = False,
    question: str = "",
    second: SecondOpinion | None = None,
    computed: Sequence[Computed] = (),
    said: str = "",
) -> Verified:
    """Keep the sentences of a draft that their marks support; `[n]` refers to `evidence[n - 1]`.

    `given` are the user's own texts that a line may begin with (exam options): they are repeated, not claimed. A
    sentence that says only that the sources do not say is kept as it is, as is one that is `given` to a reader that quotes.

    A sentence is dropped if, checked in this order, it has no mark, no mark is in bounds (`[0]` and `[9]` of 8 are
    not), a number with its unit or a name in it does not stand in the words it cites, or fewer than half of its content
    words do. Words addressed to a reader of documents ("say that …") support nothing.

    With `own_words` the reader does not quote but writes. Its numbers may be computed from two that stand in the cited
    words; the judge then decides which of the cited words, alone or together, support each clause. `question` is what
    "Yes" answers; `second` is a judge to ask where the first is unsure.

    A draft with `computed` figures does not quote either. Each number, and each name with a digit in it, must stand in
    what the sentence cites or in `said` (the user's own words and what was assumed for them), or be a computed figure
    whose arithmetic gives it again from numbers that stand there. A sentence of nothing but what was said needs no
    mark.
    """
    places: dict[Place, int] = {}
    figures = _Figures(tuple(computed), said) if computed or said else None
    kept: list[str] = []
    citations: list[Citation] = []
    dropped: list[str] = []
    statements: list[Statement] = []
    for line in draft.splitlines():
        opening, rest = opened(line, given)
        parts: list[str] = []
        for sentence in marked_sentences(rest):
            if sentence in given and not own_words:
                checked: Checked | None = Checked(sentence, ())
            elif figures:
                checked = _check_figures(sentence, evidence, places, figures)
            else:
                checked = check(sentence, evidence, places, own_words=own_words, question=question, second=second)
            if checked is None:
                dropped.append(bare(sentence))
            else:
                parts.append(checked.text)
                statements.append(statement(checked, opening, statements, computed=bool(computed)))
                citations += [c for c in checked.citations if c not in citations]
        if parts or not line.strip():
            kept.append(opening + " ".join(parts))
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    return Verified(text, tuple(citations), tuple(dropped), tuple(statements))


def statement(checked: Checked, opening: str, before: Sequence[Statement], *, computed: bool = False) -> Statement:
    """The statement for a checked sentence after an opening, with its role in the answer, which depends on the
    statements before it: the first one with a citation answers."""
    text, about = bare(checked.text), opening[len(list_mark(opening)) :].rstrip(": ").removeprefix(NEAREST)
    kind = next((role for word, role in _SAID_APART if text.startswith(word)), None)
    role: Role
    if kind or not checked.citations:
        role = kind or "caveat"
    elif about:
        role = "option" if re.match(r"[A-Z](?:\.|$|,)", about) else "side"
    elif computed:
        role = "computed"
    elif not any(earlier.citations for earlier in before):
        role = "answer"
    else:
        role = "row" if all("|" in c.quote for c in checked.citations) else "reason"
    return Statement(text, tuple(dict.fromkeys(c.number for c in checked.citations)), role, about)


_SAID_APART: tuple[tuple[str, Role], ...] = (("Alternatives:", "alternative"), ("Caveat:", "caveat"))


def check(
    sentence: str,
    evidence: Sequence[Evidence],
    places: dict[Place, int],
    *,
    own_words: bool = False,
    question: str = "",
    subject: str = "",
    second: SecondOpinion | None = None,
) -> Checked | None:
    """Check one sentence as `verify` does; None if it is dropped. Places that it cites for the first time are added to
    `places`. `subject` is what the sentence is about if it does not say so itself."""
    if only_refuses(sentence):
        return Checked(sentence, ())
    clauses = clauses_of(sentence)
    quotes = [_judged(c, evidence, question, subject, second or SecondOpinion()) if own_words else _quoted(c, evidence) for c in clauses]
    if not all(quotes):
        return None
    found = [{n: _citation(quote, places) for n, quote in by_mark.items()} for by_mark in quotes]
    new = [{n: c.number for n, c in by_mark.items()} for by_mark in found]
    cited = tuple(dict.fromkeys(c for by_mark in found for c in by_mark.values()))
    return Checked(renumbered(sentence, clauses, new), cited)


def check_cell(
    thing: str, about: str, said: str, evidence: Sequence[Evidence], places: dict[Place, int]
) -> Checked | None:
    """Check a cell of a table, which says `said` of `thing` in a column on `about`; None if no evidence supports it.

    Either a row of that thing has it in its cells, or a sentence that names nothing else says it and shares a
    word with `about`.
    """
    named, figures, names, column = mentioned(thing), quantities(said), mentioned(said), stems(about)
    if not named or not (figures or names):
        return None
    for piece in evidence:
        for unit in _candidates(piece):
            if unit.cells:  # its names and figures may stand in several cells: "4 × NVIDIA L4"
                texts = [cell for _, cell in unit.cells[1:]] if named & mentioned(unit.cells[0][1]) else []
            else:
                texts = [unit.plain] if named == mentioned(unit.plain) - names and column & stems(unit.plain) else []
            there = [found for text in texts for found in quantities(text)]
            if texts and names <= frozenset().union(*map(mentioned, texts)) and all(any(_is_same(f, t) for t in there) for f in figures):
                return Checked(said, (_citation(_Quote(f"{thing}: {said}", piece.passage, unit, 1.0), places),))
    return None


def _is_same(said: Quantity, found: Quantity) -> bool:
    """Whether two figures are the same. A bare number must also count the same thing, unless it names none; "4 ×" counts."""
    if said.dimension == "times" and found.dimension == "count":
        return said.low == found.low
    return same(said, found) and (said.dimension != "count" or not said.noun or stems(said.noun) & stems(found.noun) != frozenset())


@dataclass(frozen=True, slots=True)
class _Figures:
    """What a computed draft may say without a source: the user's words, and figures with their arithmetic."""

    computed: tuple[Computed, ...]
    said: str


def _check_figures(
    sentence: str, evidence: Sequence[Evidence], places: dict[Place, int], figures: _Figures
) -> Checked | None:
    """Check one sentence of a computed draft; None if something in it stands nowhere or its arithmetic gives something else."""
    clauses = clauses_of(sentence)
    marks = [n for clause in clauses for n in clause.numbers]
    if not all(1 <= n <= len(evidence) for n in marks):
        return None
    cited = {n: evidence[n - 1] for n in marks}
    known = "\n".join([figures.said, *map(_words, cited.values())])
    values = _values(figures, numbers(known))
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
    """The values of the computed figures, each computed from numbers known by then."""
    values: list[float] = []
    for figure in figures.computed:
        if figure.value is not None and figure.holds([*known, *values]):
            values.append(figure.value)
    return values


_FIGURE_OR_NAME = re.compile(r"(?:[A-Za-z][\w-]*\.)?[\w-]*\d[\w.,-]*(?<![.,-])")


def _stands(token: str, known: str) -> bool:
    """Whether a number or a name stands in a text; a number may be written in any form."""
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
    """A sentence without marks, as it is cited and as it is reported when dropped."""
    return _bare(without_marks(sentence))


def opened(line: str, given: Sequence[str]) -> tuple[str, str]:
    """Split a line into its opening (list mark, the user's own text) and the claims after it."""
    opening = list_mark(line)
    for text in given:
        if line[len(opening) :].startswith(f"{text}: "):
            opening += f"{text}: "
            break
    return opening, line[len(opening) :]


def list_mark(line: str) -> str:
    """The list mark that a line begins with, and the space around it; "" if there is none."""
    match = re.match(r"\s*(?:[-*]\s+|\d+\.\s+)", line)
    return match.group() if match else ""


def only_refuses(sentence: str) -> bool:
    """Whether a sentence is only the refusal, possibly after a label ("B200: ...")."""
    label = sentence.removesuffix(REFUSAL)
    return label == "" or (
        label != sentence and bool(re.fullmatch(r"[^.!?:]{1,60}: ", label)) and not quantities(label)
    )


def _quoted(clause: Clause, evidence: Sequence[Evidence]) -> dict[int, _Quote]:
    """The quotes that support a clause, by mark: one alone or, if the clause joins several facts, all together. Empty
    if they do not."""
    claim = clause.text
    quotes = {n: _best_quote(claim, evidence[n - 1]) for n in clause.numbers if 1 <= n <= len(evidence)}
    together = {n: q for n, q in quotes.items() if q is not None}
    joint = _share(claim, [unit for _, unit in together.values()])
    if not together or joint < _QUOTED:
        return {}
    return {
        n: _Quote(_bare(claim), passage, unit, max(joint, _share(claim, [unit])))
        for n, (passage, unit) in together.items()
    }


def _share(claim: str, cited: Sequence[Unit]) -> float:
    """The share of a claim's words that the cited units contain; 0 if one of its numbers or names does not stand there."""
    check_deadline()
    return overlap(claim, cited) if is_exact(claim, cited) else 0.0


def _judged(clause: Clause, evidence: Sequence[Evidence], question: str, subject: str, second: SecondOpinion) -> dict[int, _Quote]:
    """The units that support a clause in the writer's own words, by mark; empty if the judge is not sure enough."""
    claim = _bare(without_marks(clause.text))
    cited = [(n, evidence[n - 1]) for n in clause.numbers if 1 <= n <= len(evidence)]
    judged = _judgement(claim, cited, question, subject, second)
    if judged.probability < BORNE_OUT:
        return {}
    bearing = {n: unit for unit, n in reversed(judged.bearing)}
    return {n: _Quote(claim, evidence[n - 1].passage, u, judged.probability) for n, u in sorted(bearing.items())}


def probability(claim: str, evidence: Sequence[Evidence], *, question: str = "") -> float:
    """The probability that pieces of evidence, all of them cited, support a claim, as `verify` computes it; 0 if a
    number or a name stands nowhere."""
    return _judgement(claim, list(enumerate(evidence, start=1)), question, "", SecondOpinion()).probability


class _Judgement(NamedTuple):
    """The probability that a claim is supported, and the units that support it, each with its mark: the best group
    first, then others that support it alone."""

    probability: float
    bearing: list[tuple[Unit, int]]


def _judgement(
    claim: str, cited: Sequence[tuple[int, Evidence]], question: str, subject: str, second: SecondOpinion
) -> _Judgement:
    if rows := [(unit, n) for n, piece in cited for unit in _candidates(piece) if row_says(unlabelled(claim), unit)]:
        return _Judgement(1.0, rows[:1])
    exact = _exact(claim, cited, question)
    if verbatim := [one for some in exact for one in some if _says(one[0].plain, claim)]:
        return _Judgement(1.0, verbatim)
    if not exact:
        return _Judgement(0.0, [])
    readings, pieces = _readings(claim, question, subject), [[u for u, _ in some] for some in exact]
    verdicts, *others = (judge([reading] * len(exact), pieces) for reading in readings)
    best = max(range(len(exact)), key=lambda n: verdicts[n].supports)
    alone = [some[0] for some, verdict in zip(exact, verdicts, strict=True) if len(some) == 1 and verdict.supports >= BORNE_OUT]
    # A claim that shares no word with anything cited ("No idea, sorry") says nothing about it.
    shared = [overlap(claim, piece) for piece in pieces]
    by_itself, *after = (borne_out(claim, some, shared) if any(shared) else 0.0 for some in (verdicts, *others))
    # A question may put words into the judge's mouth ("Let us call Trainium Inferentia …").
    sure = by_itself if by_itself < _LIKELY and not REFERS_BACK.match(claim) else (by_itself + sum(after)) / len(readings)
    return _Judgement(second.of(readings[0], told(readings[0], pieces[best]), sure), [*exact[best], *alone])


# Words around a clause that change its meaning.
_TURNS = re.compile(r"\b(?:if|unless|when|until|except|only|not?|never|nor|neither|false|wrong|myths?|claims?|claimed|said|says|may|might)\b|n['’]t\b", re.IGNORECASE)
_BEFORE, _AFTER = r"(?:^|[,;:.–—] ?(?:and |but |while |whereas )?)", r"(?=$|[,;:.–—]| (?:and|but|while|whereas) )"


def _says(text: str, claim: str) -> bool:
    """Whether a text contains a claim word for word: as all of it, or as a clause whose meaning nothing around it changes."""
    if words(text) == words(claim):
        return True
    plain = re.sub(r"[*_`]", "", text)
    found = re.search(_BEFORE + re.escape(claim.rstrip(".")) + _AFTER, plain, re.IGNORECASE)
    if found is None or len(words(claim)) < _SHORT:
        return False
    return not _TURNS.search(f"{plain[: found.start()]} {plain[found.end() :]}")


def features(claim: str, evidence: Sequence[Evidence], *, question: str = "") -> list[float] | None:
    """The features that `probability` weighs, for learning the weights; None if a number or a name stands nowhere."""
    if not (pieces := [[u for u, _ in some] for some in _exact(claim, list(enumerate(evidence, start=1)), question)]):
        return None
    verdicts = judge(_readings(claim, question, "")[:1] * len(pieces), pieces)
    return evidence_features(claim, verdicts, [overlap(claim, piece) for piece in pieces])


def _exact(claim: str, cited: Sequence[tuple[int, Evidence]], question: str) -> list[list[tuple[Unit, int]]]:
    """Groups of units, single and combined, that share most words with a claim and contain its numbers and names.

    If there are none and few passages are cited, the units that cover its numbers and names together.
    """
    ranked = _own_rows(claim, [(u, n) for n, piece in cited for u in _nearest(claim, piece)])
    singles = sorted(ranked, key=lambda each: overlap(claim, [each[0]]), reverse=True)[:_JUDGED]
    groups = [[one] for one in singles] + list(_together(claim, ranked))

    said = unlabelled(claim)

    def hold(some: Sequence[tuple[Unit, int]]) -> bool:
        return is_exact(said, [u for u, _ in some], computed=True, question=question)

    exact = [some for some in groups if hold(some)]
    if exact or len(cited) > _SOUGHT:
        return exact
    found = _covering(said, _own_rows(claim, [(u, n) for n, piece in cited for u in _candidates(piece)]))
    return [found] if found and hold(found) else []


def _covering(claim: str, candidates: Sequence[tuple[Unit, int]]) -> list[tuple[Unit, int]]:
    """Up to three units that together have most of a claim's numbers and names, chosen greedily; of equals the one with
    the most shared words."""
    chosen: list[tuple[Unit, int]] = []
    lacking = missing(claim, [])
    while lacking and len(chosen) < _JUDGED and candidates:
        with_each = [([*chosen, each], missing(claim, [u for u, _ in (*chosen, each)])) for each in candidates]
        best, left = min(with_each, key=lambda one: (one[1], -overlap(claim, [u for u, _ in one[0]])))
        if left == lacking:
            break
        chosen, lacking = best, left
    return chosen


def _own_rows(claim: str, ranked: list[tuple[Unit, int]]) -> list[tuple[Unit, int]]:
    """Drop the rows of other things if some row is of what the claim names: the row of a trn1.32xlarge says nothing
    about a trn1.2xlarge."""
    said = mentioned(claim)
    keys = [mentioned(u.cells[0][1]) if u.cells else frozenset() for u, _ in ranked]
    if not any(said & key for key in keys):
        return ranked
    return [each for each, key in zip(ranked, keys, strict=True) if not key or said & key]


def _readings(claim: str, question: str, subject: str) -> list[str]:
    """The forms in which the judge reads a claim: under its subject, and after the question. Their mean tells true from false
    better than either. "No." means nothing without the question."""
    after = [f"{question} {claim}"] if question else []
    return after if after and re.match(r"(?:yes|no)\b", claim, re.IGNORECASE) else [f"{subject}: {claim}" if subject else claim, *after]


def _nearest(claim: str, evidence: Evidence) -> list[Unit]:
    """The units of a piece of evidence that share most words with a claim."""
    return sorted(_candidates(evidence), key=lambda u: overlap(claim, [u]), reverse=True)[:_NEAREST]


def _together(claim: str, ranked: Sequence[tuple[Unit, int]]) -> Iterator[list[tuple[Unit, int]]]:
    """Combinations of two and of three units that together share most words with a claim, chosen greedily."""
    chosen: list[tuple[Unit, int]] = []
    for _ in range(3):
        others = [each for each in ranked if not any(each[0].start < u.end and u.start < each[0].end and u.chunk == each[0].chunk for u, _ in chosen)]
        if not others:
            return
        chosen = [*chosen, max(others, key=lambda each: overlap(claim, [each[0], *(u for u, _ in chosen)]))]
        if len(chosen) > 1:
            yield chosen


# A bold label before a sentence, as in "**Cost.** An inf2.48xlarge is …": a few words, with no digits but a list number.
_LABEL_BEFORE = re.compile(r"\s*\*\*(?:\d{1,2}[.)]\s*)?[^\d*\n]{1,40}(?:[.:]\*\*|\*\*\s?[:.–—])\s+(?=[^\s*])")


def unlabelled(sentence: str) -> str:
    """The claim of a sentence: the sentence without the bold label before it and without emphasis."""
    return re.sub(r"\*\*|__|`", "", _LABEL_BEFORE.sub("", sentence, count=1))


def _citation(quote: _Quote, places: dict[Place, int]) -> Citation:
    unit = quote.unit
    number = places.setdefault((unit.chunk.document.id, unit.start, unit.end), len(places) + 1)
    return Citation(number, quote.claim, unit.text, unit.start, unit.end, round(quote.support, 3), quote.passage)


def _bare(claim: str) -> str:
    return re.sub(r"\s+(?=[.,;:!?]|\Z)", "", re.sub(r"\s+", " ", claim)).strip(" ,;")


def _best_quote(claim: str, evidence: Evidence) -> tuple[Passage, Unit] | None:
    """The unit within the evidence, or the pair of adjacent units, that a claim quotes most of."""
    if not (candidates := _candidates(evidence)):
        return None
    # Sorted by overlap, the first one that contains the numbers and names is the best. Testing all of them takes long.
    ranked = sorted(candidates, key=lambda u: (overlap(claim, [u]), -(u.end - u.start)), reverse=True)
    best = next((u for u in ranked if _share(claim, [u])), ranked[0])
    return evidence.passage, best


# Cached: a draft cites the same evidence again and again.
@lru_cache(maxsize=64)
def _candidates(evidence: Evidence) -> tuple[Unit, ...]:
    """What can be quoted from the evidence: its units, and pairs of adjacent units, without instructions."""
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
