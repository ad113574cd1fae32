import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.evidence import plain, sentences, units
from ingest import Chunk, Document, Source


def units_of(text: str, headings: tuple[str, ...] = ()) -> list[tuple[str, str, tuple[str, ...]]]:
    document = Document("d", Source("s", "Title"), "Title", text)
    return [(u.kind, u.plain, u.above) for u in units(Chunk("c", document, headings, 0, len(text), text))]


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


def test_sentences_end_at_full_stops_but_not_at_abbreviations() -> None:
    assert split("Use GPUs, e.g. the L4. It draws 72 W. Inferentia vs. Trainium is next.") == [
        "Use GPUs, e.g. the L4.",
        "It draws 72 W.",
        "Inferentia vs. Trainium is next.",
    ]


def test_a_nested_item_carries_the_items_above_it() -> None:
    text = "- **L4 (Ada Lovelace)**: Efficient inference\n  - 30 TFLOPS FP16, 72W TDP\n"
    assert units_of(text, ("NVIDIA",)) == [
        ("item", "L4 (Ada Lovelace): Efficient inference", ("NVIDIA",)),
        ("item", "30 TFLOPS FP16, 72W TDP", ("NVIDIA", "L4 (Ada Lovelace)")),
    ]


def test_a_row_is_read_with_its_header() -> None:
    text = "| Type | vCPUs |\n|---|---|\n| trn1.2xlarge | 8 |\n"
    assert units_of(text) == [("row", "Type: trn1.2xlarge; vCPUs: 8", ())]


@pytest.mark.parametrize(
    "text",
    [
        "||H100|A100|\n|--|--|--|\n|Memory|80 GB|40 GB|\n",
        "| | H100 | A100 |\n|-|:-:|-:|\n| Memory | 80 GB | 40 GB |\n",
        "- Memory of each:\n\n| | H100 | A100\n- | - | -\nMemory | 80 GB | 40 GB\n",
    ],
)
def test_a_row_keeps_its_columns_below_an_empty_corner_and_a_short_rule(text: str) -> None:
    assert units_of(text)[-1][:2] == ("row", "Memory; H100: 80 GB; A100: 40 GB")


def test_rows_that_begin_a_chunk_find_the_header_above_it() -> None:
    text = "| Type | vCPUs |\n|---|---|\n| trn1.2xlarge | 8 |\n| trn1.32xlarge | 128 |\n"
    start = text.index("| trn1.32xlarge")
    document = Document("d", Source("s", "Title"), "Title", text)
    (unit,) = units(Chunk("c", document, (), start, len(text), text[start:]))
    assert unit.cells == (("Type", "trn1.32xlarge"), ("vCPUs", "128"))


def test_a_line_that_names_nothing_belongs_to_the_name_above_it() -> None:
    text = "Instance type → Trn1\nCost benefit → up to 50% lower\n"
    assert units_of(text)[1] == ("item", "Cost benefit: up to 50% lower", ("Trn1",))


def test_list_items_inside_one_long_line_are_units_of_their_own() -> None:
    text = "Families differ: - **C series**: For computing. - **G series**: For graphics."
    assert [u[1] for u in units_of(text)] == ["Families differ:", "C series: For computing.", "G series: For graphics."]


def test_a_list_stands_below_the_sentence_that_announces_it() -> None:
    assert units_of("Use Trainium when:\n\n- cost matters most\n")[1] == (
        "item",
        "cost matters most",
        ("Use Trainium when",),
    )


def test_markup_is_not_read() -> None:
    assert (
        plain("- **Best** for [LoRA](https://example.com/a_(b)), `fp16` and *more*") == "Best for LoRA, fp16 and more"
    )


@given(
    st.lists(
        st.sampled_from(
            [
                "# Head",
                "- item one",
                "  - inner",
                "| a | b |",
                "|---|---|",
                "Some text. More text.",
                "",
                "```",
                "> Note: x",
                "1. one",
            ]
        )
    )
)
def test_every_unit_is_an_exact_slice(lines: list[str]) -> None:
    text = "\n".join(lines)
    document = Document("d", Source("s", "Title"), "Title", text)
    found = units(Chunk("c", document, (), 0, len(text), text))
    assert all(text[u.start : u.end] == u.text for u in found)
    assert [u.start for u in found] == sorted(u.start for u in found)


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    document = Document("d", Source("s", "Title"), "Title", text)
    assert all(text[u.start : u.end] == u.text for u in units(Chunk("c", document, (), 0, len(text), text)))


def test_a_sentence_may_end_in_a_unit_or_a_short_answer_begin_one() -> None:
    assert split(
        "It reads at 3 GB/s. Two are bridged. Up to 45 °C. No. It is slow. See No. 4 of it. He said no. Then"
    ) == [
        "It reads at 3 GB/s.",
        "Two are bridged.",
        "Up to 45 °C.",
        "No. It is slow.",
        "See No. 4 of it.",
        "He said no.",
        "Then",
    ]


def test_a_later_sentence_of_an_item_stands_below_its_first_sentence_only() -> None:
    assert units_of("1. No multi-node planning. Plan by hand.\n") == [
        ("item", "No multi-node planning.", ()),
        ("item", "Plan by hand.", ("No multi-node planning.",)),
    ]


def test_badges_are_no_evidence() -> None:
    assert units_of("[![build](https://img.example/a.svg)](#) [![licence](https://img.example/b.svg)](#)\n") == []


def test_a_number_has_the_unit_of_its_column_or_of_its_row() -> None:
    def read(text: str) -> list[tuple[float, str]]:
        document = Document("d", Source("s", "Title"), "Title", text)
        (unit,) = units(Chunk("c", document, (), 0, len(text), text))
        return [(q.low, q.dimension) for q in unit.quantities]

    assert read("| Chip | TDP (W) |\n|---|---|\n| K | 750 |\n") == [(750.0, "watts")]
    assert read("| Parameter | Max | Unit |\n|---|---|---|\n| Power | 900 | kW |\n") == [(900e3, "watts")]


def test_a_caption_stands_above_the_rows_of_its_table() -> None:
    text = "Boards tested\n\n| Board | Power |\n|---|---|\n| Orin | 15 W |\n"
    assert units_of(text) == [("row", "Board: Orin; Power: 15 W", ("Boards tested",))]


def test_of_an_exam_question_in_a_document_only_the_right_options_are_evidence() -> None:
    options = "A. Use Inf2\nB. Keep idle endpoints\nC. Use serverless\n\n"
    assert [u[1] for u in units_of(f"Which TWO help?\n\n{options}**Answers: A, C**\n")] == [
        "Which TWO help?",
        "Use Inf2",
        "Use serverless",
    ]
    assert [u[1] for u in units_of(f"Which does NOT help?\n\n{options}Answer: B\n")] == [
        "Which does NOT help?",
        "Use Inf2",
        "Use serverless",
    ]
    assert [u[1] for u in units_of(f"Which helps?\n\n{options}")] == ["Which helps?"]


def test_a_name_in_the_markup_of_a_line_owns_nothing() -> None:
    text = "      <h2>Description</h2>\n      <h3>\n      short lines\n"
    assert [words for _, words, _ in units_of(text)] == ["Description", "short lines"]


def test_escapes_of_markdown_are_not_read_out_and_make_no_citation() -> None:
    assert (
        plain(r"Identity Management \(IAM\) in [US East \(N\. Virginia\)](a\_b.md): `x\_y` \[1\] costs 2\.5 \*")
        == "Identity Management (IAM) in US East (N. Virginia): x_y costs 2.5 *"
    )
    assert plain(r"C:\Windows\System32") == r"C:\Windows\System32"
    assert plain("aws s3 ls \\\n--recursive \\") == "aws s3 ls --recursive"


def test_escaped_signs_neither_end_nor_hide_the_end_of_a_sentence() -> None:
    assert split(r"It is in US East \(N\. Virginia\)\. \(Optional\) Use it\. Then 2\.0 comes\.") == [
        r"It is in US East \(N\. Virginia\)\.",
        r"\(Optional\) Use it\.",
        r"Then 2\.0 comes\.",
    ]
