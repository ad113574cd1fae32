"""Hostile documents of every format: each is indexed or reported within its budget, and costs the others nothing.

    python benchmarks/campaign/documents.py --seed 1 --count 100

Each document is ingested by a process of its own, beside a small one that must always get in. Prints the slowest ones
and those that took most memory, and exits 1 if one took too long or too much memory, was neither indexed nor reported,
kept the small one out, or left a traceback.
"""

import argparse
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

GOOD = "# Good\n\nThis one is read whatever lies beside it.\n"
# Above the reading budget: an allowance for the start, and for what the index needs for what was read.
SECONDS = 60.0 + 30.0
MEMORY = (1024 + 256) * 1024 * 1024
ROOT = Path(__file__).parents[2]
WORDS = ["the", "accelerator", "serves", "large", "models", "with", "less", "memory"]

Make = Callable[[random.Random, int], bytes]


@dataclass(frozen=True, slots=True)
class Hostile:
    """A hostile document; `kind` says in which way."""

    kind: str
    name: str
    data: bytes


def hostile(seed: int, size: int = 400_000) -> Iterator[Hostile]:
    """Yield documents without end: every kind once in an order drawn by the seed, then again in other sizes.

    The sizes are around `size` bytes.
    """
    draw = random.Random(seed)
    number = 0
    while True:
        for kind, suffix, make in draw.sample(KINDS, len(KINDS)):
            number += 1
            data = make(draw, int(size * draw.uniform(0.5, 1.5)))
            yield Hostile(kind, f"{number:03}{suffix}", data)


def _prose(draw: random.Random, n: int) -> str:
    return " ".join(draw.choices(WORDS, k=n // 7))


def _repeated(unit: str, before: str = "", after: str = "") -> Make:
    return lambda draw, n: (before + unit * (n // len(unit)) + after).encode()


def _page(unit: str, after: str = "") -> Make:
    return _repeated(unit, "<html><body><h1>Page</h1><p>Words stand here.</p>", f"{after}</body></html>")


def _nested(begin: str, end: str) -> Make:
    def make(draw: random.Random, n: int) -> bytes:
        depth = n // len(begin + end)
        return f"<html><body><p>Words stand here.</p>{begin * depth}The deepest words.{end * depth}".encode()

    return make


def _long_page(draw: random.Random, n: int) -> bytes:
    return f"<html><body><p>{_prose(draw, n)}</p></body></html>".encode()


def _wrong_charset(draw: random.Random, n: int) -> bytes:
    charset = draw.choice(["utf-7", "utf-16", "rot13", "unicode_escape", "idna", "no-such", "undefined", "shift_jis"])
    return f'<meta charset="{charset}"><p>{_prose(draw, n)}</p>'.encode()


def _wide_rows(draw: random.Random, n: int) -> bytes:
    wide = ",".join(str(number) for number in range(n // 6))
    rows = ["a,b", *("1,2" for _ in range(draw.randrange(5_000))), wide, "3,4"]
    return "\n".join(rows).encode()


def _wide_objects(draw: random.Random, n: int) -> bytes:
    return json.dumps([{f"key {number}": number} for number in range(n // 25)]).encode()


def _lone_surrogates(draw: random.Random, n: int) -> bytes:
    return ('{"title": "\\ud800", "text": "' + "words \\udfff\\u0000 " * (n // 19) + '"}').encode()


def _broken_lines(draw: random.Random, n: int) -> bytes:
    return b"\n".join(b'{"a": 1}' if draw.random() < 0.99 else b'{"a":' for _ in range(n // 9))


def _surrogate_bytes(draw: random.Random, n: int) -> bytes:
    return b"# Words\n\n" + b"and \xed\xa0\x80 then " * (n // 13)


def _nulls(draw: random.Random, n: int) -> bytes:
    return b"# Words\n\nand\x00then\n" * (n // 18)


def _odd_characters(draw: random.Random, n: int) -> bytes:
    ranges = [(0x20, 0x2FF), (0x300, 0x36F), (0x200B, 0x206F), (0xFE00, 0xFEFF), (0x1F300, 0x1FAFF), (1, 0x1F)]
    return "".join(chr(draw.randint(*draw.choice(ranges))) for _ in range(n // 3)).encode()


def _front_matter(draw: random.Random, n: int) -> bytes:
    bomb = "".join(f"{new}: &{new} [*{old}, *{old}, *{old}, *{old}]\n" for old, new in zip("abcdef", "bcdefg", strict=True))
    return f"---\na: &a [x]\n{bomb}title: \"\\ud800{'t' * n}\"\n---\n\nThe words.\n".encode()


def _garbage(draw: random.Random, n: int) -> bytes:
    return draw.randbytes(n)


def _package(parts: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as package:
        for name, part in parts.items():
            package.writestr(name, part)
    return data.getvalue()


_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_LINKS = "http://schemas.openxmlformats.org/package/2006/relationships"


def _related(kind: str, target: str) -> bytes:
    return (
        f'<Relationships xmlns="{_LINKS}"><Relationship Id="r1" Type="{_OFFICE}/{kind}" Target="{target}"/></Relationships>'
    ).encode()


def _docx(body: str, before: str = "") -> bytes:
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    return _package(
        {
            "[Content_Types].xml": (
                f'<Types xmlns="{_TYPES}"><Default Extension="rels" '
                'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
                f'<Override PartName="/word/document.xml" ContentType="{main}"/></Types>'
            ).encode(),
            "_rels/.rels": _related("officeDocument", "word/document.xml"),
            "word/document.xml": f"{before}<w:document {_WORD}><w:body>{body}</w:body></w:document>".encode(),
        }
    )


def _paragraphs(draw: random.Random, n: int) -> bytes:
    return _docx("<w:p><w:r><w:t>Words.</w:t></w:r></w:p>" * (n // 4))


def _many_runs(draw: random.Random, n: int) -> bytes:
    return _docx(f"<w:p>{'<w:r><w:b/><w:t>a </w:t></w:r>' * (n // 8)}</w:p>")


def _deep_tables(draw: random.Random, n: int) -> bytes:
    depth = n // 100
    cell = "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p>"
    return _docx(cell * depth + "</w:tc></w:tr></w:tbl>" * depth)


def _entities(draw: random.Random, n: int) -> bytes:
    laughs = "".join(f'<!ENTITY e{new} "{f"&e{new - 1};" * 10}">' for new in range(1, 10))
    return _docx("<w:p><w:r><w:t>&e9;</w:t></w:r></w:p>", f'<!DOCTYPE a [<!ENTITY e0 "ha">{laughs}]>')


def _spaces(draw: random.Random, n: int) -> bytes:
    return _docx(" " * (n * 100))


def _many_parts(draw: random.Random, n: int) -> bytes:
    return _package({f"word/part{number}.xml": b"<a/>" for number in range(n // 40)})


def _slides(draw: random.Random, n: int) -> bytes:
    from pptx import Presentation
    from pptx.util import Inches

    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    kind = draw.choice(["table", "group", "text"])
    if kind == "table":
        columns = 40
        table = slide.shapes.add_table(max(2, n // 10_000), columns, 0, 0, Inches(9), Inches(5)).table
        table.cell(1, columns - 1).text = _prose(draw, n)
    elif kind == "group":
        group = slide.shapes.add_group_shape()
        for _ in range(min(n // 1_000, 300)):
            group = group.shapes.add_group_shape()
        group.shapes.add_textbox(0, 0, 1, 1).text_frame.text = "The deepest words."
    else:
        frame = slide.shapes.add_textbox(0, 0, Inches(5), Inches(5)).text_frame
        frame.text = "\n".join(WORDS * (n // 800))
    data = io.BytesIO()
    deck.save(data)
    return data.getvalue()


def workbook(sheet: str, strings: str = "") -> bytes:
    """Return an Excel file of one sheet, given as XML."""
    main = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    return _package(
        {
            "[Content_Types].xml": (
                f'<Types xmlns="{_TYPES}"><Default Extension="rels" '
                'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
                f'<Override PartName="/xl/workbook.xml" ContentType="{main}.sheet.main+xml"/>'
                f'<Override PartName="/xl/sharedStrings.xml" ContentType="{main}.sharedStrings+xml"/>'
                f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{main}.worksheet+xml"/></Types>'
            ).encode(),
            "_rels/.rels": _related("officeDocument", "xl/workbook.xml"),
            "xl/workbook.xml": (
                f'<workbook xmlns="{_SHEETS}" xmlns:r="{_OFFICE}"><sheets>'
                '<sheet name="Sheet" sheetId="1" r:id="r1"/></sheets></workbook>'
            ).encode(),
            "xl/_rels/workbook.xml.rels": _related("worksheet", "worksheets/sheet1.xml"),
            "xl/sharedStrings.xml": f'<sst xmlns="{_SHEETS}">{strings}</sst>'.encode(),
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_SHEETS}">{sheet}</worksheet>'.encode(),
        }
    )


def _cell(place: str, value: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'


def _last_cell(draw: random.Random, n: int) -> bytes:
    sheet = f'<sheetData><row r="1048576">{_cell("XFD1048576", "The last cell.")}</row></sheetData>'
    return workbook(f'<dimension ref="A1:XFD1048576"/>{sheet}')


def _far_rows(draw: random.Random, n: int) -> bytes:
    return workbook(f'<sheetData><row r="{10 ** draw.randint(7, 18)}">{_cell("A1", "far")}</row></sheetData>')


def _far_columns(draw: random.Random, n: int) -> bytes:
    rows = (f'<row r="{row}">{_cell(f"XFD{row}", "far")}</row>' for row in range(1, n // 100))
    return workbook(f"<sheetData>{''.join(rows)}</sheetData>")


def _many_cells(draw: random.Random, n: int) -> bytes:
    cells = "<c><v>1</v></c>" * 20
    return workbook(f"<sheetData>{f'<row>{cells}</row>' * (n // 8)}</sheetData>")


def _many_strings(draw: random.Random, n: int) -> bytes:
    return workbook(f"<sheetData><row>{_cell('A1', 'a')}</row></sheetData>", "<si><t>a</t></si>" * n * 4)


def written_pdf(*objects: bytes) -> bytes:
    """Return a PDF of these objects, the first of which is its catalog."""
    data, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    return data + head + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(data))


def _stream(content: bytes, more: bytes = b"") -> bytes:
    packed = zlib.compress(content)
    return b"<< /Length %d /Filter /FlateDecode %s >>\nstream\n%s\nendstream" % (len(packed), more, packed)


_CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
_ONE_PAGE = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
_SIZE = b"/MediaBox [0 0 600 800]"


def _one_page(content: bytes) -> bytes:
    page = b"<< /Type /Page /Parent 2 0 R %s /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>" % _SIZE
    return written_pdf(_CATALOG, _ONE_PAGE, page, _stream(content), _FONT)


def _much_text(draw: random.Random, n: int) -> bytes:
    return _one_page(b"BT /F 1 Tf 10 790 Td " + b"(words and words) Tj 0 -0.01 Td " * (n // 8) + b"ET")


def _inflated(draw: random.Random, n: int) -> bytes:
    return _one_page(b"q " * (n * 50))


def _own_parent(draw: random.Random, n: int) -> bytes:
    return written_pdf(_CATALOG, b"<< /Type /Pages /Kids [2 0 R 3 0 R] /Count 2 >>", b"<< /Type /Pages /Kids [2 0 R] /Count 9 >>")


def _drawn_in_itself(draw: random.Random, n: int) -> bytes:
    page = b"<< /Type /Page /Parent 2 0 R %s /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>" % _SIZE
    form = _stream(b"/X Do /X Do", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >>")
    return written_pdf(_CATALOG, _ONE_PAGE, page, _stream(b"/X Do"), form)


def _many_pages(draw: random.Random, n: int) -> bytes:
    count = n // 30
    pages = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b"3 0 R " * count, count)
    page = b"<< /Type /Page /Parent 2 0 R %s /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>" % _SIZE
    return written_pdf(_CATALOG, pages, page, _stream(b"BT /F 9 Tf 50 400 Td (words on a page) Tj ET"), _FONT)


def _deep_pages(draw: random.Random, n: int) -> bytes:
    depth = n // 80
    tree = (b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % number for number in range(3, depth + 3))
    return written_pdf(_CATALOG, *tree, b"<< /Type /Page %s >>" % _SIZE)


def _nested_arrays(draw: random.Random, n: int) -> bytes:
    return written_pdf(b"<< /Type /Catalog /Pages 2 0 R /Deep %s%s >>" % (b"[" * (n // 2), b"]" * (n // 2)), _ONE_PAGE)


def _truncated(make: Make) -> Make:
    def cut(draw: random.Random, n: int) -> bytes:
        data = make(draw, n)
        return data[: draw.randrange(len(data))]

    return cut


def _flipped(make: Make) -> Make:
    def flip(draw: random.Random, n: int) -> bytes:
        data = bytearray(make(draw, n))
        for _ in range(20):
            data[draw.randrange(len(data))] = draw.randrange(256)
        return bytes(data)

    return flip


def _small(make: Make) -> Make:
    return lambda draw, n: make(draw, n // 20)


KINDS: list[tuple[str, str, Make]] = [
    ("long line", ".md", lambda draw, n: _prose(draw, n).encode()),
    ("long word", ".txt", _repeated("x")),
    ("wide table", ".md", lambda draw, n: "\n".join(unit * (n // 12) for unit in ("| a ", "|---", "| 1 ")).encode()),
    ("wide header", ".md", lambda draw, n: ("| a " * (n // 8) + "\n|---|\n" + "| 1 |\n" * (n // 12)).encode()),
    ("deep quotes", ".md", _repeated("> ")),
    ("deep list", ".mdx", _repeated("- ")),
    ("links that do not end", ".mdx", _repeated("[a](")),
    ("many headings", ".md", _repeated("# a\n")),
    ("path that is no path", ".md", _repeated("home" + "/      " * 30 + "/\n\n")),
    ("author without a name", ".txt", _repeated(" ", "author")),
    ("front matter", ".md", _front_matter),
    ("odd characters", ".txt", _odd_characters),
    ("lone surrogates", ".md", _surrogate_bytes),
    ("nulls", ".txt", _nulls),
    ("accents on one letter", ".html", _page("\u0301\u0316")),
    ("long text", ".html", _long_page),
    ("many <", ".html", _page("<")),
    ("entities that are none", ".html", _page("&unknown;")),
    ("frames", ".html", _page("<iframe src=a>")),
    ("pipes", ".html", _page("|")),
    ("comments that do not end", ".html", _page("<!--")),
    ("cells", ".html", _page("<table><tr><td>a")),
    ("attributes", ".html", _repeated("a=b ", "<html><body><p ", ">Words.</p>")),
    ("deep div", ".html", _nested("<div>", "</div>")),
    ("deep b", ".htm", _nested("<b>", "</b>")),
    ("deep lists", ".html", _nested("<ul><li>", "</li></ul>")),
    ("deep quotes", ".html", _nested("<blockquote>", "</blockquote>")),
    ("deep tables", ".html", _nested("<table><tr><td>", "</td></tr></table>")),
    ("wrong charset", ".html", _wrong_charset),
    ("colons", ".rst", _repeated(":a")),
    ("bars", ".rst", _repeated("|a| ")),
    ("deep lists", ".rst", lambda draw, n: "\n".join(" " * 2 * level + "- a\n" for level in range(int(n**0.5) // 2)).encode()),
    ("other files", ".rst", _repeated(".. include:: /etc/passwd\n\n.. raw:: html\n   :file: /etc/passwd\n\nWords.\n\n")),
    ("much text", ".pdf", _much_text),
    ("unpacks to much", ".pdf", _inflated),
    ("tree that is its own branch", ".pdf", _own_parent),
    ("drawn in itself", ".pdf", _drawn_in_itself),
    ("many pages", ".pdf", _many_pages),
    ("deep tree", ".pdf", _deep_pages),
    ("deep arrays", ".pdf", _nested_arrays),
    ("truncated", ".pdf", _truncated(_much_text)),
    ("bytes changed", ".pdf", _flipped(_small(_many_pages))),
    ("many paragraphs", ".docx", _paragraphs),
    ("many runs", ".docx", _many_runs),
    ("deep tables", ".docx", _deep_tables),
    ("entities in entities", ".docx", _entities),
    ("unpacks to much", ".docx", _spaces),
    ("many parts", ".docx", _many_parts),
    ("truncated", ".docx", _truncated(_small(_paragraphs))),
    ("large", ".pptx", _slides),
    ("bytes changed", ".pptx", _flipped(_small(_slides))),
    ("a Word file", ".pptx", _small(_paragraphs)),
    ("last cell", ".xlsx", _last_cell),
    ("rows far away", ".xlsx", _far_rows),
    ("columns far away", ".xlsx", _far_columns),
    ("many cells", ".xlsx", _many_cells),
    ("many strings", ".xlsx", _many_strings),
    ("bytes changed", ".xlsx", _flipped(_small(_many_cells))),
    ("one wide row", ".csv", _wide_rows),
    ("wide", ".csv", _repeated("1,", "", "\n1,2\n")),
    ("narrow", ".csv", _repeated("1\n")),
    ("quote that does not end", ".csv", _repeated("a,\n", '"')),
    ("deep", ".json", _repeated("[")),
    ("wide objects", ".json", _wide_objects),
    ("long number", ".json", _repeated("1")),
    ("lone surrogates", ".json", _lone_surrogates),
    ("broken lines", ".jsonl", _broken_lines),
    ("deep", ".jsonl", _repeated('{"a":')),
    ("garbage", ".pdf", _garbage),
    ("garbage", ".docx", _garbage),
    ("garbage", ".md", _garbage),
    ("a PDF", ".html", _small(_many_pages)),
    ("a Word file", ".csv", _small(_paragraphs)),
    ("a page", ".xlsx", _small(_long_page)),
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """The result of ingesting one document; `breach` says what was broken, if anything."""

    document: Hostile
    seconds: float
    memory: int
    outcome: str
    breach: str | None


def run(document: Hostile, folder: Path) -> Run:
    sources = folder / document.name
    sources.mkdir()
    (sources / document.name).write_bytes(document.data)
    (sources / "good.md").write_text(GOOD)
    command = [sys.executable, "-m", "ingest", str(sources), "--index", str(folder / "index"), "--encoder", "none", "--json"]
    begun = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=out, stderr=errors, env=os.environ | {"PYTHONPATH": str(ROOT)})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - begun
        out.seek(0)
        errors.seek(0)
        said, complaint = out.read().decode(), errors.read().decode()
    memory = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    report = json.loads(said) if process.returncode == 0 else {"added": [], "failed": []}
    failures = {failure["id"]: failure["reason"] for failure in report["failed"]}
    id = f"{document.name}/{document.name}"
    breaches = {
        f"exit {process.returncode}": process.returncode != 0,
        "a traceback": "Traceback" in complaint,
        "the other document is missing": f"{document.name}/good.md" not in report["added"] + report.get("unchanged", []),
        "neither indexed nor named": id not in report["added"] and not failures.get(id),
        f"more than {SECONDS:.0f} s": seconds > SECONDS,
        f"more than {MEMORY >> 20} MiB": memory > MEMORY,
    }
    breach = ", ".join(name for name, broken in breaches.items() if broken)
    return Run(document, seconds, memory, failures.get(id) or "indexed", breach or None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for document in islice(hostile(options.seed), options.count):
            runs.append(run(document, Path(folder)))
            print(f"\r{len(runs)} of {options.count}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    indexed = sum(one.outcome == "indexed" for one in runs)
    print(f"seed {options.seed}: {len(runs)} documents, {indexed} indexed, {len(runs) - indexed} named\n")
    _print("slowest", sorted(runs, key=lambda one: -one.seconds)[:15])
    _print("most memory", sorted(runs, key=lambda one: -one.memory)[:10])
    broken = [one for one in runs if one.breach]
    for one in broken:
        print(f"BREACH: {one.document.name} ({one.document.kind}): {one.breach}")
    print(f"{len(broken)} breaches")
    return 1 if broken else 0


def _print(title: str, runs: list[Run]) -> None:
    print(title)
    for one in runs:
        file = f"{one.document.name} {one.document.kind}"
        print(f"  {one.seconds:5.1f} s {one.memory >> 20:5} MiB {len(one.document.data) // 1024:6} KiB  {file:34} {one.outcome}")
    print()


if __name__ == "__main__":
    sys.exit(main())
