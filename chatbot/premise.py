"""Correct what a question takes for granted, if the table of instance types or a prepared answer contradicts it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chatbot.draft import Draft
from chatbot.per_index import per_index
from chatbot.question.query import Query, understand
from chatbot.reader.proved_answers import Match, answer_of, nearest
from chatbot.sizing.facts import short
from chatbot.table.bounds import NUMBER, value_of
from chatbot.table.columns import ACCELERATOR, DEVICE
from chatbot.table.entities import accelerator_names
from chatbot.table.filters import strange
from chatbot.table.instances import Row, load_instances, load_tables
from chatbot.table.row_phrases import describe, listed
from chatbot.table.writing import Writing
from ingest import Index

_HAS = (
    r"(?:(?:still|only|now|also|already|both|all) )?(?:uses?|has|have|comes? with|(?:is|are) (?:built on|based on|powered by|equipped with)|runs? on|contains?|features?|carr(?:y|ies)|packs?|includes?)"
    r"(?: (?:an?|the|up to|only|just|exactly))*"
)
_OF = r"(?:['’]s|(?: (?:an?|one|the|my|our|your|its))? (?:with|and) (?:its|their))"
_KIND = r"(?:[ -](?:instances?|nodes?|machines?|box(?:es)?|servers?|famil(?:y|ies)|types?|sizes?))?"
# A clause that begins like this asks for what it says of the type, instead of taking it for granted.
_ASKED = re.compile(r"\b(?:do|does|did|is|are|has|have|can|could|would|should|will|which|what|whether|if|when|who|any|how|suppose|imagine|find|show|list|need|want)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[.;!?,:]\s|\b(?:since|because|given(?: that)?|considering(?: that)?|now that|as|why|so|but|knowing|is it (?:true|correct|right)(?: that)?|i (?:know|heard|read|think|thought)(?: that)?)\b", re.IGNORECASE)
# Several machines together have more than one of them.
_SEVERAL = re.compile(rf"(?:\b(?:cluster|fleet|group|pool|set|couple|pair|several|many|all)(?: of)?|(?<![\w.]){NUMBER}(?: ?[x×])?)(?: the| our| my)?\s*$", re.IGNORECASE)
_TAG = re.compile(r"\b(?:right|correct|true|no|yes|innit|isn['’]?t it|don['’]?t they|doesn['’]?t it)\W*$", re.IGNORECASE)
# GB and GiB are used for each other, and sizes are rounded.
_NEAR = 0.1
_THEN = r"(?:(?:can|could|should|do|does|is|are|will|would) (?:i|we|it|that|the|there|they|you|one)|what|which|how|why)\b"
# Clauses that are no part of what is asked: "since X, …", "X, so can we …?", "why does X …?".
_GRANTED = (
    re.compile(rf"(?:^|[,;.:]\s+|\b(?:and|but|so)\s+)(?:since|because|given(?: that)?|considering(?: that)?|now that|as|seeing(?: that)?|knowing(?: that)?)\s+(?P<said>[^,;?!]{{1,200}}?)(?=[,;?!]|\.(?!\d)|\s(?:so|then)\b|\s{_THEN}|$)", re.IGNORECASE),
    re.compile(rf"(?:^|[;.]\s+)(?P<said>(?:[^,;.?!]|\.(?=\d)){{1,200}}?),?\s+so(?: then)?,?\s+{_THEN}", re.IGNORECASE),
    re.compile(r"\bwhy\s+(?P<said>(?:does|do|is|are|can|has|have)\s+(?:(?!\b(?:i|we|my|our|it|this)\b)(?:[^?.,;]|\.(?=\d))){1,200})(?=[?,;]|\.(?!\d)|$)", re.IGNORECASE),
)  # fmt: skip
# No clause to be asked by itself: it denies something, or its subject is what an earlier turn named.
_UNFIT = re.compile(r"^(?:it|they|this|that|these|those|both|one)\b|\b(?:not|no|never|without|cannot|neither|nor|only|unless)\b|n['’]t\b", re.IGNORECASE)
_YES_OR_NO = re.compile(r"(?:does|do|is|are|can|could|has|have|will|did)\b", re.IGNORECASE)
_DENIED = re.compile(r"(?:no|not|never|neither|none|do not|only)\b", re.IGNORECASE)
# Below this probability a prepared answer may be to another question than whether the clause is true.
_SAME = 0.4
_FEWEST_WORDS = 3
_SENTENCE = re.compile(r".+?[.!](?=\s|$)")


@dataclass(frozen=True, slots=True)
class Premise:
    """A false premise: the draft that corrects it, and the question with what is true in its place, "" if nothing else is asked.

    `brief` is the correction in one sentence, to be followed by the answer to the question.
    """

    draft: Draft
    question: str

    @property
    def brief(self) -> Draft:
        first = _SENTENCE.match(self.draft.text)
        return replace(self.draft, text=first.group()) if first else self.draft


@dataclass(frozen=True, slots=True)
class _Claim:
    """What a text says that a type or family has: of `accelerators` the name, number and memory of each, or their memory in
    all; `span` is where it stands."""

    rows: tuple[Row, ...]
    name: str
    span: tuple[int, int]
    accelerator: str = ""
    maker: str = ""
    count: float = 0.0
    each: float = 0.0
    total: float = 0.0


@per_index
def _patterns(index: Index) -> tuple[re.Pattern[str], ...]:
    known = load_instances(index)
    cards = {name for row in load_tables(index).get(ACCELERATOR, ()) for name in accelerator_names(next(iter(row.cells.values())))} | known.accelerators
    families = "|".join(sorted(map(re.escape, known.families), key=len, reverse=True)) or "(?!)"
    thing = rf"(?<![\w.-])(?P<name>(?:{families}|[gp]\d|trn|inf)(?:\.(?:metal|nano|micro|small|medium|\d*x?large)(?:-\d+xl)?)?)(?![\w.-]\w)"
    written = "|".join(sorted(map(re.escape, cards), key=len, reverse=True))
    card = rf"(?:(?P<count>{NUMBER})(?: ?[x×] ?| ))?(?:(?P<each>\d+)[ -]?gi?b )?(?:nvidia |aws |amd )?(?P<card>{written})s?(?: (?:tensor core )?{DEVICE}s?)?(?![\w-])(?: (?:with|of) (?P<whole>\d+) ?gi?b(?!\w))?"
    had = rf"(?:(?P<total>\d+) ?gi?b (?:of )?(?:(?:gpu|accelerator) memory|vram|hbm)|(?P<number>{NUMBER}) (?:nvidia |amd )?{DEVICE}s(?! of| with)|(?P<maker>nvidia|amd) (?:gpu|card)s?|{card})(?!\w)"
    patterns = (
        rf"{thing}{_KIND} {_HAS} (?P<claim>{had})",
        rf"{thing}{_OF} (?P<claim>{had})",
        rf"\b(?:i|we) (?:have|use|run|rent)(?: an?| one)? {thing}{_KIND} with (?P<claim>{had})",
        rf"\b(?:the|those|these|puts?|putting) (?P<claim>{had})(?: (?:is|are|comes?))? (?:in|of|on|inside)(?: (?:an?|one|the|my|our|your|each))* {thing}",
    )
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


def false_premise(query: Query, index: Index) -> Premise | None:
    """Return the correction of the first false premise of a question; None if it has none."""
    text = query.standalone
    if query.options or not load_instances(index).rows:
        return None
    for place, pattern in enumerate(_patterns(index)):
        for match in pattern.finditer(text):
            before = text[: match.start()]
            claim = None if (not place and _asks(before)) or _SEVERAL.search(before) else _claim(match, index)
            if claim and (told := _correction(claim, text[slice(*claim.span)])):
                return _premise(claim, *told, match, query)
    return next(_denied(query, index), None)


def _denied(query: Query, index: Index) -> Iterator[Premise]:
    """Yield what a question takes for granted and a prepared answer denies: asked as a question, it gets a "No"."""
    for match in (match for pattern in _GRANTED for match in pattern.finditer(query.question)):
        clause = match["said"]
        if len(clause.split()) < _FEWEST_WORDS or _UNFIT.search(clause):
            continue
        near = nearest(understand(f"{clause}?", (), index), index)
        if near and _denies(near[0]) and (draft := answer_of(near[0], index)):
            yield Premise(draft, query.standalone)


def _denies(match: Match) -> bool:
    answer = match.question.answer
    return match.probability >= _SAME and bool(_YES_OR_NO.match(answer.question) and _DENIED.match(answer.answer))


def _asks(before: str) -> bool:
    """Whether the clause that a claim ends asks for what it says."""
    ends = list(_CLAUSE.finditer(before))
    return bool(_ASKED.search(before[ends[-1].end() :] if ends else before)) and not (ends and ends[-1].group().lower() == "why")


def _claim(match: re.Match[str], index: Index) -> _Claim | None:
    name, said = match["name"].lower(), match.groupdict()
    rows = [row for row in load_instances(index).newest if name in (row.name, row.family)]
    rows = rows or [row for row in load_instances(index).newest if re.match(rf"{re.escape(name)}[a-z\d]*\.", row.name) and "." not in name]
    count = said["count"] or said["number"]
    if not rows or not all(row.number("accelerators") for row in rows):
        return None
    return _Claim(tuple(rows), name, match.span("claim"), (said["card"] or "").lower(), said["maker"] or "", value_of(count.lower()) if count else 0.0, float(said["each"] or 0), float(said["total"] or said["whole"] or 0))


def _correction(claim: _Claim, said: str) -> tuple[str, Row, bool] | None:
    """Return what is true and not as claimed, a row that says so, and whether the accelerator is another; None if the claim may
    be true."""
    rows = claim.rows
    named = [row for row in rows if _is_named(claim.accelerator, row) and claim.maker.lower() in row.cells[ACCELERATOR].lower()]
    if not named:
        plain = re.sub(rf"^{NUMBER}(?: ?[x×] ?| )", "", said, flags=re.IGNORECASE)
        is_one = plain.lower().endswith(claim.accelerator) and not claim.accelerator.startswith(("trainium", "inferentia"))
        return f"{_has(rows)}, not {'the ' if is_one and not claim.maker else ''}{plain}", rows[0], True
    if claim.each and not any(_is_near(claim.each, row.number("each")) for row in named):
        return f"{_has(named, memory=True)}, not {claim.each:g} GB each", named[0], False
    if claim.total and not any(_is_near(claim.total, row.number(column)) for row in named for column in ("total", "each")):
        return f"{_has(named, memory=True)}, not {claim.total:g} GB", named[0], False
    if claim.count and not any(row.number("accelerators") == claim.count for row in named):
        return f"{_has(named)}, not {claim.count:g}", named[0], False
    return None


def _is_named(accelerator: str, row: Row) -> bool:
    """Whether a row has an accelerator; "Trainium" means all its generations."""
    return not accelerator or any(name == accelerator or (accelerator.isalpha() and name.startswith(accelerator)) for name in row.accelerator_names)


def _is_near(gb: float, gib: float | None) -> bool:
    return any(abs(gb / size - 1) < _NEAR for size in (gib or 1.0, (gib or 1.0) * 1.0737))


def _has(rows: Sequence[Row], *, memory: bool = False) -> str:
    """Say what a type or the sizes of a family have: "g6.xlarge has 1 NVIDIA L4 GPU", "g5 instances have 1, 4 or 8 NVIDIA A10G GPUs"."""
    if len(rows) == 1:
        return f"{rows[0].name}{describe(rows[0], ('accelerators', 'total') if memory else ('accelerators',))}"
    by_kind = {row.cells[ACCELERATOR]: row for row in rows}
    each = " of " + " or ".join(dict.fromkeys(row.says("each") for row in rows)) if memory else ""
    return f"{listed(list(dict.fromkeys(row.family for row in rows)))} instances have {listed([f'{kind}s' for kind in by_kind])}{each}"


def _premise(claim: _Claim, told: str, row: Row, other: bool, match: re.Match[str], query: Query) -> Premise:
    writing = Writing(())
    tagged = bool(_TAG.search(query.standalone[match.end() :]) or _TAG.search(re.sub(r"\b(?:that )?(?:the )?$", "", query.standalone[: match.start()])))
    counted = claim.count and not other and len(claim.rows) > 1
    if counted:  # of a family, every number of accelerators is told
        counts = sorted({row.number("accelerators") or 0.0 for row in claim.rows})
        told = f"{claim.name} instances have {' or '.join(f'{n:g}' for n in counts)} {row.cells[ACCELERATOR]}s, not {claim.count:g}"
    writing.line(f"{'No: ' if tagged else ''}{told}", *(claim.rows if counted else (row,)))
    draft = replace(writing.draft(), said=query.standalone)
    start, end = claim.span
    rest = f"{query.standalone[: match.start()]} {query.standalone[match.end() :]}"
    is_one = len({row.cells[ACCELERATOR] for row in claim.rows}) == 1
    true = short(row.cells[ACCELERATOR]) if other and is_one else ""
    said = re.sub(rf"{re.escape(claim.accelerator or claim.maker)}s?(?!\w)", true, query.standalone[start:end], flags=re.IGNORECASE) if true else query.standalone[start:end]
    if not other and len(claim.rows) == 1:
        true = row.says("each" if claim.each else "total" if claim.total else "accelerators")
        said = re.sub(rf"^{NUMBER}(?: ?x)?(?:[ -]?gi?b)?", true, said, count=1, flags=re.IGNORECASE) if not claim.each else said.replace(f"{claim.each:g}", true.partition(" ")[0])
    is_all = tagged or not strange(rest.lower())
    return Premise(draft, "" if is_all else f"{query.standalone[:start]}{said}{query.standalone[end:]}")
