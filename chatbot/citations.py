"""Verification: every sentence of a draft against the words it cites. One pure function, for every reader."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from chatbot.answer import REFUSAL, Citation, Passage
from chatbot.evidence import Unit, sentences, units
from chatbot.names import mentioned, relatives
from chatbot.quantities import Quantity, quantities, same
from chatbot.words import content_words, stem, stems, synonyms

MINIMUM_SUPPORT = 0.5
_MARKS = re.compile(r"\s*((?:\[\s*\d[\d\s,;–-]*\]\s*)+)")
_NUMBER_OR_RANGE = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")
# Words of the answer's own frame ("the sources differ", "not this option"): they claim nothing about the documents.
_FRAME = stems(
    "source sources say says said differ figure figures answer option options choose recommended recommend recommendation use using pick correct"
    " instead otherwise note caveat also alternative alternatives criterion criteria matches match fits yes no against evidence nothing report reports"
    " reported editor's editor s give gives state states stated different"
)


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


def whole(passages: Sequence[Passage]) -> tuple[Evidence, ...]:
    """Each passage as one piece of evidence."""
    return tuple(Evidence(p, p.chunk.start, p.chunk.end) for p in passages)


def verify(draft: str, evidence: Sequence[Evidence], given: Sequence[str] = ()) -> Verified:
    """Keep the sentences of a draft that their marks bear out; `[n]` means `evidence[n - 1]`.

    `given` are texts of the user's own that a line may begin with (exam options): they are repeated, not claimed. A line
    that says only that the sources do not say is kept as it is.

    A sentence is dropped when it has no mark, when no mark is in bounds (`[0]` and `[9]` of 8 are not), when a number with
    its unit or a name in it does not stand in the words it cites, or when fewer than half of its content words do.
    """
    numbers: dict[tuple[str, int, int], int] = {}
    kept: list[str] = []
    citations: list[Citation] = []
    dropped: list[str] = []
    for line in draft.splitlines():
        parts: list[str] = []
        opening, rest = _opened(line, given)
        if rest.strip().endswith(REFUSAL):
            kept.append(line)
            continue
        for claim, marks in _claims(rest):
            found = _citations(claim, marks, evidence, numbers)
            if found:
                parts.append(_with_marks(claim, found))
                citations += [c for c in found if c not in citations]
            elif re.search(r"\w", claim):
                dropped.append(claim.strip())
        if parts or not line.strip():
            kept.append(opening + " ".join(parts))
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    return Verified(text, tuple(citations), tuple(dropped))


def _opened(line: str, given: Sequence[str]) -> tuple[str, str]:
    """A line as its opening (list mark, the user's own text) and the claims after it."""
    opening = _list_mark(line)
    for text in given:
        if line[len(opening) :].startswith(f"{text}: "):
            opening += f"{text}: "
            break
    return opening, line[len(opening) :]


def _list_mark(line: str) -> str:
    match = re.match(r"\s*(?:[-*]\s+|\d+\.\s+)", line)
    return match.group() if match else ""


def _claims(line: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Sentences of a line with the numbers that their marks name."""
    body = line
    position = 0
    for match in _MARKS.finditer(body):
        text = body[position : match.start()]
        yield from _unmarked_then_last(text, marked_numbers(match.group()), body[match.end() : match.end() + 1])
        position = match.end() + (
            1 if body[match.end() : match.end() + 1] in tuple(".!?") and body[match.end() : match.end() + 1] else 0
        )
    for start, end in sentences(body[position:]):
        yield body[position:][start:end], ()


def _unmarked_then_last(text: str, numbers: tuple[int, ...], after: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    spans = sentences(text)
    # "Yes." and the like lean on the sentence after them.
    while len(spans) > 1 and len(text[spans[0][0] : spans[0][1]].split()) > 3:
        yield text[spans[0][0] : spans[0][1]], ()
        spans = spans[1:]
    if spans:
        last = text[spans[0][0] : spans[-1][1]]
        yield last + (after if after and after in ".!?" and last[-1:] not in ".!?" else ""), numbers


def marked_numbers(marks: str) -> tuple[int, ...]:
    """The numbers in citation marks: "[1]", "[1, 7]", "[1][3]", "[2-4]"."""
    found: list[int] = []
    for match in _NUMBER_OR_RANGE.finditer(marks):
        first, last = int(match[1]), int(match[2] or match[1])
        found += range(first, min(last, first + 50) + 1)
    return tuple(dict.fromkeys(found))


def _citations(
    claim: str, marks: Sequence[int], evidence: Sequence[Evidence], numbers: dict[tuple[str, int, int], int]
) -> list[Citation]:
    """The citations that bear out a claim: each by itself or, where a claim joins several facts, all together."""
    quotes = [_best_quote(claim, evidence[n - 1]) for n in marks if 1 <= n <= len(evidence)]
    together = [q for q in quotes if q is not None]
    if not together:
        return []
    joint = _support(claim, [unit for _, unit in together])
    if joint < MINIMUM_SUPPORT:
        return []
    return [_citation(claim, passage, unit, max(joint, _support(claim, [unit])), numbers) for passage, unit in together]


def _citation(
    claim: str, passage: Passage, unit: Unit, support: float, numbers: dict[tuple[str, int, int], int]
) -> Citation:
    key = (passage.chunk.document.id, unit.start, unit.end)
    number = numbers.setdefault(key, len(numbers) + 1)
    return Citation(number, _bare(claim), unit.text, unit.start, unit.end, round(support, 3), passage)


def _bare(claim: str) -> str:
    return re.sub(r"\s+", " ", claim).strip()


def _with_marks(claim: str, citations: Sequence[Citation]) -> str:
    marks = "".join(f"[{n}]" for n in sorted({c.number for c in citations}))
    stripped = claim.strip()
    ending = stripped[-1:] if stripped[-1:] in ".!?:" else "."
    return f"{stripped.rstrip('.!?:').rstrip()} {marks}{ending}"


def _best_quote(claim: str, evidence: Evidence) -> tuple[Passage, Unit] | None:
    """The unit within the evidence that bears out most of the claim, alone or with the unit after it."""
    inside = [u for u in units(evidence.passage.chunk) if u.start < evidence.end and u.end > evidence.start]
    candidates = inside + [
        _joined(a, b) for a, b in pairwise(inside) if a.above == b.above and "row" not in (a.kind, b.kind)
    ]
    if not candidates:
        return None
    best = max(candidates, key=lambda u: (_support(claim, [u]), _overlap(claim, [u]), -(u.end - u.start)))
    return evidence.passage, best


def _joined(first: Unit, second: Unit) -> Unit:
    text = first.chunk.document.text[first.start : second.end]
    return replace(first, end=second.end, text=text)


def _support(claim: str, cited: Sequence[Unit]) -> float:
    """How much of a claim its words bear out, 0 when a number or a name of the claim is not among them."""
    text = " | ".join(
        t for u in cited for t in (*u.above, u.chunk.document.title, u.chunk.document.source.published or "", u.plain)
    )
    if not (_numbers_stand(claim, text) and _names_stand(claim, text)):
        return 0.0
    return _overlap(claim, cited)


def _overlap(claim: str, cited: Sequence[Unit]) -> float:
    text = " ".join(f"{' '.join(u.above)} {u.chunk.document.title} {u.plain}" for u in cited)
    there = stems(text)
    groups = frozenset(g for w in content_words(text) for g in synonyms(w))
    asked = [w for w in content_words(claim) if stem(w) not in _FRAME]
    if not asked:
        return 1.0
    return sum(1.0 if stem(w) in there else 0.8 if synonyms(w) & groups else 0.0 for w in asked) / len(asked)


def _numbers_stand(claim: str, text: str) -> bool:
    found = quantities(text)
    return all(any(_bears_out(f, q) for f in found) for q in quantities(claim) if not _is_small_word(q))


def _bears_out(found: Quantity, claimed: Quantity) -> bool:
    if same(found, claimed):
        return True
    # A table's header carries the unit, its cell the bare number; "8 vCPUs" and "vCPUs: 8" are the same fact.
    counts = "count" in (found.dimension, claimed.dimension) and "percent" not in (found.dimension, claimed.dimension)
    return counts and re.sub(r"[^\d.]", "", found.text) == re.sub(r"[^\d.]", "", claimed.text) != ""


def _is_small_word(quantity: Quantity) -> bool:
    return quantity.dimension == "count" and not any(c.isdigit() for c in quantity.text)


def _names_stand(claim: str, text: str) -> bool:
    there = mentioned(text)
    return all(
        n in there or n in text.lower() or any(r.lower() in there for r in relatives_of(n)) for n in mentioned(claim)
    )


def relatives_of(lowered: str) -> frozenset[str]:
    """The relatives of a name given in lower case."""
    from chatbot.names import names

    return next((relatives(n.name) for n in names(lowered)), frozenset())
