"""Encode texts as unit vectors: by the installed MiniLM, a sentence-transformers or Bedrock model, or not at all."""

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ingest.document import CorpusError
from ingest.encoding import minilm

DEFAULT_ENCODER = minilm.PASSAGES
NO_ENCODER = "none"  # makes an index that is searched by words alone: its vectors have no numbers
_BEDROCK = "bedrock:"
_REMEMBERED = 2_048
_SECONDS = 10  # that Hugging Face may take to say whether it has a model
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def load_encoder(name: str, device: str | None = None) -> "Encoder":
    """Load the encoder of that name: "none", "bedrock:MODEL", or a sentence-transformers model by its name or folder.

    `device` is one of torch's names, such as "cuda". Without one, MiniLM runs on the CPU, without torch, and any other
    model runs where sentence-transformers puts it. Raises CorpusError if a package, the model, the device or the right
    to use the model is missing.
    """
    if name in minilm.NAMES and device in (None, "cpu"):
        return minilm.load_minilm(name)
    if name == NO_ENCODER:
        return EmbeddingEncoder(name, lambda texts: [[]] * len(texts))
    if name.startswith(_BEDROCK):
        return _load_bedrock(name)
    return _load_sentence_transformer(name, device)


def gpu() -> str | None:
    """Return torch's name of the GPU, if there is one; torch is not imported if there is no driver."""
    if not Path("/dev/nvidiactl").exists():
        return None
    import torch

    return "cuda" if torch.cuda.is_available() else None


class Remembered(Generic[T, K]):
    """A cache of what a function made of the most recent texts, or other keys; safe to share between threads.

    The function is loaded when first needed. Threads wait for what another thread is already making: many questions at
    once, as when a model throttles them all, tend to share texts.
    """

    def __init__(self, load: Callable[[], Callable[[Sequence[K]], Iterable[T]]], most: int = _REMEMBERED) -> None:
        self._load = load
        self._most = most
        self._make: Callable[[Sequence[K]], Iterable[T]] | None = None
        self._made: OrderedDict[K, T] = OrderedDict()
        self._making: dict[K, Future[dict[K, T]]] = {}
        self._lock, self._loading = Lock(), Lock()

    def __call__(self, texts: Sequence[K]) -> list[T]:
        """Return what the function makes of each text."""
        mine: Future[dict[K, T]] = Future()
        with self._lock:
            known = {text: self._made[text] for text in texts if text in self._made}
            others = {text: self._making[text] for text in texts if text in self._making}
            missing = [text for text in dict.fromkeys(texts) if text not in known and text not in others]
            self._making.update(dict.fromkeys(missing, mine))
        if missing:
            known |= self._made_of(missing, mine)
        # Wait only now, or two threads could wait for each other. What another thread failed to make is made here.
        failed = [text for text, making in others.items() if making.exception()]
        known |= {text: making.result()[text] for text, making in others.items() if text not in failed}
        if failed:
            known.update(zip(failed, self._loaded()(failed), strict=True))
        self._remember(known)
        return [known[text] for text in texts]

    def _made_of(self, texts: Sequence[K], future: Future[dict[K, T]]) -> dict[K, T]:
        try:
            made = dict(zip(texts, self._loaded()(texts), strict=True))
        except BaseException as error:
            future.set_exception(error)
            raise
        else:
            self._remember(made)
            future.set_result(made)
            return made
        finally:
            with self._lock:
                for text in texts:
                    del self._making[text]

    def _loaded(self) -> Callable[[Sequence[K]], Iterable[T]]:
        with self._loading:
            if self._make is None:
                self._make = self._load()
            return self._make

    def _remember(self, made: dict[K, T]) -> None:
        with self._lock:
            for text, what in made.items():
                self._made[text] = what
                self._made.move_to_end(text)
            while len(self._made) > self._most:
                self._made.popitem(last=False)


class EmbeddingEncoder:
    """An encoder from another library; `embed` returns one vector per text, which need not have unit length."""

    def __init__(self, name: str, embed: Callable[[list[str]], Any]) -> None:
        self.name = name
        self._embed = embed

    @cached_property
    def dimension(self) -> int:
        return int(self.encode(["dimension"]).shape[1])

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        vectors = np.asarray(self._embed(list(texts)), dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-12))
        return unit


Encoder = minilm.MiniLM | EmbeddingEncoder
"""`encode` returns unit vectors, (n, dimension); a text's vector does not depend on the texts encoded with it."""


def _reason(error: Exception) -> str:
    """What is wrong, in one line: the text of pydantic's errors has several."""
    details: list[Mapping[str, str]] = getattr(error, "errors", list)()
    return " ".join(("; ".join(detail["msg"] for detail in details) or str(error)).split()).rstrip(".")


def _load_bedrock(name: str) -> Encoder:
    try:
        from botocore.exceptions import BotoCoreError, ClientError
        from langchain_aws import BedrockEmbeddings
    except ImportError as error:
        raise CorpusError(f"The encoder {name} needs the AWS packages: pip install 'wattwise[aws]'") from error

    @contextmanager
    def explained() -> Iterator[None]:
        try:
            yield
        except (BotoCoreError, ClientError, ValueError) as error:
            raise CorpusError(
                f"Bedrock would not encode with {name.removeprefix(_BEDROCK)}: {_reason(error)}. "
                "Check the AWS credentials, the region and that the account has access to the model."
            ) from error

    def embed(texts: list[str]) -> list[list[float]]:
        with explained():
            vectors: list[list[float]] = model.embed_documents(texts)
            return vectors

    with explained():
        model = BedrockEmbeddings(model_id=name.removeprefix(_BEDROCK))
    return EmbeddingEncoder(name, embed)


def _load_sentence_transformer(name: str, device: str | None) -> Encoder:
    known = name in minilm.NAMES
    try:
        if not known and find_spec("sentence_transformers"):
            _check_model(name)
        if device:
            _check_device(device)
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise CorpusError(
            f"The encoder {name} needs sentence-transformers: pip install sentence-transformers"
        ) from error
    try:
        model = SentenceTransformer(str(minilm.model_folder()) if known else name, device=device)
    except (OSError, ValueError, RuntimeError) as error:
        raise CorpusError(
            f"The sentence-transformers model {name!r} is not here and could not be fetched ({error}). "
            f"Without --encoder, {DEFAULT_ENCODER} is used, which is installed."
        ) from error
    if known:
        _adapt(model[0].auto_model, name)
    if device and device.startswith("cuda"):
        model.half()
    return EmbeddingEncoder(name, lambda texts: model.encode(texts, batch_size=256, show_progress_bar=False))


def _check_model(name: str) -> None:
    """Raise CorpusError unless a model is here or on Hugging Face, which is asked once: loading it would ask for over a minute."""
    from huggingface_hub import HfApi, try_to_load_from_cache
    from huggingface_hub.errors import RepositoryNotFoundError

    if name and Path(name).is_dir():
        return
    repositories = [name] if "/" in name else [f"sentence-transformers/{name}", name]
    folder = os.environ.get("SENTENCE_TRANSFORMERS_HOME")
    try:
        for repository in repositories:
            if any(isinstance(try_to_load_from_cache(repository, file, folder), str) for file in ("modules.json", "config.json")):
                return
        for repository in repositories:
            with suppress(RepositoryNotFoundError):
                HfApi().model_info(repository, timeout=_SECONDS)
                return
        reason = "has none of that name that you may read"
    except ValueError:
        reason = "can have none of that name"
    except Exception:  # what is raised depends on the HTTP client
        reason = "cannot be reached"
    raise CorpusError(
        f"There is no sentence-transformers model {name!r} here, and Hugging Face {reason}: check the name and the network, "
        f"or leave out --encoder for {DEFAULT_ENCODER}, which is installed."
    )


def _adapt(model: Any, name: str) -> None:
    import torch

    weights = {part: torch.from_numpy(np.array(matrix)) for part, matrix in minilm.adapted_weights(name).items()}
    missing, _ = model.load_state_dict(weights, strict=False)  # unexpected keys do not affect vectors
    assert not missing, missing


def _check_device(device: str) -> None:
    import torch

    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise CorpusError(
            f"torch has no device {device!r} here. Name another (cuda, cpu), or none: a GPU is used where there is one."
        ) from error
