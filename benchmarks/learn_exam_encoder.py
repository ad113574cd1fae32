"""Learn the exam reader's adapter from benchmarks/labels/encoder and write ingest/exam-adapter.safetensors.

    python benchmarks/learn_exam_encoder.py [--write]

A long stem and the sentence that decides it share few words, and each option has sentences that speak of it and decide
nothing. So the sentence adapter (benchmarks/learn_encoder.py) is trained further, on exam questions alone. The sentence
that proves the key should be nearer to the stem, alone and with its options, and to the right option with the stem,
than three kinds of text: what the reader put beside the options before (hard negatives, as in Xiong et al. 2021,
arXiv:2007.00808), the rest of its document, and the proofs of other questions. And the right option should be nearer to
that sentence than the wrong ones. Texts are compared as wholes and word by word, as in learn_encoder.py.

None of the questions from which the exam weights are learned are among these: the nearness that those weights rely on
must be as good for questions that no encoder has seen.
"""

import argparse
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from judge_pairs import labelled, overlaps
from learn_encoder import (
    LABELS,
    TURNED,
    Encoded,
    Model,
    cross_entropy,
    cut,
    exam_examples,
    of_options,
    pieces_of,
    sentences,
)
from safetensors.numpy import load_file, save
from torch import Tensor, nn

HERE = Path(__file__).parent
SENTENCES = HERE.parent / "ingest" / "encoding" / "adapter.safetensors"
ADAPTER = HERE.parent / "ingest" / "encoding" / "exam-adapter.safetensors"
REFERENCE = HERE.parent / "corpus" / "reference"
RATE = 3e-4
EPOCHS = 2
BATCH = 8
WRONG = 4
LONGEST = 200
WARM = 20


class ExamExample(NamedTuple):
    """An exam question: the pieces that prove its key, those that the reader put beside its options, and other pieces.

    The other pieces are the rest of its document. `turned` says that it asks for what does not hold: then what proves
    an option speaks against picking it.
    """

    stem: str
    options: list[str]
    right: list[int]
    proofs: list[str]
    beside: list[str]
    rest: list[str]
    turned: bool


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--write", action="store_true", help="write ingest/exam-adapter.safetensors")
    write = options.parse_args().write
    torch.manual_seed(0)
    model = Model(LONGEST, half=True)
    model.go_on(load_file(SENTENCES))
    learned = [*on_reference(), *on_invented()]
    print(f"{len(learned)} questions to learn from")
    for epoch, mean in enumerate(learn(model, learned), 1):
        print(f"epoch {epoch}: loss {mean:.3f}", flush=True)
        if write:
            ADAPTER.write_bytes(save(model.changes()))
            print(f"EXAM_ADAPTER_SHA256 of ingest/encoding/minilm.py: {sha256(ADAPTER.read_bytes()).hexdigest()}", flush=True)


def on_reference() -> list[ExamExample]:
    """Return the questions on corpus/reference whose proof is a piece of its document."""
    pieces = {Path(name).name: found for name, found in pieces_of(REFERENCE)[0].items()}
    found = []
    for label in labelled("encoder/exam-reference.jsonl"):
        mine = pieces[label["document"]]
        proofs = [u.meant_in_place for u in mine if overlaps(u, [label["proof"]])]
        if proofs:
            found.append(
                ExamExample(
                    label["question"],
                    label["options"],
                    label["answer"],
                    proofs,
                    [text for text in label["beside"] if text not in proofs],
                    [u.meant_in_place for u in mine if u.meant_in_place not in proofs],
                    bool(TURNED.search(sentences(label["question"])[-1])),
                )
            )
    return found


def on_invented() -> list[ExamExample]:
    """Return the questions on the invented documents; what proves or disproves their other options stands beside."""
    found = []
    for example in exam_examples("encoder/exam.jsonl", LABELS / "encoder" / "documents"):
        proofs = example.proofs[example.right[0]]
        others = [p for n, some in enumerate(example.proofs) if n not in example.right for p in some if p not in proofs]
        found.append(ExamExample(example.stem, example.options, example.right, proofs, others, [], turned=False))
    return found


def learn(model: Model, learned: Sequence[ExamExample]) -> Iterator[float]:
    """Yield the mean loss of each epoch; the learning rate warms up, then falls linearly to zero."""
    draw = np.random.default_rng(0)
    optimizer = torch.optim.AdamW(model.learned, lr=RATE, weight_decay=0.01)
    steps = EPOCHS * -(-len(learned) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / WARM) * (1 - step / steps)
    )
    for _ in range(EPOCHS):
        losses = []
        for some in cut(len(learned), BATCH, draw):
            loss = batch_loss(model, [learned[i] for i in some], draw)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.learned, 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        yield float(np.mean(losses))


def batch_loss(model: Model, batch: Sequence[ExamExample], draw: np.random.Generator) -> Tensor:
    """Return the loss of a batch.

    It is the cross-entropy of the proof among all pieces of the batch, by the stem and by the right option, and of the
    right option among the wrong ones, by the proof.
    """
    stems, claims, pieces = [], [], []
    proof_at, first_at, claimed = [], [], []
    for number, example in enumerate(batch):
        stems.append(example.stem if draw.random() < 0.6 else f"{example.stem} {' '.join(example.options)}")
        proof_at.append(len(pieces))
        pieces.append(some_of(example.proofs, 1, draw)[0])
        beside = some_of(example.beside, WRONG, draw)
        pieces += [*beside, *some_of(example.rest, WRONG + 1 - len(beside), draw)]
        if not example.turned:
            right = example.right[int(draw.integers(len(example.right)))]
            wrong = [n for n in range(len(example.options)) if n not in example.right]
            short = draw.random() < 0.4
            claimed.append(number)
            first_at.append((len(claims), len(claims) + 1 + len(wrong)))
            claims += [claim(example, n, short=short) for n in (right, *wrong)]
    there = model.encode(pieces)
    proof_of = torch.tensor(proof_at)
    loss = cross_entropy(model.encode(stems), there, proof_of)
    if not claims:
        return loss
    said = model.encode(claims)
    rightly = Encoded(*(part[[first for first, _ in first_at]] for part in said))
    loss = loss + cross_entropy(rightly, there, proof_of[claimed])
    for number, (first, end) in zip(claimed, first_at, strict=True):
        proof = Encoded(*(part[proof_at[number] : proof_at[number] + 1] for part in there))
        loss = loss + of_options(Encoded(*(part[first:end] for part in said)), proof) / len(batch)
    return loss


def claim(example: ExamExample, option: int, *, short: bool) -> str:
    """Return an option after the sentence that asks, or before the whole stem: the reader compares both."""
    text = example.options[option]
    return f"{sentences(example.stem)[-1]} {text}" if short else f"{text}. {example.stem}"


def some_of(texts: Sequence[str], count: int, draw: np.random.Generator) -> list[str]:
    """Return `count` of the texts at random, or all if there are fewer."""
    return [texts[int(i)] for i in draw.permutation(len(texts))[: max(0, count)]]


if __name__ == "__main__":
    main()
