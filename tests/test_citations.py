from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.answer import NEAREST, REFUSAL, Passage
from chatbot.draft import Draft, Notes
from chatbot.evidence import units
from chatbot.evidence.scored import Scored
from chatbot.verification.citations import verify, whole
from chatbot.verification.marks import marked_numbers
from ingest import Chunk, Document, Source

TEXT = """A trn1.32xlarge has 512 GB of accelerator memory. Training costs USD 2,091 on comparable instances.

The L4 draws 72 W. Inferentia serves models at 70% lower cost.
"""
DOCUMENT = Document("notes.md", Source("notes", "Notes"), "Notes", TEXT)
HALF = TEXT.index("The L4")
PASSAGES = (
    Passage(1, Chunk("one", DOCUMENT, ("Trn1",), 0, HALF, TEXT[:HALF]), 1.0),
    Passage(2, Chunk("two", DOCUMENT, (), HALF, len(TEXT), TEXT[HALF:]), 0.5),
)
EVIDENCE = whole(PASSAGES)


@pytest.mark.parametrize(
    ("marks", "numbers"),
    [("[1]", (1,)), ("[1, 7]", (1, 7)), ("[1][3]", (1, 3)), ("[2-4]", (2, 3, 4)), ("[0]", (0,)), ("[1] [1]", (1,))],
)
def test_marks_are_read_in_every_form(marks: str, numbers: tuple[int, ...]) -> None:
    assert marked_numbers(marks) == numbers


def test_a_borne_out_sentence_is_kept_with_its_exact_words() -> None:
    verified = verify("The L4 draws 72 W [2].", EVIDENCE)
    assert verified.text == "The L4 draws 72 W [1]."
    assert [c.quote for c in verified.citations] == ["The L4 draws 72 W."]
    assert verified.dropped == ()


@pytest.mark.parametrize(
    "draft",
    [
        "The L4 draws 72 W.",  # no mark
        "The L4 draws 72 W [0].",  # out of bounds
        "The L4 draws 72 W [9].",
        "The L4 draws 75 W [2].",  # wrong number
        "The L4 draws 72 GB [2].",  # wrong unit
        "The H100 draws 72 W [2].",  # wrong name
        "The L4 draws 72 W [1].",  # wrong passage
        "Bananas are yellow and sweet [2].",  # unrelated words
    ],
)
def test_a_sentence_that_its_marks_do_not_bear_out_is_dropped(draft: str) -> None:
    verified = verify(draft, EVIDENCE)
    assert (verified.text, verified.citations, len(verified.dropped)) == ("", (), 1)


def test_a_number_in_another_format_is_the_same_number() -> None:
    assert len(verify("Training costs $2091 on comparable instances [1].", EVIDENCE).citations) == 1


def test_marks_are_numbered_anew_in_order_of_appearance() -> None:
    verified = verify("The L4 draws 72 W [2]. A trn1.32xlarge has 512 GB of accelerator memory [1].", EVIDENCE)
    assert verified.text == "The L4 draws 72 W [1]. A trn1.32xlarge has 512 GB of accelerator memory [2]."


def test_only_the_bad_sentence_of_two_is_dropped() -> None:
    verified = verify("The L4 draws 72 W [2]. The L4 has 900 cores [2].", EVIDENCE)
    assert (verified.text, verified.dropped) == ("The L4 draws 72 W [1].", ("The L4 has 900 cores.",))


def test_a_line_that_only_says_the_sources_do_not_say_is_kept() -> None:
    assert verify(f"- B200: {REFUSAL}", EVIDENCE).text == f"- B200: {REFUSAL}"


@given(st.text(alphabet="[]0123456789,-. \nTheL4draws72W%", max_size=120))
def test_any_draft_leaves_only_exact_quotes_and_marks_that_lead_to_them(draft: str) -> None:
    verified = verify(draft, EVIDENCE)
    assert all(TEXT[c.start : c.end] == c.quote for c in verified.citations)
    if verified.citations:
        assert set(marked_numbers(verified.text)) >= {c.number for c in verified.citations} or REFUSAL in draft


ROWS = """| Instance | Chips | Memory |
|---|---|---|
| trn1.2xlarge | 1 | 32 GB |
| trn1.32xlarge | 16 | 512 GB |

Trainium trains models, and Inferentia serves them to users. If you own the account, the quota is raised at once.
"""
TABLE = whole(
    (Passage(1, Chunk("t", Document("t.md", Source("t", "T"), "T", ROWS), (), 0, len(ROWS), ROWS), 1.0),)
)


@pytest.mark.parametrize(
    ("draft", "kept"),
    [
        ("Inferentia serves them to users [1].", True),  # a verbatim clause
        ("The quota is raised at once [1].", False),  # its condition is omitted
        ("A trn1.2xlarge has 512 GB of memory [1].", False),  # a number from another row
    ],
)
def test_a_writer_s_own_words_are_bound_to_their_clause_and_their_row(draft: str, kept: bool) -> None:
    assert bool(verify(draft, TABLE, own_words=True).citations) is kept
    again = tuple(replace(e, passage=replace(e.passage, chunk=replace(e.passage.chunk))) for e in TABLE)
    assert bool(verify(draft, again, own_words=True).citations) is kept  # equal passages, read anew


@pytest.mark.parametrize(
    ("draft", "statements"),
    [
        ("Taken as “What draws little?”\nThe L4 draws 72 W [2]. Inferentia serves models at 70% lower cost [2].", [("caveat", ""), ("answer", ""), ("reason", "")]),
        (f"{NEAREST}: The L4 draws 72 W [2]. Inferentia serves models at 70% lower cost [2].", [("answer", ""), ("reason", "")]),
        ("L4: The L4 draws 72 W [2].", [("side", "L4")]),
    ],
)
def test_the_first_sentence_with_a_source_answers_whatever_opens_the_answer(draft: str, statements: list[tuple[str, str]]) -> None:
    verified = verify(draft, EVIDENCE, (NEAREST, "L4"), said="Taken as What draws little?" if draft.startswith("Taken") else "")
    assert [(s.role, s.about) for s in verified.statements] == statements


def test_a_sentence_behind_a_mark_may_begin_in_lower_case() -> None:
    verified = verify("The L4 draws 72 W [2]. trn1.32xlarge: 512 GB of accelerator memory [1]. inferentia: 71% lower cost [2].", EVIDENCE)
    assert [c.claim for c in verified.citations] == ["The L4 draws 72 W.", "trn1.32xlarge: 512 GB of accelerator memory."]
    assert [s.text for s in verified.statements] == [c.claim for c in verified.citations]
    assert len(verified.dropped) == 1


def test_a_draft_behind_another_cites_its_own_evidence_only() -> None:
    one, two = EVIDENCE
    both = Draft("One [1].", (one,)).then(Draft("Two [1]. Its proof is gone [0].", (two,)))
    assert (both.text, both.evidence) == ("One [1].\nTwo [2]. Its proof is gone [0].", EVIDENCE)


def test_a_bracketed_number_of_a_source_is_no_mark() -> None:
    text = "Patterson [2021] puts the L4 at 72 W."
    document = Document("paper.md", Source("paper", "Paper"), "Paper", text)
    passage = Passage(1, Chunk("paper", document, (), 0, len(text), text), 1.0)
    notes = Notes()
    notes.line(notes.sentence(text, Scored(units(passage.chunk)[0], passage, 1.0, {})))
    draft = notes.draft()
    verified = verify(draft.text, draft.evidence)
    assert (verified.text, [c.quote for c in verified.citations]) == ("Patterson (2021) puts the L4 at 72 W [1].", [text])
