"""Export a conversation: Markdown for people, JSON for programs."""

import json
import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from chatbot.answer import Answer, Citation
from chatbot.characters import shown
from chatbot.render import as_json, places

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|$~])")
_LIST_MARK = re.compile(r"^(\s*\d*)([-+.)])(?=\s)")
_NOT_IN_ADDRESS = re.compile(r"[\s<>]")
_CITED = re.compile(r"\\\[(\d+)\\\]")


def conversation_as_json(answers: Sequence[Answer]) -> str:
    """Return the answers of a conversation, in order, each in the format of `wattwise ask --json`."""
    return json.dumps({"answers": [as_json(answer) for answer in answers]}, ensure_ascii=False, indent=2) + "\n"


def conversation_as_markdown(answers: Sequence[Answer]) -> str:
    """Return the conversation with each source's exact words. Whatever looks like Markdown in it is escaped."""
    return "\n".join(line for answer in answers for line in _exchange(answer))


def _exchange(answer: Answer) -> Iterator[str]:
    first, *more = answer.question.strip().splitlines() or [""]
    yield f"## {as_plain(first)}\n"
    yield from (f"{as_plain(line)}  " for line in more)
    yield from ("", *_answer_lines(answer.text), "")
    listed: set[int] = set()
    for citation in answer.citations:
        if citation.number not in listed:
            listed.add(citation.number)
            yield from _source(citation)
    yield f"_{as_plain(answer.model)}, {answer.seconds:.2f} s_\n"


def _answer_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        item, said = ("- ", line[2:]) if line.startswith("- ") else ("", line)
        yield item + _CITED.sub(r"[\1]", as_plain(said)) + ("" if item else "  ")


def _source(citation: Citation) -> Iterator[str]:
    chunk = citation.passage.chunk
    source = chunk.document.source
    place = " > ".join(map(as_plain, (source.title, *places(chunk))))
    details = ", ".join(as_plain(d) for d in (source.publisher, source.published) if d)
    address = f" <{_NOT_IN_ADDRESS.sub(lambda found: quote(found[0]), source.url)}>" if source.url else ""
    yield f"\\[{citation.number}\\] {place}{f' ({details})' if details else ''}{address}\n"
    yield from (f"> {as_plain(line)}  " for line in citation.quote.strip().splitlines())
    yield ""


def as_plain(text: str) -> str:
    """Escape a text so that Markdown shows it as written, formulas, HTML and lists included."""
    return _LIST_MARK.sub(r"\1\\\2", _MARKUP.sub(r"\\\1", shown(text).rstrip()))
