"""Text from documents and questions reaches the page as plain text, whatever it looks like."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.answer_html import answer_html, beside_html, cards_html, facts_html, nearest_html, question_html, surroundings
from app.escaping import as_html, as_label, mark_html, with_links
from app.markdown_html import document_html
from chatbot import Answer, Citation, Footprint, Passage, Usage, shown
from chatbot.answer import Statement
from chatbot.presentation.comparison_table import Cell, Comparison, Property
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
    assert with_links("<b> [1] [9]", {1: 'a "quote"'}, "x") == (
        '&lt;b&gt; <a class="ww-mark" href="#x-1" aria-label="Source 1" data-quote="a &quot;quote&quot;">1</a> [9]'
    )


def test_a_mark_shows_the_row_of_a_table_by_its_cells_and_a_long_quote_in_part() -> None:
    assert 'data-quote="p5.48xlarge · $55.04 · us-east-1"' in mark_html(
        1, {1: "| p5.48xlarge | $55.04 |  | us-east-1 |"}, "x"
    )
    assert f'data-quote="{"a" * 300}…"' in mark_html(1, {1: "a" * 301}, "x")


def test_a_hostile_document_adds_no_tag_and_loses_no_character() -> None:
    answer = hostile_answer(model="offline")
    body, cards = seen(answer_html(answer, "x")), seen(cards_html(answer, "x"))
    assert set(body.tags) == {"div", "p", "a"}
    assert set(cards.tags) == {"div", "details", "summary", "span", "strong", "blockquote", "mark", "p", "a"}
    assert HOSTILE in body.text
    assert TEXT.replace("**", "") in cards.text
    assert "javascript:" not in cards_html(answer, "x")
    assert seen(question_html(HOSTILE, "q")).text == HOSTILE
    assert set(seen(nearest_html(answer.passages)).tags).isdisjoint({"script", "img"})


def test_the_card_marks_the_quote_inside_its_surroundings() -> None:
    answer = hostile_answer()
    assert surroundings(answer.citations[0]) == (TEXT, len("Before it. "))
    assert '<mark id="x-1">&lt;script&gt;alert(1)&lt;/script&gt; $x^2$ </mark>' in cards_html(answer, "x")


def of_document(text: str, quote: str, *, id: str = "d", claim: str = "") -> Citation:
    source = Source(id, id)
    passage = Passage(1, Chunk("c", Document(id, source, id, text), (), 0, len(text), text), 0.5)
    start = text.index(quote)
    return Citation(1, claim, quote, start, start + len(quote), 0.9, passage)


def test_a_source_has_one_card_with_all_of_its_quotes() -> None:
    one, other = of_document("One. Two.", "One.", id="a"), of_document("Three.", "Three.", id="b")
    two = replace(one, number=3, quote="Two.", start=5, end=9)
    page = cards_html(hostile_answer(citations=(one, replace(other, number=2), two)), "x")
    first, second = page.split('<details class="ww-card">')[1:]
    assert seen(first).text.startswith("13a")
    assert ('id="x-1">One.' in first, 'id="x-3">Two.' in first, 'id="x-2">Three.' in second) == (True, True, True)


def test_many_cards_leave_the_page_to_the_answer() -> None:
    cited = tuple(replace(of_document("One.", "One.", id=f"d{n}"), number=n) for n in range(1, 8))
    page = cards_html(hostile_answer(citations=cited), "x")
    assert page.count('<details class="ww-card">') == 7
    assert page.index("4 more sources") > page.index('id="x-3"')
    assert page.index("4 more sources") < page.index('id="x-4"')


def test_a_row_is_titled_by_its_type_and_read_by_its_columns() -> None:
    table = "| Type | vCPUs | GPUs | Memory |\n|---|---|---|---|\n| a.large | 2 |  | 8 GiB |\n| b.large | 4 | 1 | 16 GiB |\n"
    cited = of_document(table, "| a.large | 2 |  | 8 GiB |", claim="The a.large has 8 GiB of memory.")
    page = cards_html(hostile_answer(citations=(cited,)), "x")
    assert '<p class="ww-row"><mark id="x-1">a.large</mark></p>' in page
    assert re.findall(r'<th scope="row">(.*?)</th><td>(.*?)</td>', page) == [
        ("Memory", "<mark>8 GiB</mark>"),
        ("vCPUs", "2"),
    ]


@pytest.mark.parametrize(
    ("text", "quote", "html"),
    [
        ("# One\n\nTwo three.\n", "Two", '<h3>One</h3><p><mark id="q">Two</mark> three.</p>\n'),
        ("- **One:** two\n- three\n", "**One:** two", '<li><strong><mark id="q">One:</mark></strong><mark> two</mark></li>'),
        ("- One\n- two\n", "- One\n- two", '<li><mark id="q">One</mark></li>\n<li><mark>two</mark></li>'),
        ("|A|B|\n|-|-|\n|c|d|\n", "|c|d|", '<td><mark id="q">c</mark></td>\n<td><mark>d</mark></td>'),
        ("See [the page](https://a.example/b).", "the page", 'See <mark id="q">the page</mark>.'),
        ("---\ntitle: x\n---\n# One\n\nTwo.", "Two.", '<h3>One</h3><p><mark id="q">Two.</mark></p>'),
        ("---\nTwo.\n\n---\nThree.", "Two.", '<p><mark id="q">Two.</mark></p>'),
        ("<b>One</b> [1]", "One", '&lt;b&gt;<mark id="q">One</mark>&lt;/b&gt; [1]'),
    ],
)  # fmt: skip
def test_a_document_is_read_as_markdown_with_its_quote_marked(text: str, quote: str, html: str) -> None:
    start = text.index(quote)
    assert html in document_html(text, [(start, start + len(quote), "q")])


@given(st.text(st.sampled_from("ab1 \n#|*_`>-[]()<&\"'") | st.characters()), st.integers(0, 50), st.integers(0, 50))
def test_no_document_adds_a_tag_or_leaves_one_open(text: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    page = document_html(text, [(start, end, "q")])
    blocks = {"p", "br", "hr", "pre", "blockquote", "ul", "ol", "li", "h3", "h4", "h5", "h6"}
    tables = {"div", "table", "thead", "tbody", "tr", "th", "td"}
    assert set(seen(page).tags) <= blocks | tables | {"strong", "em", "code", "mark"}
    assert page.count("<mark") == page.count("</mark>")


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
    said = (Statement("It has 32 GB.", (1,), "side", "<i>One</i>"), Statement("It has 512 GB.", (1,), "side", "Two"))
    page = answer_html(hostile_answer(model="offline", statements=said), "x")
    assert page.count("<tr>") == 2
    assert '<th scope="row" dir="auto">&lt;i&gt;One&lt;/i&gt;</th>' in page


TABLE = "| Type | Memory | GPU memory |\n|---|---|---|\n" + "".join(
    f"| t{n} | {n}00 GiB | {n}0 GiB |\n" for n in range(1, 6)
)


def compared(options: int) -> str:
    rows = [of_document(TABLE, line) for line in TABLE.splitlines()[2 : 2 + options]]
    said = [
        Statement(f"t{n} has {n}00 GiB of memory and {n}0 GiB of GPU memory.", (n,), "row")
        for n in range(1, options + 1)
    ]
    cited = tuple(replace(row, number=number) for number, row in enumerate(rows, start=1))
    return answer_html(hostile_answer(model="offline", citations=cited, statements=tuple(said)), "x")


def test_properties_stand_by_option_on_a_scale_each_with_their_unit_in_the_header() -> None:
    page = compared(2)
    assert re.findall(r'<th scope="(\w+)" dir="auto">([^<]*)</th>', page) == [
        ("col", "t1"),
        ("col", "t2"),
        ("row", "Memory (GiB)"),
        ("row", "GPU memory (GiB)"),
    ]
    assert re.findall(r'<td dir="auto">(\d+)\xa0', page) == ["100", "200", "10", "20"]
    assert re.findall(r"width:([\d.]+)%", page) == ["50.0", "100.0", "50.0", "100.0"]


def test_many_options_stand_below_one_another() -> None:
    assert re.findall(r'<th scope="col" dir="auto">([^<]*)</th>', compared(5)) == ["Memory (GiB)", "GPU memory (GiB)"]


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
    line = facts_html(hostile_answer(model="m", usage=Usage(1200, 34), cost=0.0021), "2026-11-21T10:00:00+00:00")
    assert seen(line).text == (
        "Backed by the quoted words · m · 1.2 s · index of 21 Nov 2026 · 1,200 + 34 tokens · $0.0021"
    )


def test_what_a_model_wrote_keeps_its_headings_lists_and_tables_and_nothing_to_click() -> None:
    text = "## Why\n\n| Type | Memory |\n| --- | --- |\n| g6e.xlarge | **48** GB [1] |\n\n- One:\n  - [link](https://evil.example) ![p](https://evil.example/p.png) <b>bold</b> [1]"
    page = answer_html(hostile_answer(text=text, model="ollama:m"), "x")
    assert set(seen(page).tags) == {"div", "h4", "table", "thead", "tbody", "tr", "th", "td", "strong", "ul", "li", "a"}
    assert re.findall(r'href="([^"]*)"', page) == ["#x-1", "#x-1"]
    assert "[link](https://evil.example) ![p](https://evil.example/p.png) &lt;b&gt;bold&lt;/b&gt;" in page


def test_figures_beside_an_answer_say_that_they_are_no_part_of_it_and_where_they_are_from() -> None:
    found = Comparison("", ("A", "B<"), (Property("Memory", "GB", (Cell("24", (), 24.0), Cell("48", (), 48.0))),), (), ())
    shown = beside_html(found, [("facts/a b.csv", "Data <sheets>")])
    assert "Memory (GB)" in shown
    assert "B&lt;" in shown
    assert 'Not part of the answer: figures from <a href="sources?doc=facts%2Fa%20b.csv" target="_blank">Data &lt;sheets&gt;</a>' in shown
