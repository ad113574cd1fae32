"""Learn the encoder that finds the prepared question for what a user asks.

    python benchmarks/learn_questions.py INDEX [--minutes M] [--write]

INDEX is an index of `corpus`. MiniLM, as it was adapted to sentences on hardware, learns to bring what people ask near
to a wording of the question whose answer serves them, or to that question with its answer, and away from the others of
the batch. Most of those are hard: a batch is six questions and others near to each (Karpukhin et al. 2020,
arXiv:2004.04906). It also learns to bring it near to a vector that stands for its question, among those of all
questions; these vectors are learned, too, and discarded afterwards (proxies; Movshovitz-Attias et al. 2017,
arXiv:1703.07464).

It learns from the wordings in `corpus/answers`; from turns of people (`labels/asked.jsonl`) and conversations
(`labels/follow-ups.jsonl`), whose turns are read as one text; from `labels/far.jsonl`, what people would say who know
none of the words of the answer; and from `labels/languages.jsonl`, what they say in six other languages.

Turns of every fifth writer (`held_writers`), and the wordings taken from them, teach nothing: from those
`learn_answers.py` learns how far to trust the encoder. For them it prints how often the right question comes first, and
among the first three and twelve. It takes 45 minutes on two processors that multiply in bfloat16.
"""

import argparse
import random
import re
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from judge_pairs import asked_rows, held_writers, labelled, read_as
from learn_judge import as_whole_numbers
from numpy.typing import NDArray
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import AutoConfig, AutoModel, AutoTokenizer

from chatbot.language.glossary import in_english
from chatbot.reader.proved_answers import Book, conversation, load_book
from ingest import Index
from ingest.encoding.minilm import QUESTIONS, SENTENCES, adapted_weights, model_folder

OUT = Path(__file__).parents[1] / "ingest" / "encoding" / "questions-adapter.safetensors"
RATE, RATE_OF_PROXIES = 1.5e-4, 1e-3
WARM = 20
DROPOUT = 0.05
TEMPERATURE = 0.05
# The questions of a batch, in groups of GROUP: one question, and others drawn from the NEAR nearest to it.
BATCH, GROUP, NEAR = 96, 16, 64
# How often a question's wording, a person's turn, a far wording, and one in another language is drawn; and how often
# the text it should be near to is another wording, rather than the answer.
DRAWN = {"worded": 0.30, "asked": 0.27, "far": 0.18, "translated": 0.25}
TO_WORDING = 0.65
LONGEST = 64
# Texts of similar length go through the model together.
TOGETHER = 32
FIRST = (1, 3, 12)
# For one question in this many, what is said in other languages is held out.
HELD_EVERY = 10


class Texts:
    """What is said for each question of the corpus, by kind, and the held-out turns with the number of their question."""

    def __init__(self, book: Book) -> None:
        numbers = {question.answer.question: number for number, question in enumerate(book.questions)}
        held = held_writers()
        held_rows = frozenset[int]().union(*(rows for writer, rows in asked_rows(book).items() if writer in held))
        self.answers = [read_as(question.answer) for question in book.questions]
        self.said: list[dict[str, list[str]]] = [
            {"worded": [text for row, text in zip(question.rows, question.wordings, strict=True) if row not in held_rows], "asked": [], "far": [], "translated": []} for question in book.questions
        ]
        self.held: list[tuple[str, int]] = []
        for label in (*labelled("asked.jsonl"), *labelled("follow-ups.jsonl")):
            number, text = numbers.get(label.get("section")), conversation(label["turns"])
            if number is not None and label["writer"] not in held:
                self.said[number]["asked"].append(text)
            elif number is not None and label.get("existing"):
                self.held.append((text, number))
        for line in labelled("far.jsonl"):
            if line["section"] in numbers:
                self.said[numbers[line["section"]]]["far"] += [text if isinstance(text, str) else conversation(text) for text in line["asked"]]
        self.held_translated: list[tuple[str, int]] = []
        for place, line in enumerate(labelled("languages.jsonl")):
            number = numbers.get(line["section"])
            texts = [text if isinstance(text, str) else conversation(text) for _, text in line["asked"]]
            if number is not None and place % HELD_EVERY == 0:
                self.held_translated += [(text, number) for text in texts]
            elif number is not None:
                # A first turn is read both as typed and word for word in English.
                self.said[number]["translated"] += [form for text in texts for form in (text, in_english(text))]

    def drawn(self, number: int, draw: random.Random) -> tuple[str, str]:
        """Return something said, and the text that it should be near to."""
        said = self.said[number]
        kinds = [kind for kind in DRAWN if said[kind]]
        text = draw.choice(said[draw.choices(kinds, [DRAWN[kind] for kind in kinds])[0]])
        others = [wording for wording in said["worded"] if wording.lower() not in text.lower()]
        return text, draw.choice(others) if others and draw.random() < TO_WORDING else self.answers[number]


class Encoder(nn.Module):
    """MiniLM with the mean of its last states as a unit vector. The embeddings and the first layer are frozen."""

    def __init__(self, began_from: str = SENTENCES) -> None:
        super().__init__()
        folder = model_folder()
        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        config = AutoConfig.from_pretrained(folder)
        config.hidden_dropout_prob = config.attention_probs_dropout_prob = DROPOUT
        self.model: Any = AutoModel.from_config(config, add_pooling_layer=False)
        weights = {name: torch.tensor(value) for name, value in adapted_weights(began_from).items() if value.dtype == np.float32}
        self.model.load_state_dict({name: value for name, value in weights.items() if not name.startswith(("pooler", "words"))}, strict=False)
        for name, parameter in self.model.named_parameters():
            parameter.requires_grad_(bool(re.search(r"layer\.[1-5]\.", name)))

    def forward(self, texts: Sequence[str]) -> Tensor:
        """Return unit vectors, (texts, 384)."""
        ids = self._tokenizer(list(texts), truncation=True, max_length=LONGEST)["input_ids"]
        order = sorted(range(len(ids)), key=lambda place: len(ids[place]))
        made = []
        for start in range(0, len(order), TOGETHER):
            given = self._tokenizer.pad({"input_ids": [ids[place] for place in order[start : start + TOGETHER]]}, return_tensors="pt")
            with torch.autocast("cpu", dtype=torch.bfloat16):
                states = self.model(**given).last_hidden_state.float()
            there = given["attention_mask"].unsqueeze(-1)
            made.append((states * there).sum(1) / there.sum(1))
        return F.normalize(torch.cat(made), dim=1)[torch.tensor(order).argsort()]

    @torch.no_grad()
    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.eval()
        vectors = np.concatenate([self(texts[start : start + 1024]).numpy() for start in range(0, len(texts), 1024)])
        self.train()
        return vectors

    def changes(self) -> dict[str, Tensor]:
        """Return what `ingest.encoding.minilm.adapt` reads."""
        return as_whole_numbers({name: parameter for name, parameter in self.model.named_parameters() if parameter.requires_grad})


def learn(encoder: Encoder, texts: Texts, centers: NDArray[np.float32], minutes: float) -> None:
    torch.manual_seed(0)
    draw = random.Random(0)
    near = np.argsort(-(centers @ centers.T), axis=1)[:, :NEAR]
    proxies = nn.Parameter(torch.tensor(middles(encoder, texts)))
    optimizer = torch.optim.AdamW([{"params": [p for p in encoder.parameters() if p.requires_grad], "lr": RATE}, {"params": [proxies], "lr": RATE_OF_PROXIES, "weight_decay": 0.0}])
    began = time.monotonic()
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / WARM) * max(0.02, 1 - (time.monotonic() - began) / 60 / minutes))
    step, told = 0, 0.0
    while time.monotonic() - began < 60 * minutes:
        numbers: list[int] = []
        while len(numbers) < BATCH:
            first = draw.randrange(len(centers))
            numbers += [n for n in (first, *draw.sample(near[first, 1:].tolist(), GROUP - 1)) if n not in numbers]
        asked, wanted = zip(*(texts.drawn(number, draw) for number in numbers[:BATCH]), strict=True)
        vectors, right = encoder([*asked, *wanted]), torch.tensor(numbers[:BATCH])
        beside = vectors[:BATCH] @ vectors[BATCH:].T / TEMPERATURE
        among_all = vectors @ F.normalize(proxies, dim=1).T / TEMPERATURE
        places = torch.arange(BATCH)
        loss = (F.cross_entropy(beside, places) + F.cross_entropy(beside.T, places)) / 2 + F.cross_entropy(among_all, right.repeat(2))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
        optimizer.step()
        rate.step()
        step, told = step + 1, told + loss.item()
        if step % 50 == 0:
            print(f"{step}: loss {told / 50:.3f}", flush=True)
            told = 0.0


def middles(encoder: Encoder, texts: Texts) -> NDArray[np.float32]:
    """Return the centroid of each question's wordings as a unit vector, (questions, 384)."""
    owners = np.repeat(np.arange(len(texts.said)), [len(said["worded"]) for said in texts.said])
    sums = np.zeros((len(texts.said), 384), dtype=np.float32)
    np.add.at(sums, owners, encoder.encode([wording for said in texts.said for wording in said["worded"]]))
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


def report(encoder: Encoder, texts: Texts) -> None:
    centers = middles(encoder, texts)
    for name, held in (("turns", texts.held), ("wordings in other languages", texts.held_translated)):
        asked, right = zip(*held, strict=True)
        cosines = encoder.encode(asked) @ centers.T
        ahead = (cosines > cosines[np.arange(len(right)), list(right)][:, None]).sum(1)
        print(f"{len(right)} {name} held out: right " + ", ".join(f"{np.mean(ahead < most):.3f} among the first {most}" for most in FIRST), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index", type=Path)
    parser.add_argument("--minutes", type=float, default=45)
    parser.add_argument("--further", action="store_true", help="go on from what is shipped")
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name}")
    given = parser.parse_args()
    book = load_book(Index.open(given.index))
    encoder, texts = Encoder(QUESTIONS if given.further else SENTENCES), Texts(book)
    report(encoder, texts)
    learn(encoder, texts, book.centers, given.minutes)
    report(encoder, texts)
    if given.write:
        OUT.write_bytes(save(encoder.changes()))
        print(f"QUESTIONS_ADAPTER_SHA256 of ingest/encoding/minilm.py: {sha256(OUT.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main()
