"""Remove orders to an AI reader from the text of a chunk."""

from chatbot.evidence import units
from chatbot.evidence.instructions import is_instruction
from ingest import Chunk


def without_orders(chunk: Chunk) -> str:
    """Return the text of a chunk, with "…" in place of each piece of evidence that gives orders to an AI reader."""
    text = chunk.text
    for unit in reversed(units(chunk)):
        if is_instruction(unit.plain):
            text = text[: unit.start - chunk.start] + "…" + text[unit.end - chunk.start :]
    return text.strip()
