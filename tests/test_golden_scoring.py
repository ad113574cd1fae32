from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chatbot.answer import REFUSAL
from chatbot.exam.golden import GoldenQuestion as Question
from chatbot.exam.golden import load_questions
from chatbot.exam.golden_scoring import (
    Asked,
    citation_precision,
    citation_recall,
    claims,
    exactness,
    failure,
    false_answers,
    false_refusals,
    is_exact,
    marks,
    passed_by_kind,
    report,
    sentences,
    sources_credit,
    states_value,
    uncited,
    value_credit,
    wattbot_score,
)
from chatbot.exam.rates import Rate
from tests.golden_scoring import failures

MEMORY = Question(
    "m", "fact", ("How much memory?",), (r"\b512\s*GB",), (r"\b32\s*GB",), frozenset({"a.txt"}), value=(512, "GB")
)
EXAM = Question("e", "exam", ("Choose TWO",), sources_any=frozenset({"a.txt", "b.txt"}), choices=frozenset("AC"))
PRICE = Question("p", "refusal", ("Price?",), refused=True)


def citation(number: int, original: str, **changes: Any) -> dict[str, Any]:
    return {"number": number, "source": original, "original": original, "quote": "512 GB", "start": 4, "end": 10,
            "exact": True, "support": 0.9, "claim": "It has 512 GB."} | changes  # fmt: skip


def answer(text: str, *originals: str, refused: bool = False, choices: str = "") -> dict[str, Any]:
    citations = [citation(number, original) for number, original in enumerate(originals, 1)]
    return {"text": text, "refused": refused, "choices": list(choices), "citations": citations}


RIGHT = answer("It has 512 GB [1].", "a.txt")
REFUSED = answer(f"{REFUSAL} The nearest source is a.txt.", refused=True)
INVENTED = answer("It costs $1 [1].", "a.txt")


# --- verdicts


def test_a_right_answer_passes() -> None:
    assert failure(MEMORY, RIGHT) is None
    assert failure(EXAM, answer("C, A [1]", "b.txt", choices="CA")) is None
    assert failure(PRICE, REFUSED) is None


@pytest.mark.parametrize(
    ("question", "given", "reason"),
    [
        (MEMORY, REFUSED, "refused, but the sources have the answer"),
        (MEMORY, answer("It has 256 GB [1].", "a.txt"), r"lacks \b512\s*GB"),
        (MEMORY, answer("It has 512 GB, not 32 GB [1].", "a.txt"), r"says \b32\s*GB"),
        (MEMORY, answer("32 GB [1].", "a.txt"), r"lacks \b512\s*GB; says \b32\s*GB"),
        (MEMORY, answer("It has 512 GB [1].", "b.txt"), "does not cite a.txt"),
        (MEMORY, answer("It has 512 GB.", "a.txt"), "cites nothing"),
        (MEMORY, answer("It has 512 GB [0].", "a.txt"), "has marks that lead nowhere: [0]"),
        (MEMORY, answer("It has 512 GB [1, 7].", "a.txt"), "has marks that lead nowhere: [7]"),
        (EXAM, answer("A [1]", "a.txt", choices="A"), "chose A instead of A, C"),
        (EXAM, answer("All [1]", "a.txt", choices="ABC"), "chose A, B, C instead of A, C"),
        (EXAM, answer("Hm [1]", "a.txt"), "chose nothing instead of A, C"),
        (EXAM, answer("A and C [1]", "c.txt", choices="AC"), "cites none of a.txt, b.txt"),
        (PRICE, INVENTED, "answered, but no source has the answer"),
        (PRICE, answer("No idea.", refused=True), "refused in other words than 'The sources do not say.'"),
    ],
)
def test_a_wrong_answer_fails_with_its_reason(question: Question, given: dict[str, Any], reason: str) -> None:
    assert failure(question, given) == reason


def test_patterns_are_searched_without_regard_to_case() -> None:
    assert failure(MEMORY, answer("it has 512 gb [1]", "a.txt")) is None


# --- rates


def test_nothing_of_nothing_is_no_nan() -> None:
    assert (Rate(0, 0).share, Rate(0, 0).interval) == (0.0, (0.0, 1.0))
    assert false_answers([]) == citation_recall([]) == citation_precision([REFUSED]) == Rate(0, 0)


def test_rates_by_kind_leave_out_kinds_not_Asked() -> None:
    run = [Asked(MEMORY, RIGHT), Asked(MEMORY, REFUSED), Asked(PRICE, REFUSED)]
    assert passed_by_kind(run) == {"fact": Rate(1, 2), "refusal": Rate(1, 1)}


def test_false_answers_count_unanswerables_and_false_refusals_the_rest() -> None:
    run = [
        Asked(PRICE, INVENTED),
        Asked(PRICE, REFUSED),
        Asked(MEMORY, REFUSED),
        Asked(MEMORY, RIGHT),
        Asked(EXAM, RIGHT),
    ]
    assert false_answers(run) == Rate(1, 2)
    assert false_refusals(run) == Rate(1, 3)


# --- citations


def test_quotes_are_exact_only_word_for_word_and_in_place() -> None:
    given = (
        citation(1, "a.txt"),
        citation(2, "a.txt", start=5, end=11),
        citation(3, "a.txt", quote="512 gb"),
        citation(4, "a.txt", quote="", start=4, end=4),
        citation(5, "a.txt", quote="GB", start=-2, end=10),
    )
    assert [is_exact(one, "has 512 GB") for one in given] == [True, False, False, False, False]
    assert exactness([{"citations": [citation(1, "a.txt"), citation(2, "a.txt", exact=False)]}]) == Rate(1, 2)


def test_recall_counts_claims_with_a_mark_that_leads_somewhere() -> None:
    given = answer("It has 512 GB. [1] It is very fast [0]. It is very cheap.\n- Both sizes exist [1].", "a.txt")
    assert citation_recall([given, REFUSED]) == Rate(2, 4)


def test_precision_counts_citations_that_bear_out_their_claim() -> None:
    given = {
        "citations": [citation(1, "a", support=0.5), citation(2, "a", support=0.49), citation(3, "a", support=1.0)]
    }
    assert citation_precision([given]) == Rate(2, 3)


def test_an_answer_without_a_mark_is_uncited_and_a_refusal_is_not() -> None:
    assert [uncited(given) for given in (RIGHT, REFUSED, answer("512 GB", "a"), answer("512 GB [1]"))] == [
        False, False, True, True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "found"),
    [("a [1], b [2]", {1, 2}), ("[1, 7]", {1, 7}), ("[2-4]", {2, 3, 4}), ("[2\u20133, 9]", {2, 3, 9}), ("[0]", {0}),
     ("[x] [a1] (3)", set())],
)  # fmt: skip
def test_marks_are_read_singly_in_lists_and_in_ranges(text: str, found: set[int]) -> None:
    assert marks(text) == found


# --- text


def test_sentences_keep_decimals_late_marks_and_table_rows() -> None:
    prose = "## Memory\nIt moves 9.8 TB/s. [1] Trn1 vs. P4 is open."
    text = f"{prose}\n\n| Type | vCPUs |\n|---|---|\n| trn1.2xlarge | 8 | [2]"
    assert sentences(text) == ["It moves 9.8 TB/s [1].", "Trn1 vs. P4 is open.", "| trn1.2xlarge | 8 | [2]"]


def test_lead_ins_and_bare_letters_claim_nothing() -> None:
    assert claims("**B, D**\nThe sources give different figures:\n- 50 % lower cost [1]") == ["- 50 % lower cost [1]"]
    assert claims(f"- A. Ten chips: {REFUSAL}\n{REFUSAL} Nearest in the sources: Trn1.") == [
        "Nearest in the sources: Trn1."
    ]


@pytest.mark.parametrize(
    ("text", "number", "unit", "stated"),
    [
        ("It has 512 GB.", 512, "GB", True),
        ("It has 0.512 TB.", 512, "GB", True),
        ("It has 512.4 GB.", 512, "GB", True),
        ("It has 513 GB.", 512, "GB", False),
        ("It has 512 Gbps.", 512, "GB", False),
        ("It has 512.", 512, "GB", False),
        ("It has 32 GB. The larger one has 512 GB.", 512, "GB", False),
        ("It has 16 chips. It has 512 GB.", 512, "GB", True),
        ("Network: 800 Gbps. | vCPUs: 128 | chips: 16 |", 128, "vCPUs", True),
        ("There are six instances.", 6, "instances", True),
        ("It sees 1 million inferences.", 1_000_000, "inferences", True),
        ("GPT-3 has 175 billion parameters.", 175, "billion", True),
        ("GPT-3 has 175 million parameters.", 175, "billion", False),
    ],
)
def test_a_value_counts_within_a_thousandth_in_its_unit_where_first_given(
    text: str, number: float, unit: str, stated: bool
) -> None:
    assert states_value(text, number, unit) is stated


# --- the score after WattBot


def test_sources_credit_is_jaccard() -> None:
    assert sources_credit(MEMORY, RIGHT) == 1
    assert sources_credit(MEMORY, answer("x [1]", "a.txt", "b.txt", "c.txt")) == pytest.approx(1 / 3)
    assert sources_credit(EXAM, answer("x [1]", "b.txt")) == 1
    assert sources_credit(EXAM, answer("x [1]", "c.txt")) == 0
    assert sources_credit(MEMORY, answer("x")) == sources_credit(MEMORY, REFUSED) == 0


def test_value_credit_is_the_number_or_the_letters_and_patterns() -> None:
    assert value_credit(MEMORY, RIGHT) == 1
    assert value_credit(MEMORY, answer("512 Gbps [1]", "a.txt")) == 0
    assert value_credit(EXAM, answer("", choices="AC")) == 1
    assert value_credit(EXAM, answer("", choices="A")) == 0


def test_wattbot_score_is_the_weighted_sum() -> None:
    run = [
        Asked(MEMORY, RIGHT),  # value 1, sources 1
        Asked(MEMORY, answer("It has 512 GB [1].", "a.txt", "b.txt")),  # value 1, sources 1/2
        Asked(PRICE, REFUSED),  # value 1, sources 1
        Asked(PRICE, INVENTED),  # nothing
    ]
    assert wattbot_score(run) == pytest.approx(0.75 * 3 / 4 + 0.15 * 2.5 / 4 + 0.10 * 1 / 2)


def test_an_invented_answer_earns_nothing_and_neither_does_refusing_everything() -> None:
    assert wattbot_score([Asked(PRICE, INVENTED)]) == 0
    assert wattbot_score([Asked(MEMORY, REFUSED)]) == 0
    assert wattbot_score([Asked(PRICE, REFUSED)]) == pytest.approx(1)


def test_without_unanswerables_the_other_parts_make_up_the_whole() -> None:
    assert wattbot_score([Asked(MEMORY, RIGHT)]) == pytest.approx(1)


def test_no_question_has_no_score() -> None:
    with pytest.raises(ValueError, match="no question"):
        wattbot_score([])


# --- files and report


def test_questions_are_loaded_with_defaults(tmp_path: Path) -> None:
    line = {"id": "m", "kind": "fact", "turns": ["How much memory?"], "required": [r"\b512\s*GB"],
            "forbidden": [r"\b32\s*GB"], "sources": ["a.txt"], "value": {"number": 512, "unit": "GB"}}  # fmt: skip
    file = tmp_path / "questions.jsonl"
    file.write_text(
        json.dumps(line) + "\n\n" + json.dumps({"id": "p", "kind": "refusal", "turns": ["Price?"], "refused": True})
    )
    assert load_questions(file) == [
        replace(MEMORY, file="questions.jsonl", line=1),
        replace(PRICE, file="questions.jsonl", line=3, position=2),
    ]


def test_a_refusal_is_answered_by_the_documents_it_names_wherever_they_lie() -> None:
    price = replace(PRICE, answered_by=frozenset({"reference/prices.md", "instances.csv"}))
    assert price.is_answered_by(["corpus/a.md", "corpus/reference/prices.md"])
    assert price.is_answered_by(["instances.csv"])
    assert not price.is_answered_by(["corpus/prices.md", "corpus/reference/own-prices.md", "corpus/my-instances.csv"])
    assert not PRICE.is_answered_by(["corpus/reference/prices.md"])


@pytest.mark.parametrize(
    ("file", "sealed"),
    [("kept.jsonl", True), ("fresh-kept.jsonl", True), ("golden/reference-kept.jsonl", True), ("tuned.jsonl", False),
     ("fresh-tuned.jsonl", False), ("kept-aside.jsonl", False), ("unkept.jsonl", False), ("", False)],
)  # fmt: skip
def test_files_that_end_with_kept_are_sealed(file: str, sealed: bool) -> None:
    assert (replace(MEMORY, file=file).half == "kept") == sealed


def test_report_shows_totals_and_no_question() -> None:
    run = [Asked(MEMORY, RIGHT), Asked(MEMORY, REFUSED), Asked(PRICE, INVENTED)]
    lines = [" ".join(line.split()) for line in report("half", run).splitlines()]
    assert lines[:4] == [
        "half",
        "passed, fact 0.500 1 of 2 95 %: 0.095 to 0.905",
        "passed, refusal 0.000 0 of 1 95 %: 0.000 to 0.793",
        "passed, all 0.333 1 of 3 95 %: 0.061 to 0.792",
    ]
    assert lines[4].startswith("false answers to unanswerables 1.000 1 of 1")
    assert lines[6].startswith("quotes exact 1.000 2 of 2")
    assert lines[-1] == f"score after WattBot {0.75 / 3 + 0.15 / 3:.3f}"
    assert not any(question.turns[0] in line for question in (MEMORY, PRICE) for line in lines)


def test_failures_name_question_reason_and_answer() -> None:
    listed = failures([Asked(MEMORY, RIGHT), Asked(PRICE, INVENTED)])
    assert listed == "p: answered, but no source has the answer\n  Q: Price?\n  A: It costs $1 [1]."
