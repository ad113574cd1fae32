"""An answer as Slack messages and modals: lists of blocks that stay within Slack's limits, with nothing left out.

The limits are from https://docs.slack.dev/reference/block-kit/blocks. The limit on all blocks of a message together is not
documented: Slack answers `msg_blocks_too_long` from some 13,200 characters on (github.com/slackapi/bolt-js/issues/2509).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from chatbot.answer import Answer, Citation, Passage
from chatbot.presentation.render import note, places
from chatbot.slack.escaping import defanged, web_address
from chatbot.slack.parts import Element, Part, Table, cell_elements, linked, parts_of, split_text
from chatbot.slack.state import Block, Excerpt, KeptAnswer, Message

FEEDBACK = "wattwise_feedback"
EVIDENCE = "wattwise_evidence"
SHARE = "wattwise_share"
PAGE = "wattwise_page"
REASON = "wattwise_reason"
# The input of that modal for words of one's own.
WORDS = "words"
REASONS = ("It is wrong", "It is not what I asked", "Something is missing", "It is hard to read")
# Separates the answer from its sources in a message's text.
SOURCES = "\n\nSources:\n"
MOST_BLOCKS = 50
MOST_CHARACTERS = 12_000
TABLE_ROWS = 100
TABLE_COLUMNS = 20
TABLE_CHARACTERS = 10_000
SECTION_CHARACTERS = 3000
ADDRESS_CHARACTERS = 3000
# Slack refuses larger views.
_VIEW_BLOCKS = 100
_VIEW_CHARACTERS = 100_000
# Well under a markdown block's limit of 12,000: this leaves room for links, and fills messages evenly.
_TEXT_CHARACTERS = 4000
# A citation number as a link, as `linked` writes it.
_LINKED_MARK = re.compile(r"\[(\[\d+\])\]\([^()\s]*\)")


def answer_messages(answer: Answer, answer_id: str, generation: int, page: str = "") -> tuple[Message, ...]:
    """Return the answer with its sources, buttons and note as one message, or as several if it is long.

    `page` is the address of the app, where the question can be asked again.
    """
    sources = excerpts_of(answer) if answer.citations else ()
    addresses = {source.number: source.url for source in sources if source.url}
    blocks = [block for part in parts_of(answer) for block in _part_blocks(part, addresses)]
    blocks += [block for source in sources for block in _source_blocks(source)]
    buttons = [_button(EVIDENCE, "Show evidence", value=answer_id)] if answer.passages else []
    if page and len(address := f"{page}?{urlencode({'q': answer.question})}") <= ADDRESS_CHARACTERS:
        buttons.append(_button(PAGE, "Open in the browser", url=address))
    blocks += [{"type": "actions", "elements": buttons}] if buttons else []
    return packed([*blocks, _note(answer, generation), _feedback_buttons(answer_id)])


def text_messages(message: Message) -> tuple[Message, ...]:
    """Return a message as plain text, for when Slack rejects its blocks."""
    return packed(literal(shown_text(message))[0])


def literal(text: str) -> tuple[Message, ...]:
    """Return one message that shows the text literally."""
    return (tuple({"type": "section", "text": plain_text(piece)} for piece in split_text(text, SECTION_CHARACTERS)),)


def sharing(message: Message, answer_id: str) -> Message:
    """Add a share button to a message that only one person sees."""
    return (*message, {"type": "actions", "elements": [_button(SHARE, "Share with everyone", value=answer_id)]})


def shared_by(user: str, question: str) -> Message:
    """Return the message that introduces a shared answer."""
    who = {"type": "context", "elements": [{"type": "mrkdwn", "text": f"<@{user}> asked and shares the answer:"}]}
    return (who, *literal(question)[0])


def packed(blocks: Sequence[Block]) -> tuple[Message, ...]:
    """Pack the blocks, in order, into as few messages as Slack's limits allow: 50 blocks, 12,000 characters, one table."""
    messages: list[Message] = []
    for block in blocks:
        if messages and _fits(together := (*messages[-1], block)):
            messages[-1] = together
        else:
            messages.append((block,))
    return tuple(messages)


def _fits(message: Message) -> bool:
    one_table = sum(block["type"] == "table" for block in message) <= 1
    return one_table and len(message) <= MOST_BLOCKS and size_of(message) <= MOST_CHARACTERS


def size_of(blocks: Sequence[Block]) -> int:
    """Return the number of characters of the blocks as they are sent."""
    return len(json.dumps(blocks, ensure_ascii=False))


def _part_blocks(part: Part, addresses: Mapping[int, str]) -> Iterator[Block]:
    if not isinstance(part, str):
        if (table := _table(part, addresses)) is not None:
            yield table
            return
        part = _as_lines(part)
    yield from ({"type": "markdown", "text": linked(text, addresses)} for text in split_text(part, _TEXT_CHARACTERS))


def _table(table: Table, addresses: Mapping[int, str]) -> Block | None:
    """Return a Slack table block, or None if it would exceed a limit."""
    header, *rows = table
    width = max(map(len, table))
    if len(table) > TABLE_ROWS or width > TABLE_COLUMNS:
        return None
    cells = [[_cell(f"**{cell}**" if cell else "", addresses) for cell in header]]
    cells += [[_cell(cell, addresses) for cell in (*row, *[""] * (width - len(row)))] for row in rows]
    block = {"type": "table", "rows": cells, "column_settings": [{"is_wrapped": True}] * width}
    return block if size_of([block]) <= TABLE_CHARACTERS else None


def _cell(markdown: str, addresses: Mapping[int, str]) -> Element:
    return _rich_text(_rich_section(*cell_elements(markdown, addresses)))


def _as_lines(table: Table) -> str:
    """Write a table that exceeds Slack's limits as text: one line per row, each cell with its column's name."""
    header, *rows = table
    lines = []
    for first, *rest in rows:
        said = [f"{name}: {cell}" if name else cell for name, cell in zip(header[1:], rest, strict=False) if cell]
        lines.append(f"- **{first}**: {'; '.join(said)}" if first else f"- {'; '.join(said)}")
    return "\n".join(lines)


def _source_blocks(excerpt: Excerpt) -> Iterator[Block]:
    """Show title, section, page, date, link and quotes as rich text, which shows a quote verbatim."""
    number = f"[{excerpt.number}] " if excerpt.number else "Nearest: "
    link = {"type": "link", "url": excerpt.url} if excerpt.url else {"type": "text"}
    head: list[Element] = [{"type": "text", "text": number, "style": {"bold": True}}, link | {"text": excerpt.title}]
    if excerpt.place:
        head.append({"type": "text", "text": f" · {excerpt.place}"})
    pieces = [piece for quote in excerpt.quotes for piece in split_text(quote.strip(), SECTION_CHARACTERS - 200)]
    yield _rich_text(_rich_section(*head), *map(_quoted, pieces[:1]))
    yield from (_rich_text(_quoted(piece)) for piece in pieces[1:])


def _place_of(passage: Passage) -> str:
    """Return a passage's place in its document, and the document's publisher and date."""
    source = passage.chunk.document.source
    return " · ".join((*places(passage.chunk), *(known for known in (source.publisher, source.published) if known)))


def _quoted(text: str) -> Element:
    return {"type": "rich_text_quote", "elements": [{"type": "text", "text": text}]}


def _rich_section(*elements: Element) -> Element:
    return {"type": "rich_text_section", "elements": list(elements)}


def _rich_text(*elements: Element) -> Block:
    return {"type": "rich_text", "elements": list(elements)}


def _button(action: str, text: str, **more: str) -> Element:
    return {"type": "button", "action_id": action, "text": plain_text(text), **more}


def _note(answer: Answer, generation: int) -> Block:
    checked = ""
    if answer.refused:
        checked = ": nothing in the sources supports an answer"
    elif answer.citations:
        checked = f": every sentence checked against the words it cites, weakest support {answer.support:.0%}"
    said = [f"AI-made answer{checked}. Reader: {answer.model}. Index version: {generation}."]
    said += split_text(note(answer), SECTION_CHARACTERS)[:9]
    return {"type": "context", "elements": [plain_text(text) for text in said]}


def _feedback_buttons(answer_id: str) -> Block:
    buttons = {
        "type": "feedback_buttons",
        "action_id": FEEDBACK,
        "positive_button": {"text": plain_text("Helpful"), "value": f"+{answer_id}"},
        "negative_button": {"text": plain_text("Not helpful"), "value": f"-{answer_id}"},
    }
    return {"type": "context_actions", "elements": [buttons]}


def plain_text(text: str) -> Element:
    return {"type": "plain_text", "text": text, "emoji": False}


def shown_text(message: Message) -> str:
    """Return the text of a message's blocks, for notifications and screen readers."""
    said = [_text_of(block) for block in message if block["type"] in ("markdown", "section", "table")]
    sources = [_text_of(block) for block in message if block["type"] == "rich_text"]
    notes = [element["text"] for block in message if block["type"] == "context" for element in block["elements"]]
    body = "\n".join(text for text in said if text)
    after = "\n".join((*sources, *notes))
    return defanged(f"{body}{SOURCES}{after}" if sources else "\n\n".join(text for text in (body, after) if text))


def _text_of(block: Block) -> str:
    if block["type"] == "table":
        return "\n".join(" | ".join(_rich(cell) for cell in row).strip(" |") for row in block["rows"])
    if block["type"] == "rich_text":
        return _rich(block)
    text = block["text"]
    return _LINKED_MARK.sub(r"\1", text) if isinstance(text, str) else str(text["text"])


def _rich(block: Element) -> str:
    parts = ((part["type"], "".join(element["text"] for element in part["elements"])) for part in block["elements"])
    return "\n".join(f"    {text}" if kind == "rich_text_quote" else text for kind, text in parts)


def excerpts_of(answer: Answer) -> tuple[Excerpt, ...]:
    """Return the cited passages by number; without citations, the nearest passages, numbered 0."""
    if not answer.citations:
        return tuple(_excerpt(0, passage, ()) for passage in answer.passages[:3])
    by_number: dict[int, list[Citation]] = {}
    for citation in answer.citations:
        by_number.setdefault(citation.number, []).append(citation)
    return tuple(_excerpt(n, cited[0].passage, [c.quote for c in cited]) for n, cited in sorted(by_number.items()))


def _excerpt(number: int, passage: Passage, quotes: Sequence[str]) -> Excerpt:
    document = passage.chunk.document
    return Excerpt(
        number=number,
        title=document.title or document.id,
        place=_place_of(passage),
        url=web_address(document.source.url),
        quotes=tuple(dict.fromkeys(quotes)),
        text=passage.chunk.text,
    )


def evidence_view(answer: KeptAnswer) -> dict[str, Any]:
    """Build the evidence modal: each passage with its quotes. If some do not fit, the modal says how many."""
    blocks: list[Block] = []
    size = 0
    for position, excerpt in enumerate(answer.excerpts):
        more = [*_source_blocks(excerpt), *literal(excerpt.text.strip())[0], {"type": "divider"}]
        size += size_of(more)
        if len(blocks) + len(more) >= _VIEW_BLOCKS or size > _VIEW_CHARACTERS:
            left = len(answer.excerpts) - position
            blocks += literal(f"{left} more passages do not fit here; the answer's sources name them.")[0]
            break
        blocks += more
    blocks = blocks or [*literal("No passage was found for this question.")[0]]
    return {"type": "modal", "title": plain_text("Evidence"), "close": plain_text("Close"), "blocks": blocks}


def reason_view(answer_id: str) -> dict[str, Any]:
    """Build the modal that asks why an answer did not help; both of its inputs are optional."""
    options = [{"text": plain_text(reason), "value": reason} for reason in REASONS]
    asked: dict[str, tuple[str, Element]] = {
        "choice": ("The answer", {"type": "radio_buttons", "options": options}),
        WORDS: ("In your words", {"type": "plain_text_input", "multiline": True, "max_length": 1000}),
    }
    return {
        "type": "modal",
        "callback_id": REASON,
        "private_metadata": answer_id,
        "title": plain_text("What was wrong?"),
        "submit": plain_text("Send"),
        "close": plain_text("Skip"),
        "blocks": [
            {"type": "input", "block_id": name, "optional": True, "label": plain_text(label), "element": element | {"action_id": name}}
            for name, (label, element) in asked.items()
        ],
    }


def reason_given(view: Mapping[str, Any]) -> str:
    """Return what was chosen and written in that modal; empty if nothing was."""
    values = view["state"]["values"]
    chosen, written = values["choice"]["choice"]["selected_option"], values[WORDS][WORDS]["value"]
    return ": ".join(text for text in (chosen["value"] if chosen else "", (written or "").strip()) if text)
