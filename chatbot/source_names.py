"""Which documents a question names by what they are: "the exam notes", "the AWS post", "the hardware pattern"."""

import re
from collections.abc import Iterable
from math import log

from chatbot.words import content_words, stem, stems
from ingest import Document

_GENRE = r"(?:blog posts?|posts?|blog|articles?|notes|pattern|guides?|pages?|papers?|analysis|stud(?:y|ies)|write-?up|comparison|reports?|sheets?|faq|white-?paper|documentation|docs|specification|manual|handbook|announcement|benchmark)"
_NAMED = re.compile(
    rf"\b(?:the|my|our|your|this|that|aws(?:['’]s)?)\s+(?P<phrase>(?:(?!and\b|or\b|in\b|of\b|say|from\b|to\b|is\b|do\b|does\b)[\w/'’-]+\s+){{0,4}}?{_GENRE}(?:\s+{_GENRE})?(?:\s+(?:for|on|about)\s+(?:the\s+)?[\w-]+)?)(?!\w)",
    re.IGNORECASE,
)
# So much of a phrase's weight must be said of a document, and so much more of it than of any other.
_SAID = 0.6
_AHEAD = 0.15


def documents_named(text: str, documents: Iterable[Document]) -> tuple[Document, ...]:
    """The documents that a text names, each phrase at most one, in order of appearance.

    A phrase ("the AWS post") names the document whose title, publisher, file name or own words for itself have its words, where
    no other document has them as well.
    """
    phrases = [match["phrase"] for match in _NAMED.finditer(text)]
    if not phrases:
        return ()
    known = {d.id: d for d in documents}
    labels = {name: _label(d) for name, d in known.items()}
    found = [_meant(phrase, known, labels) for phrase in phrases]
    return tuple({d.id: d for d in found if d}.values())


def without_documents(text: str) -> str:
    """A text without the phrases that name documents."""
    return " ".join(_NAMED.sub(" ", text).split())


def _label(document: Document) -> frozenset[str]:
    name = re.sub(r"\W+|_", " ", document.id)
    return stems(f"{document.title} {document.source.publisher or ''} {name}")


def _meant(phrase: str, documents: dict[str, Document], labels: dict[str, frozenset[str]]) -> Document | None:
    kinds = [word for match in re.finditer(_GENRE, phrase, re.IGNORECASE) for word in match.group().lower().split()]
    kind = kinds[-1].removesuffix("s")
    said = {
        stem(w)
        for w in content_words(phrase)
        if w not in kinds[:-1] or any(stem(w) in label for label in labels.values())
    }
    own = re.compile(rf"\b(?:the|this|these)\s+(?:[\w-]+\s+)?{re.escape(kind)}s?\b", re.IGNORECASE)
    weights = {w: log(1 + len(labels) / (0.5 + sum(w in label for label in labels.values()))) for w in said}
    rated = []
    for name, document in documents.items():
        held = {w for w in said if w in labels[name] or (w == stem(kind) and own.search(document.text))}
        rated.append((sum(weights[w] for w in held) / (sum(weights.values()) or 1.0), name))
    rated.sort(reverse=True)
    if not rated or rated[0][0] < _SAID or (len(rated) > 1 and rated[0][0] - rated[1][0] < _AHEAD):
        return None
    return documents[rated[0][1]]
