"""An answer as HTML: its text with marks, its options or table, its source cards. Pure functions over values."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from urllib.parse import quote as url_quote

from app.escaping import as_html, with_links
from app.markdown_html import markdown_html
from chatbot import Answer, Citation, Footprint, Passage
from chatbot.comparison_table import Row, comparison_rows
from chatbot.llm.models import OFFLINE
from chatbot.option_verdicts import ExamAnswer, OptionVerdict, exam_answer

# How much of a passage is shown on each side of a quote.
_AROUND = 700
_SHOWN = 3
# A model's own table, headings or nested lists are shown as they are.
_STRUCTURED = re.compile(r"^(?:\||#|\s+(?:[-*]|\d+\.)\s)", re.MULTILINE)


def question_html(question: str, identity: str) -> str:
    """A question as its own text; `identity` is the place on the page to scroll to."""
    return f'<div class="ww-question" id="{as_html(identity)}" dir="auto">{as_html(question.strip())}</div>'


def answer_html(answer: Answer, anchor: str) -> str:
    """The answer without its cards; `anchor` is unique to the answer on its page."""
    numbers = frozenset(citation.number for citation in answer.citations)
    if answer.refused:
        first = answer.text.partition(" Nearest in the sources:")[0]
        return f'<div class="ww-answer ww-refusal" dir="auto"><p class="ww-lead">{as_html(first)}</p></div>'
    if exam := exam_answer(answer):
        return _exam(exam, answer.choices, numbers, anchor)
    rows = comparison_rows(answer)
    if rows and not _STRUCTURED.search(answer.text):
        return _comparison(answer.text, rows, numbers, anchor)
    if answer.model != OFFLINE:
        return f'<div class="ww-answer" dir="auto">{markdown_html(answer.text, numbers, anchor)}</div>'
    return f'<div class="ww-answer" dir="auto">{text_html(answer.text, numbers, anchor)}</div>'


def text_html(text: str, numbers: frozenset[int], anchor: str) -> str:
    """Paragraphs and lists; the first paragraph leads."""
    blocks: list[str] = []
    items: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("- "):
            items.append(f"<li>{with_links(line[2:], numbers, anchor)}</li>")
            continue
        if items:
            blocks.append(f"<ul>{''.join(items)}</ul>")
            items = []
        if line.strip():
            lead = "" if blocks else ' class="ww-lead"'
            blocks.append(f"<p{lead}>{with_links(line, numbers, anchor)}</p>")
    return "".join(blocks)


def _comparison(text: str, rows: Sequence[Row], numbers: frozenset[int], anchor: str) -> str:
    lead = "\n".join(line for line in text.splitlines() if not line.startswith("- "))
    cells = "".join(
        f'<tr><th scope="row" dir="auto">{as_html(row.name)}</th><td dir="auto">{with_links(row.value, numbers, anchor)}</td></tr>'
        for row in rows
    )
    return (
        f'<div class="ww-answer">{text_html(lead, numbers, anchor)}'
        f'<div class="ww-scroll"><table class="ww-table"><tbody>{cells}</tbody></table></div></div>'
    )


def _exam(exam: ExamAnswer, choices: Sequence[str], numbers: frozenset[int], anchor: str) -> str:
    letters = "".join(f'<span class="ww-letter">{as_html(letter)}</span>' for letter in choices)
    options = "".join(_option(verdict, numbers, anchor) for verdict in exam.verdicts)
    return (
        f'<div class="ww-answer"><div class="ww-choice">{letters}'
        f'<div dir="auto">{text_html(exam.reason, numbers, anchor)}</div></div><ol class="ww-options">{options}</ol></div>'
    )


def _option(verdict: OptionVerdict, numbers: frozenset[int], anchor: str) -> str:
    said = with_links(verdict.said, numbers, anchor) if verdict.said else "Nothing in the sources decides it."
    kind, word = ("ww-chosen", "chosen") if verdict.chosen else ("", "not chosen")
    return (
        f'<li class="{kind}"><span class="ww-letter" aria-label="Option {as_html(verdict.option.letter)}, {word}">'
        f'{as_html(verdict.option.letter)}</span><div dir="auto"><strong>{as_html(verdict.option.text)}</strong>'
        f"<p>{said}</p></div></li>"
    )


def cards_html(answer: Answer, anchor: str) -> str:
    """A card a source number: closed until it is asked for, by its mark or by itself."""
    first = {citation.number: citation for citation in reversed(answer.citations)}
    return _cards(_cited_card(first[number], anchor) for number in sorted(first))


def nearest_html(passages: Sequence[Passage], *, limit: int = 3) -> str:
    """The nearest sources, as cards whose passage is shown whole."""
    return _cards(_passage_card(passage) for passage in passages[:limit])


def _cards(cards: Iterable[str]) -> str:
    """A few at once; the others wait behind one line, which a mark that leads to one of them opens by itself."""
    shown = list(cards)
    few, more = ("".join(shown[:_SHOWN]), shown[_SHOWN:]) if len(shown) > _SHOWN + 1 else ("".join(shown), [])
    rest = (
        f'<details class="ww-more"><summary>{len(more)} more sources</summary>{"".join(more)}</details>' if more else ""
    )
    return f'<div class="ww-cards">{few}{rest}</div>'


def _cited_card(citation: Citation, anchor: str) -> str:
    before, after = surroundings(citation)
    identity = as_html(f"{anchor}-{citation.number}")
    body = f'{as_html(before)}<mark id="{identity}">{as_html(citation.quote)}</mark>{as_html(after)}'
    facts = [f"support {citation.support:.0%}", f"relevance {citation.passage.score:.0%}"]
    return _card(citation.passage, citation.number, body, facts)


def _passage_card(passage: Passage) -> str:
    body = as_html(passage.chunk.text[: 2 * _AROUND])
    return _card(passage, passage.number, body, [f"relevance {passage.score:.0%}"])


def surroundings(citation: Citation) -> tuple[str, str]:
    """The words before and after a quote in its passage, as they stand in the document."""
    chunk = citation.passage.chunk
    text = chunk.document.text
    start, end = max(min(chunk.start, citation.start), citation.start - _AROUND), max(chunk.end, citation.end)
    before, after = text[start : citation.start], text[citation.end : min(end, citation.end + _AROUND)]
    cut_before = "…" if start > chunk.start else ""
    cut_after = "…" if end > citation.end + _AROUND else ""
    return cut_before + before.lstrip("\n"), after.rstrip("\n") + cut_after


def _card(passage: Passage, number: int, body: str, facts: Sequence[str]) -> str:
    source = passage.chunk.document.source
    details = [d for d in (source.publisher, source.published, source.original) if d]
    links = [
        f'<a href="sources?doc={as_html(url_quote(passage.chunk.document.id, safe=""))}" target="_blank">Whole document</a>'
    ]
    if source.url and source.url.startswith(("https://", "http://")):
        links.append(f'<a href="{as_html(source.url)}" target="_blank" rel="noopener noreferrer">Original</a>')
    return (
        f'<details class="ww-card"><summary><span class="ww-number">{number}</span>'
        f'<span class="ww-place" dir="auto">{_place(passage)}</span></summary>'
        f'<div class="ww-body"><blockquote dir="auto">{body}</blockquote>'
        f'<p class="ww-facts">{" · ".join([*map(as_html, details), *map(as_html, facts), *links])}</p></div></details>'
    )


def _place(passage: Passage) -> str:
    """The section first, which tells the cards of one document apart; then the page and the title."""
    chunk = passage.chunk
    title = chunk.document.source.title
    names = [chunk.headings[-1]] if chunk.headings and chunk.headings[-1] != title else []
    names += [f"page {chunk.page}"] if chunk.page else []
    first, *others = [*names, title]
    return f"<strong>{as_html(first)}</strong>" + "".join(f" <span>{as_html(other)}</span>" for other in others)


def facts_html(answer: Answer, updated: str) -> str:
    """How well the answer is supported and what it took, on one line."""
    parts = [
        _support_words(answer),
        answer.model,
        _seconds(answer.seconds),
        f"index of {day(updated)}" if updated else "",
    ]
    if answer.usage:
        parts.append(f"{answer.usage.input_tokens:,} + {answer.usage.output_tokens:,} tokens")
    if answer.cost is not None:
        parts.append(f"${answer.cost:.4f}")
    if answer.footprint:
        parts += _footprint_words(answer.footprint)
    if answer.dropped:
        sentences = "sentence" if answer.dropped == 1 else "sentences"
        parts.append(f"{answer.dropped} unsupported {sentences} left out")
    return f'<p class="ww-facts ww-meta">{" · ".join(as_html(part) for part in parts if part)}</p>'


def _footprint_words(footprint: Footprint) -> list[str]:
    """This machine's energy and carbon, then the estimate for a hosted model."""
    machine = f"{_in_milli(footprint.wh)}Wh"
    if footprint.g_co2 is not None:
        machine += f", {_in_milli(footprint.g_co2)}g CO2e"
    if footprint.model_wh_low is None or footprint.model_wh_high is None:
        return [machine]
    low, high = footprint.model_wh_low, footprint.model_wh_high
    model = f"{_in_milli(low)}Wh" if low == high else f"{_in_milli(low)}Wh to {_in_milli(high)}Wh"
    return [machine, f"the model by estimate {model}"]


def _in_milli(value: float) -> str:
    """Two significant digits and the prefix of the unit: 0.00064 is "0.64 m"."""
    return f"{value:.2g} " if value >= 0.1 else f"{1000 * value:.2g} m"


def day(moment: str) -> str:
    """The day of an ISO date, in words: "21 Nov 2026"."""
    return f"{datetime.fromisoformat(moment):%-d %b %Y}"


def _support_words(answer: Answer) -> str:
    if answer.refused:
        return ""
    support = answer.support
    words = "Well supported" if support >= 0.8 else "Supported" if support >= 0.6 else "Weakly supported"
    return f"{words} ({support:.0%})"


def _seconds(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
