"""PDF to text by pages: font size marks headings, vertical distance paragraphs, and aligned wide gaps tables."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from ctypes import c_double
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median
from typing import Any

from ingest.document import CorpusError
from ingest.fetching.items import Extracted
from ingest.formats.plain import first_heading
from ingest.formats.tables import markdown_table

_HEADING_SIZE = 1.15
_LONGEST_HEADING = 120
_PARAGRAPH_GAP = 1.4
_MARGIN = 0.12
_FEWEST_PAGES = 3
# A gap wider than this many font sizes divides cells; justified prose has narrower ones.
_GAP = 1.0
_FEWEST_ROWS = 2
_FEWEST_COLUMNS = 3
# Rows farther apart than this many font sizes belong to different tables.
_PITCH = 4.0
_LONGEST_MEAN = 45
_HASH = re.compile(r"^#+(?= )")
_BULLET = re.compile(r"^[•●▪◦‣·∙■] *(?=\S)")
# PDFium returns one of these for a hyphen at a line's end, mostly in place of the line break too.
_LINE_HYPHEN = re.compile("[\x02\ufffe]")
_BROKEN_WORD = re.compile(r"([^\W\d_]+)(?:[\x02\ufffe]\n?|[-\u2010]\n)([^\W\d_]+)")
_CONTENTS_ENTRY = re.compile(r"(?: ?\.){4,} *[\divxlc]+$")
_PAGE_NUMBER = re.compile(r"(?:page )?[-–] ?\d+ ?[-–]|(?:page )?\d+(?: (?:of|/) \d+)?|[ivxlc]+", re.IGNORECASE)
_PROGRAM_TITLE = re.compile(r"^(untitled|microsoft \w+ -|slide 1$)|\.\w{2,4}$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cell:
    """Words that stand together on a line, with their left and right edges in points from the page's left edge."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page: its text, font size, and the height of its baseline above the bottom of the page, in points.

    `in_margin` says that it stands where running headers and footers do. A table becomes one such line, with several
    lines of Markdown as its text.
    """

    text: str
    size: float
    height: float
    in_margin: bool
    cells: tuple[Cell, ...] = ()


def load_pdf(data: bytes) -> Extracted:
    """Load a PDF; each page ends with a form feed.

    Raises CorpusError for a PDF that is broken, encrypted or holds only images.
    """
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(data) as pdf:
            pages = [_page_lines(page) for page in pdf]
            title = pdf.get_metadata_value("Title").strip()
    except pypdfium2.PdfiumError as error:
        raise CorpusError(_reason(error)) from error
    if not any(pages):
        raise CorpusError("it holds only images of text: run text recognition (OCR) on it first")
    text = _join_broken_words(
        "".join(f"{page}\n\f" for page in _render([_with_tables(page) for page in _without_margins(pages)]))
    )
    return Extracted(text, first_heading(text) or (None if _PROGRAM_TITLE.search(title) else title or None))


def _reason(error: Any) -> str:
    import pypdfium2.raw

    if error.err_code in (pypdfium2.raw.FPDF_ERR_PASSWORD, pypdfium2.raw.FPDF_ERR_SECURITY):
        return "it is encrypted: save it without a password"
    return "it is a broken PDF: export it again"


def _page_lines(page: Any) -> list[Line]:
    textpage = page.get_textpage()
    try:
        lines = [_line(textpage, *span, page.get_height()) for span in _visible_spans(textpage)]
        return [line for line in lines if line.text and not _CONTENTS_ENTRY.search(line.text)]
    finally:
        textpage.close()
        page.close()


def _visible_spans(textpage: Any) -> Iterator[tuple[list[int], int]]:
    """Yield the character codes of each line, from the first visible one to the last, and the index of the first."""
    from pypdfium2.raw import FPDFText_GetUnicode

    codes = [FPDFText_GetUnicode(textpage, index) for index in range(textpage.count_chars())]
    for is_break, group in groupby(range(len(codes)), key=lambda index: codes[index] in (10, 13)):
        visible = [index for index in group if codes[index] > 32]
        if not is_break and visible:
            yield codes[visible[0] : visible[-1] + 1], visible[0]


def _words(codes: Sequence[int]) -> str:
    """Return the text of character codes.

    PDFium gives a character above U+FFFF as one code or two, depending on its version.
    """
    text = "".join(map(chr, codes)).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return " ".join(text.split())


def _line(textpage: Any, codes: list[int], first: int, page_height: float) -> Line:
    from pypdfium2.raw import FPDFText_GetCharOrigin

    across, height = c_double(), c_double()
    FPDFText_GetCharOrigin(textpage, first, across, height)
    # A bullet or a footnote's mark may be smaller than the words beside it.
    size = max(_font_size(textpage, first), _font_size(textpage, first + len(codes) - 1))
    text = _HASH.sub(r"\\\g<0>", _BULLET.sub("- ", _words(codes)))
    in_margin = not _MARGIN * page_height < height.value < (1 - _MARGIN) * page_height
    return Line(text, round(size, 1), height.value, in_margin, tuple(_cells(textpage, codes, first, size)))


def _cells(textpage: Any, codes: list[int], first: int, size: float) -> Iterator[Cell]:
    """Yield the words of the line, divided where the space between two is wide."""

    def edges(place: int) -> tuple[float, float]:
        left, _, right, _ = textpage.get_charbox(first + place)
        return left, right

    start = 0
    for is_space, group in groupby(range(len(codes)), key=lambda place: codes[place] <= 32):
        spaces = list(group)
        before, after = spaces[0] - 1, spaces[-1] + 1
        if is_space and edges(after)[0] - edges(before)[1] > _GAP * size:
            yield Cell(_words(codes[start : before + 1]), edges(start)[0], edges(before)[1])
            start = after
    yield Cell(_words(codes[start:]), edges(start)[0], edges(len(codes) - 1)[1])


def _font_size(textpage: Any, index: int) -> float:
    from pypdfium2.raw import FPDFText_GetFontSize

    _, bottom, _, top = textpage.get_charbox(index, loose=True)
    # The nominal font size may be 1, with the scale in the text matrix: then the character's box tells the size.
    return float(max(FPDFText_GetFontSize(textpage, index), (top - bottom) * 0.8))


def _without_margins(pages: list[list[Line]]) -> list[list[Line]]:
    """Drop page numbers and running headers and footers.

    Those are lines in the margin, at a height where most pages have one, whose words, apart from numbers, occur on
    another page (a chapter's title occurs on the pages of the chapter).
    """
    if len(pages) < _FEWEST_PAGES:
        return pages
    margins = [{line for line in page if line.in_margin} for page in pages]
    heights = Counter(height for margin in margins for height in {_step(line) for line in margin})
    words = Counter(key for margin in margins for key in {_running_key(line) for line in margin})

    def is_running(line: Line) -> bool:
        repeats = heights[_step(line)] > len(pages) / 2 and words[_running_key(line)] > 1
        return line.in_margin and (repeats or _PAGE_NUMBER.fullmatch(line.text) is not None)

    return [[line for line in page if not is_running(line)] for page in pages]


def _step(line: Line) -> int:
    """Return the height in steps of four points: a footer is not at exactly the same height on every page."""
    return round(line.height / 4)


def _running_key(line: Line) -> tuple[str, int]:
    return re.sub(r"\d+", "#", line.text), _step(line)


def _with_tables(page: list[Line]) -> list[Line]:
    """Return the lines of a page, with each table as one line."""
    lines, done = [], 0
    for start, end, text in tables(page):
        lines += page[done:start]
        lines.append(Line(text, page[start].size, page[end - 1].height, in_margin=False))
        done = end
    return [*lines, *page[done:]]


def tables(rows: Sequence[Line]) -> Iterator[tuple[int, int, str]]:
    """Yield the tables among the lines of a page: first line, line after the last, Markdown."""
    start = 0
    while start < len(rows):
        end = _table_end(rows, start)
        if text := _table(rows[start:end]):
            yield start, end, text
        start = max(end, start + 1)


def _table_end(rows: Sequence[Line], start: int) -> int:
    """Return where the run of lines ends that have several cells or continue the cells of the line above."""
    first = rows[start]
    if len(first.cells) < _FEWEST_COLUMNS:
        return start
    for end in range(start + 1, len(rows)):
        row, pitch = rows[end], rows[end - 1].height - rows[end].height
        # With nothing in the first column, a line continues the row above it.
        in_columns = len(row.cells) > 1 or row.cells[0].left >= first.cells[1].left - row.size
        if not 0 < pitch <= _PITCH * row.size or not in_columns:
            return end
    return len(rows)


def _table(rows: Sequence[Line]) -> str:
    """Return the lines as a Markdown table; "" if they do not form columns."""
    width = max((len(row.cells) for row in rows), default=0)
    full = [row for row in rows if len(row.cells) == width]
    if width < _FEWEST_COLUMNS or len(full) < _FEWEST_ROWS:
        return ""
    columns = [_extent(column) for column in zip(*(row.cells for row in full), strict=True)]
    lengths = [len(cell.text) for row in rows for cell in row.cells]
    if any(a[1] > b[0] for a, b in pairwise(columns)) or sum(lengths) > _LONGEST_MEAN * len(lengths):
        return ""
    lines: list[list[str]] = []
    for row in rows:
        placed = _placed(row, columns)
        if placed[0] or not lines:
            lines.append(placed)
        else:
            lines[-1] = [f"{said} {more}".strip() for said, more in zip(lines[-1], placed, strict=True)]
    return markdown_table(lines) if len(lines) >= _FEWEST_ROWS else ""


def _extent(cells: Sequence[Cell]) -> tuple[float, float]:
    return min(cell.left for cell in cells), max(cell.right for cell in cells)


def _placed(row: Line, columns: Sequence[tuple[float, float]]) -> list[str]:
    """Return the words of a line in each column; a cell belongs to the column that it overlaps most."""
    words: list[list[str]] = [[] for _ in columns]
    for cell in row.cells:
        overlaps = [min(cell.right, right) - max(cell.left, left) for left, right in columns]
        words[overlaps.index(max(overlaps))].append(cell.text)
    return [" ".join(said) for said in words]


def _render(pages: list[list[Line]]) -> Iterator[str]:
    lines = [line for page in pages for line in page]
    sizes = Counter[float]()
    for line in lines:
        sizes[line.size] += len(line.text)
    body = sizes.most_common(1)[0][0] if sizes else 0.0
    large = sorted({line.size for line in lines if _is_heading(line, body)}, reverse=True)
    marks = {size: f"{'#' * min(level, 4)} " for level, size in enumerate(large, start=1)}
    for page in pages:
        yield _render_page(page, body, marks)


def _is_heading(line: Line, body: float) -> bool:
    words = sum(character.isalpha() for character in line.text)
    large = line.size >= _HEADING_SIZE * body and words > 2 and len(line.text) <= _LONGEST_HEADING
    return large and not _is_table(line)


def _is_table(line: Line) -> bool:
    return "\n" in line.text


def _render_page(page: list[Line], body: float, marks: dict[float, str]) -> str:
    gaps = [above.height - below.height for above, below in pairwise(page) if above.height > below.height]
    pitch = median(gaps) if gaps else 0.0
    text, above = "", None
    for line in page:
        heading = _is_heading(line, body)
        mark = marks[line.size] if heading else ""
        if above is None:
            text = mark + line.text
        elif heading:
            # A heading that was broken over several lines is one heading.
            broken = above.size == line.size and _goes_on(above, line, line.size)
            text += f" {line.text}" if broken else f"\n\n{mark}{line.text}"
        else:
            apart = _is_heading(above, body) or _is_table(above) or _is_table(line)
            goes_on = not apart and _goes_on(above, line, pitch)
            text += ("\n" if goes_on else "\n\n") + line.text
        above = line
    return text


def _goes_on(above: Line, line: Line, pitch: float) -> bool:
    """Whether a line follows the one above at the usual distance."""
    return 0 <= above.height - line.height <= _PARAGRAPH_GAP * pitch


def _join_broken_words(text: str) -> str:
    """Undo hyphenation at line ends. The document itself tells "acceler-ators" from "cost-effective".

    A hyphen stays if the compound occurs unbroken elsewhere, if its parts do and the joined word does not, or before a
    capital letter.
    """
    compounds = {word.lower() for word in re.findall(r"[^\W\d_]+-[^\W\d_]+", text)}
    words = {word.lower() for word in re.findall(r"(?<![\w\x02\ufffe])[^\W\d_]+(?![\w\x02\ufffe]|[-\u2010]\n)", text)}

    def joined(match: re.Match[str]) -> str:
        first, second = match[1].lower(), match[2].lower()
        parts_are_words = {first, second} <= words and first + second not in words
        keeps = f"{first}-{second}" in compounds or parts_are_words or match[2][0].isupper()
        return f"{match[1]}-{match[2]}" if keeps else match[1] + match[2]

    return _LINE_HYPHEN.sub("-", _BROKEN_WORD.sub(joined, text))
