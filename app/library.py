"""The documents behind the app: the files that visitors add and remove, and syncing the index with all sources.

Visitors' files are in one flat folder (`UPLOADS`) inside the index's own, which every sync reads. A file that is being
added or removed is in a second folder (`STAGED`), which no sync reads: from its first byte until the index has it, and
from the start of its removal until the index no longer has it. So any file left there shows what was interrupted, for
whatever reason. File names are made safe first, so that none leads out of either folder.
"""

import fcntl
import os
import re
import time
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import BinaryIO, cast

from ingest import CorpusError, Index, Place, SyncReport, sync

UPLOADS, STAGED = "uploads", "staged"
FILE_TYPES = ("md", "mdx", "txt", "rst", "html", "htm", "pdf", "docx", "pptx", "xlsx", "csv", "json", "jsonl")
Progress = Callable[[str, int, int], None]

INTERRUPTED = "It is not in the index: adding or removing it has not ended. Add it again, or remove it."
OUTSIDE = "It is not in the index yet: a sync takes it in."
_LONGEST_NAME = 120
_HARMFUL = re.compile(r"[^\w .()+-]")
_LOCK = "uploads.lock"
_PATIENCE = 30.0  # seconds
_one_thread = Lock()


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on what visitors may add: the size of one file in bytes, and the total number of files."""

    bytes: int
    count: int


@dataclass(frozen=True, slots=True)
class Added:
    """The outcome for a file that was given; `problem` is "" if its text can be asked about now."""

    given: str
    stored: str
    problem: str = ""


def uploads_folder(index: Path) -> Path:
    return index / UPLOADS


def uploaded(index: Place) -> tuple[str, ...]:
    """Return the names of the files that visitors added, sorted; a database has none."""
    return _names(uploads_folder(index)) if isinstance(index, Path) else ()


def unfinished(index: Place, ids: Collection[str]) -> Mapping[str, str]:
    """Return visitors' files that are missing from an index with these document ids: the reason by file name."""
    staging, kept = _names(index / STAGED) if isinstance(index, Path) else (), uploaded(index)
    missing = {*staging, *kept} - {name for name in kept if f"{UPLOADS}/{name}" in ids}
    return {name: INTERRUPTED if name in staging else OUTSIDE for name in sorted(missing)}


def _names(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(f.name for f in folder.iterdir() if f.is_file())) if folder.is_dir() else ()


def safe_name(given: str) -> str:
    """Return a file name without folders, control characters or a leading dot, short enough for every file system."""
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
    """Store files and ingest them. A file that cannot be stored or read gets a reason and leaves nothing behind.

    Neither does adding that ends early, by an error or by an exception that `progress` raises. What a kill leaves behind
    is `unfinished`. Raises CorpusError if another visitor is changing the index for too long.
    """
    with _alone(index, progress):
        added: list[Added] = []
        try:
            for name, data in files:
                added.append(_stored(index, name, data, limits))
            if all(each.problem for each in added):
                return tuple(added)
            report = _synced(index, progress=progress)
            reasons = {PurePosixPath(failure.id).name: failure.reason for failure in report.failed}
            return tuple(_read(index.path, each, reasons.get(each.stored, "")) for each in added)
        finally:
            names = [each.stored for each in added if each.stored]
            _settle(index, names)
            for name in names:
                (index.path / STAGED / name).unlink(missing_ok=True)


def remove_files(index: Index, names: Iterable[str], progress: Progress | None = None) -> SyncReport:
    """Remove files that visitors added, or whose adding was interrupted, from the folders and the index."""
    uploads, staging = uploads_folder(index.path), index.path / STAGED
    with _alone(index, progress):
        given = frozenset(names)
        for name in given.intersection(_names(staging)):
            (staging / name).unlink()
        going = sorted(given.intersection(uploaded(index.path)))
        if going:
            _make_private(staging)
        for name in going:
            os.replace(uploads / name, staging / name)
        try:
            report = _synced(index, progress=progress)
        except BaseException:
            for name in going:
                os.replace(staging / name, uploads / name)
            raise
        for name in going:
            (staging / name).unlink()
        return report


def synchronise(
    index: Index, *, without: str = "", dry_run: bool = False, progress: Progress | None = None
) -> SyncReport:
    """Sync the index with the sources it was made from and with the files that visitors added.

    `without` is a source to remove from the index; the source itself is not touched.
    """
    with _alone(index, progress):
        return _synced(index, without=without, dry_run=dry_run, progress=progress)


def origins(index: Index) -> tuple[str, ...]:
    """Return the sources of the index as they were given to `wattwise ingest`, without the visitors' folder."""
    own = str(uploads_folder(index.path).resolve()) if isinstance(index.path, Path) else None
    return tuple(origin for origin in index.origins() if origin != own)


def _synced(
    index: Index, *, without: str = "", dry_run: bool = False, progress: Progress | None = None
) -> SyncReport:
    # `sync` removes documents that none of the given sources has, so it always gets all sources, and the index's encoder.
    folder = uploads_folder(index.path)
    given = [origin for origin in origins(index) if origin != without]
    if uploaded(index.path):
        given.append(str(folder))
    if not given:
        raise CorpusError("This is the last source of the index. Add another one first.")
    return sync(given, index.path, encoder=index.encoder_name, dry_run=dry_run, progress=progress)


@contextmanager
def _alone(index: Index, progress: Progress | None) -> Iterator[None]:
    """Allow one change at a time, in this and all other processes, after settling what an interrupted change left."""
    until = time.monotonic() + _PATIENCE
    _wait(lambda: _one_thread.acquire(blocking=False), until, progress)
    try:
        with _lock_file(index.path) as stream:
            _wait(lambda: _is_locked(stream.fileno()), until, progress)
            _settle(index, _names(index.path / STAGED))
            yield
    finally:
        _one_thread.release()


def _lock_file(folder: Path) -> BinaryIO:
    try:
        return _opened(folder / _LOCK, "ab")
    except OSError as error:
        raise CorpusError(f"{folder} cannot be written ({error.strerror}). Ask the operator to mend it.") from error


def _wait(is_mine: Callable[[], bool], until: float, progress: Progress | None) -> None:
    while not is_mine():
        if time.monotonic() > until:
            raise CorpusError("Somebody else is changing the index. Try again when that is done.")
        if progress:
            progress("waiting for somebody else", 0, 0)  # `progress` can raise to end the wait
        time.sleep(0.1)


def _is_locked(descriptor: int) -> bool:
    # The system releases the lock when this process ends; unlike a lock of flock, a forked child does not inherit it.
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _settle(index: Index, names: Iterable[str]) -> None:
    """Keep files that are in both folders in only one: in `UPLOADS` if the index has the file, else in `STAGED`."""
    for name in names:
        if (uploads_folder(index.path) / name).is_file():
            has = bool(index.document_chunks(f"{UPLOADS}/{name}"))
            (index.path / (STAGED if has else UPLOADS) / name).unlink(missing_ok=True)


def _stored(index: Index, given: str, data: bytes, limits: Limits) -> Added:
    name = safe_name(given)
    taken = {*uploaded(index.path), *_names(index.path / STAGED)}
    if PurePosixPath(name).suffix.removeprefix(".") not in FILE_TYPES:
        return Added(given, "", f"its format cannot be read: give one of {', '.join(FILE_TYPES)}")
    if len(data) > limits.bytes:
        return Added(given, "", f"it is larger than {limits.bytes // 1_000_000} MB: split it")
    if len(taken) >= limits.count:
        return Added(given, "", f"there are {limits.count} added files already: remove one first")
    return _written(index, given, name, data)


def _written(index: Index, given: str, name: str, data: bytes) -> Added:
    """Write a file to both folders, under a name of its own: another visitor's file is never replaced."""
    uploads, staging = uploads_folder(index.path), index.path / STAGED
    try:
        if not all(map(_make_private, (staging, uploads))):
            return Added(given, "", "the folder for added files leads out of the index: ask the operator to mend it")
        for candidate in _candidates(name):
            kept, begun = _bytes(uploads / candidate), _bytes(staging / candidate)
            if kept not in (None, data) or not data.startswith(begun or b""):
                continue  # the name is taken; an interrupted file counts too, unless this one begins with the same bytes
            if kept is not None and index.document_chunks(f"{UPLOADS}/{candidate}"):
                return Added(given, "", f"it is there already, as {candidate}")
            try:
                for folder in (staging, uploads):
                    with _opened(folder / candidate, "wb") as file:
                        file.write(data)
            except OSError:
                for folder in (uploads, staging):  # in this order, a file that a kill leaves behind is `unfinished`
                    (folder / candidate).unlink(missing_ok=True)
                raise
            return Added(given, candidate)
    except OSError as error:
        return Added(given, "", f"it cannot be stored ({os.strerror(error.errno or 0)})")
    return Added(given, "", "too many files have this name: rename it")


def _bytes(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


def _make_private(folder: Path) -> bool:
    """Make a folder that only the program's user can access; False if the path is a symbolic link."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink():
        return False
    folder.chmod(0o700)
    return True


def _opened(file: Path, mode: str) -> BinaryIO:
    """Open a file that only the program's user can access, without following symbolic links."""

    def opener(path: str, flags: int) -> int:
        return os.open(path, flags | os.O_NOFOLLOW, 0o600)

    return cast(BinaryIO, open(file, mode, opener=opener))


def _candidates(name: str) -> Iterable[str]:
    stem, _, suffix = name.rpartition(".")
    yield name
    yield from (f"{stem} ({number}).{suffix}" for number in range(2, 100))


def _read(index: Path, added: Added, reason: str) -> Added:
    """Add the reason why a file could not be read, and delete the file, even if the index has an older one of its name."""
    if added.problem or not reason:
        return added
    (uploads_folder(index) / added.stored).unlink(missing_ok=True)
    return Added(added.given, added.stored, reason)
