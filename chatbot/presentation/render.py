"""Render an answer: plain text for a terminal, JSON for programs."""

from dataclasses import asdict
from typing import Any

from chatbot.answer import OFFLINE, Answer, Citation
from chatbot.language.characters import shown
from ingest import Chunk


def as_json(answer: Answer, id: str | None = None) -> dict[str, Any]:
    """Return the answer as the JSON object of `wattwise ask --json` and `--batch`.

    All texts are as displayed, except the quote: it is the document's own text from `start` to `end`.
    """
    return {
        **({} if id is None else {"id": id}),
        "question": answer.question,
        "text": answer.text,
        "refused": answer.refused,
        "choices": list(answer.choices),
        "citations": [_citation(c) for c in answer.citations],
        "model": answer.model,
        "seconds": round(answer.seconds, 4),
        "footprint": {**asdict(answer.footprint), "usd": answer.cost} if answer.footprint else None,
        "statements": [{**asdict(one), "text": shown(one.text), "citations": list(one.citations)} for one in answer.statements],
        "usage": asdict(answer.usage) if answer.usage else None,
        "cost": answer.cost,
        "dropped": answer.dropped,
        "notice": answer.notice,
        **({"near": True} if answer.near else {}),
        **({"confidence": round(answer.confidence, 4)} if answer.choices and answer.confidence is not None else {}),
    }


def _citation(citation: Citation) -> dict[str, Any]:
    chunk = citation.passage.chunk
    source = chunk.document.source
    return {
        "number": citation.number,
        "claim": shown(citation.claim),
        "source": source.id,
        "original": source.original,
        "title": shown(source.title),
        "url": source.url,
        "headings": [shown(heading) for heading in chunk.headings],
        "page": chunk.page,
        "quote": citation.quote,
        "start": citation.start,
        "end": citation.end,
        "support": citation.support,
    }


def note(answer: Answer) -> str:
    """Return the notice, and how many sentences of a language model were left out; "" for nothing."""
    sentences = "1 sentence" if answer.dropped == 1 else f"{answer.dropped} sentences"
    verb = "was" if answer.dropped == 1 else "were"
    left_out = f"{sentences} without support {verb} left out." if answer.dropped and answer.model != OFFLINE else ""
    return " ".join(part for part in (answer.notice, left_out) if part)


def as_text(answer: Answer) -> str:
    """Return the answer for a terminal: its text, then each numbered source once, with the quoted words."""
    lines = [answer.text]
    for number, (source, quote) in enumerate(footnotes(answer)):
        lines += [*([] if number else [""]), source, f"    {quote}"]
    return "\n".join(lines)


def footnotes(answer: Answer) -> list[tuple[str, str]]:
    """Return each numbered source once: its mark with its place, and the quoted words."""
    first = {citation.number: citation for citation in reversed(answer.citations)}
    return [_footnote(first[number]) for number in dict.fromkeys(c.number for c in answer.citations)]


def _footnote(citation: Citation) -> tuple[str, str]:
    chunk = citation.passage.chunk
    source = chunk.document.source
    place = " > ".join((source.title, *places(chunk)))
    details = [d for d in (source.publisher, source.published, source.url) if d]
    return (
        shown(f"[{citation.number}] {place}{' (' + ', '.join(details) + ')' if details else ''}"),
        f"“{' '.join(shown(citation.quote).split())}”",
    )


def places(chunk: Chunk) -> list[str]:
    """Return where a passage stands in its document: its section, unless that is named like the document, and its page."""
    headings = [heading for heading in chunk.headings[-1:] if heading != chunk.document.source.title]
    return [*headings, *([f"page {chunk.page}"] if chunk.page else [])]
