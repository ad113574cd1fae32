import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.chunking import LIMIT, MOST, chunks_with_context
from ingest.document import Chunk, Document, Source
from ingest.lines import clean_title

SEEDS = Path(os.environ.get("WATTWISE_SEEDS", Path(__file__).resolve().parents[1] / "../shared/seeds"))


def document(text: str, *, id: str = "doc") -> Document:
    return Document(id, Source(id, "Title"), "Title", text)


def chunk(whole: Document) -> tuple[Chunk, ...]:
    return tuple(piece for piece, _ in chunks_with_context(whole))


def contexts(text: str) -> list[str]:
    return [context for _, context in chunks_with_context(document(text))]


def outline(text: str) -> list[tuple[tuple[str, ...], str]]:
    return [(piece.headings, piece.text) for piece in chunk(document(text))]


def sentences(count: int, *, about: str = "chip") -> str:
    return " ".join(f"Sentence {number} tells one more thing about the {about}." for number in range(count))


def check(pieces: tuple[Chunk, ...], whole: Document) -> None:
    position = 0
    for piece in pieces:
        assert whole.text[piece.start : piece.end] == piece.text
        assert piece.text.strip() == piece.text != ""
        assert piece.start >= position
        assert "\f" not in piece.text
        position = piece.end
    assert len({piece.id for piece in pieces}) == len(pieces)


# Sections and headings


def test_each_section_is_a_chunk_under_its_path_of_headings() -> None:
    text = "# Chips\n\nIntro.\n\n## Training ##\n\nTrain here.\n\n### Cost\n\nCheap.\n\n## Serving\n\nServe here.\n"
    assert outline(text) == [
        (("Chips",), "Intro."),
        (("Chips", "Training"), "Train here."),
        (("Chips", "Training", "Cost"), "Cheap."),
        (("Chips", "Serving"), "Serve here."),
    ]


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        ('Release \\(2020\\)<a name="release"></a>', "Release (2020)"),
        ("### 1. **Fast *and* cheap**", "1. Fast and cheap"),
        ("## See [the guide](https://example.com/a_b) {#guide}", "See the guide"),
        ("## Criteria: ##", "Criteria"),
        ("## `max_batch_size` and _other_ settings", "max_batch_size and other settings"),
        ("## C# and <instance>", "C# and <instance>"),
        ("batch\\_count", "batch_count"),
        ("#### [ Linux ]", "Linux"),
    ],
)
def test_headings_travel_without_markup(raw: str, title: str) -> None:
    assert clean_title(raw) == title


def test_underlined_headings_count_and_a_paragraph_over_a_rule_does_not() -> None:
    paragraph = sentences(8)
    assert outline(f"Chips\n=====\n\nIntro.\n\nCost\n----\n\nCheap.\n\n{paragraph}\n---\n") == [
        (("Chips",), "Intro."),
        (("Chips", "Cost"), f"Cheap.\n\n{paragraph}\n---"),
    ]


def test_a_heading_that_nothing_stands_under_is_text() -> None:
    assert outline("# Only\n") == [((), "# Only")]
    assert outline("# Slides\n\n## One\n\n## Two\n") == [(("Slides",), "## One\n\n## Two")]
    assert outline("# A\n\nText.\n\n## Saves 50 %\n\n# B\n\nMore.\n")[0] == (("A",), "Text.\n\n## Saves 50 %")


def test_bold_and_italic_lines_are_headings_below_all_others() -> None:
    text = (
        "## Boards\n\n**Maker One (big):**\n\n*For training:*\n- **A1**: large\n\n*For serving:*\n- B1\n\n"
        "**Maker Two**\nC1 does both.\n\n## Next\n\nEnd.\n"
    )
    assert outline(text) == [
        (("Boards", "Maker One (big)", "For training"), "- **A1**: large"),
        (("Boards", "Maker One (big)", "For serving"), "- B1"),
        (("Boards", "Maker Two"), "C1 does both."),
        (("Next",), "End."),
    ]


@pytest.mark.parametrize(
    "line", ["**Note**", "**Important:**", "**It costs half.**", "*Prices vary.*", "**Answer: B**", "**a** and **b**"]
)
def test_remarks_and_sentences_in_bold_open_no_section(line: str) -> None:
    assert outline(f"# A\n\n{line}\nText goes on.\n") == [(("A",), f"{line}\nText goes on.")]


def test_a_label_right_after_a_list_ends_the_list() -> None:
    text = '# A\n\n- one\n- two\n**Label:**\n- three\n<a name="x"></a>\n**Other**  \nText.\n'
    assert outline(text) == [(("A",), "- one\n- two"), (("A", "Label"), "- three"), (("A", "Other"), "Text.")]


def test_a_label_inside_an_item_or_a_fence_stays_inside() -> None:
    text = "- item\n\n  **Label:**\n  text\n\n```\n**Label:**\n# comment\n```\n"
    assert outline(text) == [((), text.strip())]


def test_front_matter_is_left_out() -> None:
    assert outline("---\ntitle: T\ntags:\n - a\n---\n\n# A\n\nText.\n") == [(("A",), "Text.")]
    assert outline("---\n\nA rule, then text.\n") == [((), "A rule, then text.")]


# Plain text


PLAIN = """Core Idea
The Foo accelerator is a chip made for training, and it is sold by the hour in two sizes.
At a Glance
Purpose → training of models (100 billion parameters).
Price → half of that of other chips.
When It Fits
Take Foo when:
- The model is large.
- Money is short.
Case
A laboratory trains a model on a cluster of sixteen machines over three long weeks.
Numbers to Remember for the Test
Foo machine → up to 16 chips per machine
Footprint → the lowest of all the kinds of machines
Main Difference: Foo vs Bar
Foo → for TRAINING
Foo1 machines
50% lower cost of training
Bar → for SERVING (answers)
Bar1 / Bar2 machines
70% lower cost of serving
Last Rule
To train → Foo.
To serve, or to answer at all → Bar.
"""


def test_short_lines_in_title_case_are_headings_of_a_plain_text() -> None:
    assert [headings for headings, _ in outline(PLAIN)] == [
        ("Core Idea",),
        ("At a Glance",),
        ("When It Fits",),
        ("Case",),
        ("Numbers to Remember for the Test",),
        ("Main Difference: Foo vs Bar",),
        ("Last Rule",),
    ]


ARTICLE = f"""Spend less energy on the training and serving of your models with chips that were made for nothing else

{sentences(6)}

Chips for greener models

We measured with three things in mind:

  • First, the whole machine counts: {sentences(2)}
  • Second, machines ran at their limit.

The findings stand in the following sections.

Serving experiment: reading forms with a model

The model reads forms. Both machines were measured, and the findings are shown in the following figure.

Speed, Price and Energy in the Serving Experiment

The first machine was six times faster: {sentences(3)}

Price: 40 dollars an hour

About the rest {sentences(2)}
"""


def test_lines_that_stand_alone_are_headings_of_a_plain_article() -> None:
    title, chips, serving, figure = (
        ARTICLE.splitlines()[0],
        "Chips for greener models",
        "Serving experiment: reading forms with a model",
        "Speed, Price and Energy in the Serving Experiment",
    )
    found = outline(ARTICLE)
    assert [headings for headings, _ in found] == [
        (title,),
        (title, chips),
        (title, serving),
        (title, serving, figure),
    ]
    assert "Price: 40 dollars an hour" in found[-1][1]


@pytest.mark.parametrize(
    "text",
    [
        "Name: Foo\nKind: Chip\nPrice: Low And Falling\n",
        "Text.\nThis Line Was Wrapped By An Editor That Counts To Sixty\nMany Letters And\nThen goes on, as it does.\n",
        "The words of a sentence that a narrow column\nbroke in the middle and that then goes on for long.\n",
        "Pick one:\nA. First Choice\nB. Second Choice\n",
        "To train → Foo\nTo serve → Bar, which is a good deal cheaper.\n",
    ],
)
def test_other_short_lines_are_no_headings(text: str) -> None:
    assert outline(text) == [((), text.strip())]


def test_plain_headings_are_not_looked_for_where_markdown_has_headings() -> None:
    text = "# A\n\nShort Line\nA sentence that is longer than the line above it.\n"
    assert outline(text) == [(("A",), "Short Line\nA sentence that is longer than the line above it.")]


# Long lines that lost their line breaks


def test_one_enormous_line_is_split_at_its_inline_marks() -> None:
    first = "- **C kind (general)**: " + sentences(9)
    second = "- **G kind (graphics)**: " + sentences(9)
    numbered = f"1. **Made for it**: {sentences(3)} 2. **Frugal**: {sentences(3)}"
    line = (
        f"## Which Machine to Take for Training When picking a machine, look at energy. These are on offer: "
        f"### Kinds Compared: {first} {second} ### Why Foo Wins: {numbered} ### Conclusion: Take Foo. {sentences(3)}"
    )
    title = "Which Machine to Take for Training"
    assert outline(f"{line}\nWhich is greenest?\nA\nFoo\n") == [
        ((title,), "When picking a machine, look at energy. These are on offer:"),
        ((title, "Kinds Compared"), f"{first} {second}"),
        ((title, "Why Foo Wins"), numbered),
        ((title, "Conclusion"), f"Take Foo. {sentences(3)}"),
        ((), "Which is greenest?\nA\nFoo"),
    ]


def test_items_of_an_enormous_line_are_never_cut_in_two() -> None:
    items = [f"- **Kind {number}**: {sentences(10)}" for number in range(5)]
    assert [text for _, text in outline(f"## Kinds: {' '.join(items)} ## End: x")][:-1] == items


# Lists, tables, code


def test_a_long_list_is_split_between_top_level_items_and_keeps_its_lead_in() -> None:
    items = [f"- **Item {number}**: {sentences(5)}\n  - nested {sentences(4)}" for number in range(6)]
    whole = document("# A\n\n" + sentences(2) + " Consider:\n\n" + "\n".join(items) + "\n")
    pieces = chunk(whole)
    check(pieces, whole)
    assert len(pieces) > 2
    assert pieces[0].text.startswith("Sentence 0")
    assert pieces[0].text.endswith(items[0])
    assert all(piece.text.startswith("- **Item") for piece in pieces[1:])
    assert set(contexts(whole.text)[1:]) == {"Consider:"}


def test_an_item_too_long_for_a_chunk_travels_with_its_parts() -> None:
    nested = "\n".join(f"  - Part {number}: {sentences(4)}" for number in range(8))
    whole = document(f"- **Parent**: the reason\n{nested}\n")
    pieces = chunk(whole)
    check(pieces, whole)
    assert contexts(whole.text)[1:] == ["Parent: the reason"] * (len(pieces) - 1)
    assert "\n".join(re.split(r"\n\s*", whole.text.strip())) == "\n".join(
        line.strip() for piece in pieces for line in piece.text.split("\n")
    )


def test_a_table_is_whole_where_it_fits() -> None:
    table = "| Size | Chips |\n| --- | --- |\n| small | 1 |\n| large | 16 |"
    assert outline(f"## Sizes\n\n{table}\n\n*Prices vary.*\n") == [(("Sizes",), f"{table}\n\n*Prices vary.*")]


def test_rows_of_a_long_table_are_never_without_their_header() -> None:
    rows = [f"| m{number}.large | {number} | {number * 4} GB |" for number in range(200)]
    whole = document("The sizes are:\n\n| Name | **CPUs** | Memory |\n|---|:---:|---|\n" + "\n".join(rows) + "\n")
    first, *others = pieces = chunk(whole)
    check(pieces, whole)
    assert first.text.startswith("The sizes are:\n\n| Name |")
    assert contexts(whole.text) == ["", *["The sizes are:\nName | CPUs | Memory"] * len(others)]
    assert len(others) > 3
    for piece in others:
        assert piece.text.startswith("| m")
        assert piece.text.endswith("GB |")
    assert [row for piece in pieces for row in piece.text.splitlines() if row.startswith("| m")] == rows


def test_a_sentence_that_announces_the_following_travels_with_the_rows() -> None:
    rows = "\n".join(f"| m{number}.large | {number} |" for number in range(100))
    _, *others = contexts(f"Text. The following table lists sizes\\.\n\n| Name | CPUs |\n|---|---|\n{rows}\n")
    assert set(others) == {"The following table lists sizes.\nName | CPUs"}


def test_cells_that_run_over_several_lines_stay_in_their_row() -> None:
    rows = [
        f"| Change {number} | {sentences(4)}\n\n[link](x.md)  \n{sentences(4)} | May {number} |" for number in range(4)
    ]
    whole = document("| What | How | When |\n| --- |--- |--- |\n" + "\n".join(rows) + "\n\nAfter.\n")
    pieces = chunk(whole)
    check(pieces, whole)
    assert [piece.text for piece in pieces[1:3]] == rows[1:3]
    assert contexts(whole.text)[1] == "What | How | When"


def test_parts_of_a_row_too_long_for_a_chunk_carry_header_and_first_cell() -> None:
    whole = document(f"| Name | Text |\n|---|---|\n| short | x |\n| long one | {sentences(80)} |\n")
    pieces = chunk(whole)
    check(pieces, whole)
    assert set(contexts(whole.text)[2:]) == {"Name | Text\nlong one"}
    assert all(len(piece.text) <= MOST for piece in pieces)


def test_code_stays_whole_where_it_fits_and_is_cut_between_lines() -> None:
    short = "```sh\n" + "run --fast\n" * 60 + "```"
    assert outline(f"{sentences(10)}\n\nRun:\n\n{short}\n")[1] == ((), f"Run:\n\n{short}")
    lines = [f"call_number({number})" for number in range(200)]
    pieces = chunk(document("```\n" + "\n".join(lines) + "\n```\n"))
    assert [line for piece in pieces for line in piece.text.splitlines()][1:-1] == lines


def test_long_paragraphs_are_cut_between_sentences() -> None:
    pieces = chunk(document(sentences(100)))
    assert " ".join(piece.text for piece in pieces) == sentences(100)
    assert all(piece.text.startswith("Sentence") and piece.text.endswith(".") for piece in pieces)
    assert all(400 < len(piece.text) <= LIMIT for piece in pieces)


def test_one_word_without_end_is_cut_all_the_same() -> None:
    assert "".join(text for _, text in outline("x" * 5_000)) == "x" * 5_000


# Web page boilerplate, pages, ids


@pytest.mark.parametrize(
    "line",
    [
        "Share on LinkedIn",
        "No comments yet.",
        "Full access to all articles.",
        "How Chips Are Made | by Jo Doe | Jun, 2023",
        "Page 3 of 10",
        '<a name="p3-instances"></a>',
    ],
)
def test_residue_of_web_pages_is_left_out(line: str) -> None:
    assert outline(f"# A\n\nText.\n{line}\n") == [(("A",), "Text.")]
    assert outline(f"{line}\n\n# A\n\nText.\n") == [(("A",), "Text.")]


@pytest.mark.parametrize("line", ["Share this with your team, it matters.", "Home is where the chip is", "Comments"])
def test_sentences_that_resemble_residue_stay(line: str) -> None:
    assert outline(f"# A\n\nText.\n\n{line}\n")[-1][1].endswith(line)


def test_pages_are_counted_by_form_feeds_and_headings_go_on_over_them() -> None:
    whole = document("# A\n\nOne.\n\f\nTwo.\n\n## B\n\f\nThree.\n\f## C\n\f")
    assert [(piece.page, piece.headings, piece.text) for piece in chunk(whole)] == [
        (1, ("A",), "One."),
        (2, ("A",), "Two."),
        (3, ("A", "B"), "Three."),
        (4, ("A",), "## C"),
    ]
    assert chunk(document("No pages."))[0].page is None


def test_unchanged_chunks_keep_their_ids() -> None:
    before = chunk(document("# A\n\nOne.\n\n# B\n\nTwo.\n"))
    after = chunk(document("# A\n\nOne.\n\n# B\n\nThree.\n"))
    assert [piece.id for piece in before][:1] == [piece.id for piece in after][:1]
    assert before[1].id != after[1].id
    assert re.fullmatch("[0-9a-f]{16}", before[0].id)
    assert chunk(document("# A\n\nOne.\n", id="other"))[0].id != before[0].id


def test_blank_text_gives_no_chunk() -> None:
    assert chunk(document(" \n\n\f\n")) == ()


def test_a_large_table_is_chunked_in_seconds() -> None:
    rows = "".join(f"| name {number} | 12.5 | words in a cell | eu-west-1 |\n" for number in range(20_000))
    found = contexts("| a | b | c | d |\n|---|---|---|---|\n" + rows)
    assert len(found) > 800
    assert set(found[1:]) == {"a | b | c | d"}


# Properties

WORDS = st.text(st.characters(codec="utf-8"), max_size=30)
LINES = st.one_of(
    WORDS,
    st.sampled_from(
        [
            "# A", "## B:", "**Label:**", "*Label:*", "- item", "  - nested", "1. one", "| a | b |", "|---|---|",
            "| c | d", "```", "> quote", "Title Case Line", "A sentence that says something at length.", "---", "===",
            "\f", "", "No comments yet.", '<a name="x"></a>', "    code", "• bullet", "<div>", "a → b", "[a]: b", "\t",
            "text ## Inline Heading Here: - **Item**: " + "words and " * 60, "word " * 400, "x" * 1300,
        ]
    ),
)  # fmt: skip
TEXTS = st.builds(
    lambda lines, end: end.join(lines), st.lists(LINES, max_size=40), st.sampled_from(["\n", "\r\n", "\r"])
)


@given(TEXTS | st.text())
@settings(max_examples=400, deadline=None)
def test_chunks_are_ordered_exact_slices_without_overlap(text: str) -> None:
    whole = document(text)
    pieces = chunk(whole)
    check(pieces, whole)
    assert all(len(piece.text) <= MOST for piece in pieces)
    assert all(piece.page == (1 + text.count("\f", 0, piece.start) if "\f" in text else None) for piece in pieces)


PROSE = st.lists(
    st.sampled_from(
        ["# Head {}", "## Deeper {}", "**Bold {}:**", "*Italic {}:*", "- item {}", "  - nested {}", "1. step {}",
         "| {} | cell |", "| --- | --- |", "Plain words {}.", "> said {}", "```", "Words {}:", "", "", "Head Line {}"]
    ),
    max_size=40,
)  # fmt: skip


@given(PROSE)
@settings(max_examples=400, deadline=None)
def test_no_words_are_lost(lines: list[str]) -> None:
    text = "\n".join(line.format(f"number{number}") for number, line in enumerate(lines))
    pieces = chunk(document(text))
    kept = "\n".join([piece.text for piece in pieces] + [title for piece in pieces for title in piece.headings])
    assert re.findall(r"number\d+", text) == sorted(set(re.findall(r"number\d+", kept)), key=lambda word: int(word[6:]))


# The five sources in their original form


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the raw sources are not here: set WATTWISE_SEEDS to their folder")
@pytest.mark.parametrize(
    ("name", "words", "headings"),
    [
        ("000", "Trn1n", ("Instance Family Comparison",)),
        ("000", "1. **Purpose", ("Why the Trn Series is Optimal",)),
        ("000", "D\nAmazon EC2 Trn series", ()),
        ("001", "not using SageMaker", ("When to Use",)),
        ("001", "up to 16 Trainium", ("Key Numbers for the Exam",)),
        ("001", "4x throughput", ("Critical Distinction: Trainium vs Inferentia",)),
        ("002", "  • Second", ("AWS Inferentia and AWS Trainium for sustainable ML",)),
        (
            "002",
            "33 different",
            (
                "Inference experiment: Actual-time doc understanding with LayoutLM",
                "Efficiency, Value and Power Effectivity Outcomes of Inference Benchmarks",
            ),
        ),
        ("003", "trn1.32xlarge |", ("Instance Types and Specifications",)),
        ("003", "800 Gbps of", ("Key Features of EC2 Trn1 Instances", "3. Enhanced Networking Capabilities")),
        ("004", "192GB HBM3", ("Modern GPU Hardware (2025)", "AMD GPUs (Growing Ecosystem)")),
        ("004", "72W TDP", ("Modern GPU Hardware (2025)", "NVIDIA GPUs (Market Leader)", "Inference-Optimized")),
        ("004", "Edge deployment", ("Decision Matrix for Hardware Selection", "By Workload Type", "Inference serving")),
        ("004", "(estimated, workload-dependent)", ("TFLOPS per Watt (FP16 Training)",)),
    ],
)
def test_each_fact_of_the_sources_stands_under_its_headings(name: str, words: str, headings: tuple[str, ...]) -> None:
    (path,) = SEEDS.glob(f"{name}_*")
    whole = document(path.read_bytes().decode())
    pieces = chunk(whole)
    check(pieces, whole)
    found = [piece.headings[len(piece.headings) - len(headings) :] for piece in pieces if words in piece.text]
    assert headings in found
    assert not any("comments yet" in piece.text or "access to all" in piece.text for piece in pieces)


def test_a_mark_that_heads_nothing_makes_no_markdown_of_plain_text() -> None:
    text = "A Cloud Opens\n\nIt opened in Oslo today with words that go on.\n\nAbout the company\n\nIt has 620 people.\n\n###\n"
    assert outline(text)[-1] == (("A Cloud Opens", "About the company"), "It has 620 people.")


def test_rows_of_a_wide_table_carry_a_part_of_its_header() -> None:
    wide = "\n".join("| " + " | ".join([cell] * 5_000) + " |" for cell in ("name", "---", "12345"))
    found = contexts(wide)
    assert max(map(len, found)) < 2_100
    assert found[-1].startswith("name | name | name")
