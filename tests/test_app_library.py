"""Files that visitors add: safe names, limits, and an index that holds both the corpus and added files."""

import shutil
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import library
from app.library import (
    FILE_TYPES,
    UPLOADS,
    Added,
    Limits,
    add_files,
    origins,
    remove_files,
    safe_name,
    synchronise,
    unfinished,
)
from chatbot import Chatbot
from ingest import CorpusError, Index, sync
from ingest.fetching.items import SUFFIXES

ROOT = Path(__file__).resolve().parents[1]
LIMITS = Limits(bytes=10_000, count=3)
NOTE = b"# Quokka chips\n\nThe Quokka-9 chip has 77 GB of memory.\n"


@pytest.fixture
def index(tmp_path: Path) -> Index:
    (tmp_path / "documents").mkdir()
    shutil.copy(ROOT / "corpus" / "trainium-exam-notes.md", tmp_path / "documents")
    sync([tmp_path / "documents"], tmp_path / "index", encoder="none")
    return Index.open(tmp_path / "index")


def ids(index: Index) -> list[str]:
    return [document.id for document in index.documents()]


def test_the_formats_offered_are_the_formats_that_can_be_read() -> None:
    assert {f".{suffix}" for suffix in FILE_TYPES} == set(SUFFIXES)


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        ("notes.md", "notes.md"),
        ("../../etc/passwd.txt", "passwd.txt"),
        ("..\\..\\boot.TXT", "boot.txt"),
        ("/abs/olute.md", "olute.md"),
        (".hidden.md", "hidden.md"),
        ("a\x00b\nc\u202e.md", "abc.md"),
        ("<script>.md", "_script_.md"),
        ("...", "document"),
        ("~$lock.docx", "__lock.docx"),
        (f"{'é' * 300}.pdf", f"{'é' * 60}.pdf"),
        ("מסמך.txt", "מסמך.txt"),
    ],
)
def test_a_file_name_is_made_harmless(given_name: str, name: str) -> None:
    assert safe_name(given_name) == name


@given(st.text(min_size=1))
def test_no_name_leads_out_of_its_folder(given_name: str) -> None:
    name = safe_name(given_name)
    assert name == Path(name).name
    assert not name.startswith(".")
    assert 0 < len(name.encode()) < 255 or len(given_name) > 100


def test_an_added_file_is_answered_from_until_it_is_removed_and_the_corpus_stays(index: Index, tmp_path: Path) -> None:
    before = ids(index)
    assert add_files(index, [("quokka.md", NOTE)], LIMITS) == (Added("quokka.md", "quokka.md"),)
    assert ids(index) == sorted([*before, f"{UPLOADS}/quokka.md"])
    assert "77 GB" in Chatbot(index).ask("How much memory does the Quokka-9 chip have?").text
    assert (index.path / UPLOADS / "quokka.md").read_bytes() == NOTE
    assert origins(index) == (str(tmp_path / "documents"),)
    assert remove_files(index, ["quokka.md"]).removed == (f"{UPLOADS}/quokka.md",)
    assert ids(index) == before
    assert list((index.path / UPLOADS).iterdir()) == []


def test_only_added_files_can_be_removed(index: Index) -> None:
    before = ids(index)
    remove_files(index, ["../documents/trainium-exam-notes.md", "store.sqlite", "/etc/hostname"])
    assert ids(index) == before
    assert (index.path / "store.sqlite").is_file()


def test_files_beyond_the_limits_say_why(index: Index) -> None:
    files = [("big.md", b"x" * 10_001), ("program.exe", b"MZ"), ("sources.toml", b"[[source]]")]
    formats = f"its format cannot be read: give one of {', '.join(FILE_TYPES)}"
    problems = [added.problem for added in add_files(index, files, LIMITS)]
    assert problems == ["it is larger than 0 MB: split it", formats, formats]
    assert not (index.path / UPLOADS).exists()
    files = [(f"{n}.md", NOTE + str(n).encode()) for n in range(4)]
    assert [bool(a.problem) for a in add_files(index, files, LIMITS)] == [False, False, False, True]


def test_a_file_that_cannot_be_read_leaves_nothing_behind(index: Index) -> None:
    (added,) = add_files(index, [("broken.pdf", b"no pdf")], LIMITS)
    assert added.problem == "it is a broken PDF: export it again"
    assert list((index.path / UPLOADS).iterdir()) == []
    assert f"{UPLOADS}/broken.pdf" not in ids(index)


def test_a_file_that_the_disk_has_no_room_for_leaves_nothing_behind(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, opened = ids(index), library._opened

    def full_in_uploads(file: Path, mode: str) -> BinaryIO:
        if file != index.path / UPLOADS / "full.md":
            return opened(file, mode)
        file.write_bytes(NOTE[:20])
        return open("/dev/full", "wb")

    monkeypatch.setattr(library, "_opened", full_in_uploads)
    assert add_files(index, [("full.md", NOTE), ("quokka.md", NOTE)], LIMITS) == (
        Added("full.md", "", "it cannot be stored (No space left on device)"),
        Added("quokka.md", "quokka.md"),
    )
    assert ids(index) == sorted([*before, f"{UPLOADS}/quokka.md"])
    assert unfinished(index.path, ids(index)) == {}


def test_a_second_file_of_a_name_gets_a_name_of_its_own(index: Index) -> None:
    add_files(index, [("a.md", NOTE)], LIMITS)
    assert add_files(index, [("a.md", NOTE + b"More.\n")], LIMITS) == (Added("a.md", "a (2).md"),)
    assert add_files(index, [("a.md", NOTE)], LIMITS) == (Added("a.md", "", "it is there already, as a.md"),)


def test_a_folder_that_is_a_link_to_elsewhere_takes_no_file(index: Index, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (index.path / UPLOADS).symlink_to(tmp_path / "elsewhere")
    (added,) = add_files(index, [("a.md", NOTE)], LIMITS)
    assert "leads out of the index" in added.problem
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_sync_takes_in_what_changed_in_the_corpus_and_keeps_the_added_files(index: Index, tmp_path: Path) -> None:
    add_files(index, [("quokka.md", NOTE)], LIMITS)
    (tmp_path / "documents" / "new.md").write_text("# New\n\nSomething new stands here.\n")
    foreseen = synchronise(index, dry_run=True)
    assert (foreseen.added, foreseen.removed) == (("documents/new.md",), ())
    assert "documents/new.md" not in ids(index)
    assert synchronise(index).added == ("documents/new.md",)
    assert f"{UPLOADS}/quokka.md" in ids(index)


def test_a_source_taken_out_leaves_its_files_alone_and_the_last_one_stays(index: Index, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="the last source"):
        library.synchronise(index, without=str(tmp_path / "documents"))
    add_files(index, [("quokka.md", NOTE)], LIMITS)
    library.synchronise(index, without=str(tmp_path / "documents"))
    assert ids(index) == [f"{UPLOADS}/quokka.md"]
    assert (tmp_path / "documents" / "trainium-exam-notes.md").is_file()
