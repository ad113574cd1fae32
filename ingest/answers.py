"""Prepared answers to probable questions: a question in several wordings, its answer, and the quotes that prove it.

Such a document is not searched. A user's question is compared with the wordings (PAQ, Lewis et al. 2021,
arXiv:2102.07033); the question with the same meaning gives its answer with the proofs, which are exact words of other
documents. A section looks like this:

    ## Is a Capacity Block refundable?

    Also asked: can I get my money back? · capacity block refund

    Count the money as spent: a Capacity Block is paid for its whole window [1].

    1. “A Capacity Block is paid for the whole window” (ec2-capacity-blocks-for-ml)
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ingest.document import Chunk, Document

_SECTION = re.compile(r"^## (?P<question>[^\n]+\?)\n\n(?P<body>Also asked: (?:[^\n]+|\n(?!#))+)", re.MULTILINE)
_HEADING = re.compile(r"^## ", re.MULTILINE)
_ASKED = "Also asked: "
_BETWEEN = " · "
_PROOF = re.compile(r"^(\d+)\. “([^\n]+)” \(([^()\n]+)\)$", re.MULTILINE)
# The smallest share of sections with other wordings; with fewer, the document is searched like any other.
_MOST = 0.9


@dataclass(frozen=True, slots=True)
class Proof:
    """A quote, and the document it is from, named by its file name without folder and suffix."""

    quote: str
    document: str


@dataclass(frozen=True, slots=True)
class ProvedAnswer:
    """A section. `[n]` in the answer refers to `proofs[n]`. `wordings` are spans of the document, the heading first."""

    question: str
    wordings: tuple[tuple[int, int], ...]
    answer: str
    proofs: Mapping[int, Proof]


def holds_answers(text: str) -> bool:
    """Whether a document consists of prepared answers: nearly all its sections are questions with other wordings."""
    sections = len(_HEADING.findall(text))
    return sections > 0 and sum(1 for _ in _SECTION.finditer(text)) >= _MOST * sections


def read_answers(document: Document) -> Iterator[ProvedAnswer]:
    """Yield the prepared answers in a document, in order."""
    for section in _SECTION.finditer(document.text) if holds_answers(document.text) else ():
        asked, _, rest = section["body"].strip().partition("\n\n")
        first = _PROOF.search(rest)
        wordings, start = [section.span("question")], section.start("body") + len(_ASKED)
        for wording in asked.removeprefix(_ASKED).split(_BETWEEN):
            wordings.append((start, start + len(wording)))
            start += len(wording) + len(_BETWEEN)
        proofs = {int(n): Proof(quote, name) for n, quote, name in _PROOF.findall(rest)}
        yield ProvedAnswer(section["question"], tuple(wordings), rest[: first.start() if first else None].strip(), proofs)


def question_chunks(document: Document) -> Iterator[Chunk]:
    """Yield each question with its wordings as one chunk, to be compared with a user's question."""
    for answer in read_answers(document):
        start, end = answer.wordings[0][0], answer.wordings[-1][1]
        id = hashlib.sha256(f"{document.id}\0{start}\0{document.text[start:end]}".encode(errors="surrogatepass"))
        yield Chunk(id.hexdigest()[:16], document, (answer.question,), start, end, document.text[start:end])


def wordings_in(chunk: Chunk) -> list[str]:
    """Return the wordings in a question's chunk, the heading first."""
    question, _, asked = chunk.text.partition(f"\n\n{_ASKED}")
    return [question, *asked.split(_BETWEEN)]
