"""Write exam questions in every supported format, for tests that read them back."""

import csv
import io
import json
import re
import string
from collections.abc import Callable, Sequence
from typing import Any

from chatbot.exam import ExamQuestion

Write = Callable[[Sequence[ExamQuestion]], str]


def letter(place: int) -> str:
    return "ABCDEFGH"[place]


def one_by_one(write: Callable[[int, ExamQuestion], str], *, between: str = "\n\n") -> Write:
    return lambda questions: between.join(write(n, q) for n, q in enumerate(questions, start=1)) + "\n"


def lettered(question: ExamQuestion, mark: str = "{}. ", before: str = "") -> str:
    return "\n".join(before + mark.format(letter(i)) + option for i, option in enumerate(question.options))


def indented(text: str) -> str:
    return text.replace("\n", "\n   ")


def with_texts(question: ExamQuestion) -> str:
    return ", ".join(f"{letter(i)}. {question.options[i]}" for i in question.answer)


def boxes(n: int, q: ExamQuestion) -> str:
    options = "\n".join(f"- [{'x' if i in q.answer else ' '}] {option}" for i, option in enumerate(q.options))
    head = f"### {q.text}" if "\n" not in q.text else f"### Question {n}\n\n{q.text}"
    return f"{head}\n\n{options}"


def answer_within(n: int, q: ExamQuestion) -> str:
    return (
        f"{n}. {indented(q.text)}\n{lettered(q)}\nAnswer: {', '.join(q.letters)}\n\nExplanation: because of A. and B."
    )


def answer_marked(n: int, q: ExamQuestion) -> str:
    marks = [f"{letter(i)}. {option}{' (correct)' if i in q.answer else ''}" for i, option in enumerate(q.options)]
    return f"{n}. {indented(q.text)}\n" + "\n".join(marks)


def answer_starred(n: int, q: ExamQuestion) -> str:
    marks = [f"{'*' if i in q.answer else ''}{letter(i)}. {option}" for i, option in enumerate(q.options)]
    return f"Q{n}. {q.text}\n" + "\n".join(marks)


def details(n: int, q: ExamQuestion) -> str:
    summary = f'<details markdown=1><summary markdown="span">Answer</summary>\n\n    Correct answer: {"".join(q.letters)}\n\n    </details>'
    return f"1. {indented(q.text)}\n{lettered(q, before='    - ')}\n\n    {summary}"


def details_with_text(n: int, q: ExamQuestion) -> str:
    options = lettered(q, before="   - ")
    return f"**{n}. {q.text}**\n{options}\n\n   <details>\n   <summary>Show Answer</summary>\n   **Answer:** {with_texts(q)}\n   </details>"


def bold_answer(n: int, q: ExamQuestion) -> str:
    return f"### {n}. {q.text}\n\n{lettered(q, '({}) ')}\n\n> **Correct answer: {with_texts(q)}**\n\n---"


def dump(n: int, q: ExamQuestion) -> str:
    return f"NO.{n + 10} {q.text}\n{lettered(q)}\nAnswer: {' '.join(q.letters)}"


def numbered_dump(n: int, q: ExamQuestion) -> str:
    tight = "\n".join(
        f"{letter(i)}.{'' if o[0] in string.ascii_uppercase else ' '}{o}" for i, o in enumerate(q.options)
    )
    return f"QUESTION NO: {n + 10}\n{q.text}\n\n{tight}\n\nCorrect Answer: {''.join(q.letters)}\nSection: (none)"


def aiken(n: int, q: ExamQuestion) -> str:
    return f"{q.text}\n{lettered(q, '{}) ')}\nANSWER: {', '.join(q.letters)}"


def key_at_end(entry: Callable[[int, ExamQuestion], str], title: str, between: str = "\n") -> Write:
    def write(questions: Sequence[ExamQuestion]) -> str:
        body = "\n\n".join(
            f"{n}. {indented(q.text)}\n{lettered(q, before='   ')}" for n, q in enumerate(questions, start=1)
        )
        return (
            f"# Exam\n\n{body}\n\n{title}\n\n"
            + between.join(entry(n, q) for n, q in enumerate(questions, start=1))
            + "\n"
        )

    return write


def gift(n: int, q: ExamQuestion) -> str:
    def escaped(text: str) -> str:
        return re.sub(r"([~=#{}:\\])", r"\\\1", text)

    def option(i: int, text: str) -> str:
        if len(q.answer) == 1:
            return f"{'=' if i in q.answer else '~'}{escaped(text)}"
        return f"~%{100 / len(q.answer):.5f}%{escaped(text)}" if i in q.answer else f"~%-100%{escaped(text)}"

    options = "\n".join(option(i, text) for i, text in enumerate(q.options))
    return f"// number {n}\n::Q{n}:: {escaped(q.text)} {{\n{options}\n}}"


def table(questions: Sequence[ExamQuestion]) -> str:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["Question", *(f"Option {letter(i)}" for i in range(8)), "Correct Answer"])
    for q in questions:
        writer.writerow([q.text, *q.options, *[""] * (8 - len(q.options)), ", ".join(q.letters)])
    return file.getvalue()


def table_with_lists(questions: Sequence[ExamQuestion]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=";")
    writer.writerow(["question", "options", "answer"])
    for q in questions:
        writer.writerow([q.text, json.dumps(q.options), "".join(q.letters)])
    return file.getvalue()


def json_lines(as_object: Callable[[ExamQuestion], dict[str, Any]]) -> Write:
    return lambda questions: "".join(json.dumps(as_object(q), ensure_ascii=False) + "\n" for q in questions)


def json_within(as_object: Callable[[ExamQuestion], dict[str, Any]]) -> Write:
    return lambda questions: json.dumps(
        {"exam": "AIF-C01", "sections": [{"questions": [as_object(q) for q in questions]}]}
    )


def only(values: Sequence[Any]) -> Any:
    """A single value as it is, several as a list."""
    return values[0] if len(values) == 1 else list(values)


OBJECTS: dict[str, Callable[[ExamQuestion], dict[str, Any]]] = {
    "indexes": lambda q: {"question": q.text, "options": q.options, "answer": q.answer},
    "letters in one string": lambda q: {"prompt": q.text, "choices": q.options, "correct_answer": "".join(q.letters)},
    "letters in a list": lambda q: {"text": q.text, "options": q.options, "answer": q.letters},
    "options by letter": lambda q: {
        "question": q.text,
        "options": {letter(i): option for i, option in enumerate(q.options)},
        "answer": ", ".join(q.letters),
    },
    "options with letters": lambda q: {
        "question": q.text,
        "options": [{"letter": letter(i), "text": option} for i, option in enumerate(q.options)],
        "correctAnswer": list(q.letters),
    },
    "options with ids": lambda q: {
        "question": q.text,
        "options": [{"id": f"opt-{i}", "text": option} for i, option in enumerate(q.options)],
        "answer": only([f"opt-{i}" for i in q.answer]),
    },
    "options marked": lambda q: {
        "question": q.text,
        "answers": [{"text": option, "isCorrect": i in q.answer} for i, option in enumerate(q.options)],
    },
    "texts": lambda q: {"question": q.text, "options": q.options, "answer": only([q.options[i] for i in q.answer])},
    "lettered texts": lambda q: {
        "question": q.text,
        "options": [f"{letter(i)}. {option}" for i, option in enumerate(q.options)],
        "answer": only(q.letters),
    },
    "labels beside texts": lambda q: {
        "question": q.text,
        "choices": {"text": q.options, "label": [letter(i) for i in range(len(q.options))]},
        "answerKey": ", ".join(q.letters),
    },
    "an Inspect sample": lambda q: {"input": q.text, "choices": q.options, "target": only(q.letters), "metadata": {}},
    "an Inspect conversation": lambda q: {
        "input": [{"role": "system", "content": "Choose."}, {"role": "user", "content": q.text}],
        "choices": q.options,
        "target": list(q.letters),
    },
    "an Inspect conversation in parts": lambda q: {
        "input": [{"role": "user", "content": [{"type": "text", "text": q.text}, {"type": "image", "image": "chart.png"}]}],
        "choices": q.options,
        "target": list(q.letters),
    },
}

# Name of the format -> (file name, writer).
TEXT_FORMS: dict[str, tuple[str, Write]] = {
    "boxes": ("exam.md", one_by_one(boxes)),
    "answer within": ("exam.md", one_by_one(answer_within)),
    "answer marked": ("exam.txt", one_by_one(answer_marked)),
    "answer starred": ("exam.txt", one_by_one(answer_starred)),
    "details": ("exam.md", one_by_one(details)),
    "details with text": ("exam.md", one_by_one(details_with_text)),
    "bold answer": ("exam.md", one_by_one(bold_answer)),
    "NO.12": ("exam.txt", one_by_one(dump)),
    "QUESTION NO: 12": ("exam.txt", one_by_one(numbered_dump)),
    "Aiken": ("exam.txt", one_by_one(aiken)),
    "key at the end": ("exam.md", key_at_end(lambda n, q: f"{n}. {', '.join(q.letters)}", "## Answer key")),
    "key with texts": (
        "exam.md",
        key_at_end(lambda n, q: f"{n}. **Correct answer: {with_texts(q)}**\n\n   Explanation: so it is.", "### Answers and Explanations"),
    ),
    "key on one line": ("exam.txt", key_at_end(lambda n, q: f"{n}-{','.join(q.letters)}", "Answers:", "  ")),
    "key in a table": (
        "exam.md",
        key_at_end(lambda n, q: ("| No | Answer |\n|---|---|\n" if n == 1 else "") + f"| {n} | {' '.join(q.letters)} |", "## Answers"),
    ),
}  # fmt: skip
DATA_FORMS: dict[str, tuple[str, Write]] = {
    "CSV": ("exam.csv", table),
    "CSV with lists": ("exam.csv", table_with_lists),
    "JSON within": ("exam.json", json_within(OBJECTS["indexes"])),
    **{f"JSON lines, {name}": ("exam.jsonl", json_lines(write)) for name, write in OBJECTS.items()},
}
GIFT = ("exam.gift", one_by_one(gift))
