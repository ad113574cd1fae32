"""The graph of MiniLM as an ONNX file: BERT with matrices of 8 bits, and what comes out of it for a text and for its words."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

DIMENSION = 384
# The words of a sentence, each as it stands there, in so many of the directions that an adapter learned to tell them apart by.
WORD_DIMENSION = 96
PROJECTION = "words.projection"
# A cross-encoder's head: what it says of a text and another text together.
HEAD = "judge"
_LAYERS = 6
_HEADS = 12


def build_model(weights: Mapping[str, NDArray[np.float32]]) -> bytes:
    """The ONNX file: BERT (Devlin et al. 2019), then mean pooling and unit length as sentence-transformers has them.

    Where the weights have a projection of words, each token comes out as a unit vector of its directions, too. Where they have a
    head, two texts go in together, with the type of each token, and nothing but what the head says of them comes out.
    """
    graph = _Graph(weights)
    hidden = graph.embed("ids")
    for layer in range(_LAYERS):
        hidden = graph.transform(f"encoder.layer.{layer}.", hidden)
    axis = graph.constant("axis", np.array([1]))
    mean = graph.add("ReduceMean", hidden, axis, keepdims=0)
    if graph.has_head:
        first = graph.add("Squeeze", graph.add("Gather", hidden, graph.constant("first", np.array([0])), axis=1), axis)
        inner = graph.add("Gelu", graph.join(f"{HEAD}.hidden", graph.add("Concat", first, mean, axis=-1)))
        graph.join(f"{HEAD}.out", inner, output="logits")
        return bytes(graph.build().SerializeToString())
    graph.add("LpNormalization", mean, output="vector", axis=-1, p=2)
    if PROJECTION in weights:
        words = graph.add("MatMul", hidden, graph.constant("projection", weights[PROJECTION].T))
        graph.add("LpNormalization", words, output="words", axis=-1, p=2)
    return bytes(graph.build().SerializeToString())


class _Graph:
    """An ONNX graph while it is being put together; every method returns the name of the tensor that it made."""

    def __init__(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        self._weights = weights
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []
        self.has_head = f"{HEAD}.out.weight" in weights

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
        positions = self._weights["embeddings.position_embeddings.weight"] + (0 if self.has_head else types[0])
        word = self.add("Cast", self.add("Gather", self.constant("vocabulary", words), ids), to=1)
        zero = self.constant("zero", np.array([0]))
        length = self.add("Shape", ids, start=1, end=2)
        position = self.add("Slice", self.constant("positions", positions), zero, length, zero)
        embedded = self.add("Add", word, position)
        if self.has_head:
            embedded = self.add("Add", embedded, self.add("Gather", self.constant("types.matrix", types), "types"))
        return self._normalize("embeddings.LayerNorm", embedded)

    def transform(self, layer: str, hidden: str) -> str:
        attended = self._project(f"{layer}attention.output.dense", self._attend(f"{layer}attention.self.", hidden))
        hidden = self._normalize(f"{layer}attention.output.LayerNorm", self.add("Add", attended, hidden))
        wide = self.add("Gelu", self._project(f"{layer}intermediate.dense", hidden))
        narrow = self._project(f"{layer}output.dense", wide)
        return self._normalize(f"{layer}output.LayerNorm", self.add("Add", narrow, hidden))

    def build(self) -> "ModelProto":
        from onnx import TensorProto, checker, helper

        inputs = ["ids", "types"] if self.has_head else ["ids"]
        texts = [helper.make_tensor_value_info(name, TensorProto.INT64, [1, "tokens"]) for name in inputs]
        if self.has_head:
            outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, "classes"])]
        else:
            outputs = [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, DIMENSION])]
        if PROJECTION in self._weights:
            outputs.append(helper.make_tensor_value_info("words", TensorProto.FLOAT, [1, "tokens", WORD_DIMENSION]))
        graph = helper.make_graph(self._nodes, "minilm", texts, outputs, self._constants)
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

    def join(self, part: str, hidden: str, output: str = "") -> str:
        """`hidden @ matrix.T + bias` as it is: a head is small."""
        matrix = self.constant(f"{part}.matrix", self._weights[f"{part}.weight"].T)
        return self.add("Add", self.add("MatMul", hidden, matrix), self.constant(f"{part}.bias", self._weights[f"{part}.bias"]), output=output)

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
