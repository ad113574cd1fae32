"""Index: lexical and vector search over the store, always in one generation; and a check that all is as written."""

import weakref
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import partial
from threading import Lock, RLock

import numpy as np
from numpy.typing import NDArray

from ingest.document import Chunk, CorpusError, Document, Source
from ingest.encoding.encoder import Remembered, load_encoder
from ingest.storage.derived import Derived, is_complete, load_derived
from ingest.storage.opening import AnyStore, explained, mending, open_store, signature
from ingest.storage.place import Place, place_at
from ingest.storage.store import Mismatch, State, Store, chunk_of

# Hits fetched beyond the limit, so that ties at the cut-off can be ordered by id.
_TIES = 32
_CACHED_DOCUMENTS = 256
# A chunk keeps its document in memory.
_CACHED_CHUNKS = 1_024
_Encoding = Remembered[NDArray[np.float32], str]


class Index:
    """An index in a folder or a database, open for reading; safe to share between threads.

    Each call sees one generation, the newest. For several calls that belong together, take a `snapshot`.
    """

    def __init__(self, view: "_View", *, follows: bool) -> None:
        self._view = view
        self._follows = follows
        self._lock = RLock()

    @classmethod
    def open(cls, path: str | Place) -> "Index":
        """Open a folder, or a database by its address (postgresql://…).

        Raises CorpusError, with the command that repairs it, if there is no usable index.
        """
        return cls(_load_view(place_at(path), None), follows=True)

    def snapshot(self) -> "Index":
        """Return this index as it is now, whatever is synced later."""
        return Index(self._current(), follows=False)

    @property
    def path(self) -> Place:
        """The location of the index: its folder, or its database, which as text shows no password."""
        return self._view.path

    @property
    def generation(self) -> int:
        return self._current().state.generation

    @property
    def encoder_name(self) -> str:
        return self._current().state.encoder

    @property
    def updated(self) -> str:
        """When the index was last compared with its sources: ISO, UTC."""
        return self._current().state.updated

    def __len__(self) -> int:
        """The number of chunks that are searched."""
        return self._current().count

    def lexical(self, text: str, limit: int) -> list[tuple[str, float]]:
        """Return chunk ids with their BM25 scores, best first, ties by id. The text is not parsed as a query."""
        view = self._current()
        return view.named(view.derived.lexical.search(text, limit + _TIES))[:limit] if limit > 0 else []

    def dense(self, vector: NDArray[np.float32], limit: int) -> list[tuple[str, float]]:
        """Return chunk ids with their cosines to a unit vector, best first, ties by id; none without vectors."""
        view = self._current()
        if view.derived.vectors is None or limit <= 0:
            return []
        return view.named(view.nearest(view.fitting(vector), limit + _TIES))[:limit]

    def similarities(self, vector: NDArray[np.float32], ids: Sequence[str]) -> list[float]:
        """Return the cosine of a unit vector to each of the chunks; 0 if the index has no vectors."""
        view = self._current()
        if view.derived.vectors is None or not ids:
            return [0.0] * len(ids)
        # Not a matrix product: its rounding depends on the position of a row in the matrix.
        cosines = np.einsum("ij,j->i", np.stack(view.vectors(ids)), view.fitting(vector))
        return [float(cosine) for cosine in cosines]

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors by the index's own encoder, (len(texts), dimension); the most recent texts are cached."""
        view = self._current()
        return np.stack(vectors) if (vectors := view.encoding(texts)) else np.zeros((0, view.state.dimension), dtype=np.float32)

    def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        """Return the chunks with these ids, in the order of the ids; chunks of one document share it."""
        return self._current().chunks(ids)

    def documents(self) -> list[Document]:
        """Return every document, by id."""
        with self._current().reading() as store:
            return list(store.documents())

    def origins(self) -> list[str]:
        """Return what was ingested, as given to `sync`: files and folders by full path, addresses unchanged."""
        with self._current().reading() as store:
            return store.origins()

    def tables(self) -> list[Document]:
        """Return the documents in which nothing is searched, by id.

        They are fact tables, whose rows are looked up, and documents that are only quoted or hold prepared answers.
        """
        with self._current().reading() as store:
            return [store.document(number) for number in store.table_numbers()]

    def questions(self) -> list[tuple[Document, int, NDArray[np.float32]]]:
        """Return the prepared questions (`ingest.answers`), each as its document, its start there, and its vectors.

        The vectors, (wordings, 384), are unit vectors by the encoder of questions. An index without vectors has none.
        """
        with self._current().reading() as store:
            questions = store.questions()
            numbers = list(dict.fromkeys(number for number, _, _ in questions))
            documents = dict(zip(numbers, store.documents_of(numbers), strict=True))
        return [(documents[number], start, vectors) for number, start, vectors in questions]

    def sources(self) -> list[Source]:
        """Return every source, by id."""
        with self._current().reading() as store:
            return store.sources()

    def document_chunks(self, document_id: str) -> list[Chunk]:
        """Return the chunks of a document in order; none if the document is not in the index."""
        view = self._current()
        with view.reading() as store:
            number = store.document_number(document_id)
            if number is None:
                return []
            (document,) = view.documents([number])
            if document.id != document_id:
                raise Mismatch(f"the document {document_id} is not found by its id")
            return [entry.chunk for _, entry in store.entries(number, document)]

    def document_frequency(self, word: str) -> int:
        """Return how many chunks contain the word as it is spelt, ignoring case; 0 if the corpus does not have it."""
        return self._current().derived.lexical.document_frequency(word)

    def suggest(self, word: str) -> str | None:
        """Return the corpus word that is nearest in spelling, the most common among equals; None if none is near."""
        return self._current().derived.lexical.suggest(word)

    def _current(self) -> "_View":
        if not self._follows or self._view.is_newest():
            return self._view
        with self._lock:
            if not self._view.is_newest():
                self._view = _load_view(self._view.path, self._view)
            return self._view


class _View:
    """One generation: its store, its encoder and the engines derived from it."""

    def __init__(
        self, path: Place, signature: object, store: AnyStore, state: State, derived: Derived, encoding: _Encoding
    ) -> None:
        self.path = path
        self.state = state
        self.derived = derived
        self.encoding = encoding
        self.count = store.count_searched()
        self._signature = signature
        self._store = store
        # SQLite's connection serves one thread at a time; a pool has one for each thread.
        self._lock = Lock() if isinstance(store, Store) else nullcontext()
        # Nothing here refers to the view itself, so the view is freed, and its store closed, as soon as nobody uses it.
        self.documents = Remembered(lambda: store.documents_of, _CACHED_DOCUMENTS)
        load = partial(_load_chunks, path, store, self.documents, self._lock)
        self.chunks = Remembered(lambda: load, _CACHED_CHUNKS)
        weakref.finalize(self, store.close)

    @contextmanager
    def reading(self) -> Iterator[AnyStore]:
        with self._lock, explained(self.path):
            yield self._store

    def is_newest(self) -> bool:
        if self._signature != signature(self.path):
            return False
        self._store.keep()
        return True

    def encodes_for(self, state: State) -> bool:
        return (self.state.encoder, self.state.dimension) == (state.encoder, state.dimension)

    def named(self, hits: Sequence[tuple[int, float]]) -> list[tuple[str, float]]:
        with self.reading() as store:
            ids = store.chunk_ids([number for number, _ in hits])
        return sorted(((ids[number], score) for number, score in hits), key=lambda hit: (-hit[1], hit[0]))

    def nearest(self, vector: NDArray[np.float32], limit: int) -> list[tuple[int, float]]:
        assert self.derived.vectors
        with explained(self.path):
            return self.derived.vectors.search(vector, limit)

    def fitting(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        flat = np.asarray(vector, dtype=np.float32).reshape(-1)
        if flat.shape[0] != self.state.dimension:
            raise CorpusError(
                f"The index in {self.path} holds vectors of {self.state.dimension} numbers by {self.state.encoder}; "
                f"the question's vector has {flat.shape[0]}. {mending(self.path)}"
            )
        return flat

    def vectors(self, ids: Sequence[str]) -> list[NDArray[np.float32]]:
        with self.reading() as store:
            vectors = store.vectors(ids)
            return [vectors[id] for id in _present(self.path, store, ids, vectors)]


def _load_chunks(
    path: Place,
    store: AnyStore,
    documents: Callable[[Sequence[int]], list[Document]],
    lock: AbstractContextManager[object],
    ids: Sequence[str],
) -> list[Chunk]:
    with lock, explained(path):
        rows = store.chunk_rows(ids)
        found = [rows[id] for id in _present(path, store, ids, rows)]
        shared = documents([number for number, _ in found])
        return [chunk_of(document, row) for document, (_, row) in zip(shared, found, strict=True)]


def _present(path: Place, store: AnyStore, ids: Sequence[str], found: Container[str]) -> Sequence[str]:
    missing = [id for id in ids if id not in found]
    if missing and store.holds_chunk(missing):
        raise Mismatch("passages that it holds are not found")
    if missing:
        raise CorpusError(f"The index in {path} has changed since these passages were found. Ask again.")
    return ids


def _encoding(path: Place, state: State) -> _Encoding:
    def load() -> Callable[[Sequence[str]], NDArray[np.float32]]:
        encoder = load_encoder(state.encoder)
        if encoder.dimension != state.dimension:
            raise CorpusError(
                f"{state.encoder} makes vectors of {encoder.dimension} numbers here, "
                f"the index in {path} holds {state.dimension}. {mending(path)}"
            )
        return encoder.encode

    return Remembered(load)


def _load_view(path: Place, previous: _View | None) -> _View:
    """Load the newest generation.

    The previous view's engines are reused if only the time of the last sync changed, its encoder if it is the same.
    """
    found = signature(path)
    store, state = open_store(path)
    with explained(path):
        derived = previous.derived if previous and previous.state.mark == state.mark else load_derived(path, store, state)
        encoding = previous.encoding if previous and previous.encodes_for(state) else _encoding(path, state)
        return _View(path, found, store, state, derived, encoding)


def check(index: Place | str) -> tuple[str, ...]:
    """Return a sentence for each thing that is not as it was written, with its remedy. Change nothing.

    Every page, row and file is read; opening an index and asking check only what they read.
    """
    folder = place_at(index)
    try:
        with explained(folder):
            return tuple(_problems(folder))
    except CorpusError as error:
        return (str(error),)


def _problems(folder: Place) -> Iterator[str]:
    store, state = open_store(folder)
    with closing(store):
        remedy = mending(folder, store.origins())
        flaw = store.flaw()
        if flaw:
            yield f"The store is damaged ({flaw}). {remedy}"
        damage = store.damage()
        for id in damage.documents.values():
            yield f"The document {id} does not match its checksums. {remedy}"
        if damage.vectors:
            yield f"Vectors do not match their checksums ({len(damage.vectors)}). {remedy}"
        if not is_complete(folder, store, state):
            yield f"The files for searching of generation {state.generation} do not match their checksums. {remedy}"
