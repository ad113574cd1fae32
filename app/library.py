"""The documents behind the app: what visitors add and remove, and bringing the index up to date with all of it.

Everything a visitor adds lies in one flat folder inside the index's own. Names are made harmless first, so that no name
leads out of it.
"""

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from threading import Lock

from ingest import CorpusError, Index, SyncReport, sync

UPLOADS = "uploads"
FILE_TYPES = ("md", "mdx", "txt", "rst", "html", "htm", "pdf", "docx", "pptx", "xlsx", "csv", "json", "jsonl")
Progress = Callable[[str, int, int], None]

_LONGEST_NAME = 120
_HARMFUL = re.compile(r"[^\w .()+-]")
# Two visitors of one process wait for each other; another process is told so by `sync`.
_one_at_a_time = Lock()


@dataclass(frozen=True, slots=True)
class Limits:
    """How much visitors may add: the size of one file in bytes, and how many files there may be in all."""

    bytes: int
    count: int


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a file that was given; `problem` is "" when its text can be asked about now."""

    given: str
    stored: str
    problem: str = ""


def uploads_folder(index: Path) -> Path:
    return index / UPLOADS


def uploaded(index: Path) -> tuple[str, ...]:
    """The names of the files that visitors added, sorted."""
    folder = uploads_folder(index)
    return tuple(sorted(f.name for f in folder.iterdir() if f.is_file())) if folder.is_dir() else ()


def safe_name(given: str) -> str:
    """A file name without a folder, control characters or a leading dot, short enough for every file system."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", given))[-1]
    visible = "".join(c for c in last if unicodedata.category(c)[0] != "C")
    name = _HARMFUL.sub("_", visible).lstrip(" .~").rstrip(" .")
    stem, dot, suffix = name.rpartition(".")
    if not dot:
        stem, suffix = name, ""
    kept = stem.encode()[:_LONGEST_NAME].decode(errors="ignore").strip(" .") or "document"
    return f"{kept}.{suffix.lower()}" if dot else kept


def add_files(
    index: Index, files: Iterable[tuple[str, bytes]], limits: Limits, progress: Progress | None = None
) -> tuple[Added, ...]:
    """Store files and ingest them; one that cannot be kept or read says why and leaves nothing behind."""
    with _one_at_a_time:
        stored = [_stored(index.path, name, data, limits) for name, data in files]
        if all(added.problem for added in stored):
            return tuple(stored)
        try:
            report = _synced(index, origins(index), progress=progress)
        except CorpusError:
            for added in stored:
                _discard(index.path, added)
            raise
        reasons = {PurePosixPath(failure.id).name: failure.reason for failure in report.failed}
        return tuple(_read(index.path, added, reasons.get(added.stored, "")) for added in stored)


def remove_files(index: Index, names: Iterable[str], progress: Progress | None = None) -> SyncReport:
    """Remove files that visitors added, and what the index has of them."""
    with _one_at_a_time:
        for name in names:
            if name in uploaded(index.path):
                (uploads_folder(index.path) / name).unlink(missing_ok=True)
        return _synced(index, origins(index), progress=progress)


def remove_origin(index: Index, origin: str, progress: Progress | None = None) -> SyncReport:
    """Take one of the operator's sources out of the index; the source itself is not touched."""
    with _one_at_a_time:
        return _synced(index, [o for o in origins(index) if o != origin], progress=progress)


def synchronise(index: Index, *, dry_run: bool = False, progress: Progress | None = None) -> SyncReport:
    """Bring the index up to date with the sources it was made from and with what visitors added."""
    with _one_at_a_time:
        return _synced(index, origins(index), dry_run=dry_run, progress=progress)


def origins(index: Index) -> tuple[str, ...]:
    """The sources that the index was made from, without the visitors' folder: each as `wattwise ingest` was given it."""
    own = str(uploads_folder(index.path).resolve())
    return tuple(origin for origin in index.origins() if origin != own)


def _synced(
    index: Index, sources: Sequence[str], *, dry_run: bool = False, progress: Progress | None = None
) -> SyncReport:
    # `sync` forgets what none of its sources has, so it is always given all of them, with the encoder they have.
    folder = uploads_folder(index.path)
    given = [*sources, *([str(folder)] if uploaded(index.path) else [])]
    if not given:
        raise CorpusError("This is the last source of the index. Add another one first.")
    return sync(given, index.path, encoder=index.encoder_name, dry_run=dry_run, progress=progress)


def _stored(index: Path, given: str, data: bytes, limits: Limits) -> Added:
    name = safe_name(given)
    taken = uploaded(index)
    if PurePosixPath(name).suffix.removeprefix(".") not in FILE_TYPES:
        return Added(given, "", f"its format cannot be read: give one of {', '.join(FILE_TYPES)}")
    if len(data) > limits.bytes:
        return Added(given, "", f"it is larger than {limits.bytes // 1_000_000} MB: split it")
    if len(taken) >= limits.count:
        return Added(given, "", f"there are {limits.count} added files already: remove one first")
    return _written(uploads_folder(index), given, name, data)


def _written(folder: Path, given: str, name: str, data: bytes) -> Added:
    """Under a name of its own: another visitor's file is never replaced."""
    try:
        folder.mkdir(exist_ok=True)
        if not folder.resolve().is_relative_to(folder.parent.resolve()):
            return Added(given, "", "the folder for added files leads out of the index: ask the operator to mend it")
        for candidate in _candidates(name):
            try:
                with (folder / candidate).open("xb") as file:
                    file.write(data)
            except FileExistsError:
                if (folder / candidate).read_bytes() == data:
                    return Added(given, "", f"it is there already, as {candidate}")
                continue
            return Added(given, candidate)
    except OSError as error:
        return Added(given, "", f"it cannot be stored ({os.strerror(error.errno or 0)})")
    return Added(given, "", "too many files have this name: rename it")


def _candidates(name: str) -> Iterable[str]:
    stem, _, suffix = name.rpartition(".")
    yield name
    yield from (f"{stem} ({number}).{suffix}" for number in range(2, 100))


def _read(index: Path, added: Added, reason: str) -> Added:
    if not reason:
        return added
    _discard(index, added)
    return Added(added.given, added.stored, reason)


def _discard(index: Path, added: Added) -> None:
    if added.stored and not added.problem:
        (uploads_folder(index) / added.stored).unlink(missing_ok=True)
