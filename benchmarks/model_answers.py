"""Measure which sentences of answers, as language models write them, survive the whole path, and the time it adds.

    python benchmarks/model_answers.py [--index DIR] [--wrong]

`labels/answers` holds answers in natural prose that people wrote over the passages that the program gave them
(`packets.jsonl`), with each claim labelled true or false by these passages alone. A scripted model says each of them
over the same passages, whatever would be found today. A claim is kept if its words occur in the answer that is shown.
Every eighth answer is said again in real time at the pace of a fast model, 400 characters a second, as it would arrive
over a network: what the program takes beyond that is what it adds to the model's own time.
"""

import argparse
import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from judge import lines
from langchain_core.messages import BaseMessage

import chatbot.bot as bot_module
from chatbot import Chatbot
from chatbot.answer import Passage
from chatbot.llm.models import ModelSettings
from chatbot.llm.scripted import ScriptedChatModel
from chatbot.verification.marks import in_brackets, marked_numbers
from ingest import Index

LABELS = Path(__file__).parent / "labels" / "answers"
_PASSAGE = re.compile(r"<passage[^>]*>\n\[(\d+)\]\n(.*?)\n</passage>", re.DOTALL)
_ROW = re.compile(r"^\[(\d+)\] (.+)$", re.MULTILINE)
_PACE = 400.0
_MARKS = re.compile(r"\[\d[\d\s,;–-]*\]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--index", default="index")
    parser.add_argument("--wrong", action="store_true", help="print what was dropped of the true and kept of the false")
    options = parser.parse_args()
    bot = Chatbot.open(options.index)
    packets = {line["id"]: line for line in lines(LABELS / "packets.jsonl")}
    kept: dict[bool, list[bool]] = {True: [], False: []}
    at_once, behind, offline = [], [], 0
    answers = lines(LABELS / "answers.jsonl")
    given = {id: _passages(packet["prompt"], bot.index) for id, packet in packets.items()}
    for number, line in enumerate(answers):
        packet = packets[line["packet"]]
        bot_module._for_model = lambda *_, found=given[line["packet"]]: found
        said = _saying(line["answer"], packet["prompt"])
        began = time.perf_counter()
        answer = Chatbot(bot.index, ScriptedChatModel(script=said, piece=2_000), ModelSettings(tools=0)).ask(packet["question"])
        at_once.append(time.perf_counter() - began)
        if number % 8 == 0 and answer.model != "offline":
            behind.append(_behind(bot, packet["question"], said))
        offline += answer.model == "offline"
        shown = "" if answer.model == "offline" else _plain(answer.text)
        for claim in line["claims"]:
            stands = _stands(claim["text"], answer.text, shown)
            kept[claim["true"]].append(stands)
            if options.wrong and stands != claim["true"]:
                print(f"{'dropped' if claim['true'] else 'kept'} {line['packet']}: {claim['text']}")
    print(f"{len(answers)} answers; true kept {np.mean(kept[True]):.3f} of {len(kept[True])}, false kept {np.mean(kept[False]):.3f} of {len(kept[False])}")
    print(f"answered offline {offline}; of a model that says all at once {np.median(at_once):.3f} s (median), {np.quantile(at_once, 0.95):.3f} s (95th percentile)")
    print(f"over the time of one that streams {np.median(behind):.3f} s (median of {len(behind)}), {max(behind):.3f} s at most")


def _passages(prompt: str, index: Index) -> tuple[Passage, ...]:
    """Return the passages of a prompt as they stand in the index."""
    found: list[Passage] = []
    for _, words in _PASSAGE.findall(prompt):
        words = " ".join(words.split())
        near = index.chunks([id for id, _ in index.lexical(words[:600], 30)])
        chunk = next(chunk for chunk in near if " ".join(chunk.text.split())[:200] in words)
        found.append(Passage(len(found) + 1, chunk, 1.0))
    return tuple(found)


class _Paced(list[str]):
    """Pieces that become available at fixed times, however late they are asked for."""

    took = 0.0

    def __iter__(self) -> Iterator[str]:
        began = time.perf_counter()
        for number, piece in enumerate(super().__iter__(), start=1):
            self.took = number * len(self[0]) / _PACE
            time.sleep(max(0.0, began + self.took - time.perf_counter()))
            yield piece


def _behind(bot: Chatbot, question: str, said: Callable[[Sequence[BaseMessage]], str]) -> float:
    paced: list[_Paced] = []

    def script(messages: Sequence[BaseMessage]) -> _Paced:
        text = said(messages)
        paced.append(_Paced(text[i : i + 12] for i in range(0, len(text), 12)))
        return paced[-1]

    chat = Chatbot(bot.index, ScriptedChatModel(script=script), ModelSettings(tools=0))
    began = time.perf_counter()
    chat.ask(question)
    return time.perf_counter() - began - sum(one.took for one in paced)


def _saying(text: str, prompt: str) -> Any:
    """Return a script that says a text, with its keys on the passages that hold the same words today."""
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
    """Whether a claim is shown; for one of a table, "row | column | cell", whether the row has the cell."""
    parts = [_plain(part) for part in claim.split(" | ")]
    if len(parts) != 3:
        return bool(shown) and _plain(claim) in shown
    rows = [[_plain(cell) for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return bool(shown) and any(row[0] == parts[0] and parts[2] in row[1:] for row in rows)


def _plain(text: str) -> str:
    """Return the words and numbers alone, for comparison."""
    return " ".join(re.findall(r"[\w.,%$×+-]*\w%?", _MARKS.sub(" ", in_brackets(text, 99)).lower()))


if __name__ == "__main__":
    main()
