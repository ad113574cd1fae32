import json
import re
import string
from collections.abc import Sequence
from pathlib import Path

import pytest
from exam_forms import DATA_FORMS, GIFT, TEXT_FORMS, Write
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from chatbot.answer import ReaderError
from chatbot.exam import ACCEPTED_SUFFIXES, ExamQuestion, GoldenQuestion, Skipped, read_questions
from chatbot.exam.keys import plain

OPENINGS = (
    "Which instance",
    "A company",
    "The team e y",
    "What is 3.5 GB of",
    "An architect",
    "Is it",
    "E y",
    "No chip",
)
# Excludes characters that are markup in some format; includes quotation marks, brackets, digits and other scripts.
CHARACTERS = string.ascii_letters + string.digits + " ,;'\"()?!%$&/+-.éßñ日本語Ω→"
words = st.text(CHARACTERS, min_size=1, max_size=40).map(lambda text: " ".join(text.split()))


def is_sober(text: str) -> bool:
    """Whether a generated option is unambiguous.

    It must not begin like an option label ("A."), consist of option letters only, so that an answer key given as text could be
    mistaken for letters, or end in punctuation.
    """
    return (
        not re.match(r"\w[.):]", text)
        and len(plain(text)) > 2
        and text[0].isalnum()
        and not text.endswith((" ", ",", ";", ")", "."))
        and len(text.split()[0]) > 2
        and re.search(r"[^\W_A-H]", text) is not None
    )


options = st.lists(words.filter(is_sober), min_size=2, max_size=6, unique_by=plain)
lines = st.builds(lambda opening, rest: f"{opening} {rest}".strip(), st.sampled_from(OPENINGS), words)


@st.composite
def questions(draw: st.DrawFn, most_lines: int = 3) -> list[ExamQuestion]:
    found = []
    for place in range(draw(st.integers(1, 3))):
        offered = draw(options)
        answer = draw(st.sets(st.integers(0, len(offered) - 1), min_size=1, max_size=len(offered)))
        text = "\n".join([*draw(st.lists(lines, min_size=1, max_size=most_lines)), f"Is this number {place}?"])
        found.append(ExamQuestion("", text, tuple(offered), tuple(sorted(answer))))
    return found


def flat(found: Sequence[ExamQuestion]) -> list[ExamQuestion]:
    return [ExamQuestion("", " ".join(q.text.split()), q.options, q.answer) for q in found]


def said(found: Sequence[ExamQuestion]) -> list[tuple[str, tuple[str, ...], tuple[int, ...]]]:
    return [(q.text, q.options, q.answer) for q in found]


def read_back(
    form: tuple[str, Write], asked: Sequence[ExamQuestion]
) -> list[tuple[str, tuple[str, ...], tuple[int, ...]]]:
    name, write = form
    read = read_questions([(name, write(asked).encode())])
    assert read.skipped == ()
    return said([q for q in read if isinstance(q, ExamQuestion)])


fast = settings(max_examples=25, suppress_health_check=list(HealthCheck))
ONE_LINE = {"answer starred", "details with text", "bold answer"}
TWO = ExamQuestion("", "A company trains.\nWhich two e y?", ("Trn1 and A", "Inf2, or B", "P5e C)x", "G5 y D"), (0, 3))


@pytest.mark.parametrize("form", TEXT_FORMS)
@given(asked=questions())
@example(asked=[TWO])
@fast
def test_a_question_written_as_text_and_read_back_is_the_same(form: str, asked: list[ExamQuestion]) -> None:
    asked = flat(asked) if form in ONE_LINE else asked
    assert read_back(TEXT_FORMS[form], asked) == said(asked)


any_text = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=3, max_size=60).map(str.strip)
any_options = st.lists(
    any_text.filter(lambda t: len(plain(t)) > 2 and not t.isdigit()), min_size=2, max_size=8, unique_by=plain
)


@st.composite
def wild_questions(draw: st.DrawFn) -> list[ExamQuestion]:
    found = []
    for place in range(draw(st.integers(1, 3))):
        offered = draw(any_options)
        answer = draw(st.sets(st.integers(0, len(offered) - 1), min_size=1, max_size=len(offered)))
        found.append(ExamQuestion("", f"What: {draw(any_text)} {place}?", tuple(offered), tuple(sorted(answer))))
    return found


@pytest.mark.parametrize("form", DATA_FORMS)
@given(asked=wild_questions())
@example(asked=[TWO])
@fast
def test_a_question_written_as_data_and_read_back_is_the_same(form: str, asked: list[ExamQuestion]) -> None:
    assert read_back(DATA_FORMS[form], asked) == said(asked)


@given(asked=wild_questions())
@fast
def test_a_question_written_as_gift_and_read_back_is_the_same(asked: list[ExamQuestion]) -> None:
    assert read_back(GIFT, asked) == said(asked)


# --- handwritten forms

COURSE_NOTES = """\
---
layout: exam
---

# Practice Exam 7

Click on the **Answer** button for the answer.

---

1. Which purchase option gives up capacity at short notice? <br/>Choose the cheapest.
    - A. Spot Instances
    - B. On-Demand Instances

    <details markdown=1><summary markdown='span'>Answer</summary>

    Correct Answer: A

    Explanation:
    - AWS may take the capacity back.

    </details>

1. [domain:Compute]  
   Which services run containers? (Select TWO.)
    - A. Amazon ECS
    - B. Amazon S3
    - C. Amazon EKS

    <details markdown=1><summary markdown='span'>Answer</summary>
      Correct answer: AC
    </details>

1. HOTSPOT: click on the instance with the most memory.

1. Which has no answer?
    - A. This one
    - B. That one

    <details markdown=1><summary markdown='span'>Answer</summary>
      Correct answer:   
    </details>
"""


def test_course_notes_are_read_with_topics_explanations_and_what_cannot_be_asked() -> None:
    read = read_questions([("notes.md", COURSE_NOTES.encode())])
    assert read.questions == (
        ExamQuestion(
            id="notes-1",
            text="Which purchase option gives up capacity at short notice?\nChoose the cheapest.",
            options=("Spot Instances", "On-Demand Instances"),
            answer=(0,),
            explanation="- AWS may take the capacity back.",
            file="notes.md",
            line=11,
            position=1,
        ),
        ExamQuestion(
            id="notes-2",
            text="Which services run containers? (Select TWO.)",
            options=("Amazon ECS", "Amazon S3", "Amazon EKS"),
            answer=(0, 2),
            topic="Compute",
            file="notes.md",
            line=24,
            position=2,
        ),
    )
    assert read.skipped == (
        Skipped(
            "notes.md",
            34,
            "it is a hotspot item, which has no options to choose from",
            "HOTSPOT: click on the instance with the most memory.",
        ),
        Skipped("notes.md", 36, "no answer is given", "Which has no answer?"),
    )


def test_parts_with_a_key_each_keep_their_numbers_apart() -> None:
    part = "## {}\n\n1. What is {}?\nA. one\nB. two\n\n2. Why is {}?\nA. one\nB. two\n\n### Answers\n1. {}\n2. {}\n\n"
    text = part.format("Chips", "a", "b", "A", "B") + part.format("Cost", "c", "d", "B", "B")
    read = read_questions([("parts.md", text.encode())])
    assert [(q.topic, q.text, q.answer) for q in read if isinstance(q, ExamQuestion)] == [
        ("Chips", "What is a?", (0,)),
        ("Chips", "Why is b?", (1,)),
        ("Cost", "What is c?", (1,)),
        ("Cost", "Why is d?", (1,)),
    ]


def test_a_list_within_a_question_begins_no_other() -> None:
    text = "7. A job needs:\n   1. low cost\n   2. no deadline\n   Which option fits?\n   A. Spot\n   B. Hosts\n   Answer: A\n\n   Explanation:\n   1. It is cheap.\n   2. It may stop.\n\n8. Next?\n   A. Yes\n   B. No\n   Answer: B\n"
    read = read_questions([("exam.md", text.encode())])
    assert [q.text for q in read] == ["A job needs:\n1. low cost\n2. no deadline\nWhich option fits?", "Next?"]


def one(text: str, name: str = "exam.txt") -> str:
    """The reason why `text`, the file's only bad question, is skipped."""
    good = {
        "exam.jsonl": '\n{"question": "Good?", "options": ["yes", "no"], "answer": [0]}',
        "exam.csv": "\nGood?,yes,no,yes,",
    }
    rest = good.get(name, "\n\nQUESTION NO: 99\nGood?\nA. yes\nB. no\nAnswer: A\n")
    (skipped,) = read_questions([(name, (text + rest).encode())]).skipped
    return skipped.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("NO.1 Which?\nA. one\nB. two\nC. three\nD. four\nE. five\nAnswer: A e C", "in the answer 'A e C' \"e\" may be an option or mean \"and\""),
        ("NO.1 Which?\nA. one\nB. two\nAnswer: A or B", "the answer 'A or B' leaves open which option is meant"),
        ("NO.1 Which?\nA. one\nB. two\nAnswer: D", "the answer 'D' names an option that is not there"),
        ("NO.1 Which?\nA. one\nB. two\nAnswer: three", "the answer 'three' is none of the options"),
        ("NO.1 Which?\nA. one\nB. two\nAnswer: B. one", "the answer 'B. one' gives one option's letter and another's text"),
        ("NO.1 Which?\nA. one\nB. two\nAnswer: unknown", "no answer is given"),
        ("NO.1 Which?\nA. one\nB. two", "no answer is given"),
        ("NO.1 Which? (Choose two.)\nA. one\nB. two\nC. three\nAnswer: A", "it asks for two options and its answer names 1"),
        ("NO.1 Which?\nA. one\nB. two\nD. four\nAnswer: A", "its options are lettered A, B, D"),
        ("NO.1 Which?\nA. one (correct)\nB. two\nAnswer: B", "two answers are given and they differ"),
        ("NO.1 Which?\nA. one\nB. one\nAnswer: A", "two of its options are the same"),
        ("NO.1 Which?\nA. one\nAnswer: A", "it has only one option"),
        ("NO.1 Which?\n- [ ] one\n- [x]\n- [ ] three", "one of its options is empty"),
        ("NO.1 DRAG DROP\nPut them in place?", "it is a drag-and-drop item, which has no options to choose from"),
        ("NO.1 Select and order the steps in the correct order. (Select and order THREE.)\nA. one\nB. two\nAnswer: A, B", "it is a ordering item, which has no options to choose from"),
        ("NO.1 Match the following services to their uses?\nA. one\nB. two\nAnswer: A", "it is a matching item, which has no options to choose from"),
    ],
)  # fmt: skip
def test_what_is_ambiguous_or_no_choice_is_listed_with_its_reason(text: str, reason: str) -> None:
    assert one(text) == reason


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("not json", "it is no JSON object with a question, its options and its answer"),
        ('{"question": "Which?", "options": ["one", "two"], "answer": 7}', "the answer '7' names an option that is not there"),
        ('{"question": "Which?", "options": ["one", "two"], "answer": [0, "two"]}', "its answer mixes indexes and texts"),
        ('{"question": "Which?", "options": ["8", "1", "2"], "answer": "1"}', None),
        ('{"question": "Which?", "options": ["2", "1", "0"], "answer": "0"}', "the answer '0' may be an option's number or its text"),
        ('{"question": "Which?", "type": "hotspot", "options": ["one", "two"], "answer": 0}', "it is of the type 'hotspot', which has no options to choose from"),
        ('{"question": "Which?", "options": [{"text": "one", "correct": true}, {"text": "two"}], "answer": "B"}', "two answers are given and they differ"),
        ('{"question": "Which?", "options": ["one", "two"]}', "no answer is given"),
    ],
)  # fmt: skip
def test_json_that_is_ambiguous_is_listed_with_its_reason(line: str, reason: str | None) -> None:
    if reason is None:
        assert read_questions([("exam.jsonl", line.encode())]).questions[0].answer == (1,)
    else:
        assert one(line, "exam.jsonl") == reason


def test_a_number_in_a_table_is_no_answer_where_it_may_count_from_nought_or_one() -> None:
    read = read_questions([("exam.csv", b"question,A,B,C,answer\nWhich?,one,two,three,1\nGood?,yes,no,so,yes\n")])
    assert [s.line for s in read.skipped] == [2]
    assert [s.reason for s in read.skipped] == ["the answer '1' may count from 0 or from 1: write letters"]
    numbered = read_questions([("exam.csv", b"question,option1,option2,answer\nWhich?,one,two,1\n")])
    assert numbered.questions[0].answer == (0,)


def test_indexes_that_reach_past_the_options_count_from_one() -> None:
    lines = [json.dumps({"question": f"Which {n}?", "options": ["one", "two"], "answer": n}) for n in (1, 2)]
    read = read_questions([("exam.jsonl", "\n".join(lines).encode())])
    assert [q.answer for q in read] == [(0,), (1,)]


def test_gift_items_that_are_no_choices_are_named() -> None:
    text = "Match {=a -> b =c -> d}\n\nHow many? {#3:1}\n\nWho? {=me =I}\n\nTell. {}\n\nTwo? {=a =b ~c}\n\n$CATEGORY: aws/chips\n\nTrainium trains. {TRUE}\n\nGPUs {~boil =draw} power.\n"
    read = read_questions([("exam.gift", text.encode())])
    assert [(s.line, s.reason) for s in read.skipped] == [
        (1, "it is a matching item, which has no options to choose from"),
        (3, "it is a numerical item, which has no options to choose from"),
        (5, "it is a short-answer item, which has no options to choose from"),
        (7, "it is an essay item, which has no options to choose from"),
        (9, "several of its options are each the whole answer"),
    ]
    assert [(q.text, q.options, q.answer, q.topic) for q in read if isinstance(q, ExamQuestion)] == [
        ("Trainium trains.", ("True", "False"), (0,), "chips"),
        ("GPUs _____ power.", ("boil", "draw"), (1,), "chips"),
    ]


def test_items_of_json_that_begin_alike_have_their_own_lines() -> None:
    item = '{"question": "Which instance trains models?", "options": ["one", "two"], "answer": %s}'
    text = "[" + ",\n".join(item % answer for answer in ("0", '"none of them"', "0")) + "]"
    assert [skipped.line for skipped in read_questions([("exam.json", text.encode())]).skipped] == [2, 3]


@pytest.mark.timeout(10)
@pytest.mark.parametrize("name", ["::{}:: ", ""])
def test_a_brace_that_is_not_closed_costs_one_gift_item(name: str) -> None:
    items = ["One? {=a ~b", *(f"Which of {n}? {{=a\n\n~b}}" for n in range(5_000))]
    read = read_questions([("exam.gift", "\n\n".join(name.format(n) + item for n, item in enumerate(items)).encode())])
    assert [(s.line, s.reason) for s in read.skipped] == [(1, "it has no answers in braces")]
    assert said([q for q in read if isinstance(q, ExamQuestion)][:1]) == [("Which of 0?", ("a", "b"), (0,))]
    assert len(read) == 5_000


def test_a_question_that_stands_there_twice_is_asked_once_and_with_two_keys_never() -> None:
    lines = [
        '{"id": "a", "question": "Which?", "options": ["one", "two"], "answer": [0]}',
        '{"id": "b", "question": "which?", "options": ["two", "one"], "answer": [1]}',
        '{"id": "c", "question": "Why?", "options": ["one", "two"], "answer": [0]}',
        '{"id": "d", "question": "Why?", "options": ["one", "two"], "answer": [1]}',
        '{"id": "a", "question": "How?", "options": ["one", "two"], "answer": [1]}',
    ]
    read = read_questions([("exam.jsonl", "\n".join(lines).encode())])
    assert [q.id for q in read] == ["a", "a (2)"]
    contradicted = "the same question stands here more than once with different answers"
    assert [(s.line, s.reason) for s in read.skipped] == [
        (2, "it stands in line 1 already"),
        (3, contradicted),
        (4, contradicted),
    ]


def test_ids_are_unique_also_among_golden_questions() -> None:
    golden, other = (f'{{"id": "a", "kind": "fact", "turns": ["{text}"]}}'.encode() for text in ("Which?", "What?"))
    exam = b'{"id": "a", "question": "How?", "options": ["one", "two"], "answer": [1]}'
    read = read_questions([("one.jsonl", golden), ("two.jsonl", other), ("exam.jsonl", exam)])
    assert [(q.id, q.text) for q in read] == [("a", "Which?"), ("a (2)", "What?"), ("a (3)", "How?")]


@pytest.mark.timeout(10)
def test_many_copies_of_a_question_take_no_long_time() -> None:
    read = read_questions([("exam.csv", ("question,A,B,answer\n" + "Which?,one,two,A\n" * 4_000).encode())])
    assert (len(read), len(read.skipped)) == (1, 3_999)


def test_a_lone_surrogate_is_no_error() -> None:
    read = read_questions([("exam.json", rb'[{"question": "Which \ud83d?", "options": ["one", "two"], "answer": "B"}]')])
    assert (len(read), len(read.fingerprint)) == (1, 16)


def test_a_file_without_questions_is_an_error_that_shows_what_is_accepted() -> None:
    with pytest.raises(ReaderError) as error:
        read_questions([("notes.md", b"# Notes\n\nTrainium trains.\n")])
    assert str(error.value) == (
        "notes.md holds no question that can be asked.\nAccepted is, for example:\n\n"
        "1. Which purchase option suits a batch job that may be interrupted?\n"
        "   A. On-Demand Instances\n   B. Spot Instances\n   C. Dedicated Hosts\n   Answer: B"
    )
    shown = str(error.value).partition("example:\n\n")[2]
    assert read_questions([("example.md", shown.encode())]).questions[0].letters == ("B",)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("exam.pdf", b"%PDF", "exam.pdf has no form that is read here. Give .md"),
        ("exam.txt", b"\xff\xff\xfe", "exam.txt is not UTF-8 (byte 0): save it as UTF-8."),
        ("exam.json", b'{"a": 1,}', "exam.json is no JSON"),
        ("exam.json", b"[" * 100_000, "exam.json is no JSON"),
        ("exam.csv", b"question,A,B,answer\n" + b"x" * 200_000, "exam.csv is no table"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(name: str, data: bytes, said: str) -> None:
    with pytest.raises(ReaderError) as error:
        read_questions([(name, data)])
    assert str(error.value).startswith(said)


def test_a_file_of_a_folder_that_cannot_be_read_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xff\xff\xfe")
    (tmp_path / "b.json").write_text('{"a": 1,}')
    (tmp_path / "c.txt").write_text("one?\nA. yes\nB. no\nANSWER: A")
    read, folder = read_questions([tmp_path]), tmp_path.name
    assert [q.text for q in read] == ["one?"]
    assert [(s.file, s.line) for s in read.skipped] == [(f"{folder}/a.txt", 0), (f"{folder}/b.json", 0)]
    assert read.skipped[0].reason == f"{folder}/a.txt is not UTF-8 (byte 0): save it as UTF-8."
    (tmp_path / "c.txt").unlink()
    with pytest.raises(ReaderError, match=f"holds no question that can be asked. What looks like one cannot be used:\n  {folder}/a.txt is not UTF-8"):
        read_questions([tmp_path])


def test_a_folder_stands_for_its_files_and_halves_are_odd_and_even(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(
        "# What these are\n\n1. Is this a question?\n   A. no\n   B. yes\n   Answer: A\n"
    )
    (tmp_path / ".checkpoints").mkdir()
    (tmp_path / ".checkpoints" / "old.txt").write_text("old?\nA. yes\nB. no\nANSWER: A")
    (tmp_path / "notes.md").mkdir()
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text(
            "\n\n".join(f"{name} {n}?\nA. yes {n}\nB. no\nANSWER: A" for n in (1, 2, 3))
        )
    assert [q.text for q in read_questions([tmp_path])] == ["one 1?", "one 2?", "one 3?", "two 1?", "two 2?", "two 3?"]
    assert [q.text for q in read_questions([tmp_path], half="tuned")] == ["one 1?", "one 3?", "two 1?", "two 3?"]
    assert [q.text for q in read_questions([tmp_path], half="kept")] == ["one 2?", "two 2?"]
    with pytest.raises(ReaderError, match="cannot be read"):
        read_questions([tmp_path / "none.txt"])


@given(
    st.text(st.sampled_from("A. B) C:\n1-[x] *#>?{}=~|\"',Answer: nswers keyNO12<details>/"), max_size=200),
    st.sampled_from(ACCEPTED_SUFFIXES),
)
@settings(max_examples=150)
def test_no_text_whatever_breaks_a_reader(text: str, suffix: str) -> None:
    try:
        read = read_questions([(f"exam{suffix}", text.encode())])
    except ReaderError:
        return
    for q in read:
        assert isinstance(q, GoldenQuestion) or (q.answer and max(q.answer) < len(q.options))


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 9)
    | st.sampled_from(["A", "b", "one", "1", "A, B", "", "fact"])
    | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "id", "label", "correct", "A", "B"]), inner, max_size=3)
    ),
    max_leaves=6,
)
keys = st.sampled_from(["question", "options", "choices", "answers", "answer", "target", "input", "proof", "metadata", "type", "kind", "turns", "id", "covered", "A", "B"])  # fmt: skip


@given(st.lists(st.dictionaries(keys, values, max_size=6), max_size=3), st.booleans())
@example([{"question": [], "options": {"text": [], "label": True}}], False)
@settings(max_examples=150)
def test_no_object_whatever_breaks_a_reader(objects: list[dict[str, object]], lines: bool) -> None:
    text = "\n".join(map(json.dumps, objects)) if lines else json.dumps(objects)
    try:
        read = read_questions([("exam.jsonl" if lines else "exam.json", text.encode())])
    except ReaderError:
        return
    for q in read:
        assert isinstance(q, GoldenQuestion) or (q.answer and max(q.answer) < len(q.options))
