"""Which sentences of answers as language models write them survive the whole path, and what the path adds to the model's own time.

    python benchmarks/model_answers.py [--index DIR] [--wrong]

`labels/answers` holds answers in natural prose that people wrote over the passages that the program gave them (`packets.jsonl`), with each claim
labelled true or false by these passages alone. A scripted model says each of them, its keys put on the passages of today's prompt. A claim is
kept where its words stand in the answer that is shown.
"""

import argparse
import json
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.messages import BaseMessage

from chatbot import Chatbot
from chatbot.llm.models import ModelSettings
from chatbot.llm.scripted import ScriptedChatModel
from chatbot.marks import in_brackets, marked_numbers

LABELS = Path(__file__).parent / "labels" / "answers"
_PASSAGE = re.compile(r"<passage[^>]*>\n\[(\d+)\]\n(.*?)\n</passage>", re.DOTALL)
_ROW = re.compile(r"^\[(\d+)\] (.+)$", re.MULTILINE)
_MARKS = re.compile(r"\[\d[\d\s,;–-]*\]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--index", default="index")
    parser.add_argument("--wrong", action="store_true", help="print what was dropped of the true and kept of the false")
    options = parser.parse_args()
    bot = Chatbot.open(options.index)
    packets = {line["id"]: line for line in _lines("packets.jsonl")}
    kept: dict[bool, list[bool]] = {True: [], False: []}
    seconds, offline = [], 0
    answers = list(_lines("answers.jsonl"))
    for line in answers:
        packet = packets[line["packet"]]
        model = ScriptedChatModel(script=_saying(line["answer"], packet["prompt"]), piece=2_000)
        began = time.perf_counter()
        answer = Chatbot(bot.index, model, ModelSettings(tools=0)).ask(packet["question"])
        seconds.append(time.perf_counter() - began)
        offline += answer.model == "offline"
        shown = "" if answer.model == "offline" else _plain(answer.text)
        for claim in line["claims"]:
            stands = _stands(claim["text"], answer.text, shown)
            kept[claim["true"]].append(stands)
            if options.wrong and stands != claim["true"]:
                print(f"{'dropped' if claim['true'] else 'kept'} {line['packet']}: {claim['text']}")
    print(f"{len(answers)} answers; true kept {np.mean(kept[True]):.3f} of {len(kept[True])}, false kept {np.mean(kept[False]):.3f} of {len(kept[False])}")
    print(f"answered offline {offline}; beside the model's own time {np.median(seconds):.3f} s (median), {np.quantile(seconds, 0.95):.3f} s (95th percentile)")


def _saying(text: str, prompt: str) -> Any:
    """A script that says a text, its keys on the passages that the words under them have today."""
    then = _keys(prompt)

    def script(messages: Sequence[BaseMessage]) -> str:
        now = {words: key for key, words in _keys(messages[-1].text).items()}
        keys = {key: now[words] for key, words in then.items() if words in now}

        def put(match: re.Match[str]) -> str:
            return "".join(f"[{keys[n]}]" for n in marked_numbers(match.group()) if n in keys)

        return _MARKS.sub(put, in_brackets(text, len(then)))

    return script


def _keys(prompt: str) -> dict[int, str]:
    rows = prompt.partition("<rows>")[2].partition("</rows>")[0]
    return {int(n): " ".join(words.split()) for found in (_PASSAGE.findall(prompt), _ROW.findall(rows)) for n, words in found}


def _stands(claim: str, text: str, shown: str) -> bool:
    """Whether a claim is shown; of a table, "row | column | cell", whether the row has the cell."""
    parts = [_plain(part) for part in claim.split(" | ")]
    if len(parts) != 3:
        return bool(shown) and _plain(claim) in shown
    rows = [[_plain(cell) for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return bool(shown) and any(row[0] == parts[0] and parts[2] in row[1:] for row in rows)


def _plain(text: str) -> str:
    """The words and numbers alone, to be compared."""
    return " ".join(re.findall(r"[\w.,%$×+-]*\w%?", _MARKS.sub(" ", in_brackets(text, 99)).lower()))


def _lines(name: str) -> list[Any]:
    return [json.loads(line) for line in (LABELS / name).read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
