"""Measure the time from a model's last token to the verified Answer, with 8 passages in its prompt.

    python benchmarks/llm.py [INDEX] [--answers N]

A scripted model writes what the offline reader drafts for the tuned golden questions, in small pieces, and notes when
it hands over the last; the clock stops when the Answer is there. Exam questions are verified at the end as a whole, all
others while they are written, so both are shown. The exit code is 1 if a goal is missed.
"""

import argparse
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from chatbot import Chatbot
from chatbot.bot import search
from chatbot.exam.golden import GoldenQuestion, load_questions
from chatbot.llm.models import ModelSettings
from chatbot.llm.scripted import ScriptedChatModel
from chatbot.offline import read
from chatbot.question.query import understand
from ingest import Index, sync

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent / "tests" / "golden" / "tuned.jsonl"
PASSAGES = 8
GOAL = 20.0
# Characters per token.
PIECE = 4


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index", type=Path, nargs="?", help="an index of corpus/; made anew without it")
    parser.add_argument("--answers", type=int, default=100, help="how many questions are asked (%(default)s)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.index or Path(folder) / "index"
        if options.index is None:
            sync([HERE.parent / "corpus"], path)
        questions = [q for q in load_questions(GOLDEN) if len(q.turns) == 1 and not q.refused]
        step = max(1, len(questions) // options.answers)
        exams, others = _times(Index.open(path), questions[::step][: options.answers])
    print(f"From the last token to the verified answer, {PASSAGES} passages, milliseconds")
    print(f"{'':24}{'answers':>8}{'median':>8}{'95 %':>8}{'most':>8}")
    for name, times in (("sentence by sentence", others), ("exam, at the end", exams)):
        print(f"{name:24}{len(times):>8}{statistics.median(times):>8.1f}{_p95(times):>8.1f}{max(times):>8.1f}")
    reached = {
        f"under {GOAL:.0f} ms (median), sentence by sentence": statistics.median(others) < GOAL,
        f"under {GOAL:.0f} ms (95th percentile), sentence by sentence": _p95(others) < GOAL,
        f"under {GOAL:.0f} ms (median), exam": statistics.median(exams) < GOAL,
    }
    for goal, is_reached in reached.items():
        print(f"{'PASS' if is_reached else 'FAIL'}  {goal}")
    return 0 if all(reached.values()) else 1


def _p95(times: Sequence[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


def _times(index: Index, questions: Sequence[GoldenQuestion]) -> tuple[list[float], list[float]]:
    """Return the milliseconds after the last token, for exam questions and for all others that were answered."""
    exams: list[float] = []
    others: list[float] = []
    for number, question in enumerate(questions):
        taken = _time(index, question.turns[0])
        # The first answer also loads what every later one finds loaded.
        if number and taken is not None:
            (exams if question.choices else others).append(taken)
    return exams, others


def _time(index: Index, question: str) -> float | None:
    query = understand(question, (), index)
    draft = read(query, search(query, index)[:PASSAGES], index)
    text = re.sub(r"\[(\d+)\]", lambda m: f"[{draft.evidence[int(m[1]) - 1].passage.number}]", draft.text)
    text += f"\nANSWER: {', '.join(draft.choices)}" if draft.choices else ""
    handed: list[float] = []

    def write(messages: object) -> Iterator[str]:
        for start in range(0, len(text), PIECE):
            handed.append(time.perf_counter())
            yield text[start : start + PIECE]

    bot = Chatbot(index, ScriptedChatModel(script=write), ModelSettings(passages=PASSAGES))
    answer = bot.ask(question)
    ended = time.perf_counter()
    return None if answer.refused or not handed else 1000 * (ended - handed[-1])


if __name__ == "__main__":
    sys.exit(main())
