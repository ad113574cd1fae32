"""Learn the judge from the pairs that judge_pairs.py made.

    python benchmarks/learn_judge.py PAIRS OUT [--minutes M] [--folds N]

A cross-encoder (Nogueira and Cho 2019, arXiv:1901.04085) on MiniLM reads two texts together and says two things:
whether the second, as evidence, supports the first, contradicts it or is silent (as in natural language inference;
Bowman et al. 2015, arXiv:1508.05326), and how well it answers the first, as a question or a conversation. All
parameters but the word and position embeddings are learned.

First come claims, practice, questions with what answers them and what does not, and wordings of prepared questions
among those near to them. Then come lists of what was found for a question, in which the right ones are known (a
conditional logit over the list and none, as in ListNet; Cao et al. 2007). `--folds` also learns N times without a part
of the lists, and writes the scores that each part gets from the judge that did not see it: from those the weights of
the scorer and of the matching are learned.

PAIRS also has the model to start from. This needs torch, transformers and safetensors alone, so that a machine with a
GPU and nothing of this project can run it: 12 minutes there, hours on two processors.
"""

import argparse
import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import AutoConfig, AutoModel, AutoTokenizer

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
CLASSES, ANSWERS = 3, 3
LONGEST = 128
RATE, RATE_OF_LISTS = 8e-5, 5e-5
SMOOTHING = 0.05
# For each step: how many pairs of each labelled kind, how many groups and how many lists.
FIRST = {"claims": 192, "practice": 48, "asked": 96, "groups": 40}
THEN = {"claims": 96, "asked": 32, "groups": 8, "lists": 44}
# Candidates in a group, and the share of groups whose right one is hidden.
GROUP, NONE_RIGHT = 8, 0.12
# Candidates shown of a list, in all: the right ones, at most RIGHT_OF_LIST, the first six others, and some of the rest.
LISTED, FIRST_OF_LIST, RIGHT_OF_LIST = 12, 6, 4
Encoded = tuple[np.ndarray, np.ndarray]


class List(NamedTuple):
    """Candidates for a question, `start` to `start + count` of the encoded pairs.

    `wanted` is how the choice should fall on each and, last, on none.
    """

    start: int
    count: int
    wanted: np.ndarray
    used: np.ndarray
    fold: int
    kind: str


class Judge(nn.Module):
    """MiniLM with a head over its first token and the mean of all tokens."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        config = AutoConfig.from_pretrained(folder)
        config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.1
        self.model: Any = AutoModel.from_config(config, add_pooling_layer=False)
        self.hidden, self.out = nn.Linear(2 * config.hidden_size, 128), nn.Linear(128, CLASSES + 1)
        self.none, self.dropout = nn.Parameter(torch.zeros(1)), nn.Dropout(0.1)
        weights = {name: tensor.float() for name, tensor in load_file(folder / "begin.safetensors").items()}
        head = {name: weights.pop(name) for name in list(weights) if name.startswith("judge.")}
        missing, _ = self.model.load_state_dict({n: w for n, w in weights.items() if not n.startswith("pooler")}, strict=False)
        assert not missing, missing
        for name, parameter in self.model.named_parameters():
            parameter.requires_grad_("word_embeddings" not in name and "position_embeddings" not in name)
        with torch.no_grad():
            for part in (self.hidden, self.out):
                name = "hidden" if part is self.hidden else "out"
                part.weight[: len(head[f"judge.{name}.weight"])] = head[f"judge.{name}.weight"]
                part.bias[: len(head[f"judge.{name}.bias"])] = head[f"judge.{name}.bias"]

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            states = self.model(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state
        states, there = states.float(), mask.unsqueeze(-1).float()
        both = torch.cat([states[:, 0], (states * there).sum(1) / there.sum(1)], dim=1)
        logits: Tensor = self.out(self.dropout(F.gelu(self.hidden(both))))
        return logits

    def changes(self) -> dict[str, Tensor]:
        """Return what `ingest.encoding.minilm.adapt` reads."""
        tensors = {n: p for n, p in self.model.named_parameters() if p.requires_grad}
        tensors |= {f"judge.{part}.{name}": p for part in ("hidden", "out") for name, p in getattr(self, part).named_parameters()}
        return as_whole_numbers(tensors)


def as_whole_numbers(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return large matrices of the model as integers of -63 to 63 with a scale per row, all else in half precision."""
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        tensor = tensor.detach().float().cpu()
        if tensor.dim() == 2 and tensor.numel() > 50_000 and not name.startswith("judge."):
            scale = tensor.abs().amax(1) / 63
            found[f"{name}.whole"], found[f"{name}.scale"] = torch.round(tensor / scale[:, None]).to(torch.int8), scale
        else:
            found[name] = tensor.half()
    return {name: tensor.contiguous() for name, tensor in found.items()}


class Pairs:
    """All that the judge learns from, as tokens."""

    def __init__(self, folder: Path, most: int | None) -> None:
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        self._folder, self._most = folder, most
        self.labelled = {kind: self._labelled(kind) for kind in ("claims", "practice", "asked", "claims-held", "asked-held")}
        groups = list(self._lines("groups"))
        self.groups = self.encoded([(line["question"], text) for line in groups for text in line["texts"]])
        texts: list[tuple[str, str]] = []
        self.lists: list[List] = []
        for line in self._lines("lists"):
            wanted = np.array(line["wanted"], dtype=np.float32)
            self.lists.append(List(len(texts), len(line["texts"]), wanted, np.array(line["used"], dtype=bool), line["fold"], line["kind"]))
            texts += [(line["question"], text) for text in line["texts"]]
        self.listed = self.encoded(texts)

    def encoded(self, pairs: Sequence[tuple[str, str]]) -> list[Encoded]:
        found: list[Encoded] = []
        for start in range(0, len(pairs), 20_000):
            some = pairs[start : start + 20_000]
            tokens: Any = self._tokenizer(*map(list, zip(*some, strict=True)), truncation="longest_first", max_length=LONGEST, return_token_type_ids=True)
            found += [(np.array(i, np.int32), np.array(t, np.int8)) for i, t in zip(tokens["input_ids"], tokens["token_type_ids"], strict=True)]
        return found

    def _labelled(self, kind: str) -> tuple[list[Encoded], np.ndarray, np.ndarray]:
        """Return pairs, their labels, and which of them are a question and what may answer it."""
        lines = list(self._lines(kind))
        encoded = self.encoded([(line["first"], line["second"]) for line in lines])
        return encoded, np.array([line["label"] for line in lines]), np.array([line["question"] for line in lines], dtype=bool)

    def _lines(self, kind: str) -> Iterator[Any]:
        with (self._folder / f"{kind}.jsonl").open(encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                if self._most and number >= self._most:
                    return
                yield json.loads(line)


def batch(encoded: Sequence[Encoded]) -> list[Tensor]:
    """Return tokens, types and mask, (pairs, tokens), padded to a multiple of eight."""
    length = -(-max(len(ids) for ids, _ in encoded) // 8) * 8
    arrays = np.zeros((3, len(encoded), length), dtype=np.int64)
    for row, (ids, types) in enumerate(encoded):
        arrays[0, row, : len(ids)], arrays[1, row, : len(ids)], arrays[2, row, : len(ids)] = ids, types, 1
    return [torch.from_numpy(a).to(DEVICE, non_blocking=True) for a in arrays]


def forward(judge: Judge, encoded: Sequence[Encoded], together: int = 512) -> Tensor:
    """Return logits, (pairs, CLASSES + 1); pairs of similar length go together, to keep padding low."""
    order = sorted(range(len(encoded)), key=lambda i: len(encoded[i][0]))
    size = min(together, max(64, -(-len(order) // 2)))
    logits = torch.cat([judge(*batch([encoded[i] for i in order[start : start + size]])) for start in range(0, len(order), size)])
    place = torch.empty(len(order), dtype=torch.long)
    place[torch.tensor(order)] = torch.arange(len(order))
    return logits[place.to(DEVICE)]


def judged(judge: Judge, encoded: Sequence[Encoded]) -> np.ndarray:
    judge.eval()
    with torch.no_grad():
        logits = forward(judge, encoded, 1024).cpu().numpy() if encoded else np.zeros((0, CLASSES + 1), np.float32)
    judge.train()
    return logits


class Learner:
    """Trains one judge on one set of pairs, with the lists of some folds among them."""

    def __init__(self, judge: Judge, pairs: Pairs, folds: Sequence[int], draw: random.Random) -> None:
        self._judge, self._pairs, self._draw = judge, pairs, draw
        lists = [n for n, one in enumerate(pairs.lists) if one.fold in folds and one.wanted.sum() and one.used.any()]
        sizes = {kind: range(len(pairs.labelled[kind][0])) for kind in ("claims", "practice", "asked")}
        self._turns = {k: self._endless(of) for k, of in {**sizes, "groups": range(len(pairs.groups) // GROUP), "lists": lists}.items()}

    def _endless(self, of: Sequence[int]) -> Iterator[int]:
        while of:
            yield from self._draw.sample(of, len(of))

    def learn(self, mix: dict[str, int], rate: float, seconds: float) -> None:
        learned = [p for p in self._judge.parameters() if p.requires_grad]
        optimizer = torch.optim.AdamW(learned, lr=rate, weight_decay=0.01)
        began, step, left = time.time(), 0, 1.0
        self._judge.train()
        while left > 0:
            left = 1 - (time.time() - began) / seconds
            for group in optimizer.param_groups:
                group["lr"] = rate * min(1.0, (step + 1) / 60) * max(left, 0.02)
            loss = self._loss({kind: [next(self._turns[kind]) for _ in range(count)] for kind, count in mix.items()})
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learned, 1.0)
            optimizer.step()
            step += 1
            if step % 200 == 0:
                print(f"{step} steps, {step / (time.time() - began):.1f} a second, loss {loss.item():.3f}", flush=True)

    def _loss(self, chosen: dict[str, list[int]]) -> Tensor:
        loss = self._of_labels({kind: chosen[kind] for kind in ("claims", "practice", "asked") if kind in chosen})
        loss = loss + self._of_groups(chosen["groups"])
        return loss + self._of_lists(chosen["lists"]) if "lists" in chosen else loss

    def _of_labels(self, chosen: dict[str, list[int]]) -> Tensor:
        encoded, labels, asks = [], [], []
        for kind, numbers in chosen.items():
            pairs, label, question = self._pairs.labelled[kind]
            encoded += [pairs[n] for n in numbers]
            labels.append(label[numbers])
            asks.append(question[numbers])
        logits, label = forward(self._judge, encoded), torch.tensor(np.concatenate(labels), device=DEVICE)
        loss = F.cross_entropy(logits[:, :CLASSES], label, label_smoothing=SMOOTHING)
        question = torch.tensor(np.concatenate(asks), device=DEVICE)
        if question.any():
            loss = loss + 0.5 * F.binary_cross_entropy_with_logits(logits[question, ANSWERS], (label[question] == 0).float())
        return loss

    def _of_groups(self, numbers: Sequence[int]) -> Tensor:
        """Return the loss of groups: the first of each is right, unless it is hidden; then none is."""
        encoded = [pair for n in numbers for pair in self._pairs.groups[n * GROUP : (n + 1) * GROUP]]
        odds = forward(self._judge, encoded)[:, ANSWERS].view(len(numbers), GROUP)
        odds = torch.cat([odds, self._judge.none.expand(len(numbers), 1)], dim=1)
        out = torch.tensor([self._draw.random() < NONE_RIGHT for _ in numbers], device=DEVICE)
        hidden = torch.zeros_like(odds, dtype=torch.bool)
        hidden[:, 0] = out
        return F.cross_entropy(odds.masked_fill(hidden, -1e4), torch.where(out, GROUP, 0))

    def _of_lists(self, numbers: Sequence[int]) -> Tensor:
        encoded, wanted = [], []
        for one in (self._pairs.lists[n] for n in numbers):
            shown = self._shown(one)
            encoded += [self._pairs.listed[one.start + i] for i in shown]
            share = one.wanted[[*shown, one.count]]
            wanted.append(torch.tensor(share / (share.sum() or 1.0), device=DEVICE))
        odds = forward(self._judge, encoded)[:, ANSWERS].split([len(w) - 1 for w in wanted])
        losses = [-(w * F.log_softmax(torch.cat([o, self._judge.none]), 0)).sum() for w, o in zip(wanted, odds, strict=True)]
        return torch.stack(losses).mean()

    def _shown(self, one: List) -> list[int]:
        there = [int(i) for i in np.flatnonzero(one.used)]
        right = [i for i in there if one.wanted[i] > 0][:RIGHT_OF_LIST]
        others = [i for i in there if one.wanted[i] == 0]
        few = others[:FIRST_OF_LIST]
        more = max(0, min(len(others) - len(few), LISTED - len(right) - len(few)))
        return [*right, *few, *self._draw.sample(others[FIRST_OF_LIST:], more)]


def report(judge: Judge, pairs: Pairs) -> None:
    for kind in ("claims-held", "asked-held"):
        encoded, label, question = pairs.labelled[kind]
        logits = judged(judge, encoded)
        odds = np.exp(logits[:, :CLASSES] - logits[:, :CLASSES].max(1, keepdims=True))
        supports, true = odds[:, 0] / odds.sum(1), label == 0
        at = np.quantile(supports[~true], 0.88)
        print(f"{kind}: area under the curve {area(supports, true):.3f}; true kept {np.mean(supports[true] > at):.3f} where 0.12 of the false are", flush=True)
        if question.any():
            print(f"  answers: {area(logits[question, ANSWERS], true[question]):.3f} of {question.sum()}", flush=True)


def area(scores: np.ndarray, true: np.ndarray) -> float:
    """Return the area under the ROC curve: how often a true one scores above a false one."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores)] = np.arange(1, len(scores) + 1)
    count = true.sum()
    return float((ranks[true].sum() - count * (count + 1) / 2) / (count * (len(true) - count)))


def report_lists(pairs: Pairs, logits: np.ndarray, fold: int | None = None) -> None:
    """Print how often a right candidate is first, among the lists that have one."""
    for kind in sorted({one.kind for one in pairs.lists}):
        lists = [one for one in pairs.lists if one.kind == kind and fold in (None, one.fold) and one.wanted[:-1].any() and one.wanted[-1] == 0]
        first = [np.where(one.used, logits[one.start : one.start + one.count, ANSWERS], -np.inf).argmax() for one in lists]
        right = [one.wanted[i] >= one.wanted.max() for one, i in zip(lists, first, strict=True)]
        print(f"  {kind}: right first {np.mean(right):.3f} of {len(right)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pairs", type=Path)
    parser.add_argument("out", type=Path, help="folder for judge.safetensors and lists.npy")
    parser.add_argument("--minutes", type=float, default=5.0, help="for the first part")
    parser.add_argument("--minutes-of-lists", type=float, default=0.8, help="for the second, and for each fold")
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--most", type=int, help="read so many lines of each file, to try whether all goes well")
    options = parser.parse_args()
    torch.manual_seed(0)
    draw, pairs, judge = random.Random(0), Pairs(options.pairs, options.most), Judge(options.pairs).to(DEVICE)
    print(f"{len(pairs.listed)} pairs in {len(pairs.lists)} lists, {len(pairs.groups)} in groups", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    report(judge, pairs)
    Learner(judge, pairs, (), draw).learn(FIRST, RATE, options.minutes * 60)
    report(judge, pairs)
    begun = {name: tensor.clone() for name, tensor in judge.state_dict().items()}
    everything = set(range(max(options.folds, 1 + max(one.fold for one in pairs.lists))))
    logits = np.zeros((len(pairs.listed), CLASSES + 1), dtype=np.float32)
    for fold in range(options.folds):
        judge.load_state_dict(begun)
        Learner(judge, pairs, sorted(everything - {fold}), draw).learn(THEN, RATE_OF_LISTS, options.minutes_of_lists * 60)
        own = [i for one in pairs.lists if one.fold == fold for i in range(one.start, one.start + one.count)]
        logits[own] = judged(judge, [pairs.listed[i] for i in own])
        print(f"without part {fold}:", flush=True)
        report_lists(pairs, logits, fold)
        np.save(options.out / "lists.npy", logits.astype(np.float16))
    judge.load_state_dict(begun)
    Learner(judge, pairs, sorted(everything), draw).learn(THEN, RATE_OF_LISTS, options.minutes_of_lists * 60)
    report(judge, pairs)
    save_file(judge.changes(), options.out / "judge.safetensors")


if __name__ == "__main__":
    main()
