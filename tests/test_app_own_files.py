"""Files that a visitor adds for one session only."""

import gc
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.own_files import remove_left_copies
from ingest import sync
from tests.app_pages import ROOT, html, listening, press, started

NOTE = b"# Quokka chips\n\nThe Quokka-9 chip has 77 GB of memory.\n"
QUESTION = "How much memory does the Quokka-9 chip have?"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An index of one document, in an app that anybody can reach."""
    (tmp_path / "documents").mkdir()
    shutil.copy(ROOT / "corpus" / "trn1-instances.md", tmp_path / "documents")
    sync([tmp_path / "documents"], tmp_path / "index", encoder="none")
    monkeypatch.setenv("WATTWISE_INDEX", str(tmp_path / "index"))
    monkeypatch.setenv("WATTWISE_APP_UPLOADS", "session")
    with listening("0.0.0.0"):
        yield tmp_path / "index"


def said(page: AppTest) -> str:
    return str(page.session_state["exchanges"][-1].answer.text)


def test_a_file_in_the_box_is_read_for_this_session_alone(index: Path) -> None:
    page, other = started(), started()
    page.chat_input[0].upload("quokka.md", NOTE).set_value(QUESTION).run()
    other.chat_input[0].set_value(QUESTION).run()
    assert ("77 GB" in said(page), "77 GB" in said(other)) == (True, False)
    assert not (index / "uploads").exists()


def test_it_goes_with_the_session_and_nothing_of_it_is_kept(index: Path) -> None:
    page = started()
    page.chat_input[0].upload("quokka.md", NOTE).set_value(QUESTION).run()
    copy = page.session_state["own-copy"].index.path
    assert (copy / "uploads" / "quokka.md").read_bytes() == NOTE
    del page
    gc.collect()
    assert not copy.exists()
    assert [file for file in index.rglob("*") if file.is_file() and b"Quokka" in file.read_bytes()] == []


def test_the_sources_page_says_who_sees_a_file_and_lists_it_for_its_session(index: Path) -> None:
    page = started("sources")
    assert "Only you can ask about them, until this page is closed" in " ".join(caption.value for caption in page.caption)
    page.file_uploader[0].upload("quokka.md", NOTE).run()
    assert "Quokka chips" in [button.label for button in page.button]
    assert "Quokka chips" not in [button.label for button in started("sources").button]
    page.button(key="remove-uploads/quokka.md").click().run()
    press(page, "Remove it")
    assert "Quokka chips" not in [button.label for button in page.button]
    assert "Up to date?" not in html(page)


def test_what_a_killed_process_left_is_deleted_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as living:
        dead, kept = (tmp_path / f"wattwise-session-{pid}-x" for pid in (2**22 + 1, living.pid))
        dead.mkdir(), kept.mkdir()
        remove_left_copies()
        living.kill()
    assert list(tmp_path.iterdir()) == [kept]
