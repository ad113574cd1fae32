import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chatbot.answer import REFUSAL, Passage
from chatbot.llm.streaming import SentenceStream
from chatbot.llm.transcript import LONGEST, Transcript
from chatbot.verification.citations import Verified, whole
from chatbot.verification.marks import in_brackets, marked_numbers
from ingest import Chunk, Document, Source

TEXT = """A trn1.32xlarge has 512 GB of accelerator memory. Training costs USD 2,091 on comparable instances.

The L4 draws 72 W. Inferentia serves models at 70% lower cost.

| Instance | Chips | Network |
|---|---|---|
| trn1.32xlarge | 16 Trainium | 800 Gbps |
| inf2.48xlarge | 12 Inferentia2 | 100 Gbps |
"""
DOCUMENT = Document("notes.md", Source("notes", "Notes"), "Notes", TEXT)
HALF = TEXT.index("The L4")
EVIDENCE = whole(
    (
        Passage(1, Chunk("one", DOCUMENT, ("Trn1",), 0, HALF, TEXT[:HALF]), 1.0),
        Passage(2, Chunk("two", DOCUMENT, (), HALF, len(TEXT), TEXT[HALF:]), 0.5),
    )
)
GIVEN = ("A. The L4", "B. Use trn1. It is large", "A. The L4: small")
SHOWN_HALF = re.compile(r"\[\s*+\d[\d\s,;–-]*+(?!\])|\[\s*$")
HALF_A_MARK = re.compile(r"\[(?!\s*\d[\d\s,;–-]*\])")
# Pieces of what models write, complete and incomplete, combined in any order.
SCRAPS = (
    "The L4 draws 72 W [2].", "The L4 draws 72 W. [2]", "The L4 draws 72 W [2]", "The L4 draws 75 W [2].", "Yes.", "No. ", " ", "\n", "\n\n\n", "\r", "\r\n",
    "A trn1.32xlarge has 512 GB of accelerator memory [1].", "Training costs $2091 [1, 2]. ", "[1]", "[2", "]", "[9].", "- ", "1. ", "e.g. ", "A. The L4: ",
    "A. The L4: small: ", "B. Use trn1. It is large: ", f"{REFUSAL} ", f"- B200: {REFUSAL}", "## Power\n", "Why:\n", "| Instance | Chips |\n", "|---|---|\n", "| trn1.32xlarge | 16 Trainium |\n", "| inf2.48xlarge | 16 |", "The L4 draws 72 W [^2].",
    "The L4 draws 72 W (2).", "The sources do not say what it costs.", "**Cost**\n", "Inferentia serves models at 70% lower cost ", " . ", "See https://x.io [2].",
)  # fmt: skip
DRAFTS = st.lists(st.one_of(st.sampled_from(SCRAPS), st.text(alphabet="[]12,-. \n\rTheL4draws72W:", max_size=8))).map(
    "".join
)


def streamed(text: str, cuts: list[int]) -> tuple[Verified, list[str]]:
    """Stream the text cut at the given places; return the verified result and each piece that was shown."""
    stream = SentenceStream(EVIDENCE, GIVEN)
    places = sorted({min(cut, len(text)) for cut in cuts})
    pieces = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    shown = [*(stream.push(piece) for piece in pieces), stream.close()]
    return stream.verified, shown


@settings(max_examples=40)
@given(DRAFTS, st.lists(st.integers(0, 200)))
@example("B. Use trn1. It is large: The L4 draws 72 W [2].", list(range(60)))
@example("Yes. The L4 draws 72 W. [2] The L4 draws 72 W [2].", list(range(60)))
def test_any_split_gives_what_the_text_in_one_piece_gives(text: str, cuts: list[int]) -> None:
    verified, shown = streamed(text, cuts)
    assert "".join(shown) == verified.text
    assert verified == streamed(text, [])[0]
    assert "https:" not in verified.text
    assert bool(verified.text) is bool(verified.citations)


@settings(max_examples=40)
@given(DRAFTS, st.lists(st.integers(0, 200)))
def test_no_half_citation_is_ever_shown(text: str, cuts: list[int]) -> None:
    verified, shown = streamed(text, cuts)
    numbers = {c.number for c in verified.citations}
    for piece in shown:
        assert not SHOWN_HALF.search(piece)
        assert all(set(marked_numbers(mark)) <= numbers for mark in re.findall(r"\[\d[^\]]*\]", piece))


def test_a_sentence_is_shown_as_soon_as_its_marks_are_there() -> None:
    stream = SentenceStream(EVIDENCE)
    pieces = ["The L4 dr", "aws 72 W [", "2]. ", "A trn1.32xlarge", " has 512 GB of accelerator memory.", " [1]", "\n"]
    assert [stream.push(piece) for piece in pieces] == [
        "", "", "", "The L4 draws 72 W [1].", "", "", " A trn1.32xlarge has 512 GB of accelerator memory [2].",
    ]  # fmt: skip


def test_a_mark_that_was_cut_off_is_not_shown_and_its_sentence_is() -> None:
    assert streamed("The L4 draws 72 W [2][", [])[0].text == "The L4 draws 72 W [1]."
    assert streamed("The L4 draws 72 W [2", [])[0].text == "The L4 draws 72 W [1]."
    assert streamed("The L4 draws 75 W [2", [])[0].text == ""


def shown(text: str) -> str:
    return streamed(text, [])[0].text


def test_the_cells_of_a_table_are_checked_one_by_one() -> None:
    table = "| Instance | Chips | Network |\n|:--|--:|---|\n| **trn1.32xlarge** | 16 | 800 Gbps [2] |\n| inf2.48xlarge | 16 Inferentia2 | 100 Gbps |\n| Trn9 | 12 | n/a |\n"
    verified, _ = streamed(f"In short:\n\n{table}", [])
    assert verified.text == (
        "In short:\n\n| Instance | Chips | Network |\n| --- | --- | --- |\n| **trn1.32xlarge** | 16 [1] | 800 Gbps [1] |\n| inf2.48xlarge | – | 100 Gbps [2] |"
    )
    assert verified.dropped == ("inf2.48xlarge: Chips: 16 Inferentia2", "Trn9: Chips: 12")


def test_a_row_that_does_not_hold_leaves_no_gap_and_a_count_may_be_written_with_a_cross() -> None:
    table = "| Instance | Chips |\n|---|---|\n| Trn9 | 12 |\n| trn1.32xlarge | 16 × Trainium [2] |\n| inf2.48xlarge | 16 × Inferentia2 |\n"
    assert shown(table) == "| Instance | Chips |\n| --- | --- |\n| trn1.32xlarge | 16 × Trainium [1] |"


@pytest.mark.parametrize("corner", ["", " ", "Property"])
def test_a_table_without_a_name_in_its_corner_keeps_its_columns(corner: str) -> None:
    table = f"|{corner}|trn1.32xlarge|inf2.48xlarge|\n|---|---|---|\n|Chips|16 Trainium|12 Inferentia2|\n|Network||100 Gbps|\n"
    assert shown(table) == (
        f"| {corner.strip()} | trn1.32xlarge | inf2.48xlarge |\n| --- | --- | --- |\n| Chips | 16 Trainium [1] | 12 Inferentia2 [2] |\n| Network | – | 100 Gbps [2] |"
    )


def test_a_heading_is_shown_with_the_first_thing_under_it_that_holds() -> None:
    text = "# Power\n\n## The L4\n\nThe L4 draws 72 W [2].\n\n## Cost\n\nIt costs $3 [2].\n\n## Serving\n\n- Inferentia serves models at 70% lower cost [2].\n"
    assert shown(text) == "# Power\n\n## The L4\n\nThe L4 draws 72 W [1].\n\n## Serving\n\n- Inferentia serves models at 70% lower cost [2]."


def test_a_lead_may_end_a_line_of_sentences() -> None:
    text = "The L4 draws 72 W [2]. Why that matters:\n\n- Inferentia serves models at 70% lower cost [2].\n"
    assert shown(text) == "The L4 draws 72 W [1]. Why that matters:\n\n- Inferentia serves models at 70% lower cost [2]."


def test_lists_keep_their_depth() -> None:
    text = "- **Power**:\n  - The L4 draws 72 W [2].\n  1. The L4 draws 75 W [2].\n"
    assert shown(text) == "- **Power**:\n  - The L4 draws 72 W [1]."


@pytest.mark.parametrize("key", ["[2]", "[[2]]", "[^2]", "[Passage 2]", "[source: 2]", "<sup>2</sup>", "(source 2)", "(2)", "²", "[2, 9]"])
def test_a_key_is_understood_in_any_dress(key: str) -> None:
    assert shown(f"The L4 draws 72 W {key}.") == "The L4 draws 72 W [1]."


@pytest.mark.parametrize("power", ["10²⁴ FLOP", "6.3×10²⁴ FLOP", "(10⁶ tokens)", "about 10² users"])
def test_a_power_of_ten_is_no_key(power: str) -> None:
    assert in_brackets(power, 4) == power


def test_sentences_without_a_key_lean_on_the_end_of_their_paragraph_or_on_all_there_is() -> None:
    assert shown("The L4 draws 72 W. Inferentia serves models at 70% lower cost [2].") == "The L4 draws 72 W [1]. Inferentia serves models at 70% lower cost [2]."
    assert shown("The L4 draws 72 W.\n\nThe L4 is green.") == "The L4 draws 72 W [1]."


def test_what_the_sources_do_not_say_may_be_said_without_a_source() -> None:
    assert shown("The L4 draws 72 W [2]. The sources do not say what it costs.") == "The L4 draws 72 W [1]. The sources do not say what it costs."
    assert shown("The L4 draws 72 W [2]. The sources do not mention the MI999.") == "The L4 draws 72 W [1]."
    only = SentenceStream(EVIDENCE)
    assert (only.push("The passages do not give its price.\n") + only.close(), only.refuses) == ("", True)


@pytest.mark.parametrize(
    ("sentence", "free"),
    [
        ("However, the sources do not say what it costs and how long it takes.", True),
        ("The sources, however, do not give its price, its power or its size.", False),  # the commas may join anything
        ("The sources do not give its price or its power.", True),
        ("What it costs is not stated in the sources.", True),
        ("The sources do not mention it, so Graviton is always the right choice.", False),
        ("The sources do not mention it and Graviton is always the right choice.", False),
        ("The sources do not mention Graviton, which is always the right choice.", False),
        ("The sources do not say – Graviton is always the right choice.", False),
        ("The sources favour Graviton and do not name another.", False),
        ("Graviton is always right, but its price is not stated in the sources.", False),
    ],
)
def test_a_claim_beside_what_the_sources_do_not_say_is_checked(sentence: str, free: bool) -> None:
    assert shown(f"The L4 draws 72 W [2]. {sentence}") == f"The L4 draws 72 W [1].{f' {sentence}' * free}"


def test_a_text_that_goes_round_in_circles_is_left() -> None:
    stream = SentenceStream(EVIDENCE)
    pieces = [stream.push("The L4 draws 72 W [2].\n") for _ in range(4)]
    assert ("".join(pieces), stream.loops) == ("The L4 draws 72 W [1].", True)


def test_nothing_is_shown_of_a_text_that_opens_with_the_refusal() -> None:
    assert streamed(f"{REFUSAL} The L4 draws 72 W [2].", []) == (Verified("", (), ()), ["", ""])


def test_one_section_without_an_answer_does_not_discard_the_others() -> None:
    verified, _ = streamed(f"## Cost\n{REFUSAL}\n\n## Power\nThe L4 draws 72 W [2].", [])
    assert verified.text == f"## Cost\n{REFUSAL}\n\n## Power\nThe L4 draws 72 W [1]."


@given(st.text(alphabet="<think>/ ab\n\u200b\x1b【】", max_size=60), st.lists(st.integers(0, 60)))
@example("<think>The L4 [2].</think>An answer", [3, 5, 20])
def test_what_a_model_thinks_first_is_not_its_answer_however_it_is_cut(text: str, cuts: list[int]) -> None:
    places = sorted({min(cut, len(text)) for cut in cuts})
    pieces = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    in_pieces, at_once = Transcript(), Transcript()
    assert "".join(map(in_pieces.take, pieces)) + in_pieces.rest() == at_once.take(text) + at_once.rest()


def test_thoughts_and_characters_that_do_not_show_are_left_out() -> None:
    transcript = Transcript()
    assert transcript.take("\n<think>72 W [2].</think>The\u202e L4\x1b【2】\U000e0041") == "The L4[2]"


@pytest.mark.parametrize(
    "text",
    [
        "<thinking>72 W.</thinking>\nYes.", "<seed:think>72 W.</seed:think>Yes.", "[THINK]72 W.[/THINK]Yes.", "◁think▷72 W.◁/think▷Yes.", "<think>\n</think>\nYes.",
        "<|channel|>analysis<|message|>72 W.<|end|><|start|>assistant<|channel|>final<|message|>Yes.",
    ],
)  # fmt: skip
def test_thoughts_are_known_by_the_marks_of_each_family(text: str) -> None:
    transcript = Transcript()
    assert ("".join(map(transcript.take, text)) + transcript.rest()).strip() == "Yes."
    assert transcript.has_thought


@pytest.mark.parametrize("text", ["[2] says so.", "<b>Yes</b>", "< 72 W", "[T", "Yes."])
def test_what_only_looks_like_the_mark_of_a_thought_is_kept(text: str) -> None:
    transcript = Transcript()
    assert "".join(map(transcript.take, text)) + transcript.rest() == text


def test_no_more_than_the_longest_answer_is_read() -> None:
    transcript = Transcript()
    assert transcript.take("a" * (LONGEST - 1)) + transcript.take("bcd") == "a" * (LONGEST - 1) + "b"
    assert transcript.is_full
