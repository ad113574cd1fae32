"""sync: what the sources hold now -> the index, by content hash, in one transaction."""

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Literal

from ingest.chunking import chunk, context
from ingest.derived import build_derived, is_whole, place_of, remove_others
from ingest.document import Chunk, CorpusError, Document
from ingest.encoder import DEFAULT_ENCODER, load_encoder
from ingest.items import Failure, Item
from ingest.loaders import load
from ingest.opening import explained, open_store, writing
from ingest.rows import is_fact_table
from ingest.sources import find_items
from ingest.store import Entry, Known, State, Store
from ingest.vectors import encoded_text

Progress = Callable[[str, int, int], None]
"""Called with what is being done ("reading", "encoding"), how much of it is done, and how much there is (or 0)."""

_BATCH = 256
# The modules without a say in what a document's chunks are; a change in any other makes every document a changed one.
_ENGINE = frozenset(
    {"__init__", "__main__", "derived", "encoder", "index", "lexical", "minilm", "opening", "store", "syncing"}
)


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did, or would do, by document id. `encoded` counts the texts that went through the encoder.

    A document that cannot be read is in `failed`, and in nothing else; if it was indexed before, its old version stays.
    """

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: tuple[str, ...]
    failed: tuple[Failure, ...]
    encoded: int = 0


@dataclass(frozen=True, slots=True)
class _Finding:
    """What was found out about one document; `document` where it is new or other than what is indexed."""

    kind: Literal["added", "changed", "removed", "unchanged", "failed"]
    id: str
    reason: str = ""
    document: Document | None = None
    chunks: tuple[Chunk, ...] = ()
    known: Known | None = None


def sync(
    sources: Sequence[Path | str],
    index: Path | str,
    *,
    encoder: str = DEFAULT_ENCODER,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> SyncReport:
    """Make the index hold what the sources hold, and nothing else; return what that changed.

    Only documents that differ are loaded, and only texts that the index has not seen are encoded. A source that cannot
    be reached keeps its documents. Until the end, and after a failure or a kill at any moment, readers have the old
    index. Raises CorpusError when no source is given, when nothing can be read and there is no index yet, when another
    sync is writing, or when the encoder cannot be had.
    """
    if not sources:
        raise CorpusError("There is nothing to ingest: name a file, a folder, an s3:// prefix or an https:// address.")
    folder, watched = Path(index), progress or _unwatched
    if dry_run:
        return _report(_outline(finding) for finding in _findings(sources, _known_now(folder), watched))
    with explained(folder), writing(folder) as store:
        findings = list(_stored(_findings(sources, store.known(), watched), store))
        report = _report(findings)
        if not (store.state() or report.added):
            raise CorpusError(_nothing(report))
        encoded = _complete(store, folder, encoder, report, watched)
    return _report(findings, encoded)


def _unwatched(stage: str, done: int, total: int) -> None:
    pass


def _known_now(folder: Path) -> dict[str, Known]:
    try:
        store, _ = open_store(folder)
    except CorpusError:
        return {}
    known = store.known()
    store.close()
    return known


def _findings(sources: Sequence[Path | str], known: Mapping[str, Known], progress: Progress) -> Iterator[_Finding]:
    """One finding a document, in the order of the sources; then what vanished, by id."""
    met: set[str] = set()
    for source in sources:
        origin = _origin(source)
        try:
            for item in find_items(source):
                finding = _finding(item, origin, known) if item.id not in met else _second(item)
                met.add(item.id)
                yield finding
                progress("reading", len(met), 0)
        except CorpusError as error:
            met.update(id for id, entry in known.items() if entry.origin == origin)
            yield _Finding("failed", str(source), str(error))
    yield from (_Finding("removed", id) for id in sorted(known.keys() - met))


def _origin(source: Path | str) -> str:
    return str(source) if "://" in str(source) else str(Path(source).resolve())


def _second(item: Item | Failure) -> _Finding:
    return _Finding("failed", item.id, "another source has a document of the same name: rename one of the two")


def _finding(item: Item | Failure, origin: str, known: Mapping[str, Known]) -> _Finding:
    if isinstance(item, Failure):
        return _Finding("failed", item.id, item.reason)
    try:
        data = item.fetch()
        now = Known(origin, _fingerprint(item, data))
        if known.get(item.id) == now:
            return _Finding("unchanged", item.id)
        document = load(item, data)
    except CorpusError as error:
        return _Finding("failed", item.id, str(error))
    chunks = chunk(document)
    if not chunks:
        return _Finding("failed", item.id, "it has no text: write something in it or take it out")
    return _Finding("changed" if item.id in known else "added", item.id, "", document, chunks, now)


def _fingerprint(item: Item, data: bytes) -> str:
    """Of all that a document is made from: its bytes, what is known about it, and the code that reads it."""
    source = astuple(item.source) if item.source else None
    about = repr((item.name, item.content_type, item.address, source, _reading_code()))
    return sha256(about.encode(errors="surrogateescape") + b"\0" + data).hexdigest()


@cache
def _reading_code() -> str:
    files = sorted(Path(__file__).parent.glob("*.py"))
    return sha256(b"\0".join(file.read_bytes() for file in files if file.stem not in _ENGINE)).hexdigest()


def _stored(findings: Iterable[_Finding], store: Store) -> Iterator[_Finding]:
    """Write each finding down as it comes and let go of its document."""
    for finding in findings:
        if finding.document and finding.known:
            searched = not is_fact_table(finding.document.text)
            store.replace(finding.document, (_entry(c, searched) for c in finding.chunks), finding.known)
        elif finding.kind == "removed":
            store.remove([finding.id])
        yield _outline(finding)


def _outline(finding: _Finding) -> _Finding:
    return _Finding(finding.kind, finding.id, finding.reason)


def _entry(piece: Chunk, searched: bool) -> Entry:
    around = context(piece)
    return Entry(piece, around, _digest(encoded_text(piece, around)), searched)


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()[:16]


def _report(findings: Iterable[_Finding], encoded: int = 0) -> SyncReport:
    found = list(findings)

    def ids(kind: str) -> tuple[str, ...]:
        return tuple(finding.id for finding in found if finding.kind == kind)

    failed = tuple(Failure(finding.id, finding.reason) for finding in found if finding.kind == "failed")
    return SyncReport(ids("added"), ids("changed"), ids("removed"), ids("unchanged"), failed, encoded)


def _nothing(report: SyncReport) -> str:
    if not report.failed:
        return "There is nothing to ingest: the sources hold no document of a known format."
    reasons = "; ".join(f"{failure.id}: {failure.reason}" for failure in report.failed[:5])
    return f"Nothing could be read, so there is no index. {reasons}"


def _complete(store: Store, folder: Path, encoder: str, report: SyncReport, progress: Progress) -> int:
    """Encode what has no vector, build the engines and commit; return how many texts were encoded."""
    state = store.state()
    if state and state.encoder == encoder and not (report.added or report.changed or report.removed):
        state = State(state.generation, state.mark, state.encoder, state.dimension, _now())
        encoded = 0
    else:
        if state and state.encoder != encoder:
            store.remove_vectors()
        dimension, encoded = _encode(store, encoder, state, progress)
        generation = state.generation + 1 if state else 1
        state = State(generation, secrets.token_hex(8), encoder, dimension, _now())
        store.remove_unused()
    store.set_state(state)
    if not is_whole(place_of(folder, state), state):
        build_derived(folder, store, state)
    store.commit()
    remove_others(folder, state)
    return encoded


def _encode(store: Store, name: str, state: State | None, progress: Progress) -> tuple[int, int]:
    """Vectors for the texts that have none. The encoder is loaded only if there are any."""
    missing = store.unencoded()
    total = sum(map(len, missing.values()))
    if not total and state and state.encoder == name:
        return state.dimension, 0
    encoder = load_encoder(name)
    if not encoder.dimension:
        return 0, 0
    done = 0
    for batch in _batches(store, missing):
        store.add_vectors(list(batch), encoder.encode(list(batch.values())))
        done += len(batch)
        progress("encoding", done, total)
    return encoder.dimension, done


def _batches(store: Store, missing: Mapping[int, set[bytes]]) -> Iterator[dict[bytes, str]]:
    """The texts to encode, by digest, some hundred at a time."""
    batch: dict[bytes, str] = {}
    for number, digests in missing.items():
        for _, entry in store.entries(number, store.document(number)):
            if entry.digest in digests:
                batch[entry.digest] = encoded_text(entry.chunk, entry.context)
            if len(batch) >= _BATCH:
                yield batch
                batch = {}
    if batch:
        yield batch


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
