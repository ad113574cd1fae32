"""Documents are read in processes of their own, which can be killed: no file costs more than its budget.

A process reads one document after another; after one that broke the budget, a new process reads the next. It is spoken to over
pipes, in JSON: nothing is pickled and `__main__` is not imported again, so that it works from any script and any thread. The
system's timer ends it when the time is up, whatever it is stuck in, and it ends by itself when the pipe to its parent closes.
"""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import partial
from importlib import import_module
from queue import LifoQueue, SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

from ingest.document import Chunk, CorpusError, Document, Source
from ingest.items import DAMAGED, Item

_OUT_OF_MEMORY = 77
_MOST = 4  # the one process that writes keeps up with no more
_PROGRAM = "import sys; sys.path[:] = {path!r}; from ingest.reading import serve; serve({seconds!r}, {memory!r})"
# A numeric library takes memory for each thread that it might use.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Budget:
    """What reading one document may cost: seconds by the clock, and bytes of memory of the process that reads."""

    seconds: float = 60.0
    memory: int = 1 << 30


@dataclass(frozen=True, slots=True)
class Reading:
    """A document with its chunks, each with the context that is indexed beside it."""

    document: Document
    chunks: tuple[tuple[Chunk, str], ...]


class Reader:
    """Reads documents within a budget each. A context manager: its process ends with it."""

    def __init__(self, budget: Budget | None = None) -> None:
        self._budget = budget or Budget()
        self._process: subprocess.Popen[bytes] | None = None
        self._given_up = False

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def read(self, item: Item, data: bytes) -> Reading:
        """Raises CorpusError with the reason, which may be that the document does not keep to the budget."""
        fresh = self._process is None
        process = self._process = self._process or self._start()
        if self._given_up:  # while the process was being started
            process.kill()
        reply = _exchange(process, _request(item, data))
        if reply is None:
            code = self._stop()
            if fresh or self._given_up or code == -signal.SIGALRM:
                raise CorpusError(self._broken(code))
            # It may have died of what other documents left behind.
            return self.read(item, data)
        if "reason" in reply:
            raise CorpusError(reply["reason"])
        return _reading(item.id, reply)

    def give_up(self) -> None:
        """End what another thread reads."""
        self._given_up = True
        if self._process:
            self._process.kill()

    def _start(self) -> "subprocess.Popen[bytes]":
        path = list(map(str, sys.path))
        return subprocess.Popen(
            [sys.executable, "-c", _PROGRAM.format(path=path, seconds=self._budget.seconds, memory=self._budget.memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | _ONE_THREAD,
            start_new_session=True,  # Ctrl-C is for the parent, which then ends this one
        )

    def _stop(self) -> int:
        """End the process, if there is one, and say how it had ended if it had."""
        process, self._process = self._process, None
        if process is None:
            return 0
        assert process.stdin
        assert process.stdout
        process.stdout.close()
        with suppress(OSError):
            process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        process.kill()
        return process.wait()

    def _broken(self, code: int) -> str:
        memory = f"{self._budget.memory // 1024 // 1024} MiB of memory"
        if code == -signal.SIGALRM:
            return f"reading it takes more than {self._budget.seconds:g} s: split it or save it in a simpler format"
        if code == _OUT_OF_MEMORY:
            return f"reading it takes more than {memory}: split it or save it in a simpler format"
        return f"it stops the program that reads it, being damaged or in need of more than {memory}: save it again or split it"


class ReaderPool:
    """Readers side by side, as many as processors; safe to share between threads. A context manager: all end with it.

    What has read before is taken first, so that a few documents do not start more processes than they need.
    """

    def __init__(self, budget: Budget | None = None, size: int | None = None) -> None:
        self._readers = [Reader(budget) for _ in range(size or min(processors(), _MOST))]
        self._free: LifoQueue[Reader] = LifoQueue()
        for reader in self._readers:
            self._free.put(reader)
        self._threads = ThreadPoolExecutor(len(self._readers), thread_name_prefix="reading")

    def __enter__(self) -> "ReaderPool":
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for reader in self._readers:
            reader.give_up()
        self._threads.shutdown()
        for reader in self._readers:
            reader.__exit__()

    def read(self, item: Item, data: bytes) -> "Future[Reading]":
        """What `Reader.read` gives or raises, when a reader has been free for it."""
        return self._threads.submit(self._read, item, data)

    def _read(self, item: Item, data: bytes) -> Reading:
        reader = self._free.get()
        try:
            return reader.read(item, data)
        finally:
            self._free.put(reader)


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def read_document(name: str, data: bytes, budget: Budget | None = None) -> Document:
    """Read one file that belongs to no index, in a process of its own; `name` tells its format. Raises CorpusError."""
    with Reader(budget) as reader:
        return reader.read(Item(name, name, None, partial(bytes, data)), data).document


def _request(item: Item, data: bytes) -> bytes:
    source = astuple(item.source) if item.source else None
    fields = (item.id, item.name, source, item.content_type, item.address)
    return json.dumps([len(data), *fields]).encode() + b"\n" + data


def _exchange(process: "subprocess.Popen[bytes]", request: bytes) -> dict[str, Any] | None:
    """What the process says; None when it ended without a word."""
    assert process.stdin
    assert process.stdout
    try:
        process.stdin.write(request)
        process.stdin.flush()
        line = process.stdout.readline()
    except OSError:
        return None
    return json.loads(line) if line.endswith(b"\n") else None


def _reading(id: str, reply: Mapping[str, Any]) -> Reading:
    text = reply["text"]
    document = Document(id, Source(*reply["source"]), reply["title"], text)
    return Reading(
        document,
        tuple(
            (Chunk(key, document, tuple(headings), start, end, text[start:end], page), context)
            for key, headings, start, end, page, context in reply["chunks"]
        ),
    )


def serve(seconds: float, memory: int) -> None:
    """What the process runs: a line of JSON and the bytes of a document in, a line of JSON out, until the pipe ends."""
    with suppress(ValueError):  # a lower limit is set already
        resource.setrlimit(resource.RLIMIT_DATA, (memory, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # whatever the parent does with it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not be taken for the reply
    requests: SimpleQueue[tuple[Item, bytes]] = SimpleQueue()
    Thread(target=_listen, args=(sys.stdin.buffer, requests), daemon=True).start()
    import_module("ingest.loaders")  # what this takes is not charged to the first document
    while True:
        item, data = requests.get()
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            line = json.dumps(_reply(item, data)).encode() + b"\n"
        except MemoryError:
            os._exit(_OUT_OF_MEMORY)
        signal.setitimer(signal.ITIMER_REAL, 0)
        replies.write(line)
        replies.flush()


def _listen(stream: BinaryIO, requests: "SimpleQueue[tuple[Item, bytes]]") -> None:
    """Pass requests on; end the process with the pipe, even in the middle of a document."""
    try:
        while line := stream.readline():
            length, id, name, source, content_type, address = json.loads(line)
            data = stream.read(length)
            about = Source(*source) if source else None
            requests.put((Item(id, name, about, partial(bytes, data), content_type, address), data))
    finally:
        os._exit(_OUT_OF_MEMORY)


def _reply(item: Item, data: bytes) -> dict[str, object]:
    from ingest.chunking import chunks_with_context
    from ingest.loaders import load

    try:
        document = load(item, data)
        chunks = [(c.id, c.headings, c.start, c.end, c.page, around) for c, around in chunks_with_context(document)]
    except CorpusError as error:
        return {"reason": str(error)}
    except MemoryError:
        raise
    except Exception:
        return {"reason": DAMAGED}
    return {"source": astuple(document.source), "title": document.title, "text": document.text, "chunks": chunks}
