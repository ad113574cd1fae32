"""Learn the judge from benchmarks/labels/claims and write ingest/judge-adapter.safetensors.

    python benchmarks/learn_judge.py [--pages DIR] [--practice N] [--epochs N] [--state FILE] [--write]

A cross-encoder (Nogueira and Cho 2019, arXiv:1901.04085) on the installed MiniLM reads a claim and its evidence together and says
whether the evidence supports it, contradicts it or is silent, as in natural language inference (Bowman et al. 2015, arXiv:1508.05326).
It practises first: sentences of the documents beside themselves, said otherwise, or with one thing changed (`corruptions.py`); then
it learns from the claims that people wrote, with practice mixed in. Only low-rank changes of all matrices are learned (LoRA, Hu et
al. 2021, arXiv:2106.09685), the norms, the type of a second text and a small head. `--pages` names a folder of Markdown pages to practise on
beside the project's own documents: more is better, none are needed. `--state` keeps what was learned so far, and goes on from it.

Two cores with bfloat16 read some forty pairs a second.
"""

import argparse
import json
import random
import re
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch
from corruptions import corrupted, said_otherwise
from judge import is_held
from safetensors.numpy import save
from sklearn.feature_extraction.text import TfidfVectorizer
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer

from chatbot.evidence import Unit, units
from chatbot.judge import in_its_place, relevant
from chatbot.names import names
from chatbot.words import content_words, stem
from ingest import Index, sync
from ingest.minilm import model_folder

HERE = Path(__file__).parent
LABELS = HERE / "labels"
CLAIMS = LABELS / "claims"
OUT = HERE.parent / "ingest" / "judge-adapter.safetensors"
DOCUMENTS = (HERE.parent / "corpus" / "reference", LABELS / "documents", LABELS / "encoder" / "documents")
CLASSES = ("supports", "contradicts", "silent")
RANK = 64
SCALE = 1.0
LONGEST = 128
TOKENS_TOGETHER = 3_000
RATE = {"practice": 4e-4, "claims": 2e-4}
SMOOTHING = 0.05
_WHOLE = 380
# Of the pairs of each epoch of claims, so many are practice.
MIXED = 0.25


class Pair(NamedTuple):
    claim: str
    evidence: str
    label: int


def main() -> None:
    options = _parser().parse_args()
    torch.manual_seed(0)
    draw = random.Random(0)
    judge = Judge()
    if options.state and options.state.exists():
        judge.load_state_dict(torch.load(options.state))
    places = [*DOCUMENTS, *([options.pages] if options.pages else [])]
    sentences = list(_sentences(places)) if options.practice or options.mixed else []
    print(f"{len(sentences)} sentences to practise on", flush=True)
    if options.practice:
        pairs = _practice(sentences, options.practice, draw)
        _learn(judge, [pairs], RATE["practice"], options.state)
    train, held = _claims(draw)
    print(f"{len(train)} pairs of claims, {len(held)} held out", flush=True)
    _report(judge, held)
    asked = _Asked()
    answers = asked.pairs(draw, held=True)
    print(f"{len(answers)} pairs of questions held out", flush=True)
    _report(judge, [(pair, CLASSES[pair.label]) for pair in answers])
    if options.epochs:
        epochs = []
        for _ in range(options.epochs):
            some = [*_claims(draw)[0], *asked.pairs(draw)]
            if sentences:
                some += _practice(sentences, int(MIXED * len(some)), draw)
            epochs.append(some)
        _learn(judge, epochs, RATE["claims"], options.state, held)
    if options.write:
        content = save(judge.changes())
        OUT.write_bytes(content)
        print(f"{len(content) / 1e6:.2f} MB, JUDGE_ADAPTER_SHA256 of ingest/minilm.py: {sha256(content).hexdigest()}", flush=True)


class LowRank(nn.Module):
    """A matrix that stays as it is, with a product of two thin ones added."""

    def __init__(self, whole: nn.Linear) -> None:
        super().__init__()
        self.whole = whole
        self.down = nn.Parameter(torch.randn(RANK, whole.in_features) / RANK)
        self.up = nn.Parameter(torch.zeros(whole.out_features, RANK))

    def forward(self, hidden: Tensor) -> Tensor:
        changed: Tensor = self.whole(hidden) + (hidden @ self.down.T) @ self.up.T * SCALE
        return changed


class Judge(nn.Module):
    """The published model with low-rank changes of all matrices, and a head over its first token and the mean of all."""

    def __init__(self) -> None:
        super().__init__()
        folder = str(model_folder())
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        # Plain attention: on a processor the fused one takes twice as long to go back through.
        self.model: Any = AutoModel.from_pretrained(folder, attn_implementation="eager", hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.0)
        self.model.requires_grad_(False)
        self.changed: dict[str, LowRank] = {}
        for number, layer in enumerate(self.model.encoder.layer):
            at = f"encoder.layer.{number}."
            for owner, name, part in (
                (layer.attention.self, "query", "attention.self.query"),
                (layer.attention.self, "key", "attention.self.key"),
                (layer.attention.self, "value", "attention.self.value"),
                (layer.attention.output, "dense", "attention.output.dense"),
                (layer.intermediate, "dense", "intermediate.dense"),
                (layer.output, "dense", "output.dense"),
            ):
                self.changed[f"{at}{part}"] = change = LowRank(getattr(owner, name))
                setattr(owner, name, change)
        self.whole = [n for n, _ in self.model.named_parameters() if "LayerNorm" in n or "token_type" in n]
        for name, parameter in self.model.named_parameters():
            if name in self.whole:
                parameter.requires_grad_(True)
        self.hidden = nn.Linear(768, 128)
        self.out = nn.Linear(128, len(CLASSES))
        self.dropout = nn.Dropout(0.1)

    def forward(self, pairs: Sequence[Pair]) -> Tensor:
        tokens = self.tokenizer([p.claim for p in pairs], [p.evidence for p in pairs], padding=True, truncation="longest_first", max_length=LONGEST, return_tensors="pt")  # fmt: skip
        with torch.autocast("cpu", dtype=torch.bfloat16):
            states = self.model(**tokens).last_hidden_state
        states = states.float()
        there = tokens["attention_mask"].unsqueeze(-1)
        both = torch.cat([states[:, 0], (states * there).sum(1) / there.sum(1)], dim=1)
        logits: Tensor = self.out(self.dropout(nn.functional.gelu(self.hidden(both))))
        return logits

    def changes(self) -> dict[str, Any]:
        """The adapter as chatbot reads it: pairs A and B, whole tensors, the head, all in half precision."""
        found = {}
        for name, change in self.changed.items():
            found[f"{name}.weight.A"], found[f"{name}.weight.B"] = change.down, SCALE * change.up
        parameters = dict(self.model.named_parameters())
        found |= {name: parameters[name] for name in self.whole}
        for part in ("hidden", "out"):
            layer = getattr(self, part)
            found[f"judge.{part}.weight"], found[f"judge.{part}.bias"] = layer.weight, layer.bias
        return {name: tensor.detach().numpy().astype(np.float16) for name, tensor in found.items()}


def judged(judge: Judge, pairs: Sequence[Pair]) -> np.ndarray[Any, Any]:
    """Logits, (pairs, classes)."""
    judge.eval()
    logits = np.zeros((len(pairs), len(CLASSES)), dtype=np.float32)
    with torch.no_grad():
        for some in _batches(pairs, random.Random(0), shuffled=False):
            logits[some] = judge([pairs[i] for i in some]).numpy()
    judge.train()
    return logits


def _learn(judge: Judge, epochs: Sequence[Sequence[Pair]], rate: float, state: Path | None, held: Sequence[tuple[Pair, str]] = ()) -> None:
    draw = random.Random(1)
    batches = [[(some, epoch) for some in _batches(epoch, draw)] for epoch in epochs]
    learned = [p for p in judge.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=rate, weight_decay=0.01)
    steps = sum(map(len, batches))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 100) * max(1 - s / steps, 0.02))
    weights = torch.tensor([1.0, 1.0, 1.0])
    began, step, losses, seen, fresh, right = time.time(), 0, [], 0, 0, 0
    judge.train()
    for number, epoch in enumerate(batches, 1):
        for some, pairs in epoch:
            chosen = [pairs[i] for i in some]
            logits = judge(chosen)
            labels = torch.tensor([p.label for p in chosen])
            loss = nn.functional.cross_entropy(logits, labels, weight=weights, label_smoothing=SMOOTHING)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learned, 1.0)
            optimizer.step()
            schedule.step()
            step, seen, fresh = step + 1, seen + len(chosen), fresh + len(chosen)
            losses.append(loss.item())
            right += int((logits.argmax(1) == labels).sum())
            if step % 50 == 0:
                rate_now = seen / (time.time() - began)
                print(f"{step}/{steps}: loss {np.mean(losses):.3f}, right {right / max(1, fresh):.3f}, {rate_now:.0f} pairs/s", flush=True)
                losses, fresh, right = [], 0, 0
            if state and step % 100 == 0:
                torch.save(judge.state_dict(), state)
        if held:
            print(f"epoch {number}", flush=True)
            _report(judge, held)
    if state:
        torch.save(judge.state_dict(), state)


def _report(judge: Judge, held: Sequence[tuple[Pair, str]]) -> None:
    if not held:
        return
    logits = judged(judge, [pair for pair, _ in held])
    odds = np.exp(logits - logits.max(1, keepdims=True))
    supports = (odds / odds.sum(1, keepdims=True))[:, 0]
    true = np.array([pair.label == 0 for pair, _ in held])
    for at in (0.3, 0.4, 0.5, 0.6, 0.7):
        kept = supports >= at
        print(f"  at {at}: true kept {kept[true].mean():.3f} of {true.sum()}, false kept {kept[~true].mean():.3f} of {(~true).sum()}")
    kinds = sorted({kind for _, kind in held})
    print("  " + ", ".join(f"{kind} {np.mean(supports[[k == kind for _, k in held]] >= 0.5):.2f}" for kind in kinds), flush=True)


def _batches(pairs: Sequence[Pair], draw: random.Random, *, shuffled: bool = True) -> Iterator[list[int]]:
    """Pairs of like length together, so many that they have some 3,000 tokens."""
    lengths = [min(LONGEST, (len(p.claim) + len(p.evidence)) / 4.2 + 6) for p in pairs]
    order = sorted(range(len(pairs)), key=lambda i: lengths[i] + (draw.random() * 8 if shuffled else 0))
    found: list[list[int]] = [[]]
    for i in order:
        if found[-1] and lengths[i] * (len(found[-1]) + 1) > TOKENS_TOGETHER:
            found.append([])
        found[-1].append(i)
    if shuffled:
        draw.shuffle(found)
    yield from found


# --- claims that people wrote ---------------------------------------------------------------------------------------------


def _claims(draw: random.Random) -> tuple[list[Pair], list[tuple[Pair, str]]]:
    """The pairs to learn from, and those of a tenth of the passages, with their kinds, to look at on the way."""
    passages = {p["id"]: p["units"] for p in _lines(CLAIMS / "passages.jsonl")}
    ids = sorted(passages)
    train: list[Pair] = []
    held: list[tuple[Pair, str]] = []
    claims = list(_lines(CLAIMS / "claims.jsonl"))
    of_passage: dict[str, list[Any]] = {}
    for claim in claims:
        of_passage.setdefault(claim["passage"], []).append(claim)
    for claim in claims:
        found = passages[claim["passage"]]
        used = [found[n - 1] for n in claim["units"]]
        text = f"{claim['question']} {claim['claim']}" if "question" in claim else claim["claim"]
        pair = Pair(text, joined(text, used), CLASSES.index(claim["label"]))
        if is_held(claim["passage"], claim["writer"]):
            held.append((pair, f"{claim['label'][0]}:{claim['kind']}"))
            continue
        train.append(pair)
        # Writers have their ways with false claims. Where another text says what a false claim says, it is borne out, and where the text is
        # a false claim, a true one is not: so that nothing can be told from the claim alone.
        if draw.random() < (0.4 if claim["label"] == "contradicts" else 0.1):
            others = [u for n, u in enumerate(found, 1) if n not in claim["units"]]
            said = [said_otherwise(text, draw), *draw.sample(others, min(len(others), draw.choice((0, 1, 1))))]
            train.append(Pair(text, joined(text, draw.sample(said, len(said))), 0))
        opposite = {"supports": "contradicts", "contradicts": "supports"}.get(claim["label"])
        twisted = [c for c in of_passage[claim["passage"]] if c["label"] == opposite and set(c["units"]) & set(claim["units"]) and "question" not in c]
        if twisted and draw.random() < 0.3:
            train.append(Pair(text, draw.choice(twisted)["claim"], 1))
        if draw.random() < 0.15:
            # What has nothing to do with a claim is silent on it.
            elsewhere = passages[draw.choice(ids)]
            train.append(Pair(text, joined(text, draw.sample(elsewhere, min(len(elsewhere), draw.choice((1, 1, 2, 3))))), 2))
        # What stands beside and shares most words with it is what verification will try.
        others = sorted((u for u in found if u not in used), key=lambda u: -_shared(text, u))[:3]
        if others and draw.random() < 0.6:
            # The rest of the passage is silent on it, whether true or false; with it, the evidence is as good as without.
            beside = draw.sample(others, min(len(others), draw.choice((1, 1, 2))))
            if draw.random() < 0.5:
                train.append(Pair(text, joined(text, beside), 2))
            else:
                train.append(Pair(text, joined(text, draw.sample([*used, *beside[:1]], len(used) + 1)), pair.label))
        if claim["label"] == "supports" and draw.random() < 0.4 and (changed := corrupted(text, draw, _names(" ".join(found)))):
            train.append(Pair(changed[0], pair.evidence, 1))
    return train, held


class _Asked:
    """Questions beside what answers them and what does not, and options of exams beside what proves or disproves them."""

    def __init__(self) -> None:
        self.units = list(_units([LABELS / "encoder" / "documents", *DOCUMENTS[:1]]))
        self.by_document: dict[str, list[int]] = {}
        for number, unit in enumerate(self.units):
            self.by_document.setdefault(Path(unit.chunk.document.id).name, []).append(number)
        self.in_place = [in_its_place(unit) for unit in self.units]
        self.words = TfidfVectorizer(sublinear_tf=True)
        self.vectors = self.words.fit_transform(self.in_place)

    def pairs(self, draw: random.Random, *, held: bool = False) -> list[Pair]:
        found: list[Pair] = []
        for file in ("reference", "invented"):
            for line in _lines(LABELS / "encoder" / f"{file}.jsonl"):
                if is_held(line["document"]) is held:
                    found += self._question(line, draw, everywhere=file == "invented")
        for file in ("exam", "exam-reference"):
            for line in _lines(LABELS / "encoder" / f"{file}.jsonl"):
                if is_held(line["document"]) is held and (held or draw.random() < 0.5):
                    found += self._options(line, draw)
        return found

    def _question(self, line: Any, draw: random.Random, *, everywhere: bool) -> Iterator[Pair]:
        """An answer, and of what shares most words with the question two that are none: of its own document where others may answer as well."""
        question = line["question"]
        own = self.by_document.get(line["document"], [])
        answers = [n for n in own if self._is(n, line["answers"])]
        if answers:
            yield Pair(question, relevant(question, self.in_place[draw.choice(answers)]), 0)
        known = {*answers, *(n for n in own if self._is(n, line["partial"]))}
        near = np.asarray((self.vectors @ self.words.transform([question]).T).todense()).ravel()
        for others in ([own, own] if not everywhere else [own, range(len(self.units))]):
            wrong = sorted((n for n in others if n not in known), key=lambda n: -near[n])[:8]
            if wrong:
                yield Pair(question, relevant(question, self.in_place[draw.choice(wrong)]), 2)

    def _options(self, line: Any, draw: random.Random) -> Iterator[Pair]:
        proofs = line.get("proofs") or [[line["proof"]] if n in line["answer"] else [] for n in range(len(line["options"]))]
        key = [p for n in line["answer"] for p in proofs[n]]
        for number in (draw.choice(line["answer"]), draw.choice([n for n in range(len(line["options"])) if n not in line["answer"]])):
            proof = [n for n in self.by_document.get(line["document"], []) if self._is(n, proofs[number] or key)]
            claim = f"{line['question']} {line['options'][number]}"
            # The option stands last: of a long case it would be cut off.
            if proof and len(claim) < _WHOLE:
                yield Pair(claim, joined(claim, [self.in_place[n] for n in proof[:2]]), 0 if number in line["answer"] else 1)

    def _is(self, number: int, labels: Sequence[Any]) -> bool:
        plain = self.units[number].text
        texts = [label if isinstance(label, str) else label["quote"] for label in labels]
        return any(text and (text in plain or (len(plain) > 0.6 * len(text) and plain in text)) for text in texts)


def _units(places: Sequence[Path]) -> Iterator[Unit]:
    with TemporaryDirectory() as folder:
        sync(list(places), Path(folder) / "index", encoder="none")
        index = Index.open(Path(folder) / "index")
        for document in index.documents():
            for chunk in index.document_chunks(document.id):
                yield from units(chunk)


def _shared(claim: str, unit: str) -> int:
    return len({stem(w) for w in content_words(claim)} & {stem(w) for w in content_words(unit)})


def joined(claim: str, evidence: Sequence[str]) -> str:
    return " // ".join(relevant(claim, text) for text in evidence)


def _lines(file: Path) -> Iterator[Any]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


# --- practice -------------------------------------------------------------------------------------------------------------


def _sentences(places: Sequence[Path]) -> Iterator[tuple[str, list[str], int]]:
    """Every sentence of the documents that says something: itself, all of its passage in their places, and which it is."""
    with TemporaryDirectory() as folder:
        sync(list(places), Path(folder) / "index", encoder="none")
        index = Index.open(Path(folder) / "index")
        for document in index.documents():
            for chunk in index.document_chunks(document.id):
                found: list[Unit] = [u for u in units(chunk) if len(u.plain) > 30]
                in_place = [in_its_place(u) for u in found]
                for number, unit in enumerate(found):
                    if unit.kind != "row" and 40 < len(unit.plain) < 300 and " " in unit.plain and unit.plain[0].isupper():
                        yield re.sub(r"\\([^\w\s])", r"\1", unit.plain), in_place, number


def _names(text: str) -> list[str]:
    return [name.text for name in names(text)]


def _practice(sentences: Sequence[tuple[str, list[str], int]], count: int, draw: random.Random) -> list[Pair]:
    found: list[Pair] = []
    known = [name for text, *_ in draw.sample(list(sentences), min(3_000, len(sentences))) for name in _names(text)] or ["P5", "Trn1"]
    while len(found) < count:
        text, passage, number = draw.choice(sentences)
        beside = [p for n, p in enumerate(passage) if n != number]
        context = [passage[number], *draw.sample(beside, min(len(beside), draw.choice((0, 0, 1, 2))))]
        draw.shuffle(context)
        otherwise = said_otherwise(text, draw)
        near = [*_names(" ".join(passage)), *draw.sample(known, 3)]
        kind = draw.random()
        if kind < 0.42:
            found.append(Pair(otherwise, joined(otherwise, context), 0))
        elif kind < 0.85:
            if changed := corrupted(otherwise, draw, near):
                found.append(Pair(changed[0], joined(changed[0], context), 1))
        elif beside:
            found.append(Pair(otherwise, joined(otherwise, draw.sample(beside, min(len(beside), 2))), 2))
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=Path, help="a folder of Markdown pages to practise on")
    parser.add_argument("--practice", type=int, default=0, help="pairs to practise on")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--mixed", action="store_true", help="mix practice into the claims")
    parser.add_argument("--state", type=Path, help="what was learned so far")
    parser.add_argument("--write", action="store_true", help="write ingest/judge-adapter.safetensors")
    return parser


if __name__ == "__main__":
    main()
