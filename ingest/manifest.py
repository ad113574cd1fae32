"""sources.toml: what a folder says about where its documents are from."""

import re
import tomllib
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path, PurePosixPath

from ingest.document import CorpusError, Source

MANIFEST = "sources.toml"
_REQUIRED = ("id", "file", "title")
_OPTIONAL = ("publisher", "url", "published", "licence", "original")
_ISO_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")


def read_manifest(folder: Path) -> dict[str, Source]:
    """The sources of the manifest in a folder by the path of their file below it, in the manifest's order.

    CorpusError names the manifest, the entry and the key that is wrong.
    """
    path = folder / MANIFEST
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
        _add(sources, entry, folder, f"{path}, source {number}")
    return sources


def _add(sources: dict[str, Source], entry: Mapping[str, object], folder: Path, where: str) -> None:
    values = _checked(entry, where)
    file = _file_inside(values.pop("file"), folder, where)
    if file in sources:
        raise CorpusError(f"{where}: file {file!r} has an entry already: remove one of the two")
    if any(source.id == values["id"] for source in sources.values()):
        raise CorpusError(f"{where}: id {values['id']!r} is taken by another entry: give each source its own")
    values.setdefault("original", PurePosixPath(file).name)
    sources[file] = Source(**values)


def _checked(entry: Mapping[str, object], where: str) -> dict[str, str]:
    for key in entry:
        if key not in _REQUIRED + _OPTIONAL:
            known = ", ".join(_REQUIRED + _OPTIONAL)
            raise CorpusError(f"{where}: key {key!r} is not known; the keys are {known}")
    for key in _REQUIRED:
        if key not in entry:
            raise CorpusError(f"{where}: key {key!r} is missing: add it")
    return {key: _text(key, value, where) for key, value in entry.items()}


def _text(key: str, value: object, where: str) -> str:
    if key == "published":
        return _published(value, where)
    if not isinstance(value, str) or not value.strip():
        raise CorpusError(f"{where}: key {key!r} must be a text in quotation marks that is not empty")
    if key == "url" and not value.startswith(("https://", "http://")):
        raise CorpusError(f"{where}: key 'url' must begin with https:// or http://")
    return value


def _published(value: object, where: str) -> str:
    if isinstance(value, datetime):
        value = value.date()
    text = value.isoformat() if isinstance(value, date) else str(value)
    if isinstance(value, bool) or not _ISO_DATE.fullmatch(text):
        raise CorpusError(f"{where}: key 'published' must be a date such as 2022-11-10, \"2022-11\" or 2022")
    return text


def _file_inside(file: str, folder: Path, where: str) -> str:
    """The file as a plain path below the folder, which it must not leave, by ".." or by a link."""
    inside = not PurePosixPath(file).is_absolute() and ".." not in PurePosixPath(file).parts
    if not inside or not (folder / file).resolve().is_relative_to(folder.resolve()):
        raise CorpusError(f"{where}: key 'file' leaves the folder ({file!r}): move the document into the folder")
    return PurePosixPath(file).as_posix()
