"""sync: bring the index up to date with its sources, by content hash, in one transaction."""

import os
import secrets
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha256
from itertools import accumulate, chain, starmap
from pathlib import Path
from typing import Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from ingest.answers import holds_answers, wordings_in
from ingest.cluster import Cluster, joined
from ingest.document import CorpusError
from ingest.encoding.encoder import DEFAULT_ENCODER, NO_ENCODER, gpu, load_encoder
from ingest.encoding.minilm import QUESTIONS
from ingest.fetching.items import Failure, Item
from ingest.fetching.sources import find_items
from ingest.formats.plain import front_matter
from ingest.reading import ReaderPool, Reading
from ingest.rows import is_fact_table
from ingest.storage.derived import complete_derived, remove_others
from ingest.storage.opening import AnyStore, explained, open_store, writing
from ingest.storage.place import Place, place_at
from ingest.storage.store import NO_DAMAGE, UNENCODED, Damage, Entry, Known, State
from ingest.storage.vectors import UnfinishedVectors, encoded_text, remove_unfinished

Progress = Callable[[str, int, int], None]
"""Called as progress(stage, done, total); the stage is "reading" or "encoding"."""

_BATCH = 256
_WORDINGS = 16  # typical number of wordings per question
_GPU_BATCH = 4_096
# Read-ahead: this many documents, and this many bytes for each. A document larger than the whole byte budget is read
# alone.
_AHEAD = 64
_BYTES_EACH = 256 << 10
_UNCHANGED = "so the index is as it was"
T = TypeVar("T")
_Kind = Literal["added", "changed", "removed", "unchanged", "failed"]
# What does not affect a document's chunks. A change in any other module marks every document as changed.
_ENGINE = frozenset({"__init__", "__main__", "cluster", "encoding", "storage", "syncing"})


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did, or would do in a dry run, by document id.

    `encoded` counts the passages and questions that were encoded. A document that cannot be read is in `failed`; if it
    was indexed before, its old version stays. `damaged` lists documents whose stored text did not match what was
    written; each is read from its source again, so it also appears in one of the other fields. `set_aside` is the new
    name, in the index folder, of a store that was unusable and has been replaced.
    """

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: tuple[str, ...]
    failed: tuple[Failure, ...]
    encoded: int = 0
    damaged: tuple[str, ...] = ()
    set_aside: str = ""


@dataclass(frozen=True, slots=True)
class _Finding:
    """The outcome for one document; `reading` is set if the document is new or differs from what is indexed."""

    kind: _Kind
    id: str
    reason: str = ""
    reading: Reading | None = None
    known: Known | None = None


_Read = Callable[[Item, bytes], Callable[[], Reading]]
"""Starts reading, and returns a function that waits for the result."""
_Encode = Callable[[str, str | None, list[str]], Callable[[], NDArray[np.float32]]]
"""Starts encoding texts with an encoder, by name, on a device, and returns a function that waits for the vectors."""
_Begun = tuple[int, Callable[[], T]]
"""The bytes that a task holds in memory, and a function that waits for its result."""


def sync(
    sources: Sequence[Path | str],
    index: Place | str,
    *,
    encoder: str = DEFAULT_ENCODER,
    device: str | None = None,
    ray: str | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> SyncReport:
    """Make the index hold what the sources hold, and nothing else; return what that changed.

    Only documents that differ are loaded, each within a budget (`ingest.reading.Budget`). Only texts that are new to
    the index are encoded, on `device` or by default on a GPU if torch has one. Vectors that a killed sync already made
    are reused. With `ray`, the workers of a Ray cluster read and encode (`ingest.cluster.joined`). A source that cannot
    be reached keeps its documents. Readers see the old index until the sync commits, and after a failure or a kill at
    any moment. Raises CorpusError if no source is given, if the index would hold nothing, if another sync is writing,
    or if the encoder is not available.
    """
    # An empty source is an unset variable of a shell; as a path it would be the current folder.
    if not sources or not all(str(source) for source in sources):
        raise CorpusError("There is nothing to ingest: name a file, a folder, an s3:// prefix or an https:// address.")
    folder, watched = place_at(index), progress or (lambda stage, done, total: None)
    if dry_run:
        with explained(folder):
            known, damaged = _known_now(folder)
        with joined(ray) as cluster:
            report = _report(_findings(sources, known, watched, cluster))
        if known and not report.added and len(report.removed) == len(known):
            raise CorpusError(_nothing(report, _UNCHANGED))
        return replace(report, damaged=damaged)
    with joined(ray) as cluster, explained(folder), writing(folder) as store:
        state = store.state()
        damage = store.damage() if state else NO_DAMAGE
        known, damaged = _trusted(store, damage)
        store.remove_damage(damage)
        load = cache(load_encoder)
        encode: _Encode = cluster.encode if cluster else lambda name, device, texts: partial(load(name, device).encode, texts)
        # A new encoder is tried before all documents are read for it.
        if encoder not in (NO_ENCODER, state.encoder if state else None):
            _dimension(encode, encoder, device, cluster)
        report = _report(_stored(_findings(sources, known, watched, cluster), store))
        if not store.count_chunks():
            raise CorpusError(_nothing(report, _UNCHANGED if state else "so there is no index"))
        encoded, now = 0, datetime.now(UTC).isoformat(timespec="seconds")
        if state and state.encoder == encoder and not (damage or report.added or report.changed or report.removed):
            state = replace(state, updated=now)
        else:
            if state and state.encoder != encoder:
                store.remove_vectors()
            dimension, encoded = _encode(store, folder, state, encoder, device, cluster, watched, encode)
            state = State(store.next_generation(), secrets.token_hex(8), encoder, dimension, now)
            store.remove_unused()
        _commit(store, folder, state)
        return replace(report, damaged=damaged, set_aside=store.set_aside, encoded=encoded)


def _known_now(folder: Place) -> tuple[dict[str, Known], tuple[str, ...]]:
    try:
        store, _ = open_store(folder)
    except CorpusError:
        return {}, ()
    with closing(store):
        return _trusted(store, store.damage())


def _trusted(store: AnyStore, damage: Damage) -> tuple[dict[str, Known], tuple[str, ...]]:
    """Return what is known about each document, and the ids of the damaged ones, to be read from their sources again.

    Damaged documents are among the known ones, with an empty fingerprint, which no document has.
    """
    known = store.known(damage.documents)
    again = {id: Known("", "") for id in damage.documents.values()}
    if damage.whole:
        again |= {id: Known(entry.origin, "") for id, entry in known.items()}
    return known | again, tuple(sorted(again))


def _findings(
    sources: Sequence[Path | str], known: Mapping[str, Known], progress: Progress, cluster: Cluster | None
) -> Iterator[_Finding]:
    """Yield one finding per document in the order of the sources, then the documents that vanished, by id."""
    unique: dict[str, Path | str] = {}
    for source in sources:
        unique.setdefault(_origin(source), source)
    listed = [(source, *_listed(source)) for source in unique.values()]
    total = sum(len(items) for _, items, _ in listed)
    ahead = max(_AHEAD, cluster.ahead()) if cluster else _AHEAD
    with ReaderPool() as pool:  # starts its processes lazily, so none if a cluster reads
        read = cluster.read if cluster else lambda item, data: pool.read(item, data).result
        for done, finding in enumerate(_in_order(_begun(listed, known, read), ahead), start=1):
            yield finding
            if done <= total:
                progress("reading", done, total)


def _origin(source: Path | str) -> str:
    return str(source) if "://" in str(source) else os.path.realpath(source)


def _listed(source: Path | str) -> tuple[list[Item | Failure], str]:
    """Return what a source holds, and the reason if it could not be listed completely."""
    items: list[Item | Failure] = []
    try:
        for item in find_items(source):
            items.append(item)  # items found before an error are kept
    except CorpusError as error:
        return items, str(error)
    return items, ""


def _begun(
    listed: Iterable[tuple[Path | str, list[Item | Failure], str]], known: Mapping[str, Known], read: _Read
) -> Iterator[_Begun[_Finding]]:
    met: set[str] = set()
    for source, items, trouble in listed:
        origin = _origin(source)
        for item in items:
            if item.id in met:
                yield _known_at_once("failed", item.id, "another source has a document of the same name: rename one of the two")
            else:
                yield _begin(item, origin, known, read)
            met.add(item.id)
            if isinstance(item, Failure):  # perhaps a folder that cannot be listed
                met.update(id for id, entry in known.items() if entry.origin == origin and id.startswith(f"{item.id}/"))
        if trouble:
            met.update(id for id, entry in known.items() if entry.origin == origin)
            yield _known_at_once("failed", str(source).encode(errors="replace").decode(), trouble)
    yield from (_known_at_once("removed", id) for id in sorted(known.keys() - met))


def _known_at_once(kind: _Kind, id: str, reason: str = "") -> _Begun[_Finding]:
    return 0, lambda: _Finding(kind, id, reason)


def _in_order(begun: Iterable[_Begun[T]], ahead: int) -> Iterator[T]:
    """Yield results in the order in which their tasks were begun; limits the tasks and bytes that wait at any time."""
    waiting: deque[_Begun[T]] = deque()
    size = 0
    for one in begun:
        waiting.append(one)
        size += one[0]
        while waiting and (size > ahead * _BYTES_EACH or len(waiting) > ahead):
            length, finish = waiting.popleft()
            size -= length
            yield finish()
    for _, finish in waiting:
        yield finish()


def _begin(item: Item | Failure, origin: str, known: Mapping[str, Known], read: _Read) -> _Begun[_Finding]:
    if isinstance(item, Failure):
        return _known_at_once("failed", item.id, item.reason)
    try:
        data = item.fetch()
    except CorpusError as error:
        return _known_at_once("failed", item.id, str(error))
    now = Known(origin, _fingerprint(item, data))
    if known.get(item.id) == now:
        return _known_at_once("unchanged", item.id)
    kind: _Kind = "changed" if item.id in known else "added"
    return len(data), partial(_finished, kind, item.id, now, read(item, data))


def _finished(kind: _Kind, id: str, now: Known, read: Callable[[], Reading]) -> _Finding:
    try:
        reading = read()
    except CorpusError as error:
        return _Finding("failed", id, str(error))
    if not reading.chunks:
        return _Finding("failed", id, "it has no text: write something in it or take it out")
    return _Finding(kind, id, reading=reading, known=now)


def _fingerprint(item: Item, data: bytes) -> str:
    """Return the digest of a document's bytes, of what is known about it, and of the code that reads it."""
    source = astuple(item.source) if item.source else None
    about = repr((item.name, item.content_type, item.address, source, _reading_code(), QUESTIONS))
    return sha256(about.encode(errors="surrogateescape") + b"\0" + data).hexdigest()


@cache
def _reading_code() -> str:
    here = Path(__file__).parent
    files = [path for path in sorted(here.rglob("*.py")) if path.parent.name not in _ENGINE and path.stem not in _ENGINE]
    return sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()


def _stored(findings: Iterable[_Finding], store: AnyStore) -> Iterator[_Finding]:
    """Store each document as its finding arrives, so that only one is held at a time."""
    for finding in findings:
        if finding.reading and finding.known:
            store.replace(finding.reading.document, _entries(finding.reading), finding.known)
        elif finding.kind == "removed":
            store.remove([finding.id])
        yield finding


def _entries(reading: Reading) -> Iterator[Entry]:
    """Yield the chunks of a document as they are indexed.

    A fact table, or a document with `searched: false` in its front matter, can be quoted but is neither searched nor
    encoded.
    """
    text = reading.document.text
    is_quoted = is_fact_table(text) or front_matter(text)[0].get("searched") == "false"
    searched = not (is_quoted or holds_answers(text))
    for chunk, context in reading.chunks:
        entry = Entry(chunk, context, UNENCODED, searched)
        yield entry if is_quoted else replace(entry, digest=_digest(entry))


def _digest(entry: Entry) -> bytes:
    """Return the digest of what is encoded.

    For a question it also covers the encoder's name, which the index does not record.
    """
    encoded = _texts_of(entry)[0] if entry.searched else f"{QUESTIONS}\0{entry.chunk.text}"
    return sha256(encoded.encode()).digest()[:16]


def _texts_of(entry: Entry) -> list[str]:
    """Return the texts to encode: one with place and context for a searched chunk, the wordings for a question."""
    return [encoded_text(entry.chunk, entry.context)] if entry.searched else wordings_in(entry.chunk)


def _report(findings: Iterable[_Finding]) -> SyncReport:
    found: dict[str, list[tuple[str, str]]] = {kind: [] for kind in get_args(_Kind)}
    for finding in findings:
        found[finding.kind].append((finding.id, finding.reason))
    *changes, failed = found.values()
    added, changed, removed, unchanged = (tuple(id for id, _ in ones) for ones in changes)
    return SyncReport(added, changed, removed, unchanged, tuple(starmap(Failure, failed)))


def _nothing(report: SyncReport, outcome: str) -> str:
    if not report.failed:
        return f"There is nothing to ingest, {outcome}: the sources hold no document of a known format."
    reasons = "; ".join(f"{failure.id}: {failure.reason}" for failure in report.failed[:5])
    return f"Nothing could be read, {outcome}. {reasons}"


def _commit(store: AnyStore, folder: Place, state: State) -> None:
    """Build the search engines of a generation and commit it."""
    store.set_state(state)
    complete_derived(folder, store, state)
    store.commit()
    if isinstance(folder, Path):
        remove_unfinished(folder)
    remove_others(folder, state)


def _encode(
    store: AnyStore, folder: Place, state: State | None, name: str, device: str | None, cluster: Cluster | None, progress: Progress,
    encode: _Encode,
) -> tuple[int, int]:
    """Make the missing vectors; return their dimension and how many were made.

    Encoders are loaded only if vectors are missing.
    """
    if name == NO_ENCODER:
        return 0, 0
    missing = store.unencoded()
    total = sum(map(len, missing.values()))
    if not total and state and state.encoder == name:
        return state.dimension, 0
    device, dimension = _dimension(encode, name, device, cluster)
    # A database has no folder in which to keep unfinished vectors.
    unfinished = UnfinishedVectors(folder, name, dimension) if isinstance(folder, Path) else None
    if unfinished and _take(unfinished, store, missing):
        missing = store.unencoded()
    begun = done = total - sum(map(len, missing.values()))

    def begin(searched: bool, batch: dict[bytes, list[str]]) -> _Begun[tuple[bool, list[bytes], Sequence[NDArray[np.float32]]]]:
        by = (name, device) if searched else (QUESTIONS, None)
        made = encode(*by, list(chain(*batch.values())))
        ends = list(accumulate(map(len, batch.values())))
        return 0, lambda: (searched, list(batch), list(made()) if searched else np.split(made(), ends[:-1]))

    batches = _batches(store, missing, _GPU_BATCH if device and device != "cpu" else _BATCH)
    for searched, digests, vectors in _in_order(starmap(begin, batches), cluster.ahead(device) if cluster else 0):
        store.add_vectors(digests, vectors)
        if searched and unfinished:
            unfinished.add(digests, np.stack(vectors))
        done += len(digests)
        progress("encoding", done, total)
    return dimension, done - begun


def _dimension(encode: _Encode, name: str, device: str | None, cluster: Cluster | None) -> tuple[str | None, int]:
    """Return the device that an encoder runs on and the dimension of its vectors; raises CorpusError if it cannot be had."""
    device = device or (cluster.gpu() if cluster else gpu())
    return device, encode(name, device, ["dimension"])().shape[1]


def _take(unfinished: UnfinishedVectors, store: AnyStore, missing: Mapping[int, set[bytes]]) -> int:
    """Store the vectors that a stopped sync left behind; return how many."""
    wanted, taken = set[bytes]().union(*missing.values()), 0
    for digests, vectors in unfinished.take():
        rows = [row for row, digest in enumerate(digests) if digest in wanted]
        store.add_vectors([digests[row] for row in rows], vectors[rows])
        wanted.difference_update(digests)
        taken += len(rows)
    return taken


def _batches(store: AnyStore, missing: Mapping[int, set[bytes]], size: int) -> Iterator[tuple[bool, dict[bytes, list[str]]]]:
    """Yield batches of texts to encode, by digest, and whether they are searched (passages) or not (questions)."""
    batches: dict[bool, dict[bytes, list[str]]] = {True: {}, False: {}}
    for number, digests in missing.items():
        for _, entry in store.entries(number, store.document(number)):
            if entry.digest in digests:
                digests.discard(entry.digest)  # a document may hold a text twice
                batch = batches[entry.searched]
                batch[entry.digest] = _texts_of(entry)
                if len(batch) >= (size if entry.searched else size // _WORDINGS):
                    yield entry.searched, batch
                    batches[entry.searched] = {}
    yield from ((searched, batch) for searched, batch in batches.items() if batch)
