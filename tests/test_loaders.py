"""Every format becomes text, and every unreadable file gets a reason."""

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.campaign.documents import workbook
from ingest.document import CorpusError, Document, Source
from ingest.fetching.items import FORMATS, Item
from ingest.formats.loaders import LOADERS, MAX_BYTES, SUFFIXES, front_matter, load


def loaded(name: str, data: bytes | str, source: Source | None = None, **fields: str) -> Document:
    content = data.encode() if isinstance(data, str) else data
    return load(Item(f"corpus/{name}", name, source, lambda: content, **fields), content)


def reason(name: str, data: bytes | str) -> str:
    with pytest.raises(CorpusError) as caught:
        loaded(name, data)
    return str(caught.value)


def written_pdf(
    pages: Sequence[Sequence[tuple[float, float, str]]], *, title: str = "", encrypted: bool = False
) -> bytes:
    """A PDF in Helvetica with lines given as (font size, height, text); an encrypted one needs an unknown password."""
    bodies = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{' '.join(f'{5 + 2 * page} 0 R' for page in range(len(pages)))}]/Count {len(pages)}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        f"<</Title({title})>>",
    ]
    for number, lines in enumerate(pages):
        shown = " ".join(f"/F1 {size} Tf 1 0 0 1 72 {height} Tm ({text}) Tj" for size, height, text in lines)
        resources = f"/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents {6 + 2 * number} 0 R"
        bodies.append(f"<</Type/Page/Parent 2 0 R{resources}>>")
        bodies.append(f"<</Length {len(shown) + 6}>>stream\nBT {shown} ET\nendstream")
    written = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(bodies, start=1):
        offsets.append(len(written))
        written += f"{number} 0 obj{body}endobj\n".encode("latin-1")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    lock = f"/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<{'11' * 32}>/U<{'22' * 32}>>>/ID[<01><01>]" if encrypted else ""
    trailer = f"trailer<</Size {len(bodies) + 1}/Root 1 0 R/Info 4 0 R{lock}>>startxref\n{len(written)}\n%%EOF"
    return written + f"xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n{table}{trailer}".encode()


def saved(save: Callable[[io.BytesIO], object]) -> bytes:
    file = io.BytesIO()
    save(file)
    return file.getvalue()


# The table of formats


def test_a_parser_is_imported_only_by_a_file_that_needs_it() -> None:
    parsers = {"trafilatura", "bs4", "docutils", "pypdfium2", "mammoth", "pptx", "openpyxl", "boto3", "httpx", "torch"}
    code = f"import sys, ingest.formats.loaders, ingest.fetching.sources; print({parsers} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"


def test_every_format_has_a_loader() -> None:
    assert set(LOADERS) == set(FORMATS) == set(SUFFIXES)


# Text files


@pytest.mark.parametrize("suffix", [".md", ".mdx", ".txt", ".TXT"])
def test_a_text_file_is_quoted_as_it_stands(suffix: str) -> None:
    text = "---\ntitle: T\n---\n\n# Head  \nsoft\u00adhyphen e\u0301 \t\n\n\n\n\nend\f"
    assert loaded(f"a{suffix}", text).text == text


def test_only_the_byte_order_mark_and_the_line_breaks_of_a_text_file_change() -> None:
    assert loaded("a.md", b"\xef\xbb\xbfone\r\ntwo\rthree\n").text == "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.md", b"", "empty"),
        ("a.txt", b" \n\t\n", "empty"),
        ("a.txt", b"text\x00more", "binary"),
        ("a.md", b"caf\xe9", "UTF-8"),
        ("a.txt", "text".encode("utf-16"), "UTF-16"),
        ("a.csv", b"a,b\n\xff,1", "UTF-8"),
        ("a.json", b"\x00{}", "binary"),
        ("a.html", b"<p>\x00</p>", "binary"),
        ("a.html", b"<meta charset=utf-8><p>caf\xe9", "UTF-8"),
        ("a.html", b"<html><body></body></html>", "empty"),
        ("a.rst", b"", "empty"),
        ("a.json", b'{"a": }', "line 1"),
        ("a.json", b"[" * 100_000, "nested too deeply"),
        ("a.jsonl", b'{"a": 1}\n{"a"\n', "line 2"),
        ("a.pdf", b"%PDF-1.7 junk", "broken PDF"),
        ("a.pdf", b"", "broken PDF"),
        ("a.pdf", written_pdf([[(11, 700, "secret")]], encrypted=True), "encrypted"),
        ("a.pdf", written_pdf([[], []]), "only images"),
        ("a.docx", b"PK\x03\x04 junk", "damaged"),
        ("a.pptx", b"junk", "damaged"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest", "encrypted"),
        ("a.exe", b"text", "no loader"),
        ("README", b"text", "no loader"),
    ],
)
def test_what_cannot_be_read_says_why_and_what_to_do(name: str, data: bytes, words: str) -> None:
    sentence = reason(name, data)
    assert words in sentence
    assert ":" in sentence, "the remedy stands after a colon"


def test_a_file_over_the_size_limit_is_refused() -> None:
    assert "larger than 50 MiB" in reason("a.txt", b"a" * (MAX_BYTES + 1))


# Front matter


@pytest.mark.parametrize(
    ("text", "mapping", "body"),
    [
        ("---\ntitle: A b\nversion: 1.10\ndate: 2022-11-10\n---\nbody",
         {"title": "A b", "version": "1.10", "date": "2022-11-10"}, "body"),
        ("---\ntags:\n - a\n - b\ndeep: {x: {y: 1}}\nnone: ~\n...\nbody", {"tags": "a, b"}, "body"),
        ("---\ntitle: [broken\nmore: : :\n---\nbody", {}, "body"),
        ("---\n---\nbody", {}, "body"),
        ("---\n\nProse under a rule.\n\n---\n\nmore", {}, "---\n\nProse under a rule.\n\n---\n\nmore"),
        ("---\n- a list\n---\nbody", {}, "---\n- a list\n---\nbody"),
        ("---\ntitle: never closed\n", {}, "---\ntitle: never closed\n"),
        ("\n---\ntitle: not at the head\n---\n", {}, "\n---\ntitle: not at the head\n---\n"),
        ("----\ntitle: four dashes\n----\n", {}, "----\ntitle: four dashes\n----\n"),
        ("no front matter", {}, "no front matter"),
        ("", {}, ""),
    ],
)  # fmt: skip
def test_front_matter_ends_where_the_body_begins(text: str, mapping: dict[str, str], body: str) -> None:
    found, start = front_matter(text)
    assert (found, text[start:]) == (mapping, body)


def test_front_matter_tells_the_source() -> None:
    text = (
        "---\ntitle: Right hardware\nsubmitted_by: navveenb\npublished_date: 2022-11-10T08:00:00Z\n"
        "source: https://example.org/p\nlicense: MIT\n---\n# Other\n"
    )
    assert loaded("004_x.txt", text).source == Source(
        id="corpus-004-x-dccaf8",
        title="Right hardware",
        publisher="navveenb",
        url="https://example.org/p",
        published="2022-11-10",
        licence="MIT",
        original="004_x.txt",
    )


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("2025", "2025"),
        ("2025-03", "2025-03"),
        ("March 5, 2024", "2024-03-05"),
        ("May 2024", "2024-05"),
        ("soon", None),
    ],
)
def test_a_date_is_kept_as_far_as_it_is_known(written: str, iso: str | None) -> None:
    assert loaded("a.md", f"---\ndate: {written}\n---\nbody").source.published == iso


# Titles and sources


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("a.md", "Intro\n\n## The *first* [heading](x) `code` <a name=y></a>\n\n# Second", "The first heading code"),
        ("a.md", "Prose. " * 1000 + "\n\n# Far down", "Far down"),
        ("a.md", "Set\next\n===\n", "Set ext"),
        ("a.md", "```\n# no heading\n```\ntext", "a"),
        ("a.txt", "A line that stands alone\n\nAnd prose.", "A line that stands alone"),
        ("a.txt", "FOR IMMEDIATE RELEASE\n\nA Cloud Opens\n\nProse.", "A Cloud Opens"),
        ("my_first-file.txt", "Prose goes on.\nAnd on.", "my first file"),
        ("long.md", "# " + "word " * 60, "long"),
        ("a.html", "<title>From the head</title><p>Some text.</p>", "From the head"),
        ("a.json", '{"title": "Its own", "b": 1}', "Its own"),
        ("two words.jsonl", '{"title": "One", "text": "x"}', "two words"),
    ],
)
def test_the_title_is_the_one_that_the_text_gives_itself(name: str, text: str, title: str) -> None:
    document = loaded(name, text)
    assert document.title == document.source.title == title


def test_a_manifest_says_the_last_word() -> None:
    source = Source("id", "The manifest's title", url="https://example.org")
    document = loaded("a.md", "---\ntitle: Other\n---\n# Another", source)
    assert (document.id, document.title, document.source) == ("corpus/a.md", "The manifest's title", source)


def test_each_document_has_a_source_id_of_its_own() -> None:
    names = ["a-b.md", "a_b.md", "a b.md", "a-b.txt", "A-B.md"]
    ids = {loaded(name, "text").source.id for name in names}
    assert len(ids) == len(names)
    assert all(one.startswith("corpus-a-b-") for one in ids)


def test_a_web_page_is_cited_at_the_address_where_it_was_found() -> None:
    page = b"<html><head><link rel=canonical href='https://other.example/'></head><body><p>Some text.</p></body></html>"
    source = loaded("p.html", page, address="https://example.org/final").source
    assert (source.url, source.original) == ("https://example.org/final", None)


# HTML and reStructuredText

_PAGE = """<!doctype html><html><head><title>Trn1 | AWS</title>
<meta property="og:site_name" content="Example Cloud">
<meta property="article:published_time" content="2023-06-20T10:00Z">
</head><body><nav><a href="/">Home</a></nav><header><h1>Trn1 instances</h1></header><article>
<p>Trn1 instances are <b>purpose-built</b> for training of <a href="/x">deep learning</a> models at scale.</p>
<h2>Sizes</h2><table><tr><th>Size</th><th>Chips|HBM</th></tr><tr><td>trn1.2xlarge</td><td>1</td></tr></table>
<ul><li>LLM training</li><li>Vision</li></ul><pre><code>x = 1
y = 2</code></pre>
<table><tr><td>A</td><td>B</td></tr><tr><td>1</td><td>2</td></tr></table>
</article><footer>Cookie settings</footer><script>alert(1)</script></body></html>"""


def test_a_web_page_becomes_markdown_without_its_menus() -> None:
    document = loaded("a.html", _PAGE)
    assert document.text == (
        "# Trn1 instances\n\nTrn1 instances are **purpose-built** for training of deep learning models at scale.\n\n"
        "## Sizes\n\n| Size | Chips\\|HBM |\n|---|---|\n| trn1.2xlarge | 1 |\n\n- LLM training\n- Vision\n\n"
        "```\nx = 1\ny = 2\n```\n\n| A | B |\n|---|---|\n| 1 | 2 |\n"
    )
    assert document.source.publisher == "Example Cloud"
    assert document.source.published == "2023-06-20"


def test_the_caption_of_a_table_stands_before_it() -> None:
    table = (
        "<table><caption>Chips</caption><tr><th>Chip</th><th>Power</th></tr><tr><td>K2</td><td>450 W</td></tr></table>"
    )
    page = f"<html><body><article><h1>Guide</h1><p>{'Words about chips. ' * 20}</p>{table}</article></body></html>"
    assert loaded("a.html", page).text.endswith("\n\nChips\n\n| Chip | Power |\n|---|---|\n| K2 | 450 W |\n")


def test_a_page_that_trafilatura_finds_nothing_in_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    import trafilatura

    monkeypatch.setattr(trafilatura, "extract", lambda *_, **__: None)
    page = "<nav>Menu</nav><h2>Sizes</h2><table><tr><td>a|b</td><td>c</td></tr><tr><td>1</td><td>2</td></tr></table>"
    assert loaded("a.html", page).text == "## Sizes\n\n| a\\|b | c |\n| --- | --- |\n| 1 | 2 |\n"


def test_the_charset_of_a_page_is_the_one_that_is_stated() -> None:
    assert "3 €" in loaded("a.html", "<meta charset='windows-1252'><p>It is 3 €.</p>".encode("cp1252")).text
    page = "<p>A café.</p>".encode("latin-1")
    assert "café" in loaded("a.html", page, content_type="text/html; charset=latin-1").text


@pytest.mark.parametrize("charset", ["iso-8859-1", "us-ascii", "latin1"])
def test_latin_1_is_read_as_browsers_read_it(charset: str) -> None:
    page = f"<meta charset={charset}><p>It doesn’t cost more than 10–20 €.</p>".encode("cp1252")
    assert loaded("a.html", page + b"\x81").text == "It doesn’t cost more than 10–20 €.\n"


def test_a_page_whose_tags_are_bytes_is_not_utf_16() -> None:
    assert loaded("a.html", "<meta charset='UTF-16'><p>It is 3 €.</p>".encode()).text == "It is 3 €.\n"


def test_restructured_text_keeps_headings_tables_and_lists() -> None:
    text = """
Title
=====

:Author: Somebody
:Date: 2024-01-02

Some *emphasis* and :ref:`a place <target>`.

Sizes
-----

+------+-------+
| Size | Chips |
+======+=======+
| trn1 | 16    |
+------+-------+

- one
- two

.. tab-item:: Linux
   :sync: linux

   Words of an unknown directive.

.. toctree::
   :maxdepth: 1

   other/page
"""
    document = loaded("a.rst", text)
    assert document.title == "Title"
    assert (document.source.publisher, document.source.published) == ("Somebody", "2024-01-02")
    for part in (
        "# Title\n",
        "Some *emphasis* and a place.",
        "## Sizes\n\n| Size | Chips |\n| --- | --- |\n| trn1 | 16 |\n\n- one\n- two\n",
        "Linux\n",
        "Words of an unknown directive.",
    ):
        assert part in document.text
    assert "other/page" not in document.text


def test_restructured_text_reads_no_other_file_and_runs_nothing() -> None:
    directives = (".. include:: {}", ".. raw:: html\n   :file: {}", ".. csv-table::\n   :file: {}")
    text = "\n\n".join(["Text.", *(directive.format("/etc/passwd") for directive in directives)])
    assert loaded("a.rst", text).text == "Text.\n"


# PDF


def test_a_page_of_a_pdf_ends_with_a_form_feed() -> None:
    pdf = written_pdf([[(11, 700, "First page.")], [], [(11, 700, "Third page.")]], title="Guide")
    document = loaded("a.pdf", pdf)
    assert document.text == "First page.\n\f\n\fThird page.\n\f"
    assert document.title == "Guide"


def test_large_lines_of_a_pdf_are_headings_and_gaps_divide_paragraphs() -> None:
    lines = [
        (18, 740, "Which chip"),
        (18, 718, "to choose"),
        (11, 690, "One paragraph of"),
        (11, 677, "two lines."),
        (11, 664, "It goes on."),
        (11, 630, "Another one:"),
        (11, 617, "\\225 a bullet"),
    ]
    document = loaded("a.pdf", written_pdf([lines]))
    assert document.text == (
        "# Which chip to choose\n\nOne paragraph of\ntwo lines.\nIt goes on.\n\nAnother one:\n- a bullet\n\f"
    )
    assert document.title == "Which chip to choose"


def test_cells_of_a_pdf_that_stand_in_columns_are_a_table() -> None:
    wide = " " * 12
    rows = [["Name", "Power", "Unit"], ["Card", "4500", "W"], ["Rack", "1320", "W"]]
    lines = [(11, 700 - 14 * place, wide.join(cells)) for place, cells in enumerate(rows)]
    document = loaded("a.pdf", written_pdf([[(11, 760, "Words above."), *lines]]))
    assert "| Card | 4500 | W |\n| Rack | 1320 | W |" in document.text


def test_broken_words_of_a_pdf_are_joined_and_compounds_keep_their_hyphen() -> None:
    lines = ["Trn1 is cost-effective and acceler-", "ates training. It is cost-", "effective on 8-", "16 chips."]
    document = loaded("a.pdf", written_pdf([[(11, 700 - 13 * row, line) for row, line in enumerate(lines)]]))
    assert " ".join(document.text.split()) == (
        "Trn1 is cost-effective and accelerates training. It is cost-effective on 8- 16 chips."
    )


def test_running_headers_footers_and_page_numbers_of_a_pdf_are_dropped() -> None:
    pages = [
        [
            (9, 770, f"Chapter 1 - Guide of 202{number}"),
            (11, 600, f"Text {number} stays."),
            (9, 20, f"Page {number} of 4"),
        ]
        for number in range(1, 5)
    ]
    document = loaded("a.pdf", written_pdf(pages))
    assert document.text == "".join(f"Text {number} stays.\n\f" for number in range(1, 5))


def test_lines_that_come_back_in_the_body_of_a_pdf_stay() -> None:
    pages = [[(11, 600, "The same criterion."), (11, 580, f"Value {number}.")] for number in range(4)]
    assert loaded("a.pdf", written_pdf(pages)).text.count("The same criterion.") == 4


# Office


_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def written_docx(body: str) -> bytes:
    """A minimal Word file around the XML of its body."""
    part = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{part}.document.main+xml"/>'
        f'<Override PartName="/word/styles.xml" ContentType="{part}.styles+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{_OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
        "word/styles.xml": f'<w:styles xmlns:w="{_WORD}"><w:style w:type="paragraph" w:styleId="H1">'
        '<w:name w:val="heading 1"/></w:style></w:styles>',
        "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as package:
        for name, content in parts.items():
            package.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{content}')
    return file.getvalue()


def paragraph(words: str, style: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r><w:t>{words}</w:t></w:r></w:p>"


def test_a_word_file_keeps_its_headings_and_tables() -> None:
    rows = "".join(
        f"<w:tr>{''.join(f'<w:tc>{paragraph(words)}</w:tc>' for words in row)}</w:tr>"
        for row in (("Size", "Chips"), ("trn1|x", "16"))
    )
    body = paragraph("Choosing", "H1") + paragraph("Trainium trains.") + f"<w:tbl>{rows}</w:tbl>"
    document = loaded("a.docx", written_docx(body))
    assert document.title == "Choosing"
    assert document.text == ("# Choosing\n\nTrainium trains.\n\n| Size | Chips |\n| --- | --- |\n| trn1\\|x | 16 |\n")


def test_a_slide_ends_with_a_form_feed() -> None:
    from pptx import Presentation
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    deck = Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "First"
    first.placeholders[1].text = "one\ntwo"
    first.notes_slide.notes_text_frame.text = "Say this."
    second = deck.slides.add_slide(deck.slide_layouts[5])
    second.shapes.title.text = "Second"
    table = second.shapes.add_table(2, 1, Inches(1), Inches(2), Inches(4), Inches(1)).table
    table.cell(0, 0).text, table.cell(1, 0).text = "Size", "trn1"
    figures = CategoryChartData()
    figures.categories = ["A", "B"]
    figures.add_series("Cost", (1.5, 2))
    second.shapes.add_chart(XL_CHART_TYPE.PIE, Inches(1), Inches(4), Inches(4), Inches(2), figures)
    assert loaded("a.pptx", saved(deck.save)).text == (
        "## First\n\n- one\n- two\n\nNotes: Say this.\n\f"
        "## Second\n\n| Size |\n| --- |\n| trn1 |\n\n|  | Cost |\n| --- | --- |\n| A | 1.5 |\n| B | 2 |\n\f"
    )


@pytest.mark.parametrize(
    ("series", "kind", "table"),
    [
        ({"one": (1, 2), "two": (3,)}, b"barChart", "|  | one | two |\n| --- | --- | --- |\n| A | 1 | 3 |\n| B | 2 |  |\n\n"),
        ({"one": (1,), "two": (3, 4)}, b"barChart", "|  | one | two |\n| --- | --- | --- |\n| A | 1 | 3 |\n| B |  | 4 |\n\n"),
        ({"one": (1, 2)}, b"bar3DChart", ""),
        ({}, b"barChart", ""),
    ],
)
def test_no_chart_keeps_a_presentation_from_being_read(series: dict[str, tuple[int, ...]], kind: bytes, table: str) -> None:
    from pptx import Presentation
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.oxml import parse_xml

    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    figures = CategoryChartData()
    figures.categories = ["A", "B"]
    for name, values in series.items():
        figures.add_series(name, values)
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 100, 100, figures).chart
    chart.part._element = parse_xml(chart.part.blob.replace(b"barChart", kind))
    slide.shapes.add_textbox(0, 200, 100, 100).text_frame.text = "Words below."
    assert loaded("a.pptx", saved(deck.save)).text == f"{table}Words below.\n\f"


def test_a_sheet_is_a_section_and_its_cells_are_shown_as_in_the_sheet() -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Sizes"
    for row in (["As of 2023"], [], ["Size", None, "Share", "Day"], ["trn1", None, 0.07, date(2023, 1, 2)]):
        sheet.append(row)
    sheet["C4"].number_format = "0%"
    book.create_sheet("Nothing in it")
    book.create_sheet("More").append(["one", 2.5])
    assert loaded("a.xlsx", saved(book.save)).text == (
        "## Sizes\n\nAs of 2023\n\n| Size | Share | Day |\n| --- | --- | --- |\n| trn1 | 7% | 2023-01-02 |\n\n"
        "## More\n\n| one | 2.5 |\n| --- | --- |\n"
    )


def test_a_package_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import openpyxl

    from ingest.formats import office

    monkeypatch.setattr(office, "_LARGEST_UNPACKED", 1000)
    assert "unpacks to more than" in reason("a.xlsx", saved(openpyxl.Workbook().save))


# CSV and JSON


def test_a_csv_file_is_one_table() -> None:
    data = '\ufeffsize;chips;note\r\ntrn1.2xlarge;1;"a|b\r\nc"\r\ntrn1.32xlarge;16\r\n\r\n'
    assert loaded("a.csv", data).text == (
        "| size | chips | note |\n| --- | --- | --- |\n| trn1.2xlarge | 1 | a\\|b c |\n| trn1.32xlarge | 16 |  |\n"
    )


def test_a_csv_file_may_begin_with_empty_lines() -> None:
    assert loaded("a.csv", "\n\na;b\n1;2\n").text == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"


def test_a_large_csv_file_keeps_every_row() -> None:
    text = loaded("a.csv", "number,square\n" + "".join(f"{n},{n * n}\n" for n in range(50_000))).text
    assert text.count("\n") == 50_002
    assert text.endswith("| 49999 | 2499900001 |\n")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('[{"size": "trn1", "chips": 16}, {"size": "inf2", "hbm": 32.0}]',
         "| size | chips | hbm |\n| --- | --- | --- |\n| trn1 | 16 |  |\n| inf2 |  | 32.0 |\n"),
        ('{"name": "Trn1", "ok": true, "none": null, "sizes": ["a", "b"], "deep": {"x": {"y": 1e3}}}',
         "- name: Trn1\n- ok: true\n- none:\n\n## sizes\n\n- a\n- b\n\n## deep\n\n### x\n\n- y: 1e3\n"),
        ('[{"id": 7, "parts": [1]}, {"parts": []}]', "## 7\n\n### parts\n\n- 1\n\n## Item 2\n"),
        ('"only a text"', "only a text\n"),
        ('{"lone": "\\ud800surrogate\\fform feed"}', "- lone: surrogate form feed\n"),
    ],
)  # fmt: skip
def test_json_becomes_tables_lists_and_sections(value: str, text: str) -> None:
    assert loaded("a.json", value).text == text


def test_records_with_running_text_are_sections() -> None:
    lines = '{"title": "One", "text": "Hello.\\nMore.", "url": "u"}\n\n{"title": "Two", "content": "World."}\n'
    assert loaded("a.jsonl", lines).text == "## One\n\nHello.\nMore.\n\n- url: u\n\n## Two\n\nWorld.\n"


def test_frequent_questions_are_sections_and_keys_are_not() -> None:
    lines = '{"question": "Does it train?", "answer": "No. It only serves models."}\n'
    assert loaded("a.jsonl", lines).text == "## Does it train?\n\nNo. It only serves models.\n"
    keys = '{"question": "Which?", "answer": "C"}\n'
    assert loaded("a.jsonl", keys).text == "| question | answer |\n| --- | --- |\n| Which? | C |\n"


# Anything at all


@pytest.mark.parametrize("suffix", sorted(SUFFIXES))
@given(data=st.binary(max_size=200))
def test_any_bytes_give_a_document_or_a_reason(suffix: str, data: bytes) -> None:
    with suppress(CorpusError):
        assert loaded(f"a{suffix}", data).text.strip()


_WHOLE = {
    ".pdf": written_pdf([[(18, 700, "Head")], [(11, 700, "Body")]]),
    ".docx": written_docx(paragraph("Choosing", "H1")),
    ".html": _PAGE.encode(),
    ".rst": b"Title\n=====\n\n.. list-table::\n\n   * - a\n     - b\n\n.. [1] note\n\n:role:`x` `y`_ |z|\n",
    ".json": b'{"a": [{"b": 1}, [2, {"c": null}]], "text": "t"}',
    ".md": b"---\ntitle: [a, b]\n---\n# Head\n\n| a |\n| - |\n",
}


@pytest.mark.parametrize("suffix", sorted(_WHOLE))
@given(data=st.data())
@settings(deadline=None)
def test_a_damaged_file_gives_a_document_or_a_reason(suffix: str, data: st.DataObject) -> None:
    damaged = bytearray(_WHOLE[suffix])
    for _ in range(data.draw(st.integers(1, 5))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    with suppress(CorpusError):
        assert loaded(f"a{suffix}", bytes(damaged)).text.strip()


def test_what_a_parser_stumbles_on_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    import pptx

    def stumble(_: object) -> None:
        raise AttributeError("no such part")

    monkeypatch.setattr(pptx, "Presentation", stumble)
    assert "damaged" in reason("a.pptx", written_docx(""))


def test_a_byline_names_the_publisher_and_a_run_together_heading_the_title() -> None:
    text = "Answer: B\n## How Chips Are Made: Sand is melted in a furnace for a long time, as is known, and then it is drawn into a thin rod that is sawn into many wafers, each of which is polished until it is as flat as can be, and then some. ### Steps: 1. **Melt** it.\nAuthor: Quizzy Editorial Team\n"
    source = loaded("a.txt", text).source
    assert (source.title, source.publisher) == ("How Chips Are Made", "Quizzy Editorial Team")


@pytest.mark.parametrize("text", ["#", "# \n\nSand is melted.", "#\n#\n"])
def test_a_heading_without_words_is_no_title(text: str) -> None:
    assert loaded("melted-sand.md", text).source.title == "melted sand"


# Input that would take forever


def test_a_sheet_with_a_cell_in_its_last_corner_is_that_cell() -> None:
    last = '<dimension ref="A1:XFD1048576"/><sheetData><row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>The last one.</t></is></c></row></sheetData>'
    assert loaded("a.xlsx", workbook(last)).text == "## Sheet\n\nThe last one.\n"


def test_a_sheet_whose_rows_never_end_is_refused() -> None:
    far = '<sheetData><row r="999999999999"><c r="A1" t="inlineStr"><is><t>far</t></is></c></row></sheetData>'
    assert reason("a.xlsx", workbook(far)) == (
        "it has a table of more than 1,048,576 rows: split it or keep the rows that matter"
    )


def test_short_rows_are_filled_up_unless_a_row_is_absurdly_wide() -> None:
    assert loaded("a.csv", "a,b\n1\n").text == "| a | b |\n| --- | --- |\n| 1 |  |\n"
    wide = loaded("a.csv", "a,b\n" + "1\n" * 10 + ",".join("9" * 10_000) + "\n").text.splitlines()
    assert (wide[0], wide[2], len(wide)) == ("| a | b |", "| 1 |", 13)


def test_records_with_nothing_in_common_are_no_table() -> None:
    common = json.dumps([{"name": "a", "size": 1}, {"name": "b"}])
    assert loaded("a.json", common).text == "| name | size |\n| --- | --- |\n| a | 1 |\n| b |  |\n"
    text = loaded("a.json", json.dumps([{f"key {number}": number} for number in range(1_000)])).text
    assert text.startswith("## Item 1\n\n- key 0: 0\n\n## Item 2\n\n- key 1: 1\n")


def test_what_a_document_says_of_itself_is_plain_and_short() -> None:
    front = '---\ntitle: "\\ud800{}"\npublisher: "\\udfff\\0 P"\nurl: https://a.example/{}\n---\n\nWords.\n'
    source = loaded("a.md", front.format("t" * 1_000, "u" * 3_000)).source
    assert (source.title, source.publisher, source.url) == ("t" * 300, "P", None)


def test_a_source_is_described_in_one_line_each() -> None:
    front = "---\ntitle: |\n  Chips\n  for training\npublisher: |\n  A\n  B\nlicence: |\n  CC\n  BY\n---\n\nWords.\n"
    source = loaded("a.md", front).source
    assert (source.title, source.publisher, source.licence) == ("Chips for training", "A B", "CC BY")


def test_front_matter_has_an_end() -> None:
    text = "---\n" + "a: b\n" * 5_000 + "---\n\nWords.\n"
    assert front_matter(text) == ({}, 0)


def test_restructured_text_with_an_enormous_line_is_refused() -> None:
    assert reason("a.rst", "a " * 6_000) == "it has a line of more than 10,000 characters: break its lines"
