"""Convert HTML and reStructuredText to Markdown."""

import codecs
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ingest.document import CorpusError
from ingest.fetching.items import Extracted
from ingest.formats.plain import decode, first_heading

# A page whose tags can be read byte by byte is not UTF-16, whatever it says.
_CHARSET = re.compile(rb"<meta[^>]+charset=[\"']?(?!utf-16)([\w-]+)", re.IGNORECASE)
_CHARSET_PARAMETER = re.compile(r"charset=[\"']?([\w-]+)", re.IGNORECASE)
_PROPERTIES = {
    "og:site_name": "publisher",
    "article:published_time": "published",
    "date": "published",
    "author": "author",
}
_PAGE_FURNITURE = ("script", "style", "noscript", "template", "svg", "nav", "aside", "footer", "form", "title")
_ROW = re.compile(r"^(\|.*\|)[ \t]*$", re.MULTILINE)
_TABLE_AFTER_TEXT = re.compile(r"^(?!\|)([^\S\n]*+\S.*+)\n(?=\|.*\|\n\|[ :|-]+\|$)", re.MULTILINE)
_TAG = re.compile(
    r"<!--(?:.*?-->|.*)|<(?P<raw>script|style)\b(?:.*?</(?P=raw)\s*>|.*)|<(?P<end>/?)(?P<name>[a-z][a-z0-9]*)\b[^<>]*+>",
    re.IGNORECASE | re.DOTALL,
)
# libxml2 stops in the middle of a page that is nested deeper than 256 levels; a table alone adds three or four.
_DEEPEST = 50
_VOID = "area base br col embed frame hr img input link meta param source track wbr"
_END_OPTIONAL = "colgroup dd dt li option p tbody td tfoot th thead tr"
_WITHOUT_END = frozenset(f"{_VOID} {_END_OPTIONAL}".split())
_PHRASING = "a abbr b big cite code del em font i ins kbd mark q s small span strike strong sub sup tt u"
_INLINE = frozenset(_PHRASING.split())

_FIELD = re.compile(r"^:([A-Za-z][\w -]*): +(\S.*)$", re.MULTILINE)
_DIRECTIVE = re.compile(r"^([ \t]*)\.\. ([\w:-]+)::[ \t]*(.*)\n((?:[ \t]+:[\w-]+:.*\n)*)", re.MULTILINE)
_NAVIGATION = re.compile(
    r"^([ \t]*)\.\. (?:toctree|index|highlight|currentmodule|meta)::.*\n(?:(?:\1[ \t]+\S.*)?\n)*", re.MULTILINE
)
_ROLE = re.compile(r":(?!math:|sub:|sup:)(?:[\w-]{1,40}:){1,4}`([^`<]*[^`<\s])(?:\s*<[^`]*>)?`")
_HEAD = 2_000
_LONGEST_LINE = 10_000  # docutils' own limit; beyond it docutils returns an empty text
_SETTINGS = {
    # A document must not include other files, run anything, or be changed by a stray configuration file.
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    # A markup error loses one directive, never the document.
    "report_level": 5,
    "halt_level": 5,
    "embed_stylesheet": False,
    "syntax_highlight": "none",
}


def load_html(data: bytes, content_type: str | None = None) -> Extracted:
    """Load the main text of a page, in the charset that the server or the page states, else UTF-8."""
    html = "".join(_flattened(_decode_html(data, content_type)))
    text, title, properties = _main_text(html)
    return Extracted(text or _whole_text(html), title, properties)


def _decode_html(data: bytes, content_type: str | None) -> str:
    stated = _CHARSET_PARAMETER.search(content_type or "")
    declared = _CHARSET.search(data[:2048])
    charset = stated[1] if stated else declared[1].decode("ascii") if declared else "utf-8"
    try:
        name = codecs.lookup(charset).name
        if name == "utf-8":
            return decode(data)
        if name in ("ascii", "iso8859-1"):  # as in every browser (https://encoding.spec.whatwg.org/#names-and-labels)
            return data.decode("cp1252", "ignore")
        return data.decode(charset)
    except (LookupError, UnicodeDecodeError) as error:
        raise CorpusError(f"it is not the {charset} text that it says it is: save it as UTF-8") from error


def _flattened(html: str) -> Iterator[str]:
    """Yield the page without tags that are nested deeper than any page needs; block tags among them become line breaks."""
    open_tags: list[tuple[str, bool]] = []
    count = Counter[str]()
    done = 0
    for tag in _TAG.finditer(html):
        name = (tag["name"] or "").lower()
        kept = len(open_tags) < _DEEPEST
        if not name:
            continue
        if name in _WITHOUT_END:
            pass
        elif not tag["end"]:
            open_tags.append((name, kept))
            count[name] += 1
        elif count[name]:
            closed = ""
            while closed != name:
                closed, kept = open_tags.pop()
                count[closed] -= 1
        if not kept:
            before, done = html[done : tag.start()], tag.end()
            yield before
            yield "" if name in _INLINE or not before.strip() else "<br>"
    yield html[done:]


def _main_text(html: str) -> tuple[str, str | None, dict[str, str]]:
    """Return the content of the page as trafilatura finds it, with its title and metadata."""
    import trafilatura

    tree = trafilatura.load_html(html)
    if tree is None:
        return "", None, {}
    title, properties = _words(tree.find(".//title")), _page_properties(tree)
    _lift_captions(tree)
    _head_tables(tree)
    text = trafilatura.extract(
        tree, output_format="markdown", include_comments=False, include_formatting=True, favor_recall=True
    )
    text = _TABLE_AFTER_TEXT.sub(r"\1\n\n", _ROW.sub(r"\1", text or ""))
    headings = [words for heading in tree.iter("h1") if (words := _words(heading))]
    if text and headings and not any(f"# {heading}" in text for heading in headings):
        # Many pages have their heading in a banner, which trafilatura takes for decoration.
        text = f"# {headings[0]}\n\n{text}"
    return text, first_heading(text) or title, properties


def _page_properties(tree: Any) -> dict[str, str]:
    properties: dict[str, str] = {}
    for meta in tree.iter("meta"):
        name = _PROPERTIES.get((meta.get("property") or meta.get("name") or "").lower())
        if name and meta.get("content"):
            properties.setdefault(name, meta.get("content").strip())
    for link in tree.iter("link"):
        if link.get("rel") == "canonical" and link.get("href"):
            properties.setdefault("url", link.get("href"))
    return properties


def _lift_captions(tree: Any) -> None:
    """Turn each caption into a paragraph before its table; otherwise it would be taken for the table's first row."""
    for caption in list(tree.iter("caption")):
        table, words = caption.getparent(), _words(caption)
        if words and table.getparent() is not None:
            paragraph = table.makeelement("p")
            paragraph.text = words
            table.addprevious(paragraph)
        caption.drop_tree()


def _head_tables(tree: Any) -> None:
    """Turn the first row of a table without a header into its header: without one, its rows would say nothing."""
    for table in tree.iter("table"):
        row = next(table.iter("tr"), None)
        if row is not None and next(table.iter("th"), None) is None:
            for cell in row.iterchildren("td"):
                cell.tag = "th"


def _words(element: Any) -> str | None:
    return None if element is None else " ".join(element.text_content().split()) or None


def _whole_text(html: str) -> str:
    """Return the whole text of a page except its menus: for pages in which trafilatura finds nothing."""
    soup = _parsed(html)
    for furniture in soup.find_all(_PAGE_FURNITURE):
        furniture.decompose()
    return markdown_of_html(str(soup.find("main") or soup.body or soup))


def markdown_of_html(html: str) -> str:
    """Return HTML as Markdown, without links and images."""
    from markdownify import MarkdownConverter

    soup = _parsed(html)
    for words in soup.find_all(string=lambda words: words is not None and "|" in words):
        if words.find_parent(["td", "th"]):
            words.replace_with(words.replace("|", "\\|"))
    converter = MarkdownConverter(
        heading_style="ATX",
        bullets="-",
        table_infer_header=True,
        strip=["a", "img"],
        escape_misc=False,
        escape_asterisks=False,
        escape_underscores=False,
    )
    return str(converter.convert_soup(soup)).strip()


def _parsed(html: str) -> Any:
    from bs4 import BeautifulSoup, UnusualUsageWarning

    with warnings.catch_warnings():
        # XHTML is read as HTML on purpose.
        warnings.simplefilter("ignore", UnusualUsageWarning)
        return BeautifulSoup(html, "lxml")


def load_rst(data: bytes) -> Extracted:
    """Load the text by way of docutils' HTML; unknown directives keep their words, dangerous ones are left out."""
    from docutils.core import publish_parts

    text = decode(data)
    if max(map(len, text.split("\n"))) > _LONGEST_LINE:
        raise CorpusError(f"it has a line of more than {_LONGEST_LINE:,} characters: break its lines")
    parts = publish_parts(_without_sphinx(text), writer="html5", settings_overrides=_SETTINGS)
    fields = {name.lower(): value.strip() for name, value in _FIELD.findall(text[:_HEAD])}
    return Extracted(markdown_of_html(parts["html_body"]), properties=fields)


def _without_sphinx(text: str) -> str:
    from docutils.parsers.rst.languages.en import directives as known

    def keep_words(match: re.Match[str]) -> str:
        return match[0] if match[2] in known else f"{match[1]}{match[3]}\n"

    return _ROLE.sub(r"\1", _DIRECTIVE.sub(keep_words, _NAVIGATION.sub("", text + "\n")))
