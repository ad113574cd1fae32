"""What stands in documents and questions reaches the page as text, whatever it looks like."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.answer_html import answer_html, cards_html, facts_html, nearest_html, question_html, surroundings
from app.bars_html import bars_html
from app.escaping import as_html, as_label, with_links
from chatbot import Answer, Citation, Footprint, Passage, Usage, shown
from chatbot.comparison_table import Bar, Bars
from ingest import Chunk, Document, Source

HOSTILE = '<script>alert(1)</script> $x^2$ **bold** <img src=x onerror="alert(1)"> :red[hi] שלום [9]'
TEXT = f"Before it. {HOSTILE} After it."


class Seen(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def seen(page: str) -> Seen:
    parser = Seen()
    parser.feed(page)
    parser.close()
    return parser


def hostile_passage() -> Passage:
    source = Source(HOSTILE, HOSTILE, HOSTILE, "javascript:alert(1)", "2025", None, HOSTILE)
    document = Document(HOSTILE, source, HOSTILE, TEXT)
    return Passage(1, Chunk("c", document, (HOSTILE,), 0, len(TEXT), TEXT), 0.5)


def hostile_answer(**changes: object) -> Answer:
    passage = hostile_passage()
    start = TEXT.index(HOSTILE)
    citation = Citation(1, HOSTILE, HOSTILE, start, start + len(HOSTILE), 0.9, passage)
    fields = {"question": HOSTILE, "text": f"{HOSTILE} [1].", "citations": (citation,), "passages": (passage,)}
    return Answer(**{**fields, "refused": False, "choices": (), "model": HOSTILE, "seconds": 1.25, **changes})  # type: ignore[arg-type]


@given(st.text())
def test_text_becomes_html_that_reads_the_same(text: str) -> None:
    page = seen(f"<p>{as_html(text)}</p>")
    assert page.tags == ["p"]
    assert page.text == shown(text)


@pytest.mark.parametrize("sign", ["$", "*", "_", "`", "#", "[", "]", "<", ":", "~", "|", "!", "\\", "-", "&"])
def test_a_label_has_every_sign_of_markdown_escaped(sign: str) -> None:
    assert as_label(f"a{sign}b") == f"a\\{sign}b"


def test_a_label_is_one_line() -> None:
    assert as_label(" a\n\n# b ") == "a \\# b"


def test_only_marks_that_have_a_source_become_links() -> None:
    assert with_links("<b> [1] [9]", frozenset({1}), "x") == (
        '&lt;b&gt; <a class="ww-mark" href="#x-1" aria-label="Source 1">1</a> [9]'
    )


def test_a_hostile_document_adds_no_tag_and_loses_no_character() -> None:
    answer = hostile_answer(model="offline")
    body, cards = seen(answer_html(answer, "x")), seen(cards_html(answer, "x"))
    assert set(body.tags) == {"div", "p", "a"}
    assert set(cards.tags) == {"div", "details", "summary", "span", "strong", "blockquote", "mark", "p", "a"}
    assert HOSTILE in body.text
    assert TEXT in cards.text
    assert "javascript:" not in cards_html(answer, "x")
    assert seen(question_html(HOSTILE, "q")).text == HOSTILE
    assert set(seen(nearest_html(answer.passages)).tags).isdisjoint({"script", "img"})


def test_the_card_marks_the_quote_inside_its_surroundings() -> None:
    answer = hostile_answer()
    assert surroundings(answer.citations[0]) == ("Before it. ", " After it.")
    assert f'<mark id="x-1">{as_html(HOSTILE)}</mark>' in cards_html(answer, "x")


def test_many_cards_leave_the_page_to_the_answer() -> None:
    one = hostile_answer().citations[0]
    page = cards_html(hostile_answer(citations=tuple(replace(one, number=n) for n in range(1, 8))), "x")
    assert page.count('<details class="ww-card">') == 7
    assert page.index("4 more sources") > page.index('id="x-3"')
    assert page.index("4 more sources") < page.index('id="x-4"')


def test_an_exam_answer_shows_the_letter_first_and_a_verdict_an_option() -> None:
    question = "Which chip serves?\nA. <b>Trainium</b>\nB. Inferentia"
    text = "B: It serves [1].\n- A. <b>Trainium</b>: It trains [1].\n- B. Inferentia: It serves [1]."
    page = answer_html(hostile_answer(question=question, text=text, choices=("B",)), "x")
    assert page.startswith('<div class="ww-answer"><div class="ww-choice"><span class="ww-letter">B</span>')
    assert page.count('<li class="ww-chosen">') == 1
    assert 'aria-label="Option A, not chosen"' in page
    assert 'aria-label="Option B, chosen"' in page
    assert "<strong>&lt;b&gt;Trainium&lt;/b&gt;</strong>" in page


def test_a_comparison_shows_a_row_a_side() -> None:
    page = answer_html(hostile_answer(text="Both serve [1].\n- <i>One</i>: fast [1].\n- Two: slow [1]."), "x")
    assert page.count("<tr>") == 2
    assert '<th scope="row" dir="auto">&lt;i&gt;One&lt;/i&gt;</th>' in page


def test_bars_are_as_long_as_their_numbers() -> None:
    page = bars_html(Bars("GB", (Bar("<a>", 32.0, (1,)), Bar("b", 512.0, (2, 3)))), "x")
    assert "width:6.2%" in page
    assert "width:100.0%" in page
    assert '512 GB <a class="ww-mark" href="#x-2">2</a><a class="ww-mark" href="#x-3">3</a>' in page
    assert "&lt;a&gt;" in page


def test_a_refusal_says_its_sentence_and_leaves_the_sources_to_their_cards() -> None:
    text = "The sources do not say. Nearest in the sources: One; Two."
    page = seen(answer_html(hostile_answer(text=text, refused=True, citations=()), "x"))
    assert page.text == "The sources do not say."


@pytest.mark.parametrize(
    ("footprint", "words"),
    [
        (Footprint(0.7, 0.00064), "0.64 mWh"),
        (Footprint(0.7, 0.00064, 0.00025), "0.64 mWh, 0.25 mg CO2e"),
        (Footprint(0.7, 0.00064, None, 0.25, 1.5, 0.1, 0.6), "0.64 mWh · the model by estimate 0.25 Wh to 1.5 Wh"),
        (Footprint(0.7, 0.00064, None, 0.25, 0.25, 0.1, 0.1), "0.64 mWh · the model by estimate 0.25 Wh"),
    ],
)
def test_the_line_below_an_answer_says_what_it_took(footprint: Footprint, words: str) -> None:
    line = facts_html(hostile_answer(model="m", citations=(), refused=True, footprint=footprint), "")
    assert seen(line).text == f"m · 1.2 s · {words}"


def test_the_line_below_an_answer_says_what_is_known() -> None:
    line = facts_html(
        hostile_answer(model="m", usage=Usage(1200, 34), cost=0.0021, dropped=1), "2026-11-21T10:00:00+00:00"
    )
    assert seen(line).text == (
        "Well supported (90%) · m · 1.2 s · index of 21 Nov 2026 · 1,200 + 34 tokens · $0.0021 · 1 unsupported sentence left out"
    )


def test_what_a_model_wrote_keeps_its_headings_lists_and_tables_and_nothing_to_click() -> None:
    text = "## Why\n\n| Type | Memory |\n| --- | --- |\n| g6e.xlarge | **48** GB [1] |\n\n- One:\n  - [link](https://evil.example) ![p](https://evil.example/p.png) <b>bold</b> [1]"
    page = answer_html(hostile_answer(text=text, model="ollama:m"), "x")
    assert set(seen(page).tags) == {"div", "h4", "table", "thead", "tbody", "tr", "th", "td", "strong", "ul", "li", "a"}
    assert re.findall(r'href="([^"]*)"', page) == ["#x-1", "#x-1"]
    assert "[link](https://evil.example) ![p](https://evil.example/p.png) &lt;b&gt;bold&lt;/b&gt;" in page
