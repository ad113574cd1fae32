"""A Ray cluster whose workers read documents and encode texts, instead of processes on this machine.

A worker keeps its reader and its model for its next task. A task whose process or machine is lost goes to another
worker, and machines may come and go. Only this process writes results, and by content hash, so a task that runs twice
changes nothing. Workers run the code of this package as it is here, so chunks do not depend on the version installed
there.
"""

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingest.document import CorpusError
from ingest.encoding.encoder import Encoder, load_encoder
from ingest.fetching.items import Item
from ingest.reading import Reader, Reading

_SECONDS = 5  # to wait for an address to answer; Ray itself would try for two minutes


@contextmanager
def joined(address: str | None) -> Iterator["Cluster | None"]:
    """Yield the cluster at "HOST:PORT"; for None, yield None.

    For "", it is the cluster of $RAY_ADDRESS, or that of this machine, or else one that is started and ended here.
    Raises CorpusError if Ray is not installed, the address does not answer or the cluster is lost.
    """
    if address is None:
        yield None
        return
    try:
        import ray
    except ImportError as error:
        raise CorpusError("Ray is not installed: pip install 'wattwise[ray]'") from error
    try:
        _check(address)
        ray.init(
            address or None,
            runtime_env={"py_modules": [str(Path(__file__).parent)]},
            log_to_driver=False,
            logging_level="ERROR",
        )
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        raise CorpusError(
            f"No Ray cluster can be used at {address or 'its usual address'} ({error}). Give the HOST:PORT that "
            "`ray start --head` prints, on a machine of the cluster; or --ray alone, after the sources."
        ) from error
    try:
        yield Cluster(ray)
    except ray.exceptions.RayError as error:
        reason = str(error).strip().splitlines()[-1]
        raise CorpusError(
            f"The Ray cluster failed ({reason}), and the index is as it was: see that each machine has wattwise and its "
            "packages, and ingest again."
        ) from error
    finally:
        ray.shutdown()


def _check(address: str) -> None:
    host, _, port = address.rpartition(":")
    if host and port.isdigit() and "://" not in address:
        socket.create_connection((host, int(port)), _SECONDS).close()


class Cluster:
    """A connected Ray cluster.

    `read` and `encode` start a task and return a function that waits for its result, which may raise CorpusError.
    """

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._read, self._encode = ray.remote(_read), ray.remote(_encode)

    def read(self, item: Item, data: bytes) -> Callable[[], Reading]:
        return partial(self._result, self._read.remote(replace(item, fetch=bytes), data))

    def encode(self, name: str, device: str | None, texts: Sequence[str]) -> Callable[[], NDArray[np.float32]]:
        # By default Ray ends a GPU process after each task, and the next one would load the model again.
        task = self._encode.options(num_gpus=1, max_calls=0) if _on_gpu(device) else self._encode
        return partial(self._result, task.remote(name, device, list(texts)))

    def gpu(self) -> str | None:
        return "cuda" if self._ray.cluster_resources().get("GPU") else None

    def ahead(self, device: str | None = None) -> int:
        """Return how many pending tasks keep all workers busy."""
        return 2 * max(1, int(self._ray.cluster_resources().get("GPU" if _on_gpu(device) else "CPU", 0)))

    def _result(self, task: Any) -> Any:
        try:
            result = self._ray.get(task)
        except (self._ray.exceptions.WorkerCrashedError, self._ray.exceptions.OutOfMemoryError) as error:
            raise CorpusError(
                "each Ray worker that tries it dies: see that they have memory left"
            ) from error
        if isinstance(result, CorpusError):
            raise result
        return result


def _on_gpu(device: str | None) -> bool:
    return bool(device and device.startswith("cuda"))


# Code that runs on a worker. A CorpusError is returned: if raised, it would arrive as another type, with a traceback in
# its text.


def _read(item: Item, data: bytes) -> Reading | CorpusError:
    try:
        return _reader().read(item, data)
    except CorpusError as error:
        return error


@cache
def _reader() -> Reader:
    import_module("ingest.formats.loaders")  # otherwise a missing library would look like a damaged document
    return Reader()


def _encode(name: str, device: str | None, texts: Sequence[str]) -> NDArray[np.float32] | CorpusError:
    try:
        return _encoder(name, device).encode(texts)
    except CorpusError as error:
        return error


@cache
def _encoder(name: str, device: str | None) -> Encoder:
    return load_encoder(name, device)
