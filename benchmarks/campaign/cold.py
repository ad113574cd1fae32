"""Cold concurrent questions: many threads ask a process that has not answered anything yet.

    python benchmarks/campaign/cold.py [--index DIR] [--starts N] [--questions N] [--threads N] [--seed N]

Each start is a process of its own; its answers are compared with those of another new process that one thread asks. The
exit code is 1 if a question was answered in other words than alone, or raised an exception.
"""

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "tuned.jsonl"
RAISED = "raised "


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, default=ROOT / "index", metavar="DIR")
    parser.add_argument("--starts", type=int, default=10, metavar="N")
    parser.add_argument("--questions", type=int, default=20, metavar="N", help="in each start (%(default)s)")
    parser.add_argument("--threads", type=int, default=8, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answer:
        print(json.dumps(answered(options.index, json.load(sys.stdin), options.threads)))
        return 0
    wrong = 0
    for start in range(options.starts):
        asked = drawn(options.questions, options.seed + start)
        answers = zip(asked, *(in_a_new_process(options.index, asked, threads) for threads in (1, options.threads)), strict=True)
        found = [f"{question!r}\n    alone:    {one!r}\n    together: {other!r}" for question, one, other in answers if one != other or one.startswith(RAISED)]
        wrong += len(found)
        print(f"start {start + 1}: {len(asked)} questions, {len(found)} wrong", *found[:3], sep="\n  ", flush=True)
    print(f"{options.starts * options.questions} cold questions in {options.starts} starts: {wrong} wrong")
    return 1 if wrong else 0


def drawn(count: int, seed: int) -> list[str]:
    """Return first turns of golden questions, drawn by a seed."""
    lines = GOLDEN.read_text(encoding="utf-8").splitlines()
    return random.Random(seed).sample([json.loads(line)["turns"][0] for line in lines], count)


def answered(index: Path, questions: Sequence[str], threads: int) -> list[str]:
    """Return the answers of this process, asked by `threads` threads at once; an exception stands for the answer, after `RAISED`."""
    from chatbot import Chatbot

    sys.setswitchinterval(1e-5)
    bot = Chatbot.open(index)

    def answer(question: str) -> str:
        try:
            return bot.ask(question).text
        except Exception as error:
            return f"{RAISED}{error!r}"

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(answer, questions))


def in_a_new_process(index: Path, questions: Sequence[str], threads: int) -> list[str]:
    """Return the answers of a process that starts for them."""
    command = [sys.executable, __file__, "--answer", "--index", str(index), "--threads", str(threads)]
    ended = subprocess.run(command, input=json.dumps(questions), stdout=subprocess.PIPE, text=True, check=True)
    found: list[str] = json.loads(ended.stdout)
    return found


if __name__ == "__main__":
    sys.exit(main())
