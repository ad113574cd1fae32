"""The files of the search engines, always rebuildable from the store: one folder per generation, whole or absent.

`derived-<generation>/` holds the lexical index (tantivy), the vector index (FAISS) and a manifest with the generation's
mark and the length and checksum of every file. Missing, outdated or damaged files are rebuilt without encoding
anything.

The folder is beside the store if the store is a file. A database stores the lexical files itself and also searches
vectors itself; a reader copies a generation's files into a cache folder on its machine.
"""

import json
import os
import secrets
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ingest.document import Chunk
from ingest.storage.lexical import LexicalIndex, build_lexical
from ingest.storage.opening import AnyStore, restrict
from ingest.storage.place import Database, Place
from ingest.storage.postgres import PostgresStore
from ingest.storage.store import State, Store
from ingest.storage.vectors import VectorIndex, build_vectors

_MANIFEST = "manifest.json"
_PREFIX = "derived-"
_BUILD = 2  # increase when the fields or the files change: files of another build are rebuilt
_BROKEN = (OSError, ValueError, RuntimeError)  # raised by Python, tantivy and FAISS for broken files


@dataclass(frozen=True, slots=True)
class Derived:
    """The search engines of a generation; `vectors` is None in an index that is searched by words alone."""

    lexical: LexicalIndex
    vectors: VectorIndex | PostgresStore | None


def load_derived(place: Place, store: AnyStore, state: State) -> Derived:
    """Load the engines of a generation, building or copying their files first if needed.

    If the folder cannot be written, the files are made in a temporary one.
    """
    if isinstance(store, PostgresStore):
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wattwise" / store.mark()
    else:
        folder = Path(str(place))
    found = place_of(folder, state)
    try:
        if not is_whole(found, state):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _provide(folder, store, state)
        return _load(found, store, state)
    except _BROKEN:  # the folder cannot be written, or the writer has just removed the files
        with tempfile.TemporaryDirectory() as elsewhere:
            _provide(Path(elsewhere), store, state)
            return _load(place_of(Path(elsewhere), state), store, state)


def complete_derived(place: Place, store: AnyStore, state: State) -> None:
    """Build whatever is missing of a generation's files, before the generation is committed."""
    if isinstance(store, PostgresStore):
        with tempfile.TemporaryDirectory() as elsewhere:
            kept = place_of(Path(elsewhere), state)
            store.fetch_files(state.generation, kept)
            if not is_whole(kept, state):
                shutil.rmtree(kept, ignore_errors=True)
                build_derived(Path(elsewhere), store, state)
                store.save_files(state.generation, kept)
        if state.dimension:
            store.index_vectors(state.dimension)
    elif isinstance(place, Path) and not is_whole(place_of(place, state), state):
        build_derived(place, store, state)


def is_complete(place: Place, store: AnyStore, state: State) -> bool:
    """Whether the files of a generation match their manifest."""
    if isinstance(store, PostgresStore):
        with tempfile.TemporaryDirectory() as elsewhere:
            store.fetch_files(state.generation, Path(elsewhere))
            return is_whole(Path(elsewhere), state)
    return is_whole(place_of(Path(str(place)), state), state)


def _provide(folder: Path, store: AnyStore, state: State) -> None:
    if isinstance(store, PostgresStore):
        _fill(folder, state, lambda place: store.fetch_files(state.generation, place))
        if is_whole(place_of(folder, state), state):
            remove_others(folder, state)
            return
    build_derived(folder, store, state)


def is_whole(place: Path, state: State) -> bool:
    try:
        manifest = json.loads((place / _MANIFEST).read_text())
        return bool(manifest == _manifest(place, state))
    except (OSError, ValueError):
        return False


def build_derived(folder: Path, store: AnyStore, state: State) -> None:
    def build(place: Path) -> None:
        build_lexical(searched_rows(store), place)
        if state.dimension and isinstance(store, Store):
            build_vectors(store.vector_rows, store.count_searched(), state.dimension, place)
        (place / _MANIFEST).write_text(json.dumps(_manifest(place, state)))

    _fill(folder, state, build)


def _fill(folder: Path, state: State, fill: Callable[[Path], None]) -> None:
    """Fill a temporary folder, then rename it into place, replacing a folder that cannot be used."""
    temporary = folder / f"{_PREFIX}new-{secrets.token_hex(8)}"
    temporary.mkdir(mode=0o700)
    try:
        fill(temporary)
        restrict(temporary)
        _rename(temporary, place_of(folder, state), state)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def remove_others(folder: Place, state: State) -> None:
    """Remove every derived folder except that of the given generation. A reader keeps the files that it has open."""
    if isinstance(folder, Database):
        return  # each machine cleans its own cache
    for place in folder.glob(f"{_PREFIX}*"):
        if place != place_of(folder, state):
            shutil.rmtree(place, ignore_errors=True)


def place_of(folder: Path, state: State) -> Path:
    return folder / f"{_PREFIX}{state.generation}"


def _load(place: Path, store: AnyStore, state: State) -> Derived:
    if not state.dimension:
        return Derived(LexicalIndex(place), None)
    return Derived(LexicalIndex(place), store if isinstance(store, PostgresStore) else VectorIndex(place))


def searched_rows(store: AnyStore) -> Iterator[tuple[int, Chunk, str]]:
    """Yield the chunks that are searched by words, each with its number and its context, by document."""
    return ((chunk, entry.chunk, entry.context) for chunk, entry in store.contents() if entry.searched)


def _rename(temporary: Path, place: Path, state: State) -> None:
    """Move the folder into place. If another reader has just built the same generation, keep that reader's folder."""
    if place.exists() and not is_whole(place, state):
        shutil.rmtree(place, ignore_errors=True)
    try:
        temporary.rename(place)
    except OSError:
        if not is_whole(place, state):
            raise


def _manifest(place: Path, state: State) -> dict[str, object]:
    """Return the manifest, with the length and CRC-32 of each file except lock files.

    CRC-32 guards against accidents and is fast (gigabytes a second).
    """
    files = sorted(file for file in place.rglob("*") if file.is_file() and file.suffix != ".lock")
    sums = {str(file.relative_to(place)): [file.stat().st_size, _crc(file)] for file in files if file.name != _MANIFEST}
    return {"build": _BUILD, "mark": state.mark, "files": sums}


def _crc(file: Path) -> int:
    check = 0
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            check = zlib.crc32(block, check)
    return check
