"""Which documents a question names by what they are: "the exam notes", "the AWS post", "the hardware pattern"."""

import re
from collections.abc import Iterable
from math import log

from chatbot.names import makers, proper_names
from chatbot.words import content_words, stem, stems
from ingest import Document

_GENRE = r"(?:blog posts?|posts?|blog|articles?|notes|pattern|guides?|pages?|papers?|analysis|stud(?:y|ies)|write-?up|comparison|reports?|sheets?|faq|white-?paper|documentation|docs|specification|manual|handbook|announcement|explanation|overview|experiments?|tests?|measurements?)"
# "Exam notes or hardware pattern?"
_AFTER = "|".join(rf"(?<=\b{word} )" for word in (r"vs", r"vs\.", "versus", "or", "and", "against", "in", "per", "from", "by", "while", "than"))  # fmt: skip
_NAMED = re.compile(
    rf"(?:\b(?:the|my|our|your|this|that|aws(?:['’]s)?)\s+|(?:^|(?<=[,:;.?!(] )|{_AFTER})(?=\w+ ))"
    rf"(?P<phrase>(?:(?!and\b|or\b|in\b|of\b|say|from\b|to\b|is\b|do\b|does\b)[\w/'’-]+\s+){{0,4}}?{_GENRE}(?:\s+{_GENRE})?(?:\s+(?:for|on|about)\s+(?:the\s+)?[\w-]+)?)(?!\w)",
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
    known = {d.id: d for d in documents}
    labels = {name: _label(d) for name, d in known.items()} if phrases else {}
    found = [_meant(phrase, known, labels) for phrase in phrases]
    return tuple({d.id: d for d in [*found, *_published(text, known.values())] if d}.values())


def without_documents(text: str) -> str:
    """A text without the phrases that name documents."""
    return " ".join(_NAMED.sub(" ", text).split())


def _published(text: str, documents: Iterable[Document]) -> list[Document]:
    """The documents whose publisher a text names, by a word that has a capital inside and that no other publisher has."""
    named = {w for w in proper_names(text) if any(c.isupper() for c in w[1:]) and not makers(w)}
    by_word = {w: [d for d in documents if w in (d.source.publisher or "").split()] for w in named}
    return [found[0] for found in by_word.values() if len(found) == 1]


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
    # "The BERT test" is in the document that alone speaks of BERT.
    named = {stem(w.lower()): w for w in proper_names(f"x {phrase}") if not makers(w)}
    there = {w: [n for n, d in documents.items() if text in d.text] for w, text in named.items()}
    alone = {name: {w for w, found in there.items() if found == [name]} for name in documents}
    weights = {w: log(1 + len(labels) / (0.5 + sum(w in label for label in labels.values()))) for w in said}
    rated = []
    for name, document in documents.items():
        held = {
            w for w in said if w in labels[name] or (w == stem(kind) and own.search(document.text)) or w in alone[name]
        }
        rated.append((sum(weights[w] for w in held) / (sum(weights.values()) or 1.0), name))
    rated.sort(reverse=True)
    if not rated or rated[0][0] < _SAID or (len(rated) > 1 and rated[0][0] - rated[1][0] < _AHEAD):
        return None
    return documents[rated[0][1]]
