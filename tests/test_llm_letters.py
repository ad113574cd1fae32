"""The forms in which models answer exam questions, and the letters that each answer settles on."""

import pytest

from chatbot.llm.letters import chosen, undressed
from chatbot.question.options import Option

CHIPS = (Option("A", "Trainium"), Option("B", "Inferentia"), Option("C", "The H100"), Option("D", "Graviton4"))
LIST = "- A. Trainium: it is for training.\n- B. Inferentia: it is for inference.\n- C. The H100: a GPU.\n- D. Graviton4: a CPU."
MEASURES = (
    Option("A", "Use Spot Instances"),
    Option("B", "Buy more GPUs"),
    Option("C", "Quantise the model"),
    Option("D", "Batch the requests"),
    Option("E", "Disable metrics"),
)

ONE = [
    ("Answer: B", "B"),
    ("**Answer: B**", "B"),
    ("**Answer:** B", "B"),
    ("ANSWER: b", "B"),
    ("Answer: (b)", "B"),
    ("Answer: B. Inferentia", "B"),
    ("Answer: B because it serves predictions.", "B"),
    ("Answer: B – Inferentia serves predictions.", "B"),
    (f"Answer: B\n\n{LIST}", "B"),
    (f"{LIST}\n\nAnswer: B", "B"),
    ("The correct answer is B.", "B"),
    ("The correct answer is **B. Inferentia**, because it serves predictions.", "B"),
    ("Correct answer(s): B", "B"),
    ("B) Inferentia\n\nIt serves predictions.", "B"),
    ("(B)", "B"),
    ("B", "B"),
    ("Option B", "B"),
    (r"The chip for inference is B, so $\boxed{B}$.", "B"),
    (r"\[ \boxed{\text{B}} \]", "B"),
    ("Answer: A\nHmm, that one is for training. On reflection, Answer: C", "C"),
    # Claude
    ("Looking at each option:\n\n**A. Trainium** - This is for training, so it is incorrect.\n\n**B. Inferentia** - This serves predictions.\n\nThe answer is **B**.", "B"),
    ("# Answer\n\n**B. Inferentia**\n\n## Explanation\n\nOption A is for training, and C is a GPU.", "B"),
    ("<answer>B</answer>", "B"),
    ("I need to find the chip for inference.\n\nA is wrong since it trains. C and D are general.\n\nTherefore, the best option is **B) Inferentia**.", "B"),
    ("Answer: A\n\nWait, I misread the question. It should be B.", "B"),
    # GPT
    ("**Correct answer: B. Inferentia** ✅\n\n**Why the others are wrong:**\n- A. Trainium is for training.\n- C. The H100 is a GPU.", "B"),
    ("✅ **B. Inferentia**\n\nReason: it serves predictions.", "B"),
    ("- A. Trainium ❌\n- B. Inferentia ✅\n- C. The H100 ❌\n- D. Graviton4 ❌", "B"),
    ("| Option | Text | Verdict |\n|---|---|---|\n| A | Trainium | Incorrect |\n| B | Inferentia | Correct |\n| C | The H100 | Incorrect |\n| D | Graviton4 | Incorrect |", "B"),
    ('```json\n{"answer": "B", "reason": "A is for training"}\n```', "B"),
    ("Final answer → B", "B"),
    # Llama
    ("The best answer is B.", "B"),
    ("Step 1: read the options.\nStep 2: A trains.\nThe final answer is: $\\boxed{B}$", "B"),
    ("Based on the passages, I would choose option B.", "B"),
    ("The correct answer is B) Inferentia.\n\nAccording to passage [1], A) Trainium is for training.", "B"),
    # Mistral
    ("B. Inferentia: it serves predictions [1].\n\nThe other options are not designed for that.", "B"),
    ("The correct option is B, not A.", "B"),
    ("Inferentia serves predictions. Therefore, option B is the correct choice.", "B"),
    # Qwen
    ("Let us analyse.\nA. is for training.\nB. is for inference.\n\nSo, the answer is **B**.", "B"),
    ("**Answer**: \n**B**", "B"),
    ("The most suitable option is B", "B"),
    # DeepSeek
    ("At first glance the answer is A, as it is cheaper. However, the passage says inference, so the answer is B.", "B"),
    ("**Final Answer**\n\\boxed{\\textbf{(B)}}", "B"),
    ("If the question asked for training, the answer would be A. It asks for inference: the correct choice is B.", "B"),
    ("B is correct. A is the correct choice for training only.", "B"),
    ("That leaves only B.", "B"),
    ("B: it serves predictions [1].\n" + LIST, "B"),
    ("The answer is Inferentia.", "B"),
    ("You might think the answer is A, but the right answer is B.", "B"),
]  # fmt: skip

NONE = [
    "",
    LIST,
    "The answer is, of course, the second one.",
    "Answer: A or B",
    "Answer: A and C",
    "Answer: H",
    "The answer is a chip that serves predictions.",
    "The answer is A chip that serves predictions.",
    "A is wrong because it trains. C is a GPU.",
    "The answer is not A.",
    "Which is right, A or B? The passages do not decide it.",
    "A. Trainium\nB. Inferentia\nC. The H100\nD. Graviton4",
    "Options: A, B, C, D",
    "The sources do not say.",
]

TWO = [
    ("Answer: A, C", "AC"),
    ("ANSWER: C, A", "AC"),
    ("Answer: AC", "AC"),
    ("**Answers: A and C**", "AC"),
    ("Correct answer(s): A and C", "AC"),
    ("Answer: A & C", "AC"),
    ("Answer: (A), (C)", "AC"),
    ("The correct answers are **A. Use Spot Instances** and **C. Quantise the model**.", "AC"),
    ("The correct answers are:\n\n- **A. Use Spot Instances**\n- **C. Quantise the model**\n\nB costs more.", "AC"),
    ("**Correct answers:**\nA. Use Spot Instances\nC. Quantise the model", "AC"),
    ("Both A and C are correct.", "AC"),
    (r"\boxed{A, C}", "AC"),
    ('{"answer": ["A", "C"]}', "AC"),
    ("Options A and C are the correct answers because they save money. B costs more.", "AC"),
    ("A. Use Spot Instances ✅\nB. Buy more GPUs ❌\nC. Quantise the model ✅\nD. Batch the requests ❌", "AC"),
    ("Answer: A and B\n\nActually, B costs more; the correct answers are A and C.", "AC"),
    ("I would select A and C.", "AC"),
    ("Answer: A", ""),
    ("Answer: A, C and D", ""),
    ("A, C", "AC"),
]


@pytest.mark.parametrize(("text", "letter"), ONE, ids=lambda value: value[:40])
def test_the_letter_that_an_answer_settles_on_counts(text: str, letter: str) -> None:
    assert chosen(text, CHIPS) == (letter,)


@pytest.mark.parametrize("text", NONE)
def test_an_answer_that_settles_on_nothing_has_no_letter(text: str) -> None:
    assert chosen(text, CHIPS) == ()


@pytest.mark.parametrize(("text", "letters"), TWO, ids=lambda value: value[:40])
def test_as_many_letters_count_as_the_question_asks_for(text: str, letters: str) -> None:
    assert chosen(text, MEASURES, 2) == tuple(letters)


def test_a_boxed_letter_stands_on_a_line_of_its_own() -> None:
    assert undressed(r"It is \boxed{B}.") == "It is \nAnswer: {B}."
