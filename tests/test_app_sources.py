"""The Sources page in each of its states, without a browser."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.document_view import details_of
from app.escaping import as_html, as_label
from app.library import INTERRUPTED
from app.progress import left_words
from app.sources import listed, report_html
from chatbot import Chatbot
from ingest import Index, SyncReport, sync
from ingest.fetching.items import Failure
from tests.app_pages import ROOT, html, listening, press, started

NOTE = b"# Quokka $x$ chips\n\nThe Quokka-9 chip has 77 GB of memory.\n"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one document and an index of it."""
    folder = tmp_path_factory.mktemp("sources")
    (folder / "documents").mkdir()
    shutil.copy(ROOT / "corpus" / "trn1-instances.md", folder / "documents")
    sync([folder / "documents"], folder / "index", encoder="none")
    return folder


@pytest.fixture
def index(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the index, which a test may change."""
    monkeypatch.setenv("WATTWISE_INDEX", str(tmp_path / "index"))
    return Path(shutil.copytree(template / "index", tmp_path / "index"))


@pytest.fixture
def page(index: Path) -> Iterator[AppTest]:
    with listening("127.0.0.1"):
        yield started("sources")


def titles(page: AppTest) -> list[str]:
    return [button.label for button in page.button if (button.key or "").startswith("open-")]


def test_every_document_is_listed_with_its_passages(
    corpus_index: Path, monkeypatch: pytest.MonkeyPatch, bot: Chatbot
) -> None:
    monkeypatch.setenv("WATTWISE_INDEX", str(corpus_index))
    page = started("sources")
    documents = listed(bot.index)
    assert f"{len(documents)} documents" in html(page)
    assert f"{len(bot.index):,} passages" in html(page)
    assert titles(page) == [as_label(document.title) for document in documents[:20]]
    last = (len(documents) - 1) // 20 * 20
    page.pagination[0].set_value(1 + last // 20).run()
    assert titles(page) == [as_label(document.title) for document in documents[last:]]
    count = len(bot.index.document_chunks(documents[-1].id))
    assert as_html(f"{details_of(documents[-1])} · {count} passages") in html(page)
    assert not page.exception


def test_a_search_shows_the_passages_instead_of_the_list_and_none_for_nonsense(page: AppTest) -> None:
    page.text_input[0].set_value("accelerator memory").run()
    assert titles(page) == []
    assert "512 GB" in html(page)
    page.text_input[0].set_value("asdfghjkl").run()
    assert "No passage has these words or anything near them." in [caption.value for caption in page.caption]
    assert '<details class="ww-card">' not in html(page)


def test_a_document_opens_with_its_text_and_closes_again(page: AppTest) -> None:
    page.button(key="open-documents/trn1-instances.md").click().run()
    text = (ROOT / "corpus" / "trn1-instances.md").read_text(encoding="utf-8")
    assert as_html(text.splitlines()[-1]) in html(page)
    assert titles(page) == []
    press(page, "All sources")
    assert len(titles(page)) == 1


def test_a_link_to_a_quote_marks_it_in_its_document(index: Path) -> None:
    page = started(
        "sources", doc="documents/trn1-instances.md", quote="A trn1.32xlarge has 512 GB of accelerator memory."
    )
    (marked,) = re.findall(r'<mark id="ww-hit-\d+">(.*?)</mark>', html(page))
    assert marked == "A trn1.32xlarge has 512 GB of accelerator memory."
    assert "scrollIntoView({block: 'center'})" in html(page)


def test_a_document_is_searched_and_tells_how_often_it_has_the_words(index: Path) -> None:
    page = started("sources", doc="documents/trn1-instances.md")
    page.text_input[0].set_value("TRN1.32xlarge   HAS 512").run()
    assert "Once in this document" in html(page)
    page.text_input[0].set_value("<b>wombat").run()
    assert "Nowhere in this document: &lt;b&gt;wombat" in html(page)


def test_more_of_a_document_is_added_below_what_was_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paragraphs = [f"The Quokka-{n} chip has {n} GB of memory.\n\n" for n in range(4_000)]
    (tmp_path / "chips.txt").write_text("".join(paragraphs))
    sync([tmp_path / "chips.txt"], tmp_path / "index", encoder="none")
    monkeypatch.setenv("WATTWISE_INDEX", str(tmp_path / "index"))
    page = started("sources", doc="chips.txt", quote="The Quokka-1900 chip")
    before = re.findall(r"The .{0,30}Quokka-\d+", html(page))
    press(page, "Show more")
    after = re.findall(r"The .{0,30}Quokka-\d+", html(page))
    assert len(after) > len(before)
    assert after[: len(before)] == before


def test_a_link_to_no_document_shows_the_list(index: Path) -> None:
    assert len(titles(started("sources", doc="../../etc/passwd"))) == 1


def test_a_file_is_added_shown_as_text_and_removed(page: AppTest, index: Path) -> None:
    page.file_uploader[0].upload("quokka.md", NOTE).run()
    assert "was read and can be asked about." in html(page)
    assert titles(page)[0] == "Quokka \\$x\\$ chips"
    page.button(key="remove-uploads/quokka.md").click().run()
    assert len(titles(page)) == 2
    press(page, "Remove it")
    assert len(titles(page)) == 1
    assert list((index / "uploads").iterdir()) == []


def test_progress_says_how_much_is_left_once_that_can_be_told() -> None:
    assert (left_words(2, 5, 10), left_words(8, 0, 10), left_words(8, 10, 10)) == ("", "", "")
    assert left_words(8, 2, 10) == ", about 32 s left"
    assert left_words(60, 1, 10) == ", about 9 min left"


def test_what_takes_long_can_be_cancelled() -> None:
    page = AppTest.from_string("from app.progress import bar\nbar()('encoding', 3, 24)").run()
    assert [button.label for button in page.button] == ["Cancel"]
    assert page.get("progress")[0].proto.text == "encoding 3 of 24"


def test_an_interrupted_upload_is_listed_and_removed(index: Path) -> None:
    (index / "staged").mkdir()
    (index / "staged" / "quokka.md").write_bytes(NOTE[:9])
    with listening("127.0.0.1"):
        page = started("sources")
        assert '<strong dir="auto">quokka.md</strong>' in html(page)
        assert INTERRUPTED in html(page)
        page.button(key="discard-quokka.md").click().run()
        press(page, "Remove it")
    assert INTERRUPTED not in html(page)
    assert list((index / "staged").iterdir()) == []


def test_the_corpus_has_no_button_to_remove_it(page: AppTest) -> None:
    assert not [button for button in page.button if (button.key or "").startswith(("remove-", "origin-"))]


def test_an_operator_may_let_visitors_take_a_source_out(
    page: AppTest, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATTWISE_APP_CORPUS_REMOVABLE", "yes")
    page.file_uploader[0].upload("quokka.md", NOTE).run()
    press(page, "Take documents out of the index")
    assert [document.id for document in Index.open(index).documents()] == ["uploads/quokka.md"]


def test_looking_for_changes_changes_nothing_and_a_sync_does(
    page: AppTest, template: Path, request: pytest.FixtureRequest
) -> None:
    new = template / "documents" / "new.md"
    new.write_text("# New\n\nSomething new stands here.\n")
    request.addfinalizer(new.unlink)
    press(page, "Look for changes")
    assert "A sync would find 1 new, 0 changed, 0 gone, 1 unchanged." in html(page)
    assert len(titles(page)) == 1
    press(page, "Sync now")
    assert "The sync found 1 new" in html(page)
    assert len(titles(page)) == 2


def test_beyond_loopback_nothing_can_be_added_or_synced(index: Path) -> None:
    with listening("0.0.0.0"):
        page = started("sources")
    assert len(page.file_uploader) == 0
    assert not [button for button in page.button if button.label in ("Sync now", "Look for changes")]


def test_a_report_names_what_failed_as_text() -> None:
    report = SyncReport(("<a>",), (), (), (), (Failure("x.pdf", "it is <b>broken</b>"),))
    page = report_html("did", report)
    assert "<li>new: &lt;a&gt;</li>" in page
    assert '<li class="ww-failed">x.pdf: it is &lt;b&gt;broken&lt;/b&gt;</li>' in page
    assert "1 not readable" in page
