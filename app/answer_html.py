"""An answer as HTML: its text with citation marks, its options or table, its source cards. Pure functions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar
from urllib.parse import quote as url_quote

from app.escaping import as_html, mark_html, with_links
from app.markdown_html import document_html, markdown_html
from chatbot import Answer, Citation, Footprint, Passage
from chatbot.answer import OFFLINE
from chatbot.history.conversations import header_above
from chatbot.presentation.comparison_table import Comparison, Property, TableRow, comparison, row_of
from chatbot.presentation.option_verdicts import ExamAnswer, OptionVerdict, exam_answer
from chatbot.presentation.render import places

_T = TypeVar("_T")
# Characters of a passage that are shown on each side of a quote.
_AROUND = 700
_SHOWN = 3
# More options than this become rows instead of columns.
_WIDE = 4
# Characters of a quote that go into an address.
_QUOTED = 200
_SUPPORT = (
    (0.8, "backed by the quoted words"),
    (0.6, "follows from the source"),
    (0.0, "loosely supported: read the source"),
)


def question_html(question: str, identity: str) -> str:
    """Render a question literally; `identity` is the HTML id to scroll to."""
    return f'<div class="ww-question" id="{as_html(identity)}" dir="auto">{as_html(question.strip())}</div>'


def quotes_of(answer: Answer) -> Mapping[int, str]:
    """Return the quote behind each mark."""
    return {citation.number: citation.quote for citation in reversed(answer.citations)}


def answer_html(answer: Answer, anchor: str) -> str:
    """Render the answer without its cards; `anchor` is an id prefix that is unique to the answer on its page."""
    quotes = quotes_of(answer)
    if answer.refused:
        first = answer.text.partition(" Nearest in the sources:")[0]
        return f'<div class="ww-answer ww-refusal" dir="auto"><p class="ww-lead">{as_html(first)}</p></div>'
    if exam := exam_answer(answer):
        return _exam(exam, answer.choices, quotes, anchor)
    compared = comparison(answer)
    if answer.model != OFFLINE:
        # Show a language model's own lists and tables as they are.
        text = markdown_html(answer.text, quotes, anchor)
    else:
        text = text_html(compared.lead if compared else answer.text, quotes, anchor)
    beside = comparison_html(compared, quotes, anchor, in_words=answer.model == OFFLINE) if compared else ""
    return f'<div class="ww-answer" dir="auto">{text}{beside}</div>'


def text_html(text: str, quotes: Mapping[int, str], anchor: str) -> str:
    """Render paragraphs and lists; a paragraph at the start is styled as the lead."""
    blocks: list[str] = []
    items: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("- "):
            items.append(f"<li>{with_links(line[2:], quotes, anchor)}</li>")
            continue
        if items:
            blocks.append(f"<ul>{''.join(items)}</ul>")
            items = []
        if line.strip():
            lead = "" if blocks else ' class="ww-lead"'
            blocks.append(f"<p{lead}>{with_links(line, quotes, anchor)}</p>")
    return "".join(blocks)


def comparison_html(found: Comparison, quotes: Mapping[int, str], anchor: str, *, in_words: bool) -> str:
    """Render the figures by property and option, with bars per property; with `in_words` also the text on each side."""
    parts = [_properties(found, quotes, anchor)] if found.properties else []
    if in_words and found.sides:
        rows = (
            f'<tr><th scope="row" dir="auto">{as_html(side.name)}</th><td dir="auto">{with_links(side.said, quotes, anchor)}</td></tr>'
            for side in found.sides
        )
        parts.append(_scrolled("ww-table", "".join(rows)))
    return "".join(parts)


def beside_html(found: Comparison, tables: Sequence[tuple[str, str]]) -> str:
    """Render figures that stand below an answer, with links to the tables that they are from, given as (id, title)."""
    links = ", ".join(f'<a href="sources?doc={as_html(url_quote(id, safe=""))}" target="_blank">{as_html(title)}</a>' for id, title in tables)
    return f'<div class="ww-beside">{_properties(found, {}, "")}<p class="ww-facts">Not part of the answer: figures from {links}</p></div>'


def _properties(found: Comparison, quotes: Mapping[int, str], anchor: str) -> str:
    names = [as_html(f"{each.name} ({each.unit})" if each.unit else each.name) for each in found.properties]
    options = [as_html(option) for option in found.options]
    grid = [_row(each, quotes, anchor) for each in found.properties]
    if len(options) > _WIDE:
        names, options, grid = options, names, [list(column) for column in zip(*grid, strict=True)]
    head = "".join(f'<th scope="col" dir="auto">{option}</th>' for option in options)
    rows = "".join(
        f'<tr><th scope="row" dir="auto">{name}</th>{"".join(row)}</tr>' for name, row in zip(names, grid, strict=True)
    )
    common = f'<p class="ww-facts">In common: {as_html(" · ".join(found.common))}</p>' if found.common else ""
    return _scrolled("ww-table ww-compared", f"<tr><td></td>{head}</tr>{rows}") + common


def _row(found: Property, quotes: Mapping[int, str], anchor: str) -> list[str]:
    """Render the cells of a property, each figure with a bar relative to the largest."""
    most = max((cell.value or 0.0 for cell in found.cells), default=0.0) or 1.0
    return [
        f'<td dir="auto">{as_html(cell.text or "–")}\u00a0{_marks(cell.numbers, quotes, anchor)}'
        f"{'' if cell.value is None else _track(cell.value / most)}</td>"
        for cell in found.cells
    ]


def _track(share: float) -> str:
    return f'<span class="ww-track"><span style="width:{100 * share:.1f}%"></span></span>'


def _marks(numbers: Iterable[int], quotes: Mapping[int, str], anchor: str) -> str:
    return "".join(mark_html(number, quotes, anchor) for number in numbers)


def _scrolled(kind: str, rows: str) -> str:
    return f'<div class="ww-scroll" tabindex="0"><table class="{kind}"><tbody>{rows}</tbody></table></div>'


def _exam(exam: ExamAnswer, choices: Sequence[str], quotes: Mapping[int, str], anchor: str) -> str:
    letters = "".join(f'<span class="ww-letter">{as_html(letter)}</span>' for letter in choices)
    options = "".join(_option(verdict, quotes, anchor) for verdict in exam.verdicts)
    return (
        f'<div class="ww-answer"><div class="ww-choice">{letters}'
        f'<div dir="auto">{text_html(exam.reason, quotes, anchor)}</div></div><ol class="ww-options">{options}</ol></div>'
    )


def _option(verdict: OptionVerdict, quotes: Mapping[int, str], anchor: str) -> str:
    said = with_links(verdict.said, quotes, anchor) if verdict.said else "Nothing in the sources decides it."
    kind, word = ("ww-chosen", "chosen") if verdict.chosen else ("", "not chosen")
    return (
        f'<li class="{kind}"><span class="ww-letter" aria-label="Option {as_html(verdict.option.letter)}, {word}">'
        f'{as_html(verdict.option.letter)}</span><div dir="auto"><strong>{as_html(verdict.option.text)}</strong>'
        f"<p>{said}</p></div></li>"
    )


def cards_html(answer: Answer, anchor: str) -> str:
    """Render one card per source with all of its quotes, closed until it or one of its marks is clicked."""
    first = {citation.number: citation for citation in reversed(answer.citations)}
    return _cards(
        _card(
            [citation.passage for citation in cited],
            "".join(f'<span class="ww-number">{citation.number}</span>' for citation in cited),
            "".join(_quoted(citation, f"{anchor}-{citation.number}") for citation in cited),
        )
        for cited in _by_source([first[number] for number in sorted(first)], lambda citation: citation.passage)
    )


def nearest_html(passages: Sequence[Passage], *, limit: int = 3) -> str:
    """Render the nearest sources, one card each with its passages."""
    found = _by_source(passages[:limit], lambda passage: passage)
    return _cards(_card(near, "", "".join(map(_whole, near))) for near in found)


def _by_source(found: Iterable[_T], passage_of: Callable[[_T], Passage]) -> Iterable[list[_T]]:
    """Group what was found by document, in the order in which the documents first occur."""
    sources: dict[str, list[_T]] = {}
    for each in found:
        sources.setdefault(passage_of(each).chunk.document.id, []).append(each)
    return sources.values()


def _cards(cards: Iterable[str]) -> str:
    """Show a few cards; the others are folded behind one line, which opens when a mark leads to one of them."""
    shown = list(cards)
    few, more = ("".join(shown[:_SHOWN]), shown[_SHOWN:]) if len(shown) > _SHOWN + 1 else ("".join(shown), [])
    rest = (
        f'<details class="ww-more"><summary>{len(more)} more sources</summary>{"".join(more)}</details>' if more else ""
    )
    return f'<div class="ww-cards">{few}{rest}</div>' if shown else ""


def _quoted(citation: Citation, identity: str) -> str:
    """Render one quote in context: a table row by its columns, prose with the text around it."""
    row = _row_html(row_of(citation), citation.claim, identity)
    if not row:
        text, start = surroundings(citation)
        row = document_html(text, [(start, start + len(citation.quote), identity)])
    return _passage_html(citation.passage, citation.quote, row, _support_words(citation.support))


def _row_html(row: TableRow | None, claim: str, identity: str) -> str:
    """Render a quoted table row by its columns, titled by its first cell; columns that the claim uses come first."""
    if row is None:
        return ""
    told = row.told(claim)
    rows = "".join(
        f'<tr><th scope="row">{as_html(name)}</th><td>{f"<mark>{as_html(cell)}</mark>" if name in told else as_html(cell)}</td></tr>'
        for name, cell in sorted(row.columns, key=lambda column: column[0] not in told)
    )
    title = f'<p class="ww-row"><mark id="{as_html(identity)}">{as_html(row.name)}</mark></p>'
    return f'{title}<table class="ww-table ww-columns"><tbody>{rows}</tbody></table>'


def _whole(passage: Passage) -> str:
    text = passage.chunk.text
    return _passage_html(passage, text, document_html(text[: 2 * _AROUND]))


def _passage_html(passage: Passage, quote: str, shown: str, *facts: str) -> str:
    """Render a passage's place, facts and a link to the quote in its document, and below them the text that is shown."""
    document, words = passage.chunk.document.id, quote.strip()[:_QUOTED]  # words stay valid after the next sync
    address = as_html(f"sources?doc={url_quote(document, safe='')}&quote={url_quote(words, safe='')}")
    said = [*(f"<strong>{as_html(place)}</strong>" for place in places(passage.chunk)), *map(as_html, facts)]
    line = " · ".join([*said, f'<a href="{address}" target="_blank">In the document</a>'])
    return f'<p class="ww-facts">{line}</p><blockquote dir="auto" tabindex="0">{shown}</blockquote>'


def surroundings(citation: Citation) -> tuple[str, int]:
    """Return the whole lines around a quote, below the header of its table, and where in them the quote begins."""
    chunk = citation.passage.chunk
    text = chunk.document.text
    start, end = max(min(chunk.start, citation.start), citation.start - _AROUND), max(chunk.end, citation.end)
    start, end = text.rfind("\n", 0, start + 1) + 1, min(end, citation.end + _AROUND)
    end = line if (line := text.find("\n", end)) >= 0 else len(text)
    header = header_above(text, start)
    return header + text[start:end], citation.start - start + len(header)


def _card(passages: Sequence[Passage], numbers: str, body: str) -> str:
    source = passages[0].chunk.document.source
    details = [as_html(d) for d in (source.publisher, source.published) if d]
    if source.url and source.url.startswith(("https://", "http://")):
        details.append(f'<a href="{as_html(source.url)}" target="_blank" rel="noopener noreferrer">Original</a>')
    about = f'<p class="ww-facts ww-source">{" · ".join(details)}</p>' if details else ""
    return (
        f'<details class="ww-card"><summary>{numbers}<span class="ww-place" dir="auto">{as_html(source.title)}</span></summary>'
        f'<div class="ww-body">{body}{about}</div></details>'
    )


def facts_html(answer: Answer, updated: str) -> str:
    """Say on one line how well the answer is supported and what it took."""
    parts = [
        _basis(answer),
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
    return f'<p class="ww-facts ww-meta">{" · ".join(as_html(part) for part in parts if part)}</p>'


def _footprint_words(footprint: Footprint) -> list[str]:
    """Say this machine's energy and carbon, then the estimate for a hosted model."""
    machine = f"{_in_milli(footprint.wh)}Wh"
    if footprint.g_co2 is not None:
        machine += f", {_in_milli(footprint.g_co2)}g CO2e"
    if footprint.model_wh_low is None or footprint.model_wh_high is None:
        return [machine]
    low, high = footprint.model_wh_low, footprint.model_wh_high
    model = f"{_in_milli(low)}Wh" if low == high else f"{_in_milli(low)}Wh to {_in_milli(high)}Wh"
    return [machine, f"the model by estimate {model}"]


def _in_milli(value: float) -> str:
    """Format with two significant digits and the prefix of the unit: 0.00064 is "0.64 m"."""
    return f"{value:.2g} " if value >= 0.1 else f"{1000 * value:.2g} m"


def day(moment: str) -> str:
    """Return the day of an ISO date in words: "21 Nov 2026"."""
    return f"{datetime.fromisoformat(moment):%-d %b %Y}"


def _basis(answer: Answer) -> str:
    """Say in words how well an answer is supported: by its weakest citation, unless it is computed."""
    if any(statement.role == "computed" for statement in answer.statements):
        return "Computed from figures of the sources"
    return _support_words(answer.support).capitalize() if answer.citations else ""


def _support_words(support: float) -> str:
    """Say in words how well a quote supports its claim."""
    return next(words for least, words in _SUPPORT if support >= least)


def _seconds(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
