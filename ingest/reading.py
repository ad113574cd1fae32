"""Read documents in separate processes, which can be killed: no file costs more than its budget.

A process reads one document after another; after one that broke the budget, a new process reads the next. Requests and
replies go over pipes, in JSON: nothing is pickled and `__main__` is not imported again, so reading works from any
script and any thread. The system's timer ends the process when the time is up, whatever it is stuck in, and it ends by
itself when the pipe to its parent closes.
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
from ingest.fetching.items import DAMAGED, Item

_OUT_OF_MEMORY = 77
_MOST = 4  # the one process that writes cannot keep up with more
_PROGRAM = "import sys; sys.path[:] = {path!r}; from ingest.reading import serve; serve({seconds!r}, {memory!r})"
# A numeric library allocates memory for each thread that it might use.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits for reading one document: wall-clock seconds, and bytes of memory of the reading process."""

    seconds: float = 60.0
    memory: int = 1 << 30


@dataclass(frozen=True, slots=True)
class Reading:
    """A document with its chunks, each with the context that is indexed with it."""

    document: Document
    chunks: tuple[tuple[Chunk, str], ...]


class Reader:
    """Reads documents, each within a budget. A context manager: its process ends with it."""

    def __init__(self, budget: Budget | None = None) -> None:
        self._budget = budget or Budget()
        self._process: subprocess.Popen[bytes] | None = None
        self._given_up = False

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def read(self, item: Item, data: bytes) -> Reading:
        """Read a document. Raises CorpusError with the reason, which may be that the document exceeds its budget."""
        fresh = self._process is None
        process = self._process = self._process or self._start()
        if self._given_up:  # while the process was being started
            process.kill()
        reply = _exchange(process, _request(item, data))
        if reply is None:
            code = self._stop()
            if fresh or self._given_up or code == -signal.SIGALRM:
                raise CorpusError(self._broken(code))
            # It may have died of what earlier documents left behind, so try again in a fresh process.
            return self.read(item, data)
        if "reason" in reply:
            raise CorpusError(reply["reason"])
        return _reading(item.id, reply)

    def give_up(self) -> None:
        """Stop what another thread is reading."""
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
            start_new_session=True,  # Ctrl-C goes to the parent, which then ends this process
        )

    def _stop(self) -> int:
        """End the process, if there is one, and return its exit code."""
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
    """Several readers, at most one per processor; safe to share between threads. A context manager: all end with it.

    The reader that was used last is taken first, so that a few documents do not start more processes than they need.
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
        """Return a future of what `Reader.read` returns or raises, once a reader is free."""
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
    """Read one file that belongs to no index, in a separate process; `name` gives its format. Raises CorpusError."""
    with Reader(budget) as reader:
        return reader.read(Item(name, name, None, partial(bytes, data)), data).document


def _request(item: Item, data: bytes) -> bytes:
    source = astuple(item.source) if item.source else None
    fields = (item.id, item.name, source, item.content_type, item.address)
    return json.dumps([len(data), *fields]).encode() + b"\n" + data


def _exchange(process: "subprocess.Popen[bytes]", request: bytes) -> dict[str, Any] | None:
    """Send a request and return the process's reply; None if it ended without one."""
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
    """Run inside the process: read a line of JSON and a document's bytes, write a line of JSON; end with the pipe."""
    with suppress(ValueError):  # a lower limit is set already
        resource.setrlimit(resource.RLIMIT_DATA, (memory, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # whatever the parent has set
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that what a library prints is not taken for the reply
    requests: SimpleQueue[tuple[Item, bytes]] = SimpleQueue()
    Thread(target=_listen, args=(sys.stdin.buffer, requests), daemon=True).start()
    import_module("ingest.formats.loaders")  # so that the import is not charged to the first document
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
    """Pass requests on. End the process when the pipe closes, even in the middle of a document."""
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
    from ingest.formats.loaders import load

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
