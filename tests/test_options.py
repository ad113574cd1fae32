import pytest

from chatbot.question.options import Option, parse_options

OPTIONS = (Option("A", "Trn1"), Option("B", "Inf2"), Option("C", "P4d"))


@pytest.mark.parametrize(
    "written",
    [
        "A. Trn1\nB. Inf2\nC. P4d",
        "A) Trn1\nB) Inf2\nC) P4d",
        "(a) Trn1\n(b) Inf2\n(c) P4d",
        "a) Trn1\nb) Inf2\nc) P4d",
        "[A] Trn1\n[B] Inf2\n[C] P4d",
        "A - Trn1\nB - Inf2\nC - P4d",
        "A: Trn1\nB: Inf2\nC: P4d",
        "**A.** Trn1\n**B.** Inf2\n**C.** P4d",
        "1. Trn1\n2. Inf2\n3. P4d",
        "i. Trn1\nii. Inf2\niii. P4d",
        "- A) Trn1\n- B) Inf2\n- C) P4d",
        "- Trn1\n- Inf2\n- P4d",
        "- [ ] Trn1\n- [x] Inf2\n- [ ] P4d",
        "A\nTrn1\nB\nInf2\nC\nP4d",
        "A. Trn1 B. Inf2 C. P4d",
        "(a) Trn1, (b) Inf2, (c) P4d",
        "i) Trn1 ii) Inf2 iii) P4d",
        "(i) Trn1 (ii) Inf2 (iii) P4d",
    ],
)
def test_options_are_read_in_any_usual_lettering(written: str) -> None:
    stem = parse_options(f"Which instance serves a model?\n{written}")
    assert stem is not None
    assert (stem.text, stem.options) == ("Which instance serves a model?", OPTIONS)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Choose TWO.\nA. a1\nB. b1\nC. c1", 2),
        ("Which do you take? (Select 2)\nA. a1\nB. b1\nC. c1", 2),
        ("Which do you take? (Choose three.)\nA. a1\nB. b1\nC. c1\nD. d1", 3),
        ("Which two are right?\nA. a1\nB. b1\nC. c1", 2),
        ("Which do you take?\nA. a1\nB. b1\nC. c1\nChoose two.", 2),
        ("Which do you take? (Choose five.)\nA. a1\nB. b1\nC. c1\nD. d1\nE. e1\nF. f1", 5),
        ("Which do you take? (Select 6)\nA. a1\nB. b1\nC. c1\nD. d1\nE. e1\nF. f1", 6),
        ("Which do you take?\nA. a1\nB. b1", 1),
    ],
)
def test_the_number_of_options_to_choose_is_read(question: str, wanted: int) -> None:
    stem = parse_options(question)
    assert stem is not None
    assert stem.choose == wanted


@pytest.mark.parametrize(
    ("stem_text", "negated"),
    [
        ("Which of these instances CANNOT be hibernated?", True),
        ("Which is NOT a GPU?", True),
        ("All of these are chips EXCEPT:", True),
        ("Which is LEAST suited to training?", True),
        ("Which of the following is not a chip?", True),
        ("Which service runs when machines are not in use?", False),
        ("The team does not use SageMaker. Which instance fits?", False),
        ("Which is the LEAST expensive option?", False),
    ],
)
def test_a_negation_counts_only_where_it_is_asked(stem_text: str, negated: bool) -> None:
    stem = parse_options(f"{stem_text}\nA. a1\nB. b1")
    assert stem is not None
    assert stem.negated is negated


@pytest.mark.parametrize(
    "text",
    [
        "What is a 7B model (LoRA)?",
        "What do Task Statements 1.3 and 2.3 say?",
        "How does a. compare?",
        "",
        "- one bullet",
    ],
)
def test_a_text_without_options_is_none(text: str) -> None:
    assert parse_options(text) is None


def test_bullets_below_a_request_to_choose_are_options() -> None:
    stem = parse_options("Select TWO practices that save energy.\n- Use Inf2\n- Use P3\n- Use spot")
    assert stem is not None
    assert (stem.choose, [o.text for o in stem.options]) == (2, ["Use Inf2", "Use P3", "Use spot"])
    assert parse_options("My notes:\n- Use Inf2\n- Use P3") is None
