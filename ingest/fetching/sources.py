"""Find documents: in a file, a folder with or without a manifest, an S3 prefix, a web page, or AWS itself."""

import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from functools import partial
from pathlib import Path, PurePosixPath

from ingest.document import CorpusError, Source
from ingest.fetching.items import MAX_BYTES, SUFFIXES, TOO_LARGE, UNSUPPORTED, Failure, Item

# The manifest of a folder, which says where its documents come from.
_MANIFEST = "sources.toml"
_REQUIRED = ("id", "file", "title")
_OPTIONAL = ("publisher", "url", "published", "licence", "original")
_ISO_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
# Question banks, which must not serve as sources for the questions they ask.
_EXAM_FOLDER = "exam"
_CONFIG = "config.json"
_STORE = "store.sqlite"  # a folder with this file is an index


def find_items(source: str | Path) -> Iterator[Item | Failure]:
    """Yield what can be loaded, in a stable order.

    A source that is missing or cannot be listed raises CorpusError when the iteration gets there, so a mistyped path is
    never taken for an empty folder. One unreadable document among several is yielded as a Failure.
    """
    address = str(source)
    if address.startswith(("s3://", "aws://")):
        from ingest.fetching.aws import find_objects, find_tables

        yield from (find_objects if address.startswith("s3://") else find_tables)(address)
    elif "://" in address:
        from ingest.fetching.web import find_page

        yield from find_page(address)
    else:
        yield from _find_files(Path(source))


def _find_files(path: Path) -> Iterator[Item | Failure]:
    if os.path.realpath(path) != _text(os.path.realpath(path)):
        raise CorpusError(f"{_text(str(path))} is not valid UTF-8: rename it")
    try:
        is_folder = stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise CorpusError(f"{path} does not exist: check the path") from error
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}): check the path and its permissions") from error
    if is_folder:
        yield from _find_in_folder(path)
    elif path.suffix.lower() not in SUFFIXES:
        yield Failure(_text(path.name), UNSUPPORTED)
    else:
        # A model is named after the folder that holds its configuration.
        name = f"{path.resolve().parent.name}/{path.name}" if path.name == _CONFIG else path.name
        yield Item(_text(name), path.name, None, partial(_read, path))


def _find_in_folder(folder: Path) -> Iterator[Item | Failure]:
    """Yield what the manifests list and the other documents of the folder, sorted by path."""
    name = PurePosixPath(folder.resolve().name)
    files, unreadable = _walk(folder)
    listed = _listed(folder, [file for file in files if file.name == _MANIFEST])
    banks = [file.parent / _EXAM_FOLDER for file in files if file.name == _MANIFEST]
    found = {file for file in files if _is_document(folder, file) and not any(map(file.is_relative_to, banks))}
    failures = {path: Failure(_text(str(name / path)), reason) for path, reason in unreadable.items()}
    for file in sorted({*found, *listed, *failures}):
        identifier = str(name / file)
        if file in failures:
            yield failures[file]
        elif identifier != _text(identifier):
            yield Failure(_text(identifier), "its name is not valid UTF-8: rename it")
        elif file in listed and not os.path.isfile(folder / file):
            yield Failure(identifier, f"{_MANIFEST} lists it and it is not there: add the file or remove its entry")
        elif file.suffix.lower() not in SUFFIXES:
            yield Failure(identifier, UNSUPPORTED)
        else:
            yield Item(identifier, file.name, listed.get(file), partial(_read, folder / file))


def _walk(folder: Path) -> tuple[list[PurePosixPath], dict[PurePosixPath, str]]:
    """Return the files below a folder that are not hidden or in an index, and the folders that cannot be listed; follow no links."""
    files: list[PurePosixPath] = []
    unreadable: dict[PurePosixPath, str] = {}

    def note(error: OSError) -> None:
        path = PurePosixPath(Path(error.filename).relative_to(folder))
        unreadable[path] = f"the folder cannot be listed ({error.strerror}): mend its permissions"

    for parent, folders, names in os.walk(folder, onerror=note):
        folders[:] = [name for name in folders if not name.startswith(".") and not os.path.isfile(Path(parent, name, _STORE))]
        place = PurePosixPath(Path(parent).relative_to(folder))
        # "~$" is how Office marks the lock file of a document that is open.
        files += [place / name for name in names if not name.startswith((".", "~$"))]
    return files, unreadable


def _is_document(folder: Path, file: PurePosixPath) -> bool:
    """Whether a file is regular, has a loader, and is not a link that leads out of the folder.

    A file that cannot be examined counts as one: when it is fetched, it says why.
    """
    path = folder / file
    if file.suffix.lower() not in SUFFIXES or (os.path.islink(path) and not _is_inside(path, folder)):
        return False
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        return not isinstance(error, FileNotFoundError)


def _is_inside(path: Path, folder: Path) -> bool:
    """Whether a path does not leave the folder by a link."""
    return Path(os.path.realpath(path)).is_relative_to(folder.resolve())


def _listed(folder: Path, manifests: list[PurePosixPath]) -> dict[PurePosixPath, Source]:
    """Return the entries of all manifests below a folder; no two sources may have the same id."""
    listed: dict[PurePosixPath, Source] = {}
    taken: set[str] = set()
    for manifest in sorted(manifests):
        sources = _manifest_sources(folder / manifest.parent, taken)
        listed |= {manifest.parent / file: source for file, source in sources.items()}
    return listed


def _manifest_sources(folder: Path, taken: set[str]) -> dict[str, Source]:
    """Return the sources of a folder's manifest by their file's path, in the manifest's order, and add their ids to
    `taken`.

    A CorpusError names the manifest, the entry and the key that is wrong.
    """
    path = folder / _MANIFEST
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CorpusError(f"{path} is not valid TOML: {error}") from error
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}): mend its permissions") from error
    entries = table.pop("source", [])
    if table or not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        wrong = next(iter(table), "source")
        raise CorpusError(f"{path}: {wrong!r} is not known there: write one [[source]] table for each document")
    sources: dict[str, Source] = {}
    for number, entry in enumerate(entries, start=1):
        where = f"{path}, source {number}"
        values = _checked(entry, where)
        file = _file_inside(values.pop("file"), folder, where)
        if file in sources:
            raise CorpusError(f"{where}: file {file!r} has an entry already: remove one of the two")
        if values["id"] in taken:
            raise CorpusError(f"{where}: id {values['id']!r} is taken by another entry: give each source its own")
        taken.add(values["id"])
        sources[file] = Source(**{"original": PurePosixPath(file).name} | values)
    return sources


def _checked(entry: Mapping[str, object], where: str) -> dict[str, str]:
    for key in entry:
        if key not in _REQUIRED + _OPTIONAL:
            known = ", ".join(_REQUIRED + _OPTIONAL)
            raise CorpusError(f"{where}: key {key!r} is not known; the keys are {known}")
    for key in _REQUIRED:
        if key not in entry:
            raise CorpusError(f"{where}: key {key!r} is missing: add it")
    return {key: _said(key, value, where) for key, value in entry.items()}


def _said(key: str, value: object, where: str) -> str:
    if key == "published":
        day = value.date() if isinstance(value, datetime) else value
        said = day.isoformat() if isinstance(day, date) else str(day)
        if not _ISO_DATE.fullmatch(said):
            raise CorpusError(f"{where}: key 'published' must be a date such as 2022-11-10, \"2022-11\" or 2022")
        return said
    if not isinstance(value, str) or not value.strip():
        raise CorpusError(f"{where}: key {key!r} must be a text in quotation marks that is not empty")
    if key == "url" and not value.startswith(("https://", "http://")):
        raise CorpusError(f"{where}: key 'url' must begin with https:// or http://")
    return value


def _file_inside(file: str, folder: Path, where: str) -> str:
    """Return the file as a plain path below the folder; it must not leave the folder by ".." or by a link."""
    path = PurePosixPath(file)
    inside = not path.is_absolute() and ".." not in path.parts
    if not inside or not _is_inside(folder / file, folder):
        raise CorpusError(f"{where}: key 'file' leaves the folder ({file!r}): move the document into the folder")
    return path.as_posix()


def _read(path: Path) -> bytes:
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise CorpusError("it is not a regular file: give a copy of it")
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CorpusError(f"it cannot be read ({error.strerror}): check its permissions") from error
    if len(data) > MAX_BYTES:
        raise CorpusError(TOO_LARGE)
    return data


def _without_waiting(path: str, flags: int) -> int:
    """Open a file; a pipe is opened at once, though nobody writes to it."""
    return os.open(path, flags | os.O_NONBLOCK)


def _text(name: str) -> str:
    """Return the name in a form that can be stored and shown, whatever its bytes on disk."""
    return os.fsencode(name).decode("utf-8", "replace")
