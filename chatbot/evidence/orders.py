"""The words of a chunk as data for a reader: without those that give whoever reads them out an order."""

from chatbot.evidence import units
from chatbot.instructions import is_instruction
from ingest import Chunk


def without_orders(chunk: Chunk) -> str:
    """The text of a chunk, with "…" for each piece of evidence in it that is addressed to whoever reads it out."""
    text = chunk.text
    for unit in reversed(units(chunk)):
        if is_instruction(unit.plain):
            text = text[: unit.start - chunk.start] + "…" + text[unit.end - chunk.start :]
    return text.strip()
