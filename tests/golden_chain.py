"""Run the golden questions through the language-model chain: `python tests/golden_chain.py INDEX FILE… [--every N]`.

The model is scripted: it writes the offline reader's draft for the passages in its prompt, with passage keys as citation marks.
This measures the chain, not a model.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prompt_reading import key_of, passages_in

from chatbot import REFUSAL, Answer, Chatbot, Turn
from chatbot.exam.golden import GoldenQuestion, load_questions
from chatbot.exam.golden_scoring import Asked, ask, false_answers, passed, report
from chatbot.llm.scripted import ScriptedChatModel
from chatbot.offline import read
from chatbot.question.query import Query, understand
from chatbot.retrieval.searching import search
from chatbot.verification.citations import Evidence, verify, whole
from ingest import Index

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from chatbot import Passage


def drafted(query: Query, passages: Sequence[Passage], index: Index, key: Callable[[Evidence], int]) -> str:
    """The offline reader's draft as a model would write it: passage keys as marks, chosen letters in the last line."""
    draft = read(query, passages, index)
    text = re.sub(r"\[(\d+)\]", lambda match: f"[{key(draft.evidence[int(match[1]) - 1])}]", draft.text)
    last = f"\nANSWER: {', '.join(draft.choices)}" if query.options and draft.text else ""
    return f"{text}{last}" if text else REFUSAL


class Chained:
    """The chatbot with the scripted model; unless `again` is set, its second attempt (with more passages) is a refusal."""

    def __init__(self, index: Index, *, again: bool) -> None:
        self._index, self._again = index, again
        self._asked: tuple[str, Sequence[Turn]] = ("", ())
        self._attempts = 0
        self._bot = Chatbot(index, ScriptedChatModel(script=self._write, piece=23))

    def ask(self, question: str, history: Sequence[Turn] = ()) -> Answer:
        self._asked, self._attempts = (question, history), 0
        answer = self._bot.ask(question, history)
        # If no sentence survives verification, the offline reader answers and sets a notice; here that counts as a refusal.
        return replace(answer, text=REFUSAL, citations=(), refused=True, choices=()) if answer.notice else answer

    def _write(self, messages: list[BaseMessage]) -> str:
        if not passages_in(messages):  # a request to condense the question: leave it to the rules
            return ""
        self._attempts += 1
        if self._attempts > 1 and not self._again:
            return REFUSAL
        query = understand(self._asked[0].strip(), self._asked[1], self._index)
        # A prompt also has the rows and the proofs of prepared answers, so its keys are not the numbers of the search.
        return drafted(query, search(query, self._index, self._attempts), self._index, lambda one: key_of(messages, one.passage.chunk.document.text[one.start : one.end]))


class Direct:
    """The same drafts, verified directly without the chain and the model."""

    def __init__(self, index: Index) -> None:
        self._index, self._offline = index, Chatbot(index)

    def ask(self, question: str, history: Sequence[Turn] = ()) -> Answer:
        query = understand(question.strip(), history, self._index)
        passages = search(query, self._index)
        text = re.sub(r"\nANSWER: .*", "", drafted(query, passages, self._index, lambda one: one.passage.number))
        given = [o.label for o in query.options] + list(query.sides)
        verified = verify(text, whole(passages), given, own_words=True)
        answer = self._offline.ask(question, history)
        kept = bool(verified.citations)
        return replace(
            answer,
            text=verified.text if kept else REFUSAL,
            citations=verified.citations,
            refused=not kept,
            choices=answer.choices if kept else (),
        )


def score(index: Index, questions: Sequence[GoldenQuestion]) -> dict[str, list[Asked]]:
    """Ask each question four ways: offline reader, direct verification, chain without a second attempt, full chain."""
    bots: dict[str, Any] = {
        "offline": Chatbot(index),
        "direct": Direct(index),
        "no second attempt": Chained(index, again=False),
        "chain": Chained(index, again=True),
    }
    return {name: [ask(bot, question) for question in questions] for name, bot in bots.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Score the chain with a scripted model on golden questions.")
    parser.add_argument("index", type=Path)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each Nth question")
    options = parser.parse_args(arguments)
    index = Index.open(options.index)
    documents = [document.id for document in index.documents()]
    for file in options.files:
        questions = [question for question in load_questions(file) if not question.is_answered_by(documents)]
        asked = score(index, questions[:: options.every])
        for name, answers in asked.items():
            print(report(f"{file.name}, {name}", answers))
        print(
            *(f"{n}: {passed(a).hits} passed, {false_answers(a).hits} false answers" for n, a in asked.items()),
            sep="\n",
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
