"""Does the offline reader cite what answers, where people ask in their own words?

    python benchmarks/natural_evidence.py

The 833 questions of `labels/natural.jsonl` are asked of the corpus. Printed, for each kind: how many are answered, for how many the first
citation is a labelled answer, for how many any is, and how many citations an answer has; of the unanswerable ones, how many are answered.
"""

import json
import tempfile
from collections import defaultdict
from pathlib import Path

from chatbot import Answer, Chatbot
from ingest import sync

HERE = Path(__file__).parent


def main() -> None:
    questions = [json.loads(line) for line in (HERE / "labels" / "natural.jsonl").read_text(encoding="utf-8").splitlines()]
    found: dict[str, list[tuple[bool, bool, bool, int]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        sync([HERE.parent / "corpus"], Path(folder) / "index")
        bot = Chatbot.open(Path(folder) / "index")
        for question in questions:
            answer = bot.ask(question["question"])
            right = [_is_labelled(answer, n, question["answers"]) for n in range(len(answer.citations))]
            kind = question["kind"] if question["answers"] else "unanswerable"
            found[kind].append((not answer.refused, right[:1] == [True], any(right), len(right)))
    found["all that have an answer"] = [one for kind, some in found.items() if kind != "unanswerable" for one in some]
    for kind, some in sorted(found.items()):
        answered, first, held, cited = (sum(one[part] for one in some) for part in range(4))
        print(f"{kind}: {answered} of {len(some)} answered, {first} first right, {held} right anywhere, {cited / max(1, answered):.1f} citations each")


def _is_labelled(answer: Answer, number: int, labels: list[str]) -> bool:
    """Whether a citation and a labelled answer share most of the shorter of the two."""
    citation = answer.citations[number]
    text = citation.passage.chunk.document.text
    for label in labels:
        start = text.find(label)
        shared = min(citation.end, start + len(label)) - max(citation.start, start) if start >= 0 else 0
        if shared > 0.6 * min(len(label), citation.end - citation.start):
            return True
    return False


if __name__ == "__main__":
    main()
