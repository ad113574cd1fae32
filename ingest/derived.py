"""The files that are made from the store and can be made from it again: one folder a generation, whole or not there.

`derived-<generation>/` holds the words (tantivy), the vectors (FAISS) and a manifest with the mark of the generation
and the length and check sum of every file. What is missing, older or damaged is built again, and nothing is encoded.
"""

import json
import secrets
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ingest.document import Chunk
from ingest.lexical import LexicalIndex, build_lexical
from ingest.opening import restrict
from ingest.store import State, Store
from ingest.vectors import VectorIndex, build_vectors

_MANIFEST = "manifest.json"
_PREFIX = "derived-"
_BUILD = 2  # to be raised when the fields or the files change: what another build made counts as older
_BROKEN = (OSError, ValueError, RuntimeError)  # as Python, tantivy and FAISS each say it of files


@dataclass(frozen=True, slots=True)
class Derived:
    lexical: LexicalIndex
    vectors: VectorIndex | None


def load_derived(folder: Path, store: Store, state: State) -> Derived:
    """The engines of a generation, built first if need be: elsewhere, if nothing can be written beside the store."""
    place = place_of(folder, state)
    if is_whole(place, state):
        try:
            return _load(place, state)
        except _BROKEN:
            pass  # the writer removed it in between
    try:
        build_derived(folder, store, state)
        return _load(place, state)
    except _BROKEN:
        with tempfile.TemporaryDirectory() as elsewhere:
            build_derived(Path(elsewhere), store, state)
            return _load(place_of(Path(elsewhere), state), state)


def is_whole(place: Path, state: State) -> bool:
    try:
        manifest = json.loads((place / _MANIFEST).read_text())
        return bool(manifest == _manifest(place, state))
    except (OSError, ValueError):
        return False


def build_derived(folder: Path, store: Store, state: State) -> None:
    """Builds in a folder of its own and gives it its name at the end, in the place of one that cannot be used."""
    temporary = folder / f"{_PREFIX}new-{secrets.token_hex(8)}"
    temporary.mkdir(mode=0o700)
    try:
        build_lexical(searched_rows(store), temporary)
        if state.dimension:
            build_vectors(store.vector_rows(), state.dimension, temporary)
        (temporary / _MANIFEST).write_text(json.dumps(_manifest(temporary, state)))
        restrict(temporary)
        _rename(temporary, place_of(folder, state), state)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def remove_others(folder: Path, state: State | None) -> None:
    """Remove every derived folder but that of the given generation. A reader that has one open keeps what it opened."""
    kept = place_of(folder, state) if state else None
    for place in folder.glob(f"{_PREFIX}*"):
        if place != kept:
            shutil.rmtree(place, ignore_errors=True)


def place_of(folder: Path, state: State) -> Path:
    return folder / f"{_PREFIX}{state.generation}"


def _load(place: Path, state: State) -> Derived:
    return Derived(LexicalIndex(place), VectorIndex(place) if state.dimension else None)


def searched_rows(store: Store) -> Iterator[tuple[int, Chunk, str]]:
    """What is searched by words: each chunk with its number and its context, by document."""
    for number in store.document_numbers():
        for chunk, entry in store.entries(number, store.document(number)):
            if entry.searched:
                yield chunk, entry.chunk, entry.context


def _rename(temporary: Path, place: Path, state: State) -> None:
    """Two readers may build the same generation: the second one finds it there and leaves it."""
    if place.exists() and not is_whole(place, state):
        shutil.rmtree(place, ignore_errors=True)
    try:
        temporary.rename(place)
    except OSError:
        if not is_whole(place, state):
            raise


def _manifest(place: Path, state: State) -> dict[str, object]:
    return {"build": _BUILD, "mark": state.mark, "files": _check_sums(place)}


def _check_sums(place: Path) -> dict[str, list[int]]:
    """Length and CRC-32 by name: meant against accidents, and read at gigabytes a second. Lock files do not count."""
    files = sorted(
        file for file in place.rglob("*") if file.is_file() and file.name != _MANIFEST and file.suffix != ".lock"
    )
    return {str(file.relative_to(place)): [file.stat().st_size, _crc(file)] for file in files}


def _crc(file: Path) -> int:
    check = 0
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            check = zlib.crc32(block, check)
    return check
