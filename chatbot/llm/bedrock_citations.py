"""Citations of Bedrock's own: which models of the Converse API give them, and which blocks of a document they name."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from chatbot.llm.models import provider_of

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

# Those before cite nothing: https://platform.claude.com/docs/en/build-with-claude/citations
_CITING = re.compile(r"anthropic\.claude-(?:3-5-sonnet-20241022|3-7-|(?:opus|sonnet|haiku)-[4-9])")


def cites_documents(model: str, base_model: str = "") -> bool:
    """Whether a model string, or what is known to be behind it, names a model that can cite the blocks of a document that it is given."""
    return provider_of(model) == "bedrock_converse" and bool(_CITING.search(base_model or model))


def cited_blocks(chunk: "BaseMessage") -> str:
    """The keys of the passages that a piece of an answer cites, as marks behind what it says."""
    blocks = [block for block in chunk.content if isinstance(block, dict)] if isinstance(chunk.content, list) else []
    keys = [key for block in blocks for citation in block.get("citations") or () for key in _keys(citation)]
    return "".join(f" [{key}]" for key in dict.fromkeys(keys))


def _keys(citation: Any) -> Iterator[int]:
    """Blocks are counted from 0, and the last is not among them; our keys count from 1."""
    place = (citation.get("location") or {}).get("documentChunk") or {} if isinstance(citation, dict) else {}
    start, end = place.get("start"), place.get("end")
    if isinstance(start, int):
        yield from range(start + 1, max(start + 2, end + 1 if isinstance(end, int) else 0))
