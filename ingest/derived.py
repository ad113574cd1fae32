"""The search engines' files, which can always be built again from the store: one folder a generation, whole or absent.

`derived-<generation>/` holds the words (tantivy), the vectors (FAISS) and a manifest with the mark of the generation
and the length and checksum of every file. What is missing, older or damaged is built again, without encoding anything.

The folder stands beside a store that is a file. A database stores the files for words and searches vectors itself: a reader
copies the files of a generation into a cache folder of its machine.
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
from ingest.lexical import LexicalIndex, build_lexical
from ingest.opening import AnyStore, restrict
from ingest.place import Database, Place
from ingest.postgres import PostgresStore
from ingest.store import State, Store
from ingest.vectors import VectorIndex, build_vectors

_MANIFEST = "manifest.json"
_PREFIX = "derived-"
_BUILD = 2  # to be raised when the fields or the files change: files of another build are built again
_BROKEN = (OSError, ValueError, RuntimeError)  # what Python, tantivy and FAISS raise for broken files


@dataclass(frozen=True, slots=True)
class Derived:
    """The engines of a generation; no `vectors` in an index that is searched by words alone."""

    lexical: LexicalIndex
    vectors: VectorIndex | PostgresStore | None


def load_derived(place: Place, store: AnyStore, state: State) -> Derived:
    """The engines of a generation, built or copied first if need be; in a temporary folder where theirs cannot be written."""
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
    except _BROKEN:  # nothing can be written there, or the writer has just removed it
        with tempfile.TemporaryDirectory() as elsewhere:
            _provide(Path(elsewhere), store, state)
            return _load(place_of(Path(elsewhere), state), store, state)


def complete_derived(place: Place, store: AnyStore, state: State) -> None:
    """Make the files of a generation whole before it is committed."""
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
    """Whether the files of a generation are as they were made."""
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

    _fill(folder, state, build)


def _fill(folder: Path, state: State, fill: Callable[[Path], None]) -> None:
    """Fill a temporary folder, then give it its name, replacing a folder that cannot be used."""
    temporary = folder / f"{_PREFIX}new-{secrets.token_hex(8)}"
    temporary.mkdir(mode=0o700)
    try:
        fill(temporary)
        (temporary / _MANIFEST).write_text(json.dumps(_manifest(temporary, state)))
        restrict(temporary)
        _rename(temporary, place_of(folder, state), state)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def remove_others(folder: Place, state: State) -> None:
    """Remove every derived folder but that of the given generation. A reader that has one open keeps what it opened."""
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
    """The chunks that are searched by words, each with its number and its context, by document."""
    return ((chunk, entry.chunk, entry.context) for chunk, entry in store.contents() if entry.searched)


def _rename(temporary: Path, place: Path, state: State) -> None:
    """Two readers may build the same generation: the second finds the folder whole and keeps it."""
    if place.exists() and not is_whole(place, state):
        shutil.rmtree(place, ignore_errors=True)
    try:
        temporary.rename(place)
    except OSError:
        if not is_whole(place, state):
            raise


def _manifest(place: Path, state: State) -> dict[str, object]:
    """With length and CRC-32 of each file: against accidents, and fast (gigabytes a second). Lock files do not count."""
    files = sorted(file for file in place.rglob("*") if file.is_file() and file.suffix != ".lock")
    sums = {str(file.relative_to(place)): [file.stat().st_size, _crc(file)] for file in files if file.name != _MANIFEST}
    return {"build": _BUILD, "mark": state.mark, "files": sums}


def _crc(file: Path) -> int:
    check = 0
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            check = zlib.crc32(block, check)
    return check
