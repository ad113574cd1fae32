"""Mutated questions: none may raise, take over two seconds of CPU time, or get an answer with an unsupported mark.

    python benchmarks/campaign/fuzz.py [--index DIR] [--questions N] [--seed N]

Golden questions, exam questions and wordings of sizing are mutated (cut, repeated, joined, sprinkled with invisible
characters, with marks and with brackets) and asked, a part of them in a conversation. A question that is empty or too
long is refused in one sentence, which is an answer. The memory of the process is printed as it goes; it may grow by 100
MiB from the 200th question on. The exit code is 1 if any of this fails.
"""

import argparse
import ast
import json
import random
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from chatbot import Answer, Chatbot, ReaderError, Turn
from chatbot.deadline import OutOfTime
from chatbot.presentation.render import as_json, as_text

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 2.0
GROWN = 100.0
_WARM = 200
# How often each wording of sizing counts, since there are few of them.
_SIZED = 3
_MARK = re.compile(r"\[(\d+)\]")
_ODD = [
    "\udcff", "\ud800", "\x00", "\x1b[31m", "\u202e", "\u202c", "\u2066", "\u200b", "\u200d", "\ufeff", "\u2028", "\x0b", "\r", "\t",
    "[1]", "[12, 3]", "[", "]", "(", "((", "|", "||", "|---|", "`", "```", "**", "_", "<b>", "&lt;", "{", "%s", "\\", "'", "''", '"',
    "\u00b2", "\u0660", "\uff11", "\U0001d7d9", "\u00df", "\u0130", "\u4e2d\u6587", "\u05d0", "\U0001f600", "e\u0301", "-", "--", "...", "1e999", "0", "-1", "NaN",
    "A.", "B)", "\n- ", "\n", "?", "!", "https://a.example/b", "@here", "$", "\u20ac", "%", "\u00d7", "~", "\u2264",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Finding:
    """A question, with the conversation before it, and what was wrong with its answer."""

    turns: tuple[str, ...]
    wrong: str


def seeds() -> list[str]:
    """Return what is mutated: turns of golden questions, exam questions with options, and sizing wordings of the tests."""
    found: list[str] = []
    for file in sorted((ROOT / "tests" / "golden").glob("*tuned.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            found += json.loads(line)["turns"]
    for file in sorted((ROOT / "corpus" / "exam").glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines()[::4]:
            item = json.loads(line)
            options = item.get("options") or item.get("choices") or []
            texts = options.values() if isinstance(options, dict) else options
            stem = str(item.get("question") or item.get("stem") or "")
            found.append("\n".join([stem, *(f"{chr(65 + n)}. {text}" for n, text in enumerate(texts))]))
    for file in sorted((ROOT / "tests").glob("test_sizing_*.py")):
        found += _wordings(file) * _SIZED
    return found


def _wordings(file: Path) -> list[str]:
    """Return the sentences among the strings of a test."""
    strings = (
        node.value for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.Constant)
    )
    return sorted({text for text in strings if isinstance(text, str) and text.count(" ") > 1 and "\\" not in text})


def mutated(number: int, seed: int, given: Sequence[str]) -> tuple[str, ...]:
    """Return the turns of the question with this number."""
    draw = random.Random(f"{seed} {number}")
    turns = [draw.choice(given) for _ in range(1 if draw.random() < 0.7 else 2)]
    for _ in range(draw.randint(0, 5)):
        place = draw.randrange(len(turns))
        turns[place] = draw.choice(_MUTATIONS)(turns[place], draw, given)
    return tuple(turns)


def _cut(text: str, draw: random.Random, _: Sequence[str]) -> str:
    start, end = sorted(draw.randint(0, len(text)) for _ in range(2))
    return text[start:end] if draw.random() < 0.5 else text[:start] + text[end:]


def _repeated(text: str, draw: random.Random, _: Sequence[str]) -> str:
    start = draw.randint(0, len(text))
    piece = text[start : start + draw.randint(1, 30)]
    return text[:start] + piece * draw.choice((2, 3, 20, 300)) + text[start:]


def _joined(text: str, draw: random.Random, given: Sequence[str]) -> str:
    return text + draw.choice((" ", "\n", ", ", " or ", "")) + draw.choice(given)


def _sprinkled(text: str, draw: random.Random, _: Sequence[str]) -> str:
    for _ in range(draw.randint(1, 6)):
        place = draw.randint(0, len(text))
        text = text[:place] + draw.choice(_ODD) + text[place:]
    return text


def _odd_run(text: str, draw: random.Random, _: Sequence[str]) -> str:
    return text + draw.choice(_ODD) * draw.choice((10, 200, 2_000))


def _shuffled(text: str, draw: random.Random, _: Sequence[str]) -> str:
    words = text.split(" ")
    draw.shuffle(words)
    return " ".join(words)


def _other_case(text: str, draw: random.Random, _: Sequence[str]) -> str:
    return draw.choice((str.upper, str.lower, str.title, str.swapcase))(text)


def _swapped(text: str, draw: random.Random, _: Sequence[str]) -> str:
    characters = list(text)
    for _ in range(3):
        if len(characters) > 1:
            place = draw.randrange(len(characters) - 1)
            characters[place : place + 2] = reversed(characters[place : place + 2])
    return "".join(characters)


_MUTATIONS = (_cut, _repeated, _joined, _sprinkled, _sprinkled, _odd_run, _shuffled, _other_case, _swapped)


def asked(bot: Chatbot, turns: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with the answers to the turns of a conversation."""
    history: list[Turn] = []
    for turn in turns:
        began = time.process_time()
        try:
            answer = bot.ask(turn, history)
            yield from wrong_with(answer)
            history.append(Turn(turn, answer.text))
        except OutOfTime as error:
            yield str(error)
        except ReaderError:
            pass
        except Exception as error:
            yield f"{type(error).__name__}: {error}"
        if (took := time.process_time() - began) > SECONDS:
            yield f"{took:.1f} s of the processor"


def wrong_with(answer: Answer) -> Iterator[str]:
    """Yield what is wrong with an answer.

    Its marks must match its citations, its quotes must stand in their documents, and no character may be invisible.
    """
    marks, numbers = {int(n) for n in _MARK.findall(answer.text)}, {c.number for c in answer.citations}
    if marks != numbers:
        yield f"marks {sorted(marks)} and citations {sorted(numbers)}"
    if any(c.passage.chunk.document.text[c.start : c.end] != c.quote for c in answer.citations):
        yield "a quote that does not stand in its document"
    if re.search(
        "[\x00-\x08\x0e-\x1f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ud800-\udfff]", answer.text + as_text(answer)
    ):
        yield "a character that does not show"
    json.dumps(as_json(answer), ensure_ascii=False).encode()


def memory() -> float:
    """Return the MiB that the process holds now."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, default=ROOT / "index", metavar="DIR")
    parser.add_argument("--questions", type=int, default=10_000, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first question")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    options = parser.parse_args()
    bot, given = Chatbot.open(options.index), seeds()
    findings: list[Finding] = []
    warm, slowest, began = 0.0, 0.0, time.monotonic()
    for number in range(options.first, options.first + options.questions):
        turns = mutated(number, options.seed, given)
        before = time.process_time()
        found = [Finding(turns, wrong) for wrong in asked(bot, turns)]
        slowest = max(slowest, time.process_time() - before)
        for finding in found:
            print(f"  {number}: {finding.wrong}: {str(finding.turns)[:300]}", flush=True)
        findings += found
        done = number - options.first + 1
        warm = memory() if done == _WARM else warm
        if done % 200 == 0:
            print(
                f"{done}: {len(findings)} findings, slowest {slowest:.2f} s, {memory():.0f} MiB, {time.monotonic() - began:.0f} s",
                flush=True,
            )
    grown = memory() - warm if warm else 0.0
    print(
        f"{options.questions} questions, seed {options.seed}: {len(findings)} findings, slowest {slowest:.2f} s, grown by {grown:.0f} MiB since the {_WARM}th"
    )
    return 1 if findings or grown > GROWN else 0


if __name__ == "__main__":
    sys.exit(main())
