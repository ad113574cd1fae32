"""Documents are read in a separate process: within a budget, without affecting other documents, and without orphans."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from threading import Thread

import pytest

from benchmarks.campaign.documents import GOOD, Hostile, hostile, written_pdf
from ingest import CorpusError, Source, SyncReport, read_document, sync
from ingest.chunking import chunks_with_context
from ingest.fetching.items import Item
from ingest.formats.loaders import load
from ingest.reading import Budget, Reader, ReaderPool

ROOT = Path(__file__).resolve().parents[1]
MANY_ITEMS = b"- an item of a long list\n" * 400_000


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    """A reader whose time budget only guards against hanging: each document here takes well under a second."""
    with Reader(Budget(seconds=60)) as one:
        yield one


def item(name: str, data: bytes, source: Source | None = None) -> Item:
    return Item(f"docs/{name}", name, source, lambda: data)


def text(reader: Reader, name: str, content: str) -> str:
    data = content.encode()
    return reader.read(item(name, data), data).document.text


def children(process: int) -> list[int]:
    """The ids of a process's children, sorted, whichever thread started them."""
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return sorted(int(id) for task in tasks for id in task.read_text().split())


def test_what_is_read_elsewhere_is_what_would_be_read_here(reader: Reader) -> None:
    data = b"# Sizes\n\nThe sizes are:\n\n| Name | CPUs |\n|---|---|\n" + "| é-1 | 4 |\n".encode() * 300
    one = item("sizes.md", data, Source("sizes", "Sizes", publisher="AWS"))
    document = load(one, data)
    reading = reader.read(one, data)
    assert reading.document == document
    assert reading.chunks == tuple(chunks_with_context(document))


def test_a_document_that_cannot_be_read_says_why(reader: Reader) -> None:
    with pytest.raises(CorpusError, match=r"^it is not valid UTF-8 \(byte 0\): save it as UTF-8$"):
        reader.read(item("a.md", b"\xff"), b"\xff")


def test_a_document_that_takes_too_long_is_named_and_the_next_is_read() -> None:
    with Reader(Budget(seconds=3)) as reader:
        with pytest.raises(CorpusError, match=r"^reading it takes more than 3 s: split it"):
            reader.read(item("long.md", MANY_ITEMS), MANY_ITEMS)
        assert text(reader, "good.md", GOOD) == GOOD


def test_a_document_that_takes_too_much_memory_is_named_and_the_next_is_read() -> None:
    with Reader(Budget(memory=100 << 20)) as reader:
        with pytest.raises(CorpusError, match=r"^reading it takes more than 100 MiB of memory: split it"):
            reader.read(item("long.md", MANY_ITEMS), MANY_ITEMS)
        assert text(reader, "good.md", GOOD) == GOOD


def test_a_document_that_breaks_the_process_is_named_and_the_next_is_read() -> None:
    form = b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>/Length 12>>stream\n/X Do /X Do \nendstream"
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>>>>>"
    pages, drawn = b"<</Type/Pages/Kids[3 0 R]/Count 1>>", b"<</Length 5>>stream\n/X Do\nendstream"
    data = written_pdf(b"<</Type/Catalog/Pages 2 0 R>>", pages, page, drawn, form)
    with Reader(Budget(memory=150 << 20)) as reader:
        with pytest.raises(CorpusError, match=r"^it stops the program that reads it, being damaged or in need of more"):
            reader.read(item("itself.pdf", data), data)
        assert text(reader, "good.md", GOOD) == GOOD


def test_a_document_that_takes_too_long_costs_those_read_beside_it_nothing() -> None:
    with ReaderPool(size=2) as pool:
        long = pool.read(item("long.md", MANY_ITEMS), MANY_ITEMS)
        good = [pool.read(item(f"{n}.md", GOOD.encode()), GOOD.encode()) for n in range(20)]
        assert [reading.result().document.text for reading in good] == [GOOD] * 20
        assert not long.done()


@pytest.mark.skipif(sys.platform != "linux", reason="finds the processes in /proc")
def test_a_pool_that_is_left_ends_what_it_reads_and_few_documents_start_few_processes() -> None:
    before = children(os.getpid())
    with ReaderPool(size=2) as pool:
        for _ in range(3):
            pool.read(item("good.md", GOOD.encode()), GOOD.encode()).result()
        assert len(set(children(os.getpid())) - set(before)) == 1
        long = pool.read(item("long.md", MANY_ITEMS), MANY_ITEMS)
        waiting = [pool.read(item("long.md", MANY_ITEMS), MANY_ITEMS) for _ in range(4)]
    assert children(os.getpid()) == before
    assert isinstance(long.exception(), CorpusError)
    assert waiting[-1].cancelled()


@pytest.mark.skipif(sys.platform != "linux", reason="finds the process in /proc")
def test_a_process_that_died_of_something_else_is_replaced() -> None:
    before = set(children(os.getpid()))
    with Reader() as reader:
        assert text(reader, "good.md", GOOD) == GOOD
        (process,) = set(children(os.getpid())) - before
        os.kill(process, signal.SIGKILL)
        assert text(reader, "good.md", GOOD) == GOOD
        assert process not in children(os.getpid())


@pytest.mark.skipif(sys.platform != "linux", reason="finds the process in /proc")
def test_the_process_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    (tmp_path / "long.md").write_bytes(MANY_ITEMS)
    parent = subprocess.Popen(
        [sys.executable, "-m", "ingest", "long.md", "--encoder", "none"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    while not (found := children(parent.pid)):
        time.sleep(0.02)
    time.sleep(0.5)  # by now it is reading
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 30
    while is_running(found[0]) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(found[0])


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_script_without_a_guard_and_a_thread_can_sync(tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text(GOOD)
    (tmp_path / "script.py").write_text(
        "from ingest import sync\nprint(sync(['good.md'], 'index', encoder='none').added)\n"
    )
    ran = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert (ran.stdout, ran.stderr) == ("('good.md',)\n", "")

    reports: list[SyncReport] = []
    thread = Thread(target=lambda: reports.append(sync([tmp_path / "good.md"], tmp_path / "other", encoder="none")))
    thread.start()
    thread.join()
    assert reports == [SyncReport(("good.md",), (), (), (), ())]


def test_hostile_documents_are_indexed_or_named_and_cost_the_others_nothing(tmp_path: Path) -> None:
    documents: list[Hostile] = list(islice(hostile(7, size=4_000), 20))
    folder = tmp_path / "docs"
    folder.mkdir()
    for document in documents:
        (folder / document.name).write_bytes(document.data)
    (folder / "zz.md").write_text(GOOD)
    report = sync([folder], tmp_path / "index", encoder="none")
    named = [failure.id for failure in report.failed]
    assert sorted([*report.added, *named]) == sorted(f"docs/{name}" for name in [*(d.name for d in documents), "zz.md"])
    assert "docs/zz.md" in report.added
    assert all(failure.reason for failure in report.failed)


LONG = 100_000
PAGE = "<html><body><h1>Page</h1><p>Words stand here.</p>{}<p>The last words.</p></body></html>"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("text.html", PAGE.format(f"<p>{'more words ' * (LONG // 11)}</p>")),
        ("word.html", PAGE.format(f"<p>{'x' * LONG}</p>")),
        ("less.html", PAGE.format(f"<p>{'<' * LONG}</p>")),
        ("unknown.html", PAGE.format("&unknown;" * (LONG // 9))),
        ("entities.html", PAGE.format("&amp;" * (LONG // 5))),
        ("frames.html", PAGE.format("<iframe src='a'></iframe>" * (LONG // 25))),
        ("pipes.html", PAGE.format("|" * LONG)),
        ("wide.csv", ",".join(map(str, range(LONG // 5))) + "\n1,2\nThe last words.\n"),
        ("row.csv", "a,b\n1,2\n" + ",".join(map(str, range(LONG // 5))) + "\nThe last words.\n"),
        ("colons.rst", "Title\n=====\n\n" + f"{':a' * 500}\n\n" * (LONG // 1_000) + "The last words.\n"),
        ("table.md", "\n".join(unit * (LONG // 4) for unit in ("| a ", "|---", "| 1 ")) + "\n\nThe last words.\n"),
        ("path.md", "home" + "/      " * 30 + "/\n\nThe last words.\n"),
        ("author.txt", "author" + " " * LONG + "\n\nThe last words.\n"),
        ("spaces.csv", "a,b\n" + '"a' + "\n" * LONG + 'b",The last words.\n'),
        ("front.md", "---\n" + "a:\n " * (LONG // 4) + "\n---\n\nThe last words.\n"),
    ],
)
def test_reading_takes_no_longer_than_the_length_of_a_document(reader: Reader, name: str, content: str) -> None:
    assert "The last words." in text(reader, name, content)


@pytest.mark.parametrize(
    ("begin", "end"), [("div", ""), ("b", ""), ("ul", "li"), ("blockquote", ""), ("table", "tr td")]
)
def test_a_page_is_read_however_deep_it_is_nested(reader: Reader, begin: str, end: str) -> None:
    names = [begin, *end.split()]
    opened = "".join(f"<{name}>" for name in names) * 12_500
    closed = "".join(f"</{name}>" for name in reversed(names)) * 12_500
    page = text(reader, "deep.html", PAGE.format(f"{opened}The deepest words.{closed}"))
    assert page.index("The deepest words.") < page.index("The last words.")


def test_one_file_is_read_without_an_index() -> None:
    assert read_document("note.txt", b"It draws 72 W.\n").text == "It draws 72 W.\n"
    with pytest.raises(CorpusError, match="it is a broken PDF"):
        read_document("note.pdf", b"%PDF-1.7 nothing")
