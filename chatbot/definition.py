"""What something is: the sentence that says so first, then what the same document adds."""

import re
from collections.abc import Iterable, Sequence

from chatbot.answer import Passage
from chatbot.draft import Draft, Notes
from chatbot.eligibility import ANSWERS, repeats
from chatbot.evidence import Unit
from chatbot.phrasing import statement
from chatbot.query import Query
from chatbot.scoring import Scored
from chatbot.words import STOP_WORDS, stem, words
from ingest import Index

_ASKED = re.compile(
    r"\W*(?:(?:and|so|ok|well),?\s+)?(?:what(?:['’]s|\s+is|\s+are)(?:\s+meant by)?|define|explain|tell me what)\s+(?:an?\s+|the\s+)?(?P<thing>[\w.()-]+(?:\s+[\w.()-]+){0,4}?)(?:\s+(?:is|are|means?))?\W*$"
    r"|\W*what\s+(?:does|do)\s+(?:an?\s+|the\s+)?(?P<said>[\w.-]+(?:\s+[\w.-]+){0,3}?)\s+(?:mean|stand for|do)\W*$",
    re.IGNORECASE,
)
# "What is the price of …" asks for a property, not for what the thing is.
_PROPERTY = re.compile(r"\b(?:of|in|for|on|with|between|from|to|than|at|by|and|or|vs)\b", re.IGNORECASE)
_IS = re.compile(r"\b(?:is|are)\b\s+(?P<after>[\w-]+)", re.IGNORECASE)
_ARTICLES = frozenset(["a", "an", "the", "one", "custom", "amazon", "aws"])
_SUPERLATIVE = re.compile(r"the (?:most|least|best|worst|right|wrong|only|same|\w+est)\b", re.IGNORECASE)
# Whose thing it is may stand before its name: "AWS Trainium is …".
_BEFORE = frozenset(
    ["the", "a", "an", "aws", "amazon", "ec2", "nvidia", "intel", "google", "amd", "cloud", "sagemaker", "ai"]
)
# A section on the document itself says nothing of the thing.
_ABOUT = re.compile(r"\W*about (?:this|the) (?:source|document|page|article|text)\b", re.IGNORECASE)
# So many words a subject has at most: "The Elastic Fabric Adapter (EFA)".
_SUBJECT = 7
_ADDED = 2
_WORDS = 80


def define(query: Query, scored: Sequence[Scored], passages: Sequence[Passage], index: Index) -> Draft | None:
    """The definition and at most two sentences beside it; None where nothing is asked to be defined, or nothing defines it."""
    thing = thing_asked(query)
    found = defining(thing, scored) if thing else []
    if not found:
        return None
    best = found[0]
    notes = Notes()
    notes.line(*(notes.sentence(statement(s.unit, query), s) for s in [best, *_beside(best, thing, query, scored)]))
    return notes.draft()


def thing_asked(query: Query) -> tuple[str, ...]:
    """The stems of what a question wants defined; empty where it asks something else."""
    match = _ASKED.match(query.standalone)
    text = (match["thing"] or match["said"]) if match and not query.options else ""
    if not text or _PROPERTY.search(text):
        return ()
    return tuple(stem(w) for w in words(text) if w not in STOP_WORDS)


def defining(thing: Sequence[str], scored: Iterable[Scored]) -> list[Scored]:
    """The sentences that say what a thing is, best first: its long form and "X is a …" before whatever else has X as its
    subject, of which what stands first in the best document is nearest to a definition."""
    rated = [(rank, s) for s in scored if s.unit.kind != "note" and (rank := _rank(thing, s.unit))]
    documents = list(dict.fromkeys(s.unit.chunk.document.id for _, s in rated))

    def place(pair: tuple[int, Scored]) -> tuple[float, ...]:
        rank, s = pair
        return (-rank, -s.score) if rank > 1 else (-rank, documents.index(s.unit.chunk.document.id), s.unit.start)

    return [s for _, s in sorted(rated, key=place)]


def _rank(thing: Sequence[str], unit: Unit) -> int:
    """3 for the long form with "is", 2 for "X is a …", 1 for another sentence that begins with X and gives no figure; else 0."""
    text = unit.plain
    if unit.cells or text.endswith("?"):
        return 0
    if (verb := _IS.search(text)) and _is_subject(thing, text[: verb.start()]):
        if verb["after"].lower() == "not":
            return 0
        if verb["after"].lower() in _ARTICLES and not _SUPERLATIVE.match(text, verb.start("after")):
            return 3 if _is_bracketed(thing, text[: verb.start()]) else 2
    begins = [stem(w) for w in words(text) if w not in _BEFORE][: len(thing) + 1]
    alone = begins[:-1] == list(thing) and begins[-1] not in ("and", "or")
    return int(unit.kind == "sentence" and alone and not any(c.isdigit() for c in text))


def _is_subject(thing: Sequence[str], subject: str) -> bool:
    """Whether a subject is the thing itself, or its long form with the thing in brackets, and nothing more."""
    said = words(subject)
    if not said or len(said) > _SUBJECT:
        return False
    if _is_bracketed(thing, subject):
        return True
    bare = [stem(w) for w in words(re.sub(r"\([^)]*\)", " ", subject)) if w not in _BEFORE]
    own = [w for w in thing if w not in _BEFORE]
    return bool(own) and bare[: len(own)] == own and len(bare) <= len(own) + 2 and "and" not in bare


def _is_bracketed(thing: Sequence[str], subject: str) -> bool:
    """Whether a subject ends with the thing in brackets, behind its long form."""
    bracketed = re.search(r"\(([^)]*)\)\s*$", subject)
    return bracketed is not None and [stem(w) for w in words(bracketed[1])] == list(thing)


def _beside(best: Scored, thing: Sequence[str], query: Query, scored: Sequence[Scored]) -> list[Scored]:
    """What the same document says of the thing beside its definition, within eighty words."""
    chosen = [best]
    said = len(statement(best.unit, query).split())
    for s in scored:
        speaks = set(thing) <= {stem(w) for w in words(s.unit.plain)[:_SUBJECT]}
        near = s.unit.chunk.document.id == best.unit.chunk.document.id and s.unit.kind in ("sentence", "item")
        length = len(statement(s.unit, query).split())
        if len(chosen) > _ADDED or said + length > _WORDS:
            break
        if (
            near
            and speaks
            and not _ABOUT.match(s.unit.chunk.headings[-1] if s.unit.chunk.headings else "")
            and s.score >= ANSWERS
            and not any(repeats(s, c) for c in chosen)
        ):
            chosen.append(s)
            said += length
    return chosen[1:]
