"""Export a conversation: Markdown for people, JSON for programs."""

import json
import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from chatbot.answer import Answer, Citation
from chatbot.history.conversations import header_above
from chatbot.language.characters import shown
from chatbot.presentation.render import as_json, places

# What could become HTML, a link, an image or a code block that swallows what follows, and a backslash that would undo its
# escape. All other Markdown, above all tables, stays.
_LIVE = re.compile(r"\\(?=[\\<\[`~])|<(?=[A-Za-z/!?])|\[(?!\d+\](?![(:]))|(?:(?<=^)|(?<=\s))(?=```|~~~)")
_NOT_IN_ADDRESS = re.compile(r"[\s<>]")


def conversation_as_json(answers: Sequence[Answer]) -> str:
    """Return the answers of a conversation, in order, each in the format of `wattwise ask --json`."""
    return json.dumps({"answers": [as_json(answer) for answer in answers]}, ensure_ascii=False, indent=2) + "\n"


def conversation_as_markdown(answers: Sequence[Answer]) -> str:
    """Return the conversation with each source's exact words. No text in it becomes a link or HTML."""
    return "\n".join(line for answer in answers for line in _exchange(answer))


def _exchange(answer: Answer) -> Iterator[str]:
    first, *more = answer.question.strip().splitlines() or [""]
    yield f"## {_harmless(first)}"
    yield from _lines("\n".join((*more, "", answer.text, "")))
    listed: set[int] = set()
    for citation in answer.citations:
        if citation.number not in listed:
            listed.add(citation.number)
            yield from _source(citation)
    yield f"{_harmless(answer.model)}, {answer.seconds:.2f} s\n"


def _lines(text: str) -> Iterator[str]:
    """Yield lines that stay lines; rows of a table and items of a list need no mark for that."""
    yield from (line if line.startswith(("|", "- ")) or not line else f"{line}  " for line in map(_harmless, text.split("\n")))


def _source(citation: Citation) -> Iterator[str]:
    chunk = citation.passage.chunk
    source = chunk.document.source
    place = " > ".join(map(_harmless, (source.title, *places(chunk))))
    details = ", ".join(_harmless(d) for d in (source.publisher, source.published) if d)
    address = f" <{_NOT_IN_ADDRESS.sub(lambda found: quote(found[0]), source.url)}>" if source.url else ""
    yield f"[{citation.number}] {place}{f' ({details})' if details else ''}{address}\n"
    header = header_above(chunk.document.text, citation.start) if citation.quote.startswith("|") else ""
    yield from (f"> {line}" for line in _lines(header + citation.quote.strip()))
    yield ""


def _harmless(text: str) -> str:
    return _LIVE.sub(r"\\\g<0>", shown(text).rstrip())
