"""Learn what a sizing question asks for from benchmarks/labels and write chatbot/sizing/intents.safetensors.

    python benchmarks/learn_sizing_intent.py [--write]

`labels/sizing` holds wordings, each with what it asks for and the turn before it. The questions of `labels/encoder` and
`labels/elsewhere.jsonl` ask for nothing that is computed, and neither do the turns of `labels/asked.jsonl` that
documents answer or nothing does. A follow-up is learned with what the turn before it asks for: its label if that turn
is among the wordings, else what a model of the first turns says.

What is printed is measured by cross-validation: for each threshold, how many computed questions are claimed, how many
others, and how often the label of a claimed question is right.
"""

import argparse
import tempfile
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from judge import lines
from numpy.typing import NDArray
from safetensors.numpy import save_file
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from chatbot.sizing.asking import asked_for, can_be_computed
from chatbot.sizing.intent import COMPUTED, LABELS, features
from chatbot.sizing.reading import read_question
from chatbot.sizing.reading.text import Known
from chatbot.working import load
from ingest import Index, sync

HERE = Path(__file__).parent
INTENTS = HERE.parent / "chatbot" / "sizing" / "intents.safetensors"
# Questions for documents far outnumber all others, and would be guessed for whatever is new. What a prepared answer
# answers for people may be computed as well.
WEIGHT_OF_OTHERS = {"near misses": 0.5, "people": 0.1}
INVENTED = 800


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--write", action="store_true", help="write chatbot/sizing/intents.safetensors")
    write = options.parse_args().write
    wordings = [w for file in sorted((HERE / "labels" / "sizing").glob("*.jsonl")) for w in lines(file)]
    wordings = [{**w, "set": "near misses"} if w["asked"] in ("document", "other") else w for w in wordings]
    wordings += of_people({w["text"] for w in wordings})
    others = [{"text": text, "asked": asked, "set": name} for name, asked, text in of_documents()]
    with tempfile.TemporaryDirectory() as folder:
        sync([HERE.parent / "corpus" / "facts", HERE.parent / "corpus" / "instances.csv"], Path(folder) / "index")
        known = load(Index.open(Path(folder) / "index")).known
    questions = [*with_what_was_asked(wordings, known), *others]
    rows = csr_matrix(np.array([features(read_question(q["text"], known), q.get("asked before")) for q in questions]))
    report(questions, rows, known)
    if write:
        model = fitted(questions, rows)
        save_file(
            {"weights": model.coef_.T.astype(np.float16).copy(), "biases": model.intercept_.astype(np.float16)}, INTENTS
        )


def of_people(known: set[str]) -> list[dict[str, str]]:
    """Return what people asked that no computation answers, a follow-up with the turn before it.

    Texts that are known are left out.
    """
    turns = [label["turns"] for label in lines(HERE / "labels" / "asked.jsonl") if label["answer"] in ("section", "none")]
    said = {text[-1]: text for text in turns if text[-1] not in known}
    return [{"text": last, "asked": "document", "set": "people", **({"before": before[-1]} if before else {})} for *before, last in said.values()]


def of_documents() -> list[tuple[str, str, str]]:
    encoder = HERE / "labels" / "encoder"
    return [
        *(("reference", "document", q["question"]) for q in lines(encoder / "reference.jsonl")),
        *(("invented", "document", q["question"]) for q in lines(encoder / "invented.jsonl")[:INVENTED]),
        *(("elsewhere", "other", q["question"]) for q in lines(HERE / "labels" / "elsewhere.jsonl")),
    ]


def with_what_was_asked(wordings: Sequence[Mapping[str, str]], known: Known) -> list[dict[str, str]]:
    """Return the wordings, each follow-up with the label of the turn before it."""
    first = [w for w in wordings if "before" not in w]
    model = fitted(first, csr_matrix(np.array([features(read_question(w["text"], known), None) for w in first])))
    labels = {w["text"]: w["asked"] for w in wordings}
    for text in {w["before"] for w in wordings if "before" in w} - labels.keys():
        labels[text] = LABELS[int(model.predict(features(read_question(text, known), None)[None])[0])]
    return [{**w, **({"asked before": labels[w["before"]]} if "before" in w else {})} for w in wordings]


def fitted(questions: Sequence[Mapping[str, str]], rows: csr_matrix) -> LogisticRegression:
    labels = [LABELS.index(q["asked"]) for q in questions]
    return LogisticRegression(C=10, max_iter=300).fit(rows, labels, [WEIGHT_OF_OTHERS.get(q["set"], 0.25) if "set" in q else 1.0 for q in questions])


def report(questions: Sequence[Mapping[str, str]], rows: csr_matrix, known: Known) -> None:
    likely = out_of_fold(questions, rows, known)
    labels = np.array([LABELS.index(q["asked"]) for q in questions])
    computed, sets = labels < len(COMPUTED), np.array([q.get("set", "wordings") for q in questions])
    claim, best = likely[:, : len(COMPUTED)].sum(axis=1), likely[:, : len(COMPUTED)].argmax(axis=1)
    claim *= [can_stand(q, COMPUTED[label], known) for q, label in zip(questions, best, strict=True)]
    print(f"{len(questions)} questions, {computed.sum()} computed; label right for {(best == labels)[computed].mean():.3f} of these")
    for threshold in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        claimed = claim > threshold
        others = {name: claimed[(sets == name) & ~computed].mean() for name in dict.fromkeys(sets)}
        told = ", ".join(f"{name} {share:.4f}" for name, share in others.items())
        print(f"{threshold}: {claimed[computed].mean():.3f} claimed, rightly {(claimed & (best == labels))[computed].mean():.3f}; not computed: {told}")
    confused = Counter((LABELS[a], LABELS[b]) for a, b in zip(labels[computed], best[computed], strict=True) if a != b)
    print("taken for:", ", ".join(f"{a} {b} {count}" for (a, b), count in confused.most_common(20)))


def can_stand(question: Mapping[str, str], label: str, known: Known) -> bool:
    """Whether the slots that a label needs are there; for a follow-up, the turns before may have given those it lacks."""
    said = read_question(question["text"], known)
    return "before" in question or can_be_computed(label, asked_for(said, label, None, known))


def out_of_fold(questions: Sequence[Mapping[str, str]], rows: csr_matrix, known: Known) -> NDArray[np.float64]:
    """Return the probabilities, (questions, LABELS), out of fold; the same words with other slots are in one fold."""
    groups = [zlib.crc32(read_question(q["text"], known).plain.encode()) for q in questions]
    likely = np.zeros((len(questions), len(LABELS)))
    for learned, held in GroupKFold(4).split(rows, groups=groups):
        model = fitted([questions[i] for i in learned], rows[learned])
        likely[np.ix_(held, model.classes_)] = model.predict_proba(rows[held])
    return likely


if __name__ == "__main__":
    main()
