"""An answer for its readers: plain text for a terminal, JSON for programs."""

from dataclasses import asdict
from typing import Any

from chatbot.answer import Answer, Citation
from chatbot.characters import shown


def as_json(answer: Answer, id: str | None = None) -> dict[str, Any]:
    """The answer as the JSON object of `wattwise ask --json` and `--batch`.

    All texts are as they are shown but the quote, which is the document's own from `start` to `end`.
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


def as_text(answer: Answer) -> str:
    """The answer for a terminal: text, then each source once a number, with the quoted words."""
    lines = [answer.text]
    listed: set[int] = set()
    for citation in answer.citations:
        if citation.number not in listed:
            listed.add(citation.number)
            lines += ["" if len(listed) == 1 else None, *_source_lines(citation)]  # type: ignore[list-item]
    return "\n".join(line for line in lines if line is not None)


def _source_lines(citation: Citation) -> list[str]:
    chunk = citation.passage.chunk
    source = chunk.document.source
    place = [source.title, *([chunk.headings[-1]] if chunk.headings and chunk.headings[-1] != source.title else [])]
    if chunk.page:
        place.append(f"page {chunk.page}")
    details = [d for d in (source.publisher, source.published, source.url) if d]
    return [
        shown(f"[{citation.number}] {' > '.join(place)}{' (' + ', '.join(details) + ')' if details else ''}"),
        f"    “{' '.join(shown(citation.quote).split())}”",
    ]
