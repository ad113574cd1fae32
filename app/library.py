"""The documents behind the app: what visitors add and remove, and bringing the index up to date with all of it.

What visitors added lies in one flat folder inside the index's own, which every sync reads. A file lies in a second one,
which no sync reads, from its first byte until the index has it, and again from when it is to be removed until the index
has let go of it. So whatever is left there tells what was interrupted, however it was. Names are made harmless first, so
that no name leads out of either.
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


def uploaded(index: Place) -> tuple[str, ...]:
    """The names of the files that visitors added, sorted; a database has none."""
    return _names(uploads_folder(index)) if isinstance(index, Path) else ()


def unfinished(index: Place, ids: Collection[str]) -> Mapping[str, str]:
    """The files of visitors that an index with documents of these ids does not have, by name, and why not."""
    staging, kept = _names(index / STAGED) if isinstance(index, Path) else (), uploaded(index)
    missing = {*staging, *kept} - {name for name in kept if f"{UPLOADS}/{name}" in ids}
    return {name: INTERRUPTED if name in staging else OUTSIDE for name in sorted(missing)}


def _names(folder: Path) -> tuple[str, ...]:
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
    """Store files and ingest them; one that cannot be kept or read says why and leaves nothing behind.

    Nor does one whose adding ends early, by an error or by an exception that `progress` raises. What a kill leaves is
    `unfinished`. Raises CorpusError where another visitor is changing the index for long.
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
    """Remove files that visitors added, or whose adding was interrupted, and what the index has of them."""
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
    """Bring the index up to date with the sources it was made from and with what visitors added.

    `without` is one of the sources that goes from the index; the source itself is not touched.
    """
    with _alone(index, progress):
        return _synced(index, without=without, dry_run=dry_run, progress=progress)


def origins(index: Index) -> tuple[str, ...]:
    """The sources that the index was made from, without the visitors' folder: each as `wattwise ingest` was given it."""
    own = str(uploads_folder(index.path).resolve()) if isinstance(index.path, Path) else None
    return tuple(origin for origin in index.origins() if origin != own)


def _synced(
    index: Index, *, without: str = "", dry_run: bool = False, progress: Progress | None = None
) -> SyncReport:
    # `sync` forgets what none of its sources has, so it is always given all of them, with the encoder they have.
    folder = uploads_folder(index.path)
    given = [origin for origin in origins(index) if origin != without]
    if uploaded(index.path):
        given.append(str(folder))
    if not given:
        raise CorpusError("This is the last source of the index. Add another one first.")
    return sync(given, index.path, encoder=index.encoder_name, dry_run=dry_run, progress=progress)


@contextmanager
def _alone(index: Index, progress: Progress | None) -> Iterator[None]:
    """One change at a time, of this process and of all; it begins with what an interrupted one has left."""
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
            progress("waiting for somebody else", 0, 0)  # whoever waits can be stopped by it
        time.sleep(0.1)


def _is_locked(descriptor: int) -> bool:
    # The system lets go of the lock with this process; unlike one of flock it is not handed on to a forked child.
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _settle(index: Index, names: Iterable[str]) -> None:
    """A file that lies in both folders stays in one: where syncs read it if the index has it, else where none does."""
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
    """In both folders, under a name of its own: another visitor's file is never replaced."""
    uploads, staging = uploads_folder(index.path), index.path / STAGED
    try:
        if not all(map(_make_private, (staging, uploads))):
            return Added(given, "", "the folder for added files leads out of the index: ask the operator to mend it")
        for candidate in _candidates(name):
            kept, begun = _bytes(uploads / candidate), _bytes(staging / candidate)
            if kept not in (None, data) or not data.startswith(begun or b""):
                continue  # what an interrupted writer has begun is another's, too, unless it begins like this one
            if kept is not None and index.document_chunks(f"{UPLOADS}/{candidate}"):
                return Added(given, "", f"it is there already, as {candidate}")
            for folder in (staging, uploads):
                with _opened(folder / candidate, "wb") as file:
                    file.write(data)
            return Added(given, candidate)
    except OSError as error:
        return Added(given, "", f"it cannot be stored ({os.strerror(error.errno or 0)})")
    return Added(given, "", "too many files have this name: rename it")


def _bytes(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


def _make_private(folder: Path) -> bool:
    """Make a folder that is the program's user's alone; whether it lies where its path says."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink():
        return False
    folder.chmod(0o700)
    return True


def _opened(file: Path, mode: str) -> BinaryIO:
    """A file for the program's user alone, and never what a link leads to."""

    def opener(path: str, flags: int) -> int:
        return os.open(path, flags | os.O_NOFOLLOW, 0o600)

    return cast(BinaryIO, open(file, mode, opener=opener))


def _candidates(name: str) -> Iterable[str]:
    stem, _, suffix = name.rpartition(".")
    yield name
    yield from (f"{stem} ({number}).{suffix}" for number in range(2, 100))


def _read(index: Path, added: Added, reason: str) -> Added:
    """A file that could not be read goes, even where the index has an older one of its name."""
    if added.problem or not reason:
        return added
    (uploads_folder(index) / added.stored).unlink(missing_ok=True)
    return Added(added.given, added.stored, reason)
