"""Compare time and memory with the stock LangChain pipeline: a fresh question, an ingest, and an open chatbot.

    python benchmarks/startup.py [--runs N]

Both sides take turns, each time in a new process, after one round that is not counted. The exit code is 1 if a goal is
missed. The process that measures is small and keeps to the standard library, because Linux counts its memory as a
child's too.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
CORPUS = HERE.parent / "corpus"
GOLDEN = HERE.parent / "tests" / "golden" / "tuned.jsonl"
QUESTION = "How much accelerator memory does a trn1.32xlarge have?"
WATTWISE = (str(Path(sys.executable).parent / "wattwise"),)
STOCK = (sys.executable, str(HERE / "stock.py"))
# In a command, stands for a folder that each run has to itself.
NEW = "{new}"


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process took: wall time, and the most memory that it ever held; or the medians of several."""

    seconds: float
    mebibytes: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="how often each side is measured (%(default)s)")
    parser.add_argument("--ask-golden", metavar="INDEX", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ask_golden:
        print(json.dumps(_ask_golden(options.ask_golden)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        goals = _compare(Path(folder), options.runs)
    for goal, reached in goals.items():
        print(f"{'PASS' if reached else 'FAIL'}  {goal}")
    return 0 if all(goals.values()) else 1


def _compare(folder: Path, runs: int) -> dict[str, bool]:
    five = str(_five(folder / "five"))
    ours, theirs, whole = str(folder / "ours"), str(folder / "theirs"), str(folder / "whole")
    _run(*WATTWISE, "ingest", five, "--index", ours)
    _run(*WATTWISE, "ingest", str(CORPUS), "--index", whole)
    _run(*STOCK, "ingest", five, theirs)
    asked = _measured(
        f"A fresh process answers a question (median of {runs}, lowest and highest)",
        {
            "wattwise ask, whole corpus": (*WATTWISE, "ask", QUESTION, "--index", whole),
            "wattwise ask": (*WATTWISE, "ask", QUESTION, "--index", ours),
            "LangChain": (*STOCK, "ask", QUESTION, theirs),
        },
        runs,
    )
    ingested = _measured(
        "A fresh process ingests the five documents",
        {"wattwise": (*WATTWISE, "ingest", five, "--index", NEW), "LangChain": (*STOCK, "ingest", five, NEW)},
        runs,
    )
    warm = _warm(ours, runs, "the five documents")
    _warm(whole, runs, "the whole corpus")
    return {
        "a fresh question at least 5 times faster": asked["LangChain"].seconds >= 5 * asked["wattwise ask"].seconds,
        "a fresh question in at most half the memory": asked["wattwise ask"].mebibytes <= asked["LangChain"].mebibytes / 2,
        "ingest at least 2 times faster": ingested["LangChain"].seconds >= 2 * ingested["wattwise"].seconds,
        "a warm question under 50 ms (median)": statistics.median(warm) < 50,
        "a warm question under 150 ms (95th percentile)": _p95(warm) < 150,
    }


def _five(folder: Path) -> Path:
    """Copy the five source documents into a folder of their own, as both sides get them."""
    folder.mkdir()
    for file in CORPUS.glob("*.md"):
        shutil.copy(file, folder)
    return folder


def _measured(title: str, commands: Mapping[str, tuple[str, ...]], runs: int) -> dict[str, Cost]:
    """Measure the commands in turn and print a row for each; ratios are to the last one."""
    rounds = [{name: _cost(command) for name, command in commands.items()} for _ in range(runs + 1)][1:]
    medians = {
        name: Cost(*(statistics.median(values) for values in zip(*(astuple(each[name]) for each in rounds), strict=True)))
        for name in commands
    }
    print(f"{title}\n{'':28}{'seconds':>24}{'ratio':>8}{'MiB':>8}{'ratio':>8}")
    *_, last = medians.values()
    for name, cost in medians.items():
        times = [each[name].seconds for each in rounds]
        spread = f"{cost.seconds:.2f} ({min(times):.2f}-{max(times):.2f})"
        speed, memory = last.seconds / cost.seconds, last.mebibytes / cost.mebibytes
        print(f"{name:28}{spread:>24}{speed:>8.1f}{cost.mebibytes:>8.0f}{memory:>8.1f}")
    print()
    return medians


def _cost(command: Sequence[str]) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        return _run(*(word.replace(NEW, f"{folder}/index") for word in command))[0]


def _run(*command: str) -> tuple[Cost, str]:
    """Return what a command cost and what it printed; the benchmark ends if one fails."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            sys.exit(f"{' '.join(command)} failed with exit code {process.returncode}:\n{errors.read()[-2000:]}")
        # Linux counts in KiB, macOS in bytes.
        return Cost(seconds, usage.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)), output.read()


def _warm(index: str, runs: int, over: str) -> list[float]:
    """Return the milliseconds of every question, each new to its process."""
    times: list[float] = []
    for _ in range(runs):
        times += json.loads(_run(sys.executable, str(HERE / "startup.py"), "--ask-golden", index)[1])
    print(f"An open chatbot answers {len(times) // runs} turns of the tuned golden questions over {over}, milliseconds")
    print(f"  median {statistics.median(times):.1f}, 95 % {_p95(times):.1f}, most {max(times):.1f}\n")
    return times


def _p95(times: Sequence[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


def _ask_golden(index: str) -> list[float]:
    """Ask all questions once, after one question that loads the model."""
    from chatbot import Chatbot, Turn

    bot = Chatbot.open(index)
    bot.ask(QUESTION)
    times: list[float] = []
    for line in GOLDEN.read_text(encoding="utf-8").splitlines():
        history: list[Turn] = []
        for turn in json.loads(line)["turns"]:
            began = time.perf_counter()
            answer = bot.ask(turn, history)
            times.append(1000 * (time.perf_counter() - began))
            history.append(Turn(turn, answer.text))
    return times


if __name__ == "__main__":
    sys.exit(main())
