"""Modals: the passages behind an answer, and what was wrong with one that did not help."""

from collections.abc import Iterator, Mapping
from typing import Any

from chatbot.answer import Answer, Citation, Passage
from chatbot.slack.blocks import SECTION_CHARACTERS, Block, literal, place_of, plain_text, quoted, rich_text
from chatbot.slack.escaping import web_address
from chatbot.slack.parts import split_text
from chatbot.slack.state import Excerpt, KeptAnswer

REASON = "wattwise_reason"
REASONS = ("It is wrong", "It is not what I asked", "Something is missing", "It is hard to read")
_MOST_BLOCKS = 100
# A view of more characters than this is refused by Slack.
_MOST_CHARACTERS = 100_000


def excerpts_of(answer: Answer) -> tuple[Excerpt, ...]:
    """The cited passages, by number; for a refusal the nearest ones, which have no number (0)."""
    if not answer.citations:
        return tuple(_nearest(passage) for passage in answer.passages[:3])
    by_number: dict[int, list[Citation]] = {}
    for citation in answer.citations:
        by_number.setdefault(citation.number, []).append(citation)
    return tuple(_cited(number, citations) for number, citations in sorted(by_number.items()))


def _cited(number: int, citations: list[Citation]) -> Excerpt:
    chunk = citations[0].passage.chunk
    return Excerpt(
        number=number,
        title=chunk.document.title,
        place=place_of(citations[0]),
        url=web_address(chunk.document.source.url),
        published=chunk.document.source.published or "",
        quotes=tuple(dict.fromkeys(c.quote for c in citations)),
        text=chunk.text,
    )


def _nearest(passage: Passage) -> Excerpt:
    chunk = passage.chunk
    section = chunk.headings[-1] if chunk.headings else ""
    source = chunk.document.source
    return Excerpt(0, chunk.document.title, section, web_address(source.url), source.published or "", (), chunk.text)


def evidence_view(answer: KeptAnswer) -> dict[str, Any]:
    """The modal: each passage with what was quoted from it. What a modal cannot hold is said in it."""
    blocks: list[Block] = []
    size = 0
    for position, excerpt in enumerate(answer.excerpts):
        more = list(_excerpt_blocks(excerpt))
        size += sum(len(str(block)) for block in more)
        if len(blocks) + len(more) >= _MOST_BLOCKS or size > _MOST_CHARACTERS:
            left = len(answer.excerpts) - position
            blocks += literal(f"{left} more passages do not fit here; the answer's sources name them.")[0]
            break
        blocks += more
    return {
        "type": "modal",
        "title": plain_text("Evidence"),
        "close": plain_text("Close"),
        "blocks": blocks or literal("No passage was found for this question.")[0],
    }


def reason_view(answer_id: str) -> dict[str, Any]:
    """The modal that asks why an answer did not help; both of its questions may be left open."""
    options = [{"text": plain_text(reason), "value": reason} for reason in REASONS]
    choice = {"type": "radio_buttons", "action_id": "choice", "options": options}
    words = {"type": "plain_text_input", "action_id": "words", "multiline": True, "max_length": 1000}
    return {
        "type": "modal",
        "callback_id": REASON,
        "private_metadata": answer_id,
        "title": plain_text("What was wrong?"),
        "submit": plain_text("Send"),
        "close": plain_text("Skip"),
        "blocks": [
            {"type": "input", "block_id": "choice", "optional": True, "label": plain_text("The answer"), "element": choice},
            {
                "type": "input",
                "block_id": "words",
                "optional": True,
                "label": plain_text("In your words"),
                "element": words,
            },
        ],
    }


def reason_given(view: Mapping[str, Any]) -> str:
    """What was chosen and written in the modal; empty where nothing was."""
    values = (view.get("state") or {}).get("values") or {}
    chosen = ((values.get("choice") or {}).get("choice") or {}).get("selected_option") or {}
    written = ((values.get("words") or {}).get("words") or {}).get("value") or ""
    return ": ".join(text for text in (str(chosen.get("value") or ""), str(written).strip()) if text)


def _excerpt_blocks(excerpt: Excerpt) -> Iterator[Block]:
    number = f"[{excerpt.number}] " if excerpt.number else ""
    title: dict[str, Any] = {"type": "text", "text": excerpt.title or "Untitled", "style": {"bold": True}}
    if excerpt.url:
        title = {"type": "link", "url": excerpt.url, "text": excerpt.title or excerpt.url, "style": {"bold": True}}
    place = f" · {excerpt.place}" if excerpt.place else ""
    head = [
        {"type": "text", "text": number or "Nearest: "},
        title,
        *([{"type": "text", "text": place}] if place else []),
    ]
    yield rich_text({"type": "rich_text_section", "elements": head})
    for quote in excerpt.quotes:
        yield from (rich_text(quoted(piece)) for piece in split_text(quote.strip(), SECTION_CHARACTERS))
    yield from literal(excerpt.text.strip())[0]
    yield {"type": "divider"}
