"""Learn the encoder's adapter from benchmarks/labels/encoder and write ingest/adapter.safetensors.

    python benchmarks/learn_encoder.py [--write]

A question and the pieces that answer it should be near each other, the other pieces of the same document far. The loss is
the cross-entropy of one right piece among some wrong ones of its document, of the hardest by the published model, and the
pieces of the other questions of the batch (Karpukhin et al. 2020, arXiv:2004.04906). A share of the batches compares whole
passages, so that these stay comparable with questions too. Only low-rank changes of the matrices are learned (LoRA, Hu et al.
2021, arXiv:2106.09685): what is shipped is half a megabyte on top of the published weights.

What is printed is how often the nearest piece is right on the invented documents of benchmarks/labels. Nothing is learned
from those: the evidence scorer is, and it must meet an encoder that is as strange to its documents as to a user's.
"""

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch
from learn_weights import overlaps
from numpy.typing import NDArray
from safetensors.numpy import save
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer

from chatbot.evidence import units
from ingest import Index, sync
from ingest.minilm import model_folder
from ingest.vectors import encoded_text

HERE = Path(__file__).parent
LABELS = HERE / "labels"
ADAPTER = HERE.parent / "ingest" / "adapter.safetensors"
RANK = 8
SCALE = 2.0
RATE = 5e-4
EPOCHS = 3
BATCH = 16
WRONG = 4
HARDEST = 20
TEMPERATURE = 0.05
LONGEST = 128
OF_PASSAGES = 0.2


class Example(NamedTuple):
    """A question with the pieces that answer it and the wrong ones of its document, as texts, hardest first; then passages."""

    question: str
    right: list[str]
    wrong: list[str]
    right_passages: list[str]
    wrong_passages: list[str]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--write", action="store_true", help="write ingest/adapter.safetensors")
    write = options.parse_args().write
    torch.manual_seed(0)
    model = Model()
    learned = [
        *examples(LABELS / "encoder" / "reference.jsonl", HERE.parent / "corpus" / "reference", model),
        *examples(LABELS / "encoder" / "invented.jsonl", LABELS / "encoder" / "documents", model),
    ]
    measured = examples(LABELS / "questions.jsonl", LABELS / "documents", model)
    print(f"{len(learned)} questions to learn from, {len(measured)} to measure with")
    print(f"published: the nearest piece is right {nearest_right(model, measured):.3f}")
    for epoch, loss in enumerate(learn(model, learned), 1):
        print(f"epoch {epoch}: loss {loss:.3f}; right {nearest_right(model, measured):.3f}", flush=True)
        if write:
            ADAPTER.write_bytes(save(model.changes()))
            print(f"ADAPTER_SHA256 of ingest/minilm.py: {sha256(ADAPTER.read_bytes()).hexdigest()}")


def examples(labels: Path, documents: Path, model: "Model") -> list[Example]:
    """The answerable questions of the labels; pieces and passages are those that the bot would cut the documents into."""
    with TemporaryDirectory() as folder:
        sync([documents], Path(folder) / "index", encoder="none")
        index = Index.open(Path(folder) / "index")
        chunks = {d.id: index.document_chunks(d.id) for d in index.documents()}
    passages = {name: [(c, encoded_text(c, "")) for c in found] for name, found in chunks.items()}
    pieces = {name: [u for c in found for u in units(c)] for name, found in chunks.items()}
    texts = sorted({u.meant_in_place for found in pieces.values() for u in found})
    vectors = dict(zip(texts, model.vectors(texts), strict=True))
    found = []
    for line in labels.read_text(encoding="utf-8").splitlines():
        label = json.loads(line)
        # A set without the name of a document is labelled over all of them.
        names = [n for n in pieces if label.get("document", Path(n).name) == Path(n).name]
        mine = [u for n in names for u in pieces[n]]
        right = [u for u in mine if overlaps(u, label["answers"])]
        wrong = [u for u in mine if not overlaps(u, [*label["answers"], *label.get("partial", ())])]
        if not right or not wrong:
            continue
        asked = model.vectors([label["question"]])[0]
        wrong.sort(key=lambda u: -float(asked @ vectors[u.meant_in_place]))
        holding = {u.chunk.id for u in right}
        found.append(
            Example(
                label["question"],
                [u.meant_in_place for u in right],
                [u.meant_in_place for u in wrong],
                [text for n in names for c, text in passages[n] if c.id in holding],
                [text for n in names for c, text in passages[n] if c.id not in holding],
            )
        )
    return found


def learn(model: "Model", learned: Sequence[Example]) -> Iterator[float]:
    """The mean loss of each epoch; the rate falls to nothing in a straight line."""
    draw = np.random.default_rng(0)
    optimizer = torch.optim.AdamW(model.learned, lr=RATE, weight_decay=0.01)
    steps = EPOCHS * math.ceil(len(learned) / BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    for _ in range(EPOCHS):
        order = draw.permutation(len(learned))
        losses = []
        for start in range(0, len(order), BATCH):
            batch = [learned[i] for i in order[start : start + BATCH]]
            loss = batch_loss(model, batch, draw)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        yield float(np.mean(losses))


def batch_loss(model: "Model", batch: Sequence[Example], draw: np.random.Generator) -> Tensor:
    """Cross-entropy of each question's right text among all texts of the batch."""
    of_passages = draw.random() < OF_PASSAGES
    texts, right = [], []
    for example in batch:
        good, bad = (example.right_passages, example.wrong_passages) if of_passages else (example.right, example.wrong[:HARDEST])  # fmt: skip
        right.append(len(texts))
        texts.append(good[int(draw.integers(len(good)))])
        texts += [bad[int(i)] for i in draw.permutation(len(bad))[: 1 if of_passages else WRONG]]
    similar = model.encode([e.question for e in batch]) @ model.encode(texts).T / TEMPERATURE
    return nn.functional.cross_entropy(similar, torch.tensor(right))


def nearest_right(model: "Model", measured: Sequence[Example]) -> float:
    """How often the piece nearest to the question is a right one."""
    texts = sorted({t for e in measured for t in (*e.right, *e.wrong)})
    number = {t: i for i, t in enumerate(texts)}
    vectors, asked = model.vectors(texts), model.vectors([e.question for e in measured])
    hits = []
    for example, vector in zip(measured, asked, strict=True):
        among = [*example.right, *example.wrong]
        cosines = vectors[[number[t] for t in among]] @ vector
        hits.append(int(np.argmax(cosines)) < len(example.right))
    return float(np.mean(hits))


class Model:
    """The published model with low-rank changes in every layer, all nought at first."""

    def __init__(self) -> None:
        folder = str(model_folder())
        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self._model: Any = AutoModel.from_pretrained(folder).requires_grad_(False)
        self._changed: dict[str, LowRank] = {}
        for number, layer in enumerate(self._model.encoder.layer):
            at = f"encoder.layer.{number}."
            attention = layer.attention.self
            attention.query = self._change(f"{at}attention.self.query", attention.query)
            attention.value = self._change(f"{at}attention.self.value", attention.value)
            layer.intermediate.dense = self._change(f"{at}intermediate.dense", layer.intermediate.dense)
            layer.output.dense = self._change(f"{at}output.dense", layer.output.dense)

    @property
    def learned(self) -> list[nn.Parameter]:
        """What training changes."""
        return [matrix for change in self._changed.values() for matrix in (change.down, change.up)]

    def encode(self, texts: Sequence[str]) -> Tensor:
        """Unit vectors, (len(texts), 384), with gradients."""
        tokens = self._tokenizer(list(texts), padding=True, truncation=True, max_length=LONGEST, return_tensors="pt")
        hidden = self._model(**tokens).last_hidden_state
        present = tokens["attention_mask"].unsqueeze(-1)
        return nn.functional.normalize((hidden * present).sum(1) / present.sum(1), dim=1)

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors without gradients, made in order of length."""
        self._model.eval()
        vectors = np.zeros((len(texts), 384), dtype=np.float32)
        order = np.argsort([len(t) for t in texts])
        with torch.no_grad():
            for start in range(0, len(order), 64):
                chosen = order[start : start + 64]
                vectors[chosen] = self.encode([texts[i] for i in chosen]).numpy()
        self._model.train()
        return vectors

    def changes(self) -> dict[str, NDArray[np.float16]]:
        """The adapter as ingest.minilm.adapt reads it."""
        return {
            f"{name}.weight.{part}": matrix.detach().numpy().astype(np.float16)
            for name, change in self._changed.items()
            for part, matrix in (("A", change.down), ("B", SCALE * change.up))
        }

    def _change(self, name: str, whole: nn.Linear) -> "LowRank":
        self._changed[name] = LowRank(whole)
        return self._changed[name]


class LowRank(nn.Module):
    """A matrix that stays as it is, with a product of two thin ones added."""

    def __init__(self, whole: nn.Linear) -> None:
        super().__init__()
        self.whole = whole
        self.down = nn.Parameter(torch.randn(RANK, whole.in_features) * 0.02)
        self.up = nn.Parameter(torch.zeros(whole.out_features, RANK))

    def forward(self, hidden: Tensor) -> Tensor:
        changed: Tensor = self.whole(hidden) + SCALE * (hidden @ self.down.T) @ self.up.T
        return changed


if __name__ == "__main__":
    main()
