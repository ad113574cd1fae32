"""Learn the encoder's adapter from benchmarks/labels/encoder and write ingest/encoding/adapter.safetensors.

    python benchmarks/learn_encoder.py [--write]

A question and the pieces that answer it should be near each other, and the other pieces of the same document far away:
as wholes (the cosine of their vectors) and word by word (how near each word of the question comes to a word of the
piece, on average; the late interaction of ColBERT, Khattab and Zaharia 2020, arXiv:2004.12832). The loss is the sum of
the cross-entropies of one right piece against wrong ones: some of its document, drawn from the hardest by the published
model, and the pieces of the other questions of the batch (Karpukhin et al. 2020, arXiv:2004.04906).

Some batches compare whole passages, so that these stay comparable with questions too. Others are of exam questions: the
piece that proves an option should be nearer to that option than to the others, and nearer than the pieces that prove
others. Only low-rank changes of the matrices are learned (LoRA, Hu et al. 2021, arXiv:2106.09685) and the projection of
the words to fewer dimensions: half a megabyte is shipped on top of the published weights.

What is printed is how often the nearest piece is right on the invented documents of benchmarks/labels. Nothing is
learned from those here, because the evidence scorer learns from them: it must meet an encoder that knows its documents
as little as a user's.
"""

import argparse
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch
from judge_pairs import labelled, overlaps
from numpy.typing import NDArray
from safetensors.numpy import save
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer

from chatbot.evidence import Unit, units
from ingest import Chunk, Index, sync
from ingest.encoding.minilm import WORD_DIMENSION, model_folder
from ingest.storage.vectors import encoded_text

HERE = Path(__file__).parent
LABELS = HERE / "labels"
ADAPTER = HERE.parent / "ingest" / "encoding" / "adapter.safetensors"
RANK = 8
SCALE = 2.0
RATE = 5e-4
EPOCHS = 3
BATCH = 16
WRONG = 4
HARDEST = 20
TEMPERATURE = 0.05
WORD_TEMPERATURE = 0.02
LONGEST = 128
OF_PASSAGES = 0.2
# Texts of similar length go through the model together.
TOGETHER = 16
# Exam questions that ask for what does not hold are left out: what proves an option speaks against picking it.
TURNED = re.compile(r"\b(?:not|except|least|cannot|never)\b", re.IGNORECASE)


class Example(NamedTuple):
    """A question with texts: pieces that answer it, wrong ones of its document, hardest first, and passages."""

    question: str
    right: list[str]
    wrong: list[str]
    right_passages: list[str]
    wrong_passages: list[str]


class ExamExample(NamedTuple):
    """An exam question: its stem, its options, the right ones among them, and the pieces that prove or disprove each."""

    stem: str
    options: list[str]
    right: list[int]
    proofs: list[list[str]]


class Encoded(NamedTuple):
    """Texts as unit vectors, (n, 384), their words as unit vectors, (n, longest, WORD_DIMENSION), and the words' mask."""

    vectors: Tensor
    words: Tensor
    there: Tensor


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--write", action="store_true", help="write ingest/encoding/adapter.safetensors")
    write = options.parse_args().write
    torch.manual_seed(0)
    model = Model()
    reference, invented = HERE.parent / "corpus" / "reference", LABELS / "encoder" / "documents"
    learned: list[Example | ExamExample] = [
        *examples("encoder/reference.jsonl", reference, model),
        *examples("encoder/invented.jsonl", invented, model),
        *exam_examples("encoder/exam.jsonl", invented),
    ]
    measured = examples("questions.jsonl", LABELS / "documents", model)
    model.start_projection([t for e in learned[::5] if isinstance(e, Example) for t in (e.question, e.right[0])])
    print(f"{len(learned)} questions to learn from, {len(measured)} to measure with")
    print(
        "published: the nearest piece is right by vector {:.3f}, by words {:.3f}".format(
            *nearest_right(model, measured)
        )
    )
    for epoch, loss in enumerate(learn(model, learned), 1):
        by_vector, by_words = nearest_right(model, measured)
        print(f"epoch {epoch}: loss {loss:.3f}; right by vector {by_vector:.3f}, by words {by_words:.3f}", flush=True)
        if write:
            ADAPTER.write_bytes(save(model.changes()))
            print(f"ADAPTER_SHA256 of ingest/encoding/minilm.py: {sha256(ADAPTER.read_bytes()).hexdigest()}", flush=True)


def pieces_of(documents: Path) -> tuple[dict[str, list[Unit]], dict[str, list[Chunk]]]:
    """Return the units and the chunks of each document, as the bot would cut it."""
    with TemporaryDirectory() as folder:
        sync([documents], Path(folder) / "index", encoder="none")
        index = Index.open(Path(folder) / "index")
        chunks = {d.id: index.document_chunks(d.id) for d in index.documents()}
    return {name: [u for c in found for u in units(c)] for name, found in chunks.items()}, chunks


def examples(labels: str, documents: Path, model: "Model") -> list[Example]:
    """Return the answerable questions of the labels, with the pieces and passages of the documents."""
    pieces, chunks = pieces_of(documents)
    passages = {name: [(c, encoded_text(c, "")) for c in found] for name, found in chunks.items()}
    texts = sorted({u.meant_in_place for found in pieces.values() for u in found})
    vectors = dict(zip(texts, model.vectors(texts), strict=True))
    found = []
    for label in labelled(labels):
        # A set of labels without a document's name is labelled over all documents.
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


def exam_examples(labels: str, documents: Path) -> list[ExamExample]:
    """Return the exam questions of the labels whose right options are proved by pieces of their document."""
    pieces = {Path(name).name: found for name, found in pieces_of(documents)[0].items()}
    found = []
    for label in labelled(labels):
        if TURNED.search(sentences(label["question"])[-1]):
            continue
        mine = pieces[label["document"]]
        proofs = [[u.meant_in_place for u in mine if overlaps(u, quotes)] for quotes in label["proofs"]]
        right = [number for number in label["answer"] if proofs[number]]
        if right:
            found.append(ExamExample(label["question"], label["options"], right, proofs))
    return found


def sentences(stem: str) -> list[str]:
    return re.split(r"(?<=[.?!])\s+", stem.strip())


def learn(model: "Model", learned: Sequence[Example | ExamExample]) -> Iterator[float]:
    """Yield the mean loss of each epoch; the learning rate falls linearly to zero."""
    draw = np.random.default_rng(0)
    optimizer = torch.optim.AdamW(model.learned, lr=RATE, weight_decay=0.01)
    plain = [e for e in learned if isinstance(e, Example)]
    exams = [e for e in learned if isinstance(e, ExamExample)]
    steps = EPOCHS * (math.ceil(len(plain) / BATCH) + math.ceil(len(exams) / (BATCH // 2)))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    for _ in range(EPOCHS):
        batches = [(batch_loss, plain, some) for some in cut(len(plain), BATCH, draw)]
        batches += [(exam_loss, exams, some) for some in cut(len(exams), BATCH // 2, draw)]
        losses = []
        for number in draw.permutation(len(batches)):
            loss_of, among, some = batches[number]
            loss = loss_of(model, [among[i] for i in some], draw)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        yield float(np.mean(losses))


def cut(count: int, size: int, draw: np.random.Generator) -> list[NDArray[np.int64]]:
    """Return the numbers below a count in a random order, in batches."""
    order = draw.permutation(count)
    return [order[start : start + size] for start in range(0, count, size)]


def batch_loss(model: "Model", batch: Sequence[Example], draw: np.random.Generator) -> Tensor:
    """Return the cross-entropy of each question's right text among all texts of the batch."""
    of_passages = draw.random() < OF_PASSAGES
    texts, right = [], []
    for example in batch:
        good, bad = (example.right_passages, example.wrong_passages) if of_passages else (example.right, example.wrong[:HARDEST])  # fmt: skip
        right.append(len(texts))
        texts.append(good[int(draw.integers(len(good)))])
        texts += [bad[int(i)] for i in draw.permutation(len(bad))[: 1 if of_passages else WRONG]]
    asked, there = model.encode([e.question for e in batch]), model.encode(texts)
    return cross_entropy(asked, there, torch.tensor(right), by_words=not of_passages)


def exam_loss(model: "Model", batch: Sequence[ExamExample], draw: np.random.Generator) -> Tensor:
    """Return the loss of a batch of exam questions.

    It is the cross-entropy of the proved option among the options, by its proof, and of the proof among those of the
    batch, by the option.
    """
    claims, proofs, places, wrong = [], [], [], []
    for example in batch:
        right = example.right[int(draw.integers(len(example.right)))]
        # The bot puts an option after the sentence that asks; the whole stem holds the needs that a piece may speak of.
        stem = example.stem if draw.random() < 0.5 else sentences(example.stem)[-1]
        others = [o for n, o in enumerate(example.options) if n not in example.right]
        places.append((len(claims), len(claims) + 1 + len(others)))
        claims += [f"{stem} {option}" for option in (example.options[right], *others)]
        proofs.append(example.proofs[right][int(draw.integers(len(example.proofs[right])))])
        spoken = [p for n, found in enumerate(example.proofs) if n not in example.right for p in found if p not in example.proofs[right]]  # fmt: skip
        wrong += [spoken[int(i)] for i in draw.permutation(len(spoken))[:2]]
    said, there = model.encode(claims), model.encode([*proofs, *wrong])
    firsts = [first for first, _ in places]
    asked = Encoded(*(part[firsts] for part in said))
    loss = cross_entropy(asked, there, torch.arange(len(batch)))
    for number, (first, end) in enumerate(places):
        proof = Encoded(*(part[number : number + 1] for part in there))
        options = Encoded(*(part[first:end] for part in said))
        loss = loss + of_options(options, proof) / len(batch)
    return loss


def of_options(options: Encoded, proof: Encoded) -> Tensor:
    """Return the cross-entropy of the first of the options by its proof, as wholes and word by word together."""
    by_proof = options.vectors @ proof.vectors.T / TEMPERATURE, by_word(options, proof) / WORD_TEMPERATURE
    return sum((nn.functional.cross_entropy(near.T, torch.tensor([0])) for near in by_proof), torch.tensor(0.0))


def cross_entropy(asked: Encoded, there: Encoded, right: Tensor, *, by_words: bool = True) -> Tensor:
    """Return the cross-entropy of each row's right text among all texts, as wholes and word by word together."""
    loss = nn.functional.cross_entropy(asked.vectors @ there.vectors.T / TEMPERATURE, right)
    return loss + nn.functional.cross_entropy(by_word(asked, there) / WORD_TEMPERATURE, right) if by_words else loss


def by_word(asked: Encoded, there: Encoded) -> Tensor:
    """Return how near each word of a question comes to a word of a text, on average: (questions, texts)."""
    near = torch.einsum("qid,tjd->qtij", asked.words, there.words)
    nearest = near.masked_fill(~there.there[None, :, None, :], -1.0).amax(3) * asked.there[:, None, :]
    return nearest.sum(2) / asked.there.sum(1)[:, None]


def nearest_right(model: "Model", measured: Sequence[Example]) -> tuple[float, float]:
    """Return how often the piece nearest to the question is a right one: as wholes, and word by word."""
    texts = sorted({t for e in measured for t in (*e.right, *e.wrong)}, key=len)
    held: dict[str, Encoded] = {}
    hits = []
    with model.resting():
        for start in range(0, len(texts), 64):
            some = model.encode(texts[start : start + 64])
            held.update((t, Encoded(*(p[i] for p in some))) for i, t in enumerate(texts[start : start + 64]))
        for example in measured:
            asked = model.encode([example.question])
            among = [held[t] for t in (*example.right, *example.wrong)]
            vectors = torch.stack([e.vectors for e in among])
            words = nn.utils.rnn.pad_sequence([e.words for e in among], batch_first=True)
            there = nn.utils.rnn.pad_sequence([e.there for e in among], batch_first=True)
            near = (asked.vectors @ vectors.T)[0], by_word(asked, Encoded(vectors, words, there))[0]
            hits.append([int(n.argmax()) < len(example.right) for n in near])
    by_vector, by_words = np.mean(hits, axis=0)
    return float(by_vector), float(by_words)


class Model:
    """The published model with low-rank changes in every layer, all zero at first, and a projection of its words.

    `half` runs it in half precision, twice as fast if the processor has bfloat16.
    """

    def __init__(self, longest: int = LONGEST, *, half: bool = False) -> None:
        folder = str(model_folder())
        self._longest = longest
        self._half = half
        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self._model: Any = AutoModel.from_pretrained(folder).requires_grad_(False)
        self._changed: dict[str, LowRank] = {}
        self._projection = nn.Parameter(torch.eye(WORD_DIMENSION, 384))
        for number, layer in enumerate(self._model.encoder.layer):
            at = f"encoder.layer.{number}."
            attention = layer.attention.self
            attention.query = self._change(f"{at}attention.self.query", attention.query)
            attention.value = self._change(f"{at}attention.self.value", attention.value)
            layer.intermediate.dense = self._change(f"{at}intermediate.dense", layer.intermediate.dense)
            layer.output.dense = self._change(f"{at}output.dense", layer.output.dense)

    @property
    def learned(self) -> list[nn.Parameter]:
        """The parameters that training changes."""
        return [self._projection, *(matrix for change in self._changed.values() for matrix in (change.down, change.up))]

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Run without dropout and gradients."""
        self._model.eval()
        with torch.no_grad():
            yield
        self._model.train()

    def start_projection(self, texts: Sequence[str]) -> None:
        """Start the projection with the main directions of the texts' words, as the published model encodes them."""
        with self.resting():
            states = torch.cat([hidden[there] for _, hidden, there in self._states(texts)])
        states = nn.functional.normalize(states, dim=1)
        _, vectors = torch.linalg.eigh(states.T @ states)
        self._projection.data = vectors[:, -WORD_DIMENSION:].T.contiguous()

    def go_on(self, adapter: Mapping[str, NDArray[np.float16]]) -> None:
        """Start from what an adapter has learned."""
        self._projection.data = torch.tensor(adapter["words.projection"].astype(np.float32))
        for name, change in self._changed.items():
            change.down.data = torch.tensor(adapter[f"{name}.weight.A"].astype(np.float32))
            change.up.data = torch.tensor(adapter[f"{name}.weight.B"].astype(np.float32) / SCALE)

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return the vectors of the texts and of their words, with gradients unless resting."""
        vectors, words, present, places = [], [], [], []
        for chosen, hidden, there in self._states(texts):
            vectors.append(nn.functional.normalize((hidden * there.unsqueeze(-1)).sum(1), dim=1))
            # The first and the last token are not words, but both are part of the vector.
            words += list(nn.functional.normalize(hidden @ self._projection.T, dim=2)[:, 1:-1])
            present += list(there[:, 2:])
            places += chosen
        order = torch.tensor(np.argsort(places))
        pad = nn.utils.rnn.pad_sequence
        return Encoded(
            torch.cat(vectors)[order], pad(words, batch_first=True)[order], pad(present, batch_first=True)[order]
        )

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors without gradients."""
        with self.resting():
            found = torch.cat([self.encode(texts[at : at + 256]).vectors for at in range(0, len(texts), 256)])
        return np.asarray(found, dtype=np.float32)

    def changes(self) -> dict[str, NDArray[np.float16]]:
        """Return the adapter as `ingest.encoding.minilm.adapt` reads it."""
        changes = {
            f"{name}.weight.{part}": matrix.detach().numpy().astype(np.float16)
            for name, change in self._changed.items()
            for part, matrix in (("A", change.down), ("B", SCALE * change.up))
        }
        return {"words.projection": self._projection.detach().numpy().astype(np.float16), **changes}

    def _states(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Tensor, Tensor]]:
        """Yield the numbers of some texts, the states of their tokens, and the tokens' mask, by similar length."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        for start in range(0, len(order), TOGETHER):
            chosen = order[start : start + TOGETHER]
            tokens = self._tokenizer([texts[i] for i in chosen], padding=True, truncation=True, max_length=self._longest, return_tensors="pt")  # fmt: skip
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self._half):
                states = self._model(**tokens).last_hidden_state
            yield chosen, states.float(), tokens["attention_mask"].bool()

    def _change(self, name: str, whole: nn.Linear) -> "LowRank":
        self._changed[name] = LowRank(whole)
        return self._changed[name]


class LowRank(nn.Module):
    """A frozen matrix, plus the product of two thin ones."""

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
