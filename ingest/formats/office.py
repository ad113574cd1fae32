"""Convert Word, PowerPoint and Excel files to Markdown.

The libraries beneath markitdown (mammoth, python-pptx, openpyxl) are used directly. markitdown itself loads pandas and
a file-type model, and loses slide numbers and the header rows of tables.
"""

import io
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from typing import Any

from ingest.document import CorpusError
from ingest.fetching.items import DAMAGED, MAX_BYTES, Extracted
from ingest.formats.markup import markdown_of_html
from ingest.formats.tables import check_size, markdown_table

_OLE_HEADER = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LARGEST_UNPACKED = 4 * MAX_BYTES


def load_docx(data: bytes) -> Extracted:
    _check_package(data)
    import mammoth  # type: ignore[import-untyped]

    converted = mammoth.convert_to_html(
        io.BytesIO(data),
        style_map="p[style-name='Title'] => h1:fresh",
        include_embedded_style_map=False,
        convert_image=mammoth.images.img_element(lambda image: {}),
    )
    return Extracted(markdown_of_html(converted.value))


def load_pptx(data: bytes) -> Extracted:
    """Load a presentation. Each slide ends with a form feed; its title becomes a heading, and its notes come last."""
    _check_package(data)
    from pptx import Presentation

    slides = ["\n\n".join(_slide_blocks(slide)) for slide in Presentation(io.BytesIO(data)).slides]
    return Extracted("".join(f"{slide}\n\f" for slide in slides))


def _slide_blocks(slide: Any) -> Iterator[str]:
    title = slide.shapes.title
    if title is not None and title.text_frame.text.strip():
        yield f"## {' '.join(title.text_frame.text.split())}"
    for shape in _in_reading_order(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            yield from filter(None, _shape_blocks(shape))
    if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) is not None and notes.text.strip():
        yield f"Notes: {notes.text.strip()}"


def _in_reading_order(shapes: Iterable[Any]) -> Iterator[Any]:
    """Yield shapes from top to bottom, then left to right, with groups expanded."""
    for shape in sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0)):
        if hasattr(shape, "shapes"):
            yield from _in_reading_order(shape.shapes)
        else:
            yield shape


def _shape_blocks(shape: Any) -> Iterator[str]:
    if getattr(shape, "has_table", False):
        yield markdown_table([cell.text for cell in row.cells] for row in shape.table.rows)
    elif getattr(shape, "has_chart", False):
        yield _chart_table(shape.chart)
    elif shape.has_text_frame:
        paragraphs = [paragraph for paragraph in shape.text_frame.paragraphs if paragraph.text.strip()]
        listed = len(paragraphs) > 1
        yield "\n".join(_marked(paragraph, listed) for paragraph in paragraphs)


def _marked(paragraph: Any, listed: bool) -> str:
    return ("  " * paragraph.level + "- " if listed else "") + " ".join(paragraph.text.split())


def _chart_table(chart: Any) -> str:
    """Return the figures behind a chart as a table: one row per category, one column per series.

    Return "" for a chart without categories or of a kind that python-pptx does not read, such as a 3-D one.
    """
    try:
        plots = list(chart.plots)
    except ValueError:
        return ""
    series = [one for plot in plots for one in plot.series]
    categories = [str(category) for plot in plots[:1] for category in plot.categories]
    rows = [[name, *(_number(next(iter(one.values[row : row + 1]), None)) for one in series)] for row, name in enumerate(categories)]
    return markdown_table([["", *(one.name for one in series)], *rows]) if series and rows else ""


def load_xlsx(data: bytes) -> Extracted:
    """Load a workbook, one section per sheet. Adjacent rows form a table; a value that stands alone is a paragraph."""
    _check_package(data)
    import openpyxl  # type: ignore[import-untyped]

    with warnings.catch_warnings():
        # openpyxl warns about styles and validations that it skips; neither is text.
        warnings.filterwarnings("ignore", module="openpyxl")
        workbook = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sections = [_sheet_section(sheet) for sheet in workbook.worksheets]
        workbook.close()
    return Extracted("\n\n".join(filter(None, sections)))


def _sheet_section(sheet: Any) -> str:
    # Otherwise rows are padded to the size that the sheet states, which a single cell in its last corner makes
    # enormous.
    sheet.reset_dimensions()
    blocks: list[list[list[str]]] = [[]]
    count = 0
    for number, row in enumerate(sheet.iter_rows()):
        count += len(row)
        check_size(number, count)
        cells = [_shown(cell) for cell in row]
        if any(cells):
            blocks[-1].append(cells)
        elif blocks[-1]:
            blocks.append([])
    texts = [_block_text(block) for block in blocks if block]
    return "\n\n".join([f"## {sheet.title}", *texts]) if texts else ""


def _block_text(rows: list[list[str]]) -> str:
    """Return a table without its empty columns, or the value itself if there is only one."""
    used = sorted({column for row in rows for column, value in enumerate(row) if value})
    kept = [[row[column] for column in used if column < len(row)] for row in rows]
    return kept[0][0] if len(kept) == len(used) == 1 else markdown_table(kept)


def _shown(cell: Any) -> str:
    """Return a cell's value as a reader of the sheet sees it."""
    value = cell.value
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, int | float) and not isinstance(value, bool) and "%" in (cell.number_format or ""):
        return f"{_number(value * 100)}%"
    return _number(value) if isinstance(value, float) else "" if value is None else str(value).strip()


def _number(value: float | None) -> str:
    """Format a number without the noise of binary fractions: 0.07 * 100 is 7, not 7.000000000000001."""
    return "" if value is None else f"{value:.12g}" if abs(value) < 1e12 else repr(value)


def _check_package(data: bytes) -> None:
    """Raise CorpusError for a file that is not an Office package, is encrypted, or unpacks to more than the size limit."""
    if data.startswith(_OLE_HEADER):
        raise CorpusError("it is encrypted or in the old binary format: save it without a password in the new format")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            unpacked = sum(part.file_size for part in package.infolist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise CorpusError(DAMAGED) from error
    if unpacked > _LARGEST_UNPACKED:
        raise CorpusError(f"it unpacks to more than {_LARGEST_UNPACKED // 1024 // 1024} MiB: split it")
